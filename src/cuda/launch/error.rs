//! Why a launch was refused before it reached the driver.

use crate::types::{Scalar, Type};
use core::fmt;

/// A launch was refused before it reached the driver.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The function was loaded without a signature.
    #[error(
        "the function has no signature, so its arguments cannot be checked; Function::launch_raw launches it"
    )]
    NoSignature,
    /// The kernel's accesses are not checked, so that launching it is not safe.
    #[error(
        "the kernel does not check the bounds of its accesses; Function::launch_unchecked, which is unsafe, launches it"
    )]
    Unchecked,
    /// The kernel was promised uniformity that nothing checks, so that launching it is not safe.
    #[error(
        "the kernel assumes a value to be uniform; Function::launch_unchecked, which is unsafe, launches it"
    )]
    AssumesUniform,
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
    /// Two arguments overlap, one of which the kernel may write, and not both are declared `may_alias`.
    #[error("arguments {first} and {second} overlap, and the kernel may write one of them")]
    Overlap {
        /// The place of the one that begins first.
        first: usize,
        /// The place of the other.
        second: usize,
    },
    /// The stream or module belongs to another context.
    #[error("the {what} belongs to another context than the function")]
    OtherContext {
        /// Which.
        what: &'static str,
    },
    /// The block is not the workgroup that the kernel was made for.
    #[error("the block is {}x{}x{}, the kernel was made for workgroups of {}x{}x{}", .given[0], .given[1], .given[2], .expected[0], .expected[1], .expected[2])]
    Block {
        /// The launch's block.
        given: [u32; 3],
        /// The kernel's workgroup.
        expected: [u32; 3],
    },
    /// A block of no threads.
    #[error("the block {block:?} has no threads")]
    EmptyBlock {
        /// The block.
        block: [u32; 3],
    },
    /// More threads in a block than the function can run with on this device.
    #[error(
        "{threads} threads in a block are more than the {max} with which this function runs here: it takes {registers} registers a thread, and a block has {registers_per_block}"
    )]
    Threads {
        /// Threads of the block.
        threads: u64,
        /// The function's `MAX_THREADS_PER_BLOCK`.
        max: u32,
        /// Registers of a thread.
        registers: u32,
        /// Registers of a block.
        registers_per_block: u32,
    },
    /// The launch passes a limit of the device.
    #[error("{limit}: {needed} needed, {available} available")]
    Limit {
        /// Which.
        limit: LaunchLimit,
        /// What the launch needs.
        needed: u64,
        /// What the device has.
        available: u64,
    },
    /// Static and dynamic shared memory together pass what the device has.
    #[error(
        "{static_bytes} bytes of static and {dynamic_bytes} of dynamic shared memory pass the {available} that a block has"
    )]
    SharedMemory {
        /// Bytes that the kernel declares.
        static_bytes: u64,
        /// Bytes that the launch adds.
        dynamic_bytes: u64,
        /// Bytes that a block can have, by opt-in.
        available: u64,
    },
    /// Dynamic shared memory for a kernel that declares none.
    #[error("{bytes} bytes of dynamic shared memory were given to a kernel that declares none")]
    NoDynamicShared {
        /// Bytes given.
        bytes: u32,
    },
    /// Managed memory in a graph, whose launches could race with the host.
    #[error(
        "argument {index} is managed memory, which a graph cannot hold: its launches could race with the host"
    )]
    ManagedInGraph {
        /// The argument.
        index: usize,
    },
}

/// What is wrong with an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ArgumentFault {
    /// The parameter is a buffer of this element type, the argument a number.
    ExpectedBuffer(Type),
    /// The parameter is a number of this type, the argument a buffer.
    ExpectedScalar(Scalar),
    /// A number of another type.
    Type {
        /// The parameter's.
        expected: Scalar,
        /// The argument's.
        found: Type,
    },
    /// A buffer of another element type.
    Element {
        /// The parameter's.
        expected: Type,
        /// The argument's.
        found: Type,
    },
    /// The kernel may write the buffer, but it was given to be read.
    ReadOnly,
    /// The buffer was given as aliased, but the parameter is not declared `may_alias`.
    NotAliased,
    /// The address is no multiple of the element's size.
    Misaligned {
        /// The device address.
        address: u64,
        /// What it must be a multiple of.
        align: u32,
    },
    /// The kernel takes the buffer's length as `u32`, which this length does not fit. `array_length_u64` takes any.
    TooLong {
        /// Elements of the buffer.
        len: u64,
    },
    /// The buffer belongs to another context.
    OtherContext,
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
            ArgumentFault::Element { expected, found } => {
                write!(
                    f,
                    "a buffer of {expected} is expected, one of {found} was given"
                )
            }
            ArgumentFault::ReadOnly => f.write_str("the kernel may write it: give `&mut`"),
            ArgumentFault::NotAliased => {
                f.write_str("the parameter is not declared to alias others")
            }
            ArgumentFault::Misaligned { address, align } => {
                write!(f, "address {address:#x} is no multiple of {align}")
            }
            ArgumentFault::TooLong { len } => {
                write!(
                    f,
                    "the kernel takes its length as u32, which {len} elements do not fit"
                )
            }
            ArgumentFault::OtherContext => f.write_str("the buffer belongs to another context"),
        }
    }
}

/// A limit of the device that a launch can pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum LaunchLimit {
    /// Blocks along x.
    GridX,
    /// Blocks along y.
    GridY,
    /// Blocks along z.
    GridZ,
    /// Threads of a block along x.
    BlockX,
    /// Threads of a block along y.
    BlockY,
    /// Threads of a block along z.
    BlockZ,
}

impl fmt::Display for LaunchLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LaunchLimit::GridX => "blocks along x",
            LaunchLimit::GridY => "blocks along y",
            LaunchLimit::GridZ => "blocks along z",
            LaunchLimit::BlockX => "threads of a block along x",
            LaunchLimit::BlockY => "threads of a block along y",
            LaunchLimit::BlockZ => "threads of a block along z",
        })
    }
}
