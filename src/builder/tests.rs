use super::*;
use crate::kernel::Ordering;
use crate::types::Access;

fn kinds(b: &mut KernelBuilder) -> Vec<FaultKind> {
    b.finish()
        .expect_err("the kernel is faulty")
        .faults()
        .iter()
        .map(|f| f.kind.clone())
        .collect()
}

#[test]
fn vector_add_verifies_and_round_trips() {
    let mut b = KernelBuilder::new("vector_add", [256, 1, 1]);
    let x = b.buffer("a", Type::F32, Access::Read);
    let y = b.buffer("b", Type::F32, Access::Read);
    let z = b.buffer("c", Type::F32, Access::Write);
    let n = b.scalar("n", Type::U32);
    let i = b.global_id(0);
    let n = b.param(n);
    let inside = b.lt(i, n);
    b.when(inside, |b| {
        let (x, y) = (b.load(x, i), b.load_offset(y, i, 0));
        let sum = b.add(x, y);
        b.store(z, i, sum);
        b.store_offset(z, i, 3, sum);
    });
    let kernel = b.finish().unwrap();
    let bytes = kernel.to_bytes();
    assert_eq!(Kernel::from_bytes(&bytes).unwrap(), kernel);
    assert_eq!(kernel.buffers()[2].binding, 2);
    assert!(kernel.buffer_uses()[0].read && !kernel.buffer_uses()[0].written);
    for cut in 0..bytes.len() {
        assert!(Kernel::from_bytes(&bytes[..cut]).is_err());
    }
    b.recycle(kernel);
    b.reset("next", [1, 1, 1]);
    assert!(b.finish().is_ok());
}

#[test]
fn faults_are_listed_once_each() {
    let mut b = KernelBuilder::new("bad", [1, 1, 1]);
    let one = b.constant(1u32);
    let real = b.constant(1.0f32);
    let wrong = b.add(one, real);
    let again = b.mul(wrong, wrong);
    b.when(again, |b| b.return_());
    let open = b.constant(true);
    b.begin_if(open);
    assert_eq!(
        kinds(&mut b),
        [
            FaultKind::Type {
                value: 1,
                found: Type::F32,
                expected: Type::U32
            },
            FaultKind::Open(1),
        ]
    );
}

#[test]
fn ids_of_another_kernel_are_caught() {
    let mut other = KernelBuilder::new("other", [1, 1, 1]);
    let stranger = other.constant(1u32);
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    let own = b.constant(1u32);
    let sum = b.add(own, stranger);
    b.add(sum, own);
    assert_eq!(kinds(&mut b), [FaultKind::Foreign("v0".into())]);
    b.reset("k", [1, 1, 1]);
    b.not(own);
    assert_eq!(kinds(&mut b), [FaultKind::Foreign("v0".into())]);
}

#[test]
fn values_end_with_their_block() {
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    let yes = b.constant(true);
    let mut inner = None;
    b.when(yes, |b| inner = Some(b.constant(1u32)));
    b.not(inner.unwrap());
    assert_eq!(kinds(&mut b), [FaultKind::NotVisible(2)]);
}

#[test]
fn nothing_follows_a_terminator() {
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    let yes = b.constant(true);
    b.if_else(yes, |b| b.return_(), |b| b.return_());
    b.constant(1u32);
    assert_eq!(kinds(&mut b), [FaultKind::Unreachable]);
    b.reset("k", [1, 1, 1]);
    b.loop_(|_| {});
    b.constant(1u32);
    assert_eq!(kinds(&mut b), [FaultKind::Unreachable]);
    b.reset("k", [1, 1, 1]);
    b.break_();
    assert_eq!(kinds(&mut b), [FaultKind::OutsideLoop(Op::Break)]);
}

#[test]
fn finished_builders_say_so() {
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    assert!(b.finish().is_ok());
    assert_eq!(kinds(&mut b), [FaultKind::Finished]);
}

#[test]
fn ranges_verify() {
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    let out = b.buffer("out", Type::I32, Access::ReadWrite);
    let (low, high, step) = (b.constant(-5i32), b.constant(5i32), b.constant(3i32));
    let zero = b.constant(0u32);
    b.for_range(low, high, |b, i| {
        let even = b.eq(i, low);
        b.when(even, |b| b.continue_());
        b.store(out, zero, i);
    });
    b.for_range_step(low, high, step, |b, i| b.store(out, zero, i));
    assert!(b.finish().is_ok());
}

#[test]
fn ranges_are_of_integers() {
    for number in [Const::from(0.0f32), Const::from(0.0f64), Const::from(false)] {
        for stepped in [false, true] {
            let mut b = KernelBuilder::new("k", [1, 1, 1]);
            let zero = b.constant(number);
            if stepped {
                b.for_range_step(zero, zero, zero, |_, _| {});
            } else {
                b.for_range(zero, zero, |_, _| {});
            }
            assert_eq!(kinds(&mut b)[0], FaultKind::RangeType(number.ty()));
        }
    }
    // A start that was refused is no second fault.
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    let stranger = KernelBuilder::new("other", [1, 1, 1]).constant(1u32);
    let one = b.constant(1u32);
    b.for_range(stranger, one, |_, _| {});
    b.for_range(one, stranger, |_, _| {});
    let foreign = FaultKind::Foreign("v0".into());
    assert_eq!(kinds(&mut b), [foreign.clone(), foreign]);
}

/// What the builder's own ways accept of constants, variables and memory, the verifier accepts of the draft.
#[test]
fn the_builder_accepts_what_the_verifier_does() {
    let mut b = KernelBuilder::new("k", [64, 1, 1]);
    let buffers = [Access::Read, Access::Write, Access::ReadWrite]
        .map(|access| b.buffer("", Type::U32, access));
    let (tile, own) = (b.shared("", Type::U32, 4), b.private("", Type::U32, 4));
    let table = b.table("", Type::U32, &[1u32, 2, 3]);
    let memories = buffers.map(Memory::from).into_iter().chain([
        Memory::from(tile),
        Memory::from(own),
        Memory::from(table),
    ]);
    let memories: Vec<Memory> = memories.collect();
    let (mut values, mut variables) = (Vec::new(), Vec::new());
    let fill = |b: &mut KernelBuilder, values: &mut Vec<Value>, variables: &mut Vec<_>| {
        let two = b.constant(2u32);
        for scalar in crate::types::Scalar::ALL {
            let value = b.convert(two, Type::of(scalar));
            values.push(value);
            variables.push(b.var(value));
            if scalar != crate::types::Scalar::Bool {
                values.push(b.construct(&[value; 2]));
            }
        }
    };
    let flag = b.constant(true);
    b.begin_if(flag);
    fill(&mut b, &mut values, &mut variables);
    b.end();
    fill(&mut b, &mut values, &mut variables);
    for &variable in &variables {
        b.get(variable);
        for &value in &values {
            b.set(variable, value);
        }
    }
    for &memory in &memories {
        for &index in &values {
            for offset in [0, 1, 2, 4] {
                b.load_offset(memory, index, offset);
                b.store_offset(memory, index, offset, index);
                b.atomic_add_with(memory, index, offset, index, Ordering::RELAXED);
            }
        }
    }
    b.return_();
    b.constant(1u32);
    b.get(variables[variables.len() - 1]);
    let mut verifier = Verifier::default();
    verifier.begin();
    verifier.check.declared(&b.draft);
    for (at, inst) in b.draft.insts.iter().enumerate() {
        verifier.check.step(&b.draft, at, inst, &b.draft.side);
    }
    assert!(b.verifier.check.faults.len() > 100);
    assert_eq!(b.verifier.check.faults, verifier.check.faults);
    assert_eq!(b.verifier.check.facts, verifier.check.facts);
}
