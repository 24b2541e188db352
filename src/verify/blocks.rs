//! The checks of control flow: what opens, divides, closes and leaves blocks.

use super::MAX_DEPTH;
use super::check::Checker;
use super::fault::FaultKind;
use super::made::Made;
use super::uniformity::{Flow, Joins, Level};
use crate::kernel::{Inst, Mem};
use crate::op::{Effect, Op};
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
struct Known<'a> {
    in_doubt: &'a mut bool,
}

/// The place of joins that need none.
const ANY: u32 = 0;

impl Joins<Level> for Known<'_> {
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
        *self.in_doubt |= broken.join(returned).exceeds(entry);
    }
}

impl Checker {
    /// All the checks of an instruction that opens, divides, closes or leaves a block.
    #[inline(never)]
    pub(super) fn control_flow(&mut self, inst: Inst) -> bool {
        let terminates = inst.op.quick().effect == Effect::Terminator;
        let sound = if self.made.len() >= Mem::MAX as usize {
            Err(FaultKind::TooMany("instructions"))
        } else if !terminates {
            self.block(&inst)
        } else if self.room == 0 {
            Err(FaultKind::Unreachable)
        } else {
            self.terminator(&inst)
        };
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

    fn terminator(&mut self, inst: &Inst) -> Result<(), FaultKind> {
        let op = inst.op;
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
        let (flow, mut known) = self.flow();
        flow.leave(op, ANY, &mut known);
        self.end_block();
        Ok(())
    }

    fn block(&mut self, inst: &Inst) -> Result<(), FaultKind> {
        let op = inst.op;
        let Some(&top) = self.blocks.last() else {
            return Err(FaultKind::Mismatched(op));
        };
        match op {
            Op::If => {
                let sound = self.opening(inst, top);
                // Opened all the same, so that its `end` is no second fault.
                self.push(BlockKind::If, false);
                sound?;
                let condition = self.level(inst.a);
                let (flow, mut known) = self.flow();
                flow.open_if(ANY, condition, &mut known);
            }
            Op::Loop => {
                let sound = self.opening(inst, top);
                self.push(BlockKind::Loop, false);
                sound?;
                let (flow, mut known) = self.flow();
                flow.open_loop(ANY, &mut known);
            }
            Op::Else => {
                bare(inst)?;
                if top.kind != BlockKind::If {
                    return Err(FaultKind::Mismatched(op));
                }
                self.pop();
                self.push(BlockKind::Else, top.ended);
                let (flow, mut known) = self.flow();
                flow.open_else(ANY, &mut known);
            }
            Op::Continuing => {
                bare(inst)?;
                if top.kind != BlockKind::Loop {
                    return Err(FaultKind::Mismatched(op));
                }
                self.pop();
                self.push(BlockKind::Continuing, top.mark);
                let (flow, mut known) = self.flow();
                flow.open_continuing(ANY, &mut known);
            }
            _ => {
                bare(inst)?;
                let never_passed = match top.kind {
                    BlockKind::If => false,
                    BlockKind::Else => top.ended && top.mark,
                    BlockKind::Continuing => !top.mark,
                    BlockKind::Body | BlockKind::Loop => return Err(FaultKind::Mismatched(op)),
                };
                self.pop();
                if never_passed {
                    self.end_block();
                }
                let (flow, mut known) = self.flow();
                flow.end(ANY, &mut known);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn flow(&mut self) -> (&mut Flow<Level>, Known<'_>) {
        let Checker { flow, in_doubt, .. } = self;
        (flow, Known { in_doubt })
    }

    fn opening(&self, inst: &Inst, top: Block) -> Result<(), FaultKind> {
        if top.ended {
            return Err(FaultKind::Unreachable);
        }
        if self.blocks.len() > MAX_DEPTH {
            return Err(FaultKind::TooDeep);
        }
        if inst.op == Op::If {
            if (Inst { a: 0, ..*inst }) != Inst::new(Op::If, Type::NONE) {
                return Err(FaultKind::Canonical(Op::If));
            }
            return self.typed(inst.a, Type::BOOL);
        }
        if self.continuing > 0 {
            return Err(FaultKind::InContinuing(inst.op));
        }
        bare(inst)
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

fn bare(inst: &Inst) -> Result<(), FaultKind> {
    if *inst == Inst::new(inst.op, Type::NONE) {
        Ok(())
    } else {
        Err(FaultKind::Canonical(inst.op))
    }
}
