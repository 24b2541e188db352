//! Managed memory, which host and device both see.

use super::super::Context;
use super::super::result::{Error, Result};
use super::super::sys::CUdeviceptr;
use super::device::into_slices;
use super::{Allocation, DeviceSlice, DeviceSliceMut, View, bytes_of};
use bytemuck::Pod;
use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

/// An array in managed memory: one address for host and device, pages moving between them.
///
/// The host's accesses wait for the work that was given the buffer, and kernels that write it need an exclusive borrow, so
/// host and device never race. Only on devices on which both may access managed memory at the same time.
pub struct UnifiedBuffer<T> {
    allocation: Arc<Allocation>,
    len: usize,
    _elements: PhantomData<T>,
}

impl Context {
    /// A buffer of `len` elements in managed memory, all of whose bytes are zero.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on devices without concurrent managed access (Windows, and GPUs before Pascal): there the
    /// host may touch managed memory only while nothing at all runs, which nothing could check. [`Error::TooLarge`], and
    /// what the driver answers.
    pub fn unified<T: Pod>(&self, len: usize) -> Result<UnifiedBuffer<T>> {
        let limits = &self.shared.limits;
        if !limits.managed_memory || !limits.concurrent_managed_access {
            return Err(Error::Unsupported(
                "host and device may not access managed memory at the same time",
            ));
        }
        let bytes = bytes_of::<T>(len)?;
        let allocation = Allocation::managed(&self.shared, bytes)?;
        if bytes != 0 {
            // SAFETY: the driver gave `bytes` bytes at an address that the host may access, and nobody else knows of them.
            unsafe {
                core::ptr::with_exposed_provenance_mut::<u8>(address(allocation.ptr))
                    .write_bytes(0, bytes)
            };
        }
        Ok(UnifiedBuffer {
            allocation: Arc::new(allocation),
            len,
            _elements: PhantomData,
        })
    }
}

/// Managed memory has one address for both sides, so it fits the host's.
fn address(ptr: CUdeviceptr) -> usize {
    ptr as usize
}

impl<T: Pod> UnifiedBuffer<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address, the same on both sides; 0 when there are no elements.
    pub fn as_raw(&self) -> CUdeviceptr {
        self.allocation.ptr
    }

    fn host(&self) -> *mut T {
        if self.allocation.ptr == 0 {
            return core::ptr::NonNull::dangling().as_ptr();
        }
        core::ptr::with_exposed_provenance_mut(address(self.allocation.ptr))
    }

    /// The elements, once the work that was given the buffer is over.
    ///
    /// # Errors
    /// What failed in the meantime.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.allocation.wait()?;
        // SAFETY: `len` elements, zeroed at the beginning, at an address that is page-aligned. Work that writes them needs
        // an exclusive borrow of the buffer, so there is none while this one lasts; the device allows reads by both.
        Ok(unsafe { core::slice::from_raw_parts(self.host(), self.len) })
    }

    /// The elements to be written, once the work that was given the buffer is over.
    ///
    /// # Errors
    /// What failed in the meantime.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.allocation.wait()?;
        // SAFETY: as in `as_slice`; no work can be given the buffer while the exclusive borrow lasts.
        Ok(unsafe { core::slice::from_raw_parts_mut(self.host(), self.len) })
    }

    /// All of it as the device sees it, to be read.
    pub fn as_device_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::of(View::of(&self.allocation, self.len))
    }

    /// All of it as the device sees it, to be written.
    pub fn as_device_slice_mut(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::of(View::of(&self.allocation, self.len))
    }
}

into_slices!(UnifiedBuffer);

impl<T> fmt::Debug for UnifiedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = core::any::type_name::<T>();
        write!(
            f,
            "UnifiedBuffer({:#x}, {} of {name})",
            self.allocation.ptr, self.len
        )
    }
}
