//! Vector addition: built, written for two kinds of GPU, run and checked.
//!
//! ```text
//! cargo run --release --example quickstart
//! ```

use kernite::builder::KernelBuilder;
use kernite::kernel::Kernel;
use kernite::pipeline::{KernelPipeline, Policy, args};
use kernite::types::{Access, Type};
use kernite::verify::VerifyError;
use kernite::{ptx, spirv};
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
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

    // Runs on the GPU where there is a CUDA driver, on the reference executor otherwise.
    let n = 100_000u32;
    let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
    let mut sums = vec![0.0f32; a.len()];
    let pipeline = KernelPipeline::new(Policy::default());
    let report = pipeline.run(
        &kernel,
        [n.div_ceil(256), 1, 1],
        &mut args![&a, &b, &mut sums, n],
    )?;
    println!("Ran on {report}");
    match (0..n).zip(&sums).find(|&(i, &sum)| sum != 1.5 * i as f32) {
        None => println!("OK: {n} sums are right, computed by {}", report.executor),
        Some((i, sum)) => return Err(format!("c[{i}] is {sum}, not {}", 1.5 * i as f32).into()),
    }
    Ok(())
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
