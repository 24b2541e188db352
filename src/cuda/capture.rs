//! Capture: what is put into a stream becomes a graph instead of running.

use super::function::Function;
use super::graph::{self, Graph, GraphBuilder, Step};
use super::launch::Arg;
use super::memory::{Allocation, View};
use super::result::{Error, Result, call};
use super::shared::{Shared, lock};
use super::stream::{Stream, StreamInner};
use super::sys::{
    CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_STATUS_ACTIVE, CUgraph, CUgraphNode, CUstream,
};
use core::ffi::c_uint;
use std::sync::{Arc, Mutex};

/// What was captured so far; `None` once the capture is over.
#[derive(Default)]
pub(crate) struct Capture(Mutex<Option<Vec<Step>>>);

impl Stream {
    /// Runs `work` on a stream that records instead of running: launches ([`Function::launch`]), copies ([`Stream::copy`])
    /// and fills ([`Stream::fill`]) that it puts in, in order, become the steps of a graph. So code that was written for
    /// a stream can be captured as it is.
    ///
    /// The stream that `work` is given is a new one of the same context, which nobody else knows: what other threads put
    /// into this stream meanwhile is not captured, and runs. It never runs anything, and what would have to wait for it
    /// is refused with [`Error::Capturing`] (`CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED`, 900): synchronising, asking whether it
    /// is idle, events, allocation in its order, pinned memory, launching another graph. Copies of it that outlive `work`
    /// refuse everything. Where `work` fails or panics the capture ends and nothing is left of it.
    ///
    /// The graph keeps the memory of the buffers that were used, and the functions. Arguments of its launches
    /// ([`Graph::launches`]) can be exchanged ([`Graph::set_launch`]). What other libraries put in by the raw handle
    /// is captured too; its memory is its own affair.
    ///
    /// While any stream is being captured, the driver lets nobody wait for the whole context:
    /// [`super::Context::synchronize`] is refused too.
    ///
    /// # Errors
    /// Those of `work`; [`LaunchError::ManagedInGraph`](super::LaunchError::ManagedInGraph) and [`Error::Unsupported`] for what a graph cannot hold;
    /// `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED` (901) where somebody else ended the capture by force; what the driver answers.
    ///
    /// ```no_run
    /// use kernite::cuda::{Function, LaunchConfig, Stream, args};
    /// # fn step(stream: &Stream, function: &Function, config: &LaunchConfig) -> kernite::cuda::Result<()> {
    /// let mut data = stream.context().upload(&[1.0f32; 1024])?;
    /// let mut graph = stream.capture(|stream| {
    ///     stream.fill(&mut data, 0.0f32)?;
    ///     for _ in 0..10 {
    ///         function.launch(stream, config, &args![&mut data])?;
    ///     }
    ///     Ok(())
    /// })?;
    /// graph.launch(stream)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn capture(&self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<Graph> {
        let stream = Stream::capturing(&self.inner.shared)?;
        let capture = Ending(&stream);
        work(&stream)?;
        capture.end()?.instantiate()
    }
}

/// Ends a capture, whatever happens.
struct Ending<'a>(&'a Stream);

impl Ending<'_> {
    fn end(self) -> Result<GraphBuilder> {
        let stream = self.0;
        core::mem::forget(self);
        finish(&stream.inner)
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        // The work's own error, or its panic, is what the caller hears of.
        drop(finish(&self.0.inner));
    }
}

/// Begins a capture on a stream that nobody else knows.
pub(super) fn begin(shared: &Shared, raw: CUstream) -> Result<()> {
    // SAFETY: the stream was just made and is not captured. In this mode no call of this thread or another is forbidden
    // but those that touch the stream itself or wait for the whole context.
    unsafe {
        call!(
            shared.api,
            cuStreamBeginCapture_v2(raw, CU_STREAM_CAPTURE_MODE_RELAXED)
        )
    }
    .map_err(|e| shared.note(e))
}

fn finish(stream: &StreamInner) -> Result<GraphBuilder> {
    let shared = &stream.shared;
    // From here on nobody puts anything in.
    let capture = stream.capture.as_ref();
    let steps = capture.and_then(|capture| lock(&capture.0).take());
    let mut graph = CUgraph::NULL;
    let ended = shared.enter_anyhow().and_then(|_entered| {
        // SAFETY: the stream is alive and was being captured; the pointer is to a live handle, which the call fills, with
        // null where the capture had failed.
        unsafe { call!(shared.api, cuStreamEndCapture(stream.raw, &mut graph)) }
    });
    shared.slots.end_capture();
    let graph = (graph != CUgraph::NULL)
        .then(|| GraphBuilder::captured(shared, graph, steps.unwrap_or_default()));
    ended.map_err(|e| shared.note(e))?;
    graph.ok_or(Error::Unsupported("the driver captured no graph"))
}

impl Capture {
    /// A capture that has begun.
    pub fn begun() -> Capture {
        Capture(Mutex::new(Some(Vec::new())))
    }

    /// Adds a launch, which `enqueue` puts into the stream.
    pub fn launch(
        &self,
        stream: &StreamInner,
        function: &Function,
        args: &[Arg<'_>],
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let memory = graph::kept(args)?;
        self.add(stream, enqueue, Some(function.clone()), memory)
    }

    /// Adds a copy or a fill.
    pub fn transfer(
        &self,
        stream: &StreamInner,
        views: &[&View<'_>],
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut memory = Vec::new();
        for owner in views.iter().filter_map(|view| view.owner) {
            if owner.host_visible() {
                return Err(Error::Unsupported(
                    "a graph holds no managed memory: its launches could race with the host",
                ));
            }
            memory.push(owner.clone());
        }
        self.add(stream, enqueue, None, memory)
    }

    fn add(
        &self,
        stream: &StreamInner,
        enqueue: impl FnOnce() -> Result<()>,
        function: Option<Function>,
        memory: Vec<Arc<Allocation>>,
    ) -> Result<()> {
        // Under the lock, so that steps are in the order of the stream, and none comes once the capture is over.
        let mut steps = lock(&self.0);
        let Some(steps) = steps.as_mut() else {
            return Err(Error::Capturing {
                call: "Stream::capture",
                what: "the capture of the stream is over",
            });
        };
        let _entered = stream.shared.enter()?;
        // What is in the graph has its memory kept even where the next call fails: the graph is not launched then, but it
        // is the driver's to look at until it is destroyed.
        let launches = function.is_some();
        steps.push(Step {
            node: None,
            function,
            memory,
        });
        enqueue()?;
        if launches {
            let node = last_node(&stream.shared, stream.raw)?;
            if let Some(step) = steps.last_mut() {
                step.node = Some(node);
            }
        }
        Ok(())
    }
}

/// The node that the next one put into the stream will come behind: the one that was put in last.
fn last_node(shared: &Shared, stream: CUstream) -> Result<CUgraphNode> {
    let (mut status, mut id, mut graph): (c_uint, u64, CUgraph) = (0, 0, CUgraph::NULL);
    let (mut nodes, mut count): (*const CUgraphNode, usize) = (core::ptr::null(), 0);
    let symbols = &shared.api.symbols;
    let asked = if symbols.cuStreamGetCaptureInfo_v2.is_some() {
        // SAFETY: the stream is alive; the pointers are to live numbers and handles, which the call fills.
        unsafe {
            call!(
                shared.api,
                cuStreamGetCaptureInfo_v2(
                    stream,
                    &mut status,
                    &mut id,
                    &mut graph,
                    &mut nodes,
                    &mut count
                )
            )
        }
    } else {
        // SAFETY: as above; what lies between two nodes is not asked for.
        unsafe {
            call!(
                shared.api,
                cuStreamGetCaptureInfo_v3(
                    stream,
                    &mut status,
                    &mut id,
                    &mut graph,
                    &mut nodes,
                    core::ptr::null_mut(),
                    &mut count
                )
            )
        }
    };
    asked.map_err(|e| shared.note(e))?;
    if status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1 || nodes.is_null() {
        return Err(Error::driver(
            "cuStreamGetCaptureInfo_v2",
            super::Code::STREAM_CAPTURE_INVALIDATED,
        ));
    }
    // SAFETY: the driver gave `count` nodes, which stay until the stream is given more.
    Ok(unsafe { nodes.read() })
}
