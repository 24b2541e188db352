//! One context for two libraries: buffers and stream are the crate `cudarc`'s, the kernel is kernite's.
//!
//! ```text
//! cargo run --release -p kernite-cuda-tests --example share_with_cudarc
//! ```
//!
//! Without a CUDA driver, or a device, it says so and ends.
#![allow(unsafe_code)]

use cudarc::driver::{CudaContext, DevicePtr as _, DevicePtrMut as _};
use kernite::cuda::sys::{CUcontext, CUstream};
use kernite::cuda::{Context, DeviceSlice, DeviceSliceMut, Driver, LoadOptions, Stream, args};
use kernite_cuda_tests::kernels::saxpy;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    // Asked first: where there is no driver, cudarc panics.
    let driver = match Driver::load() {
        Ok(driver) if driver.device_count()? > 0 => driver,
        Ok(_) => {
            println!("SKIP share_with_cudarc: no device");
            return Ok(());
        }
        Err(error) => {
            println!("SKIP share_with_cudarc: {error}");
            return Ok(());
        }
    };

    // cudarc's, as a program has it that uses cudarc alone.
    let theirs = CudaContext::new(0)?;
    let stream = theirs.new_stream()?;
    let n = 1 << 20;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let y: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
    let device_x = stream.clone_htod(&x)?;
    let mut device_y = stream.clone_htod(&y)?;

    // SAFETY: cudarc's context, which outlives this: it was made before, and so is dropped after.
    let context = unsafe { Context::from_raw(&driver, CUcontext(theirs.cu_ctx().cast()))? };
    // SAFETY: a stream of that context, which outlives this as well, and which nobody captures.
    let adopted = unsafe { Stream::from_raw(&context, CUstream(stream.cu_stream().cast()))? };
    let function = context.load_kernel_checked(&saxpy(), &LoadOptions::new())?;

    {
        // cudarc makes its stream wait for what used the buffers before, and notes this use when these end.
        let (x_at, _x) = device_x.device_ptr(&stream);
        let (y_at, _y) = device_y.device_ptr_mut(&stream);
        // SAFETY: cudarc frees the buffers in the order of the stream that the kernel runs in, so behind it.
        let given_x = unsafe { DeviceSlice::<f32>::from_raw(&context, x_at, n)? };
        // SAFETY: as above.
        let given_y = unsafe { DeviceSliceMut::<f32>::from_raw(&context, y_at, n)? };
        let config = function.config_for(n as u64)?;
        function.launch(&adopted, &config, &args![2.5f32, given_x, given_y])?;
    }

    let result = stream.clone_dtoh(&device_y)?;
    let wrong = (0..n).find(|&i| result[i].to_bits() != (2.5 * x[i] + y[i]).to_bits());
    if let Some(i) = wrong {
        return Err(format!("element {i} is {}, not {}", result[i], 2.5 * x[i] + y[i]).into());
    }
    println!(
        "OK: {n} elements of cudarc's buffers are right, computed by kernite's kernel in cudarc's stream"
    );
    Ok(())
}
