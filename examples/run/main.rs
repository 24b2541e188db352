//! Runs a kernel of a text file on chosen inputs, on the reference executor.
//!
//! ```text
//! cargo run --release --example run -- saxpy.kir --arg f32[1.0,2.0] --arg f32[0.5,0.5] --arg 2f32 --arg 2u32
//! ```

mod values;

use kernite::kernel::{Kernel, ParamRef};
use kernite::reference::{Arg, Buffer, Executor, Launch, Options};
use kernite::text;
use kernite::types::{Access, Type};
use std::path::PathBuf;
use std::process::ExitCode;
use values::Argument;

const USAGE: &str = "\
Runs a kernel of a text file and prints the buffers that it may write.

Usage: run FILE [--kernel NAME] [--arg ARG]… [--grid X,Y,Z] [--shared N] [--subgroup N] [--device reference]

FILE holds kernels in the text form (what `emit --to ir` writes). One --arg for each parameter, in order:

  5u32  -1.5f32  true          a scalar
  f32=0x7FC00001               a scalar by type and constant
  f32[1.0,-0.0,inf,nan]        a buffer
  f32x2[1.0,2.0,3.0,4.0]       a buffer of vectors
  u32*16=0                     a buffer of 16 zeros

  --kernel NAME    which kernel, where the file holds several
  --grid X,Y,Z     workgroups along each axis; 1,1,1 by default, and Y and Z may be left out
  --shared N       elements of the dynamic shared array
  --subgroup N     lanes of a subgroup; 32 by default
  --device NAME    where to run: `reference`, the executor that defines what kernels mean";

fn main() -> ExitCode {
    match arguments().and_then(|request| request.map_or(Ok(USAGE.into()), |r| run(&r))) {
        Ok(out) => {
            println!("{}", out.trim_end());
            ExitCode::SUCCESS
        }
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

struct Request {
    file: PathBuf,
    kernel: Option<String>,
    args: Vec<Argument>,
    grid: [u32; 3],
    shared: u32,
    subgroup: Option<u32>,
}

/// What is asked for; `None` for help.
fn arguments() -> Result<Option<Request>, Failure> {
    use lexopt::prelude::*;
    let (mut file, mut kernel, mut args) = (None, None, Vec::new());
    let (mut grid, mut shared, mut subgroup) = ([1; 3], 0, None);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("kernel") => {
                kernel = Some(parser.value().and_then(|v| v.string()).map_err(usage)?)
            }
            Long("arg") => {
                let value = parser.value().map_err(usage)?;
                args.push(value.parse_with(values::parse).map_err(usage)?);
            }
            Long("grid") => {
                let value = parser.value().map_err(usage)?;
                grid = value.parse_with(parse_grid).map_err(usage)?;
            }
            Long("shared") => shared = parser.value().and_then(|v| v.parse()).map_err(usage)?,
            Long("subgroup") => {
                subgroup = Some(parser.value().and_then(|v| v.parse()).map_err(usage)?);
            }
            Long("device") => {
                let value = parser.value().and_then(|v| v.string()).map_err(usage)?;
                if value != "reference" {
                    return Err(usage(format!("there is no device `{value}`")));
                }
            }
            Value(name) if file.is_none() => file = Some(name.into()),
            _ => return Err(usage(argument.unexpected())),
        }
    }
    Ok(Some(Request {
        file: file.ok_or_else(|| usage("no file is named"))?,
        kernel,
        args,
        grid,
        shared,
        subgroup,
    }))
}

fn parse_grid(text: &str) -> Result<[u32; 3], &'static str> {
    let mut grid = [1; 3];
    for (at, size) in text.split(',').enumerate() {
        let slot = grid.get_mut(at).ok_or("a grid has three axes at most")?;
        *slot = size
            .trim()
            .parse()
            .map_err(|_| "a grid is numbers such as `4,1,1`")?;
    }
    Ok(grid)
}

fn run(request: &Request) -> Result<String, Failure> {
    let kernel = read(request)?;
    let mut args = bind(&kernel, &request.args)?;
    let mut options = Options::default();
    if let Some(size) = request.subgroup.or(kernel.required_subgroup_size()) {
        options.subgroup_size = size;
    }
    let launch = Launch::new(request.grid).dynamic_shared(request.shared);
    Executor::new(options)
        .run(&kernel, launch, &mut args)
        .map_err(failed)?;
    let mut out = String::new();
    for (param, arg) in kernel.params().iter().zip(&args) {
        let (ParamRef::Buffer(n), Some(buffer)) = (param, arg.buffer()) else {
            continue;
        };
        let Some(decl) = kernel.buffers().get(*n as usize) else {
            continue;
        };
        if decl.access != Access::Read {
            let name = match kernel.name_of(decl.name) {
                "" => String::new(),
                name => format!(" {name:?}"),
            };
            let shown = values::show(buffer.ty(), buffer.bytes());
            out.push_str(&format!("buf{n}{name}: {shown}\n"));
        }
    }
    Ok(out)
}

/// The kernel of the file that is asked for.
fn read(request: &Request) -> Result<Kernel, Failure> {
    let shown = request.file.display();
    let text =
        std::fs::read_to_string(&request.file).map_err(|e| failed(format!("{shown}: {e}")))?;
    // As compilers print it, so that editors find the place.
    let kernels = text::parse(&text).map_err(|e| {
        let text::Place { line, column } = e.place;
        failed(format!("{shown}:{line}:{column}: {}", e.kind))
    })?;
    let names: Vec<String> = kernels.iter().map(|k| k.name().into()).collect();
    let several = request.kernel.is_none() && kernels.len() > 1;
    let wanted = |k: &Kernel| request.kernel.as_ref().is_none_or(|name| k.name() == name);
    match kernels.into_iter().find(wanted) {
        Some(kernel) if !several => Ok(kernel),
        _ => Err(usage(format!(
            "name one of the kernels of {shown} with --kernel: {}",
            names.join(", ")
        ))),
    }
}

/// The arguments as the executor takes them; what does not fit the parameters is told by number.
fn bind(kernel: &Kernel, given: &[Argument]) -> Result<Vec<Arg>, Failure> {
    let params = kernel.params();
    if given.len() != params.len() {
        return Err(usage(format!(
            "the kernel has {} parameters, {} arguments are given",
            params.len(),
            given.len()
        )));
    }
    let mut args = Vec::new();
    for (i, (param, argument)) in params.iter().zip(given).enumerate() {
        let (wanted, is_buffer) = match *param {
            ParamRef::Buffer(n) => (kernel.buffers().get(n as usize).map(|d| d.elem), true),
            ParamRef::Scalar(n) => (kernel.scalars().get(n as usize).map(|d| d.ty), false),
        };
        let wanted = wanted.unwrap_or(Type::NONE);
        args.push(match argument {
            Argument::Buffer(ty, bytes) if is_buffer && *ty == wanted => {
                Buffer::from_bytes(*ty, bytes).map_err(failed)?.into()
            }
            Argument::Scalar(value) if !is_buffer && value.ty() == wanted => (*value).into(),
            Argument::Buffer(..) | Argument::Scalar(_) => {
                let what = if is_buffer { "buffer" } else { "scalar" };
                return Err(usage(format!(
                    "argument {} must be a {what} of {wanted} for {param}",
                    i + 1
                )));
            }
        });
    }
    Ok(args)
}
