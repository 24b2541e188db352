//! exp and exp2.

use super::sink::{Sink, Width};
use super::steps::horner;

/// The factors 2^⌊n/2⌋ and 2^⌈n/2⌉ of a `t` that is [`super::width::Constants::ROUND_TWO`] + n.
///
/// One factor could not reach from the least subnormal to the greatest number. The first product is exact, so that a
/// subnormal result is rounded once.
fn scales<W: Width, S: Sink<W>>(s: &mut S, t: S::F) -> (S::F, S::F) {
    let bits = s.to_bits(t);
    let by = s.int(W::MANTISSA);
    let all = s.shl(bits, by);
    let by = s.int(W::MANTISSA - 1);
    let half = s.shl(bits, by);
    let field = s.int(W::INFINITY_BITS);
    let half = s.and(half, field);
    let rest = s.isub(all, half);
    (s.from_bits(half), s.from_bits(rest))
}

/// (1 + f · q) · 2^n for a `t` that is [`super::width::Constants::ROUND_TWO`] + n.
pub(super) fn scaled<W: Width, S: Sink<W>>(s: &mut S, f: S::F, q: S::F, t: S::F) -> S::F {
    let one = s.float(W::ONE);
    let p = s.fma(f, q, one);
    let (half, rest) = scales(s, t);
    let p = s.mul(p, half);
    s.mul(p, rest)
}

// Above, n stops at the exponent of infinity and f grows instead: every coefficient is positive, so the result is
// infinite. Below, x itself stops, by a selection that keeps NaN.

/// 2^x.
pub(super) fn exp2<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let lowest = s.float(W::EXP2_LOWEST);
    let below = s.lt(x, lowest);
    let x = s.select(below, lowest, x);
    let round = s.float(W::ROUND_TWO);
    let t = s.add(x, round);
    let top = s.float(W::ROUND_TWO_TOP);
    let t = s.min(t, top);
    let n = s.sub(t, round);
    let f = s.sub(x, n);
    let q = horner(s, f, W::EXP2);
    scaled(s, f, q, t)
}

/// e^x = 2^n · e^f, f = x - n · ln(2).
pub(super) fn exp<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let lowest = s.float(W::EXP_LOWEST);
    let below = s.lt(x, lowest);
    let x = s.select(below, lowest, x);
    let round = s.float(W::ROUND_TWO);
    let log2_e = s.float(W::LOG2_E);
    let t = s.fma(x, log2_e, round);
    let top = s.float(W::ROUND_TWO_TOP);
    let t = s.min(t, top);
    let n = s.sub(t, round);
    let ln2 = s.float(W::LN2_HI.minus());
    let f = s.fma(n, ln2, x);
    let ln2 = s.float(W::LN2_LO.minus());
    let f = s.fma(n, ln2, f);
    let q = horner(s, f, W::EXP);
    scaled(s, f, q, t)
}
