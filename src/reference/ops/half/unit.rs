//! Every operation against integers that are exact.

use super::super::convert::To;
use super::*;

/// A number: sign, magnitude, power of two.
#[derive(Clone, Copy, Debug)]
struct Exact {
    negative: bool,
    magnitude: u128,
    exponent: i32,
}

/// A half under test.
trait Tested: Float + Half + core::fmt::Debug {
    /// Bits of the mantissa field.
    const FIELD: u32;
    fn of(bits: u16) -> Self;
    fn bits(self) -> u16;
}

impl Tested for f16 {
    const FIELD: u32 = 10;
    fn of(bits: u16) -> f16 {
        f16::from_bits(bits)
    }
    fn bits(self) -> u16 {
        self.to_bits()
    }
}

impl Tested for bf16 {
    const FIELD: u32 = 7;
    fn of(bits: u16) -> bf16 {
        bf16::from_bits(bits)
    }
    fn bits(self) -> u16 {
        self.to_bits()
    }
}

/// The value of a finite half, read off its fields.
fn exact<H: Tested>(h: H) -> Option<Exact> {
    let bits = h.bits();
    let bias = (1 << (14 - H::FIELD)) - 1;
    let field = i32::from(bits & 0x7FFF) >> H::FIELD;
    let mantissa = u128::from(bits) & ((1 << H::FIELD) - 1);
    let hidden = u128::from(field > 0) << H::FIELD;
    (field < 2 * bias + 1).then_some(Exact {
        negative: bits >> 15 != 0,
        magnitude: mantissa | hidden,
        exponent: Ord::max(field, 1) - bias - H::FIELD as i32,
    })
}

/// The half nearest to a number, the even one of two; `more` says that the number is a little greater in magnitude.
fn nearest_to<H: Tested>(x: Exact, more: bool) -> u16 {
    let bias = (1 << (14 - H::FIELD)) - 1;
    let sign = u16::from(x.negative) << 15;
    if x.magnitude == 0 {
        return sign;
    }
    // Room below for what is cut off.
    let room = Ord::min(x.magnitude.leading_zeros(), 12);
    let (magnitude, exponent) = (x.magnitude << room, x.exponent - room as i32);
    let top = 127 - magnitude.leading_zeros() as i32 + exponent;
    let unit = Ord::max(top, 1 - bias) - H::FIELD as i32;
    let cut = Ord::clamp(unit - exponent, 0, 127) as u32;
    let (kept, rest) = (magnitude >> cut, magnitude & ((1 << cut) - 1));
    let half = if cut == 0 { 0 } else { 1u128 << (cut - 1) };
    let up = rest > half || rest == half && (more || kept & 1 == 1);
    let units = kept + u128::from(up && cut > 0);
    if top > bias {
        return sign | H::INFINITY;
    }
    let bits = ((Ord::max(top, 1 - bias) - (1 - bias)) as u128) * (1 << H::FIELD) + units;
    sign | bits as u16
}

/// The exact sum of two numbers, or one that rounds like it.
fn sum(a: Exact, b: Exact) -> Exact {
    let (high, low) = if a.magnitude == 0 || b.magnitude != 0 && a.exponent < b.exponent {
        (b, a)
    } else {
        (a, b)
    };
    let signed = |x: Exact, magnitude: u128| {
        let magnitude = magnitude as i128;
        if x.negative { -magnitude } else { magnitude }
    };
    let gap = high.exponent - low.exponent;
    let (total, exponent) = if low.magnitude == 0 {
        (signed(high, high.magnitude), high.exponent)
    } else if gap <= 60 {
        (
            signed(high, high.magnitude << gap) + signed(low, low.magnitude),
            low.exponent,
        )
    } else {
        // So small that only its sign is seen.
        (
            signed(high, high.magnitude << 60) + signed(low, 1),
            high.exponent - 60,
        )
    };
    Exact {
        negative: if total == 0 {
            a.negative && b.negative
        } else {
            total < 0
        },
        magnitude: total.unsigned_abs(),
        exponent,
    }
}

fn product(a: Exact, b: Exact) -> Exact {
    Exact {
        negative: a.negative != b.negative,
        magnitude: a.magnitude * b.magnitude,
        exponent: a.exponent + b.exponent,
    }
}

/// Finite halves that meet each other in hard cases, and random ones.
fn samples<H: Tested>(random: usize) -> Vec<H> {
    let one = ((1 << (14 - H::FIELD)) - 1) << H::FIELD;
    let mut bits = vec![0, 1, 2, 3, H::INFINITY - 1, H::INFINITY - 2];
    for near in [
        one,
        2 << H::FIELD,
        1 << H::FIELD,
        one + (H::FIELD as u16 + 1) * (1 << H::FIELD),
        one - (H::FIELD as u16 + 1) * (1 << H::FIELD),
        one + (1 << (H::FIELD - 1)),
    ] {
        bits.extend([near - 1, near, near + 1]);
    }
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    for i in 0..random {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Every other one near 1, so that sums and products meet.
        let any = (state >> 20) as u16 & 0x7FFF;
        let close = one - (4 << H::FIELD) + any % (8 << H::FIELD);
        bits.push(if i % 2 == 0 { any } else { close });
    }
    bits.retain(|&b| b < H::INFINITY);
    bits.iter()
        .flat_map(|&b| [H::of(b), H::of(b | 0x8000)])
        .collect()
}

fn check<H: Tested>() {
    let values = samples::<H>(150);
    let value = |h: H| exact(h).unwrap();
    for &a in &values {
        for &b in &values {
            let (x, y) = (value(a), value(b));
            let minus_y = Exact {
                negative: !y.negative,
                ..y
            };
            let pair = (a, b);
            assert_eq!(
                Number::add(a, b).bits(),
                nearest_to::<H>(sum(x, y), false),
                "{pair:?}"
            );
            assert_eq!(
                Number::sub(a, b).bits(),
                nearest_to::<H>(sum(x, minus_y), false),
                "{pair:?}"
            );
            assert_eq!(
                Number::mul(a, b).bits(),
                nearest_to::<H>(product(x, y), false),
                "{pair:?}"
            );
            if let Some(whole) = (x.magnitude << 64).checked_div(y.magnitude) {
                let quotient = Exact {
                    negative: x.negative != y.negative,
                    magnitude: whole,
                    exponent: x.exponent - y.exponent - 64,
                };
                let more = !(x.magnitude << 64).is_multiple_of(y.magnitude);
                assert_eq!(
                    Number::div(a, b).bits(),
                    nearest_to::<H>(quotient, more),
                    "{pair:?}"
                );
                let rest = f64::from(a.single()) % f64::from(b.single());
                let got = Number::rem(a, b);
                assert_eq!(
                    f64::from(got.single()).to_bits(),
                    rest.to_bits(),
                    "exact: {pair:?}"
                );
            }
        }
        let x = value(a);
        if !x.negative {
            // With an even exponent and enough bits.
            let up = 80 + (x.exponent - 80).rem_euclid(2);
            let square = x.magnitude << up;
            let root = Exact {
                negative: false,
                magnitude: square.isqrt(),
                exponent: (x.exponent - up) / 2,
            };
            let more = root.magnitude * root.magnitude != square;
            assert_eq!(Float::sqrt(a).bits(), nearest_to::<H>(root, more), "{a:?}");
        }
    }
    let few = samples::<H>(40);
    for &a in &few {
        for &b in &few {
            for &c in &few {
                let exactly = sum(product(value(a), value(b)), value(c));
                let fused = Float::fma(a, b, c);
                assert_eq!(
                    fused.bits(),
                    nearest_to::<H>(exactly, false),
                    "{:?}",
                    (a, b, c)
                );
                let two = Number::add(Number::mul(a, b), c);
                assert_eq!(Number::mul_add(a, b, c).bits(), two.bits());
            }
        }
    }
}

#[test]
fn f16_rounds_once() {
    check::<f16>();
}

#[test]
fn bf16_rounds_once() {
    check::<bf16>();
}

fn round_trips<H: Tested>() {
    for bits in 0..=u16::MAX {
        let h = H::of(bits);
        let Some(Exact {
            negative,
            magnitude,
            exponent,
        }) = exact(h)
        else {
            let nan = bits & 0x7FFF > H::INFINITY;
            assert_eq!(
                (Float::is_nan(h), Float::is_inf(h)),
                (nan.into(), (!nan).into())
            );
            assert_eq!((h.single().is_nan(), h.single().is_infinite()), (nan, !nan));
            assert_eq!(h.single().is_sign_negative(), bits >> 15 != 0);
            let back = H::round(h.wide());
            assert!(back.bits() == bits || nan && Float::is_nan(back) == 1);
            continue;
        };
        let wide = magnitude as f64 * 2f64.powi(exponent);
        let wide = if negative { -wide } else { wide };
        assert_eq!(h.wide().to_bits(), wide.to_bits());
        assert_eq!(f64::from(h.single()).to_bits(), wide.to_bits());
        assert_eq!(H::round(wide).bits(), bits);
        assert_eq!((Float::is_nan(h), Float::is_inf(h)), (0, 0));
    }
}

#[test]
fn every_value_is_kept() {
    round_trips::<f16>();
    round_trips::<bf16>();
}

fn between<H: Tested>() {
    // Around the middle of every two neighbours, by one unit of f64.
    for bits in (0..H::INFINITY).step_by(if H::FIELD == 7 { 1 } else { 3 }) {
        let low = exact(H::of(bits)).unwrap();
        let middle = (2 * low.magnitude + 1) as f64 * 2f64.powi(low.exponent - 1);
        let even = bits + (bits & 1);
        assert_eq!(H::round(middle).bits(), even);
        assert_eq!(H::round(middle.next_down()).bits(), bits);
        assert_eq!(H::round(middle.next_up()).bits(), bits + 1);
        assert_eq!(H::round(-middle.next_up()).bits(), (bits + 1) | 0x8000);
    }
    assert_eq!(H::round(f64::INFINITY).bits(), H::INFINITY);
    assert_eq!(H::round(f64::MAX).bits(), H::INFINITY);
    assert_eq!(H::round(-f64::from_bits(1)).bits(), 0x8000);
    assert_eq!(
        Float::is_nan(H::round(f64::from_bits(0xFFF0_0000_0000_0001))),
        1
    );
}

#[test]
fn f64_is_rounded_once() {
    between::<f16>();
    between::<bf16>();
    // Through f32 this would be halfway.
    assert_eq!(
        f16::round(1.0 + 2f64.powi(-11) + 2f64.powi(-40)).to_bits(),
        0x3C01
    );
    assert_eq!(
        bf16::round(1.0 + 2f64.powi(-8) + 2f64.powi(-40)).to_bits(),
        0x3F81
    );
}

fn integers<H: Tested>()
where
    i64: To<H>,
    u64: To<H>,
    i32: To<H>,
    u16: To<H>,
    i8: To<H>,
{
    let magnitude = |negative, magnitude: u64| Exact {
        negative,
        magnitude: magnitude.into(),
        exponent: 0,
    };
    let mut tried = vec![];
    for bit in 0..64 {
        let power = 1u64 << bit;
        for other in 0..=bit {
            let both = power | 1 << other;
            tried.extend([both, both - 1, both | 1, power | ((1 << other) - 1)]);
        }
    }
    for &v in &tried {
        assert_eq!(
            To::<H>::to(v).bits(),
            nearest_to::<H>(magnitude(false, v), false),
            "{v}"
        );
        let signed = v.cast_signed();
        let expected = nearest_to::<H>(magnitude(signed < 0, signed.unsigned_abs()), false);
        assert_eq!(To::<H>::to(signed).bits(), expected, "{signed}");
        let narrow = signed as i32;
        let expected = nearest_to::<H>(magnitude(narrow < 0, narrow.unsigned_abs().into()), false);
        assert_eq!(To::<H>::to(narrow).bits(), expected, "{narrow}");
        let short = v as u16;
        let expected = nearest_to::<H>(magnitude(false, short.into()), false);
        assert_eq!(To::<H>::to(short).bits(), expected, "{short}");
        let byte = v as i8;
        let expected = nearest_to::<H>(magnitude(byte < 0, byte.unsigned_abs().into()), false);
        assert_eq!(To::<H>::to(byte).bits(), expected, "{byte}");
    }
}

#[test]
fn integers_are_rounded_once() {
    integers::<f16>();
    integers::<bf16>();
    // Through f64 this would be halfway.
    let above_half = (1i64 << 62) + (1 << 54) + 1;
    assert_eq!(To::<bf16>::to(above_half).to_bits(), 0x5E81);
    assert_eq!(To::<bf16>::to(-above_half).to_bits(), 0xDE81);
    assert_eq!(To::<f16>::to(65_519u32).to_bits(), 0x7BFF);
    assert_eq!(To::<f16>::to(65_520u32).to_bits(), 0x7C00);
}

#[test]
fn to_integers_truncates_and_saturates() {
    let f = f16::from_bits;
    assert_eq!(
        [0x7E00, 0x7C00, 0xFC00, 0xBFFF].map(|b| To::<i8>::to(f(b))),
        [0, 127, -128, -1]
    );
    assert_eq!(
        [0xFE00, 0x7BFF, 0xBC00, 0x5BF9].map(|b| To::<u8>::to(f(b))),
        [0, 255, 0, 255]
    );
    assert_eq!(
        [0x7C00, 0x7BFF, 0x8000].map(|b| To::<u16>::to(f(b))),
        [65_535, 65_504, 0]
    );
    assert_eq!(To::<i64>::to(f(0xFBFF)), -65_504);
    let b = bf16::from_bits;
    assert_eq!(
        [0x7FC0, 0x7F80, 0xFF80, 0x4EFF].map(|v| To::<i32>::to(b(v))),
        [0, i32::MAX, i32::MIN, 2_139_095_040]
    );
    assert_eq!(To::<u64>::to(b(0x7F7F)), u64::MAX);
    assert_eq!(To::<f16>::to(b(0x7F7F)).to_bits(), 0x7C00);
    assert_eq!(To::<bf16>::to(f(0x3FFF)).to_bits(), 0x4000);
    assert_eq!(To::<bf16>::to(f(1)).to_bits(), 0x3380);
    assert_eq!(To::<f32>::to(f(1)), 2f32.powi(-24));
}

#[test]
fn products_of_small_numbers_stay() {
    let (a, b) = (f16::from_bits(0x8560), f16::from_bits(0x399A));
    assert_eq!(Number::mul(a, b).to_bits(), 0x83C3);
    let least = bf16::from_bits(1);
    assert_eq!(Number::add(least, least).to_bits(), 2);
}

#[test]
fn fma_sees_what_no_f64_holds() {
    // The products lie halfway between two bf16; a summand 130 binary places below decides.
    for (x, y, below, above) in [
        (0x3F81, 0x3FC0, 0x3FC1, 0x3FC2),
        (0x3F83, 0x3FC0, 0x3FC4, 0x3FC5),
    ] {
        let (x, y) = (bf16::from_bits(x), bf16::from_bits(y));
        let halfway = (bf16::from_bits(below).wide() + bf16::from_bits(above).wide()) / 2.0;
        assert_eq!(x.wide() * y.wide(), halfway);
        let (little, less) = (bf16::from_bits(1), bf16::from_bits(0x8001));
        assert_eq!(Float::fma(x, y, little).to_bits(), above);
        assert_eq!(Float::fma(x, y, less).to_bits(), below);
        assert_eq!(
            Float::fma(Number::neg(x), y, little).to_bits(),
            below | 0x8000
        );
        assert_eq!(
            Float::fma(Number::neg(x), y, less).to_bits(),
            above | 0x8000
        );
    }
    let greatest = bf16::from_bits(0x7F7F);
    assert_eq!(
        Float::fma(greatest, greatest, Number::neg(bf16::INFINITY)),
        bf16::NEG_INFINITY
    );
    assert_eq!(
        Float::is_nan(Float::fma(bf16::INFINITY, greatest, bf16::NEG_INFINITY)),
        1
    );
}

fn order<H: Tested>() {
    let nan = H::of(H::INFINITY | 1);
    let (zero, minus) = (H::of(0), H::of(0x8000));
    for &a in &samples::<H>(60) {
        assert_eq!(Number::min(a, nan).bits(), a.bits());
        assert_eq!(Number::max(nan, a).bits(), a.bits());
        assert_eq!(Float::is_nan(Float::min_nan(a, nan)), 1);
        assert_eq!(Float::is_nan(Float::max_nan(nan, a)), 1);
        for &b in &samples::<H>(60) {
            let (low, high) = if a.wide() < b.wide() { (a, b) } else { (b, a) };
            if a.wide() != b.wide() {
                assert_eq!(Number::min(a, b).bits(), low.bits());
                assert_eq!(Number::max(a, b).bits(), high.bits());
                assert_eq!(Float::min_nan(a, b).bits(), low.bits());
                assert_eq!(Float::max_nan(a, b).bits(), high.bits());
            }
            assert_eq!(
                Float::copysign(a, b).bits(),
                a.bits() & 0x7FFF | b.bits() & 0x8000
            );
        }
        assert_eq!(Number::neg(a).bits(), a.bits() ^ 0x8000);
        assert_eq!(Number::abs(a).bits(), a.bits() & 0x7FFF);
        for (got, expected) in [
            (Float::floor(a), a.wide().floor()),
            (Float::ceil(a), a.wide().ceil()),
            (Float::trunc(a), a.wide().trunc()),
            (Float::round_even(a), a.wide().round_ties_even()),
        ] {
            assert_eq!(got.wide().to_bits(), expected.to_bits(), "{a:?}");
        }
    }
    for (a, b) in [(zero, minus), (minus, zero)] {
        assert_eq!(Number::min(a, b).bits(), 0x8000);
        assert_eq!(Number::max(a, b).bits(), 0);
        assert_eq!(Float::min_nan(a, b).bits(), 0x8000);
        assert_eq!(Float::max_nan(a, b).bits(), 0);
    }
    assert_eq!(Float::copysign(nan, minus).bits(), H::INFINITY | 0x8001);
    assert_eq!(Float::rcp(minus).bits(), H::INFINITY | 0x8000);
    assert_eq!(Float::is_nan(Float::sqrt(H::round(-1.0))), 1);
    assert_eq!(Float::fract(H::round(-1.25)).wide(), 0.75);
    assert_eq!(Float::fract(H::of(0x8001)).wide(), 1.0);
    assert_eq!(Float::fract(minus).bits(), 0);
    assert_eq!(
        Float::is_nan(Number::rem(H::of(H::INFINITY), H::round(2.0))),
        1
    );
    assert_eq!(Float::is_nan(Number::rem(H::round(2.0), zero)), 1);
    assert_eq!(Number::rem(H::round(2.0), H::of(H::INFINITY)).wide(), 2.0);
    assert_eq!(Number::rem(H::round(-2.0), H::round(1.0)).bits(), 0x8000);
}

#[test]
fn order_signs_and_integers() {
    order::<f16>();
    order::<bf16>();
}
