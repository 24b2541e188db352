//! sin, cos and tan.

use super::sink::{Sink, Width};
use super::steps::{horner, reciprocal};

/// |x| less the nearest multiple of π/2.
struct Reduced<F, I> {
    /// The quarter turns in the two uppermost bits.
    quarter: I,
    /// What is left, from -π/4 to π/4.
    high: F,
    /// What `high` is short of.
    low: F,
}

/// Payne and Hanek's reduction without a branch: x is an integer times a power of two, and of 1/(2π) only those binary
/// digits matter whose product with it is neither whole turns nor too small. A table holds a window of digits for each
/// eighth digit; the mantissa is shifted by the rest. Where |x| is below one half it is its own remainder.
fn reduce<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> Reduced<S::F, S::I> {
    let a = s.abs(x);
    let half = s.float(W::HALF);
    let bounded = s.max(a, half);
    let bits = s.to_bits(bounded);
    // Exponents from that of one half on, which makes a multiple of eight of it.
    let two = s.int(2 << W::MANTISSA);
    let shifted = s.iadd(bits, two);
    let by = s.int(W::MANTISSA);
    let exponent = s.shr(shifted, by);
    let seven = s.int(7);
    let by = s.and(exponent, seven);
    let three = s.int(3);
    let index = s.shr(exponent, three);
    let origin = s.int((W::BIAS + 1) >> 3);
    let index = s.isub(index, origin);
    let field = s.int((1 << W::MANTISSA) - 1);
    let mantissa = s.and(bits, field);
    let leading = s.int(1 << W::MANTISSA);
    let mantissa = s.or(mantissa, leading);
    let mantissa = s.shl(mantissa, by);

    // Three words of digits: the product has turns above, and 2^-64 of them (f64: 2^-128) as its unit.
    let bytes = W::TURN.width / 8;
    let first = s.table(W::TURN, index);
    let next = s.int(u64::from(bytes));
    let next = s.iadd(index, next);
    let second = s.table(W::TURN, next);
    let next = s.int(u64::from(2 * bytes));
    let next = s.iadd(index, next);
    let third = s.table(W::TURN, next);
    let carried = s.umul_hi(mantissa, third);
    let low = s.imul(mantissa, second);
    let low = s.iadd(low, carried);
    let carry = s.ult(low, carried);
    let high = s.umul_hi(mantissa, second);
    let upper = s.imul(mantissa, first);
    let high = s.iadd(high, upper);
    let (zero, one) = (s.int(0), s.int(1));
    let carry = s.select_int(carry, one, zero);
    let high = s.iadd(high, carry);

    // The nearest quarter: what is left of the turn, times four, is a signed fraction.
    let word = u64::from(W::TURN.width);
    let eighth = s.int(1 << (word - 3));
    let quarter = s.iadd(high, eighth);
    let two = s.int(2);
    let upper = s.shl(high, two);
    let by = s.int(word - 2);
    let moved = s.shr(low, by);
    let upper = s.or(upper, moved);
    let lower = s.shl(low, two);

    // As a sum of two floats: the upper word in two parts without rounding, then the lower word.
    let mask = s.int(W::CHUNK_MASK);
    let small = s.and(upper, mask);
    let large = s.isub(upper, small);
    let (large, small) = (s.from_signed(large), s.from_unsigned(small));
    let lower = s.from_unsigned(lower);
    let sum = s.add(large, small);
    let rest = s.sub(large, sum);
    let rest = s.add(rest, small);
    let unit = s.float(W::WORD_UNIT);
    let rest = s.fma(lower, unit, rest);

    // Times π/2, in units of the upper word.
    let (pi_hi, pi_lo) = (s.float(W::HALF_PI_WORD_HI), s.float(W::HALF_PI_WORD_LO));
    let high = s.mul(sum, pi_hi);
    let minus_high = s.neg(high);
    let low = s.fma(sum, pi_hi, minus_high);
    let low = s.fma(sum, pi_lo, low);
    let low = s.fma(rest, pi_hi, low);
    // Infinity has no remainder, and NaN none. Not by arithmetic: there are drivers that take 0 · ∞ for 0.
    let (infinity, nan) = (s.float(W::INFINITY), s.float(W::NAN));
    let finite = s.lt(a, infinity);
    let low = s.select(finite, low, nan);

    let (itself, zero) = (s.lt(a, half), s.float(W::ZERO));
    Reduced {
        quarter,
        high: s.select(itself, a, high),
        low: s.select(itself, zero, low),
    }
}

/// The sine and the cosine of what is left, whichever the quarter asks for.
fn wave<W: Width, S: Sink<W>>(s: &mut S, r: &Reduced<S::F, S::I>) -> S::F {
    let z = s.mul(r.high, r.high);
    let q = horner(s, z, W::SIN);
    // sin(high + low) = high + low + high² (high · q - low / 2).
    let minus_half = s.float(W::HALF.minus());
    let rest = s.mul(r.low, minus_half);
    let rest = s.fma(r.high, q, rest);
    let rest = s.fma(z, rest, r.low);
    let sine = s.add(r.high, rest);

    // What z is short of matters here.
    let minus_z = s.neg(z);
    let lost = s.fma(r.high, r.high, minus_z);
    let twice = s.add(r.high, r.high);
    let lost = s.fma(twice, r.low, lost);
    let lost = s.mul(lost, minus_half);
    let q = horner(s, z, W::COS);
    let square = s.mul(z, z);
    let rest = s.fma(square, q, lost);
    let rest = s.fma(z, minus_half, rest);
    let one = s.float(W::ONE);
    let cosine = s.add(one, rest);

    let odd = is_odd(s, r.quarter);
    s.select(odd, cosine, sine)
}

/// Whether the quarter is the second or the fourth.
fn is_odd<W: Width, S: Sink<W>>(s: &mut S, quarter: S::I) -> S::B {
    let bit = s.int(W::SIGN >> 1);
    let odd = s.and(quarter, bit);
    s.ieq(odd, bit)
}

/// `value` with its sign changed where the uppermost bit of `by` is set.
fn flip<W: Width, S: Sink<W>>(s: &mut S, value: S::F, by: S::I) -> S::F {
    let sign = s.int(W::SIGN);
    let sign = s.and(by, sign);
    let bits = s.to_bits(value);
    let bits = s.xor(bits, sign);
    s.from_bits(bits)
}

/// sin(x).
pub(super) fn sin<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let r = reduce(s, x);
    let y = wave(s, &r);
    let x = s.to_bits(x);
    let sign = s.xor(x, r.quarter);
    flip(s, y, sign)
}

/// cos(x) = sin(|x| + π/2).
pub(super) fn cos<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let mut r = reduce(s, x);
    let one = s.int(W::SIGN >> 1);
    r.quarter = s.iadd(r.quarter, one);
    let y = wave(s, &r);
    flip(s, y, r.quarter)
}

/// tan(x): r + r³ · q, and in the second and fourth quarter minus its reciprocal.
pub(super) fn tan<W: Width, S: Sink<W>>(s: &mut S, x: S::F) -> S::F {
    let r = reduce(s, x);
    let z = s.mul(r.high, r.high);
    let q = horner(s, z, W::TAN);
    let cube = s.mul(r.high, z);
    // The slope there is 1 + tan(r)², near enough 1 + 1.4 r².
    let (secant, one) = (s.float(W::SECANT), s.float(W::ONE));
    let slope = s.fma(z, secant, one);
    let low = s.mul(r.low, slope);
    let rest = s.fma(cube, q, low);
    let high = s.add(r.high, rest);
    let low = s.sub(r.high, high);
    let low = s.add(low, rest);

    // 1 / (high + low): a last step knows low.
    let y = reciprocal(s, high, W::TANGENT_STEPS);
    let minus_high = s.neg(high);
    let e = s.fma(minus_high, y, one);
    let minus_low = s.neg(low);
    let e = s.fma(minus_low, y, e);
    let y = s.fma(y, e, y);
    let minus_y = s.neg(y);

    let odd = is_odd(s, r.quarter);
    let y = s.select(odd, minus_y, high);
    let x = s.to_bits(x);
    flip(s, y, x)
}
