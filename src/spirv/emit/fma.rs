//! `fma`: the device's, or one that rounds once wherever add, multiply and conversion round correctly.

use super::body::Body;
use super::options::Fma;
use super::sections::{Writer, head};
use crate::kernel::Inst;
use crate::types::Type;
use spirv::{GlslStd450Op as Gl, Op as S};

impl Body<'_> {
    pub(super) fn fma(&mut self, inst: &Inst) -> u32 {
        let operands = [self.val(inst.a), self.val(inst.b), self.val(inst.c)];
        match inst.ty {
            Type::F16 if self.options.fma == Fma::Native => {
                let ty = self.w.ty(Type::F16);
                let [a, b, c] = operands;
                self.w.ext3(Gl::Fma, ty, a, b, c)
            }
            Type::F16 => {
                if !self.strict {
                    return self.unsupported(inst, inst.ty, STRICT);
                }
                // The product of two f16 is exact in f32.
                let [a, b, c] = operands.map(|x| self.widen(Type::F16, x));
                let ty = self.w.ty(Type::F32);
                let product = self.w.exact2(S::FMul, ty, a, b);
                let sum = self.w.odd_sum(Type::F32, product, c);
                self.narrow(Type::F16, sum)
            }
            Type::BF16 => {
                // Through f64, where neither overflow nor underflow is in the way, and rounded to odd twice.
                self.floats |= 64;
                let ty = self.w.ty(Type::F64);
                let [a, b, c] = operands.map(|x| self.w.op1(S::FConvert, ty, x));
                let product = self.w.exact2(S::FMul, ty, a, b);
                let sum = self.w.odd_sum(Type::F64, product, c);
                let single = self.w.odd_single(sum);
                self.w.bf16_round(single)
            }
            ty => self.fuse(ty, operands),
        }
    }

    /// A fused multiply-add of f32 or f64, as the options say.
    pub(super) fn fuse(&mut self, ty: Type, [a, b, c]: [u32; 3]) -> u32 {
        let id = self.w.ty(ty);
        match self.options.fma {
            Fma::Native => self.w.ext3(Gl::Fma, id, a, b, c),
            Fma::Exact => {
                if !self.strict {
                    return self.unsupported_here(ty, STRICT);
                }
                if ty != Type::F64 {
                    self.floats |= 64;
                    return self.w.fma32(a, b, c);
                }
                if self.w.fma64 == 0 {
                    self.w.fma64 = self.w.id();
                }
                let function = self.w.fma64;
                self.w.op4(S::FunctionCall, id, [function, a, b, c])
            }
        }
    }
}

/// What [`Fma::Exact`] needs.
const STRICT: &str = "FloatMode::Strict, since Fma::Exact relies on the rounding mode";

/// A number taken apart: ± mantissa × 2^(exponent − 1076), the mantissa's top bit being bit 53.
struct Parts {
    /// The whole pattern.
    bits: u32,
    /// The biased exponent, below 1 for subnormals.
    exponent: u32,
    mantissa: u32,
    /// `bool`: a zero.
    zero: u32,
    /// `bool`: an infinity or a NaN.
    special: u32,
}

/// The ids of the types that the f64 function needs.
#[derive(Clone, Copy)]
struct Types {
    bool_: u32,
    i32_: u32,
    u64_: u32,
    f64_: u32,
}

impl Writer {
    /// f32 through f64, where the product is exact: the sum is rounded to odd, so that rounding it to f32 is as good as
    /// rounding the exact sum (Boldo and Melquiond, Emulation of FMA and correctly rounded sums).
    fn fma32(&mut self, a: u32, b: u32, c: u32) -> u32 {
        let (f32_, f64_) = (self.ty(Type::F32), self.ty(Type::F64));
        let [a, b, c] = [a, b, c].map(|x| self.op1(S::FConvert, f64_, x));
        let product = self.exact2(S::FMul, f64_, a, b);
        let sum = self.odd_sum(Type::F64, product, c);
        self.op1(S::FConvert, f32_, sum)
    }

    /// a + b in f32 or f64, rounded to odd. Nothing may overflow on the way; with infinities and NaNs the error term is
    /// NaN, which is not different from 0 in the ordered sense.
    fn odd_sum(&mut self, ty: Type, a: u32, b: u32) -> u32 {
        let (float, u32_, bool_) = (self.ty(ty), self.ty(Type::U32), self.ty(Type::BOOL));
        let sum = self.exact2(S::FAdd, float, a, b);
        // Knuth's exact error of the sum.
        let virtual_b = self.exact2(S::FSub, float, sum, a);
        let virtual_a = self.exact2(S::FSub, float, sum, virtual_b);
        let error_a = self.exact2(S::FSub, float, a, virtual_a);
        let error_b = self.exact2(S::FSub, float, b, virtual_b);
        let error = self.exact2(S::FAdd, float, error_a, error_b);
        let zero = self.constant(ty, 0);
        let inexact = self.op2(S::FOrdNotEqual, bool_, error, zero);
        let ((low, high), error_high) = if ty == Type::F64 {
            let (_, error_high) = self.split(error);
            (self.split(sum), error_high)
        } else {
            let bits = self.f32_bits(sum);
            ((bits, bits), self.f32_bits(error))
        };
        let (c0, c1) = (self.u32(0), self.u32(1));
        let last = self.op2(S::BitwiseAnd, u32_, low, c1);
        let even = self.op2(S::IEqual, bool_, last, c0);
        let adjust = self.op2(S::LogicalAnd, bool_, inexact, even);
        // One step away from zero where the error has the sum's sign, else towards it, borrowing from the upper half.
        let signs = self.op2(S::BitwiseXor, u32_, high, error_high);
        let c31 = self.u32(31);
        let towards = self.op2(S::ShiftRightLogical, u32_, signs, c31);
        let inwards = self.op2(S::INotEqual, bool_, towards, c0);
        let ones = self.u32(u32::MAX);
        let step = self.op3(S::Select, u32_, inwards, ones, c1);
        let stepped = self.op2(S::IAdd, u32_, low, step);
        let odd = if ty == Type::F64 {
            let empty = self.op2(S::IEqual, bool_, low, c0);
            let borrows = self.op2(S::LogicalAnd, bool_, inwards, empty);
            let borrow = self.op3(S::Select, u32_, borrows, c1, c0);
            let high = self.op2(S::ISub, u32_, high, borrow);
            self.combine(Type::F64, stepped, high)
        } else {
            self.f32_of(stepped)
        };
        self.op3(S::Select, float, adjust, odd, sum)
    }

    /// An f64 as f32, rounded to odd: what comes of another rounding to fewer bits is right then. Whichever way the
    /// device rounds, an inexact result that is even lies one step from the odd one, on the argument's side.
    pub(super) fn odd_single(&mut self, value: u32) -> u32 {
        let (f32_, f64_) = (self.ty(Type::F32), self.ty(Type::F64));
        let (u32_, bool_) = (self.ty(Type::U32), self.ty(Type::BOOL));
        let near = self.op1(S::FConvert, f32_, value);
        let back = self.op1(S::FConvert, f64_, near);
        let inexact = self.op2(S::FOrdNotEqual, bool_, back, value);
        let [far, whole] = [back, value].map(|x| self.ext1(Gl::FAbs, f64_, x));
        let inwards = self.op2(S::FOrdGreaterThan, bool_, far, whole);
        let bits = self.f32_bits(near);
        let last = self.with(S::BitwiseAnd, bits, 1);
        let even = self.test(S::IEqual, last, 0);
        let adjust = self.op2(S::LogicalAnd, bool_, inexact, even);
        let (ones, one) = (self.u32(u32::MAX), self.u32(1));
        let step = self.op3(S::Select, u32_, inwards, ones, one);
        let stepped = self.op2(S::IAdd, u32_, bits, step);
        let bits = self.op3(S::Select, u32_, adjust, stepped, bits);
        self.f32_of(bits)
    }

    fn take_apart(&mut self, t: Types, x: u32) -> Parts {
        let bits = self.op1(S::Bitcast, t.u64_, x);
        let (c52, c11) = (self.u32(52), self.u32(11));
        let c12 = self.i32(12);
        let top = self.op2(S::ShiftRightLogical, t.u64_, bits, c52);
        let mask = self.u64(0x7FF);
        let top = self.op2(S::BitwiseAnd, t.u64_, top, mask);
        let biased = self.op1(S::SConvert, t.i32_, top);
        let mask = self.u64((1 << 52) - 1);
        let fraction = self.op2(S::BitwiseAnd, t.u64_, bits, mask);
        let c0 = self.i32(0);
        let subnormal = self.op2(S::IEqual, t.bool_, biased, c0);
        // A subnormal is shifted up until bit 52 is set.
        let zeros = self.clz64(fraction);
        let u32_ = self.ty(Type::U32);
        let shift = self.op2(S::ISub, u32_, zeros, c11);
        let shifted = self.shift(S::ShiftLeftLogical, t.u64_, fraction, shift);
        let zeros = self.op1(S::Bitcast, t.i32_, zeros);
        let lifted = self.op2(S::ISub, t.i32_, c12, zeros);
        let implicit = self.u64(1 << 52);
        let normal = self.op2(S::BitwiseOr, t.u64_, fraction, implicit);
        let mantissa = self.op3(S::Select, t.u64_, subnormal, shifted, normal);
        let exponent = self.op3(S::Select, t.i32_, subnormal, lifted, biased);
        let one = self.u32(1);
        let mantissa = self.op2(S::ShiftLeftLogical, t.u64_, mantissa, one);
        let magnitude = self.op2(S::ShiftLeftLogical, t.u64_, bits, one);
        let none = self.u64(0);
        let zero = self.op2(S::IEqual, t.bool_, magnitude, none);
        let c2047 = self.i32(2047);
        let special = self.op2(S::IEqual, t.bool_, biased, c2047);
        Parts {
            bits,
            exponent,
            mantissa,
            zero,
            special,
        }
    }

    fn i32(&mut self, value: i32) -> u32 {
        self.constant(Type::I32, u64::from(value.cast_unsigned()))
    }

    /// A shift by an amount (`u32` or `i32`) modulo 64.
    fn shift(&mut self, op: S, ty: u32, value: u32, amount: u32) -> u32 {
        let (u32_, mask) = (self.ty(Type::U32), self.u32(63));
        let amount = self.op2(S::BitwiseAnd, u32_, amount, mask);
        self.op2(op, ty, value, amount)
    }

    /// A shift by 64 − n, for n modulo 64; by 64 for n = 0.
    fn shift_rest(&mut self, op: S, ty: u32, value: u32, n: u32) -> u32 {
        let (u32_, mask, one) = (self.ty(Type::U32), self.u32(63), self.u32(1));
        let n = self.op2(S::BitwiseAnd, u32_, n, mask);
        let rest = self.op2(S::BitwiseXor, u32_, n, mask);
        let value = self.op2(op, ty, value, one);
        self.op2(op, ty, value, rest)
    }

    /// 1 where `value` is not 0.
    fn sticky(&mut self, t: Types, value: u32) -> u32 {
        let (zero, one) = (self.u64(0), self.u64(1));
        let some = self.op2(S::INotEqual, t.bool_, value, zero);
        self.op3(S::Select, t.u64_, some, one, zero)
    }

    /// Writes the function that the calls name: an f64 `fma` by integers, right for every input. The method is musl's
    /// `fma`, with the last rounding done on the integers too.
    pub(super) fn write_fma64(&mut self) {
        let t = Types {
            bool_: self.ty(Type::BOOL),
            i32_: self.ty(Type::I32),
            u64_: self.ty(Type::U64),
            f64_: self.ty(Type::F64),
        };
        let ty = self.function_of_three(t.f64_);
        let function = self.fma64;
        self.locals
            .put([head(S::Function, 5), t.f64_, function, 0, ty]);
        let [x, y, z, label] = core::array::from_fn(|_| self.id());
        for parameter in [x, y, z] {
            self.locals
                .put([head(S::FunctionParameter, 3), t.f64_, parameter]);
        }
        self.locals.put([head(S::Label, 2), label]);

        let (px, py, pz) = (
            self.take_apart(t, x),
            self.take_apart(t, y),
            self.take_apart(t, z),
        );
        let finite = self.fma64_finite(t, &px, &py, &pz);
        // Zeros, infinities and NaNs: the plain operations are exact, or make what is wanted.
        let product = self.exact2(S::FMul, t.f64_, x, y);
        let sum = self.exact2(S::FAdd, t.f64_, product, z);
        let result = self.op3(S::Select, t.f64_, pz.special, z, finite);
        let result = self.op3(S::Select, t.f64_, pz.zero, product, result);
        let mut plain = px.zero;
        for other in [px.special, py.zero, py.special] {
            plain = self.op2(S::LogicalOr, t.bool_, plain, other);
        }
        let result = self.op3(S::Select, t.f64_, plain, sum, result);
        self.body.put([head(S::ReturnValue, 2), result]);
        self.end_function();
    }

    fn function_of_three(&mut self, ty: u32) -> u32 {
        // Asked for once a module.
        let id = self.id();
        self.globals
            .put([head(S::TypeFunction, 6), id, ty, ty, ty, ty]);
        id
    }

    /// x × y + z of finite numbers that are not zero; of others, anything.
    fn fma64_finite(&mut self, t: Types, x: &Parts, y: &Parts, z: &Parts) -> u32 {
        let Types {
            bool_, i32_, u64_, ..
        } = t;
        let zero = self.u64(0);
        let pair = self.pair(u64_);
        let product = self.op2(S::UMulExtended, pair, x.mantissa, y.mantissa);
        let low = self.op2(S::CompositeExtract, u64_, product, 0);
        let high = self.op2(S::CompositeExtract, u64_, product, 1);
        // Exponents of the units: x + y − 2152 for the product, z − 1076 for z; how far z lies above.
        let exponents = self.op2(S::IAdd, i32_, x.exponent, y.exponent);
        let (c1076, c2152) = (self.i32(1076), self.i32(2152));
        let product_exponent = self.op2(S::ISub, i32_, exponents, c2152);
        let above = self.op2(S::ISub, i32_, z.exponent, exponents);
        let above = self.op2(S::IAdd, i32_, above, c1076);
        let (c0, c64) = (self.i32(0), self.i32(64));
        let up = self.op2(S::SGreaterThan, bool_, above, c0);
        let far = self.op2(S::SGreaterThanEqual, bool_, above, c64);

        // z in units of the product: shifted up, or down with what is lost or'ed into the last bit.
        let left_low = self.shift(S::ShiftLeftLogical, u64_, z.mantissa, above);
        let left_high = self.shift_rest(S::ShiftRightLogical, u64_, z.mantissa, above);
        let below = self.op1(S::SNegate, i32_, above);
        let right = self.shift(S::ShiftRightLogical, u64_, z.mantissa, below);
        let lost = self.shift_rest(S::ShiftLeftLogical, u64_, z.mantissa, below);
        let lost = self.sticky(t, lost);
        let right = self.op2(S::BitwiseOr, u64_, right, lost);
        let far_below = self.op2(S::SGreaterThanEqual, bool_, below, c64);
        let one = self.u64(1);
        let right = self.op3(S::Select, u64_, far_below, one, right);
        let left_low = self.op3(S::Select, u64_, far, zero, left_low);
        let left_high = self.op3(S::Select, u64_, far, z.mantissa, left_high);
        let z_low = self.op3(S::Select, u64_, up, left_low, right);
        let z_high = self.op3(S::Select, u64_, up, left_high, zero);

        // Where z lies 64 bits and more above, it stands in the upper word and the product is shifted down.
        let down = self.op2(S::ISub, i32_, above, c64);
        let gone = self.op2(S::SGreaterThanEqual, bool_, down, c64);
        let lost = self.shift_rest(S::ShiftLeftLogical, u64_, low, down);
        let lost = self.sticky(t, lost);
        let from_high = self.shift_rest(S::ShiftLeftLogical, u64_, high, down);
        let kept = self.shift(S::ShiftRightLogical, u64_, low, down);
        let kept = self.op2(S::BitwiseOr, u64_, kept, from_high);
        let kept = self.op2(S::BitwiseOr, u64_, kept, lost);
        let kept_high = self.shift(S::ShiftRightLogical, u64_, high, down);
        let kept = self.op3(S::Select, u64_, gone, one, kept);
        let kept_high = self.op3(S::Select, u64_, gone, zero, kept_high);
        let low = self.op3(S::Select, u64_, far, kept, low);
        let high = self.op3(S::Select, u64_, far, kept_high, high);
        let c1140 = self.i32(1140);
        let z_exponent = self.op2(S::ISub, i32_, z.exponent, c1140);
        let exponent = self.op3(S::Select, i32_, far, z_exponent, product_exponent);

        // The sum, or the difference with the sign of the greater.
        let c63 = self.u32(63);
        let signs = self.op2(S::BitwiseXor, u64_, x.bits, y.bits);
        let sign = self.op2(S::ShiftRightLogical, u64_, signs, c63);
        let z_sign = self.op2(S::ShiftRightLogical, u64_, z.bits, c63);
        let same = self.op2(S::IEqual, bool_, sign, z_sign);
        let sum_low = self.op2(S::IAdd, u64_, low, z_low);
        let carries = self.op2(S::ULessThan, bool_, sum_low, low);
        let carry = self.op3(S::Select, u64_, carries, one, zero);
        let sum_high = self.op2(S::IAdd, u64_, high, z_high);
        let sum_high = self.op2(S::IAdd, u64_, sum_high, carry);
        let borrows = self.op2(S::ULessThan, bool_, low, z_low);
        let borrow = self.op3(S::Select, u64_, borrows, one, zero);
        let low = self.op2(S::ISub, u64_, low, z_low);
        let high = self.op2(S::ISub, u64_, high, z_high);
        let high = self.op2(S::ISub, u64_, high, borrow);
        let negative = self.op2(S::ShiftRightLogical, u64_, high, c63);
        let turned = self.op2(S::INotEqual, bool_, negative, zero);
        let some = self.sticky(t, low);
        let minus_low = self.op1(S::SNegate, u64_, low);
        let minus_high = self.op1(S::SNegate, u64_, high);
        let minus_high = self.op2(S::ISub, u64_, minus_high, some);
        let low = self.op3(S::Select, u64_, turned, minus_low, low);
        let high = self.op3(S::Select, u64_, turned, minus_high, high);
        let turned_sign = self.op2(S::BitwiseXor, u64_, sign, negative);
        let sign = self.op3(S::Select, u64_, same, sign, turned_sign);
        let low = self.op3(S::Select, u64_, same, sum_low, low);
        let high = self.op3(S::Select, u64_, same, sum_high, high);
        self.round64(t, [sign, exponent, low, high])
    }

    /// The f64 nearest to ± (high:low) × 2^exponent, the even one of two; +0 for 0.
    fn round64(&mut self, t: Types, [sign, exponent, low, high]: [u32; 4]) -> u32 {
        let Types {
            bool_,
            i32_,
            u64_,
            f64_,
        } = t;
        let (zero, one) = (self.u64(0), self.u64(1));
        let (c0, c1, c64) = (self.i32(0), self.i32(1), self.i32(64));
        // The top word, shifted so that bit 62 is its highest; what falls out is or'ed into its last bit.
        let small = self.op2(S::IEqual, bool_, high, zero);
        let top = self.op3(S::Select, u64_, small, low, high);
        let rest = self.op3(S::Select, u64_, small, zero, low);
        let raised = self.op2(S::IAdd, i32_, exponent, c64);
        let exponent = self.op3(S::Select, i32_, small, exponent, raised);
        let zeros = self.clz64(top);
        let zeros = self.op1(S::Bitcast, i32_, zeros);
        let shift = self.op2(S::ISub, i32_, zeros, c1);
        let left = self.shift(S::ShiftLeftLogical, u64_, top, shift);
        let below = self.shift_rest(S::ShiftRightLogical, u64_, rest, shift);
        let lost = self.shift(S::ShiftLeftLogical, u64_, rest, shift);
        let lost = self.sticky(t, lost);
        let left = self.op2(S::BitwiseOr, u64_, left, below);
        let left = self.op2(S::BitwiseOr, u64_, left, lost);
        let one_bit = self.u32(1);
        let right = self.op2(S::ShiftRightLogical, u64_, top, one_bit);
        let last = self.op2(S::BitwiseAnd, u64_, top, one);
        let right = self.op2(S::BitwiseOr, u64_, right, last);
        let full = self.op2(S::SLessThan, bool_, shift, c0);
        let value = self.op3(S::Select, u64_, full, right, left);
        let exponent = self.op2(S::ISub, i32_, exponent, shift);

        // 62 and the bias: the exponent field of a normal result. Below 1 more bits are rounded off.
        let c1085 = self.i32(1085);
        let biased = self.op2(S::IAdd, i32_, exponent, c1085);
        let missing = self.op2(S::ISub, i32_, c1, biased);
        let missing = self.ext2(Gl::SMax, i32_, missing, c0);
        let (c10, c63) = (self.i32(10), self.i32(63));
        let shift = self.op2(S::IAdd, i32_, missing, c10);
        // Past 63 less than half of the least subnormal is left.
        let gone = self.op2(S::SGreaterThan, bool_, shift, c63);
        let shift = self.ext2(Gl::SMin, i32_, shift, c63);
        let below = self.op2(S::ISub, i32_, shift, c1);
        let half = self.op2(S::ShiftLeftLogical, u64_, one, below);
        let almost = self.op2(S::ISub, u64_, half, one);
        let odd = self.op2(S::ShiftRightLogical, u64_, value, shift);
        let odd = self.op2(S::BitwiseAnd, u64_, odd, one);
        let rounded = self.op2(S::IAdd, u64_, value, almost);
        let rounded = self.op2(S::IAdd, u64_, rounded, odd);
        let rounded = self.op2(S::ShiftRightLogical, u64_, rounded, shift);
        let rounded = self.op3(S::Select, u64_, gone, zero, rounded);
        // The mantissa brings its leading bit, which adds 1 to the exponent field; overflow ends at infinity.
        let c2047 = self.i32(2047);
        let biased = self.ext2(Gl::SMax, i32_, biased, c1);
        let biased = self.ext2(Gl::SMin, i32_, biased, c2047);
        let field = self.op2(S::ISub, i32_, biased, c1);
        let field = self.op1(S::SConvert, u64_, field);
        let (c52, c63) = (self.u32(52), self.u32(63));
        let field = self.op2(S::ShiftLeftLogical, u64_, field, c52);
        let bits = self.op2(S::IAdd, u64_, field, rounded);
        let infinity = self.u64(0x7FF << 52);
        let bits = self.ext2(Gl::UMin, u64_, bits, infinity);
        let sign = self.op2(S::ShiftLeftLogical, u64_, sign, c63);
        let bits = self.op2(S::BitwiseOr, u64_, bits, sign);
        let all = self.op2(S::BitwiseOr, u64_, low, high);
        let nothing = self.op2(S::IEqual, bool_, all, zero);
        let bits = self.op3(S::Select, u64_, nothing, zero, bits);
        self.op1(S::Bitcast, f64_, bits)
    }
}
