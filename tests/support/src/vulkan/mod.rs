//! Running compute shaders on whatever Vulkan driver is there.
//!
//! One device a process, chosen by `KERNITE_VULKAN_DEVICE`:
//!
//! | value | device |
//! |---|---|
//! | unset | lavapipe if it is there, else as `any` |
//! | `lavapipe` | Mesa's software driver |
//! | `gpu` | the first that is no CPU |
//! | `any` | the first discrete GPU, else integrated, virtual, CPU |
//! | anything else | the first whose name contains it, in any case |
//!
//! A device that is asked for and not there is a failure that says what is, never a skip.
//!
//! `KERNITE_VULKAN_VALIDATION=1` loads Khronos' validation layer; its errors then
//! become [`Error::Validation`].
//!
//! Drivers trust their input: a module should have passed a validator before it
//! is run here, since a driver may crash on one that would not.
#![allow(unsafe_code)]

mod context;
mod diagnosis;
mod info;
mod probe;
mod run;

use std::sync::OnceLock;

use ash::vk;

pub use context::Context;
pub use info::{DeviceInfo, Features, FloatControls, Independence, Limits, Subgroups, Widths};
pub use probe::FmaProbe;

use crate::oracle::{self, Oracle};
use crate::skip;

/// The environment variable that chooses the device.
pub const DEVICE: &str = "KERNITE_VULKAN_DEVICE";

/// The environment variable that asks for the validation layer, when `1`.
pub const VALIDATION: &str = "KERNITE_VULKAN_VALIDATION";

/// How a buffer is bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferKind {
    /// A storage buffer.
    #[default]
    Storage,
    /// A uniform buffer.
    Uniform,
}

/// A buffer of a dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferArg {
    /// The descriptor set.
    pub set: u32,
    /// The binding in that set.
    pub binding: u32,
    /// What it holds before; as many bytes are handed back.
    pub bytes: Vec<u8>,
    /// How it is bound.
    pub kind: BufferKind,
    /// The least number of bytes that the descriptor covers; what `bytes` does not
    /// fill is zero. A descriptor cannot be empty, so 0 means 4 where `bytes` is.
    pub least: usize,
}

impl BufferArg {
    /// A storage buffer in set 0.
    pub fn storage(binding: u32, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            binding,
            bytes: bytes.into(),
            ..Self::default()
        }
    }

    /// A uniform buffer in set 0.
    pub fn uniform(binding: u32, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            kind: BufferKind::Uniform,
            ..Self::storage(binding, bytes)
        }
    }
}

/// One run of a compute shader.
#[derive(Clone, Debug)]
pub struct Dispatch<'a> {
    /// The module.
    pub words: &'a [u32],
    /// The entry point's name.
    pub entry: &'a str,
    /// The number of workgroups; a zero runs nothing.
    pub groups: [u32; 3],
    /// The buffers; no two may share set and binding.
    pub buffers: Vec<BufferArg>,
    /// The push-constant block from its start; a multiple of 4 bytes.
    pub push_constants: Vec<u8>,
    /// Ask for full subgroups.
    pub require_full_subgroups: bool,
    /// Ask for this subgroup size.
    pub required_subgroup_size: Option<u32>,
}

impl<'a> Dispatch<'a> {
    /// One workgroup, with neither buffers nor push constants.
    pub fn new(words: &'a [u32], entry: &'a str) -> Self {
        Self {
            words,
            entry,
            groups: [1, 1, 1],
            buffers: Vec::new(),
            push_constants: Vec::new(),
            require_full_subgroups: false,
            required_subgroup_size: None,
        }
    }
}

/// Why a dispatch did not run, or why its results are not to be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no Vulkan loader.
    #[error("no Vulkan loader: {0}")]
    NoLoader(String),
    /// The validation layer was asked for and is not installed.
    #[error("{VALIDATION}=1, but VK_LAYER_KHRONOS_validation is not installed")]
    NoValidationLayer,
    /// No device fits `KERNITE_VULKAN_DEVICE`.
    #[error(
        "no Vulkan 1.2 compute device fits {DEVICE}={wanted:?} (found: {}){diagnosis}",
        list(found)
    )]
    NoDevice {
        /// The variable's value; empty when unset.
        wanted: String,
        /// The names of the devices that are there, with what they lack.
        found: Vec<String>,
        /// The loader's version, the environment, and what became of each driver, a line each.
        diagnosis: String,
    },
    /// A Vulkan call failed.
    #[error("{call}: {code:?}")]
    Call {
        /// The call.
        call: &'static str,
        /// Its code.
        code: vk::Result,
    },
    /// The dispatch itself is malformed.
    #[error("{0}")]
    Argument(&'static str),
    /// The dispatch asks for more than the device has.
    #[error("{what}: {needed} needed, the device has {limit}")]
    Limit {
        /// What there is too little of.
        what: &'static str,
        /// What the dispatch needs.
        needed: u64,
        /// What the device has.
        limit: u64,
    },
    /// The dispatch asks for a feature that the device lacks.
    #[error("the device lacks {0}")]
    Lacks(&'static str),
    /// The dispatch did not end in time. The device is not used again.
    #[error("the dispatch did not end within {0} seconds")]
    Timeout(u64),
    /// An earlier dispatch of this process never ended.
    #[error("the device is lost to an earlier dispatch that never ended")]
    Lost,
    /// The shader wrote outside a buffer.
    #[error(
        "the shader wrote outside the buffer at set {set}, binding {binding}, at byte {offset}"
    )]
    WroteOutside {
        /// The descriptor set.
        set: u32,
        /// The binding.
        binding: u32,
        /// The first such byte, counted from the buffer's start.
        offset: i64,
    },
    /// The validation layer found errors.
    #[error("validation layer: {}", .0.join("; "))]
    Validation(Vec<String>),
}

/// The whole of an error where it is a failure; its first line where it is a skip.
fn told(error: &Error, failure: bool) -> String {
    let text = error.to_string();
    match text.lines().next() {
        Some(first) if !failure => first.into(),
        _ => text,
    }
}

fn list(found: &[String]) -> String {
    match found {
        [] => "none".into(),
        found => found.join(", "),
    }
}

impl Context {
    /// The process's device, made at the first call; `None` after a counted skip.
    ///
    /// # Panics
    /// There is none and `KERNITE_REQUIRE_ORACLES` names `vulkan` (or `lavapipe`),
    /// or `KERNITE_VULKAN_DEVICE` asks for one that is not there,
    /// or the validation layer was asked for and is missing.
    pub fn get() -> Option<&'static Self> {
        static CONTEXT: OnceLock<Result<Context, Error>> = OnceLock::new();
        let wanted = context::wanted();
        match CONTEXT.get_or_init(|| Self::create(&wanted)) {
            Ok(context) => Some(context),
            Err(error @ Error::NoValidationLayer) => panic!("{error}"),
            // Whoever names a device wants no other.
            Err(error) if !wanted.is_empty() => panic!("{DEVICE}={wanted}: {error}"),
            Err(error) => {
                let required = oracle::required(Oracle::Vulkan);
                oracle::missing(Oracle::Vulkan, &told(error, required));
                None
            }
        }
    }

    /// The process's GPU: as [`Self::get`], but `gpu` where `KERNITE_VULKAN_DEVICE` names no device, and `None` after a
    /// counted skip where that is no GPU.
    ///
    /// # Panics
    /// There is none and `KERNITE_REQUIRE_GPU` is `1`, or `KERNITE_VULKAN_DEVICE` asks for a device that is not there.
    pub fn gpu() -> Option<&'static Self> {
        if !context::wanted().is_empty() {
            let device = Self::get()?;
            if device.info().software {
                skip::no_gpu(&format!("{} computes on the CPU", device.info().name));
                return None;
            }
            return Some(device);
        }
        static CONTEXT: OnceLock<Result<Context, Error>> = OnceLock::new();
        match CONTEXT.get_or_init(|| Self::create("gpu")) {
            Ok(context) => Some(context),
            Err(error @ Error::NoValidationLayer) => panic!("{error}"),
            Err(error) => {
                skip::no_gpu(&told(error, skip::gpu_required()));
                None
            }
        }
    }
}
