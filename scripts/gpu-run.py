#!/usr/bin/env python3
"""Runs the packed tests on a machine with a GPU and writes what came out as Markdown.

    python3 run.py REPORT.md [--seeds N] [--budget SECONDS] [--math-step N] [--jobs N]
                             [--only TEXT] [--no-sanitizer] [--allow-no-gpu]

Each test runs in a process of its own, so that one that hangs or dies takes no other with it. The
report is written anew after each, so that whatever ends this early leaves what there is. What the
budget has no time for is said, and is a failure; so is a missing GPU, unless that is allowed.
Exits 1 if anything failed. Made by scripts/gpu-test.sh.
"""

import argparse
import concurrent.futures
import datetime
import glob
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

PACK = pathlib.Path(__file__).resolve().parent
# The longest that one test, one example, one run of a sanitizer may take, in seconds.
SECONDS, SANITIZER_SECONDS = 180, 90

# Tests that measure, or that take the device away from others: nothing runs beside them.
ALONE = {"gpu_cost", "gpu_errors", "gpu_cache: starts_are_measured", "gpu_memory: pinned_copies_run_both_ways_at_once"}

# Of these binaries only what a GPU has part in; of others, everything.
ONLY = {
    "field_cases": [
        "case_11_division_is_exact_where_it_must_be",
        "case_13_integer_division_has_no_holes",
        "case_14_nothing_is_contracted_and_fma_rounds_once",
        "case_4_zeros_keep_their_signs",
        "case_5_comparisons_know_nan",
        "case_9_conversions_round_as_they_must",
        "cases_7_and_34_minima_and_maxima",
        "spirv_cases::case_35_shifts_are_taken_modulo_the_width",
        "spirv_cases::case_42_conversions_extend_by_the_sign_of_the_source",
    ],
    "filetests": ["files_come_out_as_they_say"],
    "spirv_exhaustive": ["a_device_computes_every_opcode_and_type_as_the_reference_does"],
}

# Of these a skip is of one of many kernels, not of the test.
PARTLY = {"filetests"}

# What the examples are run with; {tmp} is a folder that is gone afterwards.
EXAMPLES = {
    "quickstart": [[]],
    "cuda_saxpy": [[]],
    "jit_expression": [["sqrt(x*x + y*y) * 0.5"], ["max(x, y) / (1 + abs(x - y))"]],
    "mandelbrot": [["{tmp}/mandelbrot.png"]],
}
# Lines of an example's output that are shown.
LAST_LINES = 14

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
# What runs under each of the tools: a binary and the tests named, or all of it.
SANITIZED = [
    ("gpu_every", ["arithmetic", "values", "vectors", "comparison_and_selection"]),
    ("gpu_every", ["bits", "conversion", "float_functions"]),
    ("gpu_every", ["memory", "atomics", "synchronisation", "control_flow"]),
    ("gpu_every", ["subgroups"]),
    ("gpu_differential", []),
    ("gpu_launch", []),
    ("gpu_memory", []),
    ("gpu_graph", []),
    ("gpu_cache", []),
    ("gpu_capture", []),
    ("gpu_pipeline", []),
]
# What does not, and why.
NOT_SANITIZED = {
    "gpu_errors": "provokes faults of the device",
    "gpu_launch: registers_limit_the_threads_of_a_block": "has the driver refuse a launch",
    "gpu_launch: threads_share_one_context, under racecheck": "does not end there",
    "gpu_capture: other_work_goes_on_during_a_capture": "is a capture that the tools' own work on the device ends",
    "gpu_launch: several_devices": "runs where there are several, without a sanitizer",
    "gpu_memory: too_much_memory_is_an_error": "asks for more memory than there is",
    "gpu_memory: pinned_copies_run_both_ways_at_once": "measures, and runs no kernel",
    "gpu_cache: starts_are_measured": "measures, in processes of its own",
    "gpu_cost": "measures",
    "gpu_policies": "has many threads at once, and runs the kernels that others do",
    "gpu_load": "has the driver refuse texts, and runs no kernel",
    "gpu_math": "has millions of results of kernels that `gpu_every` runs",
    "filetests": "runs kernels of the kinds that `gpu_every` runs",
}
# Faults on purpose, which the tool must find.
PLANTED = {
    "memcheck": ("gpu_planted", "a_store_behind_a_buffer"),
    "racecheck": ("gpu_planted", "a_race_in_shared_memory"),
    "initcheck": ("gpu_planted", "a_load_of_nothing"),
}
# Errors that calls return are the tests' business: every load asks for a parameter too many, to see that there is none.
TOOL_OPTIONS = {"memcheck": ["--report-api-errors", "no", "--leak-check", "full"]}
SANITIZER_SEEDS = "4"


def line_of(kind, output):
    """What stands behind `NOTE ` or `SKIP ` on the lines of an output; libtest begins a line before."""
    return [m.group(1).strip() for m in re.finditer(rf"(?:^|\.\.\. ){kind} (.*)$", output, re.MULTILINE)]


def tail(text, most=6000):
    text = text.rstrip()
    return text if len(text) <= most else "…\n" + text[-most:]


class Item:
    """Something that is run: what it is called, its command, and what came out."""

    def __init__(self, kind, binary, name, command, environment=None, seconds=SECONDS):
        self.kind, self.binary, self.name, self.command = kind, binary, name, command
        self.environment, self.limit = environment or {}, seconds
        self.result, self.status, self.output, self.seconds = "not run", None, "", 0.0
        self.needs_gpu = self.planted = False

    def title(self):
        return f"{self.binary}: {self.name}" if self.name else self.binary

    def alone(self):
        return self.kind == "example" or self.binary in ALONE or self.title() in ALONE

    def failed(self):
        return self.result.startswith("FAILED") or self.result.startswith("not run")

    def judge(self):
        """What the status and the output mean."""
        if self.status is None:
            return f"FAILED (no end after {self.seconds:.0f} s)"
        if self.kind == "sanitizer":
            return self.judge_sanitizer()
        # An example is content without a GPU; this is not.
        without = self.needs_gpu and re.search(r"^(no GPU|SKIP )", self.output, re.MULTILINE)
        passed = not without if self.kind == "example" else "1 passed" in self.output
        if self.status != 0 or not passed:
            return "FAILED" if self.status >= 0 else f"FAILED (signal {-self.status})"
        skips = line_of("SKIP", self.output)
        if not skips or self.kind == "example":
            return "ok"
        partly = self.kind == "vulkan" or self.binary in PARTLY
        if partly and not any(re.match("GPU|oracle vulkan", skip) for skip in skips):
            return f"ok, {len(skips)} parts skipped"
        return "skipped"

    def judge_sanitizer(self):
        summary = self.summary()
        clean = summary and all(re.search(r"(SUMMARY: 0 (errors|hazards)|0 bytes leaked)", s) for s in summary)
        if self.planted:
            found = self.status != 0 and any(re.search(r"SUMMARY: [1-9]", s) for s in summary)
            return "ok: found" if found else "FAILED (the fault was not found)"
        if self.status != 0 or not clean or "test result: ok" not in self.output:
            return "FAILED"
        return "skipped" if any(skip.startswith("GPU") for skip in line_of("SKIP", self.output)) else "ok"

    def summary(self):
        return re.findall(r"=========\s+((?:ERROR|RACECHECK|LEAK) SUMMARY: .*)", self.output)


class Runner:
    def __init__(self, options):
        self.options = options
        self.start = time.monotonic()
        self.began = datetime.datetime.now(datetime.timezone.utc)
        self.items, self.missing = [], []
        self.running, self.lock = set(), threading.RLock()
        self.stopped = self.finished = False
        self.gpus = gpus()
        self.sanitizer, self.tmp = None, None

    def left(self):
        return self.options.budget - (time.monotonic() - self.start)

    def environment(self, item):
        # The oracles belong to machines that build; here are devices.
        environment = dict(os.environ, RUST_BACKTRACE="0", KERNITE_ORACLES=str(PACK / "none"), KERNITE_FILETESTS=str(PACK / "filetests"))
        if not self.options.allow_no_gpu:
            environment["KERNITE_REQUIRE_GPU"] = "1"
        if self.options.seeds is not None:
            environment["KERNITE_SEEDS"] = str(self.options.seeds)
        if self.options.math_step is not None:
            environment["KERNITE_MATH_STEP"] = str(self.options.math_step)
        environment.update(item.environment)
        return environment

    def add(self, item):
        item.needs_gpu = not self.options.allow_no_gpu
        if self.options.only in item.title():
            self.items.append(item)

    def run(self, item):
        limit = min(item.limit, self.left())
        if self.stopped or limit < 1:
            item.result = "not run: no time was left"
        else:
            start = time.monotonic()
            process = subprocess.Popen(
                item.command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=self.environment(item),
                start_new_session=True,
            )
            with self.lock:
                self.running.add(process)
                if self.stopped:
                    kill(process)
            try:
                output, _ = process.communicate(timeout=limit)
                item.status = process.returncode
            except subprocess.TimeoutExpired:
                kill(process)
                output, _ = process.communicate()
            with self.lock:
                self.running.discard(process)
            item.output, item.seconds = output.decode(errors="replace"), time.monotonic() - start
            item.result = item.judge()
        with self.lock:
            if item.failed():
                print(tail(item.output, 3000), flush=True)
            say = "; ".join(line_of("NOTE", item.output) + item.summary())
            print(f"[{time.monotonic() - self.start:5.0f} s] {item.kind} {item.title()}: {item.result}, {item.seconds:.1f} s {say}", flush=True)
            self.write()

    def run_all(self, kind):
        """Those that may run beside each other, then the others one by one."""
        items = [item for item in self.items if item.kind == kind]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(self.run, [item for item in items if not item.alone()]))
        for item in items:
            if item.alone():
                self.run(item)

    def stop(self, *_):
        """Ends what runs, and leaves the report."""
        self.stopped = True
        with self.lock:
            for process in self.running:
                kill(process)

    def write(self):
        report = pathlib.Path(self.options.report)
        with self.lock:
            partial = report.with_name(report.name + ".part")
            partial.write_text(page(self))
            partial.replace(report)


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def plain(command, seconds=60):
    """Status and output of a command, or why there is none."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
        return done.returncode, done.stdout.decode(errors="replace").strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)


def gpus():
    query = "--query-gpu=name,driver_version,compute_cap,memory.total"
    status, output = plain(["nvidia-smi", query, "--format=csv,noheader"])
    if status is None:
        return ["nvidia-smi is not there"]
    return output.splitlines() if status == 0 else [f"nvidia-smi failed: {output}"]


def find_sanitizer():
    """compute-sanitizer, on the path or where the toolkit installs it."""
    places = ["/usr/local/cuda*/bin/compute-sanitizer", "/usr/local/cuda*/compute-sanitizer/compute-sanitizer", "/opt/cuda*/bin/compute-sanitizer"]
    found = [shutil.which("compute-sanitizer")] + [p for place in places for p in sorted(glob.glob(place), reverse=True)]
    return next((path for path in found if path and os.access(path, os.X_OK)), None)


def has_vulkan():
    status, output = plain(["ldconfig", "-p"])
    return status == 0 and "libvulkan.so.1" in output


def binaries(folder):
    found = sorted((PACK / folder).iterdir()) if (PACK / folder).is_dir() else []
    for binary in found:
        binary.chmod(0o755)
    return found


def tests_of(runner, kind, binary, only, environment):
    status, listed = plain([str(binary), "--list", "--format", "terse"])
    names = [line[: -len(": test")] for line in listed.splitlines() if line.endswith(": test")]
    names = [name for name in names if only is None or name in only]
    if status != 0 or not names or (only and set(only) - set(names)):
        item = Item(kind, binary.name, "", [])
        item.result, item.output = "FAILED (its tests are not there)", listed
        runner.add(item)
    for name in names:
        command = [str(binary), "--exact", name, "--nocapture", "--test-threads=1"]
        runner.add(Item(kind, binary.name, name, command, environment))


def sanitizer(path, tool):
    return [path, "--tool", tool, "--error-exitcode", "86", "--print-limit", "10", *TOOL_OPTIONS.get(tool, [])]


def plan(runner):
    options, tmp = runner.options, runner.tmp
    for binary in binaries("tests"):
        tests_of(runner, "test", binary, ONLY.get(binary.name), {})
    vulkan = binaries("vulkan")
    if vulkan and has_vulkan():
        # Whatever is there will do where no GPU need be.
        device = {} if options.allow_no_gpu else {"KERNITE_VULKAN_DEVICE": "gpu"}
        for binary in vulkan:
            tests_of(runner, "vulkan", binary, ONLY.get(binary.name), device)
    elif vulkan:
        runner.missing.append("Vulkan: its loader, libvulkan.so.1, is not there")
    for binary in binaries("examples"):
        for arguments in EXAMPLES.get(binary.name, [[]]):
            arguments = [argument.format(tmp=tmp) for argument in arguments]
            shown = " ".join(f"'{a.replace(tmp, '.')}'" for a in arguments)
            runner.add(Item("example", binary.name, shown, [str(binary), *arguments]))
    if options.no_sanitizer:
        runner.missing.append("compute-sanitizer: not asked for")
        return
    path = find_sanitizer()
    if path is None:
        runner.missing.append("compute-sanitizer: it is not there")
        return
    runner.sanitizer = plain([path, "--version"])[1].splitlines()[-1:] or [path]
    environment = {"KERNITE_SAMPLE": "1", "KERNITE_SEEDS": SANITIZER_SEEDS}
    there = {binary.name: binary for binary in binaries("tests")}
    for tool in TOOLS:
        for name, tests in SANITIZED:
            if name not in there:
                continue
            command = sanitizer(path, tool) + [str(there[name]), "--nocapture", "--test-threads=1", "--exact", *tests]
            for excluded in NOT_SANITIZED:
                test, _, under = excluded.partition(", under ")
                binary, _, test = test.partition(": ")
                if binary == name and test and under in ("", tool):
                    command += ["--skip", test]
            of = ", ".join(tests) or "all"
            runner.add(Item("sanitizer", f"{tool} of {name}", of, command, environment, SANITIZER_SECONDS))
        name, test = PLANTED.get(tool, (None, None))
        if name in there:
            command = sanitizer(path, tool) + [str(there[name]), "--nocapture", "--test-threads=1", "--exact", test]
            item = Item("sanitizer", f"{tool} of {name}", test, command, environment, SANITIZER_SECONDS)
            item.planted = True
            runner.add(item)


def fenced(text):
    return ["", "```text", text, "```", ""]


def page(runner):
    def read(name):
        try:
            return (PACK / name).read_text().strip()
        except OSError:
            return "unknown"

    of = lambda *kinds: [item for item in runner.items if item.kind in kinds]
    tests = of("test", "vulkan")
    count = lambda items, start: sum(item.result.startswith(start) for item in items)
    counts = lambda items: ", ".join(
        f"{count(items, start)} {what}"
        for start, what in [("ok", "ok"), ("skipped", "skipped"), ("FAILED", "failed"), ("not run", "not run")]
        if start in ("ok", "FAILED") or count(items, start)
    )
    skipped = {}
    for item in runner.items:
        for skip in line_of("SKIP", item.output):
            # Without where, which is said once for all.
            skipped.setdefault(re.sub(r" \(in [^()]*; skip \d+ of this process\)$", "", skip), []).append(item.title())
    skips = sum(map(len, skipped.values())) + len(runner.missing)
    lines = [
        "# The GPU tests' last run",
        "",
        "Written whole by `scripts/gpu-test.sh`; see there.",
        "",
        f"- commit: {read('COMMIT')}",
        f"- built with: {read('RUSTC')}",
        f"- date: {runner.began:%Y-%m-%d %H:%M} UTC",
        f"- system: {platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}",
        *(f"- GPU, driver, compute capability, memory: {gpu}" for gpu in runner.gpus),
        f"- tests: {counts(tests)}",
        f"- examples: {counts(of('example'))}",
        f"- runs of compute-sanitizer: {counts(of('sanitizer'))}",
        f"- skips: {skips}",
        f"- seconds in all: {time.monotonic() - runner.start:.0f}",
    ]
    if not runner.finished:
        lines += ["", "**This run was not finished.**"]
    lines += ["", "| binary | test | result | seconds | what it says |", "|---|---|---|---|---|"]
    for item in tests:
        through = " (Vulkan)" if item.kind == "vulkan" else ""
        says = "; ".join(line_of("NOTE", item.output)).replace("|", "\\|")
        lines.append(f"| {item.binary}{through} | {item.name} | {item.result} | {item.seconds:.2f} | {says} |")
    if of("sanitizer"):
        lines += [
            "",
            "## compute-sanitizer",
            "",
            *(f"{version}. " for version in runner.sanitizer or []),
            f"`gpu_every` takes one kernel of each opcode and type, `gpu_differential` {SANITIZER_SEEDS} random ones.",
            "",
            "| tool | tests | result | seconds | summary |",
            "|---|---|---|---|---|",
        ]
        for item in of("sanitizer"):
            tool, _, binary = item.binary.partition(" of ")
            summary = "; ".join(item.summary())
            lines.append(f"| {tool} | {binary}: {item.name} | {item.result} | {item.seconds:.1f} | {summary} |")
        lines += ["", "Not run so:", "", *(f"- `{what}`: {why}" for what, why in NOT_SANITIZED.items())]
    lines += ["", f"## Skips: {skips}", "", *(f"- {missing}" for missing in runner.missing)]
    for skip, titles in skipped.items():
        titles = sorted(set(titles))
        more = f" and {len(titles) - 5} more" if len(titles) > 5 else ""
        lines.append(f"- {skip} (in {', '.join(titles[:5])}{more})")
    if of("example"):
        lines += ["", "## Examples", "", f"The last lines of each, {LAST_LINES} at most."]
    for item in of("example"):
        output = "\n".join(item.output.rstrip().splitlines()[-LAST_LINES:])
        lines += ["", f"`{item.binary} {item.name}".rstrip() + f"`: {item.result}", *fenced(output)[:-1]]
    failures = [item for item in runner.items if item.failed() and not item.result.startswith("not run")]
    if failures:
        lines += ["", "## Failures"]
    for item in failures:
        lines += ["", f"{item.kind} `{item.title()}`: {item.result}", *fenced(tail(item.output))[:-1]]
    text = "\n".join(lines).rstrip() + "\n"
    # Where things lay on this machine is nobody's business.
    for place in [runner.tmp, str(PACK)]:
        text = text.replace(place, ".") if place else text
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", metavar="REPORT.md")
    parser.add_argument("--seeds", type=int, metavar="N", help="random kernels of each random test")
    parser.add_argument("--budget", type=float, default=540, metavar="SECONDS", help="of everything; %(default)s")
    parser.add_argument("--math-step", type=int, metavar="N", help="every Nth f32 of each function")
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="processes side by side; %(default)s")
    parser.add_argument("--only", default="", metavar="TEXT", help="what has this in its name")
    parser.add_argument("--no-sanitizer", action="store_true", help="without compute-sanitizer")
    parser.add_argument("--allow-no-gpu", action="store_true", help="a missing GPU is a skip")
    options = parser.parse_args()
    if options.jobs < 1 or options.budget <= 0:
        parser.error("--jobs and --budget are positive")
    runner = Runner(options)
    signal.signal(signal.SIGTERM, runner.stop)
    signal.signal(signal.SIGINT, runner.stop)
    with tempfile.TemporaryDirectory() as tmp:
        runner.tmp = tmp
        plan(runner)
        runner.write()
        for kind in ["test", "vulkan", "example", "sanitizer"]:
            runner.run_all(kind)
    runner.finished = not runner.stopped
    runner.write()
    failed = [item for item in runner.items if item.failed()]
    print(f"{len(runner.items) - len(failed)} well, {len(failed)} not; written to {options.report}")
    for item in failed:
        print(f"  {item.kind} {item.title()}: {item.result}")
    return 1 if failed or not runner.items else 0


if __name__ == "__main__":
    sys.exit(main())
