//! Floats: IEEE 754, to nearest even, nothing contracted, subnormals kept.

use super::Number;

/// What only floats have.
pub(in crate::reference) trait Float: Number {
    /// One rounding.
    fn fma(self, b: Self, c: Self) -> Self;
    fn min_nan(self, b: Self) -> Self;
    fn max_nan(self, b: Self) -> Self;
    fn sqrt(self) -> Self;
    fn rcp(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_even(self) -> Self;
    /// `self - floor(self)`.
    #[inline(always)]
    fn fract(self) -> Self {
        Number::sub(self, Float::floor(self))
    }
    fn copysign(self, b: Self) -> Self;
    fn is_nan(self) -> u32;
    fn is_inf(self) -> u32;
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn add(self, b: $t) -> $t {
                self + b
            }
            #[inline(always)]
            fn sub(self, b: $t) -> $t {
                self - b
            }
            #[inline(always)]
            fn mul(self, b: $t) -> $t {
                self * b
            }
            #[inline(always)]
            fn div(self, b: $t) -> $t {
                self / b
            }
            #[inline(always)]
            fn rem(self, b: $t) -> $t {
                self % b
            }
            #[inline(always)]
            fn neg(self) -> $t {
                -self
            }
            #[inline(always)]
            fn abs(self) -> $t {
                $t::abs(self)
            }
            /// The other operand when one is NaN; -0.0 is less than +0.0. (Rust's `min` leaves the order of zeros open.)
            #[inline(always)]
            fn min(self, b: $t) -> $t {
                // Equal operands differ in the sign of zero at most.
                let equal = $t::from_bits(self.to_bits() | b.to_bits());
                let ordered = if self < b { self } else if b < self { b } else { equal };
                if self.is_nan() { b } else if b.is_nan() { self } else { ordered }
            }
            #[inline(always)]
            fn max(self, b: $t) -> $t {
                let equal = $t::from_bits(self.to_bits() & b.to_bits());
                let ordered = if self > b { self } else if b > self { b } else { equal };
                if self.is_nan() { b } else if b.is_nan() { self } else { ordered }
            }
        }

        impl Float for $t {
            #[inline(always)]
            fn fma(self, b: $t, c: $t) -> $t {
                $t::mul_add(self, b, c)
            }
            #[inline(always)]
            fn min_nan(self, b: $t) -> $t {
                if self.is_nan() || b.is_nan() { $t::NAN } else { Number::min(self, b) }
            }
            #[inline(always)]
            fn max_nan(self, b: $t) -> $t {
                if self.is_nan() || b.is_nan() { $t::NAN } else { Number::max(self, b) }
            }
            #[inline(always)]
            fn sqrt(self) -> $t {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn rcp(self) -> $t {
                1.0 / self
            }
            #[inline(always)]
            fn floor(self) -> $t {
                $t::floor(self)
            }
            #[inline(always)]
            fn ceil(self) -> $t {
                $t::ceil(self)
            }
            #[inline(always)]
            fn trunc(self) -> $t {
                $t::trunc(self)
            }
            #[inline(always)]
            fn round_even(self) -> $t {
                $t::round_ties_even(self)
            }
            #[inline(always)]
            fn copysign(self, b: $t) -> $t {
                $t::copysign(self, b)
            }
            #[inline(always)]
            fn is_nan(self) -> u32 {
                u32::from($t::is_nan(self))
            }
            #[inline(always)]
            fn is_inf(self) -> u32 {
                u32::from($t::is_infinite(self))
            }
        }
    )*};
}
floats! { f32 f64 }

#[cfg(test)]
mod unit {
    use super::*;
    use core::hint::black_box;

    fn f(bits: u32) -> f32 {
        black_box(f32::from_bits(bits))
    }

    #[test]
    fn two_roundings_are_two_and_fma_is_one() {
        let (a, c) = (f(0x3F80_0800), f(0xBF80_1000));
        assert_eq!(Number::add(Number::mul(a, a), c).to_bits(), 0);
        assert_eq!(Number::mul_add(a, a, c).to_bits(), 0);
        assert_eq!(Float::fma(a, a, c).to_bits(), 0x3380_0000);
    }

    #[test]
    fn subnormals_are_kept() {
        assert_eq!(Number::add(f(1), f(1)).to_bits(), 2);
        assert_eq!(
            Number::add(f(0x8000_0001), f(0x8000_0001)).to_bits(),
            0x8000_0002
        );
        assert_eq!(Number::mul(f(0x000A_E398), 2.0).to_bits(), 0x0015_C730);
        assert_eq!(Number::mul(f64::from_bits(2), 0.5).to_bits(), 1);
    }

    #[test]
    fn min_and_max_give_the_other_operand_of_a_nan() {
        let nan = f(0x7FC0_0000);
        let signalling = f(0x7F80_0001);
        let pairs = [(1.0, 2.0), (nan, 2.0), (1.0, nan), (signalling, 1.0)];
        assert_eq!(pairs.map(|(a, b)| Number::max(a, b)), [2.0, 2.0, 1.0, 1.0]);
        assert_eq!(pairs.map(|(a, b)| Number::min(a, b)), [1.0, 2.0, 1.0, 1.0]);
        assert!(Number::max(nan, nan).is_nan());
        assert!(Number::min(nan, signalling).is_nan());
        assert_eq!(Number::max(f64::NAN, 2.0), 2.0);
    }

    #[test]
    fn min_and_max_order_zeros() {
        for (a, b) in [(-0.0f32, 0.0f32), (0.0, -0.0)] {
            assert_eq!(Number::min(a, b).to_bits(), 0x8000_0000);
            assert_eq!(Number::max(a, b).to_bits(), 0);
            assert_eq!(Float::min_nan(a, b).to_bits(), 0x8000_0000);
            assert_eq!(Float::max_nan(a, b).to_bits(), 0);
            let (a, b) = (f64::from(a), f64::from(b));
            assert_eq!(Number::min(a, b).to_bits(), 1 << 63);
            assert_eq!(Number::max(a, b).to_bits(), 0);
        }
        assert_eq!(Number::min(-3.0f32, -3.0), -3.0);
        assert_eq!(Number::max(-f32::INFINITY, f32::INFINITY), f32::INFINITY);
    }

    #[test]
    fn min_nan_and_max_nan_pass_nans_on() {
        for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, f32::NAN)] {
            assert!(Float::min_nan(a, b).is_nan());
            assert!(Float::max_nan(a, b).is_nan());
        }
        assert_eq!(Float::min_nan(1.0f64, 2.0), 1.0);
        assert_eq!(Float::max_nan(1.0f64, 2.0), 2.0);
    }

    #[test]
    fn clamp_of_a_nan_is_the_lower_end() {
        assert_eq!(Number::clamp(f32::NAN, 1.0, 2.0), 1.0);
        assert_eq!(Number::clamp(f32::NAN, 3.0, 2.0), 2.0);
        assert_eq!(Number::clamp(5.0f32, f32::NAN, 2.0), 2.0);
        assert_eq!(Number::clamp(-0.0f32, 0.0, 1.0).to_bits(), 0);
    }

    #[test]
    fn zeros_keep_their_signs() {
        assert_eq!(Number::neg(black_box(0.0f32)).to_bits(), 0x8000_0000);
        assert_eq!(Number::sub(black_box(0.0f32), 0.0).to_bits(), 0);
        assert_eq!(Number::div(1.0f32, black_box(-0.0)).to_bits(), 0xFF80_0000);
        assert_eq!(Number::abs(-0.0f64).to_bits(), 0);
        assert_eq!(Float::sqrt(-0.0f32).to_bits(), 0x8000_0000);
        assert_eq!(Float::rcp(-0.0f64), f64::NEG_INFINITY);
        assert_eq!(Float::floor(-0.0f32).to_bits(), 0x8000_0000);
        assert_eq!(Float::ceil(-0.5f32).to_bits(), 0x8000_0000);
        assert_eq!(Float::trunc(-0.5f32).to_bits(), 0x8000_0000);
        assert_eq!(Float::round_even(-0.5f32).to_bits(), 0x8000_0000);
    }

    #[test]
    fn division_is_exact_where_it_can_be() {
        assert_eq!(Number::div(1.0f32, black_box(0.0)).to_bits(), 0x7F80_0000);
        assert_eq!(Number::div(-1.0f32, black_box(0.0)).to_bits(), 0xFF80_0000);
        assert!(Number::div(0.0f32, black_box(0.0)).is_nan());
        for t in 1..=1024u16 {
            let t = f32::from(t);
            assert_eq!(Float::trunc(Number::div(t, black_box(t))), 1.0);
        }
    }

    #[test]
    fn halves_round_to_even() {
        for (a, b) in [
            (2.5, 2.0),
            (3.5, 4.0),
            (-2.5, -2.0),
            (0.5, 0.0),
            (-2.7, -3.0),
        ] {
            assert_eq!(Float::round_even(a), b);
            assert_eq!(Float::round_even(a as f32), b as f32);
        }
        assert_eq!(Float::floor(-2.7f32), -3.0);
        assert_eq!(Float::ceil(f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert_eq!(Float::round_even(f(0x4B00_0001)), 8_388_609.0);
    }
}
