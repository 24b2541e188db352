//! Launches, checked against the signature before the driver sees them.

mod arg;
mod config;
mod error;
mod overlap;
mod plan;

pub use arg::Arg;
pub(crate) use arg::ArgKind;
pub use config::LaunchConfig;
pub use error::{ArgumentFault, LaunchError, LaunchLimit};
pub(crate) use plan::Plan;
