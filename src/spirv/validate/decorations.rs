//! Decorations: what they apply to, how often, what they exclude; built-ins; resources.

use super::check::Checker;
use super::error::Note;
use super::rules::Rule;
use super::state::{Decor, Idx, Kind, WHOLE, flag, has};
use spirv::{BuiltIn as B, Capability as C, Decoration as D, Op, StorageClass as S};

impl Checker<'_> {
    /// Every decoration on its own, and the decorations of each target together.
    pub(super) fn decorations(&mut self, order: &mut Vec<u32>) {
        let m = self.m;
        order.clear();
        for (i, decor) in (0..).zip(&m.decorations) {
            let target = m.def(decor.target);
            // The last one of its target stands for all.
            if decor.target == 0 {
                order.push(i);
            } else if target.decor == i + 1 && decor.next != 0 && self.interfere(decor) {
                order.extend(self.list(decor));
            }
            if !target.is_defined() {
                continue;
            }
            if decor.member != WHOLE {
                self.member_decoration(decor);
            } else if decor.kind != D::NoContraction || target.ty == 0 {
                self.decoration(decor);
            } else if self.op_at(decor.word) == Op::DecorateId {
                // It takes no ids, and says nothing more of a value.
                self.decoration(decor);
            }
        }
        self.together(order);
        for i in 0..m.globals.len() {
            let Some(&var) = m.globals.get(i) else { break };
            self.resource(var);
        }
    }

    fn decoration(&mut self, decor: &Decor) {
        let m = self.m;
        let target = *m.def(decor.target);
        let kind = decor.kind;
        let note = Note::Id(target.id);
        let takes_ids = matches!(
            kind,
            D::UniformId | D::AlignmentId | D::MaxByteOffsetId | D::CounterBuffer
        );
        let by_id = self.op_at(decor.word) == Op::DecorateId;
        if takes_ids != by_id {
            return self.fault(Rule::DecorationOpcode, decor.word, note);
        }
        if matches!(kind, D::RowMajor | D::ColMajor | D::MatrixStride) {
            return self.fault(Rule::DecorationMember, decor.word, note);
        }
        let is_variable = target.op == Op::Variable;
        let is_memory = is_variable || target.op == Op::FunctionParameter;
        let is_pointer = m.kind(target.ty) == Kind::Pointer;
        let class = m.class(target.ty);
        let fits = match kind {
            D::SpecId => matches!(
                target.op,
                Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstant
            ),
            D::Block | D::BufferBlock | D::GLSLShared | D::GLSLPacked => {
                m.kind(decor.target) == Kind::Struct
            }
            D::ArrayStride => matches!(
                m.kind(decor.target),
                Kind::Array | Kind::RuntimeArray | Kind::Pointer
            ),
            D::BuiltIn => return self.builtin(decor),
            D::Restrict
            | D::Aliased
            | D::Volatile
            | D::Coherent
            | D::NonWritable
            | D::NonReadable
            | D::RestrictPointer
            | D::AliasedPointer => is_memory && is_pointer,
            D::Binding | D::DescriptorSet => is_variable,
            D::NoSignedWrap | D::NoUnsignedWrap => matches!(
                target.op,
                Op::IAdd | Op::ISub | Op::IMul | Op::ShiftLeftLogical | Op::SNegate | Op::ExtInst
            ),
            D::RelaxedPrecision => m.kind(decor.target) == Kind::None,
            D::NoContraction if self.options.beyond_spirv_val => {
                target.ty != 0 || !target.is_defined()
            }
            _ => true,
        };
        if !fits {
            return self.fault(Rule::DecorationTarget, decor.word, note);
        }
        match kind {
            D::GLSLShared | D::GLSLPacked => {
                self.fault(Rule::DecorationModel, decor.word, note);
            }
            D::Coherent | D::Volatile if m.memory_model == 3 => {
                self.fault(Rule::DecorationModel, decor.word, note);
            }
            D::Binding | D::DescriptorSet
                if !matches!(
                    class,
                    Some(S::StorageBuffer | S::Uniform | S::UniformConstant)
                ) =>
            {
                self.fault(Rule::DecorationStorage, decor.word, note);
            }
            D::NonWritable | D::NonReadable => {
                let local = kind == D::NonWritable
                    && m.version >= 4
                    && is_variable
                    && matches!(class, Some(S::Function | S::Private));
                if !local && !self.access_target(target.ty) {
                    self.fault(Rule::DecorationStorage, decor.word, note);
                }
            }
            _ => {}
        }
    }

    /// Whether a pointer leads to a buffer or a storage image.
    fn access_target(&self, pointer: Idx) -> bool {
        let m = self.m;
        let pointee = m.ty(pointer).elem;
        let inner = match m.kind(pointee) {
            Kind::Array | Kind::RuntimeArray => m.ty(pointee).elem,
            _ => pointee,
        };
        match m.class(pointer) {
            Some(S::Uniform) => m.kind(inner) == Kind::Struct && self.is_block(inner),
            Some(S::StorageBuffer | S::PhysicalStorageBuffer) => {
                m.kind(inner) == Kind::Struct && self.is_plain_block(inner)
            }
            Some(S::UniformConstant) => {
                m.kind(inner) == Kind::Image && self.word_at(m.def(inner).word, 7) == 2
            }
            _ => false,
        }
    }

    fn member_decoration(&mut self, decor: &Decor) {
        let m = self.m;
        let ty = m.ty(decor.target);
        let note = Note::Value(decor.member);
        if ty.kind != Kind::Struct || decor.member >= ty.count {
            return self.fault(Rule::DecorationMember, decor.word, note);
        }
        let never = matches!(
            decor.kind,
            D::SpecId
                | D::Block
                | D::BufferBlock
                | D::ArrayStride
                | D::GLSLShared
                | D::GLSLPacked
                | D::Aliased
                | D::Binding
                | D::DescriptorSet
                | D::NoContraction
                | D::NoSignedWrap
                | D::NoUnsignedWrap
                | D::NonUniform
                | D::RestrictPointer
                | D::AliasedPointer
                | D::CounterBuffer
        );
        if never {
            return self.fault(Rule::DecorationMember, decor.word, note);
        }
        if decor.kind == D::BuiltIn {
            let may_be_member = matches!(
                B::from_u32(decor.value),
                Some(
                    B::NumWorkgroups
                        | B::WorkgroupId
                        | B::LocalInvocationId
                        | B::GlobalInvocationId
                        | B::LocalInvocationIndex
                        | B::DeviceIndex
                )
            );
            if may_be_member {
                let member = self.members(decor.target).get(decor.member as usize);
                let member = member.map_or(0, |&id| m.ids.get(id));
                self.builtin_type(decor, member);
            } else {
                self.fault(Rule::BuiltInTarget, decor.word, note);
            }
        }
        if m.memory_model == 3 && matches!(decor.kind, D::Coherent | D::Volatile) {
            self.fault(Rule::DecorationModel, decor.word, note);
        }
    }

    fn builtin(&mut self, decor: &Decor) {
        let m = self.m;
        let target = *m.def(decor.target);
        let note = Note::Id(target.id);
        if decor.value == B::WorkgroupSize as u32 {
            if !self.is_constant(decor.target) {
                return self.fault(Rule::BuiltInTarget, decor.word, note);
            }
            self.builtin_type(decor, target.ty);
            return self.workgroup_size(decor.target);
        }
        if target.op != Op::Variable {
            return self.fault(Rule::BuiltInTarget, decor.word, note);
        }
        if m.class(target.ty) != Some(S::Input) {
            self.fault(Rule::BuiltInStorage, decor.word, note);
        }
        self.builtin_type(decor, m.ty(target.ty).elem);
    }

    /// A WorkgroupSize that is known is not empty.
    fn workgroup_size(&mut self, idx: Idx) {
        let def = *self.m.def(idx);
        let mut product = Some(1u64);
        for i in 3..usize::from(def.len) {
            let part = self.const_u64(self.m.ids.get(self.word_at(def.word, i)));
            product = match (product, part) {
                (Some(p), Some(v)) => Some(p.wrapping_mul(v)),
                _ => None,
            };
        }
        if product == Some(0) {
            self.fault(Rule::LocalSizeProduct, def.word, Note::Id(def.id));
        }
    }

    fn builtin_type(&mut self, decor: &Decor, ty: Idx) {
        let num = self.m.num(ty);
        let dim = match B::from_u32(decor.value) {
            Some(
                B::NumWorkgroups
                | B::WorkgroupSize
                | B::WorkgroupId
                | B::LocalInvocationId
                | B::GlobalInvocationId,
            ) => 3,
            Some(
                B::SubgroupEqMask
                | B::SubgroupGeMask
                | B::SubgroupGtMask
                | B::SubgroupLeMask
                | B::SubgroupLtMask,
            ) => 4,
            _ => 1,
        };
        let fits = num.base == Kind::Int
            && num.width == 32
            && !num.cooperative
            && num.dim == dim
            && num.vector == (dim != 1);
        if !fits {
            self.fault(Rule::BuiltInType, decor.word, Note::Id(self.m.def(ty).id));
        }
    }

    /// The decorations of a target from this one on, the last, by their indices.
    fn list(&self, last: &Decor) -> impl Iterator<Item = u32> {
        let m = self.m;
        std::iter::successors(Some(m.def(last.target).decor), |&at| {
            let decor = m.decorations.get(at as usize - 1)?;
            Some(decor.next).filter(|&next| next != 0)
        })
        .map(|at| at - 1)
    }

    /// Whether two decorations of a target may be one too many: of one kind, or of kinds that
    /// can exclude each other, on one member. Where there are many, they may.
    fn interfere(&self, last: &Decor) -> bool {
        let mut seen = [(0, D::Block); 8];
        for (n, decor) in self.m.decorations_of(last.target).enumerate() {
            let (member, kind) = (decor.member, decor.kind);
            let same = |&(m, k): &(u32, D)| {
                m == member && (k == kind || exclusion(k).0 != 0 && exclusion(kind).0 != 0)
            };
            if n == seen.len() || seen.iter().take(n).any(same) {
                return true;
            }
            if let Some(slot) = seen.get_mut(n) {
                *slot = (member, kind);
            }
        }
        false
    }

    /// Decorations that are given twice or exclude each other, among these.
    fn together(&mut self, order: &mut [u32]) {
        let m = self.m;
        let key = |i: u32| {
            m.decorations.get(i as usize).map_or((0, 0, 0, 0), |d| {
                (d.target, d.member, d.kind as u32, d.word)
            })
        };
        order.sort_unstable_by_key(|&i| key(i));
        let mut group = (0, 0);
        let mut seen = 0u32;
        let mut last = None;
        for &i in order.iter() {
            let Some(decor) = m.decorations.get(i as usize) else {
                continue;
            };
            if (decor.target, decor.member) != group {
                group = (decor.target, decor.member);
                seen = 0;
                last = None;
            }
            let id = m.def(decor.target).id;
            if last == Some(decor.kind) && decor.kind != D::UserSemantic {
                let both = self.op_at(decor.word) != Op::DecorateId;
                if both {
                    self.fault(Rule::DecorationOnce, decor.word, Note::Id(id));
                }
            }
            last = Some(decor.kind);
            let (bit, other) = exclusion(decor.kind);
            if seen & other != 0 {
                self.fault(Rule::DecorationConflict, decor.word, Note::Id(id));
            }
            seen |= bit;
        }
    }

    /// A module-scope variable's decorations, by its storage class.
    fn resource(&mut self, var: Idx) {
        let m = self.m;
        let def = *m.def(var);
        let Some(class) = S::from_u32(self.word_at(def.word, 3)) else {
            return;
        };
        let pointee = m.ty(def.ty).elem;
        if matches!(class, S::Uniform | S::UniformConstant | S::StorageBuffer) {
            for (kind, name) in [(D::DescriptorSet, "DescriptorSet"), (D::Binding, "Binding")] {
                if !m.is_decorated(var, kind) {
                    self.fault(Rule::ResourceBinding, def.word, Note::Name(name));
                }
            }
        }
        let inner = match m.kind(pointee) {
            Kind::Array | Kind::RuntimeArray => m.ty(pointee).elem,
            _ => pointee,
        };
        if m.kind(inner) == Kind::Struct {
            let flags = m.def(inner).flags;
            let block = flags & flag::BLOCK != 0;
            let buffer = flags & flag::BUFFER_BLOCK != 0;
            let fits = match class {
                S::StorageBuffer => block && !buffer,
                S::PushConstant => block,
                S::Uniform => block || buffer,
                _ => true,
            };
            if !fits {
                self.fault(Rule::BlockMissing, def.word, Note::Id(m.def(inner).id));
            }
        }
    }

    /// Layout decorations where the storage class has no layout.
    pub(super) fn layout_forbidden(&mut self, var: Idx) {
        let m = self.m;
        let def = *m.def(var);
        let class = S::from_u32(self.word_at(def.word, 3));
        if !m.allows_layout(class) && m.ty(def.ty).has & has::LAYOUT != 0 {
            let workgroup =
                class == Some(S::Workgroup) && m.has_cap(C::WorkgroupMemoryExplicitLayoutKHR);
            if !workgroup {
                self.fault(Rule::LayoutForbidden, def.word, Note::Id(def.id));
            }
        }
    }
}

/// A bit for a decoration that excludes another one, and the bit of that one.
fn exclusion(kind: D) -> (u32, u32) {
    match kind {
        D::Block => (1, 2),
        D::BufferBlock => (2, 1),
        D::Restrict => (4, 8),
        D::Aliased => (8, 4),
        D::RestrictPointer => (16, 32),
        D::AliasedPointer => (32, 16),
        D::RowMajor => (64, 128),
        D::ColMajor => (128, 64),
        _ => (0, 0),
    }
}
