//! Streams and events.

use super::Context;
use super::capture::{self, Capture};
use super::memory::View;
use super::result::{Code, Error, Result, call};
use super::shared::Shared;
use super::slots::Slot;
use super::sys::{
    CU_EVENT_BLOCKING_SYNC, CU_EVENT_DISABLE_TIMING, CU_STREAM_NON_BLOCKING, CUcontext, CUevent,
    CUstream,
};
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

/// A queue of work on the device: what is put in runs in order.
///
/// Cheap to clone; clones are the same queue. Dropping the last does not wait: the work goes on, and memory that it uses is
/// freed only after it.
#[derive(Clone)]
pub struct Stream {
    pub(crate) inner: Arc<StreamInner>,
}

pub(crate) struct StreamInner {
    pub shared: Arc<Shared>,
    pub raw: CUstream,
    pub slot: Slot,
    owned: bool,
    /// What it records, where it records instead of running.
    pub capture: Option<Capture>,
}

impl Stream {
    fn new(shared: &Arc<Shared>, raw: CUstream, owned: bool) -> Stream {
        Stream {
            inner: Arc::new(StreamInner {
                shared: shared.clone(),
                raw,
                slot: shared.slots.acquire(&shared.api, raw),
                owned,
                capture: None,
            }),
        }
    }

    /// A new stream that is being captured.
    pub(super) fn capturing(shared: &Arc<Shared>) -> Result<Stream> {
        let _entered = shared.enter()?;
        let stream = Stream {
            inner: Arc::new(StreamInner {
                shared: shared.clone(),
                raw: make(shared)?,
                // Nothing is ever marked as used on it: nothing runs there.
                slot: Slot::OVERFLOW,
                owned: true,
                capture: Some(Capture::begun()),
            }),
        };
        shared.slots.begin_capture();
        let begun = capture::begin(shared, stream.inner.raw);
        begun.inspect_err(|_| shared.slots.end_capture())?;
        Ok(stream)
    }

    /// Whether what is put in is recorded ([`Stream::capture`]) instead of running.
    pub fn is_capturing(&self) -> bool {
        self.inner.capture.is_some()
    }

    /// Adopts a stream made elsewhere. It is never destroyed here.
    ///
    /// # Safety
    /// `raw` is a stream of this context (null: the legacy default stream; not the handle 2, which is another stream on each
    /// thread), stays alive until this object and its clones are gone,
    /// and is not being captured while it is used here.
    ///
    /// # Errors
    /// [`Error::OtherContext`] when the driver says that the stream is of another context, and what else it answers.
    pub unsafe fn from_raw(context: &Context, raw: CUstream) -> Result<Stream> {
        let shared = &context.shared;
        let _entered = shared.enter()?;
        if raw != CUstream::NULL {
            let mut owner = CUcontext::NULL;
            // SAFETY: the caller promises a live stream; the pointer is to a live handle, which the call fills.
            match unsafe { call!(shared.api, cuStreamGetCtx(raw, &mut owner)) } {
                Ok(()) if owner != shared.raw => {
                    return Err(Error::OtherContext {
                        call: "Stream::from_raw",
                        what: "the stream",
                    });
                }
                Ok(()) | Err(Error::MissingSymbol(_)) => {}
                Err(error) => return Err(shared.note(error)),
            }
        }
        Ok(Stream::new(shared, raw, false))
    }

    /// The driver's handle.
    pub fn as_raw(&self) -> CUstream {
        self.inner.raw
    }

    /// The context it belongs to.
    pub fn context(&self) -> Context {
        Context {
            shared: self.inner.shared.clone(),
        }
    }

    /// Blocks until all work put in so far is over.
    ///
    /// # Errors
    /// What failed in the meantime.
    pub fn synchronize(&self) -> Result<()> {
        self.inner.must_run("cuStreamSynchronize")?;
        let shared = &self.inner.shared;
        let _entered = shared.enter()?;
        // SAFETY: the stream is alive for as long as `self` is.
        unsafe { call!(shared.api, cuStreamSynchronize(self.inner.raw)) }
            .map_err(|e| shared.note(e))
    }

    /// Whether all work put in so far is over.
    ///
    /// # Errors
    /// What failed in the meantime.
    pub fn is_idle(&self) -> Result<bool> {
        self.inner.must_run("cuStreamQuery")?;
        let shared = &self.inner.shared;
        let _entered = shared.enter()?;
        // SAFETY: the stream is alive for as long as `self` is.
        ready(shared, unsafe {
            call!(shared.api, cuStreamQuery(self.inner.raw))
        })
    }

    /// Makes what is put in from now on wait for what `event` was last recorded behind. An event never recorded is passed.
    ///
    /// # Errors
    /// [`Error::OtherContext`], and what the driver answers.
    pub fn wait(&self, event: &Event) -> Result<()> {
        let shared = &self.inner.shared;
        if !Arc::ptr_eq(shared, &event.shared) {
            return Err(Error::OtherContext {
                call: "Stream::wait",
                what: "the event",
            });
        }
        self.inner.must_run("cuStreamWaitEvent")?;
        let _entered = shared.enter()?;
        // SAFETY: both handles are alive for as long as their objects are.
        unsafe { call!(shared.api, cuStreamWaitEvent(self.inner.raw, event.raw, 0)) }
            .map_err(|e| shared.note(e))
    }

    /// Makes what is put in from now on wait for all that `other` was given so far.
    ///
    /// # Errors
    /// [`Error::OtherContext`], and what the driver answers.
    pub fn wait_for(&self, other: &Stream) -> Result<()> {
        let event = self.context().event_without_timing()?;
        event.record(other)?;
        self.wait(&event)
    }
}

impl StreamInner {
    /// Refuses what only a stream can do that runs, not one that is being captured. The driver would refuse it too, and
    /// end the capture.
    #[inline]
    pub fn must_run(&self, call: &'static str) -> Result<()> {
        match self.capture {
            None => Ok(()),
            Some(_) => Err(Error::Capturing {
                call,
                what: "a stream that is being captured cannot do this",
            }),
        }
    }

    /// Puts a copy or fill of these views in, or into the graph where the stream is being captured.
    pub fn transfer(
        &self,
        views: &[&View<'_>],
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let shared = &self.shared;
        let enqueue = || enqueue().map_err(|e| shared.note(e));
        if let Some(capture) = &self.capture {
            return capture.transfer(self, views, enqueue);
        }
        views.iter().try_for_each(|view| view.use_on(self))?;
        enqueue()
    }
}

/// A new stream that does not wait for the default stream. The context is current.
fn make(shared: &Shared) -> Result<CUstream> {
    let mut raw = CUstream::NULL;
    // SAFETY: the pointer is to a live handle, which the call fills.
    unsafe { call!(shared.api, cuStreamCreate(&mut raw, CU_STREAM_NON_BLOCKING)) }
        .map_err(|e| shared.note(e))?;
    Ok(raw)
}

fn ready(shared: &Shared, result: Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
        Err(error) => Err(shared.note(error)),
    }
}

impl Drop for StreamInner {
    fn drop(&mut self) {
        let shared = &self.shared;
        match shared.enter_anyhow() {
            Ok(_entered) => {
                if self.capture.is_none() {
                    shared.keep_failure(shared.slots.release(&shared.api, self.slot, self.raw));
                }
                if self.owned {
                    // SAFETY: the stream is ours and this was the last reference; the driver finishes its work first.
                    shared.keep_failure(unsafe { call!(shared.api, cuStreamDestroy_v2(self.raw)) });
                }
            }
            Err(error) => shared.keep(error),
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stream").field(&self.inner.raw).finish()
    }
}

/// A mark in a stream: tells when the work before it is over, and the time between two of them.
pub struct Event {
    shared: Arc<Shared>,
    raw: CUevent,
}

impl Context {
    /// A new stream. It does not wait for the default stream, nor the default stream for it (`CU_STREAM_NON_BLOCKING`).
    ///
    /// # Errors
    /// What the driver answers.
    pub fn stream(&self) -> Result<Stream> {
        let shared = &self.shared;
        let _entered = shared.enter()?;
        Ok(Stream::new(shared, make(shared)?, true))
    }

    /// The default stream, which waits for all streams of the context that were not made non-blocking, and they for it.
    ///
    /// # Errors
    /// What waits to be reported.
    pub fn default_stream(&self) -> Result<Stream> {
        let _entered = self.shared.enter()?;
        Ok(Stream::new(&self.shared, CUstream::NULL, false))
    }

    /// A new event that measures time.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn event(&self) -> Result<Event> {
        self.event_with(CU_EVENT_BLOCKING_SYNC)
    }

    /// A new event that only orders; cheaper than one that measures.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn event_without_timing(&self) -> Result<Event> {
        self.event_with(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING)
    }

    fn event_with(&self, flags: u32) -> Result<Event> {
        let shared = &self.shared;
        let _entered = shared.enter()?;
        let mut raw = CUevent::NULL;
        // SAFETY: the pointer is to a live handle, which the call fills.
        unsafe { call!(shared.api, cuEventCreate(&mut raw, flags)) }.map_err(|e| shared.note(e))?;
        Ok(Event {
            shared: shared.clone(),
            raw,
        })
    }
}

impl Event {
    /// Records it in a stream, behind all work put in so far. What it was recorded behind before is forgotten.
    ///
    /// # Errors
    /// [`Error::OtherContext`], and what the driver answers.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        if !Arc::ptr_eq(&self.shared, &stream.inner.shared) {
            return Err(Error::OtherContext {
                call: "Event::record",
                what: "the stream",
            });
        }
        stream.inner.must_run("cuEventRecord")?;
        let _entered = self.shared.enter()?;
        // SAFETY: both handles are alive for as long as their objects are.
        unsafe { call!(self.shared.api, cuEventRecord(self.raw, stream.inner.raw)) }
            .map_err(|e| self.shared.note(e))
    }

    /// Whether the work before it is over; also when it was never recorded.
    ///
    /// # Errors
    /// What failed in the meantime.
    pub fn is_done(&self) -> Result<bool> {
        let _entered = self.shared.enter()?;
        // SAFETY: the event is alive for as long as `self` is.
        ready(&self.shared, unsafe {
            call!(self.shared.api, cuEventQuery(self.raw))
        })
    }

    /// Blocks until the work before it is over.
    ///
    /// # Errors
    /// What failed in the meantime.
    pub fn synchronize(&self) -> Result<()> {
        let _entered = self.shared.enter()?;
        // SAFETY: the event is alive for as long as `self` is.
        unsafe { call!(self.shared.api, cuEventSynchronize(self.raw)) }
            .map_err(|e| self.shared.note(e))
    }

    /// The time between two events that were recorded and are done; half a microsecond is its resolution.
    ///
    /// # Errors
    /// [`Error::OtherContext`]; [`Code::NOT_READY`] where one is not done; [`Code::INVALID_HANDLE`] where one was never
    /// recorded or measures no time.
    pub fn since(&self, start: &Event) -> Result<Duration> {
        if !Arc::ptr_eq(&self.shared, &start.shared) {
            return Err(Error::OtherContext {
                call: "Event::since",
                what: "the start",
            });
        }
        let _entered = self.shared.enter()?;
        let mut milliseconds = 0f32;
        // SAFETY: the pointer is to a live number, which the call fills; both events are alive.
        unsafe {
            call!(
                self.shared.api,
                cuEventElapsedTime(&mut milliseconds, start.raw, self.raw)
            )
        }
        .map_err(|e| self.shared.note(e))?;
        // A driver that answers a negative or infinite time has measured nothing.
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }

    /// The driver's handle.
    pub fn as_raw(&self) -> CUevent {
        self.raw
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        match self.shared.enter_anyhow() {
            Ok(_entered) => {
                // SAFETY: the event is ours; the driver keeps it until work that waits on it is over.
                let destroyed = unsafe { call!(self.shared.api, cuEventDestroy_v2(self.raw)) };
                self.shared.keep_failure(destroyed);
            }
            Err(error) => self.shared.keep(error),
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Event").field(&self.raw).finish()
    }
}
