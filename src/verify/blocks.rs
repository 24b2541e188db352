//! The checks of control flow: what opens, divides, closes and leaves blocks.

use super::MAX_DEPTH;
use super::check::Checker;
use super::fault::FaultKind;
use super::made::Made;
use super::uniformity::{Flow, Frame, Joins, Level};
use crate::kernel::{Inst, Mem, Place};
use crate::op::Op;
use crate::types::Type;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum BlockKind {
    Body,
    Loop,
    If,
    Else,
    Continuing,
}

/// An open block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    kind: BlockKind,
    /// Nothing may follow in it.
    pub(super) ended: bool,
    /// For `Else`: the `if` part ended too. For `Continuing`: nothing breaks out of the loop.
    mark: bool,
    /// Which loops are open, bits of [`Block::IN_LOOP`] and [`Block::IN_CONTINUING`].
    inside: u8,
    /// For a loop's body, whether something breaks out of the loop around it.
    breaks_around: bool,
    frame: Frame<Level>,
    /// Where it begins: the place of the instruction that opened it.
    start: u32,
}

impl Block {
    /// It is a loop's body or in one.
    const IN_LOOP: u8 = 1;
    /// It is a continuing part or in one.
    const IN_CONTINUING: u8 = 2;

    /// Whether it is a continuing part or in one.
    #[inline(always)]
    pub(super) const fn in_continuing(&self) -> bool {
        self.inside & Block::IN_CONTINUING != 0
    }
}

impl Default for Block {
    fn default() -> Block {
        Block {
            kind: BlockKind::Body,
            ended: false,
            mark: false,
            inside: 0,
            breaks_around: false,
            frame: Flow::default().frame(),
            start: 0,
        }
    }
}

/// Why an instruction cannot stand where it does: what the checks of control flow need of a [`FaultKind`], in a byte.
#[derive(Clone, Copy)]
enum Refusal {
    TooMany,
    Unreachable,
    TooDeep,
    Canonical,
    InContinuing,
    Mismatched,
    OutsideLoop,
    Condition,
}

/// Joins of levels, which are known at once wherever they are joined.
#[derive(Default)]
struct Known {
    /// A loop repeats for fewer than began it, as far as was known there.
    rose: bool,
}

/// The place of joins that need none.
const ANY: u32 = 0;

impl Joins<Level> for Known {
    #[inline(always)]
    fn join(&mut self, _: u32, of: [Level; 4]) -> Level {
        of.into_iter().fold(Level::WORKGROUP, Level::join)
    }

    #[inline(always)]
    fn enter(&mut self, _: u32, before: Level) -> Level {
        before
    }

    #[inline(always)]
    fn repeat(&mut self, entry: Level, left: [Level; 2]) {
        let [broken, returned] = left;
        self.rose = broken.join(returned).exceeds(entry);
    }
}

impl Checker {
    /// Opens the body.
    pub(super) fn open_body(&mut self) {
        let frame = self.flow.begin(Level::WORKGROUP);
        self.around.clear();
        self.breaks = false;
        self.top = Block {
            frame,
            ..Block::default()
        };
    }

    /// All the checks of an instruction that opens, divides, closes or leaves a block.
    #[inline(always)]
    pub(super) fn control_flow(&mut self, at: usize, inst: &Inst) -> bool {
        let a = if inst.op == Op::If { inst.a } else { 0 };
        let bare = Inst {
            a,
            ..Inst::new(inst.op, Type::NONE)
        };
        self.control(at, inst.op, inst.a, *inst == bare)
    }

    /// As [`Checker::control_flow`], for an instruction of canonical form or not.
    #[inline(always)]
    pub(crate) fn control(&mut self, at: usize, op: Op, condition: u32, canonical: bool) -> bool {
        if at >= Mem::MAX as usize {
            return self.refuse(at, op, condition, Refusal::TooMany);
        }
        match op {
            Op::If => self.open_if(at, condition, canonical),
            Op::Else => self.open_else(at, canonical),
            Op::Loop => self.open_loop(at, canonical),
            Op::Continuing => self.open_continuing(at, canonical),
            Op::End => self.end_of_block(at, canonical),
            _ => self.leave(at, op, canonical),
        }
    }

    #[inline(never)]
    fn open_if(&mut self, at: usize, condition: u32, canonical: bool) -> bool {
        let sound = self.opening().and_then(|()| {
            bare(canonical)?;
            match self.at(Place::of(condition)) {
                Some(made) if made.code() == Type::BOOL.code() => Ok(made.level()),
                _ => Err(Refusal::Condition),
            }
        });
        let level = match sound {
            Ok(level) => level,
            Err(refusal) => {
                // Opened all the same, so that its `end` is no second fault.
                self.open_refused(BlockKind::If, at);
                return self.refuse(at, Op::If, condition, refusal);
            }
        };
        let frame = self.flow.open_if(ANY, level, &mut Known::default());
        self.push(BlockKind::If, at, frame);
        self.relies(self.flow.here());
        true
    }

    #[inline(never)]
    fn open_loop(&mut self, at: usize, canonical: bool) -> bool {
        let sound = self
            .opening()
            .and_then(|()| match self.top.in_continuing() {
                false => bare(canonical),
                true => Err(Refusal::InContinuing),
            });
        if !self.repeats() {
            self.stale = false;
            self.relied = false;
        }
        if let Err(refusal) = sound {
            self.open_refused(BlockKind::Loop, at);
            return self.refuse(at, Op::Loop, 0, refusal);
        }
        let frame = self.flow.open_loop(ANY, &mut Known::default());
        self.push(BlockKind::Loop, at, frame);
        true
    }

    /// Whether a block can be opened here.
    #[inline(always)]
    fn opening(&self) -> Result<(), Refusal> {
        if self.top.ended {
            Err(Refusal::Unreachable)
        } else if self.around.len() >= MAX_DEPTH {
            Err(Refusal::TooDeep)
        } else {
            Ok(())
        }
    }

    #[inline(never)]
    fn open_else(&mut self, at: usize, canonical: bool) -> bool {
        if let Err(refusal) = self.dividing(canonical, BlockKind::If) {
            return self.refuse(at, Op::Else, 0, refusal);
        }
        let Block { frame, ended, .. } = self.divide(BlockKind::Else, at);
        self.top.mark = ended;
        self.flow.open_else(ANY, frame, &mut Known::default());
        true
    }

    #[inline(never)]
    fn open_continuing(&mut self, at: usize, canonical: bool) -> bool {
        if let Err(refusal) = self.dividing(canonical, BlockKind::Loop) {
            return self.refuse(at, Op::Continuing, 0, refusal);
        }
        let Block {
            frame,
            breaks_around,
            ..
        } = self.divide(BlockKind::Continuing, at);
        self.top.mark = !core::mem::replace(&mut self.breaks, breaks_around);
        let outer = self.around.last().map_or(0, |outer| outer.inside);
        self.top.inside = outer | Block::IN_CONTINUING;
        self.flow.open_continuing(ANY, frame, &mut Known::default());
        true
    }

    /// Whether the innermost block is of this kind.
    #[inline(always)]
    fn dividing(&self, canonical: bool, kind: BlockKind) -> Result<(), Refusal> {
        bare(canonical)?;
        if self.top.kind == kind {
            Ok(())
        } else {
            Err(Refusal::Mismatched)
        }
    }

    /// Closes the innermost block, which it gives, and opens one of this kind in its place.
    #[inline(always)]
    fn divide(&mut self, kind: BlockKind, at: usize) -> Block {
        let top = self.top;
        self.close(at);
        self.top = Block {
            kind,
            ended: false,
            // There are at most 2^28 instructions.
            start: at as u32,
            ..top
        };
        top
    }

    #[inline(never)]
    fn end_of_block(&mut self, at: usize, canonical: bool) -> bool {
        let never_passed = match self.ending(canonical) {
            Ok(never_passed) => never_passed,
            Err(refusal) => return self.refuse(at, Op::End, 0, refusal),
        };
        let frame = self.top.frame;
        self.close(at);
        if let Some(outer) = self.around.pop() {
            self.top = outer;
        }
        self.top.ended |= never_passed;
        if self.top.ended {
            self.put_away();
        }
        let mut known = Known::default();
        self.flow.end(ANY, frame, self.top.frame, &mut known);
        if known.rose {
            self.rose();
        }
        true
    }

    /// Whether nothing comes past the end of the innermost block.
    #[inline(always)]
    fn ending(&self, canonical: bool) -> Result<bool, Refusal> {
        bare(canonical)?;
        let top = &self.top;
        if top.kind < BlockKind::If {
            return Err(Refusal::Mismatched);
        }
        Ok(top.mark && (top.ended || top.kind == BlockKind::Continuing))
    }

    #[inline(never)]
    fn leave(&mut self, at: usize, op: Op, canonical: bool) -> bool {
        if let Err(refusal) = self.leaving(op, canonical) {
            return self.refuse(at, op, 0, refusal);
        }
        self.breaks |= op == Op::Break;
        self.relies(self.flow.here());
        self.flow.leave(op, ANY, &mut Known::default());
        self.top.ended = true;
        self.put_away();
        true
    }

    #[inline(always)]
    fn leaving(&self, op: Op, canonical: bool) -> Result<(), Refusal> {
        if self.top.ended {
            return Err(Refusal::Unreachable);
        }
        bare(canonical)?;
        if self.top.in_continuing() {
            Err(Refusal::InContinuing)
        } else if matches!(op, Op::Break | Op::Continue) && self.top.inside & Block::IN_LOOP == 0 {
            Err(Refusal::OutsideLoop)
        } else {
            Ok(())
        }
    }

    /// Notes why an instruction cannot stand where it does.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, at: usize, op: Op, condition: u32, refusal: Refusal) -> bool {
        let kind = match refusal {
            Refusal::TooMany => FaultKind::TooMany("instructions"),
            Refusal::Unreachable => FaultKind::Unreachable,
            Refusal::TooDeep => FaultKind::TooDeep,
            Refusal::Canonical => FaultKind::Canonical(op),
            Refusal::InContinuing => FaultKind::InContinuing(op),
            Refusal::Mismatched => FaultKind::Mismatched(op),
            Refusal::OutsideLoop => FaultKind::OutsideLoop(op),
            Refusal::Condition => match self.typed(condition, Type::BOOL) {
                Err(kind) => kind,
                Ok(()) => FaultKind::NoValue(condition),
            },
        };
        self.fault(at, op, kind);
        false
    }

    /// Opens the block of an `if` that was refused for another reason already told.
    pub(crate) fn open_refused_if(&mut self, at: usize) {
        self.open_refused(BlockKind::If, at);
    }

    #[cold]
    #[inline(never)]
    fn open_refused(&mut self, kind: BlockKind, at: usize) {
        let frame = self.flow.frame();
        self.push(kind, at, frame);
    }

    #[inline(always)]
    fn push(&mut self, kind: BlockKind, at: usize, frame: Frame<Level>) {
        let outer = self.top;
        if outer.ended {
            self.put_away();
        }
        let (mut inside, breaks_around) = (outer.inside, self.breaks);
        if kind == BlockKind::Loop {
            self.breaks = false;
            inside |= Block::IN_LOOP;
        }
        self.around.push(outer);
        self.top = Block {
            kind,
            ended: false,
            mark: false,
            inside,
            breaks_around,
            frame,
            // There are at most 2^28 instructions.
            start: at as u32,
        };
    }

    /// Closes the values of the innermost block, in which the instruction before this number is the last. What was made is
    /// in its place then.
    #[inline(always)]
    fn close(&mut self, at: usize) {
        if self.top.ended {
            self.put_away();
        }
        // Where blocks nest deeper the kernel is refused, and the block above closes the values: time stays linear.
        let end = at.min(self.made.len());
        if self.around.len() <= MAX_DEPTH
            && let Some(inside) = self.made.get_mut(self.top.start as usize..end)
        {
            Made::close(inside);
        }
    }

    /// Puts what was made away, or back.
    #[inline(always)]
    fn put_away(&mut self) {
        core::mem::swap(&mut self.made, &mut self.away);
    }

    /// Whether a loop is open.
    #[inline(always)]
    pub(super) fn repeats(&self) -> bool {
        self.top.inside != 0
    }

    /// The number of open blocks beside the body.
    pub(crate) fn depth(&self) -> usize {
        self.around.len()
    }

    /// Whether the innermost open block is a loop's body.
    #[inline(always)]
    pub(crate) fn in_loop_body(&self) -> bool {
        self.top.kind == BlockKind::Loop
    }
}

#[inline(always)]
fn bare(canonical: bool) -> Result<(), Refusal> {
    if canonical {
        Ok(())
    } else {
        Err(Refusal::Canonical)
    }
}
