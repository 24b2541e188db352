//! How uniform values and control flow are: as the verifier sees it or less, never more.

use super::Generator;
use kernite::builder::KernelBuilder;
use kernite::kernel::Value;

/// How uniform something is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    /// The same in every thread of the workgroup.
    Workgroup,
    /// The same in every thread of a subgroup.
    Subgroup,
    /// Different from thread to thread.
    Divergent,
}

/// An open block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// How uniform control is where it begins, and stays in it but for returns.
    pub(super) level: Level,
    pub(super) is_loop: bool,
}

impl Generator<'_, '_> {
    pub(super) fn level_of(&self, value: Value) -> Level {
        let known = self.levels.get(&value.index());
        known.copied().unwrap_or(Level::Divergent)
    }

    /// Marks what the builder makes as uniform as the least uniform operand.
    pub(super) fn with_level_of(
        &mut self,
        operands: &[Value],
        make: impl FnOnce(&mut KernelBuilder) -> Value,
    ) -> Value {
        let levels = operands.iter().map(|&v| self.level_of(v));
        let level = levels.max().unwrap_or(Level::Workgroup);
        let made = make(&mut self.b);
        self.levels.insert(made.index(), level);
        made
    }

    /// How uniform control is here.
    pub(super) fn control(&self) -> Level {
        let frame = self.frames.last().map_or(Level::Workgroup, |f| f.level);
        frame.max(self.left)
    }

    /// How uniform a return may be: in a loop it must not touch what comes before it in the next round.
    pub(super) fn may_return(&self) -> Level {
        let outermost = self.frames.iter().find(|f| f.is_loop);
        outermost.map_or(Level::Divergent, |f| f.level)
    }

    /// Runs `body` in a block of its own.
    pub(super) fn scoped(&mut self, frame: Frame, body: impl FnOnce(&mut Self)) {
        let (vars, arrays) = (self.vars.len(), self.arrays.len());
        self.scopes.push(Vec::new());
        self.frames.push(frame);
        body(self);
        self.frames.pop();
        self.scopes.pop();
        self.vars.truncate(vars);
        self.arrays.truncate(arrays);
    }
}
