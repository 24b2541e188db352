//! `diff`: two containers part by part.
#![forbid(unsafe_code)]

use crate::{
    args::{self, Args, Failure, Next},
    describe::{Value, describe},
};
use kernite::dxbc::{Container, RawPart};
use std::process::ExitCode;

pub fn run(mut args: Args) -> Result<ExitCode, Failure> {
    let mut files = Vec::new();
    while let Some(arg) = args.next()? {
        match arg {
            Next::Option(o) => return Err(args::unknown(&o)),
            Next::Value(v) => files.push(v),
        }
    }
    let [a, b] = files.as_slice() else {
        return Err(Failure::usage("diff wants two files"));
    };
    let (bytes_a, bytes_b) = (args::read(a)?, args::read(b)?);
    let ca = Container::read_lenient(&bytes_a).map_err(|e| Failure::from(e).of(a))?;
    let cb = Container::read_lenient(&bytes_b).map_err(|e| Failure::from(e).of(b))?;
    if bytes_a == bytes_b {
        say!("equal");
        return Ok(ExitCode::SUCCESS);
    }
    if ca.digest() != cb.digest() {
        say!("digest: {} ({})", ca.digest(), ca.digest_kind());
        say!("     -> {} ({})", cb.digest(), cb.digest_kind());
    }
    let order = |c: &Container| {
        let kinds: Vec<_> = c.parts().map(|p| p.kind.to_string()).collect();
        kinds.join(" ")
    };
    let (order_a, order_b) = (order(&ca), order(&cb));
    if order_a != order_b {
        say!("parts:  {order_a}");
        say!("     -> {order_b}");
    }
    // The n-th part of a kind is compared with the n-th of the other.
    let mut others: Vec<Option<RawPart>> = cb.parts().map(Some).collect();
    for pa in ca.parts() {
        let other = others
            .iter_mut()
            .find(|p| p.is_some_and(|p| p.kind == pa.kind));
        match other.and_then(Option::take) {
            Some(pb) if pa.data == pb.data => say!("{}: equal", pa.kind),
            Some(pb) => part(&pa, &pb),
            None => say!("{}: only in {a}, {} bytes", pa.kind, pa.data.len()),
        }
    }
    for pb in others.into_iter().flatten() {
        say!("{}: only in {b}, {} bytes", pb.kind, pb.data.len());
    }
    Ok(ExitCode::from(1))
}

fn part(a: &RawPart, b: &RawPart) {
    say!(
        "{}: differs, {} and {} bytes",
        a.kind,
        a.data.len(),
        b.data.len()
    );
    let (Ok(pa), Ok(pb)) = (a.read(), b.read()) else {
        say!("  one of them cannot be read");
        return;
    };
    let (rows_a, rows_b) = (describe(&pa).0, describe(&pb).0);
    let show = |v: &Value| match v {
        Value::Number(n) => n.to_string(),
        Value::Text(t) => t.clone(),
    };
    let find = |rows: &[(String, Value)], name: &str| {
        rows.iter().find(|(n, _)| n == name).map(|(_, v)| show(v))
    };
    let mut shown = false;
    let names_b = rows_b
        .iter()
        .map(|(n, _)| n)
        .filter(|n| find(&rows_a, n).is_none());
    for name in rows_a.iter().map(|(n, _)| n).chain(names_b) {
        let (va, vb) = (find(&rows_a, name), find(&rows_b, name));
        if va != vb {
            shown = true;
            say!("  {name}: {}", va.as_deref().unwrap_or("(none)"));
            say!(
                "  {:1$}-> {2}",
                "",
                name.len().saturating_sub(1),
                vb.as_deref().unwrap_or("(none)")
            );
        }
    }
    if !shown {
        let at = a.data.iter().zip(b.data).position(|(x, y)| x != y);
        let at = at.unwrap_or(a.data.len().min(b.data.len()));
        say!("  first differing byte: {at:#x} of the part");
    }
}
