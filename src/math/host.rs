//! Recipes as plain Rust.

use super::sink::{Sink, Table};

/// Computes what a recipe says, on the processor at hand.
///
/// Its `fma` is the standard library's `mul_add`: exact everywhere, but a slow call where the compiler was not told that
/// the processor has the instruction (`RUSTFLAGS="-C target-cpu=native"`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Host;

macro_rules! host {
    ($float:ident, $int:ident, $signed:ident, $wide:ident) => {
        impl Sink<$float> for Host {
            type F = $float;
            type I = $int;
            type B = bool;

            #[inline(always)]
            fn float(&mut self, value: $float) -> $float {
                value
            }
            #[inline(always)]
            fn int(&mut self, value: u64) -> $int {
                // Bits above the width are zero.
                value as $int
            }
            #[inline(always)]
            fn add(&mut self, a: $float, b: $float) -> $float {
                a + b
            }
            #[inline(always)]
            fn sub(&mut self, a: $float, b: $float) -> $float {
                a - b
            }
            #[inline(always)]
            fn mul(&mut self, a: $float, b: $float) -> $float {
                a * b
            }
            #[inline(always)]
            fn fma(&mut self, a: $float, b: $float, c: $float) -> $float {
                a.mul_add(b, c)
            }
            #[inline(always)]
            fn neg(&mut self, a: $float) -> $float {
                -a
            }
            #[inline(always)]
            fn abs(&mut self, a: $float) -> $float {
                a.abs()
            }
            #[inline(always)]
            fn min(&mut self, a: $float, b: $float) -> $float {
                if a < b { a } else { b }
            }
            #[inline(always)]
            fn max(&mut self, a: $float, b: $float) -> $float {
                if a > b { a } else { b }
            }
            #[inline(always)]
            fn trunc(&mut self, a: $float) -> $float {
                a.trunc()
            }
            #[inline(always)]
            fn lt(&mut self, a: $float, b: $float) -> bool {
                a < b
            }
            #[inline(always)]
            fn le(&mut self, a: $float, b: $float) -> bool {
                a <= b
            }
            #[inline(always)]
            fn eq(&mut self, a: $float, b: $float) -> bool {
                a == b
            }
            #[inline(always)]
            fn select(&mut self, condition: bool, a: $float, b: $float) -> $float {
                if condition { a } else { b }
            }
            #[inline(always)]
            fn select_int(&mut self, condition: bool, a: $int, b: $int) -> $int {
                if condition { a } else { b }
            }
            #[inline(always)]
            fn both(&mut self, a: bool, b: bool) -> bool {
                a & b
            }
            #[inline(always)]
            fn either(&mut self, a: bool, b: bool) -> bool {
                a | b
            }
            #[inline(always)]
            fn to_bits(&mut self, a: $float) -> $int {
                a.to_bits()
            }
            #[inline(always)]
            fn from_bits(&mut self, a: $int) -> $float {
                $float::from_bits(a)
            }
            #[inline(always)]
            fn from_signed(&mut self, a: $int) -> $float {
                a.cast_signed() as $float
            }
            #[inline(always)]
            fn from_unsigned(&mut self, a: $int) -> $float {
                a as $float
            }
            #[inline(always)]
            fn iadd(&mut self, a: $int, b: $int) -> $int {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn isub(&mut self, a: $int, b: $int) -> $int {
                a.wrapping_sub(b)
            }
            #[inline(always)]
            fn imul(&mut self, a: $int, b: $int) -> $int {
                a.wrapping_mul(b)
            }
            #[inline(always)]
            fn umul_hi(&mut self, a: $int, b: $int) -> $int {
                // The high half of a product of two words fits a word.
                ((a as $wide * b as $wide) >> $int::BITS) as $int
            }
            #[inline(always)]
            fn and(&mut self, a: $int, b: $int) -> $int {
                a & b
            }
            #[inline(always)]
            fn or(&mut self, a: $int, b: $int) -> $int {
                a | b
            }
            #[inline(always)]
            fn xor(&mut self, a: $int, b: $int) -> $int {
                a ^ b
            }
            #[inline(always)]
            fn shl(&mut self, a: $int, n: $int) -> $int {
                a.wrapping_shl(n as u32)
            }
            #[inline(always)]
            fn shr(&mut self, a: $int, n: $int) -> $int {
                a.wrapping_shr(n as u32)
            }
            #[inline(always)]
            fn ult(&mut self, a: $int, b: $int) -> bool {
                a < b
            }
            #[inline(always)]
            fn ieq(&mut self, a: $int, b: $int) -> bool {
                a == b
            }
            #[inline(always)]
            fn table(&mut self, table: &'static Table, index: $int) -> $int {
                // Never out of range; no panic either way. Words have the table's width.
                table.words.get(index as usize).copied().unwrap_or(0) as $int
            }
            #[inline(always)]
            fn repeat(
                &mut self,
                times: $int,
                state: $float,
                mut body: impl FnMut(&mut Self, $float) -> $float,
            ) -> $float {
                (0..times).fold(state, |state, _| body(self, state))
            }
        }
    };
}

host!(f32, u32, i32, u64);
host!(f64, u64, i64, u128);
