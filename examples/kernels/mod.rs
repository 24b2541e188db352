//! The kernels of the examples, the tests and the benches, each as a function that begins a kernel in a builder and
//! writes its body. [`ALL`] lists them by name.
//!
//! Sizes come as scalar parameters, and a launch may have more threads than elements: what lies beyond is not touched.
//! Indices are `u32`, so a matrix or image has fewer than 2^32 elements.
#![allow(dead_code, reason = "each example uses some of them")]

mod image;
mod matrix;
mod scan;
mod vector;

pub use image::{histogram, mandelbrot};
pub use matrix::{matmul_tiled, matmul16, transpose};
pub use scan::{dot, prefix_sum, reduce256};
pub use vector::{saxpy, straight_line, vector_add};

use kernite::builder::{KernelBuilder, Memory};
use kernite::kernel::{Kernel, Value};
use kernite::types::Const;

/// A function that builds a kernel.
pub type Make = fn() -> Kernel;

/// Every kernel: its name and a function that builds it.
pub const ALL: &[(&str, Make)] = &[
    ("vector_add", || build(vector_add)),
    ("saxpy", || build(saxpy)),
    ("straight_1000", || build(|b| straight_line(b, 1000))),
    ("straight_10000", || build(|b| straight_line(b, 10_000))),
    ("dot", || build(dot)),
    ("reduce256", || build(reduce256)),
    ("prefix_sum", || build(prefix_sum)),
    ("matmul_tiled", || build(matmul_tiled)),
    ("matmul16", || build(matmul16)),
    ("transpose", || build(transpose)),
    ("histogram", || build(histogram)),
    ("mandelbrot", || build(mandelbrot)),
];

/// The kernel that `describe` describes to a fresh builder.
///
/// # Panics
/// Where the description breaks a rule: these here do not, whatever the input of a program.
pub fn build(describe: impl FnOnce(&mut KernelBuilder)) -> Kernel {
    let mut b = KernelBuilder::new("", [1, 1, 1]);
    describe(&mut b);
    b.finish().unwrap_or_else(|e| panic!("{e}"))
}

/// The element at `index` where `inside` is true, and `otherwise` elsewhere; no thread loads from outside.
fn load_or(
    b: &mut KernelBuilder,
    memory: impl Into<Memory>,
    index: Value,
    inside: Value,
    otherwise: impl Into<Const>,
) -> Value {
    let otherwise = b.constant(otherwise);
    let value = b.var(otherwise);
    b.when(inside, |b| {
        let loaded = b.load(memory, index);
        b.set(value, loaded);
    });
    b.get(value)
}
