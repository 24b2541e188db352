//! The page speaks of the recipes as they are, and what it says holds.
#![forbid(unsafe_code)]

use kernite::math::{Binary, Unary};
use kernite_accuracy_tests::measure::{ulps32, ulps64};
use kernite_accuracy_tests::page::{Row, rows};
use kernite_accuracy_tests::reference::{Big, truth};
use kernite_accuracy_tests::trace::Trace;
use kernite_accuracy_tests::{BINARY, Random, UNARY, host32, host64, name, pair32, pair64};

fn row(rows: &[Row], function: &str, width: &str) -> Row {
    let found = rows
        .iter()
        .find(|row| row.function == function && row.width == width);
    found
        .unwrap_or_else(|| panic!("docs/accuracy.md has no row for {function} {width}"))
        .clone()
}

/// Every recipe with its place on the page.
fn recipes() -> Vec<(String, &'static str, Trace)> {
    let mut all = Vec::new();
    for function in UNARY {
        all.push((name(function), "f32", Trace::unary::<f32>(function)));
        all.push((name(function), "f64", Trace::unary::<f64>(function)));
    }
    for function in BINARY {
        let name = format!("{function:?}").to_lowercase();
        all.push((name.clone(), "f32", Trace::binary::<f32>(function)));
        all.push((name, "f64", Trace::binary::<f64>(function)));
    }
    all
}

#[test]
fn the_page_measured_these_recipes() {
    let rows = rows();
    let recipes = recipes();
    assert_eq!(rows.len(), recipes.len());
    let mut wrong = Vec::new();
    for (function, width, trace) in recipes {
        let row = row(&rows, &function, width);
        if (row.hash, row.operations) != (trace.hash, trace.operations()) {
            let (operations, hash) = (trace.operations(), trace.hash);
            wrong.push(format!(
                "{function} {width}: {operations} operations, recipe {hash:016x}: measure it again"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn worst_cases_are_as_recorded() {
    let mut big = Big::default();
    for row in rows() {
        let function = UNARY.into_iter().find(|&f| name(f) == row.function);
        let ulps = match (function, row.width.as_str(), row.input.as_slice()) {
            (Some(f), "f32", &[x]) => {
                let x = f32::from_bits(x as u32);
                ulps32(host32(f, x), truth(f, f64::from(x)))
            }
            (Some(f), "f64", &[x]) => ulps64(
                host64(f, f64::from_bits(x)),
                &big.truth(f, f64::from_bits(x)),
            ),
            (None, "f32", &[x, y]) => {
                let (x, y) = (f32::from_bits(x as u32), f32::from_bits(y as u32));
                ulps32(pair32(Binary::Pow, x, y), f64::from(x).powf(f64::from(y)))
            }
            (None, "f64", &[x, y]) => {
                let (x, y) = (f64::from_bits(x), f64::from_bits(y));
                ulps64(pair64(Binary::Pow, x, y), &big.pow(x, y))
            }
            // rem is exact: it has no worst case.
            (None, _, &[]) if row.function == "rem" => row.ulps,
            _ => panic!("{row:?}"),
        };
        assert!(
            (ulps - row.ulps).abs() < 0.0002,
            "{} {}: {ulps}, not {}",
            row.function,
            row.width,
            row.ulps
        );
    }
}

/// Whether a double is so large or near enough zero that every f64 function but rsqrt is at an end there.
fn domain(function: Unary, x: f64) -> bool {
    match function {
        Unary::Exp | Unary::Exp2 => x.abs() < 1100.0,
        Unary::Log | Unary::Log2 | Unary::Rsqrt => x > 0.0,
        Unary::Sin | Unary::Cos | Unary::Tan => true,
        Unary::Tanh | Unary::Erf => x.abs() < 30.0,
    }
}

#[test]
fn no_f32_of_any_exponent_is_worse() {
    let (rows, mut random) = (rows(), Random(2));
    for function in UNARY {
        let limit = row(&rows, &name(function), "f32").ulps + 0.0001;
        for exponent in 0..512 {
            for i in 0..64 {
                // The ends of the binade and of its halves, and between.
                let low = match i {
                    0..4 => i << 21,
                    4..8 => ((i - 3) << 21) - 1,
                    _ => random.next_u64() as u32 & 0x7f_ffff,
                };
                let x = f32::from_bits(exponent << 23 | low);
                let (got, want) = (host32(function, x), truth(function, f64::from(x)));
                let ulps = ulps32(got, want);
                assert!(
                    ulps <= limit,
                    "{function:?} of {x:e} = {got:e}, not {want:e}: {ulps} ULP"
                );
            }
        }
    }
}

#[test]
fn no_f64_of_any_exponent_is_worse() {
    let (rows, mut random, mut big) = (rows(), Random(3), Big::default());
    for function in UNARY {
        // Sampled, not exhausted: a little more than what was ever seen.
        let limit = row(&rows, &name(function), "f64").ulps + 0.1;
        // Every exponent where the function bends, every thirteenth elsewhere.
        let near = 1023 - 30..1023 + 12;
        for exponent in (0..2047u64).filter(|e| near.contains(e) || e.is_multiple_of(13)) {
            for i in 0..if near.contains(&exponent) { 8 } else { 2 } {
                let bits = (random.next_u64() & ((1 << 52) - 1)) | exponent << 52 | (i & 1) << 63;
                let x = f64::from_bits(bits);
                if !domain(function, x) {
                    continue;
                }
                let got = host64(function, x);
                let ulps = ulps64(got, &big.truth(function, x));
                assert!(ulps <= limit, "{function:?} of {x:e} = {got:e}: {ulps} ULP");
            }
        }
    }
}

#[test]
fn no_power_is_worse() {
    let (rows, mut random, mut big) = (rows(), Random(4), Big::default());
    let limit = row(&rows, "pow", "f32").ulps + 0.1;
    for _ in 0..40_000 {
        let (x, y) = random.power(-151.0, 129.0, 32);
        let (got, want) = (pair32(Binary::Pow, x as f32, y as f32), x.powf(y));
        let ulps = ulps32(got, want);
        assert!(
            ulps <= limit,
            "pow of {x:e} {y:e} = {got:e}, not {want:e}: {ulps} ULP"
        );
    }
    let limit = row(&rows, "pow", "f64").ulps + 0.1;
    for _ in 0..800 {
        let (x, y) = random.power(-1076.0, 1025.0, 64);
        let got = pair64(Binary::Pow, x, y);
        let ulps = ulps64(got, &big.pow(x, y));
        assert!(ulps <= limit, "pow of {x:e} {y:e} = {got:e}: {ulps} ULP");
    }
}

#[test]
fn remainders_are_exact() {
    let mut random = Random(5);
    for i in 0..200_000u32 {
        let (x, y) = (
            f64::from_bits(random.next_u64()),
            f64::from_bits(random.next_u64()),
        );
        // Half of them nearer each other.
        let y = if i & 1 == 0 {
            y
        } else {
            x * (random.between(-200.0, 10.0)).exp2()
        };
        let (got, want) = (pair64(Binary::Rem, x, y), x % y);
        let right = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(right, "rem of {x:e} {y:e} = {got:e}, not {want:e}");
        let (x, y) = (
            f32::from_bits(random.next_u64() as u32),
            f32::from_bits(random.next_u64() as u32),
        );
        let y = if i & 1 == 0 {
            y
        } else {
            x * (random.between(-60.0, 4.0)).exp2() as f32
        };
        let (got, want) = (pair32(Binary::Rem, x, y), x % y);
        let right = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(right, "rem of {x:e} {y:e} = {got:e}, not {want:e}");
    }
}
