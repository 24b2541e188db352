//! `strip` and `sign`.
#![forbid(unsafe_code)]

use crate::args::{self, Args, Failure, Next};
use kernite::dxbc::{Object, Strip, WriteDigest};
use std::process::ExitCode;

pub fn strip(mut args: Args) -> Result<ExitCode, Failure> {
    let (mut file, mut out, mut what) = (None, None, Strip::default());
    while let Some(arg) = args.next()? {
        match arg {
            Next::Option(o) => match o.as_str() {
                "debug" => what.debug = true,
                "debug-name" => what.debug_name = true,
                "reflection" => what.reflection = true,
                "root-signature" => what.root_signature = true,
                "private" => what.private = true,
                "o" | "output" => out = Some(args.value()?),
                o => return Err(args::unknown(o)),
            },
            Next::Value(v) if file.is_none() => file = Some(v),
            Next::Value(v) => return Err(Failure::usage(format!("one file, not `{v}` too"))),
        }
    }
    if what == Strip::default() {
        what = Strip::RUNTIME;
    }
    let file = args::need(file, "FILE")?;
    let out = args::need(out, "-o OUT")?;
    let bytes = args::read(&file)?;
    let mut object = Object::read(&bytes).map_err(|e| Failure::from(e).of(&file))?;
    let parts = object.strip(what);
    finish(
        &object,
        &file,
        &out,
        bytes.len(),
        &format!("{parts} parts taken out"),
    )
}

pub fn sign(mut args: Args) -> Result<ExitCode, Failure> {
    let (mut file, mut out) = (None, None);
    let (mut name, mut digest) = ("retail".to_owned(), WriteDigest::Retail);
    while let Some(arg) = args.next()? {
        match arg {
            Next::Option(o) => match o.as_str() {
                "digest" => {
                    name = args.value()?;
                    digest = args::digest(&name)?;
                }
                "o" | "output" => out = Some(args.value()?),
                o => return Err(args::unknown(o)),
            },
            Next::Value(v) if file.is_none() => file = Some(v),
            Next::Value(v) => return Err(Failure::usage(format!("one file, not `{v}` too"))),
        }
    }
    let file = args::need(file, "FILE")?;
    let out = args::need(out, "-o OUT")?;
    let bytes = args::read(&file)?;
    let mut object = Object::read(&bytes).map_err(|e| Failure::from(e).of(&file))?;
    object.set_digest(digest);
    finish(&object, &file, &out, bytes.len(), &format!("digest {name}"))
}

fn finish(
    object: &Object,
    file: &str,
    out: &str,
    before: usize,
    what: &str,
) -> Result<ExitCode, Failure> {
    let bytes = object.write().map_err(|e| Failure::from(e).of(file))?;
    args::write(out, &bytes)?;
    say!("{out}: {what}, {before} -> {} bytes", bytes.len());
    Ok(ExitCode::SUCCESS)
}
