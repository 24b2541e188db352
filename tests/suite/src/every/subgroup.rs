//! Operations among lanes, in workgroups whose last subgroup is full and in ones where it is not.

use super::edges::bytes;
use super::{Unit, carried, is_float};
use crate::choices::SplitMix;
use crate::run::Value;
use kernite::builder::{KernelBuilder, Scan};
use kernite::kernel::Value as Id;
use kernite::op::Op;
use kernite::types::{Access, Type};

/// Workgroups of these many threads.
const SIZES: [u32; 3] = [64, 20, 3];

/// A kernel of one subgroup operation on random elements and lane numbers.
fn unit(
    op: Op,
    ty: Type,
    what: &str,
    threads: u32,
    (from, out): (Type, Type),
    make: impl FnOnce(&mut KernelBuilder, Id, Id) -> Id,
) -> Unit {
    let mut b = KernelBuilder::new("main", [threads, 1, 1]);
    let data = b.buffer("data", carried(from), Access::Read);
    let lanes = b.buffer("lanes", Type::U32, Access::Read);
    let to = b.buffer("out", carried(out), Access::Write);
    let i = b.global_id(0);
    let mut x = b.load(data, i);
    if from == Type::BOOL {
        x = b.convert(x, Type::BOOL);
    }
    let lane = b.load(lanes, i);
    let mut made = make(&mut b, x, lane);
    if out == Type::BOOL {
        made = b.convert(made, Type::U32);
    }
    b.store(to, i, made);
    let kernel = b
        .finish()
        .unwrap_or_else(|e| panic!("{op} {ty}{what}: {e}"));

    const GROUPS: u32 = 6;
    let n = (threads * GROUPS) as usize;
    let edges = super::edges::edges(from);
    let mut random = SplitMix::new(u64::from(threads));
    // A group of small numbers, so that sums are not all infinite or NaN.
    let small = |k: u64| match from {
        Type::F16 => 0x3C00 + (k & 0x3FF),
        Type::BF16 => 0x3F80 + (k & 0x7F),
        Type::F32 => 0x3F80_0000 + (k & 0x7F_FFFF),
        Type::F64 => (0x3FF << 52) + (k >> 12),
        _ => edges[k as usize % edges.len()],
    };
    let column: Vec<u64> = (0..n)
        .map(|at| {
            let k = random.next_u64();
            if at < n / 2 {
                small(k)
            } else {
                edges[k as usize % edges.len()]
            }
        })
        .collect();
    let lanes: Vec<u32> = (0..n)
        .map(|_| match random.next_u64() % 8 {
            0 => random.next_u64() as u32,
            k => (random.next_u64() % (4 << k.min(3))) as u32,
        })
        .collect();
    let size = carried(out).bytes() as usize;
    let args = vec![
        Value::Bytes(bytes(from, column.into_iter())),
        Value::of(&lanes),
        Value::Bytes(vec![0xEE; n * size]),
    ];
    let name = format!("{op} {ty}{what}, {threads} threads");
    let mut unit = Unit::new(name, vec![(op, ty)], kernel, args);
    unit.grid = GROUPS;
    unit
}

type Shuffle = fn(&mut KernelBuilder, Id, Id) -> Id;
type Reduce = fn(&mut KernelBuilder, Id, Scan) -> Id;

pub(super) fn units() -> Vec<Unit> {
    let mut units = Vec::new();
    let shuffles: [(Op, Shuffle); 5] = [
        (Op::Shuffle, |b, x, lane| b.shuffle(x, lane)),
        (Op::ShuffleXor, |b, x, mask| b.shuffle_xor(x, mask)),
        (Op::ShuffleUp, |b, x, by| b.shuffle_up(x, by)),
        (Op::ShuffleDown, |b, x, by| b.shuffle_down(x, by)),
        (Op::Broadcast, |b, x, lane| b.broadcast(x, lane)),
    ];
    for (op, make) in shuffles {
        for ty in op.row().types.iter() {
            for threads in SIZES {
                let mut it = unit(op, ty, "", threads, (ty, ty), make);
                it.bits = true;
                units.push(it);
                for lane in [0u32, 1, 3, 7, 100] {
                    let what = format!(" by {lane}");
                    let mut it = unit(op, ty, &what, threads, (ty, ty), |b, x, _| {
                        let lane = b.constant(lane);
                        make(b, x, lane)
                    });
                    it.bits = true;
                    units.push(it);
                }
            }
        }
    }
    let reductions: [(Op, Reduce); 6] = [
        (Op::SubgroupAdd, |b, x, scan| b.subgroup_add(x, scan)),
        (Op::SubgroupMin, |b, x, scan| b.subgroup_min(x, scan)),
        (Op::SubgroupMax, |b, x, scan| b.subgroup_max(x, scan)),
        (Op::SubgroupAnd, |b, x, scan| b.subgroup_and(x, scan)),
        (Op::SubgroupOr, |b, x, scan| b.subgroup_or(x, scan)),
        (Op::SubgroupXor, |b, x, scan| b.subgroup_xor(x, scan)),
    ];
    let scans = [Scan::Reduce, Scan::Inclusive, Scan::Exclusive];
    for (op, make) in reductions {
        for ty in op.row().types.iter() {
            for (threads, scan) in SIZES.into_iter().flat_map(|t| scans.map(|s| (t, s))) {
                let what = format!(" {scan:?}");
                units.push(unit(op, ty, &what, threads, (ty, ty), |b, x, _| {
                    make(b, x, scan)
                }));
                if op == Op::SubgroupAdd && is_float(ty) {
                    let what = format!(" {scan:?} in native order");
                    let mut it = unit(op, ty, &what, threads, (ty, ty), |b, x, _| {
                        b.subgroup_add_native_order(x, scan)
                    });
                    it.approximate = true;
                    units.push(it);
                }
            }
        }
    }
    for threads in SIZES {
        let none = Type::NONE;
        let bools = (Type::BOOL, Type::BOOL);
        units.push(unit(Op::Any, none, "", threads, bools, |b, x, _| b.any(x)));
        units.push(unit(Op::All, none, "", threads, bools, |b, x, _| b.all(x)));
        let to = (Type::BOOL, Type::U32X4);
        units.push(unit(Op::Ballot, none, "", threads, to, |b, x, _| {
            b.ballot(x)
        }));
        units.push(unit(Op::Elect, none, "", threads, bools, |b, _, _| {
            b.elect()
        }));
        let ints = (Type::U32, Type::U32);
        for (op, make) in [
            (Op::Lane, KernelBuilder::lane as fn(&mut _) -> _),
            (Op::SubgroupId, KernelBuilder::subgroup_id),
            (Op::SubgroupSize, KernelBuilder::subgroup_size),
        ] {
            units.push(unit(op, none, "", threads, ints, |b, _, _| make(b)));
        }
        units.push(barrier(threads));
    }
    units
}

/// Neighbours exchange values through shared memory.
fn barrier(threads: u32) -> Unit {
    let none = Type::NONE;
    let ints = (Type::U32, Type::U32);
    unit(Op::SubgroupBarrier, none, "", threads, ints, |b, x, _| {
        let tile = b.shared("tile", Type::U32, threads);
        let i = b.local_index();
        b.store(tile, i, x);
        b.subgroup_barrier();
        let lane = b.lane();
        let zero = b.constant(0u32);
        let first = b.eq(lane, zero);
        let one = b.constant(1u32);
        let below = b.sub(i, one);
        let source = b.select(first, i, below);
        b.load(tile, source)
    })
}
