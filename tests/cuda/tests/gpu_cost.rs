//! What a checked launch costs on a GPU beside the driver's `cuLaunchKernel`. Nothing is asserted of the times.
#![forbid(unsafe_code)]

use kernite::cuda::{LoadOptions, args};
use kernite_cuda_tests::gpu::{self, RawLaunch, note};
use kernite_cuda_tests::kernels::saxpy;
use std::ffi::c_void;
use std::hint::black_box;
use std::time::Instant;

/// Launches of a round: fewer than fill the queue, so that none waits for the device.
const LAUNCHES: u32 = 200;
const ROUNDS: usize = 200;

/// Nanoseconds of one of [`LAUNCHES`].
fn nanoseconds(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..LAUNCHES {
        work();
    }
    start.elapsed().as_nanos() as f64 / f64::from(LAUNCHES)
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

#[test]
fn a_checked_launch_beside_the_drivers() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let _bound = context.bind().unwrap();
    let function = context
        .load_kernel_checked(&saxpy(), &LoadOptions::new())
        .unwrap();
    let config = function.config_for(1000).unwrap();
    let x = context.upload(&[1f32; 1000]).unwrap();
    let mut y = context.upload(&[0f32; 1000]).unwrap();
    let raw = RawLaunch::new();
    let signature = function.signature().unwrap();
    // a, x, y, then the lengths.
    let mut values = [1.0f32.to_bits().into(), x.as_raw(), y.as_raw(), 1000, 1000];
    let parameters = signature.params.len() + signature.lengths.len();
    assert!(parameters <= values.len());
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        // One after the other, so that a clock that changes meets all alike.
        times[0].push(nanoseconds(|| {
            let mut pointers: [*mut c_void; 5] = values.each_mut().map(|v| (v as *mut u64).cast());
            let pointers = black_box(&mut pointers);
            let answer = raw.launch(
                &function,
                stream.as_raw(),
                config.grid,
                config.block,
                pointers,
            );
            assert_eq!(answer, 0);
        }));
        stream.synchronize().unwrap();
        times[1].push(nanoseconds(|| {
            let args = args![1.0f32, &x, &mut y];
            function.launch(&stream, &config, black_box(&args)).unwrap();
        }));
        stream.synchronize().unwrap();
        times[2].push(nanoseconds(|| {
            let args = args![1.0f32, &x, &mut y];
            gpu::launch(&function, &stream, &config, black_box(&args)).unwrap();
        }));
        stream.synchronize().unwrap();
    }
    let launches = (3 * ROUNDS) as f32 * LAUNCHES as f32;
    assert_eq!(y.to_vec().unwrap(), [launches; 1000]);
    let least = times
        .each_ref()
        .map(|t| t.iter().copied().fold(f64::INFINITY, f64::min));
    let [driver, checked, unchecked] = times.each_mut().map(|t| median(t));
    note(&format!(
        "one launch of saxpy, median of {ROUNDS} rounds of {LAUNCHES}: cuLaunchKernel {driver:.0} ns, launch {checked:.0} ns, launch_unchecked {unchecked:.0} ns; least {:.0}, {:.0}, {:.0} ns",
        least[0], least[1], least[2]
    ));
}
