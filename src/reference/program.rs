//! What the decoder makes of a kernel: steps with their types, registers and jumps resolved.

use super::collective::{Among, Kind, Scan};
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

/// The bits of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    W8,
    W16,
    W32,
    W64,
    W128,
    W256,
}

impl Width {
    /// That of a type's values in registers; `None` for [`Type::NONE`].
    pub const fn of(ty: Type) -> Option<Width> {
        if ty.code() == Type::BOOL.code() {
            return Some(Width::W32);
        }
        match ty.bytes() {
            1 => Some(Width::W8),
            2 => Some(Width::W16),
            4 => Some(Width::W32),
            8 => Some(Width::W64),
            16 => Some(Width::W128),
            32 => Some(Width::W256),
            _ => None,
        }
    }

    /// Words of a lane in the register file.
    pub const fn words(self) -> u32 {
        match self {
            Width::W8 | Width::W16 | Width::W32 | Width::W64 => 1,
            Width::W128 => 2,
            Width::W256 => 4,
        }
    }
}

/// Runs an expression with `$t` the plain type of a width.
macro_rules! by_width {
    ($width:expr, $t:ident => $do:expr) => {
        match $width {
            Width::W8 => {
                type $t = u8;
                $do
            }
            Width::W16 => {
                type $t = u16;
                $do
            }
            Width::W32 => {
                type $t = u32;
                $do
            }
            Width::W64 => {
                type $t = u64;
                $do
            }
            Width::W128 => {
                type $t = [u64; 2];
                $do
            }
            Width::W256 => {
                type $t = [u64; 4];
                $do
            }
        }
    };
}
pub(super) use by_width;

/// Place of a memory access: the region, and the register of the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub region: u32,
    pub index: u32,
    /// Whether it is a `u64`, not a `u32`.
    pub index_is_wide: bool,
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
    /// A shuffle or vote of all lanes.
    Among(Among),
    /// A reduction or scan over all lanes.
    Scan(Scan, Kind),
    SubgroupBarrier,
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
