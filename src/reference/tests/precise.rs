//! Functions that have recipes: that the executor calls the right one, and the special values that the rows promise.

use super::*;
use crate::math::{Binary, Host, Unary, binary, unary};
use crate::op::Op;
use crate::reference::Element;
use crate::reference::ops::half::Half;
use half::{bf16, f16};

/// Every function of one argument: its opcode, its recipe, its approximation, and roughly what it is.
type Function = (
    Op,
    Unary,
    fn(&mut KernelBuilder, Value) -> Value,
    fn(f64) -> f64,
);

/// Abramowitz and Stegun, 7.1.26: to 1.5e-7.
fn erf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.3275911 * x.abs());
    let series = [
        1.061405429,
        -1.453152027,
        1.421413741,
        -0.284496736,
        0.254829592,
    ];
    let sum = series.iter().fold(0.0, |sum, c| (sum + c) * t);
    (1.0 - sum * (-x * x).exp()).copysign(x)
}

const FUNCTIONS: [Function; 10] = [
    (Op::Exp, Unary::Exp, KernelBuilder::exp_fast, f64::exp),
    (Op::Exp2, Unary::Exp2, KernelBuilder::exp2_fast, f64::exp2),
    (Op::Log, Unary::Log, KernelBuilder::log_fast, f64::ln),
    (Op::Log2, Unary::Log2, KernelBuilder::log2_fast, f64::log2),
    (Op::Rsqrt, Unary::Rsqrt, KernelBuilder::rsqrt_fast, |x| {
        1.0 / x.sqrt()
    }),
    (Op::Sin, Unary::Sin, KernelBuilder::sin_fast, f64::sin),
    (Op::Cos, Unary::Cos, KernelBuilder::cos_fast, f64::cos),
    (Op::Tan, Unary::Tan, KernelBuilder::tan_fast, f64::tan),
    (Op::Tanh, Unary::Tanh, KernelBuilder::tanh_fast, f64::tanh),
    (Op::Erf, Unary::Erf, KernelBuilder::erf_fast, erf),
];

/// What an opcode computes of a column.
fn of<T: Element>(op: Op, values: &[T]) -> Vec<T> {
    let out = compute(vec![values.to_vec().into()], |b, v| b.apply(op, &[v[0]]));
    out.as_slice::<T>().unwrap().to_vec()
}

fn same<T: Element>(a: &[T], b: &[T]) -> bool {
    let bytes = |v: &[T]| bytemuck::cast_slice::<T, u8>(v).to_vec();
    crate::reference::compare(&bytes(a), &bytes(b), T::TYPE).is_none()
}

#[test]
fn functions_are_their_recipes() {
    let wide: Vec<f64> = (-60..60)
        .map(|i| f64::from(i) * 0.37 + 0.01)
        .chain([
            0.0,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e-310,
            1e300,
            1048576.0,
        ])
        .collect();
    let single: Vec<f32> = wide.iter().map(|&v| v as f32).collect();
    let half: Vec<f16> = wide.iter().map(|&v| Half::round(v)).collect();
    let brain: Vec<bf16> = wide.iter().map(|&v| Half::round(v)).collect();
    for (op, recipe, fast, roughly) in FUNCTIONS {
        let in_f64 = |x: f64| unary::<f64, _>(recipe, &mut Host, x);
        let in_f32 = |x: f32| unary::<f32, _>(recipe, &mut Host, x);
        let expected: Vec<_> = wide.iter().map(|&x| in_f64(x)).collect();
        let got = of(op, &wide);
        assert!(same(&got, &expected), "{op} of f64");
        let approximate = compute(vec![wide.clone().into()], |b, v| fast(b, v[0]));
        assert!(
            same(approximate.as_slice::<f64>().unwrap(), &expected),
            "{op} fast"
        );
        let expected: Vec<_> = single.iter().map(|&x| in_f32(x)).collect();
        assert!(same(&of(op, &single), &expected), "{op} of f32");
        let expected: Vec<f16> = half
            .iter()
            .map(|x| Half::round(in_f32(x.single()).into()))
            .collect();
        assert!(same(&of(op, &half), &expected), "{op} of f16");
        let expected: Vec<bf16> = brain
            .iter()
            .map(|x| Half::round(in_f32(x.single()).into()))
            .collect();
        assert!(same(&of(op, &brain), &expected), "{op} of bf16");
        // That it is the function at all.
        for (&x, &y) in wide.iter().zip(&got).take(120) {
            let near = (y - roughly(x)).abs() <= 1e-6 * roughly(x).abs().max(1.0);
            assert!(
                near || y.is_nan() && roughly(x).is_nan(),
                "{op} of {x} is {y}"
            );
        }
    }
}

/// The special values of the rows, on a type with these bits and values.
fn special<T: Element + PartialEq + core::fmt::Debug>(make: impl Fn(f64) -> T) {
    let (infinity, zero, minus) = (f64::INFINITY, 0.0, -0.0);
    let cases: [(Op, &[(f64, f64)]); 9] = [
        (
            Op::Exp,
            &[
                (-infinity, 0.0),
                (infinity, infinity),
                (zero, 1.0),
                (minus, 1.0),
            ],
        ),
        (
            Op::Exp2,
            &[
                (-infinity, 0.0),
                (infinity, infinity),
                (5.0, 32.0),
                (-14.0, 1.0 / 16384.0),
            ],
        ),
        (
            Op::Log,
            &[
                (zero, -infinity),
                (minus, -infinity),
                (1.0, 0.0),
                (infinity, infinity),
                (-1.0, f64::NAN),
            ],
        ),
        (
            Op::Log2,
            &[
                (zero, -infinity),
                (8.0, 3.0),
                (0.25, -2.0),
                (1.0, 0.0),
                (-infinity, f64::NAN),
            ],
        ),
        (
            Op::Sin,
            &[
                (zero, 0.0),
                (minus, -0.0),
                (infinity, f64::NAN),
                (-infinity, f64::NAN),
            ],
        ),
        (Op::Cos, &[(zero, 1.0), (infinity, f64::NAN)]),
        (Op::Tan, &[(zero, 0.0), (minus, -0.0), (infinity, f64::NAN)]),
        (
            Op::Tanh,
            &[
                (zero, 0.0),
                (minus, -0.0),
                (infinity, 1.0),
                (-infinity, -1.0),
            ],
        ),
        (
            Op::Erf,
            &[
                (zero, 0.0),
                (minus, -0.0),
                (infinity, 1.0),
                (-infinity, -1.0),
            ],
        ),
    ];
    for (op, pairs) in cases {
        let (x, expected): (Vec<T>, Vec<T>) =
            pairs.iter().map(|&(x, y)| (make(x), make(y))).unzip();
        let got = of(op, &x);
        assert!(same(&got, &expected), "{op} of {x:?}: {got:?}");
        assert!(
            same(&of(op, &[make(f64::NAN)]), &[make(f64::NAN)]),
            "{op} of NaN"
        );
    }
    let nan = f64::NAN;
    let powers = [
        (nan, 0.0, 1.0),
        (1.0, nan, 1.0),
        (-2.0, 3.0, -8.0),
        (-2.0, 0.5, nan),
        (0.0, -1.0, infinity),
        (minus, -1.0, -infinity),
        (-1.0, infinity, 1.0),
        (2.0, 10.0, 1024.0),
        (nan, 1.0, nan),
        (infinity, -1.0, 0.0),
        (-infinity, -1.0, -0.0),
    ];
    let column =
        |f: fn(&(f64, f64, f64)) -> f64| powers.iter().map(|p| make(f(p))).collect::<Vec<_>>();
    let out = compute(
        vec![column(|p| p.0).into(), column(|p| p.1).into()],
        |b, v| b.pow(v[0], v[1]),
    );
    let (got, expected) = (out.as_slice::<T>().unwrap(), column(|p| p.2));
    assert!(same(got, &expected), "pow: {got:?}, expected {expected:?}");
}

#[test]
fn special_values_are_those_of_the_rows() {
    special(|v| v);
    special(|v| v as f32);
    special::<f16>(Half::round);
    special::<bf16>(Half::round);
}

#[test]
fn powers_are_their_recipe() {
    let (x, y) = (
        vec![1.5f32, 3.25, 0.7, 1e-40],
        vec![2.5f32, -7.0, 100.0, 0.25],
    );
    let out = compute(vec![x.clone().into(), y.clone().into()], |b, v| {
        b.pow(v[0], v[1])
    });
    let pairs = x.iter().zip(&y);
    let expected: Vec<f32> = pairs
        .map(|(&x, &y)| binary::<f32, _>(Binary::Pow, &mut Host, x, y))
        .collect();
    assert_eq!(out.as_slice::<f32>().unwrap(), expected);
}

#[test]
fn large_arguments_are_reduced() {
    // The true values, rounded.
    let bits = |op| of(op, &[1_048_576f32])[0].to_bits();
    assert_eq!(bits(Op::Sin), 0x3EA9_3666);
    assert!(bits(Op::Cos).abs_diff(0x3F71_9D6D) <= 1);
}

#[test]
fn remainders_agree_with_their_recipe() {
    let values: Vec<f64> = [0.0, 1.0, 1.5, 3.0, 1e-310, 1e300, f64::INFINITY, 0.1, 7e15]
        .into_iter()
        .flat_map(|v: f64| [v, -v, v.next_up()])
        .collect();
    let x: Vec<f64> = values.iter().flat_map(|&v| vec![v; values.len()]).collect();
    let y: Vec<f64> = values.iter().flat_map(|_| values.clone()).collect();
    let pairs = || x.iter().zip(&y);
    let out = compute(vec![x.clone().into(), y.clone().into()], |b, v| {
        b.rem(v[0], v[1])
    });
    let recipe = pairs().map(|(&x, &y)| binary::<f64, _>(Binary::Rem, &mut Host, x, y));
    assert!(same(out.as_slice().unwrap(), &recipe.collect::<Vec<f64>>()));
    let single = |v: &[f64]| v.iter().map(|&v| v as f32).collect::<Vec<f32>>();
    let out = compute(vec![single(&x).into(), single(&y).into()], |b, v| {
        b.rem(v[0], v[1])
    });
    let recipe =
        pairs().map(|(&x, &y)| binary::<f32, _>(Binary::Rem, &mut Host, x as f32, y as f32));
    assert!(same(out.as_slice().unwrap(), &recipe.collect::<Vec<f32>>()));
    let nan = [(f64::NAN, 2.0), (2.0, f64::NAN), (f64::NAN, f64::NAN)].map(|(x, y)| {
        let out = compute(vec![[x].into(), [y].into()], |b, v| b.rem(v[0], v[1]));
        out.as_slice::<f64>().unwrap()[0].is_nan()
    });
    assert_eq!(nan, [true; 3]);
}
