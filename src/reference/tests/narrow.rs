//! Narrow integers, 16-bit floats and packed values through the executor.

use super::*;
use crate::reference::Element;
use crate::types::Type;
use half::{bf16, f16};

fn column<T: Element>(values: impl IntoIterator<Item = T>) -> Buffer {
    values.into_iter().collect::<Vec<T>>().into()
}

/// Both columns of every pair of values.
fn pairs<T: Element>(values: &[T]) -> (Buffer, Buffer) {
    let left = values.iter().flat_map(|&a| values.iter().map(move |_| a));
    let right = values.iter().flat_map(|_| values.iter().copied());
    (column(left), column(right))
}

macro_rules! against_wide {
    ($name:ident, $t:ident, $ty:ident) => {
        #[test]
        fn $name() {
            let values: Vec<$t> = [
                0,
                1,
                2,
                3,
                7,
                $t::MAX,
                $t::MAX - 1,
                $t::MAX / 2,
                $t::MIN,
                $t::MIN + 1,
                $t::MIN / 2,
            ]
            .into_iter()
            .chain([0xA5u8 as $t, 0x5A, 0x80u8 as $t, 100])
            .collect();
            let (a, b) = pairs(&values);
            let bits = $t::BITS;
            let of = |f: fn(&mut KernelBuilder, Value, Value) -> Value,
                      expected: fn($t, $t) -> $t| {
                let out = compute(vec![a.clone(), b.clone()], |k, v| f(k, v[0], v[1]));
                let rows = a
                    .as_slice::<$t>()
                    .unwrap()
                    .iter()
                    .zip(b.as_slice::<$t>().unwrap());
                let expected: Vec<$t> = rows.map(|(&a, &b)| expected(a, b)).collect();
                assert_eq!(out.as_slice::<$t>().unwrap(), expected);
            };
            of(|k, a, b| k.add(a, b), |a, b| (a as i64 + b as i64) as $t);
            of(|k, a, b| k.sub(a, b), |a, b| (a as i64 - b as i64) as $t);
            of(|k, a, b| k.mul(a, b), |a, b| (a as i64 * b as i64) as $t);
            of(
                |k, a, b| k.mul_hi(a, b),
                |a, b| (a as i64 * b as i64 >> $t::BITS) as $t,
            );
            of(
                |k, a, b| k.div(a, b),
                |a, b| {
                    if b == 0 {
                        a
                    } else {
                        (a as i64 / b as i64) as $t
                    }
                },
            );
            of(
                |k, a, b| k.rem(a, b),
                |a, b| {
                    if b == 0 {
                        0
                    } else {
                        (a as i64 % b as i64) as $t
                    }
                },
            );
            of(|k, a, b| k.min(a, b), |a, b| if a < b { a } else { b });
            of(|k, a, b| k.max(a, b), |a, b| if a > b { a } else { b });
            of(
                |k, a, b| k.mul_add(a, b, a),
                |a, b| (a as i64 * b as i64 + a as i64) as $t,
            );
            of(|k, a, b| k.clamp(a, b, a), |a, b| a.max(b).min(a));
            of(
                |k, a, b| k.add_sat(a, b),
                |a, b| (a as i64 + b as i64).clamp($t::MIN as i64, $t::MAX as i64) as $t,
            );
            of(
                |k, a, b| k.sub_sat(a, b),
                |a, b| (a as i64 - b as i64).clamp($t::MIN as i64, $t::MAX as i64) as $t,
            );
            of(|k, a, b| k.xor(a, b), |a, b| a ^ b);
            of(|k, a, _| k.not(a), |a, _| !a);
            of(|k, a, _| k.neg(a), |a, _| (-(a as i64)) as $t);
            of(|k, a, _| k.abs(a), |a, _| (a as i64).unsigned_abs() as $t);
            of(
                |k, a, _| k.reverse_bits(a),
                |a, _| (0..$t::BITS).fold(0, |r, i| r | (a >> i & 1) << ($t::BITS - 1 - i)),
            );
            of(
                |k, a, b| {
                    let c = k.convert(b, Type::U32);
                    k.shl(a, c)
                },
                |a, b| ((a as i64) << (b as u32 % $t::BITS)) as $t,
            );
            of(
                |k, a, b| {
                    let c = k.convert(b, Type::U32);
                    k.shr(a, c)
                },
                |a, b| (a as i64 >> (b as u32 % $t::BITS)) as $t,
            );
            of(
                |k, a, b| {
                    let c = k.convert(b, Type::U32);
                    k.rotate_left(a, c)
                },
                |a, b| a.rotate_left(b as u32 % $t::BITS),
            );
            of(
                |k, a, b| {
                    let c = k.convert(b, Type::U32);
                    k.rotate_right(a, c)
                },
                |a, b| a.rotate_right(b as u32 % $t::BITS),
            );
            of(
                |k, a, b| {
                    let c = k.constant(3u32);
                    k.funnel_shl(a, b, c)
                },
                |a, b| {
                    let mask = (1u64 << $t::BITS) - 1;
                    let wide = (a as u64 & mask) << $t::BITS | b as u64 & mask;
                    (wide << 3 >> $t::BITS) as $t
                },
            );
            of(
                |k, a, b| {
                    let c = k.constant(3u32);
                    k.funnel_shr(a, b, c)
                },
                |a, b| {
                    let mask = (1u64 << $t::BITS) - 1;
                    let wide = (a as u64 & mask) << $t::BITS | b as u64 & mask;
                    (wide >> 3) as $t
                },
            );
            of(
                |k, a, _| {
                    let (o, c) = (k.constant(2u32), k.constant(4u32));
                    k.bitfield_extract(a, o, c)
                },
                |a, _| {
                    let field = (a >> 2) & 15;
                    if $t::MIN != 0 && field & 8 != 0 {
                        field | !15
                    } else {
                        field
                    }
                },
            );
            of(
                |k, a, b| {
                    let (o, c) = (k.constant(2u32), k.constant(100u32));
                    k.bitfield_insert(a, b, o, c)
                },
                |a, b| a & 3 | b << 2,
            );
            let counts = |f: fn(&mut KernelBuilder, Value) -> Value, expected: fn($t) -> u32| {
                let out = compute(vec![column(values.clone())], |k, v| f(k, v[0]));
                let expected: Vec<u32> = values.iter().map(|&v| expected(v)).collect();
                assert_eq!(out.as_slice::<u32>().unwrap(), expected);
            };
            counts(|k, v| k.clz(v), $t::leading_zeros);
            counts(|k, v| k.ctz(v), $t::trailing_zeros);
            counts(|k, v| k.popcount(v), $t::count_ones);
            let out = compute(vec![a.clone(), b.clone()], |k, v| k.lt(v[0], v[1]));
            let rows = a
                .as_slice::<$t>()
                .unwrap()
                .iter()
                .zip(b.as_slice::<$t>().unwrap());
            let expected: Vec<u32> = rows.map(|(a, b)| u32::from(a < b)).collect();
            assert_eq!(out.as_slice::<u32>().unwrap(), expected);
            assert_eq!((Type::$ty.bytes() * 8, a.ty()), (bits, Type::$ty));
        }
    };
}
against_wide!(i8_is_as_in_wider_arithmetic, i8, I8);
against_wide!(u8_is_as_in_wider_arithmetic, u8, U8);
against_wide!(i16_is_as_in_wider_arithmetic, i16, I16);
against_wide!(u16_is_as_in_wider_arithmetic, u16, U16);

#[test]
fn small_integers_widen_by_their_sign() {
    let out = compute(vec![column([-89i8, -15, -39, 42, -1])], |b, v| {
        b.convert(v[0], Type::I32)
    });
    let wide = out.as_slice::<i32>().unwrap();
    assert_eq!(wide[..4].iter().sum::<i32>(), -101);
    let out = compute(vec![column([-1i8])], |b, v| b.convert(v[0], Type::U32));
    assert_eq!(out.as_slice::<u32>(), Some(&[u32::MAX][..]));
    let out = compute(vec![column([0xA7u8])], |b, v| b.convert(v[0], Type::I32));
    assert_eq!(out.as_slice::<i32>(), Some(&[167][..]));
    let out = compute(vec![column([300u32, 0xFFFF_FF80])], |b, v| {
        b.convert(v[0], Type::I8)
    });
    assert_eq!(out.as_slice::<i8>(), Some(&[44, -128][..]));
    let out = compute(vec![column([300f32, -5.0, f32::NAN, 254.9])], |b, v| {
        b.convert(v[0], Type::U8)
    });
    assert_eq!(out.as_slice::<u8>(), Some(&[255, 0, 0, 254][..]));
    let out = compute(vec![column([1e9f64, -1e9, f64::NAN, -127.9])], |b, v| {
        b.convert(v[0], Type::I8)
    });
    assert_eq!(out.as_slice::<i8>(), Some(&[127, -128, 0, -127][..]));
}

#[test]
fn halves_compute_in_their_own_precision() {
    let h = |bits: &[u16]| column(bits.iter().map(|&b| f16::from_bits(b)));
    let bits = |b: Buffer| bytemuck::cast_slice::<u8, u16>(b.bytes()).to_vec();
    // 2048 + 1 is halfway; subnormal numbers stay.
    let (a, b) = (
        h(&[0x6800, 0x0001, 0x8560, 0x7BFF]),
        h(&[0x3C00, 0x0001, 0x399A, 0x7BFF]),
    );
    let two = || vec![a.clone(), b.clone()];
    assert_eq!(
        bits(compute(two(), |k, v| k.add(v[0], v[1]))),
        [0x6800, 2, 0x399A, 0x7C00]
    );
    assert_eq!(bits(compute(two(), |k, v| k.mul(v[0], v[1])))[2], 0x83C3);
    let out = compute(two(), |k, v| k.lt(v[0], v[1]));
    assert_eq!(out.as_slice::<u32>(), Some(&[0, 0, 1, 0][..]));
    let nan = h(&[0x7E00, 0x7E00, 0x8000]);
    let other = h(&[0x3C00, 0x7E00, 0]);
    let two = || vec![nan.clone(), other.clone()];
    let of = |f: fn(&mut KernelBuilder, &[Value]) -> Value| {
        compute(two(), f).as_slice::<u32>().unwrap().to_vec()
    };
    assert_eq!(of(|k, v| k.eq(v[0], v[1])), [0, 0, 1]);
    assert_eq!(of(|k, v| k.ne(v[0], v[1])), [1, 1, 0]);
    assert_eq!(of(|k, v| k.ge(v[0], v[1])), [0, 0, 1]);
    assert_eq!(of(|k, v| k.is_nan(v[0])), [1, 1, 0]);
    assert_eq!(
        bits(compute(two(), |k, v| k.copysign(v[1], v[0]))),
        [0x3C00, 0x7E00, 0x8000]
    );
    let wide = column([
        65_519.9f64,
        65_520.0,
        1.0 + 2f64.powi(-11) + 2f64.powi(-40),
        f64::from_bits(1),
    ]);
    assert_eq!(
        bits(compute(vec![wide.clone()], |k, v| k.convert(v[0], Type::F16))),
        [0x7BFF, 0x7C00, 0x3C01, 0]
    );
    assert_eq!(
        bits(compute(vec![wide], |k, v| k.convert(v[0], Type::BF16))),
        [0x4780, 0x4780, 0x3F80, 0]
    );
}

#[test]
fn halves_pack_into_words() {
    let (low, high) = (column([0x7C01u16, 1]), column([0x8000u16, 0xFFFF]));
    for ty in [Type::F16, Type::BF16] {
        let out = compute(vec![low.clone(), high.clone()], |b, v| {
            let (low, high) = (b.bitcast(v[0], ty), b.bitcast(v[1], ty));
            b.pack(low, high)
        });
        assert_eq!(out.as_slice::<u32>(), Some(&[0x8000_7C01, 0xFFFF_0001][..]));
        for (upper, expected) in [(false, [0x7C01, 1]), (true, [0x8000, 0xFFFFu16])] {
            let back = compute(vec![out.clone()], |b, v| {
                let half = match upper {
                    false => b.unpack_low(v[0], ty),
                    true => b.unpack_high(v[0], ty),
                };
                b.bitcast(half, Type::U16)
            });
            assert_eq!(back.as_slice::<u16>(), Some(&expected[..]));
        }
    }
}

#[test]
fn remainders_of_floats_are_exact() {
    let a = column([
        5.5f32,
        -5.5,
        1e30,
        -0.0,
        1.0,
        f32::INFINITY,
        3.0,
        f32::from_bits(7),
    ]);
    let b = column([
        2.0f32,
        2.0,
        3.0,
        1.0,
        0.0,
        2.0,
        f32::INFINITY,
        f32::from_bits(4),
    ]);
    let out = compute(vec![a, b], |b, v| b.rem(v[0], v[1]));
    let got: Vec<u32> = out
        .as_slice::<f32>()
        .unwrap()
        .iter()
        .map(|v| v.to_bits())
        .collect();
    assert_eq!(got[..2], [1.5f32.to_bits(), (-1.5f32).to_bits()]);
    // 1e30 as an f32 is a whole number.
    assert_eq!(f32::from_bits(got[2]), ((1e30f32 as u128) % 3) as f32);
    assert_eq!(got[3], 0x8000_0000);
    assert!(f32::from_bits(got[4]).is_nan() && f32::from_bits(got[5]).is_nan());
    assert_eq!((f32::from_bits(got[6]), got[7]), (3.0, 3));
    let huge = column([f64::MAX]);
    let out = compute(vec![huge, column([f64::from_bits(3)])], |b, v| {
        b.rem(v[0], v[1])
    });
    // (2^53 - 1) 2^971 2^1074 units of the least subnormal: modulo 3 that is 1 · 2 · 1.
    assert_eq!(out.as_slice::<f64>().unwrap()[0].to_bits(), 2);
}

#[test]
fn approximations_are_the_precise_form_here() {
    let a = column([2.0f32, 3.0, 1e-39]);
    let root = compute(vec![a.clone()], |b, v| b.sqrt(v[0]));
    assert_eq!(compute(vec![a.clone()], |b, v| b.sqrt_fast(v[0])), root);
    let quotient = compute(vec![a.clone()], |b, v| b.div(v[0], v[0]));
    assert_eq!(compute(vec![a], |b, v| b.div_fast(v[0], v[0])), quotient);
}

#[test]
fn float_functions_of_bits() {
    let a = column([-1.25f64, -0.0, f64::INFINITY, -f64::from_bits(1), 2.75]);
    let out = compute(vec![a.clone()], |b, v| b.fract(v[0]));
    let got = out.as_slice::<f64>().unwrap();
    assert_eq!(
        (got[0], got[1].to_bits(), got[3], got[4]),
        (0.75, 0, 1.0, 0.75)
    );
    assert!(got[2].is_nan());
    let out = compute(vec![a], |b, v| b.is_inf(v[0]));
    assert_eq!(out.as_slice::<u32>(), Some(&[0, 0, 1, 0, 0][..]));
    let nan = column([f32::from_bits(0x7F80_0001), 1.0]);
    let out = compute(vec![nan, column([-0.0f32, 2.0])], |b, v| {
        b.copysign(v[0], v[1])
    });
    assert_eq!(out.bytes()[..4], 0xFF80_0001u32.to_le_bytes());
}

#[test]
fn scalars_of_16_bits_arrive() {
    let k = kernel([1, 1, 1], |b| {
        let out = b.buffer("out", Type::F32, crate::types::Access::Write);
        let (x, y) = (b.scalar("x", Type::F16), b.scalar("y", Type::BF16));
        let (x, y) = (b.param(x), b.param(y));
        let (x, y) = (b.convert(x, Type::F32), b.convert(y, Type::F32));
        let sum = b.add(x, y);
        let zero = b.constant(0u32);
        b.store(out, zero, sum);
    });
    let mut args = [
        Arg::from([0f32]),
        Arg::from(f16::from_bits(0x3C00)),
        Arg::from(bf16::from_bits(0x4040)),
    ];
    run(&k, 4, [1, 1, 1], &mut args);
    assert_eq!(args[0].as_slice::<f32>(), Some(&[4.0][..]));
}
