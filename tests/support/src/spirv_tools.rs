//! SPIRV-Tools: the validator, the disassembler and the assembler.
//!
//! 2025 or newer is required: 2023.1, which Debian 12 ships, accepts barrier and
//! atomic semantics, duplicate decorations and local sizes that are invalid, and
//! rejects valid control flow.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::oracle::{self, Oracle};
use crate::{parallel, process, tools};

/// The oldest release accepted.
pub const OLDEST: u32 = 2025;

/// The environment whose rules a module is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the variants are spirv-val's own names
pub enum Env {
    Vulkan1_0,
    Vulkan1_1,
    Vulkan1_1Spirv1_4,
    Vulkan1_2,
    Vulkan1_3,
    Vulkan1_4,
    Universal1_0,
    Universal1_1,
    Universal1_2,
    Universal1_3,
    Universal1_4,
    Universal1_5,
    Universal1_6,
}

impl Env {
    /// The name that `--target-env` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vulkan1_0 => "vulkan1.0",
            Self::Vulkan1_1 => "vulkan1.1",
            Self::Vulkan1_1Spirv1_4 => "vulkan1.1spv1.4",
            Self::Vulkan1_2 => "vulkan1.2",
            Self::Vulkan1_3 => "vulkan1.3",
            Self::Vulkan1_4 => "vulkan1.4",
            Self::Universal1_0 => "spv1.0",
            Self::Universal1_1 => "spv1.1",
            Self::Universal1_2 => "spv1.2",
            Self::Universal1_3 => "spv1.3",
            Self::Universal1_4 => "spv1.4",
            Self::Universal1_5 => "spv1.5",
            Self::Universal1_6 => "spv1.6",
        }
    }

    /// The first Vulkan environment that takes SPIR-V 1.`minor`.
    pub const fn vulkan_for(minor: u8) -> Option<Self> {
        match minor {
            0 => Some(Self::Vulkan1_0),
            1..=3 => Some(Self::Vulkan1_1),
            4 => Some(Self::Vulkan1_1Spirv1_4),
            5 => Some(Self::Vulkan1_2),
            6 => Some(Self::Vulkan1_3),
            _ => None,
        }
    }
}

/// A tool's refusal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The tool's own words, every line of them.
    pub message: String,
    /// The instruction that the message names, counted from 1 as the tool counts.
    pub line: Option<u32>,
}

impl Refused {
    fn new(message: String) -> Self {
        // `error: line 7: …`, or `error: 7: …` of the assembler.
        let line = message.split_once("error: ").and_then(|(_, rest)| {
            let number = rest.strip_prefix("line ").unwrap_or(rest);
            number.split(':').next()?.trim().parse().ok()
        });
        Self { message, line }
    }
}

/// `SPIRV-Tools v2025.5 …` is of 2025.
fn year(said: &str) -> Option<u32> {
    let (_, rest) = said.split_once("SPIRV-Tools v")?;
    rest.split('.').next()?.parse().ok()
}

struct Search {
    found: Option<PathBuf>,
    refused: Vec<String>,
}

fn search(name: &str) -> Search {
    let mut refused = Vec::new();
    // Not the environment's own `bin`: what is there is a Python script around this.
    let mut paths = tools::in_environments(&format!("cmeel.prefix/bin/{name}"));
    paths.extend(tools::on_path(name));
    for path in paths {
        let said = process::text(&process::run(Command::new(&path).arg("--version"), b""));
        match year(&said) {
            Some(year) if year >= OLDEST => {
                return Search {
                    found: Some(path),
                    refused,
                };
            }
            Some(year) => refused.push(format!("{} is of {year}", path.display())),
            None => refused.push(format!("{} says no version", path.display())),
        }
    }
    Search {
        found: None,
        refused,
    }
}

fn get(oracle: Oracle, cell: &'static OnceLock<Search>) -> Option<&'static Path> {
    let search = cell.get_or_init(|| search(oracle.name()));
    if search.found.is_none() {
        oracle::missing(oracle, &tools::looked_at(&search.refused));
    }
    search.found.as_deref()
}

/// The validator.
#[derive(Clone, Copy, Debug)]
pub struct SpirvVal {
    path: &'static Path,
}

impl SpirvVal {
    /// The validator, looked for once a process; `None` after a counted skip.
    ///
    /// # Panics
    /// It is missing, or too old, and `KERNITE_REQUIRE_ORACLES` names it.
    pub fn get() -> Option<Self> {
        static FOUND: OnceLock<Search> = OnceLock::new();
        get(Oracle::SpirvVal, &FOUND).map(|path| Self { path })
    }

    /// Judges a module by the rules of an environment.
    ///
    /// # Errors
    /// spirv-val refuses it, and says why.
    pub fn validate(self, words: &[u32], env: Env) -> Result<(), Refused> {
        self.validate_with(words, env, &[])
    }

    /// As [`Self::validate`], with further options such as
    /// `--scalar-block-layout`.
    ///
    /// # Errors
    /// spirv-val refuses the module, and says why.
    pub fn validate_with(self, words: &[u32], env: Env, options: &[&str]) -> Result<(), Refused> {
        self.validate_bytes(bytemuck::cast_slice(words), env, options)
    }

    /// As [`Self::validate_with`], of bytes whose number need not be a multiple
    /// of four.
    ///
    /// # Errors
    /// spirv-val refuses the module, and says why.
    pub fn validate_bytes(self, bytes: &[u8], env: Env, options: &[&str]) -> Result<(), Refused> {
        let mut command = Command::new(self.path);
        command.args(["--target-env", env.name()]).args(options);
        let output = process::run(command.arg("-"), bytes);
        if output.status.success() {
            Ok(())
        } else {
            Err(Refused::new(process::text(&output)))
        }
    }

    /// Judges many modules, [`parallel::WORKERS`] at a time; results keep their
    /// order.
    pub fn validate_all(self, modules: &[(&[u32], Env)]) -> Vec<Result<(), Refused>> {
        parallel::map(modules, |&(words, env)| self.validate(words, env))
    }
}

/// The disassembler.
#[derive(Clone, Copy, Debug)]
pub struct SpirvDis {
    path: &'static Path,
}

impl SpirvDis {
    /// The disassembler, looked for once a process; `None` after a counted skip.
    ///
    /// # Panics
    /// It is missing, or too old, and `KERNITE_REQUIRE_ORACLES` names it.
    pub fn get() -> Option<Self> {
        static FOUND: OnceLock<Search> = OnceLock::new();
        get(Oracle::SpirvDis, &FOUND).map(|path| Self { path })
    }

    /// The module as text, with raw ids (`%7`), without header and indentation.
    ///
    /// # Errors
    /// The words cannot be parsed as SPIR-V.
    pub fn disassemble(self, words: &[u32]) -> Result<String, Refused> {
        let mut command = Command::new(self.path);
        command.args(["--no-color", "--raw-id", "--no-header", "--no-indent", "-"]);
        let output = process::run(&mut command, bytemuck::cast_slice(words));
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(Refused::new(process::text(&output)))
        }
    }
}

/// The assembler.
#[derive(Clone, Copy, Debug)]
pub struct SpirvAs {
    path: &'static Path,
}

impl SpirvAs {
    /// The assembler, looked for once a process; `None` after a counted skip.
    ///
    /// # Panics
    /// It is missing, or too old, and `KERNITE_REQUIRE_ORACLES` names it.
    pub fn get() -> Option<Self> {
        static FOUND: OnceLock<Search> = OnceLock::new();
        get(Oracle::SpirvAs, &FOUND).map(|path| Self { path })
    }

    /// The words of a text. Numeric ids are kept as they are.
    ///
    /// # Errors
    /// The text is not SPIR-V assembly.
    pub fn assemble(self, text: &str, env: Env) -> Result<Vec<u32>, Refused> {
        let mut command = Command::new(self.path);
        command.args(["--target-env", env.name(), "--preserve-numeric-ids"]);
        let output = process::run(command.args(["-o", "-", "-"]), text.as_bytes());
        if output.status.success() {
            let words = output.stdout.chunks_exact(4);
            Ok(words
                .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
                .collect())
        } else {
            Err(Refused::new(process::text(&output)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(year("SPIRV-Tools v2025.5 262bdab\nTargets:"), Some(2025));
        assert_eq!(year("SPIRV-Tools v2023.1 unknown hash"), Some(2023));
        assert_eq!(year("spirv-val"), None);
    }

    #[test]
    fn lines_are_read() {
        let line = |message: &str| Refused::new(message.to_owned()).line;
        assert_eq!(line("error: line 12: Invalid"), Some(12));
        assert_eq!(line("error: 3: Expected"), Some(3));
        assert_eq!(line("error: Missing module."), None);
    }
}
