//! Masks and the control stack.

use super::*;
use crate::op::Op;
use crate::types::{Access, Type};

/// Runs a kernel of `threads` threads that writes one u32 each, for every subgroup size; results must agree.
fn each(threads: u32, body: impl Fn(&mut KernelBuilder, Value) -> Value) -> Vec<u32> {
    let k = kernel([threads, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let i = b.local_index();
        let v = body(b, i);
        b.store(out, i, v);
    });
    let mut all = SUBGROUPS.map(|n| {
        let mut args = [u32s(threads as usize)];
        run(&k, n, [1, 1, 1], &mut args);
        got(&args[0]).to_vec()
    });
    all.sort();
    let [first, .., last] = all;
    assert_eq!(first, last);
    first
}

#[test]
fn both_sides_of_an_if_run_for_their_threads() {
    let out = each(40, |b, i| {
        let zero = b.constant(0u32);
        let v = b.var(zero);
        let seven = b.constant(7u32);
        let one = b.constant(1u32);
        let two = b.constant(2u32);
        let low = b.lt(i, seven);
        b.if_else(
            low,
            |b| {
                b.set(v, one);
                let three = b.constant(3u32);
                let low = b.lt(i, three);
                b.when(low, |b| b.set(v, i));
            },
            |b| b.set(v, two),
        );
        let ten = b.constant(10u32);
        let v = b.get(v);
        b.add(v, ten)
    });
    let expected = (0..40).map(|i| match i {
        0..3 => i + 10,
        3..7 => 11,
        _ => 12,
    });
    assert_eq!(out, expected.collect::<Vec<_>>());
}

#[test]
fn threads_leave_a_loop_one_by_one_and_meet_behind_it() {
    // Collatz steps: as different from thread to thread as can be.
    let out = each(50, |b, i| {
        let (zero, one, three) = (b.constant(0u32), b.constant(1u32), b.constant(3u32));
        let start = b.add(i, one);
        let (x, count) = (b.var(start), b.var(zero));
        b.while_(
            |b| {
                let x = b.get(x);
                b.gt(x, one)
            },
            |b| {
                let now = b.get(x);
                let odd = b.and(now, one);
                let is_odd = b.eq(odd, one);
                b.if_else(
                    is_odd,
                    |b| {
                        let next = b.mul_add(now, three, one);
                        b.set(x, next);
                    },
                    |b| {
                        let next = b.shr(now, one);
                        b.set(x, next);
                    },
                );
                let c = b.get(count);
                let c = b.add(c, one);
                b.set(count, c);
            },
        );
        b.get(count)
    });
    let expected = (1..=50u32).map(|mut x| {
        let mut n = 0;
        while x > 1 {
            x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
            n += 1;
        }
        n
    });
    assert_eq!(out, expected.collect::<Vec<_>>());
}

#[test]
fn continue_runs_the_continuing_part_and_break_does_not() {
    let out = each(20, |b, i| {
        let (zero, one, two) = (b.constant(0u32), b.constant(1u32), b.constant(2u32));
        let ten = b.constant(10u32);
        let sum = b.var(zero);
        b.for_range(zero, ten, |b, k| {
            let odd = b.rem(k, two);
            let odd = b.eq(odd, one);
            b.when(odd, |b| {
                let enough = b.gt(k, i);
                b.when(enough, |b| b.break_());
                b.continue_();
            });
            let s = b.get(sum);
            let s = b.add(s, k);
            b.set(sum, s);
        });
        b.get(sum)
    });
    let expected = (0..20u32).map(|i| {
        let mut sum = 0;
        for k in 0..10 {
            if k % 2 == 1 {
                if k > i {
                    break;
                }
                continue;
            }
            sum += k;
        }
        sum
    });
    assert_eq!(out, expected.collect::<Vec<_>>());
}

#[test]
fn a_return_ends_a_thread_wherever_it_is() {
    let k = kernel([32, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let i = b.local_index();
        let (zero, one) = (b.constant(0u32), b.constant(1u32));
        let n = b.constant(5u32);
        b.for_range(zero, n, |b, k| {
            let s = b.add(k, one);
            b.store(out, i, s);
            let mine = b.eq(k, i);
            b.when(mine, |b| b.return_());
        });
        let hundred = b.constant(100u32);
        let is = b.lt(i, hundred);
        b.if_else(is, |b| b.return_(), |b| b.return_());
    });
    for n in SUBGROUPS {
        let mut args = [u32s(32)];
        run(&k, n, [1, 1, 1], &mut args);
        let expected: Vec<u32> = (0..32).map(|i| (i + 1).min(5)).collect();
        assert_eq!(got(&args[0]), expected);
    }
}

#[test]
fn what_no_thread_reaches_is_passed_over() {
    // Every thread breaks at once: the rest of the body, a loop among it, costs no steps.
    let k = kernel([8, 1, 1], |b| {
        let zero = b.constant(0u32);
        let t = b.constant(true);
        b.begin_loop();
        b.when(t, |b| b.break_());
        b.begin_loop();
        b.when(t, |b| b.break_());
        let v = b.var(zero);
        b.set(v, zero);
        b.end();
        b.end();
    });
    let report = run(&k, 8, [1, 1, 1], &mut []);
    // loop, if, break, end, continuing, end
    assert_eq!(report.steps, 6);
    assert_eq!(report.workgroups, 1);
}

#[test]
fn loops_nest_and_variables_start_again() {
    let out = each(6, |b, i| {
        let (zero, one) = (b.constant(0u32), b.constant(1u32));
        let total = b.var(zero);
        b.for_range(zero, i, |b, j| {
            let inner = b.var(zero);
            b.for_range(zero, j, |b, _| {
                let v = b.get(inner);
                let v = b.add(v, one);
                b.set(inner, v);
            });
            let (t, v) = (b.get(total), b.get(inner));
            let t = b.add(t, v);
            b.set(total, t);
        });
        b.get(total)
    });
    assert_eq!(out, [0, 0, 1, 3, 6, 10]);
}

#[test]
fn endless_loops_end_at_the_limit() {
    let k = kernel([4, 1, 1], |b| {
        b.loop_(|_| {});
    });
    let mut options = strict(4);
    options.step_limit = 1000;
    let error = Executor::new(options).run(&k, [1, 1, 1], &mut []);
    let error = error.unwrap_err();
    let trap = error.trap().unwrap();
    assert_eq!(trap.kind, super::super::TrapKind::StepLimit { limit: 1000 });
    assert!(matches!(trap.op, Op::Continuing | Op::End));

    let k = kernel([1, 1, 1], |b| {
        let one = b.constant(1u32);
        b.add(one, one);
        b.add(one, one);
    });
    let mut options = strict(4);
    options.step_limit = 2;
    let report = Executor::new(options).run(&k, [1, 1, 1], &mut []).unwrap();
    assert_eq!((report.steps, report.thread_steps), (2, 2));
}

#[test]
fn barriers_pass_values_between_subgroups() {
    // A tree reduction in shared memory.
    let k = kernel([64, 1, 1], |b| {
        let out = b.buffer("out", Type::U32, Access::Write);
        let tile = b.shared("tile", Type::U32, 64);
        let i = b.local_index();
        b.store(tile, i, i);
        b.workgroup_barrier();
        let (one, first) = (b.constant(1u32), b.constant(32u32));
        let stride = b.var(first);
        let zero = b.constant(0u32);
        b.while_(
            |b| {
                let s = b.get(stride);
                b.gt(s, zero)
            },
            |b| {
                let s = b.get(stride);
                let mine = b.lt(i, s);
                b.when(mine, |b| {
                    let j = b.add(i, s);
                    let (p, q) = (b.load(tile, i), b.load(tile, j));
                    let sum = b.add(p, q);
                    b.store(tile, i, sum);
                });
                b.workgroup_barrier();
                let half = b.shr(s, one);
                b.set(stride, half);
            },
        );
        let leader = b.eq(i, zero);
        b.when(leader, |b| {
            let g = b.workgroup_id(0);
            let sum = b.load(tile, zero);
            b.store(out, g, sum);
        });
    });
    for n in SUBGROUPS {
        let mut args = [u32s(3)];
        let report = run(&k, n, [3, 1, 1], &mut args);
        assert_eq!(got(&args[0]), [2016; 3]);
        assert_eq!(report.barriers, 3 * 7);
    }
}
