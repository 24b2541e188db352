//! Every hostile file has the outcome that `hostile/HOSTILE.md` lists.
#![forbid(unsafe_code)]

use kernite::dxbc::{
    Container, DeviationKind, FourCc, InconsistencyKind, Object, ReadErrorKind as K,
    part::{Part, RdatBody, ShaderKind},
};
use kernite_dxbc_tests::files;
use std::collections::BTreeSet;

fn load(name: &str) -> Vec<u8> {
    files::read(&format!("hostile/{name}.dxbc"))
}

/// Both modes refuse it, with the field named.
const REJECTED: &[(&str, &str)] = &[
    ("c01_empty", "header"),
    ("c03_header_31", "header"),
    ("c05_count_ffffffff", "PartCount"),
    ("c06_count_40000000", "PartCount"),
    ("c08_size_minus_1", "PartSize"),
    ("c10_size_over_max", "ContainerSizeInBytes"),
    ("c11_size_31", "ContainerSizeInBytes"),
    ("c13_major_2", "Version.Major"),
    ("c15_offset_max", "PartOffset"),
    ("c16_offset_straddles_end", "PartOffset"),
    ("c21_overlap", "PartOffset"),
    ("c23_part_size_wraps_to_0", "PartSize"),
];

#[test]
fn rejected_containers() {
    for (name, field) in REJECTED {
        let bytes = load(name);
        for e in [
            Container::read(&bytes).map(|_| ()).expect_err(name),
            Container::read_lenient(&bytes).map(|_| ()).expect_err(name),
        ] {
            assert_eq!(e.field(), *field, "{name}: {e}");
        }
    }
}

#[test]
fn refused_strictly_and_read_leniently() {
    let bytes = load("c18_offsets_swapped");
    let e = Container::read(&bytes).expect_err("out of order");
    assert!(matches!(e.kind(), K::NotContiguous { .. }), "{e}");
    assert_eq!(e.offset(), 32);
    let c = Container::read_lenient(&bytes).expect("lenient");
    assert_eq!(c.deviations().len(), 1);
    assert_eq!(c.deviations()[0].kind, DeviationKind::OutOfOrder(1));
    assert_eq!(c.deviations()[0].offset, 36);
    assert_eq!(Object::from_container(&c).write().expect("writes"), bytes);

    let bytes = load("c20_gap");
    assert!(Container::read(&bytes).is_err());
    let c = Container::read_lenient(&bytes).expect("lenient");
    assert_eq!(c.deviations().len(), 1);
    assert_eq!(c.deviations()[0].kind, DeviationKind::Gap(4));
    assert_eq!(Object::from_container(&c).write().expect("writes"), bytes);
}

#[test]
fn odd_containers_are_read() {
    let bytes = load("c25_duplicate_part");
    let c = Container::read(&bytes).expect("strict takes duplicates, as DXC does");
    let [d] = c.deviations() else {
        panic!("one deviation: {:?}", c.deviations())
    };
    let DeviationKind::DuplicatePart { part, first } = d.kind else {
        panic!("{d}")
    };
    assert_eq!(part, FourCc::SFI0);
    let e = c.part(FourCc::SFI0).expect_err("which one?");
    assert_eq!(
        (e.kind(), e.offset()),
        (K::DuplicatePart { first }, d.offset)
    );
    assert!(c.features().is_err());
    assert_eq!(c.parts_of(FourCc::SFI0).count(), 2);
    assert!(
        c.check()
            .iter()
            .any(|i| i.kind == InconsistencyKind::Duplicate)
    );

    let bytes = load("c26_fourcc_nonascii");
    let c = Container::read(&bytes).expect("unknown kinds are kept");
    let last = c.parts().last().expect("parts");
    assert_eq!(last.kind, FourCc([0, 0xff, 0x0a, 0x22]));
    assert_eq!(last.kind.to_string(), r#"\x00\xff\n\""#);
    assert!(matches!(last.read(), Ok(Part::Unknown(_))));

    let bytes = load("c28_zero_size_parts");
    let c = Container::read(&bytes).expect("the container is sound");
    for p in c.parts() {
        let e = p.read().expect_err("nothing in it");
        assert_eq!(e.part(), Some(p.kind));
    }
}

/// The container is read, its part of that kind is an error in that field.
const BAD_PARTS: &[(&str, FourCc, &str)] = &[
    ("p01_program_23", FourCc::DXIL, "DxilProgramHeader"),
    ("p02_words_max", FourCc::DXIL, "SizeInUint32"),
    ("p06_bitcode_offset_0", FourCc::DXIL, "BitcodeOffset"),
    ("p07_bitcode_offset_wraps", FourCc::DXIL, "BitcodeSize"),
    ("p09_bitcode_size_0", FourCc::DXIL, "BitcodeSize"),
    ("v01_psv_3_bytes", FourCc::PSV0, "PSVRuntimeInfoSize"),
    ("v03_info_size_wraps", FourCc::PSV0, "PSVRuntimeInfo"),
    ("v04_info_size_23", FourCc::PSV0, "PSVRuntimeInfoSize"),
    (
        "v06_res_count_mul_wraps",
        FourCc::PSV0,
        "PSVResourceBindInfo",
    ),
    ("v08_bind_size_0", FourCc::PSV0, "PSVResourceBindInfoSize"),
    ("v09_bind_size_15", FourCc::PSV0, "PSVResourceBindInfoSize"),
    ("v11_string_size_7", FourCc::PSV0, "StringTableSize"),
    ("v13_sem_count_wraps", FourCc::PSV0, "SemanticIndexTable"),
    ("v14_255_elements", FourCc::PSV0, "PSVSignatureElementSize"),
    ("v16_vectors_255", FourCc::PSV0, "InputToOutputTable"),
    ("v21_elem_size_0", FourCc::PSV0, "PSVSignatureElementSize"),
    ("o01_sfi0_7", FourCc::SFI0, "FeatureFlags"),
    ("o03_hash_19", FourCc::HASH, "Digest"),
    ("o08_vers_15", FourCc::VERS, "DxilCompilerVersion"),
    (
        "o09_vers_listsize_wraps",
        FourCc::VERS,
        "VersionStringListSizeInBytes",
    ),
    ("o11_vers_no_nul", FourCc::VERS, "CommitSha"),
    ("r02_part_offset", FourCc::RDAT, "PartOffset"),
    ("r03_version", FourCc::RDAT, "Version"),
    ("r05_stride_0", FourCc::RDAT, "RecordStride"),
    ("t01_rts0_version_4", FourCc::RTS0, "Version"),
    (
        "t03_rts0_param_offset",
        FourCc::RTS0,
        "RootParametersOffset",
    ),
    ("t04_rts0_param_type", FourCc::RTS0, "ParameterType"),
    ("t06_rts0_samplers", FourCc::RTS0, "StaticSamplersOffset"),
    ("s02_sig_offset", FourCc::ISG1, "ParamOffset"),
    ("s03_sig_name_in_header", FourCc::ISG1, "SemanticName"),
    ("s05_sig_no_nul", FourCc::ISG1, "SemanticName"),
];

#[test]
fn bad_parts() {
    for (name, kind, field) in BAD_PARTS {
        let bytes = load(name);
        let c = Container::read(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let raw = c.part(*kind).expect(name).expect(name);
        let e = raw.read().map(|_| ()).expect_err(name);
        assert_eq!((e.part(), e.field()), (Some(*kind), *field), "{name}: {e}");
        let end = raw.data_offset() + raw.data.len() as u64;
        assert!(
            (raw.data_offset()..=end).contains(&e.offset()),
            "{name}: {e}"
        );
        // Whoever asks for consistency is told the same.
        assert!(
            c.check()
                .iter()
                .any(|i| i.part == *kind && i.offset == e.offset()),
            "{name}"
        );
    }
}

fn check_kinds(bytes: &[u8]) -> Vec<InconsistencyKind> {
    let c = Container::read(bytes).expect("reads");
    c.check().into_iter().map(|i| i.kind).collect()
}

#[test]
fn programs_that_are_flagged() {
    let bytes = load("p04_words_1");
    let program = Container::read(&bytes).expect("reads").program();
    let program = program.expect("flagged, not refused").expect("there");
    assert_eq!(program.size_in_words, 1);
    assert!(!program.size_agrees());
    assert!(matches!(
        check_kinds(&bytes)[..],
        [InconsistencyKind::Differs { found: 4, .. }]
    ));

    let bytes = load("p11_kind_ffff");
    let program = Container::read(&bytes).expect("reads").program();
    let program = program.expect("an unknown kind").expect("there");
    assert_eq!(program.version.kind(), ShaderKind(0xffff));
    assert_eq!(program.version.kind().name(), None);

    let bytes = load("p12_bitcode_magic");
    let program = Container::read(&bytes).expect("reads").program();
    assert!(!program.expect("reads").expect("there").has_bitcode_magic());
    assert!(check_kinds(&bytes).contains(&InconsistencyKind::NoBitcodeMagic));
}

#[test]
fn psv_that_is_read_with_its_flaw() {
    let bytes = load("v18_stage_255");
    let psv = Container::read(&bytes).expect("reads").psv();
    let psv = psv.expect("an unknown stage").expect("there");
    assert_eq!(psv.stage(), Some(ShaderKind(255)));
    assert!(check_kinds(&bytes).iter().any(|k| matches!(
        k,
        InconsistencyKind::Differs {
            found: 255,
            expected: 5,
            ..
        }
    )));

    let bytes = load("v19_lower_gt_upper");
    let psv = Container::read(&bytes).expect("reads").psv();
    let psv = psv.expect("as stored").expect("there");
    let r = &psv.resources[0];
    assert_eq!((r.lower_bound, r.upper_bound, r.count()), (5, 2, None));
    assert!(check_kinds(&bytes).contains(&InconsistencyKind::EmptyRange { lower: 5, upper: 2 }));

    let bytes = load("v23_elem_name_offset");
    let psv = Container::read(&bytes).expect("reads").psv();
    let psv = psv.expect("parses").expect("there");
    let e = psv.element_name(&psv.inputs[0]).expect_err("the name");
    assert!(matches!(e.kind(), K::OutOfBounds { .. }));
    assert!(psv.element_name(&psv.inputs[1]).is_ok());
    assert!(!check_kinds(&bytes).is_empty());

    let bytes = load("v24_elem_index_offset");
    let psv = Container::read(&bytes).expect("reads").psv();
    let psv = psv.expect("parses").expect("there");
    assert!(psv.element_indexes(&psv.inputs[0]).is_err());
    assert!(psv.element_indexes(&psv.inputs[1]).is_ok());
    assert!(!check_kinds(&bytes).is_empty());
}

#[test]
fn other_parts_that_are_read_with_their_flaw() {
    let bytes = load("o04_hash_flags");
    let hash = Container::read(&bytes).expect("reads").shader_hash();
    assert_eq!(hash.expect("reads").expect("there").flags, 0xffff_fffe);

    let bytes = load("o06_ildn_inner_nul");
    let name = Container::read(&bytes).expect("reads").debug_name();
    let name = name.expect("by its length").expect("there");
    assert_eq!((name.name.len(), name.name.contains(&0)), (36, true));

    for (file, string_is_bad) in [("r07_string_ref", true), ("r08_index_ref", false)] {
        let bytes = load(file);
        let rdat = Container::read(&bytes).expect("reads").rdat();
        let rdat = rdat.expect("parses").expect("there");
        let functions = rdat.parts.iter().find_map(|p| match &p.body {
            RdatBody::Functions(t) => Some(t),
            _ => None,
        });
        let f = functions.expect("a function table").records[0].value;
        assert_eq!(rdat.string(f.name).is_err(), string_is_bad, "{file}");
        assert_eq!(rdat.array(f.resources).is_err(), !string_is_bad, "{file}");
        assert!(matches!(
            check_kinds(&bytes)[..],
            [InconsistencyKind::Unreadable(K::OutOfBounds { .. })]
        ));
    }
}

/// A hostile file that no test above names fails here.
#[test]
fn every_hostile_file_is_named() {
    let source = include_str!("hostile.rs");
    let missing: BTreeSet<_> = files::hostile()
        .into_iter()
        .filter_map(|f| {
            let name = f.name.rsplit('/').next()?.strip_suffix(".dxbc")?.to_owned();
            (!source.contains(&format!("\"{name}\""))).then_some(name)
        })
        .collect();
    assert_eq!(missing, BTreeSet::new());
}
