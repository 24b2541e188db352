//! One rejected kernel for each rule. Rules of uniformity have their tests beside the analysis.

use super::*;
use crate::builder::{BufferOptions, KernelBuilder};
use crate::kernel::{
    BufferDecl, Inst, Mem, Name, Ordering, ParamRef, PrivateDecl, SharedDecl, SharedLen,
};
use crate::op::Op;
use crate::types::{Access, Const, Order, Scope, Type};

/// A draft with one buffer of u32, one shared and one private array of 8, and these instructions.
fn draft(insts: &[Inst], side: &[u32]) -> Draft {
    let mut d = Draft {
        workgroup_size: [1; 3],
        ..Draft::default()
    };
    d.name = d.intern("k").unwrap();
    d.params.push(ParamRef::Buffer(0));
    d.buffers.push(BufferDecl {
        name: Name::default(),
        elem: Type::U32,
        access: Access::ReadWrite,
        may_alias: false,
        set: 0,
        binding: 0,
    });
    let len = SharedLen::Static(8);
    d.shared.push(SharedDecl {
        name: Name::default(),
        elem: Type::U32,
        len,
        zeroed: false,
    });
    d.private.push(PrivateDecl {
        name: Name::default(),
        elem: Type::U32,
        len: 8,
    });
    d.insts.extend_from_slice(insts);
    d.side.extend_from_slice(side);
    d
}

fn faults(d: Draft) -> Vec<FaultKind> {
    verify(d)
        .expect_err("the kernel breaks a rule")
        .faults
        .into_iter()
        .map(|f| f.kind)
        .collect()
}

pub(super) fn reject(insts: &[Inst], side: &[u32], kind: FaultKind) {
    let found = faults(draft(insts, side));
    assert!(found.contains(&kind), "expected {kind:?}, found {found:?}");
}

pub(super) fn constant(value: impl Into<Const>) -> Inst {
    let c = value.into();
    Inst {
        a: c.bits() as u32,
        b: (c.bits() >> 32) as u32,
        ..Inst::new(Op::Const, c.ty())
    }
}

pub(super) fn inst(op: Op, ty: Type, a: u32, b: u32, c: u32) -> Inst {
    Inst {
        op,
        ty,
        flags: 0,
        a,
        b,
        c,
    }
}

const BUF: u32 = Mem::Buffer(0).word();
const SHARED: u32 = Mem::Shared(0).word();
const PRIVATE: u32 = Mem::Private(0).word();

#[test]
fn declarations() {
    let of = |edit: &dyn Fn(&mut KernelBuilder)| {
        let mut b = KernelBuilder::new("k", [1, 1, 1]);
        edit(&mut b);
        let error = b.finish().expect_err("the declaration breaks a rule");
        error
            .faults()
            .iter()
            .map(|f| f.kind.clone())
            .collect::<Vec<_>>()
    };
    let named = |name: &str| KernelBuilder::new(name, [1, 1, 1]).finish();
    assert_eq!(
        named("").unwrap_err().faults()[0].kind,
        FaultKind::Name(String::new())
    );
    assert!(named("a\0b").is_err());
    assert!(named(&"x".repeat(MAX_NAME + 1)).is_err());
    assert!(named(&"x".repeat(MAX_NAME)).is_ok());
    assert!(named("t,0").is_ok(), "targets map names");
    for size in [[0, 1, 1], [1, 0, 1], [65536, 65536, 1], [u32::MAX; 3]] {
        let error = KernelBuilder::new("k", size).finish().unwrap_err();
        assert_eq!(error.faults()[0].kind, FaultKind::WorkgroupSize(size));
    }
    assert_eq!(
        of(&|b| {
            b.buffer("b", Type::BOOL, Access::Read);
        }),
        [FaultKind::DeclType {
            what: "buf0".into(),
            ty: Type::BOOL
        }]
    );
    assert_eq!(
        of(&|b| {
            b.scalar("s", Type::NONE);
        }),
        [FaultKind::DeclType {
            what: "arg0".into(),
            ty: Type::NONE
        }]
    );
    assert_eq!(
        of(&|b| {
            b.shared("s", Type::U32, 0);
        }),
        [FaultKind::ArrayLen {
            mem: Mem::Shared(0),
            len: 0
        }]
    );
    assert_eq!(
        of(&|b| {
            b.private("p", Type::F64, 1 << 29);
        }),
        [FaultKind::ArrayLen {
            mem: Mem::Private(0),
            len: 1 << 29
        }]
    );
    assert_eq!(
        of(&|b| {
            b.shared_dynamic("s", Type::U32);
            b.shared_dynamic("t", Type::U32);
        }),
        [FaultKind::SecondDynamic(Mem::Shared(1))]
    );
    assert_eq!(
        of(&|b| {
            b.buffer_with(
                "a",
                Type::U32,
                Access::Read,
                BufferOptions::new().binding(1, 2),
            );
            b.buffer_with(
                "b",
                Type::U32,
                Access::Read,
                BufferOptions::new().binding(1, 2),
            );
        }),
        [FaultKind::Binding { set: 1, binding: 2 }]
    );
}

#[test]
fn bindings_are_given_in_order_past_those_given() {
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    b.buffer("a", Type::U32, Access::Read);
    b.buffer_with(
        "b",
        Type::U32,
        Access::Read,
        BufferOptions::new().binding(0, 5),
    );
    b.buffer_with(
        "c",
        Type::U32,
        Access::Read,
        BufferOptions::new().binding(1, 9),
    );
    b.buffer("d", Type::U32, Access::Read);
    let kernel = b.finish().unwrap();
    let given: Vec<_> = kernel
        .buffers()
        .iter()
        .map(|d| (d.set, d.binding))
        .collect();
    assert_eq!(given, [(0, 0), (0, 5), (1, 9), (0, 6)]);
}

#[test]
fn canonical_form() {
    let u = constant(1u32);
    let canonical = FaultKind::Canonical;
    reject(
        &[u, inst(Op::Not, Type::U32, 0, 1, 0)],
        &[],
        canonical(Op::Not),
    );
    reject(
        &[
            u,
            Inst {
                flags: 1,
                ..inst(Op::Add, Type::U32, 0, 0, 0)
            },
        ],
        &[],
        canonical(Op::Add),
    );
    reject(
        &[Inst {
            flags: 3,
            ..Inst::new(Op::GlobalId, Type::U32)
        }],
        &[],
        FaultKind::Axis {
            op: Op::GlobalId,
            axis: 3,
        },
    );
    reject(
        &[Inst {
            flags: 2,
            ..Inst::new(Op::MemoryFence, Type::NONE)
        }],
        &[],
        canonical(Op::MemoryFence),
    );
    reject(
        &[Inst {
            a: 1,
            ..Inst::new(Op::Return, Type::NONE)
        }],
        &[],
        canonical(Op::Return),
    );
    // A store whose offset is zero has the short form.
    let long = Inst {
        flags: Inst::OFFSET,
        ..inst(Op::Store, Type::NONE, BUF, 0, 0)
    };
    reject(&[u, long], &[0, 0], canonical(Op::Store));
    reject(
        &[u, long],
        &[0],
        FaultKind::Side {
            found: 0,
            expected: 0,
            len: 1,
        },
    );
    reject(
        &[u, Inst { c: 1, ..long }],
        &[0, 0, 1],
        FaultKind::Side {
            found: 1,
            expected: 0,
            len: 3,
        },
    );
    reject(
        &[
            u,
            Inst {
                c: u32::MAX,
                ..long
            },
        ],
        &[],
        FaultKind::Side {
            found: u32::MAX,
            expected: 0,
            len: 0,
        },
    );
    reject(&[u], &[7], FaultKind::SideLeft(1));
    assert!(verify(draft(&[u, long], &[0, 3])).is_ok());
}

#[test]
fn operands() {
    let (u, f) = (constant(1u32), constant(1.0f32));
    reject(
        &[inst(Op::Not, Type::U32, 0, 0, 0)],
        &[],
        FaultKind::NoValue(0),
    );
    reject(
        &[u, inst(Op::Not, Type::U32, 7, 0, 0)],
        &[],
        FaultKind::NoValue(7),
    );
    reject(
        &[u, inst(Op::Not, Type::U32, u32::MAX, 0, 0)],
        &[],
        FaultKind::NoValue(u32::MAX),
    );
    reject(
        &[
            u,
            inst(Op::Var, Type::U32, 0, 0, 0),
            inst(Op::Not, Type::U32, 1, 0, 0),
        ],
        &[],
        FaultKind::NoValue(1),
    );
    reject(
        &[u, inst(Op::VarGet, Type::U32, 0, 0, 0)],
        &[],
        FaultKind::NoVar(0),
    );
    reject(
        &[inst(Op::Param, Type::U32, 0, 0, 0)],
        &[],
        FaultKind::Undeclared("arg0".into()),
    );
    let load = |mem: u32| inst(Op::Load, Type::U32, mem, 0, 0);
    reject(
        &[u, load(Mem::Buffer(1).word())],
        &[],
        FaultKind::Undeclared("buf1".into()),
    );
    reject(
        &[u, load(u32::MAX)],
        &[],
        FaultKind::Undeclared("memory object 0xffffffff".into()),
    );
    reject(
        &[inst(Op::ArrayLength, Type::U32, SHARED, 0, 0)],
        &[],
        FaultKind::Undeclared("shared0".into()),
    );
    let wrong = FaultKind::Type {
        value: 1,
        found: Type::F32,
        expected: Type::U32,
    };
    reject(
        &[u, f, inst(Op::Add, Type::U32, 0, 1, 0)],
        &[],
        wrong.clone(),
    );
    reject(&[u, f, inst(Op::Shl, Type::U32, 0, 1, 0)], &[], wrong);
    let index = FaultKind::IndexType {
        value: 0,
        found: Type::F32,
    };
    reject(&[f, load(BUF)], &[], index);
    reject(
        &[constant(true), inst(Op::Neg, Type::BOOL, 0, 0, 0)],
        &[],
        FaultKind::Operates {
            op: Op::Neg,
            ty: Type::BOOL,
        },
    );
    reject(
        &[f, inst(Op::Fma, Type::U32, 0, 0, 0)],
        &[],
        FaultKind::Operates {
            op: Op::Fma,
            ty: Type::U32,
        },
    );
    let conversion = |from, to| FaultKind::Conversion {
        op: Op::Bitcast,
        from,
        to,
    };
    reject(
        &[u, inst(Op::Bitcast, Type::F64, 0, 0, 0)],
        &[],
        conversion(Type::U32, Type::F64),
    );
    reject(
        &[constant(true), inst(Op::Bitcast, Type::U32, 0, 0, 0)],
        &[],
        conversion(Type::BOOL, Type::U32),
    );
    let makes = FaultKind::Makes {
        found: Type::U32,
        expected: Type::BOOL,
    };
    reject(&[u, inst(Op::Eq, Type::U32, 0, 0, 0)], &[], makes);
    reject(
        &[Inst {
            a: 2,
            ..Inst::new(Op::Const, Type::BOOL)
        }],
        &[],
        FaultKind::ConstBits {
            ty: Type::BOOL,
            bits: 2,
        },
    );
    let elem = FaultKind::Elem {
        mem: Mem::Buffer(0),
        elem: Type::U32,
        found: Type::F32,
    };
    reject(&[u, f, inst(Op::Store, Type::NONE, BUF, 0, 1)], &[], elem);
}

#[test]
fn memory() {
    let u = constant(1u32);
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    let (r, w) = (
        b.buffer("r", Type::U32, Access::Read),
        b.buffer("w", Type::U32, Access::Write),
    );
    let i = b.constant(0u32);
    b.store(r, i, i);
    b.load(w, i);
    b.atomic_add(w, i, i);
    let kinds: Vec<_> = b
        .finish()
        .unwrap_err()
        .faults()
        .iter()
        .map(|f| (f.at, f.kind.clone()))
        .collect();
    let (read, write) = (Access::Read, Access::Write);
    assert_eq!(
        kinds,
        [
            (
                Some(1),
                FaultKind::Access {
                    mem: Mem::Buffer(0),
                    access: read
                }
            ),
            (
                Some(2),
                FaultKind::Access {
                    mem: Mem::Buffer(1),
                    access: write
                }
            ),
            (
                Some(3),
                FaultKind::Access {
                    mem: Mem::Buffer(1),
                    access: write
                }
            ),
        ]
    );
    let out = |index| FaultKind::OutOfBounds {
        mem: Mem::Shared(0),
        index,
        len: 8,
    };
    reject(
        &[constant(8u32), inst(Op::Load, Type::U32, SHARED, 0, 0)],
        &[],
        out(8),
    );
    reject(&[u, inst(Op::Load, Type::U32, SHARED, 0, 7)], &[], out(8));
    reject(
        &[constant(u64::MAX), inst(Op::Load, Type::U32, SHARED, 0, 1)],
        &[],
        out(u64::MAX),
    );
    reject(
        &[u, inst(Op::Load, Type::U32, PRIVATE, 0, 7)],
        &[],
        FaultKind::OutOfBounds {
            mem: Mem::Private(0),
            index: 8,
            len: 8,
        },
    );
    let coherent = Inst {
        flags: Inst::COHERENT,
        ..inst(Op::Load, Type::U32, SHARED, 0, 0)
    };
    reject(&[u, coherent], &[], FaultKind::AccessFlags(Mem::Shared(0)));
    let add = inst(Op::AtomicAdd, Type::U32, PRIVATE, 0, 0);
    reject(
        &[u, add],
        &[0, 0, Ordering::RELAXED.word()],
        FaultKind::PrivateAtomic(Mem::Private(0)),
    );
    let on_buffer = Inst { a: BUF, ..add };
    reject(
        &[u, on_buffer],
        &[0, 0, 9],
        FaultKind::Ordering(9, Op::AtomicAdd),
    );
    let acquire = Ordering {
        order: Order::Acquire,
        scope: Scope::Workgroup,
    };
    let store = inst(Op::AtomicStore, Type::NONE, BUF, 0, 0);
    reject(
        &[u, store],
        &[0, 0, acquire.word()],
        FaultKind::Ordering(acquire.word(), Op::AtomicStore),
    );
    assert!(verify(draft(&[u, on_buffer], &[0, 0, acquire.word()])).is_ok());
}

#[test]
fn control_flow() {
    let yes = constant(true);
    let mark = |op| Inst::new(op, Type::NONE);
    let (start, end, around) = (mark(Op::Loop), mark(Op::End), mark(Op::Continuing));
    reject(&[mark(Op::Else)], &[], FaultKind::Mismatched(Op::Else));
    reject(&[end], &[], FaultKind::Mismatched(Op::End));
    reject(&[start, end], &[], FaultKind::Mismatched(Op::End));
    reject(
        &[yes, inst(Op::If, Type::NONE, 0, 0, 0), around],
        &[],
        FaultKind::Mismatched(Op::Continuing),
    );
    reject(&[mark(Op::Break)], &[], FaultKind::OutsideLoop(Op::Break));
    reject(
        &[mark(Op::Continue)],
        &[],
        FaultKind::OutsideLoop(Op::Continue),
    );
    reject(
        &[mark(Op::Return), mark(Op::Return)],
        &[],
        FaultKind::Unreachable,
    );
    reject(&[start, around, end, yes], &[], FaultKind::Unreachable);
    reject(&[start], &[], FaultKind::Open(1));
    for op in [
        Op::Break,
        Op::Continue,
        Op::Return,
        Op::Loop,
        Op::WorkgroupBarrier,
    ] {
        reject(&[start, around, mark(op)], &[], FaultKind::InContinuing(op));
    }
    let nested_break = [
        yes,
        start,
        around,
        inst(Op::If, Type::NONE, 0, 0, 0),
        mark(Op::Break),
        end,
        end,
    ];
    reject(&nested_break, &[], FaultKind::InContinuing(Op::Break));
    // What the body makes is not seen by the continuing part.
    reject(
        &[start, yes, around, inst(Op::Not, Type::BOOL, 1, 0, 0), end],
        &[],
        FaultKind::NotVisible(1),
    );
    let mut deep = vec![yes];
    deep.extend((0..=MAX_DEPTH).map(|_| inst(Op::If, Type::NONE, 0, 0, 0)));
    deep.extend((0..=MAX_DEPTH).map(|_| end));
    reject(&deep, &[], FaultKind::TooDeep);
    deep.pop();
    deep.remove(1);
    assert!(verify(draft(&deep, &[])).is_ok());
}

#[test]
fn errors_name_the_place() {
    let mut b = KernelBuilder::new("k", [1, 1, 1]);
    let (one, real) = (b.constant(1u32), b.constant(1.0f32));
    b.add(one, real);
    let error = b.finish().unwrap_err();
    assert_eq!(error.kernel(), "k");
    assert_eq!(
        error.to_string(),
        "kernel \"k\" is not valid:\n  at 2 (add): v1 is f32, expected u32"
    );
}

#[test]
fn hostile_bytes_are_refused() {
    let mut b = KernelBuilder::new("k", [4, 1, 1]);
    let out = b.buffer("out", Type::U32, Access::ReadWrite);
    let tile = b.shared("tile", Type::U32, 4);
    let n = b.scalar("n", Type::U32);
    let (i, n) = (b.local_id(0), b.param(n));
    b.store(tile, i, n);
    b.workgroup_barrier();
    let v = b.load(tile, i);
    b.atomic_add(out, i, v);
    let bytes = b.finish().unwrap().to_bytes();
    let kernel = Kernel::from_bytes(&bytes).unwrap();
    let mut accepted = 0;
    for at in (0..bytes.len()).step_by(4) {
        for word in [0, 1, 0x7FFF_FFFF, 0x8000_0000, u32::MAX] {
            let mut changed = bytes.clone();
            changed[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
            if let Ok(other) = Kernel::from_bytes(&changed) {
                accepted += 1;
                assert_eq!(other.to_bytes(), changed, "the form is canonical");
                assert!(changed == bytes || other != kernel);
            }
        }
    }
    assert!(accepted > 0, "some changes leave a valid kernel");
}

#[test]
fn messages_say_what_was_asked_for_and_no_more() {
    let says = |mut b: KernelBuilder| b.finish().unwrap_err().to_string();
    let mut b = KernelBuilder::new("k", [32, 1, 1]);
    b.require_subgroup_size(0);
    assert!(says(b).contains("a subgroup size of 0 cannot be required"));

    let mut b = KernelBuilder::new("k", [32, 1, 1]);
    b.num_workgroups(3);
    b.global_id(255);
    let said = says(b);
    assert!(said.contains("the axis of `num_workgroups` is 3"), "{said}");
    assert!(said.contains("the axis of `global_id` is 255"), "{said}");

    let said = says(KernelBuilder::new(&"n".repeat(300_000), [1; 3]));
    assert!(said.contains("300000 bytes, which passes 4096"), "{said}");
    assert!(said.len() < 300, "{}", said.len());
    assert!(says(KernelBuilder::new("", [1; 3])).contains("a name is empty"));
    assert!(says(KernelBuilder::new("a\0b", [1; 3])).contains(r#"the name "a\0b" has a NUL"#));
}
