//! Comparisons, and the conditions made with them.

use super::arith::NO_FORM;
use super::body::{Body, Class, class};
use crate::kernel::Inst;
use crate::types::Type;
use spirv::Op as S;

/// The instructions of a comparison, by the kind of its operands.
pub(super) struct Comparison {
    signed: S,
    unsigned: S,
    float: S,
    /// Bools only have equality.
    bool_: Option<S>,
}

const fn same(int: S, float: S, bool_: S) -> Comparison {
    Comparison {
        signed: int,
        unsigned: int,
        float,
        bool_: Some(bool_),
    }
}

const fn order(signed: S, unsigned: S, float: S) -> Comparison {
    Comparison {
        signed,
        unsigned,
        float,
        bool_: None,
    }
}

// False where an operand is NaN, `ne` true.
pub(super) const EQ: Comparison = same(S::IEqual, S::FOrdEqual, S::LogicalEqual);
pub(super) const NE: Comparison = same(S::INotEqual, S::FUnordNotEqual, S::LogicalNotEqual);
pub(super) const LT: Comparison = order(S::SLessThan, S::ULessThan, S::FOrdLessThan);
pub(super) const LE: Comparison = order(S::SLessThanEqual, S::ULessThanEqual, S::FOrdLessThanEqual);
pub(super) const GT: Comparison = order(S::SGreaterThan, S::UGreaterThan, S::FOrdGreaterThan);
pub(super) const GE: Comparison = order(
    S::SGreaterThanEqual,
    S::UGreaterThanEqual,
    S::FOrdGreaterThanEqual,
);

impl Body<'_> {
    #[inline]
    pub(super) fn compare(&mut self, inst: &Inst, with: &Comparison) -> u32 {
        let operands = self.type_of(inst.a);
        let op = match class(operands) {
            Class::Signed => Some(with.signed),
            Class::Unsigned => Some(with.unsigned),
            Class::Float => Some(with.float),
            Class::Bool => with.bool_,
            Class::None => None,
        };
        let Some(op) = op else {
            return self.unsupported(inst, operands, NO_FORM);
        };
        let ty = self.w.ty(Type::BOOL);
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        self.w.op2(op, ty, a, b)
    }
}
