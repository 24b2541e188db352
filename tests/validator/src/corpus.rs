//! The modules that mutations start from.

use crate::{asm, oracle};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Who made a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Producer {
    /// Written for this project in textual form.
    ByHand,
    /// glslangValidator, of GLSL.
    Glslang,
    /// naga, of WGSL.
    Naga,
    /// DXC's SPIR-V back end, of HLSL.
    Dxc,
    /// kernite's own emitter.
    Kernite,
    /// Files of `KERNITE_AGREEMENT_CORPUS`.
    Others,
}

/// All of them.
pub const PRODUCERS: [Producer; 6] = [
    Producer::ByHand,
    Producer::Glslang,
    Producer::Naga,
    Producer::Dxc,
    Producer::Kernite,
    Producer::Others,
];

/// A module of the corpus.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The file it comes from.
    pub name: String,
    /// Who made it.
    pub producer: Producer,
    /// Its words.
    pub words: Vec<u32>,
}

/// The folder of the corpus.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The files of the corpus with this extension, by name.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn files(extension: &str) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the corpus")
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == extension))
        .collect();
    out.sort();
    out
}

/// Modules written by hand, in textual form.
///
/// # Panics
///
/// If a file cannot be read or assembled.
pub fn by_hand() -> Vec<Sample> {
    files("spvasm")
        .iter()
        .map(|path| Sample {
            name: name(path),
            producer: Producer::ByHand,
            words: asm::assemble(&std::fs::read_to_string(path).expect("a readable file")),
        })
        .collect()
}

/// GLSL through glslangValidator, for SPIR-V 1.6 and 1.3; empty, after a counted skip, without
/// it.
///
/// # Panics
///
/// If a shader does not compile.
pub fn glsl() -> Vec<Sample> {
    // Compiled once by each of the tests' programs.
    static COMPILED: OnceLock<Vec<Sample>> = OnceLock::new();
    COMPILED.get_or_init(compile_glsl).clone()
}

fn compile_glsl() -> Vec<Sample> {
    let Some(tool) = oracle::find(oracle::Tool::Glslang) else {
        return Vec::new();
    };
    let name_of = format!("kernite-glsl-{}", std::process::id());
    let out = std::env::temp_dir().join(name_of);
    std::fs::create_dir_all(&out).expect("a temporary folder");
    let mut samples = Vec::new();
    for path in files("comp") {
        for target in ["vulkan1.3", "vulkan1.1"] {
            let file = out.join(format!("{}.{target}.spv", name(&path)));
            let result = oracle::command(&tool)
                .args(["-V", "--target-env", target, "-o"])
                .arg(&file)
                .arg(&path)
                .output()
                .expect("glslangValidator starts");
            assert!(
                result.status.success(),
                "{}: {}",
                path.display(),
                String::from_utf8_lossy(&result.stdout)
            );
            let bytes = std::fs::read(&file).expect("the compiled module");
            let words = asm::words(&bytes);
            samples.push(Sample {
                name: format!("{}@{target}", name(&path)),
                producer: Producer::Glslang,
                words,
            });
        }
    }
    let _ = std::fs::remove_dir_all(&out);
    samples
}

/// HLSL through DXC, for SPIR-V 1.3 and 1.6; empty, after a counted skip, without it.
///
/// # Panics
///
/// If a shader does not compile.
pub fn hlsl() -> Vec<Sample> {
    static COMPILED: OnceLock<Vec<Sample>> = OnceLock::new();
    COMPILED.get_or_init(compile_hlsl).clone()
}

fn compile_hlsl() -> Vec<Sample> {
    let Some(library) = oracle::find(oracle::Tool::Dxc) else {
        return Vec::new();
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("dxc_spirv.py");
    let mut samples = Vec::new();
    for path in files("hlsl") {
        for target in ["vulkan1.3", "vulkan1.1"] {
            let result = Command::new("python3")
                .arg(&script)
                .arg(&library)
                .args(["-T", "cs_6_2", "-E", "main"])
                .arg(format!("-fspv-target-env={target}"))
                .stdin(File::open(&path).expect("a readable file"))
                .output()
                .expect("python3 starts");
            assert!(
                result.status.success(),
                "{}: {}",
                path.display(),
                String::from_utf8_lossy(&result.stderr)
            );
            samples.push(Sample {
                name: format!("{}@{target}", name(&path)),
                producer: Producer::Dxc,
                words: asm::words(&result.stdout),
            });
        }
    }
    samples
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default()
}
