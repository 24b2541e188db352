//! Barriers and subgroup operations at random places: what the verifier accepts, every thread reaches.
//!
//! Kernels are made with such operations anywhere; those that the verifier refuses are left out again, so that what is
//! left goes as far as the verifier lets it. Two kinds of kernels: the random ones of [`crate::generate`], with operations
//! put between their instructions and barriers taken away, and ones that are all control flow.

use crate::choices::{Choices, SplitMix};
use crate::differential::{GRIDS, launch};
use crate::generate::{self, Config};
use crate::rebuild::Rebuild;
use crate::run::{Case, Value as Argument};
use kernite::builder::{BufferOptions, KernelBuilder, Scan};
use kernite::kernel::{Bounds, Buffer, Inst, Kernel, ParamRef, Scalar, Shared, Table, Value, Var};
use kernite::op::{Effect, Op};
use kernite::reference::{Arg, Buffer as Storage, ExecError, Executor, Launch, Options, TrapKind};
use kernite::types::{Access, Type};
use kernite::verify::VerifyError;
use std::collections::BTreeSet;

/// Operations put somewhere: by their order, which of them to leave out, and where the others went.
#[derive(Default)]
struct Placed {
    left_out: BTreeSet<usize>,
    /// The instruction of each operation, in order; those left out have none.
    at: Vec<Option<u32>>,
}

impl Placed {
    /// A workgroup barrier or an operation of the subgroup; what it makes, if anything, as a `u32`.
    fn put(&mut self, b: &mut KernelBuilder, choices: &mut Choices<'_>, v: Value) -> Option<Value> {
        let kind = choices.pick(&[0, 0, 0, 0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        if self.left_out.contains(&self.at.len()) {
            self.at.push(None);
            return None;
        }
        // The next instruction but one or two is the operation.
        let zero = b.constant(0u32);
        let odd = match kind {
            4..=6 => b.eq(v, zero),
            _ => zero,
        };
        self.at.push(Some(odd.index() + 1));
        let made = match kind {
            0 => {
                b.workgroup_barrier();
                return None;
            }
            3 => {
                b.subgroup_barrier();
                return None;
            }
            4 => b.any(odd),
            5 => b.all(odd),
            6 => {
                let mask = b.ballot(odd);
                return Some(b.extract(mask, 0));
            }
            7 => b.elect(),
            8 => b.subgroup_add(v, Scan::Reduce),
            9 => b.subgroup_max(v, Scan::Inclusive),
            10 => b.broadcast(v, v),
            _ => b.shuffle_xor(v, zero),
        };
        Some(match b.type_of(made) {
            Type::BOOL => b.convert(made, Type::U32),
            _ => made,
        })
    }
}

/// Builds until the verifier refuses no operation that was put somewhere.
///
/// # Errors
/// The verifier's, of something else.
fn accepted(
    mut build: impl FnMut(&mut Placed) -> Result<Kernel, VerifyError>,
) -> Result<Kernel, VerifyError> {
    let mut placed = Placed::default();
    loop {
        placed.at.clear();
        let error = match build(&mut placed) {
            Ok(kernel) => return Ok(kernel),
            Err(error) => error,
        };
        let refused: BTreeSet<u32> = error.faults().iter().filter_map(|f| f.at).collect();
        let before = placed.left_out.len();
        for (n, at) in placed.at.iter().enumerate() {
            if at.is_some_and(|at| refused.contains(&at)) {
                placed.left_out.insert(n);
            }
        }
        if placed.left_out.len() == before {
            return Err(error);
        }
    }
}

/// A random kernel with operations put between its instructions and some barriers taken away.
///
/// # Errors
/// The verifier's, which would be a fault here or there.
pub fn moved(decisions: &[u32]) -> Result<Case, VerifyError> {
    let mut choices = Choices::new(decisions);
    let grid = choices.pick(&GRIDS);
    let (seed, inserts) = (choices.word(), choices.word());
    let config = Config {
        statements: 20,
        ..Config::default()
    };
    let kernel = generate::kernel("k", &mut choices, config)?;
    let kernel = accepted(|placed| {
        let words = SplitMix::decisions(u64::from(inserts), 4 * kernel.insts().len() + 8);
        let mut choices = Choices::new(&words);
        let mut rebuild = Rebuild::new(&kernel);
        let mut last = None;
        let mut ended = false;
        for (at, inst) in kernel.insts().iter().enumerate() {
            // Operands are defined for sure: the last value of the outermost block.
            if let (0, Some(v), false) = (choices.below(6), last, ended) {
                placed.put(&mut rebuild.b, &mut choices, v);
            }
            let barrier = inst.op == Op::WorkgroupBarrier || inst.op == Op::SubgroupBarrier;
            if barrier && choices.chance(1, 3) {
                continue;
            }
            rebuild.instruction(at);
            ended = inst.op.row().effect == Effect::Terminator;
            if at < 12 && inst.ty == Type::U32 {
                last = rebuild.value(at as u32);
            }
        }
        rebuild.b.finish()
    })?;
    Ok(launch(kernel, grid, u64::from(seed), config))
}

/// A kernel of nothing but control flow, conditions that are more or less uniform, and operations anywhere.
///
/// # Errors
/// The verifier's, which would be a fault here or there.
pub fn flow(decisions: &[u32]) -> Result<Case, VerifyError> {
    let mut choices = Choices::new(decisions);
    let workgroup = choices.pick(&[
        [8, 1, 1],
        [16, 1, 1],
        [5, 1, 1],
        [4, 3, 1],
        [2, 2, 5],
        [33, 1, 1],
    ]);
    let grid = choices.pick(&[[1, 1, 1], [2, 1, 1]]);
    let seed = choices.word();
    let sources = choices.pick(&SOURCES);
    let statements = 1 + choices.below(40);
    let start = choices.clone();
    let kernel = accepted(|placed| {
        let mut b = KernelBuilder::new("flow", workgroup);
        let zero = b.constant(0u32);
        let mut flow = Flow {
            scalar: b.scalar("scalar", Type::U32),
            read: b.buffer("read", Type::U32, Access::Read),
            aliased: b.buffer_with(
                "aliased",
                Type::U32,
                Access::Read,
                BufferOptions::new().may_alias(),
            ),
            written: b.buffer("written", Type::U32, Access::ReadWrite),
            tile: b.shared_zeroed("tile", Type::U32, 8),
            table: b.table("table", Type::U32, &[0u32, 1, 2, 0, 1, 0, 3, 1]),
            b,
            choices: start.clone(),
            placed,
            sources,
            values: vec![zero],
            vars: Vec::new(),
            loops: 0,
            depth: 0,
        };
        flow.block(statements);
        flow.b.finish()
    })?;
    let mut inputs = SplitMix::new(u64::from(seed));
    let mut small =
        |n: usize| -> Vec<u32> { (0..n).map(|_| (inputs.next_u64() % 3) as u32).collect() };
    let args = kernel.params().iter().map(|param| match param {
        ParamRef::Scalar(_) => Argument::Scalar(small(1)[0].into()),
        ParamRef::Buffer(_) => Argument::of(&small(8)),
    });
    Ok(Case {
        grid,
        args: args.collect(),
        dynamic_shared: 0,
        bounds: Bounds::Checked,
        kernel,
    })
}

/// Sources of values to choose from, by their numbers in [`Flow::source`]: with one that is divergent most control flow
/// is, and most operations are refused.
const SOURCES: [&[u32]; 6] = [
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
    &[3, 4, 5, 6, 7, 8, 11, 13],
    &[4, 6, 6, 8, 11, 12],
    &[2, 2, 4, 6, 8, 9, 10, 11],
    &[0, 6, 6, 6, 8, 8, 13],
    &[2, 6, 6, 8, 13],
];

struct Flow<'c, 'p> {
    b: KernelBuilder,
    choices: Choices<'c>,
    placed: &'p mut Placed,
    scalar: Scalar,
    read: Buffer,
    aliased: Buffer,
    written: Buffer,
    tile: Shared,
    table: Table,
    sources: &'static [u32],
    /// In scope, all of u32.
    values: Vec<Value>,
    vars: Vec<Var>,
    loops: u32,
    depth: u32,
}

impl Flow<'_, '_> {
    fn value(&mut self) -> Value {
        // Late ones more often.
        let back = self.choices.below(self.values.len());
        let back = back.min(self.choices.below(self.values.len()));
        self.values[self.values.len() - 1 - back]
    }

    fn condition(&mut self) -> Value {
        // What a variable holds, something fresh, or what is there.
        let x = match self.choices.below(6) {
            0 | 1 if !self.vars.is_empty() => {
                let var = self.choices.pick(&self.vars);
                self.b.get(var)
            }
            2 => self.source(),
            3 => self.source(),
            _ => self.value(),
        };
        let few = self.choices.below(3) as u32;
        let few = self.b.constant(few);
        match self.choices.below(3) {
            0 => self.b.eq(x, few),
            1 => self.b.ne(x, few),
            _ => self.b.gt(x, few),
        }
    }

    /// Statements; whether the block has ended, so that nothing may follow.
    fn block(&mut self, statements: usize) -> bool {
        for _ in 0..statements {
            if self.choices.is_empty() {
                return false;
            }
            if self.statement() {
                return true;
            }
        }
        false
    }

    /// A block whose values and variables go away with it.
    fn scoped(&mut self, statements: usize) -> bool {
        let (values, vars) = (self.values.len(), self.vars.len());
        self.depth += 1;
        let mut ended = self.block(statements);
        if !ended && self.choices.chance(1, 4) {
            ended = self.leave();
        }
        self.depth -= 1;
        self.values.truncate(values);
        self.vars.truncate(vars);
        ended
    }

    /// Leaves the block in some way.
    fn leave(&mut self) -> bool {
        match self.choices.below(4) {
            0 if self.loops > 0 => self.b.break_(),
            1 if self.loops > 0 => self.b.continue_(),
            2 => self.b.return_(),
            _ => return false,
        }
        true
    }

    fn statement(&mut self) -> bool {
        self.choices.block();
        match self.choices.below(20) {
            0..=2 => {
                let made = self.source();
                self.values.push(made);
            }
            3 => {
                let (x, y) = (self.value(), self.value());
                let made = match self.choices.below(3) {
                    0 => self.b.add(x, y),
                    1 => self.b.xor(x, y),
                    _ => self.b.min(x, y),
                };
                self.values.push(made);
            }
            4 => {
                let v = match self.choices.below(3) {
                    0 => self.b.constant(1u32),
                    1 => self.b.param(self.scalar),
                    _ => self.value(),
                };
                let var = self.b.var(v);
                self.vars.push(var);
            }
            5 => self.variable(),
            13 => self.set_where(),
            6 => {
                let (at, v, seven) = (self.value(), self.value(), self.b.constant(7u32));
                let at = self.b.and(at, seven);
                if self.choices.chance(1, 2) {
                    self.b.store(self.written, at, v);
                } else {
                    self.b.store(self.tile, at, v);
                }
            }
            7..=10 if self.depth < 5 => return self.branch(),
            11 | 12 if self.depth < 4 && self.loops < 3 => self.repeat(),
            _ => {
                let v = self.value();
                let made = self.placed.put(&mut self.b, &mut self.choices, v);
                self.values.extend(made);
            }
        }
        false
    }

    /// A variable set by some of the threads, and what depends on it.
    fn set_where(&mut self) {
        let v = self.value();
        let one = self.b.constant(1u32);
        let var = match self.vars.last() {
            Some(&var) if self.choices.chance(1, 2) => var,
            _ => {
                let var = self.b.var(one);
                self.vars.push(var);
                var
            }
        };
        let condition = self.condition();
        self.b.when(condition, |b| b.set(var, v));
        let now = self.b.get(var);
        let condition = self.b.eq(now, one);
        self.b.begin_if(condition);
        self.scoped(1);
        self.b.end();
    }

    fn variable(&mut self) {
        if self.vars.is_empty() {
            return;
        }
        let var = self.choices.pick(&self.vars);
        if self.choices.chance(3, 4) {
            let v = self.value();
            self.b.set(var, v);
        } else {
            let made = self.b.get(var);
            self.values.push(made);
        }
    }

    /// A value as uniform as it may be.
    fn source(&mut self) -> Value {
        let (v, seven) = (self.value(), self.b.constant(7u32));
        let at = self.b.and(v, seven);
        match self.choices.pick(self.sources) {
            0 => self.b.local_index(),
            1 => self.b.lane(),
            2 => self.b.subgroup_id(),
            3 => self.b.subgroup_size(),
            4 => self.b.workgroup_id(0),
            5 => self.b.num_workgroups(0),
            6 => self.b.param(self.scalar),
            7 => self.b.array_length(self.read),
            8 => self.b.load(self.read, at),
            9 => self.b.load_with(self.read, at, 0, Inst::VOLATILE),
            10 => self.b.load(self.aliased, at),
            11 => self.b.load(self.written, at),
            12 => self.b.load(self.tile, at),
            _ => self.b.load(self.table, at),
        }
    }

    fn branch(&mut self) -> bool {
        let condition = self.condition();
        let (len, other) = (1 + self.choices.below(4), self.choices.chance(1, 2));
        self.b.begin_if(condition);
        let ended = self.scoped(len);
        let both = if other {
            self.b.begin_else();
            self.scoped(len) && ended
        } else {
            false
        };
        self.b.end();
        both
    }

    fn repeat(&mut self) {
        let (zero, one) = (self.b.constant(0u32), self.b.constant(1u32));
        let three = self.b.constant(3u32);
        let counter = self.b.var(zero);
        let (len, early) = (1 + self.choices.below(5), self.choices.chance(1, 2));
        let (values, vars) = (self.values.len(), self.vars.len());
        self.loops += 1;
        self.depth += 1;
        self.b.begin_loop();
        let round = self.b.get(counter);
        self.values.push(round);
        let done = self.b.ge(round, three);
        self.b.when(done, KernelBuilder::break_);
        let mut ended = self.block(len);
        if early && !ended {
            let condition = self.condition();
            self.b.begin_if(condition);
            if self.choices.chance(1, 2) {
                self.b.break_()
            } else {
                self.b.continue_()
            }
            self.b.end();
            ended = self.block(2);
        }
        if !ended && self.choices.chance(1, 6) {
            self.leave();
        }
        self.values.truncate(values);
        self.vars.truncate(vars);
        self.b.begin_continuing();
        let now = self.b.get(counter);
        let next = self.b.add(now, one);
        self.b.set(counter, next);
        if self.choices.chance(1, 2) {
            self.values.push(now);
            let v = self.value();
            let made = self.placed.put(&mut self.b, &mut self.choices, v);
            if let (Some(made), Some(&var)) = (made, self.vars.last()) {
                self.b.set(var, made);
            }
            self.values.truncate(values);
        }
        self.b.end();
        self.depth -= 1;
        self.loops -= 1;
    }
}

/// What a run shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every thread reached every operation.
    Ran,
    /// It took too long.
    Endless,
}

/// Runs the case with subgroups of so many lanes, looking at nothing but barriers and operations of subgroups.
///
/// # Errors
/// What ended the launch: an operation that not every thread reached, which the verifier should have refused.
///
/// # Panics
/// Where the arguments do not fit the kernel.
pub fn run(case: &Case, subgroup_size: u32) -> Result<Outcome, ExecError> {
    let mut options = Options::unchecked();
    options.subgroup_size = subgroup_size;
    options.checks.barriers = true;
    options.checks.subgroups = true;
    options.step_limit = 1 << 22;
    let mut types = case.kernel.buffers().iter().map(|b| b.elem);
    let mut args: Vec<Arg> = case
        .args
        .iter()
        .map(|value| match value {
            Argument::Bytes(bytes) => {
                let ty = types.next().unwrap_or(Type::NONE);
                Arg::Buffer(Storage::from_bytes(ty, bytes).unwrap_or_else(|e| panic!("{e}")))
            }
            Argument::Scalar(c) => Arg::Scalar(*c),
        })
        .collect();
    let launch = Launch::new(case.grid).dynamic_shared(case.dynamic_shared);
    match Executor::new(options).run(&case.kernel, launch, &mut args) {
        Ok(_) => Ok(Outcome::Ran),
        Err(e) => match e.trap().map(|trap| &trap.kind) {
            Some(TrapKind::StepLimit { .. }) => Ok(Outcome::Endless),
            _ => Err(e),
        },
    }
}

/// Barriers and operations of subgroups in a kernel, and those of them within a block.
pub fn count(kernel: &Kernel) -> (usize, usize) {
    let (mut depth, mut all, mut inside) = (0u32, 0, 0);
    for inst in kernel.insts() {
        match inst.op {
            Op::If | Op::Loop => depth += 1,
            Op::End => depth -= 1,
            op if matches!(op.row().effect, Effect::Barrier | Effect::Collective) => {
                all += 1;
                inside += usize::from(depth > 0);
            }
            _ => {}
        }
    }
    (all, inside)
}
