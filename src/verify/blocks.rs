//! The checks of control flow: what opens, divides, closes and leaves blocks.

use super::MAX_DEPTH;
use super::check::Checker;
use super::fault::FaultKind;
use super::made::Made;
use super::uniformity::{Frame, Joins, Level};
use crate::kernel::{Inst, Mem, Place};
use crate::op::Op;
use crate::types::Type;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockKind {
    Body,
    If,
    Else,
    Loop,
    Continuing,
}

/// An open block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    kind: BlockKind,
    /// Nothing may follow in it.
    ended: bool,
    /// For `Else`: the `if` part ended too. For loops: something breaks out of it.
    mark: bool,
    /// Whether it is a continuing part or in one.
    continuing: bool,
    /// Where it begins: the place of the instruction that opened it.
    start: u32,
    /// The innermost loop around it, as [`Checker::innermost`].
    around: u32,
    frame: Frame<Level>,
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
        self.blocks.clear();
        self.innermost = 0;
        let frame = self.flow.begin(Level::WORKGROUP);
        self.blocks.push(Block {
            kind: BlockKind::Body,
            ended: false,
            mark: false,
            continuing: false,
            start: 0,
            around: 0,
            frame,
        });
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
    pub(crate) fn open_if(&mut self, at: usize, condition: u32, canonical: bool) -> bool {
        let made = self.at(Place::of(condition));
        let sound = match (numbered(at), self.opening()) {
            (Err(refusal), _) => return self.refuse(at, Op::If, condition, refusal),
            (_, Err(refusal)) => Err(refusal),
            _ if !canonical => Err(Refusal::Canonical),
            _ => match made {
                Some(made) if made.code() == Type::BOOL.code() => Ok(made.level()),
                _ => Err(Refusal::Condition),
            },
        };
        // Opened all the same, so that its `end` is no second fault.
        let frame = match sound {
            Ok(level) => self.flow.open_if(ANY, level, &mut Known::default()),
            Err(_) => self.flow.frame(),
        };
        self.push(BlockKind::If, at, false, frame);
        match sound {
            Ok(_) => {
                self.relies(self.flow.here());
                true
            }
            Err(refusal) => self.refuse(at, Op::If, condition, refusal),
        }
    }

    #[inline(never)]
    fn open_loop(&mut self, at: usize, canonical: bool) -> bool {
        let sound = match (numbered(at), self.opening()) {
            (Err(refusal), _) => return self.refuse(at, Op::Loop, 0, refusal),
            (_, Err(refusal)) => Err(refusal),
            _ if self.in_continuing() => Err(Refusal::InContinuing),
            _ => bare(canonical),
        };
        if !self.repeats() {
            self.stale = false;
            self.relied = false;
        }
        let frame = match sound {
            Ok(()) => self.flow.open_loop(ANY, &mut Known::default()),
            Err(_) => self.flow.frame(),
        };
        // At most `MAX_DEPTH` blocks are open, and one for each instruction too many.
        let innermost = self.blocks.len() as u32;
        self.push(BlockKind::Loop, at, false, frame);
        self.innermost = innermost;
        match sound {
            Ok(()) => true,
            Err(refusal) => self.refuse(at, Op::Loop, 0, refusal),
        }
    }

    /// Whether a block can be opened here.
    #[inline(always)]
    fn opening(&self) -> Result<(), Refusal> {
        if self.ended() {
            Err(Refusal::Unreachable)
        } else if self.blocks.len() > MAX_DEPTH {
            Err(Refusal::TooDeep)
        } else {
            Ok(())
        }
    }

    #[inline(never)]
    fn open_else(&mut self, at: usize, canonical: bool) -> bool {
        match self.dividing(at, canonical, BlockKind::If) {
            Ok(top) => {
                self.pop(at);
                self.flow.open_else(ANY, top.frame, &mut Known::default());
                self.push(BlockKind::Else, at, top.ended, top.frame);
                true
            }
            Err(refusal) => self.refuse(at, Op::Else, 0, refusal),
        }
    }

    #[inline(never)]
    fn open_continuing(&mut self, at: usize, canonical: bool) -> bool {
        match self.dividing(at, canonical, BlockKind::Loop) {
            Ok(top) => {
                self.pop(at);
                self.flow
                    .open_continuing(ANY, top.frame, &mut Known::default());
                self.push(BlockKind::Continuing, at, top.mark, top.frame);
                true
            }
            Err(refusal) => self.refuse(at, Op::Continuing, 0, refusal),
        }
    }

    /// The innermost block, which is to be of this kind.
    #[inline(always)]
    fn dividing(&self, at: usize, canonical: bool, kind: BlockKind) -> Result<Block, Refusal> {
        numbered(at)?;
        bare(canonical)?;
        match self.blocks.last() {
            Some(&top) if top.kind == kind => Ok(top),
            _ => Err(Refusal::Mismatched),
        }
    }

    #[inline(never)]
    fn end_of_block(&mut self, at: usize, canonical: bool) -> bool {
        let (top, never_passed) = match self.ending(at, canonical) {
            Ok(ending) => ending,
            Err(refusal) => return self.refuse(at, Op::End, 0, refusal),
        };
        let outer = self.pop(at);
        if never_passed {
            self.end_block();
        }
        let mut known = Known::default();
        self.flow.end(ANY, top.frame, outer, &mut known);
        if known.rose {
            self.rose();
        }
        true
    }

    /// The innermost block, and whether nothing comes past its end.
    #[inline(always)]
    fn ending(&self, at: usize, canonical: bool) -> Result<(Block, bool), Refusal> {
        numbered(at)?;
        bare(canonical)?;
        let top = *self.blocks.last().ok_or(Refusal::Mismatched)?;
        match top.kind {
            BlockKind::If => Ok((top, false)),
            BlockKind::Else => Ok((top, top.ended && top.mark)),
            BlockKind::Continuing => Ok((top, !top.mark)),
            BlockKind::Body | BlockKind::Loop => Err(Refusal::Mismatched),
        }
    }

    #[inline(never)]
    fn leave(&mut self, at: usize, op: Op, canonical: bool) -> bool {
        if let Err(refusal) = self.leaving(at, op, canonical) {
            return self.refuse(at, op, 0, refusal);
        }
        self.relies(self.flow.here());
        self.flow.leave(op, ANY, &mut Known::default());
        self.end_block();
        true
    }

    #[inline(always)]
    fn leaving(&mut self, at: usize, op: Op, canonical: bool) -> Result<(), Refusal> {
        numbered(at)?;
        if self.ended() {
            return Err(Refusal::Unreachable);
        }
        bare(canonical)?;
        if self.in_continuing() {
            return Err(Refusal::InContinuing);
        }
        if let Op::Break | Op::Continue = op {
            let innermost = match self.innermost {
                0 => None,
                innermost => self.blocks.get_mut(innermost as usize),
            };
            innermost.ok_or(Refusal::OutsideLoop)?.mark |= op == Op::Break;
        }
        Ok(())
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
    pub(crate) fn open_refused(&mut self, at: usize) {
        let frame = self.flow.frame();
        self.push(BlockKind::If, at, false, frame);
    }

    /// Nothing may follow in the innermost open block.
    #[inline(always)]
    fn end_block(&mut self) {
        if let Some(block) = self.blocks.last_mut().filter(|block| !block.ended) {
            block.ended = true;
            core::mem::swap(&mut self.made, &mut self.away);
        }
    }

    /// Whether nothing may follow in the innermost open block.
    #[inline(always)]
    pub(super) fn ended(&self) -> bool {
        self.blocks.last().is_some_and(|block| block.ended)
    }

    #[inline(always)]
    fn push(&mut self, kind: BlockKind, at: usize, mark: bool, frame: Frame<Level>) {
        let continuing = kind == BlockKind::Continuing || self.in_continuing();
        if self.ended() {
            core::mem::swap(&mut self.made, &mut self.away);
        }
        self.blocks.push(Block {
            kind,
            ended: false,
            mark,
            continuing,
            // There are at most 2^28 instructions.
            start: at as u32,
            around: self.innermost,
            frame,
        });
    }

    /// Closes the innermost block, in which the instruction with this number is the last; gives the frame of the one
    /// around it.
    #[inline(always)]
    fn pop(&mut self, at: usize) -> Frame<Level> {
        let popped = self.blocks.pop();
        let Some((block, outer)) = popped.zip(self.blocks.last()) else {
            return self.flow.frame();
        };
        let frame = outer.frame;
        self.innermost = block.around;
        if block.ended {
            core::mem::swap(&mut self.made, &mut self.away);
        }
        // Where blocks nest deeper the kernel is refused, and the block above closes the values: time stays linear.
        let end = at.min(self.made.len());
        if self.blocks.len() <= MAX_DEPTH
            && let Some(inside) = self.made.get_mut(block.start as usize..end)
        {
            Made::close(inside);
        }
        if self.ended() {
            core::mem::swap(&mut self.made, &mut self.away);
        }
        frame
    }

    /// Whether the innermost open block is a continuing part, or in one.
    #[inline(always)]
    pub(super) fn in_continuing(&self) -> bool {
        self.blocks.last().is_some_and(|block| block.continuing)
    }

    /// Whether a loop is open.
    #[inline(always)]
    pub(super) fn repeats(&self) -> bool {
        self.innermost != 0 || self.in_continuing()
    }

    /// The number of open blocks beside the body.
    pub(crate) fn depth(&self) -> usize {
        self.blocks.len() - 1
    }

    /// Whether the innermost open block is a loop's body.
    pub(crate) fn in_loop_body(&self) -> bool {
        self.blocks
            .last()
            .is_some_and(|b| b.kind == BlockKind::Loop)
    }
}

/// Whether an instruction can have this number.
#[inline(always)]
fn numbered(at: usize) -> Result<(), Refusal> {
    if at < Mem::MAX as usize {
        Ok(())
    } else {
        Err(Refusal::TooMany)
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
