use super::*;
use crate::builder::KernelBuilder;
use crate::kernel::{Kernel, Mem};
use crate::op::{Form, Operand};
use crate::types::{Access, Scalar};
use crate::verify::Verifier;

/// Steps through a body by the thorough checks alone, and by both; gives what each accepts.
fn both(draft: &Draft, insts: &[Inst]) -> [(Vec<bool>, Vec<Made>, crate::kernel::Facts); 2] {
    [false, true].map(|short| {
        let mut v = Verifier::default();
        v.begin();
        v.check.declared(draft);
        let mut draft = draft.clone();
        draft.insts.clear();
        let mut accepted = Vec::new();
        v.check.expect(insts.len());
        for (at, inst) in insts.iter().enumerate() {
            let sound = if short {
                v.check.step(&draft, at, inst, &draft.side)
            } else {
                v.check.thorough(&draft, at, inst, &draft.side)
            };
            accepted.push(sound);
            draft.insts.push(*inst);
        }
        (accepted, v.check.made.clone(), v.check.facts.clone())
    })
}

fn kernel() -> Kernel {
    let mut b = KernelBuilder::new("k", [64, 1, 1]);
    let (x, y) = (
        b.buffer("x", Type::F32, Access::Read),
        b.buffer("y", Type::F32, Access::ReadWrite),
    );
    let (tile, own) = (b.shared("t", Type::F32, 64), b.private("p", Type::F32, 4));
    let table = b.table("c", Type::F32, &[1.0f32, 2.0]);
    let scalar = b.scalar("s", Type::I64);
    let (i, one, flag) = (b.local_id(0), b.constant(1u32), b.constant(true));
    let v = b.load(x, i);
    let sum = b.fma(v, v, v);
    let var = b.var(sum);
    b.store(tile, i, sum);
    b.store(y, i, sum);
    b.store(own, one, sum);
    let more = b.load_offset(tile, i, 3);
    b.when(flag, |b| {
        let now = b.get(var);
        let negated = b.neg(now);
        b.set(var, negated);
        let chosen = b.max(negated, more);
        b.store_offset(y, i, 7, chosen);
    });
    let wide = b.convert(i, Type::U64);
    let from_table = b.load(table, wide);
    let last = b.get(var);
    let less = b.lt(from_table, last);
    let other = b.not(less);
    let (given, amount) = (b.param(scalar), b.convert(last, Type::U32));
    let shifted = b.shl(given, amount);
    b.select(other, shifted, given);
    b.finish().unwrap()
}

/// Values, variables and declarations of every type, some of them in a block that is closed.
fn everything() -> Kernel {
    let mut b = KernelBuilder::new("k", [64, 1, 1]);
    let whole = b.constant(1u32);
    for scalar in Scalar::ALL {
        let ty = Type::of(scalar);
        b.scalar("s", ty);
        let value = b.convert(whole, ty);
        let var = b.var(value);
        if scalar != Scalar::Bool {
            for elem in [1, 2, 4].map(|n| Type::vector(scalar, n).unwrap_or(ty)) {
                b.buffer("r", elem, Access::Read);
                b.buffer("w", elem, Access::Write);
                b.buffer("u", elem, Access::ReadWrite);
            }
            b.shared("t", ty, 4);
            b.private("p", ty, 4);
            b.construct(&[value; 2]);
            b.construct(&[value; 4]);
        }
        let flag = b.constant(true);
        b.when(flag, |b| {
            let inner = b.convert(whole, ty);
            b.set(var, inner);
            b.var(inner);
        });
    }
    b.shared_dynamic("d", Type::F32);
    b.table("c", Type::F32, &[1.0f32, 2.0]);
    b.finish().unwrap()
}

fn element(draft: &Draft, mem: u32) -> Option<Type> {
    match Mem::from_word(mem)? {
        Mem::Buffer(n) => draft.buffers.get(n as usize).map(|d| d.elem),
        Mem::Shared(n) => draft.shared.get(n as usize).map(|d| d.elem),
        Mem::Private(n) => draft.private.get(n as usize).map(|d| d.elem),
        Mem::Table(n) => draft.tables.get(n as usize).map(|d| d.elem),
    }
}

#[test]
fn every_opcode_goes_the_same_way() {
    let kernel = everything();
    let draft = kernel.draft();
    let mut begun = Verifier::default();
    begun.begin();
    begun.check.declared(draft);
    let count = draft.insts.len();
    for (at, inst) in draft.insts.iter().enumerate() {
        assert!(begun.check.step(draft, at, inst, &draft.side), "{inst:?}");
    }
    let made = begun.check.made[..count].to_vec();
    let mut state = 11u64;
    let mut next = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let types: Vec<Type> = (0..=u8::MAX).filter_map(Type::from_code).collect();
    for op in Op::ALL {
        let (mut short_ways, mut refused) = (0, 0);
        let row = op.row();
        for _ in 0..2000 {
            let first = next(made.len());
            // Most operands are as the table has them, and of one type, so that many instructions are sound.
            let from = next(made.len());
            let of = |code: u8| {
                let at = (from..made.len()).find(|&at| made[at].code() == code);
                at.unwrap_or(first) as u32
            };

            let kind = next(4);
            let mem = (kind << 28 | next(if kind == 0 { 110 } else { 15 })) as u32;
            let t = match row.operands.first() {
                Some(Operand::Mem | Operand::Buffer) => element(draft, mem),
                _ => Type::from_code(made[first].code() & 15),
            };
            let t = t.unwrap_or(Type::F32);
            let variable = |made: &Made| made.is_variable_of(t.code());
            let mut words = [0; 6];
            for (word, operand) in words.iter_mut().zip(row.operands) {
                *word = match operand {
                    Operand::T | Operand::Any | Operand::Elem => of(t.code()),
                    Operand::Vector => first as u32,
                    Operand::Bool => of(Type::BOOL.code()),
                    Operand::U32 | Operand::Index => of(Type::U32.code()),
                    Operand::Var => made.iter().position(variable).unwrap_or(first) as u32,
                    Operand::Mem | Operand::Buffer => mem,
                    Operand::Param => next(14) as u32,
                    Operand::Ordering => [0, 1, 256, 257, 258][next(5)],
                    Operand::Offset | Operand::Bits => next(6) as u32,
                };
            }
            if next(3) == 0 {
                words[next(5)] = match next(3) {
                    0 => next(4) as u32,
                    1 => next(made.len() + 2) as u32,
                    _ => (next(1 << 16) as u32).rotate_right(16),
                };
            }
            let flags = match next(4) {
                0 => next(256) as u8,
                1 if op == Op::Store => Inst::OFFSET,
                _ => 0,
            };
            let mut side = draft.side.clone();
            let beside = row.form == Form::Side || op == Op::Store && flags >= Inst::OFFSET;
            if beside {
                side.extend(&words[2..row.words().max(2 + next(5))]);
                words[2] = (begun.check.side_end as usize + next(10) / 9) as u32;
            }
            let inst = Inst {
                op,
                ty: match next(4) {
                    0 => types[next(types.len())],
                    1 => t,
                    _ if row.operands.contains(&Operand::Elem) => {
                        let of = |scalar| Type::vector(scalar, row.operands.len() as u32);
                        t.scalar().and_then(of).unwrap_or(t)
                    }
                    _ => row.makes.of(t),
                },
                flags,
                a: words[0],
                b: words[1],
                c: words[2],
            };
            let (mut short, mut thorough) = (begun.check.clone(), begun.check.clone());
            let block = matches!(op.quick().effect, Effect::Block | Effect::Terminator);
            short_ways += usize::from(!block && short.clone().quick(draft, &inst, &side).is_some());
            let sound = short.step(draft, count, &inst, &side);
            refused += usize::from(!sound);
            assert_eq!(
                sound,
                thorough.thorough(draft, count, &inst, &side),
                "{inst:?}"
            );
            assert_eq!(short.made, thorough.made, "{inst:?}");
            assert_eq!(short.facts, thorough.facts, "{inst:?}");
            assert_eq!(short.faults, thorough.faults, "{inst:?}");
            assert_eq!(short.collective, thorough.collective, "{inst:?}");
            let doubts = |c: &Checker| [c.in_doubt, c.stale, c.relied];
            assert_eq!(doubts(&short), doubts(&thorough), "{inst:?}");
            assert_eq!(short.side_end, thorough.side_end, "{inst:?}");
        }
        assert!(refused > 100, "{op:?}");
        let has_short_way = op.quick().shape != Shape::Other;
        assert_eq!(short_ways > 10, has_short_way, "{op:?}");
    }
}

#[test]
fn the_short_ways_agree_with_the_thorough_checks() {
    let kernel = kernel();
    let draft = kernel.draft();
    let [thorough, short] = both(draft, &draft.insts);
    assert_eq!(thorough, short);
    assert!(short.0.iter().all(|sound| *sound));
    let mut refused = 0;
    for at in 0..draft.insts.len() {
        for field in 0..5 {
            for value in [
                0u32,
                1,
                2,
                3,
                5,
                9,
                63,
                64,
                1 << 28,
                1 << 30,
                3 << 28,
                u32::MAX,
            ] {
                let mut insts = draft.insts.clone();
                let inst = &mut insts[at];
                match field {
                    0 => inst.a = value,
                    1 => inst.b = value,
                    2 => inst.c = value,
                    3 => inst.flags = value as u8,
                    _ => inst.ty = Type::from_code(value as u8).unwrap_or(Type::F64),
                }
                let [thorough, short] = both(draft, &insts);
                assert_eq!(thorough, short, "{at} {inst:?}", inst = insts[at]);
                refused += usize::from(!short.0[at]);
            }
        }
    }
    assert!(refused > 100);
}
