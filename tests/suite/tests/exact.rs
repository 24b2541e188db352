//! Conversions and arithmetic of every type against exact numbers: a value is a sign, an integer and a power of two, and a
//! result is rounded once. The reference executor and lavapipe have to give its bits; what other devices may do otherwise is
//! for `gpu_vulkan` to judge.

use kernite::builder::KernelBuilder;
use kernite::kernel::{Bounds, Value as Id};
use kernite::op::Op;
use kernite::types::{Access, Type};
use kernite_suite::run::{Case, Value};
use kernite_testkit::vulkan::Context;

const INTEGERS: [Type; 8] = [
    Type::I8,
    Type::U8,
    Type::I16,
    Type::U16,
    Type::I32,
    Type::U32,
    Type::I64,
    Type::U64,
];
const FLOATS: [Type; 4] = [Type::F16, Type::BF16, Type::F32, Type::F64];

/// Bits of exponent and fraction.
fn format(ty: Type) -> Option<(i32, i32)> {
    match ty {
        Type::F16 => Some((5, 10)),
        Type::BF16 => Some((8, 7)),
        Type::F32 => Some((8, 23)),
        Type::F64 => Some((11, 52)),
        _ => None,
    }
}

fn bits(ty: Type) -> u32 {
    ty.bytes() * 8
}

fn mask(ty: Type) -> u64 {
    u64::MAX >> (64 - bits(ty))
}

fn signed(ty: Type) -> bool {
    [Type::I8, Type::I16, Type::I32, Type::I64].contains(&ty)
}

/// The least and the greatest integer of a type.
fn range(ty: Type) -> (i128, i128) {
    if signed(ty) {
        (-1 << (bits(ty) - 1), (1 << (bits(ty) - 1)) - 1)
    } else {
        (0, (1 << bits(ty)) - 1)
    }
}

/// Negative or not, and how large.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Number {
    Nan,
    Infinite(bool),
    /// An integer times a power of two.
    Finite(bool, u128, i32),
}

fn integer(ty: Type, word: u64) -> i128 {
    if signed(ty) {
        let unused = 64 - bits(ty);
        i128::from((word << unused).cast_signed() >> unused)
    } else {
        i128::from(word)
    }
}

fn decode(ty: Type, word: u64) -> Number {
    let Some((exponent_bits, fraction_bits)) = format(ty) else {
        let value = integer(ty, word);
        return Number::Finite(value < 0, value.unsigned_abs(), 0);
    };
    let negative = word >> (exponent_bits + fraction_bits) & 1 == 1;
    let top = (1 << exponent_bits) - 1;
    let exponent = i32::try_from(word >> fraction_bits & top).unwrap();
    let fraction = word & ((1 << fraction_bits) - 1);
    let least = 2 - (1 << (exponent_bits - 1)) - fraction_bits;
    match exponent {
        0 => Number::Finite(negative, u128::from(fraction), least),
        _ if i64::from(exponent) < top.cast_signed() => {
            let whole = fraction | 1 << fraction_bits;
            Number::Finite(negative, u128::from(whole), least + exponent - 1)
        }
        _ if fraction == 0 => Number::Infinite(negative),
        _ => Number::Nan,
    }
}

/// Rounds to the nearest, to even between two.
fn encode(ty: Type, number: Number) -> u64 {
    let (exponent_bits, fraction_bits) = format(ty).expect("a float");
    let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
    let sign = |negative| u64::from(negative) << (exponent_bits + fraction_bits);
    let (negative, mut whole, mut power) = match number {
        Number::Nan => return infinity | 1 << (fraction_bits - 1),
        Number::Infinite(negative) => return infinity | sign(negative),
        Number::Finite(negative, 0, _) => return sign(negative),
        Number::Finite(negative, whole, power) => (negative, whole, power),
    };
    let least = 2 - (1 << (exponent_bits - 1)) - fraction_bits;
    let length = |whole: u128| 128 - i32::try_from(whole.leading_zeros()).unwrap();
    // The weight of the last bit that stays.
    let last = (length(whole) + power - 1 - fraction_bits).max(least);
    if last <= power {
        whole <<= power - last;
    } else {
        let cut = u32::try_from(last - power).unwrap();
        let kept = whole.checked_shr(cut).unwrap_or(0);
        let rest = whole - kept.checked_shl(cut).unwrap_or(0);
        let half = 1u128.checked_shl(cut - 1).unwrap_or(u128::MAX);
        let up = rest > half || rest == half && kept & 1 == 1;
        whole = kept + u128::from(up);
    }
    power = last;
    if length(whole) > fraction_bits + 1 {
        (whole, power) = (whole >> 1, power + 1);
    }
    let whole = u64::try_from(whole).unwrap();
    if length(whole.into()) <= fraction_bits {
        return sign(negative) | whole;
    }
    let exponent = u64::try_from(power - least + 1).unwrap();
    let fraction = whole & ((1 << fraction_bits) - 1);
    sign(negative) | (exponent << fraction_bits | fraction).min(infinity)
}

/// Integers wrap; a float is cut to the integer towards zero, and to the range; NaN gives 0.
fn convert(from: Type, to: Type, word: u64) -> u64 {
    let number = decode(from, word);
    if format(to).is_some() {
        return encode(to, number);
    }
    let (low, high) = range(to);
    let value = match number {
        Number::Nan => 0,
        Number::Infinite(true) => low,
        Number::Infinite(false) => high,
        Number::Finite(..) if format(from).is_none() => integer(from, word),
        Number::Finite(negative, whole, power) => {
            let size = if power <= 0 {
                whole.checked_shr(power.unsigned_abs()).unwrap_or(0)
            } else if power < 70 {
                whole << power
            } else {
                whole.min(1) << 126
            };
            let size = i128::try_from(size).unwrap();
            if negative { -size } else { size }.clamp(low, high)
        }
    };
    value as u64 & mask(to)
}

/// Words around every place where a conversion or an operation of the type turns.
fn samples(ty: Type) -> Vec<u64> {
    let mut all = Vec::new();
    if let Some((exponent_bits, fraction_bits)) = format(ty) {
        let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
        all.extend([
            0,
            1,
            infinity,
            infinity | 1,
            infinity | 1 << (fraction_bits - 1),
        ]);
        // The edges of each float, halves of its last bit, and integers that end in a half.
        for (exponents, fraction) in [(15, 10), (127, 7), (127, 23), (1023, 52)] {
            let edges = [-exponents - fraction - 1, -exponents - fraction, -exponents];
            let powers = [
                -exponents + 1,
                -2,
                -1,
                0,
                1,
                6,
                7,
                8,
                15,
                16,
                31,
                32,
                63,
                64,
            ];
            for power in edges
                .into_iter()
                .chain(powers)
                .chain([exponents, exponents + 1])
            {
                for low in [
                    0,
                    1,
                    1 << 59,
                    1 << (59 - fraction),
                    3 << (59 - fraction),
                    (1 << 60) - 1,
                ] {
                    all.push(encode(ty, Number::Finite(false, 1 << 60 | low, power - 60)));
                }
            }
        }
        let sign = 1 << (exponent_bits + fraction_bits);
        all.extend(all.clone().into_iter().map(|word| word | sign));
    } else if bits(ty) == 8 {
        return (0..256).collect();
    } else {
        for power in 0..bits(ty) {
            for near in [-2, -1, 0, 1] {
                let word = (1u64 << power).wrapping_add_signed(near);
                // And what lies half way between two floats.
                let halves = [8, 11, 24, 53].map(|n| word.wrapping_add((1 << power) >> n));
                all.extend([word, word.wrapping_neg()].into_iter().chain(halves));
            }
        }
        all.iter_mut().for_each(|word| *word &= mask(ty));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Every `nth` pair of samples.
fn pairs(ty: Type, nth: usize) -> Vec<Vec<u64>> {
    let all = samples(ty);
    let pairs = all
        .iter()
        .flat_map(|&a| all.iter().map(move |&b| vec![a, b]));
    pairs.step_by(nth).collect()
}

/// Runs an opcode on each row, as [`check`] does.
fn check_op(
    op: Op,
    inputs: &[Type],
    output: Type,
    rows: &[Vec<u64>],
    expected: impl Fn(&[u64]) -> u64,
) {
    let body = |b: &mut KernelBuilder, x: &[Id]| b.apply(op, x);
    check(op.name(), inputs, output, rows, body, expected);
}

/// Runs `body` on each row, and compares what it gives with `expected`.
fn check(
    what: &str,
    inputs: &[Type],
    output: Type,
    rows: &[Vec<u64>],
    body: impl Fn(&mut KernelBuilder, &[Id]) -> Id,
    expected: impl Fn(&[u64]) -> u64,
) {
    let mut b = KernelBuilder::new("exact", [64, 1, 1]);
    let buffers: Vec<_> = inputs
        .iter()
        .map(|&ty| b.buffer("x", ty, Access::Read))
        .collect();
    let out = b.buffer("out", output, Access::Write);
    let (i, n) = (b.global_id(0), b.array_length(out));
    let inside = b.lt(i, n);
    b.when(inside, |b| {
        let values: Vec<Id> = buffers.iter().map(|&x| b.load(x, i)).collect();
        let made = body(b, &values);
        b.store(out, i, made);
    });
    let bytes = |ty: Type, word: u64| word.to_le_bytes().into_iter().take(ty.bytes() as usize);
    let column =
        |n: usize| Value::Bytes(rows.iter().flat_map(|r| bytes(inputs[n], r[n])).collect());
    let mut args: Vec<Value> = (0..inputs.len()).map(column).collect();
    args.push(Value::Bytes(vec![0; rows.len() * output.bytes() as usize]));
    let case = Case {
        kernel: b.finish().unwrap(),
        grid: [u32::try_from(rows.len().div_ceil(64)).unwrap(), 1, 1],
        args,
        dynamic_shared: 0,
        bounds: Bounds::Unchecked,
    };
    let mut results = vec![("reference", case.reference(32).unwrap())];
    if let Some(device) = Context::get()
        && device.info().is_lavapipe()
        && case.lacks(device).is_none()
    {
        let run = case.vulkan(device, &case.options_for(device)).unwrap();
        results.push(("lavapipe", run));
    }
    for (who, result) in results {
        let words = result[inputs.len()].chunks_exact(output.bytes() as usize);
        for (row, got) in rows.iter().zip(words) {
            let mut word = [0; 8];
            word[..got.len()].copy_from_slice(got);
            let (got, want) = (u64::from_le_bytes(word), expected(row));
            let nan = |word| format(output).is_some() && decode(output, word) == Number::Nan;
            assert!(
                got == want || nan(got) && nan(want),
                "{who}: {what} of {inputs:?} to {output}: {row:x?} gives {got:#x}, not {want:#x}"
            );
        }
    }
}

#[test]
fn conversions() {
    for from in INTEGERS.into_iter().chain(FLOATS) {
        let rows: Vec<Vec<u64>> = samples(from).into_iter().map(|word| vec![word]).collect();
        for to in INTEGERS.into_iter().chain(FLOATS) {
            let body = |b: &mut KernelBuilder, x: &[Id]| b.convert(x[0], to);
            check("convert", &[from], to, &rows, body, |row| {
                convert(from, to, row[0])
            });
        }
    }
}

#[test]
fn integers() {
    for ty in INTEGERS {
        let (low, high) = range(ty);
        let width = bits(ty);
        let rows = pairs(ty, 29);
        let binary = |op: Op, f: &dyn Fn(i128, i128) -> i128| {
            let expected =
                |row: &[u64]| f(integer(ty, row[0]), integer(ty, row[1])) as u64 & mask(ty);
            check_op(op, &[ty; 2], ty, &rows, expected);
        };
        binary(Op::Add, &|x, y| x + y);
        binary(Op::Sub, &|x, y| x - y);
        binary(Op::Mul, &|x, y| x.wrapping_mul(y));
        // The product of two u64 needs all of 128 bits.
        binary(Op::MulHi, &|x, y| {
            let product = x.wrapping_mul(y);
            if signed(ty) {
                product >> width
            } else {
                (product.cast_unsigned() >> width).cast_signed()
            }
        });
        binary(Op::Div, &|x, y| if y == 0 { x } else { x / y });
        binary(Op::Rem, &|x, y| if y == 0 { 0 } else { x % y });
        binary(Op::Min, &|x, y| x.min(y));
        binary(Op::Max, &|x, y| x.max(y));
        binary(Op::AddSat, &|x, y| (x + y).clamp(low, high));
        binary(Op::SubSat, &|x, y| (x - y).clamp(low, high));
        let amounts = [
            0,
            1,
            7,
            8,
            15,
            16,
            31,
            32,
            33,
            63,
            64,
            255,
            1 << 31,
            u64::from(u32::MAX),
        ];
        let rows: Vec<Vec<u64>> = samples(ty)
            .into_iter()
            .step_by(3)
            .flat_map(|word| amounts.map(|amount| vec![word, amount]))
            .collect();
        let shift = |op: Op, f: &dyn Fn(u64, u32) -> u64| {
            let expected = |row: &[u64]| f(row[0], row[1] as u32 % width) & mask(ty);
            check_op(op, &[ty, Type::U32], ty, &rows, expected);
        };
        let twice = |word: u64| u128::from(word) << width | u128::from(word);
        shift(Op::Shl, &|x, n| x << n);
        shift(Op::Shr, &|x, n| (integer(ty, x) >> n) as u64);
        shift(Op::RotateLeft, &|x, n| (twice(x) >> (width - n)) as u64);
        shift(Op::RotateRight, &|x, n| (twice(x) >> n) as u64);
    }
}

#[test]
fn floats() {
    /// f64 has more than twice the bits of the smaller floats: what it rounds, they round to the same.
    fn wide(ty: Type, word: u64) -> f64 {
        f64::from_bits(encode(Type::F64, decode(ty, word)))
    }
    fn pick(x: f64, y: f64, least: bool) -> f64 {
        let below = x < y || x == y && x.is_sign_negative();
        if x.is_nan() || !y.is_nan() && below != least {
            y
        } else {
            x
        }
    }
    for ty in FLOATS {
        let rows = pairs(ty, 97);
        let narrow = |x: f64| encode(ty, decode(Type::F64, x.to_bits()));
        let binary = |op: Op, f: &dyn Fn(f64, f64) -> f64| {
            let expected = |row: &[u64]| narrow(f(wide(ty, row[0]), wide(ty, row[1])));
            check_op(op, &[ty; 2], ty, &rows, expected);
        };
        binary(Op::Add, &|x, y| x + y);
        binary(Op::Sub, &|x, y| x - y);
        binary(Op::Mul, &|x, y| x * y);
        binary(Op::Div, &|x, y| x / y);
        binary(Op::Rem, &|x, y| x % y);
        binary(Op::Min, &|x, y| pick(x, y, true));
        binary(Op::Max, &|x, y| pick(x, y, false));
        let unary = |op: Op, f: &dyn Fn(f64) -> f64| {
            let expected = |row: &[u64]| narrow(f(wide(ty, row[0])));
            check_op(op, &[ty], ty, &rows, expected);
        };
        unary(Op::Floor, &f64::floor);
        unary(Op::Ceil, &f64::ceil);
        unary(Op::Trunc, &f64::trunc);
        unary(Op::RoundEven, &f64::round_ties_even);
        unary(Op::Sqrt, &f64::sqrt);
        unary(Op::Rcp, &|x| 1.0 / x);
        let compare = |op: Op, f: &dyn Fn(f64, f64) -> bool| {
            let body = |b: &mut KernelBuilder, x: &[Id]| {
                let made = b.apply(op, x);
                b.convert(made, Type::U32)
            };
            let expected = |row: &[u64]| u64::from(f(wide(ty, row[0]), wide(ty, row[1])));
            check(op.name(), &[ty; 2], Type::U32, &rows, body, expected);
        };
        compare(Op::Eq, &|x, y| x == y);
        compare(Op::Ne, &|x, y| x != y);
        compare(Op::Lt, &|x, y| x < y);
        compare(Op::Le, &|x, y| x <= y);
        compare(Op::Gt, &|x, y| x > y);
        compare(Op::Ge, &|x, y| x >= y);
    }
}
