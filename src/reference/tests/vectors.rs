//! Vectors of 2 and 4, narrow elements and constant tables in memory.

use super::*;
use crate::kernel::Mem;
use crate::reference::{ExecError, TrapKind, View};
use crate::types::{Access, Const, Scalar, Type, TypeSet};

/// Bytes that differ from each other.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 37 + 11) as u8).collect()
}

/// Every vector passes through buffers, shared and private memory, its elements in reverse.
#[test]
fn vectors_keep_their_elements_everywhere() {
    for ty in TypeSet::VECTORS.iter() {
        let lanes = ty.lanes() as u8;
        let k = kernel([5, 1, 1], |b| {
            let from = b.buffer("from", ty, Access::Read);
            let to = b.buffer("to", ty, Access::Write);
            let tile = b.shared("tile", ty, 5);
            let own = b.private("own", ty, 3);
            let i = b.local_index();
            let v = b.load(from, i);
            b.store(tile, i, v);
            b.workgroup_barrier();
            let four = b.constant(4u32);
            let j = b.sub(four, i);
            let v = b.load(tile, j);
            let zero = b.constant(0u32);
            b.store_offset(own, zero, 2, v);
            let v = b.load_offset(own, zero, 2);
            let elements: Vec<_> = (0..lanes).rev().map(|lane| b.extract(v, lane)).collect();
            let v = b.construct(&elements);
            b.store(to, i, v);
        });
        let size = ty.bytes() as usize;
        let bytes = pattern(5 * size);
        let element = size / usize::from(lanes);
        let mut expected: Vec<u8> = vec![];
        for v in bytes.chunks(size).rev() {
            expected.extend(v.chunks(element).rev().flatten());
        }
        for n in SUBGROUPS {
            let buffer = |bytes: &[u8]| Arg::from(Buffer::from_bytes(ty, bytes).unwrap());
            let mut args = [buffer(&bytes), buffer(&vec![0; 5 * size])];
            run(&k, n, [1, 1, 1], &mut args);
            assert_eq!(
                args[1].buffer().unwrap().bytes(),
                expected,
                "{ty}, {n} lanes"
            );
        }
    }
}

#[test]
fn views_of_vectors_are_aligned_to_their_size() {
    let ty = Type::vector(Scalar::F64, 4).unwrap();
    let k = kernel([1, 1, 1], |b| {
        let from = b.buffer("from", ty, Access::Read);
        let to = b.buffer("to", Type::U64, Access::Write);
        let zero = b.constant(0u32);
        let v = b.load_offset(from, zero, 1);
        let v = b.extract(v, 3);
        let v = b.bitcast(v, Type::U64);
        b.store(to, zero, v);
    });
    let arguments = |offset| {
        [
            Arg::from(View {
                of: 2,
                offset,
                ty,
                len: 2,
            }),
            Arg::from([0u64]),
            Arg::from((0..13u64).collect::<Vec<_>>()),
        ]
    };
    let mut args = arguments(32);
    run(&k, 4, [1, 1, 1], &mut args);
    assert_eq!(args[1].as_slice::<u64>(), Some(&[11][..]));
    for offset in [8, 16, 24] {
        let error = Executor::new(strict(4)).run(&k, [1, 1, 1], &mut arguments(offset));
        assert_eq!(error, Err(ExecError::View { index: 0, of: 2 }));
    }
}

#[test]
fn vectors_race_with_their_elements() {
    let vector = Type::vector(Scalar::U16, 4).unwrap();
    let k = |first: u32| {
        kernel([2, 1, 1], |b| {
            let options = crate::builder::BufferOptions::new().may_alias();
            let wide = b.buffer_with("wide", vector, Access::Write, options);
            let narrow = b.buffer_with("narrow", Type::U16, Access::Write, options);
            let (i, zero) = (b.local_index(), b.constant(0u32));
            let leads = b.eq(i, zero);
            let v = b.constant(Const::new(Type::U16, 7).unwrap());
            b.if_else(
                leads,
                |b| {
                    let v = b.construct(&[v, v, v, v]);
                    b.store_offset(wide, zero, 1, v);
                },
                |b| b.store_offset(narrow, zero, first, v),
            );
        })
    };
    let arguments = || {
        let view = |ty, len| {
            Arg::from(View {
                of: 2,
                offset: 0,
                ty,
                len,
            })
        };
        [view(vector, 2), view(Type::U16, 8), Arg::from([0u16; 8])]
    };
    for inside in 4..8 {
        let trap = trap(&k(inside), 2, [1, 1, 1], &mut arguments());
        assert!(matches!(trap.kind, TrapKind::Race { .. }), "{trap}");
    }
    run(&k(3), 2, [1, 1, 1], &mut arguments());
}

#[test]
fn narrow_elements_lie_side_by_side() {
    let k = kernel([4, 1, 1], |b| {
        let bytes = b.buffer("bytes", Type::I8, Access::ReadWrite);
        let words = b.buffer("words", Type::U16, Access::Write);
        let i = b.local_index();
        let v = b.load(bytes, i);
        let doubled = b.add(v, v);
        b.store(bytes, i, doubled);
        let word = b.convert(v, Type::U16);
        b.store(words, i, word);
    });
    for n in SUBGROUPS {
        let mut args = [Arg::from([100i8, -1, -128, 5]), Arg::from([0u16; 4])];
        run(&k, n, [1, 1, 1], &mut args);
        assert_eq!(args[0].as_slice::<i8>(), Some(&[-56, -2, 0, 10][..]));
        assert_eq!(
            args[1].as_slice::<u16>(),
            Some(&[100, 0xFFFF, 0xFF80, 5][..])
        );
    }
}

#[test]
fn tables_hold_their_constants() {
    let k = kernel([6, 1, 1], |b| {
        let out = b.buffer("out", Type::F64, Access::Write);
        let bytes = b.table("bytes", Type::I8, &[-1i8, 2, -3]);
        let floats = b.table("floats", Type::F64, &[0.5f64, -0.0, f64::INFINITY, 4.0]);
        let halves = b.table("halves", Type::F16, &[half::f16::from_bits(0x3C01)]);
        let (i, zero) = (b.local_index(), b.constant(0u32));
        let three = b.constant(3u32);
        let j = b.rem(i, three);
        let x = b.load(bytes, j);
        let x = b.convert(x, Type::F64);
        let y = b.load_offset(floats, j, 1);
        let y = b.min(y, x);
        let h = b.load(halves, zero);
        let h = b.convert(h, Type::F64);
        let sum = b.add(y, h);
        b.store(out, i, sum);
    });
    let one = 1.0 + 2f64.powi(-10);
    let expected = [-1.0 + one, 2.0 + one, -3.0 + one];
    for n in SUBGROUPS {
        let mut args = [Arg::from([0f64; 6])];
        run(&k, n, [1, 1, 1], &mut args);
        let got = args[0].as_slice::<f64>().unwrap();
        assert_eq!((&got[..3], &got[3..]), (&expected[..], &expected[..]));
    }
}

/// Loads from a place, and what the load gives with and without the check of bounds.
fn outside(place: Mem, index: Const, offset: u32) {
    let vector = Type::vector(Scalar::F64, 4).unwrap();
    let k = kernel([3, 1, 1], |b| {
        let data = b.buffer("data", vector, Access::ReadWrite);
        let out = b.buffer("out", Type::U64, Access::Write);
        let tile = b.shared_zeroed("tile", vector, 2);
        let own = b.private("own", vector, 2);
        let table = b.table("table", Type::U64, &[7u64, 8]);
        let at = b.scalar("at", index.ty());
        let (at, i) = (b.param(at), b.local_index());
        let ones = b.constant(Const::new(Type::F64, 1).unwrap());
        let ones = b.construct(&[ones, ones, ones, ones]);
        let memory: crate::builder::Memory = match place {
            Mem::Buffer(_) => data.into(),
            Mem::Shared(_) => tile.into(),
            Mem::Private(_) => own.into(),
            Mem::Table(_) => table.into(),
        };
        let read = b.load_offset(memory, at, offset);
        let read = if matches!(place, Mem::Table(_)) {
            read
        } else {
            b.store_offset(memory, at, offset, ones);
            let last = b.extract(read, 3);
            b.bitcast(last, Type::U64)
        };
        b.store(out, i, read);
    });
    for n in SUBGROUPS {
        let bytes = vec![0xEE; 64];
        let arguments = || {
            let data = Buffer::from_bytes(vector, &bytes).unwrap();
            [Arg::from(data), Arg::from([5u64; 3]), Arg::from(index)]
        };
        let trap = trap(&k, n, [1, 1, 1], &mut arguments());
        let kind = TrapKind::OutOfBounds {
            mem: place,
            index: index.bits(),
            offset,
            len: 2,
        };
        assert_eq!(trap.kind, kind);
        let mut options = strict(n);
        options.checks.bounds = false;
        let mut args = arguments();
        Executor::new(options)
            .run(&k, [1, 1, 1], &mut args)
            .unwrap();
        assert_eq!(
            args[0].buffer().unwrap().bytes(),
            bytes,
            "the store vanishes"
        );
        assert_eq!(
            args[1].as_slice::<u64>(),
            Some(&[0; 3][..]),
            "the load gives zero"
        );
    }
}

#[test]
fn accesses_outside_yield_zero_and_vanish_or_are_reported() {
    for place in [
        Mem::Buffer(0),
        Mem::Shared(0),
        Mem::Private(0),
        Mem::Table(0),
    ] {
        for (index, offset) in [
            (Const::from(u32::MAX), 0),
            (Const::from(u32::MAX), u32::MAX),
            (Const::from(u32::MAX - 1), 2),
            (Const::from(1u64 << 32), 0),
            (Const::from((1u64 << 32) - 1), 1),
            (Const::from(1u64 << 59), 0),
            (Const::from(u64::MAX), 0),
            (Const::from(u64::MAX), 1),
            (Const::from(u64::MAX), 2),
            (Const::from(u64::MAX - 1), 3),
            (Const::from(u64::MAX), u32::MAX),
        ] {
            // The verifier refuses offsets that are outside of an array by themselves.
            if offset < 2 || place == Mem::Buffer(0) {
                outside(place, index, offset);
            }
        }
    }
}

#[test]
fn atomics_outside_yield_zero_and_vanish() {
    for (index, offset) in [(Const::from(u32::MAX), 5), (Const::from(u64::MAX), 1)] {
        let k = kernel([2, 1, 1], |b| {
            let cell = b.buffer("cell", Type::F64, Access::ReadWrite);
            let out = b.buffer("out", Type::F64, Access::Write);
            let (i, at) = (b.local_index(), b.constant(index));
            let one = b.constant(1.0f64);
            let scope = crate::kernel::Ordering::RELAXED;
            let old = b.atomic_add_with(cell, at, offset, one, scope);
            b.store(out, i, old);
        });
        let mut options = strict(2);
        options.checks.bounds = false;
        let mut args = [Arg::from([3.0f64, 4.0]), Arg::from([9.0f64; 2])];
        Executor::new(options)
            .run(&k, [1, 1, 1], &mut args)
            .unwrap();
        assert_eq!(args[0].as_slice::<f64>(), Some(&[3.0, 4.0][..]));
        assert_eq!(args[1].as_slice::<f64>(), Some(&[0.0; 2][..]));
    }
}
