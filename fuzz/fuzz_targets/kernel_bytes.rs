//! See `kernite_suite::fuzz::kernel_bytes`.
#![no_main]

use kernite_suite::choices::SplitMix;
use kernite_suite::fuzz;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|data: &[u8]| {
    fuzz::kernel_bytes(data);
});

// Half of the changes are to whole words, which is what the stored form is made of.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed & 1 == 0 {
        let changed = fuzz::change(&data[..size], &mut SplitMix::new(seed.into()));
        data[..size].copy_from_slice(&changed);
        return size;
    }
    fuzzer_mutate(data, size, max_size)
});
