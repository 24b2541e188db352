//! Conversions (PTX ISA section 9.7.9.21, `cvt`).

use super::body::Body;
use super::half::Directed;
use super::mnemonic::{Kind, MOV, piece};
use super::writer::{Piece, Token};
use crate::kernel::Inst;

/// What a conversion between two different kinds takes.
enum Way {
    /// The same register: only the signedness differs.
    Same,
    /// From a `bool`.
    FromBool,
    /// To a `bool`.
    ToBool,
    /// One `cvt`.
    Cvt(&'static Piece),
    /// One `cvt`, and 0 selected for a NaN, for which it gives something else.
    NanToZero(&'static Piece),
    /// By the 32-bit integer of the target's signedness, then the low bits.
    LowBits,
    /// By that integer, then kept within the target's range.
    Clamp,
    /// From a 16-bit float, by f32.
    FromSingle,
    /// To bf16, by an f32 that holds the number.
    Round(Option<&'static Piece>),
    /// To bf16, by an f32 rounded to odd.
    Odd(Directed),
    /// Between the two 16-bit floats, by f32.
    Half,
}

/// Whether every value of one integer kind, narrow or not, is one of a narrow other.
fn fits(from: Kind, to: Kind) -> bool {
    let (from_bits, to_bits) = (from.width(), to.width());
    match (from.is_signed(), to.is_signed()) {
        (true, true) | (false, false) => from_bits <= to_bits,
        (false, true) => from_bits < to_bits,
        (true, false) => false,
    }
}

#[rustfmt::skip]
fn way(from: Kind, to: Kind) -> Way {
    use Kind::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    use Way::{Clamp, Cvt, FromBool, FromSingle, Half, LowBits, NanToZero, Odd, Round, Same, ToBool};
    match (from, to) {
        (Bool, Bool) | (I32 | U32, I32 | U32) | (I64 | U64, I64 | U64) => Same,
        (F32, F32) | (F64, F64) | (F16, F16) | (BF16, BF16) => Same,
        (Bool, I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64 | F16 | BF16 | F32 | F64) => FromBool,
        (I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64 | F16 | BF16 | F32 | F64, Bool) => ToBool,

        // Narrow integers are 32-bit ones.
        (I8 | U8 | I16 | U16, I32 | U32) => Same,
        (I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64, I8 | U8 | I16 | U16) => {
            if fits(from, to) { Same } else { LowBits }
        }
        (I8 | I16 | I32, I64 | U64) => Cvt(piece!("\tcvt.s64.s32 ")),
        (U8 | U16 | U32, I64 | U64) => Cvt(piece!("\tcvt.u64.u32 ")),
        (I64 | U64, I32 | U32) => Cvt(piece!("\tcvt.u32.u64 ")),

        (I8 | I16 | I32, F32) => Cvt(piece!("\tcvt.rn.f32.s32 ")),
        (U8 | U16 | U32, F32) => Cvt(piece!("\tcvt.rn.f32.u32 ")),
        (I64, F32) => Cvt(piece!("\tcvt.rn.f32.s64 ")),
        (U64, F32) => Cvt(piece!("\tcvt.rn.f32.u64 ")),
        (I8 | I16 | I32, F64) => Cvt(piece!("\tcvt.rn.f64.s32 ")),
        (U8 | U16 | U32, F64) => Cvt(piece!("\tcvt.rn.f64.u32 ")),
        (I64, F64) => Cvt(piece!("\tcvt.rn.f64.s64 ")),
        (U64, F64) => Cvt(piece!("\tcvt.rn.f64.u64 ")),
        (I8 | I16 | I32, F16) => Cvt(piece!("\tcvt.rn.f16.s32 ")),
        (U8 | U16 | U32, F16) => Cvt(piece!("\tcvt.rn.f16.u32 ")),
        (I64, F16) => Cvt(piece!("\tcvt.rn.f16.s64 ")),
        (U64, F16) => Cvt(piece!("\tcvt.rn.f16.u64 ")),
        // An f32 holds 24 bits.
        (I8 | I16, BF16) => Round(Some(piece!("\tcvt.rn.f32.s32 "))),
        (U8 | U16, BF16) => Round(Some(piece!("\tcvt.rn.f32.u32 "))),
        (I32, BF16) => Odd([piece!("\tcvt.rz.f32.s32 "), piece!("\tcvt.rm.f32.s32 "), piece!("\tcvt.rp.f32.s32 ")]),
        (U32, BF16) => Odd([piece!("\tcvt.rz.f32.u32 "), piece!("\tcvt.rm.f32.u32 "), piece!("\tcvt.rp.f32.u32 ")]),
        (I64, BF16) => Odd([piece!("\tcvt.rz.f32.s64 "), piece!("\tcvt.rm.f32.s64 "), piece!("\tcvt.rp.f32.s64 ")]),
        (U64, BF16) => Odd([piece!("\tcvt.rz.f32.u64 "), piece!("\tcvt.rm.f32.u64 "), piece!("\tcvt.rp.f32.u64 ")]),
        (F64, BF16) => Odd([piece!("\tcvt.rz.f32.f64 "), piece!("\tcvt.rm.f32.f64 "), piece!("\tcvt.rp.f32.f64 ")]),

        (F32, F64) => Cvt(piece!("\tcvt.f64.f32 ")),
        (F64, F32) => Cvt(piece!("\tcvt.rn.f32.f64 ")),
        (F32, F16) => Cvt(piece!("\tcvt.rn.f16.f32 ")),
        (F64, F16) => Cvt(piece!("\tcvt.rn.f16.f64 ")),
        (F16, F32) => Cvt(piece!("\tcvt.f32.f16 ")),
        (F16, F64) => Cvt(piece!("\tcvt.f64.f16 ")),
        (F32, BF16) => Round(None),
        (F16, BF16) | (BF16, F16) => Half,
        (BF16, F32 | F64) => FromSingle,

        // `.rzi` saturates by itself.
        (F32, I32) => Cvt(piece!("\tcvt.rzi.s32.f32 ")),
        (F32, U32) => Cvt(piece!("\tcvt.rzi.u32.f32 ")),
        (F32, I64) => NanToZero(piece!("\tcvt.rzi.s64.f32 ")),
        (F32, U64) => NanToZero(piece!("\tcvt.rzi.u64.f32 ")),
        (F64, I32) => NanToZero(piece!("\tcvt.rzi.s32.f64 ")),
        (F64, U32) => NanToZero(piece!("\tcvt.rzi.u32.f64 ")),
        (F64, I64) => NanToZero(piece!("\tcvt.rzi.s64.f64 ")),
        (F64, U64) => NanToZero(piece!("\tcvt.rzi.u64.f64 ")),
        (F32 | F64, I8 | U8 | I16 | U16) => Clamp,
        (F16 | BF16, I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64) => FromSingle,
    }
}

impl Body<'_, '_> {
    pub fn convert(&mut self, inst: &Inst) -> Token {
        let from = self.kind_of(inst.a);
        let to = self.kind(inst.ty);
        let a = self.value(inst.a);
        if from == to {
            return a;
        }
        // `cvt` would read an immediate as wider than its source type.
        let a = self.in_register(from, a);
        self.converted(from, to, a)
    }

    /// The register `a` converted.
    fn converted(&mut self, from: Kind, to: Kind, a: Token) -> Token {
        let word = if to.is_signed() { Kind::I32 } else { Kind::U32 };
        match way(from, to) {
            Way::Same => a,
            Way::FromBool => self.widened_bool(to, a),
            Way::ToBool => self.is_not_zero(from, a),
            Way::Cvt(cvt) => self.unary(cvt, to, a),
            Way::NanToZero(cvt) => {
                let is_nan = self.is_nan(from, a);
                let plain = self.unary(cvt, to, a);
                let zero = Self::imm(0);
                self.selp(to, zero, plain, is_nan)
            }
            Way::LowBits => {
                let low = if from.is_wide() {
                    self.unary(piece!("\tcvt.u32.u64 "), word, a)
                } else {
                    a
                };
                self.normal(to, low)
            }
            Way::Clamp => {
                let whole = self.converted(from, word, a);
                self.clamped(to, whole)
            }
            Way::FromSingle => {
                let single = self.single(from, a);
                if to == Kind::F32 {
                    return single;
                }
                self.converted(Kind::F32, to, single)
            }
            Way::Round(cvt) => {
                let single = match cvt {
                    Some(cvt) => self.unary(cvt, Kind::F32, a),
                    None => a,
                };
                self.rounded(to, single)
            }
            Way::Odd(cvt) => {
                let odd = self.odd(cvt, |body, cvt| body.unary(cvt, Kind::F32, a));
                self.rounded(to, odd)
            }
            Way::Half => {
                let single = self.single(from, a);
                self.rounded(to, single)
            }
        }
    }

    fn widened_bool(&mut self, to: Kind, a: Token) -> Token {
        let (one, zero) = match to {
            Kind::F32 => (Token::f32(0x3F80_0000), Token::f32(0)),
            Kind::F64 => (Token::f64(0x3FF0_0000_0000_0000), Token::f64(0)),
            Kind::F16 => (Token::b16(0x3C00), Token::b16(0)),
            Kind::BF16 => (Token::b16(0x3F80), Token::b16(0)),
            Kind::Bool
            | Kind::I8
            | Kind::U8
            | Kind::I16
            | Kind::U16
            | Kind::I32
            | Kind::U32
            | Kind::I64
            | Kind::U64 => (Self::imm(1), Self::imm(0)),
        };
        self.selp(to, one, zero, a)
    }

    pub fn bitcast(&mut self, inst: &Inst) -> Token {
        let from = self.kind_of(inst.a);
        let to = self.kind(inst.ty);
        let a = self.value(inst.a);
        if from == to || from.is_half() && to.is_half() {
            return a;
        }
        if to.is_narrow() && from.is_half() {
            let cvt = if to.is_signed() {
                piece!("\tcvt.s32.s16 ")
            } else {
                piece!("\tcvt.u32.u16 ")
            };
            return self.unary(cvt, to, a);
        }
        if to.is_narrow() {
            let a = self.in_register(from, a);
            return self.normal(to, a);
        }
        if to.is_half() {
            let a = self.in_register(from, a);
            return self.unary(piece!("\tcvt.u16.u32 "), to, a);
        }
        if from.is_float() == to.is_float() && !a.is_immediate() {
            return a;
        }
        self.unary(MOV.of(to), to, a)
    }

    pub fn pack(&mut self, inst: &Inst) -> Token {
        let (low, high) = (self.value(inst.a), self.value(inst.b));
        let to = self.register(Kind::U32);
        let line = self.w.line().bytes(b"\tmov.b32 ").token(to);
        let line = line.bytes(b", {").token(low).operand(high);
        line.bytes(b"};\n").done();
        to
    }

    pub fn unpack(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
        let a = self.in_register(Kind::U32, a);
        if inst.flags & Inst::HIGH != 0 {
            return self.upper(a);
        }
        let to = self.register(kind);
        let line = self.w.line().bytes(b"\tmov.b32 {").token(to);
        line.bytes(b", _}").operand(a).end();
        to
    }
}
