//! What a caller can choose.

/// How an [`Executor`](super::Executor) runs kernels.
///
/// ```
/// let mut options = kernite::reference::Options::default();
/// options.subgroup_size = 8;
/// options.checks.buffer_races = true;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Lanes of a subgroup: a power of two from 1 to 128. The last subgroup of a workgroup may be partial. Default 32.
    pub subgroup_size: u32,
    /// What is checked.
    pub checks: Checks,
    /// Instructions that a launch may execute, each counted once for a subgroup; `u64::MAX` lets an endless loop run on
    /// for ever. Default 2^32: a minute or more.
    pub step_limit: u64,
    /// Sizes that a launch may not pass.
    pub limits: ExecLimits,
    /// The most threads of the CPU that run workgroups; 0 is taken for 1, the default, and more than 1024 for 1024. Results,
    /// reports and errors do not depend on it. Fewer run where there are not as many workgroups, or where their books and their copies of the
    /// buffers that are written would pass [`ExecLimits::scratch_bytes`].
    ///
    /// ```
    /// use kernite::builder::KernelBuilder;
    /// use kernite::reference::{Arg, Executor, Options};
    /// use kernite::types::{Access, Type};
    ///
    /// let mut k = KernelBuilder::new("number", [64, 1, 1]);
    /// let out = k.buffer("out", Type::U32, Access::Write);
    /// let i = k.global_id(0);
    /// k.store(out, i, i);
    /// let kernel = k.finish()?;
    ///
    /// let mut options = Options::default();
    /// options.threads = 2;
    /// let mut args = [Arg::from(vec![0u32; 1024])];
    /// let report = Executor::new(options).run(&kernel, [16, 1, 1], &mut args)?;
    /// assert_eq!(report.workgroups, 16);
    /// assert_eq!(args[0].as_slice::<u32>().map(|out| out[1023]), Some(1023));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub threads: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            subgroup_size: 32,
            checks: Checks::default(),
            step_limit: 1 << 32,
            limits: ExecLimits::default(),
            threads: 1,
        }
    }
}

impl Options {
    /// The defaults with every check switched off; the limits stay.
    pub fn unchecked() -> Options {
        Options {
            checks: Checks::NONE,
            ..Options::default()
        }
    }
}

/// What is checked while a kernel runs. By default everything but [`Checks::buffer_races`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Checks {
    /// An access outside of its buffer or array, offset included, is an error. Switched off it does what bounds-checked
    /// code of the emitters does: loads and atomics yield zero, stores and atomics vanish.
    pub bounds: bool,
    /// A read of shared memory that is not `zeroed`, or of a private array, before a write to it is an error. Switched
    /// off such a read yields zero.
    pub uninitialized: bool,
    /// Races on shared memory are errors: two accesses to one byte by different threads, at least one a write, not both
    /// atomic, with no barrier between: one of the workgroup, or of the subgroup where both threads are in it. Lanes of one
    /// instruction count.
    pub shared_races: bool,
    /// The same for buffers. Off by default: it costs 64 bytes of memory an element.
    pub buffer_races: bool,
    /// An operation of a subgroup that not every lane of it reaches is an error; a verified kernel has none, unless an
    /// `assume_uniform` breaks its promise. Switched off, lanes that do not arrive are inactive.
    pub subgroups: bool,
    /// A workgroup barrier that not every thread of the workgroup reaches is an error. Switched off, a thread that does
    /// not arrive is not waited for.
    pub barriers: bool,
    /// Buffers that overlap, where either is writable and not both are declared `may_alias`, are an error.
    pub aliasing: bool,
    /// An `assume_uniform` whose operand differs between threads of the workgroup is an error. A workgroup of several
    /// subgroups remembers 2^20 executions between barriers; of those past that only lanes of one subgroup are compared.
    pub assume_uniform: bool,
}

impl Checks {
    /// Everything.
    pub const ALL: Checks = Checks {
        bounds: true,
        uninitialized: true,
        shared_races: true,
        buffer_races: true,
        subgroups: true,
        barriers: true,
        aliasing: true,
        assume_uniform: true,
    };

    /// Nothing.
    pub const NONE: Checks = Checks {
        bounds: false,
        uninitialized: false,
        shared_races: false,
        buffer_races: false,
        subgroups: false,
        barriers: false,
        aliasing: false,
        assume_uniform: false,
    };
}

impl Default for Checks {
    fn default() -> Checks {
        let mut checks = Checks::ALL;
        checks.buffer_races = false;
        checks
    }
}

/// Sizes that a launch may not pass; they are checked before anything is allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ExecLimits {
    /// Threads of a workgroup. Default 1024.
    pub workgroup_threads: u32,
    /// Bytes of shared memory, static and dynamic, each array aligned to 16 bytes. Default 256 KiB.
    pub shared_bytes: u64,
    /// Bytes for values, private arrays and the books of the checks. A kernel with barriers keeps those of a whole
    /// workgroup. Default 1 GiB.
    pub scratch_bytes: u64,
}

impl Default for ExecLimits {
    fn default() -> ExecLimits {
        ExecLimits {
            workgroup_threads: 1024,
            shared_bytes: 256 << 10,
            scratch_bytes: 1 << 30,
        }
    }
}

/// The shape of a launch. Made from a grid where nothing else is to say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Launch {
    /// Workgroups along x, y and z; 0 anywhere runs nothing.
    pub grid: [u32; 3],
    /// Elements of the kernel's dynamic shared array; 0 where it has none.
    pub dynamic_shared: u32,
}

impl Launch {
    /// A launch of `grid` workgroups without dynamic shared memory.
    pub const fn new(grid: [u32; 3]) -> Launch {
        Launch {
            grid,
            dynamic_shared: 0,
        }
    }

    /// Sets the number of elements of the dynamic shared array.
    #[must_use]
    pub const fn dynamic_shared(mut self, elements: u32) -> Launch {
        self.dynamic_shared = elements;
        self
    }
}

impl From<[u32; 3]> for Launch {
    fn from(grid: [u32; 3]) -> Launch {
        Launch::new(grid)
    }
}
