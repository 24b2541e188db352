//! The SPIR-V emitter: a kernel's bytecode to a module for Vulkan, in one pass.
//!
//! Sections of the module are written side by side, those before the functions put in front of them at the end; types and
//! constants are interned as they are met. After warm-up an [`Emitter`] allocates nothing.
//!
//! Integers of 8 and 16 bits are computed in 32 and kept normalised: narrow in buffers alone (8- and 16-bit storage), 32
//! bits wide in shared, private and constant arrays and in the block of scalars, where nobody can tell. f16 is native.
//! bf16 is an f32 whose low half is zero, rounded by integer arithmetic behind each operation, and 16 bits in buffers.
//!
//! What holes SPIR-V and Vulkan leave in an operation are closed as [`crate::op::Op`] says: divisors are guarded, shift
//! amounts masked, conversions clamped, zeros in minima and maxima ordered; sums and products are decorated
//! `NoContraction`; rounding and the preservation of signed zeros, infinities and NaNs are declared
//! ([`FloatMode::Strict`]). Capabilities and extensions are those that the kernel needs and no others.
//!
//! ```
//! use kernite::builder::KernelBuilder;
//! use kernite::spirv;
//! use kernite::types::{Access, Type};
//!
//! let mut b = KernelBuilder::new("twice", [64, 1, 1]);
//! let data = b.buffer("data", Type::U32, Access::ReadWrite);
//! let i = b.global_id(0);
//! let x = b.load(data, i);
//! let sum = b.add(x, x);
//! b.store(data, i, sum);
//! let words = spirv::emit(&b.finish()?, &spirv::Options::default())?;
//! assert_eq!(words[0], 0x0723_0203, "the magic number");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arith;
mod atomic;
mod bits;
mod body;
mod bounds;
mod builtins;
mod control;
mod convert;
mod declare;
mod error;
mod float;
mod fma;
mod half;
mod interner;
mod marks;
mod memory;
mod objects;
mod options;
mod plain;
mod preamble;
mod recipe;
mod scalars;
mod section;
mod sections;
mod stretch;
mod subgroup;
mod tables;
mod tape;
#[cfg(test)]
mod tests;
mod types;
mod vector;
mod zero;

pub use error::Error;
pub use options::{
    DotProducts, FloatAtomics, FloatMode, Fma, Lengths, MemoryModel, Options, Overflow, Version,
    ZeroShared,
};

use crate::kernel::{Kernel, Module};
use crate::limits::{Limit, exceeds};
use body::{Body, Scratch};
use preamble::cap;
use sections::Writer;

/// Emits kernels, one after the other, in memory that it keeps.
#[derive(Debug, Default)]
pub struct Emitter {
    writer: Writer,
    scratch: Scratch,
}

impl Emitter {
    /// An emitter with no memory yet.
    pub fn new() -> Emitter {
        Emitter::default()
    }

    /// Writes a module with `kernel` as its entry point into `out`, replacing what was there.
    ///
    /// The entry point has the kernel's name. Buffers are storage buffers at their sets and bindings, each a structure of
    /// one runtime array; those that the body leaves alone are not declared. Scalars are the members of one push-constant
    /// block, laid out as [`crate::kernel::Signature`] says.
    ///
    /// # Errors
    /// What [`Error`] lists; `out` is empty then.
    pub fn emit(
        &mut self,
        kernel: &Kernel,
        options: &Options,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        out.clear();
        out.extend_from_slice(self.words(kernel, options)?);
        Ok(())
    }

    /// The module that [`Emitter::emit`] writes, where it was made: nothing is copied. It holds until the emitter is used
    /// again.
    ///
    /// # Errors
    /// As [`Emitter::emit`].
    ///
    /// ```
    /// use kernite::builder::KernelBuilder;
    /// use kernite::spirv::{Emitter, Options};
    /// use kernite::types::{Access, Type};
    ///
    /// let mut b = KernelBuilder::new("zero", [64, 1, 1]);
    /// let data = b.buffer("data", Type::U32, Access::Write);
    /// let (i, zero) = (b.global_id(0), b.constant(0u32));
    /// b.store(data, i, zero);
    /// let kernel = b.finish()?;
    ///
    /// let mut emitter = Emitter::new();
    /// let words = emitter.words(&kernel, &Options::default())?;
    /// // As `vkCreateShaderModule` takes it: a pointer, and a size in bytes.
    /// let (code, size) = (words.as_ptr(), size_of_val(words));
    /// # assert_eq!((words[0], size), (0x0723_0203, 4 * words.len()));
    /// # let _ = code;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn words(&mut self, kernel: &Kernel, options: &Options) -> Result<&[u32], Error> {
        self.kernels(core::slice::from_ref(kernel), options)
    }

    /// Writes a module with an entry point for each kernel of `module`. Types and constants are shared; every entry point
    /// has its own buffers, scalars and interface.
    ///
    /// # Errors
    /// As [`Emitter::emit`], and [`Error::Empty`] for a module without kernels.
    pub fn emit_module(
        &mut self,
        module: &Module,
        options: &Options,
        out: &mut Vec<u32>,
    ) -> Result<(), Error> {
        out.clear();
        out.extend_from_slice(self.module_words(module, options)?);
        Ok(())
    }

    /// The module that [`Emitter::emit_module`] writes, where it was made, as [`Emitter::words`] gives that of a kernel.
    ///
    /// # Errors
    /// As [`Emitter::emit_module`].
    pub fn module_words(&mut self, module: &Module, options: &Options) -> Result<&[u32], Error> {
        self.kernels(module.kernels(), options)
    }

    fn kernels(&mut self, kernels: &[Kernel], options: &Options) -> Result<&[u32], Error> {
        if kernels.is_empty() {
            return Err(Error::Empty);
        }
        self.writer.clear();
        if options.memory_model == MemoryModel::Vulkan {
            self.writer.caps |= cap::VULKAN_MEMORY_MODEL;
        }
        for (number, kernel) in kernels.iter().enumerate() {
            let (writer, scratch) = (&mut self.writer, &mut self.scratch);
            Body::new(writer, scratch, kernel, options, number).run()?;
        }
        if self.writer.fma64 != 0 {
            self.writer.write_fma64();
            let (needed, available) = (self.writer.next, options.limits.id_bound);
            exceeds(Limit::IdBound, u64::from(needed), u64::from(available)).map_err(|source| {
                Error::Limit {
                    kernel: kernels.len() - 1,
                    source,
                }
            })?;
        }
        Ok(self.writer.join(options.version, options.memory_model))
    }
}

/// Emits one kernel. Who emits many keeps an [`Emitter`].
///
/// # Errors
/// As [`Emitter::emit`].
pub fn emit(kernel: &Kernel, options: &Options) -> Result<Vec<u32>, Error> {
    Emitter::new().words(kernel, options).map(<[u32]>::to_vec)
}

/// Emits a module of kernels. Who emits many keeps an [`Emitter`].
///
/// # Errors
/// As [`Emitter::emit_module`].
pub fn emit_module(module: &Module, options: &Options) -> Result<Vec<u32>, Error> {
    let mut emitter = Emitter::new();
    let words = emitter.module_words(module, options);
    words.map(<[u32]>::to_vec)
}
