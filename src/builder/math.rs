//! Functions of floats, saturating and packed arithmetic, vectors.

use super::KernelBuilder;
use crate::kernel::{Inst, Value};
use crate::op::Op;
use crate::types::Type;
use crate::verify::FaultKind;

impl KernelBuilder {
    /// `a + b` of integers, kept between the type's least and greatest value.
    #[inline]
    pub fn add_sat(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::AddSat.on_values() }, a, b)
    }

    /// `a - b` of integers, kept between the type's least and greatest value.
    #[inline]
    pub fn sub_sat(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::SubSat.on_values() }, a, b)
    }

    /// `c` plus the sum of the products of the four bytes of `a` and `b` (both `u32`). The bytes are signed where `c` is an
    /// `i32` and unsigned where it is a `u32`; the sum wraps.
    pub fn dot4_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.apply(Op::Dot4Add, &[a, b, c])
    }

    /// Two `f16`s or `bf16`s in one `u32`: `low` in bits 0 to 15, `high` above.
    #[inline]
    pub fn pack(&mut self, low: Value, high: Value) -> Value {
        self.any_values(Op::Pack, low, high, high)
    }

    /// The 16-bit float of type `ty` (`f16` or `bf16`) in bits 0 to 15 of the `u32` `a`.
    pub fn unpack_low(&mut self, a: Value, ty: impl Into<Type>) -> Value {
        self.converted(Op::Unpack, a, ty.into())
    }

    /// The 16-bit float of type `ty` (`f16` or `bf16`) in bits 16 to 31 of the `u32` `a`.
    pub fn unpack_high(&mut self, a: Value, ty: impl Into<Type>) -> Value {
        let Some(a) = self.operand(Op::Unpack, a) else {
            return self.refused();
        };
        self.push(Inst {
            a,
            flags: Inst::HIGH,
            ..Inst::new(Op::Unpack, ty.into())
        })
    }

    /// A vector of the scalars given, which are of one type: 2 or 4 of them.
    pub fn construct(&mut self, elements: &[Value]) -> Value {
        let op = if elements.len() == 2 {
            Op::Construct2
        } else {
            Op::Construct4
        };
        if !matches!(elements.len(), 2 | 4) {
            self.fault(
                op,
                FaultKind::Apply {
                    op,
                    operands: elements.len(),
                },
            );
            return self.refused();
        }
        let Some(words) = self.operands(op, elements) else {
            return self.refused();
        };
        let [a, b, c, d] = words;
        let scalar = self.ty(a).scalar().filter(|_| self.ty(a).lanes() == 1);
        let ty = scalar
            .and_then(|s| Type::vector(s, elements.len() as u32))
            .unwrap_or(Type::NONE);
        let inst = Inst {
            op,
            ty,
            flags: 0,
            a,
            b,
            c: 0,
        };
        if op == Op::Construct2 {
            self.push(inst)
        } else {
            self.push_side(inst, [c, d])
        }
    }

    /// The element `lane` (a constant below 2 or 4) of a vector.
    pub fn extract(&mut self, vector: Value, lane: u8) -> Value {
        let Some(a) = self.operand(Op::Extract, vector) else {
            return self.refused();
        };
        let ty = self.ty(a).scalar().map_or(Type::NONE, Type::of);
        self.push(Inst {
            a,
            flags: lane,
            ..Inst::new(Op::Extract, ty)
        })
    }

    /// A function of floats by the hardware's approximation; `op` has the flag.
    fn approximate(&mut self, op: Op, operands: &[Value]) -> Value {
        let Some(words) = self.operands(op, operands) else {
            return self.refused();
        };
        let [a, b, c, _] = words;
        let ty = self.ty(a);
        self.push(Inst {
            op,
            ty,
            flags: Inst::FAST,
            a,
            b,
            c,
        })
    }

    /// e to the power of `a`. Precise: the bounds are in docs/accuracy.md.
    #[inline]
    pub fn exp(&mut self, a: Value) -> Value {
        self.unary(const { Op::Exp.on_values() }, a)
    }

    /// As [`KernelBuilder::exp`] by the hardware's approximation, which has no bound that all targets share; f64 and what no hardware has take the precise form.
    pub fn exp_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Exp, &[a])
    }

    /// 2 to the power of `a`. Precise: the bounds are in docs/accuracy.md.
    #[inline]
    pub fn exp2(&mut self, a: Value) -> Value {
        self.unary(const { Op::Exp2.on_values() }, a)
    }

    /// As [`KernelBuilder::exp2`] by the hardware's approximation, which has no bound that all targets share; f64 and what no hardware has take the precise form.
    pub fn exp2_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Exp2, &[a])
    }

    /// The natural logarithm. Precise: the bounds are in docs/accuracy.md.
    #[inline]
    pub fn log(&mut self, a: Value) -> Value {
        self.unary(const { Op::Log.on_values() }, a)
    }

    /// As [`KernelBuilder::log`] by the hardware's approximation, which has no bound that all targets share; f64 and what no hardware has take the precise form.
    pub fn log_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Log, &[a])
    }

    /// The logarithm to base 2. Precise: the bounds are in docs/accuracy.md.
    #[inline]
    pub fn log2(&mut self, a: Value) -> Value {
        self.unary(const { Op::Log2.on_values() }, a)
    }

    /// As [`KernelBuilder::log2`] by the hardware's approximation, which has no bound that all targets share; f64 and what no hardware has take the precise form.
    pub fn log2_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Log2, &[a])
    }

    /// The sine of `a` in radians, reduced for every finite argument. Precise: the bounds are in docs/accuracy.md.
    #[inline]
    pub fn sin(&mut self, a: Value) -> Value {
        self.unary(const { Op::Sin.on_values() }, a)
    }

    /// As [`KernelBuilder::sin`] by the hardware's approximation, which has no bound that all targets share; f64 and what no hardware has take the precise form.
    pub fn sin_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Sin, &[a])
    }

    /// The cosine of `a` in radians, reduced for every finite argument. Precise: the bounds are in docs/accuracy.md.
    #[inline]
    pub fn cos(&mut self, a: Value) -> Value {
        self.unary(const { Op::Cos.on_values() }, a)
    }

    /// As [`KernelBuilder::cos`] by the hardware's approximation, which has no bound that all targets share; f64 and what no hardware has take the precise form.
    pub fn cos_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Cos, &[a])
    }

    /// The tangent of `a` in radians, reduced for every finite argument. Precise: the bounds are in docs/accuracy.md.
    #[inline]
    pub fn tan(&mut self, a: Value) -> Value {
        self.unary(const { Op::Tan.on_values() }, a)
    }

    /// As [`KernelBuilder::tan`] by the hardware's approximation, which has no bound that all targets share; f64 and what no hardware has take the precise form.
    pub fn tan_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Tan, &[a])
    }

    /// The hyperbolic tangent. Precise: the bounds are in docs/accuracy.md.
    #[inline]
    pub fn tanh(&mut self, a: Value) -> Value {
        self.unary(const { Op::Tanh.on_values() }, a)
    }

    /// As [`KernelBuilder::tanh`] by the hardware's approximation, which has no bound that all targets share; f64 and what no hardware has take the precise form.
    pub fn tanh_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Tanh, &[a])
    }

    /// The error function. Precise: the bounds are in docs/accuracy.md.
    #[inline]
    pub fn erf(&mut self, a: Value) -> Value {
        self.unary(const { Op::Erf.on_values() }, a)
    }

    /// As [`KernelBuilder::erf`] by the hardware's approximation, which has no bound that all targets share; f64 and what no hardware has take the precise form.
    pub fn erf_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Erf, &[a])
    }

    /// `a` to the power of `b`, as IEEE 754 defines pow. Precise.
    #[inline]
    pub fn pow(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::Pow.on_values() }, a, b)
    }

    /// As [`KernelBuilder::pow`], by the hardware's `exp2(b * log2(a))`: wrong for negative `a`, and loses bits where the product is large.
    pub fn pow_fast(&mut self, a: Value, b: Value) -> Value {
        self.approximate(Op::Pow, &[a, b])
    }

    /// As [`KernelBuilder::div`] on floats, to about 2 ULP for f32 within the range that PTX gives for `div.full`.
    pub fn div_fast(&mut self, a: Value, b: Value) -> Value {
        self.approximate(Op::Div, &[a, b])
    }

    /// As [`KernelBuilder::sqrt`] by the hardware's approximation (about 1 to 2 ULP for f32; f64 is precise).
    pub fn sqrt_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Sqrt, &[a])
    }

    /// As [`KernelBuilder::rsqrt`] by the hardware's approximation (about 1 to 2 ULP for f32; f64 is precise).
    pub fn rsqrt_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Rsqrt, &[a])
    }

    /// As [`KernelBuilder::rcp`] by the hardware's approximation (about 1 to 2 ULP for f32; f64 is precise).
    pub fn rcp_fast(&mut self, a: Value) -> Value {
        self.approximate(Op::Rcp, &[a])
    }

    /// `a - floor(a)`, rounded: 1 for tiny negative numbers, NaN for infinities.
    #[inline]
    pub fn fract(&mut self, a: Value) -> Value {
        self.unary(const { Op::Fract.on_values() }, a)
    }

    /// `a` with the sign bit of `b`; every other bit stays, of NaNs too.
    #[inline]
    pub fn copysign(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::Copysign.on_values() }, a, b)
    }

    /// Whether `a` is NaN.
    #[inline]
    pub fn is_nan(&mut self, a: Value) -> Value {
        self.any_values(Op::IsNan, a, a, a)
    }

    /// Whether `a` is an infinity.
    #[inline]
    pub fn is_inf(&mut self, a: Value) -> Value {
        self.any_values(Op::IsInf, a, a, a)
    }
}
