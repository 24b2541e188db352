//! `DXIL`, `ILDB` and DXC's `STAT`: a DXIL program (DXC `DxilContainer.h`, `DxilProgramHeader`).
#![forbid(unsafe_code)]

use super::{ShaderKind, align4, expect, fit_u32};
use crate::dxbc::{
    FourCc, ReadError, ReadErrorKind as K, WriteError,
    bytes::{Cursor, len, slice},
    read::BITCODE_MAGIC,
};
use std::borrow::Cow;

/// "DXIL".
const DXIL_MAGIC: u32 = 0x4c49_5844;
/// Bytes before the inner header, whose start `BitcodeOffset` counts from.
const INNER: u64 = 8;
/// Bytes of both headers.
const HEADERS: u64 = 24;

/// `ProgramVersion`: shader kind and model in one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ProgramVersion(pub u32);

impl ProgramVersion {
    /// Kind and shader model. Only the low four bits of `major` and `minor` have room.
    ///
    /// ```
    /// use kernite::dxbc::part::{ProgramVersion, ShaderKind};
    /// let v = ProgramVersion::new(ShaderKind::COMPUTE, 6, 5);
    /// assert_eq!(v.0, 0x0005_0065);
    /// assert_eq!(v.to_string(), "cs_6_5");
    /// ```
    #[must_use]
    pub const fn new(kind: ShaderKind, major: u8, minor: u8) -> Self {
        Self((kind.0 as u32) << 16 | ((major & 15) as u32) << 4 | (minor & 15) as u32)
    }

    /// The shader kind, known or not.
    #[must_use]
    pub const fn kind(self) -> ShaderKind {
        // The upper half of a word.
        ShaderKind((self.0 >> 16) as u16)
    }

    /// The shader model's major number.
    #[must_use]
    pub const fn major(self) -> u8 {
        ((self.0 >> 4) & 15) as u8
    }

    /// The shader model's minor number; 15 in `lib_6_x`.
    #[must_use]
    pub const fn minor(self) -> u8 {
        (self.0 & 15) as u8
    }
}

impl core::fmt::Display for ProgramVersion {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (major, minor) = (self.major(), self.minor());
        match self.kind().profile() {
            Some(p) => write!(f, "{p}_{major}_{minor}"),
            None => write!(f, "kind {:#x} {major}.{minor}", self.kind().0),
        }
    }
}

/// A DXIL program: headers and bitcode.
///
/// Reading is stricter than DXC's `IsValidDxilProgramHeader` where that lets the bitcode lie over
/// its own header or at an offset that no bitcode reader takes; it is as lenient in that neither
/// the bitcode's magic number nor a `SizeInUint32` below the part's size is an error: see
/// [`has_bitcode_magic`](Self::has_bitcode_magic) and [`size_agrees`](Self::size_agrees).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program<'a> {
    /// Shader kind and model.
    pub version: ProgramVersion,
    /// `SizeInUint32`: words of the part, headers included.
    pub size_in_words: u32,
    /// `DxilVersion`: `major << 8 | minor`.
    pub dxil_version: u32,
    /// Bytes between the headers and the bitcode: none, as DXC writes it.
    pub gap: Cow<'a, [u8]>,
    /// The bitcode, `BitcodeSize` bytes.
    pub bitcode: Cow<'a, [u8]>,
    /// What follows the bitcode: zeros to a multiple of 4.
    pub trailing: Cow<'a, [u8]>,
}

impl<'a> Program<'a> {
    /// A program around bitcode as DXC writes it, padded with zeros to a multiple of 4.
    ///
    /// # Errors
    /// Bitcode of 4 GiB and more.
    pub fn new(
        version: ProgramVersion,
        dxil_version: u32,
        bitcode: impl Into<Cow<'a, [u8]>>,
    ) -> Result<Self, WriteError> {
        let bitcode = bitcode.into();
        let padded = align4(len(&bitcode));
        let size = fit_u32(FourCc::DXIL, 4, "SizeInUint32", HEADERS + padded)?;
        // 0 to 3 zeros.
        let pad = [0u8; 3]
            .iter()
            .take((padded - len(&bitcode)) as usize)
            .copied();
        Ok(Self {
            version,
            size_in_words: size / 4,
            dxil_version,
            gap: Cow::Borrowed(&[]),
            bitcode,
            trailing: pad.collect(),
        })
    }

    /// Decodes the part's data.
    ///
    /// # Errors
    /// Fewer than 24 bytes; `SizeInUint32` past the part; another magic than `DXIL`; bitcode that
    /// is empty, begins inside the headers or not on a word, or ends past the part.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::DXIL, data);
        if len(data) < HEADERS {
            let (need, have) = (HEADERS, len(data));
            return Err(c.error(K::TooShort { need, have }, 0, "DxilProgramHeader"));
        }
        let version = ProgramVersion(c.u32("ProgramVersion")?);
        let size_in_words = c.u32("SizeInUint32")?;
        let (end, limit) = (u64::from(size_in_words) * 4, len(data));
        if end > limit {
            return Err(c.error(K::OutOfBounds { end, limit }, 4, "SizeInUint32"));
        }
        let found = c.u32("DxilMagic")?;
        if found != DXIL_MAGIC {
            let want = DXIL_MAGIC;
            return Err(c.error(K::BadMagic { found, want }, 8, "DxilMagic"));
        }
        let dxil_version = c.u32("DxilVersion")?;
        let offset = u64::from(c.u32("BitcodeOffset")?);
        let size = u64::from(c.u32("BitcodeSize")?);
        if offset < HEADERS - INNER {
            return Err(c.error(K::BadValue { value: offset }, 16, "BitcodeOffset"));
        }
        if !offset.is_multiple_of(4) {
            let (value, align) = (offset, 4);
            return Err(c.error(K::Misaligned { value, align }, 16, "BitcodeOffset"));
        }
        if size == 0 {
            return Err(c.error(K::BadValue { value: 0 }, 20, "BitcodeSize"));
        }
        let start = INNER + offset;
        let end = start + size;
        let Some(bitcode) = slice(data, start, size) else {
            return Err(c.error(K::OutOfBounds { end, limit }, 20, "BitcodeSize"));
        };
        Ok(Self {
            version,
            size_in_words,
            dxil_version,
            gap: slice(data, HEADERS, start - HEADERS)
                .unwrap_or_default()
                .into(),
            bitcode: bitcode.into(),
            trailing: slice(data, end, limit - end).unwrap_or_default().into(),
        })
    }

    /// Appends the part's data.
    ///
    /// # Errors
    /// Sizes that do not fit, empty bitcode, or a gap of no whole words.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let part = FourCc::DXIL;
        if self.bitcode.is_empty() {
            return Err(WriteError::BadValue {
                part,
                offset: 20,
                field: "BitcodeSize",
                value: 0,
            });
        }
        let gap = len(&self.gap);
        expect(part, 16, "BitcodeOffset", align4(gap), gap)?;
        let offset = fit_u32(part, 16, "BitcodeOffset", HEADERS - INNER + gap)?;
        let size = fit_u32(part, 20, "BitcodeSize", len(&self.bitcode))?;
        let total = HEADERS + gap + len(&self.bitcode) + len(&self.trailing);
        if u64::from(self.size_in_words) * 4 > total {
            let expected = u64::from(self.size_in_words) * 4;
            expect(part, 4, "SizeInUint32", expected, total)?;
        }
        for w in [
            self.version.0,
            self.size_in_words,
            DXIL_MAGIC,
            self.dxil_version,
            offset,
            size,
        ] {
            out.extend_from_slice(&w.to_le_bytes());
        }
        out.extend_from_slice(&self.gap);
        out.extend_from_slice(&self.bitcode);
        out.extend_from_slice(&self.trailing);
        Ok(())
    }

    /// True if the bitcode begins with `42 43 C0 DE`.
    #[must_use]
    pub fn has_bitcode_magic(&self) -> bool {
        self.bitcode.starts_with(&BITCODE_MAGIC.to_le_bytes())
    }

    /// True if `SizeInUint32` gives the size of the part, as DXC writes it.
    #[must_use]
    pub fn size_agrees(&self) -> bool {
        let total = HEADERS + len(&self.gap) + len(&self.bitcode) + len(&self.trailing);
        u64::from(self.size_in_words) * 4 == total
    }
}
