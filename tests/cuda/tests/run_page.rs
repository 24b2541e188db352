//! `scripts/gpu-run.py`, which runs the packed GPU tests and writes their page, on tests that are shell scripts.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

use kernite_testkit::skip;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder as `scripts/gpu-test.sh` packs it.
struct Pack(tempfile::TempDir);

impl Pack {
    /// `None`, and a skip, where there is no Python.
    fn new() -> Option<Pack> {
        if Command::new("python3").arg("--version").output().is_err() {
            skip::skip("python3", "the script needs it");
            return None;
        }
        let pack = Pack(tempfile::tempdir().unwrap());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/gpu-run.py");
        fs::copy(script, pack.path("run.py")).unwrap();
        fs::write(pack.path("COMMIT"), "0123abc\n").unwrap();
        fs::write(pack.path("RUSTC"), "rustc 1.0\n").unwrap();
        Some(pack)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn script(&self, name: &str, body: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A binary of tests, with what each does; what is printed around it is as libtest does.
    fn tests(&self, name: &str, tests: &[(&str, &str)]) {
        let list: String = tests
            .iter()
            .map(|(test, _)| format!("echo '{test}: test'; "))
            .collect();
        let cases: String = tests
            .iter()
            .map(|(test, body)| {
                format!("*'--exact {test} '*) printf 'test {test} ... '; {body};;\n")
            })
            .collect();
        let body = format!(
            "case \"$*\" in *--list*) {list} exit;; esac\ncase \"$* \" in\n{cases}esac\n\
            echo ok; echo 'test result: ok. 1 passed; 0 failed'"
        );
        self.script(&format!("tests/{name}"), &body);
    }

    /// The exit status, what was printed, and the page.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let path = format!(
            "{}:{}",
            self.path("bin").display(),
            std::env::var("PATH").unwrap()
        );
        let output = Command::new("python3")
            .arg(self.path("run.py"))
            .arg(self.path("page.md"))
            .args(arguments)
            .env("PATH", path)
            .output()
            .unwrap();
        let printed = [output.stdout, output.stderr].concat();
        let page = fs::read_to_string(self.path("page.md")).unwrap_or_default();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        (output.status.code().unwrap(), printed, page)
    }
}

/// The line of the page that begins so.
fn row(page: &str, begins: &str) -> String {
    let line = page.lines().find(|line| line.starts_with(begins));
    line.unwrap_or_else(|| panic!("no {begins:?} in\n{page}"))
        .to_owned()
}

#[test]
fn a_page_says_what_came_out() {
    let Some(pack) = Pack::new() else { return };
    let no_gpu = "[ \"$KERNITE_REQUIRE_GPU\" = 1 ] && exit 101; echo 'SKIP GPU: none (in a; skip 1 of this process)'";
    pack.tests(
        "gpu_a",
        &[
            ("fine", "echo NOTE 12 pairs of $KERNITE_SEEDS"),
            ("without", no_gpu),
        ],
    );
    pack.tests(
        "gpu_b",
        &[
            ("bad", "echo 'assertion failed: a | b'; exit 101"),
            ("dies", "kill -SEGV $$"),
        ],
    );
    pack.script(
        "examples/quickstart",
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo line $i; done",
    );
    pack.script("bin/nvidia-smi", "echo 'Some GPU, 1.2, 9.0, 3 MiB'");
    let (status, printed, page) = pack.run(&["--no-sanitizer", "--allow-no-gpu", "--seeds", "7"]);
    assert_eq!(status, 1, "{printed}");
    assert!(printed.contains("3 well, 2 not; written to "), "{printed}");
    for line in [
        "- commit: 0123abc",
        "- built with: rustc 1.0",
        "- GPU, driver, compute capability, memory: Some GPU, 1.2, 9.0, 3 MiB",
        "- tests: 1 ok, 1 skipped, 2 failed",
        "- examples: 1 ok, 0 failed",
        "- skips: 2",
        "- compute-sanitizer: not asked for",
        "- GPU: none (in gpu_a: without)",
        "`quickstart`: ok",
        "line 15",
        "test `gpu_b: bad`: FAILED",
        "assertion failed: a | b",
        "test `gpu_b: dies`: FAILED (signal 11)",
    ] {
        assert!(page.lines().any(|l| l.ends_with(line)), "{line}\n{page}");
    }
    assert!(row(&page, "| gpu_a | fine | ok | ").ends_with("| 12 pairs of 7 |"));
    row(&page, "| gpu_a | without | skipped | ");
    assert!(
        !page.contains("not finished") && !page.contains("line 1\n"),
        "{page}"
    );
    // The same where a GPU must be there, and of one binary only.
    let (status, _, page) = pack.run(&["--no-sanitizer", "--only", "gpu_a"]);
    assert_eq!(status, 1);
    row(&page, "| gpu_a | without | FAILED | ");
    assert!(
        page.contains("- tests: 1 ok, 1 failed") && !page.contains("gpu_b"),
        "{page}"
    );
}

#[test]
fn sanitizers_are_run_and_their_summaries_kept() {
    let Some(pack) = Pack::new() else { return };
    let seen = "echo sample $KERNITE_SAMPLE, seeds $KERNITE_SEEDS";
    pack.tests(
        "gpu_launch",
        &[("one", seen), ("several_devices", "exit 1")],
    );
    pack.tests("gpu_graph", &[("two", seen)]);
    pack.tests("gpu_planted", &[("a_race_in_shared_memory", "true")]);
    // Says its version, or what it was asked, the output of the tests it is given, and a summary; racecheck finds something.
    pack.script(
        "bin/compute-sanitizer",
        "case \"$*\" in --version) echo 'Compute Sanitizer 1'; exit;; esac\n\
        echo \"$@\"\n\
        echo 'test result: ok. 1 passed'\n\
        case \"$*\" in\n\
        *racecheck*gpu_launch*) echo '========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)'; exit 86;;\n\
        *racecheck*gpu_planted*) echo '========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)'; exit 86;;\n\
        *memcheck*) echo '========= LEAK SUMMARY: 0 bytes leaked in 0 allocations';;\n\
        esac\n\
        echo '========= ERROR SUMMARY: 0 errors'",
    );
    let (status, printed, page) = pack.run(&["--only", " of gpu_"]);
    assert_eq!(status, 1, "{printed}");
    assert!(
        page.contains("- runs of compute-sanitizer: 8 ok, 3 failed"),
        "{page}"
    );
    assert!(page.contains("Compute Sanitizer 1. "), "{page}");
    let clean = row(&page, "| memcheck | gpu_graph: all | ok | ");
    assert!(
        clean.ends_with(
            "| LEAK SUMMARY: 0 bytes leaked in 0 allocations; ERROR SUMMARY: 0 errors |"
        )
    );
    let racy = row(&page, "| racecheck | gpu_launch: all | FAILED | ");
    assert!(racy.ends_with("| RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings) |"));
    // What is planted must be found.
    row(
        &page,
        "| racecheck | gpu_planted: a_race_in_shared_memory | ok: found | ",
    );
    row(
        &page,
        "| memcheck | gpu_planted: a_store_behind_a_buffer | FAILED (the fault was not found) | ",
    );
    // The command is in the failure's output: with the tests that are left out.
    assert!(
        page.contains(
            "--exact --skip registers_limit_the_threads_of_a_block --skip threads_share_one_context"
        ),
        "{page}"
    );
    assert!(
        page.contains("- `gpu_errors`: provokes faults of the device"),
        "{page}"
    );
}

#[test]
fn what_ends_early_leaves_what_there_is() {
    let Some(pack) = Pack::new() else { return };
    pack.tests("gpu_a", &[("fine", "true")]);
    // The first to run alone hangs until the time is over; for the next there is none.
    pack.tests(
        "gpu_cost",
        &[("hangs", "exec tail -f /dev/null"), ("later", "true")],
    );
    let (status, printed, page) = pack.run(&["--no-sanitizer", "--budget", "3"]);
    assert_eq!(status, 1, "{printed}");
    row(&page, "| gpu_a | fine | ok | ");
    row(&page, "| gpu_cost | hangs | FAILED (no end after ");
    row(&page, "| gpu_cost | later | not run: no time was left | ");
    assert!(
        page.contains("- tests: 1 ok, 1 failed, 1 not run"),
        "{page}"
    );
    // Here it has the script itself ended.
    pack.tests(
        "gpu_cost",
        &[
            ("hangs", "kill -TERM $PPID; exec tail -f /dev/null"),
            ("later", "true"),
        ],
    );
    let (status, printed, page) = pack.run(&["--no-sanitizer"]);
    assert_eq!(status, 1, "{printed}");
    row(&page, "| gpu_a | fine | ok | ");
    row(&page, "| gpu_cost | later | not run: no time was left | ");
    assert!(page.contains("**This run was not finished.**"), "{page}");
}

#[test]
fn wrong_arguments_are_refused() {
    let Some(pack) = Pack::new() else { return };
    for wrong in [
        &["--budget", "0"][..],
        &["--jobs", "0"],
        &["--seeds", "many"],
        &["--what"],
    ] {
        let (status, printed, page) = pack.run(wrong);
        assert!(
            status == 2 && printed.contains("usage: ") && page.is_empty(),
            "{printed}"
        );
    }
    // And a pack of nothing is no success.
    assert_eq!(pack.run(&["--no-sanitizer"]).0, 1);
}
