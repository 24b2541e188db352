//! `SFI0`: what the shader needs of the device (DXC `DxilShaderFeatureInfo`).
#![forbid(unsafe_code)]

use crate::dxbc::{FourCc, ReadError, WriteError, bytes::Cursor};
use core::fmt;
use std::borrow::Cow;

/// Feature bits (`DxilConstants.h`, `ShaderFeatureInfo_*` and `OptFeatureInfo_*`).
///
/// `Display` lists the names with `|` between, and what has no name as a number.
///
/// ```
/// use kernite::dxbc::part::FeatureFlags;
/// let f = FeatureFlags::WAVE_OPS | FeatureFlags::INT64_OPS;
/// assert_eq!(f.0, 0xc000);
/// assert_eq!(f.to_string(), "WaveOps|Int64Ops");
/// assert_eq!(FeatureFlags(1 << 50).to_string(), "0x4000000000000");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FeatureFlags(pub u64);

macro_rules! flags {
    ($($const:ident = $bit:literal, $name:literal;)*) => {
        impl FeatureFlags {
            $(#[doc = concat!("`", $name, "`, bit ", $bit, ".")]
            pub const $const: FeatureFlags = FeatureFlags(1 << $bit);)*

            const NAMES: &'static [(u64, &'static str)] = &[$((1 << $bit, $name)),*];
        }
    };
}

flags! {
    DOUBLES = 0, "Doubles";
    COMPUTE_SHADERS_PLUS_RAW_AND_STRUCTURED_BUFFERS_VIA_SHADER_4X = 1, "ComputeShadersPlusRawAndStructuredBuffersViaShader4X";
    UAVS_AT_EVERY_STAGE = 2, "UAVsAtEveryStage";
    UAVS_64 = 3, "64UAVs";
    MINIMUM_PRECISION = 4, "MinimumPrecision";
    DOUBLE_EXTENSIONS_11_1 = 5, "11_1_DoubleExtensions";
    SHADER_EXTENSIONS_11_1 = 6, "11_1_ShaderExtensions";
    LEVEL9_COMPARISON_FILTERING = 7, "LEVEL9ComparisonFiltering";
    TILED_RESOURCES = 8, "TiledResources";
    STENCIL_REF = 9, "StencilRef";
    INNER_COVERAGE = 10, "InnerCoverage";
    TYPED_UAV_LOAD_ADDITIONAL_FORMATS = 11, "TypedUAVLoadAdditionalFormats";
    ROVS = 12, "ROVs";
    VIEWPORT_AND_RT_ARRAY_INDEX_FROM_ANY_SHADER = 13, "ViewportAndRTArrayIndexFromAnyShaderFeedingRasterizer";
    WAVE_OPS = 14, "WaveOps";
    INT64_OPS = 15, "Int64Ops";
    VIEW_ID = 16, "ViewID";
    BARYCENTRICS = 17, "Barycentrics";
    NATIVE_LOW_PRECISION = 18, "NativeLowPrecision";
    SHADING_RATE = 19, "ShadingRate";
    RAYTRACING_TIER_1_1 = 20, "Raytracing_Tier_1_1";
    SAMPLER_FEEDBACK = 21, "SamplerFeedback";
    ATOMIC_INT64_ON_TYPED_RESOURCE = 22, "AtomicInt64OnTypedResource";
    ATOMIC_INT64_ON_GROUP_SHARED = 23, "AtomicInt64OnGroupShared";
    DERIVATIVES_IN_MESH_AND_AMP_SHADERS = 24, "DerivativesInMeshAndAmpShaders";
    RESOURCE_DESCRIPTOR_HEAP_INDEXING = 25, "ResourceDescriptorHeapIndexing";
    SAMPLER_DESCRIPTOR_HEAP_INDEXING = 26, "SamplerDescriptorHeapIndexing";
    RESERVED_27 = 27, "Reserved";
    ATOMIC_INT64_ON_HEAP_RESOURCE = 28, "AtomicInt64OnHeapResource";
    ADVANCED_TEXTURE_OPS = 29, "AdvancedTextureOps";
    WRITEABLE_MSAA_TEXTURES = 30, "WriteableMSAATextures";
    SAMPLE_CMP_GRADIENT_OR_BIAS = 31, "SampleCmpGradientOrBias";
    EXTENDED_COMMAND_INFO = 32, "ExtendedCommandInfo";
    USES_DERIVATIVES = 40, "UsesDerivatives";
    REQUIRES_GROUP = 41, "RequiresGroup";
}

impl core::ops::BitOr for FeatureFlags {
    type Output = Self;
    fn bitor(self, rhs: Self) -> Self {
        Self(self.0 | rhs.0)
    }
}

impl fmt::Display for FeatureFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.0;
        let mut first = true;
        for &(bit, name) in Self::NAMES {
            if left & bit != 0 {
                left &= !bit;
                if !core::mem::take(&mut first) {
                    f.write_str("|")?;
                }
                f.write_str(name)?;
            }
        }
        match (left, first) {
            (0, true) => f.write_str("none"),
            (0, false) => Ok(()),
            (left, true) => write!(f, "{left:#x}"),
            (left, false) => write!(f, "|{left:#x}"),
        }
    }
}

/// The `SFI0` part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Features<'a> {
    /// The flags.
    pub flags: FeatureFlags,
    /// Bytes after the eight that are known. DXC's validator wants none.
    pub trailing: Cow<'a, [u8]>,
}

impl<'a> Features<'a> {
    /// The part as DXC writes it.
    #[must_use]
    pub fn new(flags: FeatureFlags) -> Self {
        Self {
            flags,
            trailing: Cow::Borrowed(&[]),
        }
    }

    /// Decodes the part's data.
    ///
    /// # Errors
    /// Fewer than 8 bytes.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::SFI0, data);
        Ok(Self {
            flags: FeatureFlags(c.u64("FeatureFlags")?),
            trailing: c.rest().into(),
        })
    }

    /// Appends the part's data.
    ///
    /// # Errors
    /// None: the signature is that of all codecs.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        out.extend_from_slice(&self.flags.0.to_le_bytes());
        out.extend_from_slice(&self.trailing);
        Ok(())
    }
}
