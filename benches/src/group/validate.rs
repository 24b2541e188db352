//! Validators on the module that kernite makes.

use super::names::{HEADERS, NAGA_PARSE, RSPIRV_PARSE, SPIRV_TOOLS, VALIDATE};
use crate::count;
use crate::paired::Contestant;
use crate::rival;
use kernite_stages::Case;
use kernite_stages::Ours;
use std::rc::Rc;

pub(super) fn contestants(case: Case) -> Vec<Contestant> {
    // The floor's module: naga, whose validator takes part, does not know what kernite's asks for (SPIR-V 1.6).
    let words: Rc<[u32]> = crate::floor::spirv::fresh(case).into();
    let size = (count::spirv(&words), 4 * words.len());
    let [headers, ours_words, parsed, taken] = std::array::from_fn(|_| words.clone());
    let mut ours = Ours::default();
    assert_eq!(rival::rspirv::parse(&words), size.0);
    rival::naga::parse_and_validate(&words);
    let mut contestants = vec![
        Contestant::new(HEADERS, size, move || count::spirv(&headers)),
        Contestant::new(VALIDATE, size, move || ours.validate(&ours_words)),
        Contestant::new(RSPIRV_PARSE, size, move || rival::rspirv::parse(&parsed)),
        Contestant::new(NAGA_PARSE, size, move || {
            rival::naga::parse_and_validate(&taken)
        }),
    ];
    if let Some(tools) = rival::spirv_tools::SpirvTools::load() {
        let run = move || tools.validate(&words);
        contestants.push(Contestant::new(SPIRV_TOOLS, size, run));
    }
    contestants
}
