#!/bin/bash
# SPDX-License-Identifier: MIT
# schedule.sh: compares what `ringside schedule` and `ringside why` derive from events with the
# truth: a simulated kernel that knows who ran, and TraceX's sample demo_netx_udp. Prints "ok NAME"
# or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
# shellcheck disable=SC2016 # jq expands $mine and $true
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
cd "$work" || exit 1
[ -d "$data/schedule" ] || { echo "skip schedule: no schedules with a known truth"; exit 0; }

# Evaluates a jq expression over $mine (the lines of ringside) and $true.
compare() { # EXPRESSION
    jq -rn -L "$here" --slurpfile mine mine.json --slurpfile truth true.json \
        "include \"schedule\"; \$truth[0] as \$true | (\$mine | end_time) as \$limit | $1"
}

derive() { # TRACE TRUTH
    run schedule --json "$data/$1"
    check "schedule of $1" 0
    cp out mine.json
    cp "$data/schedule/$2" true.json
}

# In 02, 05 and 10 the kernel needs no time between an event and the switch. 18 has no events of
# interrupts: their time counts for the thread that runs next, or for the interrupted one.
for name in sim02 sim05 sim10 sim18; do
    derive "schedule/$name.trx" "$name.json"
    is "$name: no interval is unsure" "$(compare '$mine | map(select(.unsure)) | length')" 0
    kind=
    [ $name = sim18 ] && kind=' | without_cores'
    [ $name = sim18 ] || is "$name: who had the core" \
        "$(compare '($mine | intervals) == ($true | true_intervals($limit))')" true
    is "$name: states" \
        "$(compare "(\$mine | states$kind) == (\$true | true_states(\$limit)$kind)")" true
    is "$name: wake-ups" "$(compare '($mine | wakes) == ($true | true_wakes)')" true
done
derive schedule/sim15.trx sim15.json
is "sim15: wake-ups" "$(compare '($mine | wakes) == ($true | true_wakes)')" true
is "sim15: nothing is wrong for longer than a switch takes" "$(compare \
    '($mine | intervals) | longest_mistake($true | true_intervals($limit))')" 4

# A real trace. Its truth is that of a reference model, checked against TraceX's figures.
derive threadx/demo_netx_udp.trx demo_netx_udp.json
is "demo_netx_udp: who had the core" \
    "$(compare '($mine | intervals) == ($true | true_intervals($limit))')" true
is "demo_netx_udp: states" "$(compare '($mine | states) == ($true | true_states($limit))')" true
is "demo_netx_udp: wake-ups" "$(compare '($mine | wakes) == ($true | true_wakes)')" true

# ---- why ----

# The simulator has explained three long times of each thread, of which none waits for a mutex.
for name in sim02 sim05 sim10; do
    while read -r number thread from to; do
        run why "$thread" --from "$from" --to "$to" --json "$data/schedule/$name.trx"
        is "$name: why $thread from $from to $to" \
            "$(jq -c -L "$here" 'include "schedule"; .segments | chain' out)" \
            "$(jq -c -L "$here" "include \"schedule\"; .why[$number].chain | true_chain" \
                "$data/schedule/$name.json")"
    done < <(jq -r '.why | to_entries[] | "\(.key) \(.value.thread) \(.value.t0) \(.value.t1)"' \
        "$data/schedule/$name.json")
done
finish
