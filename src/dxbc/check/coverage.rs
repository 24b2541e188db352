//! Whether a root signature gives access to the resources of a shader.
#![forbid(unsafe_code)]

use crate::dxbc::part::{
    Psv, PsvResource, RangeType, ResourceClass, RootPayload, RootSignature, ShaderKind,
    ShaderVisibility,
};

/// Registers first to last of one class and space.
type Interval = (ResourceClass, u32, u64, u64);

/// The resources of `psv` that `root` does not cover for `stage`. Sorts once and then looks each
/// resource up, so that neither many ranges nor many resources make it slow.
pub(super) fn uncovered<'p, 'a>(
    root: &RootSignature,
    psv: &'p Psv<'a>,
    stage: ShaderKind,
) -> Vec<&'p PsvResource<'a>> {
    let covered = merge(intervals(root, stage));
    let is_covered = |r: &PsvResource| {
        let Some(class) = r.ty.class() else {
            return true;
        };
        let (lower, upper) = (u64::from(r.lower_bound), u64::from(r.upper_bound));
        // The last interval that begins at or before the resource.
        let after =
            covered.partition_point(|&(c, s, first, _)| (c, s, first) <= (class, r.space, lower));
        let before = after.checked_sub(1).and_then(|i| covered.get(i));
        before.is_some_and(|&(c, s, _, last)| c == class && s == r.space && upper <= last)
    };
    psv.resources.iter().filter(|r| !is_covered(r)).collect()
}

fn intervals(root: &RootSignature, stage: ShaderKind) -> Vec<Interval> {
    let mut list = Vec::new();
    let mut add = |class, space, register: u32, count: u32| {
        let first = u64::from(register);
        let last = match count {
            0 => return,
            u32::MAX => u64::from(u32::MAX),
            n => first + u64::from(n) - 1,
        };
        list.push((class, space, first, last));
    };
    for p in root.parameters.iter().filter(|p| sees(p.visibility, stage)) {
        match &p.payload {
            RootPayload::Table(ranges) => {
                for r in ranges {
                    let class = match r.ty {
                        RangeType::SRV => ResourceClass::SRV,
                        RangeType::UAV => ResourceClass::UAV,
                        RangeType::CBV => ResourceClass::CBUFFER,
                        RangeType::SAMPLER => ResourceClass::SAMPLER,
                        _ => continue,
                    };
                    add(class, r.space, r.base_register, r.count);
                }
            }
            &RootPayload::Constants {
                register, space, ..
            } => add(ResourceClass::CBUFFER, space, register, 1),
            RootPayload::Cbv(d) => add(ResourceClass::CBUFFER, d.space, d.register, 1),
            RootPayload::Srv(d) => add(ResourceClass::SRV, d.space, d.register, 1),
            RootPayload::Uav(d) => add(ResourceClass::UAV, d.space, d.register, 1),
        }
    }
    for s in root.static_samplers.iter() {
        if sees(s.visibility, stage) {
            add(ResourceClass::SAMPLER, s.space, s.register, 1);
        }
    }
    list
}

/// Sorts, and joins what touches.
fn merge(mut list: Vec<Interval>) -> Vec<Interval> {
    list.sort_unstable();
    let mut out: Vec<Interval> = Vec::new();
    for (class, space, first, last) in list {
        match out.last_mut() {
            Some((c, s, _, end)) if *c == class && *s == space && first <= *end + 1 => {
                *end = last.max(*end);
            }
            _ => out.push((class, space, first, last)),
        }
    }
    out
}

fn sees(visibility: ShaderVisibility, stage: ShaderKind) -> bool {
    let only = match visibility {
        ShaderVisibility::VERTEX => ShaderKind::VERTEX,
        ShaderVisibility::HULL => ShaderKind::HULL,
        ShaderVisibility::DOMAIN => ShaderKind::DOMAIN,
        ShaderVisibility::GEOMETRY => ShaderKind::GEOMETRY,
        ShaderVisibility::PIXEL => ShaderKind::PIXEL,
        ShaderVisibility::AMPLIFICATION => ShaderKind::AMPLIFICATION,
        ShaderVisibility::MESH => ShaderKind::MESH,
        _ => return true,
    };
    only == stage
}
