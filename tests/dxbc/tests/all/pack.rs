//! Packing: against DXC's own containers, byte for byte, and against DXC's validator.
#![forbid(unsafe_code)]

use kernite::dxbc::{
    ComputeInterface, ComputePackager, Container, DigestKind, FourCc, InconsistencyKind,
    InterfaceRule, PackError, PackRootSignature, PushConstantHome, ReadErrorKind, ResourceBinding,
    WriteDigest, WriteError,
    part::{PsvVersion, RootSignatureVersion, ShaderHash},
};
use kernite_dxbc_tests::{files, files::File, kernels};
use kernite_testkit::dxc::Dxc;

/// The parts that packing writes.
const WRITTEN: [FourCc; 7] = [
    FourCc::SFI0,
    FourCc::ISG1,
    FourCc::OSG1,
    FourCc::PSV0,
    FourCc::RTS0,
    FourCc::HASH,
    FourCc::DXIL,
];

/// The earliest validator that wrote such a container; its file name tells when it is not 1.8.
fn validator(f: &File) -> (u16, u16) {
    if let Some((_, v)) = f.name.split_once(".val_1_") {
        let minor = v.trim_end_matches(".dxil").parse().expect("a number");
        return (1, minor);
    }
    if f.name.contains("psv4") {
        (1, 10)
    } else {
        (1, 8)
    }
}

/// Every part that packing writes is DXC's, byte for byte, and nothing else is there.
fn assert_same_parts(packed: &[u8], original: &Container, name: &str) {
    let packed = Container::read(packed).expect("strict");
    let want: Vec<_> = original
        .parts()
        .filter(|p| WRITTEN.contains(&p.kind))
        .map(|p| (p.kind, p.data))
        .collect();
    let found: Vec<_> = packed.parts().map(|p| (p.kind, p.data)).collect();
    let kinds = |l: &[(FourCc, &[u8])]| l.iter().map(|p| p.0).collect::<Vec<_>>();
    assert_eq!(kinds(&found), kinds(&want), "{name}");
    for ((kind, found), (_, want)) in found.iter().zip(&want) {
        assert_eq!(found, want, "{name}: part {kind}");
    }
}

#[test]
fn repacked_from_containers_equals_dxc() {
    let mut seen = 0;
    for f in files::compute_fixtures() {
        let c = Container::read(&f.bytes).expect("reads");
        let k = kernels::of_container(&c);
        let bytes = ComputePackager::new(&k)
            .program(&f.bytes)
            .pack()
            .unwrap_or_else(|e| panic!("{}: {e}", f.name));
        assert_same_parts(&bytes, &c, &f.name);
        seen += 1;
    }
    assert!(seen >= 120, "{seen}");
}

/// With the reflection part kept, the whole container is the one that Microsoft's validator signed.
#[test]
fn repacked_signed_containers_are_the_same_bytes() {
    let mut seen = 0;
    for f in files::compute_fixtures() {
        let c = Container::read(&f.bytes).expect("reads");
        let debug = [FourCc::ILDB, FourCc::ILDN];
        let extra = c.parts().any(|p| debug.contains(&p.kind));
        if c.digest_kind() != DigestKind::Retail || extra {
            continue;
        }
        let k = kernels::of_container(&c);
        let packer = ComputePackager::new(&k).program(&f.bytes);
        let bytes = packer.keep_reflection(true).pack().expect("packs");
        assert_eq!(bytes, f.bytes, "{}", f.name);
        seen += 1;
    }
    assert!(seen >= 50, "{seen}");
}

#[test]
fn a_given_root_signature_has_to_fit() {
    let k = kernels::by_hand("saxpy.cs_6_0.dxil").expect("known");
    let bytes = files::read("fixtures/signed/saxpy.cs_6_0.dxil");
    let pack = |root| {
        let p = ComputePackager::new(&k).program(&bytes);
        p.root_signature(PackRootSignature::Given(root)).pack()
    };
    let c = Container::read(&bytes).expect("reads");
    let right = c.part(FourCc::RTS0).expect("one").expect("there").data;
    assert!(pack(right).is_ok());
    let odd = [right, &[0]].concat();
    assert!(matches!(
        pack(&odd),
        Err(PackError::Write(WriteError::Unaligned { .. }))
    ));
    assert!(matches!(
        pack(&right[..20]),
        Err(PackError::Inconsistent(_))
    ));
    // Another shader's: u0 and b0 are not covered.
    let mut other = right.to_vec();
    let at = other.len() - 12;
    other[at] = 9;
    let Err(PackError::Inconsistent(list)) = pack(&other) else {
        panic!("u0 is not covered")
    };
    assert!(matches!(
        list[..],
        [kernite::dxbc::Inconsistency {
            kind: InconsistencyKind::NotCovered {
                letter: 'u',
                register: 0,
                space: 0
            },
            ..
        }]
    ));
}

#[test]
fn repacked_from_bare_bitcode_and_a_hand_written_interface_equals_dxc() {
    let mut seen = 0;
    for f in files::compute_fixtures() {
        let Some(k) = kernels::by_hand(&f.name) else {
            continue;
        };
        let c = Container::read(&f.bytes).expect("reads");
        let hash = c.shader_hash().expect("reads");
        if hash.is_some_and(|h| h.flags & ShaderHash::INCLUDES_SOURCE != 0) {
            // The hash of -Zss covers what is no longer in the bitcode.
            continue;
        }
        let mut k = k;
        // What a shader needs of the device differs by shader model, not by interface.
        k.features = c.features().expect("reads").expect("SFI0").flags;
        let program = c.program().expect("reads").expect("DXIL");
        let (major, minor) = validator(&f);
        let root = c.part(FourCc::RTS0).expect("one");
        let bytes = ComputePackager::new(&k)
            .program(&program.bitcode)
            .shader_model(program.version.major(), program.version.minor())
            .validator(major, minor)
            .root_signature(match root {
                // saxpy's root signature is what we would make for it.
                Some(_) => PackRootSignature::Generate(RootSignatureVersion::V1_1),
                None => PackRootSignature::Omit,
            })
            .pack()
            .unwrap_or_else(|e| panic!("{}: {e}", f.name));
        assert_same_parts(&bytes, &c, &f.name);
        seen += 1;
    }
    assert!(seen >= 60, "{seen}");
}

#[test]
fn hand_written_features_are_dxcs() {
    for (file, features) in [
        ("fixtures/signed/wavesize.cs_6_6.dxil", 0x4000),
        ("fixtures/signed/half16.cs_6_6.dxil", 0x4_0000),
        ("fixtures/signed/vecadd.cs_6_0.dxil", 0),
    ] {
        let k = kernels::by_hand(file).expect("known");
        let bytes = files::read(file);
        let c = Container::read(&bytes).expect("reads");
        let found = c.features().expect("reads").expect("SFI0").flags;
        // Bit 23 and the like come with the shader model; the interface's own bits are there.
        assert_eq!(found.0 & features, features, "{file}: {found}");
        assert_eq!(k.features.0, features, "{file}");
    }
}

#[test]
fn dxc_validates_what_is_packed() {
    let Some(dxc) = Dxc::get() else { return };
    let mut dxc = dxc.session();
    let knows_v4 = dxc.version() >= (1, 10);
    let (mut valid, mut left_out) = (0, 0);
    for f in files::compute_fixtures() {
        if let Err(refused) = dxc.validate(&f.bytes) {
            // Only what this validator is too old for: PSV0 version 4.
            assert!(
                !knows_v4 && f.name.contains("psv4"),
                "{}: {refused}",
                f.name
            );
            left_out += 1;
            continue;
        }
        let c = Container::read(&f.bytes).expect("reads");
        let k = kernels::of_container(&c);
        for keep in [false, true] {
            let bytes = ComputePackager::new(&k)
                .program(&f.bytes)
                .keep_reflection(keep)
                .pack()
                .expect("packs");
            let verdict = dxc.validate(&bytes);
            assert_eq!(verdict, Ok(()), "{}", f.name);
        }
        valid += 1;
    }
    println!(
        "DXC validator {:?}: {valid} valid, {left_out} left out",
        dxc.version()
    );
    assert!(valid >= 110, "{valid}");
}

#[test]
fn dxc_validates_hand_written_interfaces_and_generated_root_signatures() {
    let Some(dxc) = Dxc::get() else { return };
    let mut dxc = dxc.session();
    let mut seen = 0;
    for f in files::compute_fixtures() {
        let Some(mut k) = kernels::by_hand(&f.name).filter(|_| !f.name.contains("psv4")) else {
            continue;
        };
        let c = Container::read(&f.bytes).expect("reads");
        k.features = c.features().expect("reads").expect("SFI0").flags;
        let program = c.program().expect("reads").expect("DXIL");
        let (major, minor) = validator(&f);
        for version in [RootSignatureVersion::V1_0, RootSignatureVersion::V1_1] {
            for home in [
                PushConstantHome::RootConstants,
                PushConstantHome::ConstantBuffer,
            ] {
                if let Some(p) = &mut k.push_constants {
                    p.home = home;
                }
                let bytes = ComputePackager::new(&k)
                    .program(&program.bitcode)
                    .shader_model(program.version.major(), program.version.minor())
                    .validator(major, minor)
                    .root_signature(PackRootSignature::Generate(version))
                    .digest(WriteDigest::Bypass)
                    .pack()
                    .expect("packs");
                assert_eq!(
                    Container::read(&bytes).expect("reads").digest_kind(),
                    DigestKind::Bypass
                );
                let verdict = dxc.validate(&bytes);
                assert_eq!(verdict, Ok(()), "{}", f.name);
                seen += 1;
            }
        }
    }
    assert!(seen >= 200, "{seen}");
}

/// DXC refuses a wrong interface, so that the two tests above mean something.
#[test]
fn dxc_refuses_a_wrong_interface() {
    let Some(dxc) = Dxc::get() else { return };
    let mut dxc = dxc.session();
    let bytes = files::read("fixtures/signed/vecadd.cs_6_0.dxil");
    let c = Container::read(&bytes).expect("reads");
    let program = c.program().expect("reads").expect("DXIL");
    let right = kernels::by_hand("vecadd.cs_6_0.dxil").expect("known");
    let wrongs: [fn(&mut ComputeInterface); 4] = [
        |k| k.workgroup_size = [32, 1, 1],
        |k| k.entry = "mian".into(),
        |k| k.resources[0].binding = 7,
        |k| k.resources.truncate(2),
    ];
    for wrong in wrongs {
        let mut k = right.clone();
        wrong(&mut k);
        let bytes = ComputePackager::new(&k)
            .program(&program.bitcode)
            .shader_model(6, 0)
            .pack()
            .expect("bare bitcode says nothing");
        assert!(dxc.validate(&bytes).is_err());
    }
}

#[test]
fn an_interface_that_contradicts_the_source_container_is_refused() {
    let bytes = files::read("fixtures/signed/vecadd.cs_6_0.dxil");
    let right = kernels::by_hand("vecadd.cs_6_0.dxil").expect("known");
    type Change = fn(&mut ComputeInterface);
    let wrongs: [(Change, &str); 6] = [
        (|k| k.workgroup_size = [32, 1, 1], "NumThreads"),
        (|k| k.entry = "mian".into(), "EntryFunctionName"),
        (|k| k.resources[0].binding = 7, "PSVResourceBindInfo"),
        (|k| k.resources.truncate(2), "number of UAVs"),
        (
            |k| k.resources.push(ResourceBinding::constant_buffer(0, 0)),
            "number of constant buffers",
        ),
        (
            |k| k.features = kernite::dxbc::part::FeatureFlags::DOUBLES,
            "FeatureFlags",
        ),
    ];
    for (wrong, field) in wrongs {
        let mut k = right.clone();
        wrong(&mut k);
        let mut out = b"before".to_vec();
        let e = ComputePackager::new(&k)
            .program(&bytes)
            .pack_into(&mut out)
            .expect_err(field);
        let PackError::Inconsistent(list) = e else {
            panic!("{e}")
        };
        assert!(
            list.iter().any(|i| i.field == field && i.offset > 0),
            "{list:?}"
        );
        assert_eq!(out, b"before", "nothing is written");
    }
}

#[test]
fn programs_that_are_not_compute_shaders_are_refused() {
    let k = ComputeInterface::new("main", [1; 3]);
    let bytes = files::read("fixtures/signed/tri.vs_6_0.dxil");
    let e = ComputePackager::new(&k)
        .program(&bytes)
        .pack()
        .expect_err("a vertex shader");
    let PackError::Inconsistent(list) = e else {
        panic!("{e}")
    };
    assert!(matches!(
        list[0].kind,
        InconsistencyKind::Differs {
            found: 1,
            expected: 5,
            ..
        }
    ));
    let bytes = files::read("fixtures/rootsig_1_0.dxil");
    let e = ComputePackager::new(&k)
        .program(&bytes)
        .pack()
        .expect_err("no program");
    assert!(matches!(e, PackError::Program(e) if e.kind() == ReadErrorKind::MissingPart));
    let e = ComputePackager::new(&k)
        .program(b"rubbish")
        .pack()
        .expect_err("rubbish");
    assert!(matches!(e, PackError::Program(_)));
    // A shader model other than the container's.
    let bytes = files::read("fixtures/signed/empty.cs_6_0.dxil");
    let k = kernels::of_container(&Container::read(&bytes).expect("reads"));
    let e = ComputePackager::new(&k)
        .program(&bytes)
        .shader_model(6, 6)
        .pack();
    assert!(matches!(e, Err(PackError::Inconsistent(_))));
}

#[test]
fn making_dxil_is_unsupported_and_says_why() {
    let k = ComputeInterface::new("main", [1; 3]);
    let e = ComputePackager::new(&k).pack().expect_err("no program");
    let PackError::Unsupported { what, why } = e else {
        panic!("{e}")
    };
    assert!(
        what.contains("DXIL") && why.contains("precompiled"),
        "{what}: {why}"
    );
    let e = ComputePackager::new(&k)
        .program(b"BC\xc0\xde\0\0\0\0")
        .pack();
    assert!(matches!(e, Err(PackError::Unsupported { .. })));
    for (major, minor) in [(5, 1), (6, 16), (7, 0)] {
        let p = ComputePackager::new(&k).program(b"BC\xc0\xde\0\0\0\0");
        let e = p.shader_model(major, minor).pack();
        assert!(
            matches!(e, Err(PackError::Unsupported { .. })),
            "{major}.{minor}"
        );
    }
}

#[test]
fn interfaces_that_are_no_kernel() {
    use InterfaceRule as R;
    type Change = fn(&mut ComputeInterface);
    let sb = ResourceBinding::structured;
    let cases: &[(Change, R)] = &[
        (|k| k.entry.clear(), R::Name),
        (|k| k.entry = "a\0b".into(), R::Name),
        (|k| k.workgroup_size = [0, 1, 1], R::WorkgroupSize),
        (|k| k.workgroup_size = [1024, 2, 1], R::WorkgroupSize),
        (|k| k.workgroup_size = [1, 1, 65], R::WorkgroupSize),
        (|k| k.workgroup_size = [u32::MAX; 3], R::WorkgroupSize),
        (|k| k.group_shared_bytes = 32769, R::GroupShared),
        (|k| k.resources[0].count = 0, R::Registers),
        (
            |k| k.resources[0] = ResourceBinding::raw(false, 0, u32::MAX),
            R::Registers,
        ),
        (
            |k| k.resources[0] = ResourceBinding::raw(false, 0, 9).with_count(u32::MAX - 1),
            R::Registers,
        ),
        (|k| k.resources.push(k.resources[0]), R::Collision),
        (
            |k| k.resources[0] = k.resources[0].with_count(ResourceBinding::UNBOUNDED),
            R::Collision,
        ),
        (
            |k| k.resources[0].kind = kernite::dxbc::part::ResourceKind::SAMPLER,
            R::ResourceKind,
        ),
    ];
    for (change, rule) in cases {
        let mut k = ComputeInterface::new("main", [1; 3]);
        k.resources = vec![sb(false, 0, 0), sb(false, 0, 4), sb(true, 0, 0)];
        assert_eq!(k.validate(), Ok(()));
        change(&mut k);
        let e = k.validate().expect_err("no kernel");
        assert!(
            matches!(e, PackError::Interface { why, .. } if why == *rule),
            "{e}"
        );
    }
    // Registers of different classes and spaces may have one number.
    let mut k = ComputeInterface::new("main", [1024, 1, 1]);
    k.resources = vec![sb(false, 0, 0), sb(true, 0, 0), sb(false, 1, 0)];
    assert_eq!(k.validate(), Ok(()));
    // More than 64 words do not fit a root signature.
    k.resources = (0..33).map(|i| sb(true, 0, i)).collect();
    let e = ComputePackager::new(&k)
        .program(b"BC\xc0\xde\0\0\0\0")
        .shader_model(6, 0)
        .root_signature(PackRootSignature::Generate(RootSignatureVersion::V1_1))
        .pack();
    assert!(
        matches!(
            e,
            Err(PackError::Interface {
                value: 66,
                why: R::RootSignature,
                ..
            })
        ),
        "{e:?}"
    );
}

#[test]
fn psv_follows_the_validator() {
    let mut k = ComputeInterface::new("main", [8, 4, 1]);
    k.group_shared_bytes = 256;
    for (validator, version, hash) in [
        ((1, 0), PsvVersion::V0, false),
        ((1, 1), PsvVersion::V1, false),
        ((1, 4), PsvVersion::V1, false),
        ((1, 5), PsvVersion::V1, true),
        ((1, 6), PsvVersion::V2, true),
        ((1, 8), PsvVersion::V3, true),
        ((1, 10), PsvVersion::V4, true),
        ((1, 11), PsvVersion::V4, true),
    ] {
        let bytes = ComputePackager::new(&k)
            .program(b"BC\xc0\xde\x01")
            .shader_model(6, 0)
            .validator(validator.0, validator.1)
            .pack()
            .expect("packs");
        let c = Container::read(&bytes).expect("reads");
        let psv = c.psv().expect("reads").expect("there");
        assert_eq!(psv.version(), version, "{validator:?}");
        assert_eq!(
            c.shader_hash().expect("reads").is_some(),
            hash,
            "{validator:?}"
        );
        if version == PsvVersion::V4 {
            assert_eq!(psv.info.group_shared_bytes, Some(256));
        }
        // Bitcode of no whole words is padded in the part, not in size and hash.
        let p = c.program().expect("reads").expect("there");
        assert_eq!(
            (&*p.bitcode, &*p.trailing),
            (&b"BC\xc0\xde\x01"[..], &[0; 3][..])
        );
    }
}
