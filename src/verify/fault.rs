//! What can be wrong with a kernel.

use super::MAX_NAME;
use crate::kernel::Mem;
use crate::op::Op;
use crate::types::{Access, Type};
use core::fmt;

/// One fault, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The instruction, or `None` for a fault of the declarations. While building it is the index that the instruction
    /// would have had.
    pub at: Option<u32>,
    /// The opcode at that place.
    pub op: Option<Op>,
    /// What is wrong.
    pub kind: FaultKind,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at, self.op) {
            (Some(at), Some(op)) => write!(f, "at {at} ({op}): {}", self.kind),
            (Some(at), None) => write!(f, "at {at}: {}", self.kind),
            (None, _) => write!(f, "in the declarations: {}", self.kind),
        }
    }
}

/// What is wrong at a place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    // --- declarations
    /// The kernel's name is empty, has a NUL or more than 4096 bytes; or a declaration's name has.
    #[error("{}", wrong_name(.0))]
    Name(String),
    /// A workgroup size of 0, or sizes whose product passes 2^32.
    #[error("workgroup size {0:?}: every size must be at least 1 and their product below 2^32")]
    WorkgroupSize([u32; 3]),
    /// A type that such a declaration cannot have.
    #[error("{what} cannot be of type {ty}")]
    DeclType {
        /// What was declared, by its id.
        what: String,
        /// The type.
        ty: Type,
    },
    /// A static or private array of no elements or more bytes than 2^32.
    #[error("{mem} has {len} elements: it must have at least 1 and fewer than 2^32 bytes")]
    ArrayLen {
        /// The array.
        mem: Mem,
        /// Its length.
        len: u32,
    },
    /// A table of no elements.
    #[error("{0} is empty; a table has at least 1 element")]
    EmptyTable(Mem),
    /// Constants that are not of the table's type.
    #[error("{0} has elements that are not of its type")]
    TableElement(Mem),
    /// A required subgroup size that is no power of two from 1 to 128.
    #[error("a subgroup size of {0} cannot be required: it must be a power of two up to 128")]
    SubgroupSize(u32),
    /// More than one dynamic shared array.
    #[error("{0} is a second dynamic shared array; a kernel has at most one")]
    SecondDynamic(Mem),
    /// Two buffers with one set and binding.
    #[error("set {set} binding {binding} is given to two buffers")]
    Binding {
        /// The set.
        set: u32,
        /// The binding.
        binding: u32,
    },
    /// Too many of something for the format.
    #[error("more than 2^28 {0}")]
    TooMany(&'static str),
    /// The stored form ([`crate::kernel::Kernel::to_bytes`]), whose length is 32 bits, would have this many bytes.
    #[error("the stored form takes {0} bytes, which passes 2^32 - 1")]
    StoredBytes(u64),

    // --- form
    /// A field that the opcode does not use is not zero, or a flag is set that it does not have.
    #[error("a field or flag that `{0}` does not use is not zero")]
    Canonical(Op),
    /// An axis other than x, y and z, which are 0, 1 and 2.
    #[error("the axis of `{op}` is {axis}; there are 0, 1 and 2, for x, y and z")]
    Axis {
        /// The opcode.
        op: Op,
        /// The axis that was given.
        axis: u8,
    },
    /// The side run does not begin where the one before ended, or lies outside of the table.
    #[error("side run at {found}, expected at {expected} within a table of {len}")]
    Side {
        /// Where it begins.
        found: u32,
        /// Where it had to.
        expected: u32,
        /// Words in the table.
        len: usize,
    },
    /// Words are left in the side table.
    #[error("{0} words of the side table belong to no instruction")]
    SideLeft(usize),

    // --- operands
    /// An id of another kernel, or of an earlier building.
    #[error("{0} belongs to another kernel")]
    Foreign(String),
    /// The operand names no earlier instruction that makes a value.
    #[error("v{0} is no value")]
    NoValue(u32),
    /// The operand's block is closed.
    #[error("v{0} is not visible here: its block is closed")]
    NotVisible(u32),
    /// The operand names no variable in scope.
    #[error("var{0} is no variable in scope")]
    NoVar(u32),
    /// The operand names nothing that was declared.
    #[error("{0} was not declared")]
    Undeclared(String),
    /// A value of the wrong type.
    #[error("v{value} is {found}, expected {expected}")]
    Type {
        /// The value.
        value: u32,
        /// Its type.
        found: Type,
        /// What the opcode needs there.
        expected: Type,
    },
    /// A value that is no index.
    #[error("v{value} is {found}; an index is u32 or u64")]
    IndexType {
        /// The value.
        value: u32,
        /// Its type.
        found: Type,
    },
    /// The opcode does not operate on that type.
    #[error("`{op}` does not operate on {ty}")]
    Operates {
        /// The opcode.
        op: Op,
        /// The type.
        ty: Type,
    },
    /// A lane past the end of a vector.
    #[error("lane {lane} of {ty}")]
    Lane {
        /// The lane.
        lane: u32,
        /// The vector.
        ty: Type,
    },
    /// A conversion that does not exist.
    #[error("no {op} from {from} to {to}")]
    Conversion {
        /// Convert or bitcast.
        op: Op,
        /// The operand's type.
        from: Type,
        /// The result's type.
        to: Type,
    },
    /// The instruction's type field is not what the opcode makes.
    #[error("the instruction is typed {found}, it makes {expected}")]
    Makes {
        /// The field.
        found: Type,
        /// What the opcode makes.
        expected: Type,
    },
    /// The memory's elements have another type.
    #[error("{mem} has elements of {elem}, not {found}")]
    Elem {
        /// The memory.
        mem: Mem,
        /// Its elements' type.
        elem: Type,
        /// The type of the access.
        found: Type,
    },
    /// Bits of a constant above its type.
    #[error("constant bits {bits:#x} do not fit {ty}")]
    ConstBits {
        /// The type.
        ty: Type,
        /// The bits.
        bits: u64,
    },

    // --- memory
    /// A store to a constant table.
    #[error("{0} is constant")]
    Constant(Mem),
    /// A load from a write-only buffer, a store to a read-only one, or an atomic that
    /// does what the buffer's access leaves out.
    #[error("{mem} is declared {access}")]
    Access {
        /// The buffer.
        mem: Mem,
        /// Its access.
        access: Access,
    },
    /// An index known while building lies outside of the array.
    #[error("element {index} of {mem}, which has {len}")]
    OutOfBounds {
        /// The array.
        mem: Mem,
        /// Index plus offset.
        index: u64,
        /// The number of elements.
        len: u32,
    },
    /// Volatile or coherent on shared or private memory.
    #[error("volatile and coherent are for buffers; {0} is none")]
    AccessFlags(Mem),
    /// An atomic on a private array.
    #[error("{0} has no atomics: it is private to a thread or constant")]
    PrivateAtomic(Mem),
    /// An order that a load or store cannot have, or a number that is none.
    #[error("memory order word {0:#x} is none that `{1}` has")]
    Ordering(u32, Op),

    // --- control flow
    /// Something after a terminator, or after an `if` or `loop` that never ends normally.
    #[error("nothing may follow here: this place is never reached")]
    Unreachable,
    /// An `else`, `continuing` or `end` that closes nothing of its kind.
    #[error("`{0}` does not fit the open block")]
    Mismatched(Op),
    /// A break or continue outside of loops.
    #[error("`{0}` outside of a loop")]
    OutsideLoop(Op),
    /// What a continuing part may not hold.
    #[error("`{0}` in the continuing part of a loop")]
    InContinuing(Op),
    /// Blocks left open at the end.
    #[error("{0} blocks are still open at the end")]
    Open(usize),
    /// More nested blocks than [`crate::verify::MAX_DEPTH`].
    #[error("blocks are nested deeper than {}", crate::verify::MAX_DEPTH)]
    TooDeep,
    /// [`crate::builder::KernelBuilder::for_range`] and its kin from a start that is no integer.
    #[error("a range of {0}: its start, end and step must be integers of one type")]
    RangeType(Type),
    /// [`crate::builder::KernelBuilder::apply`] with an opcode that it does not take, or another number of operands.
    #[error("`{op}` cannot be applied to {operands} values")]
    Apply {
        /// The opcode.
        op: Op,
        /// How many operands were given.
        operands: usize,
    },
    /// Used after `finish`.
    #[error("the builder is finished; `reset` begins another kernel")]
    Finished,

    // --- uniformity
    /// A workgroup barrier that not every thread of the workgroup may reach.
    #[error("not every thread of the workgroup reaches this barrier: {0}")]
    DivergentBarrier(Divergence),
    /// A subgroup operation that not every thread of the subgroup may reach.
    #[error("not every thread of the subgroup reaches this operation: {0}")]
    DivergentSubgroup(Divergence),
}

/// Why control flow is not uniform at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Divergence {
    /// It stands in a block entered by a condition that differs between threads.
    Condition {
        /// The `if`.
        at: u32,
        /// The condition.
        value: u32,
    },
    /// Some threads have returned before: the everyday `if gid >= n { return }`.
    Return {
        /// The first such `return`.
        at: u32,
    },
    /// Some threads have left the loop, or this run through it, before.
    LeftLoop {
        /// The first such `break` or `continue`.
        at: u32,
    },
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Divergence::Condition { at, value } => {
                write!(
                    f,
                    "the `if` at {at} is entered by v{value}, which differs between threads"
                )
            }
            Divergence::Return { at } => write!(
                f,
                "some threads have returned at {at}; guard the work with `if` and keep the barrier outside of it"
            ),
            Divergence::LeftLoop { at } => {
                write!(
                    f,
                    "some threads have left the loop or this run through it at {at}"
                )
            }
        }
    }
}

/// Why a kernel is not valid: every fault, in the order of the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    pub(crate) kernel: String,
    pub(crate) faults: Vec<Fault>,
}

impl VerifyError {
    /// The error of a builder that is asked for its kernel a second time.
    pub(crate) fn finished() -> VerifyError {
        let fault = Fault {
            at: None,
            op: None,
            kind: FaultKind::Finished,
        };
        VerifyError {
            kernel: String::new(),
            faults: vec![fault],
        }
    }

    /// The name of the kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// Every fault; at least one.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {} is not valid:", shown(&self.kernel))?;
        for fault in &self.faults {
            write!(f, "\n  {fault}")?;
        }
        Ok(())
    }
}

impl core::error::Error for VerifyError {}

/// What is wrong with a name.
fn wrong_name(name: &str) -> String {
    if name.is_empty() {
        "a name is empty".into()
    } else if name.len() > MAX_NAME {
        let (bytes, begin) = (name.len(), shown(name));
        format!("the name {begin} has {bytes} bytes, which passes {MAX_NAME}")
    } else {
        format!("the name {name:?} has a NUL")
    }
}

/// A name in quotes, or the beginning of one that is too long to be a name.
fn shown(name: &str) -> String {
    match name.char_indices().nth(32) {
        Some((end, _)) if name.len() > MAX_NAME => {
            format!("{:?}…", name.get(..end).unwrap_or_default())
        }
        _ => format!("{name:?}"),
    }
}
