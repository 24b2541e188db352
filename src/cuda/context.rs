//! Contexts.

use super::device;
use super::result::{Error, Result, call};
use super::shared::{Entered, Ownership, Shared, lock};
use super::sys::{CUcontext, CUdevice};
use super::{Device, DeviceLimits, Driver};
use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

/// A context: where memory, modules and streams of a device live.
///
/// Cheap to clone; everything made in it keeps it, so objects can be dropped in any order and on any thread. No call
/// depends on which context is current on the calling thread, and none changes it: what was current before is current
/// after. [`Context::bind`] saves the two calls that this costs.
///
/// # Failures of work on the device
/// Launches and copies run later than the call that starts them, so their failures come out of some later call of the same
/// context, and say that they are *reported late*. Some lose the context ([`crate::cuda::Code::is_sticky`]): then every
/// call answers [`Error::Poisoned`] with the first cause. `drop` never panics: what fails there is kept for the next call
/// or [`Context::last_error`].
#[derive(Clone)]
pub struct Context {
    pub(crate) shared: Arc<Shared>,
}

impl Context {
    pub(crate) fn primary(device: &Device) -> Result<Context> {
        let api = &device.driver().api;
        let mut primaries = lock(&api.primaries);
        primaries.retain(|(_, shared)| shared.strong_count() > 0);
        let known = primaries
            .iter()
            .find(|(number, _)| *number == device.as_raw());
        if let Some(shared) = known.and_then(|(_, shared)| shared.upgrade()) {
            return Ok(Context { shared });
        }
        let mut raw = CUcontext::NULL;
        // SAFETY: the pointer is to a live handle, which the call fills.
        unsafe { call!(api, cuDevicePrimaryCtxRetain(&mut raw, device.as_raw())) }?;
        let limits = (device.compute_capability(), *device.limits());
        let shared = Shared::new(
            device.driver(),
            raw,
            device.as_raw(),
            limits,
            Ownership::Primary,
        );
        let shared = Arc::new(shared);
        primaries.push((device.as_raw(), Arc::downgrade(&shared)));
        Ok(Context { shared })
    }

    /// Adopts a context made elsewhere, such as another library's. It is never destroyed or released here.
    ///
    /// # Safety
    /// `raw` is a context of this driver, and stays alive until this object, its clones and everything made in it are gone.
    ///
    /// # Errors
    /// [`Error::Null`], and what the driver answers when asked for the context's device.
    pub unsafe fn from_raw(driver: &Driver, raw: CUcontext) -> Result<Context> {
        if raw == CUcontext::NULL {
            return Err(Error::Null { what: "context" });
        }
        let api = &driver.api;
        // SAFETY: the caller promises that the context is alive.
        unsafe { call!(api, cuCtxPushCurrent_v2(raw)) }?;
        let mut device: CUdevice = 0;
        // SAFETY: the pointer is to a live device number, which the call fills.
        let found = unsafe { call!(api, cuCtxGetDevice(&mut device)) };
        let mut popped = CUcontext::NULL;
        // SAFETY: the pointer is to a live handle; what is popped was pushed above.
        let left = unsafe { call!(api, cuCtxPopCurrent_v2(&mut popped)) };
        found.and(left)?;
        let limits = device::read(api, device)?;
        let shared = Shared::new(driver, raw, device, limits, Ownership::Adopted);
        Ok(Context {
            shared: Arc::new(shared),
        })
    }

    /// The driver's handle.
    pub fn as_raw(&self) -> CUcontext {
        self.shared.raw
    }

    /// What the device can take.
    pub fn limits(&self) -> &DeviceLimits {
        &self.shared.limits
    }

    /// Major and minor compute capability of the device.
    pub fn compute_capability(&self) -> (u32, u32) {
        self.shared.capability
    }

    /// Makes the context current on this thread until the guard is dropped, so that calls on this thread need not do it
    /// each. Worth it around many launches.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn bind(&self) -> Result<Bound<'_>> {
        Ok(Bound {
            _entered: self.shared.enter()?,
            _not_send: PhantomData,
        })
    }

    /// Blocks until all work of the context is over.
    ///
    /// # Errors
    /// What failed in the meantime; [`Error::Capturing`] while a stream of the context is being captured.
    pub fn synchronize(&self) -> Result<()> {
        let shared = &self.shared;
        let _entered = shared.enter()?;
        let waited = shared.slots.wait_for_all(&shared.api);
        waited.map_err(|e| shared.note(e))
    }

    /// Takes the failure that waits to be reported, if there is one; that of a lost context stays.
    pub fn last_error(&self) -> Option<Error> {
        self.shared.take_fault()
    }

    /// Whether the context is lost: nothing in it can be used any more.
    pub fn is_lost(&self) -> bool {
        self.shared.is_lost()
    }

    /// Makes every launch wait until its kernel is over, so that a kernel's failure comes out of its own launch. Slow; for
    /// finding which kernel fails.
    pub fn set_synchronous(&self, on: bool) {
        self.shared.set_synchronous(on);
    }

    /// Free and total memory of the device in bytes.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn memory_info(&self) -> Result<(u64, u64)> {
        let (mut free, mut total) = (0usize, 0usize);
        let _entered = self.shared.enter()?;
        // SAFETY: the pointers are to live integers, which the call fills.
        unsafe { call!(self.shared.api, cuMemGetInfo_v2(&mut free, &mut total)) }
            .map_err(|e| self.shared.note(e))?;
        Ok((free as u64, total as u64))
    }
}

impl PartialEq for Context {
    /// Whether objects of the two may be used together. A device's primary context is one, however often it is asked for;
    /// a context adopted twice is two.
    fn eq(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("raw", &self.shared.raw)
            .field("device", &self.shared.device)
            .finish_non_exhaustive()
    }
}

/// The context is current on this thread; see [`Context::bind`]. Guards of one thread must end in reverse order of their
/// beginning, as they do when they are left to their scopes.
pub struct Bound<'a> {
    _entered: Entered<'a>,
    _not_send: PhantomData<*const ()>,
}

impl fmt::Debug for Bound<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bound")
    }
}
