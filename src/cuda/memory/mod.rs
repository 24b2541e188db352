//! Memory: on the device, pinned on the host, and shared by both.

mod allocation;
mod copy;
mod device;
mod pinned;
mod slice;
mod unified;

pub(crate) use allocation::{Allocation, settle};
pub(crate) use copy::Pattern;
pub use device::{DeviceBuffer, FreeError};
pub use pinned::PinnedBuffer;
pub(crate) use slice::View;
pub use slice::{DeviceSlice, DeviceSliceMut};
pub use unified::UnifiedBuffer;

use super::result::{Error, Result};
use crate::types::Type;
use bytemuck::{Pod, Zeroable};

/// Rust types that are elements of a kernel's buffers: the numbers, and arrays of two or four for the vector types.
///
/// A buffer of another [`Pod`] type can be copied and, taken as a slice of an element type
/// ([`DeviceSlice::cast`]), given to a kernel.
pub trait Element: Pod {
    /// The element type of the kernel's parameter.
    const TYPE: Type;
}

/// The bits of an IEEE 754 binary16 number: the element type `f16`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct F16(
    /// The bits.
    pub u16,
);

/// The bits of a bfloat16 number: the element type `bf16`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct BF16(
    /// The bits.
    pub u16,
);

macro_rules! elements {
    ($($rust:ty => $ty:ident;)*) => {$(
        impl Element for $rust {
            const TYPE: Type = Type::$ty;
        }
        impl Element for [$rust; 2] {
            const TYPE: Type = vector(Type::$ty, 2);
        }
        impl Element for [$rust; 4] {
            const TYPE: Type = vector(Type::$ty, 4);
        }
    )*};
}

const fn vector(ty: Type, lanes: u32) -> Type {
    match ty.scalar() {
        Some(scalar) => match Type::vector(scalar, lanes) {
            Some(vector) => vector,
            None => ty,
        },
        None => ty,
    }
}

elements! {
    i8 => I8;
    i16 => I16;
    i32 => I32;
    i64 => I64;
    u8 => U8;
    u16 => U16;
    u32 => U32;
    u64 => U64;
    F16 => F16;
    BF16 => BF16;
    f32 => F32;
    f64 => F64;
}

/// Bytes of `len` elements of `T`, checked before anything is asked of the driver.
pub(crate) fn bytes_of<T>(len: usize) -> Result<usize> {
    let size = size_of::<T>();
    match len.checked_mul(size) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(bytes),
        _ => Err(Error::TooLarge { len, size }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        assert_eq!(bytes_of::<u64>(3).ok(), Some(24));
        assert!(matches!(
            bytes_of::<u64>(usize::MAX / 2),
            Err(Error::TooLarge { size: 8, .. })
        ));
        assert!(bytes_of::<u8>(usize::MAX).is_err());
        assert_eq!(bytes_of::<()>(usize::MAX).ok(), Some(0));
    }

    #[test]
    fn elements_have_the_size_of_their_type() {
        fn check<T: Element>(name: &str) {
            assert_eq!(T::TYPE.bytes() as usize, size_of::<T>());
            assert_eq!(T::TYPE.to_string(), name);
        }
        check::<F16>("f16");
        check::<[BF16; 2]>("bf16x2");
        check::<[f64; 4]>("f64x4");
        check::<i8>("i8");
        check::<[u16; 4]>("u16x4");
    }
}
