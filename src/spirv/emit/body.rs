//! One kernel on its way into a module: the pass over its instructions.

use super::arith::NO_FORM;
use super::builtins::{self, Builtin};
use super::control::Flow;
use super::error::Error;
use super::objects::Objects;
use super::options::{FloatMode, MemoryModel, Options};
use super::scalars::Scalars;
use super::sections::{Writer, head};
use crate::kernel::{Inst, Kernel};
use crate::limits::{Limit, LimitExceeded};
use crate::op::Op;
use crate::types::{Scalar, Type};
use spirv::Op as S;

/// What is kept of a kernel while it is written; the memory is kept between kernels.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The id of each instruction's value; for a variable that of its pointer.
    pub values: Vec<u32>,
    pub flow: Flow,
    /// The global variables that the entry point names.
    pub interface: Vec<u32>,
    pub objects: Objects,
    /// Ids on their way into an array of constants.
    pub ids: Vec<u32>,
}

impl Scratch {
    fn clear(&mut self) {
        let Scratch {
            values,
            flow,
            interface,
            objects,
            ids,
        } = self;
        // See `run` and `begin`.
        let _ = (values, flow);
        interface.clear();
        objects.clear();
        ids.clear();
    }
}

/// The kinds of types that instructions differ by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// No value at all.
    None,
}

#[inline(always)]
pub(super) const fn class(ty: Type) -> Class {
    match ty.scalar() {
        Some(Scalar::Bool) => Class::Bool,
        Some(Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64) => Class::Signed,
        Some(Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64) => Class::Unsigned,
        Some(Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64) => Class::Float,
        None => Class::None,
    }
}

/// The kind of a type's code, for tables: none, bool, signed, unsigned, float; then those that are computed wider or
/// need a feature: signed and unsigned of 8 and 16 bits, f16, bf16. Codes are below 48.
#[inline(always)]
pub(super) const fn class_code(code: u8) -> usize {
    const CODES: [u8; 64] = {
        let mut codes = [0; 64];
        let mut code = 0;
        while code < 64 {
            if let Some(ty) = Type::from_code(code) {
                codes[code as usize] = match ty.scalar() {
                    None => 0,
                    Some(Scalar::Bool) => 1,
                    Some(Scalar::I32 | Scalar::I64) => 2,
                    Some(Scalar::U32 | Scalar::U64) => 3,
                    Some(Scalar::F32 | Scalar::F64) => 4,
                    Some(Scalar::I8 | Scalar::I16) => 5,
                    Some(Scalar::U8 | Scalar::U16) => 6,
                    Some(Scalar::F16) => 7,
                    Some(Scalar::BF16) => 8,
                };
            }
            code += 1;
        }
        codes
    };
    CODES[code as usize & 63] as usize
}

/// A kernel under emission.
pub(super) struct Body<'a> {
    pub w: &'a mut Writer,
    pub s: &'a mut Scratch,
    pub kernel: &'a Kernel,
    pub options: &'a Options,
    /// The kernel's number in the module.
    pub number: usize,
    pub insts: &'a [Inst],
    /// The number of the instruction being written.
    pub at: usize,
    /// The function.
    pub function: u32,
    /// The bytes and the number of members of the block of scalars.
    pub scalars_size: (u64, u64),
    /// Where scalars are, once one is read.
    pub scalars: Option<Scalars>,
    /// Built-ins in the interface, and their values loaded outside of all control flow, which dominate the rest.
    pub builtins: builtins::Seen,
    pub locals: u32,
    pub vulkan: bool,
    pub strict: bool,
    /// The float widths in bits that were used within operations, or'ed.
    pub floats: u32,
    /// The number of active lanes, once computed outside of all control flow.
    pub active: u32,
    /// Blocks of the emitter's own that are open: what is made there does not dominate the rest.
    pub nested: u32,
    pub contract: bool,
    /// The constants of a workgroup barrier, once there was one.
    pub barrier: [u32; 2],
    /// What no short way may need: see [`super::stretch`].
    pub unfit: u8,
    /// Above this id, or after an error, the pass stops.
    pub stop: u32,
    error: Option<Error>,
}

impl<'a> Body<'a> {
    pub(super) fn new(
        w: &'a mut Writer,
        s: &'a mut Scratch,
        kernel: &'a Kernel,
        options: &'a Options,
        number: usize,
    ) -> Body<'a> {
        s.clear();
        let function = w.id();
        s.flow.begin(w.id());
        Body {
            function,
            w,
            s,
            kernel,
            options,
            number,
            insts: kernel.insts(),
            at: 0,
            scalars_size: (0, 0),
            scalars: None,
            builtins: Default::default(),
            locals: 0,
            vulkan: options.memory_model == MemoryModel::Vulkan,
            strict: options.float_mode == FloatMode::Strict,
            floats: 0,
            active: 0,
            nested: 0,
            contract: kernel.contract(),
            barrier: [0; 2],
            unfit: Body::unfit(options.fma),
            // One instruction takes a few hundred ids at most, so that ids stay far below 2^32.
            stop: options.limits.id_bound.min(u32::MAX - (1 << 20)),
            error: None,
        }
    }

    /// Writes the kernel.
    #[inline(never)]
    pub(super) fn run(&mut self) -> Result<(), Error> {
        self.begin()?;
        // What an earlier kernel left is overwritten before it is read: values are used behind where they are made.
        if self.s.values.len() < self.insts.len() {
            self.s.values.resize(self.insts.len(), 0);
        }
        self.instructions()?;
        if !self.s.flow.terminated {
            self.w.body.push(head(S::Return, 1));
        }
        self.w.end_function();
        self.finish();
        self.check_globals()?;
        self.check_ids()
    }

    /// Keeps the first error and ends the pass after this instruction.
    #[cold]
    pub(super) fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
        self.stop = 0;
    }

    #[cold]
    fn stopped(&mut self) -> Error {
        match self.error.take() {
            Some(error) => error,
            None => self.too_many_ids(),
        }
    }

    fn too_many_ids(&self) -> Error {
        self.limit(LimitExceeded {
            limit: Limit::IdBound,
            needed: u64::from(self.w.next),
            available: u64::from(self.options.limits.id_bound),
        })
    }

    #[inline(always)]
    pub(super) fn check_ids(&mut self) -> Result<(), Error> {
        if self.w.next > self.stop {
            return Err(self.stopped());
        }
        Ok(())
    }

    #[cold]
    pub(super) fn limit(&self, source: LimitExceeded) -> Error {
        Error::Limit {
            kernel: self.number,
            source,
        }
    }

    /// Refuses the instruction; the value is nothing.
    #[cold]
    #[inline(never)]
    pub(super) fn unsupported(&mut self, inst: &Inst, ty: Type, needs: &'static str) -> u32 {
        self.fail(Error::Unsupported {
            kernel: self.number,
            // The verifier bounds the number of instructions by 2^28.
            at: self.at as u32,
            op: inst.op,
            ty,
            needs,
        });
        0
    }

    /// The same of the instruction being written.
    #[cold]
    pub(super) fn unsupported_here(&mut self, ty: Type, needs: &'static str) -> u32 {
        match self.insts.get(self.at) {
            Some(inst) => self.unsupported(inst, ty, needs),
            None => 0,
        }
    }

    /// The id of an operand. The verifier saw that an earlier instruction made it; 0, which is no id, never comes out.
    #[inline(always)]
    pub(super) fn val(&self, operand: u32) -> u32 {
        self.s.values.get(operand as usize).copied().unwrap_or(0)
    }

    /// The type of an operand.
    #[inline(always)]
    pub(super) fn type_of(&self, operand: u32) -> Type {
        self.insts
            .get(operand as usize)
            .map_or(Type::NONE, |i| i.ty)
    }

    /// The bits of an operand that is a constant.
    #[inline]
    pub(super) fn known(&self, operand: u32) -> Option<u64> {
        match self.insts.get(operand as usize) {
            Some(inst) if inst.op == Op::Const => Some(inst.const_bits()),
            _ => None,
        }
    }

    /// A word of the side table, counted from the start of the instruction's run.
    #[inline]
    pub(super) fn side(&self, inst: &Inst, n: usize) -> u32 {
        let at = (inst.c as usize).saturating_add(n);
        self.kernel.side().get(at).copied().unwrap_or(0)
    }

    /// Writes one instruction; gives the id of its value, or of the variable it makes, or 0.
    ///
    /// All that it calls stands by itself, so that there is nothing here but jumps.
    #[inline(never)]
    pub(super) fn instruction(&mut self, inst: &Inst) -> u32 {
        match inst.op {
            Op::Const => self.w.constant(inst.ty, inst.const_bits()),
            Op::Param => self.param(inst),
            Op::GlobalId => self.component(Builtin::GlobalId, inst.flags),
            Op::LocalId => self.component(Builtin::LocalId, inst.flags),
            Op::WorkgroupId => self.component(Builtin::WorkgroupId, inst.flags),
            Op::WorkgroupSize => self.workgroup_size(inst.flags),
            Op::NumWorkgroups => self.component(Builtin::NumWorkgroups, inst.flags),
            Op::GlobalSize => self.global_size(inst.flags),
            Op::LocalIndex => self.scalar_builtin(Builtin::LocalIndex),
            Op::SubgroupSize => self.scalar_builtin(Builtin::SubgroupSize),
            Op::Lane => self.scalar_builtin(Builtin::Lane),
            Op::SubgroupId => self.scalar_builtin(Builtin::SubgroupId),
            Op::AssumeUniform => self.val(inst.a),

            Op::Add => self.binary(inst, S::IAdd, S::FAdd),
            Op::Sub => self.binary(inst, S::ISub, S::FSub),
            Op::Mul => self.binary(inst, S::IMul, S::FMul),
            Op::Neg => self.unary(inst, S::SNegate),
            Op::Not => self.unary(inst, S::Not),

            // All that these can be has a short way.
            Op::Eq
            | Op::Ne
            | Op::Lt
            | Op::Le
            | Op::Gt
            | Op::Ge
            | Op::Select
            | Op::VarSet
            | Op::If
            | Op::Loop
            | Op::Continuing
            | Op::Break
            | Op::End
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Floor
            | Op::Ceil
            | Op::Trunc
            | Op::RoundEven
            | Op::Construct2
            | Op::VarGet => self.unsupported(inst, inst.ty, NO_FORM),

            Op::MulHi => self.mul_hi(inst),
            Op::Div => self.div(inst),
            Op::Rem => self.rem(inst),
            Op::Abs => self.abs(inst),
            Op::Min => self.min_max(inst, false),
            Op::Max => self.min_max(inst, true),
            Op::MinNan => self.min_max_nan(inst, false),
            Op::MaxNan => self.min_max_nan(inst, true),
            Op::Clamp => self.clamp(inst),
            Op::MulAdd => self.mul_add(inst),
            Op::Fma => self.fma(inst),
            Op::AddSat => self.saturating(inst, false),
            Op::SubSat => self.saturating(inst, true),
            Op::Dot4Add => self.dot4_add(inst),

            Op::Shl => self.shift(inst, S::ShiftLeftLogical),
            Op::Shr => self.shr(inst),
            Op::RotateLeft => self.rotate(inst, S::ShiftLeftLogical, S::ShiftRightLogical),
            Op::RotateRight => self.rotate(inst, S::ShiftRightLogical, S::ShiftLeftLogical),
            Op::Clz => self.clz(inst),
            Op::Ctz => self.ctz(inst),
            Op::Popcount => self.popcount(inst),
            Op::ReverseBits => self.reverse_bits(inst),
            Op::BitfieldExtract => self.bitfield_extract(inst),
            Op::BitfieldInsert => self.bitfield_insert(inst),
            Op::FunnelShl => self.funnel_shl(inst),
            Op::FunnelShr => self.funnel_shr(inst),

            Op::Convert => self.convert(inst),
            Op::Bitcast => self.bitcast(inst),
            Op::Pack => self.pack(inst),
            Op::Unpack => self.unpack(inst),

            Op::Sqrt => self.sqrt(inst),
            Op::Rcp => self.rcp(inst),
            Op::Rsqrt
            | Op::Exp
            | Op::Exp2
            | Op::Log
            | Op::Log2
            | Op::Sin
            | Op::Cos
            | Op::Tan
            | Op::Tanh
            | Op::Erf => self.transcendental(inst),
            Op::Pow => self.pow(inst),
            Op::Fract => self.fract(inst),
            Op::Copysign => self.copysign(inst),
            Op::IsNan => self.is_nan(inst),
            Op::IsInf => self.is_inf(inst),

            Op::Construct4 => self.construct4(inst),
            Op::Extract => self.extract(inst),

            Op::Load => self.load(inst),
            Op::Store => self.store(inst),
            Op::ArrayLength => self.array_length(inst),
            Op::Var => self.var(inst),

            Op::AtomicLoad => self.atomic_load(inst),
            Op::AtomicStore => self.atomic_store(inst),
            Op::AtomicAdd => self.atomic_add(inst),
            Op::AtomicSub => self.atomic(inst, S::AtomicISub, S::AtomicISub),
            Op::AtomicMin => self.atomic_min_max(inst, false),
            Op::AtomicMax => self.atomic_min_max(inst, true),
            Op::AtomicAnd => self.atomic(inst, S::AtomicAnd, S::AtomicAnd),
            Op::AtomicOr => self.atomic(inst, S::AtomicOr, S::AtomicOr),
            Op::AtomicXor => self.atomic(inst, S::AtomicXor, S::AtomicXor),
            Op::AtomicExchange => self.atomic(inst, S::AtomicExchange, S::AtomicExchange),
            Op::AtomicCompareExchange => self.atomic_compare_exchange(inst),

            Op::WorkgroupBarrier => self.workgroup_barrier(),
            Op::MemoryFence => self.memory_fence(inst),

            Op::Shuffle | Op::ShuffleXor | Op::ShuffleUp | Op::ShuffleDown | Op::Broadcast => {
                self.shuffle(inst)
            }
            Op::Ballot => self.ballot(inst),
            Op::Any => self.vote(inst, S::GroupNonUniformAny),
            Op::All => self.vote(inst, S::GroupNonUniformAll),
            Op::Elect => self.elect(),
            Op::SubgroupAdd
            | Op::SubgroupMin
            | Op::SubgroupMax
            | Op::SubgroupAnd
            | Op::SubgroupOr
            | Op::SubgroupXor => self.reduction(inst),
            Op::SubgroupBarrier => self.subgroup_barrier(),

            Op::Else => self.else_(),
            Op::Continue => self.continue_(),
            Op::Return => self.return_(),
        }
    }

    /// Whether floats may be contracted.
    #[inline(always)]
    pub(super) fn contract(&self) -> bool {
        self.contract
    }
}
