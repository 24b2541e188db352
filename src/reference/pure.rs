//! Which loop over lanes carries out a pure opcode on a type.

use super::lanes::{self, Pure, Slots};
use super::ops::convert::{To, from_bool, to_bool};
use crate::types::Type;

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
        over!($ty; $shape $family::$f: I32 i32, I64 i64, U32 u32, U64 u64)
    };
}

/// On floats.
macro_rules! floats {
    ($ty:expr; $shape:ident $family:ident::$f:ident) => {
        over!($ty; $shape $family::$f: F32 f32, F64 f64)
    };
}

/// On integers and floats.
macro_rules! numbers {
    ($ty:expr; $shape:ident $family:ident::$f:ident) => {
        over!($ty; $shape $family::$f: I32 i32, I64 i64, U32 u32, U64 u64, F32 f32, F64 f64)
    };
}

/// On integers, and on bools as the integers that stand for them.
macro_rules! logic {
    ($ty:expr; $shape:ident $family:ident::$f:ident) => {
        over!($ty; $shape $family::$f: I32 i32, I64 i64, U32 u32, U64 u64, BOOL u32)
    };
}

/// A comparison.
macro_rules! comparison {
    ($ty:expr; $f:ident) => {{
        use $crate::reference::ops::compare::$f;
        let chosen: Option<Pure> = match $ty {
            Type::I32 => Some(|r, s, n| lanes::binary(r, s, n, $f::<i32>)),
            Type::I64 => Some(|r, s, n| lanes::binary(r, s, n, $f::<i64>)),
            Type::U32 | Type::BOOL => Some(|r, s, n| lanes::binary(r, s, n, $f::<u32>)),
            Type::U64 => Some(|r, s, n| lanes::binary(r, s, n, $f::<u64>)),
            Type::F32 => Some(|r, s, n| lanes::binary(r, s, n, $f::<f32>)),
            Type::F64 => Some(|r, s, n| lanes::binary(r, s, n, $f::<f64>)),
            _ => None,
        };
        chosen
    }};
}

pub(super) use {comparison, floats, ints, logic, numbers, over};

/// A copy of a register, bit for bit.
pub(super) fn copy(regs: &mut [u64], s: &Slots, n: usize) {
    regs.copy_within(s.a as usize..s.a as usize + n, s.d as usize);
}

/// A bool's negation.
pub(super) fn not_bool(regs: &mut [u64], s: &Slots, n: usize) {
    lanes::unary(regs, s, n, |a: u32| a ^ 1);
}

/// The selection of values of 32 bits, bools among them, or 64: bits alone count.
pub(super) fn select(ty: Type) -> Option<Pure> {
    use super::ops::compare::select;
    match ty {
        Type::BOOL | Type::I32 | Type::U32 | Type::F32 => {
            Some(|r, s, n| lanes::ternary(r, s, n, select::<u32>))
        }
        Type::I64 | Type::U64 | Type::F64 => Some(|r, s, n| lanes::ternary(r, s, n, select::<u64>)),
        _ => None,
    }
}

/// The conversion between two types.
pub(super) fn convert(from: Type, to: Type) -> Option<Pure> {
    fn between<A: To<B>, B: bytemuck::Pod>() -> Option<Pure> {
        Some(|r, s, n| lanes::unary(r, s, n, <A as To<B>>::to))
    }
    fn number<A>(to: Type) -> Option<Pure>
    where
        A: To<i32> + To<i64> + To<u32> + To<u64> + To<f32> + To<f64> + PartialEq,
    {
        match to {
            Type::BOOL => Some(|r, s, n| lanes::unary(r, s, n, to_bool::<A>)),
            Type::I32 => between::<A, i32>(),
            Type::I64 => between::<A, i64>(),
            Type::U32 => between::<A, u32>(),
            Type::U64 => between::<A, u64>(),
            Type::F32 => between::<A, f32>(),
            Type::F64 => between::<A, f64>(),
            _ => None,
        }
    }
    fn bool_to<B: bytemuck::Pod>() -> Option<Pure>
    where
        u32: To<B>,
    {
        Some(|r, s, n| lanes::unary(r, s, n, from_bool::<B>))
    }
    match from {
        Type::BOOL => match to {
            Type::BOOL => Some(copy),
            Type::I32 => bool_to::<i32>(),
            Type::I64 => bool_to::<i64>(),
            Type::U32 => bool_to::<u32>(),
            Type::U64 => bool_to::<u64>(),
            Type::F32 => bool_to::<f32>(),
            Type::F64 => bool_to::<f64>(),
            _ => None,
        },
        Type::I32 => number::<i32>(to),
        Type::I64 => number::<i64>(to),
        Type::U32 => number::<u32>(to),
        Type::U64 => number::<u64>(to),
        Type::F32 => number::<f32>(to),
        Type::F64 => number::<f64>(to),
        _ => None,
    }
}
