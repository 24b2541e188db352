//! `VERS`: the compiler that made a library (DXC `DxilCompilerVersion`).
#![forbid(unsafe_code)]

use super::{align4, fit_u32, pad4};
use crate::dxbc::{
    FourCc, ReadError, ReadErrorKind as K, WriteError,
    bytes::{Cursor, c_str, len},
};
use std::borrow::Cow;

/// Bytes before the strings.
const HEADER: u64 = 16;

/// The `VERS` part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Version<'a> {
    /// Major version.
    pub major: u16,
    /// Minor version.
    pub minor: u16,
    /// Flags of the build (1 debug, 2 internal).
    pub flags: u32,
    /// Commits since the project began.
    pub commit_count: u32,
    /// Hash of the commit.
    pub commit_sha: Option<Cow<'a, [u8]>>,
    /// Free-form version; only beside a commit hash.
    pub custom_version: Option<Cow<'a, [u8]>>,
}

impl<'a> Version<'a> {
    /// Decodes the part's data, taking what DXC's `ValidateCompilerVersionPart` takes: no string,
    /// one, or two, each with its NUL, and zeros to a multiple of 4.
    ///
    /// # Errors
    /// Fewer than 16 bytes; a list size that is not that of the part or of its strings; padding
    /// that is not zero.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::VERS, data);
        if len(data) < HEADER {
            let (need, have) = (HEADER, len(data));
            return Err(c.error(K::TooShort { need, have }, 0, "DxilCompilerVersion"));
        }
        let mut version = Self {
            major: c.u16("Major")?,
            minor: c.u16("Minor")?,
            flags: c.u32("VersionFlags")?,
            commit_count: c.u32("CommitCount")?,
            ..Self::default()
        };
        const SIZE: &str = "VersionStringListSizeInBytes";
        let size = u64::from(c.u32(SIZE)?);
        let end = align4(HEADER + size);
        if end != len(data) {
            let limit = len(data);
            return Err(c.error(K::OutOfBounds { end, limit }, 12, SIZE));
        }
        if size == 0 {
            return Ok(version);
        }
        let list = c.take(size, "CommitSha")?;
        let pad_at = c.pos();
        if c.rest().iter().any(|&b| b != 0) {
            return Err(c.error(K::BadValue { value: 1 }, pad_at, "padding"));
        }
        let unterminated = |at, field| Err(c.error(K::UnterminatedString, at, field));
        let Some(sha) = c_str(list, 0) else {
            return unterminated(HEADER, "CommitSha");
        };
        version.commit_sha = Some(sha.into());
        let mut used = len(sha) + 1;
        if used < size {
            let Some(custom) = c_str(list, used) else {
                return unterminated(HEADER + used, "CustomVersionString");
            };
            version.custom_version = Some(custom.into());
            used += len(custom) + 1;
        }
        if used != size {
            return Err(c.error(K::BadValue { value: size }, 12, SIZE));
        }
        Ok(version)
    }

    /// Appends the part's data.
    ///
    /// # Errors
    /// A string with a NUL inside, a custom version without a commit hash, or strings of 4 GiB and
    /// more.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let part = FourCc::VERS;
        let start = out.len();
        let sha = self.commit_sha.as_deref();
        let custom = self.custom_version.as_deref();
        if custom.is_some() && sha.is_none() {
            super::expect(part, HEADER, "CommitSha", 1, 0)?;
        }
        let mut size = 0;
        for (field, s) in [("CommitSha", sha), ("CustomVersionString", custom)] {
            let Some(s) = s else { continue };
            if s.contains(&0) {
                let offset = HEADER + size;
                return Err(WriteError::InnerNul {
                    part,
                    offset,
                    field,
                });
            }
            size += len(s) + 1;
        }
        let size = fit_u32(part, 12, "VersionStringListSizeInBytes", size)?;
        out.extend_from_slice(&self.major.to_le_bytes());
        out.extend_from_slice(&self.minor.to_le_bytes());
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.extend_from_slice(&self.commit_count.to_le_bytes());
        out.extend_from_slice(&size.to_le_bytes());
        for s in [sha, custom].into_iter().flatten() {
            out.extend_from_slice(s);
            out.push(0);
        }
        pad4(out, start);
        Ok(())
    }
}
