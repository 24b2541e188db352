//! What all objects of a context share: the handle, the way to make it current, and what failed in it.

use super::device::DeviceLimits;
use super::result::{Api, Code, DriverError, Error, Result, call};
use super::slots::{Slots, Uses};
use super::sys::{CUcontext, CUdevice, CUmemoryPool};
use super::{Driver, DriverVersion};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A failure waits to be reported.
const LATE: u32 = 1;
/// The context is lost.
const LOST: u32 = 2;
/// Every launch is waited for.
const SYNCHRONOUS: u32 = 4;

/// A lock that outlives a panic of the thread that held it: nothing under it is left half-changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the context came here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ownership {
    /// A reference to the device's primary context, released at the end.
    Primary,
    /// Somebody else's, left alone at the end.
    Adopted,
}

/// Where memory in stream order comes from.
#[derive(Clone, Copy)]
pub(crate) enum Pool {
    /// Not asked yet.
    Unknown,
    /// The context's own pool.
    Own(CUmemoryPool),
    /// The device's, since this driver cannot make others.
    Default,
    /// Nowhere: memory is allocated at once.
    None,
}

#[derive(Default)]
struct Faults {
    /// What lost the context.
    first: Option<DriverError>,
    /// What waits to be reported: the first failure where none could be returned.
    late: Option<DriverError>,
}

/// Names of the functions that were launched, so that a late error can name its suspect.
#[derive(Default)]
struct Launches {
    names: HashMap<u64, Arc<str>>,
    /// Functions that are gone and whose name is kept, since one of them may be the last that was launched.
    gone: Vec<u64>,
    next: u64,
}

pub(crate) struct Shared {
    pub api: Arc<Api>,
    pub version: DriverVersion,
    pub raw: CUcontext,
    pub device: CUdevice,
    pub capability: (u32, u32),
    pub limits: DeviceLimits,
    pub slots: Slots,
    pub pool: Mutex<Pool>,
    ownership: Ownership,
    state: AtomicU32,
    faults: Mutex<Faults>,
    last_launch: AtomicU64,
    launches: Mutex<Launches>,
}

impl Shared {
    pub fn new(
        driver: &Driver,
        raw: CUcontext,
        device: CUdevice,
        (capability, limits): ((u32, u32), DeviceLimits),
        ownership: Ownership,
    ) -> Shared {
        Shared {
            api: driver.api.clone(),
            version: driver.version(),
            raw,
            device,
            capability,
            limits,
            slots: Slots::new(),
            pool: Mutex::new(Pool::Unknown),
            ownership,
            state: AtomicU32::new(0),
            faults: Mutex::default(),
            last_launch: AtomicU64::new(0),
            launches: Mutex::default(),
        }
    }

    /// Makes the context current for as long as the guard lives, after reporting what failed before.
    #[inline]
    pub fn enter(&self) -> Result<Entered<'_>> {
        if self.state.load(Ordering::Relaxed) & (LATE | LOST) != 0 {
            self.report()?;
        }
        self.enter_anyhow()
    }

    /// As [`Shared::enter`], without a report: for `drop`, and for what must work in a lost context too.
    #[inline]
    pub fn enter_anyhow(&self) -> Result<Entered<'_>> {
        let mut current = CUcontext::NULL;
        // SAFETY: the pointer is to a live handle, which the call fills.
        let known = unsafe { call!(self.api, cuCtxGetCurrent(&mut current)) };
        if known.is_ok() && current == self.raw {
            return Ok(Entered {
                shared: self,
                pushed: false,
            });
        }
        // SAFETY: the context is alive: owned ones until the last `Arc` of this is gone, adopted ones by the promise of
        // `Context::from_raw`.
        unsafe { call!(self.api, cuCtxPushCurrent_v2(self.raw)) }.map_err(|e| self.note(e))?;
        Ok(Entered {
            shared: self,
            pushed: true,
        })
    }

    /// The failure to report first, if there is one.
    #[cold]
    fn report(&self) -> Result<()> {
        let mut faults = lock(&self.faults);
        let late = faults.late.take();
        self.state.fetch_and(!LATE, Ordering::Relaxed);
        match (&faults.first, late) {
            (Some(first), _) => Err(Error::Poisoned(Box::new(first.clone()))),
            (None, Some(late)) => Err(Error::Driver(Box::new(late))),
            (None, None) => Ok(()),
        }
    }

    /// What waits to be reported, without losing the first cause of a lost context.
    pub fn take_fault(&self) -> Option<Error> {
        self.report().err()
    }

    pub fn is_lost(&self) -> bool {
        self.state.load(Ordering::Relaxed) & LOST != 0
    }

    pub fn is_synchronous(&self) -> bool {
        self.state.load(Ordering::Relaxed) & SYNCHRONOUS != 0
    }

    pub fn set_synchronous(&self, on: bool) {
        if on {
            self.state.fetch_or(SYNCHRONOUS, Ordering::Relaxed);
        } else {
            self.state.fetch_and(!SYNCHRONOUS, Ordering::Relaxed);
        }
    }

    /// Takes note of an error that is about to be returned: one that lost the context is kept as its first cause, and says
    /// which kernel was launched last.
    #[cold]
    pub fn note(&self, error: Error) -> Error {
        match error {
            Error::Driver(mut fault) if fault.code.is_sticky() => {
                fault.last_launch = self.last_launch();
                let mut faults = lock(&self.faults);
                if let Some(first) = &faults.first {
                    return Error::Poisoned(Box::new(first.clone()));
                }
                faults.first = Some((*fault).clone());
                self.state.fetch_or(LOST, Ordering::Relaxed);
                Error::Driver(fault)
            }
            other => other,
        }
    }

    /// Keeps an error that cannot be returned, for the next call that can.
    #[cold]
    pub fn keep(&self, error: Error) {
        match error {
            Error::Driver(mut fault) => {
                // The process is ending, and the driver with it: nobody is left to tell.
                if fault.code == Code::DEINITIALIZED || self.is_lost() {
                    return;
                }
                fault.late = true;
                fault.in_drop = true;
                let mut faults = lock(&self.faults);
                if fault.code.is_sticky() {
                    fault.last_launch = self.last_launch();
                    faults.first.get_or_insert_with(|| (*fault).clone());
                    self.state.fetch_or(LOST, Ordering::Relaxed);
                } else {
                    faults.late.get_or_insert(*fault);
                    self.state.fetch_or(LATE, Ordering::Relaxed);
                }
            }
            // A lost context is known already, and a missing entry point makes nothing that could be dropped.
            Error::Poisoned(_) | Error::MissingSymbol(_) => {}
            Error::Load(_)
            | Error::Emit(_)
            | Error::Jit(_)
            | Error::Launch(_)
            | Error::TooLarge { .. }
            | Error::LengthMismatch { .. }
            | Error::Cast { .. }
            | Error::OtherContext { .. }
            | Error::Null { .. }
            | Error::Unsupported(_)
            | Error::Capturing { .. } => {}
        }
    }

    /// [`Shared::keep`] of a result.
    pub fn keep_failure(&self, result: Result<()>) {
        if let Err(error) = result {
            self.keep(error);
        }
    }

    /// Blocks until everything marked in `uses` is over.
    pub fn wait(&self, uses: &Uses) -> Result<()> {
        if uses.get() == 0 {
            return Ok(());
        }
        let _entered = self.enter()?;
        self.wait_entered(uses).map_err(|e| self.note(e))
    }

    /// The same where the context is current.
    pub fn wait_entered(&self, uses: &Uses) -> Result<()> {
        self.slots.wait_on_host(&self.api, uses.get())
    }

    /// A number for a function, under which its name is kept.
    pub fn name_function(&self, name: &str) -> (u64, Arc<str>) {
        let name: Arc<str> = name.into();
        let mut launches = lock(&self.launches);
        launches.next += 1;
        let id = launches.next;
        launches.names.insert(id, name.clone());
        (id, name)
    }

    /// Forgets a function's name, unless it is the one launched last.
    pub fn forget_function(&self, id: u64) {
        let last = self.last_launch.load(Ordering::Relaxed);
        let mut launches = lock(&self.launches);
        let Launches { names, gone, .. } = &mut *launches;
        gone.push(id);
        gone.retain(|&id| {
            if id != last {
                names.remove(&id);
            }
            id == last
        });
    }

    #[inline]
    pub fn launched(&self, id: u64) {
        self.last_launch.store(id, Ordering::Relaxed);
    }

    fn last_launch(&self) -> Option<Arc<str>> {
        let id = self.last_launch.load(Ordering::Relaxed);
        lock(&self.launches).names.get(&id).cloned()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        {
            let entered = self.enter_anyhow();
            if entered.is_err() {
                // The context is gone, and what was made in it with it.
                self.slots.abandon();
            }
            self.slots.clear();
            if let (Ok(_), Pool::Own(pool)) = (&entered, &*lock(&self.pool)) {
                // SAFETY: the pool is ours, and the buffers taken from it held this object, so they are gone. Nobody is
                // left to hear of an error.
                let _ = unsafe { call!(self.api, cuMemPoolDestroy(*pool)) };
            }
        }
        if self.ownership == Ownership::Primary {
            // SAFETY: `Context::primary` retained it once for this object. Nobody is left to hear of an error.
            let _ = unsafe { call!(self.api, cuDevicePrimaryCtxRelease_v2(self.device)) };
        }
    }
}

/// Proof that the context is current on this thread; puts back what was current before.
pub(crate) struct Entered<'a> {
    shared: &'a Shared,
    pushed: bool,
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.pushed {
            let mut popped = CUcontext::NULL;
            // SAFETY: the pointer is to a live handle, which the call fills; what is taken off the stack is what `enter`
            // put there, since guards of one thread end in reverse order of their beginning.
            let result = unsafe { call!(self.shared.api, cuCtxPopCurrent_v2(&mut popped)) };
            self.shared.keep_failure(result);
        }
    }
}
