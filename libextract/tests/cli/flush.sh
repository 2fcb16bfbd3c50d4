#!/bin/bash
# SPDX-License-Identifier: MIT
# flush.sh: tests `ringside flush` with memory images. Each image is a later state of the same ring.
# New entries are added to the log once, and the log states the entries that were overwritten
# between the images. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any
# failed. Reads BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=$(realpath "$(dirname "$0")/../data")
cd "$work" || exit 1

# threadx FIRST COUNT ADDRESS: prints a ring of 8 slots to which COUNT user events were written. The
# number of each event, from FIRST on, is its second word and its timestamp (TraceX user guide,
# chapter 11).
threadx() {
    local slots=8 at=$(($3 + 96)) slot n newest=$(($2 - 1))
    words 0x54585442 0xffffffff "$3" $(($3 + 48))
    printf '\0\0\x20\0'
    words $(($3 + 96)) $at $((at + 32 * slots)) $((at + 32 * ($2 % slots)))
    words 0xaaaaaaaa 0xbbbbbbbb 0xcccccccc
    printf '\0\001\x80\020' && words 0x20004000 0x20008000 1024 && printf 'main' && zeros 28
    for ((slot = 0; slot < slots; slot++)); do
        n=$((newest - (newest - slot + slots) % slots))
        if [ $n -lt 0 ]; then
            zeros 32
        else
            words 0x20004000 0x80100010 4096 $((100 + $1 + n)) 7 $(($1 + n)) 0 0
        fi
    done
}
# hook FIRST COUNT: prints such a ring of hook words, with a buffer of 128 bytes for 8 records
# (docs/formats/hook.md).
hook() {
    local slots=8 slot n newest=$(($2 - 1)) tail=$(($2 > 8 ? $2 - 8 : 0))
    words 0x4b4f4f48 1 64 128 1 1000000 32 $((16 * $2)) $((16 * tail)) "$2" 0 0 4 1 0x20000000 0
    for ((slot = 0; slot < slots; slot++)); do
        n=$((newest - (newest - slot + slots) % slots))
        if [ $n -lt 0 ]; then
            zeros 16
        else
            words 0x40010 0x123a0007 $(($1 + n)) $((100 + n))
        fi
    done
}
# Prints the numbers of the events in the last report.
numbers() { jq -r 'select(.id < 65536) | .fields.info2 // .fields.D1' out | tr '\n' ' '; }
holds() { # NAME NUMBER...
    local name=$1 found
    shift
    found=$(numbers)
    if [ "$found" = "$* " ]; then ok "$name"; else fail "$name" "it holds $found"; fi
}

# passes FORMAT KEPT LOST: runs the same tests for each format; the images are made by FORMAT FIRST
# COUNT. In a ring that has wrapped, KEPT entries can be read, because the oldest entry may be
# half-written. LOST is the known loss: for a ring without counts, the loss modulo its eight
# entries.
passes() {
    prefix="flush, $1: "
    rm -f a.log
    "$1" 1 3 0x20000000 >a.ram
    run flush a.log "a.ram@0x20000000"
    check "a log is made" 0 out '^flush: 3 events added$' no-err .
    run flush a.log "a.ram@0x20000000"
    check "nothing is new" 0 out '^flush: 0 events added$'
    "$1" 1 5 0x20000000 >a.ram
    run flush --json a.log "a.ram@0x20000000"
    check "what is new" 0 out '^{"added":2,"lost":0,"lost_at_least":0,"lost_exact":true,"gaps":0,'
    "$1" 1 11 0x20000000 >a.ram
    run flush a.log "a.ram@0x20000000"
    check "the ring has wrapped, and nothing is lost" 0 out '^flush: 6 events added$'
    run flush a.log "a.ram@0x20000000"
    check "nothing is new in a ring that has wrapped" 0 out '^flush: 0 events added$'
    run report --json a.log
    check "the log is whole" 0
    holds "each once, in order" {1..11}
    "$1" 1 30 0x20000000 >a.ram
    run flush a.log "a.ram@0x20000000"
    check "a lap" 3 out "^flush: $2 events added, $3 lost\$"
    run report --json a.log
    check "is told in the log" 3 out '"event":"RINGSIDE_LOST"'
    # shellcheck disable=SC2046
    holds "in its place" {1..11} $(seq $((31 - $2)) 30)
    run flush a.log "a.ram@0x20000000"
    check "nothing is new behind a lap" 0 out '^flush: 0 events added$'
    run status a.log
    check "the status of the log" 3 out '^flush status: not_flushing$' out '^flush error: 0$' \
        out '^stream overrun status: overrun$'
}
passes threadx 7 'at least 4' # 24 to 30 are there, and 11 was the newest: 12 modulo 8
passes hook 8 11

prefix='flush: '
cp a.log hook.log
threadx 1 3 0x20000000 >a.ram
run flush a.log a.ram@0x20000000
check "a log of another kind of ring" 1 err 'a.log: is a log of another format (hook) than'
rm a.log
run flush a.log a.ram@0x20000000
threadx 1 3 0x20001000 >b.ram
cp a.log before.log
run flush a.log b.ram@0x20001000
check "a log of another ring" 1 err 'ring at 0x20000000; this ring is at 0x20001000; flush to'
cmp -s a.log before.log
status=$?
check "is left as it is" 0
threadx 1 0 0x20000000 >none.ram
run flush none.log none.ram@0x20000000
check "a ring without events" 0 out '^flush: 0 events added$'
run flush a.log a.log
check "a log is no ring" 1 err 'a log is not a memory image'
run flush a.log nothing.ram@0
check "an image that is not there" 2 err 'nothing.ram: No such file'
echo rubbish >rubbish.log
run flush rubbish.log a.ram@0x20000000
check "a file that is no log" 2 err 'rubbish.log: '
run flush a.log
check "no target" 1 err 'flush: no target is given; use LOG, and --pid PID'
run flush - a.ram@0x20000000
check "standard output" 1 err 'a log cannot go to standard output'

# The rings of real boards, as they were read.
for kind in posix rkh; do
    gunzip -c "$data/$kind/ram.bin.gz" >board.ram
    gunzip -c "$data/$kind/firmware.elf.gz" >board.elf
    run flush --elf board.elf board.log board.ram@0x20000000
    check "a board, $kind" 0 out "^flush: [0-9]* events added\$"
    run flush --elf board.elf board.log board.ram@0x20000000
    check "a board, $kind: nothing is new" 0 out '^flush: 0 events added$'
    run report --json --elf board.elf board.ram@0x20000000
    jq -c 'del(.seq, .delta, .flags, .slot)' out >ring.json
    run report --json --elf board.elf board.log
    jq -c 'select(.id < 65536) | del(.seq, .delta, .flags, .slot)' out >log.json
    [ -s ring.json ] && cmp ring.json log.json >differ
    status=$?
    check "a board, $kind: the events are those of its ring" 0
    rm board.log
done
finish
