//! Memory and copies.

use crate::INVALID_VALUE;
use crate::clock::Use;
use crate::entry;
use crate::state::{Kind, Memory, State};
use std::ffi::c_void;

impl State {
    fn allocate(&mut self, len: usize, host: bool, allocated: Option<Use>) -> Result<u64, u32> {
        let context = self.context()?;
        if len == 0 || len > 1 << 32 {
            return Err(if len == 0 { INVALID_VALUE } else { 2 });
        }
        // Filled, so that a test sees what was never written. Never given back to the host: an address is used once.
        let bytes = vec![u128::from_ne_bytes([0xCD; 16]); len.div_ceil(16)];
        let address = bytes.as_ptr() as u64;
        let uses = allocated.into_iter().collect();
        self.memory.insert(
            address,
            Memory {
                bytes,
                len,
                context,
                host,
                freed: false,
                uses,
                allocated,
            },
        );
        Ok(address)
    }

    /// Frees what begins at the address, whose uses must all be over as `seen` says.
    fn free(&mut self, address: u64, host: bool, stream: Option<usize>) -> Result<(), u32> {
        let context = self.context()?;
        let seen = match stream {
            Some(stream) => self.clock(stream).clone(),
            None => self.host.clone(),
        };
        let Some(memory) = self.memory.get_mut(&address) else {
            self.violation(format!("free of {address:#x}, which is no memory"));
            return Err(INVALID_VALUE);
        };
        // In a lost context nothing runs any more.
        let running = self.sticky == 0 && memory.uses.iter().any(|&u| !seen.has_seen(u));
        let (freed, wrong) = (
            memory.freed,
            memory.context != context || memory.host != host,
        );
        memory.freed = true;
        memory.bytes.fill(u128::from_ne_bytes([0xDD; 16]));
        if running {
            self.violation(format!("{address:#x} freed while it is in use"));
        }
        if freed {
            self.violation(format!("double free of {address:#x}"));
        }
        if wrong {
            self.violation(format!(
                "{address:#x} freed in the wrong context or by the wrong call"
            ));
        }
        Ok(())
    }

    /// Notes an access of the host, which must come after all uses.
    fn touch_from_host(&mut self, address: u64, len: usize) -> Result<(), u32> {
        let operation = self.operation(0);
        // A copy on the default stream; the default stream sees what the host has seen.
        let host = self.host.clone();
        self.clock(0).merge(&host);
        self.touch(address, len, 0, operation)?;
        let running = self.find(address).is_some_and(|(_, memory)| {
            memory
                .uses
                .iter()
                .any(|&u| u.stream != 0 && !host.has_seen(u))
        });
        if running {
            self.violation(format!("the host copies {address:#x} while it is in use"));
        }
        Ok(())
    }

    /// Notes that a stream copies from or to memory of the host, where that is pinned.
    fn touch_host_memory(&mut self, address: u64, operation: Use) {
        if let Some((start, memory)) = self.find(address) {
            memory.uses.push(operation);
            if memory.freed {
                self.violation(format!("use after free of pinned {start:#x}"));
            }
        }
    }
}

entry! {
    fn cuMemAlloc_v2(to: *mut u64, len: usize) |state| {
        let address = state.allocate(len, false, None)?;
        // SAFETY: the caller passes a pointer to an address.
        unsafe { to.write(address) };
        Ok(())
    }

    fn cuMemAllocManaged(to: *mut u64, len: usize, flags: u32) |state| {
        let address = if flags == 1 { state.allocate(len, false, None)? } else { return Err(INVALID_VALUE) };
        // SAFETY: the caller passes a pointer to an address.
        unsafe { to.write(address) };
        Ok(())
    }

    fn cuMemHostAlloc(to: *mut *mut c_void, len: usize, _flags: u32) |state| {
        let address = state.allocate(len, true, None)?;
        // SAFETY: the caller passes a pointer to a pointer.
        unsafe { to.write(address as *mut c_void) };
        Ok(())
    }

    fn cuMemAllocAsync(to: *mut u64, len: usize, stream: usize) |state| {
        state.check_running(stream)?;
        let operation = state.operation(stream);
        let address = state.allocate(len, false, Some(operation))?;
        // SAFETY: the caller passes a pointer to an address.
        unsafe { to.write(address) };
        Ok(())
    }

    fn cuMemAllocFromPoolAsync(to: *mut u64, len: usize, pool: usize, stream: usize) |state| {
        state.check_running(stream)?;
        state.object(pool, Kind::Pool)?;
        let operation = state.operation(stream);
        let address = state.allocate(len, false, Some(operation))?;
        // SAFETY: the caller passes a pointer to an address.
        unsafe { to.write(address) };
        Ok(())
    }

    fn cuMemPoolCreate(to: *mut usize, props: *const u32) |state| {
        let context = state.context()?;
        // SAFETY: the caller passes a pointer to properties, which begin with four numbers.
        let (kind, location) = unsafe { (props.read(), props.add(2).read()) };
        if (kind, location) != (1, 1) {
            return Err(INVALID_VALUE);
        }
        let pool = state.add(Kind::Pool, context);
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(pool) };
        Ok(())
    }

    fn cuMemPoolSetAttribute(pool: usize, which: u32, value: *mut u64) |state| {
        state.object(pool, Kind::Pool)?;
        // SAFETY: the caller passes a pointer to a 64-bit number for this attribute.
        let value = unsafe { value.read() };
        if which != 4 {
            return Err(INVALID_VALUE);
        }
        state.settings.insert("threshold".into(), value as i64);
        Ok(())
    }

    fn cuMemPoolTrimTo(pool: usize, _keep: usize) |state| {
        state.object(pool, Kind::Pool).map(|_| ())
    }

    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, len: usize) |state| {
        state.context()?;
        state.touch_from_host(to, len)?;
        // SAFETY: `to` is `len` bytes of our memory, as checked; the caller passes as many.
        unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to as *mut u8, len) };
        Ok(())
    }

    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, len: usize) |state| {
        state.context()?;
        state.touch_from_host(from, len)?;
        // SAFETY: `from` is `len` bytes of our memory, as checked; the caller passes as many.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to.cast::<u8>(), len) };
        let clock = state.clock(0).clone();
        state.host.merge(&clock);
        Ok(())
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, len: usize, stream: usize) |state| {
        state.check_running(stream)?;
        let operation = state.operation(stream);
        state.touch(to, len, stream, operation)?;
        state.touch_host_memory(from as u64, operation);
        // SAFETY: as in `cuMemcpyHtoD_v2`. Done at once: the caller may not change the source before it has waited.
        unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to as *mut u8, len) };
        Ok(())
    }

    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, len: usize, stream: usize) |state| {
        state.check_running(stream)?;
        let operation = state.operation(stream);
        state.touch(from, len, stream, operation)?;
        state.touch_host_memory(to as u64, operation);
        // SAFETY: as in `cuMemcpyDtoH_v2`.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to.cast::<u8>(), len) };
        Ok(())
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, len: usize, stream: usize) |state| {
        state.check_stream(stream)?;
        if state.captured(stream, &[from, to])? {
            return Ok(());
        }
        let operation = state.operation(stream);
        state.touch(from, len, stream, operation)?;
        state.touch(to, len, stream, operation)?;
        // SAFETY: both are `len` bytes of our memory, as checked.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, len) };
        Ok(())
    }

    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: usize) |state| {
        fill(state, to, &value.to_ne_bytes(), count, stream)
    }

    fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: usize) |state| {
        fill(state, to, &value.to_ne_bytes(), count, stream)
    }

    fn cuMemsetD32Async(to: u64, value: u32, count: usize, stream: usize) |state| {
        fill(state, to, &value.to_ne_bytes(), count, stream)
    }
}

fn fill(state: &mut State, to: u64, word: &[u8], count: usize, stream: usize) -> Result<(), u32> {
    state.check_stream(stream)?;
    if state.captured(stream, &[to])? {
        return Ok(());
    }
    let operation = state.operation(stream);
    let len = count * word.len();
    state.touch(to, len, stream, operation)?;
    // SAFETY: `to` is `len` bytes of our memory, as checked.
    let bytes = unsafe { std::slice::from_raw_parts_mut(to as *mut u8, len) };
    bytes
        .chunks_mut(word.len())
        .for_each(|chunk| chunk.copy_from_slice(word));
    Ok(())
}

entry! {
    gives back
    fn cuMemFree_v2(address: u64) |state| {
        state.free(address, false, None)
    }

    fn cuMemFreeHost(address: *mut c_void) |state| {
        state.free(address as u64, true, None)
    }

    fn cuMemFreeAsync(address: u64, stream: usize) |state| {
        state.check_running(stream)?;
        state.free(address, false, Some(stream))
    }

    fn cuMemPoolDestroy(pool: usize) |state| {
        state.remove(pool, Kind::Pool)
    }
}
