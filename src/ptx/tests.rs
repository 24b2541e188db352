use super::*;
use crate::builder::{BufferOptions, KernelBuilder};
use crate::kernel::{Inst, Module, Ordering, Value};
use crate::types::{Access, Const, Order, Scope, Type};

pub(super) fn target(name: &str) -> Target {
    Target::parse(name).unwrap()
}

pub(super) fn text_for(b: &mut KernelBuilder, name: &str) -> String {
    emit(&b.finish().unwrap(), &Options::new(target(name))).unwrap()
}

pub(super) fn text(b: &mut KernelBuilder) -> String {
    text_for(b, "sm_80")
}

/// A builder, its thread's index and an output buffer.
pub(super) fn begin(ty: Type) -> (KernelBuilder, Value, crate::kernel::Buffer) {
    let mut b = KernelBuilder::new("k", [64, 1, 1]);
    let out = b.buffer("out", ty, Access::ReadWrite);
    let i = b.global_id(0);
    (b, i, out)
}

/// The lines of the body behind the thread's index, without the end.
pub(super) fn body(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let from = lines
        .iter()
        .position(|l| l.starts_with("mad.lo.u32"))
        .unwrap();
    lines[from + 1..lines.len() - 2].to_vec()
}

#[test]
fn vector_add() {
    let mut b = KernelBuilder::new("vector_add", [256, 1, 1]);
    let x = b.buffer("a", Type::F32, Access::Read);
    let y = b.buffer("b", Type::F32, Access::Read);
    let z = b.buffer("c", Type::F32, Access::Write);
    let n = b.scalar("n", Type::U32);
    let n = b.param(n);
    let i = b.global_id(0);
    let inside = b.lt(i, n);
    b.when(inside, |b| {
        let (x, y) = (b.load(x, i), b.load_offset(y, i, 3));
        let sum = b.add(x, y);
        b.store(z, i, sum);
    });
    assert_eq!(
        text(&mut b),
        "\
.version 8.0
.target sm_80
.address_size 64

.visible .entry vector_add(
\t.param .u64 $p0,
\t.param .u64 $p1,
\t.param .u64 $p2,
\t.param .u32 $p3
)
.reqntid 256, 1, 1
{
\t.reg .pred %p<2>;
\t.reg .b32 %r<5>;
\t.reg .b64 %rd<7>;
\t.reg .f32 %f<4>;
\tld.param.u64 %rd1, [$p0];
\tcvta.to.global.u64 %rd1, %rd1;
\tld.param.u64 %rd2, [$p1];
\tcvta.to.global.u64 %rd2, %rd2;
\tld.param.u64 %rd3, [$p2];
\tcvta.to.global.u64 %rd3, %rd3;
\tld.param.u32 %r1, [$p3];
\tmov.u32 %r2, %ctaid.x;
\tmov.u32 %r3, %tid.x;
\tmad.lo.u32 %r4, %r2, 256, %r3;
\tsetp.lt.u32 %p1, %r4, %r1;
\t@!%p1 bra $L1;
\tmad.wide.u32 %rd4, %r4, 4, %rd1;
\tld.global.nc.f32 %f1, [%rd4];
\tmad.wide.u32 %rd5, %r4, 4, %rd2;
\tld.global.nc.f32 %f2, [%rd5+12];
\tadd.rn.f32 %f3, %f1, %f2;
\tmad.wide.u32 %rd6, %r4, 4, %rd3;
\tst.global.f32 [%rd6], %f3;
$L1:
\tret;
}
"
    );
}

#[test]
fn float_constants_are_bit_patterns() {
    let (mut b, i, out) = begin(Type::F32);
    for bits in [
        0x7FC0_0000,
        0xFFC0_0000,
        0x7F80_0000,
        0xFF80_0000,
        0x7F80_0001,
        0x8000_0000,
    ] {
        let c = b.constant(Const::new(Type::F32, bits).unwrap());
        b.store(out, i, c);
    }
    let got = text(&mut b);
    for form in [
        "0f7FC00000",
        "0fFFC00000",
        "0f7F800000",
        "0fFF800000",
        "0f7F800001",
        "0f80000000",
    ] {
        assert!(
            got.contains(&format!("st.global.f32 [%rd2], {form};")),
            "{got}"
        );
    }
    let lower = got.to_lowercase();
    assert!(!lower.contains("nan") && !lower.contains("inf"), "{got}");
    let (mut b, i, out) = begin(Type::F64);
    let c = b.constant(f64::NAN);
    b.store(out, i, c);
    assert!(text(&mut b).contains(", 0d7FF8000000000000;"));
}

#[test]
fn floats_are_contracted_only_on_request() {
    let build = |contract: bool| {
        let (mut b, i, out) = begin(Type::F32);
        if contract {
            b.allow_contraction();
        }
        let x = b.load(out, i);
        let y = b.mul(x, x);
        let z = b.sub(y, x);
        let z = b.mul_add(z, x, y);
        let z = b.fma(z, x, y);
        let z = b.div(z, x);
        b.store(out, i, z);
        text(&mut b)
    };
    let strict = build(false);
    for form in [
        "mul.rn.f32",
        "sub.rn.f32",
        "add.rn.f32",
        "fma.rn.f32",
        "div.rn.f32",
    ] {
        assert!(strict.contains(form), "{strict}");
    }
    assert!(!strict.contains("mul.f32") && !strict.contains("add.f32"));
    let loose = build(true);
    for form in ["mul.f32", "sub.f32", "add.f32", "fma.rn.f32", "div.rn.f32"] {
        assert!(loose.contains(form), "{loose}");
    }
}

#[test]
fn divisors_are_guarded_where_they_can_trip() {
    let build = |ty: Type, by: Option<u64>| {
        let (mut b, i, out) = begin(ty);
        let x = b.load(out, i);
        let y = match by {
            Some(bits) => b.constant(Const::new(ty, bits).unwrap()),
            None => b.load_offset(out, i, 1),
        };
        let q = b.div(x, y);
        let r = b.rem(x, y);
        b.store(out, i, q);
        b.store_offset(out, i, 1, r);
        text(&mut b)
    };
    let got = build(Type::U32, None);
    assert_eq!(
        body(&got)[3..7],
        [
            "setp.eq.u32 %p1, %r5, 0;",
            "selp.b32 %r6, 1, %r5, %p1;",
            "div.u32 %r7, %r4, %r6;",
            "setp.eq.u32 %p2, %r5, 0;",
        ]
    );
    let got = build(Type::I64, None);
    assert_eq!(
        body(&got)[3..9],
        [
            "setp.eq.s64 %p1, %rd4, 0;",
            "setp.eq.s64 %p2, %rd4, -1;",
            "setp.eq.and.s64 %p3, %rd3, 0x8000000000000000, %p2;",
            "or.pred %p4, %p1, %p3;",
            "selp.b64 %rd5, 1, %rd4, %p4;",
            "div.s64 %rd6, %rd3, %rd5;",
        ]
    );
    let got = build(Type::I32, Some(7));
    assert!(got.contains("div.s32 %r5, %r4, 7;") && !got.contains("setp"));
    let got = build(Type::U32, Some(0xFFFF_FFFF));
    assert!(got.contains("div.u32 %r5, %r4, 4294967295;") && !got.contains("setp"));
    let got = build(Type::I32, Some(0xFFFF_FFFF));
    assert!(got.contains("neg.s32 %r5, %r4;") && got.contains("+4], 0;") && !got.contains("div"));
    let got = build(Type::U32, Some(0));
    assert!(got.contains("st.global.u32 [%rd2], %r4;") && got.contains("+4], 0;"));
}

#[test]
fn shifts_take_their_amount_modulo_the_width() {
    let (mut b, i, out) = begin(Type::I32);
    let x = b.load(out, i);
    let n = b.global_id(1);
    let c = b.constant(33u32);
    for v in [
        b.shl(x, c),
        b.shr(x, c),
        b.rotate_left(x, c),
        b.shl(x, n),
        b.shr(x, n),
    ] {
        b.store(out, i, v);
    }
    let got = text(&mut b);
    for form in [
        "shl.b32 %r6, %r4, 1;",
        "shr.s32 %r7, %r4, 1;",
        "shf.l.wrap.b32 %r8, %r4, %r4, 1;",
        "shf.l.wrap.b32 %r9, 0, %r4, %r5;",
        "and.b32 %r10, %r5, 31;",
        "shr.s32 %r11, %r4, %r10;",
    ] {
        assert!(got.contains(form), "{form}\n{got}");
    }
}

#[test]
fn conversions_carry_the_right_modifiers_and_close_the_holes() {
    let one = |from: Type, to: Type| {
        let (mut b, i, out) = begin(to);
        let x = b.buffer("x", from, Access::Read);
        let v = b.load(x, i);
        let v = b.convert(v, to);
        b.store(out, i, v);
        text(&mut b)
    };
    for (from, to, form) in [
        (Type::U32, Type::F32, "cvt.rn.f32.u32"),
        (Type::I64, Type::F64, "cvt.rn.f64.s64"),
        (Type::I32, Type::U64, "cvt.s64.s32"),
        (Type::U32, Type::I64, "cvt.u64.u32"),
        (Type::U64, Type::I32, "cvt.u32.u64"),
        (Type::F64, Type::F32, "cvt.rn.f32.f64"),
        (Type::F32, Type::F64, "cvt.f64.f32"),
        (Type::F32, Type::I32, "cvt.rzi.s32.f32"),
    ] {
        let got = one(from, to);
        assert!(got.contains(form) && !got.contains("selp"), "{got}");
    }
    for (from, to, form) in [
        (Type::F32, Type::U64, "cvt.rzi.u64.f32 %rd4, %f1;"),
        (Type::F64, Type::I32, "cvt.rzi.s32.f64 %r4, %fd1;"),
        (Type::F64, Type::I64, "cvt.rzi.s64.f64 %rd4, %fd1;"),
    ] {
        let got = one(from, to);
        assert!(
            got.contains("setp.nan.") && got.contains(form) && got.contains("selp.b"),
            "{got}"
        );
    }
}

#[test]
fn nan_makes_ne_true_and_min_nan_follows_the_target() {
    let build = |ty: Type, name: &str| {
        let (mut b, i, out) = begin(ty);
        let x = b.load(out, i);
        let y = b.load_offset(out, i, 1);
        let m = b.min_nan(x, y);
        let p = b.ne(x, y);
        let m = b.select(p, m, y);
        b.store(out, i, m);
        text_for(&mut b, name)
    };
    let got = build(Type::F32, "sm_75");
    assert!(
        !got.contains("min.NaN") && got.contains("setp.nan.f32") && got.contains("setp.neu.f32")
    );
    assert!(got.contains("selp.f32 %f4, 0f7FFFFFFF, %f3, %p1;"), "{got}");
    assert!(build(Type::F32, "sm_80").contains("min.NaN.f32"));
    let got = build(Type::F64, "sm_90");
    assert!(!got.contains("min.NaN") && got.contains("min.f64") && got.contains("setp.neu.f64"));
}

#[test]
fn addresses_fold_what_is_known_and_never_wrap() {
    let (mut b, i, out) = begin(Type::F64);
    let v = b.load_offset(out, i, 5);
    b.store_offset(out, i, 0x1000_0000, v);
    let c = b.constant(10u32);
    b.store_offset(out, c, 1, v);
    let far = b.constant(u64::MAX);
    b.store_offset(out, far, 2, v);
    let wide = b.convert(i, Type::U64);
    b.store_offset(out, wide, 0xFFFF_FFFF, v);
    assert_eq!(
        body(&text(&mut b)),
        [
            "mad.wide.u32 %rd2, %r3, 8, %rd1;",
            "ld.global.f64 %fd1, [%rd2+40];",
            "add.s64 %rd3, %rd2, 2147483648;",
            "st.global.f64 [%rd3], %fd1;",
            "st.global.f64 [%rd1+88], %fd1;",
            "st.global.f64 [%rd1+8], %fd1;",
            "cvt.u64.u32 %rd4, %r3;",
            "shl.b64 %rd5, %rd4, 3;",
            "add.s64 %rd6, %rd1, %rd5;",
            "add.s64 %rd7, %rd6, 34359738360;",
            "st.global.f64 [%rd7], %fd1;",
        ]
    );
}

#[test]
fn an_address_is_reused_where_it_dominates() {
    let (mut b, i, out) = begin(Type::U32);
    let n = b.global_id(1);
    let p = b.lt(i, n);
    b.if_else(p, |b| b.store(out, i, n), |b| b.store(out, i, i));
    b.store(out, i, n);
    b.when(p, |b| b.store(out, i, i));
    b.store(out, i, i);
    // One in each branch, and one behind that the last three share.
    assert_eq!(text(&mut b).matches("mad.wide.u32").count(), 3);
}

#[test]
fn only_read_only_buffers_go_through_the_read_only_path() {
    let mut b = KernelBuilder::new("k", [64, 1, 1]);
    let plain = b.buffer("a", Type::F32, Access::Read);
    let alias = b.buffer_with(
        "b",
        Type::F32,
        Access::Read,
        BufferOptions::new().may_alias(),
    );
    let both = b.buffer("c", Type::F32, Access::ReadWrite);
    let i = b.global_id(0);
    let mut sum = b.load(plain, i);
    for flags in [Inst::VOLATILE, Inst::COHERENT] {
        let x = b.load_with(plain, i, 0, flags);
        sum = b.add(sum, x);
    }
    for m in [alias, both] {
        let x = b.load(m, i);
        sum = b.add(sum, x);
    }
    b.store_with(both, i, 0, sum, Inst::COHERENT);
    let got = text(&mut b);
    assert_eq!(got.matches("ld.global.nc.f32").count(), 1);
    assert_eq!(got.matches("ld.global.f32").count(), 2);
    for form in [
        "ld.volatile.global.f32",
        "ld.relaxed.gpu.global.f32",
        "st.relaxed.gpu.global.f32",
    ] {
        assert_eq!(got.matches(form).count(), 1, "{got}");
    }
}

#[test]
fn atomics_carry_order_and_scope() {
    let (mut b, i, out) = begin(Type::I64);
    let x = b.load(out, i);
    let ordering = Ordering {
        order: Order::AcqRel,
        scope: Scope::Workgroup,
    };
    let old = b.atomic_sub_with(out, i, 2, x, ordering);
    b.atomic_compare_exchange(out, i, old, x);
    b.atomic_min(out, i, x);
    b.memory_fence(Scope::Device);
    b.workgroup_barrier();
    let got = text(&mut b);
    for form in [
        "neg.s64 %rd4, %rd3;",
        "atom.acq_rel.cta.global.add.u64 %rd5, [%rd2+16], %rd4;",
        "atom.relaxed.gpu.global.cas.b64 %rd6, [%rd2], %rd5, %rd3;",
        "red.relaxed.gpu.global.min.s64 [%rd2], %rd3;",
        "fence.acq_rel.gpu;",
        "bar.sync 0;",
    ] {
        assert!(got.contains(form), "{form}\n{got}");
    }
}

#[test]
fn loops_have_one_label_a_place() {
    let (mut b, i, out) = begin(Type::U32);
    let n = b.load(out, i);
    b.for_range(i, n, |b, j| {
        let p = b.eq(j, n);
        b.when(p, |b| b.continue_());
        b.store(out, j, j);
    });
    assert_eq!(
        body(&text(&mut b)),
        [
            "mad.wide.u32 %rd2, %r3, 4, %rd1;",
            "ld.global.u32 %r4, [%rd2];",
            "mov.b32 %r5, %r3;",
            "$L1:",
            "mov.b32 %r6, %r5;",
            "setp.ge.u32 %p1, %r6, %r4;",
            "@%p1 bra $L2;",
            "setp.eq.u32 %p2, %r6, %r4;",
            "@%p2 bra $L3;",
            "mad.wide.u32 %rd3, %r6, 4, %rd1;",
            "st.global.u32 [%rd3], %r6;",
            "$L3:",
            "mov.b32 %r7, %r5;",
            "add.u32 %r8, %r7, 1;",
            "mov.b32 %r5, %r8;",
            "bra $L1;",
            "$L2:",
        ]
    );
}

#[test]
fn shared_memory_is_static_up_to_48_kib_and_one_block_beyond() {
    let build = |len: u32, zeroed: bool| {
        let mut b = KernelBuilder::new("k", [32, 2, 1]);
        let first = if zeroed {
            b.shared_zeroed("a", Type::U32, 3)
        } else {
            b.shared("a", Type::U32, 3)
        };
        let second = b.shared("b", Type::U32, len);
        let dynamic = b.shared_dynamic("c", Type::U32);
        let i = b.local_index();
        let x = b.load(first, i);
        b.store_offset(second, i, 1, x);
        let zero = b.constant(0u32);
        b.store(dynamic, zero, x);
        b.store(second, zero, x);
        text(&mut b)
    };
    let got = build(12284, false);
    assert!(got.contains(".shared .align 16 .b8 $s1[49136];"), "{got}");
    assert!(got.contains("st.shared.u32 [$dyn], %r") && got.contains("st.shared.u32 [$s1], %r"));
    let got = build(12285, false);
    assert!(!got.contains(".shared .align 16 .b8 $s"), "{got}");
    assert!(got.contains("mov.u32 %r2, $dyn+16;") && got.contains("mov.u32 %r3, $dyn+49168;"));
    assert!(got.contains("st.shared.u32 [$dyn+49168], %r") && got.contains("[$dyn+16], %r"));
    assert_eq!(
        got.matches(".extern .shared .align 16 .b8 $dyn[];").count(),
        1
    );
    let got = build(100, true);
    assert_eq!(got.matches("bar.sync").count(), 1);
    assert!(got.contains("add.u32 %r8, %r8, 256;"), "{got}");
}

#[test]
fn bools_travel_as_bytes_and_lengths_as_hidden_parameters() {
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    let unused = b.buffer("unused", Type::F32, Access::Read);
    let out = b.buffer("out", Type::U64, Access::Write);
    let flag = b.scalar("flag", Type::BOOL);
    let flag = b.param(flag);
    let n = b.array_length_u64(unused);
    let zero = b.constant(0u32);
    let v = b.select(flag, n, n);
    b.store(out, zero, v);
    let got = text(&mut b);
    for form in [
        ".param .u8 $p2,\n\t.param .u64 $n0\n)",
        "ld.param.u8 %r1, [$p2];\n\tsetp.ne.u32 %p1, %r1, 0;",
        "ld.param.u64 %rd2, [$n0];",
        "st.global.u64 [%rd1], %rd3;",
    ] {
        assert!(got.contains(form), "{form}\n{got}");
    }
    assert_eq!(
        got.matches("cvta").count(),
        1,
        "the unused buffer needs no address"
    );
}

#[test]
fn versions_rise_only_as_needed_and_never_above_the_cap() {
    let kernel = KernelBuilder::new("k", [1, 1, 1]).finish().unwrap();
    let version = |name: &str| {
        let got = emit(&kernel, &Options::new(target(name))).unwrap();
        got.lines().next().unwrap().to_owned()
    };
    assert_eq!(version("sm_75"), ".version 8.0");
    assert_eq!(version("sm_90a"), ".version 8.0");
    assert_eq!(version("sm_100"), ".version 8.6");
    assert_eq!(version("sm_121f"), ".version 8.8");
    let capped = |name: &str, most: Version| {
        emit(&kernel, &Options::new(target(name)).with_max_version(most))
    };
    assert!(capped("sm_100", Version::new(8, 6)).is_ok());
    assert_eq!(
        capped("sm_100", Version::new(8, 5)),
        Err(Error::Version {
            what: VersionNeed::Target(target("sm_100")),
            needed: Version::new(8, 6),
            allowed: Version::new(8, 5),
        })
    );
    assert!(capped("sm_75", Version::new(7, 8)).is_err());
}

#[test]
fn limits_are_errors_and_leave_the_output_alone() {
    let mut out = b"kept".to_vec();
    let mut emitter = Emitter::new();
    let mut check = |b: &mut KernelBuilder, limits: Limits, fragment: &str| {
        let kernel = b.finish().unwrap();
        let options = Options::default().with_limits(limits);
        let error = emitter.emit(&kernel, &options, &mut out).unwrap_err();
        assert!(error.to_string().contains(fragment), "{error}");
        assert_eq!(out, b"kept");
    };
    let unbounded = Limits {
        workgroup_size: [u32::MAX; 3],
        workgroup_threads: u32::MAX,
        shared_bytes: u32::MAX,
        ptx_param_bytes: u32::MAX,
        ..Limits::CUDA
    };
    let mut b = KernelBuilder::new("k", [2048, 1, 1]);
    check(&mut b, unbounded, "2048 needed, 1024 available");
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    b.shared("s", Type::U32, 58_113);
    check(&mut b, Limits::CUDA, "232452 needed, 232448 available");
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    b.private("p", Type::F64, 65_537);
    check(&mut b, unbounded, "524296 bytes of private arrays");
    let params = |count: u32| {
        let mut b = KernelBuilder::new("k", [1, 1, 1]);
        for _ in 0..count {
            b.scalar("", Type::U64);
        }
        b
    };
    check(
        &mut params(545),
        Limits::CUDA,
        "4360 needed, 4352 available",
    );
    check(
        &mut params(4096),
        unbounded,
        "32768 needed, 32764 available",
    );
    let kernel = params(545).finish().unwrap();
    let options = Options::default().with_limits(unbounded);
    assert!(
        emit(&kernel, &options)
            .unwrap()
            .starts_with(".version 8.1\n")
    );
    assert!(emit(&kernel, &options.with_max_version(Version::V8_0)).is_err());
    assert!(
        emit(&params(544).finish().unwrap(), &options)
            .unwrap()
            .starts_with(".version 8.0\n")
    );
}

#[test]
fn a_module_has_one_head_and_a_warm_emitter_writes_the_same() {
    let kernel = |name: &str| {
        let mut b = KernelBuilder::new(name, [1, 1, 1]);
        let d = b.shared_dynamic("d", Type::F32);
        let zero = b.constant(0u32);
        let x = b.load(d, zero);
        b.store(d, zero, x);
        b.finish().unwrap()
    };
    let mut module = Module::new();
    module.push(kernel("a.b")).unwrap();
    module.push(kernel("c")).unwrap();
    let mut emitter = Emitter::new();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    emitter
        .emit_module(&module, &Options::default(), &mut first)
        .unwrap();
    emitter
        .emit_module(&module, &Options::default(), &mut second)
        .unwrap();
    assert_eq!(first, second);
    let got = String::from_utf8(first).unwrap();
    assert_eq!(got.matches(".version").count(), 1);
    assert_eq!(got.matches("$dyn[]").count(), 1);
    assert!(got.contains(".visible .entry a$2Eb(\n)") && got.contains(".visible .entry c("));
    let mut out = Vec::new();
    emitter
        .emit_module(&Module::new(), &Options::default(), &mut out)
        .unwrap();
    assert_eq!(out, b".version 8.0\n.target sm_75\n.address_size 64\n");
}
