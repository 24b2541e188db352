//! The reference executor: the definition of what every opcode means.
//!
//! It runs any [`Kernel`](crate::kernel::Kernel) on host memory, one subgroup at a time: each instruction is carried out
//! for all lanes of the subgroup before the next, under a mask of the lanes that are active, and a subgroup runs until it
//! ends or reaches a workgroup barrier. The order is fixed, so what it computes and what it reports is the same every
//! time. Emitters are right where their targets compute what this module computes, or lie within a bound that the opcode's
//! row states; [`compare`] treats NaNs as equal, as the rows do.
//!
//! What a kernel promises its target is checked here, and broken promises are errors that name the instruction, the
//! opcode and the threads ([`Trap`]); see [`Checks`] for the list. A kernel's `contract` flag changes nothing: a product
//! and a sum are always two roundings here.
//!
//! Not here: workgroups run one after the other on the calling thread. Sharing written buffers between threads without
//! `unsafe` would put atomics under every buffer and make its bytes unborrowable. An [`Executor`] is `Send`, so launches
//! that do not depend on each other can run on threads of their own.
//!
//! ```
//! use kernite::builder::KernelBuilder;
//! use kernite::reference::{Arg, Executor, Options};
//! use kernite::types::{Access, Type};
//!
//! let mut k = KernelBuilder::new("double", [4, 1, 1]);
//! let data = k.buffer("data", Type::F32, Access::ReadWrite);
//! let i = k.global_id(0);
//! let x = k.load(data, i);
//! let y = k.add(x, x);
//! k.store(data, i, y);
//! let kernel = k.finish()?;
//!
//! let mut args = [Arg::from([1.0f32, 2.0, 3.0, 4.0])];
//! Executor::new(Options::default()).run(&kernel, [1, 1, 1], &mut args)?;
//! assert_eq!(args[0].as_slice::<f32>(), Some(&[2.0, 4.0, 6.0, 8.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod args;
mod bind;
mod compare;
mod decode;
mod error;
mod executor;
mod lanes;
mod memory;
mod ops;
mod options;
mod program;
mod pure;
mod shadow;
mod subgroup;
#[cfg(test)]
mod tests;

pub use args::{Arg, Buffer, BufferError, Element, View};
pub use compare::{Difference, compare};
pub use error::{ExecError, Thread, Touch, Trap, TrapKind};
pub use executor::{Executor, Report};
pub use options::{Checks, ExecLimits, Launch, Options};
