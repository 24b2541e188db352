//! Buffers, scalars, shared and private arrays, and what an entry point says of itself.

use super::body::Body;
use super::error::Error;
use super::objects::{Form, Length, Object};
use super::options::{FloatAtomics, Lengths, Overflow, Version, ZeroShared};
use super::preamble::cap;
use super::section::string_words;
use super::sections::head;
use super::types::{Row, register};
use crate::kernel::{ArrayUse, Bounds, BufferDecl, BufferUse, Mem, SharedLen, Uses};
use crate::limits::{Limit, exceeds};
use crate::types::Type;
use spirv::{Decoration, ExecutionMode, MemoryAccess, Op as S, StorageClass};

/// Global variables of a module and variables of a function (SPIR-V section 2.17).
const MAX_GLOBALS: u64 = 65_535;
const MAX_LOCALS: u32 = 524_287;
/// Members of a structure.
const MAX_MEMBERS: u64 = 16_383;
/// Words of an instruction.
const MAX_WORDS: u64 = 65_535;

impl Body<'_> {
    /// Checks the limits, declares what must stand first, and begins the function.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        self.check_limits()?;
        if self.has_float_atomics() && self.has_float_arrays() {
            let objects = &mut self.s.objects;
            self.kernel
                .array_uses(&mut objects.buffer_uses, &mut objects.shared_uses);
        }
        self.s.objects.lay_out(self.kernel);
        self.declare_buffers()?;
        let [void, ty] = self.w.function_type();
        let (first, second) = (head(S::Function, 5), head(S::Label, 2));
        let (function, label) = (self.function, self.s.flow.label);
        self.w
            .locals
            .put([first, void, function, 0, ty, second, label]);
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

    /// Whether there are arrays that may hold them.
    fn has_float_arrays(&self) -> bool {
        let kernel = self.kernel;
        let buffers = kernel.buffers().iter().map(|d| d.elem);
        let mut elems = buffers.chain(kernel.shared().iter().map(|d| d.elem));
        elems.any(|elem| elem == Type::F32 || elem == Type::F64)
    }

    fn check_limits(&mut self) -> Result<(), Error> {
        self.scalars_size = self.measure_scalars();
        if self.fits() {
            return Ok(());
        }
        self.check_each_limit()
    }

    /// Whether it is certain that no limit is passed: true of nearly every kernel that passes none.
    fn fits(&self) -> bool {
        let (kernel, limits) = (self.kernel, &self.options.limits);
        let mut shared = 0u64;
        for d in kernel.shared() {
            // The same as below; one without a length passes every limit.
            let len = match self.shared_len(d.len) {
                0 => u32::MAX,
                len => len,
            };
            let bytes = u64::from(len) * u64::from(Row::of(register(d.elem)).bytes);
            shared = shared.saturating_add(bytes + 15);
        }
        let (bytes, members) = self.scalars_size;
        // Names have fewer than 4096 bytes.
        let objects = kernel.buffers().len() + kernel.shared().len();
        let [x, y, z] = kernel.workgroup_size();
        let [most_x, most_y, most_z] = limits.workgroup_size;
        (x <= most_x)
            & (y <= most_y)
            & (z <= most_z)
            & (kernel.workgroup_threads() <= limits.workgroup_threads)
            & (shared <= u64::from(limits.shared_bytes))
            & (bytes <= u64::from(limits.push_constant_bytes))
            & (members <= MAX_MEMBERS)
            & (objects < 60_000)
            & kernel.tables().is_empty()
    }

    #[cold]
    #[inline(never)]
    fn check_each_limit(&self) -> Result<(), Error> {
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
        let (bytes, members) = self.scalars_size;
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
    fn measure_scalars(&self) -> (u64, u64) {
        let mut end = 0u64;
        for d in self.kernel.scalars() {
            end = Row::of(d.ty).slot(end).1;
        }
        let mut members = self.kernel.scalars().len() as u64;
        if self.options.lengths == Lengths::HostFilled {
            for _ in self.kernel.buffer_uses().iter().filter(|u| self.counts(u)) {
                end = Row::of(Type::U32).slot(end).1;
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
    fn as_bits(&self, elem: Type, used: &ArrayUse) -> bool {
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

    #[cold]
    fn no_set(&self, set: u32) -> Error {
        Error::DescriptorSet {
            kernel: self.number,
            set,
            base: self.options.descriptor_set_base,
        }
    }

    #[inline(always)]
    pub(super) fn set(&self, set: u32) -> Result<u32, Error> {
        match set.checked_add(self.options.descriptor_set_base) {
            Some(set) => Ok(set),
            None => Err(self.no_set(set)),
        }
    }

    #[inline(never)]
    fn declare_buffers(&mut self) -> Result<(), Error> {
        let (kernel, options) = (self.kernel, self.options);
        let named = options.version >= Version::V1_4;
        let moved = !self.s.objects.buffer_uses.is_empty();
        let special = options.names | self.vulkan | (options.lengths == Lengths::HostFilled);
        let (mut elem, mut bits, mut block) = (Type::NONE, false, 0);
        let mut object = Object::NONE;
        // Fewer than 2^28 of them.
        object.member_of_length = kernel.scalars().len() as u32;
        let buffers = kernel.buffers().iter().zip(kernel.buffer_uses());
        for (number, (d, used)) in buffers.enumerate() {
            // Of all of them, used or not.
            let set = self.set(d.set)?;
            if !used.any() {
                continue;
            }
            let as_bits = moved && self.buffer_as_bits(number, d.elem);
            if (elem != d.elem) | (bits != as_bits) {
                (elem, bits) = (d.elem, as_bits);
                block = self.declare_block(elem, bits, &mut object);
            }
            let var = self.w.buffer(block, set, d.binding, d.access);
            object.var = var;
            if special | d.may_alias | used.coherent {
                self.declare_special(d, used, &mut object);
            }
            if named {
                self.s.interface.push(var);
            }
            if object.pointer == 0 {
                self.declare_element(&mut object);
            }
            self.s.objects.set_buffer(number, &object);
            if special {
                object.member_of_length += u32::from(self.counts(used));
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn buffer_as_bits(&self, number: usize, elem: Type) -> bool {
        let array_use = self.s.objects.buffer_uses.get(number);
        array_use.is_some_and(|array_use| self.as_bits(elem, array_use))
    }

    /// The type of a pointer to an element, and the constant that selects the block's member.
    #[inline(never)]
    fn declare_element(&mut self, object: &mut Object) {
        let class = StorageClass::StorageBuffer;
        object.pointer = self.w.pointer(class, object.elem_id);
        object.member = self.w.u32(0);
    }

    /// What few buffers have.
    #[cold]
    #[inline(never)]
    fn declare_special(&mut self, d: &BufferDecl, used: &BufferUse, object: &mut Object) {
        let var = object.var;
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
        object.access = access.bits();
        object.plain = self.is_plain(object);
        if self.options.names {
            self.w.name(var, self.kernel.name_of(d.name));
        }
    }

    /// Declares the block of such elements; gives the type of a pointer to it, and what all buffers of it share.
    #[inline(never)]
    fn declare_block(&mut self, elem: Type, as_bits: bool, object: &mut Object) -> u32 {
        let (elem_id, form) = if as_bits {
            self.array_elem(elem, true)
        } else {
            (self.w.stored(elem), Row::of(elem).form)
        };
        *object = Object {
            elem,
            elem_id,
            form,
            length: Length::Buffer,
            member_of_length: object.member_of_length,
            ..Object::NONE
        };
        object.plain = self.is_plain(object);
        self.w.block(elem, elem_id)
    }

    /// See [`Object::plain`].
    fn is_plain(&self, object: &Object) -> bool {
        (object.access == 0) & (object.form == Form::Same) & self.unchecked()
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
        let array_use = self.s.objects.shared_uses.get(n as usize);
        let as_bits = array_use.is_some_and(|array_use| self.as_bits(d.elem, array_use));
        let (elem_id, form) = self.array_elem(d.elem, as_bits);
        let len = self.shared_len(d.len);
        let array = self.w.array(elem_id, len);
        let pointer = self.w.pointer(StorageClass::Workgroup, array);
        let zero = d.zeroed && self.options.zero_shared == ZeroShared::Initializer;
        let var = if zero {
            let zero = self.w.null(array);
            self.w.initialized(StorageClass::Workgroup, pointer, zero)
        } else {
            self.w.variable(StorageClass::Workgroup, pointer)
        };
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
        self.s.objects.set(Mem::Shared(n), object);
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
        self.s.objects.set(Mem::Private(n), object);
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
        self.w.locals.put([
            head(S::Variable, 4),
            pointer,
            var,
            StorageClass::Function as u32,
        ]);
        var
    }

    /// Writes the entry point and its execution modes.
    #[inline(never)]
    pub(super) fn finish(&mut self) {
        let (kernel, function) = (self.kernel, self.function);
        let (w, interface) = (&mut *self.w, &self.s.interface);
        let size = kernel.workgroup_size();
        w.preamble
            .entry_point(function, kernel.name(), interface, size);
        if self.options.names {
            w.name(function, kernel.name());
        }
        if self.strict {
            let uses = kernel.uses();
            let mut widths = self.floats;
            if uses.has(Uses::F16) {
                widths |= 16;
            }
            if uses.has(Uses::F32) || uses.has(Uses::BF16) {
                widths |= 32;
            }
            if uses.has(Uses::F64) {
                widths |= 64;
            }
            // In this order.
            while widths != 0 {
                let width = 1 << widths.trailing_zeros();
                self.float_controls(width);
                widths &= widths - 1;
            }
        }
    }

    /// The execution modes of a float width.
    fn float_controls(&mut self, width: u32) {
        let mut words = 8;
        self.w.caps |= cap::ROUNDING_MODE_RTE | cap::SIGNED_ZERO_INF_NAN_PRESERVE;
        if self.options.denorm_preserve & width != 0 {
            self.w.caps |= cap::DENORM_PRESERVE;
            words = 12;
        }
        let (first, function) = (head(S::ExecutionMode, 4), self.function);
        let [to_even, zeros, denorms] = [
            ExecutionMode::RoundingModeRTE as u32,
            ExecutionMode::SignedZeroInfNanPreserve as u32,
            ExecutionMode::DenormPreserve as u32,
        ];
        self.w.preamble.modes(
            [
                first, function, to_even, width, first, function, zeros, width, first, function,
                denorms, width,
            ],
            words,
        );
    }
}
