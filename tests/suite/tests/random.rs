//! Random kernels are valid, and equal decisions give equal kernels.

use kernite::kernel::Kernel;
use kernite_suite::choices::{Choices, SplitMix};
use kernite_suite::generate::{self, Config};

#[test]
fn random_kernels_are_valid_and_round_trip() {
    let mut ops = [0u32; 256];
    for seed in 0..500 {
        let decisions = SplitMix::decisions(seed, 400);
        let made = |c: Config| generate::kernel("k", &mut Choices::new(&decisions), c);
        let kernel = made(Config::default()).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(made(Config::default()).as_ref(), Ok(&kernel));
        let bytes = kernel.to_bytes();
        assert_eq!(
            Kernel::from_bytes(&bytes).as_ref(),
            Ok(&kernel),
            "seed {seed}"
        );
        for inst in kernel.insts() {
            ops[inst.op as usize & 255] += 1;
        }
        let config = Config {
            subnormals: false,
            fma: false,
            atomics_64: false,
            ..Config::default()
        };
        made(config).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
    let missing: Vec<_> = kernite::op::Op::ALL
        .into_iter()
        .filter(|op| ops[*op as usize & 255] == 0)
        .collect();
    println!("never generated: {missing:?}");
    assert!(missing.len() < 20);
}
