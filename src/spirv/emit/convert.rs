//! Conversions, defined for every input.

use super::arith::NO_FORM;
use super::body::{Body, Class, class};
use super::half::working;
use super::types::register;
use crate::kernel::Inst;
use crate::types::Type;
use spirv::{GlslStd450Op as Gl, Op as S};

/// Whether every number of `from` is one of `to`, both being integers.
fn holds(to: Type, from: Type) -> bool {
    match (class(to), class(from)) {
        (Class::Signed, Class::Unsigned) => to.bytes() > from.bytes(),
        (Class::Unsigned, Class::Signed) => false,
        _ => to.bytes() >= from.bytes(),
    }
}

impl Body<'_> {
    pub(super) fn convert(&mut self, inst: &Inst) -> u32 {
        let (from, to) = (self.type_of(inst.a), inst.ty);
        let mut a = self.val(inst.a);
        if from == to {
            return a;
        }
        // What a 16-bit float says, f32 says as well; between floats one step may be enough.
        let wide = working(from);
        if class(to) != Class::Float {
            a = self.widen(from, a);
        }
        match (class(from), class(to)) {
            (Class::Bool, Class::Signed | Class::Unsigned) => self.bool_to(a, to, 1),
            (Class::Bool, Class::Float) => {
                let one = match to {
                    Type::F16 => 0x3C00,
                    Type::BF16 => 0x3F80,
                    Type::F64 => 1f64.to_bits(),
                    _ => u64::from(1f32.to_bits()),
                };
                self.bool_to(a, to, one)
            }
            (Class::Signed | Class::Unsigned, Class::Bool) => self.bool_from(a, from, S::INotEqual),
            (Class::Float, Class::Bool) => self.bool_from(a, wide, S::FUnordNotEqual),
            (Class::Signed | Class::Unsigned, Class::Signed | Class::Unsigned) => {
                let value = self.int_to_int(a, register(from), register(to));
                if holds(to, from) {
                    return value;
                }
                self.w.normalise(to, value)
            }
            (Class::Signed | Class::Unsigned, Class::Float) => self.int_to_float(a, from, to),
            (Class::Float, Class::Float) => self.float_to_float(a, from, to),
            (Class::Float, Class::Unsigned) => self.float_to_unsigned(a, wide, to),
            (Class::Float, Class::Signed) => self.float_to_signed(a, wide, to),
            (Class::Bool, Class::Bool) => a,
            (Class::None, _) | (_, Class::None) => self.unsupported(inst, to, NO_FORM),
        }
    }

    pub(super) fn bitcast(&mut self, inst: &Inst) -> u32 {
        let (from, to) = (self.type_of(inst.a), inst.ty);
        let a = self.val(inst.a);
        if from == to {
            return a;
        }
        if to.bytes() < 4 {
            let bits = self.w.narrow_bits(from, a);
            return self.w.narrow_of(to, bits);
        }
        self.one_step(S::Bitcast, to, a)
    }

    /// One rounding for every pair: where a step through f32 would be a second one, that step is exact or to odd.
    fn float_to_float(&mut self, a: u32, from: Type, to: Type) -> u32 {
        match (from, to) {
            (Type::F64, Type::F16 | Type::BF16) => {
                self.floats |= 32;
                let single = self.w.odd_single(a);
                self.narrow(to, single)
            }
            (Type::F16, Type::BF16) => {
                let single = self.widen(from, a);
                self.narrow(to, single)
            }
            (Type::F32 | Type::BF16, Type::F16) | (Type::F32, Type::BF16) => self.narrow(to, a),
            (Type::BF16, Type::F32) => a,
            _ => self.one_step(S::FConvert, to, a),
        }
    }

    fn int_to_float(&mut self, a: u32, from: Type, to: Type) -> u32 {
        let signed = class(from) == Class::Signed;
        let op = if signed {
            S::ConvertSToF
        } else {
            S::ConvertUToF
        };
        match to {
            // f16 is infinite long before f32 rounds, so that the integer may as well be kept where f32 is exact.
            Type::F16 => {
                self.floats |= 32;
                let a = self.kept_small(a, from);
                let single = self.one_step(op, Type::F32, a);
                self.narrow(to, single)
            }
            Type::BF16 => {
                let single = match from.bytes() {
                    8 => self.int64_to_single(a, from),
                    4 => {
                        let a = self.odd_int(a, from);
                        self.one_step(op, Type::F32, a)
                    }
                    _ => self.one_step(op, Type::F32, a),
                };
                self.narrow(to, single)
            }
            _ => self.one_step(op, to, a),
        }
    }

    /// An integer as it is below 2^20 in magnitude, and 2^20 beyond; in 32 bits.
    fn kept_small(&mut self, a: u32, from: Type) -> u32 {
        if from.bytes() < 4 {
            return a;
        }
        let ty = self.w.ty(from);
        let high = self.w.constant(from, 1 << 20);
        if class(from) != Class::Signed {
            let kept = self.w.ext2(Gl::UMin, ty, a, high);
            return self.int_to_int(kept, from, Type::U32);
        }
        let mask = u64::MAX >> (64 - from.bytes() * 8);
        let low = self.w.constant(from, (1u64 << 20).wrapping_neg() & mask);
        let kept = self.w.ext2(Gl::SMax, ty, a, low);
        let kept = self.w.ext2(Gl::SMin, ty, kept, high);
        self.int_to_int(kept, from, Type::I32)
    }

    /// A 32-bit integer whose bits below the 24 that f32 holds are or'ed into the last of those: rounded to odd, in two's
    /// complement too.
    fn odd_int(&mut self, a: u32, from: Type) -> u32 {
        let (ty, bool_ty) = (self.w.ty(from), self.w.ty(Type::BOOL));
        let u32_ty = self.w.ty(Type::U32);
        let (low, zero) = (self.w.constant(from, 0xFF), self.w.constant(from, 0));
        let lost = self.w.op2(S::BitwiseAnd, ty, a, low);
        let some = self.w.op2(S::INotEqual, bool_ty, lost, zero);
        let last = self.w.constant(from, 0x100);
        let last = self.w.op3(S::Select, ty, some, last, zero);
        let mask = self.w.constant(from, 0xFFFF_FF00);
        let odd = self.w.op2(S::BitwiseAnd, ty, a, mask);
        let odd = self.w.op2(S::BitwiseOr, ty, odd, last);
        // Whether f32 holds it as it is.
        let (bits, limit) = if class(from) == Class::Signed {
            let bits = self.w.op1(S::Bitcast, u32_ty, a);
            (self.w.with(S::IAdd, bits, 1 << 24), 1 << 25)
        } else {
            (a, 1 << 24)
        };
        let small = self.w.test(S::ULessThan, bits, limit);
        self.w.op3(S::Select, ty, small, a, odd)
    }

    /// A 64-bit integer as f32 rounded to odd: the magnitude is shifted up until its top bit is set, its upper word taken
    /// with what is below or'ed into it, and scaled by the power of two.
    fn int64_to_single(&mut self, a: u32, from: Type) -> u32 {
        let signed = class(from) == Class::Signed;
        let (wide, u32_ty, f32_ty) = (
            self.w.ty(Type::U64),
            self.w.ty(Type::U32),
            self.w.ty(Type::F32),
        );
        let bool_ty = self.w.ty(Type::BOOL);
        let (mut magnitude, mut negative) = (a, 0);
        if signed {
            let (ty, zero) = (self.w.ty(from), self.w.constant(from, 0));
            negative = self.w.op2(S::SLessThan, bool_ty, a, zero);
            magnitude = self.w.ext1(Gl::SAbs, ty, a);
            magnitude = self.w.op1(S::Bitcast, wide, magnitude);
        }
        let zeros = self.w.clz64(magnitude);
        // Of zero the shift is by 63, which leaves zero.
        let shift = {
            let most = self.w.u32(63);
            self.w.ext2(Gl::UMin, u32_ty, zeros, most)
        };
        let shifted = self.w.op2(S::ShiftLeftLogical, wide, magnitude, shift);
        let (low, high) = self.w.split(shifted);
        let rest = self.w.with(S::BitwiseAnd, high, 0xFF);
        let rest = self.w.op2(S::BitwiseOr, u32_ty, rest, low);
        let (zero, last) = (self.w.u32(0), self.w.u32(0x100));
        let some = self.w.op2(S::INotEqual, bool_ty, rest, zero);
        let last = self.w.op3(S::Select, u32_ty, some, last, zero);
        let upper = self.w.with(S::BitwiseAnd, high, 0xFFFF_FF00);
        let upper = self.w.op2(S::BitwiseOr, u32_ty, upper, last);
        let value = self.w.op1(S::ConvertUToF, f32_ty, upper);
        // 2^(32 - shift): the exponent field of a normal number.
        let exponent = {
            let top = self.w.u32(127 + 32);
            self.w.op2(S::ISub, u32_ty, top, shift)
        };
        let scale = self.w.with(S::ShiftLeftLogical, exponent, 23);
        let scale = self.w.f32_of(scale);
        let value = self.w.exact2(S::FMul, f32_ty, value, scale);
        if !signed {
            return value;
        }
        let minus = self.w.op1(S::FNegate, f32_ty, value);
        self.w.op3(S::Select, f32_ty, negative, minus, value)
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

    /// Between 32 and 64 bits: keeps the low bits and extends by the source's sign. `OpUConvert` makes unsigned values
    /// only.
    pub(super) fn int_to_int(&mut self, a: u32, from: Type, to: Type) -> u32 {
        if from == to {
            return a;
        }
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
            let power = u64::from(127 + exponent) << 23;
            if exponent > 24 {
                (power - 1, power, true)
            } else {
                let ones = (0xFF_FFFF >> (24 - exponent)) & !(1 << (exponent - 1));
                let ones = ones << (24 - exponent);
                (u64::from(127 + exponent - 1) << 23 | ones, power, false)
            }
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
        assert_eq!(f32s(Type::U8), (255.0, 256.0, false));
        assert_eq!(f32s(Type::I8), (127.0, 128.0, false));
        assert_eq!(f32s(Type::U16), (65_535.0, 65_536.0, false));
        assert_eq!(f32s(Type::I16), (32_767.0, 32_768.0, false));
        assert_eq!(f64s(Type::U8), (255.0, 256.0, false));
        assert_eq!(f64s(Type::I16), (32_767.0, 32_768.0, false));
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
