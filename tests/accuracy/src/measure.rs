//! Errors in units in the last place, and their worst over many inputs.

use crate::reference::big;
use astro_float::{BigFloat, RoundingMode};

/// The error of `got` against the true value, in units in the last place of the true value.
///
/// The unit is the distance of the f32 on the true value's binade, that of subnormals at least. An infinity counts as
/// the power of two that would come after the greatest number; two NaNs agree, and an infinity or NaN where there must be
/// none, or none where there must be one, is infinitely wrong.
#[inline]
pub fn ulps32(got: f32, truth: f64) -> f64 {
    if truth.is_nan() || got.is_nan() || truth.is_infinite() {
        let right = (truth.is_nan() && got.is_nan()) || f64::from(got) == truth;
        return if right { 0.0 } else { f64::INFINITY };
    }
    if got.is_sign_negative() != truth.is_sign_negative() {
        return f64::INFINITY;
    }
    let limit = 2f64.powi(128);
    let close = |v: f64| v.clamp(-limit, limit);
    // The exponent field of the double, not below that of the least normal f32, 23 less.
    let exponent = ((truth.to_bits() >> 52) & 0x7ff).clamp(1023 - 126, 1023 + 127);
    let inverse = f64::from_bits((1023 + 23 + 1023 - exponent) << 52);
    (close(f64::from(got)) - close(truth)).abs() * inverse
}

/// The worst of many inputs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Worst {
    /// The error in units in the last place.
    pub ulps: f64,
    /// The input's bits.
    pub input: u32,
}

impl Worst {
    /// Nothing measured yet.
    pub const NONE: Worst = Worst {
        ulps: -1.0,
        input: 0,
    };

    /// The worse of two; of equals the first.
    pub fn or(self, other: Worst) -> Worst {
        if other.ulps > self.ulps { other } else { self }
    }
}

/// The worst of these inputs (bits) of `function` against `truth`.
#[inline]
pub fn worst32(
    inputs: impl Iterator<Item = u32>,
    function: impl Fn(f32) -> f32,
    truth: impl Fn(f64) -> f64,
) -> Worst {
    let mut worst = Worst::NONE;
    for input in inputs {
        let x = f32::from_bits(input);
        let ulps = ulps32(function(x), truth(f64::from(x)));
        if ulps > worst.ulps {
            worst = Worst { ulps, input };
        }
    }
    worst
}

/// The error of `got` against the true value, in units in the last place of the true value, which is finite.
///
/// As [`ulps32`]: the unit is that of subnormals at least, and infinity counts as the power of two after the greatest
/// number.
pub fn ulps64(got: f64, truth: &BigFloat) -> f64 {
    if got.is_nan() || truth.is_nan() {
        return if got.is_nan() && truth.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let after = big(2f64.powi(1023)).mul(&big(2.0), 256, RoundingMode::ToEven);
    let close = |value: BigFloat| {
        let (above, below) = (after.clone(), after.neg());
        if value > above {
            above
        } else if value < below {
            below
        } else {
            value
        }
    };
    let got = if got.is_infinite() {
        if got > 0.0 {
            after.clone()
        } else {
            after.neg()
        }
    } else {
        big(got)
    };
    let truth = close(truth.clone());
    let error = truth.sub(&got, 256, RoundingMode::ToEven);
    let Some((mantissa, _, _, exponent, _)) = error.as_raw_parts() else {
        return f64::INFINITY;
    };
    let Some(&upper) = mantissa.last().filter(|&&upper| upper != 0) else {
        return 0.0;
    };
    // Both exponents are those of mantissas from one half to one.
    let unit = truth.exponent().unwrap_or(-2000).clamp(-1021, 1024) - 53;
    upper as f64 * 2f64.powi(-64) * 2f64.powi(exponent - unit)
}
