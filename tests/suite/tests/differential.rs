//! Random kernels: what the verifier accepts, the emitters write, the oracles accept and the devices compute as the
//! reference executor does. `KERNITE_SEEDS=N` takes N of them, from `KERNITE_FIRST_SEED` on; what fails is made small, and
//! printed as text and as Rust.

use kernite::builder::KernelBuilder;
use kernite::kernel::Bounds;
use kernite::types::{Access, Type};
use kernite_suite::campaign::{execute, judge, range};
use kernite_suite::differential::{Fault, Static, case, report};
use kernite_suite::gaps::{GAPS, config_for, still_there};
use kernite_suite::generate::Config;
use kernite_suite::run::{Case, Value};
use kernite_suite::shrink;
use kernite_testkit::vulkan::Context;
use std::cell::RefCell;

#[test]
fn the_reference_and_the_emitters_take_random_kernels() {
    let all = Config::everything();
    let tools = RefCell::new(Static::default());
    for config in [all, Config { wild: false, ..all }] {
        let test = |seed, decisions: &[u32]| -> Result<(), Fault> {
            let case = case("k", decisions, config)?;
            tools.borrow_mut().check(&case, seed)
        };
        let seeds = range(200);
        let failed: Vec<(u64, Fault)> = seeds
            .filter_map(|seed| Some((seed, test(seed, &shrink::decisions(seed)).err()?)))
            .collect();
        let Some(&(first, _)) = failed.first() else {
            continue;
        };
        let small = shrink::check(first, |decisions| {
            test(first, decisions).map_err(|e| e.to_string())
        });
        let lines: Vec<String> = failed
            .iter()
            .map(|(n, e)| format!("seed {n}: {e}"))
            .collect();
        let shown = small.map_or_else(|failure| report(&failure, config), |()| String::new());
        panic!("{}\n{shown}", lines.join("\n"));
    }
}

#[test]
fn static_oracles_accept_random_kernels() {
    judge(range(200), Config::everything()).conclude("judged by the static oracles");
}

#[test]
fn devices_compute_what_the_reference_does() {
    let Some(device) = Context::get() else { return };
    let inside = config_for(device);
    for wild in [false, true] {
        let report = execute(device, range(60), Config { wild, ..inside });
        let how = if wild { "checked " } else { "" };
        report.conclude(&format!("run {how}on {}", device.info().name));
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

#[test]
fn short_and_empty_buffers_keep_their_lengths() {
    let mut b = KernelBuilder::new("lengths", [1, 1, 1]);
    let buffers = [0, 1, 3].map(|_| b.buffer("few", Type::U8, Access::Read));
    let out = b.buffer("out", Type::U32, Access::Write);
    let zero = b.constant(0u32);
    for (at, buffer) in (0..).zip(buffers) {
        let length = b.array_length(buffer);
        b.store_offset(out, zero, at, length);
    }
    let mut args: Vec<Value> = [0, 1, 3].map(|n| Value::Bytes(vec![7; n])).into();
    args.push(Value::of(&[9u32; 3]));
    let case = Case {
        kernel: b.finish().unwrap(),
        grid: [1, 1, 1],
        args,
        dynamic_shared: 0,
        bounds: Bounds::Checked,
    };
    let expected = case.reference(8).unwrap();
    assert_eq!(expected[3], [0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0]);
    let Some(device) = Context::get() else { return };
    let got = case.vulkan(device, &case.options_for(device)).unwrap();
    assert_eq!(case.difference(&expected, &got), None);
}
