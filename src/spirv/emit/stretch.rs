//! The short ways: instructions that are the same words whatever is around them, which is most of them.
//!
//! Each is written into room for the widest, so that one check is enough. Where something is missing (a type, an array,
//! memory), it is supplied, and the short way taken then. The plainest ones, which a long kernel has one after the other,
//! go through a loop of their own.

use super::body::Body;
use super::error::Error;
use super::marks;
use super::objects::Object;
use super::options::Fma;
use super::plain::{COMPARISONS, ELSE, FMA, GLSL, LONG, Pattern, Way, pattern};
use super::sections::head;
use crate::kernel::Inst;
use crate::op::Op;
use spirv::{GlslStd450Op, Op as S};

/// The most words of one instruction.
pub(super) const WIDEST: usize = 16;
/// The most plain instructions that are written before ids are counted, and the most words of one.
const LONGEST: usize = 128;
const WIDTH: usize = 8;
/// Decorations for as many: their words are fewer than the power of two below that is written to.
const MARKS: usize = 256;
/// After so many ids it is looked whether there are many plain instructions, and how many are many.
const PAUSE: u32 = 32;
const MANY: usize = 4;

/// Why an instruction was not written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Miss {
    /// Its type is not declared, and it needs nothing else.
    Type,
    /// Something that it needs may be missing.
    Need,
    /// It has no short way.
    Way,
}

impl Miss {
    /// Why an access to an object is not written, which may be not declared yet.
    #[inline(always)]
    fn of(object: &Object) -> Miss {
        match object.var {
            0 => Miss::Need,
            _ => Miss::Way,
        }
    }
}

/// Writes an access to an element of a plain object behind the pointer `chain` to it; gives the number of words.
#[inline(always)]
fn put_element(
    to: &mut [u32; WIDEST],
    object: &Object,
    [chain, index]: [u32; 2],
    access: [u32; 4],
    words: usize,
) -> usize {
    // A block's member comes before the index.
    let members = usize::from(object.member != 0);
    let first = head(S::AccessChain, 5 + u32::from(object.member != 0));
    [to[0], to[1], to[2]] = [first, object.pointer, chain];
    [to[3], to[4]] = [object.var, object.member];
    let rest = to.get_mut(4 + members..);
    if let Some(rest) = rest.and_then(|rest| rest.first_chunk_mut::<5>()) {
        let [a, b, c, d] = access;
        *rest = [index, a, b, c, d];
    }
    5 + members + words
}

impl Body<'_> {
    /// Writes the instructions.
    #[inline(never)]
    pub(super) fn instructions(&mut self) -> Result<(), Error> {
        let insts = self.insts;
        // Kept in registers from one short way to the next.
        let (mut at, mut next, mut len) = (self.at, self.w.next, self.w.body.len());
        let mut pause = next.saturating_add(PAUSE).min(self.stop);
        while let Some(inst) = insts.get(at) {
            let pattern = pattern(inst);
            let step = if pattern.needs & LONG == 0 {
                self.short(insts, inst, pattern, next, len)
            } else {
                Err(Miss::Way)
            };
            if let Ok((words, ids)) = step {
                len += words;
                next = next.wrapping_add(ids);
                // What makes no value is asked for none.
                if let Some(slot) = self.s.values.get_mut(at) {
                    *slot = next.wrapping_sub(1);
                }
                at += 1;
                if next <= pause {
                    continue;
                }
            }
            self.at = at;
            self.w.next = next;
            self.w.body.set_len(len);
            if step.is_ok() {
                self.check_ids()?;
                self.stretches()?;
                pause = self.w.next.saturating_add(PAUSE).min(self.stop);
            } else if step == Err(Miss::Type) {
                self.w.ty(inst.ty);
            } else if step == Err(Miss::Way) || !self.supply(inst, pattern) {
                let value = self.instruction(inst);
                if let Some(slot) = self.s.values.get_mut(at) {
                    *slot = value;
                }
                self.at = at + 1;
                self.check_ids()?;
            }
            (at, next, len) = (self.at, self.w.next, self.w.body.len());
        }
        self.w.next = next;
        self.w.body.set_len(len);
        Ok(())
    }

    /// Writes an instruction behind `len` words, with the ids from `next` on, if it has a short way and nothing that it
    /// needs is missing. Gives how many words and ids it took; the last of these is its value.
    ///
    /// Operands that a pattern has not are written all the same, and then written over. The verifier saw that earlier
    /// instructions made the operands, and unused ones are 0.
    #[inline(always)]
    fn short(
        &mut self,
        insts: &[Inst],
        inst: &Inst,
        pattern: &Pattern,
        next: u32,
        len: usize,
    ) -> Result<(usize, u32), Miss> {
        let (w, s) = (&mut *self.w, &mut *self.s);
        let ty = w.types[usize::from(inst.ty.code())];
        let val = |operand: u32| s.values.get(operand as usize).copied().ok_or(Miss::Need);
        if ty == 0 {
            // Of others it is declared when its turn comes.
            return Err(if pattern.way == Way::Compare {
                Miss::Type
            } else {
                Miss::Need
            });
        }
        let to: &mut [u32; WIDEST] = w.body.behind(len).ok_or(Miss::Need)?;
        Ok(match pattern.way {
            Way::Core => {
                let (a, b) = (val(inst.a)?, val(inst.b)?);
                [to[0], to[1], to[2], to[3], to[4]] = [pattern.head, ty, next, a, b];
                if pattern.marks != 0 && !self.contract {
                    w.marks.push_in_room(next).ok_or(Miss::Need)?;
                }
                ((pattern.head >> 16) as usize, 1)
            }
            Way::Ext => {
                let (a, b, c) = (val(inst.a)?, val(inst.b)?, val(inst.c)?);
                let set = w.glsl;
                // Asked so, the needs above stay in no register.
                let fuses = pattern.number == GlslStd450Op::Fma as u8;
                if set == 0 || fuses & (self.unfit != 0) {
                    return Err(Miss::Need);
                }
                [to[0], to[1], to[2]] = [pattern.head, ty, next];
                [to[3], to[4]] = [set, u32::from(pattern.number)];
                [to[5], to[6], to[7]] = [a, b, c];
                ((pattern.head >> 16) as usize, 1)
            }
            Way::Three => {
                let (a, b, c) = (val(inst.a)?, val(inst.b)?, val(inst.c)?);
                [to[0], to[1], to[2]] = [pattern.head, ty, next];
                [to[3], to[4], to[5]] = [a, b, c];
                (6, 1)
            }
            Way::Compare => {
                let (a, b) = (val(inst.a)?, val(inst.b)?);
                let of = usize::from(insts.get(inst.a as usize).map_or(0, |of| of.ty.code()));
                let first = COMPARISONS[usize::from(pattern.number) & 7][of & 15];
                if first == 0 {
                    return Err(Miss::Way);
                }
                [to[0], to[1], to[2], to[3], to[4]] = [first, ty, next, a, b];
                (5, 1)
            }
            Way::Shift => {
                let (a, b) = (val(inst.a)?, val(inst.b)?);
                let amount = insts.get(inst.b as usize);
                // By less than any width.
                if !amount.is_some_and(|n| n.op == Op::Const && n.const_bits() < 32) {
                    return Err(Miss::Way);
                }
                [to[0], to[1], to[2], to[3], to[4]] = [pattern.head, ty, next, a, b];
                (5, 1)
            }
            Way::MulAdd => {
                let (a, b, c) = (val(inst.a)?, val(inst.b)?, val(inst.c)?);
                let (second, sum) = (5 << 16 | u32::from(pattern.number), next.wrapping_add(1));
                [to[0], to[1], to[2], to[3], to[4]] = [pattern.head, ty, next, a, b];
                [to[5], to[6], to[7], to[8], to[9]] = [second, ty, sum, next, c];
                if pattern.marks != 0 && !self.contract {
                    w.marks.push_both_in_room(next, sum).ok_or(Miss::Need)?;
                }
                (10, 2)
            }
            Way::Load => {
                let object = s.objects.get(inst.a).ok_or(Miss::Way)?;
                // Neither special nor with an offset.
                if !object.plain | (u32::from(inst.flags) | inst.c != 0) {
                    return Err(Miss::of(object));
                }
                let index = val(inst.b)?;
                let value = next.wrapping_add(1);
                let load = [head(S::Load, 4), object.elem_id, value, next];
                (put_element(to, object, [next, index], load, 4), 2)
            }
            Way::Store => {
                let object = s.objects.get(inst.a).ok_or(Miss::Way)?;
                if !object.plain | (inst.flags != 0) {
                    return Err(Miss::of(object));
                }
                let (index, value) = (val(inst.b)?, val(inst.c)?);
                let store = [head(S::Store, 3), next, value, 0];
                (put_element(to, object, [next, index], store, 3), 1)
            }
            Way::VarSet => {
                let (var, value) = (val(inst.a)?, val(inst.b)?);
                [to[0], to[1], to[2]] = [head(S::Store, 3), var, value];
                (3, 0)
            }
            Way::If => {
                let condition = val(inst.a)?;
                (s.flow.if_(to, len, condition, next).ok_or(Miss::Need)?, 2)
            }
            Way::Loop => (s.flow.loop_(to, next).ok_or(Miss::Need)?, 4),
            Way::Continuing => (s.flow.continuing(to).ok_or(Miss::Need)?, 0),
            Way::Break => (s.flow.break_(to).ok_or(Miss::Need)?, 0),
            Way::End => (s.flow.end(to).ok_or(Miss::Need)?, 0),
            Way::Barrier => {
                let [scope, semantics] = self.barrier;
                if scope == 0 {
                    return Err(Miss::Way);
                }
                [to[0], to[1]] = [head(S::ControlBarrier, 4), scope];
                [to[2], to[3]] = [scope, semantics];
                (4, 0)
            }
            Way::Long => return Err(Miss::Way),
        })
    }

    /// Supplies what the short way of an instruction needs; false if nothing of that was missing.
    #[cold]
    #[inline(never)]
    fn supply(&mut self, inst: &Inst, pattern: &Pattern) -> bool {
        let way = pattern.way;
        if way == Way::Long || pattern.needs & self.unfit != 0 {
            return false;
        }
        let mut supplied = self.w.body.make_room(WIDEST);
        if matches!(way, Way::Load | Way::Store) {
            // Declared first in every way; the type is not, in the long one.
            let object = self.s.objects.get(inst.a);
            if object.is_some_and(|object| object.var == 0) {
                self.object(inst.a);
                supplied = true;
            }
            let offset = if way == Way::Load { inst.c } else { 0 };
            if u32::from(inst.flags) | offset != 0 || self.s.objects.plain(inst.a).is_none() {
                return false;
            }
        }
        if self.w.types[usize::from(inst.ty.code())] == 0 {
            self.w.ty(inst.ty);
            supplied = true;
        }
        if way == Way::Ext && self.w.glsl == 0 {
            self.w.glsl();
            supplied = true;
        }
        if matches!(way, Way::If | Way::Loop) && !self.s.flow.has_room() {
            self.s.flow.grow();
            supplied = true;
        }
        if pattern.marks != 0 {
            supplied |= self.w.marks.make_room();
        }
        supplied
    }

    /// What no short way may need.
    pub(super) fn unfit(fma: Fma) -> u8 {
        match fma {
            Fma::Native => 0,
            Fma::Exact => FMA,
        }
    }

    /// Writes the plain instructions that are next, if there are many.
    #[cold]
    #[inline(never)]
    fn stretches(&mut self) -> Result<(), Error> {
        let next = self.insts.get(self.at..).unwrap_or(&[]);
        let plain = |inst: &Inst| pattern(inst).needs & ELSE == 0;
        if next.len() > MANY && next.iter().take(MANY).all(plain) {
            while self.stretch() {
                self.check_ids()?;
            }
        }
        self.check_ids()
    }

    /// Writes plain instructions as long as there are and nothing that they need is missing, up to [`LONGEST`] of them;
    /// gives whether there were as many.
    ///
    /// Inlined, the loop would not keep its counters in registers.
    #[inline(never)]
    fn stretch(&mut self) -> bool {
        let insts = self.insts;
        let w = &mut *self.w;
        let (glsl, types, mut next) = (w.glsl, &w.types, w.next);
        let missing = if glsl == 0 { GLSL } else { 0 } | self.unfit | ELSE;
        let room = w.body.room(LONGEST * WIDTH + WIDTH);
        let marks = w.marks.room(MARKS).as_flattened_mut();
        let (Some(room), Some(marks), Some(values)) = (
            room.first_chunk_mut::<{ LONGEST * WIDTH + WIDTH }>(),
            marks.first_chunk_mut::<{ 3 * MARKS }>(),
            self.s.values.get_mut(..insts.len()),
        ) else {
            return false;
        };
        let (mut used, mut marked, mut at) = (0, 0, self.at);
        let end = insts.len().min(at.saturating_add(LONGEST));
        let full = end - at == LONGEST;
        while at < end {
            let Some(inst) = insts.get(at) else { break };
            let pattern = pattern(inst);
            let ty = types[usize::from(inst.ty.code())];
            if ty == 0 {
                break;
            }
            let val = |operand: u32| values.get(operand as usize).copied();
            let (Some(a), Some(b)) = (val(inst.a), val(inst.b)) else {
                break;
            };
            // So many instructions have fewer words than there are: nothing is cut off.
            let to = room.get_mut(used % (LONGEST * WIDTH)..);
            let Some(to) = to.and_then(|to| to.first_chunk_mut::<WIDTH>()) else {
                break;
            };
            if pattern.needs == 0 {
                [to[0], to[1], to[2], to[3], to[4]] = [pattern.head, ty, next, a, b];
                // What is not taken is set again.
                marks[marked % (3 * MARKS - MARKS) + marks::ID] = next;
                marked += usize::from(pattern.marks);
            } else {
                if pattern.needs & missing != 0 {
                    break;
                }
                let Some(c) = val(inst.c) else { break };
                [to[0], to[1], to[2]] = [pattern.head, ty, next];
                [to[3], to[4]] = [glsl, u32::from(pattern.number)];
                [to[5], to[6], to[7]] = [a, b, c];
            }
            if let Some(slot) = values.get_mut(at) {
                *slot = next;
            }
            used += (pattern.head >> 16) as usize;
            next = next.wrapping_add(1);
            at += 1;
        }
        self.at = at;
        w.next = next;
        w.body.advance(used);
        if !self.contract {
            w.marks.advance(marked / 3);
        }
        full & (at == end)
    }
}
