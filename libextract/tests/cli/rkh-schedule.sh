#!/bin/bash
# SPDX-License-Identifier: MIT
# rkh-schedule.sh: tests the schedule of an RKH stream from a real target. Trazer's lines for the
# same stream are the truth: when steps begin (GET) and end (EVT_PROC and the like), and the time
# from a post to its get (rt). Prints "ok NAME", "skip NAME: why" or "not ok NAME: why" for each
# test. Exit status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")/rkh
stream=$data/cm3_all_on.bin

if [ ! -e "$stream" ]; then
    echo "skip the schedule of an RKH stream: $data is not there"
    finish
fi
cd "$work" || exit 1

# ---- steps and responses, by Trazer ----

"$ringside" schedule --json "$stream" >schedule.json 2>err
is "schedule: status" $? 0
"$ringside" objects --json "$stream" | jq -c '{address, name}' >names.json
first=7 # the first timestamp, which is tick 0

# A line for each step that Trazer shows: object, begin, end, and the time since its post.
line='^ *\([0-9]*\)| \[[ 0-9]*\] | SM[A ] | \([A-Z_]*\) *: ao=\([a-z0-9]*\),*\(.*\)'
sed -n "s/$line/\\1 \\2 \\3 \\4/p" "$data/cm3_all_on.trazer.txt" |
    awk -v first=$first '
        $2 == "GET" { begin[$3] = $1 - first; rt[$3] = $0; sub(/.*rt=/, "", rt[$3])
                      sub(/,.*/, "", rt[$3]) }
        $2 ~ /^(EVT_PROC|EVT_NFOUND|GRD_FALSE)$/ && $3 in begin {
            print $3, begin[$3], $1 - first, rt[$3]; delete begin[$3] }' |
    sort -k2,2n >steps
is "steps that Trazer shows" "$(wc -l <steps)" 366
jq -rs --slurpfile names names.json '
    ($names | map({key: (.address | tostring), value: .name}) | from_entries) as $name |
    [.[] | select(.type == "state" and .state == "running" and .from >= 1000)] | sort_by(.from) |
    .[] | "\($name[.thread | tostring]) \(.from) \(.to)"' schedule.json >running
cut -d ' ' -f 1-3 steps | cmp -s - running
is "each step is running, and nothing else is" $? 0

# Where an object waited for the post, the time to its next step is what Trazer measured.
jq -rs --slurpfile names names.json '
    ($names | map({key: (.address | tostring), value: .name}) | from_entries) as $name |
    map(select(.type == "wake")) | .[] | "\($name[.thread | tostring]) \(.at)"' schedule.json |
    sort -k2,2n >wakes
awk 'NR == FNR { n[$1]++; begin[$1, n[$1]] = $2; rt[$1, n[$1]] = $4; next }
     { while (begin[$1, at[$1] + 1] != "" && begin[$1, at[$1] + 1] < $2) at[$1]++
       i = at[$1] + 1
       if (begin[$1, i] == "") next
       if (begin[$1, i] - $2 != rt[$1, i]) wrong++
       right++ }
     END { print right + 0, wrong + 0 }' steps wakes >latencies
read -r compared wrong <latencies
is "latencies of wake-ups that differ from Trazer's" "$wrong" 0
is "wake-ups with a latency" "$((compared > 250))" 1

# ---- times add up ----

span=$("$ringside" stats --json "$stream" | jq .span_ticks)
is "intervals add up" \
    "$(jq -s 'map(select(.type == "interval") | .to - .from) | add' schedule.json)" "$span"
for name in server cli0 cli1 cli2 cli3; do
    ran=$(awk -v name=$name '$1 == name { sum += $3 - $2 } END { print sum }' steps)
    # The initial step comes before tick 1000.
    early=$(jq -s --slurpfile names names.json --arg name $name '
        ($names[] | select(.name == $name).address) as $thread |
        map(select(.type == "state" and .state == "running" and .thread == $thread and
                   .to < 1000) | .to - .from) | add' schedule.json)
    is "$name: ticks" "$("$ringside" stats --json "$stream" |
        jq ".threads[] | select(.name == \"$name\").ticks")" "$((ran + early))"
done

# ---- commands ----

run why server "$stream"
check "why" 0 out '^server  273.0 ms' out 'ready; cli[0-9] had the core (post by l_isr_tick #' \
    out 'still waits for queue'
run why --json server "$stream"
is "parts add up" \
    "$(jq -s 'all(.[]; (.segments | map(.to - .from) | add) == .to - .from)' out)" true
run stats "$stream"
check "stats" 0 out '^server .* 25\.' out '^thread  *responses' out '^active object'
run assert 'response(server).p99 < 300' 'latency(cli3).max > 600' 'load(cli0) < 50%' "$stream"
check "assert" 0 out '^ok 3'
# For a third of the time, it is unknown what had the core.
run assert 'load(cli0) < 12%' "$stream"
check "a load that may be higher" 3 out '= 10\.8'
run diff "$stream" "$stream"
check "diff" 0 out '^no change is certain or likely'

# ---- counters of queues and pools, by Trazer ----

line='^ *\([0-9]*\)| \[[ 0-9]*\] | \(RQ\|MP\) *| \([A-Z_]*\) *: [a-z]*=\([^, ]*\)\(.*\)'
sed -n "s/$line/\\1 \\2 \\3 \\4 \\5/p" "$data/cm3_all_on.trazer.txt" |
    awk -v first=$first '
        function number(name) { sub(".*" name "=", ""); sub(/,.*/, ""); return $0 }
        $3 == "INIT" { next }
        { at = $1 - first; object = tolower($4); kind = $2 == "MP" ? "left" : "queued"
          value = $3 == "GET_LAST" ? 0 : number($2 == "MP" ? "nfree" : "nelem")
          print at, kind, object, value }' >levels
"$ringside" export -q --to jsonl "$stream" -o - |
    jq -r 'select(.type == "counter" and .counter != "load") |
        "\(.at) \(.counter) \(.object_name | ascii_downcase) \(.value)"' |
    sed -E 's/ 0x0*/ 0x/' >counters
sed -E -i 's/ 0x0*/ 0x/' levels
is "levels that Trazer shows" "$(wc -l <levels)" 948
is "counters of queues and pools" "$(diff levels counters | head -3)" ''

# ---- streams without what a schedule needs ----

run schedule "$data/x86_overrun_noseq.bin"
check "without sequence numbers" 2 err 'no event of this trace shows a schedule'
run stats "$data/x86_overrun_noseq.bin"
check "stats without sequence numbers" 3 no-out '^thread  *responses'

# After a part is cut out, nothing is claimed across it.
head -c 40000 "$stream" >cut.bin
tail -c +42000 "$stream" >>cut.bin
run schedule --json cut.bin
gap=$("$ringside" report --json --event RINGSIDE_LOST cut.bin 2>err | jq -s '.[0].ticks')
is "the gap" "$((gap > 1000))" 1
is "nothing is known in a gap" "$(jq -s --argjson gap "$gap" 'map(select(.from < $gap and .to > $gap
    and (.type == "state" or .type == "interval") and
    (.state // .kind) != "unknown")) | length' out)" 0
finish
