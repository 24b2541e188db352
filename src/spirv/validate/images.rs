//! Image types and instructions.

use super::check::{Checker, Inst};
use super::error::Unsupported;

impl Checker<'_> {
    pub(super) fn image_type(&mut self, inst: &Inst<'_>) {
        self.out
            .unsupported(Unsupported::named(inst.at as usize, "", "image types"));
    }

    pub(super) fn image(&mut self, inst: &Inst<'_>) {
        self.out.unsupported(Unsupported::named(
            inst.at as usize,
            "",
            "image instructions",
        ));
    }

    pub(super) fn cooperative(&mut self, inst: &Inst<'_>) {
        self.out.unsupported(Unsupported::named(
            inst.at as usize,
            "",
            "cooperative matrices",
        ));
    }
}
