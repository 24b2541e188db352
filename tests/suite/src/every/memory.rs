//! Memory, atomics, barriers, control flow; accesses out of bounds.

use super::edges::{bytes, edges};
use super::{THREADS, Unit, is_float};
use crate::run::Value;
use kernite::builder::{KernelBuilder, Memory};
use kernite::kernel::{Bounds, Inst, Ordering, Value as Id};
use kernite::op::Op;
use kernite::types::{Access, Const, Order, Scope, Type, TypeSet};

/// As many elements as threads, every edge of the scalar among them.
fn elements(ty: Type, n: usize) -> Vec<u8> {
    let scalar = ty.scalar().map_or(Type::NONE, Type::of);
    let edges = edges(scalar);
    let lanes = ty.lanes() as usize;
    bytes(scalar, (0..n * lanes).map(|k| edges[k % edges.len()]))
}

pub(super) fn units() -> Vec<Unit> {
    let mut units = Vec::new();
    for ty in TypeSet::ELEMENTS.iter() {
        units.push(copies(ty));
        units.extend(accesses(ty));
        units.extend(outside(ty));
    }
    for ty in TypeSet::NUMERIC.iter() {
        units.push(table(ty));
    }
    for ty in Op::AtomicLoad.row().types.iter().chain([Type::F64]) {
        for shared in [false, true] {
            units.push(atomics(ty, shared, Bounds::Unchecked));
            units.push(atomics(ty, shared, Bounds::Checked));
        }
    }
    units.push(lengths(Type::U32));
    units.push(lengths(Type::U64));
    units.push(control());
    units
}

/// From a buffer through shared and private memory to another.
fn copies(ty: Type) -> Unit {
    let mut b = KernelBuilder::new("main", [THREADS, 1, 1]);
    let from = b.buffer("from", ty, Access::Read);
    let to = b.buffer("to", ty, Access::Write);
    let tile = b.shared("tile", ty, THREADS + 1);
    let own = b.private("own", ty, 3);
    let i = b.global_id(0);
    let lane = b.local_index();
    let x = b.load(from, i);
    b.store_offset(tile, lane, 1, x);
    b.workgroup_barrier();
    let last = b.constant(THREADS);
    let other = b.sub(last, lane);
    let x = b.load(tile, other);
    let two = b.constant(2u64);
    b.store(own, two, x);
    let zero = b.constant(0u32);
    let x = b.load_offset(own, zero, 2);
    b.store(to, i, x);
    let n = 2 * THREADS as usize;
    let args = vec![
        Value::Bytes(elements(ty, n)),
        Value::Bytes(vec![0; n * ty.bytes() as usize]),
    ];
    let covers = vec![
        (Op::Load, ty),
        (Op::Store, ty),
        (Op::WorkgroupBarrier, Type::NONE),
    ];
    let mut unit = Unit::new(format!("copies of {ty}"), covers, b.finish().unwrap(), args);
    unit.grid = 2;
    unit.bits = true;
    unit
}

/// Volatile and coherent ones.
fn accesses(ty: Type) -> Vec<Unit> {
    let flags = [Inst::VOLATILE, Inst::COHERENT];
    let make = |flags: u8| {
        let mut b = KernelBuilder::new("main", [THREADS, 1, 1]);
        let from = b.buffer("from", ty, Access::ReadWrite);
        let to = b.buffer("to", ty, Access::ReadWrite);
        let i = b.global_id(0);
        let x = b.load_with(from, i, 0, flags);
        b.store_with(to, i, 1, x, flags);
        b.memory_fence(Scope::Workgroup);
        b.memory_fence(Scope::Device);
        let n = THREADS as usize;
        let args = vec![
            Value::Bytes(elements(ty, n)),
            Value::Bytes(vec![0; (n + 1) * ty.bytes() as usize]),
        ];
        let covers = vec![(Op::MemoryFence, Type::NONE)];
        let name = format!("accesses of {ty} with flags {flags}");
        let mut unit = Unit::new(name, covers, b.finish().unwrap(), args);
        unit.bits = true;
        unit
    };
    flags.map(make).into()
}

fn table(ty: Type) -> Unit {
    let all = edges(ty);
    let constants: Vec<Const> = all.iter().filter_map(|&c| Const::new(ty, c)).collect();
    let mut b = KernelBuilder::new("main", [THREADS, 1, 1]);
    let table = b.table("table", ty, &constants);
    let to = b.buffer("to", ty, Access::Write);
    let i = b.global_id(0);
    let n = b.constant(constants.len() as u32);
    let index = b.rem(i, n);
    let x = b.load(table, index);
    b.store(to, i, x);
    let bytes = 4 * THREADS as usize * ty.bytes() as usize;
    let args = vec![Value::Bytes(vec![0; bytes])];
    let name = format!("table of {ty}");
    let mut unit = Unit::new(name, vec![(Op::Load, ty)], b.finish().unwrap(), args);
    unit.grid = 4;
    unit.bits = true;
    unit
}

/// Every atomic of a type by every thread on elements of its own, in every order and scope.
fn atomics(ty: Type, shared: bool, bounds: Bounds) -> Unit {
    let mut b = KernelBuilder::new("main", [THREADS, 1, 1]);
    let buffer = b.buffer("buffer", ty, Access::ReadWrite);
    let operands = b.buffer("operands", ty, Access::Read);
    let out = b.buffer("out", ty, Access::ReadWrite);
    let tile = b.shared_zeroed("tile", ty, 4 * THREADS);
    let place: Memory = if shared { tile.into() } else { buffer.into() };
    let (lane, four) = (b.local_index(), b.constant(4u32));
    let first = b.mul(lane, four);
    let i = b.global_id(0);
    let (x, y) = (b.load(operands, i), b.load_offset(operands, i, THREADS));
    if shared {
        let start = b.load(buffer, first);
        b.store(tile, first, start);
    }
    let has = |op: Op| op.row().types.contains(ty);
    let orders = [
        (Order::Relaxed, Scope::Device),
        (Order::Acquire, Scope::Workgroup),
        (Order::Release, Scope::Workgroup),
        (Order::AcqRel, Scope::Device),
    ];
    let mut made: Vec<Id> = Vec::new();
    for (order, scope) in orders {
        let o = Ordering { order, scope };
        if has(Op::AtomicLoad) && matches!(order, Order::Relaxed | Order::Acquire) {
            made.push(b.atomic_load(place, first, 0, o));
        }
        if has(Op::AtomicAdd) {
            made.push(b.atomic_add_with(place, first, 0, x, o));
        }
        if has(Op::AtomicMin) {
            made.push(b.atomic_min_with(place, first, 0, y, o));
            made.push(b.atomic_max_with(place, first, 1, x, o));
        }
        if has(Op::AtomicExchange) {
            made.push(b.atomic_exchange_with(place, first, 2, y, o));
        }
        if has(Op::AtomicSub) {
            made.push(b.atomic_sub_with(place, first, 0, y, o));
            made.push(b.atomic_and_with(place, first, 1, y, o));
            made.push(b.atomic_or_with(place, first, 1, x, o));
            made.push(b.atomic_xor_with(place, first, 2, x, o));
            made.push(b.atomic_compare_exchange_with(place, first, 2, x, y, o));
            made.push(b.atomic_compare_exchange_with(place, first, 0, y, x, o));
        }
        if has(Op::AtomicStore) && matches!(order, Order::Relaxed | Order::Release) {
            b.atomic_store(place, first, 3, x, o);
        }
    }
    let each = b.constant(64u32);
    let row = b.mul(lane, each);
    let n = made.len() as u32;
    for (k, &value) in (0u32..).zip(&made) {
        b.store_offset(out, row, k, value);
    }
    for k in 0..4 {
        let value = b.load_offset(place, first, k);
        b.store_offset(out, row, n + k, value);
    }
    let n = THREADS as usize;
    let args = vec![
        Value::Bytes(elements(ty, 4 * n)),
        Value::Bytes(elements(ty, 2 * n)),
        Value::Bytes(vec![0; 64 * n * ty.bytes() as usize]),
    ];
    let covers = Op::ALL
        .into_iter()
        .filter(|op| (Op::AtomicLoad..=Op::AtomicCompareExchange).contains(op) && has(*op))
        .map(|op| (op, ty))
        .collect();
    let name = format!("atomics of {ty}, shared {shared}, {bounds:?}");
    let mut unit = Unit::new(name, covers, b.finish().unwrap(), args);
    unit.bounds = bounds;
    unit.bits = !is_float(ty);
    unit
}

/// Elements of the arrays that are read and written beside.
const LEN: u32 = 70;

/// Indices around an array of [`LEN`], and around the powers of two where sums wrap.
fn indices(wide: bool) -> Vec<u64> {
    let mut all = Vec::new();
    let len = u64::from(LEN);
    for near in [0, 4, len - 4, len, 1 << 31, 1 << 32] {
        for by in 0..6u64 {
            all.extend([near + by, u64::wrapping_sub(near, by)]);
        }
    }
    if !wide {
        all.iter_mut().for_each(|i| *i &= 0xFFFF_FFFF);
    }
    all.resize(2 * THREADS as usize, 3);
    all
}

/// Loads, stores and atomics at such indices, with and without offsets: of a buffer, of arrays.
fn outside(ty: Type) -> Vec<Unit> {
    let mut units = Vec::new();
    for (wide, offset) in [(false, 0), (false, 5), (true, 0), (true, u32::MAX)] {
        let mut b = KernelBuilder::new("main", [THREADS, 1, 1]);
        let index_ty = if wide { Type::U64 } else { Type::U32 };
        let at = b.buffer("at", index_ty, Access::Read);
        let data = b.buffer("data", ty, Access::Read);
        let written = b.buffer("written", ty, Access::ReadWrite);
        let out = b.buffer("out", ty, Access::Write);
        let tile = b.shared_zeroed("tile", ty, LEN);
        let own = b.private("own", ty, LEN);
        let i = b.global_id(0);
        let index = b.load(at, i);
        let x = b.load_offset(data, index, offset);
        let four = b.constant(4u32);
        let row = b.mul(i, four);
        b.store(out, row, x);
        // Every thread writes the same, and reads what it has written itself.
        let zero = b.constant(0u32);
        let same = b.load(data, zero);
        for k in 0..LEN {
            b.store_offset(own, zero, k, same);
        }
        // The verifier refuses an offset behind an array.
        let short = offset.min(LEN - 1);
        b.store_offset(own, index, short, x);
        let y = b.load_offset(own, index, short);
        b.store_offset(out, row, 1, y);
        let y = b.load_offset(tile, index, short);
        b.store_offset(out, row, 2, y);
        // Lanes of a workgroup must not store to one element, so that only one stores.
        let chosen = b.constant(20u32);
        let only = b.eq(i, chosen);
        b.when(only, |b| b.store_offset(written, index, offset, same));
        let n = 2 * THREADS as usize;
        let size = ty.bytes() as usize;
        let args = vec![
            Value::Bytes(bytes(index_ty, indices(wide).into_iter())),
            Value::Bytes(elements(ty, LEN as usize)),
            Value::Bytes(vec![0; LEN as usize * size]),
            Value::Bytes(vec![0xEE; 4 * n * size]),
        ];
        let covers = vec![(Op::Load, ty), (Op::Store, ty)];
        let name = format!("bounds of {ty} at {index_ty} + {offset}");
        let kernel = b.finish().unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut unit = Unit::new(name, covers, kernel, args);
        unit.grid = 2;
        unit.bits = true;
        unit.bounds = Bounds::Checked;
        units.push(unit);
    }
    units
}

fn lengths(ty: Type) -> Unit {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let out = b.buffer("out", ty, Access::Write);
    let buffers: Vec<_> = [Type::U8, Type::F16, Type::F32, Type::F64]
        .into_iter()
        .map(|elem| b.buffer("data", elem, Access::Read))
        .collect();
    let zero = b.constant(0u32);
    for (k, &buffer) in (0u32..).zip(&buffers) {
        let length = if ty == Type::U64 {
            b.array_length_u64(buffer)
        } else {
            b.array_length(buffer)
        };
        b.store_offset(out, zero, k, length);
    }
    let mut args = vec![Value::Bytes(vec![0; 4 * ty.bytes() as usize])];
    args.extend([48, 80, 16, 8].map(|n| Value::Bytes(vec![0; n])));
    let covers = vec![(Op::ArrayLength, ty)];
    Unit::new(
        format!("lengths as {ty}"),
        covers,
        b.finish().unwrap(),
        args,
    )
}

/// Loops with continues and breaks, an early return.
fn control() -> Unit {
    let mut b = KernelBuilder::new("main", [THREADS, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let i = b.global_id(0);
    let x = b.load(data, i);
    let (zero, limit) = (b.constant(0u32), b.constant(40u32));
    let small = b.lt(i, limit);
    b.if_else(small, |_| {}, |b| b.return_());
    let sum = b.var(x);
    b.for_range(zero, limit, |b, k| {
        let even = b.and(k, x);
        let skip = b.eq(even, zero);
        b.when(skip, |b| b.continue_());
        let old = b.get(sum);
        let new = b.add(old, k);
        b.set(sum, new);
        let enough = b.gt(k, i);
        b.when(enough, |b| b.break_());
    });
    let x = b.get(sum);
    b.store(data, i, x);
    let covers = [
        Op::If,
        Op::Else,
        Op::End,
        Op::Loop,
        Op::Continuing,
        Op::Break,
        Op::Continue,
        Op::Return,
    ];
    let covers = covers.map(|op| (op, Type::NONE)).into();
    let args = vec![Value::Bytes(elements(Type::U32, THREADS as usize))];
    Unit::new("control".into(), covers, b.finish().unwrap(), args)
}
