//! Bits and logic (PTX ISA sections 9.7.1 and 9.7.8).

use super::body::Body;
use super::mnemonic::{Kind, Mnemonic, by_bits, piece};
use super::writer::Token;
use crate::kernel::Inst;

pub(super) static AND: Mnemonic = by_bits!("and");
pub(super) static OR: Mnemonic = by_bits!("or");
pub(super) static XOR: Mnemonic = by_bits!("xor");
pub(super) static NOT: Mnemonic = by_bits!("not");
pub(super) static SHL: Mnemonic = by_bits!("shl");
pub(super) static SHR: Mnemonic = super::mnemonic::by_type!("shr");
static CLZ: Mnemonic = by_bits!("clz");
static POPC: Mnemonic = by_bits!("popc");
static BREV: Mnemonic = by_bits!("brev");
static BFE: Mnemonic = super::mnemonic::by_type!("bfe");
static BFI: Mnemonic = by_bits!("bfi");

impl Body<'_, '_> {
    pub fn and(&mut self, inst: &Inst) -> Token {
        self.simple2(&AND, inst)
    }

    pub fn or(&mut self, inst: &Inst) -> Token {
        self.simple2(&OR, inst)
    }

    pub fn xor(&mut self, inst: &Inst) -> Token {
        self.simple2(&XOR, inst)
    }

    pub fn not(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let flipped = self.simple1(&NOT, inst);
        // The flipped sign bits of a signed narrow integer are its own.
        if kind.is_signed() {
            return flipped;
        }
        self.normal(kind, flipped)
    }

    /// An amount modulo the width: reduced now if it is known.
    fn amount(&mut self, kind: Kind, word: u32) -> Token {
        let mask = kind.width() - 1;
        match self.known(word) {
            Some(bits) => Token::integer(bits & u64::from(mask), false),
            None => {
                let amount = self.value(word);
                let mask = Self::imm(mask);
                self.binary(piece!("\tand.b32 "), Kind::U32, amount, mask)
            }
        }
    }

    pub fn shl(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
        if kind.is_narrow() {
            let amount = self.amount(kind, inst.b);
            let shifted = self.binary(SHL.of(kind), kind, a, amount);
            return self.normal(kind, shifted);
        }
        if !kind.is_wide() && self.known(inst.b).is_none() {
            // The funnel shift takes its amount modulo 32.
            let (zero, amount) = (Self::imm(0), self.value(inst.b));
            return self.ternary(piece!("\tshf.l.wrap.b32 "), kind, zero, a, amount);
        }
        let amount = self.amount(kind, inst.b);
        self.binary(SHL.of(kind), kind, a, amount)
    }

    pub fn shr(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
        if kind == Kind::U32 && self.known(inst.b).is_none() {
            let (zero, amount) = (Self::imm(0), self.value(inst.b));
            return self.ternary(piece!("\tshf.r.wrap.b32 "), kind, a, zero, amount);
        }
        let amount = self.amount(kind, inst.b);
        self.binary(SHR.of(kind), kind, a, amount)
    }

    pub fn rotate(&mut self, inst: &Inst, left: bool) -> Token {
        let a = self.value(inst.a);
        self.double_shift(inst, a, a, inst.b, left)
    }

    pub fn funnel(&mut self, inst: &Inst, left: bool) -> Token {
        let (high, low) = (self.value(inst.a), self.value(inst.b));
        self.double_shift(inst, high, low, inst.c, left)
    }

    /// The high half of `high:low << amount`, or the low half of `high:low >> amount`.
    fn double_shift(
        &mut self,
        inst: &Inst,
        high: Token,
        low: Token,
        amount: u32,
        left: bool,
    ) -> Token {
        let kind = self.kind(inst.ty);
        if kind.is_narrow() {
            return self.narrow_double_shift(kind, high, low, amount, left);
        }
        if !kind.is_wide() {
            let amount = match self.known(amount) {
                Some(bits) => Token::integer(bits & 31, false),
                None => self.value(amount),
            };
            let shf = if left {
                piece!("\tshf.l.wrap.b32 ")
            } else {
                piece!("\tshf.r.wrap.b32 ")
            };
            return self.ternary(shf, kind, low, high, amount);
        }
        // A shift of 64 bits by 64 gives 0, so an amount of 0 needs no care.
        let (by, rest) = match self.known(amount) {
            Some(bits) => (
                Token::integer(bits & 63, false),
                Token::integer(64 - (bits & 63), false),
            ),
            None => {
                let by = self.amount(kind, amount);
                let rest = self.binary(piece!("\tsub.s32 "), Kind::U32, Self::imm(64), by);
                (by, rest)
            }
        };
        let (up, down) = if left { (by, rest) } else { (rest, by) };
        let upper = self.binary(piece!("\tshl.b64 "), kind, high, up);
        let lower = self.binary(piece!("\tshr.u64 "), kind, low, down);
        self.binary(OR.of(kind), kind, upper, lower)
    }

    /// Both halves lie in one 32-bit register.
    fn narrow_double_shift(
        &mut self,
        kind: Kind,
        high: Token,
        low: Token,
        amount: u32,
        left: bool,
    ) -> Token {
        let amount = self.amount(kind, amount);
        let width = Self::imm(kind.width());
        let double = self.register(Kind::U32);
        let line = self.w.line().piece(BFI.of(kind)).token(double);
        let line = line.operand(high).operand(low);
        line.operand(width).operand(width).end();
        let shifted = if left {
            let shifted = self.binary(SHL.of(kind), Kind::U32, double, amount);
            self.binary(piece!("\tshr.u32 "), Kind::U32, shifted, width)
        } else {
            self.binary(piece!("\tshr.u32 "), Kind::U32, double, amount)
        };
        self.normal(kind, shifted)
    }

    /// A narrow value with zeros above; every other as it is.
    fn unsigned(&mut self, kind: Kind, a: Token) -> Token {
        if kind.is_narrow() && kind.is_signed() {
            self.low_bits(kind, a)
        } else {
            a
        }
    }

    fn counting(&mut self, mnemonic: &'static Mnemonic, inst: &Inst) -> Token {
        let kind = self.kind_of(inst.a);
        let a = self.value(inst.a);
        let a = self.unsigned(kind, a);
        self.unary(mnemonic.of(kind), Kind::U32, a)
    }

    pub fn clz(&mut self, inst: &Inst) -> Token {
        let count = self.counting(&CLZ, inst);
        let kind = self.kind_of(inst.a);
        if kind.is_narrow() {
            let above = Self::imm(32 - kind.width());
            return self.binary(piece!("\tsub.u32 "), Kind::U32, count, above);
        }
        count
    }

    pub fn ctz(&mut self, inst: &Inst) -> Token {
        let kind = self.kind_of(inst.a);
        let mut a = self.value(inst.a);
        if kind.is_narrow() {
            // A bit above the width ends the count.
            let end = Self::imm(1 << kind.width());
            a = self.binary(OR.of(kind), kind, a, end);
        }
        let reversed = self.unary(BREV.of(kind), kind, a);
        self.unary(CLZ.of(kind), Kind::U32, reversed)
    }

    pub fn popcount(&mut self, inst: &Inst) -> Token {
        self.counting(&POPC, inst)
    }

    pub fn reverse_bits(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let reversed = self.simple1(&BREV, inst);
        if kind.is_narrow() {
            let down = Self::imm(32 - kind.width());
            return self.binary(SHR.of(kind), kind, reversed, down);
        }
        reversed
    }

    /// An offset or count for `bfe` and `bfi`, bounded by the width: they read its low eight bits only.
    fn bounded(&mut self, word: u32, kind: Kind) -> Token {
        let width = kind.width();
        match self.known(word) {
            Some(bits) => Token::integer(bits.min(u64::from(width)), false),
            None => {
                let value = self.value(word);
                self.binary(piece!("\tmin.u32 "), Kind::U32, value, Self::imm(width))
            }
        }
    }

    /// The length of a field to insert, cut to what is left above its offset. The PTX ISA would have `bfi` stop at the top
    /// by itself; the assembler of driver 580 folds constants otherwise.
    fn left_of(&mut self, offset: u32, bounded: Token, count: u32, kind: Kind) -> Token {
        let width = kind.width();
        if let (Some(offset), Some(count)) = (self.known(offset), self.known(count)) {
            let left = u64::from(width).saturating_sub(offset);
            return Token::integer(count.min(left), false);
        }
        let left = self.binary(piece!("\tsub.u32 "), Kind::U32, Self::imm(width), bounded);
        let count = self.value(count);
        self.binary(piece!("\tmin.u32 "), Kind::U32, count, left)
    }

    pub fn bitfield_extract(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
        let width = u64::from(kind.width());
        let offset = self.bounded(inst.b, kind);
        let mut count = self.bounded(inst.c, kind);
        if kind.is_signed() {
            // With an offset beyond the width `bfe` extends the sign of `a`; an empty field is 0.
            match self.known(inst.b) {
                Some(bits) if bits >= width => return Self::imm(0),
                Some(_) => {}
                None => {
                    let width = Self::imm(kind.width());
                    let inside = self.binary(piece!("\tsetp.lt.u32 "), Kind::Bool, offset, width);
                    count = self.selp(Kind::U32, count, Self::imm(0), inside);
                }
            }
        }
        self.ternary(BFE.of(kind), kind, a, offset, count)
    }

    pub fn bitfield_insert(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let words = self.kernel.words(inst);
        let &[base, insert, offset, count] = &*words else {
            return Token::NONE;
        };
        let (base, insert) = (self.value(base), self.value(insert));
        let bounded = self.bounded(offset, kind);
        let count = self.left_of(offset, bounded, count, kind);
        let offset = bounded;
        let to = self.register(kind);
        let line = self.w.line().piece(BFI.of(kind)).token(to);
        let line = line.operand(insert).operand(base);
        line.operand(offset).operand(count).end();
        self.normal(kind, to)
    }
}
