//! The checks that need one look at each instruction, in order: form, operands, types, blocks.
//!
//! The builder steps through the same code while it builds, so a kernel is verified by the time it is complete.

use super::access::{ordering, undeclared};
use super::blocks::{Block, BlockKind};
use super::fault::{Fault, FaultKind};
use crate::kernel::{BufferUse, Draft, Facts, Inst, Mem, Uses, Words};
use crate::op::{Effect, Form, Makes, Op, Operand, Row};
use crate::types::{Type, TypeSet};

/// Marks in `made` an instruction that makes no value; block numbers stay below.
pub(super) const NO_VALUE: u32 = 1 << 31;
/// Marks in `made` a variable.
const VARIABLE: u32 = 1 << 30;

/// The state of a verification on its way through a kernel; its memory is kept between kernels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checker {
    pub(super) blocks: Vec<Block>,
    /// The innermost open loops' places in `blocks`.
    pub(super) loops: Vec<u32>,
    /// The number of the innermost open block, and whether nothing may follow in it.
    pub(super) here: u32,
    pub(super) ended: bool,
    /// For each instruction the number of the block it stands in, and the marks.
    pub(super) made: Vec<u32>,
    /// For each block, by number, whether it is open.
    pub(super) open: Vec<bool>,
    /// Open blocks in a continuing part, that part included.
    pub(super) continuing: u32,
    side_end: u32,
    /// The types of the values made, one bit each by the low bits of their codes.
    seen: u32,
    /// Whether uniformity must be looked at.
    pub collective: bool,
    pub facts: Facts,
    pub faults: Vec<Fault>,
}

impl Checker {
    /// Begins a kernel.
    pub(crate) fn begin(&mut self) {
        let Checker {
            blocks,
            loops,
            here,
            ended,
            made,
            open,
            continuing,
            side_end,
            seen,
            collective,
            facts,
            faults,
        } = self;
        blocks.clear();
        blocks.push(Block {
            kind: BlockKind::Body,
            id: 0,
            ended: false,
            mark: false,
        });
        loops.clear();
        *here = 0;
        *ended = false;
        made.clear();
        open.clear();
        open.push(true);
        *continuing = 0;
        *side_end = 0;
        *seen = 0;
        *collective = false;
        facts.clear();
        faults.clear();
    }

    /// Tells it of a declared buffer.
    pub(crate) fn buffer(&mut self) {
        self.facts.buffers.push(BufferUse::default());
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

    /// Looks at the instruction that is to become number `self.made.len()`. Faults go to the list; whatever they are, the
    /// next instruction can follow. Returns whether there was none.
    #[inline]
    pub(crate) fn step(&mut self, draft: &Draft, inst: &Inst, side: &[u32]) -> bool {
        if self.quick(draft, inst) {
            self.made.push(self.here);
            self.seen |= 1 << (inst.ty.code() & 15);
            return true;
        }
        self.thorough(draft, inst, side)
    }

    /// Whether the instruction is beyond doubt by the rule of the commonest shape: values of one type in line, the result
    /// of that type or a bool. What this does not accept, `thorough` decides.
    #[inline]
    fn quick(&self, draft: &Draft, inst: &Inst) -> bool {
        let quick = inst.op.quick();
        let (Some(a), Some(b)) = (self.peek(draft, inst.a), self.peek(draft, inst.b)) else {
            return false;
        };
        let same = match quick.values {
            2 => a == b && inst.c == 0,
            3 => a == b && self.peek(draft, inst.c) == Some(a),
            _ => false,
        };
        same && quick.types.contains(a)
            && inst.ty == quick.makes.of(a)
            && inst.flags == 0
            && !self.ended
            && self.made.len() < Mem::MAX as usize
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

    #[inline(never)]
    fn thorough(&mut self, draft: &Draft, inst: &Inst, side: &[u32]) -> bool {
        match self.look(draft, inst, side) {
            Ok(mark) => {
                self.made.push(self.here | mark);
                self.seen |= 1 << (inst.ty.code() & 15);
                true
            }
            Err(kind) => {
                self.fault(self.made.len(), inst.op, kind);
                self.made.push(NO_VALUE);
                false
            }
        }
    }

    /// Every rule; gives the marks for `made`.
    fn look(&mut self, draft: &Draft, inst: &Inst, side: &[u32]) -> Result<u32, FaultKind> {
        let row = inst.op.row();
        if self.made.len() >= Mem::MAX as usize {
            return Err(FaultKind::TooMany("instructions"));
        }
        match row.effect {
            Effect::Block => return self.block(draft, inst).map(|()| NO_VALUE),
            _ if self.ended => return Err(FaultKind::Unreachable),
            Effect::Terminator => return self.terminator(inst).map(|()| NO_VALUE),
            _ => {}
        }
        self.general(draft, inst, side, row)
    }

    fn general(
        &mut self,
        draft: &Draft,
        inst: &Inst,
        side: &[u32],
        row: &Row,
    ) -> Result<u32, FaultKind> {
        let words = self.form(inst, side, row)?;
        let op = inst.op;
        let mut t = match row.makes {
            Makes::T | Makes::Var => Some(inst.ty),
            Makes::Nothing | Makes::Bool | Makes::U32 => None,
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
                    let found = self.value(draft, word)?;
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
                    let from = self.value(draft, word)?;
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
                Operand::Bool => self.typed(draft, word, Type::BOOL)?,
                Operand::U32 => self.typed(draft, word, Type::U32)?,
                Operand::Index => {
                    let found = self.value(draft, word)?;
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
                    let found = self.var(draft, word)?;
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
            Makes::Nothing => NO_VALUE,
            Makes::Var => NO_VALUE | VARIABLE,
            Makes::T | Makes::Bool | Makes::U32 => 0,
        })
    }

    /// Canonical form; gives the operand words.
    fn form(&mut self, inst: &Inst, side: &[u32], row: &Row) -> Result<Words, FaultKind> {
        let canonical = FaultKind::Canonical(inst.op);
        let mut flags = row.flags;
        if row.form == Form::Store {
            flags |= Inst::OFFSET;
        }
        let axis_wrong = row.flags == 3 && row.makes == Makes::U32 && inst.flags == 3;
        if inst.flags & !flags != 0 || axis_wrong {
            return Err(canonical);
        }
        if inst.has_side() {
            let len = (row.words() - 2) as u32;
            let expected = self.side_end;
            let wrong = FaultKind::Side {
                found: inst.c,
                expected,
                len: side.len(),
            };
            let end = expected
                .checked_add(len)
                .filter(|&end| inst.c == expected && end as usize <= side.len());
            let Some(end) = end else { return Err(wrong) };
            self.side_end = end;
            let words = Words::of(inst, side).ok_or(wrong)?;
            if row.form == Form::Store && words.last() == Some(&0) {
                return Err(canonical);
            }
            return Ok(words);
        }
        let words = Words::of(inst, side).ok_or(canonical.clone())?;
        let used = words.len().min(3);
        if [inst.a, inst.b, inst.c]
            .get(used..)
            .is_some_and(|unused| unused.iter().any(|&w| w != 0))
        {
            return Err(canonical);
        }
        Ok(words)
    }

    /// The type of a visible value.
    #[inline]
    fn value(&self, draft: &Draft, word: u32) -> Result<Type, FaultKind> {
        match self.made.get(word as usize) {
            Some(&block) if block < VARIABLE => {
                if self.open.get(block as usize) != Some(&true) {
                    return Err(FaultKind::NotVisible(word));
                }
                // `made` is never longer than the list of instructions.
                draft
                    .insts
                    .get(word as usize)
                    .map(|i| i.ty)
                    .ok_or(FaultKind::NoValue(word))
            }
            _ => Err(FaultKind::NoValue(word)),
        }
    }

    pub(super) fn typed(&self, draft: &Draft, word: u32, expected: Type) -> Result<(), FaultKind> {
        let found = self.value(draft, word)?;
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

    fn var(&self, draft: &Draft, word: u32) -> Result<Type, FaultKind> {
        let made = self
            .made
            .get(word as usize)
            .copied()
            .filter(|m| m & VARIABLE != 0 && m & NO_VALUE != 0);
        let block = made.map(|m| m & !(NO_VALUE | VARIABLE));
        match (block, draft.insts.get(word as usize)) {
            (Some(block), Some(inst)) if self.open.get(block as usize) == Some(&true) => {
                Ok(inst.ty)
            }
            _ => Err(FaultKind::NoVar(word)),
        }
    }

    /// Notes what else the body uses.
    fn note(&mut self, inst: &Inst, row: &Row) -> Result<(), FaultKind> {
        let used = match inst.op {
            Op::WorkgroupBarrier => Uses::BARRIER,
            Op::MemoryFence => Uses::FENCE,
            Op::Lane | Op::SubgroupId | Op::SubgroupSize => Uses::SUBGROUP,
            Op::AssumeUniform => Uses::ASSUME_UNIFORM,
            Op::Var => Uses::VARS,
            _ => Uses::default(),
        };
        self.facts.uses = self.facts.uses.with(used);
        if row.effect == Effect::Barrier {
            if self.continuing > 0 {
                return Err(FaultKind::InContinuing(inst.op));
            }
            self.collective = true;
        }
        Ok(())
    }

    /// The checks at the end of the body.
    pub(crate) fn end(&mut self, side: &[u32]) {
        for (ty, used) in [
            (Type::I64, Uses::I64),
            (Type::U64, Uses::I64),
            (Type::F32, Uses::F32),
            (Type::F64, Uses::F64),
        ] {
            if self.seen >> ty.code() & 1 != 0 {
                self.facts.uses = self.facts.uses.with(used);
            }
        }
        let at = u32::try_from(self.made.len()).ok();
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
