//! How far the approximations of a GPU may be from the reference executor: what their documentation says.

use half::{bf16, f16};
use kernite::op::Op;
use kernite::types::Type;

/// The number that the bits are.
pub fn number(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::F16 => f16::from_bits(bits as u16).to_f64(),
        Type::BF16 => bf16::from_bits(bits as u16).to_f64(),
        Type::F32 => f64::from(f32::from_bits(bits as u32)),
        Type::F64 => f64::from_bits(bits),
        _ => panic!("{ty} is no float"),
    }
}

/// The greatest number of a type, the bits of its mantissa, and the exponent of its least normal number.
pub fn shape(ty: Type) -> (f64, i32, i32) {
    match ty {
        Type::F16 => (65504.0, 10, -14),
        Type::BF16 => (f64::from(f32::from_bits(0x7F7F_0000)), 7, -126),
        Type::F32 => (f64::from(f32::MAX), 23, -126),
        _ => (f64::MAX, 52, -1022),
    }
}

/// The unit in the last place of a number of a type.
pub fn ulp(ty: Type, x: f64) -> f64 {
    let (_, mantissa, least) = shape(ty);
    let exponent = if x == 0.0 {
        least
    } else {
        x.abs().log2().floor() as i32
    };
    2f64.powi(exponent.max(least) - mantissa)
}

/// Whether a fast function may make `got` of `x` where the precise one makes `truth`. `None` where no document bounds it.
///
/// The bounds of f32 are those of the PTX ISA (9.7.3, Floating Point Instructions) and, for what is made of two
/// instructions, of the CUDA programming guide's intrinsic functions, each with one more unit for the rounding of the
/// precise function. What is narrower is computed in f32 and rounded once; f64, and `erf`, take the precise function.
pub fn fast(op: Op, ty: Type, x: &[f64], truth: f64, got: f64) -> Option<bool> {
    if ty == Type::F64 || op == Op::Erf {
        return Some(truth == got || (truth.is_nan() && got.is_nan()));
    }
    let allowed = single(op, x, truth)?;
    if truth.is_nan() {
        return Some(got.is_nan());
    }
    let (greatest, ..) = shape(ty);
    let close = |v: f64| v.clamp(-2.0 * greatest, 2.0 * greatest);
    let narrow = if ty == Type::F32 { 0.0 } else { ulp(ty, truth) };
    // Beyond the greatest number is infinity, whose distance counts as that of a number.
    let far = (close(got) - close(truth)).abs();
    let at_the_end = truth.abs() > greatest * 0.99 && got.abs() > greatest * 0.99;
    Some(far <= allowed + narrow || (at_the_end && got.signum() == truth.signum()))
}

/// The absolute error of the f32 form.
fn single(op: Op, x: &[f64], truth: f64) -> Option<f64> {
    let ulps = |n: f64| {
        n * ulp(
            Type::F32,
            truth.clamp(-f64::from(f32::MAX), f64::from(f32::MAX)),
        )
    };
    let a = x[0];
    Some(match op {
        // "The maximum relative error is 2 ulp", over the full range.
        Op::Div => ulps(3.0),
        Op::Rcp => ulps(2.0),
        Op::Sqrt | Op::Rsqrt => ulps(4.0),
        Op::Exp2 => ulps(4.0),
        // __expf: 2 + floor(abs(1.173 * x)).
        Op::Exp => ulps(4.0 + (1.173 * a).abs().min(1e9)),
        // 2^-22 absolute between a half and two.
        Op::Log2 if (0.5..=2.0).contains(&a) => 2f64.powi(-21),
        Op::Log if (0.5..=2.0).contains(&a) => 2f64.powf(-21.0),
        Op::Log2 => ulps(3.0),
        Op::Log => ulps(4.0),
        // 2^-20.5 absolute between -pi and pi.
        Op::Sin | Op::Cos if a.is_nan() || a.is_infinite() => 0.0,
        Op::Sin | Op::Cos if a.abs() <= 3.15 => 2f64.powi(-20),
        Op::Tan if a.is_nan() || a.is_infinite() => 0.0,
        // Their quotient.
        Op::Tan if a.abs() <= 1.5 => {
            2f64.powi(-20) * (1.0 + truth.abs()) / a.cos().abs() + ulps(3.0)
        }
        // 2^-11 relative.
        Op::Tanh => truth.abs() * 2f64.powi(-10) + ulps(2.0),
        // exp2(b * log2(a)).
        Op::Pow
            if a > 0.0
                && a.is_finite()
                && x[1].is_finite()
                && truth.is_finite()
                && truth != 0.0 =>
        {
            let log = a.log2();
            let log_error = if (0.5..=2.0).contains(&a) {
                2f64.powi(-21)
            } else {
                4.0 * ulp(Type::F32, log)
            };
            let exponent = x[1].abs() * log_error + (x[1] * log).abs() * 2f64.powi(-23);
            if exponent > 1.0 {
                return None;
            }
            truth.abs() * (exponent.exp2() - 1.0) + ulps(4.0)
        }
        _ => return None,
    })
}
