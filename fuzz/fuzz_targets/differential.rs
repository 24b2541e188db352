//! See `kernite_suite::fuzz::differential`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| kernite_suite::fuzz::differential(data));
