//! Random kernels: what the verifier accepts, the emitters write, the oracles accept and the devices compute as the
//! reference executor does. `KERNITE_SEEDS=N` takes N of them.

use kernite::kernel::Module;
use kernite::{ptx, spirv};
use kernite_suite::choices::SplitMix;
use kernite_suite::differential::{case, seeds};
use kernite_suite::gaps::{GAPS, config_for, still_there};
use kernite_suite::generate::Config;
use kernite_testkit::ptxas::{Options, Ptxas};
use kernite_testkit::spirv_tools::{Env, SpirvVal};
use kernite_testkit::vulkan::Context;

const DECISIONS: usize = 400;

#[test]
fn static_oracles_accept_random_kernels() {
    let n = seeds(200);
    // Many entries a module: the oracles' start costs more than a kernel.
    const BATCH: u64 = 50;
    let (ptxas, val) = (Ptxas::get(), SpirvVal::get());
    let mut validator = spirv::Validator::new();
    for first in (0..n).step_by(BATCH as usize) {
        let mut module = Module::new();
        for seed in first..(first + BATCH).min(n) {
            let decisions = SplitMix::decisions(seed, DECISIONS);
            let case = case(&format!("k{seed}"), &decisions, Config::default()).unwrap();
            module.push(case.kernel).unwrap();
        }
        let place = format!("seeds {first} to {}", first + BATCH);
        let target = if (first / BATCH).is_multiple_of(2) {
            "sm_75"
        } else {
            "sm_90"
        };
        let mut text = Vec::new();
        let options = ptx::Options::new(ptx::Target::parse(target).unwrap());
        ptx::Emitter::new()
            .emit_module(&module, &options, &mut text)
            .unwrap();
        let text = String::from_utf8(text).unwrap();
        if let Some(ptxas) = ptxas
            && let Err(e) = ptxas.assemble_with(&text, target, &Options::default())
        {
            panic!("{place}: {e}");
        }
        let mut options = spirv::Options::default();
        options.limits.push_constant_bytes = 256;
        let words = spirv::emit_module(&module, &options).unwrap();
        if let Some(val) = val
            && let Err(e) = val.validate(&words, Env::Vulkan1_3)
        {
            panic!("{place}: {e}");
        }
        if let Err(e) = kernite_testkit::rspirv::load(&words) {
            panic!("{place}: {e}");
        }
        let verdict = validator.words(&words);
        assert!(verdict.is_valid(), "{place}: {verdict}");
    }
}

#[test]
fn devices_compute_what_the_reference_does() {
    let Some(device) = Context::get() else { return };
    let config = config_for(device);
    for seed in 0..seeds(100) {
        let decisions = SplitMix::decisions(seed, DECISIONS);
        let case = case("k", &decisions, config).unwrap();
        let expected = case
            .reference(8)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", case.kernel));
        let got = case
            .vulkan(device, &case.options_for(device))
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", case.kernel));
        if let Some((buffer, difference)) = case.difference(&expected, &got) {
            panic!("seed {seed}: buf{buffer}: {difference}\n{}", case.kernel);
        }
    }
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
