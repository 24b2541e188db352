//! Faults that hardware lets pass and compute-sanitizer finds: the report of the GPU tests shows that its tools do.
#![forbid(unsafe_code)]

use kernite::cuda::{LaunchConfig, LoadOptions, Module, args};
use kernite_cuda_tests::gpu;
use kernite_cuda_tests::kernels;

/// For memcheck: one element behind a buffer, where the driver gives more than was asked for.
#[test]
fn a_store_behind_a_buffer() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel(&kernels::wild_store(), &LoadOptions::new())
        .unwrap();
    let config = function.config_for(1).unwrap();
    let mut data = context.upload(&[0u32; 3]).unwrap();
    gpu::launch(&function, &stream, &config, &args![&mut data, 3u64]).unwrap();
    context.synchronize().unwrap();
    assert_eq!(data.to_vec().unwrap(), [0; 3]);
}

/// For racecheck: two warps store to the same shared word.
#[test]
fn a_race_in_shared_memory() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let module = Module::load(&context, &kernels::racy(), &LoadOptions::new()).unwrap();
    let function = module.function("racy").unwrap();
    let config = LaunchConfig::new([1; 3], [64, 1, 1]);
    gpu::launch_raw(&function, &stream, &config).unwrap();
    stream.synchronize().unwrap();
}

/// For initcheck: a buffer that nobody wrote is read.
#[test]
fn a_load_of_nothing() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let config = function.config_for(256).unwrap();
    let mut data = context.alloc::<u32>(256).unwrap();
    gpu::launch(&function, &stream, &config, &args![&mut data, 1u32]).unwrap();
    stream.synchronize().unwrap();
}
