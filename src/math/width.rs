//! What a recipe needs to know of its width.

use super::sink::{Table, Width};

/// The constants of a width; their values are generated (`coefficients.rs`).
pub trait Constants: Copy + PartialEq + core::fmt::Debug + 'static {
    /// Bits of the mantissa field.
    const MANTISSA: u64;
    /// Bias of the exponent field.
    const BIAS: u64;
    /// The sign bit.
    const SIGN: u64;
    /// The bits of infinity, which are also the exponent field's mask.
    const INFINITY_BITS: u64;
    /// The least normal number.
    const LEAST_NORMAL: Self;
    /// Makes every subnormal normal.
    const SUBNORMAL_SCALE: Self;
    /// What [`Constants::SUBNORMAL_SCALE`] takes from the exponent.
    const SUBNORMAL_EXPONENT: Self;
    /// An exponent field read as an integer is this times too large.
    const EXPONENT_UNIT: Self;

    /// Adding it rounds to an integer and leaves that, biased once, in the low bits.
    const ROUND_ONE: Self;
    /// Adding it rounds to an integer and leaves that, biased once less one, in the low bits.
    const ROUND_HALF: Self;
    /// Adding it rounds to an integer and leaves that, biased twice, in the low bits.
    const ROUND_TWO: Self;
    /// [`Constants::ROUND_TWO`] and an exponent that is infinite.
    const ROUND_TWO_TOP: Self;
    /// [`Constants::ROUND_TWO`] and an exponent that is zero.
    const ROUND_TWO_BOTTOM: Self;
    /// Adding it rounds to an integer.
    const ROUND: Self;

    /// log2(e).
    const LOG2_E: Self;
    /// ln(2). For an x that rounds to n times it, x - n · [`Constants::LN2`] is a float.
    const LN2: Self;
    /// The rest of ln(2).
    const LN2_REST: Self;
    /// ln(2), so short that an exponent times it is exact.
    const LN2_HI: Self;
    /// The rest of ln(2).
    const LN2_LO: Self;
    /// Where `exp` has long been zero.
    const EXP_LOWEST: Self;
    /// Where `exp` is infinite, with the exponent of infinity.
    const EXP_HIGHEST: Self;
    /// Where `exp2` has long been zero.
    const EXP2_LOWEST: Self;
    /// Where `exp2` is infinite: the exponent of infinity.
    const EXP2_HIGHEST: Self;
    /// (exp2(f) - 1) / f for |f| to 1/2.
    const EXP2: &'static [Self];
    /// (exp(f) - 1 - f) / f² for |f| to ln(2) / 2.
    const EXPM1: &'static [Self];

    /// The bits of √½.
    const ROOT_HALF_BITS: u64;
    /// The bits of ⅔.
    const TWO_THIRDS_BITS: u64;
    /// (ln(1 + f) - f) / f² for |f| to ⅓.
    const LOG: &'static [Self];
    /// 1 / ln(2).
    const LOG2_SLOPE_HI: Self;
    /// The rest of it.
    const LOG2_SLOPE_LO: Self;
    /// (log2(1 + f) - f / ln(2)) / f² for |f| to ⅓.
    const LOG2: &'static [Self];

    /// 2 / ln(2): log2(1 + f) = s (2 / ln(2) + s² 2 / (3 ln(2)) + …), s = f / (2 + f).
    const POW_1_HI: Self;
    /// The rest of it.
    const POW_1_LO: Self;
    /// 2 / (3 ln(2)).
    const POW_3_HI: Self;
    /// The rest of it.
    const POW_3_LO: Self;
    /// The series from s⁴ on, over s⁴.
    const POW: &'static [Self];
    /// 1 / (2 + f), roughly.
    const POW_RECIPROCAL: &'static [Self];
    /// Newton steps that it needs.
    const POW_STEPS: usize;
    /// Exponents beyond it give zero, one or infinity.
    const POW_MOST: Self;

    /// Minus the bits of d gives the bits of 1 / d, roughly.
    const RECIPROCAL_GUESS: u64;

    /// (sin(r) / r - 1) / r² in r², |r| to π/4.
    const SIN: &'static [Self];
    /// (cos(r) - 1 + r² / 2) / r⁴ in r².
    const COS: &'static [Self];
    /// (tan(r) / r - 1) / r² in r².
    const TAN: &'static [Self];
    /// π / 2 over two to the bits of a word.
    const HALF_PI_WORD_HI: Self;
    /// The rest of it.
    const HALF_PI_WORD_LO: Self;
    /// The bits of an integer that a float has no room for.
    const CHUNK_MASK: u64;
    /// One over two to the bits of a word.
    const WORD_UNIT: Self;
    /// Cubic steps for the reciprocal.
    const TANGENT_STEPS: usize;
    /// 1 / (2π): a window of a word's width for each eighth binary digit.
    const TURN: &'static Table;

    /// Where `tanh` has long been 1.
    const TANH_MOST: Self;
    /// Cubic steps for its quotient, which needs half the digits.
    const TANH_STEPS: usize;

    /// Where `erf` passes from one polynomial to the other.
    const ERF_BORDER: Self;
    /// Where `erf` is 1.
    const ERF_MOST: Self;
    /// erf(x) / x - 1 in x² below the border.
    const ERF: &'static [Self];
    /// log2(erfc(x)) in x - 1 above the border.
    const ERFC_LOG2: &'static [Self];

    /// Minus half the bits of x gives the bits of 1 / √x, roughly.
    const RSQRT_GUESS: u64;
    /// Cubic steps that it needs.
    const RSQRT_STEPS: usize;
    /// Makes every subnormal normal: a square.
    const RSQRT_SCALE: Self;
    /// Its root.
    const RSQRT_SUBNORMAL_SCALE: Self;

    /// Bits of the quotient in one step of `rem`.
    const REM_STEP: u64;
    /// Two to that.
    const REM_SCALE: Self;
    /// 2¹⁶ / [`Constants::REM_STEP`], rounded up: exact for every difference of exponents.
    const REM_STEP_RECIPROCAL: u64;
    /// Cubic steps for its reciprocal.
    const REM_STEPS: usize;

    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// 2.
    const TWO: Self;
    /// ½.
    const HALF: Self;
    /// ⅜.
    const THREE_EIGHTHS: Self;
    /// 1.4.
    const SECANT: Self;
    /// Infinity.
    const INFINITY: Self;
    /// A NaN.
    const NAN: Self;
    /// `-self`.
    fn minus(self) -> Self;
}

impl Width for f32 {}
impl Width for f64 {}
