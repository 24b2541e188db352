//! Writes a kernel as PTX, as SPIR-V or in the text form of the library.
//!
//! ```text
//! cargo run --release --example emit -- saxpy --to ptx --target sm_90
//! cargo run --release --example emit -- kernel.txt --to spirv -o kernel.spv
//! ```

#[path = "command/mod.rs"]
mod command;
#[path = "kernels/mod.rs"]
mod kernels;

use command::{Failure, failed, usage};
use kernite::kernel::Module;
use kernite::{ptx, spirv, text};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Writes a kernel for a target.

Usage: emit KERNEL --to ptx|spirv|ir [--target sm_90] [-o FILE]
       emit --list

KERNEL is the name of an example kernel, or a file in the text form (what `--to ir` writes).

  --to FORM        ptx: text for NVIDIA's driver; spirv: a binary for Vulkan; ir: the text form
  --target SM      the GPU that PTX is for, sm_75 (the default) to sm_121
  -o, --out FILE   writes there instead of to standard output
  --list           lists the example kernels";

fn main() -> ExitCode {
    let done = arguments().and_then(|request| match request {
        Request::Help => write(None, USAGE.as_bytes()).and_then(|()| write(None, b"\n")),
        Request::List => list(),
        Request::Emit(request) => emit(&request),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.exit(USAGE),
    }
}

enum Request {
    Help,
    List,
    Emit(Emit),
}

struct Emit {
    /// A name or a file.
    kernel: PathBuf,
    form: Form,
    target: ptx::Target,
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Ptx,
    Spirv,
    Ir,
}

fn arguments() -> Result<Request, Failure> {
    use lexopt::prelude::*;
    let (mut kernel, mut form, mut out) = (None, None, None);
    let mut target = None;
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(Request::Help),
            Long("list") => return Ok(Request::List),
            Long("to") => form = Some(value(&mut parser, parse_form)?),
            Long("target") => target = Some(value(&mut parser, ptx::Target::parse)?),
            Short('o') | Long("out") => out = Some(parser.value().map_err(usage)?.into()),
            Value(name) if kernel.is_none() => kernel = Some(name.into()),
            _ => return Err(usage(argument.unexpected())),
        }
    }
    let kernel = kernel.ok_or_else(|| usage("no kernel is named"))?;
    let form = form.ok_or_else(|| usage("`--to` is missing"))?;
    if target.is_some() && form != Form::Ptx {
        return Err(usage(
            "`--target` is for `--to ptx`: the other forms have none",
        ));
    }
    Ok(Request::Emit(Emit {
        kernel,
        form,
        target: target.unwrap_or(ptx::Target::SM_75),
        out,
    }))
}

/// The value of the option that was just read.
fn value<T, E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    parser: &mut lexopt::Parser,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, Failure> {
    use lexopt::ValueExt;
    let value = parser.value().map_err(usage)?;
    value.parse_with(parse).map_err(usage)
}

fn parse_form(text: &str) -> Result<Form, &'static str> {
    match text {
        "ptx" => Ok(Form::Ptx),
        "spirv" => Ok(Form::Spirv),
        "ir" => Ok(Form::Ir),
        _ => Err("the forms are ptx, spirv and ir"),
    }
}

fn list() -> Result<(), Failure> {
    let names: String = kernels::ALL
        .iter()
        .flat_map(|(name, _)| [name, "\n"])
        .collect();
    write(None, names.as_bytes())
}

fn emit(request: &Emit) -> Result<(), Failure> {
    let out = request.out.as_deref();
    if request.form == Form::Spirv && out.is_none() && io::stdout().is_terminal() {
        return Err(usage(
            "SPIR-V is binary and standard output a terminal: name a file with `-o`",
        ));
    }
    let module = module(&request.kernel)?;
    let mut bytes = Vec::new();
    match request.form {
        Form::Ptx => ptx::Emitter::new()
            .emit_module(&module, &ptx::Options::new(request.target), &mut bytes)
            .map_err(failed)?,
        Form::Spirv => {
            let words = spirv::emit_module(&module, &spirv::Options::default()).map_err(failed)?;
            bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
        }
        Form::Ir => bytes = module.to_string().into_bytes(),
    }
    write(out, &bytes)
}

/// The example kernel of that name, or the kernels of that file.
fn module(kernel: &Path) -> Result<Module, Failure> {
    if let Some((_, make)) = kernels::ALL
        .iter()
        .find(|(name, _)| kernel == Path::new(name))
    {
        return Ok(Module::from(make()));
    }
    let shown = kernel.display();
    let text = std::fs::read_to_string(kernel).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => failed(format!(
            "`{shown}` is neither an example kernel (see --list) nor a file"
        )),
        _ => failed(format!("{shown}: {e}")),
    })?;
    // As compilers print it, so that editors find the place.
    let kernels = text::parse(&text).map_err(|e| {
        let text::Place { line, column } = e.place;
        failed(format!("{shown}:{line}:{column}: {}", e.kind))
    })?;
    let mut module = Module::new();
    for kernel in kernels {
        module
            .push(kernel)
            .map_err(|e| failed(format!("{shown}: {e}")))?;
    }
    Ok(module)
}

/// Writes to the file, or else to standard output. A reader that has gone, such as `head`, is no failure.
fn write(out: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match out {
        Some(path) => std::fs::write(path, bytes)
            .map_err(|e| failed(format!("cannot write {}: {e}", path.display()))),
        None => match io::stdout().lock().write_all(bytes) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(failed(format!("cannot write to standard output: {e}")))
            }
            _ => Ok(()),
        },
    }
}
