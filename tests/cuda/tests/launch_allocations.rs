//! A launch allocates nothing.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

use kernite::Access;
use kernite::cuda::{Arg, DeviceBuffer, LoadOptions, Module, args};
use kernite_cuda_tests::fake::{Fake, adopt_slice_mut};
use kernite_cuda_tests::kernels::{SAXPY, many_buffers, saxpy};
use kernite_testkit::alloc_counter::{self, CountingAllocator};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn launches_allocate_nothing() {
    let fake = Fake::new();
    let context = fake.context();
    let (stream, other) = (context.stream().unwrap(), context.stream().unwrap());
    let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
    let function = fake
        .checked_kernel(&module, "saxpy", &saxpy().signature())
        .unwrap();
    let config = function.config_for(100).unwrap();
    let x = context.upload(&[0f32; 100]).unwrap();
    let mut y = stream.alloc_zeroed::<f32>(100).unwrap();
    fake.fast(true);
    alloc_counter::assert_allocates_nothing(|| {
        for _ in 0..100 {
            function
                .launch(&stream, &config, &args![1.0f32, &x, &mut y])
                .unwrap();
        }
    });
    // Also where the context is entered each time on a thread that has none, and on a bound one.
    let _bound = context.bind().unwrap();
    function
        .launch(&other, &config, &args![1.0f32, &x, &mut y])
        .unwrap();
    alloc_counter::assert_allocates_nothing(|| {
        function
            .launch(&other, &config, &args![1.0f32, &x, &mut y])
            .unwrap();
    });

    for count in [1, 2, 4, 8, 16, 31, 32, 33, 300, 540] {
        let (signature, text) = many_buffers(count, Access::ReadWrite);
        let module = Module::load(&context, &text, &LoadOptions::new()).unwrap();
        let function = fake.checked_kernel(&module, "many", &signature).unwrap();
        let config = function.config_for(1).unwrap();
        let mut buffers: Vec<DeviceBuffer<f32>> =
            (0..count).map(|_| context.alloc(4).unwrap()).collect();
        let args: Vec<Arg<'_>> = buffers.iter_mut().map(Arg::from).collect();
        alloc_counter::assert_allocates_nothing(|| {
            function.launch(&stream, &config, &args).unwrap()
        });
        drop(args);
        // Memory of others, whose addresses are compared, in an order that is none.
        let adopted = |buffer: &DeviceBuffer<f32>| {
            let slice = adopt_slice_mut::<f32>(&context, buffer.as_raw(), 4);
            Arg::from(slice.unwrap())
        };
        let mut args: Vec<Arg<'_>> = buffers.iter().map(adopted).collect();
        args.reverse();
        args.swap(0, count / 2);
        alloc_counter::assert_allocates_nothing(|| {
            function.launch(&stream, &config, &args).unwrap()
        });
    }
    fake.fast(false);
}

#[test]
fn what_is_compiled_already_is_found_without_allocating() {
    use kernite::pipeline::{KernelPipeline, Options};
    let pipeline = KernelPipeline::default();
    let (kernel, options) = (saxpy(), Options::all());
    pipeline.compile(&kernel, &options).unwrap();
    alloc_counter::assert_allocates_nothing(|| {
        for _ in 0..100 {
            pipeline.compile(&kernel, &options).unwrap();
        }
    });
    assert_eq!(pipeline.stats().artefacts.hits, 100);
}
