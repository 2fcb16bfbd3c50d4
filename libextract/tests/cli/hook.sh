#!/bin/bash
# SPDX-License-Identifier: MIT
# hook.sh: tests hook words on the command line: dumps, images, raw streams, standard input,
# statuses and messages. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any
# failed. Reads BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# A ring with a buffer of 128 bytes at 0x20000100 (docs/formats/hook.md). Four records were written,
# and the oldest was overwritten. One more record was too long.
{
    words 0x4b4f4f48 1 64 128 1 1000000 32 68 0 4 1 0 4 1 0x20000100 0
    words 0x60014 0x123a0007 42 0x20004000 100                # type A, D1 = 42
    words 0x260014 0x123a0008 43 0x20004000 200               # in an interrupt
    words 0x6001c 0x45680005 7 0x6c6c6568 0x6f 0x20004000 350 # generic: "hello"
    zeros 60
} >"$work/a.hook"
[ "$(wc -c <"$work/a.hook")" = 192 ] || { echo "not ok the test's own ring"; exit 1; }

# ---- Dumps and images ----
run info --json "$work/a.hook"
check "a dump: facts" 3 out '"format":"hook"' out '"address":536871168' out '"entries_total":3' \
    out '"entries_valid":3' out '"events_lost":2' out '"wrapped":true' \
    out '"state":\["running","full","overrun"\]' out '"word_bytes":4' err '2 events were lost'
run report --json "$work/a.hook"
check "a dump: events" 3 out '"id":4656,"event":"HOOK","class":"KERN","fields":{"D1":42}' \
    out '"context":"isr","thread":null' out '"data":"050068450700000068656c6c6f"' \
    out '"seconds":0.000250000'
cp "$work/out" "$work/report"
run report --json --hz 1000 "$work/a.hook"
check "a rate of one's own" 3 out '"seconds":0.250000000'

{ head -c 256 /dev/zero; cat "$work/a.hook"; head -c 256 /dev/zero; } >"$work/ram"
run report --json "$work/ram@0x20000000"
check "an image: found by its magic" 3
cmp -s "$work/out" "$work/report"
status=$?
check "an image: the same report" 0
run report --json --ring 0x20000100 --format hook "$work/ram@0x20000000"
check "an image: at an address" 3 out '"D1":43'
run report --ring 0x20000000 --format hook "$work/ram@0x20000000"
check "an address of none" 2 err 'no ring of hook words there'
run report --ring 0x20000100 --format threadx "$work/ram@0x20000000"
check "another format" 2 err 'no ThreadX trace header'
run report --format none "$work/a.hook"
check "a format that is not there" 1 err 'threadx, hook, rkh or posix'

run save "$work/ram@0x20000000" -o "$work/saved.hook"
run report --json "$work/saved.hook"
cmp -s "$work/out" "$work/report"
status=$?
check "what was saved gives the same report" 0
run info "$work/saved.hook"
check "and lies where it lay" 3 out '^address: 0x20000100' out '^found by: file'

# If the ring has only overwritten its oldest records, the exit status is 0.
head -c 40 "$work/a.hook" >"$work/wrapped.hook"
{ words 0; tail -c +45 "$work/a.hook"; } >>"$work/wrapped.hook"
run report --json "$work/wrapped.hook"
check "overwritten only: whole" 0 out '"D1":42' no-err .
run info --json "$work/wrapped.hook"
check "and counted" 0 out '"events_lost":1' out '"wrapped":true' no-err .
run info "$work/a.hook"
check "lost and overwritten" 3 err ': 2 events were lost, 1 of them overwritten$'

# The longest possible record, as a raw stream and as a ring of its own.
{ bigs 0x1230ffff 5; head -c 65535 /dev/zero | tr '\0' A; zeros 1; bigs 9; } >"$work/long"
run report --json --format hook "$work/long"
check "the longest buffer" 0 out '"data":"1230ffff0000000541' no-err .
{ printf 1230ffff00000005; head -c 65535 /dev/zero | sed 's/\x00/41/g'; } >"$work/data"
jq -j .data "$work/out" | cmp -s - "$work/data"
status=$?
check "all of it" 0
cp "$work/out" "$work/report"
for verb in "save -o" "report -r -o"; do
    # shellcheck disable=SC2086
    run $verb "$work/long.hook" --format hook "$work/long"
    check "$verb: of the longest buffer" 0 no-err .
    run report --json "$work/long.hook"
    cmp -s "$work/out" "$work/report"
    status=$?
    check "$verb: gives the same report" 0
done

# ---- Damage ----
cp "$work/a.hook" "$work/bad.hook"
printf '\xff' | dd of="$work/bad.hook" bs=1 seek=86 conv=notrunc status=none # its hook word's type
run report --json "$work/bad.hook"
check "a damaged record is not shown" 3 out '"D1":42' no-out '"D1":43' out '"flags":\["gap"\]' \
    err '1 entry holds no valid event (bytes 20-39); it is not shown'
run info --json "$work/bad.hook"
check "what damage hides is not known" 3 out '"events_lost":null' out '"entries_damaged":1'
head -c 100 "$work/a.hook" >"$work/cut.hook"
run report --json "$work/cut.hook"
check "a dump that is cut" 3 out '"D1":42' err 'could not be read'
head -c 40 "$work/a.hook" >"$work/short.hook"
run report "$work/short.hook"
check "less than a control block" 2

# ---- Streams ----
{
    bigs 0x10c80005 1 0x68656c6c 0x6f000000 0x1234 1000
    bigs 0x200a0007 9 0x1234 1250
    bigs 0x20010007 0x1235
} >"$work/s32"
run report --json --format hook "$work/s32"
check "a stream" 0 out '"id":4288,.*"data":"10c800050000000168656c6c6f"' out '"ticks":250' \
    out '"thread":4661'
cp "$work/out" "$work/report"
run report --json --hook bits=32,order=big,tid=4,stamp=4,stamps=typed "$work/s32"
cmp -s "$work/out" "$work/report"
status=$?
check "a stream, by its layout" 0
timeout 20 "$ringside" report --json --hook '' - <"$work/s32" >"$work/out" 2>"$work/err"
cmp -s "$work/out" "$work/report"
status=$?
check "a stream on standard input" 0
run report --json --hook hz=1000 "$work/s32"
check "a stream: its rate" 0 out '"seconds":0.250000000'
run report --hook bits=31 "$work/s32"
check "a layout that is none" 1 err '"bits=31" is not allowed'
run report --json "$work/s32"
check "what nobody says to be a stream" 2 err 'IMAGE@ADDRESS'
{ bigs 0xefdf1114 0x80000008 0x12340042 0 5 0 77 2 9; } >"$work/s64"
run report --json "$work/s64"
check "a stream of 64 bits says so itself" 0 out '"id":4660' out '"raw_stamp":8589934601'
{ cat "$work/s32"; bigs 0x20030000; } >"$work/s32bad"
run report --json --format hook "$work/s32bad"
check "a stream with what is no entry" 3 out '"thread":4661' err '1 entry holds no valid event'
timeout 20 "$ringside" save --format hook "$work/s32" -o "$work/s.hook"
run report --json "$work/s.hook"
cmp -s "$work/out" "$work/report"
status=$?
check "a stream, saved as a ring" 0

# ---- Logs ----
run info "$work/a.hook" "$work/ram@0"
check "a dump goes alone" 1 err 'use it alone'

finish
