//! Devices and what they can take.

use super::result::{Api, Result, call};
use super::sys::{CUdevice, device_attribute as attribute};
use super::{Context, Driver};
use core::ffi::{c_char, c_int};
use core::fmt;
use std::sync::Arc;

/// A CUDA release, as the driver names the newest one it supports.
///
/// ```
/// use kernite::cuda::DriverVersion;
/// assert_eq!(DriverVersion(12_040).to_string(), "12.4");
/// assert_eq!(DriverVersion(12_040).ptx(), Some((8, 4)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DriverVersion(
    /// 1000 × major + 10 × minor, as `cuDriverGetVersion` gives it.
    pub u32,
);

impl DriverVersion {
    /// Before the point.
    pub const fn major(self) -> u32 {
        self.0 / 1000
    }

    /// Behind it.
    pub const fn minor(self) -> u32 {
        self.0 % 1000 / 10
    }

    /// The newest PTX version that such a driver takes (PTX ISA, Release Notes), or `None` for a release later than this
    /// crate knows, which takes every version that this crate does.
    pub const fn ptx(self) -> Option<(u8, u8)> {
        Some(match self.0 {
            0..11_000 => (6, 5),
            11_000..12_000 => match self.0 / 10 % 100 {
                minor @ 0..=8 => (7, minor as u8),
                _ => (7, 8),
            },
            // CUDA 12.6 kept PTX 8.5, so that later minor numbers are one apart.
            12_000..12_060 => (8, (self.0 / 10 % 100) as u8),
            12_060..13_000 => match self.0 / 10 % 100 {
                minor @ 6..=9 => (8, minor as u8 - 1),
                _ => (8, 8),
            },
            13_000..13_010 => (9, 0),
            13_010..13_020 => (9, 1),
            _ => return None,
        })
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}

/// What a device can take, read once (`cuDeviceGetAttribute`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct DeviceLimits {
    /// Threads of a block in all.
    pub threads_per_block: u32,
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a grid along x, y, z.
    pub grid: [u32; 3],
    /// Shared memory of a block in bytes without asking for more: 49,152 on all devices so far.
    pub shared_bytes: u32,
    /// Shared memory of a block in bytes by opt-in; at least [`DeviceLimits::shared_bytes`].
    pub shared_bytes_opt_in: u32,
    /// 32-bit registers of a block.
    pub registers_per_block: u32,
    /// Threads of a warp: the subgroup size.
    pub warp: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Whether managed memory exists.
    pub managed_memory: bool,
    /// Whether host and device may access managed memory at the same time.
    pub concurrent_managed_access: bool,
    /// Whether memory can be allocated in stream order.
    pub memory_pools: bool,
}

impl DeviceLimits {
    /// The limits that kernite's emitters check.
    pub fn kernel_limits(&self) -> crate::limits::Limits {
        let mut limits = crate::limits::Limits::CUDA;
        limits.workgroup_size = self.block;
        limits.workgroup_threads = self.threads_per_block;
        limits.shared_bytes = self.shared_bytes_opt_in;
        limits
    }
}

/// A GPU.
#[derive(Clone)]
pub struct Device {
    driver: Driver,
    raw: CUdevice,
    capability: (u32, u32),
    limits: DeviceLimits,
}

impl Device {
    pub(crate) fn new(driver: Driver, raw: CUdevice) -> Result<Device> {
        let (capability, limits) = read(&driver.api, raw)?;
        Ok(Device {
            driver,
            raw,
            capability,
            limits,
        })
    }

    /// The device's name, such as `NVIDIA H200`.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn name(&self) -> Result<String> {
        let mut bytes = [0u8; 256];
        let len = bytes.len() as c_int;
        // SAFETY: the buffer is live and as long as the call is told; the driver writes at most that, a NUL included.
        unsafe {
            call!(
                self.driver.api,
                cuDeviceGetName(bytes.as_mut_ptr().cast::<c_char>(), len, self.raw)
            )
        }?;
        let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
        Ok(String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned())
    }

    /// Major and minor compute capability: (9, 0) is `sm_90`.
    pub fn compute_capability(&self) -> (u32, u32) {
        self.capability
    }

    /// What it can take.
    pub fn limits(&self) -> &DeviceLimits {
        &self.limits
    }

    /// Bytes of memory in all.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn total_memory(&self) -> Result<u64> {
        let mut bytes = 0usize;
        // SAFETY: the pointer is to a live integer, which the call fills.
        unsafe { call!(self.driver.api, cuDeviceTotalMem_v2(&mut bytes, self.raw)) }?;
        Ok(bytes as u64)
    }

    /// The device's UUID, which names it across processes and orders of devices.
    ///
    /// # Errors
    /// What the driver answers; [`crate::cuda::Error::MissingSymbol`] before CUDA 11.4.
    pub fn uuid(&self) -> Result<[u8; 16]> {
        let mut uuid = [0u8; 16];
        // SAFETY: the pointer is to 16 live bytes, which the call fills.
        unsafe { call!(self.driver.api, cuDeviceGetUuid_v2(&mut uuid, self.raw)) }?;
        Ok(uuid)
    }

    /// The driver it was asked of.
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The device's primary context, which the CUDA runtime and other libraries of this process share.
    ///
    /// Makes it current nowhere: each call does so where it must and puts back what was there.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn primary_context(&self) -> Result<Context> {
        Context::primary(self)
    }

    /// The driver's number of the device.
    pub fn as_raw(&self) -> CUdevice {
        self.raw
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("raw", &self.raw)
            .field("capability", &self.capability)
            .finish_non_exhaustive()
    }
}

/// Reads capability and limits.
pub(crate) fn read(api: &Arc<Api>, raw: CUdevice) -> Result<((u32, u32), DeviceLimits)> {
    let get = |which: c_int| -> Result<u32> {
        let mut value: c_int = 0;
        // SAFETY: the pointer is to a live integer, which the call fills; any attribute may be asked for.
        unsafe { call!(api, cuDeviceGetAttribute(&mut value, which, raw)) }?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    // Attributes of later releases: an older driver calls them invalid, and the device lacks what they stand for.
    let optional = |which: c_int| -> Result<u32> {
        match get(which) {
            Err(e) if e.code() == Some(super::Code::INVALID_VALUE) => Ok(0),
            other => other,
        }
    };
    let three = |which: [c_int; 3]| -> Result<[u32; 3]> {
        Ok([get(which[0])?, get(which[1])?, get(which[2])?])
    };
    let shared_bytes = get(attribute::MAX_SHARED_MEMORY_PER_BLOCK)?;
    let limits = DeviceLimits {
        threads_per_block: get(attribute::MAX_THREADS_PER_BLOCK)?,
        block: three(attribute::MAX_BLOCK_DIM)?,
        grid: three(attribute::MAX_GRID_DIM)?,
        shared_bytes,
        shared_bytes_opt_in: optional(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
            .max(shared_bytes),
        registers_per_block: get(attribute::MAX_REGISTERS_PER_BLOCK)?,
        warp: get(attribute::WARP_SIZE)?,
        multiprocessors: get(attribute::MULTIPROCESSOR_COUNT)?,
        managed_memory: optional(attribute::MANAGED_MEMORY)? != 0,
        concurrent_managed_access: optional(attribute::CONCURRENT_MANAGED_ACCESS)? != 0,
        memory_pools: optional(attribute::MEMORY_POOLS_SUPPORTED)? != 0,
    };
    let capability = (
        get(attribute::COMPUTE_CAPABILITY_MAJOR)?,
        get(attribute::COMPUTE_CAPABILITY_MINOR)?,
    );
    Ok((capability, limits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_know_their_ptx() {
        let ptx = |version| DriverVersion(version).ptx();
        assert_eq!(ptx(0), Some((6, 5)));
        assert_eq!(ptx(11_080), Some((7, 8)));
        assert_eq!(ptx(12_000), Some((8, 0)));
        assert_eq!(ptx(12_050), Some((8, 5)));
        assert_eq!(ptx(12_060), Some((8, 5)));
        assert_eq!(ptx(12_090), Some((8, 8)));
        assert_eq!(ptx(13_000), Some((9, 0)));
        assert_eq!(ptx(13_990), None);
    }
}
