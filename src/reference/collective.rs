//! Operations among the lanes of a subgroup: shuffles, votes, reductions and scans.

use super::lanes::{self, MAX_LANES, Slots, every, truths};
use super::ops::Number;
use super::ops::bits::Bits;
use super::program::{Width, by_width};
use crate::kernel::Inst;
use crate::op::Op;
use crate::types::Type;
use bytemuck::Pod;
use half::{bf16, f16};

/// A shuffle or a vote, of the active lanes.
pub(super) type Among = fn(&mut [u64], &Slots, usize, u128);

/// A reduction or scan, of the active lanes.
pub(super) type Scan = fn(&mut [u64], &Slots, usize, u128, Kind);

/// What a reduction gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Reduce,
    Inclusive,
    Exclusive,
}

impl Kind {
    /// By the flags of an instruction; in what order floats are added makes no difference here.
    pub fn of(flags: u8) -> Kind {
        match flags & !Inst::NATIVE_ORDER {
            Inst::INCLUSIVE => Kind::Inclusive,
            Inst::EXCLUSIVE => Kind::Exclusive,
            _ => Kind::Reduce,
        }
    }
}

/// A lane that does not exist.
const NO_LANE: u32 = u32::MAX;

/// Each active lane takes the value of the lane that `source` makes of its own number and its operand b, or keeps its own
/// where that lane is inactive or out of range.
#[inline(always)]
fn shuffle_from<T: Pod>(
    regs: &mut [u64],
    s: &Slots,
    n: usize,
    active: u128,
    source: impl Fn(u32, u32) -> u32,
) {
    let (before, d) = regs.split_at_mut(s.d as usize);
    let (a, b) = (lanes::get::<T>(before, s.a, n), lanes::get(before, s.b, n));
    let d = lanes::get_mut::<T>(d, 0, n);
    every(active, n, |lane| {
        // A lane is below 128.
        let from = source(lane as u32, b[lane]) as usize;
        let there = from < n && active >> from & 1 != 0;
        d[lane] = a[if there { from } else { lane }];
    });
}

/// The shuffle of an opcode; `None` for other opcodes and types.
pub(super) fn shuffle(op: Op, ty: Type) -> Option<Among> {
    let width = Width::of(ty)?;
    match op {
        Op::Shuffle | Op::Broadcast => Some(by_width!(width, T => |r, s, n, m| {
            shuffle_from::<T>(r, s, n, m, |_, b| b)
        })),
        Op::ShuffleXor => Some(by_width!(width, T => |r, s, n, m| {
            shuffle_from::<T>(r, s, n, m, |lane, b| lane ^ b)
        })),
        Op::ShuffleUp => Some(by_width!(width, T => |r, s, n, m| {
            shuffle_from::<T>(r, s, n, m, |lane, b| lane.checked_sub(b).unwrap_or(NO_LANE))
        })),
        Op::ShuffleDown => Some(by_width!(width, T => |r, s, n, m| {
            shuffle_from::<T>(r, s, n, m, |lane, b| lane.saturating_add(b))
        })),
        _ => None,
    }
}

/// The same truth value in every active lane.
fn tell(regs: &mut [u64], s: &Slots, n: usize, active: u128, truth: bool) {
    let d = lanes::get_mut::<u32>(regs, s.d, n);
    every(active, n, |lane| d[lane] = u32::from(truth));
}

pub(super) fn any(regs: &mut [u64], s: &Slots, n: usize, active: u128) {
    let truth = active & truths(lanes::get(regs, s.a, n)) != 0;
    tell(regs, s, n, active, truth);
}

pub(super) fn all(regs: &mut [u64], s: &Slots, n: usize, active: u128) {
    let truth = active & !truths(lanes::get(regs, s.a, n)) == 0;
    tell(regs, s, n, active, truth);
}

pub(super) fn elect(regs: &mut [u64], s: &Slots, n: usize, active: u128) {
    let first = active.trailing_zeros() as usize;
    let d = lanes::get_mut::<u32>(regs, s.d, n);
    every(active, n, |lane| d[lane] = u32::from(lane == first));
}

pub(super) fn ballot(regs: &mut [u64], s: &Slots, n: usize, active: u128) {
    let mask = active & truths(lanes::get(regs, s.a, n));
    // Cut into 32 bits each.
    let words = [0, 32, 64, 96].map(|from| (mask >> from) as u32);
    let d = lanes::get_mut::<[u32; 4]>(regs, s.d, n);
    every(active, n, |lane| d[lane] = words);
}

/// What a reduction starts from.
#[derive(Clone, Copy)]
struct Start<T> {
    /// What an exclusive scan gives the first lane.
    identity: T,
    /// What changes no value at all: it stands for the lanes that are not active.
    nothing: T,
}

/// Reduces or scans in the order that the documentation of this module's parent fixes.
#[inline(always)]
fn scan<T: Pod>(
    regs: &mut [u64],
    s: &Slots,
    n: usize,
    active: u128,
    kind: Kind,
    start: Start<T>,
    f: impl Fn(T, T) -> T,
) {
    let mut all = [start.nothing; MAX_LANES];
    let x = &mut all[..n];
    let a = lanes::get::<T>(regs, s.a, n);
    every(active, n, |lane| x[lane] = a[lane]);
    let d = lanes::get_mut::<T>(regs, s.d, n);
    if kind == Kind::Reduce {
        let mut distance = 1;
        while distance < n {
            for pair in x.chunks_exact_mut(2 * distance) {
                pair[0] = f(pair[0], pair[distance]);
            }
            distance *= 2;
        }
        every(active, n, |lane| d[lane] = x[0]);
        return;
    }
    let mut distance = 1;
    while distance < n {
        for lane in (distance..n).rev() {
            x[lane] = f(x[lane - distance], x[lane]);
        }
        distance *= 2;
    }
    let first = active.trailing_zeros() as usize;
    every(active, n, |lane| {
        d[lane] = match kind {
            Kind::Reduce | Kind::Inclusive => x[lane],
            Kind::Exclusive if lane == first => start.identity,
            Kind::Exclusive => x[lane.saturating_sub(1)],
        };
    });
}

/// The starts of the reductions of a type.
trait Reduced: Pod {
    const ADD: Start<Self>;
    const MIN: Start<Self>;
    const MAX: Start<Self>;
}

const fn from<T: Copy>(identity: T) -> Start<T> {
    Start {
        identity,
        nothing: identity,
    }
}

macro_rules! reduced {
    (integers $($t:ident)*) => {$(
        impl Reduced for $t {
            const ADD: Start<$t> = from(0);
            const MIN: Start<$t> = from($t::MAX);
            const MAX: Start<$t> = from($t::MIN);
        }
    )*};
    (floats $($t:ident)*) => {$(
        impl Reduced for $t {
            // -0.0 changes no number, but +0.0 makes +0.0 of -0.0.
            const ADD: Start<$t> = from($t::from_bits(1 << (8 * size_of::<$t>() - 1)));
            // A NaN is what `min` and `max` pass over; infinity they would prefer to a NaN.
            const MIN: Start<$t> = Start { identity: $t::INFINITY, nothing: $t::NAN };
            const MAX: Start<$t> = Start { identity: $t::NEG_INFINITY, nothing: $t::NAN };
        }
    )*};
}
reduced! { integers i8 i16 i32 i64 u8 u16 u32 u64 }
reduced! { floats f16 bf16 f32 f64 }

/// Chooses by type, as `over!` does for pure opcodes.
macro_rules! scans {
    ($ty:expr; $start:ident $family:ident::$f:ident: $($name:ident $t:ident),*) => {{
        let chosen: Option<Scan> = match $ty {
            $(Type::$name => Some(|r, s, n, m, k| {
                scan::<$t>(r, s, n, m, k, <$t as Reduced>::$start, <$t as $family>::$f)
            }),)*
            _ => None,
        };
        chosen
    }};
}

macro_rules! numbers {
    ($ty:expr; $start:ident $f:ident) => {
        scans!($ty; $start Number::$f: I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 f16, BF16 bf16, F32 f32, F64 f64)
    };
}

/// Bitwise reductions: the sign does not matter, and a bool is the `u32` that stands for it.
fn bitwise(op: Op, ty: Type) -> Option<Scan> {
    fn of<T: Bits>(op: Op) -> Option<Scan> {
        match op {
            Op::SubgroupAnd => Some(|r, s, n, m, k| {
                scan::<T>(r, s, n, m, k, from(T::zeroed().not()), Bits::and);
            }),
            Op::SubgroupOr => {
                Some(|r, s, n, m, k| scan::<T>(r, s, n, m, k, from(T::zeroed()), Bits::or))
            }
            Op::SubgroupXor => {
                Some(|r, s, n, m, k| scan::<T>(r, s, n, m, k, from(T::zeroed()), Bits::xor))
            }
            _ => None,
        }
    }
    match ty {
        Type::BOOL if op == Op::SubgroupAnd => {
            Some(|r, s, n, m, k| scan::<u32>(r, s, n, m, k, from(1), Bits::and))
        }
        Type::I8 | Type::U8 => of::<u8>(op),
        Type::I16 | Type::U16 => of::<u16>(op),
        Type::I32 | Type::U32 | Type::BOOL => of::<u32>(op),
        Type::I64 | Type::U64 => of::<u64>(op),
        _ => None,
    }
}

/// The reduction of an opcode; `None` for other opcodes and types.
pub(super) fn reduction(op: Op, ty: Type) -> Option<Scan> {
    match op {
        Op::SubgroupAdd => numbers!(ty; ADD add),
        Op::SubgroupMin => numbers!(ty; MIN min),
        Op::SubgroupMax => numbers!(ty; MAX max),
        Op::SubgroupAnd | Op::SubgroupOr | Op::SubgroupXor => bitwise(op, ty),
        _ => None,
    }
}
