//! kernite on the cases: each stage through the public API, with default options and memory that is kept.

use crate::Case;
use kernite::builder::KernelBuilder;
use kernite::kernel::Kernel;
use kernite::spirv::validate::Validator;
use kernite::{ptx, spirv};

/// Everything that a user would keep between kernels.
#[derive(Debug)]
pub struct Ours {
    builder: KernelBuilder,
    ptx: ptx::Emitter,
    spirv: spirv::Emitter,
    validator: Validator,
    ptx_options: ptx::Options,
    spirv_options: spirv::Options,
}

impl Default for Ours {
    fn default() -> Ours {
        // The goldens' target; the text for the default one differs in its name alone.
        let target = ptx::Target::parse("sm_80").expect("a target");
        Ours {
            builder: KernelBuilder::new("bench", [1, 1, 1]),
            ptx: ptx::Emitter::new(),
            spirv: spirv::Emitter::new(),
            validator: Validator::new(),
            ptx_options: ptx::Options::new(target),
            spirv_options: spirv::Options::default(),
        }
    }
}

impl Ours {
    /// Builds and verifies the kernel of a case.
    ///
    /// # Panics
    /// Where the verifier refuses it.
    #[inline(never)]
    pub fn build(&mut self, case: Case) -> Kernel {
        case.describe(&mut self.builder);
        self.builder.finish().expect("a verified kernel")
    }

    /// Gives a kernel's memory back.
    pub fn recycle(&mut self, kernel: Kernel) {
        self.builder.recycle(kernel);
    }

    /// Writes a kernel as PTX.
    ///
    /// # Panics
    /// Where the emitter refuses it.
    #[inline(never)]
    pub fn emit_ptx(&mut self, kernel: &Kernel) -> &[u8] {
        self.ptx.text(kernel, &self.ptx_options).expect("PTX")
    }

    /// Writes a kernel as SPIR-V; gives its words.
    ///
    /// # Panics
    /// Where the emitter refuses it.
    #[inline(never)]
    pub fn emit_spirv(&mut self, kernel: &Kernel) -> &[u32] {
        self.spirv
            .words(kernel, &self.spirv_options)
            .expect("SPIR-V")
    }

    /// Builds, verifies and emits PTX.
    ///
    /// # Panics
    /// Where the emitter refuses it.
    pub fn whole_ptx(&mut self, case: Case) -> &[u8] {
        let kernel = self.build(case);
        let text = self.ptx.text(&kernel, &self.ptx_options).expect("PTX");
        self.builder.recycle(kernel);
        text
    }

    /// Builds, verifies and emits SPIR-V.
    ///
    /// # Panics
    /// Where the emitter refuses it.
    pub fn whole_spirv(&mut self, case: Case) -> &[u32] {
        let kernel = self.build(case);
        let words = self.spirv.words(&kernel, &self.spirv_options);
        self.builder.recycle(kernel);
        words.expect("SPIR-V")
    }

    /// Validates a module.
    ///
    /// # Panics
    /// Where it is not valid.
    #[inline(never)]
    pub fn validate(&mut self, words: &[u32]) {
        let verdict = self.validator.words(words);
        assert!(verdict.is_valid(), "{verdict}");
    }
}
