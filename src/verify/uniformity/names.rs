//! What a variable holds, from where on.

use crate::op::Op;

/// What a read or a set of a variable is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    /// What is known by this instruction.
    Same(u32),
    /// What is known by the instruction itself from here on, and begins as what was known by this one.
    New(u32),
}

/// Names what variables hold by instructions, so that a set counts for the reads further down and for those in the same
/// outermost loop, which the loop carries it to, and for no other.
///
/// A name lasts until a set outside of all loops, or until the variable is first met in an outermost loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// By instruction, for variables: the last name. Written where a variable is made.
    last: Vec<u32>,
    /// The first instruction of the outermost open loop.
    outermost: u32,
    /// Open loops.
    depth: u32,
}

impl Names {
    /// Begins a body of so many instructions.
    pub(super) fn begin(&mut self, len: usize) {
        let Names {
            last,
            outermost,
            depth,
        } = self;
        last.resize(len, 0);
        *outermost = 0;
        *depth = 0;
    }

    #[inline(always)]
    pub(super) fn open_loop(&mut self, at: u32) {
        if self.depth == 0 {
            self.outermost = at;
        }
        self.depth += 1;
    }

    #[inline(always)]
    pub(super) fn end_loop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    #[inline(always)]
    pub(super) fn make(&mut self, variable: u32) {
        if let Some(last) = self.last.get_mut(variable as usize) {
            *last = variable;
        }
    }

    /// The name that [`Op::VarGet`] or [`Op::VarSet`] at this place meets.
    #[inline(always)]
    pub(super) fn meet(&mut self, op: Op, variable: u32, at: u32) -> Name {
        let Some(last) = self.last.get_mut(variable as usize) else {
            return Name::Same(variable);
        };
        let new = match self.depth {
            0 => op == Op::VarSet,
            _ => *last < self.outermost,
        };
        if new {
            Name::New(core::mem::replace(last, at))
        } else {
            Name::Same(*last)
        }
    }
}
