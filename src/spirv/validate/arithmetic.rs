//! Arithmetic, bits, logic and conversions. `shift` is 1 for an operation within
//! OpSpecConstantOp, whose operands stand one word later.

use super::check::{Checker, Inst};
use super::error::Note;
use super::rules::Rule;
use super::state::{Idx, Kind, Num, has};
use spirv::{Capability, Op, StorageClass};

/// A matrix type: its columns, rows and their types.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Matrix {
    columns: u32,
    rows: u32,
    column: Idx,
    component: Idx,
}

/// A scalar or vector, not cooperative, of this base.
fn plain(num: Num, base: Kind) -> bool {
    num.base == base && !num.cooperative
}

fn bits(num: Num) -> u64 {
    u64::from(num.width) * u64::from(num.dim)
}

impl Checker<'_> {
    fn result(&mut self, inst: &Inst<'_>, fits: bool) -> bool {
        if !fits {
            self.fault(Rule::ResultType, inst.at, Note::None);
        }
        fits
    }

    fn operand(&mut self, inst: &Inst<'_>, i: usize, fits: bool) -> bool {
        if !fits {
            self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(i)));
        }
        fits
    }

    fn shape(&mut self, inst: &Inst<'_>, i: usize, fits: bool) {
        if !fits {
            self.fault(Rule::OperandShape, inst.at, Note::Id(inst.word(i)));
        }
    }

    pub(super) fn arithmetic(&mut self, inst: &Inst<'_>, op: Op, shift: usize) {
        let result = self.m.num(inst.ty);
        match op {
            Op::FNegate | Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FMod => {
                let matrices = !matches!(op, Op::FRem | Op::FMod);
                let fits = result.base == Kind::Float && (!result.cooperative || matrices);
                if !self.result(inst, fits) {
                    return;
                }
                for i in 3 + shift..inst.len() {
                    self.same_or_matching(inst, i, result);
                }
            }
            Op::UDiv | Op::UMod => {
                let fits = result.base == Kind::Int
                    && !result.signed
                    && (!result.cooperative || op == Op::UDiv);
                if !self.result(inst, fits) {
                    return;
                }
                for i in 3 + shift..inst.len() {
                    self.same_or_matching(inst, i, result);
                }
            }
            Op::SNegate | Op::IAdd | Op::ISub | Op::IMul | Op::SDiv | Op::SRem | Op::SMod => {
                let matrices = !matches!(op, Op::SRem | Op::SMod);
                let fits = result.base == Kind::Int && (!result.cooperative || matrices);
                if !self.result(inst, fits) {
                    return;
                }
                for i in 3 + shift..inst.len() {
                    let num = self.operand_num(inst, i);
                    if num.base != Kind::Int || num.cooperative != result.cooperative {
                        self.operand(inst, i, false);
                    } else if num.dim != result.dim || num.width != result.width {
                        self.shape(inst, i, false);
                    } else if num.cooperative {
                        self.matching_matrices(inst, i, inst.ty);
                    }
                }
            }
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => {
                let members = self.members(inst.ty);
                let first = members.first().map_or(0, |&id| self.m.ids.get(id));
                let num = self.m.num(first);
                let fits = members.len() == 2
                    && members.first() == members.last()
                    && plain(num, Kind::Int)
                    && (!num.signed || op == Op::SMulExtended);
                if !self.result(inst, fits) {
                    return;
                }
                for i in 3..5 {
                    let same = self.operand_type(inst, i) == first;
                    self.operand(inst, i, same);
                }
            }
            Op::Dot => {
                if !self.result(inst, self.m.kind(inst.ty) == Kind::Float) {
                    return;
                }
                let first = self.operand_num(inst, 3).dim;
                for i in 3..5 {
                    let num = self.operand_num(inst, i);
                    let fits = num.vector && num.base == Kind::Float && num.component == inst.ty;
                    if self.operand(inst, i, fits) {
                        self.shape(inst, i, num.dim == first);
                    }
                }
            }
            _ => {}
        }
    }

    fn same_or_matching(&mut self, inst: &Inst<'_>, i: usize, result: Num) {
        let ty = self.operand_type(inst, i);
        if ty == inst.ty {
            return;
        }
        let num = self.m.num(ty);
        if result.cooperative && num.cooperative && num.base == result.base {
            self.matching_matrices(inst, i, inst.ty);
        } else {
            self.operand(inst, i, false);
        }
    }

    /// Cooperative matrices of one scope, shape and use.
    pub(super) fn matching_matrices(&mut self, inst: &Inst<'_>, i: usize, result: Idx) {
        let ty = self.operand_type(inst, i);
        let (a, b) = (self.m.def(result).word, self.m.def(ty).word);
        for part in 3..7 {
            let x = self.const32(self.m.ids.get(self.word_at(a, part)));
            let y = self.const32(self.m.ids.get(self.word_at(b, part)));
            use super::check::Const32::Known;
            if matches!((x, y), (Known(x), Known(y)) if x != y) {
                return self.shape(inst, i, false);
            }
        }
    }

    fn matrix_of(&self, ty: Idx) -> Option<Matrix> {
        let t = self.m.ty(ty);
        let column = self.m.num(t.elem);
        if t.kind != Kind::Matrix || !column.vector {
            return None;
        }
        Some(Matrix {
            columns: t.count,
            rows: column.dim,
            column: t.elem,
            component: column.component,
        })
    }

    pub(super) fn matrix(&mut self, inst: &Inst<'_>) {
        let (left_ty, right_ty) = (self.operand_type(inst, 3), self.operand_type(inst, 4));
        let (left, right) = (self.m.num(left_ty), self.m.num(right_ty));
        let result = self.m.num(inst.ty);
        let float_vector = |n: Num| n.vector && n.base == Kind::Float;
        match inst.op {
            Op::VectorTimesScalar => {
                if self.result(inst, float_vector(result)) {
                    self.operand(inst, 3, left_ty == inst.ty);
                    self.operand(inst, 4, right_ty == result.component);
                }
            }
            Op::MatrixTimesScalar => {
                let component = match self.matrix_of(inst.ty) {
                    Some(m) => Some(m.component),
                    None if result.cooperative => Some(result.component),
                    None => None,
                };
                if self.result(inst, component.is_some()) {
                    self.operand(inst, 3, left_ty == inst.ty);
                    self.operand(inst, 4, Some(right_ty) == component);
                }
            }
            Op::VectorTimesMatrix => {
                if !self.result(inst, float_vector(result)) {
                    return;
                }
                let fits = float_vector(left) && left.component == result.component;
                self.operand(inst, 3, fits);
                let fits = self.matrix_of(right_ty).is_some_and(|m| {
                    m.component == result.component && m.columns == result.dim && m.rows == left.dim
                });
                self.operand(inst, 4, fits);
            }
            Op::MatrixTimesVector => {
                if !self.result(inst, float_vector(result)) {
                    return;
                }
                let matrix = self.matrix_of(left_ty);
                self.operand(inst, 3, matrix.is_some_and(|m| m.column == inst.ty));
                let fits = float_vector(right)
                    && matrix
                        .is_some_and(|m| m.component == right.component && m.columns == right.dim);
                self.operand(inst, 4, fits);
            }
            Op::MatrixTimesMatrix => {
                let Some(result) = self.matrix_of(inst.ty) else {
                    self.result(inst, false);
                    return;
                };
                let left = self.matrix_of(left_ty);
                self.operand(inst, 3, left.is_some_and(|m| m.column == result.column));
                let fits = self.matrix_of(right_ty).is_some_and(|m| {
                    m.component == result.component
                        && m.columns == result.columns
                        && left.is_some_and(|l| l.columns == m.rows)
                });
                self.operand(inst, 4, fits);
            }
            _ => {
                let Some(result) = self.matrix_of(inst.ty) else {
                    self.result(inst, false);
                    return;
                };
                self.operand(inst, 3, left_ty == result.column);
                let fits = float_vector(right)
                    && right.component == result.component
                    && right.dim == result.columns;
                self.operand(inst, 4, fits);
            }
        }
    }

    /// Integer dot products, which the oracle does not look at.
    pub(super) fn dot_product(&mut self, inst: &Inst<'_>) {
        let result = self.m.num(inst.ty);
        let accumulate = matches!(inst.op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
        let format_at = if accumulate { 6 } else { 5 };
        let (a, b) = (self.operand_num(inst, 3), self.operand_num(inst, 4));
        let unsigned = matches!(inst.op, Op::UDot | Op::UDotAccSat);
        let packed = !a.vector;
        let width = if packed { 8 } else { a.width };
        let mut fits = plain(result, Kind::Int)
            && !result.vector
            && result.width >= width
            && !(unsigned && result.signed)
            && plain(a, Kind::Int)
            && plain(b, Kind::Int);
        if packed {
            // PackedVectorFormat4x8Bit is the one format there is.
            fits &= a.width == 32 && !b.vector && b.width == 32 && inst.len() > format_at;
        } else {
            fits &= b.vector && a.dim == b.dim && a.width == b.width && inst.len() <= format_at;
            fits &= !(unsigned && (a.signed || b.signed));
        }
        if accumulate {
            fits &= self.operand_type(inst, 5) == inst.ty;
        }
        if !fits {
            self.fault(Rule::DotProduct, inst.at, Note::None);
        }
        if packed && !self.m.has_cap(Capability::DotProductInput4x8BitPacked) {
            let note = Note::Name("DotProductInput4x8BitPacked");
            self.fault(Rule::DotProduct, inst.at, note);
        } else if !packed {
            let small = a.width == 8 && a.dim == 4;
            let allowed = self.m.has_cap(Capability::DotProductInputAll)
                || (small && self.m.has_cap(Capability::DotProductInput4x8Bit));
            if !allowed {
                self.fault(Rule::DotProduct, inst.at, Note::Name("DotProductInputAll"));
            }
        }
    }

    pub(super) fn bits(&mut self, inst: &Inst<'_>, op: Op, shift: usize) {
        let result = self.m.num(inst.ty);
        let first = 3 + shift;
        match op {
            Op::ShiftRightLogical | Op::ShiftRightArithmetic | Op::ShiftLeftLogical => {
                if !self.result(inst, plain(result, Kind::Int)) {
                    return;
                }
                let base = self.operand_num(inst, first);
                if self.operand(inst, first, plain(base, Kind::Int)) {
                    let fits = base.dim == result.dim && base.width == result.width;
                    self.shape(inst, first, fits);
                }
                let amount = self.operand_num(inst, first + 1);
                if self.operand(inst, first + 1, plain(amount, Kind::Int)) {
                    self.shape(inst, first + 1, amount.dim == result.dim);
                }
                if let Some(by) = self.const_u64(self.idx(inst, first + 1))
                    && by >= u64::from(result.width)
                {
                    let note = Note::Limit(by, u64::from(result.width).saturating_sub(1));
                    self.fault(Rule::ShiftAmount, inst.at, note);
                }
            }
            Op::BitwiseOr | Op::BitwiseXor | Op::BitwiseAnd | Op::Not => {
                if !self.result(inst, plain(result, Kind::Int)) {
                    return;
                }
                for i in first..inst.len() {
                    let num = self.operand_num(inst, i);
                    if self.operand(inst, i, plain(num, Kind::Int)) {
                        self.shape(inst, i, num.dim == result.dim && num.width == result.width);
                    }
                }
            }
            _ => self.bit_fields(inst, result),
        }
    }

    fn bit_fields(&mut self, inst: &Inst<'_>, result: Num) {
        let base = self.operand_num(inst, 3);
        if inst.op == Op::BitCount && !self.result(inst, plain(result, Kind::Int)) {
            return;
        }
        if !self.operand(inst, 3, plain(base, Kind::Int)) {
            return;
        }
        if base.width != 32 {
            self.fault(Rule::BitWidth32, inst.at, Note::Id(inst.word(3)));
        }
        if inst.op == Op::BitCount {
            return self.shape(inst, 3, base.dim == result.dim);
        }
        let same = self.operand_type(inst, 3) == inst.ty;
        self.operand(inst, 3, same);
        let mut next = 4;
        if inst.op == Op::BitFieldInsert {
            let same = self.operand_type(inst, 4) == inst.ty;
            self.operand(inst, 4, same);
            next = 5;
        }
        if inst.op != Op::BitReverse {
            for i in next..next + 2 {
                let scalar = self.is_int(self.operand_type(inst, i));
                self.operand(inst, i, scalar);
            }
        }
    }

    pub(super) fn logic(&mut self, inst: &Inst<'_>, op: Op, shift: usize) {
        let result = self.m.num(inst.ty);
        let first = 3 + shift;
        let is_bool = plain(result, Kind::Bool);
        match op {
            Op::Any | Op::All => {
                if self.result(inst, is_bool && !result.vector) {
                    let num = self.operand_num(inst, first);
                    self.operand(inst, first, num.vector && num.base == Kind::Bool);
                }
            }
            Op::LogicalEqual
            | Op::LogicalNotEqual
            | Op::LogicalOr
            | Op::LogicalAnd
            | Op::LogicalNot => {
                if self.result(inst, is_bool) {
                    for i in first..inst.len() {
                        let same = self.operand_type(inst, i) == inst.ty;
                        self.operand(inst, i, same);
                    }
                }
            }
            Op::Select => self.select(inst, first),
            Op::IEqual
            | Op::INotEqual
            | Op::UGreaterThan
            | Op::SGreaterThan
            | Op::UGreaterThanEqual
            | Op::SGreaterThanEqual
            | Op::ULessThan
            | Op::SLessThan
            | Op::ULessThanEqual
            | Op::SLessThanEqual => {
                if !self.result(inst, is_bool) {
                    return;
                }
                let width = self.operand_num(inst, first).width;
                for i in first..first + 2 {
                    let num = self.operand_num(inst, i);
                    if self.operand(inst, i, plain(num, Kind::Int)) {
                        self.shape(inst, i, num.dim == result.dim && num.width == width);
                    }
                }
            }
            // Floats: one operand for IsNan and IsInf, two of one type for comparisons.
            _ => {
                if !self.result(inst, is_bool) {
                    return;
                }
                let num = self.operand_num(inst, first);
                if self.operand(inst, first, plain(num, Kind::Float)) {
                    self.shape(inst, first, num.dim == result.dim);
                }
                if !matches!(op, Op::IsNan | Op::IsInf) {
                    let same = self.operand_type(inst, first) == self.operand_type(inst, first + 1);
                    self.operand(inst, first + 1, same);
                }
            }
        }
    }

    fn select(&mut self, inst: &Inst<'_>, first: usize) {
        let composites = self.m.version >= 4;
        let result = self.m.num(inst.ty);
        let allowed = match self.m.kind(inst.ty) {
            Kind::Pointer => self.m.addressing != 0 || self.m.variable_pointers(),
            Kind::Bool | Kind::Int | Kind::Float | Kind::OddFloat | Kind::Vector => true,
            Kind::Array | Kind::Matrix | Kind::Struct => composites,
            _ => false,
        };
        if !allowed {
            return self.fault(Rule::SelectTypes, inst.at, Note::None);
        }
        let condition = self.operand_num(inst, first);
        let dim = if result.vector { result.dim } else { 1 };
        let fits = plain(condition, Kind::Bool)
            && (condition.dim == dim || (composites && !condition.vector));
        if !fits {
            self.fault(Rule::SelectTypes, inst.at, Note::Id(inst.word(first)));
        }
        for i in first + 1..first + 3 {
            if self.operand_type(inst, i) != inst.ty {
                self.fault(Rule::SelectTypes, inst.at, Note::Id(inst.word(i)));
            }
        }
    }

    pub(super) fn conversion(&mut self, inst: &Inst<'_>, op: Op, shift: usize) {
        let i = 3 + shift;
        match op {
            Op::ConvertPtrToU | Op::ConvertUToPtr => return self.pointer_conversion(inst),
            Op::Bitcast => return self.bitcast(inst),
            _ => {}
        }
        let result = self.m.num(inst.ty);
        let input = self.operand_num(inst, i);
        let float = |n: Num| matches!(n.base, Kind::Float | Kind::OddFloat);
        let int = |n: Num| n.base == Kind::Int;
        let (result_fits, input_fits) = match op {
            Op::ConvertFToU => (int(result) && !result.signed, float(input)),
            Op::ConvertFToS => (int(result), float(input)),
            Op::ConvertSToF | Op::ConvertUToF => (float(result), int(input)),
            Op::UConvert => (int(result) && !result.signed, int(input)),
            Op::SConvert => (int(result), int(input)),
            Op::FConvert => (float(result), float(input)),
            // QuantizeToF16
            _ => (
                plain(result, Kind::Float) && result.width == 32,
                self.operand_type(inst, i) == inst.ty,
            ),
        };
        if !self.result(inst, result_fits) || !self.operand(inst, i, input_fits) {
            return;
        }
        if input.cooperative != result.cooperative || input.dim != result.dim {
            self.shape(inst, i, false);
        } else if input.cooperative {
            self.matching_matrices(inst, i, inst.ty);
        }
        let differ = match op {
            Op::UConvert | Op::SConvert => input.width != result.width,
            Op::FConvert => input.component != result.component,
            _ => true,
        };
        if !differ {
            self.fault(Rule::Convert, inst.at, Note::Id(inst.word(i)));
        }
        if !matches!(op, Op::UConvert | Op::SConvert | Op::FConvert)
            && (self.m.is_limited(inst.ty) || self.m.is_limited(self.operand_type(inst, i)))
        {
            self.fault(Rule::NarrowUse, inst.at, Note::None);
        }
    }

    fn pointer_conversion(&mut self, inst: &Inst<'_>) {
        let input = self.operand_type(inst, 3);
        let (pointer, number) = if inst.op == Op::ConvertPtrToU {
            (input, inst.ty)
        } else {
            (inst.ty, input)
        };
        let mut fits = self.m.class(pointer) == Some(StorageClass::PhysicalStorageBuffer)
            && self.is_int(number)
            && self.m.ty(number).width == 64
            && self.m.addressing != 0;
        if inst.op == Op::ConvertPtrToU {
            fits &= self.is_unsigned(number);
        }
        if !fits {
            self.fault(Rule::Convert, inst.at, Note::Id(inst.word(3)));
        }
    }

    fn bitcast(&mut self, inst: &Inst<'_>) {
        let input = self.operand_type(inst, 3);
        let (a, b) = (self.m.num(inst.ty), self.m.num(input));
        let pointers = (
            self.m.kind(inst.ty) == Kind::Pointer,
            self.m.kind(input) == Kind::Pointer,
        );
        let number = |n: Num| matches!(n.base, Kind::Int | Kind::Float);
        let mut fits = (pointers.0 || number(a)) && (pointers.1 || number(b));
        fits &= a.cooperative == b.cooperative;
        match pointers {
            (false, false) => {
                fits &= bits(a) == bits(b);
            }
            (true, true) => {}
            (to_pointer, _) => {
                let other = if to_pointer { b } else { a };
                let words =
                    self.m.version >= 5 || self.m.has_ext("SPV_KHR_physical_storage_buffer");
                let vector = other.vector && words && other.width == 32;
                fits &= other.base == Kind::Int && (!other.vector || vector);
            }
        }
        if !fits {
            self.fault(Rule::Bitcast, inst.at, Note::Id(inst.word(3)));
        } else if a.cooperative {
            self.matching_matrices(inst, 3, inst.ty);
        }
        let limited = |has| has & (has::INT8 | has::INT16 | has::FLOAT16) != 0;
        let narrow = limited(self.m.ty(inst.ty).has) || limited(self.m.ty(input).has);
        if narrow && (self.m.is_limited(inst.ty) || self.m.is_limited(input)) {
            self.fault(Rule::NarrowUse, inst.at, Note::None);
        }
    }
}
