//! log and log2.

use super::sink::{Sink, Width};
use super::steps::{horner, split};

/// log and log2 of x: `hi + (lo + square · q)`.
fn sum<W: Width, S: Sink<W>>(
    s: &mut S,
    hi: S::F,
    lo: S::F,
    square: S::F,
    q: S::F,
    x: S::F,
) -> S::F {
    let lo = s.fma(square, q, lo);
    let y = s.add(hi, lo);
    // Above the bits of the greatest number lie infinity, NaN and whatever has a sign: x · ∞ + ∞ is right for them all
    // but -0.
    let bits = s.to_bits(x);
    let greatest = s.int(W::INFINITY_BITS - 1);
    let special = s.ult(greatest, bits);
    let infinity = s.float(W::INFINITY);
    let limit = s.fma(x, infinity, infinity);
    let y = s.select(special, limit, y);
    let zero = s.float(W::ZERO);
    let is_zero = s.eq(x, zero);
    let infinity = s.float(W::INFINITY.minus());
    s.select(is_zero, infinity, y)
}

/// The natural logarithm: e · ln(2) + ln(1 + f), the first two terms without rounding error.
pub(super) fn log<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let (e, f) = split(s, x, W::TWO_THIRDS_BITS);
    let ln2 = s.float(W::LN2_HI);
    let hi = s.fma(e, ln2, f);
    let minus_hi = s.neg(hi);
    let rest = s.fma(e, ln2, minus_hi);
    let lo = s.add(f, rest);
    let ln2 = s.float(W::LN2_LO);
    let lo = s.fma(e, ln2, lo);
    let q = horner(s, f, W::LOG);
    let square = s.mul(f, f);
    sum(s, hi, lo, square, q, x)
}

/// The logarithm to base 2: e + log2(1 + f), the first two terms without rounding error: with |f| / ln(2) below one half,
/// taking `hi` from e is exact. What f² loses is kept: with e = 1 the result is about half of `hi`, and its last place with
/// it.
pub(super) fn log2<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let (e, f) = split(s, x, W::TWO_THIRDS_BITS);
    let slope = s.float(W::LOG2_SLOPE_HI);
    let hi = s.fma(f, slope, e);
    let rest = s.sub(e, hi);
    let lo = s.fma(f, slope, rest);
    let slope = s.float(W::LOG2_SLOPE_LO);
    let lo = s.fma(f, slope, lo);
    let q = horner(s, f, W::LOG2);
    let square = s.mul(f, f);
    let minus = s.neg(square);
    let rest = s.fma(f, f, minus);
    let lo = s.fma(rest, q, lo);
    sum(s, hi, lo, square, q, x)
}
