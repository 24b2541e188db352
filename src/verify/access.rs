//! The checks of memory accesses: bounds known now, element types, access, orders.

use super::check::Checker;
use super::fault::FaultKind;
use crate::kernel::{Draft, Inst, Mem, Ordering, SharedLen, Uses};
use crate::op::{Effect, Op, Operand, Row};
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
                (Type::F32, false, Op::AtomicMin | Op::AtomicMax) => Uses::ATOMIC_F32_MINMAX,
                (Type::F32, true, Op::AtomicMin | Op::AtomicMax) => Uses::ATOMIC_F32_MINMAX_SHARED,
                (Type::F64, false, _) => Uses::ATOMIC_F64_ADD,
                (Type::F64, true, _) => Uses::ATOMIC_F64_ADD_SHARED,
                _ => Uses::ATOMIC_32,
            };
            self.facts.uses = self.facts.uses.with(used);
        }
        Ok(())
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
