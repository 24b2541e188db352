//! `HASH`: the shader's identity (DXC `DxilShaderHash`).
#![forbid(unsafe_code)]

use crate::dxbc::{Digest, FourCc, ReadError, WriteError, bytes::Cursor};
use std::borrow::Cow;

/// The `HASH` part: plain MD5 of the bitcode.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShaderHash<'a> {
    /// 0, or [`INCLUDES_SOURCE`](Self::INCLUDES_SOURCE). Unknown bits are kept.
    pub flags: u32,
    /// MD5 of the `DXIL` part's bitcode if `flags` is 0; of the bitcode before debug information
    /// was taken out with `INCLUDES_SOURCE`.
    pub digest: Digest,
    /// Bytes after the twenty that are known. DXC's validator wants none.
    pub trailing: Cow<'a, [u8]>,
}

impl<'a> ShaderHash<'a> {
    /// The hash covers source information (`-Zss`).
    pub const INCLUDES_SOURCE: u32 = 1;

    /// The part as DXC writes it for `bitcode`: without header and padding.
    #[must_use]
    pub fn of(bitcode: &[u8]) -> Self {
        Self {
            flags: 0,
            digest: Digest::md5(bitcode),
            trailing: Cow::Borrowed(&[]),
        }
    }

    /// Decodes the part's data.
    ///
    /// # Errors
    /// Fewer than 20 bytes.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::HASH, data);
        let flags = c.u32("Flags")?;
        let mut digest = [0; 16];
        digest.copy_from_slice(c.take(16, "Digest")?);
        Ok(Self {
            flags,
            digest: Digest(digest),
            trailing: c.rest().into(),
        })
    }

    /// Appends the part's data.
    ///
    /// # Errors
    /// None: the signature is that of all codecs.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.extend_from_slice(&self.digest.0);
        out.extend_from_slice(&self.trailing);
        Ok(())
    }
}
