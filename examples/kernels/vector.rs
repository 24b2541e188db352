//! One thread, one element.

use kernite::builder::KernelBuilder;
use kernite::types::{Access, Type};

/// `c[i] = a[i] + b[i]` for `i < n`.
pub fn vector_add(k: &mut KernelBuilder) {
    k.reset("vector_add", [256, 1, 1]);
    let a = k.buffer("a", Type::F32, Access::Read);
    let b = k.buffer("b", Type::F32, Access::Read);
    let c = k.buffer("c", Type::F32, Access::Write);
    let n = k.scalar("n", Type::U32);

    let (i, n) = (k.global_id(0), k.param(n));
    let inside = k.lt(i, n);
    k.when(inside, |k| {
        let (x, y) = (k.load(a, i), k.load(b, i));
        let sum = k.add(x, y);
        k.store(c, i, sum);
    });
}

/// `y[i] = a * x[i] + y[i]`, rounded once, for `i < n`.
pub fn saxpy(k: &mut KernelBuilder) {
    k.reset("saxpy", [256, 1, 1]);
    let x = k.buffer("x", Type::F32, Access::Read);
    let y = k.buffer("y", Type::F32, Access::ReadWrite);
    let a = k.scalar("a", Type::F32);
    let n = k.scalar("n", Type::U32);

    let (i, n) = (k.global_id(0), k.param(n));
    let inside = k.lt(i, n);
    k.when(inside, |k| {
        let (a, x, old) = (k.param(a), k.load(x, i), k.load(y, i));
        let new = k.fma(a, x, old);
        k.store(y, i, new);
    });
}

/// `n` operations on floats, each on the result of the one before, and no bound check: what a big generated kernel looks
/// like to an emitter.
pub fn straight_line(k: &mut KernelBuilder, n: u32) {
    k.reset("straight", [256, 1, 1]);
    let a = k.buffer("a", Type::F32, Access::Read);
    let b = k.buffer("b", Type::F32, Access::Read);
    let c = k.buffer("c", Type::F32, Access::Write);

    let i = k.global_id(0);
    let (x, y) = (k.load(a, i), k.load(b, i));
    let mut v = x;
    for step in 0..n {
        v = match step % 3 {
            0 => k.fma(v, x, y),
            1 => k.add(v, x),
            _ => k.mul(v, y),
        };
    }
    k.store(c, i, v);
}
