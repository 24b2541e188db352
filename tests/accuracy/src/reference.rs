//! The true values, as near as double precision has them.

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
