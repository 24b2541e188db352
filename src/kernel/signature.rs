//! What a runtime must know to launch a kernel: the one description that all of them read.

use super::{BufferUse, Inst, Kernel, Mem, ParamRef, SharedLen, Uses};
use crate::op::{Op, Operand};
use crate::types::{Access, Scalar, Type};
use core::fmt;

/// The interface of a kernel.
///
/// It holds everything for a CUDA argument list and for a Vulkan descriptor-set and pipeline layout. Offsets follow the
/// layouts that the emitters write: PTX parameters one after the other at their natural alignment, SPIR-V push constants
/// by std430 with types narrower than 32 bits (and `bool`) widened to 32.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Signature {
    /// The kernel's name as given.
    pub name: String,
    /// Threads of a workgroup along x, y, z.
    pub workgroup_size: [u32; 3],
    /// The parameters, in order.
    pub params: Vec<Parameter>,
    /// What the emitter was asked to do with accesses out of bounds.
    pub bounds: Bounds,
    /// Buffers whose length the body asks for or, with checked bounds, that it uses at all, by number. In PTX each becomes
    /// a hidden `.param .u64` behind the declared parameters, in this order; in SPIR-V only where lengths are host-filled:
    /// a `uint` each behind the scalars.
    pub lengths: Vec<Length>,
    /// Bytes of the PTX parameters, hidden ones included.
    pub ptx_param_bytes: u64,
    /// Bytes of the push-constant block, without host-filled lengths: 0 when there are no scalars.
    pub push_constant_bytes: u64,
    /// Bytes of the push-constant block with host-filled lengths.
    pub push_constant_bytes_with_lengths: u64,
    /// Bytes of static shared memory, each array at a multiple of 16; saturated where they pass 2^32.
    pub static_shared_bytes: u32,
    /// The element type of the dynamic shared array, if there is one.
    pub dynamic_shared: Option<Type>,
    /// Whether the device must run full subgroups (Vulkan `REQUIRE_FULL_SUBGROUPS`; CUDA always does). Vulkan allows that
    /// flag only where the workgroup's x is a multiple of the subgroup size; without it the driver may place threads as it
    /// likes, and `lane` need not be the local index modulo the subgroup size.
    pub full_subgroups: bool,
    /// The subgroup size that the kernel requires, if it does: what a Vulkan pipeline asks for with
    /// `VkPipelineShaderStageRequiredSubgroupSizeCreateInfo`. CUDA has 32 only.
    pub required_subgroup_size: Option<u32>,
    /// Whether a value was promised to be uniform: the launch cannot be safe then.
    pub assumes_uniform: bool,
    /// Device features that the SPIR-V needs with the emitter's default options.
    pub features: Vec<DeviceFeature>,
}

/// What an access outside of its array does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Bounds {
    /// Anything: the caller promises that there is none.
    #[default]
    Unchecked,
    /// Loads give zero; stores and atomics do nothing. Offsets are included. Buffers' lengths become hidden parameters
    /// where the target has no other way to know them.
    Checked,
}

/// A parameter of a [`Signature`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name; may be empty.
    pub name: String,
    /// Its offset among the PTX parameters.
    pub ptx_offset: u64,
    /// What it is.
    pub kind: ParameterKind,
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ParameterKind {
    /// An array in device memory: a pointer in PTX, a storage buffer in SPIR-V.
    Buffer {
        /// Type of an element; its size is the alignment that the launch checks.
        elem: Type,
        /// How the kernel uses it.
        access: Access,
        /// Whether it may overlap others that say so.
        may_alias: bool,
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
        /// What the body does with it.
        used: BufferUse,
    },
    /// A scalar: by value in PTX, in the push-constant block in SPIR-V.
    Scalar {
        /// Its type.
        ty: Scalar,
        /// Its offset in the push-constant block.
        push_constant_offset: u64,
    },
}

/// A buffer length that the body asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Length {
    /// The buffer's number.
    pub buffer: u32,
    /// Offset of the hidden `.param .u64`.
    pub ptx_offset: u64,
    /// Offset of the `uint` in the push-constant block where lengths are host-filled.
    pub push_constant_offset: u64,
}

/// A Vulkan device feature that a kernel needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum DeviceFeature {
    /// 64-bit integers.
    ShaderInt64,
    /// 64-bit floats.
    ShaderFloat64,
    /// 64-bit integer atomics on buffers.
    ShaderBufferInt64Atomics,
    /// 64-bit integer atomics on shared memory.
    ShaderSharedInt64Atomics,
    /// f32 atomic add on buffers.
    ShaderBufferFloat32AtomicAdd,
    /// f32 atomic add on shared memory.
    ShaderSharedFloat32AtomicAdd,
    /// Shared memory that is zero at the start.
    ShaderZeroInitializeWorkgroupMemory,
    /// Full subgroups in compute.
    ComputeFullSubgroups,
    /// 8-bit elements of storage buffers.
    StorageBuffer8BitAccess,
    /// 16-bit elements of storage buffers.
    StorageBuffer16BitAccess,
    /// 8-bit integers in shaders. The emitter computes in 32 bits and keeps elements of shared, private and constant
    /// arrays so, and never asks for it.
    ShaderInt8,
    /// 16-bit integers in shaders. The emitter computes in 32 bits and keeps elements of shared, private and constant
    /// arrays so, and never asks for it.
    ShaderInt16,
    /// f16 arithmetic.
    ShaderFloat16,
    /// f32 atomic load, store and exchange on buffers.
    ShaderBufferFloat32Atomics,
    /// f32 atomic load, store and exchange on shared memory.
    ShaderSharedFloat32Atomics,
    /// Packed 8-bit dot products.
    ShaderIntegerDotProduct,
    /// Subgroup size control: the kernel requires a size.
    SubgroupSizeControl,
    /// Subgroup operations on 64-bit integers (reductions and scans; shuffles go in halves).
    ShaderSubgroupExtendedTypes,
}

impl DeviceFeature {
    /// The member of Vulkan's feature structures.
    pub const fn vulkan_name(self) -> &'static str {
        match self {
            DeviceFeature::ShaderInt64 => "shaderInt64",
            DeviceFeature::ShaderFloat64 => "shaderFloat64",
            DeviceFeature::ShaderBufferInt64Atomics => "shaderBufferInt64Atomics",
            DeviceFeature::ShaderSharedInt64Atomics => "shaderSharedInt64Atomics",
            DeviceFeature::ShaderBufferFloat32AtomicAdd => "shaderBufferFloat32AtomicAdd",
            DeviceFeature::ShaderSharedFloat32AtomicAdd => "shaderSharedFloat32AtomicAdd",
            DeviceFeature::ShaderZeroInitializeWorkgroupMemory => {
                "shaderZeroInitializeWorkgroupMemory"
            }
            DeviceFeature::ComputeFullSubgroups => "computeFullSubgroups",
            DeviceFeature::StorageBuffer8BitAccess => "storageBuffer8BitAccess",
            DeviceFeature::StorageBuffer16BitAccess => "storageBuffer16BitAccess",
            DeviceFeature::ShaderInt8 => "shaderInt8",
            DeviceFeature::ShaderInt16 => "shaderInt16",
            DeviceFeature::ShaderFloat16 => "shaderFloat16",
            DeviceFeature::ShaderBufferFloat32Atomics => "shaderBufferFloat32Atomics",
            DeviceFeature::ShaderSharedFloat32Atomics => "shaderSharedFloat32Atomics",
            DeviceFeature::ShaderIntegerDotProduct => "shaderIntegerDotProduct",
            DeviceFeature::SubgroupSizeControl => "subgroupSizeControl",
            DeviceFeature::ShaderSubgroupExtendedTypes => "shaderSubgroupExtendedTypes",
        }
    }
}

/// Where a scalar of this type goes behind `end` in a push-constant block: its offset and the end behind it.
pub(crate) fn push_constant_slot(end: u64, ty: Scalar) -> (u64, u64) {
    let size = u64::from(ty.bytes().max(4));
    // Offsets grow by at most 16 a parameter and there are fewer than 2^29, so this stays far below 2^64.
    let offset = end.next_multiple_of(size);
    (offset, offset + size)
}

/// The same for a PTX parameter of `size` bytes.
fn ptx_slot(end: u64, size: u64) -> (u64, u64) {
    let offset = end.next_multiple_of(size);
    (offset, offset + size)
}

impl Kernel {
    /// The kernel's interface where emitters are asked for unchecked bounds.
    pub fn signature(&self) -> Signature {
        self.signature_with(Bounds::Unchecked)
    }

    /// The kernel's interface where emitters are asked for these bounds.
    pub fn signature_with(&self, bounds: Bounds) -> Signature {
        let (mut ptx_end, mut push_end) = (0, 0);
        let mut params = Vec::with_capacity(self.params().len());
        for param in self.params() {
            let (name, size, kind) = match *param {
                ParamRef::Buffer(n) => {
                    let Some(d) = self.buffers().get(n as usize) else {
                        continue;
                    };
                    let used = self
                        .buffer_uses()
                        .get(n as usize)
                        .copied()
                        .unwrap_or_default();
                    let kind = ParameterKind::Buffer {
                        elem: d.elem,
                        access: d.access,
                        may_alias: d.may_alias,
                        set: d.set,
                        binding: d.binding,
                        used,
                    };
                    (d.name, 8, kind)
                }
                ParamRef::Scalar(n) => {
                    let Some(d) = self.scalars().get(n as usize) else {
                        continue;
                    };
                    // The verifier lets only scalars be scalar parameters.
                    let Some(ty) = d.ty.scalar() else { continue };
                    let (push_constant_offset, end) = push_constant_slot(push_end, ty);
                    push_end = end;
                    let kind = ParameterKind::Scalar {
                        ty,
                        push_constant_offset,
                    };
                    (d.name, u64::from(ty.bytes().max(1)), kind)
                }
            };
            let (ptx_offset, end) = ptx_slot(ptx_end, size);
            ptx_end = end;
            params.push(Parameter {
                name: self.name_of(name).into(),
                ptx_offset,
                kind,
            });
        }
        let push_constant_bytes = push_end;
        let mut lengths = Vec::new();
        for (buffer, _) in (0u32..)
            .zip(self.buffer_uses())
            .filter(|(_, used)| used.length || bounds == Bounds::Checked && used.any())
        {
            let (ptx_offset, end) = ptx_slot(ptx_end, 8);
            let (push_constant_offset, push) = push_constant_slot(push_end, Scalar::U32);
            (ptx_end, push_end) = (end, push);
            lengths.push(Length {
                buffer,
                ptx_offset,
                push_constant_offset,
            });
        }
        Signature {
            name: self.name().into(),
            workgroup_size: self.workgroup_size(),
            params,
            bounds,
            lengths,
            ptx_param_bytes: ptx_end,
            push_constant_bytes,
            push_constant_bytes_with_lengths: push_end,
            static_shared_bytes: self.static_shared_bytes().unwrap_or(u32::MAX),
            dynamic_shared: self
                .shared()
                .iter()
                .find(|d| d.len == SharedLen::Dynamic)
                .map(|d| d.elem),
            full_subgroups: self.uses().has(Uses::SUBGROUP),
            required_subgroup_size: self.required_subgroup_size(),
            assumes_uniform: self.uses().has(Uses::ASSUME_UNIFORM),
            features: self.features(),
        }
    }

    /// How the body uses each buffer and each shared array, by number; the lists are filled anew.
    pub(crate) fn array_uses(&self, buffers: &mut Vec<ArrayUse>, shared: &mut Vec<ArrayUse>) {
        buffers.clear();
        buffers.resize(self.buffers().len(), ArrayUse::default());
        shared.clear();
        shared.resize(self.shared().len(), ArrayUse::default());
        for inst in self.insts() {
            let first = inst.op.row().operands.first();
            if !matches!(first, Some(Operand::Mem | Operand::Buffer)) {
                continue;
            }
            let used = match Mem::from_word(inst.a) {
                Some(Mem::Buffer(n)) => buffers.get_mut(n as usize),
                Some(Mem::Shared(n)) => shared.get_mut(n as usize),
                Some(Mem::Private(_) | Mem::Table(_)) | None => None,
            };
            let Some(used) = used else { continue };
            used.accessed = true;
            match inst.op {
                Op::AtomicAdd => used.adds = true,
                Op::AtomicMin | Op::AtomicMax => used.min_max = true,
                Op::AtomicLoad | Op::AtomicStore | Op::AtomicExchange => used.moves = true,
                _ => {}
            }
        }
    }

    /// Whether the module has the feature's types and instructions where the emitter keeps its default options; some
    /// come from within an operation that is carried out by others.
    fn features(&self) -> Vec<DeviceFeature> {
        let uses = self.uses();
        let mut found = Found::default();
        for inst in self.insts() {
            found.look(self, inst);
        }
        let (mut buffers, mut shared) = (Vec::new(), Vec::new());
        self.array_uses(&mut buffers, &mut shared);
        let has = |types: [Type; 2]| types.into_iter().any(|t| found.types.contains(t));
        let elems = |bytes| {
            let used = self.buffers().iter().zip(self.buffer_uses());
            let mut elems = used.filter(|(_, used)| used.any()).map(|(d, _)| d.elem);
            elems.any(|e| e.scalar().is_some_and(|s| s.bytes() == bytes))
        };
        // Whether f32 arrays are added to natively, and whether something else is done atomically to those.
        let native = |elem: Type, u: &ArrayUse| elem == Type::F32 && u.adds && !u.min_max;
        let fold = |(_, moves), u: &ArrayUse| (true, moves || u.moves);
        let decls = self.buffers().iter().map(|d| d.elem).zip(&buffers);
        let (buffer_add, buffer_moves) = decls
            .filter_map(|(elem, u)| native(elem, u).then_some(u))
            .fold((false, false), fold);
        let decls = self.shared().iter().map(|d| d.elem).zip(&shared);
        let (shared_add, shared_moves) = decls
            .filter_map(|(elem, u)| native(elem, u).then_some(u))
            .fold((false, false), fold);
        let mut zeroed = self.shared().iter().zip(&shared);
        [
            (
                DeviceFeature::ShaderInt64,
                found.int64 || has([Type::I64, Type::U64]),
            ),
            (
                DeviceFeature::ShaderFloat64,
                found.float64 || has([Type::F64; 2]),
            ),
            (
                DeviceFeature::ShaderBufferInt64Atomics,
                uses.has(Uses::ATOMIC_64) || uses.has(Uses::ATOMIC_F64_ADD),
            ),
            (
                DeviceFeature::ShaderSharedInt64Atomics,
                uses.has(Uses::ATOMIC_64_SHARED) || uses.has(Uses::ATOMIC_F64_ADD_SHARED),
            ),
            (DeviceFeature::ShaderBufferFloat32AtomicAdd, buffer_add),
            (DeviceFeature::ShaderSharedFloat32AtomicAdd, shared_add),
            (
                DeviceFeature::ShaderZeroInitializeWorkgroupMemory,
                zeroed.any(|(d, used)| d.zeroed && used.accessed),
            ),
            (
                DeviceFeature::ComputeFullSubgroups,
                uses.has(Uses::SUBGROUP),
            ),
            (DeviceFeature::StorageBuffer8BitAccess, elems(1)),
            (DeviceFeature::StorageBuffer16BitAccess, elems(2)),
            (DeviceFeature::ShaderFloat16, has([Type::F16; 2])),
            (DeviceFeature::ShaderBufferFloat32Atomics, buffer_moves),
            (DeviceFeature::ShaderSharedFloat32Atomics, shared_moves),
            (DeviceFeature::ShaderIntegerDotProduct, uses.has(Uses::DOT4)),
            (
                DeviceFeature::SubgroupSizeControl,
                self.required_subgroup_size().is_some(),
            ),
            (DeviceFeature::ShaderSubgroupExtendedTypes, found.extended),
        ]
        .into_iter()
        .filter_map(|(feature, needed)| needed.then_some(feature))
        .collect()
    }
}

/// What a body does to a buffer or a shared array.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ArrayUse {
    pub accessed: bool,
    /// Atomic additions.
    pub adds: bool,
    /// Atomic minima and maxima.
    pub min_max: bool,
    /// Atomic loads, stores, exchanges.
    pub moves: bool,
}

/// What a body makes a module declare.
#[derive(Default)]
struct Found {
    /// Scalars, and those of vectors.
    types: ScalarSet,
    scalars: bool,
    /// 64-bit integers within an operation.
    int64: bool,
    /// f64 within an operation.
    float64: bool,
    extended: bool,
}

/// A set of scalars.
#[derive(Default)]
struct ScalarSet(u32);

impl ScalarSet {
    fn add(&mut self, ty: Type) {
        self.0 |= 1 << (ty.code() & 15);
    }

    fn contains(&self, ty: Type) -> bool {
        self.0 >> (ty.code() & 15) & 1 != 0
    }
}

impl Found {
    fn look(&mut self, kernel: &Kernel, inst: &Inst) {
        self.types.add(inst.ty);
        let first = inst.op.row().operands.first();
        if matches!(first, Some(Operand::Mem | Operand::Buffer)) {
            let elem = Mem::from_word(inst.a).and_then(|mem| kernel.draft().elem(mem));
            self.types.add(elem.unwrap_or(Type::NONE));
        }
        match inst.op {
            Op::Param if !self.scalars => {
                // One block holds them all.
                self.scalars = true;
                for d in kernel.scalars() {
                    self.types.add(carrier(d.ty));
                }
            }
            Op::Fma => self.float64 |= inst.ty == Type::BF16,
            op if op.has_recipe() => self.int64 |= inst.ty == Type::F64,
            Op::AtomicAdd => self.int64 |= inst.ty == Type::F64,
            Op::SubgroupAdd
            | Op::SubgroupMin
            | Op::SubgroupMax
            | Op::SubgroupAnd
            | Op::SubgroupOr
            | Op::SubgroupXor => {
                self.extended |= matches!(inst.ty, Type::I64 | Type::U64);
            }
            _ => {}
        }
    }
}

/// The type in which a scalar travels in the push-constant block of SPIR-V: narrow ones widened to 32 bits.
pub(crate) fn carrier(ty: Type) -> Type {
    match ty.scalar() {
        Some(Scalar::Bool | Scalar::U8 | Scalar::U16 | Scalar::F16 | Scalar::BF16) => Type::U32,
        Some(Scalar::I8 | Scalar::I16) => Type::I32,
        Some(Scalar::I32 | Scalar::I64 | Scalar::U32 | Scalar::U64 | Scalar::F32 | Scalar::F64)
        | None => ty,
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup_size;
        writeln!(f, "kernel {:?}, workgroup {x} x {y} x {z}", self.name)?;
        for (i, p) in self.params.iter().enumerate() {
            write!(f, "  {i}: ")?;
            match p.kind {
                ParameterKind::Buffer {
                    elem,
                    access,
                    may_alias,
                    set,
                    binding,
                    ..
                } => {
                    let alias = if may_alias { ", may alias" } else { "" };
                    write!(
                        f,
                        "buffer {:?} of {elem}, {access}{alias}, set {set} binding {binding}",
                        p.name
                    )?;
                }
                ParameterKind::Scalar {
                    ty,
                    push_constant_offset,
                } => {
                    write!(
                        f,
                        "scalar {:?} {ty}, push constant at {push_constant_offset}",
                        p.name
                    )?;
                }
            }
            writeln!(f, ", PTX offset {}", p.ptx_offset)?;
        }
        for l in &self.lengths {
            writeln!(
                f,
                "  hidden: length of buf{}, PTX offset {}",
                l.buffer, l.ptx_offset
            )?;
        }
        write!(f, "  shared: {} bytes", self.static_shared_bytes)?;
        if let Some(elem) = self.dynamic_shared {
            write!(f, " and a dynamic array of {elem}")?;
        }
        writeln!(
            f,
            "; push constants: {} bytes; PTX parameters: {} bytes",
            self.push_constant_bytes, self.ptx_param_bytes
        )?;
        for feature in &self.features {
            writeln!(f, "  needs {}", feature.vulkan_name())?;
        }
        Ok(())
    }
}
