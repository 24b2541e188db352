//! Groups of contestants that do the same work: what Criterion times and what the ratios are taken of.

mod dxbc;
mod growth;
mod names;
mod ptx;
mod reference;
mod spirv;
mod validate;
mod worst;

pub use growth::Stage;
pub use names::*;
pub use reference::Run;

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
    /// Reading and checking a DXBC container.
    Dxbc,
    /// Running a kernel on the reference executor.
    Reference(Run),
    /// A stage on straight kernels of growing size.
    Growth(Stage),
    /// A stage on kernels that are not straight.
    Worst(Stage),
}

impl Group {
    /// Every group, in the order of reports.
    pub fn all() -> Vec<Group> {
        let each = |group: fn(Case) -> Group| Case::ALL.into_iter().map(group);
        let mut all = Vec::new();
        all.extend(each(Group::Ptx));
        all.extend(each(Group::Spirv));
        all.extend(each(Group::Validate));
        all.push(Group::Dxbc);
        all.extend(Run::ALL.map(Group::Reference));
        all.extend(Stage::ALL.map(Group::Growth));
        all.extend(Stage::ALL.map(Group::Worst));
        all
    }

    /// Its name, as `ptx/saxpy`.
    pub fn name(self) -> String {
        match self {
            Group::Ptx(case) => format!("ptx/{}", case.name()),
            Group::Spirv(case) => format!("spirv/{}", case.name()),
            Group::Validate(case) => format!("validate/{}", case.name()),
            Group::Dxbc => "dxbc".to_owned(),
            Group::Reference(run) => format!("reference/{}", run.name()),
            Group::Growth(stage) => format!("growth/{}", stage.name()),
            Group::Worst(stage) => format!("worst/{}", stage.name()),
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
            Group::Dxbc => dxbc::contestants(),
            Group::Reference(run) => reference::contestants(run),
            Group::Growth(stage) => growth::contestants(stage),
            Group::Worst(stage) => worst::contestants(stage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_contestant_has_a_name_of_its_own_and_runs() {
        let mut names = HashSet::new();
        for group in Group::all() {
            assert!(names.insert(group.name()), "{group:?}");
            // These take long without optimisation.
            if matches!(group, Group::Reference(_) | Group::Growth(_)) {
                continue;
            }
            let mut names = HashSet::new();
            for mut contestant in group.contestants() {
                assert!(names.insert(contestant.name), "{group:?}");
                contestant.run();
            }
        }
    }

    #[test]
    fn bars_name_contestants_that_there_are() {
        use crate::bars::{BARS, EVERY, Limit};
        for group in [
            Group::Ptx(Case::Saxpy),
            Group::Spirv(Case::Saxpy),
            Group::Validate(Case::Matmul16),
            Group::Dxbc,
        ] {
            let contestants = group.contestants();
            // A library that may not be installed.
            let there = |name| {
                name == EVERY || name == SPIRV_TOOLS || contestants.iter().any(|c| c.name == name)
            };
            for bar in BARS.iter().filter(|bar| (bar.groups)(group)) {
                assert!(there(bar.ours), "{bar:?}");
                match bar.limit {
                    Limit::Ratio(_, other)
                    | Limit::Faster(_, other)
                    | Limit::Bytes(_, other)
                    | Limit::NanosMore(_, other) => assert!(there(other), "{bar:?}"),
                    Limit::EachNanos(_) | Limit::Millions(_) | Limit::Spread(_) => {}
                }
            }
        }
    }
}
