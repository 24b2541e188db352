//! What the tests of this member share: the example kernels, random kernels, and running a kernel on every executor.
#![forbid(unsafe_code)]

pub mod barriers;
pub mod calls;
pub mod campaign;
pub mod choices;
pub mod coverage;
pub mod differential;
pub mod every;
pub mod filetest;
pub mod fuzz;
pub mod gaps;
pub mod generate;
pub mod gpu;
#[path = "../../../examples/kernels/mod.rs"]
#[allow(missing_docs)]
pub mod kernels;
pub mod launches;
#[path = "../../../examples/run/cuda.rs"]
pub mod on_cuda;
pub mod opcodes;
pub mod ptx_cases;
pub mod rebuild;
pub mod run;
pub mod shrink;
pub mod specials;
#[path = "../../../examples/run/values.rs"]
pub mod values;
