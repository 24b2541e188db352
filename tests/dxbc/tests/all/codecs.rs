//! Property tests: every codec writes what it reads and reads what it writes.
#![forbid(unsafe_code)]

use kernite::dxbc::{
    Container, ContainerWriter, Digest, FourCc, Object, WriteDigest, WriteError, part::*,
};
use proptest::{array::uniform4, collection::vec, prelude::*};

/// Writes, reads back, and writes again.
fn there_and_back(kind: FourCc, part: &Part) -> Result<(), TestCaseError> {
    let mut bytes = Vec::new();
    part.write(&mut bytes)
        .map_err(|e| TestCaseError::fail(e.to_string()))?;
    let again = Part::read(kind, &bytes).map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert_eq!(&again, part);
    let mut second = Vec::new();
    again
        .write(&mut second)
        .map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert_eq!(second, bytes);
    Ok(())
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=most)
}

fn name(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(1..=255u8, 0..=most)
}

fn psv() -> impl Strategy<Value = Psv<'static>> {
    (0..=4usize, 0..=17u8, any::<bool>())
        .prop_flat_map(|(version, stage, view_id)| {
            let info = (
                any::<[u8; 16]>(),
                any::<(u32, u32)>(),
                any::<[u8; 2]>(),
                0..20u8,
                uniform4(0..20u8),
                any::<([u32; 3], u32, u32)>(),
                bytes([11, 11, 3, 3, 40][version]),
            );
            let tables = (
                vec(any::<(u32, u32, u32, u32, u32, u32)>(), 0..6),
                bytes(if version >= 2 { 9 } else { 7 }),
                vec(any::<u32>(), 0..5),
                vec(any::<u32>(), 0..5),
                vec(vec(any::<(u32, u32, [u8; 8])>(), 0..5), 3),
                bytes(9),
                bytes(9),
            );
            (Just((version, stage, view_id)), info, tables)
        })
        .prop_map(|((version, stage, view_id), info, tables)| {
            let (stage_info, (min, max), stage2, inputs, outputs, later, extra) = info;
            let v1 = (version >= 1).then_some(PsvInfo1 {
                shader_stage: stage,
                uses_view_id: u8::from(view_id),
                stage_info: stage2,
                input_vectors: inputs,
                output_vectors: outputs,
            });
            let (resources, resource_extra, strings, indexes, elements, element_extra, trailing) =
                tables;
            let resources = resources
                .into_iter()
                .map(
                    |(ty, space, lower_bound, upper_bound, kind, flags)| PsvResource {
                        ty: ResourceType(ty),
                        space,
                        lower_bound,
                        upper_bound,
                        extension: (version >= 2).then_some(PsvResourceExtension {
                            kind: ResourceKind(kind),
                            flags,
                        }),
                        extra: resource_extra.clone().into(),
                    },
                )
                .collect();
            let mut psv = Psv {
                info: PsvInfo {
                    stage_info,
                    minimum_wave_lanes: min,
                    maximum_wave_lanes: max,
                    v1,
                    num_threads: (version >= 2).then_some(later.0),
                    entry_function_name: (version >= 3).then_some(later.1),
                    group_shared_bytes: (version >= 4).then_some(later.2),
                    extra: extra.into(),
                },
                resources,
                trailing: trailing.into(),
                ..Psv::default()
            };
            if let Some(v1) = v1 {
                psv.string_table = strings.iter().flat_map(|w| w.to_le_bytes()).collect();
                psv.semantic_indexes = indexes;
                let mut lists = elements.into_iter().map(|list| {
                    let make = |(n, i, b): (u32, u32, [u8; 8])| PsvElement {
                        semantic_name: n,
                        semantic_indexes: i,
                        rows: b[0],
                        start_row: b[1],
                        cols_and_start: b[2],
                        semantic_kind: SemanticKind(b[3]),
                        component_type: b[4],
                        interpolation_mode: InterpolationMode(b[5]),
                        dynamic_mask_and_stream: b[6],
                        reserved: b[7],
                        extra: element_extra.clone().into(),
                    };
                    list.into_iter().map(make).collect::<Vec<_>>()
                });
                let mut next = || lists.next().unwrap_or_default();
                (psv.inputs, psv.outputs, psv.patch_constants) = (next(), next(), next());
                fill(&mut psv.dependencies, stage, v1);
            }
            psv
        })
}

/// Tables of the sizes that the specification gives, stated once more and by stage.
fn fill(d: &mut PsvDependencies, stage: u8, v1: PsvInfo1) {
    let (gs, hs, ds, ms) = (stage == 2, stage == 3, stage == 4, stage == 13);
    let patch = if hs || ds || ms { v1.stage_info[0] } else { 0 };
    let mask = |v: u8| usize::from(v.div_ceil(8));
    let table = |i: u8, o: u8| mask(o) * usize::from(i) * 4;
    let list = |n: usize| {
        (0..n as u32)
            .map(|i| i.wrapping_mul(0x9e37_79b9))
            .collect::<Vec<_>>()
    };
    for i in 0..if gs { 4 } else { 1 } {
        let out = v1.output_vectors[i];
        if v1.uses_view_id != 0 {
            d.view_id_outputs[i] = list(mask(out));
        }
        if !ms {
            d.input_to_outputs[i] = list(table(v1.input_vectors, out));
        }
    }
    if v1.uses_view_id != 0 && (hs || ms) {
        d.view_id_patch_constants = list(mask(patch));
    }
    if hs {
        d.input_to_patch_constants = list(table(v1.input_vectors, patch));
    }
    if ds {
        d.patch_constant_to_outputs = list(table(patch, v1.output_vectors[0]));
    }
}

fn root_signature() -> impl Strategy<Value = RootSignature<'static>> {
    let version = prop_oneof![
        Just(RootSignatureVersion::V1_0),
        Just(RootSignatureVersion::V1_1),
        Just(RootSignatureVersion::V1_2),
    ];
    let range = any::<[u32; 6]>();
    let payload = (0..5u8, any::<[u32; 3]>(), vec(range, 0..4), any::<u32>());
    (
        version,
        vec(payload, 0..6),
        vec(any::<([u32; 13], u32)>(), 0..3),
        any::<u32>(),
    )
        .prop_map(|(version, parameters, samplers, flags)| {
            let has_flags = u32::from(version != RootSignatureVersion::V1_0);
            let mut root = RootSignature::new(version);
            root.flags = flags;
            for (kind, [register, space, count], ranges, visibility) in parameters {
                let flags = count * has_flags;
                let d = RootDescriptor {
                    register,
                    space,
                    flags,
                };
                let payload = match kind {
                    0 => RootPayload::Table(
                        ranges
                            .into_iter()
                            .map(|r| DescriptorRange {
                                ty: RangeType(r[0]),
                                count: r[1],
                                base_register: r[2],
                                space: r[3],
                                flags: r[4] * has_flags,
                                offset: r[5],
                            })
                            .collect(),
                    ),
                    1 => RootPayload::Constants {
                        register,
                        space,
                        count,
                    },
                    2 => RootPayload::Cbv(d),
                    3 => RootPayload::Srv(d),
                    _ => RootPayload::Uav(d),
                };
                let visibility = ShaderVisibility(visibility);
                root.parameters.push(RootParameter {
                    visibility,
                    payload,
                });
            }
            for (w, flags) in samplers {
                root.static_samplers.push(StaticSampler {
                    filter: w[0],
                    address: [w[1], w[2], w[3]],
                    mip_lod_bias: w[4],
                    max_anisotropy: w[5],
                    comparison: w[6],
                    border_color: w[7],
                    min_lod: w[8],
                    max_lod: w[9],
                    register: w[10],
                    space: w[11],
                    visibility: ShaderVisibility(w[12]),
                    flags: flags * u32::from(version == RootSignatureVersion::V1_2),
                });
            }
            root
        })
}

fn words4(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u32>(), 0..=most).prop_map(|w| w.iter().flat_map(|w| w.to_le_bytes()).collect())
}

fn table<T: core::fmt::Debug + Clone>(
    records: Vec<T>,
    size: u32,
    extra: Vec<u8>,
) -> RdatTable<'static, T> {
    RdatTable {
        stride: size + extra.len() as u32,
        records: records
            .into_iter()
            .map(|value| RdatRecord {
                value,
                extra: extra.clone().into(),
            })
            .collect(),
        trailing: Vec::new().into(),
    }
}

fn rdat_part() -> impl Strategy<Value = RdatPart<'static>> {
    let words = vec(any::<[u32; 13]>(), 0..4);
    (0..14u32, words, words4(6), any::<bool>()).prop_map(|(kind, rows, tail, wide)| {
        let extra = tail.iter().copied().take(4).collect::<Vec<_>>();
        let body = match kind {
            1 => RdatBody::Strings(tail.into()),
            2 => RdatBody::Indexes(rows.concat()),
            3 => {
                let make = |w: &[u32; 13]| RdatResource {
                    class: ResourceClass(w[0]),
                    kind: ResourceKind(w[1]),
                    id: w[2],
                    space: w[3],
                    lower_bound: w[4],
                    upper_bound: w[5],
                    name: RdatString(w[6]),
                    flags: w[7],
                };
                RdatBody::Resources(table(rows.iter().map(make).collect(), 32, extra))
            }
            4 => {
                let make = |w: &[u32; 13]| RdatFunction {
                    name: RdatString(w[0]),
                    unmangled_name: RdatString(w[1]),
                    resources: RdatArray(w[2]),
                    function_dependencies: RdatArray(w[3]),
                    shader_kind: w[4],
                    payload_size: w[5],
                    attribute_size: w[6],
                    features: FeatureFlags(u64::from(w[7]) << 32 | u64::from(w[8])),
                    shader_stage_flag: w[9],
                    min_shader_target: w[10],
                    v2: wide.then_some(RdatFunction2 {
                        min_wave_lanes: w[11] as u8,
                        max_wave_lanes: (w[11] >> 8) as u8,
                        shader_flags: (w[11] >> 16) as u16,
                        shader_ref: w[12],
                    }),
                };
                let size = if wide { 52 } else { 44 };
                RdatBody::Functions(table(rows.iter().map(make).collect(), size, extra))
            }
            5 => RdatBody::RawBytes(tail.into()),
            6 => {
                let make = |w: &[u32; 13]| RdatSubobject {
                    kind: SubobjectKind(w[0]),
                    name: RdatString(w[1]),
                    fields: [w[2], w[3], w[4], w[5]],
                };
                RdatBody::Subobjects(table(rows.iter().map(make).collect(), 24, extra))
            }
            7..=10 => {
                let make = |w: &[u32; 13]| RdatPair(w[0], w[1]);
                RdatBody::Pairs(table(rows.iter().map(make).collect(), 8, extra))
            }
            11 => {
                let make = |w: &[u32; 13]| RdatNodeInfo {
                    launch_type: w[0],
                    group_shared_bytes: w[1],
                    attributes: RdatArray(w[2]),
                    outputs: RdatArray(w[3]),
                    inputs: RdatArray(w[4]),
                };
                RdatBody::NodeInfos(table(rows.iter().map(make).collect(), 20, extra))
            }
            _ => RdatBody::Opaque(tail.into()),
        };
        RdatPart {
            kind: RdatKind(kind),
            body,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn program(
        v in any::<(u32, u32)>(),
        gap in words4(3),
        bitcode in vec(any::<u8>(), 1..60),
        trailing in bytes(9),
        short in any::<u32>(),
    ) {
        let total = (24 + gap.len() + bitcode.len() + trailing.len()) as u32;
        there_and_back(FourCc::DXIL, &Part::Program(Program {
            version: ProgramVersion(v.0),
            size_in_words: short % (total / 4 + 1),
            dxil_version: v.1,
            gap: gap.into(),
            bitcode: bitcode.into(),
            trailing: trailing.into(),
        }))?;
    }

    #[test]
    fn program_as_dxc_writes_it(bitcode in vec(any::<u8>(), 1..60)) {
        let v = ProgramVersion::new(ShaderKind::COMPUTE, 6, 6);
        let p = Program::new(v, 0x106, bitcode).expect("small");
        prop_assert!(p.size_agrees());
        there_and_back(FourCc::DXIL, &Part::Program(p))?;
    }

    #[test]
    fn features_and_hash(flags in any::<u64>(), f in any::<u32>(), d in any::<[u8; 16]>(), t in bytes(9)) {
        let flags = FeatureFlags(flags);
        there_and_back(FourCc::SFI0, &Part::Features(Features { flags, trailing: t.clone().into() }))?;
        let hash = ShaderHash { flags: f, digest: Digest(d), trailing: t.into() };
        there_and_back(FourCc::HASH, &Part::Hash(hash))?;
    }

    #[test]
    fn debug_name(flags in any::<u16>(), name in bytes(40), trailing in bytes(5)) {
        there_and_back(FourCc::ILDN, &Part::DebugName(DebugName {
            flags,
            name: name.into(),
            trailing: trailing.into(),
        }))?;
    }

    #[test]
    fn version(n in any::<(u16, u16, u32, u32)>(), sha in name(9), custom in name(20), strings in 0..3u8) {
        there_and_back(FourCc::VERS, &Part::Version(Version {
            major: n.0,
            minor: n.1,
            flags: n.2,
            commit_count: n.3,
            commit_sha: (strings > 0).then_some(sha.into()),
            custom_version: (strings > 1).then_some(custom.into()),
        }))?;
    }

    #[test]
    fn pipeline_state_validation(psv in psv()) {
        there_and_back(FourCc::PSV0, &Part::Psv(Box::new(psv)))?;
    }

    #[test]
    fn stage_fields(kind in 0..17u16, b in any::<[u8; 16]>()) {
        let kind = ShaderKind(kind);
        let once = PsvStage::from_bytes(kind, b);
        prop_assert_eq!(PsvStage::from_bytes(kind, once.to_bytes()), once);
    }

    #[test]
    fn signature(
        descs in vec(("[A-C]{1,3}", any::<[u32; 6]>(), any::<(u8, u8, u16, u32)>()), 0..8),
        shared in any::<bool>(),
    ) {
        let layout = if shared { NameLayout::Shared } else { NameLayout::Repeated };
        let descs: Vec<_> = descs.iter().map(|(name, w, (mask, rw_mask, pad, precision))| ElementDesc {
            name,
            element: SignatureElement {
                stream: w[0],
                semantic_name: 0,
                semantic_index: w[1],
                system_value: SystemValue(w[2]),
                component_type: ComponentType(w[3]),
                register: w[4],
                mask: *mask,
                rw_mask: *rw_mask,
                pad: *pad,
                min_precision: MinPrecision(*precision),
            },
        }).collect();
        let s = Signature::build(&descs, layout).expect("builds");
        let mut found: Vec<_> = s.elements.iter()
            .map(|e| (s.name(e).expect("a name").to_vec(), e.semantic_index))
            .collect();
        let mut want: Vec<_> = descs.iter()
            .map(|d| (d.name.as_bytes().to_vec(), d.element.semantic_index))
            .collect();
        found.sort();
        want.sort();
        prop_assert_eq!(found, want);
        if shared {
            prop_assert_eq!(s.names.len() % 4, 0);
        }
        there_and_back(FourCc::ISG1, &Part::Signature(s))?;
    }

    #[test]
    fn root_signatures(root in root_signature()) {
        there_and_back(FourCc::RTS0, &Part::RootSignature(root))?;
    }

    #[test]
    fn runtime_data(parts in vec(rdat_part(), 0..6)) {
        there_and_back(FourCc::RDAT, &Part::Rdat(Rdat::new(parts)))?;
    }

    #[test]
    fn source_info(
        flags in any::<u16>(),
        sections in vec((any::<u16>(), any::<u16>(), bytes(20)), 0..4),
        unused in bytes(9),
        trailing in bytes(9),
        pdb in any::<(u16, u16, u32)>(),
    ) {
        let sections = sections.into_iter().map(|(flags, kind, data)| SourceSection {
            flags,
            kind: SourceSectionKind(kind),
            data: data.into(),
        }).collect();
        there_and_back(FourCc::PDBI, &Part::PdbInfo(PdbInfo {
            version: pdb.0,
            compression: Compression(pdb.1),
            uncompressed_size: pdb.2,
            data: unused.clone().into(),
            trailing: trailing.clone().into(),
        }))?;
        there_and_back(FourCc::SRCI, &Part::SourceInfo(SourceInfo {
            flags,
            sections,
            unused: unused.into(),
            trailing: trailing.into(),
        }))?;
    }

    #[test]
    fn containers(
        parts in vec((any::<[u8; 4]>(), bytes(40)), 0..40),
        minor in any::<u16>(),
        raw in any::<[u8; 16]>(),
        pick in 0..6usize,
    ) {
        let digest = [
            WriteDigest::Retail,
            WriteDigest::Debug,
            WriteDigest::Unsigned,
            WriteDigest::Bypass,
            WriteDigest::PreviewBypass,
            WriteDigest::Raw(Digest(raw)),
        ][pick];
        let mut w = ContainerWriter::new();
        w.minor_version(minor);
        for (kind, data) in &parts {
            w.part(FourCc(*kind), data);
        }
        let bytes = w.finish(digest).expect("small");
        let c = Container::read(&bytes).expect("strict");
        let found: Vec<_> = c.parts().map(|p| (p.kind.0, p.data.to_vec())).collect();
        prop_assert_eq!(found, parts);
        prop_assert_eq!(Object::from_container(&c).write().expect("unedited"), bytes);
    }
}

/// The names of DXC's own signatures, sorted as DXC sorts them: building them again gives its
/// bytes.
#[test]
fn signatures_are_built_as_dxc_builds_them() {
    let mut seen = 0;
    for f in kernite_dxbc_tests::files::fixtures() {
        let c = Container::read(&f.bytes).expect("reads");
        // Validators before 1.7 repeat names and do not pad.
        let layout = match f.name.split_once(".val_1_") {
            Some((_, v)) if v < "7" => continue,
            _ => NameLayout::Shared,
        };
        for kind in [FourCc::ISG1, FourCc::OSG1, FourCc::PSG1] {
            let Some(raw) = c.part(kind).expect("one") else {
                continue;
            };
            let s = Signature::read(raw.data).expect("reads");
            // DXC stores names in the order of its own list; the offsets show that order.
            let mut order: Vec<_> = s.elements.iter().collect();
            order.sort_by_key(|e| e.semantic_name);
            let descs: Vec<_> = order
                .iter()
                .map(|e| ElementDesc {
                    name: core::str::from_utf8(s.name(e).expect("a name")).expect("ASCII"),
                    element: **e,
                })
                .collect();
            let mut out = Vec::new();
            Signature::build(&descs, layout)
                .expect("builds")
                .write(&mut out)
                .expect("writes");
            assert_eq!(out, raw.data, "{} {kind}", f.name);
            seen += descs.len();
        }
    }
    assert!(seen >= 40, "{seen}");
}

/// Whatever a reference's layout, root signature and RDAT built anew equal DXC's.
#[test]
fn canonical_layouts_equal_dxc() {
    let mut seen = 0;
    for f in kernite_dxbc_tests::files::fixtures() {
        let c = Container::read(&f.bytes).expect("reads");
        let mut out = Vec::new();
        if let Some(root) = c.root_signature().expect("reads") {
            let mut anew = RootSignature::new(root.version);
            anew.flags = root.flags;
            anew.parameters = root.parameters.clone();
            anew.static_samplers = root.static_samplers.clone();
            anew.write(&mut out).expect("writes");
            assert_eq!(
                out,
                c.part(FourCc::RTS0).expect("one").expect("there").data,
                "{}",
                f.name
            );
            seen += 1;
        }
        out.clear();
        if let Some(rdat) = c.rdat().expect("reads") {
            Rdat::new(rdat.parts.clone())
                .write(&mut out)
                .expect("writes");
            assert_eq!(
                out,
                c.part(FourCc::RDAT).expect("one").expect("there").data,
                "{}",
                f.name
            );
            seen += 1;
        }
    }
    assert!(seen >= 20, "{seen}");
}

/// What its own reader would take for something else is not written.
#[test]
fn values_that_would_be_read_as_others_are_refused() {
    let refused = |rdat: &Rdat, field: &str| {
        let e = rdat.write(&mut Vec::new()).expect_err(field);
        let (WriteError::BadValue { field: f, .. } | WriteError::Mismatch { field: f, .. }) = e
        else {
            panic!("{e}")
        };
        assert_eq!(f, field, "{e}");
    };
    let strings = |kind| RdatPart {
        kind: RdatKind(kind),
        body: RdatBody::Strings(b"\0abc".as_slice().into()),
    };
    let mut rdat = Rdat::new(vec![strings(1)]);
    assert!(rdat.write(&mut Vec::new()).is_ok());
    rdat.version = 0xf;
    refused(&rdat, "Version");
    // Each type has its own body, and unknown ones are opaque.
    for kind in (0..14).filter(|&k| k != 1) {
        refused(&Rdat::new(vec![strings(1), strings(kind)]), "Type");
    }
    // Eight extra bytes are the second version's fields.
    let function = |stride, extra: &'static [u8], v2| {
        let value = RdatFunction {
            v2,
            ..RdatFunction::default()
        };
        let records = vec![RdatRecord {
            value,
            extra: extra.into(),
        }];
        let table = RdatTable {
            stride,
            records,
            trailing: Default::default(),
        };
        Rdat::new(vec![RdatPart {
            kind: RdatKind::FUNCTION_TABLE,
            body: RdatBody::Functions(table),
        }])
    };
    let v2 = Some(RdatFunction2::default());
    for (stride, extra, v2) in [(44, &[][..], None), (48, &[1; 4], None), (56, &[1; 4], v2)] {
        let part = Part::Rdat(function(stride, extra, v2));
        there_and_back(FourCc::RDAT, &part).expect("the same again");
    }
    refused(&function(52, &[1; 8], None), "RecordStride");
    refused(&function(44, &[], v2), "RecordStride");
    refused(&function(45, &[], None), "RecordStride");
    // A name that is not there, and no bitcode.
    let bad = Signature {
        elements: vec![SignatureElement::default()],
        names: b"A\0\0\0".as_slice().into(),
        ..Signature::default()
    };
    let e = bad
        .write(&mut Vec::new())
        .expect_err("a name in the header");
    assert_eq!(
        e.to_string(),
        "part ISG1, byte 0xc, SemanticName: may not be 0x0"
    );
    let program = Program::new(ProgramVersion(0x5_0060), 0x100, b"".as_slice());
    let e = program.and_then(|p| p.write(&mut Vec::new()));
    assert!(
        matches!(
            e,
            Err(WriteError::BadValue {
                field: "BitcodeSize",
                ..
            })
        ),
        "{e:?}"
    );
}
