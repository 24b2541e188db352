//! Tests of kernite's DXBC containers.
#![forbid(unsafe_code)]

mod digest;
mod fixtures;
mod hostile;
