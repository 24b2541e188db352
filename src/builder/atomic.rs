//! Atomics on buffers and shared arrays.

use super::memory::Object;
use super::{KernelBuilder, Memory, append};
use crate::kernel::{Inst, Ordering, Place, Value};
use crate::op::Op;
use crate::types::Type;

impl KernelBuilder {
    /// Reads the element at `index + offset` atomically. Order: relaxed or acquire.
    pub fn atomic_load(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        ordering: Ordering,
    ) -> Value {
        let op = Op::AtomicLoad;
        let operands = (
            self.memory(op, memory.into().object()),
            self.operand(op, index),
        );
        let (Some(mem), Some(b)) = operands else {
            return self.refused();
        };
        let ty = self.draft.elem(mem).unwrap_or(Type::NONE);
        self.push_side(
            Inst {
                op,
                ty,
                flags: 0,
                a: mem.word(),
                b,
                c: 0,
            },
            [offset, ordering.word()],
        )
    }

    /// Stores `value` at `index + offset` atomically. Order: relaxed or release.
    pub fn atomic_store(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) {
        self.atomic(
            Op::AtomicStore,
            memory.into(),
            index,
            offset,
            value,
            ordering,
        );
    }

    #[inline(never)]
    fn atomic(
        &mut self,
        op: Op,
        memory: Memory,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        let (at, order) = (self.draft.insts.len(), ordering.word());
        let Object(object) = memory.object();
        let places = [object, index, value].map(|id| id.place(self.stamp));
        if let Some(beside) = self.room_beside(3) {
            let check = &mut self.verifier.check;
            let words = [offset, order];
            let step = check.step_atomic(&self.draft, at, op, places, words, beside);
            if step.is_some() {
                let [mem, index, value] = places.map(Place::word);
                let draft = &mut self.draft;
                draft.side.extend_from_slice(&[value, offset, order]);
                let words = [mem, index, beside];
                if let Some(made) = append(draft, self.stamp, step, op, 0, words) {
                    return made;
                }
            }
        }
        self.any_atomic(op, memory, index, offset, value, ordering)
    }

    #[cold]
    #[inline(never)]
    fn any_atomic(
        &mut self,
        op: Op,
        memory: Memory,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        let operands = (
            self.memory(op, memory.object()),
            self.operand(op, index),
            self.operand(op, value),
        );
        let (Some(mem), Some(b), Some(value)) = operands else {
            return self.refused();
        };
        let ty = if op == Op::AtomicStore {
            Type::NONE
        } else {
            self.draft.elem(mem).unwrap_or(Type::NONE)
        };
        self.push_side(
            Inst {
                op,
                ty,
                flags: 0,
                a: mem.word(),
                b,
                c: 0,
            },
            [value, offset, ordering.word()],
        )
    }

    /// Adds `value` to the element; integers wrap. Also on f32 and f64. Gives the value before. Relaxed, among all threads of the
    /// device, with offset 0; [`KernelBuilder::atomic_add_with`] takes the rest.
    pub fn atomic_add(&mut self, memory: impl Into<Memory>, index: Value, value: Value) -> Value {
        self.atomic(
            Op::AtomicAdd,
            memory.into(),
            index,
            0,
            value,
            Ordering::RELAXED,
        )
    }

    /// As [`KernelBuilder::atomic_add`] at `index + offset`, with order and scope.
    pub fn atomic_add_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        self.atomic(Op::AtomicAdd, memory.into(), index, offset, value, ordering)
    }

    /// Subtracts `value` from the element, wrapping. Gives the value before. Relaxed, among all threads of the
    /// device, with offset 0; [`KernelBuilder::atomic_sub_with`] takes the rest.
    pub fn atomic_sub(&mut self, memory: impl Into<Memory>, index: Value, value: Value) -> Value {
        self.atomic(
            Op::AtomicSub,
            memory.into(),
            index,
            0,
            value,
            Ordering::RELAXED,
        )
    }

    /// As [`KernelBuilder::atomic_sub`] at `index + offset`, with order and scope.
    pub fn atomic_sub_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        self.atomic(Op::AtomicSub, memory.into(), index, offset, value, ordering)
    }

    /// Makes the element the lesser of itself and `value`, signed by the type. Gives the value before. Relaxed, among all threads of the
    /// device, with offset 0; [`KernelBuilder::atomic_min_with`] takes the rest.
    pub fn atomic_min(&mut self, memory: impl Into<Memory>, index: Value, value: Value) -> Value {
        self.atomic(
            Op::AtomicMin,
            memory.into(),
            index,
            0,
            value,
            Ordering::RELAXED,
        )
    }

    /// As [`KernelBuilder::atomic_min`] at `index + offset`, with order and scope.
    pub fn atomic_min_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        self.atomic(Op::AtomicMin, memory.into(), index, offset, value, ordering)
    }

    /// Makes the element the greater of itself and `value`, signed by the type. Gives the value before. Relaxed, among all threads of the
    /// device, with offset 0; [`KernelBuilder::atomic_max_with`] takes the rest.
    pub fn atomic_max(&mut self, memory: impl Into<Memory>, index: Value, value: Value) -> Value {
        self.atomic(
            Op::AtomicMax,
            memory.into(),
            index,
            0,
            value,
            Ordering::RELAXED,
        )
    }

    /// As [`KernelBuilder::atomic_max`] at `index + offset`, with order and scope.
    pub fn atomic_max_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        self.atomic(Op::AtomicMax, memory.into(), index, offset, value, ordering)
    }

    /// Bitwise and of the element with `value`. Gives the value before. Relaxed, among all threads of the
    /// device, with offset 0; [`KernelBuilder::atomic_and_with`] takes the rest.
    pub fn atomic_and(&mut self, memory: impl Into<Memory>, index: Value, value: Value) -> Value {
        self.atomic(
            Op::AtomicAnd,
            memory.into(),
            index,
            0,
            value,
            Ordering::RELAXED,
        )
    }

    /// As [`KernelBuilder::atomic_and`] at `index + offset`, with order and scope.
    pub fn atomic_and_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        self.atomic(Op::AtomicAnd, memory.into(), index, offset, value, ordering)
    }

    /// Bitwise or of the element with `value`. Gives the value before. Relaxed, among all threads of the
    /// device, with offset 0; [`KernelBuilder::atomic_or_with`] takes the rest.
    pub fn atomic_or(&mut self, memory: impl Into<Memory>, index: Value, value: Value) -> Value {
        self.atomic(
            Op::AtomicOr,
            memory.into(),
            index,
            0,
            value,
            Ordering::RELAXED,
        )
    }

    /// As [`KernelBuilder::atomic_or`] at `index + offset`, with order and scope.
    pub fn atomic_or_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        self.atomic(Op::AtomicOr, memory.into(), index, offset, value, ordering)
    }

    /// Bitwise exclusive or of the element with `value`. Gives the value before. Relaxed, among all threads of the
    /// device, with offset 0; [`KernelBuilder::atomic_xor_with`] takes the rest.
    pub fn atomic_xor(&mut self, memory: impl Into<Memory>, index: Value, value: Value) -> Value {
        self.atomic(
            Op::AtomicXor,
            memory.into(),
            index,
            0,
            value,
            Ordering::RELAXED,
        )
    }

    /// As [`KernelBuilder::atomic_xor`] at `index + offset`, with order and scope.
    pub fn atomic_xor_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        self.atomic(Op::AtomicXor, memory.into(), index, offset, value, ordering)
    }

    /// Replaces the element by `value`. Also on f32. Gives the value before. Relaxed, among all threads of the
    /// device, with offset 0; [`KernelBuilder::atomic_exchange_with`] takes the rest.
    pub fn atomic_exchange(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        value: Value,
    ) -> Value {
        self.atomic(
            Op::AtomicExchange,
            memory.into(),
            index,
            0,
            value,
            Ordering::RELAXED,
        )
    }

    /// As [`KernelBuilder::atomic_exchange`] at `index + offset`, with order and scope.
    pub fn atomic_exchange_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        self.atomic(
            Op::AtomicExchange,
            memory.into(),
            index,
            offset,
            value,
            ordering,
        )
    }

    /// Replaces the element by `value` if it equals `comparand`; gives the value before. Relaxed, among all threads of
    /// the device, with offset 0.
    pub fn atomic_compare_exchange(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        comparand: Value,
        value: Value,
    ) -> Value {
        self.atomic_compare_exchange_with(memory, index, 0, comparand, value, Ordering::RELAXED)
    }

    /// As [`KernelBuilder::atomic_compare_exchange`] at `index + offset`, with order and scope. On failure the order is
    /// acquire where it held an acquire, else relaxed.
    pub fn atomic_compare_exchange_with(
        &mut self,
        memory: impl Into<Memory>,
        index: Value,
        offset: u32,
        comparand: Value,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        let op = Op::AtomicCompareExchange;
        let mem = self.memory(op, memory.into().object());
        let operands = (
            self.operand(op, index),
            self.operand(op, comparand),
            self.operand(op, value),
        );
        let (Some(mem), (Some(b), Some(comparand), Some(value))) = (mem, operands) else {
            return self.refused();
        };
        let ty = self.draft.elem(mem).unwrap_or(Type::NONE);
        let inst = Inst {
            op,
            ty,
            flags: 0,
            a: mem.word(),
            b,
            c: 0,
        };
        self.push_side(inst, [comparand, value, offset, ordering.word()])
    }
}
