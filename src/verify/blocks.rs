//! The checks of control flow: what opens, divides, closes and leaves blocks.

use super::MAX_DEPTH;
use super::check::Checker;
use super::fault::FaultKind;
use super::made::Made;
use super::uniformity::{Joins, Level};
use crate::kernel::{Inst, Mem};
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

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    /// Where it begins: the place of the instruction that opened it.
    pub(super) start: usize,
    /// Nothing may follow in it.
    pub(super) ended: bool,
    /// For `Else`: the `if` part ended too. For loops: something breaks out of it.
    pub(super) mark: bool,
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
    /// All the checks of an instruction that opens, divides, closes or leaves a block.
    #[inline(always)]
    pub(super) fn control_flow(&mut self, inst: &Inst) -> bool {
        if self.made.len() >= Mem::MAX as usize {
            return self.note_block(inst, Err(FaultKind::TooMany("instructions")));
        }
        match inst.op {
            Op::If => self.open_if(inst),
            Op::Else => self.open_else(inst),
            Op::Loop => self.open_loop(inst),
            Op::Continuing => self.open_continuing(inst),
            Op::End => self.end_of_block(inst),
            _ => self.leave(inst),
        }
    }

    #[inline(never)]
    fn open_if(&mut self, inst: &Inst) -> bool {
        let sound = self.opening().and_then(|()| {
            let bare = Inst::new(Op::If, Type::NONE);
            if (Inst { a: 0, ..*inst }) != bare {
                return Err(FaultKind::Canonical(Op::If));
            }
            self.typed(inst.a, Type::BOOL)
        });
        // Opened all the same, so that its `end` is no second fault.
        self.push(BlockKind::If, false);
        if sound.is_ok() {
            let condition = self.level(inst.a);
            self.flow.open_if(ANY, condition, &mut Known::default());
            self.relies(self.flow.here());
        }
        self.note_block(inst, sound)
    }

    #[inline(never)]
    fn open_loop(&mut self, inst: &Inst) -> bool {
        let sound = self.opening().and_then(|()| match self.continuing {
            0 => bare(inst),
            _ => Err(FaultKind::InContinuing(Op::Loop)),
        });
        if !self.repeats() {
            self.stale = false;
            self.relied = false;
        }
        self.push(BlockKind::Loop, false);
        if sound.is_ok() {
            self.flow.open_loop(ANY, &mut Known::default());
        }
        self.note_block(inst, sound)
    }

    /// Whether a block can be opened here.
    #[inline(always)]
    fn opening(&self) -> Result<(), FaultKind> {
        match self.blocks.last() {
            Some(top) if !top.ended && self.blocks.len() <= MAX_DEPTH => Ok(()),
            Some(top) if top.ended => Err(FaultKind::Unreachable),
            _ => Err(FaultKind::TooDeep),
        }
    }

    #[inline(never)]
    fn open_else(&mut self, inst: &Inst) -> bool {
        let sound = self.dividing(inst, BlockKind::If).map(|top| {
            self.pop();
            self.push(BlockKind::Else, top.ended);
            self.flow.open_else(ANY, &mut Known::default());
        });
        self.note_block(inst, sound)
    }

    #[inline(never)]
    fn open_continuing(&mut self, inst: &Inst) -> bool {
        let sound = self.dividing(inst, BlockKind::Loop).map(|top| {
            self.pop();
            self.push(BlockKind::Continuing, top.mark);
            self.flow.open_continuing(ANY, &mut Known::default());
        });
        self.note_block(inst, sound)
    }

    /// The innermost block, which is to be of this kind.
    #[inline(always)]
    fn dividing(&self, inst: &Inst, kind: BlockKind) -> Result<Block, FaultKind> {
        bare(inst)?;
        match self.blocks.last() {
            Some(&top) if top.kind == kind => Ok(top),
            _ => Err(FaultKind::Mismatched(inst.op)),
        }
    }

    #[inline(never)]
    fn end_of_block(&mut self, inst: &Inst) -> bool {
        let sound = self.ending(inst).map(|never_passed| {
            self.pop();
            if never_passed {
                self.end_block();
            }
            let mut known = Known::default();
            self.flow.end(ANY, &mut known);
            if known.rose {
                self.rose();
            }
        });
        self.note_block(inst, sound)
    }

    /// Whether nothing comes past the end of the innermost block.
    #[inline(always)]
    fn ending(&self, inst: &Inst) -> Result<bool, FaultKind> {
        bare(inst)?;
        let mismatched = Err(FaultKind::Mismatched(inst.op));
        let Some(top) = self.blocks.last() else {
            return mismatched;
        };
        match top.kind {
            BlockKind::If => Ok(false),
            BlockKind::Else => Ok(top.ended && top.mark),
            BlockKind::Continuing => Ok(!top.mark),
            BlockKind::Body | BlockKind::Loop => mismatched,
        }
    }

    #[inline(never)]
    fn leave(&mut self, inst: &Inst) -> bool {
        let sound = self.leaving(inst).map(|()| {
            self.relies(self.flow.here());
            self.flow.leave(inst.op, ANY, &mut Known::default());
            self.end_block();
        });
        self.note_block(inst, sound)
    }

    #[inline(always)]
    fn leaving(&mut self, inst: &Inst) -> Result<(), FaultKind> {
        let op = inst.op;
        if self.room == 0 {
            return Err(FaultKind::Unreachable);
        }
        bare(inst)?;
        if self.continuing > 0 {
            return Err(FaultKind::InContinuing(op));
        }
        if let Op::Break | Op::Continue = op {
            let innermost = self.loops.last();
            let Some(innermost) = innermost.and_then(|&at| self.blocks.get_mut(at as usize)) else {
                return Err(FaultKind::OutsideLoop(op));
            };
            innermost.mark |= op == Op::Break;
        }
        Ok(())
    }

    #[inline(always)]
    fn note_block(&mut self, inst: &Inst, sound: Result<(), FaultKind>) -> bool {
        match sound {
            Ok(()) => {
                self.note_made(Made::NOTHING);
                true
            }
            Err(kind) => {
                self.fault(self.made.len(), inst.op, kind);
                self.made.push(Made::NOTHING);
                false
            }
        }
    }

    /// Opens the block of an instruction that was refused for another reason already told.
    pub(crate) fn open_refused(&mut self, op: Op) {
        self.push(
            if op == Op::If {
                BlockKind::If
            } else {
                BlockKind::Loop
            },
            false,
        );
        self.made.push(Made::NOTHING);
    }

    /// Nothing may follow in the innermost open block.
    fn end_block(&mut self) {
        self.room = 0;
        if let Some(block) = self.blocks.last_mut() {
            block.ended = true;
        }
    }

    fn push(&mut self, kind: BlockKind, mark: bool) {
        if kind == BlockKind::Loop {
            // At most `MAX_DEPTH` blocks are open, and one for each instruction too many.
            self.loops.push(self.blocks.len() as u32);
        }
        self.blocks.push(Block {
            kind,
            start: self.made.len(),
            ended: false,
            mark,
        });
        self.room = Mem::MAX as usize;
        self.continuing += u32::from(kind == BlockKind::Continuing || self.continuing > 0);
    }

    fn pop(&mut self) {
        let Some(block) = self.blocks.pop() else {
            return;
        };
        // Where blocks nest deeper the kernel is refused, and the block above closes the values: time stays linear.
        if self.blocks.len() <= MAX_DEPTH
            && let Some(inside) = self.made.get_mut(block.start..)
        {
            Made::close(inside);
        }
        if block.kind == BlockKind::Loop {
            self.loops.pop();
        }
        self.continuing = self.continuing.saturating_sub(1);
        if let Some(outer) = self.blocks.last() {
            self.room = if outer.ended { 0 } else { Mem::MAX as usize };
        }
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

#[inline(always)]
fn bare(inst: &Inst) -> Result<(), FaultKind> {
    if *inst == Inst::new(inst.op, Type::NONE) {
        Ok(())
    } else {
        Err(FaultKind::Canonical(inst.op))
    }
}
