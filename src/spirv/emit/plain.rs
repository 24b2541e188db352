//! The fast path: opcodes that are one instruction of the target, and loads and stores.
//!
//! Most of a long kernel is such instructions. They are written from a table of patterns, in a loop that keeps its
//! counters in registers; whatever needs a declaration first, or more than one instruction, leaves the loop.

use super::body::{Body, class_code};
use super::options::Fma;
use super::sections::head;
use crate::kernel::Inst;
use crate::op::Op;
use spirv::{Decoration, GlslStd450Op as Gl, Op as S};

/// How the words of a pattern are laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// There is no pattern.
    None,
    Unary,
    Binary,
    /// Not contracted, unless the kernel allows it.
    Exact,
    /// Select.
    Ternary,
    /// GLSL.std.450, by its number of operands.
    Ext1,
    Ext2,
    Fma,
    /// The instruction goes by the operands' type: a row of [`COMPARISONS`].
    Compare,
    VarSet,
    Load,
    Store,
}

/// One pattern.
#[derive(Clone, Copy)]
struct Pattern {
    /// The instruction's first word.
    head: u32,
    /// The number of the extended instruction, or of the comparison.
    number: u16,
    shape: Shape,
}

const NONE: Pattern = Pattern {
    head: 0,
    number: 0,
    shape: Shape::None,
};

const fn core(op: S, shape: Shape) -> Pattern {
    let words = match shape {
        Shape::Unary => 4,
        Shape::Binary | Shape::Exact => 5,
        Shape::Ternary => 6,
        Shape::VarSet => 3,
        Shape::None
        | Shape::Ext1
        | Shape::Ext2
        | Shape::Fma
        | Shape::Compare
        | Shape::Load
        | Shape::Store => 0,
    };
    Pattern {
        head: head(op, words),
        number: 0,
        shape,
    }
}

const fn ext(op: Gl, shape: Shape) -> Pattern {
    let words = match shape {
        Shape::Ext1 => 6,
        Shape::Ext2 => 7,
        _ => 8,
    };
    Pattern {
        head: head(S::ExtInst, words),
        number: op as u16,
        shape,
    }
}

const fn special(shape: Shape, number: u16) -> Pattern {
    Pattern {
        head: 0,
        number,
        shape,
    }
}

/// The patterns of an opcode by the kind of its result: none, bool, signed, unsigned, float (as [`class_code`]).
const fn patterns(op: Op) -> [Pattern; 5] {
    const fn numeric(int: Pattern, float: Pattern) -> [Pattern; 5] {
        [NONE, NONE, int, int, float]
    }
    const fn float(p: Pattern) -> [Pattern; 5] {
        [NONE, NONE, NONE, NONE, p]
    }
    const fn logic(int: S, bool_: S, shape: Shape) -> [Pattern; 5] {
        let int = core(int, shape);
        [NONE, core(bool_, shape), int, int, NONE]
    }
    const fn compare(row: u16) -> [Pattern; 5] {
        [NONE, special(Shape::Compare, row), NONE, NONE, NONE]
    }
    const fn any(p: Pattern) -> [Pattern; 5] {
        [NONE, p, p, p, p]
    }
    use Shape::{Binary, Exact, Ext1, Ext2, Ternary, Unary};
    match op {
        Op::Add => numeric(core(S::IAdd, Binary), core(S::FAdd, Exact)),
        Op::Sub => numeric(core(S::ISub, Binary), core(S::FSub, Exact)),
        Op::Mul => numeric(core(S::IMul, Binary), core(S::FMul, Exact)),
        Op::Div => float(core(S::FDiv, Binary)),
        Op::Neg => numeric(core(S::SNegate, Unary), core(S::FNegate, Unary)),
        Op::Abs => [NONE, NONE, ext(Gl::SAbs, Ext1), NONE, ext(Gl::FAbs, Ext1)],
        Op::Min => [NONE, NONE, ext(Gl::SMin, Ext2), ext(Gl::UMin, Ext2), NONE],
        Op::Max => [NONE, NONE, ext(Gl::SMax, Ext2), ext(Gl::UMax, Ext2), NONE],
        Op::Fma => float(ext(Gl::Fma, Shape::Fma)),
        Op::And => logic(S::BitwiseAnd, S::LogicalAnd, Binary),
        Op::Or => logic(S::BitwiseOr, S::LogicalOr, Binary),
        Op::Xor => logic(S::BitwiseXor, S::LogicalNotEqual, Binary),
        Op::Not => logic(S::Not, S::LogicalNot, Unary),
        Op::Eq => compare(0),
        Op::Ne => compare(1),
        Op::Lt => compare(2),
        Op::Le => compare(3),
        Op::Gt => compare(4),
        Op::Ge => compare(5),
        Op::Select => any(core(S::Select, Ternary)),
        Op::Sqrt => float(ext(Gl::Sqrt, Ext1)),
        Op::Floor => float(ext(Gl::Floor, Ext1)),
        Op::Ceil => float(ext(Gl::Ceil, Ext1)),
        Op::Trunc => float(ext(Gl::Trunc, Ext1)),
        Op::RoundEven => float(ext(Gl::RoundEven, Ext1)),
        Op::VarGet => any(core(S::Load, Unary)),
        Op::VarSet => [core(S::Store, Shape::VarSet), NONE, NONE, NONE, NONE],
        Op::Load => any(special(Shape::Load, 0)),
        Op::Store => [special(Shape::Store, 0), NONE, NONE, NONE, NONE],
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
        | Op::MulAdd
        | Op::Shl
        | Op::Shr
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
        | Op::Rsqrt
        | Op::Rcp
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
        | Op::WorkgroupBarrier
        | Op::MemoryFence
        | Op::If
        | Op::Else
        | Op::End
        | Op::Loop
        | Op::Continuing
        | Op::Break
        | Op::Continue
        | Op::Return => [NONE; 5],
    }
}

/// The patterns by opcode number and kind.
static PATTERNS: [[Pattern; 5]; 256] = {
    let mut table = [[NONE; 5]; 256];
    let mut i = 0;
    while i < crate::op::COUNT {
        let op = Op::ALL[i];
        // `Op`'s table refuses to compile with a number above 255.
        table[op as usize] = patterns(op);
        i += 1;
    }
    table
};

const fn order(signed: S, unsigned: S, float: S) -> [u32; 5] {
    [0, 0, head(signed, 5), head(unsigned, 5), head(float, 5)]
}

const fn same(int: S, bool_: S, float: S) -> [u32; 5] {
    let int = head(int, 5);
    [0, head(bool_, 5), int, int, head(float, 5)]
}

/// First words of comparisons (eq ne lt le gt ge) by the kind of the operands. False where one is NaN, `ne` true.
static COMPARISONS: [[u32; 5]; 6] = [
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
];

/// The most words that one round of the loop writes.
const MOST: usize = 11;

/// Why the loop ended.
pub(super) enum Stop {
    /// The kernel is at its end.
    End,
    /// There is no room left, or there are too many ids.
    Room,
    /// The instruction has no pattern, or something that it needs is not declared.
    Other,
}

impl Body<'_> {
    /// Writes instructions from number `from` on as long as they have patterns; gives the number of the first that has
    /// none, and why it stopped.
    #[inline]
    pub(super) fn plain(&mut self, from: usize) -> (usize, Stop) {
        let insts = self.insts;
        let glsl = self.w.known_glsl();
        let fma = self.options.fma == Fma::Native;
        let exact = !self.contract();
        let types = &self.w.types;
        let stop = self.stop;
        let mut next = self.w.next;
        let (mut n, mut m) = (0, 0);
        let room = self.w.body.room(1024);
        let marks = self.w.annotations.room(512);
        let values = &mut self.s.values[..];
        let val = |values: &[u32], operand: u32| values.get(operand as usize).copied().unwrap_or(0);
        let mut at = from;
        let reason = loop {
            let Some(inst) = insts.get(at) else {
                break Stop::End;
            };
            let (Some(words), Some(mark)) = (
                room.get_mut(n..).and_then(|r| r.first_chunk_mut::<MOST>()),
                marks.get_mut(m..).and_then(|r| r.first_chunk_mut::<3>()),
            ) else {
                break Stop::Room;
            };
            if next > stop {
                break Stop::Room;
            }
            let code = inst.ty.code();
            let pattern = PATTERNS[inst.op as usize & 255][class_code(code)];
            // Codes are below 48. An undeclared type is 0, like that of no value.
            let ty = types[code as usize & 63];
            if ty == 0 && !inst.ty.is_none() {
                break Stop::Other;
            }
            let id = next;
            let (a, b) = (val(values, inst.a), val(values, inst.b));
            let written = match pattern.shape {
                Shape::None => break Stop::Other,
                Shape::Unary => {
                    [words[0], words[1], words[2], words[3]] = [pattern.head, ty, id, a];
                    4
                }
                Shape::Binary => {
                    [words[0], words[1], words[2], words[3], words[4]] =
                        [pattern.head, ty, id, a, b];
                    5
                }
                Shape::Exact => {
                    [words[0], words[1], words[2], words[3], words[4]] =
                        [pattern.head, ty, id, a, b];
                    *mark = [head(S::Decorate, 3), id, Decoration::NoContraction as u32];
                    m += if exact { 3 } else { 0 };
                    5
                }
                Shape::Ternary => {
                    let c = val(values, inst.c);
                    [words[0], words[1], words[2], words[3], words[4], words[5]] =
                        [pattern.head, ty, id, a, b, c];
                    6
                }
                Shape::Ext1 | Shape::Ext2 | Shape::Fma => {
                    if glsl == 0 || pattern.shape == Shape::Fma && !fma {
                        break Stop::Other;
                    }
                    let c = val(values, inst.c);
                    let number = u32::from(pattern.number);
                    *words = [pattern.head, ty, id, glsl, number, a, b, c, 0, 0, 0];
                    (pattern.head >> 16) as usize
                }
                Shape::Compare => {
                    let operands = insts.get(inst.a as usize).map_or(0, |i| i.ty.code());
                    let rows = COMPARISONS.get(usize::from(pattern.number));
                    let first = rows.map_or(0, |row| row[class_code(operands)]);
                    if first == 0 {
                        break Stop::Other;
                    }
                    [words[0], words[1], words[2], words[3], words[4]] = [first, ty, id, a, b];
                    5
                }
                Shape::VarSet => {
                    [words[0], words[1], words[2]] = [pattern.head, a, b];
                    n += 3;
                    at += 1;
                    continue;
                }
                Shape::Load => {
                    let Some(object) = self.s.objects.plain(inst.a) else {
                        break Stop::Other;
                    };
                    if inst.c != 0 || inst.flags != 0 {
                        break Stop::Other;
                    }
                    let (pointer, var) = (object.pointer, object.var);
                    let chain = if object.member != 0 {
                        *words = [
                            head(S::AccessChain, 6),
                            pointer,
                            id,
                            var,
                            object.member,
                            b,
                            head(S::Load, 4),
                            ty,
                            id + 1,
                            id,
                            0,
                        ];
                        10
                    } else {
                        *words = [
                            head(S::AccessChain, 5),
                            pointer,
                            id,
                            var,
                            b,
                            head(S::Load, 4),
                            ty,
                            id + 1,
                            id,
                            0,
                            0,
                        ];
                        9
                    };
                    // The value is the second of the two ids.
                    next += 1;
                    chain
                }
                Shape::Store => {
                    let Some(object) = self.s.objects.plain(inst.a) else {
                        break Stop::Other;
                    };
                    if inst.flags != 0 {
                        break Stop::Other;
                    }
                    let c = val(values, inst.c);
                    let (pointer, var) = (object.pointer, object.var);
                    n += if object.member != 0 {
                        *words = [
                            head(S::AccessChain, 6),
                            pointer,
                            id,
                            var,
                            object.member,
                            b,
                            head(S::Store, 3),
                            id,
                            c,
                            0,
                            0,
                        ];
                        9
                    } else {
                        *words = [
                            head(S::AccessChain, 5),
                            pointer,
                            id,
                            var,
                            b,
                            head(S::Store, 3),
                            id,
                            c,
                            0,
                            0,
                            0,
                        ];
                        8
                    };
                    next += 1;
                    at += 1;
                    continue;
                }
            };
            n += written;
            if let Some(value) = values.get_mut(at) {
                *value = next;
            }
            next += 1;
            at += 1;
        };
        self.w.next = next;
        self.w.body.advance(n);
        self.w.annotations.advance(m);
        (at, reason)
    }

    /// Declares what a pattern may need, so that the loop can go on; gives whether that can have helped.
    pub(super) fn declare_for(&mut self, inst: &Inst) -> bool {
        let pattern = PATTERNS[inst.op as usize & 255][class_code(inst.ty.code())];
        let new = |old: u32, now: u32| old != now;
        let types = self.w.types[inst.ty.code() as usize & 63];
        match pattern.shape {
            Shape::None => false,
            Shape::Unary | Shape::Binary | Shape::Exact | Shape::Ternary | Shape::Compare => {
                new(types, self.w.ty(inst.ty))
            }
            Shape::Ext1 | Shape::Ext2 => {
                let glsl = self.w.known_glsl();
                new(types, self.w.ty(inst.ty)) | new(glsl, self.w.glsl())
            }
            Shape::Fma => {
                let glsl = self.w.known_glsl();
                self.options.fma == Fma::Native
                    && (new(types, self.w.ty(inst.ty)) | new(glsl, self.w.glsl()))
            }
            Shape::VarSet | Shape::Load | Shape::Store => false,
        }
    }
}
