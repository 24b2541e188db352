//! Functions of floats; minima and maxima of floats.

use super::arith::NO_FORM;
use super::body::{Body, Class, class};
use super::half::working;
use crate::kernel::Inst;
use crate::math;
use crate::op::Op;
use crate::types::Type;
use spirv::{GlslStd450Op as Gl, Op as S};

/// The bits of an infinity as registers hold it, of f64 the upper half.
const fn infinity(ty: Type) -> u32 {
    match ty {
        Type::F16 => 0x7C00,
        Type::F64 => 0x7FF0_0000,
        _ => 0x7F80_0000,
    }
}

impl Body<'_> {
    /// Division has no bf16 form and is rounded best in f32 for f16 too.
    pub(super) fn div_float(&mut self, inst: &Inst) -> u32 {
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        let (a, b) = (self.widen(inst.ty, a), self.widen(inst.ty, b));
        let ty = self.w.ty(working(inst.ty));
        let quotient = self.w.op2(S::FDiv, ty, a, b);
        self.narrow(inst.ty, quotient)
    }

    /// f16 and bf16; the others have a pattern.
    pub(super) fn sqrt(&mut self, inst: &Inst) -> u32 {
        let a = self.val(inst.a);
        let a = self.widen(inst.ty, a);
        let ty = self.w.ty(working(inst.ty));
        let root = self.w.ext1(Gl::Sqrt, ty, a);
        self.narrow(inst.ty, root)
    }

    pub(super) fn rcp(&mut self, inst: &Inst) -> u32 {
        let wide = working(inst.ty);
        let one = self.w.float(wide, 1f32.to_bits(), 1f64.to_bits());
        let (ty, a) = (self.w.ty(wide), self.val(inst.a));
        let a = self.widen(inst.ty, a);
        let quotient = self.w.op2(S::FDiv, ty, one, a);
        self.narrow(inst.ty, quotient)
    }

    /// Exact, by its recipe; f16 and bf16 hold the remainder of f32.
    pub(super) fn rem_float(&mut self, inst: &Inst) -> u32 {
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        let (a, b) = (self.widen(inst.ty, a), self.widen(inst.ty, b));
        let value = self.recipe2(math::Binary::Rem, working(inst.ty), a, b);
        self.cut(inst.ty, value)
    }

    pub(super) fn pow(&mut self, inst: &Inst) -> u32 {
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        let (a, b) = (self.widen(inst.ty, a), self.widen(inst.ty, b));
        let wide = working(inst.ty);
        let value = if inst.flags & Inst::FAST != 0 && wide == Type::F32 {
            let ty = self.w.ty(wide);
            self.w.ext2(Gl::Pow, ty, a, b)
        } else {
            self.recipe2(math::Binary::Pow, wide, a, b)
        };
        self.narrow(inst.ty, value)
    }

    /// A function of one argument: by its recipe, or as the device approximates it, which is f32 only. 16-bit floats go
    /// through f32.
    #[inline(never)]
    pub(super) fn transcendental(&mut self, inst: &Inst) -> u32 {
        use math::Unary;
        let (function, fast) = match inst.op {
            Op::Rsqrt => (Unary::Rsqrt, Some(Gl::InverseSqrt)),
            Op::Exp => (Unary::Exp, Some(Gl::Exp)),
            Op::Exp2 => (Unary::Exp2, Some(Gl::Exp2)),
            Op::Log => (Unary::Log, Some(Gl::Log)),
            Op::Log2 => (Unary::Log2, Some(Gl::Log2)),
            Op::Sin => (Unary::Sin, Some(Gl::Sin)),
            Op::Cos => (Unary::Cos, Some(Gl::Cos)),
            Op::Tan => (Unary::Tan, Some(Gl::Tan)),
            Op::Tanh => (Unary::Tanh, Some(Gl::Tanh)),
            // No device has one.
            Op::Erf => (Unary::Erf, None),
            _ => return self.unsupported(inst, inst.ty, NO_FORM),
        };
        let wide = working(inst.ty);
        let a = self.val(inst.a);
        let a = self.widen(inst.ty, a);
        let fast = fast.filter(|_| inst.flags & Inst::FAST != 0 && wide == Type::F32);
        let value = match fast {
            Some(fast) => {
                let ty = self.w.ty(wide);
                self.w.ext1(fast, ty, a)
            }
            None => self.recipe1(function, wide, a),
        };
        self.narrow(inst.ty, value)
    }

    pub(super) fn fract(&mut self, inst: &Inst) -> u32 {
        let (ty, a) = (self.w.ty(inst.ty), self.val(inst.a));
        let floor = self.w.ext1(Gl::Floor, ty, a);
        let value = self.w.exact2(S::FSub, ty, a, floor);
        match inst.ty {
            // f16 has been computed as such.
            Type::F16 => value,
            ty => self.narrow(ty, value),
        }
    }

    /// The word of a float that holds its sign, as a `u32`, and the other word of an f64.
    fn sign_word(&mut self, ty: Type, value: u32) -> (u32, u32) {
        match ty {
            Type::F16 => (self.w.f16_bits(value), 0),
            Type::F64 => {
                let (low, high) = self.w.split(value);
                (high, low)
            }
            _ => (self.w.f32_bits(value), 0),
        }
    }

    /// By bits: every other bit of `a` is kept.
    pub(super) fn copysign(&mut self, inst: &Inst) -> u32 {
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        let sign = if inst.ty == Type::F16 {
            1 << 15
        } else {
            1 << 31
        };
        let ((word, rest), (from, _)) = (self.sign_word(inst.ty, a), self.sign_word(inst.ty, b));
        let word = self.w.with(S::BitwiseAnd, word, sign - 1);
        let from = self.w.with(S::BitwiseAnd, from, sign);
        let ty = self.w.ty(Type::U32);
        let word = self.w.op2(S::BitwiseOr, ty, word, from);
        match inst.ty {
            Type::F16 => self.w.f16_of(word, 0),
            Type::F64 => self.w.combine(Type::F64, rest, word),
            _ => self.w.f32_of(word),
        }
    }

    /// By bits, which no driver takes for always false.
    #[inline(never)]
    pub(super) fn is_nan(&mut self, inst: &Inst) -> u32 {
        self.special(inst, S::UGreaterThan)
    }

    #[inline(never)]
    pub(super) fn is_inf(&mut self, inst: &Inst) -> u32 {
        self.special(inst, S::IEqual)
    }

    /// Compares the magnitude's bits with infinity's.
    fn special(&mut self, inst: &Inst, op: S) -> u32 {
        let (a, from) = (self.val(inst.a), self.type_of(inst.a));
        let (word, low) = self.sign_word(from, a);
        let bits = if from == Type::F16 {
            0x7FFF
        } else {
            0x7FFF_FFFF
        };
        let mut magnitude = self.w.with(S::BitwiseAnd, word, bits);
        if from == Type::F64 {
            // What the lower word holds counts as a bit of the upper one.
            let (ty, bool_ty) = (self.w.ty(Type::U32), self.w.ty(Type::BOOL));
            let (zero, one) = (self.w.u32(0), self.w.u32(1));
            let some = self.w.op2(S::INotEqual, bool_ty, low, zero);
            let some = self.w.op3(S::Select, ty, some, one, zero);
            magnitude = self.w.op2(S::BitwiseOr, ty, magnitude, some);
        }
        self.w.test(op, magnitude, infinity(from))
    }

    /// Whether an operand may be a zero: not a constant that is none.
    pub(super) fn may_be_zero(&self, operand: u32) -> bool {
        let bits = self.type_of(operand).bytes() * 8;
        // A sign and at least 15 bits.
        let magnitude = (u64::MAX >> 1) >> 64u32.saturating_sub(bits);
        self.known(operand).is_none_or(|bits| bits & magnitude == 0)
    }

    /// Of f32 or f64: the other operand where one is NaN, and −0 below +0.
    ///
    /// `NMin` and `NMax` promise the first and leave the second open, so that two zeros are settled on their bits: or'ed
    /// for the minimum, and'ed for the maximum. The test is on integers, since a device that flushes subnormals would take
    /// them for zeros; of an f64 on its halves, which need no 64-bit integers. `zeros` says whether both operands can be
    /// zeros at all.
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
        let u32_ty = self.w.ty(Type::U32);
        let ((x, x_low), (y, y_low)) = (self.sign_word(ty, a), self.sign_word(ty, b));
        let either = self.w.op2(S::BitwiseOr, u32_ty, x, y);
        let joined = if max {
            self.w.op2(join, u32_ty, x, y)
        } else {
            either
        };
        let mut rest = self.w.with(S::BitwiseAnd, either, 0x7FFF_FFFF);
        if ty == Type::F64 {
            let low = self.w.op2(S::BitwiseOr, u32_ty, x_low, y_low);
            rest = self.w.op2(S::BitwiseOr, u32_ty, rest, low);
        }
        let both = self.w.test(S::IEqual, rest, 0);
        let signed = if ty == Type::F64 {
            let low = self.w.u32(0);
            self.w.combine(ty, low, joined)
        } else {
            self.w.f32_of(joined)
        };
        self.w.op3(S::Select, id, both, signed, chosen)
    }

    /// The minimum or maximum of floats; those of integers have a pattern.
    pub(super) fn min_max(&mut self, inst: &Inst, max: bool) -> u32 {
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        match class(inst.ty) {
            Class::Float => {
                let (a, b) = (self.widen(inst.ty, a), self.widen(inst.ty, b));
                let value = self.wide_min_max(inst, a, b, max);
                self.cut(inst.ty, value)
            }
            Class::Signed | Class::Unsigned | Class::Bool | Class::None => {
                self.unsupported(inst, inst.ty, NO_FORM)
            }
        }
    }

    fn wide_min_max(&mut self, inst: &Inst, a: u32, b: u32, max: bool) -> u32 {
        let zeros = self.may_be_zero(inst.a) && self.may_be_zero(inst.b);
        self.float_min_max(working(inst.ty), a, b, max, zeros)
    }

    /// As [`Body::float_min_max`], but NaN where either is NaN.
    pub(super) fn min_max_nan(&mut self, inst: &Inst, max: bool) -> u32 {
        let (ty, bool_ty) = (self.w.ty(working(inst.ty)), self.w.ty(Type::BOOL));
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        let (a, b) = (self.widen(inst.ty, a), self.widen(inst.ty, b));
        let mut result = self.wide_min_max(inst, a, b, max);
        for value in [a, b] {
            let nan = self.w.op1(S::IsNan, bool_ty, value);
            result = self.w.op3(S::Select, ty, nan, value, result);
        }
        self.cut(inst.ty, result)
    }
}
