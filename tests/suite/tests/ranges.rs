//! The loops that the builder's helpers make run as often as they should, at the ends of every integer type.

use kernite::builder::KernelBuilder;
use kernite::kernel::{Bounds, Kernel};
use kernite::types::{Access, Const, Type};
use kernite_suite::run::{Case, Value};

/// How often `for_range_step` runs from `start` to `end`.
fn rounds(start: Const, end: Const, step: Const) -> u32 {
    let mut b = KernelBuilder::new("rounds", [1, 1, 1]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let (zero, one) = (b.constant(0u32), b.constant(1u32));
    let count = b.var(zero);
    let (start, end, step) = (b.constant(start), b.constant(end), b.constant(step));
    b.for_range_step(start, end, step, |b, _| {
        let now = b.get(count);
        let next = b.add(now, one);
        b.set(count, next);
    });
    let rounds = b.get(count);
    b.store(out, zero, rounds);
    let kernel: Kernel = b.finish().unwrap();
    let case = Case {
        kernel,
        grid: [1, 1, 1],
        args: vec![Value::of(&[0u32])],
        dynamic_shared: 0,
        bounds: Bounds::Unchecked,
    };
    let bytes = case.reference(32).unwrap().remove(0);
    u32::from_le_bytes(bytes.try_into().unwrap())
}

#[test]
fn steps_end_where_the_type_does() {
    assert_eq!(rounds((-100i8).into(), 100i8.into(), 7i8.into()), 29);
    assert_eq!(
        rounds(i16::MIN.into(), i16::MAX.into(), 30_000i16.into()),
        3
    );
    assert_eq!(rounds(250u8.into(), 255u8.into(), 3u8.into()), 2);
    assert_eq!(rounds(i32::MIN.into(), i32::MAX.into(), i32::MAX.into()), 3);
    assert_eq!(rounds(0u64.into(), u64::MAX.into(), (1u64 << 63).into()), 2);
    assert_eq!(rounds(5u32.into(), 5u32.into(), 1u32.into()), 0);
    assert_eq!(rounds(6i64.into(), 5i64.into(), 1i64.into()), 0);
}
