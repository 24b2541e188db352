//! What a module begins with: header, capabilities, extensions, memory model, entry points, execution modes.

use super::options::{MemoryModel, Version};
use super::section::{Section, string_words};
use super::sections::head;
use spirv::{Capability, ExecutionMode, ExecutionModel, Op};

/// Capabilities that a module may need, as bits in the order of [`CAPABILITIES`].
pub(super) mod cap {
    pub const INT64: u32 = 1 << 1;
    pub const FLOAT64: u32 = 1 << 2;
    pub const INT64_ATOMICS: u32 = 1 << 3;
    pub const GROUP_NON_UNIFORM: u32 = 1 << 4;
    pub const DENORM_PRESERVE: u32 = 1 << 5;
    pub const SIGNED_ZERO_INF_NAN_PRESERVE: u32 = 1 << 6;
    pub const ROUNDING_MODE_RTE: u32 = 1 << 7;
    pub const ATOMIC_FLOAT32_ADD: u32 = 1 << 8;
    pub const VULKAN_MEMORY_MODEL: u32 = 1 << 9;
    pub const VULKAN_MEMORY_MODEL_DEVICE_SCOPE: u32 = 1 << 10;
    pub const FLOAT16: u32 = 1 << 11;
    pub const STORAGE_8: u32 = 1 << 12;
    pub const STORAGE_16: u32 = 1 << 13;
    pub const VOTE: u32 = 1 << 14;
    pub const BALLOT: u32 = 1 << 15;
    pub const SHUFFLE: u32 = 1 << 16;
    pub const SHUFFLE_RELATIVE: u32 = 1 << 17;
    pub const ARITHMETIC: u32 = 1 << 18;
    pub const DOT_PRODUCT: u32 = 1 << 19;
    pub const DOT_PACKED: u32 = 1 << 20;
    pub const ATOMIC_FLOAT64_ADD: u32 = 1 << 21;
    pub const ATOMIC_FLOAT32_MIN_MAX: u32 = 1 << 22;
}

const CAPABILITIES: [Capability; 23] = [
    Capability::Shader,
    Capability::Int64,
    Capability::Float64,
    Capability::Int64Atomics,
    Capability::GroupNonUniform,
    Capability::DenormPreserve,
    Capability::SignedZeroInfNanPreserve,
    Capability::RoundingModeRTE,
    Capability::AtomicFloat32AddEXT,
    Capability::VulkanMemoryModel,
    Capability::VulkanMemoryModelDeviceScope,
    Capability::Float16,
    Capability::StorageBuffer8BitAccess,
    Capability::StorageBuffer16BitAccess,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformArithmetic,
    Capability::DotProduct,
    Capability::DotProductInput4x8BitPacked,
    Capability::AtomicFloat64AddEXT,
    Capability::AtomicFloat32MinMaxEXT,
];

/// Extensions, the capabilities that bring them, and the version that took them into the core.
const EXTENSIONS: [(&str, u32, Option<Version>); 6] = [
    (
        "SPV_KHR_float_controls",
        cap::DENORM_PRESERVE | cap::SIGNED_ZERO_INF_NAN_PRESERVE | cap::ROUNDING_MODE_RTE,
        Some(Version::V1_4),
    ),
    (
        "SPV_KHR_vulkan_memory_model",
        cap::VULKAN_MEMORY_MODEL,
        Some(Version::V1_5),
    ),
    (
        "SPV_EXT_shader_atomic_float_add",
        cap::ATOMIC_FLOAT32_ADD | cap::ATOMIC_FLOAT64_ADD,
        None,
    ),
    (
        "SPV_EXT_shader_atomic_float_min_max",
        cap::ATOMIC_FLOAT32_MIN_MAX,
        None,
    ),
    ("SPV_KHR_8bit_storage", cap::STORAGE_8, Some(Version::V1_5)),
    (
        "SPV_KHR_integer_dot_product",
        cap::DOT_PRODUCT,
        Some(Version::V1_6),
    ),
];

/// The words from the header to the execution modes, those of all entry points behind the last of these.
///
/// Those up to the memory model are written last, since capabilities turn up on the way; but one module mostly needs what
/// the one before needed, so that they stay until they are to be others.
#[derive(Debug, Default)]
pub(super) struct Preamble {
    words: Section,
    /// The number of words up to the memory model, and what they were written for.
    kept: usize,
    kept_for: Option<(u32, bool, Version, MemoryModel)>,
    /// The number of words up to the last entry point.
    entries: usize,
    /// Memory to write others in.
    spare: Section,
}

impl Preamble {
    pub(super) fn clear(&mut self) {
        self.words.truncate(self.kept);
        self.entries = self.kept;
    }

    /// The words, right once [`Preamble::finish`] has been called.
    pub(super) fn words(&self) -> &[u32] {
        self.words.words()
    }

    /// Adds an `OpEntryPoint` that names `interface`, and its `LocalSize`.
    pub(super) fn entry_point(&mut self, id: u32, name: &str, interface: &[u32], size: [u32; 3]) {
        let before = self.words.len();
        // The kernel's words were counted before anything of it was written.
        let words = 3 + string_words(name) + interface.len();
        let model = ExecutionModel::GLCompute as u32;
        self.words
            .put([head(Op::EntryPoint, words as u32), model, id]);
        self.words.string(name);
        self.words.extend_from_slice(interface);
        if self.entries < before {
            // In front of the modes of the kernels before.
            self.words.rotate(self.entries, words);
        }
        self.entries += words;
        let (first, mode) = (head(Op::ExecutionMode, 6), ExecutionMode::LocalSize as u32);
        let [x, y, z] = size;
        self.words.put([first, id, mode, x, y, z]);
    }

    /// Adds the first `count` words: execution modes.
    #[inline(always)]
    pub(super) fn modes<const N: usize>(&mut self, words: [u32; N], count: usize) {
        self.words.put_first(words, count);
    }

    /// Writes what comes up to the memory model: `caps` are bits of [`cap`], `glsl` is the id of GLSL.std.450 or 0.
    pub(super) fn finish(
        &mut self,
        caps: u32,
        glsl: u32,
        bound: u32,
        version: Version,
        model: MemoryModel,
    ) {
        let wanted = Some((caps, glsl != 0, version, model));
        if self.kept_for != wanted {
            self.write_others(caps, glsl != 0, version, model);
            self.kept_for = wanted;
        }
        if let Some(word) = self.words.get_mut(3) {
            *word = bound;
        }
        // Behind it are four words of name and three of memory model.
        if glsl != 0
            && let Some(id) = self.words.get_mut(self.kept.saturating_sub(8))
        {
            *id = glsl;
        }
    }

    /// The same without the bound and the id.
    #[cold]
    fn write_others(&mut self, caps: u32, glsl: bool, version: Version, model: MemoryModel) {
        let out = &mut self.spare;
        out.clear();
        out.put([spirv::MAGIC_NUMBER, version.word(), 0, 0, 0]);
        let mut left = caps;
        while let Some(capability) = CAPABILITIES.get(left.trailing_zeros() as usize) {
            out.put([head(Op::Capability, 2), *capability as u32]);
            left &= left - 1;
        }
        for (name, brought_by, core) in EXTENSIONS {
            if caps & brought_by != 0 && core.is_none_or(|core| version < core) {
                out.push(head(Op::Extension, 1 + string_words(name) as u32));
                out.string(name);
            }
        }
        if glsl {
            out.put([head(Op::ExtInstImport, 6), 0]);
            out.string("GLSL.std.450");
        }
        let model = match model {
            MemoryModel::Glsl450 => spirv::MemoryModel::GLSL450,
            MemoryModel::Vulkan => spirv::MemoryModel::Vulkan,
        };
        out.put([head(Op::MemoryModel, 3), 0, model as u32]);
        let kept = out.len();
        let entries = self.words.words().get(self.kept..).unwrap_or(&[]);
        out.extend_from_slice(entries);
        core::mem::swap(&mut self.words, &mut self.spare);
        self.kept = kept;
    }
}
