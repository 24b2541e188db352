//! Who runs a kernel, and how that is told.

use super::error::Unavailable;
use crate::types::Scalar;
use crate::{ptx, reference};
use core::fmt;

/// Which executor runs a kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Policy {
    /// The GPU where there is one, the reference executor otherwise, and for what is too small to be worth the copies.
    ///
    /// Kernels that the GPU's target lacks something for, and those that assume uniformity, which no safe launch takes,
    /// run on the reference executor too. What goes wrong once a kernel is emitted is an error: a result that comes from
    /// elsewhere than one thinks would hide it.
    Auto {
        /// Launches of fewer threads run on the reference executor; 0 sends all to the GPU.
        host_below: u64,
    },
    /// The reference executor.
    Host,
    /// The GPU; where there is none it is an error.
    Cuda,
    /// Both, and a difference of their results is an error ([`super::Mismatch`]). The slices get what the reference
    /// executor computed.
    CrossCheck {
        /// What is no difference.
        tolerance: Tolerance,
    },
}

impl Default for Policy {
    /// [`Policy::Auto`], with everything to the GPU where there is one.
    fn default() -> Policy {
        Policy::Auto { host_below: 0 }
    }
}

/// Which results of two executors count as the same.
///
/// NaNs are equal to each other whatever their bits: a kernel computes *a* NaN. Integers and bools are always compared bit
/// for bit.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[non_exhaustive]
pub enum Tolerance {
    /// Bit for bit, unless the kernel says itself that its results depend on the target: it uses `fast` functions (but of
    /// f64, where they are the precise ones), atomic additions of floats (whose order is anybody's), subgroup additions in
    /// native order, or `contract`. Then [`Closeness::LOOSE`].
    #[default]
    Auto,
    /// Bit for bit.
    Exact,
    /// Floats may differ by so much.
    Within(Closeness),
}

/// How far two floats may be apart: by `absolute`, or by `relative` of the expected one.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Closeness {
    /// A fraction of the expected value.
    pub relative: f64,
    /// A distance.
    pub absolute: f64,
}

impl Closeness {
    /// For approximations in f32: 2^-10 of the value, or 2^-17. For f16 and bf16, which have fewer bits, two steps
    /// of the type (2^-9 and 2^-6 of the value) are allowed besides, whatever the closeness.
    pub const LOOSE: Closeness = Closeness {
        relative: 1.0 / 1024.0,
        absolute: 1.0 / 131_072.0,
    };

    /// With these bounds.
    pub const fn new(relative: f64, absolute: f64) -> Closeness {
        Closeness { relative, absolute }
    }

    /// Whether two numbers of this type are close enough.
    pub(super) fn holds(self, scalar: Scalar, expected: f64, got: f64) -> bool {
        if expected.is_nan() || got.is_nan() {
            return expected.is_nan() && got.is_nan();
        }
        if expected.is_infinite() || got.is_infinite() {
            return expected == got;
        }
        let step = match scalar {
            Scalar::F16 => 1.0 / 512.0,
            Scalar::BF16 => 1.0 / 64.0,
            Scalar::Bool
            | Scalar::I8
            | Scalar::I16
            | Scalar::I32
            | Scalar::I64
            | Scalar::U8
            | Scalar::U16
            | Scalar::U32
            | Scalar::U64
            | Scalar::F32
            | Scalar::F64 => 0.0,
        };
        let distance = (expected - got).abs();
        distance <= self.absolute || distance <= self.relative.max(step) * expected.abs()
    }
}

/// Who ran a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Executor {
    /// The CUDA driver's GPU.
    Cuda,
    /// The reference executor.
    Host,
    /// Both, with the same results.
    Both,
}

impl fmt::Display for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Executor::Cuda => "the GPU",
            Executor::Host => "the reference executor",
            Executor::Both => "the GPU and the reference executor",
        })
    }
}

/// Why that one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The policy names it.
    Policy,
    /// There is a GPU, and the launch is large enough.
    Device,
    /// The launch has fewer threads than [`Policy::Auto`] sends to the GPU.
    Small {
        /// Threads of the launch.
        threads: u64,
        /// The policy's bound.
        host_below: u64,
    },
    /// There is no GPU.
    Unavailable(Unavailable),
    /// The GPU's target, or its driver, lacks what the kernel needs.
    Unsupported(ptx::Error),
    /// The kernel assumes a value to be uniform, which nothing checks on a GPU.
    AssumesUniform,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Policy => f.write_str("the policy says so"),
            Reason::Device => f.write_str("there is a GPU"),
            Reason::Small {
                threads,
                host_below,
            } => write!(f, "{threads} threads are fewer than {host_below}"),
            Reason::Unavailable(why) => write!(f, "there is no GPU: {why}"),
            Reason::Unsupported(error) => write!(f, "the GPU cannot run the kernel: {error}"),
            Reason::AssumesUniform => {
                f.write_str("the kernel assumes a value to be uniform, which a GPU does not check")
            }
        }
    }
}

/// What a run did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// Who ran the kernel.
    pub executor: Executor,
    /// Why that one.
    pub reason: Reason,
    /// What the reference executor counted, where it took part.
    pub host: Option<reference::Report>,
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, since {}", self.executor, self.reason)
    }
}
