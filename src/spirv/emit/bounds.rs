//! Accesses out of bounds, where they are checked.

use super::body::Body;
use super::objects::{Length, Object};
use super::options::Lengths;
use crate::kernel::Bounds;
use crate::op::Op;
use crate::types::Type;
use spirv::Op as S;

/// Where an access goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// There: it is in bounds, or the caller says so.
    There(u32),
    /// There if the condition holds.
    If {
        /// A `bool`.
        inside: u32,
        /// The index, of which nothing is known where the condition does not hold.
        index: u32,
    },
    /// Nowhere.
    Nowhere,
}

impl Body<'_> {
    /// The greatest value that an index may have, if the instruction that makes it tells.
    fn at_most(&self, operand: u32) -> Option<u64> {
        let inst = self.insts.get(operand as usize)?;
        let threads = u64::from(self.kernel.workgroup_threads());
        match inst.op {
            Op::Const => Some(inst.const_bits()),
            Op::LocalIndex => Some(threads - 1),
            Op::LocalId => {
                let sizes = self.kernel.workgroup_size();
                let size = sizes.get(usize::from(inst.flags)).copied()?;
                Some(u64::from(size) - 1)
            }
            Op::And => self.known(inst.b).or(self.known(inst.a)),
            Op::Rem => self.known(inst.b).and_then(|n| n.checked_sub(1)),
            _ => None,
        }
    }

    /// Where the element `operand` + `offset` of an object is.
    ///
    /// The sum does not wrap: the index is compared with the length less the offset, and added to only then. An index of
    /// 64 bits that has been found to be below a length needs 32.
    #[inline]
    pub(super) fn place(&mut self, word: u32, object: &Object, operand: u32, offset: u32) -> Place {
        match self.options.bounds {
            Bounds::Unchecked => Place::There(self.index(operand, offset)),
            Bounds::Checked => self.checked_place(word, object, operand, offset),
        }
    }

    fn checked_place(&mut self, word: u32, object: &Object, operand: u32, offset: u32) -> Place {
        let wide = self.type_of(operand) == Type::U64;
        let most = self.at_most(operand);
        // SPIR-V takes a 32-bit index as signed; only elements of one byte are as many.
        let bytes = object.elem.bytes() == 1 && object.length == Length::Buffer;
        let limit = match object.length {
            Length::Known(len) => {
                let inside = |most: u64| most.saturating_add(u64::from(offset)) < u64::from(len);
                if most.is_some_and(inside) {
                    return Place::There(self.short_index(operand, wide, offset));
                }
                let known = self.known(operand).is_some_and(|n| !inside(n));
                match len.checked_sub(offset) {
                    None | Some(0) => return Place::Nowhere,
                    Some(_) if known => return Place::Nowhere,
                    Some(limit) => self.w.u32(limit),
                }
            }
            Length::Buffer => {
                let ty = self.w.ty(Type::U32);
                let mut len = self.length(word, object);
                if bytes && !wide {
                    let most = self.w.u32(1 << 31);
                    len = self.w.ext2(spirv::GlslStd450Op::UMin, ty, len, most);
                }
                if offset == 0 {
                    len
                } else {
                    let offset = self.w.u32(offset);
                    let cut = self.w.ext2(spirv::GlslStd450Op::UMin, ty, len, offset);
                    self.w.op2(S::ISub, ty, len, cut)
                }
            }
        };
        let bool_ty = self.w.ty(Type::BOOL);
        let index = self.val(operand);
        let limit = if wide {
            let ty = self.w.ty(Type::U64);
            self.w.op1(S::UConvert, ty, limit)
        } else {
            limit
        };
        let inside = self.w.op2(S::ULessThan, bool_ty, index, limit);
        let index = if wide && bytes {
            self.index(operand, offset)
        } else {
            self.short_index(operand, wide, offset)
        };
        Place::If { inside, index }
    }

    /// The index plus the offset in 32 bits, where they are known to be enough or it does not matter.
    fn short_index(&mut self, operand: u32, wide: bool, offset: u32) -> u32 {
        let ty = self.w.ty(Type::U32);
        let index = match self.known(operand) {
            // Below a length, and so below 2^32.
            Some(known) => return self.w.u32((known as u32).wrapping_add(offset)),
            None => self.val(operand),
        };
        let index = if wide {
            self.w.op1(S::UConvert, ty, index)
        } else {
            index
        };
        if offset == 0 {
            return index;
        }
        self.w.with(S::IAdd, index, offset)
    }

    /// The number of elements of a buffer. What is computed outside of all control flow is kept.
    pub(super) fn length(&mut self, word: u32, object: &Object) -> u32 {
        if object.counted != 0 {
            return object.counted;
        }
        let length = match self.options.lengths {
            Lengths::ArrayLength => {
                let ty = self.w.ty(Type::U32);
                self.w.op2(S::ArrayLength, ty, object.var, 0)
            }
            Lengths::HostFilled => self.scalar(object.member_of_length, Type::U32),
        };
        if self.s.flow.is_outside()
            && self.nested == 0
            && let Some(object) = self.s.objects.get_mut(word)
        {
            object.counted = length;
        }
        length
    }

    /// Does something where a condition holds. What it makes, of type `ty` (0 for nothing), is zero where it does not.
    pub(super) fn where_(
        &mut self,
        inside: u32,
        ty: u32,
        act: impl FnOnce(&mut Self) -> u32,
    ) -> u32 {
        let zero = if ty != 0 { self.w.null(ty) } else { 0 };
        let (yes, merge) = (self.w.id(), self.w.id());
        let before = self.s.flow.label;
        self.w.select_branch(merge, inside, yes, merge);
        self.start(yes);
        self.nested += 1;
        let value = act(self);
        self.nested -= 1;
        let after = self.s.flow.label;
        self.w.branch(merge);
        self.start(merge);
        if ty == 0 {
            return 0;
        }
        self.w.op4(S::Phi, ty, [value, after, zero, before])
    }

    /// Does something to an element, given its index, or nothing: see [`Body::where_`].
    pub(super) fn at_place(
        &mut self,
        place: Place,
        ty: Type,
        act: impl FnOnce(&mut Self, u32) -> u32,
    ) -> u32 {
        let id = if ty.is_none() { 0 } else { self.w.ty(ty) };
        match place {
            Place::There(index) => act(self, index),
            Place::If { inside, index } => self.where_(inside, id, |body| act(body, index)),
            Place::Nowhere if id == 0 => 0,
            Place::Nowhere => self.w.null(id),
        }
    }
}
