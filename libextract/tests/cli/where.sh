#!/bin/bash
# SPDX-License-Identifier: MIT
# where.sh: compares the events that `--where` selects with those that jq selects from the JSON of
# all events, on TraceX's samples and on traces of other formats, and checks its errors. Prints "ok
# NAME" or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD and
# RINGSIDE_DATA.
# shellcheck disable=SC2016 # jq expands its variables
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
own=$(realpath "$(dirname "$0")/../data")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")/threadx
cd "$work" || exit 1
options=()

# Prints all events of a trace, one per line, with the values that depend on earlier events: "dt",
# and "blocked" for an event that resumes a thread which an earlier one suspended. State 14 is no
# wait. 100, 101, 110 and 115 create, delete, reset and terminate a thread.
# shellcheck disable=SC2120 # without options for most traces
annotate() { # TRACE
    "$ringside" report --json "${options[@]}" "$1" 2>/dev/null | jq -cs '
        . as $events | reduce range(length) as $i ({since: {}, all: []};
            ($events[$i] | .dt = if $i > 0 then .ticks - $events[$i - 1].ticks else null end) as $e
            | ($e.info[0] | tostring) as $thread
            | if ($e.flags | index("gap")) then .since = {} else . end
            | if $e.id == 2 and $e.info[1] != 14 then .since[$thread] = $e.ticks | .all += [$e]
              elif $e.id == 1 and $e.info[1] != 14 then
                  .all += [$e | .blocked = null] | .since[$thread] as $since
                  | if $since then .all[-1].blocked = $e.ticks - $since else . end
                  | del(.since[$thread])
              elif ($e.id | IN(100, 101, 110, 115)) then del(.since[$thread]) | .all += [$e]
              else .all += [$e] end)
        | .all[]'
}

# Checks that an expression selects the same events as jq, and that it selects some, but not all.
where() { # EXPRESSION JQ-CONDITION
    local expected
    expected=$(jq -r "select($2) | .seq" all.json | tr '\n' ' ')
    run report --json "${options[@]}" --where "$1" "$trace"
    if [ -z "$expected" ] || [ "$(wc -w <<<"$expected")" = "$(wc -l <all.json)" ]; then
        fail "$name: $1" "jq selects none or all"
    else
        is "$name: $1" "$(jq -r .seq out | tr '\n' ' ')" "$expected"
    fi
}

# Uses a trace for the cases that follow.
use() { # NAME TRACE [OPTION...]
    name=$1 trace=$2
    options=("${@:3}")
    annotate "$trace" >all.json
    is "$name: it has events" "$([ -s all.json ] && echo yes)" yes
}

# ---- TraceX's samples and rings of kernels ----

if [ -d "$data" ]; then
    use demo_threadx "$data/demo_threadx.trx" --hz 1000000
    where 'event == "TX_TRACE_QUEUE_SEND"' '.id == 69'
    where 'event == "queue *" && id != 69' '.id == 68'
    where 'event == "queue_send"' '.id == 69'
    where 'info1 == 0x6b84 && object == "queue 0"' '.info[0] == 27524'
    where 'enqueued > 50 && thread == "thread 1"' \
        '.fields.enqueued != null and .fields.enqueued > 50 and .thread_name == "thread 1"'
    where 'enqueued != 50' '.fields.enqueued != null and .fields.enqueued != 50'
    where '!(enqueued == 50)' '.fields.enqueued != 50'
    where '!enqueued == 50' '.fields.enqueued != 50'
    where 'seq < 10 || seq >= 0x3c0 && seq != 970' '.seq < 10 or .seq >= 960 and .seq != 970'
    where '(seq < 10 || seq > 960) && seq != 970' '(.seq < 10 or .seq > 960) and .seq != 970'
    where 'dt > 0.2ms' '.dt != null and .dt > 200'
    where 'dt < 160us' '.dt != null and .dt < 160'
    where 'dt >= 156999ns && dt <= 157.001us' '.dt == 157'
    where 'ticks >= 0.1s' '.ticks >= 100000'
    where 'blocked_for > 0.4ms' '.blocked != null and .blocked > 400'
    where 'blocked_for != 411' '.blocked != null and .blocked != 411'
    where 'new_state == "queue"' '.names["new state"] == "queue"'
    where 'new_state != "queue"' '.names["new state"] != null and .names["new state"] != "queue"'
    where 'next_thread == "thread 1"' '.names["next thread"] == "thread 1"'
    where 'fields.thread == "thread *"' \
        '.names.thread != null and (.names.thread | startswith("thread "))'
    where 'wait == "forever"' '.names.wait == "forever"'
    where 'context == "isr"' '.context == "isr"'
    where 'class != "SVC"' '.class != "SVC"'

    use demo_filex "$data/demo_filex.trx"
    where 'owner == "thread 0" && own_count >= 1' \
        '.names.owner == "thread 0" and .fields["own count"] >= 1'
    where 'media == "RAM DISK" && event != "*IO_DRIVER*"' \
        '.names.media == "RAM DISK" and (.event | contains("IO_DRIVER") | not)'
    where 'info2 == 4294967295' '.info[1] == 4294967295'
    where 'info1 == info2' '.info[0] == .info[1]'
    where 'inherit == "no" || file == "TEST.TXT"' \
        '.names.inherit == "no" or .names.file == "TEST.TXT"'

    use demo_netx_udp "$data/demo_netx_udp.trx"
    where 'object == "NetX IP Instance 0"' '.names | to_entries | any(.key != "thread name"
        and .value == "NetX IP Instance 0")'
    where 'thread == "NetX IP *" && ip == "NetX IP Instance 1"' '.names.ip == "NetX IP Instance 1"
        and .thread_name != null and (.thread_name | startswith("NetX IP "))'
    where 'blocked_for > 14000' '.blocked != null and .blocked > 14000'

    use cm3_slow "$data/cm3_slow.trx"
    where 'blocked_for >= 256633' '.blocked != null and .blocked >= 256633'
    where 'dt > 87 && class == "KERN"' '.dt != null and .dt > 87 and .class == "KERN"'
    where 'priority < 8' '.priority != null and .priority < 8'
    where 'thread == "System Timer Thread" && event == "thread resume"' \
        '.thread_name == "System Timer Thread" and .id == 1'

    use a35smp_spin "$data/a35smp_spin.trx"
    where 'core == 1' '.core == 1'
    where 'core != 0 && context == "thread"' '.core != 0 and .context == "thread"'
    where 'blocked_for > 9052455' '.blocked != null and .blocked > 9052455'
    where 'context == "init"' '.context == "init"'
else
    echo "skip where: no samples of TraceX"
fi

# ---- Events of a kernel in POSIX trace: only their names tell which fields they have ----

gunzip -c "$own/freertos/firmware.elf.gz" >freertos.elf
gunzip -c "$own/freertos/ram.bin.gz" >freertos.bin
use freertos freertos.bin@0x20000000 --elf freertos.elf
where 'queue == "samples"' '.names.queue == "samples"'
where 'messages > 0' '(.fields.messages // 0) > 0'
where 'fields.thread == "sensor"' '.names.thread == "sensor"'
run report --where 'quee == 1' "${options[@]}" "$trace"
check "$name: a similar name" 1 err "unknown name \"quee\"; use 'queue'"
run stats --json --span 'q: rtos_queue_send .. rtos_queue_receive by queue' "${options[@]}" "$trace"
is "$name: spans by a field" "$(jq -c '.spans[] | [.count, .likely]' out)" \
    "[$(jq -s 'map(select(.event == "rtos_queue_send")) | length' all.json),0]"

# ---- other formats ----

gunzip -c "$own/rkh/stream.bin.gz" >rkh.bin
use rkh rkh.bin --format rkh
where 'pool == "samples"' '.names.pool == "samples"'
where 'sig == "RESUME" && event == "timer *"' \
    '.names.sig == "RESUME" and (.event | test("_TMR_(INIT|START|STOP|REM)"))'
where 'name == "s*"' '.names.name != null and (.names.name | startswith("s"))'
where 'info2 == 3' '.info[1] == 3'
where 'dt > 100us' '.dt != null and .dt * 1000000 > 100 * 48828'
# A stream that arrives in parts: the last event of a part is the one before the next part.
for ((i = 0; i < 4; i++)); do
    tail -c +$((i * 4000 + 1)) rkh.bin | head -c "$([ $i = 3 ] && echo 9999 || echo 4000)"
    sleep 0.5
done | timeout "$limit" "$ringside" report --json --format rkh --where 'dt >= 0' - >parts 2>err
is "rkh: a stream in parts" "$(jq -r .seq parts | tr '\n' ' ')" \
    "$(jq -r 'select(.dt != null and .dt >= 0) | .seq' all.json | tr '\n' ' ')"
use hook "$own/hooks.bin"
where 'D1 == 0x4000' '.fields.D1 == 16384'
where 'D2 != 0 && info3 == 8' '.fields.D2 != null and .fields.D2 != 0 and .info[2] == 8'

# Losses are always shown, as with the other filters.
gunzip -c "$own/log-version-1/threadx-append.log.gz" >threadx.log
use log threadx.log
where 'event == "isr enter" && seq > 100' '.id == 3 and .seq > 100 or .event == "RINGSIDE_LOST"'
where 'context == "recorder"' '.event | startswith("RINGSIDE_")'
if [ -d "$data" ]; then
    use bursts "$data/bursts/demolim.log"
    is "bursts: it has gaps" "$(jq -r 'select(.flags | index("gap")) | .seq' all.json | head -n 1 |
        grep -c .)" 1
    where 'blocked_for > 0' '.blocked != null and .blocked > 0 or .event == "RINGSIDE_LOST"'
    middle=$(jq -s '.[length * 9 / 10 | floor].ticks' all.json)
    run report --json --where 'dt >= 0 && blocked_for >= 0' --from "$middle" "$trace"
    is "bursts: what was before --from counts" "$(jq -r .seq out | tr '\n' ' ')" \
        "$(jq -r "select(.ticks >= $middle and (.blocked != null or .event == \"RINGSIDE_LOST\"))
            | .seq" all.json | tr '\n' ' ')"
fi

# ---- other commands, other filters, errors ----

trx=$own/demo.trx
run report --where 'class == "INT"' --where 'event != "isr exit"' "$trx"
check "several expressions narrow the report" 0 out 'isr enter' no-out 'isr exit' no-out 'queue'
run report --where 'class == "INT"' --event '!isr exit' "$trx"
check "an expression and a filter narrow the report" 0 out 'isr enter' no-out 'isr exit' \
    no-out 'queue'
run last 3 --where 'event == "isr enter"' --no-header "$trx"
is "last counts what the expression selects" "$(grep -c 'isr enter' "$work/out")" 3
run stats --json --where 'event == "isr enter"' "$trx"
check "stats takes an expression" 0
is "stats counts what the expression selects" "$(jq -s '.[0].range_events // .[0].events' out)" \
    "$("$ringside" report --json --event 'isr enter' "$trx" | wc -l)"
run top --batch --count 1 --where 'event == "isr enter"' threadx.log
check "top takes an expression" '0 3' out 'isr enter' no-out 'isr exit'
run info --where 'seq == 1' "$trx"
check "info takes no expression" 1 err "^ringside: --where: 'info' does not take this option"
# Each word that a report prints for a value selects it: "none" is no object.
for label in next_thread owner; do
    run report --where "$label == \"none\"" "$own/demo.trx"
    check "$label is none" 0
    is "$label is none, as often as printed" "$(grep -c " $label=none" out) $(grep -vc SEQ out)" \
        "$("$ringside" report "$own/demo.trx" | grep -c " $label=none" | sed 's/.*/& &/')"
done
run report --where 'info1 = 5' "$trx"
check "an error has a column" 1 \
    err '^ringside: --where: column 7: unexpected "="; use == to compare$'
run report --where 'thread == "main" && inf1 == 5' "$trx"
check "an unknown name is refused" 1 err "column 21: unknown name \"inf1\"; use 'info1', or"
run report --where 'dt > 1ms' "$trx"
check "a unit needs a rate" 1 err 'column 6: "1ms": the clock.s rate is not known; .* hz'
run report --where 'thread == "no such"' "$trx"
check "a text that nothing matches is refused" 1 err '"no such": no such name in this trace'
run report --where "$(printf '(%.0s' {1..100})" "$trx"
check "depth is limited" 1 err 'column 65: more than 64'
run report --where "$(printf 'seq==1||%.0s' {1..300})seq==1" "$trx"
check "the number of comparisons is limited" 1 err 'more than 256 comparisons'
run report --where "$(printf '%5000s' '')" "$trx"
check "length is limited" 1 err 'column 4097: longer than 4096 bytes'
run report --where "$trx"
check "an expression is needed" 1
run help report
check "help lists it" 0 out '^  --where EXPRESSION'
finish
