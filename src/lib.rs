//! kernite assembles GPU compute kernels in memory, at run time, in pure Rust.
#![deny(missing_docs, unsafe_code)]

pub mod types;

pub mod op;

pub mod kernel;

pub mod limits;

pub mod verify;

pub mod builder;

pub mod dxbc;
pub mod spirv;

#[cfg(feature = "cuda")]
pub mod cuda;
