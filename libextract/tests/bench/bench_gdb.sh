#!/bin/bash
# SPDX-License-Identifier: MIT
# bench_gdb.sh: compares `ringside dump` of a 64 KiB ring in GDB with `dump binary memory` of the
# same bytes, in the same GDB, from QEMU. Prints milliseconds, the ratio, and PASS or FAIL. The
# limit is 1.5 times as long, plus 30 ms.
set -u
cd "$(dirname "$0")/../../.." || exit 1
# shellcheck source=/dev/null
source qemu-tests/cases/lib.sh
rounds=${ROUNDS:-9}
elf=$firmware/demo64k-cortex-m3.elf
start=
boot "$elf" || exit 1
sleep "${FILL:-6}" # until the ring has wrapped

stamp() { echo "shell date +%s%N >>$work/$1"; }
{
    echo "set pagination off"
    echo "set logging file /dev/null"
    for ((i = 0; i < rounds; i++)); do
        stamp memory
        echo "dump binary memory $work/ring.bin _tx_trace_header_ptr _tx_trace_buffer_end_ptr"
        stamp memory
        stamp ringside
        echo "ringside dump"
        stamp ringside
    done
    echo "ringside status"
} >"$work/commands.gdb"
timeout 120 gdb-multiarch -nx -q -batch -x "$script" -ex "file $elf" \
    -ex "target remote $socket" -x "$work/commands.gdb" >"$work/gdb.out" 2>&1
events=$(grep -cE '^ *[0-9]+ +[0-9A-F]{3,4} ' "$work/gdb.out")
grep "last look" "$work/gdb.out"

# Prints the median of the differences of each pair of lines, in milliseconds.
median() {
    awk 'NR % 2 {start = $1; next} {printf "%.3f\n", ($1 - start) / 1e6}' "$work/$1" | sort -n |
        awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'
}
[ -s "$work/ringside" ] || { echo "FAIL ringside dump in GDB: no measurement"; exit 1; }
awk -v memory="$(median memory)" -v ringside="$(median ringside)" -v bytes="$(stat -c %s \
    "$work/ring.bin")" -v events=$((events / rounds)) 'BEGIN {
    printf "ring of %d bytes, %d events a dump\n", bytes, events
    printf "dump binary memory  %8.1f ms\n", memory
    printf "ringside dump       %8.1f ms   %.2f times\n", ringside, ringside / memory
    limit = memory * 1.5 + 30
    printf "%s ringside dump in GDB: %.1f ms, must be at most 1.5 x + 30 ms = %.1f ms\n",
        (ringside <= limit && events > 0 ? "PASS" : "FAIL"), ringside, limit
}'
