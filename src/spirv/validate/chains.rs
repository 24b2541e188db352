//! Access chains, array lengths, pointers compared.

use super::check::{Checker, Inst};
use super::error::{Note, Unsupported};
use super::memory::MAX_TRACE;
use super::rules::Rule;
use super::state::{Idx, Kind};
use spirv::{Capability as C, Decoration, Op, StorageClass as S};

impl Checker<'_> {
    /// Indices from word `first` on.
    pub(super) fn access_chain(&mut self, inst: &Inst<'_>, first: usize) {
        let m = self.m;
        let result = *m.ty(inst.ty);
        let base = *m.ty(self.operand_type(inst, 3));
        if result.kind != Kind::Pointer {
            return self.fault(Rule::AccessChain, inst.at, Note::Id(inst.word(1)));
        }
        if base.kind != Kind::Pointer {
            return self.fault(Rule::AccessChain, inst.at, Note::Id(inst.word(3)));
        }
        if base.class != result.class {
            self.fault(Rule::AccessChainStorage, inst.at, Note::Id(inst.word(3)));
        }
        let indices = inst.words.get(first..).unwrap_or_default();
        if indices.len() > 255 {
            let note = Note::Limit(indices.len() as u64, 255);
            return self.fault(Rule::AccessChain, inst.at, note);
        }
        let physical = result.class == S::PhysicalStorageBuffer as u32;
        let mut at = base.elem;
        let mut matrix = false;
        for &id in indices {
            matrix |= m.kind(at) == Kind::Matrix;
            let index = m.ids.get(id);
            let index_ty = m.ty(m.type_of(index));
            if index_ty.kind != Kind::Int {
                return self.fault(Rule::AccessChain, inst.at, Note::Id(id));
            }
            if index_ty.signed && !physical && self.const_i64(index).is_some_and(|v| v < 0) {
                return self.fault(Rule::AccessChainIndex, inst.at, Note::Id(id));
            }
            at = match m.kind(at) {
                Kind::Vector
                | Kind::Matrix
                | Kind::Array
                | Kind::RuntimeArray
                | Kind::CooperativeMatrix => m.ty(at).elem,
                Kind::Struct => {
                    let member = self.const_i64(index).and_then(|v| usize::try_from(v).ok());
                    let members = self.members(at);
                    match member.and_then(|n| members.get(n)) {
                        Some(&id) => m.ids.get(id),
                        None => return self.fault(Rule::AccessChainIndex, inst.at, Note::Id(id)),
                    }
                }
                _ => return self.fault(Rule::AccessChain, inst.at, Note::Id(id)),
            };
        }
        if matrix && m.variable_pointers() {
            // A variable pointer must not lead into a matrix.
            match m.def(self.base(self.idx(inst, 3))).op {
                Op::Variable => {}
                Op::FunctionParameter => self.out.unsupported(Unsupported::named(
                    inst.at as usize,
                    "",
                    "matrix elements through a pointer parameter with variable pointers",
                )),
                _ => self.fault(Rule::PointerValue, inst.at, Note::Id(inst.word(3))),
            }
            if self.may_point_into_matrix(inst.ty) {
                self.into_matrix = true;
                self.traced(inst.at);
            }
        }
        if at != result.elem {
            let note = Note::Ids(m.def(at).id, m.def(result.elem).id);
            self.fault(Rule::AccessChain, inst.at, note);
        }
    }

    /// Whether variable pointers of this type might point to a column or a component of one.
    pub(super) fn may_point_into_matrix(&self, ty: Idx) -> bool {
        self.m.num(self.m.ty(ty).elem).base == Kind::Float && self.varies(ty)
    }

    /// Whether a pointer comes by access chains alone from one that leads into a matrix.
    pub(super) fn leads_into_matrix(&self, pointer: Idx) -> bool {
        let m = self.m;
        let mut at = pointer;
        for _ in 0..MAX_TRACE {
            let def = m.def(at);
            let first = match def.op {
                Op::AccessChain | Op::InBoundsAccessChain => 4,
                Op::PtrAccessChain | Op::InBoundsPtrAccessChain => 5,
                Op::CopyObject => usize::MAX,
                _ => return false,
            };
            let inst = self.inst(def.word);
            at = self.idx(&inst, 3);
            let mut part = m.ty(m.type_of(at)).elem;
            for &id in inst.words.get(first..).unwrap_or_default() {
                part = match m.kind(part) {
                    Kind::Matrix => return true,
                    Kind::Struct => {
                        let member = self.const_i64(m.ids.get(id)).map(usize::try_from);
                        let members = self.members(part);
                        match member.and_then(Result::ok).and_then(|n| members.get(n)) {
                            Some(&id) => m.ids.get(id),
                            None => return false,
                        }
                    }
                    _ => m.ty(part).elem,
                };
            }
        }
        false
    }

    /// Variable pointers that come from other than chains, in a module with pointers into matrices, are not traced.
    pub(super) fn traced(&mut self, at: u32) {
        if self.into_matrix && self.variable {
            self.out.unsupported(Unsupported::named(
                at as usize,
                "",
                "variable pointers to floats beside pointers into matrices",
            ));
        }
    }

    pub(super) fn ptr_access_chain(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        self.access_chain(inst, 5);
        let base_ty = self.operand_type(inst, 3);
        let element = self.idx(inst, 4);
        if !self.is_int(m.type_of(element)) {
            self.fault(Rule::PtrAccessChain, inst.at, Note::Id(inst.word(4)));
        }
        let pointee = m.ty(base_ty).elem;
        if self.const_u64(element).is_some_and(|v| v != 0)
            && m.kind(pointee) == Kind::Struct
            && self.is_block(pointee)
        {
            self.fault(Rule::PtrAccessChain, inst.at, Note::Id(inst.word(4)));
        }
        let class = m.class(base_ty);
        let strided = matches!(
            class,
            Some(S::Uniform | S::StorageBuffer | S::PhysicalStorageBuffer | S::PushConstant)
        );
        if strided && !m.is_decorated(base_ty, Decoration::ArrayStride) {
            self.fault(Rule::PtrAccessChain, inst.at, Note::Name("ArrayStride"));
        }
        let allowed = match class {
            Some(S::Workgroup) => m.has_cap(C::VariablePointers),
            Some(S::StorageBuffer) => m.variable_pointers(),
            Some(S::PhysicalStorageBuffer) => true,
            _ => false,
        };
        if !allowed {
            self.fault(Rule::PtrAccessChain, inst.at, Note::Id(inst.word(3)));
        }
    }

    pub(super) fn array_length(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let result = m.ty(inst.ty);
        let pointer = *m.ty(self.operand_type(inst, 3));
        let members = self.members(pointer.elem);
        let last = members.last().map_or(0, |&id| m.ids.get(id));
        let fits = result.kind == Kind::Int
            && !result.signed
            && matches!(result.width, 32 | 64)
            && pointer.kind == Kind::Pointer
            && m.kind(last) == Kind::RuntimeArray
            && inst.word(4) as usize + 1 == members.len();
        if !fits {
            return self.fault(Rule::ArrayLength, inst.at, Note::Id(inst.word(3)));
        }
        if pointer.class == S::Uniform as u32 && self.is_plain_block(pointer.elem) {
            self.fault(Rule::ArrayLength, inst.at, Note::Id(inst.word(3)));
        }
    }

    pub(super) fn pointer_compare(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let (a, b) = (self.operand_type(inst, 3), self.operand_type(inst, 4));
        let result = m.ty(inst.ty);
        let result_fits = if inst.op == Op::PtrDiff {
            result.kind == Kind::Int
        } else {
            result.kind == Kind::Bool
        };
        let class = m.class(a);
        let class_fits = match class {
            Some(S::Workgroup) => m.has_cap(C::VariablePointers),
            Some(S::StorageBuffer) => m.variable_pointers(),
            Some(S::PhysicalStorageBuffer) => false,
            Some(_) => m.addressing != 0,
            None => false,
        };
        if !result_fits || a != b || !class_fits {
            self.fault(Rule::PointerCompare, inst.at, Note::Id(inst.word(3)));
        }
    }
}
