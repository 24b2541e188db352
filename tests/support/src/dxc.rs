//! DXC's container validator, called by a small Python script that the tools'
//! virtual environment runs.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::oracle::{self, Oracle};
use crate::{process, tools};

const SCRIPT: &str = include_str!("dxc.py");

/// DXC does not take a container.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The validator refuses it.
    #[error("DXC answers {status:#010x}: {message}")]
    Invalid {
        /// The HRESULT, for example `0x80aa0013` where the shader does not validate.
        status: u32,
        /// The validator's own words; empty where the container cannot be read.
        message: String,
    },
    /// DXC crashed on it.
    #[error("DXC crashed: {0}")]
    Crashed(String),
}

/// DXC, whose validator is 1.8 in the release that `.ci/install-oracles` installs.
#[derive(Clone, Debug)]
pub struct Dxc {
    library: PathBuf,
    python: PathBuf,
}

impl Dxc {
    /// DXC, looked for once a process; `None` after a counted skip. Only the
    /// oracles' folder is searched: a library on its own would lack the Python that
    /// calls it.
    ///
    /// # Panics
    /// It is missing and `KERNITE_REQUIRE_ORACLES` names it.
    pub fn get() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Dxc>> = OnceLock::new();
        let found = FOUND.get_or_init(Self::search);
        if found.is_none() {
            let why = format!("not found (looked at {})", tools::folder().display());
            oracle::missing(Oracle::Dxc, &why);
        }
        found.as_ref()
    }

    fn search() -> Option<Self> {
        let library = tools::in_environments("compushady/backends/libdxcompiler*.so");
        library.into_iter().find_map(|library| {
            // ENVIRONMENT/lib/pythonX/site-packages/compushady/backends/libdxcompiler.so
            let python = library.ancestors().nth(6)?.join("bin/python");
            python.exists().then_some(Self { library, python })
        })
    }

    /// The library itself.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// Validates one container.
    ///
    /// # Errors
    /// The validator refuses the container, or crashes on it.
    pub fn validate(&self, container: &[u8]) -> Result<(), Refused> {
        self.validate_all(&[container]).remove(0)
    }

    /// Validates many containers, with one process unless DXC crashes; results keep
    /// their order.
    ///
    /// # Panics
    /// The script fails, or a container has 4 GiB or more.
    pub fn validate_all(&self, containers: &[&[u8]]) -> Vec<Result<(), Refused>> {
        let mut results = Vec::with_capacity(containers.len());
        while let Some(rest) = containers.get(results.len()..).filter(|r| !r.is_empty()) {
            let mut input = Vec::new();
            for container in rest {
                let size = u32::try_from(container.len()).expect("a container below 4 GiB");
                input.extend_from_slice(&size.to_le_bytes());
                input.extend_from_slice(container);
            }
            let mut command = Command::new(&self.python);
            command.args(["-c", SCRIPT]).arg(&self.library);
            let output = process::run(&mut command, &input);
            let mut answers = &output.stdout[..];
            while let Some((result, after)) = answer(answers) {
                results.push(result);
                answers = after;
            }
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                // An exit code is the script's; a signal is DXC's crash, on the first
                // container without an answer.
                assert!(
                    output.status.code().is_none(),
                    "the DXC script fails: {said}"
                );
                results.push(Err(Refused::Crashed(output.status.to_string())));
            }
        }
        results
    }
}

/// Takes one answer of the script off the front.
fn answer(bytes: &[u8]) -> Option<(Result<(), Refused>, &[u8])> {
    let (status, rest) = bytes.split_first_chunk()?;
    let (size, rest) = rest.split_first_chunk()?;
    let size = usize::try_from(u32::from_le_bytes(*size)).ok()?;
    let (message, rest) = rest.split_at_checked(size)?;
    let result = match u32::from_le_bytes(*status) {
        0 => Ok(()),
        status => Err(Refused::Invalid {
            status,
            message: String::from_utf8_lossy(message).into_owned(),
        }),
    };
    Some((result, rest))
}
