//! How far kernite's precise functions are from the true values.
#![forbid(unsafe_code)]

pub mod measure;
pub mod page;
pub mod reference;
pub mod trace;

use kernite::math::{Binary, Host, Unary, binary, unary};

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

/// Every function of two arguments.
pub const BINARY: [Binary; 2] = [Binary::Pow, Binary::Rem];

/// The name that documentation, tests and `KERNITE_EXHAUSTIVE` use.
pub fn name(function: Unary) -> String {
    format!("{function:?}").to_lowercase()
}

/// The recipe of `function` as plain Rust.
#[inline]
pub fn host32(function: Unary, x: f32) -> f32 {
    unary::<f32, _>(function, &mut Host, x)
}

/// The recipe of `function` as plain Rust.
#[inline]
pub fn host64(function: Unary, x: f64) -> f64 {
    unary::<f64, _>(function, &mut Host, x)
}

/// The recipe of a function of two arguments as plain Rust.
#[inline]
pub fn pair32(function: Binary, x: f32, y: f32) -> f32 {
    binary::<f32, _>(function, &mut Host, x, y)
}

/// The recipe of a function of two arguments as plain Rust.
#[inline]
pub fn pair64(function: Binary, x: f64, y: f64) -> f64 {
    binary::<f64, _>(function, &mut Host, x, y)
}

/// Numbers without a pattern, always the same (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from one to the other.
    pub fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * (self.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    /// A base and an exponent whose power has a binary logarithm between these; every fourth base is near one. `bits` is
    /// the width of the float that both are exact in.
    pub fn power(&mut self, least: f64, most: f64, bits: u32) -> (f64, f64) {
        let close = |x: f64| if bits == 32 { f64::from(x as f32) } else { x };
        loop {
            let reach = most.abs().max(least.abs());
            let log = self.between(-1.0, 1.0);
            let scale = match self.next_u64() % 4 {
                0 => reach,
                1 => 1.0,
                2 => 0.1,
                _ => 0.0001,
            };
            let x = close((log * scale).exp2());
            let y = close(self.between(least, most) / x.log2());
            if x > 0.0 && x.is_finite() && y.is_finite() && y != 0.0 {
                return (x, y);
            }
        }
    }
}
