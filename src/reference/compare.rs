//! Comparing what two executors computed.

use crate::types::{Scalar, Type};

/// The first place at which two outputs differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Difference {
    /// They have different lengths, in bytes.
    Length {
        /// Of the expected one.
        expected: usize,
        /// Of the other.
        got: usize,
    },
    /// They differ in an element.
    Element {
        /// The element.
        index: usize,
        /// The component of a vector; 0 for scalars.
        lane: u32,
        /// The expected bits, zero-extended.
        expected: u64,
        /// The bits found.
        got: u64,
    },
}

impl core::fmt::Display for Difference {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Difference::Length { expected, got } => {
                write!(f, "{got} bytes, expected {expected}")
            }
            Difference::Element {
                index,
                lane,
                expected,
                got,
            } => write!(
                f,
                "element {index} lane {lane} is {got:#x}, expected {expected:#x}"
            ),
        }
    }
}

/// Compares two outputs of elements of type `ty` and gives the first difference. NaNs of a float type are equal to each
/// other whatever their bits; everything else is compared bit for bit, so −0.0 and +0.0 differ.
///
/// Bytes after the last whole element are compared as one last, zero-extended element. For `bool` and
/// [`Type::NONE`], which have no size, single bytes are compared.
///
/// ```
/// use kernite::reference::compare;
/// use kernite::types::Type;
/// let nan = f32::NAN.to_bits().to_le_bytes();
/// let other = 0xFFC1_2345u32.to_le_bytes();
/// assert_eq!(compare(&nan, &other, Type::F32), None);
/// assert!(compare(&nan, &other, Type::U32).is_some());
/// ```
pub fn compare(expected: &[u8], got: &[u8], ty: Type) -> Option<Difference> {
    if expected.len() != got.len() {
        return Some(Difference::Length {
            expected: expected.len(),
            got: got.len(),
        });
    }
    if expected == got {
        return None;
    }
    let scalar = ty.scalar().filter(|s| s.bytes() > 0).unwrap_or(Scalar::U8);
    let size = scalar.bytes() as usize;
    let lanes = ty.lanes() as usize;
    let pairs = expected.chunks(size).zip(got.chunks(size));
    for (i, (e, g)) in pairs.enumerate() {
        let (e, g) = (little_endian(e), little_endian(g));
        if e != g && !(is_nan(scalar, e) && is_nan(scalar, g)) {
            return Some(Difference::Element {
                index: i / lanes,
                // Lanes are 1, 2 or 4.
                lane: (i % lanes) as u32,
                expected: e,
                got: g,
            });
        }
    }
    None
}

/// The number in bytes, little-endian as memory is on every target.
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |bits, &b| bits << 8 | u64::from(b))
}

fn is_nan(scalar: Scalar, bits: u64) -> bool {
    let infinity = match scalar {
        Scalar::F16 => 0x7C00,
        Scalar::BF16 => 0x7F80,
        Scalar::F32 => 0x7F80_0000,
        Scalar::F64 => 0x7FF0_0000_0000_0000,
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64 => return false,
    };
    let magnitude = u64::MAX >> (65 - scalar.bits());
    bits & magnitude > infinity
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn nans_are_equal_and_zeros_are_not() {
        for (ty, nans, infinity) in [
            (Type::F16, [0x7E00u64, 0xFC01], 0x7C00u64),
            (Type::BF16, [0x7FC0, 0xFF81], 0x7F80),
            (Type::F32, [0x7F80_0001, 0xFFFF_FFFF], 0x7F80_0000),
            (
                Type::F64,
                [0x7FF8_0000_0000_0000, 0xFFF0_0000_0000_0001],
                0x7FF0_0000_0000_0000,
            ),
        ] {
            let n = ty.bytes() as usize;
            let bytes = |v: u64| v.to_le_bytes()[..n].to_vec();
            assert_eq!(compare(&bytes(nans[0]), &bytes(nans[1]), ty), None, "{ty}");
            assert!(compare(&bytes(nans[0]), &bytes(infinity), ty).is_some());
            assert!(compare(&bytes(0), &bytes(1 << (8 * n - 1)), ty).is_some());
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let ty = Type::vector(Scalar::U16, 2).unwrap_or(Type::NONE);
        assert_eq!(
            compare(&[0, 0, 0, 0, 0, 0, 1, 2], &[0, 0, 0, 0, 0, 0, 1, 3], ty),
            Some(Difference::Element {
                index: 1,
                lane: 1,
                expected: 0x201,
                got: 0x301
            })
        );
        assert_eq!(
            compare(&[1, 2], &[1], Type::U8),
            Some(Difference::Length {
                expected: 2,
                got: 1
            })
        );
        assert_eq!(
            compare(&[0, 0, 0, 0, 7], &[0, 0, 0, 0, 8], Type::F32),
            Some(Difference::Element {
                index: 1,
                lane: 0,
                expected: 7,
                got: 8
            })
        );
    }
}
