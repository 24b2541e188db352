//! Functions, and launching them.

use super::launch::{Arg, ArgKind, LaunchConfig, LaunchError, LaunchLimit, Plan};
use super::module::ModuleInner;
use super::result::{Result, call};
use super::shared::Shared;
use super::stream::Stream;
use super::sys::{CUfunction, function_attribute as attribute};
use crate::kernel::Signature;
use core::ffi::{c_int, c_void};
use core::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a function takes, read once when it is looked up (`cuFuncGetAttribute`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct FunctionAttributes {
    /// The most threads of a block with which it runs here: the device's limit, or fewer where registers end.
    pub max_threads_per_block: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of static shared memory.
    pub shared_bytes: u32,
    /// Bytes of constant memory.
    pub const_bytes: u32,
    /// Bytes of local memory of a thread: private arrays and spilled registers.
    pub local_bytes: u32,
    /// The PTX version it was made from, 10 × major + minor.
    pub ptx_version: u32,
    /// The architecture its code is for, 10 × major + minor.
    pub binary_version: u32,
}

/// A kernel of a loaded module.
///
/// Cheap to clone. Keeps its module loaded.
#[derive(Clone)]
pub struct Function {
    pub(crate) inner: Arc<FunctionInner>,
}

pub(crate) struct FunctionInner {
    pub module: Arc<ModuleInner>,
    pub raw: CUfunction,
    pub plan: Option<Plan>,
    attributes: FunctionAttributes,
    name: Arc<str>,
    /// The number under which the context knows the name.
    id: u64,
    /// Whether all the dynamic shared memory that the device has was asked for.
    opted_in: AtomicBool,
}

impl Function {
    pub(crate) fn new(
        module: Arc<ModuleInner>,
        raw: CUfunction,
        name: &str,
        plan: Option<Plan>,
    ) -> Result<Function> {
        let attributes = read(&module.shared, raw)?;
        let (id, name) = module.shared.name_function(name);
        Ok(Function {
            inner: Arc::new(FunctionInner {
                module,
                raw,
                plan,
                attributes,
                name,
                id,
                opted_in: AtomicBool::new(false),
            }),
        })
    }

    /// Its name in the module.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// What it takes.
    pub fn attributes(&self) -> &FunctionAttributes {
        &self.inner.attributes
    }

    /// The signature that its launches are checked against, if it was looked up with one.
    pub fn signature(&self) -> Option<&Signature> {
        self.inner.plan.as_ref().map(|plan| &plan.signature)
    }

    /// Whether [`Function::launch`] launches it: it checks the bounds of every access and assumes no uniformity.
    pub fn is_checked(&self) -> bool {
        let plan = self.inner.plan.as_ref();
        plan.is_some_and(|plan| plan.checked && !plan.signature.assumes_uniform)
    }

    /// The driver's handle.
    pub fn as_raw(&self) -> CUfunction {
        self.inner.raw
    }

    /// Blocks of the kernel's own workgroup size for `n` threads or more along x.
    ///
    /// # Errors
    /// [`LaunchError::NoSignature`], and as [`LaunchConfig::for_elements`].
    pub fn config_for(&self, n: u64) -> Result<LaunchConfig> {
        let signature = self.signature().ok_or(LaunchError::NoSignature)?;
        Ok(LaunchConfig::covering(n, signature.workgroup_size)?)
    }

    /// Launches the kernel in the order of a stream.
    ///
    /// All is checked before the driver sees it: number, types, access, alignment, context and overlap of the arguments,
    /// grid and block, registers and shared memory. Lengths that the kernel asks for are passed along. Buffers may be
    /// dropped or given to others at once: they are freed only after the kernel. On the way nothing is allocated.
    ///
    /// A kernel that loops for ever or races gives no or wrong results, never more: it writes nothing but the buffers that
    /// it may write.
    ///
    /// # Errors
    /// [`LaunchError::Unchecked`] or [`LaunchError::AssumesUniform`] for a kernel that only [`Function::launch_unchecked`]
    /// launches; the other [`LaunchError`]s; what the driver answers. The kernel's own failures come later, see [`super::Context`].
    pub fn launch(&self, stream: &Stream, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<()> {
        let plan = self.inner.plan.as_ref().ok_or(LaunchError::NoSignature)?;
        if !plan.checked {
            return Err(LaunchError::Unchecked.into());
        }
        if plan.signature.assumes_uniform {
            return Err(LaunchError::AssumesUniform.into());
        }
        // SAFETY: the kernel checks the bounds of every access, and the arguments are checked against its signature.
        unsafe { self.launch_with(plan, stream, config, args) }
    }

    /// Launches a kernel whose accesses are not checked. Arguments and limits are, as in [`Function::launch`].
    ///
    /// # Safety
    /// With these arguments and this grid the kernel accesses memory only within its buffers, shared and private arrays,
    /// and what it assumes to be uniform is.
    ///
    /// # Errors
    /// As [`Function::launch`], but for the two that it exists for.
    pub unsafe fn launch_unchecked(
        &self,
        stream: &Stream,
        config: &LaunchConfig,
        args: &[Arg<'_>],
    ) -> Result<()> {
        let plan = self.inner.plan.as_ref().ok_or(LaunchError::NoSignature)?;
        // SAFETY: the caller's promise.
        unsafe { self.launch_with(plan, stream, config, args) }
    }

    /// # Safety
    /// With these arguments the kernel accesses memory only where it may.
    unsafe fn launch_with(
        &self,
        plan: &Plan,
        stream: &Stream,
        config: &LaunchConfig,
        args: &[Arg<'_>],
    ) -> Result<()> {
        let function = &*self.inner;
        function.check_stream(stream)?;
        function.check_plan(plan, config)?;
        let dynamic = function.check_config(config, plan.moved_shared_bytes)?;
        let slot = Some(stream.inner.slot);
        plan.with_arguments(&function.module.shared, args, slot, |params, marked| {
            if config.is_empty() {
                return Ok(());
            }
            if let Some(capture) = &stream.inner.capture {
                // SAFETY: as below; the graph keeps what the arguments point to.
                let enqueue = || unsafe { function.enqueue(stream, config, dynamic, params) };
                return capture.launch(&stream.inner, self, args, enqueue);
            }
            if !marked {
                for arg in args {
                    if let ArgKind::Buffer { view, .. } = &arg.0 {
                        view.use_on(&stream.inner)?;
                    }
                }
            }
            // SAFETY: the arguments have been checked against the signature, which was compared with the kernel where the
            // driver can, and the pointers live until this returns; what they point to is marked as used on the stream.
            // What the kernel does with them is the caller's promise.
            unsafe { function.enqueue(stream, config, dynamic, params) }
        })
    }

    /// Launches a kernel of which nothing is known with pointers to its arguments, as `cuLaunchKernel` takes them. Grid,
    /// block, registers and shared memory are checked.
    ///
    /// # Safety
    /// There is a pointer for each parameter, to a value of its size and alignment. The kernel accesses memory only where
    /// it may, and that memory stays until it has ended; captured, until the graph is gone and its launches have ended.
    ///
    /// # Errors
    /// [`LaunchError`], and what the driver answers.
    pub unsafe fn launch_raw(
        &self,
        stream: &Stream,
        config: &LaunchConfig,
        params: &mut [*mut c_void],
    ) -> Result<()> {
        let function = &*self.inner;
        function.check_stream(stream)?;
        let dynamic = function.check_config(config, 0)?;
        if config.is_empty() {
            return Ok(());
        }
        let params = params.as_mut_ptr();
        // SAFETY: the caller's promise.
        let enqueue = || unsafe { function.enqueue(stream, config, dynamic, params) };
        match &stream.inner.capture {
            Some(capture) => capture.launch(&stream.inner, self, &[], enqueue),
            None => enqueue(),
        }
    }

    /// Tells the context that it was launched, by a graph.
    pub(crate) fn mark_launched(&self) {
        self.inner.module.shared.launched(self.inner.id);
    }

    /// The block size with which the most threads run at once, and the least number of blocks that fills the device
    /// (`cuOccupancyMaxPotentialBlockSize`), each block with `dynamic_shared_bytes` of dynamic shared memory.
    ///
    /// For kernels without a fixed workgroup size; kernite's have one.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn suggested_block(&self, dynamic_shared_bytes: u32) -> Result<SuggestedBlock> {
        let shared = &self.inner.module.shared;
        let _entered = shared.enter()?;
        let (mut blocks, mut threads): (c_int, c_int) = (0, 0);
        let (function, dynamic) = (self.inner.raw, dynamic_shared_bytes as usize);
        let size_of_block = core::ptr::null();
        // SAFETY: the function is alive, the pointers are to live integers, which the call fills; without a callback the
        // dynamic size is the same for all blocks.
        unsafe {
            call!(
                shared.api,
                cuOccupancyMaxPotentialBlockSize(
                    &mut blocks,
                    &mut threads,
                    function,
                    size_of_block,
                    dynamic,
                    0
                )
            )
        }
        .map_err(|e| shared.note(e))?;
        Ok(SuggestedBlock {
            threads: u32::try_from(threads).unwrap_or(0),
            blocks: u32::try_from(blocks).unwrap_or(0),
        })
    }

    /// How many blocks of `threads` threads run at once on a multiprocessor
    /// (`cuOccupancyMaxActiveBlocksPerMultiprocessor`).
    ///
    /// # Errors
    /// What the driver answers.
    pub fn blocks_per_multiprocessor(
        &self,
        threads: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<u32> {
        let shared = &self.inner.module.shared;
        let _entered = shared.enter()?;
        let mut blocks: c_int = 0;
        let (function, dynamic) = (self.inner.raw, dynamic_shared_bytes as usize);
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        // SAFETY: the function is alive, the pointer is to a live integer, which the call fills.
        unsafe {
            call!(
                shared.api,
                cuOccupancyMaxActiveBlocksPerMultiprocessor(
                    &mut blocks,
                    function,
                    threads,
                    dynamic
                )
            )
        }
        .map_err(|e| shared.note(e))?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }
}

/// What [`Function::suggested_block`] answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct SuggestedBlock {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks that fill the device.
    pub blocks: u32,
}

impl FunctionInner {
    fn check_stream(&self, stream: &Stream) -> Result<()> {
        if Arc::ptr_eq(&self.module.shared, &stream.inner.shared) {
            Ok(())
        } else {
            Err(LaunchError::OtherContext { what: "stream" }.into())
        }
    }

    /// What the signature says of the configuration.
    pub fn check_plan(&self, plan: &Plan, config: &LaunchConfig) -> Result<()> {
        let expected = plan.signature.workgroup_size;
        if config.block != expected {
            return Err(LaunchError::Block {
                given: config.block,
                expected,
            }
            .into());
        }
        if config.dynamic_shared_bytes != 0 && plan.signature.dynamic_shared.is_none() {
            return Err(LaunchError::NoDynamicShared {
                bytes: config.dynamic_shared_bytes,
            }
            .into());
        }
        Ok(())
    }

    /// Checks the configuration against device and function, and asks for more shared memory where it must. Returns the
    /// bytes of dynamic shared memory, `moved` among them.
    pub fn check_config(&self, config: &LaunchConfig, moved: u32) -> Result<u32> {
        const GRID: [LaunchLimit; 3] = [LaunchLimit::GridX, LaunchLimit::GridY, LaunchLimit::GridZ];
        const BLOCK: [LaunchLimit; 3] = [
            LaunchLimit::BlockX,
            LaunchLimit::BlockY,
            LaunchLimit::BlockZ,
        ];
        let limits = &self.module.shared.limits;
        if config.block.contains(&0) {
            return Err(LaunchError::EmptyBlock {
                block: config.block,
            }
            .into());
        }
        for (needed, available, limit) in [
            (&config.grid, &limits.grid, &GRID),
            (&config.block, &limits.block, &BLOCK),
        ] {
            for axis in 0..3 {
                if needed[axis] > available[axis] {
                    return Err(LaunchError::Limit {
                        limit: limit[axis],
                        needed: u64::from(needed[axis]),
                        available: u64::from(available[axis]),
                    }
                    .into());
                }
            }
        }
        let threads = config.threads();
        if threads > u64::from(self.attributes.max_threads_per_block) {
            return Err(LaunchError::Threads {
                threads,
                max: self.attributes.max_threads_per_block,
                registers: self.attributes.registers,
                registers_per_block: limits.registers_per_block,
            }
            .into());
        }
        self.check_shared(config.dynamic_shared_bytes, moved)
    }

    fn check_shared(&self, given: u32, moved: u32) -> Result<u32> {
        let limits = &self.module.shared.limits;
        let fixed = u64::from(self.attributes.shared_bytes);
        let dynamic = u64::from(moved) + u64::from(given);
        let total = fixed + dynamic;
        if total > u64::from(limits.shared_bytes_opt_in) {
            return Err(LaunchError::SharedMemory {
                static_bytes: fixed + u64::from(moved),
                dynamic_bytes: u64::from(given),
                available: u64::from(limits.shared_bytes_opt_in),
            }
            .into());
        }
        if total > u64::from(limits.shared_bytes) && !self.opted_in.load(Ordering::Relaxed) {
            self.opt_in()?;
        }
        // Below the opt-in limit, which has 32 bits.
        Ok(u32::try_from(dynamic).unwrap_or(u32::MAX))
    }

    /// Allows all the dynamic shared memory that the device has: always the same number, so that two objects of one
    /// function cannot take it from each other.
    #[cold]
    fn opt_in(&self) -> Result<()> {
        let shared = &self.module.shared;
        let most = shared
            .limits
            .shared_bytes_opt_in
            .saturating_sub(self.attributes.shared_bytes);
        let most = c_int::try_from(most).unwrap_or(c_int::MAX);
        let _entered = shared.enter()?;
        let which = attribute::MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is alive; the attribute takes a number.
        unsafe { call!(shared.api, cuFuncSetAttribute(self.raw, which, most)) }
            .map_err(|e| shared.note(e))?;
        self.opted_in.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// # Safety
    /// `params` points to a pointer for each parameter of the kernel, to a value of its size; what the kernel accesses
    /// stays until the stream has passed.
    #[inline]
    unsafe fn enqueue(
        &self,
        stream: &Stream,
        config: &LaunchConfig,
        dynamic: u32,
        params: *mut *mut c_void,
    ) -> Result<()> {
        let shared = &self.module.shared;
        let [gx, gy, gz] = config.grid;
        let [bx, by, bz] = config.block;
        let (function, raw) = (self.raw, stream.inner.raw);
        let none = core::ptr::null_mut();
        let entered = shared.enter()?;
        let runs = stream.inner.capture.is_none();
        if runs {
            self.module.uses.mark(stream.inner.slot);
        }
        // SAFETY: function and stream are alive and of the context that is current; the arguments are the caller's promise.
        unsafe {
            call!(
                shared.api,
                cuLaunchKernel(function, gx, gy, gz, bx, by, bz, dynamic, raw, params, none)
            )
        }
        .map_err(|e| shared.note(e))?;
        if runs {
            shared.launched(self.id);
        }
        drop(entered);
        if shared.is_synchronous() && runs {
            stream.synchronize()?;
        }
        Ok(())
    }
}

fn read(shared: &Shared, raw: CUfunction) -> Result<FunctionAttributes> {
    let _entered = shared.enter()?;
    let get = |which: c_int| -> Result<u32> {
        let mut value: c_int = 0;
        // SAFETY: the pointer is to a live integer, which the call fills; the function is alive.
        unsafe { call!(shared.api, cuFuncGetAttribute(&mut value, which, raw)) }
            .map_err(|e| shared.note(e))?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    Ok(FunctionAttributes {
        max_threads_per_block: get(attribute::MAX_THREADS_PER_BLOCK)?,
        registers: get(attribute::NUM_REGS)?,
        shared_bytes: get(attribute::SHARED_SIZE_BYTES)?,
        const_bytes: get(attribute::CONST_SIZE_BYTES)?,
        local_bytes: get(attribute::LOCAL_SIZE_BYTES)?,
        ptx_version: get(attribute::PTX_VERSION)?,
        binary_version: get(attribute::BINARY_VERSION)?,
    })
}

impl Drop for FunctionInner {
    fn drop(&mut self) {
        self.module.shared.forget_function(self.id);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("name", &self.name())
            .field("checked", &self.is_checked())
            .finish_non_exhaustive()
    }
}
