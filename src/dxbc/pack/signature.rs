//! The interface of one of kernite's own kernels.
#![forbid(unsafe_code)]

use super::{ComputeInterface, PushConstantHome, PushConstants, ResourceBinding};
use crate::{
    dxbc::{InterfaceRule, PackError, part::FeatureFlags},
    kernel::{DeviceFeature, ParameterKind, Signature},
    types::{Scalar, Type},
};

/// What HLSL calls a kernel's buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum BufferShape {
    /// `StructuredBuffer<T>` and `RWStructuredBuffer<T>`.
    #[default]
    Structured,
    /// `ByteAddressBuffer` and `RWByteAddressBuffer`.
    Raw,
}

/// What a [`Signature`] leaves open of the interface that a compiled shader has: see
/// [`ComputeInterface::from_signature`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SignatureMapping {
    /// Name of the entry function in the bitcode; `None` for the kernel's own name.
    pub entry: Option<String>,
    /// What the buffers are, all of them.
    pub buffers: BufferShape,
    /// Where scalars and buffer lengths live.
    pub scalars: PushConstantHome,
    /// Register space of the `b` register that holds them.
    pub scalars_set: u32,
    /// The `b` register that holds them.
    pub scalars_binding: u32,
}

impl ComputeInterface {
    /// The interface that HLSL of the same meaning has:
    ///
    /// - a buffer's descriptor set is its register space and its binding its register: of the `t`
    ///   registers (an SRV) if the kernel only reads it, else of the `u` registers (a UAV). A
    ///   buffer that the body leaves alone is left out, since DXC leaves it out too
    /// - the scalars are one constant buffer in the layout of the SPIR-V push constants, which is
    ///   also that of a `cbuffer`: each at its natural alignment, at least 32 bits wide. After
    ///   them comes, as a `uint` each, the length of every buffer whose length the body asks for:
    ///   root descriptors know none. A shader with `GetDimensions` needs descriptor tables
    ///   ([`PackRootSignature`](super::PackRootSignature)) and its own `push_constants`
    /// - workgroup size and static shared memory are the kernel's. `PSV0` version 4 holds DXC's
    ///   own count of group-shared bytes, which has no padding between arrays; correct
    ///   [`group_shared_bytes`](Self::group_shared_bytes) where it differs
    /// - features: `WaveOps` for subgroup operations (Direct3D packs full waves of its own
    ///   accord; a lane count is demanded by [`wave_lanes`](Self::wave_lanes)), `Int64Ops`,
    ///   `Doubles`, `AtomicInt64OnGroupShared`, and `NativeLowPrecision` for structured buffers
    ///   of 16-bit elements. What depends on how the HLSL is written (`11_1_DoubleExtensions`,
    ///   16-bit arithmetic) is the caller's to add to [`features`](Self::features)
    ///
    /// An SRV and a UAV of one launch are different resources in Direct3D, so that a read-only
    /// buffer which [may alias](crate::kernel::ParameterKind::Buffer) may overlap only others
    /// that are read.
    ///
    /// ```
    /// use kernite::builder::KernelBuilder;
    /// use kernite::dxbc::{ComputeInterface, ResourceBinding, SignatureMapping};
    /// use kernite::types::{Access, Type};
    /// let mut k = KernelBuilder::new("double", [64, 1, 1]);
    /// let x = k.buffer("x", Type::F32, Access::Read);
    /// let y = k.buffer("y", Type::F32, Access::Write);
    /// let i = k.global_id(0);
    /// let v = k.load(x, i);
    /// let v = k.add(v, v);
    /// k.store(y, i, v);
    /// let signature = k.finish()?.signature();
    ///
    /// let interface = ComputeInterface::from_signature(&signature, &SignatureMapping::default())?;
    /// assert_eq!(interface.entry, "double");
    /// assert_eq!(interface.resources, [
    ///     ResourceBinding::structured(false, 0, 0), // x: t0
    ///     ResourceBinding::structured(true, 0, 1),  // y: u1
    /// ]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - [`PackError::Unsupported`]: shared memory sized at the launch, which Direct3D does not have
    /// - [`PackError::Interface`]: elements that HLSL has no type for
    ///   ([`InterfaceRule::ElementType`], `value` is the parameter's number), and whatever
    ///   [`validate`](Self::validate) finds in the result
    pub fn from_signature(
        signature: &Signature,
        mapping: &SignatureMapping,
    ) -> Result<Self, PackError> {
        if signature.dynamic_shared.is_some() {
            return Err(PackError::Unsupported {
                what: "shared memory sized at the launch",
                why: "group-shared memory has its size in the shader, and no Direct3D dispatch states another",
            });
        }
        let entry = mapping.entry.as_ref().unwrap_or(&signature.name);
        let mut k = Self::new(entry.clone(), signature.workgroup_size);
        k.group_shared_bytes = signature.static_shared_bytes;
        k.features = features(signature);
        for (param, value) in signature.params.iter().zip(0..) {
            let ParameterKind::Buffer {
                elem,
                access,
                set,
                binding,
                used,
                ..
            } = param.kind
            else {
                continue;
            };
            if !used.any() {
                continue;
            }
            let writable = access.writes();
            let mut resource = match mapping.buffers {
                BufferShape::Raw => ResourceBinding::raw(writable, set, binding),
                BufferShape::Structured => {
                    let Some(needed) = element_features(elem) else {
                        return Err(PackError::Interface {
                            field: "resources",
                            value,
                            why: InterfaceRule::ElementType,
                        });
                    };
                    k.features = k.features | needed;
                    ResourceBinding::structured(writable, set, binding)
                }
            };
            // Wide float atomics are loops of integer ones in HLSL.
            resource.used_by_atomic64 = used.atomic && elem.bytes() == 8;
            k.resources.push(resource);
        }
        let bytes = signature.push_constant_bytes_with_lengths;
        if bytes > 0 {
            k.push_constants = Some(PushConstants {
                // Too many for `u32` are too many for `validate`.
                words: u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX),
                home: mapping.scalars,
                set: mapping.scalars_set,
                binding: mapping.scalars_binding,
            });
        }
        k.validate()?;
        Ok(k)
    }
}

/// What a structured buffer of such elements needs; `None` where HLSL has no such type.
fn element_features(elem: Type) -> Option<FeatureFlags> {
    match elem.scalar()? {
        Scalar::I16 | Scalar::U16 | Scalar::F16 => Some(FeatureFlags::NATIVE_LOW_PRECISION),
        Scalar::I32 | Scalar::U32 | Scalar::F32 => Some(FeatureFlags::default()),
        // Loads and stores of them are pairs of 32-bit ones; what computes with them is in the
        // signature's own features.
        Scalar::I64 | Scalar::U64 | Scalar::F64 => Some(FeatureFlags::default()),
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::BF16 => None,
    }
}

fn features(signature: &Signature) -> FeatureFlags {
    let subgroups = match signature.full_subgroups {
        true => FeatureFlags::WAVE_OPS,
        false => FeatureFlags::default(),
    };
    let flags = signature.features.iter().map(|feature| match feature {
        DeviceFeature::ShaderInt64 => FeatureFlags::INT64_OPS,
        DeviceFeature::ShaderFloat64 => FeatureFlags::DOUBLES,
        DeviceFeature::ShaderSharedInt64Atomics => FeatureFlags::ATOMIC_INT64_ON_GROUP_SHARED,
        DeviceFeature::ComputeFullSubgroups => FeatureFlags::WAVE_OPS,
        // On raw and structured buffers 64-bit atomics are part of `Int64Ops`; float atomics are
        // loops in HLSL, and zeroing is code.
        DeviceFeature::ShaderBufferInt64Atomics => FeatureFlags::INT64_OPS,
        DeviceFeature::ShaderBufferFloat32AtomicAdd
        | DeviceFeature::ShaderSharedFloat32AtomicAdd
        | DeviceFeature::ShaderZeroInitializeWorkgroupMemory => FeatureFlags::default(),
        // HLSL's 16-bit types are native or not at all (`-enable-16bit-types`); bytes and bf16 it has none.
        DeviceFeature::StorageBuffer16BitAccess
        | DeviceFeature::ShaderInt16
        | DeviceFeature::ShaderFloat16 => FeatureFlags::NATIVE_LOW_PRECISION,
        DeviceFeature::ShaderSubgroupExtendedTypes => FeatureFlags::INT64_OPS,
        // Packed dot products and a required wave size have no flag: shader model 6.4 and 6.6 have them.
        DeviceFeature::StorageBuffer8BitAccess
        | DeviceFeature::ShaderInt8
        | DeviceFeature::ShaderBufferFloat32Atomics
        | DeviceFeature::ShaderSharedFloat32Atomics
        | DeviceFeature::ShaderIntegerDotProduct
        | DeviceFeature::SubgroupSizeControl => FeatureFlags::default(),
    });
    flags.fold(subgroups, |all, f| all | f)
}
