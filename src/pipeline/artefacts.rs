//! What is made of a kernel, and for whom.

use crate::kernel::{Kernel, Signature};
use crate::{ptx, spirv};

/// Which targets to make artefacts for.
///
/// DXBC is not among them: kernite packs DXIL that somebody else compiled ([`crate::dxbc`]) and makes none.
///
/// ```
/// use kernite::pipeline::Options;
/// use kernite::{ptx, spirv};
/// let options = Options::new()
///     .with_ptx(ptx::Options::default())
///     .with_spirv(spirv::Options::default());
/// assert_eq!(options, Options::all());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// PTX, and how.
    pub ptx: Option<ptx::Options>,
    /// SPIR-V, and how.
    pub spirv: Option<spirv::Options>,
}

impl Options {
    /// No target.
    pub fn new() -> Options {
        Options::default()
    }

    /// Every target, each with its emitter's default options.
    pub fn all() -> Options {
        Options {
            ptx: Some(ptx::Options::default()),
            spirv: Some(spirv::Options::default()),
        }
    }

    /// PTX too.
    #[must_use]
    pub fn with_ptx(self, options: ptx::Options) -> Options {
        Options {
            ptx: Some(options),
            ..self
        }
    }

    /// SPIR-V too.
    #[must_use]
    pub fn with_spirv(self, options: spirv::Options) -> Options {
        Options {
            spirv: Some(options),
            ..self
        }
    }
}

/// What was made of a kernel, a part for each target that was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Artefacts {
    /// PTX, where it was asked for.
    pub ptx: Option<PtxArtefact>,
    /// SPIR-V, where it was asked for.
    pub spirv: Option<SpirvArtefact>,
}

/// A PTX text of one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PtxArtefact {
    /// The text.
    pub text: String,
    /// The kernel's name in it.
    pub entry: String,
    /// What a launch must know.
    pub signature: Signature,
}

/// A SPIR-V module of one kernel. Its entry point has the kernel's own name.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SpirvArtefact {
    /// The module.
    pub words: Vec<u32>,
    /// What a pipeline layout and a dispatch must know.
    pub signature: Signature,
}

/// Why a kernel could not be compiled: the target, and what it lacks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The options name no target.
    #[error("no target was asked for")]
    NoTarget,
    /// PTX could not be emitted.
    #[error("PTX: {0}")]
    Ptx(#[source] ptx::Error),
    /// SPIR-V could not be emitted.
    #[error("SPIR-V: {0}")]
    Spirv(#[source] spirv::Error),
}

/// Emitters and buffers, kept from one compilation to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// A kernel's stored form.
    pub kernel: Vec<u8>,
    pub emitters: Emitters,
}

/// Memory that one huge kernel needed is not kept for all the small ones to come.
pub(super) const KEPT_BYTES: usize = 16 << 20;

impl Scratch {
    /// Whether it is worth keeping.
    pub fn is_small(&self) -> bool {
        self.kernel.capacity() + self.emitters.longest <= KEPT_BYTES
    }
}

#[derive(Debug, Default)]
pub(super) struct Emitters {
    ptx: ptx::Emitter,
    spirv: spirv::Emitter,
    /// The bytes of the longest text or module they made; they keep memory for as much.
    longest: usize,
}

impl Emitters {
    pub fn ptx(
        &mut self,
        kernel: &Kernel,
        options: &ptx::Options,
    ) -> Result<PtxArtefact, CompileError> {
        let text = self.ptx.text(kernel, options).map_err(CompileError::Ptx)?;
        self.longest = self.longest.max(text.len());
        Ok(PtxArtefact {
            // Only ASCII is written.
            text: String::from_utf8_lossy(text).into_owned(),
            entry: ptx::entry_name(kernel.name()).into_owned(),
            signature: kernel.signature_with(options.bounds),
        })
    }

    pub fn spirv(
        &mut self,
        kernel: &Kernel,
        options: &spirv::Options,
    ) -> Result<SpirvArtefact, CompileError> {
        let words = self.spirv.words(kernel, options);
        let words = words.map_err(CompileError::Spirv)?;
        self.longest = self.longest.max(4 * words.len());
        Ok(SpirvArtefact {
            words: words.to_vec(),
            signature: kernel.signature_with(options.bounds),
        })
    }
}

impl Artefacts {
    /// What they count for in the cache: the code, and about what a signature takes.
    pub(super) fn bytes(&self) -> u64 {
        let signature = |signature: &Signature| {
            let params = signature.params.iter();
            let names: usize = params.map(|p| p.name.len()).sum();
            512 + names + 64 * (signature.params.len() + signature.lengths.len())
        };
        let ptx = self.ptx.as_ref();
        let ptx = ptx.map_or(0, |ptx| ptx.text.len() + signature(&ptx.signature));
        let spirv = self.spirv.as_ref();
        let spirv = spirv.map_or(0, |spirv| {
            4 * spirv.words.len() + signature(&spirv.signature)
        });
        (ptx + spirv) as u64
    }
}
