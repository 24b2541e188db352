//! The pipeline on a GPU: what may differ from the reference executor and what not, many threads, several devices.
#![forbid(unsafe_code)]

use kernite::builder::Scan;
use kernite::kernel::{Kernel, Value};
use kernite::pipeline::{
    Config, Executor, KernelPipeline, Launch, Policy, RunError, Tolerance, args,
};
use kernite::{Access, KernelBuilder, Type};
use kernite_cuda_tests::{gpu, kernels};

const CROSS_CHECK: Policy = Policy::CrossCheck {
    tolerance: Tolerance::Auto,
};

fn pipeline(policy: Policy) -> Option<KernelPipeline> {
    let context = gpu::context()?;
    let config = Config::default().with_policy(policy);
    Some(KernelPipeline::with_config(config.with_context(context)))
}

/// `out[i] = f(x[i])`.
fn mapped(name: &str, f: impl FnOnce(&mut KernelBuilder, Value) -> Value) -> Kernel {
    let mut b = KernelBuilder::new(name, [256, 1, 1]);
    let x = b.buffer("x", Type::F32, Access::Read);
    let out = b.buffer("out", Type::F32, Access::Write);
    let i = b.global_id(0);
    let x = b.load(x, i);
    let y = f(&mut b, x);
    b.store(out, i, y);
    b.finish().expect("the kernel is valid")
}

#[test]
fn what_is_close_enough_is_the_same() {
    let Some(pipeline) = pipeline(CROSS_CHECK) else {
        return;
    };
    let x: Vec<f32> = (0..5000).map(|i| (i as f32 - 2500.0) * 0.37).collect();
    let check = |kernel: &Kernel| {
        let mut out = vec![0.0f32; x.len()];
        // More threads than elements: those outside do nothing.
        let report = pipeline.run(kernel, [24, 1, 1], &mut args![&x, &mut out]);
        match report {
            Ok(report) => assert_eq!(report.executor, Executor::Both),
            Err(error) => panic!("{}: {error}", kernel.name()),
        }
    };
    check(&mapped("sin", |b, x| b.sin(x)));
    // The hardware's sine is promised between -π and π only.
    check(&mapped("sin_fast", |b, x| {
        let three = b.constant(3.0f32);
        let x = b.fract(x);
        let x = b.mul(x, three);
        b.sin_fast(x)
    }));
    check(&mapped("exp_of_fraction", |b, x| {
        let x = b.fract(x);
        b.exp(x)
    }));
    check(&mapped("sum_of_lanes", |b, x| {
        b.subgroup_add(x, Scan::Inclusive)
    }));

    // Additions whose order is nobody's, of numbers for which it does not matter and of others.
    let mut b = KernelBuilder::new("sum", [256, 1, 1]);
    let x_buffer = b.buffer("x", Type::F32, Access::Read);
    let sum = b.buffer("sum", Type::F32, Access::ReadWrite);
    let (i, zero) = (b.global_id(0), b.constant(0u32));
    let value = b.load(x_buffer, i);
    b.atomic_add(sum, zero, value);
    let kernel = b.finish().expect("the kernel is valid");
    let positive: Vec<f32> = x.iter().map(|x| x.abs()).collect();
    let mut sum = [0.0f32];
    pipeline
        .run(&kernel, [20, 1, 1], &mut args![&positive, &mut sum])
        .unwrap();
    assert!(sum[0] > 0.0);

    let mut out = [0u32; 8];
    let launch = Launch::new([8, 1, 1]).dynamic_shared(64);
    pipeline
        .run(
            &kernels::dynamic_shared(),
            launch,
            &mut args![&mut out, 40u32],
        )
        .unwrap();
    assert_eq!(out, [31 * 32 / 2; 8]);
}

#[test]
fn a_difference_is_found() {
    let Some(pipeline) = pipeline(CROSS_CHECK) else {
        return;
    };
    // The GPU's approximation, held to the reference's bits.
    let kernel = mapped("sin_fast", |b, x| b.sin_fast(x));
    let x: Vec<f32> = (0..1000).map(|i| i as f32 * 0.1).collect();
    let mut out = vec![0.0f32; x.len()];
    let exact = pipeline.with_policy(Policy::CrossCheck {
        tolerance: Tolerance::Exact,
    });
    let error = exact
        .run(&kernel, [4, 1, 1], &mut args![&x, &mut out])
        .unwrap_err();
    let RunError::Mismatch(mismatch) = &error else {
        panic!("{error}")
    };
    assert_eq!((mismatch.index, mismatch.name.as_str()), (1, "out"));
    assert!(mismatch.element < x.len());
    assert_eq!(out, vec![0.0; x.len()]);
}

#[test]
fn many_threads_share_a_pipeline() {
    let Some(pipeline) = pipeline(Policy::Cuda) else {
        return;
    };
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            let pipeline = &pipeline;
            scope.spawn(move || {
                for round in 0..20 {
                    let n = 1000 + 100 * thread as usize + round;
                    let mut data = vec![thread; n];
                    let groups = n.div_ceil(256) as u32;
                    pipeline
                        .run(
                            &kernels::count_up(),
                            [groups, 1, 1],
                            &mut args![&mut data, 7u32],
                        )
                        .unwrap();
                    assert!(data.iter().all(|&x| x == thread + 7));
                }
            });
        }
    });
    let stats = pipeline.stats().code;
    assert_eq!((stats.misses, stats.hits + stats.waits), (1, 159));
}

#[test]
fn two_gpus_have_code_of_their_own() {
    let Some(device) = gpu::device() else {
        return;
    };
    let driver = device.driver();
    if driver.device_count().unwrap() < 2 {
        kernite_testkit::skip::skip("second GPU", "there is one device");
        return;
    }
    let first = pipeline(Policy::Cuda).expect("there are two");
    let second = first.on(&driver.device(1).unwrap().primary_context().unwrap());
    for pipeline in [&first, &second, &first, &second] {
        let mut data = vec![1u32; 1000];
        pipeline
            .run(&kernels::count_up(), [4, 1, 1], &mut args![&mut data, 2u32])
            .unwrap();
        assert_eq!(data, [3; 1000]);
    }
    assert_eq!(
        (first.stats().code.misses, second.stats().code.misses),
        (1, 1)
    );
}
