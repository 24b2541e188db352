//! Every fixture reads strictly, is consistent, and is written back byte for byte.
#![forbid(unsafe_code)]

use kernite::dxbc::{Container, DigestKind, FourCc, part::Part};
use kernite_dxbc_tests::{files, fuzz};

#[test]
fn every_fixture_round_trips() {
    for f in files::fixtures() {
        fuzz::dxbc_roundtrip(&f.bytes);
    }
}

#[test]
fn every_part_of_every_fixture_decodes() {
    for f in files::fixtures() {
        let c = Container::read(&f.bytes).unwrap_or_else(|e| panic!("{}: {e}", f.name));
        assert_eq!(c.deviations(), [], "{}", f.name);
        for raw in c.parts() {
            let part = raw.read().unwrap_or_else(|e| panic!("{}: {e}", f.name));
            let known = raw.kind.is_dxil_kind();
            assert_eq!(matches!(part, Part::Unknown(_)), !known, "{}", f.name);
            if let Part::Psv(p) = part {
                assert_eq!(p.trailing.len(), 0, "{}: PSV0 not consumed", f.name);
            }
        }
    }
}

#[test]
fn every_fixture_is_consistent() {
    for f in files::fixtures() {
        let c = Container::read(&f.bytes).expect("reads");
        assert_eq!(c.check(), [], "{}", f.name);
    }
}

#[test]
fn digests_of_the_fixtures() {
    let (mut signed, mut unsigned) = (0, 0);
    for f in files::fixtures() {
        let kind = Container::read(&f.bytes).expect("reads").digest_kind();
        if f.name.contains("/signed/") || f.name.contains("/psv4-byhand/") {
            assert_eq!(kind, DigestKind::Retail, "{}", f.name);
            signed += 1;
        } else {
            assert_eq!(kind, DigestKind::Unsigned, "{}", f.name);
            unsigned += 1;
        }
    }
    assert!(signed >= 75 && unsigned >= 90, "{signed} {unsigned}");
}

#[test]
fn order_of_parts_is_dxcs() {
    let order = |kind: FourCc| {
        [
            b"SFI0", b"VERS", b"ISG1", b"OSG1", b"PSG1", b"PSV0", b"RTS0", b"RDAT", b"ILDB",
            b"STAT", b"ILDN", b"HASH", b"DXIL", b"PRIV",
        ]
        .iter()
        .position(|k| **k == kind.0)
    };
    for f in files::fixtures()
        .iter()
        .filter(|f| f.name.ends_with(".dxil"))
    {
        let c = Container::read(&f.bytes).expect("reads");
        let places: Vec<_> = c.parts().map(|p| order(p.kind)).collect();
        assert!(places.is_sorted(), "{}", f.name);
    }
}
