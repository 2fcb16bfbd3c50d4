#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb-reader tests: `ringside record`. What the target wrote until each stop is in the log exactly
# once, or is reported as lost. Firmware and program number their events from 0 on. At each
# checkpoint, the number of events is known.
# shellcheck source=../../libextract/tests/lib.sh
. "$(dirname "$0")/../../libextract/tests/lib.sh"
use_gdb
needs_gdb
log=$work/taken.log
target=$here/../../libextract/recorder/target

# record_on_board COMMAND...: runs commands on a fresh board at its first checkpoint. Further
# `continue` commands lead to the others.
record_on_board() {
    rm -f "$log"
    boot board
    session "$elf" "target remote $work/board.sock" 'break checkpoint' continue 'echo <<<\n' "$@"
    kill -9 "$board" 2>/dev/null || true
}
build_program() { # [COMPILER OPTION...]
    cc -std=gnu11 -g -O1 -fno-pie -no-pie -I"$target" -I"$here/native" "$@" \
        -DRINGSIDE_TRACE_PORT='"port.h"' \
        "$here/native/program.c" "$target/ringside_trace.c" -o "$work/program"
}
# Runs commands in the same way for a program on this host.
record_program() {
    rm -f "$log"
    session "$work/program" 'break checkpoint' run 'echo <<<\n' "$@"
}
read_log() {
    status=0
    "$BUILD/ringside" report --json "$log" >"$work/events" 2>"$work/err" || status=$?
    "$BUILD/ringside" info --json "$log" >"$work/info" 2>/dev/null || [ $? -eq "$status" ]
}
is_whole() { [ "$status" -eq 0 ] || { echo "status $status"; cat "$work/err"; return 1; }; }
has_losses() { [ "$status" -eq 3 ]; }
# Checks that the numbers of the events in the log are exactly these, in this order.
numbers_are() { # NUMBER...
    jq 'select(.id == 4096) | .fields.info1' "$work/events" >"$work/got"
    printf '%s\n' "$@" >"$work/wanted"
    same "the events' numbers" "$work/wanted" "$work/got"
}
# Checks the numbers of the program's events, which are little-endian words.
steps_are() { # NUMBER...
    jq -r 'select(.names.event == "step") | .data' "$work/events" >"$work/got"
    printf '%08x\n' "$@" | sed 's/\(..\)\(..\)\(..\)\(..\)/\4\3\2\1/' >"$work/wanted"
    same "the events' numbers" "$work/wanted" "$work/got"
}
marks_are() { # "NAME COUNT"...: what stands between the events, as often as that
    jq -r '.event | select(startswith("RINGSIDE_"))' "$work/events" | sort | uniq -c |
        awk '{print $2, $1}' >"$work/got"
    printf '%s\n' "$@" >"$work/wanted"
    same "the marks" "$work/wanted" "$work/got"
}
log_is() { # JQ-CONDITION
    jq -e "$1" "$work/info" >/dev/null || { echo "not so: $1"; cat "$work/info"; return 1; }
}

test_every_stop() {
    record_on_board "ringside record $log" 'print $ringside_events' continue continue \
        'ringside record' 'ringside status' 'ringside record off' 'print $ringside_events' \
        'print $ringside_lost' 'print $ringside_status' 'ringside record'
    has '^record: 40 events in .*taken.log, 0 lost, 0 resets; '
    has '^\$1 = 40$'
    has '^record: 120 events in .*taken.log, 0 lost, 0 resets; '
    has '^\$2 = 120$'
    has '^\$3 = 0$'
    has '^\$4 = 0$'
    has '^record: off$'
    lacks 'events lost'
    read_log
    is_whole
    numbers_are $(seq 0 119)
    marks_are 'RINGSIDE_START 1' 'RINGSIDE_STOP 1'
}

# There are 80 events between two stops, and the ring has 64 slots.
test_losses() {
    record_on_board 'tbreak checkpoint if n == 120' "ringside record $log" 'delete 1' continue \
        'print $ringside_status' 'ringside record off' 'print $ringside_status'
    has '^record: (at least )?[0-9]+ events? lost$'
    has '^\$1 = 3$'
    has '^\$2 = 3$'
    read_log
    has_losses
    lost=$(jq -s 'map(select(.event == "RINGSIDE_LOST") | .lost_at_least) | add' "$work/events")
    shown=$(jq -s 'map(select(.id == 4096)) | length' "$work/events")
    [ "$((lost + shown))" -eq 120 ]
    [ "$shown" -ge 100 ]
    jq 'select(.id == 4096) | .fields.info1' "$work/events" | sort -n | uniq -d >"$work/twice"
    [ ! -s "$work/twice" ]
    jq -r 'select(.id == 4096) | .fields | select(.info2 != 2 * .info1 or .info3 != 3 * .info1)' \
        "$work/events" >"$work/torn"
    [ ! -s "$work/torn" ]
}

# Both features use the stops. The user's own hook-stop runs first, and is restored at the end.
test_hooks() {
    printf '%s\n' 'define hook-stop' 'echo MINE\n' end >"$work/hook.gdb"
    record_on_board "source $work/hook.gdb" 'ringside auto on 3' "ringside record $log" continue \
        'ringside auto off' continue 'ringside record off' 'show user hook-stop' 'echo <end>\n'
    read_log
    is_whole
    numbers_are $(seq 0 119)
    [ "$(grep -c '^MINE' "$out")" -eq 2 ]
    [ "$(grep -c info1= "$out")" -eq 3 ]
    sed -n '/^User command "hook-stop"/,$p' "$out" >"$work/tail"
    grep -q 'echo MINE' "$work/tail"
    ! grep -q _ringside "$work/tail"
}

# The user defines a hook-stop during the recording. The command `ringside record` installs its own
# again.
test_hook_defined_since() {
    printf '%s\n' 'define hook-stop' 'echo MINE\n' end >"$work/hook.gdb"
    record_on_board "ringside record $log" "source $work/hook.gdb" 'ringside record' continue \
        continue 'ringside record'
    has '^record: 120 events in '
    [ "$(grep -c '^MINE' "$out")" -eq 2 ]
}

# GDB quits. The log is complete up to the last stop.
test_quit() {
    record_on_board "ringside record $log" continue
    [ ! -e "$log.lock" ]
    read_log
    is_whole
    numbers_are $(seq 0 99)
    marks_are 'RINGSIDE_START 1' 'RINGSIDE_STOP 1'
}

# GDB is killed. The log is complete up to then, except for entries that services may still patch.
test_killed() {
    record_on_board "ringside record $log" continue 'shell kill -9 $PPID'
    status=0
    "$BUILD/ringside" report --json "$log" >"$work/events" 2>/dev/null || status=$?
    [ "$status" -eq 3 ]
    jq 'select(.id == 4096) | .fields.info1' "$work/events" >"$work/got"
    seq 0 $(($(wc -l <"$work/got") - 1)) >"$work/wanted"
    same "the events' numbers" "$work/wanted" "$work/got"
    [ "$(wc -l <"$work/got")" -ge 97 ]
}

test_stop_is_off() {
    record_on_board "ringside record $log" 'ringside record stop' continue 'ringside record'
    has '^record: off$'
    read_log
    is_whole
    numbers_are $(seq 0 39)
}

test_append() {
    record_on_board "ringside record $log --policy append" continue 'ringside record off' \
        "ringside flush $log" continue "ringside flush $log"
    has '^flush: 0 events added$'
    has '^flush: 20 events added$'
    read_log
    is_whole
    numbers_are $(seq 0 119)
}

# The log has 16 KiB, which is enough for about 440 events.
test_until_full() {
    build_firmware "$work/large.elf" -DEVENTS=2000
    elf=$work/large.elf
    record_on_board "ringside record $log --policy until_full --size 16k" continue continue \
        'ringside record' 'ringside record off' 'ringside record'
    has '^ringside: .*full'
    has '^record: the log is full; '
    has '^record: off$'
    read_log
    jq 'select(.id == 4096) | .fields.info1' "$work/events" >"$work/got"
    seq 0 $(($(wc -l <"$work/got") - 1)) >"$work/wanted"
    same "the events' numbers" "$work/wanted" "$work/got"
    [ "$(wc -l <"$work/got")" -ge 250 ]
    log_is '.log.policy == "until_full"'
}

test_usage() {
    echo mine >"$work/mine"
    record_on_board 'ringside record off' 'echo not here\n'
    has 'record off: no recording is running'
    lacks 'not here'
    for words in '--policy' 'x.log --policy always' 'x.log --size big' 'x.log --size' \
        'x.log --every 10' 'x.log now' 'off now' "$work/mine" "$work" ; do
        record_on_board "ringside record $words" 'echo not here\n'
        has 'ringside: '
        lacks 'not here|internal-error'
    done
    [ "$(cat "$work/mine")" = mine ]
    record_on_board "ringside record $log" "ringside record $log.2" 'echo not here\n'
    has 'record: a recording is running; use .ringside record off'
    [ ! -e "$log.2" ]
}

test_without_a_target() {
    rm -f "$log"
    session "$elf" "ringside record $log" 'echo not here\n'
    has 'GDB has no board, process or core'
    lacks 'not here'
    session "$elf" 'ringside record' 'help ringside record' 'echo end\n'
    has '^record: off$'
    has '^Usage: ringside record '
    has '^end$'
    [ ! -e "$log" ]
}

# A recording that starts before the trace waits for the ring, as on the command line.
test_before_the_trace() {
    rm -f "$log"
    boot board
    session "$elf" "target remote $work/board.sock" 'tbreak start_trace' continue \
        "ringside record $log" 'break checkpoint' continue continue continue 'ringside record off'
    has '^record: 120 events in '
    read_log
    is_whole
    numbers_are $(seq 0 119)
}

test_program() {
    build_program
    record_program "ringside record $log" 'ignore 1 3' continue continue 'delete' \
        'break program.c:30' continue 'ringside record off'
    has '^record: 101 events in .*taken.log, 0 lost, 0 resets; '
    read_log
    is_whole
    steps_are $(seq 0 99)
    marks_are 'RINGSIDE_START 1' 'RINGSIDE_STOP 1'
}

# The program runs to its end. It is not known what it wrote after the last stop.
test_program_that_ends() {
    build_program
    record_program "ringside record $log" continue 'delete' continue 'ringside record off' \
        'print $ringside_status'
    has '^record: the target does not answer$'
    has '^\$1 = 3$'
    read_log
    steps_are $(seq 0 9)
    marks_are 'RINGSIDE_GONE 1' 'RINGSIDE_LOST 1' 'RINGSIDE_START 1' 'RINGSIDE_STOP 1'
    log_is '.events_lost == null'
}

# The program is position-independent. Its ring is found, and its functions have names, both in GDB
# and in the log.
test_program_loaded_anywhere() {
    build_program -fPIE -pie
    record_program 'ringside last 1' "ringside record $log" continue 'ringside record off'
    has ' step at=main\+0x[0-9a-f]+ \(.*program\.c:[0-9]+\) data=04 00 00 00$'
    read_log
    steps_are $(seq 0 9)
    "$BUILD/ringside" report --event step --elf "$work/program" "$log" >"$out"
    [ "$(grep -cE ' step at=main\+0x[0-9a-f]+ \(.*program\.c:[0-9]+\) ' "$out")" -eq 10 ]
    "$BUILD/ringside" report --event step "$log" >"$out"
    lacks 'at=main'
}

# The program is started again, and has another ring at the same address.
test_program_run_again() {
    build_program
    record_program "ringside record $log" continue run continue continue 'ringside record off'
    has '^record: the target was reset, or its trace enabled again$'
    read_log
    has_losses
    steps_are $(seq 0 9) $(seq 0 14)
}

run_tests
