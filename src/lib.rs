//! kernite assembles GPU compute kernels in memory, at run time, in pure Rust.
//!
//! A kernel is described once through [`KernelBuilder`]. What comes out is PTX text ([`ptx`]), a SPIR-V module
//! ([`spirv`]), or a run on the CPU ([`mod@reference`]), which is the definition of what every opcode ([`op::Op`]) means. A
//! [`Kernel`] is always verified, so emitters never panic on one, and what they write assembles and validates.
//!
//! ```
//! use kernite::{Access, KernelBuilder, Type, ptx};
//!
//! let mut b = KernelBuilder::new("twice", [64, 1, 1]);
//! let data = b.buffer("data", Type::U32, Access::ReadWrite);
//! let i = b.global_id(0);
//! let x = b.load(data, i);
//! let sum = b.add(x, x);
//! b.store(data, i, sum);
//! let kernel = b.finish()?;
//! println!("{}", ptx::emit(&kernel, &ptx::Options::default())?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Modules use only modules above them in this list: [`types`], [`op`], [`kernel`], [`limits`], [`verify`], [`builder`],
//! [`text`], [`math`], [`mod@reference`], [`ptx`], [`spirv`], [`dxbc`],
//! [`profile`], `cuda`, [`pipeline`].
#![deny(missing_docs, unsafe_code)]

pub mod types;

pub mod op;

pub mod kernel;

pub mod limits;

pub mod verify;

pub mod builder;

pub mod text;

pub mod math;

pub mod reference;

pub mod ptx;

pub mod spirv;

pub mod dxbc;

pub mod profile;

#[cfg(feature = "cuda")]
pub mod cuda;

pub mod pipeline;

pub use builder::KernelBuilder;
pub use kernel::{Kernel, Module, Signature};
pub use types::{Access, Type};

/// The README's code runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
