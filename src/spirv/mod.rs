//! SPIR-V: the tables, the emitter, the validator and the disassembler.
#![forbid(unsafe_code)]

pub mod emit;

pub use emit::{
    Emitter, Error, FloatAtomics, FloatMode, Fma, Lengths, MemoryModel, Options, Overflow, Version,
    ZeroShared, emit, emit_module,
};
