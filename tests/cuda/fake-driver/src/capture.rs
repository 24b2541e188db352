//! Captures of streams.

use crate::state::{Capture, Kind, State};
use crate::{CAPTURE_INVALIDATED, CAPTURE_UNSUPPORTED, INVALID_VALUE, entry};

impl State {
    /// Adds a node where the stream is being captured; `false` where it runs.
    pub fn captured(&mut self, stream: usize, addresses: &[u64]) -> Result<bool, u32> {
        let Some(capture) = self.captures.get(&stream) else {
            return Ok(false);
        };
        if capture.invalid {
            return Err(CAPTURE_INVALIDATED);
        }
        let (graph, last) = (capture.graph, capture.last);
        let before: Vec<usize> = last.into_iter().collect();
        let node = self.node(graph, addresses.to_vec(), before.as_ptr(), before.len())?;
        if let Some(capture) = self.captures.get_mut(&stream) {
            capture.last = Some(node);
        }
        Ok(true)
    }

    fn show(&mut self, stream: usize) -> (u32, usize, *const usize, usize) {
        match self.captures.get_mut(&stream) {
            None => (0, 0, std::ptr::null(), 0),
            Some(capture) if capture.invalid => (2, 0, std::ptr::null(), 0),
            Some(capture) => {
                *capture.shown = capture.last.unwrap_or(0);
                (
                    1,
                    capture.graph,
                    &*capture.shown,
                    usize::from(capture.last.is_some()),
                )
            }
        }
    }
}

entry! {
    fn cuStreamBeginCapture_v2(stream: usize, mode: u32) |state| {
        state.check_running(stream)?;
        if stream == 0 || mode > 2 {
            return Err(INVALID_VALUE);
        }
        let context = state.context()?;
        let graph = state.add(Kind::Graph, context);
        let capture = Capture { graph, last: None, invalid: false, shown: Box::default() };
        state.captures.insert(stream, capture);
        Ok(())
    }

    fn cuStreamGetCaptureInfo_v2(
        stream: usize, status: *mut u32, id: *mut u64, graph: *mut usize, nodes: *mut *const usize, count: *mut usize,
    ) |state| {
        state.check_stream(stream)?;
        let shown = state.show(stream);
        // SAFETY: the caller passes pointers to a number or handle each.
        unsafe {
            status.write(shown.0);
            id.write(stream as u64);
            graph.write(shown.1);
            nodes.write(shown.2);
            count.write(shown.3);
        }
        Ok(())
    }

    fn cuStreamGetCaptureInfo_v3(
        stream: usize, status: *mut u32, id: *mut u64, graph: *mut usize, nodes: *mut *const usize, _edges: usize,
        count: *mut usize,
    ) |state| {
        state.check_stream(stream)?;
        let shown = state.show(stream);
        // SAFETY: the caller passes pointers to a number or handle each.
        unsafe {
            status.write(shown.0);
            id.write(stream as u64);
            graph.write(shown.1);
            nodes.write(shown.2);
            count.write(shown.3);
        }
        Ok(())
    }
}

// A failing end of a capture ends it all the same, and leaves no graph.
#[unsafe(no_mangle)]
/// See the CUDA driver's documentation.
pub unsafe extern "system" fn cuStreamEndCapture(stream: usize, to: *mut usize) -> u32 {
    let mut guard = crate::state::lock();
    let state = &mut *guard;
    let failure = state.enter("cuStreamEndCapture", &[&stream]);
    let Some(capture) = state.captures.remove(&stream) else {
        state.violation("no capture to end");
        return CAPTURE_UNSUPPORTED;
    };
    let failure = match failure {
        0 if capture.invalid => CAPTURE_INVALIDATED,
        other => other,
    };
    let graph = if failure == 0 {
        capture.graph
    } else {
        state
            .objects
            .retain(|_, object| object.kind != Kind::Node || object.parent != capture.graph);
        state.objects.remove(&capture.graph);
        0
    };
    // SAFETY: the caller passes a pointer to a handle.
    unsafe { to.write(graph) };
    failure
}
