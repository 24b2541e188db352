//! Values from values: built-ins, arithmetic, bits, comparisons, conversions.

use super::{KernelBuilder, append};
use crate::kernel::{Inst, Place, Scalar, Value};
use crate::op::{Effect, Makes, OnValues, Op, Operand, Want};
use crate::types::Type;
use crate::verify::FaultKind;

impl KernelBuilder {
    #[inline(never)]
    fn nullary(&mut self, op: Op, axis: u8) -> Value {
        let at = self.draft.insts.len();
        let step = self.verifier.check.step_built_in(at, op, axis);
        match append(&mut self.draft, self.stamp, step, op, axis, [0; 3]) {
            Some(made) => made,
            None => self.push_pieces(op, Type::U32, axis, [0; 3]),
        }
    }

    #[inline(never)]
    pub(super) fn unary(&mut self, op: OnValues, a: Value) -> Value {
        self.values(op, [a], [Want::T], Makes::T)
    }

    /// Both operands are of one type.
    #[inline(never)]
    pub(super) fn binary(&mut self, op: OnValues, a: Value, b: Value) -> Value {
        self.binary_here(op, a, b)
    }

    /// The same in the caller, for the commonest arithmetic: where one instruction waits for the last, as in straight
    /// kernels, that takes a quarter less time.
    #[inline(always)]
    fn binary_here(&mut self, op: OnValues, a: Value, b: Value) -> Value {
        self.values(op, [a, b], [Want::T; 2], Makes::T)
    }

    /// Both operands are of one type, and what is made is a `bool`.
    #[inline(never)]
    fn compared(&mut self, op: OnValues, a: Value, b: Value) -> Value {
        self.values(op, [a, b], [Want::T; 2], Makes::Bool)
    }

    /// The second operand is a `u32`.
    #[inline(never)]
    pub(super) fn shifted(&mut self, op: OnValues, a: Value, amount: Value) -> Value {
        self.values(op, [a, amount], [Want::T, Want::U32], Makes::T)
    }

    /// All operands are of one type.
    #[inline(never)]
    pub(super) fn ternary(&mut self, op: OnValues, a: Value, b: Value, c: Value) -> Value {
        self.ternary_here(op, a, b, c)
    }

    /// As [`KernelBuilder::binary_here`].
    #[inline(always)]
    fn ternary_here(&mut self, op: OnValues, a: Value, b: Value, c: Value) -> Value {
        self.values(op, [a, b, c], [Want::T; 3], Makes::T)
    }

    pub(super) fn converted(&mut self, op: Op, a: Value, ty: Type) -> Value {
        let Some(a) = self.operand(op, a) else {
            return self.refused();
        };
        self.push(Inst {
            op,
            ty,
            flags: 0,
            a,
            b: 0,
            c: 0,
        })
    }

    /// Any opcode whose operands are all values and whose result follows from them: arithmetic, bits, comparisons,
    /// `select`, functions of floats, `assume_uniform`. What the named methods do, for callers that hold an [`Op`].
    ///
    /// Another opcode (one with memory, a block, or a type to convert to) or a wrong number of operands is a fault.
    ///
    /// ```
    /// # use kernite::{builder::KernelBuilder, op::Op, types::Type};
    /// let mut b = KernelBuilder::new("k", [1, 1, 1]);
    /// let x = b.constant(2.0f32);
    /// let y = b.apply(Op::Fma, &[x, x, x]);
    /// assert_eq!(b.type_of(y), Type::F32);
    /// ```
    pub fn apply(&mut self, op: Op, operands: &[Value]) -> Value {
        let row = op.row();
        let by_value = |o: &Operand| matches!(o, Operand::T | Operand::Bool | Operand::U32);
        // A result typed by nothing among the operands needs a method of its own.
        let inferred = row.makes != Makes::T || row.operands.contains(&Operand::T);
        let values = row.effect == Effect::Pure && row.operands.iter().all(by_value);
        if !values || !inferred || row.operands.len() != operands.len() || operands.is_empty() {
            self.fault(
                op,
                FaultKind::Apply {
                    op,
                    operands: operands.len(),
                },
            );
            return self.refused();
        }
        let Some(words) = self.operands(op, operands) else {
            return self.refused();
        };
        let first_t = row
            .operands
            .iter()
            .position(|o| *o == Operand::T)
            .unwrap_or(0);
        let ty = row
            .makes
            .of(words.get(first_t).map_or(Type::NONE, |&w| self.ty(w)));
        let [a, b, c, d] = words;
        match operands.len() {
            4 => self.push_side(
                Inst {
                    op,
                    ty,
                    flags: 0,
                    a,
                    b,
                    c: 0,
                },
                [c, d],
            ),
            _ => self.push(Inst {
                op,
                ty,
                flags: 0,
                a,
                b,
                c,
            }),
        }
    }

    /// The value of a scalar parameter.
    #[inline(never)]
    pub fn param(&mut self, scalar: Scalar) -> Value {
        let (at, place) = (self.draft.insts.len(), scalar.place(self.stamp));
        let step = self.verifier.check.step_param(&self.draft, at, place);
        let words = [place.word(), 0, 0];
        match append(&mut self.draft, self.stamp, step, Op::Param, 0, words) {
            Some(made) => made,
            None => self.param_in_doubt(place),
        }
    }

    #[cold]
    #[inline(never)]
    fn param_in_doubt(&mut self, place: Place) -> Value {
        let scalar = Scalar::at(place, self.stamp);
        if scalar.stamp() != self.stamp {
            self.foreign(Op::Param, scalar);
            return self.refused();
        }
        let ty = self
            .draft
            .scalars
            .get(scalar.index() as usize)
            .map_or(Type::NONE, |d| d.ty);
        self.push(Inst {
            a: scalar.index(),
            ..Inst::new(Op::Param, ty)
        })
    }

    /// The thread's place in the grid along an axis: `workgroup_id * workgroup_size + local_id`, wrapping. A `u32`; `axis` is 0, 1 or 2 for x, y, z.
    #[inline]
    pub fn global_id(&mut self, axis: u8) -> Value {
        self.nullary(Op::GlobalId, axis)
    }

    /// The thread's place in its workgroup along an axis. A `u32`; `axis` is 0, 1 or 2 for x, y, z.
    #[inline]
    pub fn local_id(&mut self, axis: u8) -> Value {
        self.nullary(Op::LocalId, axis)
    }

    /// The workgroup's place in the grid along an axis. A `u32`; `axis` is 0, 1 or 2 for x, y, z.
    #[inline]
    pub fn workgroup_id(&mut self, axis: u8) -> Value {
        self.nullary(Op::WorkgroupId, axis)
    }

    /// The number of threads in a workgroup along an axis. A `u32`; `axis` is 0, 1 or 2 for x, y, z.
    #[inline]
    pub fn workgroup_size(&mut self, axis: u8) -> Value {
        self.nullary(Op::WorkgroupSize, axis)
    }

    /// The number of workgroups in the grid along an axis. A `u32`; `axis` is 0, 1 or 2 for x, y, z.
    #[inline]
    pub fn num_workgroups(&mut self, axis: u8) -> Value {
        self.nullary(Op::NumWorkgroups, axis)
    }

    /// The number of threads in the grid along an axis, wrapping. A `u32`; `axis` is 0, 1 or 2 for x, y, z.
    #[inline]
    pub fn global_size(&mut self, axis: u8) -> Value {
        self.nullary(Op::GlobalSize, axis)
    }

    /// The thread's linear place in its workgroup, `x + size_x * (y + size_y * z)`: a `u32`.
    pub fn local_index(&mut self) -> Value {
        self.nullary(Op::LocalIndex, 0)
    }

    /// The number of lanes in a subgroup: a `u32`. The kernel then needs full subgroups.
    pub fn subgroup_size(&mut self) -> Value {
        self.nullary(Op::SubgroupSize, 0)
    }

    /// The thread's place in its subgroup: a `u32`. The kernel then needs full subgroups.
    pub fn lane(&mut self) -> Value {
        self.nullary(Op::Lane, 0)
    }

    /// The subgroup's place in its workgroup: a `u32`. The kernel then needs full subgroups.
    pub fn subgroup_id(&mut self) -> Value {
        self.nullary(Op::SubgroupId, 0)
    }

    /// Its operand, promised to be the same in every thread of the workgroup. The reference executor checks the promise; a kernel that makes it has no safe launch.
    #[inline]
    pub fn assume_uniform(&mut self, a: Value) -> Value {
        self.any_values(Op::AssumeUniform, a, a, a)
    }

    /// `a + b`. Integers wrap; floats round to nearest even and are never contracted unless the kernel asks for it.
    #[inline]
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary_here(const { Op::Add.on_values() }, a, b)
    }

    /// `a - b`, as [`KernelBuilder::add`].
    #[inline]
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.binary_here(const { Op::Sub.on_values() }, a, b)
    }

    /// `a * b`; integers keep the low half.
    #[inline]
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary_here(const { Op::Mul.on_values() }, a, b)
    }

    /// The high half of the double-width product of two integers.
    #[inline]
    pub fn mul_hi(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::MulHi.on_values() }, a, b)
    }

    /// `a / b`. Integers: towards zero, `x / 0 = x`, `MIN / -1 = MIN`. Floats: rounded to nearest even.
    #[inline]
    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::Div.on_values() }, a, b)
    }

    /// The remainder of `a / b` with the sign of `a`: `x % 0 = 0`, `MIN % -1 = 0`.
    #[inline]
    pub fn rem(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::Rem.on_values() }, a, b)
    }

    /// `-a`. Integers wrap; floats flip the sign, of zero too, and a NaN stays some NaN.
    #[inline]
    pub fn neg(&mut self, a: Value) -> Value {
        self.unary(const { Op::Neg.on_values() }, a)
    }

    /// The magnitude. `abs(MIN) = MIN`; a NaN stays some NaN.
    #[inline]
    pub fn abs(&mut self, a: Value) -> Value {
        self.unary(const { Op::Abs.on_values() }, a)
    }

    /// The lesser one. Of floats the other operand when one is NaN, and −0.0 below +0.0.
    #[inline]
    pub fn min(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::Min.on_values() }, a, b)
    }

    /// The greater one. Of floats the other operand when one is NaN, and −0.0 below +0.0.
    #[inline]
    pub fn max(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::Max.on_values() }, a, b)
    }

    /// The lesser of two floats, NaN when either is NaN.
    #[inline]
    pub fn min_nan(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::MinNan.on_values() }, a, b)
    }

    /// The greater of two floats, NaN when either is NaN.
    #[inline]
    pub fn max_nan(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::MaxNan.on_values() }, a, b)
    }

    /// `min(max(x, low), high)`.
    #[inline]
    pub fn clamp(&mut self, x: Value, low: Value, high: Value) -> Value {
        self.ternary(const { Op::Clamp.on_values() }, x, low, high)
    }

    /// `a * b + c` with two roundings for floats; integers wrap.
    #[inline]
    pub fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.ternary_here(const { Op::MulAdd.on_values() }, a, b, c)
    }

    /// `a * b + c` of floats with one rounding.
    #[inline]
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.ternary_here(const { Op::Fma.on_values() }, a, b, c)
    }

    /// Bitwise and; of bools logical, both operands evaluated.
    #[inline]
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::And.on_values() }, a, b)
    }

    /// Bitwise or; of bools logical, both operands evaluated.
    #[inline]
    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::Or.on_values() }, a, b)
    }

    /// Bitwise exclusive or; of bools logical.
    #[inline]
    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        self.binary(const { Op::Xor.on_values() }, a, b)
    }

    /// Every bit flipped; of bools the negation.
    #[inline]
    pub fn not(&mut self, a: Value) -> Value {
        self.unary(const { Op::Not.on_values() }, a)
    }

    /// `a` shifted left by `amount` (a `u32`, taken modulo the width).
    #[inline]
    pub fn shl(&mut self, a: Value, amount: Value) -> Value {
        self.shifted(const { Op::Shl.on_values() }, a, amount)
    }

    /// `a` shifted right by `amount` (a `u32`, taken modulo the width); signed types keep the sign.
    #[inline]
    pub fn shr(&mut self, a: Value, amount: Value) -> Value {
        self.shifted(const { Op::Shr.on_values() }, a, amount)
    }

    /// `a` rotated left by `amount` (a `u32`, taken modulo the width).
    #[inline]
    pub fn rotate_left(&mut self, a: Value, amount: Value) -> Value {
        self.shifted(const { Op::RotateLeft.on_values() }, a, amount)
    }

    /// `a` rotated right by `amount` (a `u32`, taken modulo the width).
    #[inline]
    pub fn rotate_right(&mut self, a: Value, amount: Value) -> Value {
        self.shifted(const { Op::RotateRight.on_values() }, a, amount)
    }

    /// The number of leading zero bits, a `u32`; of 0 the width.
    #[inline]
    pub fn clz(&mut self, a: Value) -> Value {
        self.any_values(Op::Clz, a, a, a)
    }

    /// The number of trailing zero bits, a `u32`; of 0 the width.
    #[inline]
    pub fn ctz(&mut self, a: Value) -> Value {
        self.any_values(Op::Ctz, a, a, a)
    }

    /// The number of one bits, a `u32`.
    #[inline]
    pub fn popcount(&mut self, a: Value) -> Value {
        self.any_values(Op::Popcount, a, a, a)
    }

    /// The bits in reverse order.
    #[inline]
    pub fn reverse_bits(&mut self, a: Value) -> Value {
        self.unary(const { Op::ReverseBits.on_values() }, a)
    }

    /// The `count` bits of `a` from bit `offset` up, sign-extended for signed types. With W the width, `offset` counts as `min(offset, W)` and `count` as `min(count, W - offset)`.
    #[inline]
    pub fn bitfield_extract(&mut self, a: Value, offset: Value, count: Value) -> Value {
        self.any_values(Op::BitfieldExtract, a, offset, count)
    }

    /// `a` with the `count` bits from bit `offset` up replaced by the low bits of `b`; bounds as in
    /// [`KernelBuilder::bitfield_extract`].
    pub fn bitfield_insert(&mut self, a: Value, b: Value, offset: Value, count: Value) -> Value {
        let op = Op::BitfieldInsert;
        let operands = (
            self.operand(op, a),
            self.operand(op, b),
            self.operand(op, offset),
            self.operand(op, count),
        );
        let (Some(a), Some(b), Some(offset), Some(count)) = operands else {
            return self.refused();
        };
        let ty = self.ty(a);
        self.push_side(
            Inst {
                op,
                ty,
                flags: 0,
                a,
                b,
                c: 0,
            },
            [offset, count],
        )
    }

    /// The high half of `high:low` shifted left by `amount` (a `u32`, taken modulo the width).
    #[inline]
    pub fn funnel_shl(&mut self, high: Value, low: Value, amount: Value) -> Value {
        self.any_values(Op::FunnelShl, high, low, amount)
    }

    /// The low half of `high:low` shifted right by `amount` (a `u32`, taken modulo the width).
    #[inline]
    pub fn funnel_shr(&mut self, high: Value, low: Value, amount: Value) -> Value {
        self.any_values(Op::FunnelShr, high, low, amount)
    }

    /// Whether `a` equals `b`; false when either is NaN.
    #[inline]
    pub fn eq(&mut self, a: Value, b: Value) -> Value {
        self.compared(const { Op::Eq.on_values() }, a, b)
    }

    /// Whether `a` differs from `b`; true when either is NaN.
    #[inline]
    pub fn ne(&mut self, a: Value, b: Value) -> Value {
        self.compared(const { Op::Ne.on_values() }, a, b)
    }

    /// Whether `a < b`; false when either is NaN.
    #[inline]
    pub fn lt(&mut self, a: Value, b: Value) -> Value {
        self.compared(const { Op::Lt.on_values() }, a, b)
    }

    /// Whether `a <= b`; false when either is NaN.
    #[inline]
    pub fn le(&mut self, a: Value, b: Value) -> Value {
        self.compared(const { Op::Le.on_values() }, a, b)
    }

    /// Whether `a > b`; false when either is NaN.
    #[inline]
    pub fn gt(&mut self, a: Value, b: Value) -> Value {
        self.compared(const { Op::Gt.on_values() }, a, b)
    }

    /// Whether `a >= b`; false when either is NaN.
    #[inline]
    pub fn ge(&mut self, a: Value, b: Value) -> Value {
        self.compared(const { Op::Ge.on_values() }, a, b)
    }

    /// `yes` where `condition` (a `bool`) is true, `no` where it is false. Both are evaluated; bits are kept.
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.values(
            const { Op::Select.on_values() },
            [condition, yes, no],
            [Want::Bool, Want::T, Want::T],
            Makes::T,
        )
    }

    /// The value of `a` as a `ty`, defined for every input: integers keep the low bits and extend by the source's sign,
    /// to floats round to nearest even, floats to integers truncate, saturate and map NaN to 0, `bool` is 0 or 1, and
    /// to `bool` everything but zero is true.
    pub fn convert(&mut self, a: Value, ty: impl Into<Type>) -> Value {
        self.converted(Op::Convert, a, ty.into())
    }

    /// The bits of `a` as a `ty` of the same width.
    pub fn bitcast(&mut self, a: Value, ty: impl Into<Type>) -> Value {
        self.converted(Op::Bitcast, a, ty.into())
    }

    /// The square root, rounded to nearest even; NaN below zero, −0.0 of −0.0.
    #[inline]
    pub fn sqrt(&mut self, a: Value) -> Value {
        self.unary(const { Op::Sqrt.on_values() }, a)
    }

    /// `1 / sqrt(a)`; infinite with its sign of zeros, NaN below. Precise: the bounds are in docs/accuracy.md.
    #[inline]
    pub fn rsqrt(&mut self, a: Value) -> Value {
        self.unary(const { Op::Rsqrt.on_values() }, a)
    }

    /// `1 / a`, rounded to nearest even.
    #[inline]
    pub fn rcp(&mut self, a: Value) -> Value {
        self.unary(const { Op::Rcp.on_values() }, a)
    }

    /// The greatest integer not above `a`.
    #[inline]
    pub fn floor(&mut self, a: Value) -> Value {
        self.unary(const { Op::Floor.on_values() }, a)
    }

    /// The least integer not below `a`.
    #[inline]
    pub fn ceil(&mut self, a: Value) -> Value {
        self.unary(const { Op::Ceil.on_values() }, a)
    }

    /// `a` without its fraction.
    #[inline]
    pub fn trunc(&mut self, a: Value) -> Value {
        self.unary(const { Op::Trunc.on_values() }, a)
    }

    /// The nearest integer, the even one of two.
    #[inline]
    pub fn round_even(&mut self, a: Value) -> Value {
        self.unary(const { Op::RoundEven.on_values() }, a)
    }
}
