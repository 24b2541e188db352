//! What a kernel declares: parameters, shared and private arrays.

use crate::types::{Access, Scalar, Type};
use core::fmt;

/// A stretch of the kernel's pool of names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Name {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// A buffer parameter: an array of elements in device memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BufferDecl {
    /// Its name; may be empty. See [`crate::kernel::Kernel::name_of`].
    pub name: Name,
    /// Type of an element: any type but `bool`.
    pub elem: Type,
    /// How the kernel uses it.
    pub access: Access,
    /// Whether it may overlap other buffers that say so (SPIR-V `Aliased`).
    pub may_alias: bool,
    /// Descriptor set.
    pub set: u32,
    /// Binding in that set.
    pub binding: u32,
}

/// A scalar parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScalarDecl {
    /// Its name; may be empty.
    pub name: Name,
    /// Its type: any scalar.
    pub ty: Type,
}

/// The number of elements of a shared array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SharedLen {
    /// Fixed, at least 1.
    Static(u32),
    /// Given at launch. A kernel has at most one such array.
    Dynamic,
}

/// An array in the workgroup's shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SharedDecl {
    /// Its name; may be empty.
    pub name: Name,
    /// Type of an element: any type but `bool`.
    pub elem: Type,
    /// How many.
    pub len: SharedLen,
    /// Whether it is zero when the kernel starts; otherwise it holds anything.
    pub zeroed: bool,
}

/// An array private to each thread. It holds anything until written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PrivateDecl {
    /// Its name; may be empty.
    pub name: Name,
    /// Type of an element: any type but `bool`.
    pub elem: Type,
    /// How many, at least 1.
    pub len: u32,
}

/// A table of constants in the kernel itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TableDecl {
    /// Its name; may be empty.
    pub name: Name,
    /// Type of an element: any scalar number.
    pub elem: Type,
    /// Its first byte in the kernel's constant data; tables lie one behind the other there.
    pub start: u32,
    /// How many elements, at least 1. Each takes `elem.bytes()` bytes, little-endian.
    pub len: u32,
}

/// One parameter, in the order in which they were declared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamRef {
    /// The buffer with this number.
    Buffer(u32),
    /// The scalar with this number.
    Scalar(u32),
}

impl fmt::Display for ParamRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamRef::Buffer(n) => write!(f, "buf{n}"),
            ParamRef::Scalar(n) => write!(f, "arg{n}"),
        }
    }
}

/// How the body of a kernel uses a buffer, filled in by the verifier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct BufferUse {
    /// It is loaded from (atomics included).
    pub read: bool,
    /// It is stored to (atomics included).
    pub written: bool,
    /// It is accessed atomically.
    pub atomic: bool,
    /// Its length is asked for.
    pub length: bool,
    /// Its length is asked for as a `u32`, which that of a buffer of 2^32 elements does not fit: launches and the
    /// reference executor refuse such a buffer.
    pub length_u32: bool,
    /// Some access is coherent.
    pub coherent: bool,
    /// Some access is volatile.
    pub volatile: bool,
}

impl BufferUse {
    /// Whether the body mentions it at all.
    pub const fn any(self) -> bool {
        self.read || self.written || self.length
    }
}

/// What a body uses beside its buffers, filled in by the verifier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Uses {
    bits: u64,
}

macro_rules! uses {
    ($($name:ident = $bit:literal, $doc:literal;)*) => {
        impl Uses {
            $(#[doc = $doc]
              pub const $name: Uses = Uses { bits: 1 << $bit };)*
        }
    };
}
uses! {
    BARRIER = 0, "A workgroup barrier.";
    FENCE = 1, "A memory fence.";
    SUBGROUP = 2, "Lane, subgroup id or size, or a subgroup operation: needs full subgroups.";
    ASSUME_UNIFORM = 3, "An unchecked promise of uniformity: no safe launch.";
    ATOMIC_32 = 4, "A 32-bit integer atomic, or an f32 atomic that moves bits.";
    ATOMIC_64 = 5, "A 64-bit integer atomic on a buffer.";
    ATOMIC_64_SHARED = 6, "A 64-bit integer atomic on shared memory.";
    ATOMIC_F32_ADD = 7, "An f32 atomic add on a buffer.";
    ATOMIC_F32_ADD_SHARED = 8, "An f32 atomic add on shared memory.";
    I64 = 9, "A 64-bit integer value.";
    F64 = 10, "An f64 value.";
    F32 = 11, "An f32 value.";
    WRITES_BUFFERS = 12, "A store or atomic on a buffer.";
    WRITES_SHARED = 13, "A store or atomic on shared memory.";
    LENGTHS = 14, "A buffer's length.";
    VARS = 15, "A variable.";
    I8 = 16, "An 8-bit integer value.";
    I16 = 17, "A 16-bit integer value.";
    F16 = 18, "An f16 value.";
    BF16 = 19, "A bf16 value.";
    ATOMIC_F32_MINMAX = 20, "An f32 atomic min or max on a buffer.";
    ATOMIC_F32_MINMAX_SHARED = 21, "An f32 atomic min or max on shared memory.";
    ATOMIC_F64_ADD = 22, "An f64 atomic add on a buffer.";
    ATOMIC_F64_ADD_SHARED = 23, "An f64 atomic add on shared memory.";
    ELECT = 24, "`elect`.";
    VOTE = 25, "`any` or `all`.";
    BALLOT = 26, "`ballot`.";
    SHUFFLE = 27, "A shuffle or broadcast.";
    REDUCE = 28, "A subgroup reduction or scan.";
    DOT4 = 29, "A packed 8-bit dot product.";
}

impl Uses {
    pub(crate) const NONE: Uses = Uses { bits: 0 };

    /// What values of a scalar type use.
    const fn of_scalar(s: Scalar) -> Uses {
        match s {
            Scalar::I8 | Scalar::U8 => Uses::I8,
            Scalar::I16 | Scalar::U16 => Uses::I16,
            Scalar::I64 | Scalar::U64 => Uses::I64,
            Scalar::F16 => Uses::F16,
            Scalar::BF16 => Uses::BF16,
            Scalar::F32 => Uses::F32,
            Scalar::F64 => Uses::F64,
            Scalar::Bool | Scalar::I32 | Scalar::U32 => Uses { bits: 0 },
        }
    }

    /// What values use of the scalar type of a code's low four bits, where there is one.
    #[inline(always)]
    pub(crate) fn of_code(code: u8) -> Uses {
        const BY_CODE: [Uses; 16] = {
            let mut uses = [Uses { bits: 0 }; 16];
            let mut i = 0;
            while i < Scalar::ALL.len() {
                let scalar = Scalar::ALL[i];
                uses[scalar as usize] = Uses::of_scalar(scalar);
                i += 1;
            }
            uses
        };
        BY_CODE[code as usize & 15]
    }

    /// Whether all of `other` is used.
    #[inline]
    pub const fn has(self, other: Uses) -> bool {
        self.bits & other.bits == other.bits
    }

    /// The union.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Uses) -> Uses {
        Uses {
            bits: self.bits | other.bits,
        }
    }
}
