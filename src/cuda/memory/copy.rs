//! Copies and fills.
//!
//! Those that return data to the host, or take it from memory that the host may change, have ended when they return. Those
//! of [`Stream`] run in the stream's order.

use super::super::result::{Error, Result, call};
use super::super::slots::Slot;
use super::super::stream::Stream;
use super::super::sys::CUstream;
use super::{DeviceSlice, DeviceSliceMut, PinnedBuffer, View};
use bytemuck::Pod;
use std::sync::Arc;

fn same_len(call: &'static str, source_len: usize, destination_len: usize) -> Result<()> {
    if source_len == destination_len {
        Ok(())
    } else {
        Err(Error::LengthMismatch {
            call,
            source_len,
            destination_len,
        })
    }
}

pub(super) fn to_vec<T: Pod>(view: View<'_>) -> Result<Vec<T>> {
    let mut elements = vec![T::zeroed(); view.len];
    read(view, &mut elements)?;
    Ok(elements)
}

pub(super) fn read<T: Pod>(view: View<'_>, to: &mut [T]) -> Result<()> {
    same_len("read", view.len, to.len())?;
    let bytes = size_of_val(to);
    if bytes == 0 {
        return Ok(());
    }
    view.wait()?;
    let shared = view.shared;
    let _entered = shared.enter()?;
    let host = to.as_mut_ptr().cast();
    // SAFETY: `host` is `bytes` long and ours alone; the device memory is as long, its view's length having been checked
    // where it was made, and alive for the length of the borrow. The call returns after the copy, and every bit pattern
    // is a `Pod`.
    unsafe { call!(shared.api, cuMemcpyDtoH_v2(host, view.ptr, bytes)) }.map_err(|e| shared.note(e))
}

pub(super) fn write<T: Pod>(view: View<'_>, from: &[T]) -> Result<()> {
    same_len("write", from.len(), view.len)?;
    let bytes = size_of_val(from);
    if bytes == 0 {
        return Ok(());
    }
    view.wait()?;
    let shared = view.shared;
    let _entered = shared.enter()?;
    let host = from.as_ptr().cast();
    // SAFETY: `host` is `bytes` long and only read; the device memory is as long and alive for the length of the borrow.
    unsafe { call!(shared.api, cuMemcpyHtoD_v2(view.ptr, host, bytes)) }
        .map_err(|e| shared.note(e))?;
    // From pageable memory the call may return once the data is staged, before it is at its place; and streams that do not
    // wait for the default stream would not wait for it either.
    // SAFETY: the null stream always exists.
    let arrived = unsafe { call!(shared.api, cuStreamSynchronize(CUstream::NULL)) };
    arrived.map_err(|e| {
        // The copy may be under way still: whoever frees the memory waits for the whole context.
        if let Some(owner) = view.owner {
            owner.uses.mark(Slot::OVERFLOW);
        }
        shared.note(e)
    })
}

impl Stream {
    fn same_context(&self, call: &'static str, view: &View<'_>) -> Result<()> {
        if Arc::ptr_eq(&self.inner.shared, view.shared) {
            Ok(())
        } else {
            Err(Error::OtherContext {
                call,
                what: "the buffer",
            })
        }
    }

    /// Copies elements on the device, in the order of this stream. The two may overlap only when they are the same.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::OtherContext`], and what the driver answers.
    pub fn copy<'s, 'd, T: Pod>(
        &self,
        from: impl Into<DeviceSlice<'s, T>>,
        to: impl Into<DeviceSliceMut<'d, T>>,
    ) -> Result<()> {
        let (from, to) = (from.into().view, to.into().view);
        same_len("copy", from.len, to.len)?;
        self.same_context("copy", &from)?;
        self.same_context("copy", &to)?;
        let bytes = from.len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let shared = &self.inner.shared;
        let _entered = shared.enter()?;
        // SAFETY: both are `bytes` long and stay alive until the stream has passed: they are marked as used on it or kept by
        // the graph, and memory that others own is alive by its owner's promise.
        self.inner.transfer(&[&from, &to], || unsafe {
            call!(
                shared.api,
                cuMemcpyDtoDAsync_v2(to.ptr, from.ptr, bytes, self.inner.raw)
            )
        })
    }

    /// Copies from pinned memory to the device, in the order of this stream. The host may read the pinned memory meanwhile;
    /// before it can write it, it waits.
    ///
    /// # Errors
    /// As [`Stream::copy`].
    pub fn upload<'d, T: Pod>(
        &self,
        from: &PinnedBuffer<T>,
        to: impl Into<DeviceSliceMut<'d, T>>,
    ) -> Result<()> {
        let to = to.into().view;
        same_len("upload", from.len(), to.len)?;
        self.same_context("upload", &to)?;
        if !from.belongs_to(&self.inner.shared) {
            return Err(Error::OtherContext {
                call: "upload",
                what: "the pinned buffer",
            });
        }
        let bytes = from.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        self.inner.must_run("Stream::upload")?;
        let shared = &self.inner.shared;
        let _entered = shared.enter()?;
        to.use_on(&self.inner)?;
        from.uses().mark(self.inner.slot);
        // SAFETY: both are `bytes` long and marked as used on the stream, so neither is freed, nor can the host write the
        // source, until the stream has passed.
        unsafe {
            call!(
                shared.api,
                cuMemcpyHtoDAsync_v2(to.ptr, from.as_raw().cast(), bytes, self.inner.raw)
            )
        }
        .map_err(|e| shared.note(e))
    }

    /// Copies from the device to pinned memory, in the order of this stream. Before the host can look at it, it waits.
    ///
    /// # Errors
    /// As [`Stream::copy`].
    pub fn download<'s, T: Pod>(
        &self,
        from: impl Into<DeviceSlice<'s, T>>,
        to: &mut PinnedBuffer<T>,
    ) -> Result<()> {
        let from = from.into().view;
        same_len("download", from.len, to.len())?;
        self.same_context("download", &from)?;
        if !to.belongs_to(&self.inner.shared) {
            return Err(Error::OtherContext {
                call: "download",
                what: "the pinned buffer",
            });
        }
        let bytes = from.len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        self.inner.must_run("Stream::download")?;
        let shared = &self.inner.shared;
        let _entered = shared.enter()?;
        from.use_on(&self.inner)?;
        to.uses().mark(self.inner.slot);
        // SAFETY: both are `bytes` long and marked as used on the stream, so neither is freed, nor can the host see the
        // destination, until the stream has passed. The caller's exclusive borrow means that no reference into it exists.
        unsafe {
            call!(
                shared.api,
                cuMemcpyDtoHAsync_v2(to.as_raw().cast(), from.ptr, bytes, self.inner.raw)
            )
        }
        .map_err(|e| shared.note(e))
    }

    /// Sets every element to `value`, in the order of this stream.
    ///
    /// Values of which the driver can repeat 1, 2 or 4 bytes (all numbers up to 32 bits, zero, and what consists of one such
    /// word) are set on the device; others are copied from the host, which waits.
    ///
    /// # Errors
    /// [`Error::OtherContext`], and what the driver answers.
    pub fn fill<'d, T: Pod>(&self, to: impl Into<DeviceSliceMut<'d, T>>, value: T) -> Result<()> {
        let to = to.into().view;
        self.same_context("fill", &to)?;
        let bytes = to.len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let shared = &self.inner.shared;
        let entered = shared.enter()?;
        let (api, stream) = (&shared.api, self.inner.raw);
        match Pattern::of(bytemuck::bytes_of(&value)) {
            // SAFETY: the memory is `bytes` long and marked as used on the stream or kept by the graph, so it stays until the
            // stream has passed.
            Pattern::One(v) => self.inner.transfer(&[&to], || unsafe {
                call!(api, cuMemsetD8Async(to.ptr, v, bytes, stream))
            }),
            // SAFETY: as above; `bytes` is a multiple of 2.
            Pattern::Two(v) => self.inner.transfer(&[&to], || unsafe {
                call!(api, cuMemsetD16Async(to.ptr, v, bytes / 2, stream))
            }),
            // SAFETY: as above; `bytes` is a multiple of 4.
            Pattern::Four(v) => self.inner.transfer(&[&to], || unsafe {
                call!(api, cuMemsetD32Async(to.ptr, v, bytes / 4, stream))
            }),
            Pattern::Other => {
                drop(entered);
                self.inner.must_run("Stream::fill")?;
                write(to, &vec![value; to.len])
            }
        }
    }
}

/// The shortest word that a value repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pattern {
    One(u8),
    Two(u16),
    Four(u32),
    Other,
}

impl Pattern {
    pub fn of(bytes: &[u8]) -> Pattern {
        fn repeats<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
            let (words, rest) = bytes.as_chunks::<N>();
            let first = *words.first()?;
            (rest.is_empty() && words.iter().all(|word| *word == first)).then_some(first)
        }
        if let Some([v]) = repeats::<1>(bytes) {
            Pattern::One(v)
        } else if let Some(v) = repeats::<2>(bytes) {
            Pattern::Two(u16::from_ne_bytes(v))
        } else if let Some(v) = repeats::<4>(bytes) {
            Pattern::Four(u32::from_ne_bytes(v))
        } else {
            Pattern::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_are_the_shortest() {
        assert_eq!(Pattern::of(&[0; 16]), Pattern::One(0));
        assert_eq!(Pattern::of(&7u16.to_ne_bytes()), Pattern::Two(7));
        assert_eq!(
            Pattern::of(bytemuck::bytes_of(&1.0f32)),
            Pattern::Four(1.0f32.to_bits())
        );
        assert_eq!(
            Pattern::of(bytemuck::bytes_of(&[2.0f32; 2])),
            Pattern::Four(2.0f32.to_bits())
        );
        assert_eq!(Pattern::of(bytemuck::bytes_of(&1.0f64)), Pattern::Other);
        assert_eq!(
            Pattern::of(bytemuck::bytes_of(&[1u8, 2, 3])),
            Pattern::Other
        );
    }
}
