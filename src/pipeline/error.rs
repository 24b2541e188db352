//! Why a run failed, and what two executors made of one run.

use super::artefacts::CompileError;
use crate::reference::ExecError;
use crate::types::{Scalar, Type};
use core::fmt;

/// Why a run was refused or failed.
///
/// The slices are as they were, unless the copies of the results themselves failed ([`RunError::Cuda`]): then those that
/// the kernel may write hold anything.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Too few or too many arguments.
    #[error("the kernel takes {expected} arguments, {found} were given")]
    ArgumentCount {
        /// Parameters of the kernel.
        expected: usize,
        /// Arguments given.
        found: usize,
    },
    /// An argument does not fit its parameter.
    #[error("argument {index} ({name:?}): {fault}")]
    Argument {
        /// Its place.
        index: usize,
        /// The parameter's name.
        name: String,
        /// What is wrong.
        fault: ArgumentFault,
    },
    /// Elements of dynamic shared memory for a kernel that declares none, or 2^32 bytes of them and more.
    #[error("{elements} elements of dynamic shared memory do not fit the kernel")]
    DynamicShared {
        /// Elements given.
        elements: u32,
    },
    /// The policy asks for a GPU, and there is none.
    #[error("the policy asks for a GPU: {0}")]
    Unavailable(#[source] Unavailable),
    /// The kernel could not be emitted.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The reference executor refused the kernel, or stopped it.
    #[error("on the reference executor: {0}")]
    Host(#[source] ExecError),
    /// Loading, copying or launching failed.
    #[cfg(feature = "cuda")]
    #[error("on the GPU: {0}")]
    Cuda(#[source] crate::cuda::Error),
    /// The two executors came to different results.
    #[error(transparent)]
    Mismatch(Box<Mismatch>),
}

/// What is wrong with an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ArgumentFault {
    /// The parameter is a buffer of this element type, the argument a number.
    ExpectedBuffer(Type),
    /// The parameter is a number of this type, the argument a buffer.
    ExpectedScalar(Type),
    /// A number, or a buffer of elements, of another type.
    Type {
        /// The parameter's.
        expected: Type,
        /// The argument's.
        found: Type,
    },
    /// The kernel may write the buffer, but it was given to be read.
    ReadOnly,
    /// The kernel takes the buffer's length as `u32`, which this length does not fit.
    TooLong {
        /// Elements of the buffer.
        len: u64,
    },
}

impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentFault::ExpectedBuffer(elem) => {
                write!(f, "a buffer of {elem} is expected, a number was given")
            }
            ArgumentFault::ExpectedScalar(ty) => {
                write!(f, "a number of type {ty} is expected, a buffer was given")
            }
            ArgumentFault::Type { expected, found } => {
                write!(f, "{expected} is expected, {found} was given")
            }
            ArgumentFault::ReadOnly => f.write_str("the kernel may write it: give `&mut`"),
            ArgumentFault::TooLong { len } => {
                write!(
                    f,
                    "the kernel takes its length as u32, which {len} elements do not fit"
                )
            }
        }
    }
}

/// Why there is no GPU to run on.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// kernite was built without the feature `cuda`.
    #[error("kernite was built without the feature `cuda`")]
    NotBuilt,
    /// The CUDA driver could not be loaded, or its first device not opened.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    Driver(#[from] crate::cuda::Error),
    /// The CUDA driver sees no device.
    #[error("the CUDA driver sees no device")]
    NoDevice,
}

/// The first element in which the two executors differ ([`super::Policy::CrossCheck`]).
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
#[error(
    "argument {index} ({name:?}), element {element}{}: {} on the reference executor, {} on the GPU{}",
    Lane(*elem, *lane), Bits(*elem, *host), Bits(*elem, *cuda), Allowed(*tolerance)
)]
pub struct Mismatch {
    /// The argument.
    pub index: usize,
    /// The parameter's name.
    pub name: String,
    /// The buffer's element type.
    pub elem: Type,
    /// The element.
    pub element: usize,
    /// The component of a vector; 0 for scalars.
    pub lane: u32,
    /// What the reference executor computed: the bits, zero-extended.
    pub host: u64,
    /// What the GPU computed.
    pub cuda: u64,
    /// The differences that were allowed; `None` where the bits had to be the same.
    pub tolerance: Option<super::Closeness>,
}

struct Lane(Type, u32);

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.lanes() {
            0 | 1 => Ok(()),
            _ => write!(f, " lane {}", self.1),
        }
    }
}

struct Allowed(Option<super::Closeness>);

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(close) => write!(
                f,
                ", which may differ by {:e} and {:e} of the value",
                close.absolute, close.relative
            ),
        }
    }
}

/// Bits as their type shows them, and as they are.
struct Bits(Type, u64);

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bits(ty, bits) = *self;
        let Some(scalar) = ty.scalar() else {
            return write!(f, "{bits:#x}");
        };
        match super::compare::float(scalar, bits) {
            Some(value) => write!(f, "{value:?} ({bits:#x})"),
            None => match scalar {
                Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
                    let unused = 64 - scalar.bits();
                    write!(f, "{}", (bits << unused) as i64 >> unused)
                }
                Scalar::Bool
                | Scalar::U8
                | Scalar::U16
                | Scalar::U32
                | Scalar::U64
                | Scalar::F16
                | Scalar::BF16
                | Scalar::F32
                | Scalar::F64 => write!(f, "{bits}"),
            },
        }
    }
}
