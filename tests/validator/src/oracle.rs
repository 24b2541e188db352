//! The tools that the tests compare with.
//!
//! A tool is found by its variable (`KERNITE_SPIRV_VAL`, `KERNITE_SPIRV_DIS`, `KERNITE_SPIRV_AS`, `KERNITE_GLSLANG`,
//! `KERNITE_DXCOMPILER`, `KERNITE_SPIRV_GRAMMAR`), in the folder of the oracles (`KERNITE_ORACLES`, by default `.oracles`), or, for
//! glslangValidator, on the path. A missing tool is a skip that is printed and counted, and a failure where
//! `KERNITE_REQUIRE_ORACLES` (`all`, or a list separated by commas) names it.

use kernite_testkit::{oracle::REQUIRE, skip, tools};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

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
    /// Microsoft's HLSL compiler, a shared library.
    Dxc,
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
            Tool::Dxc => "dxc",
            Tool::Grammar => "spirv-grammar",
        }
    }

    fn variable(self) -> &'static str {
        match self {
            Tool::SpirvVal => "KERNITE_SPIRV_VAL",
            Tool::SpirvDis => "KERNITE_SPIRV_DIS",
            Tool::SpirvAs => "KERNITE_SPIRV_AS",
            Tool::Glslang => "KERNITE_GLSLANG",
            Tool::Dxc => "KERNITE_DXCOMPILER",
            Tool::Grammar => "KERNITE_SPIRV_GRAMMAR",
        }
    }

    /// Where PyPI's packages have it.
    fn inside(self) -> Option<String> {
        match self {
            Tool::Glslang => None,
            Tool::Dxc => Some("compushady/backends/libdxcompiler*.so".to_owned()),
            Tool::Grammar => {
                let unified = "include/spirv/unified1/spirv.core.grammar.json";
                Some(format!("cmeel.prefix/{unified}"))
            }
            _ => Some(format!("cmeel.prefix/bin/{}", self.name())),
        }
    }
}

/// Where a tool is, or `None` after printing and counting the skip.
///
/// # Panics
///
/// If the tool is missing and `KERNITE_REQUIRE_ORACLES` names it.
pub fn find(tool: Tool) -> Option<PathBuf> {
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
    let required = std::env::var(REQUIRE).unwrap_or_default();
    let mut names = required.split(',').map(str::trim);
    assert!(
        !names.any(|name| name == "all" || name == tool.name()),
        "{REQUIRE} requires {}: {why}; run `.ci/install-oracles`",
        tool.name(),
    );
    skip::skip(&format!("oracle {}", tool.name()), why);
}

fn locate(tool: Tool) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(tool.variable()) {
        return Some(path.into());
    }
    let Some(inside) = tool.inside() else {
        return tools::on_path(tool.name()).into_iter().next();
    };
    let pattern = format!("*/lib/python3*/site-packages/{inside}");
    let found = tools::find(&tools::folder(), &pattern).into_iter().next()?;
    match tool {
        Tool::Grammar => found.parent().map(Path::to_owned),
        _ => Some(found),
    }
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
    let stdin = child.stdin.take();
    // Each stream has its own end: a tool that says much would wait for ever for one that is not read.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut stdin) = stdin {
                // A tool may stop reading early.
                let _ = stdin.write_all(input);
            }
        });
        child.wait_with_output()
    });
    let output = output.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut out = output.stdout;
    out.extend_from_slice(&output.stderr);
    (output.status.success(), out)
}

/// spirv-val's verdict under Vulkan 1.3: valid or not, and its message.
pub fn spirv_val(path: &Path, module: &[u8]) -> (bool, String) {
    let (valid, text) = run(path, &["--target-env", "vulkan1.3", "-"], module);
    (valid, String::from_utf8_lossy(&text).into_owned())
}

/// spirv-val for many modules, under Vulkan 1.3: its library, called by a script that stays, where Python and the library
/// are at hand, and else the program each time.
#[derive(Debug)]
pub struct Service {
    program: PathBuf,
    library: PathBuf,
    child: Option<Child>,
}

impl Service {
    /// For the program at this path.
    pub fn new(program: &Path) -> Service {
        let prefix = program.parent().and_then(Path::parent);
        Service {
            program: program.to_owned(),
            library: prefix.map_or_else(PathBuf::new, |p| p.join("lib/libSPIRV-Tools-shared.so")),
            child: None,
        }
    }

    /// The verdict, and the message as [`spirv_val`] gives it.
    pub fn judge(&mut self, module: &[u8]) -> (bool, String) {
        if !self.library.is_file() {
            return spirv_val(&self.program, module);
        }
        if self.child.is_none() {
            self.child = Command::new("python3")
                .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("spirv_val.py"))
                .arg(&self.library)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .ok();
        }
        match self.ask(module) {
            Ok(answer) => answer,
            Err(_) => {
                // It crashed, or there is no Python: once more by the program.
                self.child = None;
                spirv_val(&self.program, module)
            }
        }
    }

    fn ask(&mut self, module: &[u8]) -> std::io::Result<(bool, String)> {
        let child = self.child.as_mut().ok_or(ErrorKind::NotFound)?;
        let (Some(to), Some(from)) = (child.stdin.as_mut(), child.stdout.as_mut()) else {
            return Err(ErrorKind::NotFound.into());
        };
        let length = u32::try_from(module.len()).map_err(|_| ErrorKind::InvalidInput)?;
        to.write_all(&length.to_le_bytes())?;
        to.write_all(module)?;
        to.flush()?;
        let mut head = [0; 5];
        from.read_exact(&mut head)?;
        let [valid, a, b, c, d] = head;
        let mut text = vec![0; u32::from_le_bytes([a, b, c, d]) as usize];
        from.read_exact(&mut text)?;
        Ok((valid != 0, String::from_utf8_lossy(&text).into_owned()))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // The end of its input ends it.
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}
