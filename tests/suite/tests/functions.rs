//! Functions of floats on devices: the precise ones at special arguments, bit for bit and whatever the driver folds; the
//! fast ones within the bounds that are promised of them.

use kernite::builder::KernelBuilder;
use kernite::kernel::{Bounds, Value as Id};
use kernite::op::Op;
use kernite::spirv::Fma;
use kernite::types::{Access, Const, Type};
use kernite_suite::choices::SplitMix;
use kernite_suite::gpu;
use kernite_suite::run::{Case, Value};
use kernite_testkit::vulkan::Context;

const UNARY: [Op; 10] = [
    Op::Exp,
    Op::Exp2,
    Op::Log,
    Op::Log2,
    Op::Rsqrt,
    Op::Sin,
    Op::Cos,
    Op::Tan,
    Op::Tanh,
    Op::Erf,
];
const BINARY: [Op; 2] = [Op::Pow, Op::Rem];
const FLOATS: [Type; 4] = [Type::F16, Type::BF16, Type::F32, Type::F64];

/// Zeros, infinities, NaNs, ones, the ends of the subnormal and normal numbers; a whole workgroup of them.
fn special(ty: Type) -> Vec<u64> {
    let (bits, mantissa) = match ty {
        Type::F16 => (16, 10),
        Type::BF16 => (16, 7),
        Type::F32 => (32, 23),
        _ => (64, 52),
    };
    let sign = 1u64 << (bits - 1);
    let infinity = sign - (1 << mantissa);
    let one = (infinity >> 1) & !((1 << mantissa) - 1);
    let magnitudes = [
        0,
        1,
        (1 << mantissa) - 1,
        1 << mantissa,
        one,
        one + 1,
        infinity - 1,
        infinity,
        infinity + 1,
        infinity | 1 << (mantissa - 1),
    ];
    magnitudes.into_iter().flat_map(|m| [m, m | sign]).collect()
}

/// Numbers of a type, one after the other.
fn column(ty: Type, bits: impl IntoIterator<Item = u64>) -> Value {
    let bytes = bits
        .into_iter()
        .flat_map(|bits| bits.to_le_bytes().into_iter().take(ty.bytes() as usize));
    Value::Bytes(bytes.collect())
}

/// `op` of columns of numbers, or with constants instead, of each row of them.
fn case(op: Op, ty: Type, columns: &[Vec<u64>], constant: bool) -> Case {
    let rows = columns[0].len();
    let mut b = KernelBuilder::new("functions", [if constant { 1 } else { rows as u32 }, 1, 1]);
    let ins: Vec<_> = columns
        .iter()
        .filter(|_| !constant)
        .map(|_| b.buffer("", ty, Access::Read))
        .collect();
    let out = b.buffer("out", ty, Access::Write);
    if constant {
        for row in 0..rows {
            let operands: Vec<Id> = columns
                .iter()
                .map(|column| b.constant(Const::new(ty, column[row]).expect("bits of the type")))
                .collect();
            let value = b.apply(op, &operands);
            let at = b.constant(row as u32);
            b.store(out, at, value);
        }
    } else {
        let i = b.global_id(0);
        let operands: Vec<Id> = ins.iter().map(|&buffer| b.load(buffer, i)).collect();
        let value = b.apply(op, &operands);
        b.store(out, i, value);
    }
    let mut args: Vec<Value> = columns
        .iter()
        .filter(|_| !constant)
        .map(|column_bits| column(ty, column_bits.iter().copied()))
        .collect();
    args.push(column(ty, (0..rows).map(|_| 0x5555)));
    Case {
        kernel: b.finish().unwrap_or_else(|e| panic!("{op} {ty}: {e}")),
        grid: [1, 1, 1],
        args,
        dynamic_shared: 0,
        bounds: Bounds::Unchecked,
    }
}

/// Every precise function of special arguments; of those of one argument the infinities as constants too.
fn special_cases() -> Vec<(String, Case)> {
    let mut cases = Vec::new();
    for ty in FLOATS {
        let values = special(ty);
        for op in UNARY {
            cases.push((
                format!("{op} {ty}"),
                case(op, ty, std::slice::from_ref(&values), false),
            ));
        }
        // Each with each.
        let pairs = values
            .iter()
            .flat_map(|x| values.iter().map(move |y| (*x, *y)));
        let (xs, ys) = pairs.unzip();
        let columns: [Vec<u64>; 2] = [xs, ys];
        for op in BINARY {
            cases.push((format!("{op} {ty}"), case(op, ty, &columns, false)));
        }
    }
    let infinities = [0x7F80_0000, 0xFF80_0000].to_vec();
    for op in UNARY {
        let case = case(op, Type::F32, std::slice::from_ref(&infinities), true);
        cases.push((format!("{op} of constants"), case));
    }
    cases
}

#[test]
fn precise_functions_of_special_arguments_on_vulkan() {
    let Some(device) = Context::get() else { return };
    let mut faults = Vec::new();
    for (what, case) in special_cases() {
        let expected = case.reference(8).unwrap();
        let got = case.vulkan(device, &case.options_for(device)).unwrap();
        if let Some((_, difference)) = case.difference(&expected, &got) {
            faults.push(format!("{what}: {difference}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Zeros, infinities and NaN do not depend on how `fma` rounds.
#[test]
fn zeros_and_infinities_do_not_need_a_fused_multiply_add() {
    let Some(device) = Context::get() else { return };
    let mut faults = Vec::new();
    for ty in [Type::F32, Type::F64] {
        let ends: Vec<u64> = special(ty)
            .into_iter()
            .filter(|bits| {
                let value = match ty {
                    Type::F32 => f64::from(f32::from_bits(*bits as u32)),
                    _ => f64::from_bits(*bits),
                };
                value == 0.0 || !value.is_finite()
            })
            .collect();
        for (op, constant) in UNARY.into_iter().flat_map(|op| [(op, false), (op, true)]) {
            let case = case(op, ty, std::slice::from_ref(&ends), constant);
            let mut options = case.options_for(device);
            options.fma = Fma::Native;
            let (expected, got) = (
                case.reference(8).unwrap(),
                case.vulkan(device, &options).unwrap(),
            );
            if let Some((_, difference)) = case.difference(&expected, &got) {
                faults.push(format!("{op} {ty} constant {constant}: {difference}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn precise_functions_of_special_arguments_on_the_gpu() {
    let Some(device) = gpu::context() else { return };
    let mut faults = Vec::new();
    for (what, case) in special_cases() {
        let expected = case.reference(32).unwrap();
        let got = case.cuda(device).unwrap();
        if let Some((_, difference)) = case.difference(&expected, &got) {
            faults.push(format!("{what}: {difference}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A unit in the last place of an f32 near `value`, of normal numbers.
fn ulp(value: f64) -> f64 {
    let exponent = value.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor();
    (exponent - 23.0).exp2()
}

/// What is promised of a fast function, as the largest difference from the true value `t` of `(x, y)`.
type Bound = fn(x: f64, y: f64, t: f64) -> f64;

struct Fast {
    name: &'static str,
    make: fn(&mut KernelBuilder, Id, Id) -> Id,
    truth: fn(f64, f64) -> f64,
    /// Arguments to try, from a number between 0 and 1 and one of any exponent.
    argument: fn(f64, f64) -> f64,
    /// What the Vulkan specification has in "Precision and Operation of SPIR-V Instructions", GLSL.std.450 included.
    vulkan: Bound,
    /// What the table of `kernite::ptx` has, from the PTX ISA's section 9.7.3 and measurements.
    ptx: Bound,
}

/// Between -range and range.
fn within(range: f64, u: f64) -> f64 {
    (2.0 * u - 1.0) * range
}

/// The bound of a logarithm that has one in absolute terms from ½ to 2.
fn logarithm(x: f64, t: f64, ulps: f64) -> f64 {
    if (0.5..=2.0).contains(&x) {
        2f64.powi(-21)
    } else {
        ulps * ulp(t)
    }
}

/// The bound of a quotient of sine and cosine whose absolute errors are `e`, divided to `ulps`.
fn tangent(x: f64, t: f64, e: f64, ulps: f64) -> f64 {
    let cosine = x.cos().abs();
    if cosine <= 2.0 * e {
        return f64::INFINITY;
    }
    e * (1.0 + t.abs()) / (cosine - e) + ulps * ulp(t)
}

/// exp2 of a product with an error of `logarithm` in the logarithm and of a rounding in the product.
fn power(x: f64, y: f64, t: f64, exp2_ulps: f64) -> f64 {
    let exponent = y * x.log2();
    let error = y.abs() * logarithm(x, x.log2(), 3.0) + exponent.abs() * 2f64.powi(-24);
    t * (error * 2.0).exp2() - t + exp2_ulps * ulp(t)
}

const FAST: [Fast; 12] = [
    Fast {
        name: "exp",
        make: |b, x, _| b.exp_fast(x),
        truth: |x, _| x.exp(),
        argument: |u, _| within(87.0, u),
        vulkan: |x, _, t| (3.0 + 2.0 * x.abs()) * ulp(t),
        ptx: |x, _, t| (2.0 + 1.2 * x.abs()) * ulp(t),
    },
    Fast {
        name: "exp2",
        make: |b, x, _| b.exp2_fast(x),
        truth: |x, _| x.exp2(),
        argument: |u, _| within(125.0, u),
        vulkan: |x, _, t| (3.0 + 2.0 * x.abs()) * ulp(t),
        ptx: |_, _, t| 2.4 * ulp(t),
    },
    Fast {
        name: "log",
        make: |b, x, _| b.log_fast(x),
        truth: |x, _| x.ln(),
        argument: |_, any| any.abs(),
        vulkan: |x, _, t| logarithm(x, t, 3.0),
        ptx: |x, _, t| logarithm(x, t, 3.0),
    },
    Fast {
        name: "log2",
        make: |b, x, _| b.log2_fast(x),
        truth: |x, _| x.log2(),
        argument: |_, any| any.abs(),
        vulkan: |x, _, t| logarithm(x, t, 3.0),
        ptx: |x, _, t| logarithm(x, t, 3.0),
    },
    Fast {
        name: "sin",
        make: |b, x, _| b.sin_fast(x),
        truth: |x, _| x.sin(),
        argument: |u, _| within(core::f64::consts::PI, u),
        vulkan: |_, _, _| 2f64.powi(-11),
        ptx: |_, _, _| 2f64.powf(-20.5),
    },
    Fast {
        name: "cos",
        make: |b, x, _| b.cos_fast(x),
        truth: |x, _| x.cos(),
        argument: |u, _| within(core::f64::consts::PI, u),
        vulkan: |_, _, _| 2f64.powi(-11),
        ptx: |_, _, _| 2f64.powf(-20.5),
    },
    Fast {
        name: "tan",
        make: |b, x, _| b.tan_fast(x),
        truth: |x, _| x.tan(),
        argument: |u, _| within(core::f64::consts::PI, u),
        vulkan: |x, _, t| tangent(x, t, 2f64.powi(-11), 2.5),
        ptx: |x, _, t| tangent(x, t, 2f64.powf(-20.5), 2.0),
    },
    Fast {
        name: "tanh",
        make: |b, x, _| b.tanh_fast(x),
        truth: |x, _| x.tanh(),
        argument: |u, _| within(9.0, u),
        // Made of exp(x) and exp(-x), whose difference loses what they have in common.
        vulkan: |x, _, t| {
            let e = (3.0 + 2.0 * x.abs()) * 2f64.powi(-23);
            2.0 * e * (1.0 + t.abs()) + 4.0 * ulp(t)
        },
        ptx: |_, _, t| t.abs() * 2f64.powi(-11),
    },
    Fast {
        name: "pow",
        make: |b, x, y| b.pow_fast(x, y),
        truth: f64::powf,
        argument: |_, any| any.abs(),
        vulkan: |x, y, t| {
            let exponent = (y * x.log2()).abs();
            power(x, y, t, 3.0 + 2.0 * exponent)
        },
        ptx: |x, y, t| power(x, y, t, 2.4),
    },
    Fast {
        name: "rsqrt",
        make: |b, x, _| b.rsqrt_fast(x),
        truth: |x, _| 1.0 / x.sqrt(),
        argument: |_, any| any.abs(),
        vulkan: |_, _, t| 2.0 * ulp(t),
        ptx: |_, _, t| 1.6 * ulp(t),
    },
    Fast {
        name: "rcp",
        make: |b, x, _| b.rcp_fast(x),
        truth: |x, _| 1.0 / x,
        argument: |_, any| any,
        vulkan: |_, _, t| 2.5 * ulp(t),
        ptx: |_, _, t| ulp(t),
    },
    Fast {
        name: "div",
        make: |b, x, y| b.div_fast(x, y),
        truth: |x, y| x / y,
        argument: |_, any| any,
        vulkan: |_, _, t| 2.5 * ulp(t),
        ptx: |_, _, t| 2.0 * ulp(t),
    },
];

const ROWS: usize = 1 << 16;

/// The fast function of many numbers, and what it is made of.
fn fast_case(fast: &Fast) -> (Case, Vec<(f32, f32)>) {
    let mut b = KernelBuilder::new("fast", [64, 1, 1]);
    let (xs, ys) = (
        b.buffer("x", Type::F32, Access::Read),
        b.buffer("y", Type::F32, Access::Read),
    );
    let out = b.buffer("out", Type::F32, Access::Write);
    let i = b.global_id(0);
    let (x, y) = (b.load(xs, i), b.load(ys, i));
    let value = (fast.make)(&mut b, x, y);
    b.store(out, i, value);
    let mut random = SplitMix::new(7);
    let mut unit = || (random.next_u64() >> 11) as f64 * 2f64.powi(-53);
    let rows: Vec<(f32, f32)> = (0..ROWS)
        .map(|row| {
            // Every other one within a few powers of two of 1.
            let reach = if row % 2 == 0 { 3.0 } else { 120.0 };
            let mut any = || within(reach, unit()).exp2() * if unit() < 0.5 { -1.0 } else { 1.0 };
            let (x, y) = (any(), any());
            let x = (fast.argument)(unit(), x) as f32;
            // A power that is a normal number, a divisor within the range of the bounds.
            let y = match fast.name {
                "pow" => within(125.0, unit()) / f64::from(x).log2(),
                _ => y,
            };
            (x, y as f32)
        })
        .collect();
    let case = Case {
        kernel: b.finish().unwrap(),
        grid: [ROWS as u32 / 64, 1, 1],
        args: vec![
            Value::of(&rows.iter().map(|r| r.0).collect::<Vec<f32>>()),
            Value::of(&rows.iter().map(|r| r.1).collect::<Vec<f32>>()),
            Value::of(&vec![0f32; ROWS]),
        ],
        dynamic_shared: 0,
        bounds: Bounds::Unchecked,
    };
    (case, rows)
}

/// The worst result, as a share of what is allowed.
fn judge(fast: &Fast, rows: &[(f32, f32)], got: &[u8], bound: Bound) -> Result<f64, String> {
    let mut worst = 0.0;
    let mut compared = 0;
    for (&(x, y), got) in rows.iter().zip(got.chunks_exact(4)) {
        let got = f32::from_le_bytes([got[0], got[1], got[2], got[3]]);
        let (wide_x, wide_y) = (f64::from(x), f64::from(y));
        let truth = (fast.truth)(wide_x, wide_y);
        // What may be flushed, or overflow, is not promised.
        let normal = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX) / 2.0;
        if !normal.contains(&truth.abs()) || !y.is_finite() || y.is_subnormal() {
            continue;
        }
        compared += 1;
        let allowed = bound(wide_x, wide_y, truth);
        let share = (f64::from(got) - truth).abs() / allowed;
        // A NaN is never within it.
        if share.is_nan() || share > 1.0 {
            let name = fast.name;
            return Err(format!(
                "{name} of {x:e}, {y:e} is {got:e}, not {truth:e}: {share} of what is allowed"
            ));
        }
        worst = f64::max(worst, share);
    }
    assert!(compared > ROWS / 2, "{}: {compared} compared", fast.name);
    Ok(worst)
}

/// Prints every function's worst, and fails with all that break their promise.
fn judge_all(bound: fn(&Fast) -> Bound, run: impl Fn(&Case) -> Vec<Vec<u8>>) {
    let mut faults = Vec::new();
    for fast in &FAST {
        let (case, rows) = fast_case(fast);
        match judge(fast, &rows, &run(&case)[2], bound(fast)) {
            Ok(worst) => println!("{}: {worst:.3} of what is allowed", fast.name),
            Err(fault) => faults.push(fault),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The reference executor's fast functions are the precise ones, which keep every promise.
#[test]
fn fast_functions_of_the_reference_are_within_all_bounds() {
    judge_all(|fast| fast.vulkan, |case| case.reference(8).unwrap());
    judge_all(|fast| fast.ptx, |case| case.reference(32).unwrap());
}

#[test]
fn fast_functions_on_vulkan_are_within_the_specification() {
    let Some(device) = Context::get() else { return };
    judge_all(
        |fast| fast.vulkan,
        |case| case.vulkan(device, &case.options_for(device)).unwrap(),
    );
}

#[test]
fn fast_functions_on_the_gpu_are_as_promised() {
    let Some(device) = gpu::context() else { return };
    judge_all(|fast| fast.ptx, |case| case.cuda(device).unwrap());
}
