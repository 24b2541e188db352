//! Workgroups on several threads: whether they may be, and that nobody can tell.

use super::*;
use crate::reference::{ExecError, TrapKind, View};
use crate::types::{Access, Type};

const GROUPS: u32 = 40;

/// Whether a launch runs in parallel.
#[derive(Clone, Copy, PartialEq)]
enum Parallel {
    Always,
    Never,
    /// Unless two threads come to run workgroups that meet.
    Sometimes,
}
use Parallel::*;

/// Runs on one thread and on some, with equal results, and gives those.
fn both(
    kernel: &Kernel,
    options: Options,
    args: &[Arg],
    parallel: Parallel,
) -> (Result<Report, ExecError>, Vec<Arg>) {
    let mut one = args.to_vec();
    let expected = Executor::new(options).run(kernel, [GROUPS, 1, 1], &mut one);
    for threads in [2, 3, 200] {
        let mut some = args.to_vec();
        let mut executor = Executor::new(Options { threads, ..options });
        for _ in 0..2 {
            some.clone_from_slice(args);
            let found = executor.run(kernel, [GROUPS, 1, 1], &mut some);
            assert_eq!(found, expected);
            assert_eq!(some, one);
        }
        if parallel != Sometimes {
            assert_eq!(executor.ran_in_parallel(), parallel == Always);
        }
    }
    (expected, one)
}

fn options() -> Options {
    Options::default()
}

#[test]
fn threads_put_together_what_they_wrote() {
    // Bytes of different workgroups stand in one word, and some are left as they were.
    let k = kernel([5, 1, 1], |b| {
        let out = b.buffer("out", Type::U8, Access::ReadWrite);
        let wide = b.buffer("wide", Type::F64, Access::Write);
        let i = b.global_id(0);
        let three = b.constant(3u32);
        let rest = b.rem(i, three);
        let some = b.ne(rest, three);
        b.when(some, |b| {
            let old = b.load(out, i);
            let new = b.add(old, old);
            b.store(out, i, new);
        });
        let value = b.convert(i, Type::F64);
        b.store_offset(wide, i, 1, value);
    });
    let bytes: Vec<u8> = (0..200).collect();
    let out = Arg::from(bytes.as_slice().to_vec());
    let (report, args) = both(&k, options(), &[out, vec![-1.0f64; 201].into()], Always);
    assert_eq!(report.unwrap().workgroups, 40);
    let doubled: Vec<u8> = bytes.iter().map(|b| b.wrapping_mul(2)).collect();
    assert_eq!(args[0].as_slice::<u8>(), Some(&doubled[..]));
    let wide = args[1].as_slice::<f64>().unwrap();
    assert_eq!((wide[0], wide[1], wide[200]), (-1.0, 0.0, 199.0));
}

#[test]
fn a_workgroup_that_reads_what_another_wrote_is_run_behind_it() {
    let k = kernel([4, 1, 1], |b| {
        let data = b.buffer("data", Type::U32, Access::ReadWrite);
        let i = b.global_id(0);
        let (before, one) = (b.load(data, i), b.constant(1u32));
        let next = b.add(before, one);
        b.store_offset(data, i, 4, next);
    });
    let (_, args) = both(&k, options(), &[u32s(164)], Sometimes);
    assert_eq!(got(&args[0])[160..], [40; 4]);
}

#[test]
fn a_place_that_two_workgroups_write_is_the_last_ones() {
    let k = kernel([4, 1, 1], |b| {
        let data = b.buffer("data", Type::U32, Access::Write);
        let (zero, group) = (b.constant(0u32), b.workgroup_id(0));
        b.store(data, zero, group);
    });
    let unchecked = Options {
        checks: Checks::NONE,
        ..options()
    };
    let (_, args) = both(&k, unchecked, &[u32s(1)], Sometimes);
    assert_eq!(got(&args[0]), [39]);
}

#[test]
fn atomics_and_race_checks_keep_the_order() {
    let k = kernel([4, 1, 1], |b| {
        let data = b.buffer("data", Type::U32, Access::ReadWrite);
        let (zero, one) = (b.constant(0u32), b.constant(1u32));
        b.atomic_add(data, zero, one);
    });
    let (_, args) = both(&k, options(), &[u32s(1)], Never);
    assert_eq!(got(&args[0]), [160]);

    let k = kernel([4, 1, 1], |b| {
        let data = b.buffer("data", Type::U32, Access::Write);
        let i = b.global_id(0);
        b.store(data, i, i);
    });
    both(&k, strict(32), &[u32s(160)], Never).0.unwrap();
    both(&k, options(), &[u32s(160)], Always).0.unwrap();
}

#[test]
fn errors_and_what_was_done_before_them_are_those_of_one_thread() {
    let k = kernel([4, 1, 1], |b| {
        let data = b.buffer("data", Type::U32, Access::Write);
        let i = b.global_id(0);
        b.store(data, i, i);
    });
    let (error, args) = both(&k, options(), &[u32s(100)], Never);
    let error = error.unwrap_err();
    let kind = &error.trap().unwrap().kind;
    assert!(matches!(kind, TrapKind::OutOfBounds { index: 100, .. }));
    assert_eq!(got(&args[0])[99], 99);

    // One step for each of 40 workgroups, and the limit is just not, or just, enough.
    for (step_limit, enough) in [(39, false), (40, true)] {
        let limited = Options {
            step_limit,
            ..options()
        };
        let (report, _) = both(
            &k,
            limited,
            &[u32s(160)],
            if enough { Always } else { Never },
        );
        assert_eq!(report.is_ok(), enough);
    }
}

#[test]
fn views_of_one_buffer_are_looked_at_together() {
    let k = kernel([4, 1, 1], |b| {
        let [from, to] = ["from", "to"].map(|name| b.buffer(name, Type::U32, Access::ReadWrite));
        let i = b.global_id(0);
        let x = b.load(from, i);
        let one = b.constant(1u32);
        let next = b.add(x, one);
        b.store(to, i, next);
    });
    let view = |offset| {
        Arg::View(View {
            ty: Type::U32,
            of: 2,
            offset,
            len: 160,
        })
    };
    let unchecked = Options {
        checks: Checks::NONE,
        ..options()
    };
    let (_, args) = both(&k, unchecked, &[view(0), view(16), u32s(164)], Sometimes);
    assert_eq!(got(&args[2])[163], 40);
    let (_, args) = both(&k, unchecked, &[view(0), view(640), u32s(320)], Always);
    assert_eq!(got(&args[2])[319], 1);
}

#[test]
fn memory_for_copies_is_limited() {
    let k = kernel([4, 1, 1], |b| {
        let data = b.buffer("data", Type::U32, Access::Write);
        let i = b.global_id(0);
        b.store(data, i, i);
    });
    let mut small = options();
    small.limits.scratch_bytes = 2000;
    both(&k, small, &[u32s(1000)], Never).0.unwrap();
    both(&k, options(), &[u32s(1000)], Always).0.unwrap();
}

#[test]
fn shared_memory_and_barriers_are_each_workgroups_own() {
    let k = kernel([64, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let tile = b.shared("tile", Type::U32, 64);
        let (i, local, group) = (b.global_id(0), b.local_index(), b.workgroup_id(0));
        let value = b.mul(i, group);
        b.store(tile, local, value);
        b.workgroup_barrier();
        let last = b.constant(63u32);
        let other = b.sub(last, local);
        let value = b.load(tile, other);
        b.store(out, i, value);
    });
    let (report, args) = both(&k, options(), &[u32s(64 * 40)], Always);
    assert_eq!(report.unwrap().barriers, 40);
    assert_eq!(got(&args[0])[64], 127);
}
