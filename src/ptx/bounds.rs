//! Checks of indices, where the caller asks for them.
//!
//! An access stands under a predicate, which costs less than a branch: a load's register holds zero before. What can be
//! seen to lie inside is not checked.

use super::body::Body;
use super::memory::{Check, Len};
use super::mnemonic::{Kind, piece};
use super::writer::Token;
use crate::kernel::{Inst, Mem};
use crate::op::Op;

/// Whether an access lies inside.
// With a tag of its own choice, one as wide as a token, the compiler compares whole vectors.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Inside {
    Always,
    Never,
    /// Where the predicate holds.
    If(Token),
}

/// How many operands deep the greatest value of an index is looked for.
const DEPTH: u32 = 4;

impl Body<'_, '_> {
    /// Whether index + offset is below the length; in 64 bits, without wrapping.
    #[inline(always)]
    pub fn inside(&mut self, mem: Mem, index: u32, offset: u32) -> Inside {
        if self.checked {
            self.inside_bounds(mem, index, offset)
        } else {
            Inside::Always
        }
    }

    #[inline(never)]
    fn inside_bounds(&mut self, mem: Mem, index: u32, offset: u32) -> Inside {
        match self.bound(mem).map_or(Len::Unchecked, |b| b.len) {
            Len::Unchecked => Inside::Always,
            Len::Known(len) => self.inside_known(mem, index, offset, len),
            Len::In(len) => self.inside_register(mem, index, offset, len),
        }
    }

    fn inside_known(&mut self, mem: Mem, index: u32, offset: u32, len: u32) -> Inside {
        let Some(room) = len.checked_sub(offset).filter(|&room| room > 0) else {
            return Inside::Never;
        };
        match self.known(index) {
            Some(at) if at < u64::from(room) => return Inside::Always,
            Some(_) => return Inside::Never,
            None if self.most(index) < u64::from(room) => return Inside::Always,
            None => {}
        }
        if let Some(predicate) = self.checked(mem, index, offset) {
            return Inside::If(predicate);
        }
        let setp = if self.kind_of(index) == Kind::U64 {
            piece!("\tsetp.lt.u64 ")
        } else {
            piece!("\tsetp.lt.u32 ")
        };
        let at = self.value(index);
        let predicate = self.binary(setp, Kind::Bool, at, Self::imm(room));
        self.note(mem, index, offset, predicate)
    }

    fn inside_register(&mut self, mem: Mem, index: u32, offset: u32, len: Token) -> Inside {
        let setp = piece!("\tsetp.lt.u64 ");
        if let Some(predicate) = self.checked(mem, index, offset) {
            return Inside::If(predicate);
        }
        let far = Token::integer(u64::from(offset), false);
        let predicate = if let Some(at) = self.known(index) {
            let Some(at) = at.checked_add(u64::from(offset)) else {
                return Inside::Never;
            };
            let at = Token::integer(at, false);
            self.binary(piece!("\tsetp.gt.u64 "), Kind::Bool, len, at)
        } else if self.kind_of(index) == Kind::U64 {
            let at = self.value(index);
            let room = if offset == 0 {
                len
            } else {
                // max(len, offset) - offset.
                let most = self.binary(piece!("\tmax.u64 "), Kind::U64, len, far);
                self.binary(piece!("\tsub.s64 "), Kind::U64, most, far)
            };
            self.binary(setp, Kind::Bool, at, room)
        } else {
            let at = self.value(index);
            let at = self.in_register(Kind::U32, at);
            let mut at = self.unary(piece!("\tcvt.u64.u32 "), Kind::U64, at);
            if offset != 0 {
                at = self.binary(piece!("\tadd.s64 "), Kind::U64, at, far);
            }
            self.binary(setp, Kind::Bool, at, len)
        };
        self.note(mem, index, offset, predicate)
    }

    /// The predicate of the same check, if it was the object's last one and dominates.
    fn checked(&mut self, mem: Mem, index: u32, offset: u32) -> Option<Token> {
        let check = self.bound(mem)?.check;
        let same = check.index == index && check.offset == offset;
        (same && self.is_open(check.block)).then_some(check.predicate)
    }

    fn note(&mut self, mem: Mem, index: u32, offset: u32, predicate: Token) -> Inside {
        let block = self.block;
        if let Some(bound) = self.bound(mem) {
            bound.check = Check {
                index,
                offset,
                block,
                predicate,
            };
        }
        Inside::If(predicate)
    }

    /// What an integer value is never above, as an unsigned number.
    pub fn most(&self, word: u32) -> u64 {
        self.most_within(word, DEPTH)
    }

    fn most_within(&self, word: u32, depth: u32) -> u64 {
        let Some(inst) = self.inst(word) else {
            return u64::MAX;
        };
        let all = match Kind::of(inst.ty) {
            Some(Kind::U8) => u64::from(u8::MAX),
            Some(Kind::U16) => u64::from(u16::MAX),
            Some(Kind::U32) => u64::from(u32::MAX),
            _ => u64::MAX,
        };
        let Some(depth) = depth.checked_sub(1) else {
            return all;
        };
        let unsigned = matches!(
            Kind::of(inst.ty),
            Some(Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64)
        );
        if !unsigned {
            return all;
        }
        let [x, y, z] = self.kernel.workgroup_size();
        let size = match inst.flags {
            0 => x,
            1 => y,
            _ => z,
        };
        let threads = u64::from(self.kernel.workgroup_threads());
        let below = |n: u64| n.saturating_sub(1);
        if inst.op == Op::Const {
            return inst.const_bits();
        }
        if inst.op == Op::LocalId {
            return below(u64::from(size));
        }
        if inst.op == Op::WorkgroupSize {
            return u64::from(size);
        }
        if inst.op == Op::LocalIndex {
            return below(threads);
        }
        if inst.op == Op::Lane {
            return below(threads.min(32));
        }
        if inst.op == Op::SubgroupId {
            return below(threads) / 32;
        }
        let of = |word| self.most_within(word, depth);
        let fits = |most: Option<u64>| most.filter(|&m| m <= all).unwrap_or(all);
        if inst.op == Op::AssumeUniform {
            return of(inst.a);
        }
        if inst.op == Op::And || inst.op == Op::Min {
            return of(inst.a).min(of(inst.b));
        }
        if inst.op == Op::Max {
            return of(inst.a).max(of(inst.b));
        }
        if inst.op == Op::Add {
            return fits(of(inst.a).checked_add(of(inst.b)));
        }
        if inst.op == Op::Mul {
            return fits(of(inst.a).checked_mul(of(inst.b)));
        }
        if inst.op == Op::MulAdd {
            let product = of(inst.a).checked_mul(of(inst.b));
            return fits(product.and_then(|p| p.checked_add(of(inst.c))));
        }
        if inst.op == Op::Select {
            return of(inst.b).max(of(inst.c));
        }
        if inst.op == Op::Rem
            && let Some(by) = self.known(inst.b)
        {
            // x % 0 = 0.
            return below(by).min(of(inst.a));
        }
        if inst.op == Op::Div && self.known(inst.b).is_some_and(|by| by > 0) {
            let by = self.known(inst.b).unwrap_or(1).max(1);
            return of(inst.a) / by;
        }
        if inst.op == Op::Shr
            && let Some(by) = self.known(inst.b)
        {
            let width = Kind::of(inst.ty).map_or(64, Kind::width);
            // Modulo the width, below 64.
            return of(inst.a) >> (by % u64::from(width));
        }
        if inst.op == Op::Convert && self.is_unsigned(inst) {
            return of(inst.a).min(all);
        }
        all
    }

    /// Whether what an instruction converts is an unsigned integer: a smaller one keeps its value, of a larger one the low
    /// bits are no more.
    fn is_unsigned(&self, inst: &Inst) -> bool {
        matches!(
            Kind::of(self.type_of(inst.a)),
            Some(Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64)
        )
    }
}
