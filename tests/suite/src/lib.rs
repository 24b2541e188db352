//! What the tests of this member share: random kernels, and running a kernel on every device at hand.
#![forbid(unsafe_code)]

pub mod choices;
pub mod generate;
