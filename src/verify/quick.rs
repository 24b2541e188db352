//! The short ways: instructions of the commonest shapes that are beyond doubt. What these do not accept, the thorough
//! checks decide, so that every rule and every fault has one place; a test holds the two against each other.

use super::check::Checker;
use super::made::Made;
use super::uniformity::Level;
use crate::kernel::{Draft, Inst, Mem, Uses};
use crate::op::{Effect, Makes, Op, Shape, Want};
use crate::types::{Const, Type, TypeSet};

/// What is known of an instruction on values, once some of its words were looked at.
#[derive(Clone, Copy)]
struct Seen {
    /// A value of type T, as uniform as those of type T so far.
    t: Option<Made>,
    /// The level of the others.
    level: Level,
}

impl Checker {
    /// Looks at the instruction that is to become number `self.made.len()`. Faults go to the list; whatever they are, the
    /// next instruction can follow. Returns whether there was none.
    ///
    /// Where the caller knows the opcode, what the table says of it is known when this is compiled.
    #[inline(always)]
    pub(crate) fn step(&mut self, draft: &Draft, inst: Inst) -> bool {
        if let Effect::Block | Effect::Terminator = inst.op.quick().effect {
            return self.control_flow(&inst);
        }
        let made = match self.has_room() {
            true => self.quick(draft, inst, &draft.side),
            false => None,
        };
        self.noted(draft, inst, made)
    }

    /// As [`Checker::step`] for an instruction that lies in memory, and whose opcode nobody knows.
    #[inline(always)]
    pub(crate) fn step_stored(&mut self, draft: &Draft, inst: &Inst, side: &[u32]) -> bool {
        if let Effect::Block | Effect::Terminator = inst.op.quick().effect {
            return self.control_flow(inst);
        }
        if self.has_room()
            && let Some(made) = self.quick(draft, *inst, side)
        {
            self.note_made(made);
            return true;
        }
        self.thorough(draft, inst, side)
    }

    /// Notes what an instruction makes that is beyond doubt, and looks thoroughly at any other.
    #[inline(always)]
    fn noted(&mut self, draft: &Draft, inst: Inst, made: Option<Made>) -> bool {
        match made {
            Some(made) => {
                self.note_made(made);
                true
            }
            None => {
                let Inst {
                    op,
                    ty,
                    flags,
                    a,
                    b,
                    c,
                } = inst;
                self.thorough_of_pieces(draft, (op, ty, flags), a, b, c)
            }
        }
    }

    /// As [`Checker::step`] for a constant of this type, whose bits are in order; gives whether there is no doubt, and where
    /// there is, has noted nothing.
    #[inline(always)]
    pub(crate) fn step_constant(&mut self, constant: Const) -> bool {
        let sound = self.has_room();
        if sound {
            self.note_made(Made::value(constant.ty(), Level::WORKGROUP));
        }
        sound
    }

    /// As [`Checker::step_values`] for the reading of a variable.
    #[inline(always)]
    pub(crate) fn step_get(&mut self, draft: &Draft, variable: u32) -> Option<Type> {
        let ty = self.at(variable)?.variable_type()?;
        if !self.has_room() {
            return None;
        }
        let level = self.tell(draft, variable);
        self.note_made(Made::value(ty, level));
        Some(ty)
    }

    /// As [`Checker::step_constant`] for the setting of a variable.
    #[inline(always)]
    pub(crate) fn step_set(&mut self, variable: u32, value: u32) -> bool {
        let (Some(into), Some(from)) = (self.at(variable), self.at(value)) else {
            return false;
        };
        // The codes of vectors, and of what is gone, would do for variables of other types.
        let fits = Op::VarSet.quick().types.has_code(from.code());
        if !fits || !into.is_variable_of(from.code()) || !self.has_room() {
            return false;
        }
        self.raise(variable, from.level());
        self.note_made(Made::NOTHING);
        true
    }

    /// As [`Checker::step_values`] for a plain load.
    #[inline(always)]
    pub(crate) fn step_load(
        &mut self,
        draft: &Draft,
        mem: Mem,
        index: u32,
        offset: u32,
    ) -> Option<Type> {
        if !self.has_room() {
            return None;
        }
        let made = self.load(draft, mem, [index, offset], None)?;
        self.note_made(made);
        Some(Type::from_seen_code(made.code()))
    }

    /// As [`Checker::step`] for a store to `mem`, which the instruction names.
    #[inline(always)]
    pub(crate) fn step_store(&mut self, draft: &Draft, inst: Inst, mem: Mem) -> bool {
        let made = match self.has_room() {
            true => self.store(draft, inst, mem, &draft.side),
            false => None,
        };
        self.noted(draft, inst, made)
    }

    /// As [`Checker::step`] for an atomic on `mem`, which the instruction names, with one value.
    #[inline(always)]
    pub(crate) fn step_atomic(&mut self, draft: &Draft, inst: Inst, mem: Mem) -> bool {
        let made = match self.has_room() {
            true => self.atomic::<1, 3>(draft, inst, mem, &draft.side),
            false => None,
        };
        self.noted(draft, inst, made)
    }

    /// As [`Checker::step`] for an instruction of [`Shape::Values`] whose type follows from its operands: gives the type, or
    /// nothing, having noted nothing, where there is a doubt.
    #[inline(always)]
    pub(crate) fn step_values(&mut self, op: Op, words: [u32; 3]) -> Option<Type> {
        if !self.has_room() {
            return None;
        }
        let made = self.values(op, words)?;
        self.note_made(made);
        Some(Type::from_seen_code(made.code()))
    }

    /// Whether an instruction can follow.
    #[inline(always)]
    fn has_room(&self) -> bool {
        self.made.len() < self.room
    }

    /// What an instruction makes that is beyond doubt.
    #[inline(always)]
    fn quick(&mut self, draft: &Draft, inst: Inst, side: &[u32]) -> Option<Made> {
        let quick = inst.op.quick();
        let Inst {
            op,
            ty,
            flags,
            a,
            b,
            c,
        } = inst;
        let bare = flags == 0 && c == 0;
        let (sound, level) = match quick.shape {
            Shape::Values(_) => {
                let made = self.values(op, [a, b, c])?;
                let sound = flags & !quick.flags == 0 && made.code() == ty.code();
                return sound.then_some(made);
            }
            Shape::Convert => {
                let from = self.at(a)?;
                let bare = bare && b == 0 && quick.types.contains(ty);
                (bare && TypeSet::ALL.has_code(from.code()), from.level())
            }
            Shape::Const => {
                let fits = Const::new(ty, inst.const_bits()).is_some();
                (bare && fits && quick.types.contains(ty), Level::WORKGROUP)
            }
            Shape::Param => {
                let declared = draft.scalars.get(a as usize)?.ty == ty;
                let bare = bare && b == 0 && quick.types.contains(ty);
                (bare && declared, Level::WORKGROUP)
            }
            Shape::BuiltIn => {
                let axis = flags & !quick.flags == 0 && flags < 3;
                let bare = axis && a == 0 && b == 0 && c == 0;
                (bare && ty == Type::U32, Level::of(quick.uniformity))
            }
            Shape::Length => {
                let Some(Mem::Buffer(n)) = Mem::from_word(a) else {
                    return None;
                };
                if !bare || b != 0 || !quick.types.contains(ty) {
                    return None;
                }
                let used = self.facts.buffers.get_mut(n as usize)?;
                used.length = true;
                used.length_u32 |= ty == Type::U32;
                self.facts.uses = self.facts.uses.with(Uses::LENGTHS);
                (true, Level::WORKGROUP)
            }
            Shape::Load if flags == 0 => {
                return self.load(draft, Mem::from_word(a)?, [b, c], Some(ty));
            }
            Shape::Load => return None,
            Shape::Store => return self.store(draft, inst, Mem::from_word(a)?, side),
            Shape::Atomic(values) => {
                let mem = Mem::from_word(a)?;
                return match values {
                    0 => self.atomic::<0, 2>(draft, inst, mem, side),
                    1 => self.atomic::<1, 3>(draft, inst, mem, side),
                    _ => self.atomic::<2, 4>(draft, inst, mem, side),
                };
            }
            Shape::Var => {
                let held = self.at(a)?;
                let same = held.code() == ty.code() && quick.types.contains(ty);
                if !same || !bare || b != 0 {
                    return None;
                }
                self.facts.uses = self.facts.uses.with(Uses::VARS);
                return Some(Made::variable(ty, held.level()));
            }
            Shape::VarGet => {
                let held = self.at(a)?.is_variable_of(ty.code()) && quick.types.contains(ty);
                if !held || !bare || b != 0 {
                    return None;
                }
                (true, self.tell(draft, a))
            }
            Shape::VarSet => {
                let value = self.at(b)?;
                let same = self.at(a)?.is_variable_of(value.code());
                if !same || !bare || !ty.is_none() || !quick.types.has_code(value.code()) {
                    return None;
                }
                self.raise(a, value.level());
                return Some(Made::NOTHING);
            }
            Shape::WorkgroupBarrier => {
                if inst != Inst::new(op, Type::NONE) || self.continuing > 0 {
                    return None;
                }
                self.facts.uses = self.facts.uses.with(Uses::BARRIER);
                self.needs(Level::WORKGROUP);
                return Some(Made::NOTHING);
            }
            Shape::Other => return None,
        };
        sound.then_some(Made::value(ty, level))
    }

    /// What an instruction of [`Shape::Values`] makes of these operand words, if there is no doubt.
    #[inline(always)]
    fn values(&self, op: Op, words: [u32; 3]) -> Option<Made> {
        let quick = op.quick();
        let Shape::Values(wants) = quick.shape else {
            return None;
        };
        let ([a, b, c], [x, y, z]) = (words, wants);
        let seen = Seen {
            t: None,
            level: Level::WORKGROUP,
        };
        let seen = self.wanted(a, x, seen)?;
        let seen = self.wanted(b, y, seen)?;
        let Seen { t, level } = self.wanted(c, z, seen)?;
        let t = t?;
        // Nothing but the type of a visible value is in the set.
        let sound = quick.types.has_code(t.code());
        sound.then_some(match quick.makes {
            // One operation from the operands, on which the next instruction may wait.
            Makes::T => t.at_level(level),
            makes => Made::value(
                makes.of(Type::from_seen_code(t.code())),
                t.level().join(level),
            ),
        })
    }

    /// What is known once one more word was looked at; `None` where it is not as wanted.
    #[inline(always)]
    fn wanted(&self, word: u32, want: Want, seen: Seen) -> Option<Seen> {
        if want == Want::Nothing {
            return (word == 0).then_some(seen);
        }
        let made = self.at(word)?;
        let Seen { t, level } = seen;
        let wanted = match want {
            Want::Nothing => return None,
            Want::T => {
                let seen = match t {
                    None => made,
                    Some(t) => made.with_same_code(t)?,
                };
                return Some(Seen {
                    t: Some(seen),
                    level,
                });
            }
            Want::Bool => Type::BOOL,
            Want::U32 => Type::U32,
        };
        let level = level.join(made.level());
        (made.code() == wanted.code()).then_some(Seen { t, level })
    }

    /// What the instruction with this number made.
    #[inline(always)]
    pub(super) fn at(&self, word: u32) -> Option<Made> {
        self.made.get(word as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::KernelBuilder;
    use crate::kernel::Kernel;
    use crate::op::{Form, Operand};
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
                    v.check.step_stored(&draft, inst, &draft.side)
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
            assert!(begun.check.step(draft, *inst), "{inst:?}");
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
                let of = |code: u8| {
                    let at = (from..made.len()).find(|&at| made[at].code() == code);
                    at.unwrap_or(first) as u32
                };

                let kind = next(4);
                let mem = (kind << 28 | next(if kind == 0 { 110 } else { 15 })) as u32;
                let t = match row.operands.first() {
                    Some(Operand::Mem | Operand::Buffer) => element(draft, mem),
                    _ => Type::from_code(made[first].code() & 15),
                };
                let t = t.unwrap_or(Type::F32);
                let variable = |made: &Made| made.is_variable_of(t.code());
                let mut words = [0; 6];
                for (word, operand) in words.iter_mut().zip(row.operands) {
                    *word = match operand {
                        Operand::T | Operand::Any | Operand::Elem => of(t.code()),
                        Operand::Vector => first as u32,
                        Operand::Bool => of(Type::BOOL.code()),
                        Operand::U32 | Operand::Index => of(Type::U32.code()),
                        Operand::Var => made.iter().position(variable).unwrap_or(first) as u32,
                        Operand::Mem | Operand::Buffer => mem,
                        Operand::Param => next(14) as u32,
                        Operand::Ordering => [0, 1, 256, 257, 258][next(5)],
                        Operand::Offset | Operand::Bits => next(6) as u32,
                    };
                }
                if next(3) == 0 {
                    words[next(5)] = match next(3) {
                        0 => next(4) as u32,
                        1 => next(made.len() + 2) as u32,
                        _ => (next(1 << 16) as u32).rotate_right(16),
                    };
                }
                let flags = match next(4) {
                    0 => next(256) as u8,
                    1 if op == Op::Store => Inst::OFFSET,
                    _ => 0,
                };
                let mut side = draft.side.clone();
                let beside = row.form == Form::Side || op == Op::Store && flags >= Inst::OFFSET;
                if beside {
                    side.extend(&words[2..row.words().max(2 + next(5))]);
                    words[2] = (begun.check.side_end as usize + next(10) / 9) as u32;
                }
                let inst = Inst {
                    op,
                    ty: match next(4) {
                        0 => types[next(types.len())],
                        1 => t,
                        _ => row.makes.of(t),
                    },
                    flags,
                    a: words[0],
                    b: words[1],
                    c: words[2],
                };
                let (mut short, mut thorough) = (begun.check.clone(), begun.check.clone());
                let block = matches!(op.quick().effect, Effect::Block | Effect::Terminator);
                short_ways +=
                    usize::from(!block && short.clone().quick(draft, inst, &side).is_some());
                let sound = short.step_stored(draft, &inst, &side);
                refused += usize::from(!sound);
                assert_eq!(sound, thorough.thorough(draft, &inst, &side), "{inst:?}");
                assert_eq!(short.made, thorough.made, "{inst:?}");
                assert_eq!(short.facts, thorough.facts, "{inst:?}");
                assert_eq!(short.faults, thorough.faults, "{inst:?}");
                assert_eq!(short.seen, thorough.seen, "{inst:?}");
                assert_eq!(short.collective, thorough.collective, "{inst:?}");
                let doubts = |c: &Checker| [c.in_doubt, c.stale, c.relied];
                assert_eq!(doubts(&short), doubts(&thorough), "{inst:?}");
                assert_eq!(short.side_end, thorough.side_end, "{inst:?}");
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
