//! The checks of memory accesses: bounds known now, element types, access, orders. First the thorough ones, then the short
//! ways.

use super::check::Checker;
use super::fault::FaultKind;
use super::made::Made;
use super::uniformity::Level;
use crate::kernel::{Draft, Inst, Mem, Ordering, Place, SharedLen, Uses};
use crate::op::{Effect, Makes, Op, Row, Shape};
use crate::types::{Order, Type};

impl Checker {
    /// An index known now must lie within an array whose length is known now.
    pub(super) fn offset(
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
            Mem::Table(n) => draft.tables.get(n as usize).map_or(0, |d| d.len),
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

    pub(super) fn memory(
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
                used.length_u32 |= inst.ty == Type::U32;
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
        let atomic = matches!(op.quick().shape, Shape::Atomic(_));
        match mem {
            Mem::Buffer(n) => {
                let access = draft.buffers.get(n as usize).map(|d| d.access);
                if let Some(access) = access
                    && (reads && !access.reads() || writes && !access.writes())
                {
                    return Err(FaultKind::Access { mem, access });
                }
            }
            Mem::Shared(_) | Mem::Private(_) | Mem::Table(_) => {
                if inst.flags & (Inst::VOLATILE | Inst::COHERENT) != 0 {
                    return Err(FaultKind::AccessFlags(mem));
                }
                if atomic && !matches!(mem, Mem::Shared(_)) {
                    return Err(FaultKind::PrivateAtomic(mem));
                }
                if writes && matches!(mem, Mem::Table(_)) {
                    return Err(FaultKind::Constant(mem));
                }
            }
        }
        self.accessed(inst, row.effect, mem);
        if atomic {
            self.facts.uses = self.facts.uses.with(atomic_use(inst.op, elem, mem));
        }
        Ok(())
    }

    /// Notes an access that was found sound.
    #[inline(always)]
    fn accessed(&mut self, inst: &Inst, effect: Effect, mem: Mem) {
        let reads = matches!(effect, Effect::Reads | Effect::ReadsWrites);
        let writes = matches!(effect, Effect::Writes | Effect::ReadsWrites);
        match mem {
            Mem::Buffer(n) => {
                if let Some(used) = self.facts.buffers.get_mut(n as usize) {
                    used.read |= reads;
                    used.written |= writes;
                    used.atomic |= matches!(inst.op.quick().shape, Shape::Atomic(_));
                    used.coherent |= inst.flags & Inst::COHERENT != 0;
                    used.volatile |= inst.flags & Inst::VOLATILE != 0;
                }
                if writes {
                    self.facts.uses = self.facts.uses.with(Uses::WRITES_BUFFERS);
                }
            }
            Mem::Shared(_) if writes => {
                self.facts.uses = self.facts.uses.with(Uses::WRITES_SHARED);
            }
            Mem::Shared(_) | Mem::Private(_) | Mem::Table(_) => {}
        }
    }

    /// A plain load, which makes a value of this type where the instruction tells one.
    #[inline(always)]
    pub(super) fn load(
        &mut self,
        draft: &Draft,
        mem: Place,
        index: Place,
        offset: u32,
        makes: Option<Type>,
    ) -> Option<Made> {
        let reached = self.reach(draft, (Effect::Reads, false), mem, index, offset)?;
        if makes.is_some_and(|ty| ty.code() != reached.object.made.code()) {
            return None;
        }
        if reached.kind == 0 {
            self.facts.buffers.get_mut(reached.number)?.read = true;
        }
        Some(reached.object.made.at_level(reached.level))
    }

    /// A plain store of what `value` made.
    #[inline(always)]
    pub(super) fn store(
        &mut self,
        draft: &Draft,
        mem: Place,
        index: Place,
        offset: u32,
        value: Place,
    ) -> Option<Made> {
        let reached = self.reach(draft, (Effect::Writes, false), mem, index, offset)?;
        if self.at(value)?.code() != reached.object.made.code() {
            return None;
        }
        const WRITES: [Uses; 4] = [
            Uses::WRITES_BUFFERS,
            Uses::WRITES_SHARED,
            Uses::NONE,
            Uses::NONE,
        ];
        if reached.kind == 0 {
            self.facts.buffers.get_mut(reached.number)?.written = true;
        }
        self.facts.uses = self.facts.uses.with(WRITES[reached.kind & 3]);
        Some(Made::NOTHING)
    }

    /// An atomic with these values, in canonical form, which makes a value of this type where the instruction tells one.
    #[inline(always)]
    pub(super) fn atomic<const VALUES: usize>(
        &mut self,
        draft: &Draft,
        op: Op,
        [mem, index]: [Place; 2],
        values: [Place; VALUES],
        [offset, ordering]: [u32; 2],
        makes: Option<Type>,
    ) -> Option<Made> {
        let quick = op.quick();
        let reached = self.reach(draft, (quick.effect, true), mem, index, offset)?;
        let elem = Type::from_seen_code(reached.object.made.code());
        let mut fits = quick.types.contains(elem) && orders(op, ordering);
        for value in values {
            fits &= self.at(value)?.code() == elem.code();
        }
        let ty = quick.makes.of(elem);
        if !fits || makes.is_some_and(|told| told != ty) {
            return None;
        }
        let (bare, mem) = (Inst::new(op, Type::NONE), Mem::from_word(mem.word())?);
        self.accessed(&bare, quick.effect, mem);
        self.facts.uses = self.facts.uses.with(atomic_use(op, elem, mem));
        Some(match quick.makes {
            Makes::Nothing => Made::NOTHING,
            _ => Made::value(ty, Level::DIVERGENT),
        })
    }

    /// The words of an instruction in the side table, and where those of the next begin.
    #[inline(always)]
    pub(super) fn run<'a, const N: usize>(
        &self,
        inst: Inst,
        side: &'a [u32],
    ) -> Option<(&'a [u32; N], u32)> {
        let rest = side.get(inst.c as usize..)?;
        let run = rest.first_chunk()?;
        let end = inst.c.checked_add(N as u32)?;
        (inst.c == self.side_end).then_some((run, end))
    }
}

/// What an atomic uses.
#[inline(always)]
fn atomic_use(op: Op, elem: Type, mem: Mem) -> Uses {
    let shared = matches!(mem, Mem::Shared(_));
    match (elem, shared, op) {
        (Type::I64 | Type::U64, false, _) => Uses::ATOMIC_64,
        (Type::I64 | Type::U64, true, _) => Uses::ATOMIC_64_SHARED,
        (Type::F32, false, Op::AtomicAdd) => Uses::ATOMIC_F32_ADD,
        (Type::F32, true, Op::AtomicAdd) => Uses::ATOMIC_F32_ADD_SHARED,
        (Type::F32, false, Op::AtomicMin | Op::AtomicMax) => Uses::ATOMIC_F32_MINMAX,
        (Type::F32, true, Op::AtomicMin | Op::AtomicMax) => Uses::ATOMIC_F32_MINMAX_SHARED,
        (Type::F64, false, _) => Uses::ATOMIC_F64_ADD,
        (Type::F64, true, _) => Uses::ATOMIC_F64_ADD_SHARED,
        _ => Uses::ATOMIC_32,
    }
}

#[cold]
pub(super) fn undeclared(word: u32) -> FaultKind {
    FaultKind::Undeclared(match Mem::from_word(word) {
        Some(mem) => mem.to_string(),
        None => format!("memory object {word:#x}"),
    })
}

pub(super) fn ordering(op: Op, word: u32) -> Result<(), FaultKind> {
    if orders(op, word) {
        Ok(())
    } else {
        Err(FaultKind::Ordering(word, op))
    }
}

/// Whether a word is an order and scope that an atomic can have.
#[inline(always)]
fn orders(op: Op, word: u32) -> bool {
    let Some(Ordering { order, .. }) = Ordering::from_word(word) else {
        return false;
    };
    match op {
        Op::AtomicLoad => matches!(order, Order::Relaxed | Order::Acquire),
        Op::AtomicStore => matches!(order, Order::Relaxed | Order::Release),
        _ => true,
    }
}
