//! What the packager has to know about a kernel.
#![forbid(unsafe_code)]

use crate::dxbc::{
    InterfaceRule, PackError,
    check::threads_fit,
    part::{
        FeatureFlags, PsvResource, PsvResourceExtension, ResourceKind, ResourceType, ShaderKind,
    },
};

/// A compute kernel as the runtime sees it.
///
/// A resource's descriptor set becomes its register space and its binding its register (HLSL's four
/// kinds of registers are separate, so that one number may serve a buffer and a sampler).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComputeInterface {
    /// Name of the entry function in the bitcode.
    pub entry: String,
    /// Threads of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Lane counts that the kernel can run with; `None` for any (`[WaveSize]`).
    pub wave_lanes: Option<WaveLanes>,
    /// Bytes of group-shared memory. Only `PSV0` version 4 has a field for it.
    pub group_shared_bytes: u32,
    /// What the kernel needs of the device.
    pub features: FeatureFlags,
    /// Resources, in the order of the bitcode's metadata within each class.
    pub resources: Vec<ResourceBinding>,
    /// Scalars handed over with the dispatch.
    pub push_constants: Option<PushConstants>,
}

/// Lane counts a kernel accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaveLanes {
    /// The least.
    pub min: u32,
    /// The most.
    pub max: u32,
}

/// A resource of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResourceBinding {
    /// Type: what may be done with it.
    pub ty: ResourceType,
    /// Kind: its shape. Stored from `PSV0` version 2 on.
    pub kind: ResourceKind,
    /// Descriptor set: the register space.
    pub set: u32,
    /// Binding: the first register.
    pub binding: u32,
    /// Number of registers, or [`UNBOUNDED`](Self::UNBOUNDED).
    pub count: u32,
    /// 64-bit atomics are used on it.
    pub used_by_atomic64: bool,
}

impl ResourceBinding {
    /// A `count` without end.
    pub const UNBOUNDED: u32 = u32::MAX;

    /// One register of any type.
    #[must_use]
    pub const fn new(ty: ResourceType, kind: ResourceKind, set: u32, binding: u32) -> Self {
        Self {
            ty,
            kind,
            set,
            binding,
            count: 1,
            used_by_atomic64: false,
        }
    }

    /// A structured buffer, `StructuredBuffer` or `RWStructuredBuffer`.
    #[must_use]
    pub const fn structured(writable: bool, set: u32, binding: u32) -> Self {
        let ty = if writable {
            ResourceType::UAV_STRUCTURED
        } else {
            ResourceType::SRV_STRUCTURED
        };
        Self::new(ty, ResourceKind::STRUCTURED_BUFFER, set, binding)
    }

    /// A buffer of bytes, `ByteAddressBuffer` or `RWByteAddressBuffer`.
    #[must_use]
    pub const fn raw(writable: bool, set: u32, binding: u32) -> Self {
        let ty = if writable {
            ResourceType::UAV_RAW
        } else {
            ResourceType::SRV_RAW
        };
        Self::new(ty, ResourceKind::RAW_BUFFER, set, binding)
    }

    /// A constant buffer.
    #[must_use]
    pub const fn constant_buffer(set: u32, binding: u32) -> Self {
        Self::new(ResourceType::CBV, ResourceKind::CBUFFER, set, binding)
    }

    /// A sampler.
    #[must_use]
    pub const fn sampler(set: u32, binding: u32) -> Self {
        Self::new(ResourceType::SAMPLER, ResourceKind::SAMPLER, set, binding)
    }

    /// The same with `count` registers.
    #[must_use]
    pub const fn with_count(self, count: u32) -> Self {
        Self { count, ..self }
    }

    /// Its last register; `u32::MAX` where there is no end.
    fn upper_bound(&self) -> Option<u32> {
        if self.count == Self::UNBOUNDED {
            return Some(u32::MAX);
        }
        // The last register itself is the mark for "no end", so that it cannot be one.
        let last = self.binding.checked_add(self.count.checked_sub(1)?)?;
        (last != u32::MAX).then_some(last)
    }

    fn kind_fits(&self) -> bool {
        use ResourceKind as K;
        match self.ty {
            ResourceType::SAMPLER => self.kind == K::SAMPLER,
            ResourceType::CBV => self.kind == K::CBUFFER,
            ResourceType::SRV_RAW => {
                matches!(self.kind, K::RAW_BUFFER | K::RT_ACCELERATION_STRUCTURE)
            }
            ResourceType::UAV_RAW => self.kind == K::RAW_BUFFER,
            ResourceType::SRV_STRUCTURED
            | ResourceType::UAV_STRUCTURED
            | ResourceType::UAV_STRUCTURED_WITH_COUNTER => self.kind == K::STRUCTURED_BUFFER,
            ResourceType::SRV_TYPED => {
                matches!(self.kind, K::TBUFFER)
                    || (K::TEXTURE1D.0..=K::TYPED_BUFFER.0).contains(&self.kind.0)
            }
            ResourceType::UAV_TYPED => {
                (K::TEXTURE1D.0..=K::TYPED_BUFFER.0).contains(&self.kind.0)
                    || matches!(
                        self.kind,
                        K::FEEDBACK_TEXTURE2D | K::FEEDBACK_TEXTURE2D_ARRAY
                    )
            }
            _ => false,
        }
    }

    /// The record of `PSV0`, with the fields of version 2 if asked for.
    pub(super) fn psv(&self, extended: bool) -> PsvResource<'static> {
        PsvResource {
            ty: self.ty,
            space: self.set,
            lower_bound: self.binding,
            upper_bound: self.upper_bound().unwrap_or(u32::MAX),
            extension: extended.then_some(PsvResourceExtension {
                kind: self.kind,
                flags: u32::from(self.used_by_atomic64) * PsvResourceExtension::USED_BY_ATOMIC64,
            }),
            extra: (&[]).into(),
        }
    }
}

/// Scalars handed over with the dispatch. To the shader they are a constant buffer either way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PushConstants {
    /// Number of 32-bit words.
    pub words: u32,
    /// Where the words live.
    pub home: PushConstantHome,
    /// Register space of the `b` register.
    pub set: u32,
    /// The `b` register.
    pub binding: u32,
}

/// Where push constants live.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PushConstantHome {
    /// In the root signature itself: at most 64 words, less what else is there.
    #[default]
    RootConstants,
    /// In a constant buffer that the root signature has the address of.
    ConstantBuffer,
}

impl ComputeInterface {
    /// A kernel without resources.
    #[must_use]
    pub fn new(entry: impl Into<String>, workgroup_size: [u32; 3]) -> Self {
        Self {
            entry: entry.into(),
            workgroup_size,
            wave_lanes: None,
            group_shared_bytes: 0,
            features: FeatureFlags::default(),
            resources: Vec::new(),
            push_constants: None,
        }
    }

    /// Least and most lanes as `PSV0` states them: 0 and `u32::MAX` where any number will do.
    pub(super) fn wave_range(&self) -> (u32, u32) {
        self.wave_lanes.map_or((0, u32::MAX), |w| (w.min, w.max))
    }

    /// All resources as DXC orders them: constant buffers (push constants first), samplers, SRVs,
    /// UAVs.
    pub(super) fn bindings(&self) -> Vec<ResourceBinding> {
        let push = self
            .push_constants
            .map(|p| ResourceBinding::constant_buffer(p.set, p.binding));
        let mut list: Vec<_> = push
            .into_iter()
            .chain(self.resources.iter().copied())
            .collect();
        list.sort_by_key(|r| match r.ty {
            ResourceType::CBV => 0,
            ResourceType::SAMPLER => 1,
            ResourceType::SRV_TYPED | ResourceType::SRV_RAW | ResourceType::SRV_STRUCTURED => 2,
            _ => 3,
        });
        list
    }

    /// Whether this describes a kernel that Direct3D can run.
    ///
    /// # Errors
    /// [`PackError::Interface`] with the first field at fault.
    pub fn validate(&self) -> Result<(), PackError> {
        use InterfaceRule as R;
        let fault = |field, value: u64, why| Err(PackError::Interface { field, value, why });
        if self.entry.is_empty() || self.entry.contains('\0') {
            return fault("entry", self.entry.len() as u64, R::Name);
        }
        if !threads_fit(ShaderKind::COMPUTE, self.workgroup_size) {
            let total = self.workgroup_size.iter().map(|&n| u64::from(n));
            let total = total.fold(1, u64::saturating_mul);
            return fault("workgroup_size", total, R::WorkgroupSize);
        }
        if let Some(WaveLanes { min, max }) = self.wave_lanes {
            let ok = |n: u32| n.is_power_of_two() && (4..=128).contains(&n);
            if !ok(min) || !ok(max) || min > max {
                return fault("wave_lanes", min.into(), R::WaveLanes);
            }
        }
        if self.group_shared_bytes > 32768 {
            let bytes = self.group_shared_bytes.into();
            return fault("group_shared_bytes", bytes, R::GroupShared);
        }
        if let Some(p) = self.push_constants {
            let most = match p.home {
                PushConstantHome::RootConstants => 64,
                PushConstantHome::ConstantBuffer => 4096 * 4,
            };
            if !(1..=most).contains(&p.words) {
                return fault("push_constants", p.words.into(), R::PushConstants);
            }
        }
        let mut ranges = Vec::new();
        for r in self.bindings() {
            if !r.kind_fits() {
                return fault("resources", r.kind.0.into(), R::ResourceKind);
            }
            let Some(last) = r.upper_bound() else {
                return fault("resources", r.binding.into(), R::Registers);
            };
            ranges.push((r.ty.class(), r.set, r.binding, last));
        }
        ranges.sort_unstable();
        for pair in ranges.windows(2) {
            if let [(class, set, _, last), (c, s, first, _)] = pair
                && (class, set) == (c, s)
                && first <= last
            {
                return fault("resources", (*first).into(), R::Collision);
            }
        }
        Ok(())
    }
}
