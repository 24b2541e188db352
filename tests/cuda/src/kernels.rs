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
