//! Group operations.

use super::check::{Checker, Inst};
use super::error::Note;
use super::rules::Rule;
use super::state::{Kind, Num};
use spirv::{GroupOperation, Op};

fn ballot(n: Num) -> bool {
    n.vector && n.base == Kind::Int && !n.signed && n.dim == 4
}

fn value(n: Num) -> bool {
    matches!(n.base, Kind::Int | Kind::Float | Kind::Bool) && !n.cooperative
}

impl Checker<'_> {
    pub(super) fn group(&mut self, inst: &Inst<'_>) {
        self.execution_scope(inst, 3);
        let m = self.m;
        let result = m.num(inst.ty);
        let a = self.operand_num(inst, 4);
        let same = self.operand_type(inst, 4) == inst.ty;
        let is_bool = result.base == Kind::Bool && !result.vector;
        let unsigned = |n: Num| n.base == Kind::Int && !n.signed && !n.vector && !n.cooperative;
        let fits = match inst.op {
            Op::GroupNonUniformElect => is_bool,
            Op::GroupNonUniformAny | Op::GroupNonUniformAll => {
                is_bool && a.base == Kind::Bool && !a.vector
            }
            Op::GroupNonUniformAllEqual => is_bool && value(a),
            Op::GroupNonUniformBroadcast
            | Op::GroupNonUniformShuffle
            | Op::GroupNonUniformShuffleXor
            | Op::GroupNonUniformShuffleUp
            | Op::GroupNonUniformShuffleDown
            | Op::GroupNonUniformQuadBroadcast
            | Op::GroupNonUniformQuadSwap => {
                let constant = inst.op == Op::GroupNonUniformQuadSwap
                    || (m.version < 5
                        && matches!(
                            inst.op,
                            Op::GroupNonUniformBroadcast | Op::GroupNonUniformQuadBroadcast
                        ));
                value(result)
                    && same
                    && unsigned(self.operand_num(inst, 5))
                    && (!constant || self.is_constant(self.idx(inst, 5)))
            }
            Op::GroupNonUniformBroadcastFirst => value(result) && same,
            Op::GroupNonUniformBallot => ballot(result) && a.base == Kind::Bool && !a.vector,
            Op::GroupNonUniformInverseBallot => is_bool && ballot(a),
            Op::GroupNonUniformBallotBitExtract => {
                is_bool && ballot(a) && unsigned(self.operand_num(inst, 5))
            }
            Op::GroupNonUniformBallotBitCount => {
                unsigned(result) && ballot(self.operand_num(inst, 5)) && inst.word(4) <= 2
            }
            Op::GroupNonUniformBallotFindLSB | Op::GroupNonUniformBallotFindMSB => {
                unsigned(result) && ballot(a)
            }
            Op::GroupNonUniformRotateKHR => {
                if inst.len() > 6 {
                    self.cluster(inst, 6);
                }
                value(result) && same && unsigned(self.operand_num(inst, 5))
            }
            _ => self.reduction(inst, result),
        };
        if !fits {
            self.fault(Rule::GroupOperands, inst.at, Note::None);
        }
    }

    fn reduction(&mut self, inst: &Inst<'_>, result: Num) -> bool {
        let base = match inst.op {
            Op::GroupNonUniformFAdd
            | Op::GroupNonUniformFMul
            | Op::GroupNonUniformFMin
            | Op::GroupNonUniformFMax => Kind::Float,
            Op::GroupNonUniformLogicalAnd
            | Op::GroupNonUniformLogicalOr
            | Op::GroupNonUniformLogicalXor => Kind::Bool,
            _ => Kind::Int,
        };
        let unsigned = matches!(inst.op, Op::GroupNonUniformUMin | Op::GroupNonUniformUMax);
        let clustered = inst.word(4) == GroupOperation::ClusteredReduce as u32;
        let partitioned = matches!(inst.word(4), 6..=8);
        if partitioned {
            // The extension says nothing of the sign.
            let mask = self.operand_num(inst, 6);
            if inst.len() != 7 || !mask.vector || mask.base != Kind::Int || mask.dim != 4 {
                return false;
            }
        } else if inst.len() > 6 {
            self.cluster(inst, 6);
        } else if clustered {
            self.fault(Rule::ClusterSize, inst.at, Note::None);
        }
        result.base == base
            && !result.cooperative
            && !(unsigned && result.signed)
            && self.operand_type(inst, 5) == inst.ty
    }

    fn cluster(&mut self, inst: &Inst<'_>, i: usize) {
        let idx = self.idx(inst, i);
        if !self.is_unsigned(self.m.type_of(idx)) || !self.is_constant(idx) {
            return self.fault(Rule::ClusterSize, inst.at, Note::Id(inst.word(i)));
        }
        if let Some(size) = self.const_u64(idx)
            && !size.is_power_of_two()
        {
            let size = u32::try_from(size).unwrap_or(u32::MAX);
            self.fault(Rule::ClusterPower, inst.at, Note::Value(size));
        }
    }
}
