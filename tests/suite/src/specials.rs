//! The values at which arithmetic goes wrong.

use crate::choices::Choices;
use kernite::types::Type;

/// Bits of a type: special values, small numbers, or anything.
pub fn special_bits(ty: Type, choices: &mut Choices<'_>) -> u64 {
    let Some(scalar) = ty.scalar() else { return 0 };
    let mask = if scalar.bits() == 64 {
        u64::MAX
    } else {
        (1 << scalar.bits()) - 1
    };
    let specials: &[u64] = match ty {
        Type::F32 => &[
            0,
            0x3F80_0000,
            0x8000_0000,
            0x7F80_0000,
            0xFF80_0000,
            0x7FC0_0000,
            0x7F80_0001,
            0xFFC1_2345,
            1,
            0x007F_FFFF,
            0x0080_0000,
            0x7F7F_FFFF,
            0x4F00_0000,
            0xCF00_0000,
            0x5F00_0000,
            0x3F00_0000,
            0xBF80_0000,
            0x4B80_0001,
        ],
        Type::F64 => &[
            0,
            0x3FF0_0000_0000_0000,
            0x8000_0000_0000_0000,
            0x7FF0_0000_0000_0000,
            0xFFF0_0000_0000_0000,
            0x7FF8_0000_0000_0000,
            0x7FF0_0000_0000_0001,
            1,
            0x0010_0000_0000_0000,
            0x7FEF_FFFF_FFFF_FFFF,
            0x41E0_0000_0000_0000,
            0xC1E0_0000_0000_0000,
            0x43E0_0000_0000_0000,
            0x43F0_0000_0000_0000,
            0x3FE0_0000_0000_0000,
            0x36A0_0000_0000_0000,
        ],
        Type::BOOL => &[0, 1],
        _ => &[
            0,
            1,
            u64::MAX,
            1 << 31,
            1 << 63,
            (1 << 31) - 1,
            (1 << 63) - 1,
            2,
            31,
            32,
            33,
            63,
            64,
        ],
    };
    let special = choices.pick(specials);
    let (low, high) = (u64::from(choices.word()), u64::from(choices.word()));
    match choices.below(4) {
        0 | 1 => special & mask,
        2 if ty == Type::F32 => u64::from(((low % 64) as f32 - 32.0).to_bits()),
        2 if ty == Type::F64 => ((low % 64) as f64 - 32.0).to_bits(),
        2 => low & 15 & mask,
        _ => (low | high << 32) & mask,
    }
}

/// The bits, or those of zero for a subnormal float.
pub fn without_subnormal(ty: Type, bits: u64) -> u64 {
    match ty {
        Type::F32 if bits & 0x7F80_0000 == 0 => bits & 0x8000_0000,
        // Computed in f32, whose exponents it has.
        Type::BF16 if bits & 0x7F80 == 0 => bits & 0x8000,
        Type::F64 if bits & 0x7FF0_0000_0000_0000 == 0 => bits & (1 << 63),
        _ => bits,
    }
}
