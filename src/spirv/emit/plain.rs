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
    const fn logic(int: S, bool_: S, shape: Shape) -> [Pattern; KINDS] {
        let int = core(int, shape);
        let bool_ = core(bool_, shape);
        [NONE, bool_, int, int, NONE, int, int, NONE, NONE]
    }
    const fn ordered(signed: Gl, unsigned: Gl) -> [Pattern; KINDS] {
        let (s, u) = (ext(signed, Shape::Ext2), ext(unsigned, Shape::Ext2));
        [NONE, NONE, s, u, NONE, s, u, NONE, NONE]
    }
    const fn compare(row: u16) -> [Pattern; KINDS] {
        let mut all = [NONE; KINDS];
        all[1] = special(Shape::Compare, row);
        all
    }
    const fn any(p: Pattern) -> [Pattern; KINDS] {
        [NONE, p, p, p, p, p, p, p, p]
    }
    const fn none(p: Pattern) -> [Pattern; KINDS] {
        let mut all = [NONE; KINDS];
        all[0] = p;
        all
    }
    use Shape::{Binary, Exact, Ext1, Ternary, Unary};
    match op {
        Op::Add => numeric(core(S::IAdd, Binary), core(S::FAdd, Exact)),
        Op::Sub => numeric(core(S::ISub, Binary), core(S::FSub, Exact)),
        Op::Mul => numeric(core(S::IMul, Binary), core(S::FMul, Exact)),
        Op::Div => wide(core(S::FDiv, Binary)),
        Op::Neg => {
            let float = core(S::FNegate, Unary);
            let mut all = floats(float);
            all[2] = core(S::SNegate, Unary);
            all[3] = all[2];
            all
        }
        Op::Abs => {
            let mut all = floats(ext(Gl::FAbs, Ext1));
            all[2] = ext(Gl::SAbs, Ext1);
            all
        }
        Op::Min => ordered(Gl::SMin, Gl::UMin),
        Op::Max => ordered(Gl::SMax, Gl::UMax),
        Op::Fma => {
            let mut all = wide(ext(Gl::Fma, Shape::Fma));
            all[7] = all[4];
            all
        }
        Op::And => logic(S::BitwiseAnd, S::LogicalAnd, Binary),
        Op::Or => logic(S::BitwiseOr, S::LogicalOr, Binary),
        Op::Xor => logic(S::BitwiseXor, S::LogicalNotEqual, Binary),
        Op::Not => {
            let mut all = logic(S::Not, S::LogicalNot, Unary);
            // The bits above would be ones.
            all[6] = NONE;
            all
        }
        Op::Eq => compare(0),
        Op::Ne => compare(1),
        Op::Lt => compare(2),
        Op::Le => compare(3),
        Op::Gt => compare(4),
        Op::Ge => compare(5),
        Op::Select => any(core(S::Select, Ternary)),
        Op::Sqrt => wide(ext(Gl::Sqrt, Ext1)),
        Op::Floor => floats(ext(Gl::Floor, Ext1)),
        Op::Ceil => floats(ext(Gl::Ceil, Ext1)),
        Op::Trunc => floats(ext(Gl::Trunc, Ext1)),
        Op::RoundEven => floats(ext(Gl::RoundEven, Ext1)),
        Op::Construct2 => any(core(S::CompositeConstruct, Binary)),
        Op::VarGet => any(core(S::Load, Unary)),
        Op::VarSet => none(core(S::Store, Shape::VarSet)),
        Op::Load => any(special(Shape::Load, 0)),
        Op::Store => none(special(Shape::Store, 0)),
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
        | Op::AddSat
        | Op::SubSat
        | Op::Dot4Add
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

/// First words of comparisons (eq ne lt le gt ge) by the scalar of the operands. False where one is NaN, `ne` true.
static COMPARISONS: [[u32; 16]; 6] = [
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

/// Why the loop ended.
pub(super) enum Stop {
    /// The kernel is at its end.
    End,
    /// There is no room left, or there are too many ids.
    Room,
    /// The instruction has no pattern, or something that it needs is not declared.
    Other,
}

/// Writes words at the front of `room` and moves it behind them; whether they fitted.
#[inline(always)]
fn put<const N: usize>(room: &mut &mut [u32], words: [u32; N]) -> bool {
    match core::mem::take(room).split_first_chunk_mut::<N>() {
        Some((front, rest)) => {
            *front = words;
            *room = rest;
            true
        }
        None => false,
    }
}

/// Whether the loop may take an instruction.
#[inline(always)]
pub(super) fn has_pattern(inst: &Inst) -> bool {
    PATTERNS[inst.op as usize & 255][inst.ty.code() as usize & 15].shape != Shape::None
}

impl Body<'_> {
    /// Writes instructions from number `from` on as long as they have patterns; gives the number of the first that has
    /// none, and why it stopped.
    #[inline]
    pub(super) fn plain(&mut self, from: usize) -> (usize, Stop) {
        let insts = self.insts;
        let glsl = self.w.known_glsl();
        let fma = if self.options.fma == Fma::Native {
            glsl
        } else {
            0
        };
        let exact = !self.contract();
        let mut next = self.w.next;
        // An instruction takes two ids at most, so that none passes the limit by more than two.
        let most = (self.stop.saturating_sub(next) / 2) as usize + 1;
        let end = from.saturating_add(most).min(insts.len());
        let types = &self.w.types;
        let objects = &self.s.objects;
        let mut room = self.w.body.room(1024);
        let mut marks = self.w.annotations.room(512);
        let (all_room, all_marks) = (room.len(), marks.len());
        let values = &mut self.s.values[..];
        let val = |values: &[u32], operand: u32| values.get(operand as usize).copied().unwrap_or(0);
        let mut at = from;
        // What did not fit leaves `room` or `marks` empty; these are the lengths to count with then.
        let (mut left, mut left_marks);
        let mut reason = if end == insts.len() {
            Stop::End
        } else {
            Stop::Room
        };
        let tail = insts.get(from..end).unwrap_or(&[]);
        (left, left_marks) = (all_room, all_marks);
        for inst in tail {
            let code = inst.ty.code();
            let pattern = &PATTERNS[inst.op as usize & 255][code as usize & 15];
            // Codes are below 48. The type of no value has an id, that of `OpTypeVoid`.
            let ty = types[code as usize & 63];
            if ty == 0 {
                reason = Stop::Other;
                break;
            }
            let id = next;
            let (a, b) = (val(values, inst.a), val(values, inst.b));
            let first = pattern.head;
            let mut value = id;
            let fits = match pattern.shape {
                Shape::None => {
                    reason = Stop::Other;
                    break;
                }
                Shape::Unary => put(&mut room, [first, ty, id, a]),
                Shape::Binary => put(&mut room, [first, ty, id, a, b]),
                Shape::Exact => {
                    let mark = [head(S::Decorate, 3), id, Decoration::NoContraction as u32];
                    put(&mut room, [first, ty, id, a, b]) && (!exact || put(&mut marks, mark))
                }
                Shape::Ternary => put(&mut room, [first, ty, id, a, b, val(values, inst.c)]),
                Shape::Ext1 if glsl != 0 => {
                    let number = u32::from(pattern.number);
                    put(&mut room, [first, ty, id, glsl, number, a])
                }
                Shape::Ext2 if glsl != 0 => {
                    let number = u32::from(pattern.number);
                    put(&mut room, [first, ty, id, glsl, number, a, b])
                }
                Shape::Fma if fma != 0 => {
                    let (number, c) = (u32::from(pattern.number), val(values, inst.c));
                    put(&mut room, [first, ty, id, fma, number, a, b, c])
                }
                Shape::Ext1 | Shape::Ext2 | Shape::Fma => {
                    reason = Stop::Other;
                    break;
                }
                Shape::Compare => {
                    let operands = insts.get(inst.a as usize).map_or(0, |i| i.ty.code());
                    let rows = COMPARISONS.get(usize::from(pattern.number));
                    let first = rows.map_or(0, |row| row[operands as usize & 15]);
                    if first == 0 {
                        reason = Stop::Other;
                        break;
                    }
                    put(&mut room, [first, ty, id, a, b])
                }
                Shape::VarSet => {
                    // No id is taken.
                    next = next.wrapping_sub(1);
                    put(&mut room, [first, a, b])
                }
                Shape::Load | Shape::Store => {
                    let load = pattern.shape == Shape::Load;
                    let object = objects.plain(inst.a);
                    let (Some(object), 0) = (object, inst.flags) else {
                        reason = Stop::Other;
                        break;
                    };
                    if load && inst.c != 0 {
                        reason = Stop::Other;
                        break;
                    }
                    let (pointer, var, member) = (object.pointer, object.var, object.member);
                    let chained = if member != 0 {
                        let first = head(S::AccessChain, 6);
                        put(&mut room, [first, pointer, id, var, member, b])
                    } else {
                        put(&mut room, [head(S::AccessChain, 5), pointer, id, var, b])
                    };
                    chained
                        && if load {
                            next = next.wrapping_add(1);
                            value = next;
                            put(&mut room, [head(S::Load, 4), ty, value, id])
                        } else {
                            let stored = val(values, inst.c);
                            put(&mut room, [head(S::Store, 3), id, stored])
                        }
                }
            };
            if !fits {
                // What was begun is written again.
                next = id;
                reason = Stop::Room;
                break;
            }
            (left, left_marks) = (room.len(), marks.len());
            if let Some(slot) = values.get_mut(at) {
                *slot = value;
            }
            next = next.wrapping_add(1);
            at += 1;
        }
        self.w.next = next;
        self.w.body.advance(all_room - left);
        self.w.annotations.advance(all_marks - left_marks);
        (at, reason)
    }

    /// Declares what a pattern may need, so that the loop can go on; gives whether that can have helped.
    pub(super) fn declare_for(&mut self, inst: &Inst) -> bool {
        let pattern = PATTERNS[inst.op as usize & 255][inst.ty.code() as usize & 15];
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
