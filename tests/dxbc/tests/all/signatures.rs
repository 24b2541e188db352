//! Kernite's own kernels around shaders that DXC made of HLSL of the same meaning (`kernels/`).
#![forbid(unsafe_code)]

use crate::example_kernels::ALL;
use kernite::{
    builder::{BufferOptions, KernelBuilder},
    dxbc::{
        BufferShape, ComputeInterface, ComputePackager, Container, DigestKind, InconsistencyKind,
        InterfaceRule, PackError, PackRootSignature, PushConstantHome, PushConstants,
        ResourceBinding, SignatureMapping, WriteDigest, WriteError,
        part::{FeatureFlags, RootSignatureVersion},
    },
    kernel::{Kernel, ParameterKind, Signature},
    types::{Access, Type},
};
use kernite_dxbc_tests::files;
use kernite_testkit::dxc::Dxc;

/// What `kernels/wide.hlsl` is, in kernite's own opcodes.
fn wide() -> Kernel {
    let mut k = KernelBuilder::new("wide", [64, 1, 1]);
    let at = |binding| BufferOptions::new().binding(4, binding);
    let source = k.buffer_with("source", Type::U64, Access::Read, at(1));
    let total = k.buffer_with("total", Type::U64, Access::ReadWrite, at(7));
    let bias = k.scalar("bias", Type::U64);
    let n = k.scalar("n", Type::U32);
    let (i, n, bias, lane) = (k.global_id(0), k.param(n), k.param(bias), k.lane());
    let inside = k.lt(i, n);
    k.when(inside, |k| {
        let value = k.load(source, i);
        let value = k.add(value, bias);
        let first = k.constant(0u32);
        k.atomic_add(total, first, value);
        let second = k.constant(1u32);
        let lane = k.convert(lane, Type::U64);
        k.store(total, second, lane);
    });
    k.finish().expect("valid")
}

fn wide_mapping() -> SignatureMapping {
    SignatureMapping {
        entry: Some("main".into()),
        buffers: BufferShape::Raw,
        scalars_set: 2,
        scalars_binding: 3,
        ..SignatureMapping::default()
    }
}

fn example(name: &str) -> Signature {
    let (_, make) = ALL.iter().find(|(n, _)| *n == name).expect("an example");
    make().signature()
}

/// Each shader with its kernel's interface.
fn pairs() -> Vec<(&'static str, ComputeInterface)> {
    let of = |name, file| {
        let k = ComputeInterface::from_signature(&example(name), &SignatureMapping::default());
        (file, k.expect("an interface"))
    };
    let wide = ComputeInterface::from_signature(&wide().signature(), &wide_mapping());
    vec![
        of("vector_add", "kernels/vector_add.cs_6_0.dxil"),
        of("vector_add", "kernels/vector_add.cs_6_6.dxil"),
        of("vector_add", "kernels/vector_add.cs_6_8.dxil"),
        of("saxpy", "kernels/saxpy.cs_6_0.dxil"),
        of("saxpy", "kernels/saxpy.cs_6_2.dxil"),
        of("reduce256", "kernels/reduce256.cs_6_0.dxil"),
        of("reduce256", "kernels/reduce256.cs_6_5.dxil"),
        ("kernels/wide.cs_6_6.dxil", wide.expect("an interface")),
    ]
}

#[test]
fn interfaces_are_those_of_the_signatures() {
    let k = ComputeInterface::from_signature(&example("saxpy"), &SignatureMapping::default())
        .expect("an interface");
    let sb = ResourceBinding::structured;
    assert_eq!((k.entry.as_str(), k.workgroup_size), ("saxpy", [256, 1, 1]));
    assert_eq!(k.resources, [sb(false, 0, 0), sb(true, 0, 1)]);
    assert_eq!(k.features, FeatureFlags::default());
    let push = PushConstants {
        words: 2,
        home: PushConstantHome::RootConstants,
        set: 0,
        binding: 0,
    };
    assert_eq!(k.push_constants, Some(push));

    let mapping = SignatureMapping {
        scalars: PushConstantHome::ConstantBuffer,
        ..wide_mapping()
    };
    let k = ComputeInterface::from_signature(&wide().signature(), &mapping).expect("an interface");
    let mut total = ResourceBinding::raw(true, 4, 7);
    total.used_by_atomic64 = true;
    assert_eq!(k.resources, [ResourceBinding::raw(false, 4, 1), total]);
    assert_eq!(k.features, FeatureFlags::WAVE_OPS | FeatureFlags::INT64_OPS);
    let push = k.push_constants.expect("scalars");
    assert_eq!((push.words, push.set, push.binding), (3, 2, 3));
    assert_eq!(push.home, PushConstantHome::ConstantBuffer);

    let shared =
        ComputeInterface::from_signature(&example("reduce256"), &SignatureMapping::default());
    assert_eq!(shared.expect("an interface").group_shared_bytes, 1024);
}

/// The same with other elements in all its buffers.
fn with_elements(mut signature: Signature, other: Type) -> Signature {
    for p in &mut signature.params {
        if let ParameterKind::Buffer { elem, .. } = &mut p.kind {
            *elem = other;
        }
    }
    signature
}

/// Lengths come behind the scalars; a buffer that is not used is not there.
#[test]
fn lengths_and_unused_buffers() {
    let mut k = KernelBuilder::new("lengths", [1, 1, 1]);
    k.buffer("unused", Type::U32, Access::Read);
    let x = k.buffer("x", Type::U32, Access::Read);
    let y = k.buffer("y", Type::U32, Access::Write);
    let i = k.global_id(0);
    let n = k.array_length(x);
    k.store(y, i, n);
    let signature = k.finish().expect("valid").signature();
    let of = |s: &Signature, buffers| {
        let mapping = SignatureMapping {
            buffers,
            ..SignatureMapping::default()
        };
        ComputeInterface::from_signature(s, &mapping).expect("an interface")
    };
    let k = of(&signature, BufferShape::Structured);
    let sb = ResourceBinding::structured;
    assert_eq!(k.resources, [sb(false, 0, 1), sb(true, 0, 2)]);
    assert_eq!(k.push_constants.map(|p| p.words), Some(1));
    assert_eq!(k.features, FeatureFlags::default());
    // Elements of 16 bits are native ones; a byte-address buffer has none.
    let signature = with_elements(signature, Type::F16);
    let k = of(&signature, BufferShape::Structured);
    assert_eq!(k.features, FeatureFlags::NATIVE_LOW_PRECISION);
    let k = of(&signature, BufferShape::Raw);
    assert_eq!(k.features, FeatureFlags::default());
}

#[test]
fn what_direct3d_does_not_have() {
    let of = |k: &Kernel, mapping: &SignatureMapping| {
        ComputeInterface::from_signature(&k.signature(), mapping)
    };
    // Shared memory sized at the launch.
    let mut k = KernelBuilder::new("dynamic", [32, 1, 1]);
    let x = k.buffer("x", Type::F32, Access::ReadWrite);
    let tile = k.shared_dynamic("tile", Type::F32);
    let i = k.local_id(0);
    let v = k.load(x, i);
    k.store(tile, i, v);
    let e = of(&k.finish().expect("valid"), &SignatureMapping::default());
    assert!(
        matches!(e, Err(PackError::Unsupported { what, .. }) if what.contains("shared memory")),
        "{e:?}"
    );

    // Elements without a type in HLSL: the second parameter.
    let mut k = KernelBuilder::new("bytes", [32, 1, 1]);
    let n = k.scalar("n", Type::U32);
    let x = k.buffer("x", Type::U32, Access::ReadWrite);
    let i = k.param(n);
    let v = k.load(x, i);
    k.store(x, i, v);
    let signature = k.finish().expect("valid").signature();
    for elem in [Type::I8, Type::U8, Type::BF16] {
        let signature = with_elements(signature.clone(), elem);
        let e = ComputeInterface::from_signature(&signature, &SignatureMapping::default());
        let want = PackError::Interface {
            field: "resources",
            value: 1,
            why: InterfaceRule::ElementType,
        };
        assert_eq!(e, Err(want), "{elem}");
        let raw = SignatureMapping {
            buffers: BufferShape::Raw,
            ..SignatureMapping::default()
        };
        let k = ComputeInterface::from_signature(&signature, &raw);
        assert!(k.is_ok(), "{elem}");
    }

    // More threads, more scalars and more shared memory than Direct3D has.
    let refused = |mut k: KernelBuilder, rule| {
        let e = of(&k.finish().expect("valid"), &SignatureMapping::default());
        assert!(
            matches!(e, Err(PackError::Interface { why, .. }) if why == rule),
            "{e:?}"
        );
    };
    refused(
        KernelBuilder::new("deep", [1, 1, 128]),
        InterfaceRule::WorkgroupSize,
    );
    let mut k = KernelBuilder::new("scalars", [1, 1, 1]);
    for _ in 0..65 {
        k.scalar("", Type::U32);
    }
    refused(k, InterfaceRule::PushConstants);
    let mut k = KernelBuilder::new("shared", [1, 1, 1]);
    let tile = k.shared("", Type::U32, 8193);
    let zero = k.constant(0u32);
    k.store(tile, zero, zero);
    refused(k, InterfaceRule::GroupShared);
    let nameless = SignatureMapping {
        entry: Some(String::new()),
        ..SignatureMapping::default()
    };
    let e = ComputeInterface::from_signature(&example("saxpy"), &nameless);
    let why = InterfaceRule::Name;
    assert!(
        matches!(e, Err(PackError::Interface { why: w, .. }) if w == why),
        "{e:?}"
    );
}

#[test]
fn dxc_validates_kernites_kernels_around_its_shaders() {
    let Some(dxc) = Dxc::get() else { return };
    let mut dxc = dxc.session();
    for (file, mut k) in pairs() {
        let source = files::read(file);
        let c = Container::read(&source).expect("reads");
        let program = c.program().expect("reads").expect("DXIL");
        for home in [
            PushConstantHome::RootConstants,
            PushConstantHome::ConstantBuffer,
        ] {
            if let Some(p) = &mut k.push_constants {
                p.home = home;
            }
            let (major, minor) = (program.version.major(), program.version.minor());
            let root = PackRootSignature::Generate(RootSignatureVersion::V1_1);
            let of_container = ComputePackager::new(&k).program(&source);
            let bare = ComputePackager::new(&k)
                .program(&program.bitcode)
                .shader_model(major, minor);
            for packager in [of_container, bare] {
                let bytes = packager.root_signature(root).pack().expect("packs");
                let packed = Container::read(&bytes).expect("reads");
                assert_eq!(packed.digest_kind(), DigestKind::Retail);
                // Everything but the root signature is as DXC writes it, but for STAT.
                for part in c.parts().filter(|p| p.kind.to_string() != "STAT") {
                    let ours = packed.part(part.kind).expect("one").expect("there");
                    assert_eq!(ours.data, part.data, "{file}: {}", part.kind);
                }
                assert_eq!(dxc.validate(&bytes), Ok(()), "{file}");
            }
        }
    }
}

/// Another kernel's signature is refused before anything is written, whatever the digest.
#[test]
fn another_kernels_signature_is_refused() {
    let pairs = pairs();
    for (file, _) in &pairs {
        let source = files::read(file);
        for (other, k) in &pairs {
            let same = file.split('.').next() == other.split('.').next();
            for digest in [
                WriteDigest::Retail,
                WriteDigest::Bypass,
                WriteDigest::Unsigned,
            ] {
                let mut out = b"before".to_vec();
                let packed = ComputePackager::new(k)
                    .program(&source)
                    .digest(digest)
                    .pack_into(&mut out);
                assert_eq!(packed.is_ok(), same, "{file} as {other}: {packed:?}");
                if let Err(e) = packed {
                    assert!(matches!(e, PackError::Inconsistent(_)), "{e}");
                    assert_eq!(out, b"before");
                }
            }
        }
    }
}

/// One field wrong at a time, each named.
#[test]
fn each_contradiction_is_named() {
    type Change = fn(&mut ComputeInterface);
    let changes: [(Change, &str); 6] = [
        (|k| k.workgroup_size = [128, 1, 1], "NumThreads"),
        (|k| k.entry = "other".into(), "EntryFunctionName"),
        (|k| k.features = FeatureFlags::INT64_OPS, "FeatureFlags"),
        (
            |k| {
                k.wave_lanes = Some(kernite::dxbc::WaveLanes { min: 32, max: 64 });
            },
            "MinimumExpectedWaveLaneCount",
        ),
        (|k| k.resources[0].binding = 9, "PSVResourceBindInfo"),
        (|k| k.push_constants = None, "number of constant buffers"),
    ];
    let source = files::read("kernels/vector_add.cs_6_6.dxil");
    for (change, field) in changes {
        let mut k = pairs().swap_remove(1).1;
        change(&mut k);
        let e = ComputePackager::new(&k).program(&source).pack();
        let Err(PackError::Inconsistent(list)) = e else {
            panic!("{field}: {e:?}")
        };
        assert!(list.iter().any(|i| i.field == field), "{field}: {list:?}");
    }
    // Version 4 of PSV0 states the group-shared bytes too.
    let source = files::read("fixtures/psv4-byhand/reduce.cs_6_0.psv4.dxil");
    let c = Container::read(&source).expect("reads");
    let mut k = kernite_dxbc_tests::kernels::of_container(&c);
    assert!(ComputePackager::new(&k).program(&source).pack().is_ok());
    k.group_shared_bytes += 4;
    let e = ComputePackager::new(&k).program(&source).pack();
    let Err(PackError::Inconsistent(list)) = e else {
        panic!("{e:?}")
    };
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!(list[0].field, "NumBytesGroupSharedMemory");
    let at = list[0].offset as usize;
    let stored = u32::from_le_bytes([source[at], source[at + 1], source[at + 2], source[at + 3]]);
    assert_eq!(stored + 4, k.group_shared_bytes);
    assert!(matches!(list[0].kind, InconsistencyKind::Differs { .. }));
}

/// A serialised root signature is a container: its part is taken out.
#[test]
fn root_signatures_are_taken_out_of_their_containers() {
    let (file, k) = pairs().swap_remove(0);
    let source = files::read(file);
    let pack = |root| {
        ComputePackager::new(&k)
            .program(&source)
            .root_signature(root)
            .pack()
    };
    let root = PackRootSignature::Generate(RootSignatureVersion::V1_0);
    let packed = pack(root).expect("packs");
    let c = Container::read(&packed).expect("reads");
    let part = c.part(kernite::dxbc::FourCc::RTS0).expect("one");
    let part = part.expect("there").data;
    let mut w = kernite::dxbc::ContainerWriter::new();
    w.part(kernite::dxbc::FourCc::RTS0, part);
    let serialised = w.finish(WriteDigest::Retail).expect("writes");
    for given in [part, &serialised] {
        assert_eq!(pack(PackRootSignature::Given(given)), Ok(packed.clone()));
    }
    let e = pack(PackRootSignature::Given(&source));
    assert!(matches!(e, Err(PackError::Program(_))), "{e:?}");
    let e = pack(PackRootSignature::Given(&part[..part.len() - 1]));
    assert!(
        matches!(e, Err(PackError::Write(WriteError::Unaligned { .. }))),
        "{e:?}"
    );
}
