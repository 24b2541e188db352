//! Numeric conversions, defined for every input.
//!
//! They are Rust's `as`: integers keep the low bits and extend by the source's sign; to a float they round to nearest
//! even; from a float they truncate, saturate and map NaN to 0. Where a 16-bit float is on either side they round once
//! too.

use super::half::{Half, odd_integer};
use bytemuck::Pod;
use half::{bf16, f16};

/// From one type of a register to another. A bool is a `u32` of 0 or 1; to bool there is
/// [`to_bool`].
pub(in crate::reference) trait To<T>: Pod {
    fn to(self) -> T;
}

macro_rules! each {
    ($($from:ident)*: $to:tt) => {
        $(each! { @ $from: $to })*
    };
    (@ $from:ident: [$($to:ident)*]) => {$(
        impl To<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to {
                self as $to
            }
        }
    )*};
}
each! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64: [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64] }

/// From and to the 16-bit floats.
macro_rules! halves {
    ($half:ident $other:ident: [$($to:ident)*] [$($narrow:ident)*] [$($signed:ident)*] [$($unsigned:ident)*]) => {
        $(impl To<$to> for $half {
            /// All of its values are values of f32.
            #[inline(always)]
            fn to(self) -> $to {
                self.single() as $to
            }
        })*
        $(impl To<$half> for $narrow {
            /// All of its values are values of f64.
            #[inline(always)]
            fn to(self) -> $half {
                Half::round(f64::from(self))
            }
        })*
        $(impl To<$half> for $signed {
            #[inline(always)]
            fn to(self) -> $half {
                let magnitude = odd_integer(self.unsigned_abs());
                Half::round(if self < 0 { -magnitude } else { magnitude })
            }
        })*
        $(impl To<$half> for $unsigned {
            #[inline(always)]
            fn to(self) -> $half {
                Half::round(odd_integer(self))
            }
        })*
        impl To<$half> for $half {
            #[inline(always)]
            fn to(self) -> $half {
                self
            }
        }
        impl To<$other> for $half {
            #[inline(always)]
            fn to(self) -> $other {
                Half::round(self.wide())
            }
        }
    };
}
halves! { f16 bf16: [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64] [i8 i16 i32 u8 u16 u32 f32 f64] [i64] [u64] }
halves! { bf16 f16: [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64] [i8 i16 i32 u8 u16 u32 f32 f64] [i64] [u64] }

/// As [`to_bool`] of a 16-bit float.
#[inline(always)]
pub(in crate::reference) fn half_to_bool<T: Half>(a: T) -> u32 {
    to_bool(a.single())
}

/// Whether it is anything but zero; a NaN is.
#[inline(always)]
pub(in crate::reference) fn to_bool<T: Pod + PartialEq>(a: T) -> u32 {
    u32::from(a != T::zeroed())
}

#[cfg(test)]
mod unit {
    use super::*;

    fn to<A: To<B>, B>(a: A) -> B {
        a.to()
    }

    #[test]
    fn floats_saturate_and_nan_is_zero() {
        assert_eq!(
            [-1.0f32, 5e9, f32::NAN].map(to::<f32, u32>),
            [0, u32::MAX, 0]
        );
        assert_eq!(
            [f32::NAN, 3e9, -3e9, -2.7].map(to::<f32, i32>),
            [0, i32::MAX, i32::MIN, -2]
        );
        assert_eq!(
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(to::<f32, u64>),
            [0, u64::MAX, 0]
        );
        assert_eq!(
            [f64::NAN, 1e300, -1e300].map(to::<f64, i64>),
            [0, i64::MAX, i64::MIN]
        );
        assert_eq!(to::<f64, i32>(f64::NAN), 0);
        assert_eq!(to::<f64, i32>(-2147483648.9), i32::MIN);
        assert_eq!(to::<f32, u32>(4294967040.0), 0xFFFF_FF00);
    }

    #[test]
    fn to_floats_rounds_to_nearest_even() {
        assert_eq!(to::<u32, f32>(16_777_217).to_bits(), 0x4B80_0000);
        assert_eq!(to::<u32, f32>(16_777_219).to_bits(), 0x4B80_0002);
        assert_eq!(to::<i32, f32>(-16_777_217).to_bits(), 0xCB80_0000);
        assert_eq!(to::<u64, f32>(u64::MAX).to_bits(), 0x5F80_0000);
        // The halfway point seen only in one rounding: through f64 it would be rounded twice.
        assert_eq!(to::<u64, f32>(0x0100_0001_0000_0001).to_bits(), 0x5B80_0001);
        assert_eq!(to::<i64, f64>(0x20_0000_0000_0001), 9_007_199_254_740_992.0);
        assert_eq!(to::<f64, f32>(f64::from_bits(1)).to_bits(), 0);
        assert_eq!(to::<f64, f32>(-1e-50).to_bits(), 0x8000_0000);
        assert_eq!(to::<f64, f32>(1.0 + 2f64.powi(-24)).to_bits(), 0x3F80_0000);
        assert_eq!(to::<f64, f32>(1e300), f32::INFINITY);
        assert_eq!(to::<f32, f64>(f32::from_bits(1)), 2f64.powi(-149));
    }

    #[test]
    fn integers_extend_by_the_sign_of_the_source() {
        assert_eq!(to::<i32, i64>(-1), -1);
        assert_eq!(to::<i32, u64>(-1), u64::MAX);
        assert_eq!(to::<u32, i64>(u32::MAX), 0xFFFF_FFFF);
        assert_eq!(to::<i64, u32>(-1), u32::MAX);
        assert_eq!(to::<u64, i32>(0x1_8000_0000), i32::MIN);
    }

    #[test]
    fn all_but_zero_is_true() {
        assert_eq!([0.0f32, -0.0, f32::NAN, 1e-45].map(to_bool), [0, 0, 1, 1]);
        assert_eq!([0i64, 1 << 40].map(to_bool), [0, 1]);
        let halves = [0, 0x8000, 0x7E00, 1].map(f16::from_bits);
        assert_eq!(halves.map(half_to_bool), [0, 0, 1, 1]);
    }
}
