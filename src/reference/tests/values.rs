//! Opcodes through the executor. The values themselves are tested beside the functions of `ops`.

use super::*;
use crate::kernel::Draft;
use crate::kernel::Inst;
use crate::op::{Effect, Form, Makes, Op, Operand};
use crate::reference::Element;
use crate::types::{Const, Type, TypeSet};

fn column<T: Element>(values: impl IntoIterator<Item = T>) -> Buffer {
    values.into_iter().collect::<Vec<T>>().into()
}

/// Every opcode that depends on operands alone is carried out on every type that its row allows.
#[test]
fn every_type_of_every_row_is_supported() {
    let mut tried = 0;
    for op in Op::ALL {
        let row = op.row();
        let words = row
            .operands
            .iter()
            .all(|o| matches!(o, Operand::T | Operand::Any | Operand::Bool | Operand::U32));
        if row.effect != Effect::Pure || !words || row.operands.is_empty() {
            continue;
        }
        for ty in row.types.iter() {
            let froms = match row.operands {
                [Operand::Any] => TypeSet::ALL,
                _ => TypeSet::just(ty),
            };
            for from in froms.iter() {
                if op == Op::Bitcast && (from == Type::BOOL || from.bytes() != ty.bytes()) {
                    continue;
                }
                let mut draft = Draft {
                    workgroup_size: [1; 3],
                    ..Draft::default()
                };
                draft.name = draft.intern("k").unwrap();
                let mut operands = [0; 6];
                for (i, operand) in row.operands.iter().enumerate() {
                    let ty = match operand {
                        Operand::T => ty,
                        Operand::Any => from,
                        Operand::Bool => Type::BOOL,
                        _ => Type::U32,
                    };
                    operands[i] = draft.insts.len() as u32;
                    draft.insts.push(Inst {
                        a: 1,
                        ..Inst::new(Op::Const, ty)
                    });
                }
                let makes = match row.makes {
                    Makes::Bool => Type::BOOL,
                    Makes::U32 => Type::U32,
                    Makes::T | Makes::Var | Makes::Nothing => ty,
                };
                let [a, b, c, ..] = operands;
                let mut inst = Inst {
                    a,
                    b,
                    c,
                    ..Inst::new(op, makes)
                };
                if row.form == Form::Side {
                    inst.c = 0;
                    draft.side.extend(&operands[2..row.operands.len()]);
                }
                draft.insts.push(inst);
                let k = crate::verify::verify(draft).unwrap();
                run(&k, 4, [1, 1, 1], &mut []);
                tried += 1;
            }
        }
    }
    assert!(tried > 200, "{tried} combinations");
}

#[test]
fn operands_reach_their_places() {
    let (a, b) = (column([17u32, 5, 100]), column([5u32, 17, 3]));
    let c = column([2u32, 3, 4]);
    let of = |f: fn(&mut KernelBuilder, &[Value]) -> Value| {
        let out = compute(vec![a.clone(), b.clone(), c.clone()], f);
        out.as_slice::<u32>().unwrap().to_vec()
    };
    assert_eq!(
        of(|b, v| b.sub(v[0], v[1])),
        [12, 5u32.wrapping_sub(17), 97]
    );
    assert_eq!(of(|b, v| b.div(v[0], v[1])), [3, 0, 33]);
    assert_eq!(of(|b, v| b.rem(v[0], v[1])), [2, 5, 1]);
    assert_eq!(of(|b, v| b.mul_add(v[0], v[1], v[2])), [87, 88, 304]);
    assert_eq!(of(|b, v| b.clamp(v[0], v[2], v[1])), [5, 5, 3]);
    assert_eq!(of(|b, v| b.shl(v[0], v[2])), [68, 40, 1600]);
    assert_eq!(
        of(|b, v| b.rotate_right(v[0], v[2])),
        [0x4000_0004, 0xA000_0000, 0x4000_0006]
    );
    assert_eq!(of(|b, v| b.bitfield_extract(v[0], v[2], v[1])), [4, 0, 6]);
    assert_eq!(of(|b, v| b.funnel_shl(v[0], v[1], v[2])), [68, 40, 1600]);
    assert_eq!(
        of(|b, v| b.funnel_shr(v[0], v[1], v[2])),
        [0x4000_0001, 0xA000_0002, 0x4000_0000]
    );
    assert_eq!(of(|b, v| b.lt(v[0], v[1])), [0, 1, 0]);
    assert_eq!(
        of(|b, v| {
            let less = b.lt(v[0], v[1]);
            b.select(less, v[0], v[2])
        }),
        [2, 5, 4]
    );
    let out = compute(vec![a.clone(), b.clone(), c.clone()], |b, v| {
        let three = b.constant(3u32);
        b.bitfield_insert(v[0], v[1], v[2], three)
    });
    // 3 bits of b at c: 17 with 5 at 2, 5 with 1 at 3, 100 with 3 at 4.
    assert_eq!(out.as_slice::<u32>(), Some(&[21, 13, 52][..]));
}

#[test]
fn logic_on_bools() {
    let (a, b) = (column([0u32, 0, 1, 1]), column([0u32, 1, 0, 1]));
    let of = |f: fn(&mut KernelBuilder, Value, Value) -> Value| {
        let out = compute(vec![a.clone(), b.clone()], |b, v| {
            let (p, q) = (b.convert(v[0], Type::BOOL), b.convert(v[1], Type::BOOL));
            f(b, p, q)
        });
        out.as_slice::<u32>().unwrap().to_vec()
    };
    assert_eq!(of(|b, p, q| b.and(p, q)), [0, 0, 0, 1]);
    assert_eq!(of(|b, p, q| b.or(p, q)), [0, 1, 1, 1]);
    assert_eq!(of(|b, p, q| b.xor(p, q)), [0, 1, 1, 0]);
    assert_eq!(of(|b, p, q| b.ne(p, q)), [0, 1, 1, 0]);
    assert_eq!(of(|b, p, q| b.eq(p, q)), [1, 0, 0, 1]);
    assert_eq!(of(|b, p, _| b.not(p)), [1, 1, 0, 0]);
    assert_eq!(of(|b, p, q| b.select(p, q, p)), [0, 0, 0, 1]);
}

#[test]
fn multiplications_and_additions_are_not_contracted() {
    let a = column([f32::from_bits(0x3F80_0800)]);
    let c = column([f32::from_bits(0xBF80_1000)]);
    let of = |f: fn(&mut KernelBuilder, &[Value]) -> Value| {
        let out = compute(vec![a.clone(), c.clone()], f);
        out.as_slice::<f32>().unwrap()[0].to_bits()
    };
    let separate = |b: &mut KernelBuilder, v: &[Value]| {
        let product = b.mul(v[0], v[0]);
        b.add(product, v[1])
    };
    assert_eq!(of(separate), 0);
    assert_eq!(of(|b, v| b.mul_add(v[0], v[0], v[1])), 0);
    assert_eq!(of(|b, v| b.fma(v[0], v[0], v[1])), 0x3380_0000);
    // Allowing contraction changes nothing here.
    let allowed = |b: &mut KernelBuilder, v: &[Value]| {
        b.allow_contraction();
        let product = b.mul(v[0], v[0]);
        b.add(product, v[1])
    };
    assert_eq!(of(allowed), 0);
}

#[test]
fn conversions_and_casts_between_widths() {
    let bits = |b: &Buffer| bytemuck::cast_slice::<u8, u64>(b.bytes()).to_vec();
    let out = compute(vec![column([-1i32, i32::MAX])], |b, v| {
        b.convert(v[0], Type::U64)
    });
    assert_eq!(bits(&out), [u64::MAX, 0x7FFF_FFFF]);
    let out = compute(vec![column([-1.5f32, f32::NAN])], |b, v| {
        b.convert(v[0], Type::I64)
    });
    assert_eq!(bits(&out), [u64::MAX, 0]);
    let out = compute(vec![column([1.0f64, -0.0])], |b, v| {
        b.bitcast(v[0], Type::U64)
    });
    assert_eq!(bits(&out), [0x3FF0_0000_0000_0000, 1 << 63]);
    let out = compute(vec![column([1u64 << 40, 0])], |b, v| {
        let t = b.convert(v[0], Type::BOOL);
        b.convert(t, Type::F64)
    });
    assert_eq!(out.as_slice::<f64>(), Some(&[1.0, 0.0][..]));
    let out = compute(vec![column([16_777_217u32])], |b, v| {
        b.convert(v[0], Type::F32)
    });
    assert_eq!(out.bytes(), 0x4B80_0000u32.to_le_bytes());
}

#[test]
fn constants_arrive_bit_for_bit() {
    for bits in [0x7F80_0001u64, 0xFFFF_FFFF, 0x8000_0000, 1, 0x7F80_0000] {
        let out = compute(vec![column([0u32])], |b, _| {
            b.constant(Const::new(Type::F32, bits).unwrap())
        });
        assert_eq!(out.bytes(), (bits as u32).to_le_bytes());
    }
    let out = compute(vec![column([0u32])], |b, _| {
        b.constant(Const::new(Type::F64, 0xFFF0_0000_0000_0001).unwrap())
    });
    assert_eq!(out.bytes(), 0xFFF0_0000_0000_0001u64.to_le_bytes());
}
