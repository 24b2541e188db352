//! What can go wrong in a launch.

use crate::kernel::{Mem, ParamRef};
use crate::op::Op;
use crate::types::{Const, Type};
use core::fmt;

/// Why a launch was refused, or why it stopped.
///
/// After a [`Trap`] the buffers hold what was written until then. After any other error they are as they were.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// A subgroup size that is no power of two from 1 to 128.
    #[error("subgroup size {0}: it must be a power of two from 1 to 128")]
    SubgroupSize(u32),
    /// A grid of 2^32 - 1 workgroups and more.
    #[error("a grid of {} x {} x {} is more than 2^32 - 2 workgroups", .0[0], .0[1], .0[2])]
    Grid([u32; 3]),
    /// Too few arguments, or more than parameters and buffers that views refer to.
    #[error("{found} arguments for {expected} parameters (and {stored} buffers behind views)")]
    ArgCount {
        /// Parameters of the kernel.
        expected: usize,
        /// Buffers after the parameters that some view refers to.
        stored: usize,
        /// Arguments given.
        found: usize,
    },
    /// A buffer where the kernel takes a scalar, or the reverse.
    #[error("argument {index} is not of the kind of {param}")]
    ArgKind {
        /// The argument.
        index: usize,
        /// The parameter.
        param: ParamRef,
    },
    /// An argument of another type than the parameter.
    #[error("argument {index} is {found}, {param} is {expected}")]
    ArgType {
        /// The argument.
        index: usize,
        /// The parameter.
        param: ParamRef,
        /// The parameter's type.
        expected: Type,
        /// The argument's type.
        found: Type,
    },
    /// A view of something that is no buffer, that passes the buffer's end, or that is not aligned to its elements.
    #[error("argument {index} is no aligned view within buffer argument {of}")]
    View {
        /// The argument.
        index: usize,
        /// What it refers to.
        of: usize,
    },
    /// Two buffers overlap, one can be written, and not both are declared `may_alias`.
    #[error("buffers {first} and {second} overlap, one is writable, and not both may alias")]
    Overlap {
        /// The buffer that begins first.
        first: ParamRef,
        /// The other.
        second: ParamRef,
    },
    /// A dynamic length for a kernel without a dynamic shared array, or elements that pass 2^32 bytes.
    #[error("{0} elements of dynamic shared memory do not fit the kernel")]
    DynamicShared(u32),
    /// A buffer of 2^32 elements or more whose length the kernel takes as `u32`.
    #[error("at {at}: the length of {mem}, {len}, does not fit u32")]
    ArrayLength {
        /// The `array_length`.
        at: u32,
        /// The buffer.
        mem: Mem,
        /// Its length.
        len: u64,
    },
    /// A size above its limit.
    #[error("{what}: {needed} needed, the limit is {limit}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// What the launch needs; `u64::MAX` where that passes 64 bits.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// An opcode on a type that the executor does not carry out.
    #[error("at {at}: `{op}` on {ty} is not supported")]
    Unsupported {
        /// The instruction.
        at: u32,
        /// Its opcode.
        op: Op,
        /// The type.
        ty: Type,
    },
    /// The kernel did what it must not.
    #[error(transparent)]
    Trap(Box<Trap>),
}

impl ExecError {
    /// The trap, where it is one.
    pub fn trap(&self) -> Option<&Trap> {
        if let ExecError::Trap(trap) = self {
            Some(trap)
        } else {
            None
        }
    }
}

impl From<Box<Trap>> for ExecError {
    #[cold]
    fn from(trap: Box<Trap>) -> ExecError {
        ExecError::Trap(trap)
    }
}

/// What a kernel did that it must not, and where. Of several threads that did it at once, `thread` is the first.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("at {at} ({op}), {thread}: {kind}")]
pub struct Trap {
    /// The instruction.
    pub at: u32,
    /// Its opcode.
    pub op: Op,
    /// The thread.
    pub thread: Thread,
    /// What it did.
    pub kind: TrapKind,
}

/// What a thread did that it must not.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrapKind {
    /// An access outside of a buffer or array.
    #[error("element {index} + {offset} of {mem}, which has {len}")]
    OutOfBounds {
        /// The buffer or array.
        mem: Mem,
        /// The index.
        index: u64,
        /// The constant offset.
        offset: u32,
        /// The number of elements.
        len: u64,
    },
    /// A read of shared or private memory before any write.
    #[error("element {element} of {mem} is read before anything is written to it")]
    Uninitialized {
        /// The array.
        mem: Mem,
        /// The element.
        element: u64,
    },
    /// A race with another access.
    #[error("{touch} of element {element} of {mem} races with the {other_touch} at {other_at} by {}",
        Other(.other))]
    Race {
        /// The buffer or array.
        mem: Mem,
        /// The element.
        element: u64,
        /// How this thread accesses it.
        touch: Touch,
        /// The other thread, or `None` where there were several and this thread itself is the one that was noted.
        other: Option<Thread>,
        /// The other access's instruction.
        other_at: u32,
        /// How the other accessed it.
        other_touch: Touch,
    },
    /// A barrier that another thread of the workgroup does not reach.
    #[error("the barrier is not reached by {missing}, which {}", Elsewhere(.waits_at))]
    Barrier {
        /// A thread that does not reach it.
        missing: Thread,
        /// The other barrier at which that thread waits, or `None` where it has ended or went another way.
        waits_at: Option<u32>,
    },
    /// An `assume_uniform` whose operand is not.
    #[error("the value is {value:?} here and {other_value:?} in {other}")]
    NotUniform {
        /// The operand in this thread.
        value: Const,
        /// Another thread of the workgroup.
        other: Thread,
        /// The operand there.
        other_value: Const,
    },
    /// The launch executed as many instructions as it may.
    #[error("the launch passed its limit of {limit} steps")]
    StepLimit {
        /// The limit.
        limit: u64,
    },
}

struct Other<'a>(&'a Option<Thread>);

impl fmt::Display for Other<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(thread) => thread.fmt(f),
            None => f.write_str("another thread"),
        }
    }
}

struct Elsewhere<'a>(&'a Option<u32>);

impl fmt::Display for Elsewhere<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(at) => write!(f, "waits at {at}"),
            None => f.write_str("went another way"),
        }
    }
}

/// How a thread accesses memory, as far as races go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Touch {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic load.
    AtomicRead,
    /// Any other atomic; a compare-exchange that failed too.
    AtomicWrite,
}

impl fmt::Display for Touch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Touch::Read => "read",
            Touch::Write => "write",
            Touch::AtomicRead => "atomic read",
            Touch::AtomicWrite => "atomic write",
        })
    }
}

/// A thread of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    /// The workgroup's place in the grid.
    pub workgroup: [u32; 3],
    /// The thread's place in its workgroup.
    pub local: [u32; 3],
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y, z], [u, v, w]) = (self.local, self.workgroup);
        write!(f, "thread ({x}, {y}, {z}) of workgroup ({u}, {v}, {w})")
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn errors_stay_small() {
        assert!(size_of::<ExecError>() <= 48);
    }

    #[test]
    fn a_trap_names_its_place_and_threads() {
        let thread = |x| Thread {
            workgroup: [1, 0, 0],
            local: [x, 0, 0],
        };
        let trap = Trap {
            at: 7,
            op: Op::Load,
            thread: thread(3),
            kind: TrapKind::Race {
                mem: Mem::Shared(0),
                element: 5,
                touch: Touch::Read,
                other: Some(thread(2)),
                other_at: 4,
                other_touch: Touch::Write,
            },
        };
        assert_eq!(
            trap.to_string(),
            "at 7 (load), thread (3, 0, 0) of workgroup (1, 0, 0): read of element 5 of shared0 races with the write at 4 \
             by thread (2, 0, 0) of workgroup (1, 0, 0)"
        );
    }
}
