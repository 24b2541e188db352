//! What a device can take, and the check of a kernel against it.
#![forbid(unsafe_code)]

use crate::kernel::Kernel;

/// The limits that emitters check. `verify` knows no target: a valid kernel may still be too large for one.
///
/// Presets: [`Limits::VULKAN_MIN`] (what every Vulkan 1.3 device has) and [`Limits::CUDA`]; or fill it from a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Threads of a workgroup along x, y, z (`maxComputeWorkGroupSize`).
    pub workgroup_size: [u32; 3],
    /// Threads of a workgroup in all (`maxComputeWorkGroupInvocations`).
    pub workgroup_threads: u32,
    /// Bytes of shared memory (`maxComputeSharedMemorySize`).
    pub shared_bytes: u32,
    /// Bytes of push constants (`maxPushConstantsSize`).
    pub push_constant_bytes: u32,
    /// Bytes of PTX parameters; above 4352 PTX 8.1 is needed.
    pub ptx_param_bytes: u32,
    /// The greatest bound of a SPIR-V module, which every id is below: 4,194,303 by the universal limits (SPIR-V section
    /// 2.17).
    pub id_bound: u32,
}

impl Limits {
    /// What Vulkan 1.3 requires of every device (Vulkan specification, Required Limits).
    pub const VULKAN_MIN: Limits = Limits {
        workgroup_size: [128, 128, 64],
        workgroup_threads: 128,
        shared_bytes: 16384,
        push_constant_bytes: 128,
        ptx_param_bytes: 4352,
        id_bound: 4_194_303,
    };

    /// What GPUs and lavapipe have in practice, with Vulkan's least push constants: the SPIR-V emitter's default.
    pub const VULKAN: Limits = Limits {
        workgroup_size: [1024, 1024, 64],
        workgroup_threads: 1024,
        shared_bytes: 32768,
        ..Limits::VULKAN_MIN
    };

    /// CUDA, compute capability 7.5 and up (CUDA C++ Programming Guide, Compute Capabilities): 1024 threads, and the
    /// most shared memory that any of them gives by opt-in (227 KiB); a launch checks what its device has.
    pub const CUDA: Limits = Limits {
        workgroup_size: [1024, 1024, 64],
        workgroup_threads: 1024,
        shared_bytes: 232_448,
        push_constant_bytes: 256,
        ptx_param_bytes: 4352,
        id_bound: 4_194_303,
    };

    /// Checks what every target has: the workgroup's size and the static shared memory.
    ///
    /// # Errors
    /// The first limit that the kernel passes.
    pub fn check(&self, kernel: &Kernel) -> Result<(), LimitExceeded> {
        let size = kernel.workgroup_size();
        let axes = [Limit::WorkgroupX, Limit::WorkgroupY, Limit::WorkgroupZ];
        for ((needed, available), limit) in size.into_iter().zip(self.workgroup_size).zip(axes) {
            exceeds(limit, u64::from(needed), u64::from(available))?;
        }
        exceeds(
            Limit::WorkgroupThreads,
            u64::from(kernel.workgroup_threads()),
            u64::from(self.workgroup_threads),
        )?;
        let shared = kernel.static_shared_bytes().map_or(1 << 32, u64::from);
        exceeds(Limit::SharedBytes, shared, u64::from(self.shared_bytes))
    }
}

/// A limit's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Limit {
    /// Threads of a workgroup along x.
    WorkgroupX,
    /// Threads of a workgroup along y.
    WorkgroupY,
    /// Threads of a workgroup along z.
    WorkgroupZ,
    /// Threads of a workgroup.
    WorkgroupThreads,
    /// Bytes of shared memory.
    SharedBytes,
    /// Bytes of push constants.
    PushConstantBytes,
    /// Bytes of PTX parameters.
    PtxParamBytes,
    /// The bound of a SPIR-V module's ids.
    IdBound,
}

impl Limit {
    /// The name in words.
    pub const fn name(self) -> &'static str {
        match self {
            Limit::WorkgroupX => "workgroup size along x",
            Limit::WorkgroupY => "workgroup size along y",
            Limit::WorkgroupZ => "workgroup size along z",
            Limit::WorkgroupThreads => "threads of a workgroup",
            Limit::SharedBytes => "bytes of shared memory",
            Limit::PushConstantBytes => "bytes of push constants",
            Limit::PtxParamBytes => "bytes of PTX parameters",
            Limit::IdBound => "SPIR-V ids",
        }
    }
}

/// A kernel needs more than a device has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {needed} needed, {available} available", .limit.name())]
pub struct LimitExceeded {
    /// Which limit.
    pub limit: Limit,
    /// What the kernel needs.
    pub needed: u64,
    /// What there is.
    pub available: u64,
}

/// Fails when `needed` passes `available`.
pub(crate) fn exceeds(limit: Limit, needed: u64, available: u64) -> Result<(), LimitExceeded> {
    if needed > available {
        Err(LimitExceeded {
            limit,
            needed,
            available,
        })
    } else {
        Ok(())
    }
}
