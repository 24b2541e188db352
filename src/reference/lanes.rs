//! Registers and masks: the lanes of a subgroup, and loops over them.
//!
//! A value has 64 bits a lane in the register file. Those of 32 bits stand packed at its front, so that a loop over lanes
//! reads and writes plain slices. A bool is a `u32` of 0 or 1.

use bytemuck::Pod;

/// The greatest subgroup.
pub(super) const MAX_LANES: usize = 128;

/// The mask of the first `n` lanes.
#[inline]
pub(super) fn first(n: usize) -> u128 {
    match n {
        0 => 0,
        n => u128::MAX >> (MAX_LANES - n.min(MAX_LANES)),
    }
}

/// The lanes of the register at word `at`.
///
/// In bounds: the register file holds `n` words from the start of every register that the decoder gave out.
#[inline(always)]
pub(super) fn get<T: Pod>(regs: &[u64], at: u32, n: usize) -> &[T] {
    let at = at as usize;
    &bytemuck::cast_slice(&regs[at..at + n])[..n]
}

/// As [`get`], to write to.
#[inline(always)]
pub(super) fn get_mut<T: Pod>(regs: &mut [u64], at: u32, n: usize) -> &mut [T] {
    let at = at as usize;
    &mut bytemuck::cast_slice_mut(&mut regs[at..at + n])[..n]
}

/// Calls `f` for every lane of `mask` in order, until it fails.
#[inline(always)]
pub(super) fn each<E>(
    mask: u128,
    n: usize,
    mut f: impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    if mask == first(n) {
        for lane in 0..n {
            f(lane)?;
        }
        return Ok(());
    }
    let (low, high) = (mask as u64, (mask >> 64) as u64);
    for (base, mut bits) in [(0, low), (64, high)] {
        while bits != 0 {
            f(base + bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
        }
    }
    Ok(())
}

/// As [`each`] for what cannot fail.
#[inline(always)]
pub(super) fn every(mask: u128, n: usize, mut f: impl FnMut(usize)) {
    let done: Result<(), core::convert::Infallible> = each(mask, n, |lane| {
        f(lane);
        Ok(())
    });
    match done {
        Ok(()) => {}
    }
}

/// The mask of the lanes whose bool is true.
#[inline]
pub(super) fn truths(bools: &[u32]) -> u128 {
    let mut mask = 0;
    for (i, chunk) in bools.chunks(32).enumerate() {
        let mut bits = 0u32;
        for (lane, &b) in chunk.iter().enumerate() {
            bits |= (b & 1) << lane;
        }
        mask |= u128::from(bits) << (32 * i);
    }
    mask
}

/// Where the operands of a pure instruction stand in the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Slots {
    /// The result; it stands after all operands.
    pub d: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub e: u32,
}

/// A pure instruction on all lanes.
pub(super) type Pure = fn(&mut [u64], &Slots, usize);

#[inline(always)]
pub(super) fn unary<A: Pod, D: Pod>(regs: &mut [u64], s: &Slots, n: usize, f: impl Fn(A) -> D) {
    let (before, d) = regs.split_at_mut(s.d as usize);
    let a = get::<A>(before, s.a, n);
    for (d, &a) in get_mut(d, 0, n).iter_mut().zip(a) {
        *d = f(a);
    }
}

#[inline(always)]
pub(super) fn binary<A: Pod, B: Pod, D: Pod>(
    regs: &mut [u64],
    s: &Slots,
    n: usize,
    f: impl Fn(A, B) -> D,
) {
    let (before, d) = regs.split_at_mut(s.d as usize);
    let (a, b) = (get::<A>(before, s.a, n), get::<B>(before, s.b, n));
    for ((d, &a), &b) in get_mut(d, 0, n).iter_mut().zip(a).zip(b) {
        *d = f(a, b);
    }
}

#[inline(always)]
pub(super) fn ternary<A: Pod, B: Pod, C: Pod, D: Pod>(
    regs: &mut [u64],
    s: &Slots,
    n: usize,
    f: impl Fn(A, B, C) -> D,
) {
    let (before, d) = regs.split_at_mut(s.d as usize);
    let (a, b) = (get::<A>(before, s.a, n), get::<B>(before, s.b, n));
    let c = get::<C>(before, s.c, n);
    for (((d, &a), &b), &c) in get_mut(d, 0, n).iter_mut().zip(a).zip(b).zip(c) {
        *d = f(a, b, c);
    }
}

#[inline(always)]
pub(super) fn quaternary<A: Pod, B: Pod, C: Pod, E: Pod, D: Pod>(
    regs: &mut [u64],
    s: &Slots,
    n: usize,
    f: impl Fn(A, B, C, E) -> D,
) {
    let (before, d) = regs.split_at_mut(s.d as usize);
    let (a, b) = (get::<A>(before, s.a, n), get::<B>(before, s.b, n));
    let (c, e) = (get::<C>(before, s.c, n), get::<E>(before, s.e, n));
    let operands = a.iter().zip(b).zip(c).zip(e);
    for (d, (((&a, &b), &c), &e)) in get_mut(d, 0, n).iter_mut().zip(operands) {
        *d = f(a, b, c, e);
    }
}

/// Copies a register in the lanes of `mask`, bit for bit.
#[inline]
pub(super) fn copy<T: Pod>(regs: &mut [u64], from: u32, to: u32, n: usize, mask: u128) {
    if mask == first(n) {
        regs.copy_within(from as usize..from as usize + n, to as usize);
        return;
    }
    let (before, after) = regs.split_at_mut(from.max(to) as usize);
    let (from, to) = if from < to {
        (get::<T>(before, from, n), get_mut::<T>(after, 0, n))
    } else {
        (get::<T>(after, 0, n), get_mut::<T>(before, to, n))
    };
    every(mask, n, |lane| to[lane] = from[lane]);
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn lanes_are_visited_in_order_under_any_mask() {
        for (mask, n, expected) in [
            (0b1011, 4, vec![0, 1, 3]),
            (1 << 127 | 1 << 64 | 1, 128, vec![0, 64, 127]),
            (first(3), 3, vec![0, 1, 2]),
            (0, 4, vec![]),
        ] {
            let mut seen = vec![];
            every(mask, n, |lane| seen.push(lane));
            assert_eq!(seen, expected);
        }
        assert_eq!(first(0), 0);
        assert_eq!(first(128), u128::MAX);
    }

    #[test]
    fn truths_pack_every_lane() {
        let mut bools = [0u32; 128];
        for lane in [0, 31, 32, 63, 64, 127] {
            bools[lane] = 1;
        }
        assert_eq!(
            truths(&bools),
            1 | 1 << 31 | 1 << 32 | 1 << 63 | 1 << 64 | 1 << 127
        );
        assert_eq!(truths(&[1, 0, 1]), 0b101);
    }

    #[test]
    fn copies_go_both_ways_and_spare_other_lanes() {
        let mut regs = vec![1, 2, 3, 4, 10, 20, 30, 40];
        copy::<u64>(&mut regs, 4, 0, 4, 0b0101);
        assert_eq!(regs, [10, 2, 30, 4, 10, 20, 30, 40]);
        copy::<u64>(&mut regs, 0, 4, 4, 0b1111);
        assert_eq!(regs[4..], [10, 2, 30, 4]);
    }
}
