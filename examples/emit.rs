//! Writes a kernel in the text form of the library.
//!
//! ```text
//! cargo run --release --example emit -- saxpy --to ir
//! ```

#[path = "kernels/mod.rs"]
mod kernels;

use kernite::kernel::Module;
use kernite::text;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Writes a kernel.

Usage: emit KERNEL --to ir [-o FILE]
       emit --list

KERNEL is the name of an example kernel, or a file in the text form (what `--to ir` writes).

  --to FORM        ir: the text form
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
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}\n\n{USAGE}");
            ExitCode::from(2)
        }
        Err(Failure::Failed(message)) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

enum Failure {
    /// The command line makes no sense: exit code 2.
    Usage(String),
    /// It did, and the work cannot be done: exit code 1.
    Failed(String),
}

fn usage(message: impl ToString) -> Failure {
    Failure::Usage(message.to_string())
}

fn failed(message: impl ToString) -> Failure {
    Failure::Failed(message.to_string())
}

enum Request {
    Help,
    List,
    Emit(Emit),
}

struct Emit {
    kernel: OsString,
    form: Form,
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Ir,
}

fn arguments() -> Result<Request, Failure> {
    use lexopt::prelude::*;
    let (mut kernel, mut form, mut out) = (None, None, None);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(Request::Help),
            Long("list") => return Ok(Request::List),
            Long("to") => {
                form = Some(
                    parser
                        .value()
                        .and_then(|v| v.parse_with(parse_form))
                        .map_err(usage)?,
                )
            }
            Short('o') | Long("out") => out = Some(parser.value().map_err(usage)?.into()),
            Value(name) if kernel.is_none() => kernel = Some(name),
            _ => return Err(usage(argument.unexpected())),
        }
    }
    Ok(Request::Emit(Emit {
        kernel: kernel.ok_or_else(|| usage("no kernel is named"))?,
        form: form.ok_or_else(|| usage("`--to` is missing"))?,
        out,
    }))
}

fn parse_form(text: &str) -> Result<Form, &'static str> {
    match text {
        "ir" => Ok(Form::Ir),
        _ => Err("the form is ir"),
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
    let module = module(Path::new(&request.kernel))?;
    let out = request.out.as_deref();
    match request.form {
        Form::Ir => write(out, module.to_string().as_bytes()),
    }
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
