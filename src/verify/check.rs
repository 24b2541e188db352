//! The checks that need one look at each instruction, in order: form, operands, types, blocks.
//!
//! The builder steps through the same code while it builds, so a kernel is verified by the time it is complete.

use super::MAX_DEPTH;
use super::fault::{Fault, FaultKind};
use crate::kernel::{BufferUse, Draft, Facts, Inst, Mem, Ordering, SharedLen, Uses, Words};
use crate::op::{Effect, Form, Makes, Op, Operand, Row};
use crate::types::{Order, Type, TypeSet};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BlockKind {
    Body,
    If,
    Else,
    Loop,
    Continuing,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    kind: BlockKind,
    /// Its number in `open`.
    id: u32,
    /// Nothing may follow in it.
    ended: bool,
    /// For `Else`: the `if` part ended too. For loops: something breaks out of it.
    mark: bool,
}

/// Marks in `made` an instruction that makes no value; block numbers stay below.
const NO_VALUE: u32 = 1 << 31;
/// Marks in `made` a variable.
const VARIABLE: u32 = 1 << 30;

/// The state of a verification on its way through a kernel; its memory is kept between kernels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checker {
    blocks: Vec<Block>,
    /// For each instruction the number of the block it stands in, and the marks.
    made: Vec<u32>,
    /// For each block, by number, whether it is open.
    open: Vec<bool>,
    /// Open blocks in a continuing part, that part included.
    continuing: u32,
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
        let at = self.made.len();
        match self.look(draft, inst, side, at) {
            Ok(mark) => {
                // The block on top exists: `Body` is never popped before `end`.
                let block = self.blocks.last().map_or(0, |b| b.id);
                self.made.push(block | mark);
                self.seen |= 1 << (inst.ty.code() & 15);
                true
            }
            Err(kind) => {
                self.fault(at, inst.op, kind);
                self.made.push(NO_VALUE);
                false
            }
        }
    }

    /// The checks of `step`; gives the marks for `made`.
    #[inline]
    fn look(
        &mut self,
        draft: &Draft,
        inst: &Inst,
        side: &[u32],
        at: usize,
    ) -> Result<u32, FaultKind> {
        let row = inst.op.row();
        if at >= Mem::MAX as usize {
            return Err(FaultKind::TooMany("instructions"));
        }
        match row.effect {
            Effect::Block => return self.block(draft, inst).map(|()| NO_VALUE),
            _ if self.blocks.last().is_some_and(|b| b.ended) => return Err(FaultKind::Unreachable),
            Effect::Terminator => return self.terminator(inst).map(|()| NO_VALUE),
            _ => {}
        }
        // The common shape first: values of one type in line, the result of that type or a bool.
        if row.form == Form::Inline && row.flags == 0 {
            match row.operands {
                [Operand::T, Operand::T] if inst.c == 0 && inst.flags == 0 => {
                    let (a, b) = (self.value(draft, inst.a)?, self.value(draft, inst.b)?);
                    if a == b && row.types.contains(a) && inst.ty == made(row.makes, a) {
                        return Ok(0);
                    }
                }
                [Operand::T, Operand::T, Operand::T] if inst.flags == 0 => {
                    let (a, b) = (self.value(draft, inst.a)?, self.value(draft, inst.b)?);
                    let c = self.value(draft, inst.c)?;
                    if a == b && b == c && row.types.contains(a) && inst.ty == made(row.makes, a) {
                        return Ok(0);
                    }
                }
                _ => {}
            }
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
        let expected = made(row.makes, t.unwrap_or(Type::NONE));
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
            Makes::Var => NO_VALUE | VARIABLE | self.blocks.last().map_or(0, |b| b.id),
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

    fn typed(&self, draft: &Draft, word: u32, expected: Type) -> Result<(), FaultKind> {
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

    /// An index known now must lie within an array whose length is known now.
    fn offset(
        &self,
        draft: &Draft,
        mem: Option<Mem>,
        index: Option<u32>,
        offset: u32,
    ) -> Result<(), FaultKind> {
        let (Some(mem), Some(index)) = (mem, index) else {
            return Ok(());
        };
        let len = match mem {
            Mem::Buffer(_) => return Ok(()),
            Mem::Shared(n) => match draft.shared.get(n as usize).map(|d| d.len) {
                Some(SharedLen::Static(len)) => len,
                Some(SharedLen::Dynamic) | None => return Ok(()),
            },
            Mem::Private(n) => draft.private.get(n as usize).map_or(0, |d| d.len),
        };
        let known = draft
            .insts
            .get(index as usize)
            .filter(|i| i.op == Op::Const)
            .map_or(0, Inst::const_bits);
        let index = known.saturating_add(u64::from(offset));
        if index >= u64::from(len) {
            Err(FaultKind::OutOfBounds { mem, index, len })
        } else {
            Ok(())
        }
    }

    fn memory(
        &mut self,
        draft: &Draft,
        inst: &Inst,
        row: &Row,
        mem: Mem,
        t: Option<Type>,
    ) -> Result<(), FaultKind> {
        let op = inst.op;
        if op == Op::ArrayLength {
            if let Mem::Buffer(n) = mem
                && let Some(used) = self.facts.buffers.get_mut(n as usize)
            {
                used.length = true;
                self.facts.uses = self.facts.uses.with(Uses::LENGTHS);
            }
            return Ok(());
        }
        let elem = draft.elem(mem).unwrap_or(Type::NONE);
        if let Some(found) = t
            && found != elem
        {
            return Err(FaultKind::Elem { mem, elem, found });
        }
        let reads = matches!(row.effect, Effect::Reads | Effect::ReadsWrites);
        let writes = matches!(row.effect, Effect::Writes | Effect::ReadsWrites);
        let atomic = row.operands.contains(&Operand::Ordering);
        match mem {
            Mem::Buffer(n) => {
                let access = draft.buffers.get(n as usize).map(|d| d.access);
                if let Some(access) = access
                    && (reads && !access.reads() || writes && !access.writes())
                {
                    return Err(FaultKind::Access { mem, access });
                }
                if let Some(used) = self.facts.buffers.get_mut(n as usize) {
                    used.read |= reads;
                    used.written |= writes;
                    used.atomic |= atomic;
                    used.coherent |= inst.flags & Inst::COHERENT != 0;
                    used.volatile |= inst.flags & Inst::VOLATILE != 0;
                }
                if writes {
                    self.facts.uses = self.facts.uses.with(Uses::WRITES_BUFFERS);
                }
            }
            Mem::Shared(_) | Mem::Private(_) => {
                if inst.flags & (Inst::VOLATILE | Inst::COHERENT) != 0 {
                    return Err(FaultKind::AccessFlags(mem));
                }
                if atomic && matches!(mem, Mem::Private(_)) {
                    return Err(FaultKind::PrivateAtomic(mem));
                }
                if writes && matches!(mem, Mem::Shared(_)) {
                    self.facts.uses = self.facts.uses.with(Uses::WRITES_SHARED);
                }
            }
        }
        if atomic {
            let shared = matches!(mem, Mem::Shared(_));
            let used = match (elem, shared, op) {
                (Type::I64 | Type::U64, false, _) => Uses::ATOMIC_64,
                (Type::I64 | Type::U64, true, _) => Uses::ATOMIC_64_SHARED,
                (Type::F32, false, Op::AtomicAdd) => Uses::ATOMIC_F32_ADD,
                (Type::F32, true, Op::AtomicAdd) => Uses::ATOMIC_F32_ADD_SHARED,
                _ => Uses::ATOMIC_32,
            };
            self.facts.uses = self.facts.uses.with(used);
        }
        Ok(())
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

    fn terminator(&mut self, inst: &Inst) -> Result<(), FaultKind> {
        let op = inst.op;
        bare(inst)?;
        if self.continuing > 0 {
            return Err(FaultKind::InContinuing(op));
        }
        match op {
            Op::Break | Op::Continue => {
                let innermost = self
                    .blocks
                    .iter_mut()
                    .rev()
                    .find(|b| b.kind == BlockKind::Loop);
                let Some(innermost) = innermost else {
                    return Err(FaultKind::OutsideLoop(op));
                };
                innermost.mark |= op == Op::Break;
            }
            _ => {}
        }
        if let Some(block) = self.blocks.last_mut() {
            block.ended = true;
        }
        Ok(())
    }

    fn block(&mut self, draft: &Draft, inst: &Inst) -> Result<(), FaultKind> {
        let op = inst.op;
        let Some(&top) = self.blocks.last() else {
            return Err(FaultKind::Mismatched(op));
        };
        match op {
            Op::If | Op::Loop => {
                let sound = self.opening(draft, inst, top);
                // Opened all the same, so that its `end` is no second fault.
                self.push(
                    if op == Op::If {
                        BlockKind::If
                    } else {
                        BlockKind::Loop
                    },
                    false,
                );
                sound?;
            }
            Op::Else => {
                bare(inst)?;
                if top.kind != BlockKind::If {
                    return Err(FaultKind::Mismatched(op));
                }
                self.pop();
                self.push(BlockKind::Else, top.ended);
            }
            Op::Continuing => {
                bare(inst)?;
                if top.kind != BlockKind::Loop {
                    return Err(FaultKind::Mismatched(op));
                }
                self.pop();
                self.push(BlockKind::Continuing, top.mark);
            }
            _ => {
                bare(inst)?;
                let never_passed = match top.kind {
                    BlockKind::If => false,
                    BlockKind::Else => top.ended && top.mark,
                    BlockKind::Continuing => !top.mark,
                    BlockKind::Body | BlockKind::Loop => return Err(FaultKind::Mismatched(op)),
                };
                self.pop();
                if let Some(outer) = self.blocks.last_mut() {
                    outer.ended |= never_passed;
                }
            }
        }
        Ok(())
    }

    fn opening(&self, draft: &Draft, inst: &Inst, top: Block) -> Result<(), FaultKind> {
        if top.ended {
            return Err(FaultKind::Unreachable);
        }
        if self.blocks.len() > MAX_DEPTH {
            return Err(FaultKind::TooDeep);
        }
        if inst.op == Op::If {
            if (Inst { a: 0, ..*inst }) != Inst::new(Op::If, Type::NONE) {
                return Err(FaultKind::Canonical(Op::If));
            }
            return self.typed(draft, inst.a, Type::BOOL);
        }
        if self.continuing > 0 {
            return Err(FaultKind::InContinuing(inst.op));
        }
        bare(inst)
    }

    /// Opens the block of an instruction that was refused for another reason already told.
    pub(crate) fn open_refused(&mut self, op: Op) {
        self.push(
            if op == Op::If {
                BlockKind::If
            } else {
                BlockKind::Loop
            },
            false,
        );
        self.made.push(NO_VALUE);
    }

    fn push(&mut self, kind: BlockKind, mark: bool) {
        // One block an instruction at most, so this stays far below the marks of `made`.
        let id = self.open.len() as u32;
        self.open.push(true);
        self.blocks.push(Block {
            kind,
            id,
            ended: false,
            mark,
        });
        self.continuing += u32::from(kind == BlockKind::Continuing || self.continuing > 0);
    }

    fn pop(&mut self) {
        if let Some(block) = self.blocks.pop()
            && let Some(open) = self.open.get_mut(block.id as usize)
        {
            *open = false;
            self.continuing = self.continuing.saturating_sub(1);
        }
    }

    /// The number of open blocks beside the body.
    pub(crate) fn depth(&self) -> usize {
        self.blocks.len() - 1
    }

    /// Whether the innermost open block is a loop's body.
    pub(crate) fn in_loop_body(&self) -> bool {
        self.blocks
            .last()
            .is_some_and(|b| b.kind == BlockKind::Loop)
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

#[inline]
fn made(makes: Makes, t: Type) -> Type {
    match makes {
        Makes::Nothing => Type::NONE,
        Makes::T | Makes::Var => t,
        Makes::Bool => Type::BOOL,
        Makes::U32 => Type::U32,
    }
}

fn bare(inst: &Inst) -> Result<(), FaultKind> {
    if *inst == Inst::new(inst.op, Type::NONE) {
        Ok(())
    } else {
        Err(FaultKind::Canonical(inst.op))
    }
}

#[cold]
fn undeclared(word: u32) -> FaultKind {
    FaultKind::Undeclared(match Mem::from_word(word) {
        Some(mem) => mem.to_string(),
        None => format!("memory object {word:#x}"),
    })
}

fn ordering(op: Op, word: u32) -> Result<(), FaultKind> {
    let Some(Ordering { order, .. }) = Ordering::from_word(word) else {
        return Err(FaultKind::Ordering(word, op));
    };
    let fits = match op {
        Op::AtomicLoad => matches!(order, Order::Relaxed | Order::Acquire),
        Op::AtomicStore => matches!(order, Order::Relaxed | Order::Release),
        _ => true,
    };
    if fits {
        Ok(())
    } else {
        Err(FaultKind::Ordering(word, op))
    }
}
