//! Every fuzz body, briefly. `KERNITE_SEEDS=N` takes N kernels.

use kernite::kernel::Kernel;
use kernite_suite::choices::{Choices, SplitMix};
use kernite_suite::differential::seeds;
use kernite_suite::generate::{self, Config};
use kernite_suite::{fuzz, kernels};

/// The stored forms to start from: the example kernels and some random ones.
fn corpus(random: u64) -> Vec<Vec<u8>> {
    let named = kernels::ALL
        .iter()
        .filter(|(name, _)| !name.starts_with("straight"))
        .map(|(_, make)| make());
    let config = Config {
        statements: 12,
        ..Config::default()
    };
    let random = (0..random).map(|seed| {
        let decisions = SplitMix::decisions(seed, 120);
        generate::kernel("k", &mut Choices::new(&decisions), config).unwrap()
    });
    named.chain(random).map(|k: Kernel| k.to_bytes()).collect()
}

#[test]
fn changed_bytes_are_refused_or_emit() {
    let mut stream = SplitMix::new(1);
    let (mut tried, mut accepted) = (0, 0);
    for bytes in corpus(seeds(40)) {
        assert!(fuzz::kernel_bytes(&bytes));
        for _ in 0..150 {
            let mut changed = bytes.clone();
            for _ in 0..=stream.next_u64() % 2 {
                let at = (stream.next_u64() as usize % (bytes.len() / 4)) * 4;
                let old = u32::from_le_bytes(changed[at..at + 4].try_into().unwrap());
                let new = match stream.next_u64() % 6 {
                    0 => old ^ 1 << (stream.next_u64() % 32),
                    1 => old.wrapping_add(1),
                    2 => old.wrapping_sub(1),
                    3 => stream.next_u64() as u32 % 64,
                    4 => [0, 1, 0x7FFF_FFFF, 0x8000_0000, u32::MAX][stream.next_u64() as usize % 5],
                    _ => {
                        let from = (stream.next_u64() as usize % (bytes.len() / 4)) * 4;
                        u32::from_le_bytes(bytes[from..from + 4].try_into().unwrap())
                    }
                };
                changed[at..at + 4].copy_from_slice(&new.to_le_bytes());
            }
            tried += 1;
            if fuzz::kernel_bytes(&changed) {
                accepted += 1;
                fuzz::differential(&Kernel::from_bytes(&changed).unwrap());
            }
        }
    }
    println!("{accepted} of {tried} changed kernels are valid");
    assert!(
        accepted * 50 > tried,
        "the mutations reach past the verifier"
    );
}

#[test]
fn changed_texts_are_refused_or_emit() {
    let mut stream = SplitMix::new(2);
    for bytes in corpus(10) {
        let text = Kernel::from_bytes(&bytes).unwrap().to_string().into_bytes();
        assert!(fuzz::kernel_text(&text));
        for _ in 0..60 {
            let mut changed = text.clone();
            let at = stream.next_u64() as usize % changed.len();
            match stream.next_u64() % 4 {
                0 => changed[at] = (stream.next_u64() % 128) as u8,
                1 => drop(changed.remove(at)),
                2 => changed.insert(
                    at,
                    b"0123456789vif \n;{}[]"[stream.next_u64() as usize % 20],
                ),
                _ => changed.truncate(at),
            }
            fuzz::kernel_text(&changed);
        }
    }
}

#[test]
fn any_decisions_build_a_kernel() {
    for seed in 0..seeds(60) {
        fuzz::builder(&SplitMix::decisions(
            seed.wrapping_mul(77),
            (seed % 500) as usize,
        ));
    }
    for word in [0, 1, 7, u32::MAX] {
        fuzz::builder(&[word; 300]);
    }
}
