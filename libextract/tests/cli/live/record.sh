#!/bin/bash
# SPDX-License-Identifier: MIT
# record.sh: tests the command line of `ringside record`: usage errors, its end, and the files that
# it leaves. The target is a board in QEMU, through its gdbstub. Prints "ok NAME" or "not ok NAME:
# why" for each test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=board.sh
. "$(dirname "$0")/board.sh"
prefix='record: '

log=$work/a.log

run record
check "no target and no file" 1 err 'record: no output file is given; use --openocd SERVER'
run record -o "$log"
check "no target" 1 err 'record: no live target is given'
run record --remote "$work/none" -o "$log" --policy never
check "unknown policy" 1 err '--policy: "never" is not allowed; use loop, until_full or append'
for size in 0 k 1T -5 99999999999G; do
    run record --remote "$work/none" -o "$log" --size "$size"
    check "size $size" 1 err 'is not allowed; use bytes, or a number followed by k, M or G'
done
for number in 0 -1 x 1e3 ''; do
    run record --remote "$work/none" -o "$log" --for "$number"
    check "seconds \"$number\"" 1 err '--for: .* is not allowed'
    run record --remote "$work/none" -o "$log" --every "$number"
    check "milliseconds \"$number\"" 1 err '--every: .* is not allowed'
done
run report --sync "$elf@0"
check "options of record with another command" 1 err '--sync: .*; use it with record'
run record --event x --remote "$work/none" -o "$log"
check "filters" 1 err "--event: 'record' does not take this option"
run record --remote "$work/none" --elf "$elf" -o "$log"
check "no server" 2 err "$work/none: "
[ -e "$log" ] && status=9
check "no server: no file is made" 2
run record --remote "$work/none" --until '' -o "$log"
check "until nothing" 1 err 'empty name'

start_board
sleep 0.5 # the firmware starts its trace
board=(record --remote "$work/board" --elf "$elf")
field() { jq -r "$1" "$work/out"; }

run "${board[@]}" -o "$log" --for 1.5 --json
check "for a time" "0 3" \
    err 'events/s can be recorded without loss; ring of [0-9]* entries' \
    err 'halts the target for each poll' \
    err 'halted [0-9]* times' out '"reason":"time"'
entries=$(field .entries)
run info --json "$log"
status=$(jq -r "if .entries_valid == $entries and .entries_valid > 20 and .log.closed then 0
    else 9 end" "$work/out")
check "the log holds what the summary says" 0
run "${board[@]}" -o "$log" --for 1
check "an existing log is not overwritten" 2 err "$log: "
run info --json "$log"
status=$([ "$(jq .entries_valid "$work/out")" = "$entries" ]; echo $?)
check "and is as it was" 0

run "${board[@]}" -o "$work/q.log" --for 0.5 --quiet
check "quiet" "0 3" no-err . no-out .
run "${board[@]}" -o "$work/until.log" --until 'TX_TRACE_QUEUE_SEND,TX_TRACE_THREAD_SLEEP' --json
check "until an event" "0 3" out '"reason":"event"'
run report --json --event 'TX_TRACE_QUEUE_SEND,TX_TRACE_THREAD_SLEEP' "$work/until.log"
check "which is in the log" "0 3" out '"event"'
run "${board[@]}" -o "$work/full.log" --policy until_full --size 64k --json
check "until full" "0 3" out '"reason":"full"'
run info "$work/full.log"
check "a full log is readable" "0 3" out '^policy: until_full'
run "${board[@]}" -o "$work/more.log" --policy append --for 0.5
run "${board[@]}" -o "$work/more.log" --policy append --for 0.5
check "append goes on" "0 3"
run info "$work/more.log"
check "with two recordings" "0 3" out '^recordings: 2'

interrupt() { # SIGNAL
    "$ringside" "${board[@]}" -o "$work/$1.log" --json >"$work/out" 2>"$work/err" </dev/null &
    local pid=$!
    for _ in $(seq 200); do
        [ -s "$work/$1.log" ] && break
        sleep 0.05
    done
    kill "-$1" "$pid"
    wait "$pid"
    status=$?
}
for signal in INT TERM HUP; do
    # A shell starts jobs with SIGINT ignored. The program handles SIGINT nevertheless.
    interrupt $signal
    check "SIG$signal ends in order" "0 3" out '"reason":"signal"'
    run info "$work/$signal.log"
    check "SIG$signal: the log is closed" "0 3" out '^closed: yes'
done

# A file that cannot grow, as on a full disk. SIGXFSZ, the signal of the limit, does not end the
# program.
(
    ulimit -f 40
    exec timeout 60 "$ringside" "${board[@]}" -o "$work/disk.log" --every 1
) >"$work/out" 2>"$work/err" </dev/null
status=$?
check "no room" 2 err "disk.log: "
timeout 60 "$ringside" "${board[@]}" -o "$work/sum.log" --for 0.2 --json >/dev/full \
    2>"$work/err" </dev/null
status=$?
: >"$work/out"
check "no room for the summary" 2 err '^ringside: standard output: No space left'
run info "$work/disk.log"
check "no room: the log is readable" "0 3" out '^entries valid: [1-9]'
finish
