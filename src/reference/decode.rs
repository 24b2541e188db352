//! From bytecode to steps, once a launch.

use super::collective::{self, Among, Kind as Reduction};
use super::error::{ExecError, Touch};
use super::lanes::{self, Pure, Slots};
use super::ops::Number;
use super::ops::bits::Bits;
use super::ops::float::Float;
use super::ops::int::{self, Int};
use super::ops::precise;
use super::program::{Code, Fill, Modify, NOWHERE, Place, Program, Step, Width, With};
use super::pure::{self, comparison, floats, ints, logic, numbers, over};
use crate::kernel::{Inst, Kernel, Mem};
use crate::op::Op;
use crate::types::{Const, Type};

/// A modification that looks at the sign.
macro_rules! ordered {
    ($ty:expr, $f:ident) => {
        match $ty {
            Type::I32 => Some(Modify::W32(|a, b| {
                Ord::$f(a.cast_signed(), b.cast_signed()).cast_unsigned()
            })),
            Type::U32 => Some(Modify::W32(Ord::$f)),
            Type::I64 => Some(Modify::W64(|a, b| {
                Ord::$f(a.cast_signed(), b.cast_signed()).cast_unsigned()
            })),
            Type::U64 => Some(Modify::W64(Ord::$f)),
            Type::F32 => Some(Modify::W32(|a, b| {
                Number::$f(f32::from_bits(a), f32::from_bits(b)).to_bits()
            })),
            _ => None,
        }
    };
}

/// What the launch says that is the same for all its threads.
pub(super) struct Launched<'a> {
    pub grid: [u32; 3],
    /// By number.
    pub scalars: &'a [Const],
    /// Elements of the buffers, by number.
    pub lengths: &'a [u64],
    pub subgroup_size: u32,
    /// The first regions of shared and private arrays and of tables; those of buffers begin at 0.
    pub shared: u32,
    pub private: u32,
    pub tables: u32,
}

/// An open block.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The step that opened it: an `if`, `else`, `loop` or `continuing`.
    by: u32,
    /// For a continuing part: the loop.
    head: u32,
    kind: Kind,
    /// The last block that ended in this one: each `outer` holds the one before, until this block's closer is known.
    ended: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    If,
    Else,
    Loop,
    Continuing,
}

/// The decoder; its memory is kept between launches.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoder {
    /// The register of each value and variable.
    slots: Vec<u32>,
    open: Vec<Open>,
    /// As [`Open::ended`], for the body.
    ended: u32,
}

impl Decoder {
    /// Decodes `kernel`. The register file has been seen to stay below 2^32 words.
    pub(super) fn decode(
        &mut self,
        program: &mut Program,
        kernel: &Kernel,
        launched: &Launched<'_>,
    ) -> Result<(), ExecError> {
        let Program {
            steps,
            constants,
            built_ins,
            words: needed,
        } = program;
        steps.clear();
        constants.clear();
        built_ins.clear();
        self.slots.clear();
        self.open.clear();
        self.ended = NOWHERE;
        let mut next = 0;
        for (at, inst) in kernel.insts().iter().enumerate() {
            let slot = next;
            next += words(inst.ty) * launched.subgroup_size;
            // The verifier keeps instructions below 2^28.
            let at = at as u32;
            let decoded = self.step(steps, kernel, launched, inst, at, slot)?;
            match decoded {
                Decoded::Step(code, slots) => steps.push(Step {
                    code,
                    slots,
                    at,
                    op: inst.op,
                    ty: inst.ty,
                }),
                Decoded::Fill(with @ With::Bits(..)) => constants.push(Fill { slot, with }),
                Decoded::Fill(with) => built_ins.push(Fill { slot, with }),
            }
            self.slots.push(slot);
        }
        let exit = steps.len() as u32;
        close(steps, &mut self.ended, exit);
        *needed = next as usize;
        Ok(())
    }

    fn step(
        &mut self,
        steps: &mut [Step],
        kernel: &Kernel,
        launched: &Launched<'_>,
        inst: &Inst,
        at: u32,
        slot: u32,
    ) -> Result<Decoded, ExecError> {
        let op = inst.op;
        let words = kernel.words(inst);
        let word = |i: usize| words.get(i).copied().unwrap_or(0);
        // A word that is no value gives a register that is never looked at.
        let reg = |i: usize| self.slots.get(word(i) as usize).copied().unwrap_or(0);
        let type_of = |i: usize| {
            let inst = kernel.insts().get(word(i) as usize);
            inst.map_or(Type::NONE, |inst| inst.ty)
        };
        let axis = usize::from(inst.flags);
        let along = |sizes: [u32; 3]| sizes.get(axis).copied().unwrap_or(1);
        let unsupported = |ty| ExecError::Unsupported { at, op, ty };
        let bits = |bits: u64, ty: Type| {
            Width::of(ty)
                .map(|width| Decoded::Fill(With::Bits(bits, width)))
                .ok_or(unsupported(ty))
        };
        let pure = |chosen: Option<Pure>, ty| {
            let slots = Slots {
                d: slot,
                a: reg(0),
                b: reg(1),
                c: reg(2),
                e: reg(3),
            };
            chosen
                .map(|f| Decoded::Step(Code::Pure(f), slots))
                .ok_or(unsupported(ty))
        };
        let t = inst.ty;
        let first = type_of(0);
        // The memory of an access, with the offset in its word.
        let place = |offset: usize| {
            let region = match Mem::from_word(word(0)) {
                Some(Mem::Buffer(n)) => n,
                Some(Mem::Shared(n)) => launched.shared + n,
                Some(Mem::Private(n)) => launched.private + n,
                Some(Mem::Table(n)) => launched.tables + n,
                None => return Err(unsupported(t)),
            };
            Ok(Place {
                region,
                index: reg(1),
                index_is_wide: type_of(1) == Type::U64,
                offset: word(offset),
            })
        };
        let operands = |a: usize, b: usize| Slots {
            d: slot,
            a: reg(a),
            b: reg(b),
            ..Slots::default()
        };
        let wide = |ty: Type| Width::of(ty).ok_or(unsupported(ty));
        let modify = |how: Option<Modify>| {
            let how = how.ok_or(unsupported(t))?;
            Ok(Decoded::Step(Code::Modify(place(3)?, how), operands(2, 2)))
        };
        let plain = |code| Ok(Decoded::Step(code, operands(0, 0)));
        let among = |chosen: Option<Among>| {
            let chosen = chosen.ok_or(unsupported(t))?;
            Ok(Decoded::Step(Code::Among(chosen), operands(0, 1)))
        };

        match op {
            Op::Const => bits(inst.const_bits(), t),
            Op::Param => {
                let value = launched.scalars.get(word(0) as usize);
                bits(value.map_or(0, |value| value.bits()), t)
            }
            Op::GlobalId => Ok(Decoded::Fill(With::GlobalId(axis))),
            Op::LocalId => Ok(Decoded::Fill(With::LocalId(axis))),
            Op::WorkgroupId => Ok(Decoded::Fill(With::WorkgroupId(axis))),
            Op::WorkgroupSize => bits(along(kernel.workgroup_size()).into(), t),
            Op::NumWorkgroups => bits(along(launched.grid).into(), t),
            Op::GlobalSize => {
                let size = along(launched.grid).wrapping_mul(along(kernel.workgroup_size()));
                bits(size.into(), t)
            }
            Op::LocalIndex => Ok(Decoded::Fill(With::LocalIndex)),
            Op::SubgroupSize => bits(launched.subgroup_size.into(), t),
            Op::Lane => Ok(Decoded::Fill(With::Lane)),
            Op::SubgroupId => Ok(Decoded::Fill(With::SubgroupId)),
            Op::AssumeUniform => plain(Code::AssumeUniform(wide(t)?)),

            Op::Add => pure(numbers!(t; binary Number::add), t),
            Op::Sub => pure(numbers!(t; binary Number::sub), t),
            Op::Mul => pure(numbers!(t; binary Number::mul), t),
            Op::MulHi => pure(ints!(t; binary Int::mul_hi), t),
            Op::Div => pure(numbers!(t; binary Number::div), t),
            Op::Rem => pure(numbers!(t; binary Number::rem), t),
            Op::Neg => pure(numbers!(t; unary Number::neg), t),
            Op::Abs => pure(numbers!(t; unary Number::abs), t),
            Op::Min => pure(numbers!(t; binary Number::min), t),
            Op::Max => pure(numbers!(t; binary Number::max), t),
            Op::MinNan => pure(floats!(t; binary Float::min_nan), t),
            Op::MaxNan => pure(floats!(t; binary Float::max_nan), t),
            Op::Clamp => pure(numbers!(t; ternary Number::clamp), t),
            Op::MulAdd => pure(numbers!(t; ternary Number::mul_add), t),
            Op::Fma => pure(floats!(t; ternary Float::fma), t),
            Op::AddSat => pure(ints!(t; binary Int::add_sat), t),
            Op::SubSat => pure(ints!(t; binary Int::sub_sat), t),
            Op::Dot4Add => {
                let chosen: Option<Pure> = match t {
                    Type::I32 => Some(|r, s, n| lanes::ternary(r, s, n, int::dot4_signed)),
                    Type::U32 => Some(|r, s, n| lanes::ternary(r, s, n, int::dot4_unsigned)),
                    _ => None,
                };
                pure(chosen, t)
            }

            Op::And => pure(logic!(t; binary Bits::and), t),
            Op::Or => pure(logic!(t; binary Bits::or), t),
            Op::Xor => pure(logic!(t; binary Bits::xor), t),
            Op::Not if t == Type::BOOL => pure(Some(pure::not_bool), t),
            Op::Not => pure(ints!(t; unary Bits::not), t),
            Op::Shl => pure(ints!(t; binary Bits::shl), t),
            Op::Shr => pure(ints!(t; binary Bits::shr), t),
            Op::RotateLeft => pure(ints!(t; binary Bits::rotate_left), t),
            Op::RotateRight => pure(ints!(t; binary Bits::rotate_right), t),
            Op::Clz => pure(ints!(first; unary Bits::clz), first),
            Op::Ctz => pure(ints!(first; unary Bits::ctz), first),
            Op::Popcount => pure(ints!(first; unary Bits::popcount), first),
            Op::ReverseBits => pure(ints!(t; unary Bits::reverse_bits), t),
            Op::BitfieldExtract => pure(ints!(t; ternary Bits::bitfield_extract), t),
            Op::BitfieldInsert => pure(ints!(t; quaternary Bits::bitfield_insert), t),
            Op::FunnelShl => pure(ints!(t; ternary Bits::funnel_shl), t),
            Op::FunnelShr => pure(ints!(t; ternary Bits::funnel_shr), t),

            Op::Eq => pure(comparison!(first; eq), first),
            Op::Ne => pure(comparison!(first; ne), first),
            Op::Lt => pure(comparison!(first; lt), first),
            Op::Le => pure(comparison!(first; le), first),
            Op::Gt => pure(comparison!(first; gt), first),
            Op::Ge => pure(comparison!(first; ge), first),
            Op::Select => pure(pure::select(t), t),
            Op::Convert => pure(pure::convert(first, t), first),
            Op::Bitcast => pure(Width::of(t).map(|_| pure::copy as Pure), t),

            Op::Pack => pure(pure::pack(first), first),
            Op::Unpack => pure(pure::unpack(t, inst.flags & Inst::HIGH != 0), t),

            // A hardware's approximation is compared by bounds; here it is the precise form.
            Op::Sqrt => pure(floats!(t; unary Float::sqrt), t),
            Op::Rcp => pure(floats!(t; unary Float::rcp), t),
            Op::Floor => pure(floats!(t; unary Float::floor), t),
            Op::Ceil => pure(floats!(t; unary Float::ceil), t),
            Op::Trunc => pure(floats!(t; unary Float::trunc), t),
            Op::RoundEven => pure(floats!(t; unary Float::round_even), t),
            Op::Rsqrt
            | Op::Exp
            | Op::Exp2
            | Op::Log
            | Op::Log2
            | Op::Pow
            | Op::Sin
            | Op::Cos
            | Op::Tan
            | Op::Tanh
            | Op::Erf => pure(precise::function(op, t), t),
            Op::Fract => pure(floats!(t; unary Float::fract), t),
            Op::Copysign => pure(floats!(t; binary Float::copysign), t),
            Op::IsNan => pure(floats!(first; unary Float::is_nan), first),
            Op::IsInf => pure(floats!(first; unary Float::is_inf), first),

            Op::Construct2 | Op::Construct4 => pure(pure::construct(t), t),
            Op::Extract => pure(pure::extract(first, inst.flags), first),

            Op::Load => {
                let code = Code::Load(place(2)?, wide(t)?, Touch::Read);
                Ok(Decoded::Step(code, operands(2, 2)))
            }
            Op::Store => {
                let code = Code::Store(place(3)?, wide(type_of(2))?, Touch::Write);
                Ok(Decoded::Step(code, operands(2, 2)))
            }
            Op::ArrayLength => {
                let mem = Mem::from_word(word(0)).unwrap_or(Mem::Buffer(word(0)));
                let len = match mem {
                    Mem::Buffer(n) => launched.lengths.get(n as usize).copied().unwrap_or(0),
                    Mem::Shared(_) | Mem::Private(_) | Mem::Table(_) => 0,
                };
                if t == Type::U32 && u32::try_from(len).is_err() {
                    return Err(ExecError::ArrayLength { at, mem, len });
                }
                bits(len, t)
            }
            Op::Var => plain(Code::Set(wide(t)?)),
            Op::VarGet => pure(Width::of(t).map(|_| pure::copy as Pure), t),
            Op::VarSet => {
                let slots = Slots {
                    d: reg(0),
                    a: reg(1),
                    ..Slots::default()
                };
                Ok(Decoded::Step(Code::Set(wide(type_of(1))?), slots))
            }

            Op::AtomicLoad => {
                let code = Code::Load(place(2)?, wide(t)?, Touch::AtomicRead);
                Ok(Decoded::Step(code, operands(2, 2)))
            }
            Op::AtomicStore => {
                let code = Code::Store(place(3)?, wide(type_of(2))?, Touch::AtomicWrite);
                Ok(Decoded::Step(code, operands(2, 2)))
            }
            Op::AtomicAdd if t == Type::F32 => modify(Some(Modify::W32(|a, b| {
                (f32::from_bits(a) + f32::from_bits(b)).to_bits()
            }))),
            Op::AtomicAdd if t == Type::F64 => modify(Some(Modify::W64(|a, b| {
                (f64::from_bits(a) + f64::from_bits(b)).to_bits()
            }))),
            Op::AtomicAdd => modify(either(t, u32::wrapping_add, u64::wrapping_add)),
            Op::AtomicSub => modify(either(t, u32::wrapping_sub, u64::wrapping_sub)),
            Op::AtomicMin => modify(ordered!(t, min)),
            Op::AtomicMax => modify(ordered!(t, max)),
            Op::AtomicAnd => modify(either(t, |a, b| a & b, |a, b| a & b)),
            Op::AtomicOr => modify(either(t, |a, b| a | b, |a, b| a | b)),
            Op::AtomicXor => modify(either(t, |a, b| a ^ b, |a, b| a ^ b)),
            Op::AtomicExchange => modify(either(t, |_, b| b, |_, b| b)),
            Op::AtomicCompareExchange => {
                let code = Code::CompareExchange(place(4)?, wide(t)?);
                Ok(Decoded::Step(code, operands(2, 3)))
            }

            Op::WorkgroupBarrier => plain(Code::Barrier),
            Op::MemoryFence => plain(Code::Fence),

            Op::Shuffle | Op::ShuffleXor | Op::ShuffleUp | Op::ShuffleDown | Op::Broadcast => {
                among(collective::shuffle(op, t))
            }
            Op::Ballot => among(Some(collective::ballot)),
            Op::Any => among(Some(collective::any)),
            Op::All => among(Some(collective::all)),
            Op::Elect => among(Some(collective::elect)),
            Op::SubgroupAdd
            | Op::SubgroupMin
            | Op::SubgroupMax
            | Op::SubgroupAnd
            | Op::SubgroupOr
            | Op::SubgroupXor => {
                let chosen = collective::reduction(op, t).ok_or(unsupported(t))?;
                plain(Code::Scan(chosen, Reduction::of(inst.flags)))
            }
            Op::SubgroupBarrier => plain(Code::SubgroupBarrier),

            Op::If => {
                let step = plain(Code::If { closer: NOWHERE });
                self.begin(steps, Kind::If);
                step
            }
            Op::Loop => {
                let step = plain(Code::Loop);
                self.begin(steps, Kind::Loop);
                step
            }
            Op::Else => {
                let step = plain(Code::Else { end: NOWHERE });
                self.divide(steps);
                step
            }
            Op::Continuing => {
                let step = plain(Code::Continuing { end: NOWHERE });
                self.divide(steps);
                step
            }
            Op::End => {
                let step = operands(0, 0);
                Ok(Decoded::Step(self.end(steps), step))
            }
            Op::Break => plain(Code::Break { up: self.up() }),
            Op::Continue => plain(Code::Continue { up: self.up() }),
            Op::Return => plain(Code::Return),
        }
    }

    /// Opens a block with the step about to be pushed.
    fn begin(&mut self, steps: &[Step], kind: Kind) {
        let by = steps.len() as u32;
        self.open.push(Open {
            by,
            head: by,
            kind,
            ended: NOWHERE,
        });
    }

    /// Closes the first part of an `if` or `loop` and opens its second with the step about to be pushed.
    fn divide(&mut self, steps: &mut [Step]) {
        let here = steps.len() as u32;
        if let Some(open) = self.open.last_mut() {
            close(steps, &mut open.ended, here);
            jump(steps, open.by, here);
            open.kind = match open.kind {
                Kind::If | Kind::Else => Kind::Else,
                Kind::Loop | Kind::Continuing => Kind::Continuing,
            };
            open.by = here;
        }
    }

    /// Closes a block with the step about to be pushed, and gives that step.
    fn end(&mut self, steps: &mut [Step]) -> Code {
        let here = steps.len() as u32;
        // A verified kernel ends only what it opened.
        let Some(mut open) = self.open.pop() else {
            return Code::Return;
        };
        close(steps, &mut open.ended, here);
        jump(steps, open.by, here);
        let around = match self.open.last_mut() {
            Some(around) => &mut around.ended,
            None => &mut self.ended,
        };
        let outer = core::mem::replace(around, here);
        match open.kind {
            Kind::If | Kind::Else => Code::EndIf { outer },
            Kind::Loop | Kind::Continuing => Code::EndLoop {
                body: open.head + 1,
                outer,
            },
        }
    }

    /// Open blocks within the innermost loop.
    fn up(&self) -> u32 {
        let inner = self.open.iter().rev();
        inner.take_while(|open| open.kind != Kind::Loop).count() as u32
    }
}

/// What an instruction becomes.
enum Decoded {
    Step(Code, Slots),
    Fill(With),
}

/// Sends what opened a block to its closer.
fn jump(steps: &mut [Step], from: u32, to: u32) {
    // A loop has no target: it is always entered.
    if let Some(step) = steps.get_mut(from as usize)
        && let Code::If { closer: target }
        | Code::Else { end: target }
        | Code::Continuing { end: target } = &mut step.code
    {
        *target = to;
    }
}

/// Sends the blocks that ended within a block to its closer.
fn close(steps: &mut [Step], ended: &mut u32, closer: u32) {
    while let Some(step) = steps.get_mut(*ended as usize)
        && let Code::EndIf { outer } | Code::EndLoop { outer, .. } = &mut step.code
    {
        *ended = core::mem::replace(outer, closer);
    }
    *ended = NOWHERE;
}

/// Words of a lane in the register file.
pub(super) fn words(ty: Type) -> u32 {
    Width::of(ty).map_or(0, Width::words)
}

/// A modification that the sign does not matter to.
fn either(ty: Type, narrow: fn(u32, u32) -> u32, wide: fn(u64, u64) -> u64) -> Option<Modify> {
    match ty {
        Type::I32 | Type::U32 | Type::F32 => Some(Modify::W32(narrow)),
        Type::I64 | Type::U64 => Some(Modify::W64(wide)),
        _ => None,
    }
}
