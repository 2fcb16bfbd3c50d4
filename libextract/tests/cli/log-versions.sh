#!/bin/bash
# SPDX-License-Identifier: MIT
# log-versions.sh: checks that logs of earlier versions of the format give the same events as when
# that version was current. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if
# any failed. Reads BUILD.
#
# data/log-version-1 holds recordings that version 0.1.0 made of boards in QEMU and of a program
# (NAME.log.gz). It also holds the output of that version for them (NAME.facts, NAME.events.gz).
# Both outputs contain only data from the log itself. So better names and new keys in reports do not
# change them. Numbers have all of their digits. One value was corrected: the time of hook's event
# 1049, whose timestamp was lost.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=$(dirname "$0")/../data/log-version-1

# jq 1.6 rounds large numbers, and later versions do not: so both sides pass through jq.
facts='{format, byte_order, word_bytes, timer_mask, entries_total, entries_valid, entries_damaged,
    wrapped, objects, span_ticks,
    log: (.log | {policy, limit, section_bytes, created, creator, closed, writing, cut, blocks,
        blocks_dropped, blocks_missing, blocks_unreadable, damaged, damaged_bytes, recordings,
        resets})}'
# Later versions give the events of kernels a type of their own, which has the name of the event.
events='[.seq, .ticks, .raw_stamp,
    if .event == .names.event then "POSIX_TRACE_USER_EVENT" else .event end,
    .names.event, .thread_name, .data, .flags,
    if .event | startswith("RINGSIDE_") then .names.text else null end]'

# options NAME: prints the options that a reader needs for this log.
options() { case $1 in rkh*) echo --rkh chk=1,nseq=1,ts=4,ptr=4,sig=1 ;; esac; }

for log in "$data"/*.log.gz; do
    name=$(basename "$log" .log.gz)
    gunzip -c "$log" >"$work/$name.log"
    # shellcheck disable=SC2046
    run info --json $(options "$name") "$work/$name.log"
    jq -c "$facts" "$work/out" >"$work/facts"
    is "$name: what is known of it" "$(cat "$work/facts")" \
        "$(jq -c . "$data/$name.facts")"
    # shellcheck disable=SC2046
    run report --json $(options "$name") "$work/$name.log"
    jq -c "$events" "$work/out" >"$work/events"
    gunzip -c "$data/$name.events.gz" | jq -c . >"$work/expected"
    if [ -s "$work/expected" ] && cmp -s "$work/expected" "$work/events"; then
        ok "$name: its events"
    else
        fail "$name: its events" "$(diff "$work/expected" "$work/events" | head -n 3)"
    fi
done

# The block with the load address of a program. Only a reader that has the ELF file uses this block.
gunzip -c "$data/posix-append.log.gz" >"$work/program.log"
run info --json "$work/program.log"
check "a whole log" 0
program=$(grep -obUaP 'RLBK\x0b\x00' "$work/program.log" | head -n 1 | cut -d: -f1)
for at in 12 100; do
    gunzip -c "$data/posix-append.log.gz" >"$work/program.log"
    printf '\125' | dd of="$work/program.log" bs=1 seek=$((program + at)) conv=notrunc 2>/dev/null
    run report "$work/program.log"
    check "byte $at of PROGRAM counts" 3 err 'the log is damaged in 1 place'
done

finish
