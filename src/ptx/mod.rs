//! PTX text for NVIDIA GPUs (PTX ISA 8.0 and later).
//!
//! ```
//! use kernite::builder::KernelBuilder;
//! use kernite::ptx::{self, Options, Target};
//! use kernite::types::{Access, Type};
//!
//! let mut b = KernelBuilder::new("twice", [256, 1, 1]);
//! let data = b.buffer("data", Type::F32, Access::ReadWrite);
//! let n = b.array_length(data);
//! let i = b.global_id(0);
//! let inside = b.lt(i, n);
//! b.when(inside, |b| {
//!     let x = b.load(data, i);
//!     let y = b.add(x, x);
//!     b.store(data, i, y);
//! });
//! let text = ptx::emit(&b.finish()?, &Options::new(Target::parse("sm_80")?))?;
//! assert!(text.contains("add.rn.f32"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The text
//! One pass over the instructions writes it; what stands before an entry's body is put in front at the end. Entries are
//! named as [`entry_name`] says. Parameters are `$p0`, `$p1`, … in the order of declaration, and behind them the hidden lengths, `$n`
//! and the buffer's number; shared arrays are `$s0`, …, private ones `$l0`, …, labels `$L1`, …; and of the module, tables
//! `$t0`, … and those of precise functions `$m0`, …: no entry has such a name (ptxas 12.9 crashes where an entry is called
//! as a parameter of an earlier one). Constants stand in the instructions that use them.
//!
//! # Types
//! Integers of 8 and 16 bits live extended in 32-bit registers and are brought back into their type after what can leave
//! it. f16 and bf16 live in 16-bit registers; what the target has no instruction for is computed in f32 and rounded once:
//! bf16 arithmetic before sm_90 (from sm_80 on by `fma.rn.bf16`), 16-bit `min` and `max` before sm_80, division and roots.
//! Where that would round twice, f32 is rounded to odd first. A vector is a group of registers. Tables of constants are
//! `.const` arrays, and `.global` ones where a module has more than 64 KiB of them.
//!
//! # Shared memory
//! Up to [`STATIC_SHARED_MAX`] bytes of static arrays are `.shared` variables. Where a kernel has more, all of its arrays
//! lie in the dynamic block, one after the other at multiples of 16, and a dynamic array behind them: the launch must give
//! [`dynamic_shared_base`] bytes more. Zeroed arrays are cleared by all threads together before the first instruction,
//! with one barrier behind it.
//!
//! # Checked accesses
//! With [`Options::bounds`] set, an access is predicated by one comparison of 64-bit indices (32-bit ones in arrays of known
//! length), which offsets are part of. Loads and atomics outside give zero, stores and atomics do nothing. An index whose
//! greatest value can be seen to lie inside is not checked.
//!
//! # Subgroups
//! A warp. The mask of its active lanes follows from the workgroup's size: all, or in the last warp those of the rest.
//! Reductions of integers up to 32 bits are `redux.sync` from sm_80 on; all others, and scans, are shuffles in the order
//! that the reference executor documents; native order is the same.
//!
//! # Functions
//! Precise functions are written in place from their recipes in [`crate::math`], those of 16-bit floats through f32. The
//! `fast` flag gives the hardware's approximations, in f32 (16-bit floats round their result; f64, and `erf`, which the
//! hardware has not, take the precise form). What the PTX ISA and measurements on an H200 promise of them:
//!
//! | | instructions | error |
//! |---|---|---|
//! | `exp2` | `ex2.approx` | 2.4 ULP |
//! | `exp` | `mul`, `ex2.approx` | 2 + 1.2·abs(x) ULP |
//! | `log2`, `log` | `lg2.approx`, (`mul`) | 2⁻²¹ absolute from ½ to 2, 3 ULP elsewhere |
//! | `sin`, `cos` | `sin.approx`, `cos.approx` | 2⁻²⁰·⁵ absolute in -π to π, growing beyond |
//! | `tan` | both, `div.full` | theirs, divided |
//! | `tanh` | `tanh.approx` | 2⁻¹¹ relative |
//! | `pow` | `lg2.approx`, `mul`, `ex2.approx` | theirs, the logarithm's times abs(y); special cases as the precise form |
//! | `rsqrt`, `rcp`, `sqrt` | `rsqrt.approx`, `rcp.approx`, `sqrt.approx` | 1.6, 1, 1 ULP |
//! | `div` | `div.full` | 2 ULP |
//!
//! # What the hardware leaves open
//! - Integer division and remainder by zero, `MIN / -1`: the divisor is replaced by 1 where it would matter.
//! - Shifts: amounts are taken modulo the width.
//! - `cvt` from a NaN to an integer is 0 only from f32 to 32 bits on the GPUs measured; everywhere else it is selected.
//! - `bfe` and `bfi` read eight bits of offset and length: larger ones are bounded first, and an offset beyond the width of
//!   a signed value, where `bfe` gives its sign, gives 0.
//! - Bare `add` and `mul` may be contracted by ptxas: only kernels that allow it get them.
//! - `shfl` takes its lane modulo 32: beyond, the own value is selected; an inactive lane is above its limit.
//! - f32 atomic minimum and maximum are compare-and-exchange loops. An atomic whose result nobody uses is a `red`.
//! - **`atom.global.add.f32` flushes subnormal operands and results to zero.** It is the one place where subnormals are lost.
#![forbid(unsafe_code)]

mod access;
mod arith;
mod atomic;
mod bits;
mod body;
mod bounds;
mod compare;
mod control;
mod convert;
mod emitter;
mod entry;
mod error;
mod float;
mod half;
mod memory;
mod mnemonic;
mod names;
mod piece;
mod plain;
mod recipe;
mod short;
mod subgroup;
mod tables;
mod target;
mod template;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_families;
mod token;
mod values;
mod writer;

pub use emitter::Emitter;
pub use error::{Error, VersionNeed};
pub use names::entry_name;
pub use target::{Target, TargetError, Variant, Version};

use crate::kernel::{Bounds, Kernel};
use crate::limits::Limits;

/// The most static shared memory of a PTX entry, in bytes: 48 KiB.
pub const STATIC_SHARED_MAX: u32 = 49_152;

/// The most bytes of PTX parameters, from PTX 8.1 on (PTX ISA section 5.1.6, Parameter State Space).
pub const PARAM_BYTES_MAX: u32 = 32_764;

/// The most bytes of private arrays: what a thread can have of local memory on every GPU.
pub const PRIVATE_BYTES_MAX: u32 = 512 * 1024;

/// Where the dynamic array begins in the dynamic block: the bytes that a launch must ask for beside those of the dynamic
/// array. `static_shared_bytes` is that of [`crate::kernel::Signature`].
///
/// ```
/// use kernite::ptx::dynamic_shared_base;
/// assert_eq!(dynamic_shared_base(49_152), 0, "static arrays are declared as such");
/// assert_eq!(dynamic_shared_base(49_156), 49_168, "they lie in the dynamic block");
/// ```
pub const fn dynamic_shared_base(static_shared_bytes: u32) -> u32 {
    if static_shared_bytes <= STATIC_SHARED_MAX {
        return 0;
    }
    match static_shared_bytes.checked_next_multiple_of(16) {
        Some(base) => base,
        // More than any device has; emitters refuse it.
        None => u32::MAX,
    }
}

/// What to write for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The target: [`Target::SM_75`], the lowest, unless set. Its text runs on every later GPU.
    pub target: Target,
    /// The highest `.version` that may be written, such as the driver's; none unless set. The version written is 8.0, or
    /// more where the target or the kernel needs it.
    pub max_version: Option<Version>,
    /// The limits checked: [`Limits::CUDA`] unless set. What PTX itself allows is checked besides.
    pub limits: Limits,
    /// What an access outside of its buffer or array does: anything, unless set. Checked, the length of every buffer used
    /// is a hidden parameter, as [`Kernel::signature_with`] says.
    pub bounds: Bounds,
}

impl Options {
    /// For a target, the rest as [`Options::default`].
    pub const fn new(target: Target) -> Options {
        Options {
            target,
            max_version: None,
            limits: Limits::CUDA,
            bounds: Bounds::Unchecked,
        }
    }

    /// With a highest version.
    #[must_use]
    pub const fn with_max_version(self, version: Version) -> Options {
        Options {
            max_version: Some(version),
            ..self
        }
    }

    /// With other limits.
    #[must_use]
    pub const fn with_limits(self, limits: Limits) -> Options {
        Options { limits, ..self }
    }

    /// With accesses checked, or not.
    #[must_use]
    pub const fn with_bounds(self, bounds: Bounds) -> Options {
        Options { bounds, ..self }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options::new(Target::SM_75)
    }
}

/// The text of one kernel. Who emits many keeps an [`Emitter`].
///
/// # Errors
/// As [`Emitter::emit`].
pub fn emit(kernel: &Kernel, options: &Options) -> Result<String, Error> {
    let mut out = Vec::new();
    Emitter::new().emit(kernel, options, &mut out)?;
    // Only ASCII is written.
    Ok(String::from_utf8(out)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}
