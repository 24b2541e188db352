//! How uniform control is, on the way through a body.

use crate::op::Op;

/// What stands for a level: the level itself, or where it will be known.
pub(in crate::verify) trait Joins<N> {
    /// The join of four, from the instruction with this number on.
    fn join(&mut self, at: u32, of: [N; 4]) -> N;

    /// Control where a loop begins, which is reached from before it.
    fn enter(&mut self, at: u32, before: N) -> N;

    /// The loop that began like this repeats for those whom these have left.
    fn repeat(&mut self, entry: N, left: [N; 2]);
}

/// What an open block keeps of control until it ends: whoever keeps the blocks keeps it with them.
#[derive(Clone, Copy, Debug)]
pub(in crate::verify) struct Frame<N> {
    /// Control where it began.
    entry: N,
    /// For a loop, who had left the one around it.
    around: Option<(N, N)>,
}

/// Control in the open blocks. Nobody has left where it is `uniform`.
#[derive(Clone, Debug, Default)]
pub(in crate::verify) struct Flow<N> {
    uniform: N,
    here: N,
    /// Who left the innermost loop.
    broken: N,
    /// Who left its body for this round.
    continued: N,
    /// Who ended.
    returned: N,
}

impl<N: Copy> Flow<N> {
    /// Begins a body; gives its frame.
    pub(in crate::verify) fn begin(&mut self, all: N) -> Frame<N> {
        *self = Flow {
            uniform: all,
            here: all,
            broken: all,
            continued: all,
            returned: all,
        };
        self.frame()
    }

    /// Control of the next instruction.
    #[inline(always)]
    pub(in crate::verify) fn here(&self) -> N {
        self.here
    }

    /// The frame of a block other than a loop's body that begins here.
    #[inline(always)]
    pub(in crate::verify) fn frame(&self) -> Frame<N> {
        Frame {
            entry: self.here,
            around: None,
        }
    }

    /// Goes past an `if` with this condition.
    #[inline(always)]
    #[must_use]
    pub(in crate::verify) fn open_if(
        &mut self,
        at: u32,
        condition: N,
        joins: &mut impl Joins<N>,
    ) -> Frame<N> {
        self.here = joins.join(at, [self.here, condition, self.uniform, self.uniform]);
        self.frame()
    }

    #[inline(always)]
    #[must_use]
    pub(in crate::verify) fn open_loop(&mut self, at: u32, joins: &mut impl Joins<N>) -> Frame<N> {
        self.here = joins.enter(at, self.here);
        let frame = Frame {
            entry: self.here,
            around: Some((self.broken, self.continued)),
        };
        self.broken = self.uniform;
        self.continued = self.uniform;
        frame
    }

    /// The other arm begins like the first, but for those who left in that.
    #[inline(always)]
    pub(in crate::verify) fn open_else(
        &mut self,
        at: u32,
        frame: Frame<N>,
        joins: &mut impl Joins<N>,
    ) {
        self.within(at, frame, joins);
    }

    #[inline(always)]
    pub(in crate::verify) fn open_continuing(
        &mut self,
        at: u32,
        frame: Frame<N>,
        joins: &mut impl Joins<N>,
    ) {
        self.continued = self.uniform;
        self.within(at, frame, joins);
    }

    /// Goes past the end of an `if` or a loop, which stands in a block of the second frame; says whether it is a loop's.
    #[inline(always)]
    pub(in crate::verify) fn end(
        &mut self,
        at: u32,
        frame: Frame<N>,
        outer: Frame<N>,
        joins: &mut impl Joins<N>,
    ) -> bool {
        if let Some((broken, continued)) = frame.around {
            joins.repeat(frame.entry, [self.broken, self.returned]);
            self.broken = broken;
            self.continued = continued;
        }
        self.within(at, outer, joins);
        frame.around.is_some()
    }

    /// Goes past a `break`, `continue` or `return`.
    #[inline(always)]
    pub(in crate::verify) fn leave(&mut self, op: Op, at: u32, joins: &mut impl Joins<N>) {
        let left = match op {
            Op::Break => &mut self.broken,
            Op::Continue => &mut self.continued,
            _ => &mut self.returned,
        };
        *left = joins.join(at, [*left, self.here, self.uniform, self.uniform]);
    }

    /// Control in a block is as where it began, but for those who left.
    #[inline(always)]
    fn within(&mut self, at: u32, frame: Frame<N>, joins: &mut impl Joins<N>) {
        let entry = frame.entry;
        self.here = joins.join(at, [entry, self.broken, self.continued, self.returned]);
    }
}
