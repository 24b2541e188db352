//! The sections of a module (SPIR-V section 2.4, Logical Layout of a Module), kept apart while it is written.
//!
//! Functions, most of a long module, are written where they stay; what precedes them is put in front at the end. So the
//! module is never copied as a whole: [`Writer::join`] gives it where it was written.

use super::interner::{Ids, Interner};
use super::marks::Marks;
use super::options::{MemoryModel, Version};
use super::preamble::Preamble;
use super::section::{Section, string_words};
use super::tape::Tape;
use crate::types::Access;
use spirv::{Decoration, Op, StorageClass};

/// The first word of an instruction: how many words it has, and its opcode.
#[inline(always)]
pub(super) const fn head(op: Op, words: u32) -> u32 {
    words << 16 | op as u32
}

/// Small constants are below this: among them the lengths of most arrays, and what barriers order.
pub(super) const SMALL: u32 = 512;
/// The room in front of the functions of the first module: enough for what precedes those of a small kernel.
const FRONT: usize = 512;

/// A module under construction. Its memory is kept between modules.
#[derive(Debug)]
pub(super) struct Writer {
    pub preamble: Preamble,
    pub names: Section,
    annotations: Section,
    /// Those that follow the annotations.
    pub marks: Marks,
    /// Types, constants and global variables, in the order in which they were needed.
    pub globals: Section,
    /// What stands before the instructions of the first function: `OpFunction`, the first label, the variables. Behind it
    /// the same of a later function, until that has ended.
    pub locals: Section,
    /// All functions, but for what is in `locals`, behind the room for what precedes them.
    pub body: Tape,
    /// That room, which grows with the greatest module.
    front: usize,
    /// How much of `locals` belongs to the first function; 0 until it has ended.
    first_locals: usize,
    /// Where the function being written begins in `body`.
    function: usize,
    /// Needed capabilities, as bits of [`cap`].
    pub caps: u32,
    /// The next free id. The loop over a kernel's instructions bounds it, see [`super::body::Body::run`].
    pub next: u32,
    /// The id of GLSL.std.450 once it is needed.
    pub(super) glsl: u32,
    pub(super) interner: Interner,
    /// The ids of types by their codes, which are below 48.
    pub(super) types: [u32; 256],
    /// The ids of small u32 constants by their values, which the interner has not.
    pub(super) small: Ids<{ SMALL as usize / 64 }>,
    /// The types of pointers to blocks of storage buffers by the ids of their elements' types.
    pub(super) blocks: Ids<1>,
    /// The ids of pointer types by storage class and the small ids of the types that they point to: see
    /// [`Writer::pointer`].
    pub(super) pointers: Ids<16>,
    /// That of a function without parameters, once one has begun.
    pub(super) function_type: u32,
    /// The built-in variables, by [`super::builtins::Builtin`].
    pub(super) builtins: [super::builtins::Variable; super::builtins::COUNT],
    /// Their types: of a scalar, and of a vector.
    pub(super) inputs: [super::builtins::Input; 2],
    /// Global variables made for all the kernels of the module.
    pub(super) variables: u32,
    /// The function that computes an exact f64 `fma`, once it is needed.
    pub(super) fma64: u32,
    /// The tables of recipes written so far.
    pub(super) recipe_tables: Vec<super::tables::Shared>,
}

impl Default for Writer {
    fn default() -> Writer {
        Writer {
            preamble: Preamble::default(),
            names: Section::default(),
            annotations: Section::default(),
            marks: Marks::default(),
            globals: Section::default(),
            locals: Section::default(),
            body: Tape::default(),
            front: FRONT,
            first_locals: 0,
            function: 0,
            caps: 1,
            next: 1,
            glsl: 0,
            interner: Interner::default(),
            types: [0; 256],
            small: Ids::default(),
            blocks: Ids::default(),
            pointers: Ids::default(),
            function_type: 0,
            builtins: Default::default(),
            inputs: Default::default(),
            variables: 0,
            fma64: 0,
            recipe_tables: Vec::new(),
        }
    }
}

impl Writer {
    /// Empties everything. Names every field, so that a new one does not compile until it is emptied here.
    pub(super) fn clear(&mut self) {
        let Writer {
            preamble,
            names,
            annotations,
            marks,
            globals,
            locals,
            body,
            front,
            first_locals,
            function,
            caps,
            next,
            glsl,
            interner,
            types,
            small,
            blocks,
            pointers,
            function_type,
            builtins,
            inputs,
            variables,
            fma64,
            recipe_tables,
        } = self;
        preamble.clear();
        for section in [names, annotations, globals, locals] {
            section.clear();
        }
        marks.clear();
        body.begin_at(*front);
        *first_locals = 0;
        *function = *front;
        *caps = 1;
        *next = 1;
        *glsl = 0;
        interner.clear();
        if let Some(used) = types.first_chunk_mut::<48>() {
            *used = [0; 48];
        }
        small.clear();
        pointers.clear();
        blocks.clear();
        *function_type = 0;
        *builtins = Default::default();
        *inputs = Default::default();
        *variables = 0;
        *fma64 = 0;
        recipe_tables.clear();
    }

    /// A fresh id. Far below 2^32: see `next`.
    #[inline(always)]
    pub(super) fn id(&mut self) -> u32 {
        let id = self.next;
        self.next = id.wrapping_add(1);
        id
    }

    /// The id of GLSL.std.450.
    #[inline]
    pub(super) fn glsl(&mut self) -> u32 {
        if self.glsl == 0 {
            self.glsl = self.id();
        }
        self.glsl
    }

    #[inline(always)]
    pub(super) fn op1(&mut self, op: Op, ty: u32, a: u32) -> u32 {
        let id = self.id();
        self.body.put([head(op, 4), ty, id, a]);
        id
    }

    #[inline(always)]
    pub(super) fn op2(&mut self, op: Op, ty: u32, a: u32, b: u32) -> u32 {
        let id = self.id();
        self.body.put([head(op, 5), ty, id, a, b]);
        id
    }

    #[inline(always)]
    pub(super) fn op3(&mut self, op: Op, ty: u32, a: u32, b: u32, c: u32) -> u32 {
        let id = self.id();
        self.body.put([head(op, 6), ty, id, a, b, c]);
        id
    }

    #[inline(always)]
    pub(super) fn op4(&mut self, op: Op, ty: u32, [a, b, c, d]: [u32; 4]) -> u32 {
        let id = self.id();
        self.body.put([head(op, 7), ty, id, a, b, c, d]);
        id
    }

    #[inline]
    pub(super) fn ext1(&mut self, inst: spirv::GlslStd450Op, ty: u32, a: u32) -> u32 {
        let set = self.glsl();
        self.op3(Op::ExtInst, ty, set, inst as u32, a)
    }

    #[inline]
    pub(super) fn ext2(&mut self, inst: spirv::GlslStd450Op, ty: u32, a: u32, b: u32) -> u32 {
        let set = self.glsl();
        self.op4(Op::ExtInst, ty, [set, inst as u32, a, b])
    }

    #[inline]
    pub(super) fn ext3(
        &mut self,
        inst: spirv::GlslStd450Op,
        ty: u32,
        a: u32,
        b: u32,
        c: u32,
    ) -> u32 {
        let set = self.glsl();
        let id = self.id();
        self.body
            .put([head(Op::ExtInst, 8), ty, id, set, inst as u32, a, b, c]);
        id
    }

    /// An arithmetic instruction on floats that may not be contracted.
    #[inline(always)]
    pub(super) fn exact2(&mut self, op: Op, ty: u32, a: u32, b: u32) -> u32 {
        let id = self.op2(op, ty, a, b);
        self.marks.push(id);
        id
    }

    /// Appends a decoration other than `NoContraction`.
    #[inline(always)]
    pub(super) fn annotate<const N: usize>(&mut self, words: [u32; N]) {
        self.write_marks();
        self.annotations.put(words);
    }

    /// Writes out what precedes another decoration.
    #[inline(always)]
    fn write_marks(&mut self) {
        if !self.marks.is_empty() {
            self.write_some_marks();
        }
    }

    #[cold]
    #[inline(never)]
    fn write_some_marks(&mut self) {
        self.annotations.extend_from_slice(self.marks.words());
        self.marks.clear();
    }

    #[inline]
    pub(super) fn decorate(&mut self, id: u32, decoration: Decoration) {
        self.annotate([head(Op::Decorate, 3), id, decoration as u32]);
    }

    #[inline]
    pub(super) fn decorate_with(&mut self, id: u32, decoration: Decoration, value: u32) {
        self.annotate([head(Op::Decorate, 4), id, decoration as u32, value]);
    }

    /// A storage buffer, given the type of a pointer to its block; with its descriptor set and binding, and what is not done
    /// to it.
    #[inline(never)]
    pub(super) fn buffer(&mut self, block: u32, set: u32, binding: u32, access: Access) -> u32 {
        if self.globals.lacks(4) | self.annotations.lacks(11) | !self.marks.is_empty() {
            return self.buffer_slowly(block, set, binding, access);
        }
        let var = self.variable(StorageClass::StorageBuffer, block);
        self.bind(var, set, binding, access);
        var
    }

    #[cold]
    #[inline(never)]
    fn buffer_slowly(&mut self, block: u32, set: u32, binding: u32, access: Access) -> u32 {
        self.write_marks();
        self.globals.reserve(64);
        self.annotations.reserve(64);
        self.buffer(block, set, binding, access)
    }

    /// The descriptor set and binding of a variable, and what is not done to it.
    #[inline(always)]
    pub(super) fn bind(&mut self, var: u32, set: u32, binding: u32, access: Access) {
        let (not, words) = match access {
            Access::Read => (Decoration::NonWritable as u32, 11),
            Access::Write => (Decoration::NonReadable as u32, 11),
            // Without the third.
            Access::ReadWrite => (0, 8),
        };
        let [one, none] = [head(Op::Decorate, 4), head(Op::Decorate, 3)];
        let [in_set, bound] = [Decoration::DescriptorSet as u32, Decoration::Binding as u32];
        self.write_marks();
        self.annotations.put_first(
            [
                one, var, in_set, set, one, var, bound, binding, none, var, not,
            ],
            words,
        );
    }

    #[inline]
    pub(super) fn member_offset(&mut self, id: u32, member: u32, offset: u32) {
        let decoration = Decoration::Offset as u32;
        self.annotate([head(Op::MemberDecorate, 5), id, member, decoration, offset]);
    }

    /// `OpName`, where there is a name. The verifier keeps names below 4096 bytes.
    pub(super) fn name(&mut self, id: u32, text: &str) {
        if !text.is_empty() {
            // At most 4096 bytes of name.
            let words = 2 + string_words(text) as u32;
            self.names.put([head(Op::Name, words), id]);
            self.names.string(text);
        }
    }

    /// `OpMemberName`, where there is a name.
    pub(super) fn member_name(&mut self, id: u32, member: u32, text: &str) {
        if !text.is_empty() {
            let words = 3 + string_words(text) as u32;
            self.names.put([head(Op::MemberName, words), id, member]);
            self.names.string(text);
        }
    }

    #[inline]
    pub(super) fn branch(&mut self, label: u32) {
        self.body.put([head(Op::Branch, 2), label]);
    }

    #[inline]
    pub(super) fn label(&mut self, label: u32) {
        self.body.put([head(Op::Label, 2), label]);
    }

    /// `OpSelectionMerge` and `OpBranchConditional`; the false target is the last word written.
    #[inline]
    pub(super) fn select_branch(&mut self, merge: u32, condition: u32, yes: u32, no: u32) {
        self.body.put([
            head(Op::SelectionMerge, 3),
            merge,
            0,
            head(Op::BranchConditional, 4),
            condition,
            yes,
            no,
        ]);
    }

    #[inline]
    pub(super) fn loop_merge(&mut self, merge: u32, continue_: u32) {
        self.body.put([head(Op::LoopMerge, 4), merge, continue_, 0]);
    }

    pub(super) fn end_function(&mut self) {
        self.body.push(head(Op::FunctionEnd, 1));
        if self.first_locals == 0 {
            self.first_locals = self.locals.len();
        } else {
            self.end_later_function();
        }
        self.function = self.body.len();
    }

    #[cold]
    #[inline(never)]
    fn end_later_function(&mut self) {
        let locals = self.locals.words();
        let later = locals.get(self.first_locals..).unwrap_or(&[]);
        self.body.insert(self.function, later);
        self.locals.truncate(self.first_locals);
    }

    /// The whole module.
    pub(super) fn join(&mut self, version: Version, model: MemoryModel) -> &[u32] {
        let (caps, glsl, next) = (self.caps, self.glsl, self.next);
        self.preamble.finish(caps, glsl, next, version, model);
        let sections = [
            self.preamble.words(),
            self.names.words(),
            self.annotations.words(),
            self.marks.words(),
            self.globals.words(),
            self.locals.words(),
        ];
        let length = length_of(&sections);
        if length > self.front {
            // Once for the greatest module.
            self.body.move_up(self.front, length);
            self.front += length;
        }
        let module = self.body.all_from(self.front - length);
        place(module, &sections);
        module
    }
}

/// The words of some sections, in a small loop.
#[inline(never)]
fn length_of(sections: &[&[u32]]) -> usize {
    sections.iter().map(|section| section.len()).sum()
}

/// Copies sections to the beginning of `front`, in a small loop too.
#[inline(never)]
fn place(mut front: &mut [u32], sections: &[&[u32]]) {
    for section in sections {
        let Some((to, rest)) = front.split_at_mut_checked(section.len()) else {
            return;
        };
        to.copy_from_slice(section);
        front = rest;
    }
}
