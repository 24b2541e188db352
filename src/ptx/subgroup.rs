//! Operations among the lanes of a subgroup, which is a warp (PTX ISA sections 9.7.9.6, 9.7.13.3, .9 and .10).
//!
//! Which lanes are active follows from the workgroup's size: all of them, or in the last warp those below its rest. The
//! verifier has seen that all of them come here together, so the mask is theirs, and a constant where it can be one.
//!
//! `shfl` takes a limit beside the mask: what lies above it is not there, and the lane gets its own value. With the last
//! active lane as the limit that is what the opcodes mean by an inactive lane.

use super::arith::{MAX, MIN};
use super::body::Body;
use super::mnemonic::{Kind, MOV, Mnemonic, by_bits, piece};
use super::writer::{Piece, Token};
use crate::kernel::{Inst, Uses};

static AND: Mnemonic = by_bits!("and");
static OR: Mnemonic = by_bits!("or");
static XOR: Mnemonic = by_bits!("xor");

/// The active lanes of a thread's subgroup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    /// One bit a lane.
    mask: Token,
    /// The last one.
    last: Token,
    /// In every subgroup all lanes are active.
    all: bool,
}

impl Active {
    pub const ALL: Active = Active {
        mask: Token::integer(u32::MAX as u64, false),
        last: Token::integer(31, false),
        all: true,
    };
}

/// Which lane a shuffle reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shuffle {
    Index,
    Xor,
    Up,
    Down,
}

impl Shuffle {
    fn shfl(self) -> &'static Piece {
        match self {
            Shuffle::Index => piece!("\tshfl.sync.idx.b32 "),
            Shuffle::Xor => piece!("\tshfl.sync.bfly.b32 "),
            Shuffle::Up => piece!("\tshfl.sync.up.b32 "),
            Shuffle::Down => piece!("\tshfl.sync.down.b32 "),
        }
    }
}

/// What a reduction or scan does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduction {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl Reduction {
    /// Whether a value may take part twice.
    fn is_idempotent(self) -> bool {
        match self {
            Reduction::Min | Reduction::Max | Reduction::And | Reduction::Or => true,
            Reduction::Add | Reduction::Xor => false,
        }
    }

    /// `redux.sync` of the 32-bit integers, signed or not.
    fn redux(self, signed: bool) -> &'static Piece {
        match (self, signed) {
            (Reduction::Add, true) => piece!("\tredux.sync.add.s32 "),
            (Reduction::Add, false) => piece!("\tredux.sync.add.u32 "),
            (Reduction::Min, true) => piece!("\tredux.sync.min.s32 "),
            (Reduction::Min, false) => piece!("\tredux.sync.min.u32 "),
            (Reduction::Max, true) => piece!("\tredux.sync.max.s32 "),
            (Reduction::Max, false) => piece!("\tredux.sync.max.u32 "),
            (Reduction::And, _) => piece!("\tredux.sync.and.b32 "),
            (Reduction::Or, _) => piece!("\tredux.sync.or.b32 "),
            (Reduction::Xor, _) => piece!("\tredux.sync.xor.b32 "),
        }
    }

    /// What the first lane of an exclusive scan has.
    fn identity(self, kind: Kind) -> Token {
        let bits = kind.width();
        let ones = u64::MAX >> (64 - bits);
        let (least, most) = match kind {
            Kind::F32 => (Token::f32(0xFF80_0000), Token::f32(0x7F80_0000)),
            Kind::F64 => (Token::f64(0xFFF << 52), Token::f64(0x7FF << 52)),
            Kind::F16 => (Token::b16(0xFC00), Token::b16(0x7C00)),
            Kind::BF16 => (Token::b16(0xFF80), Token::b16(0x7F80)),
            Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => {
                let least = (1u64 << (bits - 1)).wrapping_neg();
                (
                    Token::integer(least, true),
                    Token::integer(ones >> 1, false),
                )
            }
            Kind::Bool | Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 => {
                (Token::integer(0, false), Token::integer(ones, false))
            }
        };
        match self {
            Reduction::Add => match kind {
                // What changes no number; +0.0 would make +0.0 of -0.0.
                Kind::F32 => Token::f32(1 << 31),
                Kind::F64 => Token::f64(1 << 63),
                Kind::F16 | Kind::BF16 => Token::b16(1 << 15),
                Kind::Bool
                | Kind::I8
                | Kind::U8
                | Kind::I16
                | Kind::U16
                | Kind::I32
                | Kind::U32
                | Kind::I64
                | Kind::U64 => Token::integer(0, false),
            },
            Reduction::Min => most,
            Reduction::Max => least,
            Reduction::And if kind.is_signed() => Token::integer(u64::MAX, true),
            Reduction::And => Token::integer(ones, false),
            Reduction::Or | Reduction::Xor => Token::integer(0, false),
        }
    }
}

impl Body<'_, '_> {
    /// Finds out, before the first instruction, which lanes are active.
    pub fn find_active(&mut self) {
        let threads = self.kernel.workgroup_threads();
        let rest = threads % 32;
        if rest == 0 || !self.kernel.uses().has(Uses::SUBGROUP) {
            return;
        }
        let mask = Self::imm((1 << rest) - 1);
        let last = Self::imm(rest - 1);
        if threads < 32 {
            self.active = Active {
                mask,
                last,
                all: false,
            };
            return;
        }
        let index = self.local_index();
        let setp = piece!("\tsetp.ge.u32 ");
        let is_last = self.binary(setp, Kind::Bool, index, Self::imm(threads - rest));
        self.active = Active {
            mask: self.selp(Kind::U32, mask, Active::ALL.mask, is_last),
            last: self.selp(Kind::U32, last, Active::ALL.last, is_last),
            all: false,
        };
    }

    /// `shfl to|there, a, b, c, mask;` of 32 bits, without the predicate where it is not asked for.
    fn shfl32(
        &mut self,
        how: Shuffle,
        kind: Kind,
        a: Token,
        b: Token,
        there: Option<Token>,
    ) -> Token {
        let to = self.register(kind);
        let (mask, last) = (self.active.mask, self.active.last);
        // Below lane 0 there is nothing, and everything else below an active lane is active.
        let limit = if how == Shuffle::Up {
            Self::imm(0)
        } else {
            last
        };
        let mut line = self.w.line().piece(how.shfl()).token(to);
        if let Some(there) = there {
            line = line.bytes(b"|").token(there);
        }
        let line = line.operand(a).operand(b).operand(limit);
        line.operand(mask).end();
        to
    }

    /// A shuffle of any type, `b` below 32.
    fn shfl(
        &mut self,
        how: Shuffle,
        kind: Kind,
        a: Token,
        b: Token,
        there: Option<Token>,
    ) -> Token {
        match kind {
            Kind::I32 | Kind::U32 | Kind::F32 | Kind::I8 | Kind::U8 | Kind::I16 | Kind::U16 => {
                self.shfl32(how, kind, a, b, there)
            }
            Kind::Bool => {
                let word = self.selp(Kind::U32, Self::imm(1), Self::imm(0), a);
                let word = self.shfl32(how, Kind::U32, word, b, there);
                self.is_not_zero(Kind::U32, word)
            }
            Kind::F16 | Kind::BF16 => {
                let word = self.unary(piece!("\tcvt.u32.u16 "), Kind::U32, a);
                let word = self.shfl32(how, Kind::U32, word, b, there);
                self.unary(piece!("\tcvt.u16.u32 "), kind, word)
            }
            Kind::I64 | Kind::U64 | Kind::F64 => {
                let a = self.in_register(kind, a);
                let (low, high) = (self.register(Kind::U32), self.register(Kind::U32));
                let line = self.w.line().bytes(b"\tmov.b64 {").token(low);
                line.operand(high).bytes(b"}").operand(a).end();
                let low = self.shfl32(how, Kind::U32, low, b, there);
                let high = self.shfl32(how, Kind::U32, high, b, None);
                let to = self.register(kind);
                let line = self.w.line().bytes(b"\tmov.b64 ").token(to);
                let line = line.bytes(b", {").token(low).operand(high);
                line.bytes(b"};\n").done();
                to
            }
        }
    }

    /// `shfl` takes its lane or distance modulo 32; what is beyond is out of range.
    pub fn shuffle(&mut self, how: Shuffle, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        let b = match self.known(inst.b) {
            Some(lane) if lane > 31 => return a,
            Some(_) => b,
            None if self.most(inst.b) < 32 => b,
            None => {
                let inside = self.binary(piece!("\tsetp.lt.u32 "), Kind::Bool, b, Self::imm(32));
                let own = match how {
                    Shuffle::Index => self.lane(),
                    Shuffle::Xor | Shuffle::Up | Shuffle::Down => Self::imm(0),
                };
                self.selp(Kind::U32, b, own, inside)
            }
        };
        self.shfl(how, kind, a, b, None)
    }

    /// One bit for each lane.
    fn ballot_word(&mut self, a: Token) -> Token {
        let mask = self.active.mask;
        self.binary(piece!("\tvote.sync.ballot.b32 "), Kind::U32, a, mask)
    }

    pub fn ballot(&mut self, inst: &Inst) -> Token {
        let a = self.value(inst.a);
        let word = self.ballot_word(a);
        let zero = Self::imm(0);
        self.group([word, zero, zero, zero])
    }

    pub fn any(&mut self, inst: &Inst) -> Token {
        let (a, mask) = (self.value(inst.a), self.active.mask);
        self.binary(piece!("\tvote.sync.any.pred "), Kind::Bool, a, mask)
    }

    pub fn all(&mut self, inst: &Inst) -> Token {
        let (a, mask) = (self.value(inst.a), self.active.mask);
        self.binary(piece!("\tvote.sync.all.pred "), Kind::Bool, a, mask)
    }

    /// Of the lanes that are active the lowest is lane 0.
    pub fn elect(&mut self) -> Token {
        let lane = self.lane();
        self.equal(Kind::U32, lane, Self::imm(0))
    }

    pub fn subgroup_barrier(&mut self) -> Token {
        let line = self.w.line().piece(piece!("\tbar.warp.sync "));
        line.token(self.active.mask).end();
        Token::NONE
    }

    pub fn reduce(&mut self, reduction: Reduction, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
        let scan = inst.flags & !Inst::NATIVE_ORDER;
        if kind == Kind::Bool {
            return self.reduce_bools(reduction, scan, a);
        }
        match scan {
            Inst::INCLUSIVE => self.scan(reduction, kind, a),
            Inst::EXCLUSIVE => {
                let sums = self.scan(reduction, kind, a);
                let there = self.register(Kind::Bool);
                let below = self.shfl(Shuffle::Up, kind, sums, Self::imm(1), Some(there));
                self.selp(kind, below, reduction.identity(kind), there)
            }
            _ => self.reduce_all(reduction, kind, a),
        }
    }

    /// Every lane's result, in the order that the reference executor documents.
    fn reduce_all(&mut self, reduction: Reduction, kind: Kind, a: Token) -> Token {
        if self.options.target.has_redux() && !kind.is_float() && !kind.is_wide() {
            let a = self.in_register(kind, a);
            let mask = self.active.mask;
            let result = self.binary(reduction.redux(kind.is_signed()), kind, a, mask);
            return match reduction {
                Reduction::Add => self.normal(kind, result),
                Reduction::Min
                | Reduction::Max
                | Reduction::And
                | Reduction::Or
                | Reduction::Xor => result,
            };
        }
        let mut x = a;
        if self.active.all {
            for distance in [1, 2, 4, 8, 16] {
                let other = self.shfl(Shuffle::Xor, kind, x, Self::imm(distance), None);
                x = self.combined(reduction, kind, x, other);
            }
            return x;
        }
        // Lane 0 gets the sum of those that are there; the others what does not matter.
        for distance in [1, 2, 4, 8, 16] {
            x = self.reach(reduction, kind, Shuffle::Down, x, distance);
        }
        self.shfl(Shuffle::Index, kind, x, Self::imm(0), None)
    }

    /// The inclusive scan.
    fn scan(&mut self, reduction: Reduction, kind: Kind, a: Token) -> Token {
        let mut x = a;
        for distance in [1, 2, 4, 8, 16] {
            x = self.reach(reduction, kind, Shuffle::Up, x, distance);
        }
        x
    }

    /// Combined with the lane at a distance, where that is there.
    fn reach(
        &mut self,
        reduction: Reduction,
        kind: Kind,
        how: Shuffle,
        x: Token,
        distance: u32,
    ) -> Token {
        let distance = Self::imm(distance);
        if reduction.is_idempotent() {
            let other = self.shfl(how, kind, x, distance, None);
            return self.combined(reduction, kind, other, x);
        }
        let there = self.register(Kind::Bool);
        let other = self.shfl(how, kind, x, distance, Some(there));
        let both = self.combined(reduction, kind, other, x);
        self.selp(kind, both, x, there)
    }

    /// The reduction of two values.
    fn combined(&mut self, reduction: Reduction, kind: Kind, a: Token, b: Token) -> Token {
        match reduction {
            Reduction::Add => self.plain_sum(kind, a, b),
            Reduction::Min => self.lesser(&MIN, kind, a, b),
            Reduction::Max => self.lesser(&MAX, kind, a, b),
            Reduction::And => self.binary(AND.of(kind), kind, a, b),
            Reduction::Or => self.binary(OR.of(kind), kind, a, b),
            Reduction::Xor => self.binary(XOR.of(kind), kind, a, b),
        }
    }

    /// Votes: of all lanes, or of those up to or below the own one.
    fn reduce_bools(&mut self, reduction: Reduction, scan: u8, a: Token) -> Token {
        let (vote, lanes) = match scan {
            Inst::INCLUSIVE => (false, Token::symbol("%lanemask_le")),
            Inst::EXCLUSIVE => (false, Token::symbol("%lanemask_lt")),
            _ => (true, Token::NONE),
        };
        let mask = self.active.mask;
        // The verifier lets only these three through.
        match reduction {
            Reduction::And | Reduction::Min if vote => {
                return self.binary(piece!("\tvote.sync.all.pred "), Kind::Bool, a, mask);
            }
            Reduction::Or | Reduction::Max if vote => {
                return self.binary(piece!("\tvote.sync.any.pred "), Kind::Bool, a, mask);
            }
            Reduction::And
            | Reduction::Min
            | Reduction::Or
            | Reduction::Max
            | Reduction::Add
            | Reduction::Xor => {}
        }
        let and = piece!("\tand.b32 ");
        let all = matches!(reduction, Reduction::And | Reduction::Min);
        // `and`: no lane has false.
        let a = if all {
            self.unary(piece!("\tnot.pred "), Kind::Bool, a)
        } else {
            a
        };
        let mut bits = self.ballot_word(a);
        if !vote {
            let lanes = self.special(lanes);
            bits = self.binary(and, Kind::U32, bits, lanes);
        }
        if all {
            return self.equal(Kind::U32, bits, Self::imm(0));
        }
        if matches!(reduction, Reduction::Or | Reduction::Max) {
            return self.is_not_zero(Kind::U32, bits);
        }
        let count = self.unary(piece!("\tpopc.b32 "), Kind::U32, bits);
        let last = self.binary(and, Kind::U32, count, Self::imm(1));
        self.is_not_zero(Kind::U32, last)
    }

    /// A register of its own that holds the value.
    pub fn copied(&mut self, kind: Kind, a: Token) -> Token {
        self.unary(MOV.of(kind), kind, a)
    }
}
