//! Comparisons and selection (PTX ISA section 9.7.5).

use super::body::Body;
use super::mnemonic::{Kind, MOV, Mnemonic, by_type, piece};
use super::writer::Token;
use crate::kernel::Inst;

pub(super) static SETP_EQ: Mnemonic = by_type!("setp.eq");
pub(super) static SETP_NE: Mnemonic = Mnemonic::with_halves(
    [
        "",
        "\tsetp.ne.s32 ",
        "\tsetp.ne.u32 ",
        "\tsetp.neu.f32 ",
        "\tsetp.ne.s64 ",
        "\tsetp.ne.u64 ",
        "\tsetp.neu.f64 ",
    ],
    ["\tsetp.neu.f16 ", ""],
);
pub(super) static SETP_LT: Mnemonic = by_type!("setp.lt");
pub(super) static SETP_LE: Mnemonic = by_type!("setp.le");
pub(super) static SETP_GT: Mnemonic = by_type!("setp.gt");
pub(super) static SETP_GE: Mnemonic = by_type!("setp.ge");
static SETP_NAN: Mnemonic = by_type!("setp.nan");
static SELP: Mnemonic = Mnemonic::with_halves(
    [
        "",
        "\tselp.b32 ",
        "\tselp.b32 ",
        "\tselp.f32 ",
        "\tselp.b64 ",
        "\tselp.b64 ",
        "\tselp.f64 ",
    ],
    ["\tselp.b16 ", "\tselp.b16 "],
);

impl Body<'_, '_> {
    #[inline(never)]
    fn compare(&mut self, mnemonic: &'static Mnemonic, inst: &Inst) -> Token {
        let kind = self.kind_of(inst.a);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        self.compared(mnemonic, kind, a, b)
    }

    /// A comparison of any numbers.
    fn compared(&mut self, mnemonic: &'static Mnemonic, kind: Kind, a: Token, b: Token) -> Token {
        if kind == Kind::BF16 {
            let (a, b) = (self.single(kind, a), self.single(kind, b));
            return self.binary(mnemonic.of(Kind::F32), Kind::Bool, a, b);
        }
        self.binary(mnemonic.of(kind), Kind::Bool, a, b)
    }

    pub fn eq(&mut self, inst: &Inst) -> Token {
        if self.kind_of(inst.a) == Kind::Bool {
            let differ = self.ne(inst);
            return self.unary(piece!("\tnot.pred "), Kind::Bool, differ);
        }
        self.compare(&SETP_EQ, inst)
    }

    pub fn ne(&mut self, inst: &Inst) -> Token {
        if self.kind_of(inst.a) == Kind::Bool {
            let (a, b) = (self.value(inst.a), self.value(inst.b));
            return self.binary(piece!("\txor.pred "), Kind::Bool, a, b);
        }
        self.compare(&SETP_NE, inst)
    }

    pub fn lt(&mut self, inst: &Inst) -> Token {
        self.compare(&SETP_LT, inst)
    }

    pub fn le(&mut self, inst: &Inst) -> Token {
        self.compare(&SETP_LE, inst)
    }

    pub fn gt(&mut self, inst: &Inst) -> Token {
        self.compare(&SETP_GT, inst)
    }

    pub fn ge(&mut self, inst: &Inst) -> Token {
        self.compare(&SETP_GE, inst)
    }

    pub fn select(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (condition, yes, no) = (self.value(inst.a), self.value(inst.b), self.value(inst.c));
        if kind == Kind::Bool {
            // There is no `selp.pred`.
            let to = self.unary(MOV.of(kind), kind, no);
            let line = self.w.line().bytes(b"\t@").token(condition);
            line.bytes(b" mov.pred ").token(to).operand(yes).end();
            return to;
        }
        self.ternary(SELP.of(kind), kind, yes, no, condition)
    }

    /// `yes` where the predicate holds, `no` elsewhere.
    pub fn selp(&mut self, kind: Kind, yes: Token, no: Token, predicate: Token) -> Token {
        self.ternary(SELP.of(kind), kind, yes, no, predicate)
    }

    /// Whether two numbers, no bf16, are equal.
    pub fn equal(&mut self, kind: Kind, a: Token, b: Token) -> Token {
        self.binary(SETP_EQ.of(kind), Kind::Bool, a, b)
    }

    /// Whether an f32 or f64 is NaN.
    pub fn is_nan(&mut self, kind: Kind, a: Token) -> Token {
        self.either_nan(kind, a, a)
    }

    /// Whether an f32 or f64 of two is NaN.
    pub fn either_nan(&mut self, kind: Kind, a: Token, b: Token) -> Token {
        self.binary(SETP_NAN.of(kind), Kind::Bool, a, b)
    }

    /// Whether a number is not zero; a NaN is not.
    pub fn is_not_zero(&mut self, kind: Kind, a: Token) -> Token {
        if kind.is_half() {
            let magnitude = self.half_magnitude(a);
            let zero = Self::imm(0);
            return self.binary(piece!("\tsetp.ne.u16 "), Kind::Bool, magnitude, zero);
        }
        self.binary(SETP_NE.of(kind), Kind::Bool, a, Self::zero(kind))
    }

    pub fn test_nan(&mut self, inst: &Inst) -> Token {
        let kind = self.kind_of(inst.a);
        let a = self.value(inst.a);
        if kind.is_half() {
            let magnitude = self.half_magnitude(a);
            let infinity = Self::imm(half_infinity(kind));
            return self.binary(piece!("\tsetp.gt.u16 "), Kind::Bool, magnitude, infinity);
        }
        self.is_nan(kind, a)
    }

    pub fn test_infinite(&mut self, inst: &Inst) -> Token {
        let kind = self.kind_of(inst.a);
        let a = self.value(inst.a);
        if kind.is_half() {
            let magnitude = self.half_magnitude(a);
            let infinity = Self::imm(half_infinity(kind));
            return self.binary(piece!("\tsetp.eq.u16 "), Kind::Bool, magnitude, infinity);
        }
        let testp = if kind.is_wide() {
            piece!("\ttestp.infinite.f64 ")
        } else {
            piece!("\ttestp.infinite.f32 ")
        };
        // It takes no immediate.
        let a = self.in_register(kind, a);
        self.unary(testp, Kind::Bool, a)
    }
}

/// The bits of a 16-bit float's infinity.
const fn half_infinity(kind: Kind) -> u32 {
    if matches!(kind, Kind::F16) {
        0x7C00
    } else {
        0x7F80
    }
}
