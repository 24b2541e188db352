//! Initialisation, devices, contexts.

use crate::state::{CURRENT, FAST, Kind};
use crate::{INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, entry};
use std::sync::atomic::Ordering;

const DEVICES: i32 = 2;

/// The attributes of an imaginary device of compute capability 9.0.
fn attribute(which: i32) -> i32 {
    match which {
        1..=3 | 39 => 1024,
        4 => 64,
        5 => i32::MAX,
        6 | 7 => 65535,
        8 => 49152,
        10 => 32,
        12 => 65536,
        16 => 132,
        75 => 9,
        83 | 89 | 115 => 1,
        97 => 232_448,
        _ => 0,
    }
}

fn device(number: i32) -> Result<(), u32> {
    if (0..DEVICES).contains(&number) {
        Ok(())
    } else {
        Err(INVALID_DEVICE)
    }
}

entry! {
    fn cuInit(flags: u32) |_state| {
        if flags == 0 { Ok(()) } else { Err(INVALID_VALUE) }
    }

    fn cuDriverGetVersion(version: *mut i32) |state| {
        let value = state.setting("driver_version").unwrap_or(13_000) as i32;
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { version.write(value) };
        Ok(())
    }

    fn cuDeviceGetCount(count: *mut i32) |state| {
        let value = state.setting("devices").unwrap_or(i64::from(DEVICES)) as i32;
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { count.write(value) };
        Ok(())
    }

    fn cuDeviceGet(to: *mut i32, ordinal: i32) |_state| {
        device(ordinal)?;
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { to.write(ordinal) };
        Ok(())
    }

    fn cuDeviceGetName(to: *mut u8, room: i32, number: i32) |_state| {
        device(number)?;
        let name = b"Fake GPU\0";
        if (room as usize) < name.len() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller passes a buffer of `room` bytes.
        unsafe { std::ptr::copy_nonoverlapping(name.as_ptr(), to, name.len()) };
        Ok(())
    }

    fn cuDeviceGetUuid_v2(to: *mut [u8; 16], number: i32) |_state| {
        device(number)?;
        // SAFETY: the caller passes a pointer to 16 bytes.
        unsafe { to.write([number as u8; 16]) };
        Ok(())
    }

    fn cuDeviceTotalMem_v2(bytes: *mut usize, number: i32) |_state| {
        device(number)?;
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { bytes.write(1 << 34) };
        Ok(())
    }

    fn cuDeviceGetAttribute(to: *mut i32, which: i32, number: i32) |state| {
        device(number)?;
        let value = state.setting(&format!("device.{which}"));
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { to.write(value.map_or(attribute(which), |v| v as i32)) };
        Ok(())
    }

    fn cuDevicePrimaryCtxRetain(to: *mut usize, number: i32) |state| {
        device(number)?;
        let context = match state.primaries.get(&number) {
            Some(&(context, _)) => context,
            None => {
                let context = state.add(Kind::Context, 0);
                state.settings.insert(format!("context.{context}"), i64::from(number));
                state.primaries.insert(number, (context, 0));
                context
            }
        };
        state.primaries.entry(number).and_modify(|(_, count)| *count += 1);
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(context) };
        Ok(())
    }

    fn cuCtxPushCurrent_v2(context: usize) |state| {
        let known = state.objects.get(&context).is_some_and(|object| object.kind == Kind::Context);
        if !known {
            state.violation("no such context");
            return Err(INVALID_CONTEXT);
        }
        CURRENT.with_borrow_mut(|stack| stack.push(context));
        Ok(())
    }

    fn cuCtxGetDevice(to: *mut i32) |state| {
        let context = state.context()?;
        let number = state.setting(&format!("context.{context}")).unwrap_or(0) as i32;
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { to.write(number) };
        Ok(())
    }

    fn cuCtxSynchronize() |state| {
        let context = state.context()?;
        if !state.captures.is_empty() {
            state.captures.values_mut().for_each(|capture| capture.invalid = true);
            state.violation("not while a stream is being captured");
            return Err(crate::CAPTURE_UNSUPPORTED);
        }
        let streams = state.objects.iter().filter(|(_, o)| o.kind == Kind::Stream && o.context != context);
        let others: Vec<usize> = streams.map(|(&handle, _)| handle).collect();
        let clocks: Vec<_> = state.clocks.iter().filter(|(s, _)| !others.contains(s)).map(|(_, c)| c.clone()).collect();
        for clock in clocks {
            state.host.merge(&clock);
        }
        Ok(())
    }

    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) |state| {
        state.context()?;
        // SAFETY: the caller passes pointers to integers.
        unsafe {
            free.write(1 << 33);
            total.write(1 << 34);
        }
        Ok(())
    }
}

entry! {
    gives back
    fn cuDevicePrimaryCtxRelease_v2(number: i32) |state| {
        match state.primaries.get_mut(&number) {
            Some((_, count)) if *count > 0 => {
                *count -= 1;
                Ok(())
            }
            _ => {
                state.violation("released more often than retained");
                Err(INVALID_CONTEXT)
            }
        }
    }

    fn cuCtxPopCurrent_v2(to: *mut usize) |state| {
        match CURRENT.with_borrow_mut(Vec::pop) {
            Some(context) => {
                // SAFETY: the caller passes a pointer to a handle.
                unsafe { to.write(context) };
                Ok(())
            }
            None => {
                state.violation("nothing to pop");
                Err(INVALID_CONTEXT)
            }
        }
    }
}

/// See the CUDA driver's documentation. Not through `entry!`, since its cost counts where launches are measured.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuCtxGetCurrent(to: *mut usize) -> u32 {
    let current = CURRENT.with_borrow(|stack| stack.last().copied().unwrap_or(0));
    // SAFETY: the caller passes a pointer to a handle.
    unsafe { to.write(current) };
    if FAST.load(Ordering::Relaxed) {
        return 0;
    }
    crate::state::lock().enter("cuCtxGetCurrent", &[])
}
