//! What surrounds the code: capabilities, types, decorations, interfaces.

use super::*;
use crate::builder::BufferOptions;
use crate::kernel::{Inst, Module, Ordering};
use crate::spirv::emit::{
    Emitter, Error, FloatAtomics, FloatMode, Fma, Lengths, MemoryModel, Overflow, Version,
    ZeroShared, emit_module,
};
use crate::types::{Const, Order, Scope};
use spirv::{Decoration, ExecutionMode};

#[test]
fn the_empty_kernel_word_for_word() {
    let kernel = KernelBuilder::new("k", [4, 2, 1]).finish().unwrap();
    let words = emit(&kernel, &Options::default()).unwrap();
    #[rustfmt::skip]
    let expected = [
        0x0723_0203, 0x0001_0600, 0, 5, 0,
        2 << 16 | 17, 1,
        3 << 16 | 14, 0, 1,
        4 << 16 | 15, 5, 1, 0x6B,
        6 << 16 | 16, 1, 17, 4, 2, 1,
        2 << 16 | 19, 3,
        3 << 16 | 33, 4, 3,
        5 << 16 | 54, 3, 1, 0, 4,
        2 << 16 | 248, 2,
        1 << 16 | 253,
        1 << 16 | 56,
    ];
    assert_eq!(words, expected);
}

#[test]
fn versions_are_written() {
    let kernel = KernelBuilder::new("k", [1, 1, 1]).finish().unwrap();
    for (version, word) in [
        (Version::V1_3, 0x0001_0300),
        (Version::V1_4, 0x0001_0400),
        (Version::V1_5, 0x0001_0500),
        (Version::V1_6, 0x0001_0600),
    ] {
        assert_eq!(
            decode(&kernel, &with(|o| o.version = version)).words[1],
            word
        );
    }
}

#[test]
fn capabilities_are_those_needed_and_no_others() {
    use Capability as C;
    let plain = binary(Type::U32, |b, [x, y]| b.add(x, y));
    let wide = binary(Type::U64, |b, [x, y]| b.add(x, y));
    let f32s = binary(Type::F32, |b, [x, y]| b.add(x, y));
    let f64s = binary(Type::F64, |b, [x, y]| b.add(x, y));
    let fused = binary(Type::F32, |b, [x, y]| b.fma(x, y, x));
    let fused64 = binary(Type::F64, |b, [x, y]| b.fma(x, y, x));
    let lane = binary(Type::U32, |b, _| b.lane());
    let bits = binary(Type::U32, |b, [x, _]| b.clz(x));
    let atomic = |ty| {
        let mut b = KernelBuilder::new("atomic", [64, 1, 1]);
        let data = b.buffer("data", ty, Access::ReadWrite);
        let i = b.global_id(0);
        let x = b.load(data, i);
        b.atomic_add(data, i, x);
        b.finish().unwrap()
    };
    let strict = [C::SignedZeroInfNanPreserve, C::RoundingModeRTE];
    let set = |list: &[C]| list.iter().map(|&c| c as u32).collect::<BTreeSet<u32>>();
    let default = Options::default();
    let relaxed = with(|o| o.float_mode = FloatMode::Relaxed);
    let vulkan = with(|o| o.memory_model = MemoryModel::Vulkan);
    let exact = with(|o| o.fma = Fma::Exact);
    let preserve = with(|o| o.denorm_preserve = 64);
    let looped = with(|o| o.float_atomics = FloatAtomics::CompareExchange);
    let cases: [(&Kernel, &Options, Vec<C>); 17] = [
        (&plain, &default, vec![C::Shader]),
        (&bits, &default, vec![C::Shader]),
        (&wide, &default, vec![C::Shader, C::Int64]),
        (&f32s, &default, [&[C::Shader][..], &strict].concat()),
        (&f32s, &relaxed, vec![C::Shader]),
        (&f32s, &preserve, [&[C::Shader][..], &strict].concat()),
        (
            &f64s,
            &default,
            [&[C::Shader, C::Float64][..], &strict].concat(),
        ),
        (&f64s, &relaxed, vec![C::Shader, C::Float64]),
        (
            &f64s,
            &preserve,
            [&[C::Shader, C::Float64, C::DenormPreserve][..], &strict].concat(),
        ),
        (&fused, &default, [&[C::Shader][..], &strict].concat()),
        (
            &fused,
            &exact,
            [&[C::Shader, C::Float64][..], &strict].concat(),
        ),
        (
            &fused64,
            &exact,
            [&[C::Shader, C::Float64, C::Int64][..], &strict].concat(),
        ),
        (&lane, &default, vec![C::Shader, C::GroupNonUniform]),
        (
            &atomic(Type::I64),
            &default,
            vec![C::Shader, C::Int64, C::Int64Atomics],
        ),
        (
            &atomic(Type::F32),
            &default,
            [&[C::Shader, C::AtomicFloat32AddEXT][..], &strict].concat(),
        ),
        (
            &atomic(Type::F32),
            &looped,
            [&[C::Shader][..], &strict].concat(),
        ),
        (
            &atomic(Type::U32),
            &vulkan,
            vec![
                C::Shader,
                C::VulkanMemoryModel,
                C::VulkanMemoryModelDeviceScope,
            ],
        ),
    ];
    for (i, (kernel, options, expected)) in cases.iter().enumerate() {
        let found = decode(kernel, options);
        assert_eq!(found.capabilities(), set(expected), "case {i}");
        let float_atomic = expected.contains(&C::AtomicFloat32AddEXT);
        let extensions: &[&str] = if float_atomic {
            &["SPV_EXT_shader_atomic_float_add"]
        } else {
            &[]
        };
        assert_eq!(found.extensions(), extensions, "case {i}");
        // Imported only where it is used.
        assert_eq!(
            found.count(Op::ExtInstImport) > 0,
            found.count(Op::ExtInst) > 0,
            "case {i}"
        );
    }
}

#[test]
fn older_versions_name_extensions() {
    let f32s = binary(Type::F32, |b, [x, y]| b.add(x, y));
    for (version, float, vulkan) in [
        (Version::V1_3, true, true),
        (Version::V1_4, false, true),
        (Version::V1_5, false, false),
    ] {
        let found = decode(
            &f32s,
            &with(|o| {
                o.version = version;
                o.memory_model = MemoryModel::Vulkan;
            }),
        );
        let has = |name: &str| found.extensions().iter().any(|e| e == name);
        assert_eq!(has("SPV_KHR_float_controls"), float);
        assert_eq!(has("SPV_KHR_vulkan_memory_model"), vulkan);
        assert_eq!(found.all(Op::MemoryModel), [[0, 3]]);
    }
}

#[test]
fn float_modes_once_a_width() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let (x, y) = (
        b.buffer("x", Type::F32, Access::Read),
        b.buffer("y", Type::F64, Access::Write),
    );
    let zero = b.constant(0u32);
    let value = b.load(x, zero);
    let sum = b.add(value, value);
    let wide = b.convert(sum, Type::F64);
    b.store(y, zero, wide);
    let found = decode(&b.finish().unwrap(), &with(|o| o.denorm_preserve = 32));
    let modes: Vec<_> = found
        .all(Op::ExecutionMode)
        .iter()
        .map(|m| (m[1], m.get(2).copied()))
        .collect();
    let (rte, keep) = (
        ExecutionMode::RoundingModeRTE as u32,
        ExecutionMode::SignedZeroInfNanPreserve as u32,
    );
    let expected = [
        (ExecutionMode::LocalSize as u32, Some(1)),
        (rte, Some(32)),
        (keep, Some(32)),
        (ExecutionMode::DenormPreserve as u32, Some(32)),
        (rte, Some(64)),
        (keep, Some(64)),
    ];
    assert_eq!(modes, expected);
}

fn everything(name: &str) -> Kernel {
    let mut b = KernelBuilder::new(name, [8, 8, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let other = b.buffer("other", Type::U32, Access::Read);
    b.buffer("unused", Type::F64, Access::Read);
    let n = b.scalar("n", Type::U32);
    let shared = b.shared("shared", Type::U32, 16);
    let (i, j) = (b.global_id(0), b.global_id(1));
    let (n, m) = (b.param(n), b.load(other, j));
    b.store(shared, i, n);
    let x = b.load(shared, j);
    let sum = b.add(x, m);
    b.store(data, i, sum);
    b.finish().unwrap()
}

#[test]
fn interfaces_by_version_without_duplicates() {
    for (version, expected) in [(Version::V1_3, 1), (Version::V1_4, 5), (Version::V1_6, 5)] {
        let found = decode(&everything("everything"), &with(|o| o.version = version));
        let entry = found.all(Op::EntryPoint)[0];
        let interface = &entry[2 + "everything".len() / 4 + 1..];
        assert_eq!(interface.len(), expected, "{version:?}");
        assert_eq!(interface.iter().collect::<BTreeSet<_>>().len(), expected);
        let variables: BTreeSet<u32> = found.all(Op::Variable).iter().map(|v| v[1]).collect();
        assert!(interface.iter().all(|id| variables.contains(id)));
        if version >= Version::V1_4 {
            assert_eq!(variables.len(), expected, "every global variable is named");
        }
    }
}

#[test]
fn a_buffer_type_is_decorated_once() {
    let found = decode(&everything("k"), &Options::default());
    let decorations = |d: Decoration| {
        let all = found.all(Op::Decorate);
        all.iter()
            .filter(|i| i[1] == d as u32)
            .map(|i| i[0])
            .collect::<Vec<_>>()
    };
    assert_eq!(decorations(Decoration::ArrayStride).len(), 1);
    // The buffers' block and that of the scalars.
    assert_eq!(decorations(Decoration::Block).len(), 2);
    assert_eq!(decorations(Decoration::Binding).len(), 2);
    assert_eq!(decorations(Decoration::NonWritable).len(), 1);
    assert_eq!(decorations(Decoration::NonReadable).len(), 0);
    assert_eq!(decorations(Decoration::Aliased).len(), 0);
    // One offset for each of the two structures' members.
    assert_eq!(found.count(Op::MemberDecorate), 2);
    // No layout on the shared array.
    assert_eq!(found.count(Op::TypeArray), 1);
    for op in [Op::TypeInt, Op::TypeVector, Op::TypeFunction, Op::TypeVoid] {
        let types: Vec<_> = found.all(op).iter().map(|t| t[1..].to_vec()).collect();
        assert_eq!(
            types.iter().collect::<BTreeSet<_>>().len(),
            types.len(),
            "{op:?}"
        );
    }
    // The unused f64 buffer leaves no trace.
    assert_eq!(found.capabilities(), capabilities([Capability::Shader]));
}

#[test]
fn access_is_told_by_decorations_and_operands() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let read = b.buffer("read", Type::U32, Access::Read);
    let aliased = BufferOptions::new().may_alias().binding(2, 5);
    let write = b.buffer_with("write", Type::U32, Access::Write, aliased);
    let i = b.global_id(0);
    let x = b.load_with(read, i, 0, Inst::VOLATILE);
    let y = b.load_with(read, i, 0, Inst::COHERENT);
    let sum = b.add(x, y);
    b.store_with(write, i, 0, sum, Inst::COHERENT);
    let kernel = b.finish().unwrap();
    let glsl = decode(&kernel, &with(|o| o.descriptor_set_base = 1));
    let has = |m: &Decoded, d: Decoration| {
        m.all(Op::Decorate)
            .iter()
            .filter(|i| i[1] == d as u32)
            .count()
    };
    assert_eq!(has(&glsl, Decoration::Coherent), 2);
    assert_eq!(has(&glsl, Decoration::Aliased), 1);
    assert_eq!(has(&glsl, Decoration::NonReadable), 1);
    assert_eq!(has(&glsl, Decoration::NonWritable), 1);
    let sets = glsl.all(Op::Decorate);
    let sets: Vec<u32> = sets
        .iter()
        .filter(|i| i[1] == Decoration::DescriptorSet as u32)
        .map(|i| i[2])
        .collect();
    assert_eq!(sets, [1, 3]);
    let operands: Vec<Vec<u32>> = glsl.all(Op::Load).iter().map(|l| l[3..].to_vec()).collect();
    assert_eq!(
        operands,
        [vec![], vec![1], vec![]],
        "the id, volatile, coherent"
    );

    let vulkan = decode(&kernel, &with(|o| o.memory_model = MemoryModel::Vulkan));
    assert_eq!(has(&vulkan, Decoration::Coherent), 0);
    let loads = vulkan.all(Op::Load);
    assert_eq!(loads[1][3..], [0x20 | 1], "NonPrivatePointer, Volatile");
    assert_eq!(
        loads[2][3],
        0x20 | 0x10,
        "NonPrivatePointer, MakePointerVisible"
    );
    assert_eq!(vulkan.constant(loads[2][4]), 1, "device scope");
    assert_eq!(
        vulkan.all(Op::Store)[0][2],
        0x20 | 8,
        "NonPrivatePointer, MakePointerAvailable"
    );
}

#[test]
fn constants_keep_their_bits_and_stay_apart() {
    let patterns = [
        0u32,
        0x8000_0000,
        0x7FC0_0000,
        0x7F80_0001,
        0xFFC0_1234,
        1,
        0x7F80_0000,
    ];
    let kernel = binary(Type::F32, |b, [mut x, _]| {
        for bits in patterns.into_iter().chain(patterns) {
            let c = Const::new(Type::F32, u64::from(bits)).unwrap();
            let c = b.constant(c);
            x = b.add(x, c);
        }
        x
    });
    let found = decode(&kernel, &Options::default());
    let float = found.all(Op::TypeFloat)[0][0];
    let all = found.all(Op::Constant);
    let bits: Vec<u32> = all.iter().filter(|c| c[0] == float).map(|c| c[2]).collect();
    assert_eq!(bits, patterns);
}

#[test]
fn several_kernels_share_types_and_keep_their_interfaces() {
    let mut module = Module::new();
    for name in ["first", "second"] {
        module.push(everything(name)).unwrap();
    }
    let found = Decoded::new(emit_module(&module, &Options::default()).unwrap());
    assert_eq!(found.count(Op::EntryPoint), 2);
    assert_eq!(found.count(Op::TypeInt), 1);
    assert_eq!(found.count(Op::TypeRuntimeArray), 1);
    assert_eq!(found.count(Op::Function), 2);
    let push = spirv::StorageClass::PushConstant as u32;
    let all = found.all(Op::Variable);
    let pushes: Vec<u32> = all.iter().filter(|v| v[2] == push).map(|v| v[1]).collect();
    assert_eq!(pushes.len(), 2);
    for (entry, push) in found.all(Op::EntryPoint).iter().zip(&pushes) {
        assert!(entry.contains(push));
        let others = pushes.iter().filter(|p| *p != push);
        assert!(others.into_iter().all(|other| !entry[2..].contains(other)));
    }
    assert_eq!(
        emit_module(&Module::new(), &Options::default()),
        Err(Error::Empty)
    );
}

#[test]
fn an_emitter_repeats_itself() {
    let options = with(|o| {
        o.fma = Fma::Exact;
        o.names = true;
    });
    let kernels = [
        everything("everything"),
        binary(Type::F64, |b, [x, y]| b.fma(x, y, x)),
        binary(Type::F32, |b, [x, y]| b.min(x, y)),
    ];
    let mut emitter = Emitter::new();
    let mut out = vec![7; 3];
    for _ in 0..3 {
        for kernel in &kernels {
            emitter.emit(kernel, &options, &mut out).unwrap();
            assert_eq!(out, emit(kernel, &options).unwrap());
        }
    }
}

#[test]
fn names_on_request() {
    let found = decode(&everything("k"), &with(|o| o.names = true));
    let names: BTreeSet<String> = found
        .all(Op::Name)
        .iter()
        .map(|n| string(&n[1..]))
        .collect();
    assert_eq!(
        names,
        ["data", "k", "other", "shared"].map(String::from).into()
    );
    assert_eq!(string(&found.all(Op::MemberName)[0][2..]), "n");
    assert_eq!(
        decode(&everything("k"), &Options::default()).count(Op::Name),
        0
    );
}

#[test]
fn scalars_fall_back_to_a_uniform_buffer() {
    let options = with(|o| {
        o.limits.push_constant_bytes = 3;
        o.overflow = Overflow::Uniform { set: 1, binding: 9 };
    });
    let found = decode(&everything("k"), &options);
    let classes: Vec<u32> = found.all(Op::Variable).iter().map(|v| v[2]).collect();
    assert!(classes.contains(&(spirv::StorageClass::Uniform as u32)));
    assert!(!classes.contains(&(spirv::StorageClass::PushConstant as u32)));
    // Where they fit they are push constants all the same.
    let options = with(|o| o.overflow = Overflow::Uniform { set: 1, binding: 9 });
    let found = decode(&everything("k"), &options);
    let classes: Vec<u32> = found.all(Op::Variable).iter().map(|v| v[2]).collect();
    assert!(classes.contains(&(spirv::StorageClass::PushConstant as u32)));
}

#[test]
fn scalars_are_laid_out_as_the_signature_says() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let out = b.buffer("out", Type::U64, Access::Write);
    let scalars = [Type::BOOL, Type::U64, Type::F32, Type::F64].map(|ty| b.scalar("", ty));
    let zero = b.constant(0u32);
    let wide = b.param(scalars[1]);
    b.store(out, zero, wide);
    let length = b.array_length_u64(out);
    b.store(out, zero, length);
    let kernel = b.finish().unwrap();
    let found = decode(&kernel, &with(|o| o.lengths = Lengths::HostFilled));
    let offsets: Vec<u32> = found
        .all(Op::MemberDecorate)
        .iter()
        .skip(1)
        .map(|d| d[3])
        .collect();
    assert_eq!(offsets, [0, 8, 16, 24, 32]);
    assert_eq!(kernel.signature().lengths[0].push_constant_offset, 32);
    assert_eq!(found.count(Op::ArrayLength), 0);
    assert_eq!(
        decode(&kernel, &Options::default()).count(Op::ArrayLength),
        1
    );
}

#[test]
fn zeroed_arrays_have_an_initialiser_or_a_loop() {
    let mut b = KernelBuilder::new("main", [64, 1, 1]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let shared = b.shared_zeroed("s", Type::U32, 100);
    let i = b.local_index();
    let x = b.load(shared, i);
    b.store(out, i, x);
    let kernel = b.finish().unwrap();
    let workgroup = spirv::StorageClass::Workgroup as u32;
    let native = decode(&kernel, &Options::default());
    let all = native.all(Op::Variable);
    let array = all.iter().find(|v| v[2] == workgroup).unwrap();
    assert_eq!(array[3], native.all(Op::ConstantNull)[0][1]);
    let looped = decode(&kernel, &with(|o| o.zero_shared = ZeroShared::Loop));
    let all = looped.all(Op::Variable);
    assert_eq!(all.iter().find(|v| v[2] == workgroup).unwrap().len(), 3);
    assert_eq!(looped.count(Op::LoopMerge), 1);
    assert_eq!(looped.count(Op::ControlBarrier), 1);
}

#[test]
fn scopes_and_semantics() {
    let kernel = |shared: bool, order, scope| {
        let mut b = KernelBuilder::new("main", [64, 1, 1]);
        let data = b.buffer("data", Type::U32, Access::ReadWrite);
        let i = b.local_index();
        let ordering = Ordering { order, scope };
        if shared {
            let s = b.shared("s", Type::U32, 64);
            b.store(s, i, i);
            b.atomic_compare_exchange_with(s, i, 0, i, i, ordering);
        } else {
            b.atomic_compare_exchange_with(data, i, 0, i, i, ordering);
        }
        b.workgroup_barrier();
        b.memory_fence(scope);
        b.finish().unwrap()
    };
    // Without shared memory; the barrier names it all the same.
    for (order, equal, unequal) in [
        (Order::Relaxed, 0, 0),
        (Order::Acquire, 0x42, 0x42),
        (Order::Release, 0x44, 0),
        (Order::AcqRel, 0x48, 0x42),
    ] {
        let found = decode(&kernel(false, order, Scope::Device), &Options::default());
        let exchange = found.all(Op::AtomicCompareExchange)[0];
        let operands: Vec<u64> = exchange[3..6]
            .iter()
            .map(|&id| found.constant(id))
            .collect();
        assert_eq!(operands, [1, equal, unequal]);
        let barrier = found.all(Op::ControlBarrier)[0];
        let operands: Vec<u64> = barrier.iter().map(|&id| found.constant(id)).collect();
        assert_eq!(operands, [2, 2, 0x148]);
        let fence = found.all(Op::MemoryBarrier)[0];
        assert_eq!(
            [found.constant(fence[0]), found.constant(fence[1])],
            [1, 0x48]
        );
    }
    let vulkan = with(|o| o.memory_model = MemoryModel::Vulkan);
    let found = decode(&kernel(true, Order::AcqRel, Scope::Workgroup), &vulkan);
    let exchange = found.all(Op::AtomicCompareExchange)[0];
    let operands: Vec<u64> = exchange[3..6]
        .iter()
        .map(|&id| found.constant(id))
        .collect();
    assert_eq!(operands, [2, 0x6148, 0x4142]);
    // No buffer is written, so that the barrier orders shared memory alone.
    assert_eq!(found.constant(found.all(Op::ControlBarrier)[0][2]), 0x6108);
    assert!(
        !found
            .capabilities()
            .contains(&(Capability::VulkanMemoryModelDeviceScope as u32))
    );
}
