//! Launches: everything is checked, then workgroup after workgroup runs.

use super::args::Arg;
use super::bind::{Binder, limit};
use super::decode::{Decoder, Launched};
use super::error::{ExecError, Trap, TrapKind};
use super::lanes::{self, MAX_LANES};
use super::memory::{Memory, Shape};
use super::options::{Launch, Options};
use super::program::{Program, Width, With};
use super::subgroup::{Counts, Promises, Stop, Subgroup, Surroundings};
use crate::kernel::{Kernel, Uses};

/// Runs kernels on host memory. One executor can run launch after launch; once its memory has grown, a run allocates
/// only what it reports.
#[derive(Clone, Debug, Default)]
pub struct Executor {
    options: Options,
    binder: Binder,
    decoder: Decoder,
    program: Program,
    memory: Memory,
    promises: Promises,
    /// The registers of every subgroup that is kept.
    regs: Vec<u64>,
    subgroups: Vec<Subgroup>,
}

/// What a launch did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Workgroups that ran.
    pub workgroups: u64,
    /// Instructions executed, each counted once for a subgroup. Constants, parameters and built-ins are not counted.
    pub steps: u64,
    /// The same, counted once for each active thread.
    pub thread_steps: u64,
    /// Workgroup barriers passed, counted once for a workgroup.
    pub barriers: u64,
}

impl Executor {
    /// An executor with these options.
    pub fn new(options: Options) -> Executor {
        Executor {
            options,
            ..Executor::default()
        }
    }

    /// Its options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Its options, to change for the launches to come.
    pub fn options_mut(&mut self) -> &mut Options {
        &mut self.options
    }

    /// Runs `kernel` over a grid. `args` are the kernel's parameters in order, then any buffers behind views; buffers
    /// hold the results afterwards. A grid with a side of 0 checks the arguments and runs nothing.
    ///
    /// # Errors
    /// [`ExecError`]: arguments that do not fit, sizes above a limit (both before anything runs), or a [`Trap`].
    ///
    /// ```
    /// # use kernite::builder::KernelBuilder;
    /// # use kernite::reference::{Arg, Executor, Options, TrapKind};
    /// # use kernite::types::{Access, Type};
    /// let mut b = KernelBuilder::new("fill", [4, 1, 1]);
    /// let out = b.buffer("out", Type::U32, Access::Write);
    /// let i = b.global_id(0);
    /// b.store(out, i, i);
    /// let kernel = b.finish()?;
    ///
    /// let mut executor = Executor::new(Options::default());
    /// let mut args = [Arg::from([0u32; 6])];
    /// let error = executor.run(&kernel, [2, 1, 1], &mut args).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "at 1 (store), thread (2, 0, 0) of workgroup (1, 0, 0): element 6 + 0 of buf0, which has 6"
    /// );
    /// # Ok::<(), kernite::verify::VerifyError>(())
    /// ```
    pub fn run(
        &mut self,
        kernel: &Kernel,
        launch: impl Into<Launch>,
        args: &mut [Arg],
    ) -> Result<Report, ExecError> {
        let launch = launch.into();
        let workgroups = self.prepare(kernel, &launch, args)?;
        self.memory.buffers.clear();
        for arg in &mut *args {
            self.memory.buffers.push(match arg {
                Arg::Buffer(buffer) => core::mem::take(&mut buffer.words),
                Arg::View(_) | Arg::Scalar(_) => Vec::new(),
            });
        }
        let result = self.workgroups(kernel, workgroups);
        for (arg, words) in args.iter_mut().zip(self.memory.buffers.drain(..)) {
            if let Arg::Buffer(buffer) = arg {
                buffer.words = words;
            }
        }
        Ok(result?)
    }

    /// Everything that can be refused before the kernel runs. Gives the number of workgroups.
    fn prepare(
        &mut self,
        kernel: &Kernel,
        launch: &Launch,
        args: &[Arg],
    ) -> Result<u32, ExecError> {
        let options = self.options;
        let lanes = options.subgroup_size;
        if !lanes.is_power_of_two() || lanes as usize > MAX_LANES {
            return Err(ExecError::SubgroupSize(lanes));
        }
        let grid = launch.grid;
        let workgroups = if grid.contains(&0) {
            0
        } else {
            let [x, y, z] = grid;
            let product = x.checked_mul(y).and_then(|n| n.checked_mul(z));
            product
                .filter(|&n| n < u32::MAX)
                .ok_or(ExecError::Grid(grid))?
        };
        let limits = options.limits;
        let threads = kernel.workgroup_threads();
        limit(
            "threads of a workgroup",
            threads.into(),
            limits.workgroup_threads.into(),
        )?;
        self.memory.checks = options.checks;
        self.memory.lanes = lanes as usize;
        self.memory.shape = Shape {
            grid,
            workgroup: kernel.workgroup_size(),
        };
        let sizes = self
            .binder
            .bind(&mut self.memory, kernel, launch, args, &options)?;
        let values = kernel.insts().iter().filter(|i| !i.ty.is_none()).count();
        let words = (values as u64).saturating_mul(lanes.into());
        let slots = if kernel.uses().has(Uses::BARRIER) {
            threads.div_ceil(lanes)
        } else {
            1
        };
        let scratch = sizes.scratch(slots.into(), words.saturating_mul(8));
        limit(
            "bytes of values, private arrays and books",
            scratch,
            limits.scratch_bytes,
        )?;
        // Places in a register file are 32 bits.
        limit("words of values", words, u32::MAX.into())?;
        let launched = Launched {
            grid,
            scalars: &self.binder.scalars,
            lengths: &self.binder.lengths,
            subgroup_size: lanes,
            shared: self.binder.shared,
            private: self.binder.private,
        };
        self.decoder.decode(&mut self.program, kernel, &launched)?;
        if workgroups > 0 {
            self.memory.begin(&sizes, slots as usize);
            self.registers(slots as usize);
        }
        Ok(workgroups)
    }

    /// Makes the register files and fills in what stays the same throughout the launch.
    fn registers(&mut self, slots: usize) {
        let n = self.memory.lanes;
        let words = self.program.words;
        self.regs.resize(slots * words, 0);
        self.subgroups.resize_with(slots, Subgroup::default);
        if words == 0 {
            return;
        }
        for regs in self.regs.chunks_exact_mut(words) {
            for fill in &self.program.constants {
                match fill.with {
                    With::Bits(bits, Width::W32) => {
                        // Bits stand in the type's width alone.
                        lanes::get_mut::<u32>(regs, fill.slot, n).fill(bits as u32);
                    }
                    With::Bits(bits, Width::W64) => {
                        lanes::get_mut::<u64>(regs, fill.slot, n).fill(bits);
                    }
                    With::GlobalId(_)
                    | With::LocalId(_)
                    | With::WorkgroupId(_)
                    | With::LocalIndex
                    | With::Lane
                    | With::SubgroupId => {}
                }
            }
        }
    }

    fn workgroups(&mut self, kernel: &Kernel, workgroups: u32) -> Result<Report, Box<Trap>> {
        let threads = kernel.workgroup_threads();
        // A subgroup has a lane at least.
        let count = threads.div_ceil(self.memory.lanes as u32);
        let limit = self.options.step_limit;
        let mut counts = Counts {
            left: limit,
            limit,
            lanes: 0,
        };
        let mut report = Report::default();
        self.promises.shared = count > 1;
        // Counted from 1, and below u32::MAX.
        for group in 1..=workgroups {
            self.memory.begin_workgroup();
            self.promises.forget();
            if self.subgroups.len() > 1 {
                report.barriers += self.together(group, threads, &mut counts)?;
            } else {
                for number in 0..count {
                    let (mut env, subgroups) = self.surroundings(&mut counts, 0);
                    let Some(subgroup) = subgroups.first_mut() else {
                        break;
                    };
                    subgroup.begin(&mut env, number, 0, group, threads);
                    while subgroup.run(&mut env)? == Stop::Barrier {
                        env.memory.shadow.next_phase();
                        env.promises.forget();
                        report.barriers += 1;
                    }
                }
            }
            report.workgroups += 1;
        }
        report.steps = limit - counts.left;
        report.thread_steps = counts.lanes;
        Ok(report)
    }

    /// Runs the subgroups of a workgroup from barrier to barrier. Gives the number of barriers.
    fn together(
        &mut self,
        group: u32,
        threads: u32,
        counts: &mut Counts,
    ) -> Result<u64, Box<Trap>> {
        for slot in 0..self.subgroups.len() {
            let (mut env, subgroups) = self.surroundings(counts, slot);
            if let Some(subgroup) = subgroups.get_mut(slot) {
                // There are no more subgroups than threads.
                subgroup.begin(&mut env, slot as u32, slot, group, threads);
            }
        }
        let mut barriers = 0;
        loop {
            let mut waiting = None;
            for slot in 0..self.subgroups.len() {
                let (mut env, subgroups) = self.surroundings(counts, slot);
                if let Some(subgroup) = subgroups.get_mut(slot)
                    && !subgroup.ended
                    && subgroup.run(&mut env)? == Stop::Barrier
                {
                    waiting = waiting.or(Some(slot));
                }
            }
            let Some(slot) = waiting else {
                return Ok(barriers);
            };
            self.met(counts, slot)?;
            self.memory.shadow.next_phase();
            self.promises.forget();
            barriers += 1;
        }
    }

    /// Checks that every subgroup waits where the one in `slot` does, the first to wait.
    fn met(&mut self, counts: &mut Counts, slot: usize) -> Result<(), Box<Trap>> {
        if !self.memory.checks.barriers {
            return Ok(());
        }
        let (env, subgroups) = self.surroundings(counts, slot);
        let Some(waits) = subgroups.get(slot) else {
            return Ok(());
        };
        let Some(other) = subgroups.iter().find(|s| s.ended || s.pc != waits.pc) else {
            return Ok(());
        };
        // A subgroup goes on behind the barrier it waits at.
        let barrier = |s: &Subgroup| env.program.steps.get((s.pc as usize).wrapping_sub(1));
        let kind = TrapKind::Barrier {
            missing: other.thread(&env, other.full),
            waits_at: barrier(other).filter(|_| !other.ended).map(|step| step.at),
        };
        match barrier(waits) {
            Some(step) => Err(env.memory.trap(step, &waits.running, 0, kind)),
            None => Ok(()),
        }
    }

    /// What the subgroup in `slot` runs in, and the subgroups.
    fn surroundings<'a>(
        &'a mut self,
        counts: &'a mut Counts,
        slot: usize,
    ) -> (Surroundings<'a>, &'a mut [Subgroup]) {
        let words = self.program.words;
        let env = Surroundings {
            program: &self.program,
            memory: &mut self.memory,
            promises: &mut self.promises,
            counts,
            regs: &mut self.regs[slot * words..(slot + 1) * words],
        };
        (env, &mut self.subgroups)
    }
}
