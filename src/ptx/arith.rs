//! Arithmetic, comparisons, selection and float functions (PTX ISA sections 9.7.1, 9.7.3 and 9.7.6).

use super::body::Body;
use super::mnemonic::{Kind, MOV, Mnemonic, by_type, piece};
use super::writer::Token;
use crate::kernel::Inst;

/// Integer divisors that need care.
enum Guard {
    /// The constant 0.
    Zero,
    /// The constant -1 of a signed type.
    MinusOne,
    /// Anything else; the operand to divide by.
    By(Token),
}

static ADD: Mnemonic = by_type!("add", ".rn");
static SUB: Mnemonic = by_type!("sub", ".rn");
// The low half does not depend on the sign.
static MUL: Mnemonic = Mnemonic::new([
    "",
    "\tmul.lo.s32 ",
    "\tmul.lo.u32 ",
    "\tmul.rn.f32 ",
    "\tmul.lo.s64 ",
    "\tmul.lo.u64 ",
    "\tmul.rn.f64 ",
]);
// Without a rounding modifier ptxas may contract.
static ADD_BARE: Mnemonic = by_type!("add");
static SUB_BARE: Mnemonic = by_type!("sub");
static MUL_BARE: Mnemonic = Mnemonic::new([
    "",
    "\tmul.lo.s32 ",
    "\tmul.lo.u32 ",
    "\tmul.f32 ",
    "\tmul.lo.s64 ",
    "\tmul.lo.u64 ",
    "\tmul.f64 ",
]);
static MUL_HI: Mnemonic = by_type!("mul.hi");
static MAD_LO: Mnemonic = by_type!("mad.lo");
static DIV: Mnemonic = by_type!("div", ".rn");
static REM: Mnemonic = by_type!("rem");
static NEG: Mnemonic = by_type!("neg");
static ABS: Mnemonic = by_type!("abs");
static MIN: Mnemonic = by_type!("min");
static MAX: Mnemonic = by_type!("max");
static FMA: Mnemonic = by_type!("fma", ".rn");
static SQRT: Mnemonic = by_type!("sqrt", ".rn");
static RCP: Mnemonic = by_type!("rcp", ".rn");
static SETP_EQ: Mnemonic = by_type!("setp.eq");
static SETP_NE: Mnemonic = Mnemonic::new([
    "",
    "\tsetp.ne.s32 ",
    "\tsetp.ne.u32 ",
    "\tsetp.neu.f32 ",
    "\tsetp.ne.s64 ",
    "\tsetp.ne.u64 ",
    "\tsetp.neu.f64 ",
]);
static SETP_LT: Mnemonic = by_type!("setp.lt");
static SETP_LE: Mnemonic = by_type!("setp.le");
static SETP_GT: Mnemonic = by_type!("setp.gt");
static SETP_GE: Mnemonic = by_type!("setp.ge");
static SETP_NAN: Mnemonic = by_type!("setp.nan");
static SELP: Mnemonic = Mnemonic::new([
    "",
    "\tselp.b32 ",
    "\tselp.b32 ",
    "\tselp.f32 ",
    "\tselp.b64 ",
    "\tselp.b64 ",
    "\tselp.f64 ",
]);

impl Body<'_, '_> {
    pub fn add(&mut self, inst: &Inst) -> Token {
        self.simple2(if self.contract { &ADD_BARE } else { &ADD }, inst)
    }

    pub fn sub(&mut self, inst: &Inst) -> Token {
        self.simple2(if self.contract { &SUB_BARE } else { &SUB }, inst)
    }

    pub fn mul(&mut self, inst: &Inst) -> Token {
        self.simple2(if self.contract { &MUL_BARE } else { &MUL }, inst)
    }

    pub fn mul_hi(&mut self, inst: &Inst) -> Token {
        self.simple2(&MUL_HI, inst)
    }

    pub fn div(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        if kind.is_float() {
            return self.simple2(&DIV, inst);
        }
        let a = self.value(inst.a);
        match self.divisor(kind, inst) {
            Guard::Zero => a,
            Guard::MinusOne => self.unary(NEG.of(kind), kind, a),
            Guard::By(b) => self.binary(DIV.of(kind), kind, a, b),
        }
    }

    pub fn rem(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
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
        let b = self.value(inst.b);
        match self.known(inst.b) {
            Some(0) => return Guard::Zero,
            Some(bits) if kind.is_signed() && bits == minus_one => return Guard::MinusOne,
            Some(_) => return Guard::By(b),
            None => {}
        }
        let least = 1u64 << (kind.width() - 1);
        let overflows = kind.is_signed() && self.known(inst.a).is_none_or(|bits| bits == least);
        let zero = Self::imm(0);
        let mut bad = self.binary(SETP_EQ.of(kind), Kind::Bool, b, zero);
        if overflows {
            let a = self.value(inst.a);
            let one_less = self.register(Kind::Bool);
            self.line2(
                SETP_EQ.of(kind),
                one_less,
                b,
                Token::integer(u64::MAX, true),
            );
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
        Guard::By(self.ternary(SELP.of(kind), kind, one, b, bad))
    }

    pub fn neg(&mut self, inst: &Inst) -> Token {
        match self.kind(inst.ty) {
            // There is no `neg.u32`; the bits are those of the signed form.
            Kind::U32 => self.unary_of(&NEG, Kind::I32, inst),
            Kind::U64 => self.unary_of(&NEG, Kind::I64, inst),
            _ => self.simple1(&NEG, inst),
        }
    }

    fn unary_of(&mut self, mnemonic: &'static Mnemonic, kind: Kind, inst: &Inst) -> Token {
        let a = self.value(inst.a);
        self.unary(mnemonic.of(kind), kind, a)
    }

    /// `-a` of an integer, for atomics.
    pub fn negated(&mut self, kind: Kind, a: Token) -> Token {
        let signed = if kind.is_wide() { Kind::I64 } else { Kind::I32 };
        self.unary(NEG.of(signed), signed, a)
    }

    pub fn abs(&mut self, inst: &Inst) -> Token {
        match self.kind(inst.ty) {
            Kind::U32 | Kind::U64 => self.value(inst.a),
            _ => self.simple1(&ABS, inst),
        }
    }

    pub fn min(&mut self, inst: &Inst) -> Token {
        self.simple2(&MIN, inst)
    }

    pub fn max(&mut self, inst: &Inst) -> Token {
        self.simple2(&MAX, inst)
    }

    pub fn min_nan(&mut self, inst: &Inst) -> Token {
        match self.kind(inst.ty) {
            Kind::F32 if self.options.target.has_min_nan() => {
                let (a, b) = (self.value(inst.a), self.value(inst.b));
                self.binary(piece!("\tmin.NaN.f32 "), Kind::F32, a, b)
            }
            kind => self.or_nan(&MIN, kind, inst),
        }
    }

    pub fn max_nan(&mut self, inst: &Inst) -> Token {
        match self.kind(inst.ty) {
            Kind::F32 if self.options.target.has_min_nan() => {
                let (a, b) = (self.value(inst.a), self.value(inst.b));
                self.binary(piece!("\tmax.NaN.f32 "), Kind::F32, a, b)
            }
            kind => self.or_nan(&MAX, kind, inst),
        }
    }

    /// The operation, or NaN where an operand is one.
    fn or_nan(&mut self, mnemonic: &'static Mnemonic, kind: Kind, inst: &Inst) -> Token {
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        let plain = self.binary(mnemonic.of(kind), kind, a, b);
        let is_nan = self.binary(SETP_NAN.of(kind), Kind::Bool, a, b);
        let nan = if kind == Kind::F32 {
            Token::f32(0x7FFF_FFFF)
        } else {
            Token::f64(0x7FFF_FFFF_FFFF_FFFF)
        };
        self.ternary(SELP.of(kind), kind, nan, plain, is_nan)
    }

    pub fn clamp(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, low, high) = (self.value(inst.a), self.value(inst.b), self.value(inst.c));
        let raised = self.binary(MAX.of(kind), kind, a, low);
        self.binary(MIN.of(kind), kind, raised, high)
    }

    pub fn mul_add(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        if !kind.is_float() {
            return self.simple3(&MAD_LO, inst);
        }
        let (mul, add) = if self.contract {
            (&MUL_BARE, &ADD_BARE)
        } else {
            (&MUL, &ADD)
        };
        let (a, b, c) = (self.value(inst.a), self.value(inst.b), self.value(inst.c));
        let product = self.binary(mul.of(kind), kind, a, b);
        self.binary(add.of(kind), kind, product, c)
    }

    pub fn fma(&mut self, inst: &Inst) -> Token {
        self.simple3(&FMA, inst)
    }

    #[inline(never)]
    fn compare(&mut self, mnemonic: &'static Mnemonic, inst: &Inst) -> Token {
        let kind = self.kind_of(inst.a);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
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

    /// Whether a float is NaN.
    pub fn is_nan(&mut self, kind: Kind, a: Token) -> Token {
        self.binary(SETP_NAN.of(kind), Kind::Bool, a, a)
    }

    /// Whether a number is not zero; a NaN is not.
    pub fn is_not_zero(&mut self, kind: Kind, a: Token) -> Token {
        let zero = match kind {
            Kind::F32 => Token::f32(0),
            Kind::F64 => Token::f64(0),
            _ => Self::imm(0),
        };
        self.binary(SETP_NE.of(kind), Kind::Bool, a, zero)
    }

    pub fn sqrt(&mut self, inst: &Inst) -> Token {
        self.simple1(&SQRT, inst)
    }

    pub fn rsqrt(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let root = self.simple1(&SQRT, inst);
        self.unary(RCP.of(kind), kind, root)
    }

    pub fn rcp(&mut self, inst: &Inst) -> Token {
        self.simple1(&RCP, inst)
    }

    fn round(
        &mut self,
        narrow: &super::writer::Piece,
        wide: &super::writer::Piece,
        inst: &Inst,
    ) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
        let a = self.in_register(kind, a);
        self.unary(if kind.is_wide() { wide } else { narrow }, kind, a)
    }

    pub fn floor(&mut self, inst: &Inst) -> Token {
        self.round(
            piece!("\tcvt.rmi.f32.f32 "),
            piece!("\tcvt.rmi.f64.f64 "),
            inst,
        )
    }

    pub fn ceil(&mut self, inst: &Inst) -> Token {
        self.round(
            piece!("\tcvt.rpi.f32.f32 "),
            piece!("\tcvt.rpi.f64.f64 "),
            inst,
        )
    }

    pub fn trunc(&mut self, inst: &Inst) -> Token {
        self.round(
            piece!("\tcvt.rzi.f32.f32 "),
            piece!("\tcvt.rzi.f64.f64 "),
            inst,
        )
    }

    pub fn round_even(&mut self, inst: &Inst) -> Token {
        self.round(
            piece!("\tcvt.rni.f32.f32 "),
            piece!("\tcvt.rni.f64.f64 "),
            inst,
        )
    }
}
