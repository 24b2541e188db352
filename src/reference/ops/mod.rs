//! The value of every operation on scalars: pure, total functions by family.

pub(super) mod bits;
pub(super) mod compare;
pub(super) mod convert;
pub(super) mod float;
pub(super) mod int;

/// What integers and floats share.
pub(super) trait Number: bytemuck::Pod {
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn min(self, b: Self) -> Self;
    fn max(self, b: Self) -> Self;
    /// `min(max(self, low), high)`.
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        Number::min(Number::max(self, low), high)
    }
    /// Two roundings for floats.
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Number::add(Number::mul(self, b), c)
    }
}
