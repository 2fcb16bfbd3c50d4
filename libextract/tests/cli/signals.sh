#!/bin/bash
# SPDX-License-Identifier: MIT
# signals.sh: tests --signal, and that a thread, object, signal, event, class or core that the trace
# does not have is an error, with the names that exist and without an empty report, for every
# command that takes these filters. Prints "ok NAME" or "not ok NAME: why" for each test. Reads
# BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=$(realpath "$(dirname "$0")/../data")
gunzip -c "$data/rkh/stream.bin.gz" >"$work/stream.bin"
cd "$work" || exit 1
rkh=(--hz 48828 stream.bin)

run report --object BLOCK "${rkh[@]}"
cp out parts
run report --signal BLOCK "${rkh[@]}"
as_parts "a signal by its name"
run report --signal 1 "${rkh[@]}"
as_parts "a signal by its number"
run report --signal 'BL*' "${rkh[@]}"
as_parts "a signal by a pattern"
run report --signal '!SAMPLE' "${rkh[@]}"
check "all but a signal" 0 out 'signal=BLOCK' no-out 'signal=SAMPLE'

# ---- objects that only the ELF names ----

gunzip -c "$data/rkh/ram.bin.gz" >ring.ram
gunzip -c "$data/rkh/firmware.elf.gz" >ring.elf
ring=(--elf ring.elf ring.ram@0x20000000)
run report --no-header "${ring[@]}"
grep -E '=logger\.equeue( |$)' out >one
grep -E '\.equeue( |$)' out >all
grep -vE '=logger\.equeue( |$)' out >others
numbers() { awk '{printf "%s ", $1}' "$1"; }
for filter in 'logger.equeue one' '*.equeue all' '!logger.equeue others'; do
    run report --no-header --object "${filter% *}" "${ring[@]}"
    check "--object ${filter% *}" 0 out .
    is "--object ${filter% *}: its events" "$(numbers out)" "$(numbers "${filter#* }")"
done
run report --object 'nosuch.equeue' "${ring[@]}"
check "--object of no member" 1 no-out . err 'no such name.*[.]equeue'

# OPTION NAME WAY-OUT INPUT...
refused() {
    local option=$1 name=$2 way=$3 command
    shift 3
    for command in report 'last 3' stats timeline 'export --to csv -o -' \
        'export --to jsonl -o -' 'chart -o -'; do
        # shellcheck disable=SC2086
        run $command "$option" "$name" "$@"
        check "$command $option $name of ${!#}" 1 no-out . \
            err "\"$name\": no .* in this trace; $way"
    done
}
for name in nosuch 99 sampler; do
    refused --signal "$name" 'use one of: SAMPLE, BLOCK, PAUSE' "${rkh[@]}"
done
for name in nosuch 0x99; do
    refused --thread "$name" 'use one of: sampler, filter, logger' "${rkh[@]}"
    refused --object "$name" 'use one of: ' "${rkh[@]}"
    refused --signal "$name" 'only RKH has signals' "$data/demo.trx"
    refused --thread "$name" 'use one of: .*supervisor' "$data/demo.trx"
    refused --object "$name" 'use one of: samples' "$data/demo.trx"
done

# What the format defines, but the trace does not contain.
refused --event 9999 'use one of: thread resume, thread suspend, ' "$data/demo.trx"
refused --event RKH_TE_UT_SUCCESS 'use one of: pool init, ' "${rkh[@]}"
for name in TX_TRACE_QUEUE_DELETE 'queue del*' 'queue delete,9999' nosuch; do
    run report --event "$name" "$data/demo.trx"
    check "report --event $name" 1 no-out . \
        err 'no such .* in this trace; use one of: thread resume, thread suspend, '
done

# Filters that fit events, but none in common, and ranges without an event.
empty() { # NAME MESSAGE COMMAND... -- FILTER...
    local name=$1 message=$2 commands=()
    shift 2
    while [ "$1" != -- ]; do
        commands+=("$1")
        shift
    done
    shift
    for command in "${commands[@]}"; do
        # shellcheck disable=SC2086
        run $command "$@"
        check "$command: $name" 1 no-out . err "^ringside: $message\$"
    done
}
events=(report 'last 3' stats 'report --json' 'stats --json' 'report -r' 'chart -o -'
    'export --to csv -o -' 'export --to trx -o -')
states=(timeline 'export --to svg -o -' 'export --to jsonl -o -' 'export --to vcd -o -')
empty "each exists, but not together" \
    'filters: .*; of 462 events, event "user_event_4096" alone fits 6, class "INT" alone fits 80' \
    "${events[@]}" "${states[@]}" -- \
    --class INT --event user_event_4096 "$data/demo.trx"
both='of 462 events, thread "control" alone fits 34, object "samples" alone fits 14'
empty "a thread and an object" "filters: no event of this trace fits all of them; $both" \
    "${events[@]}" "${states[@]}" -- --thread control --object samples "$data/demo.trx"
empty "after the trace" \
    '--from: "8490847": after the last event of this trace; use 0 to 8490846 ticks' \
    "${events[@]}" "${states[@]}" schedule -- --from 8490847 "$data/demo.trx"
empty "after it, with a unit" \
    '--from: "9s": after the last event of this trace; use 0.000000s to 8.490846s' \
    "${events[@]}" "${states[@]}" schedule -- --from 9s --hz 1000000 "$data/demo.trx"
empty "between two events" \
    '--from: "10us": no event in this range; the nearest events are at 0.000us and 30.000us' \
    "${events[@]}" -- --from 10us --to 29us --hz 1000000 "$data/demo.trx"
for command in "${states[@]}" schedule; do # states pass between events
    # shellcheck disable=SC2086
    run $command --from 10 --to 29 "$data/demo.trx"
    check "$command: between two events" 0 out 'sensor' no-err .
done
empty "a thread without events then" \
    'filters: no event .* thread "control" alone fits 34, from "0" to "100" alone fits 3' \
    "${events[@]}" -- --thread control --from 0 --to 100 "$data/demo.trx"
run timeline --thread control --from 0 --to 100 "$data/demo.trx"
check "its state is drawn" 0 out '^control'
run report --to 29 --no-header "$data/demo.trx" # the first event is at 0
check "a range with one event" 0 out 'time get' no-err .
empty "no event of an expression" \
    '--where: "info1 == 123456789": no event of this trace fits; the trace has 462 events' \
    "${events[@]}" "${states[@]}" -- --where 'info1 == 123456789' "$data/demo.trx"
empty "all but all" '--event: "!\*": no event of this trace fits; the trace has 462 events' \
    "${events[@]}" "${states[@]}" -- --event '!*' "$data/demo.trx"
run why comms --to 0 "$data/demo.trx"
check "why --to 0" 1 err '^ringside: --to: "0": no time of this trace is before it'
run why comms --from 9s --hz 1000000 "$data/demo.trx"
check "why --from after the trace" 1 \
    err '^ringside: --from: "9s": no time from 9000000 to 8490846; use times before 8.490846s$'
for name in 7 '3 7' 255 256 999; do
    run report -C "$name" "$data/demo.trx"
    check "core $name" 1 no-out . \
        err "\"${name%% *}\": no event of this core in this trace; use one of: 0\$"
done
gunzip -c "$data/rtos/ram.bin.gz" >rtos.bin
gunzip -c "$data/rtos/firmware.elf.gz" >rtos.elf
run report --event 65000 --elf rtos.elf rtos.bin@0x20000000
check "types that the trace names" 1 no-out . err 'use one of: posix_trace_start, .*rtos_switch, '
run report -d 999 "$data/demo.trx"
check "hook ids that no event has" 1 no-out . err 'no such event in this trace; use one of: '
printf 'as before' >kept.svg
run export --to svg --event 9999 -o kept.svg "$data/demo.trx"
check "an export of no events" 1 err 'no such event in this trace'
if grep -q '^as before$' kept.svg; then
    ok "it leaves the file as it was"
else
    fail "it leaves the file as it was" "$(head -c 80 kept.svg)"
fi

# A filter is not empty if some of its names exist, or if it leaves out what does not.
run report --no-header --event TX_TRACE_MUTEX_GET "$data/demo.trx"
cp out parts
run report --no-header --event 9999,TX_TRACE_MUTEX_GET "$data/demo.trx"
as_parts "one of two types exists"
run report --no-header -C 0 "$data/demo.trx"
cp out parts
run report --no-header -C '7 0' "$data/demo.trx"
as_parts "one of two cores exists"
run report --no-header --event '!9999' --event '!queue delete' "$data/demo.trx"
as_parts "what does not exist is left out"

# Losses may be absent: that is the answer. So it is for assertions.
run report --event RINGSIDE_LOST "$data/demo.trx"
check "no losses" 0 no-err .
run assert 'count(9999) == 0' 'count(queue_delete) == 0' "$data/demo.trx"
check "assertions about what never happens" 0
run last 0 "$data/demo.trx"
check "no events, as requested" 0 no-err .

# What arrives while it is printed may have such events later.
cat stream.bin | timeout "$limit" "$ringside" report --format rkh --event RKH_TE_UT_SUCCESS - \
    >"$work/out" 2>"$work/err"
status=$?
check "a type that may still come" 0 no-err 'no such'
cat stream.bin | timeout "$limit" "$ringside" report --format rkh --from 99999999999 - \
    >"$work/out" 2>"$work/err"
status=$?
check "a time that may still come" 0 no-err 'after the last event'
finish
