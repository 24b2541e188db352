//! The second pass: each instruction against what its operands are.

use super::Options;
use super::error::{Note, Sink};
use super::ops::{self, Row, is, is_constant};
use super::rules::Rule;
use super::state::{Idx, Kind, Module, Num};
use spirv::{Op, StorageClass};

pub(super) struct Checker<'a> {
    pub(super) words: &'a [u32],
    pub(super) m: &'a Module,
    pub(super) out: &'a mut Sink,
    pub(super) options: &'a Options,
    /// Where variables and phis may stand.
    place: Place,
    /// Steps left for comparing types structurally.
    pub(super) budget: usize,
    /// Per function: the offset of its first instruction that takes implicit derivatives.
    pub(super) implicit: Vec<u32>,
    /// Whether there are narrow types whose arithmetic is not declared.
    narrow: bool,
    /// Whether a pointer to a float leads into a matrix, and whether one is variable.
    pub(super) into_matrix: bool,
    pub(super) variable: bool,
    /// Scratch memory for the literals of a switch.
    pub(super) literals: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    NewFunction,
    EntryBlock,
    BlockStart,
    Elsewhere,
}

/// An instruction, its result and its type.
#[derive(Clone, Copy)]
pub(super) struct Inst<'a> {
    pub(super) at: u32,
    pub(super) op: Op,
    /// What is known of the opcode, if the grammar has it.
    row: Option<&'static Row>,
    pub(super) words: &'a [u32],
    pub(super) ty: Idx,
    pub(super) id: Idx,
}

impl Inst<'_> {
    pub(super) fn word(&self, i: usize) -> u32 {
        self.words.get(i).copied().unwrap_or(0)
    }

    /// Whether the opcode is one of these; those that are not known are anything.
    pub(super) fn is(&self, bits: u16) -> bool {
        self.row.is_none_or(|row| row.is(bits))
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }
}

/// What is known of a 32-bit constant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Const32 {
    /// No 32-bit integer.
    NotInt,
    /// One that is computed or specialised.
    Unknown,
    Known(u32),
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        words: &'a [u32],
        m: &'a Module,
        out: &'a mut Sink,
        options: &'a Options,
    ) -> Checker<'a> {
        Checker {
            words,
            m,
            out,
            options,
            place: Place::Elsewhere,
            budget: words.len() * 4,
            implicit: Vec::new(),
            narrow: m.types.iter().any(|t| t.has & m.limited != 0),
            into_matrix: false,
            variable: false,
            literals: Vec::new(),
        }
    }

    #[cold]
    pub(super) fn fault(&mut self, rule: Rule, at: u32, note: Note) {
        self.out.fault(rule, at as usize, note, self.words);
    }

    pub(super) fn end(&self) -> u32 {
        u32::try_from(self.words.len()).unwrap_or(u32::MAX)
    }

    /// The offset of the instruction after this one.
    pub(super) fn next(&self, at: u32) -> u32 {
        let count = self.words.get(at as usize).map_or(1, |w| w >> 16);
        at.saturating_add(count.max(1))
    }

    #[inline]
    pub(super) fn inst(&self, at: u32) -> Inst<'a> {
        let mut inst = self.bare(at);
        let Some(row) = inst.row else {
            return inst;
        };
        if row.grammar.has_type {
            inst.ty = self.m.ids.get(inst.word(1));
        }
        if row.grammar.has_result {
            let id = if row.grammar.has_type { 2 } else { 1 };
            inst.id = self.m.ids.get(inst.word(id));
        }
        inst
    }

    /// An instruction without its result and its type.
    #[inline]
    pub(super) fn bare(&self, at: u32) -> Inst<'a> {
        let all = self.words.get(at as usize..).unwrap_or_default();
        let first = all.first().copied().unwrap_or(0);
        let row = ops::row((first & 0xFFFF) as u16);
        let op = match row {
            Some(row) => row.op(),
            None => Op::from_u32(first & 0xFFFF),
        };
        Inst {
            at,
            op: op.unwrap_or(Op::Nop),
            row,
            words: all.get(..(first >> 16) as usize).unwrap_or_default(),
            ty: 0,
            id: 0,
        }
    }

    /// The opcode of the instruction here.
    #[inline]
    pub(super) fn op_at(&self, at: u32) -> Op {
        let opcode = self.word_at(at, 0) & 0xFFFF;
        match ops::row(opcode as u16) {
            Some(row) => row.op(),
            None => Op::from_u32(opcode),
        }
        .unwrap_or(Op::Nop)
    }

    /// The definition that an operand names.
    #[inline]
    pub(super) fn idx(&self, inst: &Inst<'_>, i: usize) -> Idx {
        self.m.ids.get(inst.word(i))
    }

    /// The type of the value that an operand names.
    #[inline]
    pub(super) fn operand_type(&self, inst: &Inst<'_>, i: usize) -> Idx {
        self.m.type_of(self.idx(inst, i))
    }

    #[inline]
    pub(super) fn operand_num(&self, inst: &Inst<'_>, i: usize) -> Num {
        self.m.num(self.operand_type(inst, i))
    }

    /// A constant as a 32-bit integer.
    pub(super) fn const32(&self, idx: Idx) -> Const32 {
        let def = self.m.def(idx);
        let ty = self.m.ty(def.ty);
        if ty.kind != Kind::Int || ty.width != 32 {
            return Const32::NotInt;
        }
        match def.op {
            Op::Constant => Const32::Known(self.word_at(def.word, 3)),
            Op::ConstantNull => Const32::Known(0),
            _ => Const32::Unknown,
        }
    }

    /// The bits of an integer constant that cannot be specialised.
    pub(super) fn const_u64(&self, idx: Idx) -> Option<u64> {
        let def = self.m.def(idx);
        if self.m.kind(def.ty) != Kind::Int {
            return None;
        }
        match def.op {
            Op::Constant => {
                let low = u64::from(self.word_at(def.word, 3));
                let high = if def.len > 4 {
                    u64::from(self.word_at(def.word, 4))
                } else {
                    0
                };
                Some(high << 32 | low)
            }
            Op::ConstantNull => Some(0),
            _ => None,
        }
    }

    /// The value of an integer constant, sign-extended from its last word.
    pub(super) fn const_i64(&self, idx: Idx) -> Option<i64> {
        let bits = self.const_u64(idx)?;
        let def = self.m.def(idx);
        Some(if def.op == Op::Constant && def.len <= 4 {
            i64::from(self.word_at(def.word, 3).cast_signed())
        } else {
            bits.cast_signed()
        })
    }

    #[inline]
    pub(super) fn word_at(&self, at: u32, offset: usize) -> u32 {
        self.words.get(at as usize + offset).copied().unwrap_or(0)
    }

    pub(super) fn is_constant(&self, idx: Idx) -> bool {
        is_constant(self.m.def(idx).op)
    }

    pub(super) fn is_int(&self, ty: Idx) -> bool {
        self.m.kind(ty) == Kind::Int
    }

    pub(super) fn is_bool(&self, ty: Idx) -> bool {
        self.m.kind(ty) == Kind::Bool
    }

    pub(super) fn is_unsigned(&self, ty: Idx) -> bool {
        self.is_int(ty) && !self.m.ty(ty).signed
    }

    /// The member types of a structure, as ids.
    pub(super) fn members(&self, ty: Idx) -> &'a [u32] {
        let def = self.m.def(ty);
        if self.m.kind(ty) != Kind::Struct {
            return &[];
        }
        let at = def.word as usize;
        self.words
            .get(at + 2..at + usize::from(def.len))
            .unwrap_or_default()
    }

    /// Whether a resource type is decorated Block or BufferBlock.
    pub(super) fn is_block(&self, ty: Idx) -> bool {
        use super::state::flag;
        self.m.def(ty).flags & (flag::BLOCK | flag::BUFFER_BLOCK) != 0
    }

    pub(super) fn class_of(&self, pointer: Idx) -> Option<StorageClass> {
        self.m.class(self.m.type_of(pointer))
    }

    /// Checks every instruction that the first pass did not settle. What it settled stands on
    /// what came before, in order; where a fault was found or something not covered, that may
    /// not be so, and every instruction is checked.
    pub(super) fn instructions(&mut self) {
        if !self.out.is_clean() {
            return self.every_instruction();
        }
        let m = self.m;
        let mut next = 0;
        for &at in &m.pending {
            if at != next {
                // What is settled is neither a label nor a phi nor a variable.
                self.place = Place::Elsewhere;
            }
            let inst = self.inst(at);
            self.adjacency(&inst);
            if !inst.is(is::PLACED) {
                self.instruction(&inst);
            }
            next = self.next(at);
        }
        if cfg!(debug_assertions) {
            self.settled_rightly();
        }
    }

    fn every_instruction(&mut self) {
        let mut at = 5;
        while at < self.end() {
            let inst = self.inst(at);
            self.adjacency(&inst);
            self.instruction(&inst);
            at = self.next(at);
        }
    }

    /// That the rules find nothing in what the first pass settled.
    fn settled_rightly(&mut self) {
        let found = std::mem::replace(self.out, Sink::new(self.options.beyond_spirv_val));
        let budget = self.budget;
        self.place = Place::Elsewhere;
        (self.into_matrix, self.variable) = (false, false);
        self.every_instruction();
        self.budget = budget;
        let again = std::mem::replace(self.out, found);
        debug_assert!(self.out.same_as(&again), "{again:?}");
    }

    /// Where phis, variables and merge instructions stand.
    fn adjacency(&mut self, inst: &Inst<'_>) {
        match inst.op {
            Op::Function | Op::FunctionParameter => self.place = Place::NewFunction,
            Op::Label => {
                self.place = if self.place == Place::NewFunction {
                    Place::EntryBlock
                } else {
                    Place::BlockStart
                };
            }
            Op::Phi => {
                if self.place != Place::BlockStart {
                    self.fault(Rule::PhiPlace, inst.at, Note::None);
                }
            }
            Op::Line | Op::NoLine => {}
            Op::Variable => {
                let is_local = inst.word(3) == StorageClass::Function as u32;
                if is_local && self.place != Place::EntryBlock {
                    self.fault(Rule::VariablePlace, inst.at, Note::None);
                }
            }
            Op::ExtInst => {
                let debug = self
                    .m
                    .import(self.idx(inst, 3))
                    .is_some_and(|i| i.kind == super::state::ImportKind::DebugInfo);
                // Debug instructions may stand between variables.
                if !(debug && self.place == Place::EntryBlock) {
                    self.place = Place::Elsewhere;
                }
            }
            Op::LoopMerge | Op::SelectionMerge => {
                self.place = Place::Elsewhere;
                let next = self.op_at(self.next(inst.at));
                let fits = match inst.op {
                    Op::LoopMerge => matches!(next, Op::Branch | Op::BranchConditional),
                    _ => matches!(next, Op::BranchConditional | Op::Switch),
                };
                if !fits {
                    self.fault(Rule::MergePlace, inst.at, Note::None);
                }
            }
            _ => self.place = Place::Elsewhere,
        }
    }

    #[rustfmt::skip]
    fn instruction(&mut self, i: &Inst<'_>) {
        use Op as O;
        match i.op {
            O::TypeVoid | O::TypeBool | O::TypeInt | O::TypeFloat | O::TypeVector | O::TypeMatrix
            | O::TypeArray | O::TypeRuntimeArray | O::TypeStruct | O::TypePointer | O::TypeFunction
            | O::TypeForwardPointer | O::TypeCooperativeMatrixKHR => self.declared_type(i),
            O::TypeImage | O::TypeSampledImage => self.image_type(i),
            O::ConstantTrue | O::ConstantFalse | O::Constant | O::ConstantComposite | O::ConstantNull
            | O::SpecConstantTrue | O::SpecConstantFalse | O::SpecConstant | O::SpecConstantComposite
            | O::SpecConstantOp => self.constant(i),
            O::Undef => self.undef(i),
            O::MemberName | O::Line | O::Source => self.debug(i),
            O::Function | O::FunctionParameter | O::FunctionCall => self.function(i),
            O::Variable => self.variable(i),
            O::Load => self.load(i),
            O::Store => self.store(i),
            O::CopyMemory => self.copy_memory(i),
            O::AccessChain | O::InBoundsAccessChain => self.access_chain(i, 4),
            O::PtrAccessChain | O::InBoundsPtrAccessChain => self.ptr_access_chain(i),
            O::ArrayLength => self.array_length(i),
            O::PtrEqual | O::PtrNotEqual | O::PtrDiff => self.pointer_compare(i),
            O::VectorExtractDynamic | O::VectorInsertDynamic | O::VectorShuffle
            | O::CompositeConstruct | O::CompositeExtract | O::CompositeInsert | O::CopyObject
            | O::CopyLogical | O::Transpose => self.composite(i, i.op, 0),
            O::ConvertFToU | O::ConvertFToS | O::ConvertSToF | O::ConvertUToF | O::UConvert
            | O::SConvert | O::FConvert | O::QuantizeToF16 | O::ConvertPtrToU | O::ConvertUToPtr
            | O::Bitcast => self.conversion(i, i.op, 0),
            O::SNegate | O::FNegate | O::IAdd | O::FAdd | O::ISub | O::FSub | O::IMul | O::FMul
            | O::UDiv | O::SDiv | O::FDiv | O::UMod | O::SRem | O::SMod | O::FRem | O::FMod
            | O::IAddCarry | O::ISubBorrow | O::UMulExtended | O::SMulExtended
            | O::Dot => self.arithmetic(i, i.op, 0),
            O::VectorTimesScalar | O::MatrixTimesScalar | O::VectorTimesMatrix
            | O::MatrixTimesVector | O::MatrixTimesMatrix | O::OuterProduct => self.matrix(i),
            O::SDot | O::UDot | O::SUDot | O::SDotAccSat | O::UDotAccSat | O::SUDotAccSat => self.dot_product(i),
            O::ShiftRightLogical | O::ShiftRightArithmetic | O::ShiftLeftLogical | O::BitwiseOr
            | O::BitwiseXor | O::BitwiseAnd | O::Not | O::BitFieldInsert | O::BitFieldSExtract
            | O::BitFieldUExtract | O::BitReverse | O::BitCount => self.bits(i, i.op, 0),
            O::Any | O::All | O::IsNan | O::IsInf | O::LogicalEqual | O::LogicalNotEqual
            | O::LogicalOr | O::LogicalAnd | O::LogicalNot | O::Select | O::IEqual | O::INotEqual
            | O::UGreaterThan | O::SGreaterThan | O::UGreaterThanEqual | O::SGreaterThanEqual
            | O::ULessThan | O::SLessThan | O::ULessThanEqual | O::SLessThanEqual
            | O::FOrdEqual | O::FUnordEqual | O::FOrdNotEqual | O::FUnordNotEqual | O::FOrdLessThan
            | O::FUnordLessThan | O::FOrdGreaterThan | O::FUnordGreaterThan | O::FOrdLessThanEqual
            | O::FUnordLessThanEqual | O::FOrdGreaterThanEqual | O::FUnordGreaterThanEqual => self.logic(i, i.op, 0),
            O::BranchConditional | O::Switch | O::Return | O::ReturnValue | O::LoopMerge => self.terminator(i),
            O::AtomicLoad | O::AtomicStore | O::AtomicExchange | O::AtomicCompareExchange
            | O::AtomicIIncrement | O::AtomicIDecrement | O::AtomicIAdd | O::AtomicISub | O::AtomicSMin
            | O::AtomicUMin | O::AtomicSMax | O::AtomicUMax | O::AtomicAnd | O::AtomicOr | O::AtomicXor
            | O::AtomicFAddEXT | O::AtomicFMinEXT | O::AtomicFMaxEXT => self.atomic(i),
            O::ControlBarrier | O::MemoryBarrier => self.barrier(i),
            O::ExtInst => self.ext_inst(i),
            O::ReadClockKHR | O::ExpectKHR | O::AssumeTrueKHR => self.other(i),
            op if op as u32 >= O::GroupNonUniformElect as u32
                && op as u32 <= O::GroupNonUniformQuadSwap as u32 => self.group(i),
            O::GroupNonUniformRotateKHR => self.group(i),
            O::ImageTexelPointer | O::SampledImage | O::ImageSampleImplicitLod
            | O::ImageSampleExplicitLod | O::ImageSampleDrefImplicitLod
            | O::ImageSampleDrefExplicitLod | O::ImageFetch | O::ImageGather | O::ImageDrefGather
            | O::ImageRead | O::ImageWrite | O::Image | O::ImageQuerySizeLod | O::ImageQuerySize
            | O::ImageQueryLevels | O::ImageQuerySamples | O::ImageQueryLod => self.image(i),
            O::CooperativeMatrixLoadKHR | O::CooperativeMatrixStoreKHR
            | O::CooperativeMatrixMulAddKHR | O::CooperativeMatrixLengthKHR => self.cooperative(i),
            _ => {}
        }
        self.pointer_value(i);
        self.narrow_use(i);
    }

    /// §2.16.3: where the arithmetic of narrow types is not declared, their values go only to
    /// stores, copies and conversions.
    #[inline]
    fn narrow_use(&mut self, inst: &Inst<'_>) {
        if !self.narrow {
            return;
        }
        let Some(row) = inst.row else { return };
        if matches!(
            inst.op,
            Op::Store
                | Op::FConvert
                | Op::UConvert
                | Op::SConvert
                | Op::CopyObject
                | Op::Phi
                | Op::Decorate
                | Op::DecorateId
        ) || (inst.op as u32) < Op::Variable as u32
            || inst.op == Op::Label
            || row.is(is::TERMINATOR) && inst.op != Op::ReturnValue && inst.op != Op::Switch
        {
            return;
        }
        let grammar = row.grammar;
        let first = 1 + usize::from(grammar.has_type) + usize::from(grammar.has_result);
        // Literals among the words are no ids of narrow values but by accident, so only
        // instructions whose operands are ids are looked at.
        let last = if row.is(is::LITERAL) {
            inst.len().min(first + 1)
        } else {
            inst.len()
        };
        for i in first..last {
            let ty = self.operand_type(inst, i);
            if ty != 0 && self.m.kind(ty) != Kind::Pointer && self.m.is_limited(ty) {
                return self.fault(Rule::NarrowUse, inst.at, Note::Id(inst.word(i)));
            }
        }
    }

    fn debug(&mut self, inst: &Inst<'_>) {
        match inst.op {
            Op::MemberName => {
                let ty = self.m.ty(self.idx(inst, 1));
                if ty.kind != Kind::Struct || inst.word(2) >= ty.count {
                    self.fault(Rule::DebugMember, inst.at, Note::Id(inst.word(1)));
                }
            }
            Op::Line => {
                if self.m.def(self.idx(inst, 1)).op != Op::String {
                    self.fault(Rule::DebugFile, inst.at, Note::Id(inst.word(1)));
                }
            }
            _ => {
                if inst.len() > 3 && self.m.def(self.idx(inst, 3)).op != Op::String {
                    self.fault(Rule::DebugFileBeyond, inst.at, Note::Id(inst.word(3)));
                }
            }
        }
    }

    fn undef(&mut self, inst: &Inst<'_>) {
        let kind = self.m.kind(inst.ty);
        if kind == Kind::Void {
            self.fault(Rule::ResultType, inst.at, Note::None);
        }
        if kind != Kind::Pointer && self.m.is_limited(inst.ty) {
            self.fault(Rule::NarrowUse, inst.at, Note::None);
        }
    }

    fn terminator(&mut self, inst: &Inst<'_>) {
        match inst.op {
            Op::BranchConditional => {
                if !self.is_bool(self.operand_type(inst, 1)) {
                    self.fault(Rule::BranchCondition, inst.at, Note::Id(inst.word(1)));
                }
                if inst.len() != 4 && inst.len() != 6 {
                    self.fault(Rule::BranchWeights, inst.at, Note::None);
                }
                if self.m.version >= 6 && inst.word(2) == inst.word(3) {
                    self.fault(Rule::BranchSame, inst.at, Note::Id(inst.word(2)));
                }
            }
            Op::Switch => {
                if !self.is_int(self.operand_type(inst, 1)) {
                    self.fault(Rule::SwitchSelector, inst.at, Note::Id(inst.word(1)));
                }
                let pair = 1 + self.switch_width(inst.word(1));
                let cases = inst.len().saturating_sub(3) / pair;
                if cases > 16_383 {
                    let note = Note::Limit(cases as u64, 16_383);
                    self.fault(Rule::SwitchLimit, inst.at, note);
                }
                self.switch_literals(inst, pair);
            }
            Op::Return | Op::ReturnValue => self.returned(inst),
            Op::LoopMerge => {
                let control = inst.word(3);
                let both = |a: u32, b: u32| control & a != 0 && control & b != 0;
                // Unroll, DontUnroll, PeelCount, PartialCount
                if both(1, 2) || both(2, 0x80) || both(2, 0x100) {
                    self.fault(Rule::LoopControl, inst.at, Note::Value(control));
                }
                if control & 0x40 != 0 {
                    let before = (control & 0x38).count_ones() as usize;
                    if inst.word(4 + before) == 0 {
                        self.fault(Rule::LoopControl, inst.at, Note::Value(0));
                    }
                }
            }
            _ => {}
        }
    }

    /// No literal twice.
    fn switch_literals(&mut self, inst: &Inst<'_>, pair: usize) {
        if !self.options.beyond_spirv_val {
            return;
        }
        let mut literals = std::mem::take(&mut self.literals);
        literals.clear();
        let cases = inst.words.get(3..).unwrap_or_default();
        literals.extend(cases.chunks_exact(pair).map(|c| {
            let high = if pair > 2 { c[1] } else { 0 };
            u64::from(high) << 32 | u64::from(c[0])
        }));
        literals.sort_unstable();
        if let Some(twice) = literals.windows(2).find(|w| w[0] == w[1]) {
            let note = Note::Value(u32::try_from(twice[0]).unwrap_or(u32::MAX));
            self.fault(Rule::SwitchUnique, inst.at, note);
        }
        self.literals = literals;
    }

    /// The function around an instruction, by its offset.
    pub(super) fn function_at(&self, at: u32) -> Option<&'a super::state::Function> {
        let functions = &self.m.functions;
        let after = functions.partition_point(|f| f.word <= at);
        functions.get(after.checked_sub(1)?)
    }

    fn returned(&mut self, inst: &Inst<'_>) {
        let Some(function) = self.function_at(inst.at) else {
            return;
        };
        let result = self.m.def(function.def).ty;
        if inst.op == Op::Return {
            if self.m.kind(result) != Kind::Void {
                self.fault(Rule::ReturnType, inst.at, Note::None);
            }
            return;
        }
        let ty = self.operand_type(inst, 1);
        if ty != result || self.m.kind(ty) == Kind::Void {
            self.fault(Rule::ReturnType, inst.at, Note::Id(inst.word(1)));
        } else if self.m.kind(ty) == Kind::Pointer
            && self.m.addressing == 0
            && !self.m.variable_pointers()
        {
            self.fault(Rule::LogicalPointer, inst.at, Note::Id(inst.word(1)));
        }
    }

    fn other(&mut self, inst: &Inst<'_>) {
        match inst.op {
            Op::ReadClockKHR => {
                self.clock_scope(inst);
                let num = self.m.num(inst.ty);
                let fits = num.base == Kind::Int
                    && !num.signed
                    && ((num.dim == 1 && num.width == 64) || (num.dim == 2 && num.width == 32));
                if !fits {
                    self.fault(Rule::ResultType, inst.at, Note::None);
                }
            }
            Op::ExpectKHR => {
                let num = self.m.num(inst.ty);
                if !matches!(num.base, Kind::Int | Kind::Bool) || num.cooperative {
                    self.fault(Rule::ResultType, inst.at, Note::None);
                }
                for i in 3..5 {
                    if self.operand_type(inst, i) != inst.ty {
                        self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(i)));
                    }
                }
            }
            _ => {
                if !self.is_bool(self.operand_type(inst, 1)) {
                    self.fault(Rule::OperandType, inst.at, Note::Id(inst.word(1)));
                }
            }
        }
    }
}
