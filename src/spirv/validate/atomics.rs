//! Scopes, memory semantics, atomics and barriers.

use super::check::{Checker, Const32, Inst};
use super::error::Note;
use super::rules::Rule;
use super::state::Kind;
use spirv::{Capability as C, Op, StorageClass as S};

mod scope {
    pub(super) const DEVICE: u32 = 1;
    pub(super) const WORKGROUP: u32 = 2;
    pub(super) const SUBGROUP: u32 = 3;
    pub(super) const INVOCATION: u32 = 4;
    pub(super) const QUEUE_FAMILY: u32 = 5;
    pub(super) const SHADER_CALL: u32 = 6;
}

mod bit {
    pub(super) const ACQUIRE: u32 = 2;
    pub(super) const RELEASE: u32 = 4;
    pub(super) const ACQUIRE_RELEASE: u32 = 8;
    pub(super) const SEQ_CST: u32 = 16;
    pub(super) const ORDERS: u32 = 30;
    /// Uniform, Workgroup, Image and Output memory: the classes that Vulkan has.
    pub(super) const CLASSES: u32 = 0x40 | 0x100 | 0x800 | 0x1000;
    pub(super) const OUTPUT: u32 = 0x1000;
    pub(super) const AVAILABLE: u32 = 0x2000;
    pub(super) const VISIBLE: u32 = 0x4000;
    pub(super) const VOLATILE: u32 = 0x8000;
}

impl Checker<'_> {
    /// A scope operand's value, `None` where it is no constant scope.
    fn scope_value(&mut self, inst: &Inst<'_>, i: usize) -> Option<u32> {
        match self.const32(self.idx(inst, i)) {
            Const32::Known(value) if value <= scope::SHADER_CALL => Some(value),
            _ => {
                self.fault(Rule::ScopeId, inst.at, Note::Id(inst.word(i)));
                None
            }
        }
    }

    pub(super) fn execution_scope(&mut self, inst: &Inst<'_>, i: usize) {
        let Some(value) = self.scope_value(inst, i) else {
            return;
        };
        let group = inst.op != Op::ControlBarrier;
        if group && value != scope::SUBGROUP {
            // Vulkan 1.0 has no such rule, and no group operations.
            if self.options.environment.minor() > 0 || value != scope::WORKGROUP {
                self.fault(Rule::GroupScope, inst.at, Note::Value(value));
            }
        } else if value != scope::WORKGROUP && value != scope::SUBGROUP {
            self.fault(Rule::ExecutionScope, inst.at, Note::Value(value));
        }
    }

    pub(super) fn memory_scope(&mut self, inst: &Inst<'_>, i: usize) {
        let Some(value) = self.scope_value(inst, i) else {
            return;
        };
        let vulkan_model = self.m.has_cap(C::VulkanMemoryModel);
        match value {
            scope::QUEUE_FAMILY => {
                if !vulkan_model {
                    self.fault(Rule::DeviceScope, inst.at, Note::Value(value));
                }
            }
            scope::DEVICE => {
                if vulkan_model && !self.m.has_cap(C::VulkanMemoryModelDeviceScope) {
                    self.fault(Rule::DeviceScope, inst.at, Note::Value(value));
                }
            }
            scope::SUBGROUP => {
                if self.options.environment.minor() == 0 {
                    self.fault(Rule::MemoryScope, inst.at, Note::Value(value));
                }
            }
            scope::WORKGROUP | scope::INVOCATION => {}
            _ => self.fault(Rule::MemoryScope, inst.at, Note::Value(value)),
        }
    }

    pub(super) fn clock_scope(&mut self, inst: &Inst<'_>) {
        if let Some(value) = self.scope_value(inst, 3)
            && value != scope::SUBGROUP
            && value != scope::DEVICE
        {
            self.fault(Rule::ExecutionScope, inst.at, Note::Value(value));
        }
    }

    /// Memory semantics at word `i`, with the scope at word `memory`. `equal` is the word of
    /// the equal semantics where these are the unequal ones.
    fn semantics(&mut self, inst: &Inst<'_>, i: usize, memory: usize, equal: Option<usize>) {
        let value = match self.const32(self.idx(inst, i)) {
            Const32::Known(value) => value,
            _ => return self.fault(Rule::Semantics, inst.at, Note::Id(inst.word(i))),
        };
        let note = Note::Value(value);
        let vulkan_model = self.m.has_cap(C::VulkanMemoryModel);
        let order = value & bit::ORDERS;
        let has = |bits: u32| value & bits != 0;
        if order.count_ones() > 1 || has(bit::SEQ_CST) {
            self.fault(Rule::SemanticsOrder, inst.at, note);
        }
        let wrong = match inst.op {
            Op::AtomicStore => has(bit::ACQUIRE | bit::ACQUIRE_RELEASE),
            Op::AtomicLoad => has(bit::RELEASE | bit::ACQUIRE_RELEASE),
            Op::MemoryBarrier => order == 0,
            _ => false,
        };
        if wrong {
            self.fault(Rule::SemanticsAtomic, inst.at, note);
        }
        let classes = value & bit::CLASSES;
        if (order != 0) != (classes != 0) {
            self.fault(Rule::SemanticsClass, inst.at, note);
        }
        let atomic = !matches!(inst.op, Op::ControlBarrier | Op::MemoryBarrier);
        let model_bits = bit::OUTPUT | bit::AVAILABLE | bit::VISIBLE | bit::VOLATILE;
        let misplaced = (has(model_bits) && !vulkan_model)
            || (has(bit::AVAILABLE) && !has(bit::RELEASE | bit::ACQUIRE_RELEASE))
            || (has(bit::VISIBLE) && !has(bit::ACQUIRE | bit::ACQUIRE_RELEASE))
            || (has(bit::VOLATILE) && !atomic);
        if misplaced {
            self.fault(Rule::SemanticsBits, inst.at, note);
        }
        if let Some(equal) = equal {
            let equal = match self.const32(self.idx(inst, equal)) {
                Const32::Known(value) => value,
                _ => 0,
            };
            let stronger = has(bit::RELEASE | bit::ACQUIRE_RELEASE)
                || (has(bit::ACQUIRE) && equal & bit::ORDERS == 0)
                || value & !equal & (bit::CLASSES | bit::VISIBLE) != 0
                || (value ^ equal) & bit::VOLATILE != 0;
            if stronger {
                self.fault(Rule::SemanticsUnequal, inst.at, note);
            }
        }
        if order != 0 && self.const32(self.idx(inst, memory)) == Const32::Known(scope::INVOCATION) {
            self.fault(Rule::SemanticsInvocation, inst.at, note);
        }
    }

    pub(super) fn barrier(&mut self, inst: &Inst<'_>) {
        if inst.op == Op::ControlBarrier {
            self.execution_scope(inst, 1);
            self.memory_scope(inst, 2);
            self.semantics(inst, 3, 2, None);
        } else {
            self.memory_scope(inst, 1);
            self.semantics(inst, 2, 1, None);
        }
    }

    pub(super) fn atomic(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let store = inst.op == Op::AtomicStore;
        let pointer_at = if store { 1 } else { 3 };
        let result = m.num(inst.ty);
        let float_only = matches!(
            inst.op,
            Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT
        );
        let either = matches!(
            inst.op,
            Op::AtomicLoad | Op::AtomicExchange | Op::AtomicStore
        );
        let pointer = *m.ty(self.operand_type(inst, pointer_at));
        if pointer.kind != Kind::Pointer {
            return self.fault(Rule::AtomicType, inst.at, Note::Id(inst.word(pointer_at)));
        }
        let data_ty = if store { pointer.elem } else { inst.ty };
        let data = if store { m.num(data_ty) } else { result };
        let scalar = !data.vector && !data.cooperative;
        let fits = scalar
            && match data.base {
                Kind::Int => !float_only,
                Kind::Float => float_only || either,
                _ => false,
            };
        if !fits || pointer.elem != data_ty {
            self.fault(Rule::AtomicType, inst.at, Note::Id(inst.word(pointer_at)));
        }
        let class = S::from_u32(pointer.class);
        let reached = matches!(
            class,
            Some(
                S::Uniform | S::StorageBuffer | S::Workgroup | S::Image | S::PhysicalStorageBuffer
            )
        );
        if !reached {
            self.fault(
                Rule::AtomicStorage,
                inst.at,
                Note::Id(inst.word(pointer_at)),
            );
        }
        self.atomic_capability(inst, data.base, data.width);
        let scope_at = pointer_at + 1;
        self.memory_scope(inst, scope_at);
        self.semantics(inst, scope_at + 1, scope_at, None);
        let mut value_at = scope_at + 2;
        let exchange = inst.op == Op::AtomicCompareExchange;
        if exchange {
            self.semantics(inst, scope_at + 2, scope_at, Some(scope_at + 1));
            value_at += 1;
        }
        let values = match inst.op {
            Op::AtomicLoad | Op::AtomicIIncrement | Op::AtomicIDecrement => 0,
            Op::AtomicCompareExchange => 2,
            _ => 1,
        };
        for i in value_at..value_at + values {
            if self.operand_type(inst, i) != data_ty {
                self.fault(Rule::AtomicType, inst.at, Note::Id(inst.word(i)));
            }
        }
        if inst.op != Op::AtomicLoad && self.options.beyond_spirv_val {
            let decoration = spirv::Decoration::NonWritable;
            self.beyond_access(inst, pointer_at, decoration, Rule::StoreNonWritable);
        }
    }

    fn atomic_capability(&mut self, inst: &Inst<'_>, base: Kind, width: u16) {
        let needed = match (base, width, inst.op) {
            (Kind::Int, 64, _) => C::Int64Atomics,
            (Kind::Float, 16, Op::AtomicFAddEXT) => C::AtomicFloat16AddEXT,
            (Kind::Float, 32, Op::AtomicFAddEXT) => C::AtomicFloat32AddEXT,
            (Kind::Float, 64, Op::AtomicFAddEXT) => C::AtomicFloat64AddEXT,
            (Kind::Float, 16, Op::AtomicFMinEXT | Op::AtomicFMaxEXT) => C::AtomicFloat16MinMaxEXT,
            (Kind::Float, 32, Op::AtomicFMinEXT | Op::AtomicFMaxEXT) => C::AtomicFloat32MinMaxEXT,
            (Kind::Float, 64, Op::AtomicFMinEXT | Op::AtomicFMaxEXT) => C::AtomicFloat64MinMaxEXT,
            (Kind::Int, 8 | 16, _) => {
                // No capability of the core makes narrow integer atomics; the oracle is silent.
                return self.fault(Rule::NarrowAtomic, inst.at, Note::Value(u32::from(width)));
            }
            _ => return,
        };
        if !self.m.has_cap(needed) {
            self.fault(Rule::AtomicCapability, inst.at, Note::None);
        }
    }
}
