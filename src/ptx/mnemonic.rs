//! Mnemonics by type, and the register classes.

use super::writer::Piece;
use crate::types::Type;

/// A type as the text knows it.
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
}

impl Kind {
    /// `None` for the types that there is no text for.
    #[inline(always)]
    pub fn of(ty: Type) -> Option<Kind> {
        // A code is below 48.
        KINDS[usize::from(ty.code() & 63)]
    }

    const fn find(ty: Type) -> Option<Kind> {
        match ty {
            Type::BOOL => Some(Kind::Bool),
            Type::I32 => Some(Kind::I32),
            Type::U32 => Some(Kind::U32),
            Type::F32 => Some(Kind::F32),
            Type::I64 => Some(Kind::I64),
            Type::U64 => Some(Kind::U64),
            Type::F64 => Some(Kind::F64),
            _ => None,
        }
    }

    #[inline(always)]
    pub const fn class(self) -> Class {
        match self {
            Kind::Bool => Class::Pred,
            Kind::I32 | Kind::U32 => Class::B32,
            Kind::F32 => Class::F32,
            Kind::I64 | Kind::U64 => Class::B64,
            Kind::F64 => Class::F64,
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }

    pub const fn is_signed(self) -> bool {
        matches!(self, Kind::I32 | Kind::I64)
    }

    pub const fn is_wide(self) -> bool {
        matches!(self, Kind::I64 | Kind::U64 | Kind::F64)
    }

    /// Width in bits of everything but `bool`.
    pub const fn width(self) -> u32 {
        if self.is_wide() { 64 } else { 32 }
    }
}

static KINDS: [Option<Kind>; 64] = {
    let mut kinds = [None; 64];
    let mut code = 0;
    while code < 64 {
        if let Some(ty) = Type::from_code(code) {
            kinds[code as usize] = Kind::find(ty);
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
}

/// A mnemonic, with the tab before and the space behind it, by [`Kind`].
pub(super) struct Mnemonic([Piece; 7]);

impl Mnemonic {
    pub const fn new(text: [&str; 7]) -> Mnemonic {
        let [p, i, u, f, il, ul, fl] = text;
        Mnemonic([
            Piece::new(p),
            Piece::new(i),
            Piece::new(u),
            Piece::new(f),
            Piece::new(il),
            Piece::new(ul),
            Piece::new(fl),
        ])
    }

    #[inline(always)]
    pub fn of(&self, kind: Kind) -> &Piece {
        // Seven kinds, seven pieces.
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
        $crate::ptx::mnemonic::Mnemonic::new([
            concat!("\t", $op, ".pred "),
            concat!("\t", $op, ".s32 "),
            concat!("\t", $op, ".u32 "),
            concat!("\t", $op, $float, ".f32 "),
            concat!("\t", $op, ".s64 "),
            concat!("\t", $op, ".u64 "),
            concat!("\t", $op, $float, ".f64 "),
        ])
    };
}

/// Types as bits: `by_bits!("and")`.
macro_rules! by_bits {
    ($op:literal) => {
        $crate::ptx::mnemonic::Mnemonic::new([
            concat!("\t", $op, ".pred "),
            concat!("\t", $op, ".b32 "),
            concat!("\t", $op, ".b32 "),
            concat!("\t", $op, ".b32 "),
            concat!("\t", $op, ".b64 "),
            concat!("\t", $op, ".b64 "),
            concat!("\t", $op, ".b64 "),
        ])
    };
}

pub(super) use {by_bits, by_type, piece};

pub(super) static MOV: Mnemonic = by_bits!("mov");
