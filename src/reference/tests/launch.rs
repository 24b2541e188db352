//! Arguments, built-ins, sizes.

use super::*;
use crate::kernel::ParamRef;
use crate::reference::{ExecError, Launch, View};
use crate::types::{Access, Type};

#[test]
fn built_ins_are_those_of_the_thread() {
    let k = kernel([3, 2, 2], |b| {
        let values = [
            b.global_id(0),
            b.global_id(1),
            b.global_id(2),
            b.local_id(0),
            b.local_id(1),
            b.local_id(2),
            b.workgroup_id(0),
            b.workgroup_id(1),
            b.workgroup_id(2),
            b.workgroup_size(0),
            b.workgroup_size(1),
            b.num_workgroups(1),
            b.num_workgroups(2),
            b.global_size(0),
            b.global_size(2),
            b.local_index(),
            b.subgroup_size(),
            b.lane(),
            b.subgroup_id(),
        ];
        let group = {
            let (x, y, z) = (values[6], values[7], values[8]);
            let (nx, ny) = (b.num_workgroups(0), b.num_workgroups(1));
            let zy = b.mul_add(z, ny, y);
            b.mul_add(zy, nx, x)
        };
        let twelve = b.constant(12u32);
        let row = b.mul_add(group, twelve, values[15]);
        for value in values {
            let out = b.buffer("", Type::U32, Access::Write);
            b.store(out, row, value);
        }
    });
    let grid = [2, 3, 2];
    for n in SUBGROUPS {
        let mut args: Vec<Arg> = (0..19).map(|_| u32s(144)).collect();
        run(&k, n, grid, &mut args);
        for row in 0..144u32 {
            let (group, local) = (row / 12, row % 12);
            let w = [group % 2, group / 2 % 3, group / 6];
            let l = [local % 3, local / 3 % 2, local / 6];
            let expected = [
                w[0] * 3 + l[0],
                w[1] * 2 + l[1],
                w[2] * 2 + l[2],
                l[0],
                l[1],
                l[2],
                w[0],
                w[1],
                w[2],
                3,
                2,
                3,
                2,
                6,
                4,
                local,
                n,
                local % n,
                local / n,
            ];
            let found: Vec<u32> = args.iter().map(|a| got(a)[row as usize]).collect();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn scalars_of_every_type_arrive() {
    let k = kernel([1, 1, 1], |b| {
        let out = b.buffer("out", Type::F64, Access::Write);
        for (i, ty) in [
            Type::BOOL,
            Type::I32,
            Type::I64,
            Type::U32,
            Type::U64,
            Type::F32,
            Type::F64,
        ]
        .into_iter()
        .enumerate()
        {
            let s = b.scalar("", ty);
            let (at, v) = (b.constant(i as u32), b.param(s));
            let v = b.convert(v, Type::F64);
            b.store(out, at, v);
        }
    });
    let mut args = [
        Arg::from([0.0f64; 7]),
        true.into(),
        (-2i32).into(),
        (-3i64).into(),
        4u32.into(),
        5u64.into(),
        (-0.5f32).into(),
        1e300f64.into(),
    ];
    run(&k, 4, [1, 1, 1], &mut args);
    let expected = [1.0, -2.0, -3.0, 4.0, 5.0, -0.5, 1e300];
    assert_eq!(args[0].as_slice::<f64>(), Some(&expected[..]));
}

fn launch(k: &Kernel, launch: impl Into<Launch>, args: &mut [Arg]) -> ExecError {
    let before = args.to_vec();
    let error = Executor::new(strict(4)).run(k, launch, args).unwrap_err();
    assert_eq!(args, before, "refused launches touch nothing");
    error
}

#[test]
fn arguments_must_fit_the_parameters() {
    let k = kernel([1, 1, 1], |b| {
        b.buffer("a", Type::F32, Access::Read);
        b.scalar("s", Type::F32);
    });
    let grid = [1, 1, 1];
    let a = || Arg::from([1.0f32; 4]);
    assert_eq!(
        launch(&k, grid, &mut [a()]),
        ExecError::ArgCount {
            expected: 2,
            stored: 0,
            found: 1
        }
    );
    assert_eq!(
        launch(&k, grid, &mut [a(), 1.0f32.into(), a()]),
        ExecError::ArgCount {
            expected: 2,
            stored: 0,
            found: 3
        }
    );
    // A literal of the wrong width is not silently zero.
    assert_eq!(
        launch(&k, grid, &mut [a(), 20.0f64.into()]),
        ExecError::ArgType {
            index: 1,
            param: ParamRef::Scalar(0),
            expected: Type::F32,
            found: Type::F64
        }
    );
    assert_eq!(
        launch(&k, grid, &mut [u32s(4), 1.0f32.into()]),
        ExecError::ArgType {
            index: 0,
            param: ParamRef::Buffer(0),
            expected: Type::F32,
            found: Type::U32
        }
    );
    let kind = |index, param| ExecError::ArgKind { index, param };
    assert_eq!(
        launch(&k, grid, &mut [1.0f32.into(), a()]),
        kind(0, ParamRef::Buffer(0))
    );
    assert_eq!(
        launch(&k, grid, &mut [a(), a()]),
        kind(1, ParamRef::Scalar(0))
    );
    // Zero workgroups run nothing, and are checked all the same.
    assert_eq!(
        launch(&k, [1, 0, 1], &mut [a(), a()]),
        kind(1, ParamRef::Scalar(0))
    );
}

#[test]
fn views_must_lie_within_a_buffer() {
    let k = kernel([1, 1, 1], |b| {
        b.buffer("a", Type::U64, Access::Read);
    });
    let args = |of, offset, ty, len| {
        [
            Arg::from(View {
                of,
                offset,
                ty,
                len,
            }),
            Arg::from([0u64; 4]),
        ]
    };
    run(&k, 4, [1, 1, 1], &mut args(1, 8, Type::U64, 3));
    run(&k, 4, [1, 1, 1], &mut args(1, 32, Type::U64, 0));
    for (of, offset, len) in [
        (1, 8, 4),
        (1, 4, 1),
        (1, usize::MAX - 7, 2),
        (1, 0, usize::MAX),
        (0, 0, 1),
        (2, 0, 1),
    ] {
        let error = launch(&k, [1, 1, 1], &mut args(of, offset, Type::U64, len));
        assert_eq!(error, ExecError::View { index: 0, of });
    }
    let error = launch(&k, [1, 1, 1], &mut args(1, 0, Type::F64, 1));
    assert!(matches!(error, ExecError::ArgType { index: 0, .. }));
}

#[test]
fn empty_grids_do_nothing_and_absurd_ones_are_refused() {
    let k = kernel([4, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let i = b.global_id(0);
        b.store(out, i, i);
    });
    for grid in [[0, 1, 1], [u32::MAX, 0, u32::MAX], [0; 3]] {
        let report = run(&k, 4, grid, &mut [u32s(0)]);
        assert_eq!(report, Report::default());
    }
    for grid in [[u32::MAX, 1, 1], [1 << 16, 1 << 16, 1], [u32::MAX; 3]] {
        assert_eq!(launch(&k, grid, &mut [u32s(4)]), ExecError::Grid(grid));
    }
}

#[test]
fn subgroup_sizes_are_powers_of_two_up_to_128() {
    let k = kernel([4, 1, 1], |_| {});
    for n in [0, 3, 256, u32::MAX] {
        let error = Executor::new(strict(n)).run(&k, [1, 1, 1], &mut []);
        assert_eq!(error, Err(ExecError::SubgroupSize(n)));
    }
    for n in SUBGROUPS {
        run(&k, n, [1, 1, 1], &mut []);
    }
}

#[test]
fn sizes_over_their_limits_are_refused_before_they_are_allocated() {
    let what = |error: ExecError| match error {
        ExecError::Limit { what, needed, .. } => (what, needed),
        other => panic!("{other}"),
    };
    let grid = [1, 1, 1];
    let k = kernel([1025, 1, 1], |_| {});
    assert_eq!(
        what(launch(&k, grid, &mut [])),
        ("threads of a workgroup", 1025)
    );

    let k = kernel([1, 1, 1], |b| {
        b.shared("a", Type::U32, 3);
        b.shared("b", Type::U32, 1 << 29);
    });
    let needed = (1 << 31) + 16;
    assert_eq!(
        what(launch(&k, grid, &mut [])),
        ("bytes of shared memory", needed)
    );

    let k = kernel([1, 1, 1], |b| {
        for _ in 0..9 {
            b.private("a", Type::U64, (1 << 29) - 1);
        }
    });
    for limit in [1 << 30, u64::MAX] {
        let mut options = strict(128);
        options.limits.scratch_bytes = limit;
        options.checks.uninitialized = false;
        let run = Executor::new(options).run(&k, [0, 1, 1], &mut []);
        assert_eq!(run.is_err(), limit < u64::MAX);
    }

    // A kernel with barriers keeps the values of every subgroup.
    let k = kernel([1024, 1, 1], |b| {
        let i = b.local_index();
        for _ in 0..100 {
            b.add(i, i);
        }
        b.workgroup_barrier();
    });
    let mut options = strict(32);
    options.limits.scratch_bytes = 101 * 1024 * 8;
    let mut executor = Executor::new(options);
    assert!(executor.run(&k, grid, &mut []).is_ok());
    executor.options_mut().limits.scratch_bytes -= 1;
    let error = executor.run(&k, grid, &mut []).unwrap_err();
    assert_eq!(
        what(error),
        ("bytes of values, private arrays and books", 101 * 1024 * 8)
    );
}

#[test]
fn dynamic_lengths_need_a_dynamic_array() {
    let k = kernel([1, 1, 1], |_| {});
    let one = Launch::new([1, 1, 1]).dynamic_shared(1);
    assert_eq!(launch(&k, one, &mut []), ExecError::DynamicShared(1));
    let k = kernel([1, 1, 1], |b| {
        b.shared_dynamic("tile", Type::U64);
    });
    let huge = Launch::new([1, 1, 1]).dynamic_shared(1 << 29);
    assert_eq!(launch(&k, huge, &mut []), ExecError::DynamicShared(1 << 29));
    run(&k, 4, [1, 1, 1], &mut []);
}

#[test]
fn an_executor_runs_kernel_after_kernel() {
    let mut executor = Executor::new(strict(8));
    for size in [64u32, 1, 17] {
        for groups in [1u32, 3] {
            let k = kernel([size, 1, 1], |b| {
                let out = b.buffer("out", Type::U32, Access::Write);
                let tile = b.shared("tile", Type::U32, size);
                let mine = b.private("mine", Type::U32, 1);
                let (i, g, zero) = (b.local_index(), b.global_id(0), b.constant(0u32));
                b.store(tile, i, g);
                b.workgroup_barrier();
                let v = b.load(tile, i);
                b.store(mine, zero, v);
                let v = b.load(mine, zero);
                b.store(out, g, v);
            });
            let n = (size * groups) as usize;
            let mut args = [u32s(n)];
            let run = executor.run(&k, [groups, 1, 1], &mut args);
            assert_eq!(run.map(|r| r.workgroups), Ok(groups.into()));
            assert_eq!(got(&args[0]), (0..n as u32).collect::<Vec<_>>());
        }
    }
}
