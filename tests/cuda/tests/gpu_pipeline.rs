//! The pipeline on a GPU: what runs where, and that both executors agree.
#![forbid(unsafe_code)]

use kernite::pipeline::{Arg, Config, Executor, KernelPipeline, Policy, Tolerance};
use kernite_cuda_tests::gpu::{self, note};
use kernite_suite::kernels;
use kernite_suite::launches::launch;
use kernite_suite::run::{Case, Value};
use std::time::Instant;

/// The arguments of a case, over memory of its own.
fn args<'a>(case: &Case, memory: &'a mut [Vec<u8>]) -> Vec<Arg<'a>> {
    let mut decls = case.kernel.buffers().iter();
    let mut memory = memory.iter_mut();
    let one = |value: &Value| match value {
        Value::Scalar(value) => Arg::from(*value),
        Value::Bytes(_) => {
            let (decl, bytes) = (decls.next().unwrap(), memory.next().unwrap());
            if decl.access.writes() {
                Arg::bytes_mut(decl.elem, bytes).unwrap()
            } else {
                Arg::bytes(decl.elem, bytes).unwrap()
            }
        }
    };
    case.args.iter().map(one).collect()
}

/// What the buffers of a case hold before it runs.
fn memory(case: &Case) -> Vec<Vec<u8>> {
    let bytes = |value: &Value| match value {
        Value::Bytes(bytes) => Some(bytes.clone()),
        Value::Scalar(_) => None,
    };
    case.args.iter().filter_map(bytes).collect()
}

#[test]
fn both_executors_agree_on_the_examples() {
    let Some(context) = gpu::context() else {
        return;
    };
    let both = Policy::CrossCheck {
        tolerance: Tolerance::Exact,
    };
    let pipeline = KernelPipeline::new(both).on(&context);
    for (name, _) in kernels::ALL {
        for seed in 10..13 {
            let case = launch(name, seed);
            let mut memory = memory(&case);
            let report = pipeline.run(&case.kernel, case.grid, &mut args(&case, &mut memory));
            let report = report.unwrap_or_else(|e| panic!("{name} {seed}: {e}"));
            assert_eq!(report.executor, Executor::Both);
        }
    }
    let stats = pipeline.stats();
    note(&format!("{} kernels, {stats:?}", kernels::ALL.len()));
}

#[test]
fn the_gpu_is_chosen_where_there_is_one() {
    if gpu::device().is_none() {
        return;
    }
    let pipeline = KernelPipeline::with_config(Config::default().with_profile(true));
    let case = launch("saxpy", 3);
    let right = case.reference(32).unwrap();
    let run = |pipeline: &KernelPipeline| {
        let mut memory = memory(&case);
        let start = Instant::now();
        let report = pipeline.run(&case.kernel, case.grid, &mut args(&case, &mut memory));
        let took = start.elapsed();
        assert_eq!(memory, right);
        (report.unwrap().executor, took)
    };
    let (first, cold) = run(&pipeline);
    let (second, warm) = run(&pipeline);
    assert_eq!([first, second], [Executor::Cuda; 2]);
    note(&format!(
        "saxpy with its copies: {cold:.1?} at first, then {warm:.1?}"
    ));
    println!("{}", pipeline.take_profile());
    let small = Policy::Auto {
        host_below: u64::MAX,
    };
    assert_eq!(run(&pipeline.with_policy(small)).0, Executor::Host);
    assert_eq!(run(&pipeline.with_policy(Policy::Cuda)).0, Executor::Cuda);
}
