//! Loading.

use super::cache::{Cache, Source};
use super::function::Function;
use super::header::{self, Misfit, PtxHeader, misfit};
use super::jit::{JitError, LoadOptions, Log, Request};
use super::launch::Plan;
use super::result::{Error, Result, call, check};
use super::shared::Shared;
use super::slots::Uses;
use super::sys::{CUfunction, CUmodule};
use super::{Context, cubin};
use crate::kernel::{self, Bounds, Kernel, Signature};
use crate::ptx;
use core::ffi::c_void;
use core::fmt;
use std::ffi::CString;
use std::sync::Arc;

/// Loaded code.
///
/// Cheap to clone; functions keep it. Unloaded after all launches of its functions are over.
#[derive(Clone)]
pub struct Module {
    inner: Arc<ModuleInner>,
}

pub(crate) struct ModuleInner {
    pub shared: Arc<Shared>,
    raw: CUmodule,
    /// Streams in which its functions were launched.
    pub uses: Uses,
    info: Log,
}

/// PTX as the driver takes it: with one NUL, which is its last byte.
pub(crate) fn terminated(text: &str) -> core::result::Result<CString, JitError> {
    if text.is_empty() {
        return Err(JitError::Empty);
    }
    CString::new(text).map_err(|error| JitError::Nul {
        at: error.nul_position(),
    })
}

/// Fails where driver or device cannot take the text, as far as its header says.
pub(crate) fn fits(shared: &Shared, text: &str) -> core::result::Result<(), JitError> {
    match misfit(PtxHeader::parse(text), shared.version, shared.capability) {
        None => Ok(()),
        Some(Misfit::Version { needs, has }) => Err(JitError::Version {
            needs,
            has,
            driver: shared.version,
        }),
        Some(Misfit::Target { needs, capability }) => Err(JitError::Target {
            target: needs.to_string(),
            capability,
        }),
    }
}

impl Module {
    /// Loads a PTX text (`cuModuleLoadDataEx`).
    ///
    /// # Errors
    /// [`JitError`] in [`Error::Jit`]: what the driver's assembler said with the lines of the text; or, before it is asked,
    /// an empty text, a NUL in it, a `.version` that the driver is too old for, a `.target` that the device does not run.
    pub fn load(context: &Context, ptx: &str, options: &LoadOptions) -> Result<Module> {
        let text = terminated(ptx)?;
        fits(&context.shared, ptx)?;
        // SAFETY: the text ends in its only NUL, so the driver reads it as text and stops there.
        unsafe { Module::load_image(context, text.as_ptr().cast(), options) }
    }

    /// Emits a module's kernels for this device and driver ([`Context::ptx_options`]) and loads them.
    ///
    /// # Errors
    /// [`Error::Emit`] for what the target lacks, and as [`Module::load`].
    pub fn emit(
        context: &Context,
        kernels: &kernel::Module,
        options: &LoadOptions,
    ) -> Result<Module> {
        let mut text = Vec::new();
        ptx::Emitter::new()
            .emit_module(kernels, &context.ptx_options(), &mut text)
            .map_err(|error| Error::Emit(Box::new(error)))?;
        // Only ASCII is written.
        Module::load(context, &String::from_utf8_lossy(&text), options)
    }

    /// Loads machine code: a cubin as ptxas or [`super::cache`] makes it.
    ///
    /// # Safety
    /// The bytes were made by NVIDIA's tools, or by something that makes the same. The driver trusts what it finds in them;
    /// only that all parts lie within the bytes is checked here.
    ///
    /// # Errors
    /// [`JitError::Cubin`], and what the driver answers.
    pub unsafe fn load_cubin(
        context: &Context,
        cubin: &[u8],
        options: &LoadOptions,
    ) -> Result<Module> {
        cubin::check(cubin).map_err(JitError::Cubin)?;
        // SAFETY: a whole ELF file, whose contents the caller vouches for.
        unsafe { Module::load_image(context, cubin.as_ptr().cast(), options) }
    }

    /// # Safety
    /// `image` is a text that ends in a NUL, or a sound cubin, and lives until this returns.
    unsafe fn load_image(
        context: &Context,
        image: *const c_void,
        options: &LoadOptions,
    ) -> Result<Module> {
        let shared = &context.shared;
        let mut request = Request::new(options);
        let (keys, values) = (request.keys.as_mut_ptr(), request.values.as_mut_ptr());
        let mut raw = CUmodule::NULL;
        let result = {
            let _entered = shared.enter()?;
            // SAFETY: the image is the caller's promise; both arrays are `count` long, and the buffers in them live in
            // `request` and are as long as the sizes beside them; the driver keeps none of it.
            unsafe {
                call!(
                    shared.api,
                    cuModuleLoadDataEx(&mut raw, image, request.count, keys, values)
                )
            }
        };
        let (error_log, info_log) = request.logs();
        result.map_err(|error| refused(shared, error, error_log, &info_log))?;
        Ok(Module {
            inner: Arc::new(ModuleInner {
                shared: shared.clone(),
                raw,
                uses: Uses::default(),
                info: info_log,
            }),
        })
    }

    /// What the driver's assembler remarked; see [`LoadOptions::verbose`].
    pub fn info_log(&self) -> &Log {
        &self.inner.info
    }

    /// The driver's handle.
    pub fn as_raw(&self) -> CUmodule {
        self.inner.raw
    }

    fn find(&self, name: &str) -> Result<CUfunction> {
        let shared = &self.inner.shared;
        let text = CString::new(name).map_err(|_| JitError::Name { name: name.into() })?;
        let _entered = shared.enter()?;
        let mut raw = CUfunction::NULL;
        // SAFETY: the pointers are to a live handle, which the call fills, and to a text that ends in a NUL.
        unsafe {
            call!(
                shared.api,
                cuModuleGetFunction(&mut raw, self.inner.raw, text.as_ptr())
            )
        }
        .map_err(|error| match error.code() {
            Some(super::Code::NOT_FOUND) => JitError::Refused {
                call: "cuModuleGetFunction",
                code: super::Code::NOT_FOUND,
                error_log: Log::of(format!("no kernel is named {name:?}")),
                info_log: Log::default(),
            }
            .into(),
            _ => shared.note(error),
        })?;
        Ok(raw)
    }

    /// The kernel of this name in the PTX, of which nothing is known: only [`Function::launch_raw`] launches it.
    ///
    /// # Errors
    /// [`super::Code::NOT_FOUND`] when there is none, and what the driver answers.
    pub fn function(&self, name: &str) -> Result<Function> {
        let raw = self.find(name)?;
        Function::new(self.inner.clone(), raw, name, None)
    }

    /// The kernel of this name with the signature of the kernel that the text was made of, whose accesses are not checked:
    /// [`Function::launch_unchecked`] launches it.
    ///
    /// Where the driver can say what parameters the kernel has (CUDA 12.4), they are compared with the signature.
    ///
    /// # Errors
    /// [`JitError::Parameters`], and as [`Module::function`].
    pub fn kernel(&self, name: &str, signature: &Signature) -> Result<Function> {
        self.with_plan(name, Plan::new(signature, false))
    }

    /// The kernel with the name and signature of one of those that the module was emitted from; see [`Module::emit`] and
    /// [`Module::kernel`].
    ///
    /// # Errors
    /// As [`Module::kernel`].
    pub fn emitted(&self, kernel: &Kernel) -> Result<Function> {
        self.kernel(&ptx::entry_name(kernel.name()), &kernel.signature())
    }

    /// The same as [`Module::kernel`] for a kernel that checks the bounds of every access: [`Function::launch`], which is safe, launches it.
    ///
    /// # Safety
    /// The module was loaded from what kernite's emitter made of the kernel of this signature with checked bounds. A
    /// signature that assumes uniformity is refused by the launch all the same.
    ///
    /// # Errors
    /// As [`Module::kernel`].
    pub unsafe fn checked_kernel(&self, name: &str, signature: &Signature) -> Result<Function> {
        self.with_plan(name, Plan::new(signature, true))
    }

    fn with_plan(&self, name: &str, plan: Plan) -> Result<Function> {
        let raw = self.find(name)?;
        self.compare_parameters(raw, name, &plan)?;
        Function::new(self.inner.clone(), raw, name, Some(plan))
    }

    fn compare_parameters(&self, raw: CUfunction, name: &str, plan: &Plan) -> Result<()> {
        use super::jit::Place;
        let shared = &self.inner.shared;
        let Some(entry) = shared.api.symbols.cuFuncGetParamInfo else {
            return Ok(());
        };
        let _entered = shared.enter()?;
        let places = plan
            .places()
            .map(|(offset, size)| Place::At { offset, size });
        for (index, expected) in places.chain([Place::Missing]).enumerate() {
            let (mut offset, mut size) = (0usize, 0usize);
            // SAFETY: the function is alive, and the pointers are to live integers, which the call fills.
            let result = unsafe { entry(raw, index, &mut offset, &mut size) };
            let found = match check("cuFuncGetParamInfo", result) {
                Ok(()) => Place::At {
                    offset: offset as u64,
                    size: size as u64,
                },
                Err(error) if error.code() == Some(super::Code::INVALID_VALUE) => Place::Missing,
                Err(error) => return Err(shared.note(error)),
            };
            if found != expected {
                return Err(JitError::Parameters {
                    name: name.into(),
                    index,
                    found,
                    expected,
                }
                .into());
            }
        }
        Ok(())
    }
}

impl Context {
    /// What to emit PTX for here: the newest target that the device runs and the driver knows, no `.version` that the
    /// driver does not take, and the device's limits.
    pub fn ptx_options(&self) -> ptx::Options {
        let shared = &self.shared;
        header::options_for(
            shared.version,
            shared.capability,
            shared.limits.kernel_limits(),
        )
    }

    /// Emits one kernel for this device and driver and loads it.
    ///
    /// # Errors
    /// As [`Module::emit`] and [`Module::kernel`].
    ///
    /// ```no_run
    /// use kernite::cuda::{Driver, LoadOptions, args};
    /// use kernite::{Access, KernelBuilder, Type};
    ///
    /// let mut b = KernelBuilder::new("twice", [128, 1, 1]);
    /// let data = b.buffer("data", Type::F32, Access::ReadWrite);
    /// let (i, n) = (b.global_id(0), b.array_length(data));
    /// let inside = b.lt(i, n);
    /// b.when(inside, |b| {
    ///     let x = b.load(data, i);
    ///     let sum = b.add(x, x);
    ///     b.store(data, i, sum);
    /// });
    /// let kernel = b.finish()?;
    ///
    /// let context = Driver::load()?.device(0)?.primary_context()?;
    /// let stream = context.stream()?;
    /// let twice = context.load_kernel(&kernel, &LoadOptions::new())?;
    /// let mut data = context.upload(&[1.0f32, 2.0, 3.0])?;
    /// // SAFETY: the kernel accesses `data` below its length only.
    /// unsafe { twice.launch_unchecked(&stream, &twice.config_for(3)?, &args![&mut data])? };
    /// assert_eq!(data.to_vec()?, [2.0, 4.0, 6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_kernel(&self, kernel: &Kernel, options: &LoadOptions) -> Result<Function> {
        Module::emit(self, &kernel.clone().into(), options)?.emitted(kernel)
    }

    /// Emits one kernel with checked bounds ([`Bounds::Checked`]) for this device and driver and loads it, so that
    /// [`Function::launch`], which is safe, launches it: whatever its arguments hold, it reads and writes nothing outside
    /// of them.
    ///
    /// # Errors
    /// As [`Context::load_kernel`]. A kernel that assumes uniformity loads, and its safe launch is refused.
    ///
    /// ```no_run
    /// use kernite::builder::KernelBuilder;
    /// use kernite::cuda::{Driver, LoadOptions, args};
    /// use kernite::types::{Access, Type};
    ///
    /// let mut b = KernelBuilder::new("twice", [128, 1, 1]);
    /// let data = b.buffer("data", Type::F32, Access::ReadWrite);
    /// let i = b.global_id(0);
    /// let x = b.load(data, i);
    /// let sum = b.add(x, x);
    /// b.store(data, i, sum);
    /// let kernel = b.finish()?;
    ///
    /// let context = Driver::load()?.device(0)?.primary_context()?;
    /// let stream = context.stream()?;
    /// let twice = context.load_kernel_checked(&kernel, &LoadOptions::new())?;
    /// let mut data = context.upload(&[1.0f32, 2.0, 3.0])?;
    /// // 128 threads, three elements: the others read zero and store nothing.
    /// twice.launch(&stream, &twice.config_for(3)?, &args![&mut data])?;
    /// assert_eq!(data.to_vec()?, [2.0, 4.0, 6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_kernel_checked(&self, kernel: &Kernel, options: &LoadOptions) -> Result<Function> {
        let ptx = CheckedPtx::emit(self, kernel, &mut ptx::Emitter::new())?;
        Ok(ptx.load(self, options, None)?.0)
    }

    /// The same by way of a cache on disk, so that only the first process assembles the kernel. Says where the code came
    /// from.
    ///
    /// # Errors
    /// As [`Context::load_kernel_checked`].
    ///
    /// ```no_run
    /// use kernite::cuda::cache::Cache;
    /// # fn load(context: &kernite::cuda::Context, kernel: &kernite::Kernel) -> Result<(), Box<dyn std::error::Error>> {
    /// let cache = Cache::open("kernels")?;
    /// let (function, source) = context.load_kernel_cached(kernel, &Default::default(), &cache)?;
    /// println!("{} from {source:?}", function.name());
    /// # Ok(())
    /// # }
    /// ```
    pub fn load_kernel_cached(
        &self,
        kernel: &Kernel,
        options: &LoadOptions,
        cache: &Cache,
    ) -> Result<(Function, Source)> {
        let ptx = CheckedPtx::emit(self, kernel, &mut ptx::Emitter::new())?;
        ptx.load(self, options, Some(cache))
    }
}

/// The text of one kernel with checked bounds, and what a launch of it must know. Only emission makes one, so what is
/// loaded from it may be launched safely.
pub(crate) struct CheckedPtx {
    text: String,
    entry: String,
    signature: Signature,
}

impl CheckedPtx {
    /// Emits for a context's device and driver.
    pub fn emit(
        context: &Context,
        kernel: &Kernel,
        emitter: &mut ptx::Emitter,
    ) -> Result<CheckedPtx> {
        let mut text = Vec::new();
        let options = context.ptx_options().with_bounds(Bounds::Checked);
        emitter
            .emit(kernel, &options, &mut text)
            .map_err(|error| Error::Emit(Box::new(error)))?;
        Ok(CheckedPtx {
            // Only ASCII is written.
            text: String::from_utf8_lossy(&text).into_owned(),
            entry: ptx::entry_name(kernel.name()).into_owned(),
            signature: kernel.signature_with(Bounds::Checked),
        })
    }

    /// Bytes of the text.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Loads it, by way of a cache where there is one.
    pub fn load(
        &self,
        context: &Context,
        options: &LoadOptions,
        cache: Option<&Cache>,
    ) -> Result<(Function, Source)> {
        let (module, source) = match cache {
            Some(cache) => cache.load(context, &self.text, options)?,
            None => (Module::load(context, &self.text, options)?, Source::NotKept),
        };
        let plan = Plan::new(&self.signature, true);
        Ok((module.with_plan(&self.entry, plan)?, source))
    }
}

/// A refusal to load or link, with the logs; other failures as they are.
pub(crate) fn refused(shared: &Shared, error: Error, error_log: Log, info_log: &Log) -> Error {
    match shared.note(error) {
        Error::Driver(fault) if !fault.code.is_sticky() => JitError::Refused {
            call: fault.call,
            code: fault.code,
            error_log,
            info_log: info_log.clone(),
        }
        .into(),
        other => other,
    }
}

impl Drop for ModuleInner {
    fn drop(&mut self) {
        let shared = &self.shared;
        match shared.enter_anyhow() {
            Ok(_entered) => {
                let waited = shared.wait_entered(&self.uses);
                let unloaded = super::memory::settle(shared, waited).and_then(|()| {
                    // SAFETY: the module is ours, its functions hold it and so are gone, and none of them runs any more.
                    unsafe { call!(shared.api, cuModuleUnload(self.raw)) }
                });
                shared.keep_failure(unloaded);
            }
            Err(error) => shared.keep(error),
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Module").field(&self.inner.raw).finish()
    }
}
