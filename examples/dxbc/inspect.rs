//! `inspect`: everything a container says.
#![forbid(unsafe_code)]

use crate::{
    args::{self, Args, Failure, Next},
    describe::{Rows, Value, describe},
};
use kernite::dxbc::Container;
use std::{
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
};

pub fn run(mut args: Args) -> Result<ExitCode, Failure> {
    let (mut file, mut json) = (None, false);
    while let Some(arg) = args.next()? {
        match arg {
            Next::Option(o) if o == "json" => json = true,
            Next::Option(o) => return Err(args::unknown(&o)),
            Next::Value(v) if file.is_none() => file = Some(v),
            Next::Value(v) => return Err(Failure::usage(format!("one file, not `{v}` too"))),
        }
    }
    let file = args::need(file, "FILE")?;
    let bytes = args::read(&file)?;
    let container = Container::read_lenient(&bytes).map_err(|e| Failure::from(e).of(&file))?;
    let mut out = String::new();
    let sound = if json {
        as_json(&container, &mut out)
    } else {
        as_table(&container, &mut out)
    };
    // A reader that closes the pipe early is no error.
    let _ = io::stdout().write_all(out.as_bytes());
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// The rows of a part, or why it cannot be read.
fn rows(part: &kernite::dxbc::RawPart) -> Result<Rows, String> {
    part.read().map(|p| describe(&p)).map_err(|e| e.to_string())
}

fn as_table(c: &Container, out: &mut String) -> bool {
    let (major, minor) = c.version();
    let _ = writeln!(
        out,
        "DXBC {major}.{minor}, {} bytes, {} parts, digest {} ({})",
        c.bytes().len(),
        c.part_count(),
        c.digest(),
        c.digest_kind()
    );
    for d in c.deviations() {
        let _ = writeln!(out, "unusual: {d}");
    }
    let mut sound = true;
    for part in c.parts() {
        let (at, size) = (part.offset, part.data.len());
        let _ = writeln!(out, "\n{}  at {at:#x}, {size} bytes", part.kind);
        match rows(&part) {
            Ok(Rows(rows)) => {
                let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
                for (name, value) in rows {
                    let _ = match value {
                        Value::Number(n) => writeln!(out, "  {name:width$}  {n}"),
                        Value::Text(t) => writeln!(out, "  {name:width$}  {t}"),
                    };
                }
            }
            Err(e) => {
                let _ = writeln!(out, "  error: {e}");
                sound = false;
            }
        }
    }
    sound
}

fn as_json(c: &Container, out: &mut String) -> bool {
    let (major, minor) = c.version();
    let _ = write!(
        out,
        "{{\"version\":\"{major}.{minor}\",\"size\":{},\"digest\":\"{}\",\"digest_kind\":\"{}\",\"deviations\":[",
        c.bytes().len(),
        c.digest(),
        c.digest_kind()
    );
    for (i, d) in c.deviations().iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        let what = quote(&d.kind.to_string());
        let _ = write!(out, "{comma}{{\"offset\":{},\"what\":{what}}}", d.offset);
    }
    out.push_str("],\"parts\":[");
    let mut sound = true;
    for (i, part) in c.parts().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        let kind = quote(&part.kind.to_string());
        let (at, size) = (part.offset, part.data.len());
        let _ = write!(
            out,
            "{comma}{{\"kind\":{kind},\"offset\":{at},\"size\":{size},"
        );
        match rows(&part) {
            Ok(Rows(rows)) => {
                // A list of pairs, since names may come twice.
                out.push_str("\"fields\":[");
                for (i, (name, value)) in rows.iter().enumerate() {
                    let comma = if i > 0 { "," } else { "" };
                    let value = match value {
                        Value::Number(n) => n.to_string(),
                        Value::Text(t) => quote(t),
                    };
                    let _ = write!(out, "{comma}[{},{value}]", quote(name));
                }
                out.push_str("]}");
            }
            Err(e) => {
                let _ = write!(out, "\"error\":{}}}", quote(&e));
                sound = false;
            }
        }
    }
    out.push_str("]}\n");
    sound
}

/// A JSON string.
fn quote(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
