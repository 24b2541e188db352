//! tanh and erf.

use super::sink::{Sink, Width};
use super::steps::{horner, reciprocal, with_sign};

/// 2^n of a `t` that is [`super::width::Constants::ROUND_ONE`] + n.
fn scale<W: Width, S: Sink<W>>(s: &mut S, t: S::F) -> S::F {
    let bits = s.to_bits(t);
    let by = s.int(W::MANTISSA);
    let bits = s.shl(bits, by);
    s.from_bits(bits)
}

/// tanh(|x|) = (2 - d) / d, d = exp(-2|x|) + 1 as a sum of two floats.
pub(super) fn tanh<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let a = s.abs(x);
    let most = s.float(W::TANH_MOST);
    let above = s.lt(most, a);
    let a = s.select(above, most, a);
    let minus_two = s.float(W::TWO.minus());
    let v = s.mul(a, minus_two);
    // d = 2^n (exp(f) - 1) + (2^n + 1).
    let (log2_e, round) = (s.float(W::LOG2_E), s.float(W::ROUND_ONE));
    let t = s.fma(v, log2_e, round);
    let n = s.sub(t, round);
    let ln2 = s.float(W::LN2_HI.minus());
    let f = s.fma(n, ln2, v);
    let ln2 = s.float(W::LN2_LO.minus());
    let f = s.fma(n, ln2, f);
    let q = horner(s, f, W::EXPM1);
    let square = s.mul(f, f);
    let p = s.fma(square, q, f);
    let power = scale(s, t);
    let one = s.float(W::ONE);
    let offset = s.add(power, one);
    let d = s.fma(p, power, offset);
    let low = s.sub(one, d);
    let low = s.add(low, power);
    let low = s.fma(p, power, low);

    // The quotient and, by what it leaves, its correction; 2 - d is exact.
    let two = s.float(W::TWO);
    let high = s.sub(two, d);
    let dividend = s.sub(high, low);
    let r = reciprocal(s, d, W::TANH_STEPS);
    let y = s.mul(dividend, r);
    let minus_y = s.neg(y);
    let rest = s.fma(minus_y, d, high);
    let rest = s.sub(rest, low);
    let rest = s.fma(minus_y, low, rest);
    let y = s.fma(rest, r, y);
    with_sign(s, y, x)
}

/// erf(x): a polynomial below the border, 1 - 2^log2(erfc(|x|)) above it.
pub(super) fn erf<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let a = s.abs(x);
    let z = s.mul(a, a);
    let q = horner(s, z, W::ERF);
    let near = s.fma(a, q, a);

    let most = s.float(W::ERF_MOST);
    let bounded = s.min(a, most);
    let one = s.float(W::ONE);
    let v = s.sub(bounded, one);
    let h = horner(s, v, W::ERFC_LOG2);
    let round = s.float(W::ROUND_ONE);
    let t = s.add(h, round);
    let n = s.sub(t, round);
    let f = s.sub(h, n);
    let q = horner(s, f, W::EXP2);
    let p = s.fma(f, q, one);
    let power = scale(s, t);
    let minus_p = s.neg(p);
    let far = s.fma(minus_p, power, one);

    let border = s.float(W::ERF_BORDER);
    let is_far = s.lt(border, a);
    let y = s.select(is_far, far, near);
    with_sign(s, y, x)
}
