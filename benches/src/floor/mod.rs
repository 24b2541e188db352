//! Floors: the same kernels written by hand, as fast as plain code can, with no checks and no types.

pub mod ptx;
mod sink;
pub mod spirv;
mod words;

pub use sink::{Digits, Fmt, Itoa, Sink};
pub(crate) use words::GLSL_FMA;
pub use words::{Assembler, Id, Words};
