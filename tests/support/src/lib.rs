//! The oracles that kernite's tests are checked with, one module each.
//!
//! Nothing here knows kernite. A module under test comes in as PTX text,
//! SPIR-V words or bytes; what an oracle says of it goes out as a typed result.
//!
//! # Finding the tools
//! [`tools`] looks in the folder that `KERNITE_ORACLES` names (by default
//! `.oracles` at the workspace root, which `.ci/install-oracles` fills), then on
//! `PATH` where the version found there is acceptable.
//!
//! # Skips
//! Each oracle's `get` answers `None` when it is missing, after printing one
//! line a test that starts with `SKIP` and counting it ([`skip`]). When
//! `KERNITE_REQUIRE_ORACLES` names the oracle, or is `all`, a missing one panics
//! instead and says how to install it:
//!
//! ```
//! use kernite_testkit::ptxas::Ptxas;
//!
//! let Some(ptxas) = Ptxas::get() else { return };
//! let text = ".version 8.0\n.target sm_75\n.address_size 64\n";
//! assert!(ptxas.assemble(text, "sm_75").is_ok());
//! ```
//!
//! # Panics
//! This is a test library: a broken environment (a tool that cannot be started,
//! an unknown name in `KERNITE_REQUIRE_ORACLES`) panics with the reason. What an
//! oracle says of a module is always a result.

pub mod alloc_counter;
pub mod dxc;
pub mod naga;
pub mod oracle;
pub mod parallel;
mod process;
pub mod ptxas;
pub mod rspirv;
pub mod skip;
pub mod spirv_tools;
pub mod tools;
pub mod vulkan;
