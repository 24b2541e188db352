//! The true values: of f32 as near as double precision has them, of f64 as multiple-precision numbers.

use astro_float::{BigFloat, Consts, RoundingMode};
use kernite::math::Unary;

/// `function` of a double.
#[inline]
pub fn truth(function: Unary, x: f64) -> f64 {
    match function {
        Unary::Exp => x.exp(),
        Unary::Exp2 => x.exp2(),
        Unary::Log => x.ln(),
        Unary::Log2 => x.log2(),
        Unary::Rsqrt => 1.0 / x.sqrt(),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tan => x.tan(),
        Unary::Tanh => x.tanh(),
        Unary::Erf => libm::erf(x),
    }
}

/// Bits of the multiple-precision numbers.
const PRECISION: usize = 256;
const ROUND: RoundingMode = RoundingMode::ToEven;

/// A number of many bits.
pub fn big(x: f64) -> BigFloat {
    // astro-float 0.9.6 misreads subnormal numbers.
    if x.is_subnormal() {
        let down = BigFloat::from_f64(2f64.powi(-600), PRECISION);
        let x = BigFloat::from_f64(x * 2f64.powi(600), PRECISION);
        return x.mul(&down, PRECISION, ROUND);
    }
    BigFloat::from_f64(x, PRECISION)
}

/// Computes with many bits.
pub struct Big(Consts);

impl Default for Big {
    fn default() -> Big {
        Big(Consts::new().expect("memory for the constants"))
    }
}

impl Big {
    /// `function` of a finite double in its domain.
    pub fn truth(&mut self, function: Unary, x: f64) -> BigFloat {
        let (p, rm, cc) = (PRECISION, ROUND, &mut self.0);
        let value = big(x);
        match function {
            Unary::Exp => value.exp(p, rm, cc),
            Unary::Exp2 => big(2.0).pow(&value, p, rm, cc),
            Unary::Log => value.ln(p, rm, cc),
            Unary::Log2 => value.log2(p, rm, cc),
            Unary::Rsqrt => value.sqrt(p, rm).reciprocal(p, rm),
            Unary::Sin => value.sin(p, rm, cc),
            Unary::Cos => value.cos(p, rm, cc),
            Unary::Tan => value.tan(p, rm, cc),
            Unary::Tanh => value.tanh(p, rm, cc),
            Unary::Erf => self.erf(x),
        }
    }

    /// x to the power y, finite and x positive.
    pub fn pow(&mut self, x: f64, y: f64) -> BigFloat {
        big(x).pow(&big(y), PRECISION, ROUND, &mut self.0)
    }

    /// 2 / √π · Σ (-1)^k x^(2k+1) / (k! (2k+1)): up to |x| = 6, where erf is 1 to 53 bits and more, cancellation takes
    /// 52 of the bits.
    fn erf(&mut self, x: f64) -> BigFloat {
        let (p, rm) = (PRECISION, ROUND);
        if x.abs() > 6.0 {
            return big(x.signum());
        }
        let value = big(x);
        let minus_square = value.mul(&value, p, rm).neg();
        let (mut power, mut sum) = (value.clone(), value);
        for k in 1..250 {
            power = power
                .mul(&minus_square, p, rm)
                .div(&big(f64::from(k)), p, rm);
            sum = sum.add(&power.div(&big(f64::from(2 * k + 1)), p, rm), p, rm);
        }
        let root = self.0.pi(p, rm).sqrt(p, rm);
        sum.mul(&big(2.0), p, rm).div(&root, p, rm)
    }
}
