//! Several kernels that are emitted together.

use super::Kernel;
use std::collections::BTreeMap;

/// Kernels emitted together: one PTX text with several entries, one SPIR-V module with several entry points.
///
/// Names are unique within a module.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Module {
    kernels: Vec<Kernel>,
    /// Where each name is, so that a module of many kernels is built in less than quadratic time.
    names: BTreeMap<Box<str>, usize>,
}

/// Why a kernel cannot join a module.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// Another kernel of the module has the name.
    #[error("kernel {name:?} is in the module already, as number {index}")]
    DuplicateName {
        /// The name.
        name: String,
        /// The place of the other kernel.
        index: usize,
    },
}

impl Module {
    /// An empty module. Emitters accept it: a PTX text without entries is valid, a SPIR-V module without entry points is
    /// refused by its emitter.
    pub fn new() -> Module {
        Module::default()
    }

    /// Adds a kernel.
    ///
    /// # Errors
    /// [`ModuleError::DuplicateName`] when a kernel of that name is there; the module stays as it was.
    pub fn push(&mut self, kernel: Kernel) -> Result<(), ModuleError> {
        if let Some(&index) = self.names.get(kernel.name()) {
            return Err(ModuleError::DuplicateName {
                name: kernel.name().into(),
                index,
            });
        }
        self.names.insert(kernel.name().into(), self.kernels.len());
        self.kernels.push(kernel);
        Ok(())
    }

    /// The kernels in the order in which they were added.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }
}

impl From<Kernel> for Module {
    fn from(kernel: Kernel) -> Module {
        let names = BTreeMap::from([(kernel.name().into(), 0)]);
        Module {
            kernels: vec![kernel],
            names,
        }
    }
}
