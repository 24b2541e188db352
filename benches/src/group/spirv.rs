//! SPIR-V from kernite, from the floors, from rspirv and naga.

use super::names::{EMIT, NAGA, NAGA_WRITE, PUSH_FRESH, PUSH_KEPT, RSPIRV, WHOLE};
use crate::count;
use crate::floor::spirv;
use crate::paired::Contestant;
use crate::rival;
use kernite_stages::Case;
use kernite_stages::Ours;
use std::hint::black_box;
use std::rc::Rc;

pub(super) fn contestants(case: Case) -> Vec<Contestant> {
    let size = |words: &[u32]| (count::spirv(words), 4 * words.len());
    let floor = size(&spirv::fresh(case));
    let (mut ours, mut emits) = (Ours::default(), Ours::default());
    let kernel = emits.build(case);
    let made = size(emits.emit_spirv(&kernel));
    let mut kept = Vec::new();
    let ready = Rc::new(rival::naga::Ready::new(case));
    let written = size(&ready.write());
    let validated = ready.clone();
    vec![
        Contestant::new(PUSH_FRESH, floor, move || spirv::fresh(case)),
        Contestant::new(PUSH_KEPT, floor, move || {
            kept = spirv::kept(case, std::mem::take(&mut kept));
        }),
        Contestant::new(WHOLE, made, move || {
            black_box(ours.whole_spirv(case));
        }),
        Contestant::new(EMIT, made, move || {
            black_box(emits.emit_spirv(&kernel));
        }),
        Contestant::new(RSPIRV, floor, move || rival::rspirv::build(case)),
        Contestant::new(NAGA, written, move || ready.validate_and_write()),
        Contestant::new(NAGA_WRITE, written, move || validated.write()),
    ]
}
