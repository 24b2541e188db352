//! rspirv's loader: a second reader of the binary form, after spirv-val.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use ::rspirv::binary::Disassemble as _;
use ::rspirv::dr;

/// rspirv does not read the module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rspirv: {0}")]
pub struct Refused(pub String);

/// Reads a module with `rspirv::dr::load_words`.
///
/// # Errors
/// The loader refuses the words, or panics on them.
pub fn load(words: &[u32]) -> Result<dr::Module, Refused> {
    match catch_unwind(AssertUnwindSafe(|| dr::load_words(words))) {
        Ok(Ok(module)) => Ok(module),
        Ok(Err(state)) => Err(Refused(state.to_string())),
        Err(_) => Err(Refused("the loader panicked".into())),
    }
}

/// The module as rspirv's disassembler prints it, one instruction a line.
///
/// # Errors
/// The loader refuses the words, or panics on them.
pub fn disassemble(words: &[u32]) -> Result<String, Refused> {
    load(words).map(|module| module.disassemble())
}
