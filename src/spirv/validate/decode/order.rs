//! The order of a module's sections, and what may stand where.

use super::*;

impl Decoder<'_> {
    /// The order of the sections, functions and blocks.
    #[inline]
    pub(super) fn layout(&mut self, inst: &Inst<'_>) {
        let section = inst.row.section;
        // Most instructions stand where the one before them stood.
        let goes_on = if self.section == section::FUNCTIONS {
            self.block != 0 && section >= section::FUNCTIONS && !inst.row.is(is::BOUNDARY)
        } else {
            section == self.section
        };
        if !goes_on {
            self.place(inst);
        }
    }

    fn place(&mut self, inst: &Inst<'_>) {
        let want = self.section_of(inst);
        if want < self.section {
            return self.fault(Rule::Layout, inst.at, Note::Name(inst.name()));
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
            Op::FunctionEnd | Op::Label => {
                if self.func == 0 {
                    self.fault(Rule::FunctionParts, inst.at, Note::None);
                } else if self.block != 0 {
                    self.fault(Rule::BlockOpen, inst.at, Note::None);
                }
            }
            Op::Line | Op::NoLine => {}
            Op::ExtInst => {
                let outside = self.func == 0 && self.is_non_semantic(inst);
                if self.block == 0 && !outside && !self.is_foreign_set(inst) {
                    self.fault(Rule::ExtInstPlace, inst.at, Note::None);
                }
            }
            _ => {
                if self.block == 0 {
                    self.fault(Rule::InBlock, inst.at, Note::Name(inst.name()));
                }
            }
        }
    }

    fn section_of(&mut self, inst: &Inst<'_>) -> u8 {
        if inst.row.section != section::ANY {
            return inst.row.section;
        }
        if inst.op != Op::ExtInst {
            return self.section.max(section::TYPES);
        }
        if self.is_foreign_set(inst) {
            self.section
        } else if self.section < section::TYPES {
            // It needs a type, so it cannot be what opens that section.
            self.fault(Rule::ExtInstPlace, inst.at, Note::None);
            section::TYPES
        } else if self.section == section::TYPES && !self.is_non_semantic(inst) {
            section::FUNCTIONS
        } else {
            self.section
        }
    }
}
