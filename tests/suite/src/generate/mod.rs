//! Random kernels, valid by construction, from the opcode table.
//!
//! What a kernel computes is defined on every target: threads write only their own elements, shared memory is read only
//! behind barriers, results of racing atomics go unused, and a NaN that was computed never becomes an integer by its bits.
//! Where a device may flush subnormals ([`Config::subnormals`]), results that could be one are replaced by zero.

mod lanes;

use crate::choices::Choices;
use crate::specials::{special_bits, without_subnormal};
use kernite::builder::KernelBuilder;
use kernite::kernel::{Buffer, Kernel, Scalar, Shared, Value, Var};
use kernite::op::{Effect, Makes, Op, Operand};
use kernite::types::{Access, Const, Scope, Type};
use kernite::verify::VerifyError;

/// Elements that each thread owns in every output buffer.
pub const PER_THREAD: u32 = 2;
/// Elements of each atomic buffer.
pub const ATOMIC_LEN: u32 = 4;
/// The types of the buffers, in order: an input, an output and (for integers) an atomic buffer each.
pub const TYPES: [Type; 12] = [
    Type::U32,
    Type::I32,
    Type::F32,
    Type::U64,
    Type::I64,
    Type::F64,
    Type::U8,
    Type::I8,
    Type::U16,
    Type::I16,
    Type::F16,
    Type::BF16,
];

/// What a kernel may contain.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Threads of a workgroup along x, y, z.
    pub workgroup: [u32; 3],
    /// The greatest number of statements.
    pub statements: usize,
    /// Whether subnormal floats may arise.
    pub subnormals: bool,
    /// Whether 64-bit atomics may be used.
    pub atomics_64: bool,
    /// Whether `fma` may be used.
    pub fma: bool,
    /// How many of 16 precise functions drawn are taken.
    pub recipes: u32,
    /// Whether subgroup operations may be used.
    pub subgroups: bool,
    /// Whether division and square roots of floats are rounded to nearest even. If not, there are none.
    pub exact_division: bool,
    /// Whether the target computes `x * 0`, `x + 0`, `x - x` and `x / x` of floats, rather than taking them for 0, x, 0
    /// and 1. If not, float constants are hidden behind a parameter, and no float is subtracted from or divided by itself.
    pub honest_floats: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            workgroup: [8, 2, 1],
            statements: 40,
            subnormals: true,
            atomics_64: true,
            fma: true,
            recipes: 4,
            subgroups: true,
            exact_division: true,
            honest_floats: true,
        }
    }
}

/// Builds the kernel that the decisions describe.
///
/// # Errors
/// The verifier's, which would be a fault of the generator or the verifier: every list of decisions gives a valid kernel.
pub fn kernel(
    name: &str,
    choices: &mut Choices<'_>,
    config: Config,
) -> Result<Kernel, VerifyError> {
    let mut b = KernelBuilder::new(name, config.workgroup);
    let mut inputs = Vec::new();
    let mut outputs = Vec::new();
    let mut counters = Vec::new();
    let mut scalars = Vec::new();
    for ty in TYPES {
        inputs.push(b.buffer("in", ty, Access::Read));
        outputs.push(b.buffer("out", ty, Access::ReadWrite));
        let is_int = ty.scalar().is_some_and(|s| s.is_int());
        if is_int && ty.bytes() >= 4 && (config.atomics_64 || ty.bytes() == 4) {
            counters.push(b.buffer("counter", ty, Access::ReadWrite));
        }
        scalars.push(b.scalar("scalar", ty));
    }
    scalars.push(b.scalar("flag", Type::BOOL));
    let zeros = [b.scalar("zero", Type::U32), b.scalar("zero", Type::U64)];
    let threads: u32 = config.workgroup.iter().product();
    let tile = b.shared("tile", Type::U32, threads);
    let local = b.private("local", Type::U32, 4);
    let index = linear_id(&mut b, config.workgroup);
    let lid = b.local_index();
    let mut g = Generator {
        b,
        choices,
        config,
        scopes: vec![Vec::new()],
        vars: Vec::new(),
        inputs,
        outputs,
        counters,
        scalars,
        zeros,
        tile,
        threads,
        index,
        lid,
        depth: 0,
        loops: 0,
        divergent: 0,
        returned: false,
    };
    let zero = g.b.constant(0u32);
    for i in 0..4 {
        g.b.store_offset(local, zero, i, lid);
    }
    g.known(index);
    g.known(lid);
    g.known(zero);
    let sub = g.b.load_offset(local, zero, 1);
    g.known(sub);
    let statements = 1 + g.choices.below(config.statements.max(1));
    g.block(statements);
    g.write_out();
    g.b.finish()
}

/// The thread's number in the whole grid.
fn linear_id(b: &mut KernelBuilder, workgroup: [u32; 3]) -> Value {
    let threads: u32 = workgroup.iter().product();
    let (x, y, z) = (b.workgroup_id(0), b.workgroup_id(1), b.workgroup_id(2));
    let (nx, ny) = (b.num_workgroups(0), b.num_workgroups(1));
    let row = b.mul_add(z, ny, y);
    let group = b.mul_add(row, nx, x);
    let (size, lid) = (b.constant(threads), b.local_index());
    b.mul_add(group, size, lid)
}

struct Generator<'a, 'c> {
    b: KernelBuilder,
    choices: &'a mut Choices<'c>,
    config: Config,
    /// Values in scope, by block.
    scopes: Vec<Vec<Value>>,
    vars: Vec<(Var, Type)>,
    inputs: Vec<Buffer>,
    outputs: Vec<Buffer>,
    counters: Vec<Buffer>,
    scalars: Vec<Scalar>,
    /// A u32 and a u64 that are 0.
    zeros: [Scalar; 2],
    tile: Shared,
    threads: u32,
    index: Value,
    lid: Value,
    depth: u32,
    loops: u32,
    /// Open blocks whose entry may differ between threads.
    divergent: u32,
    /// Some threads may have returned.
    returned: bool,
}

impl Generator<'_, '_> {
    fn known(&mut self, value: Value) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(value);
        }
    }

    fn any_type(&mut self) -> Type {
        match self.choices.below(TYPES.len() + 2) {
            n if n < TYPES.len() => TYPES[n],
            _ => Type::BOOL,
        }
    }

    /// A value of the type: one in scope, a parameter or a constant.
    fn value(&mut self, ty: Type) -> Value {
        let found: Vec<Value> = self
            .scopes
            .iter()
            .flatten()
            .copied()
            .filter(|&v| self.b.type_of(v) == ty)
            .collect();
        match self.choices.below(4) {
            0 | 1 if !found.is_empty() => {
                // Late values more often than early ones, so that chains grow.
                let back = self
                    .choices
                    .below(found.len())
                    .min(self.choices.below(found.len()));
                found[found.len() - 1 - back]
            }
            2 => {
                let of_type = self
                    .scalars
                    .iter()
                    .copied()
                    .zip(TYPES.into_iter().chain([Type::BOOL]));
                match of_type.filter(|&(_, t)| t == ty).map(|(s, _)| s).next() {
                    Some(scalar) => {
                        let v = self.b.param(scalar);
                        self.flushed(v)
                    }
                    None => self.constant(ty),
                }
            }
            _ => self.constant(ty),
        }
    }

    fn constant(&mut self, ty: Type) -> Value {
        let bits = special_bits(ty, self.choices);
        let bits = if self.config.subnormals {
            bits
        } else {
            without_subnormal(ty, bits)
        };
        if !self.config.honest_floats {
            // Hidden behind a zero that only the launch knows.
            match ty {
                Type::F32 => {
                    let (bits, zero) = (self.b.constant(bits as u32), self.b.param(self.zeros[0]));
                    let hidden = self.b.xor(bits, zero);
                    return self.b.bitcast(hidden, ty);
                }
                Type::F64 => {
                    let (bits, zero) = (self.b.constant(bits), self.b.param(self.zeros[1]));
                    let hidden = self.b.xor(bits, zero);
                    return self.b.bitcast(hidden, ty);
                }
                Type::F16 | Type::BF16 => {
                    let (bits, zero) = (self.b.constant(bits as u16), self.b.param(self.zeros[0]));
                    let zero = self.b.convert(zero, Type::U16);
                    let hidden = self.b.xor(bits, zero);
                    return self.b.bitcast(hidden, ty);
                }
                _ => {}
            }
        }
        match Const::new(ty, bits) {
            Some(c) => self.b.constant(c),
            None => self.b.constant(false),
        }
    }

    /// A small float constant.
    fn constant_of(&mut self, ty: Type, value: f32) -> Value {
        let value = self.b.constant(value);
        if ty == Type::F32 {
            value
        } else {
            self.b.convert(value, ty)
        }
    }

    /// The value, or zero where it is a subnormal that a device may flush.
    fn flushed(&mut self, v: Value) -> Value {
        let ty = self.b.type_of(v);
        if self.config.subnormals {
            return v;
        }
        let (least, zero) = match ty {
            Type::F32 => (self.b.constant(f32::MIN_POSITIVE), self.b.constant(0.0f32)),
            Type::F64 => (self.b.constant(f64::MIN_POSITIVE), self.b.constant(0.0f64)),
            // Computed in f32, whose exponents it has; f16 is not, and its own subnormals are kept.
            Type::BF16 => {
                let bits = |bits| Const::new(Type::BF16, bits).unwrap_or(Const::from(false));
                (self.b.constant(bits(0x0080)), self.b.constant(bits(0)))
            }
            _ => return v,
        };
        let size = self.b.abs(v);
        // A NaN is not below, so it stays.
        let small = self.b.lt(size, least);
        self.b.select(small, zero, v)
    }

    /// A float whose bits are the same everywhere: zero for NaN, whose bits are not.
    fn plain_bits(&mut self, v: Value) -> Value {
        let ty = self.b.type_of(v);
        let zero = match Const::new(ty, 0) {
            Some(zero) if ty.scalar().is_some_and(|s| s.is_float()) => self.b.constant(zero),
            _ => return v,
        };
        let nan = self.b.ne(v, v);
        self.b.select(nan, zero, v)
    }

    fn block(&mut self, statements: usize) {
        for _ in 0..statements {
            if self.choices.is_empty() {
                return;
            }
            self.statement();
        }
    }

    fn statement(&mut self) {
        match self.choices.below(22) {
            0..=9 => self.pure(),
            10 => self.conversion(),
            11 => self.load(),
            12 => self.store(),
            13 => self.variable(),
            14 => self.atomic(),
            15 if self.depth < 4 => self.branch(),
            16 if self.depth < 3 => self.repeat(),
            17 => self.exchange(),
            18 if self.depth > 0 && self.choices.chance(1, 8) => self.guarded_return(),
            19 => self.built_in(),
            20 => self.subgroup(),
            21 => self.vector(),
            _ => self.pure(),
        }
    }

    /// An opcode of the table whose operands are values and whose result follows from them.
    fn pure(&mut self) {
        let by_value = |op: &Op| {
            let row = op.row();
            row.effect == Effect::Pure
                && *op != Op::AssumeUniform
                && !row.operands.is_empty()
                && (row.makes != Makes::T || row.operands.contains(&Operand::T))
                && row
                    .operands
                    .iter()
                    .all(|o| matches!(o, Operand::T | Operand::Bool | Operand::U32))
        };
        let ops: Vec<Op> = Op::ALL.into_iter().filter(by_value).collect();
        let op = self.choices.pick(&ops);
        if op == Op::Fma && !self.config.fma {
            return;
        }
        // Their recipes are long, and longer where fma is emulated.
        if is_recipe(op) && !self.choices.chance(self.config.recipes, 16) {
            return;
        }
        let types: Vec<Type> = op
            .row()
            .types
            .iter()
            .filter(|t| *t == Type::BOOL || TYPES.contains(t))
            .collect();
        let ty = self.choices.pick(&types);
        let divides = matches!(op, Op::Div | Op::Rcp | Op::Sqrt | Op::Rsqrt);
        if divides && !self.config.exact_division && ty.scalar().is_some_and(|s| s.is_float()) {
            return;
        }
        let operands: Vec<Value> = op
            .row()
            .operands
            .iter()
            .map(|o| match o {
                Operand::Bool => self.value(Type::BOOL),
                Operand::U32 => self.value(Type::U32),
                _ => self.value(ty),
            })
            .collect();
        let mut operands = operands;
        // These look at the bits of a NaN, which differ where it was computed.
        match op {
            Op::Pack => operands.iter_mut().for_each(|v| *v = self.plain_bits(*v)),
            Op::Copysign => operands[1] = self.plain_bits(operands[1]),
            _ => {}
        }
        if !self.config.honest_floats && matches!(op, Op::Sin | Op::Cos | Op::Tan) {
            // The recipes make the NaN of what is not finite by arithmetic that such a target folds.
            let (infinite, nan) = (self.b.is_inf(operands[0]), self.b.is_nan(operands[0]));
            let infinite = self.b.or(infinite, nan);
            let one = self.constant_of(ty, 1.0);
            operands[0] = self.b.select(infinite, one, operands[0]);
        }
        let folds = !self.config.honest_floats && matches!(op, Op::Sub | Op::Div);
        if folds && operands[0] == operands[1] && ty.scalar().is_some_and(|s| s.is_float()) {
            return;
        }
        let made = self.b.apply(op, &operands);
        let made = self.flushed(made);
        self.known(made);
    }

    fn conversion(&mut self) {
        let (from, to) = (self.any_type(), self.any_type());
        let v = self.value(from);
        let same_width = from.bytes() == to.bytes() && from != Type::BOOL && to != Type::BOOL;
        let made = if same_width && self.choices.chance(1, 2) {
            let v = self.plain_bits(v);
            self.b.bitcast(v, to)
        } else {
            self.b.convert(v, to)
        };
        let made = self.flushed(made);
        self.known(made);
    }

    fn built_in(&mut self) {
        let axis = self.choices.below(3) as u8;
        let made = match self.choices.below(7) {
            0 => self.b.global_id(axis),
            1 => self.b.local_id(axis),
            2 => self.b.workgroup_id(axis),
            3 => self.b.workgroup_size(axis),
            4 => self.b.num_workgroups(axis),
            5 => self.b.global_size(axis),
            _ => {
                let which = self.choices.below(self.inputs.len());
                self.b.array_length(self.inputs[which])
            }
        };
        self.known(made);
    }

    /// The thread's element of an input, or any element of one by an index cut to its length.
    fn load(&mut self) {
        let which = self.choices.below(self.inputs.len());
        let buffer = self.inputs[which];
        let index = if self.choices.chance(1, 2) {
            let (any, length) = (self.value(Type::U32), self.b.array_length(buffer));
            self.b.rem(any, length)
        } else {
            self.index
        };
        let made = if self.choices.chance(1, 3) {
            let wide = self.b.convert(index, Type::U64);
            self.b.load(buffer, wide)
        } else {
            self.b.load(buffer, index)
        };
        let made = self.flushed(made);
        self.known(made);
    }

    fn store(&mut self) {
        let which = self.choices.below(TYPES.len());
        let v = self.value(TYPES[which]);
        let per_thread = self.b.constant(PER_THREAD);
        let own = self.b.mul(self.index, per_thread);
        let offset = self.choices.below(PER_THREAD as usize) as u32;
        self.b.store_offset(self.outputs[which], own, offset, v);
        if self.choices.chance(1, 2) {
            let back = self.b.load_offset(self.outputs[which], own, offset);
            self.known(back);
        }
    }

    fn variable(&mut self) {
        let ty = self.any_type();
        let of_type: Vec<Var> = self
            .vars
            .iter()
            .filter(|(_, t)| *t == ty)
            .map(|(v, _)| *v)
            .collect();
        if of_type.is_empty() || self.choices.chance(1, 3) {
            let start = self.value(ty);
            let var = self.b.var(start);
            self.vars.push((var, ty));
        } else {
            let var = self.choices.pick(&of_type);
            if self.choices.chance(1, 2) {
                let v = self.value(ty);
                self.b.set(var, v);
            }
            let made = self.b.get(var);
            self.known(made);
        }
    }

    /// An atomic whose order among the threads does not show: one operation a counter, the result unused.
    fn atomic(&mut self) {
        let which = self.choices.below(self.counters.len());
        let buffer = self.counters[which];
        // The place in the buffer decides the operation, so that different ones never meet at one element.
        let kind = self.choices.below(ATOMIC_LEN as usize) as u32;
        let ints = [Type::U32, Type::I32, Type::U64, Type::I64];
        let ty = ints[which];
        let v = self.value(ty);
        let at = self.b.constant(kind);
        match kind {
            0 if self.choices.chance(1, 2) => self.b.atomic_sub(buffer, at, v),
            0 => self.b.atomic_add(buffer, at, v),
            1 => self.b.atomic_max(buffer, at, v),
            2 => self.b.atomic_or(buffer, at, v),
            _ => self.b.atomic_xor(buffer, at, v),
        };
        if self.choices.chance(1, 8) {
            let scope = if self.choices.chance(1, 2) {
                Scope::Device
            } else {
                Scope::Workgroup
            };
            self.b.memory_fence(scope);
        }
    }

    fn scoped(&mut self, body: impl FnOnce(&mut Self)) {
        let vars = self.vars.len();
        self.scopes.push(Vec::new());
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.scopes.pop();
        self.vars.truncate(vars);
    }

    fn branch(&mut self) {
        let condition = self.value(Type::BOOL);
        let len = 1 + self.choices.below(6);
        self.divergent += 1;
        self.b.begin_if(condition);
        self.scoped(|g| g.block(len));
        if self.choices.chance(1, 2) {
            self.b.begin_else();
            self.scoped(|g| g.block(len));
        }
        self.b.end();
        self.divergent -= 1;
    }

    /// A loop with a small, possibly divergent number of rounds, with a continue or break on the way.
    fn repeat(&mut self) {
        let rounds = self.choices.below(4) as u32;
        let divergent = self.choices.chance(1, 2);
        let most = self.b.constant(rounds);
        let end = if divergent {
            let (any, four) = (self.value(Type::U32), self.b.constant(4u32));
            self.b.rem(any, four)
        } else {
            most
        };
        let zero = self.b.constant(0u32);
        let counter = self.b.var(zero);
        self.divergent += 1;
        self.loops += 1;
        self.b.begin_loop();
        self.scoped(|g| {
            let round = g.b.get(counter);
            g.known(round);
            let done = g.b.ge(round, end);
            g.b.when(done, KernelBuilder::break_);
            let len = 1 + g.choices.below(5);
            g.block(len);
            let leave = g.choices.below(4);
            if leave > 1 {
                let condition = g.value(Type::BOOL);
                g.b.begin_if(condition);
                g.scoped(|g| g.block(2));
                if leave == 2 {
                    g.b.break_()
                } else {
                    g.b.continue_()
                }
                g.b.end();
                g.block(1);
            }
            g.b.begin_continuing();
        });
        let now = self.b.get(counter);
        let one = self.b.constant(1u32);
        let next = self.b.add(now, one);
        self.b.set(counter, next);
        self.b.end();
        self.loops -= 1;
        self.divergent -= 1;
    }

    /// Threads pass each other a value through shared memory, where all of them are there.
    fn exchange(&mut self) {
        if self.divergent > 0 || self.returned {
            return self.pure();
        }
        let v = self.value(Type::U32);
        self.b.store(self.tile, self.lid, v);
        self.b.workgroup_barrier();
        let (any, threads) = (self.value(Type::U32), self.b.constant(self.threads));
        let other = self.b.rem(any, threads);
        let got = self.b.load(self.tile, other);
        self.b.workgroup_barrier();
        self.known(got);
    }

    fn guarded_return(&mut self) {
        let condition = self.value(Type::BOOL);
        self.b.when(condition, KernelBuilder::return_);
        self.returned = true;
    }

    /// Writes the newest value of each type, so that the work shows.
    fn write_out(&mut self) {
        for (which, ty) in TYPES.into_iter().enumerate() {
            let mut in_scope = self.scopes.iter().flatten().rev().copied();
            if let Some(v) = in_scope.find(|&v| self.b.type_of(v) == ty) {
                let per_thread = self.b.constant(PER_THREAD);
                let own = self.b.mul(self.index, per_thread);
                self.b
                    .store_offset(self.outputs[which], own, PER_THREAD - 1, v);
            }
        }
        let bools: Vec<Value> = self
            .scopes
            .iter()
            .flatten()
            .copied()
            .filter(|&v| self.b.type_of(v) == Type::BOOL)
            .collect();
        if let Some(first) = bools.first().copied() {
            let all = bools.into_iter().fold(first, |a, v| self.b.xor(a, v));
            let v = self.b.convert(all, Type::U32);
            let per_thread = self.b.constant(PER_THREAD);
            let own = self.b.mul(self.index, per_thread);
            self.b.store(self.outputs[0], own, v);
        }
    }
}

/// Whether a precise recipe carries the opcode out.
fn is_recipe(op: Op) -> bool {
    matches!(
        op,
        Op::Exp
            | Op::Exp2
            | Op::Log
            | Op::Log2
            | Op::Pow
            | Op::Sin
            | Op::Cos
            | Op::Tan
            | Op::Tanh
            | Op::Erf
            | Op::Rsqrt
            | Op::Rem
    )
}
