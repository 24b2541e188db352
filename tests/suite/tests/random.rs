//! Random kernels are valid, equal decisions give equal kernels, and nothing of the opcode table is out of their reach.

use kernite::kernel::{Inst, Kernel};
use kernite::op::Op;
use kernite_suite::choices::{Choices, DECISIONS, SplitMix};
use kernite_suite::coverage::{missing, pairs};
use kernite_suite::generate::{self, Config};
use std::collections::BTreeSet;

/// The kernel of a seed.
fn kernel(seed: u64, config: Config) -> Kernel {
    let decisions = SplitMix::decisions(seed, DECISIONS);
    generate::kernel("k", &mut Choices::new(&decisions), config)
        .unwrap_or_else(|e| panic!("seed {seed}: {e}"))
}

#[test]
fn random_kernels_are_valid_and_round_trip() {
    let modest = Config {
        subnormals: false,
        fma: false,
        atomics_64: false,
        honest_floats: false,
        subgroups: false,
        ..Config::default()
    };
    for seed in 0..400 {
        for config in [Config::default(), Config::everything(), modest] {
            let made = kernel(seed, config);
            assert_eq!(made, kernel(seed, config));
            let read = Kernel::from_bytes(&made.to_bytes());
            assert_eq!(read.as_ref(), Ok(&made), "seed {seed}");
        }
    }
}

/// Every flag that the rows allow, each kind of reduction and each axis.
fn flags() -> BTreeSet<(Op, u8)> {
    let mut all = BTreeSet::new();
    for op in Op::ALL {
        let flags = op.row().flags;
        let wrong = |f: u8| {
            let axis = (Op::GlobalId..=Op::GlobalSize).contains(&op);
            let scan = (Op::SubgroupAdd..=Op::SubgroupXor).contains(&op);
            // Only sums have an order.
            axis && f == 3 || scan && f & 3 == 3 || scan && f & 4 != 0 && op != Op::SubgroupAdd
        };
        all.extend(
            (0..=flags)
                .filter(|f| f & !flags == 0 && !wrong(*f))
                .map(|f| (op, f)),
        );
    }
    all.extend([(Op::Store, Inst::OFFSET)]);
    all
}

#[test]
fn every_opcode_type_and_flag_is_generated() {
    let (mut found, mut flagged) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..3000 {
        let made = kernel(seed, Config::everything());
        found.extend(pairs(&made));
        flagged.extend(made.insts().iter().map(|i| (i.op, i.flags)));
    }
    assert_eq!(missing(&found), [""; 0]);
    let never: Vec<_> = flags().difference(&flagged).copied().collect();
    assert_eq!(never, []);
}
