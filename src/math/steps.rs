//! Steps that several recipes share.

use super::sink::{Sink, Width};

/// The polynomial with these coefficients, the lowest power first.
pub(super) fn horner<W: Width, S: Sink<W>>(s: &mut S, x: S::F, coefficients: &[W]) -> S::F {
    let Some((&last, rest)) = coefficients.split_last() else {
        return s.float(W::ZERO);
    };
    let mut sum = s.float(last);
    for &c in rest.iter().rev() {
        let c = s.float(c);
        sum = s.fma(sum, x, c);
    }
    sum
}

/// 1 / d for a normal d, with its sign: a guess from the bits, within 5 %, and so many cubic steps r ← r + r(e + e²), each
/// of which makes the error its third power.
pub(super) fn reciprocal<W: Width, S: Sink<W>>(s: &mut S, d: S::F, steps: usize) -> S::F {
    let bits = s.to_bits(d);
    let guess = s.int(W::RECIPROCAL_GUESS);
    let guess = s.isub(guess, bits);
    let mut r = s.from_bits(guess);
    let (one, minus_d) = (s.float(W::ONE), s.neg(d));
    for _ in 0..steps {
        let e = s.fma(minus_d, r, one);
        let e = s.fma(e, e, e);
        r = s.fma(r, e, r);
    }
    r
}

/// `a`, which has no sign unless it is NaN, with the sign of `b`.
pub(super) fn with_sign<W: Width, S: Sink<W>>(s: &mut S, a: S::F, b: S::F) -> S::F {
    let sign = s.int(W::SIGN);
    let b = s.to_bits(b);
    let sign = s.and(b, sign);
    let a = s.to_bits(a);
    let bits = s.or(a, sign);
    s.from_bits(bits)
}

/// Whether x is below the normal numbers, and x, then scaled to be one.
fn normal<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> (S::B, S::F) {
    let least = s.float(W::LEAST_NORMAL);
    let subnormal = s.lt(x, least);
    let scale = s.float(W::SUBNORMAL_SCALE);
    let scaled = s.mul(x, scale);
    (subnormal, s.select(subnormal, scaled, x))
}

/// The exponent field of a positive number, as if it reached below zero, and the mantissa from 1 to 2.
pub(super) fn split_fields<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> (S::I, S::F) {
    let (subnormal, x) = normal(s, x);
    let bits = s.to_bits(x);
    let by = s.int(W::MANTISSA);
    let exponent = s.shr(bits, by);
    let (zero, by) = (s.int(0), s.int(W::MANTISSA + 1));
    let offset = s.select_int(subnormal, by, zero);
    let exponent = s.isub(exponent, offset);
    let field = s.int((1 << W::MANTISSA) - 1);
    let mantissa = s.and(bits, field);
    let one = s.int(W::BIAS << W::MANTISSA);
    let mantissa = s.or(mantissa, one);
    (exponent, s.from_bits(mantissa))
}

/// A positive number as 2^e · (1 + f), 1 + f from the number with the bits `least` to its double; both are floats.
pub(super) fn split<W: Width, S: Sink<W>>(s: &mut S, x: S::F, least: u64) -> (S::F, S::F) {
    let (subnormal, x) = normal(s, x);
    let offset = s.float(W::SUBNORMAL_EXPONENT);
    let zero = s.float(W::ZERO);
    let offset = s.select(subnormal, offset, zero);
    let bits = s.to_bits(x);
    let least = s.int(least);
    let above = s.isub(bits, least);
    // Sign and exponent: the latter, signed, of x / least.
    let field = s.int(W::SIGN | W::INFINITY_BITS);
    let exponent = s.and(above, field);
    let bits = s.isub(bits, exponent);
    let exponent = s.from_signed(exponent);
    let unit = s.float(W::EXPONENT_UNIT);
    let e = s.fma(exponent, unit, offset);
    let m = s.from_bits(bits);
    let one = s.float(W::ONE);
    (e, s.sub(m, one))
}
