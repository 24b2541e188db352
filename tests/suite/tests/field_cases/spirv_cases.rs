//! The cases of SPIR-V.

use super::{Id, capabilities, i, kernel, module_of, ops, values};
use kernite::builder::KernelBuilder;
use kernite::spirv;
use kernite::types::{Access, Scope, Type};
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Decoration, ExecutionMode, Op, StorageClass};

#[test]
fn case_24_a_loop_tests_in_its_body() {
    let k = kernel(Type::U32, |b| {
        let (zero, ten, one) = (b.constant(0u32), b.constant(10u32), b.constant(1u32));
        let n = b.var(zero);
        b.while_(
            |b| {
                let now = b.get(n);
                b.lt(now, ten)
            },
            |b| {
                let now = b.get(n);
                let next = b.add(now, one);
                b.set(n, next);
            },
        );
        b.get(n)
    });
    let module = module_of(&k);
    let blocks = &module.functions[0].blocks;
    let merge = blocks
        .iter()
        .flat_map(|b| &b.instructions)
        .find(|i| i.class.opcode == Op::LoopMerge)
        .unwrap();
    let continue_target = merge.operands[1].unwrap_id_ref();
    let target = blocks
        .iter()
        .find(|b| b.label_id() == Some(continue_target))
        .unwrap();
    assert_eq!(target.instructions.last().unwrap().class.opcode, Op::Branch);
}

#[test]
fn case_27_variables_are_hoisted() {
    let k = kernel(Type::U32, |b| {
        let (zero, yes) = (b.constant(0u32), b.constant(true));
        let kept = b.var(zero);
        b.when(yes, |b| {
            let one = b.constant(1u32);
            let inner = b.var(one);
            let v = b.get(inner);
            b.set(kept, v);
        });
        b.get(kept)
    });
    let module = module_of(&k);
    let blocks = &module.functions[0].blocks;
    let variables = |b: &rspirv::dr::Block| {
        b.instructions
            .iter()
            .filter(|i| i.class.opcode == Op::Variable)
            .count()
    };
    assert_eq!(variables(&blocks[0]), 2);
    assert!(blocks[1..].iter().all(|b| variables(b) == 0));
}

#[test]
fn case_28_interfaces_list_what_is_used_once() {
    let mut b = KernelBuilder::new("case", [64, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let tile = b.shared("tile", Type::U32, 64);
    let n = b.scalar("n", Type::U32);
    let (i, n) = (b.global_id(0), b.param(n));
    let again = b.global_id(0);
    let sum = b.add(n, again);
    b.store(tile, i, sum);
    b.store(data, i, sum);
    let k = b.finish().unwrap();
    let listed = |version: spirv::Version| {
        let mut options = spirv::Options::default();
        options.version = version;
        let module = kernite_testkit::rspirv::load(&spirv::emit(&k, &options).unwrap()).unwrap();
        module.entry_points[0].operands.len() - 3
    };
    assert_eq!(listed(spirv::Version::V1_6), 4);
    assert_eq!(listed(spirv::Version::V1_3), 1);
}

#[test]
fn cases_29_and_38_types_are_made_and_decorated_once() {
    let mut b = KernelBuilder::new("case", [64, 1, 1]);
    let buffers = [0; 3].map(|_| b.buffer("b", Type::U32, Access::ReadWrite));
    let i = b.global_id(0);
    for buffer in buffers {
        b.store(buffer, i, i);
    }
    let module = module_of(&b.finish().unwrap());
    let count = |d: Decoration| {
        module
            .annotations
            .iter()
            .filter(|a| a.operands.contains(&Operand::Decoration(d)))
            .count()
    };
    assert_eq!(
        (
            count(Decoration::Block),
            count(Decoration::ArrayStride),
            count(Decoration::Offset),
            count(Decoration::Binding)
        ),
        (1, 1, 1, 3)
    );
    let mut seen = std::collections::HashSet::new();
    for ty in &module.types_global_values {
        if matches!(
            ty.class.opcode,
            Op::TypeInt | Op::TypeFloat | Op::TypeVector | Op::TypeBool | Op::TypeFunction
        ) {
            assert!(seen.insert(format!("{:?}{:?}", ty.class.opcode, ty.operands)));
        }
    }
}

#[test]
fn case_32_barriers_and_atomics_have_the_right_masks() {
    let constants = |module: &rspirv::dr::Module, id: u32| {
        let found = module
            .types_global_values
            .iter()
            .find(|i| i.result_id == Some(id))
            .unwrap();
        found.operands[0].unwrap_literal_bit32()
    };
    let masks = |module: &rspirv::dr::Module, op: Op| -> Vec<u32> {
        let inst = module
            .all_inst_iter()
            .find(|i| i.class.opcode == op)
            .unwrap();
        inst.operands
            .iter()
            .filter_map(|o| o.id_ref_any())
            .filter(|id| {
                module
                    .types_global_values
                    .iter()
                    .any(|i| i.result_id == Some(*id) && i.class.opcode == Op::Constant)
            })
            .map(|id| constants(module, id))
            .collect()
    };
    let barrier = |writes: bool| {
        let mut b = KernelBuilder::new("case", [64, 1, 1]);
        let out = b.buffer("out", Type::U32, Access::ReadWrite);
        let tile = b.shared("tile", Type::U32, 64);
        let i = b.local_id(0);
        b.store(tile, i, i);
        b.workgroup_barrier();
        let v = b.load(tile, i);
        if writes {
            b.store(out, i, v);
        }
        module_of(&b.finish().unwrap())
    };
    assert_eq!(masks(&barrier(false), Op::ControlBarrier), [2, 2, 0x108]);
    assert_eq!(masks(&barrier(true), Op::ControlBarrier), [2, 2, 0x148]);
    let mut b = KernelBuilder::new("case", [64, 1, 1]);
    let out = b.buffer("out", Type::U32, Access::ReadWrite);
    let i = b.local_id(0);
    b.atomic_add(out, i, i);
    b.memory_fence(Scope::Device);
    let module = module_of(&b.finish().unwrap());
    assert_eq!(masks(&module, Op::AtomicIAdd), [1, 0]);
    // No shared memory is there to order.
    assert_eq!(masks(&module, Op::MemoryBarrier), [1, 0x48]);
}

#[test]
fn case_33_strict_floats_are_declared_and_relaxed_ones_are_not() {
    let k = kernel(Type::F32, |b| {
        let i = b.global_id(0);
        let x = b.convert(i, Type::F32);
        b.add(x, x)
    });
    let strict = module_of(&k);
    let modes: Vec<_> = strict
        .execution_modes
        .iter()
        .map(|m| m.operands[1].unwrap_execution_mode())
        .collect();
    assert!(modes.contains(&ExecutionMode::SignedZeroInfNanPreserve));
    assert!(modes.contains(&ExecutionMode::RoundingModeRTE));
    assert!(strict.extensions.is_empty());
    let mut options = spirv::Options::default();
    options.float_mode = spirv::FloatMode::Relaxed;
    let relaxed = kernite_testkit::rspirv::load(&spirv::emit(&k, &options).unwrap()).unwrap();
    assert_eq!(capabilities(&relaxed), [Capability::Shader]);
    assert_eq!(relaxed.execution_modes.len(), 1);
}

#[test]
fn case_35_shifts_are_taken_modulo_the_width() {
    values(
        [Type::U32; 2],
        Type::U32,
        |b, [x, n]| b.shl(x, n),
        &[([1, 32], 1), ([1, 33], 2), ([1, 31], 1 << 31)],
    );
    values(
        [Type::I32, Type::U32],
        Type::I32,
        |b, [x, n]| b.shr(x, n),
        &[([i(-8), 33], i(-4))],
    );
    values(
        [Type::U64, Type::U32],
        Type::U64,
        |b, [x, n]| b.shl(x, n),
        &[([1, 64], 1), ([1, 63], 1 << 63)],
    );
    values(
        [Type::U32; 2],
        Type::U32,
        |b, [x, n]| b.rotate_left(x, n),
        &[([0x8000_0001, 33], 3)],
    );
    let k = kernel(Type::U32, |b| {
        let i = b.global_id(0);
        let n = b.constant(32u32);
        b.shl(i, n)
    });
    let module = module_of(&k);
    assert!(
        !ops(&module).contains(&Op::ShiftLeftLogical) || !ops(&module).contains(&Op::BitwiseAnd)
    );
}

#[test]
fn case_37_zeroed_memory_has_a_null_initialiser_or_a_parallel_loop() {
    let mut b = KernelBuilder::new("case", [64, 1, 1]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let tile = b.shared_zeroed("tile", Type::U32, 256);
    let i = b.local_id(0);
    let v = b.load(tile, i);
    b.store(out, i, v);
    let k = b.finish().unwrap();
    let module = module_of(&k);
    let shared = module.types_global_values.iter().find(|v| {
        v.class.opcode == Op::Variable
            && v.operands[0] == Operand::StorageClass(StorageClass::Workgroup)
    });
    let initialiser = shared.unwrap().operands[1].unwrap_id_ref();
    let null = module
        .types_global_values
        .iter()
        .find(|v| v.result_id == Some(initialiser))
        .unwrap();
    assert_eq!(null.class.opcode, Op::ConstantNull);
    let mut options = spirv::Options::default();
    options.zero_shared = spirv::ZeroShared::Loop;
    let module = kernite_testkit::rspirv::load(&spirv::emit(&k, &options).unwrap()).unwrap();
    let shared = module.types_global_values.iter().find(|v| {
        v.class.opcode == Op::Variable
            && v.operands[0] == Operand::StorageClass(StorageClass::Workgroup)
    });
    assert_eq!(shared.unwrap().operands.len(), 1, "no initialiser");
    assert!(ops(&module).contains(&Op::ControlBarrier));
}

#[test]
fn case_39_capabilities_are_those_needed() {
    let plain = kernel(Type::U32, |b| b.global_id(0));
    assert_eq!(capabilities(&module_of(&plain)), [Capability::Shader]);
    let mut b = KernelBuilder::new("case", [64, 1, 1]);
    let out = b.buffer("out", Type::F32, Access::ReadWrite);
    let (i, one) = (b.local_id(0), b.constant(1.0f32));
    b.atomic_add(out, i, one);
    let module = module_of(&b.finish().unwrap());
    assert!(capabilities(&module).contains(&Capability::AtomicFloat32AddEXT));
    assert_eq!(module.extensions.len(), 1);
    let mut b = KernelBuilder::new("case", [64, 1, 1]);
    let out = b.buffer("out", Type::U64, Access::ReadWrite);
    let i = b.local_id(0);
    let wide = b.convert(i, Type::U64);
    b.atomic_max(out, i, wide);
    let module = module_of(&b.finish().unwrap());
    assert_eq!(
        capabilities(&module),
        [
            Capability::Shader,
            Capability::Int64,
            Capability::Int64Atomics
        ]
    );
}

#[test]
fn case_40_constant_sizes_are_local_size() {
    let module = module_of(&kernel(Type::U32, |b| b.global_id(0)));
    let mode = &module.execution_modes[0];
    assert_eq!(mode.class.opcode, Op::ExecutionMode);
    assert_eq!(
        mode.operands[1],
        Operand::ExecutionMode(ExecutionMode::LocalSize)
    );
    assert_eq!(mode.operands[2..], [64, 1, 1].map(Operand::LiteralBit32));
}

#[test]
fn case_42_conversions_extend_by_the_sign_of_the_source() {
    let to = |ty: Type| move |b: &mut KernelBuilder, [x]: [Id; 1]| b.convert(x, ty);
    values(
        [Type::I32],
        Type::I64,
        to(Type::I64),
        &[([i(-89)], (-89i64) as u64)],
    );
    values(
        [Type::I32],
        Type::U64,
        to(Type::U64),
        &[([i(-1)], u64::MAX)],
    );
    values(
        [Type::U32],
        Type::I64,
        to(Type::I64),
        &[([0xFFFF_FFA7], 0xFFFF_FFA7)],
    );
    values(
        [Type::I64],
        Type::U32,
        to(Type::U32),
        &[([(-1i64) as u64], 0xFFFF_FFFF)],
    );
}
