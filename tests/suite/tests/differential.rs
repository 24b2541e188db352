//! Random kernels: what the verifier accepts, the emitters write, the oracles accept and the devices compute as the
//! reference executor does. `KERNITE_SEEDS=N` takes N of them; what fails is made small, and printed as text and as Rust.

use kernite::kernel::Module;
use kernite::{ptx, spirv};
use kernite_suite::differential::{Fault, Static, case, ptx_options, report, seeds, spirv_options};
use kernite_suite::gaps::{GAPS, config_for, still_there};
use kernite_suite::generate::Config;
use kernite_suite::shrink;
use kernite_testkit::ptxas::{Options, Ptxas};
use kernite_testkit::spirv_tools::{Env, SpirvVal};
use kernite_testkit::vulkan::Context;
use std::cell::RefCell;

/// The same with accesses out of bounds.
fn wild(config: Config) -> Config {
    Config {
        wild: true,
        ..config
    }
}

/// Looks at every seed, and tells of all that fail and of the first in full.
fn campaign(n: u64, config: Config, test: impl Fn(u64, &[u32]) -> Result<(), Fault>) {
    let (mut failed, mut first) = (Vec::new(), None);
    for seed in 0..n {
        let Err(fault) = test(seed, &shrink::decisions(seed)) else {
            continue;
        };
        failed.push(format!("seed {seed}: {fault}"));
        first.get_or_insert_with(|| {
            let small = shrink::check(seed, |decisions| {
                test(seed, decisions).map_err(|e| e.to_string())
            });
            small.map_or_else(|failure| report(&failure, config), |()| String::new())
        });
    }
    if let Some(first) = first {
        panic!("{} of {n}:\n{}\n{first}", failed.len(), failed.join("\n"));
    }
}

#[test]
fn the_reference_and_the_emitters_take_random_kernels() {
    let all = Config::everything();
    let tools = RefCell::new(Static::default());
    for config in [all, Config { wild: false, ..all }] {
        campaign(seeds(300), config, |seed, decisions| {
            let case = case("k", decisions, config)?;
            tools.borrow_mut().check(&case, seed)
        });
    }
}

#[test]
fn static_oracles_accept_random_kernels() {
    let n = seeds(200);
    // Many entries a module: the oracles' start costs more than a kernel.
    const BATCH: u64 = 50;
    let (ptxas, val) = (Ptxas::get(), SpirvVal::get());
    let mut validator = spirv::Validator::new();
    for first in (0..n).step_by(BATCH as usize) {
        let mut module = Module::new();
        let mut last = None;
        for seed in first..(first + BATCH).min(n) {
            let decisions = shrink::decisions(seed);
            let case = case(&format!("k{seed}"), &decisions, Config::everything()).unwrap();
            module.push(case.kernel.clone()).unwrap();
            last = Some(case);
        }
        let Some(mut last) = last else { return };
        let place = format!("seeds {first} to {}", first + BATCH);
        let batch = first / BATCH;
        let mut text = Vec::new();
        let options = ptx_options(batch, last.bounds);
        ptx::Emitter::new()
            .emit_module(&module, &options, &mut text)
            .unwrap();
        let text = String::from_utf8(text).unwrap();
        if let Some(ptxas) = ptxas
            && let Err(e) =
                ptxas.assemble_with(&text, &options.target.to_string(), &Options::default())
        {
            panic!("{place}: {e}");
        }
        last.dynamic_shared = 64;
        let options = spirv_options(batch, &last);
        let words = spirv::emit_module(&module, &options).unwrap();
        let env = match options.version {
            spirv::Version::V1_3 => Env::Vulkan1_1,
            spirv::Version::V1_4 => Env::Vulkan1_1Spirv1_4,
            spirv::Version::V1_5 => Env::Vulkan1_2,
            _ => Env::Vulkan1_3,
        };
        if let Some(val) = val
            && let Err(e) = val.validate(&words, env)
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
    let size = device.info().subgroups.size;
    let config = config_for(device);
    for config in [config, wild(config)] {
        campaign(seeds(60), config, |_, decisions| {
            let case = case("k", decisions, config)?;
            let expected = case.reference(size)?;
            let got = case.vulkan(device, &case.options_for(device))?;
            match case.difference(&expected, &got) {
                Some((buffer, difference)) => Err(Fault::Difference { buffer, difference }),
                None => Ok(()),
            }
        });
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
