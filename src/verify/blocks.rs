//! The checks of control flow: what opens, divides, closes and leaves blocks.

use super::MAX_DEPTH;
use super::check::{Checker, Made};
use super::fault::FaultKind;
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

impl Checker {
    pub(super) fn terminator(&mut self, inst: &Inst) -> Result<(), FaultKind> {
        let op = inst.op;
        bare(inst)?;
        if self.continuing > 0 {
            return Err(FaultKind::InContinuing(op));
        }
        match op {
            Op::Break | Op::Continue => {
                let innermost = self.loops.last();
                let Some(innermost) = innermost.and_then(|&at| self.blocks.get_mut(at as usize))
                else {
                    return Err(FaultKind::OutsideLoop(op));
                };
                innermost.mark |= op == Op::Break;
            }
            _ => {}
        }
        self.end_block();
        Ok(())
    }

    pub(super) fn block(&mut self, inst: &Inst) -> Result<(), FaultKind> {
        let op = inst.op;
        let Some(&top) = self.blocks.last() else {
            return Err(FaultKind::Mismatched(op));
        };
        match op {
            Op::If | Op::Loop => {
                let sound = self.opening(inst, top);
                // Opened all the same, so that its `end` is no second fault.
                self.push(
                    if op == Op::If {
                        BlockKind::If
                    } else {
                        BlockKind::Loop
                    },
                    false,
                );
                sound?;
            }
            Op::Else => {
                bare(inst)?;
                if top.kind != BlockKind::If {
                    return Err(FaultKind::Mismatched(op));
                }
                self.pop();
                self.push(BlockKind::Else, top.ended);
            }
            Op::Continuing => {
                bare(inst)?;
                if top.kind != BlockKind::Loop {
                    return Err(FaultKind::Mismatched(op));
                }
                self.pop();
                self.push(BlockKind::Continuing, top.mark);
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
            }
        }
        Ok(())
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
