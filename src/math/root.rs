//! rsqrt.

use super::sink::{Sink, Width};

/// 1 / √x: a guess from the bits, then cubic steps y ← y + y·e·(½ + ⅜e), e = 1 - x·y².
pub(super) fn rsqrt<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let least = s.float(W::LEAST_NORMAL);
    let subnormal = s.lt(x, least);
    let scale = s.float(W::RSQRT_SCALE);
    let scaled = s.mul(x, scale);
    let normal = s.select(subnormal, scaled, x);
    let bits = s.to_bits(normal);
    let by = s.int(1);
    let half = s.shr(bits, by);
    let guess = s.int(W::RSQRT_GUESS);
    let guess = s.isub(guess, half);
    let mut y = s.from_bits(guess);
    for _ in 0..W::RSQRT_STEPS {
        let t = s.mul(normal, y);
        let t = s.neg(t);
        let one = s.float(W::ONE);
        let e = s.fma(t, y, one);
        let (linear, square) = (s.float(W::HALF), s.float(W::THREE_EIGHTHS));
        let weight = s.fma(e, square, linear);
        let ye = s.mul(y, e);
        y = s.fma(ye, weight, y);
    }
    let scale = s.float(W::RSQRT_SUBNORMAL_SCALE);
    let scaled = s.mul(y, scale);
    let y = s.select(subnormal, scaled, y);
    // Infinity's bits less those of x swap zeros and infinity and keep NaN; what is left, below zero, is NaN.
    let bits = s.to_bits(x);
    let (infinity, one) = (s.int(W::INFINITY_BITS), s.int(1));
    let swapped = s.isub(infinity, bits);
    let swapped = s.from_bits(swapped);
    let (zero, nan) = (s.float(W::ZERO), s.float(W::NAN));
    let negative = s.lt(x, zero);
    let special = s.select(negative, nan, swapped);
    let before = s.isub(bits, one);
    let end = s.int(W::INFINITY_BITS - 1);
    let positive = s.ult(before, end);
    s.select(positive, y, special)
}
