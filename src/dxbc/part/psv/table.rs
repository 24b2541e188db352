//! Building the string table.
#![forbid(unsafe_code)]

use crate::dxbc::{FourCc, WriteError, bytes::len, part::fit_u32};

/// Builds a string table as DXC does: an empty string first, then each string given with its NUL,
/// none shared, and zeros to a multiple of 4. Validator 1.8 takes no other form.
///
/// ```
/// use kernite::dxbc::part::StringTable;
/// let mut t = StringTable::new();
/// assert_eq!(t.add(b"")?, 0);
/// assert_eq!(t.add(b"main")?, 1);
/// assert_eq!(t.finish(), b"\0main\0\0\0");
/// # Ok::<(), kernite::dxbc::WriteError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StringTable(Vec<u8>);

impl Default for StringTable {
    fn default() -> Self {
        Self::new()
    }
}

impl StringTable {
    /// Only the empty string, at offset 0.
    #[must_use]
    pub fn new() -> Self {
        Self(vec![0])
    }

    /// Appends a string; gives its offset. The empty string is always at 0.
    ///
    /// # Errors
    /// A NUL inside, or a table of 4 GiB and more.
    pub fn add(&mut self, s: &[u8]) -> Result<u32, WriteError> {
        if s.is_empty() {
            return Ok(0);
        }
        let offset = len(&self.0);
        if s.contains(&0) {
            return Err(WriteError::InnerNul {
                part: FourCc::PSV0,
                offset,
                field: "StringTable",
            });
        }
        // The padded end must fit the table's size field too.
        fit_u32(FourCc::PSV0, offset, "StringTableSize", offset + len(s) + 4)?;
        let offset = fit_u32(FourCc::PSV0, offset, "StringTable", offset)?;
        self.0.extend_from_slice(s);
        self.0.push(0);
        Ok(offset)
    }

    /// The table's bytes.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        super::super::pad4(&mut self.0, 0);
        self.0
    }
}
