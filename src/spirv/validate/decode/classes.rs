//! Classes of opcodes.

use super::*;

/// Whether an opcode declares a type.
pub(in super::super) fn is_type(op: Op) -> bool {
    (op as u32 >= Op::TypeVoid as u32 && op as u32 <= Op::TypePipe as u32)
        || matches!(
            op,
            Op::TypeCooperativeMatrixKHR
                | Op::TypeCooperativeMatrixNV
                | Op::TypeCooperativeVectorNV
                | Op::TypeUntypedPointerKHR
                | Op::TypePipeStorage
                | Op::TypeNamedBarrier
                | Op::TypeRayQueryKHR
                | Op::TypeAccelerationStructureKHR
                | Op::TypeHitObjectNV
                | Op::TypeTensorARM
                | Op::TypeTensorLayoutNV
                | Op::TypeTensorViewNV
        )
}

/// Whether an opcode makes a constant.
pub(in super::super) fn is_constant(op: Op) -> bool {
    op as u32 >= Op::ConstantTrue as u32 && op as u32 <= Op::SpecConstantOp as u32
}

/// Whether an opcode ends a block.
pub(in super::super) fn is_terminator(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Unreachable
            | Op::Kill
            | Op::TerminateInvocation
            | Op::IgnoreIntersectionKHR
            | Op::TerminateRayKHR
            | Op::EmitMeshTasksEXT
    )
}

pub(in super::super) fn is_debug(op: Op) -> bool {
    matches!(
        op,
        Op::Name
            | Op::MemberName
            | Op::Source
            | Op::SourceContinued
            | Op::SourceExtension
            | Op::String
            | Op::Line
            | Op::NoLine
            | Op::ModuleProcessed
    )
}

pub(in super::super) fn is_decoration(op: Op) -> bool {
    matches!(
        op,
        Op::Decorate
            | Op::DecorateId
            | Op::MemberDecorate
            | Op::GroupDecorate
            | Op::GroupMemberDecorate
            | Op::DecorateString
            | Op::MemberDecorateString
            | Op::DecorationGroup
    )
}

/// Whether an operand may be a type.
pub(in super::super) fn may_take_type(inst: &Inst<'_>, non_semantic: bool) -> bool {
    let op = inst.op;
    is_type(op)
        || non_semantic
        || is_debug(op)
        || is_decoration(op)
        || matches!(
            op,
            Op::SizeOf
                | Op::CooperativeMatrixLengthKHR
                | Op::CooperativeMatrixLengthNV
                | Op::Function
                | Op::TypeForwardPointer
        )
        || takes_length(inst)
        || !super::coverage::opcode(op)
}

/// Whether an operand has to have a type.
pub(in super::super) fn needs_value(inst: &Inst<'_>, non_semantic: bool) -> bool {
    let op = inst.op;
    !non_semantic
        && !is_debug(op)
        && !is_decoration(op)
        && super::coverage::opcode(op)
        && !takes_length(inst)
        && !matches!(
            op,
            Op::ExtInst
                | Op::ExtInstImport
                | Op::SelectionMerge
                | Op::LoopMerge
                | Op::Function
                | Op::CooperativeMatrixLengthKHR
                | Op::Phi
                | Op::Branch
                | Op::BranchConditional
                | Op::Switch
                | Op::TypeForwardPointer
                | Op::EntryPoint
                | Op::ExecutionMode
                | Op::ExecutionModeId
        )
}

/// Whether an opcode takes the result of OpSampledImage.
pub(in super::super) fn takes_sampled_image(op: Op) -> bool {
    matches!(
        op,
        Op::SampledImage
            | Op::ImageSampleImplicitLod
            | Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjImplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageSampleProjDrefImplicitLod
            | Op::ImageSampleProjDrefExplicitLod
            | Op::ImageGather
            | Op::ImageDrefGather
            | Op::Image
            | Op::ImageQueryLod
            | Op::CopyObject
    )
}

pub(in super::super) fn takes_length(inst: &Inst<'_>) -> bool {
    inst.op == Op::SpecConstantOp && inst.word(3) == Op::CooperativeMatrixLengthKHR as u32
}

/// Whether types laid out explicitly may be in a storage class.
pub(in super::super) fn allows_layout(m: &Module, class: Option<StorageClass>) -> bool {
    match class {
        Some(StorageClass::UniformConstant) => false,
        Some(StorageClass::Workgroup) => m.has_cap(Capability::WorkgroupMemoryExplicitLayoutKHR),
        Some(StorageClass::Function | StorageClass::Private) => m.version <= 4,
        _ => true,
    }
}
