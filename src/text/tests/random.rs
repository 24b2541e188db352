//! Random kernels from the opcode table, and random damage to their texts.

use super::round_trips::round_trip;
use super::*;
use crate::kernel::{
    BufferDecl, Draft, Inst, Mem, Ordering, ParamRef, PrivateDecl, ScalarDecl, SharedDecl,
    SharedLen, TableDecl,
};
use crate::op::{Effect, Form, Makes, Op, Operand};
use crate::types::{Access, Order, Scope, Type, TypeSet};
use crate::verify::{Verifier, verify};

/// Small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.below(from.len())).copied()
    }

    /// Small numbers, powers of two, and anything.
    fn word(&mut self) -> u32 {
        match self.below(4) {
            0 => self.below(4) as u32,
            1 => 1u32 << self.below(32),
            2 => u32::MAX - self.below(3) as u32,
            _ => self.below(1 << 32) as u32,
        }
    }
}

fn declarations(r: &mut Random) -> Draft {
    let mut d = Draft::default();
    d.clear();
    let name = d.intern("random");
    d.name = name.unwrap();
    d.workgroup_size = [1 + r.below(64) as u32, 1 + r.below(4) as u32, 1];
    d.contract = r.below(2) == 0;
    d.subgroup_size = r.pick(&[0, 1, 32, 128]).unwrap();
    for (binding, elem) in (0..).zip(TypeSet::ELEMENTS.iter()) {
        let name = d.intern("b").unwrap();
        let access = r.pick(&[
            Access::Read,
            Access::Write,
            Access::ReadWrite,
            Access::ReadWrite,
        ]);
        d.params.push(ParamRef::Buffer(binding));
        d.buffers.push(BufferDecl {
            name,
            elem,
            access: access.unwrap(),
            may_alias: r.below(2) == 0,
            set: r.word(),
            binding,
        });
    }
    for (number, ty) in (0..).zip(TypeSet::ALL.iter()) {
        let name = d.intern("s").unwrap();
        let at = r.below(d.params.len() + 1);
        // In any place among the buffers, the scalars in order.
        let after = d
            .params
            .iter()
            .rposition(|p| matches!(p, ParamRef::Scalar(_)));
        let at = at.max(after.map_or(0, |p| p + 1));
        d.params.insert(at, ParamRef::Scalar(number));
        d.scalars.push(ScalarDecl { name, ty });
    }
    for elem in TypeSet::ELEMENTS.iter() {
        let name = d.intern("").unwrap();
        let dynamic = elem == Type::F64;
        d.shared.push(SharedDecl {
            name,
            elem,
            len: if dynamic {
                SharedLen::Dynamic
            } else {
                SharedLen::Static(1 + r.below(99) as u32)
            },
            zeroed: r.below(2) == 0,
        });
    }
    for elem in TypeSet::ELEMENTS.iter() {
        let name = d.intern("pü").unwrap();
        d.private.push(PrivateDecl {
            name,
            elem,
            len: 1 + r.below(99) as u32,
        });
    }
    for elem in TypeSet::NUMERIC.iter() {
        let name = d.intern("t").unwrap();
        let start = d.data.len() as u32;
        let len = 1 + r.below(20) as u32;
        let bytes = (0..len * elem.bytes()).map(|_| r.below(256) as u8);
        d.data.extend(bytes);
        d.tables.push(TableDecl {
            name,
            elem,
            start,
            len,
        });
    }
    d
}

/// An instruction of `op` with operands of fitting types; which of them are visible is left to the verifier.
fn instruction(r: &mut Random, d: &mut Draft, op: Op) -> Option<Inst> {
    let row = op.row();
    let t = r
        .pick(&row.types.iter().collect::<Vec<_>>())
        .unwrap_or(Type::NONE);
    let makers = |d: &Draft, var: bool, fits: &dyn Fn(Type) -> bool| -> Vec<u32> {
        (0u32..)
            .zip(&d.insts)
            .filter(|(_, i)| (i.op == Op::Var) == var && fits(i.ty))
            .map(|(n, _)| n)
            .collect()
    };
    let mut words = Vec::new();
    for operand in row.operands {
        let word = match operand {
            Operand::T => r.pick(&makers(d, false, &|ty| ty == t))?,
            Operand::Any => r.pick(&makers(d, false, &|ty| ty != Type::NONE))?,
            Operand::Bool => r.pick(&makers(d, false, &|ty| ty == Type::BOOL))?,
            Operand::U32 => r.pick(&makers(d, false, &|ty| ty == Type::U32))?,
            Operand::Elem => {
                let elem = Type::of(t.scalar()?);
                r.pick(&makers(d, false, &|ty| ty == elem))?
            }
            Operand::Vector => {
                let fits = |ty: Type| ty.lanes() > 1 && ty.scalar() == t.scalar();
                r.pick(&makers(d, false, &fits))?
            }
            Operand::Index => r.pick(&makers(d, false, &|ty| TypeSet::INDEX.contains(ty)))?,
            Operand::Var => r.pick(&makers(d, true, &|ty| ty == t))?,
            Operand::Mem => {
                let at = (0..).zip(&d.buffers).find(|(_, b)| b.elem == t)?.0;
                // Every kind is declared with the same types in the same order; tables have no vectors.
                let tables = d.tables.get(at as usize);
                let table = tables.map_or(Mem::Buffer(at), |_| Mem::Table(at));
                r.pick(&[Mem::Buffer(at), Mem::Shared(at), Mem::Private(at), table])?
                    .word()
            }
            Operand::Buffer => Mem::Buffer(r.below(d.buffers.len()) as u32).word(),
            Operand::Offset if r.below(2) == 0 => 0,
            Operand::Offset => r.word(),
            Operand::Ordering => {
                let orders = [
                    Order::Relaxed,
                    Order::Acquire,
                    Order::Release,
                    Order::AcqRel,
                ];
                let order = r.pick(&orders)?;
                let scope = r.pick(&[Scope::Workgroup, Scope::Device])?;
                Ordering { order, scope }.word()
            }
            Operand::Param => (0..).zip(&d.scalars).find(|(_, s)| s.ty == t)?.0,
            Operand::Bits => {
                let bits = u64::from(r.word()) << 32 | u64::from(r.word());
                let bits = match t.scalar()?.bits() {
                    64 => bits,
                    width => bits & ((1 << width) - 1),
                };
                words.push(bits as u32);
                (bits >> 32) as u32
            }
        };
        words.push(word);
    }
    let ty = match row.makes {
        Makes::Nothing => Type::NONE,
        Makes::T | Makes::Var => t,
        Makes::Bool => Type::BOOL,
        Makes::U32 => Type::U32,
        Makes::U32x4 => Type::U32X4,
    };
    let mut inst = Inst::new(op, ty);
    inst.flags = r.below(256) as u8 & row.flags;
    let side = match row.form {
        Form::Inline => false,
        Form::Side => true,
        Form::Store => words.last() != Some(&0),
    };
    words.resize(words.len().max(3), 0);
    (inst.a, inst.b, inst.c) = (words[0], words[1], words[2]);
    if side {
        if row.form == Form::Store {
            inst.flags |= Inst::OFFSET;
        }
        inst.c = d.side.len() as u32;
        d.side.extend(&words[2..]);
    }
    Some(inst)
}

fn kernel(seed: u64, used: &mut Vec<Op>) -> Kernel {
    let mut r = Random(seed * 2 + 1);
    let mut d = declarations(&mut r);
    let mut v = Verifier::default();
    v.begin();
    v.check.declared(&d);
    let mut push = |d: &mut Draft, inst: Inst, side: usize| {
        let before = v.check.clone();
        let sound = v.check.step(d, d.insts.len(), &inst, &d.side);
        if sound {
            d.insts.push(inst);
            used.push(inst.op);
        } else {
            v.check = before;
            d.side.truncate(side);
        }
        (sound, v.check.depth())
    };
    let mut depth = 0;
    for round in 0..400 {
        let op = match round {
            // A stock of values of every type to begin with.
            0..60 => Op::Const,
            _ => Op::ALL[r.below(Op::ALL.len())],
        };
        // A kernel with barriers or subgroup operations is valid only where control flow is uniform; outside of blocks
        // it is.
        if matches!(op.row().effect, Effect::Barrier | Effect::Collective)
            && (depth > 0 || d.insts.iter().any(|i| i.op == Op::Return))
        {
            continue;
        }
        let side = d.side.len();
        if let Some(inst) = instruction(&mut r, &mut d, op) {
            depth = push(&mut d, inst, side).1;
        }
    }
    while depth > 0 {
        let side = d.side.len();
        for op in [Op::Continuing, Op::End] {
            depth = push(&mut d, Inst::new(op, Type::NONE), side).1;
        }
    }
    verify(d).unwrap_or_else(|e| panic!("seed {seed}: {e}"))
}

#[test]
fn random_kernels_round_trip_and_every_opcode_occurs() {
    let mut used = Vec::new();
    for seed in 0..150 {
        round_trip(&kernel(seed, &mut used));
    }
    for op in Op::ALL {
        assert!(used.contains(&op), "{op}");
    }
}

#[test]
fn damaged_texts_give_an_error_or_a_kernel_that_round_trips() {
    let pieces = [
        "\"",
        "\\",
        ";",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "=",
        "+",
        "-",
        ".",
        "\n",
        "\u{0}",
        "é",
        "🦀",
        "v",
        "v0",
        "var",
        "4294967296",
        "0x",
        "99999999999999999999999",
        "\\u{",
        "end\n",
        "loop\n",
        "if v0\n",
        "kernel k workgroup 1 1 1 {\n",
        "buffer buf0 f32 read set 0 binding 0\n",
        " ",
    ];
    let mut r = Random(7);
    let mut valid = 0;
    let texts: Vec<String> = (0..8)
        .map(|seed| kernel(seed, &mut Vec::new()).to_string())
        .collect();
    for _ in 0..1500 {
        let text = &texts[r.below(texts.len())];
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..1 + r.below(3) {
            let at = r.below(chars.len());
            let end = (at + r.below(6)).min(chars.len());
            let piece = match r.below(3) {
                0 => "",
                _ => pieces[r.below(pieces.len())],
            };
            chars.splice(at..end, piece.chars());
        }
        let damaged: String = chars.into_iter().collect();
        match parse(&damaged) {
            Ok(kernels) => kernels.iter().for_each(|k| {
                valid += 1;
                round_trip(k);
            }),
            Err(e) => {
                let line = damaged.split('\n').nth(e.place.line as usize - 1);
                let columns = line.unwrap_or("").chars().count() + 1;
                assert!((1..=columns).contains(&(e.place.column as usize)), "{e}");
            }
        }
    }
    assert!(valid > 0, "some damage leaves a kernel");
}
