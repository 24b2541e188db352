//! The arguments of a launch.

use super::super::memory::{
    BF16, DeviceBuffer, DeviceSlice, DeviceSliceMut, Element, F16, UnifiedBuffer, View,
};
use super::super::result::Result;
use crate::types::{Const, Type};
use core::fmt;

/// An argument: a buffer to be read (`&buffer`), a buffer that the kernel may write (`&mut buffer`), or a number.
///
/// [`crate::cuda::args`] makes an array of them:
///
/// ```
/// use kernite::cuda::{Arg, DeviceBuffer, args};
///
/// fn saxpy<'a>(a: f32, x: &'a DeviceBuffer<f32>, y: &'a mut DeviceBuffer<f32>) -> [Arg<'a>; 3] {
///     args![a, x, y]
/// }
/// ```
pub struct Arg<'a>(pub(crate) ArgKind<'a>);

pub(crate) enum ArgKind<'a> {
    Scalar(Const),
    Buffer {
        view: View<'a>,
        elem: Type,
        give: Give,
    },
}

/// How a buffer is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Give {
    /// To be read.
    Shared,
    /// To be written, and to nobody else.
    Exclusive,
    /// To be written, and to others too, where the kernel says that they may overlap.
    Aliased,
}

impl<'a> Arg<'a> {
    /// A buffer that a kernel may write although others of the launch overlap it, all of which the kernel declares to be
    /// `may_alias`. The launch refuses it for other parameters.
    ///
    /// Managed memory, which the host may be reading, is taken as given to be read.
    pub fn aliased<T: Element>(buffer: impl Into<DeviceSlice<'a, T>>) -> Arg<'a> {
        let view = buffer.into().view;
        let host_visible = view.owner.is_some_and(|owner| owner.host_visible());
        let give = if host_visible {
            Give::Shared
        } else {
            Give::Aliased
        };
        Arg::buffer::<T>(view, give)
    }

    /// Bytes to be read as elements of a type known at run time only.
    ///
    /// # Errors
    /// [`crate::cuda::Error::Cast`] for a type without a size in memory, and for bytes that end within an element.
    pub fn bytes(elem: Type, bytes: DeviceSlice<'a, u8>) -> Result<Arg<'a>> {
        Arg::typed(elem, bytes.view, Give::Shared)
    }

    /// The same, to be written.
    ///
    /// # Errors
    /// As [`Arg::bytes`].
    pub fn bytes_mut(elem: Type, bytes: DeviceSliceMut<'a, u8>) -> Result<Arg<'a>> {
        Arg::typed(elem, bytes.view, Give::Exclusive)
    }

    fn typed(elem: Type, view: View<'a>, give: Give) -> Result<Arg<'a>> {
        let size = elem.bytes() as usize;
        let view = view.cast(1, size)?;
        Ok(Arg(ArgKind::Buffer { view, elem, give }))
    }

    fn buffer<T: Element>(view: View<'a>, give: Give) -> Arg<'a> {
        Arg(ArgKind::Buffer {
            view,
            elem: T::TYPE,
            give,
        })
    }
}

impl fmt::Debug for Arg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ArgKind::Scalar(value) => write!(f, "{value:?}"),
            ArgKind::Buffer { view, elem, give } => {
                write!(f, "{give:?} {} of {elem} at {:#x}", view.len, view.ptr)
            }
        }
    }
}

impl<'a, T: Element> From<DeviceSlice<'a, T>> for Arg<'a> {
    fn from(slice: DeviceSlice<'a, T>) -> Self {
        Arg::buffer::<T>(slice.view, Give::Shared)
    }
}

impl<'a, T: Element> From<DeviceSliceMut<'a, T>> for Arg<'a> {
    fn from(slice: DeviceSliceMut<'a, T>) -> Self {
        Arg::buffer::<T>(slice.view, Give::Exclusive)
    }
}

macro_rules! from_buffers {
    ($($name:ident)*) => {$(
        impl<'a, T: Element> From<&'a $name<T>> for Arg<'a> {
            fn from(buffer: &'a $name<T>) -> Self {
                DeviceSlice::from(buffer).into()
            }
        }

        impl<'a, T: Element> From<&'a mut $name<T>> for Arg<'a> {
            fn from(buffer: &'a mut $name<T>) -> Self {
                DeviceSliceMut::from(buffer).into()
            }
        }
    )*};
}

from_buffers!(DeviceBuffer UnifiedBuffer);

impl From<Const> for Arg<'_> {
    fn from(value: Const) -> Self {
        Arg(ArgKind::Scalar(value))
    }
}

macro_rules! from_numbers {
    ($($ty:ty)*) => {$(
        impl From<$ty> for Arg<'_> {
            #[inline]
            fn from(value: $ty) -> Self {
                Arg(ArgKind::Scalar(Const::from(value)))
            }
        }
    )*};
}

from_numbers!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

impl From<F16> for Arg<'_> {
    fn from(value: F16) -> Self {
        half(Type::F16, value.0)
    }
}

impl From<BF16> for Arg<'_> {
    fn from(value: BF16) -> Self {
        half(Type::BF16, value.0)
    }
}

fn half(ty: Type, bits: u16) -> Arg<'static> {
    // A 16-bit type has room for every 16 bits.
    let value = Const::new(ty, u64::from(bits)).unwrap_or(Const::from(bits));
    Arg(ArgKind::Scalar(value))
}

/// An array of [`Arg`]s: `args![a, &x, &mut y]`.
#[macro_export]
#[doc(hidden)]
macro_rules! __cuda_args {
    ($($arg:expr),* $(,)?) => {
        [$($crate::cuda::Arg::from($arg)),*]
    };
}
