//! The sections of a module (SPIR-V section 2.4, Logical Layout of a Module), kept apart while it is written.
//!
//! Functions, most of a long module, are written where they stay; what precedes them is put in front at the end. So the
//! module is never copied as a whole: [`Writer::join`] gives it where it was written.

use super::interner::{Ids, Interner};
use super::marks::Marks;
use super::options::{MemoryModel, Version};
use super::tape::Tape;
use crate::types::Access;
use spirv::{Capability, Decoration, ExecutionModel, Op};

/// Capabilities that a module may need, as bits in the order of [`CAPABILITIES`].
pub(super) mod cap {
    pub const INT64: u32 = 1 << 1;
    pub const FLOAT64: u32 = 1 << 2;
    pub const INT64_ATOMICS: u32 = 1 << 3;
    pub const GROUP_NON_UNIFORM: u32 = 1 << 4;
    pub const DENORM_PRESERVE: u32 = 1 << 5;
    pub const SIGNED_ZERO_INF_NAN_PRESERVE: u32 = 1 << 6;
    pub const ROUNDING_MODE_RTE: u32 = 1 << 7;
    pub const ATOMIC_FLOAT32_ADD: u32 = 1 << 8;
    pub const VULKAN_MEMORY_MODEL: u32 = 1 << 9;
    pub const VULKAN_MEMORY_MODEL_DEVICE_SCOPE: u32 = 1 << 10;
    pub const FLOAT16: u32 = 1 << 11;
    pub const STORAGE_8: u32 = 1 << 12;
    pub const STORAGE_16: u32 = 1 << 13;
    pub const VOTE: u32 = 1 << 14;
    pub const BALLOT: u32 = 1 << 15;
    pub const SHUFFLE: u32 = 1 << 16;
    pub const SHUFFLE_RELATIVE: u32 = 1 << 17;
    pub const ARITHMETIC: u32 = 1 << 18;
    pub const DOT_PRODUCT: u32 = 1 << 19;
    pub const DOT_PACKED: u32 = 1 << 20;
    pub const ATOMIC_FLOAT64_ADD: u32 = 1 << 21;
    pub const ATOMIC_FLOAT32_MIN_MAX: u32 = 1 << 22;
}

const CAPABILITIES: [Capability; 23] = [
    Capability::Shader,
    Capability::Int64,
    Capability::Float64,
    Capability::Int64Atomics,
    Capability::GroupNonUniform,
    Capability::DenormPreserve,
    Capability::SignedZeroInfNanPreserve,
    Capability::RoundingModeRTE,
    Capability::AtomicFloat32AddEXT,
    Capability::VulkanMemoryModel,
    Capability::VulkanMemoryModelDeviceScope,
    Capability::Float16,
    Capability::StorageBuffer8BitAccess,
    Capability::StorageBuffer16BitAccess,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformArithmetic,
    Capability::DotProduct,
    Capability::DotProductInput4x8BitPacked,
    Capability::AtomicFloat64AddEXT,
    Capability::AtomicFloat32MinMaxEXT,
];

/// Extensions, the capabilities that bring them, and the version that took them into the core.
const EXTENSIONS: [(&str, u32, Option<Version>); 6] = [
    (
        "SPV_KHR_float_controls",
        cap::DENORM_PRESERVE | cap::SIGNED_ZERO_INF_NAN_PRESERVE | cap::ROUNDING_MODE_RTE,
        Some(Version::V1_4),
    ),
    (
        "SPV_KHR_vulkan_memory_model",
        cap::VULKAN_MEMORY_MODEL,
        Some(Version::V1_5),
    ),
    (
        "SPV_EXT_shader_atomic_float_add",
        cap::ATOMIC_FLOAT32_ADD | cap::ATOMIC_FLOAT64_ADD,
        None,
    ),
    (
        "SPV_EXT_shader_atomic_float_min_max",
        cap::ATOMIC_FLOAT32_MIN_MAX,
        None,
    ),
    ("SPV_KHR_8bit_storage", cap::STORAGE_8, Some(Version::V1_5)),
    (
        "SPV_KHR_integer_dot_product",
        cap::DOT_PRODUCT,
        Some(Version::V1_6),
    ),
];

/// The first word of an instruction: how many words it has, and its opcode.
#[inline(always)]
pub(super) const fn head(op: Op, words: u32) -> u32 {
    words << 16 | op as u32
}

/// Appends a literal string (SPIR-V section 2.2.1): UTF-8, little-endian in its words, a NUL at the end.
pub(super) fn push_string(out: &mut Tape, text: &str) {
    let (quads, rest) = text.as_bytes().as_chunks::<4>();
    let mut last = [0; 4];
    for (to, &from) in last.iter_mut().zip(rest) {
        *to = from;
    }
    let room = out.room(quads.len() + 1).iter_mut();
    for (to, &quad) in room.zip(quads.iter().chain([&last])) {
        *to = u32::from_le_bytes(quad);
    }
    out.advance(quads.len() + 1);
}

/// The words of such a string.
pub(super) fn string_words(text: &str) -> usize {
    text.len() / 4 + 1
}

/// The room in front of the functions of the first module: enough for what precedes those of a small kernel.
const FRONT: usize = 512;

/// A module under construction. Its memory is kept between modules.
#[derive(Debug)]
pub(super) struct Writer {
    /// The preamble, from the header to the memory model; the entry points; their execution modes.
    ///
    /// The preamble stays from one module to the next, and is written last, if it is to be another.
    head: Tape,
    /// The number of its words, and what it was written for.
    preamble: usize,
    preamble_for: Option<(u32, bool, Version, MemoryModel)>,
    /// Where the entry points end.
    entries: usize,
    /// Another head, while one is written.
    spare: Tape,
    pub names: Tape,
    annotations: Tape,
    /// Those that follow the annotations.
    pub marks: Marks,
    /// Types, constants and global variables, in the order in which they were needed.
    pub globals: Tape,
    /// What stands before the instructions of the first function: `OpFunction`, the first label, the variables. Behind it
    /// the same of a later function, until that has ended.
    pub locals: Tape,
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
    glsl: u32,
    pub(super) interner: Interner,
    /// The ids of types by their codes.
    pub(super) types: [u32; 64],
    /// The ids of small u32 constants by their values, which the interner has not.
    pub(super) small: Ids,
    /// That of a function without parameters, once one has begun.
    pub(super) function_type: u32,
    /// The built-in variables, by [`super::builtins::Builtin`].
    pub(super) builtins: [u32; super::builtins::COUNT],
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
            head: Tape::default(),
            preamble: 0,
            preamble_for: None,
            entries: 0,
            spare: Tape::default(),
            names: Tape::default(),
            annotations: Tape::default(),
            marks: Marks::default(),
            globals: Tape::default(),
            locals: Tape::default(),
            body: Tape::default(),
            front: FRONT,
            first_locals: 0,
            function: 0,
            caps: 1,
            next: 1,
            glsl: 0,
            interner: Interner::default(),
            types: [0; 64],
            small: Ids::default(),
            function_type: 0,
            builtins: [0; super::builtins::COUNT],
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
            head,
            preamble,
            preamble_for: _,
            entries,
            spare: _,
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
            function_type,
            builtins,
            inputs,
            variables,
            fma64,
            recipe_tables,
        } = self;
        head.truncate(*preamble);
        *entries = *preamble;
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
        *types = [0; 64];
        small.clear();
        *function_type = 0;
        *builtins = [0; super::builtins::COUNT];
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

    /// The id of GLSL.std.450, or 0 while nothing needed it.
    #[inline]
    pub(super) fn known_glsl(&self) -> u32 {
        self.glsl
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

    /// The descriptor set and binding of a variable, and what is not done to it.
    #[inline]
    pub(super) fn bind(&mut self, var: u32, set: u32, binding: u32, access: Access) {
        let (not, words) = match access {
            Access::Read => (Decoration::NonWritable, 11),
            Access::Write => (Decoration::NonReadable, 11),
            // Without the third.
            Access::ReadWrite => (Decoration::NonWritable, 8),
        };
        let [one, none] = [head(Op::Decorate, 4), head(Op::Decorate, 3)];
        let [in_set, bound] = [Decoration::DescriptorSet as u32, Decoration::Binding as u32];
        self.write_marks();
        self.annotations.put_first(
            [
                one, var, in_set, set, one, var, bound, binding, none, var, not as u32,
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
            push_string(&mut self.names, text);
        }
    }

    /// `OpMemberName`, where there is a name.
    pub(super) fn member_name(&mut self, id: u32, member: u32, text: &str) {
        if !text.is_empty() {
            let words = 3 + string_words(text) as u32;
            self.names.put([head(Op::MemberName, words), id, member]);
            push_string(&mut self.names, text);
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

    /// Begins a function of type `ty` that returns `returns`: `OpFunction`; parameters and the first label follow.
    pub(super) fn begin_function(&mut self, id: u32, returns: u32, ty: u32) {
        self.locals.put([head(Op::Function, 5), returns, id, 0, ty]);
    }

    pub(super) fn end_function(&mut self) {
        self.body.push(head(Op::FunctionEnd, 1));
        if self.first_locals == 0 {
            self.first_locals = self.locals.len();
        } else {
            let locals = self.locals.words();
            let later = locals.get(self.first_locals..).unwrap_or(&[]);
            self.body.insert(self.function, later);
            self.locals.truncate(self.first_locals);
        }
        self.function = self.body.len();
    }

    /// Writes an entry point: `OpEntryPoint`, naming `interface`, and its `OpExecutionMode`s.
    pub(super) fn entry_point(&mut self, id: u32, name: &str, interface: &[u32]) {
        let begin = self.head.len();
        // The kernel's words were counted before anything of it was written.
        let words = 3 + string_words(name) + interface.len();
        let model = ExecutionModel::GLCompute as u32;
        self.head
            .put([head(Op::EntryPoint, words as u32), model, id]);
        push_string(&mut self.head, name);
        self.head.extend_from_slice(interface);
        // In front of the modes of entry points before.
        self.head.rotate(self.entries, begin);
        self.entries += words;
    }

    /// Writes the first `count` words: execution modes of the entry point written last.
    #[inline(always)]
    pub(super) fn modes<const N: usize>(&mut self, words: [u32; N], count: usize) {
        self.head.put_first(words, count);
    }

    /// The whole module.
    pub(super) fn join(&mut self, version: Version, model: MemoryModel) -> &[u32] {
        self.write_preamble(version, model);
        let sections = [
            self.head.words(),
            self.names.words(),
            self.annotations.words(),
            self.marks.words(),
            self.globals.words(),
            self.locals.words(),
        ];
        let length = sections.iter().map(|section| section.len()).sum();
        if length > self.front {
            // Once for the greatest module.
            self.body.move_up(self.front, length);
            self.front += length;
        }
        let module = self.body.from_front(self.front - length);
        let mut front = &mut *module;
        for section in sections {
            place(&mut front, section);
        }
        module
    }

    /// What precedes the entry points.
    fn write_preamble(&mut self, version: Version, model: MemoryModel) {
        let wanted = Some((self.caps, self.glsl != 0, version, model));
        if self.preamble_for != wanted {
            self.write_other_preamble(version, model);
            self.preamble_for = wanted;
        }
        if let Some(bound) = self.head.get_mut(3) {
            *bound = self.next;
        }
        if self.glsl != 0
            && let Some(id) = self.head.get_mut(self.preamble.saturating_sub(8))
        {
            *id = self.glsl;
        }
    }

    /// The same without the bound and the id of GLSL.std.450.
    #[cold]
    fn write_other_preamble(&mut self, version: Version, model: MemoryModel) {
        let out = &mut self.spare;
        out.clear();
        out.put([spirv::MAGIC_NUMBER, version.word(), 0, 0, 0]);
        let mut caps = self.caps;
        while let Some(capability) = CAPABILITIES.get(caps.trailing_zeros() as usize) {
            out.put([head(Op::Capability, 2), *capability as u32]);
            caps &= caps - 1;
        }
        for (name, caps, core) in EXTENSIONS {
            if self.caps & caps != 0 && core.is_none_or(|core| version < core) {
                out.push(head(Op::Extension, 1 + string_words(name) as u32));
                push_string(out, name);
            }
        }
        if self.glsl != 0 {
            // Four words of name, then three of memory model: the id is the eighth from the end.
            out.put([head(Op::ExtInstImport, 6), 0]);
            push_string(out, "GLSL.std.450");
        }
        let model = match model {
            MemoryModel::Glsl450 => spirv::MemoryModel::GLSL450,
            MemoryModel::Vulkan => spirv::MemoryModel::Vulkan,
        };
        out.put([head(Op::MemoryModel, 3), 0, model as u32]);
        let (length, rest) = (out.len(), self.head.words().get(self.preamble..));
        out.extend_from_slice(rest.unwrap_or(&[]));
        core::mem::swap(&mut self.head, &mut self.spare);
        self.preamble = length;
    }
}

/// Copies a section to the beginning of `front`, and moves that behind it.
#[inline(always)]
fn place(front: &mut &mut [u32], section: &[u32]) {
    if !section.is_empty()
        && let Some((to, rest)) = core::mem::take(front).split_at_mut_checked(section.len())
    {
        to.copy_from_slice(section);
        *front = rest;
    }
}
