//! Constants as text: exact in both directions.

use crate::types::{Const, Scalar};
use core::fmt;

/// Prints the constant so that [`parse`] gives the same bits: integers in decimal, floats in the shortest decimal that
/// rounds to them, NaNs as their bits in hexadecimal.
pub(super) fn print(out: &mut impl fmt::Write, scalar: Scalar, bits: u64) -> fmt::Result {
    match scalar {
        Scalar::Bool => out.write_str(if bits == 0 { "false" } else { "true" }),
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => write!(out, "{bits}"),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
            // The sign bit moves to the top and comes back as the sign.
            let above = 64 - scalar.bits();
            write!(out, "{}", (bits << above).cast_signed() >> above)
        }
        Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 => {
            let value = widen(scalar, bits);
            if value.is_nan() {
                let digits = scalar.bits() as usize / 4;
                write!(out, "0x{bits:0digits$X}")
            } else if scalar == Scalar::F64 || !value.is_finite() {
                write!(out, "{value:?}")
            } else {
                // What is narrower than f64 is an f32 exactly, whose decimal is shorter.
                write!(out, "{:?}", value as f32)
            }
        }
    }
}

/// The constant that `text` stands for, or `None` when it is malformed or does not fit.
///
/// Decimals that no float equals are rounded to nearest even, of f16 and bf16 by way of f64.
pub(super) fn parse(text: &str, scalar: Scalar) -> Option<Const> {
    let bits = match (scalar, text.strip_prefix("0x")) {
        (Scalar::Bool, _) => match text {
            "false" => 0,
            "true" => 1,
            _ => return None,
        },
        (_, Some(hex)) => {
            if hex.is_empty() || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
                return None;
            }
            u64::from_str_radix(hex, 16).ok()?
        }
        (Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64, None) => decimal(text)?,
        (Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64, None) => {
            let limit = 1u64 << (scalar.bits() - 1);
            let all = u64::MAX >> (64 - scalar.bits());
            match text.strip_prefix('-') {
                Some(digits) => decimal(digits).filter(|&n| n <= limit)?.wrapping_neg() & all,
                None => decimal(text).filter(|&n| n < limit)?,
            }
        }
        (Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64, None) => float(text, scalar)?,
    };
    Const::new(scalar.into(), bits)
}

fn decimal(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

fn float(text: &str, scalar: Scalar) -> Option<u64> {
    let infinite = matches!(text, "inf" | "-inf");
    // Rust's own parser knows more words than these.
    let begins = text.strip_prefix('-').unwrap_or(text).as_bytes().first();
    if !infinite && !begins.is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let bits = match scalar {
        Scalar::F32 => u64::from(text.parse::<f32>().ok()?.to_bits()),
        _ => narrow(scalar, text.parse().ok()?),
    };
    // A decimal beyond the greatest float is an error, not an infinity.
    (widen(scalar, bits).is_infinite() == infinite).then_some(bits)
}

/// Exponent and fraction bits of a float narrower than 64 bits; the others count as f64.
fn layout(scalar: Scalar) -> (u32, u32) {
    match scalar {
        Scalar::F16 => (5, 10),
        Scalar::BF16 => (8, 7),
        Scalar::F32 => (8, 23),
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64
        | Scalar::F64 => (11, 52),
    }
}

/// The value of a float's bits, exactly.
fn widen(scalar: Scalar, bits: u64) -> f64 {
    let (exponent_bits, fraction_bits) = layout(scalar);
    let all = (1u64 << exponent_bits) - 1;
    let sign = bits >> (exponent_bits + fraction_bits) & 1;
    let exponent = bits >> fraction_bits & all;
    let fraction = bits & ((1 << fraction_bits) - 1);
    let magnitude = if scalar == Scalar::F64 || exponent == all {
        return f64::from_bits(
            sign << 63
                | if exponent == all {
                    2047 << 52
                } else {
                    exponent << 52
                }
                | fraction << (52 - fraction_bits),
        );
    } else if exponent == 0 {
        // A subnormal is its fraction times the least of them, a power of two that f64 has as a normal.
        let least = 1024 - (1 << (exponent_bits - 1)) - u64::from(fraction_bits) + 1;
        fraction as f64 * f64::from_bits(least << 52)
    } else {
        let rebased = exponent + 1023 - (all >> 1);
        f64::from_bits(rebased << 52 | fraction << (52 - fraction_bits))
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// The bits of the float nearest to `value`, ties to even.
fn narrow(scalar: Scalar, value: f64) -> u64 {
    let (exponent_bits, fraction_bits) = layout(scalar);
    let bits = value.to_bits();
    if scalar == Scalar::F64 {
        return bits;
    }
    let sign = (bits >> 63) << (exponent_bits + fraction_bits);
    let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
    let exponent = (bits >> 52 & 2047) as i64 - 1023;
    let bias = (1i64 << (exponent_bits - 1)) - 1;
    if exponent > bias {
        return sign | infinity;
    }
    // Below the normal range the fraction loses one bit more for each step of the exponent.
    let lost = i64::from(52 - fraction_bits) + (1 - bias - exponent).max(0);
    if lost > 53 {
        return sign;
    }
    let significand = 1u64 << 52 | bits & ((1 << 52) - 1);
    let kept = significand >> lost;
    let rest = significand & ((1 << lost) - 1);
    let half = 1u64 << (lost - 1);
    let up = rest > half || rest == half && kept & 1 == 1;
    // The leading bit adds one to the exponent field, and so does a carry out of the fraction, up to infinity.
    let base = ((exponent + bias - 1).max(0) as u64) << fraction_bits;
    sign | (base + kept + u64::from(up))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(scalar: Scalar, bits: u64) {
        let mut text = String::new();
        print(&mut text, scalar, bits).unwrap();
        let back = parse(&text, scalar).unwrap_or_else(|| panic!("{scalar} {bits:#x}: {text}"));
        assert_eq!(back.bits(), bits, "{scalar} {text}");
    }

    #[test]
    fn every_16_bit_float_round_trips() {
        for bits in 0..=0xFFFF {
            round_trip(Scalar::F16, bits);
            round_trip(Scalar::BF16, bits);
            round_trip(Scalar::I16, bits);
            round_trip(Scalar::U16, bits);
        }
    }

    #[test]
    fn special_and_scattered_bits_round_trip() {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        for i in 0..40_000u64 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let near = [0, 1 << 31, 1 << 63, 0x7F80_0000, 0x7FF0 << 48, u64::MAX][i as usize % 6];
            for bits in [state, near.wrapping_add(i / 6), near.wrapping_sub(i / 6)] {
                round_trip(Scalar::F64, bits);
                round_trip(Scalar::I64, bits);
                round_trip(Scalar::U64, bits);
                round_trip(Scalar::F32, bits & 0xFFFF_FFFF);
                round_trip(Scalar::I32, bits & 0xFFFF_FFFF);
                round_trip(Scalar::I8, bits & 0xFF);
            }
        }
    }

    #[test]
    fn widen_and_narrow_agree_with_the_hardware_on_f32() {
        let mut state = 1u64;
        for _ in 0..40_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            let bits = (state >> 32) as u32;
            let value = f32::from_bits(bits);
            if !value.is_nan() {
                assert_eq!(widen(Scalar::F32, u64::from(bits)), f64::from(value));
            }
            // Around the range of f32, subnormals and overflow included.
            let exponent = 1023 + (state >> 20) % 300 - 160;
            let wide = f64::from_bits((state & ((1 << 63) | ((1 << 52) - 1))) | (exponent << 52));
            let tie = f64::from_bits(wide.to_bits() & !0x1FFF_FFFF | 0x1000_0000);
            for wide in [wide, tie] {
                let expected = u64::from((wide as f32).to_bits());
                assert_eq!(narrow(Scalar::F32, wide), expected, "{wide:e}");
            }
        }
        assert_eq!(narrow(Scalar::F16, 65519.99), 0x7BFF);
        assert_eq!(
            narrow(Scalar::F16, 65520.0),
            0x7C00,
            "half way: to even, which is infinity"
        );
        assert_eq!(narrow(Scalar::F16, -0.0), 0x8000);
        assert_eq!(
            narrow(Scalar::F16, 2f64.powi(-25)),
            0,
            "half the least: to even"
        );
        assert_eq!(narrow(Scalar::F16, 2f64.powi(-25) * 1.001), 1);
        assert_eq!(narrow(Scalar::F16, 2f64.powi(-26) * 1.999), 0);
    }

    #[test]
    fn texts_read_as_documented() {
        let bits = |text, scalar| parse(text, scalar).map(Const::bits);
        assert_eq!(bits("0x7FC00001", Scalar::F32), Some(0x7FC0_0001));
        assert_eq!(bits("-0.0", Scalar::F32), Some(0x8000_0000));
        assert_eq!(bits("-inf", Scalar::F64), Some(0xFFF0 << 48));
        assert_eq!(bits("1", Scalar::F32), Some(0x3F80_0000));
        assert_eq!(bits("0.1", Scalar::F16), Some(0x2E66));
        assert_eq!(bits("0xFFFFFFFF", Scalar::I32), Some(0xFFFF_FFFF));
        assert_eq!(bits("-2147483648", Scalar::I32), Some(0x8000_0000));
        assert_eq!(bits("true", Scalar::Bool), Some(1));
        let refused = [
            ("2147483648", Scalar::I32),
            ("-2147483649", Scalar::I32),
            ("0x100", Scalar::U8),
            ("256", Scalar::U8),
            ("-1", Scalar::U32),
            ("+1", Scalar::U32),
            ("--1", Scalar::I32),
            ("18446744073709551616", Scalar::U64),
            ("0x", Scalar::U32),
            ("0x+1", Scalar::U32),
            ("", Scalar::U32),
            ("", Scalar::F32),
            ("-", Scalar::F64),
            ("1", Scalar::Bool),
            ("0x1", Scalar::Bool),
            ("nan", Scalar::F32),
            ("NaN", Scalar::F32),
            ("infinity", Scalar::F32),
            (".5", Scalar::F32),
            ("1e39", Scalar::F32),
            ("-1e309", Scalar::F64),
            ("65520", Scalar::F16),
            ("1.0f", Scalar::F32),
            ("1_000", Scalar::U32),
            ("0x1FFFFFFFFFFFFFFFF", Scalar::U64),
        ];
        for (text, scalar) in refused {
            assert_eq!(bits(text, scalar), None, "{text} as {scalar}");
        }
    }
}
