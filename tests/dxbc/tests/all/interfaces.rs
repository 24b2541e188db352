//! Property test: whatever the interface, packing it is sound.
#![forbid(unsafe_code)]

use kernite::dxbc::{
    ComputeInterface, ComputePackager, Container, DigestKind, InterfaceRule, PackError,
    PackRootSignature, PushConstantHome, PushConstants, ResourceBinding, WaveLanes,
    part::{FeatureFlags, ResourceKind, ResourceType, RootSignatureVersion},
};
use proptest::{collection::vec, prelude::*};

fn interface() -> impl Strategy<Value = ComputeInterface> {
    let threads = (1..=16u32, 1..=8u32, 1..=8u32);
    // One register space a resource, so that none collide.
    let resource = (
        0..7usize,
        0..100u32,
        prop_oneof![Just(u32::MAX), 1..9u32],
        any::<bool>(),
    );
    let push = proptest::option::of((1..=64u32, any::<bool>(), 0..9u32));
    let waves = proptest::option::of((2..=7u32, 2..=7u32));
    (
        "[a-zA-Z_]{1,12}",
        threads,
        waves,
        0..=32768u32,
        any::<u64>(),
        vec(resource, 0..6),
        push,
    )
        .prop_map(
            |(entry, (x, y, z), waves, shared, features, resources, push)| {
                let mut k = ComputeInterface::new(entry, [x, y, z]);
                k.wave_lanes = waves.map(|(a, b)| WaveLanes {
                    min: 1 << a.min(b),
                    max: 1 << a.max(b),
                });
                k.group_shared_bytes = shared;
                k.features = FeatureFlags(features);
                k.push_constants = push.map(|(words, root, binding)| PushConstants {
                    words,
                    home: if root {
                        PushConstantHome::RootConstants
                    } else {
                        PushConstantHome::ConstantBuffer
                    },
                    set: 1000,
                    binding,
                });
                for (i, (what, binding, count, atomic)) in resources.into_iter().enumerate() {
                    let set = i as u32;
                    let r = [
                        ResourceBinding::structured(false, set, binding),
                        ResourceBinding::structured(true, set, binding),
                        ResourceBinding::raw(false, set, binding),
                        ResourceBinding::raw(true, set, binding),
                        ResourceBinding::constant_buffer(set, binding),
                        ResourceBinding::sampler(set, binding),
                        ResourceBinding::new(
                            ResourceType::UAV_TYPED,
                            ResourceKind::TEXTURE3D,
                            set,
                            binding,
                        ),
                    ][what];
                    k.resources.push(ResourceBinding {
                        used_by_atomic64: atomic,
                        ..r.with_count(count)
                    });
                }
                k
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the interface, what is packed is strict, consistent and signed, states the
    /// interface, and packs to the same bytes again.
    #[test]
    fn interfaces_survive_packing(k in interface(), minor in 0..=10u16, bitcode in vec(any::<u8>(), 0..50)) {
        let bitcode = [b"BC\xc0\xde".as_slice(), &bitcode].concat();
        let pack = |k: &ComputeInterface, program: &[u8]| {
            ComputePackager::new(k)
                .program(program)
                .shader_model(6, 5)
                .validator(1, minor)
                .root_signature(PackRootSignature::Generate(RootSignatureVersion::V1_1))
                .pack()
        };
        let packed = match pack(&k, &bitcode) {
            Ok(p) => p,
            // Many resources and many constants do not fit a root signature.
            Err(PackError::Interface { why: InterfaceRule::RootSignature, .. }) => return Ok(()),
            Err(e) => return Err(TestCaseError::fail(e.to_string())),
        };
        let c = Container::read(&packed).expect("strict");
        prop_assert_eq!(c.digest_kind(), DigestKind::Retail);
        prop_assert_eq!(c.check(), []);
        if minor >= 8 {
            let psv = c.psv().expect("reads").expect("there");
            prop_assert_eq!(psv.entry_name().expect("reads"), Some(k.entry.as_bytes()));
            prop_assert_eq!(psv.info.num_threads, Some(k.workgroup_size));
            let count = k.resources.len() + usize::from(k.push_constants.is_some());
            prop_assert_eq!(psv.resources.len(), count);
        }
        prop_assert_eq!(pack(&k, &packed).expect("packs again"), packed);
    }
}
