//! What a checked launch costs above the driver's `cuLaunchKernel`, on a driver that does nothing.
//!
//! ```text
//! cargo run --release -p kernite-cuda-tests --example launch_cost
//! ```
#![allow(unsafe_code)]

use kernite::Access;
use kernite::cuda::{Arg, DeviceBuffer, LoadOptions, Module, args};
use kernite_cuda_tests::fake::{Fake, adopt_slice_mut};
use kernite_cuda_tests::kernels::{SAXPY, many_buffers, saxpy};
use std::ffi::c_void;
use std::hint::black_box;
use std::time::Instant;

/// The least of many medians, in nanoseconds: other work on the machine only adds.
fn nanoseconds(mut work: impl FnMut()) -> f64 {
    const CALLS: u32 = 2000;
    let mut best = f64::INFINITY;
    for _ in 0..300 {
        let start = Instant::now();
        for _ in 0..CALLS {
            work();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(CALLS));
    }
    best
}

fn main() {
    let fake = Fake::new();
    let context = fake.context();
    let stream = context.stream().expect("a stream");
    let load = |text: &str| Module::load(&context, text, &LoadOptions::new()).expect("it loads");
    let module = load(SAXPY);
    let function = fake
        .checked_kernel(&module, "saxpy", &saxpy().signature())
        .expect("it is there");
    let config = function.config_for(1000).expect("a grid");
    let x = context.upload(&[0f32; 1000]).expect("memory");
    let mut y = context.upload(&[0f32; 1000]).expect("memory");
    fake.fast(true);

    let raw = fake.raw_launch();
    let mut values = [1.0f32.to_bits().into(), x.as_raw(), y.as_raw(), 1000u64];
    let base = nanoseconds(|| {
        let mut pointers: [*mut c_void; 4] = values.each_mut().map(|v| (v as *mut u64).cast());
        black_box(raw(
            &function,
            &stream,
            [8, 1, 1],
            [128, 1, 1],
            black_box(&mut pointers),
        ));
    });
    println!("cuLaunchKernel of the empty driver: {base:.1} ns");

    let _bound = context.bind().expect("the context");
    let checked = nanoseconds(|| {
        function
            .launch(&stream, &config, black_box(&args![1.0f32, &x, &mut y]))
            .expect("a launch");
    });
    println!(
        "checked launch, 3 arguments and a hidden one: {checked:.1} ns, {:.1} above",
        checked - base
    );

    println!(
        "nanoseconds above cuLaunchKernel, by the number of buffers that the kernel may write:"
    );
    println!("buffers    own  adopted, in order  adopted, shuffled");
    for count in [1, 2, 4, 8, 16, 32, 64] {
        let (signature, text) = many_buffers(count, Access::ReadWrite);
        let function = fake
            .checked_kernel(&load(&text), "many", &signature)
            .expect("it is there");
        let config = function.config_for(1).expect("a grid");
        let above = |args: &[Arg<'_>]| {
            nanoseconds(|| {
                function
                    .launch(&stream, &config, black_box(args))
                    .expect("a launch")
            }) - base
        };
        let mut buffers: Vec<DeviceBuffer<f32>> = (0..count)
            .map(|_| context.alloc(4).expect("memory"))
            .collect();
        let args: Vec<Arg<'_>> = buffers.iter_mut().map(Arg::from).collect();
        let own = above(&args);
        drop(args);
        // Memory of others, of which no borrow says that it does not overlap.
        let mut addresses: Vec<u64> = buffers.iter().map(DeviceBuffer::as_raw).collect();
        let adopted = |addresses: &[u64]| -> Vec<Arg<'_>> {
            let slices = addresses.iter();
            slices
                .map(|&at| {
                    adopt_slice_mut::<f32>(&context, at, 4)
                        .expect("a slice")
                        .into()
                })
                .collect()
        };
        addresses.sort_unstable();
        let in_order = above(&adopted(&addresses));
        let mut state = 1u64;
        for n in (1..count).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            addresses.swap(n, (state >> 33) as usize % (n + 1));
        }
        let shuffled = above(&adopted(&addresses));
        println!("{count:7} {own:6.1} {in_order:18.1} {shuffled:18.1}");
    }
    fake.fast(false);
}
