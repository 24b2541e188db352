//! The short ways: instructions of the commonest shapes that are beyond doubt. What these do not accept, the thorough
//! checks decide, so that every rule and every fault has one place; a test holds the two against each other.

use super::check::{Checker, NO_VALUE, VARIABLE};
use crate::kernel::{Draft, Inst, Mem, SharedLen, Uses};
use crate::op::{Op, Shape};
use crate::types::{Const, Type};

impl Checker {
    /// Looks at the instruction that is to become number `self.made.len()`. Faults go to the list; whatever they are, the
    /// next instruction can follow. Returns whether there was none.
    #[inline]
    pub(crate) fn step(&mut self, draft: &Draft, inst: &Inst, side: &[u32]) -> bool {
        if !self.ended
            && self.made.len() < Mem::MAX as usize
            && let Some(mark) = self.quick(draft, inst)
        {
            self.made.push(self.here | mark);
            self.seen |= 1 << (inst.ty.code() & 15);
            return true;
        }
        self.thorough(draft, inst, side)
    }

    /// The marks of an instruction that is beyond doubt.
    #[inline]
    fn quick(&mut self, draft: &Draft, inst: &Inst) -> Option<u32> {
        let quick = inst.op.quick();
        let Inst {
            ty, flags, a, b, c, ..
        } = *inst;
        let sound = match quick.shape {
            Shape::Values(count) => {
                let t = self.peek(draft, a)?;
                let same = match count {
                    1 => b == 0 && c == 0,
                    2 => c == 0 && self.peek(draft, b) == Some(t),
                    _ => self.peek(draft, b) == Some(t) && self.peek(draft, c) == Some(t),
                };
                same && flags & !quick.flags == 0
                    && quick.types.contains(t)
                    && ty == quick.makes.of(t)
            }
            Shape::Const => {
                let fits = Const::new(ty, inst.const_bits()).is_some();
                fits && flags == 0 && c == 0 && quick.types.contains(ty)
            }
            Shape::BuiltIn => {
                let axis = flags & !quick.flags == 0 && flags < 3;
                axis && ty == Type::U32 && a == 0 && b == 0 && c == 0
            }
            Shape::Load => return self.quick_load(draft, inst),
            Shape::Store => return self.quick_store(draft, inst),
            Shape::VarGet => b == 0 && c == 0 && flags == 0 && self.peek_var(draft, a)? == ty,
            Shape::VarSet => {
                let sound = c == 0 && flags == 0 && ty.is_none();
                let same = self.peek_var(draft, a)? == self.peek(draft, b)?;
                return (sound && same).then_some(NO_VALUE);
            }
            Shape::Other => false,
        };
        sound.then_some(0)
    }

    /// The type of a visible value, or `None` for whatever else the word is.
    #[inline]
    fn peek(&self, draft: &Draft, word: u32) -> Option<Type> {
        let block = *self.made.get(word as usize)?;
        let visible = block == self.here || self.open.get(block as usize) == Some(&true);
        if visible {
            draft.insts.get(word as usize).map(|i| i.ty)
        } else {
            None
        }
    }

    /// The type of a variable in scope.
    #[inline]
    fn peek_var(&self, draft: &Draft, word: u32) -> Option<Type> {
        let made = *self.made.get(word as usize)?;
        let block = made ^ (NO_VALUE | VARIABLE);
        if self.open.get(block as usize) == Some(&true) {
            draft.insts.get(word as usize).map(|i| i.ty)
        } else {
            None
        }
    }

    /// Whether an index is of an index type and, with the offset, not known to lie outside of `len` elements.
    #[inline]
    fn index(&self, draft: &Draft, index: u32, offset: u32, len: Option<u32>) -> bool {
        let ty = match self.peek(draft, index) {
            Some(ty) => ty,
            None => return false,
        };
        let inside = match len {
            None => true,
            // A constant index is for the thorough checks to add up.
            Some(len) => {
                offset < len
                    && draft
                        .insts
                        .get(index as usize)
                        .is_some_and(|i| i.op != Op::Const)
            }
        };
        inside && (ty == Type::U32 || ty == Type::U64)
    }

    #[inline]
    fn quick_load(&mut self, draft: &Draft, inst: &Inst) -> Option<u32> {
        if inst.flags != 0 || !Op::Load.quick().types.contains(inst.ty) {
            return None;
        }
        let (elem, len) = match Mem::from_word(inst.a)? {
            Mem::Buffer(n) => {
                let decl = draft.buffers.get(n as usize)?;
                let sound = decl.access.reads()
                    && decl.elem == inst.ty
                    && self.index(draft, inst.b, inst.c, None);
                if sound {
                    self.facts.buffers.get_mut(n as usize)?.read = true;
                }
                return sound.then_some(0);
            }
            Mem::Shared(n) => {
                let decl = draft.shared.get(n as usize)?;
                (decl.elem, known(decl.len))
            }
            Mem::Private(n) => draft
                .private
                .get(n as usize)
                .map(|d| (d.elem, Some(d.len)))?,
            Mem::Table(n) => draft
                .tables
                .get(n as usize)
                .map(|d| (d.elem, Some(d.len)))?,
        };
        (elem == inst.ty && self.index(draft, inst.b, inst.c, len)).then_some(0)
    }

    #[inline]
    fn quick_store(&mut self, draft: &Draft, inst: &Inst) -> Option<u32> {
        if inst.flags != 0 || !inst.ty.is_none() {
            return None;
        }
        let value = self.peek(draft, inst.c)?;
        if !Op::Store.quick().types.contains(value) {
            return None;
        }
        match Mem::from_word(inst.a)? {
            Mem::Buffer(n) => {
                let decl = draft.buffers.get(n as usize)?;
                if !decl.access.writes()
                    || decl.elem != value
                    || !self.index(draft, inst.b, 0, None)
                {
                    return None;
                }
                self.facts.buffers.get_mut(n as usize)?.written = true;
                self.facts.uses = self.facts.uses.with(Uses::WRITES_BUFFERS);
            }
            Mem::Shared(n) => {
                let decl = draft.shared.get(n as usize)?;
                if decl.elem != value || !self.index(draft, inst.b, 0, known(decl.len)) {
                    return None;
                }
                self.facts.uses = self.facts.uses.with(Uses::WRITES_SHARED);
            }
            Mem::Private(_) | Mem::Table(_) => return None,
        }
        Some(NO_VALUE)
    }
}

fn known(len: SharedLen) -> Option<u32> {
    match len {
        SharedLen::Static(len) => Some(len),
        SharedLen::Dynamic => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::KernelBuilder;
    use crate::kernel::Kernel;
    use crate::types::Access;
    use crate::verify::Verifier;

    /// Steps through a body by the thorough checks alone, and by both; gives what each accepts.
    fn both(draft: &Draft, insts: &[Inst]) -> [(Vec<bool>, Vec<u32>, crate::kernel::Facts); 2] {
        [false, true].map(|short| {
            let mut v = Verifier::default();
            v.begin();
            for _ in &draft.buffers {
                v.check.buffer();
            }
            let mut draft = draft.clone();
            draft.insts.clear();
            let mut accepted = Vec::new();
            for inst in insts {
                let sound = if short {
                    v.check.step(&draft, inst, &draft.side)
                } else {
                    v.check.thorough(&draft, inst, &draft.side)
                };
                accepted.push(sound);
                draft.insts.push(*inst);
            }
            (accepted, v.check.made.clone(), v.check.facts.clone())
        })
    }

    fn kernel() -> Kernel {
        let mut b = KernelBuilder::new("k", [64, 1, 1]);
        let (x, y) = (
            b.buffer("x", Type::F32, Access::Read),
            b.buffer("y", Type::F32, Access::ReadWrite),
        );
        let (tile, own) = (b.shared("t", Type::F32, 64), b.private("p", Type::F32, 4));
        let table = b.table("c", Type::F32, &[1.0f32, 2.0]);
        let (i, one, flag) = (b.local_id(0), b.constant(1u32), b.constant(true));
        let v = b.load(x, i);
        let sum = b.fma(v, v, v);
        let var = b.var(sum);
        b.store(tile, i, sum);
        b.store(y, i, sum);
        b.store(own, one, sum);
        let more = b.load_offset(tile, i, 3);
        b.when(flag, |b| {
            let now = b.get(var);
            let negated = b.neg(now);
            b.set(var, negated);
            let chosen = b.max(negated, more);
            b.store_offset(y, i, 7, chosen);
        });
        let wide = b.convert(i, Type::U64);
        let from_table = b.load(table, wide);
        let last = b.get(var);
        let less = b.lt(from_table, last);
        b.not(less);
        b.finish().unwrap()
    }

    #[test]
    fn the_short_ways_agree_with_the_thorough_checks() {
        let kernel = kernel();
        let draft = kernel.draft();
        let [thorough, short] = both(draft, &draft.insts);
        assert_eq!(thorough, short);
        assert!(short.0.iter().all(|sound| *sound));
        let mut refused = 0;
        for at in 0..draft.insts.len() {
            for field in 0..5 {
                for value in [
                    0u32,
                    1,
                    2,
                    3,
                    5,
                    9,
                    63,
                    64,
                    1 << 28,
                    1 << 30,
                    3 << 28,
                    u32::MAX,
                ] {
                    let mut insts = draft.insts.clone();
                    let inst = &mut insts[at];
                    match field {
                        0 => inst.a = value,
                        1 => inst.b = value,
                        2 => inst.c = value,
                        3 => inst.flags = value as u8,
                        _ => inst.ty = Type::from_code(value as u8).unwrap_or(Type::F64),
                    }
                    let [thorough, short] = both(draft, &insts);
                    assert_eq!(thorough, short, "{at} {inst:?}", inst = insts[at]);
                    refused += usize::from(!short.0[at]);
                }
            }
        }
        assert!(refused > 100);
    }
}
