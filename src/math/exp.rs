//! exp and exp2.

use super::sink::{Sink, Width};
use super::steps::horner;

/// p · 2^n for a `t` that is [`super::width::Constants::ROUND_TWO`] + n, by the factors 2^⌊n/2⌋ and 2^⌈n/2⌉.
///
/// One factor could not reach from the least subnormal to the greatest number. The first product is exact, so that a
/// subnormal result is rounded once.
fn times_power<W: Width, S: Sink<W>>(s: &mut S, p: S::F, t: S::F) -> S::F {
    let bits = s.to_bits(t);
    let by = s.int(W::MANTISSA);
    let all = s.shl(bits, by);
    let by = s.int(W::MANTISSA - 1);
    let half = s.shl(bits, by);
    let field = s.int(W::INFINITY_BITS);
    let half = s.and(half, field);
    let rest = s.isub(all, half);
    let (half, rest) = (s.from_bits(half), s.from_bits(rest));
    let p = s.mul(p, half);
    s.mul(p, rest)
}

/// (1 + f · q) · 2^n for a `t` that is [`super::width::Constants::ROUND_TWO`] + n.
pub(super) fn scaled<W: Width, S: Sink<W>>(s: &mut S, f: S::F, q: S::F, t: S::F) -> S::F {
    let one = s.float(W::ONE);
    let p = s.fma(f, q, one);
    times_power(s, p, t)
}

/// e^f · 2^n for |f| to ln(2) / 2 and a `t` that is [`super::width::Constants::ROUND_TWO`] + n.
///
/// e^f is the sum of 1 + f and of what is left, f² · g: both 1 + f and what its rounding loses are kept, the latter by
/// `lost`, which takes from f what was not lost. The second product rounds a subnormal result again, so what comes before
/// it must be so good that both roundings together stay within the bound.
fn power<W: Width, S: Sink<W>>(
    s: &mut S,
    f: S::F,
    t: S::F,
    lost: impl FnOnce(&mut S, S::F) -> S::F,
) -> S::F {
    let g = horner(s, f, W::EXPM1);
    let one = s.float(W::ONE);
    let sum = s.add(f, one);
    let kept = s.sub(sum, one);
    let lost = lost(s, kept);
    let square = s.mul(f, f);
    let rest = s.fma(square, g, lost);
    let p = s.add(sum, rest);
    times_power(s, p, t)
}

/// x between these, by selections that keep NaN: beyond, the result is zero or infinite, and so it is there.
fn bounded<W: Width, S: Sink<W>>(s: &mut S, x: S::F, lowest: W, highest: W) -> S::F {
    let (lowest, highest) = (s.float(lowest), s.float(highest));
    let below = s.lt(x, lowest);
    let x = s.select(below, lowest, x);
    let above = s.lt(highest, x);
    s.select(above, highest, x)
}

/// 2^x = 2^n · e^f, f = (x - n) · ln(2), where x - n is exact.
pub(super) fn exp2<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let x = bounded(s, x, W::EXP2_LOWEST, W::EXP2_HIGHEST);
    let round = s.float(W::ROUND_TWO);
    let t = s.add(x, round);
    let n = s.sub(t, round);
    let d = s.sub(x, n);
    let ln2 = s.float(W::LN2);
    let f = s.mul(d, ln2);
    power(s, f, t, |s, kept| {
        let kept = s.neg(kept);
        s.fma(d, ln2, kept)
    })
}

/// e^x = 2^n · e^f, f = x - n · ln(2), of which the first step is exact.
pub(super) fn exp<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let x = bounded(s, x, W::EXP_LOWEST, W::EXP_HIGHEST);
    let (log2_e, round) = (s.float(W::LOG2_E), s.float(W::ROUND_TWO));
    let t = s.fma(x, log2_e, round);
    let n = s.sub(t, round);
    let ln2 = s.float(W::LN2.minus());
    let f = s.fma(n, ln2, x);
    let ln2 = s.float(W::LN2_REST.minus());
    let f = s.fma(n, ln2, f);
    power(s, f, t, |s, kept| s.sub(f, kept))
}
