//! Tables of constants: variables of the module with an initialiser, which an index at run time needs.

use super::body::Body;
use super::objects::{Length, Object};
use super::options::Version;
use super::sections::{Writer, head};
use crate::kernel::{Bounds, Mem};
use crate::math::Table;
use crate::types::Type;
use spirv::{Op as S, StorageClass};

/// A recipe's table in the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    table: &'static Table,
    var: u32,
    /// The last kernel that named it in its interface.
    kernel: usize,
}

impl Writer {
    /// A private variable that begins as an array of these constants.
    fn constant_array(&mut self, elem: u32, len: u32, items: impl Iterator<Item = u32>) -> u32 {
        let array = self.array(elem, len);
        let constant = self.id();
        // The number of words has been checked, or the table is the crate's own.
        self.globals
            .put([head(S::ConstantComposite, 3 + len), array, constant]);
        self.globals.extend(items);
        let pointer = self.pointer(StorageClass::Private, array);
        self.initialized(StorageClass::Private, pointer, constant)
    }
}

impl Body<'_> {
    pub(super) fn declare_table(&mut self, n: u32) -> Object {
        let kernel = self.kernel;
        let Some(d) = kernel.tables().get(n as usize) else {
            return Object::NONE;
        };
        let elem_id = self.w.ty(d.elem);
        let bytes = kernel.table_bytes(d);
        let size = d.elem.bytes().max(1) as usize;
        // Constants are declared before the array that names them; their ids wait here.
        let mut ids = core::mem::take(&mut self.s.ids);
        ids.clear();
        for element in bytes.chunks_exact(size) {
            let mut word = [0; 8];
            for (to, &from) in word.iter_mut().zip(element) {
                *to = from;
            }
            ids.push(self.w.constant(d.elem, u64::from_le_bytes(word)));
        }
        let var = self.w.constant_array(elem_id, d.len, ids.iter().copied());
        self.s.ids = ids;
        if self.options.names {
            self.w.name(var, kernel.name_of(d.name));
        }
        self.name_in_interface(var);
        let object = Object {
            var,
            pointer: self.w.pointer(StorageClass::Private, elem_id),
            elem: d.elem,
            elem_id,
            plain: self.options.bounds == Bounds::Unchecked,
            length: Length::Known(d.len),
            ..Object::NONE
        };
        self.s.objects.set(Mem::Table(n), object);
        object
    }

    fn name_in_interface(&mut self, var: u32) {
        if self.options.version >= Version::V1_4 {
            self.s.interface.push(var);
        }
    }

    /// The variable of a recipe's table, one for the module.
    pub(super) fn recipe_table(&mut self, table: &'static Table, int: Type) -> u32 {
        let number = self.number;
        let found = self.w.recipe_tables.iter_mut();
        let mut found = found.filter(|t| t.table.name == table.name);
        if let Some(shared) = found.next() {
            let var = shared.var;
            if core::mem::replace(&mut shared.kernel, number) != number {
                self.name_in_interface(var);
            }
            return var;
        }
        let elem = self.w.ty(int);
        let mut ids = core::mem::take(&mut self.s.ids);
        ids.clear();
        ids.extend(table.words.iter().map(|&word| self.w.constant(int, word)));
        // A few hundred words.
        let var = self
            .w
            .constant_array(elem, ids.len() as u32, ids.iter().copied());
        self.s.ids = ids;
        if self.options.names {
            self.w.name(var, table.name);
        }
        self.w.recipe_tables.push(Shared {
            table,
            var,
            kernel: number,
        });
        self.name_in_interface(var);
        var
    }
}
