//! The driver's own vocabulary: handles, numbers, entry points and where the library is found.
//!
//! Names are those of `cuda.h`. The handles and numbers are public, so that objects can be exchanged with other code that
//! speaks to the driver (`as_raw`, `from_raw`); the entry points are not, since every call goes through checks.

mod discover;
mod symbols;

pub use discover::{Environment, System, candidates};
pub(crate) use symbols::Symbols;

use core::ffi::{c_int, c_uint, c_void};

/// What every entry point returns: 0 or an error's number, see [`crate::cuda::Code`].
pub type CUresult = c_uint;
/// A device's number as the driver gives it.
pub type CUdevice = c_int;
/// An address in device memory; 0 is no memory.
pub type CUdeviceptr = u64;

macro_rules! handles {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(pub *mut c_void);

        impl $name {
            /// The handle that stands for nothing.
            pub const NULL: $name = $name(core::ptr::null_mut());
        }

        // SAFETY: a handle is a name that only the driver looks behind; the driver API may be called with any handle
        // from any thread (CUDA Driver API, "Context Management": contexts are per thread, handles are not).
        unsafe impl Send for $name {}
        // SAFETY: as above; the value itself is plain data that nobody changes.
        unsafe impl Sync for $name {}
    )*};
}

handles! {
    /// A context.
    CUcontext;
    /// A loaded module.
    CUmodule;
    /// A kernel of a loaded module.
    CUfunction;
    /// A stream; null is the legacy default stream.
    CUstream;
    /// An event.
    CUevent;
    /// A memory pool.
    CUmemoryPool;
    /// A graph.
    CUgraph;
    /// A node of a graph.
    CUgraphNode;
    /// An instantiated graph.
    CUgraphExec;
    /// A linker at work.
    CUlinkState;
}

/// `CUdevice_attribute`, as far as it is asked for.
pub(crate) mod device_attribute {
    use super::c_int;
    pub const MAX_THREADS_PER_BLOCK: c_int = 1;
    pub const MAX_BLOCK_DIM: [c_int; 3] = [2, 3, 4];
    pub const MAX_GRID_DIM: [c_int; 3] = [5, 6, 7];
    pub const MAX_SHARED_MEMORY_PER_BLOCK: c_int = 8;
    pub const WARP_SIZE: c_int = 10;
    pub const MAX_REGISTERS_PER_BLOCK: c_int = 12;
    pub const MULTIPROCESSOR_COUNT: c_int = 16;
    pub const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
    pub const COMPUTE_CAPABILITY_MINOR: c_int = 76;
    pub const MANAGED_MEMORY: c_int = 83;
    pub const CONCURRENT_MANAGED_ACCESS: c_int = 89;
    pub const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_int = 97;
    pub const MEMORY_POOLS_SUPPORTED: c_int = 115;
}

/// `CUfunction_attribute`.
pub(crate) mod function_attribute {
    use super::c_int;
    pub const MAX_THREADS_PER_BLOCK: c_int = 0;
    pub const SHARED_SIZE_BYTES: c_int = 1;
    pub const CONST_SIZE_BYTES: c_int = 2;
    pub const LOCAL_SIZE_BYTES: c_int = 3;
    pub const NUM_REGS: c_int = 4;
    pub const PTX_VERSION: c_int = 5;
    pub const BINARY_VERSION: c_int = 6;
    pub const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
}

/// `CUjit_option`.
pub(crate) mod jit_option {
    use super::c_uint;
    pub const MAX_REGISTERS: c_uint = 0;
    pub const INFO_LOG_BUFFER: c_uint = 3;
    pub const INFO_LOG_BUFFER_SIZE_BYTES: c_uint = 4;
    pub const ERROR_LOG_BUFFER: c_uint = 5;
    pub const ERROR_LOG_BUFFER_SIZE_BYTES: c_uint = 6;
    pub const OPTIMIZATION_LEVEL: c_uint = 7;
    pub const LOG_VERBOSE: c_uint = 12;
    pub const GENERATE_LINE_INFO: c_uint = 13;
}

pub(crate) const CU_STREAM_NON_BLOCKING: c_uint = 1;
/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
pub(crate) const CU_STREAM_CAPTURE_MODE_RELAXED: c_uint = 2;
/// `CU_STREAM_CAPTURE_STATUS_ACTIVE`.
pub(crate) const CU_STREAM_CAPTURE_STATUS_ACTIVE: c_uint = 1;
pub(crate) const CU_EVENT_BLOCKING_SYNC: c_uint = 1;
pub(crate) const CU_EVENT_DISABLE_TIMING: c_uint = 2;
pub(crate) const CU_MEM_ATTACH_GLOBAL: c_uint = 1;
pub(crate) const CU_MEMORYTYPE_DEVICE: c_uint = 2;
pub(crate) const CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: c_uint = 4;
pub(crate) const CU_JIT_INPUT_PTX: c_uint = 1;

/// `CUmemPoolProps`: 88 bytes, the fields that we leave zero put together.
#[repr(C)]
pub(crate) struct CUmemPoolProps {
    /// `CU_MEM_ALLOCATION_TYPE_PINNED` is 1.
    pub alloc_type: c_uint,
    pub handle_types: c_uint,
    /// `CU_MEM_LOCATION_TYPE_DEVICE` is 1.
    pub location_type: c_uint,
    pub location_id: c_int,
    pub win32_security_attributes: *mut c_void,
    pub max_size: usize,
    pub reserved: [u8; 56],
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
#[allow(non_camel_case_types)]
pub(crate) struct CUDA_KERNEL_NODE_PARAMS_v2 {
    pub func: CUfunction,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_mem_bytes: c_uint,
    pub kernel_params: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub kern: *mut c_void,
    pub ctx: CUcontext,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[allow(non_camel_case_types)]
pub(crate) struct CUDA_MEMSET_NODE_PARAMS {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: c_uint,
    pub element_size: c_uint,
    pub width: usize,
    pub height: usize,
}

/// One end of a `CUDA_MEMCPY3D`.
#[repr(C)]
pub(crate) struct CopyEnd {
    pub x_in_bytes: usize,
    pub y: usize,
    pub z: usize,
    pub lod: usize,
    pub memory_type: c_uint,
    pub host: *mut c_void,
    pub device: CUdeviceptr,
    pub array: *mut c_void,
    pub reserved: *mut c_void,
    pub pitch: usize,
    pub height: usize,
}

impl CopyEnd {
    /// Device memory of `bytes` bytes, taken as one row.
    pub fn device(device: CUdeviceptr, bytes: usize) -> CopyEnd {
        CopyEnd {
            x_in_bytes: 0,
            y: 0,
            z: 0,
            lod: 0,
            memory_type: CU_MEMORYTYPE_DEVICE,
            host: core::ptr::null_mut(),
            device,
            array: core::ptr::null_mut(),
            reserved: core::ptr::null_mut(),
            pitch: bytes,
            height: 1,
        }
    }
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[allow(non_camel_case_types)]
pub(crate) struct CUDA_MEMCPY3D {
    pub src: CopyEnd,
    pub dst: CopyEnd,
    pub width_in_bytes: usize,
    pub height: usize,
    pub depth: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_the_header() {
        #[cfg(target_pointer_width = "64")]
        {
            assert_eq!(size_of::<CUmemPoolProps>(), 88);
            assert_eq!(size_of::<CUDA_KERNEL_NODE_PARAMS_v2>(), 72);
            assert_eq!(size_of::<CUDA_MEMSET_NODE_PARAMS>(), 40);
            assert_eq!(size_of::<CUDA_MEMCPY3D>(), 200);
        }
        assert_eq!(size_of::<CUstream>(), size_of::<*mut c_void>());
    }
}
