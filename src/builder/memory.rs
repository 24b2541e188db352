//! Variables, loads and stores, barriers.

use super::{KernelBuilder, append};
use crate::kernel::{Buffer, Draft, Inst, Mem, Place, Private, REFUSED, Shared, Table, Value, Var};
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

/// What a memory object's operand word is, with its kernel's stamp: an id for all kinds of them.
#[derive(Clone, Copy)]
pub(super) struct Object(pub(super) Value);

impl Memory {
    /// Where the kind is known when this is compiled, one operation at most.
    #[inline(always)]
    pub(super) fn object(self) -> Object {
        let (mem, stamp) = match self {
            Memory::Buffer(id) => (Mem::Buffer(id.index()), id.stamp()),
            Memory::Shared(id) => (Mem::Shared(id.index()), id.stamp()),
            Memory::Private(id) => (Mem::Private(id.index()), id.stamp()),
            Memory::Table(id) => (Mem::Table(id.index()), id.stamp()),
        };
        Object(Value::new(mem.word(), stamp))
    }
}

impl KernelBuilder {
    /// Appends an instruction whose last operands go to the side table.
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

    /// What an object is; `None`, with a fault, for one that cannot be used.
    pub(super) fn memory(&mut self, op: Op, object: Object) -> Option<Mem> {
        let Object(id) = object;
        let mem = Mem::from_word(id.index())?;
        if id.stamp() != self.stamp {
            self.foreign(op, mem);
            return None;
        }
        Some(mem)
    }

    /// Makes a mutable variable that holds `value`. It lives in the block where it stands.
    #[inline(never)]
    pub fn var(&mut self, value: Value) -> Var {
        let (at, place) = (self.draft.insts.len(), value.place(self.stamp));
        let step = self.verifier.check.step_var(at, place);
        let words = [place.word(), 0, 0];
        match append(&mut self.draft, self.stamp, step, Op::Var, 0, words) {
            Some(made) => Var::at(made.place(self.stamp), self.stamp),
            None => self.var_in_doubt(place),
        }
    }

    #[cold]
    #[inline(never)]
    fn var_in_doubt(&mut self, value: Place) -> Var {
        let value = Value::at(value, self.stamp);
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
    #[inline(never)]
    pub fn get(&mut self, var: Var) -> Value {
        let (at, place) = (self.draft.insts.len(), var.place(self.stamp));
        let step = self.verifier.check.step_get(&self.draft, at, place);
        let words = [place.word(), 0, 0];
        match append(&mut self.draft, self.stamp, step, Op::VarGet, 0, words) {
            Some(made) => made,
            None => self.get_in_doubt(place),
        }
    }

    #[cold]
    #[inline(never)]
    fn get_in_doubt(&mut self, var: Place) -> Value {
        let var = Var::at(var, self.stamp);
        let Some(a) = self.var_operand(Op::VarGet, var) else {
            return self.refused();
        };
        let ty = self.ty(a);
        self.push(Inst {
            a,
            ..Inst::new(Op::VarGet, ty)
        })
    }

    /// Makes the variable hold `value`.
    #[inline(never)]
    pub fn set(&mut self, var: Var, value: Value) {
        let at = self.draft.insts.len();
        let (into, from) = (var.place(self.stamp), value.place(self.stamp));
        let step = self.verifier.check.step_set(at, into, from);
        let words = [into.word(), from.word(), 0];
        if append(&mut self.draft, self.stamp, step, Op::VarSet, 0, words).is_none() {
            self.set_in_doubt(into, from);
        }
    }

    #[cold]
    #[inline(never)]
    fn set_in_doubt(&mut self, var: Place, value: Place) {
        let (var, value) = (Var::at(var, self.stamp), Value::at(value, self.stamp));
        let operands = (
            self.var_operand(Op::VarSet, var),
            self.operand(Op::VarSet, value),
        );
        let (Some(a), Some(b)) = operands else { return };
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

    #[inline(never)]
    fn length(&mut self, buffer: Buffer, ty: Type) -> Value {
        let (at, place) = (self.draft.insts.len(), buffer.place(self.stamp));
        let step = self.verifier.check.step_length(at, place, ty);
        let words = [place.word(), 0, 0];
        match append(&mut self.draft, self.stamp, step, Op::ArrayLength, 0, words) {
            Some(made) => made,
            None => self.length_in_doubt(place, ty),
        }
    }

    #[cold]
    #[inline(never)]
    fn length_in_doubt(&mut self, buffer: Place, ty: Type) -> Value {
        let buffer = Memory::Buffer(Buffer::at(buffer, self.stamp));
        match self.memory(Op::ArrayLength, buffer.object()) {
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
        self.load_from(memory.into().object(), index, 0)
    }

    /// The element at `index + offset`; the sum does not wrap.
    #[inline]
    pub fn load_offset(&mut self, memory: impl Into<Memory>, index: Value, offset: u32) -> Value {
        self.load_from(memory.into().object(), index, offset)
    }

    /// The element at `index + offset`, with access flags: [`Inst::VOLATILE`], [`Inst::COHERENT`] (buffers only).
    #[inline]
    pub fn load_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        flags: u8,
    ) -> Value {
        self.any_load(memory.into().object(), index, offset, flags)
    }

    #[inline(never)]
    fn load_from(&mut self, object: Object, index: Value, offset: u32) -> Value {
        let at = self.draft.insts.len();
        let [mem, place] = [object.0, index].map(|id| id.place(self.stamp));
        let check = &mut self.verifier.check;
        let step = check.step_load(&self.draft, at, mem, place, offset);
        let words = [mem.word(), place.word(), offset];
        match append(&mut self.draft, self.stamp, step, Op::Load, 0, words) {
            Some(made) => made,
            None => self.load_in_doubt(mem, place, offset),
        }
    }

    #[cold]
    #[inline(never)]
    fn load_in_doubt(&mut self, object: Place, index: Place, offset: u32) -> Value {
        let [object, index] = [object, index].map(|place| Value::at(place, self.stamp));
        self.any_load(Object(object), index, offset, 0)
    }

    fn any_load(&mut self, object: Object, index: Value, offset: u32, flags: u8) -> Value {
        let op = Op::Load;
        let operands = (self.memory(op, object), self.operand(op, index));
        let (Some(mem), Some(b)) = operands else {
            return self.refused();
        };
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
        self.store_to(memory.into().object(), index, 0, value);
    }

    /// Stores `value` as the element at `index + offset`; the sum does not wrap.
    #[inline]
    pub fn store_offset(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
    ) {
        self.store_to(memory.into().object(), index, offset, value);
    }

    /// Stores with access flags, as [`KernelBuilder::load_with`].
    #[inline]
    pub fn store_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        flags: u8,
    ) {
        self.any_store(memory.into().object(), index, offset, value, flags);
    }

    #[inline(never)]
    fn store_to(&mut self, object: Object, index: Value, offset: u32, value: Value) {
        let at = self.draft.insts.len();
        let [mem, place, from] = [object.0, index, value].map(|id| id.place(self.stamp));
        let check = &mut self.verifier.check;
        if offset != 0 {
            return self.store_beside(mem, place, offset, from);
        }
        let step = check.step_store(&self.draft, at, mem, place, from);
        let places = [mem, place, from];
        let words = places.map(Place::word);
        if append(&mut self.draft, self.stamp, step, Op::Store, 0, words).is_none() {
            self.store_in_doubt(mem, place, offset, from);
        }
    }

    /// As [`KernelBuilder::store_to`] with an offset.
    #[inline(never)]
    fn store_beside(&mut self, mem: Place, index: Place, offset: u32, value: Place) {
        let places = [mem, index, value];
        let (at, op) = (self.draft.insts.len(), Op::Store);
        if let Some(beside) = self.room_beside(2) {
            let check = &mut self.verifier.check;
            let step = check.step_store_offset(&self.draft, at, places, offset, beside);
            if step.is_some() {
                let words = [mem.word(), index.word(), beside];
                self.draft.side.extend_from_slice(&[value.word(), offset]);
                append(&mut self.draft, self.stamp, step, op, Inst::OFFSET, words);
                return;
            }
        }
        self.store_in_doubt(mem, index, offset, value);
    }

    /// Where words of the next instruction begin in the side table, if so many and it can be appended without asking for
    /// memory.
    #[inline(always)]
    pub(super) fn room_beside(&self, words: usize) -> Option<u32> {
        let Draft { insts, side, .. } = &*self.draft;
        let room = insts.len() < insts.capacity() && side.capacity() - side.len() >= words;
        u32::try_from(side.len()).ok().filter(|_| room)
    }

    #[cold]
    #[inline(never)]
    fn store_in_doubt(&mut self, object: Place, index: Place, offset: u32, value: Place) {
        let [object, index, value] =
            [object, index, value].map(|place| Value::at(place, self.stamp));
        self.any_store(Object(object), index, offset, value, 0);
    }

    fn any_store(&mut self, object: Object, index: Value, offset: u32, value: Value, flags: u8) {
        let op = Op::Store;
        let operands = (
            self.memory(op, object),
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
        self.push(inst);
    }

    /// Waits for every thread of the workgroup; what each wrote before, to shared memory and buffers, the others see
    /// after. Every thread of the workgroup must reach it: the verifier checks that.
    #[inline(never)]
    pub fn workgroup_barrier(&mut self) {
        let op = Op::WorkgroupBarrier;
        let step = self.verifier.check.step_barrier(self.draft.insts.len());
        if append(&mut self.draft, self.stamp, step, op, 0, [0; 3]).is_none() {
            self.push_pieces(op, Type::NONE, 0, [0; 3]);
        }
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
