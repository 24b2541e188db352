//! Launching, on a GPU.
#![forbid(unsafe_code)]

use kernite::cuda::{
    Code, Context, Error, Function, LaunchConfig, LaunchError, LoadOptions, Module, Stream, args,
};
use kernite::reference::{self, Executor};
use kernite_cuda_tests::gpu;
use kernite_cuda_tests::kernels::{self, SAXPY, many_registers};
use kernite_testkit::skip;

fn numbers(n: usize, seed: u32) -> Vec<f32> {
    (0..n as u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) ^ seed) as f32 / 65536.0)
        .collect()
}

fn saxpy(context: &Context, function: &Function, stream: &Stream, n: usize) {
    let (a, x, y) = (1.5f32, numbers(n, 1), numbers(n, 2));
    let (dx, mut dy) = (context.upload(&x).unwrap(), context.upload(&y).unwrap());
    let config = function.config_for(n as u64).unwrap();
    gpu::launch(function, stream, &config, &args![a, &dx, &mut dy]).unwrap();
    let result = dy.to_vec().unwrap();
    for (i, got) in result.iter().enumerate() {
        let expected = a * x[i] + y[i];
        assert_eq!(got.to_bits(), expected.to_bits(), "element {i} of {n}");
    }
    assert_eq!(dx.to_vec().unwrap(), x);
}

#[test]
fn saxpy_is_right_by_hand_and_emitted() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
    let kernel = kernels::saxpy();
    let by_hand = module.kernel("saxpy", &kernel.signature()).unwrap();
    let emitted = context.load_kernel(&kernel, &LoadOptions::new()).unwrap();
    for function in [by_hand, emitted] {
        for n in [0, 1, 31, 127, 128, 129, 1000, 1 << 20] {
            saxpy(&context, &function, &stream, n);
        }
    }
}

#[test]
fn the_reference_executor_agrees() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let kernel = kernels::saxpy();
    let function = context.load_kernel(&kernel, &LoadOptions::new()).unwrap();
    let (x, y) = (numbers(5000, 3), numbers(5000, 4));
    let (dx, mut dy) = (context.upload(&x).unwrap(), context.upload(&y).unwrap());
    let config = function.config_for(5000).unwrap();
    gpu::launch(&function, &stream, &config, &args![0.3f32, &dx, &mut dy]).unwrap();
    let mut args = [
        reference::Arg::from(0.3f32),
        reference::Arg::from(x),
        reference::Arg::from(y),
    ];
    Executor::new(reference::Options::default())
        .run(&kernel, config.grid, &mut args)
        .unwrap();
    assert_eq!(Some(&dy.to_vec().unwrap()[..]), args[2].as_slice::<f32>());
}

#[test]
fn an_empty_grid_runs_nothing() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel(&kernels::saxpy(), &LoadOptions::new())
        .unwrap();
    let (x, mut y) = (
        context.alloc::<f32>(0).unwrap(),
        context.alloc::<f32>(0).unwrap(),
    );
    gpu::launch(
        &function,
        &stream,
        &function.config_for(0).unwrap(),
        &args![1.0f32, &x, &mut y],
    )
    .unwrap();
    // And a grid over buffers of nothing finds nothing.
    gpu::launch(
        &function,
        &stream,
        &function.config_for(1000).unwrap(),
        &args![1.0f32, &x, &mut y],
    )
    .unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn streams_run_side_by_side_and_wait_for_each_other() {
    let Some(context) = gpu::context() else {
        return;
    };
    let function = context
        .load_kernel(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let n = 4096;
    let config = function.config_for(n as u64).unwrap();
    let streams: Vec<Stream> = (0..8).map(|_| context.stream().unwrap()).collect();
    // Each on its own.
    let mut buffers: Vec<_> = streams
        .iter()
        .map(|s| s.alloc_zeroed::<u32>(n).unwrap())
        .collect();
    for _ in 0..10 {
        for (stream, buffer) in streams.iter().zip(&mut buffers) {
            gpu::launch(&function, stream, &config, &args![buffer, 100u32]).unwrap();
        }
    }
    for buffer in &buffers {
        assert!(buffer.to_vec().unwrap().iter().all(|&x| x == 1000));
    }
    // One buffer through all of them in turn, in order.
    let mut shared = streams[0].alloc_zeroed::<u32>(n).unwrap();
    for round in 0..80 {
        let stream = &streams[round % 8];
        stream.wait_for(&streams[(round + 7) % 8]).unwrap();
        gpu::launch(&function, stream, &config, &args![&mut shared, 10u32]).unwrap();
    }
    assert!(shared.to_vec().unwrap().iter().all(|&x| x == 800));
    // Dropped right after the launch, on the stream of another.
    for (a, b) in streams.iter().zip(streams.iter().rev()) {
        let mut buffer = a.alloc_zeroed::<u32>(n).unwrap();
        gpu::launch(&function, b, &config, &args![&mut buffer, 1000u32]).unwrap();
    }
    drop(streams);
    context.synchronize().unwrap();
}

#[test]
fn threads_share_one_context() {
    let Some(context) = gpu::context() else {
        return;
    };
    let function = context
        .load_kernel(&kernels::saxpy(), &LoadOptions::new())
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let stream = context.stream().unwrap();
                for n in [1, 1000, 50_000] {
                    saxpy(&context, &function, &stream, n);
                }
            });
        }
    });
}

#[test]
fn dynamic_shared_memory_goes_up_to_the_devices_limit() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel(&kernels::dynamic_shared(), &LoadOptions::new())
        .unwrap();
    let most = context.limits().shared_bytes_opt_in;
    for bytes in [128, 48 << 10, (48 << 10) + 4, most] {
        let mut out = context.upload(&[0u32; 4]).unwrap();
        let config = LaunchConfig::new([4, 1, 1], [32, 1, 1]).dynamic_shared_bytes(bytes);
        gpu::launch(&function, &stream, &config, &args![&mut out, bytes / 4 - 1]).unwrap();
        assert_eq!(out.to_vec().unwrap(), [496; 4], "{bytes} bytes");
    }
    let mut out = context.upload(&[0u32; 4]).unwrap();
    let config = LaunchConfig::new([4, 1, 1], [32, 1, 1]).dynamic_shared_bytes(most + 4);
    let error = gpu::launch(&function, &stream, &config, &args![&mut out, 0u32]).unwrap_err();
    assert!(
        matches!(error, Error::Launch(ref e) if matches!(**e, LaunchError::SharedMemory { .. })),
        "{error}"
    );
}

#[test]
fn registers_limit_the_threads_of_a_block() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let load = |directive: &str| {
        let text = many_registers("k", 80, directive);
        Module::load(&context, &text, &LoadOptions::new())
            .unwrap()
            .function("k")
            .unwrap()
    };
    let block = LaunchConfig::new([1; 3], [1024, 1, 1]);
    // Told that there will be 1024 threads, the assembler keeps to 64 registers.
    let told = load(".maxntid 1024, 1, 1");
    assert!(told.attributes().registers <= 64);
    gpu::launch_raw(&told, &stream, &block).unwrap();
    stream.synchronize().unwrap();
    // Not told, it takes more, and such a block is refused with both numbers.
    let free = load("");
    let max = free.attributes().max_threads_per_block;
    assert!(max < 1024, "{:?}", free.attributes());
    let error = gpu::launch_raw(&free, &stream, &block).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("1024") && text.contains(&max.to_string()),
        "{text}"
    );
    // What the driver says of it behind our back is 701, and the context stays usable.
    assert_eq!(
        gpu::launch_behind_the_checks(&context, &free, 1024),
        Code::LAUNCH_OUT_OF_RESOURCES.0
    );
    gpu::launch_raw(&free, &stream, &LaunchConfig::new([1; 3], [max, 1, 1])).unwrap();
    context.synchronize().unwrap();
    assert!(!context.is_lost());
    let suggested = free.suggested_block(0).unwrap();
    assert!(suggested.threads <= max && suggested.threads >= 32 && suggested.blocks > 0);
    assert!(free.blocks_per_multiprocessor(128, 0).unwrap() > 0);
}

#[test]
fn events_measure_and_order() {
    let Some(context) = gpu::context() else {
        return;
    };
    let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
    let function = context
        .load_kernel(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let mut data = a.alloc_zeroed::<u32>(1 << 16).unwrap();
    let config = function.config_for(1 << 16).unwrap();
    let (start, end) = (context.event().unwrap(), context.event().unwrap());
    start.record(&a).unwrap();
    gpu::launch(&function, &a, &config, &args![&mut data, 2000u32]).unwrap();
    end.record(&a).unwrap();
    b.wait(&end).unwrap();
    b.synchronize().unwrap();
    assert!(end.is_done().unwrap() && a.is_idle().unwrap());
    assert!(end.since(&start).unwrap().as_nanos() > 0);
    let untimed = context.event_without_timing().unwrap();
    untimed.record(&a).unwrap();
    untimed.synchronize().unwrap();
    assert!(untimed.since(&start).is_err());
    assert!(
        context.event().unwrap().since(&start).is_err(),
        "never recorded"
    );
}

#[test]
fn several_devices() {
    let Some(first) = gpu::device() else { return };
    let driver = first.driver();
    if driver.device_count().unwrap() < 2 {
        skip::skip("second GPU", "there is one device");
        return;
    }
    let contexts: Vec<Context> = driver
        .devices()
        .unwrap()
        .iter()
        .map(|d| d.primary_context().unwrap())
        .collect();
    let functions: Vec<Function> = contexts
        .iter()
        .map(|c| {
            c.load_kernel(&kernels::saxpy(), &LoadOptions::new())
                .unwrap()
        })
        .collect();
    for _ in 0..3 {
        for (context, function) in contexts.iter().zip(&functions) {
            saxpy(context, function, &context.stream().unwrap(), 1000);
        }
    }
    let theirs = contexts[1].upload(&[0f32; 4]).unwrap();
    let mut ours = contexts[0].upload(&[0f32; 4]).unwrap();
    let stream = contexts[0].stream().unwrap();
    let config = functions[0].config_for(4).unwrap();
    assert!(
        gpu::launch(
            &functions[0],
            &stream,
            &config,
            &args![1.0f32, &theirs, &mut ours]
        )
        .is_err()
    );
}
