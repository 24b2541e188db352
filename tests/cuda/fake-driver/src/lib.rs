//! A CUDA driver without a GPU.
//!
//! It has the entry points that kernite calls, does what can be done on the host (memory is real, copies copy, contexts
//! are current per thread), and keeps books: every call is logged, every handle that is alive is counted, any call can be
//! made to fail, and what a real driver would let pass into undefined behaviour is noted as a violation: a handle that is
//! gone, the wrong context, memory that is freed while work that was given it may still run.
//!
//! Nothing ever runs on it, so work of a stream counts as running until somebody waits for it. What waits for what is
//! followed with vector clocks (`clock`).
//!
//! Each loaded copy of the library has books of its own; tests load a copy each. They ask through the `fake_*` functions.
#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

mod capture;
mod clock;
mod context;
mod control;
mod graph;
mod image;
mod launch;
mod memory;
mod module;
mod state;
mod stream;

/// `CUDA_ERROR_INVALID_VALUE`.
const INVALID_VALUE: u32 = 1;
/// `CUDA_ERROR_INVALID_DEVICE`.
const INVALID_DEVICE: u32 = 101;
/// `CUDA_ERROR_INVALID_CONTEXT`.
const INVALID_CONTEXT: u32 = 201;
/// `CUDA_ERROR_INVALID_HANDLE`.
const INVALID_HANDLE: u32 = 400;
/// `CUDA_ERROR_NOT_FOUND`.
const NOT_FOUND: u32 = 500;
/// `CUDA_ERROR_NOT_READY`.
const NOT_READY: u32 = 600;

/// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED`.
const CAPTURE_UNSUPPORTED: u32 = 900;
/// `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
const CAPTURE_INVALIDATED: u32 = 901;

/// What an entry point returns for what its body does.
fn code_of(body: impl FnOnce() -> Result<(), u32>) -> u32 {
    body().err().unwrap_or(0)
}

/// Defines an entry point. The call is logged; where a failure was asked for it is returned, before the body runs, or, for
/// entry points marked `gives back`, after it: a real driver frees what it is told to free and reports what else failed.
macro_rules! entry {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) |$state:ident| $body:block)*) => {$(
        /// See the CUDA driver's documentation.
        #[unsafe(no_mangle)]
        pub unsafe extern "system" fn $name($($arg: $ty),*) -> u32 {
            let mut guard = $crate::state::lock();
            let $state = &mut *guard;
            let failure = $state.enter(stringify!($name), &[$(&$arg as &dyn std::fmt::Debug),*]);
            if failure != 0 {
                return failure;
            }
            $crate::code_of(|| $body)
        }
    )*};
    (gives back $(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) |$state:ident| $body:block)*) => {$(
        /// See the CUDA driver's documentation.
        #[unsafe(no_mangle)]
        pub unsafe extern "system" fn $name($($arg: $ty),*) -> u32 {
            let mut guard = $crate::state::lock();
            let $state = &mut *guard;
            let failure = $state.enter(stringify!($name), &[$(&$arg as &dyn std::fmt::Debug),*]);
            let code = $crate::code_of(|| $body);
            if failure != 0 { failure } else { code }
        }
    )*};
}
pub(crate) use entry;
