//! The precise functions: recipes of [`crate::math`], written in place.

use super::arith::{ADD, MAX, MIN, NEG, SUB};
use super::body::Body;
use super::compare::{SETP_EQ, SETP_LE, SETP_LT};
use super::mnemonic::{Kind, piece};
use super::writer::{Piece, Token, Writer};
use crate::math::{self, Binary, Sink, Table, Unary};

/// The tables that recipes have asked for, each an array of the module.
#[derive(Debug, Default)]
pub(super) struct RecipeTables {
    tables: Vec<&'static Table>,
    /// How many of them are in the text already.
    written: usize,
}

impl RecipeTables {
    pub fn clear(&mut self) {
        self.tables.clear();
        self.written = 0;
    }

    /// The number of a table.
    fn number(&mut self, table: &'static Table) -> u32 {
        let known = self.tables.iter().position(|t| t.name == table.name);
        let at = known.unwrap_or_else(|| {
            self.tables.push(table);
            self.tables.len() - 1
        });
        // There are a handful.
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// Writes those that are not there yet.
    pub fn write(&mut self, w: &mut Writer<'_>) {
        for (number, table) in (0u32..).zip(&self.tables).skip(self.written) {
            let name = Token::numbered("$m", number);
            let (head, words) = if table.width == 64 {
                (piece!("\n.global .align 8 .b64 "), table.words.len())
            } else {
                (piece!("\n.global .align 4 .b32 "), table.words.len())
            };
            let words = u32::try_from(words).unwrap_or(u32::MAX);
            let line = w.line().piece(head).token(name);
            line.bytes(b"[").number(words).bytes(b"] = {").done();
            for (i, &word) in table.words.iter().enumerate() {
                let line = w.line();
                let line = if i == 0 { line } else { line.bytes(b", ") };
                line.token(Token::integer(word, false)).done();
            }
            w.line().bytes(b"};\n").done();
        }
        self.written = self.tables.len();
    }
}

impl Body<'_, '_> {
    /// A function of one float.
    pub fn function1(&mut self, function: Unary, kind: Kind, a: Token) -> Token {
        if kind == Kind::F64 {
            return math::unary::<f64, _>(function, &mut Recipe(self), a);
        }
        if kind.is_half() {
            let a = self.single(kind, a);
            let result = math::unary::<f32, _>(function, &mut Recipe(self), a);
            return self.rounded(kind, result);
        }
        math::unary::<f32, _>(function, &mut Recipe(self), a)
    }

    /// A function of two floats.
    pub fn function2(&mut self, function: Binary, kind: Kind, a: Token, b: Token) -> Token {
        if kind == Kind::F64 {
            return math::binary::<f64, _>(function, &mut Recipe(self), a, b);
        }
        if kind.is_half() {
            let (a, b) = (self.single(kind, a), self.single(kind, b));
            let result = math::binary::<f32, _>(function, &mut Recipe(self), a, b);
            return self.rounded(kind, result);
        }
        math::binary::<f32, _>(function, &mut Recipe(self), a, b)
    }
}

/// Writes what a recipe asks for.
struct Recipe<'b, 'a, 'o>(&'b mut Body<'a, 'o>);

macro_rules! sink {
    ($float:ident, $kind:expr, $int:expr, $constant:path, $bits:literal, $($piece:ident: $text:literal,)*) => {
        impl Sink<$float> for Recipe<'_, '_, '_> {
            type F = Token;
            type I = Token;
            type B = Token;

            #[inline]
            fn float(&mut self, value: $float) -> Token {
                $constant(value.to_bits())
            }
            #[inline]
            fn int(&mut self, value: u64) -> Token {
                Token::integer(value, false)
            }
            #[inline]
            fn add(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(ADD.of($kind), $kind, a, b)
            }
            #[inline]
            fn sub(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(SUB.of($kind), $kind, a, b)
            }
            #[inline]
            fn mul(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(piece!(concat!("\tmul.rn.", stringify!($float), " ")), $kind, a, b)
            }
            #[inline]
            fn fma(&mut self, a: Token, b: Token, c: Token) -> Token {
                self.0.ternary(piece!(concat!("\tfma.rn.", stringify!($float), " ")), $kind, a, b, c)
            }
            #[inline]
            fn neg(&mut self, a: Token) -> Token {
                self.0.unary(NEG.of($kind), $kind, a)
            }
            #[inline]
            fn abs(&mut self, a: Token) -> Token {
                self.0.unary(piece!(concat!("\tabs.", stringify!($float), " ")), $kind, a)
            }
            #[inline]
            fn min(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(MIN.of($kind), $kind, a, b)
            }
            #[inline]
            fn max(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(MAX.of($kind), $kind, a, b)
            }
            #[inline]
            fn trunc(&mut self, a: Token) -> Token {
                let a = self.0.in_register($kind, a);
                let cvt = piece!(concat!("\tcvt.rzi.", stringify!($float), ".", stringify!($float), " "));
                self.0.unary(cvt, $kind, a)
            }
            #[inline]
            fn lt(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(SETP_LT.of($kind), Kind::Bool, a, b)
            }
            #[inline]
            fn le(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(SETP_LE.of($kind), Kind::Bool, a, b)
            }
            #[inline]
            fn eq(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(SETP_EQ.of($kind), Kind::Bool, a, b)
            }
            #[inline]
            fn select(&mut self, condition: Token, a: Token, b: Token) -> Token {
                self.0.selp($kind, a, b, condition)
            }
            #[inline]
            fn select_int(&mut self, condition: Token, a: Token, b: Token) -> Token {
                self.0.selp($int, a, b, condition)
            }
            #[inline]
            fn both(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(piece!("\tand.pred "), Kind::Bool, a, b)
            }
            #[inline]
            fn either(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(piece!("\tor.pred "), Kind::Bool, a, b)
            }
            #[inline]
            fn to_bits(&mut self, a: Token) -> Token {
                self.0.unary(piece!(concat!("\tmov.b", $bits, " ")), $int, a)
            }
            #[inline]
            fn from_bits(&mut self, a: Token) -> Token {
                self.0.unary(piece!(concat!("\tmov.b", $bits, " ")), $kind, a)
            }
            #[inline]
            fn from_signed(&mut self, a: Token) -> Token {
                let a = self.0.in_register($int, a);
                let cvt = piece!(concat!("\tcvt.rn.", stringify!($float), ".s", $bits, " "));
                self.0.unary(cvt, $kind, a)
            }
            #[inline]
            fn from_unsigned(&mut self, a: Token) -> Token {
                let a = self.0.in_register($int, a);
                let cvt = piece!(concat!("\tcvt.rn.", stringify!($float), ".u", $bits, " "));
                self.0.unary(cvt, $kind, a)
            }
            $(#[inline]
            fn $piece(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(piece!(concat!("\t", $text, $bits, " ")), $int, a, b)
            })*
            #[inline]
            fn shl(&mut self, a: Token, n: Token) -> Token {
                self.0.recipe_shift(piece!(concat!("\tshl.b", $bits, " ")), $int, a, n)
            }
            #[inline]
            fn shr(&mut self, a: Token, n: Token) -> Token {
                self.0.recipe_shift(piece!(concat!("\tshr.u", $bits, " ")), $int, a, n)
            }
            #[inline]
            fn ult(&mut self, a: Token, b: Token) -> Token {
                self.0.binary(SETP_LT.of($int), Kind::Bool, a, b)
            }
            #[inline]
            fn ieq(&mut self, a: Token, b: Token) -> Token {
                self.0.equal($int, a, b)
            }

            fn table(&mut self, table: &'static Table, index: Token) -> Token {
                self.0.recipe_table(table, $int, index)
            }

            fn repeat(
                &mut self,
                times: Token,
                state: Token,
                mut body: impl FnMut(&mut Self, Token) -> Token,
            ) -> Token {
                let state = self.0.copied($kind, state);
                let left = self.0.copied($int, times);
                let (next, done) = (self.0.new_label(), self.0.new_label());
                self.0.label(next);
                // It seldom takes more than one turn: ptxas would write out four.
                self.0.no_unrolling();
                let none = self.0.equal($int, left, Token::integer(0, false));
                self.0.branch_if(none, done);
                let new = body(self, state);
                self.0.line2(piece!(concat!("\tmov.b", $bits, " ")), state, new);
                let one = Token::integer(1, false);
                self.0.line3(piece!(concat!("\tsub.u", $bits, " ")), left, left, one);
                self.0.branch(next);
                self.0.label(done);
                state
            }
        }
    };
}

sink! {
    f32, Kind::F32, Kind::U32, Token::f32, "32",
    iadd: "add.u", isub: "sub.u", imul: "mul.lo.u", umul_hi: "mul.hi.u",
    and: "and.b", or: "or.b", xor: "xor.b",
}
sink! {
    f64, Kind::F64, Kind::U64, Token::f64, "64",
    iadd: "add.u", isub: "sub.u", imul: "mul.lo.u", umul_hi: "mul.hi.u",
    and: "and.b", or: "or.b", xor: "xor.b",
}

impl Body<'_, '_> {
    /// A shift by an amount of the integer's own width; the instruction's has 32 bits.
    fn recipe_shift(&mut self, shift: &Piece, int: Kind, a: Token, n: Token) -> Token {
        let n = if int.is_wide() && !n.is_immediate() {
            self.unary(piece!("\tcvt.u32.u64 "), Kind::U32, n)
        } else {
            n
        };
        self.binary(shift, int, a, n)
    }

    /// Has ptxas leave the loop whose header begins here as it is (PTX ISA section 11.4, pragma `nounroll`).
    fn no_unrolling(&mut self) {
        self.w.line().bytes(b"\t.pragma \"nounroll\";\n").done();
    }

    /// The word of a recipe's table at an index within it.
    fn recipe_table(&mut self, table: &'static Table, int: Kind, index: Token) -> Token {
        let symbol = Token::numbered("$m", self.s.recipes.number(table));
        let base = self.unary(piece!("\tmov.u64 "), Kind::U64, symbol);
        let wide = int.is_wide();
        let index = if wide {
            let index = self.in_register(int, index);
            self.unary(piece!("\tcvt.u32.u64 "), Kind::U32, index)
        } else {
            index
        };
        let size = Self::imm(if wide { 8 } else { 4 });
        let at = self.ternary(piece!("\tmad.wide.u32 "), Kind::U64, index, size, base);
        let ld: &Piece = if wide {
            piece!("\tld.global.nc.u64 ")
        } else {
            piece!("\tld.global.nc.u32 ")
        };
        let to = self.register(int);
        let line = self.w.line().piece(ld).token(to).bytes(b", [");
        line.token(at).bytes(b"];\n").done();
        to
    }
}
