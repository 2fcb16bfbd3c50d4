#!/bin/bash
# SPDX-License-Identifier: MIT
# timeline.sh: compares the columns that `ringside timeline` draws with those that jq computes from
# `ringside schedule --json`, and checks widths, characters, names and losses. Prints "ok NAME" or
# "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
demo=$here/../data/demo.trx
cd "$work" || exit 1
export LC_ALL=C.UTF-8
unset COLUMNS

# The state of each thread that lasts longest in each column, from the states in schedule.json.
longest='
def word: if .unsure and .state != "blocked" then "unknown"
    elif .state == "completed" or .state == "terminated" then "suspended" else .state end;
def at($from; $span; $columns; $i): $from + ($span * $i / $columns | floor);
map(select(.type == "state")) as $states |
($states | group_by(.thread) | map({key: "\(.[0].thread)", value: .}) | from_entries) as $of |
($lanes[0].from) as $from | ($lanes[0].to - $from) as $span | $lanes[0].columns as $columns |
$lanes[1:][] | select(.lane == "thread") | . as $lane |
[range(0; $columns) as $i | at($from; $span; $columns; $i) as $a |
    at($from; $span; $columns; $i + 1) as $b |
    [$of["\($lane.address)"][]? | select(.from < $b and .to > $a) |
        {state: word, ticks: (([.to, $b] | min) - ([.from, $a] | max))}] |
    (group_by(.state) | map({state: .[0].state, ticks: (map(.ticks) | add)})) as $sums |
    ($b - $a - ($sums | map(.ticks) | add // 0)) as $rest |
    ($sums + [{state: "idle", ticks: $rest}] | map(.ticks) | max) as $most |
    {most: ($sums + [{state: "idle", ticks: $rest}] | map(select(.ticks == $most) | .state)),
     ran: any($sums[]; .state == "running" and .ticks > 0)}] as $expected |
[$lane.columns, $expected] | transpose | map(. as [$got, $want] |
    if $got == "part" then $want.ran and ($want.most != ["running"])
    else any($want.most[]; . == $got) end) | [$lane.name, all]'

compare() { # NAME TRACE [OPTION...]
    local name=$1 trace=$2
    shift 2
    run timeline --json "$@" "$trace"
    check "$name: timeline" '0 3'
    cp out lanes.json
    "$ringside" schedule --json "${@:1:4}" "$trace" >schedule.json 2>err
    is "$name: each column has the longest state" \
        "$(jq -c -s --slurpfile lanes lanes.json "$longest" schedule.json | grep -vc 'true')" 0
    # The lane of a thread that does not exist yet is idle.
    is "$name: all threads" "$(jq -s 'map(select(.lane == "thread" and
        any(.columns[]; . != "idle"))) | length' lanes.json)" \
        "$(jq -s 'map(select(.type == "state") | .thread) | unique | length' schedule.json)"
}

compare demo "$demo"
compare span "$demo" --from 1990000 --to 1993000
compare narrow "$demo" --from 0 --to 9000000 --width 20
compare wide "$demo" --from 100 --to 200000 --width 300
for name in threadx/demo_filex threadx/a35smp_spin schedule/sim02 schedule/sim18; do
    trace=$data/$name.trx
    [ -e "$trace" ] || { echo "skip $name: no such trace"; continue; }
    compare "$name" "$trace"
done

# ---- the picture ----

columns() { wc -L <out; }
run timeline "$demo"
check "without a terminal" 0 out '^worker A ' out '█ running'
is "80 columns" "$(columns)" 80
run timeline --width 20 "$demo"
is "20 columns" "$(grep -v '^[^ ] \|running\|suspended' out | wc -L)" 20
check "a cut name" 0 out '^Syste… '
run timeline --width 19 "$demo"
check "too narrow" 1 err '20 to 1000'
run timeline --ascii --width 300 "$demo"
is "ASCII" "$(LC_ALL=C grep -c '[^ -~]' out)" 0
check "ASCII: a legend" 0 out '# running  | ran for a part  = ready  _ blocked'
LC_ALL=C run timeline "$demo"
is "a locale without the shapes" "$(LC_ALL=C grep -c '[^ -~]' out)" 0
run timeline --color=always "$demo"
sed 's/\x1b\[[0-9]*m//g' out >plain
run timeline "$demo"
is "color only adds" "$(md5sum <plain)" "$(md5sum <out)"
run timeline --hz 25000000 --from 79ms --to 80ms "$demo"
check "a time in seconds" 0 out ' 79000 us .* 79500 us'
run timeline --no-header "$demo"
is "without a header" "$(wc -l <out)" "$("$ringside" timeline --json "$demo" | sed 1d | wc -l)"
run timeline --thread 'worker*' "$demo"
is "chosen threads" "$(grep -c '^worker' out) $(grep -c '^comms' out)" '2 0'
run timeline --event 'queue*' "$demo"
is "threads with chosen events" \
    "$(awk '/^[a-z]/ && !/^(core|interrupt)/ {print $1}' out | sort | xargs)" \
    "$("$ringside" report --json --event 'queue*' "$demo" | jq -r .thread_name | sort -u | xargs)"
run timeline --thread nobody "$demo"
check "no such thread" 1 err 'nobody'
is "no such thread: no picture" "$(wc -c <out)" 0

# ---- names, losses, other formats ----

LC_ALL=C sed 's/supervisor/\x1b[2J\xff\n\t<\/s>/' "$demo" >hostile.trx
run timeline hostile.trx
check "hostile names" '0 3' no-out $'\x1b'
# Wide and combining characters: wc -L asks the C library how many columns a line has.
accent='\xe7\x9b\xa3\xe8\xa6\x96e\xcc\x81r' emoji='\xf0\x9f\x94\xa7tele '
LC_ALL=C sed "s/supervisor/$accent/; s/telemetry/$emoji/" "$demo" >wide.trx
run timeline wide.trx
widths() { while IFS= read -r line; do wc -L <<<"$line"; done | sort -u | xargs; }
lanes() { sed '1,2d' out | head -n "$("$ringside" timeline --json wide.trx | sed 1d | wc -l)"; }
is "wide names: the columns of all lanes" "$(lanes | widths)" 80
is "wide names: they are there" "$(grep -c "^監視e.r  \|^🔧tele " out)" 2
run timeline --width 20 wide.trx
is "wide names that are cut" "$(lanes | widths)" 20
gunzip -c "$here/../data/log-version-1/threadx-append.log.gz" >gaps.log
run timeline gaps.log
check "losses" 3 out '╱ lost' out '─╱'
"$ringside" timeline --json gaps.log 2>err | head -n 1 >lanes.json
"$ringside" report --json gaps.log 2>err >report.json
# A loss lasts from the event before it to the next one.
is "losses: their columns" "$(jq -c '.lost' lanes.json)" \
    "$(jq -c -s --slurpfile all lanes.json '$all[0] as $a | ($a.to - $a.from) as $span |
    [foreach .[] as $e ({newest: 0}; .gap = null |
        if $e.event == "RINGSIDE_LOST" then .lost = true
        elif $e.context == "recorder" then .
        else .gap = (if .lost then [.newest, $e.ticks] else null end) | .lost = false |
            .newest = $e.ticks end; .gap // empty)] |
    map(map((. - $a.from) * $a.columns / $span) | [range(.[0] | floor; .[1])]) | add |
    unique' report.json)"
is "losses: no thread ends there" "$("$ringside" timeline --json gaps.log 2>err |
    jq -r 'select(.lane == "thread" and any(.columns[]; . == "idle")) | .name')" ''
gunzip -c "$here/../data/rkh/stream.bin.gz" >stream.bin
run timeline stream.bin
check "RKH" '0 3' out '^sampler '
gunzip -c "$here/../data/log-version-1/posix-loop.log.gz" >posix.log
# The data of one core end before those of the other: then it is not idle, but unknown.
if [ -e "$data/schedule/sim05.trx" ]; then
    run merge --cores "$data/schedule/sim02.trx" "$data/schedule/sim05.trx" -o cores.log
    check "two cores" 0
    is "the core whose data end first" "$("$ringside" timeline --json cores.log 2>err |
        jq -r 'select(.name == "core 1") | .columns[-1]')" unknown
    is "the threads of that core" "$("$ringside" timeline --json cores.log 2>err |
        jq -r 'select(.lane == "thread" and .columns[-1] == "idle") | .name')" ''
    # A board that began later, and ended earlier.
    run merge --offset "$data/schedule/sim05.trx=20000" "$data/schedule/sim02.trx" \
        "$data/schedule/sim05.trx" -o boards.log
    is "the threads of a board without data" "$("$ringside" timeline --json boards.log 2>err |
        jq -r 'select(.lane == "thread" and (.name | startswith("sim05/"))) |
            [.columns[0], .columns[-1]] | join(" ")' | sort -u)" 'unknown unknown'
else
    echo "skip two cores: no such trace"
fi
# The second job is deleted after this time, and the third one is created.
run timeline --from 4000000 --to 5000000 "$here/../data/demo.trx"
check "a thread that does not exist yet" 0 out '^job~2 ' no-out '^job  '
run timeline posix.log
check "no schedule" 2 err 'no event of this trace shows a schedule'
finish
