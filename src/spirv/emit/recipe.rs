//! The recipes of [`crate::math`], written in place.

use super::body::Body;
use super::sections::head;
use crate::math::{self, Sink, Table, Width};
use crate::types::Type;
use spirv::{GlslStd450Op as Gl, Op as S, StorageClass};

/// The bits of a constant.
pub(super) trait Bits {
    fn constant_bits(self) -> u64;
}

impl Bits for f32 {
    fn constant_bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Bits for f64 {
    fn constant_bits(self) -> u64 {
        self.to_bits()
    }
}

/// Takes a recipe's operations; values are ids.
struct Recipe<'r, 'a> {
    body: &'r mut Body<'a>,
    /// f32 and u32, or f64 and u64, and their ids.
    float: Type,
    int: Type,
    f: u32,
    i: u32,
    b: u32,
}

impl Body<'_> {
    /// A function of one argument, f32 or f64.
    pub(super) fn recipe1(&mut self, function: math::Unary, ty: Type, x: u32) -> u32 {
        if ty == Type::F64 {
            math::unary::<f64, _>(function, &mut Recipe::new(self, ty, Type::U64), x)
        } else {
            math::unary::<f32, _>(function, &mut Recipe::new(self, ty, Type::U32), x)
        }
    }

    /// A function of two arguments.
    pub(super) fn recipe2(&mut self, function: math::Binary, ty: Type, x: u32, y: u32) -> u32 {
        if ty == Type::F64 {
            math::binary::<f64, _>(function, &mut Recipe::new(self, ty, Type::U64), x, y)
        } else {
            math::binary::<f32, _>(function, &mut Recipe::new(self, ty, Type::U32), x, y)
        }
    }
}

impl<'r, 'a> Recipe<'r, 'a> {
    fn new(body: &'r mut Body<'a>, float: Type, int: Type) -> Recipe<'r, 'a> {
        let (f, i, b) = (body.w.ty(float), body.w.ty(int), body.w.ty(Type::BOOL));
        Recipe {
            body,
            float,
            int,
            f,
            i,
            b,
        }
    }

    fn on_floats(&mut self, op: S, a: u32, b: u32) -> u32 {
        self.body.w.exact2(op, self.f, a, b)
    }

    fn on_ints(&mut self, op: S, a: u32, b: u32) -> u32 {
        self.body.w.op2(op, self.i, a, b)
    }

    fn compare(&mut self, op: S, a: u32, b: u32) -> u32 {
        self.body.w.op2(op, self.b, a, b)
    }
}

impl<W: Width + Bits> Sink<W> for Recipe<'_, '_> {
    type F = u32;
    type I = u32;
    type B = u32;

    fn float(&mut self, value: W) -> u32 {
        self.body.w.constant(self.float, value.constant_bits())
    }

    fn int(&mut self, value: u64) -> u32 {
        self.body.w.constant(self.int, value)
    }

    fn add(&mut self, a: u32, b: u32) -> u32 {
        self.on_floats(S::FAdd, a, b)
    }

    fn sub(&mut self, a: u32, b: u32) -> u32 {
        self.on_floats(S::FSub, a, b)
    }

    fn mul(&mut self, a: u32, b: u32) -> u32 {
        self.on_floats(S::FMul, a, b)
    }

    fn fma(&mut self, a: u32, b: u32, c: u32) -> u32 {
        self.body.fuse(self.float, [a, b, c])
    }

    fn neg(&mut self, a: u32) -> u32 {
        self.body.w.op1(S::FNegate, self.f, a)
    }

    fn abs(&mut self, a: u32) -> u32 {
        self.body.w.ext1(Gl::FAbs, self.f, a)
    }

    fn min(&mut self, a: u32, b: u32) -> u32 {
        self.body.w.ext2(Gl::NMin, self.f, a, b)
    }

    fn max(&mut self, a: u32, b: u32) -> u32 {
        self.body.w.ext2(Gl::NMax, self.f, a, b)
    }

    fn trunc(&mut self, a: u32) -> u32 {
        self.body.w.ext1(Gl::Trunc, self.f, a)
    }

    fn lt(&mut self, a: u32, b: u32) -> u32 {
        self.compare(S::FOrdLessThan, a, b)
    }

    fn le(&mut self, a: u32, b: u32) -> u32 {
        self.compare(S::FOrdLessThanEqual, a, b)
    }

    fn eq(&mut self, a: u32, b: u32) -> u32 {
        self.compare(S::FOrdEqual, a, b)
    }

    fn select(&mut self, condition: u32, a: u32, b: u32) -> u32 {
        self.body.w.op3(S::Select, self.f, condition, a, b)
    }

    fn select_int(&mut self, condition: u32, a: u32, b: u32) -> u32 {
        self.body.w.op3(S::Select, self.i, condition, a, b)
    }

    fn both(&mut self, a: u32, b: u32) -> u32 {
        self.compare(S::LogicalAnd, a, b)
    }

    fn either(&mut self, a: u32, b: u32) -> u32 {
        self.compare(S::LogicalOr, a, b)
    }

    fn to_bits(&mut self, a: u32) -> u32 {
        self.body.w.op1(S::Bitcast, self.i, a)
    }

    fn from_bits(&mut self, a: u32) -> u32 {
        self.body.w.op1(S::Bitcast, self.f, a)
    }

    fn from_signed(&mut self, a: u32) -> u32 {
        self.body.w.op1(S::ConvertSToF, self.f, a)
    }

    fn from_unsigned(&mut self, a: u32) -> u32 {
        self.body.w.op1(S::ConvertUToF, self.f, a)
    }

    fn iadd(&mut self, a: u32, b: u32) -> u32 {
        self.on_ints(S::IAdd, a, b)
    }

    fn isub(&mut self, a: u32, b: u32) -> u32 {
        self.on_ints(S::ISub, a, b)
    }

    fn imul(&mut self, a: u32, b: u32) -> u32 {
        self.on_ints(S::IMul, a, b)
    }

    fn umul_hi(&mut self, a: u32, b: u32) -> u32 {
        let pair = self.body.w.pair(self.i);
        let product = self.body.w.op2(S::UMulExtended, pair, a, b);
        self.body.w.op2(S::CompositeExtract, self.i, product, 1)
    }

    fn and(&mut self, a: u32, b: u32) -> u32 {
        self.on_ints(S::BitwiseAnd, a, b)
    }

    fn or(&mut self, a: u32, b: u32) -> u32 {
        self.on_ints(S::BitwiseOr, a, b)
    }

    fn xor(&mut self, a: u32, b: u32) -> u32 {
        self.on_ints(S::BitwiseXor, a, b)
    }

    fn shl(&mut self, a: u32, n: u32) -> u32 {
        self.on_ints(S::ShiftLeftLogical, a, n)
    }

    fn shr(&mut self, a: u32, n: u32) -> u32 {
        self.on_ints(S::ShiftRightLogical, a, n)
    }

    fn ult(&mut self, a: u32, b: u32) -> u32 {
        self.compare(S::ULessThan, a, b)
    }

    fn ieq(&mut self, a: u32, b: u32) -> u32 {
        self.compare(S::IEqual, a, b)
    }

    fn table(&mut self, table: &'static Table, index: u32) -> u32 {
        let var = self.body.recipe_table(table, self.int);
        let w = &mut self.body.w;
        let pointer = w.pointer(StorageClass::Private, self.i);
        let pointer = w.op2(S::AccessChain, pointer, var, index);
        w.op1(S::Load, self.i, pointer)
    }

    fn repeat(
        &mut self,
        times: u32,
        state: u32,
        mut body: impl FnMut(&mut Self, u32) -> u32,
    ) -> u32 {
        let (zero, one) = (
            self.body.w.constant(self.int, 0),
            self.body.w.constant(self.int, 1),
        );
        let before = self.body.s.flow.label;
        let [header, inside, continue_, merge, next, count, counted, at] =
            core::array::from_fn(|_| self.body.w.id());
        self.body.w.branch(header);
        self.body.w.label(header);
        let (f, i, b) = (self.f, self.i, self.b);
        // What the body makes gets its name in the continue block, so that the phis can be written now.
        self.body.w.body.put([
            head(S::Phi, 7),
            f,
            at,
            state,
            before,
            next,
            continue_,
            head(S::Phi, 7),
            i,
            count,
            zero,
            before,
            counted,
            continue_,
        ]);
        let more = self.body.w.op2(S::ULessThan, b, count, times);
        self.body.w.loop_merge(merge, continue_);
        self.body
            .w
            .body
            .put([head(S::BranchConditional, 4), more, inside, merge]);
        self.body.start(inside);
        let made = body(self, at);
        self.body.w.branch(continue_);
        self.body.w.label(continue_);
        self.body.w.body.put([
            head(S::CopyObject, 4),
            f,
            next,
            made,
            head(S::IAdd, 5),
            i,
            counted,
            count,
            one,
        ]);
        self.body.w.branch(header);
        self.body.start(merge);
        at
    }
}
