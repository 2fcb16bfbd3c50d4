#!/bin/bash
# SPDX-License-Identifier: MIT
# logs.sh: tests the program `ringside` with trace logs, which are made here byte by byte, following
# docs/formats/log.md. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any
# failed. Reads BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
shopt -s lastpipe # a block at the end of a pipe counts on

# lines NAME COUNT: checks the number of lines of the last output.
lines() {
    local count
    count=$(wc -l <"$work/out")
    if [ "$count" = "$2" ]; then ok "$1"; else fail "$1" "$count lines, not $2"; fi
}

longs() { # N...: 64-bit little-endian words
    local n
    for n in "$@"; do words $((n & 0xffffffff)) $((n >> 32 & 0xffffffff)); done
}

# ---- The log's blocks ----
number=0 first=0

# block TYPE KIND FLAGS COUNT FIRST A B: prints a block with standard input as its payload, and with
# its checksum.
block() {
    local w one=0 two=0 length
    cat >"$work/payload"
    length=$(wc -c <"$work/payload")
    {
        printf RLBK
        words $(($1 | $2 << 16)) "$3" "$length" "$4" 0
        longs $number 0 1767225600000000000 "$5" "$6" "$7" 0
    } >"$work/head"
    {
        cat "$work/payload"
        zeros $(((8 - length % 8) % 8))
    } >"$work/body"
    for w in $(cat "$work/head" <(zeros 16) "$work/body" | od -An -v -tu4); do
        one=$((one + w))
        two=$((two + one))
    done
    cat "$work/head"
    longs $one $two
    cat "$work/body"
    number=$((number + 1))
}

section() { # POLICY
    {
        printf RINGSIDE
        words 1 4096 "$1" 1
        longs 0 1767225600000000000
        words 0 0
        printf by-hand && zeros 57
    } | block 1 0 0 0 0 0 0
}

# A ring at 0x20000000: a header of 48 bytes, 1 object of 48 bytes, 4 entries of 32 bytes.
header() {
    words 0x54585442 0xffffffff 0x20000000 0x20000030
    printf '\0\0\x20\0'
    words 0x20000060 0x20000060 0x200000e0 0x20000060 0xaaaaaaaa 0xbbbbbbbb 0xcccccccc
}
ring() {
    { printf threadx && zeros 9 && longs 0x20000000 0 0 && words 48 1 4 0 && header; } |
        block 2 0 0 0 0 0 0
}
objects() {
    {
        longs 0x20000030
        printf '\0\001\x80\020' && words 0x20004000 0x20008000 1024 && printf 'main' && zeros 28
    } | block 3 0 0 0 0 0 0
}

# entries STAMP...: prints an ENTRIES block with these timestamps.
entries() {
    local stamp
    for stamp in "$@"; do words 0x20004000 0x80100010 69 "$stamp" 0x20005000 0 0 3; done |
        block 4 0 0 $# $first 0 0
    first=$((first + $#))
}
loss() { # KIND FLAGS LOST MODULUS
    first=$((first + $3))
    block 5 "$1" "$2" 0 $first "$3" "$4" </dev/null
}
mark() { printf %s "$2" | block 6 "$1" 0 0 $first 0 0; } # KIND TEXT
closing() { longs $first 0 1 0 0 0 0 0 | block 7 0 0 0 $first 0 0; }

start() { # POLICY
    number=0 first=0
    section "$1" && ring && objects && mark 1 ''
}
whole() { start 2 && entries 100 110 && entries 120 130 140 && mark 2 '' && closing; }

whole >"$work/whole.log"

# ---- A whole log ----
run info "$work/whole.log"
check "info" 0 out '^found by: log$' out '^entries total: 5$' out '^entries valid: 5$' \
    out '^events lost: 0$' out '^losses: none$' out '^wrapped: no$' out '^objects: 1$' \
    out '^span ticks: 40$' out '^state: suspended, not_full, no_overrun$' out '^policy: append$' \
    out '^created: 1767225600000000000 (2026-01-01T00:00:00Z)$' out '^creator: by-hand$' \
    out '^closed: yes$' out '^recordings: 1$' no-err .
run info --json "$work/whole.log"
check "info as JSON" 0 out '"entries_total":5,"entries_valid":5,"entries_damaged":0' \
    out '"events_lost":0,"events_lost_at_least":0,"events_lost_at_most":0,' \
    out '"gaps":0,"gaps_not_exact":0,"losses":\[\],"wrapped":false' \
    out '"log":{"policy":"append","limit":null,"section_bytes":4096,' \
    out '"closed":true,"writing":false,"cut":false,"blocks":'
run report "$work/whole.log"
check "report" 0 out '^  0  F11   recorder \{14\}0 \{12\}0 \{18\}recording started$' \
    out '^  0  045   main \{18\}0 \{12\}0 \{10\}queue send ' \
    out '^  4  045   main \{17\}40 \{11\}10 ' out 'recording stopped$' no-err .
run last 2 --json "$work/whole.log"
check "last" 0 out '"seq":4,"ticks":40,' out '"seq":5,"ticks":40,"raw_stamp":140.*"RINGSIDE_STOP"'
lines "last gives as many" 2
run stats --json "$work/whole.log"
check "stats" 0 out '^{"events":5,' out '"name":"main","address":536887296,"events":5,"ticks":40,'
run objects "$work/whole.log"
check "objects" 0 out '^0x20004000  thread  main  in use'
run report --event 'RINGSIDE_*' "$work/whole.log"
check "marks are found by their names" 0 out 'recording started' no-out 'queue send'
run report --from 20 --to 30 --no-header "$work/whole.log"
check "a span of time" 0 out 'main .* 0  *queue send' no-out 'recorder'
lines "both ends belong to it" 2
# At 20 ticks per second, the timestamps 100 to 140 cover two seconds from 2026-01-01T00:00:00Z on.
TZ=UTC run report -s 010100000126 --hz 20 --no-header "$work/whole.log"
check "from a time of day" 0 out '1.000000000 .*queue send' no-out '0.500000000'
TZ=UTC run report -e 010100000126 --hz 20 --no-header "$work/whole.log"
check "to a time of day" 0 out '1.000000000 .*queue send' out '0.000000000' no-out '1.500000000'
TZ=UTC-2 run report -s 010102000126 --hz 20 --no-header "$work/whole.log"
check "it is local time" 0 out '1.000000000 .*queue send' no-out '0.500000000'
TZ=UTC run report -e 010100000025 --hz 20 --no-header "$work/whole.log"
check "nothing is before the trace" 1 no-out . \
    err '^ringside: -e: "010100000025": before the log begins; use a date from 010100000026 on$'
TZ=UTC run report -s 010100010026 --hz 20 --no-header "$work/whole.log"
check "nothing is after the trace" 1 no-out . \
    err '^ringside: -s: "010100010026": after the last event .*; use a date up to 010100000226$'
TZ=UTC run report -s 010100000025 --hz 20 --no-header "$work/whole.log"
check "from before it: all" 0 out '0.000000000 .*queue send' out 'recording stopped'
run report -k f11,F12 --no-header "$work/whole.log"
check "without marks, by their ids" 0 out 'queue send' no-out 'recorder'
run report -d F11 --no-header "$work/whole.log"
check "marks alone, by their ids" 0 out ' F11 .*recording started' no-out 'queue send\|stopped'
TZ=UTC run report -s 010100000126 "$work/whole.log"
check "a time of day needs the rate" 1 err 'rate is not known'
run report --compat trcrpt "$work/whole.log"
check "the heading has its date" 0 out '^Thu Jan  1 00:00:00 2026$' out '^System: threadx$'
run info --cost "$work/whole.log"
check "the cost" 0 err '^ringside: .*whole.log: read [0-9]* times, [0-9,]* bytes, '

# ---- save: the newest entries that the ring holds ----
run save "$work/whole.log" -o "$work/saved.trx"
check "save" 0 no-err .
run report --json "$work/saved.trx"
check "what was saved" 0 out '"ticks":0,"raw_stamp":110,' out '"ticks":30,"raw_stamp":140,' \
    out '"thread_name":"main"'
lines "it is as large as the ring" 4

# ---- Losses and damage ----
{
    start 2 && entries 100 && loss 1 16 8 4 && entries 300
    loss 3 16 0 1 && entries 900 && closing
} >"$work/losses.log"
run report "$work/losses.log"
check "losses" 3 out 'events lost reason=lapped lost_at_least=8 lost_exact=no modulo=4$' \
    out 'events lost reason=unreadable lost_at_least=0 lost_exact=no$' out '\[gap\]$' \
    err 'losses.log: at least 8 events were lost in 1 gap: the target overwrote them' \
    err 'losses.log: an unknown number of events was lost in 1 gap: the target did not respond$'
run info --json "$work/losses.log"
check "losses as JSON" 3 out '"events_lost":null,"events_lost_at_least":8' \
    out '"events_lost_exact":false' out '"gaps_not_exact":2'
{
    start 2 && entries 100 && loss 1 2 10 4 && entries 300
    loss 3 0 0 0 && entries 900 && closing
} >"$work/estimated.log"
run report "$work/estimated.log"
check "estimates of version 1: what is certain of them" 3 \
    out 'events lost reason=lapped lost_at_least=2 lost_exact=no modulo=4$' \
    out 'events lost reason=unreadable lost_at_least=0 lost_exact=no$' out '\[gap\]$'
run report -q "$work/losses.log"
check "losses, quiet" 3 no-err .
size=$(wc -c <"$work/whole.log")
head -c $((size - 10)) "$work/whole.log" >"$work/cut.log"
run report "$work/cut.log"
check "a log that is cut" 3 out 'main .* 10  *queue send' \
    err 'the last block of the log is incomplete: its writer was killed'
head -c $((size - 160)) "$work/whole.log" >"$work/killed.log"
run report "$work/killed.log"
check "a log that was not closed" 3 out 'recording stopped$' \
    err 'the log was not closed: its writer was killed, or its end is damaged$'
{ start 2 && entries 100 110 && entries 120 && closing; } >"$work/sound.log"
at=$(($({ start 2 && entries 100 110; } | wc -c) - 20))
cp "$work/sound.log" "$work/flipped.log"
printf '\377' | dd of="$work/flipped.log" bs=1 seek=$at conv=notrunc 2>/dev/null
run report "$work/sound.log"
check "a sound log" 0 no-err .
run report "$work/flipped.log"
check "a flipped byte" 3 out 'log damaged entries=2$' out 'raw_stamp\|queue send' \
    err 'the log is damaged in 1 place' \
    err '2 entries are missing with them, whether recorded or lost$'

# ---- Version 2: the blocks at the start of a section exist twice ----
# B is the number of blocks from the original to the copy; in the original itself, it is 0.
section_2() { # POLICY B
    {
        printf RINGSIDE
        words 2 4096 "$1" 1
        longs 0 1767225600000000000
        words 0 0
        printf by-hand && zeros 57
        longs 0
    } | block 1 0 0 0 0 0 "$2"
}
ring_2() { # B
    { printf threadx && zeros 9 && longs 0x20000000 0 0 && words 48 1 4 0 && header; } |
        block 2 0x1234 0 0 0 0 "$1"
}
current() {
    number=0 first=0
    section_2 2 0 && section_2 2 1 && ring_2 0 && ring_2 1 && objects && mark 1 '' &&
        entries 100 110 && entries 120 130 140 && mark 2 '' && closing
}
current >"$work/current.log"
run report --no-header "$work/current.log"
check "version 2" 0 out 'main .* 10  *queue send' no-err .
cp "$work/out" "$work/parts"
# hit OFFSET: writes the log with another byte at this offset.
hit() {
    cp "$work/current.log" "$work/hit.log"
    printf '\125' | dd of="$work/hit.log" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
for at in 0 8 40 90 96 108 200; do
    hit $at
    run report --no-header "$work/hit.log"
    check "version 2: byte $at of the first block" 3 \
        err 'the log is damaged in 1 place (SECTION): 216 bytes were skipped$' \
        err '1 damaged block was replaced by its copy$' no-err 'missing'
    as_parts "version 2: byte $at of the first block costs no event"
    hit $((432 + at % 190))
    run report --no-header "$work/hit.log"
    check "version 2: byte $((at % 190)) of RING" 3 err 'in 1 place (RING): 200 bytes were skipped'
    as_parts "version 2: byte $((at % 190)) of RING costs no event"
done
hit 350
run info --json "$work/hit.log"
check "version 2: the copy alone" 3 out '"blocks_restored":0,"damaged":1,"damaged_bytes":216,' \
    out '"damaged_types":\["SECTION"\]' out '"entries_valid":5'
{ head -c 432 /dev/zero && tail -c +433 "$work/current.log"; } >"$work/hit.log"
run report "$work/hit.log"
check "a log without its layout" 2 err 'hit.log: .*use IMAGE@ADDRESS'
hit 50 && printf '\125' | dd of="$work/hit.log" bs=1 seek=266 conv=notrunc 2>/dev/null
run report "$work/hit.log"
check "a log whose layout is damaged twice" 2 \
    err 'hit.log: every block that contains the layout of the log is damaged; restore the file'
hit 442 && printf '\125' | dd of="$work/hit.log" bs=1 seek=642 conv=notrunc 2>/dev/null
run report "$work/hit.log"
check "a log whose ring is damaged twice" 2 \
    err 'hit.log: every block that describes the ring is damaged; restore the file'

lossy() {
    start 2 && entries 100 110 && loss 1 1 7 0 && entries 120 && loss 3 0 0 0 && entries 140 &&
        mark 2 '' && closing
}
lossy >"$work/lossy.log"
run save "$work/lossy.log" -o "$work/lossy.trx"
check "save of a log with losses" 3 \
    err 'lossy.trx: a dump has no space for the 2 loss markers of the log; keep the log' \
    err 'lossy.log: 7 events were lost in 1 gap'
run save -q "$work/lossy.log" -o "$work/lossy.trx"
check "save of a log with losses, quietly" 3 no-err .

run scan "$work/whole.log"
check "scan tells a log's ring" 0 out '^0x0000000020000000  threadx ' no-err .
"$ringside" report --json "$work/whole.log" >"$work/named"
from_stdin() { # NAME
    "$ringside" report --json - >"$work/out" 2>"$work/err"
    if [ -s "$work/named" ] && cmp -s "$work/named" "$work/out"; then
        ok "a log on standard input: $1"
    else
        fail "a log on standard input: $1" "$(head -n 1 "$work/err")"
    fi
}
from_stdin "a file" <"$work/whole.log"
from_stdin "a pipe" < <(cat "$work/whole.log")

# ---- Not an input of a command ----
run report "$work/whole.log" "$work/whole.log"
check "one log at a time" 1 err 'a log file holds a whole trace or memory; use it alone'
run report --ring 0x1000 "$work/whole.log"
check "a ring that is not the log's" 1 err 'the log is of the ring at 0x20000000'
{ number=0 && section 2 && longs 0 0 1 0 0 0 0 0 | block 7 0 0 0 0 0 0; } >"$work/empty.log"
run info "$work/empty.log"
check "a log without a ring" 2 err 'nothing was recorded; check that the target was ever reached$'
{ number=0 && first=0 && section 2 && ring && closing; } >"$work/ring.log"
run info "$work/ring.log"
check "a log with a ring only" 0 out '^entries total: 0$' out '^objects: 0$'
run report --no-header "$work/ring.log"
check "its report" 0 no-out . no-err .

# ---- Every length: a status, never a signal ----
every_cut "every truncation is said" "$work/whole.log" 7

finish
