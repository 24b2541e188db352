//! The example and the random kernels on an NVIDIA GPU through the CUDA driver, against the reference executor.
//! `KERNITE_SEEDS=N` takes N random ones.

use kernite::cuda::Error;
use kernite_suite::differential::{case, seeds};
use kernite_suite::generate::Config;
use kernite_suite::gpu::context;
use kernite_suite::kernels;
use kernite_suite::launches::launch;
use kernite_suite::run::Case;
use kernite_suite::shrink;

fn check(
    case: &Case,
    what: &str,
    device: &(kernite::cuda::Context, kernite::cuda::Stream),
) -> Result<(), String> {
    let expected = case.reference(32).map_err(|e| format!("{what}: {e}"))?;
    let got = case
        .cuda(device)
        .map_err(|e: Error| format!("{what}: {e}"))?;
    match case.difference(&expected, &got) {
        Some((buffer, difference)) => Err(format!(
            "{what}: buf{buffer}: {difference}\n{}",
            case.kernel
        )),
        None => Ok(()),
    }
}

#[test]
fn the_gpu_runs_the_examples_as_the_reference_does() {
    let Some(device) = context() else { return };
    for (name, _) in kernels::ALL {
        for seed in 0..3 {
            check(&launch(name, seed), name, device).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    println!("NOTE {} kernels, 3 launches each", kernels::ALL.len());
}

#[test]
fn the_gpu_runs_random_kernels_as_the_reference_does() {
    let Some(device) = context() else { return };
    let mut faults = Vec::new();
    let n = seeds(100);
    for seed in 0..n {
        // Every fourth with accesses out of bounds, which the safe launch keeps from harm anyway.
        let config = Config {
            wild: seed % 4 == 3,
            ..Config::default()
        };
        let case = case("k", &shrink::decisions(seed), config).unwrap();
        faults.extend(check(&case, &format!("seed {seed}"), device).err());
    }
    println!("NOTE {n} random kernels");
    if let Some(first) = faults.first() {
        let all: Vec<_> = faults.iter().filter_map(|f| f.lines().next()).collect();
        panic!("{} of {n}:\n{}\n{first}", faults.len(), all.join("\n"));
    }
}
