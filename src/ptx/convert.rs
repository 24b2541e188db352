//! Conversions (PTX ISA section 9.7.9.21, `cvt`).

use super::body::Body;
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
}

fn way(from: Kind, to: Kind) -> Way {
    use Kind::{Bool, F32, F64, I32, I64, U32, U64};
    use Way::{Cvt, FromBool, NanToZero, Same, ToBool};
    match (from, to) {
        (Bool, Bool) | (I32 | U32, I32 | U32) | (I64 | U64, I64 | U64) => Same,
        (F32, F32) | (F64, F64) => Same,
        (Bool, I32 | U32 | F32 | I64 | U64 | F64) => FromBool,
        (I32 | U32 | F32 | I64 | U64 | F64, Bool) => ToBool,

        (I32, I64 | U64) => Cvt(piece!("\tcvt.s64.s32 ")),
        (U32, I64 | U64) => Cvt(piece!("\tcvt.u64.u32 ")),
        (I64 | U64, I32 | U32) => Cvt(piece!("\tcvt.u32.u64 ")),

        (I32, F32) => Cvt(piece!("\tcvt.rn.f32.s32 ")),
        (U32, F32) => Cvt(piece!("\tcvt.rn.f32.u32 ")),
        (I64, F32) => Cvt(piece!("\tcvt.rn.f32.s64 ")),
        (U64, F32) => Cvt(piece!("\tcvt.rn.f32.u64 ")),
        (I32, F64) => Cvt(piece!("\tcvt.rn.f64.s32 ")),
        (U32, F64) => Cvt(piece!("\tcvt.rn.f64.u32 ")),
        (I64, F64) => Cvt(piece!("\tcvt.rn.f64.s64 ")),
        (U64, F64) => Cvt(piece!("\tcvt.rn.f64.u64 ")),

        (F32, F64) => Cvt(piece!("\tcvt.f64.f32 ")),
        (F64, F32) => Cvt(piece!("\tcvt.rn.f32.f64 ")),

        // `.rzi` saturates by itself.
        (F32, I32) => Cvt(piece!("\tcvt.rzi.s32.f32 ")),
        (F32, U32) => Cvt(piece!("\tcvt.rzi.u32.f32 ")),
        (F32, I64) => NanToZero(piece!("\tcvt.rzi.s64.f32 ")),
        (F32, U64) => NanToZero(piece!("\tcvt.rzi.u64.f32 ")),
        (F64, I32) => NanToZero(piece!("\tcvt.rzi.s32.f64 ")),
        (F64, U32) => NanToZero(piece!("\tcvt.rzi.u32.f64 ")),
        (F64, I64) => NanToZero(piece!("\tcvt.rzi.s64.f64 ")),
        (F64, U64) => NanToZero(piece!("\tcvt.rzi.u64.f64 ")),
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
        match way(from, to) {
            Way::Same => a,
            Way::FromBool => {
                let (one, zero) = match to {
                    Kind::F32 => (Token::f32(0x3F80_0000), Token::f32(0)),
                    Kind::F64 => (Token::f64(0x3FF0_0000_0000_0000), Token::f64(0)),
                    _ => (Self::imm(1), Self::imm(0)),
                };
                self.selp(to, one, zero, a)
            }
            Way::ToBool => self.is_not_zero(from, a),
            Way::Cvt(cvt) => self.unary(cvt, to, a),
            Way::NanToZero(cvt) => {
                let is_nan = self.is_nan(from, a);
                let plain = self.unary(cvt, to, a);
                let zero = Self::imm(0);
                self.selp(to, zero, plain, is_nan)
            }
        }
    }

    pub fn bitcast(&mut self, inst: &Inst) -> Token {
        let from = self.kind_of(inst.a);
        let to = self.kind(inst.ty);
        let a = self.value(inst.a);
        if from == to || (from.is_float() == to.is_float() && !a.is_immediate()) {
            return a;
        }
        self.unary(MOV.of(to), to, a)
    }
}
