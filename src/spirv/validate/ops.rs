//! What is known of an opcode without its instruction: one row beside each row of the grammar,
//! made when the crate is built, so that the passes ask a bit instead of a list.

use super::coverage;
use super::state::sort;
use crate::spirv::tables::{self, INSTRUCTION_COUNT, Instruction, NEWEST};
use spirv::Op;

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
    Constant,
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
    /// The same, of one width.
    Bitcast(u8),
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
    pub(super) section: u8,
    pub(super) quick: Quick,
    /// For [`Row::quick`]: what the result or the operands have to be, bits of [`sort`].
    pub(super) sort: u8,
}

impl Row {
    #[inline]
    pub(super) fn is(&self, bits: u16) -> bool {
        self.is & bits != 0
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
    ROWS.get(tables::instruction_index(opcode)?)
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

/// Types whose numbers do not stand with the others.
const OTHER_TYPES: &[Op] = &[
    Op::TypeCooperativeMatrixKHR,
    Op::TypeCooperativeMatrixNV,
    Op::TypeCooperativeVectorNV,
    Op::TypeUntypedPointerKHR,
    Op::TypePipeStorage,
    Op::TypeNamedBarrier,
    Op::TypeRayQueryKHR,
    Op::TypeAccelerationStructureKHR,
    Op::TypeHitObjectNV,
    Op::TypeTensorARM,
    Op::TypeTensorLayoutNV,
    Op::TypeTensorViewNV,
];

const TERMINATORS: &[Op] = &[
    Op::Branch,
    Op::BranchConditional,
    Op::Switch,
    Op::Return,
    Op::ReturnValue,
    Op::Unreachable,
    Op::Kill,
    Op::TerminateInvocation,
    Op::IgnoreIntersectionKHR,
    Op::TerminateRayKHR,
    Op::EmitMeshTasksEXT,
];

const DEBUG: &[Op] = &[
    Op::Name,
    Op::MemberName,
    Op::Source,
    Op::SourceContinued,
    Op::SourceExtension,
    Op::String,
    Op::Line,
    Op::NoLine,
    Op::ModuleProcessed,
];

const DECORATIONS: &[Op] = &[
    Op::Decorate,
    Op::DecorateId,
    Op::MemberDecorate,
    Op::GroupDecorate,
    Op::GroupMemberDecorate,
    Op::DecorateString,
    Op::MemberDecorateString,
    Op::DecorationGroup,
];

/// What takes types as operands beside types, debug instructions and decorations.
const TAKES_TYPES: &[Op] = &[
    Op::SizeOf,
    Op::CooperativeMatrixLengthKHR,
    Op::CooperativeMatrixLengthNV,
    Op::Function,
    Op::TypeForwardPointer,
];

/// What takes ids that have no type: functions, labels, imports.
const TAKES_UNTYPED: &[Op] = &[
    Op::ExtInst,
    Op::ExtInstImport,
    Op::SelectionMerge,
    Op::LoopMerge,
    Op::Function,
    Op::CooperativeMatrixLengthKHR,
    Op::Phi,
    Op::Branch,
    Op::BranchConditional,
    Op::Switch,
    Op::TypeForwardPointer,
    Op::EntryPoint,
    Op::ExecutionMode,
    Op::ExecutionModeId,
];

const TAKES_SAMPLED: &[Op] = &[
    Op::SampledImage,
    Op::ImageSampleImplicitLod,
    Op::ImageSampleExplicitLod,
    Op::ImageSampleDrefImplicitLod,
    Op::ImageSampleDrefExplicitLod,
    Op::ImageSampleProjImplicitLod,
    Op::ImageSampleProjExplicitLod,
    Op::ImageSampleProjDrefImplicitLod,
    Op::ImageSampleProjDrefExplicitLod,
    Op::ImageGather,
    Op::ImageDrefGather,
    Op::Image,
    Op::ImageQueryLod,
    Op::CopyObject,
];

/// Results of which a user has to know more than their type and block. Those of OpExtInst may
/// be non-semantic.
const NOT_PLAIN: &[Op] = &[Op::Function, Op::Variable, Op::SampledImage, Op::ExtInst];

/// What leaves something in the tables of the module beside types and ends of blocks.
const DECLARES: &[Op] = &[
    Op::Capability,
    Op::Extension,
    Op::ExtInstImport,
    Op::MemoryModel,
    Op::EntryPoint,
    Op::ExecutionMode,
    Op::ExecutionModeId,
    Op::Decorate,
    Op::DecorateId,
    Op::MemberDecorate,
    Op::TypeForwardPointer,
    Op::Variable,
    Op::ExtInst,
    Op::Function,
    Op::FunctionParameter,
    Op::FunctionEnd,
    Op::FunctionCall,
    Op::Label,
    Op::LoopMerge,
    Op::SelectionMerge,
];

const SETTLED: &[Op] = &[
    Op::Capability,
    Op::Extension,
    Op::ExtInstImport,
    Op::MemoryModel,
    Op::EntryPoint,
    Op::ExecutionMode,
    Op::Name,
    Op::String,
    Op::Decorate,
    Op::DecorateId,
    Op::Branch,
    Op::Unreachable,
    Op::FunctionEnd,
];

const BOUNDARIES: &[Op] = &[
    Op::Function,
    Op::FunctionParameter,
    Op::FunctionEnd,
    Op::Label,
];

/// Shapes of which a single test of classes says that the rules hold.
const QUICK: &[(Quick, u8, &[Op])] = {
    use Op as O;
    const NUMBER: u8 = sort::FLOAT | sort::INT;
    &[
        (Quick::Decorate, 0, &[O::Decorate]),
        (Quick::Constant, NUMBER, &[O::Constant]),
        (Quick::Unary, sort::FLOAT, &[O::FNegate]),
        (Quick::Unary, sort::INT, &[O::SNegate, O::Not]),
        (Quick::Unary, sort::BOOL, &[O::LogicalNot]),
        (
            Quick::Binary,
            sort::FLOAT,
            &[O::FAdd, O::FSub, O::FMul, O::FDiv, O::FRem, O::FMod],
        ),
        (Quick::Binary, sort::UNSIGNED, &[O::UDiv, O::UMod]),
        (
            Quick::Binary,
            sort::INT,
            &[
                O::IAdd,
                O::ISub,
                O::IMul,
                O::SDiv,
                O::SRem,
                O::SMod,
                O::BitwiseOr,
                O::BitwiseXor,
                O::BitwiseAnd,
            ],
        ),
        (
            Quick::Binary,
            sort::BOOL,
            &[
                O::LogicalEqual,
                O::LogicalNotEqual,
                O::LogicalOr,
                O::LogicalAnd,
            ],
        ),
        (
            Quick::Shift,
            sort::INT,
            &[
                O::ShiftRightLogical,
                O::ShiftRightArithmetic,
                O::ShiftLeftLogical,
            ],
        ),
        (
            Quick::Compare,
            sort::INT,
            &[
                O::IEqual,
                O::INotEqual,
                O::UGreaterThan,
                O::SGreaterThan,
                O::UGreaterThanEqual,
                O::SGreaterThanEqual,
                O::ULessThan,
                O::SLessThan,
                O::ULessThanEqual,
                O::SLessThanEqual,
            ],
        ),
        (
            Quick::Compare,
            sort::FLOAT,
            &[
                O::FOrdEqual,
                O::FUnordEqual,
                O::FOrdNotEqual,
                O::FUnordNotEqual,
                O::FOrdLessThan,
                O::FUnordLessThan,
                O::FOrdGreaterThan,
                O::FUnordGreaterThan,
                O::FOrdLessThanEqual,
                O::FUnordLessThanEqual,
                O::FOrdGreaterThanEqual,
                O::FUnordGreaterThanEqual,
            ],
        ),
        (Quick::Select, sort::NUMBERS, &[O::Select]),
        (
            Quick::Convert(sort::UNSIGNED),
            sort::FLOAT,
            &[O::ConvertFToU],
        ),
        (Quick::Convert(sort::INT), sort::FLOAT, &[O::ConvertFToS]),
        (
            Quick::Convert(sort::FLOAT),
            sort::INT,
            &[O::ConvertSToF, O::ConvertUToF],
        ),
        (Quick::Resize(sort::UNSIGNED), sort::INT, &[O::UConvert]),
        (Quick::Resize(sort::INT), sort::INT, &[O::SConvert]),
        (Quick::Resize(sort::FLOAT), sort::FLOAT, &[O::FConvert]),
        (Quick::Bitcast(NUMBER), NUMBER, &[O::Bitcast]),
        (Quick::Extract, sort::NUMBERS, &[O::CompositeExtract]),
        (Quick::Construct, sort::NUMBERS, &[O::CompositeConstruct]),
        (Quick::Extended, 0, &[O::ExtInst]),
        (Quick::Load, sort::NUMBERS, &[O::Load]),
        (Quick::Store, sort::NUMBERS, &[O::Store]),
        (Quick::Chain, 0, &[O::AccessChain, O::InBoundsAccessChain]),
    ]
};

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

const fn rows() -> [Row; INSTRUCTION_COUNT] {
    let grammar = tables::instruction_rows();
    let mut rows = [Row {
        grammar: &grammar[0],
        op: None,
        is: 0,
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
    mark(
        &mut rows,
        OTHER_TYPES,
        is::TYPE | is::DECLARES | is::TAKES_TYPES,
        0,
    );
    mark(&mut rows, TERMINATORS, is::TERMINATOR | is::DECLARES, 0);
    mark(&mut rows, DEBUG, is::TAKES_TYPES, is::NEEDS_VALUES);
    mark(&mut rows, DECORATIONS, is::TAKES_TYPES, is::NEEDS_VALUES);
    mark(&mut rows, TAKES_TYPES, is::TAKES_TYPES, 0);
    mark(&mut rows, TAKES_UNTYPED, 0, is::NEEDS_VALUES);
    mark(&mut rows, TAKES_SAMPLED, is::TAKES_SAMPLED, 0);
    mark(&mut rows, NOT_PLAIN, 0, is::PLAIN);
    mark(&mut rows, DECLARES, is::DECLARES, 0);
    mark(&mut rows, SETTLED, is::SETTLED, 0);
    mark(&mut rows, BOUNDARIES, is::BOUNDARY, 0);
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

const fn mark(rows: &mut [Row; INSTRUCTION_COUNT], ops: &[Op], set: u16, clear: u16) {
    let mut i = 0;
    while i < ops.len() {
        let row = &mut rows[find(ops[i])];
        row.is = row.is & !clear | set;
        i += 1;
    }
}
