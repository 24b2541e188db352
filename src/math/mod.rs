//! Recipes of the precise functions.
//!
//! A recipe says once, against a small [`Sink`], how a function is computed from additions, multiplications, fused
//! multiply-adds, selections and integer operations. Emitters write it in place, the reference executor and [`Host`]
//! compute with it, so that all agree bit for bit wherever add, mul and fma are exact. `docs/accuracy.md` holds each
//! recipe's largest error and its cost.
//!
//! The recipes are straight lines without division, square root or a hardware's approximation; the only loop is that of
//! [`Binary::Rem`]. f16 and bf16 have none of their own: convert to f32, apply its recipe, round once.
#![forbid(unsafe_code)]

mod coefficients;
mod exp;
mod host;
mod hyper;
mod log;
mod pow;
mod rem;
mod root;
mod sink;
mod steps;
mod trig;
mod width;

pub use host::Host;
pub use sink::{Sink, Table, Width};

/// A function of one argument that has a recipe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// e to the power x.
    Exp,
    /// 2 to the power x.
    Exp2,
    /// The natural logarithm.
    Log,
    /// The logarithm to base 2.
    Log2,
    /// 1 / √x.
    Rsqrt,
    /// The sine of x radians.
    Sin,
    /// The cosine of x radians.
    Cos,
    /// The tangent of x radians.
    Tan,
    /// The hyperbolic tangent.
    Tanh,
    /// The error function.
    Erf,
}

/// Writes the recipe of `function` into `sink`.
///
/// ```
/// use kernite::math::{Host, Unary, unary};
/// assert_eq!(unary::<f32, _>(Unary::Exp2, &mut Host, 0.5), core::f32::consts::SQRT_2);
/// assert_eq!(unary::<f64, _>(Unary::Log, &mut Host, 0.0), f64::NEG_INFINITY);
/// ```
#[inline]
pub fn unary<W: Width, S: Sink<W>>(function: Unary, sink: &mut S, x: S::F) -> S::F {
    match function {
        Unary::Exp => exp::exp(sink, x),
        Unary::Exp2 => exp::exp2(sink, x),
        Unary::Log => log::log(sink, x),
        Unary::Log2 => log::log2(sink, x),
        Unary::Rsqrt => root::rsqrt(sink, x),
        Unary::Sin => trig::sin(sink, x),
        Unary::Cos => trig::cos(sink, x),
        Unary::Tan => trig::tan(sink, x),
        Unary::Tanh => hyper::tanh(sink, x),
        Unary::Erf => hyper::erf(sink, x),
    }
}

/// A function of two arguments that has a recipe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    /// x to the power y.
    Pow,
    /// The remainder of x / y, exactly.
    Rem,
}

/// Writes the recipe of `function` into `sink`.
#[inline]
pub fn binary<W: Width, S: Sink<W>>(function: Binary, sink: &mut S, x: S::F, y: S::F) -> S::F {
    match function {
        Binary::Pow => pow::pow(sink, x, y),
        Binary::Rem => rem::rem(sink, x, y),
    }
}
