//! Functions of floats that are defined exactly, and the hardware's approximations (PTX ISA section 9.7.3).

use super::body::Body;
use super::mnemonic::{Kind, Mnemonic, by_type, piece};
use super::writer::{Piece, Token};
use crate::kernel::Inst;
use crate::math::{Binary, Unary};

static SQRT: Mnemonic = by_type!("sqrt", ".rn");
static RCP: Mnemonic = by_type!("rcp", ".rn");

/// `cvt` to an integral value.
type Integral = [&'static Piece; 3];

/// log2(e) and ln(2).
const LOG2_E: Token = Token::f32(0x3FB8_AA3B);
const LN_2: Token = Token::f32(0x3F31_7218);
const ONE: Token = Token::f32(0x3F80_0000);
const ZERO: Token = Token::f32(0);

impl Body<'_, '_> {
    /// A function of one operand in f32: of f32 itself, of a 16-bit float through it.
    fn single_function(&mut self, inst: &Inst, f: impl FnOnce(&mut Self, Token) -> Token) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
        if kind.is_half() {
            let a = self.single(kind, a);
            let result = f(self, a);
            return self.rounded(kind, result);
        }
        f(self, a)
    }

    /// Whether the approximation is asked for, and there is one: f64 has none.
    fn approximate(inst: &Inst, kind: Kind) -> bool {
        inst.flags & Inst::FAST != 0 && kind != Kind::F64
    }

    pub fn sqrt(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        if kind == Kind::F64 {
            return self.simple1(&SQRT, inst);
        }
        let sqrt = if Self::approximate(inst, kind) {
            piece!("\tsqrt.approx.f32 ")
        } else {
            SQRT.of(Kind::F32)
        };
        self.single_function(inst, |body, a| body.unary(sqrt, Kind::F32, a))
    }

    pub fn rcp(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        if kind == Kind::F64 {
            return self.simple1(&RCP, inst);
        }
        let rcp = if Self::approximate(inst, kind) {
            piece!("\trcp.approx.f32 ")
        } else {
            RCP.of(Kind::F32)
        };
        self.single_function(inst, |body, a| body.unary(rcp, Kind::F32, a))
    }

    fn round(&mut self, [half, single, double]: Integral, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
        let a = self.in_register(kind, a);
        match kind {
            Kind::F16 => self.unary(half, kind, a),
            Kind::BF16 => {
                // An integral bf16 is one of f32 too.
                let a = self.single(kind, a);
                let whole = self.unary(single, Kind::F32, a);
                self.exact(kind, whole)
            }
            Kind::F64 => self.unary(double, kind, a),
            Kind::F32
            | Kind::Bool
            | Kind::I32
            | Kind::U32
            | Kind::I64
            | Kind::U64
            | Kind::I8
            | Kind::U8
            | Kind::I16
            | Kind::U16 => self.unary(single, kind, a),
        }
    }

    pub fn floor(&mut self, inst: &Inst) -> Token {
        let cvt = [
            piece!("\tcvt.rmi.f16.f16 "),
            piece!("\tcvt.rmi.f32.f32 "),
            piece!("\tcvt.rmi.f64.f64 "),
        ];
        self.round(cvt, inst)
    }

    pub fn ceil(&mut self, inst: &Inst) -> Token {
        let cvt = [
            piece!("\tcvt.rpi.f16.f16 "),
            piece!("\tcvt.rpi.f32.f32 "),
            piece!("\tcvt.rpi.f64.f64 "),
        ];
        self.round(cvt, inst)
    }

    pub fn trunc(&mut self, inst: &Inst) -> Token {
        let cvt = [
            piece!("\tcvt.rzi.f16.f16 "),
            piece!("\tcvt.rzi.f32.f32 "),
            piece!("\tcvt.rzi.f64.f64 "),
        ];
        self.round(cvt, inst)
    }

    pub fn round_even(&mut self, inst: &Inst) -> Token {
        let cvt = [
            piece!("\tcvt.rni.f16.f16 "),
            piece!("\tcvt.rni.f32.f32 "),
            piece!("\tcvt.rni.f64.f64 "),
        ];
        self.round(cvt, inst)
    }

    pub fn fract(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let whole = self.floor(inst);
        let a = self.value(inst.a);
        self.plain_difference(kind, a, whole)
    }

    pub fn copysign(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        if kind == Kind::F32 {
            // (a & c) | (b & !c). `copysign.f32` has the operands the other way and no promise about NaNs.
            let to = self.register(kind);
            let line = self.w.line().piece(piece!("\tlop3.b32 ")).token(to);
            let line = line.operand(a).operand(b);
            line.bytes(b", 0x7FFFFFFF, 0xE4;\n").done();
            return to;
        }
        let (and, or, magnitude, sign) = if kind.is_half() {
            (
                piece!("\tand.b16 "),
                piece!("\tor.b16 "),
                Token::b16(0x7FFF),
                Token::b16(0x8000),
            )
        } else {
            (
                piece!("\tand.b64 "),
                piece!("\tor.b64 "),
                Token::integer(u64::MAX >> 1, false),
                Token::integer(1 << 63, false),
            )
        };
        let a = self.binary(and, kind, a, magnitude);
        let b = self.binary(and, kind, b, sign);
        self.binary(or, kind, a, b)
    }

    /// A function that has a recipe, precise or by the hardware's approximation.
    pub fn function(&mut self, function: Unary, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        if !Self::approximate(inst, kind) {
            let a = self.value(inst.a);
            return self.function1(function, kind, a);
        }
        self.single_function(inst, |body, a| body.fast(function, a))
    }

    /// The approximations, in f32.
    fn fast(&mut self, function: Unary, a: Token) -> Token {
        let kind = Kind::F32;
        let mul = piece!("\tmul.rn.f32 ");
        match function {
            Unary::Exp => {
                let scaled = self.binary(mul, kind, a, LOG2_E);
                self.unary(piece!("\tex2.approx.f32 "), kind, scaled)
            }
            Unary::Exp2 => self.unary(piece!("\tex2.approx.f32 "), kind, a),
            Unary::Log => {
                let log2 = self.unary(piece!("\tlg2.approx.f32 "), kind, a);
                self.binary(mul, kind, log2, LN_2)
            }
            Unary::Log2 => self.unary(piece!("\tlg2.approx.f32 "), kind, a),
            Unary::Rsqrt => self.unary(piece!("\trsqrt.approx.f32 "), kind, a),
            Unary::Sin => self.unary(piece!("\tsin.approx.f32 "), kind, a),
            Unary::Cos => self.unary(piece!("\tcos.approx.f32 "), kind, a),
            Unary::Tan => {
                let sine = self.unary(piece!("\tsin.approx.f32 "), kind, a);
                let cosine = self.unary(piece!("\tcos.approx.f32 "), kind, a);
                self.binary(piece!("\tdiv.full.f32 "), kind, sine, cosine)
            }
            Unary::Tanh => self.unary(piece!("\ttanh.approx.f32 "), kind, a),
            // The hardware has none.
            Unary::Erf => self.function1(function, kind, a),
        }
    }

    pub fn pow(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        if !Self::approximate(inst, kind) {
            return self.function2(Binary::Pow, kind, a, b);
        }
        if kind.is_half() {
            let (a, b) = (self.single(kind, a), self.single(kind, b));
            let result = self.fast_pow(a, b);
            return self.rounded(kind, result);
        }
        self.fast_pow(a, b)
    }

    /// exp2(y · log2(|x|)), with the sign, the NaNs and the ones that the definition asks for.
    fn fast_pow(&mut self, x: Token, y: Token) -> Token {
        let kind = Kind::F32;
        let (mul, trunc) = (piece!("\tmul.rn.f32 "), piece!("\tcvt.rzi.f32.f32 "));
        let (eq, lt) = (piece!("\tsetp.eq.f32 "), piece!("\tsetp.lt.f32 "));
        let x = self.in_register(kind, x);
        let y = self.in_register(kind, y);
        let magnitude = self.unary(piece!("\tabs.f32 "), kind, x);
        let log = self.unary(piece!("\tlg2.approx.f32 "), kind, magnitude);
        let exponent = self.binary(mul, kind, y, log);
        let power = self.unary(piece!("\tex2.approx.f32 "), kind, exponent);
        let one = self.binary(eq, Kind::Bool, magnitude, ONE);
        let zero = self.binary(eq, Kind::Bool, y, ZERO);
        let always = self.binary(piece!("\tor.pred "), Kind::Bool, one, zero);
        let power = self.selp(kind, ONE, power, always);
        // Negative where x is and y is odd; NaN where x is and y no integer, of a finite x.
        let whole = self.unary(trunc, kind, y);
        let integer = self.binary(eq, Kind::Bool, whole, y);
        let half = self.binary(mul, kind, y, Token::f32(0x3F00_0000));
        let whole = self.unary(trunc, kind, half);
        let odd = self.ternary(
            piece!("\tsetp.neu.and.f32 "),
            Kind::Bool,
            whole,
            half,
            integer,
        );
        let flipped = self.copied_sign(power, x);
        let power = self.selp(kind, flipped, power, odd);
        let negative = self.binary(lt, Kind::Bool, x, ZERO);
        let fraction = self.unary(piece!("\tnot.pred "), Kind::Bool, integer);
        let wrong = self.binary(piece!("\tand.pred "), Kind::Bool, negative, fraction);
        let finite = piece!("\tsetp.neu.and.f32 ");
        let infinity = Token::f32(0x7F80_0000);
        let wrong = self.ternary(finite, Kind::Bool, magnitude, infinity, wrong);
        self.selp(kind, Token::f32(0x7FFF_FFFF), power, wrong)
    }

    /// A positive f32 with the sign of another.
    fn copied_sign(&mut self, a: Token, b: Token) -> Token {
        let sign = self.binary(
            piece!("\tand.b32 "),
            Kind::F32,
            b,
            Token::integer(1 << 31, false),
        );
        self.binary(piece!("\tor.b32 "), Kind::F32, a, sign)
    }
}
