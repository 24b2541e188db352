use super::*;

fn float32(bits: u32) -> String {
    let mut s = String::new();
    float::write_f32(bits, &mut s).ok();
    s
}

#[test]
fn floats_are_written_as_the_tools_write_them() {
    for (value, text) in [
        (1.0, "1"),
        (0.1, "0.100000001"),
        (-0.0, "-0"),
        (1e10, "1e+10"),
        (16777217.0, "16777216"),
        (1.5e-7, "1.50000005e-07"),
        (f32::INFINITY, "0x1p+128"),
        (f32::NEG_INFINITY, "-0x1p+128"),
        (f32::from_bits(0x7FC0_0000), "0x1.8p+128"),
        (f32::from_bits(1), "0x1p-149"),
        (f32::from_bits(0x007F_FFFF), "0x1.fffffcp-127"),
    ] {
        assert_eq!(float32(value.to_bits()), text);
    }
    let mut s = String::new();
    float::write_f16(0x3C00, &mut s).ok();
    float::write_f16(0x8001, &mut s).ok();
    float::write_f64(1f64.to_bits(), &mut s).ok();
    assert_eq!(s, "0x1p+0-0x1p-241");
}

#[test]
fn every_opcode_with_every_length_is_printed() {
    for row in tables::instructions() {
        for len in 1..=20u32 {
            let mut words = vec![0; len as usize];
            words[0] = len << 16 | u32::from(row.opcode);
            assert!(!Printed::new(&words).to_string().is_empty());
            let mut module = vec![MAGIC, 0x0001_0600, 0, 8, 0];
            module.extend(&words);
            assert!(disassemble(&module).lines().count() == 6, "{}", row.name);
        }
    }
}

#[test]
fn bad_words_become_comments() {
    let header = [MAGIC, 0x0001_0600, 0, 8, 0];
    let with = |words: &[u32]| disassemble(&[&header[..], words].concat());
    assert!(with(&[0x11]).ends_with("; word 5: word count 0, 1 words left\n"));
    assert!(with(&[0x0004_0011, 1]).ends_with("; word 5: word count 4, 2 words left\n"));
    assert!(
        with(&[0x0001_FFFF, 0x0001_0038])
            .ends_with("; word 5: unknown opcode 65535 0x0001ffff\n               OpFunctionEnd\n")
    );
    assert!(with(&[0x0001_0011]).ends_with("; word 5: malformed OpCapability 0x00010011\n"));
    // A string without a NUL.
    assert!(with(&[0x0003_0007, 1, 0x4141_4141]).contains("malformed OpString"));
}

#[test]
fn literals_follow_their_types() {
    let header = [MAGIC, 0x0001_0600, 0, 8, 0];
    let words = [
        &header[..],
        &[0x0004_0015, 1, 64, 1],
        &[0x0005_002B, 1, 2, 0xFFFF_FFFE, 0xFFFF_FFFF],
        &[0x0003_0016, 3, 32],
        &[0x0004_002B, 3, 4, 0x3F00_0000],
    ]
    .concat();
    let text = disassemble(&words);
    assert!(text.contains("%2 = OpConstant %1 -2\n"), "{text}");
    assert!(text.contains("%4 = OpConstant %3 0.5\n"), "{text}");
    assert_eq!(
        Printed::new(&words[9..14]).to_string(),
        "%2 = OpConstant %1 18446744073709551614"
    );
}
