#!/bin/bash
# SPDX-License-Identifier: MIT
# losses.sh: checks the numbers of lost events, with traces of a real ThreadX system that has bursts
# and idle times. Its user events contain the number of events that were inserted before them. So
# each reported number is compared with the true one. Prints "ok NAME" or "not ok NAME: why" for
# each test. Exit status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}/threadx/bursts")
cd "$work" || exit 1
[ -e "$data/demolim.log" ] || { echo "skip losses: no recorded traces"; exit 0; }

# ---- flush: images of its memory at four moments ----
# Between the images, 19 or 20, 5,376 or 5,377 and 4,412 or 4,413 events are lost, depending on
# whether the event at the breakpoint counts. Modulo the ring's 462 entries, these are 20, 295 and
# 255.
for look in "0 461 events added" "1 461 events added, at least 20 lost" \
    "2 461 events added, at least 295 lost" "3 461 events added, at least 255 lost"; do
    read -r number says <<<"$look"
    zcat "$data/r$number.bin.gz" >ram.bin
    run flush flushed.log ram.bin@0x20000000
    check "flush of image $number" '0 3' out "^flush: $says\$"
done
run flush --json flushed.log ram.bin@0x20000000
check "an image once more" 0 \
    out '^{"added":0,"lost":0,"lost_at_least":0,"lost_exact":true,"gaps":0,'
run info --json flushed.log
check "all flushes" 3 \
    out '"events_lost":null,"events_lost_at_least":570,"events_lost_at_most":null' \
    out '"events_lost_low":null,"events_lost_high":null,"gaps":3,"gaps_not_exact":3,' \
    out '"resets":0'

# ---- record: a recording over a slow link ----
# Prints "TRUE LEAST MOST EXACT LOW HIGH" for each gap between two events that contain their number
# and have exactly one loss between them.
gaps() {
    jq -rn 'foreach inputs as $e ({n: 0, losses: []};
        if .done then .losses = [] | .n = 0 | .done = false else . end |
        if $e.event == "RINGSIDE_LOST" then .losses += [$e]
        elif $e.context == "recorder" then .losses += (if $e.event == "RINGSIDE_RESET" then [0, 0]
            else [] end)
        elif $e.id < 4096 or $e.id > 4160 then .n += 1
        else .true = (if .last then $e.info[1] - .last - .n - 1 else 0 end) |
            .last = $e.info[1] | .done = true end;
        if .done and (.losses | length) == 1 then .true as $true | .losses[0] |
            "\($true) \(.lost_at_least) \(.lost_at_most) \(.lost_exact) \(.lost_low) \(.lost_high)"
        else empty end)' "$1"
}
run report --json "$data/demolim.log"
gaps out >gaps
status=$?
check "the gaps are found" 0
judged=$(awk '
    { count++; if ($4 == "true") exact++ }
    $4 == "true" && $1 != $2 { print "exact, but wrong: " $0 }
    $4 != "true" && ($1 < $2 || ($1 - $2) % 462) { print "the certain part is wrong: " $0 }
    $3 != "null" && $1 > $3 { print "more than at most: " $0 }
    $5 != "null" && $4 != "true" { intervals++; held += $1 >= $5 && $1 <= $6 }
    END {
        if (count < 200 || exact < 150 || intervals < 15)
            print count, exact, intervals " are too few"
        if (held < 0.9 * intervals) print held " of " intervals " intervals hold"
    }' gaps)
if [ -z "$judged" ]; then
    ok "each gap of the recording ($(wc -l <gaps))"
else
    fail "each gap of the recording" "$judged"
fi
finish
