//! Variables, loads, stores, access chains.

use super::check::{Checker, Inst};
use super::error::Note;
use super::ops::is;
use super::rules::Rule;
use super::state::{Idx, Kind, has};
use super::types::vulkan_class;
use spirv::{Capability as C, Decoration, Op, StorageClass as S};

/// How far back a pointer is followed to the object that it points into.
pub(super) const MAX_TRACE: usize = 256;

impl Checker<'_> {
    pub(super) fn variable(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let ty = m.ty(inst.ty);
        let class = S::from_u32(inst.word(3));
        if ty.kind != Kind::Pointer {
            return self.fault(Rule::VariableType, inst.at, Note::Id(inst.word(1)));
        }
        if ty.class != inst.word(3) {
            self.fault(Rule::VariableType, inst.at, Note::Value(inst.word(3)));
        }
        let Some(class) = class else { return };
        if !vulkan_class(class) || class == S::PhysicalStorageBuffer {
            self.fault(Rule::VariableStorage, inst.at, Note::Value(inst.word(3)));
        }
        let in_function = m.def(inst.id).func != 0;
        if in_function != (class == S::Function) {
            self.fault(Rule::VariablePlace, inst.at, Note::Value(inst.word(3)));
        }
        let pointee = ty.elem;
        self.initializer(inst, class, pointee);
        self.pointee(inst, class, pointee);
        self.narrow_variable(inst, class, pointee);
        self.layout_forbidden(inst.id);
    }

    fn initializer(&mut self, inst: &Inst<'_>, class: S, pointee: Idx) {
        if inst.len() < 5 {
            return;
        }
        let init = self.idx(inst, 4);
        if !self.is_constant(init) || self.m.type_of(init) != pointee {
            self.fault(Rule::VariableInitializer, inst.at, Note::Id(inst.word(4)));
        }
        let allowed = match class {
            S::Output | S::Private | S::Function => true,
            S::Workgroup => self.m.def(init).op == Op::ConstantNull,
            _ => false,
        };
        if !allowed {
            self.fault(Rule::VariableInitializer, inst.at, Note::Id(inst.word(4)));
        }
    }

    fn pointee(&mut self, inst: &Inst<'_>, class: S, pointee: Idx) {
        let m = self.m;
        let ty = *m.ty(pointee);
        // One array of the allowed type is a descriptor array.
        let inner = match ty.kind {
            Kind::Array | Kind::RuntimeArray => ty.elem,
            _ => pointee,
        };
        let inner_kind = m.kind(inner);
        let fits = match class {
            S::PushConstant => ty.kind == Kind::Struct,
            S::UniformConstant => {
                matches!(inner_kind, Kind::Image | Kind::Sampler | Kind::SampledImage)
            }
            S::Uniform | S::StorageBuffer => inner_kind == Kind::Struct,
            _ => true,
        };
        if !fits {
            self.fault(Rule::VariablePointee, inst.at, Note::Id(m.def(pointee).id));
        }
        let visible = matches!(
            class,
            S::Uniform | S::StorageBuffer | S::PushConstant | S::Image
        ) || (matches!(class, S::Input | S::Output)
            && !m.is_decorated(inst.id, Decoration::BuiltIn)
            && ty.has & has::BUILTIN == 0);
        if visible && ty.has & has::BOOL != 0 {
            self.fault(Rule::VariableBool, inst.at, Note::Id(m.def(pointee).id));
        }
        if ty.kind == Kind::RuntimeArray {
            let allowed = m.has_cap(C::RuntimeDescriptorArray)
                && matches!(class, S::StorageBuffer | S::Uniform | S::UniformConstant);
            if !allowed {
                self.fault(
                    Rule::TypeRuntimeMember,
                    inst.at,
                    Note::Id(m.def(pointee).id),
                );
            }
        }
        if ty.kind == Kind::Struct && ty.has & has::RUNTIME != 0 && self.runtime_member(pointee) {
            let allowed = match class {
                S::StorageBuffer | S::PhysicalStorageBuffer => self.is_plain_block(pointee),
                S::Uniform => true,
                _ => false,
            };
            if !allowed {
                self.fault(
                    Rule::TypeRuntimeMember,
                    inst.at,
                    Note::Id(m.def(pointee).id),
                );
            }
        }
        if ty.has & has::COOP != 0 && !matches!(class, S::Function | S::Private) {
            self.fault(Rule::VariablePointee, inst.at, Note::Id(m.def(pointee).id));
        }
        if ty.kind == Kind::Pointer {
            let held = S::from_u32(ty.class);
            let allowed = match held {
                Some(S::PhysicalStorageBuffer) => true,
                Some(S::StorageBuffer) => {
                    m.has_cap(C::VariablePointersStorageBuffer)
                        && matches!(class, S::Function | S::Private)
                }
                Some(S::Workgroup) => {
                    m.has_cap(C::VariablePointers) && matches!(class, S::Function | S::Private)
                }
                _ => false,
            };
            if !allowed {
                self.fault(Rule::VariablePointer, inst.at, Note::Id(m.def(pointee).id));
            }
        }
    }

    /// Whether the last member itself is a runtime array.
    fn runtime_member(&self, ty: Idx) -> bool {
        self.members(ty)
            .iter()
            .any(|&id| self.m.kind(self.m.ids.get(id)) == Kind::RuntimeArray)
    }

    /// 8- and 16-bit members where only their storage is declared.
    fn narrow_variable(&mut self, inst: &Inst<'_>, class: S, pointee: Idx) {
        let m = self.m;
        let mut class = class;
        let mut inner = pointee;
        let mut steps = 0;
        while m.kind(inner) == Kind::Pointer && steps < 8 {
            class = S::from_u32(m.ty(inner).class).unwrap_or(class);
            inner = m.ty(inner).elem;
            steps += 1;
        }
        let contained = m.ty(pointee).has;
        let sixteen = (contained & has::INT16 != 0 && !m.has_cap(C::Int16))
            || (contained & has::FLOAT16 != 0 && !m.has_cap(C::Float16));
        let eight = contained & has::INT8 != 0 && !m.has_cap(C::Int8);
        if !sixteen && !eight {
            return;
        }
        let element = match m.kind(inner) {
            Kind::Array | Kind::RuntimeArray => m.ty(inner).elem,
            _ => inner,
        };
        let buffer_block = m.def(element).flags & super::state::flag::BUFFER_BLOCK != 0;
        let allowed16 = match class {
            S::StorageBuffer | S::PhysicalStorageBuffer => m.has_cap(C::StorageBuffer16BitAccess),
            S::Uniform => {
                m.has_cap(C::UniformAndStorageBuffer16BitAccess)
                    || (m.has_cap(C::StorageBuffer16BitAccess) && buffer_block)
            }
            S::PushConstant => m.has_cap(C::StoragePushConstant16),
            S::Input | S::Output => m.has_cap(C::StorageInputOutput16),
            S::Workgroup => m.has_cap(C::WorkgroupMemoryExplicitLayout16BitAccessKHR),
            _ => false,
        };
        let allowed8 = match class {
            S::StorageBuffer | S::PhysicalStorageBuffer => m.has_cap(C::StorageBuffer8BitAccess),
            S::Uniform => {
                m.has_cap(C::UniformAndStorageBuffer8BitAccess)
                    || (m.has_cap(C::StorageBuffer8BitAccess) && buffer_block)
            }
            S::PushConstant => m.has_cap(C::StoragePushConstant8),
            S::Workgroup => m.has_cap(C::WorkgroupMemoryExplicitLayout8BitAccessKHR),
            _ => false,
        };
        if (sixteen && !allowed16) || (eight && !allowed8) {
            self.fault(Rule::NarrowUse, inst.at, Note::Id(m.def(pointee).id));
        }
    }

    /// Whether a pointer may be accessed through, in logical addressing.
    pub(super) fn logical_pointer(&mut self, inst: &Inst<'_>, i: usize) -> bool {
        if self.m.addressing != 0 {
            return true;
        }
        let op = self.m.def(self.idx(inst, i)).op;
        let always = matches!(
            op,
            Op::Variable
                | Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::FunctionParameter
                | Op::ImageTexelPointer
                | Op::CopyObject
        );
        let variable = matches!(
            op,
            Op::Select
                | Op::Phi
                | Op::FunctionCall
                | Op::PtrAccessChain
                | Op::Load
                | Op::ConstantNull
        );
        let fits = always || (variable && self.m.variable_pointers());
        if !fits {
            self.fault(Rule::LogicalPointer, inst.at, Note::Id(inst.word(i)));
        }
        fits
    }

    /// §2.16.1: which instructions make logical pointers and take them.
    #[inline]
    pub(super) fn pointer_value(&mut self, inst: &Inst<'_>) {
        let result = self.m.ty(inst.ty);
        if result.kind == Kind::Pointer && result.class != S::PhysicalStorageBuffer as u32 {
            let fits = match inst.op {
                Op::Variable
                | Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::FunctionParameter
                | Op::ImageTexelPointer
                | Op::CopyObject
                | Op::Undef => true,
                Op::Select
                | Op::Phi
                | Op::FunctionCall
                | Op::PtrAccessChain
                | Op::Load
                | Op::ConstantNull
                | Op::Function => self.varies(inst.ty),
                _ => false,
            };
            let variable = matches!(
                inst.op,
                Op::Select | Op::Phi | Op::FunctionCall | Op::PtrAccessChain | Op::Load
            );
            if variable && !self.variable && self.may_point_into_matrix(inst.ty) {
                self.variable = true;
                self.traced(inst.at);
            }
            if !fits {
                self.fault(Rule::PointerValue, inst.at, Note::Id(inst.word(1)));
            }
        }
        if !inst.is(is::TAKES_POINTERS) {
            return;
        }
        let (first, allowed) = match inst.op {
            Op::ReturnValue => (1, true),
            Op::PtrAccessChain
            | Op::PtrEqual
            | Op::PtrNotEqual
            | Op::PtrDiff
            | Op::Select
            | Op::Phi => (3, true),
            Op::Variable => (4, true),
            Op::CompositeConstruct
            | Op::CompositeInsert
            | Op::ConstantComposite
            | Op::SpecConstantComposite
            | Op::Bitcast
            | Op::GroupNonUniformBroadcast
            | Op::SDot
            | Op::UDot
            | Op::SUDot
            | Op::SDotAccSat
            | Op::UDotAccSat
            | Op::SUDotAccSat => (3, false),
            _ => return,
        };
        let last = match inst.op {
            Op::PtrAccessChain => 4,
            // What follows is literal.
            Op::CompositeInsert | Op::SDot | Op::UDot | Op::SUDot => 5,
            Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => 6,
            _ => inst.len(),
        };
        let traced = matches!(inst.op, Op::Select | Op::Phi | Op::PtrAccessChain);
        for i in first..last.min(inst.len()) {
            let ty = self.operand_type(inst, i);
            if self.m.kind(ty) == Kind::Pointer
                && self.m.class(ty) != Some(S::PhysicalStorageBuffer)
                && (!(allowed && self.varies(ty))
                    || (traced
                        && self.may_point_into_matrix(ty)
                        && self.leads_into_matrix(self.idx(inst, i))))
            {
                return self.fault(Rule::PointerValue, inst.at, Note::Id(inst.word(i)));
            }
        }
    }

    /// Whether pointers of this type may be variable.
    pub(super) fn varies(&self, ty: Idx) -> bool {
        match self.m.class(ty) {
            Some(S::StorageBuffer) => self.m.variable_pointers(),
            Some(S::Workgroup) => self.m.has_cap(C::VariablePointers),
            _ => false,
        }
    }

    pub(super) fn load(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        if !self.logical_pointer(inst, 3) {
            return;
        }
        let pointer = self.operand_type(inst, 3);
        let ty = m.ty(pointer);
        if ty.kind != Kind::Pointer || ty.elem != inst.ty {
            return self.fault(Rule::LoadType, inst.at, Note::Id(inst.word(3)));
        }
        let result = m.ty(inst.ty);
        if result.has & has::RUNTIME != 0 {
            self.fault(Rule::LoadType, inst.at, Note::Id(inst.word(1)));
        }
        self.memory_operands(inst, 4, &[pointer], Access::Read, inst.ty);
        if m.is_limited(inst.ty)
            && !matches!(
                result.kind,
                Kind::Pointer | Kind::Int | Kind::Float | Kind::Vector | Kind::Matrix
            )
        {
            self.fault(Rule::NarrowUse, inst.at, Note::None);
        }
        // An image's handle is loaded whatever its texels may be.
        if result.has & has::OPAQUE == 0 {
            self.beyond_access(inst, 3, Decoration::NonReadable, Rule::LoadNonReadable);
        }
    }

    pub(super) fn store(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        if !self.logical_pointer(inst, 1) {
            return;
        }
        let pointer = self.operand_type(inst, 1);
        let ty = m.ty(pointer);
        if ty.kind != Kind::Pointer || m.kind(ty.elem) == Kind::Void {
            return self.fault(Rule::StoreType, inst.at, Note::Id(inst.word(1)));
        }
        let object = self.operand_type(inst, 2);
        if object != ty.elem || object == 0 {
            self.fault(Rule::StoreType, inst.at, Note::Id(inst.word(2)));
        }
        self.writable(inst, 1);
        if m.ty(object).has & has::OPAQUE != 0 {
            self.fault(Rule::StoreType, inst.at, Note::Id(inst.word(2)));
        }
        self.memory_operands(inst, 3, &[pointer], Access::Write, 0);
    }

    /// Whether the object that a pointer leads to can be written to.
    pub(super) fn writable(&mut self, inst: &Inst<'_>, i: usize) {
        let class = self.class_of(self.idx(inst, i));
        match class {
            Some(S::UniformConstant | S::Input | S::PushConstant) => {
                self.fault(Rule::StoreReadOnly, inst.at, Note::Id(inst.word(i)));
            }
            Some(S::Uniform) => {
                let base = self.m.def(self.base(self.idx(inst, i)));
                if base.op == Op::Variable {
                    let pointee = self.m.ty(base.ty).elem;
                    let inner = match self.m.kind(pointee) {
                        Kind::Array | Kind::RuntimeArray => self.m.ty(pointee).elem,
                        _ => pointee,
                    };
                    if self.is_plain_block(inner) {
                        self.fault(Rule::StoreReadOnly, inst.at, Note::Id(inst.word(i)));
                    }
                }
            }
            _ => {}
        }
        self.beyond_access(inst, i, Decoration::NonWritable, Rule::StoreNonWritable);
    }

    /// The object that a pointer was made from, as far as it can be followed.
    pub(super) fn base(&self, pointer: Idx) -> Idx {
        let mut at = pointer;
        for _ in 0..MAX_TRACE {
            let def = self.m.def(at);
            let word = match def.op {
                Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain
                | Op::CopyObject
                | Op::ImageTexelPointer => 3,
                _ => return at,
            };
            at = self.m.ids.get(self.word_at(def.word, word));
        }
        at
    }

    /// Access through a decoration that forbids it, on the variable or on the member that the
    /// chain leads through.
    pub(super) fn beyond_access(
        &mut self,
        inst: &Inst<'_>,
        i: usize,
        decoration: Decoration,
        rule: Rule,
    ) {
        if !self.options.beyond_spirv_val || self.m.decorations.is_empty() {
            return;
        }
        let mut at = self.idx(inst, i);
        for _ in 0..8 {
            let def = *self.m.def(at);
            match def.op {
                Op::Variable | Op::FunctionParameter => {
                    if self.m.is_decorated(at, decoration) {
                        self.fault(rule, inst.at, Note::Id(def.id));
                    }
                    return;
                }
                Op::AccessChain | Op::InBoundsAccessChain => {
                    let base = self.m.ids.get(self.word_at(def.word, 3));
                    if self.member_has(base, &def, decoration) {
                        return self.fault(rule, inst.at, Note::Id(inst.word(i)));
                    }
                    at = base;
                }
                Op::CopyObject => at = self.m.ids.get(self.word_at(def.word, 3)),
                _ => return,
            }
        }
    }

    fn member_has(&self, base: Idx, chain: &super::state::Def, decoration: Decoration) -> bool {
        let mut ty = self.m.ty(self.m.type_of(base)).elem;
        for word in 4..usize::from(chain.len).min(4 + 16) {
            let index = self.m.ids.get(self.word_at(chain.word, word));
            match self.m.kind(ty) {
                Kind::Struct => {
                    let Some(member) = self.const_u64(index) else {
                        return false;
                    };
                    let found = self
                        .m
                        .decorations_of(ty)
                        .take(64)
                        .any(|d| d.kind == decoration && u64::from(d.member) == member);
                    if found {
                        return true;
                    }
                    let members = self.members(ty);
                    let next = usize::try_from(member).ok().and_then(|n| members.get(n));
                    ty = next.map_or(0, |&id| self.m.ids.get(id));
                }
                _ => ty = self.m.ty(ty).elem,
            }
        }
        false
    }

    pub(super) fn memory_operands(
        &mut self,
        inst: &Inst<'_>,
        at: usize,
        pointers: &[Idx],
        access: Access,
        accessed: Idx,
    ) {
        let m = self.m;
        let physical = pointers
            .iter()
            .any(|&p| m.class(p) == Some(S::PhysicalStorageBuffer));
        if inst.len() <= at {
            if physical {
                self.fault(Rule::PointerAlignment, inst.at, Note::Name("Aligned"));
            }
            return;
        }
        let mask = inst.word(at);
        let mut next = at + 1;
        if mask & 2 != 0 {
            let value = inst.word(next);
            next += 1;
            if !value.is_power_of_two() {
                self.fault(Rule::MemoryOperands, inst.at, Note::Value(value));
            }
            let largest = pointers
                .iter()
                .filter(|&&p| m.class(p) == Some(S::PhysicalStorageBuffer))
                .map(|&p| u32::from(m.ty(m.ty(p).elem).scalar))
                .max()
                .unwrap_or(0);
            if value < largest {
                let note = Note::Limit(u64::from(value), u64::from(largest));
                self.fault(Rule::PointerAlignment, inst.at, note);
            }
        } else if physical {
            self.fault(Rule::PointerAlignment, inst.at, Note::Name("Aligned"));
        }
        let _ = accessed;
        let (available, visible) = (mask & 8 != 0, mask & 16 != 0);
        for (set, wrong) in [
            (available, access == Access::Read),
            (visible, access == Access::Write),
        ] {
            if !set {
                continue;
            }
            if wrong || mask & 32 == 0 {
                self.fault(Rule::MemoryOperands, inst.at, Note::Value(mask));
            }
            self.memory_scope(inst, next);
            next += 1;
        }
        if mask & 32 != 0 {
            let reaches = pointers.iter().all(|&p| {
                matches!(
                    m.class(p),
                    Some(
                        S::Uniform
                            | S::Workgroup
                            | S::CrossWorkgroup
                            | S::Generic
                            | S::Image
                            | S::StorageBuffer
                            | S::PhysicalStorageBuffer
                    )
                )
            });
            if !reaches {
                self.fault(Rule::MemoryOperands, inst.at, Note::Value(mask));
            }
        }
    }

    pub(super) fn copy_memory(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let (target, source) = (self.operand_type(inst, 1), self.operand_type(inst, 2));
        let (t, s) = (m.ty(target), m.ty(source));
        if t.kind != Kind::Pointer || s.kind != Kind::Pointer || t.elem != s.elem {
            return self.fault(Rule::CopyMemory, inst.at, Note::None);
        }
        if m.kind(t.elem) == Kind::Void || m.is_limited(t.elem) {
            self.fault(Rule::CopyMemory, inst.at, Note::Id(m.def(t.elem).id));
        }
        self.memory_operands(inst, 3, &[target, source], Access::Both, 0);
        if inst.len() > 3 {
            let mask = inst.word(3);
            let second = 4 + (mask & 0x1A).count_ones() as usize;
            if inst.len() > second {
                if m.version < 4 {
                    self.fault(Rule::CopyMemory, inst.at, Note::Version(4));
                }
                self.memory_operands(inst, second, &[target, source], Access::Both, 0);
                if mask & 16 != 0 || inst.word(second) & 8 != 0 {
                    self.fault(Rule::MemoryOperands, inst.at, Note::Value(mask));
                }
            }
        }
        if self.options.beyond_spirv_val {
            self.writable(inst, 1);
        }
    }
}

/// What an instruction does with memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    Both,
}
