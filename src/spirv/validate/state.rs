//! What is known of a module after one pass over its words: definitions, types, decorations,
//! functions, blocks. Everything lives in vectors that a [`Validator`](super::Validator) keeps.

use crate::spirv::tables;
use crate::spirv::tables::decode::Set;
use spirv::{Capability, Decoration, Op, StorageClass};

mod maps;

use maps::{CapSet, IdMap};

/// The index of a definition in [`Module::defs`]; 0 is no definition.
pub(super) type Idx = u32;

/// An id that was mentioned, and where it is defined if it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Def {
    pub(super) id: u32,
    /// Offset of the defining instruction; 0 while there is none.
    pub(super) word: u32,
    /// Offset of the first instruction that mentions the id.
    pub(super) first: u32,
    pub(super) op: Op,
    pub(super) len: u16,
    pub(super) ty: Idx,
    /// Index into [`Module::types`]; 0 if this is no type.
    pub(super) type_at: u32,
    /// The block that defines it, counted from 1; 0 outside of blocks.
    pub(super) block: u32,
    /// The function that defines it, counted from 1; 0 outside of functions.
    pub(super) func: u32,
    /// Head of its list in [`Module::decorations`], counted from 1.
    pub(super) decor: u32,
    pub(super) flags: u16,
    /// Of a label: the block that it opens, counted from 1. Of a module-scope variable: the
    /// last function, counted from 1, that was noted to use it.
    pub(super) opens: u32,
}

pub(super) mod flag {
    /// Result of a non-semantic extended instruction.
    pub(in super::super) const NON_SEMANTIC: u16 = 1;
    /// Declared by OpTypeForwardPointer.
    pub(in super::super) const FORWARD_POINTER: u16 = 2;
    /// Named by an OpEntryPoint.
    pub(in super::super) const ENTRY_POINT: u16 = 4;
    /// Decorated Block.
    pub(in super::super) const BLOCK: u16 = 8;
    /// Decorated BufferBlock.
    pub(in super::super) const BUFFER_BLOCK: u16 = 16;
    /// The first word that needed its definition has been reported.
    pub(in super::super) const REPORTED: u16 = 32;
    /// Defined as a type.
    pub(in super::super) const TYPE: u16 = 64;
    /// Defined as a value whose uses are told by its type, function and block alone.
    pub(in super::super) const PLAIN: u16 = 128;
    /// Of a variable or what an access chain makes of it: a pointer on whose way from the
    /// variable there is no NonReadable; and one for NonWritable.
    pub(in super::super) const READABLE: u16 = 256;
    pub(in super::super) const WRITABLE: u16 = 512;
    /// Of a structure: a member is decorated NonReadable; and one for NonWritable.
    pub(in super::super) const UNREADABLE_PART: u16 = 1024;
    pub(in super::super) const UNWRITABLE_PART: u16 = 2048;
}

impl Def {
    pub(super) const NONE: Def = Def {
        id: 0,
        word: 0,
        first: 0,
        op: Op::Nop,
        len: 0,
        ty: 0,
        type_at: 0,
        block: 0,
        func: 0,
        decor: 0,
        flags: 0,
        opens: 0,
    };

    pub(super) fn is_defined(&self) -> bool {
        self.word != 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Void,
    Bool,
    Int,
    Float,
    /// A 16-bit or narrower float of another encoding than IEEE's.
    OddFloat,
    Vector,
    Matrix,
    Array,
    RuntimeArray,
    Struct,
    Pointer,
    Function,
    Image,
    Sampler,
    SampledImage,
    CooperativeMatrix,
    Other,
}

/// What a type contains, itself included; not through pointers.
pub(super) mod has {
    pub(in super::super) const BOOL: u16 = 1;
    pub(in super::super) const INT8: u16 = 2;
    pub(in super::super) const INT16: u16 = 4;
    pub(in super::super) const FLOAT16: u16 = 8;
    pub(in super::super) const OPAQUE: u16 = 16;
    pub(in super::super) const RUNTIME: u16 = 32;
    pub(in super::super) const BLOCK: u16 = 64;
    pub(in super::super) const COOP: u16 = 128;
    pub(in super::super) const POINTER: u16 = 256;
    pub(in super::super) const VOID: u16 = 512;
    /// A type that has no null.
    pub(in super::super) const NOT_NULLABLE: u16 = 1024;
    /// A structure, array or pointer decorated with a layout, outside of pointers to it.
    pub(in super::super) const LAYOUT: u16 = 2048;
    /// A physical storage buffer pointer.
    pub(in super::super) const PHYSICAL: u16 = 4096;
    /// A structure with built-in members.
    pub(in super::super) const BUILTIN: u16 = 8192;
    /// An array whose length is not known yet.
    pub(in super::super) const SPEC_LENGTH: u16 = 16384;
}

/// What an instruction that is settled at first sight asks of a type.
pub(super) mod sort {
    /// A scalar or vector of this, of a width whose arithmetic is declared.
    pub(in super::super) const FLOAT: u8 = 1;
    pub(in super::super) const SIGNED: u8 = 2;
    pub(in super::super) const UNSIGNED: u8 = 4;
    pub(in super::super) const INT: u8 = SIGNED | UNSIGNED;
    pub(in super::super) const BOOL: u8 = 8;
    pub(in super::super) const NUMBERS: u8 = FLOAT | INT | BOOL;
    /// Beside one of those.
    pub(in super::super) const VECTOR: u8 = 16;
    /// A logical pointer.
    pub(in super::super) const POINTER: u8 = 32;
    /// A logical pointer of a storage class that can be written to.
    pub(in super::super) const WRITABLE: u8 = 64;
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    /// The definition that declares it.
    pub(super) def: Idx,
    pub(super) kind: Kind,
    /// Bits of [`sort`].
    pub(super) sort: u8,
    pub(super) signed: bool,
    /// Bits of a scalar, or of the components.
    pub(super) width: u16,
    pub(super) has: u16,
    /// Component, column, element or pointee type.
    pub(super) elem: Idx,
    /// Components, columns, or length if it is known; members of a structure.
    pub(super) count: u32,
    /// Storage class of a pointer.
    pub(super) class: u32,
    /// Depth of nested structures.
    pub(super) depth: u16,
    /// Bytes of the largest scalar in it.
    pub(super) scalar: u8,
}

impl Type {
    pub(super) const NONE: Type = Type {
        def: 0,
        kind: Kind::None,
        sort: 0,
        signed: false,
        width: 0,
        has: 0,
        elem: 0,
        count: 0,
        class: u32::MAX,
        depth: 0,
        scalar: 0,
    };
}

impl Type {
    /// Whether the unused high bits of a literal of this type are as they have to be.
    pub(super) fn fits(&self, word: u32) -> bool {
        if self.width == 0 || self.width >= 32 {
            return true;
        }
        let negative = self.kind == Kind::Int && self.signed && word >> (self.width - 1) & 1 == 1;
        let expected = if negative { u32::MAX >> self.width } else { 0 };
        word >> self.width == expected
    }
}

/// A scalar, vector or cooperative matrix of numbers or booleans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Num {
    /// `Bool`, `Int`, `Float`, or `None` for everything else.
    pub(super) base: Kind,
    pub(super) signed: bool,
    pub(super) width: u16,
    /// 1 for scalars.
    pub(super) dim: u32,
    pub(super) component: Idx,
    pub(super) cooperative: bool,
    pub(super) vector: bool,
}

/// A decoration of an id or a member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decor {
    pub(super) target: Idx,
    /// The member, or [`WHOLE`].
    pub(super) member: u32,
    pub(super) kind: Decoration,
    /// The first word of its parameters, 0 if there is none.
    pub(super) value: u32,
    pub(super) word: u32,
    /// Next in the target's list, counted from 1.
    pub(super) next: u32,
}

/// A decoration's `member` where it is for the whole id.
pub(super) const WHOLE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) label: Idx,
    pub(super) word: u32,
    /// Offset of the merge instruction, 0 if there is none.
    pub(super) merge: u32,
    /// Offset of the termination instruction, 0 if there is none.
    pub(super) end: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) def: Idx,
    pub(super) word: u32,
    /// Its blocks: `first_block..first_block + blocks` of [`Module::blocks`].
    pub(super) first_block: u32,
    pub(super) blocks: u32,
    pub(super) params: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct EntryPoint {
    pub(super) function: Idx,
    pub(super) model: u32,
    pub(super) word: u32,
    /// The interface ids: words `ids..ids + count`.
    pub(super) ids: u32,
    pub(super) count: u32,
    pub(super) name: u32,
}

/// An imported set of extended instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Import {
    pub(super) def: Idx,
    pub(super) set: Set,
    pub(super) kind: ImportKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportKind {
    Glsl,
    /// NonSemantic.Shader.DebugInfo.100
    DebugInfo,
    NonSemantic,
    Foreign,
}

/// Capabilities are numbers below 64 times this.
const CAP_WORDS: usize = 128;

/// A module after its pass.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) version: u8,
    pub(super) bound: u32,
    pub(super) ids: IdMap,
    pub(super) defs: Vec<Def>,
    pub(super) types: Vec<Type>,
    pub(super) decorations: Vec<Decor>,
    pub(super) functions: Vec<Function>,
    pub(super) blocks: Vec<Block>,
    pub(super) entry_points: Vec<EntryPoint>,
    /// Offsets of OpExecutionMode and OpExecutionModeId.
    pub(super) modes: Vec<u32>,
    pub(super) imports: Vec<Import>,
    /// Offsets of non-aggregate type declarations.
    pub(super) unique_types: Vec<u32>,
    /// Offsets of module-scope variables.
    pub(super) globals: Vec<Idx>,
    /// A function, counted from 1, and a module-scope variable that it uses.
    pub(super) uses: Vec<(u32, Idx)>,
    /// A function, counted from 1, the function that it calls, and where.
    pub(super) calls: Vec<(u32, Idx, u32)>,
    /// A definition's block, the block that uses it, and where.
    pub(super) cross: Vec<(u32, u32, u32)>,
    pub(super) caps: CapSet,
    /// The same by number, for questions about one capability.
    pub(super) cap_values: Vec<u64>,
    /// What [`Type::has`] must not have for a type to be used freely.
    pub(super) limited: u16,
    pub(super) exts: CapSet,
    /// Extensions that no row of the grammar names, by [`super::coverage::other_extension`].
    pub(super) other_exts: u32,
    pub(super) addressing: u32,
    pub(super) memory_model: u32,
    pub(super) memory_model_word: u32,
    /// An object decorated BuiltIn WorkgroupSize.
    pub(super) workgroup_size: bool,
    pub(super) local_vars: u32,
    /// How many definitions are mentioned alone.
    pub(super) undefined: usize,
    /// The import of GLSL.std.450.
    pub(super) glsl: Idx,
    /// Offsets of the instructions that the first pass did not settle.
    pub(super) pending: Vec<u32>,
}

impl Module {
    /// Empties every table and keeps the memory. Destructured, so that a new field does not
    /// compile until it is emptied here.
    pub(super) fn clear(&mut self, new_version: u8, new_bound: u32, words: usize) {
        let Module {
            version,
            bound,
            ids,
            defs,
            types,
            decorations,
            functions,
            blocks,
            entry_points,
            modes,
            imports,
            unique_types,
            globals,
            uses,
            calls,
            cross,
            caps,
            cap_values,
            limited,
            exts,
            other_exts,
            addressing,
            memory_model,
            memory_model_word,
            workgroup_size,
            local_vars,
            undefined,
            glsl,
            pending,
        } = self;
        *version = new_version;
        *bound = new_bound;
        ids.reset(new_bound, words);
        defs.clear();
        defs.push(Def::NONE);
        types.clear();
        types.push(Type::NONE);
        decorations.clear();
        functions.clear();
        blocks.clear();
        entry_points.clear();
        modes.clear();
        imports.clear();
        unique_types.clear();
        globals.clear();
        uses.clear();
        calls.clear();
        cross.clear();
        *caps = CapSet::default();
        cap_values.clear();
        cap_values.resize(CAP_WORDS, 0);
        *limited = has::INT8 | has::INT16 | has::FLOAT16;
        *exts = CapSet::default();
        *other_exts = 0;
        *addressing = 0;
        *memory_model = 0;
        *memory_model_word = 0;
        *workgroup_size = false;
        *local_vars = 0;
        *undefined = 0;
        *glsl = 0;
        pending.clear();
    }

    /// The definition that an id belongs to, made if this is its first mention; 0 for ids at
    /// or above the bound.
    #[inline]
    pub(super) fn mention(&mut self, id: u32, word: u32) -> Idx {
        let next = u32::try_from(self.defs.len()).unwrap_or(0);
        if id >= self.bound {
            return 0;
        }
        let Some(slot) = self.ids.slot(id) else {
            return 0;
        };
        if *slot == 0 {
            *slot = next;
            self.undefined += 1;
            self.defs.push(Def {
                id,
                first: word,
                ..Def::NONE
            });
        }
        *slot
    }

    /// Enters a definition, unless its id is 0, at or above the bound or defined already; 0
    /// then. What was known of the id stays.
    #[inline]
    pub(super) fn enter(&mut self, new: Def) -> Idx {
        let next = u32::try_from(self.defs.len()).unwrap_or(0);
        if new.id == 0 || new.id >= self.bound {
            return 0;
        }
        let Some(slot) = self.ids.slot(new.id) else {
            return 0;
        };
        if *slot == 0 {
            *slot = next;
            self.defs.push(new);
            return next;
        }
        let idx = *slot;
        match self.defs.get_mut(idx as usize) {
            Some(def) if !def.is_defined() => {
                *def = Def {
                    first: def.first,
                    decor: def.decor,
                    flags: def.flags | new.flags,
                    ..new
                };
                self.undefined -= 1;
                idx
            }
            _ => 0,
        }
    }

    #[inline]
    pub(super) fn def(&self, idx: Idx) -> &Def {
        const NONE: &Def = &Def::NONE;
        self.defs.get(idx as usize).unwrap_or(NONE)
    }

    #[inline]
    pub(super) fn def_mut(&mut self, idx: Idx) -> Option<&mut Def> {
        self.defs.get_mut(idx as usize).filter(|_| idx != 0)
    }

    /// The type that a definition declares; of kind `None` if it declares none.
    #[inline]
    pub(super) fn ty(&self, idx: Idx) -> &Type {
        const NONE: &Type = &Type::NONE;
        self.types
            .get(self.def(idx).type_at as usize)
            .unwrap_or(NONE)
    }

    #[inline]
    pub(super) fn kind(&self, idx: Idx) -> Kind {
        self.ty(idx).kind
    }

    /// The type of a value.
    #[inline]
    pub(super) fn type_of(&self, idx: Idx) -> Idx {
        self.def(idx).ty
    }

    /// A type as numbers; `base` is `None` for what is neither a scalar, a vector nor a
    /// cooperative matrix.
    #[inline]
    pub(super) fn num(&self, idx: Idx) -> Num {
        let ty = self.ty(idx);
        let (component, dim, vector, cooperative) = match ty.kind {
            Kind::Vector => (ty.elem, ty.count, true, false),
            Kind::CooperativeMatrix => (ty.elem, 1, false, true),
            _ => (idx, 1, false, false),
        };
        let scalar = self.ty(component);
        let base = match scalar.kind {
            Kind::Bool | Kind::Int | Kind::Float | Kind::OddFloat => scalar.kind,
            _ => Kind::None,
        };
        Num {
            base,
            signed: scalar.signed,
            width: scalar.width,
            dim,
            component,
            cooperative,
            vector,
        }
    }

    #[inline]
    pub(super) fn has_cap(&self, capability: Capability) -> bool {
        let value = capability as u32;
        self.cap_values
            .get(value as usize / 64)
            .is_some_and(|word| word >> (value % 64) & 1 == 1)
    }

    /// Declares the capability of this row.
    pub(super) fn declare(&mut self, row: u16) -> bool {
        let value = tables::capabilities()
            .get(usize::from(row))
            .map_or(0, |r| r.value);
        if let Some(word) = self.cap_values.get_mut(value as usize / 64) {
            *word |= 1 << (value % 64);
        }
        match Capability::from_u32(value) {
            Some(Capability::Int8) => self.limited &= !has::INT8,
            Some(Capability::Int16) => self.limited &= !has::INT16,
            Some(Capability::Float16) => self.limited &= !has::FLOAT16,
            _ => {}
        }
        self.caps.insert(row)
    }

    pub(super) fn has_ext(&self, name: &str) -> bool {
        tables::extension_index(name).is_some_and(|row| self.exts.contains(row))
    }

    /// The decorations of an id and of its members.
    pub(super) fn decorations_of(&self, idx: Idx) -> Decorations<'_> {
        Decorations {
            all: &self.decorations,
            next: self.def(idx).decor,
        }
    }

    /// The first decoration of this kind on the id itself.
    pub(super) fn decoration(&self, idx: Idx, kind: Decoration) -> Option<&Decor> {
        self.decorations_of(idx)
            .find(|d| d.member == WHOLE && d.kind == kind)
    }

    pub(super) fn is_decorated(&self, idx: Idx, kind: Decoration) -> bool {
        self.decoration(idx, kind).is_some()
    }

    /// The storage class of a pointer type.
    pub(super) fn class(&self, ty: Idx) -> Option<StorageClass> {
        let ty = self.ty(ty);
        if ty.kind == Kind::Pointer {
            StorageClass::from_u32(ty.class)
        } else {
            None
        }
    }

    /// Whether pointers may be values like others.
    pub(super) fn variable_pointers(&self) -> bool {
        self.has_cap(Capability::VariablePointersStorageBuffer)
            || self.has_cap(Capability::VariablePointers)
    }

    /// Whether a type holds narrow values whose arithmetic is not declared.
    #[inline]
    pub(super) fn is_limited(&self, ty: Idx) -> bool {
        self.ty(ty).has & self.limited != 0
    }

    /// Whether types laid out explicitly may be in a storage class.
    pub(super) fn allows_layout(&self, class: Option<StorageClass>) -> bool {
        match class {
            Some(StorageClass::UniformConstant) => false,
            Some(StorageClass::Workgroup) => {
                self.has_cap(Capability::WorkgroupMemoryExplicitLayoutKHR)
            }
            Some(StorageClass::Function | StorageClass::Private) => self.version <= 4,
            _ => true,
        }
    }

    pub(super) fn import(&self, idx: Idx) -> Option<&Import> {
        self.imports.iter().find(|i| i.def == idx)
    }
}

/// Iterates over an id's decorations.
pub(super) struct Decorations<'a> {
    all: &'a [Decor],
    next: u32,
}

impl<'a> Iterator for Decorations<'a> {
    type Item = &'a Decor;

    fn next(&mut self) -> Option<&'a Decor> {
        let at = self.next.checked_sub(1)?;
        let decor = self.all.get(at as usize)?;
        self.next = decor.next;
        Some(decor)
    }
}
