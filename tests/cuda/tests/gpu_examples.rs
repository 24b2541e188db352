//! The kernels of the examples on a GPU, at the examples' sizes, bit for bit what the reference executor computes.
#![forbid(unsafe_code)]

use kernite::cuda::{LaunchConfig, LoadOptions, args};
use kernite::reference::{Arg, Executor, Options};
use kernite_cuda_tests::gpu::{self, note};
use kernite_suite::kernels;

/// The picture that the example `mandelbrot` draws.
#[test]
fn the_mandelbrot_set() {
    let Some(context) = gpu::context() else {
        return;
    };
    const WIDTH: u32 = 640;
    const HEIGHT: u32 = 400;
    let pixels = (WIDTH * HEIGHT) as usize;
    let (left, top, step, limit) = (-2.35f32, -1.0f32, 2.0 / HEIGHT as f32, 160u32);
    let kernel = kernels::build(kernels::mandelbrot);
    let [x, y, _] = kernel.workgroup_size();
    let grid = [WIDTH.div_ceil(x), HEIGHT.div_ceil(y), 1];
    let mut args = [
        Arg::from(vec![0u32; pixels]),
        Arg::from(WIDTH),
        Arg::from(HEIGHT),
        Arg::from(left),
        Arg::from(top),
        Arg::from(step),
        Arg::from(limit),
    ];
    Executor::new(Options::default())
        .run(&kernel, grid, &mut args)
        .unwrap();
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel_checked(&kernel, &LoadOptions::new())
        .unwrap();
    let config = LaunchConfig::new(grid, kernel.workgroup_size());
    let mut picture = context.upload(&vec![0u32; pixels]).unwrap();
    let (start, end) = (context.event().unwrap(), context.event().unwrap());
    for _ in 0..2 {
        start.record(&stream).unwrap();
        let args = args![&mut picture, WIDTH, HEIGHT, left, top, step, limit];
        function.launch(&stream, &config, &args).unwrap();
        end.record(&stream).unwrap();
    }
    end.synchronize().unwrap();
    let took = end.since(&start).unwrap();
    let picture = picture.to_vec().unwrap();
    assert_eq!(Some(&picture[..]), args[0].as_slice::<u32>());
    let inside = picture.iter().filter(|&&steps| steps == limit).count();
    note(&format!(
        "{WIDTH} x {HEIGHT} points in {took:.1?}, {inside} of them inside"
    ));
}
