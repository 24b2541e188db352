//! Runs every example kernel on the reference executor and compares it with plain Rust.
//!
//! ```text
//! cargo run --release --example check
//! ```

#[path = "kernels/mod.rs"]
mod kernels;

use kernite::kernel::Kernel;
use kernite::reference::{Arg, ExecError, Executor, Options};
use std::process::ExitCode;

/// A kernel's name, what it computed and what it should have.
type Outcome = (&'static str, Result<bool, ExecError>);

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    let outcomes: Vec<Outcome> = [vectors(), sums(), matrices(), images()].concat();
    for (name, outcome) in &outcomes {
        match outcome {
            Ok(true) => println!("{name}: ok"),
            Ok(false) => println!("{name}: WRONG"),
            Err(e) => println!("{name}: {e}"),
        }
        if *outcome != Ok(true) {
            code = ExitCode::FAILURE;
        }
    }
    for (name, _) in kernels::ALL {
        if !outcomes.iter().any(|(checked, _)| checked == name) {
            println!("{name}: NOT CHECKED");
            code = ExitCode::FAILURE;
        }
    }
    code
}

/// Runs the kernel of that name and hands its arguments to `right`.
fn check(
    name: &'static str,
    grid: [u32; 3],
    mut args: Vec<Arg>,
    right: impl FnOnce(&[Arg]) -> bool,
) -> Outcome {
    let make = kernels::ALL.iter().find(|(n, _)| *n == name);
    let Some(kernel) = make.map(|(_, make)| -> Kernel { make() }) else {
        return (name, Ok(false));
    };
    let ran = Executor::new(Options::default()).run(&kernel, grid, &mut args);
    (name, ran.map(|_| right(&args)))
}

/// Whether an argument holds exactly these elements.
fn holds<T: kernite::reference::Element + PartialEq>(arg: &Arg, expected: &[T]) -> bool {
    arg.as_slice() == Some(expected)
}

/// Small whole numbers, whose sums and products `f32` holds exactly, in any order.
fn numbers(n: u32, seed: u32) -> Vec<f32> {
    let hash = |i: u32| (i + seed).wrapping_mul(2_654_435_761) >> 28;
    (0..n).map(|i| hash(i) as f32 - 8.0).collect()
}

fn vectors() -> Vec<Outcome> {
    let n = 1000;
    let grid = [4, 1, 1];
    let (x, y) = (numbers(n, 1), numbers(n, 2));
    let zip = |f: &dyn Fn(f32, f32) -> f32| -> Vec<f32> {
        x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect()
    };
    let zeros = || Arg::from(vec![0.0f32; 1024]);
    let (a, b) = (Arg::from(x.clone()), Arg::from(y.clone()));
    let mut outcomes = vec![
        check(
            "vector_add",
            grid,
            vec![
                a.clone(),
                b.clone(),
                Arg::from(vec![0.0f32; 1000]),
                n.into(),
            ],
            |args| holds(&args[2], &zip(&|x, y| x + y)),
        ),
        check("saxpy", grid, vec![a, b, 3.0f32.into(), n.into()], |args| {
            holds(&args[1], &zip(&|x, y| 3.0 * x + y))
        }),
    ];
    // Factors near 1, so that a thousand steps stay finite.
    let x: Vec<f32> = (0..1024).map(|i| 0.9 + i as f32 / 8192.0).collect();
    let y: Vec<f32> = x.iter().rev().copied().collect();
    for (name, steps) in [("straight_1000", 1000), ("straight_10000", 10_000)] {
        let expected = x.iter().zip(&y).map(|(&x, &y)| {
            (0..steps).fold(x, |v, step| match step % 3 {
                0 => v.mul_add(x, y),
                1 => v + x,
                _ => v * y,
            })
        });
        let expected: Vec<u32> = expected.map(f32::to_bits).collect();
        let args = vec![Arg::from(x.clone()), Arg::from(y.clone()), zeros()];
        outcomes.push(check(name, grid, args, |args| {
            let got = args[2].as_slice::<f32>().unwrap_or(&[]);
            got.iter().map(|v| v.to_bits()).eq(expected)
        }));
    }
    outcomes
}

fn sums() -> Vec<Outcome> {
    let n = 1000;
    let grid = [4, 1, 1];
    let (x, y) = (numbers(n, 3), numbers(n, 4));
    let product: f32 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
    let parts: Vec<f32> = x.chunks(256).map(|part| part.iter().sum()).collect();
    let data: Vec<u32> = (0..n).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
    let mut scanned = Vec::new();
    let mut totals = Vec::new();
    for part in data.chunks(256) {
        let mut sum = 0u32;
        scanned.extend(part.iter().map(|&v| {
            sum = sum.wrapping_add(v);
            sum
        }));
        totals.push(sum);
    }
    let (a, b) = (Arg::from(x), Arg::from(y));
    vec![
        check(
            "dot",
            grid,
            vec![a.clone(), b, Arg::from([1.0f32]), n.into()],
            |args| holds(&args[2], &[1.0 + product]),
        ),
        check(
            "reduce256",
            grid,
            vec![a, Arg::from([0.0f32; 4]), n.into()],
            |args| holds(&args[1], &parts),
        ),
        check(
            "prefix_sum",
            grid,
            vec![
                Arg::from(data),
                Arg::from(vec![0u32; 1000]),
                Arg::from([0u32; 4]),
                n.into(),
            ],
            |args| holds(&args[1], &scanned) && holds(&args[2], &totals),
        ),
    ]
}

/// `a * b` for `a` of m × k and `b` of k × n elements.
fn product(a: &[f32], b: &[f32], m: usize, n: usize, k: usize) -> Vec<f32> {
    let element = |at: usize| (0..k).map(|i| a[at / n * k + i] * b[i * n + at % n]).sum();
    (0..m * n).map(element).collect()
}

fn matrices() -> Vec<Outcome> {
    let matrix = |elements: u32, seed| numbers(elements, seed);
    let (m, n, k) = (37u32, 50u32, 21u32);
    let (a, b) = (matrix(m * k, 5), matrix(k * n, 6));
    let expected = product(&a, &b, m as usize, n as usize, k as usize);
    let zeros = |elements: u32| Arg::from(vec![0.0f32; elements as usize]);
    let tiled = vec![
        Arg::from(a),
        Arg::from(b),
        zeros(m * n),
        m.into(),
        n.into(),
        k.into(),
    ];
    let size = 48u32;
    let (c, d) = (matrix(size * size, 7), matrix(size * size, 8));
    let square = product(&c, &d, size as usize, size as usize, size as usize);
    let simple = vec![Arg::from(c), Arg::from(d), zeros(size * size), size.into()];
    let (width, height) = (70u32, 45u32);
    let image = matrix(width * height, 9);
    let turned: Vec<f32> = (0..width)
        .flat_map(|x| (0..height).map(move |y| (y * width + x) as usize))
        .map(|at| image[at])
        .collect();
    let transpose = vec![
        Arg::from(image),
        zeros(width * height),
        width.into(),
        height.into(),
    ];
    vec![
        check(
            "matmul_tiled",
            [n.div_ceil(16), m.div_ceil(16), 1],
            tiled,
            |args| holds(&args[2], &expected),
        ),
        check("matmul16", [3, 3, 1], simple, |args| {
            holds(&args[2], &square)
        }),
        check("transpose", [3, 2, 1], transpose, |args| {
            holds(&args[1], &turned)
        }),
    ]
}

fn images() -> Vec<Outcome> {
    let n = 1000u32;
    let data: Vec<u32> = (0..n).map(|i| i * i / 7).collect();
    let mut counts = vec![5u32; 256];
    data.iter().for_each(|v| counts[(v & 255) as usize] += 1);
    let histogram = vec![Arg::from(data), Arg::from(vec![5u32; 256]), n.into()];

    let (width, height, limit) = (50u32, 30u32, 100u32);
    let (left, top, step) = (-2.5f32, -1.2f32, 0.075f32);
    let steps = |at: u32| {
        let (c_re, c_im) = (
            (at % width) as f32 * step + left,
            (at / width) as f32 * step + top,
        );
        let (mut re, mut im, mut count) = (0.0f32, 0.0f32, 0);
        while count < limit && re * re + im * im <= 4.0 {
            (re, im) = (re * re - im * im + c_re, re * im + re * im + c_im);
            count += 1;
        }
        count
    };
    let expected: Vec<u32> = (0..width * height).map(steps).collect();
    let mandelbrot = vec![
        Arg::from(vec![0u32; (width * height) as usize]),
        width.into(),
        height.into(),
        left.into(),
        top.into(),
        step.into(),
        limit.into(),
    ];
    vec![
        check("histogram", [4, 1, 1], histogram, |args| {
            holds(&args[1], &counts)
        }),
        check("mandelbrot", [4, 2, 1], mandelbrot, |args| {
            holds(&args[0], &expected)
        }),
    ]
}
