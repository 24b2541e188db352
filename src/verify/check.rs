//! The checks that need one look at each instruction, in order: form, operands, types, blocks.
//!
//! The builder steps through the same code while it builds, so a kernel is verified by the time it is complete.

use super::access::{ordering, undeclared};
use super::blocks::Block;
use super::fault::{Fault, FaultKind};
use super::made::Made;
use super::object::Object;
use super::uniformity::{Flow, Level, level_made};
use crate::kernel::{Draft, Facts, Inst, Mem, Uses, Words};
use crate::op::{Effect, Form, Makes, Op, Operand, Row};
use crate::types::{Scalar, Type, TypeSet};

/// What there is room for in every kernel.
const FEW: usize = 128;

/// The state of a verification on its way through a kernel; its memory is kept between kernels.
///
/// What every instruction needs comes first, as what is near takes shorter machine instructions.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Checker {
    /// What each instruction made, and nothing for some that are to come.
    pub(super) made: Vec<Made>,
    /// The innermost open block.
    pub(super) top: Block,
    pub(super) flow: Flow<Level>,
    /// Whether something breaks out of the innermost open loop.
    pub(super) breaks: bool,
    /// Whether uniformity is asked for.
    pub collective: bool,
    /// Whether the levels noted do not decide uniformity.
    pub(super) in_doubt: bool,
    /// Whether something in the outermost open loop rose after it was told.
    pub(super) stale: bool,
    /// Whether something there that is not divergent may follow from what was told.
    pub(super) relied: bool,
    pub(super) side_end: u32,
    pub facts: Facts,
    /// The memory objects by number, in the order of the kinds of [`Mem`].
    pub(super) objects: [Vec<Object>; 4],
    /// The open blocks around the innermost one, the body first.
    pub(super) around: Vec<Block>,
    /// Where nothing may follow in the innermost open block, what was made is put away here: then no short way finds a
    /// place to note anything.
    pub(super) away: Vec<Made>,
    pub faults: Vec<Fault>,
}

impl Checker {
    /// Begins a kernel.
    pub(crate) fn begin(&mut self) {
        let Checker {
            top: _,
            around: _,
            breaks: _,
            made,
            away,
            side_end,
            objects,
            collective,
            flow: _,
            in_doubt,
            stale,
            relied,
            facts,
            faults,
        } = self;
        if made.is_empty() {
            core::mem::swap(made, away);
        }
        made.clear();
        made.resize(FEW, Made::NOTHING);
        *side_end = 0;
        objects.iter_mut().for_each(Vec::clear);
        *collective = false;
        *in_doubt = false;
        *stale = false;
        *relied = false;
        facts.clear();
        faults.clear();
        self.open_body();
    }

    /// Makes room for so many instructions, and for no more than there may be.
    pub(crate) fn expect(&mut self, insts: usize) {
        let most = Mem::MAX as usize;
        self.made.resize(insts.min(most), Made::NOTHING);
    }

    /// Makes room for the instruction with this number, and as many again.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&mut self, at: usize) {
        if !self.top.ended {
            let twice = at.saturating_mul(2).max(FEW);
            self.expect(twice);
        }
    }

    #[cold]
    pub(crate) fn fault(&mut self, at: usize, op: Op, kind: FaultKind) {
        // Indices stay below 2^28: `step` refuses more instructions.
        self.faults.push(Fault {
            at: u32::try_from(at).ok(),
            op: Some(op),
            kind,
        });
    }

    /// Notes an instruction that was found sound.
    #[inline(always)]
    pub(super) fn note_made(&mut self, at: usize, made: Made) {
        self.see(made);
        if let Some(slot) = self.made.get_mut(at) {
            *slot = made;
        }
    }

    /// Notes the type of what is made.
    #[inline(always)]
    pub(super) fn see(&mut self, made: Made) {
        self.facts.uses = self.facts.uses.with(Uses::of_code(made.code()));
    }

    /// All the checks.
    #[cold]
    #[inline(never)]
    pub(super) fn thorough(&mut self, draft: &Draft, at: usize, inst: &Inst, side: &[u32]) -> bool {
        if let Effect::Block | Effect::Terminator = inst.op.quick().effect {
            return self.control_flow(at, inst);
        }
        match self.look(draft, at, inst, side) {
            Ok(made) => {
                let level = self.level_made(draft, inst, side);
                self.note_made(at, made.at_level(level));
                true
            }
            Err(kind) => {
                self.fault(at, inst.op, kind);
                false
            }
        }
    }

    /// Every rule; gives what the instruction makes.
    fn look(
        &mut self,
        draft: &Draft,
        at: usize,
        inst: &Inst,
        side: &[u32],
    ) -> Result<Made, FaultKind> {
        if at >= Mem::MAX as usize {
            return Err(FaultKind::TooMany("instructions"));
        }
        if self.top.ended {
            return Err(FaultKind::Unreachable);
        }
        let words = self.form(inst, side)?;
        let op = inst.op;
        let row = op.row();
        let mut t = match row.makes {
            Makes::T | Makes::Var => Some(inst.ty),
            Makes::Nothing | Makes::Bool | Makes::U32 | Makes::U32x4 => None,
        };
        if let Some(ty) = t
            && !row.types.contains(ty)
        {
            return Err(FaultKind::Operates { op, ty });
        }
        let mut mem = None;
        let mut index = None;
        let mut rest = &words[..];
        for operand in row.operands {
            let Some((&word, tail)) = rest.split_first() else {
                break;
            };
            rest = tail;
            match operand {
                Operand::T => {
                    let found = self.value(word)?;
                    match t {
                        Some(expected) if expected != found => {
                            return Err(FaultKind::Type {
                                value: word,
                                found,
                                expected,
                            });
                        }
                        Some(_) => {}
                        None if !row.types.contains(found) => {
                            return Err(FaultKind::Operates { op, ty: found });
                        }
                        None => t = Some(found),
                    }
                }
                Operand::Any => {
                    let from = self.value(word)?;
                    let fits = match op {
                        Op::Bitcast => {
                            TypeSet::NUMERIC.contains(from) && from.bytes() == inst.ty.bytes()
                        }
                        _ => TypeSet::ALL.contains(from),
                    };
                    if !fits {
                        return Err(FaultKind::Conversion {
                            op,
                            from,
                            to: inst.ty,
                        });
                    }
                }
                Operand::Bool => self.typed(word, Type::BOOL)?,
                Operand::U32 => self.typed(word, Type::U32)?,
                Operand::Elem => {
                    let expected = inst.ty.scalar().map_or(Type::NONE, Type::of);
                    self.typed(word, expected)?;
                }
                Operand::Vector => {
                    let found = self.value(word)?;
                    let lane = u32::from(inst.flags);
                    if found.lanes() == 1 || found.scalar() != inst.ty.scalar() {
                        let expected = Type::vector(inst.ty.scalar().unwrap_or(Scalar::F32), 4);
                        let expected = expected.unwrap_or(Type::NONE);
                        return Err(FaultKind::Type {
                            value: word,
                            found,
                            expected,
                        });
                    }
                    if lane >= found.lanes() {
                        return Err(FaultKind::Lane { lane, ty: found });
                    }
                }
                Operand::Index => {
                    let found = self.value(word)?;
                    if !TypeSet::INDEX.contains(found) {
                        return Err(FaultKind::IndexType { value: word, found });
                    }
                    index = Some(word);
                }
                Operand::Mem => {
                    let named = Mem::from_word(word).filter(|&m| draft.elem(m).is_some());
                    let Some(named) = named else {
                        return Err(undeclared(word));
                    };
                    mem = Some(named);
                }
                Operand::Buffer => match Mem::from_word(word) {
                    Some(named @ Mem::Buffer(_)) if draft.elem(named).is_some() => {
                        mem = Some(named)
                    }
                    _ => return Err(undeclared(word)),
                },
                Operand::Offset => self.offset(draft, mem, index, word)?,
                Operand::Ordering => ordering(op, word)?,
                Operand::Var => {
                    let found = self.var(word)?;
                    match t {
                        Some(ty) if ty != found => {
                            return Err(FaultKind::Makes {
                                found: ty,
                                expected: found,
                            });
                        }
                        _ => t = Some(found),
                    }
                }
                Operand::Param => match draft.scalars.get(word as usize) {
                    None => return Err(FaultKind::Undeclared(format!("arg{word}"))),
                    Some(d) if d.ty != inst.ty => {
                        return Err(FaultKind::Makes {
                            found: inst.ty,
                            expected: d.ty,
                        });
                    }
                    Some(_) => {}
                },
                Operand::Bits => {
                    rest = rest.get(1..).unwrap_or(&[]);
                    let bits = inst.const_bits();
                    if crate::types::Const::new(inst.ty, bits).is_none() {
                        return Err(FaultKind::ConstBits { ty: inst.ty, bits });
                    }
                }
            }
        }
        let expected = row.makes.of(t.unwrap_or(Type::NONE));
        if row.makes != Makes::Var && inst.ty != expected {
            return Err(FaultKind::Makes {
                found: inst.ty,
                expected,
            });
        }
        if let Some(mem) = mem {
            self.memory(draft, inst, row, mem, t)?;
        }
        self.note(inst, row)?;
        Ok(match row.makes {
            Makes::Nothing => Made::NOTHING,
            Makes::Var => Made::variable(inst.ty, Level::WORKGROUP),
            Makes::T | Makes::Bool | Makes::U32 | Makes::U32x4 => {
                Made::value(inst.ty, Level::WORKGROUP)
            }
        })
    }

    /// The level noted of what an instruction made.
    #[inline(always)]
    pub(super) fn level(&self, word: u32) -> Level {
        self.made
            .get(word as usize)
            .map_or(Level::WORKGROUP, |made| made.level())
    }

    /// The level of what an instruction makes that was found sound. For a variable what is put into it counts.
    fn level_made(&mut self, draft: &Draft, inst: &Inst, side: &[u32]) -> Level {
        match inst.op {
            Op::VarGet => self.tell(draft, inst.a as usize),
            Op::VarSet => {
                self.raise(inst.a as usize, self.level(inst.b));
                Level::WORKGROUP
            }
            _ if inst.ty.is_none() => Level::WORKGROUP,
            _ => level_made(draft, inst, side, |word| self.level(word)),
        }
    }

    /// The level of a variable that is read.
    ///
    /// Of those that a loop reads, most kernels have only the loop's counter decide anything, which is made right before
    /// it. Others are taken as divergent at once: then no doubt is left behind when they turn out to be. An operation that
    /// is refused for that is looked at again, as any.
    #[inline(always)]
    pub(super) fn tell(&mut self, draft: &Draft, variable: usize) -> Level {
        let counts = |i: &Inst| i.op == Op::Loop;
        let diverges = self.repeats() && !draft.insts.get(variable + 1).is_some_and(counts);
        let Some(made) = self.made.get_mut(variable) else {
            return Level::DIVERGENT;
        };
        if diverges {
            *made = made.at_level(Level::DIVERGENT);
        }
        made.tell()
    }

    /// Raises the level of a variable into which a value of this level is put here. Where no loop is open, nobody who was
    /// told a lower one comes here again.
    #[inline(always)]
    pub(super) fn raise(&mut self, variable: usize, level: Level) {
        let level = level.join(self.flow.here());
        self.relies(level);
        let repeats = self.repeats();
        if let Some(made) = self.made.get_mut(variable)
            && made.raise(level)
            && repeats
        {
            self.rose();
        }
    }

    /// Notes something of this level that what was told in a loop may be the reason of: what a variable is set to, control,
    /// or an operation. What is divergent anyhow is none; all else in a loop are values, which it does not hand on.
    #[inline(always)]
    pub(super) fn relies(&mut self, level: Level) {
        if level != Level::DIVERGENT && self.repeats() {
            self.relied = true;
            self.in_doubt |= self.stale;
        }
    }

    /// Notes that something in a loop rose after it was told.
    pub(super) fn rose(&mut self) {
        self.stale = true;
        self.in_doubt |= self.relied;
    }

    /// Canonical form; gives the operand words.
    #[inline(always)]
    fn form(&mut self, inst: &Inst, side: &[u32]) -> Result<Words, FaultKind> {
        let quick = inst.op.quick();
        let canonical = || Err(FaultKind::Canonical(inst.op));
        let flags = match quick.form {
            Form::Inline | Form::Side => quick.flags,
            Form::Store => quick.flags | Inst::OFFSET,
        };
        let wrong_number = quick.not_all != 0 && inst.flags & quick.not_all == quick.not_all;
        if inst.flags & !flags != 0 || wrong_number {
            return Err(wrong_flags(inst));
        }
        if !inst.has_side() {
            let unused = match quick.len {
                0 => inst.a | inst.b | inst.c,
                1 => inst.b | inst.c,
                2 => inst.c,
                _ => 0,
            };
            return match Words::of(inst, side) {
                Some(words) if unused == 0 => Ok(words),
                _ => canonical(),
            };
        }
        let len = u32::from(quick.len).saturating_sub(2);
        let end = self.side_end.checked_add(len);
        let words = match Words::of(inst, side) {
            Some(words) if inst.c == self.side_end => words,
            _ => return self.misplaced(inst, side),
        };
        let Some(end) = end else {
            return self.misplaced(inst, side);
        };
        self.side_end = end;
        if quick.form == Form::Store && words.last() == Some(&0) {
            return canonical();
        }
        Ok(words)
    }

    #[cold]
    fn misplaced<T>(&self, inst: &Inst, side: &[u32]) -> Result<T, FaultKind> {
        Err(FaultKind::Side {
            found: inst.c,
            expected: self.side_end,
            len: side.len(),
        })
    }

    /// The type of a visible value.
    #[inline(always)]
    fn value(&self, word: u32) -> Result<Type, FaultKind> {
        let made = self.made.get(word as usize);
        match made.and_then(|made| made.value_type()) {
            Some(ty) => Ok(ty),
            None => self.no_value(word),
        }
    }

    #[cold]
    fn no_value<T>(&self, word: u32) -> Result<T, FaultKind> {
        let made = self.made.get(word as usize);
        Err(match made {
            Some(made) if made.is_gone() && !made.is_variable() => FaultKind::NotVisible(word),
            _ => FaultKind::NoValue(word),
        })
    }

    #[inline(always)]
    pub(super) fn typed(&self, word: u32, expected: Type) -> Result<(), FaultKind> {
        let found = self.value(word)?;
        if found == expected {
            Ok(())
        } else {
            Err(FaultKind::Type {
                value: word,
                found,
                expected,
            })
        }
    }

    fn var(&self, word: u32) -> Result<Type, FaultKind> {
        self.made
            .get(word as usize)
            .and_then(|made| made.variable_type())
            .ok_or(FaultKind::NoVar(word))
    }

    /// Notes what else the body uses.
    fn note(&mut self, inst: &Inst, row: &Row) -> Result<(), FaultKind> {
        self.facts.uses = self.facts.uses.with(uses_of(inst.op));
        match row.effect {
            Effect::Barrier if self.top.in_continuing() => {
                return Err(FaultKind::InContinuing(inst.op));
            }
            Effect::Barrier => self.needs(Level::WORKGROUP),
            Effect::Collective => self.needs(Level::SUBGROUP),
            Effect::Pure
            | Effect::Reads
            | Effect::Writes
            | Effect::ReadsWrites
            | Effect::Fence
            | Effect::Block
            | Effect::Terminator => {}
        }
        Ok(())
    }

    /// Notes an operation that needs control of this level.
    pub(super) fn needs(&mut self, level: Level) {
        self.collective = true;
        let here = self.flow.here();
        self.in_doubt |= here.exceeds(level);
        self.relies(here);
    }

    /// Whether the body is complete and beyond doubt.
    #[inline(always)]
    pub(super) fn ends(&self, draft: &Draft) -> bool {
        self.around.is_empty()
            && self.side_end as usize == draft.side.len()
            && !(self.collective && self.in_doubt)
            && self.faults.is_empty()
    }

    /// The checks at the end of the body.
    pub(crate) fn end(&mut self, insts: usize, side: &[u32]) {
        let at = u32::try_from(insts).ok();
        let open = self.depth();
        if open > 0 {
            self.faults.push(Fault {
                at,
                op: None,
                kind: FaultKind::Open(open),
            });
        }
        let left = side.len().saturating_sub(self.side_end as usize);
        if left > 0 && self.faults.is_empty() {
            self.faults.push(Fault {
                at,
                op: None,
                kind: FaultKind::SideLeft(left),
            });
        }
    }
}

/// What is wrong with flags that an opcode does not have, or with a number in them.
#[cold]
#[inline(never)]
fn wrong_flags(inst: &Inst) -> FaultKind {
    let (op, axis) = (inst.op, inst.flags);
    if op.quick().not_all != 0 && op.row().operands.is_empty() {
        FaultKind::Axis { op, axis }
    } else {
        FaultKind::Canonical(op)
    }
}

/// What an opcode uses beside its types and its memory.
#[inline(always)]
pub(super) fn uses_of(op: Op) -> Uses {
    match op {
        Op::WorkgroupBarrier => Uses::BARRIER,
        Op::MemoryFence => Uses::FENCE,
        Op::Lane | Op::SubgroupId | Op::SubgroupSize | Op::SubgroupBarrier => Uses::SUBGROUP,
        Op::Elect => Uses::SUBGROUP.with(Uses::ELECT),
        Op::Any | Op::All => Uses::SUBGROUP.with(Uses::VOTE),
        Op::Ballot => Uses::SUBGROUP.with(Uses::BALLOT),
        Op::Broadcast | Op::Shuffle | Op::ShuffleXor | Op::ShuffleUp | Op::ShuffleDown => {
            Uses::SUBGROUP.with(Uses::SHUFFLE)
        }
        Op::SubgroupAdd
        | Op::SubgroupMin
        | Op::SubgroupMax
        | Op::SubgroupAnd
        | Op::SubgroupOr
        | Op::SubgroupXor => Uses::SUBGROUP.with(Uses::REDUCE),
        Op::Dot4Add => Uses::DOT4,
        Op::AssumeUniform => Uses::ASSUME_UNIFORM,
        Op::Var => Uses::VARS,
        _ => Uses::default(),
    }
}
