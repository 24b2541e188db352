//! Numeric conversions, defined for every input.
//!
//! They are Rust's `as`: integers keep the low bits and extend by the source's sign; to a float they round to nearest
//! even; from a float they truncate, saturate and map NaN to 0.

use bytemuck::Pod;

/// From one type of a register to another. Conversions from and to bool are [`from_bool`] and [`to_bool`].
pub(in crate::reference) trait To<T>: Pod {
    fn to(self) -> T;
}

macro_rules! each {
    ($from:ident: $($to:ident)*) => {$(
        impl To<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to {
                self as $to
            }
        }
    )*};
}
each! { i32: i32 i64 u32 u64 f32 f64 }
each! { i64: i32 i64 u32 u64 f32 f64 }
each! { u32: i32 i64 u32 u64 f32 f64 }
each! { u64: i32 i64 u32 u64 f32 f64 }
each! { f32: i32 i64 u32 u64 f32 f64 }
each! { f64: i32 i64 u32 u64 f32 f64 }

/// 0 or 1 as a number.
#[inline(always)]
pub(in crate::reference) fn from_bool<T>(a: u32) -> T
where
    u32: To<T>,
{
    a.to()
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
    fn bools_are_zero_or_one_and_all_but_zero_is_true() {
        assert_eq!(from_bool::<f32>(1), 1.0);
        assert_eq!(from_bool::<i64>(0), 0);
        assert_eq!([0.0f32, -0.0, f32::NAN, 1e-45].map(to_bool), [0, 0, 1, 1]);
        assert_eq!([0i64, 1 << 40].map(to_bool), [0, 1]);
    }
}
