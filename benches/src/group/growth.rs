//! How the cost of each stage grows: straight kernels of 10^2 to 10^6 instructions.

use crate::count;
use crate::paired::Contestant;
use kernite_stages::{Case, Ours};
use std::hint::black_box;

/// A stage of kernite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Builder calls and verification.
    Build,
    /// Emission of PTX.
    Ptx,
    /// Emission of SPIR-V.
    Spirv,
    /// Validation.
    Validate,
}

impl Stage {
    /// Every stage.
    pub const ALL: [Stage; 4] = [Stage::Build, Stage::Ptx, Stage::Spirv, Stage::Validate];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Build => "build",
            Stage::Ptx => "ptx",
            Stage::Spirv => "spirv",
            Stage::Validate => "validate",
        }
    }
}

const SIZES: [(&str, u32); 5] = [
    ("10^2 instructions", 100),
    ("10^3 instructions", 1_000),
    ("10^4 instructions", 10_000),
    ("10^5 instructions", 100_000),
    ("10^6 instructions", 1_000_000),
];

pub(super) fn contestants(stage: Stage) -> Vec<Contestant> {
    let each = |(name, n)| contestant(name, Case::Straight(n), stage);
    SIZES.into_iter().map(each).collect()
}

fn contestant(name: &'static str, case: Case, stage: Stage) -> Contestant {
    let mut ours = Ours::default();
    let kernel = ours.build(case);
    let text = ours.emit_ptx(&kernel);
    let text = (count::ptx(text), text.len());
    let words = ours.emit_spirv(&kernel).to_vec();
    ours.validate(&words);
    let module = (count::spirv(&words), 4 * words.len());
    match stage {
        Stage::Build => {
            let size = (kernel.insts().len(), size_of_val(kernel.insts()));
            Contestant::new(name, size, move || {
                let kernel = ours.build(case);
                ours.recycle(kernel);
            })
        }
        Stage::Ptx => Contestant::new(name, text, move || {
            black_box(ours.emit_ptx(&kernel));
        }),
        Stage::Spirv => Contestant::new(name, module, move || {
            black_box(ours.emit_spirv(&kernel));
        }),
        Stage::Validate => Contestant::new(name, module, move || ours.validate(&words)),
    }
}
