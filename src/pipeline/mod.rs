//! The orchestrator: kernels become artefacts, kept by content, and run where it is best.
//!
//! [`KernelPipeline::compile`] emits a kernel for the targets one asks for and keeps what it made. [`KernelPipeline::run`]
//! runs a kernel over slices of the host, on the GPU where there is one and on the reference executor otherwise, as a
//! [`Policy`] says, and reports which it took and why; or on both, comparing them ([`Policy::CrossCheck`]). It works
//! without the feature `cuda` too.
//!
//! ```
//! use kernite::pipeline::{KernelPipeline, Policy, args};
//! use kernite::{Access, KernelBuilder, Type};
//!
//! let mut b = KernelBuilder::new("twice", [64, 1, 1]);
//! let data = b.buffer("data", Type::F32, Access::ReadWrite);
//! let i = b.global_id(0);
//! let x = b.load(data, i);
//! let sum = b.add(x, x);
//! b.store(data, i, sum);
//! let kernel = b.finish()?;
//!
//! let pipeline = KernelPipeline::new(Policy::default());
//! let mut data = vec![1.0f32, 2.0, 3.0];
//! // 64 threads, three elements: the others read zero and store nothing.
//! let report = pipeline.run(&kernel, [1, 1, 1], &mut args![&mut data])?;
//! assert_eq!(data, [2.0, 4.0, 6.0]);
//! println!("ran on {report}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Bounds
//!
//! Kernels run with checked bounds, on the GPU and on the reference executor: loads outside of a slice give zero, stores
//! and atomics outside do nothing. So a run is safe whatever the kernel does, and means the same on both. To have the
//! reference executor report such an access, switch [`reference::Checks::bounds`] on in [`Config::host`].
//!
//! # What is kept
//!
//! Artefacts are found by the kernel's whole stored form and the options, loaded code by the stored form in its context;
//! hashes only say where to look. Both are bounded in bytes, and what was used longest ago goes first. Equal requests at
//! the same time are carried out once, the others wait and get the same; so do those whose request fails, and a failure is
//! not kept: who asks later tries again. All of it can be used by many threads at once, and clones of a pipeline share it.
#![forbid(unsafe_code)]

mod arg;
mod artefacts;
mod compare;
mod config;
mod error;
mod flights;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(not(feature = "cuda"))]
#[path = "no_gpu.rs"]
mod gpu;
mod lru;
mod policy;
#[cfg(test)]
mod tests;
mod timer;

pub use crate::__pipeline_args as args;
pub use crate::reference::Launch;
pub use arg::Arg;
pub use artefacts::{Artefacts, CompileError, Options, PtxArtefact, SpirvArtefact};
pub use config::Config;
pub use error::{ArgumentFault, Mismatch, RunError, Unavailable};
pub use flights::CacheStats;
pub use policy::{Closeness, Executor, Policy, Reason, RunReport, Tolerance};

use crate::kernel::{Kernel, SharedLen, Uses};
use crate::profile::Report;
use crate::{ptx, reference};
use arg::ArgKind;
use artefacts::{KEPT_BYTES, Scratch};
use core::hash::BuildHasher as _;
use flights::{Flights, lock};
use gpu::Gpu;
use std::hash::RandomState;
use std::sync::{Arc, Mutex};
use timer::Timer;

/// Compiles and runs kernels, and keeps what it made. See [the module](self).
///
/// Cheap to clone; clones share what is kept.
#[derive(Clone, Debug)]
pub struct KernelPipeline {
    inner: Arc<Inner>,
    policy: Policy,
    /// The GPU that [`KernelPipeline::on`] names.
    gpu: Option<Arc<Gpu>>,
}

#[derive(Debug)]
struct Inner {
    config: Config,
    artefacts: Flights<Key, Artefacts, CompileError>,
    /// Seeded anew for each pipeline, so that nobody can make kernels that meet in one place.
    hasher: RandomState,
    scratch: Mutex<Vec<Scratch>>,
    executors: Mutex<Vec<reference::Executor>>,
    /// The GPU of the policy, once somebody asked for it.
    device: Mutex<Option<Result<Arc<Gpu>, Unavailable>>>,
    /// Those that were named.
    #[cfg(feature = "cuda")]
    named: Mutex<Vec<Arc<Gpu>>>,
    timer: Timer,
}

#[derive(Debug)]
struct Key {
    kernel: Box<[u8]>,
    options: Options,
}

/// Why a kernel is not there to be launched.
#[derive(Clone, Debug)]
// Where there is no GPU nothing fails to load.
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
enum LoadFailure {
    /// It could not be emitted for the GPU.
    Unsupported(ptx::Error),
    Failed(RunError),
}

impl From<LoadFailure> for RunError {
    fn from(failure: LoadFailure) -> RunError {
        match failure {
            LoadFailure::Unsupported(error) => RunError::Compile(CompileError::Ptx(error)),
            LoadFailure::Failed(error) => error,
        }
    }
}

/// What a pipeline keeps and did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Artefacts.
    pub artefacts: CacheStats,
    /// Code loaded on the GPU.
    pub code: CacheStats,
}

/// Scratch and executors kept for calls to come.
const KEPT: usize = 16;

impl Default for KernelPipeline {
    fn default() -> KernelPipeline {
        KernelPipeline::with_config(Config::default())
    }
}

impl KernelPipeline {
    /// A pipeline with this policy, and the defaults of [`Config`] for the rest. Asks for no GPU yet.
    pub fn new(policy: Policy) -> KernelPipeline {
        KernelPipeline::with_config(Config::default().with_policy(policy))
    }

    /// A pipeline as configured.
    pub fn with_config(config: Config) -> KernelPipeline {
        KernelPipeline {
            policy: config.policy,
            gpu: None,
            inner: Arc::new(Inner {
                artefacts: Flights::new(config.artefact_bytes),
                hasher: RandomState::new(),
                scratch: Mutex::default(),
                executors: Mutex::default(),
                device: Mutex::default(),
                #[cfg(feature = "cuda")]
                named: Mutex::default(),
                timer: Timer::new(config.profile),
                config,
            }),
        }
    }

    /// The same pipeline, sharing all that is kept, with another policy.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> KernelPipeline {
        KernelPipeline {
            policy,
            ..self.clone()
        }
    }

    /// The same pipeline, sharing artefacts, on another context: a second GPU, or the context of another library. What is
    /// loaded there is kept for each context, and the context until the pipeline and its clones are gone.
    #[cfg(feature = "cuda")]
    #[must_use]
    pub fn on(&self, context: &crate::cuda::Context) -> KernelPipeline {
        let mut named = lock(&self.inner.named);
        let known = named.iter().find(|gpu| gpu.context() == context).cloned();
        let gpu = known.unwrap_or_else(|| {
            let gpu = Arc::new(Gpu::new(context.clone(), &self.inner.config));
            named.push(gpu.clone());
            gpu
        });
        KernelPipeline {
            gpu: Some(gpu),
            ..self.clone()
        }
    }

    /// Who runs kernels.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Emits a kernel for the targets that the options name, or gives what was made of an equal kernel before.
    ///
    /// # Errors
    /// [`CompileError`]: no target, or what a target lacks.
    ///
    /// ```
    /// use kernite::pipeline::{KernelPipeline, Options};
    /// use kernite::{Access, KernelBuilder, Type};
    /// use std::sync::Arc;
    ///
    /// let mut b = KernelBuilder::new("fill", [64, 1, 1]);
    /// let out = b.buffer("out", Type::U32, Access::Write);
    /// let i = b.global_id(0);
    /// b.store(out, i, i);
    /// let kernel = b.finish()?;
    ///
    /// let pipeline = KernelPipeline::default();
    /// let artefacts = pipeline.compile(&kernel, &Options::all())?;
    /// let ptx = artefacts.ptx.as_ref().ok_or("PTX was asked for")?;
    /// assert!(ptx.text.contains(".entry fill"));
    /// assert!(artefacts.spirv.is_some());
    /// let again = pipeline.compile(&kernel.clone(), &Options::all())?;
    /// assert!(Arc::ptr_eq(&artefacts, &again), "equal kernels are compiled once");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compile(
        &self,
        kernel: &Kernel,
        options: &Options,
    ) -> Result<Arc<Artefacts>, CompileError> {
        if *options == Options::new() {
            return Err(CompileError::NoTarget);
        }
        let inner = &*self.inner;
        inner.with_scratch(|scratch| {
            let Scratch {
                kernel: bytes,
                emitters,
            } = scratch;
            bytes.clear();
            kernel.write_bytes(bytes);
            inner.artefacts.get_or_make(
                inner.hasher.hash_one((&bytes[..], options)),
                |key| *key.kernel == **bytes && key.options == *options,
                || Key {
                    kernel: bytes.as_slice().into(),
                    options: *options,
                },
                || {
                    let timer = &inner.timer;
                    let ptx = options.ptx.as_ref();
                    let ptx = ptx.map(|o| timer.time("emit PTX", || emitters.ptx(kernel, o)));
                    let ptx = ptx.transpose()?;
                    let spirv = options.spirv.as_ref();
                    let spirv =
                        spirv.map(|o| timer.time("emit SPIR-V", || emitters.spirv(kernel, o)));
                    let spirv = spirv.transpose()?;
                    let artefacts = Artefacts { ptx, spirv };
                    let kept = artefacts.bytes().saturating_add(bytes.len() as u64);
                    Ok((artefacts, kept))
                },
            )
        })
    }

    /// Runs a kernel over a grid, and waits until it is over. The slices given as `&mut` hold the results then.
    ///
    /// `launch` is the grid in workgroups along x, y and z; a side of 0 checks the arguments and runs nothing. The slices
    /// are copied to the GPU and back each time: who launches again and again on the same data uses `cuda` itself.
    ///
    /// # Errors
    /// [`RunError`]: arguments that do not fit the kernel, no GPU where the policy asks for one, what an executor refuses,
    /// or different results.
    pub fn run(
        &self,
        kernel: &Kernel,
        launch: impl Into<Launch>,
        args: &mut [Arg<'_>],
    ) -> Result<RunReport, RunError> {
        let launch = launch.into();
        arg::check(kernel, args)?;
        check_dynamic(kernel, &launch)?;
        match self.policy {
            Policy::Host => self.on_host(kernel, &launch, args, Reason::Policy),
            Policy::Auto { host_below } => {
                let threads = launch
                    .grid
                    .iter()
                    .fold(u64::from(kernel.workgroup_threads()), |threads, &side| {
                        threads.saturating_mul(u64::from(side))
                    });
                if threads < host_below {
                    let reason = Reason::Small {
                        threads,
                        host_below,
                    };
                    return self.on_host(kernel, &launch, args, reason);
                }
                if kernel.uses().has(Uses::ASSUME_UNIFORM) {
                    return self.on_host(kernel, &launch, args, Reason::AssumesUniform);
                }
                let gpu = match self.gpu() {
                    Ok(gpu) => gpu,
                    Err(why) => {
                        return self.on_host(kernel, &launch, args, Reason::Unavailable(why));
                    }
                };
                match self.load(&gpu, kernel) {
                    Ok(function) => {
                        self.on_gpu(&gpu, &function, kernel, &launch, args, Reason::Device)
                    }
                    Err(LoadFailure::Unsupported(error)) => {
                        self.on_host(kernel, &launch, args, Reason::Unsupported(error))
                    }
                    Err(LoadFailure::Failed(error)) => Err(error),
                }
            }
            Policy::Cuda => {
                let gpu = self.gpu().map_err(RunError::Unavailable)?;
                let function = self.load(&gpu, kernel)?;
                self.on_gpu(&gpu, &function, kernel, &launch, args, Reason::Policy)
            }
            Policy::CrossCheck { tolerance } => self.on_both(kernel, &launch, args, tolerance),
        }
    }

    /// What was measured since the last time, where [`Config::profile`] is on: emission, loading, copies, kernels (by the
    /// GPU's own clock) and the reference executor.
    pub fn take_profile(&self) -> Report {
        self.inner.timer.take()
    }

    /// What is kept, and how often it was of use.
    pub fn stats(&self) -> Stats {
        let code = match &self.gpu {
            Some(gpu) => Some(gpu.clone()),
            None => match &*lock(&self.inner.device) {
                Some(Ok(gpu)) => Some(gpu.clone()),
                Some(Err(_)) | None => None,
            },
        };
        Stats {
            artefacts: self.inner.artefacts.stats(),
            code: code.map(|gpu| gpu.stats()).unwrap_or_default(),
        }
    }

    /// Forgets artefacts and loaded code; those in use stay until they are no more. Counts go on.
    pub fn clear(&self) {
        self.inner.artefacts.clear();
        if let Some(Ok(gpu)) = &*lock(&self.inner.device) {
            gpu.clear();
        }
        #[cfg(feature = "cuda")]
        lock(&self.inner.named).iter().for_each(|gpu| gpu.clear());
    }

    /// The GPU, opened by whoever asks first. That there is none is kept, since looking for a driver takes its time.
    fn gpu(&self) -> Result<Arc<Gpu>, Unavailable> {
        if let Some(gpu) = &self.gpu {
            return Ok(gpu.clone());
        }
        lock(&self.inner.device)
            .get_or_insert_with(|| Gpu::open(&self.inner.config).map(Arc::new))
            .clone()
    }

    fn load(&self, gpu: &Gpu, kernel: &Kernel) -> Result<Arc<gpu::Function>, LoadFailure> {
        let inner = &*self.inner;
        inner.with_scratch(|scratch| {
            let bytes = &mut scratch.kernel;
            bytes.clear();
            kernel.write_bytes(bytes);
            let hash = inner.hasher.hash_one(&bytes[..]);
            gpu.function(kernel, bytes, hash, &inner.timer)
        })
    }

    fn on_gpu(
        &self,
        gpu: &Gpu,
        function: &gpu::Function,
        kernel: &Kernel,
        launch: &Launch,
        args: &mut [Arg<'_>],
        reason: Reason,
    ) -> Result<RunReport, RunError> {
        let timer = &self.inner.timer;
        let launched = gpu.launch(function, kernel, launch, args, timer)?;
        timer.time("copy to the host", || {
            for (index, arg) in args.iter_mut().enumerate() {
                if let ArgKind::Write { bytes, .. } = &mut arg.0 {
                    launched.read(index, bytes)?;
                }
            }
            Ok::<_, RunError>(())
        })?;
        Ok(RunReport {
            executor: Executor::Cuda,
            reason,
            host: None,
        })
    }

    fn on_host(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        args: &mut [Arg<'_>],
        reason: Reason,
    ) -> Result<RunReport, RunError> {
        let (report, results) = self.inner.host(kernel, launch, args)?;
        write_back(&results, args);
        Ok(RunReport {
            executor: Executor::Host,
            reason,
            host: Some(report),
        })
    }

    fn on_both(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        args: &mut [Arg<'_>],
        tolerance: Tolerance,
    ) -> Result<RunReport, RunError> {
        let gpu = self.gpu().map_err(RunError::Unavailable)?;
        let function = self.load(&gpu, kernel)?;
        let timer = &self.inner.timer;
        let theirs = {
            let launched = gpu.launch(&function, kernel, launch, args, timer)?;
            let copy = |(index, arg): (usize, &Arg<'_>)| match &arg.0 {
                ArgKind::Write { bytes, .. } => {
                    let mut copy = vec![0; bytes.len()];
                    timer.time("copy to the host", || launched.read(index, &mut copy))?;
                    Ok(Some(copy))
                }
                ArgKind::Read { .. } | ArgKind::Scalar(_) => Ok(None),
            };
            let copies: Result<Vec<_>, RunError> = args.iter().enumerate().map(copy).collect();
            copies?
        };
        let (report, results) = self.inner.host(kernel, launch, args)?;
        let ours = |index: usize| results.get(index)?.buffer().map(|buffer| buffer.bytes());
        let theirs = |index: usize| theirs.get(index)?.as_deref();
        let allowed = compare::allowed(kernel, tolerance);
        if let Some(mismatch) = compare::first_difference(kernel, args, ours, theirs, allowed) {
            return Err(RunError::Mismatch(Box::new(mismatch)));
        }
        write_back(&results, args);
        Ok(RunReport {
            executor: Executor::Both,
            reason: Reason::Policy,
            host: Some(report),
        })
    }
}

impl Inner {
    /// Lends scratch memory; where the work panics it is lost.
    fn with_scratch<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let mut scratch = lock(&self.scratch).pop().unwrap_or_default();
        let result = work(&mut scratch);
        let mut kept = lock(&self.scratch);
        if kept.len() < KEPT && scratch.is_small() {
            kept.push(scratch);
        }
        result
    }

    /// Runs on copies of the slices, which it gives back.
    fn host(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        args: &[Arg<'_>],
    ) -> Result<(reference::Report, Vec<reference::Arg>), RunError> {
        let copy = |(index, arg): (usize, &Arg<'_>)| match &arg.0 {
            ArgKind::Scalar(value) => Ok(reference::Arg::Scalar(*value)),
            ArgKind::Read { elem, bytes } => arg::copy(index, *elem, bytes),
            ArgKind::Write { elem, bytes } => arg::copy(index, *elem, bytes),
        };
        let mut copies: Vec<_> = args
            .iter()
            .enumerate()
            .map(copy)
            .collect::<Result<_, _>>()?;
        let kept = lock(&self.executors).pop();
        let mut executor = kept.unwrap_or_else(|| reference::Executor::new(self.config.host));
        let result = self.timer.time("reference executor", || {
            executor.run(kernel, *launch, &mut copies)
        });
        let mut executors = lock(&self.executors);
        if executors.len() < KEPT && executor.kept_bytes() <= KEPT_BYTES as u64 {
            executors.push(executor);
        }
        drop(executors);
        Ok((result.map_err(RunError::Host)?, copies))
    }
}

/// Copies results to the slices that the kernel may write.
fn write_back(results: &[reference::Arg], args: &mut [Arg<'_>]) {
    for (result, arg) in results.iter().zip(args) {
        if let (Some(buffer), ArgKind::Write { bytes, .. }) = (result.buffer(), &mut arg.0) {
            // As long as the slice it was copied from.
            bytes.copy_from_slice(buffer.bytes());
        }
    }
}

/// Dynamic shared memory is for kernels that have such an array, and less than 2^32 bytes.
fn check_dynamic(kernel: &Kernel, launch: &Launch) -> Result<(), RunError> {
    let elements = launch.dynamic_shared;
    let dynamic = kernel.shared().iter().find(|d| d.len == SharedLen::Dynamic);
    let fits = match dynamic {
        Some(decl) => elements.checked_mul(decl.elem.bytes()).is_some(),
        None => elements == 0,
    };
    if fits {
        Ok(())
    } else {
        Err(RunError::DynamicShared { elements })
    }
}

/// Pipelines go from thread to thread, and are used by several at once.
const _: () = {
    const fn check<T: Send + Sync>() {}
    check::<KernelPipeline>();
    check::<Config>();
    check::<Artefacts>();
    check::<Arg<'static>>();
    check::<RunError>();
    check::<RunReport>();
};
