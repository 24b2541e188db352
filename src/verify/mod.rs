//! The rules that make a kernel valid.
//!
//! A kernel that passed never makes an emitter panic, and what is emitted of it always assembles and validates.
#![forbid(unsafe_code)]

mod access;
mod blocks;
mod check;
mod declare;
#[cfg(test)]
mod explanations;
mod fault;
mod made;
mod object;
mod quick;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
mod uniformity;

pub(crate) use check::Checker;
pub use declare::MAX_NAME;
pub(crate) use declare::{Declared, Kind, sized};
pub use fault::{Divergence, Fault, FaultKind, VerifyError};
pub(crate) use quick::Step;
pub use uniformity::MAX_PASSES;

use crate::kernel::{DecodeError, Draft, Kernel};

/// The greatest nesting of blocks.
pub const MAX_DEPTH: usize = 512;

/// A verifier whose memory is kept between kernels.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Verifier {
    pub check: Checker,
    pub declared: Declared,
    bindings: Vec<(u32, u32)>,
    uniformity: uniformity::Analysis,
    names: String,
}

impl Verifier {
    /// Begins a kernel whose instructions come one by one through `check`.
    pub(crate) fn begin(&mut self) {
        self.check.begin();
        self.declared = Declared::IN_DOUBT;
    }

    /// The checks that need the whole kernel. The draft takes what was found out about the body.
    #[inline(always)]
    pub(crate) fn end(&mut self, draft: &mut Draft) -> Result<(), VerifyError> {
        if !self.check.ends(draft) || !self.declared.sound(draft) {
            self.decide(draft)?;
        }
        debug_assert!(declare::is_sound(draft), "the thorough checks agree");
        core::mem::swap(&mut draft.facts, &mut self.check.facts);
        Ok(())
    }

    /// As [`Verifier::end`] where something is in doubt.
    #[cold]
    #[inline(never)]
    fn decide(&mut self, draft: &mut Draft) -> Result<(), VerifyError> {
        draft.order_names(&mut self.names);
        let draft = &*draft;
        self.check.end(draft.insts.len(), &draft.side);
        declare::check(draft, &mut self.bindings, &mut self.check.faults);
        // Uniformity is defined for a body that is otherwise sound.
        let asked = self.check.collective && self.check.in_doubt;
        if asked && self.check.faults.is_empty() {
            self.uniformity.run(draft, &mut self.check.faults);
        }
        if self.check.faults.is_empty() {
            return Ok(());
        }
        Err(VerifyError {
            kernel: draft.name_of(draft.name).into(),
            faults: core::mem::take(&mut self.check.faults),
        })
    }
}

/// Verifies a whole draft.
pub(crate) fn verify(mut draft: Draft) -> Result<Kernel, VerifyError> {
    let mut v = Verifier::default();
    v.begin();
    v.check.declared(&draft);
    v.check.expect(draft.insts.len());
    for (at, inst) in draft.insts.iter().enumerate() {
        v.check.step(&draft, at, inst, &draft.side);
    }
    v.end(&mut draft)?;
    Ok(Kernel::from_verified(Box::new(draft)))
}

/// Why bytes did not give a kernel.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The bytes are not in the stored form.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The kernel they describe is not valid.
    #[error(transparent)]
    Verify(#[from] VerifyError),
}

impl Kernel {
    /// Reads the stored form and verifies the kernel. Takes any bytes.
    ///
    /// # Errors
    /// [`LoadError::Decode`] when the bytes are not of the form that [`Kernel::to_bytes`] writes,
    /// [`LoadError::Verify`] when they are and the kernel breaks a rule.
    pub fn from_bytes(bytes: &[u8]) -> Result<Kernel, LoadError> {
        Ok(verify(Draft::decode(bytes)?)?)
    }
}
