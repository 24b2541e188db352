//! The bytes a value was read from, for parts whose layout is free.
#![forbid(unsafe_code)]

use super::ReadError;

/// Remembers what a value was read from. It takes no part in comparing values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceBytes<'a>(Option<&'a [u8]>);

impl PartialEq for SourceBytes<'_> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SourceBytes<'_> {}

impl<'a> SourceBytes<'a> {
    /// Nothing: the value was built.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// The value is what these bytes say.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(Some(bytes))
    }

    /// The bytes, if reading them still gives `value`. This compares instead of watching for
    /// changes, so that fields can be public.
    pub(crate) fn if_unchanged<T: PartialEq>(
        &self,
        value: &T,
        read: impl FnOnce(&'a [u8]) -> Result<T, ReadError>,
    ) -> Option<&'a [u8]> {
        let bytes = self.0?;
        match read(bytes) {
            Ok(v) if v == *value => Some(bytes),
            _ => None,
        }
    }
}
