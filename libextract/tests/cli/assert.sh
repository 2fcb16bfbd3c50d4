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
    "load(interrupts) < 5 || never(isr_enter)" 'load(comms) < 100 % && load(idle) > 20 %'
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

# ---- idle threads ----

# Without the firmware, no thread of a saved FreeRTOS trace has the name of the idle task.
tests=$(dirname "$demo")
gunzip -c "$tests/freertos/ram.bin.gz" >freertos.bin
gunzip -c "$tests/freertos/firmware.elf.gz" >firmware.elf
run assert --elf firmware.elf 'load(idle) > 18% && load(idle) < 19%' freertos.bin@0x20000000
check "the idle task is idle" 0
run save --elf firmware.elf freertos.bin@0x20000000 -o freertos.ptr
run assert 'load(idle) < 1%' freertos.ptr
check "a thread without a name may be idle" 3 out '^not ok 1 .*unknown: .*may be idle'
run assert 'load(idle) < 20%' freertos.ptr
check "but not others" 0

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
run assert 'latency(comms).max > 2s' "$demo"
check "a unit without a rate" 1 err 'pass --hz'

# ---- units ----

# Every figure with every unit: a count has none, a time is in ticks or has a unit of time, and a
# percentage may have %. What is compared must be the same.
units() { # QUANTITY "UNITS THAT FIT" FIGURE...
    local unit figure
    for figure in "${@:3}"; do
        for unit in '' % s ms us ns; do
            run assert --hz 1000000 --span 'x: 4097 .. 4098' "$figure >= 0$unit" "$demo"
            case " $2 " in
            *" ${unit:-none} "*) check "$figure, ${unit:-no unit}" '0 3' ;;
            *)
                check "$figure, $unit" 1 err "\"0$unit\" is a .*, but \"$figure\" is a $1; use "
                ;;
            esac
        done
    done
}
units percentage 'none %' 'load(idle)' 'load(interrupts)' 'load(comms)' 'period(comms).jitter'
units count none 'latency(comms).count' 'response(comms).count' 'period(comms).count' \
    'count(mutex_get)' 'count(mutex_get failed)' 'span(x).count' 'span(x).open' \
    'span(x).without_end' 'span(x).without_begin'
times=()
for figure in 'latency(comms)' 'response(comms)' 'period(comms)' 'span(x)'; do
    times+=("$figure.min" "$figure.median" "$figure.p99" "$figure.max")
done
units time 'none s ms us ns' "${times[@]}" 'span(x).mean'
run assert 'load(idle) > 2s' "$demo"
check "a wrong unit without a rate" 1 \
    err 'column 14: "2s" is a time, but "load(idle)" is a percentage; use a number with or wi'
breaks "the unit on the left" 1 '5% < latency(comms).max' \
    err 'column 1: "5%" is a percentage, but "latency(comms).max" is a time; use ticks'
breaks "two figures that differ" 1 'load(idle) > latency(comms).max' \
    err 'column 14: "latency(comms).max" is a time, but "load(idle)" is a percentage'
for figure in 'load(idle).p99 > 0' 'count(mutex_get).max > 0' 'never(queue_flush).x' \
    'order(mutex_get, isr_enter).max'; do
    breaks "a figure that has no parts: $figure" 1 "$figure" err 'is not a figure of it'
done
holds "two figures of the same kind" 'latency(comms).max >= response(comms).min || load(idle) > 0' \
    'latency(comms).max <= 10s && latency(comms).max >= 0us'
for figure in 'never(mutex_get)' 'order(mutex_get, isr_enter)'; do
    for value in '== 1' '< 5%' '== "x"' '>= load(idle)'; do
        breaks "$figure $value" 1 "$figure $value" err 'is true or false, and cannot be compared'
    done
done
breaks "a number and a truth" 1 '0 == never(mutex_get)' err 'column 6: .* leave out the comparison'

# ---- output ----

# A '#' in a description would be a directive of TAP.
run assert "count(*, thread='[! # SKIP x]*') < 0" "$demo"
check "a description with a #" 4 out '^not ok 1 - count(\*, thread=.\[! \\# SKIP x\]\*.) < 0$'
# A name in quotes may have a comma.
LC_ALL=C sed 's/comms/co,ms/g' "$demo" >comma.trx
run assert 'count(*, thread="co,ms") > 10' comma.trx
check "a name with a comma" 0 out '^ok 1'

# ---- a small ring ----

# main has two events of queues, an interrupt, and an event of a semaphore.
ring_files
run assert 'order(queue_send, queue_receive, isr_enter, semaphore_put)' "$trx"
check "an order" 0 out '^ok 1' out ' events in order$'
run assert 'order(isr_enter, queue_receive, queue_send)' "$trx"
check "the opposite order" 4 out '^not ok 1'
# The first one of these events after which another one than the next of the order comes.
broken=$("$ringside" report --json "$trx" | jq -s '
    ["TX_TRACE_ISR_ENTER", "TX_TRACE_QUEUE_RECEIVE", "TX_TRACE_QUEUE_SEND"] as $order |
    [.[] | .at = (.event as $event | $order | index($event)) | select(.at != null)] |
    [range(1; length) as $i | select(.[$i].at != (.[$i - 1].at + 1) % 3) | .[$i].seq][0]')
is "where it breaks" "$(grep -o '#[0-9]* is out of order' out)" "#$broken is out of order"
run assert 'count(queue_send) == 1' 'never(isr_enter) || load(main) > 50%' "$trx"
check "counts and loads" 0 no-out '^not ok'

# ---- figures without a value ----

# In the begin of the demo, logger never becomes ready, and never waits.
run export --to trx --to 1000000 "$demo" -o part.trx
for case in 'response(logger).max:no response of this thread is in the trace' \
    'latency(logger).min:no wake-up after which this thread ran is in the trace' \
    'period(logger).jitter:fewer than two responses of this thread begin in the trace' \
    'span(x).max:no complete span of this name is in the trace'; do
    run assert --span 'x: queue_flush .. queue_delete' "${case%%:*} < 1" part.trx
    check "${case%%:*} has no value" 3 out "^not ok 1 .* (unknown: ${case#*:})\$" \
        out "^  # ${case%%:*} has no value\$" no-out missing
done
run assert 'period(display).jitter < 5%' 'period(display).count == 2' "$demo"
check "a jitter of two periods" 3 out '^not ok 1 .* (unknown: .* fewer than three periods .*)$' \
    out '^ok 2 '
run assert 'order(queue_flush, queue_delete)' "$trx"
check "an order of events that do not occur" 3 \
    out '(unknown: none of these events is in the trace)$'
run assert --junit 'response(logger).max < 1' part.trx
check "no value, as JUnit" 3 \
    out '<error message="unknown: no response of this thread is in the trace; response(logger)'
# Threads sleep in this ring, but no event suspends or resumes one.
run export --to trx --event '!thread suspend' --event '!thread resume' "$demo" -o moves.trx
run assert 'response(comms).max < 1' moves.trx
check "events that do not show waits" 3 out '(unknown: the events of this trace do not show when'
run assert 'response(main).count == 0' 'response(main).max < 1 || load(main) > 0' "$trx"
check "results that need no value" 0

# Who had the core for an unknown time may be anybody.
if [ -d "$data" ]; then
    run assert 'load(idle) < 1' 'load(unknown) > 30%' 'load(idle) < 31%' "$data/rkh/cm3_all_on.bin"
    check "a load of a trace that does not show it" 3 out '^ok 2 ' out '^ok 3 ' \
        out '^not ok 1 .* (unknown: for a part of the time, it is not certain what had a core)$'
fi

# ---- time that steps back ----

# The newest cache lines of this ring were not written back: one response of worker B ends before it
# begins. It is left out, so that no time is longer than the trace.
if [ -e "$data/cases/dc-newest-stale.trx.gz" ]; then
    zcat "$data/cases/dc-newest-stale.trx.gz" >stale.trx
    run assert 'response(worker B).max < 100000000' 'response(worker B).count == 3' stale.trx
    check "a response across a step back" 0 no-out '^not ok'
    run export --to sqlite stale.trx -o stale.sqlite
    is "its row" "$(sqlite3 stale.sqlite 'SELECT count(*) FROM response
        WHERE end_ticks < start_ticks OR ran_ticks NOT BETWEEN start_ticks AND end_ticks')" 0
fi

# ---- missing events ----

lost=$(realpath -m "${RINGSIDE_DATA:-../shared/data}/threadx/bursts/demolim.log")
[ -e "$lost" ] || { echo "skip missing events: no recorded traces"; finish; }
count=$("$ringside" stats -q --json "$lost" |
    jq '.services[] | select(.event == "TX_TRACE_QUEUE_SEND").count')
run assert 'period(control).jitter > 5%' "$demo"
check "percentages are cut as those of stats" 4 out '^  # period(control).jitter = 0.084 %$'
run assert "count(queue_send) < $count" "$lost"
check "a limit that is exceeded fails in spite of losses" 4 out '^not ok 1 - count[^(]*([^(]*$'
run assert "count(queue_send) == $count" 'never(queue_flush)' 'load(idle) > 0%' "$lost"
missing='(unknown: events that are missing could change it)$'
check "what a missing event could change is unknown" 3 out "^not ok 1 .* $missing" \
    out "^not ok 2 .* $missing" out "^not ok 3 .* $missing"
run assert 'order(queue_flush, queue_delete)' "$lost"
check "no value, and missing events" 3 \
    out '(unknown: none of these events is in the trace, from which events are missing)$'
run assert "count(queue_send) >= $count" "$lost"
check "what no missing event can change holds" 0 out '^ok 1'
finish
