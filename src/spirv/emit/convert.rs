//! Conversions, defined for every input.

use super::arith::NO_FORM;
use super::body::{Body, Class, class};
use crate::kernel::Inst;
use crate::types::Type;
use spirv::{GlslStd450Op as Gl, Op as S};

impl Body<'_> {
    pub(super) fn convert(&mut self, inst: &Inst) -> u32 {
        let (from, to) = (self.type_of(inst.a), inst.ty);
        let a = self.val(inst.a);
        if from == to {
            return a;
        }
        match (class(from), class(to)) {
            (Class::Bool, Class::Signed | Class::Unsigned) => self.bool_to(a, to, 1),
            (Class::Bool, Class::Float) => {
                let one = if to.bytes() == 8 {
                    1f64.to_bits()
                } else {
                    u64::from(1f32.to_bits())
                };
                self.bool_to(a, to, one)
            }
            (Class::Signed | Class::Unsigned, Class::Bool) => self.bool_from(a, from, S::INotEqual),
            (Class::Float, Class::Bool) => self.bool_from(a, from, S::FUnordNotEqual),
            (Class::Signed | Class::Unsigned, Class::Signed | Class::Unsigned) => {
                self.int_to_int(a, from, to)
            }
            (Class::Signed, Class::Float) => self.one_step(S::ConvertSToF, to, a),
            (Class::Unsigned, Class::Float) => self.one_step(S::ConvertUToF, to, a),
            (Class::Float, Class::Float) => self.one_step(S::FConvert, to, a),
            (Class::Float, Class::Unsigned) => self.float_to_unsigned(a, from, to),
            (Class::Float, Class::Signed) => self.float_to_signed(a, from, to),
            (Class::Bool, Class::Bool) => a,
            (Class::None, _) | (_, Class::None) => self.unsupported(inst, to, NO_FORM),
        }
    }

    fn one_step(&mut self, op: S, to: Type, a: u32) -> u32 {
        let ty = self.w.ty(to);
        self.w.op1(op, ty, a)
    }

    fn bool_to(&mut self, a: u32, to: Type, one: u64) -> u32 {
        let ty = self.w.ty(to);
        let (one, zero) = (self.w.constant(to, one), self.w.constant(to, 0));
        self.w.op3(S::Select, ty, a, one, zero)
    }

    /// Whether it is not zero; a NaN is not.
    fn bool_from(&mut self, a: u32, from: Type, op: S) -> u32 {
        let ty = self.w.ty(Type::BOOL);
        let zero = self.w.constant(from, 0);
        self.w.op2(op, ty, a, zero)
    }

    /// Keeps the low bits and extends by the source's sign. `OpUConvert` makes unsigned values only.
    fn int_to_int(&mut self, a: u32, from: Type, to: Type) -> u32 {
        let ty = self.w.ty(to);
        if from.bytes() == to.bytes() {
            return self.w.op1(S::Bitcast, ty, a);
        }
        let narrows = to.bytes() < from.bytes();
        match (class(from), class(to)) {
            // Narrowing drops bits whichever way it is called; widening goes by the source.
            (Class::Signed, _) if !narrows => self.w.op1(S::SConvert, ty, a),
            (_, Class::Signed) if narrows => self.w.op1(S::SConvert, ty, a),
            (_, Class::Signed) => {
                let wide = self.w.ty(Type::U64);
                let wide = self.w.op1(S::UConvert, wide, a);
                self.w.op1(S::Bitcast, ty, wide)
            }
            (_, Class::Unsigned | Class::Float | Class::Bool | Class::None) => {
                self.w.op1(S::UConvert, ty, a)
            }
        }
    }

    /// The greatest value of `float` that is not above the greatest of `to`, as bits; 2^n, the power of two above the
    /// greatest of `to`, as bits; and whether the two lie either side of it, so that the clamp alone does not saturate.
    fn upper(float: Type, to: Type) -> (u64, u64, bool) {
        let exponent = to.bytes() * 8 - u32::from(class(to) == Class::Signed);
        if float.bytes() == 8 {
            let power = u64::from(1023 + exponent) << 52;
            if exponent > 53 {
                (power - 1, power, true)
            } else {
                // 2^n - 1 itself: n bits of ones behind the leading one.
                let ones = (u64::MAX >> (64 - (exponent - 1))) << (52 - (exponent - 1));
                (u64::from(1023 + exponent - 1) << 52 | ones, power, false)
            }
        } else {
            // All the integers have more than 24 bits.
            let power = u64::from(127 + exponent) << 23;
            (power - 1, power, true)
        }
    }

    /// `OpConvertFToU` is undefined out of range: clamped first, NaN going to 0 with `NMax`.
    fn float_to_unsigned(&mut self, a: u32, from: Type, to: Type) -> u32 {
        let float = self.w.ty(from);
        let zero = self.w.constant(from, 0);
        let low = self.w.ext2(Gl::NMax, float, a, zero);
        self.saturate(S::ConvertFToU, a, low, from, to)
    }

    fn float_to_signed(&mut self, a: u32, from: Type, to: Type) -> u32 {
        let (float, ty, bool_ty) = (self.w.ty(from), self.w.ty(to), self.w.ty(Type::BOOL));
        let exponent = u64::from(to.bytes() * 8 - 1);
        let min = if from.bytes() == 8 {
            (1 << 11 | (1023 + exponent)) << 52
        } else {
            (1 << 8 | (127 + exponent)) << 23
        };
        let min = self.w.constant(from, min);
        let low = self.w.ext2(Gl::NMax, float, a, min);
        let result = self.saturate(S::ConvertFToS, a, low, from, to);
        let nan = self.w.op1(S::IsNan, bool_ty, a);
        let zero = self.w.constant(to, 0);
        self.w.op3(S::Select, ty, nan, zero, result)
    }

    fn saturate(&mut self, op: S, a: u32, low: u32, from: Type, to: Type) -> u32 {
        let (float, ty) = (self.w.ty(from), self.w.ty(to));
        let (greatest, power, gap) = Body::upper(from, to);
        let greatest = self.w.constant(from, greatest);
        let clamped = self.w.ext2(Gl::NMin, float, low, greatest);
        let result = self.w.op1(op, ty, clamped);
        if !gap {
            return result;
        }
        let bool_ty = self.w.ty(Type::BOOL);
        let power = self.w.constant(from, power);
        let above = self.w.op2(S::FOrdGreaterThanEqual, bool_ty, a, power);
        let bits = to.bytes() * 8 - u32::from(class(to) == Class::Signed);
        let max = self.w.constant(to, u64::MAX >> (64 - bits));
        self.w.op3(S::Select, ty, above, max, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_bounds_are_the_last_values_below() {
        let f64s = |to| {
            let (greatest, power, gap) = Body::upper(Type::F64, to);
            (f64::from_bits(greatest), f64::from_bits(power), gap)
        };
        assert_eq!(f64s(Type::U32), (4_294_967_295.0, 4_294_967_296.0, false));
        assert_eq!(f64s(Type::I32), (2_147_483_647.0, 2_147_483_648.0, false));
        assert_eq!(
            f64s(Type::U64),
            (
                18_446_744_073_709_549_568.0,
                18_446_744_073_709_551_616.0,
                true
            )
        );
        assert_eq!(
            f64s(Type::I64),
            (
                9_223_372_036_854_774_784.0,
                9_223_372_036_854_775_808.0,
                true
            )
        );
        let f32s = |to| {
            let (greatest, power, gap) = Body::upper(Type::F32, to);
            let bits = |b: u64| f32::from_bits(u32::try_from(b).expect("32 bits"));
            (bits(greatest), bits(power), gap)
        };
        assert_eq!(f32s(Type::U32), (4_294_967_040.0, 4_294_967_296.0, true));
        assert_eq!(f32s(Type::I32), (2_147_483_520.0, 2_147_483_648.0, true));
        assert_eq!(
            f32s(Type::I64),
            (
                9_223_371_487_098_961_920.0,
                9_223_372_036_854_775_808.0,
                true
            )
        );
        assert_eq!(
            f32s(Type::U64),
            (
                18_446_742_974_197_923_840.0,
                18_446_744_073_709_551_616.0,
                true
            )
        );
    }
}
