//! Streams and events.

use crate::state::Kind;
use crate::{INVALID_HANDLE, INVALID_VALUE, NOT_READY, entry};

entry! {
    fn cuStreamCreate(to: *mut usize, flags: u32) |state| {
        if flags > 1 {
            return Err(INVALID_VALUE);
        }
        let context = state.context()?;
        let stream = state.add(Kind::Stream, context);
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(stream) };
        Ok(())
    }

    fn cuStreamGetCtx(stream: usize, to: *mut usize) |state| {
        let context = state.objects.get(&stream).map(|object| object.context).ok_or(INVALID_HANDLE)?;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(context) };
        Ok(())
    }

    fn cuStreamSynchronize(stream: usize) |state| {
        state.check_running(stream)?;
        let clock = state.clock(stream).clone();
        state.host.merge(&clock);
        Ok(())
    }

    fn cuStreamQuery(stream: usize) |state| {
        state.check_running(stream)?;
        let last = state.operation(stream);
        let done = crate::clock::Use { count: last.count - 1, ..last };
        if done.count == 0 || state.host.has_seen(done) { Ok(()) } else { Err(NOT_READY) }
    }

    fn cuStreamWaitEvent(stream: usize, event: usize, _flags: u32) |state| {
        state.check_running(stream)?;
        if let Some(recorded) = state.object(event, Kind::Event)?.recorded.clone() {
            state.clock(stream).merge(&recorded);
        }
        Ok(())
    }

    fn cuEventCreate(to: *mut usize, flags: u32) |state| {
        let context = state.context()?;
        let event = state.add(Kind::Event, context);
        state.object(event, Kind::Event)?.timing = flags & 2 == 0;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(event) };
        Ok(())
    }

    fn cuEventRecord(event: usize, stream: usize) |state| {
        state.check_running(stream)?;
        let clock = state.clock(stream).clone();
        state.object(event, Kind::Event)?.recorded = Some(clock);
        Ok(())
    }

    fn cuEventQuery(event: usize) |state| {
        let recorded = state.object(event, Kind::Event)?.recorded.clone().unwrap_or_default();
        if recorded.uses().all(|use_| state.host.has_seen(use_)) { Ok(()) } else { Err(NOT_READY) }
    }

    fn cuEventSynchronize(event: usize) |state| {
        if let Some(recorded) = state.object(event, Kind::Event)?.recorded.clone() {
            state.host.merge(&recorded);
        }
        Ok(())
    }

    fn cuEventElapsedTime(to: *mut f32, start: usize, end: usize) |state| {
        for event in [start, end] {
            let object = state.object(event, Kind::Event)?;
            if !object.timing || object.recorded.is_none() {
                return Err(INVALID_HANDLE);
            }
        }
        // SAFETY: the caller passes a pointer to a number.
        unsafe { to.write(0.5) };
        Ok(())
    }
}

entry! {
    gives back
    fn cuStreamDestroy_v2(stream: usize) |state| {
        if state.captures.remove(&stream).is_some() {
            state.violation("destroyed while it is being captured");
        }
        state.remove(stream, Kind::Stream)
    }

    fn cuEventDestroy_v2(event: usize) |state| {
        state.remove(event, Kind::Event)
    }
}
