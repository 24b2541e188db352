//! Operations among the lanes of a subgroup.
//!
//! A lane is active if its linear local index is below the workgroup size, so that the active lanes are the first ones:
//! how many they are is computed from the lane's place, and what comes from others is replaced by the lane's own value.

use super::arith::NO_FORM;
use super::body::{Body, Class, class};
use super::builtins::Builtin;
use super::half::working;
use super::preamble::cap;
use crate::kernel::Inst;
use crate::op::Op;
use crate::types::Type;
use spirv::{GlslStd450Op as Gl, GroupOperation, Op as S, Scope as SpvScope};

/// The greatest subgroup that Vulkan allows (`maxSubgroupSize`).
const MAX_SIZE: u32 = 128;

/// What a reduction gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reduce,
    Inclusive,
    Exclusive,
}

impl Kind {
    fn of(flags: u8) -> Kind {
        match flags & !Inst::NATIVE_ORDER {
            Inst::INCLUSIVE => Kind::Inclusive,
            Inst::EXCLUSIVE => Kind::Exclusive,
            _ => Kind::Reduce,
        }
    }

    fn operation(self) -> u32 {
        let operation = match self {
            Kind::Reduce => GroupOperation::Reduce,
            Kind::Inclusive => GroupOperation::InclusiveScan,
            Kind::Exclusive => GroupOperation::ExclusiveScan,
        };
        operation as u32
    }
}

impl Body<'_> {
    fn subgroup_scope(&mut self) -> u32 {
        self.w.caps |= cap::GROUP_NON_UNIFORM;
        self.w.u32(SpvScope::Subgroup as u32)
    }

    /// The number of active lanes of this subgroup, a `u32`.
    fn active_lanes(&mut self) -> u32 {
        if self.active != 0 {
            return self.active;
        }
        let threads = self.kernel.workgroup_threads();
        let required = self.kernel.required_subgroup_size();
        let whole = required.filter(|&size| threads.is_multiple_of(size.max(1)));
        if let Some(size) = whole {
            return self.w.u32(size);
        }
        let size = match required {
            Some(size) => self.w.u32(size),
            None => self.read(Builtin::SubgroupSize),
        };
        let (index, lane) = (self.read(Builtin::LocalIndex), self.read(Builtin::Lane));
        let ty = self.w.ty(Type::U32);
        let threads = self.w.u32(threads);
        let first = self.w.op2(S::ISub, ty, index, lane);
        let rest = self.w.op2(S::ISub, ty, threads, first);
        let active = self.w.ext2(Gl::UMin, ty, size, rest);
        if self.s.flow.is_outside() && self.nested == 0 {
            self.active = active;
        }
        active
    }

    pub(super) fn elect(&mut self) -> u32 {
        let (scope, ty) = (self.subgroup_scope(), self.w.ty(Type::BOOL));
        self.w.op1(S::GroupNonUniformElect, ty, scope)
    }

    /// `any` and `all`.
    pub(super) fn vote(&mut self, inst: &Inst, op: S) -> u32 {
        self.w.caps |= cap::VOTE;
        let (scope, ty, a) = (
            self.subgroup_scope(),
            self.w.ty(Type::BOOL),
            self.val(inst.a),
        );
        self.w.op2(op, ty, scope, a)
    }

    pub(super) fn ballot(&mut self, inst: &Inst) -> u32 {
        self.w.caps |= cap::BALLOT;
        let (scope, ty, a) = (
            self.subgroup_scope(),
            self.w.ty(Type::U32X4),
            self.val(inst.a),
        );
        self.w.op2(S::GroupNonUniformBallot, ty, scope, a)
    }

    /// The shuffles and the broadcast. An operand that is no constant goes through `OpGroupNonUniformShuffle`, since
    /// the others may want it to be the same in every lane.
    #[inline(never)]
    pub(super) fn shuffle(&mut self, inst: &Inst) -> u32 {
        let (value, operand) = (self.val(inst.a), self.val(inst.b));
        let known = self.known(inst.b);
        let (ty, bool_ty) = (self.w.ty(Type::U32), self.w.ty(Type::BOOL));
        if inst.op == Op::Broadcast && known == Some(0) {
            // Always active.
            return self.moved(S::GroupNonUniformBroadcast, inst.ty, value, operand);
        }
        let active = self.active_lanes();
        let lane = self.read(Builtin::Lane);
        // By a constant: there is an instruction for that, and its result is replaced where it may not be used.
        let native = known.is_some() && inst.op != Op::Shuffle;
        let (source, valid, op) = match inst.op {
            Op::ShuffleXor => {
                let source = self.w.op2(S::BitwiseXor, ty, lane, operand);
                let valid = self.w.op2(S::ULessThan, bool_ty, source, active);
                (source, valid, S::GroupNonUniformShuffleXor)
            }
            Op::ShuffleUp => {
                let valid = self.w.op2(S::ULessThanEqual, bool_ty, operand, lane);
                let source = if native {
                    0
                } else {
                    self.w.op2(S::ISub, ty, lane, operand)
                };
                (source, valid, S::GroupNonUniformShuffleUp)
            }
            Op::ShuffleDown => {
                let above = self.w.op2(S::ISub, ty, active, lane);
                let valid = self.w.op2(S::ULessThan, bool_ty, operand, above);
                let source = if native {
                    0
                } else {
                    self.w.op2(S::IAdd, ty, lane, operand)
                };
                (source, valid, S::GroupNonUniformShuffleDown)
            }
            _ => {
                let valid = self.w.op2(S::ULessThan, bool_ty, operand, active);
                (operand, valid, S::GroupNonUniformBroadcast)
            }
        };
        if native {
            let moved = self.moved(op, inst.ty, value, operand);
            let ty = self.w.ty(inst.ty);
            return self.w.op3(S::Select, ty, valid, moved, value);
        }
        let source = self.w.op3(S::Select, ty, valid, source, lane);
        self.moved(S::GroupNonUniformShuffle, inst.ty, value, source)
    }

    /// A value moved between lanes, every bit kept: 64 bits in halves and f16 as an integer, so that no device needs
    /// extended types.
    fn moved(&mut self, op: S, ty: Type, value: u32, operand: u32) -> u32 {
        let scope = self.subgroup_scope();
        self.w.caps |= match op {
            S::GroupNonUniformBroadcast => cap::BALLOT,
            S::GroupNonUniformShuffleUp | S::GroupNonUniformShuffleDown => cap::SHUFFLE_RELATIVE,
            _ => cap::SHUFFLE,
        };
        let u32_ty = self.w.ty(Type::U32);
        if ty.bytes() == 8 {
            let (low, high) = self.w.split(value);
            let low = self.w.op3(op, u32_ty, scope, low, operand);
            let high = self.w.op3(op, u32_ty, scope, high, operand);
            return self.w.combine(ty, low, high);
        }
        if ty == Type::F16 {
            let bits = self.w.f16_bits(value);
            let bits = self.w.op3(op, u32_ty, scope, bits, operand);
            return self.w.f16_of(bits, 0);
        }
        let id = self.w.ty(ty);
        self.w.op3(op, id, scope, value, operand)
    }

    /// An instruction that reduces or scans.
    fn collect(&mut self, op: S, kind: Kind, ty: u32, value: u32) -> u32 {
        self.w.caps |= cap::ARITHMETIC;
        let scope = self.subgroup_scope();
        self.w.op3(op, ty, scope, kind.operation(), value)
    }

    /// In lane 0 of an exclusive scan the identity.
    fn first_lane(&mut self, kind: Kind, ty: Type, identity: u64, value: u32) -> u32 {
        if kind != Kind::Exclusive {
            return value;
        }
        let lane = self.read(Builtin::Lane);
        let first = self.w.test(S::IEqual, lane, 0);
        let (id, identity) = (self.w.ty(ty), self.w.constant(ty, identity));
        self.w.op3(S::Select, id, first, identity, value)
    }

    #[inline(never)]
    pub(super) fn reduction(&mut self, inst: &Inst) -> u32 {
        let kind = Kind::of(inst.flags);
        let value = self.val(inst.a);
        let (ty, id) = (inst.ty, self.w.ty(inst.ty));
        if class(ty) == Class::Float {
            return match inst.op {
                Op::SubgroupAdd => self.float_sum(inst, kind, value),
                Op::SubgroupMin => self.float_extreme(kind, ty, value, false),
                Op::SubgroupMax => self.float_extreme(kind, ty, value, true),
                _ => self.unsupported(inst, ty, NO_FORM),
            };
        }
        let signed = class(ty) == Class::Signed;
        let op = match (inst.op, class(ty) == Class::Bool) {
            (Op::SubgroupAdd, false) => S::GroupNonUniformIAdd,
            (Op::SubgroupMin, false) if signed => S::GroupNonUniformSMin,
            (Op::SubgroupMin, false) => S::GroupNonUniformUMin,
            (Op::SubgroupMax, false) if signed => S::GroupNonUniformSMax,
            (Op::SubgroupMax, false) => S::GroupNonUniformUMax,
            (Op::SubgroupAnd, false) => S::GroupNonUniformBitwiseAnd,
            (Op::SubgroupOr, false) => S::GroupNonUniformBitwiseOr,
            (Op::SubgroupXor, false) => S::GroupNonUniformBitwiseXor,
            (Op::SubgroupAnd, true) => S::GroupNonUniformLogicalAnd,
            (Op::SubgroupOr, true) => S::GroupNonUniformLogicalOr,
            (Op::SubgroupXor, true) => S::GroupNonUniformLogicalXor,
            _ => return self.unsupported(inst, ty, NO_FORM),
        };
        let value = self.collect(op, kind, id, value);
        if ty.bytes() >= 4 || class(ty) == Class::Bool {
            return value;
        }
        // A sum may have left the type, and the identity of 32 bits is not the type's own.
        let bits = ty.bytes() * 8;
        let ones = u64::MAX >> (64 - bits);
        match (inst.op, kind) {
            (Op::SubgroupAdd, _) => self.w.normalise(ty, value),
            (Op::SubgroupMin, Kind::Exclusive) if signed => {
                let most = self.w.constant(ty, ones >> 1);
                self.w.ext2(Gl::SMin, id, value, most)
            }
            (Op::SubgroupMin, Kind::Exclusive) => {
                let most = self.w.constant(ty, ones);
                self.w.ext2(Gl::UMin, id, value, most)
            }
            (Op::SubgroupMax, Kind::Exclusive) if signed => {
                let least = self.w.constant(ty, (ones >> 1) + 1);
                self.w.ext2(Gl::SMax, id, value, least)
            }
            (Op::SubgroupAnd, Kind::Exclusive) => self.w.normalise(ty, value),
            _ => value,
        }
    }

    /// The sum of floats: in the documented order, or in the device's, 16-bit ones in f32 then.
    fn float_sum(&mut self, inst: &Inst, kind: Kind, value: u32) -> u32 {
        let ty = inst.ty;
        let minus_zero = 1 << (ty.bytes() * 8 - 1);
        if inst.flags & Inst::NATIVE_ORDER != 0 {
            let id = self.w.ty(working(ty));
            let value = self.widen(ty, value);
            let sum = self.collect(S::GroupNonUniformFAdd, kind, id, value);
            let sum = self.narrow(ty, sum);
            return self.first_lane(kind, ty, minus_zero, sum);
        }
        let id = self.w.ty(ty);
        self.tree(kind, ty, value, minus_zero, |body, a, b| {
            let sum = body.w.exact2(S::FAdd, id, a, b);
            match ty {
                // Computed as such.
                Type::F16 => sum,
                ty => body.narrow(ty, sum),
            }
        })
    }

    /// The minimum or maximum of floats, which no order changes. f32 and what fits into it go by an integer that
    /// compares as the float does, −0 below +0; NaN is the last choice. f64 would need 64-bit integers and goes in steps.
    fn float_extreme(&mut self, kind: Kind, ty: Type, value: u32, max: bool) -> u32 {
        let identity = match (ty, max) {
            (Type::F16, false) => 0x7C00,
            (Type::F16, true) => 0xFC00,
            (Type::BF16, false) => 0x7F80,
            (Type::BF16, true) => 0xFF80,
            (Type::F64, false) => f64::INFINITY.to_bits(),
            (Type::F64, true) => f64::NEG_INFINITY.to_bits(),
            (_, false) => u64::from(f32::INFINITY.to_bits()),
            (_, true) => u64::from(f32::NEG_INFINITY.to_bits()),
        };
        if ty == Type::F64 {
            return self.tree(kind, ty, value, identity, |body, a, b| {
                body.float_min_max(ty, a, b, max, true)
            });
        }
        let value = self.widen(ty, value);
        let (i32_ty, u32_ty) = (self.w.ty(Type::I32), self.w.ty(Type::U32));
        let bits = self.w.op1(S::Bitcast, i32_ty, value);
        let key = self.ordered_key(bits);
        let magnitude = self.w.op1(S::Bitcast, u32_ty, bits);
        let magnitude = self.w.with(S::BitwiseAnd, magnitude, 0x7FFF_FFFF);
        let nan = self.w.test(S::UGreaterThan, magnitude, 0x7F80_0000);
        let (op, last) = if max {
            (S::GroupNonUniformSMax, 0x8000_0000)
        } else {
            (S::GroupNonUniformSMin, 0x7FFF_FFFF)
        };
        let last = self.w.constant(Type::I32, last);
        let key = self.w.op3(S::Select, i32_ty, nan, last, key);
        let key = self.collect(op, kind, i32_ty, key);
        let bits = self.ordered_key(key);
        let value = self.w.f32_of(bits);
        let value = self.cut(ty, value);
        self.first_lane(kind, ty, identity, value)
    }

    /// The bits of an f32 as an `i32` that is ordered as the floats are, and back: below zero the magnitude is flipped.
    fn ordered_key(&mut self, bits: u32) -> u32 {
        let ty = self.w.ty(Type::I32);
        let (c31, magnitude) = (self.w.u32(31), self.w.constant(Type::I32, 0x7FFF_FFFF));
        let sign = self.w.op2(S::ShiftRightArithmetic, ty, bits, c31);
        let flip = self.w.op2(S::BitwiseAnd, ty, sign, magnitude);
        self.w.op2(S::BitwiseXor, ty, bits, flip)
    }

    /// Reduces or scans in the documented order, written out for the greatest subgroup; steps as wide as the subgroup
    /// and wider change nothing.
    ///
    /// Reduction: for d = 1, 2, 4 …, f(x, x from d above) where that lane is active; lane 0 has the result. Inclusive
    /// scan: f(x from d below, x) where there is such a lane. Exclusive: that, moved up by one.
    fn tree(
        &mut self,
        kind: Kind,
        ty: Type,
        value: u32,
        identity: u64,
        f: impl Fn(&mut Self, u32, u32) -> u32,
    ) -> u32 {
        let (id, bool_ty, u32_ty) = (self.w.ty(ty), self.w.ty(Type::BOOL), self.w.ty(Type::U32));
        let size = self.kernel.required_subgroup_size().unwrap_or(MAX_SIZE);
        let threads = self.kernel.workgroup_threads();
        let lane = self.read(Builtin::Lane);
        let mut x = value;
        let above = match kind {
            Kind::Reduce => {
                let active = self.active_lanes();
                self.w.op2(S::ISub, u32_ty, active, lane)
            }
            Kind::Inclusive | Kind::Exclusive => 0,
        };
        let mut distance = 1;
        while distance < size.min(threads) {
            let d = self.w.u32(distance);
            x = match kind {
                Kind::Reduce => {
                    let other = self.moved(S::GroupNonUniformShuffleDown, ty, x, d);
                    let valid = self.w.op2(S::ULessThan, bool_ty, d, above);
                    let both = f(self, x, other);
                    self.w.op3(S::Select, id, valid, both, x)
                }
                Kind::Inclusive | Kind::Exclusive => {
                    let other = self.moved(S::GroupNonUniformShuffleUp, ty, x, d);
                    let valid = self.w.op2(S::ULessThanEqual, bool_ty, d, lane);
                    let both = f(self, other, x);
                    self.w.op3(S::Select, id, valid, both, x)
                }
            };
            distance *= 2;
        }
        match kind {
            Kind::Reduce => {
                let zero = self.w.u32(0);
                self.moved(S::GroupNonUniformBroadcast, ty, x, zero)
            }
            Kind::Inclusive => x,
            Kind::Exclusive => {
                let one = self.w.u32(1);
                let x = self.moved(S::GroupNonUniformShuffleUp, ty, x, one);
                self.first_lane(kind, ty, identity, x)
            }
        }
    }
}
