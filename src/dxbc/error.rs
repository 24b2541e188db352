//! Errors of the container code, each with its place.
#![forbid(unsafe_code)]

use super::{FourCc, check::Inconsistency};
use core::fmt;

/// A container or part that cannot be read: what is wrong, and where.
///
/// The offset counts from the start of the bytes given: the whole container for
/// [`Container`](super::Container) and what it hands out, the part's data for the
/// codecs' own `read`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadError {
    kind: ReadErrorKind,
    offset: u64,
    part: Option<FourCc>,
    field: &'static str,
}

/// What is wrong with the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// Fewer bytes than the structure needs.
    #[error("needs {need} bytes, {have} are there")]
    TooShort {
        /// Bytes needed from the offset on.
        need: u64,
        /// Bytes there from the offset on.
        have: u64,
    },
    /// Not the magic number.
    #[error("is {found:#010x}, not {want:#010x}")]
    BadMagic {
        /// The word read.
        found: u32,
        /// The word wanted.
        want: u32,
    },
    /// LLVM bitcode where a container is wanted: wrap it first
    /// ([`ComputePackager`](super::ComputePackager)).
    #[error("is bare LLVM bitcode, not a container; it has to be packed first")]
    BareBitcode,
    /// A version that this reader does not know.
    #[error("version {0} is not known")]
    UnsupportedVersion(u32),
    /// A size above its limit.
    #[error("is {size}, above the limit {limit}")]
    TooLarge {
        /// The size read.
        size: u64,
        /// The most it may be.
        limit: u64,
    },
    /// A structure ends past the bytes that hold it.
    #[error("ends at {end}, past the end at {limit}")]
    OutOfBounds {
        /// Where it would end.
        end: u64,
        /// Where the bytes end.
        limit: u64,
    },
    /// A part that does not begin where the one before it ends, or, at the end of
    /// the container, a last part that does not reach it.
    #[error("is {found}, but the previous part ends at {expected}")]
    NotContiguous {
        /// Where the previous part ends.
        expected: u64,
        /// The offset found.
        found: u64,
    },
    /// Structures that share bytes.
    #[error("overlaps what ends at {end}")]
    Overlap {
        /// End of the other structure.
        end: u64,
    },
    /// Two parts of the kind asked for: a look-up cannot say which is meant.
    #[error("is there twice; the first is at {first}")]
    DuplicatePart {
        /// Offset of the first part's header.
        first: u64,
    },
    /// The part asked for is not there.
    #[error("is missing")]
    MissingPart,
    /// A value that must be a multiple of `align`.
    #[error("is {value}, not a multiple of {align}")]
    Misaligned {
        /// The value read.
        value: u64,
        /// What it must be a multiple of.
        align: u64,
    },
    /// A string whose terminating NUL is not inside its part or table.
    #[error("has no terminating NUL inside its bounds")]
    UnterminatedString,
    /// A value outside what the field may hold.
    #[error("has the value {value:#x}, which it may not have")]
    BadValue {
        /// The value read.
        value: u64,
    },
}

impl ReadError {
    #[cold]
    pub(crate) fn new(
        kind: ReadErrorKind,
        offset: u64,
        part: Option<FourCc>,
        field: &'static str,
    ) -> Self {
        Self {
            kind,
            offset,
            part,
            field,
        }
    }

    /// The same error seen from the container: part data starts at `base`.
    #[cold]
    pub(crate) fn in_part(mut self, part: FourCc, base: u64) -> Self {
        self.part = Some(part);
        self.offset = self.offset.saturating_add(base);
        self
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> ReadErrorKind {
        self.kind
    }

    /// Byte offset of the field at fault.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The part, or `None` for the container's own header.
    #[must_use]
    pub fn part(&self) -> Option<FourCc> {
        self.part
    }

    /// The field, named as DXC's headers name it.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.field
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {:#x}, ", self.offset)?;
        if let Some(part) = self.part {
            write!(f, "part {part}, ")?;
        }
        write!(f, "{} {}", self.field, self.kind)
    }
}

impl core::error::Error for ReadError {}

/// A container or part that cannot be written as asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A size or value that does not fit its field.
    #[error("part {part}, byte {offset:#x}, {field}: {value} is above the limit {limit}")]
    TooLarge {
        /// The part (`DXBC` for the container itself).
        part: FourCc,
        /// Offset of the field in what is written.
        offset: u64,
        /// The field.
        field: &'static str,
        /// The value.
        value: u64,
        /// The most it may be.
        limit: u64,
    },
    /// Tables or strings whose sizes contradict the header that describes them.
    #[error("part {part}, byte {offset:#x}, {field}: has {found} where {expected} is described")]
    Mismatch {
        /// The part.
        part: FourCc,
        /// Offset of the field in what is written.
        offset: u64,
        /// The field.
        field: &'static str,
        /// Bytes, words or records that the header describes.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// A value that the part's own reader would not take.
    #[error("part {part}, byte {offset:#x}, {field}: may not be {value:#x}")]
    BadValue {
        /// The part.
        part: FourCc,
        /// Offset of the field in what is written.
        offset: u64,
        /// The field.
        field: &'static str,
        /// The value.
        value: u64,
    },
    /// A string with a NUL inside, in a field that ends at its first NUL.
    #[error("part {part}, byte {offset:#x}, {field}: holds a NUL")]
    InnerNul {
        /// The part.
        part: FourCc,
        /// Offset of the string in what is written.
        offset: u64,
        /// The field.
        field: &'static str,
    },
    /// A second part of one kind.
    #[error("part {part} is there already")]
    DuplicatePart {
        /// The kind.
        part: FourCc,
    },
    /// No part of the kind to replace or remove.
    #[error("part {part} is not there")]
    MissingPart {
        /// The kind.
        part: FourCc,
    },
    /// A part whose size is no multiple of four; only `PRIV` may have one.
    #[error("part {part}: size {size} is not a multiple of 4")]
    Unaligned {
        /// The kind.
        part: FourCc,
        /// The size of its data.
        size: u64,
    },
    /// A whole container given as a part's data.
    #[error("part {part}: the data is itself a container")]
    NestedContainer {
        /// The kind asked for.
        part: FourCc,
    },
    /// The parts contradict each other, so no digest is written.
    #[error("parts are inconsistent: {}", List(.0))]
    Inconsistent(Vec<Inconsistency>),
}

/// Why a kernel could not be packed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// Something that this packager cannot do.
    #[error("unsupported: {what}: {why}")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
        /// Why it is not done.
        why: &'static str,
    },
    /// The program bytes are neither bitcode nor a container with a DXIL part.
    #[error("program: {0}")]
    Program(#[from] ReadError),
    /// The interface does not describe a kernel.
    #[error("interface, {field}: {value:#x} {why}")]
    Interface {
        /// The field of [`ComputeInterface`](super::ComputeInterface).
        field: &'static str,
        /// The value at fault.
        value: u64,
        /// The rule it breaks.
        why: InterfaceRule,
    },
    /// Interface, program and source container contradict each other.
    #[error("inconsistent: {}", List(.0))]
    Inconsistent(Vec<Inconsistency>),
    /// A part could not be written.
    #[error(transparent)]
    Write(WriteError),
}

impl From<WriteError> for PackError {
    fn from(e: WriteError) -> Self {
        match e {
            WriteError::Inconsistent(list) => PackError::Inconsistent(list),
            e => PackError::Write(e),
        }
    }
}

/// The rule of an interface that a value breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterfaceRule {
    /// A workgroup has 1 to 1024 threads, at most 1024 x 1024 x 64.
    #[error("is outside what a Direct3D workgroup may have (1024 x 1024 x 64, 1024 in all)")]
    WorkgroupSize,
    /// Lane counts are powers of two, 4 to 128, the least not above the most.
    #[error("is no lane count (a power of two, 4 to 128, least not above most)")]
    WaveLanes,
    /// An entry-point name is not empty and has no NUL.
    #[error("is the length of a name that is empty or holds a NUL")]
    Name,
    /// A resource covers at least one register, none past the last.
    #[error("registers are empty or pass the last register")]
    Registers,
    /// Two resources share a register.
    #[error("is the register of two resources")]
    Collision,
    /// Push constants are 1 to 64 words as root constants (a root signature's limit), at most
    /// 4096 x 4 in a constant buffer.
    #[error("is no size for push constants")]
    PushConstants,
    /// Group-shared memory is at most 32 KiB.
    #[error("is more group-shared memory than Direct3D allows (32768)")]
    GroupShared,
    /// A root signature holds at most 64 words.
    #[error("words do not fit a root signature (64)")]
    RootSignature,
    /// Structured buffers hold no 8-bit integers and no bfloat16: HLSL lacks those types.
    /// [`BufferShape::Raw`](super::BufferShape::Raw) has no elements.
    #[error("is a parameter whose elements HLSL has no type for; a raw buffer would do")]
    ElementType,
    /// A resource whose type and kind contradict each other.
    #[error("is a resource kind that its type may not have")]
    ResourceKind,
}

/// Prints a list with semicolons between.
struct List<'a>(&'a [Inconsistency]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, e) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{e}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_small() {
        assert!(size_of::<ReadError>() <= 64);
        assert!(size_of::<WriteError>() <= 64);
    }
}
