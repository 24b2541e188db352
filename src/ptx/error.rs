//! Why a valid kernel cannot be written for a target.

use super::target::{Target, Version};
use crate::limits::LimitExceeded;
use crate::op::Op;
use crate::types::Type;

/// Why [`super::Emitter`] wrote nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The target has no form of an opcode for a type.
    #[error("kernel {kernel:?}, at {at} (`{op}`): {target} has no `{op}` on {ty}")]
    Unsupported {
        /// The kernel's name.
        kernel: String,
        /// The instruction's index.
        at: u32,
        /// The opcode.
        op: Op,
        /// The type.
        ty: Type,
        /// The target.
        target: Target,
    },
    /// A declaration has a type that PTX text is not written for.
    #[error("kernel {kernel:?}: {target} has no {what} of {ty}")]
    UnsupportedDeclaration {
        /// The kernel's name.
        kernel: String,
        /// What was declared.
        what: &'static str,
        /// Its type.
        ty: Type,
        /// The target.
        target: Target,
    },
    /// The text would need a later PTX version than the caller allows.
    #[error("{what} needs PTX {needed}, at most {allowed} is allowed")]
    Version {
        /// What needs it.
        what: VersionNeed,
        /// The version it needs.
        needed: Version,
        /// [`super::Options::max_version`].
        allowed: Version,
    },
    /// The kernel passes a limit.
    #[error("kernel {kernel:?}: {limit}")]
    Limit {
        /// The kernel's name.
        kernel: String,
        /// The limit, what is needed and what there is.
        #[source]
        limit: LimitExceeded,
    },
    /// The private arrays need more local memory than a thread can have (CUDA C++ Programming Guide, Compute
    /// Capabilities).
    #[error("kernel {kernel:?}: {needed} bytes of private arrays needed, {available} available")]
    PrivateBytes {
        /// The kernel's name.
        kernel: String,
        /// What the kernel needs.
        needed: u64,
        /// What there is.
        available: u64,
    },
}

/// What needs a PTX version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum VersionNeed {
    /// The least that this crate writes.
    Crate,
    /// The target.
    Target(Target),
    /// More than 4352 bytes of parameters.
    Parameters,
}

impl core::fmt::Display for VersionNeed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            VersionNeed::Crate => f.write_str("the text"),
            VersionNeed::Target(target) => core::fmt::Display::fmt(target, f),
            VersionNeed::Parameters => f.write_str("more than 4352 bytes of parameters"),
        }
    }
}
