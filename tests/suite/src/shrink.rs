//! Failing decisions made small, by proptest: statements are left out, then what is left is made simpler.

use crate::choices::BLOCK;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// Statements of a kernel at most.
const STATEMENTS: usize = 40;

/// Tries at making a failing case smaller.
const TRIES: u32 = 8192;

/// Time for that, of devices on which a try takes long.
const MILLISECONDS: u32 = 60_000;

/// The smallest decisions found that fail, and why they do.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The decisions.
    pub decisions: Vec<u32>,
    /// What the test said.
    pub why: String,
}

/// A kernel's decisions: its head, and a block a statement.
fn strategy() -> impl Strategy<Value = Vec<u32>> {
    let block = vec(any::<u32>(), BLOCK);
    (block.clone(), vec(block, 1..=STATEMENTS)).prop_map(|(head, blocks)| {
        let mut all = head;
        all.extend(blocks.into_iter().flatten());
        all
    })
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: TRIES,
        max_shrink_time: MILLISECONDS,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// The decisions of a seed.
///
/// # Panics
/// Never: nothing is filtered out.
pub fn decisions(seed: u64) -> Vec<u32> {
    match strategy().new_tree(&mut runner(seed)) {
        Ok(tree) => tree.current(),
        Err(why) => panic!("{why}"),
    }
}

/// Tests the decisions of a seed; what fails is made as small as it gets while it fails.
///
/// # Errors
/// The smallest failure.
pub fn check(seed: u64, test: impl Fn(&[u32]) -> Result<(), String>) -> Result<(), Failure> {
    let mut runner = runner(seed);
    let tree = strategy()
        .new_tree(&mut runner)
        .unwrap_or_else(|why| panic!("{why}"));
    let ran = runner.run_one(tree, |decisions| {
        test(&decisions).map_err(TestCaseError::fail)
    });
    match ran {
        Ok(_) => Ok(()),
        Err(TestError::Fail(why, decisions)) => Err(Failure {
            decisions,
            why: why.to_string(),
        }),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}
