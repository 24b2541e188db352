//! What a device is and has, as plain data.
#![forbid(unsafe_code)]

use std::ffi::CStr;

use ash::vk;

/// What the process's device is.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Its name, for example `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// The driver's name, for example `llvmpipe`.
    pub driver: String,
    /// The driver's own words on its version.
    pub driver_info: String,
    /// The Vulkan version it speaks: major, minor, patch.
    pub api_version: (u32, u32, u32),
    /// Whether it computes on the CPU.
    pub software: bool,
    /// Subgroups.
    pub subgroups: Subgroups,
    /// What it promises of floats.
    pub float_controls: FloatControls,
    /// Its limits.
    pub limits: Limits,
    /// The features it has, all of which are enabled.
    pub features: Features,
}

impl DeviceInfo {
    /// Whether it is Mesa's lavapipe.
    pub fn is_lavapipe(&self) -> bool {
        self.name.contains("llvmpipe")
    }
}

/// A device's subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // `supported_operations` by the bits' own names
pub struct Subgroups {
    /// The usual size.
    pub size: u32,
    /// The smallest size that may be required.
    pub min_size: u32,
    /// The largest size that may be required.
    pub max_size: u32,
    /// Whether a compute shader may have any subgroup operations at all.
    pub in_compute: bool,
    /// Whether a compute pipeline may require a size.
    pub size_may_be_required: bool,
    pub basic: bool,
    pub vote: bool,
    pub arithmetic: bool,
    pub ballot: bool,
    pub shuffle: bool,
    pub shuffle_relative: bool,
    pub clustered: bool,
    pub quad: bool,
}

/// A property of each float width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Widths {
    /// For 16-bit floats.
    pub f16: bool,
    /// For 32-bit floats.
    pub f32: bool,
    /// For 64-bit floats.
    pub f64: bool,
}

/// Which widths a property may be set for alone
/// (`VkShaderFloatControlsIndependence`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Independence {
    /// Only 32-bit floats may differ from the others.
    Only32,
    /// Each width may differ.
    All,
    /// All widths must agree.
    None,
}

/// `VkPhysicalDeviceFloatControlsProperties`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatControls {
    /// `DenormBehaviorIndependence`.
    pub denorm_independence: Independence,
    /// `RoundingModeIndependence`.
    pub rounding_independence: Independence,
    /// `SignedZeroInfNanPreserve`.
    pub signed_zero_inf_nan_preserve: Widths,
    /// `DenormPreserve`.
    pub denorm_preserve: Widths,
    /// `DenormFlushToZero`.
    pub denorm_flush_to_zero: Widths,
    /// `RoundingModeRTE`.
    pub rounding_mode_rte: Widths,
    /// `RoundingModeRTZ`.
    pub rounding_mode_rtz: Widths,
}

/// Limits, named as `VkPhysicalDeviceLimits` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of push constants.
    pub max_push_constants_size: u32,
    /// Bytes of shared memory a workgroup.
    pub max_compute_shared_memory_size: u32,
    /// Invocations a workgroup.
    pub max_compute_work_group_invocations: u32,
    /// The largest workgroup by axis.
    pub max_compute_work_group_size: [u32; 3],
    /// The most workgroups by axis.
    pub max_compute_work_group_count: [u32; 3],
    /// Bytes of a storage buffer that one descriptor may cover.
    pub max_storage_buffer_range: u32,
    /// Bytes of a uniform buffer that one descriptor may cover.
    pub max_uniform_buffer_range: u32,
    /// Descriptor sets bound at once.
    pub max_bound_descriptor_sets: u32,
    /// Storage buffers that one stage may use.
    pub max_per_stage_descriptor_storage_buffers: u32,
}

/// The structures that features are read from and enabled with.
#[derive(Default)]
pub(super) struct RawFeatures {
    pub(super) core: vk::PhysicalDeviceFeatures,
    pub(super) v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub(super) v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub(super) v13: vk::PhysicalDeviceVulkan13Features<'static>,
    pub(super) atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    pub(super) atomic_float2: vk::PhysicalDeviceShaderAtomicFloat2FeaturesEXT<'static>,
}

macro_rules! features {
    ($($part:ident: $($field:ident)*;)*) => {
        /// The features that bear on compute shaders, named as Vulkan names them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Features {
            $($(
                #[doc = concat!("Vulkan's feature `", stringify!($field), "`.")]
                pub $field: bool,
            )*)*
        }

        impl Features {
            pub(super) fn read(raw: &RawFeatures) -> Self {
                Self { $($($field: raw.$part.$field != 0,)*)* }
            }

            /// Every feature with its name, in the order of the fields.
            pub fn all(&self) -> impl Iterator<Item = (&'static str, bool)> + use<> {
                [$($((stringify!($field), self.$field),)*)*].into_iter()
            }
        }
    };
}

features! {
    core: shader_int64 shader_int16 shader_float64
        shader_storage_buffer_array_dynamic_indexing;
    v11: storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access
        storage_push_constant16 variable_pointers_storage_buffer variable_pointers;
    v12: storage_buffer8_bit_access uniform_and_storage_buffer8_bit_access
        storage_push_constant8 shader_buffer_int64_atomics shader_shared_int64_atomics
        shader_float16 shader_int8 scalar_block_layout uniform_buffer_standard_layout
        shader_subgroup_extended_types vulkan_memory_model vulkan_memory_model_device_scope
        vulkan_memory_model_availability_visibility_chains subgroup_broadcast_dynamic_id;
    v13: subgroup_size_control compute_full_subgroups
        shader_zero_initialize_workgroup_memory shader_integer_dot_product maintenance4;
    atomic_float: shader_buffer_float32_atomics shader_buffer_float32_atomic_add
        shader_buffer_float64_atomics shader_buffer_float64_atomic_add
        shader_shared_float32_atomics shader_shared_float32_atomic_add
        shader_shared_float64_atomics shader_shared_float64_atomic_add;
    atomic_float2: shader_buffer_float16_atomics shader_buffer_float16_atomic_add
        shader_buffer_float16_atomic_min_max shader_buffer_float32_atomic_min_max
        shader_buffer_float64_atomic_min_max shader_shared_float16_atomics
        shader_shared_float16_atomic_add shader_shared_float16_atomic_min_max
        shader_shared_float32_atomic_min_max shader_shared_float64_atomic_min_max;
}

impl Features {
    /// A feature by Vulkan's name in snake case or as the specification spells it
    /// (`shader_int64`, `shaderInt64`); `None` where no field has that name.
    pub fn get(&self, name: &str) -> Option<bool> {
        let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
        let wanted = plain(name);
        self.all()
            .find(|(field, _)| plain(field) == wanted)
            .map(|(_, has)| has)
    }
}

fn independence(value: vk::ShaderFloatControlsIndependence) -> Independence {
    match value {
        vk::ShaderFloatControlsIndependence::TYPE_32_ONLY => Independence::Only32,
        vk::ShaderFloatControlsIndependence::ALL => Independence::All,
        _ => Independence::None,
    }
}

fn widths(f16: vk::Bool32, f32: vk::Bool32, f64: vk::Bool32) -> Widths {
    Widths {
        f16: f16 != 0,
        f32: f32 != 0,
        f64: f64 != 0,
    }
}

fn text(bytes: &[std::ffi::c_char]) -> String {
    let bytes: &[u8] = bytemuck::cast_slice(bytes);
    CStr::from_bytes_until_nul(bytes)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
}

pub(super) fn name(core: &vk::PhysicalDeviceProperties) -> String {
    text(&core.device_name)
}

pub(super) fn version(raw: u32) -> (u32, u32, u32) {
    (
        vk::api_version_major(raw),
        vk::api_version_minor(raw),
        vk::api_version_patch(raw),
    )
}

pub(super) fn device_info(
    core: &vk::PhysicalDeviceProperties,
    v11: &vk::PhysicalDeviceVulkan11Properties<'_>,
    v12: &vk::PhysicalDeviceVulkan12Properties<'_>,
    v13: &vk::PhysicalDeviceVulkan13Properties<'_>,
    features: Features,
) -> DeviceInfo {
    use vk::SubgroupFeatureFlags as Op;
    let op = |flag| v11.subgroup_supported_operations.contains(flag);
    let compute = vk::ShaderStageFlags::COMPUTE;
    let limits = &core.limits;
    DeviceInfo {
        name: name(core),
        driver: text(&v12.driver_name),
        driver_info: text(&v12.driver_info),
        api_version: version(core.api_version),
        software: core.device_type == vk::PhysicalDeviceType::CPU,
        subgroups: Subgroups {
            size: v11.subgroup_size,
            min_size: v13.min_subgroup_size,
            max_size: v13.max_subgroup_size,
            in_compute: v11.subgroup_supported_stages.contains(compute),
            size_may_be_required: v13.required_subgroup_size_stages.contains(compute),
            basic: op(Op::BASIC),
            vote: op(Op::VOTE),
            arithmetic: op(Op::ARITHMETIC),
            ballot: op(Op::BALLOT),
            shuffle: op(Op::SHUFFLE),
            shuffle_relative: op(Op::SHUFFLE_RELATIVE),
            clustered: op(Op::CLUSTERED),
            quad: op(Op::QUAD),
        },
        float_controls: FloatControls {
            denorm_independence: independence(v12.denorm_behavior_independence),
            rounding_independence: independence(v12.rounding_mode_independence),
            signed_zero_inf_nan_preserve: widths(
                v12.shader_signed_zero_inf_nan_preserve_float16,
                v12.shader_signed_zero_inf_nan_preserve_float32,
                v12.shader_signed_zero_inf_nan_preserve_float64,
            ),
            denorm_preserve: widths(
                v12.shader_denorm_preserve_float16,
                v12.shader_denorm_preserve_float32,
                v12.shader_denorm_preserve_float64,
            ),
            denorm_flush_to_zero: widths(
                v12.shader_denorm_flush_to_zero_float16,
                v12.shader_denorm_flush_to_zero_float32,
                v12.shader_denorm_flush_to_zero_float64,
            ),
            rounding_mode_rte: widths(
                v12.shader_rounding_mode_rte_float16,
                v12.shader_rounding_mode_rte_float32,
                v12.shader_rounding_mode_rte_float64,
            ),
            rounding_mode_rtz: widths(
                v12.shader_rounding_mode_rtz_float16,
                v12.shader_rounding_mode_rtz_float32,
                v12.shader_rounding_mode_rtz_float64,
            ),
        },
        limits: Limits {
            max_push_constants_size: limits.max_push_constants_size,
            max_compute_shared_memory_size: limits.max_compute_shared_memory_size,
            max_compute_work_group_invocations: limits.max_compute_work_group_invocations,
            max_compute_work_group_size: limits.max_compute_work_group_size,
            max_compute_work_group_count: limits.max_compute_work_group_count,
            max_storage_buffer_range: limits.max_storage_buffer_range,
            max_uniform_buffer_range: limits.max_uniform_buffer_range,
            max_bound_descriptor_sets: limits.max_bound_descriptor_sets,
            max_per_stage_descriptor_storage_buffers: limits
                .max_per_stage_descriptor_storage_buffers,
        },
        features,
    }
}
