//! Counts the instructions of each stage on each kernel with callgrind, which a busy machine does not disturb, and
//! compares with `instructions.txt`; `BLESS=1` rewrites it.
//!
//! Counts hold for one compiler. With another, and where there is no valgrind, it prints a `SKIP` line and succeeds; a
//! missing valgrind is a failure where `KERNITE_REQUIRE_ORACLES` is `all`.

use kernite_stages::{Case, Ours, RUSTC_VERSION};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs, io};

/// More than this above the stored count is a failure; as much below it, a reason to store it anew.
const SLACK: f64 = 0.03;

/// What was counted, by name.
type Counts = Vec<(String, u64)>;

const STAGES: [&str; 4] = ["build", "ptx", "spirv", "validate"];

/// Where the counts are stored.
const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");

/// The argument with which valgrind runs this program again.
const MEASURED: &str = "--measured";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if env::args().any(|argument| argument == MEASURED) {
        run_every_stage();
        return Ok(ExitCode::SUCCESS);
    }
    let Some(counts) = count()? else {
        let required = env::var("KERNITE_REQUIRE_ORACLES");
        if required.is_ok_and(|names| names == "all") {
            return Err("valgrind is missing: run `.ci/install-oracles`, or install it".into());
        }
        println!("SKIP valgrind: not installed, so no instructions are counted");
        return Ok(ExitCode::SUCCESS);
    };
    let stored = fs::read_to_string(STORED).unwrap_or_default();
    if env::var_os("BLESS").is_some_and(|value| value == "1") {
        fs::write(STORED, store(&counts))?;
        println!("wrote {STORED}");
        return Ok(ExitCode::SUCCESS);
    }
    if compiler(&stored) != Some(RUSTC_VERSION) {
        let stored = compiler(&stored).unwrap_or("no compiler");
        println!("SKIP instructions: counted with {stored}, and this is {RUSTC_VERSION}");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(compare(&counts, &stored))
}

/// The names of what is counted, in order.
fn names() -> Vec<String> {
    let each = |case: Case| STAGES.map(|stage| format!("{} {stage}", case.name()));
    Case::ALL.into_iter().flat_map(each).collect()
}

/// The work that callgrind counts, with the dump that it writes behind it. Two functions, because callgrind does not
/// take both options for one.
#[inline(never)]
fn dumped(work: &mut dyn FnMut()) {
    measured(work);
    std::hint::black_box(());
}

#[inline(never)]
fn measured(work: &mut dyn FnMut()) {
    work();
    std::hint::black_box(());
}

/// Each stage on each case, in the order of [`names`], with everything warm.
fn run_every_stage() {
    let mut ours = Ours::default();
    for case in Case::ALL {
        for _ in 0..2 {
            ours.whole_ptx(case);
            let kernel = ours.build(case);
            let words = ours.emit_spirv(&kernel).to_vec();
            ours.recycle(kernel);
            ours.validate(&words);
        }
        let mut built = None;
        dumped(&mut || built = Some(ours.build(case)));
        let Some(kernel) = built else {
            unreachable!("it was built above")
        };
        dumped(&mut || {
            ours.emit_ptx(&kernel);
        });
        dumped(&mut || {
            ours.emit_spirv(&kernel);
        });
        let words = ours.emit_spirv(&kernel).to_vec();
        dumped(&mut || ours.validate(&words));
        ours.recycle(kernel);
    }
}

/// The counts by name; `None` where there is no valgrind.
fn count() -> Result<Option<Counts>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instructions");
    fs::create_dir_all(&folder)?;
    let out = folder.join("callgrind.out");
    let module = module_path!();
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .arg(format!("--toggle-collect={module}::measured*"))
        .arg(format!("--dump-after={module}::dumped*"))
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(env::current_exe()?)
        .arg(MEASURED)
        .output();
    let said = match valgrind {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        said => said?,
    };
    if !said.status.success() {
        return Err(String::from_utf8_lossy(&said.stderr).into());
    }
    let mut counts = Counts::new();
    for (name, number) in names().into_iter().zip(1..) {
        let path = out.with_extension(format!("out.{number}"));
        let dump = fs::read_to_string(&path)?;
        let total = dump.lines().find_map(|line| line.strip_prefix("totals: "));
        let total = total.ok_or_else(|| format!("{}: no totals", path.display()))?;
        counts.push((name, total.trim().parse()?));
    }
    fs::remove_dir_all(&folder)?;
    Ok(Some(counts))
}

const COMPILER: &str = "# rustc ";

fn store(counts: &[(String, u64)]) -> String {
    let mut text = format!(
        "# Instructions of each stage, warm, by callgrind: written by\n\
         # BLESS=1 cargo bench -p kernite-stages\n\
         {COMPILER}{RUSTC_VERSION}\n"
    );
    for (name, count) in counts {
        let _ = writeln!(text, "{name} {count}");
    }
    text
}

fn compiler(stored: &str) -> Option<&str> {
    stored.lines().find_map(|line| line.strip_prefix(COMPILER))
}

fn stored_count(stored: &str, name: &str) -> Option<u64> {
    let line = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok();
    stored.lines().find_map(line)
}

/// Prints a line for each count; fails where one is too high or not stored.
fn compare(counts: &[(String, u64)], stored: &str) -> ExitCode {
    let (mut failed, mut better) = (false, false);
    for (name, count) in counts {
        let Some(before) = stored_count(stored, name) else {
            println!("{name:<24} {count:>9}, not stored");
            failed = true;
            continue;
        };
        let change = *count as f64 / before as f64 - 1.0;
        let per_cent = 100.0 * change;
        let remark = if change > SLACK { "  MORE" } else { "" };
        println!("{name:<24} {count:>9}, stored {before:>9}, {per_cent:+.1} %{remark}");
        failed |= change > SLACK;
        better |= change < -SLACK;
    }
    if failed {
        println!(
            "Stages take more instructions than stored. If that is meant, BLESS=1 rewrites {STORED}"
        );
    } else if better {
        println!("Stages take fewer instructions than stored: BLESS=1 keeps them so.");
    }
    ExitCode::from(u8::from(failed))
}
