//! What is asked of a row for every instruction, in one place of a table by opcode number: made of the rows when this is
//! compiled.

use super::{COUNT, Effect, Form, Makes, Op, Operand, ROWS, Row, Uniformity};
use crate::types::{Type, TypeSet};

/// What a word of an instruction in line must be, for the verifier's short ways.
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
    /// A value of the scalar type of T.
    Elem,
    /// A value of a vector type with the scalar type of T.
    Vector,
    /// A value.
    Any,
    /// No value, and whatever it is.
    Literal,
}

/// The shapes of instructions, for which the verifier has short ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// Up to three words in line whose wants say what is made.
    Plain,
    Length,
    Load,
    Store,
    /// An access to an element, with so many values of its type between the index and offset and order.
    Atomic(u8),
    Var,
    VarGet,
    VarSet,
    Other,
}

impl Shape {
    const fn of(row: &Row) -> Shape {
        match row.op {
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
            Op::Var => Shape::Var,
            Op::VarGet => Shape::VarGet,
            Op::VarSet => Shape::VarSet,
            _ => {
                let block = matches!(row.effect, Effect::Block | Effect::Terminator);
                match row.form {
                    Form::Inline if !block => Shape::Plain,
                    Form::Inline | Form::Side | Form::Store => Shape::Other,
                }
            }
        }
    }
}

/// What the words in line are to be.
const fn wants(row: &Row) -> [Want; 3] {
    let mut wants = [Want::Nothing; 3];
    let mut n = 0;
    while n < row.operands.len() && n < wants.len() {
        wants[n] = match row.operands[n] {
            Operand::T => Want::T,
            Operand::Bool => Want::Bool,
            Operand::U32 => Want::U32,
            Operand::Elem => Want::Elem,
            Operand::Vector => Want::Vector,
            Operand::Any | Operand::Index | Operand::Var => Want::Any,
            // Two words, and nothing follows.
            Operand::Bits => return [Want::Literal, Want::Literal, Want::Nothing],
            Operand::Mem
            | Operand::Buffer
            | Operand::Offset
            | Operand::Ordering
            | Operand::Param => Want::Literal,
        };
        n += 1;
    }
    wants
}

/// What the verifier's short ways need of a row, in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quick {
    /// What T may be where the wants are all there is to say of an instruction, which makes a value by its operands; of
    /// others that have no [`Plain`] what T may be.
    pub types: TypeSet,
    pub shape: Shape,
    pub makes: Makes,
    pub uniformity: Uniformity,
    pub effect: Effect,
    pub flags: u8,
    pub form: Form,
    pub steers: Steers,
    /// The number of operand words: [`Row::words`].
    pub len: u8,
    /// Bits of the operand words that are values or variables.
    pub values: u8,
    /// Bits of the flags that must not all be set.
    pub not_all: u8,
}

const _: () = assert!(size_of::<Quick>() == 24);

/// The rules of a row of [`Shape::Plain`] in a form that asks for no decision, so that opcodes in any order can be looked
/// at without a jump. What the verifier notes of the three words stands side by side, sixteen bits each.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Plain {
    /// What T may be, and any type where there is no T.
    pub types: TypeSet,
    /// What the value of the first word may be, if it is one.
    pub firsts: TypeSet,
    /// What is noted has these bits of T's code, and those of `codes`, where it `cares`.
    pub of_t: u64,
    pub codes: u64,
    pub cares: u64,
    /// The bits of levels that are joined.
    pub levels: u64,
    /// All ones for words that are values, and for words that are zero.
    pub values: [i8; 3],
    pub zeros: [i8; 3],
    /// Flags that it does not have.
    pub no_flags: u8,
    /// What the low two bits of the flags must not be.
    pub not: u8,
    /// Whether T is the type that the instruction tells: all ones; else that of the first word.
    pub told: u8,
    /// The code of the type made, but for T.
    pub made: u8,
    /// What is noted beside T.
    pub sets: u16,
    /// All ones where the words are the bits of a constant.
    pub is_const: i8,
    /// Whether there is more to say than that.
    pub more: bool,
}

const _: () = assert!(size_of::<Plain>() == 64);

/// Whether there is more to say of an instruction than its words and flags: what it needs or what is noted of it, or what
/// its type has to do with other things.
const fn has_more(row: &Row) -> bool {
    !matches!(row.effect, Effect::Pure)
        || matches!(
            row.op,
            Op::Param
                | Op::Bitcast
                | Op::Extract
                | Op::SubgroupSize
                | Op::Lane
                | Op::SubgroupId
                | Op::AssumeUniform
                | Op::Dot4Add
        )
}

/// What the verifier notes of an instruction that makes nothing.
pub(crate) const NOTHING: u16 = 0x30;

/// The flags that hold a number with the greatest one left out: an axis, or a kind of reduction.
const fn not_all(row: &Row) -> u8 {
    match row.op {
        Op::GlobalId
        | Op::LocalId
        | Op::WorkgroupId
        | Op::WorkgroupSize
        | Op::NumWorkgroups
        | Op::GlobalSize
        | Op::SubgroupAdd
        | Op::SubgroupMin
        | Op::SubgroupMax
        | Op::SubgroupAnd
        | Op::SubgroupOr
        | Op::SubgroupXor => 3,
        _ => 0,
    }
}

/// An opcode on values alone, and what T may be there: what callers know when they are compiled, in two registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnValues {
    pub op: Op,
    pub types: TypeSet,
}

impl Op {
    /// For opcodes whose wants are all there is to say; others have no types there.
    pub(crate) const fn on_values(self) -> OnValues {
        let mut types = TypeSet::NONE;
        let mut n = 0;
        while n < COUNT {
            let row = &ROWS[n];
            if row.op as u16 == self as u16 && matches!(Shape::of(row), Shape::Plain) {
                types = quick(row).types;
            }
            n += 1;
        }
        OnValues { op: self, types }
    }
}

const fn has_t(row: &Row) -> bool {
    let mut has_t = matches!(row.makes, Makes::T | Makes::Var);
    let mut n = 0;
    while n < row.operands.len() {
        has_t = has_t || matches!(row.operands[n], Operand::T);
        n += 1;
    }
    has_t
}

const fn quick(row: &Row) -> Quick {
    let shape = Shape::of(row);
    let by_values = has_t(row) && !has_more(row) && matches!(row.uniformity, Uniformity::Operands);
    Quick {
        types: match shape {
            Shape::Plain if !by_values => TypeSet::NONE,
            Shape::Other => TypeSet::NONE,
            _ => row.types,
        },
        shape,
        makes: row.makes,
        uniformity: row.uniformity,
        effect: row.effect,
        flags: row.flags,
        form: row.form,
        steers: steers(row),
        len: row.words() as u8,
        values: value_words(row),
        not_all: not_all(row),
    }
}

const fn plain(row: &Row) -> Plain {
    let wants = wants(row);
    let level = match row.uniformity {
        Uniformity::Workgroup | Uniformity::Operands => 0,
        Uniformity::Subgroup => 1 << 8,
        Uniformity::Load | Uniformity::Divergent => 3 << 8,
    };
    let mut plain = Plain {
        types: if has_t(row) {
            row.types
        } else {
            TypeSet::EVERY
        },
        firsts: match row.operands {
            [Operand::Any, ..] => match row.op {
                Op::Bitcast => TypeSet::NUMERIC,
                _ => TypeSet::ALL,
            },
            [Operand::Vector, ..] => TypeSet::VECTORS,
            _ => TypeSet::EVERY,
        },
        of_t: 0,
        codes: 0,
        cares: 0,
        levels: 0,
        values: [0; 3],
        zeros: [0; 3],
        no_flags: !row.flags,
        not: if not_all(row) == 0 { u8::MAX } else { 3 },
        told: if matches!(row.makes, Makes::T) {
            u8::MAX
        } else {
            0
        },
        made: row.makes.of(Type::NONE).code(),
        sets: match row.makes {
            Makes::Nothing => NOTHING,
            makes => makes.of(Type::NONE).code() as u16 | level,
        },
        is_const: if matches!(row.op, Op::Const) { -1 } else { 0 },
        more: has_more(row),
    };
    let mut n = 0;
    while n < wants.len() {
        let (of_t, code, cares) = match wants[n] {
            Want::T => (0xFF, 0, 0xFF),
            Want::Elem => (0x0F, 0, 0xFF),
            Want::Vector => (0x0F, 0, 0x0F),
            Want::Bool => (0, Type::BOOL.code(), 0xFF),
            Want::U32 => (0, Type::U32.code(), 0xFF),
            Want::Any | Want::Literal | Want::Nothing => (0, 0, 0),
        };
        plain.of_t |= of_t << (16 * n);
        plain.codes |= (code as u64) << (16 * n);
        plain.cares |= cares << (16 * n);
        match wants[n] {
            Want::Nothing => plain.zeros[n] = -1,
            Want::Literal => {}
            _ => {
                plain.values[n] = -1;
                if matches!(row.uniformity, Uniformity::Operands) {
                    plain.levels |= 0x0300 << (16 * n);
                }
            }
        }
        n += 1;
    }
    plain
}

/// What uniformity depends on beside the operands of what makes a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Steers {
    Nothing,
    /// It needs control of the workgroup.
    Workgroup,
    /// It needs control of the subgroup.
    Subgroup,
    Var,
    VarGet,
    VarSet,
    If,
    Else,
    Loop,
    Continuing,
    End,
    Leave,
}

const fn steers(row: &Row) -> Steers {
    match row.effect {
        Effect::Barrier => Steers::Workgroup,
        Effect::Collective => Steers::Subgroup,
        Effect::Terminator => Steers::Leave,
        Effect::Block => match row.op {
            Op::If => Steers::If,
            Op::Else => Steers::Else,
            Op::Loop => Steers::Loop,
            Op::Continuing => Steers::Continuing,
            _ => Steers::End,
        },
        Effect::Pure | Effect::Fence => Steers::Nothing,
        Effect::Reads | Effect::Writes | Effect::ReadsWrites => match row.op {
            Op::Var => Steers::Var,
            Op::VarGet => Steers::VarGet,
            Op::VarSet => Steers::VarSet,
            _ => Steers::Nothing,
        },
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

/// By opcode number; what is no opcode is as the first row, and nobody asks.
static QUICK: [Quick; 256] = {
    let mut table = [quick(&ROWS[0]); 256];
    let mut i = 0;
    while i < COUNT {
        table[ROWS[i].op as usize] = quick(&ROWS[i]);
        i += 1;
    }
    table
};

/// The same of [`Plain`], of use where the shape is.
static PLAIN: [Plain; 256] = {
    let mut table = [plain(&ROWS[0]); 256];
    let mut i = 0;
    while i < COUNT {
        table[ROWS[i].op as usize] = plain(&ROWS[i]);
        i += 1;
    }
    table
};

impl Op {
    #[inline(always)]
    pub(crate) fn quick(self) -> &'static Quick {
        &QUICK[self as usize & 255]
    }

    #[inline(always)]
    pub(crate) fn plain(self) -> &'static Plain {
        &PLAIN[self as usize & 255]
    }
}

/// What the words of an instruction of [`Shape::Plain`] are to be.
#[cfg(debug_assertions)]
pub(crate) fn wants_of(op: Op) -> [Want; 3] {
    wants(op.row())
}
