//! What can be wrong with a text.

use super::cursor::shown;
use crate::op::Op;
use crate::types::Type;
use crate::verify::VerifyError;
use core::fmt;

/// A line and a column, both from 1; the column counts characters, not bytes.
///
/// ```
/// use kernite::text::Place;
/// let place = Place { line: 2, column: 13 };
/// assert_eq!(place.to_string(), "line 2, column 13");
/// assert!(place < Place { line: 3, column: 1 });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text is not a kernel, and where.
///
/// ```
/// use kernite::text::{self, ParseErrorKind};
/// let error = text::parse("kernel k workgroup 64 1 1 {\n  v0: u32 = global_jd.x\n}").unwrap_err();
/// assert_eq!((error.place.line, error.place.column), (2, 13));
/// assert!(matches!(error.kind, ParseErrorKind::Opcode(_)));
/// assert_eq!(error.to_string(), "line 2, column 13: there is no opcode `global_jd`");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {kind}")]
pub struct ParseError {
    /// Where; for [`ParseErrorKind::Verify`] the place of the first fault.
    pub place: Place,
    /// What.
    pub kind: ParseErrorKind,
}

/// What is wrong with a text at a place. Found texts are cut after 40 characters.
///
/// ```
/// use kernite::text::{self, ParseErrorKind};
/// use kernite::verify::FaultKind;
/// let error = text::parse("kernel k workgroup 1 1 1 {\n  break\n  if v7\n  end\n}").unwrap_err();
/// let ParseErrorKind::Verify { error, lines } = error.kind else {
///     panic!("the text is well written");
/// };
/// assert_eq!(lines, [2, 3], "every fault is told, each with its line");
/// assert_eq!(error.faults()[1].kind, FaultKind::NoValue(7));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else than the grammar has here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What the grammar has here.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// A number that is malformed or too large for its use.
    #[error("`{found}` is no {what}")]
    Number {
        /// What stands here.
        found: String,
        /// What the number is and how large it may be.
        what: &'static str,
    },
    /// An id whose number is not the next one: declarations count from 0 by kind, values are the indices of their
    /// instructions.
    #[error("this is {expected}, not {found}")]
    Numbering {
        /// The id that stands here.
        found: String,
        /// The id that had to.
        expected: String,
    },
    /// A name that no opcode has.
    #[error("there is no opcode `{0}`")]
    Opcode(String),
    /// A name that no type has.
    #[error("there is no type `{0}`")]
    Type(String),
    /// An instruction that makes a value or a variable and is not named `vN: type =` or `varN: type =`.
    #[error("`{0}` makes a result and needs `{prefix}N: type =` before it", prefix = result_prefix(*.0))]
    NoResult(Op),
    /// A result named for an instruction that makes none, or a variable for a value.
    #[error("`{op}` does not make {found}")]
    Result {
        /// The opcode.
        op: Op,
        /// The id that stands before it.
        found: String,
    },
    /// A constant that is malformed or does not fit its type.
    #[error("`{found}` is no constant of type {ty}")]
    Constant {
        /// What stands here.
        found: String,
        /// The type before the `=`.
        ty: Type,
    },
    /// A string that does not end on its line.
    #[error("the string does not end on this line")]
    UnclosedString,
    /// An escape that does not exist; `\" \\ \' \n \r \t \0 \u{…}` do.
    #[error("there is no escape `\\{0}`; there are \\\" \\\\ \\' \\n \\r \\t \\0 \\u{{...}}")]
    Escape(String),
    /// A word that may stand once and stands twice.
    #[error("`{0}` stands here twice")]
    Twice(&'static str),
    /// A declaration after the first instruction.
    #[error("a declaration after instructions: declarations come first")]
    LateDeclaration,
    /// A kernel without its closing brace.
    #[error("the text ends within kernel {0:?}")]
    UnclosedKernel(String),
    /// A text of no kernel or of several where one was wanted.
    #[error("expected one kernel, found {found}")]
    NotOne {
        /// The number of kernels.
        found: usize,
    },
    /// More instructions, side words or bytes of names than the bytecode can number.
    #[error("the kernel has too many {0}")]
    TooMany(&'static str),
    /// The kernel is written well and breaks a rule of the verifier.
    #[error("{}", Faults(error, lines))]
    Verify {
        /// The faults.
        error: VerifyError,
        /// The line of each fault.
        lines: Vec<u32>,
    },
}

fn result_prefix(op: Op) -> &'static str {
    match op.row().makes {
        crate::op::Makes::Var => "var",
        crate::op::Makes::Nothing
        | crate::op::Makes::T
        | crate::op::Makes::Bool
        | crate::op::Makes::U32 => "v",
    }
}

struct Faults<'a>(&'a VerifyError, &'a [u32]);

impl fmt::Display for Faults<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {:?} is not valid:", shown(self.0.kernel()))?;
        for (fault, line) in self.0.faults().iter().zip(self.1) {
            write!(f, "\n  line {line}: {}", fault.kind)?;
        }
        Ok(())
    }
}
