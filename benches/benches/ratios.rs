//! Compares kernite with floors and rivals in one process and gives a verdict on every bar; exits with 1 on a miss.

use kernite_benches::bars::{BARS, Verdict};
use kernite_benches::group::Group;
use kernite_benches::paired::{Timed, Times};
use kernite_benches::report;
use std::process::ExitCode;

const USAGE: &str = "\
Compares kernite with floors and rivals; fails where a bar is missed.

Usage: cargo bench -p kernite-benches --bench ratios -- [--only TEXT] [--rounds N] [--markdown DATE]

  --only TEXT      only groups with this in their names, as ptx/ or matmul16
  --rounds N       rounds, 31 unless given; each takes about 1.5 ms a contestant
  --markdown DATE  prints docs/performance.md as of that day, and nothing else
  --list           lists the groups";

struct Request {
    only: String,
    rounds: usize,
    markdown: Option<String>,
    list: bool,
}

fn arguments() -> Result<Request, lexopt::Error> {
    use lexopt::prelude::*;
    let mut request = Request {
        only: String::new(),
        rounds: 31,
        markdown: None,
        list: false,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("only") => request.only = parser.value()?.string()?,
            Long("rounds") => request.rounds = parser.value()?.parse()?,
            Long("markdown") => request.markdown = Some(parser.value()?.string()?),
            Long("list") => request.list = true,
            // What cargo adds.
            Long("bench") => {}
            _ => return Err(argument.unexpected()),
        }
    }
    if request.rounds == 0 {
        return Err("there must be a round".into());
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
    let groups = Group::all();
    let groups = groups
        .into_iter()
        .filter(|g| g.name().contains(&request.only));
    if request.list {
        groups.for_each(|group| println!("{}", group.name()));
        return ExitCode::SUCCESS;
    }
    let mut verdicts = Vec::new();
    let mut measured = Vec::new();
    for group in groups {
        let times = Times::measure(&mut group.contestants(), request.rounds);
        let bars = BARS.iter().filter(|bar| (bar.groups)(group));
        for bar in bars {
            match bar.judge(group, &times) {
                Some(verdict) => verdicts.push(verdict),
                None => eprintln!("SKIP {}: no rival for: {}", group.name(), bar.limit),
            }
        }
        if request.markdown.is_none() {
            print_group(&group.name(), &times);
        }
        measured.push((group, times));
    }
    let missed = verdicts.iter().filter(|v| !v.holds()).count();
    if let Some(date) = request.markdown {
        print!(
            "{}",
            report::markdown(&date, request.rounds, &measured, &verdicts)
        );
    } else {
        println!();
        verdicts.iter().for_each(print_verdict);
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
            report::duration(times.median(name)),
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
