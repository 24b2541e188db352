//! Arguments with an exact answer: zeros, infinities, NaN, subnormals and the edges of overflow.
#![forbid(unsafe_code)]

use kernite::math::{Binary, Unary};
use kernite_accuracy_tests::{host32, host64, pair32, pair64};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Equal as values with a sign; all NaNs are equal.
#[track_caller]
fn same(got: f64, want: f64, what: &str) {
    let right = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
    assert!(right, "{what} = {got:e}, not {want:e}");
}

/// Both widths, where the answer is a number of both.
#[track_caller]
fn unary(function: Unary, x: f64, want: f64) {
    same(
        f64::from(host32(function, x as f32)),
        want,
        &format!("{function:?} f32 {x:e}"),
    );
    same(
        host64(function, x),
        want,
        &format!("{function:?} f64 {x:e}"),
    );
}

#[track_caller]
fn binary(function: Binary, x: f64, y: f64, want: f64) {
    let got = f64::from(pair32(function, x as f32, y as f32));
    same(got, want, &format!("{function:?} f32 {x:e} {y:e}"));
    same(
        pair64(function, x, y),
        want,
        &format!("{function:?} f64 {x:e} {y:e}"),
    );
}

#[test]
fn exp_and_exp2() {
    for function in [Unary::Exp, Unary::Exp2] {
        for (x, want) in [
            (0.0, 1.0),
            (-0.0, 1.0),
            (INF, INF),
            (-INF, 0.0),
            (NAN, NAN),
            (1e38, INF),
            (-1e38, 0.0),
        ] {
            unary(function, x, want);
        }
    }
    for n in -1074..1024 {
        same(
            host64(Unary::Exp2, f64::from(n)),
            2f64.powi(n / 2) * 2f64.powi(n - n / 2),
            "exp2 f64",
        );
    }
    for n in -149i16..128 {
        same(
            f64::from(host32(Unary::Exp2, f32::from(n))),
            2f64.powi(i32::from(n)),
            "exp2 f32",
        );
    }
    assert_eq!(host32(Unary::Exp2, 128.0), f32::INFINITY);
    assert!(host32(Unary::Exp2, 128f32.next_down()) < f32::INFINITY);
    assert_eq!(host32(Unary::Exp2, -150.0), 0.0);
    assert_eq!(host32(Unary::Exp2, (-150f32).next_up()).to_bits(), 1);
    assert_eq!(
        host32(Unary::Exp, f32::from_bits(0x42b1_7217)),
        f32::from_bits(0x7f7f_ff84)
    );
    assert_eq!(
        host32(Unary::Exp, f32::from_bits(0x42b1_7218)),
        f32::INFINITY
    );
    assert_eq!(host32(Unary::Exp, f32::from_bits(0xc2cf_f1b4)).to_bits(), 1);
    assert_eq!(host32(Unary::Exp, f32::from_bits(0xc2cf_f1b5)), 0.0);
    assert_eq!(host64(Unary::Exp2, 1024.0), INF);
    assert!(host64(Unary::Exp2, 1024f64.next_down()) < INF);
    assert_eq!(host64(Unary::Exp2, -1075.0), 0.0);
    assert!(host64(Unary::Exp, 709.782712893384) < INF);
    assert_eq!(host64(Unary::Exp, 709.7827128933841), INF);
    assert_eq!(host64(Unary::Exp, -745.13), f64::from_bits(1));
    assert_eq!(host64(Unary::Exp, -745.1332191019413), 0.0);
}

#[test]
fn log_and_log2() {
    for function in [Unary::Log, Unary::Log2] {
        for (x, want) in [
            (1.0, 0.0),
            (0.0, -INF),
            (-0.0, -INF),
            (INF, INF),
            (-INF, NAN),
            (-1.0, NAN),
            (NAN, NAN),
            (-1e-40, NAN),
        ] {
            unary(function, x, want);
        }
    }
    for n in -149i16..128 {
        let x = 2f64.powi(i32::from(n));
        same(
            f64::from(host32(Unary::Log2, x as f32)),
            f64::from(n),
            "log2 f32",
        );
    }
    for n in -1074..1024 {
        let x = 2f64.powi(n / 2) * 2f64.powi(n - n / 2);
        same(host64(Unary::Log2, x), f64::from(n), "log2 f64");
    }
}

#[test]
fn rsqrt() {
    for (x, want) in [
        (1.0, 1.0),
        (4.0, 0.5),
        (0.0, INF),
        (-0.0, -INF),
        (INF, 0.0),
        (-INF, NAN),
        (-1.0, NAN),
        (NAN, NAN),
        (-1e-40, NAN),
    ] {
        unary(Unary::Rsqrt, x, want);
    }
    same(
        f64::from(host32(Unary::Rsqrt, f32::from_bits(2))),
        2f64.powi(74),
        "rsqrt f32 2^-148",
    );
    same(
        host64(Unary::Rsqrt, f64::from_bits(1)),
        2f64.powi(537),
        "rsqrt f64 2^-1074",
    );
    same(
        host64(Unary::Rsqrt, -f64::from_bits(1)),
        NAN,
        "rsqrt f64 -2^-1074",
    );
    // Every NaN stays one.
    for bits in [0x7f80_0001, 0x7fff_ffff, 0xff80_0001, 0xffff_ffff] {
        assert!(host32(Unary::Rsqrt, f32::from_bits(bits)).is_nan());
    }
}

#[test]
fn sin_cos_and_tan() {
    for function in [Unary::Sin, Unary::Tan] {
        for (x, want) in [
            (0.0, 0.0),
            (-0.0, -0.0),
            (INF, NAN),
            (-INF, NAN),
            (NAN, NAN),
        ] {
            unary(function, x, want);
        }
        for bits in [1, 0x7f_ffff, 0x8000_0001, 0x80ff_ffff] {
            let x = f32::from_bits(bits);
            assert_eq!(host32(function, x).to_bits(), bits, "{function:?} of {x:e}");
        }
    }
    for (x, want) in [
        (0.0, 1.0),
        (-0.0, 1.0),
        (1e-40, 1.0),
        (INF, NAN),
        (-INF, NAN),
        (NAN, NAN),
    ] {
        unary(Unary::Cos, x, want);
    }
    let x = 2f32.powi(20);
    assert_eq!(host32(Unary::Sin, x).to_bits(), 0x3ea9_3666);
    assert_eq!(host32(Unary::Cos, x).to_bits(), 0x3f71_9d6d);
}

#[test]
fn tanh_and_erf() {
    for function in [Unary::Tanh, Unary::Erf] {
        for (x, want) in [
            (0.0, 0.0),
            (-0.0, -0.0),
            (INF, 1.0),
            (-INF, -1.0),
            (NAN, NAN),
            (1e38, 1.0),
            (-40.0, -1.0),
        ] {
            unary(function, x, want);
        }
    }
    for bits in [
        1,
        2,
        3,
        0x12345,
        0x7f_ffff,
        0x80_0000,
        0x8000_0001,
        0x80ff_ffff,
    ] {
        let x = f32::from_bits(bits);
        assert_eq!(host32(Unary::Tanh, x).to_bits(), bits, "tanh of {x:e}");
    }
    for bits in [1, 3, 0x12345, (1 << 52) - 1, 1 << 63 | 77] {
        let x = f64::from_bits(bits);
        assert_eq!(host64(Unary::Tanh, x).to_bits(), bits, "tanh of {x:e}");
    }
}

#[test]
fn pow() {
    let cases = [
        // IEEE 754-2019, section 9.2.1.
        (NAN, 0.0, 1.0),
        (INF, -0.0, 1.0),
        (0.0, 0.0, 1.0),
        (-3.0, 0.0, 1.0),
        (1.0, NAN, 1.0),
        (1.0, INF, 1.0),
        (1.0, -INF, 1.0),
        (1.0, 1e38, 1.0),
        (-1.0, INF, 1.0),
        (-1.0, -INF, 1.0),
        (NAN, 1.0, NAN),
        (2.0, NAN, NAN),
        (NAN, NAN, NAN),
        (-1.0, NAN, NAN),
        (0.0, -1.0, INF),
        (-0.0, -1.0, -INF),
        (-0.0, -3.0, -INF),
        (0.0, -2.0, INF),
        (-0.0, -2.0, INF),
        (-0.0, -1.5, INF),
        (0.0, -INF, INF),
        (-0.0, -INF, INF),
        (0.0, 1.0, 0.0),
        (-0.0, 1.0, -0.0),
        (-0.0, 3.0, -0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, 1.5, 0.0),
        (0.0, 0.5, 0.0),
        (0.0, INF, 0.0),
        (-0.0, INF, 0.0),
        (0.0, 1e-30, 0.0),
        (INF, 1.0, INF),
        (INF, -1.0, 0.0),
        (INF, 0.5, INF),
        (INF, INF, INF),
        (INF, -INF, 0.0),
        (INF, 1e-30, INF),
        (-INF, 1.0, -INF),
        (-INF, 2.0, INF),
        (-INF, 0.5, INF),
        (-INF, -1.0, -0.0),
        (-INF, -2.0, 0.0),
        (-INF, -0.5, 0.0),
        (-INF, INF, INF),
        (-INF, -INF, 0.0),
        (0.5, INF, 0.0),
        (0.5, -INF, INF),
        (2.0, INF, INF),
        (2.0, -INF, 0.0),
        (-0.5, INF, 0.0),
        (-2.0, INF, INF),
        (-2.0, -INF, 0.0),
        (-1.0, 0.5, NAN),
        (-8.0, 1.5, NAN),
        (-1e-40, 0.5, NAN),
        (-3.0, 1e-30, NAN),
        (2.0, 10.0, 1024.0),
        (2.0, -149.0, 2f64.powi(-149)),
        (-2.0, 3.0, -8.0),
        (-2.0, 4.0, 16.0),
        (-3.0, 5.0, -243.0),
        (3.0, 2.0, 9.0),
        (4.0, 0.5, 2.0),
        (10.0, 2.0, 100.0),
        (2.0, 1e30, INF),
        (2.0, -1e30, 0.0),
        (-2.0, 1e30, INF),
        (0.5, 1e30, 0.0),
        (-1.0, 1e30, 1.0),
        (-1.0, 16_777_215.0, -1.0),
        (-1.0, 16_777_216.0, 1.0),
    ];
    for (x, y, want) in cases {
        binary(Binary::Pow, x, y, want);
    }
    assert_eq!(pair32(Binary::Pow, -2.0, 127.0), -(2f32.powi(127)));
    assert_eq!(pair32(Binary::Pow, 2.0, 128.0), f32::INFINITY);
    assert_eq!(pair32(Binary::Pow, -2.0, 129.0), f32::NEG_INFINITY);
    assert_eq!(pair32(Binary::Pow, -0.5, 151.0).to_bits(), 0x8000_0000);
    assert_eq!(pair64(Binary::Pow, 2.0, -1074.0), f64::from_bits(1));
    assert_eq!(pair64(Binary::Pow, -1.0, 9_007_199_254_740_991.0), -1.0);
    let (above, below) = (1f32.next_up(), 1f32.next_down());
    assert_eq!(pair32(Binary::Pow, above, f32::MAX), f32::INFINITY);
    assert_eq!(pair32(Binary::Pow, below, f32::MAX), 0.0);
}

#[test]
fn rem() {
    let cases = [
        (0.0, 0.0),
        (1.0, 0.0),
        (1.0, -0.0),
        (INF, 1.0),
        (-INF, 2.0),
        (INF, INF),
        (NAN, 1.0),
        (1.0, NAN),
        (NAN, NAN),
        (0.0, NAN),
        (NAN, 0.0),
        (1.0, INF),
        (-1.0, INF),
        (1.0, -INF),
        (0.0, INF),
        (-0.0, INF),
        (0.0, 1.0),
        (-0.0, 1.0),
        (0.0, -1.0),
        (5.0, 3.0),
        (-5.0, 3.0),
        (5.0, -3.0),
        (-5.0, -3.0),
        (6.0, 3.0),
        (-6.0, 3.0),
        (0.5, 1.0),
        (1.0, 1.0),
        (-1.0, 1.0),
        (3.0, 0.75),
    ];
    for (x, y) in cases {
        binary(Binary::Rem, x, y, x % y);
    }
    let edges = [
        1,
        2,
        3,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0x3f80_0000,
        0x3f80_0001,
        0x3fff_ffff,
        0x7f7f_ffff,
        0x7f00_0000,
    ];
    for (x, y) in edges
        .iter()
        .flat_map(|x| edges.iter().map(move |y| (*x, *y)))
    {
        let (x, y) = (f32::from_bits(x), f32::from_bits(y));
        same(
            f64::from(pair32(Binary::Rem, x, y)),
            f64::from(x % y),
            &format!("rem f32 {x:e} {y:e}"),
        );
    }
    let edges = [
        1,
        3,
        (1 << 52) - 1,
        1 << 52,
        1023 << 52,
        (1024 << 52) - 1,
        f64::MAX.to_bits(),
    ];
    for (x, y) in edges
        .iter()
        .flat_map(|x| edges.iter().map(move |y| (*x, *y)))
    {
        let (x, y) = (f64::from_bits(x), f64::from_bits(y));
        same(
            pair64(Binary::Rem, x, y),
            x % y,
            &format!("rem f64 {x:e} {y:e}"),
        );
    }
}
