//! Arithmetic on integers, and the parts of float arithmetic that are one instruction.

use super::body::{Body, Class, class};
use super::half::working;
use super::options::DotProducts;
use super::preamble::cap;
use crate::kernel::Inst;
use crate::types::Type;
use spirv::{GlslStd450Op as Gl, Op as S};

/// Why an opcode is refused on a type that its row does not have.
pub(super) const NO_FORM: &str = "a type that the opcode's row names";

/// The all-ones and the sign-bit pattern of an integer type.
const fn patterns(ty: Type) -> (u64, u64) {
    // 8 to 64 bits.
    let bits = ty.bytes() * 8;
    (u64::MAX >> (64 - bits), 1 << (bits - 1))
}

impl Body<'_> {
    /// Integers of 8 and 16 bits and bf16, which other types have a pattern for.
    pub(super) fn binary(&mut self, inst: &Inst, int: S, float: S) -> u32 {
        let ty = self.w.ty(inst.ty);
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        match class(inst.ty) {
            Class::Signed | Class::Unsigned => {
                let value = self.w.op2(int, ty, a, b);
                self.w.normalise(inst.ty, value)
            }
            Class::Float => {
                let value = self.exact(float, ty, a, b);
                self.narrow(inst.ty, value)
            }
            Class::Bool | Class::None => self.unsupported(inst, inst.ty, NO_FORM),
        }
    }

    /// The same of one operand; of floats there are patterns.
    pub(super) fn unary(&mut self, inst: &Inst, op: S) -> u32 {
        let ty = self.w.ty(inst.ty);
        let a = self.val(inst.a);
        match class(inst.ty) {
            Class::Signed | Class::Unsigned => {
                let value = self.w.op1(op, ty, a);
                self.w.normalise(inst.ty, value)
            }
            Class::Float | Class::Bool | Class::None => self.unsupported(inst, inst.ty, NO_FORM),
        }
    }

    /// A float operation, not contracted unless the kernel allows it.
    pub(super) fn exact(&mut self, op: S, ty: u32, a: u32, b: u32) -> u32 {
        if self.contract() {
            self.w.op2(op, ty, a, b)
        } else {
            self.w.exact2(op, ty, a, b)
        }
    }

    pub(super) fn mul_add(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let (a, b, c) = (self.val(inst.a), self.val(inst.b), self.val(inst.c));
        match class(inst.ty) {
            Class::Signed | Class::Unsigned => {
                let product = self.w.op2(S::IMul, ty, a, b);
                let sum = self.w.op2(S::IAdd, ty, product, c);
                self.w.normalise(inst.ty, sum)
            }
            Class::Float => {
                let mut product = self.exact(S::FMul, ty, a, b);
                if inst.ty == Type::BF16 {
                    product = self.w.bf16_round(product);
                }
                let sum = self.exact(S::FAdd, ty, product, c);
                if inst.ty == Type::BF16 {
                    return self.w.bf16_round(sum);
                }
                sum
            }
            Class::Bool | Class::None => self.unsupported(inst, inst.ty, NO_FORM),
        }
    }

    pub(super) fn mul_hi(&mut self, inst: &Inst) -> u32 {
        if inst.ty.bytes() < 4 {
            // The whole product fits into 32 bits.
            let ty = self.w.ty(inst.ty);
            let (a, b) = (self.val(inst.a), self.val(inst.b));
            let product = self.w.op2(S::IMul, ty, a, b);
            let width = self.w.u32(inst.ty.bytes() * 8);
            let shift = match class(inst.ty) {
                Class::Signed => S::ShiftRightArithmetic,
                Class::Unsigned | Class::Float | Class::Bool | Class::None => S::ShiftRightLogical,
            };
            return self.w.op2(shift, ty, product, width);
        }
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
        // In 32 bits the least narrow number by -1 overflows nothing.
        if signed && inst.ty.bytes() >= 4 && dividend.is_none_or(|x| x == min) {
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
            Class::Float => return self.div_float(inst),
            Class::Bool | Class::None => return self.unsupported(inst, inst.ty, NO_FORM),
        };
        match self.known(inst.b) {
            Some(0 | 1) => return a,
            Some(n) if signed && n == patterns(inst.ty).0 => {
                let value = self.w.op1(S::SNegate, ty, a);
                return self.w.normalise(inst.ty, value);
            }
            Some(_) | None => {}
        }
        let b = self.guarded(inst, signed);
        let quotient = self.w.op2(op, ty, a, b);
        if signed && self.known(inst.b).is_none() {
            // Only MIN / -1 is not normal.
            return self.w.normalise(inst.ty, quotient);
        }
        quotient
    }

    /// Signed remainders are a - a / b * b: Vulkan leaves `OpSRem` of negative operands undefined.
    pub(super) fn rem(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let a = self.val(inst.a);
        let signed = match class(inst.ty) {
            Class::Signed => true,
            Class::Unsigned => false,
            Class::Float => return self.rem_float(inst),
            Class::Bool | Class::None => return self.unsupported(inst, inst.ty, NO_FORM),
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

    /// Of unsigned integers and narrow ones; the others have a pattern.
    pub(super) fn abs(&mut self, inst: &Inst) -> u32 {
        match class(inst.ty) {
            Class::Unsigned => self.val(inst.a),
            Class::Signed => {
                let (ty, a) = (self.w.ty(inst.ty), self.val(inst.a));
                let value = self.w.ext1(Gl::SAbs, ty, a);
                self.w.normalise(inst.ty, value)
            }
            Class::Float | Class::Bool | Class::None => self.unsupported(inst, inst.ty, NO_FORM),
        }
    }

    /// The sum or difference, kept within the type.
    pub(super) fn saturating(&mut self, inst: &Inst, subtract: bool) -> u32 {
        let (ty, bool_ty) = (self.w.ty(inst.ty), self.w.ty(Type::BOOL));
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        let op = if subtract { S::ISub } else { S::IAdd };
        let value = self.w.op2(op, ty, a, b);
        let (ones, min) = patterns(inst.ty);
        let signed = match class(inst.ty) {
            Class::Signed => true,
            Class::Unsigned => false,
            Class::Float | Class::Bool | Class::None => {
                return self.unsupported(inst, inst.ty, NO_FORM);
            }
        };
        match (signed, inst.ty.bytes() < 4) {
            (true, true) => {
                let (low, high) = (
                    self.w.constant(inst.ty, min),
                    self.w.constant(inst.ty, min - 1),
                );
                let value = self.w.ext2(Gl::SMax, ty, value, low);
                self.w.ext2(Gl::SMin, ty, value, high)
            }
            (false, true) if !subtract => {
                let high = self.w.constant(inst.ty, ones);
                self.w.ext2(Gl::UMin, ty, value, high)
            }
            (false, _) => {
                let (past, end) = if subtract { (b, 0) } else { (value, ones) };
                // A sum that wrapped is less than a; a difference wraps where a is less than b.
                let wrapped = if subtract {
                    self.w.op2(S::ULessThan, bool_ty, a, past)
                } else {
                    self.w.op2(S::ULessThan, bool_ty, past, a)
                };
                let end = self.w.constant(inst.ty, end);
                self.w.op3(S::Select, ty, wrapped, end, value)
            }
            (true, false) => {
                // It overflowed where the result's sign differs from a's, and b's says that it should not.
                let changed = self.w.op2(S::BitwiseXor, ty, value, a);
                let other = if subtract {
                    self.w.op2(S::BitwiseXor, ty, a, b)
                } else {
                    self.w.op2(S::BitwiseXor, ty, value, b)
                };
                let both = self.w.op2(S::BitwiseAnd, ty, changed, other);
                let zero = self.w.constant(inst.ty, 0);
                let overflowed = self.w.op2(S::SLessThan, bool_ty, both, zero);
                let negative = self.w.op2(S::SLessThan, bool_ty, a, zero);
                let (low, high) = (
                    self.w.constant(inst.ty, min),
                    self.w.constant(inst.ty, min - 1),
                );
                let end = self.w.op3(S::Select, ty, negative, low, high);
                self.w.op3(S::Select, ty, overflowed, end, value)
            }
        }
    }

    pub(super) fn dot4_add(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let (a, b, mut sum) = (self.val(inst.a), self.val(inst.b), self.val(inst.c));
        let (dot, extract) = match class(inst.ty) {
            Class::Signed => (S::SDot, S::BitFieldSExtract),
            Class::Unsigned => (S::UDot, S::BitFieldUExtract),
            Class::Float | Class::Bool | Class::None => {
                return self.unsupported(inst, inst.ty, NO_FORM);
            }
        };
        match self.options.dot_products {
            DotProducts::Native => {
                self.w.caps |= cap::DOT_PRODUCT | cap::DOT_PACKED;
                let packed = spirv::PackedVectorFormat::PackedVectorFormat4x8Bit as u32;
                let product = self.w.op3(dot, ty, a, b, packed);
                self.w.op2(S::IAdd, ty, product, sum)
            }
            DotProducts::Expanded => {
                let (a, b) = if inst.ty == Type::I32 {
                    (self.w.op1(S::Bitcast, ty, a), self.w.op1(S::Bitcast, ty, b))
                } else {
                    (a, b)
                };
                let width = self.w.u32(8);
                for byte in 0..4 {
                    let begin = self.w.u32(8 * byte);
                    let x = self.w.op3(extract, ty, a, begin, width);
                    let y = self.w.op3(extract, ty, b, begin, width);
                    let product = self.w.op2(S::IMul, ty, x, y);
                    sum = self.w.op2(S::IAdd, ty, sum, product);
                }
                sum
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
                let [a, b, c] = [a, b, c].map(|x| self.widen(inst.ty, x));
                let wide = working(inst.ty);
                let zeros = self.may_be_zero(inst.a) && self.may_be_zero(inst.b);
                let low = self.float_min_max(wide, a, b, true, zeros);
                // What came out may be a zero of either operand.
                let zeros = self.may_be_zero(inst.c);
                let value = self.float_min_max(wide, low, c, false, zeros);
                return self.cut(inst.ty, value);
            }
            Class::Bool | Class::None => return self.unsupported(inst, inst.ty, NO_FORM),
        };
        let low = self.w.ext2(max, ty, a, b);
        self.w.ext2(min, ty, low, c)
    }
}
