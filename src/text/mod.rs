//! Kernels as text: [`Kernel`]'s `Display` prints them, [`parse`] and `FromStr` read them back to the same bytes.
//!
//! ```
//! use kernite::kernel::Kernel;
//!
//! let text = r#"kernel vector_add workgroup 256 1 1 {
//!   buffer buf0 "a" f32 read set 0 binding 0
//!   buffer buf1 "b" f32 read set 0 binding 1
//!   buffer buf2 "c" f32 write set 0 binding 2
//!   scalar arg0 "n" u32
//!   v0: u32 = global_id.x
//!   v1: u32 = param arg0
//!   v2: bool = lt v0, v1
//!   if v2
//!     v4: f32 = load buf0[v0]
//!     v5: f32 = load buf1[v0]
//!     v6: f32 = add v4, v5
//!     store buf2[v0], v6
//!   end
//! }
//! "#;
//! let kernel: Kernel = text.parse()?;
//! assert_eq!(kernel.to_string(), text);
//! # Ok::<(), kernite::text::ParseError>(())
//! ```
//!
//! # Grammar
//!
//! A text is lines; indentation and empty lines mean nothing, and a comment runs from `;` to the end of its line.
//! `[ ]` may be left out, `{ }` may stand any number of times, `( | )` is a choice, `NL` the end of a line.
//!
//! ```text
//! text        = { kernel }
//! kernel      = "kernel" ( word | string ) "workgroup" number number number [ "contract" ] "{" NL
//!               { declaration NL } { instruction NL } "}" NL
//!
//! declaration = "buffer" bufN [ string ] type ( "read" | "write" | "read_write" )
//!                   "set" number "binding" number [ "may_alias" ]
//!             | "scalar" argN [ string ] type
//!             | "shared" sharedN [ string ] type ( "x" number | "dynamic" ) [ "zeroed" ]
//!             | "private" privateN [ string ] type "x" number
//!
//! instruction = [ ( vN | varN ) ":" type "=" ] opcode [ "." axis ] [ operand { "," operand } ] [ flags ]
//! operand     = vN | varN | argN | bufN | mem "[" vN [ "+" number ] "]" | constant
//! mem         = bufN | sharedN | privateN
//! flags       = { "volatile" | "coherent" }          loads and stores
//!             | ( "workgroup" | "device" )           fences
//!             | order ( "workgroup" | "device" )     atomics; left out: relaxed device
//! order       = "relaxed" | "acquire" | "release" | "acq_rel"
//! axis        = "x" | "y" | "z"
//!
//! word        = a letter or "_", then letters, digits and "_"
//! number      = decimal digits, below 2^32
//! string      = '"' characters and the escapes \" \\ \' \n \r \t \0 \u{hex} '"'
//! type        = "bool" | "i32" | "f32x4" | … as `types::Type` prints
//! constant    = "true" | "false" | [ "-" ] digits | a float such as 1.5, -0.0, 1e-7, inf, -inf | "0x" the bits in hex
//! ```
//!
//! Opcodes, operands and what they make are those of the [opcode table](crate::op): operands come in the order of the
//! row, an index and its offset in the brackets of their memory object. Declarations count from 0 by kind; the order of
//! the `buffer` and `scalar` lines is that of the parameters. The number of a value or variable is the index of its
//! instruction, and instructions without a result (`if`, `store`, …) count too.
//!
//! # Exactness
//!
//! Constants keep their bits: integers print in decimal, floats as the shortest decimal that rounds to them (−0.0 and
//! infinities by name), NaNs as bits. Read, a decimal rounds to nearest even, and one beyond the type's range is an error.
//!
//! # Errors
//!
//! The parser takes any text, in time and memory linear in its length and without recursion. The first thing that is no
//! kernel is a [`ParseError`] with line and column. A kernel that is written well goes through the verifier, and all its
//! faults are told by line ([`ParseErrorKind::Verify`]).
#![forbid(unsafe_code)]

mod constant;
mod cursor;
mod error;
mod faults;
mod parse;
mod print;
mod syntax;

pub use error::{ParseError, ParseErrorKind, Place};

use crate::kernel::Kernel;
use core::str::FromStr;

/// Reads and verifies every kernel of a text. A text of nothing but comments has none.
///
/// ```
/// let kernels = kernite::text::parse("kernel a workgroup 64 1 1 {\n}\nkernel b workgroup 1 1 1 {\n}\n")?;
/// assert_eq!(kernels[1].name(), "b");
/// # Ok::<(), kernite::text::ParseError>(())
/// ```
///
/// # Errors
/// [`ParseError`] at the first place that does not follow the grammar, or for the first kernel that is not valid.
pub fn parse(text: &str) -> Result<Vec<Kernel>, ParseError> {
    let kernels = parse::kernels(text)?;
    Ok(kernels.into_iter().map(|(_, kernel)| kernel).collect())
}

/// Reads and verifies the one kernel of a text.
impl FromStr for Kernel {
    type Err = ParseError;

    /// # Errors
    /// As [`parse`], and [`ParseErrorKind::NotOne`] for a text of no kernel or of several.
    fn from_str(text: &str) -> Result<Kernel, ParseError> {
        let mut kernels = parse::kernels(text)?;
        let second = kernels.get(1).map(|&(place, _)| place);
        match (kernels.pop(), second) {
            (Some((_, kernel)), None) => Ok(kernel),
            (last, second) => Err(ParseError {
                place: second.unwrap_or(Place { line: 1, column: 1 }),
                kind: ParseErrorKind::NotOne {
                    found: kernels.len() + usize::from(last.is_some()),
                },
            }),
        }
    }
}

#[cfg(test)]
mod tests;
