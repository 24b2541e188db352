//! Arguments: memory of the host, and numbers.

use super::error::{ArgumentFault, RunError};
use crate::kernel::{BufferDecl, Kernel, ParamRef};
use crate::reference::{self, BufferError, Element};
use crate::types::{Const, Type};
use core::fmt;
use half::{bf16, f16};

/// An argument of a run: a slice that the kernel reads (`&slice`), a slice that it may write (`&mut slice`), or a number.
///
/// [`crate::pipeline::args`] makes an array of them:
///
/// ```
/// use kernite::pipeline::{Arg, args};
///
/// fn saxpy<'a>(a: f32, x: &'a [f32], y: &'a mut [f32]) -> [Arg<'a>; 3] {
///     args![a, x, y]
/// }
/// ```
///
/// Elements of vector types, or of a type known at run time only, are given as bytes: [`Arg::bytes`].
pub struct Arg<'a>(pub(super) ArgKind<'a>);

pub(super) enum ArgKind<'a> {
    Read { elem: Type, bytes: &'a [u8] },
    Write { elem: Type, bytes: &'a mut [u8] },
    Scalar(Const),
}

impl<'a> Arg<'a> {
    /// Elements of a type, to be read, as bytes (little-endian, as they lie in memory).
    ///
    /// # Errors
    /// [`BufferError`]: a type without a size in memory, or bytes that end within an element.
    ///
    /// ```
    /// use kernite::pipeline::Arg;
    /// use kernite::types::{Scalar, Type};
    /// let points = [[0.0f32, 1.0], [2.0, 3.0]];
    /// let pair = Type::vector(Scalar::F32, 2).ok_or("no such type")?;
    /// let arg = Arg::bytes(pair, bytemuck::cast_slice(&points))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bytes(elem: Type, bytes: &'a [u8]) -> Result<Arg<'a>, BufferError> {
        whole(elem, bytes)?;
        Ok(Arg(ArgKind::Read { elem, bytes }))
    }

    /// The same, to be written.
    ///
    /// # Errors
    /// As [`Arg::bytes`].
    pub fn bytes_mut(elem: Type, bytes: &'a mut [u8]) -> Result<Arg<'a>, BufferError> {
        whole(elem, bytes)?;
        Ok(Arg(ArgKind::Write { elem, bytes }))
    }

    /// Element type and bytes, where it is a buffer.
    pub(super) fn buffer(&self) -> Option<(Type, &[u8])> {
        match &self.0 {
            ArgKind::Read { elem, bytes } => Some((*elem, bytes)),
            ArgKind::Write { elem, bytes } => Some((*elem, bytes)),
            ArgKind::Scalar(_) => None,
        }
    }
}

fn whole(elem: Type, bytes: &[u8]) -> Result<(), BufferError> {
    match bytes.len().checked_rem(elem.bytes() as usize) {
        None => Err(BufferError::Type(elem)),
        Some(0) => Ok(()),
        Some(_) => Err(BufferError::Bytes {
            bytes: bytes.len(),
            ty: elem,
        }),
    }
}

impl fmt::Debug for Arg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (how, elem, bytes) = match &self.0 {
            ArgKind::Read { elem, bytes } => ("read", elem, bytes.len()),
            ArgKind::Write { elem, bytes } => ("write", elem, bytes.len()),
            ArgKind::Scalar(value) => return write!(f, "{value:?}"),
        };
        write!(f, "{bytes} bytes of {elem}, to {how}")
    }
}

impl<'a, T: Element> From<&'a [T]> for Arg<'a> {
    fn from(elements: &'a [T]) -> Arg<'a> {
        Arg(ArgKind::Read {
            elem: T::TYPE,
            bytes: bytemuck::cast_slice(elements),
        })
    }
}

impl<'a, T: Element> From<&'a mut [T]> for Arg<'a> {
    fn from(elements: &'a mut [T]) -> Arg<'a> {
        Arg(ArgKind::Write {
            elem: T::TYPE,
            bytes: bytemuck::cast_slice_mut(elements),
        })
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for Arg<'a> {
    fn from(elements: &'a Vec<T>) -> Arg<'a> {
        Arg::from(elements.as_slice())
    }
}

impl<'a, T: Element> From<&'a mut Vec<T>> for Arg<'a> {
    fn from(elements: &'a mut Vec<T>) -> Arg<'a> {
        Arg::from(elements.as_mut_slice())
    }
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Arg<'a> {
    fn from(elements: &'a [T; N]) -> Arg<'a> {
        Arg::from(elements.as_slice())
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for Arg<'a> {
    fn from(elements: &'a mut [T; N]) -> Arg<'a> {
        Arg::from(elements.as_mut_slice())
    }
}

impl From<Const> for Arg<'_> {
    fn from(value: Const) -> Self {
        Arg(ArgKind::Scalar(value))
    }
}

macro_rules! from_numbers {
    ($($ty:ty)*) => {$(
        impl From<$ty> for Arg<'_> {
            fn from(value: $ty) -> Self {
                Arg(ArgKind::Scalar(Const::from(value)))
            }
        }
    )*};
}

from_numbers!(bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);

/// An array of [`Arg`]s: `args![a, &x, &mut y]`.
#[macro_export]
#[doc(hidden)]
macro_rules! __pipeline_args {
    ($($arg:expr),* $(,)?) => {
        [$($crate::pipeline::Arg::from($arg)),*]
    };
}

/// Compares arguments with the kernel's parameters.
pub(super) fn check(kernel: &Kernel, args: &[Arg<'_>]) -> Result<(), RunError> {
    let params = kernel.params();
    if params.len() != args.len() {
        return Err(RunError::ArgumentCount {
            expected: params.len(),
            found: args.len(),
        });
    }
    for (index, (param, arg)) in params.iter().zip(args).enumerate() {
        let (name, fault) = match *param {
            ParamRef::Scalar(n) => {
                let Some(decl) = kernel.scalars().get(n as usize) else {
                    continue;
                };
                (decl.name, scalar(decl.ty, arg))
            }
            ParamRef::Buffer(n) => {
                let Some(decl) = kernel.buffers().get(n as usize) else {
                    continue;
                };
                let used = kernel.buffer_uses().get(n as usize);
                let counted = used.is_some_and(|used| used.length_u32);
                (decl.name, buffer(decl, counted, arg))
            }
        };
        if let Err(fault) = fault {
            return Err(RunError::Argument {
                index,
                name: kernel.name_of(name).into(),
                fault,
            });
        }
    }
    Ok(())
}

fn scalar(expected: Type, arg: &Arg<'_>) -> Result<(), ArgumentFault> {
    match &arg.0 {
        ArgKind::Scalar(value) if value.ty() == expected => Ok(()),
        ArgKind::Scalar(value) => Err(ArgumentFault::Type {
            expected,
            found: value.ty(),
        }),
        ArgKind::Read { .. } | ArgKind::Write { .. } => {
            Err(ArgumentFault::ExpectedScalar(expected))
        }
    }
}

/// `counted`: whether the kernel takes the length as `u32`.
fn buffer(decl: &BufferDecl, counted: bool, arg: &Arg<'_>) -> Result<(), ArgumentFault> {
    let Some((found, bytes)) = arg.buffer() else {
        return Err(ArgumentFault::ExpectedBuffer(decl.elem));
    };
    let len = bytes.len() as u64 / u64::from(decl.elem.bytes().max(1));
    if found != decl.elem {
        return Err(ArgumentFault::Type {
            expected: decl.elem,
            found,
        });
    }
    if decl.access.writes() && matches!(arg.0, ArgKind::Read { .. }) {
        return Err(ArgumentFault::ReadOnly);
    }
    if counted && u32::try_from(len).is_err() {
        return Err(ArgumentFault::TooLong { len });
    }
    Ok(())
}

/// A slice as the reference executor takes it.
pub(super) fn copy(index: usize, elem: Type, bytes: &[u8]) -> Result<reference::Arg, RunError> {
    match reference::Buffer::from_bytes(elem, bytes) {
        Ok(buffer) => Ok(reference::Arg::Buffer(buffer)),
        // Every argument was made of whole elements.
        Err(_) => Err(RunError::Argument {
            index,
            name: String::new(),
            fault: ArgumentFault::ExpectedBuffer(elem),
        }),
    }
}
