#!/bin/bash
# SPDX-License-Identifier: MIT
# posix.sh: tests POSIX traces on the command line: dumps, images, streams, status, filters, exit
# statuses and messages. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any
# failed. Reads BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"

text() { printf '%s' "$1"; zeros $(($2 - ${#1})); }

# An object (docs/formats/posix-ring.md) at 0x20000100: a process block, 2 names of 32 bytes, 2
# stream blocks of 160 bytes, and 2 rings of 64 words. Stream 0 recorded 9 events and holds 5:
# start, two events "door" (one of them in interrupt 15), the unnamed event with truncated data, and
# stop by request. 3 events were overwritten, one was refused, and one had been read.
process() {
    words 0x43525450 1 128 1024 1 0 2 160 192 128 32 2 2 0 0x2004 1000000 64 1
    zeros 56
    text posix_trace_unnamed_userevent 32
    text door 32
}
stream() { # back ring_at state policy head tail recorded overwritten refused
    words 0x53525450 1 128 "$1" "$2" 64 0x2004 1000000 1 "$3" "$4" 64 "$5" "$6" "$7" "$8" "$9"
    zeros 60
    text probe 16
    words 4 2 4 2 # posix_trace_start and door are filtered
}
record() { # position length flags id bytes address thread stamp data...
    local tie=$(($1 | $2 << 16)) first
    first=$((tie | $3 << 28))
    words "$first" $(($4 | $5 << 16)) "$6" "$7" "$8" "${@:9}" $((tie | 0xa << 28))
}
{
    process
    stream 192 512 1 1 36 0 9 3 1
    stream 352 768 0 0 0 0 0 0 0
    record 0 8 8 2 8 0x08000100 0x20000400 100 0 0
    record 8 7 8 33 3 0x08000120 0x20000400 200 0x00030201
    record 15 7 10 33 2 0x08000130 15 250 0x0000ffee
    record 22 7 9 32 4 0x08000140 0x20000400 300 0x44434241
    record 29 7 8 3 4 0x08000150 0x20000400 400 0
    zeros 112
    zeros 256
} >"$work/object"
[ "$(wc -c <"$work/object")" = 1024 ] || { echo "not ok the test's own object"; exit 1; }
image=$work/object@0x20000100

# ---- Images and dumps ----
run info --json "$image"
check "an image: facts" 3 out '"format":"posix","address":536871360' out '"entries_valid":5' \
    out '"events_lost":4' out '"state":\["suspended","not_full","overrun"\]' \
    out '"stream_name":"probe","stream":0,"streams":2,"traced_process":1,"stream_policy":"loop"' \
    out '"overwritten":3,"refused":1,"request_pending":false' err '4 events were lost'
run report "$image"
check "an image: events" 3 \
    out '^  0  002   0x20000400  .* trace start at=0x08000100 filtered=00 00 00 00 00 00 00 00$' \
    out '^  1  021   0x20000400  0.000100000    0.100000  door at=0x08000120 data=01 02 03$' \
    out '^  2  021   interrupt  .* door at=0x08000130 irq=15 data=EE FF$' \
    out '^  3  020  .* posix_trace_unnamed_userevent at=0x08000140 data=41 42 43 44 (cut)$' \
    out '^  4  003  .* trace stop at=0x08000150$'
run report --json "$image"
check "an image: JSON" 3 \
    out '"id":33,"event":"POSIX_TRACE_USER_EVENT","class":"APPL","fields":{"event":1,' \
    out '"address":134218016' \
    out '"names":{"event":"door"' out '"data":"010203"' out '"interrupt":15' \
    out '"truncated":"yes"'
cp "$work/out" "$work/report"
run report --event door "$image"
check "a filter by an event type's name" 3 out 'data=01 02 03' out 'irq=15' no-out 'trace st'
run report --json --ring 0x20000100 "$image"
check "at the process block" 3
cmp -s "$work/out" "$work/report"
status=$?
check "the same report" 0

run save "$image" -o "$work/saved.ptr"
check "saving" 3
run report --json "$work/saved.ptr"
cmp -s "$work/out" "$work/report"
status=$?
check "what was saved gives the same report" 0
run info "$work/saved.ptr"
check "and lies where it lay" 3 out '^address: 0x200001c0' out '^found by: file'
head -c 432 "$work/saved.ptr" >"$work/cut.ptr"
run report "$work/cut.ptr"
check "a file that is cut" 3 out 'door at=0x08000120' no-out 'trace stop'
head -c 300 "$work/saved.ptr" >"$work/cut.ptr"
run report "$work/cut.ptr"
check "a file without a ring" 2 err 'ends before the ring; save the ring again'

# ---- Streams ----
run info --stream 1 "$image"
check "another stream" 0 out '^stream: 1$' out '^stream policy: none$' out '^entries valid: 0$'
run info --stream 2 "$image"
check "a stream that is not there" 1 err 'stream 2: the traced process has streams 0 to 1'
run info --stream x "$image"
check "no number of a stream" 1 err 'use a number from 0 on'
{
    words 0x4b4f4f48 1 64 64 1 1000000 32 0 0 0 0 0 4 1 0 0
    zeros 64
} >"$work/a.hook"
run info --stream 0 "$work/a.hook"
check "formats with one ring have no streams" 1 err 'a hook words trace has one ring only'

# ---- Status and requests ----
run status "$image"
check "status" 3 out '^stream status: suspended$' out '^stream full status: not_full$' \
    out '^stream overrun status: overrun$'
run status --json "$work/a.hook"
check "status of another format" 0 \
    out '^{"stream_status":"running","stream_full_status":"not_full","stream_overrun_status":"no_o'
run filter show "$image"
check "the filter of a dump" 0 out '^not recorded: posix_trace_start door$'
run filter show "$work/a.hook"
check "a format without one" 2 err 'hook ring: not supported by the recorder'
run start "$image"
check "no live target" 1 err 'start: no live target is given; use --pid PID, --openocd SERVER'
run filter set door
check "no live target to filter" 1 err 'no live target is given'
run report --pid 1
check "a process that is not traced" '1 2' err 'process 1: '
run report --pid 1 --openocd 1
check "two targets" 1 err '\-\-pid: --pid cannot be combined with --openocd or --remote'
finish
