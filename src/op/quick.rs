//! What is asked of a row for every instruction, in one place of a table by opcode number: made of the rows when this is
//! compiled.

use super::{COUNT, Effect, Form, Makes, Op, Operand, ROWS, Row, Uniformity};
use crate::types::{Type, TypeSet};

/// What a word of an instruction in line must be for the verifier's short way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Want {
    /// Zero.
    Nothing,
    /// A value of type T.
    T,
    /// A `bool`.
    Bool,
    /// A `u32`.
    U32,
}

/// The commonest shapes of instructions, for which the verifier has short ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// Up to three values in line, one of them of type T at least, and nothing else; T decides what is made.
    Values([Want; 3]),
    /// A value of any scalar type, converted to the type made.
    Convert,
    /// A constant.
    Const,
    Param,
    /// A `u32` that the place in the grid decides, by an axis or not.
    BuiltIn,
    Length,
    Load,
    Store,
    /// An access to an element, with so many values of its type between the index and offset and order.
    Atomic(u8),
    Var,
    VarGet,
    VarSet,
    WorkgroupBarrier,
    Other,
}

impl Shape {
    const fn of(row: &Row) -> Shape {
        match row.op {
            Op::Const => Shape::Const,
            Op::Param => Shape::Param,
            Op::GlobalId
            | Op::LocalId
            | Op::WorkgroupId
            | Op::WorkgroupSize
            | Op::NumWorkgroups
            | Op::GlobalSize
            | Op::LocalIndex => Shape::BuiltIn,
            Op::Convert => Shape::Convert,
            Op::Load => Shape::Load,
            Op::Store => Shape::Store,
            Op::ArrayLength => Shape::Length,
            Op::AtomicLoad => Shape::Atomic(0),
            Op::AtomicStore
            | Op::AtomicAdd
            | Op::AtomicSub
            | Op::AtomicMin
            | Op::AtomicMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
            | Op::AtomicExchange => Shape::Atomic(1),
            Op::AtomicCompareExchange => Shape::Atomic(2),
            Op::WorkgroupBarrier => Shape::WorkgroupBarrier,
            Op::Var => Shape::Var,
            Op::VarGet => Shape::VarGet,
            Op::VarSet => Shape::VarSet,
            // The thorough checks note that these are there.
            Op::AssumeUniform | Op::Dot4Add => Shape::Other,
            _ => Shape::of_values(row),
        }
    }

    const fn of_values(row: &Row) -> Shape {
        let pure = matches!(row.form, Form::Inline) && matches!(row.effect, Effect::Pure);
        if !pure || row.operands.len() > 3 {
            return Shape::Other;
        }
        let mut wants = [Want::Nothing; 3];
        let mut by_t = false;
        let mut n = 0;
        while n < row.operands.len() {
            wants[n] = match row.operands[n] {
                Operand::T => Want::T,
                Operand::Bool => Want::Bool,
                Operand::U32 => Want::U32,
                Operand::Any
                | Operand::Elem
                | Operand::Vector
                | Operand::Mem
                | Operand::Buffer
                | Operand::Index
                | Operand::Offset
                | Operand::Ordering
                | Operand::Var
                | Operand::Param
                | Operand::Bits => return Shape::Other,
            };
            by_t = by_t || matches!(wants[n], Want::T);
            n += 1;
        }
        if by_t {
            Shape::Values(wants)
        } else {
            Shape::Other
        }
    }
}

/// What the verifier's short ways need of a row, in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quick {
    pub op: Op,
    pub shape: Shape,
    pub makes: Makes,
    pub uniformity: Uniformity,
    pub effect: Effect,
    pub flags: u8,
    pub form: Form,
    /// Whether uniformity depends on more of it than on its operands: variables, control, and operations that need it.
    pub steers: bool,
    /// The number of operand words: [`Row::words`].
    pub words: u8,
    /// Bits of the operand words that are values or variables.
    pub values: u8,
    /// What T may be; nothing for [`Shape::Other`].
    pub types: TypeSet,
    /// What the verifier notes of what is made has these bits of what it noted of T, and those of `sets`: see
    /// [`crate::verify`].
    pub keeps: u16,
    pub sets: u16,
}

const fn steers(row: &Row) -> bool {
    match row.effect {
        Effect::Barrier | Effect::Collective | Effect::Block | Effect::Terminator => true,
        Effect::Pure | Effect::Fence => false,
        Effect::Reads | Effect::Writes | Effect::ReadsWrites => {
            matches!(row.op, Op::Var | Op::VarGet | Op::VarSet)
        }
    }
}

const fn value_words(row: &Row) -> u8 {
    let mut bits = 0;
    let mut word = 0;
    let mut n = 0;
    while n < row.operands.len() {
        let (is_value, words) = match row.operands[n] {
            Operand::T
            | Operand::Any
            | Operand::Bool
            | Operand::U32
            | Operand::Elem
            | Operand::Vector
            | Operand::Index
            | Operand::Var => (1, 1),
            Operand::Mem
            | Operand::Buffer
            | Operand::Offset
            | Operand::Ordering
            | Operand::Param => (0, 1),
            Operand::Bits => (0, 2),
        };
        bits |= is_value << word;
        word += words;
        n += 1;
    }
    bits
}

/// By opcode number; what is no opcode has no types.
static QUICK: [Quick; 256] = {
    let mut table = [Quick {
        op: Op::Const,
        shape: Shape::Other,
        makes: Makes::Nothing,
        uniformity: Uniformity::Divergent,
        effect: Effect::Pure,
        flags: 0,
        form: Form::Inline,
        steers: false,
        words: 0,
        values: 0,
        types: TypeSet::NONE,
        keeps: 0,
        sets: 0,
    }; 256];
    let mut i = 0;
    while i < COUNT {
        let row = &ROWS[i];
        let shape = Shape::of(row);
        let has_short_way = !matches!(shape, Shape::Other);
        let keeps = matches!(row.makes, Makes::T);
        table[row.op as usize] = Quick {
            op: row.op,
            shape,
            makes: row.makes,
            uniformity: row.uniformity,
            effect: row.effect,
            flags: row.flags,
            form: row.form,
            steers: steers(row),
            words: row.words() as u8,
            values: value_words(row),
            types: if has_short_way {
                row.types
            } else {
                TypeSet::NONE
            },
            keeps: if keeps { 0xFFFF } else { 0xFF00 },
            sets: row.makes.of(Type::NONE).code() as u16,
        };
        i += 1;
    }
    table
};

impl Op {
    #[inline(always)]
    pub(crate) fn quick(self) -> &'static Quick {
        &QUICK[self as usize & 255]
    }
}

const _: () = assert!(size_of::<Quick>() == 32);
