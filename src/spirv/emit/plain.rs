//! Opcodes that are one instruction of the target, whatever is around them: written from a table of patterns.
//!
//! Most of a long kernel is such instructions, one after the other. They go through a loop of their own that does nothing
//! else, so that its counters stay in registers.

use super::arith::NO_FORM;
use super::body::{Body, class_code};
use super::marks::set;
use super::options::Fma;
use super::sections::head;
use crate::kernel::Inst;
use crate::op::Op;
use crate::types::Type;
use spirv::{GlslStd450Op as Gl, Op as S};

/// How an opcode is written for a type.
#[derive(Clone, Copy)]
pub(super) struct Pattern {
    /// The instruction's first word.
    head: u32,
    /// The number of an extended instruction.
    number: u8,
    /// What must be there, as bits: 0, [`GLSL`], [`FMA`] or [`ELSE`].
    needs: u8,
    /// Not contracted, unless the kernel allows it.
    exact: bool,
}

/// An instruction of GLSL.std.450, with up to three operands. Without it, of the core with up to two.
const GLSL: u8 = 1;
/// The same: the device's own `Fma`, which may not be wanted.
const FMA: u8 = 2;
/// No pattern.
const ELSE: u8 = 4;

const NONE: Pattern = Pattern {
    head: 0,
    number: 0,
    needs: ELSE,
    exact: false,
};

/// An instruction with so many operands.
const fn core(op: S, operands: u32) -> Pattern {
    Pattern {
        head: head(op, 3 + operands),
        needs: 0,
        ..NONE
    }
}

/// The same of two floats, not contracted.
const fn exact(op: S) -> Pattern {
    Pattern {
        exact: true,
        ..core(op, 2)
    }
}

const fn ext(op: Gl, operands: u32) -> Pattern {
    Pattern {
        head: head(S::ExtInst, 5 + operands),
        // There are 81 of them.
        number: op as u8,
        needs: GLSL,
        ..NONE
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
                needs: FMA,
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
        Op::Eq
        | Op::Ne
        | Op::Lt
        | Op::Le
        | Op::Gt
        | Op::Ge
        | Op::Select
        | Op::VarSet
        | Op::Load
        | Op::Store
        | Op::Const
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

/// First words of comparisons (eq ne lt le gt ge) by the scalar of the operands.
pub(super) static COMPARISONS: [[u32; 16]; 6] = [
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

/// The most instructions that the loop writes before ids are counted, and the most words of one.
const LONGEST: usize = 128;
const WIDEST: usize = 8;

/// Whether an opcode has patterns, for some types.
#[inline(always)]
pub(super) fn has_patterns(op: Op) -> bool {
    static HAVE: [bool; 256] = {
        let mut have = [false; 256];
        let mut i = 0;
        while i < crate::op::COUNT {
            let patterns = patterns(Op::ALL[i]);
            let mut kind = 0;
            while kind < KINDS {
                have[Op::ALL[i] as usize] |= patterns[kind].needs != ELSE;
                kind += 1;
            }
            i += 1;
        }
        have
    };
    HAVE[op as usize & 255]
}

impl Body<'_> {
    /// The pattern of an instruction, if there is one and it is the one wanted.
    #[inline(always)]
    pub(super) fn fitting(&self, inst: &Inst) -> Option<&'static Pattern> {
        let pattern = &PATTERNS[inst.op as usize & 255][inst.ty.code() as usize & 15];
        (pattern.needs & self.unfit == 0).then_some(pattern)
    }

    /// What [`Body::unfit`] is from the beginning.
    pub(super) fn unfit(fma: Fma) -> u8 {
        match fma {
            Fma::Native => ELSE,
            Fma::Exact => ELSE | FMA,
        }
    }

    /// Writes one instruction of a pattern that fits, and declares what it needs; gives its id.
    #[inline]
    pub(super) fn single(&mut self, inst: &Inst, pattern: &Pattern) -> u32 {
        let ty = self.w.ty(inst.ty);
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        // The number of words is in the upper half.
        let (first, count) = (pattern.head, (pattern.head >> 16) as usize);
        if pattern.needs != 0 {
            let (set, number, c) = (self.w.glsl(), pattern.number, self.val(inst.c));
            let id = self.w.id();
            let words = [first, ty, id, set, u32::from(number), a, b, c];
            self.w.body.put_first(words, count);
            return id;
        }
        let id = self.w.id();
        self.w.body.put_first([first, ty, id, a, b], count);
        if pattern.exact & !self.contract() {
            self.w.marks.push(id);
        }
        id
    }

    /// Writes instructions as long as they have patterns that fit and nothing that they need is undeclared, up to
    /// [`LONGEST`] of them.
    ///
    /// Operands that a pattern has not are written all the same, and then written over. Inlined, the loop would not keep
    /// its counters in registers.
    #[inline(never)]
    pub(super) fn stretch(&mut self) {
        let (insts, types) = (self.insts, &self.w.types);
        let (glsl, contract) = (self.w.known_glsl(), self.contract());
        let missing = if glsl == 0 { GLSL | FMA } else { 0 } | self.unfit;
        let room = self.w.body.room(LONGEST * WIDEST + WIDEST);
        let marks = self.w.marks.room(LONGEST);
        let marks = if contract { &mut [] } else { marks };
        let (Some(room), Some(values)) = (
            room.first_chunk_mut::<{ LONGEST * WIDEST + WIDEST }>(),
            self.s.values.get_mut(..insts.len()),
        ) else {
            return;
        };
        let unmarked = marks.len();
        let (mut used, mut marks) = (0, marks.iter_mut());
        let (mut at, mut next) = (self.at, self.w.next);
        let end = insts.len().min(at.saturating_add(LONGEST));
        while at < end {
            let Some(inst) = insts.get(at) else { break };
            let pattern = &PATTERNS[inst.op as usize & 255][inst.ty.code() as usize & 15];
            // Codes are below 48.
            let ty = types[inst.ty.code() as usize & 63];
            if ty == 0 {
                break;
            }
            // The verifier saw that earlier instructions made the operands, and unused ones are 0.
            let val = |operand: u32| values.get(operand as usize).copied();
            let (Some(a), Some(b)) = (val(inst.a), val(inst.b)) else {
                break;
            };
            // So many instructions have fewer words than there are: nothing is cut off.
            let to = room.get_mut(used % (LONGEST * WIDEST)..);
            let Some(to) = to.and_then(|to| to.first_chunk_mut::<WIDEST>()) else {
                break;
            };
            if pattern.needs == 0 {
                [to[0], to[1], to[2], to[3], to[4]] = [pattern.head, ty, next, a, b];
                if pattern.exact
                    && let Some(mark) = marks.next()
                {
                    set(mark, next);
                }
            } else {
                if pattern.needs & missing != 0 {
                    break;
                }
                let Some(c) = val(inst.c) else { break };
                [to[0], to[1], to[2]] = [pattern.head, ty, next];
                [to[3], to[4]] = [glsl, u32::from(pattern.number)];
                [to[5], to[6], to[7]] = [a, b, c];
            }
            if let Some(slot) = values.get_mut(at) {
                *slot = next;
            }
            used += (pattern.head >> 16) as usize;
            next = next.wrapping_add(1);
            at += 1;
        }
        let marked = unmarked - marks.len();
        self.at = at;
        self.w.next = next;
        self.w.body.advance(used);
        self.w.marks.advance(marked);
    }

    /// A comparison, whose instruction goes by the type of the operands: false where one is NaN, `ne` true.
    pub(super) fn compare(&mut self, inst: &Inst, row: &[u32; 16]) -> u32 {
        let first = row[self.type_of(inst.a).code() as usize & 15];
        if first == 0 {
            return self.unsupported(inst, inst.ty, NO_FORM);
        }
        let ty = self.w.ty(Type::BOOL);
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        let id = self.w.id();
        self.w.body.put([first, ty, id, a, b]);
        id
    }
}
