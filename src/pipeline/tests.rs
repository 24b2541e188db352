//! The pipeline on the host; `tests/cuda` has it on a driver.

use super::*;
use crate::builder::KernelBuilder;
use crate::reference::{ExecError, TrapKind};
use crate::types::{Access, Const, Scalar, Type};
use std::thread;

/// `y[i] = a * x[i] + y[i]`, without a look at lengths.
fn saxpy() -> Kernel {
    let mut b = KernelBuilder::new("saxpy", [4, 1, 1]);
    let a = b.scalar("a", Type::F32);
    let x = b.buffer("x", Type::F32, Access::Read);
    let y = b.buffer("y", Type::F32, Access::ReadWrite);
    let (i, a) = (b.global_id(0), b.param(a));
    let (x, old) = (b.load(x, i), b.load(y, i));
    let sum = b.mul_add(a, x, old);
    b.store(y, i, sum);
    b.finish().expect("saxpy is valid")
}

/// A kernel of its own for each number.
fn numbered(n: u32) -> Kernel {
    let mut b = KernelBuilder::new("numbered", [4, 1, 1]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let (i, n) = (b.global_id(0), b.constant(n));
    b.store(out, i, n);
    b.finish().expect("the kernel is valid")
}

fn host() -> KernelPipeline {
    KernelPipeline::new(Policy::Host)
}

#[test]
fn slices_hold_the_results() {
    let (x, mut y) = ([1.0f32, 2.0, 3.0], vec![10.0f32; 3]);
    let report = host()
        .run(&saxpy(), [1, 1, 1], &mut args![2.0f32, &x, &mut y])
        .expect("it runs");
    assert_eq!(y, [12.0, 14.0, 16.0]);
    assert_eq!(report.executor, Executor::Host);
    assert!(matches!(report.reason, Reason::Policy), "{report}");
    assert_eq!(report.host.map(|host| host.workgroups), Some(1));
    // Accesses outside do nothing, and nothing runs in an empty grid.
    let mut none: [f32; 0] = [];
    host()
        .run(&saxpy(), [5, 1, 1], &mut args![2.0f32, &x, &mut none])
        .expect("it runs");
    host()
        .run(&saxpy(), [0, 1, 1], &mut args![2.0f32, &x, &mut y])
        .expect("it runs");
    assert_eq!(y, [12.0, 14.0, 16.0]);
}

#[test]
fn what_a_huge_launch_needed_is_not_kept() {
    let private = |len: u32| {
        let mut b = KernelBuilder::new("private", [32, 1, 1]);
        b.private("own", Type::U8, len);
        b.finish().expect("the kernel is valid")
    };
    let pipeline = host();
    for (kernel, kept) in [(private(16), 1), (private(1 << 20), 0), (private(16), 1)] {
        let report = pipeline.run(&kernel, [1, 1, 1], &mut []);
        assert!(report.is_ok(), "{report:?}");
        assert_eq!(lock(&pipeline.inner.executors).len(), kept);
    }
}

#[test]
fn small_launches_stay_on_the_host() {
    let pipeline = KernelPipeline::new(Policy::Auto { host_below: 9 });
    let (x, mut y) = ([1.0f32; 8], [0.0f32; 8]);
    let mut args = args![1.0f32, &x, &mut y];
    let report = pipeline
        .run(&saxpy(), [2, 1, 1], &mut args)
        .expect("it runs");
    assert!(
        matches!(
            report.reason,
            Reason::Small {
                threads: 8,
                host_below: 9
            }
        ),
        "{report}"
    );
    assert_eq!(
        report.to_string(),
        "the reference executor, since 8 threads are fewer than 9"
    );
    // A product that passes 64 bits is no small one.
    let most = [u32::MAX; 3];
    let error = pipeline
        .with_policy(Policy::Host)
        .run(&saxpy(), most, &mut args)
        .expect_err("too many");
    assert!(
        matches!(error, RunError::Host(ExecError::Grid(_))),
        "{error}"
    );
}

#[test]
fn arguments_are_checked_before_anything_runs() {
    let (x, mut y, mut wide) = ([1.0f32; 4], [5.0f32; 4], [0.0f64; 4]);
    let run = |args: &mut [Arg<'_>]| match host().run(&saxpy(), [1, 1, 1], args) {
        Err(RunError::Argument { index, name, fault }) => (index, name, fault),
        other => panic!("{other:?}"),
    };
    let named = |index, name: &str, fault| (index, name.to_owned(), fault);
    let (float, double) = (Type::F32, Type::F64);
    assert_eq!(
        run(&mut args![2.0f64, &x, &mut y]),
        named(
            0,
            "a",
            ArgumentFault::Type {
                expected: float,
                found: double
            }
        )
    );
    assert_eq!(
        run(&mut args![&x, &x, &mut y]),
        named(0, "a", ArgumentFault::ExpectedScalar(float))
    );
    assert_eq!(
        run(&mut args![2.0f32, 1.0f32, &mut y]),
        named(1, "x", ArgumentFault::ExpectedBuffer(float))
    );
    assert_eq!(
        run(&mut args![2.0f32, &x, &mut wide]),
        named(
            2,
            "y",
            ArgumentFault::Type {
                expected: float,
                found: double
            }
        )
    );
    assert_eq!(
        run(&mut args![2.0f32, &x, &x]),
        named(2, "y", ArgumentFault::ReadOnly)
    );
    let error = host().run(&saxpy(), [1, 1, 1], &mut args![2.0f32, &x]);
    assert!(matches!(
        error,
        Err(RunError::ArgumentCount {
            expected: 3,
            found: 2
        })
    ));
    let error = host().run(
        &saxpy(),
        Launch::new([1, 1, 1]).dynamic_shared(1),
        &mut args![2.0f32, &x, &mut y],
    );
    assert!(matches!(
        error,
        Err(RunError::DynamicShared { elements: 1 })
    ));
    assert_eq!(y, [5.0; 4]);
}

#[test]
fn vectors_are_given_as_bytes() {
    let pair = Type::vector(Scalar::F32, 2).expect("there is such a type");
    let mut b = KernelBuilder::new("swap", [2, 1, 1]);
    let data = b.buffer("data", pair, Access::ReadWrite);
    let i = b.global_id(0);
    let v = b.load(data, i);
    let (x, y) = (b.extract(v, 0), b.extract(v, 1));
    let v = b.construct(&[y, x]);
    b.store(data, i, v);
    let kernel = b.finish().expect("the kernel is valid");
    let mut points = [[1.0f32, 2.0], [3.0, 4.0]];
    let bytes = bytemuck::cast_slice_mut(&mut points);
    let arg = Arg::bytes_mut(pair, bytes).expect("whole elements");
    host().run(&kernel, [1, 1, 1], &mut [arg]).expect("it runs");
    assert_eq!(points, [[2.0, 1.0], [4.0, 3.0]]);
    assert!(Arg::bytes(pair, &[0; 12]).is_err());
    assert!(Arg::bytes(Type::BOOL, &[]).is_err());
}

#[test]
fn a_kernel_that_breaks_a_rule_leaves_the_slices_alone() {
    let mut b = KernelBuilder::new("endless", [1, 1, 1]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let stop = b.scalar("stop", Type::BOOL);
    let one = b.constant(1u32);
    b.store(out, one, one);
    b.loop_(|b| {
        let stop = b.param(stop);
        b.when(stop, |b| b.break_());
    });
    let kernel = b.finish().expect("the kernel is valid");
    let mut options = Config::default().host;
    options.step_limit = 100;
    let config = Config::default()
        .with_policy(Policy::Host)
        .with_host(options);
    let mut out = [0u32; 4];
    let error = KernelPipeline::with_config(config)
        .run(&kernel, [1, 1, 1], &mut args![&mut out, false])
        .expect_err("it never ends");
    let RunError::Host(error) = error else {
        panic!("{error}")
    };
    assert!(
        error
            .trap()
            .is_some_and(|trap| matches!(trap.kind, TrapKind::StepLimit { .. })),
        "{error}"
    );
    assert_eq!(out, [0; 4]);
}

#[test]
fn equal_kernels_are_compiled_once() {
    let pipeline = KernelPipeline::default();
    let options = Options::all();
    let threads: Vec<_> = (0..8)
        .map(|n| {
            let pipeline = pipeline.clone();
            thread::spawn(move || {
                // Built anew by each.
                let made = (0..20).map(|k| pipeline.compile(&numbered((n + k) % 20), &options));
                made.collect::<Result<Vec<_>, _>>().expect("they compile")
            })
        })
        .collect();
    let all: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().expect("no panic"))
        .collect();
    for (n, made) in all.iter().enumerate() {
        for (k, artefacts) in made.iter().enumerate() {
            let same = &all[0][(n + k) % 20];
            assert!(Arc::ptr_eq(artefacts, same), "{n} {k}");
        }
    }
    let stats = pipeline.stats().artefacts;
    assert_eq!((stats.entries, stats.misses), (20, 20));
    assert_eq!(stats.hits + stats.waits, 8 * 20 - 20);
}

#[test]
fn other_options_are_other_artefacts() {
    let pipeline = KernelPipeline::default();
    let kernel = saxpy();
    let compile = |options: &Options| pipeline.compile(&kernel, options);
    let ptx = Options::new().with_ptx(ptx::Options::default());
    let made = compile(&ptx).expect("it compiles");
    assert!(made.spirv.is_none());
    let plain = made.ptx.as_ref().expect("asked for");
    assert_eq!(
        plain.text,
        ptx::emit(&kernel, &ptx::Options::default()).expect("the same")
    );
    assert_eq!(
        (plain.entry.as_str(), &plain.signature),
        ("saxpy", &kernel.signature())
    );
    let checked = ptx::Options::default().with_bounds(crate::kernel::Bounds::Checked);
    let made = compile(&Options::new().with_ptx(checked)).expect("it compiles");
    let checked = made.ptx.as_ref().expect("asked for");
    assert_ne!(checked.text, plain.text);
    assert_eq!(checked.signature.lengths.len(), 2);
    assert_eq!(pipeline.stats().artefacts.entries, 2);
    assert_eq!(compile(&Options::new()), Err(CompileError::NoTarget));
    // A failure is told with its target, and not kept.
    let mut small = ptx::Options::default();
    small.limits.workgroup_threads = 1;
    let error = compile(&Options::new().with_ptx(small)).expect_err("too large");
    assert!(matches!(error, CompileError::Ptx(_)) && error.to_string().starts_with("PTX: "));
    assert_eq!(pipeline.stats().artefacts.entries, 2);
    pipeline.clear();
    assert_eq!(pipeline.stats().artefacts.bytes, 0);
}

#[test]
fn artefacts_are_bounded_in_bytes() {
    let options = Options::all();
    let one = KernelPipeline::default();
    one.compile(&numbered(1000), &options).expect("it compiles");
    let bytes = one.stats().artefacts.bytes;
    let config = Config::default().with_artefact_bytes(3 * bytes + bytes / 2);
    let pipeline = KernelPipeline::with_config(config);
    for n in 1000..1010 {
        pipeline
            .compile(&numbered(n), &options)
            .expect("it compiles");
    }
    let stats = pipeline.stats().artefacts;
    assert_eq!((stats.entries, stats.evictions), (3, 7));
    assert!(stats.bytes <= 3 * bytes + bytes / 2);
    pipeline
        .compile(&numbered(1009), &options)
        .expect("it compiles");
    assert_eq!(pipeline.stats().artefacts.hits, 1);
    let none = KernelPipeline::with_config(Config::default().with_artefact_bytes(0));
    none.compile(&numbered(1), &options).expect("it compiles");
    assert_eq!(none.stats().artefacts.entries, 0);
}

#[test]
fn times_are_taken_where_asked_for() {
    let pipeline = KernelPipeline::with_config(
        Config::default()
            .with_policy(Policy::Host)
            .with_profile(true),
    );
    pipeline
        .compile(&saxpy(), &Options::all())
        .expect("it compiles");
    let (x, mut y) = ([1.0f32; 4], [0.0f32; 4]);
    for _ in 0..3 {
        pipeline
            .run(&saxpy(), [1, 1, 1], &mut args![2.0f32, &x, &mut y])
            .expect("it runs");
    }
    let report = pipeline.take_profile();
    let rows: Vec<_> = report
        .rows()
        .iter()
        .map(|r| (r.name.as_str(), r.count))
        .collect();
    assert_eq!(
        rows,
        [
            ("emit PTX", 1),
            ("emit SPIR-V", 1),
            ("reference executor", 3)
        ]
    );
    assert_eq!(report.to_string().lines().count(), 4);
    assert!(pipeline.take_profile().rows().is_empty());
    assert!(host().take_profile().rows().is_empty());
}

#[cfg(not(feature = "cuda"))]
#[test]
fn without_the_feature_there_is_no_gpu() {
    let (x, mut y) = ([1.0f32; 4], [0.0f32; 4]);
    let mut args = args![2.0f32, &x, &mut y];
    let report = KernelPipeline::default().run(&saxpy(), [1, 1, 1], &mut args);
    let reason = report.expect("it runs").reason;
    assert!(
        matches!(reason, Reason::Unavailable(Unavailable::NotBuilt)),
        "{reason}"
    );
    let error = KernelPipeline::new(Policy::Cuda).run(&saxpy(), [1, 1, 1], &mut args);
    assert!(matches!(
        error,
        Err(RunError::Unavailable(Unavailable::NotBuilt))
    ));
}

#[test]
fn a_mismatch_says_all_there_is_to_know() {
    let mut mismatch = Mismatch {
        index: 2,
        name: "y".into(),
        elem: Type::F32,
        element: 5,
        lane: 0,
        host: u64::from(1.5f32.to_bits()),
        cuda: u64::from(1.25f32.to_bits()),
        tolerance: None,
    };
    assert_eq!(
        mismatch.to_string(),
        "argument 2 (\"y\"), element 5: 1.5 (0x3fc00000) on the reference executor, 1.25 (0x3fa00000) on the GPU"
    );
    mismatch.elem = Type::vector(Scalar::I16, 2).expect("there is such a type");
    (mismatch.host, mismatch.cuda, mismatch.lane) = (0xFFFF, 7, 1);
    mismatch.tolerance = Some(Closeness::new(0.5, 0.25));
    assert_eq!(
        mismatch.to_string(),
        "argument 2 (\"y\"), element 5 lane 1: -1 on the reference executor, 7 on the GPU, which may differ by 2.5e-1 \
         and 5e-1 of the value"
    );
}

#[test]
fn constants_of_every_type_are_arguments() {
    let arg = Arg::from(Const::from(7u8));
    assert_eq!(format!("{arg:?}"), "u8:0x7");
    assert_eq!(
        format!("{:?}", Arg::from(&[1u16, 2])),
        "4 bytes of u16, to read"
    );
}
