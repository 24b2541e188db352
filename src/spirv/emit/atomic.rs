//! Atomics, barriers and fences: scopes and memory semantics (SPIR-V sections 3.25 and 3.27).

use super::arith::NO_FORM;
use super::body::{Body, Class, class};
use super::objects::{Form, Object};
use super::preamble::cap;
use super::sections::head;
use crate::kernel::{Inst, Ordering, Uses};
use crate::types::{Order, Scope, Type};
use spirv::{MemorySemantics as Semantics, Op as S, Scope as SpvScope};

/// The pointer of an atomic, and the ids of its scope and semantics.
struct Target {
    object: Object,
    pointer: u32,
    scope: u32,
    order: Order,
}

/// What a float atomic computes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Update {
    Add,
    Min,
    Max,
}

impl Body<'_> {
    /// The storage classes that an order takes in: all that other threads see, buffers and shared memory, as far as the
    /// kernel has them. Never empty, since semantics with an order and no storage class are invalid.
    fn classes(&self) -> Semantics {
        let mut classes = Semantics::empty();
        if !self.kernel.shared().is_empty() {
            classes |= Semantics::WORKGROUP_MEMORY;
        }
        if !self.kernel.buffers().is_empty() || classes.is_empty() {
            classes |= Semantics::UNIFORM_MEMORY;
        }
        classes
    }

    /// The semantics of an order; relaxed ones are 0.
    fn semantics(&mut self, order: Order) -> u32 {
        let classes = self.classes();
        let (acquire, release) = if self.vulkan {
            (Semantics::MAKE_VISIBLE, Semantics::MAKE_AVAILABLE)
        } else {
            (Semantics::empty(), Semantics::empty())
        };
        let mask = match order {
            Order::Relaxed => Semantics::RELAXED,
            Order::Acquire => Semantics::ACQUIRE | classes | acquire,
            Order::Release => Semantics::RELEASE | classes | release,
            Order::AcqRel => Semantics::ACQUIRE_RELEASE | classes | acquire | release,
        };
        self.w.u32(mask.bits())
    }

    fn scope(&mut self, scope: Scope) -> u32 {
        let scope = match scope {
            Scope::Workgroup => SpvScope::Workgroup,
            Scope::Device => {
                if self.vulkan {
                    self.w.caps |= cap::VULKAN_MEMORY_MODEL_DEVICE_SCOPE;
                }
                SpvScope::Device
            }
        };
        self.w.u32(scope as u32)
    }

    /// Does an atomic: memory, index, the offset and the ordering, the last two being words of the side table from `n`.
    fn at_target(
        &mut self,
        inst: &Inst,
        n: usize,
        act: impl FnOnce(&mut Self, &Target) -> u32,
    ) -> u32 {
        let object = self.object(inst.a);
        let place = self.place(inst.a, &object, inst.b, self.side(inst, n));
        // The verifier saw that the word is an ordering.
        let ordering = Ordering::from_word(self.side(inst, n + 1)).unwrap_or(Ordering::RELAXED);
        if object.elem.bytes() == 8 && (object.form == Form::Bits || object.elem != Type::F64) {
            self.w.caps |= cap::INT64_ATOMICS;
        }
        let scope = self.scope(ordering.scope);
        self.at_place(place, inst.ty, |body, index| {
            let target = Target {
                object,
                pointer: body.element(&object, index),
                scope,
                order: ordering.order,
            };
            act(body, &target)
        })
    }

    pub(super) fn atomic_load(&mut self, inst: &Inst) -> u32 {
        self.at_target(inst, 0, |body, target| {
            let ty = target.object.elem_id;
            let semantics = body.semantics(target.order);
            let value = body
                .w
                .op3(S::AtomicLoad, ty, target.pointer, target.scope, semantics);
            body.loaded(&target.object, value)
        })
    }

    pub(super) fn atomic_store(&mut self, inst: &Inst) -> u32 {
        let value = self.val(self.side(inst, 0));
        self.at_target(inst, 1, |body, target| {
            let value = body.storable(&target.object, value);
            let semantics = body.semantics(target.order);
            body.w.body.put([
                head(S::AtomicStore, 5),
                target.pointer,
                target.scope,
                semantics,
                value,
            ]);
            0
        })
    }

    /// An atomic that takes a value and makes the one before.
    pub(super) fn atomic(&mut self, inst: &Inst, signed: S, unsigned: S) -> u32 {
        let op = match class(inst.ty) {
            Class::Signed => signed,
            // Of the float atomics only those that the device has come here.
            Class::Unsigned | Class::Float => unsigned,
            Class::Bool | Class::None => return self.unsupported(inst, inst.ty, NO_FORM),
        };
        let value = self.val(self.side(inst, 0));
        self.at_target(inst, 1, |body, target| {
            let value = body.storable(&target.object, value);
            let semantics = body.semantics(target.order);
            let operands = [target.pointer, target.scope, semantics, value];
            let old = body.w.op4(op, target.object.elem_id, operands);
            body.loaded(&target.object, old)
        })
    }

    pub(super) fn atomic_add(&mut self, inst: &Inst) -> u32 {
        if class(inst.ty) != Class::Float {
            return self.atomic(inst, S::AtomicIAdd, S::AtomicIAdd);
        }
        if self.object(inst.a).form == Form::Bits {
            return self.update_loop(inst, Update::Add);
        }
        self.w.caps |= if inst.ty == Type::F64 {
            cap::ATOMIC_FLOAT64_ADD
        } else {
            cap::ATOMIC_FLOAT32_ADD
        };
        self.atomic(inst, S::AtomicFAddEXT, S::AtomicFAddEXT)
    }

    pub(super) fn atomic_min_max(&mut self, inst: &Inst, max: bool) -> u32 {
        let (signed, unsigned, float, update) = if max {
            (S::AtomicSMax, S::AtomicUMax, S::AtomicFMaxEXT, Update::Max)
        } else {
            (S::AtomicSMin, S::AtomicUMin, S::AtomicFMinEXT, Update::Min)
        };
        if class(inst.ty) != Class::Float {
            return self.atomic(inst, signed, unsigned);
        }
        if self.object(inst.a).form == Form::Bits {
            return self.update_loop(inst, update);
        }
        self.w.caps |= cap::ATOMIC_FLOAT32_MIN_MAX;
        self.atomic(inst, float, float)
    }

    /// The semantics of a compare-exchange that finds another value: it stores nothing, so nothing is released.
    fn unequal(&mut self, order: Order) -> u32 {
        match order {
            Order::Relaxed | Order::Release => self.semantics(Order::Relaxed),
            Order::Acquire | Order::AcqRel => self.semantics(Order::Acquire),
        }
    }

    pub(super) fn atomic_compare_exchange(&mut self, inst: &Inst) -> u32 {
        let (comparand, value) = (self.val(self.side(inst, 0)), self.val(self.side(inst, 1)));
        self.at_target(inst, 2, |body, target| {
            let ty = target.object.elem_id;
            let id = body.w.id();
            body.compare_exchange(id, target, ty, [value, comparand])
        })
    }

    fn compare_exchange(
        &mut self,
        id: u32,
        target: &Target,
        ty: u32,
        [value, comparand]: [u32; 2],
    ) -> u32 {
        let (equal, unequal) = (self.semantics(target.order), self.unequal(target.order));
        self.w.body.put([
            head(S::AtomicCompareExchange, 9),
            ty,
            id,
            target.pointer,
            target.scope,
            equal,
            unequal,
            value,
            comparand,
        ]);
        id
    }

    /// Changes a float kept as its bits: reads it, and tries to put the new value in its place until nobody was faster.
    fn update_loop(&mut self, inst: &Inst, update: Update) -> u32 {
        let value = self.val(self.side(inst, 0));
        self.at_target(inst, 1, |body, target| {
            body.update(target, inst.ty, value, update)
        })
    }

    fn update(&mut self, target: &Target, ty: Type, value: u32, update: Update) -> u32 {
        let (int, float, bool_ty) = (target.object.elem_id, self.w.ty(ty), self.w.ty(Type::BOOL));
        let relaxed = self.semantics(Order::Relaxed);
        let first = self
            .w
            .op3(S::AtomicLoad, int, target.pointer, target.scope, relaxed);
        let before = self.s.flow.label;
        let [header, body, continue_, merge, found] = core::array::from_fn(|_| self.w.id());
        self.w.branch(header);
        self.w.label(header);
        let expected = self.w.op4(S::Phi, int, [first, before, found, continue_]);
        self.w.loop_merge(merge, continue_);
        self.w.branch(body);
        self.w.label(body);
        let old = self.w.op1(S::Bitcast, float, expected);
        let new = match update {
            Update::Add => self.w.exact2(S::FAdd, float, old, value),
            Update::Min => self.float_min_max(ty, old, value, false, true),
            Update::Max => self.float_min_max(ty, old, value, true, true),
        };
        let new = self.w.op1(S::Bitcast, int, new);
        self.compare_exchange(found, target, int, [new, expected]);
        let done = self.w.op2(S::IEqual, bool_ty, found, expected);
        self.w
            .body
            .put([head(S::BranchConditional, 4), done, merge, continue_]);
        self.w.label(continue_);
        self.w.branch(header);
        self.start(merge);
        self.w.op1(S::Bitcast, float, found)
    }

    /// What a barrier or fence orders, under the Vulkan model with availability and visibility.
    fn ordered(&self, classes: Semantics) -> u32 {
        let mut mask = Semantics::ACQUIRE_RELEASE | classes;
        if self.vulkan {
            mask |= Semantics::MAKE_AVAILABLE | Semantics::MAKE_VISIBLE;
        }
        mask.bits()
    }

    pub(super) fn workgroup_barrier(&mut self) -> u32 {
        let mut classes = Semantics::WORKGROUP_MEMORY;
        if self.kernel.uses().has(Uses::WRITES_BUFFERS) {
            classes |= Semantics::UNIFORM_MEMORY;
        }
        let mask = self.ordered(classes);
        let (scope, semantics) = (self.scope(Scope::Workgroup), self.w.u32(mask));
        self.barrier = [scope, semantics];
        self.w
            .body
            .put([head(S::ControlBarrier, 4), scope, scope, semantics]);
        0
    }

    /// Waits for the subgroup; what its threads wrote is seen by each other.
    pub(super) fn subgroup_barrier(&mut self) -> u32 {
        let mut classes = Semantics::WORKGROUP_MEMORY;
        if self.kernel.uses().has(Uses::WRITES_BUFFERS) {
            classes |= Semantics::UNIFORM_MEMORY;
        }
        let mask = self.ordered(classes);
        let (scope, semantics) = (self.w.u32(SpvScope::Subgroup as u32), self.w.u32(mask));
        self.w
            .body
            .put([head(S::ControlBarrier, 4), scope, scope, semantics]);
        0
    }

    pub(super) fn memory_fence(&mut self, inst: &Inst) -> u32 {
        let scope = if inst.flags & Inst::DEVICE != 0 {
            Scope::Device
        } else {
            Scope::Workgroup
        };
        let mask = self.ordered(self.classes());
        let (scope, semantics) = (self.scope(scope), self.w.u32(mask));
        self.w
            .body
            .put([head(S::MemoryBarrier, 3), scope, semantics]);
        0
    }
}
