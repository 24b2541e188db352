//! A launch of each example kernel with random inputs, at sizes that are no multiples of the workgroup.

use crate::choices::SplitMix;
use crate::kernels;
use crate::run::{Case, Value};
use kernite::kernel::Bounds;
use kernite::types::Const;

/// Random numbers for inputs.
struct Numbers(SplitMix);

impl Numbers {
    /// Floats between −4 and 4 with all bits in use.
    fn floats(&mut self, n: usize) -> Vec<f32> {
        (0..n)
            .map(|_| ((self.0.next_u64() >> 40) as f32 / (1 << 24) as f32) * 8.0 - 4.0)
            .collect()
    }

    /// Floats that are small integers, so that sums are exact in any order.
    fn integral(&mut self, n: usize) -> Vec<f32> {
        (0..n)
            .map(|_| (self.0.next_u64() % 17) as f32 - 8.0)
            .collect()
    }

    fn words(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| (self.0.next_u64() >> 32) as u32).collect()
    }
}

/// The launch of a kernel of [`kernels::ALL`].
///
/// # Panics
/// For a name that is not there, and for a kernel there that has no launch here.
pub fn launch(name: &str, seed: u64) -> Case {
    let kernel = kernels::ALL
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, make)| make());
    let kernel = kernel.unwrap_or_else(|| panic!("no kernel is called {name}"));
    let mut r = Numbers(SplitMix::new(seed));
    let scalar = |v: Const| Value::Scalar(v);
    let zeros = |n: usize| Value::of(&vec![0u32; n]);
    let n = 1 + (r.0.next_u64() % 700) as usize;
    let small = (r.0.next_u64() % 45) as u32 + 1;
    let per_group = |n: usize| [(n as u32).div_ceil(kernel.workgroup_threads()), 1, 1];
    let (grid, args) = match name {
        "vector_add" => {
            let args = vec![
                Value::of(&r.floats(n)),
                Value::of(&r.floats(n)),
                zeros(n),
                scalar((n as u32).into()),
            ];
            (per_group(n), args)
        }
        "saxpy" => {
            let args = vec![
                Value::of(&r.floats(n)),
                Value::of(&r.floats(n)),
                scalar(1.625f32.into()),
                scalar((n as u32).into()),
            ];
            (per_group(n), args)
        }
        "straight_1000" | "straight_10000" => {
            // Factors near 1, so that the chain neither overflows nor dies away.
            let near_one = |r: &mut Numbers| -> Vec<f32> {
                r.floats(256)
                    .iter()
                    .map(|f| if *f < 0.0 { -1.0 } else { 1.0 } + f / 4096.0)
                    .collect()
            };
            (
                [1, 1, 1],
                vec![
                    Value::of(&near_one(&mut r)),
                    Value::of(&near_one(&mut r)),
                    zeros(256),
                ],
            )
        }
        "dot" => {
            let (x, y) = (r.integral(n), r.integral(n));
            let args = vec![
                Value::of(&x),
                Value::of(&y),
                Value::of(&[3.0f32]),
                scalar((n as u32).into()),
            ];
            (per_group(n), args)
        }
        "reduce256" => {
            let args = vec![
                Value::of(&r.floats(n)),
                zeros(n.div_ceil(256)),
                scalar((n as u32).into()),
            ];
            (per_group(n), args)
        }
        "prefix_sum" => {
            let args = vec![
                Value::of(&r.words(n)),
                zeros(n),
                zeros(n.div_ceil(256)),
                scalar((n as u32).into()),
            ];
            (per_group(n), args)
        }
        "histogram" => {
            let args = vec![
                Value::of(&r.words(n)),
                Value::of(&r.words(256)),
                scalar((n as u32).into()),
            ];
            (per_group(n), args)
        }
        "matmul_tiled" => {
            let (rows, columns, inner) = (small, small * 2 / 3 + 1, small / 2 + 1);
            let args = vec![
                Value::of(&r.floats((rows * inner) as usize)),
                Value::of(&r.floats((inner * columns) as usize)),
                zeros((rows * columns) as usize),
                scalar(rows.into()),
                scalar(columns.into()),
                scalar(inner.into()),
            ];
            ([columns.div_ceil(16), rows.div_ceil(16), 1], args)
        }
        "matmul16" => {
            let size = 32u32;
            let elements = (size * size) as usize;
            let args = vec![
                Value::of(&r.floats(elements)),
                Value::of(&r.floats(elements)),
                zeros(elements),
                scalar(size.into()),
            ];
            ([size / 16, size / 16, 1], args)
        }
        "transpose" => {
            let (width, height) = (small + 20, small * 3);
            let elements = (width * height) as usize;
            let args = vec![
                Value::of(&r.floats(elements)),
                zeros(elements),
                scalar(width.into()),
                scalar(height.into()),
            ];
            ([width.div_ceil(32), height.div_ceil(32), 1], args)
        }
        "mandelbrot" => {
            let (width, height) = (small + 3, small * 2 + 1);
            let args = vec![
                zeros((width * height) as usize),
                scalar(width.into()),
                scalar(height.into()),
                scalar((-2.0f32).into()),
                scalar((-1.25f32).into()),
                scalar((3.0f32 / width as f32).into()),
                scalar(60u32.into()),
            ];
            ([width.div_ceil(16), height.div_ceil(16), 1], args)
        }
        _ => panic!("{name} has no launch"),
    };
    Case {
        kernel,
        grid,
        args,
        dynamic_shared: 0,
        bounds: Bounds::Unchecked,
    }
}
