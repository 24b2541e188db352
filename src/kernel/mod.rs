//! Kernels as data: the bytecode, its declarations, modules and signatures.
//!
//! A [`Kernel`] is always verified: the builder, [`Kernel::from_bytes`] and the parser all go through the verifier, and
//! there is no other way to make one. Its body is a flat list of 16-byte [`Inst`]s and a side table of words.
#![forbid(unsafe_code)]

mod bytes;
mod decl;
mod id;
mod inst;
mod module;
mod signature;

pub use bytes::{DecodeError, FORMAT_VERSION, MAGIC};
pub use decl::{
    BufferDecl, BufferUse, Name, ParamRef, PrivateDecl, ScalarDecl, SharedDecl, SharedLen,
    TableDecl, Uses,
};
pub use id::{Buffer, Private, Scalar, Shared, Table, Value, Var};
pub(crate) use id::{Place, REFUSED, Stamp};
pub use inst::{Inst, Mem, Ordering, Words};
pub use module::{Module, ModuleError};
pub(crate) use signature::{ArrayUse, carrier, push_constant_slot};
pub use signature::{Bounds, DeviceFeature, Length, Parameter, ParameterKind, Signature};

use crate::types::Type;

/// A kernel that nobody has verified yet: what the builder, the decoder and the parser fill.
///
/// What every instruction needs comes first, as what is near takes shorter machine instructions.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
#[repr(C)]
pub(crate) struct Draft {
    pub insts: Vec<Inst>,
    pub side: Vec<u32>,
    /// The kernel's name, then those of the declarations.
    pub names: String,
    pub name: Name,
    pub workgroup_size: [u32; 3],
    pub contract: bool,
    pub params: Vec<ParamRef>,
    pub buffers: Vec<BufferDecl>,
    pub scalars: Vec<ScalarDecl>,
    pub shared: Vec<SharedDecl>,
    pub private: Vec<PrivateDecl>,
    pub tables: Vec<TableDecl>,
    /// The tables' elements.
    pub data: Vec<u8>,
    /// The subgroup size that the kernel requires; 0 for any.
    pub subgroup_size: u32,
    /// What the verifier found out about the body: nothing before it is done.
    pub facts: Facts,
}

impl Draft {
    /// Empties it and keeps the memory. Names every field, so that a new one does not compile until it is emptied here.
    pub(crate) fn clear(&mut self) {
        let Draft {
            names,
            name,
            workgroup_size,
            contract,
            params,
            buffers,
            scalars,
            shared,
            private,
            tables,
            data,
            subgroup_size,
            insts,
            side,
            // The verifier clears the memory that it finds here.
            facts: _,
        } = self;
        names.clear();
        *name = Name::default();
        *workgroup_size = [1; 3];
        *contract = false;
        params.clear();
        buffers.clear();
        scalars.clear();
        shared.clear();
        private.clear();
        tables.clear();
        data.clear();
        *subgroup_size = 0;
        insts.clear();
        side.clear();
    }

    /// Adds a name to the pool. `None` when the pool would pass 2^32 bytes.
    pub(crate) fn intern(&mut self, text: &str) -> Option<Name> {
        let (start, len) = (self.names.len(), text.len());
        u32::try_from(start.checked_add(len)?).ok()?;
        self.names.push_str(text);
        // Neither is greater than the sum.
        Some(Name {
            start: start as u32,
            len: len as u32,
        })
    }

    /// Every name in the canonical order: the kernel's, then those of buffers, scalars, shared and private arrays.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = Name> {
        let Draft {
            name,
            buffers,
            scalars,
            shared,
            private,
            tables,
            ..
        } = self;
        core::iter::once(*name)
            .chain(buffers.iter().map(|d| d.name))
            .chain(scalars.iter().map(|d| d.name))
            .chain(shared.iter().map(|d| d.name))
            .chain(private.iter().map(|d| d.name))
            .chain(tables.iter().map(|d| d.name))
    }

    /// Whether the pool is in the canonical order.
    pub(crate) fn has_ordered_names(&self) -> bool {
        let mut end = 0;
        let mut follows = |n: Name| {
            let follows = n.start == end;
            // Ends lie within the pool, which stays below 2^32 bytes.
            end = n.start + n.len;
            follows
        };
        follows(self.name)
            && self.buffers.iter().all(|d| follows(d.name))
            && self.scalars.iter().all(|d| follows(d.name))
            && self.shared.iter().all(|d| follows(d.name))
            && self.private.iter().all(|d| follows(d.name))
            && self.tables.iter().all(|d| follows(d.name))
            && end as usize == self.names.len()
    }

    /// Brings the pool into the canonical order, so that equal kernels are equal bytes whatever the order of their
    /// declarations. `scratch` is memory for the new pool.
    pub(crate) fn order_names(&mut self, scratch: &mut String) {
        if self.has_ordered_names() {
            return;
        }
        scratch.clear();
        let Draft {
            names,
            name,
            buffers,
            scalars,
            shared,
            private,
            tables,
            ..
        } = self;
        let all = core::iter::once(name)
            .chain(buffers.iter_mut().map(|d| &mut d.name))
            .chain(scalars.iter_mut().map(|d| &mut d.name))
            .chain(shared.iter_mut().map(|d| &mut d.name))
            .chain(private.iter_mut().map(|d| &mut d.name))
            .chain(tables.iter_mut().map(|d| &mut d.name));
        for n in all {
            let start = scratch.len() as u32;
            scratch.push_str(
                names
                    .get(n.start as usize..(n.start + n.len) as usize)
                    .unwrap_or(""),
            );
            *n = Name {
                start,
                len: scratch.len() as u32 - start,
            };
        }
        core::mem::swap(names, scratch);
    }

    pub(crate) fn name_of(&self, name: Name) -> &str {
        let start = name.start as usize;
        self.names
            .get(start..start.saturating_add(name.len as usize))
            .unwrap_or("")
    }

    /// The element type of a memory object, if it exists.
    #[inline]
    pub(crate) fn elem(&self, mem: Mem) -> Option<Type> {
        match mem {
            Mem::Buffer(n) => self.buffers.get(n as usize).map(|d| d.elem),
            Mem::Shared(n) => self.shared.get(n as usize).map(|d| d.elem),
            Mem::Private(n) => self.private.get(n as usize).map(|d| d.elem),
            Mem::Table(n) => self.tables.get(n as usize).map(|d| d.elem),
        }
    }
}

/// What the verifier found out about a body on its way through.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Facts {
    pub uses: Uses,
    pub buffers: Vec<BufferUse>,
}

impl Facts {
    pub(crate) fn clear(&mut self) {
        let Facts { uses, buffers } = self;
        *uses = Uses::default();
        buffers.clear();
    }
}

/// A verified kernel.
///
/// Equal kernels are equal bytes ([`Kernel::to_bytes`]). Emitters and the reference executor accept every kernel without
/// a panic; what a target lacks is an error of theirs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    // A kernel is moved more often than it is read.
    draft: Box<Draft>,
}

impl Kernel {
    /// Only the verifier calls this.
    pub(crate) fn from_verified(draft: Box<Draft>) -> Kernel {
        Kernel { draft }
    }

    /// Gives the memory back.
    pub(crate) fn into_draft(self) -> Box<Draft> {
        self.draft
    }

    pub(crate) fn draft(&self) -> &Draft {
        &self.draft
    }

    /// The kernel's name as given; targets map it to what they allow.
    pub fn name(&self) -> &str {
        self.draft.name_of(self.draft.name)
    }

    /// The name of a declaration; empty when it was given none.
    pub fn name_of(&self, name: Name) -> &str {
        self.draft.name_of(name)
    }

    /// Threads of a workgroup along x, y and z, each at least 1.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.draft.workgroup_size
    }

    /// Threads of a workgroup; the verifier has seen that the product fits.
    pub fn workgroup_threads(&self) -> u32 {
        let [x, y, z] = self.draft.workgroup_size;
        x * y * z
    }

    /// Whether a multiplication and an addition may be contracted to one rounding.
    pub fn contract(&self) -> bool {
        self.draft.contract
    }

    /// The parameters in order.
    pub fn params(&self) -> &[ParamRef] {
        &self.draft.params
    }

    /// The buffers, by number.
    pub fn buffers(&self) -> &[BufferDecl] {
        &self.draft.buffers
    }

    /// The scalars, by number.
    pub fn scalars(&self) -> &[ScalarDecl] {
        &self.draft.scalars
    }

    /// The shared arrays, by number.
    pub fn shared(&self) -> &[SharedDecl] {
        &self.draft.shared
    }

    /// The private arrays, by number.
    pub fn private(&self) -> &[PrivateDecl] {
        &self.draft.private
    }

    /// The constant tables, by number.
    pub fn tables(&self) -> &[TableDecl] {
        &self.draft.tables
    }

    /// The bytes of a table's elements, little-endian; empty for a declaration of another kernel.
    pub fn table_bytes(&self, table: &TableDecl) -> &[u8] {
        let start = table.start as usize;
        let bytes = (table.len as usize).saturating_mul(table.elem.bytes() as usize);
        self.draft
            .data
            .get(start..start.saturating_add(bytes))
            .unwrap_or(&[])
    }

    /// The subgroup size that the kernel requires, if it does.
    pub fn required_subgroup_size(&self) -> Option<u32> {
        (self.draft.subgroup_size != 0).then_some(self.draft.subgroup_size)
    }

    /// The instructions; a value is the index of the one that made it.
    pub fn insts(&self) -> &[Inst] {
        &self.draft.insts
    }

    /// The side table.
    pub fn side(&self) -> &[u32] {
        &self.draft.side
    }

    /// The operand words of an instruction of this kernel in the order of its row. Words of an instruction of another
    /// kernel are meaningless, and empty where its side run lies outside.
    pub fn words(&self, inst: &Inst) -> Words {
        Words::of(inst, &self.draft.side).unwrap_or(Words::none())
    }

    /// What the body uses.
    pub fn uses(&self) -> Uses {
        self.draft.facts.uses
    }

    /// How the body uses each buffer, by number.
    pub fn buffer_uses(&self) -> &[BufferUse] {
        &self.draft.facts.buffers
    }

    /// Bytes of static shared memory, each array aligned to 16 bytes as all emitters lay them out; `None` when the sum
    /// passes 2^32 (no target has as much).
    pub fn static_shared_bytes(&self) -> Option<u32> {
        self.draft
            .shared
            .iter()
            .try_fold(0u32, |sum, d| match d.len {
                SharedLen::Static(n) => sum
                    .checked_next_multiple_of(16)?
                    .checked_add(n.checked_mul(d.elem.bytes())?),
                SharedLen::Dynamic => Some(sum),
            })
    }
}
