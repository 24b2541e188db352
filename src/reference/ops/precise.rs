//! Functions whose definition is a recipe of [`crate::math`]: the one place where the executor calls them.
//!
//! 16-bit floats are converted to f32, which keeps their values, and the result is rounded once more.

use super::half::Half;
use crate::math::{self, Binary, Host, Unary};
use crate::op::Op;
use crate::reference::lanes::{self, Pure};
use crate::types::Type;
use half::{bf16, f16};

/// A float that recipes are carried out on.
trait Precise: bytemuck::Pod {
    fn unary(self, function: Unary) -> Self;
    fn binary(self, function: Binary, b: Self) -> Self;
}

macro_rules! wide {
    ($($t:ident)*) => {$(
        impl Precise for $t {
            #[inline(always)]
            fn unary(self, function: Unary) -> $t {
                math::unary::<$t, Host>(function, &mut Host, self)
            }
            #[inline(always)]
            fn binary(self, function: Binary, b: $t) -> $t {
                math::binary::<$t, Host>(function, &mut Host, self, b)
            }
        }
    )*};
}
wide! { f32 f64 }

macro_rules! halves {
    ($($t:ident)*) => {$(
        impl Precise for $t {
            #[inline(always)]
            fn unary(self, function: Unary) -> $t {
                Half::round(self.single().unary(function).into())
            }
            #[inline(always)]
            fn binary(self, function: Binary, b: $t) -> $t {
                Half::round(self.single().binary(function, b.single()).into())
            }
        }
    )*};
}
halves! { f16 bf16 }

macro_rules! each {
    ($ty:expr; $t:ident => $loop:expr) => {
        match $ty {
            Type::F16 => {
                type $t = f16;
                Some($loop)
            }
            Type::BF16 => {
                type $t = bf16;
                Some($loop)
            }
            Type::F32 => {
                type $t = f32;
                Some($loop)
            }
            Type::F64 => {
                type $t = f64;
                Some($loop)
            }
            _ => None,
        }
    };
}

macro_rules! unary {
    ($ty:expr, $function:ident) => {
        each!($ty; T => |r, s, n| lanes::unary(r, s, n, |x: T| x.unary(Unary::$function)))
    };
}

/// The loop for the function of an opcode on a type; `None` for other opcodes and types.
pub(in crate::reference) fn function(op: Op, ty: Type) -> Option<Pure> {
    match op {
        Op::Rsqrt => unary!(ty, Rsqrt),
        Op::Exp => unary!(ty, Exp),
        Op::Exp2 => unary!(ty, Exp2),
        Op::Log => unary!(ty, Log),
        Op::Log2 => unary!(ty, Log2),
        Op::Sin => unary!(ty, Sin),
        Op::Cos => unary!(ty, Cos),
        Op::Tan => unary!(ty, Tan),
        Op::Tanh => unary!(ty, Tanh),
        Op::Erf => unary!(ty, Erf),
        Op::Pow => {
            each!(ty; T => |r, s, n| lanes::binary(r, s, n, |x: T, y: T| x.binary(Binary::Pow, y)))
        }
        _ => None,
    }
}
