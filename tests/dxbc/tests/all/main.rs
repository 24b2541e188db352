//! Tests of kernite's DXBC containers.
#![forbid(unsafe_code)]

mod digest;
mod edit;
mod field_cases;
mod fixtures;
mod hostile;
mod pack;
