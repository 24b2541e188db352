//! Small types, vectors, tables, subgroups, checks and functions: the text by example.

use super::tests::{begin, body, target, text, text_for};
use super::*;
use crate::builder::{KernelBuilder, Scan};
use crate::kernel::{Bounds, Value};
use crate::types::{Access, Const, Type};

/// The lines that an operation on one loaded value takes, without the store.
fn lines(ty: Type, name: &str, f: impl Fn(&mut KernelBuilder, Value) -> Value) -> Vec<String> {
    let (mut b, i, out) = begin(ty);
    let x = b.load(out, i);
    let y = f(&mut b, x);
    let result = b.buffer("result", b.type_of(y), Access::Write);
    b.store(result, i, y);
    let text = text_for(&mut b, name);
    let lines = body(&text);
    lines[2..lines.len() - 2]
        .iter()
        .map(|l| l.to_string())
        .collect()
}

#[test]
fn narrow_integers_are_brought_back_into_their_type() {
    let add = |ty| lines(ty, "sm_80", |b, x| b.add(x, x));
    assert_eq!(
        add(Type::I8),
        ["add.s32 %r5, %r4, %r4;", "cvt.s32.s8 %r6, %r5;"]
    );
    assert_eq!(
        add(Type::U16),
        ["add.u32 %r5, %r4, %r4;", "and.b32 %r6, %r5, 65535;"]
    );
    assert_eq!(
        lines(Type::U8, "sm_80", |b, x| b.add_sat(x, x)),
        ["add.u32 %r5, %r4, %r4;", "min.u32 %r6, %r5, 255;"]
    );
    // What cannot leave the type needs nothing.
    assert_eq!(
        lines(Type::I16, "sm_80", |b, x| b.max(x, x)),
        ["max.s32 %r5, %r4, %r4;"]
    );
    assert_eq!(
        lines(Type::I8, "sm_80", |b, x| b.mul_hi(x, x)),
        ["mul.lo.s32 %r5, %r4, %r4;", "shr.s32 %r6, %r5, 8;"]
    );
    assert_eq!(
        lines(Type::U8, "sm_80", |b, x| b.ctz(x)),
        [
            "or.b32 %r5, %r4, 256;",
            "brev.b32 %r6, %r5;",
            "clz.b32 %r7, %r6;"
        ]
    );
    assert_eq!(
        lines(Type::I8, "sm_80", |b, x| {
            let least = b.constant(i8::MIN);
            b.min(x, least)
        }),
        ["min.s32 %r5, %r4, -128;"]
    );
    assert_eq!(
        lines(Type::F64, "sm_80", |b, x| b.convert(x, Type::I8)),
        [
            "setp.nan.f64 %p1, %fd1, %fd1;",
            "cvt.rzi.s32.f64 %r4, %fd1;",
            "selp.b32 %r5, 0, %r4, %p1;",
            "min.s32 %r6, %r5, 127;",
            "max.s32 %r7, %r6, -128;",
        ]
    );
}

#[test]
fn sixteen_bit_constants_are_bit_patterns() {
    let (mut b, i, out) = begin(Type::F16);
    for bits in [0x3C00, 0x8000, 0x7C00, 0x7E00, 0x7C01] {
        let c = b.constant(Const::new(Type::F16, bits).unwrap());
        b.store(out, i, c);
    }
    let got = text(&mut b);
    for form in ["0x3C00", "0x8000", "0x7C00", "0x7E00", "0x7C01"] {
        assert!(got.contains(&format!(", {form};")), "{got}");
    }
    assert!(got.contains("mov.b16 %h1, 0x3C00;") && got.contains("st.global.b16 [%rd2], %h1;"));
}

#[test]
fn halves_use_what_the_target_has() {
    let mul = |ty, name| lines(ty, name, |b, x| b.mul(x, x));
    assert_eq!(mul(Type::F16, "sm_75"), ["mul.rn.f16 %h2, %h1, %h1;"]);
    assert_eq!(mul(Type::BF16, "sm_90"), ["mul.rn.bf16 %h2, %h1, %h1;"]);
    assert_eq!(
        mul(Type::BF16, "sm_80"),
        ["mov.b16 %h2, 0x8000;", "fma.rn.bf16 %h3, %h1, %h1, %h2;"]
    );
    // Rounded by integers: a NaN must not carry into the sign.
    assert_eq!(
        mul(Type::BF16, "sm_75"),
        [
            "mov.b32 %f1, {0, %h1};",
            "mov.b32 %f2, {0, %h1};",
            "mul.rn.f32 %f3, %f1, %f2;",
            "setp.nan.f32 %p1, %f3, %f3;",
            "mov.b32 %r4, %f3;",
            "bfe.u32 %r5, %r4, 16, 1;",
            "add.u32 %r6, %r4, %r5;",
            "add.u32 %r7, %r6, 32767;",
            "selp.b32 %r8, 2147483647, %r7, %p1;",
            "mov.b32 {_, %h2}, %r8;",
        ]
    );
    assert_eq!(
        lines(Type::F16, "sm_75", |b, x| b.div(x, x)),
        [
            "cvt.f32.f16 %f1, %h1;",
            "cvt.f32.f16 %f2, %h1;",
            "div.rn.f32 %f3, %f1, %f2;",
            "cvt.rn.f16.f32 %h2, %f3;",
        ]
    );
    let min = |name| lines(Type::F16, name, |b, x| b.min(x, x));
    assert_eq!(min("sm_80"), ["min.f16 %h2, %h1, %h1;"]);
    assert!(min("sm_75").contains(&"min.f32 %f3, %f1, %f2;".to_string()));
}

#[test]
fn what_would_round_twice_is_rounded_to_odd_first() {
    assert_eq!(
        lines(Type::F64, "sm_80", |b, x| b.convert(x, Type::BF16)),
        [
            "cvt.rm.f32.f64 %f1, %fd1;",
            "cvt.rp.f32.f64 %f2, %fd1;",
            "cvt.rz.f32.f64 %f3, %fd1;",
            "setp.neu.f32 %p1, %f1, %f2;",
            "@%p1 or.b32 %f3, %f3, 1;",
            "cvt.rn.bf16.f32 %h1, %f3;",
        ]
    );
    let fma = lines(Type::BF16, "sm_75", |b, x| b.fma(x, x, x));
    for rounding in ["rz", "rm", "rp"] {
        assert!(
            fma.iter()
                .any(|l| l.starts_with(&format!("fma.{rounding}.f32")))
        );
    }
}

#[test]
fn vectors_are_registers_side_by_side() {
    let elements = |ty: &str| {
        let ty = Type::parse(ty).unwrap();
        let (mut b, i, out) = begin(ty);
        let v = b.load_offset(out, i, 1);
        let (x, y) = (b.extract(v, 1), b.extract(v, 0));
        let w = if ty.lanes() == 2 {
            b.construct(&[x, y])
        } else {
            b.construct(&[x, y, y, x])
        };
        b.store(out, i, w);
        let text = text(&mut b);
        let lines = body(&text);
        lines[1..].join("\n")
    };
    assert_eq!(
        elements("f32x4"),
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2+16];\nst.global.v4.f32 [%rd2], {%f2, %f1, %f1, %f2};"
    );
    assert_eq!(
        elements("i8x4"),
        "ld.global.v4.s8 {%r4, %r5, %r6, %r7}, [%rd2+4];\nst.global.v4.s8 [%rd2], {%r5, %r4, %r4, %r5};"
    );
    assert_eq!(
        elements("f16x2"),
        "ld.global.v2.b16 {%h1, %h2}, [%rd2+4];\nst.global.v2.b16 [%rd2], {%h2, %h1};"
    );
    assert_eq!(
        elements("u64x4"),
        "ld.global.v2.u64 {%rd2, %rd3}, [%rd6+32];\nld.global.v2.u64 {%rd4, %rd5}, [%rd6+48];\n\
         st.global.v2.u64 [%rd6], {%rd3, %rd2};\nst.global.v2.u64 [%rd6+16], {%rd2, %rd3};"
    );
}

#[test]
fn checked_accesses_stand_under_predicates() {
    let build = |f: &dyn Fn(&mut KernelBuilder, Value, crate::kernel::Buffer)| {
        let (mut b, i, out) = begin(Type::F32);
        f(&mut b, i, out);
        let options = Options::new(target("sm_80")).with_bounds(Bounds::Checked);
        let kernel = b.finish().unwrap();
        let text = emit(&kernel, &options).unwrap();
        assert!(text.contains("\t.param .u64 $p0,\n\t.param .u64 $n0\n)"));
        body(&text).join("\n")
    };
    assert_eq!(
        build(&|b, i, out| {
            let x = b.load(out, i);
            b.store(out, i, x);
        }),
        "cvt.u64.u32 %rd3, %r3;\nsetp.lt.u64 %p1, %rd3, %rd2;\nmad.wide.u32 %rd4, %r3, 4, %rd1;\n\
         mov.b32 %f1, 0f00000000;\n@%p1\tld.global.f32 %f1, [%rd4];\n@%p1\tst.global.f32 [%rd4], %f1;"
    );
    // The offset is part of the check and wraps nowhere.
    let far = build(&|b, i, out| {
        let i = b.convert(i, Type::U64);
        b.load_offset(out, i, u32::MAX);
    });
    for form in [
        "max.u64 %rd4, %rd2, 4294967295;",
        "sub.s64 %rd5, %rd4, 4294967295;",
        "setp.lt.u64 %p1, %rd3, %rd5;",
    ] {
        assert!(far.contains(form), "{far}");
    }
    // What lies inside for sure is not checked: 64 threads, 64 elements.
    let inside = build(&|b, _, out| {
        let s = b.shared("s", Type::F32, 64);
        let n = b.local_index();
        let x = b.load(s, n);
        b.store(s, n, x);
        b.array_length(out);
    });
    assert!(
        !inside.contains('@') && inside.contains("ld.shared.f32"),
        "{inside}"
    );
    // One more is not inside for the last thread.
    let outside = build(&|b, _, out| {
        let s = b.shared("s", Type::F32, 64);
        let n = b.local_index();
        let x = b.load_offset(s, n, 1);
        b.store_offset(s, n, 1, x);
        b.array_length(out);
    });
    assert_eq!(outside.matches(", 63;").count(), 1, "{outside}");
    assert!(outside.contains("@%p1\tst.shared.f32"), "{outside}");
}

#[test]
fn the_last_subgroup_has_its_own_mask() {
    let build = |threads: u32, name: &str| {
        let mut b = KernelBuilder::new("k", [threads, 1, 1]);
        let out = b.buffer("out", Type::U32, Access::ReadWrite);
        let i = b.global_id(0);
        let x = b.load(out, i);
        let one = b.constant(1u32);
        let y = b.shuffle_xor(x, one);
        let sum = b.subgroup_add(y, Scan::Reduce);
        b.store(out, i, sum);
        b.subgroup_barrier();
        text_for(&mut b, name)
    };
    let full = build(64, "sm_80");
    assert!(full.contains("shfl.sync.bfly.b32 %r5, %r4, 1, 31, 4294967295;"));
    assert!(full.contains("redux.sync.add.u32 %r6, %r5, 4294967295;"));
    assert!(full.contains("bar.warp.sync 4294967295;") && !full.contains("activemask"));
    let single = build(20, "sm_80");
    assert!(
        single.contains("shfl.sync.bfly.b32 %r5, %r4, 1, 19, 1048575;"),
        "{single}"
    );
    let last = build(48, "sm_75");
    for form in [
        "setp.ge.u32 %p1, %r1, 32;",
        "selp.b32 %r2, 65535, 4294967295, %p1;",
        "selp.b32 %r3, 15, 31, %p1;",
        "shfl.sync.down.b32 %r9|%p2, %r8, 1, %r3, %r2;",
    ] {
        assert!(last.contains(form), "{form}\n{last}");
    }
}

#[test]
fn a_required_subgroup_size_must_be_a_warp() {
    let (mut b, _, _) = begin(Type::U32);
    b.require_subgroup_size(16);
    let error = emit(&b.finish().unwrap(), &Options::default());
    assert!(matches!(
        error,
        Err(Error::SubgroupSize { required: 16, .. })
    ));
    let (mut b, _, _) = begin(Type::U32);
    b.require_subgroup_size(32);
    assert!(emit(&b.finish().unwrap(), &Options::default()).is_ok());
}

#[test]
fn tables_have_names_of_their_own_and_spill_into_global_memory() {
    let kernel = |name: &str| {
        let mut b = KernelBuilder::new(name, [64, 1, 1]);
        let out = b.buffer("out", Type::I16, Access::Write);
        let small = b.table("small", Type::I16, &[-1i16, 2]);
        let large = b.table("large", Type::I16, &[3i16; 20_000]);
        let i = b.local_index();
        let one = b.constant(1u32);
        let (x, y) = (b.load(small, one), b.load(large, i));
        let sum = b.add(x, y);
        b.store(out, i, sum);
        b.finish().unwrap()
    };
    let mut module = crate::kernel::Module::new();
    module.push(kernel("a")).unwrap();
    module.push(kernel("b")).unwrap();
    let mut out = Vec::new();
    Emitter::new()
        .emit_module(&module, &Options::default(), &mut out)
        .unwrap();
    let text = String::from_utf8(out).unwrap();
    for form in [
        ".const .align 2 .b16 $t0[2] = {65535, 2};",
        ".const .align 2 .b16 $t1[20000] = {3, 3",
        ".const .align 2 .b16 $t2[2] = ",
        ".global .align 2 .b16 $t3[20000] = ",
        "ld.const.s16 %r2, [$t0+2];",
        "ld.global.nc.s16 ",
    ] {
        assert!(text.contains(form), "{form}");
    }
}

#[test]
fn approximations_are_only_where_asked_for() {
    let fast = lines(Type::F32, "sm_75", |b, x| b.exp_fast(x));
    assert_eq!(
        fast,
        [
            "mul.rn.f32 %f2, %f1, 0f3FB8AA3B;",
            "ex2.approx.f32 %f3, %f2;"
        ]
    );
    for ty in [Type::F32, Type::F64, Type::F16] {
        let precise = lines(ty, "sm_75", |b, x| b.exp(x));
        assert!(!precise.iter().any(|l| l.contains("approx")));
    }
    let wide = lines(Type::F64, "sm_75", |b, x| b.sin_fast(x));
    assert!(!wide.iter().any(|l| l.contains("approx")));
    let (mut b, i, out) = begin(Type::F32);
    let x = b.load(out, i);
    let (x, y) = (b.sin(x), b.cos(x));
    let z = b.add(x, y);
    b.store(out, i, z);
    let text = text(&mut b);
    let tables = text.matches("\n.global .align 4 .b32 $m0[").count();
    assert_eq!(tables, 1, "one table for both, before the entry");
    assert!(text.find("$m0[") < text.find(".entry"));
}

#[test]
fn an_f32_minimum_is_exchanged_until_nobody_came_between() {
    let (mut b, i, out) = begin(Type::F32);
    let x = b.load(out, i);
    b.atomic_min(out, i, x);
    assert_eq!(
        body(&text(&mut b))[2..],
        [
            "ld.relaxed.gpu.global.b32 %f2, [%rd2];",
            "$L2:",
            "min.f32 %f3, %f2, %f1;",
            "mov.b32 %f4, %f2;",
            "atom.relaxed.gpu.global.cas.b32 %f2, [%rd2], %f4, %f3;",
            "setp.ne.b32 %p1, %f2, %f4;",
            "@%p1 bra $L2;",
            "$L1:",
        ]
    );
}
