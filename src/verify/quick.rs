//! The short ways: instructions of the commonest shapes that are beyond doubt. What these do not accept, the thorough
//! checks decide, so that every rule and every fault has one place; a test holds the two against each other.

use super::check::{Checker, Made};
use crate::kernel::{Draft, Inst, Mem, SharedLen, Uses};
use crate::op::{Effect, Op, Shape, Want};
use crate::types::{Const, Type, TypeSet};

impl Checker {
    /// Looks at the instruction that is to become number `self.made.len()`. Faults go to the list; whatever they are, the
    /// next instruction can follow. Returns whether there was none.
    ///
    /// Where the caller knows the opcode, what the table says of it is known when this is compiled.
    #[inline(always)]
    pub(crate) fn step(&mut self, draft: &Draft, inst: Inst, side: &[u32]) -> bool {
        if let Effect::Block | Effect::Terminator = inst.op.quick().effect {
            return self.thorough(draft, inst, side);
        }
        if self.has_room()
            && let Some(made) = self.quick(draft, inst)
        {
            self.note_made(made);
            return true;
        }
        self.thorough(draft, inst, side)
    }

    /// Whether an instruction can follow.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.made.len() < self.room
    }

    /// Notes an instruction on values that makes one of this type.
    #[inline(always)]
    pub(crate) fn note_value(&mut self, ty: Type) {
        self.note_made(Made::value(ty));
    }

    /// What an instruction makes that is beyond doubt.
    #[inline(always)]
    fn quick(&mut self, draft: &Draft, inst: Inst) -> Option<Made> {
        let quick = inst.op.quick();
        let Inst {
            op,
            ty,
            flags,
            a,
            b,
            c,
        } = inst;
        let sound = match quick.shape {
            Shape::Values(_) => flags & !quick.flags == 0 && self.values(op, [a, b, c]) == Some(ty),
            Shape::Convert => {
                let from = TypeSet::ALL.has_code(self.code(a)?);
                let bare = b == 0 && c == 0 && flags == 0;
                from && bare && quick.types.contains(ty)
            }
            Shape::Const => {
                let fits = Const::new(ty, inst.const_bits()).is_some();
                fits && flags == 0 && c == 0 && quick.types.contains(ty)
            }
            Shape::Param => {
                let declared = draft.scalars.get(a as usize)?.ty == ty;
                let bare = b == 0 && c == 0 && flags == 0;
                declared && bare && quick.types.contains(ty)
            }
            Shape::BuiltIn => {
                let axis = flags & !quick.flags == 0 && flags < 3;
                axis && ty == Type::U32 && a == 0 && b == 0 && c == 0
            }
            Shape::Load => return self.quick_load(draft, inst),
            Shape::Store => return self.quick_store(draft, inst),
            Shape::Var => {
                let held = self.code(a)? == ty.code() && quick.types.contains(ty);
                if !held || b != 0 || c != 0 || flags != 0 {
                    return None;
                }
                self.facts.uses = self.facts.uses.with(Uses::VARS);
                return Some(Made::variable(ty));
            }
            Shape::VarGet => {
                let held = self.code(a)? == Made::variable(ty).code();
                held && b == 0 && c == 0 && flags == 0 && quick.types.contains(ty)
            }
            Shape::VarSet => {
                let held = self.code(b)?;
                let bare = c == 0 && flags == 0 && ty.is_none();
                let same = quick.types.has_code(held) && self.is_variable(a, held);
                return (bare && same).then_some(Made::NOTHING);
            }
            Shape::Other => false,
        };
        sound.then_some(Made::value(ty))
    }

    /// The type that an instruction of [`Shape::Values`] makes of these operand words, if there is no doubt.
    #[inline(always)]
    pub(crate) fn values(&self, op: Op, words: [u32; 3]) -> Option<Type> {
        let quick = op.quick();
        let Shape::Values(wants) = quick.shape else {
            return None;
        };
        let ([a, b, c], [x, y, z]) = (words, wants);
        let t = self.wanted(a, x, None)?;
        let t = self.wanted(b, y, t)?;
        let t = self.wanted(c, z, t)??;
        // Nothing but the type of a visible value is in the set.
        let sound = quick.types.has_code(t);
        sound.then_some(quick.makes.of(Type::from_seen_code(t)))
    }

    /// The code of T, if it is known once a word was looked at; `None` of all where the word is not as wanted.
    #[inline(always)]
    fn wanted(&self, word: u32, want: Want, t: Option<u8>) -> Option<Option<u8>> {
        match want {
            Want::Nothing => (word == 0).then_some(t),
            Want::T => {
                let code = self.code(word)?;
                t.is_none_or(|t| t == code).then_some(Some(code))
            }
            Want::Bool => (self.code(word)? == Type::BOOL.code()).then_some(t),
            Want::U32 => (self.code(word)? == Type::U32.code()).then_some(t),
        }
    }

    /// What the instruction with this number made.
    #[inline(always)]
    fn code(&self, word: u32) -> Option<u8> {
        self.made.get(word as usize).map(|made| made.code())
    }

    /// Whether a word names a visible variable of the scalar type with this code.
    #[inline(always)]
    fn is_variable(&self, word: u32, code: u8) -> bool {
        let made = Made::variable(Type::from_seen_code(code));
        self.made.get(word as usize) == Some(&made)
    }

    /// Whether an index is of an index type and, with the offset, not known to lie outside of `len` elements.
    #[inline(always)]
    fn index(&self, draft: &Draft, index: u32, offset: u32, len: Option<u32>) -> bool {
        let Some(code) = self.code(index) else {
            return false;
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
        inside && TypeSet::INDEX.has_code(code)
    }

    #[inline(always)]
    fn quick_load(&mut self, draft: &Draft, inst: Inst) -> Option<Made> {
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
                return sound.then_some(Made::value(inst.ty));
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
        let sound = elem == inst.ty && self.index(draft, inst.b, inst.c, len);
        sound.then_some(Made::value(inst.ty))
    }

    #[inline(always)]
    fn quick_store(&mut self, draft: &Draft, inst: Inst) -> Option<Made> {
        if inst.flags != 0 || !inst.ty.is_none() {
            return None;
        }
        let value = self.code(inst.c)?;
        if !Op::Store.quick().types.has_code(value) {
            return None;
        }
        match Mem::from_word(inst.a)? {
            Mem::Buffer(n) => {
                let decl = draft.buffers.get(n as usize)?;
                if !decl.access.writes()
                    || decl.elem.code() != value
                    || !self.index(draft, inst.b, 0, None)
                {
                    return None;
                }
                self.facts.buffers.get_mut(n as usize)?.written = true;
                self.facts.uses = self.facts.uses.with(Uses::WRITES_BUFFERS);
            }
            Mem::Shared(n) => {
                let decl = draft.shared.get(n as usize)?;
                if decl.elem.code() != value || !self.index(draft, inst.b, 0, known(decl.len)) {
                    return None;
                }
                self.facts.uses = self.facts.uses.with(Uses::WRITES_SHARED);
            }
            Mem::Private(_) | Mem::Table(_) => return None,
        }
        Some(Made::NOTHING)
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
    use crate::op::Operand;
    use crate::types::{Access, Scalar};
    use crate::verify::Verifier;

    /// Steps through a body by the thorough checks alone, and by both; gives what each accepts.
    fn both(draft: &Draft, insts: &[Inst]) -> [(Vec<bool>, Vec<Made>, crate::kernel::Facts); 2] {
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
                    v.check.step(&draft, *inst, &draft.side)
                } else {
                    v.check.thorough(&draft, *inst, &draft.side)
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
        let scalar = b.scalar("s", Type::I64);
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
        let other = b.not(less);
        let (given, amount) = (b.param(scalar), b.convert(last, Type::U32));
        let shifted = b.shl(given, amount);
        b.select(other, shifted, given);
        b.finish().unwrap()
    }

    /// Values, variables and declarations of every type, some of them in a block that is closed.
    fn everything() -> Kernel {
        let mut b = KernelBuilder::new("k", [64, 1, 1]);
        let whole = b.constant(1u32);
        for scalar in Scalar::ALL {
            let ty = Type::of(scalar);
            b.scalar("s", ty);
            let value = b.convert(whole, ty);
            let var = b.var(value);
            if scalar != Scalar::Bool {
                for elem in [1, 2, 4].map(|n| Type::vector(scalar, n).unwrap_or(ty)) {
                    b.buffer("r", elem, Access::Read);
                    b.buffer("w", elem, Access::Write);
                    b.buffer("u", elem, Access::ReadWrite);
                }
                b.shared("t", ty, 4);
                b.private("p", ty, 4);
                b.construct(&[value; 2]);
                b.construct(&[value; 4]);
            }
            let flag = b.constant(true);
            b.when(flag, |b| {
                let inner = b.convert(whole, ty);
                b.set(var, inner);
                b.var(inner);
            });
        }
        b.shared_dynamic("d", Type::F32);
        b.table("c", Type::F32, &[1.0f32, 2.0]);
        b.finish().unwrap()
    }

    fn element(draft: &Draft, mem: u32) -> Option<Type> {
        match Mem::from_word(mem)? {
            Mem::Buffer(n) => draft.buffers.get(n as usize).map(|d| d.elem),
            Mem::Shared(n) => draft.shared.get(n as usize).map(|d| d.elem),
            Mem::Private(n) => draft.private.get(n as usize).map(|d| d.elem),
            Mem::Table(n) => draft.tables.get(n as usize).map(|d| d.elem),
        }
    }

    #[test]
    fn every_opcode_goes_the_same_way() {
        let kernel = everything();
        let draft = kernel.draft();
        let mut begun = Verifier::default();
        begun.begin();
        for _ in &draft.buffers {
            begun.check.buffer();
        }
        for inst in &draft.insts {
            assert!(begun.check.step(draft, *inst, &draft.side), "{inst:?}");
        }
        let made = begun.check.made.clone();
        let mut state = 11u64;
        let mut next = |n: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        let types: Vec<Type> = (0..=u8::MAX).filter_map(Type::from_code).collect();
        for op in Op::ALL {
            let (mut short_ways, mut refused) = (0, 0);
            let row = op.row();
            for _ in 0..2000 {
                let first = next(made.len());
                // Most operands are as the table has them, and of one type, so that many instructions are sound.
                let from = next(made.len());
                let of = |wanted: Made| {
                    let at = (from..made.len()).find(|&at| made[at] == wanted);
                    at.unwrap_or(first) as u32
                };
                let kind = next(4);
                let mem = (kind << 28 | next(if kind == 0 { 110 } else { 15 })) as u32;
                let t = match row.operands.first() {
                    Some(Operand::Mem | Operand::Buffer) => element(draft, mem),
                    _ => Type::from_code(made[first].code() & 15),
                };
                let t = t.unwrap_or(Type::F32);
                let mut words = [0; 3];
                for (word, operand) in words.iter_mut().zip(row.operands) {
                    *word = match operand {
                        Operand::T | Operand::Any | Operand::Elem => of(Made::value(t)),
                        Operand::Vector => first as u32,
                        Operand::Bool => of(Made::value(Type::BOOL)),
                        Operand::U32 | Operand::Index => of(Made::value(Type::U32)),
                        Operand::Var => of(Made::variable(t)),
                        Operand::Mem | Operand::Buffer => mem,
                        Operand::Param => next(14) as u32,
                        Operand::Offset | Operand::Ordering | Operand::Bits => next(6) as u32,
                    };
                }
                if next(3) == 0 {
                    words[next(3)] = match next(3) {
                        0 => next(4) as u32,
                        1 => next(made.len() + 2) as u32,
                        _ => (next(1 << 16) as u32).rotate_right(16),
                    };
                }
                let inst = Inst {
                    op,
                    ty: match next(4) {
                        0 => types[next(types.len())],
                        1 => t,
                        _ => row.makes.of(t),
                    },
                    flags: if next(4) == 0 { next(256) as u8 } else { 0 },
                    a: words[0],
                    b: words[1],
                    c: words[2],
                };
                let (mut short, mut thorough) = (begun.check.clone(), begun.check.clone());
                let block = matches!(op.quick().effect, Effect::Block | Effect::Terminator);
                short_ways += usize::from(!block && short.clone().quick(draft, inst).is_some());
                let sound = short.step(draft, inst, &draft.side);
                refused += usize::from(!sound);
                assert_eq!(
                    sound,
                    thorough.thorough(draft, inst, &draft.side),
                    "{inst:?}"
                );
                assert_eq!(short.made, thorough.made, "{inst:?}");
                assert_eq!(short.facts, thorough.facts, "{inst:?}");
                assert_eq!(short.faults, thorough.faults, "{inst:?}");
                assert_eq!(short.seen, thorough.seen, "{inst:?}");
                assert_eq!(short.collective, thorough.collective, "{inst:?}");
            }
            assert!(refused > 100, "{op:?}");
            let has_short_way = op.quick().shape != Shape::Other;
            assert_eq!(short_ways > 10, has_short_way, "{op:?}");
        }
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
