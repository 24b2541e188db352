//! DXC's container validator, in a process of its own.
//!
//! `KERNITE_DXC` is the path of `libdxcompiler`; else it is looked for below the folder
//! `KERNITE_ORACLES` (the PyPI package `compushady-lrtu` has it). It is called through Python's
//! `ctypes`.
#![forbid(unsafe_code)]

use kernite::dxbc::FourCc;
use std::{
    env, fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A running validator.
#[derive(Debug)]
pub struct Dxc {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    version: (u32, u32),
}

/// What DXC says of a container.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// `HRESULT`; 0 is valid.
    pub status: u32,
    /// Its messages.
    pub text: String,
}

/// Flags of `IDxcValidator::Validate`.
const IN_PLACE: u32 = 1;
const ROOT_SIGNATURE_ONLY: u32 = 2;
/// Not one of them: `dxc.py` edits instead.
const BUILD: u32 = 0x100;

impl Dxc {
    /// Starts DXC, or prints a skip.
    ///
    /// # Panics
    /// If `KERNITE_REQUIRE_ORACLES` names `dxc` and it cannot be started.
    #[must_use]
    pub fn start(test: &str) -> Option<Self> {
        let started = match find() {
            Some(path) => Self::spawn(&path).map_err(|e| format!("{}: {e}", path.display())),
            None => Err("set KERNITE_DXC or KERNITE_ORACLES".to_owned()),
        };
        match started {
            Ok(dxc) => Some(dxc),
            Err(why) => {
                let required = env::var("KERNITE_REQUIRE_ORACLES").unwrap_or_default();
                let required = required.split([',', ' ']).any(|o| o.trim() == "dxc");
                assert!(!required, "oracle dxc is required: {why}");
                skip(test, &why);
                None
            }
        }
    }

    fn spawn(path: &Path) -> io::Result<Self> {
        let script = crate::files::root().join("oracle/dxc.py");
        let python = env::var_os("KERNITE_PYTHON").unwrap_or_else(|| "python3".into());
        let mut child = Command::new(python)
            .arg(script)
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let version = read_pair(&mut output)?;
        Ok(Self {
            child,
            input,
            output,
            version,
        })
    }

    /// The validator's version.
    #[must_use]
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Validates a container.
    ///
    /// # Panics
    /// If DXC dies.
    pub fn validate(&mut self, container: &[u8]) -> Verdict {
        self.ask(container, IN_PLACE)
    }

    /// Validates only the root signature.
    ///
    /// # Panics
    /// If DXC dies.
    pub fn validate_root_signature(&mut self, container: &[u8]) -> Verdict {
        self.ask(container, ROOT_SIGNATURE_ONLY)
    }

    /// Edits a container with `IDxcContainerBuilder`; gives the status and the new container.
    ///
    /// # Panics
    /// If DXC dies.
    pub fn build(
        &mut self,
        container: &[u8],
        remove: &[FourCc],
        add: &[(FourCc, &[u8])],
    ) -> (u32, Vec<u8>) {
        let word = |n: usize| u32::try_from(n).expect("small").to_le_bytes();
        let mut request = Vec::new();
        request.extend(word(container.len()));
        request.extend(BUILD.to_le_bytes());
        request.extend(container);
        request.extend(word(remove.len()));
        remove.iter().for_each(|k| request.extend(k.0));
        request.extend(word(add.len()));
        for (kind, data) in add {
            request.extend(kind.0);
            request.extend(word(data.len()));
            request.extend(*data);
        }
        let answer = (|| {
            self.input.write_all(&request)?;
            self.input.flush()?;
            self.answer()
        })();
        answer.expect("DXC answers")
    }

    fn answer(&mut self) -> io::Result<(u32, Vec<u8>)> {
        let (status, length) = read_pair(&mut self.output)?;
        let mut bytes = vec![0; length as usize];
        self.output.read_exact(&mut bytes)?;
        Ok((status, bytes))
    }

    fn ask(&mut self, container: &[u8], flags: u32) -> Verdict {
        self.try_ask(container, flags).expect("DXC answers")
    }

    fn try_ask(&mut self, container: &[u8], flags: u32) -> io::Result<Verdict> {
        let size = u32::try_from(container.len()).map_err(io::Error::other)?;
        self.input.write_all(&size.to_le_bytes())?;
        self.input.write_all(&flags.to_le_bytes())?;
        self.input.write_all(container)?;
        self.input.flush()?;
        let (status, text) = self.answer()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Verdict { status, text })
    }
}

impl Drop for Dxc {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_pair(from: &mut impl Read) -> io::Result<(u32, u32)> {
    let mut b = [0; 8];
    from.read_exact(&mut b)?;
    let word = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
    Ok((word(0), word(4)))
}

/// Prints a skip, past the test harness's capture, so that it can be counted.
fn skip(test: &str, why: &str) {
    let _ = writeln!(io::stderr(), "SKIP oracle=dxc test={test}: {why}");
}

fn find() -> Option<PathBuf> {
    if let Some(path) = env::var_os("KERNITE_DXC") {
        return Some(path.into());
    }
    let root = PathBuf::from(env::var_os("KERNITE_ORACLES")?);
    let mut found = Vec::new();
    search(&root, 12, &mut found);
    found.sort();
    found.into_iter().next()
}

fn search(dir: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_dir = entry.file_type().is_ok_and(|t| t.is_dir());
        if is_dir && depth > 0 {
            search(&path, depth - 1, found);
        } else if name.starts_with("libdxcompiler") && name.contains(".so") {
            found.push(path);
        }
    }
}
