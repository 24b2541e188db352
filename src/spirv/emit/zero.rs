//! Zeroed shared arrays without the device's help: a loop at the start.

use super::body::Body;
use super::builtins::Builtin;
use super::objects::Object;
use super::sections::head;
use crate::kernel::Mem;
use crate::types::Type;
use spirv::Op as S;

impl Body<'_> {
    /// Fills the zeroed shared arrays, each thread its share, and waits.
    pub(super) fn zero_shared(&mut self) {
        let kernel = self.kernel;
        let mut any = false;
        for (n, d) in (0u32..).zip(kernel.shared()) {
            if !d.zeroed {
                continue;
            }
            any = true;
            let object = self.object(Mem::Shared(n).word());
            let len = self.shared_len(d.len);
            let zero = self.w.null(object.elem_id);
            self.zero_loop(&object, len, zero);
        }
        if any {
            self.workgroup_barrier();
        }
    }

    fn zero_loop(&mut self, object: &Object, len: u32, zero: u32) {
        let first = self.read(Builtin::LocalIndex);
        // Below 2^31, so that the sum below does not wrap: arrays have at most 2^31 elements of 2 bytes.
        let step = self.kernel.workgroup_threads().min(1 << 31);
        let (step, len) = (self.w.u32(step), self.w.u32(len));
        let (u32_ty, bool_ty) = (self.w.ty(Type::U32), self.w.ty(Type::BOOL));
        let before = self.s.flow.label;
        let [header, body, continue_, merge, next] = core::array::from_fn(|_| self.w.id());
        self.w.branch(header);
        self.w.label(header);
        let at = self.w.op4(S::Phi, u32_ty, [first, before, next, continue_]);
        let inside = self.w.op2(S::ULessThan, bool_ty, at, len);
        self.w.loop_merge(merge, continue_);
        self.w
            .body
            .put([head(S::BranchConditional, 4), inside, body, merge]);
        self.w.label(body);
        let pointer = self.w.op2(S::AccessChain, object.pointer, object.var, at);
        self.store_to(pointer, zero, object.access, false);
        self.w.branch(continue_);
        self.w.label(continue_);
        self.w.body.put([head(S::IAdd, 5), u32_ty, next, at, step]);
        self.w.branch(header);
        self.start(merge);
    }
}
