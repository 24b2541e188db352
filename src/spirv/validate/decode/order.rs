//! The order of a module's sections, and what may stand where.

use super::*;

/// The sections of a module (§2.4).
pub(super) mod section {
    pub(in super::super) const CAPABILITIES: u8 = 0;
    pub(in super::super) const EXTENSIONS: u8 = 1;
    pub(in super::super) const IMPORTS: u8 = 2;
    pub(in super::super) const MEMORY_MODEL: u8 = 3;
    pub(in super::super) const ENTRY_POINTS: u8 = 4;
    pub(in super::super) const MODES: u8 = 5;
    pub(in super::super) const SOURCES: u8 = 6;
    pub(in super::super) const NAMES: u8 = 7;
    pub(in super::super) const PROCESSED: u8 = 8;
    pub(in super::super) const ANNOTATIONS: u8 = 9;
    pub(in super::super) const TYPES: u8 = 10;
    pub(in super::super) const FUNCTIONS: u8 = 11;
}

impl Decoder<'_> {
    /// The order of the sections, functions and blocks.
    pub(super) fn layout(&mut self, inst: &Inst<'_>) {
        let want = self.section_of(inst);
        if want < self.section {
            return self.fault(Rule::Layout, inst.at, Note::Name(inst.row.name));
        }
        if want > section::MEMORY_MODEL
            && self.section <= section::MEMORY_MODEL
            && self.m.memory_model_word == 0
        {
            self.fault(Rule::MemoryModelOnce, inst.at, Note::None);
        }
        self.section = want;
        if want < section::FUNCTIONS {
            return;
        }
        match inst.op {
            Op::Function => {
                if self.func != 0 {
                    self.fault(Rule::FunctionNested, inst.at, Note::None);
                }
            }
            Op::FunctionParameter => {
                let started = self.current().is_none_or(|f| f.blocks != 0);
                if self.func == 0 || started {
                    self.fault(Rule::FunctionParts, inst.at, Note::None);
                }
            }
            Op::FunctionEnd => {
                if self.func == 0 {
                    self.fault(Rule::FunctionParts, inst.at, Note::None);
                } else if self.block != 0 {
                    self.fault(Rule::BlockOpen, inst.at, Note::None);
                }
            }
            Op::Label => {
                if self.func == 0 {
                    self.fault(Rule::FunctionParts, inst.at, Note::None);
                } else if self.block != 0 {
                    self.fault(Rule::BlockOpen, inst.at, Note::None);
                }
            }
            Op::Line | Op::NoLine => {}
            Op::ExtInst => {
                let outside = self.func == 0 && self.is_non_semantic(inst);
                if self.block == 0 && !outside {
                    self.fault(Rule::ExtInstPlace, inst.at, Note::None);
                }
            }
            _ => {
                if self.block == 0 {
                    self.fault(Rule::InBlock, inst.at, Note::Name(inst.row.name));
                }
            }
        }
    }

    pub(super) fn section_of(&mut self, inst: &Inst<'_>) -> u8 {
        match inst.op {
            Op::Capability => section::CAPABILITIES,
            Op::Extension => section::EXTENSIONS,
            Op::ExtInstImport => section::IMPORTS,
            Op::MemoryModel => section::MEMORY_MODEL,
            Op::EntryPoint => section::ENTRY_POINTS,
            Op::ExecutionMode | Op::ExecutionModeId => section::MODES,
            Op::String | Op::SourceExtension | Op::Source | Op::SourceContinued => section::SOURCES,
            Op::Name | Op::MemberName => section::NAMES,
            Op::ModuleProcessed => section::PROCESSED,
            Op::Decorate
            | Op::MemberDecorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorateString
            | Op::DecorationGroup
            | Op::GroupDecorate
            | Op::GroupMemberDecorate => section::ANNOTATIONS,
            Op::Variable | Op::Undef | Op::Line | Op::NoLine | Op::ExtInst => {
                if inst.op == Op::ExtInst && self.section < section::TYPES {
                    // It needs a type, so it cannot be what opens that section.
                    self.fault(Rule::ExtInstPlace, inst.at, Note::None);
                    section::TYPES
                } else if inst.op == Op::ExtInst
                    && self.section == section::TYPES
                    && !self.is_non_semantic(inst)
                {
                    section::FUNCTIONS
                } else {
                    self.section.max(section::TYPES)
                }
            }
            op if is_type(op) || is_constant(op) || op == Op::TypeForwardPointer => section::TYPES,
            _ => section::FUNCTIONS,
        }
    }
}
