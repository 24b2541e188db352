//! The pipeline on a driver that runs nothing: results are what was copied to it.

use kernite::cuda::cache::Cache;
use kernite::cuda::{Code, Error};
use kernite::kernel::Kernel;
use kernite::pipeline::{
    Arg, Closeness, Config, Executor, KernelPipeline, Policy, Reason, RunError, Tolerance,
    Unavailable, args,
};
use kernite::{Access, KernelBuilder, Type};
use kernite_cuda_tests::fake::Fake;
use kernite_cuda_tests::kernels::saxpy;
use std::process::Command;

fn config(fake: &Fake, policy: Policy) -> Config {
    Config::default()
        .with_policy(policy)
        .with_context(fake.context())
}

fn pipeline(fake: &Fake, policy: Policy) -> KernelPipeline {
    KernelPipeline::with_config(config(fake, policy))
}

const CROSS_CHECK: Policy = Policy::CrossCheck {
    tolerance: Tolerance::Auto,
};

/// Stores what it loads, changed by `change`.
fn changed(
    ty: Type,
    change: impl FnOnce(&mut KernelBuilder, kernite::kernel::Value) -> kernite::kernel::Value,
) -> Kernel {
    let mut b = KernelBuilder::new("changed", [32, 1, 1]);
    let data = b.buffer("data", ty, Access::ReadWrite);
    let i = b.global_id(0);
    let x = b.load(data, i);
    let y = change(&mut b, x);
    b.store(data, i, y);
    b.finish().expect("the kernel is valid")
}

#[test]
fn kernels_are_loaded_once_and_launched_with_checked_bounds() {
    let fake = Fake::new();
    {
        let pipeline = pipeline(&fake, Policy::Cuda);
        let (x, mut y) = ([1.0f32; 8], [7.0f32; 8]);
        let mut run = || {
            let mut args = args![2.0f32, &x, &mut y];
            pipeline.run(&saxpy(), [1, 1, 1], &mut args).unwrap()
        };
        let report = run();
        assert_eq!(report.executor, Executor::Cuda);
        assert_eq!(report.to_string(), "the GPU, since the policy says so");
        let log = fake.log();
        // a, x, y and the lengths of both, which the checks need.
        let arguments = log.iter().find(|line| line.starts_with("arguments"));
        let arguments: Vec<_> = arguments.unwrap().split(' ').skip(1).collect();
        assert_eq!((arguments.len(), &arguments[3..]), (5, &["0x8", "0x8"][..]));
        assert!(
            log.iter()
                .any(|line| line.starts_with("cuModuleLoadDataEx"))
        );
        run();
        let calls = fake.calls();
        for name in ["cuModuleLoadDataEx", "cuStreamCreate", "cuMemPoolCreate"] {
            assert!(!calls.contains(&name.to_owned()), "{name} again");
        }
        // What the kernel may write comes back, what it reads does not.
        let back = calls.iter().filter(|call| *call == "cuMemcpyDtoH_v2");
        assert_eq!(back.count(), 1);
        let code = pipeline.stats().code;
        assert_eq!((code.entries, code.misses, code.hits), (1, 1, 1));
        pipeline.clear();
        assert_eq!(pipeline.stats().code.entries, 0);
        assert!(fake.calls().contains(&"cuModuleUnload".into()));
        run();
        assert_eq!(y, [7.0; 8]);
    }
    fake.assert_clean();
}

#[test]
fn auto_goes_to_the_gpu_where_it_can() {
    let fake = Fake::new();
    {
        let auto = pipeline(&fake, Policy::Auto { host_below: 256 });
        let (x, mut y) = ([1.0f32; 8], [7.0f32; 8]);
        let mut args = args![2.0f32, &x, &mut y];
        let report = auto.run(&saxpy(), [2, 1, 1], &mut args).unwrap();
        assert!(matches!(report.reason, Reason::Device), "{report}");
        let report = auto.run(&saxpy(), [1, 1, 1], &mut args).unwrap();
        assert!(
            matches!(report.reason, Reason::Small { threads: 128, .. }),
            "{report}"
        );
        assert_eq!(report.executor, Executor::Host);

        // A kernel that the target has no room for.
        let auto = auto.with_policy(Policy::default());
        let mut b = KernelBuilder::new("large", [2048, 1, 1]);
        let out = b.buffer("out", Type::U32, Access::Write);
        let i = b.global_id(0);
        b.store(out, i, i);
        let large = b.finish().unwrap();
        let mut out = [0u32; 4];
        let result = auto.run(&large, [1, 1, 1], &mut args![&mut out]);
        // Nor has the reference executor, which says so; with larger limits it runs.
        assert!(matches!(result, Err(RunError::Host(_))), "{result:?}");
        let mut config = config(&fake, Policy::default());
        config.host.limits.workgroup_threads = 2048;
        let auto = KernelPipeline::with_config(config);
        let report = auto.run(&large, [1, 1, 1], &mut args![&mut out]).unwrap();
        assert!(matches!(report.reason, Reason::Unsupported(_)), "{report}");
        assert_eq!(out, [0, 1, 2, 3]);
        let error = auto
            .with_policy(Policy::Cuda)
            .run(&large, [1, 1, 1], &mut args![&mut out]);
        assert!(matches!(error, Err(RunError::Compile(_))), "{error:?}");

        // A promise that only the reference executor checks.
        let promising = changed(Type::U32, |b, x| {
            let one = b.constant(1u32);
            let one = b.assume_uniform(one);
            b.add(x, one)
        });
        let report = auto
            .run(&promising, [1, 1, 1], &mut args![&mut out])
            .unwrap();
        assert!(matches!(report.reason, Reason::AssumesUniform), "{report}");
        assert_eq!(out, [1, 2, 3, 4]);
        let error = auto
            .with_policy(Policy::Cuda)
            .run(&promising, [1, 1, 1], &mut args![&mut out])
            .unwrap_err();
        assert!(matches!(error, RunError::Cuda(Error::Launch(_))), "{error}");
    }
    fake.assert_clean();
}

#[test]
fn without_a_gpu_auto_says_why_it_stays_on_the_host() {
    // Tests run where there is none, or where there is one: either way it is the driver that decides.
    let (x, mut y) = ([1.0f32; 8], [7.0f32; 8]);
    let mut args = args![2.0f32, &x, &mut y];
    let auto = KernelPipeline::default();
    let report = auto.run(&saxpy(), [1, 1, 1], &mut args).unwrap();
    match (report.executor, &report.reason) {
        (Executor::Host, Reason::Unavailable(why)) => {
            let text = report.to_string();
            assert!(text.contains(&why.to_string()), "{text}");
            for policy in [Policy::Cuda, CROSS_CHECK] {
                let error = auto.with_policy(policy).run(&saxpy(), [1, 1, 1], &mut args);
                assert!(matches!(error, Err(RunError::Unavailable(_))), "{error:?}");
            }
        }
        (Executor::Cuda, Reason::Device) => {}
        other => panic!("{other:?}"),
    }
}

const WORKER: &str = "KERNITE_PIPELINE_WORKER";

#[test]
fn a_driver_that_cannot_be_loaded_is_the_reason_in_the_report() {
    if let Ok(expected) = std::env::var(WORKER) {
        return work(&expected);
    }
    let (whole, broken) = (Fake::new(), Fake::without(&["cuInit"]));
    let gone = broken.path().with_file_name("gone.so.1");
    for (library, expected) in [
        (whole.path(), "the GPU, since there is a GPU"),
        (broken.path(), "cuInit"),
        (&gone, "gone.so.1"),
    ] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "pipeline::a_driver_that_cannot_be_loaded_is_the_reason_in_the_report",
            ])
            .env(WORKER, expected)
            .env("KERNITE_CUDA_DRIVER", library)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{expected}: {text}");
    }
}

/// In a process of its own, whose driver is the one that its environment names.
fn work(expected: &str) {
    let (x, mut y) = ([1.0f32; 8], [7.0f32; 8]);
    let mut args = args![2.0f32, &x, &mut y];
    let auto = KernelPipeline::default();
    for _ in 0..2 {
        let report = auto.run(&saxpy(), [1, 1, 1], &mut args).unwrap();
        let text = report.to_string();
        assert!(text.contains(expected), "{text}");
        let none = matches!(
            report.reason,
            Reason::Unavailable(Unavailable::Driver(Error::Load(_)))
        );
        assert_eq!(none, report.executor == Executor::Host, "{text}");
    }
    for policy in [Policy::Cuda, CROSS_CHECK] {
        // Asked for by name, a GPU that is not there is an error.
        match auto.with_policy(policy).run(&saxpy(), [1, 1, 1], &mut args) {
            Err(RunError::Unavailable(why)) => assert!(why.to_string().contains(expected)),
            // The fake driver runs nothing, so it is found out where it is compared.
            Ok(_) | Err(RunError::Mismatch(_)) => assert!(expected.contains("there is a GPU")),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_cross_check_finds_the_first_difference() {
    let fake = Fake::new();
    {
        let both = pipeline(&fake, CROSS_CHECK);
        // The fake driver runs nothing, so a kernel that changes nothing is right.
        let same = changed(Type::F32, |_, x| x);
        let mut data = [1.0f32, -0.0, f32::NAN];
        let report = both.run(&same, [1, 1, 1], &mut args![&mut data]).unwrap();
        assert_eq!(report.executor, Executor::Both);
        assert!(report.host.is_some());

        // Adds 1 to what is above 2.
        let more = changed(Type::F32, |b, x| {
            let (two, zero, one) = (b.constant(2.0f32), b.constant(0.0f32), b.constant(1.0f32));
            let large = b.gt(x, two);
            let by = b.select(large, one, zero);
            b.add(x, by)
        });
        let mut data = [1.0f32, 2.0, 3.0, 4.0];
        let error = both
            .run(&more, [1, 1, 1], &mut args![&mut data])
            .unwrap_err();
        let RunError::Mismatch(mismatch) = &error else {
            panic!("{error}")
        };
        assert_eq!(
            (mismatch.index, mismatch.name.as_str(), mismatch.element),
            (0, "data", 2)
        );
        let bits = |x: f32| u64::from(x.to_bits());
        assert_eq!((mismatch.host, mismatch.cuda), (bits(4.0), bits(3.0)));
        assert_eq!(
            error.to_string(),
            "argument 0 (\"data\"), element 2: 4.0 (0x40800000) on the reference executor, 3.0 (0x40400000) on the GPU"
        );
        assert_eq!(data, [1.0, 2.0, 3.0, 4.0], "the slices are as they were");

        // What may differ may: exact kernels only where asked for, approximations by themselves.
        let scaled = changed(Type::F32, |b, x| {
            let scale = b.constant(1.0005f32);
            b.mul(x, scale)
        });
        let run = |kernel: &Kernel, tolerance| {
            let mut data = [1.0f32; 4];
            let policy = Policy::CrossCheck { tolerance };
            let both = both.with_policy(policy);
            both.run(kernel, [1, 1, 1], &mut args![&mut data])
                .map(|_| data[0])
        };
        assert!(run(&scaled, Tolerance::Auto).is_err());
        let within = Tolerance::Within(Closeness::new(1e-3, 0.0));
        assert_eq!(
            run(&scaled, within).unwrap(),
            1.0005,
            "the reference executor's results"
        );
        let fast = changed(Type::F32, |b, x| {
            let (two, two_too) = (b.constant(2.0f32), b.constant(2.0005f32));
            let half = b.div_fast(x, two);
            b.mul(half, two_too)
        });
        assert!(run(&fast, Tolerance::Auto).is_ok());
        assert!(run(&fast, Tolerance::Exact).is_err());
    }
    fake.assert_clean();
}

#[test]
fn failures_of_the_driver_come_through_and_leave_nothing_behind() {
    let fake = Fake::new();
    {
        let pipeline = pipeline(&fake, Policy::default());
        let (x, mut y) = ([1.0f32; 8], [7.0f32; 8]);
        let mut run = || {
            let mut args: [Arg<'_>; 3] = args![2.0f32, &x, &mut y];
            pipeline.run(&saxpy(), [1, 1, 1], &mut args)
        };
        for name in [
            "cuModuleLoadDataEx",
            "cuModuleGetFunction",
            "cuMemAllocFromPoolAsync",
            "cuMemcpyHtoD_v2",
            "cuLaunchKernel",
            "cuStreamSynchronize",
            "cuMemcpyDtoH_v2",
        ] {
            for code in [2, 9999] {
                pipeline.clear();
                fake.inject(name, 0, code);
                // Not kept: the next run works.
                match run() {
                    Err(RunError::Cuda(error)) => {
                        assert_eq!((error.code(), error.call()), (Some(Code(code)), Some(name)));
                    }
                    other => panic!("{name} {code}: {other:?}"),
                }
                run().unwrap();
            }
        }
    }
    fake.assert_clean();
}

#[test]
fn many_threads_load_a_kernel_once() {
    let fake = Fake::new();
    {
        let pipeline = pipeline(&fake, Policy::Cuda);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let (x, mut y) = ([1.0f32; 8], [7.0f32; 8]);
                    for _ in 0..5 {
                        let mut args = args![2.0f32, &x, &mut y];
                        pipeline.run(&saxpy(), [1, 1, 1], &mut args).unwrap();
                    }
                });
            }
        });
        let loads = fake
            .calls()
            .iter()
            .filter(|c| *c == "cuModuleLoadDataEx")
            .count();
        assert_eq!(loads, 1);
        let code = pipeline.stats().code;
        assert_eq!((code.misses, code.hits + code.waits), (1, 39));
    }
    fake.assert_clean();
}

#[test]
fn each_context_has_code_of_its_own() {
    let fake = Fake::new();
    {
        let first = pipeline(&fake, Policy::Cuda);
        let other = fake.driver().device(1).unwrap().primary_context().unwrap();
        let second = first.on(&other);
        let (x, mut y) = ([1.0f32; 8], [7.0f32; 8]);
        for pipeline in [&first, &second, &first.on(&other), &first] {
            let mut args = args![2.0f32, &x, &mut y];
            pipeline.run(&saxpy(), [1, 1, 1], &mut args).unwrap();
        }
        let loads = fake
            .calls()
            .iter()
            .filter(|c| *c == "cuModuleLoadDataEx")
            .count();
        assert_eq!(loads, 2);
        assert_eq!(second.stats().code.hits, 1);
        first.clear();
        assert_eq!(second.stats().code.entries, 0);
    }
    fake.assert_clean();
}

#[test]
fn the_disk_saves_the_next_process_the_assembly() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..2 {
        // A new process, as far as the driver is concerned.
        let fake = Fake::new();
        {
            let cache = Cache::open(folder.path()).unwrap();
            let config = config(&fake, Policy::Cuda).with_disk_cache(cache);
            let (x, mut y) = ([1.0f32; 8], [7.0f32; 8]);
            KernelPipeline::with_config(config)
                .run(&saxpy(), [1, 1, 1], &mut args![2.0f32, &x, &mut y])
                .unwrap();
            let assembled = fake.calls().contains(&"cuLinkComplete".into());
            assert_eq!(assembled, round == 0);
        }
        fake.assert_clean();
    }
}

#[test]
fn every_part_of_a_run_is_measured() {
    let fake = Fake::new();
    {
        let pipeline = KernelPipeline::with_config(config(&fake, CROSS_CHECK).with_profile(true));
        let kernel = changed(Type::U32, |_, x| x);
        for _ in 0..2 {
            let mut data = [1u32, 2, 3];
            pipeline
                .run(&kernel, [1, 1, 1], &mut args![&mut data])
                .unwrap();
        }
        let report = pipeline.take_profile();
        let rows: Vec<_> = report
            .rows()
            .iter()
            .map(|r| (r.name.as_str(), r.count))
            .collect();
        let expected = [
            ("emit PTX", 1),
            ("load", 1),
            ("copy to the GPU", 2),
            ("kernel", 2),
            ("copy to the host", 2),
            ("reference executor", 2),
        ];
        assert_eq!(rows, expected);
        // By the GPU's clock: half a millisecond each, says the fake driver.
        let kernel = report.row("kernel").unwrap();
        assert_eq!(kernel.total.as_micros(), 1000);
    }
    fake.assert_clean();
}
