//! Random kernels: what the verifier accepts, the emitters write, the oracles accept and the devices compute as the
//! reference executor does. `KERNITE_SEEDS=N` takes N of them, from `KERNITE_FIRST_SEED` on.

use kernite_suite::campaign::{execute, judge, range};
use kernite_suite::gaps::{GAPS, config_for, still_there};
use kernite_suite::generate::Config;
use kernite_testkit::vulkan::Context;

#[test]
fn static_oracles_accept_random_kernels() {
    judge(range(200), Config::default()).conclude("judged by the static oracles");
}

#[test]
fn devices_compute_what_the_reference_does() {
    let Some(device) = Context::get() else { return };
    let report = execute(device, range(100), config_for(device));
    report.conclude(&format!("run on {}", device.info().name));
}

#[test]
fn the_gaps_of_the_device_are_still_there() {
    let Some(device) = Context::get() else { return };
    for gap in GAPS.iter().filter(|gap| (gap.has)(device)) {
        let there = still_there(gap, device).unwrap_or_else(|e| panic!("{}: {e}", gap.what));
        assert!(
            there,
            "{} ({}): no longer so; the row can go",
            gap.what, gap.why
        );
    }
}
