//! What the decoder makes of a kernel: steps with their types, registers and jumps resolved.

use super::error::Touch;
use super::lanes::{Pure, Slots};
use crate::op::Op;
use crate::types::Type;

/// Marks a jump that is not known yet.
pub(super) const NOWHERE: u32 = u32::MAX;

/// One instruction. Constants, parameters and built-ins have none: they are [`Fill`]s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub code: Code,
    pub slots: Slots,
    /// The instruction in the kernel.
    pub at: u32,
    pub op: Op,
    /// The type that the instruction makes.
    pub ty: Type,
}

/// Whether a value has 64 bits or 32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    W32,
    W64,
}

/// Place of a memory access: the region, and the register of the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub region: u32,
    pub index: u32,
    pub index_width: Width,
    pub offset: u32,
}

/// What an atomic makes of the element and the operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Modify {
    W32(fn(u32, u32) -> u32),
    W64(fn(u64, u64) -> u64),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Code {
    /// Whatever depends on its operands alone: carried out on all lanes, active or not.
    Pure(Pure),
    /// Copies register `a` to `d` in the active lanes: a variable made or set.
    Set(Width),
    /// A copy that checks its promise.
    AssumeUniform(Width),
    Load(Place, Width, Touch),
    /// Stores register `a`.
    Store(Place, Width, Touch),
    /// Modifies by register `a`.
    Modify(Place, Modify),
    /// Replaces the comparand in register `a` by register `b`.
    CompareExchange(Place, Width),
    Barrier,
    /// A fence, which orders nothing that is not in order here.
    Fence,
    /// Lanes where register `a` is false wait; without any others, on to the `else` or `end`.
    If {
        closer: u32,
    },
    Else {
        end: u32,
    },
    /// The end of an `if`; without any lanes left, on to the closer of the block around it.
    EndIf {
        outer: u32,
    },
    Loop,
    Continuing {
        end: u32,
    },
    EndLoop {
        body: u32,
        outer: u32,
    },
    /// With the number of frames above the loop's.
    Break {
        up: u32,
    },
    Continue {
        up: u32,
    },
    Return,
}

/// A register that no step writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    pub slot: u32,
    pub with: With,
}

/// What a register is filled with.
#[derive(Clone, Copy, Debug)]
pub(super) enum With {
    /// The same bits in every lane, once a launch.
    Bits(u64, Width),
    /// These change with workgroup and subgroup.
    GlobalId(usize),
    LocalId(usize),
    WorkgroupId(usize),
    LocalIndex,
    Lane,
    SubgroupId,
}

/// A decoded kernel; its memory is kept between launches.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub steps: Vec<Step>,
    /// Filled once a launch.
    pub constants: Vec<Fill>,
    /// Filled whenever a subgroup begins.
    pub built_ins: Vec<Fill>,
    /// Words of a subgroup's registers.
    pub words: usize,
}
