//! SPIRV-Tools' validator in this process, from its shared library where that is installed: compiling it takes long.
#![allow(unsafe_code)]

use kernite_testkit::tools;
use libloading::Library;
use std::ffi::{c_int, c_void};
use std::ptr;

type CreateContext = unsafe extern "C" fn(c_int) -> *mut c_void;
type ValidateBinary =
    unsafe extern "C" fn(*const c_void, *const u32, usize, *mut *mut c_void) -> c_int;

/// `SPV_ENV_VULKAN_1_1` of libspirv.h.
const VULKAN_1_1: c_int = 18;

/// A validator with its context, which is kept.
#[derive(Debug)]
pub struct SpirvTools {
    context: *mut c_void,
    validate: ValidateBinary,
}

impl SpirvTools {
    /// The library of the oracles' folder; `None` where there is none.
    ///
    /// # Panics
    /// Where it cannot be used.
    pub fn load() -> Option<SpirvTools> {
        let pattern = "*/lib/python3*/site-packages/cmeel.prefix/lib/libSPIRV-Tools-shared.so";
        let path = tools::find(&tools::folder(), pattern).into_iter().next()?;
        // SAFETY: the library's initialisers are those of the C++ standard library; it is never unloaded.
        let library = Box::leak(Box::new(
            unsafe { Library::new(path) }.expect("SPIRV-Tools"),
        ));
        // SAFETY: the types are those of libspirv.h, with pointers to its opaque structures.
        let (create, validate) = unsafe {
            let create = library.get::<CreateContext>(b"spvContextCreate\0");
            let validate = library.get::<ValidateBinary>(b"spvValidateBinary\0");
            (*create.expect("a function"), *validate.expect("a function"))
        };
        // SAFETY: the function takes any environment of its enumeration. The context is never destroyed.
        let context = unsafe { create(VULKAN_1_1) };
        assert!(!context.is_null());
        Some(SpirvTools { context, validate })
    }

    /// Validates a module.
    ///
    /// # Panics
    /// Where it is not valid.
    pub fn validate(&self, words: &[u32]) {
        // SAFETY: the context lives, the words are there, and without a place for it no diagnostic is made.
        let result =
            unsafe { (self.validate)(self.context, words.as_ptr(), words.len(), ptr::null_mut()) };
        assert_eq!(result, 0, "SPIRV-Tools refuses the module");
    }
}
