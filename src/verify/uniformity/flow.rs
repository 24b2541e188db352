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

/// An open block.
#[derive(Clone, Copy, Debug)]
struct Frame<N> {
    /// Control where it began.
    entry: N,
    /// For a loop, who had left the one around it.
    around: Option<(N, N)>,
}

/// Control in the open blocks. Nobody has left where it is `uniform`.
#[derive(Clone, Debug, Default)]
pub(in crate::verify) struct Flow<N> {
    frames: Vec<Frame<N>>,
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
    /// Begins a body.
    pub(in crate::verify) fn begin(&mut self, all: N) {
        let Flow {
            frames,
            uniform,
            here,
            broken,
            continued,
            returned,
        } = self;
        frames.clear();
        *uniform = all;
        *here = all;
        *broken = all;
        *continued = all;
        *returned = all;
    }

    /// Control of the next instruction.
    #[inline(always)]
    pub(in crate::verify) fn here(&self) -> N {
        self.here
    }

    /// Goes past an `if` with this condition.
    #[inline(always)]
    pub(in crate::verify) fn open_if(&mut self, at: u32, condition: N, joins: &mut impl Joins<N>) {
        self.here = joins.join(at, [self.here, condition, self.uniform, self.uniform]);
        self.frames.push(Frame {
            entry: self.here,
            around: None,
        });
    }

    #[inline(always)]
    pub(in crate::verify) fn open_loop(&mut self, at: u32, joins: &mut impl Joins<N>) {
        self.here = joins.enter(at, self.here);
        self.frames.push(Frame {
            entry: self.here,
            around: Some((self.broken, self.continued)),
        });
        self.broken = self.uniform;
        self.continued = self.uniform;
    }

    /// The other arm begins like the first, but for those who left in that.
    #[inline(always)]
    pub(in crate::verify) fn open_else(&mut self, at: u32, joins: &mut impl Joins<N>) {
        self.within(at, joins);
    }

    #[inline(always)]
    pub(in crate::verify) fn open_continuing(&mut self, at: u32, joins: &mut impl Joins<N>) {
        self.continued = self.uniform;
        self.within(at, joins);
    }

    /// Goes past the end of an `if` or a loop; says whether it is a loop's.
    #[inline(always)]
    pub(in crate::verify) fn end(&mut self, at: u32, joins: &mut impl Joins<N>) -> bool {
        let frame = self.frames.pop();
        let ended = frame.and_then(|frame| Some((frame.entry, frame.around?)));
        if let Some((entry, (broken, continued))) = ended {
            joins.repeat(entry, [self.broken, self.returned]);
            self.broken = broken;
            self.continued = continued;
        }
        self.within(at, joins);
        ended.is_some()
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

    /// Control in the innermost block is as where it began, but for those who left.
    #[inline(always)]
    fn within(&mut self, at: u32, joins: &mut impl Joins<N>) {
        let entry = self.frames.last().map_or(self.uniform, |f| f.entry);
        self.here = joins.join(at, [entry, self.broken, self.continued, self.returned]);
    }
}
