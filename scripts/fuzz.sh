#!/usr/bin/env bash
# Runs every fuzz target for a number of seconds of processor time each and prints a table of
# what they did:
#
#     scripts/fuzz.sh SECONDS [TARGET…]
#
# Needs a nightly toolchain and cargo-fuzz (`cargo install cargo-fuzz --locked`). Overflow
# checks and debug assertions are on. No sanitizer: outside of the CUDA driver's bindings, which
# nothing here reaches, kernite forbids unsafe code, and without one a target runs several times
# as often. FUZZ_JOBS=N runs N targets at a time (1 unless set).
#
# What a run learns stays in fuzz/corpus, what crashes in fuzz/artifacts; both are ignored by
# git. Exits with 1 after a crash, a timeout or memory out of bounds. A crash becomes a test:
# copy its file to fuzz/seeds/TARGET, which `cargo test` runs.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET…]}
shift
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    targets=(spirv_validate spirv_disassemble kernel_bytes builder dxbc_read dxbc_roundtrip differential)
fi

# Where a target starts: the seeds of its name, or the files of a test member.
seeds() {
    case $1 in
        spirv_disassemble) echo fuzz/seeds/spirv_validate ;;
        dxbc_*) echo tests/dxbc/fixtures tests/dxbc/hostile ;;
    esac
    if [ -d "fuzz/seeds/$1" ]; then echo "fuzz/seeds/$1"; fi
}

build() {
    cargo +nightly fuzz build --sanitizer none --debug-assertions "$1" 2>&1
}

for target in "${targets[@]}"; do
    build "$target" >fuzz/build.log || { cat fuzz/build.log >&2; exit 1; }
done
host=$(rustc +nightly -vV | sed -n 's/^host: //p')

# one TARGET: fuzzes it; the log keeps libFuzzer's closing statistics.
one() {
    local target=$1
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target" fuzz/logs
    # shellcheck disable=SC2046 # several folders
    "fuzz/target/$host/release/$target" "fuzz/corpus/$target" $(seeds "$target") \
        -artifact_prefix="fuzz/artifacts/$target/" -max_len=16384 -timeout=30 \
        -rss_limit_mb=2048 -print_final_stats=1 >"fuzz/logs/$target" 2>&1 &
    local pid=$! used=0 now
    while now=$(ps -o cputimes= -p $pid); do
        used=$((now))
        # SIGUSR1 asks libFuzzer for its statistics and to stop.
        if [ "$used" -ge "$seconds" ]; then kill -USR1 $pid 2>/dev/null; fi
        sleep 1
    done
    wait $pid
    echo $? >"fuzz/logs/$target.status"
    echo $used >"fuzz/logs/$target.seconds"
}

for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "${FUZZ_JOBS:-1}" ]; do wait -n; done
    one "$target" &
done
wait

failed=0
printf '%-18s %8s %12s %8s %8s %7s\n' target seconds executions edges corpus crashes
for target in "${targets[@]}"; do
    log=fuzz/logs/$target
    crashes=$(grep -ac '^Test unit written to\|^artifact_prefix=.*Test unit' "$log")
    status=$(cat "$log.status")
    if [ "$status" != 0 ]; then
        failed=1
        [ "$crashes" -gt 0 ] || crashes=1
    fi
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(grep -ao 'cov: [0-9]*' "$log" | tail -1 | cut -d' ' -f2)
    corpus=$(grep -ao 'corp: [0-9]*' "$log" | tail -1 | cut -d' ' -f2)
    printf '%-18s %8s %12s %8s %8s %7s\n' "$target" "$(cat "$log.seconds")" "${executions:--}" \
        "${edges:--}" "${corpus:--}" "$crashes"
    if [ "$status" != 0 ]; then
        grep -a "panicked\|ERROR\|Test unit written" "$log" | head -5 | sed 's/^/    /'
    fi
done
exit $failed
