//! Vectors: made of components and taken apart.

use super::body::Body;
use super::objects::{Form, Object};
use crate::kernel::Inst;
use crate::types::Type;
use spirv::Op as S;

impl Body<'_> {
    /// Of four; those of two have a pattern.
    pub(super) fn construct4(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        let (c, d) = (self.val(self.side(inst, 0)), self.val(self.side(inst, 1)));
        self.w.op4(S::CompositeConstruct, ty, [a, b, c, d])
    }

    pub(super) fn extract(&mut self, inst: &Inst) -> u32 {
        let (ty, vector) = (self.w.ty(inst.ty), self.val(inst.a));
        self.w
            .op2(S::CompositeExtract, ty, vector, u32::from(inst.flags))
    }

    /// The register's form of an element just loaded.
    #[inline]
    pub(super) fn loaded(&mut self, object: &Object, value: u32) -> u32 {
        if object.form == Form::Same {
            return value;
        }
        self.widened(object, value)
    }

    fn widened(&mut self, object: &Object, value: u32) -> u32 {
        let ty = self.w.ty(object.elem);
        match object.form {
            Form::Same => value,
            Form::Bits => self.w.op1(S::Bitcast, ty, value),
            Form::Signed => self.w.op1(S::SConvert, ty, value),
            Form::Unsigned => self.w.op1(S::UConvert, ty, value),
            Form::Bf16 => {
                let (words, by) = self.words(object.elem);
                let value = self.w.op1(S::UConvert, words, value);
                let value = self.w.op2(S::ShiftLeftLogical, words, value, by);
                self.w.op1(S::Bitcast, ty, value)
            }
        }
    }

    /// The memory's form of a value.
    #[inline]
    pub(super) fn storable(&mut self, object: &Object, value: u32) -> u32 {
        if object.form == Form::Same {
            return value;
        }
        self.narrowed(object, value)
    }

    fn narrowed(&mut self, object: &Object, value: u32) -> u32 {
        let ty = object.elem_id;
        match object.form {
            Form::Same => value,
            Form::Bits => self.w.op1(S::Bitcast, ty, value),
            Form::Signed => self.w.op1(S::SConvert, ty, value),
            Form::Unsigned => self.w.op1(S::UConvert, ty, value),
            Form::Bf16 => {
                let (words, by) = self.words(object.elem);
                let value = self.w.op1(S::Bitcast, words, value);
                let value = self.w.op2(S::ShiftRightLogical, words, value, by);
                self.w.op1(S::UConvert, ty, value)
            }
        }
    }

    /// The type of as many `u32` as `ty` has lanes, and 16 in each.
    fn words(&mut self, ty: Type) -> (u32, u32) {
        let words = Type::vector(crate::types::Scalar::U32, ty.lanes()).unwrap_or(Type::U32);
        let (id, by) = (self.w.ty(words), self.w.u32(16));
        (id, self.w.splat(id, ty.lanes(), by))
    }
}
