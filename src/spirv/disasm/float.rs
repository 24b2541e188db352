//! Floating-point literals as SPIR-V's assembly writes them: shortest-width decimal where that
//! is exact enough to read back, hexadecimal for everything else, so no bits are lost.

use std::fmt::{self, Write};

pub(super) fn write_f16(bits: u32, out: &mut impl Write) -> fmt::Result {
    hex(u64::from(bits & 0xFFFF), 5, 10, out)
}

pub(super) fn write_bf16(bits: u32, out: &mut impl Write) -> fmt::Result {
    hex(u64::from(bits & 0xFFFF), 8, 7, out)
}

pub(super) fn write_f32(bits: u32, out: &mut impl Write) -> fmt::Result {
    let value = f32::from_bits(bits);
    if value.is_normal() || value == 0.0 {
        decimal(f64::from(value), 9, out)
    } else {
        hex(u64::from(bits), 8, 23, out)
    }
}

pub(super) fn write_f64(bits: u64, out: &mut impl Write) -> fmt::Result {
    let value = f64::from_bits(bits);
    if value.is_normal() || value == 0.0 {
        decimal(value, 17, out)
    } else {
        hex(bits, 11, 52, out)
    }
}

/// C's `%.{digits}g`.
fn decimal(value: f64, digits: usize, out: &mut impl Write) -> fmt::Result {
    let text = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digit_count = i32::try_from(digits).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= digit_count {
        out.write_str(trim(mantissa))?;
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "e{sign}{:02}", exponent.unsigned_abs())
    } else {
        let places = usize::try_from(digit_count - 1 - exponent).unwrap_or(0);
        out.write_str(trim(&format!("{value:.places$}")))
    }
}

fn trim(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// C's `%a`, with infinities and NaNs written as the next exponent, as SPIR-V's tools do.
fn hex(bits: u64, exponent_bits: u32, fraction_bits: u32, out: &mut impl Write) -> fmt::Result {
    let bias = (1i64 << (exponent_bits - 1)) - 1;
    let biased = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    let mut fraction = bits & ((1 << fraction_bits) - 1);
    let negative = bits >> (exponent_bits + fraction_bits) & 1 == 1;
    if negative {
        out.write_char('-')?;
    }
    if biased == 0 && fraction == 0 {
        return out.write_str("0x0p+0");
    }
    let mut exponent = i64::try_from(biased).unwrap_or(0) - bias;
    if biased == 0 {
        // Normalised by hand: the leading one becomes implicit.
        let shift = fraction_bits + 1 - (64 - fraction.leading_zeros());
        exponent = 1 - bias - i64::from(shift);
        fraction = fraction << shift & ((1 << fraction_bits) - 1);
    }
    let nibbles = fraction_bits.div_ceil(4);
    fraction <<= nibbles * 4 - fraction_bits;
    out.write_str("0x1")?;
    if fraction != 0 {
        let zeros = fraction.trailing_zeros() / 4;
        let width = (nibbles - zeros) as usize;
        write!(out, ".{:0width$x}", fraction >> (zeros * 4))?;
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(out, "p{sign}{}", exponent.unsigned_abs())
}
