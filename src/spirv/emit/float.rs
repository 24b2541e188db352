//! Functions of floats; minima and maxima of floats.

use super::arith::NO_FORM;
use super::body::{Body, Class, class};
use crate::kernel::Inst;
use crate::types::Type;
use spirv::{GlslStd450Op as Gl, Op as S};

/// The unsigned integer of a float type's width, and its pattern without the sign.
const fn bits_of(ty: Type) -> (Type, u64) {
    if ty.bytes() == 8 {
        (Type::U64, u64::MAX >> 1)
    } else {
        (Type::U32, (u32::MAX >> 1) as u64)
    }
}

impl Body<'_> {
    /// The root rounded and then the quotient; `InverseSqrt` has 2 ULP and is no better on zeros.
    pub(super) fn rsqrt(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let a = self.val(inst.a);
        let root = self.w.ext1(Gl::Sqrt, ty, a);
        let one = self.one(inst.ty);
        self.w.op2(S::FDiv, ty, one, root)
    }

    pub(super) fn rcp(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let (one, a) = (self.one(inst.ty), self.val(inst.a));
        self.w.op2(S::FDiv, ty, one, a)
    }

    fn one(&mut self, ty: Type) -> u32 {
        self.w.float(ty, 1f32.to_bits(), 1f64.to_bits())
    }

    /// Whether an operand may be a zero: not a constant that is none.
    pub(super) fn may_be_zero(&self, operand: u32) -> bool {
        let (_, magnitude) = bits_of(self.type_of(operand));
        self.known(operand).is_none_or(|bits| bits & magnitude == 0)
    }

    /// The other operand where one is NaN, and −0 below +0.
    ///
    /// `NMin` and `NMax` promise the first and leave the second open, so that two zeros are settled on their bits: or'ed
    /// for the minimum, and'ed for the maximum. The test is on integers, since a device that flushes subnormals would take
    /// them for zeros. `zeros` says whether both operands can be zeros at all.
    pub(super) fn float_min_max(
        &mut self,
        ty: Type,
        a: u32,
        b: u32,
        max: bool,
        zeros: bool,
    ) -> u32 {
        let id = self.w.ty(ty);
        let (op, join) = if max {
            (Gl::NMax, S::BitwiseAnd)
        } else {
            (Gl::NMin, S::BitwiseOr)
        };
        let chosen = self.w.ext2(op, id, a, b);
        if !zeros || !self.strict {
            return chosen;
        }
        let (int, magnitude) = bits_of(ty);
        let (int_id, bool_ty) = (self.w.ty(int), self.w.ty(Type::BOOL));
        let (x, y) = (
            self.w.op1(S::Bitcast, int_id, a),
            self.w.op1(S::Bitcast, int_id, b),
        );
        let either = self.w.op2(S::BitwiseOr, int_id, x, y);
        let joined = if max {
            self.w.op2(join, int_id, x, y)
        } else {
            either
        };
        let magnitude = self.w.constant(int, magnitude);
        let rest = self.w.op2(S::BitwiseAnd, int_id, either, magnitude);
        let zero = self.w.constant(int, 0);
        let both = self.w.op2(S::IEqual, bool_ty, rest, zero);
        let signed = self.w.op1(S::Bitcast, id, joined);
        self.w.op3(S::Select, id, both, signed, chosen)
    }

    /// The minimum or maximum of floats; those of integers have a pattern.
    pub(super) fn min_max(&mut self, inst: &Inst, max: bool) -> u32 {
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        match class(inst.ty) {
            Class::Float => {
                let zeros = self.may_be_zero(inst.a) && self.may_be_zero(inst.b);
                self.float_min_max(inst.ty, a, b, max, zeros)
            }
            Class::Signed | Class::Unsigned | Class::Bool | Class::None => {
                self.unsupported(inst, inst.ty, NO_FORM)
            }
        }
    }

    /// As [`Body::float_min_max`], but NaN where either is NaN.
    pub(super) fn min_max_nan(&mut self, inst: &Inst, max: bool) -> u32 {
        let (ty, bool_ty) = (self.w.ty(inst.ty), self.w.ty(Type::BOOL));
        let mut result = self.min_max(inst, max);
        for operand in [inst.a, inst.b] {
            let value = self.val(operand);
            let nan = self.w.op1(S::IsNan, bool_ty, value);
            result = self.w.op3(S::Select, ty, nan, value, result);
        }
        result
    }
}
