#!/bin/bash
# SPDX-License-Identifier: MIT
# POSIX trace of a target that runs, through the stock OpenOCD: recording, snapshots, filters, start
# and stop, by the program and by OpenOCD's own Tcl.
# The storm's events carry their numbers (images/posix/shared.h): what was recorded is judged by
# them, and by what the firmware itself has counted.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

device_reload=0x40001008 # clocks between two interrupts of the device
live() { "$ringside" "$1" --openocd "$tcl_port" --target chip.mem --elf "$elf" "${@:2}"; }
peek() { echo $(($(ask peek "$(printf '0x%x' $(($1)))"))); }
pause() { ask poke "$(symbol storm_pause)" "$1" >/dev/null; }
storm_goes_on() { [ "$(peek "$(symbol posix_produced)")" -gt 20 ]; }
# What the stream has recorded or refused since it was cleared: words 14 and 16 of its block.
counted() {
    local at
    at=$(($(symbol ringside_posix) + $(peek "$(symbol ringside_posix) + 32")))
    recorded=$(peek "$at + 56")
    refused=$(peek "$at + 64")
    total=$((recorded + refused))
}

start_storm() {
    board posixstorm && wait_for 10 storm_goes_on || return 1
    ask poke $device_reload $((25000000 / 5 - 1)) >/dev/null
    pause 4000000
}
asked() { # VERB...
    live "$@" >"$work/out" 2>"$work/err" && return 0
    cat "$work/out" "$work/err"
    return 1
}
recorder_runs() { [ -s "$work/$1.log" ] && kill -0 "$recorder" 2>/dev/null; }
# record NAME SECONDS: from nothing to nothing: the stream is stopped and cleared before it,
# and stopped after it.
record() {
    local status
    asked stop && asked clear || return 1
    "$ringside" record --openocd "$tcl_port" --target chip.mem --elf "$elf" \
        -o "$work/$1.log" >"$work/$1.out" 2>"$work/$1.err" </dev/null &
    recorder=$!
    wait_for 20 recorder_runs "$1" || { cat "$work/$1.err"; kill "$recorder"; return 1; }
    sleep 0.3
    asked start && sleep "$2" && asked stop
    status=$?
    pause 4000000
    sleep 1
    kill -INT "$recorder"
    wait "$recorder"
    whole_or_named $? && [ $status -eq 0 ] && return 0
    cat "$work/$1.err"
    return 1
}
# What was recorded and what was reported lost are all that the firmware counted.
balances() { # NAME
    local recorded refused total
    counted
    proven "$work/$1.log" || return 1
    cat "$work/proven"
    "$ringside" info --json "$work/$1.log" >"$work/info" 2>"$work/err"
    [ $(($(proven_count events) + $(proven_count lost))) -eq "$total" ] &&
        [ "$(proven_count proofs)" -gt 0 ] && jq -e .events_lost_exact "$work/info" && return 0
    echo "the firmware counted $recorded recorded, $refused refused"
    return 1
}
slow() { record slow 3 && balances slow; }
fast() {
    (sleep 1.5; pause 100) &
    record fast 3 && balances fast && [ "$(proven_count lost)" -gt 0 ]
}
verbs() {
    local verb
    for verb in info objects 'last 5' stats status; do
        # shellcheck disable=SC2086
        "$ringside" $verb --elf "$elf" "$work/slow.log" >"$work/out" 2>"$work/err"
        whole_or_named $? && [ -s "$work/out" ] || { echo "$verb"; cat "$work/err"; return 1; }
    done
}

snapshots() {
    asked stop || return 1
    tcl "ringside snapshot $work/one.ptr" >"$work/out"
    live save -o "$work/two.ptr" 2>"$work/err"
    whole_or_named $? && [ -s "$work/two.ptr" ] && cmp "$work/one.ptr" "$work/two.ptr" &&
        proven "$work/one.ptr" && [ "$(proven_count proofs)" -gt 0 ] && return 0
    cat "$work/out" "$work/err"
    return 1
}
by_tcl() {
    tcl ringside clear >"$work/out"
    tcl ringside start >>"$work/out"
    live status >"$work/status" && grep -qx 'stream status: running' "$work/status" ||
        { cat "$work/out" "$work/status"; return 1; }
    tcl ringside filter add storm_d >>"$work/out"
    sleep 0.3
    live filter show >"$work/filter" && grep -qx 'not recorded: storm_d' "$work/filter" ||
        { cat "$work/out" "$work/filter"; return 1; }
    tcl ringside info | grep -q storm_d || { tcl ringside info; return 1; }
    tcl ringside filter sub storm_d >>"$work/out"
    tcl ringside stop >>"$work/out"
    live status >"$work/status" && grep -qx 'stream status: suspended' "$work/status" ||
        { cat "$work/out" "$work/status"; return 1; }
}
# A snapshot each, of a target that runs: whole records only.
periodic() {
    local file proofs=0
    asked clear && asked start || return 1
    tcl "ringside periodic start 100 $work/many" >"$work/out"
    wait_for 30 several_snapshots
    tcl ringside periodic stop >>"$work/out"
    several_snapshots || { cat "$work/out"; return 1; }
    for file in "$work"/many/*; do
        "$ringside" info --json --elf "$elf" "$file" >"$work/info.json" 2>"$work/err"
        more_lost=$(jq .refused "$work/info.json")
        proven "$file" || { echo "in $file"; return 1; }
        proofs=$((proofs + $(proven_count proofs)))
    done
    more_lost=
    [ $proofs -gt 0 ]
}
several_snapshots() { [ "$(find "$work/many" -name 'snapshot-*' | wc -l)" -ge 4 ]; }

check "posix record: starts" start_storm
check "posix record: slowly: recorded + lost = produced" slow
check "posix record: the verbs read the log" verbs
check "posix record: fast: recorded + lost = produced" fast
check "posix record: a snapshot: the same file by OpenOCD's Tcl and by ringside save" snapshots
check "posix record: OpenOCD's Tcl: clear, start, filter, stop" by_tcl
check "posix record: OpenOCD's Tcl: periodic snapshots" periodic
stop_openocd
stop_probe
exit $((failed > 0))
