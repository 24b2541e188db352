//! What the tests of kernite's CUDA layer share.

pub mod fake;
pub mod kernels;
