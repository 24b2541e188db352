//! Integers wrap; division is total, as WGSL defines it.

use super::Number;

/// What only integers have.
pub(in crate::reference) trait Int: Number {
    fn mul_hi(self, b: Self) -> Self;
    fn rem(self, b: Self) -> Self;
}

macro_rules! ints {
    ($($t:ident: $wide:ident $abs:expr;)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn add(self, b: $t) -> $t {
                self.wrapping_add(b)
            }
            #[inline(always)]
            fn sub(self, b: $t) -> $t {
                self.wrapping_sub(b)
            }
            #[inline(always)]
            fn mul(self, b: $t) -> $t {
                self.wrapping_mul(b)
            }
            /// `x / 0 = x`, `MIN / -1 = MIN`.
            #[inline(always)]
            fn div(self, b: $t) -> $t {
                if b == 0 { self } else { self.wrapping_div(b) }
            }
            #[inline(always)]
            fn neg(self) -> $t {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn abs(self) -> $t {
                let abs: fn($t) -> $t = $abs;
                abs(self)
            }
            #[inline(always)]
            fn min(self, b: $t) -> $t {
                Ord::min(self, b)
            }
            #[inline(always)]
            fn max(self, b: $t) -> $t {
                Ord::max(self, b)
            }
        }

        impl Int for $t {
            #[inline(always)]
            fn mul_hi(self, b: $t) -> $t {
                // The upper half fits by construction.
                ((self as $wide * b as $wide) >> $t::BITS) as $t
            }
            /// `x % 0 = 0`, `MIN % -1 = 0`.
            #[inline(always)]
            fn rem(self, b: $t) -> $t {
                if b == 0 { 0 } else { self.wrapping_rem(b) }
            }
        }
    )*};
}
ints! {
    i8: i16 i8::wrapping_abs;
    i16: i32 i16::wrapping_abs;
    i32: i64 i32::wrapping_abs;
    i64: i128 i64::wrapping_abs;
    u8: u16 |a| a;
    u16: u32 |a| a;
    u32: u64 |a| a;
    u64: u128 |a| a;
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn division_is_total() {
        assert_eq!(Number::div(7u32, 0), 7);
        assert_eq!(Int::rem(7u32, 0), 0);
        assert_eq!(Number::div(-7i32, 0), -7);
        assert_eq!(Int::rem(-7i32, 0), 0);
        assert_eq!(Number::div(i32::MIN, -1), i32::MIN);
        assert_eq!(Int::rem(i32::MIN, -1), 0);
        assert_eq!(Number::div(i64::MIN, -1), i64::MIN);
        assert_eq!(Int::rem(i64::MIN, -1), 0);
        assert_eq!(Int::rem(i64::MAX, 0), 0);
        assert_eq!(Number::div(u64::MAX, 0), u64::MAX);
        assert_eq!(Number::div(i8::MIN, -1), i8::MIN);
    }

    #[test]
    fn division_rounds_towards_zero_and_remainders_take_the_sign_of_the_dividend() {
        for (a, b, q, r) in [
            (7, 2, 3, 1),
            (-7, 2, -3, -1),
            (7, -2, -3, 1),
            (-7, -2, 3, -1),
        ] {
            assert_eq!((Number::div(a, b), Int::rem(a, b)), (q, r));
        }
    }

    #[test]
    fn the_rest_wraps() {
        assert_eq!(Number::add(u32::MAX, 1), 0);
        assert_eq!(Number::sub(i32::MIN, 1), i32::MAX);
        assert_eq!(Number::mul(0x8000_0001u32, 2), 2);
        assert_eq!(Number::neg(i32::MIN), i32::MIN);
        assert_eq!(Number::neg(1u64), u64::MAX);
        assert_eq!(Number::abs(i64::MIN), i64::MIN);
        assert_eq!(Number::abs(-5i32), 5);
        assert_eq!(Number::abs(u32::MAX), u32::MAX);
        assert_eq!(Number::mul_add(0x1_0000u32, 0x1_0000, 7), 7);
    }

    #[test]
    fn the_high_half_is_signed_by_the_type() {
        assert_eq!(Int::mul_hi(u32::MAX, u32::MAX), 0xFFFF_FFFE);
        assert_eq!(Int::mul_hi(-1i32, -1), 0);
        assert_eq!(Int::mul_hi(-1i32, 1), -1);
        assert_eq!(Int::mul_hi(i64::MIN, i64::MIN), 1 << 62);
        assert_eq!(Int::mul_hi(u64::MAX, u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn clamp_prefers_its_upper_end() {
        assert_eq!(Number::clamp(5i32, -1, 3), 3);
        assert_eq!(Number::clamp(-5i32, -1, 3), -1);
        assert_eq!(Number::clamp(0i32, 4, 2), 2);
        assert_eq!(Number::min(-1i32, 1), -1);
        assert_eq!(Number::min(u32::MAX, 1), 1);
    }

    #[test]
    fn small_integers_add_up_as_in_rust() {
        // A sum of i8 values, each widened by its sign first.
        let sum = [-89i8, -15, -39, 42]
            .into_iter()
            .fold(0i32, |sum, v| Number::add(sum, i32::from(v)));
        assert_eq!(sum, -101);
    }
}
