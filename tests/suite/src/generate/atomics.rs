//! Atomics. What threads share is combined in ways whose order does not show, and no result of it is used; on what a
//! thread owns, everything is.

use super::level::Level;
use super::{ATOMIC_LEN, Generator, PER_THREAD, Role};
use kernite::builder::Memory;
use kernite::kernel::{Ordering, Shared, Value};
use kernite::types::{Const, Order, Scope, Type};

/// Types of atomics.
const TYPES: [Type; 6] = [
    Type::U32,
    Type::I32,
    Type::U64,
    Type::I64,
    Type::F32,
    Type::F64,
];

impl Generator<'_, '_> {
    fn ordering(&mut self, orders: &[Order]) -> Ordering {
        let (mut order, scope) = (
            self.choices.pick(orders),
            self.choices.pick(&[Scope::Device, Scope::Workgroup]),
        );
        if !self.may_fence() {
            order = Order::Relaxed;
        }
        Ordering { order, scope }
    }

    fn may_fence(&self) -> bool {
        self.config.divergent_fences || self.control() == Level::Workgroup
    }

    fn any_ordering(&mut self) -> Ordering {
        self.ordering(&[
            Order::Relaxed,
            Order::Acquire,
            Order::Release,
            Order::AcqRel,
        ])
    }

    pub(super) fn atomic(&mut self) {
        let wide = self.config.atomics_64;
        let types: Vec<Type> = TYPES
            .into_iter()
            .filter(|t| wide || t.bytes() == 4)
            .collect();
        let ty = self.choices.pick(&types);
        let (shared, own) = (self.choices.chance(1, 2), self.choices.chance(2, 3));
        let place: Memory = if shared {
            self.sums(ty).into()
        } else {
            match self.buffer(Role::Counter, ty) {
                Some(buffer) => buffer.into(),
                None => return,
            }
        };
        if own {
            self.atomic_of_own(place, ty);
        } else {
            self.atomic_of_all(place, ty);
        }
        if self.choices.chance(1, 8) && self.may_fence() {
            let scope = self.choices.pick(&[Scope::Device, Scope::Workgroup]);
            self.b.memory_fence(scope);
        }
        if shared && self.control() == Level::Workgroup && self.choices.chance(1, 4) {
            self.total(place);
        }
    }

    /// The shared array of a type that atomics work on.
    fn sums(&mut self, ty: Type) -> Shared {
        let (b, len) = (&mut self.b, ATOMIC_LEN + PER_THREAD * self.threads);
        *self
            .sums
            .entry(ty)
            .or_insert_with(|| b.shared_zeroed("sums", ty, len))
    }

    /// What all threads made of an element of a shared array.
    fn total(&mut self, place: Memory) {
        let zero = self.b.constant(0u32);
        let which = self.choices.below(ATOMIC_LEN as usize) as u32;
        self.b.workgroup_barrier();
        let made = self.b.load_offset(place, zero, which);
        self.b.workgroup_barrier();
        // Only the promise tells the verifier.
        let (made, level) = if self.config.assume_uniform && self.choices.chance(1, 2) {
            (self.b.assume_uniform(made), Level::Workgroup)
        } else {
            (made, Level::Divergent)
        };
        self.levels.insert(made.index(), level);
        let made = self.flushed(made);
        self.made(made, level);
    }

    /// A small integer as a float, so that sums are exact and no element of one ever a subnormal.
    fn integral(&mut self, ty: Type) -> Value {
        let (any, few) = (self.value(Type::U32), self.b.constant(15u32));
        let few = self.b.and(any, few);
        self.b.convert(few, ty)
    }

    /// An element that no other thread touches.
    fn atomic_of_own(&mut self, place: Memory, ty: Type) {
        let index = if matches!(place, Memory::Shared(_)) {
            self.lid
        } else {
            self.index
        };
        let per_thread = self.b.constant(PER_THREAD);
        let own = self.b.mul(index, per_thread);
        let own = if self.choices.chance(1, 4) {
            self.b.convert(own, Type::U64)
        } else {
            own
        };
        // Of floats the first is only added to.
        let is_int = ty.scalar().is_some_and(|s| s.is_int());
        let adds = ty == Type::F64 || !is_int && self.choices.chance(1, 3);
        let element = if adds {
            0
        } else if is_int {
            self.choices.below(PER_THREAD as usize) as u32
        } else {
            1
        };
        let at = ATOMIC_LEN + element;
        let o = self.any_ordering();
        if adds {
            let v = self.integral(ty);
            let made = self.b.atomic_add_with(place, own, at, v, o);
            return self.made(made, Level::Divergent);
        }
        let kind = self.choices.below(if is_int { 11 } else { 5 });
        let v = self.value(ty);
        let made = match kind {
            0 => {
                let o = self.ordering(&[Order::Relaxed, Order::Acquire]);
                self.b.atomic_load(place, own, at, o)
            }
            1 => {
                let o = self.ordering(&[Order::Relaxed, Order::Release]);
                self.b.atomic_store(place, own, at, v, o);
                self.b.load_offset(place, own, at)
            }
            2 => self.b.atomic_exchange_with(place, own, at, v, o),
            3 => self.b.atomic_min_with(place, own, at, v, o),
            4 => self.b.atomic_max_with(place, own, at, v, o),
            5 => self.b.atomic_add_with(place, own, at, v, o),
            6 => self.b.atomic_sub_with(place, own, at, v, o),
            7 => self.b.atomic_and_with(place, own, at, v, o),
            8 => self.b.atomic_or_with(place, own, at, v, o),
            9 => self.b.atomic_xor_with(place, own, at, v, o),
            _ => {
                let expected = if self.choices.chance(1, 2) {
                    self.b.load_offset(place, own, at)
                } else {
                    self.value(ty)
                };
                self.b
                    .atomic_compare_exchange_with(place, own, at, expected, v, o)
            }
        };
        self.levels.insert(made.index(), Level::Divergent);
        let made = self.flushed(made);
        self.made(made, Level::Divergent);
    }

    /// An element that others change as well. The place decides how, so that different ways never meet at one.
    fn atomic_of_all(&mut self, place: Memory, ty: Type) {
        let is_int = ty.scalar().is_some_and(|s| s.is_int());
        let kind = match ty {
            Type::F64 => 0,
            Type::F32 => self.choices.pick(&[0, 1, 2, 6, 8, 9]),
            _ => self.choices.below(ATOMIC_LEN as usize) as u32,
        };
        let at = self.b.constant(0u32);
        let mut o = self.any_ordering();
        if !is_int && !self.config.divergent_fences {
            o.order = Order::Relaxed;
        }
        let v = if is_int || kind == 1 || kind == 2 {
            self.value(ty)
        } else {
            self.integral(ty)
        };
        // What every thread stores.
        let same = |bits| Const::new(ty, bits).unwrap_or(Const::from(0u32));
        let (one, other) = match ty {
            Type::F32 => (same(0x4040_0000), same(0xBF00_0000)),
            _ => (same(3), same(0)),
        };
        match kind {
            0 if is_int && self.choices.chance(1, 2) => {
                self.b.atomic_sub_with(place, at, kind, v, o);
            }
            0 => {
                self.b.atomic_add_with(place, at, kind, v, o);
            }
            1 => {
                self.b.atomic_max_with(place, at, kind, v, o);
            }
            2 => {
                self.b.atomic_min_with(place, at, kind, v, o);
            }
            3 => {
                self.b.atomic_and_with(place, at, kind, v, o);
            }
            4 => {
                self.b.atomic_or_with(place, at, kind, v, o);
            }
            5 => {
                self.b.atomic_xor_with(place, at, kind, v, o);
            }
            6 => {
                let v = self.b.constant(one);
                self.b.atomic_exchange_with(place, at, kind, v, o);
            }
            7 => {
                let (from, to) = (self.b.constant(other), self.b.constant(one));
                self.b
                    .atomic_compare_exchange_with(place, at, kind, from, to, o);
            }
            8 => {
                let o = self.ordering(&[Order::Relaxed, Order::Release]);
                let v = self.b.constant(one);
                self.b.atomic_store(place, at, kind, v, o);
            }
            _ => {
                // Nobody writes this one.
                let o = self.ordering(&[Order::Relaxed, Order::Acquire]);
                let made = self.b.atomic_load(place, at, kind, o);
                self.levels.insert(made.index(), Level::Divergent);
                let made = self.flushed(made);
                self.made(made, Level::Divergent);
            }
        }
    }
}
