//! Variables, loads and stores, barriers.

use super::KernelBuilder;
use crate::kernel::{Buffer, Inst, Mem, Private, REFUSED, Shared, Stamp, Table, Value, Var};
use crate::op::Op;
use crate::types::{Scope, Type};
use core::fmt;

/// What loads, stores and atomics name: a buffer, a shared or private array, a constant table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// A buffer.
    Buffer(Buffer),
    /// A shared array.
    Shared(Shared),
    /// A private array.
    Private(Private),
    /// A constant table.
    Table(Table),
}

impl From<Buffer> for Memory {
    fn from(id: Buffer) -> Memory {
        Memory::Buffer(id)
    }
}

impl From<Shared> for Memory {
    fn from(id: Shared) -> Memory {
        Memory::Shared(id)
    }
}

impl From<Private> for Memory {
    fn from(id: Private) -> Memory {
        Memory::Private(id)
    }
}

impl From<Table> for Memory {
    fn from(id: Table) -> Memory {
        Memory::Table(id)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Memory::Buffer(id) => fmt::Display::fmt(id, f),
            Memory::Shared(id) => fmt::Display::fmt(id, f),
            Memory::Private(id) => fmt::Display::fmt(id, f),
            Memory::Table(id) => fmt::Display::fmt(id, f),
        }
    }
}

impl Memory {
    fn parts(self) -> (Mem, Stamp) {
        match self {
            Memory::Buffer(id) => (Mem::Buffer(id.index()), id.stamp()),
            Memory::Shared(id) => (Mem::Shared(id.index()), id.stamp()),
            Memory::Private(id) => (Mem::Private(id.index()), id.stamp()),
            Memory::Table(id) => (Mem::Table(id.index()), id.stamp()),
        }
    }
}

impl KernelBuilder {
    /// Appends an instruction whose last operands go to the side table.
    #[inline(always)]
    pub(super) fn push_side<const N: usize>(&mut self, inst: Inst, run: [u32; N]) -> Value {
        let c = self.put_aside(run);
        self.push(Inst { c, ..inst })
    }

    /// Appends words to the side table; gives their place.
    #[inline(always)]
    pub(super) fn put_aside<const N: usize>(&mut self, run: [u32; N]) -> u32 {
        // Past 2^28 words the verifier refuses the kernel; until then the start fits.
        let place = self.draft.side.len().min(Mem::MAX as usize) as u32;
        self.draft.side.extend_from_slice(&run);
        place
    }

    pub(super) fn memory(&mut self, op: Op, memory: Memory) -> Option<Mem> {
        let (mem, stamp) = memory.parts();
        if stamp != self.stamp {
            self.foreign(op, mem);
            return None;
        }
        Some(mem)
    }

    /// Makes a mutable variable that holds `value`. It lives in the block where it stands.
    pub fn var(&mut self, value: Value) -> Var {
        let Some(a) = self.operand(Op::Var, value) else {
            return Var::new(REFUSED, self.stamp);
        };
        let ty = self.ty(a);
        let made = self.push(Inst {
            a,
            ..Inst::new(Op::Var, ty)
        });
        Var::new(made.index(), self.stamp)
    }

    fn var_operand(&mut self, op: Op, var: Var) -> Option<u32> {
        if var.stamp() != self.stamp {
            return self.foreign(op, var);
        }
        (var.index() != REFUSED).then_some(var.index())
    }

    /// What the variable holds now.
    pub fn get(&mut self, var: Var) -> Value {
        let Some(a) = self.var_operand(Op::VarGet, var) else {
            return self.refused();
        };
        if let Some(ty) = self.verifier.check.step_get(&self.draft, a) {
            return self.append(Op::VarGet, ty, [a, 0, 0]);
        }
        let ty = self.ty(a);
        self.push(Inst {
            a,
            ..Inst::new(Op::VarGet, ty)
        })
    }

    /// Makes the variable hold `value`.
    pub fn set(&mut self, var: Var, value: Value) {
        let operands = (
            self.var_operand(Op::VarSet, var),
            self.operand(Op::VarSet, value),
        );
        let (Some(a), Some(b)) = operands else { return };
        if self.verifier.check.step_set(a, b) {
            self.append(Op::VarSet, Type::NONE, [a, b, 0]);
            return;
        }
        self.push(Inst {
            a,
            b,
            ..Inst::new(Op::VarSet, Type::NONE)
        });
    }

    /// The number of elements of a buffer as a `u32`; a launch refuses buffers whose number does not fit.
    pub fn array_length(&mut self, buffer: Buffer) -> Value {
        self.length(buffer, Type::U32)
    }

    /// The number of elements of a buffer as a `u64`.
    pub fn array_length_u64(&mut self, buffer: Buffer) -> Value {
        self.length(buffer, Type::U64)
    }

    fn length(&mut self, buffer: Buffer, ty: Type) -> Value {
        match self.memory(Op::ArrayLength, buffer.into()) {
            Some(mem) => self.push(Inst {
                a: mem.word(),
                ..Inst::new(Op::ArrayLength, ty)
            }),
            None => self.refused(),
        }
    }

    /// The element at `index` (a `u32` or `u64`, in elements). Outside of the array it is the caller's fault unless the
    /// emitter is asked for checked bounds.
    #[inline]
    pub fn load(&mut self, memory: impl Into<Memory>, index: Value) -> Value {
        self.load_with(memory, index, 0, 0)
    }

    /// The element at `index + offset`; the sum does not wrap.
    pub fn load_offset(&mut self, memory: impl Into<Memory>, index: Value, offset: u32) -> Value {
        self.load_with(memory, index, offset, 0)
    }

    /// The element at `index + offset`, with access flags: [`Inst::VOLATILE`], [`Inst::COHERENT`] (buffers only).
    pub fn load_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        flags: u8,
    ) -> Value {
        let op = Op::Load;
        let operands = (self.memory(op, memory.into()), self.operand(op, index));
        let (Some(mem), Some(b)) = operands else {
            return self.refused();
        };
        let check = &mut self.verifier.check;
        if flags == 0
            && let Some(ty) = check.step_load(&self.draft, mem, b, offset)
        {
            return self.append(op, ty, [mem.word(), b, offset]);
        }
        self.push(Inst {
            op,
            ty: self.draft.elem(mem).unwrap_or(Type::NONE),
            flags,
            a: mem.word(),
            b,
            c: offset,
        })
    }

    /// Stores `value` as the element at `index`.
    #[inline]
    pub fn store(&mut self, memory: impl Into<Memory>, index: Value, value: Value) {
        self.store_with(memory, index, 0, value, 0);
    }

    /// Stores `value` as the element at `index + offset`; the sum does not wrap.
    pub fn store_offset(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
    ) {
        self.store_with(memory, index, offset, value, 0);
    }

    /// Stores with access flags, as [`KernelBuilder::load_with`].
    pub fn store_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        flags: u8,
    ) {
        let op = Op::Store;
        let operands = (
            self.memory(op, memory.into()),
            self.operand(op, index),
            self.operand(op, value),
        );
        let (Some(mem), Some(b), Some(c)) = operands else {
            return;
        };
        // The flag of the form is the builder's to set.
        let flags = flags & !Inst::OFFSET;
        let mut inst = Inst {
            op,
            ty: Type::NONE,
            flags,
            a: mem.word(),
            b,
            c,
        };
        if offset != 0 {
            inst.flags |= Inst::OFFSET;
            inst.c = self.put_aside([c, offset]);
        }
        let sound = self.verifier.check.step_store(&self.draft, inst, mem);
        self.append_looked_at(inst, sound);
    }

    /// Waits for every thread of the workgroup; what each wrote before, to shared memory and buffers, the others see
    /// after. Every thread of the workgroup must reach it: the verifier checks that.
    pub fn workgroup_barrier(&mut self) {
        self.push(Inst::new(Op::WorkgroupBarrier, Type::NONE));
    }

    /// Orders this thread's accesses before it and after it, as the threads of `scope` see them. Waits for nobody.
    pub fn memory_fence(&mut self, scope: Scope) {
        let flags = match scope {
            Scope::Workgroup => 0,
            Scope::Device => Inst::DEVICE,
        };
        self.push(Inst {
            flags,
            ..Inst::new(Op::MemoryFence, Type::NONE)
        });
    }
}
