//! What the short ways need to know of each memory object: one word, whatever its kind.

use super::check::Checker;
use super::made::Made;
use super::uniformity::{Level, keeps};
use crate::kernel::{
    BufferDecl, BufferUse, Draft, Place, PrivateDecl, SharedDecl, SharedLen, TableDecl,
};
use crate::op::{Effect, Op};
use crate::types::{Access, Type, TypeSet};

/// A memory object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// What a plain load makes where the index is uniform. Its code is that of an element.
    pub(super) made: Made,
    /// What is allowed, bits of [`Object::LOADS`] and its kin; nothing where elements are of a type that none has.
    allows: u8,
    /// Its length, where that is known.
    len: u32,
}

impl Object {
    const LOADS: u8 = Access::Read as u8;
    const STORES: u8 = Access::Write as u8;
    const ATOMICS: u8 = 1 << 2;
    const BOUNDED: u8 = 1 << 3;

    /// What such an access needs.
    #[inline(always)]
    const fn needs(effect: Effect, atomic: bool) -> u8 {
        let reads = matches!(effect, Effect::Reads | Effect::ReadsWrites);
        let writes = matches!(effect, Effect::Writes | Effect::ReadsWrites);
        let reads = if reads { Object::LOADS } else { 0 };
        let writes = if writes { Object::STORES } else { 0 };
        reads | writes | if atomic { Object::ATOMICS } else { 0 }
    }

    #[inline(always)]
    fn new(elem: Type, level: Level, allows: u8, len: Option<u32>) -> Object {
        let allows = match TypeSet::ELEMENTS.contains(elem) {
            true => allows,
            false => 0,
        };
        let bounded = match len {
            Some(_) => Object::BOUNDED,
            None => 0,
        };
        Object {
            made: Made::value(elem, level),
            allows: allows | bounded,
            len: len.unwrap_or(0),
        }
    }
}

/// An element that an access names, which is allowed.
#[derive(Clone, Copy)]
pub(super) struct Reached {
    pub(super) object: Object,
    /// The kind and number of the object, as those of [`crate::kernel::Mem`].
    pub(super) kind: usize,
    pub(super) number: usize,
    /// The level of the index.
    pub(super) level: Level,
}

impl Checker {
    /// Tells it of a declared buffer.
    #[inline(always)]
    pub(crate) fn buffer(&mut self, decl: &BufferDecl) {
        let level = match keeps(decl.access, decl.may_alias) {
            true => Level::WORKGROUP,
            false => Level::DIVERGENT,
        };
        // The bits of an access are those of what it allows.
        let allows = decl.access as u8 | Object::ATOMICS;
        self.facts.buffers.push(BufferUse::default());
        self.objects[0].push(Object::new(decl.elem, level, allows, None));
    }

    /// Tells it of a declared shared array.
    #[inline(always)]
    pub(crate) fn shared(&mut self, decl: &SharedDecl) {
        let len = match decl.len {
            SharedLen::Static(len) => Some(len),
            SharedLen::Dynamic => None,
        };
        let allows = Object::LOADS | Object::STORES | Object::ATOMICS;
        self.objects[1].push(Object::new(decl.elem, Level::DIVERGENT, allows, len));
    }

    /// Tells it of a declared private array.
    #[inline(always)]
    pub(crate) fn private(&mut self, decl: &PrivateDecl) {
        let allows = Object::LOADS | Object::STORES;
        let len = Some(decl.len);
        self.objects[2].push(Object::new(decl.elem, Level::DIVERGENT, allows, len));
    }

    /// Tells it of a declared table.
    #[inline(always)]
    pub(crate) fn table(&mut self, decl: &TableDecl) {
        let len = Some(decl.len);
        self.objects[3].push(Object::new(decl.elem, Level::WORKGROUP, Object::LOADS, len));
    }

    /// Tells it of all declarations.
    pub(crate) fn declared(&mut self, draft: &Draft) {
        draft.buffers.iter().for_each(|decl| self.buffer(decl));
        draft.shared.iter().for_each(|decl| self.shared(decl));
        draft.private.iter().for_each(|decl| self.private(decl));
        draft.tables.iter().for_each(|decl| self.table(decl));
    }

    /// What an access of this opcode names, where that is allowed, the index is of an index type and, with the offset, not
    /// known to lie outside.
    #[inline(always)]
    pub(super) fn reach(
        &self,
        draft: &Draft,
        (effect, atomic): (Effect, bool),
        mem: Place,
        index: Place,
        offset: u32,
    ) -> Option<Reached> {
        let (kind, number) = mem.kind_and_number();
        let object = *self.objects.get(kind)?.get(number)?;
        let made = self.at(index)?;
        let needs = Object::needs(effect, atomic);
        if object.allows & needs != needs || !TypeSet::INDEX.has_code(made.code()) {
            return None;
        }
        if object.allows & Object::BOUNDED != 0 {
            let known = match draft.insts.get(index.index()) {
                Some(i) if i.op == Op::Const => i.const_bits(),
                _ => 0,
            };
            if known.saturating_add(u64::from(offset)) >= u64::from(object.len) {
                return None;
            }
        }
        Some(Reached {
            object,
            kind,
            number,
            level: made.level(),
        })
    }
}
