//! Digests against answers from an implementation that matches 1,975 signed containers.
#![forbid(unsafe_code)]

use kernite::dxbc::{Container, ContainerWriter, Digest, DigestKind, Object, WriteDigest};
use kernite_dxbc_tests::files;

fn counting(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i % 256) as u8).collect()
}

#[test]
fn known_answers() {
    let text = String::from_utf8(files::read("digest_answers.txt")).expect("UTF-8");
    let (_, answers) = text
        .split_once("# known answers")
        .expect("a section of answers");
    let mut seen = 0;
    for line in answers.lines().skip(1) {
        let mut words = line.split_whitespace();
        let mut next = || words.next().expect("length, retail, debug");
        let data = counting(next().parse().expect("a length"));
        assert_eq!(Digest::retail(&data).to_string(), next(), "{line}");
        assert_eq!(Digest::debug(&data).to_string(), next(), "{line}");
        seen += 1;
    }
    assert_eq!(seen, 18);
}

/// Every length around the block edges, against a direct statement of the rule: pad by the rule,
/// then run plain MD5 without its own padding. Plain MD5 is undone by feeding whole blocks only,
/// which the reference below does by its own rounds.
#[test]
fn every_tail_length_follows_the_rule() {
    for n in 0..300 {
        let data = counting(n);
        for (retail, digest) in [(true, Digest::retail(&data)), (false, Digest::debug(&data))] {
            assert_eq!(digest.0, by_the_rule(&data, retail), "length {n}");
        }
    }
}

fn by_the_rule(data: &[u8], retail: bool) -> [u8; 16] {
    let n = data.len() as u32;
    let (first, last) = if retail {
        (n.wrapping_mul(8), n.wrapping_mul(2) | 1)
    } else {
        (n.wrapping_mul(16) | 15, n.wrapping_mul(4) | 1 << 28)
    };
    let whole = data.len() / 64 * 64;
    let mut m = data[..whole].to_vec();
    let tail = &data[whole..];
    if tail.len() >= 56 {
        m.extend_from_slice(tail);
        m.push(0x80);
        m.resize(whole + 64, 0);
        m.extend_from_slice(&first.to_le_bytes());
        m.resize(whole + 124, 0);
    } else {
        m.extend_from_slice(&first.to_le_bytes());
        m.extend_from_slice(tail);
        m.push(0x80);
        m.resize(whole + 60, 0);
    }
    m.extend_from_slice(&last.to_le_bytes());
    md5_rounds(&m)
}

/// RFC 1321's rounds in their plainest form.
fn md5_rounds(blocks: &[u8]) -> [u8; 16] {
    let table: Vec<u32> = (0..64)
        .map(|i| (f64::from(i + 1).sin().abs() * 4_294_967_296.0) as u32)
        .collect();
    let shifts = [
        [7, 12, 17, 22],
        [5, 9, 14, 20],
        [4, 11, 16, 23],
        [6, 10, 15, 21],
    ];
    let mut s = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in blocks.chunks(64) {
        let word = |i: usize| u32::from_le_bytes(block[4 * i..4 * i + 4].try_into().expect("4"));
        let [mut a, mut b, mut c, mut d] = s;
        for i in 0..64 {
            let (f, k) = match i / 16 {
                0 => ((b & c) | (!b & d), i),
                1 => ((b & d) | (c & !d), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), 7 * i % 16),
            };
            let sum = a
                .wrapping_add(f)
                .wrapping_add(table[i])
                .wrapping_add(word(k));
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(shifts[i / 16][i % 4]));
        }
        for (s, v) in s.iter_mut().zip([a, b, c, d]) {
            *s = s.wrapping_add(v);
        }
    }
    let mut out = [0; 16];
    for (o, w) in out.chunks_mut(4).zip(s) {
        o.copy_from_slice(&w.to_le_bytes());
    }
    out
}

/// All-zero data just past 2^29 bytes, where other implementations' last word goes wrong. The
/// answer is the rule's; one MD5 of half a gigabyte takes a second in release and a minute in
/// debug.
#[test]
#[cfg_attr(debug_assertions, ignore = "half a gigabyte: run with --release")]
fn past_2_29_bytes() {
    let n = (1 << 29) + 1;
    let data = vec![0; n];
    assert_eq!(Digest::retail(&data).0, by_the_rule(&data, true));
    assert_eq!(Digest::debug(&data).0, by_the_rule(&data, false));
}

#[test]
fn any_flipped_byte_is_a_mismatch() {
    let signed = files::read("fixtures/signed/empty.cs_6_0.dxil");
    let base = Container::read(&signed).expect("reads");
    assert_eq!(base.digest_kind(), DigestKind::Retail);
    let size = base.bytes().len();
    let mut copy = signed.clone();
    for at in 4..size {
        copy[at] ^= 0x40;
        // Fields of the structure make the container unreadable; every other byte a mismatch.
        if let Ok(c) = Container::read(&copy) {
            assert_eq!(c.digest_kind(), DigestKind::Mismatch, "byte {at}");
        } else {
            assert!(at >= 20, "the digest is no structure: byte {at}");
        }
        copy[at] ^= 0x40;
    }
    assert_eq!(copy, signed);
}

#[test]
fn every_kind_is_written_and_read_back_without_touching_other_bytes() {
    let signed = files::read("fixtures/signed/vecadd.cs_6_0.dxil");
    for (write, kind) in [
        (WriteDigest::Retail, DigestKind::Retail),
        (WriteDigest::Debug, DigestKind::Debug),
        (WriteDigest::Unsigned, DigestKind::Unsigned),
        (WriteDigest::Bypass, DigestKind::Bypass),
        (WriteDigest::PreviewBypass, DigestKind::PreviewBypass),
        (WriteDigest::Raw(Digest([7; 16])), DigestKind::Mismatch),
    ] {
        let mut object = Object::read(&signed).expect("reads");
        object.set_digest(write);
        let out = object.write().expect("consistent");
        assert_eq!(Container::read(&out).expect("reads").digest_kind(), kind);
        assert_eq!((&out[..4], &out[20..]), (&signed[..4], &signed[20..]));
        // Read and written again, it stays what it is.
        let again = Object::read(&out).expect("reads").write().expect("writes");
        assert_eq!(again, out);
    }
}

#[test]
fn a_container_without_parts() {
    let bytes = ContainerWriter::new()
        .finish(WriteDigest::Retail)
        .expect("writes");
    assert_eq!(bytes.len(), 32);
    let c = Container::read(&bytes).expect("reads");
    assert_eq!(c.digest().to_string(), "fe86074c402fc2e90e0f4fa3bf065bc0");
}
