//! The tools that the tests compare with.
//!
//! A tool is found by its variable (`KERNITE_SPIRV_VAL`, `KERNITE_SPIRV_DIS`,
//! `KERNITE_SPIRV_AS`, `KERNITE_GLSLANG`), below the folders of `KERNITE_ORACLES` (separated by
//! `:`), or, for glslangValidator, on the path. A missing tool is a skip that is printed and
//! counted, and a failure where `KERNITE_REQUIRE_ORACLES` (a list separated by commas) names it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

static SKIPPED: AtomicUsize = AtomicUsize::new(0);
static FOUND: Mutex<Vec<(Tool, Option<PathBuf>)>> = Mutex::new(Vec::new());

/// A tool that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// SPIRV-Tools' validator, 2025.5.
    SpirvVal,
    /// SPIRV-Tools' disassembler.
    SpirvDis,
    /// SPIRV-Tools' assembler.
    SpirvAs,
    /// Khronos's GLSL compiler.
    Glslang,
    /// Khronos's machine-readable grammar, a folder.
    Grammar,
}

impl Tool {
    /// The name that `KERNITE_REQUIRE_ORACLES` uses.
    pub fn name(self) -> &'static str {
        match self {
            Tool::SpirvVal => "spirv-val",
            Tool::SpirvDis => "spirv-dis",
            Tool::SpirvAs => "spirv-as",
            Tool::Glslang => "glslangValidator",
            Tool::Grammar => "spirv-grammar",
        }
    }

    fn variable(self) -> &'static str {
        match self {
            Tool::SpirvVal => "KERNITE_SPIRV_VAL",
            Tool::SpirvDis => "KERNITE_SPIRV_DIS",
            Tool::SpirvAs => "KERNITE_SPIRV_AS",
            Tool::Glslang => "KERNITE_GLSLANG",
            Tool::Grammar => "KERNITE_SPIRV_GRAMMAR",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Tool::Grammar => "spirv.core.grammar.json",
            _ => self.name(),
        }
    }
}

/// Where a tool is, or `None` after printing and counting the skip.
///
/// # Panics
///
/// If the tool is missing and `KERNITE_REQUIRE_ORACLES` names it.
pub fn find(tool: Tool) -> Option<PathBuf> {
    // Searched once: a folder of oracles may be large.
    let mut found = FOUND.lock().unwrap_or_else(|e| e.into_inner());
    let known = found
        .iter()
        .find(|(t, _)| *t == tool)
        .map(|(_, p)| p.clone());
    let path = known.unwrap_or_else(|| {
        let path = locate(tool);
        found.push((tool, path.clone()));
        path
    });
    drop(found);
    if path.is_some() {
        return path;
    }
    skip(tool, "not found");
    None
}

/// Prints and counts a test left out for want of a tool.
///
/// # Panics
///
/// If `KERNITE_REQUIRE_ORACLES` names the tool.
pub fn skip(tool: Tool, why: &str) {
    let required = std::env::var("KERNITE_REQUIRE_ORACLES").unwrap_or_default();
    assert!(
        !required.split(',').any(|name| name.trim() == tool.name()),
        "{} is required: {why}: set {} or KERNITE_ORACLES",
        tool.name(),
        tool.variable()
    );
    let count = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
    println!("skipped (number {count}): {}: {why}", tool.name());
}

fn locate(tool: Tool) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(tool.variable()) {
        return Some(path.into());
    }
    let folders = std::env::var_os("KERNITE_ORACLES").unwrap_or_default();
    let found = std::env::split_paths(&folders).find_map(|f| below(&f, tool.file(), 9));
    if let Some(path) = found {
        return if tool == Tool::Grammar {
            path.parent().map(Path::to_owned)
        } else {
            Some(path)
        };
    }
    if tool == Tool::Glslang {
        let path = std::env::var_os("PATH").unwrap_or_default();
        return std::env::split_paths(&path)
            .map(|folder| folder.join(tool.name()))
            .find(|file| file.is_file());
    }
    None
}

/// A file of this name in a folder or below it.
fn below(folder: &Path, name: &str, depth: usize) -> Option<PathBuf> {
    let direct = folder.join(name);
    if direct.is_file() {
        return Some(direct);
    }
    if depth == 0 {
        return None;
    }
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter(|e| e.file_type().is_ok_and(|t| t.is_dir()))
        .map(|e| e.path())
        .collect();
    folders.sort();
    folders.iter().find_map(|f| below(f, name, depth - 1))
}

/// A command for a tool, with its libraries beside it if it has some.
pub fn command(path: &Path) -> Command {
    let mut command = Command::new(path);
    if let Some(lib) = path.parent().and_then(Path::parent).map(|p| p.join("lib"))
        && lib.is_dir()
    {
        command.env("LD_LIBRARY_PATH", lib);
    }
    command
}

/// Runs a tool on bytes: its success, and what it wrote to both streams.
///
/// # Panics
///
/// If it cannot be started.
pub fn run(path: &Path, arguments: &[&str], input: &[u8]) -> (bool, Vec<u8>) {
    let mut child = command(path)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if let Some(mut stdin) = child.stdin.take() {
        // A tool may stop reading early.
        let _ = stdin.write_all(input);
    }
    let mut out = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        let _ = stdout.read_to_end(&mut out);
    }
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_end(&mut out);
    }
    (child.wait().is_ok_and(|s| s.success()), out)
}

/// spirv-val's verdict under Vulkan 1.3: valid or not, and its message.
pub fn spirv_val(path: &Path, module: &[u8]) -> (bool, String) {
    let (valid, text) = run(path, &["--target-env", "vulkan1.3", "-"], module);
    (valid, String::from_utf8_lossy(&text).into_owned())
}
