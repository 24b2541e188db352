//! See `kernite_validator_tests::fuzz::spirv_validate`.
#![no_main]

use kernite_validator_tests::fuzz;
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|data: &[u8]| -> Corpus {
    fuzz::spirv_validate(data);
    Corpus::Keep
});

// Half of the changes are to instructions and operands, which bytes seldom hit.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed & 1 == 0
        && let Some(changed) = fuzz::change(&data[..size], seed >> 1)
        && changed.len() <= max_size
    {
        data[..changed.len()].copy_from_slice(&changed);
        return changed.len();
    }
    fuzzer_mutate(data, size, max_size)
});
