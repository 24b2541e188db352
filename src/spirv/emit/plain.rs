//! Opcodes that are the same words of the target whatever is around them, for most types: a table of patterns.

use super::body::class_code;
use super::sections::head;
use crate::kernel::Inst;
use crate::op::Op;
use spirv::{GlslStd450Op as Gl, Op as S};

/// How an opcode is written for a type.
#[derive(Clone, Copy)]
pub(super) struct Pattern {
    /// The instruction's first word.
    pub head: u32,
    /// The number of an extended instruction, or what [`Way`] says.
    pub number: u8,
    pub way: Way,
    /// What must be there, as bits: nothing of the commonest, [`Way::Core`]; [`GLSL`], or [`GLSL`] and [`FMA`], of
    /// [`Way::Ext`]; [`ELSE`] of all others,
    /// and [`LONG`] of [`Way::Long`].
    pub needs: u8,
    /// The words of decorations of each that is not contracted, unless the kernel allows it; 0 of others.
    pub marks: u8,
}

/// The short ways in which [`super::stretch`] writes instructions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// An instruction of the core with up to two operands.
    Core,
    /// One of GLSL.std.450 with up to three.
    Ext,
    /// One of the core with three.
    Three,
    /// A comparison, which goes by the type of its operands: `number` is its row of [`COMPARISONS`].
    Compare,
    /// A shift by a constant that is below the width.
    Shift,
    /// A product, and a sum whose opcode is `number`.
    MulAdd,
    Load,
    Store,
    VarSet,
    If,
    Loop,
    Continuing,
    Break,
    End,
    /// A barrier like one before.
    Barrier,
    /// None of them: see [`super::body::Body::instruction`].
    Long,
}

/// GLSL.std.450.
pub(super) const GLSL: u8 = 1;
/// The device's own `Fma`, which may not be wanted.
pub(super) const FMA: u8 = 2;
/// What is never there.
pub(super) const ELSE: u8 = 4;
/// The same of what has no short way.
pub(super) const LONG: u8 = 8;

const NONE: Pattern = Pattern {
    head: 0,
    number: 0,
    way: Way::Long,
    needs: ELSE | LONG,
    marks: 0,
};

/// An instruction with so many operands.
const fn core(op: S, operands: u32) -> Pattern {
    Pattern {
        head: head(op, 3 + operands),
        way: Way::Core,
        needs: 0,
        ..NONE
    }
}

/// The same of two floats, not contracted.
const fn exact(op: S) -> Pattern {
    Pattern {
        // `NoContraction`.
        marks: 3,
        ..core(op, 2)
    }
}

const fn ext(op: Gl, operands: u32) -> Pattern {
    Pattern {
        head: head(S::ExtInst, 5 + operands),
        // There are 81 of them.
        number: op as u8,
        way: Way::Ext,
        needs: GLSL,
        ..NONE
    }
}

/// What has no type.
const fn plain(way: Way) -> [Pattern; KINDS] {
    let mut all = [NONE; KINDS];
    (all[0].way, all[0].needs) = (way, ELSE);
    all
}

const fn comparison(row: u8) -> [Pattern; KINDS] {
    let mut all = [NONE; KINDS];
    (all[1].way, all[1].needs) = (Way::Compare, ELSE);
    all[1].number = row;
    all
}

const fn shift(signed: S, unsigned: S) -> [Pattern; KINDS] {
    let mut all = [NONE; KINDS];
    [all[2], all[3]] = [core(signed, 2), core(unsigned, 2)];
    [all[2].way, all[3].way] = [Way::Shift; 2];
    [all[2].needs, all[3].needs] = [ELSE; 2];
    all
}

/// The patterns of an opcode by the kind of its result (as [`class_code`]): none, bool, signed, unsigned, float; signed
/// and unsigned of 8 and 16 bits, f16, bf16.
const fn patterns(op: Op) -> [Pattern; KINDS] {
    /// Integers of 32 and 64 bits, and f16 to f64.
    const fn numeric(int: Pattern, float: Pattern) -> [Pattern; KINDS] {
        [NONE, NONE, int, int, float, NONE, NONE, float, NONE]
    }
    /// f32 and f64.
    const fn wide(p: Pattern) -> [Pattern; KINDS] {
        [NONE, NONE, NONE, NONE, p, NONE, NONE, NONE, NONE]
    }
    /// All floats: what of an f32 is a bf16 is one of it here.
    const fn floats(p: Pattern) -> [Pattern; KINDS] {
        [NONE, NONE, NONE, NONE, p, NONE, NONE, p, p]
    }
    /// All integers: of normalised ones the result is normalised.
    const fn logic(int: S, bool_: S, operands: u32) -> [Pattern; KINDS] {
        let int = core(int, operands);
        let bool_ = core(bool_, operands);
        [NONE, bool_, int, int, NONE, int, int, NONE, NONE]
    }
    const fn ordered(signed: Gl, unsigned: Gl) -> [Pattern; KINDS] {
        let (s, u) = (ext(signed, 2), ext(unsigned, 2));
        [NONE, NONE, s, u, NONE, s, u, NONE, NONE]
    }
    const fn any(p: Pattern) -> [Pattern; KINDS] {
        [NONE, p, p, p, p, p, p, p, p]
    }
    match op {
        Op::Add => numeric(core(S::IAdd, 2), exact(S::FAdd)),
        Op::Sub => numeric(core(S::ISub, 2), exact(S::FSub)),
        Op::Mul => numeric(core(S::IMul, 2), exact(S::FMul)),
        Op::Div => wide(core(S::FDiv, 2)),
        Op::Neg => {
            let float = core(S::FNegate, 1);
            let mut all = floats(float);
            all[2] = core(S::SNegate, 1);
            all[3] = all[2];
            all
        }
        Op::Abs => {
            let mut all = floats(ext(Gl::FAbs, 1));
            all[2] = ext(Gl::SAbs, 1);
            all
        }
        Op::Min => ordered(Gl::SMin, Gl::UMin),
        Op::Max => ordered(Gl::SMax, Gl::UMax),
        Op::Fma => {
            let fma = Pattern {
                needs: GLSL | FMA,
                ..ext(Gl::Fma, 3)
            };
            let mut all = wide(fma);
            all[7] = all[4];
            all
        }
        Op::And => logic(S::BitwiseAnd, S::LogicalAnd, 2),
        Op::Or => logic(S::BitwiseOr, S::LogicalOr, 2),
        Op::Xor => logic(S::BitwiseXor, S::LogicalNotEqual, 2),
        Op::Not => {
            let mut all = logic(S::Not, S::LogicalNot, 1);
            // The bits above would be ones.
            all[6] = NONE;
            all
        }
        Op::Sqrt => wide(ext(Gl::Sqrt, 1)),
        Op::Floor => floats(ext(Gl::Floor, 1)),
        Op::Ceil => floats(ext(Gl::Ceil, 1)),
        Op::Trunc => floats(ext(Gl::Trunc, 1)),
        Op::RoundEven => floats(ext(Gl::RoundEven, 1)),
        Op::Construct2 => any(core(S::CompositeConstruct, 2)),
        Op::VarGet => any(core(S::Load, 1)),
        Op::Eq => comparison(0),
        Op::Ne => comparison(1),
        Op::Lt => comparison(2),
        Op::Le => comparison(3),
        Op::Gt => comparison(4),
        Op::Ge => comparison(5),
        Op::Select => any(Pattern {
            way: Way::Three,
            needs: ELSE,
            ..core(S::Select, 3)
        }),
        Op::Shl => shift(S::ShiftLeftLogical, S::ShiftLeftLogical),
        Op::Shr => shift(S::ShiftRightArithmetic, S::ShiftRightLogical),
        Op::MulAdd => {
            let (mut int, mut float) = (core(S::IMul, 2), exact(S::FMul));
            [int.way, float.way] = [Way::MulAdd; 2];
            [int.needs, float.needs] = [ELSE; 2];
            // Below 256.
            [int.number, float.number] = [S::IAdd as u8, S::FAdd as u8];
            numeric(int, float)
        }
        Op::Load => any(Pattern {
            way: Way::Load,
            needs: ELSE,
            ..NONE
        }),
        Op::Store => plain(Way::Store),
        Op::VarSet => plain(Way::VarSet),
        Op::If => plain(Way::If),
        Op::Loop => plain(Way::Loop),
        Op::Continuing => plain(Way::Continuing),
        Op::Break => plain(Way::Break),
        Op::End => plain(Way::End),
        Op::WorkgroupBarrier => plain(Way::Barrier),
        Op::Const
        | Op::Param
        | Op::GlobalId
        | Op::LocalId
        | Op::WorkgroupId
        | Op::WorkgroupSize
        | Op::NumWorkgroups
        | Op::GlobalSize
        | Op::LocalIndex
        | Op::SubgroupSize
        | Op::Lane
        | Op::SubgroupId
        | Op::AssumeUniform
        | Op::MulHi
        | Op::Rem
        | Op::MinNan
        | Op::MaxNan
        | Op::Clamp
        | Op::AddSat
        | Op::SubSat
        | Op::Dot4Add
        | Op::RotateLeft
        | Op::RotateRight
        | Op::Clz
        | Op::Ctz
        | Op::Popcount
        | Op::ReverseBits
        | Op::BitfieldExtract
        | Op::BitfieldInsert
        | Op::FunnelShl
        | Op::FunnelShr
        | Op::Convert
        | Op::Bitcast
        | Op::Pack
        | Op::Unpack
        | Op::Rsqrt
        | Op::Rcp
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
        | Op::Fract
        | Op::Copysign
        | Op::IsNan
        | Op::IsInf
        | Op::Construct4
        | Op::Extract
        | Op::ArrayLength
        | Op::Var
        | Op::AtomicLoad
        | Op::AtomicStore
        | Op::AtomicAdd
        | Op::AtomicSub
        | Op::AtomicMin
        | Op::AtomicMax
        | Op::AtomicAnd
        | Op::AtomicOr
        | Op::AtomicXor
        | Op::AtomicExchange
        | Op::AtomicCompareExchange
        | Op::MemoryFence
        | Op::Shuffle
        | Op::ShuffleXor
        | Op::ShuffleUp
        | Op::ShuffleDown
        | Op::Broadcast
        | Op::Ballot
        | Op::Any
        | Op::All
        | Op::Elect
        | Op::SubgroupAdd
        | Op::SubgroupMin
        | Op::SubgroupMax
        | Op::SubgroupAnd
        | Op::SubgroupOr
        | Op::SubgroupXor
        | Op::SubgroupBarrier
        | Op::Else
        | Op::Continue
        | Op::Return => [NONE; KINDS],
    }
}

/// The number of kinds of results.
const KINDS: usize = 9;

/// Spreads a row by kinds over the low four bits of type codes.
macro_rules! by_code {
    ($kinds:expr, $none:expr) => {{
        let mut row = [$none; 16];
        let mut code = 0;
        while code < 16 {
            row[code] = $kinds[class_code(code as u8)];
            code += 1;
        }
        row
    }};
}

/// The patterns by opcode number and the low four bits of the type's code, which are its scalar.
static PATTERNS: [[Pattern; 16]; 256] = {
    let mut table = [[NONE; 16]; 256];
    let mut i = 0;
    while i < crate::op::COUNT {
        let op = Op::ALL[i];
        let kinds = patterns(op);
        // `Op`'s table refuses to compile with a number above 255.
        table[op as usize] = by_code!(kinds, NONE);
        i += 1;
    }
    table
};

const fn order(signed: S, unsigned: S, float: S) -> [u32; 16] {
    let (s, u, f) = (head(signed, 5), head(unsigned, 5), head(float, 5));
    let kinds = [0, 0, s, u, f, s, u, f, f];
    by_code!(kinds, 0)
}

const fn same(int: S, bool_: S, float: S) -> [u32; 16] {
    let (int, f) = (head(int, 5), head(float, 5));
    let kinds = [0, head(bool_, 5), int, int, f, int, int, f, f];
    by_code!(kinds, 0)
}

/// First words of comparisons (eq ne lt le gt ge) by the scalar of the operands, and none.
pub(super) static COMPARISONS: [[u32; 16]; 8] = [
    same(S::IEqual, S::LogicalEqual, S::FOrdEqual),
    same(S::INotEqual, S::LogicalNotEqual, S::FUnordNotEqual),
    order(S::SLessThan, S::ULessThan, S::FOrdLessThan),
    order(S::SLessThanEqual, S::ULessThanEqual, S::FOrdLessThanEqual),
    order(S::SGreaterThan, S::UGreaterThan, S::FOrdGreaterThan),
    order(
        S::SGreaterThanEqual,
        S::UGreaterThanEqual,
        S::FOrdGreaterThanEqual,
    ),
    [0; 16],
    [0; 16],
];

/// How an instruction is written.
#[inline(always)]
pub(super) fn pattern(inst: &Inst) -> &'static Pattern {
    &PATTERNS[inst.op as usize & 255][inst.ty.code() as usize & 15]
}
