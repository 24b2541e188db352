//! Kernels that hold every opcode on every type it has, with operands in registers and constants in every place: what an
//! assembler must accept. [`covered`] says what they hold.

use kernite::builder::{KernelBuilder, Memory, Scan};
use kernite::kernel::{Kernel, Ordering, Value};
use kernite::op::{Effect, Makes, Op, Operand, Row};
use kernite::types::{Access, Const, Order, Scope, Type, TypeSet};
use std::collections::BTreeSet;

/// A constant of the type.
fn constant(b: &mut KernelBuilder, ty: Type, bits: u64) -> Value {
    let width = ty.scalar().map_or(64, |s| s.bits());
    let bits = bits & (u64::MAX >> (64 - width));
    b.constant(Const::new(ty, bits).expect("the bits of the type"))
}

/// Bit patterns that instructions treat apart.
fn specials(ty: Type) -> &'static [u64] {
    match ty {
        Type::BOOL => &[0, 1],
        Type::F16 => &[0, 0x8000, 0x3C00, 0x7C00, 0x7E01, 1],
        Type::BF16 => &[0, 0x8000, 0x3F80, 0x7F80, 0x7FC1, 1],
        Type::F32 => &[0, 0x8000_0000, 0x3F80_0000, 0xFF80_0000, 0x7F80_0001, 1],
        Type::F64 => &[0, 1 << 63, 0x3FF << 52, 0xFFF << 52, 0x7FF << 52 | 1, 1],
        Type::I8 | Type::U8 => &[0, 1, 7, 8, 0x7F, 0x80, 0xFF],
        Type::I16 | Type::U16 => &[0, 1, 15, 16, 0xFF, 0x7FFF, 0x8000, 0xFFFF],
        Type::I32 | Type::U32 => &[0, 1, 31, 32, 256, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF],
        _ => &[
            0,
            1,
            63,
            64,
            0xFFFF_FFFF,
            u64::MAX >> 1,
            1 << 63,
            u64::MAX,
            99_999_999_999_999,
        ],
    }
}

type Operation<'f> = &'f dyn Fn(&mut KernelBuilder, &[Value]) -> Value;

/// What memory holds of a value.
fn element(ty: Type) -> Type {
    if ty == Type::BOOL { Type::U32 } else { ty }
}

/// One kernel of an operation: on registers, then on constants in each place and in all of them.
fn kernel(name: &str, operands: &[Type], makes: Type, contract: bool, f: Operation<'_>) -> Kernel {
    let mut b = KernelBuilder::new(name, [64, 1, 1]);
    if contract {
        b.allow_contraction();
    }
    let buffers: Vec<_> = operands
        .iter()
        .map(|&ty| b.buffer("x", element(ty), Access::Read))
        .collect();
    let out = b.buffer("out", element(makes), Access::ReadWrite);
    let i = b.global_id(0);
    let zero = b.constant(0u32);
    let registers: Vec<Value> = operands
        .iter()
        .zip(&buffers)
        .map(|(&ty, &buffer)| {
            let x = b.load(buffer, i);
            if ty == Type::BOOL { b.ne(x, zero) } else { x }
        })
        .collect();
    let store = |b: &mut KernelBuilder, x: &[Value]| {
        let v = f(b, x);
        let v = if makes == Type::BOOL {
            b.convert(v, Type::U32)
        } else {
            v
        };
        b.store(out, i, v);
    };
    store(&mut b, &registers);
    for (place, &ty) in operands.iter().enumerate() {
        if ty.lanes() > 1 {
            return b.finish().expect("a valid kernel");
        }
        for &bits in specials(ty) {
            let mut x = registers.clone();
            let c = constant(&mut b, ty, bits);
            x[place] = c;
            store(&mut b, &x);
            if bits == 1 {
                // The same constant, but not as an operand that emitters can look through.
                x[place] = b.assume_uniform(c);
                store(&mut b, &x);
            }
        }
    }
    for k in 0..4 {
        let x: Vec<Value> = operands
            .iter()
            .enumerate()
            .map(|(place, &ty)| {
                let all = specials(ty);
                let bits = all[(k * (place + 1) + place) % all.len()];
                constant(&mut b, ty, bits)
            })
            .collect();
        store(&mut b, &x);
    }
    b.finish().expect("a valid kernel")
}

/// Whether [`KernelBuilder::apply`] takes a row.
fn is_plain(row: &Row) -> bool {
    row.effect == Effect::Pure
        && !row.operands.is_empty()
        && row
            .operands
            .iter()
            .all(|o| matches!(o, Operand::T | Operand::Bool | Operand::U32))
        && (row.makes != Makes::T || row.operands.contains(&Operand::T))
}

/// The opcodes on values alone.
pub fn values(contract: bool) -> Vec<Kernel> {
    let mut all = Vec::new();
    for op in Op::ALL {
        let row = op.row();
        if !is_plain(row) {
            continue;
        }
        for ty in row.types.iter() {
            let operands: Vec<Type> = row
                .operands
                .iter()
                .map(|o| match o {
                    Operand::Bool => Type::BOOL,
                    Operand::U32 => Type::U32,
                    _ => ty,
                })
                .collect();
            let name = format!("{op}_{ty}");
            let makes = row.makes.of(ty);
            all.push(kernel(&name, &operands, makes, contract, &|b, x| {
                b.apply(op, x)
            }));
        }
    }
    type Fast = fn(&mut KernelBuilder, Value) -> Value;
    let fast: [(&str, Fast); 12] = [
        ("exp", KernelBuilder::exp_fast),
        ("exp2", KernelBuilder::exp2_fast),
        ("log", KernelBuilder::log_fast),
        ("log2", KernelBuilder::log2_fast),
        ("sin", KernelBuilder::sin_fast),
        ("cos", KernelBuilder::cos_fast),
        ("tan", KernelBuilder::tan_fast),
        ("tanh", KernelBuilder::tanh_fast),
        ("erf", KernelBuilder::erf_fast),
        ("sqrt", KernelBuilder::sqrt_fast),
        ("rsqrt", KernelBuilder::rsqrt_fast),
        ("rcp", KernelBuilder::rcp_fast),
    ];
    for ty in TypeSet::FLOATS.iter() {
        for (name, f) in fast {
            let name = format!("{name}_fast_{ty}");
            all.push(kernel(&name, &[ty], ty, contract, &|b, x| f(b, x[0])));
        }
        let name = format!("pow_fast_{ty}");
        all.push(kernel(&name, &[ty, ty], ty, contract, &|b, x| {
            b.pow_fast(x[0], x[1])
        }));
        let name = format!("div_fast_{ty}");
        all.push(kernel(&name, &[ty, ty], ty, contract, &|b, x| {
            b.div_fast(x[0], x[1])
        }));
    }
    for ty in TypeSet::HALVES.iter() {
        let name = format!("unpack_{ty}");
        all.push(kernel(&name, &[Type::U32], ty, contract, &|b, x| {
            let (low, high) = (b.unpack_low(x[0], ty), b.unpack_high(x[0], ty));
            b.max(low, high)
        }));
    }
    for from in TypeSet::ALL.iter() {
        let name = format!("var_{from}");
        all.push(kernel(&name, &[from, from], from, contract, &|b, x| {
            let v = b.var(x[0]);
            b.get(v);
            b.set(v, x[1]);
            b.get(v)
        }));
        for to in TypeSet::ALL.iter() {
            let name = format!("convert_{from}_{to}");
            all.push(kernel(&name, &[from], to, contract, &|b, x| {
                b.convert(x[0], to)
            }));
            if from != Type::BOOL && from.bytes() == to.bytes() {
                let name = format!("bitcast_{from}_{to}");
                all.push(kernel(&name, &[from], to, contract, &|b, x| {
                    b.bitcast(x[0], to)
                }));
            }
        }
    }
    for ty in TypeSet::NUMERIC.iter() {
        for lanes in [2, 4] {
            let vector = ty.scalar().and_then(|s| Type::vector(s, lanes));
            let vector = vector.expect("a vector type");
            let lanes = lanes as usize;
            let name = format!("construct{lanes}_{ty}");
            all.push(kernel(&name, &[ty, ty], vector, contract, &|b, x| {
                b.construct(&[x[0], x[1], x[1], x[0]][..lanes])
            }));
            let name = format!("extract{lanes}_{ty}");
            all.push(kernel(&name, &[vector], ty, contract, &|b, x| {
                let lane = b.extract(x[0], 1);
                let last = b.extract(x[0], lanes as u8 - 1);
                b.add(lane, last)
            }));
        }
    }
    all
}

/// The subgroup's opcodes, in workgroups whose last subgroup is full, partial, or the only one.
pub fn subgroups() -> Vec<Kernel> {
    type Shuffle = fn(&mut KernelBuilder, Value, Value) -> Value;
    type Reduce = fn(&mut KernelBuilder, Value, Scan) -> Value;
    let shuffles: [(Op, Shuffle); 5] = [
        (Op::Shuffle, KernelBuilder::shuffle),
        (Op::ShuffleXor, KernelBuilder::shuffle_xor),
        (Op::ShuffleUp, KernelBuilder::shuffle_up),
        (Op::ShuffleDown, KernelBuilder::shuffle_down),
        (Op::Broadcast, KernelBuilder::broadcast),
    ];
    let reductions: [(Op, Reduce); 7] = [
        (Op::SubgroupAdd, KernelBuilder::subgroup_add),
        (Op::SubgroupAdd, KernelBuilder::subgroup_add_native_order),
        (Op::SubgroupMin, KernelBuilder::subgroup_min),
        (Op::SubgroupMax, KernelBuilder::subgroup_max),
        (Op::SubgroupAnd, KernelBuilder::subgroup_and),
        (Op::SubgroupOr, KernelBuilder::subgroup_or),
        (Op::SubgroupXor, KernelBuilder::subgroup_xor),
    ];
    let mut all = Vec::new();
    for size in [[64, 1, 1], [20, 1, 1], [5, 3, 4]] {
        for ty in TypeSet::ALL.iter() {
            let name = format!("subgroup_{}_{ty}", size[0]);
            let mut b = KernelBuilder::new(&name, size);
            let out = b.buffer("out", element(ty), Access::ReadWrite);
            let word = b.buffer("word", Type::U32, Access::ReadWrite);
            let i = b.global_id(0);
            let zero = b.constant(0u32);
            let mut x = b.load(out, i);
            if ty == Type::BOOL {
                x = b.ne(x, zero);
            }
            let lane = b.load(word, i);
            let beyond = b.constant(32u32);
            let near = b.constant(3u32);
            let mut results = Vec::new();
            let c = constant(&mut b, ty, 1);
            for (_, shuffle) in shuffles {
                for value in [x, c] {
                    for by in [lane, near, beyond] {
                        results.push(shuffle(&mut b, value, by));
                    }
                }
            }
            for (op, reduce) in reductions {
                if op.row().types.contains(ty) {
                    for scan in [Scan::Reduce, Scan::Inclusive, Scan::Exclusive] {
                        results.push(reduce(&mut b, x, scan));
                        results.push(reduce(&mut b, c, scan));
                    }
                }
            }
            if ty == Type::BOOL {
                let ballot = b.ballot(x);
                for lane in [0, 3] {
                    let bits = b.extract(ballot, lane);
                    b.store(word, i, bits);
                }
                results.push(b.any(x));
                results.push(b.all(x));
                results.push(b.elect());
                results.push(b.any(c));
                b.subgroup_barrier();
            }
            for result in results {
                let result = if ty == Type::BOOL {
                    b.convert(result, Type::U32)
                } else {
                    result
                };
                b.store(out, i, result);
            }
            all.push(b.finish().expect("a valid kernel"));
        }
    }
    all
}

/// Loads, stores, parameters, lengths and tables of every element.
pub fn memory() -> Vec<Kernel> {
    let mut all = Vec::new();
    for ty in TypeSet::ELEMENTS.iter() {
        for index in [Type::U32, Type::U64] {
            let name = format!("memory_{ty}_{index}");
            let mut b = KernelBuilder::new(&name, [8, 4, 2]);
            let read = b.buffer("read", ty, Access::Read);
            let write = b.buffer("write", ty, Access::Write);
            let both = b.buffer("both", ty, Access::ReadWrite);
            let shared = b.shared("shared", ty, 100);
            let zeroed = b.shared_zeroed("zeroed", ty, 33);
            let dynamic = b.shared_dynamic("dynamic", ty);
            let private = b.private("private", ty, 50);
            let scalar = ty.scalar().map_or(Type::U32, Type::of);
            let table: Vec<Const> = (1..=40).filter_map(|n| Const::new(scalar, n)).collect();
            let table = b.table("table", scalar, &table);
            let argument = b.scalar("argument", scalar);
            let flag = b.scalar("flag", Type::BOOL);
            let lengths = [b.array_length(both), b.array_length_u64(read)];
            let flag = b.param(flag);
            let argument = b.param(argument);
            let place = b.local_index();
            let place = b.convert(place, index);
            let far = b.array_length(read);
            let far = b.convert(far, index);
            let one = constant(&mut b, index, 1);
            let great = constant(&mut b, index, u64::MAX);
            let alias = b.assume_uniform(one);
            b.when(flag, |b| {
                for at in [place, far, one, great, alias] {
                    for offset in [0, 7, 0x0FFF_FFFF, u32::MAX] {
                        let flags = if offset == 7 { 0..4 } else { 0..1 };
                        for flags in flags {
                            let x = b.load_with(read, at, offset, flags);
                            b.store_with(write, at, offset, x, flags);
                            let x = b.load_with(both, at, offset, flags);
                            b.store_with(both, at, offset, x, flags);
                        }
                        let x = b.load_offset(dynamic, at, offset);
                        b.store_offset(dynamic, at, offset, x);
                    }
                }
                for at in [place, far, one, alias] {
                    for offset in [0, 1, 20] {
                        let x = b.load_offset(shared, at, offset);
                        b.store_offset(zeroed, at, offset, x);
                        let x = b.load_offset(zeroed, at, offset);
                        b.store_offset(private, at, offset, x);
                        let x = b.load_offset(private, at, offset);
                        b.store_offset(shared, at, offset, x);
                        let mut x = b.load_offset(table, at, offset);
                        let constants = if at == place { specials(scalar) } else { &[1] };
                        for &bits in constants {
                            let c = constant(b, scalar, bits);
                            let sum = b.max(c, argument);
                            let y = match ty.lanes() {
                                1 => c,
                                2 => b.construct(&[c, x]),
                                _ => b.construct(&[x, c, sum, c]),
                            };
                            x = sum;
                            b.store(both, place, y);
                            b.store(shared, place, y);
                        }
                    }
                }
                if ty.lanes() == 1 {
                    for length in lengths {
                        let length = b.convert(length, ty);
                        b.store(both, place, length);
                    }
                    b.store(both, place, argument);
                }
            });
            all.push(b.finish().expect("a valid kernel"));
        }
    }
    // More tables than constant memory holds.
    let mut b = KernelBuilder::new("tables", [64, 1, 1]);
    let out = b.buffer("out", Type::F64, Access::ReadWrite);
    let i = b.local_index();
    for n in 0..10 {
        let table = b.table("table", Type::F64, &[f64::from(n); 1000]);
        let x = b.load(table, i);
        b.store(out, i, x);
    }
    all.push(b.finish().expect("a valid kernel"));
    all
}

/// Every atomic with every order and scope it takes.
pub fn atomics() -> Vec<Kernel> {
    type Modify = fn(&mut KernelBuilder, Memory, Value, u32, Value, Ordering) -> Value;
    let modify: [(Op, Modify); 8] = [
        (Op::AtomicAdd, |b, m, i, o, v, s| {
            b.atomic_add_with(m, i, o, v, s)
        }),
        (Op::AtomicSub, |b, m, i, o, v, s| {
            b.atomic_sub_with(m, i, o, v, s)
        }),
        (Op::AtomicMin, |b, m, i, o, v, s| {
            b.atomic_min_with(m, i, o, v, s)
        }),
        (Op::AtomicMax, |b, m, i, o, v, s| {
            b.atomic_max_with(m, i, o, v, s)
        }),
        (Op::AtomicAnd, |b, m, i, o, v, s| {
            b.atomic_and_with(m, i, o, v, s)
        }),
        (Op::AtomicOr, |b, m, i, o, v, s| {
            b.atomic_or_with(m, i, o, v, s)
        }),
        (Op::AtomicXor, |b, m, i, o, v, s| {
            b.atomic_xor_with(m, i, o, v, s)
        }),
        (Op::AtomicExchange, |b, m, i, o, v, s| {
            b.atomic_exchange_with(m, i, o, v, s)
        }),
    ];
    let has = |op: Op, ty: Type| op.row().types.contains(ty);
    let mut all = Vec::new();
    for ty in TypeSet::INTS_WIDE.or(TypeSet::FLOATS_WIDE).iter() {
        for in_shared in [false, true] {
            let mut b = KernelBuilder::new(&format!("atomic_{ty}_{in_shared}"), [64, 1, 1]);
            let buffer = b.buffer("buffer", ty, Access::ReadWrite);
            let shared = b.shared("shared", ty, 100);
            let memory: Memory = if in_shared {
                shared.into()
            } else {
                buffer.into()
            };
            let i = b.local_index();
            let far = b.array_length(buffer);
            let three = b.constant(3u32);
            let register = b.load(buffer, i);
            let last = specials(ty).last().copied().unwrap_or(0);
            let c = constant(&mut b, ty, last);
            let orders = [
                Order::Relaxed,
                Order::Acquire,
                Order::Release,
                Order::AcqRel,
            ];
            for order in orders {
                for scope in [Scope::Workgroup, Scope::Device] {
                    let o = Ordering { order, scope };
                    for (at, offset) in [(i, 0), (far, 9), (three, 9)] {
                        let mut results = Vec::new();
                        if has(Op::AtomicLoad, ty)
                            && matches!(order, Order::Relaxed | Order::Acquire)
                        {
                            results.push(b.atomic_load(memory, at, offset, o));
                        }
                        for x in [register, c] {
                            if has(Op::AtomicStore, ty)
                                && matches!(order, Order::Relaxed | Order::Release)
                            {
                                b.atomic_store(memory, at, offset, x, o);
                            }
                            for (op, modify) in modify {
                                if has(op, ty) {
                                    results.push(modify(&mut b, memory, at, offset, x, o));
                                    // And once without anybody who wants to know.
                                    modify(&mut b, memory, at, offset, x, o);
                                }
                            }
                            if has(Op::AtomicCompareExchange, ty) {
                                let old =
                                    b.atomic_compare_exchange_with(memory, at, offset, c, x, o);
                                results.push(old);
                            }
                        }
                        for result in results {
                            b.store(buffer, i, result);
                        }
                    }
                }
            }
            b.memory_fence(Scope::Workgroup);
            b.memory_fence(Scope::Device);
            b.workgroup_barrier();
            all.push(b.finish().expect("a valid kernel"));
        }
    }
    all
}

/// The built-ins in workgroups of different shapes, shared memory above 48 KiB, control flow, and names.
pub fn shapes() -> Vec<Kernel> {
    let mut all = Vec::new();
    for size in [
        [1, 1, 1],
        [64, 1, 1],
        [1, 8, 1],
        [1, 1, 64],
        [4, 4, 4],
        [2, 1, 3],
    ] {
        let name = format!("builtin.{}-{}é{}", size[0], size[1], size[2]);
        let mut b = KernelBuilder::new(&name, size);
        let out = b.buffer("out", Type::U32, Access::Write);
        let large = b.shared_zeroed("large", Type::U64, 7000);
        let bytes = b.shared_zeroed("bytes", Type::U8, 3);
        let dynamic = b.shared_dynamic("dynamic", Type::F64);
        let mut ids = vec![
            b.local_index(),
            b.subgroup_size(),
            b.lane(),
            b.subgroup_id(),
        ];
        for axis in 0..3 {
            ids.push(b.global_id(axis));
            ids.push(b.local_id(axis));
            ids.push(b.workgroup_id(axis));
            ids.push(b.workgroup_size(axis));
            ids.push(b.num_workgroups(axis));
            ids.push(b.global_size(axis));
        }
        for id in ids {
            b.store(out, id, id);
            let x = b.load(bytes, id);
            b.store(bytes, id, x);
            let x = b.load(dynamic, id);
            b.store(dynamic, id, x);
            let x = b.load(large, id);
            b.store(large, id, x);
        }
        all.push(b.finish().expect("a valid kernel"));
    }
    for name in [
        "$L1", "WARP_SZ", "_", "a.b", "1a", "%k", "$t0", "$m0", "$p0", "k$1",
    ] {
        let mut b = KernelBuilder::new(name, [64, 1, 1]);
        let out = b.buffer(name, Type::U32, Access::ReadWrite);
        let table = b.table(name, Type::U32, &[1u32, 2]);
        let flag = b.scalar(name, Type::BOOL);
        let flag = b.param(flag);
        let i = b.local_id(0);
        let n = b.load(table, i);
        b.for_range(i, n, |b, k| {
            b.if_else(
                flag,
                |b| {
                    b.store(out, k, i);
                    b.continue_();
                },
                |b| b.when(flag, |b| b.break_()),
            );
        });
        b.loop_(|b| b.when(flag, |b| b.return_()));
        all.push(b.finish().expect("a valid kernel"));
    }
    all
}

/// Everything.
pub fn all() -> Vec<Kernel> {
    let parts = [values(false), subgroups(), memory(), atomics(), shapes()];
    parts.into_iter().flatten().collect()
}

/// Which opcodes the kernels hold, and on which types; [`Type::NONE`] for those without.
pub fn covered(kernels: &[Kernel]) -> BTreeSet<(Op, Type)> {
    kernels.iter().flat_map(crate::coverage::pairs).collect()
}
