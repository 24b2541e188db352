//! The 16-bit floats, which live in 16-bit registers (PTX ISA sections 9.7.4 and 9.7.9.21).
//!
//! What the target has for them is used. Everything else is computed in f32 and rounded once more: with at least twice
//! their bits and two more, that is the right result of an addition, product, quotient or root. A fused multiply-add and
//! conversions from wider types round to odd first (see [`Body::odd`]).

use super::body::Body;
use super::mnemonic::{Kind, piece};
use super::writer::{Piece, Token};

/// An f32 operation with its three directed roundings: towards zero, down, up.
pub(super) type Directed = [&'static Piece; 3];

impl Body<'_, '_> {
    /// A 16-bit float as f32, exactly.
    pub fn single(&mut self, kind: Kind, a: Token) -> Token {
        if kind == Kind::F16 {
            return self.unary(piece!("\tcvt.f32.f16 "), Kind::F32, a);
        }
        // bf16 is the upper half of an f32.
        let to = self.register(Kind::F32);
        let line = self.w.line().bytes(b"\tmov.b32 ").token(to);
        line.bytes(b", {0").operand(a).bytes(b"};\n").done();
        to
    }

    /// An f32 rounded to the nearest 16-bit float, the even one of two.
    pub fn rounded(&mut self, kind: Kind, a: Token) -> Token {
        if kind == Kind::F16 {
            return self.unary(piece!("\tcvt.rn.f16.f32 "), kind, a);
        }
        if self.options.target.has_bf16() {
            return self.unary(piece!("\tcvt.rn.bf16.f32 "), kind, a);
        }
        // The lower half and the last bit that stays carry into the upper half; a NaN must not.
        let is_nan = self.is_nan(Kind::F32, a);
        let bits = self.unary(piece!("\tmov.b32 "), Kind::U32, a);
        let last = self.ternary(
            piece!("\tbfe.u32 "),
            Kind::U32,
            bits,
            Self::imm(16),
            Self::imm(1),
        );
        let add = piece!("\tadd.u32 ");
        let sum = self.binary(add, Kind::U32, bits, last);
        let sum = self.binary(add, Kind::U32, sum, Self::imm(0x7FFF));
        let nan = Self::imm(0x7FFF_FFFF);
        let sum = self.selp(Kind::U32, nan, sum, is_nan);
        self.upper(sum)
    }

    /// An f32 that is a value of the kind, or NaN, as that.
    pub fn exact(&mut self, kind: Kind, a: Token) -> Token {
        if kind == Kind::F16 {
            return self.unary(piece!("\tcvt.rn.f16.f32 "), kind, a);
        }
        self.upper(a)
    }

    /// The upper half of a 32-bit register.
    pub fn upper(&mut self, a: Token) -> Token {
        let to = self.register(Kind::BF16);
        let line = self.w.line().bytes(b"\tmov.b32 {_, ").token(to);
        line.bytes(b"}").operand(a).end();
        to
    }

    /// Two operands, by the f32 operation.
    pub fn through_single2(&mut self, operation: &Piece, kind: Kind, a: Token, b: Token) -> Token {
        let (a, b) = (self.single(kind, a), self.single(kind, b));
        let result = self.binary(operation, Kind::F32, a, b);
        self.rounded(kind, result)
    }

    /// An f32 rounded to odd: where it is not exact, the last bit is set. Rounding that to fewer bits, two less or more, is
    /// rounding once. `write` writes the operation with the given mnemonic.
    pub fn odd(
        &mut self,
        [zero, down, up]: Directed,
        mut write: impl FnMut(&mut Self, &'static Piece) -> Token,
    ) -> Token {
        let (down, up, result) = (write(self, down), write(self, up), write(self, zero));
        let inexact = self.binary(piece!("\tsetp.neu.f32 "), Kind::Bool, down, up);
        // `result` is a register of its own.
        let line = self.w.line().bytes(b"\t@").token(inexact);
        let line = line.piece(piece!(" or.b32 ")).token(result);
        line.operand(result).operand(Self::imm(1)).end();
        result
    }

    /// The fused multiply-add of bf16 where the target has none.
    pub fn fma_through_single(&mut self, kind: Kind, a: Token, b: Token, c: Token) -> Token {
        let (a, b) = (self.single(kind, a), self.single(kind, b));
        let c = self.single(kind, c);
        let fma = [
            piece!("\tfma.rz.f32 "),
            piece!("\tfma.rm.f32 "),
            piece!("\tfma.rp.f32 "),
        ];
        let odd = self.odd(fma, |body, fma| body.ternary(fma, Kind::F32, a, b, c));
        self.rounded(kind, odd)
    }

    /// A constant in a register.
    pub fn half_constant(&mut self, bits: u16) -> Token {
        self.unary(piece!("\tmov.b16 "), Kind::F16, Token::b16(bits))
    }

    /// The bits without the sign.
    pub fn half_magnitude(&mut self, a: Token) -> Token {
        let mask = Self::imm(0x7FFF);
        self.binary(piece!("\tand.b16 "), Kind::F16, a, mask)
    }
}
