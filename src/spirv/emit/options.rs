//! What the caller may choose.

use crate::kernel::Bounds;
use crate::limits::Limits;

/// The version of SPIR-V that is written. Vulkan 1.1 takes 1.3, Vulkan 1.2 up to 1.5, Vulkan 1.3 up to 1.6.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum Version {
    /// SPIR-V 1.3.
    V1_3 = 3,
    /// SPIR-V 1.4: the entry point's interface names every global variable that it uses.
    V1_4 = 4,
    /// SPIR-V 1.5.
    V1_5 = 5,
    /// SPIR-V 1.6.
    #[default]
    V1_6 = 6,
}

impl Version {
    /// The version word of the module's header.
    #[inline]
    pub const fn word(self) -> u32 {
        0x0001_0000 | (self as u32) << 8
    }
}

/// The memory model (SPIR-V section 3.5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MemoryModel {
    /// `GLSL450`: every Vulkan device takes it. Coherent buffers are decorated `Coherent`.
    #[default]
    Glsl450,
    /// `Vulkan`: shared and written memory is accessed as `NonPrivatePointer`, coherent accesses carry availability and
    /// visibility operands. Needs the device features `vulkanMemoryModel`, and `vulkanMemoryModelDeviceScope` where an
    /// atomic, a fence or a coherent access has device scope.
    Vulkan,
}

/// How exactly the device is told to treat floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FloatMode {
    /// `RoundingModeRTE` and `SignedZeroInfNanPreserve` for each float width that a kernel uses; `DenormPreserve` too for
    /// the widths for which the caller says that the device has it (see [`Options::denorm_preserve`]).
    #[default]
    Strict,
    /// No execution mode. `min`, `max` and their kin become the bare `NMin` and `NMax`: signs of zeros and NaNs are then
    /// as the driver likes.
    Relaxed,
}

/// How `fma` is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Fma {
    /// `Fma` of GLSL.std.450. GPU drivers fuse it, Vulkan does not promise that; Mesa's lavapipe 22.3 does not. The
    /// precise functions rely on it: where it does not fuse they are less exact than `docs/accuracy.md` says, `rem` wrong.
    /// bf16 has no such instruction and is computed as under [`Fma::Exact`].
    #[default]
    Native,
    /// One rounding on every device, in the precise functions too: f16 through f32 and f32 and bf16 through f64, with
    /// rounding to odd; f64 by integer arithmetic in a function of its own. Needs `shaderFloat64` but for f16, for f64 also
    /// `shaderInt64`, and [`FloatMode::Strict`].
    Exact,
}

/// Where the scalars go when they do not fit into the push constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Overflow {
    /// An error.
    #[default]
    Error,
    /// A uniform buffer of the same layout, with this binding.
    Uniform {
        /// Descriptor set, before [`Options::descriptor_set_base`] is added.
        set: u32,
        /// Binding in that set; no buffer of the kernel may have it.
        binding: u32,
    },
}

/// Where the length of a buffer comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Lengths {
    /// `OpArrayLength`: the range of the descriptor, which Vulkan does not let be empty.
    #[default]
    ArrayLength,
    /// A `uint` for each buffer whose length is asked for, behind the scalars, filled by the host
    /// (see [`crate::kernel::Signature::lengths`]).
    HostFilled,
}

/// How an atomic on floats is carried out. An array of which one atomic is a loop is an array of integers to the others
/// too, and so is one whose atomics only load, store and exchange.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FloatAtomics {
    /// The instruction of an extension.
    #[default]
    Native,
    /// A compare-exchange loop on the integer of the same width.
    CompareExchange,
}

/// How `dot4_add` is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DotProducts {
    /// `OpSDot` and `OpUDot` on packed vectors of four bytes (`SPV_KHR_integer_dot_product` before SPIR-V 1.6): device
    /// feature `shaderIntegerDotProduct`.
    #[default]
    Native,
    /// Four products and their sums. Needs no feature.
    Expanded,
}

/// How `zeroed` shared arrays get their zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ZeroShared {
    /// An `OpConstantNull` initialiser: device feature `shaderZeroInitializeWorkgroupMemory`.
    #[default]
    Initializer,
    /// A loop over the local invocations and a barrier at the start. Needs no feature.
    Loop,
}

/// What the SPIR-V emitter may be told. The default writes SPIR-V 1.6 for a present-day device.
///
/// ```
/// use kernite::spirv::{Fma, Options, Version};
/// let mut options = Options::default();
/// options.version = Version::V1_3;
/// options.fma = Fma::Exact;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The version written.
    pub version: Version,
    /// The memory model.
    pub memory_model: MemoryModel,
    /// The treatment of floats.
    pub float_mode: FloatMode,
    /// The float widths in bits (any of 16, 32, 64, or'ed) for which the device has `DenormPreserve`
    /// (`shaderDenormPreserveFloat16` and so on). Read by [`FloatMode::Strict`]; 0 by default.
    pub denorm_preserve: u32,
    /// The form of `fma`.
    pub fma: Fma,
    /// The number of elements of a kernel's dynamic shared array; `None` is an error where it has one.
    pub dynamic_shared_len: Option<u32>,
    /// Scalars over the limit of push constants.
    pub overflow: Overflow,
    /// Buffer lengths.
    pub lengths: Lengths,
    /// Atomic additions of f32: natively `SPV_EXT_shader_atomic_float_add` with `shaderBufferFloat32AtomicAdd`,
    /// `shaderSharedFloat32AtomicAdd`. The default.
    pub float_atomics: FloatAtomics,
    /// Atomic minima and maxima of f32: natively `SPV_EXT_shader_atomic_float_min_max`, which leaves the order of zeros
    /// and NaNs to the device. [`FloatAtomics::CompareExchange`] by default.
    pub float_min_max_atomics: FloatAtomics,
    /// Atomic additions of f64: natively `SPV_EXT_shader_atomic_float_add` with `shaderBufferFloat64AtomicAdd`,
    /// `shaderSharedFloat64AtomicAdd`; the loop needs 64-bit integer atomics. [`FloatAtomics::CompareExchange`] by default.
    pub float64_atomics: FloatAtomics,
    /// Packed dot products.
    pub dot_products: DotProducts,
    /// Accesses out of bounds. Lengths of buffers come from where [`Options::lengths`] says; with
    /// [`Lengths::HostFilled`] a buffer may be empty (the descriptor holds anything then). Buffers of 8-bit elements are
    /// reached by `u32` indices below 2^31 only, since SPIR-V takes an index as signed; by `u64` ones everywhere.
    pub bounds: Bounds,
    /// Zeroed shared arrays.
    pub zero_shared: ZeroShared,
    /// Whether names are written (`OpName`, `OpMemberName`).
    pub names: bool,
    /// Added to the descriptor set of every buffer.
    pub descriptor_set_base: u32,
    /// What the device can take.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            version: Version::default(),
            memory_model: MemoryModel::default(),
            float_mode: FloatMode::default(),
            denorm_preserve: 0,
            fma: Fma::default(),
            dynamic_shared_len: None,
            overflow: Overflow::default(),
            lengths: Lengths::default(),
            float_atomics: FloatAtomics::Native,
            float_min_max_atomics: FloatAtomics::CompareExchange,
            float64_atomics: FloatAtomics::CompareExchange,
            dot_products: DotProducts::default(),
            bounds: Bounds::default(),
            zero_shared: ZeroShared::default(),
            names: false,
            descriptor_set_base: 0,
            limits: Limits::VULKAN,
        }
    }
}
