//! The walk through a kernel's instructions.

use super::Options;
use super::control::Frame;
use super::error::Error;
use super::memory::{Bound, Object};
use super::mnemonic::{CLASS_COUNT, Kind, MOV, Mnemonic};
use super::plain;
use super::recipe::RecipeTables;
use super::subgroup::{Active, Reduction, Shuffle};
use super::writer::{Piece, Registers, Token, Writer};
use crate::kernel::{Bounds, Inst, Kernel};
use crate::math::Unary;
use crate::op::Op;
use crate::types::Type;

/// What is kept from kernel to kernel, so that a warm emitter allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Lent to the body.
    pub values: Vec<Token>,
    /// The parameter's number of each scalar.
    pub scalars: Vec<u32>,
    /// Tables, which are filled in where they are declared, buffers, and shared and private arrays.
    pub objects: Vec<Object>,
    /// What is known of the lengths of each, where accesses are checked.
    pub bounds: Vec<Bound>,
    /// Where the objects of each kind begin among all of them.
    pub starts: [usize; 4],
    pub frames: Vec<Frame>,
    /// For each block, by number, whether it is open.
    pub open: Vec<bool>,
    /// The elements of vectors, one group after the other.
    pub groups: Vec<Token>,
    /// One bit a value: whether something uses it. Filled only in kernels with atomics.
    pub used: Vec<u64>,
    /// The tables of recipes, for the whole module.
    pub recipes: RecipeTables,
    /// Every instruction takes its method, for the test that holds patterns against methods.
    #[cfg(test)]
    pub without_patterns: bool,
}

impl Scratch {
    pub fn clear(&mut self) {
        let Scratch {
            values,
            scalars,
            // Begun before the body.
            objects: _,
            bounds,
            starts,
            frames,
            open,
            groups,
            used,
            // Kept for the module.
            recipes: _,
            #[cfg(test)]
                without_patterns: _,
        } = self;
        // See `Body::values`.
        let _ = values;
        scalars.clear();
        bounds.clear();
        *starts = [0; 4];
        frames.clear();
        open.clear();
        open.push(true);
        groups.clear();
        used.clear();
    }
}

/// One entry being written.
pub(super) struct Body<'a, 'o> {
    pub kernel: &'a Kernel,
    pub options: &'a Options,
    pub insts: &'a [Inst],
    pub side: &'a [u32],
    pub contract: bool,
    /// How common instructions are written.
    pub patterns: &'static plain::Table,
    /// Whether accesses are checked.
    pub checked: bool,
    pub w: Writer<'o>,
    pub s: &'a mut Scratch,
    /// The operand that stands for each value: a register, or an immediate. What an earlier kernel left is overwritten
    /// before it is read: values are used behind where they are made.
    pub values: Vec<Token>,
    /// The number of the instruction at hand.
    pub at: usize,
    pub registers: [Registers; CLASS_COUNT],
    /// Which lanes of the subgroup are active.
    pub active: Active,
    /// Labels given out.
    pub labels: u32,
    /// The number of the innermost open block.
    pub block: u32,
    /// The place in `frames` of the innermost open loop.
    pub innermost_loop: usize,
    /// The first thing that cannot be written; the text is thrown away then.
    pub error: Option<Error>,
}

impl<'a, 'o> Body<'a, 'o> {
    pub fn new(
        kernel: &'a Kernel,
        options: &'a Options,
        s: &'a mut Scratch,
        w: Writer<'o>,
    ) -> Body<'a, 'o> {
        s.clear();
        let values = core::mem::take(&mut s.values);
        Body {
            kernel,
            options,
            insts: kernel.insts(),
            side: kernel.side(),
            contract: kernel.contract(),
            patterns: plain::table(kernel.contract()),
            checked: options.bounds == Bounds::Checked,
            w,
            s,
            values,
            at: 0,
            registers: const {
                [
                    Registers::new("%p"),
                    Registers::new("%r"),
                    Registers::new("%rd"),
                    Registers::new("%f"),
                    Registers::new("%fd"),
                    Registers::new("%h"),
                ]
            },
            active: Active::ALL,
            labels: 0,
            block: 0,
            innermost_loop: usize::MAX,
            error: None,
        }
    }

    /// Writes every instruction.
    pub fn run(&mut self) {
        if self.values.len() < self.insts.len() {
            self.values.resize(self.insts.len(), Token::NONE);
        }
        while let Some(mut inst) = self.insts.get(self.at) {
            if plain::has_patterns(inst.op) && self.uses_patterns() {
                self.plain();
                match self.insts.get(self.at) {
                    Some(next) => inst = next,
                    None => break,
                }
            }
            let value = self.step(inst);
            if let Some(slot) = self.values.get_mut(self.at) {
                *slot = value;
            }
            self.at += 1;
        }
        self.s.values = core::mem::take(&mut self.values);
    }

    #[cfg(not(test))]
    #[inline(always)]
    fn uses_patterns(&self) -> bool {
        true
    }

    #[cfg(test)]
    fn uses_patterns(&self) -> bool {
        !self.s.without_patterns
    }

    /// Writes one instruction and gives the operand that stands for its value.
    #[inline]
    fn step(&mut self, inst: &Inst) -> Token {
        match inst.op {
            Op::Const => self.constant(inst),
            Op::Param => self.param(inst),
            Op::GlobalId => self.global_id(inst),
            Op::LocalId => self.local_id(inst),
            Op::WorkgroupId => self.workgroup_id(inst),
            Op::WorkgroupSize => self.workgroup_size(inst),
            Op::NumWorkgroups => self.num_workgroups(inst),
            Op::GlobalSize => self.global_size(inst),
            Op::LocalIndex => self.local_index(),
            Op::SubgroupSize => Token::integer(32, false),
            Op::Lane => self.lane(),
            Op::SubgroupId => self.subgroup_id(),
            Op::AssumeUniform => self.value(inst.a),

            Op::Add => self.add(inst),
            Op::Sub => self.sub(inst),
            Op::Mul => self.mul(inst),
            Op::MulHi => self.mul_hi(inst),
            Op::Div => self.div(inst),
            Op::Rem => self.rem(inst),
            Op::Neg => self.neg(inst),
            Op::Abs => self.abs(inst),
            Op::Min => self.min(inst),
            Op::Max => self.max(inst),
            Op::MinNan => self.min_nan(inst),
            Op::MaxNan => self.max_nan(inst),
            Op::Clamp => self.clamp(inst),
            Op::MulAdd => self.mul_add(inst),
            Op::Fma => self.fma(inst),
            Op::AddSat => self.add_sat(inst),
            Op::SubSat => self.sub_sat(inst),
            Op::Dot4Add => self.dot4_add(inst),

            Op::And => self.and(inst),
            Op::Or => self.or(inst),
            Op::Xor => self.xor(inst),
            Op::Not => self.not(inst),
            Op::Shl => self.shl(inst),
            Op::Shr => self.shr(inst),
            Op::RotateLeft => self.rotate(inst, true),
            Op::RotateRight => self.rotate(inst, false),
            Op::Clz => self.clz(inst),
            Op::Ctz => self.ctz(inst),
            Op::Popcount => self.popcount(inst),
            Op::ReverseBits => self.reverse_bits(inst),
            Op::BitfieldExtract => self.bitfield_extract(inst),
            Op::BitfieldInsert => self.bitfield_insert(inst),
            Op::FunnelShl => self.funnel(inst, true),
            Op::FunnelShr => self.funnel(inst, false),

            Op::Eq => self.eq(inst),
            Op::Ne => self.ne(inst),
            Op::Lt => self.lt(inst),
            Op::Le => self.le(inst),
            Op::Gt => self.gt(inst),
            Op::Ge => self.ge(inst),
            Op::Select => self.select(inst),

            Op::Convert => self.convert(inst),
            Op::Bitcast => self.bitcast(inst),
            Op::Pack => self.pack(inst),
            Op::Unpack => self.unpack(inst),

            Op::Sqrt => self.sqrt(inst),
            Op::Rsqrt => self.function(Unary::Rsqrt, inst),
            Op::Rcp => self.rcp(inst),
            Op::Floor => self.floor(inst),
            Op::Ceil => self.ceil(inst),
            Op::Trunc => self.trunc(inst),
            Op::RoundEven => self.round_even(inst),
            Op::Exp => self.function(Unary::Exp, inst),
            Op::Exp2 => self.function(Unary::Exp2, inst),
            Op::Log => self.function(Unary::Log, inst),
            Op::Log2 => self.function(Unary::Log2, inst),
            Op::Pow => self.pow(inst),
            Op::Sin => self.function(Unary::Sin, inst),
            Op::Cos => self.function(Unary::Cos, inst),
            Op::Tan => self.function(Unary::Tan, inst),
            Op::Tanh => self.function(Unary::Tanh, inst),
            Op::Erf => self.function(Unary::Erf, inst),
            Op::Fract => self.fract(inst),
            Op::Copysign => self.copysign(inst),
            Op::IsNan => self.test_nan(inst),
            Op::IsInf => self.test_infinite(inst),

            Op::Construct2 => self.construct2(inst),
            Op::Construct4 => self.construct4(inst),
            Op::Extract => self.extract(inst),

            Op::Load => self.load(inst),
            Op::Store => self.store(inst),
            Op::ArrayLength => self.array_length(inst),
            Op::Var => self.var(inst),
            Op::VarGet => self.var_get(inst),
            Op::VarSet => self.var_set(inst),

            Op::AtomicLoad => self.atomic_load(inst),
            Op::AtomicStore => self.atomic_store(inst),
            Op::AtomicAdd => self.atomic_add(inst),
            Op::AtomicSub => self.atomic_sub(inst),
            Op::AtomicMin => self.atomic_min(inst),
            Op::AtomicMax => self.atomic_max(inst),
            Op::AtomicAnd => self.atomic_and(inst),
            Op::AtomicOr => self.atomic_or(inst),
            Op::AtomicXor => self.atomic_xor(inst),
            Op::AtomicExchange => self.atomic_exchange(inst),
            Op::AtomicCompareExchange => self.atomic_compare_exchange(inst),

            Op::WorkgroupBarrier => self.workgroup_barrier(),
            Op::MemoryFence => self.memory_fence(inst),

            Op::Shuffle | Op::Broadcast => self.shuffle(Shuffle::Index, inst),
            Op::ShuffleXor => self.shuffle(Shuffle::Xor, inst),
            Op::ShuffleUp => self.shuffle(Shuffle::Up, inst),
            Op::ShuffleDown => self.shuffle(Shuffle::Down, inst),
            Op::Ballot => self.ballot(inst),
            Op::Any => self.any(inst),
            Op::All => self.all(inst),
            Op::Elect => self.elect(),
            Op::SubgroupAdd => self.reduce(Reduction::Add, inst),
            Op::SubgroupMin => self.reduce(Reduction::Min, inst),
            Op::SubgroupMax => self.reduce(Reduction::Max, inst),
            Op::SubgroupAnd => self.reduce(Reduction::And, inst),
            Op::SubgroupOr => self.reduce(Reduction::Or, inst),
            Op::SubgroupXor => self.reduce(Reduction::Xor, inst),
            Op::SubgroupBarrier => self.subgroup_barrier(),

            Op::If => self.begin_if(inst),
            Op::Else => self.begin_else(),
            Op::End => self.end(),
            Op::Loop => self.begin_loop(),
            Op::Continuing => self.begin_continuing(),
            Op::Break => self.break_(),
            Op::Continue => self.continue_(),
            Op::Return => self.return_(),
        }
    }

    /// The operand that stands for a value.
    #[inline(always)]
    pub fn value(&self, word: u32) -> Token {
        Self::value_of(&self.values, word)
    }

    #[inline(always)]
    pub fn value_of(values: &[Token], word: u32) -> Token {
        // A verified operand names an earlier instruction.
        values.get(word as usize).copied().unwrap_or(Token::NONE)
    }

    pub fn inst(&self, word: u32) -> Option<&'a Inst> {
        self.insts.get(word as usize)
    }

    #[inline(always)]
    pub fn type_of(&self, word: u32) -> Type {
        match self.insts.get(word as usize) {
            Some(inst) => inst.ty,
            None => Type::NONE,
        }
    }

    /// The bits of a value that is a constant.
    #[inline(always)]
    pub fn known(&self, word: u32) -> Option<u64> {
        match self.insts.get(word as usize) {
            Some(inst) if inst.op == Op::Const => Some(inst.const_bits()),
            _ => None,
        }
    }

    /// The kind of a type. One that has none is remembered as the error, and anything is written in its place.
    #[inline(always)]
    pub fn kind(&mut self, ty: Type) -> Kind {
        match Kind::of(ty) {
            Some(kind) => kind,
            None => self.unsupported(ty),
        }
    }

    pub fn kind_of(&mut self, word: u32) -> Kind {
        let ty = self.type_of(word);
        self.kind(ty)
    }

    #[cold]
    fn unsupported(&mut self, ty: Type) -> Kind {
        let at = self.at;
        if self.error.is_none()
            && let Some(inst) = self.insts.get(at)
        {
            self.error = Some(Error::Unsupported {
                kernel: self.kernel.name().into(),
                // There are fewer than 2^28 instructions.
                at: u32::try_from(at).unwrap_or(u32::MAX),
                op: inst.op,
                ty,
                target: self.options.target,
            });
        }
        Kind::U32
    }

    /// A new register for a value of a kind.
    #[inline(always)]
    pub fn register(&mut self, kind: Kind) -> Token {
        // As many counters as classes.
        self.registers[kind.class() as usize].take()
    }

    /// `mnemonic a, b;`
    #[inline(always)]
    pub fn line2(&mut self, mnemonic: &Piece, a: Token, b: Token) {
        self.line(mnemonic, &[a, b, Token::EMPTY, Token::EMPTY]);
    }

    /// `mnemonic a, b, c;`
    #[inline(always)]
    pub fn line3(&mut self, mnemonic: &Piece, a: Token, b: Token, c: Token) {
        self.line(mnemonic, &[a, b, c, Token::EMPTY]);
    }

    /// An instruction of what is not [`Token::EMPTY`], the first of which is no wide immediate.
    #[inline(never)]
    pub fn line(&mut self, mnemonic: &Piece, operands: &[Token; 4]) {
        self.w.instruction(mnemonic, operands);
    }

    /// One operand to a new register.
    #[inline(always)]
    pub fn unary(&mut self, mnemonic: &Piece, kind: Kind, a: Token) -> Token {
        let none = Token::EMPTY;
        self.made(mnemonic, kind, &mut [none, a, none, none])
    }

    /// Two operands to a new register.
    #[inline(always)]
    pub fn binary(&mut self, mnemonic: &Piece, kind: Kind, a: Token, b: Token) -> Token {
        let none = Token::EMPTY;
        self.made(mnemonic, kind, &mut [none, a, b, none])
    }

    /// Three operands to a new register.
    #[inline(always)]
    pub fn ternary(&mut self, mnemonic: &Piece, kind: Kind, a: Token, b: Token, c: Token) -> Token {
        self.made(mnemonic, kind, &mut [Token::EMPTY, a, b, c])
    }

    /// As [`Body::line`], with a new register as the first operand.
    #[inline(never)]
    fn made(&mut self, mnemonic: &Piece, kind: Kind, operands: &mut [Token; 4]) -> Token {
        let to = self.register(kind);
        operands[0] = to;
        self.w.instruction(mnemonic, operands);
        to
    }

    /// `T → T` by one instruction.
    #[inline(always)]
    pub fn simple1(&mut self, mnemonic: &'static Mnemonic, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let a = self.value(inst.a);
        self.unary(mnemonic.of(kind), kind, a)
    }

    /// `T, T → T` by one instruction.
    #[inline(always)]
    pub fn simple2(&mut self, mnemonic: &'static Mnemonic, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        self.binary(mnemonic.of(kind), kind, a, b)
    }

    /// A register that holds the operand, which may be an immediate.
    pub fn in_register(&mut self, kind: Kind, a: Token) -> Token {
        if a.is_immediate() {
            self.unary(MOV.of(kind), kind, a)
        } else {
            a
        }
    }

    /// Unsigned 32-bit immediate.
    pub const fn imm(number: u32) -> Token {
        Token::integer(number as u64, false)
    }
}
