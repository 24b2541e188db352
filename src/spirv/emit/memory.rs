//! Loads and stores, variables, lengths.

use super::body::Body;
use super::declare::Object;
use super::options::Lengths;
use super::sections::{cap, head};
use crate::kernel::Inst;
use crate::types::Type;
use spirv::{MemoryAccess, Op as S, Scope as SpvScope};

impl Body<'_> {
    /// The index, the constant offset added.
    ///
    /// A `u32` index is added to in 32 bits. The sum does not wrap where it matters: a wrapped one would lie past 2^32
    /// elements, a descriptor has fewer than 2^32 bytes (`maxStorageBufferRange` is 32 bits wide), and no array has as
    /// many; whoever emits without bounds checks has promised that it does not happen. For the same reason the index,
    /// which SPIR-V takes as signed, never looks negative: elements have 4 bytes and more.
    pub(super) fn index(&mut self, operand: u32, offset: u32) -> u32 {
        if offset == 0 {
            return self.val(operand);
        }
        let wide = self.type_of(operand) == Type::U64;
        if let Some(known) = self.known(operand) {
            let sum = known.wrapping_add(u64::from(offset));
            return if wide {
                self.w.u64(sum)
            } else {
                // As above, only a promise broken gets here with more than 32 bits.
                self.w.u32(sum as u32)
            };
        }
        let index = self.val(operand);
        let (ty, offset) = if wide {
            (self.w.ty(Type::U64), self.w.u64(u64::from(offset)))
        } else {
            (self.w.ty(Type::U32), self.w.u32(offset))
        };
        self.w.op2(S::IAdd, ty, index, offset)
    }

    /// A pointer to an element.
    #[inline]
    pub(super) fn element(&mut self, object: &Object, index: u32) -> u32 {
        if object.member != 0 {
            self.w.op3(
                S::AccessChain,
                object.pointer,
                object.var,
                object.member,
                index,
            )
        } else {
            self.w
                .op2(S::AccessChain, object.pointer, object.var, index)
        }
    }

    /// The memory operands of an access (SPIR-V section 3.26), and whether a device scope follows them.
    #[inline]
    fn access(&self, inst: &Inst, object: &Object, store: bool) -> (u32, bool) {
        let mut mask = MemoryAccess::from_bits_retain(object.access);
        if inst.flags & Inst::VOLATILE != 0 {
            mask |= MemoryAccess::VOLATILE;
        }
        let scoped = self.vulkan && inst.flags & Inst::COHERENT != 0;
        if scoped {
            mask |= if store {
                MemoryAccess::MAKE_POINTER_AVAILABLE
            } else {
                MemoryAccess::MAKE_POINTER_VISIBLE
            };
        }
        (mask.bits(), scoped)
    }

    fn device_scope(&mut self) -> u32 {
        self.w.caps |= cap::VULKAN_MEMORY_MODEL_DEVICE_SCOPE;
        self.w.u32(SpvScope::Device as u32)
    }

    pub(super) fn load(&mut self, inst: &Inst) -> u32 {
        let object = self.object(inst.a);
        let index = self.index(inst.b, inst.c);
        let pointer = self.element(&object, index);
        let ty = self.w.ty(object.elem);
        let (mask, scoped) = self.access(inst, &object, false);
        let value = if mask == 0 {
            self.w.op1(S::Load, ty, pointer)
        } else if scoped {
            let scope = self.device_scope();
            self.w.op3(S::Load, ty, pointer, mask, scope)
        } else {
            self.w.op2(S::Load, ty, pointer, mask)
        };
        if object.as_bits {
            let ty = self.w.ty(inst.ty);
            return self.w.op1(S::Bitcast, ty, value);
        }
        value
    }

    pub(super) fn store(&mut self, inst: &Inst) -> u32 {
        let object = self.object(inst.a);
        let (value, offset) = if inst.flags & Inst::OFFSET != 0 {
            (self.side(inst, 0), self.side(inst, 1))
        } else {
            (inst.c, 0)
        };
        let index = self.index(inst.b, offset);
        let mut value = self.val(value);
        if object.as_bits {
            let ty = self.w.ty(object.elem);
            value = self.w.op1(S::Bitcast, ty, value);
        }
        let pointer = self.element(&object, index);
        let (mask, scoped) = self.access(inst, &object, true);
        self.store_to(pointer, value, mask, scoped);
        0
    }

    pub(super) fn store_to(&mut self, pointer: u32, value: u32, mask: u32, scoped: bool) {
        if mask == 0 {
            self.w
                .body
                .extend_from_slice(&[head(S::Store, 3), pointer, value]);
        } else if scoped {
            let scope = self.device_scope();
            self.w
                .body
                .extend_from_slice(&[head(S::Store, 5), pointer, value, mask, scope]);
        } else {
            self.w
                .body
                .extend_from_slice(&[head(S::Store, 4), pointer, value, mask]);
        }
    }

    pub(super) fn array_length(&mut self, inst: &Inst) -> u32 {
        let object = self.object(inst.a);
        let ty = self.w.ty(Type::U32);
        let length = match self.options.lengths {
            Lengths::ArrayLength => self.w.op2(S::ArrayLength, ty, object.var, 0),
            Lengths::HostFilled => self.scalar(object.length, Type::U32),
        };
        if inst.ty == Type::U64 {
            let ty = self.w.ty(Type::U64);
            return self.w.op1(S::UConvert, ty, length);
        }
        length
    }

    /// The variable stands in the function's first block, its first store where the kernel makes it.
    pub(super) fn var(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let var = self.local(ty);
        let value = self.val(inst.a);
        self.w
            .body
            .extend_from_slice(&[head(S::Store, 3), var, value]);
        var
    }
}
