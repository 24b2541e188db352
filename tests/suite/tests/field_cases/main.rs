//! Public bug reports of this job, each with the right answer. Values are computed by the reference executor and by
//! every device at hand; texts and modules are read. Here the cases of PTX, in `spirv.rs` those of SPIR-V.

mod spirv_cases;

use kernite::builder::KernelBuilder;
use kernite::kernel::{Bounds, Kernel, Value as Id};
use kernite::types::{Access, Const, Type};
use kernite::{ptx, spirv, verify::FaultKind};
use kernite_suite::run::{Case, Value};
use kernite_testkit::vulkan::Context;
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Decoration, Op};

/// Runs `body` on one thread for each row of inputs and compares what it gives, bit for bit, on every executor. The
/// inputs come from buffers, so that nothing is known when the kernel is built.
fn values<const N: usize>(
    inputs: [Type; N],
    output: Type,
    body: impl Fn(&mut KernelBuilder, [Id; N]) -> Id,
    rows: &[([u64; N], u64)],
) {
    let mut b = KernelBuilder::new("case", [1, 1, 1]);
    let buffers = inputs.map(|ty| b.buffer("in", ty, Access::Read));
    let out = b.buffer("out", output, Access::Write);
    let i = b.workgroup_id(0);
    let loaded = buffers.map(|buffer| b.load(buffer, i));
    let made = body(&mut b, loaded);
    b.store(out, i, made);
    let bytes = |ty: Type, bits: u64| bits.to_le_bytes().into_iter().take(ty.bytes() as usize);
    let column = |n: usize| {
        rows.iter()
            .flat_map(|(row, _)| bytes(inputs[n], row[n]))
            .collect()
    };
    let mut args: Vec<Value> = (0..N).map(|n| Value::Bytes(column(n))).collect();
    args.push(Value::Bytes(vec![0; rows.len() * output.bytes() as usize]));
    let kernel = b.finish().unwrap();
    let case = Case {
        kernel,
        grid: [rows.len() as u32, 1, 1],
        args,
        dynamic_shared: 0,
        bounds: Bounds::Unchecked,
    };
    let mut expected = vec![Vec::new(); N];
    for (n, buffer) in expected.iter_mut().enumerate() {
        *buffer = column(n);
    }
    expected.push(
        rows.iter()
            .flat_map(|(_, bits)| bytes(output, *bits))
            .collect(),
    );
    let check = |got: Vec<Vec<u8>>, what: &str| {
        if let Some((_, difference)) = case.difference(&expected, &got) {
            panic!("{what}: {difference}\n{}", case.kernel);
        }
    };
    check(case.reference(32).unwrap(), "reference");
    if let Some(device) = Context::get() {
        check(
            case.vulkan(device, &case.options_for(device)).unwrap(),
            "Vulkan",
        );
    }
}

fn f(x: f32) -> u64 {
    u64::from(x.to_bits())
}

fn i(x: i32) -> u64 {
    u64::from(x.cast_unsigned())
}

const NAN: u64 = 0x7FC0_0000;

/// A kernel that stores what `body` makes.
fn kernel(ty: Type, body: impl FnOnce(&mut KernelBuilder) -> Id) -> Kernel {
    let mut b = KernelBuilder::new("case", [64, 1, 1]);
    let out = b.buffer("out", ty, Access::Write);
    let i = b.global_id(0);
    let made = body(&mut b);
    b.store(out, i, made);
    b.finish().unwrap()
}

fn ptx_of(kernel: &Kernel) -> String {
    ptx::emit(kernel, &ptx::Options::default()).unwrap()
}

fn module_of(kernel: &Kernel) -> rspirv::dr::Module {
    let words = spirv::emit(kernel, &spirv::Options::default()).unwrap();
    if let Some(val) = kernite_testkit::spirv_tools::SpirvVal::get() {
        val.validate(&words, kernite_testkit::spirv_tools::Env::Vulkan1_3)
            .unwrap();
    }
    kernite_testkit::rspirv::load(&words).unwrap()
}

fn ops(module: &rspirv::dr::Module) -> Vec<Op> {
    module.all_inst_iter().map(|i| i.class.opcode).collect()
}

fn capabilities(module: &rspirv::dr::Module) -> Vec<Capability> {
    let mut all: Vec<_> = module
        .capabilities
        .iter()
        .map(|i| i.operands[0].unwrap_capability())
        .collect();
    all.sort();
    all
}

#[test]
fn case_1_floats_are_printed_by_their_bits() {
    for (bits, text) in [
        (0x7FC0_0000, "0f7FC00000"),
        (0xFFC0_0000, "0fFFC00000"),
        (0x7F80_0000, "0f7F800000"),
        (0xFF80_0000, "0fFF800000"),
        (0x7F80_0001, "0f7F800001"),
        (0x8000_0000, "0f80000000"),
    ] {
        let k = kernel(Type::F32, |b| {
            b.constant(Const::new(Type::F32, bits).unwrap())
        });
        assert!(
            ptx_of(&k).to_uppercase().contains(&text.to_uppercase()),
            "{}",
            ptx_of(&k)
        );
        let module = module_of(&k);
        let words = module
            .types_global_values
            .iter()
            .filter(|i| i.class.opcode == Op::Constant);
        assert!(
            words
                .flat_map(|i| &i.operands)
                .any(|o| *o == Operand::LiteralBit32(bits as u32))
        );
    }
    let k = kernel(Type::F64, |b| {
        b.constant(f64::from_bits(0x7FF8_0000_0000_0000))
    });
    assert!(ptx_of(&k).to_uppercase().contains("0D7FF8000000000000"));
}

#[test]
fn case_4_zeros_keep_their_signs() {
    values(
        [Type::F32],
        Type::F32,
        |b, [x]| b.neg(x),
        &[([0], 0x8000_0000), ([0x8000_0000], 0)],
    );
    values(
        [Type::F32; 2],
        Type::F32,
        |b, [x, y]| b.sub(x, y),
        &[([0, 0], 0)],
    );
    values(
        [Type::F32; 2],
        Type::F32,
        |b, [x, y]| b.div(x, y),
        &[([f(1.0), 0x8000_0000], 0xFF80_0000)],
    );
}

#[test]
fn case_5_comparisons_know_nan() {
    let a = [f(1.0), NAN, NAN];
    let b = [f(1.0), f(1.0), NAN];
    let rows = |want: [u64; 3]| -> Vec<([u64; 2], u64)> {
        (0..3).map(|n| ([a[n], b[n]], want[n])).collect()
    };
    let compare = |op: kernite::op::Op, want: [u64; 3]| {
        let body = |b: &mut KernelBuilder, x: [Id; 2]| {
            let made = b.apply(op, &x);
            b.convert(made, Type::U32)
        };
        values([Type::F32; 2], Type::U32, body, &rows(want));
    };
    use kernite::op::Op as O;
    compare(O::Ne, [0, 1, 1]);
    compare(O::Eq, [1, 0, 0]);
    compare(O::Lt, [0, 0, 0]);
    compare(O::Le, [1, 0, 0]);
    compare(O::Gt, [0, 0, 0]);
    compare(O::Ge, [1, 0, 0]);
    let k = |ty: Type| {
        kernel(Type::U32, |b| {
            let i = b.global_id(0);
            let (x, y) = (b.convert(i, ty), b.constant(Const::new(ty, 1).unwrap()));
            let ne = b.ne(x, y);
            b.convert(ne, Type::U32)
        })
    };
    assert!(ptx_of(&k(Type::F32)).contains("setp.neu.f32"));
    assert!(ptx_of(&k(Type::U32)).contains("setp.ne."));
    assert!(ops(&module_of(&k(Type::F32))).contains(&Op::FUnordNotEqual));
}

#[test]
fn cases_7_and_34_minima_and_maxima() {
    let (z, mz) = (0, 0x8000_0000);
    let max = [
        ([f(1.0), f(2.0)], f(2.0)),
        ([NAN, f(2.0)], f(2.0)),
        ([f(1.0), NAN], f(1.0)),
        ([NAN, NAN], NAN),
        ([z, mz], z),
        ([mz, z], z),
    ];
    values([Type::F32; 2], Type::F32, |b, [x, y]| b.max(x, y), &max);
    let min = [
        ([NAN, f(2.0)], f(2.0)),
        ([f(1.0), NAN], f(1.0)),
        ([NAN, NAN], NAN),
        ([z, mz], mz),
        ([mz, z], mz),
    ];
    values([Type::F32; 2], Type::F32, |b, [x, y]| b.min(x, y), &min);
    let min_nan = [
        ([NAN, f(2.0)], NAN),
        ([f(1.0), NAN], NAN),
        ([z, mz], mz),
        ([f(3.0), f(2.0)], f(2.0)),
    ];
    values(
        [Type::F32; 2],
        Type::F32,
        |b, [x, y]| b.min_nan(x, y),
        &min_nan,
    );
    let wide = |x: f64| x.to_bits();
    let nan = f64::NAN.to_bits();
    let max_nan = [
        ([nan, wide(2.0)], nan),
        ([wide(-0.0), wide(0.0)], wide(0.0)),
        ([wide(1.0), wide(2.0)], wide(2.0)),
    ];
    values(
        [Type::F64; 2],
        Type::F64,
        |b, [x, y]| b.max_nan(x, y),
        &max_nan,
    );
    values(
        [Type::I32; 2],
        Type::I32,
        |b, [x, y]| b.min(x, y),
        &[([i(-1), i(1)], i(-1))],
    );
    let k = |target: &str| {
        let k = kernel(Type::F32, |b| {
            let i = b.global_id(0);
            let (x, y) = (b.convert(i, Type::F32), b.constant(2.0f32));
            b.min_nan(x, y)
        });
        ptx::emit(&k, &ptx::Options::new(ptx::Target::parse(target).unwrap())).unwrap()
    };
    assert!(k("sm_80").contains("min.NaN.f32"));
    assert!(!k("sm_75").contains(".NaN"));
}

#[test]
fn case_9_conversions_round_as_they_must() {
    let to = |ty: Type| move |b: &mut KernelBuilder, [x]: [Id; 1]| b.convert(x, ty);
    values(
        [Type::U32],
        Type::F32,
        to(Type::F32),
        &[([16_777_217], 0x4B80_0000)],
    );
    values(
        [Type::F32],
        Type::I32,
        to(Type::I32),
        &[
            ([f(-2.7)], i(-2)),
            ([f(2.7)], 2),
            ([NAN], 0),
            ([f(3e9)], i(i32::MAX)),
        ],
    );
    values(
        [Type::F32],
        Type::U32,
        to(Type::U32),
        &[([f(-1.0)], 0), ([f(5e9)], 0xFFFF_FFFF), ([NAN], 0)],
    );
    values(
        [Type::F32],
        Type::F32,
        |b, [x]| b.round_even(x),
        &[([f(2.5)], f(2.0)), ([f(3.5)], f(4.0)), ([f(-0.5)], f(-0.0))],
    );
    values(
        [Type::F32],
        Type::U64,
        to(Type::U64),
        &[
            ([NAN], 0),
            ([f(2e19)], u64::MAX),
            ([f(-1.0)], 0),
            ([f(1.8446743e19)], 0xFFFF_FF00_0000_0000),
        ],
    );
    let wide = |x: f64| x.to_bits();
    values(
        [Type::F64],
        Type::I64,
        to(Type::I64),
        &[
            ([f64::NAN.to_bits()], 0),
            ([wide(1e19)], i64::MAX as u64),
            ([wide(-1e19)], i64::MIN as u64),
        ],
    );
    values(
        [Type::F64],
        Type::I32,
        to(Type::I32),
        &[
            ([f64::NAN.to_bits()], 0),
            ([wide(-2147483649.5)], i(i32::MIN)),
        ],
    );
    values(
        [Type::F64],
        Type::F32,
        to(Type::F32),
        &[
            ([wide(1.0 + 1e-9)], f(1.0)),
            ([wide(1e300)], f(f32::INFINITY)),
        ],
    );
    let text = |from: Type, to: Type| {
        let k = kernel(to, |b| {
            let i = b.global_id(0);
            let x = b.convert(i, from);
            b.convert(x, to)
        });
        ptx_of(&k)
    };
    assert!(text(Type::U32, Type::F32).contains("cvt.rn.f32.u32"));
    assert!(text(Type::F32, Type::F64).contains("cvt.f64.f32"));
    assert!(text(Type::F64, Type::F32).contains("cvt.rn.f32.f64"));
    assert!(text(Type::F32, Type::I32).contains("cvt.rzi.s32.f32"));
}

#[test]
fn case_11_division_is_exact_where_it_must_be() {
    let rows: Vec<([u64; 1], u64)> = (1..=1024).map(|t| ([f(t as f32)], 1)).collect();
    let body = |b: &mut KernelBuilder, [x]: [Id; 1]| {
        let one = b.div(x, x);
        b.convert(one, Type::U32)
    };
    values([Type::F32], Type::U32, body, &rows);
    let k = kernel(Type::F32, |b| {
        let i = b.global_id(0);
        let x = b.convert(i, Type::F32);
        b.div(x, x)
    });
    assert!(ptx_of(&k).contains("div.rn.f32"));
    assert!(!ptx_of(&k).contains("approx") && !ptx_of(&k).contains("full"));
}

#[test]
fn case_13_integer_division_has_no_holes() {
    let min = i(i32::MIN);
    values(
        [Type::I32; 2],
        Type::I32,
        |b, [x, y]| b.div(x, y),
        &[([7, 0], 7), ([min, i(-1)], min), ([i(-7), 2], i(-3))],
    );
    values(
        [Type::I32; 2],
        Type::I32,
        |b, [x, y]| b.rem(x, y),
        &[([7, 0], 0), ([min, i(-1)], 0), ([i(-7), 2], i(-1))],
    );
    values(
        [Type::U32; 2],
        Type::U32,
        |b, [x, y]| b.div(x, y),
        &[([7, 0], 7), ([7, 2], 3)],
    );
    values(
        [Type::U32; 2],
        Type::U32,
        |b, [x, y]| b.rem(x, y),
        &[([7, 0], 0), ([7, 2], 1)],
    );
    let wide = i64::MIN as u64;
    values(
        [Type::I64; 2],
        Type::I64,
        |b, [x, y]| b.div(x, y),
        &[([7, 0], 7), ([wide, u64::MAX], wide)],
    );
    values(
        [Type::I64; 2],
        Type::I64,
        |b, [x, y]| b.rem(x, y),
        &[([7, 0], 0), ([wide, u64::MAX], 0)],
    );
    let inf = 0x7F80_0000;
    let rows = [
        ([f(1.0), 0], inf),
        ([f(-1.0), 0], inf | 1 << 31),
        ([0, 0], NAN),
    ];
    values([Type::F32; 2], Type::F32, |b, [x, y]| b.div(x, y), &rows);
}

#[test]
fn case_14_nothing_is_contracted_and_fma_rounds_once() {
    let (a, c) = (0x3F80_0800, 0xBF80_1000);
    let two_steps = |b: &mut KernelBuilder, [x, y, z]: [Id; 3]| {
        let product = b.mul(x, y);
        b.add(product, z)
    };
    values([Type::F32; 3], Type::F32, two_steps, &[([a, a, c], 0)]);
    values(
        [Type::F32; 3],
        Type::F32,
        |b, [x, y, z]| b.mul_add(x, y, z),
        &[([a, a, c], 0)],
    );
    values(
        [Type::F32; 3],
        Type::F32,
        |b, [x, y, z]| b.fma(x, y, z),
        &[([a, a, c], 0x3380_0000)],
    );
    let k = kernel(Type::F32, |b| {
        let i = b.global_id(0);
        let x = b.convert(i, Type::F32);
        let product = b.mul(x, x);
        b.add(product, x)
    });
    assert!(ptx_of(&k).contains("mul.rn.f32") && ptx_of(&k).contains("add.rn.f32"));
    let module = module_of(&k);
    let decorated = module.annotations.iter().filter(|a| {
        a.operands
            .contains(&Operand::Decoration(Decoration::NoContraction))
    });
    assert_eq!(decorated.count(), 2);
}

#[test]
fn case_15_nothing_flushes_unless_asked() {
    let k = kernel(Type::F32, |b| {
        let i = b.global_id(0);
        let x = b.bitcast(i, Type::F32);
        b.add(x, x)
    });
    assert!(!ptx_of(&k).contains(".ftz"));
    let mut b = KernelBuilder::new("case", [1, 1, 1]);
    let out = b.buffer("out", Type::F32, Access::Write);
    let (zero, least) = (b.constant(0u32), b.constant(f32::from_bits(1)));
    let sum = b.add(least, least);
    b.store(out, zero, sum);
    let (small, two) = (b.constant(f32::from_bits(0x000A_E398)), b.constant(2.0f32));
    let product = b.mul(small, two);
    b.store_offset(out, zero, 1, product);
    let case = Case {
        kernel: b.finish().unwrap(),
        grid: [1, 1, 1],
        args: vec![Value::of(&[0u32; 2])],
        dynamic_shared: 0,
        bounds: Bounds::Unchecked,
    };
    assert_eq!(
        case.reference(32).unwrap()[0],
        [2u32, 0x0015_C730].map(u32::to_le_bytes).concat()
    );
}

#[test]
fn case_18_every_name_is_mapped() {
    let names = [
        "a.b", "a-b", "1a", "_", "é", "WARP_SZ", "t,0", "add", "%k", "$x", "k$1", "a_b", "a b",
    ];
    let mut mapped: Vec<String> = names
        .iter()
        .map(|n| ptx::entry_name(n).into_owned())
        .collect();
    let module_names = mapped.clone();
    mapped.sort();
    mapped.dedup();
    assert_eq!(
        mapped.len(),
        names.len(),
        "the mapping is injective: {mapped:?}"
    );
    let mut module = kernite::Module::new();
    for name in names {
        let mut b = KernelBuilder::new(name, [1, 1, 1]);
        let k = b.finish().unwrap();
        module.push(k).unwrap();
    }
    let long = "x".repeat(1100);
    module
        .push(KernelBuilder::new(&long, [1, 1, 1]).finish().unwrap())
        .unwrap();
    let mut text = Vec::new();
    ptx::Emitter::new()
        .emit_module(&module, &ptx::Options::default(), &mut text)
        .unwrap();
    let text = String::from_utf8(text).unwrap();
    for name in module_names {
        assert!(text.contains(&format!(".entry {name}(")), "{name}");
    }
    if let Some(ptxas) = kernite_testkit::ptxas::Ptxas::get() {
        ptxas.assemble(&text, "sm_80").unwrap();
    }
}

#[test]
fn case_20_bools_travel_as_bytes() {
    let mut b = KernelBuilder::new("case", [1, 1, 1]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let flag = b.scalar("flag", Type::BOOL);
    let (zero, flag) = (b.constant(0u32), b.param(flag));
    let v = b.convert(flag, Type::U32);
    b.store(out, zero, v);
    let k = b.finish().unwrap();
    let text = ptx_of(&k);
    assert!(
        text.contains(".param .u8") && !text.contains(".param .pred"),
        "{text}"
    );
}

#[test]
fn case_22_barriers_under_divergence_are_refused() {
    let guarded = |uniform: bool| {
        let mut b = KernelBuilder::new("case", [64, 1, 1]);
        let v = if uniform {
            b.workgroup_id(0)
        } else {
            b.local_id(0)
        };
        let one = b.constant(1u32);
        let first = b.lt(v, one);
        b.when(first, KernelBuilder::workgroup_barrier);
        b.finish()
    };
    let error = guarded(false).unwrap_err();
    assert!(matches!(
        error.faults()[0].kind,
        FaultKind::DivergentBarrier(_)
    ));
    let text = ptx_of(&guarded(true).unwrap());
    assert_eq!(
        text.matches("bar.sync").count(),
        1,
        "a barrier is never cloned"
    );
}

#[test]
fn case_22_targets_and_versions_belong_together() {
    let k = kernel(Type::U32, |b| b.constant(1u32));
    let version = |target: &str| {
        let text = ptx::emit(&k, &ptx::Options::new(ptx::Target::parse(target).unwrap())).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(version("sm_75"), ".version 8.0");
    assert_eq!(version("sm_90a"), ".version 8.0");
    assert_eq!(version("sm_100"), ".version 8.6");
    for unknown in ["sm_71", "SM_70", "sm_", "sm_999", "90", ""] {
        assert!(ptx::Target::parse(unknown).is_err(), "{unknown}");
    }
    let capped = ptx::Options::new(ptx::Target::parse("sm_100").unwrap())
        .with_max_version(ptx::Version::V8_0);
    let error = ptx::emit(&k, &capped).unwrap_err().to_string();
    assert!(error.contains("8.6") && error.contains("8.0"), "{error}");
}
