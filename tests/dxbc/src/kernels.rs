//! The interfaces of the shaders in `hlsl/`, written by hand from their sources, and interfaces
//! read back from any compute container.
#![forbid(unsafe_code)]

use kernite::dxbc::{
    ComputeInterface, Container, PushConstantHome, PushConstants, ResourceBinding, WaveLanes,
    part::{FeatureFlags, PsvResourceExtension, ResourceKind, ResourceType},
};

/// The interface of a fixture's shader by the fixture's file name, from its HLSL source.
#[must_use]
pub fn by_hand(file: &str) -> Option<ComputeInterface> {
    let name = file.rsplit('/').next()?;
    let shader = name.split('.').next()?;
    let sb = ResourceBinding::structured;
    let (threads, resources): ([u32; 3], Vec<ResourceBinding>) = match shader {
        "vecadd" => (
            [64, 1, 1],
            vec![sb(false, 0, 0), sb(false, 0, 1), sb(true, 0, 0)],
        ),
        "vecadd_raw" => {
            let raw = ResourceBinding::raw;
            (
                [32, 2, 1],
                vec![raw(false, 0, 0), raw(false, 0, 1), raw(true, 0, 0)],
            )
        }
        "saxpy" => ([128, 1, 1], vec![sb(false, 0, 0), sb(true, 0, 0)]),
        "reduce" => ([256, 1, 1], vec![sb(false, 1, 0), sb(true, 1, 3)]),
        "wavesize" | "wavesize_range" => ([32, 1, 1], vec![sb(true, 0, 0)]),
        "half16" => (
            [64, 1, 1],
            vec![sb(false, 0, 0), sb(false, 0, 1), sb(true, 0, 0)],
        ),
        "everyres" => ([8, 8, 1], every_resource()),
        _ => return None,
    };
    let mut k = ComputeInterface::new("main", threads);
    k.resources = resources;
    match shader {
        "saxpy" => {
            k.push_constants = Some(PushConstants {
                words: 2,
                home: PushConstantHome::RootConstants,
                set: 0,
                binding: 0,
            });
        }
        "reduce" => k.group_shared_bytes = 1024,
        "wavesize" => {
            k.wave_lanes = Some(WaveLanes { min: 32, max: 32 });
            k.features = FeatureFlags::WAVE_OPS;
        }
        "wavesize_range" => {
            k.wave_lanes = Some(WaveLanes { min: 16, max: 64 });
            k.features = FeatureFlags::WAVE_OPS;
        }
        "half16" => k.features = FeatureFlags::NATIVE_LOW_PRECISION,
        _ => {}
    }
    Some(k)
}

fn every_resource() -> Vec<ResourceBinding> {
    use ResourceKind as K;
    use ResourceType as T;
    let r = ResourceBinding::new;
    vec![
        ResourceBinding::constant_buffer(3, 2),
        ResourceBinding::sampler(0, 1),
        r(T::SRV_TYPED, K::TEXTURE2D, 0, 0),
        r(T::SRV_TYPED, K::TEXTURE2D, 5, 0).with_count(ResourceBinding::UNBOUNDED),
        r(T::SRV_TYPED, K::TYPED_BUFFER, 0, 4),
        ResourceBinding::raw(false, 0, 5),
        ResourceBinding::structured(false, 0, 6),
        r(T::UAV_TYPED, K::TEXTURE2D, 0, 0),
        ResourceBinding::raw(true, 0, 1),
        ResourceBinding::structured(true, 0, 2),
        r(T::UAV_STRUCTURED_WITH_COUNTER, K::STRUCTURED_BUFFER, 0, 3),
        r(T::UAV_TYPED, K::TEXTURE2D, 0, 8).with_count(4),
    ]
}

/// The interface that a compute container states about itself. What old versions leave out is
/// filled in: one thread, entry `main`, buffers of the plainest kind.
///
/// # Panics
/// If the container has no readable `PSV0`.
#[must_use]
pub fn of_container(container: &Container) -> ComputeInterface {
    let psv = container.psv().expect("PSV0 reads").expect("PSV0 is there");
    let entry = psv.entry_name().expect("name reads").unwrap_or(b"main");
    let entry = String::from_utf8(entry.to_vec()).expect("UTF-8 entry name");
    let mut k = ComputeInterface::new(entry, psv.info.num_threads.unwrap_or([1; 3]));
    if psv.info.maximum_wave_lanes != u32::MAX {
        k.wave_lanes = Some(WaveLanes {
            min: psv.info.minimum_wave_lanes,
            max: psv.info.maximum_wave_lanes,
        });
    }
    k.group_shared_bytes = psv.info.group_shared_bytes.unwrap_or(0);
    k.features = container
        .features()
        .expect("SFI0 reads")
        .expect("SFI0")
        .flags;
    for r in &psv.resources {
        let plain = match r.ty {
            ResourceType::SAMPLER => ResourceKind::SAMPLER,
            ResourceType::CBV => ResourceKind::CBUFFER,
            ResourceType::SRV_RAW | ResourceType::UAV_RAW => ResourceKind::RAW_BUFFER,
            ResourceType::SRV_TYPED | ResourceType::UAV_TYPED => ResourceKind::TYPED_BUFFER,
            _ => ResourceKind::STRUCTURED_BUFFER,
        };
        let extension = r.extension.unwrap_or(PsvResourceExtension {
            kind: plain,
            flags: 0,
        });
        let mut b = ResourceBinding::new(r.ty, extension.kind, r.space, r.lower_bound)
            .with_count(r.count().unwrap_or(ResourceBinding::UNBOUNDED));
        b.used_by_atomic64 = extension.flags & PsvResourceExtension::USED_BY_ATOMIC64 != 0;
        k.resources.push(b);
    }
    k
}
