//! The numbers that the driver answers with: all that `cuda.h` of CUDA 13 names.

use core::fmt;

/// A number that an entry point of the driver returned (`CUresult`). Numbers that this crate does not know are kept.
///
/// ```
/// use kernite::cuda::Code;
/// assert_eq!(Code::INVALID_PTX.to_string(), "CUDA_ERROR_INVALID_PTX (218)");
/// assert_eq!(Code(9999).to_string(), "error 9999");
/// assert!(Code::ILLEGAL_ADDRESS.is_sticky());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Code(pub u32);

macro_rules! codes {
    ($($number:literal $name:ident $driver:literal $advice:literal;)*) => {
        impl Code {
            $(#[doc = concat!("`", $driver, "`.")]
              pub const $name: Code = Code($number);)*

            /// Every code that has a name here.
            pub const NAMED: &'static [Code] = &[$(Code($number)),*];

            /// The name in the driver's header, without asking the driver.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($driver),)*
                    _ => None,
                }
            }

            /// What it means and what to do about it; empty for codes that explain themselves.
            pub const fn advice(self) -> &'static str {
                match self.0 {
                    $($number => $advice,)*
                    _ => "",
                }
            }
        }
    };
}

codes! {
    1 INVALID_VALUE "CUDA_ERROR_INVALID_VALUE" "";
    2 OUT_OF_MEMORY "CUDA_ERROR_OUT_OF_MEMORY" "free device memory, or allocate less";
    3 NOT_INITIALIZED "CUDA_ERROR_NOT_INITIALIZED"
        "the driver was not initialised in this process; a process forked after initialisation cannot use the driver, start a new program instead";
    4 DEINITIALIZED "CUDA_ERROR_DEINITIALIZED" "the driver is shutting down with the process";
    5 PROFILER_DISABLED "CUDA_ERROR_PROFILER_DISABLED" "profiling is not possible here: another profiler is attached";
    6 PROFILER_NOT_INITIALIZED "CUDA_ERROR_PROFILER_NOT_INITIALIZED" "";
    7 PROFILER_ALREADY_STARTED "CUDA_ERROR_PROFILER_ALREADY_STARTED" "";
    8 PROFILER_ALREADY_STOPPED "CUDA_ERROR_PROFILER_ALREADY_STOPPED" "";
    34 STUB_LIBRARY "CUDA_ERROR_STUB_LIBRARY"
        "this is the toolkit's stub library, which only serves for linking; put the driver's own library first on the search path";
    36 CALL_REQUIRES_NEWER_DRIVER "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"
        "the driver is too old for this call: update it";
    46 DEVICE_UNAVAILABLE "CUDA_ERROR_DEVICE_UNAVAILABLE"
        "the device is in exclusive mode and in use by another process, or cannot be reached";
    47 MULTICAST_RESOURCE_FULL "CUDA_ERROR_MULTICAST_RESOURCE_FULL" "";
    100 NO_DEVICE "CUDA_ERROR_NO_DEVICE"
        "no CUDA device is visible; check the driver, CUDA_VISIBLE_DEVICES, and that a container is given the GPU";
    101 INVALID_DEVICE "CUDA_ERROR_INVALID_DEVICE" "there is no device of this number";
    102 DEVICE_NOT_LICENSED "CUDA_ERROR_DEVICE_NOT_LICENSED" "the virtual GPU has no licence";
    200 INVALID_IMAGE "CUDA_ERROR_INVALID_IMAGE" "the image is neither PTX nor a cubin for this device";
    201 INVALID_CONTEXT "CUDA_ERROR_INVALID_CONTEXT" "no context is current on this thread, or another one";
    202 CONTEXT_ALREADY_CURRENT "CUDA_ERROR_CONTEXT_ALREADY_CURRENT" "";
    205 MAP_FAILED "CUDA_ERROR_MAP_FAILED" "";
    206 UNMAP_FAILED "CUDA_ERROR_UNMAP_FAILED" "";
    207 ARRAY_IS_MAPPED "CUDA_ERROR_ARRAY_IS_MAPPED" "";
    208 ALREADY_MAPPED "CUDA_ERROR_ALREADY_MAPPED" "";
    209 NO_BINARY_FOR_GPU "CUDA_ERROR_NO_BINARY_FOR_GPU"
        "the image has no code for this device: emit for a target at most the device's compute capability";
    210 ALREADY_ACQUIRED "CUDA_ERROR_ALREADY_ACQUIRED" "";
    211 NOT_MAPPED "CUDA_ERROR_NOT_MAPPED" "";
    212 NOT_MAPPED_AS_ARRAY "CUDA_ERROR_NOT_MAPPED_AS_ARRAY" "";
    213 NOT_MAPPED_AS_POINTER "CUDA_ERROR_NOT_MAPPED_AS_POINTER" "";
    214 ECC_UNCORRECTABLE "CUDA_ERROR_ECC_UNCORRECTABLE" "the device's memory failed; reset or replace it";
    215 UNSUPPORTED_LIMIT "CUDA_ERROR_UNSUPPORTED_LIMIT" "the device has no such limit";
    216 CONTEXT_ALREADY_IN_USE "CUDA_ERROR_CONTEXT_ALREADY_IN_USE"
        "the context is current on another thread, and may be on one alone";
    217 PEER_ACCESS_UNSUPPORTED "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED" "the devices cannot reach each other's memory";
    218 INVALID_PTX "CUDA_ERROR_INVALID_PTX"
        "the driver's assembler refused the PTX; its log has the line. If the log speaks of the SM version, lower the target";
    219 INVALID_GRAPHICS_CONTEXT "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT" "";
    220 NVLINK_UNCORRECTABLE "CUDA_ERROR_NVLINK_UNCORRECTABLE" "an NVLink failed";
    221 JIT_COMPILER_NOT_FOUND "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"
        "the driver's installation lacks libnvidia-ptxjitcompiler: install it, or load a cubin";
    222 UNSUPPORTED_PTX_VERSION "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
        "the PTX is newer than the driver: update the driver, or emit a lower .version";
    223 JIT_COMPILATION_DISABLED "CUDA_ERROR_JIT_COMPILATION_DISABLED"
        "CUDA_DISABLE_PTX_JIT is set: unset it, or load a cubin";
    224 UNSUPPORTED_EXEC_AFFINITY "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY" "";
    225 UNSUPPORTED_DEVSIDE_SYNC "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC"
        "the PTX synchronises with the device from the device, which this driver no longer compiles";
    226 CONTAINED "CUDA_ERROR_CONTAINED"
        "the device contained a failure of an NVLink peer or of hardware. The context is lost";
    227 INSUFFICIENT_LOADER_VERSION "CUDA_ERROR_INSUFFICIENT_LOADER_VERSION" "";
    300 INVALID_SOURCE "CUDA_ERROR_INVALID_SOURCE" "";
    301 FILE_NOT_FOUND "CUDA_ERROR_FILE_NOT_FOUND" "a file that the driver needs is missing";
    302 SHARED_OBJECT_SYMBOL_NOT_FOUND "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND"
        "a library that the driver needs lacks a symbol: its installation is mixed";
    303 SHARED_OBJECT_INIT_FAILED "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED"
        "a library that the driver needs could not be initialised: its installation is mixed";
    304 OPERATING_SYSTEM "CUDA_ERROR_OPERATING_SYSTEM"
        "the operating system refused the driver: check the kernel module, device files, and limits of the container";
    400 INVALID_HANDLE "CUDA_ERROR_INVALID_HANDLE" "the object was destroyed, or belongs to another context";
    401 ILLEGAL_STATE "CUDA_ERROR_ILLEGAL_STATE" "";
    402 LOSSY_QUERY "CUDA_ERROR_LOSSY_QUERY" "";
    500 NOT_FOUND "CUDA_ERROR_NOT_FOUND"
        "the module has nothing of this name; names are those in the PTX, after mapping";
    600 NOT_READY "CUDA_ERROR_NOT_READY" "the work is still running";
    700 ILLEGAL_ADDRESS "CUDA_ERROR_ILLEGAL_ADDRESS"
        "a kernel accessed memory outside its buffers; run it with checked bounds, or on the reference executor, to find where. The context is lost: drop it with all it made and start again in a new process";
    701 LAUNCH_OUT_OF_RESOURCES "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
        "registers per thread times threads, or shared memory, pass what the device has: use smaller workgroups. The context stays usable";
    702 LAUNCH_TIMEOUT "CUDA_ERROR_LAUNCH_TIMEOUT"
        "the kernel ran longer than a device that also drives a display allows: do less per launch. The context is lost";
    703 LAUNCH_INCOMPATIBLE_TEXTURING "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING" "";
    704 PEER_ACCESS_ALREADY_ENABLED "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED" "";
    705 PEER_ACCESS_NOT_ENABLED "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED" "";
    708 PRIMARY_CONTEXT_ACTIVE "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE" "";
    709 CONTEXT_IS_DESTROYED "CUDA_ERROR_CONTEXT_IS_DESTROYED" "the context was destroyed by its owner";
    710 ASSERT "CUDA_ERROR_ASSERT" "an assertion in a kernel failed. The context is lost";
    711 TOO_MANY_PEERS "CUDA_ERROR_TOO_MANY_PEERS" "";
    712 HOST_MEMORY_ALREADY_REGISTERED "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED" "";
    713 HOST_MEMORY_NOT_REGISTERED "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED" "";
    714 HARDWARE_STACK_ERROR "CUDA_ERROR_HARDWARE_STACK_ERROR" "the device's call stack failed. The context is lost";
    715 ILLEGAL_INSTRUCTION "CUDA_ERROR_ILLEGAL_INSTRUCTION"
        "a kernel reached an illegal instruction. The context is lost";
    716 MISALIGNED_ADDRESS "CUDA_ERROR_MISALIGNED_ADDRESS"
        "a kernel accessed memory at an address that is no multiple of the access's size: check how buffers are sliced. The context is lost";
    717 INVALID_ADDRESS_SPACE "CUDA_ERROR_INVALID_ADDRESS_SPACE"
        "a kernel used an address in the wrong state space. The context is lost";
    718 INVALID_PC "CUDA_ERROR_INVALID_PC" "a kernel jumped out of its code. The context is lost";
    719 LAUNCH_FAILED "CUDA_ERROR_LAUNCH_FAILED"
        "a kernel failed while it ran, most often by a wild access to shared or local memory. The context is lost";
    720 COOPERATIVE_LAUNCH_TOO_LARGE "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"
        "more workgroups than the device holds at once";
    721 TENSOR_MEMORY_LEAK "CUDA_ERROR_TENSOR_MEMORY_LEAK"
        "a kernel ended without giving its tensor memory back. The context is lost";
    800 NOT_PERMITTED "CUDA_ERROR_NOT_PERMITTED" "the operation is not permitted here";
    801 NOT_SUPPORTED "CUDA_ERROR_NOT_SUPPORTED" "this device or driver cannot do it";
    802 SYSTEM_NOT_READY "CUDA_ERROR_SYSTEM_NOT_READY"
        "the system is not ready for CUDA: start the fabric manager, or wait for it";
    803 SYSTEM_DRIVER_MISMATCH "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
        "the library and the kernel's driver are of different releases: reboot, or install matching ones";
    804 COMPAT_NOT_SUPPORTED_ON_DEVICE "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"
        "a forward-compatibility library was found, which this device does not support: take it off the search path";
    805 MPS_CONNECTION_FAILED "CUDA_ERROR_MPS_CONNECTION_FAILED"
        "the MPS server cannot be reached: start it, or unset CUDA_MPS_PIPE_DIRECTORY";
    806 MPS_RPC_FAILURE "CUDA_ERROR_MPS_RPC_FAILURE" "";
    807 MPS_SERVER_NOT_READY "CUDA_ERROR_MPS_SERVER_NOT_READY" "the MPS server is not ready for clients: try again";
    808 MPS_MAX_CLIENTS_REACHED "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED" "the MPS server has as many clients as it takes";
    809 MPS_MAX_CONNECTIONS_REACHED "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED" "";
    810 MPS_CLIENT_TERMINATED "CUDA_ERROR_MPS_CLIENT_TERMINATED"
        "the MPS server ended this client: start the program again";
    811 CDP_NOT_SUPPORTED "CUDA_ERROR_CDP_NOT_SUPPORTED" "";
    812 CDP_VERSION_MISMATCH "CUDA_ERROR_CDP_VERSION_MISMATCH" "";
    900 STREAM_CAPTURE_UNSUPPORTED "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
        "a stream that is being captured cannot do this";
    901 STREAM_CAPTURE_INVALIDATED "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" "an earlier error ended the capture";
    902 STREAM_CAPTURE_MERGE "CUDA_ERROR_STREAM_CAPTURE_MERGE" "two captures cannot be joined";
    903 STREAM_CAPTURE_UNMATCHED "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED" "the capture was not begun in this stream";
    904 STREAM_CAPTURE_UNJOINED "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"
        "work that the capture forked to another stream was not joined again";
    905 STREAM_CAPTURE_ISOLATION "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"
        "captured work cannot wait for work that is not captured";
    906 STREAM_CAPTURE_IMPLICIT "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"
        "the legacy default stream was used while a stream that it waits for is captured: use non-blocking streams";
    907 CAPTURED_EVENT "CUDA_ERROR_CAPTURED_EVENT" "an event that was recorded in a capture cannot be waited for";
    908 STREAM_CAPTURE_WRONG_THREAD "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"
        "the capture must end on the thread that began it";
    909 TIMEOUT "CUDA_ERROR_TIMEOUT" "";
    910 GRAPH_EXEC_UPDATE_FAILURE "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"
        "the graph differs in more than parameters: instantiate it anew";
    911 EXTERNAL_DEVICE "CUDA_ERROR_EXTERNAL_DEVICE" "a device outside of CUDA signalled an error";
    912 INVALID_CLUSTER_SIZE "CUDA_ERROR_INVALID_CLUSTER_SIZE" "";
    913 FUNCTION_NOT_LOADED "CUDA_ERROR_FUNCTION_NOT_LOADED" "";
    914 INVALID_RESOURCE_TYPE "CUDA_ERROR_INVALID_RESOURCE_TYPE" "";
    915 INVALID_RESOURCE_CONFIGURATION "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION" "";
    916 KEY_ROTATION "CUDA_ERROR_KEY_ROTATION" "";
    917 STREAM_DETACHED "CUDA_ERROR_STREAM_DETACHED" "the stream's green context was destroyed";
    918 GRAPH_RECAPTURE_FAILURE "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE" "";
    919 FABRIC_NOT_READY "CUDA_ERROR_FABRIC_NOT_READY" "";
    999 UNKNOWN "CUDA_ERROR_UNKNOWN" "";
}

impl Code {
    /// Whether work on the device failed so that its context is lost: every later call in it answers the same.
    ///
    /// Such codes come from work started earlier, whichever call returns them.
    pub const fn is_sticky(self) -> bool {
        matches!(
            self.0,
            214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721 | 810
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "error {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_that_loading_and_launching_give_have_advice() {
        for code in [
            3, 34, 36, 46, 100, 200, 209, 218, 222, 301, 304, 500, 700, 701, 702, 716, 719, 800,
            802, 803, 805,
        ] {
            assert!(Code(code).name().is_some(), "{code}");
            assert!(!Code(code).advice().is_empty(), "{code}");
        }
        assert_eq!(Code(9999).name(), None);
        assert!(!Code::LAUNCH_OUT_OF_RESOURCES.is_sticky());
        assert!(!Code::OUT_OF_MEMORY.is_sticky());
        let mut sorted = Code::NAMED.to_vec();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted, Code::NAMED);
    }
}
