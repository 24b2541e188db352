//! SPIR-V: the tables, the emitter, the validator and the disassembler.
#![forbid(unsafe_code)]

pub mod disasm;
pub mod tables;
pub mod validate;

pub use disasm::{Printed, disassemble};
pub use validate::{Validator, Verdict, validate};
