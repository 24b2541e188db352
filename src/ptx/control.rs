//! Structured control flow as labels and branches (PTX ISA section 9.7.12).

use super::body::Body;
use super::mnemonic::piece;
use super::writer::{Piece, Tail, Token};
use crate::kernel::Inst;
use crate::op::Op;

/// An open block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// `skip` is where the threads go that do not enter.
    If { outer: u32, skip: u32 },
    /// `end` is where those go that have run the `if` part, unless it never ends.
    Else { outer: u32, end: Option<u32> },
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

/// What a line begins with that is carried out where a predicate holds.
const IF: &Piece = piece!("\t@");

impl Body<'_, '_> {
    pub fn new_label(&mut self) -> u32 {
        // One or two an instruction, of which there are fewer than 2^28.
        self.labels += 1;
        self.labels
    }

    pub fn label(&mut self, label: u32) {
        let number = Token::decimal(label);
        self.w.item(piece!("$L"), number, Tail::LABEL);
    }

    pub fn branch(&mut self, label: u32) {
        let number = Token::decimal(label);
        self.w.item(piece!("\tbra $L"), number, Tail::END);
    }

    pub fn branch_if(&mut self, predicate: Token, label: u32) {
        self.branch_by(IF, predicate, label);
    }

    pub fn branch_unless(&mut self, predicate: Token, label: u32) {
        self.branch_by(piece!("\t@!"), predicate, label);
    }

    fn branch_by(&mut self, when: &Piece, predicate: Token, label: u32) {
        let number = Token::decimal(label);
        let bra = piece!(" bra $L");
        self.w.items(when, predicate, bra, number, Tail::END);
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
        if self.op_at(at + 2) == Some(Op::End) {
            // What holds only a `break`, `continue` or `return` is one branch with the predicate.
            let label = match self.op_at(at + 1) {
                Some(Op::Break) => self.break_label(),
                Some(Op::Continue) => self.continue_label(),
                Some(Op::Return) => None,
                _ => return self.skip_unless(predicate),
            };
            match label {
                Some(label) => self.branch_if(predicate, label),
                None => {
                    let (ret, none) = (piece!(" ret"), Token::NONE);
                    self.w.items(IF, predicate, ret, none, Tail::END);
                }
            }
            self.at += 2;
            return Token::NONE;
        }
        self.skip_unless(predicate)
    }

    /// Begins the block of an `if`.
    fn skip_unless(&mut self, predicate: Token) -> Token {
        let skip = self.new_label();
        self.branch_unless(predicate, skip);
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
            None => {}
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

    /// Where a `break` goes.
    fn break_label(&mut self) -> Option<u32> {
        let label = self.labels + 1;
        let Some(Frame::Loop { end, .. }) = self.s.frames.get_mut(self.innermost_loop) else {
            return None;
        };
        let label = *end.get_or_insert(label);
        self.labels = self.labels.max(label);
        Some(label)
    }

    /// Where a `continue` goes.
    fn continue_label(&mut self) -> Option<u32> {
        let label = self.labels + 1;
        let Some(Frame::Loop { continuing, .. }) = self.s.frames.get_mut(self.innermost_loop)
        else {
            return None;
        };
        let label = *continuing.get_or_insert(label);
        self.labels = self.labels.max(label);
        Some(label)
    }

    pub fn break_(&mut self) -> Token {
        if let Some(label) = self.break_label() {
            self.branch(label);
        }
        Token::NONE
    }

    pub fn continue_(&mut self) -> Token {
        if let Some(label) = self.continue_label() {
            self.branch(label);
        }
        Token::NONE
    }

    pub fn return_(&mut self) -> Token {
        self.w.piece(piece!("\tret;\n"));
        Token::NONE
    }
}
