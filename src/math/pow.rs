//! pow.

use super::exp::scaled;
use super::sink::{Sink, Width};
use super::steps::{horner, split};

/// log2(a) of a positive a as a sum of two floats, to half again the digits of one.
///
/// log2(2^e · (1 + f)) = e + s · (c₁ + s² · (c₃ + s² · R(s²))), s = f / (2 + f). All but R is kept in two floats.
fn log2<W: Width, S: Sink<W>>(s: &mut S, a: S::F) -> (S::F, S::F) {
    let (e, f) = split(s, a, W::ROOT_HALF_BITS);
    let two = s.float(W::TWO);
    let mut r = horner(s, f, W::POW_RECIPROCAL);
    let d = s.add(f, two);
    let minus_d = s.neg(d);
    for _ in 0..W::POW_STEPS {
        let e = s.fma(minus_d, r, two);
        r = s.mul(r, e);
    }
    // What s is short of: f - 2s is exact, since they are near each other.
    let sh = s.mul(f, r);
    let minus_two = s.float(W::TWO.minus());
    let rest = s.fma(minus_two, sh, f);
    let minus_sh = s.neg(sh);
    let rest = s.fma(minus_sh, f, rest);
    let sl = s.mul(rest, r);

    let zh = s.mul(sh, sh);
    let minus_zh = s.neg(zh);
    let zl = s.fma(sh, sh, minus_zh);
    let twice = s.add(sl, sl);
    let zl = s.fma(sh, twice, zl);

    // c₃ + s² R.
    let rest = horner(s, zh, W::POW);
    let (c_hi, c_lo) = (s.float(W::POW_3_HI), s.float(W::POW_3_LO));
    let ph = s.fma(zh, rest, c_hi);
    let pl = s.sub(c_hi, ph);
    let pl = s.fma(zh, rest, pl);
    let pl = s.add(pl, c_lo);
    // Times s².
    let gh = s.mul(zh, ph);
    let minus_gh = s.neg(gh);
    let gl = s.fma(zh, ph, minus_gh);
    let gl = s.fma(zh, pl, gl);
    let gl = s.fma(zl, ph, gl);
    // Plus c₁.
    let (c_hi, c_lo) = (s.float(W::POW_1_HI), s.float(W::POW_1_LO));
    let ah = s.add(c_hi, gh);
    let al = s.sub(c_hi, ah);
    let al = s.add(al, gh);
    let gl = s.add(gl, c_lo);
    let al = s.add(al, gl);
    // Times s.
    let lh = s.mul(sh, ah);
    let minus_lh = s.neg(lh);
    let ll = s.fma(sh, ah, minus_lh);
    let ll = s.fma(sh, al, ll);
    let ll = s.fma(sl, ah, ll);
    // Plus e.
    let high = s.add(e, lh);
    let low = s.sub(e, high);
    let low = s.add(low, lh);
    (high, s.add(low, ll))
}

/// x^y = 2^(y · log2|x|), with a sign where x is negative and y an odd integer.
pub(super) fn pow<W: Width, S: Sink<W>>(s: &mut S, x: S::F, y: S::F) -> S::F {
    let a = s.abs(x);
    let (high, low) = log2(s, a);
    // So much gives zero, one or infinity with any x, and overflows nowhere below.
    let (least, most) = (s.float(W::POW_MOST.minus()), s.float(W::POW_MOST));
    let exponent = s.max(y, least);
    let exponent = s.min(exponent, most);
    let round = s.float(W::ROUND_TWO);
    let t = s.fma(exponent, high, round);
    let (bottom, top) = (s.float(W::ROUND_TWO_BOTTOM), s.float(W::ROUND_TWO_TOP));
    let t = s.max(t, bottom);
    let t = s.min(t, top);
    let n = s.sub(t, round);
    let minus_n = s.neg(n);
    let f = s.fma(exponent, high, minus_n);
    let f = s.fma(exponent, low, f);
    // Where n was held at the bottom.
    let (one, minus_one) = (s.float(W::ONE), s.float(W::ONE.minus()));
    let f = s.max(f, minus_one);
    let q = horner(s, f, W::EXP2);
    let r = scaled(s, f, q, t);

    // Integers, and among them the odd ones; infinities are even.
    let whole = s.trunc(y);
    let integer = s.eq(y, whole);
    let half = s.float(W::HALF);
    let half = s.mul(y, half);
    let whole = s.trunc(half);
    let even = s.eq(half, whole);
    let (none, sign) = (s.int(0), s.int(W::SIGN));
    let sign = s.select_int(even, none, sign);
    let sign = s.select_int(integer, sign, none);
    let x_bits = s.to_bits(x);
    let sign = s.and(sign, x_bits);

    let (zero, nan) = (s.float(W::ZERO), s.float(W::NAN));
    let negative = s.lt(x, zero);
    let real = s.select(integer, r, nan);
    let r = s.select(negative, real, r);

    // Zero and infinity, which alone are their own doubles: themselves, or each other where y is negative.
    let double = s.add(a, a);
    let limit = s.eq(double, a);
    let infinity = s.int(W::INFINITY_BITS);
    let bits = s.to_bits(a);
    let other = s.isub(infinity, bits);
    let other = s.from_bits(other);
    let inverse = s.lt(y, zero);
    let itself = s.select(inverse, other, a);
    let r = s.select(limit, itself, r);

    let bits = s.to_bits(r);
    let bits = s.or(bits, sign);
    let r = s.from_bits(bits);
    let (x_number, y_number) = (s.eq(x, x), s.eq(y, y));
    let numbers = s.both(x_number, y_number);
    let r = s.select(numbers, r, nan);
    let (x_one, y_zero) = (s.eq(x, one), s.eq(y, zero));
    let always = s.either(x_one, y_zero);
    s.select(always, one, r)
}
