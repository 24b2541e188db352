//! Built-in variables and the values made from them.

use super::body::Body;
use super::preamble::cap;
use super::sections::{Writer, head};
use crate::types::Type;
use spirv::{BuiltIn, Decoration, Op as S, StorageClass};

/// The number of built-in variables.
pub(super) const COUNT: usize = 8;
const _: () = assert!(COUNT.is_power_of_two());

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

/// What the variables are decorated with.
static DECORATIONS: [u32; COUNT] = {
    let mut all = [0; COUNT];
    all[Builtin::GlobalId as usize] = BuiltIn::GlobalInvocationId as u32;
    all[Builtin::LocalId as usize] = BuiltIn::LocalInvocationId as u32;
    all[Builtin::WorkgroupId as usize] = BuiltIn::WorkgroupId as u32;
    all[Builtin::NumWorkgroups as usize] = BuiltIn::NumWorkgroups as u32;
    all[Builtin::LocalIndex as usize] = BuiltIn::LocalInvocationIndex as u32;
    all[Builtin::SubgroupSize as usize] = BuiltIn::SubgroupSize as u32;
    all[Builtin::Lane as usize] = BuiltIn::SubgroupLocalInvocationId as u32;
    all[Builtin::SubgroupId as usize] = BuiltIn::SubgroupId as u32;
    all
};

impl Builtin {
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

/// A built-in variable of the module, and the type of its value; 0 if it is not declared.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Variable {
    var: u32,
    ty: u32,
}

impl Writer {
    /// Declares a built-in variable, `u32` or a vector of three; gives it and the type of its value.
    #[inline(always)]
    fn builtin(&mut self, builtin: Builtin) -> Variable {
        let place = builtin as usize & (COUNT - 1);
        let scalar = self.ty(Type::U32);
        let input = &mut self.inputs[usize::from(builtin.is_vector())];
        if input.ty == 0 {
            let (first, class) = (head(S::TypePointer, 4), StorageClass::Input as u32);
            let mut id = self.next;
            input.ty = scalar;
            if builtin.is_vector() {
                // No other vector has three components.
                input.ty = id;
                self.globals
                    .put([head(S::TypeVector, 4), input.ty, scalar, 3]);
                id = id.wrapping_add(1);
            }
            input.pointer = id;
            self.globals.put([first, input.pointer, class, input.ty]);
            self.next = id.wrapping_add(1);
        }
        let Input { ty, pointer } = *input;
        let var = self.variable(StorageClass::Input, pointer);
        self.decorate_with(var, Decoration::BuiltIn, DECORATIONS[place]);
        if builtin.is_subgroup() {
            self.caps |= cap::GROUP_NON_UNIFORM;
        }
        let made = Variable { var, ty };
        self.builtins[place] = made;
        made
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

    #[inline(never)]
    pub(super) fn component(&mut self, builtin: Builtin, axis: u8) -> u32 {
        let vector = self.read(builtin);
        let ty = self.w.ty(Type::U32);
        self.w.op2(S::CompositeExtract, ty, vector, u32::from(axis))
    }

    #[inline(never)]
    pub(super) fn scalar_builtin(&mut self, builtin: Builtin) -> u32 {
        self.read(builtin)
    }

    /// The value of a built-in variable, loaded here unless a load outside of all control flow dominates this place.
    #[inline(always)]
    pub(super) fn read(&mut self, builtin: Builtin) -> u32 {
        match self.builtins.values[builtin as usize & (COUNT - 1)] {
            0 => self.read_here(builtin),
            value => value,
        }
    }

    #[inline(never)]
    fn read_here(&mut self, builtin: Builtin) -> u32 {
        let n = builtin as usize & (COUNT - 1);
        let mut variable = self.w.builtins[n];
        if variable.var == 0 {
            variable = self.w.builtin(builtin);
        }
        let Variable { var, ty } = variable;
        if self.builtins.named & 1 << n == 0 {
            self.builtins.named |= 1 << n;
            self.s.interface.push(var);
        }
        let value = self.w.op1(S::Load, ty, var);
        if self.s.flow.is_outside() && self.nested == 0 {
            self.builtins.values[n] = value;
        }
        value
    }
}
