//! What the validator's tests share: an assembler, the tools they compare with, mutations.
#![forbid(unsafe_code)]

pub mod asm;
pub mod cases;
pub mod corpus;
pub mod flow;
pub mod fuzz;
pub mod messages;
pub mod mutate;
pub mod oracle;
