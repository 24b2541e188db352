//! The SPIR-V on a GPU through its Vulkan driver: the example and the random kernels against the reference executor.
//! `KERNITE_VULKAN_DEVICE=NAME` chooses the GPU, `KERNITE_SEEDS=N` takes N random kernels from `KERNITE_FIRST_SEED` on.
//! The other tests run there too when they are given the variable.

use kernite_suite::campaign::{execute, range};
use kernite_suite::gaps::{GAPS, config_for, still_there};
use kernite_suite::generate::Config;
use kernite_suite::kernels;
use kernite_suite::launches::launch;
use kernite_testkit::vulkan::Context;

#[test]
fn the_gpu_says_what_it_has() {
    let Some(device) = Context::gpu() else { return };
    let info = device.info();
    assert!(!info.software, "{info:?}");
    println!("{info:#?}\n{:?}", device.fma());
    for gap in GAPS.iter().filter(|gap| (gap.has)(device)) {
        println!("gap: {} ({})", gap.what, gap.why);
        let there = still_there(gap, device).unwrap_or_else(|e| panic!("{}: {e}", gap.what));
        assert!(there, "{}: no longer so", gap.what);
    }
    println!("random kernels: {:?}", config_for(device));
}

#[test]
fn the_gpu_runs_the_examples_as_the_reference_does() {
    let Some(device) = Context::gpu() else { return };
    let mut faults = Vec::new();
    for (name, _) in kernels::ALL {
        for seed in 0..3 {
            let case = launch(name, seed);
            if let Some(lacks) = case.lacks(device) {
                println!("{name}: {lacks}");
                continue;
            }
            let expected = case.reference(case.lanes(device)).unwrap();
            match case.vulkan(device, &case.options_for(device)) {
                Ok(got) => faults.extend(
                    case.difference(&expected, &got)
                        .map(|(buffer, d)| format!("{name} {seed}: buf{buffer}: {d}")),
                ),
                Err(e) => faults.push(format!("{name} {seed}: {e}")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_gpu_runs_random_kernels_as_the_reference_does() {
    let Some(device) = Context::gpu() else { return };
    let inside = config_for(device);
    for wild in [false, true] {
        let report = execute(device, range(100), Config { wild, ..inside });
        let how = if wild { "checked " } else { "" };
        report.conclude(&format!("run {how}on {}", device.info().name));
    }
}
