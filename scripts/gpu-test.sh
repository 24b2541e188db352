#!/usr/bin/env bash
# Builds the tests that need a GPU and packs them, so that they run on a machine that has a GPU and
# its driver, glibc and Python 3, and neither Rust nor this repository.
#
#   scripts/gpu-test.sh                    packs target/gpu-tests/ and target/gpu-tests.tar.gz
#   scripts/gpu-test.sh --here [OPTION…]   packs, runs them on this machine with run.py's options,
#                                          and writes docs/gpu-run.md
#
# On the other machine: unpack, then `python3 gpu-tests/run.py gpu-run.md`; bring gpu-run.md back as
# docs/gpu-run.md. A missing GPU is a failure there, not a skip. compute-sanitizer, of the CUDA
# toolkit, and a Vulkan loader are used where they are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pack=${CARGO_TARGET_DIR:-target}/gpu-tests
rm -rf "$pack" "$pack.tar.gz"
mkdir -p "$pack"

# Every test target whose name begins with `gpu_`; what runs on every device at hand; and the examples that use a GPU or
# show a kernel that the tests run on one. The other members are left out: they need no GPU, and much to be built.
{
    cargo test --locked --release -p kernite-cuda-tests -p kernite-suite --no-run --test 'gpu_*' --test filetests --test field_cases \
        --test spirv_exhaustive --message-format=json-render-diagnostics
    cargo build --locked --release -p kernite -p kernite-cuda-tests -p kernite-suite --example quickstart \
        --example cuda_saxpy --example jit_expression --example mandelbrot \
        --example share_with_cudarc --message-format=json-render-diagnostics
} >"$pack/built.json"

python3 - "$pack" <<'PYTHON'
import json, pathlib, shutil, sys
# Those that need a Vulkan driver, or serve only where there is one.
VULKAN = {"field_cases", "gpu_vulkan", "spirv_exhaustive"}
pack = pathlib.Path(sys.argv[1])
for line in (pack / "built.json").read_text().splitlines():
    message = json.loads(line)
    executable = message.get("executable")
    if message.get("reason") == "compiler-artifact" and executable:
        target = message["target"]
        name = target["name"]
        if "example" in target["kind"]:
            kind = "examples"
        else:
            kind = "vulkan" if name in VULKAN else "tests"
        (pack / kind).mkdir(exist_ok=True)
        shutil.copy(executable, pack / kind / name)
(pack / "built.json").unlink()
PYTHON

# Without symbols the pack is a tenth of the size; a failing test still says where.
if command -v strip >/dev/null; then
    strip --strip-all "$pack"/{tests,vulkan,examples}/*
fi

cp -R tests/suite/filetests "$pack/filetests"
commit=$(git rev-parse HEAD)
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
    commit="$commit, with changes"
fi
echo "$commit" >"$pack/COMMIT"
rustc --version >"$pack/RUSTC"
cp scripts/gpu-run.py "$pack/run.py"
tar -C "$(dirname "$pack")" -czf "$pack.tar.gz" gpu-tests
ls -l "$pack"/{tests,vulkan,examples} "$pack.tar.gz"

if [ "${1:-}" = --here ]; then
    shift
    mkdir -p docs
    python3 "$pack/run.py" docs/gpu-run.md "$@"
else
    echo "copy $pack.tar.gz to the GPU's machine, then there:"
    echo "  tar xzf gpu-tests.tar.gz && python3 gpu-tests/run.py gpu-run.md"
fi
