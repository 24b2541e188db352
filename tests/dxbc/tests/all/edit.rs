//! Editing containers.
#![forbid(unsafe_code)]

use kernite::dxbc::{
    Container, ContainerWriter, DigestKind, FourCc, InconsistencyKind, Object, Strip, WriteDigest,
    WriteError,
    part::{
        DebugName, FeatureFlags, Features, Part, RootDescriptor, RootParameter, RootPayload,
        RootSignatureVersion, ShaderVisibility,
    },
};
use kernite_dxbc_tests::files;
use kernite_testkit::dxc::Dxc;

fn kinds(bytes: &[u8]) -> Vec<String> {
    let c = Container::read(bytes).expect("strict");
    c.parts().map(|p| p.kind.to_string()).collect()
}

fn kind_of(bytes: &[u8]) -> DigestKind {
    Container::read(bytes).expect("strict").digest_kind()
}

#[test]
fn the_digest_follows_its_kind() {
    let signed = files::read("fixtures/signed/saxpy.cs_6_6.dxil");
    for kind in [
        WriteDigest::Retail,
        WriteDigest::Debug,
        WriteDigest::Unsigned,
        WriteDigest::Bypass,
        WriteDigest::PreviewBypass,
    ] {
        let mut o = Object::read(&signed).expect("reads");
        o.set_digest(kind);
        let before = o.write().expect("writes");
        let mut o = Object::read(&before).expect("reads");
        o.remove(FourCc::STAT).expect("there");
        let after = o.write().expect("writes");
        assert_eq!(kind_of(&before), kind_of(&after));
        assert!(after.len() < before.len());
    }
    // A digest that did not match becomes zero, as DXC's builder has it.
    let mut broken = signed.clone();
    broken[7] ^= 1;
    let mut o = Object::read(&broken).expect("reads");
    assert_eq!(o.write().expect("writes"), broken);
    o.remove(FourCc::STAT).expect("there");
    assert_eq!(kind_of(&o.write().expect("writes")), DigestKind::Unsigned);
}

#[test]
fn private_data_stays_last_and_may_have_any_size() {
    let signed = files::read("fixtures/signed/saxpy.cs_6_6.dxil");
    let mut o = Object::read(&signed).expect("reads");
    o.add(FourCc::PRIV, b"12345".as_slice()).expect("any size");
    let mut name = Vec::new();
    let ildn = DebugName::new("abc.pdb").expect("a name");
    ildn.write(&mut name).expect("writes");
    o.add(FourCc::ILDN, name).expect("goes before PRIV");
    let bytes = o.write().expect("writes");
    let kinds = kinds(&bytes);
    assert_eq!(kinds[kinds.len() - 3..], ["DXIL", "ILDN", "PRIV"]);
    assert_eq!(kind_of(&bytes), DigestKind::Retail);
    let c = Container::read(&bytes).expect("reads");
    assert_eq!(
        &*c.debug_name().expect("reads").expect("there").name,
        b"abc.pdb"
    );

    let e = o.add(FourCc::PRIV, b"6".as_slice());
    assert_eq!(e, Err(WriteError::DuplicatePart { part: FourCc::PRIV }));
    let e = o.add(FourCc::ILDB, b"odd".as_slice());
    assert!(matches!(e, Err(WriteError::Unaligned { size: 3, .. })));
    let e = o.replace(FourCc::PRIV, signed.clone());
    assert!(matches!(e, Err(WriteError::NestedContainer { .. })));
    let e = o.remove(FourCc::RDAT);
    assert_eq!(e, Err(WriteError::MissingPart { part: FourCc::RDAT }));
    let e = o.replace(FourCc::RDAT, b"".as_slice());
    assert_eq!(e, Err(WriteError::MissingPart { part: FourCc::RDAT }));
    // None of the refusals changed anything.
    assert_eq!(o.write().expect("writes"), bytes);
}

#[test]
fn removing_what_was_added_gives_the_first_bytes_again() {
    for f in files::fixtures() {
        let mut o = Object::read(&f.bytes).expect("reads");
        o.add(FourCc::PRIV, b"x".as_slice()).expect("none yet");
        o.remove(FourCc::PRIV).expect("there");
        assert_eq!(o.write().expect("consistent"), f.bytes, "{}", f.name);
    }
}

#[test]
fn strip_takes_what_it_says() {
    let bytes = files::read("fixtures/signed/saxpy.cs_6_6.Zi_embed.dxil");
    let mut o = Object::read(&bytes).expect("reads");
    assert_eq!(
        o.strip(Strip {
            debug: true,
            ..Strip::default()
        }),
        1
    );
    assert_eq!(o.strip(Strip::RUNTIME), 2);
    assert_eq!(o.strip(Strip::RUNTIME), 0);
    let out = o.write().expect("writes");
    assert_eq!(
        kinds(&out),
        ["SFI0", "ISG1", "OSG1", "PSV0", "RTS0", "HASH", "DXIL"]
    );
    assert_eq!(kind_of(&out), DigestKind::Retail);
    // Nothing to strip changes nothing.
    let plain = files::read("fixtures/rootsig_1_0.dxil");
    let mut o = Object::read(&plain).expect("reads");
    assert_eq!(o.strip(Strip::RUNTIME), 0);
    assert_eq!(o.write().expect("writes"), plain);
}

#[test]
fn dxc_validates_stripped_containers() {
    let Some(dxc) = Dxc::get() else { return };
    let mut dxc = dxc.session();
    for f in files::fixtures() {
        if !f.name.ends_with(".dxil") || f.name.contains("rootsig") || f.name.contains("psv4") {
            continue;
        }
        if dxc.validate(&f.bytes).is_err() {
            // GS stream tables and the like, where two validators disagree about DXC's own output.
            println!("not valid before: {}", f.name);
            continue;
        }
        let mut o = Object::read(&f.bytes).expect("reads");
        o.strip(Strip::RUNTIME);
        let verdict = dxc.validate(&o.write().expect("consistent"));
        assert_eq!(verdict, Ok(()), "{}", f.name);
    }
}

/// The same edits by `IDxcContainerBuilder` give the same bytes.
#[test]
fn edits_are_those_of_dxcs_builder() {
    let Some(dxc) = Dxc::get() else { return };
    let mut dxc = dxc.session();
    let mut name = Vec::new();
    DebugName::new("abc.pdb")
        .expect("a name")
        .write(&mut name)
        .expect("writes");
    let private = b"12345".as_slice();
    let mut seen = 0;
    for f in files::fixtures() {
        // This builder does not sign: unsigned in, unsigned out.
        if !f.name.ends_with(".dxil") || kind_of(&f.bytes) != DigestKind::Unsigned {
            continue;
        }
        type Edit<'a> = (&'a [FourCc], &'a [(FourCc, &'a [u8])]);
        let edits: [Edit; 4] = [
            (&[], &[]),
            (&[FourCc::STAT], &[]),
            (&[], &[(FourCc::PRIV, private), (FourCc::ILDN, &name)]),
            (
                &[FourCc::STAT],
                &[(FourCc::PRIV, private), (FourCc::ILDN, &name)],
            ),
        ];
        for (remove, add) in edits {
            let kinds: Vec<_> = remove.iter().map(|k| k.0).collect();
            let parts: Vec<_> = add.iter().map(|&(k, data)| (k.0, data)).collect();
            let theirs = dxc.build(&f.bytes, &kinds, &parts);
            let mut o = Object::read(&f.bytes).expect("reads");
            let ours = (|| {
                for kind in remove {
                    o.remove(*kind)?;
                }
                for (kind, data) in add {
                    o.add(*kind, *data)?;
                }
                o.write()
            })();
            match (ours, theirs) {
                (Ok(ours), Ok(theirs)) => {
                    assert!(ours == theirs, "{}: {remove:?} {add:?}", f.name);
                    seen += 1;
                }
                (Err(_), Err(_)) => {}
                (ours, theirs) => panic!("{}: {ours:?}, {theirs:?}", f.name),
            }
        }
    }
    assert!(seen >= 200, "{seen}");
}

#[test]
fn dxc_takes_the_root_signatures_we_write() {
    let Some(dxc) = Dxc::get() else { return };
    let mut dxc = dxc.session();
    let bytes = files::read("fixtures/rootsig_1_0.dxil");
    let c = Container::read(&bytes).expect("reads");
    let mut root = c.root_signature().expect("reads").expect("there");
    for version in [RootSignatureVersion::V1_0, RootSignatureVersion::V1_1] {
        root.version = version;
        // Another layout than what was read: one parameter more, one sampler more.
        let mut more = root.clone();
        more.parameters.push(RootParameter {
            visibility: ShaderVisibility::ALL,
            payload: RootPayload::Srv(RootDescriptor {
                register: 40,
                space: 9,
                flags: 0,
            }),
        });
        let mut sampler = more.static_samplers[0];
        sampler.register = 77;
        more.static_samplers.push(sampler);
        for root in [&root, &more] {
            let mut o = Object::read(&bytes).expect("reads");
            o.set_part(FourCc::RTS0, &Part::RootSignature(root.clone()))
                .expect("encodes");
            let verdict = dxc.validate_root_signature(&o.write().expect("writes"));
            assert_eq!(verdict, Ok(()));
        }
        // And it refuses a wrong one.
        more.static_samplers[0].register = 77;
        let mut o = Object::read(&bytes).expect("reads");
        o.set_part(FourCc::RTS0, &Part::RootSignature(more))
            .expect("encodes");
        let verdict = dxc.validate_root_signature(&o.write().expect("writes"));
        assert!(verdict.is_err());
    }
}

#[test]
fn what_contradicts_itself_is_not_signed() {
    let signed = files::read("fixtures/signed/vecadd.cs_6_0.dxil");
    let source = Container::read(&signed).expect("reads");
    let mut psv = source.psv().expect("reads").expect("there");
    psv.info.num_threads = Some([0, 1, 1]);
    let other = files::read("fixtures/signed/tri.vs_6_0.dxil");
    let other = Container::read(&other).expect("reads");
    let vertex_psv = other.psv().expect("reads").expect("there");
    let foreign = other.program().expect("reads").expect("there");
    let broken: [(FourCc, Part); 3] = [
        (FourCc::PSV0, Part::Psv(Box::new(psv))),
        (FourCc::PSV0, Part::Psv(Box::new(vertex_psv))),
        (FourCc::DXIL, Part::Program(foreign)),
    ];
    for (kind, part) in broken {
        for digest in [WriteDigest::Retail, WriteDigest::Debug, WriteDigest::Bypass] {
            let mut o = Object::from_container(&source);
            o.set_digest(digest);
            o.set_part(kind, &part).expect("encodes");
            let mut out = Vec::new();
            let e = o.write_into(&mut out).expect_err("inconsistent");
            assert!(matches!(e, WriteError::Inconsistent(l) if !l.is_empty()));
            assert!(out.is_empty());
        }
        // Unsigned it may be written, to look at it.
        let mut o = Object::from_container(&source);
        o.set_part(kind, &part).expect("encodes");
        o.set_digest(WriteDigest::Unsigned);
        let out = o.write().expect("unsigned");
        assert_eq!(kind_of(&out), DigestKind::Unsigned);
        // Nor can it be signed afterwards.
        let mut o = Object::read(&out).expect("reads");
        o.set_digest(WriteDigest::Retail);
        assert!(matches!(o.write(), Err(WriteError::Inconsistent(_))));
    }
}

/// Each rule about which parts there are, one removal or addition each.
#[test]
fn parts_that_are_missing_or_forbidden() {
    let faults = |file: &str, edit: &dyn Fn(&mut Object)| {
        let bytes = files::read(file);
        let mut o = Object::read(&bytes).expect("reads");
        edit(&mut o);
        let list: Vec<_> = o.check().into_iter().map(|i| (i.part, i.kind)).collect();
        // What is at fault is not signed.
        o.set_digest(WriteDigest::Retail);
        assert_eq!(o.write().is_ok(), list.is_empty(), "{file}");
        list
    };
    let (vs, lib) = (
        "fixtures/signed/tri.vs_6_0.dxil",
        "fixtures/signed/libcs.lib_6_6.dxil",
    );
    for part in [FourCc::SFI0, FourCc::ISG1, FourCc::OSG1, FourCc::PSV0] {
        let found = faults(vs, &|o| o.remove(part).expect("there"));
        assert!(
            found.contains(&(part, InconsistencyKind::Missing)),
            "{found:?}"
        );
    }
    let missing = |part| vec![(part, InconsistencyKind::Missing)];
    assert_eq!(
        faults(vs, &|o| o.remove(FourCc::DXIL).expect("there")),
        missing(FourCc::DXIL)
    );
    assert_eq!(
        faults(lib, &|o| o.remove(FourCc::RDAT).expect("there")),
        missing(FourCc::RDAT)
    );
    for part in [FourCc::HASH, FourCc::STAT] {
        assert_eq!(faults(vs, &|o| o.remove(part).expect("there")), []);
    }
    assert_eq!(faults(lib, &|o| o.remove(FourCc::VERS).expect("there")), []);

    let library = files::read(lib);
    let shader = files::read(vs);
    let (library, shader) = (
        Object::read(&library).expect("reads"),
        Object::read(&shader).expect("reads"),
    );
    for part in [FourCc::RDAT, FourCc::VERS] {
        let data = library.get(part).expect("there").to_vec();
        let found = faults(vs, &|o| o.add(part, data.clone()).expect("not there"));
        assert_eq!(found, [(part, InconsistencyKind::Forbidden)]);
    }
    for part in [FourCc::PSV0, FourCc::ISG1, FourCc::OSG1] {
        let data = shader.get(part).expect("there").to_vec();
        let found = faults(lib, &|o| o.add(part, data.clone()).expect("not there"));
        assert!(
            found.contains(&(part, InconsistencyKind::Forbidden)),
            "{found:?}"
        );
    }
    // A hash of another program, a signature of another shader.
    let foreign = library.get(FourCc::HASH).expect("there").to_vec();
    let found = faults(vs, &|o| {
        o.replace(FourCc::HASH, foreign.clone()).expect("there")
    });
    assert!(matches!(
        found[..],
        [(FourCc::HASH, InconsistencyKind::HashDiffers { .. })]
    ));
    let empty = [0, 0, 0, 0, 8, 0, 0, 0];
    let found = faults(vs, &|o| {
        o.replace(FourCc::ISG1, empty.to_vec()).expect("there")
    });
    assert!(matches!(
        found[..],
        [(
            FourCc::ISG1,
            InconsistencyKind::Differs {
                found: 0,
                expected: 3,
                ..
            }
        )]
    ));
    let long = [0; 12];
    let found = faults(vs, &|o| {
        o.replace(FourCc::SFI0, long.to_vec()).expect("there")
    });
    assert_eq!(found, [(FourCc::SFI0, InconsistencyKind::TrailingBytes(4))]);
}

#[test]
fn a_changed_part_is_hashed_anew() {
    let signed = files::read("fixtures/signed/vecadd.cs_6_0.dxil");
    let mut o = Object::read(&signed).expect("reads");
    let features = Part::Features(Features::new(FeatureFlags::DOUBLES));
    o.set_part(FourCc::SFI0, &features).expect("replaces");
    let out = o.write().expect("consistent");
    assert_eq!(kind_of(&out), DigestKind::Retail);
    assert_ne!(out[4..20], signed[4..20]);
    assert_eq!(out.len(), signed.len());
}

#[test]
fn a_part_is_patched_only_where_it_fits() {
    let version = kernite::dxbc::part::Version {
        commit_sha: Some(b"fd7e54bc".into()),
        custom_version: Some([b'9'; 100].as_slice().into()),
        ..Default::default()
    };
    let mut slot = [0xaa; 84];
    let e = Part::Version(version.clone()).write_to_slot(&mut slot);
    assert!(matches!(
        e,
        Err(WriteError::TooLarge {
            value: 128,
            limit: 84,
            ..
        })
    ));
    assert_eq!(slot, [0xaa; 84]);
    let mut slot = [0xaa; 130];
    let n = Part::Version(version)
        .write_to_slot(&mut slot)
        .expect("fits");
    assert_eq!((n, slot[127], slot[128]), (128, 0, 0xaa));
}

#[test]
fn gaps_are_kept_until_a_part_changes() {
    let mut w = ContainerWriter::new();
    w.part(FourCc::SFI0, &[0; 8]);
    let mut bytes = w.finish(WriteDigest::Unsigned).expect("writes");
    bytes.extend_from_slice(b"tail");
    let size = bytes.len() as u32;
    bytes[24..28].copy_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(b"after");
    let mut o = Object::read(&bytes).expect("lenient");
    assert_eq!(o.write().expect("writes"), bytes);
    // Signing keeps the layout, and the digest covers the gap and not what follows.
    o.set_digest(WriteDigest::Retail);
    let signed = o.write().expect("writes");
    assert_eq!(signed[20..], bytes[20..]);
    let c = Container::read_lenient(&signed).expect("lenient");
    assert_eq!(c.digest_kind(), DigestKind::Retail);
    assert_eq!(c.trailing_bytes(), b"after");
    o.add(FourCc::PRIV, b"p".as_slice()).expect("adds");
    assert!(Container::read(&o.write().expect("writes")).is_ok());
}

/// Containers of shader models 4 and 5 have the same header and digest, and parts that are kept as
/// they are; `STAT` there is a list of counters.
#[test]
fn shader_model_5() {
    let counters = [7u8; 148];
    let mut w = ContainerWriter::new();
    for kind in [b"RDEF", b"ISGN", b"OSGN", b"SHEX", b"SHEX"] {
        w.part(FourCc(*kind), kind.as_slice());
    }
    w.part(FourCc::STAT, counters.as_slice());
    let bytes = w.finish(WriteDigest::Debug).expect("consistent");
    let c = Container::read(&bytes).expect("strict");
    assert_eq!((c.digest_kind(), c.check()), (DigestKind::Debug, vec![]));
    let stat = c.part(FourCc::STAT).expect("one").expect("there");
    assert_eq!(stat.read(), Ok(Part::Unknown(counters.as_slice().into())));
    assert!(c.reflection().is_err() && c.part(FourCc(*b"SHEX")).is_err());

    let mut o = Object::from_container(&c);
    assert_eq!(o.write(), Ok(bytes.clone()));
    assert_eq!(o.strip(Strip::RUNTIME), 2);
    let stripped = o.write().expect("consistent");
    let c = Container::read(&stripped).expect("strict");
    assert_eq!((c.digest_kind(), c.part_count()), (DigestKind::Debug, 4));
}
