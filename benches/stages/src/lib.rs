//! The kernels that kernite is measured on, and its stages on them.
//!
//! `cargo bench -p kernite-stages` counts the instructions of each stage.
#![forbid(unsafe_code)]

mod case;
#[path = "../../../examples/kernels/mod.rs"]
#[allow(missing_docs)]
pub mod kernels;
mod ours;

pub use case::Case;
pub use ours::Ours;

/// The version of the compiler that built this.
pub const RUSTC_VERSION: &str = env!("RUSTC_VERSION");
