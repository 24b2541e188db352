//! Ids: what defines them, and what may use them.

use super::*;

impl<'a> Decoder<'a> {
    /// The operands of an instruction of ids alone. Returns the result.
    pub(super) fn ids(&mut self, inst: &Inst<'a>) -> Idx {
        let grammar = inst.row.grammar;
        if grammar.has_type {
            self.result_type(inst, inst.word(1));
        }
        let slot = if grammar.has_type { 2 } else { 1 };
        let result = if grammar.has_result {
            self.define(inst, inst.word(slot))
        } else {
            0
        };
        let first = slot - 1 + usize::from(grammar.has_result);
        for (i, &word) in inst.words.iter().skip(1).enumerate().skip(first) {
            self.id(inst, i, word, false);
        }
        result
    }

    pub(super) fn define(&mut self, inst: &Inst<'_>, id: u32) -> Idx {
        let (mut ty, mut flags) = (0, 0);
        if inst.row.grammar.has_type {
            ty = self.m.ids.get(inst.word(1));
            if ty != 0 && inst.row.is(is::PLAIN) {
                flags = flag::PLAIN;
            }
        } else if inst.row.is(is::TYPE) {
            flags = flag::TYPE;
        }
        let result = self.enter(inst.op, inst.at, inst.words, id, ty, flags);
        if result == 0 {
            self.undefinable(inst, id);
        }
        result
    }

    /// Enters a definition; 0 if its id cannot be defined.
    #[inline]
    pub(super) fn enter(
        &mut self,
        op: Op,
        at: u32,
        words: &[u32],
        id: u32,
        ty: Idx,
        flags: u16,
    ) -> Idx {
        self.m.enter(Def {
            id,
            word: at,
            first: at,
            op,
            len: u16::try_from(words.len()).unwrap_or(u16::MAX),
            ty,
            func: self.func,
            block: self.block,
            flags,
            ..Def::NONE
        })
    }

    #[cold]
    fn undefinable(&mut self, inst: &Inst<'_>, id: u32) {
        let (rule, note) = if id == 0 {
            (Rule::IdZero, Note::None)
        } else if id >= self.m.bound {
            let note = Note::Limit(u64::from(id), u64::from(self.m.bound));
            (Rule::IdBound, note)
        } else {
            (Rule::IdUnique, Note::Id(id))
        };
        self.broken(rule, inst.at, note);
    }

    pub(super) fn result_type(&mut self, inst: &Inst<'_>, id: u32) {
        let idx = self.m.ids.get(id);
        let def = self.m.def(idx);
        if def.flags & flag::TYPE != 0 {
            // It is defined, then.
        } else if id == 0 {
            self.broken(Rule::IdZero, inst.at, Note::None);
        } else if !def.is_defined() {
            self.m.mention(id, inst.at);
            self.fault(Rule::IdDefined, inst.at, Note::Id(id));
            self.mark_reported(idx);
        } else {
            self.fault(Rule::IdIsType, inst.at, Note::Id(id));
        }
    }

    fn mark_reported(&mut self, idx: Idx) {
        if let Some(def) = self.m.def_mut(idx) {
            def.flags |= flag::REPORTED;
        }
    }

    #[inline]
    pub(super) fn id(&mut self, inst: &Inst<'_>, index: usize, id: u32, non_semantic: bool) {
        if id == 0 {
            return self.broken(Rule::IdZero, inst.at, Note::None);
        }
        let idx = self.m.ids.get(id);
        let def = self.m.def(idx);
        // The result has been entered already: an instruction that uses its own result uses
        // what is not defined yet.
        if !def.is_defined() || def.word == inst.at {
            return self.forward(inst, index, id);
        }
        if def.flags & flag::PLAIN != 0 {
            let (func, block) = (def.func, def.block);
            let elsewhere = func != self.func || block != self.block;
            if elsewhere && func != 0 && self.func != 0 && !non_semantic {
                self.used_elsewhere(inst, id, func, block);
            }
            return;
        }
        if def.type_at != 0 || def.flags & flag::TYPE != 0 {
            if !may_take_type(inst, non_semantic) {
                self.fault(Rule::IdIsValue, inst.at, Note::Id(id));
            }
        } else if def.ty == 0 && needs_value(inst, non_semantic) {
            self.fault(Rule::IdIsValue, inst.at, Note::Id(id));
        } else if def.flags & flag::NON_SEMANTIC != 0
            && !non_semantic
            && !matches!(inst.op, Op::Name)
        {
            self.fault(Rule::NonSemanticUse, inst.at, Note::Id(id));
        }
        if self.func != 0 && !non_semantic {
            self.used_in_function(inst, idx);
        }
    }

    /// Notes what needs the control flow: uses in other blocks, variables used by functions.
    fn used_in_function(&mut self, inst: &Inst<'_>, idx: Idx) {
        let func = self.func;
        let block = self.block;
        let Some(def) = self.m.def_mut(idx) else {
            return;
        };
        if def.func == 0 {
            if def.op == Op::Variable && def.opens != func {
                def.opens = func;
                self.m.uses.push((func, idx));
            }
            return;
        }
        let (def_func, def_block, id, op) = (def.func, def.block, def.id, def.op);
        if op == Op::Function {
            if inst.op != Op::FunctionCall {
                self.fault(Rule::FunctionUse, inst.at, Note::Id(id));
            }
            return;
        }
        if op == Op::SampledImage && (def_block != block || !inst.row.is(is::TAKES_SAMPLED)) {
            self.fault(Rule::SampledImageUse, inst.at, Note::Id(id));
        }
        self.used_elsewhere(inst, id, def_func, def_block);
    }

    /// A use of what a function defines: in that function, and noted if it is in another block.
    fn used_elsewhere(&mut self, inst: &Inst<'_>, id: u32, def_func: u32, def_block: u32) {
        let block = self.block;
        if def_func != self.func {
            self.fault(Rule::OtherFunction, inst.at, Note::Id(id));
        } else if def_block != 0 && def_block != block && block != 0 && inst.op != Op::Phi {
            self.m.cross.push((def_block, block, inst.at));
        }
    }

    fn forward(&mut self, inst: &Inst<'_>, index: usize, id: u32) {
        let allowed = match inst.op {
            Op::ExecutionMode
            | Op::ExecutionModeId
            | Op::EntryPoint
            | Op::Name
            | Op::MemberName
            | Op::SelectionMerge
            | Op::Decorate
            | Op::MemberDecorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorateString
            | Op::Branch
            | Op::LoopMerge
            | Op::TypeForwardPointer => true,
            Op::GroupDecorate | Op::GroupMemberDecorate | Op::BranchConditional | Op::Switch => {
                index != 0
            }
            Op::FunctionCall => index == 2,
            Op::Phi => index > 1,
            Op::ExtInstWithForwardRefsKHR => true,
            Op::ExtInst => self.is_foreign_set(inst),
            _ if inst.row.is(is::TYPE) => {
                self.m.def(self.m.ids.get(id)).flags & flag::FORWARD_POINTER != 0
            }
            // What is not covered may have forward references of its own.
            _ => !ops::covered(inst.op),
        };
        let idx = self.m.mention(id, inst.at);
        if idx == 0 {
            let note = Note::Limit(u64::from(id), u64::from(self.m.bound));
            self.fault(Rule::IdBound, inst.at, note);
        } else if !allowed {
            self.fault(Rule::IdOrder, inst.at, Note::Id(id));
            self.mark_reported(idx);
        }
    }
}

/// Whether an operand may be a type.
fn may_take_type(inst: &Inst<'_>, non_semantic: bool) -> bool {
    inst.row.is(is::TAKES_TYPES) || non_semantic || spec_exception(inst)
}

/// Whether an operand has to have a type.
fn needs_value(inst: &Inst<'_>, non_semantic: bool) -> bool {
    inst.row.is(is::NEEDS_VALUES) && !non_semantic && !spec_exception(inst)
}

/// Whether an instruction is an OpSpecConstantOp of a matrix length, which takes a type, or of an
/// opcode that is not covered.
fn spec_exception(inst: &Inst<'_>) -> bool {
    inst.op == Op::SpecConstantOp
        && (inst.word(3) == Op::CooperativeMatrixLengthKHR as u32
            || Op::from_u32(inst.word(3)).is_none_or(|op| !ops::covered(op)))
}
