//! Which loop over lanes carries out a pure opcode on a type.

use super::lanes::{self, Pure, Slots};
use super::ops::convert::{To, half_to_bool, to_bool};
use super::program::{Width, by_width};
use crate::types::Type;
use bytemuck::Pod;
use half::{bf16, f16};

/// Chooses by type: `over!(ty; binary Number::add: I32 i32, F32 f32)` is the loop, or `None` for other types.
macro_rules! over {
    ($ty:expr; $shape:ident $family:ident::$f:ident: $($name:ident $t:ty),*) => {{
        let chosen: Option<Pure> = match $ty {
            $(Type::$name => Some(|regs, slots, n| lanes::$shape(regs, slots, n, <$t as $family>::$f)),)*
            _ => None,
        };
        chosen
    }};
}

/// On integers.
macro_rules! ints {
    ($ty:expr; $shape:ident $family:ident::$f:ident) => {
        over!($ty; $shape $family::$f: I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
}

/// On floats.
macro_rules! floats {
    ($ty:expr; $shape:ident $family:ident::$f:ident) => {
        over!($ty; $shape $family::$f: F16 half::f16, BF16 half::bf16, F32 f32, F64 f64)
    };
}

/// On integers and floats.
macro_rules! numbers {
    ($ty:expr; $shape:ident $family:ident::$f:ident) => {
        over!($ty; $shape $family::$f: I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 half::f16, BF16 half::bf16, F32 f32, F64 f64)
    };
}

/// On integers, and on bools as the integers that stand for them.
macro_rules! logic {
    ($ty:expr; $shape:ident $family:ident::$f:ident) => {
        over!($ty; $shape $family::$f: I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, BOOL u32)
    };
}

/// A comparison.
macro_rules! comparison {
    ($ty:expr; $f:ident) => {{
        use $crate::reference::ops::compare::$f;
        use $crate::reference::ops::half::Half;
        let chosen: Option<Pure> = match $ty {
            Type::I8 => Some(|r, s, n| lanes::binary(r, s, n, $f::<i8>)),
            Type::I16 => Some(|r, s, n| lanes::binary(r, s, n, $f::<i16>)),
            Type::I32 => Some(|r, s, n| lanes::binary(r, s, n, $f::<i32>)),
            Type::I64 => Some(|r, s, n| lanes::binary(r, s, n, $f::<i64>)),
            Type::U8 => Some(|r, s, n| lanes::binary(r, s, n, $f::<u8>)),
            Type::U16 => Some(|r, s, n| lanes::binary(r, s, n, $f::<u16>)),
            Type::U32 | Type::BOOL => Some(|r, s, n| lanes::binary(r, s, n, $f::<u32>)),
            Type::U64 => Some(|r, s, n| lanes::binary(r, s, n, $f::<u64>)),
            Type::F16 => Some(|r, s, n| {
                lanes::binary(r, s, n, |a: half::f16, b: half::f16| {
                    $f(a.single(), b.single())
                })
            }),
            Type::BF16 => Some(|r, s, n| {
                lanes::binary(r, s, n, |a: half::bf16, b: half::bf16| {
                    $f(a.single(), b.single())
                })
            }),
            Type::F32 => Some(|r, s, n| lanes::binary(r, s, n, $f::<f32>)),
            Type::F64 => Some(|r, s, n| lanes::binary(r, s, n, $f::<f64>)),
            _ => None,
        };
        chosen
    }};
}

pub(super) use {comparison, floats, ints, logic, numbers, over};

/// A copy of a scalar's register, bit for bit.
pub(super) fn copy(regs: &mut [u64], s: &Slots, n: usize) {
    regs.copy_within(s.a as usize..s.a as usize + n, s.d as usize);
}

/// A bool's negation.
pub(super) fn not_bool(regs: &mut [u64], s: &Slots, n: usize) {
    lanes::unary(regs, s, n, |a: u32| a ^ 1);
}

/// The selection of values of a type: bits alone count.
pub(super) fn select(ty: Type) -> Option<Pure> {
    use super::ops::compare::select;
    Some(by_width!(Width::of(ty)?, T => |r, s, n| {
        lanes::ternary(r, s, n, select::<T>);
    }))
}

/// The conversion between two types.
pub(super) fn convert(from: Type, to: Type) -> Option<Pure> {
    fn between<A: To<B>, B: Pod>() -> Option<Pure> {
        Some(|r, s, n| lanes::unary(r, s, n, <A as To<B>>::to))
    }
    /// Chooses the loop to a type other than bool.
    macro_rules! number {
        ($from:ident) => {
            match to {
                Type::I8 => between::<$from, i8>(),
                Type::I16 => between::<$from, i16>(),
                Type::I32 => between::<$from, i32>(),
                Type::I64 => between::<$from, i64>(),
                Type::U8 => between::<$from, u8>(),
                Type::U16 => between::<$from, u16>(),
                Type::U32 => between::<$from, u32>(),
                Type::U64 => between::<$from, u64>(),
                Type::F16 => between::<$from, f16>(),
                Type::BF16 => between::<$from, bf16>(),
                Type::F32 => between::<$from, f32>(),
                Type::F64 => between::<$from, f64>(),
                _ => None,
            }
        };
    }
    if to == Type::BOOL {
        return match from {
            Type::BOOL => Some(copy),
            Type::I8 | Type::U8 => Some(|r, s, n| lanes::unary(r, s, n, to_bool::<u8>)),
            Type::I16 | Type::U16 => Some(|r, s, n| lanes::unary(r, s, n, to_bool::<u16>)),
            Type::I32 | Type::U32 => Some(|r, s, n| lanes::unary(r, s, n, to_bool::<u32>)),
            Type::I64 | Type::U64 => Some(|r, s, n| lanes::unary(r, s, n, to_bool::<u64>)),
            Type::F16 => Some(|r, s, n| lanes::unary(r, s, n, half_to_bool::<f16>)),
            Type::BF16 => Some(|r, s, n| lanes::unary(r, s, n, half_to_bool::<bf16>)),
            Type::F32 => Some(|r, s, n| lanes::unary(r, s, n, to_bool::<f32>)),
            Type::F64 => Some(|r, s, n| lanes::unary(r, s, n, to_bool::<f64>)),
            _ => None,
        };
    }
    match from {
        // 0 or 1, as any number.
        Type::BOOL => number!(u32),
        Type::I8 => number!(i8),
        Type::I16 => number!(i16),
        Type::I32 => number!(i32),
        Type::I64 => number!(i64),
        Type::U8 => number!(u8),
        Type::U16 => number!(u16),
        Type::U32 => number!(u32),
        Type::U64 => number!(u64),
        Type::F16 => number!(f16),
        Type::BF16 => number!(bf16),
        Type::F32 => number!(f32),
        Type::F64 => number!(f64),
        _ => None,
    }
}

/// Two 16-bit floats in a word.
pub(super) fn pack(ty: Type) -> Option<Pure> {
    matches!(ty, Type::F16 | Type::BF16).then_some(|r, s, n| {
        lanes::binary(r, s, n, |low: u16, high: u16| {
            u32::from(low) | u32::from(high) << 16
        });
    })
}

/// One of them.
pub(super) fn unpack(ty: Type, high: bool) -> Option<Pure> {
    let chosen: Pure = if high {
        |r, s, n| lanes::unary(r, s, n, |a: u32| (a >> 16) as u16)
    } else {
        // Cut to the low half.
        |r, s, n| lanes::unary(r, s, n, |a: u32| a as u16)
    };
    matches!(ty, Type::F16 | Type::BF16).then_some(chosen)
}

/// The vector of 2 or 4 scalars.
pub(super) fn construct(ty: Type) -> Option<Pure> {
    fn of<T: Pod>(count: u32) -> Option<Pure>
    where
        [T; 2]: Pod,
        [T; 4]: Pod,
    {
        match count {
            2 => Some(|r, s, n| lanes::binary(r, s, n, |a: T, b: T| [a, b])),
            4 => Some(|r, s, n| lanes::quaternary(r, s, n, |a: T, b: T, c: T, d: T| [a, b, c, d])),
            _ => None,
        }
    }
    match ty.scalar()?.bytes() {
        1 => of::<u8>(ty.lanes()),
        2 => of::<u16>(ty.lanes()),
        4 => of::<u32>(ty.lanes()),
        8 => of::<u64>(ty.lanes()),
        _ => None,
    }
}

/// An element of a vector of type `ty`.
pub(super) fn extract(ty: Type, lane: u8) -> Option<Pure> {
    fn of<T: Pod>(count: u32, lane: u8) -> Option<Pure>
    where
        [T; 2]: Pod,
        [T; 4]: Pod,
    {
        match (count, lane) {
            (2, 0) => Some(|r, s, n| lanes::unary(r, s, n, |[a, _]: [T; 2]| a)),
            (2, 1) => Some(|r, s, n| lanes::unary(r, s, n, |[_, b]: [T; 2]| b)),
            (4, 0) => Some(|r, s, n| lanes::unary(r, s, n, |[a, ..]: [T; 4]| a)),
            (4, 1) => Some(|r, s, n| lanes::unary(r, s, n, |[_, b, ..]: [T; 4]| b)),
            (4, 2) => Some(|r, s, n| lanes::unary(r, s, n, |[.., c, _]: [T; 4]| c)),
            (4, 3) => Some(|r, s, n| lanes::unary(r, s, n, |[.., d]: [T; 4]| d)),
            _ => None,
        }
    }
    match ty.scalar()?.bytes() {
        1 => of::<u8>(ty.lanes(), lane),
        2 => of::<u16>(ty.lanes(), lane),
        4 => of::<u32>(ty.lanes(), lane),
        8 => of::<u64>(ty.lanes(), lane),
        _ => None,
    }
}
