//! Buffers, scalars, shared and private arrays, and what an entry point says of itself.

use super::body::Body;
use super::builtins::Builtin;
use super::error::Error;
use super::options::{FloatAtomics, Lengths, Overflow, Version, ZeroShared};
use super::sections::{cap, head, push_string, string_words};
use crate::kernel::{Inst, Mem, SharedLen, Uses, push_constant_slot};
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

/// A memory object in the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// Its variable; 0 until it is declared.
    pub var: u32,
    /// The type of a pointer to an element.
    pub pointer: u32,
    /// The type of an element as it is declared.
    pub elem: Type,
    /// The constant 0 that selects a block's only member; 0 for what is no block.
    pub member: u32,
    /// Memory operands of every access.
    pub access: u32,
    /// Loads and stores need no memory operands and no cast: see [`super::plain`].
    pub plain: bool,
    /// Floats are kept as their bits, so that compare-exchange can act on them.
    pub as_bits: bool,
    /// The member of the block of scalars that holds its length.
    pub length: u32,
}

impl Object {
    /// Not declared.
    pub const NONE: Object = Object {
        var: 0,
        pointer: 0,
        elem: Type::NONE,
        member: 0,
        access: 0,
        plain: false,
        as_bits: false,
        length: 0,
    };
}

/// The memory objects of a kernel, by kind and number.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub buffers: Vec<Object>,
    pub shared: Vec<Object>,
    pub private: Vec<Object>,
}

impl Objects {
    pub(super) fn clear(&mut self) {
        let Objects {
            buffers,
            shared,
            private,
        } = self;
        for objects in [buffers, shared, private] {
            objects.clear();
        }
    }

    /// The object of an operand word.
    #[inline(always)]
    fn get(&self, word: u32) -> Option<&Object> {
        match Mem::from_word(word)? {
            Mem::Buffer(n) => self.buffers.get(n as usize),
            Mem::Shared(n) => self.shared.get(n as usize),
            Mem::Private(n) => self.private.get(n as usize),
        }
    }

    /// The object, if it is declared and plain.
    #[inline(always)]
    pub(super) fn plain(&self, word: u32) -> Option<&Object> {
        self.get(word).filter(|object| object.plain)
    }
}

/// The block of scalars.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalars {
    pub var: u32,
    pub class: StorageClass,
}

/// The type in which a scalar of type `ty` travels: narrow ones widened to 32 bits.
pub(super) fn carrier(ty: Type) -> Type {
    match ty.scalar() {
        Some(Scalar::Bool | Scalar::U8 | Scalar::U16 | Scalar::F16 | Scalar::BF16) => Type::U32,
        Some(Scalar::I8 | Scalar::I16) => Type::I32,
        Some(Scalar::I32 | Scalar::I64 | Scalar::U32 | Scalar::U64 | Scalar::F32 | Scalar::F64)
        | None => ty,
    }
}

impl Body<'_> {
    /// Checks the limits, declares what must stand first, and begins the function.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        self.check_limits()?;
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
        if self.options.zero_shared == ZeroShared::Loop {
            self.zero_shared();
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), Error> {
        let limits = &self.options.limits;
        limits.check(self.kernel).map_err(|e| self.limit(e))?;
        let mut shared = self.kernel.static_shared_bytes().map_or(1 << 32, u64::from);
        for (array, d) in (0u32..).zip(self.kernel.shared()) {
            if d.len == SharedLen::Dynamic {
                let len = self.options.dynamic_shared_len.unwrap_or(0);
                if len == 0 {
                    return Err(Error::DynamicLength {
                        kernel: self.number,
                        array,
                    });
                }
                shared = shared.next_multiple_of(16) + u64::from(len) * u64::from(d.elem.bytes());
            }
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
        // Beside the buffers: shared arrays, built-ins, the scalars.
        let globals = buffers + self.kernel.shared().len() as u64 + 9;
        self.universal("buffers and shared arrays", globals, MAX_GLOBALS)?;
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
    fn scalars_size(&self) -> (u64, u64) {
        let mut end = 0;
        for d in self.kernel.scalars() {
            if let Some(ty) = d.ty.scalar() {
                end = push_constant_slot(end, ty).1;
            }
        }
        let mut members = self.kernel.scalars().len() as u64;
        if self.options.lengths == Lengths::HostFilled {
            for _ in self.kernel.buffer_uses().iter().filter(|u| u.length) {
                end = push_constant_slot(end, Scalar::U32).1;
                members += 1;
            }
        }
        (end, members)
    }

    fn set(&self, set: u32) -> Result<u32, Error> {
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
            let as_bits = d.elem == Type::F32
                && used.atomic
                && self.options.float_atomics == FloatAtomics::CompareExchange;
            let elem = if as_bits { Type::U32 } else { d.elem };
            let block = self.w.block(elem);
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
            let elem_id = self.w.ty(elem);
            let object = Object {
                var,
                pointer: self.w.pointer(StorageClass::StorageBuffer, elem_id),
                elem,
                member: self.w.u32(0),
                access: access.bits(),
                plain: access.is_empty() && !as_bits,
                as_bits,
                length,
            };
            self.s.objects.buffers.push(object);
            length += u32::from(used.length);
        }
        Ok(())
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
            // The verifier saw that a buffer is there, and that it is used.
            Some(Mem::Buffer(_)) | None => Object::NONE,
        }
    }

    fn shared_len(&self, len: SharedLen) -> u32 {
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
        let atomics =
            kernel.uses().has(Uses::ATOMIC_32) || kernel.uses().has(Uses::ATOMIC_F32_ADD_SHARED);
        let as_bits = d.elem == Type::F32
            && atomics
            && self.options.float_atomics == FloatAtomics::CompareExchange;
        let elem = if as_bits { Type::U32 } else { d.elem };
        let elem_id = self.w.ty(elem);
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
            elem,
            member: 0,
            access: access.bits(),
            plain: access.is_empty() && !as_bits,
            as_bits,
            length: 0,
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
            plain: true,
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

    pub(super) fn param(&mut self, inst: &Inst) -> u32 {
        let carried = carrier(inst.ty);
        let value = self.scalar(inst.a, carried);
        if inst.ty == Type::BOOL {
            let (ty, zero) = (self.w.ty(Type::BOOL), self.w.u32(0));
            return self.w.op2(S::INotEqual, ty, value, zero);
        }
        value
    }

    /// Reads a member of the block of scalars.
    pub(super) fn scalar(&mut self, member: u32, ty: Type) -> u32 {
        let block = match self.scalars {
            Some(block) => block,
            None => self.declare_scalars(),
        };
        let (id, member) = (self.w.ty(ty), self.w.u32(member));
        let pointer = self.w.pointer(block.class, id);
        let chain = self.w.op2(S::AccessChain, pointer, block.var, member);
        self.w.op1(S::Load, id, chain)
    }

    #[cold]
    fn declare_scalars(&mut self) -> Scalars {
        let kernel = self.kernel;
        let (bytes, members) = self.scalars_size();
        for d in kernel.scalars() {
            self.w.ty(carrier(d.ty));
        }
        let hidden = members - kernel.scalars().len() as u64;
        let u32_ty = if hidden > 0 { self.w.ty(Type::U32) } else { 0 };
        let block = self.w.id();
        // `begin` checked the number of members.
        self.w
            .globals
            .extend_from_slice(&[head(S::TypeStruct, 2 + members as u32), block]);
        let mut end = 0;
        for (member, d) in (0u32..).zip(kernel.scalars()) {
            let id = self.w.ty(carrier(d.ty));
            self.w.globals.push(id);
            if let Some(ty) = d.ty.scalar() {
                let (offset, next) = push_constant_slot(end, ty);
                // Offsets stay below 16 bytes a member, and members below 2^14.
                self.w.member_offset(block, member, offset as u32);
                end = next;
            }
            if self.options.names {
                self.w.member_name(block, member, kernel.name_of(d.name));
            }
        }
        for member in (kernel.scalars().len() as u32..).take(hidden as usize) {
            self.w.globals.push(u32_ty);
            let (offset, next) = push_constant_slot(end, Scalar::U32);
            self.w.member_offset(block, member, offset as u32);
            end = next;
        }
        self.w.decorate(block, Decoration::Block);
        let fits = bytes <= u64::from(self.options.limits.push_constant_bytes);
        let scalars = match self.options.overflow {
            Overflow::Uniform { set, binding } if !fits => self.uniform_block(block, set, binding),
            Overflow::Uniform { .. } | Overflow::Error => {
                let class = StorageClass::PushConstant;
                let pointer = self.w.pointer(class, block);
                let var = self.w.variable(class, pointer, None);
                Scalars { var, class }
            }
        };
        if self.options.version >= Version::V1_4 {
            self.s.interface.push(scalars.var);
        }
        self.scalars = Some(scalars);
        scalars
    }

    fn uniform_block(&mut self, block: u32, set: u32, binding: u32) -> Scalars {
        let taken = |d: &crate::kernel::BufferDecl| d.set == set && d.binding == binding;
        if let Some(buffer) = self.kernel.buffers().iter().position(taken) {
            self.fail(Error::Binding {
                kernel: self.number,
                set,
                binding,
                // Fewer than 2^28 buffers.
                buffer: buffer as u32,
            });
        }
        let set = self.set(set).unwrap_or_else(|error| {
            self.fail(error);
            0
        });
        let class = StorageClass::Uniform;
        let pointer = self.w.pointer(class, block);
        let var = self.w.variable(class, pointer, None);
        self.w.decorate_with(var, Decoration::DescriptorSet, set);
        self.w.decorate_with(var, Decoration::Binding, binding);
        Scalars { var, class }
    }

    /// Fills the zeroed shared arrays, each thread its share, and waits.
    fn zero_shared(&mut self) {
        let kernel = self.kernel;
        let mut any = false;
        for (n, d) in (0u32..).zip(kernel.shared()) {
            if !d.zeroed {
                continue;
            }
            any = true;
            let object = self.object(Mem::Shared(n).word());
            let len = self.shared_len(d.len);
            let elem = self.w.ty(object.elem);
            let zero = self.w.null(elem);
            self.zero_loop(&object, len, zero);
        }
        if any {
            self.workgroup_barrier();
        }
    }

    fn zero_loop(&mut self, object: &Object, len: u32, zero: u32) {
        let first = self.read(Builtin::LocalIndex);
        // Below 2^31, so that the sum below does not wrap: arrays have fewer than 2^30 elements of 4 bytes.
        let step = self.kernel.workgroup_threads().min(1 << 31);
        let (step, len) = (self.w.u32(step), self.w.u32(len));
        let (u32_ty, bool_ty) = (self.w.ty(Type::U32), self.w.ty(Type::BOOL));
        let before = self.label;
        let [header, body, continue_, merge, next] = core::array::from_fn(|_| self.w.id());
        self.w.branch(header);
        self.w.label(header);
        let at = self.w.op4(S::Phi, u32_ty, [first, before, next, continue_]);
        let inside = self.w.op2(S::ULessThan, bool_ty, at, len);
        self.w.loop_merge(merge, continue_);
        self.w
            .body
            .extend_from_slice(&[head(S::BranchConditional, 4), inside, body, merge]);
        self.w.label(body);
        let pointer = self.w.op2(S::AccessChain, object.pointer, object.var, at);
        self.store_to(pointer, zero, object.access, false);
        self.w.branch(continue_);
        self.w.label(continue_);
        self.w
            .body
            .extend_from_slice(&[head(S::IAdd, 5), u32_ty, next, at, step]);
        self.w.branch(header);
        self.start(merge);
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
            if uses.has(Uses::F32) {
                self.float_controls(32);
            }
            if uses.has(Uses::F64) || self.wide {
                self.float_controls(64);
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
