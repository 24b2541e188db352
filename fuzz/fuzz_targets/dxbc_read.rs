//! See `kernite_dxbc_tests::fuzz::dxbc_read`.
#![no_main]

use kernite_dxbc_tests::{fuzz, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|data: &[u8]| fuzz::dxbc_read(data));

// Half of the changes are to whole words, where sizes and offsets are.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed & 1 == 0 {
        let mut changed = data[..size].to_vec();
        mutate::mutate(&mut changed, &mut mutate::Rng::new(seed.into()));
        if changed.len() <= max_size {
            data[..changed.len()].copy_from_slice(&changed);
            return changed.len();
        }
    }
    fuzzer_mutate(data, size, max_size)
});
