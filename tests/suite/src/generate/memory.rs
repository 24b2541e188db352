//! Statements of buffers, shared and private arrays and tables.

use super::level::Level;
use super::{Generator, MOST_BUFFERS, MOST_CHECKED_BUFFERS, PER_THREAD, Role};
use crate::choices::SplitMix;
use crate::specials::{special_bits, without_subnormal};
use kernite::builder::{BufferOptions, Memory};
use kernite::kernel::{Buffer, Private, Shared, Value};
use kernite::types::{Const, Type};

/// Elements of a private array.
pub(super) const ARRAY: u32 = 4;

impl Generator<'_, '_> {
    /// The buffer of this role and type, declared if there is room for one more.
    pub(super) fn buffer(&mut self, role: Role, ty: Type) -> Option<Buffer> {
        let most = if self.config.wild {
            MOST_CHECKED_BUFFERS
        } else {
            MOST_BUFFERS
        };
        let full = self.buffers.len() >= most;
        if full && !self.buffers.contains_key(&(role, ty)) {
            return None;
        }
        Some(self.declared(role, ty))
    }

    pub(super) fn declared(&mut self, role: Role, ty: Type) -> Buffer {
        if let Some(&buffer) = self.buffers.get(&(role, ty)) {
            return buffer;
        }
        // None overlaps another, but some might.
        let options = if self.choices.chance(1, 8) {
            self.aliased.insert((role, ty));
            BufferOptions::new().may_alias()
        } else {
            BufferOptions::new()
        };
        let buffer = self.b.buffer_with(role.name(), ty, role.access(), options);
        self.buffers.insert((role, ty), buffer);
        buffer
    }

    /// The index, sometimes in 64 bits.
    fn index(&mut self, index: Value) -> Value {
        if self.choices.chance(1, 3) {
            self.with_level_of(&[index], |b| b.convert(index, Type::U64))
        } else {
            index
        }
    }

    /// The thread's element of an input, or any element of one by an index cut to its length.
    pub(super) fn load(&mut self) {
        let ty = self.element_type();
        let Some(buffer) = self.buffer(Role::In, ty) else {
            return;
        };
        let index = if self.choices.chance(1, 2) {
            let (any, length) = (self.value(Type::U32), self.b.array_length(buffer));
            self.levels.insert(length.index(), Level::Workgroup);
            self.with_level_of(&[any, length], |b| b.rem(any, length))
        } else {
            self.index
        };
        let index = self.index(index);
        let flags = self.access_flags();
        let made = self.b.load_with(buffer, index, 0, flags);
        // What may change, or is asked for anew, is as uniform as the verifier sees it: not at all.
        let level = if flags == 0 && !self.aliased.contains(&(Role::In, ty)) {
            self.level_of(index)
        } else {
            Level::Divergent
        };
        self.levels.insert(made.index(), level);
        let made = self.flushed(made);
        self.made(made, level);
    }

    pub(super) fn store(&mut self) {
        let ty = self.element_type();
        let back = self.choices.chance(1, 2);
        let role = if back { Role::Own } else { Role::Out };
        let Some(buffer) = self.buffer(role, ty) else {
            return;
        };
        let v = self.value(ty);
        let own = self.own();
        let own = self.index(own);
        let offset = self.choices.below(PER_THREAD as usize) as u32;
        let flags = self.access_flags();
        self.b.store_with(buffer, own, offset, v, flags);
        if back {
            let flags = self.access_flags();
            let back = self.b.load_with(buffer, own, offset, flags);
            let back = self.flushed(back);
            self.made(back, Level::Divergent);
        }
    }

    /// An array of the thread's own, all of it written.
    pub(super) fn private(&mut self, ty: Type) -> Private {
        let found = self.arrays.iter().find(|(_, t)| *t == ty);
        if let Some(&(array, _)) = found {
            return array;
        }
        let array = self.b.private("array", ty, ARRAY);
        let v = self.value(ty);
        let zero = self.b.constant(0u32);
        for i in 0..ARRAY {
            self.b.store_offset(array, zero, i, v);
        }
        self.arrays.push((array, ty));
        array
    }

    /// An index below a length.
    pub(super) fn below(&mut self, length: u32) -> Value {
        let (any, length) = (self.value(Type::U32), self.b.constant(length));
        self.levels.insert(length.index(), Level::Workgroup);
        let index = self.with_level_of(&[any, length], |b| b.rem(any, length));
        self.index(index)
    }

    pub(super) fn array(&mut self) {
        let ty = self.element_type();
        let array = self.private(ty);
        if self.choices.chance(1, 2) {
            let (at, v) = (self.below(ARRAY), self.value(ty));
            self.b.store(array, at, v);
        }
        // An offset, and an index that leaves room for it.
        let offset = self.choices.below(ARRAY as usize) as u32;
        let at = self.below(ARRAY - offset);
        let made = self.b.load_offset(array, at, offset);
        let made = self.flushed(made);
        self.made(made, Level::Divergent);
    }

    /// A table of constants of this type, and its length.
    pub(super) fn table_of(&mut self, ty: Type) -> (Memory, u32) {
        if let Some(&(table, len)) = self.tables.get(&ty) {
            return (table.into(), len);
        }
        let len = 1 + self.choices.below(7) as u32;
        let seed = u64::from(self.choices.word());
        let words = SplitMix::decisions(seed, 4 * len as usize);
        let mut own = crate::choices::Choices::new(&words);
        let elements: Vec<Const> = (0..len)
            .filter_map(|_| {
                let bits = special_bits(ty, &mut own);
                Const::new(
                    ty,
                    if self.config.subnormals {
                        bits
                    } else {
                        without_subnormal(ty, bits)
                    },
                )
            })
            .collect();
        let table = self.b.table("table", ty, &elements);
        self.tables.insert(ty, (table, len));
        (table.into(), len)
    }

    pub(super) fn table(&mut self) {
        let ty = super::TYPES[self.choices.below(super::TYPES.len())];
        let (table, len) = self.table_of(ty);
        let at = self.below(len);
        let made = self.with_level_of(&[at], |b| b.load(table, at));
        let level = self.level_of(made);
        let made = self.flushed(made);
        self.made(made, level);
    }

    /// A shared array with an element for each thread.
    pub(super) fn tile(&mut self, ty: Type) -> Shared {
        if let Some(&tile) = self.tiles.get(&ty) {
            return tile;
        }
        let tile = if self.dynamic {
            self.dynamic = false;
            self.b.shared_dynamic("tile", ty)
        } else {
            self.b.shared("tile", ty, self.threads)
        };
        self.tiles.insert(ty, tile);
        tile
    }

    /// Threads pass each other a value through shared memory, where all of them are there: those of the workgroup, or of
    /// the subgroup.
    pub(super) fn exchange(&mut self) {
        let ty = self.element_type();
        let within = match self.control() {
            Level::Divergent => return,
            Level::Subgroup => Level::Subgroup,
            Level::Workgroup if self.choices.chance(1, 4) => Level::Subgroup,
            Level::Workgroup => Level::Workgroup,
        };
        if within == Level::Subgroup && !self.config.subgroups {
            return;
        }
        let tile = self.tile(ty);
        let v = self.value(ty);
        self.b.store(tile, self.lid, v);
        let got = if within == Level::Workgroup {
            self.b.workgroup_barrier();
            let other = self.below(self.threads);
            let got = self.b.load(tile, other);
            self.b.workgroup_barrier();
            got
        } else {
            self.b.subgroup_barrier();
            let (size, id) = (self.b.subgroup_size(), self.b.subgroup_id());
            let any = self.value(Type::U32);
            let lane = self.b.rem(any, size);
            let other = self.b.mul_add(id, size, lane);
            let threads = self.b.constant(self.threads);
            let inside = self.b.lt(other, threads);
            let other = self.b.select(inside, other, self.lid);
            let got = self.b.load(tile, other);
            self.b.subgroup_barrier();
            got
        };
        let got = self.flushed(got);
        self.made(got, Level::Divergent);
    }
}
