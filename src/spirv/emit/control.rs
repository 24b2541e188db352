//! Structured control flow (SPIR-V section 2.11). Merge blocks and continue targets are right by construction: the
//! bytecode's blocks are SPIR-V's constructs.

use super::body::Body;
use super::sections::head;
use spirv::Op as S;

/// An open block.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Frame {
    /// The label of the merge block.
    merge: u32,
    /// Where the block's end leads: the merge block, or the loop's header.
    end: u32,
    /// The label of a loop's continue target; 0 for an `if`.
    continue_: u32,
    /// Something reaches the merge block. Without an `else` the branch itself does.
    merges: bool,
    /// The place in the body of the false target of an `if`'s branch, which is the merge block so far.
    no: usize,
}

/// Where in the control flow the instruction being written is.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The open blocks, and room for more.
    frames: Vec<Frame>,
    depth: usize,
    /// The label of the block being written.
    pub label: u32,
    /// The block being written has its terminator.
    pub terminated: bool,
}

/// The words of one step of control flow, in the room of an instruction, and how many they are.
type Room<'a> = &'a mut [u32; super::stretch::WIDEST];

impl Flow {
    /// Begins a function, whose first block has this label.
    pub(super) fn begin(&mut self, label: u32) {
        self.depth = 0;
        self.label = label;
        self.terminated = false;
    }

    /// Outside of all blocks: what is made here dominates the rest.
    #[inline(always)]
    pub(super) fn is_outside(&self) -> bool {
        self.depth == 0
    }

    /// Whether another block can be opened without memory being taken.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.depth < self.frames.len()
    }

    #[cold]
    pub(super) fn grow(&mut self) {
        // Each block took an instruction, of which there are fewer than 2^28.
        self.frames.resize(2 * self.depth + 16, Frame::default());
    }

    #[inline(always)]
    fn open(&mut self, frame: Frame) -> Option<()> {
        *self.frames.get_mut(self.depth)? = frame;
        self.depth += 1;
        Some(())
    }

    fn innermost(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.depth.wrapping_sub(1))
    }

    /// The innermost open loop.
    #[inline(always)]
    fn innermost_loop(&mut self) -> Option<&mut Frame> {
        let open = self.frames.get_mut(..self.depth)?;
        open.iter_mut().rev().find(|frame| frame.continue_ != 0)
    }

    #[inline(always)]
    fn start(&mut self, label: u32) {
        self.label = label;
        self.terminated = false;
    }

    /// `if`, with the ids from `id` on; `at` is the place of the room in the body.
    #[inline(always)]
    pub(super) fn if_(&mut self, to: Room, at: usize, condition: u32, id: u32) -> Option<usize> {
        let [yes, merge] = [id, id.wrapping_add(1)];
        self.open(Frame {
            merge,
            end: merge,
            continue_: 0,
            merges: true,
            no: at + 6,
        })?;
        [to[0], to[1], to[2]] = [head(S::SelectionMerge, 3), merge, 0];
        [to[3], to[4]] = [head(S::BranchConditional, 4), condition];
        [to[5], to[6]] = [yes, merge];
        [to[7], to[8]] = [head(S::Label, 2), yes];
        self.start(yes);
        Some(9)
    }

    /// `loop`, with the four ids from `id` on.
    #[inline(always)]
    pub(super) fn loop_(&mut self, to: Room, id: u32) -> Option<usize> {
        let [body, continue_, merge] = [id.wrapping_add(1), id.wrapping_add(2), id.wrapping_add(3)];
        self.open(Frame {
            merge,
            end: id,
            continue_,
            merges: false,
            no: 0,
        })?;
        [to[0], to[1]] = [head(S::Branch, 2), id];
        [to[2], to[3]] = [head(S::Label, 2), id];
        [to[4], to[5], to[6], to[7]] = [head(S::LoopMerge, 4), merge, continue_, 0];
        [to[8], to[9]] = [head(S::Branch, 2), body];
        [to[10], to[11]] = [head(S::Label, 2), body];
        self.start(body);
        Some(12)
    }

    #[inline(always)]
    pub(super) fn continuing(&mut self, to: Room) -> Option<usize> {
        let continue_ = self.innermost()?.continue_;
        let words = self.leave(to, continue_, continue_);
        self.start(continue_);
        Some(words)
    }

    #[inline(always)]
    pub(super) fn break_(&mut self, to: Room) -> Option<usize> {
        let frame = self.innermost_loop()?;
        frame.merges = true;
        [to[0], to[1]] = [head(S::Branch, 2), frame.merge];
        self.terminated = true;
        Some(2)
    }

    #[inline(always)]
    pub(super) fn end(&mut self, to: Room) -> Option<usize> {
        let frame = *self.innermost()?;
        self.depth -= 1;
        let merges = frame.merges | (!self.terminated & (frame.continue_ == 0));
        let words = self.leave(to, frame.end, frame.merge);
        self.start(frame.merge);
        self.terminated = !merges;
        // Else `OpUnreachable`, which stands there.
        Some(words + usize::from(!merges))
    }

    /// Ends the block being written by a branch, unless it has ended, and begins another; an `OpUnreachable` behind them
    /// does not count.
    #[inline(always)]
    fn leave(&self, to: Room, end: u32, next: u32) -> usize {
        let next = [head(S::Label, 2), next, head(S::Unreachable, 1)];
        if self.terminated {
            [to[0], to[1], to[2]] = next;
            2
        } else {
            [to[0], to[1]] = [head(S::Branch, 2), end];
            [to[2], to[3], to[4]] = next;
            4
        }
    }
}

impl Body<'_> {
    pub(super) fn start(&mut self, label: u32) {
        self.w.label(label);
        self.s.flow.start(label);
    }

    #[inline(never)]
    pub(super) fn else_(&mut self) -> u32 {
        let open = !self.s.flow.terminated;
        if let Some(&mut Frame { merge, no: at, .. }) = self.s.flow.innermost() {
            if open {
                self.w.branch(merge);
            }
            let no = self.w.id();
            if let Some(target) = self.w.body.get_mut(at) {
                *target = no;
            }
            if let Some(frame) = self.s.flow.innermost() {
                frame.merges = open;
            }
            self.start(no);
        }
        0
    }

    #[inline(never)]
    pub(super) fn return_(&mut self) -> u32 {
        self.w.body.push(head(S::Return, 1));
        self.s.flow.terminated = true;
        0
    }

    #[inline(never)]
    pub(super) fn continue_(&mut self) -> u32 {
        if let Some(&mut Frame { continue_, .. }) = self.s.flow.innermost_loop() {
            self.w.branch(continue_);
            self.s.flow.terminated = true;
        }
        0
    }
}
