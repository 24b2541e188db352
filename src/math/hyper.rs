//! tanh and erf.

use super::sink::{Sink, Width};
use super::steps::{horner, reciprocal, with_sign};

/// 2^n of a `t` that is [`super::width::Constants::ROUND_ONE`] + n, half of that of a `t` that is
/// [`super::width::Constants::ROUND_HALF`] + n.
fn scale<W: Width, S: Sink<W>>(s: &mut S, t: S::F) -> S::F {
    let bits = s.to_bits(t);
    let by = s.int(W::MANTISSA);
    let bits = s.shl(bits, by);
    s.from_bits(bits)
}

/// tanh(|x|) = u / (1 + u), u = (exp(2|x|) - 1) / 2.
pub(super) fn tanh<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let a = s.abs(x);
    let most = s.float(W::TANH_MOST);
    let above = s.lt(most, a);
    let a = s.select(above, most, a);
    let v = s.add(a, a);
    let (log2_e, round) = (s.float(W::LOG2_E), s.float(W::ROUND_HALF));
    let t = s.fma(v, log2_e, round);
    let n = s.sub(t, round);
    // Exact; what ln(2) has beyond its float's digits matters only where the result is all but 1.
    let ln2 = s.float(W::LN2.minus());
    let f = s.fma(n, ln2, v);
    let g = horner(s, f, W::EXPM1);
    let square = s.mul(f, f);
    // u = (2^(n-1) f + (2^(n-1) - 1/2)) + 2^(n-1) f² g, of which both parts are kept: near zero the first is x.
    let power = scale(s, t);
    let minus_half = s.float(W::HALF.minus());
    let offset = s.add(power, minus_half);
    let high = s.fma(f, power, offset);
    let low = s.mul(square, power);
    let low = s.mul(low, g);
    let u = s.add(high, low);

    // The quotient y, roughly, and its correction by what it leaves: u (1 - y) - y.
    let one = s.float(W::ONE);
    let d = s.add(u, one);
    let r = reciprocal(s, d, W::TANH_STEPS);
    let y = s.mul(u, r);
    let left = s.sub(one, y);
    let minus_y = s.neg(y);
    let rest = s.fma(high, left, minus_y);
    let rest = s.fma(low, left, rest);
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
