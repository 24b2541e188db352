//! PTX from kernite and from the floors.

use super::names::{BUILD, DIGITS, EMIT, FMT, ITOA, WHOLE};
use crate::count;
use crate::floor::{Digits, ptx};
use crate::paired::Contestant;
use kernite_stages::Case;
use kernite_stages::Ours;
use std::hint::black_box;

pub(super) fn contestants(case: Case) -> Vec<Contestant> {
    let text = ptx::itoa_fresh(case);
    let floor = (count::ptx(&text), text.len());
    let mut ours = Ours::default();
    let text = ours.whole_ptx(case);
    let made = (count::ptx(text), text.len());
    let (mut builds, mut emits) = (Ours::default(), Ours::default());
    let kernel = emits.build(case);
    let mut kept = Digits::default();
    vec![
        Contestant::new(ITOA, floor, move || ptx::itoa_fresh(case)),
        Contestant::new(DIGITS, floor, move || ptx::digits_kept(case, &mut kept)),
        Contestant::new(FMT, floor, move || ptx::fmt_fresh(case)),
        Contestant::new(WHOLE, made, move || {
            black_box(ours.whole_ptx(case));
        }),
        Contestant::new(BUILD, made, move || {
            let kernel = builds.build(case);
            builds.recycle(kernel);
        }),
        Contestant::new(EMIT, made, move || {
            black_box(emits.emit_ptx(&kernel));
        }),
    ]
}
