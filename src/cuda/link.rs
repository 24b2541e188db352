//! Turning PTX into machine code that can be kept.

use super::jit::{LoadOptions, Request};
use super::module::{fits, refused, terminated};
use super::result::{Result, call};
use super::shared::Shared;
use super::sys::{CU_JIT_INPUT_PTX, CUlinkState};
use super::{Context, cubin};
use core::ffi::c_void;

impl Context {
    /// Assembles a PTX text to a cubin for this context's device (`cuLinkComplete`). [`super::Module::load_cubin`] loads it,
    /// here or on another device of the same architecture; [`super::cache`] does both and keeps the cubin.
    ///
    /// # Errors
    /// As [`super::Module::load`].
    pub fn assemble(&self, ptx: &str, options: &LoadOptions) -> Result<Vec<u8>> {
        let shared = &self.shared;
        let text = terminated(ptx)?;
        fits(shared, ptx)?;
        let mut request = Request::new(options);
        let result = {
            let _entered = shared.enter()?;
            link(shared, text.as_bytes_with_nul(), &mut request)
        };
        let (error_log, info_log) = request.logs();
        let bytes = result.map_err(|error| refused(shared, error, error_log, &info_log))?;
        cubin::check(&bytes).map_err(super::JitError::Cubin)?;
        Ok(bytes)
    }
}

/// The context is current; `text` ends in a NUL. The linker writes its logs into `request` until it is destroyed, which is
/// before this returns.
fn link(shared: &Shared, text: &[u8], request: &mut Request) -> Result<Vec<u8>> {
    let (keys, values) = (request.keys.as_mut_ptr(), request.values.as_mut_ptr());
    let mut state = CUlinkState::NULL;
    // SAFETY: both arrays are `count` long and live, with the buffers in them, in `request`, longer than the linker.
    unsafe {
        call!(
            shared.api,
            cuLinkCreate_v2(request.count, keys, values, &mut state)
        )
    }?;
    let linked = complete(shared, state, text);
    // SAFETY: the linker was made above, and nothing made by it is used after this.
    let destroyed = unsafe { call!(shared.api, cuLinkDestroy(state)) };
    let bytes = linked?;
    shared.keep_failure(destroyed);
    Ok(bytes)
}

fn complete(shared: &Shared, state: CUlinkState, text: &[u8]) -> Result<Vec<u8>> {
    let data: *mut c_void = text.as_ptr().cast_mut().cast();
    let name = c"kernite".as_ptr();
    let (no_keys, no_values) = (core::ptr::null_mut(), core::ptr::null_mut());
    // SAFETY: the linker is alive; the text is as long as it is told and only read; there are no options.
    unsafe {
        call!(
            shared.api,
            cuLinkAddData_v2(
                state,
                CU_JIT_INPUT_PTX,
                data,
                text.len(),
                name,
                0,
                no_keys,
                no_values
            )
        )
    }?;
    let (mut image, mut len): (*mut c_void, usize) = (core::ptr::null_mut(), 0);
    // SAFETY: the linker is alive, and the pointers are to a live pointer and a live integer, which the call fills.
    unsafe { call!(shared.api, cuLinkComplete(state, &mut image, &mut len)) }?;
    if image.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: the driver gave `len` bytes, which are its own until the linker is destroyed.
    Ok(unsafe { core::slice::from_raw_parts(image.cast::<u8>(), len) }.to_vec())
}
