//! `y = a * x + y` on an NVIDIA GPU: built, loaded, launched, checked and timed.
//!
//! ```text
//! cargo run --release --example cuda_saxpy -- [ELEMENTS]
//! ```
//!
//! Without a CUDA driver it says so and ends.

use kernite::cuda::{Driver, LoadOptions, args};
use kernite::verify::VerifyError;
use kernite::{Access, Kernel, KernelBuilder, Type};
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// One thread an element.
fn saxpy() -> Result<Kernel, VerifyError> {
    let mut b = KernelBuilder::new("saxpy", [256, 1, 1]);
    let a = b.scalar("a", Type::F32);
    let x = b.buffer("x", Type::F32, Access::Read);
    let y = b.buffer("y", Type::F32, Access::ReadWrite);
    // The length of `y` comes with the buffer: the launch passes it.
    let (i, n) = (b.global_id(0), b.array_length(y));
    let inside = b.lt(i, n);
    b.when(inside, |b| {
        let (a, x, old) = (b.param(a), b.load(x, i), b.load(y, i));
        let sum = b.mul_add(a, x, old);
        b.store(y, i, sum);
    });
    b.finish()
}

fn main() -> ExitCode {
    let n = match std::env::args().nth(1).map(|text| text.parse::<usize>()) {
        None => 1 << 24,
        Some(Ok(n)) => n,
        Some(Err(error)) => {
            eprintln!("error: ELEMENTS: {error}\n\nUsage: cuda_saxpy [ELEMENTS]");
            return ExitCode::from(2);
        }
    };
    match run(n) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(n: usize) -> Result<(), Box<dyn Error>> {
    let driver = match Driver::load() {
        Ok(driver) if driver.device_count()? > 0 => driver,
        Ok(_) => {
            println!("no GPU, nothing to run on");
            return Ok(());
        }
        Err(error) => {
            println!("no GPU, nothing to run on: {error}");
            return Ok(());
        }
    };
    let device = driver.device(0)?;
    let context = device.primary_context()?;
    let stream = context.stream()?;
    println!("{}, CUDA {}", device.name()?, driver.version());

    let kernel = saxpy()?;
    let start = Instant::now();
    // With checked bounds, so that the launch is a safe function.
    let saxpy = context.load_kernel_checked(&kernel, &LoadOptions::new())?;
    println!(
        "emitted for {} and loaded in {:.1?}",
        context.ptx_options().target,
        start.elapsed()
    );

    let a = 2.5f32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let y: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
    let device_x = context.upload(&x)?;
    let mut device_y = context.upload(&y)?;
    let config = saxpy.config_for(n as u64)?;

    saxpy.launch(&stream, &config, &args![a, &device_x, &mut device_y])?;
    let result = device_y.to_vec()?;
    // Two roundings, here as there: the results are the same to the last bit.
    let wrong = (0..n).find(|&i| result[i].to_bits() != (a * x[i] + y[i]).to_bits());
    if let Some(i) = wrong {
        return Err(format!("element {i} is {}, not {}", result[i], a * x[i] + y[i]).into());
    }
    println!("OK: {n} elements are right");

    const LAUNCHES: u32 = 200;
    let (before, after) = (context.event()?, context.event()?);
    let bound = context.bind()?;
    before.record(&stream)?;
    let start = Instant::now();
    for _ in 0..LAUNCHES {
        saxpy.launch(&stream, &config, &args![a, &device_x, &mut device_y])?;
    }
    let enqueued = start.elapsed();
    after.record(&stream)?;
    after.synchronize()?;
    drop(bound);
    let each: Duration = after.since(&before)? / LAUNCHES;
    let gigabytes = (3 * size_of::<f32>() * n) as f64 / 1e9;
    println!(
        "{each:.1?} a launch, {:.0} GB/s; enqueued in {:.2?} each",
        gigabytes / each.as_secs_f64().max(1e-9),
        enqueued / LAUNCHES
    );
    Ok(())
}
