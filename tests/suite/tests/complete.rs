//! Nothing is missing: every opcode on every type of the table is in a filetest, is made by the generator, and runs on a
//! device or is a row of the table of gaps, and then among what a GPU runs.

use kernite_suite::coverage::{Pair, missing, pairs};
use kernite_suite::every;
use kernite_suite::filetest::{files, folder, kernels};
use kernite_suite::gaps::config_for;
use kernite_suite::generate::{self, Config};
use kernite_suite::{choices::Choices, shrink};
use kernite_testkit::vulkan::Context;
use std::collections::BTreeSet;

/// What the random kernels of so many seeds hold.
fn generated(config: Config) -> BTreeSet<Pair> {
    let mut found = BTreeSet::new();
    for seed in 0..2500 {
        let decisions = shrink::decisions(seed);
        let kernel = generate::kernel("k", &mut Choices::new(&decisions), config);
        found.extend(pairs(
            &kernel.unwrap_or_else(|e| panic!("seed {seed}: {e}")),
        ));
    }
    found
}

#[test]
fn every_opcode_and_type_is_in_a_filetest() {
    let mut found: BTreeSet<Pair> = BTreeSet::new();
    for file in files(&folder()).unwrap() {
        let text = std::fs::read_to_string(&file).unwrap();
        for kernel in kernels(&text).unwrap() {
            found.extend(pairs(&kernel));
        }
    }
    assert_eq!(missing(&found), [""; 0]);
}

#[test]
fn every_opcode_and_type_is_generated() {
    assert_eq!(missing(&generated(Config::everything())), [""; 0]);
}

#[test]
fn every_opcode_and_type_runs_on_a_device() {
    let units = every::units();
    assert_eq!(every::missing(units), [""; 0]);
    let Some(device) = Context::get() else { return };
    // What the exhaustive test runs there; it skips units for whose features the device has no support, and compares none
    // that are approximate.
    let mut found: BTreeSet<Pair> = BTreeSet::new();
    for unit in units.iter().filter(|unit| !unit.approximate) {
        if unit.case().lacks(device).is_none() {
            found.extend(unit.covers.iter().copied());
        }
    }
    assert_eq!(missing(&found), [""; 0]);
}

#[test]
fn what_random_kernels_leave_out_here_the_units_run() {
    // What random kernels leave out on the device here, the units have.
    let Some(device) = Context::get() else { return };
    let mut found = generated(config_for(device));
    found.extend(every::units().iter().flat_map(|u| u.covers.clone()));
    assert_eq!(missing(&found), [""; 0]);
}
