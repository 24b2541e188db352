//! Kernels by hand, with signatures from the builder.

use kernite::builder::{BufferOptions, KernelBuilder};
use kernite::kernel::{Kernel, Signature};
use kernite::types::{Access, Type};

/// `y = a * x + y` where `i < length(y)`, as the builder has it.
pub fn saxpy() -> Kernel {
    let mut b = KernelBuilder::new("saxpy", [128, 1, 1]);
    let a = b.scalar("a", Type::F32);
    let x = b.buffer("x", Type::F32, Access::Read);
    let y = b.buffer("y", Type::F32, Access::ReadWrite);
    let i = b.global_id(0);
    let n = b.array_length(y);
    let inside = b.lt(i, n);
    b.when(inside, |b| {
        let (a, x, old) = (b.param(a), b.load(x, i), b.load(y, i));
        let sum = b.mul_add(a, x, old);
        b.store(y, i, sum);
    });
    b.finish().expect("saxpy is valid")
}

/// The same by hand, with the length of `y` as hidden parameter.
pub const SAXPY: &str = "\
.version 8.0
.target sm_75
.address_size 64
.visible .entry saxpy(
    .param .f32 a,
    .param .u64 x,
    .param .u64 y,
    .param .u64 y_len
)
.reqntid 128, 1, 1
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %d<6>;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r0, %r1, %r2;
    cvt.u64.u32 %d0, %r3;
    ld.param.u64 %d1, [y_len];
    setp.ge.u64 %p, %d0, %d1;
    @%p bra done;
    ld.param.u64 %d2, [x];
    ld.param.u64 %d3, [y];
    mad.wide.u32 %d4, %r3, 4, %d2;
    mad.wide.u32 %d5, %r3, 4, %d3;
    ld.param.f32 %f0, [a];
    ld.global.f32 %f1, [%d4];
    ld.global.f32 %f2, [%d5];
    mul.rn.f32 %f3, %f0, %f1;
    add.rn.f32 %f3, %f3, %f2;
    st.global.f32 [%d5], %f3;
done:
    ret;
}
";

/// A kernel that does nothing with `buffers` writable buffers of f32.
pub fn many_buffers(buffers: usize, access: Access) -> (Signature, String) {
    let mut b = KernelBuilder::new("many", [32, 1, 1]);
    for n in 0..buffers {
        b.buffer(&format!("b{n}"), Type::F32, access);
    }
    let kernel = b.finish().expect("a kernel without a body is valid");
    let list: Vec<_> = (0..buffers).map(|n| format!(".param .u64 b{n}")).collect();
    (
        kernel.signature(),
        empty_entry("many", &list.join(", "), [32, 1, 1]),
    )
}

/// Two buffers that may alias, the second writable, and nothing done with them.
pub fn aliasing() -> (Signature, String) {
    let mut b = KernelBuilder::new("alias", [32, 1, 1]);
    let options = BufferOptions::new().may_alias();
    b.buffer_with("x", Type::F32, Access::Read, options);
    b.buffer_with("y", Type::F32, Access::ReadWrite, options);
    let kernel = b.finish().expect("a kernel without a body is valid");
    (
        kernel.signature(),
        empty_entry("alias", ".param .u64 x, .param .u64 y", [32, 1, 1]),
    )
}

/// A text with one entry that returns at once.
pub fn empty_entry(name: &str, params: &str, block: [u32; 3]) -> String {
    let [x, y, z] = block;
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry {name}({params})\n.reqntid {x}, {y}, {z}\n{{\n    ret;\n}}\n"
    )
}

/// Stores each thread's number of its block at the end of `bytes` of dynamic shared memory, and the sum of what all
/// threads of the block stored to `out`.
pub fn dynamic_shared() -> Kernel {
    let mut b = KernelBuilder::new("dynamic_shared", [32, 1, 1]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let last = b.scalar("last", Type::U32);
    let tile = b.shared_dynamic("tile", Type::U32);
    let (lane, last) = (b.local_id(0), b.param(last));
    let place = b.sub(last, lane);
    b.store(tile, place, lane);
    b.workgroup_barrier();
    let zero = b.constant(0u32);
    let sum = b.var(zero);
    let end = b.constant(32u32);
    b.for_range(zero, end, |b, n| {
        let place = b.sub(last, n);
        let (old, x) = (b.get(sum), b.load(tile, place));
        let new = b.add(old, x);
        b.set(sum, new);
    });
    let first = b.eq(lane, zero);
    b.when(first, |b| {
        let (group, sum) = (b.workgroup_id(0), b.get(sum));
        b.store(out, group, sum);
    });
    b.finish().expect("the kernel is valid")
}

/// Adds 1 to each element `rounds` times.
pub fn count_up() -> Kernel {
    let mut b = KernelBuilder::new("count_up", [256, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let rounds = b.scalar("rounds", Type::U32);
    let (i, n, rounds) = (b.global_id(0), b.array_length(data), b.param(rounds));
    let inside = b.lt(i, n);
    b.when(inside, |b| {
        let zero = b.constant(0u32);
        b.for_range(zero, rounds, |b, _| {
            let one = b.constant(1u32);
            let old = b.load(data, i);
            let new = b.add(old, one);
            b.store(data, i, new);
        });
    });
    b.finish().expect("the kernel is valid")
}

/// Stores beyond its buffer: element `at`, whatever the length.
pub fn wild_store() -> Kernel {
    let mut b = KernelBuilder::new("wild_store", [1, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::Write);
    let at = b.scalar("at", Type::U64);
    let (at, one) = (b.param(at), b.constant(1u32));
    b.store(data, at, one);
    b.finish().expect("the kernel is valid")
}

/// A kernel without parameters that keeps `live` numbers alive, so that it takes at least as many registers. Nothing is
/// stored unless the clock stands still.
pub fn many_registers(name: &str, live: usize, directive: &str) -> String {
    use std::fmt::Write as _;
    let mut text = format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry {name}()\n{directive}\n{{\n.reg .b32 %r<{}>;\n.reg .pred %p;\n.reg .b64 %d;\n",
        live + 2
    );
    for n in 0..live {
        let _ = writeln!(text, "mov.u32 %r{n}, %clock;");
    }
    text.push_str("bar.sync 0;\n");
    // Each number is used after all are made, in an order that cannot be shortened.
    let _ = writeln!(text, "mov.u32 %r{live}, 0;");
    for n in (0..live).rev() {
        let _ = writeln!(text, "mad.lo.u32 %r{live}, %r{live}, %r{n}, {};", 2 * n + 1);
    }
    let _ = writeln!(
        text,
        "setp.eq.u32 %p, %r{live}, 305419896;\nmov.u64 %d, 0;\n@%p st.global.u32 [%d], %r{live};\nret;\n}}"
    );
    text
}

/// A kernel without parameters that stores 4 bytes at an address that is no multiple of 4.
pub fn misaligned() -> String {
    empty_entry("misaligned", "", [1; 3]).replace(
        "ret;",
        ".shared .align 16 .b8 s[64];
    .reg .b32 %r<2>;
    mov.u32 %r0, s;
    mov.u32 %r1, %tid.x;
    add.u32 %r0, %r0, %r1;
    st.volatile.shared.u32 [%r0 + 2], %r1;
    ret;",
    )
}

/// A kernel without parameters whose threads all store to the same word of shared memory, and load it.
pub fn racy() -> String {
    empty_entry("racy", "", [64, 1, 1]).replace(
        "ret;",
        ".shared .align 16 .b8 s[16];
    .reg .b32 %r<2>;
    mov.u32 %r0, %tid.x;
    st.volatile.shared.u32 [s], %r0;
    ld.volatile.shared.u32 %r1, [s];
    st.volatile.shared.u32 [s + 4], %r1;
    ret;",
    )
}
