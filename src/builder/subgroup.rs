//! Operations among the lanes of a subgroup. Every lane of the subgroup must reach them: the verifier checks that.

use super::KernelBuilder;
use crate::kernel::{Inst, Value};
use crate::op::Op;
use crate::types::Type;

/// What a subgroup operation over the lanes gives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Scan {
    /// The result over all active lanes, in every lane.
    #[default]
    Reduce,
    /// In each lane the result over the active lanes up to and including it.
    Inclusive,
    /// In each lane the result over the active lanes below it; the identity in the first.
    Exclusive,
}

impl Scan {
    const fn flags(self) -> u8 {
        match self {
            Scan::Reduce => 0,
            Scan::Inclusive => Inst::INCLUSIVE,
            Scan::Exclusive => Inst::EXCLUSIVE,
        }
    }
}

impl KernelBuilder {
    fn vote(&mut self, op: Op, a: Value, ty: Type) -> Value {
        let Some(a) = self.operand(op, a) else {
            return self.refused();
        };
        self.push(Inst {
            a,
            ..Inst::new(op, ty)
        })
    }

    fn scan(&mut self, op: Op, a: Value, flags: u8) -> Value {
        let Some(a) = self.operand(op, a) else {
            return self.refused();
        };
        let ty = self.ty(a);
        self.push(Inst {
            a,
            flags,
            ..Inst::new(op, ty)
        })
    }

    /// The value that lane `lane` (a `u32`) has; the own one where that lane is inactive or out of range.
    #[inline]
    pub fn shuffle(&mut self, a: Value, lane: Value) -> Value {
        self.any_values(Op::Shuffle, a, lane, lane)
    }

    /// The value of the lane whose number is the own one xor `mask` (a `u32`), or the own one.
    #[inline]
    pub fn shuffle_xor(&mut self, a: Value, mask: Value) -> Value {
        self.any_values(Op::ShuffleXor, a, mask, mask)
    }

    /// The value of the lane `delta` (a `u32`) below, or the own one.
    #[inline]
    pub fn shuffle_up(&mut self, a: Value, delta: Value) -> Value {
        self.any_values(Op::ShuffleUp, a, delta, delta)
    }

    /// The value of the lane `delta` (a `u32`) above, or the own one.
    #[inline]
    pub fn shuffle_down(&mut self, a: Value, delta: Value) -> Value {
        self.any_values(Op::ShuffleDown, a, delta, delta)
    }

    /// The value of lane `lane` (a `u32`) in every lane; uniform in the subgroup where `lane` is.
    #[inline]
    pub fn broadcast(&mut self, a: Value, lane: Value) -> Value {
        self.any_values(Op::Broadcast, a, lane, lane)
    }

    /// One bit for each lane as a vector of four `u32`, set where `a` (a `bool`) is true.
    pub fn ballot(&mut self, a: Value) -> Value {
        self.vote(Op::Ballot, a, Type::U32X4)
    }

    /// Whether `a` (a `bool`) is true in some lane.
    pub fn any(&mut self, a: Value) -> Value {
        self.vote(Op::Any, a, Type::BOOL)
    }

    /// Whether `a` (a `bool`) is true in every active lane.
    pub fn all(&mut self, a: Value) -> Value {
        self.vote(Op::All, a, Type::BOOL)
    }

    /// True in the lowest active lane alone.
    pub fn elect(&mut self) -> Value {
        self.push(Inst::new(Op::Elect, Type::BOOL))
    }

    /// The sum over the lanes. Floats are added in a fixed tree order, so that every target agrees.
    pub fn subgroup_add(&mut self, a: Value, scan: Scan) -> Value {
        self.scan(Op::SubgroupAdd, a, scan.flags())
    }

    /// The sum over the lanes in whatever order the target likes; floats then differ between targets.
    pub fn subgroup_add_native_order(&mut self, a: Value, scan: Scan) -> Value {
        self.scan(Op::SubgroupAdd, a, scan.flags() | Inst::NATIVE_ORDER)
    }

    /// The least over the lanes, as [`KernelBuilder::min`] orders.
    pub fn subgroup_min(&mut self, a: Value, scan: Scan) -> Value {
        self.scan(Op::SubgroupMin, a, scan.flags())
    }

    /// The greatest over the lanes, as [`KernelBuilder::max`] orders.
    pub fn subgroup_max(&mut self, a: Value, scan: Scan) -> Value {
        self.scan(Op::SubgroupMax, a, scan.flags())
    }

    /// Bitwise and over the lanes.
    pub fn subgroup_and(&mut self, a: Value, scan: Scan) -> Value {
        self.scan(Op::SubgroupAnd, a, scan.flags())
    }

    /// Bitwise or over the lanes.
    pub fn subgroup_or(&mut self, a: Value, scan: Scan) -> Value {
        self.scan(Op::SubgroupOr, a, scan.flags())
    }

    /// Bitwise exclusive or over the lanes.
    pub fn subgroup_xor(&mut self, a: Value, scan: Scan) -> Value {
        self.scan(Op::SubgroupXor, a, scan.flags())
    }

    /// Waits for every lane of the subgroup; what each wrote before, the others see after.
    pub fn subgroup_barrier(&mut self) {
        self.push(Inst::new(Op::SubgroupBarrier, Type::NONE));
    }

    /// Requires subgroups of `size` lanes (a power of two up to 128): targets and devices that have others refuse the
    /// kernel.
    pub fn require_subgroup_size(&mut self, size: u32) {
        // 0 stands for any size, which is not what was asked for.
        self.verifier.declared.doubt(true);
        self.draft.subgroup_size = if size == 0 { u32::MAX } else { size };
    }
}
