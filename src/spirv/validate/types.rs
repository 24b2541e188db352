//! Type declarations and constants.

use super::check::{Checker, Inst};
use super::error::Note;
use super::rules::Rule;
use super::state::{Idx, Kind, flag, has};
use spirv::{Capability as C, Decoration, Op, StorageClass};

impl Checker<'_> {
    pub(super) fn declared_type(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        match inst.op {
            Op::TypeInt => self.int_type(inst),
            Op::TypeFloat => self.float_type(inst),
            Op::TypeVector => {
                let elem = m.kind(self.idx(inst, 2));
                if !matches!(elem, Kind::Bool | Kind::Int | Kind::Float | Kind::OddFloat) {
                    self.fault(Rule::TypeVector, inst.at, Note::Id(inst.word(2)));
                }
                if !(2..=4).contains(&inst.word(3)) {
                    self.fault(Rule::TypeVector, inst.at, Note::Value(inst.word(3)));
                }
            }
            Op::TypeMatrix => {
                let column = m.num(self.idx(inst, 2));
                if !column.vector || !matches!(column.base, Kind::Float | Kind::OddFloat) {
                    self.fault(Rule::TypeMatrix, inst.at, Note::Id(inst.word(2)));
                }
                if !(2..=4).contains(&inst.word(3)) {
                    self.fault(Rule::TypeMatrix, inst.at, Note::Value(inst.word(3)));
                }
            }
            Op::TypeArray | Op::TypeRuntimeArray => self.array_type(inst),
            Op::TypeStruct => self.struct_type(inst),
            Op::TypePointer => self.pointer_type(inst),
            Op::TypeFunction => {
                if m.kind(self.idx(inst, 2)) == Kind::None {
                    self.fault(Rule::TypeFunction, inst.at, Note::Id(inst.word(2)));
                }
                for i in 3..inst.len() {
                    if matches!(m.kind(self.idx(inst, i)), Kind::Void | Kind::None) {
                        self.fault(Rule::TypeFunction, inst.at, Note::Id(inst.word(i)));
                    }
                }
                if inst.len() > 3 + 255 {
                    let note = Note::Limit(inst.len() as u64 - 3, 255);
                    self.fault(Rule::IdBoundLimit, inst.at, note);
                }
            }
            Op::TypeForwardPointer => {
                let pointer = self.idx(inst, 1);
                let ty = m.ty(pointer);
                let fits = ty.kind == Kind::Pointer
                    && ty.class == inst.word(2)
                    && ty.class == StorageClass::PhysicalStorageBuffer as u32
                    && m.kind(ty.elem) == Kind::Struct;
                if !fits {
                    self.fault(Rule::TypeForward, inst.at, Note::Id(inst.word(1)));
                }
            }
            Op::TypeCooperativeMatrixKHR => self.cooperative_type(inst),
            _ => {}
        }
        // Function types are no parts of others.
        let parts = match inst.op {
            Op::TypeVector | Op::TypeMatrix | Op::TypeRuntimeArray | Op::TypeArray => 2..3,
            Op::TypePointer => 3..4,
            Op::TypeStruct => 2..inst.len(),
            _ => return,
        };
        for i in parts.start..parts.end.min(inst.len()) {
            if m.kind(self.idx(inst, i)) == Kind::Function {
                self.fault(Rule::TypeFunction, inst.at, Note::Id(inst.word(i)));
            }
        }
    }

    fn int_type(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let allowed = match inst.word(2) {
            32 => true,
            8 => {
                m.has_cap(C::Int8)
                    || m.has_cap(C::StorageBuffer8BitAccess)
                    || m.has_cap(C::UniformAndStorageBuffer8BitAccess)
                    || m.has_cap(C::StoragePushConstant8)
            }
            16 => m.has_cap(C::Int16) || self.storage16(),
            64 => m.has_cap(C::Int64),
            _ => false,
        };
        if !allowed {
            self.fault(Rule::TypeInt, inst.at, Note::Value(inst.word(2)));
        }
        if inst.word(3) > 1 {
            // SPIRV-Tools looks at the signedness of 32-bit integers alone.
            let rule = if inst.word(2) == 32 {
                Rule::TypeInt
            } else {
                Rule::TypeSignedness
            };
            self.fault(rule, inst.at, Note::Value(inst.word(3)));
        }
    }

    fn storage16(&self) -> bool {
        let m = self.m;
        m.has_cap(C::StorageBuffer16BitAccess)
            || m.has_cap(C::UniformAndStorageBuffer16BitAccess)
            || m.has_cap(C::StoragePushConstant16)
            || m.has_cap(C::StorageInputOutput16)
    }

    fn float_type(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let odd = inst.len() > 3;
        let allowed = match inst.word(2) {
            32 => true,
            16 => odd || m.has_cap(C::Float16) || self.storage16(),
            64 => m.has_cap(C::Float64),
            8 => odd && m.has_cap(C::Float8EXT),
            _ => false,
        };
        if !allowed {
            self.fault(Rule::TypeFloat, inst.at, Note::Value(inst.word(2)));
        }
    }

    fn array_type(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let elem = self.idx(inst, 2);
        if matches!(m.kind(elem), Kind::Void | Kind::None | Kind::RuntimeArray) {
            self.fault(Rule::TypeArray, inst.at, Note::Id(inst.word(2)));
        }
        if self.is_block(elem)
            && m.kind(elem) == Kind::Struct
            && m.is_decorated(inst.id, Decoration::ArrayStride)
        {
            self.fault(Rule::TypeArray, inst.at, Note::Name("ArrayStride"));
        }
        if inst.op == Op::TypeRuntimeArray {
            return;
        }
        let length = self.idx(inst, 3);
        if !self.is_constant(length) || !self.is_int(m.type_of(length)) {
            return self.fault(Rule::TypeArrayLength, inst.at, Note::Id(inst.word(3)));
        }
        if let Some(value) = self.const_i64(length) {
            let signed = m.ty(m.type_of(length)).signed;
            if value == 0 || (signed && value < 0) {
                self.fault(Rule::TypeArrayLength, inst.at, Note::Id(inst.word(3)));
            }
        }
    }

    fn struct_type(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let members = inst.words.get(2..).unwrap_or_default();
        let mut nested_block = false;
        for (i, &member) in members.iter().enumerate() {
            let idx = m.ids.get(member);
            let ty = m.ty(idx);
            if ty.kind == Kind::Void || (ty.kind == Kind::None && m.def(idx).is_defined()) {
                self.fault(Rule::TypeStruct, inst.at, Note::Id(member));
            }
            if idx == inst.id {
                self.fault(Rule::TypeStruct, inst.at, Note::Id(member));
            }
            if ty.has & has::OPAQUE != 0 {
                self.fault(Rule::TypeStruct, inst.at, Note::Id(member));
            }
            if ty.kind == Kind::Struct && ty.has & has::BUILTIN != 0 {
                self.fault(Rule::TypeStruct, inst.at, Note::Id(member));
            }
            if ty.kind == Kind::RuntimeArray && (i + 1 != members.len() || !self.is_block(inst.id))
            {
                self.fault(Rule::TypeRuntimeMember, inst.at, Note::Id(member));
            }
            nested_block |= ty.has & has::BLOCK != 0;
        }
        if nested_block && self.is_block(inst.id) {
            self.fault(Rule::TypeNestedBlock, inst.at, Note::None);
        }
        if members.len() > 16_383 {
            let note = Note::Limit(members.len() as u64, 16_383);
            self.fault(Rule::IdBoundLimit, inst.at, note);
        }
        if m.ty(inst.id).depth > 255 {
            let note = Note::Limit(u64::from(m.ty(inst.id).depth), 255);
            self.fault(Rule::IdBoundLimit, inst.at, note);
        }
        if m.ty(inst.id).has & has::BUILTIN != 0 {
            let count = m
                .decorations_of(inst.id)
                .filter(|d| d.kind == Decoration::BuiltIn)
                .count();
            if count != 0 && count != members.len() {
                self.fault(Rule::BuiltInTarget, inst.at, Note::None);
            }
        }
    }

    fn pointer_type(&mut self, inst: &Inst<'_>) {
        let class = StorageClass::from_u32(inst.word(2));
        if !class.is_some_and(vulkan_class) {
            self.fault(Rule::TypePointer, inst.at, Note::Value(inst.word(2)));
        }
        if self.m.kind(self.idx(inst, 3)) == Kind::None {
            self.fault(Rule::TypePointer, inst.at, Note::Id(inst.word(3)));
        }
    }

    fn cooperative_type(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        if !matches!(
            m.kind(self.idx(inst, 2)),
            Kind::Int | Kind::Float | Kind::OddFloat
        ) {
            self.fault(Rule::TypeCooperativeMatrix, inst.at, Note::Id(inst.word(2)));
        }
        for i in 3..7 {
            let idx = self.idx(inst, i);
            if !self.is_constant(idx) || !self.is_int(m.type_of(idx)) {
                self.fault(Rule::TypeCooperativeMatrix, inst.at, Note::Id(inst.word(i)));
            }
        }
    }

    pub(super) fn constant(&mut self, inst: &Inst<'_>) {
        match inst.op {
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                if !self.is_bool(inst.ty) {
                    self.fault(Rule::ConstantBool, inst.at, Note::None);
                }
            }
            Op::Constant | Op::SpecConstant => {
                self.literal_bits(inst, inst.ty, 3);
            }
            Op::ConstantNull => {
                if self.m.ty(inst.ty).has & has::NOT_NULLABLE != 0
                    || self.m.kind(inst.ty) == Kind::None
                {
                    self.fault(Rule::ConstantNull, inst.at, Note::None);
                }
            }
            Op::SpecConstantOp => self.spec_constant_op(inst),
            _ => self.constant_composite(inst),
        }
        if self.m.kind(inst.ty) != Kind::Pointer && self.m.is_limited(inst.ty) {
            self.fault(Rule::NarrowUse, inst.at, Note::None);
        }
    }

    /// The high bits of a literal narrower than its words.
    pub(super) fn literal_bits(&mut self, inst: &Inst<'_>, ty: Idx, at: usize) {
        let word = inst.word(at);
        if !self.m.ty(ty).fits(word) {
            self.fault(Rule::LiteralBits, inst.at, Note::Value(word));
        }
    }

    fn constant_composite(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let parts = inst.words.get(3..).unwrap_or_default();
        let ty = m.ty(inst.ty);
        let members = self.members(inst.ty);
        let expected = match ty.kind {
            Kind::Vector | Kind::Matrix => Some(ty.count as usize),
            Kind::Array if ty.has & has::SPEC_LENGTH == 0 || m.kind(ty.elem) == Kind::None => {
                Some(ty.count as usize)
            }
            Kind::Array => self.array_count(inst.ty),
            Kind::Struct => Some(members.len()),
            Kind::CooperativeMatrix => Some(1),
            _ => {
                return self.fault(Rule::ConstantComposite, inst.at, Note::None);
            }
        };
        if expected.is_some_and(|e| e != parts.len()) {
            let note = Note::Limit(parts.len() as u64, expected.unwrap_or(0) as u64);
            self.fault(Rule::ConstantComposite, inst.at, note);
        }
        for (i, &part) in parts.iter().enumerate() {
            let idx = m.ids.get(part);
            let wanted = match ty.kind {
                Kind::Struct => members.get(i).map_or(0, |&id| m.ids.get(id)),
                _ => ty.elem,
            };
            let given = m.type_of(idx);
            let constant = self.is_constant(idx) || m.def(idx).op == Op::Undef;
            let same = given == wanted
                || (ty.kind == Kind::Matrix && same_vector(m.num(given), m.num(wanted)));
            if !constant || !same {
                self.fault(Rule::ConstantComposite, inst.at, Note::Id(part));
            }
        }
    }

    /// An array's length, where the type itself did not know it.
    pub(super) fn array_count(&self, ty: Idx) -> Option<usize> {
        let def = self.m.def(ty);
        let length = self.m.ids.get(self.word_at(def.word, 3));
        if def.op != Op::TypeArray {
            return None;
        }
        self.const_u64(length).and_then(|n| usize::try_from(n).ok())
    }

    fn spec_constant_op(&mut self, inst: &Inst<'_>) {
        let Some(op) = Op::from_u32(inst.word(3)) else {
            return self.fault(Rule::SpecConstantOp, inst.at, Note::Value(inst.word(3)));
        };
        let kernel = matches!(
            op,
            Op::ConvertFToS
                | Op::ConvertSToF
                | Op::ConvertFToU
                | Op::ConvertUToF
                | Op::ConvertPtrToU
                | Op::ConvertUToPtr
                | Op::GenericCastToPtr
                | Op::PtrCastToGeneric
                | Op::Bitcast
                | Op::FNegate
                | Op::FAdd
                | Op::FSub
                | Op::FMul
                | Op::FDiv
                | Op::FRem
                | Op::FMod
                | Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain
        );
        if kernel {
            return self.fault(Rule::SpecConstantOp, inst.at, Note::Name("Kernel"));
        }
        if op == Op::UConvert && self.m.version < 4 && self.m.other_exts & 2 == 0 {
            self.fault(Rule::SpecConstantOp, inst.at, Note::Version(4));
        }
        self.spec_operands(inst, op);
    }

    /// What an operation within OpSpecConstantOp takes: the same as the instruction, of
    /// constants. Its operands stand one word later.
    fn spec_operands(&mut self, inst: &Inst<'_>, op: Op) {
        let literals = match op {
            Op::VectorShuffle => 6,
            Op::CompositeExtract => 5,
            Op::CompositeInsert => 6,
            Op::CooperativeMatrixLengthKHR => 4,
            _ => inst.len(),
        };
        for i in 4..literals.min(inst.len()) {
            let idx = self.idx(inst, i);
            if !self.is_constant(idx) && self.m.def(idx).op != Op::Undef {
                self.fault(Rule::SpecConstantOp, inst.at, Note::Id(inst.word(i)));
            }
        }
        if !spec_op(op) {
            return self.fault(Rule::SpecOp, inst.at, Note::Value(inst.word(3)));
        }
        if !self.options.beyond_spirv_val {
            return;
        }
        match op {
            Op::VectorShuffle | Op::CompositeExtract | Op::CompositeInsert => {
                self.composite(inst, op, 1);
            }
            Op::SConvert | Op::FConvert | Op::UConvert | Op::QuantizeToF16 => {
                self.conversion(inst, op, 1);
            }
            Op::SNegate
            | Op::IAdd
            | Op::ISub
            | Op::IMul
            | Op::UDiv
            | Op::SDiv
            | Op::UMod
            | Op::SRem
            | Op::SMod => self.arithmetic(inst, op, 1),
            Op::Not
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::ShiftLeftLogical
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::BitwiseAnd => self.bits(inst, op, 1),
            Op::LogicalOr
            | Op::LogicalAnd
            | Op::LogicalNot
            | Op::LogicalEqual
            | Op::LogicalNotEqual
            | Op::Select
            | Op::IEqual
            | Op::INotEqual
            | Op::ULessThan
            | Op::SLessThan
            | Op::UGreaterThan
            | Op::SGreaterThan
            | Op::ULessThanEqual
            | Op::SLessThanEqual
            | Op::UGreaterThanEqual
            | Op::SGreaterThanEqual => self.logic(inst, op, 1),
            Op::CooperativeMatrixLengthKHR
                if self.m.kind(self.idx(inst, 4)) != Kind::CooperativeMatrix =>
            {
                self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(4)));
            }
            _ => {}
        }
    }

    /// Two declarations of one non-aggregate type.
    pub(super) fn unique_types(&mut self, order: &mut Vec<u32>) {
        order.clear();
        order.extend_from_slice(&self.m.unique_types);
        let words = self.words;
        let first = |at: u32| words.get(at as usize).copied().unwrap_or(0);
        // A few types that differ in opcode or length differ.
        let few = order.len() <= 16;
        let mut pairs = order.iter().enumerate();
        let differ = |(i, &at): (usize, &u32)| {
            let before = order.iter().take(i);
            before.filter(|&&other| first(other) == first(at)).count() == 0
        };
        if few && pairs.all(differ) {
            return;
        }
        let key = |at: u32| {
            let from = at as usize + 2;
            let to = at as usize + (first(at) >> 16) as usize;
            (first(at), words.get(from..to).unwrap_or_default())
        };
        order.sort_by(|&a, &b| key(a).cmp(&key(b)).then(a.cmp(&b)));
        for i in 1..order.len() {
            if let (Some(&a), Some(&b)) = (order.get(i - 1), order.get(i))
                && key(a) == key(b)
            {
                let note = Note::Ids(self.word_at(a, 1), self.word_at(b, 1));
                self.fault(Rule::TypeUnique, b, note);
            }
        }
    }

    pub(super) fn limits(&mut self) {
        let globals = self.m.globals.len() as u64;
        let end = self.end();
        if globals > 65_535 {
            self.fault(Rule::IdBoundLimit, end, Note::Limit(globals, 65_535));
        }
        let locals = u64::from(self.m.local_vars);
        if locals > 524_287 {
            self.fault(Rule::IdBoundLimit, end, Note::Limit(locals, 524_287));
        }
    }

    /// Whether a type is a structure decorated Block.
    pub(super) fn is_plain_block(&self, ty: Idx) -> bool {
        self.m.def(ty).flags & flag::BLOCK != 0
    }
}

/// The opcodes that OpSpecConstantOp lists, but those that need the Kernel capability.
fn spec_op(op: Op) -> bool {
    matches!(
        op,
        Op::SConvert
            | Op::FConvert
            | Op::UConvert
            | Op::QuantizeToF16
            | Op::SNegate
            | Op::Not
            | Op::IAdd
            | Op::ISub
            | Op::IMul
            | Op::UDiv
            | Op::SDiv
            | Op::UMod
            | Op::SRem
            | Op::SMod
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::ShiftLeftLogical
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::BitwiseAnd
            | Op::VectorShuffle
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::LogicalOr
            | Op::LogicalAnd
            | Op::LogicalNot
            | Op::LogicalEqual
            | Op::LogicalNotEqual
            | Op::Select
            | Op::IEqual
            | Op::INotEqual
            | Op::ULessThan
            | Op::SLessThan
            | Op::UGreaterThan
            | Op::SGreaterThan
            | Op::ULessThanEqual
            | Op::SLessThanEqual
            | Op::UGreaterThanEqual
            | Op::SGreaterThanEqual
            | Op::CooperativeMatrixLengthKHR
            | Op::CooperativeMatrixLengthNV
    )
}

fn same_vector(a: super::state::Num, b: super::state::Num) -> bool {
    a.vector && b.vector && a.component == b.component && a.dim == b.dim
}

/// VUID 04643: the storage classes of the environment, as far as they are covered.
pub(super) fn vulkan_class(class: StorageClass) -> bool {
    !matches!(
        class,
        StorageClass::CrossWorkgroup | StorageClass::Generic | StorageClass::AtomicCounter
    )
}
