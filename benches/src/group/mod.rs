//! Groups of contestants that do the same work: what Criterion times and what the ratios are taken of.

mod names;
mod ptx;
mod spirv;
mod validate;

pub use names::*;

use crate::check;
use crate::paired::Contestant;
use kernite_stages::Case;

/// A group: its contestants run in the same rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// Building a kernel and writing it as PTX.
    Ptx(Case),
    /// Building a kernel and writing it as SPIR-V.
    Spirv(Case),
    /// Validating a SPIR-V module.
    Validate(Case),
}

impl Group {
    /// Every group, in the order of reports.
    pub fn all() -> Vec<Group> {
        let each = |group: fn(Case) -> Group| Case::ALL.into_iter().map(group);
        let mut all = Vec::new();
        all.extend(each(Group::Ptx));
        all.extend(each(Group::Spirv));
        all.extend(each(Group::Validate));
        all
    }

    /// Its name, as `ptx/saxpy`.
    pub fn name(self) -> String {
        match self {
            Group::Ptx(case) => format!("ptx/{}", case.name()),
            Group::Spirv(case) => format!("spirv/{}", case.name()),
            Group::Validate(case) => format!("validate/{}", case.name()),
        }
    }

    /// Its contestants, after a check that what they make is right.
    ///
    /// # Panics
    /// Where it is not.
    pub fn contestants(self) -> Vec<Contestant> {
        match self {
            Group::Ptx(case) => {
                check::ours(case);
                check::others(case);
                ptx::contestants(case)
            }
            Group::Spirv(case) => {
                check::ours(case);
                check::others(case);
                spirv::contestants(case)
            }
            Group::Validate(case) => {
                check::ours(case);
                validate::contestants(case)
            }
        }
    }
}
