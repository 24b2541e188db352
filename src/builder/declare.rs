//! Declarations: parameters, shared and private arrays.

use super::KernelBuilder;
use crate::kernel::{
    Buffer, BufferDecl, Mem, Name, ParamRef, Private, PrivateDecl, Scalar, ScalarDecl, Shared,
    SharedDecl, SharedLen,
};
use crate::op::Op;
use crate::types::{Access, Type};
use crate::verify::FaultKind;

/// What a buffer can be given beside its name, type and access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct BufferOptions {
    /// Whether it may overlap other buffers that say so too.
    pub may_alias: bool,
    /// Descriptor set, 0 by default.
    pub set: u32,
    /// Binding in the set; by default the one after the greatest so far in set 0, in order of declaration.
    pub binding: Option<u32>,
}

impl BufferOptions {
    /// The defaults.
    pub fn new() -> BufferOptions {
        BufferOptions::default()
    }

    /// Lets the buffer overlap others that are declared so too.
    #[must_use]
    pub fn may_alias(self) -> BufferOptions {
        BufferOptions {
            may_alias: true,
            ..self
        }
    }

    /// Gives set and binding.
    #[must_use]
    pub fn binding(self, set: u32, binding: u32) -> BufferOptions {
        BufferOptions {
            set,
            binding: Some(binding),
            ..self
        }
    }
}

impl KernelBuilder {
    fn name(&mut self, name: &str) -> Name {
        self.draft.intern(name).unwrap_or_else(|| {
            self.fault(Op::Param, FaultKind::TooMany("bytes of names"));
            Name::default()
        })
    }

    /// A declaration's number; past 2^28 the verifier refuses the kernel, until then the number is cut to fit.
    fn number(count: usize) -> u32 {
        count.min(Mem::MAX as usize) as u32
    }

    /// Declares the next parameter as a buffer with elements of `elem` (any type but `bool`), in set 0 at the next free
    /// binding. The name is for people and may be empty.
    pub fn buffer(&mut self, name: &str, elem: impl Into<Type>, access: Access) -> Buffer {
        self.buffer_with(name, elem, access, BufferOptions::default())
    }

    /// Declares a buffer with options.
    pub fn buffer_with(
        &mut self,
        name: &str,
        elem: impl Into<Type>,
        access: Access,
        options: BufferOptions,
    ) -> Buffer {
        let BufferOptions {
            may_alias,
            set,
            binding,
        } = options;
        let binding = binding.unwrap_or(self.next_binding);
        if set == 0 {
            self.next_binding = self.next_binding.max(binding.saturating_add(1));
        }
        let name = self.name(name);
        let number = Self::number(self.draft.buffers.len());
        self.draft.params.push(ParamRef::Buffer(number));
        self.draft.buffers.push(BufferDecl {
            name,
            elem: elem.into(),
            access,
            may_alias,
            set,
            binding,
        });
        self.verifier.check.buffer();
        Buffer::new(number, self.stamp)
    }

    /// Declares the next parameter as a scalar of `ty`; [`KernelBuilder::param`] gives its value.
    pub fn scalar(&mut self, name: &str, ty: impl Into<Type>) -> Scalar {
        let name = self.name(name);
        let number = Self::number(self.draft.scalars.len());
        self.draft.params.push(ParamRef::Scalar(number));
        self.draft.scalars.push(ScalarDecl {
            name,
            ty: ty.into(),
        });
        Scalar::new(number, self.stamp)
    }

    /// Declares an array of `len` elements (at least 1) in the workgroup's shared memory. It holds anything until
    /// written.
    pub fn shared(&mut self, name: &str, elem: impl Into<Type>, len: u32) -> Shared {
        self.shared_decl(name, elem.into(), SharedLen::Static(len), false)
    }

    /// Declares a shared array that is zero when the kernel starts.
    pub fn shared_zeroed(&mut self, name: &str, elem: impl Into<Type>, len: u32) -> Shared {
        self.shared_decl(name, elem.into(), SharedLen::Static(len), true)
    }

    /// Declares the shared array whose length is given at launch (CUDA) or at emission (SPIR-V). At most one a kernel.
    pub fn shared_dynamic(&mut self, name: &str, elem: impl Into<Type>) -> Shared {
        self.shared_decl(name, elem.into(), SharedLen::Dynamic, false)
    }

    fn shared_decl(&mut self, name: &str, elem: Type, len: SharedLen, zeroed: bool) -> Shared {
        let name = self.name(name);
        let number = Self::number(self.draft.shared.len());
        self.draft.shared.push(SharedDecl {
            name,
            elem,
            len,
            zeroed,
        });
        Shared::new(number, self.stamp)
    }

    /// Declares an array of `len` elements (at least 1) private to each thread. It holds anything until written.
    pub fn private(&mut self, name: &str, elem: impl Into<Type>, len: u32) -> Private {
        let name = self.name(name);
        let number = Self::number(self.draft.private.len());
        self.draft.private.push(PrivateDecl {
            name,
            elem: elem.into(),
            len,
        });
        Private::new(number, self.stamp)
    }
}
