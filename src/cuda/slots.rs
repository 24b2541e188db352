//! Who uses what: streams have numbers, and a buffer keeps one bit for each stream that it was given to.
//!
//! Marking a use is one atomic operation and allocates nothing, so it is cheap enough for every launch. Only when memory
//! is to be freed, or the host is to look at it, does an event recorded on each marked stream tell when the work is over.

use super::result::{Api, Error, Result, call};
use super::sys::{CU_EVENT_BLOCKING_SYNC, CU_EVENT_DISABLE_TIMING, CUevent, CUstream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The streams that something was given to, one bit each.
#[derive(Debug, Default)]
pub(crate) struct Uses(AtomicU64);

impl Uses {
    /// Marks a use. Done before the work is enqueued, while the caller holds a borrow of what is used: so whoever may free
    /// it sees the mark.
    #[inline]
    pub fn mark(&self, slot: Slot) {
        // Most uses are of a stream that is marked already; a load is cheaper than a write to a shared line.
        if self.0.load(Ordering::Relaxed) & slot.bit() == 0 {
            self.0.fetch_or(slot.bit(), Ordering::Release);
        }
    }

    /// Takes all marks off, after a wait for them. Only where nobody else can be about to put work in: between a mark and its
    /// work the mark must stay, or the work would be forgotten.
    pub fn clear(&mut self) {
        *self.0.get_mut() = 0;
    }

    /// The marks.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// A stream's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot(u32);

impl Slot {
    /// Shared by all streams for which no number was left: who is marked so waits for the whole context.
    pub const OVERFLOW: Slot = Slot(63);

    pub const fn bit(self) -> u64 {
        1 << self.0
    }
}

/// An event that is destroyed with the last reference to it.
pub(crate) struct RawEvent {
    api: Arc<Api>,
    pub raw: CUevent,
}

impl RawEvent {
    /// A new event, without timing. The context is current.
    pub fn new(api: &Arc<Api>) -> Result<RawEvent> {
        let mut raw = CUevent::NULL;
        let flags = CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC;
        // SAFETY: the pointer is to a live handle, which the call fills.
        unsafe { call!(api, cuEventCreate(&mut raw, flags)) }?;
        Ok(RawEvent {
            api: api.clone(),
            raw,
        })
    }

    /// Records it behind all work of the stream so far. The stream is alive and the context current.
    fn recorded(api: &Arc<Api>, stream: CUstream) -> Result<RawEvent> {
        let event = RawEvent::new(api)?;
        // SAFETY: both handles are alive: the event was made above, and the slots' lock keeps the stream.
        unsafe { call!(api, cuEventRecord(event.raw, stream)) }?;
        Ok(event)
    }

    /// Blocks until the work before it is over.
    fn synchronize(&self) -> Result<()> {
        // SAFETY: the event is alive for as long as `self` is.
        unsafe { call!(self.api, cuEventSynchronize(self.raw)) }
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        // SAFETY: this was the last reference to the event; the driver keeps it until work that waits on it is over. An
        // error is of other work, which other calls report.
        let _ = unsafe { call!(self.api, cuEventDestroy_v2(self.raw)) };
    }
}

enum Entry {
    Free,
    /// A stream that is in use. Its handle is alive for as long as this entry is: [`Slots::release`] comes before the
    /// stream is destroyed.
    Live(CUstream),
    /// The stream is gone; its work is over once the event is.
    Draining(Arc<RawEvent>),
}

/// The numbers of a context's streams.
pub(crate) struct Slots {
    entries: Mutex<Vec<Entry>>,
    /// Captures under way, during which the driver lets nobody wait for the whole context. Whoever does holds the lock, so
    /// that no capture begins meanwhile: the driver would end it.
    captures: RwLock<u32>,
}

impl Slots {
    pub fn new() -> Slots {
        Slots {
            entries: Mutex::new(Vec::new()),
            captures: RwLock::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        // Nothing under the lock panics half-way through a change.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Comes before the capture begins, and blocks while somebody waits for the whole context.
    pub fn begin_capture(&self) {
        let mut captures = self
            .captures
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *captures = captures.saturating_add(1);
    }

    /// Comes after the capture has ended.
    pub fn end_capture(&self) {
        let mut captures = self
            .captures
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *captures = captures.saturating_sub(1);
    }

    /// Blocks until all work of the context is over. The context is current.
    ///
    /// Refused while a stream is being captured: the driver would refuse it too, and end the capture.
    pub fn wait_for_all(&self, api: &Api) -> Result<()> {
        let captures = self.captures.read().unwrap_or_else(PoisonError::into_inner);
        if *captures != 0 {
            return Err(Error::Capturing {
                call: "cuCtxSynchronize",
                what: "a stream is being captured, so the whole context cannot be waited for",
            });
        }
        // SAFETY: the context that is current is ours.
        unsafe { call!(api, cuCtxSynchronize()) }
    }

    /// A number for a stream. The context is current.
    pub fn acquire(&self, api: &Api, stream: CUstream) -> Slot {
        let mut entries = self.lock();
        let free = entries.iter().position(|entry| match entry {
            Entry::Free => true,
            Entry::Live(_) => false,
            Entry::Draining(event) => {
                // SAFETY: the entry keeps the event alive. Any error counts as not yet over.
                unsafe { call!(api, cuEventQuery(event.raw)) }.is_ok()
            }
        });
        let at = free.unwrap_or(entries.len());
        // Entries stay below OVERFLOW's number, so the conversion is exact.
        if at >= Slot::OVERFLOW.0 as usize {
            return Slot::OVERFLOW;
        }
        match entries.get_mut(at) {
            Some(entry) => *entry = Entry::Live(stream),
            None => entries.push(Entry::Live(stream)),
        }
        Slot(at as u32)
    }

    /// Gives a number back before its stream is destroyed: what the stream still has to do is kept as an event. The context
    /// is current.
    ///
    /// Where no event can be recorded the stream is waited for, so that the number never stands for less than its work.
    pub fn release(&self, api: &Arc<Api>, slot: Slot, stream: CUstream) -> Result<()> {
        let recorded = RawEvent::recorded(api, stream);
        let (entry, result) = match recorded {
            Ok(event) => (Entry::Draining(Arc::new(event)), Ok(())),
            Err(error) => {
                // SAFETY: the stream is alive; the caller destroys it after this. An error here follows from the first.
                let _ = unsafe { call!(api, cuStreamSynchronize(stream)) };
                (Entry::Free, Err(error))
            }
        };
        if slot != Slot::OVERFLOW {
            let mut entries = self.lock();
            if let Some(place) = entries.get_mut(slot.0 as usize) {
                *place = entry;
            }
        }
        result
    }

    /// Blocks until all work of the streams in `mask` so far is over. The context is current.
    pub fn wait_on_host(&self, api: &Arc<Api>, mask: u64) -> Result<()> {
        if mask & Slot::OVERFLOW.bit() != 0 {
            return self.wait_for_all(api);
        }
        // Events are recorded under the lock, which keeps the streams alive, and waited for without it.
        let events = self.events(api, mask)?;
        events.iter().try_for_each(|event| event.synchronize())
    }

    fn events(&self, api: &Arc<Api>, mask: u64) -> Result<Vec<Arc<RawEvent>>> {
        let entries = self.lock();
        let marked = (0u32..)
            .zip(entries.iter())
            .filter(|(n, _)| mask >> n & 1 != 0);
        marked
            .filter_map(|(_, entry)| match entry {
                Entry::Free => None,
                Entry::Live(stream) => Some(RawEvent::recorded(api, *stream).map(Arc::new)),
                Entry::Draining(event) => Some(Ok(event.clone())),
            })
            .collect()
    }

    /// Makes `target` wait for all work of the other streams in `mask` so far. The context is current, `target` alive.
    pub fn wait_on_stream(
        &self,
        api: &Arc<Api>,
        mask: u64,
        target: CUstream,
        own: Slot,
    ) -> Result<()> {
        if mask & Slot::OVERFLOW.bit() != 0 {
            return self.wait_for_all(api);
        }
        for event in self.events(api, mask & !own.bit())? {
            // SAFETY: both handles are alive; the event may be destroyed once this has returned.
            unsafe { call!(api, cuStreamWaitEvent(target, event.raw, 0)) }?;
        }
        Ok(())
    }

    /// Drops the events that are left. The context is current.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// Forgets the events that are left, without destroying them.
    pub fn abandon(&self) {
        core::mem::forget(core::mem::take(&mut *self.lock()));
    }
}
