//! Every row of the opcode table is carried out on every type that it allows.

use super::*;
use crate::kernel::{BufferDecl, Draft, Inst, Mem, Name, Ordering, PrivateDecl, ScalarDecl};
use crate::kernel::{SharedDecl, SharedLen, TableDecl};
use crate::op::{Effect, Form, Op, Operand};
use crate::types::{Access, Type, TypeSet};

/// One way of using a row.
#[derive(Clone, Copy, Debug)]
struct Case {
    op: Op,
    /// What T is; [`Type::NONE`] where there is no T.
    ty: Type,
    /// What is converted, or the vector.
    from: Type,
    memory: Mem,
    index: Type,
    flags: u8,
}

/// Adds a value of a type.
fn value(draft: &mut Draft, ty: Type) -> u32 {
    let scalar = Type::of(ty.scalar().unwrap());
    let at = draft.insts.len() as u32;
    draft.insts.push(Inst {
        a: 1,
        ..Inst::new(Op::Const, scalar)
    });
    let op = match ty.lanes() {
        1 => return at,
        2 => Op::Construct2,
        _ => Op::Construct4,
    };
    let side = draft.side.len() as u32;
    if op == Op::Construct4 {
        draft.side.extend([at; 2]);
    }
    draft.insts.push(Inst {
        a: at,
        b: at,
        c: if op == Op::Construct4 { side } else { 0 },
        ..Inst::new(op, ty)
    });
    at + 1
}

/// A kernel that uses a row once.
fn uses(case: Case) -> Kernel {
    let row = case.op.row();
    let mut draft = Draft {
        workgroup_size: [3, 1, 1],
        ..Draft::default()
    };
    draft.name = draft.intern("k").unwrap();
    let elem = if TypeSet::ELEMENTS.contains(case.ty) && row.operands.contains(&Operand::Mem) {
        case.ty
    } else {
        Type::U32
    };
    let name = Name::default();
    let scalar = ScalarDecl { name, ty: case.ty };
    if row.operands.contains(&Operand::Param) {
        draft.scalars.push(scalar);
        draft.params.push(crate::kernel::ParamRef::Scalar(0));
    }
    draft.buffers.push(BufferDecl {
        name,
        elem,
        access: Access::ReadWrite,
        may_alias: false,
        set: 0,
        binding: 0,
    });
    draft.params.push(crate::kernel::ParamRef::Buffer(0));
    draft.shared.push(SharedDecl {
        name,
        elem,
        len: SharedLen::Static(3),
        zeroed: true,
    });
    draft.private.push(PrivateDecl { name, elem, len: 3 });
    if elem.lanes() == 1 {
        draft.tables.push(TableDecl {
            name,
            elem,
            start: 0,
            len: 3,
        });
        draft.data = vec![1; 3 * elem.bytes() as usize];
    }
    let mut words = vec![];
    for operand in row.operands {
        let word = match operand {
            Operand::T => value(&mut draft, case.ty),
            Operand::Any | Operand::Vector => value(&mut draft, case.from),
            Operand::Bool => value(&mut draft, Type::BOOL),
            Operand::U32 => value(&mut draft, Type::U32),
            Operand::Elem => value(&mut draft, Type::of(case.ty.scalar().unwrap())),
            Operand::Mem | Operand::Buffer => case.memory.word(),
            Operand::Index => value(&mut draft, case.index),
            Operand::Offset | Operand::Param => 0,
            Operand::Ordering => Ordering::RELAXED.word(),
            Operand::Var => {
                let a = value(&mut draft, case.ty);
                draft.insts.push(Inst {
                    a,
                    ..Inst::new(Op::Var, case.ty)
                });
                a + 1
            }
            Operand::Bits => {
                words.push(1);
                0
            }
        };
        words.push(word);
    }
    let mut inst = Inst {
        flags: case.flags,
        ..Inst::new(case.op, row.makes.of(case.ty))
    };
    match row.form {
        Form::Side => {
            inst.c = draft.side.len() as u32;
            draft.side.extend(&words[2..]);
            words.truncate(2);
        }
        Form::Store => words.truncate(3),
        Form::Inline => {}
    }
    let places = [&mut inst.a, &mut inst.b, &mut inst.c];
    for (place, word) in places.into_iter().zip(words) {
        *place = word;
    }
    draft.insts.push(inst);
    crate::verify::verify(draft).unwrap_or_else(|e| panic!("{case:?}: {e}"))
}

/// Every way of using a row.
fn cases(op: Op) -> Vec<Case> {
    let row = op.row();
    let none = TypeSet::NONE;
    let types: Vec<Type> = match row.types == none {
        true => vec![Type::NONE],
        false => row.types.iter().collect(),
    };
    let memories: &[Mem] = match (row.operands.contains(&Operand::Mem), row.effect) {
        (false, _) => &[Mem::Buffer(0)],
        (true, _) if op == Op::Load => &[
            Mem::Buffer(0),
            Mem::Shared(0),
            Mem::Private(0),
            Mem::Table(0),
        ],
        (true, _) if op == Op::Store => &[Mem::Buffer(0), Mem::Shared(0), Mem::Private(0)],
        (true, _) => &[Mem::Buffer(0), Mem::Shared(0)],
    };
    let mut cases = vec![];
    for ty in types {
        let froms: Vec<Type> = if row.operands.contains(&Operand::Vector) {
            let vectors = TypeSet::VECTORS.iter();
            vectors.filter(|v| v.scalar() == ty.scalar()).collect()
        } else if op == Op::Bitcast {
            let same = TypeSet::NUMERIC.iter();
            same.filter(|from| from.bytes() == ty.bytes()).collect()
        } else if row.operands.contains(&Operand::Any) {
            TypeSet::ALL.iter().collect()
        } else {
            vec![ty]
        };
        for from in froms {
            for &memory in memories {
                for index in [Type::U32, Type::U64] {
                    if index == Type::U64 && !row.operands.contains(&Operand::Index)
                        || matches!(memory, Mem::Table(_)) && ty.lanes() > 1
                    {
                        continue;
                    }
                    for flags in 0..=row.flags {
                        // Flags of coherence are for buffers, kinds of scans end at 2, and so on.
                        let sound = match op {
                            Op::Load | Op::Store => flags == 0,
                            Op::Extract => u32::from(flags) < from.lanes(),
                            _ if op.row().effect == Effect::Collective => {
                                flags & 3 != 3
                                    && (flags & Inst::NATIVE_ORDER == 0
                                        || op == Op::SubgroupAdd && TypeSet::FLOATS.contains(ty))
                            }
                            _ if row.flags == 3 => flags < 3,
                            _ => true,
                        };
                        if sound {
                            cases.push(Case {
                                op,
                                ty,
                                from,
                                memory,
                                index,
                                flags,
                            });
                        }
                    }
                }
            }
        }
    }
    cases
}

#[test]
fn every_row_runs_on_every_type() {
    let mut executor = Executor::new(strict(4));
    executor.options_mut().checks.uninitialized = false;
    executor.options_mut().checks.buffer_races = false;
    executor.options_mut().checks.shared_races = false;
    let mut tried = 0;
    for op in Op::ALL {
        if matches!(op.row().effect, Effect::Block | Effect::Terminator) {
            // What they do is tested beside them; they have no types.
            assert_eq!(op.row().types, TypeSet::NONE);
            continue;
        }
        let cases = cases(op);
        assert!(!cases.is_empty(), "{op}");
        for case in cases {
            let k = uses(case);
            let elem = k.buffers()[0].elem;
            let buffer = Buffer::from_bytes(elem, &vec![1; 3 * elem.bytes() as usize]).unwrap();
            let mut args = vec![];
            if let Some(decl) = k.scalars().first() {
                args.push(Arg::from(crate::types::Const::new(decl.ty, 1).unwrap()));
            }
            args.push(buffer.into());
            let ran = executor.run(&k, [1, 1, 1], &mut args);
            ran.unwrap_or_else(|e| panic!("{case:?}: {e}"));
            tried += 1;
        }
    }
    assert!(tried > 1500, "{tried} cases");
}
