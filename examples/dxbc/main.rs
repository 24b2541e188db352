//! Looks into DXBC containers, checks them, packs, strips, signs and compares them.
//!
//! ```text
//! cargo run --release --example dxbc -- inspect FILE [--json]
//! cargo run --release --example dxbc -- verify FILE...
//! cargo run --release --example dxbc -- pack --bitcode FILE --kernel vector_add --shader-model 6.0 -o OUT
//! ```
#![forbid(unsafe_code)]

/// `println!` that a closed pipe does not stop.
macro_rules! say {
    ($($arg:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($arg)*);
    }};
}

mod args;
mod describe;
mod diff;
mod edit;
mod inspect;
#[path = "../kernels/mod.rs"]
mod kernels;
mod pack;
mod verify;

use args::{Args, Failure};
use std::process::ExitCode;

const HELP: &str = "\
dxbc: DXBC containers

  inspect FILE [--json]     every part, decoded; reads leniently and lists what is unusual
  verify [--signed] FILE... strict structure, digest, agreement of the parts
  pack [OPTIONS] -o OUT     wraps compiled bitcode; `pack --help` lists the options
  strip FILE -o OUT [--debug] [--debug-name] [--reflection] [--root-signature] [--private]
                            takes parts out; without a choice all but the root signature
  sign FILE -o OUT [--digest KIND]
                            KIND: retail (default), debug, unsigned, bypass, preview-bypass
  diff A B                  part by part, field by field

Exit codes: 0 fine, 1 a container is invalid or two differ, 2 wrong usage or a file that cannot be
read or written, 3 asked for something unsupported.";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(Failure::Help) => {
            say!("{HELP}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("dxbc: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn run() -> Result<ExitCode, Failure> {
    let mut args = Args::from_env();
    match args.command()?.as_deref() {
        None | Some("help") => Err(Failure::Help),
        Some("inspect") => inspect::run(args),
        Some("verify") => verify::run(args),
        Some("pack") => pack::run(args),
        Some("strip") => edit::strip(args),
        Some("sign") => edit::sign(args),
        Some("diff") => diff::run(args),
        Some(other) => Err(Failure::usage(format!(
            "no command `{other}`; try `dxbc help`"
        ))),
    }
}
