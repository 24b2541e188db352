//! Pixels: counted and computed.

use kernite::builder::KernelBuilder;
use kernite::types::{Access, Type};

/// `bins[data[i] & 255] += 1` for `i < n`. Each workgroup counts in shared memory and then adds its counts to the
/// buffer, so that most atomics are the cheap ones.
pub fn histogram(k: &mut KernelBuilder) {
    k.reset("histogram", [256, 1, 1]);
    let data = k.buffer("data", Type::U32, Access::Read);
    let bins = k.buffer("bins", Type::U32, Access::ReadWrite);
    let n = k.scalar("n", Type::U32);
    let counts = k.shared_zeroed("counts", Type::U32, 256);

    let (i, thread, n) = (k.global_id(0), k.local_id(0), k.param(n));
    let one = k.constant(1u32);
    let inside = k.lt(i, n);
    k.when(inside, |k| {
        let (value, mask) = (k.load(data, i), k.constant(255u32));
        let bin = k.and(value, mask);
        k.atomic_add(counts, bin, one);
    });
    k.workgroup_barrier();
    let (count, zero) = (k.load(counts, thread), k.constant(0u32));
    let any = k.ne(count, zero);
    k.when(any, |k| {
        k.atomic_add(bins, thread, count);
    });
}

/// `iterations[y * width + x]` = the steps that `z = z * z + c` takes from 0 until it leaves the circle of radius 2, and
/// `limit` where it does not, with `c = (left + x * step, top + y * step)`.
pub fn mandelbrot(k: &mut KernelBuilder) {
    k.reset("mandelbrot", [16, 16, 1]);
    let iterations = k.buffer("iterations", Type::U32, Access::Write);
    let width = k.scalar("width", Type::U32);
    let height = k.scalar("height", Type::U32);
    let left = k.scalar("left", Type::F32);
    let top = k.scalar("top", Type::F32);
    let step = k.scalar("step", Type::F32);
    let limit = k.scalar("limit", Type::U32);

    let (x, y) = (k.global_id(0), k.global_id(1));
    let (width, height) = (k.param(width), k.param(height));
    let (x_inside, y_inside) = (k.lt(x, width), k.lt(y, height));
    let inside = k.and(x_inside, y_inside);
    k.when(inside, |k| {
        let (left, top, step, limit) = (k.param(left), k.param(top), k.param(step), k.param(limit));
        let (column, row) = (k.convert(x, Type::F32), k.convert(y, Type::F32));
        let (c_re, c_im) = (k.mul_add(column, step, left), k.mul_add(row, step, top));
        let (zero, one, origin, four) = (
            k.constant(0u32),
            k.constant(1u32),
            k.constant(0.0f32),
            k.constant(4.0f32),
        );
        let (re, im, count) = (k.var(origin), k.var(origin), k.var(zero));
        k.loop_(|k| {
            let steps = k.get(count);
            let exhausted = k.ge(steps, limit);
            let (z_re, z_im) = (k.get(re), k.get(im));
            let (re_squared, im_squared) = (k.mul(z_re, z_re), k.mul(z_im, z_im));
            let norm = k.add(re_squared, im_squared);
            let outside = k.gt(norm, four);
            let done = k.or(exhausted, outside);
            k.when(done, |k| k.break_());
            let difference = k.sub(re_squared, im_squared);
            let next_re = k.add(difference, c_re);
            let product = k.mul(z_re, z_im);
            let twice = k.add(product, product);
            let next_im = k.add(twice, c_im);
            k.set(re, next_re);
            k.set(im, next_im);
            let next = k.add(steps, one);
            k.set(count, next);
        });
        let (index, steps) = (k.mul_add(y, width, x), k.get(count));
        k.store(iterations, index, steps);
    });
}
