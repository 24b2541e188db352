//! Operations among the lanes of a subgroup.

use super::*;
use crate::builder::Scan;
use crate::op::Op;
use crate::reference::{Element, ExecError, TrapKind};
use crate::types::{Access, Const, Type};
use half::{bf16, f16};

/// Threads of the workgroups: the last subgroup is partial in most sizes.
const THREADS: usize = 43;

/// What `make` computes in each thread of its operand, one result for each size of subgroup.
fn lanes<T: Element, R: Element>(
    values: &[T],
    make: impl Fn(&mut KernelBuilder, Value) -> Value,
) -> Vec<(usize, Vec<R>)> {
    assert_eq!(values.len(), THREADS);
    let k = kernel([THREADS as u32, 1, 1], |b| {
        let from = b.buffer("from", T::TYPE, Access::Read);
        let to = b.buffer("to", R::TYPE, Access::Write);
        let i = b.local_index();
        let v = b.load(from, i);
        let r = make(b, v);
        b.store(to, i, r);
    });
    SUBGROUPS
        .iter()
        .map(|&n| {
            let zeros = Buffer::from_bytes(R::TYPE, &vec![0; THREADS * size_of::<R>()]);
            let mut args = [Arg::from(values), zeros.unwrap().into()];
            run(&k, n, [1, 1, 1], &mut args);
            (n as usize, args[1].as_slice::<R>().unwrap().to_vec())
        })
        .collect()
}

/// The thread whose value a shuffle gives thread `i`, by its definition.
fn source(op: Op, i: usize, n: usize, b: u32) -> usize {
    let (first, lane) = (i / n * n, (i % n) as u64);
    let b64 = u64::from(b);
    let from = match op {
        Op::Shuffle | Op::Broadcast => Some(b64),
        Op::ShuffleXor => Some(lane ^ b64),
        Op::ShuffleUp => lane.checked_sub(b64),
        _ => Some(lane + b64),
    };
    let from = from
        .filter(|&from| from < n as u64)
        .map(|from| first + from as usize);
    from.filter(|&from| from < THREADS).unwrap_or(i)
}

fn shuffles<T: Element + PartialEq + core::fmt::Debug>(make: impl Fn(u8) -> T) {
    let values: Vec<T> = (0..THREADS as u8).map(make).collect();
    for op in [
        Op::Shuffle,
        Op::Broadcast,
        Op::ShuffleXor,
        Op::ShuffleUp,
        Op::ShuffleDown,
    ] {
        for b in [0, 1, 2, 3, 7, 31, 32, 127, 128, u32::MAX - 1, u32::MAX] {
            for (n, got) in lanes::<T, T>(&values, |k, v| {
                let by = k.constant(b);
                match op {
                    Op::Shuffle => k.shuffle(v, by),
                    Op::Broadcast => k.broadcast(v, by),
                    Op::ShuffleXor => k.shuffle_xor(v, by),
                    Op::ShuffleUp => k.shuffle_up(v, by),
                    _ => k.shuffle_down(v, by),
                }
            }) {
                let expected: Vec<T> = (0..THREADS).map(|i| values[source(op, i, n, b)]).collect();
                assert_eq!(got, expected, "{op} by {b} of {n} lanes");
            }
        }
    }
}

#[test]
fn shuffles_take_from_active_lanes_and_keep_their_own() {
    shuffles(|i| u32::from(i) * 3);
    shuffles(|i| i);
    shuffles(|i| i16::from(i) - 20);
    shuffles(|i| u64::from(i) << 40);
    // NaNs with payloads.
    let values: Vec<f32> = (0..THREADS as u32)
        .map(|i| f32::from_bits(0x7F80_0001 + i))
        .collect();
    for (n, got) in lanes::<f32, u32>(&values, |k, v| {
        let one = k.constant(1u32);
        let v = k.shuffle_xor(v, one);
        k.bitcast(v, Type::U32)
    }) {
        let expected = (0..THREADS).map(|i| 0x7F80_0001 + source(Op::ShuffleXor, i, n, 1) as u32);
        assert_eq!(got, expected.collect::<Vec<_>>());
    }
}

#[test]
fn shuffles_by_divergent_lanes() {
    let values: Vec<u32> = (0..THREADS as u32).map(|i| 100 + i).collect();
    for (n, got) in lanes::<u32, u32>(&values, |k, v| {
        let (lane, three) = (k.lane(), k.constant(3u32));
        let from = k.mul(lane, three);
        k.shuffle(v, from)
    }) {
        let from = |i: usize| source(Op::Shuffle, i, n, (i % n * 3) as u32);
        assert_eq!(
            got,
            (0..THREADS).map(|i| values[from(i)]).collect::<Vec<_>>()
        );
    }
}

#[test]
fn votes_see_active_lanes_alone() {
    let values: Vec<u32> = (0..THREADS as u32)
        .map(|i| u32::from(i % 3 == 0 || i > 40))
        .collect();
    let truth = |k: &mut KernelBuilder, v| k.convert(v, Type::BOOL);
    let group = |i: usize, n: usize| i / n * n..((i / n + 1) * n).min(THREADS);
    for element in 0..4u8 {
        for (n, got) in lanes::<u32, u32>(&values, |k, v| {
            let v = truth(k, v);
            let mask = k.ballot(v);
            k.extract(mask, element)
        }) {
            let expected = (0..THREADS).map(|i| {
                let lanes = group(i, n);
                let first = lanes.start;
                let mask = lanes.fold(0u128, |mask, j| mask | u128::from(values[j]) << (j - first));
                (mask >> (32 * element)) as u32
            });
            assert_eq!(got, expected.collect::<Vec<_>>(), "{n} lanes");
        }
    }
    let told = |f: fn(&mut KernelBuilder, Value) -> Value, expected: &dyn Fn(&[u32]) -> bool| {
        for (n, got) in lanes::<u32, u32>(&values, |k, v| {
            let v = truth(k, v);
            let r = f(k, v);
            k.convert(r, Type::U32)
        }) {
            let expected = (0..THREADS).map(|i| u32::from(expected(&values[group(i, n)])));
            assert_eq!(got, expected.collect::<Vec<_>>(), "{n} lanes");
        }
    };
    told(|k, v| k.any(v), &|lanes| lanes.contains(&1));
    told(|k, v| k.all(v), &|lanes| !lanes.contains(&0));
    for (n, got) in lanes::<u32, u32>(&values, |k, _| {
        let e = k.elect();
        k.convert(e, Type::U32)
    }) {
        assert_eq!(
            got,
            (0..THREADS)
                .map(|i| u32::from(i % n == 0))
                .collect::<Vec<_>>()
        );
    }
}

/// The documented order, written as the documentation says: all lanes at once, inactive ones with `nothing`.
fn by_definition<T: Copy>(
    values: &[T],
    n: usize,
    kind: Scan,
    [identity, nothing]: [T; 2],
    f: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut results = vec![];
    for active in values.chunks(n) {
        let mut x = active.to_vec();
        x.resize(n, nothing);
        let mut d = 1;
        while d < n {
            let before = x.clone();
            for l in 0..n {
                match kind {
                    Scan::Reduce => x[l] = f(before[l], before[l ^ d]),
                    Scan::Inclusive | Scan::Exclusive if l >= d => {
                        x[l] = f(before[l - d], before[l])
                    }
                    Scan::Inclusive | Scan::Exclusive => {}
                }
            }
            d *= 2;
        }
        match kind {
            // Every lane has the same bits by now.
            Scan::Reduce | Scan::Inclusive => {}
            Scan::Exclusive => {
                x.insert(0, identity);
            }
        }
        results.extend(&x[..active.len()]);
    }
    results
}

const KINDS: [Scan; 3] = [Scan::Reduce, Scan::Inclusive, Scan::Exclusive];

/// Checks an operation against the definition, NaNs equal to each other.
fn reduces<T: Element>(
    values: &[T],
    make: impl Fn(&mut KernelBuilder, Value, Scan) -> Value,
    start: [T; 2],
    f: impl Fn(T, T) -> T,
) {
    for kind in KINDS {
        for (n, got) in lanes::<T, T>(values, |k, v| make(k, v, kind)) {
            let expected = by_definition(values, n, kind, start, &f);
            let bytes = |v: &[T]| bytemuck::cast_slice::<T, u8>(v).to_vec();
            let difference = crate::reference::compare(&bytes(&expected), &bytes(&got), T::TYPE);
            assert_eq!(difference, None, "{kind:?} of {n} lanes of {}", T::TYPE);
        }
    }
}

macro_rules! integers {
    ($($t:ident)*) => {$({
        let values: Vec<$t> = (0..THREADS as u64)
            .map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 13) as $t)
            .collect();
        reduces(&values, |k, v, s| k.subgroup_add(v, s), [0; 2], $t::wrapping_add);
        reduces(&values, |k, v, s| k.subgroup_min(v, s), [$t::MAX; 2], Ord::min);
        reduces(&values, |k, v, s| k.subgroup_max(v, s), [$t::MIN; 2], Ord::max);
        reduces(&values, |k, v, s| k.subgroup_and(v, s), [!0; 2], |a, b| a & b);
        reduces(&values, |k, v, s| k.subgroup_or(v, s), [0; 2], |a, b| a | b);
        reduces(&values, |k, v, s| k.subgroup_xor(v, s), [0; 2], |a, b| a ^ b);
    })*};
}

#[test]
fn integers_reduce_and_scan() {
    integers! { i8 i16 i32 i64 u8 u16 u32 u64 }
}

macro_rules! floats {
    ($($t:ident: $round:expr, $wide:expr;)*) => {$({
        let (round, wide): (fn(f64) -> $t, fn($t) -> f64) = ($round, $wide);
        // So that every order of addition gives another sum.
        let values: Vec<$t> = (0..THREADS as i32)
            .map(|i| round(f64::from(i * i % 17 - 6) * 1.37f64.powi(i % 23 - 11)))
            .collect();
        let add = |a: $t, b: $t| round(wide(a) + wide(b));
        let zero = [round(-0.0); 2];
        reduces(&values, |k, v, s| k.subgroup_add(v, s), zero, add);
        reduces(&values, |k, v, s| k.subgroup_add_native_order(v, s), zero, add);
        let mut some = values.clone();
        for i in [0, 1, 5, 8, 9, 10, 11, 12, 13, 14, 15, 32, 40, 41, 42] {
            some[i] = round(f64::NAN);
        }
        (some[3], some[4]) = (round(0.0), round(-0.0));
        let less = |a: $t, b: $t| {
            let (x, y) = (wide(a), wide(b));
            if x.is_nan() || y < x || y == x && y.is_sign_negative() { b } else { a }
        };
        let more = |a: $t, b: $t| {
            let (x, y) = (wide(a), wide(b));
            if x.is_nan() || y > x || y == x && y.is_sign_positive() { b } else { a }
        };
        let nan = round(f64::NAN);
        reduces(&some, |k, v, s| k.subgroup_min(v, s), [round(f64::INFINITY), nan], less);
        reduces(&some, |k, v, s| k.subgroup_max(v, s), [round(f64::NEG_INFINITY), nan], more);
    })*};
}

#[test]
fn floats_reduce_and_scan_in_the_documented_order() {
    use crate::reference::ops::half::Half;
    floats! {
        f32: |v| v as f32, |v| v.into();
        f64: |v| v, |v| v;
        f16: |v| Half::round(v), |v| v.wide();
        bf16: |v| Half::round(v), |v| v.wide();
    }
}

#[test]
fn the_order_is_a_tree_of_neighbours() {
    let mut values = vec![0f32; THREADS];
    values[..4].copy_from_slice(&[1e8, 1.0, -1e8, 1.0]);
    for (n, got) in lanes::<f32, f32>(&values, |k, v| k.subgroup_add(v, Scan::Reduce)) {
        // (1e8 + 1) + (-1e8 + 1), not ((1e8 + 1) - 1e8) + 1.
        let expected = if n == 1 { 1e8 } else { 0.0 };
        assert_eq!(got[0], expected, "{n} lanes");
    }
    // Lanes that are not active leave -0.0 as it is, and the first lane of an exclusive scan has it.
    for kind in KINDS {
        for (n, got) in lanes::<f32, f32>(&[-0.0; THREADS], |k, v| k.subgroup_add(v, kind)) {
            assert!(got.iter().all(|v| v.to_bits() == 0x8000_0000), "{n} lanes");
        }
    }
}

#[test]
fn bools_reduce_and_scan() {
    let values: Vec<u32> = (0..THREADS as u32).map(|i| u32::from(i % 5 != 3)).collect();
    type Make = fn(&mut KernelBuilder, Value, Scan) -> Value;
    type Combine = fn(u32, u32) -> u32;
    let cases: [(Make, u32, Combine); 3] = [
        (|k, v, s| k.subgroup_and(v, s), 1, |a, b| a & b),
        (|k, v, s| k.subgroup_or(v, s), 0, |a, b| a | b),
        (|k, v, s| k.subgroup_xor(v, s), 0, |a, b| a ^ b),
    ];
    for (make, start, f) in cases {
        let through_bool = |k: &mut KernelBuilder, v, s| {
            let v = k.convert(v, Type::BOOL);
            let r = make(k, v, s);
            k.convert(r, Type::U32)
        };
        reduces(&values, through_bool, [start; 2], f);
    }
}

#[test]
fn results_uniform_in_a_subgroup_steer_it() {
    // A loop that goes on while some lane of the subgroup has work.
    let values: Vec<u32> = (0..THREADS as u32).map(|i| i % 7).collect();
    for (n, got) in lanes::<u32, u32>(&values, |k, v| {
        let (left, rounds) = (k.var(v), k.constant(0u32));
        let rounds = k.var(rounds);
        k.while_(
            |k| {
                let (left, zero) = (k.get(left), k.constant(0u32));
                let more = k.gt(left, zero);
                k.any(more)
            },
            |k| {
                let (one, l, r) = (k.constant(1u32), k.get(left), k.get(rounds));
                let (l, r) = (k.sub_sat(l, one), k.add(r, one));
                k.set(left, l);
                k.set(rounds, r);
            },
        );
        k.get(rounds)
    }) {
        let most = |i: usize| {
            *values[i / n * n..((i / n + 1) * n).min(THREADS)]
                .iter()
                .max()
                .unwrap()
        };
        assert_eq!(got, (0..THREADS).map(most).collect::<Vec<_>>());
    }
}

#[test]
fn a_required_size_is_kept_to() {
    let k = kernel([8, 1, 1], |b| {
        b.require_subgroup_size(16);
        let out = b.buffer("out", Type::U32, Access::Write);
        let (i, n) = (b.local_index(), b.subgroup_size());
        b.store(out, i, n);
    });
    let mut args = [u32s(8)];
    run(&k, 16, [1, 1, 1], &mut args);
    assert_eq!(got(&args[0]), [16; 8]);
    let error = Executor::new(strict(32))
        .run(&k, [1, 1, 1], &mut args)
        .unwrap_err();
    let expected = ExecError::RequiredSubgroupSize {
        required: 16,
        found: 32,
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "the kernel requires subgroups of 16 lanes, the executor has 32"
    );
}

/// Lanes pass values on through shared memory, and meet at what `between` makes.
fn passing_on(between: fn(&mut KernelBuilder), buffer: bool, distance: u32) -> Kernel {
    kernel([8, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let cells = b.buffer("cells", Type::U32, Access::ReadWrite);
        let tile = b.shared("tile", Type::U32, 8);
        let memory: crate::builder::Memory = if buffer { cells.into() } else { tile.into() };
        let i = b.local_index();
        b.store(memory, i, i);
        between(b);
        let d = b.constant(distance);
        let j = b.xor(i, d);
        let v = b.load(memory, j);
        between(b);
        b.store(memory, i, v);
        between(b);
        let v = b.load(memory, j);
        b.store(out, i, v);
    })
}

#[test]
fn a_barrier_of_the_subgroup_orders_its_lanes_and_no_others() {
    for buffer in [false, true] {
        let arguments = || [u32s(8), u32s(8)];
        let k = passing_on(|b| b.subgroup_barrier(), buffer, 1);
        for n in [4, 8, 32] {
            let mut args = arguments();
            let options = strict(n);
            Executor::new(options)
                .run(&k, [1, 1, 1], &mut args)
                .unwrap();
            assert_eq!(got(&args[0]), [0, 1, 2, 3, 4, 5, 6, 7]);
        }
        // A subgroup that comes too early may find shared memory unwritten.
        let races = |k: &Kernel, n| {
            matches!(
                trap(k, n, [1, 1, 1], &mut arguments()).kind,
                TrapKind::Race { .. } | TrapKind::Uninitialized { .. }
            )
        };
        let across = passing_on(|b| b.subgroup_barrier(), buffer, 4);
        assert!(races(&across, 4), "other subgroups");
        assert!(races(&passing_on(|_| {}, buffer, 1), 8));
        let fenced = passing_on(|b| b.memory_fence(crate::types::Scope::Device), buffer, 1);
        assert!(races(&fenced, 8), "a fence waits for nobody");
        run(
            &passing_on(|b| b.workgroup_barrier(), buffer, 4),
            4,
            [1, 1, 1],
            &mut arguments(),
        );
    }
}

#[test]
fn lanes_missing_after_a_broken_promise_are_reported() {
    let k = kernel([8, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let (lane, two) = (b.lane(), b.constant(2u32));
        let some = b.ge(lane, two);
        let some = b.assume_uniform(some);
        b.when(some, |b| {
            let one = b.constant(1u32);
            let sum = b.subgroup_add(one, Scan::Exclusive);
            b.subgroup_barrier();
            b.store(out, lane, sum);
        });
    });
    let mut options = strict(8);
    let mut attempt = |off: fn(&mut Checks)| {
        off(&mut options.checks);
        let mut args = [Arg::from([9u32; 8])];
        let ran = Executor::new(options).run(&k, [1, 1, 1], &mut args);
        ran.map(|_| got(&args[0]).to_vec())
    };
    let broken = attempt(|_| {}).unwrap_err();
    assert!(matches!(
        broken.trap().unwrap().kind,
        TrapKind::NotUniform { .. }
    ));
    let missing = attempt(|c| c.assume_uniform = false).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "at 6 (subgroup_add), thread (2, 0, 0) of workgroup (0, 0, 0): the operation of the subgroup is not reached by \
         thread (0, 0, 0) of workgroup (0, 0, 0)"
    );
    // Unchecked, the lanes that are there reduce among themselves.
    let alone = attempt(|c| c.subgroups = false).unwrap();
    assert_eq!(alone, [9, 9, 0, 1, 2, 3, 4, 5]);
}

#[test]
fn float_atomics_and_orders() {
    use crate::kernel::Ordering;
    use crate::types::{Order, Scope};
    let k = kernel([40, 1, 1], |b| {
        let cell = b.buffer("cell", Type::F32, Access::ReadWrite);
        let wide = b.buffer("wide", Type::F64, Access::ReadWrite);
        let (i, zero) = (b.local_index(), b.constant(0u32));
        let (x, y) = (b.convert(i, Type::F32), b.convert(i, Type::F64));
        let relaxed = Ordering::RELAXED;
        b.atomic_max(cell, zero, x);
        let nan = b.constant(f32::NAN);
        b.atomic_min_with(cell, zero, 1, x, relaxed);
        b.atomic_min_with(cell, zero, 1, nan, relaxed);
        let minus = b.constant(-0.0f32);
        b.atomic_min_with(cell, zero, 2, minus, relaxed);
        for order in [Order::Relaxed, Order::Acquire] {
            let ordering = Ordering {
                order,
                scope: Scope::Workgroup,
            };
            b.atomic_load(cell, zero, 3, ordering);
        }
        for order in [Order::Relaxed, Order::Release] {
            let ordering = Ordering {
                order,
                scope: Scope::Device,
            };
            b.atomic_store(cell, zero, 3, minus, ordering);
        }
        for order in [
            Order::Relaxed,
            Order::Acquire,
            Order::Release,
            Order::AcqRel,
        ] {
            let ordering = Ordering {
                order,
                scope: Scope::Device,
            };
            b.atomic_add_with(wide, zero, 0, y, ordering);
        }
        let payload = b.constant(Const::new(Type::F32, 0x7F80_0001).unwrap());
        b.atomic_exchange_with(cell, zero, 4, payload, relaxed);
    });
    for n in SUBGROUPS {
        let mut args = [
            Arg::from([-5f32, 100.0, 0.0, 1.0, 0.0]),
            Arg::from([0.5f64]),
        ];
        run(&k, n, [1, 1, 1], &mut args);
        let cells: Vec<u32> = args[0]
            .as_slice::<f32>()
            .unwrap()
            .iter()
            .map(|v| v.to_bits())
            .collect();
        assert_eq!(f32::from_bits(cells[0]), 39.0);
        assert_eq!(f32::from_bits(cells[1]), 0.0);
        assert_eq!(cells[2..], [0x8000_0000, 0x8000_0000, 0x7F80_0001]);
        assert_eq!(args[1].as_slice::<f64>(), Some(&[4.0 * 780.0 + 0.5][..]));
    }
}
