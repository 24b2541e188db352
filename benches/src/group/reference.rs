//! The reference executor on the CPU. Its instructions are those of all threads together.

use super::names::{CHECKED, THREADS, UNCHECKED};
use crate::paired::Contestant;
use kernite::reference::{Arg, Executor, Options};
use kernite_stages::kernels;

/// What it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Run {
    /// 512 × 512 points of the Mandelbrot set, at most 100 steps each.
    Mandelbrot,
    /// A product of two matrices of 256 × 256.
    Matmul16,
}

impl Run {
    /// Both.
    pub const ALL: [Run; 2] = [Run::Mandelbrot, Run::Matmul16];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Run::Mandelbrot => "mandelbrot",
            Run::Matmul16 => "matmul16",
        }
    }
}

pub(super) fn contestants(run: Run) -> Vec<Contestant> {
    let mut threads = Options::default();
    threads.threads = 2;
    let options = [
        (UNCHECKED, Options::unchecked()),
        (CHECKED, Options::default()),
        (THREADS, threads),
    ];
    options
        .into_iter()
        .map(|(name, options)| match run {
            Run::Mandelbrot => mandelbrot(name, options),
            Run::Matmul16 => matmul16(name, options),
        })
        .collect()
}

const SIDE: u32 = 512;
const LEFT: f32 = -2.0;
const TOP: f32 = -1.5;
const STEP: f32 = 3.0 / SIDE as f32;
const LIMIT: u32 = 100;

fn mandelbrot(name: &'static str, options: Options) -> Contestant {
    let kernel = kernels::build(kernels::mandelbrot);
    let mut args = [
        Arg::from(vec![0u32; (SIDE * SIDE) as usize]),
        SIDE.into(),
        SIDE.into(),
        LEFT.into(),
        TOP.into(),
        STEP.into(),
        LIMIT.into(),
    ];
    let mut executor = Executor::new(options);
    let grid = [SIDE / 16, SIDE / 16, 1];
    let report = executor.run(&kernel, grid, &mut args).expect("a run");
    let found = args[0].as_slice::<u32>().expect("the iterations");
    for (i, &found) in found.iter().enumerate() {
        let (x, y) = (i as u32 % SIDE, i as u32 / SIDE);
        assert_eq!(
            found,
            iterations(x as f32 * STEP + LEFT, y as f32 * STEP + TOP)
        );
    }
    let size = (report.thread_steps as usize, 4 * found.len());
    Contestant::new(name, size, move || {
        executor.run(&kernel, grid, &mut args).expect("a run")
    })
}

fn iterations(c_re: f32, c_im: f32) -> u32 {
    let (mut re, mut im) = (0.0f32, 0.0f32);
    for step in 0..LIMIT {
        if re * re + im * im > 4.0 {
            return step;
        }
        let product = re * im;
        (re, im) = (re * re - im * im + c_re, product + product + c_im);
    }
    LIMIT
}

const SIZE: u32 = 256;

fn matmul16(name: &'static str, options: Options) -> Contestant {
    let kernel = kernels::build(kernels::matmul16);
    let n = SIZE as usize;
    let matrix = |seed: usize| -> Vec<f32> {
        let element = |i: usize| ((i * 37 + seed) % 101) as f32 / 16.0 - 3.0;
        (0..n * n).map(element).collect()
    };
    let (a, b) = (matrix(5), matrix(77));
    let mut args = [
        Arg::from(a.clone()),
        Arg::from(b.clone()),
        Arg::from(vec![0.0f32; n * n]),
        SIZE.into(),
    ];
    let mut executor = Executor::new(options);
    let grid = [SIZE / 16, SIZE / 16, 1];
    let report = executor.run(&kernel, grid, &mut args).expect("a run");
    let found = args[2].as_slice::<f32>().expect("the product");
    for (i, found) in found.iter().enumerate() {
        let (row, column) = (i / n, i % n);
        let expected = (0..n).fold(0.0f32, |sum, k| {
            a[row * n + k].mul_add(b[k * n + column], sum)
        });
        assert_eq!(
            found.to_bits(),
            expected.to_bits(),
            "row {row}, column {column}"
        );
    }
    let size = (report.thread_steps as usize, 4 * n * n);
    Contestant::new(name, size, move || {
        executor.run(&kernel, grid, &mut args).expect("a run")
    })
}
