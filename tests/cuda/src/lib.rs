//! What the tests of kernite's CUDA layer share.

pub mod buffers;
#[cfg(target_os = "linux")]
pub mod fake;
pub mod gpu;
pub mod kernels;
