//! Arguments of a launch as text, shared with the tests that run kernels.
//!
//! | text | argument |
//! |---|---|
//! | `5u32`, `-1.5f32`, `true` | a scalar: a decimal and its type |
//! | `f32=0x7FC00001`, `u64=5` | a scalar: its type and a constant of the text form |
//! | `f32[1.0, -0.0, inf, nan]` | a buffer of these elements |
//! | `f32x2[1.0, 2.0, 3.0, 4.0]` | a buffer of two vectors |
//! | `u32*16=0` | a buffer of 16 elements that are all 0 |
//!
//! Constants are those of the text form of kernels; `nan` stands for a quiet NaN besides.

use kernite::text;
use kernite::types::{Const, Type};
use std::fmt;

/// The most bytes of a buffer that an argument may ask for.
const MAX_BYTES: u64 = 1 << 30;

/// An argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A buffer: the type of its elements, and their bytes.
    Buffer(Type, Vec<u8>),
    /// A scalar.
    Scalar(Const),
}

/// Why a text is no argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArgumentError {
    /// It has none of the forms.
    Form(String),
    /// There is no such type.
    Type(String),
    /// It is no constant of the type.
    Constant(Type, String),
    /// The elements do not fill whole vectors.
    Lanes(Type, usize),
    /// More bytes than anyone needs.
    TooLarge(String),
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentError::Form(text) => write!(
                f,
                "`{text}` is no argument; write `f32[1.0, 2.0]`, `u32*16=0`, `5u32` or `f32=0x7FC00000`"
            ),
            ArgumentError::Type(text) => write!(f, "there is no type `{text}`"),
            ArgumentError::Constant(ty, text) => write!(f, "`{text}` is no constant of type {ty}"),
            ArgumentError::Lanes(ty, n) => write!(f, "{n} numbers are no whole {ty} elements"),
            ArgumentError::TooLarge(text) => write!(f, "`{text}` is larger than {MAX_BYTES} bytes"),
        }
    }
}

impl std::error::Error for ArgumentError {}

/// Reads one argument.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<Argument, ArgumentError> {
    let text = text.trim();
    let form = || ArgumentError::Form(text.into());
    if let Some((ty, elements)) = text.split_once('[') {
        let elements = elements.strip_suffix(']').ok_or_else(form)?;
        return buffer(ty, elements);
    }
    if let Some((head, value)) = text.split_once('=') {
        return match head.split_once('*') {
            Some((ty, count)) => {
                let ty = parse_type(ty)?;
                let count: u64 = count.trim().parse().map_err(|_| form())?;
                let too_large = || ArgumentError::TooLarge(text.into());
                let all = count
                    .checked_mul(u64::from(ty.bytes()))
                    .ok_or_else(too_large)?;
                if all > MAX_BYTES {
                    return Err(too_large());
                }
                let scalars = count as usize * ty.lanes() as usize;
                let one = bytes(constant(ty, value)?);
                Ok(Argument::Buffer(ty, one.repeat(scalars)))
            }
            None => constant(parse_type(head)?, value).map(Argument::Scalar),
        };
    }
    if matches!(text, "true" | "false") {
        return constant(Type::BOOL, text).map(Argument::Scalar);
    }
    // The longest name first: `5bf16` is no `5b` of type f16.
    let split = (0..text.len()).find_map(|at| {
        let (value, ty) = (text.get(..at)?, text.get(at..)?);
        Some((value, Type::parse(ty)?))
    });
    match split {
        Some((value, ty)) if !value.starts_with("0x") => constant(ty, value).map(Argument::Scalar),
        _ => Err(form()),
    }
}

fn buffer(ty: &str, elements: &str) -> Result<Argument, ArgumentError> {
    let ty = parse_type(ty)?;
    let mut out = Vec::new();
    let mut scalars = 0;
    if !elements.trim().is_empty() {
        for element in elements.split(',') {
            out.extend(bytes(constant(ty, element)?));
            scalars += 1;
        }
    }
    if !(scalars as u32).is_multiple_of(ty.lanes()) {
        return Err(ArgumentError::Lanes(ty, scalars));
    }
    Ok(Argument::Buffer(ty, out))
}

fn parse_type(text: &str) -> Result<Type, ArgumentError> {
    Type::parse(text.trim()).ok_or_else(|| ArgumentError::Type(text.trim().into()))
}

/// A constant of the type's scalar.
fn constant(ty: Type, text: &str) -> Result<Const, ArgumentError> {
    let text = text.trim();
    let scalar = ty.scalar().map_or(Type::NONE, Type::of);
    let text_of_nan = match scalar {
        Type::F16 => "0x7E00",
        Type::BF16 => "0x7FC0",
        Type::F32 => "0x7FC00000",
        Type::F64 => "0x7FF8000000000000",
        _ => text,
    };
    let written = if text == "nan" { text_of_nan } else { text };
    text::parse_constant(scalar, written)
        .ok_or_else(|| ArgumentError::Constant(scalar, text.into()))
}

/// The bytes of an element, little-endian.
fn bytes(constant: Const) -> Vec<u8> {
    let size = constant.ty().bytes() as usize;
    constant.bits().to_le_bytes()[..size].to_vec()
}

/// Prints a buffer as [`parse`] reads it, NaNs by their bits.
pub fn show(ty: Type, buffer: &[u8]) -> String {
    let Some(scalar) = ty.scalar() else {
        return String::new();
    };
    let elements: Vec<String> = buffer
        .chunks(scalar.bytes().max(1) as usize)
        .map(|chunk| {
            let bits = chunk
                .iter()
                .rev()
                .fold(0, |bits, &b| bits << 8 | u64::from(b));
            Const::new(Type::of(scalar), bits).map_or_else(String::new, |c| c.to_string())
        })
        .collect();
    format!("{ty}[{}]", elements.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_read_as_documented() {
        let scalar = |text, c: Const| assert_eq!(parse(text), Ok(Argument::Scalar(c)), "{text}");
        scalar("5u32", 5u32.into());
        scalar("-1.5f32", (-1.5f32).into());
        scalar(" true ", true.into());
        scalar("1e3f64", 1000.0f64.into());
        scalar("2bf16", Const::new(Type::BF16, 0x4000).unwrap());
        scalar(
            "f32=0x7FC00001",
            Const::new(Type::F32, 0x7FC0_0001).unwrap(),
        );
        scalar("i8 = -128", i8::MIN.into());
        let buffer = |text, shown: &str| match parse(text) {
            Ok(Argument::Buffer(ty, bytes)) => assert_eq!(show(ty, &bytes), shown),
            other => panic!("{text}: {other:?}"),
        };
        buffer("f32[1.0, -0.0,nan]", "f32[1.0, -0.0, 0x7FC00000]");
        buffer("f32x2*2=1", "f32x2[1.0, 1.0, 1.0, 1.0]");
        buffer("u8[ ]", "u8[]");
        buffer("u64*0=0", "u64[]");
        buffer("u16[0xFFFF]", "u16[65535]");
        let refused = [
            ("", "`` is no argument"),
            ("5", "`5` is no argument"),
            ("0x5f32", "`0x5f32` is no argument"),
            ("f32[1", "`f32[1` is no argument"),
            ("f31[1]", "there is no type `f31`"),
            ("u8[256]", "`256` is no constant of type u8"),
            ("u32[nan]", "`nan` is no constant of type u32"),
            ("u32[1,]", "`` is no constant of type u32"),
            ("f32x2[1.0]", "1 numbers are no whole f32x2 elements"),
            (
                "u32*4294967295=0",
                "`u32*4294967295=0` is larger than 1073741824 bytes",
            ),
            (
                "u64*18446744073709551615=0",
                "`u64*18446744073709551615=0` is larger",
            ),
            ("u32*-1=0", "`u32*-1=0` is no argument"),
        ];
        for (text, message) in refused {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
