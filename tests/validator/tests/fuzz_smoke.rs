//! The fuzz bodies, briefly: over the seeds, changes of them, and bytes of no kind.

use kernite_validator_tests::mutate::Random;
use kernite_validator_tests::{asm, corpus, fuzz};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/spirv_validate")
}

fn seeds() -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(folder()).expect("the seeds").flatten();
    let mut paths: Vec<_> = files.map(|e| e.path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|p| std::fs::read(p).expect("a readable seed"))
        .collect()
}

/// `BLESS=1` writes the seeds: the modules by hand, and those of glslang.
#[test]
fn seeds_are_valid_modules() {
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(folder()).expect("a folder for the seeds");
        for sample in corpus::by_hand().into_iter().chain(corpus::glsl()) {
            let bytes = asm::bytes(&sample.words);
            if !sample.name.ends_with("1.1") && bytes.len() < 6000 {
                let name = sample.name.replace(['@', '.'], "-");
                std::fs::write(folder().join(name), bytes).expect("a seed written");
            }
        }
    }
    let seeds = seeds();
    assert!(seeds.len() > 8);
    for seed in &seeds {
        assert!(fuzz::spirv_validate(seed));
        fuzz::spirv_disassemble(seed);
    }
}

#[test]
fn changed_seeds_and_any_bytes() {
    let mut random = Random::new(5);
    for seed in seeds() {
        for _ in 0..150 {
            let mut changed = seed.clone();
            for _ in 0..=random.below(3) {
                let draw = random.below(1 << 31) as u32;
                changed = fuzz::change(&changed, draw).unwrap_or(changed);
            }
            fuzz::spirv_validate(&changed);
            fuzz::spirv_disassemble(&changed);
        }
    }
    for len in 0..200 {
        let bytes: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        let mut module = vec![
            3, 2, 0x23, 7, 0, 6, 1, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0,
        ];
        module.extend_from_slice(&bytes);
        // Short instructions of opcodes that there are.
        for quad in module[20..].chunks_exact_mut(4) {
            if quad[0] < 128 {
                quad.copy_from_slice(&[quad[0], quad[1] & 1, quad[2] & 7, 0]);
            }
        }
        for input in [&bytes, &module] {
            fuzz::spirv_validate(input);
            fuzz::spirv_disassemble(input);
        }
    }
}
