//! The opcodes of each kind.

use super::{Quick, is};
use crate::spirv::validate::state::sort;
use spirv::Op;

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

/// What has no rule about its operands, may stand anywhere in its section, and can be followed
/// by anything.
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
    Op::TypeVoid,
    Op::TypeBool,
    Op::TypeSampler,
    Op::Branch,
    Op::Unreachable,
    Op::FunctionEnd,
];

/// What has no rule about its operands.
const PLACED: &[Op] = &[Op::Label, Op::SelectionMerge];

/// What takes pointers as values, or is never to take one (§2.16.1).
const TAKES_POINTERS: &[Op] = &[
    Op::ReturnValue,
    Op::PtrAccessChain,
    Op::PtrEqual,
    Op::PtrNotEqual,
    Op::PtrDiff,
    Op::Select,
    Op::Phi,
    Op::Variable,
    Op::CompositeConstruct,
    Op::CompositeInsert,
    Op::ConstantComposite,
    Op::SpecConstantComposite,
    Op::Bitcast,
    Op::GroupNonUniformBroadcast,
    Op::SDot,
    Op::UDot,
    Op::SUDot,
    Op::SDotAccSat,
    Op::UDotAccSat,
    Op::SUDotAccSat,
];

const BOUNDARIES: &[Op] = &[
    Op::Function,
    Op::FunctionParameter,
    Op::FunctionEnd,
    Op::Label,
];

/// Lists with the bits that they set and clear.
pub(super) const MARKS: &[(&[Op], u16, u16)] = &[
    (OTHER_TYPES, is::TYPE | is::DECLARES | is::TAKES_TYPES, 0),
    (TERMINATORS, is::TERMINATOR | is::DECLARES, 0),
    (DEBUG, is::TAKES_TYPES, is::NEEDS_VALUES),
    (DECORATIONS, is::TAKES_TYPES, is::NEEDS_VALUES),
    (TAKES_TYPES, is::TAKES_TYPES, 0),
    (TAKES_UNTYPED, 0, is::NEEDS_VALUES),
    (TAKES_SAMPLED, is::TAKES_SAMPLED, 0),
    (NOT_PLAIN, 0, is::PLAIN),
    (DECLARES, is::DECLARES, 0),
    (SETTLED, is::SETTLED, 0),
    (PLACED, is::PLACED, 0),
    (TAKES_POINTERS, is::TAKES_POINTERS, 0),
    (BOUNDARIES, is::BOUNDARY, 0),
];

/// The shapes, each with what its types have to be.
pub(super) const QUICK: &[(Quick, u8, &[Op])] = {
    use Op as O;
    const NUMBER: u8 = sort::FLOAT | sort::INT;
    &[
        (Quick::Decorate, 0, &[O::Decorate]),
        (Quick::MemberDecorate, 0, &[O::MemberDecorate]),
        (Quick::Pointer, 0, &[O::TypePointer]),
        (Quick::Constant, NUMBER, &[O::Constant]),
        (Quick::Label, 0, &[O::Label]),
        (Quick::Branch, 0, &[O::Branch]),
        (Quick::BranchConditional, 0, &[O::BranchConditional]),
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
        (Quick::Bitcast, NUMBER, &[O::Bitcast]),
        (Quick::Extract, sort::NUMBERS, &[O::CompositeExtract]),
        (Quick::Construct, sort::NUMBERS, &[O::CompositeConstruct]),
        (Quick::Extended, 0, &[O::ExtInst]),
        (Quick::Load, sort::NUMBERS, &[O::Load]),
        (Quick::Store, sort::NUMBERS, &[O::Store]),
        (Quick::Chain, 0, &[O::AccessChain, O::InBoundsAccessChain]),
    ]
};
