#!/bin/bash
# SPDX-License-Identifier: MIT
# export-perfetto.sh: decodes traces for Perfetto with protoc, and compares what they hold with the
# reports of the same traces. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if
# any failed. Reads BUILD and RINGSIDE_DATA.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
demo=$here/../data/demo.trx
cd "$work" || exit 1

# Decodes FILE.pftrace into FILE.jsonl, after a check that each field is one of the schema.
decode() { # FILE NAME
    protoc -I "$here/../data/export" --decode perfetto.protos.Trace perfetto.proto \
        <"$1.pftrace" >"$1.txt" 2>err
    is "$2: protoc" "$?" 0
    is "$2: no unknown field" "$(grep -cE '^ *[0-9]+(:| \{)' "$1.txt")" 0
    # protoc escapes bytes that are not ASCII as octal numbers.
    awk -f "$here/export-perfetto.awk" "$1.txt" | sed 's/\\[0-7]\{3\}/?/g; s/\\'"'"'/'"'"'/g' \
        >"$1.jsonl"
}
# The same list of both sides.
same() { # NAME FILTER EXPECTED-FILE EXPECTED-FILTER
    is "$1" "$(jq -cS "$2" trace.jsonl 2>&1 | sort | md5sum)" \
        "$(jq -cS "$4" "$3" 2>&1 | sort | md5sum)"
}
count() { jq -c "$1" trace.jsonl | grep -c .; }

compare() { # NAME TRACE [OPTION...]
    local name=$1 trace=$2
    shift 2
    set -- --hz 1000000000 "$@" # one tick is one nanosecond, so that no time is rounded
    run export "$@" "$trace" -o trace.pftrace
    check "$name: export" '0 3'
    decode trace "$name"
    "$ringside" report --json "$@" "$trace" >report.json 2>err
    same "$name: an instant with its fields for each event" \
        'select(.type == "instant" and .track != "recorder" and .name != "wake-up") |
            [.at, .fields]' report.json \
        'select(.context != "recorder" and .ticks != null) | [.ticks, .fields + .names]'
    "$ringside" schedule --json "$@" "$trace" >schedule.json 2>err || return
    same "$name: the slices" 'select(.type == "slice" and .track != "recorder") |
            [.group, .from, .to]' schedule.json 'select(.type == "interval" and .kind != "idle") |
            ["core \(.core)", .from, .to]'
    same "$name: the interrupts" 'select(.type == "slice") | select(.track |
            test("^interrupt [0-9]")) | [.name, .track, .from, .to]' schedule.json \
        'select(.type == "interval" and .isr != null) | ["interrupt \(.isr)", "interrupt \(.isr)",
            .from, .to]'
    same "$name: the states" 'select(.type == "state") | [.at, (.name | split(" ")[0] |
            rtrimstr(","))] | select(.[1] != "unknown")' schedule.json \
        'select(.type == "state" and .state != "unknown") | [.from, .state]'
    is "$name: a task state for each state" "$(count 'select(.type == "task")')" \
        "$(count 'select(.type == "state")')"
    same "$name: a flow for each wake-up" 'select(.type == "flow") | .at' schedule.json \
        'select(.type == "wake" and .reached != "suspended") | .at'
    is "$name: flows end behind their begin" "$(jq -s 'map(select(.type == "flow")) as $flows |
        ($flows | map({key: "\(.id)", value: .at}) | from_entries) as $begin |
        map(select(.type == "end")) | all($begin["\(.id)"] <= .at)' trace.jsonl)" true
    is "$name: a flow ends in the next slice of its thread" "$(count 'select(.type == "end")')" \
        "$(woken_and_run schedule.json)"
    is "$name: balanced slices" "$(count 'select(.type == "unbalanced")')" 0
    "$ringside" stats --json "$@" "$trace" >stats.json 2>err
    is "$name: the time of each thread" "$(jq -s -c 'map(select(.type == "slice" and
            (.track | test("^(interrupt|start-up|unknown|recorder)") | not))) | group_by(.track) |
            map([.[0].track, (map(.to - .from) | add)])' trace.jsonl)" \
        "$(jq -c '.threads | map(select(.ticks > 0)) | group_by(.name) |
            map([.[0].name, (map(.ticks) | add)])' stats.json)"
    # A value of the load is that of the time to the next one; -1 is an unknown load.
    local end known
    end=$(jq -s 'map(select(.type == "interval") | .to) | max // 0' schedule.json)
    known=$(jq -s 'map(select(.type == "interval" and .core == 0 and .kind != "unknown") |
        .to - .from) | add // 0' schedule.json)
    is "$name: no load of unknown time" "$(jq -r 'select(.type == "counter" and
            .track == "load of core 0") | "\(.at) \(.value)"' trace.jsonl |
        awk -v end="$end" 'NR > 1 && value >= 0 {sum += $1 - at} {at = $1; value = $2}
            END {print sum + (NR && value >= 0 ? end - at : 0)}')" "$known"
    # A queue has the most messages when a call finds or, with RKH, leaves them.
    is "$name: the most messages of a queue" "$(jq -s -c 'map(select(.type == "counter" and
            (.track | startswith("queued: ")))) | group_by(.track) |
            map(map(.value) | max) | sort' trace.jsonl)" \
        "$(jq -c '(.levels // []) + (.queues // []) | map(select(.most_queued != null) |
            .most_queued) | sort' stats.json)"
}

compare demo "$demo"
is "demo: the load" "$(jq -s 'map(select(.type == "counter" and .track == "load of core 0") |
    .value) | length > 100 and max <= 100 and min >= 0' trace.jsonl)" true
gunzip -c "$here/../data/rkh/stream.bin.gz" >stream.bin
compare rkh stream.bin
compare hook "$here/../data/hooks.bin"
is "hook: losses at an unknown time" \
    "$(jq -r 'select(.type == "slice" and .track == "recorder") | .name' trace.jsonl)" \
    "$("$ringside" info --json "$here/../data/hooks.bin" 2>err |
        jq -r '"\(.events_lost) events lost, at an unknown time"')"
for log in threadx-append threadx-loop rkh posix-append hook; do
    gunzip -c "$here/../data/log-version-1/$log.log.gz" >$log.log
    compare $log.log $log.log
done
for name in demo_threadx demo_filex demo_netx_udp a35smp_spin; do
    trace=$data/threadx/$name.trx
    [ -e "$trace" ] || { echo "skip $name: no such trace"; continue; }
    compare "$name" "$trace"
done

# ---- losses, filters, names ----

# Perfetto draws the last state of a thread until the end of the trace.
run export threadx-append.log -o end.pftrace
decode end "last states"
"$ringside" schedule --json threadx-append.log >schedule.json 2>err
is "threads are unknown after their last states" "$(jq -s 'map(select(.type == "state")) |
    group_by(.track) | map(select(last.name == "unknown")) | length' end.jsonl)" \
    "$(jq -s 'map(select(.type == "state" or .type == "interval")) | (map(.to) | max) as $last |
        map(select(.type == "state")) | group_by(.thread) |
        map(select((map(.to) | max) < $last)) | length' schedule.json)"

# 8 entries are overwritten, so that they are damaged.
cp "$demo" damaged.trx
offset=$(($(od -An -tu4 -j24 -N4 "$demo") - $(od -An -tu4 -j8 -N4 "$demo") + 100 * 32))
head -c 256 /dev/zero | dd of=damaged.trx bs=1 seek="$offset" conv=notrunc 2>err
run export --hz 1000000000 damaged.trx -o trace.pftrace
check "damaged entries: export" 3
decode trace "damaged entries"
is "damaged entries: a slice of the recorder" \
    "$(count 'select(.type == "slice" and .track == "recorder")')" 1
run export --event 'queue*' "$demo" -o trace.pftrace
check "a filter: export" 0
decode trace "a filter"
is "a filter: wake-ups without their events" \
    "$(count 'select(.type == "flow")')" \
    "$("$ringside" schedule --json "$demo" |
        jq -c 'select(.type == "wake" and .reached != "suspended")' | grep -c .)"
LC_ALL=C sed 's/supervisor/="<\/s>;\xff,\n/' "$demo" >hostile.trx
run export hostile.trx -o trace.pftrace
check "hostile names: export" '0 3'
decode trace "hostile names"
is "hostile names: all lines are valid" "$(jq -c . trace.jsonl 2>&1 | grep -c '^{')" \
    "$(wc -l <trace.jsonl)"
finish
