//! Tests of kernite's DXBC containers.
#![forbid(unsafe_code)]

#[path = "../../../../examples/kernels/mod.rs"]
mod example_kernels;

mod codecs;
mod digest;
mod edit;
mod field_cases;
mod fixtures;
mod fuzz_smoke;
mod hostile;
mod interfaces;
mod pack;
mod signatures;
mod structure;
