//! The entry points, each resolved by itself: a driver that lacks one still works for all that needs the others.

use super::*;
use core::ffi::{c_char, c_int, c_uint, c_void};
use libloading::Library;

macro_rules! symbols {
    ($($name:ident($($arg:ty),*);)*) => {
        /// Pointers to the entry points that the library has.
        #[allow(non_snake_case, missing_docs)]
        pub(crate) struct Symbols {
            $(pub $name: Option<unsafe extern "system" fn($($arg),*) -> CUresult>,)*
        }

        impl Symbols {
            /// Every name that is looked up.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Looks each name up.
            pub fn resolve(library: &Library) -> Symbols {
                Symbols {$(
                    // SAFETY: the type is the one that the CUDA driver's header gives the name; a library that has the
                    // name with another meaning is none of the driver's. The pointer is used only while `library` is
                    // loaded, which is for ever (see `Api`).
                    $name: unsafe {
                        library
                            .get::<unsafe extern "system" fn($($arg),*) -> CUresult>(
                                concat!(stringify!($name), "\0").as_bytes(),
                            )
                            .ok()
                            .map(|symbol| *symbol)
                    },
                )*}
            }

            /// Whether the library has the entry point; `None` for a name that this crate never calls.
            pub fn has(&self, name: &str) -> Option<bool> {
                $(if name == stringify!($name) {
                    return Some(self.$name.is_some());
                })*
                None
            }
        }
    };
}

// The `_v2` names where they exist: an unversioned one may have another signature in another release.
symbols! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuGetErrorName(CUresult, *mut *const c_char);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceGetUuid_v2(*mut [u8; 16], CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDeviceGetAttribute(*mut c_int, c_int, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuDevicePrimaryCtxRelease_v2(CUdevice);
    cuCtxGetCurrent(*mut CUcontext);
    cuCtxPushCurrent_v2(CUcontext);
    cuCtxPopCurrent_v2(*mut CUcontext);
    cuCtxGetDevice(*mut CUdevice);
    cuCtxSynchronize();
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemFree_v2(CUdeviceptr);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemAllocManaged(*mut CUdeviceptr, usize, c_uint);
    cuMemcpyHtoD_v2(CUdeviceptr, *const c_void, usize);
    cuMemcpyDtoH_v2(*mut c_void, CUdeviceptr, usize);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, CUstream);
    cuMemsetD8Async(CUdeviceptr, u8, usize, CUstream);
    cuMemsetD16Async(CUdeviceptr, u16, usize, CUstream);
    cuMemsetD32Async(CUdeviceptr, c_uint, usize, CUstream);
    cuMemAllocAsync(*mut CUdeviceptr, usize, CUstream);
    cuMemAllocFromPoolAsync(*mut CUdeviceptr, usize, CUmemoryPool, CUstream);
    cuMemFreeAsync(CUdeviceptr, CUstream);
    cuMemPoolCreate(*mut CUmemoryPool, *const CUmemPoolProps);
    cuMemPoolDestroy(CUmemoryPool);
    cuMemPoolSetAttribute(CUmemoryPool, c_uint, *mut c_void);
    cuMemPoolTrimTo(CUmemoryPool, usize);
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamDestroy_v2(CUstream);
    cuStreamSynchronize(CUstream);
    cuStreamQuery(CUstream);
    cuStreamWaitEvent(CUstream, CUevent, c_uint);
    cuStreamGetCtx(CUstream, *mut CUcontext);
    cuStreamBeginCapture_v2(CUstream, c_uint);
    cuStreamEndCapture(CUstream, *mut CUgraph);
    cuStreamGetCaptureInfo_v2(
        CUstream, *mut c_uint, *mut u64, *mut CUgraph, *mut *const CUgraphNode, *mut usize
    );
    cuStreamGetCaptureInfo_v3(
        CUstream, *mut c_uint, *mut u64, *mut CUgraph, *mut *const CUgraphNode, *mut *const c_void, *mut usize
    );
    cuEventCreate(*mut CUevent, c_uint);
    cuEventDestroy_v2(CUevent);
    cuEventRecord(CUevent, CUstream);
    cuEventQuery(CUevent);
    cuEventSynchronize(CUevent);
    cuEventElapsedTime(*mut f32, CUevent, CUevent);
    cuModuleLoadDataEx(*mut CUmodule, *const c_void, c_uint, *mut c_uint, *mut *mut c_void);
    cuModuleUnload(CUmodule);
    cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
    cuFuncGetAttribute(*mut c_int, c_int, CUfunction);
    cuFuncSetAttribute(CUfunction, c_int, c_int);
    cuFuncGetParamInfo(CUfunction, usize, *mut usize, *mut usize);
    cuLaunchKernel(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void, *mut *mut c_void
    );
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, CUfunction, c_int, usize);
    cuOccupancyMaxPotentialBlockSize(*mut c_int, *mut c_int, CUfunction, *const c_void, usize, c_int);
    cuGraphCreate(*mut CUgraph, c_uint);
    cuGraphAddKernelNode_v2(
        *mut CUgraphNode, CUgraph, *const CUgraphNode, usize, *const CUDA_KERNEL_NODE_PARAMS_v2
    );
    cuGraphAddMemcpyNode(*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, *const CUDA_MEMCPY3D, CUcontext);
    cuGraphAddMemsetNode(
        *mut CUgraphNode, CUgraph, *const CUgraphNode, usize, *const CUDA_MEMSET_NODE_PARAMS, CUcontext
    );
    cuGraphExecKernelNodeSetParams_v2(CUgraphExec, CUgraphNode, *const CUDA_KERNEL_NODE_PARAMS_v2);
    cuGraphInstantiateWithFlags(*mut CUgraphExec, CUgraph, u64);
    cuGraphLaunch(CUgraphExec, CUstream);
    cuGraphDestroy(CUgraph);
    cuGraphExecDestroy(CUgraphExec);
    cuLinkCreate_v2(c_uint, *mut c_uint, *mut *mut c_void, *mut CUlinkState);
    cuLinkAddData_v2(
        CUlinkState, c_uint, *mut c_void, usize, *const c_char, c_uint, *mut c_uint, *mut *mut c_void
    );
    cuLinkComplete(CUlinkState, *mut *mut c_void, *mut usize);
    cuLinkDestroy(CUlinkState);
}
