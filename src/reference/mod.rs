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
//! # Narrow types, vectors, functions
//!
//! Integers wrap at their own width. f16 and bf16 round once to their type in every operation (`mul_add` aside);
//! the functions that have a recipe are computed in f32 and rounded once more. The flag `fast` changes nothing: what
//! hardware approximates is compared by bounds.
//!
//! # Subgroups
//!
//! A lane is active if its linear local index is below the workgroup size, so the active lanes are the first ones; the
//! verifier sees to it that all of them reach an operation of the subgroup. The last subgroup of a workgroup may be partial.
//!
//! Reductions and scans are computed in one order, on every type and with or without the flag for native order. With *n*
//! the size of the subgroup, `f` the operation and `x[l]` the operand of lane *l*:
//!
//! * **Reduction**: for d = 1, 2, 4, … below n, in every lane at once, `x[l] = f(x[l], x[l xor d])`. Lanes that are not
//!   active take part with a value that changes nothing (−0.0 for a float sum). All lanes then hold the same bits; the
//!   result is that of lane 0. So it is (((x0 + x1) + (x2 + x3)) + …). A full subgroup can do this with `shuffle_xor` as it
//!   stands. Where it may be partial, step d is `x[l] = f(x[l], shuffle_down(x, d))` in the lanes for which l + d is active,
//!   and lane 0 is broadcast at the end: what the other lanes hold on the way does not reach it.
//! * **Inclusive scan** (Hillis and Steele): for d = 1, 2, 4, … below n, in the lanes l ≥ d at once,
//!   `x[l] = f(x[l - d], x[l])`: `shuffle_up` by d. Lanes that are not active reach no active one.
//! * **Exclusive scan**: the inclusive scan moved up by one lane, with the identity in lane 0.
//!
//! The identity is 0 for integer sums, −0.0 for float sums (−0.0 + x is x for every x, while +0.0 + −0.0 is +0.0), the
//! greatest value or +inf for `min`, the least or −inf for `max`, all ones or true for `and`, 0 or false for `or` and `xor`.
//! It stands in lane 0 of exclusive scans alone: `min` and `max` over lanes that all hold NaN are NaN, not an infinity.
//!
//! # Threads
//!
//! [`Options::threads`] spreads the workgroups of a launch over threads. Each thread works on copies of the buffers that
//! the kernel writes and marks what it reads and writes in them. Where no thread met what another wrote, what was written
//! is put together; where one did, or something failed, all of it is dropped and the workgroups run one after the other.
//! So results and errors are those of one thread, bit for bit. Kernels with atomics on buffers, and launches with
//! [`Checks::buffer_races`], run on one thread from the start.
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
mod collective;
mod compare;
mod decode;
mod error;
mod executor;
mod lanes;
mod marks;
mod memory;
mod ops;
mod options;
mod parallel;
mod program;
mod pure;
mod runner;
mod shadow;
mod subgroup;
#[cfg(test)]
mod tests;

pub use args::{Arg, Buffer, BufferError, Element, View};
pub(crate) use compare::little_endian;
pub use compare::{Difference, compare};
pub use error::{ExecError, Thread, Touch, Trap, TrapKind};
pub use executor::{Executor, Report};
pub use options::{Checks, ExecLimits, Launch, Options};
