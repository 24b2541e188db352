//! What is inside the parts: one codec a family.
//!
//! Each codec has `read`, which takes the part's data, and `write`, which appends it. Reading and
//! writing what was read gives the same bytes again, for everything that `read` takes. Fields are
//! named as DXC's headers name them; numbers of open sets (kinds, types, modes) are newtypes that
//! keep what they do not know. Bytes that a newer version appended are kept beside the fields. Where
//! `write` fails, `out` may hold the beginning of the part.
#![forbid(unsafe_code)]

mod debug;
mod feature;
mod hash;
mod kinds;
mod program;
mod psv;
mod rdat;
mod root_signature;
mod signature;
mod source;
mod version;

pub use debug::DebugName;
pub use feature::{FeatureFlags, Features};
pub use hash::ShaderHash;
pub use kinds::*;
pub use program::{Program, ProgramVersion};
pub use psv::{
    Psv, PsvDependencies, PsvElement, PsvInfo, PsvInfo1, PsvResource, PsvResourceExtension,
    PsvStage, PsvVersion, StringTable,
};
pub use rdat::{
    Rdat, RdatArray, RdatBody, RdatBytes, RdatFunction, RdatFunction2, RdatNodeInfo, RdatPair,
    RdatPart, RdatRecord, RdatResource, RdatString, RdatSubobject, RdatTable,
};
pub use root_signature::{
    DescriptorRange, RootDescriptor, RootParameter, RootPayload, RootSignature,
    RootSignatureVersion, StaticSampler,
};
pub use signature::{ElementDesc, NameLayout, Signature, SignatureElement};
pub use source::{PdbInfo, SourceArg, SourceInfo, SourceName, SourceSection};
pub use version::Version;

use super::{FourCc, ReadError, WriteError};
use std::borrow::Cow;

/// A decoded part.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Part<'a> {
    /// `DXIL`, `ILDB`, and `STAT` of a DXIL container.
    Program(Program<'a>),
    /// `SFI0`.
    Features(Features<'a>),
    /// `HASH`.
    Hash(ShaderHash<'a>),
    /// `PSV0`.
    Psv(Box<Psv<'a>>),
    /// `ISG1`, `OSG1`, `PSG1`.
    Signature(Signature<'a>),
    /// `RTS0`.
    RootSignature(RootSignature<'a>),
    /// `RDAT`.
    Rdat(Rdat<'a>),
    /// `VERS`.
    Version(Version<'a>),
    /// `ILDN`.
    DebugName(DebugName<'a>),
    /// `SRCI`.
    SourceInfo(SourceInfo<'a>),
    /// `PDBI`.
    PdbInfo(PdbInfo<'a>),
    /// `PRIV`.
    Private(Cow<'a, [u8]>),
    /// Any other kind, and the counters that `STAT` is in shader models 4 and 5.
    Unknown(Cow<'a, [u8]>),
}

impl<'a> Part<'a> {
    /// Decodes a part's data by its kind.
    ///
    /// `STAT` is two different things: with `DXIL` at byte 8 it is a program, else unknown.
    ///
    /// # Errors
    /// What the codec says, with offsets counted from the start of `data`.
    pub fn read(kind: FourCc, data: &'a [u8]) -> Result<Self, ReadError> {
        let part = match kind {
            FourCc::STAT if data.len() >= 12 && data.get(8..12) != Some(b"DXIL") => {
                Part::Unknown(data.into())
            }
            FourCc::DXIL | FourCc::ILDB | FourCc::STAT => Part::Program(Program::read(data)?),
            FourCc::SFI0 => Part::Features(Features::read(data)?),
            FourCc::HASH => Part::Hash(ShaderHash::read(data)?),
            FourCc::PSV0 => Part::Psv(Box::new(Psv::read(data)?)),
            FourCc::ISG1 | FourCc::OSG1 | FourCc::PSG1 => Part::Signature(Signature::read(data)?),
            FourCc::RTS0 => Part::RootSignature(RootSignature::read(data)?),
            FourCc::RDAT => Part::Rdat(Rdat::read(data)?),
            FourCc::VERS => Part::Version(Version::read(data)?),
            FourCc::ILDN => Part::DebugName(DebugName::read(data)?),
            FourCc::SRCI => Part::SourceInfo(SourceInfo::read(data)?),
            FourCc::PDBI => Part::PdbInfo(PdbInfo::read(data)?),
            FourCc::PRIV => Part::Private(data.into()),
            _ => Part::Unknown(data.into()),
        };
        Ok(part)
    }

    /// Appends the part's data to `out`.
    ///
    /// # Errors
    /// Fields that contradict each other or do not fit: only after the part was changed.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        match self {
            Part::Program(p) => p.write(out),
            Part::Features(p) => p.write(out),
            Part::Hash(p) => p.write(out),
            Part::Psv(p) => p.write(out),
            Part::Signature(p) => p.write(out),
            Part::RootSignature(p) => p.write(out),
            Part::Rdat(p) => p.write(out),
            Part::Version(p) => p.write(out),
            Part::DebugName(p) => p.write(out),
            Part::SourceInfo(p) => p.write(out),
            Part::PdbInfo(p) => p.write(out),
            Part::Private(b) | Part::Unknown(b) => {
                out.extend_from_slice(b);
                Ok(())
            }
        }
    }
}

impl Part<'_> {
    /// Writes the part's data into a slot of fixed size, such as its place in a container;
    /// gives its length. What follows it in the slot stays.
    ///
    /// # Errors
    /// [`WriteError::TooLarge`] if it does not fit, and what [`write`](Self::write) says; the
    /// slot is left alone then.
    pub fn write_to_slot(&self, slot: &mut [u8]) -> Result<usize, WriteError> {
        let mut data = Vec::new();
        self.write(&mut data)?;
        let limit = slot.len() as u64;
        match slot.get_mut(..data.len()) {
            Some(slot) => slot.copy_from_slice(&data),
            None => {
                return Err(WriteError::TooLarge {
                    part: self.kind(),
                    offset: 0,
                    field: "PartSize",
                    value: data.len() as u64,
                    limit,
                });
            }
        }
        Ok(data.len())
    }

    /// The kind that such a part usually has, to name it in errors.
    fn kind(&self) -> FourCc {
        match self {
            Part::Program(_) => FourCc::DXIL,
            Part::Features(_) => FourCc::SFI0,
            Part::Hash(_) => FourCc::HASH,
            Part::Psv(_) => FourCc::PSV0,
            Part::Signature(_) => FourCc::ISG1,
            Part::RootSignature(_) => FourCc::RTS0,
            Part::Rdat(_) => FourCc::RDAT,
            Part::Version(_) => FourCc::VERS,
            Part::DebugName(_) => FourCc::ILDN,
            Part::SourceInfo(_) => FourCc::SRCI,
            Part::PdbInfo(_) => FourCc::PDBI,
            Part::Private(_) | Part::Unknown(_) => FourCc::PRIV,
        }
    }
}

/// A length as a `u32` field, or the error that names the field.
pub(crate) fn fit_u32(
    part: FourCc,
    offset: u64,
    field: &'static str,
    value: u64,
) -> Result<u32, WriteError> {
    u32::try_from(value).map_err(|_| WriteError::TooLarge {
        part,
        offset,
        field,
        value,
        limit: u32::MAX.into(),
    })
}

/// `found` must be what the header describes.
pub(crate) fn expect(
    part: FourCc,
    offset: u64,
    field: &'static str,
    expected: u64,
    found: u64,
) -> Result<(), WriteError> {
    if expected == found {
        return Ok(());
    }
    Err(WriteError::Mismatch {
        part,
        offset,
        field,
        expected,
        found,
    })
}

/// `n` rounded up to a multiple of 4.
pub(crate) fn align4(n: u64) -> u64 {
    n.saturating_add(3) & !3
}

/// Appends zeros until `out[start..]` is a multiple of 4 long.
pub(crate) fn pad4(out: &mut Vec<u8>, start: usize) {
    while !(out.len() - start).is_multiple_of(4) {
        out.push(0);
    }
}

/// Appends words little-endian.
pub(crate) fn put_words(out: &mut Vec<u8>, words: &[u32]) {
    for w in words {
        out.extend_from_slice(&w.to_le_bytes());
    }
}
