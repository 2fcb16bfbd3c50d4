#!/bin/bash
# SPDX-License-Identifier: MIT
# bench_proxy.sh: compares steps and downloads of GDB through `ringside serve --remote --listen`
# with the same ones without it, in turn, from QEMU. Prints the median milliseconds of each, and
# PASS or FAIL. The limit is 1.2 times as long. The figures for a pipe have no limit: there, GDB
# itself needs longer, since it looks for messages of the program at the other end after each byte.
set -u
cd "$(dirname "$0")/../../.." || exit 1
# shellcheck source=/dev/null
source qemu-tests/cases/lib.sh
rounds=${ROUNDS:-9} steps=${STEPS:-200}
elf=$firmware/demo-cortex-m3.elf
start= port=$((20000 + RANDOM % 20000))

listens() { # HOST:PORT
    grep -q "$(printf ':%04X 00000000:0000 0A' "${1#*:}")" /proc/net/tcp
}
stamp() { echo "shell date +%s%N >>$work/$1"; }
session() { # NAME TARGET
    {
        printf '%s\n' 'set pagination off' 'set confirm off' "$2" 'stepi'
        stamp "$1.step"
        for ((i = 0; i < steps; i++)); do echo stepi; done
        stamp "$1.step"
        stamp "$1.load"
        echo load
        stamp "$1.load"
        echo kill
    } >"$work/commands.gdb"
    timeout -k 5 120 gdb-multiarch -nx -q -batch -x "$work/commands.gdb" "$elf" \
        >"$work/gdb.out" 2>&1 </dev/null
}
# Prints the median of the differences of each pair of lines, in milliseconds.
median() {
    awk 'NR % 2 {start = $1; next} {printf "%.3f\n", ($1 - start) / 1e6}' "$work/$1" | sort -n |
        awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'
}
compare() { # WHAT NAME
    awk -v what="$1" -v direct="$(median "direct.$2")" -v through="$(median "through.$2")" \
        -v pipe="$(median "pipe.$2")" 'BEGIN {
        printf "%s through a pipe: %.2f times\n", what, (direct > 0 ? pipe / direct : 0)
        printf "%s %s: %.1f ms without, %.1f ms with the proxy: %.2f times, must be at most 1.20\n",
            (direct > 0 && through <= 1.2 * direct ? "PASS" : "FAIL"), what, direct, through,
            (direct > 0 ? through / direct : 0)
    }'
}
for ((round = 0; round < rounds; round++)); do
    server=127.0.0.1:$((port++)) place=127.0.0.1:$((port++)) gdb_device=tcp:$server
    boot "$elf" || exit 1
    wait_for 5 listens "$server" || exit 1
    session direct "target remote $server"
    boot "$elf" || exit 1
    wait_for 5 listens "$server" || exit 1
    "$ringside" serve -q --elf "$elf" --remote "$server" --listen="$place" >/dev/null 2>&1 &
    proxy=$!
    wait_for 5 listens "$place" || exit 1
    session through "target remote $place"
    kill "$proxy" 2>/dev/null
    boot "$elf" || exit 1
    wait_for 5 listens "$server" || exit 1
    session pipe "$(printf 'target remote | "%s" serve --elf "%s" --remote "%s"' \
        "$ringside" "$elf" "$server")"
done
compare "$steps steps" step
compare "a download" load
