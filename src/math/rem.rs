//! The exact remainder of a division.

use super::sink::{Sink, Width};
use super::steps::{reciprocal, split_fields, with_sign};

/// x - y · trunc(x / y), exactly: a long division of the mantissas that takes [`super::width::Constants::REM_STEP`] bits
/// of the quotient a step.
///
/// Within the steps the quotient is rounded to nearest and off by less than a quarter, so the remainder stays below ¾
/// of the divisor's mantissa, on either side of zero, and has the bits of one: its subtraction is exact.
pub(super) fn rem<W: Width, S: Sink<W>>(s: &mut S, x: S::F, y: S::F) -> S::F {
    let (a, b) = (s.abs(x), s.abs(y));
    let (exponent, dividend) = split_fields(s, a);
    let (scale, divisor) = split_fields(s, b);
    let inverse = reciprocal(s, divisor, W::REM_STEPS);
    let minus_divisor = s.neg(divisor);
    let step = |s: &mut S, r: S::F| {
        let round = s.float(W::ROUND);
        let q = s.fma(r, inverse, round);
        let q = s.sub(q, round);
        s.fma(q, minus_divisor, r)
    };

    // The first step takes the bits that make the others whole.
    // Only for such operands is the difference not negative, and the number of steps bounded.
    let divisible = s.le(b, a);
    let zero = s.int(0);
    let difference = s.isub(exponent, scale);
    let difference = s.select_int(divisible, difference, zero);
    let by = s.int(W::REM_STEP_RECIPROCAL);
    let times = s.imul(difference, by);
    let by = s.int(16);
    let times = s.shr(times, by);
    let bits = s.int(W::REM_STEP);
    let whole = s.imul(times, bits);
    let first = s.isub(difference, whole);
    let power = power_of_two(s, first);
    let r = s.mul(dividend, power);
    let r = step(s, r);
    let r = s.repeat(times, r, |s, r| {
        let scale = s.float(W::REM_SCALE);
        let r = s.mul(r, scale);
        step(s, r)
    });

    let zero = s.float(W::ZERO);
    let below = s.lt(r, zero);
    let raised = s.add(r, divisor);
    let r = s.select(below, raised, r);
    // Back to the divisor's exponent in two factors, since one might be subnormal.
    let bias = s.int(W::BIAS);
    let twice = s.iadd(scale, bias);
    let one = s.int(1);
    let half = s.shr(twice, one);
    let rest = s.isub(twice, half);
    let by = s.int(W::MANTISSA);
    let half = s.shl(half, by);
    let rest = s.shl(rest, by);
    let (half, rest) = (s.from_bits(half), s.from_bits(rest));
    let r = s.mul(r, half);
    let r = s.mul(r, rest);
    let r = s.select(divisible, r, a);

    let infinity = s.float(W::INFINITY);
    let finite = s.lt(a, infinity);
    let nonzero = s.lt(zero, b);
    let valid = s.both(finite, nonzero);
    let nan = s.float(W::NAN);
    let r = s.select(valid, r, nan);
    with_sign(s, r, x)
}

/// 2^n for a small unsigned n.
fn power_of_two<W: Width, S: Sink<W>>(s: &mut S, n: S::I) -> S::F {
    let bias = s.int(W::BIAS);
    let n = s.iadd(n, bias);
    let by = s.int(W::MANTISSA);
    let bits = s.shl(n, by);
    s.from_bits(bits)
}
