//! DXC's container validator and builder, called by a small Python script that the
//! tools' virtual environment runs.
#![forbid(unsafe_code)]

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use crate::oracle::{self, Oracle};
use crate::tools;

const SCRIPT: &str = include_str!("dxc.py");

/// What DXC answers when a container's structure is broken: `IsValidDxilContainer`
/// refuses it (`DXC_E_CONTAINER_INVALID`).
pub const CONTAINER_INVALID: u32 = 0x80aa_000d;

/// DXC does not take a container.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// DXC refuses it.
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

    /// Starts DXC, to ask it many things one after the other.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn session(&self) -> Session {
        Session {
            dxc: self.clone(),
            process: Process::start(self),
        }
    }

    /// Validates one container.
    ///
    /// # Errors
    /// The validator refuses the container, or crashes on it.
    pub fn validate(&self, container: &[u8]) -> Result<(), Refused> {
        self.session().validate(container)
    }

    /// Validates many containers, with one process unless DXC crashes; results keep
    /// their order.
    ///
    /// # Panics
    /// As [`Session::validate`].
    pub fn validate_all(&self, containers: &[&[u8]]) -> Vec<Result<(), Refused>> {
        let mut session = self.session();
        containers.iter().map(|c| session.validate(c)).collect()
    }
}

/// A running DXC. After a crash, which only its own process dies of, it runs anew.
#[derive(Debug)]
pub struct Session {
    dxc: Dxc,
    process: Process,
}

impl Session {
    /// The validator's version, major and minor.
    pub fn version(&self) -> (u32, u32) {
        self.process.version
    }

    /// Validates a container.
    ///
    /// # Errors
    /// The validator refuses the container, or crashes on it.
    ///
    /// # Panics
    /// The script fails, or the container has 4 GiB or more.
    pub fn validate(&mut self, container: &[u8]) -> Result<(), Refused> {
        self.ask(0, container, &[]).map(|_| ())
    }

    /// Validates the root signature of a container, and nothing else of it.
    ///
    /// # Errors
    /// As [`validate`](Self::validate).
    ///
    /// # Panics
    /// As [`validate`](Self::validate).
    pub fn validate_root_signature(&mut self, container: &[u8]) -> Result<(), Refused> {
        self.ask(1, container, &[]).map(|_| ())
    }

    /// Edits a container with `IDxcContainerBuilder`: first removes the parts of
    /// these kinds, then adds parts. Gives the new container.
    ///
    /// # Errors
    /// The builder refuses a step, or crashes.
    ///
    /// # Panics
    /// As [`validate`](Self::validate).
    pub fn build(
        &mut self,
        container: &[u8],
        remove: &[[u8; 4]],
        add: &[([u8; 4], &[u8])],
    ) -> Result<Vec<u8>, Refused> {
        let mut edits = Vec::new();
        edits.extend(size(remove.len()));
        edits.extend(remove.iter().flatten());
        edits.extend(size(add.len()));
        for (kind, data) in add {
            edits.extend(kind);
            edits.extend(size(data.len()));
            edits.extend(*data);
        }
        self.ask(2, container, &edits)
    }

    fn ask(&mut self, verb: u32, container: &[u8], more: &[u8]) -> Result<Vec<u8>, Refused> {
        let mut request = Vec::new();
        request.extend(verb.to_le_bytes());
        request.extend(size(container.len()));
        request.extend(container);
        request.extend(more);
        match self.process.exchange(&request) {
            Ok((0, answer)) => Ok(answer),
            Ok((status, message)) => Err(Refused::Invalid {
                status,
                message: String::from_utf8_lossy(&message).into_owned(),
            }),
            // Only a process that has ended leaves a request without an answer.
            Err(error) => {
                let status = self.process.child.wait().expect("its status");
                // An exit code is the script's, a signal is DXC's crash.
                let code = status.code();
                assert!(code.is_none(), "the DXC script fails: {status}: {error}");
                self.process = Process::start(&self.dxc);
                Err(Refused::Crashed(status.to_string()))
            }
        }
    }
}

/// The script's process, which ends with this value.
#[derive(Debug)]
struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    version: (u32, u32),
}

impl Process {
    fn start(dxc: &Dxc) -> Self {
        let mut command = Command::new(&dxc.python);
        command.args(["-c", SCRIPT]).arg(&dxc.library);
        let started = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .and_then(|mut child| {
                let none = || io::Error::other("no pipe");
                let input = child.stdin.take().ok_or_else(none)?;
                let mut output = child.stdout.take().ok_or_else(none)?;
                let version = read_pair(&mut output)?;
                Ok(Self {
                    child,
                    input,
                    output,
                    version,
                })
            });
        started.unwrap_or_else(|error| panic!("DXC could not be started: {error}"))
    }

    /// The script reads a request to its end before it answers, so neither side
    /// waits for the other.
    fn exchange(&mut self, request: &[u8]) -> io::Result<(u32, Vec<u8>)> {
        self.input.write_all(request)?;
        self.input.flush()?;
        let (status, length) = read_pair(&mut self.output)?;
        let mut answer = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        self.output.read_exact(&mut answer)?;
        Ok((status, answer))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(n: usize) -> [u8; 4] {
    u32::try_from(n).expect("less than 4 GiB").to_le_bytes()
}

fn read_pair(from: &mut impl Read) -> io::Result<(u32, u32)> {
    let mut word = || {
        let mut bytes = [0; 4];
        from.read_exact(&mut bytes)?;
        io::Result::Ok(u32::from_le_bytes(bytes))
    };
    Ok((word()?, word()?))
}
