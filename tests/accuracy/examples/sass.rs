//! What each recipe costs on an NVIDIA GPU: the instructions that ptxas makes of it for sm_90, less those of a kernel that
//! copies its arguments.
//!
//! ```text
//! PTXAS=/path/to/ptxas cargo run --release -p kernite-accuracy-tests --example sass -- exp tanh
//! ```
//!
//! Without names all of them; `KEEP=FOLDER` leaves PTX and cubins there, for a disassembler.

use kernite::builder::KernelBuilder;
use kernite::kernel::{Kernel, Value};
use kernite::ptx;
use kernite::types::{Access, Type};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

/// `out[i] = f(a[i], b[i], …)`.
fn kernel(
    name: &str,
    ty: Type,
    arguments: usize,
    f: impl Fn(&mut KernelBuilder, &[Value]) -> Value,
) -> Kernel {
    let mut k = KernelBuilder::new(name, [256, 1, 1]);
    let inputs: Vec<_> = (0..arguments)
        .map(|i| k.buffer(&format!("in{i}"), ty, Access::Read))
        .collect();
    let out = k.buffer("out", ty, Access::Write);
    let i = k.global_id(0);
    let values: Vec<Value> = inputs.iter().map(|&input| k.load(input, i)).collect();
    let result = f(&mut k, &values);
    k.store(out, i, result);
    k.finish().expect("a valid kernel")
}

/// Instructions of the kernel's code, without what only fills it up.
fn instructions(cubin: &[u8]) -> usize {
    let word = |at: usize, bytes: usize| {
        (0..bytes).fold(0, |word, i| word | usize::from(cubin[at + i]) << (8 * i))
    };
    // ELF64: the section headers, and in each name, offset and size.
    let (headers, size, count, names) =
        (word(0x28, 8), word(0x3a, 2), word(0x3c, 2), word(0x3e, 2));
    let header = |i: usize| headers + i * size;
    let names = word(header(names) + 0x18, 8);
    let text = (0..count)
        .map(header)
        .find(|&h| cubin[names + word(h, 4)..].starts_with(b".text."))
        .expect("a kernel");
    let code = word(text + 0x18, 8)..word(text + 0x18, 8) + word(text + 0x20, 8);
    // 16 bytes each; the opcode is in the low twelve bits.
    code.step_by(16)
        .filter(|&at| word(at, 2) & 0xfff != 0x918)
        .count()
}

fn cost(ptxas: &Path, folder: &Path, kernel: &Kernel) -> usize {
    let mut options = ptx::Options::default();
    options.target = ptx::Target::parse("sm_90").expect("a target");
    let mut text = Vec::new();
    ptx::Emitter::new()
        .emit(kernel, &options, &mut text)
        .expect("PTX");
    let (source, cubin) = (
        folder.join(format!("{}.ptx", kernel.name())),
        folder.join(format!("{}.cubin", kernel.name())),
    );
    fs::write(&source, text).expect("a file");
    let done = Command::new(ptxas)
        .arg("-arch=sm_90")
        .arg(&source)
        .arg("-o")
        .arg(&cubin)
        .status();
    assert!(done.expect("ptxas, named by PTXAS").success());
    instructions(&fs::read(cubin).expect("a cubin"))
}

type Unary = fn(&mut KernelBuilder, Value) -> Value;
type Binary = fn(&mut KernelBuilder, Value, Value) -> Value;

fn main() {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let ptxas = PathBuf::from(env::var_os("PTXAS").unwrap_or("ptxas".into()));
    let keep = env::var_os("KEEP").map(PathBuf::from);
    let folder = keep
        .clone()
        .unwrap_or_else(|| env::temp_dir().join(format!("kernite-sass-{}", process::id())));
    fs::create_dir_all(&folder).expect("a folder");
    let unary: [(&str, Unary); 10] = [
        ("exp", KernelBuilder::exp),
        ("exp2", KernelBuilder::exp2),
        ("log", KernelBuilder::log),
        ("log2", KernelBuilder::log2),
        ("sin", KernelBuilder::sin),
        ("cos", KernelBuilder::cos),
        ("tan", KernelBuilder::tan),
        ("tanh", KernelBuilder::tanh),
        ("erf", KernelBuilder::erf),
        ("rsqrt", KernelBuilder::rsqrt),
    ];
    let binary: [(&str, Binary); 2] = [("pow", KernelBuilder::pow), ("rem", KernelBuilder::rem)];
    let asked = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    for (ty, width) in [(Type::F32, "f32"), (Type::F64, "f64")] {
        let copy = kernel(&format!("copy_{width}"), ty, 1, |_, v| v[0]);
        let copy = cost(&ptxas, &folder, &copy);
        for (name, f) in unary.iter().filter(|(name, _)| asked(name)) {
            let kernel = kernel(&format!("{name}_{width}"), ty, 1, |k, v| f(k, v[0]));
            println!("{name} {width} {}", cost(&ptxas, &folder, &kernel) - copy);
        }
        // An addition keeps both arguments.
        let copy = kernel(&format!("add_{width}"), ty, 2, |k, v| k.add(v[0], v[1]));
        let copy = cost(&ptxas, &folder, &copy) - 1;
        for (name, f) in binary.iter().filter(|(name, _)| asked(name)) {
            let kernel = kernel(&format!("{name}_{width}"), ty, 2, |k, v| f(k, v[0], v[1]));
            println!("{name} {width} {}", cost(&ptxas, &folder, &kernel) - copy);
        }
    }
    if keep.is_none() {
        fs::remove_dir_all(folder).expect("the folder");
    }
}
