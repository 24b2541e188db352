//! Launches: everything is checked, then the workgroups run.

use super::args::Arg;
use super::bind::{Binder, limit};
use super::decode::{self, Decoder, Launched};
use super::error::{ExecError, Trap};
use super::lanes::MAX_LANES;
use super::memory::{Shape, Words};
use super::options::{Launch, Options};
use super::parallel::{Crew, MAX_THREADS};
use super::program::Program;
use super::runner::{Plan, Runner};
use crate::kernel::{Kernel, Uses};

/// Runs kernels on host memory. One executor can run launch after launch; once its memory has grown, a run allocates
/// only what it reports.
#[derive(Clone, Debug, Default)]
pub struct Executor {
    options: Options,
    binder: Binder,
    decoder: Decoder,
    program: Program,
    runner: Runner,
    /// Those that run workgroups in parallel.
    crew: Crew,
    /// Bytes that the largest launch so far needed for books and values.
    peak: u64,
    /// Whether the last launch ran in parallel.
    #[cfg(test)]
    parallel: bool,
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

    /// About how many bytes it keeps for launches to come.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.peak
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
        let plan = self.prepare(kernel, &launch, args)?;
        let buffers = &mut self.runner.memory.buffers;
        buffers.clear();
        for arg in &mut *args {
            buffers.push(Words::Own(match arg {
                Arg::Buffer(buffer) => core::mem::take(&mut buffer.words),
                Arg::View(_) | Arg::Scalar(_) => Vec::new(),
            }));
        }
        let together = self.in_parallel(kernel, &plan);
        #[cfg(test)]
        {
            self.parallel = together.is_some();
        }
        let result = match together {
            Some(report) => Ok(report),
            None => self.one_by_one(kernel, &plan),
        };
        let buffers = self.runner.memory.buffers.drain(..);
        for (arg, words) in args.iter_mut().zip(buffers) {
            if let Arg::Buffer(buffer) = arg {
                buffer.words = words.into_own();
            }
        }
        Ok(result?)
    }

    #[cfg(test)]
    pub(super) fn ran_in_parallel(&self) -> bool {
        self.parallel
    }

    /// Runs the workgroups on the calling thread.
    fn one_by_one(&mut self, kernel: &Kernel, plan: &Plan) -> Result<Report, Box<Trap>> {
        if plan.workgroups > 0 {
            self.runner.begin(&self.program, kernel, plan);
        }
        let limit = self.options.step_limit;
        // Counted from 1, and below u32::MAX.
        self.runner
            .run(&self.program, plan.threads, limit, 1..=plan.workgroups)
    }

    /// Runs the workgroups on as many threads as the options and the plan allow. `None`, with nothing done, where that is
    /// one, where something needs their order, and where one fails: then only the order says what else was done.
    fn in_parallel(&mut self, kernel: &Kernel, plan: &Plan) -> Option<Report> {
        let options = &self.options;
        if options.threads <= 1 || options.checks.buffer_races || self.binder.needs_order() {
            return None;
        }
        let memory = &mut self.runner.memory;
        let storages = self.binder.storages(memory, kernel);
        let report = self
            .crew
            .run(memory, &self.program, kernel, plan, options, storages);
        memory.regions.iter_mut().for_each(|r| r.marks = None);
        report
    }

    /// Everything that can be refused before the kernel runs.
    fn prepare(
        &mut self,
        kernel: &Kernel,
        launch: &Launch,
        args: &[Arg],
    ) -> Result<Plan, ExecError> {
        let options = self.options;
        let memory = &mut self.runner.memory;
        let lanes = options.subgroup_size;
        if !lanes.is_power_of_two() || lanes as usize > MAX_LANES {
            return Err(ExecError::SubgroupSize(lanes));
        }
        if let Some(required) = kernel.required_subgroup_size()
            && required != lanes
        {
            return Err(ExecError::RequiredSubgroupSize {
                required,
                found: lanes,
            });
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
        memory.checks = options.checks;
        memory.lanes = lanes as usize;
        memory.shape = Shape {
            grid,
            workgroup: kernel.workgroup_size(),
        };
        let sizes = self.binder.bind(memory, kernel, launch, args, &options)?;
        let values = kernel.insts().iter();
        let values = values.fold(0u64, |n, i| n + u64::from(decode::words(i.ty)));
        let words = values.saturating_mul(lanes.into());
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
            tables: self.binder.tables,
        };
        self.decoder.decode(&mut self.program, kernel, &launched)?;
        let runners = u64::from(options.threads.clamp(1, workgroups.clamp(1, MAX_THREADS)));
        let needed = scratch.saturating_add(sizes.shared).saturating_mul(runners);
        self.peak = self.peak.max(needed);
        Ok(Plan {
            workgroups,
            threads,
            // No more than the threads of a workgroup.
            slots: slots as usize,
            sizes,
            scratch,
        })
    }
}
