//! Declarations: parameters, shared and private arrays.

use super::KernelBuilder;
use crate::kernel::{
    Buffer, BufferDecl, Mem, Name, ParamRef, Private, PrivateDecl, Scalar, ScalarDecl, Shared,
    SharedDecl, SharedLen, Table, TableDecl,
};
use crate::op::Op;
use crate::types::{Access, Const, Type, TypeSet};
use crate::verify::{FaultKind, Kind, sized};

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

/// What a shared array is when the kernel starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Initial {
    Anything,
    Zero,
    /// Its length is given then; that in hand is 0, which leaves it to the thorough checks.
    Given,
}

impl KernelBuilder {
    /// Keeps a name; a fault is one of this opcode.
    #[inline(never)]
    pub(super) fn name(&mut self, op: Op, name: &str) -> Name {
        self.draft.intern(name).unwrap_or_else(|| {
            self.fault(op, FaultKind::TooMany("bytes of names"));
            Name::default()
        })
    }

    /// A declaration's number; past 2^28 the verifier refuses the kernel, until then the number is cut to fit.
    #[inline(always)]
    fn number(count: usize) -> u32 {
        count.min(Mem::MAX as usize) as u32
    }

    /// Declares the next parameter as a buffer with elements of `elem` (any type but `bool`), in set 0 at the next free
    /// binding. The name is for people and may be empty.
    #[inline]
    pub fn buffer(&mut self, name: &str, elem: impl Into<Type>, access: Access) -> Buffer {
        self.next_buffer(name, elem.into(), access)
    }

    #[inline(never)]
    fn next_buffer(&mut self, name: &str, elem: Type, access: Access) -> Buffer {
        let binding = self.next_binding;
        self.next_binding = binding.saturating_add(1);
        self.buffer_at(name, elem, access, false, [0, binding])
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
        self.verifier.declared.doubt(true);
        self.buffer_at(name, elem.into(), access, may_alias, [set, binding])
    }

    #[inline(always)]
    fn buffer_at(
        &mut self,
        name: &str,
        elem: Type,
        access: Access,
        may_alias: bool,
        [set, binding]: [u32; 2],
    ) -> Buffer {
        let number = Self::number(self.draft.buffers.len());
        let name = self.name(Op::Param, name);
        self.verifier
            .declared
            .note(Kind::Buffer, elem, TypeSet::ELEMENTS);
        self.draft.params.push(ParamRef::Buffer(number));
        let decl = BufferDecl {
            name,
            elem,
            access,
            may_alias,
            set,
            binding,
        };
        self.verifier.check.buffer(&decl);
        self.draft.buffers.push(decl);
        Buffer::new(number, self.stamp)
    }

    /// Declares the next parameter as a scalar of `ty`; [`KernelBuilder::param`] gives its value.
    #[inline]
    pub fn scalar(&mut self, name: &str, ty: impl Into<Type>) -> Scalar {
        self.next_scalar(name, ty.into())
    }

    #[inline(never)]
    fn next_scalar(&mut self, name: &str, ty: Type) -> Scalar {
        let number = Self::number(self.draft.scalars.len());
        let name = self.name(Op::Param, name);
        self.verifier.declared.note(Kind::Scalar, ty, TypeSet::ALL);
        self.draft.params.push(ParamRef::Scalar(number));
        self.draft.scalars.push(ScalarDecl { name, ty });
        Scalar::new(number, self.stamp)
    }

    /// Declares an array of `len` elements (at least 1) in the workgroup's shared memory. It holds anything until
    /// written.
    #[inline]
    pub fn shared(&mut self, name: &str, elem: impl Into<Type>, len: u32) -> Shared {
        self.next_shared(name, elem.into(), len, Initial::Anything)
    }

    /// Declares a shared array that is zero when the kernel starts.
    #[inline]
    pub fn shared_zeroed(&mut self, name: &str, elem: impl Into<Type>, len: u32) -> Shared {
        self.next_shared(name, elem.into(), len, Initial::Zero)
    }

    /// Declares the shared array whose length is given at launch (CUDA) or at emission (SPIR-V). At most one a kernel.
    #[inline]
    pub fn shared_dynamic(&mut self, name: &str, elem: impl Into<Type>) -> Shared {
        self.next_shared(name, elem.into(), 0, Initial::Given)
    }

    #[inline(never)]
    fn next_shared(&mut self, name: &str, elem: Type, len: u32, initial: Initial) -> Shared {
        let number = Self::number(self.draft.shared.len());
        let name = self.name(Op::Param, name);
        let declared = &mut self.verifier.declared;
        declared.note(Kind::Shared, elem, TypeSet::ELEMENTS);
        declared.doubt(!sized(elem, len));
        let zeroed = initial == Initial::Zero;
        let len = match initial {
            Initial::Anything | Initial::Zero => SharedLen::Static(len),
            Initial::Given => SharedLen::Dynamic,
        };
        let decl = SharedDecl {
            name,
            elem,
            len,
            zeroed,
        };
        self.verifier.check.shared(&decl);
        self.draft.shared.push(decl);
        Shared::new(number, self.stamp)
    }

    /// Declares a table of constants, at least 1, all of the scalar type `elem`, that loads can index.
    ///
    /// ```
    /// # use kernite::{builder::KernelBuilder, types::Type};
    /// let mut b = KernelBuilder::new("k", [1, 1, 1]);
    /// let primes = b.table("primes", Type::U32, &[2u32, 3, 5, 7]);
    /// let i = b.constant(2u32);
    /// let five = b.load(primes, i);
    /// assert_eq!(b.type_of(five), Type::U32);
    /// ```
    pub fn table<T: Into<Const> + Copy>(
        &mut self,
        name: &str,
        elem: impl Into<Type>,
        elements: &[T],
    ) -> Table {
        let elem = elem.into();
        self.verifier.declared.doubt(true);
        let name = self.name(Op::Param, name);
        let number = Self::number(self.draft.tables.len());
        let start = self.draft.data.len();
        let mut sound = true;
        for &element in elements {
            let constant: Const = element.into();
            sound &= constant.ty() == elem;
            let bytes = constant.bits().to_le_bytes();
            self.draft
                .data
                .extend_from_slice(bytes.get(..elem.bytes() as usize).unwrap_or(&[]));
        }
        if !sound {
            self.fault(Op::Load, FaultKind::TableElement(Mem::Table(number)));
        }
        // What does not fit 32 bits the verifier refuses by the count of bytes.
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let len = u32::try_from(elements.len()).unwrap_or(u32::MAX);
        let decl = TableDecl {
            name,
            elem,
            start,
            len,
        };
        self.verifier.check.table(&decl);
        self.draft.tables.push(decl);
        Table::new(number, self.stamp)
    }

    /// Declares an array of `len` elements (at least 1) private to each thread. It holds anything until written.
    #[inline]
    pub fn private(&mut self, name: &str, elem: impl Into<Type>, len: u32) -> Private {
        self.next_private(name, elem.into(), len)
    }

    #[inline(never)]
    fn next_private(&mut self, name: &str, elem: Type, len: u32) -> Private {
        let number = Self::number(self.draft.private.len());
        let name = self.name(Op::Param, name);
        self.verifier
            .declared
            .note(Kind::Private, elem, TypeSet::ELEMENTS);
        self.verifier.declared.doubt(!sized(elem, len));
        let decl = PrivateDecl { name, elem, len };
        self.verifier.check.private(&decl);
        self.draft.private.push(decl);
        Private::new(number, self.stamp)
    }
}
