//! The opcode table: one row an opcode, and everything that is derived from it.
//!
//! The rows stand in the family files beside this one ([`Op`]'s documentation lists them all). From them come the enum,
//! the names of the text form, the verifier's type rules and the per-target support; what a row says about a type and a
//! target is checked when the crate is compiled. Numbers are part of the bytecode format and never change meaning.
#![forbid(unsafe_code)]

#[macro_use]
mod values;
#[macro_use]
mod arithmetic;
#[macro_use]
mod bits;
#[macro_use]
mod compare;
#[macro_use]
mod convert;
#[macro_use]
mod float;
#[macro_use]
mod vector;
#[macro_use]
mod memory;
#[macro_use]
mod atomic;
#[macro_use]
mod sync;
#[macro_use]
mod subgroup;
#[macro_use]
mod control;
mod quick;

#[cfg(debug_assertions)]
pub(crate) use quick::wants_of;
pub(crate) use quick::{NOTHING, OnValues, Plain, Shape, Steers, Want};

use crate::types::{Type, TypeSet};
use core::fmt;

/// What an operand word means. *T* is the instruction's operating type: the result's type, or where the result is none,
/// `bool` or `u32` by rule, the type of the first operand of kind [`Operand::T`] or of the memory's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Operand {
    /// A value of type T.
    T,
    /// A value of any numeric type or `bool`, converted to T.
    Any,
    /// A value of type `bool`.
    Bool,
    /// A value of type `u32`.
    U32,
    /// A value of the scalar type of the vector type T.
    Elem,
    /// A value of a vector type whose scalar type is T.
    Vector,
    /// A memory object: buffer, shared or private array.
    Mem,
    /// A buffer.
    Buffer,
    /// An index: a value of type `u32` or `u64`, in elements.
    Index,
    /// A constant element offset, added to the zero-extended index without wrapping.
    Offset,
    /// An atomic's memory order and scope, see [`crate::kernel::Ordering`].
    Ordering,
    /// A variable.
    Var,
    /// A scalar parameter.
    Param,
    /// The low, then the high half of a constant's bits: two words.
    Bits,
}

/// Where the operand words of an instruction are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// In `a`, `b`, `c`, as many as there are.
    Inline,
    /// The first two in `a` and `b`; the others in a run of the side table that begins at `c`.
    Side,
    /// Inline without its last word, an offset, where that is zero; as [`Form::Side`] with
    /// [`crate::kernel::Inst::OFFSET`] set where it is not.
    Store,
}

/// The type of what an instruction makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Makes {
    /// No value.
    Nothing,
    /// A value of type T.
    T,
    /// A `bool`.
    Bool,
    /// A `u32`.
    U32,
    /// A vector of four `u32`.
    U32x4,
    /// No value but a variable of type T.
    Var,
}

impl Makes {
    /// The type made where the operating type is `t`; for a variable its type.
    #[inline]
    pub const fn of(self, t: Type) -> Type {
        match self {
            Makes::Nothing => Type::NONE,
            Makes::T | Makes::Var => t,
            Makes::Bool => Type::BOOL,
            Makes::U32 => Type::U32,
            Makes::U32x4 => Type::U32X4,
        }
    }
}

/// What an instruction does beside making its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing: it depends on its operands alone.
    Pure,
    /// Reads memory or a variable.
    Reads,
    /// Writes memory or a variable.
    Writes,
    /// Reads and writes memory.
    ReadsWrites,
    /// Waits for other threads.
    Barrier,
    /// Works together with the other lanes of the subgroup, and depends on them.
    Collective,
    /// Orders memory accesses.
    Fence,
    /// Opens, divides or closes a block.
    Block,
    /// Leaves its block; nothing may follow it there.
    Terminator,
}

/// How uniform a result is (see the verifier's documentation).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Uniformity {
    /// The same in every thread of the workgroup.
    Workgroup,
    /// The same in every thread of a subgroup.
    Subgroup,
    /// As uniform as the least uniform operand.
    Operands,
    /// By the memory: that of the index for read-only memory, divergent otherwise.
    Load,
    /// Different from thread to thread.
    Divergent,
}

/// How a target carries out an opcode, by type. What is in neither set is `Unsupported` there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Support {
    /// One instruction of the target.
    pub native: TypeSet,
    /// A sequence of instructions.
    pub expanded: TypeSet,
}

/// One row of the opcode table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The opcode.
    pub op: Op,
    /// Its name in the text form.
    pub name: &'static str,
    /// Its operands in the order of the text form.
    pub operands: &'static [Operand],
    /// Where they are kept.
    pub form: Form,
    /// What it makes.
    pub makes: Makes,
    /// What T may be; empty where there is no T.
    pub types: TypeSet,
    /// The allowed bits of [`crate::kernel::Inst::flags`].
    pub flags: u8,
    /// What it does beside.
    pub effect: Effect,
    /// How uniform its result is.
    pub uniformity: Uniformity,
    /// Support by the PTX emitter.
    pub ptx: Support,
    /// Support by the SPIR-V emitter.
    pub spirv: Support,
    /// One line of meaning.
    pub meaning: &'static str,
    /// Its edge cases.
    pub edges: &'static str,
}

impl Row {
    /// Compile-time check of a row: every cell of the support columns is there and means one thing.
    const fn checked(self) -> Row {
        let mut targets = [self.ptx, self.spirv];
        let mut i = 0;
        while i < targets.len() {
            let s = &mut targets[i];
            assert!(
                s.native.and(s.expanded).is_empty(),
                "a type is both native and expanded"
            );
            assert!(
                s.native.or(s.expanded).minus(self.types).is_empty(),
                "support for a type the opcode does not have"
            );
            i += 1;
        }
        assert!(
            matches!(self.effect, Effect::Pure | Effect::Reads)
                || !matches!(
                    self.uniformity,
                    Uniformity::Workgroup | Uniformity::Operands | Uniformity::Load
                ),
            "what does more than to make its value is uniform by its operands"
        );
        assert!(
            matches!(self.form, Form::Inline)
                == (self.words() <= 3 && !matches!(self.form, Form::Store))
        );
        self
    }

    /// The number of operand words, counting both halves of [`Operand::Bits`] and the offset of [`Form::Store`].
    pub const fn words(&self) -> usize {
        let mut n = 0;
        let mut i = 0;
        while i < self.operands.len() {
            n += if matches!(self.operands[i], Operand::Bits) {
                2
            } else {
                1
            };
            i += 1;
        }
        n
    }
}

/// An allowed-flags mask: three axes, in the low two bits.
const AXIS: u8 = 3;
/// An allowed-flags mask: volatile and coherent.
const ACCESS: u8 = 3;
/// An allowed-flags mask: the hardware's approximation.
const FAST: u8 = 1;
/// An allowed-flags mask: the high half.
const HALF: u8 = 1;
/// An allowed-flags mask: a lane below 4.
const LANE: u8 = 3;
/// An allowed-flags mask: the kind of reduction, and native order.
const SCAN: u8 = 7;
/// What targets compute with as it is: 32- and 64-bit numbers, and f16.
const NATIVE: TypeSet = TypeSet::INTS_WIDE
    .or(TypeSet::FLOATS_WIDE)
    .or(TypeSet::just(Type::F16));
/// What they compute wider and cut.
const NARROW: TypeSet = TypeSet::INTS_NARROW.or(TypeSet::just(Type::BF16));

macro_rules! define {
    ([$($(#[$meta:meta])* $name:ident = $number:literal $text:literal [$($operand:ident)*] $form:ident -> $makes:ident,
        $types:expr, $flags:expr, $effect:ident, $uniformity:ident,
        ptx($ptx_native:expr, $ptx_expanded:expr), spirv($spirv_native:expr, $spirv_expanded:expr),
        $meaning:literal, $edges:literal;)*]) => {
        /// An opcode. Its number is part of the bytecode format.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        #[non_exhaustive]
        pub enum Op {
            $(#[doc = concat!("`", $text, "`: ", $meaning, "\n\n", $edges)]
              $name = $number,)*
        }

        /// The number of opcodes.
        pub const COUNT: usize = [$(Op::$name),*].len();

        impl Op {
            /// Every opcode, in the order of the table.
            pub const ALL: [Op; COUNT] = [$(Op::$name),*];

        }

        const ROWS: [Row; COUNT] = [$({
            #[allow(unused_imports)]
            use crate::op::Operand::*;
            Row {
                op: Op::$name,
                name: $text,
                operands: &[$($operand),*],
                form: Form::$form,
                makes: Makes::$makes,
                types: $types,
                flags: $flags,
                effect: Effect::$effect,
                uniformity: Uniformity::$uniformity,
                ptx: Support { native: $ptx_native, expanded: $ptx_expanded },
                spirv: Support { native: $spirv_native, expanded: $spirv_expanded },
                meaning: $meaning,
                edges: $edges,
            }
            .checked()
        }),*];
    };
}

values! { [] arithmetic bits compare convert float vector memory atomic sync subgroup control define }

/// Row numbers by opcode number, so that a look-up is two loads; 255 where there is none.
const ROW_OF: [u8; 256] = {
    let mut table = [255u8; 256];
    let mut i = 0;
    while i < COUNT {
        let number = ROWS[i].op as usize;
        assert!(table[number] == 255, "two rows with one number");
        table[number] = i as u8;
        i += 1;
    }
    table
};

static TABLE: [Row; COUNT] = ROWS;

/// The opcodes by number.
const BY_NUMBER: [Option<Op>; 256] = {
    let mut table = [None; 256];
    let mut i = 0;
    while i < COUNT {
        table[ROWS[i].op as usize] = Some(ROWS[i].op);
        i += 1;
    }
    table
};

impl Op {
    /// The opcode of a bytecode number, or `None`.
    #[inline]
    pub const fn from_number(number: u16) -> Option<Op> {
        if number < 256 {
            BY_NUMBER[number as usize]
        } else {
            None
        }
    }

    /// The opcode's row.
    #[inline]
    pub fn row(self) -> &'static Row {
        // Every number of the enum has a row: both come from the same list.
        &TABLE[ROW_OF[self as usize & 255] as usize]
    }

    /// The name in the text form.
    #[inline]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether floats of it are computed by a recipe of [`crate::math`], but for what the hardware approximates; `rem` of
    /// integers is not.
    pub const fn has_recipe(self) -> bool {
        matches!(
            self,
            Op::Rem
                | Op::Rsqrt
                | Op::Exp
                | Op::Exp2
                | Op::Log
                | Op::Log2
                | Op::Pow
                | Op::Sin
                | Op::Cos
                | Op::Tan
                | Op::Tanh
                | Op::Erf
        )
    }

    /// The opcode of a text-form name, or `None`.
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.into_iter().find(|op| op.name() == name)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether `ty` is something `op` can operate on, on every target taken together.
#[inline]
pub fn allows(op: Op, ty: Type) -> bool {
    op.row().types.contains(ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_unique_and_round_trip() {
        for (i, op) in Op::ALL.into_iter().enumerate() {
            assert_eq!(op.row().op, op);
            assert_eq!(Op::from_number(op as u16), Some(op));
            assert_eq!(Op::from_name(op.name()), Some(op));
            for other in &Op::ALL[i + 1..] {
                assert_ne!(op.name(), other.name());
            }
        }
        assert_eq!(Op::from_number(0), None);
        assert_eq!(Op::from_number(u16::MAX), None);
        assert_eq!(Op::from_name("nop"), None);
    }

    #[test]
    fn rows_are_complete_sentences() {
        for op in Op::ALL {
            let row = op.row();
            assert!(!row.meaning.is_empty());
            assert!(
                row.words() <= 6,
                "{op}: operands fit the fixed operand array"
            );
            assert_eq!(
                row.types.minus(row.ptx.native.or(row.ptx.expanded)),
                TypeSet::NONE,
                "{op} has no PTX form"
            );
            assert_eq!(
                row.types.minus(row.spirv.native.or(row.spirv.expanded)),
                TypeSet::NONE,
                "{op} has no SPIR-V form"
            );
        }
    }
}
