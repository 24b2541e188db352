//! Inputs at the edges of the types.

use crate::choices::SplitMix;
use kernite::types::{Scalar, Type};

/// Numbers that conversions, roundings and comparisons turn at, as f64.
const NUMBERS: [f64; 52] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.5,
    -2.7,
    0.1,
    0.3,
    3.0,
    -7.0,
    100.0,
    1e-3,
    127.0,
    127.5,
    128.0,
    -128.0,
    -128.9,
    -129.0,
    255.0,
    255.5,
    256.0,
    32767.0,
    32768.0,
    -32768.0,
    -32769.0,
    65504.0,
    65519.996,
    65520.0,
    65535.0,
    65536.0,
    2147483520.0,
    2147483647.0,
    2147483648.0,
    -2147483648.0,
    -2147483904.0,
    4294967040.0,
    4294967295.0,
    4294967296.0,
    9223371487098961920.0,
    9223372036854775808.0,
    -9223372036854775808.0,
    18446742974197923840.0,
    18446744073709551616.0,
    1e20,
    -1e30,
    1.0009765625,
    1.00390625,
];

/// Bit patterns worth trying of a type, some of them random.
pub(super) fn edges(ty: Type) -> Vec<u64> {
    let Some(scalar) = ty.scalar() else {
        return vec![0];
    };
    let bits = scalar.bits();
    if bits == 1 {
        return vec![0, 1];
    }
    let mask = u64::MAX >> (64 - bits);
    let mut random = SplitMix::new(u64::from(ty.code()));
    let mut found: Vec<u64> = if scalar.is_float() {
        floats(scalar)
    } else {
        integers(bits)
    };
    for _ in 0..12 {
        found.push(random.next_u64());
    }
    if !scalar.is_float() {
        for _ in 0..12 {
            let by = random.next_u64() % u64::from(bits);
            found.push((random.next_u64() & mask) >> by);
        }
    }
    for bits in &mut found {
        *bits &= mask;
    }
    found
}

fn integers(bits: u32) -> Vec<u64> {
    let top = 1u64 << (bits - 1);
    let mut found: Vec<u64> = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65].into();
    for n in 0..4 {
        found.extend([u64::MAX - n, top.wrapping_sub(n), top + n]);
    }
    for power in [8u32, 16, 20, 24, 25, 32, 40, 53, 56] {
        let n = 1u64 << power;
        found.extend([
            n - 1,
            n,
            n + 1,
            n + n / 2,
            n.wrapping_neg(),
            (n + 1).wrapping_neg(),
        ]);
        // Halfway between neighbours of bf16 and f32, and beside it.
        for half in [power.saturating_sub(8), power.saturating_sub(24)] {
            let middle = n | 1 << half;
            found.extend([middle, middle - 1, middle + 1, middle.wrapping_neg()]);
        }
    }
    found
}

fn floats(scalar: Scalar) -> Vec<u64> {
    let (exponent_at, bits) = match scalar {
        Scalar::F16 => (10, 16),
        Scalar::BF16 => (7, 16),
        Scalar::F32 => (23, 32),
        _ => (52, 64),
    };
    let top = 1u64 << (bits - 1);
    let infinity = top - (1 << exponent_at);
    let round = |x: f64| match scalar {
        Scalar::F16 => u64::from(half(x, 10, 15)),
        Scalar::BF16 => u64::from((x as f32).to_bits() >> 16),
        Scalar::F32 => u64::from((x as f32).to_bits()),
        _ => x.to_bits(),
    };
    let mut found: Vec<u64> = NUMBERS.into_iter().map(round).collect();
    // The least and greatest subnormal, the least normal, the greatest, infinity, NaNs quiet and not.
    for magnitude in [
        1,
        2,
        3,
        (1 << exponent_at) - 1,
        1 << exponent_at,
        infinity - 1,
        infinity,
        infinity + 1,
        infinity | 1 << (exponent_at - 1),
        top - 1,
    ] {
        found.extend([magnitude, magnitude | top]);
    }
    if scalar == Scalar::F32 {
        // The two roundings of a product and a sum; halves of f16 and bf16, and beside them.
        found.extend([
            0x3F80_0800,
            0xBF80_1000,
            0x3F80_8000,
            0x3F80_8001,
            0x3F81_8000,
        ]);
        found.extend([
            0x3F80_1000,
            0x3F80_1001,
            0x3F80_3000,
            0x3300_0000,
            0x3300_0001,
        ]);
    }
    if scalar == Scalar::F64 {
        for single in [
            0x3F80_8000u32,
            0x3F80_1000,
            0x3300_0000,
            0x0000_8000,
            0x477F_F000,
        ] {
            let exact = f64::from(f32::from_bits(single)).to_bits();
            found.extend([exact - 1, exact, exact + 1]);
        }
    }
    found
}

/// A number as a 16-bit float, towards zero: any of its neighbours serves as an input.
fn half(x: f64, mantissa: u32, bias: i32) -> u16 {
    let sign = u16::from(x.is_sign_negative()) << 15;
    let bits = x.abs().to_bits();
    // Eleven bits.
    let exponent = (bits >> 52) as i32 - 1023 + bias;
    if x == 0.0 || exponent <= 0 {
        return sign;
    }
    if exponent > 2 * bias {
        return sign | ((2 * bias + 1) as u16) << mantissa;
    }
    let fraction = (bits << 12 >> (64 - mantissa)) as u16;
    sign | (exponent as u16) << mantissa | fraction
}

/// Rows of inputs of these types, a multiple of the workgroup's threads: all pairs of edges where that is not too many.
pub fn rows(ins: &[Type], most: usize) -> Vec<Vec<u64>> {
    let edges: Vec<Vec<u64>> = ins.iter().map(|&ty| edges(ty)).collect();
    let all: usize = edges.iter().map(Vec::len).product();
    let mut random = SplitMix::new(all as u64);
    let n = all.min(most).max(1);
    let mut rows = Vec::new();
    for row in 0..n.next_multiple_of(super::THREADS as usize) {
        let mut at = row % all.max(1);
        let row = edges.iter().map(|e| {
            if all <= most {
                let value = e[at % e.len()];
                at /= e.len();
                value
            } else {
                e[random.next_u64() as usize % e.len()]
            }
        });
        rows.push(row.collect());
    }
    rows
}

/// The bytes of a column.
pub(super) fn bytes(ty: Type, column: impl Iterator<Item = u64>) -> Vec<u8> {
    let size = super::carried(ty).bytes() as usize;
    column
        .flat_map(|bits| bits.to_le_bytes().into_iter().take(size))
        .collect()
}
