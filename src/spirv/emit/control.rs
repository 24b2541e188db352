//! Structured control flow (SPIR-V section 2.11). Merge blocks and continue targets are right by construction: the
//! bytecode's blocks are SPIR-V's constructs.

use super::body::Body;
use super::sections::head;
use crate::kernel::Inst;
use spirv::Op as S;

/// An open block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    kind: Kind,
    /// The label of the merge block.
    merge: u32,
    /// Something reaches the merge block.
    merges: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Until its `else`; the place in the body of the branch's false target, which is the merge block so far.
    If {
        no: usize,
    },
    Else,
    Loop {
        header: u32,
        continue_: u32,
    },
}

impl Body<'_> {
    /// Ends the block being written, unless it has ended; gives whether it had not.
    fn leave(&mut self, to: u32) -> bool {
        let open = !self.terminated;
        if open {
            self.w.branch(to);
        }
        open
    }

    pub(super) fn start(&mut self, label: u32) {
        self.w.label(label);
        self.label = label;
        self.terminated = false;
    }

    pub(super) fn if_(&mut self, inst: &Inst) -> u32 {
        let condition = self.val(inst.a);
        let (yes, merge) = (self.w.id(), self.w.id());
        self.w.select_branch(merge, condition, yes, merge);
        self.s.frames.push(Frame {
            kind: Kind::If {
                no: self.w.body.len() - 1,
            },
            merge,
            merges: false,
        });
        self.start(yes);
        0
    }

    pub(super) fn else_(&mut self) -> u32 {
        if let Some(&Frame { kind, merge, .. }) = self.s.frames.last() {
            let merges = self.leave(merge);
            let no = self.w.id();
            if let Kind::If { no: at } = kind
                && let Some(target) = self.w.body.get_mut(at)
            {
                *target = no;
            }
            if let Some(frame) = self.s.frames.last_mut() {
                frame.kind = Kind::Else;
                frame.merges = merges;
            }
            self.start(no);
        }
        0
    }

    pub(super) fn loop_(&mut self) -> u32 {
        let (header, body) = (self.w.id(), self.w.id());
        let (continue_, merge) = (self.w.id(), self.w.id());
        self.w.branch(header);
        self.w.label(header);
        self.w.loop_merge(merge, continue_);
        self.w.branch(body);
        self.s.frames.push(Frame {
            kind: Kind::Loop { header, continue_ },
            merge,
            merges: false,
        });
        self.start(body);
        0
    }

    pub(super) fn continuing(&mut self) -> u32 {
        if let Some(&Frame {
            kind: Kind::Loop { continue_, .. },
            ..
        }) = self.s.frames.last()
        {
            self.leave(continue_);
            self.start(continue_);
        }
        0
    }

    pub(super) fn end(&mut self) -> u32 {
        if let Some(frame) = self.s.frames.pop() {
            let merges = match frame.kind {
                // Without an `else` the branch itself leads here.
                Kind::If { .. } => {
                    self.leave(frame.merge);
                    true
                }
                Kind::Else => self.leave(frame.merge) | frame.merges,
                Kind::Loop { header, .. } => {
                    self.leave(header);
                    frame.merges
                }
            };
            self.start(frame.merge);
            if !merges {
                self.w.body.push(head(S::Unreachable, 1));
                self.terminated = true;
            }
        }
        0
    }

    /// The innermost open loop.
    fn innermost(&mut self) -> Option<&mut Frame> {
        self.s
            .frames
            .iter_mut()
            .rev()
            .find(|f| matches!(f.kind, Kind::Loop { .. }))
    }

    pub(super) fn break_(&mut self) -> u32 {
        if let Some(frame) = self.innermost() {
            frame.merges = true;
            let merge = frame.merge;
            self.w.branch(merge);
            self.terminated = true;
        }
        0
    }

    pub(super) fn continue_(&mut self) -> u32 {
        if let Some(&mut Frame {
            kind: Kind::Loop { continue_, .. },
            ..
        }) = self.innermost()
        {
            self.w.branch(continue_);
            self.terminated = true;
        }
        0
    }
}
