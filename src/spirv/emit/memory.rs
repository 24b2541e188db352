//! Loads and stores, variables, lengths.

use super::body::Body;
use super::bounds::Place;
use super::objects::{Length, Object};
use super::preamble::cap;
use super::sections::head;
use crate::kernel::Inst;
use crate::types::Type;
use spirv::{MemoryAccess, Op as S, Scope as SpvScope};

impl Body<'_> {
    /// The index, the constant offset added.
    ///
    /// A `u32` index is added to in 32 bits. The sum does not wrap where it matters: a wrapped one would lie past 2^32
    /// elements, a descriptor has fewer than 2^32 bytes (`maxStorageBufferRange` is 32 bits wide), and no array has as
    /// many; whoever emits without bounds checks has promised that it does not happen. For the same reason the index,
    /// which SPIR-V takes as signed, never looks negative: elements have 2 bytes and more, or the caller gives 64-bit indices
    /// to buffers of 2^31 bytes and more.
    #[inline(always)]
    pub(super) fn index(&mut self, operand: u32, offset: u32) -> u32 {
        if offset == 0 {
            return self.val(operand);
        }
        self.index_beyond(operand, offset)
    }

    fn index_beyond(&mut self, operand: u32, offset: u32) -> u32 {
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
        if let (Some(&object), 0) = (self.s.objects.plain(inst.a), inst.flags) {
            let index = self.index(inst.b, inst.c);
            let pointer = self.element(&object, index);
            return self.w.op1(S::Load, object.elem_id, pointer);
        }
        self.any_load(inst)
    }

    fn any_load(&mut self, inst: &Inst) -> u32 {
        let object = self.object(inst.a);
        let place = self.place(inst.a, &object, inst.b, inst.c);
        // An array has a first element, which may be read in the place of others.
        if let Place::If { inside, index } = place
            && object.length != Length::Buffer
            && inst.ty.lanes() == 1
        {
            let (u32_ty, ty) = (self.w.ty(Type::U32), self.w.ty(inst.ty));
            let (first, zero) = (self.w.u32(0), self.w.null(ty));
            let index = self.w.op3(S::Select, u32_ty, inside, index, first);
            let value = self.load_at(inst, &object, index);
            return self.w.op3(S::Select, ty, inside, value, zero);
        }
        self.at_place(place, inst.ty, |body, index| {
            body.load_at(inst, &object, index)
        })
    }

    fn load_at(&mut self, inst: &Inst, object: &Object, index: u32) -> u32 {
        let pointer = self.element(object, index);
        let ty = object.elem_id;
        let (mask, scoped) = self.access(inst, object, false);
        let value = if mask == 0 {
            self.w.op1(S::Load, ty, pointer)
        } else if scoped {
            let scope = self.device_scope();
            self.w.op3(S::Load, ty, pointer, mask, scope)
        } else {
            self.w.op2(S::Load, ty, pointer, mask)
        };
        self.loaded(object, value)
    }

    #[inline]
    pub(super) fn store(&mut self, inst: &Inst) -> u32 {
        let (value, offset) = if inst.flags & Inst::OFFSET != 0 {
            (self.side(inst, 0), self.side(inst, 1))
        } else {
            (inst.c, 0)
        };
        let value = self.val(value);
        let flags = inst.flags & !Inst::OFFSET;
        if let (Some(&object), 0) = (self.s.objects.plain(inst.a), flags) {
            let index = self.index(inst.b, offset);
            let pointer = self.element(&object, index);
            self.w.body.put([head(S::Store, 3), pointer, value]);
            return 0;
        }
        self.any_store(inst, value, offset)
    }

    /// Stores what has the id `value`.
    fn any_store(&mut self, inst: &Inst, value: u32, offset: u32) -> u32 {
        let object = self.object(inst.a);
        let place = self.place(inst.a, &object, inst.b, offset);
        self.at_place(place, Type::NONE, |body, index| {
            let value = body.storable(&object, value);
            let pointer = body.element(&object, index);
            let (mask, scoped) = body.access(inst, &object, true);
            body.store_to(pointer, value, mask, scoped);
            0
        })
    }

    pub(super) fn store_to(&mut self, pointer: u32, value: u32, mask: u32, scoped: bool) {
        if mask == 0 {
            self.w.body.put([head(S::Store, 3), pointer, value]);
        } else if scoped {
            let scope = self.device_scope();
            self.w
                .body
                .put([head(S::Store, 5), pointer, value, mask, scope]);
        } else {
            self.w.body.put([head(S::Store, 4), pointer, value, mask]);
        }
    }

    pub(super) fn array_length(&mut self, inst: &Inst) -> u32 {
        let object = self.object(inst.a);
        let length = self.length(inst.a, &object);
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
        self.w.body.put([head(S::Store, 3), var, value]);
        var
    }
}
