//! Accesses outside of buffers and arrays, for kernels that are emitted with checked bounds.

use super::level::Level;
use super::memory::ARRAY;
use super::{Generator, Role, TYPES};
use kernite::builder::Memory;
use kernite::kernel::Value;
use kernite::types::{Type, TypeSet};

impl Generator<'_, '_> {
    /// An index that may be anything, and is often small. No constant: the verifier knows what those are.
    fn anywhere(&mut self) -> Value {
        let ty = self.choices.pick(&[Type::U32, Type::U64]);
        let any = self.value(ty);
        let hidden = self.hidden_zero(ty);
        let any = self.with_level_of(&[any, hidden], |b| b.xor(any, hidden));
        if self.choices.chance(1, 2) {
            return any;
        }
        let seven = self.b.constant(7u32);
        let seven = self.b.convert(seven, ty);
        self.b.and(any, seven)
    }

    /// A constant offset from such an index.
    fn any_offset(&mut self, most: u32) -> u32 {
        let offsets = [0, 1, 2, 5, most / 2, most.saturating_sub(1), most];
        self.choices.pick(&offsets).min(most)
    }

    pub(super) fn wild(&mut self) {
        match self.choices.below(7) {
            0 | 1 => self.load_anywhere(),
            2 => self.store_anywhere(),
            3 => self.add_anywhere(),
            4 => self.array_anywhere(),
            5 => self.shared_anywhere(),
            _ => self.table_anywhere(),
        }
    }

    fn load_anywhere(&mut self) {
        let ty = self.element_type();
        let Some(few) = self.buffer(Role::Few, ty) else {
            return;
        };
        let (at, offset) = (self.anywhere(), self.any_offset(u32::MAX));
        let flags = self.access_flags();
        let made = self.b.load_with(few, at, offset, flags);
        let made = self.flushed(made);
        self.made(made, Level::Divergent);
    }

    /// Threads that store to one element would race: only one does.
    fn by_one(&mut self, body: impl FnOnce(&mut Self)) {
        let chosen = self.b.constant(self.chosen);
        let only = self.b.eq(self.index, chosen);
        self.b.begin_if(only);
        let frame = super::level::Frame {
            level: Level::Divergent,
            is_loop: false,
        };
        self.scoped(frame, body);
        self.b.end();
    }

    fn store_anywhere(&mut self) {
        let ty = self.element_type();
        let Some(wild) = self.buffer(Role::Wild, ty) else {
            return;
        };
        let (at, offset, v) = (self.anywhere(), self.any_offset(u32::MAX), self.value(ty));
        let flags = self.access_flags();
        let out = self.buffer(Role::Own, ty);
        self.by_one(|g| {
            g.b.store_with(wild, at, offset, v, flags);
            if let Some(out) = out {
                let back = g.b.load_with(wild, at, offset, flags);
                let own = g.own();
                g.b.store(out, own, back);
            }
        });
    }

    fn add_anywhere(&mut self) {
        let types = [Type::U32, Type::I32, Type::U64, Type::I64];
        let ty = self
            .choices
            .pick(&types[..if self.config.atomics_64 { 4 } else { 2 }]);
        let Some(scattered) = self.buffer(Role::Scattered, ty) else {
            return;
        };
        let (at, offset, v) = (self.anywhere(), self.any_offset(u32::MAX), self.value(ty));
        self.b
            .atomic_add_with(scattered, at, offset, v, kernite::kernel::Ordering::RELAXED);
    }

    fn array_anywhere(&mut self) {
        let ty = self.element_type();
        let array = self.private(ty);
        let (at, offset) = (self.anywhere(), self.any_offset(ARRAY - 1));
        let v = self.value(ty);
        self.b.store_offset(array, at, offset, v);
        let (at, offset) = (self.anywhere(), self.any_offset(ARRAY - 1));
        let made = self.b.load_offset(array, at, offset);
        let made = self.flushed(made);
        self.made(made, Level::Divergent);
    }

    /// A shared array that nobody writes but one thread of one workgroup, which reads it, too.
    fn shared_anywhere(&mut self) {
        let ty = self.element_type();
        if !TypeSet::NUMERIC.contains(ty) {
            return self.load_anywhere();
        }
        let len = 1 + self.choices.below(5) as u32;
        let pit = self.b.shared_zeroed("pit", ty, len);
        let (at, offset, v) = (self.anywhere(), self.any_offset(len - 1), self.value(ty));
        let Some(out) = self.buffer(Role::Own, ty) else {
            return;
        };
        self.by_one(|g| {
            g.b.store_offset(pit, at, offset, v);
            let zero = g.b.constant(0u32);
            let other = g.b.load(pit, zero);
            let own = g.own();
            g.b.store(out, own, other);
            let back = g.b.load_offset(pit, at, offset);
            g.b.store_offset(out, own, 1, back);
        });
    }

    fn table_anywhere(&mut self) {
        let ty = TYPES[self.choices.below(TYPES.len())];
        let (table, len): (Memory, u32) = self.table_of(ty);
        let (at, offset) = (self.anywhere(), self.any_offset(len - 1));
        let made = self.b.load_offset(table, at, offset);
        let made = self.flushed(made);
        self.made(made, Level::Divergent);
    }
}
