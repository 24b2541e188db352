//! Validates SPIR-V modules.
//!
//! ```text
//! cargo run --release --example validate -- [--env 1.0|1.1|1.2|1.3] [--all] [FILE.spv | -]…
//! ```
//!
//! Prints a line for each file, `FILE: valid`, `FILE: invalid at word N: RULE: message` or
//! `FILE: unsupported at word N: what`; with `--all` a line for each fault. Reads standard input
//! for `-` and where no file is named. Exits with 0 if all are valid, 1 if one is invalid or
//! cannot be read, and 3 if one is unsupported and none invalid.

use kernite::spirv::Verdict;
use kernite::spirv::validate::{Environment, Options, Validator};
use std::io::{Read, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: validate [--env 1.0|1.1|1.2|1.3] [--all] [FILE.spv | -]...";

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut all = false;
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--all" => all = true,
            "--env" => {
                options.environment = match arguments.next().as_deref() {
                    Some("1.0") => Environment::Vulkan1_0,
                    Some("1.1") => Environment::Vulkan1_1,
                    Some("1.2") => Environment::Vulkan1_2,
                    Some("1.3") => Environment::Vulkan1_3,
                    _ => return usage(),
                };
            }
            flag if flag.starts_with("--") => return usage(),
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        files.push("-".to_owned());
    }
    let mut validator = Validator::with_options(options);
    let mut code = 0;
    for file in &files {
        let bytes = match read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("{file}: {error}");
                code = 1;
                continue;
            }
        };
        let verdict = validator.bytes(&bytes);
        code = match (&verdict, code) {
            (Verdict::Valid, code) => code,
            (Verdict::Invalid(_), _) => 1,
            (Verdict::Unsupported(_), 1) => 1,
            (Verdict::Unsupported(_), _) => 3,
        };
        if report(file, &verdict, all).is_err() {
            // Nobody reads on.
            break;
        }
    }
    ExitCode::from(code)
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn read(file: &str) -> std::io::Result<Vec<u8>> {
    if file == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes)?;
        Ok(bytes)
    } else {
        std::fs::read(file)
    }
}

fn report(file: &str, verdict: &Verdict, all: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{file}: {verdict}")?;
    if all {
        for fault in verdict.faults().skip(1) {
            writeln!(
                out,
                "{file}: invalid at word {}: {}: {fault}",
                fault.word(),
                fault.rule()
            )?;
        }
        if let Verdict::Unsupported(rest) = verdict {
            for what in rest.iter().skip(1) {
                writeln!(out, "{file}: unsupported at word {}: {what}", what.word())?;
            }
        }
    }
    Ok(())
}
