//! Pinned memory of the host.

use super::super::Context;
use super::super::result::{Result, call};
use super::super::shared::Shared;
use super::super::slots::Uses;
use super::bytes_of;
use super::settle;
use bytemuck::Pod;
use core::ffi::c_void;
use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

/// An array in page-locked memory of the host, which the device copies from and to while the host goes on.
///
/// The host's accesses wait for the copies that were started. Freed after them, whatever is dropped first.
pub struct PinnedBuffer<T> {
    shared: Arc<Shared>,
    /// Aligned and `len` elements long; dangling when there are no bytes.
    ptr: *mut T,
    len: usize,
    uses: Uses,
    _elements: PhantomData<T>,
}

// SAFETY: the buffer owns its memory as a `Vec<T>` does, and `T: Pod` is plain data; the context behind it is used from
// any thread.
unsafe impl<T: Send> Send for PinnedBuffer<T> {}
// SAFETY: a shared buffer is only read by the host; copies into it need an exclusive borrow.
unsafe impl<T: Sync> Sync for PinnedBuffer<T> {}

impl Context {
    /// A pinned buffer of `len` elements, all of whose bytes are zero.
    ///
    /// # Errors
    /// [`super::super::Error::TooLarge`] before the driver is asked, and what it answers.
    pub fn pinned<T: Pod>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let bytes = bytes_of::<T>(len)?;
        let mut ptr: *mut c_void = core::ptr::NonNull::<T>::dangling().as_ptr().cast();
        if bytes != 0 {
            let _entered = self.shared.enter()?;
            // SAFETY: the pointer is to a live pointer, which the call fills.
            unsafe { call!(self.shared.api, cuMemHostAlloc(&mut ptr, bytes, 0)) }
                .map_err(|e| self.shared.note(e))?;
            // SAFETY: the driver gave `bytes` bytes, which nobody else knows of.
            unsafe { ptr.cast::<u8>().write_bytes(0, bytes) };
        }
        Ok(PinnedBuffer {
            shared: self.shared.clone(),
            ptr: ptr.cast(),
            len,
            uses: Uses::default(),
            _elements: PhantomData,
        })
    }

    /// A pinned buffer with the elements of a slice.
    ///
    /// # Errors
    /// As [`Context::pinned`].
    pub fn pinned_from<T: Pod>(&self, from: &[T]) -> Result<PinnedBuffer<T>> {
        let mut buffer = self.pinned(from.len())?;
        buffer.as_mut_slice()?.copy_from_slice(from);
        Ok(buffer)
    }
}

impl<T: Pod> PinnedBuffer<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address in the host's memory.
    pub fn as_raw(&self) -> *mut T {
        self.ptr
    }

    /// The elements, once the copies that were started are over.
    ///
    /// # Errors
    /// What failed in the meantime.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.shared.wait(&self.uses)?;
        // SAFETY: `len` elements that were written at least once (zeroes at the beginning). The device does not write them
        // while the borrow lasts: copies into the buffer need an exclusive one, and those started before are over.
        Ok(unsafe { core::slice::from_raw_parts(self.ptr, self.len) })
    }

    /// The elements to be written, once the copies that were started are over.
    ///
    /// # Errors
    /// What failed in the meantime.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.shared.wait(&self.uses)?;
        self.uses.clear();
        // SAFETY: as in `as_slice`; the device does not read them either while the exclusive borrow lasts.
        Ok(unsafe { core::slice::from_raw_parts_mut(self.ptr, self.len) })
    }

    pub(super) fn uses(&self) -> &Uses {
        &self.uses
    }

    pub(super) fn belongs_to(&self, shared: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }
}

impl<T> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if self.len == 0 || size_of::<T>() == 0 {
            return;
        }
        match self.shared.enter_anyhow() {
            Ok(_entered) => {
                let waited = self.shared.wait_entered(&self.uses);
                let freed = settle(&self.shared, waited).and_then(|()| {
                    // SAFETY: the memory is ours, and no copy from or to it runs any more.
                    unsafe { call!(self.shared.api, cuMemFreeHost(self.ptr.cast())) }
                });
                self.shared.keep_failure(freed);
            }
            Err(error) => self.shared.keep(error),
        }
    }
}

impl<T> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = core::any::type_name::<T>();
        write!(f, "PinnedBuffer({:p}, {} of {name})", self.ptr, self.len)
    }
}
