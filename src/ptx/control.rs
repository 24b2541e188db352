//! Structured control flow as labels and branches (PTX ISA section 9.7.12).

use super::body::Body;
use super::mnemonic::piece;
use super::writer::Token;
use crate::kernel::Inst;
use crate::op::Op;

/// An open block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// `skip` is where the threads go that do not enter.
    If { outer: u32, skip: u32 },
    /// `end` is where those go that have run the `if` part, unless it never ends.
    Else { outer: u32, end: Option<u32> },
    /// An `if` that holds only a `break`, `continue` or `return`: its branch carries the predicate.
    Guarded { predicate: Token },
    /// A loop, in its body or its continuing part.
    Loop {
        outer: u32,
        outer_loop: usize,
        /// Labels of the start, the continuing part and the end, the latter two where something goes there.
        start: u32,
        continuing: Option<u32>,
        end: Option<u32>,
    },
}

impl Body<'_, '_> {
    pub fn new_label(&mut self) -> u32 {
        // One or two an instruction, of which there are fewer than 2^28.
        self.labels += 1;
        self.labels
    }

    pub fn label(&mut self, label: u32) {
        let label = Token::numbered("$L", label);
        self.w.line().token(label).bytes(b":\n").done();
    }

    pub fn branch(&mut self, label: u32) {
        let label = Token::numbered("$L", label);
        self.w.line().piece(piece!("\tbra ")).token(label).end();
    }

    pub fn branch_if(&mut self, predicate: Token, label: u32) {
        let label = Token::numbered("$L", label);
        let line = self.w.line().bytes(b"\t@").token(predicate);
        line.bytes(b" bra ").token(label).end();
    }

    fn open_block(&mut self) -> u32 {
        let outer = self.block;
        // One block an instruction at most, so this stays below 2^28.
        self.block = self.s.open.len() as u32;
        self.s.open.push(true);
        outer
    }

    fn close_block(&mut self, outer: u32) {
        if let Some(open) = self.s.open.get_mut(self.block as usize) {
            *open = false;
        }
        self.block = outer;
    }

    fn op_at(&self, at: usize) -> Option<Op> {
        self.insts.get(at).map(|i| i.op)
    }

    pub fn begin_if(&mut self, inst: &Inst) -> Token {
        let predicate = self.value(inst.a);
        let at = self.at;
        if let (Some(Op::Break | Op::Continue | Op::Return), Some(Op::End)) =
            (self.op_at(at + 1), self.op_at(at + 2))
        {
            self.s.frames.push(Frame::Guarded { predicate });
            return Token::NONE;
        }
        let skip = self.new_label();
        let label = Token::numbered("$L", skip);
        let line = self.w.line().bytes(b"\t@!").token(predicate);
        line.bytes(b" bra ").token(label).end();
        let outer = self.open_block();
        self.s.frames.push(Frame::If { outer, skip });
        Token::NONE
    }

    pub fn begin_else(&mut self) -> Token {
        let Some(Frame::If { outer, skip }) = self.s.frames.pop() else {
            return Token::NONE;
        };
        let before = self.at.checked_sub(1);
        let left = before.and_then(|at| self.op_at(at));
        let end = match left {
            Some(Op::Break | Op::Continue | Op::Return) => None,
            _ => {
                let end = self.new_label();
                self.branch(end);
                Some(end)
            }
        };
        self.label(skip);
        self.close_block(outer);
        let outer = self.open_block();
        self.s.frames.push(Frame::Else { outer, end });
        Token::NONE
    }

    pub fn begin_loop(&mut self) -> Token {
        let start = self.new_label();
        self.label(start);
        let outer = self.open_block();
        let outer_loop = self.innermost_loop;
        self.innermost_loop = self.s.frames.len();
        self.s.frames.push(Frame::Loop {
            outer,
            outer_loop,
            start,
            continuing: None,
            end: None,
        });
        Token::NONE
    }

    pub fn begin_continuing(&mut self) -> Token {
        let Some(&Frame::Loop {
            outer, continuing, ..
        }) = self.s.frames.last()
        else {
            return Token::NONE;
        };
        if let Some(label) = continuing {
            self.label(label);
        }
        self.close_block(outer);
        // The outer block is the one that `end` goes back to.
        self.open_block();
        Token::NONE
    }

    pub fn end(&mut self) -> Token {
        match self.s.frames.pop() {
            None | Some(Frame::Guarded { .. }) => {}
            Some(Frame::If { outer, skip }) => {
                self.label(skip);
                self.close_block(outer);
            }
            Some(Frame::Else { outer, end }) => {
                if let Some(end) = end {
                    self.label(end);
                }
                self.close_block(outer);
            }
            Some(Frame::Loop {
                outer,
                outer_loop,
                start,
                end,
                ..
            }) => {
                self.branch(start);
                if let Some(end) = end {
                    self.label(end);
                }
                self.innermost_loop = outer_loop;
                self.close_block(outer);
            }
        }
        Token::NONE
    }

    /// The predicate of the `if` around a lone terminator.
    fn guard(&self) -> Option<Token> {
        match self.s.frames.last() {
            Some(&Frame::Guarded { predicate }) => Some(predicate),
            _ => None,
        }
    }

    fn leave(&mut self, label: u32) -> Token {
        match self.guard() {
            Some(predicate) => self.branch_if(predicate, label),
            None => self.branch(label),
        }
        Token::NONE
    }

    pub fn break_(&mut self) -> Token {
        let label = self.labels + 1;
        let Some(Frame::Loop { end, .. }) = self.s.frames.get_mut(self.innermost_loop) else {
            return Token::NONE;
        };
        let label = *end.get_or_insert(label);
        self.labels = self.labels.max(label);
        self.leave(label)
    }

    pub fn continue_(&mut self) -> Token {
        let label = self.labels + 1;
        let Some(Frame::Loop { continuing, .. }) = self.s.frames.get_mut(self.innermost_loop)
        else {
            return Token::NONE;
        };
        let label = *continuing.get_or_insert(label);
        self.labels = self.labels.max(label);
        self.leave(label)
    }

    pub fn return_(&mut self) -> Token {
        match self.guard() {
            Some(predicate) => {
                let line = self.w.line().bytes(b"\t@").token(predicate);
                line.bytes(b" ret;\n").done();
            }
            None => self.w.line().bytes(b"\tret;\n").done(),
        }
        Token::NONE
    }
}
