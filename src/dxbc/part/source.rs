//! `SRCI` and `PDBI`, which only debug files hold (DXC `DxilSourceInfo`, `DxilShaderPDBInfo`).
#![forbid(unsafe_code)]

use super::{Compression, SourceSectionKind, fit_u32};
use crate::dxbc::{
    FourCc, ReadError, ReadErrorKind as K, WriteError,
    bytes::{Cursor, c_str, len},
};
use std::borrow::Cow;

/// Bytes of the header, and of a section's.
const HEADER: u64 = 8;

/// The `SRCI` part: sources, their names, and the compiler's arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceInfo<'a> {
    /// Reserved, 0.
    pub flags: u16,
    /// The sections; DXC writes one of each kind.
    pub sections: Vec<SourceSection<'a>>,
    /// Bytes inside the size that the part states, after the sections.
    pub unused: Cow<'a, [u8]>,
    /// Bytes after the size that the part states.
    pub trailing: Cow<'a, [u8]>,
}

/// A section of `SRCI`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceSection<'a> {
    /// Reserved, 0.
    pub flags: u16,
    /// What it holds.
    pub kind: SourceSectionKind,
    /// Its data, padding included.
    pub data: Cow<'a, [u8]>,
}

impl<'a> SourceInfo<'a> {
    /// Decodes the part's data.
    ///
    /// # Errors
    /// A stated size past the part or below the header, and sections that pass it.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::SRCI, data);
        let size = u64::from(c.u32("AlignedSizeInBytes")?);
        let flags = c.u16("Flags")?;
        let count = c.u16("SectionCount")?;
        let limit = len(data);
        if size < HEADER {
            return Err(c.error(K::BadValue { value: size }, 0, "AlignedSizeInBytes"));
        }
        if size > limit {
            let end = size;
            return Err(c.error(K::OutOfBounds { end, limit }, 0, "AlignedSizeInBytes"));
        }
        let mut inner = Cursor::new(FourCc::SRCI, c.take(size - HEADER, "sections")?);
        let mut sections = Vec::new();
        for _ in 0..count {
            let at = inner.pos() + HEADER;
            let section = Self::section(&mut inner, at);
            sections.push(section.map_err(|e| e.in_part(FourCc::SRCI, HEADER))?);
        }
        Ok(Self {
            flags,
            sections,
            unused: inner.rest().into(),
            trailing: c.rest().into(),
        })
    }

    fn section(c: &mut Cursor<'a>, at: u64) -> Result<SourceSection<'a>, ReadError> {
        let size = u64::from(c.u32("AlignedSizeInBytes")?);
        let flags = c.u16("Flags")?;
        let kind = SourceSectionKind(c.u16("Type")?);
        let Some(rest) = size.checked_sub(HEADER) else {
            let value = size;
            return Err(c.error(K::BadValue { value }, at - HEADER, "AlignedSizeInBytes"));
        };
        Ok(SourceSection {
            flags,
            kind,
            data: c.take(rest, "section")?.into(),
        })
    }

    /// Appends the part's data.
    ///
    /// # Errors
    /// More than 65535 sections or 4 GiB.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let part = FourCc::SRCI;
        let count = u16::try_from(self.sections.len()).map_err(|_| WriteError::TooLarge {
            part,
            offset: 6,
            field: "SectionCount",
            value: self.sections.len() as u64,
            limit: u16::MAX.into(),
        })?;
        let sections: u64 = self.sections.iter().map(|s| HEADER + len(&s.data)).sum();
        let size = HEADER + sections + len(&self.unused);
        let size = fit_u32(part, 0, "AlignedSizeInBytes", size)?;
        out.extend_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.extend_from_slice(&count.to_le_bytes());
        for s in &self.sections {
            let size = fit_u32(part, 8, "AlignedSizeInBytes", HEADER + len(&s.data))?;
            out.extend_from_slice(&size.to_le_bytes());
            out.extend_from_slice(&s.flags.to_le_bytes());
            out.extend_from_slice(&s.kind.0.to_le_bytes());
            out.extend_from_slice(&s.data);
        }
        out.extend_from_slice(&self.unused);
        out.extend_from_slice(&self.trailing);
        Ok(())
    }
}

/// A name in a [`SourceNames`](SourceSectionKind::SOURCE_NAMES) section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceName<'a> {
    /// The file's name.
    pub name: &'a [u8],
    /// Bytes of its content, the NUL included.
    pub content_size: u32,
}

/// An argument in an [`Args`](SourceSectionKind::ARGS) section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceArg<'a> {
    /// Its name, without the dash.
    pub name: &'a [u8],
    /// Its value; may be empty.
    pub value: &'a [u8],
}

impl SourceSection<'_> {
    /// The names of a [`SourceNames`](SourceSectionKind::SOURCE_NAMES) section.
    ///
    /// # Errors
    /// Entries that pass the section or names without a NUL. Offsets count from the section's
    /// data.
    pub fn names(&self) -> Result<Vec<SourceName<'_>>, ReadError> {
        let mut c = Cursor::new(FourCc::SRCI, &self.data);
        c.u32("Flags")?;
        let count = c.u32("Count")?;
        c.u16("EntriesSizeInBytes")?;
        let mut names = Vec::new();
        for _ in 0..count {
            let at = c.pos();
            let size = u64::from(c.u32("AlignedSizeInBytes")?);
            c.u32("Flags")?;
            let name_size = c.u32("NameSizeInBytes")?;
            let content_size = c.u32("ContentSizeInBytes")?;
            let Some(rest) = size.checked_sub(16) else {
                return Err(c.error(K::BadValue { value: size }, at, "AlignedSizeInBytes"));
            };
            let bytes = c.take(rest, "Name")?;
            let name = usize::try_from(name_size)
                .ok()
                .and_then(|n| bytes.get(..n))
                .and_then(|n| n.strip_suffix(&[0]));
            let Some(name) = name else {
                return Err(c.error(K::UnterminatedString, at + 16, "Name"));
            };
            names.push(SourceName { name, content_size });
        }
        Ok(names)
    }

    /// The name and value pairs of an [`Args`](SourceSectionKind::ARGS) section.
    ///
    /// # Errors
    /// Fewer NULs than pairs need. Offsets count from the section's data.
    pub fn args(&self) -> Result<Vec<SourceArg<'_>>, ReadError> {
        let mut c = Cursor::new(FourCc::SRCI, &self.data);
        c.u32("Flags")?;
        let size = c.u32("SizeInBytes")?;
        let count = c.u32("Count")?;
        let base = c.pos();
        let list = c.take(size.into(), "Args")?;
        let mut used = 0;
        let mut next = || {
            let s = c_str(list, used);
            let s = s.ok_or_else(|| c.error(K::UnterminatedString, base + used, "Args"))?;
            used += len(s) + 1;
            Ok(s)
        };
        let mut args = Vec::new();
        for _ in 0..count {
            let (name, value) = (next()?, next()?);
            args.push(SourceArg { name, value });
        }
        Ok(args)
    }
}

/// The `PDBI` part: an `RDAT` of tables about the debug file, packed or not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PdbInfo<'a> {
    /// Version, 0.
    pub version: u16,
    /// How `data` is packed.
    pub compression: Compression,
    /// Its size once unpacked.
    pub uncompressed_size: u32,
    /// The data. Unpacked, [`Rdat::read`](super::Rdat::read) takes it.
    pub data: Cow<'a, [u8]>,
    /// What follows the data.
    pub trailing: Cow<'a, [u8]>,
}

impl<'a> PdbInfo<'a> {
    /// Decodes the part's data.
    ///
    /// # Errors
    /// Fewer bytes than its size says.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::PDBI, data);
        let version = c.u16("Version")?;
        let compression = Compression(c.u16("CompressionType")?);
        let size = c.u32("SizeInBytes")?;
        Ok(Self {
            version,
            compression,
            uncompressed_size: c.u32("UncompressedSizeInBytes")?,
            data: c.take(size.into(), "Data")?.into(),
            trailing: c.rest().into(),
        })
    }

    /// Appends the part's data.
    ///
    /// # Errors
    /// Data of 4 GiB and more.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let size = fit_u32(FourCc::PDBI, 4, "SizeInBytes", len(&self.data))?;
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&self.compression.0.to_le_bytes());
        out.extend_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&self.uncompressed_size.to_le_bytes());
        out.extend_from_slice(&self.data);
        out.extend_from_slice(&self.trailing);
        Ok(())
    }
}
