//! Vector addition: built, written for two kinds of GPU, run and checked.
//!
//! ```text
//! cargo run --release --example quickstart
//! ```

use kernite::builder::KernelBuilder;
use kernite::kernel::Kernel;
use kernite::reference::{Arg, Executor};
use kernite::types::{Access, Type};
use kernite::verify::VerifyError;
use kernite::{ptx, reference, spirv};
use std::time::Instant;

/// `c[i] = a[i] + b[i]` for `i < n`, one thread for each `i`.
fn vector_add() -> Result<Kernel, VerifyError> {
    let mut k = KernelBuilder::new("vector_add", [256, 1, 1]);
    let a = k.buffer("a", Type::F32, Access::Read);
    let b = k.buffer("b", Type::F32, Access::Read);
    let c = k.buffer("c", Type::F32, Access::Write);
    let n = k.scalar("n", Type::U32);

    let (i, n) = (k.global_id(0), k.param(n));
    let inside = k.lt(i, n);
    k.when(inside, |k| {
        let (x, y) = (k.load(a, i), k.load(b, i));
        let sum = k.add(x, y);
        k.store(c, i, sum);
    });
    // Whatever was wrong above is told here, all of it, each fault with its place.
    k.finish()
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let kernel = vector_add()?;

    // One kernel, two targets. Emitters keep their memory, so they are worth keeping.
    let (mut ptx, ptx_options) = (ptx::Emitter::new(), ptx::Options::default());
    let (mut spirv, spirv_options) = (spirv::Emitter::new(), spirv::Options::default());
    let (mut text, mut words) = (Vec::new(), Vec::new());
    ptx.emit(&kernel, &ptx_options, &mut text)?;
    spirv.emit(&kernel, &spirv_options, &mut words)?;
    println!("{}", std::str::from_utf8(&text)?);

    let ptx_ns = median_ns(|| {
        text.clear();
        ptx.emit(&kernel, &ptx_options, &mut text).is_ok()
    });
    let spirv_ns = median_ns(|| spirv.emit(&kernel, &spirv_options, &mut words).is_ok());
    println!("PTX:    {:5} bytes, emitted in {ptx_ns} ns", text.len());
    println!(
        "SPIR-V: {:5} bytes, emitted in {spirv_ns} ns",
        4 * words.len()
    );

    // The validator trusts nobody, this crate included.
    println!("        {}", spirv::Validator::new().words(&words));

    let n = 100_000u32;
    let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
    let (sums, by) = match on_gpu(&kernel, &a, &b)? {
        Some(sums) => (sums, "the GPU"),
        None => (on_cpu(&kernel, &a, &b)?, "the reference executor"),
    };
    match (0..n).zip(&sums).find(|&(i, &sum)| sum != 1.5 * i as f32) {
        None => println!("OK: {n} sums are right, computed by {by}"),
        Some((i, sum)) => return Err(format!("c[{i}] is {sum}, not {}", 1.5 * i as f32).into()),
    }
    Ok(())
}

/// This crate's reference executor runs on the CPU and defines what every kernel means.
fn on_cpu(kernel: &Kernel, a: &[f32], b: &[f32]) -> Result<Vec<f32>, Failure> {
    let n = a.len() as u32;
    let zeros = vec![0.0f32; a.len()];
    let mut args = [
        Arg::from(a.to_vec()),
        Arg::from(b.to_vec()),
        Arg::from(zeros),
        Arg::from(n),
    ];
    let grid = [n.div_ceil(256), 1, 1];
    Executor::new(reference::Options::default()).run(kernel, grid, &mut args)?;
    Ok(args[2].as_slice::<f32>().ok_or("c holds floats")?.to_vec())
}

/// The CUDA driver, loaded at run time; nothing where there is no driver or no device.
#[cfg(feature = "cuda")]
fn on_gpu(kernel: &Kernel, a: &[f32], b: &[f32]) -> Result<Option<Vec<f32>>, Failure> {
    use kernite::cuda::{Driver, LoadOptions, args};
    let Ok(device) = Driver::load().and_then(|driver| driver.device(0)) else {
        return Ok(None);
    };
    let context = device.primary_context()?;
    let stream = context.stream()?;
    // Emitted with checked bounds, so that the launch is a safe function.
    let add = context.load_kernel_checked(kernel, &LoadOptions::new())?;
    let (a, b) = (context.upload(a)?, context.upload(b)?);
    let mut c = context.upload(&vec![0.0f32; a.len()])?;
    let n = a.len() as u32;
    add.launch(
        &stream,
        &add.config_for(u64::from(n))?,
        &args![&a, &b, &mut c, n],
    )?;
    Ok(Some(c.to_vec()?))
}

#[cfg(not(feature = "cuda"))]
fn on_gpu(_: &Kernel, _: &[f32], _: &[f32]) -> Result<Option<Vec<f32>>, Failure> {
    Ok(None)
}

/// The median time of one call, in nanoseconds, after the first calls have warmed up memory and caches.
fn median_ns(mut work: impl FnMut() -> bool) -> u128 {
    let mut times = [0; 201];
    for time in &mut times {
        let start = Instant::now();
        assert!(
            (0..100).all(|_| work()),
            "it was emitted once, so it is again"
        );
        *time = start.elapsed().as_nanos() / 100;
    }
    times.sort_unstable();
    times[100]
}
