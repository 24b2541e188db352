//! What the tests of kernite's DXBC containers share: files, mutations and fuzz bodies.
#![forbid(unsafe_code)]

pub mod files;
pub mod fuzz;
pub mod kernels;
pub mod mutate;
