//! What the verifier keeps of each instruction.

use super::uniformity::Level;
use crate::op;
use crate::types::{Type, TypeSet};

/// What later instructions may name of an instruction, and how uniform it is.
///
/// The low byte is a code like that of a type, in six bits: the type of a value, 48 and a scalar for a variable, 48 for
/// nothing; the low four bits are ones once the block around it is closed. No set of types has any but a value's, so that
/// one test of the byte finds the type and sees that it is visible. The high byte is the level, and for a variable
/// whether somebody was told it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Made(u16);

impl Made {
    pub(super) const NOTHING: Made = Made(op::NOTHING);
    const VARIABLE: u8 = 3 << 4;
    const GONE: u8 = 15;
    const TOLD: u16 = 1 << 10;

    #[inline(always)]
    pub(super) const fn value(ty: Type, level: Level) -> Made {
        Made(ty.code() as u16 | (level.bits() as u16) << 8)
    }

    /// A variable of a scalar type, as all are.
    #[inline(always)]
    pub(super) const fn variable(ty: Type, level: Level) -> Made {
        Made((Made::VARIABLE | ty.code()) as u16 | (level.bits() as u16) << 8)
    }

    #[inline(always)]
    pub(super) const fn code(self) -> u8 {
        self.0 as u8
    }

    #[inline(always)]
    pub(super) const fn level(self) -> Level {
        Level::of_bits((self.0 >> 8) as u8)
    }

    #[inline(always)]
    #[must_use]
    pub(super) const fn at_level(self, level: Level) -> Made {
        Made(self.0 | (level.bits() as u16) << 8)
    }

    /// Of two with one code, as uniform as the less uniform one.
    #[inline(always)]
    pub(super) const fn with_same_code(self, other: Made) -> Option<Made> {
        if self.code() == other.code() {
            Some(Made(self.0 | other.0))
        } else {
            None
        }
    }

    /// The bits, for [`Made::of_bits`].
    #[inline(always)]
    pub(super) const fn bits(self) -> u16 {
        self.0
    }

    /// Of what a table of opcodes says, which is made of [`Made::bits`].
    #[inline(always)]
    pub(super) const fn of_bits(bits: u16) -> Made {
        Made(bits)
    }

    /// The type of a visible value.
    #[inline(always)]
    pub(super) fn value_type(self) -> Option<Type> {
        let visible = !self.is_variable() && !self.is_gone();
        visible.then_some(Type::from_seen_code(self.code()))
    }

    /// The type of a visible variable.
    #[inline(always)]
    pub(super) fn variable_type(self) -> Option<Type> {
        // As in a set of types: the variables of all scalars.
        const VARIABLES: u64 = TypeSet::ALL.bits() << Made::VARIABLE;
        let visible = VARIABLES >> (self.code() & 63) & 1 != 0;
        visible.then_some(Type::from_seen_code(self.code() & !Made::VARIABLE))
    }

    pub(super) const fn is_gone(self) -> bool {
        self.code() & 15 == Made::GONE
    }

    pub(super) const fn is_variable(self) -> bool {
        self.code() & Made::VARIABLE == Made::VARIABLE
    }

    /// Whether it is a visible variable of the scalar type with this code.
    #[inline(always)]
    pub(super) const fn is_variable_of(self, code: u8) -> bool {
        self.code() == Made::VARIABLE | code
    }

    /// Tells a variable's level.
    #[inline(always)]
    pub(super) const fn tell(&mut self) -> Level {
        self.0 |= Made::TOLD;
        self.level()
    }

    /// Raises a variable's level; says whether somebody was told a lower one.
    #[inline(always)]
    pub(super) const fn raise(&mut self, level: Level) -> bool {
        let rises = level.exceeds(self.level());
        *self = self.at_level(level);
        rises && self.0 & Made::TOLD != 0
    }

    /// Marks all of a closed block. Blocks nest at most [`super::MAX_DEPTH`] deep, and many bytes go at once.
    #[inline(always)]
    pub(super) fn close(block: &mut [Made]) {
        for made in block {
            made.0 |= Made::GONE as u16;
        }
    }
}
