//! A root signature for a kernel's interface.
#![forbid(unsafe_code)]

use super::{ComputeInterface, PushConstantHome, ResourceBinding};
use crate::dxbc::{
    InterfaceRule, PackError,
    part::{
        DescriptorRange, RangeType, ResourceClass, ResourceType, RootDescriptor, RootParameter,
        RootPayload, RootSignature, RootSignatureVersion, ShaderVisibility,
    },
};

/// The most words a root signature may hold.
const MOST_WORDS: u64 = 64;

/// Push constants first, then each resource of the interface in its order.
pub(super) fn generate(
    k: &ComputeInterface,
    version: RootSignatureVersion,
) -> Result<RootSignature<'static>, PackError> {
    let mut root = RootSignature::new(version);
    let mut add = |payload| {
        root.parameters.push(RootParameter {
            visibility: ShaderVisibility::ALL,
            payload,
        });
    };
    if let Some(p) = k.push_constants {
        add(match p.home {
            PushConstantHome::RootConstants => RootPayload::Constants {
                register: p.binding,
                space: p.set,
                count: p.words,
            },
            PushConstantHome::ConstantBuffer => RootPayload::Cbv(RootDescriptor {
                register: p.binding,
                space: p.set,
                flags: 0,
            }),
        });
    }
    for r in &k.resources {
        add(payload(r));
    }
    let words: u64 = root.parameters.iter().map(|p| cost(&p.payload)).sum();
    if words > MOST_WORDS {
        return Err(PackError::Interface {
            field: "resources",
            value: words,
            why: InterfaceRule::RootSignature,
        });
    }
    Ok(root)
}

/// An address where one buffer without a counter or format is bound, else a table.
fn payload(r: &ResourceBinding) -> RootPayload {
    let d = RootDescriptor {
        register: r.binding,
        space: r.set,
        flags: 0,
    };
    match r.ty {
        ResourceType::CBV if r.count == 1 => RootPayload::Cbv(d),
        ResourceType::SRV_RAW | ResourceType::SRV_STRUCTURED if r.count == 1 => RootPayload::Srv(d),
        ResourceType::UAV_RAW | ResourceType::UAV_STRUCTURED if r.count == 1 => RootPayload::Uav(d),
        _ => RootPayload::Table(vec![DescriptorRange {
            ty: match r.ty.class() {
                Some(ResourceClass::CBUFFER) => RangeType::CBV,
                Some(ResourceClass::SAMPLER) => RangeType::SAMPLER,
                Some(ResourceClass::UAV) => RangeType::UAV,
                _ => RangeType::SRV,
            },
            count: r.count,
            base_register: r.binding,
            space: r.set,
            flags: 0,
            offset: u32::MAX,
        }]),
    }
}

/// Words of the root signature that a parameter takes.
fn cost(payload: &RootPayload) -> u64 {
    match payload {
        RootPayload::Table(_) => 1,
        RootPayload::Constants { count, .. } => (*count).into(),
        RootPayload::Cbv(_) | RootPayload::Srv(_) | RootPayload::Uav(_) => 2,
    }
}
