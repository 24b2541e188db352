//! Arithmetic (PTX ISA sections 9.7.1, 9.7.3 and 9.7.4).

use super::body::Body;
use super::mnemonic::{Kind, Mnemonic, by_type, piece};
use super::writer::Token;
use crate::kernel::Inst;
use crate::math::Binary;

/// Integer divisors that need care.
enum Guard {
    /// The constant 0.
    Zero,
    /// The constant -1 of a signed type.
    MinusOne,
    /// Anything else; the operand to divide by.
    By(Token),
}

pub(super) static ADD: Mnemonic = by_type!("add", ".rn");
pub(super) static SUB: Mnemonic = by_type!("sub", ".rn");
// The low half does not depend on the sign.
pub(super) static MUL: Mnemonic = Mnemonic::with_halves(
    [
        "",
        "\tmul.lo.s32 ",
        "\tmul.lo.u32 ",
        "\tmul.rn.f32 ",
        "\tmul.lo.s64 ",
        "\tmul.lo.u64 ",
        "\tmul.rn.f64 ",
    ],
    ["\tmul.rn.f16 ", "\tmul.rn.bf16 "],
);
// Without a rounding modifier ptxas may contract.
pub(super) static ADD_BARE: Mnemonic = by_type!("add");
pub(super) static SUB_BARE: Mnemonic = by_type!("sub");
pub(super) static MUL_BARE: Mnemonic = Mnemonic::with_halves(
    [
        "",
        "\tmul.lo.s32 ",
        "\tmul.lo.u32 ",
        "\tmul.f32 ",
        "\tmul.lo.s64 ",
        "\tmul.lo.u64 ",
        "\tmul.f64 ",
    ],
    ["\tmul.f16 ", "\tmul.bf16 "],
);
pub(super) static MUL_HI: Mnemonic = by_type!("mul.hi");
pub(super) static MAD_LO: Mnemonic = by_type!("mad.lo");
pub(super) static DIV: Mnemonic = by_type!("div", ".rn");
static REM: Mnemonic = by_type!("rem");
pub(super) static NEG: Mnemonic = by_type!("neg");
pub(super) static ABS: Mnemonic = by_type!("abs");
pub(super) static MIN: Mnemonic = by_type!("min");
pub(super) static MAX: Mnemonic = by_type!("max");
static MIN_NAN: Mnemonic = by_type!("min", ".NaN");
static MAX_NAN: Mnemonic = by_type!("max", ".NaN");
pub(super) static FMA: Mnemonic = by_type!("fma", ".rn");

/// Addition and the like of bf16 as a fused multiply-add, which targets have before them: what stands for the factors.
#[derive(Clone, Copy)]
enum ByFma {
    /// a * 1 + b.
    Add,
    /// b * -1 + a.
    Sub,
    /// a * b + -0.0.
    Mul,
}

impl Body<'_, '_> {
    pub fn add(&mut self, inst: &Inst) -> Token {
        let by = if self.contract { &ADD_BARE } else { &ADD };
        self.sum(by, ByFma::Add, inst)
    }

    pub fn sub(&mut self, inst: &Inst) -> Token {
        let by = if self.contract { &SUB_BARE } else { &SUB };
        self.sum(by, ByFma::Sub, inst)
    }

    pub fn mul(&mut self, inst: &Inst) -> Token {
        let by = if self.contract { &MUL_BARE } else { &MUL };
        self.sum(by, ByFma::Mul, inst)
    }

    #[inline(always)]
    fn sum(&mut self, mnemonic: &'static Mnemonic, by_fma: ByFma, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        if kind.is_small() {
            return self.small_sum(mnemonic, by_fma, kind, a, b);
        }
        self.binary(mnemonic.of(kind), kind, a, b)
    }

    #[inline(never)]
    fn small_sum(
        &mut self,
        mnemonic: &'static Mnemonic,
        by_fma: ByFma,
        kind: Kind,
        a: Token,
        b: Token,
    ) -> Token {
        let target = self.options.target;
        if kind != Kind::BF16 || target.has_bf16_sums() {
            return self.narrowed2(mnemonic, kind, a, b);
        }
        if target.has_bf16() {
            let fma = piece!("\tfma.rn.bf16 ");
            return match by_fma {
                ByFma::Add => {
                    let one = self.half_constant(0x3F80);
                    self.ternary(fma, kind, a, one, b)
                }
                ByFma::Sub => {
                    let minus_one = self.half_constant(0xBF80);
                    self.ternary(fma, kind, b, minus_one, a)
                }
                ByFma::Mul => {
                    let minus_zero = self.half_constant(0x8000);
                    self.ternary(fma, kind, a, b, minus_zero)
                }
            };
        }
        self.through_single2(mnemonic.of(Kind::F32), kind, a, b)
    }

    /// `a + b` of any number, never contracted.
    pub fn plain_sum(&mut self, kind: Kind, a: Token, b: Token) -> Token {
        if kind.is_small() {
            self.small_sum(&ADD, ByFma::Add, kind, a, b)
        } else {
            self.binary(ADD.of(kind), kind, a, b)
        }
    }

    /// `a - b` of a float, never contracted.
    pub fn plain_difference(&mut self, kind: Kind, a: Token, b: Token) -> Token {
        if kind.is_small() {
            self.small_sum(&SUB, ByFma::Sub, kind, a, b)
        } else {
            self.binary(SUB.of(kind), kind, a, b)
        }
    }

    /// The operation, its result brought back into a narrow type.
    fn narrowed2(&mut self, mnemonic: &Mnemonic, kind: Kind, a: Token, b: Token) -> Token {
        let result = self.binary(mnemonic.of(kind), kind, a, b);
        self.normal(kind, result)
    }

    /// A 32-bit register whose low bits are the value, extended as its kind asks. Kinds that are not narrow stay.
    pub fn normal(&mut self, kind: Kind, a: Token) -> Token {
        match kind {
            Kind::I8 => self.unary(piece!("\tcvt.s32.s8 "), kind, a),
            Kind::I16 => self.unary(piece!("\tcvt.s32.s16 "), kind, a),
            Kind::U8 | Kind::U16 => self.low_bits(kind, a),
            Kind::Bool
            | Kind::I32
            | Kind::U32
            | Kind::F32
            | Kind::I64
            | Kind::U64
            | Kind::F64
            | Kind::F16
            | Kind::BF16 => a,
        }
    }

    /// The low bits of a narrow value with zeros above.
    pub fn low_bits(&mut self, kind: Kind, a: Token) -> Token {
        let mask = if kind.width() == 8 { 0xFF } else { 0xFFFF };
        self.binary(piece!("\tand.b32 "), kind, a, Self::imm(mask))
    }

    pub fn mul_hi(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        if !kind.is_narrow() {
            return self.binary(MUL_HI.of(kind), kind, a, b);
        }
        // The whole product fits 32 bits.
        let product = self.binary(MUL.of(kind), kind, a, b);
        let shr = if kind.is_signed() {
            piece!("\tshr.s32 ")
        } else {
            piece!("\tshr.u32 ")
        };
        self.binary(shr, kind, product, Self::imm(kind.width()))
    }

    pub fn div(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        if kind.is_float() {
            let fast = inst.flags & Inst::FAST != 0;
            let div = if fast && kind != Kind::F64 {
                piece!("\tdiv.full.f32 ")
            } else if kind.is_half() {
                DIV.of(Kind::F32)
            } else {
                DIV.of(kind)
            };
            if kind.is_half() {
                return self.through_single2(div, kind, a, b);
            }
            return self.binary(div, kind, a, b);
        }
        match self.divisor(kind, inst) {
            Guard::Zero => a,
            Guard::MinusOne => self.unary(NEG.of(kind), kind, a),
            Guard::By(b) => {
                let quotient = self.binary(DIV.of(kind), kind, a, b);
                // Of a narrow type only MIN / -1 leaves it.
                if kind.is_signed() {
                    self.normal(kind, quotient)
                } else {
                    quotient
                }
            }
        }
    }

    pub fn rem(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
        if kind.is_float() {
            let b = self.value(inst.b);
            return self.function2(Binary::Rem, kind, a, b);
        }
        match self.divisor(kind, inst) {
            Guard::Zero | Guard::MinusOne => Self::imm(0),
            Guard::By(b) => self.binary(REM.of(kind), kind, a, b),
        }
    }

    /// The divisor, replaced by 1 where it is 0, or -1 under the least dividend: x / 1 = x and x % 1 = 0 are what the
    /// meaning asks for in those cases.
    fn divisor(&mut self, kind: Kind, inst: &Inst) -> Guard {
        let minus_one = if kind.is_wide() {
            u64::MAX
        } else {
            u64::from(u32::MAX)
        };
        // In 32 bits the least narrow dividend overflows nothing.
        let may_overflow = kind.is_signed() && !kind.is_narrow();
        let b = self.value(inst.b);
        match self.known(inst.b) {
            Some(0) => return Guard::Zero,
            Some(bits) if may_overflow && bits == minus_one => return Guard::MinusOne,
            Some(_) => return Guard::By(b),
            None => {}
        }
        let least = 1u64 << (kind.width() - 1);
        let overflows = may_overflow && self.known(inst.a).is_none_or(|bits| bits == least);
        let zero = Self::imm(0);
        let mut bad = self.equal(kind, b, zero);
        if overflows {
            let a = self.value(inst.a);
            let one_less = self.equal(kind, b, Token::integer(u64::MAX, true));
            let (and, or, least) = if kind.is_wide() {
                (
                    piece!("\tsetp.eq.and.s64 "),
                    piece!("\tor.pred "),
                    Token::integer(least, true),
                )
            } else {
                (
                    piece!("\tsetp.eq.and.s32 "),
                    piece!("\tor.pred "),
                    Token::integer(least.wrapping_neg(), true),
                )
            };
            let wraps = self.ternary(and, Kind::Bool, a, least, one_less);
            bad = self.binary(or, Kind::Bool, bad, wraps);
        }
        let one = Self::imm(1);
        Guard::By(self.selp(kind, one, b, bad))
    }

    pub fn neg(&mut self, inst: &Inst) -> Token {
        let a = self.value(inst.a);
        match self.kind(inst.ty) {
            // There is no `neg.u32`; the bits are those of the signed form.
            kind @ (Kind::U32 | Kind::U64) => self.negated(kind, a),
            kind @ (Kind::I8 | Kind::U8 | Kind::I16 | Kind::U16) => {
                let negated = self.negated(kind, a);
                self.normal(kind, negated)
            }
            kind @ (Kind::F16 | Kind::BF16) => {
                self.binary(piece!("\txor.b16 "), kind, a, Self::imm(0x8000))
            }
            kind @ (Kind::Bool | Kind::I32 | Kind::F32 | Kind::I64 | Kind::F64) => {
                self.unary(NEG.of(kind), kind, a)
            }
        }
    }

    /// `-a` of an integer, not brought back into a narrow type.
    pub fn negated(&mut self, kind: Kind, a: Token) -> Token {
        let signed = if kind.is_wide() { Kind::I64 } else { Kind::I32 };
        self.unary(NEG.of(signed), signed, a)
    }

    pub fn abs(&mut self, inst: &Inst) -> Token {
        let a = self.value(inst.a);
        match self.kind(inst.ty) {
            Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 => a,
            kind @ (Kind::I8 | Kind::I16) => {
                let magnitude = self.unary(ABS.of(kind), kind, a);
                self.normal(kind, magnitude)
            }
            Kind::F16 | Kind::BF16 => self.half_magnitude(a),
            kind @ (Kind::Bool | Kind::I32 | Kind::F32 | Kind::I64 | Kind::F64) => {
                self.unary(ABS.of(kind), kind, a)
            }
        }
    }

    pub fn min(&mut self, inst: &Inst) -> Token {
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        let kind = self.kind(inst.ty);
        self.lesser(&MIN, kind, a, b)
    }

    pub fn max(&mut self, inst: &Inst) -> Token {
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        let kind = self.kind(inst.ty);
        self.lesser(&MAX, kind, a, b)
    }

    /// [`MIN`] or [`MAX`] of any number.
    pub fn lesser(&mut self, mnemonic: &'static Mnemonic, kind: Kind, a: Token, b: Token) -> Token {
        if kind.is_half() && !self.options.target.has_min_nan() {
            let (a, b) = (self.single(kind, a), self.single(kind, b));
            let result = self.binary(mnemonic.of(Kind::F32), Kind::F32, a, b);
            return self.exact(kind, result);
        }
        self.binary(mnemonic.of(kind), kind, a, b)
    }

    pub fn min_nan(&mut self, inst: &Inst) -> Token {
        self.or_nan(&MIN, &MIN_NAN, inst)
    }

    pub fn max_nan(&mut self, inst: &Inst) -> Token {
        self.or_nan(&MAX, &MAX_NAN, inst)
    }

    /// The operation, or NaN where an operand is one.
    fn or_nan(
        &mut self,
        mnemonic: &'static Mnemonic,
        native: &'static Mnemonic,
        inst: &Inst,
    ) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        if kind != Kind::F64 && self.options.target.has_min_nan() {
            return self.binary(native.of(kind), kind, a, b);
        }
        if kind.is_half() {
            let (a, b) = (self.single(kind, a), self.single(kind, b));
            let result = self.checked_for_nan(mnemonic, Kind::F32, a, b);
            return self.exact(kind, result);
        }
        self.checked_for_nan(mnemonic, kind, a, b)
    }

    fn checked_for_nan(
        &mut self,
        mnemonic: &'static Mnemonic,
        kind: Kind,
        a: Token,
        b: Token,
    ) -> Token {
        let plain = self.binary(mnemonic.of(kind), kind, a, b);
        let is_nan = self.either_nan(kind, a, b);
        let nan = if kind == Kind::F32 {
            Token::f32(0x7FFF_FFFF)
        } else {
            Token::f64(0x7FFF_FFFF_FFFF_FFFF)
        };
        self.selp(kind, nan, plain, is_nan)
    }

    pub fn clamp(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, low, high) = (self.value(inst.a), self.value(inst.b), self.value(inst.c));
        let raised = self.lesser(&MAX, kind, a, low);
        self.lesser(&MIN, kind, raised, high)
    }

    pub fn mul_add(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b, c) = (self.value(inst.a), self.value(inst.b), self.value(inst.c));
        if !kind.is_float() {
            let result = self.ternary(MAD_LO.of(kind), kind, a, b, c);
            return self.normal(kind, result);
        }
        let (mul, add) = if self.contract {
            (&MUL_BARE, &ADD_BARE)
        } else {
            (&MUL, &ADD)
        };
        if kind.is_small() {
            let product = self.small_sum(mul, ByFma::Mul, kind, a, b);
            return self.small_sum(add, ByFma::Add, kind, product, c);
        }
        let product = self.binary(mul.of(kind), kind, a, b);
        self.binary(add.of(kind), kind, product, c)
    }

    pub fn fma(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b, c) = (self.value(inst.a), self.value(inst.b), self.value(inst.c));
        if kind.is_small() && kind == Kind::BF16 && !self.options.target.has_bf16() {
            return self.fma_through_single(kind, a, b, c);
        }
        self.ternary(FMA.of(kind), kind, a, b, c)
    }

    pub fn add_sat(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        if kind == Kind::I32 {
            return self.binary(piece!("\tadd.sat.s32 "), kind, a, b);
        }
        if kind.is_narrow() {
            let sum = self.binary(ADD.of(kind), kind, a, b);
            return self.clamped(kind, sum);
        }
        if kind.is_signed() {
            return self.saturated_64(&ADD, a, b, false);
        }
        // a + min(b, ~a).
        let not = if kind.is_wide() {
            piece!("\tnot.b64 ")
        } else {
            piece!("\tnot.b32 ")
        };
        let room = self.unary(not, kind, a);
        let b = self.binary(MIN.of(kind), kind, b, room);
        self.binary(ADD.of(kind), kind, a, b)
    }

    pub fn sub_sat(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        if !kind.is_signed() {
            // max(a, b) - b.
            let a = self.binary(MAX.of(kind), kind, a, b);
            return self.binary(SUB.of(kind), kind, a, b);
        }
        if kind == Kind::I32 {
            return self.binary(piece!("\tsub.sat.s32 "), kind, a, b);
        }
        if kind.is_narrow() {
            let difference = self.binary(SUB.of(kind), kind, a, b);
            return self.clamped(kind, difference);
        }
        self.saturated_64(&SUB, a, b, true)
    }

    /// A 32-bit number of the kind's signedness brought into the range of a narrow kind.
    pub fn clamped(&mut self, kind: Kind, a: Token) -> Token {
        let bits = kind.width();
        if !kind.is_signed() {
            return self.binary(MIN.of(kind), kind, a, Self::imm((1 << bits) - 1));
        }
        let half = 1 << (bits - 1);
        let a = self.binary(MIN.of(kind), kind, a, Self::imm(half - 1));
        let least = Token::integer(u64::from(half).wrapping_neg(), true);
        self.binary(MAX.of(kind), kind, a, least)
    }

    /// i64: MAX or MIN by the sign of `a` where the result's sign is wrong.
    fn saturated_64(
        &mut self,
        mnemonic: &'static Mnemonic,
        a: Token,
        b: Token,
        difference: bool,
    ) -> Token {
        let kind = Kind::I64;
        let xor = piece!("\txor.b64 ");
        let result = self.binary(mnemonic.of(kind), kind, a, b);
        let changed = self.binary(xor, kind, a, result);
        // A sum overflows where both operands have the other sign than it, a difference where the operands' differ.
        let other = self.binary(xor, kind, b, if difference { a } else { result });
        let both = self.binary(piece!("\tand.b64 "), kind, changed, other);
        let overflows = self.binary(piece!("\tsetp.lt.s64 "), Kind::Bool, both, Self::imm(0));
        let sign = self.binary(piece!("\tshr.s64 "), kind, a, Self::imm(63));
        let most = Token::integer(u64::MAX >> 1, false);
        let limit = self.binary(xor, kind, sign, most);
        self.selp(kind, limit, result, overflows)
    }

    pub fn dot4_add(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b, c) = (self.value(inst.a), self.value(inst.b), self.value(inst.c));
        let dp4a = if kind.is_signed() {
            piece!("\tdp4a.s32.s32 ")
        } else {
            piece!("\tdp4a.u32.u32 ")
        };
        self.ternary(dp4a, kind, a, b, c)
    }
}
