//! The open sets of numbers that parts use. Each is a newtype: a number that is not known is kept
//! and printed as a number, so that newer containers still read and write back unchanged.
#![forbid(unsafe_code)]

use core::fmt;

macro_rules! kinds {
    ($(
        $(#[$doc:meta])*
        $name:ident($int:ty) { $($const:ident = $value:literal, $text:literal;)* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
        pub struct $name(pub $int);

        impl $name {
            $(#[doc = concat!("`", $text, "`.")] pub const $const: $name = $name($value);)*

            /// Every known value, in order.
            pub const KNOWN: &'static [$name] = &[$(Self::$const),*];

            /// The name in DXC's headers, or `None` if the number is not known.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($text),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => write!(f, "{:#x}", self.0),
                }
            }
        }
    )*};
}

kinds! {
    /// DXIL shader kinds (`DxilConstants.h`, `ShaderKind`): the program's kind and `PSV0`'s stage.
    ShaderKind(u16) {
        PIXEL = 0, "Pixel";
        VERTEX = 1, "Vertex";
        GEOMETRY = 2, "Geometry";
        HULL = 3, "Hull";
        DOMAIN = 4, "Domain";
        COMPUTE = 5, "Compute";
        LIBRARY = 6, "Library";
        RAY_GENERATION = 7, "RayGeneration";
        INTERSECTION = 8, "Intersection";
        ANY_HIT = 9, "AnyHit";
        CLOSEST_HIT = 10, "ClosestHit";
        MISS = 11, "Miss";
        CALLABLE = 12, "Callable";
        MESH = 13, "Mesh";
        AMPLIFICATION = 14, "Amplification";
        NODE = 15, "Node";
        INVALID = 16, "Invalid";
    }

    /// System values of signature elements (`DxilProgramSigSemantic`).
    SystemValue(u32) {
        UNDEFINED = 0, "Undefined";
        POSITION = 1, "Position";
        CLIP_DISTANCE = 2, "ClipDistance";
        CULL_DISTANCE = 3, "CullDistance";
        RENDER_TARGET_ARRAY_INDEX = 4, "RenderTargetArrayIndex";
        VIEWPORT_ARRAY_INDEX = 5, "ViewPortArrayIndex";
        VERTEX_ID = 6, "VertexID";
        PRIMITIVE_ID = 7, "PrimitiveID";
        INSTANCE_ID = 8, "InstanceID";
        IS_FRONT_FACE = 9, "IsFrontFace";
        SAMPLE_INDEX = 10, "SampleIndex";
        FINAL_QUAD_EDGE_TESSFACTOR = 11, "FinalQuadEdgeTessfactor";
        FINAL_QUAD_INSIDE_TESSFACTOR = 12, "FinalQuadInsideTessfactor";
        FINAL_TRI_EDGE_TESSFACTOR = 13, "FinalTriEdgeTessfactor";
        FINAL_TRI_INSIDE_TESSFACTOR = 14, "FinalTriInsideTessfactor";
        FINAL_LINE_DETAIL_TESSFACTOR = 15, "FinalLineDetailTessfactor";
        FINAL_LINE_DENSITY_TESSFACTOR = 16, "FinalLineDensityTessfactor";
        BARYCENTRICS = 23, "Barycentrics";
        SHADING_RATE = 24, "ShadingRate";
        CULL_PRIMITIVE = 25, "CullPrimitive";
        TARGET = 64, "Target";
        DEPTH = 65, "Depth";
        COVERAGE = 66, "Coverage";
        DEPTH_GE = 67, "DepthGE";
        DEPTH_LE = 68, "DepthLE";
        STENCIL_REF = 69, "StencilRef";
        INNER_COVERAGE = 70, "InnerCoverage";
    }

    /// Component types of signature elements (`DxilProgramSigCompType`).
    ComponentType(u32) {
        UNKNOWN = 0, "Unknown";
        UINT32 = 1, "UInt32";
        SINT32 = 2, "SInt32";
        FLOAT32 = 3, "Float32";
        UINT16 = 4, "UInt16";
        SINT16 = 5, "SInt16";
        FLOAT16 = 6, "Float16";
        UINT64 = 7, "UInt64";
        SINT64 = 8, "SInt64";
        FLOAT64 = 9, "Float64";
    }

    /// Minimum precision of signature elements (`DxilProgramSigMinPrecision`).
    MinPrecision(u32) {
        DEFAULT = 0, "Default";
        FLOAT16 = 1, "Float16";
        FLOAT2_8 = 2, "Float2_8";
        RESERVED = 3, "Reserved";
        SINT16 = 4, "SInt16";
        UINT16 = 5, "UInt16";
        ANY16 = 0xf0, "Any16";
        ANY10 = 0xf1, "Any10";
    }

    /// Semantic kinds of `PSV0` elements (`PSVSemanticKind`).
    SemanticKind(u8) {
        ARBITRARY = 0, "Arbitrary";
        VERTEX_ID = 1, "VertexID";
        INSTANCE_ID = 2, "InstanceID";
        POSITION = 3, "Position";
        RENDER_TARGET_ARRAY_INDEX = 4, "RenderTargetArrayIndex";
        VIEWPORT_ARRAY_INDEX = 5, "ViewPortArrayIndex";
        CLIP_DISTANCE = 6, "ClipDistance";
        CULL_DISTANCE = 7, "CullDistance";
        OUTPUT_CONTROL_POINT_ID = 8, "OutputControlPointID";
        DOMAIN_LOCATION = 9, "DomainLocation";
        PRIMITIVE_ID = 10, "PrimitiveID";
        GS_INSTANCE_ID = 11, "GSInstanceID";
        SAMPLE_INDEX = 12, "SampleIndex";
        IS_FRONT_FACE = 13, "IsFrontFace";
        COVERAGE = 14, "Coverage";
        INNER_COVERAGE = 15, "InnerCoverage";
        TARGET = 16, "Target";
        DEPTH = 17, "Depth";
        DEPTH_LESS_EQUAL = 18, "DepthLessEqual";
        DEPTH_GREATER_EQUAL = 19, "DepthGreaterEqual";
        STENCIL_REF = 20, "StencilRef";
        DISPATCH_THREAD_ID = 21, "DispatchThreadID";
        GROUP_ID = 22, "GroupID";
        GROUP_INDEX = 23, "GroupIndex";
        GROUP_THREAD_ID = 24, "GroupThreadID";
        TESS_FACTOR = 25, "TessFactor";
        INSIDE_TESS_FACTOR = 26, "InsideTessFactor";
        VIEW_ID = 27, "ViewID";
        BARYCENTRICS = 28, "Barycentrics";
        SHADING_RATE = 29, "ShadingRate";
        CULL_PRIMITIVE = 30, "CullPrimitive";
        START_VERTEX_LOCATION = 31, "StartVertexLocation";
        START_INSTANCE_LOCATION = 32, "StartInstanceLocation";
    }

    /// Interpolation modes of `PSV0` elements.
    InterpolationMode(u8) {
        UNDEFINED = 0, "Undefined";
        CONSTANT = 1, "Constant";
        LINEAR = 2, "Linear";
        LINEAR_CENTROID = 3, "LinearCentroid";
        LINEAR_NOPERSPECTIVE = 4, "LinearNoperspective";
        LINEAR_NOPERSPECTIVE_CENTROID = 5, "LinearNoperspectiveCentroid";
        LINEAR_SAMPLE = 6, "LinearSample";
        LINEAR_NOPERSPECTIVE_SAMPLE = 7, "LinearNoperspectiveSample";
    }

    /// Resource types of `PSV0` (`PSVResourceType`).
    ResourceType(u32) {
        INVALID = 0, "Invalid";
        SAMPLER = 1, "Sampler";
        CBV = 2, "CBV";
        SRV_TYPED = 3, "SRVTyped";
        SRV_RAW = 4, "SRVRaw";
        SRV_STRUCTURED = 5, "SRVStructured";
        UAV_TYPED = 6, "UAVTyped";
        UAV_RAW = 7, "UAVRaw";
        UAV_STRUCTURED = 8, "UAVStructured";
        UAV_STRUCTURED_WITH_COUNTER = 9, "UAVStructuredWithCounter";
    }

    /// Resource kinds (`DXIL::ResourceKind`).
    ResourceKind(u32) {
        INVALID = 0, "Invalid";
        TEXTURE1D = 1, "Texture1D";
        TEXTURE2D = 2, "Texture2D";
        TEXTURE2DMS = 3, "Texture2DMS";
        TEXTURE3D = 4, "Texture3D";
        TEXTURE_CUBE = 5, "TextureCube";
        TEXTURE1D_ARRAY = 6, "Texture1DArray";
        TEXTURE2D_ARRAY = 7, "Texture2DArray";
        TEXTURE2DMS_ARRAY = 8, "Texture2DMSArray";
        TEXTURE_CUBE_ARRAY = 9, "TextureCubeArray";
        TYPED_BUFFER = 10, "TypedBuffer";
        RAW_BUFFER = 11, "RawBuffer";
        STRUCTURED_BUFFER = 12, "StructuredBuffer";
        CBUFFER = 13, "CBuffer";
        SAMPLER = 14, "Sampler";
        TBUFFER = 15, "TBuffer";
        RT_ACCELERATION_STRUCTURE = 16, "RTAccelerationStructure";
        FEEDBACK_TEXTURE2D = 17, "FeedbackTexture2D";
        FEEDBACK_TEXTURE2D_ARRAY = 18, "FeedbackTexture2DArray";
    }

    /// Resource classes of `RDAT` (`DXIL::ResourceClass`).
    ResourceClass(u32) {
        SRV = 0, "SRV";
        UAV = 1, "UAV";
        CBUFFER = 2, "CBuffer";
        SAMPLER = 3, "Sampler";
        INVALID = 4, "Invalid";
    }

    /// Part types of `RDAT` (`RuntimeDataPartType`), the released ones.
    RdatKind(u32) {
        INVALID = 0, "Invalid";
        STRING_BUFFER = 1, "StringBuffer";
        INDEX_ARRAYS = 2, "IndexArrays";
        RESOURCE_TABLE = 3, "ResourceTable";
        FUNCTION_TABLE = 4, "FunctionTable";
        RAW_BYTES = 5, "RawBytes";
        SUBOBJECT_TABLE = 6, "SubobjectTable";
        NODE_ID_TABLE = 7, "NodeIDTable";
        NODE_SHADER_IO_ATTRIB_TABLE = 8, "NodeShaderIOAttribTable";
        NODE_SHADER_FUNC_ATTRIB_TABLE = 9, "NodeShaderFuncAttribTable";
        IO_NODE_TABLE = 10, "IONodeTable";
        NODE_SHADER_INFO_TABLE = 11, "NodeShaderInfoTable";
        DXIL_PDB_INFO_TABLE = 0x1_0001, "DxilPdbInfoTable";
        DXIL_PDB_INFO_SOURCE_TABLE = 0x10002, "DxilPdbInfoSourceTable";
        DXIL_PDB_INFO_LIBRARY_TABLE = 0x10003, "DxilPdbInfoLibraryTable";
    }

    /// State subobject kinds of `RDAT` (`DXIL::SubobjectKind`).
    SubobjectKind(u32) {
        STATE_OBJECT_CONFIG = 0, "StateObjectConfig";
        GLOBAL_ROOT_SIGNATURE = 1, "GlobalRootSignature";
        LOCAL_ROOT_SIGNATURE = 2, "LocalRootSignature";
        SUBOBJECT_TO_EXPORTS_ASSOCIATION = 8, "SubobjectToExportsAssociation";
        RAYTRACING_SHADER_CONFIG = 9, "RaytracingShaderConfig";
        RAYTRACING_PIPELINE_CONFIG = 10, "RaytracingPipelineConfig";
        HIT_GROUP = 11, "HitGroup";
        RAYTRACING_PIPELINE_CONFIG1 = 12, "RaytracingPipelineConfig1";
    }

    /// Which stages see a root parameter or static sampler (`D3D12_SHADER_VISIBILITY`).
    ShaderVisibility(u32) {
        ALL = 0, "All";
        VERTEX = 1, "Vertex";
        HULL = 2, "Hull";
        DOMAIN = 3, "Domain";
        GEOMETRY = 4, "Geometry";
        PIXEL = 5, "Pixel";
        AMPLIFICATION = 6, "Amplification";
        MESH = 7, "Mesh";
    }

    /// Descriptor range types (`D3D12_DESCRIPTOR_RANGE_TYPE`).
    RangeType(u32) {
        SRV = 0, "SRV";
        UAV = 1, "UAV";
        CBV = 2, "CBV";
        SAMPLER = 3, "Sampler";
    }

    /// Section types of `SRCI` (`DxilSourceInfoSectionType`).
    SourceSectionKind(u16) {
        SOURCE_CONTENTS = 0, "SourceContents";
        SOURCE_NAMES = 1, "SourceNames";
        ARGS = 2, "Args";
    }

    /// How source data is packed in `SRCI` and `PDBI`.
    Compression(u16) {
        NONE = 0, "None";
        ZLIB = 1, "Zlib";
    }
}

impl ShaderKind {
    /// The profile's prefix: `cs`, `lib` and so on. The kinds of functions inside a library have
    /// none.
    #[must_use]
    pub const fn profile(self) -> Option<&'static str> {
        match self {
            Self::PIXEL => Some("ps"),
            Self::VERTEX => Some("vs"),
            Self::GEOMETRY => Some("gs"),
            Self::HULL => Some("hs"),
            Self::DOMAIN => Some("ds"),
            Self::COMPUTE => Some("cs"),
            Self::LIBRARY => Some("lib"),
            Self::MESH => Some("ms"),
            Self::AMPLIFICATION => Some("as"),
            _ => None,
        }
    }

    /// True for the kinds that have workgroups: compute, mesh, amplification.
    #[must_use]
    pub const fn has_threads(self) -> bool {
        matches!(self, Self::COMPUTE | Self::MESH | Self::AMPLIFICATION)
    }
}

impl ResourceType {
    /// The class, from which the register's letter follows: `t`, `u`, `b` or `s`. `None` for
    /// `Invalid` and unknown types.
    #[must_use]
    pub const fn class(self) -> Option<ResourceClass> {
        match self {
            Self::SAMPLER => Some(ResourceClass::SAMPLER),
            Self::CBV => Some(ResourceClass::CBUFFER),
            Self::SRV_TYPED | Self::SRV_RAW | Self::SRV_STRUCTURED => Some(ResourceClass::SRV),
            Self::UAV_TYPED
            | Self::UAV_RAW
            | Self::UAV_STRUCTURED
            | Self::UAV_STRUCTURED_WITH_COUNTER => Some(ResourceClass::UAV),
            _ => None,
        }
    }
}

impl ResourceClass {
    /// The letter of its registers.
    #[must_use]
    pub const fn register_letter(self) -> char {
        match self {
            Self::SRV => 't',
            Self::UAV => 'u',
            Self::CBUFFER => 'b',
            Self::SAMPLER => 's',
            _ => '?',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_numbers() {
        assert_eq!(ShaderKind::COMPUTE.0, 5);
        assert_eq!(ShaderKind::KNOWN.len(), 17);
        assert_eq!(SystemValue::TARGET.to_string(), "Target");
        assert_eq!(ResourceKind::FEEDBACK_TEXTURE2D_ARRAY.0, 18);
        assert_eq!(SemanticKind::START_INSTANCE_LOCATION.0, 32);
        assert_eq!(ShaderKind(0xffff).to_string(), "0xffff");
    }
}
