//! The rules of tables, vectors and subgroup sizes, one rejected kernel each.

use super::tests::{constant, inst, reject};
use super::*;
use crate::builder::KernelBuilder;
use crate::kernel::{Inst, Mem};
use crate::op::Op;
use crate::types::{Access, Type};

#[test]
fn tables_and_vectors() {
    let of = |edit: &dyn Fn(&mut KernelBuilder)| {
        let mut b = KernelBuilder::new("k", [1, 1, 1]);
        edit(&mut b);
        match b.finish() {
            Ok(kernel) => {
                assert_eq!(Kernel::from_bytes(&kernel.to_bytes()).as_ref(), Ok(&kernel));
                Vec::new()
            }
            Err(e) => e.faults().iter().map(|f| f.kind.clone()).collect(),
        }
    };
    let table = Mem::Table(0);
    assert_eq!(
        of(&|b| {
            b.table("odd", Type::U8, &[1u8, 3, 5]);
            b.table("even", Type::F64, &[2.0f64]);
            b.buffer("late", Type::F32, Access::Read);
        }),
        []
    );
    assert_eq!(
        of(&|b| drop(vec![b.table("t", Type::U32, &[0u32; 0])])),
        [FaultKind::EmptyTable(table)]
    );
    assert_eq!(
        of(&|b| drop(vec![b.table("t", Type::F32, &[1u32])])),
        [FaultKind::TableElement(table)]
    );
    assert_eq!(
        of(&|b| {
            let t = b.table("t", Type::U32, &[1u32]);
            let zero = b.constant(0u32);
            b.load_offset(t, zero, 1);
            b.store(t, zero, zero);
            b.atomic_add(t, zero, zero);
        }),
        [
            FaultKind::OutOfBounds {
                mem: table,
                index: 1,
                len: 1
            },
            FaultKind::Constant(table),
            FaultKind::PrivateAtomic(table),
        ]
    );
    assert_eq!(
        of(&|b| {
            let (x, y) = (b.constant(1.0f32), b.constant(1u32));
            let v = b.construct(&[x, x]);
            b.extract(v, 1);
            b.extract(v, 2);
            b.extract(x, 0);
            b.construct(&[x, y, x, x]);
            b.construct(&[x]);
        }),
        [
            FaultKind::Lane {
                lane: 2,
                ty: Type::vector(crate::types::Scalar::F32, 2).unwrap()
            },
            FaultKind::Type {
                value: 0,
                found: Type::F32,
                expected: Type::vector(crate::types::Scalar::F32, 4).unwrap()
            },
            FaultKind::Type {
                value: 1,
                found: Type::U32,
                expected: Type::F32
            },
            FaultKind::Apply {
                op: Op::Construct4,
                operands: 1
            },
        ]
    );
    assert_eq!(of(&|b| b.require_subgroup_size(32)), []);
    for size in [3, 256] {
        assert_eq!(
            of(&|b| b.require_subgroup_size(size)),
            [FaultKind::SubgroupSize(size)]
        );
    }
    let scan = Inst {
        flags: 3,
        ..inst(Op::SubgroupAdd, Type::U32, 0, 0, 0)
    };
    reject(
        &[constant(1u32), scan],
        &[],
        FaultKind::Canonical(Op::SubgroupAdd),
    );
}
