//! SPIR-V: the tables, the emitter, the validator and the disassembler.
#![forbid(unsafe_code)]

pub mod tables;

pub mod disasm;
pub mod emit;
pub mod validate;

pub use disasm::{Printed, disassemble};
pub use emit::{
    Emitter, Error, FloatAtomics, FloatMode, Fma, Lengths, MemoryModel, Options, Overflow, Version,
    ZeroShared, emit, emit_module,
};
pub use validate::{Validator, Verdict, validate};
