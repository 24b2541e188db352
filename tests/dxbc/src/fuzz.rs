//! Fuzz bodies. Each takes any bytes; a panic is a bug.
#![forbid(unsafe_code)]

use crate::mutate::{Rng, mutate};
use kernite::dxbc::{
    Container, ContainerWriter, DigestKind, FourCc, Mode, Object, Strip, WriteDigest,
    part::{Part, RdatBody},
};

/// Reads in both modes, decodes every part, and follows every reference.
pub fn dxbc_read(data: &[u8]) {
    for mode in [Mode::Strict, Mode::Lenient] {
        let container = match Container::read_with(data, mode) {
            Ok(c) => c,
            Err(e) => {
                assert!(e.offset() <= data.len() as u64 || data.len() < 32, "{e}");
                let _ = e.to_string();
                continue;
            }
        };
        let _ = container.digest_kind();
        let _ = container.check();
        for d in container.deviations() {
            assert!(d.offset <= data.len() as u64);
            let _ = d.to_string();
        }
        for raw in container.parts() {
            match raw.read() {
                Ok(part) => follow(&part),
                Err(e) => {
                    let end = raw.data_offset() + raw.data.len() as u64;
                    assert!((raw.data_offset()..=end).contains(&e.offset()), "{e}");
                    assert_eq!(e.part(), Some(raw.kind));
                }
            }
        }
    }
    // The codecs alone, each on the whole input.
    for kind in [
        b"DXIL", b"SFI0", b"HASH", b"PSV0", b"ISG1", b"RTS0", b"RDAT", b"VERS", b"ILDN", b"SRCI",
        b"PDBI",
    ] {
        if let Ok(part) = Part::read(FourCc(*kind), data) {
            follow(&part);
        }
    }
}

/// Follows every reference inside a part.
fn follow(part: &Part) {
    match part {
        Part::Signature(s) => {
            for e in &s.elements {
                assert!(s.name(e).is_some(), "reading promises every name");
            }
        }
        Part::Psv(p) => {
            let _ = p.entry_name();
            for e in p.elements() {
                let _ = (p.element_name(e), p.element_indexes(e));
            }
            for r in &p.resources {
                let _ = r.count();
            }
        }
        Part::Rdat(r) => {
            for p in &r.parts {
                if let RdatBody::Functions(t) = &p.body {
                    // A name may be as long as the buffer: a few are enough.
                    for f in t.records.iter().take(16) {
                        let _ = r.string(f.value.name);
                        let _ = r.array(f.value.resources);
                    }
                }
                if let RdatBody::Subobjects(t) = &p.body {
                    for s in t.records.iter().take(16) {
                        let _ = s.value.root_signature().map(|b| r.raw_bytes(b).is_ok());
                    }
                }
            }
        }
        Part::SourceInfo(s) => {
            for section in s.sections.iter().take(16) {
                let _ = (section.names(), section.args());
            }
        }
        _ => {}
    }
}

/// What is accepted is written back byte for byte: whole containers and each part alone.
pub fn dxbc_roundtrip(data: &[u8]) {
    for mode in [Mode::Strict, Mode::Lenient] {
        let Ok(container) = Container::read_with(data, mode) else {
            continue;
        };
        let object = Object::from_container(&container);
        let written = object.write().expect("unedited objects are written");
        // What the strict reader takes may be followed by other bytes, which are kept as well.
        assert!(written == data, "object differs");
        for raw in container.parts() {
            let Ok(part) = raw.read() else { continue };
            let mut out = Vec::new();
            part.write(&mut out).expect("what was read can be written");
            assert!(out == raw.data, "part {} differs", raw.kind);
        }
        if mode == Mode::Strict {
            rebuild(&container);
        }
    }
    for kind in [b"PSV0", b"ISG1", b"RTS0", b"RDAT"] {
        if let Ok(part) = Part::read(FourCc(*kind), data) {
            let mut out = Vec::new();
            part.write(&mut out).expect("what was read can be written");
            assert!(out == data, "part differs");
        }
    }
}

/// A container whose structure is sound, of parts taken from others, some of them changed: what
/// mutations of a whole file seldom reach.
#[must_use]
pub fn shuffled(parts: &[(FourCc, Vec<u8>)], rng: &mut Rng) -> Vec<u8> {
    let mut writer = ContainerWriter::new();
    for _ in 0..rng.below(10) {
        let Some((kind, data)) = parts.get(rng.below(parts.len())) else {
            break;
        };
        let mut data = data.clone();
        if rng.below(2) == 0 {
            mutate(&mut data, rng);
        }
        // Now and then under another kind.
        let other = parts.get(rng.below(parts.len())).map(|p| p.0);
        let kind = if rng.below(16) == 0 {
            other
        } else {
            Some(*kind)
        };
        writer.part(kind.unwrap_or(FourCc::PRIV), data);
    }
    writer.finish(WriteDigest::Unsigned).expect("small")
}

/// Edits a container and signs it: what comes out is consistent and signed, or nothing does.
pub fn dxbc_edit(data: &[u8], parts: &[(FourCc, Vec<u8>)], rng: &mut Rng) {
    let Ok(mut object) = Object::read(data) else {
        return;
    };
    let Some((kind, part)) = parts.get(rng.below(parts.len())) else {
        return;
    };
    // Refused edits leave the container as it is.
    let _ = match rng.below(4) {
        0 => object.remove(*kind),
        1 => object.add(*kind, part),
        2 => object.replace(*kind, part),
        _ => {
            object.strip(Strip::RUNTIME);
            Ok(())
        }
    };
    let before = object.digest();
    assert!(!matches!(before, WriteDigest::Raw(_)) || object.write().is_ok_and(|b| b == data));
    object.set_digest(WriteDigest::Debug);
    if let Ok(bytes) = object.write() {
        let c = Container::read_lenient(&bytes).expect("what was written is read");
        assert_eq!(c.digest_kind(), DigestKind::Debug);
        assert_eq!(c.check(), []);
    }
}

/// The writer alone makes the same container of the same parts.
fn rebuild(container: &Container) {
    let mut writer = ContainerWriter::new();
    writer.minor_version(container.version().1);
    for p in container.parts() {
        writer.part(p.kind, p.data);
    }
    let raw = WriteDigest::Raw(container.digest());
    let again = writer.finish(raw).expect("it fitted before");
    assert!(again == container.bytes(), "rebuilt container differs");
    // And its digest, which is given only to parts that agree.
    let (digest, sound) = match container.digest_kind() {
        DigestKind::Retail => (WriteDigest::Retail, container.check().is_empty()),
        DigestKind::Debug => (WriteDigest::Debug, container.check().is_empty()),
        _ => return,
    };
    match writer.finish(digest) {
        Ok(again) => assert!(
            sound && again == container.bytes(),
            "signed container differs"
        ),
        Err(e) => assert!(!sound, "{e}"),
    }
}
