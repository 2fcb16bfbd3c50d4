#!/bin/bash
# SPDX-License-Identifier: MIT
# chart-calls.sh: compares the arrows of `ringside chart` for ThreadX and POSIX traces with what jq
# computes from `ringside schedule --json` and `ringside report --json`, and checks filters, losses,
# limits and hostile names. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if
# any failed. Reads BUILD and RINGSIDE_DATA.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
demo=$here/../data/demo.trx
cd "$work" || exit 1
export LC_ALL=C.UTF-8

# lines FILE: prints the arrows of a chart with the names of lifelines: FROM|ARROW|TO|LABEL|TIME.
lines() {
    awk '/^e[0-9]+ \[label="/ {
            split($0, part, "\""); name[$1] = part[2]; next
        }
        match($0, /(->|=>|>>|>)/) && / # / {
            from = substr($0, 1, RSTART - 1); arrow = substr($0, RSTART, RLENGTH)
            rest = substr($0, RSTART + RLENGTH)
            to = rest; sub(/:.*/, "", to)
            label = substr(rest, length(to) + 3); sub(/; # .*/, "", label)
            time = rest; sub(/.* # /, "", time)
            print (from in name ? name[from] : from) "|" arrow "|" (to in name ? name[to] : to) \
                "|" label "|" time
        }' "$1"
}

# Names of what recorded an event, and of objects, with the events in $events and objects in
# $objects.
words='
($objects | map({key: "\(.key // .address)", value: .name}) | from_entries) as $names |
($events | map({key: "\(.seq)", value: .}) | from_entries) as $at |
($types | from_entries) as $type_names |
def shown: $names["\(.)"] // "0x\(.)";
def who: if .context == "isr" then (if .isr then "interrupt \(.isr)" else "interrupt" end)
    elif .context == "thread" then .thread | shown else .context end;
def service: $type_names["\(.id)"];
'
# One line per wake-up whose reason is a service, as the chart has them.
wakes='
$schedule[] | select(.type == "wake" and .reason == "service") |
"\($at["\(.event)"] | who)|=>|\(.thread | shown)|\($at["\(.cause)"] | service)" +
(if .object and .object != .thread then ": \(.object | shown)" else "" end) +
(if .likely then " (likely)" else "" end)'
timeouts='
$schedule[] | select(.type == "wake" and .reason == "timeout") | "\(.thread | shown)|\(.at)"'
# What is taken at once, as OBJECT|TAKER|TIME.
takes='
$events[] | (.fields | objects) as $f | select(
    (.id == 68 and $f.enqueued > 0) or (.id == 83 and $f["current count"] > 0) or
    (.id == 32 and ([range(0; 32) as $b | select(($f.wanted / pow(2; $b) | floor) % 2 == 1) |
        ($f.current / pow(2; $b) | floor) % 2] |
        if $f.option >= 2 then all(.[]; . == 1) else any(.[]; . == 1) end))) |
"\(.info[0] | shown)|\(who)|\(.ticks)"'
# Whose message each receiver takes, by a list of each queue that is exact from the first time on
# that the queue is empty: "SENDER, +TIME", or "?".
origins='
([$schedule[] | select(.type == "wake" and .cause) | "\(.cause)"] | unique |
    map({key: ., value: true}) | from_entries) as $woke |
[foreach ($events[] | select(.id == 63 or .id == 68 or .id == 69)) as $e ({lists: {}};
    "\($e.info[0])" as $q | $e.fields.enqueued as $n | .out = null |
    (if $n == 0 then .lists[$q] = [] else . end) |
    (if .lists[$q] and (.lists[$q] | length) != $n then .lists[$q] = null else . end) |
    if $e.id == 68 then
        (if $n == 0 then . elif .lists[$q] then
            .out = (.lists[$q][0] | "\(.from), +\($e.ticks - .ticks)") | .lists[$q] |= .[1:]
         else .out = "?" end)
    elif .lists[$q] and ($woke["\($e.seq)"] | not) then
        .lists[$q] = (if $e.id == 63 then [{from: ($e | who), ticks: $e.ticks}] + .lists[$q]
            else .lists[$q] + [{from: ($e | who), ticks: $e.ticks}] end)
    else . end; .out // empty)] | .[]'

ask() { # PROGRAM: runs a program of jq over the schedule, events and objects.
    jq -n -r --slurpfile schedule schedule.json --slurpfile events events.json \
        --slurpfile objects objects.json --slurpfile types types.json \
        "(\$types[0]) as \$types | $words $1"
}

# The names of events, by id.
awk -F '\t' '!/^#/ && $1 ~ /^[0-9]+$/ {
        printf "%s{\"key\":\"%s\",\"value\":\"%s\"}", n++ ? "," : "[", $1, $3
    }
    END { print "]" }' "$here/../../reading/formats/threadx-events.tsv" >types.json

same() { # NAME: checks that the files "mine" and "theirs" are equal.
    if cmp -s mine theirs; then
        ok "$1"
    else
        fail "$1" "$(diff mine theirs | sed -n 1,3p | tr '\n' ' ')"
    fi
}

compare() { # NAME TRACE
    local name=$1 trace=$2
    run chart "$trace" -o chart.signalling
    check "$name: chart" '0 3'
    lines chart.signalling >lines
    "$ringside" schedule --json "$trace" >schedule.json 2>err
    "$ringside" report --json "$trace" 2>err | jq -c 'select(.context != "recorder")' >events.json
    "$ringside" objects --json "$trace" >objects.json 2>err
    grep -F '|=>|' lines | grep -v '|thread resume|' | cut -d '|' -f 1-4 | sort >mine
    ask "$wakes" | sort >theirs
    same "$name: an arrow for each wake-up by a service"
    grep -F '|>>|' lines | awk -F '|' '{print $3 "|" $5}' >mine
    ask "$timeouts" >theirs
    same "$name: an arrow for each timeout"
    grep -E '\|->\|[^|]*\|(queue receive|semaphore get|event flags get):' lines |
        awk -F '|' '{print $1 "|" $3 "|" $5}' >mine
    ask "$takes" >theirs
    same "$name: an arrow for each call that takes something"
    grep -E '\|->\|[^|]*\|queue receive:' lines |
        sed -E 's/.*, from ([^|]*)\|.*/\1/; t; s/.*/-/' >mine
    ask "$origins" >theirs
    # What the list of jq does not know, the chart may know.
    paste -d '\t' mine theirs | awk -F '\t' '$2 == "?" {$1 = "?"} {print $1}' >known
    mv known mine
    same "$name: messages are paired as in a list of each queue"
    is "$name: each send has one arrow or a wait" \
        "$(grep -cE '\|(queue send|queue front send): ' lines)" \
        "$(jq -s 'map(select(.id == 69 or .id == 63)) | length' events.json)"
}

compare demo "$demo"
for name in threadx/cm3_slow threadx/demo_threadx threadx/demo_netx_udp threadx/a35smp_spin \
    schedule/sim02 schedule/sim05 schedule/sim10 schedule/sim15 schedule/sim18; do
    trace=$data/$name.trx
    [ -e "$trace" ] || { echo "skip $name: no such trace"; continue; }
    compare "$name" "$trace"
done

# ---- FreeRTOS ----

gunzip -c "$here/../data/freertos/ram.bin.gz" >freertos.bin
gunzip -c "$here/../data/freertos/firmware.elf.gz" >freertos.elf
run chart --elf freertos.elf freertos.bin@0x20000000 -o chart.signalling
check "FreeRTOS: chart" '0 3'
lines chart.signalling >lines
"$ringside" schedule --json --elf freertos.elf freertos.bin@0x20000000 >schedule.json 2>err
is "FreeRTOS: an arrow for each wake-up" "$(grep -c '|=>|' lines)" \
    "$(jq -s 'map(select(.type == "wake" and (.reason == "service" or
        (.reason == "unknown")))) | length' schedule.json)"
is "FreeRTOS: by services" \
    "$(grep -F '|=>|' lines | cut -d '|' -f 4 | grep -cv rtos_thread_ready)" \
    "$(jq -s 'map(select(.type == "wake" and .reason == "service")) | length' schedule.json)"
is "FreeRTOS: hand-checked" "$(sed -n '/|20361240$\|0.020361240$/,/mutex_put/p' lines |
    cut -d '|' -f 1-4 | head -n 8)" 'interrupt 25|=>|sensor|rtos_semaphore_put: device
sensor|=>|filter|rtos_queue_send: samples
sensor|>|sensor|waits: device
filter|>|filter|waits: samples
interrupt 15|=>|System Timer Th|rtos_thread_ready
interrupt 25|=>|sensor|rtos_semaphore_put: device
sensor|=>|filter|rtos_queue_send: samples
sensor|>|sensor|waits: device'
run chart --elf freertos.elf freertos.bin@0x20000000 -o chart.svg
check "FreeRTOS: a dot for what a woken thread takes" '0 3'
is "FreeRTOS: which waited" "$(grep -c 'class="dot".*rtos_queue_receive: samples +0\.' chart.svg)" \
    "$(grep -c 'rtos_queue_receive: samples, from sensor' chart.svg)"

# ---- options ----

run chart --from 1312000 --to 1313000 "$demo" -o chart.signalling
check "a part" '0 3'
is "a part: hand-checked" "$(lines chart.signalling)" \
    'interrupt 25|=>|sensor|semaphore put: device|1312028
sensor|=>|filter|queue send: samples|1312427
sensor|>|sensor|waits: device|1312569
filter|=>|comms|event flags set: sample flags|1312814
filter|>|filter|waits: samples|1312894'
run chart --thread comms --to 2000000 "$demo" -o chart.signalling
is "a thread: what it does, and what wakes it" "$(lines chart.signalling | cut -d '|' -f 1-4 |
    sort -u)" 'comms|>|comms|waits: sample flags
filter|=>|comms|event flags set: sample flags'
run chart --event 'queue send' "$demo" -o chart.signalling
is "an event" "$(lines chart.signalling | cut -d '|' -f 1-4 | sort -u)" \
    'sensor|=>|filter|queue send: samples'
run chart --object samples --last 2 "$demo" -o chart.signalling
is "an object" "$(lines chart.signalling | cut -d '|' -f 4 | sort -u)" \
    'queue send: samples
waits: samples'
run chart --where 'event == "semaphore put"' "$demo" -o chart.signalling
is "an expression" "$(lines chart.signalling | cut -d '|' -f 4 | sort -u)" \
    "$("$ringside" report --json "$demo" 2>err | jq -r 'select(.id == 88) |
        "semaphore put: \(.names.semaphore)"' | sort -u)"
run chart --hz 25000000 --last 30 "$demo" -o chart.signalling
is "seconds" "$(grep -cE '; # [0-9]+\.[0-9]{9}$' chart.signalling)" \
    "$(grep -c '; # ' chart.signalling)"
run chart --event 'time get' "$demo" -o -
check "nothing to draw" '0 3' out 'The view has no event for a chart'

# ---- losses, limits, other formats ----

gunzip -c "$here/../data/log-version-1/threadx-append.log.gz" >gaps.log
run chart gaps.log -o chart.signalling
check "losses" 3
is "losses: rows" "$(grep '^\.\.\.' chart.signalling)" \
    "$("$ringside" report --json gaps.log 2>err | jq -r -s '
    map(select(.event == "RINGSIDE_LOST" or .event == "RINGSIDE_RESET")) |
    (map(.event) | index("RINGSIDE_RESET")) as $reset |
    "...: at least \(.[:$reset] | map(.lost_at_least) | add) events lost; # \(.[0].ticks)",
    "...: the target was restarted; # \(.[$reset].ticks)",
    "...: events missing or damaged; # \(.[$reset + 1].ticks)"')"
run chart --from 92000000 gaps.log -o chart.signalling
is "losses: a part" "$(grep -c '^\.\.\.' chart.signalling)" 2
run chart gaps.log -o chart.svg
check "losses: as SVG" 3
run chart "$here/../data/hooks.bin" --hook bits=32,order=big,tid=4,stamp=4 -o -
check "hook words without roles" 2 err 'no event of this trace shows a schedule'
is "and nothing is printed" "$(cat out)" ""
gunzip -c "$here/../data/log-version-1/posix-loop.log.gz" >posix.log
run chart posix.log -o -
check "a POSIX trace of an application" 2 err 'no event of this trace shows a schedule'

# ---- hostile names ----

LC_ALL=C sed 's/supervisor/\x1b[2J\xff\n\t<\/s>/; s/samples/q"#;]}/' "$demo" >hostile.trx
run chart hostile.trx -o chart.signalling
check "hostile names" '0 3'
is "hostile names: no control characters" "$(LC_ALL=C tr -d '\n -~' <chart.signalling | wc -c)" 0
is "hostile names: escaped" "$(grep -cF 'queue send: q\"\#\;\]\}' chart.signalling)" \
    "$(grep -c 'queue send:' chart.signalling)"
run chart hostile.trx -o hostile.svg
check "hostile names: SVG" '0 3'
if command -v xmllint >/dev/null; then
    "$ringside" chart "$demo" -o demo.svg 2>err
    is "SVG is well-formed" "$(xmllint --noout chart.svg hostile.svg demo.svg 2>&1)" ""
else
    echo "skip SVG is well-formed: there is no xmllint"
fi
finish
