//! Memory objects: buffers, arrays and tables, as far as they are declared.

use crate::kernel::{ArrayUse, Kernel, Mem};
use crate::types::Type;

/// How memory holds an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// As registers do.
    Same,
    /// A float as the integer of its width, so that compare-exchange can act on it.
    Bits,
    /// An integer of 8 or 16 bits.
    Signed,
    Unsigned,
    /// A bf16 as 16 bits.
    Bf16,
}

/// The number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Length {
    Known(u32),
    /// What is bound.
    Buffer,
}

/// A memory object in the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// Its variable; 0 until it is declared.
    pub var: u32,
    /// The type of a pointer to an element.
    pub pointer: u32,
    /// The type of an element.
    pub elem: Type,
    /// The type in which it is declared.
    pub elem_id: u32,
    pub form: Form,
    /// The constant 0 that selects a block's only member; 0 for what is no block.
    pub member: u32,
    /// Memory operands of every access.
    pub access: u32,
    /// Loads and stores need no memory operands, no cast and no check: see [`super::stretch`].
    pub plain: bool,
    pub length: Length,
    /// The member of the block of scalars that holds its length.
    pub member_of_length: u32,
    /// Its length, once computed outside of all control flow.
    pub counted: u32,
}

impl Object {
    /// Not declared.
    pub const NONE: Object = Object {
        var: 0,
        pointer: 0,
        elem: Type::NONE,
        elem_id: 0,
        form: Form::Same,
        member: 0,
        access: 0,
        plain: false,
        length: Length::Known(0),
        member_of_length: 0,
        counted: 0,
    };
}

/// The memory objects of a kernel.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// Buffers, shared arrays, private arrays, tables; and what earlier kernels left.
    all: Vec<Object>,
    /// Where each kind begins.
    first: [usize; 4],
    /// What is done to buffers and shared arrays, where floats are changed atomically.
    pub buffer_uses: Vec<ArrayUse>,
    pub shared_uses: Vec<ArrayUse>,
}

impl Objects {
    pub(super) fn clear(&mut self) {
        let Objects {
            all,
            first,
            buffer_uses,
            shared_uses,
        } = self;
        // See `lay_out`.
        let _ = (all, first);
        buffer_uses.clear();
        shared_uses.clear();
    }

    /// Makes places for a kernel's objects, none of them declared.
    pub(super) fn lay_out(&mut self, kernel: &Kernel) {
        // Fewer than 2^28 each.
        let shared = kernel.buffers().len();
        let private = shared + kernel.shared().len();
        let tables = private + kernel.private().len();
        let end = tables + kernel.tables().len();
        self.first = [0, shared, private, tables];
        if self.all.len() < end {
            self.all.resize(end, Object::NONE);
        }
        for object in self.all.iter_mut().take(end) {
            (object.var, object.plain) = (0, false);
        }
    }

    /// The place of what an operand word names: the kind is in the upper bits, see [`Mem::word`]. The verifier saw that
    /// there is such an object.
    #[inline(always)]
    fn place(&self, word: u32) -> Option<usize> {
        let first = self.first.get((word / (Mem::MAX + 1)) as usize)?;
        Some(first + (word & Mem::MAX) as usize)
    }

    /// The object of an operand word.
    #[inline(always)]
    pub(super) fn get(&self, word: u32) -> Option<&Object> {
        self.all.get(self.place(word)?)
    }

    pub(super) fn get_mut(&mut self, word: u32) -> Option<&mut Object> {
        let at = self.place(word)?;
        self.all.get_mut(at)
    }

    /// Keeps a buffer that has been declared.
    #[inline(always)]
    pub(super) fn set_buffer(&mut self, number: usize, object: &Object) {
        if let Some(place) = self.all.get_mut(number) {
            *place = *object;
        }
    }

    /// Keeps what has been declared.
    pub(super) fn set(&mut self, mem: Mem, object: Object) {
        if let Some(place) = self.get_mut(mem.word()) {
            *place = object;
        }
    }

    /// The object, if it is declared and plain.
    #[inline(always)]
    pub(super) fn plain(&self, word: u32) -> Option<&Object> {
        self.get(word).filter(|object| object.plain)
    }
}
