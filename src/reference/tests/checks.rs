//! What is reported, and that each report can be switched off.

use super::*;
use crate::kernel::{Mem, Ordering};
use crate::op::Op;
use crate::reference::{ExecError, Thread, Touch, TrapKind};
use crate::types::{Access, Const, Type};

fn thread(workgroup: u32, local: u32) -> Thread {
    Thread {
        workgroup: [workgroup, 0, 0],
        local: [local, 0, 0],
    }
}

/// Runs with every check but those that `off` switches off.
fn without(
    off: impl FnOnce(&mut Checks),
    k: &Kernel,
    n: u32,
    args: &mut [Arg],
) -> Result<Report, ExecError> {
    let mut options = strict(n);
    off(&mut options.checks);
    Executor::new(options).run(k, [1, 1, 1], args)
}

#[test]
fn the_first_thread_out_of_bounds_is_named() {
    let k = kernel([8, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let i = b.local_index();
        b.store_offset(out, i, 2, i);
    });
    let at = places(&k, Op::Store)[0];
    for n in SUBGROUPS {
        let trap = trap(&k, n, [1, 1, 1], &mut [u32s(7)]);
        let expected = Trap {
            at,
            op: Op::Store,
            thread: thread(0, 5),
            kind: TrapKind::OutOfBounds {
                mem: Mem::Buffer(0),
                index: 5,
                offset: 2,
                len: 7,
            },
        };
        assert_eq!(trap, expected);
    }
    run(&k, 4, [1, 1, 1], &mut [u32s(10)]);
}

#[test]
fn index_and_offset_do_not_wrap() {
    for (ty, index) in [(Type::U32, u64::from(u32::MAX)), (Type::U64, u64::MAX)] {
        let k = kernel([1, 1, 1], |b| {
            let buf = b.buffer("buf", Type::U32, Access::Read);
            let index = b.constant(Const::new(ty, index).unwrap());
            b.load_offset(buf, index, 3);
        });
        let trap = trap(&k, 1, [1, 1, 1], &mut [u32s(8)]);
        let expected = TrapKind::OutOfBounds {
            mem: Mem::Buffer(0),
            index,
            offset: 3,
            len: 8,
        };
        assert_eq!(trap.kind, expected);
    }
}

#[test]
fn inactive_threads_are_out_of_nothing() {
    let k = kernel([32, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::ReadWrite);
        let i = b.global_id(0);
        let n = b.array_length(out);
        let inside = b.lt(i, n);
        b.when(inside, |b| {
            let v = b.load(out, i);
            b.store(out, i, v);
        });
    });
    for n in SUBGROUPS {
        run(&k, n, [2, 1, 1], &mut [u32s(37)]);
        run(&k, n, [2, 1, 1], &mut [u32s(0)]);
    }
}

#[test]
fn reads_before_writes_are_reported() {
    let k = kernel([4, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let tile = b.shared("tile", Type::U32, 8);
        let i = b.local_index();
        b.store(tile, i, i);
        b.workgroup_barrier();
        let v = b.load_offset(tile, i, 1);
        b.store(out, i, v);
    });
    for n in SUBGROUPS {
        let trap = trap(&k, n, [1, 1, 1], &mut [u32s(4)]);
        assert_eq!(trap.thread, thread(0, 3));
        let kind = TrapKind::Uninitialized {
            mem: Mem::Shared(0),
            element: 4,
        };
        assert_eq!(trap.kind, kind);
        let mut args = [u32s(4)];
        without(|c| c.uninitialized = false, &k, n, &mut args).unwrap();
        assert_eq!(got(&args[0]), [1, 2, 3, 0]);
    }

    // What one workgroup wrote, the next has not; an atomic reads too.
    let k = kernel([1, 1, 1], |b| {
        let tile = b.shared("tile", Type::U32, 1);
        let (g, zero) = (b.workgroup_id(0), b.constant(0u32));
        let first = b.eq(g, zero);
        b.when(first, |b| b.store(tile, zero, zero));
        b.atomic_add(tile, zero, g);
    });
    assert_eq!(trap(&k, 1, [2, 1, 1], &mut []).thread, thread(1, 0));
}

#[test]
fn private_reads_before_writes_are_reported_for_each_thread() {
    let k = kernel([6, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let mine = b.private("mine", Type::U32, 2);
        let i = b.local_index();
        let (zero, two) = (b.constant(0u32), b.constant(2u32));
        let low = b.lt(i, two);
        b.when(low, |b| b.store(mine, zero, two));
        let v = b.load(mine, zero);
        b.store(out, i, v);
    });
    for n in SUBGROUPS {
        let trap = trap(&k, n, [1, 1, 1], &mut [u32s(6)]);
        assert_eq!((trap.thread, trap.op), (thread(0, 2), Op::Load));
        let kind = TrapKind::Uninitialized {
            mem: Mem::Private(0),
            element: 0,
        };
        assert_eq!(trap.kind, kind);
        let mut args = [u32s(6)];
        without(|c| c.uninitialized = false, &k, n, &mut args).unwrap();
        assert_eq!(got(&args[0]), [2, 2, 0, 0, 0, 0]);
    }
}

#[test]
fn a_missing_barrier_is_a_race_on_shared_memory() {
    let k = |barrier: bool| {
        kernel([16, 1, 1], |b| {
            let tile = b.shared_zeroed("tile", Type::U32, 16);
            let out = b.buffer("out", Type::U32, Access::Write);
            let i = b.local_index();
            b.store(tile, i, i);
            if barrier {
                b.workgroup_barrier();
            }
            let fifteen = b.constant(15u32);
            let j = b.xor(i, fifteen);
            let v = b.load(tile, j);
            b.store(out, i, v);
        })
    };
    let wrong = k(false);
    for n in SUBGROUPS {
        let trap = trap(&wrong, n, [1, 1, 1], &mut [u32s(16)]);
        assert_eq!(trap.op, if n >= 16 { Op::Load } else { trap.op });
        assert!(matches!(trap.kind, TrapKind::Race { .. }), "{trap}");
        without(|c| c.shared_races = false, &wrong, n, &mut [u32s(16)]).unwrap();
        let mut args = [u32s(16)];
        run(&k(true), n, [1, 1, 1], &mut args);
        assert_eq!(got(&args[0])[..3], [15, 14, 13]);
    }
    let first = trap(&wrong, 32, [1, 1, 1], &mut [u32s(16)]);
    let expected = TrapKind::Race {
        mem: Mem::Shared(0),
        element: 15,
        touch: Touch::Read,
        other: Some(thread(0, 15)),
        other_at: places(&wrong, Op::Store)[0],
        other_touch: Touch::Write,
    };
    assert_eq!((first.thread, first.kind), (thread(0, 0), expected));
}

#[test]
fn lanes_of_one_store_race_and_atomics_do_not() {
    let plain = kernel([8, 1, 1], |b| {
        let tile = b.shared("tile", Type::U32, 1);
        let zero = b.constant(0u32);
        b.store(tile, zero, zero);
    });
    let trap1 = trap(&plain, 8, [1, 1, 1], &mut []);
    assert_eq!(trap1.thread, thread(0, 1));
    let atomic = kernel([8, 1, 1], |b| {
        let tile = b.shared_zeroed("tile", Type::U32, 1);
        let (i, zero) = (b.local_index(), b.constant(0u32));
        b.atomic_add(tile, zero, i);
        b.atomic_store(tile, zero, 0, i, Ordering::RELAXED);
        b.atomic_load(tile, zero, 0, Ordering::RELAXED);
    });
    run(&atomic, 4, [1, 1, 1], &mut []);
    let mixed = kernel([8, 1, 1], |b| {
        let tile = b.shared_zeroed("tile", Type::U32, 1);
        let (i, zero) = (b.local_index(), b.constant(0u32));
        b.atomic_add(tile, zero, i);
        b.load(tile, zero);
    });
    let kind = trap(&mixed, 8, [1, 1, 1], &mut []).kind;
    assert!(matches!(
        kind,
        TrapKind::Race {
            touch: Touch::Read,
            other_touch: Touch::AtomicWrite,
            ..
        }
    ));
}

#[test]
fn races_on_buffers_cross_workgroups_and_are_reported_on_request() {
    // Every workgroup reads its neighbour's element, which the neighbour writes.
    let k = kernel([1, 1, 1], |b| {
        let data = b.buffer("data", Type::U32, Access::ReadWrite);
        let g = b.workgroup_id(0);
        let v = b.load_offset(data, g, 1);
        b.store(data, g, v);
    });
    let trap = trap(&k, 1, [3, 1, 1], &mut [u32s(4)]);
    assert_eq!((trap.thread, trap.op), (thread(1, 0), Op::Store));
    let expected = TrapKind::Race {
        mem: Mem::Buffer(0),
        element: 1,
        touch: Touch::Write,
        other: Some(thread(0, 0)),
        other_at: places(&k, Op::Load)[0],
        other_touch: Touch::Read,
    };
    assert_eq!(trap.kind, expected);
    let report = Executor::new(Options::default()).run(&k, [3, 1, 1], &mut [u32s(4)]);
    assert_eq!(report.unwrap().workgroups, 3);
}

#[test]
fn races_are_seen_through_views_of_other_element_types() {
    let k = kernel([2, 1, 1], |b| {
        let options = crate::builder::BufferOptions::new().may_alias();
        let wide = b.buffer_with("wide", Type::U64, Access::Write, options);
        let narrow = b.buffer_with("narrow", Type::U32, Access::Read, options);
        let (i, zero) = (b.local_index(), b.constant(0u32));
        let first = b.eq(i, zero);
        b.if_else(
            first,
            |b| {
                let v = b.constant(7u64);
                b.store(wide, zero, v);
            },
            |b| {
                b.load_offset(narrow, zero, 1);
            },
        );
    });
    let narrow = |offset| {
        Arg::from(crate::reference::View {
            of: 0,
            offset,
            ty: Type::U32,
            len: 2,
        })
    };
    let mut args = [Arg::from([0u64; 2]), narrow(0)];
    let trap = trap(&k, 2, [1, 1, 1], &mut args);
    assert_eq!(trap.thread, thread(0, 1));
    let element = match trap.kind {
        TrapKind::Race { mem, element, .. } => (mem, element),
        other => panic!("{other}"),
    };
    assert_eq!(element, (Mem::Buffer(1), 1));
    run(&k, 2, [1, 1, 1], &mut [Arg::from([0u64; 2]), narrow(8)]);
}

#[test]
fn overlaps_are_refused_unless_both_may_alias() {
    let k = |access: [Access; 2], alias: [bool; 2]| {
        kernel([1, 1, 1], |b| {
            for (access, alias) in access.into_iter().zip(alias) {
                let mut options = crate::builder::BufferOptions::new();
                options.may_alias = alias;
                b.buffer_with("", Type::U32, access, options);
            }
        })
    };
    let launch = |k: &Kernel, starts: [usize; 2], aliasing: bool| {
        let view = |n: usize| {
            Arg::from(crate::reference::View {
                of: 2,
                offset: starts[n],
                ty: Type::U32,
                len: 2,
            })
        };
        let mut args = [view(0), view(1), u32s(4)];
        without(|c| c.aliasing = aliasing, k, 1, &mut args).map(|_| ())
    };
    use Access::{Read, ReadWrite, Write};
    let both = [true, true];
    for (access, alias, starts, fine) in [
        ([Read, Read], [false, false], [0, 4], true),
        ([Read, Write], [false, false], [0, 4], false),
        ([Read, Write], [false, false], [0, 8], true),
        ([Write, Read], [false, false], [8, 4], false),
        ([ReadWrite, Read], [true, false], [4, 4], false),
        ([ReadWrite, Read], [false, true], [4, 4], false),
        ([ReadWrite, Write], both, [4, 4], true),
    ] {
        let k = k(access, alias);
        let result = launch(&k, starts, true);
        assert_eq!(result.is_ok(), fine, "{access:?} {alias:?} {starts:?}");
        if let Err(error) = result {
            assert!(matches!(error, ExecError::Overlap { .. }));
        }
        assert_eq!(launch(&k, starts, false), Ok(()));
    }
}

/// A barrier that only the threads below `limit` reach; the promise that it is uniform is broken.
fn divergent_barrier(limit: u32) -> Kernel {
    kernel([16, 1, 1], |b| {
        let (i, limit) = (b.local_index(), b.constant(limit));
        let low = b.lt(i, limit);
        let low = b.assume_uniform(low);
        b.when(low, |b| b.workgroup_barrier());
        let fifteen = b.constant(15u32);
        let low = b.eq(i, fifteen);
        let low = b.assume_uniform(low);
        b.when(low, |b| b.workgroup_barrier());
    })
}

#[test]
fn a_barrier_must_be_reached_by_all() {
    let unchecked = |k: &Kernel, n: u32| {
        let result = without(|c| c.assume_uniform = false, k, n, &mut []);
        result.map_err(|e| e.trap().cloned())
    };
    let barriers = places(&divergent_barrier(4), Op::WorkgroupBarrier);
    // Within a subgroup.
    let trap = unchecked(&divergent_barrier(4), 16).unwrap_err().unwrap();
    assert_eq!((trap.at, trap.op), (barriers[0], Op::WorkgroupBarrier));
    let kind = TrapKind::Barrier {
        missing: thread(0, 4),
        waits_at: None,
    };
    assert_eq!((trap.thread, trap.kind), (thread(0, 0), kind));
    // Between subgroups: the last thread is a subgroup of its own that waits elsewhere.
    let trap = unchecked(&divergent_barrier(15), 1).unwrap_err().unwrap();
    let kind = TrapKind::Barrier {
        missing: thread(0, 15),
        waits_at: Some(barriers[1]),
    };
    assert_eq!((trap.at, trap.kind), (barriers[0], kind));
    // Or has ended.
    let once = kernel([16, 1, 1], |b| {
        let (i, four) = (b.local_index(), b.constant(4u32));
        let low = b.lt(i, four);
        let low = b.assume_uniform(low);
        b.when(low, |b| b.workgroup_barrier());
    });
    let trap = unchecked(&once, 4).unwrap_err().unwrap();
    let kind = TrapKind::Barrier {
        missing: thread(0, 4),
        waits_at: None,
    };
    assert_eq!(
        (trap.at, trap.kind),
        (places(&once, Op::WorkgroupBarrier)[0], kind)
    );

    for n in SUBGROUPS {
        let off = |c: &mut Checks| {
            c.assume_uniform = false;
            c.barriers = false;
        };
        without(off, &divergent_barrier(4), n, &mut []).unwrap();
    }
}

#[test]
fn a_broken_promise_of_uniformity_is_reported() {
    for n in SUBGROUPS {
        let trap = trap(&divergent_barrier(4), n, [1, 1, 1], &mut []);
        assert_eq!((trap.op, trap.thread), (Op::AssumeUniform, thread(0, 4)));
        let kind = TrapKind::NotUniform {
            value: false.into(),
            other: thread(0, 0),
            other_value: true.into(),
        };
        assert_eq!(trap.kind, kind);
    }
}

#[test]
fn promises_are_kept_apart_by_the_rounds_of_loops() {
    // Uniform in each round of the outer loop, although subgroups take different numbers of inner rounds.
    let k = |wrong: bool| {
        kernel([8, 1, 1], |b| {
            let i = b.local_index();
            let (zero, three) = (b.constant(0u32), b.constant(3u32));
            b.for_range(zero, three, |b, j| {
                b.for_range(zero, i, |b, k| {
                    let sum = b.add(j, k);
                    b.assume_uniform(sum);
                });
                let v = if wrong { b.add(i, j) } else { j };
                b.assume_uniform(v);
            });
        })
    };
    for n in SUBGROUPS {
        run(&k(false), n, [2, 1, 1], &mut []);
        let trap = trap(&k(true), n, [2, 1, 1], &mut []);
        assert_eq!(trap.thread, thread(0, 1));
    }
}

#[test]
fn buffers_keep_what_was_written_before_a_trap() {
    let k = kernel([4, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let i = b.global_id(0);
        b.store(out, i, i);
    });
    let mut args = [Arg::from([9u32; 6])];
    let error = Executor::new(strict(2)).run(&k, [2, 1, 1], &mut args);
    assert_eq!(
        error.unwrap_err().trap().map(|t| t.thread),
        Some(thread(1, 2))
    );
    assert_eq!(got(&args[0]), [0, 1, 2, 3, 4, 5]);
}
