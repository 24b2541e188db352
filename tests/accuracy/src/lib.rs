//! How far kernite's precise functions are from the true values.
#![forbid(unsafe_code)]

pub mod measure;
pub mod reference;
pub mod trace;

use kernite::math::{Host, Unary, unary};

/// Every function of one argument.
pub const UNARY: [Unary; 10] = [
    Unary::Exp,
    Unary::Exp2,
    Unary::Log,
    Unary::Log2,
    Unary::Rsqrt,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Tanh,
    Unary::Erf,
];

/// The name that documentation, tests and `KERNITE_EXHAUSTIVE` use.
pub fn name(function: Unary) -> String {
    format!("{function:?}").to_lowercase()
}

/// The recipe of `function` as plain Rust.
#[inline]
pub fn host32(function: Unary, x: f32) -> f32 {
    unary::<f32, _>(function, &mut Host, x)
}
