//! Built-in variables and the values made from them.

use super::body::Body;
use super::preamble::cap;
use super::sections::{Writer, head};
use crate::types::Type;
use spirv::{BuiltIn, Decoration, Op as S, StorageClass};

/// The number of built-in variables.
pub(super) const COUNT: usize = 8;

/// A built-in variable; its number is its place in the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Builtin {
    GlobalId,
    LocalId,
    WorkgroupId,
    NumWorkgroups,
    LocalIndex,
    SubgroupSize,
    Lane,
    SubgroupId,
}

impl Builtin {
    const fn decoration(self) -> BuiltIn {
        match self {
            Builtin::GlobalId => BuiltIn::GlobalInvocationId,
            Builtin::LocalId => BuiltIn::LocalInvocationId,
            Builtin::WorkgroupId => BuiltIn::WorkgroupId,
            Builtin::NumWorkgroups => BuiltIn::NumWorkgroups,
            Builtin::LocalIndex => BuiltIn::LocalInvocationIndex,
            Builtin::SubgroupSize => BuiltIn::SubgroupSize,
            Builtin::Lane => BuiltIn::SubgroupLocalInvocationId,
            Builtin::SubgroupId => BuiltIn::SubgroupId,
        }
    }

    /// Whether it is a vector of three.
    const fn is_vector(self) -> bool {
        match self {
            Builtin::GlobalId
            | Builtin::LocalId
            | Builtin::WorkgroupId
            | Builtin::NumWorkgroups => true,
            Builtin::LocalIndex | Builtin::SubgroupSize | Builtin::Lane | Builtin::SubgroupId => {
                false
            }
        }
    }

    const fn is_subgroup(self) -> bool {
        match self {
            Builtin::SubgroupSize | Builtin::Lane | Builtin::SubgroupId => true,
            Builtin::GlobalId
            | Builtin::LocalId
            | Builtin::WorkgroupId
            | Builtin::NumWorkgroups
            | Builtin::LocalIndex => false,
        }
    }
}

/// What a kernel has of the built-ins so far.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Seen {
    /// Those that are in the interface, as bits.
    named: u32,
    /// The values loaded outside of all control flow; 0 if one was not.
    values: [u32; COUNT],
}

/// The type of a built-in variable's value, and that of the variable.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Input {
    ty: u32,
    pointer: u32,
}

impl Writer {
    /// The types of a built-in variable: `u32`, or a vector of three.
    fn input(&mut self, vector: bool) -> Input {
        let known = self.inputs.get(usize::from(vector));
        if let Some(&known) = known
            && known.ty != 0
        {
            return known;
        }
        let mut ty = self.ty(Type::U32);
        if vector {
            // No other vector has three components.
            let (id, component) = (self.id(), ty);
            let first = head(S::TypeVector, 4);
            self.globals.put([first, id, component, 3]);
            ty = id;
        }
        let pointer = self.new_pointer(StorageClass::Input, ty);
        let input = Input { ty, pointer };
        if let Some(slot) = self.inputs.get_mut(usize::from(vector)) {
            *slot = input;
        }
        input
    }
}

impl Body<'_> {
    /// A constant: the kernel declares it.
    pub(super) fn workgroup_size(&mut self, axis: u8) -> u32 {
        let size = self.size(axis);
        self.w.u32(size)
    }

    pub(super) fn global_size(&mut self, axis: u8) -> u32 {
        let groups = self.component(Builtin::NumWorkgroups, axis);
        let size = self.size(axis);
        if size == 1 {
            return groups;
        }
        let (ty, size) = (self.w.ty(Type::U32), self.w.u32(size));
        self.w.op2(S::IMul, ty, groups, size)
    }

    fn size(&self, axis: u8) -> u32 {
        let sizes = self.kernel.workgroup_size();
        sizes.get(usize::from(axis)).copied().unwrap_or(1)
    }

    pub(super) fn component(&mut self, builtin: Builtin, axis: u8) -> u32 {
        let vector = self.read(builtin);
        let ty = self.w.ty(Type::U32);
        self.w.op2(S::CompositeExtract, ty, vector, u32::from(axis))
    }

    /// The value of a built-in variable, loaded here unless a load outside of all control flow dominates this place.
    pub(super) fn read(&mut self, builtin: Builtin) -> u32 {
        let n = builtin as usize;
        if let Some(&value) = self.builtins.values.get(n)
            && value != 0
        {
            return value;
        }
        let Input { ty, pointer } = self.w.input(builtin.is_vector());
        let var = self.builtin_variable(builtin, pointer);
        if self.builtins.named & 1 << n == 0 {
            self.builtins.named |= 1 << n;
            self.s.interface.push(var);
        }
        let value = self.w.op1(S::Load, ty, var);
        if self.s.frames.is_empty()
            && self.nested == 0
            && let Some(slot) = self.builtins.values.get_mut(n)
        {
            *slot = value;
        }
        value
    }

    fn builtin_variable(&mut self, builtin: Builtin, pointer: u32) -> u32 {
        let n = builtin as usize;
        if let Some(&var) = self.w.builtins.get(n)
            && var != 0
        {
            return var;
        }
        let var = self.w.variable(StorageClass::Input, pointer, None);
        let decoration = builtin.decoration() as u32;
        self.w.decorate_with(var, Decoration::BuiltIn, decoration);
        if builtin.is_subgroup() {
            self.w.caps |= cap::GROUP_NON_UNIFORM;
        }
        if let Some(slot) = self.w.builtins.get_mut(n) {
            *slot = var;
        }
        var
    }
}
