//! Nanoseconds an instruction that a kept validator takes, beside rspirv's parser without any check, on kernels of
//! kernite's own: `cargo run --release -p kernite-validator-tests --example speed [KERNEL…]`.

use kernite::spirv::{self, Validator};
use std::time::Instant;

#[path = "../../../examples/kernels/mod.rs"]
#[allow(missing_docs)]
mod kernels;

/// The least time of many runs, in nanoseconds.
fn least(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    let millis = std::env::var("MILLIS").map_or(1500, |m| m.parse().expect("a number"));
    let mut best = f64::MAX;
    while start.elapsed().as_millis() < millis {
        let before = Instant::now();
        run();
        best = best.min(before.elapsed().as_nanos() as f64);
    }
    best
}

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    for (name, make) in kernels::ALL {
        if !chosen.is_empty() && !chosen.iter().any(|c| c == name) {
            continue;
        }
        let mut words = Vec::new();
        spirv::Emitter::new()
            .emit(&make(), &spirv::Options::default(), &mut words)
            .expect("SPIR-V");
        let mut instructions = 0u32;
        let mut at = 5;
        while at < words.len() {
            instructions += 1;
            at += (words[at] >> 16) as usize;
        }
        let mut validator = Validator::new();
        let time = least(|| assert!(validator.words(&words).is_valid()));
        let each = f64::from(instructions);
        println!(
            "{name}: {instructions} instructions, {:.0} ns in all, {:.1} ns each",
            time,
            time / each
        );
    }
}
