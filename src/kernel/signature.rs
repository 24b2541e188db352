//! What a runtime must know to launch a kernel: the one description that all of them read.

use super::{BufferUse, Kernel, ParamRef, SharedLen, Uses};
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
    /// Buffers whose length the body asks for, by number. In PTX each becomes a hidden `.param .u64` behind the declared
    /// parameters, in this order; in SPIR-V only where lengths are host-filled: a `uint` each behind the scalars.
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
    /// Whether the device must run full subgroups (Vulkan `REQUIRE_FULL_SUBGROUPS`; CUDA always does).
    pub full_subgroups: bool,
    /// Whether a value was promised to be uniform: the launch cannot be safe then.
    pub assumes_uniform: bool,
    /// Device features that the SPIR-V needs with the emitter's default options.
    pub features: Vec<DeviceFeature>,
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
    /// The kernel's interface.
    pub fn signature(&self) -> Signature {
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
            .filter(|(_, used)| used.length)
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
            assumes_uniform: self.uses().has(Uses::ASSUME_UNIFORM),
            features: self.features(),
        }
    }

    fn features(&self) -> Vec<DeviceFeature> {
        // A buffer's or parameter's type counts even where the body leaves it alone: it is declared in the module.
        let declared = |wide: [Type; 2]| {
            let elems = self.buffers().iter().map(|d| d.elem);
            let elems = elems.chain(self.shared().iter().map(|d| d.elem));
            let mut types = elems
                .chain(self.private().iter().map(|d| d.elem))
                .chain(self.scalars().iter().map(|d| d.ty));
            types.any(|t| wide.contains(&t))
        };
        let uses = self.uses();
        [
            (
                DeviceFeature::ShaderInt64,
                uses.has(Uses::I64) || declared([Type::I64, Type::U64]),
            ),
            (
                DeviceFeature::ShaderFloat64,
                uses.has(Uses::F64) || declared([Type::F64; 2]),
            ),
            (
                DeviceFeature::ShaderBufferInt64Atomics,
                uses.has(Uses::ATOMIC_64),
            ),
            (
                DeviceFeature::ShaderSharedInt64Atomics,
                uses.has(Uses::ATOMIC_64_SHARED),
            ),
            (
                DeviceFeature::ShaderBufferFloat32AtomicAdd,
                uses.has(Uses::ATOMIC_F32_ADD),
            ),
            (
                DeviceFeature::ShaderSharedFloat32AtomicAdd,
                uses.has(Uses::ATOMIC_F32_ADD_SHARED),
            ),
            (
                DeviceFeature::ShaderZeroInitializeWorkgroupMemory,
                self.shared().iter().any(|d| d.zeroed),
            ),
            (
                DeviceFeature::ComputeFullSubgroups,
                uses.has(Uses::SUBGROUP),
            ),
        ]
        .into_iter()
        .filter_map(|(feature, needed)| needed.then_some(feature))
        .collect()
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
