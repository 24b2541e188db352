//! Runs a kernel of a text file on chosen inputs, on the reference executor or an NVIDIA GPU.
//!
//! ```text
//! cargo run --release --example run -- saxpy.kir --arg f32[1.0,2.0] --arg f32[0.5,0.5] --arg 2f32 --arg 2u32
//! ```

#[path = "../command/mod.rs"]
mod command;
#[cfg(feature = "cuda")]
mod cuda;
mod values;

use command::{Failure, failed, usage};
use kernite::kernel::{Kernel, ParamRef};
use kernite::reference::{Arg, Buffer, Executor, Launch, Options};
use kernite::text;
use kernite::types::{Access, Type};
use std::path::PathBuf;
use std::process::ExitCode;
use values::Argument;

const USAGE: &str = "\
Runs a kernel of a text file and prints the buffers that it may write.

Usage: run FILE [--kernel NAME] [--arg ARG]… [--grid X,Y,Z] [--shared N] [--subgroup N] [--device DEVICE]

FILE holds kernels in the text form (what `emit --to ir` writes). One --arg for each parameter, in order:

  5u32  -1.5f32  true          a scalar
  f32=0x7FC00001               a scalar by type and constant
  f32[1.0,-0.0,inf,nan]        a buffer
  f32x2[1.0,2.0,3.0,4.0]       a buffer of vectors
  u32*16=0                     a buffer of 16 zeros

  --kernel NAME    which kernel, where the file holds several
  --grid X,Y,Z     workgroups along each axis; 1,1,1 by default, and Y and Z may be left out
  --shared N       elements of the dynamic shared array
  --subgroup N     lanes of a subgroup on the reference executor; 32 by default
  --device DEVICE  where to run: `reference` (by default), the executor that defines what kernels mean and refuses what
                   they must not do, or `cuda` or `cuda:N`, an NVIDIA GPU, there with checked bounds";

/// Where to run.
#[derive(Clone, Copy)]
enum Device {
    Reference,
    /// The GPU of this number.
    Cuda(u32),
}

impl Device {
    fn parse(text: &str) -> Result<Device, String> {
        let number = match text {
            "reference" => return Ok(Device::Reference),
            "cuda" => Some(0),
            _ => text.strip_prefix("cuda:").and_then(|n| n.parse().ok()),
        };
        number.map(Device::Cuda).ok_or_else(|| {
            format!("there is no device `{text}`; there are `reference`, `cuda` and `cuda:N`")
        })
    }
}

fn main() -> ExitCode {
    match arguments().and_then(|request| request.map_or(Ok(USAGE.into()), |r| run(&r))) {
        Ok(out) => {
            println!("{}", out.trim_end());
            ExitCode::SUCCESS
        }
        Err(failure) => failure.exit(USAGE),
    }
}

struct Request {
    file: PathBuf,
    kernel: Option<String>,
    args: Vec<Argument>,
    grid: [u32; 3],
    shared: u32,
    subgroup: Option<u32>,
    device: Device,
}

/// What is asked for; `None` for help.
fn arguments() -> Result<Option<Request>, Failure> {
    use lexopt::prelude::*;
    let (mut file, mut kernel, mut args) = (None, None, Vec::new());
    let (mut grid, mut shared, mut subgroup) = ([1; 3], 0, None);
    let mut device = Device::Reference;
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
                let value = parser.value().map_err(usage)?;
                device = value.parse_with(Device::parse).map_err(usage)?;
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
        device,
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
    let args = bind(&kernel, &request.args)?;
    let buffers = match request.device {
        Device::Reference => on_reference(&kernel, request, args)?,
        Device::Cuda(number) => on_cuda(&kernel, request, number)?,
    };
    let mut out = String::new();
    for (n, (decl, bytes)) in kernel.buffers().iter().zip(&buffers).enumerate() {
        if decl.access != Access::Read {
            let name = match kernel.name_of(decl.name) {
                "" => String::new(),
                name => format!(" {name:?}"),
            };
            let shown = values::show(decl.elem, bytes);
            out.push_str(&format!("buf{n}{name}: {shown}\n"));
        }
    }
    Ok(out)
}

/// What each buffer holds after a run on the reference executor.
fn on_reference(
    kernel: &Kernel,
    request: &Request,
    mut args: Vec<Arg>,
) -> Result<Vec<Vec<u8>>, Failure> {
    let mut options = Options::default();
    if let Some(size) = request.subgroup.or(kernel.required_subgroup_size()) {
        options.subgroup_size = size;
    }
    let launch = Launch::new(request.grid).dynamic_shared(request.shared);
    Executor::new(options)
        .run(kernel, launch, &mut args)
        .map_err(failed)?;
    let buffers = args.iter().filter_map(|arg| arg.buffer());
    Ok(buffers.map(|buffer| buffer.bytes().to_vec()).collect())
}

/// What each buffer holds after a run on an NVIDIA GPU.
#[cfg(feature = "cuda")]
fn on_cuda(kernel: &Kernel, request: &Request, number: u32) -> Result<Vec<Vec<u8>>, Failure> {
    if let Some(lanes) = request.subgroup.filter(|&lanes| lanes != 32) {
        return Err(usage(format!(
            "subgroups of {lanes} lanes: an NVIDIA GPU has 32"
        )));
    }
    let missing = |e| failed(format!("`--device cuda:{number}` cannot be used: {e}"));
    let device = cuda::open(number).map_err(missing)?;
    let args = request.args.iter().map(|argument| match argument {
        Argument::Buffer(_, bytes) => cuda::Given::Bytes(bytes),
        Argument::Scalar(value) => cuda::Given::Scalar(*value),
    });
    let args: Vec<_> = args.collect();
    cuda::launch(&device, kernel, request.grid, request.shared, &args).map_err(failed)
}

#[cfg(not(feature = "cuda"))]
fn on_cuda(_: &Kernel, _: &Request, number: u32) -> Result<Vec<Vec<u8>>, Failure> {
    Err(failed(format!(
        "`--device cuda:{number}` cannot be used: this was built without the feature `cuda`"
    )))
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
