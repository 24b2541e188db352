//! Compares kernite with floors and rivals in one process and gives a verdict on every bar; exits with 1 on a miss.

use kernite_benches::bars::{BARS, Verdict};
use kernite_benches::group::Group;
use kernite_benches::paired::{Timed, Times};
use std::process::ExitCode;

const USAGE: &str = "\
Compares kernite with floors and rivals; fails where a bar is missed.

Usage: cargo bench -p kernite-benches --bench ratios -- [--only TEXT] [--rounds N]

  --only TEXT   only groups with this in their names, as ptx/ or matmul16
  --rounds N    rounds, 31 unless given; each takes about 1.5 ms a contestant
  --list        lists the groups";

struct Request {
    only: String,
    rounds: usize,
    list: bool,
}

fn arguments() -> Result<Request, lexopt::Error> {
    use lexopt::prelude::*;
    let mut request = Request {
        only: String::new(),
        rounds: 31,
        list: false,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("only") => request.only = parser.value()?.string()?,
            Long("rounds") => request.rounds = parser.value()?.parse()?,
            Long("list") => request.list = true,
            // What cargo adds.
            Long("bench") => {}
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(request)
}

fn main() -> ExitCode {
    let request = match arguments() {
        Ok(request) => request,
        Err(error) => {
            eprintln!("error: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut verdicts = Vec::new();
    for group in Group::all() {
        let name = group.name();
        if !name.contains(&request.only) {
            continue;
        }
        if request.list {
            println!("{name}");
            continue;
        }
        let times = Times::measure(&mut group.contestants(), request.rounds);
        print_group(&name, &times);
        let bars = BARS.iter().filter(|bar| (bar.groups)(group));
        verdicts.extend(bars.map(|bar| bar.judge(group, &times)));
    }
    println!();
    for verdict in &verdicts {
        print_verdict(verdict);
    }
    let missed = verdicts.iter().filter(|v| !v.holds()).count();
    if !request.list {
        println!("\n{} bars, {missed} missed", verdicts.len());
    }
    ExitCode::from(u8::from(missed > 0))
}

fn print_group(name: &str, times: &Times) {
    println!("\n{name}");
    let first = times.contestants()[0].name;
    for &Timed {
        name,
        instructions,
        bytes,
    } in times.contestants()
    {
        println!(
            "  {name:<32} {:>10}  {:>6.2} ×  {:>8.2} ns each of {instructions:>6}, {bytes:>7} bytes",
            duration(times.median(name)),
            times.ratio(name, first),
            times.median_each(name),
        );
    }
}

fn print_verdict(verdict: &Verdict) {
    let word = if verdict.holds() { "ok  " } else { "MISS" };
    println!(
        "{word} {:<24} {:<30} {:>9}  ({})",
        verdict.group.name(),
        verdict.bar.ours,
        verdict.value(),
        verdict.bar.limit
    );
}

fn duration(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n => format!("{:.2} ms", n / 1e6),
    }
}
