//! Cooperative matrices (SPV_KHR_cooperative_matrix).

use super::check::{Checker, Const32, Inst};
use super::error::Note;
use super::memory::Access;
use super::rules::Rule;
use super::state::{Idx, Kind};
use spirv::{Op, StorageClass as S};

impl Checker<'_> {
    pub(super) fn cooperative(&mut self, inst: &Inst<'_>) {
        match inst.op {
            Op::CooperativeMatrixLoadKHR | Op::CooperativeMatrixStoreKHR => {
                self.matrix_access(inst);
            }
            Op::CooperativeMatrixLengthKHR => {
                let result = self.m.ty(inst.ty);
                if result.kind != Kind::Int || result.signed || result.width != 32 {
                    self.fault(Rule::ResultType, inst.at, Note::None);
                }
                if self.m.kind(self.idx(inst, 3)) != Kind::CooperativeMatrix {
                    self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(3)));
                }
            }
            _ => self.multiply_add(inst),
        }
    }

    fn matrix_access(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let load = inst.op == Op::CooperativeMatrixLoadKHR;
        let (pointer_at, layout_at, matrix) = if load {
            (3, 4, inst.ty)
        } else {
            (1, 3, self.operand_type(inst, 2))
        };
        if m.kind(matrix) != Kind::CooperativeMatrix {
            return self.fault(Rule::OperandType, inst.at, Note::Id(m.def(matrix).id));
        }
        if !self.logical_pointer(inst, pointer_at) {
            return;
        }
        let pointer = self.operand_type(inst, pointer_at);
        let pointee = m.num(m.ty(pointer).elem);
        let reached = matches!(
            m.class(pointer),
            Some(S::Workgroup | S::StorageBuffer | S::PhysicalStorageBuffer)
        );
        if !reached || !matches!(pointee.base, Kind::Int | Kind::Float) || pointee.cooperative {
            self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(pointer_at)));
        }
        let layout = self.idx(inst, layout_at);
        if !self.is_constant(layout) || !self.is_int(m.type_of(layout)) {
            self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(layout_at)));
        }
        let stride_at = layout_at + 1;
        if inst.len() > stride_at {
            if !self.is_int(self.operand_type(inst, stride_at)) {
                self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(stride_at)));
            }
        } else if matches!(self.const_u64(layout), Some(0 | 1)) {
            // Row- and column-major need one.
            self.fault(Rule::OperandType, inst.at, Note::Name("Stride"));
        }
        if inst.len() > stride_at + 1 {
            let access = if load { Access::Read } else { Access::Write };
            self.memory_operands(inst, stride_at + 1, &[pointer], access, 0);
        }
        if !load {
            self.writable_beyond(inst, pointer_at);
        }
    }

    fn writable_beyond(&mut self, inst: &Inst<'_>, i: usize) {
        if self.options.beyond_spirv_val {
            self.writable(inst, i);
        }
    }

    fn multiply_add(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let types = [
            self.operand_type(inst, 3),
            self.operand_type(inst, 4),
            self.operand_type(inst, 5),
            inst.ty,
        ];
        if types.iter().any(|&t| m.kind(t) != Kind::CooperativeMatrix) {
            return self.fault(Rule::OperandType, inst.at, Note::None);
        }
        let part = |ty: Idx, i: usize| self.const32(m.ids.get(self.word_at(m.def(ty).word, i)));
        let same = |x: Const32, y: Const32| match (x, y) {
            (Const32::Known(x), Const32::Known(y)) => x == y,
            _ => true,
        };
        let [a, b, c, d] = types;
        let uses = [(a, 0), (b, 1), (c, 2), (d, 2)];
        let mut fits = uses.iter().all(|&(ty, wanted)| match part(ty, 6) {
            Const32::Known(given) => given == wanted,
            _ => true,
        });
        // Scopes; M: rows of A, C and D; N: columns of B, C and D; K: columns of A, rows of B.
        fits &= types.iter().all(|&t| same(part(a, 3), part(t, 3)));
        fits &= same(part(a, 4), part(c, 4)) && same(part(a, 4), part(d, 4));
        fits &= same(part(c, 4), part(d, 4));
        fits &= same(part(b, 5), part(c, 5)) && same(part(b, 5), part(d, 5));
        fits &= same(part(c, 5), part(d, 5)) && same(part(a, 5), part(b, 4));
        if !fits {
            self.fault(Rule::OperandShape, inst.at, Note::None);
        }
    }
}
