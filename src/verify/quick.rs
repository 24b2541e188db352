//! The short ways: instructions of the commonest shapes that are beyond doubt. What these do not accept, the thorough
//! checks decide, so that every rule and every fault has one place; a test holds the two against each other.

use super::check::{Checker, uses_of};
use super::made::Made;
use super::uniformity::{Level, level_made};
use crate::kernel::{Draft, Inst, Place, Uses};
use crate::op::{Effect, Makes, OnValues, Op, Plain, Shape, Want};
use crate::types::{Const, Scalar, Type};

/// The bits that a constant can have, by the low four bits of its type's code.
const FITS: [u64; 16] = {
    let mut fits = [0; 16];
    let mut i = 0;
    while i < Scalar::ALL.len() {
        let scalar = Scalar::ALL[i];
        fits[scalar as usize] = u64::MAX >> (64 - scalar.bits());
        i += 1;
    }
    fits
};

/// What is known of an instruction on values, once some of its words were looked at.
#[derive(Clone, Copy)]
struct Seen {
    /// A value of type T, as uniform as those of type T so far.
    t: Option<Made>,
    /// The level of the others.
    level: Level,
}

/// What an instruction makes that is beyond doubt, not noted yet: what else was noted for it does no harm twice, so that
/// it can still be looked at as any other.
pub(crate) struct Step<'a> {
    slot: &'a mut Made,
    made: Made,
    /// The type of the value or variable made.
    pub ty: Type,
}

impl Step<'_> {
    #[inline(always)]
    pub(crate) fn note(self) {
        *self.slot = self.made;
    }
}

impl Checker {
    /// Looks at the instruction that is to become number `at`. Faults go to the list; whatever they are, the next
    /// instruction can follow. Returns whether there was none.
    #[inline(always)]
    pub(crate) fn step(&mut self, draft: &Draft, at: usize, inst: &Inst, side: &[u32]) -> bool {
        if at >= self.made.len() {
            self.make_room(at);
        }
        if let Effect::Block | Effect::Terminator = inst.op.quick().effect {
            return self.control_flow(at, inst);
        }
        if at < self.made.len()
            && let Some(made) = self.quick(draft, inst, side)
        {
            self.note_made(at, made);
            return true;
        }
        self.thorough(draft, at, inst, side)
    }

    /// As [`Checker::step`] for an instruction of values alone, on what these made, which is wanted so, and which makes that:
    /// gives what is to be noted, or nothing where there is a doubt.
    #[inline(always)]
    pub(crate) fn step_values(
        &mut self,
        at: usize,
        op: OnValues,
        places: [Place; 3],
        wants: [Want; 3],
        makes: Makes,
    ) -> Option<Step<'_>> {
        #[cfg(debug_assertions)]
        assert!(
            op.types.is_empty()
                || crate::op::wants_of(op.op) == wants && op.op.quick().makes == makes
        );
        let [a, b, c] = places;
        let seen = Seen {
            t: None,
            level: Level::WORKGROUP,
        };
        let [x, y, z] = wants;
        let seen = self.wanted(a, x, seen)?;
        let seen = self.wanted(b, y, seen)?;
        let Seen { t, level } = self.wanted(c, z, seen)?;
        let t = t?;
        let made = match makes {
            // One operation from the operands, on which the next instruction may wait.
            Makes::T => t.at_level(level),
            _ => Made::value(makes.of(Type::NONE), t.level().join(level)),
        };
        // It is of a type that was seen, or of one that need not be.
        let step = self.noting(at, made, Type::from_seen_code(made.code()))?;
        // Nothing but the type of a visible value is in the set.
        op.types.has_code(t.code()).then_some(step)
    }

    /// As [`Checker::step_values`] for a constant of this type, whose bits are in order.
    #[inline(always)]
    pub(crate) fn step_constant(&mut self, at: usize, constant: Const) -> Option<Step<'_>> {
        let made = Made::value(constant.ty(), Level::WORKGROUP);
        self.see(made);
        self.noting(at, made, constant.ty())
    }

    /// As [`Checker::step_values`] for a parameter.
    #[inline(always)]
    pub(crate) fn step_param(
        &mut self,
        draft: &Draft,
        at: usize,
        scalar: Place,
    ) -> Option<Step<'_>> {
        let ty = draft.scalars.get(scalar.index())?.ty;
        if !Op::Param.plain().types.contains(ty) {
            return None;
        }
        let made = Made::value(ty, Level::WORKGROUP);
        self.see(made);
        self.noting(at, made, ty)
    }

    /// As [`Checker::step_values`] for what the place in the grid decides.
    #[inline(always)]
    pub(crate) fn step_built_in(&mut self, at: usize, op: Op, axis: u8) -> Option<Step<'_>> {
        let quick = op.quick();
        let plain = quick.shape == Shape::Plain && !op.plain().more && quick.len == 0;
        if !plain || axis & !quick.flags != 0 || axis > 2 {
            return None;
        }
        let made = Made::value(Type::U32, Level::of(quick.uniformity));
        self.noting(at, made, Type::U32)
    }

    /// As [`Checker::step_values`] for a variable that begins as this value.
    #[inline(always)]
    pub(crate) fn step_var(&mut self, at: usize, value: Place) -> Option<Step<'_>> {
        let held = self.at(value)?;
        if !Op::Var.quick().types.has_code(held.code()) {
            return None;
        }
        let ty = Type::from_seen_code(held.code());
        self.facts.uses = self.facts.uses.with(Uses::VARS);
        self.noting(at, Made::variable(ty, held.level()), ty)
    }

    /// As [`Checker::step_values`] for the reading of a variable.
    #[inline(always)]
    pub(crate) fn step_get(
        &mut self,
        draft: &Draft,
        at: usize,
        variable: Place,
    ) -> Option<Step<'_>> {
        let ty = self.at(variable)?.variable_type()?;
        let level = self.tell(draft, variable.index());
        self.noting(at, Made::value(ty, level), ty)
    }

    /// As [`Checker::step_values`] for the setting of a variable.
    #[inline(always)]
    pub(crate) fn step_set(
        &mut self,
        at: usize,
        variable: Place,
        value: Place,
    ) -> Option<Step<'_>> {
        let (into, from) = (self.at(variable)?, self.at(value)?);
        // The codes of vectors, and of what is gone, would do for variables of other types.
        let fits = Op::VarSet.quick().types.has_code(from.code());
        if !fits || !into.is_variable_of(from.code()) {
            return None;
        }
        self.raise(variable.index(), from.level());
        self.noting(at, Made::NOTHING, Type::NONE)
    }

    /// As [`Checker::step_values`] for a plain load.
    #[inline(always)]
    pub(crate) fn step_load(
        &mut self,
        draft: &Draft,
        at: usize,
        mem: Place,
        index: Place,
        offset: u32,
    ) -> Option<Step<'_>> {
        let made = self.load(draft, mem, index, offset, None)?;
        self.see(made);
        self.noting(at, made, Type::from_seen_code(made.code()))
    }

    /// As [`Checker::step_values`] for a plain store, without an offset.
    #[inline(always)]
    pub(crate) fn step_store(
        &mut self,
        draft: &Draft,
        at: usize,
        mem: Place,
        index: Place,
        value: Place,
    ) -> Option<Step<'_>> {
        let made = self.store(draft, mem, index, 0, value)?;
        self.noting(at, made, Type::NONE)
    }

    /// As [`Checker::step_values`] for a plain store with an offset, whose last words are beside from this place on.
    #[inline(always)]
    pub(crate) fn step_store_offset(
        &mut self,
        draft: &Draft,
        at: usize,
        [mem, index, value]: [Place; 3],
        offset: u32,
        beside: u32,
    ) -> Option<Step<'_>> {
        if at >= self.made.len() || beside != self.side_end {
            return None;
        }
        let made = self.store(draft, mem, index, offset, value)?;
        self.side_end = beside.checked_add(2)?;
        self.noting(at, made, Type::NONE)
    }

    /// As [`Checker::step_store_offset`] for an atomic with one value.
    #[inline(always)]
    pub(crate) fn step_atomic(
        &mut self,
        draft: &Draft,
        at: usize,
        op: Op,
        [mem, index, value]: [Place; 3],
        words: [u32; 2],
        beside: u32,
    ) -> Option<Step<'_>> {
        if at >= self.made.len() || beside != self.side_end {
            return None;
        }
        let made = self.atomic(draft, op, [mem, index], [value], words, None)?;
        self.side_end = beside.checked_add(3)?;
        match made {
            Made::NOTHING => self.noting(at, made, Type::NONE),
            _ => {
                self.see(made);
                self.noting(at, made, Type::from_seen_code(made.code()))
            }
        }
    }

    /// As [`Checker::step_values`] for the length of a buffer.
    #[inline(always)]
    pub(crate) fn step_length(&mut self, at: usize, buffer: Place, ty: Type) -> Option<Step<'_>> {
        if self.top.ended {
            return None;
        }
        self.length(buffer, ty)?;
        let made = Made::value(ty, Level::WORKGROUP);
        self.see(made);
        self.noting(at, made, ty)
    }

    /// As [`Checker::step_values`] for a barrier of the workgroup.
    #[inline(always)]
    pub(crate) fn step_barrier(&mut self, at: usize) -> Option<Step<'_>> {
        if self.top.in_continuing() || self.top.ended {
            return None;
        }
        self.facts.uses = self.facts.uses.with(Uses::BARRIER);
        self.needs(Level::WORKGROUP);
        self.noting(at, Made::NOTHING, Type::NONE)
    }

    /// What an instruction makes, and where to note it; nothing where none can follow or memory must grow first.
    #[inline(always)]
    fn noting(&mut self, at: usize, made: Made, ty: Type) -> Option<Step<'_>> {
        let slot = self.made.get_mut(at)?;
        Some(Step { slot, made, ty })
    }

    /// What an instruction makes that is beyond doubt.
    #[inline(always)]
    fn quick(&mut self, draft: &Draft, inst: &Inst, side: &[u32]) -> Option<Made> {
        let quick = inst.op.quick();
        if quick.shape == Shape::Plain {
            let plain = inst.op.plain();
            let made = self.plain(plain, inst)?;
            return match plain.more {
                true => self.more(draft, inst, made),
                false => Some(made),
            };
        }
        let Inst {
            ty, flags, a, b, c, ..
        } = *inst;
        let bare = flags == 0 && c == 0;
        let level = match quick.shape {
            Shape::Plain => return None,
            Shape::Length => {
                if !bare || b != 0 || !quick.types.contains(ty) {
                    return None;
                }
                self.length(Place::of(a), ty)?;
                Level::WORKGROUP
            }
            Shape::Load if flags == 0 => {
                return self.load(draft, Place::of(a), Place::of(b), c, Some(ty));
            }
            Shape::Load => return None,
            Shape::Store => {
                let (value, offset, end) = match flags {
                    0 => (c, 0, self.side_end),
                    Inst::OFFSET => {
                        let (&[value, offset], end) = self.run(*inst, side)?;
                        (value, (offset != 0).then_some(offset)?, end)
                    }
                    _ => return None,
                };
                if !ty.is_none() {
                    return None;
                }
                let (mem, index) = (Place::of(a), Place::of(b));
                let made = self.store(draft, mem, index, offset, Place::of(value))?;
                self.side_end = end;
                return Some(made);
            }
            Shape::Atomic(values) => {
                return match values {
                    0 => self.stored_atomic::<0, 2>(draft, *inst, side),
                    1 => self.stored_atomic::<1, 3>(draft, *inst, side),
                    _ => self.stored_atomic::<2, 4>(draft, *inst, side),
                };
            }
            Shape::Var => {
                let held = self.at(Place::of(a))?;
                let same = held.code() == ty.code() && quick.types.contains(ty);
                if !same || !bare || b != 0 {
                    return None;
                }
                self.facts.uses = self.facts.uses.with(Uses::VARS);
                return Some(Made::variable(ty, held.level()));
            }
            Shape::VarGet => {
                let held =
                    self.at(Place::of(a))?.is_variable_of(ty.code()) && quick.types.contains(ty);
                if !held || !bare || b != 0 {
                    return None;
                }
                self.tell(draft, a as usize)
            }
            Shape::VarSet => {
                let value = self.at(Place::of(b))?;
                let same = self.at(Place::of(a))?.is_variable_of(value.code());
                if !same || !bare || !ty.is_none() || !quick.types.has_code(value.code()) {
                    return None;
                }
                self.raise(a as usize, value.level());
                return Some(Made::NOTHING);
            }
            Shape::Other => return None,
        };
        Some(Made::value(ty, level))
    }

    /// What an instruction of [`Shape::Plain`] makes, if there is no doubt. Opcodes come in any order, so that nothing here
    /// is decided by one: all that differs is looked up.
    #[inline(always)]
    fn plain(&self, plain: &Plain, inst: &Inst) -> Option<Made> {
        let words = [inst.a, inst.b, inst.c];
        let (mut noted, mut wrong) = (0, 0);
        for (n, word) in words.into_iter().enumerate() {
            // The first one stands in for what is no value.
            let value = word & i32::from(plain.values[n]).cast_unsigned();
            noted |= u64::from(self.at(Place::of(value))?.bits()) << (16 * n);
            wrong |= word & i32::from(plain.zeros[n]).cast_unsigned();
        }
        let first = noted as u8;
        let t = inst.ty.code() & plain.told | first & !plain.told;
        let t_beside = u64::from(t) * 0x1_0001_0001;
        let expected = t_beside & plain.of_t | plain.codes;
        let flags = inst.flags & plain.no_flags;
        let ty = inst.ty.code() ^ (t & plain.told | plain.made);
        let bits = inst.const_bits() & !FITS[usize::from(t & 15)];
        let wrong = u64::from(wrong)
            | (noted ^ expected) & plain.cares
            | u64::from(flags | ty)
            | bits & i64::from(plain.is_const).cast_unsigned();
        let not = inst.flags & 3 == plain.not;
        let sound = plain.types.has_code(t) & plain.firsts.has_code(first);
        if (wrong != 0) | not | !sound {
            return None;
        }
        let levels = noted & plain.levels;
        let level = (levels | levels >> 16 | levels >> 32) as u16 & 0x0300;
        Some(Made::of_bits(
            u16::from(t & plain.told) | plain.sets | level,
        ))
    }

    /// The rest of an instruction of [`Shape::Plain`] of which there is more to say.
    #[inline(never)]
    fn more(&mut self, draft: &Draft, inst: &Inst, made: Made) -> Option<Made> {
        let (op, quick) = (inst.op, inst.op.quick());
        let from = self.at(Place::of(inst.a));
        let sound = match op {
            Op::Param => draft.scalars.get(inst.a as usize)?.ty == inst.ty,
            Op::Bitcast => Type::from_seen_code(from?.code()).bytes() == inst.ty.bytes(),
            Op::Extract => u32::from(inst.flags) < Type::from_seen_code(from?.code()).lanes(),
            _ => true,
        };
        if !sound || quick.effect == Effect::Barrier && self.top.in_continuing() {
            return None;
        }
        self.facts.uses = self.facts.uses.with(uses_of(op));
        if quick.effect == Effect::Barrier {
            self.needs(Level::WORKGROUP);
        } else if quick.effect == Effect::Collective {
            self.needs(Level::SUBGROUP);
            if quick.makes != Makes::Nothing {
                let level = level_made(draft, inst, &[], |word| self.level(word));
                return Some(Made::value(inst.ty, level));
            }
        }
        Some(made)
    }

    /// Notes that the length of a buffer is asked for.
    #[inline(always)]
    fn length(&mut self, buffer: Place, ty: Type) -> Option<()> {
        let used = self.facts.buffers.get_mut(buffer.index())?;
        used.length = true;
        used.length_u32 |= ty == Type::U32;
        self.facts.uses = self.facts.uses.with(Uses::LENGTHS);
        Some(())
    }

    /// An atomic with so many values, and a run of so many words.
    #[inline(always)]
    fn stored_atomic<const VALUES: usize, const RUN: usize>(
        &mut self,
        draft: &Draft,
        inst: Inst,
        side: &[u32],
    ) -> Option<Made> {
        let (run, end) = self.run::<RUN>(inst, side)?;
        let (values, rest) = run.split_first_chunk::<VALUES>()?;
        let &[offset, ordering] = rest else {
            return None;
        };
        let values = values.map(Place::of);
        let reached = [inst.a, inst.b].map(Place::of);
        if inst.flags != 0 {
            return None;
        }
        let (words, makes) = ([offset, ordering], Some(inst.ty));
        let made = self.atomic(draft, inst.op, reached, values, words, makes)?;
        self.side_end = end;
        Some(made)
    }

    /// What is known once one more word was looked at; `None` where it is not as wanted.
    #[inline(always)]
    fn wanted(&self, place: Place, want: Want, Seen { t, level }: Seen) -> Option<Seen> {
        if want == Want::Nothing {
            return (place == Place::of(0)).then_some(Seen { t, level });
        }
        let made = self.at(place)?;
        let wanted = match want {
            Want::Nothing => return None,
            Want::T => {
                let t = match t {
                    None => made,
                    Some(t) => made.with_same_code(t)?,
                };
                return Some(Seen { t: Some(t), level });
            }
            Want::Bool => Type::BOOL,
            Want::U32 => Type::U32,
            Want::Elem | Want::Vector | Want::Any | Want::Literal => return None,
        };
        let level = level.join(made.level());
        (made.code() == wanted.code()).then_some(Seen { t, level })
    }

    /// What the instruction with this number made.
    #[inline(always)]
    pub(super) fn at(&self, place: Place) -> Option<Made> {
        self.made.get(place.index()).copied()
    }
}

#[cfg(test)]
mod tests;
