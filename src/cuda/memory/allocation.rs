//! Memory that the driver gave: who uses it, and how it goes back.

use super::super::result::{Result, call};
use super::super::shared::{Pool, Shared, lock};
use super::super::slots::{Slot, Uses};
use super::super::stream::StreamInner;
use super::super::sys::CUmemoryPool;
use super::super::sys::{
    CU_MEM_ATTACH_GLOBAL, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, CUdeviceptr, CUmemPoolProps,
};
use core::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How memory came, which decides how it goes.
pub(crate) enum Kind {
    /// No memory at all: an empty buffer. The driver never hears of it.
    Empty,
    /// Allocated at once; freed once everybody is done with it.
    Immediate,
    /// Allocated in the order of a stream, and freed in it.
    Ordered(Arc<StreamInner>),
    /// Managed: the host sees it too.
    Managed,
}

/// A piece of device memory. Freed when the last reference is gone, after all work that was given it.
pub(crate) struct Allocation {
    pub shared: Arc<Shared>,
    pub ptr: CUdeviceptr,
    pub kind: Kind,
    pub uses: Uses,
    /// Streams that run behind the allocation, for `Kind::Ordered`.
    behind: AtomicU64,
    freed: bool,
}

impl Allocation {
    fn new(shared: &Arc<Shared>, ptr: CUdeviceptr, kind: Kind) -> Allocation {
        let behind = match &kind {
            Kind::Ordered(stream) if stream.slot != Slot::OVERFLOW => stream.slot.bit(),
            Kind::Ordered(_) => 0,
            Kind::Empty | Kind::Immediate | Kind::Managed => u64::MAX,
        };
        let allocation = Allocation {
            shared: shared.clone(),
            ptr,
            uses: Uses::default(),
            behind: AtomicU64::new(behind),
            freed: matches!(kind, Kind::Empty),
            kind,
        };
        if let Kind::Ordered(stream) = &allocation.kind {
            allocation.uses.mark(stream.slot);
        }
        allocation
    }

    pub fn empty(shared: &Arc<Shared>) -> Allocation {
        Allocation::new(shared, 0, Kind::Empty)
    }

    pub fn immediate(shared: &Arc<Shared>, bytes: usize) -> Result<Allocation> {
        if bytes == 0 {
            return Ok(Allocation::empty(shared));
        }
        let _entered = shared.enter()?;
        let mut ptr = 0;
        // SAFETY: the pointer is to a live address, which the call fills.
        unsafe { call!(shared.api, cuMemAlloc_v2(&mut ptr, bytes)) }.map_err(|e| shared.note(e))?;
        Ok(Allocation::new(shared, ptr, Kind::Immediate))
    }

    pub fn managed(shared: &Arc<Shared>, bytes: usize) -> Result<Allocation> {
        if bytes == 0 {
            return Ok(Allocation::empty(shared));
        }
        let _entered = shared.enter()?;
        let mut ptr = 0;
        // SAFETY: the pointer is to a live address, which the call fills.
        unsafe {
            call!(
                shared.api,
                cuMemAllocManaged(&mut ptr, bytes, CU_MEM_ATTACH_GLOBAL)
            )
        }
        .map_err(|e| shared.note(e))?;
        Ok(Allocation::new(shared, ptr, Kind::Managed))
    }

    /// Allocates in stream order where driver and device can, and at once where not.
    pub fn ordered(stream: &Arc<StreamInner>, bytes: usize) -> Result<Allocation> {
        let shared = &stream.shared;
        if bytes == 0 {
            return Ok(Allocation::empty(shared));
        }
        let _entered = shared.enter()?;
        let pool = known_pool(shared)?;
        let (api, raw) = (&shared.api, stream.raw);
        let mut ptr = 0;
        let result = match pool {
            Pool::Own(pool) => {
                // SAFETY: the pointer is to a live address, which the call fills; stream and pool are alive.
                unsafe { call!(api, cuMemAllocFromPoolAsync(&mut ptr, bytes, pool, raw)) }
            }
            // SAFETY: the pointer is to a live address, which the call fills; the stream is alive.
            Pool::Default => unsafe { call!(api, cuMemAllocAsync(&mut ptr, bytes, raw)) },
            Pool::None | Pool::Unknown => return Allocation::immediate(shared, bytes),
        };
        result.map_err(|e| shared.note(e))?;
        Ok(Allocation::new(shared, ptr, Kind::Ordered(stream.clone())))
    }

    /// Whether the host can hold references into it.
    pub fn host_visible(&self) -> bool {
        matches!(self.kind, Kind::Managed)
    }

    /// The streams for which [`Allocation::use_on`] has nothing left to do, a bit each.
    #[inline]
    pub fn marks(&self) -> u64 {
        self.behind.load(Ordering::Acquire) & self.uses.get()
    }

    /// Marks that work put into the stream from now on uses the memory, and makes that work wait for the allocation where
    /// it was made in the order of another stream. The context is current, or is about to be where nothing has to wait.
    #[inline]
    pub fn use_on(&self, stream: &StreamInner) -> Result<()> {
        if self.behind.load(Ordering::Acquire) & stream.slot.bit() == 0 {
            self.follow(stream)?;
        }
        self.uses.mark(stream.slot);
        Ok(())
    }

    #[cold]
    fn follow(&self, stream: &StreamInner) -> Result<()> {
        let Kind::Ordered(home) = &self.kind else {
            return Ok(());
        };
        let _entered = self.shared.enter()?;
        let slots = &self.shared.slots;
        if home.slot == Slot::OVERFLOW || stream.slot == Slot::OVERFLOW {
            // Such streams share one number, so what follows from it holds for this call alone.
            // SAFETY: the stream is alive; the buffer holds it.
            unsafe { call!(self.shared.api, cuStreamSynchronize(home.raw)) }
                .map_err(|e| self.shared.note(e))?;
            self.behind.store(u64::MAX, Ordering::Release);
            return Ok(());
        }
        slots
            .wait_on_stream(&self.shared.api, home.slot.bit(), stream.raw, stream.slot)
            .map_err(|e| self.shared.note(e))?;
        self.behind.fetch_or(stream.slot.bit(), Ordering::Release);
        Ok(())
    }

    /// Blocks until all work that was given the memory is over.
    pub fn wait(&self) -> Result<()> {
        self.shared.wait(&self.uses)?;
        self.behind.store(u64::MAX, Ordering::Release);
        Ok(())
    }

    /// Frees it in the order of a stream of its context, behind all work that uses it.
    pub fn free_on(mut self, stream: &Arc<StreamInner>) -> Result<()> {
        if self.freed {
            return Ok(());
        }
        if let Kind::Ordered(home) = &mut self.kind {
            *home = stream.clone();
        }
        let shared = self.shared.clone();
        let _entered = shared.enter_anyhow()?;
        self.freed = true;
        self.free().map_err(|e| shared.note(e))
    }

    /// The context is current.
    fn free(&self) -> Result<()> {
        let (shared, api) = (&self.shared, &self.shared.api);
        let waited = match &self.kind {
            Kind::Empty => return Ok(()),
            Kind::Ordered(home) => {
                shared
                    .slots
                    .wait_on_stream(api, self.uses.get(), home.raw, home.slot)
            }
            Kind::Immediate | Kind::Managed => shared.slots.wait_on_host(api, self.uses.get()),
        };
        settle(shared, waited)?;
        match &self.kind {
            Kind::Empty => Ok(()),
            // SAFETY: the memory is ours, this was the last reference, and the stream has been made to wait for all work
            // that was given it.
            Kind::Ordered(home) => unsafe { call!(api, cuMemFreeAsync(self.ptr, home.raw)) },
            Kind::Immediate | Kind::Managed => {
                // SAFETY: the memory is ours, this was the last reference, and all work that was given it is over.
                unsafe { call!(api, cuMemFree_v2(self.ptr)) }
            }
        }
    }
}

/// Where waiting for the users of memory failed, waits for the whole context instead. An error means that they may still
/// run: then the memory is better lost than freed. In a lost context nothing runs any more.
pub(crate) fn settle(shared: &Shared, waited: Result<()>) -> Result<()> {
    let Err(error) = waited else { return Ok(()) };
    let lost = |error: &super::super::Error| error.code().is_some_and(|code| code.is_sticky());
    if !lost(&error)
        && let Err(worse) = shared.slots.wait_for_all(&shared.api)
        && !lost(&worse)
    {
        return Err(error);
    }
    shared.keep(error);
    Ok(())
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if self.freed {
            return;
        }
        match self.shared.enter_anyhow() {
            Ok(_entered) => self.shared.keep_failure(self.free()),
            Err(error) => self.shared.keep(error),
        }
    }
}

/// Where memory in stream order comes from, found out once. The context is current.
fn known_pool(shared: &Shared) -> Result<Pool> {
    let mut pool = lock(&shared.pool);
    if let Pool::Unknown = *pool {
        *pool = find_pool(shared)?;
    }
    Ok(*pool)
}

/// Finds where memory in stream order comes from. The context is current.
fn find_pool(shared: &Shared) -> Result<Pool> {
    let has = |symbol| shared.api.symbols.has(symbol) == Some(true);
    if !shared.limits.memory_pools || !has("cuMemFreeAsync") {
        return Ok(Pool::None);
    }
    let own = [
        "cuMemPoolCreate",
        "cuMemPoolDestroy",
        "cuMemPoolSetAttribute",
        "cuMemAllocFromPoolAsync",
    ];
    if !own.into_iter().all(has) {
        // The threshold of the device's own pool belongs to the whole process, so it is left alone.
        return Ok(if has("cuMemAllocAsync") {
            Pool::Default
        } else {
            Pool::None
        });
    }
    let props = CUmemPoolProps {
        alloc_type: 1,
        handle_types: 0,
        location_type: 1,
        location_id: shared.device,
        win32_security_attributes: core::ptr::null_mut(),
        max_size: 0,
        reserved: [0; 56],
    };
    let mut pool = CUmemoryPool::NULL;
    // SAFETY: the pointers are to a live handle, which the call fills, and to properties laid out as in the header.
    unsafe { call!(shared.api, cuMemPoolCreate(&mut pool, &props)) }.map_err(|e| shared.note(e))?;
    // Freed memory stays in the pool, so that allocating it again costs nothing; trimming gives it back.
    match set_threshold(shared, pool, u64::MAX) {
        Ok(()) => Ok(Pool::Own(pool)),
        Err(error) => {
            // SAFETY: the pool was made above and holds nothing. The first error is the one to report.
            let _ = unsafe { call!(shared.api, cuMemPoolDestroy(pool)) };
            Err(shared.note(error))
        }
    }
}

fn set_threshold(shared: &Shared, pool: CUmemoryPool, bytes: u64) -> Result<()> {
    let mut value = bytes;
    let value: *mut c_void = (&raw mut value).cast();
    // SAFETY: the pool is alive; this attribute takes a pointer to a 64-bit number, which is only read.
    unsafe {
        call!(
            shared.api,
            cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, value)
        )
    }
}

impl super::super::Context {
    /// Whether [`super::super::Stream::alloc`] allocates in stream order here. Where not, it allocates at once, which is
    /// slower and waits for the device.
    ///
    /// # Errors
    /// What the driver answers when the pool is made.
    pub fn allocates_in_stream_order(&self) -> Result<bool> {
        let shared = &self.shared;
        let _entered = shared.enter()?;
        Ok(matches!(known_pool(shared)?, Pool::Own(_) | Pool::Default))
    }

    /// How many bytes of freed memory the context's pool keeps at a synchronisation instead of giving them back to the
    /// device: all by default.
    ///
    /// # Errors
    /// [`super::super::Error::MissingSymbol`] or [`super::super::Error::Unsupported`] where there is no pool, and what the
    /// driver answers.
    pub fn set_pool_threshold(&self, bytes: u64) -> Result<()> {
        self.with_pool("cuMemPoolSetAttribute", |shared, pool| {
            set_threshold(shared, pool, bytes)
        })
    }

    /// Gives memory that the pool keeps back to the device, down to `keep` bytes.
    ///
    /// # Errors
    /// As [`super::super::Context::set_pool_threshold`].
    pub fn trim_pool(&self, keep: usize) -> Result<()> {
        self.with_pool("cuMemPoolTrimTo", |shared, pool| {
            // SAFETY: the pool is alive; memory in use is not touched.
            unsafe { call!(shared.api, cuMemPoolTrimTo(pool, keep)) }
        })
    }

    fn with_pool(
        &self,
        needs: &'static str,
        act: impl FnOnce(&Shared, CUmemoryPool) -> Result<()>,
    ) -> Result<()> {
        self.allocates_in_stream_order()?;
        let shared = &self.shared;
        let _entered = shared.enter()?;
        match *lock(&shared.pool) {
            Pool::Own(pool) => act(shared, pool).map_err(|e| shared.note(e)),
            Pool::Unknown | Pool::Default | Pool::None => {
                Err(if shared.api.symbols.has(needs) == Some(true) {
                    super::super::Error::Unsupported("the device has no memory pools")
                } else {
                    super::super::Error::MissingSymbol(needs)
                })
            }
        }
    }
}
