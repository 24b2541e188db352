//! Loads, stores and atomics.

use super::*;
use crate::reference::View;
use crate::types::{Access, Const, Type};

#[test]
fn bits_are_kept_by_everything_that_moves_them() {
    let bits = [0x7F80_0001u32, 0xFFC1_2345, 0x8000_0000, 1, 0x7F80_0000];
    let k = kernel([5, 1, 1], |b| {
        let from = b.buffer("from", Type::F32, Access::Read);
        let to = b.buffer("to", Type::F32, Access::Write);
        let shared = b.shared("shared", Type::F32, 5);
        let private = b.private("private", Type::F32, 2);
        let i = b.local_index();
        let zero = b.constant(0u32);
        let v = b.load(from, i);
        b.store(shared, i, v);
        let v = b.load(shared, i);
        b.store_offset(private, zero, 1, v);
        let v = b.load_offset(private, zero, 1);
        let var = b.var(v);
        let v = b.get(var);
        b.set(var, v);
        let v = b.get(var);
        let t = b.constant(true);
        let nan = b.constant(Const::new(Type::F32, 0x7F80_0007).unwrap());
        let v = b.select(t, v, nan);
        let v = b.bitcast(v, Type::I32);
        let v = b.bitcast(v, Type::F32);
        b.store(to, i, v);
    });
    for n in SUBGROUPS {
        let mut args = [Arg::from(bits.map(f32::from_bits)), Arg::from([0.0f32; 5])];
        run(&k, n, [1, 1, 1], &mut args);
        let got = args[1]
            .as_slice::<f32>()
            .unwrap()
            .iter()
            .map(|v| v.to_bits());
        assert_eq!(got.collect::<Vec<_>>(), bits);
    }
}

#[test]
fn private_arrays_belong_to_their_threads() {
    let k = kernel([40, 1, 1], |b| {
        let out = b.buffer("out", Type::U64, Access::Write);
        let small = b.private("small", Type::U32, 3);
        let large = b.private("large", Type::U64, 3);
        let i = b.local_index();
        let (zero, three) = (b.constant(0u32), b.constant(3u32));
        b.for_range(zero, three, |b, k| {
            let v = b.mul(i, k);
            b.store(small, k, v);
            let wide = b.convert(v, Type::U64);
            b.store(large, k, wide);
        });
        b.workgroup_barrier();
        let sum = b.constant(0u64);
        let sum = b.var(sum);
        b.for_range(zero, three, |b, k| {
            let (p, q) = (b.load(small, k), b.load(large, k));
            let p = b.convert(p, Type::U64);
            let s = b.get(sum);
            let s = b.add(s, p);
            let s = b.add(s, q);
            b.set(sum, s);
        });
        let s = b.get(sum);
        b.store(out, i, s);
    });
    for n in SUBGROUPS {
        let mut args = [Arg::from([0u64; 40])];
        run(&k, n, [1, 1, 1], &mut args);
        let expected: Vec<u64> = (0..40).map(|i| 6 * i).collect();
        assert_eq!(args[0].as_slice::<u64>().unwrap(), expected);
    }
}

#[test]
fn zeroed_shared_memory_is_zero_in_every_workgroup() {
    let k = kernel([4, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let shared = b.shared_zeroed("shared", Type::U32, 4);
        let (i, g) = (b.local_index(), b.global_id(0));
        let v = b.load(shared, i);
        b.store(out, g, v);
        b.store(shared, i, g);
    });
    let mut args = [Arg::from([7u32; 12])];
    run(&k, 4, [3, 1, 1], &mut args);
    assert_eq!(got(&args[0]), [0; 12]);
}

#[test]
fn dynamic_shared_memory_has_the_length_of_the_launch() {
    let k = kernel([4, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let fixed = b.shared("fixed", Type::U64, 3);
        let tile = b.shared_dynamic("tile", Type::U32);
        let i = b.local_index();
        let wide = b.constant(u64::MAX);
        let zero = b.constant(0u32);
        let first = b.eq(i, zero);
        b.when(first, |b| b.store_offset(fixed, zero, 2, wide));
        b.store(tile, i, i);
        b.workgroup_barrier();
        let three = b.constant(3u32);
        let j = b.sub(three, i);
        let v = b.load(tile, j);
        b.store(out, i, v);
    });
    let mut args = [u32s(4)];
    let launch = crate::reference::Launch::new([1, 1, 1]).dynamic_shared(4);
    Executor::new(strict(2)).run(&k, launch, &mut args).unwrap();
    assert_eq!(got(&args[0]), [3, 2, 1, 0]);
}

/// One atomic by 40 threads on one element; gives the element and the sum of what the threads saw.
fn atomic<T>(
    start: T,
    f: impl Fn(&mut KernelBuilder, crate::builder::Memory, Value, Value) -> Value,
) -> (T, Vec<T>)
where
    T: crate::reference::Element + Into<Const>,
{
    let mut result = None;
    for shared in [false, true] {
        let k = kernel([40, 1, 1], |b| {
            let cell = b.buffer("cell", T::TYPE, Access::ReadWrite);
            let seen = b.buffer("seen", T::TYPE, Access::Write);
            let tile = b.shared("tile", T::TYPE, 1);
            let (i, zero) = (b.local_index(), b.constant(0u32));
            let first = b.eq(i, zero);
            b.when(first, |b| {
                let v = b.load(cell, zero);
                b.store(tile, zero, v);
            });
            b.workgroup_barrier();
            let operand = b.convert(i, T::TYPE);
            let memory = if shared { tile.into() } else { cell.into() };
            let old = f(b, memory, zero, operand);
            b.store(seen, i, old);
            b.workgroup_barrier();
            if shared {
                b.when(first, |b| {
                    let v = b.load(tile, zero);
                    b.store(cell, zero, v);
                });
            }
        });
        for n in SUBGROUPS {
            let mut args = [Arg::from([start]), Arg::from([start; 40])];
            run(&k, n, [1, 1, 1], &mut args);
            let cell = args[0].as_slice::<T>().unwrap()[0];
            let seen = args[1].as_slice::<T>().unwrap().to_vec();
            let bytes = |v: &[T]| bytemuck::cast_slice::<T, u8>(v).to_vec();
            let this = (bytes(&[cell]), bytes(&seen));
            assert_eq!(*result.get_or_insert(this.clone()), this);
            if shared && n == 128 {
                return (cell, seen);
            }
        }
    }
    unreachable!("the last size returns")
}

#[test]
fn atomics_on_buffers_and_shared_memory() {
    let (sum, seen) = atomic(5u32, |b, m, i, v| b.atomic_add(m, i, v));
    assert_eq!((sum, seen[0], seen[2], seen[39]), (785, 5, 6, 746));
    assert_eq!(atomic(5i64, |b, m, i, v| b.atomic_add(m, i, v)).0, 785);
    assert_eq!(atomic(0.5f32, |b, m, i, v| b.atomic_add(m, i, v)).0, 780.5);
    assert_eq!(
        atomic(0u64, |b, m, i, v| b.atomic_sub(m, i, v)).0,
        780u64.wrapping_neg()
    );
    assert_eq!(atomic(-3i32, |b, m, i, v| b.atomic_min(m, i, v)).0, -3);
    assert_eq!(
        atomic(0xFFFF_FFFDu32, |b, m, i, v| b.atomic_min(m, i, v)).0,
        0
    );
    assert_eq!(atomic(-3i64, |b, m, i, v| b.atomic_max(m, i, v)).0, 39);
    assert_eq!(
        atomic(1u64 << 63, |b, m, i, v| b.atomic_max(m, i, v)).0,
        1 << 63
    );
    assert_eq!(
        atomic(i64::MIN, |b, m, i, v| b.atomic_min(m, i, v)).0,
        i64::MIN
    );
    assert_eq!(atomic(0xFFu32, |b, m, i, v| b.atomic_and(m, i, v)).0, 0);
    assert_eq!(atomic(0x100u64, |b, m, i, v| b.atomic_or(m, i, v)).0, 0x13F);
    assert_eq!(atomic(7i32, |b, m, i, v| b.atomic_xor(m, i, v)).0, 7);
    let (last, seen) = atomic(0.5f32, |b, m, i, v| b.atomic_exchange(m, i, v));
    assert_eq!((last, seen[0], seen[1]), (39.0, 0.5, 0.0));
    let (last, seen) = atomic(3u32, |b, m, i, v| {
        let zero = b.constant(3u32);
        b.atomic_compare_exchange(m, i, zero, v)
    });
    assert_eq!((last, seen[0], seen[1]), (0, 3, 0));
    let (cell, _) = atomic(9u64, |b, m, i, v| {
        use crate::kernel::Ordering;
        b.atomic_store(m, i, 0, v, Ordering::RELAXED);
        b.atomic_load(m, i, 0, Ordering::RELAXED);
        // What the load sees depends on who else has stored.
        v
    });
    assert_eq!(cell, 39);
}

#[test]
fn float_atomics_keep_subnormals() {
    let k = kernel([1, 1, 1], |b| {
        let cell = b.buffer("cell", Type::F32, Access::ReadWrite);
        let zero = b.constant(0u32);
        let least = b.constant(f32::from_bits(1));
        b.atomic_add(cell, zero, least);
    });
    let mut args = [Arg::from([f32::from_bits(1)])];
    run(&k, 1, [1, 1, 1], &mut args);
    assert_eq!(args[0].as_slice::<f32>().unwrap()[0].to_bits(), 2);
}

#[test]
fn unreported_accesses_out_of_bounds_yield_zero_and_vanish() {
    let k = kernel([4, 1, 1], |b| {
        let from = b.buffer("from", Type::U32, Access::Read);
        let to = b.buffer("to", Type::U32, Access::Write);
        let cell = b.buffer("cell", Type::U32, Access::ReadWrite);
        let old = b.buffer("old", Type::U32, Access::Write);
        let i = b.local_index();
        let v = b.load_offset(from, i, 1);
        b.store_offset(to, i, 2, v);
        let far = b.constant(u64::MAX);
        let v = b.load_offset(from, far, 1);
        b.store(old, i, v);
        let k = b.atomic_add_with(cell, i, 2, i, crate::kernel::Ordering::RELAXED);
        b.store(old, i, k);
        b.store_offset(to, far, 4, i);
    });
    for n in SUBGROUPS {
        let mut args = [
            Arg::from([10u32, 11, 12]),
            Arg::from([1u32; 4]),
            Arg::from([7u32; 3]),
            Arg::from([9u32; 4]),
        ];
        let mut options = Options::unchecked();
        options.subgroup_size = n;
        Executor::new(options)
            .run(&k, [1, 1, 1], &mut args)
            .unwrap();
        assert_eq!(got(&args[1]), [1, 1, 11, 12]);
        assert_eq!(got(&args[2]), [7, 7, 7]);
        assert_eq!(got(&args[3]), [7, 0, 0, 0]);
    }
}

#[test]
fn views_see_their_part_of_a_buffer() {
    let k = kernel([2, 1, 1], |b| {
        let from = b.buffer("from", Type::U32, Access::Read);
        let to = b.buffer("to", Type::U64, Access::Write);
        let i = b.local_index();
        let v = b.load(from, i);
        let v = b.convert(v, Type::U64);
        let n = b.array_length_u64(from);
        let v = b.add(v, n);
        b.store(to, i, v);
    });
    let view = |offset, ty, len| {
        Arg::from(View {
            of: 2,
            offset,
            ty,
            len,
        })
    };
    let mut args = [
        view(4, Type::U32, 2),
        view(16, Type::U64, 2),
        Arg::from([1u32, 2, 3, 4, 5, 6, 7, 8]),
    ];
    run(&k, 4, [1, 1, 1], &mut args);
    assert_eq!(got(&args[2]), [1, 2, 3, 4, 4, 0, 5, 0]);
}
