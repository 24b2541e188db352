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
    /// The PTX written last.
    pub text: Vec<u8>,
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
            text: Vec::new(),
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

    /// Writes a kernel as PTX; gives its bytes.
    ///
    /// # Panics
    /// Where the emitter refuses it.
    #[inline(never)]
    pub fn emit_ptx(&mut self, kernel: &Kernel) -> usize {
        self.text.clear();
        self.ptx
            .emit(kernel, &self.ptx_options, &mut self.text)
            .expect("PTX");
        self.text.len()
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
    pub fn whole_ptx(&mut self, case: Case) -> usize {
        let kernel = self.build(case);
        let bytes = self.emit_ptx(&kernel);
        self.recycle(kernel);
        bytes
    }

    /// Builds, verifies and emits SPIR-V; gives the number of words.
    pub fn whole_spirv(&mut self, case: Case) -> usize {
        let kernel = self.build(case);
        let words = self.emit_spirv(&kernel).len();
        self.recycle(kernel);
        words
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
