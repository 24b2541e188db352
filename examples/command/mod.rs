//! How a command that fails ends, for the examples that are commands.
#![forbid(unsafe_code)]

use std::process::ExitCode;

pub enum Failure {
    /// The command line makes no sense: exit code 2.
    Usage(String),
    /// It did, and the work cannot be done: exit code 1.
    Failed(String),
}

impl Failure {
    /// Says what is wrong, with the command's usage where that helps.
    pub fn exit(self, usage: &str) -> ExitCode {
        match self {
            Failure::Usage(message) => {
                eprintln!("error: {message}\n\n{usage}");
                ExitCode::from(2)
            }
            Failure::Failed(message) => {
                eprintln!("error: {message}");
                ExitCode::FAILURE
            }
        }
    }
}

pub fn usage(message: impl ToString) -> Failure {
    Failure::Usage(message.to_string())
}

pub fn failed(message: impl ToString) -> Failure {
    Failure::Failed(message.to_string())
}
