//! The numbers that the driver answers with.

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
    34 STUB_LIBRARY "CUDA_ERROR_STUB_LIBRARY"
        "this is the toolkit's stub library, which only serves for linking; put the driver's own library first on the search path";
    100 NO_DEVICE "CUDA_ERROR_NO_DEVICE"
        "no CUDA device is visible; check the driver, CUDA_VISIBLE_DEVICES, and that a container is given the GPU";
    101 INVALID_DEVICE "CUDA_ERROR_INVALID_DEVICE" "there is no device of this number";
    200 INVALID_IMAGE "CUDA_ERROR_INVALID_IMAGE" "the image is neither PTX nor a cubin for this device";
    201 INVALID_CONTEXT "CUDA_ERROR_INVALID_CONTEXT" "no context is current on this thread, or another one";
    209 NO_BINARY_FOR_GPU "CUDA_ERROR_NO_BINARY_FOR_GPU"
        "the image has no code for this device: emit for a target at most the device's compute capability";
    214 ECC_UNCORRECTABLE "CUDA_ERROR_ECC_UNCORRECTABLE" "the device's memory failed; reset or replace it";
    218 INVALID_PTX "CUDA_ERROR_INVALID_PTX"
        "the driver's assembler refused the PTX; its log has the line. If the log speaks of the SM version, lower the target";
    220 NVLINK_UNCORRECTABLE "CUDA_ERROR_NVLINK_UNCORRECTABLE" "an NVLink failed";
    221 JIT_COMPILER_NOT_FOUND "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"
        "the driver's installation lacks libnvidia-ptxjitcompiler: install it, or load a cubin";
    222 UNSUPPORTED_PTX_VERSION "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
        "the PTX is newer than the driver: update the driver, or emit a lower .version";
    223 JIT_COMPILATION_DISABLED "CUDA_ERROR_JIT_COMPILATION_DISABLED"
        "CUDA_DISABLE_PTX_JIT is set: unset it, or load a cubin";
    301 FILE_NOT_FOUND "CUDA_ERROR_FILE_NOT_FOUND" "a file that the driver needs is missing";
    400 INVALID_HANDLE "CUDA_ERROR_INVALID_HANDLE" "the object was destroyed, or belongs to another context";
    401 ILLEGAL_STATE "CUDA_ERROR_ILLEGAL_STATE" "";
    500 NOT_FOUND "CUDA_ERROR_NOT_FOUND" "the module has nothing of this name; names are those in the PTX, after mapping";
    600 NOT_READY "CUDA_ERROR_NOT_READY" "the work is still running";
    700 ILLEGAL_ADDRESS "CUDA_ERROR_ILLEGAL_ADDRESS"
        "a kernel accessed memory outside its buffers; run it with checked bounds, or on the reference executor, to find where. The context is lost: drop it with all it made and start again in a new process";
    701 LAUNCH_OUT_OF_RESOURCES "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
        "registers per thread times threads, or shared memory, pass what the device has: use smaller workgroups. The context stays usable";
    702 LAUNCH_TIMEOUT "CUDA_ERROR_LAUNCH_TIMEOUT"
        "the kernel ran longer than a device that also drives a display allows: do less per launch. The context is lost";
    709 CONTEXT_IS_DESTROYED "CUDA_ERROR_CONTEXT_IS_DESTROYED" "the context was destroyed by its owner";
    710 ASSERT "CUDA_ERROR_ASSERT" "an assertion in a kernel failed. The context is lost";
    714 HARDWARE_STACK_ERROR "CUDA_ERROR_HARDWARE_STACK_ERROR" "the device's call stack failed. The context is lost";
    715 ILLEGAL_INSTRUCTION "CUDA_ERROR_ILLEGAL_INSTRUCTION" "a kernel reached an illegal instruction. The context is lost";
    716 MISALIGNED_ADDRESS "CUDA_ERROR_MISALIGNED_ADDRESS"
        "a kernel accessed memory at an address that is no multiple of the access's size: check how buffers are sliced. The context is lost";
    717 INVALID_ADDRESS_SPACE "CUDA_ERROR_INVALID_ADDRESS_SPACE" "a kernel used an address in the wrong state space. The context is lost";
    718 INVALID_PC "CUDA_ERROR_INVALID_PC" "a kernel jumped out of its code. The context is lost";
    719 LAUNCH_FAILED "CUDA_ERROR_LAUNCH_FAILED"
        "a kernel failed while it ran, most often by a wild access to shared or local memory. The context is lost";
    801 NOT_SUPPORTED "CUDA_ERROR_NOT_SUPPORTED" "this device or driver cannot do it";
    803 SYSTEM_DRIVER_MISMATCH "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
        "the library and the kernel's driver are of different releases: reboot, or install matching ones";
    804 COMPAT_NOT_SUPPORTED_ON_DEVICE "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"
        "a forward-compatibility library was found, which this device does not support: take it off the search path";
    900 STREAM_CAPTURE_UNSUPPORTED "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" "a stream that is being captured cannot do this";
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
    999 UNKNOWN "CUDA_ERROR_UNKNOWN" "";
}

impl Code {
    /// Whether work on the device failed so that its context is lost: every later call in it answers the same.
    ///
    /// Such codes come from work started earlier, whichever call returns them.
    pub const fn is_sticky(self) -> bool {
        matches!(self.0, 214 | 220 | 700 | 702 | 709 | 710 | 714..=719)
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
            3, 34, 100, 200, 209, 218, 222, 301, 500, 700, 701, 702, 716, 719,
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
