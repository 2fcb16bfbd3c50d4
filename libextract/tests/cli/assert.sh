#!/bin/bash
# SPDX-License-Identifier: MIT
# assert.sh: tests `ringside assert` with the bundled demo, whose figures jq computes from the
# events and the statistics, with a small ring, and with a recording that lost events. Prints "ok
# NAME" or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD and
# RINGSIDE_DATA.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
demo=$(realpath "$(dirname "$0")/../data/demo.trx")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
cd "$work" || exit 1

# holds NAME ASSERTION...: checks that they hold. breaks NAME STATUS ASSERTION TEXT...: checks the
# result of one that does not.
holds() {
    run assert --hz 1000000 "${@:2}" "$demo"
    check "$1" 0 out "^1\\.\\.$(($# - 1))\$" no-out '^not ok'
}
breaks() {
    run assert --hz 1000000 "$3" "$demo"
    check "$1" "$2" "${@:4}"
}

# ---- the bundled demo ----

"$ringside" report --json "$demo" >events
"$ringside" stats --json "$demo" >stats
suspends=$(jq -s 'map(select(.id == 2 and .thread_name == "comms")) | length' events)
longest=$(jq '.threads[] | select(.name == "comms").response.max' stats)
holds "counts of events" "count(thread_suspend, thread=comms) == $suspends" \
    "count('thread suspend', 'thread=comms') < $((suspends + 1)) && never(queue_flush)"
holds "times of a thread" "response(comms).max == ${longest}us" "response(comms).max >= 300ms" \
    "response(comms).min <= response(comms).median" "latency(comms).count > 1"
holds "loads" "load(idle) > 20%" "load(comms) < 100% && !(load(comms) > 100%)" \
    "load(interrupts) < 5 || never(isr_enter)"
breaks "a count that is too high" 4 "count(thread_suspend, thread=comms) < $suspends" \
    out '^not ok 1 - count' out "^  # count.* = $suspends\$"
breaks "an event that occurs" 4 'never(mutex_get)' out '^  # never(mutex_get) = [0-9]* events$'
breaks "an order that does not hold" 4 'order(mutex_get, isr_enter)' out '^not ok 1'
printf '# limits\n\n  load(idle) > 20%%\nnever(queue_flush)\n' >limits.txt
run assert limits.txt 'load(idle) > 30%' "$demo"
check "a file of assertions" 0 out '^1\.\.3$' out '^ok 2 - never(queue_flush)$'
run assert --junit 'load(idle) > 20%' 'never(mutex_get)' "$demo"
check "JUnit" 4 out '<testsuite name="ringside assert" tests="2" failures="1" errors="0">' \
    out 'name="load(idle) &gt; 20%"/>' out '<failure message="never(mutex_get) = '

# ---- calls that failed ----

# In the simulated schedules, each failed call is one whose time was over before it got anything.
for name in sim02 sim05 sim18; do
    [ -d "$data/schedule" ] || { echo "skip $name: no schedules with a known truth"; continue; }
    timeouts=$(jq '[.wakes[] | select(.cause == "timeout")] | length' "$data/schedule/$name.json")
    failed=0
    for event in queue_receive queue_send semaphore_get mutex_get event_flags_get block_allocate; do
        run assert "count($event failed) == 0" "$data/schedule/$name.trx"
        failed=$((failed + $(sed -n 's/^  # .* = //p' out)))
    done
    is "$name: failed calls" "$failed" "$timeouts"
done
breaks "failed calls of an event that is not there" 1 'never(nothing failed)' \
    err '"nothing": no such name'

# ---- errors ----

breaks "a thread that is not there" 1 'load(nobody) > 2' err 'column 1: no thread has this name'
breaks "an event that is not there" 1 'count(nothing) > 2' err 'no such name'
breaks "a figure that is not there" 1 'latency(comms).p98 < 2' err '"p98" is not a figure'
breaks "a call that is not there" 1 'jitter(comms) < 2' err 'not a figure of a trace'
breaks "a text as a value" 1 'load(idle) > "x"' err 'column 14: .*compare it with a number'
breaks "no end of a call" 1 'load(idle > 3' err 'column 1: "(" without ")"'
breaks "a condition that is not there" 1 'count(mutex_get, color=red) > 1' err 'use thread=, '
run assert 'load(idle) > 2s' "$demo"
check "a unit without a rate" 1 err 'pass --hz'
run assert 'load(idle) > 2%'
check "no input" 1 err 'no input is given'
run assert none.txt "$demo"
check "a file that is not there" 2 err '^ringside: none.txt: '

# ---- a small ring ----

# main has two events of queues, an interrupt, and an event of a semaphore.
ring_files
run assert 'order(queue_send, queue_receive, isr_enter, semaphore_put)' "$trx"
check "an order" 0 out '^ok 1'
run assert 'order(isr_enter, queue_receive, queue_send)' "$trx"
check "the opposite order" 4 out '^not ok 1'
run assert 'count(queue_send) == 1' 'never(isr_enter) || load(main) > 50%' "$trx"
check "counts and loads" 0 no-out '^not ok'

# ---- missing events ----

lost=$(realpath -m "${RINGSIDE_DATA:-../shared/data}/threadx/bursts/demolim.log")
[ -e "$lost" ] || { echo "skip missing events: no recorded traces"; finish; }
count=$("$ringside" stats -q --json "$lost" |
    jq '.services[] | select(.event == "TX_TRACE_QUEUE_SEND").count')
run assert "count(queue_send) < $count" "$lost"
check "a limit that is exceeded fails in spite of losses" 4 out '^not ok 1 - count[^(]*([^(]*$'
run assert "count(queue_send) == $count" 'never(queue_flush)' 'load(idle) > 0%' "$lost"
check "what a missing event could change is unknown" 3 out '^not ok 1 .* (unknown: ' \
    out '^not ok 2 .* (unknown: ' out '^not ok 3 .* (unknown: '
run assert "count(queue_send) >= $count" "$lost"
check "what no missing event can change holds" 0 out '^ok 1'
finish
