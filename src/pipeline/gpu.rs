//! A GPU of the CUDA driver: kernels loaded, memory copied, launches.

use super::error::Unavailable;
use super::flights::{Flights, lock};
use super::{Arg, ArgKind, CacheStats, Config, LoadFailure, RunError, Timer};
pub(super) use crate::cuda::Function;
use crate::cuda::cache::Cache;
use crate::cuda::{
    self, CheckedPtx, Context, DeviceBuffer, Driver, LaunchConfig, LoadOptions, Profile, Stream,
};
use crate::kernel::Kernel;
use crate::ptx;
use crate::reference::Launch;
use std::sync::{Arc, Mutex};

/// A context, and what is kept for it.
#[derive(Debug)]
pub(super) struct Gpu {
    context: Context,
    options: LoadOptions,
    disk: Option<Cache>,
    /// By the stored form of the kernel; how it is emitted and loaded follows from the context.
    functions: Flights<Box<[u8]>, Function, LoadFailure>,
    streams: Mutex<Vec<Stream>>,
    emitters: Mutex<Vec<ptx::Emitter>>,
}

/// Streams and emitters kept for runs to come: more than that many at a time are rare.
const KEPT: usize = 16;

/// What a loaded function counts for beside its text.
const FUNCTION_BYTES: u64 = 4096;

impl Gpu {
    /// The configured context, or the primary one of the driver's first device.
    pub fn open(config: &Config) -> Result<Gpu, Unavailable> {
        let context = match &config.context {
            Some(context) => context.clone(),
            None => {
                let driver = Driver::load()?;
                if driver.device_count()? == 0 {
                    return Err(Unavailable::NoDevice);
                }
                driver.device(0)?.primary_context()?
            }
        };
        Ok(Gpu::new(context, config))
    }

    pub fn new(context: Context, config: &Config) -> Gpu {
        Gpu {
            context,
            options: config.load_options,
            disk: config.disk_cache.clone(),
            functions: Flights::new(config.code_bytes),
            streams: Mutex::default(),
            emitters: Mutex::default(),
        }
    }

    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The kernel, loaded; `bytes` is its stored form, with this hash.
    pub fn function(
        &self,
        kernel: &Kernel,
        bytes: &[u8],
        hash: u64,
        timer: &Timer,
    ) -> Result<Arc<Function>, LoadFailure> {
        self.functions.get_or_make(
            hash,
            |key| **key == *bytes,
            || bytes.into(),
            || {
                let mut emitter = lock(&self.emitters).pop().unwrap_or_default();
                let emitted = timer.time("emit PTX", || {
                    CheckedPtx::emit(&self.context, kernel, &mut emitter)
                });
                let mut emitters = lock(&self.emitters);
                if emitters.len() < KEPT {
                    emitters.push(emitter);
                }
                drop(emitters);
                let text = emitted.map_err(|error| match error {
                    cuda::Error::Emit(error) => LoadFailure::Unsupported(*error),
                    error => LoadFailure::Failed(RunError::Cuda(error)),
                })?;
                let function = timer.time("load", || {
                    text.load(&self.context, &self.options, self.disk.as_ref())
                });
                let (function, _) =
                    function.map_err(|error| LoadFailure::Failed(RunError::Cuda(error)))?;
                Ok((function, FUNCTION_BYTES.saturating_add(text.len() as u64)))
            },
        )
    }

    /// Copies the slices to the GPU and launches. `args` fit the kernel.
    pub fn launch(
        &self,
        function: &Function,
        kernel: &Kernel,
        launch: &Launch,
        args: &[Arg<'_>],
        timer: &Timer,
    ) -> Result<Launched<'_>, RunError> {
        // A kernel has at most one dynamic array, and its size was checked.
        let elem = function.signature().and_then(|s| s.dynamic_shared);
        let dynamic = launch
            .dynamic_shared
            .checked_mul(elem.map_or(0, |elem| elem.bytes()))
            .ok_or(RunError::DynamicShared {
                elements: launch.dynamic_shared,
            })?;
        let config =
            LaunchConfig::new(launch.grid, kernel.workgroup_size()).dynamic_shared_bytes(dynamic);
        self.start(function, &config, args, timer)
            .map_err(RunError::Cuda)
    }

    fn start(
        &self,
        function: &Function,
        config: &LaunchConfig,
        args: &[Arg<'_>],
        timer: &Timer,
    ) -> cuda::Result<Launched<'_>> {
        let kept = lock(&self.streams).pop();
        let stream = match kept {
            Some(stream) => stream,
            None => self.context.stream()?,
        };
        let buffers = timer.time("copy to the GPU", || upload(&stream, args));
        let mut launched = Launched {
            gpu: self,
            buffers: buffers?,
            stream: Some(stream.clone()),
        };
        let mut given = Vec::with_capacity(args.len());
        for (arg, buffer) in args.iter().zip(&mut launched.buffers) {
            given.push(match (&arg.0, buffer) {
                (ArgKind::Read { elem, .. }, Some(buffer)) => {
                    cuda::Arg::bytes(*elem, buffer.as_slice())?
                }
                (ArgKind::Write { elem, .. }, Some(buffer)) => {
                    cuda::Arg::bytes_mut(*elem, buffer.as_slice_mut())?
                }
                (ArgKind::Scalar(value), _) => cuda::Arg::from(*value),
                // Every slice was copied.
                (ArgKind::Read { .. } | ArgKind::Write { .. }, None) => continue,
            });
        }
        if timer.is_on() {
            let mut profile = Profile::new(&stream);
            profile.measure("kernel", || function.launch(&stream, config, &given))?;
            timer.merge(&profile.report()?);
        } else {
            function.launch(&stream, config, &given)?;
        }
        drop(given);
        // A kernel's own failure is this run's, not that of the copy that finds it.
        stream.synchronize()?;
        Ok(launched)
    }

    pub fn stats(&self) -> CacheStats {
        self.functions.stats()
    }

    pub fn clear(&self) {
        self.functions.clear();
    }
}

fn upload(stream: &Stream, args: &[Arg<'_>]) -> cuda::Result<Vec<Option<DeviceBuffer<u8>>>> {
    let copy = |arg: &Arg<'_>| {
        let Some((_, bytes)) = arg.buffer() else {
            return Ok(None);
        };
        let mut buffer = stream.alloc(bytes.len())?;
        buffer.write(bytes)?;
        Ok(Some(buffer))
    };
    args.iter().map(copy).collect()
}

/// A launch that is over, with its memory.
pub(super) struct Launched<'a> {
    gpu: &'a Gpu,
    stream: Option<Stream>,
    /// One for each argument that is a slice.
    buffers: Vec<Option<DeviceBuffer<u8>>>,
}

impl Launched<'_> {
    /// Copies an argument back; nothing where it is a number.
    pub fn read(&self, index: usize, to: &mut [u8]) -> Result<(), RunError> {
        match self.buffers.get(index) {
            Some(Some(buffer)) => buffer.read(to).map_err(RunError::Cuda),
            Some(None) | None => Ok(()),
        }
    }
}

impl Drop for Launched<'_> {
    fn drop(&mut self) {
        let mut streams = lock(&self.gpu.streams);
        if let Some(stream) = self.stream.take()
            && streams.len() < KEPT
        {
            streams.push(stream);
        }
    }
}
