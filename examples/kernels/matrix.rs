//! Matrices in row-major order, worked on in tiles of shared memory.

use super::load_or;
use kernite::builder::KernelBuilder;
use kernite::types::{Access, Type};

/// `c = a * b` for `a` of m × k, `b` of k × n and `c` of m × n elements, whatever the sizes: 16 × 16 threads for as many
/// elements of `c`, x across and y down.
pub fn matmul_tiled(b: &mut KernelBuilder) {
    b.reset("matmul_tiled", [16, 16, 1]);
    let left = b.buffer("a", Type::F32, Access::Read);
    let right = b.buffer("b", Type::F32, Access::Read);
    let product = b.buffer("c", Type::F32, Access::Write);
    let m = b.scalar("m", Type::U32);
    let n = b.scalar("n", Type::U32);
    let k = b.scalar("k", Type::U32);
    let left_tile = b.shared("a_tile", Type::F32, 256);
    let right_tile = b.shared("b_tile", Type::F32, 256);

    let (column, row) = (b.global_id(0), b.global_id(1));
    let (x, y) = (b.local_id(0), b.local_id(1));
    let (m, n, k) = (b.param(m), b.param(n), b.param(k));
    let (zero, four, fifteen, sixteen) = (
        b.constant(0u32),
        b.constant(4u32),
        b.constant(15u32),
        b.constant(16u32),
    );
    let (row_inside, column_inside) = (b.lt(row, m), b.lt(column, n));
    let here = b.mul_add(y, sixteen, x);
    let tile_row = b.mul(y, sixteen);
    let start = b.constant(0.0f32);
    let sum = b.var(start);

    // The number of tiles along k, rounded up; the same in every thread, so the barriers below are reached by all.
    let whole = b.shr(k, four);
    let rest = b.and(k, fifteen);
    let partial = b.ne(rest, zero);
    let partial = b.convert(partial, Type::U32);
    let tiles = b.add(whole, partial);
    b.for_range(zero, tiles, |b, tile| {
        let first = b.shl(tile, four);
        let left_column = b.add(first, x);
        let left_inside = b.lt(left_column, k);
        let left_inside = b.and(left_inside, row_inside);
        let left_index = b.mul_add(row, k, left_column);
        let element = load_or(b, left, left_index, left_inside, 0.0f32);
        b.store(left_tile, here, element);

        let right_row = b.add(first, y);
        let right_inside = b.lt(right_row, k);
        let right_inside = b.and(right_inside, column_inside);
        let right_index = b.mul_add(right_row, n, column);
        let element = load_or(b, right, right_index, right_inside, 0.0f32);
        b.store(right_tile, here, element);

        b.workgroup_barrier();
        let mut running = b.get(sum);
        for step in 0..16 {
            let from_left = b.load_offset(left_tile, tile_row, step);
            let from_right = b.load_offset(right_tile, x, 16 * step);
            running = b.fma(from_left, from_right, running);
        }
        b.set(sum, running);
        b.workgroup_barrier();
    });

    let inside = b.and(row_inside, column_inside);
    b.when(inside, |b| {
        let index = b.mul_add(row, n, column);
        let sum = b.get(sum);
        b.store(product, index, sum);
    });
}

/// `c = a * b` for n × n matrices with `n` a multiple of 16: the textbook form, without a bound check, with both loops
/// run by the device.
pub fn matmul16(b: &mut KernelBuilder) {
    b.reset("matmul16", [16, 16, 1]);
    let left = b.buffer("a", Type::F32, Access::Read);
    let right = b.buffer("b", Type::F32, Access::Read);
    let product = b.buffer("c", Type::F32, Access::Write);
    let n = b.scalar("n", Type::U32);
    let left_tile = b.shared("a_tile", Type::F32, 256);
    let right_tile = b.shared("b_tile", Type::F32, 256);

    let (column, row) = (b.global_id(0), b.global_id(1));
    let (x, y) = (b.local_id(0), b.local_id(1));
    let n = b.param(n);
    let (zero, four, sixteen) = (b.constant(0u32), b.constant(4u32), b.constant(16u32));
    let tile_row = b.shl(y, four);
    let here = b.add(tile_row, x);
    let row_start = b.mul(row, n);
    let left_start = b.add(row_start, x);
    let start = b.constant(0.0f32);
    let sum = b.var(start);

    let tiles = b.shr(n, four);
    b.for_range(zero, tiles, |b, tile| {
        let first = b.shl(tile, four);
        let left_index = b.add(left_start, first);
        let element = b.load(left, left_index);
        b.store(left_tile, here, element);
        let right_row = b.add(first, y);
        let right_index = b.mul_add(right_row, n, column);
        let element = b.load(right, right_index);
        b.store(right_tile, here, element);
        b.workgroup_barrier();
        b.for_range(zero, sixteen, |b, step| {
            let left_at = b.add(tile_row, step);
            let right_row = b.shl(step, four);
            let right_at = b.add(right_row, x);
            let (p, q) = (b.load(left_tile, left_at), b.load(right_tile, right_at));
            let running = b.get(sum);
            let running = b.fma(p, q, running);
            b.set(sum, running);
        });
        b.workgroup_barrier();
    });

    let index = b.add(row_start, column);
    let sum = b.get(sum);
    b.store(product, index, sum);
}

/// `output[x][y] = input[y][x]` for an input of `height` rows of `width` elements: a workgroup of 32 × 8 threads turns a
/// tile of 32 × 32. Rows of 33 in shared memory let both directions pass without bank conflicts.
pub fn transpose(b: &mut KernelBuilder) {
    const TILE: u32 = 32;
    const STRIDE: u32 = TILE + 1;
    const ROWS: u32 = 8;
    b.reset("transpose", [TILE, ROWS, 1]);
    let input = b.buffer("input", Type::F32, Access::Read);
    let output = b.buffer("output", Type::F32, Access::Write);
    let width = b.scalar("width", Type::U32);
    let height = b.scalar("height", Type::U32);
    let tile = b.shared("tile", Type::F32, TILE * STRIDE);

    let (width, height) = (b.param(width), b.param(height));
    let (x, y) = (b.local_id(0), b.local_id(1));
    let (size, stride) = (b.constant(TILE), b.constant(STRIDE));
    let (group_x, group_y) = (b.workgroup_id(0), b.workgroup_id(1));
    let (left, top) = (b.mul(group_x, size), b.mul(group_y, size));

    let column = b.add(left, x);
    let column_inside = b.lt(column, width);
    let place = b.mul_add(y, stride, x);
    let first_row = b.add(top, y);
    for step in (0..TILE).step_by(ROWS as usize) {
        let step_value = b.constant(step);
        let row = b.add(first_row, step_value);
        let inside = b.lt(row, height);
        let inside = b.and(inside, column_inside);
        b.when(inside, |b| {
            let index = b.mul_add(row, width, column);
            let element = b.load(input, index);
            b.store_offset(tile, place, step * STRIDE, element);
        });
    }
    b.workgroup_barrier();

    let column = b.add(top, x);
    let column_inside = b.lt(column, height);
    let place = b.mul_add(x, stride, y);
    let first_row = b.add(left, y);
    for step in (0..TILE).step_by(ROWS as usize) {
        let step_value = b.constant(step);
        let row = b.add(first_row, step_value);
        let inside = b.lt(row, width);
        let inside = b.and(inside, column_inside);
        b.when(inside, |b| {
            let element = b.load_offset(tile, place, step);
            let index = b.mul_add(row, height, column);
            b.store(output, index, element);
        });
    }
}
