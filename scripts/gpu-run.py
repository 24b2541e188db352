#!/usr/bin/env python3
"""Runs the packed tests on a machine with a GPU and writes what came out as Markdown.

    python3 run.py REPORT.md

Each test runs in a process of its own, so that one that hangs or dies takes no other with it. A
missing GPU is a failure. Exits 1 if a test failed. Made by scripts/gpu-test.sh.
"""

import datetime
import os
import pathlib
import platform
import subprocess
import sys
import time

PACK = pathlib.Path(__file__).resolve().parent
SECONDS = 180
ENVIRONMENT = dict(os.environ, KERNITE_REQUIRE_GPU="1", RUST_BACKTRACE="0")

# What the examples are run with.
EXAMPLES = {
    "cuda_saxpy": [[]],
    "jit_expression": [["sqrt(x*x + y*y) * 0.5"], ["max(x, y) / (1 + abs(x - y))"]],
}


def run(command, seconds=SECONDS):
    """Exit status (None where time ran out), output, and seconds."""
    start = time.monotonic()
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT, timeout=seconds
        )
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        status, output = None, error.stdout or b""
    return status, output.decode(errors="replace"), time.monotonic() - start


def gpus():
    query = "--query-gpu=name,driver_version,compute_cap,memory.total"
    try:
        status, output, _ = run(["nvidia-smi", query, "--format=csv,noheader"], 60)
    except FileNotFoundError:
        return ["nvidia-smi is not there"]
    return output.strip().splitlines() if status == 0 else [f"nvidia-smi failed: {output.strip()}"]


def test(binary, name):
    status, output, seconds = run([str(binary), "--exact", name, "--nocapture", "--test-threads=1"])
    skips = [line[line.index("SKIP ") :] for line in output.splitlines() if "SKIP " in line]
    if status is None:
        result = f"FAILED (no end after {SECONDS} s)"
    elif status != 0 or "1 passed" not in output:
        result = "FAILED" if status >= 0 else f"FAILED (signal {-status})"
    elif skips:
        result = "skipped"
    else:
        result = "ok"
    return result, skips, output, seconds


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    rows, skips, failures = [], [], []
    counts = {"ok": 0, "skipped": 0, "FAILED": 0}
    for binary in sorted((PACK / "tests").iterdir()):
        binary.chmod(0o755)
        status, listed, _ = run([str(binary), "--list", "--format", "terse"])
        names = [line[: -len(": test")] for line in listed.splitlines() if line.endswith(": test")]
        if status != 0 or not names:
            names = []
            failures.append((binary.name, listed))
            counts["FAILED"] += 1
            rows.append(f"| {binary.name} | (does not start) | FAILED | |")
        for name in names:
            result, skipped, output, seconds = test(binary, name)
            counts[result.split()[0]] += 1
            rows.append(f"| {binary.name} | {name} | {result} | {seconds:.2f} |")
            skips.extend(skipped)
            if result.startswith("FAILED"):
                failures.append((f"{binary.name}: {name}", output))
            print(rows[-1], flush=True)
    shown = []
    for binary in sorted((PACK / "examples").iterdir()) if (PACK / "examples").is_dir() else []:
        binary.chmod(0o755)
        for arguments in EXAMPLES.get(binary.name, [[]]):
            status, output, _ = run([str(binary), *arguments])
            shown.append((" ".join([binary.name, *(f"'{a}'" for a in arguments)]), status, output))
            if status != 0:
                counts["FAILED"] += 1
                failures.append((f"example {binary.name}", output))
            print(output, flush=True)

    read = lambda name: (PACK / name).read_text().strip()
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    lines = [
        "# The GPU tests' last run",
        "",
        "Written whole by `scripts/gpu-test.sh`; see there.",
        "",
        f"- commit: {read('COMMIT')}",
        f"- built with: {read('RUSTC')}",
        f"- date: {now}",
        f"- system: {platform.system()} {platform.release()} {platform.machine()}, {' '.join(platform.libc_ver())}",
        *(f"- GPU, driver, compute capability, memory: {gpu}" for gpu in gpus()),
        f"- tests: {counts['ok']} ok, {counts['skipped']} skipped, {counts['FAILED']} failed",
        "",
        "| binary | test | result | seconds |",
        "|---|---|---|---|",
        *rows,
        "",
        f"## Skips: {len(skips)}",
        "",
        *(f"- {skip}" for skip in skips),
        "",
        "## Examples",
        "",
    ]
    for name, status, output in shown:
        lines += [f"`{name}` (exit {status})", "", "```text", output.rstrip(), "```", ""]
    if failures:
        lines += ["## Failures", ""]
        for name, output in failures:
            lines += [f"`{name}`", "", "```text", output.rstrip()[-6000:], "```", ""]
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines).rstrip() + "\n")
    print(f"{counts['ok']} ok, {counts['skipped']} skipped, {counts['FAILED']} failed; written to {sys.argv[1]}")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
