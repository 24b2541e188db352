//! Arguments: buffers, views of buffers, scalars.

use crate::types::{Const, Type};
use bytemuck::Pod;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type whose values are elements of a buffer.
pub trait Element: Pod + sealed::Sealed {
    /// The element type.
    const TYPE: Type;
}

/// Elements of one type, owned: the storage of a buffer argument.
///
/// ```
/// use kernite::reference::Buffer;
/// use kernite::types::Type;
/// let buffer = Buffer::from([1.0f32, 2.0]);
/// assert_eq!((buffer.ty(), buffer.len(), buffer.bytes().len()), (Type::F32, 2, 8));
/// assert_eq!(buffer.as_slice::<f32>(), Some(&[1.0, 2.0][..]));
/// assert_eq!(buffer.as_slice::<u32>(), None, "it has elements of another type");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    ty: Type,
    /// Elements; the last word is filled up with zeros.
    len: usize,
    pub(super) words: Vec<u64>,
}

/// Why bytes are no buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BufferError {
    /// `bool` and [`Type::NONE`] have no size in memory.
    #[error("{0} cannot be the element of a buffer")]
    Type(Type),
    /// The bytes are no whole number of elements.
    #[error("{bytes} bytes are no whole number of elements of {ty}")]
    Bytes {
        /// How many there are.
        bytes: usize,
        /// The element type.
        ty: Type,
    },
}

impl Buffer {
    /// A buffer of the elements with these bytes, little-endian.
    ///
    /// # Errors
    /// [`BufferError::Type`] for a type without size, [`BufferError::Bytes`] when the bytes end within an element.
    pub fn from_bytes(ty: Type, bytes: &[u8]) -> Result<Buffer, BufferError> {
        let size = ty.bytes() as usize;
        if size == 0 {
            return Err(BufferError::Type(ty));
        }
        if !bytes.len().is_multiple_of(size) {
            return Err(BufferError::Bytes {
                bytes: bytes.len(),
                ty,
            });
        }
        Ok(Buffer::of(ty, bytes.len() / size, bytes))
    }

    fn of(ty: Type, len: usize, bytes: &[u8]) -> Buffer {
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Buffer { ty, len, words }
    }

    /// The element type.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of the elements; the size was counted when the buffer was made.
    fn size(&self) -> usize {
        self.len * self.ty.bytes() as usize
    }

    /// Every byte of the elements, little-endian.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.size()]
    }

    /// Every byte of the elements, to write to.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let size = self.size();
        &mut bytemuck::cast_slice_mut(&mut self.words)[..size]
    }

    /// The elements; `None` when they are not of type `T`.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        (self.ty == T::TYPE).then(|| bytemuck::cast_slice(self.bytes()))
    }

    /// The elements, to write to; `None` when they are not of type `T`.
    pub fn as_mut_slice<T: Element>(&mut self) -> Option<&mut [T]> {
        if self.ty != T::TYPE {
            return None;
        }
        Some(bytemuck::cast_slice_mut(self.bytes_mut()))
    }
}

impl<T: Element> From<&[T]> for Buffer {
    fn from(elements: &[T]) -> Buffer {
        Buffer::of(T::TYPE, elements.len(), bytemuck::cast_slice(elements))
    }
}

impl<T: Element> From<Vec<T>> for Buffer {
    fn from(elements: Vec<T>) -> Buffer {
        Buffer::from(&elements[..])
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Buffer {
    fn from(elements: [T; N]) -> Buffer {
        Buffer::from(&elements[..])
    }
}

/// A part of another argument's buffer, seen as a buffer of its own. It may overlap others: then the kernel must declare
/// them `may_alias` or write to none of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// The argument whose buffer it is a part of: a [`Arg::Buffer`], which may stand after the kernel's parameters.
    pub of: usize,
    /// Its first byte in that buffer, a multiple of the element's size.
    pub offset: usize,
    /// Its element type, whatever that of the buffer is.
    pub ty: Type,
    /// Its elements.
    pub len: usize,
}

/// An argument. Buffers behind views that are no parameters themselves stand after the last parameter.
///
/// ```
/// use kernite::reference::{Arg, View};
/// use kernite::types::Type;
/// // Two halves of one allocation, and a scalar.
/// let args = [
///     Arg::View(View { of: 3, offset: 0, ty: Type::F32, len: 2 }),
///     Arg::View(View { of: 3, offset: 8, ty: Type::F32, len: 2 }),
///     Arg::from(0.5f32),
///     Arg::from([1.0f32, 2.0, 3.0, 4.0]),
/// ];
/// assert_eq!(args[0].as_slice::<f32>(), None, "a view owns nothing");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Arg {
    /// A buffer with its storage.
    Buffer(Buffer),
    /// A part of another argument's buffer.
    View(View),
    /// A scalar.
    Scalar(Const),
}

impl Arg {
    /// The buffer, where it is one.
    pub fn buffer(&self) -> Option<&Buffer> {
        match self {
            Arg::Buffer(buffer) => Some(buffer),
            Arg::View(_) | Arg::Scalar(_) => None,
        }
    }

    /// The elements of the buffer; `None` when it is none, or not of type `T`.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        self.buffer()?.as_slice()
    }
}

impl<B: Into<Buffer>> From<B> for Arg {
    fn from(buffer: B) -> Arg {
        Arg::Buffer(buffer.into())
    }
}

impl From<View> for Arg {
    fn from(view: View) -> Arg {
        Arg::View(view)
    }
}

impl From<Const> for Arg {
    fn from(value: Const) -> Arg {
        Arg::Scalar(value)
    }
}

macro_rules! scalars {
    ($($t:ident)*) => {$(
        impl From<$t> for Arg {
            fn from(value: $t) -> Arg {
                Arg::Scalar(value.into())
            }
        }
    )*};
}
scalars! { bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

macro_rules! element_types {
    ($($t:ident = $name:ident;)*) => {$(
        impl sealed::Sealed for $t {}
        impl Element for $t {
            const TYPE: Type = Type::$name;
        }
    )*};
}
element_types! {
    i8 = I8;
    i16 = I16;
    i32 = I32;
    i64 = I64;
    u8 = U8;
    u16 = U16;
    u32 = U32;
    u64 = U64;
    f32 = F32;
    f64 = F64;
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn bytes_must_be_whole_elements() {
        assert_eq!(
            Buffer::from_bytes(Type::F32, &[0; 6]),
            Err(BufferError::Bytes {
                bytes: 6,
                ty: Type::F32
            })
        );
        assert_eq!(
            Buffer::from_bytes(Type::BOOL, &[]),
            Err(BufferError::Type(Type::BOOL))
        );
        assert!(Buffer::from_bytes(Type::NONE, &[]).is_err());
        let half = Buffer::from_bytes(Type::F16, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(half.map(|b| b.len()), Ok(3));
    }

    #[test]
    fn elements_keep_every_bit() {
        let mut buffer = Buffer::from([f32::from_bits(0x7F80_0001), -0.0, 1.0]);
        assert_eq!(buffer.bytes()[..8], [1, 0, 0x80, 0x7F, 0, 0, 0, 0x80]);
        buffer.bytes_mut()[8] = 1;
        let slice = buffer.as_mut_slice::<f32>().map(|s| s[2].to_bits());
        assert_eq!(slice, Some(0x3F80_0001));
        assert_eq!(buffer.as_mut_slice::<i32>(), None);
        assert!(Buffer::from(Vec::<u64>::new()).is_empty());
    }
}
