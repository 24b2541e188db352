//! Opcodes that make values of values.

use super::edges::{bytes, rows};
use super::{Unit, carried, is_float, on_elements};
use crate::run::Value;
use kernite::builder::KernelBuilder;
use kernite::kernel::Value as Id;
use kernite::op::{Effect, Makes, Op, Operand};
use kernite::types::{Access, Const, Type, TypeSet};

/// Inputs of a unit at most.
const ROWS: usize = 2048;

/// A unit whose kernel computes one value of elements.
fn unit(
    op: Op,
    ty: Type,
    what: &str,
    ins: &[Type],
    out: Type,
    make: impl FnOnce(&mut KernelBuilder, &[Id]) -> Id,
) -> Unit {
    let kernel = on_elements("main", ins, out, make);
    let rows = rows(ins, ROWS);
    let columns = ins.iter().enumerate();
    let mut args: Vec<Value> = columns
        .map(|(n, &ty)| Value::Bytes(bytes(ty, rows.iter().map(|r| r[n]))))
        .collect();
    let size = carried(out).bytes() as usize;
    args.push(Value::Bytes(vec![0xEE; rows.len() * size]));
    let mut unit = Unit::new(format!("{op} {ty}{what}"), vec![(op, ty)], kernel, args);
    unit.grid = rows.len() as u32 / super::THREADS;
    unit
}

/// What Vulkan lets a driver be off, where kernite takes the driver's instruction.
fn ulps(op: Op, ty: Type) -> u64 {
    match op {
        // Bounds for f32 (Vulkan, Precision and Operation of SPIR-V Instructions): 2.5 for division and what is made
        // of it, of a root the inverse of `InverseSqrt`, which has 2.
        Op::Div | Op::Rcp => 3,
        Op::Sqrt => 3,
        _ => 0,
    }
    .min(if ty.bytes() == 2 { 1 } else { 6 })
}

/// The types of an opcode's value operands where T is `ty`.
fn operands(op: Op, ty: Type) -> Option<Vec<Type>> {
    let of = |operand: &Operand| match operand {
        Operand::T => Some(ty),
        Operand::Bool => Some(Type::BOOL),
        Operand::U32 => Some(Type::U32),
        _ => None,
    };
    op.row().operands.iter().map(of).collect()
}

/// Another builder method of an opcode: the fast forms.
fn fast(op: Op) -> Option<fn(&mut KernelBuilder, &[Id]) -> Id> {
    Some(match op {
        Op::Div => |b, v| b.div_fast(v[0], v[1]),
        Op::Sqrt => |b, v| b.sqrt_fast(v[0]),
        Op::Rsqrt => |b, v| b.rsqrt_fast(v[0]),
        Op::Rcp => |b, v| b.rcp_fast(v[0]),
        Op::Exp => |b, v| b.exp_fast(v[0]),
        Op::Exp2 => |b, v| b.exp2_fast(v[0]),
        Op::Log => |b, v| b.log_fast(v[0]),
        Op::Log2 => |b, v| b.log2_fast(v[0]),
        Op::Pow => |b, v| b.pow_fast(v[0], v[1]),
        Op::Sin => |b, v| b.sin_fast(v[0]),
        Op::Cos => |b, v| b.cos_fast(v[0]),
        Op::Tan => |b, v| b.tan_fast(v[0]),
        Op::Tanh => |b, v| b.tanh_fast(v[0]),
        Op::Erf => |b, v| b.erf_fast(v[0]),
        _ => return None,
    })
}

pub(super) fn units() -> Vec<Unit> {
    let mut units = Vec::new();
    for op in Op::ALL {
        let row = op.row();
        for ty in row.types.iter() {
            match op {
                Op::Const => units.push(constant(ty)),
                Op::Param => units.extend(param(ty)),
                Op::Convert => units.extend(TypeSet::ALL.iter().map(|from| {
                    let mut unit = unit(op, ty, &format!(" of {from}"), &[from], ty, |b, v| {
                        b.convert(v[0], ty)
                    });
                    // To the same type it is a copy.
                    unit.bits = from == ty;
                    unit
                })),
                Op::Bitcast => {
                    let of_size = TypeSet::NUMERIC.iter().filter(|t| t.bytes() == ty.bytes());
                    units.extend(of_size.map(|from| {
                        let what = format!(" of {from}");
                        let mut unit = unit(op, ty, &what, &[from], ty, |b, v| b.bitcast(v[0], ty));
                        unit.bits = true;
                        unit
                    }));
                }
                Op::Pack => {
                    let mut unit =
                        unit(op, ty, "", &[ty, ty], Type::U32, |b, v| b.pack(v[0], v[1]));
                    unit.bits = true;
                    units.push(unit);
                }
                Op::Unpack => {
                    for high in [false, true] {
                        let what = if high { " high" } else { " low" };
                        let mut unit = unit(op, ty, what, &[Type::U32], ty, |b, v| match high {
                            false => b.unpack_low(v[0], ty),
                            true => b.unpack_high(v[0], ty),
                        });
                        unit.bits = true;
                        units.push(unit);
                    }
                }
                Op::Construct2 | Op::Construct4 => units.push(vector(op, ty)),
                Op::Extract => {
                    for lanes in [2u8, 4] {
                        for lane in 0..lanes {
                            units.push(extract(ty, lanes, lane));
                        }
                    }
                }
                Op::Var | Op::VarGet | Op::VarSet => units.push(variable(op, ty)),
                Op::AssumeUniform => units.push(promise(ty)),
                _ => {
                    let Some(ins) = operands(op, ty) else {
                        continue;
                    };
                    if row.effect != Effect::Pure || ins.is_empty() {
                        continue;
                    }
                    let out = match row.makes {
                        Makes::Bool => Type::BOOL,
                        Makes::U32 => Type::U32,
                        _ => ty,
                    };
                    let mut plain = unit(op, ty, "", &ins, out, |b, v| b.apply(op, v));
                    plain.ulps = if is_float(ty) { ulps(op, ty) } else { 0 };
                    plain.bits = matches!(op, Op::Select | Op::Copysign);
                    units.push(plain);
                    if let Some(fast) = fast(op).filter(|_| is_float(ty)) {
                        let mut unit = unit(op, ty, " fast", &ins, out, fast);
                        unit.approximate = true;
                        units.push(unit);
                    }
                    if ins.len() > 1 && is_int_or_min(op, ty) {
                        units.extend(with_constants(op, ty, &ins, out));
                    }
                }
            }
        }
    }
    units.push(builtins());
    units
}

/// Opcodes that look at constant operands.
fn is_int_or_min(op: Op, ty: Type) -> bool {
    match op {
        Op::Div | Op::Rem => !is_float(ty),
        Op::Min | Op::Max | Op::Clamp => is_float(ty),
        Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight | Op::FunnelShl | Op::FunnelShr => {
            true
        }
        Op::BitfieldExtract | Op::BitfieldInsert => true,
        _ => false,
    }
}

/// The same with a constant in the place of the last operand, and of the first.
fn with_constants(op: Op, ty: Type, ins: &[Type], out: Type) -> Vec<Unit> {
    let ones = |ty: Type| u64::MAX >> (64 - ty.bytes() * 8);
    let constants = |ty: Type| {
        let width = u64::from(ty.bytes()) * 8;
        let top = 1u64 << (width - 1);
        let mut bits = vec![0, 1, ones(ty), top, 5, 7, 8, 16, 31, 32, 63, 64];
        bits.retain(|&b| b <= ones(ty));
        bits
    };
    let mut units = Vec::new();
    let places = [ins.len() - 1, 0];
    for place in places {
        let at = ins[place];
        for bits in constants(at) {
            let mut rest = ins.to_vec();
            rest.remove(place);
            let Some(c) = Const::new(at, bits) else {
                continue;
            };
            let what = format!(" with {bits:#x} at {place}");
            units.push(unit(op, ty, &what, &rest, out, |b, v| {
                let mut all = v.to_vec();
                let c = b.constant(c);
                all.insert(place, c);
                b.apply(op, &all)
            }));
        }
    }
    units
}

fn constant(ty: Type) -> Unit {
    let all = super::edges::edges(ty);
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let out = b.buffer("out", carried(ty), Access::Write);
    let zero = b.constant(0u32);
    for (n, &bits) in (0u32..).zip(&all) {
        let c = Const::new(ty, bits).unwrap_or_else(|| panic!("{ty} {bits:#x}"));
        let mut value = b.constant(c);
        if ty == Type::BOOL {
            value = b.convert(value, Type::U32);
        }
        b.store_offset(out, zero, n, value);
    }
    let out = Value::Bytes(vec![0; all.len() * carried(ty).bytes() as usize]);
    let kernel = b.finish().unwrap();
    let mut unit = Unit::new(
        format!("const {ty}"),
        vec![(Op::Const, ty)],
        kernel,
        vec![out],
    );
    unit.bits = true;
    unit
}

fn param(ty: Type) -> Vec<Unit> {
    let make = |bits: u64| {
        let mut b = KernelBuilder::new("main", [1, 1, 1]);
        // Something before and behind it, so that offsets matter.
        b.scalar("before", Type::U8);
        let scalar = b.scalar("it", ty);
        b.scalar("behind", Type::U16);
        let out = b.buffer("out", carried(ty), Access::Write);
        let zero = b.constant(0u32);
        let mut value = b.param(scalar);
        if ty == Type::BOOL {
            value = b.convert(value, Type::U32);
        }
        b.store(out, zero, value);
        let args = vec![
            Value::Scalar(0xA5u8.into()),
            Value::Scalar(Const::new(ty, bits).unwrap()),
            Value::Scalar(0x5AA5u16.into()),
            Value::Bytes(vec![0; carried(ty).bytes() as usize]),
        ];
        let kernel = b.finish().unwrap();
        let mut unit = Unit::new(
            format!("param {ty} {bits:#x}"),
            vec![(Op::Param, ty)],
            kernel,
            args,
        );
        unit.bits = true;
        unit
    };
    let all = super::edges::edges(ty);
    let some = [0, 1, all.len() / 2, all.len() - 1];
    some.into_iter()
        .map(|n| make(all[n.min(all.len() - 1)]))
        .collect()
}

fn vector(op: Op, ty: Type) -> Unit {
    let elem = ty.scalar().map_or(Type::NONE, Type::of);
    let ins = vec![elem; ty.lanes() as usize];
    let mut unit = unit(op, ty, "", &ins, ty, |b, v| b.construct(v));
    unit.bits = true;
    unit
}

fn extract(ty: Type, lanes: u8, lane: u8) -> Unit {
    let ins = vec![ty; lanes as usize];
    let what = format!(" {lane} of {lanes}");
    let mut unit = unit(Op::Extract, ty, &what, &ins, ty, |b, v| {
        let vector = b.construct(v);
        b.extract(vector, lane)
    });
    unit.bits = true;
    unit
}

/// A promise of uniformity that holds: every thread reads the first element.
fn promise(ty: Type) -> Unit {
    let mut b = KernelBuilder::new("main", [super::THREADS, 1, 1]);
    let from = b.buffer("from", carried(ty), Access::ReadWrite);
    let to = b.buffer("to", carried(ty), Access::Write);
    let (i, zero) = (b.global_id(0), b.constant(0u32));
    let mut value = b.load(from, zero);
    if ty == Type::BOOL {
        value = b.convert(value, ty);
    }
    value = b.assume_uniform(value);
    if ty == Type::BOOL {
        value = b.convert(value, Type::U32);
    }
    b.store(to, i, value);
    let kernel = b.finish().unwrap_or_else(|e| panic!("{ty}: {e}"));
    let all = super::edges::edges(ty);
    let size = carried(ty).bytes() as usize;
    let args = vec![
        Value::Bytes(bytes(ty, all.into_iter().rev())),
        Value::Bytes(vec![0xEE; super::THREADS as usize * size]),
    ];
    let op = Op::AssumeUniform;
    let mut unit = Unit::new(format!("{op} {ty}"), vec![(op, ty)], kernel, args);
    unit.bits = true;
    unit
}

/// A variable set within a loop and an `if`.
fn variable(op: Op, ty: Type) -> Unit {
    let mut unit = unit(op, ty, "", &[ty, ty], ty, |b, v| {
        let var = b.var(v[0]);
        let three = b.constant(3u32);
        let zero = b.constant(0u32);
        b.for_range(zero, three, |b, i| {
            let one = b.constant(1u32);
            let second = b.eq(i, one);
            let (x, y) = (v[0], v[1]);
            b.if_else(second, |b| b.set(var, y), |b| b.set(var, x));
            b.when(second, |b| b.break_());
        });
        b.get(var)
    });
    unit.bits = true;
    unit.covers = [Op::Var, Op::VarGet, Op::VarSet].map(|op| (op, ty)).into();
    unit
}

/// Identifiers and sizes of a grid of two workgroups of 4 x 4 x 2.
fn builtins() -> Unit {
    let mut b = KernelBuilder::new("main", [4, 4, 2]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let mut values = vec![b.local_index()];
    for axis in 0..3 {
        values.extend([
            b.global_id(axis),
            b.local_id(axis),
            b.workgroup_id(axis),
            b.workgroup_size(axis),
            b.num_workgroups(axis),
            b.global_size(axis),
        ]);
    }
    let n = b.constant(values.len() as u32);
    let (group, index) = (b.workgroup_id(0), b.local_index());
    let threads = b.constant(32u32);
    let thread = b.mul_add(group, threads, index);
    let first = b.mul(thread, n);
    for (offset, &value) in (0u32..).zip(&values) {
        b.store_offset(out, first, offset, value);
    }
    let covers = [
        Op::GlobalId,
        Op::LocalId,
        Op::WorkgroupId,
        Op::WorkgroupSize,
        Op::NumWorkgroups,
        Op::GlobalSize,
        Op::LocalIndex,
    ];
    let out = Value::Bytes(vec![0; values.len() * 64 * 4]);
    let covers = covers.map(|op| (op, Type::NONE)).into();
    let kernel = b.finish().unwrap();
    let mut unit = Unit::new("built-ins".into(), covers, kernel, vec![out]);
    unit.grid = 2;
    unit
}
