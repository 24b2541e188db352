//! Composites: construction, extraction, insertion, shuffles, copies.

use super::check::{Checker, Inst};
use super::error::{Note, Unsupported};
use super::rules::Rule;
use super::state::{Idx, Kind, has};
use spirv::Op;

/// How deep two types that match logically may be nested, for this validator to compare them.
const MAX_LOGICAL_DEPTH: usize = 48;

impl Checker<'_> {
    pub(super) fn composite(&mut self, inst: &Inst<'_>, op: Op, shift: usize) {
        let m = self.m;
        let first = 3 + shift;
        match op {
            Op::VectorExtractDynamic => {
                let vector = self.operand_num(inst, 3);
                if !matches!(
                    m.kind(inst.ty),
                    Kind::Bool | Kind::Int | Kind::Float | Kind::OddFloat
                ) {
                    self.fault(Rule::ResultType, inst.at, Note::None);
                }
                if !vector.vector || vector.component != inst.ty {
                    self.fault(Rule::CompositeType, inst.at, Note::Id(inst.word(3)));
                }
                if !self.is_int(self.operand_type(inst, 4)) {
                    self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(4)));
                }
            }
            Op::VectorInsertDynamic => {
                let result = m.num(inst.ty);
                if !result.vector {
                    self.fault(Rule::ResultType, inst.at, Note::None);
                }
                if self.operand_type(inst, 3) != inst.ty {
                    self.fault(Rule::CompositeType, inst.at, Note::Id(inst.word(3)));
                }
                if self.operand_type(inst, 4) != result.component {
                    self.fault(Rule::CompositeType, inst.at, Note::Id(inst.word(4)));
                }
                if !self.is_int(self.operand_type(inst, 5)) {
                    self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(5)));
                }
            }
            Op::VectorShuffle => self.shuffle(inst, first),
            Op::CompositeConstruct => self.construct(inst),
            Op::CompositeExtract => {
                let composite = self.operand_type(inst, first);
                if let Some(member) = self.indexed(inst, composite, first + 1)
                    && member != inst.ty
                {
                    self.fault(Rule::CompositeType, inst.at, Note::Id(m.def(inst.ty).id));
                }
            }
            Op::CompositeInsert => {
                let composite = self.operand_type(inst, first + 1);
                if composite != inst.ty {
                    self.fault(Rule::ResultType, inst.at, Note::Id(inst.word(first + 1)));
                } else if let Some(member) = self.indexed(inst, composite, first + 2)
                    && member != self.operand_type(inst, first)
                {
                    self.fault(Rule::CompositeType, inst.at, Note::Id(inst.word(first)));
                }
            }
            Op::CopyObject => {
                if self.operand_type(inst, 3) != inst.ty || m.kind(inst.ty) == Kind::Void {
                    self.fault(Rule::ResultType, inst.at, Note::Id(inst.word(3)));
                }
                return;
            }
            Op::CopyLogical => {
                let from = self.operand_type(inst, 3);
                match self.logical(from, inst.ty, MAX_LOGICAL_DEPTH) {
                    Some(same) => {
                        if from == inst.ty || !same {
                            self.fault(Rule::CopyLogical, inst.at, Note::Id(inst.word(3)));
                        }
                    }
                    None => self.out.unsupported(Unsupported::named(
                        inst.at as usize,
                        "",
                        "OpCopyLogical between types this large",
                    )),
                }
            }
            // Transpose
            _ => {
                let (to, from) = (m.ty(inst.ty), m.ty(self.operand_type(inst, 3)));
                let (a, b) = (m.num(to.elem), m.num(from.elem));
                let fits = to.kind == Kind::Matrix
                    && from.kind == Kind::Matrix
                    && a.component == b.component
                    && to.count == b.dim
                    && from.count == a.dim;
                if !fits {
                    self.fault(Rule::ResultType, inst.at, Note::Id(inst.word(3)));
                }
            }
        }
        if m.is_limited(inst.ty) {
            self.fault(Rule::NarrowUse, inst.at, Note::None);
        }
    }

    /// The type that literal indices lead to.
    fn indexed(&mut self, inst: &Inst<'_>, composite: Idx, first: usize) -> Option<Idx> {
        let indices = inst.words.get(first..).unwrap_or_default();
        if indices.is_empty() || indices.len() > 255 {
            let note = Note::Limit(indices.len() as u64, 255);
            self.fault(Rule::CompositeIndex, inst.at, note);
            return None;
        }
        let mut at = composite;
        for &index in indices {
            let ty = *self.m.ty(at);
            let bound = match ty.kind {
                Kind::Vector | Kind::Matrix => ty.count,
                Kind::Array if ty.has & has::SPEC_LENGTH == 0 => ty.count,
                Kind::Array => match self.array_count(at) {
                    Some(count) => u32::try_from(count).unwrap_or(u32::MAX),
                    None => u32::MAX,
                },
                Kind::RuntimeArray | Kind::CooperativeMatrix => u32::MAX,
                Kind::Struct => {
                    let members = self.members(at);
                    match members.get(index as usize) {
                        Some(&id) => {
                            at = self.m.ids.get(id);
                            continue;
                        }
                        None => {
                            let note = Note::Limit(u64::from(index), members.len() as u64);
                            self.fault(Rule::CompositeIndex, inst.at, note);
                            return None;
                        }
                    }
                }
                _ => {
                    self.fault(Rule::CompositeIndex, inst.at, Note::Value(index));
                    return None;
                }
            };
            if index >= bound && bound != u32::MAX {
                let note = Note::Limit(u64::from(index), u64::from(bound));
                self.fault(Rule::CompositeIndex, inst.at, note);
                return None;
            }
            at = ty.elem;
        }
        Some(at)
    }

    fn shuffle(&mut self, inst: &Inst<'_>, first: usize) {
        let result = self.m.num(inst.ty);
        let (a, b) = (
            self.operand_num(inst, first),
            self.operand_num(inst, first + 1),
        );
        let literals = inst.words.get(first + 2..).unwrap_or_default();
        if !result.vector || literals.len() != result.dim as usize {
            return self.fault(Rule::Shuffle, inst.at, Note::None);
        }
        for (i, num) in [(first, a), (first + 1, b)] {
            if !num.vector || num.component != result.component {
                self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(i)));
            }
        }
        let components = u64::from(a.dim) + u64::from(b.dim);
        for &literal in literals {
            if literal != u32::MAX && u64::from(literal) >= components {
                let note = Note::Limit(u64::from(literal), components);
                self.fault(Rule::Shuffle, inst.at, note);
            }
        }
    }

    fn construct(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let ty = m.ty(inst.ty);
        let parts = inst.words.get(3..).unwrap_or_default();
        match ty.kind {
            Kind::Vector => {
                let mut given = 0u64;
                for &part in parts {
                    let part_ty = m.type_of(m.ids.get(part));
                    let num = m.num(part_ty);
                    if part_ty == ty.elem {
                        given += 1;
                    } else if num.vector && num.component == ty.elem {
                        given += u64::from(num.dim);
                    } else {
                        return self.fault(Rule::CompositeConstruct, inst.at, Note::Id(part));
                    }
                }
                if parts.len() < 2 || given != u64::from(ty.count) {
                    let note = Note::Limit(given, u64::from(ty.count));
                    self.fault(Rule::CompositeConstruct, inst.at, note);
                }
                return;
            }
            Kind::Matrix => self.part_count(inst, Some(ty.count as usize)),
            Kind::Array if ty.has & has::SPEC_LENGTH == 0 => {
                self.part_count(inst, Some(ty.count as usize));
            }
            Kind::Array => {
                // The oracle leaves arrays of specialised length alone.
                let count = self.array_count(inst.ty);
                if count.is_none() && !self.options.beyond_spirv_val {
                    return;
                }
                self.part_count(inst, count);
            }
            Kind::Struct => self.part_count(inst, Some(self.members(inst.ty).len())),
            Kind::CooperativeMatrix => self.part_count(inst, Some(1)),
            _ => return self.fault(Rule::CompositeConstruct, inst.at, Note::None),
        }
        let members = self.members(inst.ty);
        for (i, &part) in parts.iter().enumerate() {
            let wanted = match ty.kind {
                Kind::Struct => members.get(i).map_or(0, |&id| m.ids.get(id)),
                _ => ty.elem,
            };
            if m.type_of(m.ids.get(part)) != wanted {
                self.fault(Rule::CompositeConstruct, inst.at, Note::Id(part));
            }
        }
    }

    fn part_count(&mut self, inst: &Inst<'_>, expected: Option<usize>) {
        let given = inst.len().saturating_sub(3);
        if let Some(expected) = expected.filter(|e| *e != given) {
            let note = Note::Limit(given as u64, expected as u64);
            self.fault(Rule::CompositeConstruct, inst.at, note);
        }
    }

    /// Whether two types match logically (§2.2.2): arrays of one length and structures, member
    /// by member, down to equal types. `None` where that was too much to find out.
    ///
    /// Types that share parts can be compared many times over, so depth and work are limited,
    /// the work for the whole module.
    fn logical(&mut self, a: Idx, b: Idx, depth: usize) -> Option<bool> {
        if a == b {
            return Some(true);
        }
        if depth == 0 || self.budget == 0 {
            return None;
        }
        self.budget -= 1;
        let (x, y) = (*self.m.ty(a), *self.m.ty(b));
        match (x.kind, y.kind) {
            (Kind::Array, Kind::Array) => {
                let word = |ty: Idx| self.word_at(self.m.def(ty).word, 3);
                if word(a) != word(b) {
                    return Some(false);
                }
                self.logical(x.elem, y.elem, depth - 1)
            }
            (Kind::Struct, Kind::Struct) => {
                let (left, right) = (self.members(a), self.members(b));
                if left.len() != right.len() {
                    return Some(false);
                }
                for (&l, &r) in left.iter().zip(right) {
                    let (l, r) = (self.m.ids.get(l), self.m.ids.get(r));
                    match self.logical(l, r, depth - 1) {
                        Some(true) => {}
                        other => return other,
                    }
                }
                Some(true)
            }
            _ => Some(false),
        }
    }
}
