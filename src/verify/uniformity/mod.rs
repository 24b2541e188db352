//! Uniformity: which values, variables and stretches of control flow are the same in every thread of a workgroup or a
//! subgroup.
//!
//! Asked for only in kernels with a workgroup barrier or a subgroup operation. Every level is the least that its rule
//! allows, and each rule is a join of others: a value's of those of its operands, a variable's of what is put into it and
//! of the control under which it is, control's of the conditions above and of who has left.
//!
//! Three steps, of which most kernels take the first alone:
//!
//! 1. While a kernel is built, the verifier keeps a level beside the type of each value ([`Flow`] and the short ways). That
//!    is what the rules say, or above, where no loop carries a level against program order. Where one does after something
//!    followed from a lower one, or where an operation is not reached by all, the kernel is in doubt.
//! 2. A kernel in doubt that has such an operation is decided by [`graph`], which leads back what the operations need.
//! 3. What is refused, [`explain`] finds the reasons for.

mod explain;
mod flow;
mod graph;
mod names;
#[cfg(test)]
mod tests;

pub use explain::MAX_PASSES;
pub(super) use flow::{Flow, Frame, Joins};

use super::fault::Fault;
use crate::kernel::{Draft, Inst, Mem};
use crate::op::{Effect, Op, Uniformity};
use crate::types::Access;

/// How uniform something is. The bits are such that the least uniform of several has the bits of all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Level(u8);

impl Level {
    pub(super) const WORKGROUP: Level = Level(0);
    pub(super) const SUBGROUP: Level = Level(1);
    pub(super) const DIVERGENT: Level = Level(3);

    /// Of what depends on nothing.
    #[inline(always)]
    pub(super) const fn of(uniformity: Uniformity) -> Level {
        match uniformity {
            Uniformity::Workgroup | Uniformity::Operands => Level::WORKGROUP,
            Uniformity::Subgroup => Level::SUBGROUP,
            Uniformity::Load | Uniformity::Divergent => Level::DIVERGENT,
        }
    }

    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    /// Of the lowest two bits.
    #[inline(always)]
    pub(super) const fn of_bits(bits: u8) -> Level {
        Level(bits & 3)
    }

    #[inline(always)]
    #[must_use]
    pub(super) const fn join(self, other: Level) -> Level {
        Level(self.0 | other.0)
    }

    /// Whether it is less uniform.
    #[inline(always)]
    pub(super) const fn exceeds(self, other: Level) -> bool {
        self.0 & !other.0 != 0
    }
}

/// The least level of what an instruction makes, and bits for the operand words that are joined to it.
fn rule(draft: &Draft, inst: &Inst) -> (Level, u8) {
    const FIRST: u8 = 1;
    const SECOND: u8 = 1 << 1;
    let quick = inst.op.quick();
    if quick.effect == Effect::Collective {
        return match inst.op {
            Op::Ballot | Op::Any | Op::All => (Level::SUBGROUP, 0),
            // Where the lane is the same for all, so is its value.
            Op::Broadcast => (Level::SUBGROUP, SECOND),
            Op::SubgroupAdd
            | Op::SubgroupMin
            | Op::SubgroupMax
            | Op::SubgroupAnd
            | Op::SubgroupOr
            | Op::SubgroupXor
                if inst.flags & (Inst::INCLUSIVE | Inst::EXCLUSIVE) == 0 =>
            {
                (Level::SUBGROUP, 0)
            }
            _ => (Level::DIVERGENT, 0),
        };
    }
    match quick.uniformity {
        Uniformity::Operands => (Level::WORKGROUP, quick.values),
        Uniformity::Load if loads_the_same(draft, inst) => (Level::WORKGROUP, SECOND),
        Uniformity::Divergent if inst.op == Op::Var => (Level::WORKGROUP, FIRST),
        other => (Level::of(other), 0),
    }
}

/// Memory that nobody writes during the launch gives every thread the same at the same index.
fn loads_the_same(draft: &Draft, inst: &Inst) -> bool {
    let constant = match Mem::from_word(inst.a) {
        Some(Mem::Buffer(n)) => {
            let decl = draft.buffers.get(n as usize);
            decl.is_some_and(|d| keeps(d.access, d.may_alias))
        }
        Some(Mem::Table(_)) => true,
        Some(Mem::Shared(_) | Mem::Private(_)) | None => false,
    };
    constant && inst.flags == 0
}

/// Whether nobody writes a buffer that is declared so.
#[inline(always)]
pub(super) fn keeps(access: Access, may_alias: bool) -> bool {
    access == Access::Read && !may_alias
}

/// The operand word with this number, of an instruction that the verifier has seen.
#[inline(always)]
fn word(inst: &Inst, side: &[u32], number: u32) -> u32 {
    match number {
        0 => inst.a,
        1 => inst.b,
        2 if !inst.has_side() => inst.c,
        _ => {
            let place = inst.c as usize + number as usize - 2;
            side.get(place).copied().unwrap_or(0)
        }
    }
}

/// The level of what an instruction makes, by those of the words that are joined to it.
#[inline(always)]
pub(super) fn level_made(
    draft: &Draft,
    inst: &Inst,
    side: &[u32],
    level_of: impl Fn(u32) -> Level,
) -> Level {
    let (mut level, mut words) = rule(draft, inst);
    while words != 0 {
        let number = words.trailing_zeros();
        words &= words - 1;
        level = level.join(level_of(word(inst, side, number)));
    }
    level
}

/// Decides kernels in doubt; its memory is kept between kernels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Analysis {
    graph: graph::Graph,
    explain: explain::Explain,
}

impl Analysis {
    /// Looks at a body that is otherwise valid and adds what it finds to `faults`.
    pub(crate) fn run(&mut self, draft: &Draft, faults: &mut Vec<Fault>) {
        if self.graph.refuses(draft) {
            let settled = |at| self.graph.level(draft, at);
            self.explain.run(draft, settled, faults);
        }
    }
}
