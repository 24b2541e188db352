//! Other crates on the same work.

pub mod naga;
pub mod rspirv;
pub mod spirv_tools;
