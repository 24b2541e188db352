//! Reading a container in place.
#![forbid(unsafe_code)]

use super::{
    Digest, DigestKind, FourCc, Inconsistency, ReadError, ReadErrorKind as K,
    bytes::{len, slice, u16_at, u32_at},
    check,
    part::{
        DebugName, Features, Part, Program, Psv, Rdat, RootSignature, ShaderHash, Signature,
        Version,
    },
};
use core::fmt;
use std::collections::HashMap;

/// Bytes of the header before the directory.
pub(crate) const HEADER: u64 = 32;
/// Bytes of a part's header.
pub(crate) const PART_HEADER: u64 = 8;
/// The largest container DXC reads (`DxilContainerMaxSize`), itself allowed.
pub(crate) const MAX_SIZE: u64 = 0x8000_0000;
/// Where the digest begins and where what it covers begins.
pub(crate) const DIGEST_AT: u64 = 4;
pub(crate) const HASHED_FROM: u64 = 20;
/// The only major version.
pub(crate) const MAJOR: u16 = 1;

/// How much a reader forgives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Takes exactly what DXC's `IsValidDxilContainer` takes.
    #[default]
    Strict,
    /// Also takes gaps between, before and after parts and directories in any order, as other
    /// producers write them. Parts never overlap, and every byte of them is inside the container.
    Lenient,
}

/// Something unusual in a container that was read all the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deviation {
    /// Byte offset in the container.
    pub offset: u64,
    /// What it is.
    pub kind: DeviationKind,
}

/// Kinds of [`Deviation`]. The first three are DXC's to take, so strict reading has them too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviationKind {
    /// A minor version other than 0.
    #[error("minor version {0}, not 0")]
    MinorVersion(u16),
    /// Bytes after the container's size; the digest does not cover them.
    #[error("{0} bytes after the end of the container")]
    TrailingBytes(u64),
    /// A second part of one kind.
    #[error("second part {part}; the first is at {first:#x}")]
    DuplicatePart {
        /// The kind.
        part: FourCc,
        /// Offset of the first one's header.
        first: u64,
    },
    /// Bytes that belong to no part.
    #[error("gap of {0} bytes that belong to no part")]
    Gap(u64),
    /// A directory entry lower than the one before it.
    #[error("directory entry {0} is lower than the one before it")]
    OutOfOrder(u32),
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {:#x}: {}", self.offset, self.kind)
    }
}

/// A container read in place: nothing is copied, and a container of up to 24 parts without
/// deviations is read without allocating.
///
/// Reading checks the container's structure (DXC `IsValidDxilContainer`), not the digest and not
/// what is in the parts: see [`digest_kind`](Self::digest_kind), [`RawPart::read`] and
/// [`check`](Self::check).
///
/// ```
/// use kernite::dxbc::{Container, ContainerWriter, DigestKind, FourCc, WriteDigest};
/// let mut w = ContainerWriter::new();
/// w.part(FourCc::SFI0, &[0; 8]);
/// let bytes = w.finish(WriteDigest::Retail)?;
///
/// let c = Container::read(&bytes)?;
/// assert_eq!(c.digest_kind(), DigestKind::Retail);
/// assert_eq!(c.part(FourCc::SFI0)?.map(|p| p.data.len()), Some(8));
/// assert!(Container::read(&bytes[..31]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Container<'a> {
    /// All bytes given.
    input: &'a [u8],
    /// The first `size` of them.
    bytes: &'a [u8],
    count: u32,
    deviations: Vec<Deviation>,
}

/// A part as it lies in its container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawPart<'a> {
    /// Its kind.
    pub kind: FourCc,
    /// Offset of its header in the container; the data is 8 bytes on.
    pub offset: u64,
    /// Its data.
    pub data: &'a [u8],
}

impl<'a> RawPart<'a> {
    /// Offset of the data in the container.
    #[must_use]
    pub fn data_offset(&self) -> u64 {
        self.offset.saturating_add(PART_HEADER)
    }

    /// Decodes the part by its kind. Unknown kinds are [`Part::Unknown`].
    ///
    /// # Errors
    /// What the codec says, with offsets counted from the start of the container.
    pub fn read(&self) -> Result<Part<'a>, ReadError> {
        Part::read(self.kind, self.data).map_err(|e| e.in_part(self.kind, self.data_offset()))
    }
}

impl<'a> Container<'a> {
    /// Reads strictly, taking exactly what DXC's `IsValidDxilContainer` takes: bytes after the
    /// container, any minor version, duplicate, unknown and unaligned parts included.
    ///
    /// # Errors
    /// The first rule broken, with its offset. Bare bitcode is
    /// [`ReadErrorKind::BareBitcode`](K::BareBitcode).
    pub fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_with(bytes, Mode::Strict)
    }

    /// Reads leniently: see [`Mode::Lenient`]. Each deviation is listed in
    /// [`deviations`](Self::deviations).
    ///
    /// # Errors
    /// As [`read`](Self::read), for what even this mode cannot take.
    pub fn read_lenient(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_with(bytes, Mode::Lenient)
    }

    /// Reads in the given mode.
    ///
    /// # Errors
    /// As [`read`](Self::read) or [`read_lenient`](Self::read_lenient).
    pub fn read_with(input: &'a [u8], mode: Mode) -> Result<Self, ReadError> {
        let error = |kind, offset, field| ReadError::new(kind, offset, None, field);
        let magic = u32_at(input, 0);
        if magic == Some(BITCODE_MAGIC) {
            return Err(error(K::BareBitcode, 0, "HeaderFourCC"));
        }
        let have = len(input);
        if have < HEADER {
            let need = HEADER;
            return Err(error(K::TooShort { need, have }, 0, "header"));
        }
        // The header is there: these reads cannot fail.
        let word = |at| u32_at(input, at).unwrap_or_default();
        let (found, want) = (word(0), FourCc::DXBC.to_u32());
        if found != want {
            return Err(error(K::BadMagic { found, want }, 0, "HeaderFourCC"));
        }
        let major = u16_at(input, 20).unwrap_or_default();
        if major != MAJOR {
            let kind = K::UnsupportedVersion(major.into());
            return Err(error(kind, 20, "Version.Major"));
        }
        let minor = u16_at(input, 22).unwrap_or_default();
        let size = u64::from(word(24));
        let count = word(28);
        if size > MAX_SIZE {
            let limit = MAX_SIZE;
            return Err(error(
                K::TooLarge { size, limit },
                24,
                "ContainerSizeInBytes",
            ));
        }
        if size < HEADER {
            let (need, have) = (HEADER, size);
            let kind = K::TooShort { need, have };
            return Err(error(kind, 24, "ContainerSizeInBytes"));
        }
        let Some(bytes) = slice(input, 0, size) else {
            let (end, limit) = (size, have);
            return Err(error(
                K::OutOfBounds { end, limit },
                24,
                "ContainerSizeInBytes",
            ));
        };
        let directory_end = HEADER + 4 * u64::from(count);
        if directory_end > size {
            let (end, limit) = (directory_end, size);
            return Err(error(K::OutOfBounds { end, limit }, 28, "PartCount"));
        }
        let mut container = Container {
            input,
            bytes,
            count,
            deviations: Vec::new(),
        };
        if minor != 0 {
            container.note(22, DeviationKind::MinorVersion(minor));
        }
        match mode {
            Mode::Strict => container.walk_strict(directory_end)?,
            Mode::Lenient => container.walk_lenient(directory_end)?,
        }
        container.note_duplicates();
        if have > size {
            container.note(size, DeviationKind::TrailingBytes(have - size));
        }
        Ok(container)
    }

    fn note(&mut self, offset: u64, kind: DeviationKind) {
        self.deviations.push(Deviation { offset, kind });
    }

    /// Checks that a part lies inside the container; gives its end.
    fn part_end(&self, index: u32, offset: u64) -> Result<u64, ReadError> {
        let limit = len(self.bytes);
        let end = offset + PART_HEADER;
        if end > limit {
            let at = entry_at(index);
            return Err(ReadError::new(
                K::OutOfBounds { end, limit },
                at,
                None,
                "PartOffset",
            ));
        }
        let size = u32_at(self.bytes, offset + 4).unwrap_or_default();
        let end = end + u64::from(size);
        if end > limit {
            let kind = K::OutOfBounds { end, limit };
            let part = self.kind_at(offset);
            return Err(ReadError::new(kind, offset + 4, part, "PartSize"));
        }
        Ok(end)
    }

    fn kind_at(&self, offset: u64) -> Option<FourCc> {
        u32_at(self.bytes, offset).map(|w| FourCc(w.to_le_bytes()))
    }

    fn entry(&self, index: u32) -> u64 {
        u32_at(self.bytes, entry_at(index))
            .unwrap_or_default()
            .into()
    }

    fn walk_strict(&mut self, directory_end: u64) -> Result<(), ReadError> {
        let mut expected = directory_end;
        for index in 0..self.count {
            let found = self.entry(index);
            let end = self.part_end(index, found)?;
            if found != expected {
                let kind = K::NotContiguous { expected, found };
                return Err(ReadError::new(kind, entry_at(index), None, "PartOffset"));
            }
            expected = end;
        }
        let found = len(self.bytes);
        if found != expected {
            let kind = K::NotContiguous { expected, found };
            return Err(ReadError::new(kind, 24, None, "ContainerSizeInBytes"));
        }
        Ok(())
    }

    fn walk_lenient(&mut self, directory_end: u64) -> Result<(), ReadError> {
        // Parts that do not overlap have a header each: this bounds what is allocated below
        // by the input's size, and refuses a directory that no such container can have.
        let end = directory_end + PART_HEADER * u64::from(self.count);
        let limit = len(self.bytes);
        if end > limit {
            let kind = K::OutOfBounds { end, limit };
            return Err(ReadError::new(kind, 28, None, "PartCount"));
        }
        let mut sorted = true;
        let mut last = 0;
        for index in 0..self.count {
            let offset = self.entry(index);
            self.part_end(index, offset)?;
            if offset < last {
                sorted = false;
                self.note(entry_at(index), DeviationKind::OutOfOrder(index));
            }
            last = offset;
        }
        let mut order: Vec<u32> = Vec::new();
        if !sorted {
            order.extend(0..self.count);
            order.sort_by_key(|&i| self.entry(i));
        }
        let mut expected = directory_end;
        for n in 0..self.count {
            let index = order.get(n as usize).copied().unwrap_or(n);
            let found = self.entry(index);
            if found < expected {
                let kind = K::Overlap { end: expected };
                return Err(ReadError::new(kind, entry_at(index), None, "PartOffset"));
            }
            if found > expected {
                self.note(expected, DeviationKind::Gap(found - expected));
            }
            expected = self.part_end(index, found)?;
        }
        if limit > expected {
            self.note(expected, DeviationKind::Gap(limit - expected));
        }
        Ok(())
    }

    fn note_duplicates(&mut self) {
        /// Up to here comparing all pairs beats hashing, and allocates nothing: the type's docs say so.
        const FEW: u32 = 24;
        let mut found = Vec::new();
        if self.count <= FEW {
            for (i, p) in self.parts().enumerate() {
                if let Some(first) = self.parts().take(i).find(|q| q.kind == p.kind) {
                    found.push((p, first.offset));
                }
            }
        } else {
            let mut seen = HashMap::new();
            for p in self.parts() {
                match seen.get(&p.kind) {
                    Some(&first) => found.push((p, first)),
                    None => {
                        seen.insert(p.kind, p.offset);
                    }
                }
            }
        }
        for (p, first) in found {
            let part = p.kind;
            self.note(p.offset, DeviationKind::DuplicatePart { part, first });
        }
    }

    /// The container's bytes, without anything after them.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// All bytes given.
    pub(crate) fn input(&self) -> &'a [u8] {
        self.input
    }

    /// What contradicts itself among the parts: undecodable ones, missing and forbidden
    /// ones, and facts that two of them state differently. Empty for everything DXC writes.
    ///
    /// Structure is not checked here (reading did that), nor the digest, nor the bitcode itself.
    #[must_use]
    pub fn check(&self) -> Vec<Inconsistency> {
        let parts: Vec<_> = self.parts().collect();
        check::check(&parts)
    }

    /// What follows the container in the bytes given.
    #[must_use]
    pub fn trailing_bytes(&self) -> &'a [u8] {
        self.input.get(self.bytes.len()..).unwrap_or_default()
    }

    /// Major and minor version. The major one is 1.
    #[must_use]
    pub fn version(&self) -> (u16, u16) {
        let at = |o| u16_at(self.bytes, o).unwrap_or_default();
        (at(20), at(22))
    }

    /// The digest as stored.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let bytes = slice(self.bytes, DIGEST_AT, 16).and_then(|b| b.try_into().ok());
        Digest(bytes.unwrap_or_default())
    }

    /// What the stored digest is. This hashes the container once, unless the digest is one of
    /// the fixed values.
    #[must_use]
    pub fn digest_kind(&self) -> DigestKind {
        self.digest().kind_of(self.hashed())
    }

    /// The bytes that the digest covers: from offset 20 on.
    #[must_use]
    pub fn hashed(&self) -> &'a [u8] {
        let size = len(self.bytes).saturating_sub(HASHED_FROM);
        slice(self.bytes, HASHED_FROM, size).unwrap_or_default()
    }

    /// Everything unusual that the reader let pass, in no particular order.
    #[must_use]
    pub fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }

    /// Number of parts.
    #[must_use]
    pub fn part_count(&self) -> u32 {
        self.count
    }

    /// The parts in the directory's order.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = RawPart<'a>> + Clone + use<'a> {
        let bytes = self.bytes;
        // Reading has checked every entry, so that nothing here falls back to its default.
        (0..self.count as usize).map(move |i| {
            let offset = u64::from(u32_at(bytes, HEADER + 4 * i as u64).unwrap_or_default());
            let size = u32_at(bytes, offset + 4).unwrap_or_default();
            RawPart {
                kind: FourCc(u32_at(bytes, offset).unwrap_or_default().to_le_bytes()),
                offset,
                data: slice(bytes, offset + PART_HEADER, size.into()).unwrap_or_default(),
            }
        })
    }

    /// All parts of one kind, in the directory's order.
    pub fn parts_of(&self, kind: FourCc) -> impl Iterator<Item = RawPart<'a>> + use<'a> {
        self.parts().filter(move |p| p.kind == kind)
    }

    /// The part of one kind, if it is there.
    ///
    /// # Errors
    /// [`ReadErrorKind::DuplicatePart`](K::DuplicatePart) when there are two:
    /// [`parts_of`](Self::parts_of) has them all.
    pub fn part(&self, kind: FourCc) -> Result<Option<RawPart<'a>>, ReadError> {
        let mut parts = self.parts_of(kind);
        let first = parts.next();
        if let (Some(first), Some(second)) = (first, parts.next()) {
            let e = K::DuplicatePart {
                first: first.offset,
            };
            return Err(ReadError::new(e, second.offset, Some(kind), "PartFourCC"));
        }
        Ok(first)
    }
}

fn entry_at(index: u32) -> u64 {
    HEADER + 4 * u64::from(index)
}

/// `42 43 C0 DE`, with which LLVM bitcode begins.
pub(crate) const BITCODE_MAGIC: u32 = u32::from_le_bytes(*b"BC\xc0\xde");

macro_rules! typed {
    ($($(#[$doc:meta])* $fn:ident: $kind:ident => $ty:ident;)*) => {
        /// Typed look-ups. Each gives `None` where there is no such part.
        ///
        /// Each fails where the part is there twice, and with what the codec says.
        impl<'a> Container<'a> {
            $($(#[$doc])*
            ///
            /// # Errors
            /// Where the part is there twice or cannot be decoded; offsets count from the start
            /// of the container.
            pub fn $fn(&self) -> Result<Option<$ty<'a>>, ReadError> {
                let Some(p) = self.part(FourCc::$kind)? else { return Ok(None) };
                $ty::read(p.data)
                    .map(Some)
                    .map_err(|e| e.in_part(p.kind, p.data_offset()))
            })*
        }
    };
}

typed! {
    /// The `DXIL` part.
    program: DXIL => Program;
    /// The `ILDB` part: the program with debug information.
    debug_program: ILDB => Program;
    /// The `STAT` part of a DXIL container: the program without function bodies.
    reflection: STAT => Program;
    /// The `SFI0` part.
    features: SFI0 => Features;
    /// The `HASH` part.
    shader_hash: HASH => ShaderHash;
    /// The `PSV0` part.
    psv: PSV0 => Psv;
    /// The `ISG1` part.
    input_signature: ISG1 => Signature;
    /// The `OSG1` part.
    output_signature: OSG1 => Signature;
    /// The `PSG1` part.
    patch_signature: PSG1 => Signature;
    /// The `RTS0` part.
    root_signature: RTS0 => RootSignature;
    /// The `RDAT` part.
    rdat: RDAT => Rdat;
    /// The `VERS` part.
    compiler_version: VERS => Version;
    /// The `ILDN` part.
    debug_name: ILDN => DebugName;
}
