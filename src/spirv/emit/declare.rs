//! Buffers, scalars, shared and private arrays, and what an entry point says of itself.

use super::body::Body;
use super::error::Error;
use super::options::{FloatAtomics, Lengths, Overflow, Version, ZeroShared};
use super::sections::{cap, head, push_string, string_words};
use super::types::register;
use crate::kernel::{ArrayUse, Bounds, BufferUse, Mem, SharedLen, Uses, push_constant_slot};
use crate::limits::{Limit, exceeds};
use crate::types::{Access, Scalar, Type};
use spirv::{Decoration, ExecutionMode, ExecutionModel, MemoryAccess, Op as S, StorageClass};

/// Global variables of a module and variables of a function (SPIR-V section 2.17).
const MAX_GLOBALS: u64 = 65_535;
const MAX_LOCALS: u32 = 524_287;
/// Members of a structure.
const MAX_MEMBERS: u64 = 16_383;
/// Words of an instruction.
const MAX_WORDS: u64 = 65_535;

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
    /// Loads and stores need no memory operands, no cast and no check: see [`super::plain`].
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

/// The memory objects of a kernel, by kind and number.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub buffers: Vec<Object>,
    pub shared: Vec<Object>,
    pub private: Vec<Object>,
    pub tables: Vec<Object>,
    /// What is done to buffers and shared arrays, where floats are changed atomically.
    pub buffer_uses: Vec<ArrayUse>,
    pub shared_uses: Vec<ArrayUse>,
}

impl Objects {
    pub(super) fn clear(&mut self) {
        let Objects {
            buffers,
            shared,
            private,
            tables,
            buffer_uses,
            shared_uses,
        } = self;
        for objects in [buffers, shared, private, tables] {
            objects.clear();
        }
        buffer_uses.clear();
        shared_uses.clear();
    }

    /// The object of an operand word.
    #[inline(always)]
    fn get(&self, word: u32) -> Option<&Object> {
        match Mem::from_word(word)? {
            Mem::Buffer(n) => self.buffers.get(n as usize),
            Mem::Shared(n) => self.shared.get(n as usize),
            Mem::Private(n) => self.private.get(n as usize),
            Mem::Table(n) => self.tables.get(n as usize),
        }
    }

    /// The object, if it is declared and plain.
    #[inline(always)]
    pub(super) fn plain(&self, word: u32) -> Option<&Object> {
        self.get(word).filter(|object| object.plain)
    }
}

impl Body<'_> {
    /// Checks the limits, declares what must stand first, and begins the function.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        self.check_limits()?;
        if self.has_float_atomics() {
            let objects = &mut self.s.objects;
            self.kernel
                .array_uses(&mut objects.buffer_uses, &mut objects.shared_uses);
        }
        self.declare_buffers()?;
        let (void, ty) = (self.w.ty(Type::NONE), self.w.function_type());
        self.w.begin_function(self.function, void, ty);
        let label = [head(S::Label, 2), self.label];
        self.w.locals.extend_from_slice(&label);
        self.s
            .objects
            .shared
            .resize(self.kernel.shared().len(), Object::NONE);
        self.s
            .objects
            .private
            .resize(self.kernel.private().len(), Object::NONE);
        self.s
            .objects
            .tables
            .resize(self.kernel.tables().len(), Object::NONE);
        if self.options.zero_shared == ZeroShared::Loop {
            self.zero_shared();
        }
        Ok(())
    }

    /// Whether there may be any.
    fn has_float_atomics(&self) -> bool {
        let uses = self.kernel.uses();
        [
            Uses::ATOMIC_32,
            Uses::ATOMIC_F32_ADD,
            Uses::ATOMIC_F32_ADD_SHARED,
            Uses::ATOMIC_F32_MINMAX,
            Uses::ATOMIC_F32_MINMAX_SHARED,
            Uses::ATOMIC_F64_ADD,
            Uses::ATOMIC_F64_ADD_SHARED,
        ]
        .into_iter()
        .any(|atomics| uses.has(atomics))
    }

    fn check_limits(&self) -> Result<(), Error> {
        let limits = &self.options.limits;
        limits.check(self.kernel).map_err(|e| self.limit(e))?;
        // As `Kernel::static_shared_bytes`, but with elements of 8 and 16 bits as wide as registers.
        let mut shared = 0u64;
        for (array, d) in (0u32..).zip(self.kernel.shared()) {
            let len = match d.len {
                SharedLen::Static(len) => len,
                SharedLen::Dynamic => self.options.dynamic_shared_len.unwrap_or(0),
            };
            if len == 0 {
                return Err(Error::DynamicLength {
                    kernel: self.number,
                    array,
                });
            }
            let bytes = u64::from(len) * u64::from(register(d.elem).bytes());
            shared = shared.next_multiple_of(16).saturating_add(bytes);
        }
        exceeds(Limit::SharedBytes, shared, u64::from(limits.shared_bytes))
            .map_err(|e| self.limit(e))?;
        let (bytes, members) = self.scalars_size();
        if self.options.overflow == Overflow::Error {
            let available = u64::from(limits.push_constant_bytes);
            exceeds(Limit::PushConstantBytes, bytes, available).map_err(|e| self.limit(e))?;
        }
        self.universal("scalars", members, MAX_MEMBERS)?;
        let buffers = self.kernel.buffers().len() as u64;
        // Beside the buffers: shared arrays, tables, built-ins, the scalars, tables of recipes.
        let arrays = (self.kernel.shared().len() + self.kernel.tables().len()) as u64;
        let globals = buffers + arrays + 11;
        self.universal("buffers, shared arrays and tables", globals, MAX_GLOBALS)?;
        for d in self.kernel.tables() {
            self.universal("words in a table", 3 + u64::from(d.len), MAX_WORDS)?;
        }
        let words = 3 + string_words(self.kernel.name()) as u64 + globals;
        self.universal("words in the entry point", words, MAX_WORDS)
    }

    fn universal(&self, what: &'static str, needed: u64, available: u64) -> Result<(), Error> {
        if needed > available {
            return Err(Error::Universal {
                kernel: self.number,
                what,
                needed,
                available,
            });
        }
        Ok(())
    }

    /// The limit on global variables counts those of every kernel of the module.
    pub(super) fn check_globals(&self) -> Result<(), Error> {
        let made = u64::from(self.w.variables);
        self.universal("global variables in the module", made, MAX_GLOBALS)
    }

    /// The bytes and the number of members of the block of scalars.
    pub(super) fn scalars_size(&self) -> (u64, u64) {
        let mut end = 0;
        for d in self.kernel.scalars() {
            if let Some(ty) = d.ty.scalar() {
                end = push_constant_slot(end, ty).1;
            }
        }
        let mut members = self.kernel.scalars().len() as u64;
        if self.options.lengths == Lengths::HostFilled {
            for _ in self.kernel.buffer_uses().iter().filter(|u| self.counts(u)) {
                end = push_constant_slot(end, Scalar::U32).1;
                members += 1;
            }
        }
        (end, members)
    }

    /// Whether the length of a buffer is asked for.
    fn counts(&self, used: &BufferUse) -> bool {
        used.length || self.options.bounds == Bounds::Checked && used.any()
    }

    /// Whether floats are kept as integers: where one of the atomics on them is a compare-exchange loop, and where all
    /// of them move bits.
    fn as_bits(&self, elem: Type, used: Option<&ArrayUse>) -> bool {
        let Some(used) = used else { return false };
        let loops = |atomics: FloatAtomics| atomics == FloatAtomics::CompareExchange;
        let options = self.options;
        match elem {
            Type::F32 if used.adds || used.min_max => {
                used.adds && loops(options.float_atomics)
                    || used.min_max && loops(options.float_min_max_atomics)
            }
            Type::F32 => used.moves,
            Type::F64 => used.adds && loops(options.float64_atomics),
            _ => false,
        }
    }

    /// The declared type of the elements of a shared or private array or a table, and their form.
    fn array_elem(&mut self, elem: Type, as_bits: bool) -> (u32, Form) {
        if as_bits {
            let int = if elem == Type::F64 {
                Type::U64
            } else {
                Type::U32
            };
            return (self.w.ty(int), Form::Bits);
        }
        (self.w.ty(elem), Form::Same)
    }

    /// The same of a buffer.
    fn buffer_elem(&mut self, elem: Type, as_bits: bool) -> (u32, Form) {
        if as_bits {
            return self.array_elem(elem, true);
        }
        let form = match elem.scalar() {
            Some(Scalar::I8 | Scalar::I16) => Form::Signed,
            Some(Scalar::U8 | Scalar::U16) => Form::Unsigned,
            Some(Scalar::BF16) => Form::Bf16,
            Some(
                Scalar::Bool
                | Scalar::I32
                | Scalar::I64
                | Scalar::U32
                | Scalar::U64
                | Scalar::F16
                | Scalar::F32
                | Scalar::F64,
            )
            | None => Form::Same,
        };
        (self.w.stored(elem), form)
    }

    pub(super) fn set(&self, set: u32) -> Result<u32, Error> {
        let base = self.options.descriptor_set_base;
        set.checked_add(base).ok_or(Error::DescriptorSet {
            kernel: self.number,
            set,
            base,
        })
    }

    fn declare_buffers(&mut self) -> Result<(), Error> {
        let kernel = self.kernel;
        // Fewer than 2^28 of them.
        let mut length = kernel.scalars().len() as u32;
        for (d, used) in kernel.buffers().iter().zip(kernel.buffer_uses()) {
            let set = self.set(d.set)?;
            if !used.any() {
                self.s.objects.buffers.push(Object::NONE);
                continue;
            }
            let number = self.s.objects.buffers.len();
            let as_bits = self.as_bits(d.elem, self.s.objects.buffer_uses.get(number));
            let (elem_id, form) = self.buffer_elem(d.elem, as_bits);
            let block = self.w.block(d.elem, elem_id);
            let pointer = self.w.pointer(StorageClass::StorageBuffer, block);
            let var = self.w.variable(StorageClass::StorageBuffer, pointer, None);
            self.w.decorate_with(var, Decoration::DescriptorSet, set);
            self.w.decorate_with(var, Decoration::Binding, d.binding);
            match d.access {
                Access::Read => self.w.decorate(var, Decoration::NonWritable),
                Access::Write => self.w.decorate(var, Decoration::NonReadable),
                Access::ReadWrite => {}
            }
            if d.may_alias {
                self.w.decorate(var, Decoration::Aliased);
            }
            let mut access = MemoryAccess::NONE;
            if self.vulkan {
                // Private accesses take no part in synchronisation; only what nobody writes may be private.
                if used.written || d.may_alias || used.coherent || used.volatile {
                    access = MemoryAccess::NON_PRIVATE_POINTER;
                }
            } else if used.coherent {
                self.w.decorate(var, Decoration::Coherent);
            }
            if self.options.names {
                self.w.name(var, kernel.name_of(d.name));
            }
            if self.options.version >= Version::V1_4 {
                self.s.interface.push(var);
            }
            let object = Object {
                var,
                pointer: self.w.pointer(StorageClass::StorageBuffer, elem_id),
                elem: d.elem,
                elem_id,
                form,
                member: self.w.u32(0),
                access: access.bits(),
                plain: access.is_empty() && form == Form::Same && self.unchecked(),
                length: Length::Buffer,
                member_of_length: length,
                counted: 0,
            };
            self.s.objects.buffers.push(object);
            length += u32::from(self.counts(used));
        }
        Ok(())
    }

    fn unchecked(&self) -> bool {
        self.options.bounds == Bounds::Unchecked
    }

    /// A memory object, declared by now.
    #[inline]
    pub(super) fn object(&mut self, word: u32) -> Object {
        match self.s.objects.get(word) {
            Some(object) if object.var != 0 => *object,
            _ => self.declare_array(word),
        }
    }

    #[cold]
    fn declare_array(&mut self, word: u32) -> Object {
        match Mem::from_word(word) {
            Some(Mem::Shared(n)) => self.declare_shared(n),
            Some(Mem::Private(n)) => self.declare_private(n),
            Some(Mem::Table(n)) => self.declare_table(n),
            // The verifier saw that a buffer is there, and that it is used.
            Some(Mem::Buffer(_)) | None => Object::NONE,
        }
    }

    pub(super) fn shared_len(&self, len: SharedLen) -> u32 {
        match len {
            SharedLen::Static(n) => n,
            SharedLen::Dynamic => self.options.dynamic_shared_len.unwrap_or(0),
        }
    }

    fn declare_shared(&mut self, n: u32) -> Object {
        let kernel = self.kernel;
        let Some(d) = kernel.shared().get(n as usize) else {
            return Object::NONE;
        };
        let as_bits = self.as_bits(d.elem, self.s.objects.shared_uses.get(n as usize));
        let (elem_id, form) = self.array_elem(d.elem, as_bits);
        let len = self.shared_len(d.len);
        let array = self.w.array(elem_id, len);
        let pointer = self.w.pointer(StorageClass::Workgroup, array);
        let zero = d.zeroed && self.options.zero_shared == ZeroShared::Initializer;
        let zero = zero.then(|| self.w.null(array));
        let var = self.w.variable(StorageClass::Workgroup, pointer, zero);
        if self.options.names {
            self.w.name(var, kernel.name_of(d.name));
        }
        if self.options.version >= Version::V1_4 {
            self.s.interface.push(var);
        }
        let access = if self.vulkan {
            MemoryAccess::NON_PRIVATE_POINTER
        } else {
            MemoryAccess::NONE
        };
        let object = Object {
            var,
            pointer: self.w.pointer(StorageClass::Workgroup, elem_id),
            elem: d.elem,
            elem_id,
            form,
            access: access.bits(),
            plain: access.is_empty() && form == Form::Same && self.unchecked(),
            length: Length::Known(len),
            ..Object::NONE
        };
        if let Some(slot) = self.s.objects.shared.get_mut(n as usize) {
            *slot = object;
        }
        object
    }

    fn declare_private(&mut self, n: u32) -> Object {
        let kernel = self.kernel;
        let Some(d) = kernel.private().get(n as usize) else {
            return Object::NONE;
        };
        let elem_id = self.w.ty(d.elem);
        let array = self.w.array(elem_id, d.len);
        let var = self.local(array);
        if self.options.names {
            self.w.name(var, kernel.name_of(d.name));
        }
        let object = Object {
            var,
            pointer: self.w.pointer(StorageClass::Function, elem_id),
            elem: d.elem,
            elem_id,
            plain: self.unchecked(),
            length: Length::Known(d.len),
            ..Object::NONE
        };
        if let Some(slot) = self.s.objects.private.get_mut(n as usize) {
            *slot = object;
        }
        object
    }

    /// A variable of the function, in its first block whatever block is being written.
    pub(super) fn local(&mut self, ty: u32) -> u32 {
        self.locals += 1;
        if self.locals > MAX_LOCALS {
            self.fail(Error::Universal {
                kernel: self.number,
                what: "variables",
                needed: u64::from(self.locals),
                available: u64::from(MAX_LOCALS),
            });
        }
        let pointer = self.w.pointer(StorageClass::Function, ty);
        let var = self.w.id();
        self.w.locals.extend_from_slice(&[
            head(S::Variable, 4),
            pointer,
            var,
            StorageClass::Function as u32,
        ]);
        var
    }

    /// Writes the entry point and its execution modes.
    pub(super) fn finish(&mut self) {
        let name = self.kernel.name();
        let words = 3 + string_words(name) + self.s.interface.len();
        // `begin` checked that the words of the instruction fit.
        self.w.entries.extend_from_slice(&[
            head(S::EntryPoint, words as u32),
            ExecutionModel::GLCompute as u32,
            self.function,
        ]);
        push_string(&mut self.w.entries, name);
        self.w.entries.extend_from_slice(&self.s.interface);
        let [x, y, z] = self.kernel.workgroup_size();
        self.w.modes.extend_from_slice(&[
            head(S::ExecutionMode, 6),
            self.function,
            ExecutionMode::LocalSize as u32,
            x,
            y,
            z,
        ]);
        if self.options.names {
            self.w.name(self.function, name);
        }
        if self.strict {
            let uses = self.kernel.uses();
            let widths = [
                (16, uses.has(Uses::F16)),
                (32, uses.has(Uses::F32) || uses.has(Uses::BF16)),
                (64, uses.has(Uses::F64)),
            ];
            for (width, used) in widths {
                if used || self.floats & width != 0 {
                    self.float_controls(width);
                }
            }
        }
    }

    fn float_controls(&mut self, width: u32) {
        let mut mode = |mode: ExecutionMode, needs: u32| {
            self.w.caps |= needs;
            self.w.modes.extend_from_slice(&[
                head(S::ExecutionMode, 4),
                self.function,
                mode as u32,
                width,
            ]);
        };
        mode(ExecutionMode::RoundingModeRTE, cap::ROUNDING_MODE_RTE);
        mode(
            ExecutionMode::SignedZeroInfNanPreserve,
            cap::SIGNED_ZERO_INF_NAN_PRESERVE,
        );
        if self.options.denorm_preserve & width != 0 {
            mode(ExecutionMode::DenormPreserve, cap::DENORM_PRESERVE);
        }
    }
}
