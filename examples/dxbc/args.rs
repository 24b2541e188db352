//! Arguments, files, and how things fail.
#![forbid(unsafe_code)]

use kernite::dxbc::{PackError, ReadError, WriteDigest, WriteError};
use lexopt::prelude::*;
use std::{ffi::OsString, fmt, fs, path::Path};

/// Why a command failed, and with it the exit code.
#[derive(Debug)]
pub enum Failure {
    /// A container that is not what it should be.
    Invalid(String),
    /// Wrong arguments, or a file that cannot be read or written.
    Usage(String),
    /// Something that is not done.
    Unsupported(String),
    /// Nothing failed: help was asked for.
    Help,
}

impl Failure {
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub fn code(&self) -> u8 {
        match self {
            Self::Invalid(_) => 1,
            Self::Usage(_) => 2,
            Self::Unsupported(_) => 3,
            Self::Help => 0,
        }
    }

    /// The same with the file's name before it.
    pub fn of(self, file: &str) -> Self {
        match self {
            Self::Invalid(m) => Self::Invalid(format!("{file}: {m}")),
            Self::Usage(m) => Self::Usage(format!("{file}: {m}")),
            Self::Unsupported(m) => Self::Unsupported(format!("{file}: {m}")),
            Self::Help => Self::Help,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(m) | Self::Usage(m) | Self::Unsupported(m) => f.write_str(m),
            Self::Help => Ok(()),
        }
    }
}

impl From<lexopt::Error> for Failure {
    fn from(e: lexopt::Error) -> Self {
        Self::Usage(e.to_string())
    }
}

impl From<ReadError> for Failure {
    fn from(e: ReadError) -> Self {
        Self::Invalid(e.to_string())
    }
}

impl From<WriteError> for Failure {
    fn from(e: WriteError) -> Self {
        Self::Invalid(e.to_string())
    }
}

impl From<PackError> for Failure {
    fn from(e: PackError) -> Self {
        match e {
            PackError::Unsupported { .. } => Self::Unsupported(e.to_string()),
            e => Self::Invalid(e.to_string()),
        }
    }
}

/// The command line, read argument by argument.
pub struct Args(lexopt::Parser);

/// An argument.
pub enum Next {
    /// `--name` or `-n`.
    Option(String),
    /// Anything else.
    Value(String),
}

impl Args {
    pub fn from_env() -> Self {
        Self(lexopt::Parser::from_env())
    }

    /// The first argument; `--help` counts as `help`.
    pub fn command(&mut self) -> Result<Option<String>, Failure> {
        Ok(match self.next()? {
            None => None,
            Some(Next::Value(v)) => Some(v),
            Some(Next::Option(o)) if o == "help" || o == "h" => Some("help".into()),
            Some(Next::Option(o)) => return Err(Failure::usage(format!("a command before -{o}"))),
        })
    }

    pub fn next(&mut self) -> Result<Option<Next>, Failure> {
        Ok(match self.0.next()? {
            None => None,
            Some(Short(c)) => Some(Next::Option(c.to_string())),
            Some(Long(l)) => Some(Next::Option(l.to_owned())),
            Some(Value(v)) => Some(Next::Value(text(v)?)),
        })
    }

    /// The value of the option just read.
    pub fn value(&mut self) -> Result<String, Failure> {
        text(self.0.value()?)
    }
}

fn text(v: OsString) -> Result<String, Failure> {
    v.into_string()
        .map_err(|v| Failure::usage(format!("not UTF-8: {}", v.to_string_lossy())))
}

/// The option is not one of the command's, if it does not ask for help.
pub fn unknown(option: &str) -> Failure {
    if matches!(option, "help" | "h") {
        return Failure::Help;
    }
    Failure::usage(format!("no option `{option}` here; try `dxbc help`"))
}

/// Something has to be given.
pub fn need<T>(value: Option<T>, what: &str) -> Result<T, Failure> {
    value.ok_or_else(|| Failure::usage(format!("{what} is missing; try `dxbc help`")))
}

pub fn read(file: &str) -> Result<Vec<u8>, Failure> {
    fs::read(file).map_err(|e| Failure::usage(format!("{file}: {e}")))
}

pub fn write(file: &str, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(Path::new(file), bytes).map_err(|e| Failure::usage(format!("{file}: {e}")))
}

pub fn digest(name: &str) -> Result<WriteDigest, Failure> {
    Ok(match name {
        "retail" => WriteDigest::Retail,
        "debug" => WriteDigest::Debug,
        "unsigned" => WriteDigest::Unsigned,
        "bypass" => WriteDigest::Bypass,
        "preview-bypass" => WriteDigest::PreviewBypass,
        other => {
            return Err(Failure::usage(format!(
                "no digest `{other}`: retail, debug, unsigned, bypass, preview-bypass"
            )));
        }
    })
}
