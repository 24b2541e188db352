//! What can go wrong, with its place.

use super::Code;
use crate::cuda::jit::JitError;
use crate::cuda::launch::LaunchError;
use core::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// What a fallible call of this module returns.
pub type Result<T> = core::result::Result<T, Error>;

/// Why a call failed.
///
/// Small, since it is returned everywhere; the larger parts are boxed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No driver could be loaded.
    #[error(transparent)]
    Load(Box<LoadError>),
    /// The driver has no entry point of this name: it is too old for what was asked.
    #[error("the CUDA driver has no {0}: it is too old for this; update it")]
    MissingSymbol(&'static str),
    /// The driver refused a call, or reports work that failed.
    #[error(transparent)]
    Driver(Box<DriverError>),
    /// The context was lost to an earlier failure, which this is. Nothing made in it can be used any more.
    #[error("the context is lost and nothing in it can be used any more; first cause: {0}")]
    Poisoned(Box<DriverError>),
    /// A kernel cannot be emitted for this device and driver.
    #[error(transparent)]
    Emit(Box<crate::ptx::Error>),
    /// A module could not be loaded or linked; holds the driver's logs.
    #[error(transparent)]
    Jit(Box<JitError>),
    /// A launch was refused before it reached the driver.
    #[error(transparent)]
    Launch(Box<LaunchError>),
    /// A size in bytes passes what can be addressed.
    #[error("{len} elements of {size} bytes pass what can be addressed")]
    TooLarge {
        /// Elements asked for.
        len: usize,
        /// Bytes of one.
        size: usize,
    },
    /// Two lengths that must agree do not.
    #[error("{call}: the source has {source_len} elements and the destination {destination_len}")]
    LengthMismatch {
        /// What was to be done.
        call: &'static str,
        /// Elements of the source.
        source_len: usize,
        /// Elements of the destination.
        destination_len: usize,
    },
    /// Memory cannot be taken as elements of another type.
    #[error("{bytes} bytes are no whole number of elements of {size} bytes")]
    Cast {
        /// Bytes of the memory.
        bytes: usize,
        /// Bytes of an element.
        size: usize,
    },
    /// Objects of different contexts were used together.
    #[error("{call}: {what} belongs to another context")]
    OtherContext {
        /// What was to be done.
        call: &'static str,
        /// Which object.
        what: &'static str,
    },
    /// A null handle or address was to be adopted.
    #[error("cannot adopt a null {what}")]
    Null {
        /// What it was to be.
        what: &'static str,
    },
    /// The device cannot do what was asked.
    #[error("the device cannot do this: {0}")]
    Unsupported(&'static str),
    /// A stream is being captured, which rules this out ([`super::super::Stream::capture`]). The driver was not asked: it
    /// would have ended the capture.
    #[error("{call}: {what} ({})", Code::STREAM_CAPTURE_UNSUPPORTED)]
    Capturing {
        /// What was to be done.
        call: &'static str,
        /// Why it cannot be.
        what: &'static str,
    },
}

impl Error {
    /// The driver's number, where the driver was asked.
    pub fn code(&self) -> Option<Code> {
        match self {
            Error::Driver(e) | Error::Poisoned(e) => Some(e.code),
            Error::Jit(e) => e.code(),
            Error::Load(e) => e.code(),
            Error::Capturing { .. } => Some(Code::STREAM_CAPTURE_UNSUPPORTED),
            Error::MissingSymbol(_)
            | Error::Emit(_)
            | Error::Launch(_)
            | Error::TooLarge { .. }
            | Error::LengthMismatch { .. }
            | Error::Cast { .. }
            | Error::OtherContext { .. }
            | Error::Null { .. }
            | Error::Unsupported(_) => None,
        }
    }

    /// The entry point that failed, where the driver was asked.
    pub fn call(&self) -> Option<&'static str> {
        match self {
            Error::Driver(e) | Error::Poisoned(e) => Some(e.call),
            Error::Jit(e) => e.call(),
            Error::Load(e) => e.call(),
            Error::MissingSymbol(name) => Some(name),
            Error::LengthMismatch { call, .. }
            | Error::OtherContext { call, .. }
            | Error::Capturing { call, .. } => Some(call),
            Error::Emit(_)
            | Error::Launch(_)
            | Error::TooLarge { .. }
            | Error::Cast { .. }
            | Error::Null { .. }
            | Error::Unsupported(_) => None,
        }
    }

    /// Whether the failure is of work started before the call that returned it.
    pub fn is_late(&self) -> bool {
        match self {
            Error::Driver(e) => e.late,
            Error::Poisoned(_) => true,
            _ => false,
        }
    }

    #[cold]
    pub(crate) fn driver(call: &'static str, code: Code) -> Error {
        Error::Driver(Box::new(DriverError {
            call,
            code,
            late: code.is_sticky(),
            in_drop: false,
            last_launch: None,
        }))
    }
}

impl From<LaunchError> for Error {
    #[cold]
    fn from(error: LaunchError) -> Error {
        Error::Launch(Box::new(error))
    }
}

impl From<JitError> for Error {
    #[cold]
    fn from(error: JitError) -> Error {
        Error::Jit(Box::new(error))
    }
}

impl From<LoadError> for Error {
    #[cold]
    fn from(error: LoadError) -> Error {
        Error::Load(Box::new(error))
    }
}

/// An entry point of the driver answered with an error.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DriverError {
    /// The entry point.
    pub call: &'static str,
    /// What it returned.
    pub code: Code,
    /// Whether it speaks of work started earlier, or failed where an error could not be returned, and is reported late.
    pub late: bool,
    /// Whether the call was made while something was dropped.
    pub in_drop: bool,
    /// The kernel launched last in the context before the error was seen, if there was one and the error is of work on the
    /// device. It is the first suspect; launches before it, on other streams, may be the cause too.
    pub last_launch: Option<Arc<str>>,
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed with {}", self.call, self.code)?;
        if self.late {
            f.write_str(" (reported late")?;
            if self.in_drop {
                f.write_str(": the call was made while something was dropped")?;
            } else {
                f.write_str(": the failure is of work started earlier")?;
            }
            if let Some(name) = &self.last_launch {
                write!(f, "; the last kernel launched was {name:?}")?;
            }
            f.write_str(")")?;
        }
        match self.code.advice() {
            "" => Ok(()),
            advice => write!(f, ": {advice}"),
        }
    }
}

impl std::error::Error for DriverError {}

/// A library that was tried, and why it was not used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tried {
    /// Its name or path.
    pub name: PathBuf,
    /// What the system's loader said.
    pub reason: String,
}

/// Why there is no driver.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No library of the driver's was found.
    #[error("no CUDA driver was found; tried {}", Names(.tried))]
    NotFound {
        /// What was tried, in order.
        tried: Vec<Tried>,
    },
    /// A library of the right name is none of the driver's.
    #[error("{} is no CUDA driver: it has no {symbol}", .library.display())]
    NotADriver {
        /// The library.
        library: PathBuf,
        /// What it lacks.
        symbol: &'static str,
    },
    /// The toolkit's stub library was found first.
    #[error("{} is the toolkit's stub library, which only serves for linking: put the driver's own library first on the search path", .library.display())]
    StubLibrary {
        /// The library.
        library: PathBuf,
    },
    /// The driver could not be initialised.
    #[error("{} cannot be used: {call} failed with {code}{}{}", .library.display(), if .code.advice().is_empty() { "" } else { ": " }, .code.advice())]
    Init {
        /// The library.
        library: PathBuf,
        /// The entry point.
        call: &'static str,
        /// What it returned.
        code: Code,
    },
}

impl LoadError {
    fn code(&self) -> Option<Code> {
        match self {
            LoadError::Init { code, .. } => Some(*code),
            LoadError::StubLibrary { .. } => Some(Code::STUB_LIBRARY),
            LoadError::NotFound { .. } | LoadError::NotADriver { .. } => None,
        }
    }

    fn call(&self) -> Option<&'static str> {
        match self {
            LoadError::Init { call, .. } => Some(call),
            LoadError::StubLibrary { .. } => Some("cuInit"),
            LoadError::NotFound { .. } | LoadError::NotADriver { .. } => None,
        }
    }
}

struct Names<'a>(&'a [Tried]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, tried) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "; " };
            write!(f, "{comma}{} ({})", tried.name.display(), tried.reason)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_small_and_say_what_to_do() {
        assert!(size_of::<Error>() <= 48);
        let text = Error::driver("cuModuleLoadDataEx", Code::UNSUPPORTED_PTX_VERSION).to_string();
        assert!(text.contains("update the driver"), "{text}");
        let text = Error::driver("cuMemFree_v2", Code::ILLEGAL_ADDRESS).to_string();
        assert!(text.contains("reported late"), "{text}");
        let error = Error::driver("cuInit", Code(9999));
        assert_eq!((error.code(), error.is_late()), (Some(Code(9999)), false));
    }
}
