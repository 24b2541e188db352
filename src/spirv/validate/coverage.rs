//! What this validator covers. Everything else is [`Unsupported`](super::Verdict::Unsupported).

use crate::spirv::tables::OperandKind as K;
use spirv::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass};

/// Extensions that no row of the grammar names, with the bit that
/// [`Module::other_exts`](super::state::Module) keeps for them.
pub(super) fn other_extension(name: &str) -> Option<u32> {
    Some(match name {
        "SPV_KHR_non_semantic_info" => 1,
        "SPV_AMD_gpu_shader_int16" => 2,
        _ => return None,
    })
}

pub(super) const EXT_NON_SEMANTIC_INFO: u32 = 1;

/// Whether the effects of an extension are known.
pub(super) fn extension(name: &str) -> bool {
    matches!(
        name,
        "SPV_KHR_non_semantic_info"
            | "SPV_KHR_16bit_storage"
            | "SPV_KHR_8bit_storage"
            | "SPV_KHR_bit_instructions"
            | "SPV_KHR_expect_assume"
            | "SPV_KHR_float_controls"
            | "SPV_KHR_integer_dot_product"
            | "SPV_KHR_no_integer_wrap_decoration"
            | "SPV_KHR_storage_buffer_storage_class"
            | "SPV_KHR_variable_pointers"
            | "SPV_KHR_vulkan_memory_model"
            | "SPV_KHR_shader_clock"
            | "SPV_KHR_subgroup_rotate"
            | "SPV_KHR_physical_storage_buffer"
            | "SPV_EXT_physical_storage_buffer"
            | "SPV_KHR_cooperative_matrix"
            // OpGroupNonUniformPartitionNV is not covered.
            | "SPV_NV_shader_subgroup_partitioned"
            | "SPV_EXT_descriptor_indexing"
            | "SPV_EXT_shader_atomic_float_add"
            | "SPV_EXT_shader_atomic_float16_add"
            | "SPV_EXT_shader_atomic_float_min_max"
            | "SPV_GOOGLE_decorate_string"
            | "SPV_GOOGLE_hlsl_functionality1"
            | "SPV_GOOGLE_user_type"
    )
}

/// Whether a capability's effects are known.
pub(super) fn capability(value: u32) -> bool {
    use Capability as C;
    let Some(capability) = C::from_u32(value) else {
        return false;
    };
    matches!(
        capability,
        C::Matrix
            | C::Shader
            | C::Float16
            | C::Float64
            | C::Int64
            | C::Int16
            | C::Int8
            | C::Int64Atomics
            | C::ImageGatherExtended
            | C::StorageImageMultisample
            | C::UniformBufferArrayDynamicIndexing
            | C::SampledImageArrayDynamicIndexing
            | C::StorageBufferArrayDynamicIndexing
            | C::StorageImageArrayDynamicIndexing
            | C::ImageCubeArray
            | C::Sampled1D
            | C::Image1D
            | C::SampledCubeArray
            | C::SampledBuffer
            | C::ImageBuffer
            | C::ImageMSArray
            | C::StorageImageExtendedFormats
            | C::ImageQuery
            | C::StorageImageReadWithoutFormat
            | C::StorageImageWriteWithoutFormat
            | C::MinLod
            | C::GroupNonUniform
            | C::GroupNonUniformVote
            | C::GroupNonUniformArithmetic
            | C::GroupNonUniformBallot
            | C::GroupNonUniformShuffle
            | C::GroupNonUniformShuffleRelative
            | C::GroupNonUniformClustered
            | C::GroupNonUniformQuad
            | C::GroupNonUniformRotateKHR
            | C::GroupNonUniformPartitionedNV
            | C::StorageBuffer16BitAccess
            | C::UniformAndStorageBuffer16BitAccess
            | C::StoragePushConstant16
            | C::StorageInputOutput16
            | C::StorageBuffer8BitAccess
            | C::UniformAndStorageBuffer8BitAccess
            | C::StoragePushConstant8
            | C::VariablePointersStorageBuffer
            | C::VariablePointers
            | C::DenormPreserve
            | C::DenormFlushToZero
            | C::SignedZeroInfNanPreserve
            | C::RoundingModeRTE
            | C::RoundingModeRTZ
            | C::VulkanMemoryModel
            | C::VulkanMemoryModelDeviceScope
            | C::PhysicalStorageBufferAddresses
            | C::ShaderNonUniform
            | C::RuntimeDescriptorArray
            | C::UniformTexelBufferArrayDynamicIndexing
            | C::StorageTexelBufferArrayDynamicIndexing
            | C::UniformBufferArrayNonUniformIndexing
            | C::SampledImageArrayNonUniformIndexing
            | C::StorageBufferArrayNonUniformIndexing
            | C::StorageImageArrayNonUniformIndexing
            | C::UniformTexelBufferArrayNonUniformIndexing
            | C::StorageTexelBufferArrayNonUniformIndexing
            | C::DotProduct
            | C::DotProductInputAll
            | C::DotProductInput4x8Bit
            | C::DotProductInput4x8BitPacked
            | C::BitInstructions
            | C::ExpectAssumeKHR
            | C::ShaderClockKHR
            | C::AtomicFloat16AddEXT
            | C::AtomicFloat32AddEXT
            | C::AtomicFloat64AddEXT
            | C::AtomicFloat16MinMaxEXT
            | C::AtomicFloat32MinMaxEXT
            | C::AtomicFloat64MinMaxEXT
            | C::CooperativeMatrixKHR
            // What these enable belongs to other stages or is not covered by itself; to declare them changes no rule.
            | C::Geometry
            | C::Tessellation
            | C::TessellationPointSize
            | C::GeometryPointSize
            | C::GeometryStreams
            | C::TransformFeedback
            | C::ClipDistance
            | C::CullDistance
            | C::SampleRateShading
            | C::MultiViewport
            | C::InputAttachment
            | C::InputAttachmentArrayDynamicIndexing
            | C::InputAttachmentArrayNonUniformIndexing
            | C::SparseResidency
            | C::DeviceGroup
            | C::MultiView
            | C::DrawParameters
            | C::ShaderViewportIndex
            | C::ShaderLayer
            | C::DemoteToHelperInvocation
    )
}

/// Whether an enumerant's rules are checked.
pub(super) fn enumerant(kind: K, value: u32) -> bool {
    match kind {
        // Capabilities have their own place.
        K::Capability => true,
        K::ExecutionModel => value == ExecutionModel::GLCompute as u32,
        K::AddressingModel => value == 0 || value == 5348 || value == 1 || value == 2,
        K::StorageClass => {
            use StorageClass as S;
            StorageClass::from_u32(value).is_some_and(|class| {
                matches!(
                    class,
                    S::UniformConstant
                        | S::Input
                        | S::Uniform
                        | S::Output
                        | S::Workgroup
                        | S::CrossWorkgroup
                        | S::Private
                        | S::Function
                        | S::Generic
                        | S::PushConstant
                        | S::AtomicCounter
                        | S::Image
                        | S::StorageBuffer
                        | S::PhysicalStorageBuffer
                )
            })
        }
        K::ExecutionMode => {
            use ExecutionMode as M;
            ExecutionMode::from_u32(value).is_some_and(|mode| {
                matches!(
                    mode,
                    M::LocalSize
                        | M::LocalSizeId
                        | M::DenormPreserve
                        | M::DenormFlushToZero
                        | M::SignedZeroInfNanPreserve
                        | M::RoundingModeRTE
                        | M::RoundingModeRTZ
                )
            })
        }
        K::Decoration => {
            use Decoration as D;
            Decoration::from_u32(value).is_some_and(|decoration| {
                matches!(
                    decoration,
                    D::RelaxedPrecision
                        | D::SpecId
                        | D::Block
                        | D::BufferBlock
                        | D::RowMajor
                        | D::ColMajor
                        | D::ArrayStride
                        | D::MatrixStride
                        | D::GLSLShared
                        | D::GLSLPacked
                        | D::BuiltIn
                        | D::Restrict
                        | D::Aliased
                        | D::Volatile
                        | D::Coherent
                        | D::NonWritable
                        | D::NonReadable
                        | D::Offset
                        | D::Binding
                        | D::DescriptorSet
                        | D::NoContraction
                        | D::NoSignedWrap
                        | D::NoUnsignedWrap
                        | D::NonUniform
                        | D::RestrictPointer
                        | D::AliasedPointer
                        | D::UserTypeGOOGLE
                        | D::UserSemantic
                        | D::CounterBuffer
                )
            })
        }
        K::BuiltIn => {
            use BuiltIn as B;
            BuiltIn::from_u32(value).is_some_and(|builtin| {
                matches!(
                    builtin,
                    B::NumWorkgroups
                        | B::WorkgroupSize
                        | B::WorkgroupId
                        | B::LocalInvocationId
                        | B::GlobalInvocationId
                        | B::LocalInvocationIndex
                        | B::SubgroupSize
                        | B::NumSubgroups
                        | B::SubgroupId
                        | B::SubgroupLocalInvocationId
                        | B::SubgroupEqMask
                        | B::SubgroupGeMask
                        | B::SubgroupGtMask
                        | B::SubgroupLeMask
                        | B::SubgroupLtMask
                )
            })
        }
        K::Dim => value != 6 && value <= 5,
        K::ImageOperands => value <= 0x4000,
        K::MemoryAccess => value <= 0x20,
        K::LoopControl => value <= 0x100,
        K::FunctionControl => value <= 8,
        K::FPFastMathMode => value <= 0x10,
        K::GroupOperation => value <= 8,
        K::MemoryModel => true,
        K::CooperativeMatrixOperands => true,
        K::SelectionControl | K::SourceLanguage | K::MemorySemantics => true,
        K::ImageFormat | K::PackedVectorFormat | K::FPRoundingMode | K::CooperativeMatrixLayout => {
            true
        }
        _ => false,
    }
}

/// The opcodes whose rules are checked.
#[rustfmt::skip]
pub(super) const OPCODES: &[Op] = {
    use Op as O;
    &[
        // Debug, annotation, extension, mode setting
        O::Nop, O::Undef, O::SourceContinued, O::Source, O::SourceExtension, O::Name,
        O::MemberName, O::String, O::Line, O::NoLine, O::ModuleProcessed, O::Extension,
        O::ExtInstImport, O::ExtInst, O::MemoryModel, O::EntryPoint, O::ExecutionMode,
        O::ExecutionModeId, O::Capability, O::Decorate, O::MemberDecorate, O::DecorateId,
        O::DecorateString, O::MemberDecorateString,
        // Types and constants
        O::TypeVoid, O::TypeBool, O::TypeInt, O::TypeFloat, O::TypeVector, O::TypeMatrix,
        O::TypeImage, O::TypeSampler, O::TypeSampledImage, O::TypeArray, O::TypeRuntimeArray,
        O::TypeStruct, O::TypePointer, O::TypeFunction, O::TypeForwardPointer,
        O::TypeCooperativeMatrixKHR,
        O::ConstantTrue, O::ConstantFalse, O::Constant, O::ConstantComposite, O::ConstantNull,
        O::SpecConstantTrue, O::SpecConstantFalse, O::SpecConstant, O::SpecConstantComposite,
        O::SpecConstantOp,
        // Functions and memory
        O::Function, O::FunctionParameter, O::FunctionEnd, O::FunctionCall,
        O::Variable, O::Load, O::Store, O::CopyMemory, O::AccessChain, O::InBoundsAccessChain,
        O::PtrAccessChain, O::InBoundsPtrAccessChain, O::ArrayLength, O::ImageTexelPointer,
        O::PtrEqual, O::PtrNotEqual, O::PtrDiff,
        // Composites
        O::VectorExtractDynamic, O::VectorInsertDynamic, O::VectorShuffle, O::CompositeConstruct,
        O::CompositeExtract, O::CompositeInsert, O::CopyObject, O::CopyLogical, O::Transpose,
        // Images
        O::SampledImage, O::ImageSampleImplicitLod, O::ImageSampleExplicitLod,
        O::ImageSampleDrefImplicitLod, O::ImageSampleDrefExplicitLod,
        O::ImageFetch, O::ImageGather, O::ImageDrefGather, O::ImageRead, O::ImageWrite,
        O::Image, O::ImageQuerySizeLod, O::ImageQuerySize, O::ImageQueryLevels,
        O::ImageQuerySamples, O::ImageQueryLod,
        // Conversion
        O::ConvertFToU, O::ConvertFToS, O::ConvertSToF, O::ConvertUToF, O::UConvert,
        O::SConvert, O::FConvert, O::QuantizeToF16, O::ConvertPtrToU, O::ConvertUToPtr,
        O::Bitcast,
        // Arithmetic
        O::SNegate, O::FNegate, O::IAdd, O::FAdd, O::ISub, O::FSub, O::IMul, O::FMul,
        O::UDiv, O::SDiv, O::FDiv, O::UMod, O::SRem, O::SMod, O::FRem, O::FMod,
        O::VectorTimesScalar, O::MatrixTimesScalar, O::VectorTimesMatrix, O::MatrixTimesVector,
        O::MatrixTimesMatrix, O::OuterProduct, O::Dot, O::IAddCarry, O::ISubBorrow,
        O::UMulExtended, O::SMulExtended,
        O::SDot, O::UDot, O::SUDot, O::SDotAccSat, O::UDotAccSat, O::SUDotAccSat,
        // Bits
        O::ShiftRightLogical, O::ShiftRightArithmetic, O::ShiftLeftLogical, O::BitwiseOr,
        O::BitwiseXor, O::BitwiseAnd, O::Not, O::BitFieldInsert, O::BitFieldSExtract,
        O::BitFieldUExtract, O::BitReverse, O::BitCount,
        // Logic
        O::Any, O::All, O::IsNan, O::IsInf, O::LogicalEqual, O::LogicalNotEqual,
        O::LogicalOr, O::LogicalAnd, O::LogicalNot, O::Select, O::IEqual, O::INotEqual,
        O::UGreaterThan, O::SGreaterThan, O::UGreaterThanEqual, O::SGreaterThanEqual,
        O::ULessThan, O::SLessThan, O::ULessThanEqual, O::SLessThanEqual,
        O::FOrdEqual, O::FUnordEqual, O::FOrdNotEqual, O::FUnordNotEqual, O::FOrdLessThan,
        O::FUnordLessThan, O::FOrdGreaterThan, O::FUnordGreaterThan, O::FOrdLessThanEqual,
        O::FUnordLessThanEqual, O::FOrdGreaterThanEqual, O::FUnordGreaterThanEqual,
        // Control flow
        O::Phi, O::LoopMerge, O::SelectionMerge, O::Label, O::Branch, O::BranchConditional,
        O::Switch, O::Return, O::ReturnValue, O::Unreachable,
        // Atomics and barriers
        O::AtomicLoad, O::AtomicStore, O::AtomicExchange, O::AtomicCompareExchange,
        O::AtomicIIncrement, O::AtomicIDecrement, O::AtomicIAdd, O::AtomicISub, O::AtomicSMin,
        O::AtomicUMin, O::AtomicSMax, O::AtomicUMax, O::AtomicAnd, O::AtomicOr, O::AtomicXor,
        O::AtomicFAddEXT, O::AtomicFMinEXT, O::AtomicFMaxEXT,
        O::ControlBarrier, O::MemoryBarrier,
        // Groups
        O::GroupNonUniformElect, O::GroupNonUniformAll, O::GroupNonUniformAny,
        O::GroupNonUniformAllEqual, O::GroupNonUniformBroadcast, O::GroupNonUniformBroadcastFirst,
        O::GroupNonUniformBallot, O::GroupNonUniformInverseBallot,
        O::GroupNonUniformBallotBitExtract, O::GroupNonUniformBallotBitCount,
        O::GroupNonUniformBallotFindLSB, O::GroupNonUniformBallotFindMSB,
        O::GroupNonUniformShuffle, O::GroupNonUniformShuffleXor, O::GroupNonUniformShuffleUp,
        O::GroupNonUniformShuffleDown, O::GroupNonUniformIAdd, O::GroupNonUniformFAdd,
        O::GroupNonUniformIMul, O::GroupNonUniformFMul, O::GroupNonUniformSMin,
        O::GroupNonUniformUMin, O::GroupNonUniformFMin, O::GroupNonUniformSMax,
        O::GroupNonUniformUMax, O::GroupNonUniformFMax, O::GroupNonUniformBitwiseAnd,
        O::GroupNonUniformBitwiseOr, O::GroupNonUniformBitwiseXor, O::GroupNonUniformLogicalAnd,
        O::GroupNonUniformLogicalOr, O::GroupNonUniformLogicalXor,
        O::GroupNonUniformQuadBroadcast, O::GroupNonUniformQuadSwap, O::GroupNonUniformRotateKHR,
        // Others
        O::ReadClockKHR, O::ExpectKHR, O::AssumeTrueKHR,
        O::CooperativeMatrixLoadKHR, O::CooperativeMatrixStoreKHR, O::CooperativeMatrixMulAddKHR,
        O::CooperativeMatrixLengthKHR,
    ]
};

/// Whether the environment allows a capability without an extension, as a minor version of
/// Vulkan 1 from which on it does.
#[rustfmt::skip]
pub(super) fn vulkan_capability(value: u32) -> Option<u8> {
    use Capability as C;
    Some(match C::from_u32(value)? {
        C::Matrix | C::Shader | C::InputAttachment | C::Sampled1D | C::Image1D | C::SampledBuffer
        | C::ImageBuffer | C::ImageQuery | C::DerivativeControl | C::Geometry | C::Tessellation
        | C::Float64 | C::Int64 | C::Int16 | C::TessellationPointSize | C::GeometryPointSize
        | C::ImageGatherExtended | C::StorageImageMultisample | C::UniformBufferArrayDynamicIndexing
        | C::SampledImageArrayDynamicIndexing | C::StorageBufferArrayDynamicIndexing
        | C::StorageImageArrayDynamicIndexing | C::ClipDistance | C::CullDistance | C::ImageCubeArray
        | C::SampleRateShading | C::SparseResidency | C::MinLod | C::SampledCubeArray | C::ImageMSArray
        | C::StorageImageExtendedFormats | C::InterpolationFunction | C::StorageImageReadWithoutFormat
        | C::StorageImageWriteWithoutFormat | C::MultiViewport | C::Int64Atomics | C::TransformFeedback
        | C::GeometryStreams | C::Float16 | C::Int8 | C::BFloat16TypeKHR | C::Float8EXT => 0,
        C::DeviceGroup | C::MultiView | C::GroupNonUniform | C::GroupNonUniformVote
        | C::GroupNonUniformArithmetic | C::GroupNonUniformBallot | C::GroupNonUniformShuffle
        | C::GroupNonUniformShuffleRelative | C::GroupNonUniformClustered | C::GroupNonUniformQuad
        | C::DrawParameters | C::StorageBuffer16BitAccess | C::UniformAndStorageBuffer16BitAccess
        | C::StoragePushConstant16 | C::StorageInputOutput16 | C::VariablePointersStorageBuffer
        | C::VariablePointers => 1,
        C::ShaderNonUniform | C::DenormPreserve | C::DenormFlushToZero | C::SignedZeroInfNanPreserve
        | C::RoundingModeRTE | C::RoundingModeRTZ | C::VulkanMemoryModel
        | C::VulkanMemoryModelDeviceScope | C::StorageBuffer8BitAccess
        | C::UniformAndStorageBuffer8BitAccess | C::StoragePushConstant8 | C::ShaderViewportIndex
        | C::ShaderLayer | C::PhysicalStorageBufferAddresses | C::RuntimeDescriptorArray
        | C::UniformTexelBufferArrayDynamicIndexing | C::StorageTexelBufferArrayDynamicIndexing
        | C::UniformBufferArrayNonUniformIndexing | C::SampledImageArrayNonUniformIndexing
        | C::StorageBufferArrayNonUniformIndexing | C::StorageImageArrayNonUniformIndexing
        | C::InputAttachmentArrayNonUniformIndexing | C::UniformTexelBufferArrayNonUniformIndexing
        | C::StorageTexelBufferArrayNonUniformIndexing => 2,
        C::DotProduct | C::DotProductInputAll | C::DotProductInput4x8Bit
        | C::DotProductInput4x8BitPacked | C::DemoteToHelperInvocation => 3,
        _ => return None,
    })
}
