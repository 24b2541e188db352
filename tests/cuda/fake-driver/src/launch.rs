//! Launches.

use crate::state::{FAST, Kind, State, lock};
use crate::{INVALID_VALUE, entry};
use std::ffi::c_void;
use std::sync::atomic::Ordering;

impl State {
    /// Reads the arguments of a launch: their bytes, and the addresses among them.
    pub unsafe fn arguments(
        &mut self,
        params: &[(usize, usize)],
        values: *mut *mut c_void,
    ) -> Vec<u64> {
        let mut addresses = Vec::new();
        let mut texts = Vec::new();
        for (index, &(_, size)) in params.iter().enumerate() {
            // SAFETY: the caller passes a pointer for each parameter.
            let pointer = unsafe { values.add(index).read() }.cast::<u8>();
            if !pointer.addr().is_multiple_of(size) {
                self.violation(format!("argument {index} is not aligned to {size}"));
            }
            let mut bytes = [0u8; 8];
            // SAFETY: each points to a value of the parameter's size.
            unsafe { std::ptr::copy_nonoverlapping(pointer, bytes.as_mut_ptr(), size.min(8)) };
            let value = u64::from_le_bytes(bytes);
            texts.push(format!("{value:#x}"));
            if size == 8 && self.find(value).is_some() {
                addresses.push(value);
            }
        }
        self.log.push(format!("arguments {}", texts.join(" ")));
        addresses
    }

    /// Notes a launch.
    pub fn run(&mut self, module: usize, stream: usize, addresses: &[u64]) -> Result<(), u32> {
        let operation = self.operation(stream);
        self.object(module, Kind::Module)?.uses.push(operation);
        addresses
            .iter()
            .try_for_each(|&address| self.touch(address, 1, stream, operation))
    }
}

/// See the CUDA driver's documentation. Not through `entry!`, since its cost counts where launches are measured.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuLaunchKernel(
    function: usize,
    gx: u32,
    gy: u32,
    gz: u32,
    bx: u32,
    by: u32,
    bz: u32,
    shared: u32,
    stream: usize,
    values: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> u32 {
    if FAST.load(Ordering::Relaxed) {
        return 0;
    }
    let mut guard = lock();
    let state = &mut *guard;
    let failure = state.enter(
        "cuLaunchKernel",
        &[&function, &[gx, gy, gz], &[bx, by, bz], &shared, &stream],
    );
    if failure != 0 {
        return failure;
    }
    let mut launch = || -> Result<(), u32> {
        state.check_stream(stream)?;
        let (entry, module) = state.entry_of(function)?;
        if [gx, gy, gz, bx, by, bz].contains(&0) {
            return Err(INVALID_VALUE);
        }
        let allowed = state.setting("function.set.8").unwrap_or(0).max(49152);
        let fixed = state.setting("function.1").unwrap_or(0);
        if i64::from(shared) + fixed > allowed + fixed.min(allowed) || i64::from(shared) > allowed {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller passes a pointer for each parameter.
        let addresses = unsafe { state.arguments(&entry.params, values) };
        if state.captured(stream, &addresses)? {
            return Ok(());
        }
        state.run(module, stream, &addresses)
    };
    launch().err().unwrap_or(0)
}

entry! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(to: *mut i32, function: usize, threads: i32, _shared: usize) |state| {
        state.object(function, Kind::Function)?;
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { to.write(2048 / threads.max(1)) };
        Ok(())
    }

    fn cuOccupancyMaxPotentialBlockSize(
        blocks: *mut i32, threads: *mut i32, function: usize, _size: *const c_void, _shared: usize, _limit: i32,
    ) |state| {
        state.object(function, Kind::Function)?;
        // SAFETY: the caller passes pointers to integers.
        unsafe {
            blocks.write(264);
            threads.write(512);
        }
        Ok(())
    }
}
