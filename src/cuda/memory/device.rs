//! Buffers in device memory.

use super::super::Context;
use super::super::result::{Error, Result};
use super::super::stream::Stream;
use super::super::sys::CUdeviceptr;
use super::{Allocation, DeviceSlice, DeviceSliceMut, View, bytes_of};
use bytemuck::Pod;
use core::fmt;
use core::marker::PhantomData;
use core::ops::RangeBounds;
use std::sync::Arc;

/// An array in device memory.
///
/// Its memory is freed after all work that was given it, whatever is dropped first. An empty one is no memory at all: the
/// driver never hears of it, and a kernel gets address 0.
pub struct DeviceBuffer<T> {
    allocation: Arc<Allocation>,
    len: usize,
    _elements: PhantomData<T>,
}

impl<T: Pod> DeviceBuffer<T> {
    fn new(allocation: Allocation, len: usize) -> DeviceBuffer<T> {
        DeviceBuffer {
            allocation: Arc::new(allocation),
            len,
            _elements: PhantomData,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device address; 0 when there are no elements.
    pub fn as_raw(&self) -> CUdeviceptr {
        self.allocation.ptr
    }

    /// The context it belongs to.
    pub fn context(&self) -> Context {
        Context {
            shared: self.allocation.shared.clone(),
        }
    }

    /// All of it, to be read.
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::of(View::of(&self.allocation, self.len))
    }

    /// All of it, to be written.
    pub fn as_slice_mut(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::of(View::of(&self.allocation, self.len))
    }

    /// A part, or `None` when the range passes its end.
    pub fn get(&self, range: impl RangeBounds<usize>) -> Option<DeviceSlice<'_, T>> {
        self.as_slice().get(range)
    }

    /// A part to be written, or `None` when the range passes its end.
    pub fn get_mut(&mut self, range: impl RangeBounds<usize>) -> Option<DeviceSliceMut<'_, T>> {
        self.as_slice_mut().get(range)
    }

    /// Copies the elements to the host, once all work that was given the buffer is over.
    ///
    /// # Errors
    /// What failed in the meantime, and what the driver answers.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.as_slice().to_vec()
    }

    /// Copies the elements into a slice of the host of the same length, once all work that was given the buffer is over.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], and as [`DeviceBuffer::to_vec`].
    pub fn read(&self, to: &mut [T]) -> Result<()> {
        self.as_slice().read(to)
    }

    /// Copies elements of the host into it, once all work that was given the buffer is over. They are there when this
    /// returns.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], what failed in the meantime, and what the driver answers.
    pub fn write(&mut self, from: &[T]) -> Result<()> {
        self.as_slice_mut().write(from)
    }

    /// Frees it in the order of `stream`, behind all work that was given it, instead of in that of the stream it was
    /// allocated on.
    ///
    /// # Errors
    /// The error with the buffer: [`Error::OtherContext`] for a stream of another context, [`Error::Unsupported`] while a
    /// graph holds the memory. What the driver answers comes without the buffer, which is gone then.
    pub fn free_on(self, stream: &Stream) -> core::result::Result<(), FreeError<T>> {
        if !Arc::ptr_eq(&self.allocation.shared, &stream.inner.shared) {
            let error = Error::OtherContext {
                call: "DeviceBuffer::free_on",
                what: "the stream",
            };
            return Err(FreeError {
                error,
                buffer: Some(self),
            });
        }
        if let Err(error) = stream.inner.must_run("DeviceBuffer::free_on") {
            return Err(FreeError {
                error,
                buffer: Some(self),
            });
        }
        let DeviceBuffer {
            allocation, len, ..
        } = self;
        match Arc::try_unwrap(allocation) {
            Ok(allocation) => allocation
                .free_on(&stream.inner)
                .map_err(|error| FreeError {
                    error,
                    buffer: None,
                }),
            Err(allocation) => Err(FreeError {
                error: Error::Unsupported("a graph holds the buffer's memory"),
                buffer: Some(DeviceBuffer {
                    allocation,
                    len,
                    _elements: PhantomData,
                }),
            }),
        }
    }
}

/// A buffer could not be freed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct FreeError<T> {
    /// Why.
    #[source]
    pub error: Error,
    /// The buffer, where it still is one.
    pub buffer: Option<DeviceBuffer<T>>,
}

impl<T> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = core::any::type_name::<T>();
        write!(
            f,
            "DeviceBuffer({:#x}, {} of {name})",
            self.allocation.ptr, self.len
        )
    }
}

impl Context {
    /// A buffer of `len` elements. They hold anything until written.
    ///
    /// # Errors
    /// [`Error::TooLarge`] before the driver is asked, and what it answers.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        let allocation = Allocation::immediate(&self.shared, bytes_of::<T>(len)?)?;
        Ok(DeviceBuffer::new(allocation, len))
    }

    /// A buffer with the elements of a slice of the host.
    ///
    /// # Errors
    /// As [`Context::alloc`].
    pub fn upload<T: Pod>(&self, from: &[T]) -> Result<DeviceBuffer<T>> {
        let mut buffer = self.alloc(from.len())?;
        buffer.write(from)?;
        Ok(buffer)
    }
}

impl Stream {
    /// A buffer of `len` elements, allocated in the order of this stream and freed in it. They hold anything until written.
    ///
    /// It may be given to other streams too: their work then waits for the allocation, and the memory is freed behind it.
    /// Where driver or device cannot allocate so, the memory is allocated at once.
    ///
    /// # Errors
    /// [`Error::TooLarge`] before the driver is asked, and what it answers.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        self.inner.must_run("Stream::alloc")?;
        let allocation = Allocation::ordered(&self.inner, bytes_of::<T>(len)?)?;
        Ok(DeviceBuffer::new(allocation, len))
    }

    /// A buffer of `len` elements all of whose bytes are zero for work put in from now on.
    ///
    /// # Errors
    /// As [`Stream::alloc`].
    pub fn alloc_zeroed<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        let mut buffer = self.alloc(len)?;
        self.fill(&mut buffer, T::zeroed())?;
        Ok(buffer)
    }
}

macro_rules! into_slices {
    ($name:ident) => {
        impl<'a, T: bytemuck::Pod> From<&'a $name<T>> for DeviceSlice<'a, T> {
            fn from(buffer: &'a $name<T>) -> Self {
                buffer.as_device_slice()
            }
        }

        impl<'a, T: bytemuck::Pod> From<&'a mut $name<T>> for DeviceSliceMut<'a, T> {
            fn from(buffer: &'a mut $name<T>) -> Self {
                buffer.as_device_slice_mut()
            }
        }
    };
}
pub(super) use into_slices;

impl<T: Pod> DeviceBuffer<T> {
    fn as_device_slice(&self) -> DeviceSlice<'_, T> {
        self.as_slice()
    }

    fn as_device_slice_mut(&mut self) -> DeviceSliceMut<'_, T> {
        self.as_slice_mut()
    }
}

into_slices!(DeviceBuffer);
