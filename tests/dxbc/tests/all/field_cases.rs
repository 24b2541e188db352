//! Faults that others' tools had in the field, each with the right answer.
#![forbid(unsafe_code)]

use kernite::dxbc::{
    ComputeInterface, ComputePackager, Container, ContainerWriter, Digest, FourCc, Object,
    ReadErrorKind as K, WriteDigest, WriteError,
    part::{Part, Program, Signature},
};
use kernite_dxbc_tests::files;

fn words(list: &[u32]) -> Vec<u8> {
    list.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Nested lengths: the inner header's offset and size, and the part's own count of words.
#[test]
fn program_header_lengths() {
    const DXIL: u32 = 0x4c49_5844;
    const BITCODE: u32 = 0xdec0_4342;
    let good = [0x5_0060, 8, DXIL, 0x100, 16, 8, BITCODE, 0];
    let p = words(&good);
    let program = Program::read(&p).expect("sound");
    assert_eq!(&*program.bitcode, &p[24..]);
    assert!(program.size_agrees() && program.has_bitcode_magic());

    let with = |at: usize, w: u32| {
        let mut g = good;
        g[at] = w;
        Program::read(&words(&g)).map(|_| ())
    };
    for (at, value) in [
        (1, 9),
        (1, u32::MAX),
        (2, DXIL ^ 1),
        (2, 0),
        (4, 15),
        (4, 17),
        (4, 20),
        (4, 0),
        (4, 0xffff_fff0),
        (4, 0xffff_ffff),
        (5, 9),
        (5, 0),
        (5, 0xffff_fff0),
        (5, u32::MAX),
    ] {
        assert!(with(at, value).is_err(), "word {at} = {value:#x}");
    }
    // The offset counts from the inner header: 20 with room is one word further on.
    let mut far = good.to_vec();
    far[1] = 9;
    far[4] = 20;
    far.insert(6, 7);
    let far = words(&far);
    let program = Program::read(&far).expect("a gap of a word");
    assert_eq!(&*program.bitcode, &p[24..]);
    let mut out = Vec::new();
    program.write(&mut out).expect("writes");
    assert_eq!(out, far);
    // Unaligned bitcode is refused even where it would fit.
    let mut odd = good.to_vec();
    (odd[4], odd[5]) = (17, 7);
    assert!(Program::read(&words(&odd)).is_err());
    for n in 0..24 {
        assert!(Program::read(&p[..n]).is_err(), "{n} bytes");
    }
}

/// Raw bitcode where a container is expected.
#[test]
fn bare_bitcode() {
    let bitcode = b"BC\xc0\xde\x35\x14\0\0".to_vec();
    for n in [4, 8] {
        let e = Container::read(&bitcode[..n])
            .map(|_| ())
            .expect_err("bare");
        assert_eq!(e.kind(), K::BareBitcode);
    }
    let k = ComputeInterface::new("main", [1; 3]);
    let packed = ComputePackager::new(&k)
        .program(&bitcode)
        .shader_model(6, 0)
        .pack();
    let packed = packed.expect("wrapping takes it");
    let c = Container::read(&packed).expect("strict");
    assert_eq!(
        &*c.program().expect("reads").expect("there").bitcode,
        &bitcode[..]
    );
}

#[test]
fn two_programs_and_unknown_parts() {
    let source = files::read("fixtures/signed/empty.cs_6_0.dxil");
    let dxil = Container::read(&source).expect("reads");
    let dxil = dxil.part(FourCc::DXIL).expect("one").expect("there").data;
    let mut w = ContainerWriter::new();
    w.part(FourCc::DXIL, dxil)
        .part(FourCc(*b"WHAT"), b"kept".as_slice())
        .part(FourCc::DXIL, dxil);
    // No digest for it, but its structure is sound.
    for digest in [
        WriteDigest::Retail,
        WriteDigest::Debug,
        WriteDigest::Bypass,
        WriteDigest::PreviewBypass,
    ] {
        let mut out = b"before".to_vec();
        let e = w.finish_into(digest, &mut out).expect_err("two programs");
        assert!(matches!(e, WriteError::Inconsistent(_)), "{e}");
        assert_eq!(out, b"before");
    }
    let mut bytes = w.finish(WriteDigest::Unsigned).expect("writes");
    let retail = Digest::retail(&bytes[20..]);
    bytes[4..20].copy_from_slice(&retail.0);
    assert_eq!(w.finish(WriteDigest::Raw(retail)).expect("given"), bytes);
    let c = Container::read(&bytes).expect("the container is sound");
    let e = c.program().map(|_| ()).expect_err("which one?");
    assert!(matches!(e.kind(), K::DuplicatePart { .. }));
    assert_eq!(Object::from_container(&c).write().expect("writes"), bytes);
}

/// Strings that leave their part.
#[test]
fn signature_names() {
    let element = |name: u32| [0, name, 0, 0, 3, 0, 0x0f0f, 0];
    let part = |name: u32, tail: &[u8]| {
        let mut p = words(&[1, 8]);
        p.extend(words(&element(name)));
        p.extend_from_slice(tail);
        p
    };
    let good = part(40, b"A\0\0\0");
    let s = Signature::read(&good).expect("sound");
    assert_eq!(s.name(&s.elements[0]), Some(&b"A"[..]));

    let size = good.len() as u32;
    for (name, tail) in [
        (size, b"A\0\0\0"),
        (size - 1, b"A\0\0B"),
        (size - 4, b"ABCD"),
        (0, b"A\0\0\0"),
        (7, b"A\0\0\0"),
        (8, b"A\0\0\0"),
        (39, b"A\0\0\0"),
        (u32::MAX, b"A\0\0\0"),
    ] {
        let e = Signature::read(&part(name, tail))
            .map(|_| ())
            .expect_err("no name there");
        assert_eq!((e.offset(), e.field()), (12, "SemanticName"), "{name}");
    }
    // 0x08000001 elements of 32 bytes are 32 bytes, modulo 2^32.
    let mut wraps = good.clone();
    wraps[..4].copy_from_slice(&0x0800_0001u32.to_le_bytes());
    let e = Signature::read(&wraps).map(|_| ()).expect_err("too many");
    assert!(matches!(e.kind(), K::OutOfBounds { end, .. } if end == 8 + 0x0800_0001 * 32));
}

/// Many elements that share one long name cost no more than their number.
#[test]
fn long_shared_names_are_linear() {
    let n = 20_000u32;
    let mut p = words(&[n, 8]);
    for _ in 0..n {
        p.extend(words(&[0, 8 + 32 * n, 0, 0, 3, 0, 0, 0]));
    }
    p.extend(vec![b'x'; 1 << 20]);
    p.push(0);
    let part = Part::read(FourCc::ISG1, &p).expect("sound");
    // With a look for the NUL each, this would be 20 gigabytes of looking.
    let Part::Signature(s) = part else { panic!() };
    assert_eq!(s.elements.len(), n as usize);
    let mut out = Vec::new();
    s.write(&mut out).expect("writes");
    assert_eq!(out, p);
}

/// Structures that many others point at are described once each, up to a bound.
#[test]
fn shared_tables_do_not_multiply() {
    // 4,000 root parameters that all point at one table of 4,000 ranges: 16 million ranges.
    let (n, ranges) = (4_000u32, 4_000u32);
    let table_at = 24 + 12 * n;
    let mut p = words(&[2, n, 24, 0, 0, 0]);
    for _ in 0..n {
        p.extend(words(&[0, 0, table_at]));
    }
    p.extend(words(&[ranges, table_at + 8]));
    p.extend(vec![0; 24 * ranges as usize]);
    let e = Part::read(FourCc::RTS0, &p)
        .map(|_| ())
        .expect_err("too much");
    assert!(matches!(e.kind(), K::TooLarge { .. }), "{e}");

    // The same in RDAT: 10,000 offsets of one part of 100 KB.
    let mut p = words(&[0x10, 10_000]);
    p.extend(words(&[40_008].repeat(10_000)));
    p.extend(words(&[2, 100_000]));
    p.extend(vec![0; 100_000]);
    let e = Part::read(FourCc::RDAT, &p)
        .map(|_| ())
        .expect_err("too much");
    assert!(matches!(e.kind(), K::TooLarge { .. }), "{e}");
}

fn header(size: u32, entries: &[u32]) -> Vec<u8> {
    let mut b = b"DXBC".to_vec();
    b.extend([0; 16]);
    b.extend(words(&[1, size, entries.len() as u32]));
    b.extend(words(entries));
    b
}

/// Sums near 2^32: nothing wraps, whatever the width of the host's addresses.
#[test]
fn offsets_near_2_32() {
    for offset in [
        0x7fff_fff8,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX - 8,
        u32::MAX - 7,
        u32::MAX,
    ] {
        let mut b = header(60, &[offset, 44]);
        b.resize(60, 0);
        assert!(Container::read(&b).is_err(), "{offset:#x}");
        assert!(Container::read_lenient(&b).is_err(), "{offset:#x}");
    }
    for size in [0xffff_fff4, 0xffff_fff8, u32::MAX, 0x7fff_ffff, 0x8000_0000] {
        let mut b = header(48, &[36]);
        b.extend_from_slice(b"PRIV");
        b.extend(words(&[size, 0]));
        for e in [
            Container::read(&b).map(|_| ()).expect_err("wraps"),
            Container::read_lenient(&b).map(|_| ()).expect_err("wraps"),
        ] {
            assert_eq!((e.offset(), e.field()), (40, "PartSize"), "{size:#x}");
        }
    }
    for count in [0x3fff_ffff, 0x4000_0000, 0x4000_0001, u32::MAX, 0x1fff_fff8] {
        let mut b = header(48, &[]);
        b[28..32].copy_from_slice(&count.to_le_bytes());
        b.resize(48, 0);
        assert!(Container::read(&b).is_err(), "{count:#x}");
        assert!(Container::read_lenient(&b).is_err(), "{count:#x}");
    }
}

/// The largest container is 2 GiB, itself allowed. The pages are never touched.
#[test]
#[cfg(target_pointer_width = "64")]
fn the_largest_container() {
    let limit = 0x8000_0000usize;
    let mut b = vec![0; limit + 16];
    let mut put = |at: usize, bytes: &[u8]| b[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &header(0x8000_0000, &[36]));
    put(36, b"PRIV");
    put(40, &(0x8000_0000u32 - 44).to_le_bytes());
    let c = Container::read(&b).expect("at the limit");
    assert_eq!(c.bytes().len(), limit);
    assert_eq!(c.trailing_bytes().len(), 16);
    b[24..28].copy_from_slice(&0x8000_0001u32.to_le_bytes());
    let e = Container::read(&b)
        .map(|_| ())
        .expect_err("above the limit");
    assert!(matches!(
        e.kind(),
        K::TooLarge {
            size: 0x8000_0001,
            limit: 0x8000_0000
        }
    ));
}

/// Containers of shader models 4 and 5 have the same header and other parts.
#[test]
fn shader_model_5() {
    let mut w = ContainerWriter::new();
    let stat = [0x11; 116];
    w.part(FourCc::RDEF, &[1; 20])
        .part(FourCc(*b"ISGN"), &[2; 8])
        .part(FourCc(*b"OSGN"), &[3; 8]);
    w.part(FourCc(*b"SHEX"), &[4; 40]).part(FourCc::STAT, &stat);
    for digest in [WriteDigest::Retail, WriteDigest::Debug] {
        let bytes = w.finish(digest).expect("writes");
        let c = Container::read(&bytes).expect("reads");
        assert_eq!(c.check(), []);
        for p in c.parts() {
            assert!(matches!(p.read(), Ok(Part::Unknown(_))), "{}", p.kind);
        }
        let mut o = Object::read(&bytes).expect("reads");
        assert_eq!(o.write().expect("writes"), bytes);
        o.remove(FourCc::STAT).expect("there");
        assert_eq!(
            Container::read(&o.write().expect("writes"))
                .expect("reads")
                .digest_kind(),
            c.digest_kind()
        );
    }
}
