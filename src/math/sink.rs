//! What a recipe is written against.

/// A width of floats that has recipes: `f32` or `f64`. Sealed.
///
/// Integers of a recipe have the same width, and are neither signed nor unsigned: each operation says how it reads them.
pub trait Width: super::width::Constants {}

/// A table of constants that a recipe looks words up in.
#[derive(Debug)]
pub struct Table {
    /// A name that is an identifier in PTX and SPIR-V, unlike that of every other table.
    pub name: &'static str,
    /// The width of the words in bits, 32 or 64.
    pub width: u32,
    /// The words; above [`Table::width`] they are zero.
    pub words: &'static [u64],
}

/// Takes the operations of a recipe, one by one, in the order in which they depend on each other.
///
/// An emitter writes an instruction for each call; [`super::Host`] computes; a test counts or hashes. Values are handles
/// that the sink makes (`F` floats and `I` integers of the width `W`, `B` truth values), so constants may stay immediate
/// operands. There are no branches; the one loop is [`Sink::repeat`].
///
/// Floats round to nearest even, keep subnormals, infinities and signed zeros, and nothing is contracted or reassociated:
/// recipes depend on it. Whatever makes a NaN may make any NaN.
// `self` is where the conversion is written, not what is converted.
#[allow(clippy::wrong_self_convention)]
pub trait Sink<W: Width> {
    /// A float.
    type F: Copy;
    /// An integer.
    type I: Copy;
    /// A truth value.
    type B: Copy;

    /// A constant.
    fn float(&mut self, value: W) -> Self::F;
    /// A constant; bits above the width are zero.
    fn int(&mut self, value: u64) -> Self::I;

    /// `a + b`.
    fn add(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a - b`.
    fn sub(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b`.
    fn mul(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c` with one rounding.
    fn fma(&mut self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `a` with the other sign.
    fn neg(&mut self, a: Self::F) -> Self::F;
    /// `a` without its sign.
    fn abs(&mut self, a: Self::F) -> Self::F;
    /// The lesser; `b` where `a` is NaN. Recipes never have it decide between zeros, nor `b` a NaN.
    ///
    /// PTX `min`, SPIR-V `NMin`.
    fn min(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// The greater; `b` where `a` is NaN. Recipes never have it decide between zeros, nor `b` a NaN.
    ///
    /// PTX `max`, SPIR-V `NMax`.
    fn max(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a` rounded to an integer towards zero.
    fn trunc(&mut self, a: Self::F) -> Self::F;

    /// Whether `a < b`; false with a NaN.
    fn lt(&mut self, a: Self::F, b: Self::F) -> Self::B;
    /// Whether `a <= b`; false with a NaN.
    fn le(&mut self, a: Self::F, b: Self::F) -> Self::B;
    /// Whether `a == b`; false with a NaN.
    fn eq(&mut self, a: Self::F, b: Self::F) -> Self::B;
    /// `a` where `condition` is true, else `b`, bit for bit.
    fn select(&mut self, condition: Self::B, a: Self::F, b: Self::F) -> Self::F;
    /// `a` where `condition` is true, else `b`.
    fn select_int(&mut self, condition: Self::B, a: Self::I, b: Self::I) -> Self::I;
    /// Whether both are true.
    fn both(&mut self, a: Self::B, b: Self::B) -> Self::B;
    /// Whether one is true.
    fn either(&mut self, a: Self::B, b: Self::B) -> Self::B;

    /// The bits of `a`.
    fn to_bits(&mut self, a: Self::F) -> Self::I;
    /// The float of these bits.
    fn from_bits(&mut self, a: Self::I) -> Self::F;
    /// The value of a signed integer, rounded to nearest even.
    fn from_signed(&mut self, a: Self::I) -> Self::F;
    /// The value of an unsigned integer, rounded to nearest even.
    fn from_unsigned(&mut self, a: Self::I) -> Self::F;

    /// `a + b`, wrapping.
    fn iadd(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a - b`, wrapping.
    fn isub(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// The low half of the product.
    fn imul(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// The high half of the unsigned product.
    fn umul_hi(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a & b`.
    fn and(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a | b`.
    fn or(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a ^ b`.
    fn xor(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a << n`, `n` below the width.
    fn shl(&mut self, a: Self::I, n: Self::I) -> Self::I;
    /// `a >> n` with zeros moving in, `n` below the width.
    fn shr(&mut self, a: Self::I, n: Self::I) -> Self::I;
    /// Whether `a < b` as unsigned integers.
    fn ult(&mut self, a: Self::I, b: Self::I) -> Self::B;
    /// Whether `a == b`.
    fn ieq(&mut self, a: Self::I, b: Self::I) -> Self::B;

    /// The word of `table` at `index`, which is always below its length.
    fn table(&mut self, table: &'static Table, index: Self::I) -> Self::I;

    /// Hands `state` to `body` `times` times (unsigned, maybe none), each time what the last one returned.
    ///
    /// An emitter calls `body` once, inside a loop that it writes; what `body` captures was made before the loop.
    fn repeat(
        &mut self,
        times: Self::I,
        state: Self::F,
        body: impl FnMut(&mut Self, Self::F) -> Self::F,
    ) -> Self::F;
}
