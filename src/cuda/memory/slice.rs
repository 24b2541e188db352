//! Parts of buffers, and memory that others own.

use super::super::Context;
use super::super::result::{Error, Result};
use super::super::shared::Shared;
use super::super::stream::StreamInner;
use super::super::sys::CUdeviceptr;
use super::{Allocation, bytes_of};
use bytemuck::Pod;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};
use std::sync::Arc;

/// Where a slice is, without its element type.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub shared: &'a Arc<Shared>,
    pub ptr: CUdeviceptr,
    /// Elements.
    pub len: usize,
    /// Whose memory it is; `None` for what was adopted, which its owner keeps alive.
    pub owner: Option<&'a Arc<Allocation>>,
}

impl<'a> View<'a> {
    pub fn of(allocation: &'a Arc<Allocation>, len: usize) -> View<'a> {
        View {
            shared: &allocation.shared,
            ptr: allocation.ptr,
            len,
            owner: Some(allocation),
        }
    }

    fn part(self, range: impl RangeBounds<usize>, size: usize) -> Option<View<'a>> {
        let start = match range.start_bound() {
            Bound::Included(&n) => n,
            Bound::Excluded(&n) => n.checked_add(1)?,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&n) => n.checked_add(1)?,
            Bound::Excluded(&n) => n,
            Bound::Unbounded => self.len,
        };
        let len = end.checked_sub(start)?;
        if end > self.len {
            return None;
        }
        // An empty part is at address 0, as an empty buffer is. The offset lies within the memory, so nothing overflows.
        let ptr = if len == 0 {
            0
        } else {
            self.ptr + (start * size) as u64
        };
        Some(View { ptr, len, ..self })
    }

    /// The same memory as elements of another size.
    pub fn cast(self, from: usize, to: usize) -> Result<View<'a>> {
        let bytes = self.len * from;
        match bytes.checked_rem(to) {
            Some(0) => Ok(View {
                len: bytes / to,
                ..self
            }),
            _ => Err(Error::Cast { bytes, size: to }),
        }
    }

    /// See [`Allocation::use_on`].
    #[inline]
    pub fn use_on(&self, stream: &StreamInner) -> Result<()> {
        match self.owner {
            Some(owner) => owner.use_on(stream),
            None => Ok(()),
        }
    }

    /// Blocks until all work that was given the memory is over, as far as it is known.
    pub fn wait(&self) -> Result<()> {
        match self.owner {
            Some(owner) => owner.wait(),
            None => Ok(()),
        }
    }
}

/// A part of a buffer, to be read.
pub struct DeviceSlice<'a, T> {
    pub(crate) view: View<'a>,
    _elements: PhantomData<&'a [T]>,
}

/// A part of a buffer that nobody else uses at the same time, to be read and written.
pub struct DeviceSliceMut<'a, T> {
    pub(crate) view: View<'a>,
    _elements: PhantomData<&'a mut [T]>,
}

impl<T> Clone for DeviceSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DeviceSlice<'_, T> {}

macro_rules! common {
    ($($name:ident)*) => {$(
        impl<'a, T: Pod> $name<'a, T> {
            pub(crate) fn of(view: View<'a>) -> Self {
                $name { view, _elements: PhantomData }
            }

            /// Adopts memory of others as `len` elements at a device address. It is never freed here, and nobody waits for
            /// its users.
            ///
            /// # Safety
            /// From `ptr` on there are `len` elements of device memory that is accessible in the context. It stays so until
            /// all work that was given the slice is over, and graphs that were given it are gone and their launches over.
            /// Its alignment is that of `T` at least.
            ///
            /// # Errors
            /// [`Error::Null`] for address 0 with a length; [`Error::TooLarge`].
            pub unsafe fn from_raw(context: &'a Context, ptr: CUdeviceptr, len: usize) -> Result<Self> {
                let bytes = bytes_of::<T>(len)?;
                if ptr == 0 && bytes != 0 {
                    return Err(Error::Null { what: "device address" });
                }
                if ptr.checked_add(bytes as u64).is_none() {
                    return Err(Error::TooLarge { len, size: size_of::<T>() });
                }
                Ok(Self::of(View { shared: &context.shared, ptr, len, owner: None }))
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                self.view.len
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.view.len == 0
            }

            /// The device address; 0 when there are no elements.
            pub fn as_raw(&self) -> CUdeviceptr {
                self.view.ptr
            }

            /// A part of it, or `None` when the range passes its end.
            pub fn get(self, range: impl RangeBounds<usize>) -> Option<Self> {
                self.view.part(range, size_of::<T>()).map(Self::of)
            }

            /// The same memory as elements of another type: `f32` as `[f32; 4]`, or a structure as numbers.
            ///
            /// The launch checks the alignment, which vector types need.
            ///
            /// # Errors
            /// [`Error::Cast`] when the bytes are no whole number of the new elements.
            pub fn cast<U: Pod>(self) -> Result<$name<'a, U>> {
                self.view.cast(size_of::<T>(), size_of::<U>()).map($name::of)
            }

            /// Copies the elements to the host, once all work that was given the buffer is over.
            ///
            /// # Errors
            /// What failed in the meantime, and what the driver answers.
            pub fn to_vec(&self) -> Result<Vec<T>> {
                super::copy::to_vec(self.view)
            }

            /// Copies the elements into a slice of the host of the same length, once all work that was given the buffer is
            /// over.
            ///
            /// # Errors
            /// [`Error::LengthMismatch`], and as [`Self::to_vec`].
            pub fn read(&self, to: &mut [T]) -> Result<()> {
                super::copy::read(self.view, to)
            }
        }

        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:#x}, {} of {})", stringify!($name), self.view.ptr, self.view.len, core::any::type_name::<T>())
            }
        }
    )*};
}

common!(DeviceSlice DeviceSliceMut);

impl<'a, T: Pod> DeviceSliceMut<'a, T> {
    /// Lends it on.
    pub fn reborrow(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::of(self.view)
    }

    /// The same elements, to be read.
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::of(self.view)
    }

    /// Two parts that do not overlap, or `None` when there are fewer than `at` elements.
    pub fn split_at(self, at: usize) -> Option<(DeviceSliceMut<'a, T>, DeviceSliceMut<'a, T>)> {
        let size = size_of::<T>();
        let parts = (self.view.part(..at, size)?, self.view.part(at.., size)?);
        Some((DeviceSliceMut::of(parts.0), DeviceSliceMut::of(parts.1)))
    }

    /// Copies elements of the host into it, once all work that was given the buffer is over. They are there when this
    /// returns.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], what failed in the meantime, and what the driver answers.
    pub fn write(&mut self, from: &[T]) -> Result<()> {
        super::copy::write(self.view, from)
    }
}

impl<'a, T: Pod> From<DeviceSliceMut<'a, T>> for DeviceSlice<'a, T> {
    fn from(slice: DeviceSliceMut<'a, T>) -> Self {
        DeviceSlice::of(slice.view)
    }
}
