//! Scalar parameters: the members of one block of push constants, or of a uniform buffer.

use super::body::Body;
use super::error::Error;
use super::options::{Overflow, Version};
use super::sections::head;
use super::types::Row;
use crate::kernel::{Inst, carrier, push_constant_slot};
use crate::types::{Access, Type};
use spirv::{Decoration, Op as S, StorageClass};

/// The block of scalars.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalars {
    pub var: u32,
    pub class: StorageClass,
}

impl Body<'_> {
    pub(super) fn param(&mut self, inst: &Inst) -> u32 {
        let carried = Row::of(inst.ty).carrier;
        if carried == inst.ty {
            return self.scalar(inst.a, carried);
        }
        self.narrow_param(inst, carried)
    }

    #[inline(never)]
    fn narrow_param(&mut self, inst: &Inst, carried: Type) -> u32 {
        let value = self.scalar(inst.a, carried);
        match inst.ty {
            Type::BOOL => self.w.test(S::INotEqual, value, 0),
            Type::F16 | Type::BF16 => self.w.narrow_of(inst.ty, value),
            // Whatever the host left above the width.
            ty => self.w.normalise(ty, value),
        }
    }

    /// Reads a member of the block of scalars.
    #[inline(never)]
    pub(super) fn scalar(&mut self, member: u32, ty: Type) -> u32 {
        let block = match self.scalars {
            Some(block) => block,
            None => self.declare_scalars(),
        };
        let (id, member) = (self.w.ty(ty), self.w.u32(member));
        let pointer = self.w.pointer(block.class, id);
        let (chain, value) = (self.w.id(), self.w.id());
        let (first, second) = (head(S::AccessChain, 5), head(S::Load, 4));
        self.w.body.put([
            first, pointer, chain, block.var, member, second, id, value, chain,
        ]);
        value
    }

    #[inline(never)]
    fn declare_scalars(&mut self) -> Scalars {
        let (kernel, options) = (self.kernel, self.options);
        let (bytes, members) = self.scalars_size;
        for d in kernel.scalars() {
            self.w.ty(Row::of(d.ty).carrier);
        }
        let hidden = members > kernel.scalars().len() as u64;
        if hidden {
            self.w.ty(Type::U32);
        }
        let block = self.w.id();
        // `begin` checked the number of members.
        let first = head(S::TypeStruct, 2 + members as u32);
        self.w.globals.put([first, block]);
        let mut end = 0;
        for (member, d) in (0u32..).zip(kernel.scalars()) {
            end = self.declare_scalar(block, member, d.ty, end);
        }
        if hidden | options.names {
            self.declare_others(block, end);
        }
        self.w.decorate(block, Decoration::Block);
        let mut scalars = Scalars {
            var: 0,
            class: StorageClass::PushConstant,
        };
        if let Overflow::Uniform { set, binding } = options.overflow
            && bytes > u64::from(options.limits.push_constant_bytes)
        {
            scalars = self.uniform_block(block, set, binding);
        } else {
            scalars.var = self.w.new_variable(scalars.class, block);
        }
        if options.version >= Version::V1_4 {
            self.s.interface.push(scalars.var);
        }
        self.scalars = Some(scalars);
        scalars
    }

    /// The next member of the block, behind `end`; gives its own end.
    #[inline(always)]
    fn declare_scalar(&mut self, block: u32, member: u32, ty: Type, end: u64) -> u64 {
        let row = Row::of(ty);
        debug_assert_eq!(row.carrier, carrier(ty), "as the signature says");
        let id = self.w.ty(row.carrier);
        self.w.globals.push(id);
        debug_assert_eq!(
            Some(row.slot(end)),
            ty.scalar().map(|ty| push_constant_slot(end, ty)),
            "as the signature says"
        );
        let (offset, end) = row.slot(end);
        // Offsets stay below 16 bytes a member, and members below 2^14.
        self.w.member_offset(block, member, offset as u32);
        end
    }

    /// What few blocks have: lengths that the host fills in, and names.
    #[cold]
    #[inline(never)]
    fn declare_others(&mut self, block: u32, mut end: u64) {
        let scalars = self.kernel.scalars();
        // Fewer than 2^14.
        for member in scalars.len() as u32..self.scalars_size.1 as u32 {
            end = self.declare_scalar(block, member, Type::U32, end);
        }
        if self.options.names {
            for (member, d) in (0u32..).zip(scalars) {
                let name = self.kernel.name_of(d.name);
                self.w.member_name(block, member, name);
            }
        }
    }

    #[cold]
    fn uniform_block(&mut self, block: u32, set: u32, binding: u32) -> Scalars {
        let taken = |d: &crate::kernel::BufferDecl| d.set == set && d.binding == binding;
        if let Some(buffer) = self.kernel.buffers().iter().position(taken) {
            self.fail(Error::Binding {
                kernel: self.number,
                set,
                binding,
                // Fewer than 2^28 buffers.
                buffer: buffer as u32,
            });
        }
        let set = self.set(set).unwrap_or_else(|error| {
            self.fail(error);
            0
        });
        let class = StorageClass::Uniform;
        let var = self.w.new_variable(class, block);
        self.w.bind(var, set, binding, Access::ReadWrite);
        Scalars { var, class }
    }
}
