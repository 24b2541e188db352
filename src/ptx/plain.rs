//! The fast path: instructions that are one line of text.
//!
//! Most of a long kernel is such instructions. They are written from a table of patterns, in a loop that keeps what it
//! counts in registers; whatever needs more than one line leaves the loop. What is written is what the opcode's method
//! writes; a test holds the two against each other.

use super::arith::{
    ABS, ADD, ADD_BARE, DIV, FMA, MAD_LO, MAX, MIN, MUL, MUL_BARE, MUL_HI, NEG, SUB, SUB_BARE,
};
use super::bits::{AND, NOT, OR, SHL, SHR, XOR};
use super::body::Body;
use super::compare::{SETP_EQ, SETP_GE, SETP_GT, SETP_LE, SETP_LT, SETP_NE};
use super::mnemonic::{Class, Kind, MOV, Mnemonic};
use super::values::constant;
use super::writer::ShortPiece;
use crate::kernel::Inst;
use crate::op::Op;
use crate::types::Type;

/// How the words of an instruction become a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// So many operands to a new register.
    Line(u8),
    /// By an amount that is a constant below the width.
    Shift,
    /// Two operands to a predicate; the kind is theirs.
    Compare,
    /// To the register of a variable; the kind is that of the value.
    VarSet,
    /// No line: an immediate stands for it.
    Const,
}

/// One pattern, for instructions without flags.
#[derive(Clone, Copy)]
struct Pattern {
    shape: Shape,
    /// Bits of the kinds for which it holds.
    kinds: u16,
    mnemonic: &'static Mnemonic,
}

const fn bits(kinds: &[Kind]) -> u16 {
    let mut bits = 0;
    let mut i = 0;
    while i < kinds.len() {
        bits |= 1 << kinds[i] as u16;
        i += 1;
    }
    bits
}

const BOOL: u16 = bits(&[Kind::Bool]);
const INTS: u16 = bits(&[Kind::I32, Kind::U32, Kind::I64, Kind::U64]);
const SIGNED: u16 = bits(&[Kind::I32, Kind::I64]);
const FLOATS: u16 = bits(&[Kind::F32, Kind::F64]);
const NARROW: u16 = bits(&[Kind::I8, Kind::U8, Kind::I16, Kind::U16]);
const F16: u16 = bits(&[Kind::F16]);
const NUMBERS: u16 = INTS | FLOATS | NARROW | F16 | bits(&[Kind::BF16]);

const fn pattern(op: Op, contract: bool) -> Option<Pattern> {
    const fn of(shape: Shape, kinds: u16, mnemonic: &'static Mnemonic) -> Option<Pattern> {
        Some(Pattern {
            shape,
            kinds,
            mnemonic,
        })
    }
    /// A sum or product, which may be contracted or not.
    const fn sum(
        contract: bool,
        bare: &'static Mnemonic,
        exact: &'static Mnemonic,
    ) -> Option<Pattern> {
        of(BINARY, INTS | FLOATS, if contract { bare } else { exact })
    }
    const UNARY: Shape = Shape::Line(1);
    const BINARY: Shape = Shape::Line(2);
    const TERNARY: Shape = Shape::Line(3);
    const COMPARED: u16 = INTS | FLOATS | NARROW | F16;
    match op {
        Op::Add => sum(contract, &ADD_BARE, &ADD),
        Op::Sub => sum(contract, &SUB_BARE, &SUB),
        Op::Mul => sum(contract, &MUL_BARE, &MUL),
        Op::MulHi => of(BINARY, INTS, &MUL_HI),
        Op::Div => of(BINARY, FLOATS, &DIV),
        Op::Neg => of(UNARY, SIGNED | FLOATS, &NEG),
        Op::Abs => of(UNARY, SIGNED | FLOATS, &ABS),
        Op::Min => of(BINARY, INTS | FLOATS | NARROW, &MIN),
        Op::Max => of(BINARY, INTS | FLOATS | NARROW, &MAX),
        Op::MulAdd => of(TERNARY, INTS, &MAD_LO),
        Op::Fma => of(TERNARY, FLOATS | F16, &FMA),
        Op::And => of(BINARY, BOOL | INTS | NARROW, &AND),
        Op::Or => of(BINARY, BOOL | INTS | NARROW, &OR),
        Op::Xor => of(BINARY, BOOL | INTS | NARROW, &XOR),
        Op::Not => of(UNARY, BOOL | INTS, &NOT),
        Op::Shl => of(Shape::Shift, INTS, &SHL),
        Op::Shr => of(Shape::Shift, INTS, &SHR),
        Op::Eq => of(Shape::Compare, COMPARED, &SETP_EQ),
        Op::Ne => of(Shape::Compare, COMPARED, &SETP_NE),
        Op::Lt => of(Shape::Compare, COMPARED, &SETP_LT),
        Op::Le => of(Shape::Compare, COMPARED, &SETP_LE),
        Op::Gt => of(Shape::Compare, COMPARED, &SETP_GT),
        Op::Ge => of(Shape::Compare, COMPARED, &SETP_GE),
        Op::Var | Op::VarGet => of(UNARY, BOOL | NUMBERS, &MOV),
        Op::VarSet => of(Shape::VarSet, BOOL | NUMBERS, &MOV),
        Op::Const => of(Shape::Const, INTS | FLOATS | NARROW, &MOV),
        Op::Param
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
        | Op::Sqrt
        | Op::Rsqrt
        | Op::Rcp
        | Op::Floor
        | Op::Ceil
        | Op::Trunc
        | Op::RoundEven
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
        | Op::Select
        | Op::Construct2
        | Op::Construct4
        | Op::Extract
        | Op::Load
        | Op::Store
        | Op::ArrayLength
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
        | Op::WorkgroupBarrier
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
        | Op::If
        | Op::Else
        | Op::End
        | Op::Loop
        | Op::Continuing
        | Op::Break
        | Op::Continue
        | Op::Return => None,
    }
}

/// A pattern for one scalar type, with its mnemonic at hand.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Row {
    mnemonic: ShortPiece,
    /// How many, or one of the numbers below.
    operands: u8,
    class: Class,
}

/// No line: an immediate stands for the value.
const CONST: u8 = 4;
/// Two operands, of which the second must be a constant below the width.
const SHIFT: u8 = 5;
/// The row of an operand's type says more.
const COMPARE: u8 = 6;
/// As [`COMPARE`], of the value that is assigned.
const SET: u8 = 7;
/// There is no pattern.
const NONE: u8 = 8;

/// The number of opcodes that have patterns, and one for all that have none.
const COUNT: usize = {
    let mut count = 1;
    let mut i = 0;
    while i < crate::op::COUNT {
        count += pattern(Op::ALL[i], false).is_some() as usize;
        i += 1;
    }
    count
};

/// Rows of an opcode: by the low four bits of a type's code, which are its scalar.
const CODES: usize = 16;
/// A power of two, so that a mask keeps an index within.
const ROWS: usize = (COUNT * CODES).next_power_of_two();

const fn rows(contract: bool) -> [Row; ROWS] {
    let none = Row {
        mnemonic: ShortPiece::EMPTY,
        operands: NONE,
        class: Class::Pred,
    };
    let mut all = [none; ROWS];
    let mut i = 0;
    while i < crate::op::COUNT {
        let op = Op::ALL[i];
        if let Some(pattern) = pattern(op, contract) {
            let place = PLACES[op as usize] as usize;
            let mut code = 0;
            while code < CODES as u8 {
                if let Some(ty) = Type::from_code(code)
                    && let Some(kind) = Kind::of_const(ty)
                    && pattern.kinds >> kind as u16 & 1 != 0
                {
                    let (operands, class) = match pattern.shape {
                        Shape::Line(operands) => (operands, kind.class()),
                        Shape::Shift => (SHIFT, kind.class()),
                        Shape::Compare => (2, Class::Pred),
                        Shape::VarSet => (1, kind.class()),
                        Shape::Const => (CONST, kind.class()),
                    };
                    all[place + code as usize] = Row {
                        mnemonic: ShortPiece::of(pattern.mnemonic.of(kind)),
                        operands,
                        class,
                    };
                }
                code += 1;
            }
            match pattern.shape {
                Shape::Line(_) | Shape::Shift | Shape::Const => {}
                Shape::Compare => all[place + Type::BOOL.code() as usize].operands = COMPARE,
                Shape::VarSet => all[place + Type::NONE.code() as usize].operands = SET,
            }
        }
        i += 1;
    }
    all
}

/// Rows by opcode and type.
pub(super) type Table = [Row; ROWS];

static EXACT: Table = rows(false);
static CONTRACTED: Table = rows(true);

/// The patterns of kernels that allow contraction, or do not.
pub(super) fn table(contract: bool) -> &'static Table {
    if contract { &CONTRACTED } else { &EXACT }
}

/// Whether an opcode has patterns.
#[inline(always)]
pub(super) fn has_patterns(op: Op) -> bool {
    PLACES[op as usize & 255] != 0
}

/// Where the rows of an opcode begin, by its number; 0 where there are none.
static PLACES: [u16; 256] = {
    let mut places = [0; 256];
    let mut next = CODES as u16;
    let mut i = 0;
    while i < crate::op::COUNT {
        let op = Op::ALL[i];
        if pattern(op, false).is_some() {
            // `Op`'s table refuses to compile with a number above 255.
            places[op as usize] = next;
            next += CODES as u16;
        }
        i += 1;
    }
    places
};

/// The row of an opcode and the code of a type.
#[inline(always)]
fn row_of(table: &'static Table, op: Op, code: u8) -> &'static Row {
    let place = usize::from(PLACES[op as usize & 255]);
    &table[(place + usize::from(code) % CODES) % ROWS]
}

/// The code of the type of a value.
#[inline(always)]
fn code_of(insts: &[Inst], word: u32) -> u8 {
    insts.get(word as usize).map_or(0, |i| i.ty.code())
}

/// The row of an instruction whose type alone does not say how it is written, and how many operands it takes then.
#[inline(always)]
fn settled(
    table: &'static Table,
    insts: &[Inst],
    inst: &Inst,
    row: &'static Row,
) -> Option<(&'static Row, u8)> {
    match row.operands {
        SHIFT => {
            let amount = insts.get(inst.b as usize)?;
            let width = if row.class == Class::B64 { 64 } else { 32 };
            let known = amount.op == Op::Const && amount.const_bits() < width;
            known.then_some((row, 2))
        }
        COMPARE => {
            let row = row_of(table, inst.op, code_of(insts, inst.a));
            (row.operands == 2).then_some((row, 2))
        }
        SET => {
            let row = row_of(table, inst.op, code_of(insts, inst.b));
            (row.operands == 1).then_some((row, SET))
        }
        CONST => Some((row, CONST)),
        _ => None,
    }
}

impl Body<'_, '_> {
    /// Writes instructions as long as they have patterns.
    #[inline(always)]
    pub fn plain(&mut self) {
        let insts = self.insts;
        let Some(values) = self.values.get_mut(..insts.len()) else {
            return;
        };
        let table = self.patterns;
        let registers = &mut self.registers;
        let mut lines = self.w.lines();
        let mut at = self.at;
        while let Some(inst) = insts.get(at) {
            let mut row = row_of(table, inst.op, inst.ty.code());
            let mut operands = row.operands;
            if operands > 3 || inst.flags != 0 {
                if operands == NONE || inst.flags != 0 {
                    break;
                }
                let Some(other) = settled(table, insts, inst, row) else {
                    break;
                };
                (row, operands) = other;
                if operands > 3 {
                    if operands == CONST {
                        if let Some(slot) = values.get_mut(at) {
                            *slot = constant(inst);
                        }
                    } else {
                        let Some(line) = lines.line() else { break };
                        let (var, value) =
                            (values.get(inst.a as usize), values.get(inst.b as usize));
                        let (Some(var), Some(value)) = (var, value) else {
                            break;
                        };
                        let line = line.begin(&row.mnemonic, var).operand(*value);
                        let Some(end) = line.end() else { break };
                        lines.next(end);
                    }
                    at += 1;
                    continue;
                }
            }
            let Some(line) = lines.line() else { break };
            // As many counters as classes.
            let registers = &mut registers[row.class as usize];
            if let Some(slot) = values.get_mut(at) {
                slot.copy_from(registers.next());
            }
            let line = line.begin(&row.mnemonic, registers.next());
            let Some(a) = values.get(inst.a as usize) else {
                break;
            };
            let mut line = line.operand(*a);
            if operands > 1 {
                let Some(b) = values.get(inst.b as usize) else {
                    break;
                };
                line = line.operand(*b);
                if operands > 2 {
                    let Some(c) = values.get(inst.c as usize) else {
                        break;
                    };
                    line = line.operand(*c);
                }
            }
            // A wide operand takes another way.
            let Some(end) = line.end() else { break };
            lines.next(end);
            registers.count_up();
            at += 1;
        }
        let left = lines.left();
        self.w.resume(left);
        self.at = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::KernelBuilder;
    use crate::kernel::Value;
    use crate::op::Operand;
    use crate::ptx::{Emitter, Options, Target};
    use crate::types::{Const, Scalar};

    /// Every opcode of values that has patterns, on every type, of registers and of constants, narrow and wide.
    fn describe(b: &mut KernelBuilder) {
        b.reset("k", [64, 1, 1]);
        for scalar in Scalar::ALL {
            let ty = Type::of(scalar);
            let given = b.scalar("", ty);
            let parameter = b.param(given);
            let most = match scalar.bits() {
                1 => 1,
                64 => u64::MAX >> 1,
                bits => (1 << (bits - 1)) - 1,
            };
            let (one, most) = (Const::new(ty, 1).unwrap(), Const::new(ty, most).unwrap());
            let (one, most) = (b.constant(one), b.constant(most));
            let (flag, count) = (b.constant(true), b.constant(3u32));
            let var = b.var(most);
            for rotation in 0..3 {
                let mut values = [parameter, one, most];
                values.rotate_left(rotation);
                for op in Op::ALL {
                    let row = op.row();
                    if !has_patterns(op)
                        || op == Op::Const
                        || !row.types.contains(ty)
                        || row.operands.contains(&Operand::Var)
                    {
                        continue;
                    }
                    let operand = |(n, kind): (usize, &Operand)| match kind {
                        Operand::Bool => flag,
                        Operand::U32 => count,
                        _ => values[n % 3],
                    };
                    let operands: Vec<Value> =
                        row.operands.iter().enumerate().map(operand).collect();
                    if op != Op::Var {
                        b.apply(op, &operands);
                    }
                }
                b.set(var, values[0]);
                let held = b.get(var);
                b.set(var, held);
            }
        }
    }

    #[test]
    fn patterns_write_what_the_methods_write() {
        for contract in [false, true] {
            let mut b = KernelBuilder::new("k", [1, 1, 1]);
            describe(&mut b);
            if contract {
                b.allow_contraction();
            }
            let kernel = b.finish().unwrap();
            for target in ["sm_75", "sm_90"] {
                let options = Options::new(Target::parse(target).unwrap());
                let text = |mut emitter: Emitter| {
                    let mut out = Vec::new();
                    emitter.emit(&kernel, &options, &mut out).unwrap();
                    String::from_utf8(out).unwrap()
                };
                let (fast, slow) = (
                    text(Emitter::new()),
                    text(Emitter::new().without_patterns()),
                );
                assert!(fast.lines().count() > 500);
                for (fast, slow) in fast.lines().zip(slow.lines()) {
                    assert_eq!(fast, slow);
                }
                assert_eq!(fast, slow);
            }
        }
    }
}
