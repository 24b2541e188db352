//! What is known of an opcode without its instruction: one row beside each row of the grammar,
//! made when the crate is built, so that the passes ask a bit instead of a list.

use super::coverage;
use crate::spirv::tables::{
    self, Category, INSTRUCTION_COUNT, Instruction, NEWEST, Operand, Quantifier,
};
use lists::{MARKS, QUICK};
use spirv::Op;

mod lists;

/// What an opcode is, as bits of [`Row::is`].
pub(super) mod is {
    /// Its rules are checked.
    pub(in super::super) const COVERED: u16 = 1;
    /// It declares a type.
    pub(in super::super) const TYPE: u16 = 2;
    /// It ends a block.
    pub(in super::super) const TERMINATOR: u16 = 4;
    /// It needs no capability, extension or version.
    pub(in super::super) const FREE: u16 = 8;
    /// Its operands may be types.
    pub(in super::super) const TAKES_TYPES: u16 = 16;
    /// Its operands have types.
    pub(in super::super) const NEEDS_VALUES: u16 = 32;
    /// It takes the result of OpSampledImage.
    pub(in super::super) const TAKES_SAMPLED: u16 = 64;
    /// It has a result of which there is no more to know than its type and its block.
    pub(in super::super) const PLAIN: u16 = 128;
    /// It leaves something in the tables of the module beside its result.
    pub(in super::super) const DECLARES: u16 = 256;
    /// The second pass has nothing to say of it: neither its operands nor its place.
    pub(in super::super) const SETTLED: u16 = 512;
    /// It begins or ends a function or a block.
    pub(in super::super) const BOUNDARY: u16 = 1024;
    /// The second pass looks at its place alone.
    pub(in super::super) const PLACED: u16 = 2048;
    /// It may take or may not take pointers as values.
    pub(in super::super) const TAKES_POINTERS: u16 = 4096;
    /// It has operands that are no ids.
    pub(in super::super) const LITERAL: u16 = 8192;
}

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
    /// More than one: it depends on what came before.
    pub(in super::super) const ANY: u8 = 12;
}

/// The shape by which an instruction may be settled at first sight; see
/// [`super::decode::quick`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quick {
    /// None.
    No,
    Decorate,
    MemberDecorate,
    Pointer,
    Constant,
    Label,
    Branch,
    BranchConditional,
    /// One operand of the result's type.
    Unary,
    /// Two operands of the result's type.
    Binary,
    Shift,
    /// Two operands of one type to booleans.
    Compare,
    Select,
    /// One operand of the row's sort to a result of this sort.
    Convert(u8),
    /// The same, to another width.
    Resize(u8),
    /// The same, of as many bits.
    Bitcast,
    Extract,
    Construct,
    Extended,
    Load,
    Store,
    Chain,
}

/// What is known of an opcode.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) grammar: &'static Instruction,
    /// The opcode, of those that are covered.
    op: Option<Op>,
    /// Bits of [`is`].
    is: u16,
    /// How many operands it has that are one word each and have to be there, where no others
    /// have to; 0 of all others.
    flat: u8,
    /// Which of those are enumerants or masks, a bit each.
    enums: u16,
    pub(super) section: u8,
    pub(super) quick: Quick,
    /// For [`Row::quick`]: what the result or the operands have to be, bits of [`super::state::sort`].
    pub(super) sort: u8,
}

impl Row {
    #[inline]
    pub(super) fn is(&self, bits: u16) -> bool {
        self.is & bits != 0
    }

    /// Whether an instruction's words are one operand each, as far as the enumerants allow.
    #[inline]
    pub(super) fn is_flat(&self, words: &[u32]) -> bool {
        if words.len() != usize::from(self.flat) + 1 || self.flat == 0 {
            return false;
        }
        let mut enums = self.enums;
        while enums != 0 {
            let i = enums.trailing_zeros() as usize;
            enums &= enums - 1;
            let (Some(operand), Some(&word)) = (self.grammar.operands.get(i), words.get(i + 1))
            else {
                return false;
            };
            let plain = match operand.kind.category() {
                Category::ValueEnum => tables::enumerant(operand.kind, word)
                    .is_some_and(|row| row.parameters.is_empty()),
                _ => word == 0,
            };
            if !plain {
                return false;
            }
        }
        true
    }

    #[inline]
    pub(super) fn op(&self) -> Option<Op> {
        match self.op {
            Some(op) => Some(op),
            None => Op::from_u32(u32::from(self.grammar.opcode)),
        }
    }
}

/// The row of an opcode, if the grammar has it.
#[inline]
pub(super) fn row(opcode: u16) -> Option<&'static Row> {
    match NEAR.get(usize::from(opcode)) {
        Some(row) => *row,
        None => ROWS.get(tables::instruction_index(opcode)?),
    }
}

/// Whether an opcode's rules are checked.
pub(super) fn covered(op: Op) -> bool {
    let opcode = u16::try_from(op as u32).ok();
    opcode.and_then(row).is_some_and(|row| row.is(is::COVERED))
}

/// Whether an opcode makes a constant.
#[inline]
pub(super) const fn is_constant(op: Op) -> bool {
    op as u32 >= Op::ConstantTrue as u32 && op as u32 <= Op::SpecConstantOp as u32
}

/// Whether an opcode declares a type.
const fn is_type(opcode: u16) -> bool {
    opcode >= Op::TypeVoid as u16 && opcode <= Op::TypePipe as u16
}

const fn section(op: Op) -> u8 {
    match op {
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
        Op::Variable | Op::Undef | Op::Line | Op::NoLine | Op::ExtInst => section::ANY,
        Op::TypeForwardPointer | Op::TypeCooperativeMatrixKHR => section::TYPES,
        _ if is_constant(op) || is_type(op as u16) => section::TYPES,
        _ => section::FUNCTIONS,
    }
}

static ROWS: [Row; INSTRUCTION_COUNT] = rows();

/// The rows of the opcodes of the core, by number, which need no index.
static NEAR: [Option<&Row>; 512] = {
    let mut near = [None; 512];
    let mut i = 0;
    while i < ROWS.len() {
        let opcode = ROWS[i].grammar.opcode as usize;
        if opcode < near.len() {
            near[opcode] = Some(&ROWS[i]);
        }
        i += 1;
    }
    near
};

const fn rows() -> [Row; INSTRUCTION_COUNT] {
    let grammar = tables::instruction_rows();
    let mut rows = [Row {
        grammar: &grammar[0],
        op: None,
        is: 0,
        flat: 0,
        enums: 0,
        section: section::FUNCTIONS,
        quick: Quick::No,
        sort: 0,
    }; INSTRUCTION_COUNT];
    let mut i = 0;
    while i < rows.len() {
        let row = &mut rows[i];
        row.grammar = &grammar[i];
        // What is not covered is not looked into, so its operands may be anything.
        row.is |= is::TAKES_TYPES;
        let free = grammar[i].min_version == 0 && grammar[i].last_version == NEWEST;
        if free && grammar[i].capabilities.is_empty() {
            row.is |= is::FREE;
        }
        if grammar[i].has_type && grammar[i].has_result {
            row.is |= is::PLAIN;
        }
        if has_literal(grammar[i].operands) {
            row.is |= is::LITERAL;
        }
        (row.flat, row.enums) = flat(grammar[i].operands);
        if is_type(grammar[i].opcode) {
            row.is |= is::TYPE | is::DECLARES;
        }
        i += 1;
    }
    let mut i = 0;
    while i < coverage::OPCODES.len() {
        let op = coverage::OPCODES[i];
        let row = &mut rows[find(op)];
        row.op = Some(op);
        row.section = section(op);
        row.is |= is::COVERED | is::NEEDS_VALUES;
        if !is_type(op as u16) {
            row.is &= !is::TAKES_TYPES;
        }
        i += 1;
    }
    let mut i = 0;
    while i < MARKS.len() {
        let (ops, set, clear) = MARKS[i];
        let mut j = 0;
        while j < ops.len() {
            let row = &mut rows[find(ops[j])];
            row.is = row.is & !clear | set;
            j += 1;
        }
        i += 1;
    }
    let mut i = 0;
    while i < QUICK.len() {
        let (quick, sort, ops) = QUICK[i];
        let mut j = 0;
        while j < ops.len() {
            let row = &mut rows[find(ops[j])];
            // Nobody asks for what a quick instruction needs.
            assert!(row.is & is::FREE != 0);
            row.quick = quick;
            row.sort = sort;
            j += 1;
        }
        i += 1;
    }
    rows
}

const fn has_literal(operands: &[Operand]) -> bool {
    let mut i = 0;
    while i < operands.len() {
        if !matches!(operands[i].kind.category(), Category::Id) {
            return true;
        }
        i += 1;
    }
    false
}

/// [`Row::flat`] and [`Row::enums`].
const fn flat(operands: &[Operand]) -> (u8, u16) {
    let mut count = 0;
    let mut enums = 0;
    while count < operands.len() {
        let Operand { kind, quantifier } = operands[count];
        match quantifier {
            Quantifier::One if kind.is_one_word() && count < 16 => {}
            Quantifier::One => return (0, 0),
            // What may follow need not; nothing that has to follows it.
            Quantifier::Optional | Quantifier::Any => break,
        }
        if matches!(kind.category(), Category::ValueEnum | Category::BitEnum) {
            enums |= 1 << count;
        }
        count += 1;
    }
    (count as u8, enums)
}

/// The index of an opcode's row; the grammar is in their order.
const fn find(op: Op) -> usize {
    let grammar = tables::instruction_rows();
    let (mut low, mut high) = (0, grammar.len());
    while low + 1 < high {
        let middle = (low + high) / 2;
        if grammar[middle].opcode <= op as u16 {
            low = middle;
        } else {
            high = middle;
        }
    }
    assert!(grammar[low].opcode as u32 == op as u32);
    low
}
