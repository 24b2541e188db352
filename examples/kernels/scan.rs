//! Workgroups whose threads work on one result: reductions and scans in shared memory.

use super::load_or;
use kernite::builder::KernelBuilder;
use kernite::kernel::{Shared, Value};
use kernite::types::{Access, Type};

/// Threads of a workgroup here, a power of two.
const THREADS: u32 = 256;

/// Adds up `tile`, one `f32` for each thread, in a tree; the sum is then its first element, which thread 0 may read.
fn tree_sum(k: &mut KernelBuilder, tile: Shared, thread: Value) {
    k.workgroup_barrier();
    let (zero, one, half) = (k.constant(0u32), k.constant(1u32), k.constant(THREADS / 2));
    let stride = k.var(half);
    k.loop_(|k| {
        let now = k.get(stride);
        let adds = k.lt(thread, now);
        k.when(adds, |k| {
            let partner = k.add(thread, now);
            let (mine, theirs) = (k.load(tile, thread), k.load(tile, partner));
            let sum = k.add(mine, theirs);
            k.store(tile, thread, sum);
        });
        k.workgroup_barrier();
        let next = k.shr(now, one);
        k.set(stride, next);
        let done = k.eq(next, zero);
        k.when(done, |k| k.break_());
    });
}

/// `result[0] += sum of x[i] * y[i]` for `i < n`: a tree in each workgroup, then one atomic addition. The workgroups add
/// in any order, so the rounding may differ from run to run.
pub fn dot(k: &mut KernelBuilder) {
    k.reset("dot", [THREADS, 1, 1]);
    let x = k.buffer("x", Type::F32, Access::Read);
    let y = k.buffer("y", Type::F32, Access::Read);
    let result = k.buffer("result", Type::F32, Access::ReadWrite);
    let n = k.scalar("n", Type::U32);
    let tile = k.shared("tile", Type::F32, THREADS);

    let (i, thread, n) = (k.global_id(0), k.local_id(0), k.param(n));
    let inside = k.lt(i, n);
    let none = k.constant(0.0f32);
    let product = k.var(none);
    k.when(inside, |k| {
        let (x, y) = (k.load(x, i), k.load(y, i));
        let both = k.mul(x, y);
        k.set(product, both);
    });
    let product = k.get(product);
    k.store(tile, thread, product);
    tree_sum(k, tile, thread);
    let zero = k.constant(0u32);
    let first = k.eq(thread, zero);
    k.when(first, |k| {
        let sum = k.load(tile, zero);
        k.atomic_add(result, zero, sum);
    });
}

/// `sums[w]` = the sum of the elements of workgroup `w`, for elements below `n`.
pub fn reduce256(k: &mut KernelBuilder) {
    k.reset("reduce256", [THREADS, 1, 1]);
    let input = k.buffer("input", Type::F32, Access::Read);
    let sums = k.buffer("sums", Type::F32, Access::Write);
    let n = k.scalar("n", Type::U32);
    let tile = k.shared("tile", Type::F32, THREADS);

    let (i, thread, n) = (k.global_id(0), k.local_id(0), k.param(n));
    let inside = k.lt(i, n);
    let element = load_or(k, input, i, inside, 0.0f32);
    k.store(tile, thread, element);
    tree_sum(k, tile, thread);
    let zero = k.constant(0u32);
    let first = k.eq(thread, zero);
    k.when(first, |k| {
        let (group, sum) = (k.workgroup_id(0), k.load(tile, zero));
        k.store(sums, group, sum);
    });
}

/// The inclusive prefix sum within each workgroup: `output[i]` = the wrapping sum of its elements up to and with `i`;
/// `totals[w]` = that of all elements of workgroup `w`.
pub fn prefix_sum(k: &mut KernelBuilder) {
    k.reset("prefix_sum", [THREADS, 1, 1]);
    let input = k.buffer("input", Type::U32, Access::Read);
    let output = k.buffer("output", Type::U32, Access::Write);
    let totals = k.buffer("totals", Type::U32, Access::Write);
    let n = k.scalar("n", Type::U32);
    let tile = k.shared("tile", Type::U32, THREADS);

    let (i, thread, n) = (k.global_id(0), k.local_id(0), k.param(n));
    let inside = k.lt(i, n);
    let mut sum = load_or(k, input, i, inside, 0u32);
    // This loop runs here and now: the kernel has its eight steps one behind the other.
    let mut distance = 1;
    while distance < THREADS {
        k.store(tile, thread, sum);
        k.workgroup_barrier();
        let back = k.constant(distance);
        let from = k.sub(thread, back);
        let has_left = k.ge(thread, back);
        let left = load_or(k, tile, from, has_left, 0u32);
        sum = k.add(sum, left);
        k.workgroup_barrier();
        distance *= 2;
    }
    k.when(inside, |k| k.store(output, i, sum));
    let last = k.constant(THREADS - 1);
    let is_last = k.eq(thread, last);
    k.when(is_last, |k| {
        let group = k.workgroup_id(0);
        k.store(totals, group, sum);
    });
}
