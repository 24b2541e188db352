//! Strict reading against DXC's own `IsValidDxilContainer`, and lenient reading beside it.
#![forbid(unsafe_code)]

use kernite::dxbc::{
    Container, ContainerWriter, DeviationKind, FourCc, Object, WriteDigest,
    part::{Rdat, RdatBody, RdatFunction, RdatKind, RdatPart, RdatRecord, RdatTable},
};
use kernite_dxbc_tests::mutate::{EDGES, Rng, seeds};
use kernite_testkit::dxc::{CONTAINER_INVALID, Dxc, Refused};

/// A container of parts that DXC's validator does not know, so that whatever it says beyond the
/// structure is something else than `CONTAINER_INVALID`.
fn sample(rng: &mut Rng) -> Vec<u8> {
    let mut w = ContainerWriter::new();
    for _ in 0..rng.below(5) {
        let size = rng.below(14);
        let data: Vec<u8> = (0..size)
            .map(|_| EDGES[rng.below(EDGES.len())] as u8)
            .collect();
        w.part(FourCc(*b"WHAT"), data);
    }
    let mut bytes = w.finish(WriteDigest::Retail).expect("small");
    for _ in 0..rng.below(4) {
        let at = 4 * rng.below(bytes.len() / 4);
        // The magic's first byte decides what DXC takes the bytes for.
        let at = at.max(4);
        let Some(word) = bytes.get_mut(at..at + 4) else {
            continue;
        };
        let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let new = match rng.below(3) {
            0 => EDGES[rng.below(EDGES.len())],
            1 => old.wrapping_add(rng.below(9) as u32).wrapping_sub(4),
            _ => old ^ (1 << rng.below(32)),
        };
        word.copy_from_slice(&new.to_le_bytes());
    }
    match rng.below(6) {
        0 => bytes.extend_from_slice(b"tail"),
        1 => bytes.truncate(bytes.len() - rng.below(4)),
        _ => {}
    }
    bytes
}

#[test]
fn strict_reading_is_dxcs() {
    let Some(dxc) = Dxc::get() else { return };
    let mut dxc = dxc.session();
    let mut rng = Rng::new(7);
    let (mut valid, mut invalid) = (0, 0);
    let mutants = seeds(6000);
    for _ in 0..mutants {
        let bytes = sample(&mut rng);
        let theirs = match dxc.validate(&bytes) {
            Ok(()) => true,
            Err(Refused::Invalid { status, .. }) => status != CONTAINER_INVALID,
            Err(e) => panic!("{e}: {bytes:02x?}"),
        };
        let ours = Container::read(&bytes);
        assert_eq!(ours.is_ok(), theirs, "{ours:?}\n{bytes:02x?}");
        if theirs {
            valid += 1;
        } else {
            invalid += 1;
        }
    }
    println!("{valid} valid, {invalid} invalid");
    assert!(valid >= mutants / 6 && invalid >= mutants / 6);
}

#[test]
fn strict_containers_read_leniently_to_the_same() {
    let mut rng = Rng::new(8);
    for _ in 0..6000 {
        let bytes = sample(&mut rng);
        let lenient = Container::read_lenient(&bytes);
        let Ok(strict) = Container::read(&bytes) else {
            // What only the lenient reader takes has a gap or an order to show for it.
            if let Ok(c) = lenient {
                assert!(c.deviations().iter().any(|d| matches!(
                    d.kind,
                    DeviationKind::Gap(_) | DeviationKind::OutOfOrder(_)
                )));
            }
            continue;
        };
        let lenient = lenient.expect("lenient takes what strict takes");
        assert_eq!(strict.deviations(), lenient.deviations());
        assert!(strict.parts().eq(lenient.parts()));
    }
}

fn raw(size: u32, minor: u16, entries: &[u32], parts: &[(u32, &[u8; 4], u32)]) -> Vec<u8> {
    let mut b = b"DXBC".to_vec();
    b.extend([0; 16]);
    b.extend(1u16.to_le_bytes());
    b.extend(minor.to_le_bytes());
    b.extend(size.to_le_bytes());
    b.extend((entries.len() as u32).to_le_bytes());
    for e in entries {
        b.extend(e.to_le_bytes());
    }
    b.resize(size as usize, 0xee);
    for &(at, kind, size) in parts {
        let at = at as usize;
        b[at..at + 4].copy_from_slice(kind);
        b[at + 4..at + 8].copy_from_slice(&size.to_le_bytes());
    }
    b
}

#[test]
fn deviations_are_named_with_their_offsets() {
    // Directory at 32..40, a gap of 4, part B at 44 (size 4), part A at 56 (size 3), 5 bytes left
    // over, then 2 bytes after the container.
    let mut b = raw(72, 3, &[56, 44], &[(44, b"BBBB", 4), (56, b"AAAA", 3)]);
    b.extend([9, 9]);
    assert!(Container::read(&b).is_err());
    let c = Container::read_lenient(&b).expect("lenient");
    let mut found: Vec<_> = c.deviations().iter().map(|d| (d.offset, d.kind)).collect();
    found.sort_by_key(|d| d.0);
    assert_eq!(
        found,
        [
            (22, DeviationKind::MinorVersion(3)),
            (36, DeviationKind::OutOfOrder(1)),
            (40, DeviationKind::Gap(4)),
            (67, DeviationKind::Gap(5)),
            (72, DeviationKind::TrailingBytes(2)),
        ]
    );
    let kinds: Vec<_> = c.parts().map(|p| (p.kind.0, p.data.len())).collect();
    assert_eq!(kinds, [(*b"AAAA", 3), (*b"BBBB", 4)]);
    assert_eq!(Object::from_container(&c).write().expect("writes"), b);
}

#[test]
fn unaligned_parts_are_read_strictly() {
    let mut w = ContainerWriter::new();
    w.part(FourCc(*b"ODD1"), &[1; 5])
        .part(FourCc(*b"ODD2"), &[2; 3])
        .part(FourCc(*b"EVEN"), &[3; 4]);
    let bytes = w.finish(WriteDigest::Retail).expect("writes");
    let c = Container::read(&bytes).expect("strict");
    assert_eq!(c.deviations(), []);
    let sizes: Vec<_> = c.parts().map(|p| (p.offset % 4, p.data.len())).collect();
    assert_eq!(sizes, [(0, 5), (1, 3), (0, 4)]);
}

#[test]
fn aliases_and_parts_over_the_directory_are_refused() {
    for (entries, parts) in [
        // Twice the same part.
        (vec![44, 44], vec![(44, b"AAAA", 4)]),
        // Over the directory, and over the header.
        (vec![36], vec![(36, b"AAAA", 4)]),
        (vec![28], vec![]),
        (vec![0], vec![]),
        // One inside the other.
        (vec![44, 52], vec![(44, b"AAAA", 16), (52, b"BBBB", 0)]),
    ] {
        let shift = 4 * entries.len() as u32;
        let b = raw(72 + shift, 0, &entries, &parts);
        let first = entries[0];
        if first == 36 && entries.len() == 1 {
            // 36 is right behind a directory of one: this one is sound but for the gap behind it.
            assert!(Container::read_lenient(&b).is_ok());
            continue;
        }
        assert!(Container::read(&b).is_err(), "{entries:?}");
        assert!(Container::read_lenient(&b).is_err(), "{entries:?}");
    }
}

/// A directory of many parts, in order, reversed, and all of one kind.
#[test]
fn many_parts_take_linear_time() {
    let n = 80_000u32;
    let mut w = ContainerWriter::new();
    for i in 0..n {
        w.part(FourCc(i.to_le_bytes()), &[]);
    }
    let mut bytes = w.finish(WriteDigest::Unsigned).expect("writes");
    assert_eq!(Container::read(&bytes).expect("strict").deviations(), []);
    // Reverse the directory.
    let (start, end) = (32, 32 + 4 * n as usize);
    let mut entries: Vec<[u8; 4]> = bytes[start..end].as_chunks::<4>().0.to_vec();
    entries.reverse();
    bytes[start..end].copy_from_slice(entries.as_flattened());
    let c = Container::read_lenient(&bytes).expect("lenient");
    assert_eq!(c.deviations().len(), n as usize - 1);
    assert_eq!(Object::from_container(&c).write().expect("writes"), bytes);

    let mut w = ContainerWriter::new();
    for _ in 0..n {
        w.part(FourCc(*b"SAME"), &[]);
    }
    let bytes = w.finish(WriteDigest::Unsigned).expect("writes");
    let c = Container::read(&bytes).expect("strict");
    assert_eq!(c.deviations().len(), n as usize - 1);
    assert_eq!(c.check(), []);
}

/// As many parts as records inside `RDAT`, each record with references to look up.
#[test]
fn many_runtime_data_parts_take_linear_time() {
    let n = 50_000;
    let opaque = RdatPart {
        kind: RdatKind(99),
        body: RdatBody::Opaque(Default::default()),
    };
    let mut parts = vec![opaque; n];
    let record = RdatRecord {
        value: RdatFunction::default(),
        extra: Default::default(),
    };
    parts.push(RdatPart {
        kind: RdatKind::FUNCTION_TABLE,
        body: RdatBody::Functions(RdatTable {
            stride: 44,
            records: vec![record; n],
            trailing: Default::default(),
        }),
    });
    let mut data = Vec::new();
    Rdat::new(parts).write(&mut data).expect("writes");
    let mut w = ContainerWriter::new();
    w.part(FourCc::RDAT, data);
    let bytes = w.finish(WriteDigest::Unsigned).expect("writes");
    let faults = Container::read(&bytes).expect("strict").check();
    // No strings, no arrays: two names and two lists of each function. And no program.
    assert_eq!(faults.len(), 4 * n + 1);
}
