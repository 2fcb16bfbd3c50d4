#!/bin/bash
# SPDX-License-Identifier: MIT
# fuzz.sh PROGRAM SECONDS [SEED]: replays the corpus of a fuzz target, then fuzzes it for SECONDS.
# With a SEED, each run is the same. Without one (or with 0), each run has another seed. New finds
# go to build/fuzz/corpus/NAME or, with a SEED, to build/fuzz/seeded/NAME. Inputs that break the
# target go to build/fuzz/broken/.
set -u
cd "$(dirname "$0")/.." || exit 1
program=("$1") seconds=$2 seed=${3:-0}
name=$(basename "$1")
name=${name#fuzz_}
seeds=libextract/tests/fuzz/corpus/$name
finds=build/fuzz/corpus/$name
# Inputs are long from the start: overruns of buffers need as many bytes as the buffers have.
limits=(-timeout=10 -rss_limit_mb=1024 -max_len=65536 -len_control=0
    -artifact_prefix=build/fuzz/broken/"$name"-)

if [ "$seed" != 0 ]; then
    limits+=(-seed="$seed" -entropic=0)
    finds=build/fuzz/seeded/$name
    rm -rf "$finds"
    setarch -R true 2>/dev/null && program=(setarch -R "$1") # if the container permits it
fi
mkdir -p "$finds" build/fuzz/broken

verdict() { # NAME STATUS LOG
    if [ "$2" -eq 0 ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        tail -n 40 <<<"$3" | sed 's/^/# /'
    fi
}

if [ -z "$(ls "$seeds" 2>/dev/null)" ]; then
    echo "not ok $name: corpus: $seeds is empty"
    exit 1
fi
log=$("${program[@]}" -runs=0 "${limits[@]}" "$seeds" 2>&1)
verdict "$name: corpus of $(ls "$seeds" | wc -l) files" $? "$log"
log=$("${program[@]}" -max_total_time="$seconds" -print_final_stats=1 "${limits[@]}" \
    "$finds" "$seeds" 2>&1)
status=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' <<<"$log")
verdict "$name: $seconds s, ${runs:-0} executions" $status "$log"
