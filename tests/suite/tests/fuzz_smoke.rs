//! Every fuzz body, briefly. `KERNITE_SEEDS=N` takes N kernels.

use kernite::kernel::Kernel;
use kernite_suite::choices::{Choices, SplitMix};
use kernite_suite::differential::seeds;
use kernite_suite::generate::{self, Config};
use kernite_suite::{calls, fuzz, kernels};
use std::path::{Path, PathBuf};

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
            let changed = fuzz::change(&bytes, &mut stream);
            tried += 1;
            if fuzz::kernel_bytes(&changed) {
                accepted += 1;
                fuzz::twice(&Kernel::from_bytes(&changed).unwrap());
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

fn folder(target: &str) -> PathBuf {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    seeds.join(target)
}

/// Makes the seeds: kernels, decisions, and calls that give a kernel.
fn write_seeds() {
    let write = |target: &str, name: &str, bytes: &[u8]| {
        std::fs::create_dir_all(folder(target)).unwrap();
        std::fs::write(folder(target).join(name), bytes).unwrap();
    };
    for (i, bytes) in corpus(6).into_iter().enumerate() {
        write("kernel_bytes", &i.to_string(), &bytes);
        if i % 4 == 0 {
            write("differential", &i.to_string(), &bytes);
        }
    }
    let mut stream = SplitMix::new(4);
    let mut bytes = |n: u64| -> Vec<u8> { (0..n).map(|_| stream.next_u64() as u8).collect() };
    for n in 1..=4 {
        write("differential", &format!("decisions{n}"), &bytes(n * 80));
    }
    // The longest of the calls that fit.
    let mut fit: Vec<_> = (0..200_000)
        .map(|n| bytes(20 + n % 100))
        .filter(|b| calls::run(b).is_ok())
        .collect();
    fit.sort_by_key(|b| std::cmp::Reverse(b.len()));
    for (i, bytes) in fit.iter().take(12).enumerate() {
        write("builder", &i.to_string(), bytes);
    }
}

/// The seeds that fuzzing starts from (`BLESS=1` makes them anew), and bytes of no kind.
#[test]
fn seeds_and_any_bytes() {
    if std::env::var_os("BLESS").is_some() {
        write_seeds();
    }
    let seeds_of = |target: &str| -> Vec<Vec<u8>> {
        let mut files: Vec<_> = std::fs::read_dir(folder(target))
            .expect("seeds")
            .flatten()
            .map(|e| e.path())
            .collect();
        files.sort();
        files.iter().map(|f| std::fs::read(f).unwrap()).collect()
    };
    for seed in seeds_of("kernel_bytes") {
        assert!(fuzz::kernel_bytes(&seed));
    }
    for seed in seeds_of("builder") {
        assert!(fuzz::builder(&seed));
    }
    for seed in seeds_of("differential") {
        fuzz::differential(&seed);
    }
    let mut stream = SplitMix::new(3);
    let mut kernels = 0;
    for n in 0..seeds(300) {
        let bytes: Vec<u8> = (0..n % 90).map(|_| stream.next_u64() as u8).collect();
        fuzz::kernel_bytes(&bytes);
        fuzz::kernel_text(&bytes);
        fuzz::differential(&bytes);
        kernels += u64::from(fuzz::builder(&bytes));
    }
    assert!(kernels > 0, "some calls fit");
    for byte in [0, 1, 7, u8::MAX] {
        fuzz::builder(&[byte; 1200]);
    }
}
