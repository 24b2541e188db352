//! Tests of kernite's DXBC containers.
#![forbid(unsafe_code)]

mod codecs;
mod digest;
mod edit;
mod field_cases;
mod fixtures;
mod fuzz_smoke;
mod hostile;
mod interfaces;
mod pack;
mod structure;
