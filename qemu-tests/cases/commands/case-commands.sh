#!/bin/bash
# SPDX-License-Identifier: MIT
# The verbs that are the same for every format of trace, on boards that run: status, flush, start,
# stop, clear, filter, top; in GDB, and by the program through a GDB server and through OpenOCD.
# What a flush brings is checked by the ring that GDB saves at the same stop; what was requested of
# a target, by its own words in memory.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

rkh_words=version=2.4.4,chk=1,nseq=1,ts=4,ptr=4,sig=1,fun=4
# IMAGE FORMAT: from here on it is the board.
use() {
    elf=$firmware/$1-cortex-m3.elf
    format=$2
    title="verbs, $2"
    words=()
    [ "$2" != rkh ] || words=(--rkh $rkh_words)
}
live() { "$ringside" "$1" --remote "$socket" --elf "$elf" "${words[@]}" "${@:2}"; }
session() { # COMMAND...: of GDB, at a target that is stopped
    {
        connect "$elf"
        [ "$format" != rkh ] || echo "ringside set rkh $rkh_words"
        printf '%s\n' "$@"
    } >"$work/session.gdb"
    gdb_run 60 "$elf" "$work/session.gdb"
}
starts() { boot "$elf" && session "$(run_for 0.5)" detach; }

events_of() { # FILE...: those of the target, without what depends on their place
    "$ringside" report --json --elf "$elf" "${words[@]}" "$@" 2>"$work/err" |
        jq -c 'select(.id < 65536) |
            del(.seq, .ticks, .delta, .seconds, .delta_seconds, .flags, .slot, .isr) |
            # ThreadX stores the address that it allocated (10, 20) when a thread has waited for it.
            if .fields["block addr"] then .fields["block addr"] = 0 | .info[1] = 0 else . end |
            # A log proves more names of deleted objects than the ring does, and numbers them.
            (.thread_name, .names[]?) |= (strings |= sub("~[0-9]*$"; "")) |
            if .thread >= 281474976710656 then .thread = "deleted" else . end'
}
# The newest events of the log are those of the ring, except the oldest, which a target that runs
# might have been writing, and for those that the kernel might still have patched when they were
# flushed.
ends_as() { # LOG RING
    local lines
    "$ringside" report --json "${words[@]}" "$1" 2>"$work/err" |
        jq -r 'select((.flags // []) | index("provisional")) |
            "\"raw_stamp\":\(.raw_stamp),"' >"$work/provisional"
    events_of "$2" | tail -n +2 | grep -vFf "$work/provisional" >"$work/ring.json"
    lines=$(wc -l <"$work/ring.json")
    events_of "$1" | grep -vFf "$work/provisional" | tail -n "$lines" >"$work/log.json"
    [ "$lines" -gt 10 ] && cmp "$work/ring.json" "$work/log.json" && return 0
    echo "$lines events"
    diff "$work/ring.json" "$work/log.json" | head -n 4
    return 1
}
flushes_in_gdb() {
    rm -f "$work/gdb.log" "$work/a.log"
    session "ringside flush $work/a.log" "ringside flush $work/a.log" "$(run_for 0.3)" \
        "ringside flush $work/a.log" "ringside flush $work/a.log" "ringside save $work/a.ring" \
        detach
    grep '^flush: ' "$work/gdb.log" >"$work/flushes"
    [ "$(wc -l <"$work/flushes")" -eq 4 ] &&
        [ "$(grep -c '^flush: 0 events added' "$work/flushes")" -eq 2 ] &&
        sed -n '1p; 3p' "$work/flushes" | grep -vq '^flush: 0 ' && ends_as "$work/a.log" \
        "$work/a.ring" && return 0
    cat "$work/gdb.log"
    return 1
}
# The program continues the log where GDB left it.
flushes() {
    local i
    for i in 1 2 3; do
        live flush "$work/a.log" >>"$work/flushes" 2>"$work/err"
        whole_or_named $? || { cat "$work/err"; return 1; }
    done
    session "ringside flush $work/a.log" "ringside save $work/b.ring" detach
    ends_as "$work/a.log" "$work/b.ring"
}

status_is() { # WORD: in GDB, by the program, as text and as JSON, and of the saved ring
    session 'ringside status' detach
    live status -q >"$work/status" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    live status -q --json >"$work/status.json" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    grep -qx "stream status: $1" "$work/gdb.log" && grep -qx "stream status: $1" "$work/status" &&
        grep -q '^stream full status: [not_]*full$' "$work/status" &&
        grep -q '^stream overrun status: [no_]*overrun$' "$work/status" &&
        jq -e --arg word "$1" '(.stream_status // "unknown") == $word and
            (.stream_full_status | test("full")) and (.stream_overrun_status | test("overrun"))' \
            "$work/status.json" >/dev/null && return 0
    cat "$work/gdb.log" "$work/status" "$work/status.json"
    return 1
}
log_status() {
    "$ringside" status -q "$work/a.log" >"$work/status"
    whole_or_named $? && grep -qx 'flush status: not_flushing' "$work/status" &&
        grep -qx 'flush error: 0' "$work/status" && grep -q '^log full status: ' "$work/status"
}

# refuses STATUS PATTERN VERB...: by the program.
refuses() {
    local expected=$1 pattern=$2 status
    live "${@:3}" -q >"$work/out" 2>"$work/err"
    status=$?
    [ $status -eq "$expected" ] && grep -q "$pattern" "$work/err" && return 0
    echo "status $status: $(cat "$work/out" "$work/err")"
    return 1
}
does() { # PATTERN VERB...
    local pattern=$1
    live "${@:2}" -q >"$work/out" 2>"$work/err" && grep -q "$pattern" "$work/out" && return 0
    cat "$work/out" "$work/err"
    return 1
}
# What the target's memory holds, by GDB.
word_is() { # EXPRESSION VALUE
    session "printf \"word=%u\\n\", (unsigned)($1)" detach
    grep -qx "word=$2" "$work/gdb.log" && return 0
    grep word= "$work/gdb.log" || tail -n 3 "$work/gdb.log"
    return 1
}
asks_in_gdb() { # PATTERN COMMAND...
    session "${@:2}" "$(run_for 0.1)" detach
    grep -q "$1" "$work/gdb.log" && return 0
    tail -n 5 "$work/gdb.log"
    return 1
}
watches() {
    live top --batch --count 2 --delay 0.3 >"$work/out" 2>"$work/err"
    whole_or_named $? && [ "$(grep -c "^$socket: $format, running" "$work/out")" -eq 2 ] &&
        grep -q '^ *SEQ  THREAD ' "$work/out" && return 0
    cat "$work/out" "$work/err"
    return 1
}
follows_a_log() {
    rm -f "$work/t.log"
    live top --batch --count 3 --delay 0.3 -o "$work/t.log" >"$work/out" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    "$ringside" top --json --elf "$elf" "${words[@]}" "$work/t.log" >"$work/top.json" 2>"$work/err"
    whole_or_named $? && jq -e '.state == "ended" and .entries > 0 and .stats != null' \
        "$work/top.json" >/dev/null && return 0
    cat "$work/top.json" "$work/err"
    return 1
}
all_formats() { # STATUS
    check "$title: starts" starts
    check "$title: flush in GDB: what is new, once" flushes_in_gdb
    check "$title: flush: the log continues" flushes
    check "$title: status" status_is "$1"
    check "$title: status of the log" log_status
    check "$title: top" watches
    check "$title: top: of its log" follows_a_log
}

no_change='on: not a change of the filter; use show'

use demo threadx
all_formats running
bits=_tx_trace_event_enable_bits
check "$title: filter shows" does '^0xffffffff (all classes are recorded)$' filter show
check "$title: filter sub" does '^after: 0xffffff9f (not recorded: mutex queue)$' \
    filter sub mutex queue
check "$title: filter sub: the word" word_is $bits $((0xffffff9f))
check "$title: filter in GDB" asks_in_gdb '^after: 0xffffffbf (not recorded: queue)$' \
    'ringside filter add mutex'
check "$title: filter in GDB: the word" word_is $bits $((0xffffffbf))
check "$title: filter in GDB: nothing is left to be done" asks_in_gdb '^filter: written$' \
    'ringside filter add mutex'
check "$title: filter in GDB, shown" asks_in_gdb '^0xffffffbf (not recorded: queue)$' \
    'ringside filter'
check "$title: filter set" does '^after: 0x80000001 ' filter set user 1
check "$title: filter set: the word" word_is $bits $((0x80000001))
check "$title: filter none" does '^after: 0x00000000 (nothing is recorded)$' filter set none
check "$title: no such class" refuses 1 'usr: unknown class of events; use one of: none' \
    filter set usr
check "$title: a word of RKH" refuses 1 "$no_change" filter on all
for verb in start stop clear; do
    check "$title: $verb" refuses 2 "only functions of the kernel start and stop" $verb
done

use hookstorm hook
all_formats running
check "$title: stop" does '^stop: done$' stop
check "$title: stop: its flag" word_is 'ringside_hooks.flags & 1' 0
check "$title: its status" status_is suspended
check "$title: start in GDB" asks_in_gdb '^start: requested' 'ringside start'
check "$title: start: its flag" word_is 'ringside_hooks.flags & 1' 1
for verb in clear 'filter show' 'filter set all' filter; do
    # shellcheck disable=SC2086
    check "$title: $verb" refuses 2 'hook ring: not supported by the recorder' $verb
done

use rkhstorm rkh
all_formats unknown
for verb in start stop clear 'filter show'; do
    # shellcheck disable=SC2086
    check "$title: $verb" refuses 2 'use ringside filter on|off TERM' $verb
done

use posixstorm posix
all_formats running
check "$title: stop" does '^stop: done$' stop
check "$title: stop: its word" word_is 'ringside_posix.streams[0].state & 2' 0
check "$title: its status" status_is suspended
check "$title: clear" does '^clear: done$' clear
check "$title: clear: its word" word_is 'ringside_posix.streams[0].clears_done' 1
check "$title: start in GDB" asks_in_gdb '^start: requested' 'ringside start'
check "$title: filter" does '^after: not recorded: storm_c$' filter set storm_c
check "$title: filter in GDB, shown" asks_in_gdb '^not recorded: storm_c$' 'ringside filter'
check "$title: filter without a word" does '^not recorded: storm_c$' filter
check "$title: a word of RKH" refuses 1 "$no_change" filter on all
check "$title: no such name" refuses 1 'no event type has that name' filter add storm_z
check "$title: no such stream" refuses 1 'the traced process has streams 0 to 1' \
    status --stream 9

# Through OpenOCD, which does not halt: pass by pass nothing is torn or comes twice.
through_openocd() {
    board storm && wait_for 10 storm_goes_on && ask poke "$(symbol storm_pause)" 20000 >/dev/null
}
storm_goes_on() { [ $(($(ask peek "$(symbol bout_trace_inserted)"))) -gt 500 ]; }
# At least five flushes, and as many as bring 101 entries: on a slow day, each of them brings few.
flushes_through_openocd() {
    local i
    for ((i = 1; i <= 60; i++)); do
        "$ringside" flush "$work/o.log" --openocd "$tcl_port" --target chip.mem --elf "$elf" \
            >>"$work/flushes" 2>"$work/err"
        whole_or_named $? || { cat "$work/err"; return 1; }
        record_lines "$work/o.log" >"$work/lines" || return 1
        ((i < 5)) || [ "$(grep -c '^E' "$work/lines")" -le 100 ] || break
    done
    build/recordcheck certain <"$work/lines" && [ "$(grep -c '^E' "$work/lines")" -gt 100 ]
}
stop_qemu
title='verbs, OpenOCD'
check "$title: starts" through_openocd
check "$title: flush: nothing is torn, nothing comes twice" flushes_through_openocd
exit $((failed > 0))
