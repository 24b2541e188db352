//! `verify`: structure as strict as DXC's, digest, agreement of the parts.
#![forbid(unsafe_code)]

use crate::args::{self, Args, Failure, Next};
use kernite::dxbc::{Container, DigestKind};
use std::process::ExitCode;

pub fn run(mut args: Args) -> Result<ExitCode, Failure> {
    let (mut files, mut signed) = (Vec::new(), false);
    while let Some(arg) = args.next()? {
        match arg {
            Next::Option(o) if o == "signed" => signed = true,
            Next::Option(o) => return Err(args::unknown(&o)),
            Next::Value(v) => files.push(v),
        }
    }
    if files.is_empty() {
        return Err(Failure::usage("verify wants at least one FILE"));
    }
    let mut worst = 0;
    for file in &files {
        let code = match args::read(file) {
            Ok(bytes) => u8::from(!verify(file, &bytes, signed)),
            // The others are looked at all the same.
            Err(e) => {
                eprintln!("dxbc: {e}");
                e.code()
            }
        };
        worst = worst.max(code);
    }
    Ok(ExitCode::from(worst))
}

/// Prints a line for each fault, or one that there is none.
fn verify(file: &str, bytes: &[u8], signed: bool) -> bool {
    let c = match Container::read(bytes) {
        Ok(c) => c,
        Err(e) => {
            say!("{file}: invalid: {e}");
            return false;
        }
    };
    let mut sound = true;
    let digest = c.digest_kind();
    if digest == DigestKind::Mismatch {
        say!("{file}: invalid: byte 0x4, the digest is not that of the container");
        sound = false;
    } else if signed && digest != DigestKind::Retail {
        say!("{file}: invalid: byte 0x4, the digest is {digest}, not retail");
        sound = false;
    }
    for fault in c.check() {
        say!("{file}: invalid: {fault}");
        sound = false;
    }
    for d in c.deviations() {
        say!("{file}: unusual: {d}");
    }
    if sound {
        say!("{file}: valid, digest {digest}");
    }
    sound
}
