//! docs/performance.md, from what was measured.

use crate::bars::{Limit, Verdict};
use crate::group::Group;
use crate::paired::{Timed, Times};
use kernite_stages::RUSTC_VERSION;
use std::fmt::Write;

/// What is to be said of the bars that are missed; written by hand.
const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/notes.md");

/// A time in the unit that fits.
pub fn duration(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n => format!("{:.2} ms", n / 1e6),
    }
}

/// The page: the bars with their verdicts, the notes, then everything measured.
///
/// # Panics
/// Where the notes cannot be read.
pub fn markdown(
    date: &str,
    rounds: usize,
    measured: &[(Group, Times)],
    verdicts: &[Verdict],
) -> String {
    let mut out = head(date, rounds);
    bars(&mut out, verdicts);
    out.push('\n');
    out.push_str(&std::fs::read_to_string(NOTES).expect("the notes"));
    out.push_str(
        "\n## Everything measured\n\n\
         Medians over the rounds; × is the median of the rounds' ratios to the first row. Counts and bytes are of what each \
         contestant makes or reads itself.\n",
    );
    for (group, times) in measured {
        table(&mut out, *group, times);
    }
    out
}

fn head(date: &str, rounds: usize) -> String {
    format!(
        "# Performance\n\n\
         Written by `cargo bench -p kernite-benches --bench ratios -- --rounds {rounds} --markdown {date}`; without \
         `--markdown` the same command prints a table for people and fails where a bar is missed.\n\n\
         - **Machine**: a virtual machine with two x86-64 cores, shared with other work. Such a machine runs at more than \
         one speed, so ratios within one run say more than times.\n\
         - **Date**: {date}. **Compiler**: rustc {RUSTC_VERSION}, profile `bench` (thin LTO, one codegen unit) for all \
         contestants alike.\n\
         - **Method**: contestants of a group run in turn, in {rounds} rounds of about 1.5 ms each, in one process. Times \
         are CPU times. Each contestant's output is checked first: kernite's is byte for byte that of the golden files, \
         rspirv's is word for word the floor's.\n\
         - **kernite** is its public API with default options: full verification with uniformity, ids stamped; builder \
         and emitters are kept between kernels, as a user would, and text and words are lent by the emitters \
         (`ptx::Emitter::text`, `spirv::Emitter::words`) and not copied. The PTX target is sm_80.\n\
         - **Floors** are the same kernels as templates written by hand, without types or checks: for PTX literal pieces \
         with register numbers by `itoa`, for SPIR-V words pushed into a vector, both into fresh memory.\n\n\
         Clock-free instruction counts of each stage are in `benches/stages/instructions.txt`; \
         `cargo bench -p kernite-stages` compares with them.\n"
    )
}

fn bars(out: &mut String, verdicts: &[Verdict]) {
    let missed = verdicts.iter().filter(|v| !v.holds()).count();
    let _ = writeln!(
        out,
        "\n## Bars\n\n{} bars, {missed} missed.\n\n\
         | group | contestant | bar | found | |\n| --- | --- | --- | ---: | --- |",
        verdicts.len()
    );
    for verdict in verdicts {
        let holds = if verdict.holds() {
            "holds"
        } else {
            "**missed**"
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {holds} |",
            verdict.group.name(),
            verdict.bar.ours,
            verdict.bar.limit,
            verdict.value(),
        );
    }
    let each = |limit: Limit| matches!(limit, Limit::Millions(_));
    if verdicts.iter().any(|v| each(v.bar.limit)) {
        out.push_str(
            "\nInstructions of the reference executor are those of all threads of the kernel, constants and built-ins not \
             counted, on one core.\n",
        );
    }
}

fn table(out: &mut String, group: Group, times: &Times) {
    let _ = writeln!(
        out,
        "\n### {}\n\n| contestant | time | × | ns an instruction | instructions | bytes |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |",
        group.name()
    );
    let Some(first) = times.contestants().first() else {
        return;
    };
    for &Timed {
        name,
        instructions,
        bytes,
    } in times.contestants()
    {
        let _ = writeln!(
            out,
            "| {name} | {} | {:.2} | {:.2} | {instructions} | {bytes} |",
            duration(times.median(name)),
            times.ratio(name, first.name),
            times.median_each(name),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_fits() {
        assert_eq!(duration(12.4), "12 ns");
        assert_eq!(duration(1_234.0), "1.23 µs");
        assert_eq!(duration(45_600_000.0), "45.60 ms");
    }
}
