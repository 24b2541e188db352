//! What the verifier accepts never ends in a barrier or an operation of a subgroup that not every thread reaches.
//! `KERNITE_SEEDS=N` takes N kernels of each kind from `KERNITE_FIRST_SEED` on.

use kernite::verify::VerifyError;
use kernite_suite::barriers::{Outcome, count, flow, moved, run};
use kernite_suite::campaign::range;
use kernite_suite::run::Case;
use kernite_suite::{rebuild, shrink};

/// Lanes of subgroups to run with.
const LANES: [u32; 4] = [1, 4, 8, 32];

fn reaches(
    make: fn(&[u32]) -> Result<Case, VerifyError>,
    decisions: &[u32],
) -> Result<Case, String> {
    let case = make(decisions).map_err(|e| e.to_string())?;
    for lanes in LANES {
        run(&case, lanes).map_err(|e| format!("subgroups of {lanes}: {e}"))?;
    }
    Ok(case)
}

/// Looks at every seed; gives the operations met, and those within blocks.
fn all_reach(make: fn(&[u32]) -> Result<Case, VerifyError>, enough: u64) -> (usize, usize) {
    let (mut all, mut inside) = (0, 0);
    for seed in range(enough) {
        match reaches(make, &shrink::decisions(seed)) {
            Ok(case) => {
                let (more, within) = count(&case.kernel);
                all += more;
                inside += within;
            }
            Err(why) => {
                let small = shrink::check(seed, |d| reaches(make, d).map(drop));
                let decisions = small.map_or_else(|f| f.decisions, |()| Vec::new());
                let shown = make(&decisions).map_or_else(
                    |e| e.to_string(),
                    |case| format!("{}\n{}", case.kernel, rebuild::rust("k", &case.kernel)),
                );
                panic!(
                    "seed {seed}: {why}\n{:?}\n{shown}",
                    reaches(make, &decisions).err()
                );
            }
        }
    }
    println!("{all} operations, {inside} of them within blocks");
    (all, inside)
}

#[test]
fn operations_put_into_random_kernels_are_reached() {
    let (all, inside) = all_reach(moved, 200);
    assert!(all > 1000 && inside > 100);
}

#[test]
fn operations_in_any_control_flow_are_reached() {
    let (all, inside) = all_reach(flow, 1500);
    assert!(all > 1000 && inside > 300);
}

#[test]
fn few_kernels_never_end() {
    let endless = |seed| {
        let case = flow(&shrink::decisions(seed)).unwrap_or_else(|e| panic!("{e}"));
        run(&case, 8) == Ok(Outcome::Endless)
    };
    let endless = (0..100).filter(|&seed| endless(seed)).count();
    assert!(endless < 10, "{endless} of 100");
}
