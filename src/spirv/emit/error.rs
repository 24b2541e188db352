//! Why a kernel could not be emitted.

use crate::limits::LimitExceeded;
use crate::op::Op;
use crate::types::Type;

/// Why a kernel could not be emitted as SPIR-V. The output is empty then.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SPIR-V, or the options chosen, cannot express this.
    #[error("kernel {kernel}, instruction {at}: SPIR-V has no {op} on {ty}: {needs}")]
    Unsupported {
        /// The kernel's number in the module.
        kernel: usize,
        /// The instruction.
        at: u32,
        /// Its opcode.
        op: Op,
        /// The type it operates on.
        ty: Type,
        /// What it would need.
        needs: &'static str,
    },
    /// The kernel needs more than [`super::Options::limits`] allow.
    #[error("kernel {kernel}: {source}")]
    Limit {
        /// The kernel's number in the module.
        kernel: usize,
        /// Which limit, what is needed and what there is.
        source: LimitExceeded,
    },
    /// More of something than a SPIR-V module may have (section 2.17, Universal Limits).
    #[error("kernel {kernel}: {needed} {what}, SPIR-V allows {available}")]
    Universal {
        /// The kernel's number in the module.
        kernel: usize,
        /// What there are too many of.
        what: &'static str,
        /// How many are needed.
        needed: u64,
        /// How many there may be.
        available: u64,
    },
    /// The kernel has a dynamic shared array and [`super::Options::dynamic_shared_len`] is `None` or zero.
    #[error(
        "kernel {kernel}: shared{array} is dynamic: Options::dynamic_shared_len must say how many elements it has"
    )]
    DynamicLength {
        /// The kernel's number in the module.
        kernel: usize,
        /// The array's number.
        array: u32,
    },
    /// The uniform buffer of [`super::Overflow::Uniform`] has the set and binding of a buffer.
    #[error(
        "kernel {kernel}: set {set} binding {binding} was given to the scalars, but buf{buffer} has it"
    )]
    Binding {
        /// The kernel's number in the module.
        kernel: usize,
        /// The set.
        set: u32,
        /// The binding.
        binding: u32,
        /// The buffer's number.
        buffer: u32,
    },
    /// [`super::Options::descriptor_set_base`] carries a set past 2^32.
    #[error("kernel {kernel}: descriptor set {set} + {base} passes 2^32")]
    DescriptorSet {
        /// The kernel's number in the module.
        kernel: usize,
        /// The set declared.
        set: u32,
        /// The base.
        base: u32,
    },
    /// The module has no kernels: a SPIR-V module for a shader needs an entry point.
    #[error("a module without kernels has no SPIR-V form")]
    Empty,
}
