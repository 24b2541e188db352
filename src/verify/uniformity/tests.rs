//! One test for each sentence of the rules, with what is accepted and what is refused.

use crate::builder::KernelBuilder;
use crate::kernel::{Inst, Value};
use crate::op::Op;
use crate::types::{Access, Type};
use crate::verify::fault::{Divergence, FaultKind};

/// Builds a kernel with a read-only and a writable buffer and a scalar, and tells why its barriers are refused.
fn refused(body: impl FnOnce(&mut KernelBuilder, Sources)) -> Vec<Divergence> {
    let mut b = KernelBuilder::new("k", [64, 1, 1]);
    let sources = Sources {
        input: b.buffer("input", Type::U32, Access::Read),
        output: b.buffer("output", Type::U32, Access::ReadWrite),
        tile: b.shared_zeroed("tile", Type::U32, 64),
        n: b.scalar("n", Type::U32),
    };
    body(&mut b, sources);
    match b.finish() {
        Ok(_) => Vec::new(),
        Err(e) => e
            .faults()
            .iter()
            .map(|f| match f.kind {
                FaultKind::DivergentBarrier(why) => why,
                ref other => panic!("another fault: {other}"),
            })
            .collect(),
    }
}

#[derive(Clone, Copy)]
struct Sources {
    input: crate::kernel::Buffer,
    output: crate::kernel::Buffer,
    tile: crate::kernel::Shared,
    n: crate::kernel::Scalar,
}

/// A barrier under a condition that compares the value with a constant.
fn guarded(value: impl FnOnce(&mut KernelBuilder, Sources) -> Value) -> bool {
    let why = refused(|b, s| {
        let value = value(b, s);
        let four = b.constant(4u32);
        let few = b.lt(value, four);
        b.when(few, KernelBuilder::workgroup_barrier);
    });
    assert!(
        why.iter()
            .all(|w| matches!(w, Divergence::Condition { .. }))
    );
    why.is_empty()
}

#[test]
fn what_is_workgroup_uniform() {
    assert!(guarded(|b, _| b.constant(1u32)));
    assert!(guarded(|b, s| b.param(s.n)));
    assert!(guarded(|b, _| b.workgroup_id(0)));
    assert!(guarded(|b, _| b.num_workgroups(1)));
    assert!(guarded(|b, _| b.workgroup_size(2)));
    assert!(guarded(|b, s| b.array_length(s.output)));
    assert!(guarded(|b, s| {
        let i = b.workgroup_id(0);
        b.load(s.input, i)
    }));
    assert!(guarded(|b, s| {
        let (i, n) = (b.workgroup_id(0), b.param(s.n));
        b.mul(i, n)
    }));
    assert!(guarded(|b, _| {
        let lane = b.lane();
        b.assume_uniform(lane)
    }));
}

#[test]
fn what_is_divergent() {
    assert!(!guarded(|b, _| b.local_id(0)));
    assert!(!guarded(|b, _| b.global_id(0)));
    assert!(!guarded(|b, _| b.local_index()));
    assert!(!guarded(|b, _| b.lane()));
    assert!(!guarded(|b, _| b.subgroup_id()));
    assert!(!guarded(|b, s| {
        let i = b.local_id(0);
        b.load(s.input, i)
    }));
    assert!(!guarded(|b, s| {
        let i = b.workgroup_id(0);
        b.load(s.output, i)
    }));
    assert!(!guarded(|b, s| {
        let i = b.constant(0u32);
        b.load(s.tile, i)
    }));
    assert!(!guarded(|b, s| {
        let i = b.constant(0u32);
        b.atomic_add(s.output, i, i)
    }));
    assert!(!guarded(|b, s| {
        let i = b.constant(0u32);
        b.load_with(s.input, i, 0, Inst::VOLATILE)
    }));
    assert!(!guarded(|b, _| {
        let (i, two) = (b.local_id(0), b.constant(2u32));
        let half = b.div(i, two);
        let zero = b.constant(0u32);
        b.mul(half, zero)
    }));
}

#[test]
fn the_everyday_mistake_is_found_and_explained() {
    let why = refused(|b, s| {
        let (i, n) = (b.global_id(0), b.param(s.n));
        let outside = b.ge(i, n);
        b.when(outside, KernelBuilder::return_);
        b.workgroup_barrier();
    });
    assert_eq!(why, [Divergence::Return { at: 4 }]);
    let uniform = refused(|b, s| {
        let (i, n) = (b.workgroup_id(0), b.param(s.n));
        let outside = b.ge(i, n);
        b.when(outside, KernelBuilder::return_);
        b.workgroup_barrier();
    });
    assert_eq!(uniform, []);
}

#[test]
fn variables_carry_divergence() {
    let set_by = |divergent: bool| {
        refused(|b, s| {
            let (zero, one) = (b.constant(0u32), b.constant(1u32));
            let x = b.var(zero);
            let (i, n) = (b.local_id(0), b.param(s.n));
            let condition = b.lt(if divergent { i } else { n }, one);
            b.when(condition, |b| b.set(x, one));
            let now = b.get(x);
            let set = b.eq(now, one);
            b.when(set, KernelBuilder::workgroup_barrier);
        })
    };
    assert_eq!(set_by(true).len(), 1);
    assert_eq!(set_by(false), []);
}

#[test]
fn a_divergent_break_makes_every_round_divergent() {
    let broken_by = |divergent: bool| {
        refused(|b, s| {
            let (i, n) = (b.local_id(0), b.param(s.n));
            let zero = b.constant(0u32);
            let count = b.var(zero);
            b.loop_(|b| {
                b.workgroup_barrier();
                let now = b.get(count);
                let one = b.constant(1u32);
                let next = b.add(now, one);
                b.set(count, next);
                let done = b.ge(next, if divergent { i } else { n });
                b.when(done, KernelBuilder::break_);
            });
            // Behind the loop all are together again.
            b.workgroup_barrier();
        })
    };
    assert!(matches!(broken_by(true)[..], [Divergence::LeftLoop { .. }]));
    assert_eq!(broken_by(false), []);
}

#[test]
fn a_divergent_continue_makes_the_rest_of_the_round_divergent() {
    let barrier_at = |after: bool| {
        refused(|b, s| {
            let n = b.param(s.n);
            let (zero, i) = (b.constant(0u32), b.local_id(0));
            b.for_range(zero, n, |b, round| {
                if !after {
                    b.workgroup_barrier();
                }
                let skip = b.eq(i, round);
                b.when(skip, KernelBuilder::continue_);
                if after {
                    b.workgroup_barrier();
                }
            });
        })
    };
    assert!(matches!(
        barrier_at(true)[..],
        [Divergence::LeftLoop { .. }]
    ));
    assert_eq!(barrier_at(false), []);
}

#[test]
fn a_divergent_return_in_a_loop_reaches_its_earlier_part() {
    let why = refused(|b, s| {
        let n = b.param(s.n);
        let (zero, i) = (b.constant(0u32), b.local_id(0));
        b.for_range(zero, n, |b, round| {
            b.workgroup_barrier();
            let out = b.eq(i, round);
            b.when(out, KernelBuilder::return_);
        });
    });
    assert_eq!(why.len(), 1);
}

#[test]
fn levels_travel_against_program_order_through_a_loop() {
    let chain = |length: usize| {
        refused(|b, s| {
            let (zero, n) = (b.constant(0u32), b.param(s.n));
            let i = b.local_id(0);
            let vars: Vec<_> = (0..length).map(|_| b.var(zero)).collect();
            b.for_range(zero, n, |b, _| {
                let first = b.get(vars[0]);
                let quiet = b.eq(first, zero);
                b.when(quiet, KernelBuilder::workgroup_barrier);
                for pair in vars.windows(2) {
                    let from = b.get(pair[1]);
                    b.set(pair[0], from);
                }
                b.set(vars[length - 1], i);
            });
        })
    };
    assert_eq!(chain(5).len(), 1);
    assert_eq!(chain(1000).len(), 1);
}

/// However long the chain is that a level travels along, what does not depend on it stays uniform.
#[test]
fn a_long_chain_costs_no_precision() {
    for length in [2, 33, 1000] {
        let why = refused(|b, s| {
            let (zero, n) = (b.constant(0u32), b.param(s.n));
            let i = b.local_id(0);
            let vars: Vec<_> = (0..length).map(|_| b.var(zero)).collect();
            let other = b.var(zero);
            b.for_range(zero, n, |b, round| {
                for pair in vars.windows(2) {
                    let from = b.get(pair[1]);
                    b.set(pair[0], from);
                }
                b.set(vars[length - 1], i);
                let now = b.get(other);
                let quiet = b.eq(now, zero);
                b.when(quiet, KernelBuilder::workgroup_barrier);
                b.set(other, round);
            });
        });
        assert_eq!(why, []);
    }
}

/// A loop carries a set to the reads before it, and only that loop does.
#[test]
fn a_set_counts_for_what_it_reaches() {
    /// Where the variable is set to something divergent.
    #[derive(Clone, Copy, PartialEq)]
    enum Set {
        BeforeTheRead,
        InTheLoop,
        InTheContinuingPart,
        InTheNextLoop,
        Behind,
    }
    let accepted = |set: Set, in_doubt: bool| {
        let why = refused(|b, s| {
            let (zero, n) = (b.constant(0u32), b.param(s.n));
            let i = b.local_id(0);
            let (x, other) = (b.var(zero), b.var(zero));
            b.begin_loop();
            if set == Set::BeforeTheRead {
                b.set(x, i);
            }
            let now = b.get(x);
            let quiet = b.eq(now, n);
            b.when(quiet, KernelBuilder::workgroup_barrier);
            if set == Set::InTheLoop {
                b.set(x, i);
            }
            if in_doubt {
                // Divergence that travels against program order, where nothing depends on it.
                let before = b.get(other);
                b.set(other, i);
                b.store(s.output, before, n);
            }
            let done = b.eq(n, zero);
            b.when(done, KernelBuilder::break_);
            b.begin_continuing();
            if set == Set::InTheContinuingPart {
                b.set(x, i);
            }
            b.end();
            b.for_range(zero, n, |b, _| {
                if set == Set::InTheNextLoop {
                    b.set(x, i);
                }
            });
            if set == Set::Behind {
                b.set(x, i);
            }
        });
        why.is_empty()
    };
    for in_doubt in [false, true] {
        assert!(!accepted(Set::BeforeTheRead, in_doubt));
        assert!(!accepted(Set::InTheLoop, in_doubt));
        assert!(!accepted(Set::InTheContinuingPart, in_doubt));
        assert!(accepted(Set::InTheNextLoop, in_doubt));
        assert!(accepted(Set::Behind, in_doubt));
    }
}

/// What a loop's counter held is not the same for all where it is set to something else, whichever comes first in the round.
#[test]
fn a_set_counts_for_what_was_read_before_it() {
    for behind in [false, true] {
        for divergent in [false, true] {
            let why = refused(|b, s| {
                let (zero, n, i) = (b.constant(0u32), b.param(s.n), b.local_id(0));
                let counter = b.var(zero);
                b.loop_(|b| {
                    let now = b.get(counter);
                    if behind {
                        b.set(counter, if divergent { i } else { n });
                    }
                    let quiet = b.eq(now, n);
                    b.when(quiet, KernelBuilder::workgroup_barrier);
                    if !behind {
                        b.set(counter, if divergent { i } else { n });
                    }
                    let done = b.eq(n, zero);
                    b.when(done, KernelBuilder::break_);
                });
            });
            assert_eq!(why.len(), usize::from(divergent));
        }
    }
}

/// A loop that is left one by one, with nothing in it that all must reach, does not keep all from meeting behind it.
#[test]
fn divergent_loops_end() {
    let why = refused(|b, s| {
        let (zero, i) = (b.constant(0u32), b.local_id(0));
        let sum = b.var(zero);
        b.for_range(zero, i, |b, round| {
            let more = b.load(s.input, round);
            let now = b.get(sum);
            let next = b.add(now, more);
            b.set(sum, next);
        });
        b.workgroup_barrier();
        let now = b.get(sum);
        let some = b.ne(now, zero);
        b.when(some, KernelBuilder::workgroup_barrier);
    });
    assert!(matches!(why[..], [Divergence::Condition { .. }]));
}

#[test]
fn barriers_have_no_place_in_a_continuing_part() {
    let mut b = KernelBuilder::new("k", [64, 1, 1]);
    b.begin_loop();
    b.begin_continuing();
    b.workgroup_barrier();
    b.end();
    let faults = b.finish().unwrap_err();
    assert_eq!(
        faults.faults()[0].kind,
        FaultKind::InContinuing(Op::WorkgroupBarrier)
    );
}

/// Whether a subgroup operation is accepted under a condition on the value.
fn ballot_under(value: impl FnOnce(&mut KernelBuilder, Sources) -> Value) -> bool {
    let mut b = KernelBuilder::new("k", [64, 1, 1]);
    let sources = Sources {
        input: b.buffer("input", Type::U32, Access::Read),
        output: b.buffer("output", Type::U32, Access::ReadWrite),
        tile: b.shared_zeroed("tile", Type::U32, 64),
        n: b.scalar("n", Type::U32),
    };
    let value = value(&mut b, sources);
    let four = b.constant(4u32);
    let few = b.lt(value, four);
    b.when(few, |b| {
        let yes = b.constant(true);
        b.ballot(yes);
    });
    match b.finish() {
        Ok(_) => true,
        Err(e) => {
            assert!(
                matches!(e.faults()[0].kind, FaultKind::DivergentSubgroup(_)),
                "{e}"
            );
            false
        }
    }
}

#[test]
fn subgroup_operations_need_subgroup_uniform_control() {
    assert!(ballot_under(|b, s| b.param(s.n)));
    assert!(ballot_under(|b, _| b.subgroup_id()));
    assert!(ballot_under(|b, _| {
        let lane = b.lane();
        b.subgroup_max(lane, crate::builder::Scan::Reduce)
    }));
    assert!(ballot_under(|b, _| {
        let (lane, zero) = (b.lane(), b.constant(0u32));
        b.broadcast(lane, zero)
    }));
    assert!(ballot_under(|b, _| {
        let yes = b.constant(true);
        let mask = b.ballot(yes);
        b.extract(mask, 0)
    }));
    assert!(!ballot_under(|b, _| b.lane()));
    assert!(!ballot_under(|b, _| {
        let lane = b.lane();
        b.subgroup_add(lane, crate::builder::Scan::Exclusive)
    }));
    assert!(!ballot_under(|b, _| {
        let lane = b.lane();
        b.broadcast(lane, lane)
    }));
    assert!(!ballot_under(|b, _| {
        let (lane, one) = (b.lane(), b.constant(1u32));
        b.shuffle_xor(lane, one)
    }));
}

#[test]
fn what_is_uniform_in_a_subgroup_is_not_in_the_workgroup() {
    assert!(!guarded(|b, _| {
        let lane = b.lane();
        b.subgroup_min(lane, crate::builder::Scan::Reduce)
    }));
    assert!(guarded(|b, s| {
        let table = b.table("t", Type::U32, &[1u32, 2, 3]);
        let n = b.param(s.n);
        b.load(table, n)
    }));
}
