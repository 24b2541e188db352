//! What declarations leave in the module's tables.

use super::*;

impl<'a> Decoder<'a> {
    /// What the instruction declares.
    pub(super) fn register(&mut self, inst: &Inst<'a>, result: Idx) {
        let at = inst.at;
        match inst.op {
            Op::Capability => self.capability(inst),
            Op::Extension => self.extension(inst),
            Op::ExtInstImport => self.import(inst, result),
            Op::MemoryModel => {
                if self.m.memory_model_word != 0 {
                    self.fault(Rule::MemoryModelOnce, at, Note::None);
                }
                self.m.memory_model_word = at;
                self.m.addressing = inst.word(1);
                self.m.memory_model = inst.word(2);
            }
            Op::EntryPoint => {
                let function = self.m.mention(inst.word(2), at);
                if let Some(def) = self.m.def_mut(function) {
                    def.flags |= flag::ENTRY_POINT;
                }
                let name = decode::string_words(inst.words.get(3..).unwrap_or_default());
                let ids = 3 + name.unwrap_or(0);
                let count = inst.words.len().saturating_sub(ids);
                self.m.entry_points.push(EntryPoint {
                    function,
                    model: inst.word(1),
                    word: at,
                    ids: at + u32::try_from(ids).unwrap_or(0),
                    count: u32::try_from(count).unwrap_or(0),
                    name: at + 3,
                });
            }
            Op::ExecutionMode | Op::ExecutionModeId => self.m.modes.push(at),
            Op::Decorate | Op::DecorateId => {
                self.decorate(at, inst.word(1), WHOLE, inst.word(2), inst.word(3));
            }
            Op::MemberDecorate => {
                // No structure has as many members as the number for all of it.
                let member = inst.word(2).min(WHOLE - 1);
                self.decorate(at, inst.word(1), member, inst.word(3), inst.word(4));
            }
            Op::TypeForwardPointer => {
                let idx = self.m.mention(inst.word(1), at);
                let twice = match self.m.def_mut(idx) {
                    Some(def) => {
                        let twice = def.flags & flag::FORWARD_POINTER != 0;
                        def.flags |= flag::FORWARD_POINTER;
                        twice
                    }
                    None => false,
                };
                if twice {
                    self.fault(Rule::TypeUnique, at, Note::Id(inst.word(1)));
                }
            }
            Op::Variable => {
                if self.func == 0 {
                    self.m.globals.push(result);
                } else {
                    self.m.local_vars += 1;
                }
                self.accessible(result);
            }
            Op::ExtInst => {
                let non_semantic = self.is_non_semantic(inst);
                if let Some(def) = self.m.def_mut(result) {
                    if non_semantic {
                        def.flags |= flag::NON_SEMANTIC;
                    } else if def.ty != 0 {
                        def.flags |= flag::PLAIN;
                    }
                }
            }
            Op::Function => self.open_function(inst, result),
            Op::FunctionParameter => {
                let func = self.func as usize;
                if let Some(f) = func
                    .checked_sub(1)
                    .and_then(|f| self.m.functions.get_mut(f))
                {
                    f.params += 1;
                }
            }
            Op::FunctionEnd => {
                self.close_function(inst);
            }
            Op::FunctionCall => {
                let callee = self.m.ids.get(inst.word(3));
                self.m.calls.push((self.func, callee, at));
            }
            Op::Label => self.open_block(at, result),
            Op::LoopMerge | Op::SelectionMerge => {
                let block = self.block as usize;
                if let Some(b) = block.checked_sub(1).and_then(|b| self.m.blocks.get_mut(b)) {
                    b.merge = at;
                }
            }
            _ if inst.row.is(is::TERMINATOR) => self.close_block(at),
            op if inst.row.is(is::TYPE) => self.add_type(op, inst.words, at, result),
            _ => {}
        }
    }

    /// Notes of a variable that no decoration of it forbids access; decorations come first.
    fn accessible(&mut self, variable: Idx) {
        let mut flags = flag::READABLE | flag::WRITABLE;
        for decor in self.m.decorations_of(variable) {
            match decor.kind {
                Decoration::NonReadable => flags &= !flag::READABLE,
                Decoration::NonWritable => flags &= !flag::WRITABLE,
                _ => {}
            }
        }
        if let Some(def) = self.m.def_mut(variable) {
            def.flags |= flags;
        }
    }

    pub(super) fn capability(&mut self, inst: &Inst<'_>) {
        let value = inst.word(1);
        let Some(row) = tables::capability_row(value) else {
            return;
        };
        let name = tables::capabilities()
            .get(usize::from(row))
            .map_or("?", |r| r.name);
        if !coverage::capability(value) {
            self.out.foreign = true;
            self.out
                .unsupported(Unsupported::named(inst.at as usize, "capability", name));
        }
        let allowed = coverage::vulkan_capability(value)
            .is_some_and(|minor| minor <= self.environment.minor());
        if !allowed {
            let extensions = tables::capabilities()
                .get(usize::from(row))
                .map_or(&[][..], |r| r.extensions);
            if extensions.is_empty() || !self.has_extension(extensions) {
                self.fault(Rule::CapabilityVulkan, inst.at, Note::Name(name));
            }
        }
        self.declare(row);
    }

    /// A capability and all that it declares implicitly. Each row is declared once, so this
    /// ends.
    pub(super) fn declare(&mut self, row: u16) {
        let mut stack = [0u16; 64];
        let mut len = 1;
        stack[0] = row;
        while len > 0 {
            len -= 1;
            let row = stack.get(len).copied().unwrap_or(0);
            if !self.m.declare(row) {
                continue;
            }
            let implied = tables::capabilities()
                .get(usize::from(row))
                .map_or(&[][..], |r| r.capabilities);
            for &next in implied {
                if let Some(slot) = stack.get_mut(len) {
                    *slot = next;
                    len += 1;
                }
            }
        }
    }

    pub(super) fn extension(&mut self, inst: &Inst<'_>) {
        let mut buffer = [0u8; 64];
        let name = short_string(inst.words.get(1..).unwrap_or_default(), &mut buffer);
        let name = name.unwrap_or("an extension with a long name");
        let known =
            tables::extension_index(name).is_some() || coverage::other_extension(name).is_some();
        if !coverage::extension(name) {
            self.out.foreign = true;
            self.foreign_extension |= !known;
            self.out.unsupported(Unsupported::text(
                inst.at as usize,
                &format!("extension {name}"),
            ));
        }
        let since = match name {
            "SPV_KHR_vulkan_memory_model" => 3,
            "SPV_KHR_workgroup_memory_explicit_layout" => 4,
            _ => 0,
        };
        if self.m.version < since {
            self.fault(Rule::VersionNeeded, inst.at, Note::Version(since));
        }
    }

    pub(super) fn import(&mut self, inst: &Inst<'_>, result: Idx) {
        let mut buffer = [0u8; 64];
        let name = short_string(inst.words.get(2..).unwrap_or_default(), &mut buffer);
        let name = name.unwrap_or("");
        let table = tables::ext_set(name);
        let non_semantic = name.starts_with("NonSemantic.");
        let kind = match name {
            "GLSL.std.450" => ImportKind::Glsl,
            "NonSemantic.Shader.DebugInfo.100" => ImportKind::DebugInfo,
            _ if non_semantic => ImportKind::NonSemantic,
            _ => ImportKind::Foreign,
        };
        let set = match table {
            Some(set) => Set::Known {
                set,
                ids_if_unknown: non_semantic,
            },
            None => Set::Ids,
        };
        if kind == ImportKind::Foreign {
            if table.is_none() && !OTHER_SETS.contains(&name) && !self.foreign_extension {
                self.fault(Rule::ExtInstImport, inst.at, Note::None);
            }
            let text = format!("extended instruction set {name}");
            self.out
                .unsupported(Unsupported::text(inst.at as usize, &text));
        }
        if non_semantic
            && self.m.version < 6
            && self.m.other_exts & coverage::EXT_NON_SEMANTIC_INFO == 0
        {
            self.fault(Rule::NonSemanticVersion, inst.at, Note::None);
        }
        if self.m.imports.len() < MAX_IMPORTS {
            if kind == ImportKind::Glsl && self.func == 0 {
                self.m.glsl = result;
            }
            self.m.imports.push(Import {
                def: result,
                set,
                kind,
            });
        } else {
            let what = Unsupported::number(inst.at as usize, "imports beyond", 64);
            self.out.unsupported(what);
        }
    }

    pub(super) fn decorate(&mut self, at: u32, target: u32, member: u32, kind: u32, value: u32) {
        let target = self.m.mention(target, at);
        let Some(kind) = Decoration::from_u32(kind) else {
            return;
        };
        let next = self.m.def(target).decor;
        self.m.decorations.push(Decor {
            target,
            member,
            kind,
            value,
            word: at,
            next,
        });
        let head = u32::try_from(self.m.decorations.len()).unwrap_or(0);
        if let Some(def) = self.m.def_mut(target) {
            def.decor = head;
            def.flags |= match kind {
                Decoration::Block if member == WHOLE => flag::BLOCK,
                Decoration::BufferBlock if member == WHOLE => flag::BUFFER_BLOCK,
                Decoration::NonReadable if member != WHOLE => flag::UNREADABLE_PART,
                Decoration::NonWritable if member != WHOLE => flag::UNWRITABLE_PART,
                _ => 0,
            };
        }
        if kind == Decoration::BuiltIn && value == BuiltIn::WorkgroupSize as u32 {
            self.m.workgroup_size = true;
        }
    }

    pub(super) fn open_function(&mut self, inst: &Inst<'_>, result: Idx) {
        let first_block = u32::try_from(self.m.blocks.len()).unwrap_or(0);
        self.m.functions.push(Function {
            def: result,
            word: inst.at,
            first_block,
            blocks: 0,
            params: 0,
        });
        self.func = u32::try_from(self.m.functions.len()).unwrap_or(0);
        self.block = 0;
        let func = self.func;
        if let Some(def) = self.m.def_mut(result) {
            def.func = func;
        }
    }

    pub(super) fn close_function(&mut self, inst: &Inst<'_>) {
        if self.current().is_some_and(|f| f.blocks == 0) {
            self.fault(Rule::FunctionBody, inst.at, Note::None);
        }
        self.func = 0;
        self.block = 0;
    }

    pub(super) fn open_block(&mut self, at: u32, result: Idx) {
        if self.func == 0 {
            return;
        }
        self.m.blocks.push(Block {
            label: result,
            word: at,
            merge: 0,
            end: 0,
        });
        self.block = u32::try_from(self.m.blocks.len()).unwrap_or(0);
        let block = self.block;
        if let Some(def) = self.m.def_mut(result) {
            def.opens = block;
        }
        let func = self.func as usize;
        if let Some(f) = func
            .checked_sub(1)
            .and_then(|f| self.m.functions.get_mut(f))
        {
            f.blocks += 1;
        }
    }

    pub(super) fn close_block(&mut self, at: u32) {
        let block = self.block as usize;
        if let Some(b) = block.checked_sub(1).and_then(|b| self.m.blocks.get_mut(b)) {
            b.end = at;
        }
        self.block = 0;
    }

    pub(super) fn finish(&mut self, end: u32) {
        if self.m.memory_model_word == 0 {
            self.fault(
                Rule::MemoryModelOnce,
                end,
                Note::Name("missing OpMemoryModel"),
            );
        }
        if self.func != 0 {
            self.fault(Rule::FunctionOpen, end, Note::None);
        }
        let mut at = 1;
        let missing = |d: &Def| !d.is_defined() && d.flags & flag::REPORTED == 0;
        // Most modules define all that they mention.
        while self.m.undefined != 0
            && let Some((skipped, def)) = self
                .m
                .defs
                .get(at..)
                .and_then(|rest| rest.iter().enumerate().find(|(_, d)| missing(d)))
        {
            let (first, id) = (def.first, def.id);
            at += skipped + 1;
            self.fault(Rule::IdDefined, first, Note::Id(id));
        }
    }
}

/// Sets that are known by name alone.
const OTHER_SETS: &[&str] = &[
    "SPV_AMD_shader_explicit_vertex_parameter",
    "SPV_AMD_shader_trinary_minmax",
    "SPV_AMD_gcn_shader",
    "SPV_AMD_shader_ballot",
    "DebugInfo",
    "TOSA.001000.1",
    "Arm.MotionEngine.100",
];

/// Looked through for every extended instruction, so there are not to be many.
const MAX_IMPORTS: usize = 64;
