//! Mnemonics by type, and the register classes.

use super::writer::Piece;
use crate::types::{Scalar, Type};

/// A type as the text knows it: of a vector, that of its elements.
///
/// Those that instructions have as they are come first. Integers of 8 and 16 bits live in 32-bit registers, extended by
/// their sign or with zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    Bool,
    I32,
    U32,
    F32,
    I64,
    U64,
    F64,
    I8,
    U8,
    I16,
    U16,
    F16,
    BF16,
}

/// The number of kinds.
const KINDS: usize = 13;

impl Kind {
    /// `None` for [`Type::NONE`].
    #[inline(always)]
    pub fn of(ty: Type) -> Option<Kind> {
        // A code is below 48.
        BY_CODE[usize::from(ty.code() & 63)]
    }

    /// As [`Kind::of`], for constants.
    pub const fn of_const(ty: Type) -> Option<Kind> {
        match ty.scalar() {
            Some(scalar) => Some(Kind::find(scalar)),
            None => None,
        }
    }

    const fn find(scalar: Scalar) -> Kind {
        match scalar {
            Scalar::Bool => Kind::Bool,
            Scalar::I8 => Kind::I8,
            Scalar::I16 => Kind::I16,
            Scalar::I32 => Kind::I32,
            Scalar::I64 => Kind::I64,
            Scalar::U8 => Kind::U8,
            Scalar::U16 => Kind::U16,
            Scalar::U32 => Kind::U32,
            Scalar::U64 => Kind::U64,
            Scalar::F16 => Kind::F16,
            Scalar::BF16 => Kind::BF16,
            Scalar::F32 => Kind::F32,
            Scalar::F64 => Kind::F64,
        }
    }

    #[inline(always)]
    pub const fn class(self) -> Class {
        match self {
            Kind::Bool => Class::Pred,
            Kind::I32 | Kind::U32 | Kind::I8 | Kind::U8 | Kind::I16 | Kind::U16 => Class::B32,
            Kind::F32 => Class::F32,
            Kind::I64 | Kind::U64 => Class::B64,
            Kind::F64 => Class::F64,
            Kind::F16 | Kind::BF16 => Class::B16,
        }
    }

    /// Below 32 bits and no `bool`: what has few instructions of its own.
    #[inline(always)]
    pub const fn is_small(self) -> bool {
        self as u8 >= Kind::I8 as u8
    }

    /// An integer of 8 or 16 bits.
    pub const fn is_narrow(self) -> bool {
        matches!(self, Kind::I8 | Kind::U8 | Kind::I16 | Kind::U16)
    }

    /// A 16-bit float.
    pub const fn is_half(self) -> bool {
        matches!(self, Kind::F16 | Kind::BF16)
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64 | Kind::F16 | Kind::BF16)
    }

    pub const fn is_signed(self) -> bool {
        matches!(self, Kind::I32 | Kind::I64 | Kind::I8 | Kind::I16)
    }

    pub const fn is_wide(self) -> bool {
        matches!(self, Kind::I64 | Kind::U64 | Kind::F64)
    }

    /// Width in bits; 1 of `bool`.
    pub const fn width(self) -> u32 {
        match self {
            Kind::Bool => 1,
            Kind::I8 | Kind::U8 => 8,
            Kind::I16 | Kind::U16 | Kind::F16 | Kind::BF16 => 16,
            Kind::I32 | Kind::U32 | Kind::F32 => 32,
            Kind::I64 | Kind::U64 | Kind::F64 => 64,
        }
    }
}

static BY_CODE: [Option<Kind>; 64] = {
    let mut kinds = [None; 64];
    let mut code = 0;
    while code < 64 {
        if let Some(ty) = Type::from_code(code)
            && let Some(scalar) = ty.scalar()
        {
            kinds[code as usize] = Some(Kind::find(scalar));
        }
        code += 1;
    }
    kinds
};

/// A register class: the place of its counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Class {
    Pred,
    B32,
    B64,
    F32,
    F64,
    B16,
}

/// The number of register classes.
pub(super) const CLASS_COUNT: usize = 6;

/// A mnemonic, with the tab before and the space behind it, by [`Kind`]; empty where there is none.
#[derive(Debug)]
pub(super) struct Mnemonic([Piece; KINDS]);

impl Mnemonic {
    /// For the kinds from `Bool` to `F64`; narrow integers take the 32-bit form, 16-bit floats none.
    pub const fn new(text: [&str; 7]) -> Mnemonic {
        Mnemonic::with_halves(text, ["", ""])
    }

    /// As [`Mnemonic::new`], with the forms of F16 and BF16.
    pub const fn with_halves(text: [&str; 7], halves: [&str; 2]) -> Mnemonic {
        let [_, i, u, ..] = text;
        Mnemonic::with_all(text, [i, u, i, u], halves)
    }

    /// By wide kinds, narrow integers from I8 on, and 16-bit floats.
    pub const fn with_all(text: [&str; 7], narrow: [&str; 4], halves: [&str; 2]) -> Mnemonic {
        let [p, i, u, f, il, ul, fl] = text;
        let [i8, u8, i16, u16] = narrow;
        let [half, brain] = halves;
        Mnemonic([
            Piece::new(p),
            Piece::new(i),
            Piece::new(u),
            Piece::new(f),
            Piece::new(il),
            Piece::new(ul),
            Piece::new(fl),
            Piece::new(i8),
            Piece::new(u8),
            Piece::new(i16),
            Piece::new(u16),
            Piece::new(half),
            Piece::new(brain),
        ])
    }

    #[inline(always)]
    pub const fn of(&self, kind: Kind) -> &Piece {
        // As many pieces as kinds.
        &self.0[kind as usize]
    }
}

/// One piece: `line!("bar.sync 0")` without operands to come ends the line by itself elsewhere.
macro_rules! piece {
    ($text:expr) => {
        const { &$crate::ptx::writer::Piece::new($text) }
    };
}

/// Types as signed, unsigned and float; floats with a modifier: `by_type!("add", ".rn")`.
macro_rules! by_type {
    ($op:literal) => {
        $crate::ptx::mnemonic::by_type!($op, "")
    };
    ($op:literal, $float:literal) => {
        $crate::ptx::mnemonic::Mnemonic::with_halves(
            [
                concat!("\t", $op, ".pred "),
                concat!("\t", $op, ".s32 "),
                concat!("\t", $op, ".u32 "),
                concat!("\t", $op, $float, ".f32 "),
                concat!("\t", $op, ".s64 "),
                concat!("\t", $op, ".u64 "),
                concat!("\t", $op, $float, ".f64 "),
            ],
            [
                concat!("\t", $op, $float, ".f16 "),
                concat!("\t", $op, $float, ".bf16 "),
            ],
        )
    };
}

/// Types as bits: `by_bits!("and")`.
macro_rules! by_bits {
    ($op:literal) => {
        $crate::ptx::mnemonic::Mnemonic::with_halves(
            [
                concat!("\t", $op, ".pred "),
                concat!("\t", $op, ".b32 "),
                concat!("\t", $op, ".b32 "),
                concat!("\t", $op, ".b32 "),
                concat!("\t", $op, ".b64 "),
                concat!("\t", $op, ".b64 "),
                concat!("\t", $op, ".b64 "),
            ],
            [concat!("\t", $op, ".b16 "), concat!("\t", $op, ".b16 ")],
        )
    };
}

/// Types as memory holds them: `by_memory!("ld.global")`.
macro_rules! by_memory {
    ($op:literal) => {
        $crate::ptx::mnemonic::Mnemonic::with_all(
            [
                concat!("\t", $op, ".u8 "),
                concat!("\t", $op, ".s32 "),
                concat!("\t", $op, ".u32 "),
                concat!("\t", $op, ".f32 "),
                concat!("\t", $op, ".s64 "),
                concat!("\t", $op, ".u64 "),
                concat!("\t", $op, ".f64 "),
            ],
            [
                concat!("\t", $op, ".s8 "),
                concat!("\t", $op, ".u8 "),
                concat!("\t", $op, ".s16 "),
                concat!("\t", $op, ".u16 "),
            ],
            [concat!("\t", $op, ".b16 "), concat!("\t", $op, ".b16 ")],
        )
    };
}

pub(super) use {by_bits, by_memory, by_type, piece};

pub(super) static MOV: Mnemonic = by_bits!("mov");
