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
demo=$here/../data/demo.trx
cd "$work" || exit 1

# ---- windows ----

# What is printed of a window is the whole schedule, limited to the window, whether events lie there
# or not. Of a moment it is what holds then. There are events at 0, 85 and 410, but none at 1000 and
# 7911000, nor from 1000 to 1010.
"$ringside" schedule --json "$demo" >whole.json
end=$(jq -s 'map(.to // .at) | max' whole.json)
for window in '0 0' '85 85' '1000 1000' '1000 1010' '85 410' "7911000 7911000" "5000000 $end" \
    "0 $end"; do
    run schedule --json --from "${window% *}" --to "${window#* }" "$demo"
    check "from ${window/ / to }" 0 out '"type":"interval"' out '"type":"state"'
    is "from ${window/ / to }: the schedule within" "$(jq -Sc . out | sort)" \
        "$(jq -Sc --argjson a "${window% *}" --argjson b "${window#* }" '
            if .at then select(.at >= $a and .at <= $b)
            elif $a == $b then select(.from <= $a and $a < .to) | .from = $a | .to = $a
            else select(.from < $b and .to > $a) | .from = ([.from, $a] | max) |
                .to = ([.to, $b] | min) end' whole.json | sort)"
done
run schedule --no-header --from 1000 --to 1000 "$demo"
check "a moment" 0 out '^ *1000 *1000 *0  core 0: worker A$' out ' 1000 *0  worker A: running$'
run schedule --no-header --from "$end" --to "$end" "$demo"
check "the last moment" 0 out ' core 0: '
run schedule --no-header --from $((end + 1)) --to $((end + 9)) "$demo"
check "a time after the trace" 1 no-out . \
    err "after the last event of this trace; use 0 to $end ticks"

# Statistics end with the range, too: the times are those of the schedule from its first event on.
for window in '0 200000' '2188131 3992383' '100 5000' '7000000 8000000'; do
    run stats --json --from "${window% *}" --to "${window#* }" "$demo"
    check "statistics from ${window/ / to }" 0
    first=$("$ringside" report --json --from "${window% *}" --to "${window#* }" "$demo" |
        jq -s '.[0].ticks')
    is "statistics from ${window/ / to }: of the schedule" \
        "$(jq -c '[.span_ticks, (.threads[] | select(.ticks > 0) | [.name, .ticks]) ]' out)" \
        "$(jq -c --argjson b "${window#* }" --argjson a "$first" --slurpfile stats out -s '
            def part($x): [.[] | select($x) | ([.to, $b] | min) - ([.from, $a] | max) |
                select(. > 0)] | add // 0;
            . as $all | ([map(.to // .at) | max, $b] | min) as $stop |
            [$stop - $a, ($stats[0].threads[] | . as $t |
                ($all | map(select(.kind == "thread" and .thread == $t.address)) | part(true))
                as $ticks | select($ticks > 0) | [.name, $ticks])]' whole.json)"
done

# ---- threads ----

run schedule --json --thread comms "$demo"
cp out comms.json
comms=$(jq -s 'map(select(.type == "state"))[0].thread' out)
check "one thread" 0 out '"type":"interval"' out '"type":"state"' out '"type":"wake"' \
    out '"type":"owner"'
is "what concerns comms" "$(jq -c . comms.json)" "$(jq -c --argjson t "$comms" \
    'select(.thread == $t or .by == $t)' whole.json)"
run schedule --json --thread '!comms' "$demo"
is "what concerns others" "$(jq -c . out)" "$(jq -c --argjson t "$comms" \
    'select(if .type == "wake" then .thread != $t or .by != $t else .thread != $t end)' whole.json)"
run schedule --thread isr "$demo"
check "interrupts" 0 out ' core 0: interrupt' out ' in an interrupt ' no-out ' core 0: [^i]'
for filter in '--event queue_send' '--object bus' '--class SVC' '--where ticks>1'; do
    # shellcheck disable=SC2086 # an option and its value
    run schedule $filter "$demo"
    check "schedule $filter" 1 \
        err "'schedule' does not take this option; use it with last, report, stats, timeline"
    is "schedule $filter prints nothing" "$(cat out)" ''
done
run schedule --from 2000 --to 1000 "$demo"
check "a start after the end" 1 err 'the start, 2000 ticks, is after the end, 1000 ticks'

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

trace=$data/schedule/sim02.trx
run why nobody "$trace"
check "why: an unknown thread" 1 err '^ringside: nobody: no thread has this name; '
run why 'locker 3'
check "why: no input" 1 err 'no input is given'
run why 'locker 3' --worst 0 "$trace"
check "why: a number of responses" 1 err '^ringside: --worst: '
run why 'locker 3' --worst 1001 "$trace"
check "why: too many responses" 1 err 'at most 1000 are explained'
run why 'locker 3' --at 5s "$trace"
check "why: a unit without a rate" 1 err "^ringside: --at: \"5s\": the clock's rate is not known"
run why 'locker 3' --at 128000000 "$trace"
check "why: a time after the trace" 1 err 'no response at this time'
run why 'locker 3' --at 5 --worst 2 "$trace"
check "why: two choices of a time" 1 err '--at, --worst and --from with --to each choose'
run why 'locker 3' --from 200 --to 100 "$trace"
check "why: a time that ends before it begins" 1 err 'no time from 200 to 100'
run why 0x20001840 --worst 2 --hz 1000000 "$trace"
check "why: a thread by its address, in milliseconds" 0 out '^locker 3  3\.0 ms  #1038 \.\. #1075 '
run why 'locker 3' --worst 3 --json "$trace"
is "why: the segments of each level add up" "$(jq -s 'def tiles: .from as $from | .to as $to |
    (.segments | length == 0 or (.[0].from == $from and .[-1].to == $to and
        ([.[:-1], .[1:]] | transpose | all(.[0].to == .[1].from)))) and all(.segments[]; tiles);
    length >= 3 and all(tiles)' out)" true
# A trace of one thread that never waits.
run why 'thread 0' "$data/threadx/demo_filex.trx"
check "why: a thread without responses" 1 err 'no response of this thread is in the trace'

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
