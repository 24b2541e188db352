//! How long the first load of a kernel takes in a new process: through the driver's assembler, through the driver's own
//! cache, and from kernite's cache on disk.
//!
//! ```text
//! cargo run --release -p kernite-cuda-tests --example hot_start
//! ```
//!
//! Each number is the median over processes of their own, which time emission to function, context and driver being
//! there. Without a CUDA driver, or a device, it says so and ends.
#![forbid(unsafe_code)]

use kernite::cuda::cache::Cache;
use kernite::cuda::{Context, Driver, LoadOptions};
use kernite::pipeline::{Config, KernelPipeline, Policy, args};
use kernite_cuda_tests::kernels::{dynamic_shared, saxpy};
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const WORKER: &str = "KERNITE_HOT_START";
const PROCESSES: usize = 15;

type Failure = Box<dyn Error>;

fn context() -> Result<Context, kernite::cuda::Error> {
    Driver::load()?.device(0)?.primary_context()
}

fn main() -> Result<(), Failure> {
    if let Ok(how) = std::env::var(WORKER) {
        return worker(&how);
    }
    if let Err(error) = context() {
        println!("SKIP hot_start: {error}");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let (driver, disk) = (folder.path().join("driver"), folder.path().join("disk"));
    let disk_way = format!("disk:{}", disk.display());
    let off = |command: &mut Command| {
        command.env("CUDA_CACHE_DISABLE", "1");
    };
    let on = |command: &mut Command| {
        command.env("CUDA_CACHE_DISABLE", "0");
        command.env("CUDA_CACHE_PATH", &driver);
    };
    println!("first load in a new process, median of {PROCESSES}: (saxpy, with shared memory)");
    let report = |what: &str, [a, b]: [Duration; 2]| println!("{what:38} {a:>10.1?} {b:>10.1?}");
    let fresh = median("jit", &off)?;
    report("the driver's assembler", fresh);
    // Filled by the first process, used by the others.
    once("jit", &on)?;
    report("the driver's own cache", median("jit", &on)?);
    once(&disk_way, &off)?;
    let hot = median(&disk_way, &off)?;
    report("kernite's cache on disk", hot);
    report(
        "the same through the pipeline, with run",
        median(&format!("pipeline:{}", disk.display()), &off)?,
    );
    if hot[0] >= fresh[0] {
        return Err("the cache on disk is no faster than the assembler".into());
    }
    Ok(())
}

/// Times of the two kernels in one process.
fn once(how: &str, set: &dyn Fn(&mut Command)) -> Result<[Duration; 2], Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(WORKER, how);
    set(&mut command);
    let output = command.output()?;
    let text = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let times = text
        .split_whitespace()
        .map(|n| n.parse().map(Duration::from_nanos));
    let times: Vec<Duration> = times.collect::<Result<_, _>>()?;
    match times[..] {
        [a, b] => Ok([a, b]),
        _ => Err(format!("a worker answered {text:?}").into()),
    }
}

fn median(how: &str, set: &dyn Fn(&mut Command)) -> Result<[Duration; 2], Failure> {
    let times = (0..PROCESSES).map(|_| once(how, set));
    let times: Vec<[Duration; 2]> = times.collect::<Result<_, _>>()?;
    Ok([0, 1].map(|kernel| {
        let mut times: Vec<Duration> = times.iter().map(|pair| pair[kernel]).collect();
        times.sort_unstable();
        times[PROCESSES / 2]
    }))
}

fn worker(how: &str) -> Result<(), Failure> {
    let context = context()?;
    let options = LoadOptions::new();
    let (way, folder) = how.split_once(':').unwrap_or((how, ""));
    // Opened before: a program opens it once.
    let cache = match way {
        "jit" => None,
        _ => Some(Cache::open(Path::new(folder))?),
    };
    let pipeline = cache.clone().map(|cache| {
        let config = Config::default().with_policy(Policy::Cuda);
        KernelPipeline::with_config(config.with_context(context.clone()).with_disk_cache(cache))
    });
    for (kernel, shared) in [(saxpy(), false), (dynamic_shared(), true)] {
        let start = Instant::now();
        match (&pipeline, &cache) {
            (Some(pipeline), _) if way == "pipeline" => {
                let (x, mut y, mut out) = ([1.0f32; 128], [2.0f32; 128], [0u32; 1]);
                if shared {
                    let launch = kernite::pipeline::Launch::new([1, 1, 1]).dynamic_shared(32);
                    pipeline.run(&kernel, launch, &mut args![&mut out, 31u32])?;
                } else {
                    pipeline.run(&kernel, [1, 1, 1], &mut args![1.0f32, &x, &mut y])?;
                }
            }
            (_, Some(cache)) => {
                context.load_kernel_cached(&kernel, &options, cache)?;
            }
            (_, None) => {
                context.load_kernel_checked(&kernel, &options)?;
            }
        }
        print!("{} ", start.elapsed().as_nanos());
    }
    println!();
    Ok(())
}
