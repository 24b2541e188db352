//! What stands for a GPU where kernite was built without the feature `cuda`: there is none.

use super::error::Unavailable;
use super::{Arg, CacheStats, Config, LoadFailure, RunError, Timer};
use crate::kernel::Kernel;
use crate::reference::Launch;
use std::sync::Arc;

/// Never there.
#[derive(Debug)]
pub(super) enum Gpu {}

/// Never loaded.
pub(super) enum Function {}

/// Never launched.
pub(super) enum Launched {}

impl Gpu {
    pub fn open(_: &Config) -> Result<Gpu, Unavailable> {
        Err(Unavailable::NotBuilt)
    }

    pub fn function(
        &self,
        _: &Kernel,
        _: &[u8],
        _: u64,
        _: &Timer,
    ) -> Result<Arc<Function>, LoadFailure> {
        match *self {}
    }

    pub fn launch(
        &self,
        _: &Function,
        _: &Kernel,
        _: &Launch,
        _: &[Arg<'_>],
        _: &Timer,
    ) -> Result<Launched, RunError> {
        match *self {}
    }

    pub fn stats(&self) -> CacheStats {
        match *self {}
    }

    pub fn clear(&self) {
        match *self {}
    }
}

impl Launched {
    pub fn read(&self, _: usize, _: &mut [u8]) -> Result<(), RunError> {
        match *self {}
    }
}
