//! Arithmetic on integers, and the parts of float arithmetic that are one instruction.

use super::body::{Body, Class, class};
use crate::kernel::Inst;
use crate::types::Type;
use spirv::{GlslStd450Op as Gl, Op as S};

/// Why an opcode is refused on a type that its row does not have.
pub(super) const NO_FORM: &str = "a type that the opcode's row names";

/// The all-ones and the sign-bit pattern of an integer type.
const fn patterns(ty: Type) -> (u64, u64) {
    if ty.bytes() == 8 {
        (u64::MAX, 1 << 63)
    } else {
        (u32::MAX as u64, 1 << 31)
    }
}

impl Body<'_> {
    pub(super) fn mul_add(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let (a, b, c) = (self.val(inst.a), self.val(inst.b), self.val(inst.c));
        match class(inst.ty) {
            Class::Signed | Class::Unsigned => {
                let product = self.w.op2(S::IMul, ty, a, b);
                self.w.op2(S::IAdd, ty, product, c)
            }
            Class::Float if self.contract() => {
                let product = self.w.op2(S::FMul, ty, a, b);
                self.w.op2(S::FAdd, ty, product, c)
            }
            Class::Float => {
                let product = self.w.exact2(S::FMul, ty, a, b);
                self.w.exact2(S::FAdd, ty, product, c)
            }
            Class::Bool | Class::None => self.unsupported(inst, inst.ty, NO_FORM),
        }
    }

    pub(super) fn mul_hi(&mut self, inst: &Inst) -> u32 {
        let op = match class(inst.ty) {
            Class::Signed => S::SMulExtended,
            Class::Unsigned => S::UMulExtended,
            Class::Float | Class::Bool | Class::None => {
                return self.unsupported(inst, inst.ty, NO_FORM);
            }
        };
        let ty = self.w.ty(inst.ty);
        let pair = self.w.pair(ty);
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        let product = self.w.op2(op, pair, a, b);
        self.w.op2(S::CompositeExtract, ty, product, 1)
    }

    /// The divisor, replaced by 1 where the quotient is undefined: then x / 1 = x and x - x / 1 * 1 = 0 are the results
    /// wanted. No guard where a constant shows that it cannot happen.
    fn guarded(&mut self, inst: &Inst, signed: bool) -> u32 {
        let divisor = self.val(inst.b);
        if self.known(inst.b).is_some() {
            // 0 and -1 have been dealt with.
            return divisor;
        }
        let (ones, min) = patterns(inst.ty);
        let (ty, bool_ty) = (self.w.ty(inst.ty), self.w.ty(Type::BOOL));
        let zero = self.w.constant(inst.ty, 0);
        let mut bad = self.w.op2(S::IEqual, bool_ty, divisor, zero);
        let dividend = self.known(inst.a);
        if signed && dividend.is_none_or(|x| x == min) {
            let minus_one = self.w.constant(inst.ty, ones);
            let mut trips = self.w.op2(S::IEqual, bool_ty, divisor, minus_one);
            if dividend.is_none() {
                let (x, min) = (self.val(inst.a), self.w.constant(inst.ty, min));
                let is_min = self.w.op2(S::IEqual, bool_ty, x, min);
                trips = self.w.op2(S::LogicalAnd, bool_ty, trips, is_min);
            }
            bad = self.w.op2(S::LogicalOr, bool_ty, bad, trips);
        }
        let one = self.w.constant(inst.ty, 1);
        self.w.op3(S::Select, ty, bad, one, divisor)
    }

    pub(super) fn div(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let a = self.val(inst.a);
        let (op, signed) = match class(inst.ty) {
            Class::Signed => (S::SDiv, true),
            Class::Unsigned => (S::UDiv, false),
            Class::Float | Class::Bool | Class::None => {
                return self.unsupported(inst, inst.ty, NO_FORM);
            }
        };
        match self.known(inst.b) {
            Some(0 | 1) => return a,
            Some(n) if signed && n == patterns(inst.ty).0 => {
                return self.w.op1(S::SNegate, ty, a);
            }
            Some(_) | None => {}
        }
        let b = self.guarded(inst, signed);
        self.w.op2(op, ty, a, b)
    }

    /// Signed remainders are a - a / b * b: Vulkan leaves `OpSRem` of negative operands undefined.
    pub(super) fn rem(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let a = self.val(inst.a);
        let signed = match class(inst.ty) {
            Class::Signed => true,
            Class::Unsigned => false,
            Class::Float | Class::Bool | Class::None => {
                return self.unsupported(inst, inst.ty, NO_FORM);
            }
        };
        match self.known(inst.b) {
            Some(0 | 1) => return self.w.constant(inst.ty, 0),
            Some(n) if signed && n == patterns(inst.ty).0 => {
                return self.w.constant(inst.ty, 0);
            }
            Some(_) | None => {}
        }
        let b = self.guarded(inst, signed);
        if !signed {
            return self.w.op2(S::UMod, ty, a, b);
        }
        let quotient = self.w.op2(S::SDiv, ty, a, b);
        let product = self.w.op2(S::IMul, ty, quotient, b);
        self.w.op2(S::ISub, ty, a, product)
    }

    /// Of unsigned integers; the others have a pattern.
    pub(super) fn abs(&mut self, inst: &Inst) -> u32 {
        match class(inst.ty) {
            Class::Unsigned => self.val(inst.a),
            Class::Signed | Class::Float | Class::Bool | Class::None => {
                self.unsupported(inst, inst.ty, NO_FORM)
            }
        }
    }

    /// min(max(a, b), c) as it is written: `SClamp` and its kin are undefined where b > c.
    pub(super) fn clamp(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let (a, b, c) = (self.val(inst.a), self.val(inst.b), self.val(inst.c));
        let (max, min) = match class(inst.ty) {
            Class::Signed => (Gl::SMax, Gl::SMin),
            Class::Unsigned => (Gl::UMax, Gl::UMin),
            Class::Float => {
                let zeros = self.may_be_zero(inst.a) && self.may_be_zero(inst.b);
                let low = self.float_min_max(inst.ty, a, b, true, zeros);
                // What came out may be a zero of either operand.
                let zeros = self.may_be_zero(inst.c);
                return self.float_min_max(inst.ty, low, c, false, zeros);
            }
            Class::Bool | Class::None => return self.unsupported(inst, inst.ty, NO_FORM),
        };
        let low = self.w.ext2(max, ty, a, b);
        self.w.ext2(min, ty, low, c)
    }
}
