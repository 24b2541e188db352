//! f16 and bf16: every operation is computed wider, exactly or nearly so, and rounded once.
//!
//! All values of both types, and all products of two, are exact in f64. There sums, quotients and roots are rounded for
//! the first time, to 53 bits; that this changes nothing in the second rounding, to 11 or 8 bits, holds for them because 53
//! is more than twice 11 and some (Figueroa, *When is double rounding innocuous?*, 1995). It does not hold for `fma` and for
//! integers of 64 bits: they are rounded to odd first, which keeps what the second rounding needs to know (Boldo and
//! Melquiond, *Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd*, 2008).
//!
//! The conversions of the crate `half` are not used: its `bf16::from_f64` drops the low half of the mantissa before it
//! rounds, and its `f16::from_f64` goes through f32 on processors that have the instruction for that.

use super::Number;
use super::float::Float;
use half::{bf16, f16};

/// A float of 16 bits.
pub(in crate::reference) trait Half: bytemuck::Pod {
    /// The bits of infinity.
    const INFINITY: u16;

    /// Rounded to nearest even; NaN becomes the quiet NaN with its sign.
    fn round(x: f64) -> Self;
    /// The same value as f32, exactly; infinities and NaNs too.
    fn single(self) -> f32;
    /// The same value as f64, exactly.
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self.single())
    }
}

/// Bits of the float of `mantissa` bits nearest to `x`.
#[inline(always)]
fn nearest(x: f64, mantissa: u32) -> u16 {
    // The greatest exponent of a number, and the bias.
    let bias = (1i32 << (14 - mantissa)) - 1;
    let infinity = u16::MAX << mantissa & 0x7FFF;
    let least = 1 - bias;
    let sign = (x.to_bits() >> 48) as u16 & 0x8000;
    let exponent = Ord::max((x.to_bits() >> 52 & 0x7FF) as i32 - 1023, least);
    let magnitude = if x.is_nan() {
        infinity | 1 << (mantissa - 1)
    } else if exponent > bias {
        infinity
    } else {
        // In units of the last place: what is added has that unit as its own last place, so the sum rounds as it should,
        // and holds the units in its low bits. The exponent of what is added lies within those of f64 by far.
        let unit = exponent - mantissa as i32;
        let shift = f64::from_bits(((52 + unit + 1023) as u64) << 52);
        let units = (x.abs() + shift).to_bits() & ((1 << 52) - 1);
        // One unit too many moves on into the exponent, up to infinity.
        (((exponent - least) as u16) << mantissa) + units as u16
    };
    sign | magnitude
}

/// The value of a float of `mantissa` bits.
#[inline(always)]
fn widened(bits: u16, mantissa: u32) -> f32 {
    let bias = (1u32 << (14 - mantissa)) - 1;
    let infinity = u16::MAX << mantissa & 0x7FFF;
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7FFF) << (23 - mantissa);
    let magnitude = if bits & 0x7FFF >= infinity {
        magnitude | 0x7F80_0000
    } else {
        // The difference of the biases, by an exact product that makes subnormal numbers normal.
        let scale = f32::from_bits((254 - bias) << 23);
        (f32::from_bits(magnitude) * scale).to_bits()
    };
    f32::from_bits(sign | magnitude)
}

/// `product + c`, rounded to odd: where it is inexact, that of the two neighbours whose last bit is set.
///
/// Neither may overflow.
#[inline(always)]
fn odd_sum(product: f64, c: f64) -> f64 {
    let sum = product + c;
    // The error of the sum, exactly (Knuth).
    let from_c = sum - product;
    let error = (product - (sum - from_c)) + (c - from_c);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The neighbour on the other side of the exact value; a sum of 0 is exact.
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away {
        sum.to_bits() + 1
    } else {
        sum.to_bits() - 1
    })
}

/// A magnitude as f64, rounded to odd.
#[inline(always)]
pub(in crate::reference) fn odd_integer(magnitude: u64) -> f64 {
    if magnitude >> 53 == 0 {
        return magnitude as f64;
    }
    // 43 to 53 bits are left, the last of which says whether there were others.
    let lost = magnitude & 0x7FF != 0;
    (magnitude >> 11 << 11 | u64::from(lost) << 11) as f64
}

macro_rules! halves {
    ($($t:ident $mantissa:literal;)*) => {$(
        impl Half for $t {
            const INFINITY: u16 = u16::MAX << $mantissa & 0x7FFF;

            #[inline(always)]
            fn round(x: f64) -> $t {
                $t::from_bits(nearest(x, $mantissa))
            }
            #[inline(always)]
            fn single(self) -> f32 {
                widened(self.to_bits(), $mantissa)
            }
        }

        impl Number for $t {
            #[inline(always)]
            fn add(self, b: $t) -> $t {
                Half::round(self.wide() + b.wide())
            }
            #[inline(always)]
            fn sub(self, b: $t) -> $t {
                Half::round(self.wide() - b.wide())
            }
            #[inline(always)]
            fn mul(self, b: $t) -> $t {
                Half::round(self.wide() * b.wide())
            }
            #[inline(always)]
            fn div(self, b: $t) -> $t {
                Half::round(self.wide() / b.wide())
            }
            /// A remainder has no more bits than its operands.
            #[inline(always)]
            fn rem(self, b: $t) -> $t {
                Half::round(self.wide() % b.wide())
            }
            #[inline(always)]
            fn neg(self) -> $t {
                $t::from_bits(self.to_bits() ^ 0x8000)
            }
            #[inline(always)]
            fn abs(self) -> $t {
                $t::from_bits(self.to_bits() & 0x7FFF)
            }
            #[inline(always)]
            fn min(self, b: $t) -> $t {
                let equal = $t::from_bits(self.to_bits() | b.to_bits());
                let (x, y) = (self.single(), b.single());
                let ordered = if x < y { self } else if y < x { b } else { equal };
                if x.is_nan() { b } else if y.is_nan() { self } else { ordered }
            }
            #[inline(always)]
            fn max(self, b: $t) -> $t {
                let equal = $t::from_bits(self.to_bits() & b.to_bits());
                let (x, y) = (self.single(), b.single());
                let ordered = if x > y { self } else if y > x { b } else { equal };
                if x.is_nan() { b } else if y.is_nan() { self } else { ordered }
            }
        }

        impl Float for $t {
            #[inline(always)]
            fn fma(self, b: $t, c: $t) -> $t {
                Half::round(odd_sum(self.wide() * b.wide(), c.wide()))
            }
            #[inline(always)]
            fn min_nan(self, b: $t) -> $t {
                let nan = Float::is_nan(self) | Float::is_nan(b) != 0;
                if nan { $t::NAN } else { Number::min(self, b) }
            }
            #[inline(always)]
            fn max_nan(self, b: $t) -> $t {
                let nan = Float::is_nan(self) | Float::is_nan(b) != 0;
                if nan { $t::NAN } else { Number::max(self, b) }
            }
            #[inline(always)]
            fn sqrt(self) -> $t {
                Half::round(self.wide().sqrt())
            }
            #[inline(always)]
            fn rcp(self) -> $t {
                Half::round(1.0 / self.wide())
            }
            #[inline(always)]
            fn floor(self) -> $t {
                Half::round(self.wide().floor())
            }
            #[inline(always)]
            fn ceil(self) -> $t {
                Half::round(self.wide().ceil())
            }
            #[inline(always)]
            fn trunc(self) -> $t {
                Half::round(self.wide().trunc())
            }
            #[inline(always)]
            fn round_even(self) -> $t {
                Half::round(self.wide().round_ties_even())
            }
            #[inline(always)]
            fn copysign(self, b: $t) -> $t {
                $t::from_bits(self.to_bits() & 0x7FFF | b.to_bits() & 0x8000)
            }
            #[inline(always)]
            fn is_nan(self) -> u32 {
                u32::from(self.to_bits() & 0x7FFF > <$t as Half>::INFINITY)
            }
            #[inline(always)]
            fn is_inf(self) -> u32 {
                u32::from(self.to_bits() & 0x7FFF == <$t as Half>::INFINITY)
            }
        }
    )*};
}
halves! { f16 10; bf16 7; }

#[cfg(test)]
mod unit;
