//! How refused barriers are explained.

use super::{Divergence, FaultKind};
use crate::builder::KernelBuilder;
use crate::kernel::Value;
use crate::types::Type;

/// Why the barriers of a body are refused; it gets a condition that is uniform and one that is not.
fn refused(body: impl FnOnce(&mut KernelBuilder, Value, Value)) -> Vec<Divergence> {
    let mut b = KernelBuilder::new("k", [64, 1, 1]);
    let n = b.scalar("n", Type::U32);
    let (n, thread, zero) = (b.param(n), b.local_id(0), b.constant(0u32));
    // The body begins at 5.
    let (uniform, divergent) = (b.eq(n, zero), b.eq(thread, zero));
    body(&mut b, uniform, divergent);
    let error = b.finish().expect_err("a barrier is refused");
    let why = error.faults().iter().map(|f| match f.kind {
        FaultKind::DivergentBarrier(why) => why,
        ref other => panic!("another fault: {other}"),
    });
    why.collect()
}

#[test]
fn a_loop_is_explained_by_the_way_out_that_is_divergent() {
    let why = refused(|b, uniform, divergent| {
        b.loop_(|b| {
            b.when(uniform, KernelBuilder::break_);
            b.loop_(KernelBuilder::break_);
            b.workgroup_barrier();
            b.when(divergent, KernelBuilder::break_);
        });
    });
    // 5 loop, 6 if, 7 break, 8 end, 9 loop, 10 break, 11 continuing, 12 end, 13 barrier, 14 if, 15 break.
    assert_eq!(why, [Divergence::LeftLoop { at: 15 }]);
    let why = refused(|b, uniform, divergent| {
        b.loop_(|b| {
            b.when(uniform, KernelBuilder::break_);
            b.workgroup_barrier();
            b.when(divergent, KernelBuilder::return_);
        });
    });
    assert_eq!(why, [Divergence::Return { at: 11 }]);
}

#[test]
fn many_barriers_of_one_loop_are_explained_in_linear_time() {
    // A search from the loop's begin for each of them would take minutes.
    let why = refused(|b, _, divergent| {
        b.loop_(|b| {
            for _ in 0..100_000 {
                b.workgroup_barrier();
            }
            b.when(divergent, KernelBuilder::break_);
        });
    });
    assert_eq!(why.len(), 100_000);
    let left = Divergence::LeftLoop { at: 100_007 };
    assert!(why.iter().all(|w| *w == left), "{}", why[0]);
}
