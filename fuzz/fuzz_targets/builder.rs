//! See `kernite_suite::fuzz::builder`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    kernite_suite::fuzz::builder(data);
});
