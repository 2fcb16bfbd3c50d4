#!/bin/bash
# SPDX-License-Identifier: MIT
# POSIX trace through a GDB server, which is asked by the program and halts the target for each
# look: recording, flushing, periodic snapshots, top. The storm's events carry their numbers
# (images/posix/shared.h): what comes is judged by them, and by what the firmware has counted.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

elf=$firmware/posixstorm-cortex-m3.elf
live() { "$ringside" "$1" --remote "$socket" --elf "$elf" "${@:2}"; }
at_storm() { # COMMAND...: commands of a GDB script, at a target that stands
    { connect "$elf"; printf '%s\n' "$@"; } >"$work/session.gdb"
    gdb_run 60 "$elf" "$work/session.gdb"
}
# begin MOST PAUSE: each source records so many events, the kernel none; threads pause between two.
begin() {
    boot "$elf" && at_storm 'tbreak storm_entry' continue "set var storm_most = $1" \
        "set var storm_pause = $2" 'set *(unsigned *)0x40001008 = 4999999' \
        'ringside filter add rtos_*' detach && grep -q '^after: .* rtos_isr_exit' "$work/gdb.log" &&
        return 0
    cat "$work/gdb.log"
    return 1
}
# The sources are silent: what was counted, and what GDB flushes to the log then, twice.
silence() { # LOG
    at_storm 'set var storm_most = 0' 'tbreak storm_is_silent' continue "ringside flush $1" \
        "ringside flush $1" "ringside save $work/silent.ptr" \
        "$(copy silent recorded=ringside_posix.streams[0].recorded \
            refused=ringside_posix.streams[0].refused)" detach
    grep -q '^flush: 0 events added' "$work/gdb.log" && [ -s "$work/silent.says" ] && return 0
    cat "$work/gdb.log"
    return 1
}
record() { # NAME SECONDS
    live record --policy append --for "$2" -o "$work/$1.log" >"$work/$1.out" 2>"$work/$1.err"
    whole_or_named $? && [ -s "$work/$1.log" ] && return 0
    cat "$work/$1.err"
    return 1
}
# What the firmware had overwritten before the recorder came is no loss of the recording's.
slow() { begin 60 2000000 && record slow 3 && silence "$work/slow.log"; }
slow_balances() {
    local before total
    before=$("$ringside" info --json --elf "$elf" "$work/slow.log" 2>"$work/err" | jq .overwritten)
    total=$(($(firmware_said silent recorded) + $(firmware_said silent refused) - before))
    proven "$work/slow.log" || return 1
    cat "$work/proven"
    [ $(($(proven_count events) + $(proven_count lost))) -eq $total ] &&
        [ "$(proven_count proofs)" -gt 0 ] && return 0
    echo "the firmware counted $total, and $before in front"
    return 1
}
fast() { begin 0xffffffff 100 && record fast 3; }
fast_flushed() {
    local i
    for i in 1 2 3; do
        live flush "$work/fast.log" >>"$work/flushes" 2>"$work/err"
        whole_or_named $? || { cat "$work/err"; return 1; }
    done
    silence "$work/fast.log" && no_more_than_lost "$work/fast.log"
}
# The ring is silent: its events are the log's newest.
ends_as_the_ring() { # LOG
    local part='del(.seq, .ticks, .delta, .seconds, .delta_seconds, .flags, .slot)' lines
    "$ringside" report --json --elf "$elf" "$work/silent.ptr" 2>"$work/err" |
        jq -c "select(.context != \"recorder\") | $part" >"$work/ring.json"
    lines=$(wc -l <"$work/ring.json")
    "$ringside" report --json --elf "$elf" "$1" 2>"$work/err" |
        jq -c "select(.context != \"recorder\") | $part" | tail -n "$lines" >"$work/log.json"
    [ "$lines" -gt 20 ] && cmp "$work/ring.json" "$work/log.json" && return 0
    diff "$work/ring.json" "$work/log.json" | head -n 4
    return 1
}

watches() {
    begin 0xffffffff 4000 || return 1
    live top --json --count 3 --delay 0.5 >"$work/top.json" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    jq -e -s 'length == 3 and .[0].entries < .[2].entries and all(.[]; .state == "running") and
        any(.[].stats.services[]; .name | test("storm_"))' "$work/top.json" >/dev/null ||
        { jq -c '[.entries, .state, .stats.services]' "$work/top.json"; return 1; }
}
periodic() {
    local file proofs=0
    live periodic --every 100 --count 4 "$work/many" >"$work/out" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    [ "$(find "$work/many" -name 'snapshot-*.ptr' | wc -l)" -eq 4 ] ||
        { ls "$work/many"; return 1; }
    for file in "$work"/many/*.ptr; do
        "$ringside" info --json --elf "$elf" "$file" >"$work/info.json" 2>"$work/err"
        more_lost=$(jq .refused "$work/info.json")
        proven "$file" || { echo "in $file"; return 1; }
        proofs=$((proofs + $(proven_count proofs)))
    done
    more_lost=
    [ $proofs -gt 0 ]
}

check "posix remote: slowly: recorded, and flushed in GDB" slow
check "posix remote: slowly: recorded + flushed + lost = produced" slow_balances
check "posix remote: the log ends as the ring" ends_as_the_ring "$work/slow.log"
check "posix remote: fast" fast
check "posix remote: flushed: nothing is torn, nothing comes twice" fast_flushed
check "posix remote: the log ends as the ring that has wrapped" ends_as_the_ring "$work/fast.log"
check "posix remote: top" watches
check "posix remote: periodic snapshots" periodic
exit $((failed > 0))
