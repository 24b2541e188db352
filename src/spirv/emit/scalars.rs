//! Scalar parameters: the members of one block of push constants, or of a uniform buffer.

use super::body::Body;
use super::error::Error;
use super::options::{Overflow, Version};
use super::sections::head;
use crate::kernel::{Inst, carrier, push_constant_slot};
use crate::types::{Access, Scalar, Type};
use spirv::{Decoration, Op as S, StorageClass};

/// The block of scalars.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalars {
    pub var: u32,
    pub class: StorageClass,
}

impl Body<'_> {
    pub(super) fn param(&mut self, inst: &Inst) -> u32 {
        let carried = carrier(inst.ty);
        let value = self.scalar(inst.a, carried);
        match inst.ty {
            Type::BOOL => self.w.test(S::INotEqual, value, 0),
            Type::F16 | Type::BF16 => self.w.narrow_of(inst.ty, value),
            // Whatever the host left above the width.
            ty => self.w.normalise(ty, value),
        }
    }

    /// Reads a member of the block of scalars.
    pub(super) fn scalar(&mut self, member: u32, ty: Type) -> u32 {
        let block = match self.scalars {
            Some(block) => block,
            None => self.declare_scalars(),
        };
        let (id, member) = (self.w.ty(ty), self.w.u32(member));
        let pointer = self.w.pointer(block.class, id);
        let chain = self.w.op2(S::AccessChain, pointer, block.var, member);
        self.w.op1(S::Load, id, chain)
    }

    #[cold]
    fn declare_scalars(&mut self) -> Scalars {
        let kernel = self.kernel;
        let (bytes, members) = self.scalars_size();
        for d in kernel.scalars() {
            self.w.ty(carrier(d.ty));
        }
        let hidden = members - kernel.scalars().len() as u64;
        let u32_ty = if hidden > 0 { self.w.ty(Type::U32) } else { 0 };
        let block = self.w.id();
        // `begin` checked the number of members.
        self.w
            .globals
            .put([head(S::TypeStruct, 2 + members as u32), block]);
        let mut end = 0;
        for (member, d) in (0u32..).zip(kernel.scalars()) {
            let id = self.w.ty(carrier(d.ty));
            self.w.globals.push(id);
            if let Some(ty) = d.ty.scalar() {
                let (offset, next) = push_constant_slot(end, ty);
                // Offsets stay below 16 bytes a member, and members below 2^14.
                self.w.member_offset(block, member, offset as u32);
                end = next;
            }
            if self.options.names {
                self.w.member_name(block, member, kernel.name_of(d.name));
            }
        }
        for member in (kernel.scalars().len() as u32..).take(hidden as usize) {
            self.w.globals.push(u32_ty);
            let (offset, next) = push_constant_slot(end, Scalar::U32);
            self.w.member_offset(block, member, offset as u32);
            end = next;
        }
        self.w.decorate(block, Decoration::Block);
        let fits = bytes <= u64::from(self.options.limits.push_constant_bytes);
        let scalars = match self.options.overflow {
            Overflow::Uniform { set, binding } if !fits => self.uniform_block(block, set, binding),
            Overflow::Uniform { .. } | Overflow::Error => {
                let class = StorageClass::PushConstant;
                let pointer = self.w.new_pointer(class, block);
                let var = self.w.variable(class, pointer, None);
                Scalars { var, class }
            }
        };
        if self.options.version >= Version::V1_4 {
            self.s.interface.push(scalars.var);
        }
        self.scalars = Some(scalars);
        scalars
    }

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
        let pointer = self.w.new_pointer(class, block);
        let var = self.w.variable(class, pointer, None);
        self.w.bind(var, set, binding, Access::ReadWrite);
        Scalars { var, class }
    }
}
