#!/bin/bash
# SPDX-License-Identifier: MIT
# export.sh: compares the exports of a trace with its reports, through a parser of each format that
# is not ours: sqlite3 (CSV), jq (JSON), vcd2fst and fst2vcd (VCD). Prints "ok NAME" or "not ok
# NAME: why" for each test. Exit status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
demo=$here/../data/demo.trx
cd "$work" || exit 1

# ---- arguments ----

run export "$demo"
check "no output" 1 err 'no output file is given'
run export "$demo" -o out.xyz
check "an ending without a format" 1 err 'use --to NAME'
run export --to cvs "$demo" -o out.csv
check "an unknown format" 1 err '"csv"\|csv'
run export "$demo" -o missing/out.csv
check "a directory that does not exist" 2 err 'missing/out.csv'
run export --to csv --to 85 "$demo" -o -
check "--to with a name and with a time" 0 out '^0,0,' no-out '^[0-9]*,410,'
cp "$demo" own.trx
run export --to csv own.trx -o own.trx
check "the input as the output" 1 err 'own.trx: is an input; use the name of another file'
cp "$here/../data/hooks.bin" firmware.elf
run export --to csv --elf firmware.elf own.trx -o firmware.elf
check "the firmware as the output" 1 err 'firmware.elf: is an input'
run export "$demo" -o ''
check "an empty name of the output" 1 err 'no output file is given'
run export --to csv --json "$demo" -o -
check "an option of reports" 1 err 'use --to jsonl for JSON' no-out .
run export --to csv --elf-b firmware.elf "$demo" -o -
check "an option for two traces" 1 err '^ringside: --elf-b: only for two traces'
run export "$demo" -o UP.CSV
check "an ending in capitals" 0
ln -s nowhere link
for name in csv sqlite; do
    run export --to $name "$demo" -o link
    check "$name: a link that leads nowhere" 2 err 'link: is a dangling symbolic link'
done
is "the link stays" "$(readlink link)" nowhere
run export --to ctf "$demo" -o missing/sub
check "a directory in one that does not exist" 2 err 'missing/sub: .*use a path in a directory'
is "the input stays" "$(cmp own.trx "$demo" && echo the same)" "the same"
mkfifo pipe.sqlite
run export "$demo" -o pipe.sqlite
check "a pipe for a format that seeks" 2 err 'pipe.sqlite: is a device or a pipe'
is "the pipe stays" "$([ -p pipe.sqlite ] && echo a pipe)" "a pipe"
rm pipe.sqlite
run export --event nothing "$demo" -o empty.csv
check "a filter that matches nothing" 1
run export --to csv "$demo" -o -
check "standard output" 0 out '^seq,ticks,'
echo old >kept.csv
run export --to vcd "$here/../data/trcfmt-cases.tsv" -o kept.csv
is "a failed export keeps the old file" "$(cat kept.csv)" old
# A filter that names nothing makes no file, and does not replace one.
echo old >kept.sqlite
run export --thread typo "$demo" -o kept.sqlite
check "a filter that names nothing, to a file" 1 err '"typo": no such name'
is "it keeps the old file" "$(cat kept.sqlite)" old
run export --to ctf --where "thread=='typo'" "$demo" -o kept.ctf
check "a filter that names nothing, to a directory" 1 err 'typo'
is "it makes no directory" "$(ls -d kept.ctf* 2>&1 | grep -c '^kept')" 0
for name in svg vcd ctf-lttng; do
    run export --to $name "$here/../data/hooks.bin" -o noroles
    check "$name of hook words without roles" 2 err 'say with --roles'
done

# ---- names ----

# Bytes that are not text are shown as in reports, and user events have the names of their types.
LC_ALL=C sed 's/supervisor/super\xffisor/g' "$demo" >bytes.trx
is "jsonl: a name that is not text" "$("$ringside" export --to jsonl bytes.trx -o - 2>err |
    jq -r '.thread_name, .name | select(. and test("^super"))' | sort -u)" 'super\xffisor'
gunzip -c "$here/../data/log-version-1/posix-append.log.gz" >named.log
run export named.log -o named.csv
is "csv: the name of a user event" "$(sqlite3 :memory: -cmd '.import --csv named.csv e' \
    "select distinct event from e where id = 33")" temperature

# ---- the formats ----

# Reads a CSV file with sqlite3, and prints it as JSON.
read_csv() { # FILE
    sqlite3 :memory: -cmd '.mode json' ".import --csv $1 e" 'select * from e'
}

compare_csv() { # NAME TRACE [OPTION...]
    local name=$1 trace=$2
    shift 2
    run export "$@" "$trace" -o "$name.csv"
    check "$name: csv" '0 3'
    "$ringside" report --json "$@" "$trace" 2>err | jq -c '
        [.seq, .ticks, .raw_stamp, .core, .context, .thread_name, .id, (.info | map(tostring))]' \
        >expected
    read_csv "$name.csv" | jq -c '.[] | [(.seq, .ticks, .raw_stamp, .core | tonumber), .context,
        (if .context == "thread" then .thread_name else null end), (.id | tonumber),
        ([.info1, .info2, .info3, .info4, .info5, .info6, .info7, .info8] |
            map(select(. != "")))]' \
        >got
    if cmp -s got expected; then
        ok "$name: csv has the events of the report"
    else
        fail "$name: csv has the events of the report" "$(diff got expected | sed -n 2,3p)"
    fi
}

compare_jsonl() { # NAME TRACE [OPTION...]
    local name=$1 trace=$2
    shift 2
    run export "$@" "$trace" -o "$name.jsonl"
    check "$name: jsonl" '0 3'
    is "$name: jsonl has the events of the report" \
        "$(jq -c 'select(.type == "event") | [.seq, .ticks, .core, .context, .thread, .id]' \
            "$name.jsonl" | md5sum)" \
        "$("$ringside" report --json "$@" "$trace" 2>err | jq -c 'select(.context != "recorder") |
            [.seq, .ticks, .core, .context, .thread, .id]' | md5sum)"
    is "$name: no key has a blank" "$(jq -c '[.. | objects | keys[] | select(test(" "))] |
        .[]' "$name.jsonl")" ''
}

# The schedule in JSON lines is that of the command.
compare_schedule() { # NAME TRACE
    "$ringside" schedule --json "$2" 2>err >schedule.json
    is "$1: slices" "$(jq -c 'select(.type == "slice") | [.core, .from, .to, .kind, .unsure]' \
        "$1.jsonl" | md5sum)" \
        "$(jq -c 'select(.type == "interval") | [.core, .from, .to, .kind, .unsure]' \
            schedule.json | md5sum)"
    is "$1: states" "$(jq -c 'select(.type == "state") | [.thread, .from, .to, .state]' \
        "$1.jsonl" | md5sum)" \
        "$(jq -c 'select(.type == "state") | [.thread, .from, .to, .state]' schedule.json | md5sum)"
    is "$1: wake-ups" "$(jq -c 'select(.type == "wake") | [.at, .thread, .reason]' "$1.jsonl" |
        md5sum)" "$(jq -c 'select(.type == "wake") | [.at, .thread, .reason]' schedule.json |
        md5sum)"
    run export --to chrome "$2" -o "$1.json"
    check "$1: chrome" '0 3'
    is "$1: chrome has the states" "$(jq '[.traceEvents[] | select(.ph == "X" and .pid == 1)] |
        length' "$1.json")" "$(jq -s 'map(select(.type == "state")) | length' schedule.json)"
    is "$1: chrome has the slices" "$(jq '[.traceEvents[] | select(.ph == "X" and .pid == 2)] |
        length' "$1.json")" "$(jq -s 'map(select(.type == "interval")) | length' schedule.json)"
    is "$1: chrome has the flows" "$(grep -c '"ph":"s"' "$1.json")" "$(woken_and_run schedule.json)"
    is "$1: each flow of chrome begins in a slice of its track" "$(jq '[.traceEvents |
        (map(select(.ph == "X")) | group_by([.pid, .tid]) |
            map({key: "\(.[0].pid) \(.[0].tid)", value: .}) | from_entries) as $slices |
        .[] | select(.ph == "s") | . as $flow | $slices["\(.pid) \(.tid)"] |
        any(.ts <= $flow.ts and $flow.ts <= .ts + .dur + 0.0005)] | all' "$1.json")" true
}

# After a round trip through FST, each core's signal has the intervals of the schedule, and is
# unknown after them. An interval with the same value as the one before it is no change in FST.
compare_vcd() { # NAME TRACE
    run export "$2" --hz 1000000000 -o "$1.vcd"
    check "$1: vcd" '0 3'
    vcd2fst "$1.vcd" "$1.fst" >/dev/null 2>&1 && fst2vcd "$1.fst" >back.vcd
    is "$1: vcd round trip" "$(awk '$1 == "$var" && $5 == "core_0" {code = $4}
        /^#/ {at = substr($0, 2)} /^s/ && $2 == code && $1 != last {print at, substr($1, 2)
        last = $1}' back.vcd | md5sum)" \
        "$("$ringside" export --to jsonl "$2" -o - 2>err | jq -s -r 'map(select(.type == "slice")) |
            (map(.to) | max) as $last | map(select(.core == 0)) |
            (.[] | "\(.from) \(if .kind == "thread" then .thread_name |
            gsub("[^A-Za-z0-9_.+-]"; "_") elif .kind == "isr" and .isr != null then
            "\(.kind)_\(.isr)" else .kind end)"),
            (map(.to) | max | select(. < $last) | "\(.) unknown")' |
            awk '$2 != last {print; last = $2}' | md5sum)"
}

# A signal keeps its value until the next change, so the times of the states of each thread show
# that it becomes unknown where the schedule has no state. Unknown times are left out.
compare_vcd_states() { # NAME TRACE
    run export "$2" --hz 1000000000 -o "$1.vcd"
    is "$1: vcd has the times of states" "$(awk '
        function add() {
            sub(/:.*/, "", value[code])
            if (value[code] && value[code] != "unknown")
                print name[code], value[code], at - since[code]
        }
        $1 == "$scope" {is_thread = $3 == "threads"} $1 == "$var" && is_thread {name[$4] = $5}
        /^#/ {at = substr($0, 2)}
        /^s/ && $2 in name {code = $2; add(); value[code] = substr($1, 2); since[code] = at}
        END {for (code in name) add()}' "$1.vcd" | sum_times)" \
        "$("$ringside" export --to jsonl "$2" -o - 2>err | jq -r 'select(.type == "state" and
            .state != "unknown") | "\(.thread_name | gsub("[^A-Za-z0-9_.+-]"; "_")) \(.state) " +
            "\(.to - .from)"' | sum_times)"
}
sum_times() {
    awk '{sum[$1 " " $2] += $3} END {for (i in sum) if (sum[i]) print i, sum[i]}' | sort
}

# The load of core 0 is known for as long as the schedule knows what had it: a value is that of the
# time to the next one, so a loss must end it. Prints the sum of "TIME VALUE" lines without "null".
known_time() { # END
    awk -v end="$1" 'value != "" && value != "null" {sum += $1 - at} {at = $1; value = $2}
        END {print sum + (value == "null" ? 0 : end - at)}'
}
compare_loads() { # NAME TRACE
    local name=$1 trace=$2 end known
    for kind in jsonl chrome vcd sqlite; do
        rm -f "loads.$kind"
        "$ringside" export -q --to $kind --hz 1000000000 "$trace" -o "loads.$kind" 2>err
    done
    "$ringside" schedule --json --hz 1000000000 "$trace" >schedule.json 2>err
    end=$(jq -s 'map(select(.type == "interval") | .to) | max' schedule.json)
    known=$(jq -s 'map(select(.type == "interval" and .core == 0 and .kind != "unknown") |
        .to - .from) | add' schedule.json)
    is "$name: jsonl has no load of unknown time" "$(jq -r 'select(.counter == "load" and
        .core == 0) | "\(.at) \(.value)"' loads.jsonl | known_time "$end")" "$known"
    is "$name: chrome has no load of unknown time" "$(jq -r '.traceEvents[] |
        select(.ph == "C" and .name == "load" and .id == "core 0") | "\(.ts * 1000 | round) " +
        "\(.args.value | if . == -1 then null else . end)"' loads.chrome | known_time "$end")" \
        "$known"
    is "$name: vcd has no load of unknown time" "$(awk '$1 == "$scope" {is_counter = \
        $3 == "counters"} is_counter && $5 == "load.core_0" {code = $4} /^#/ {at = substr($0, 2)}
        /^b/ && $2 == code {print at, $1 == "bx" ? "null" : $1}' loads.vcd |
        known_time "$end")" "$known"
    is "$name: sqlite has no load of unknown time" "$(sqlite3 -separator ' ' -nullvalue null \
        loads.sqlite "SELECT ticks, value FROM counter WHERE counter = 'load' AND core = 0
            ORDER BY rowid" | known_time "$end")" "$known"
}

# What calls state of queues, pools and semaphores, and the use of stacks, is unknown after a gap,
# until the next call states it.
compare_levels() { # NAME TRACE
    local name=$1 trace=$2 kind
    for kind in jsonl chrome vcd sqlite; do
        rm -f "levels.$kind"
        "$ringside" export -q --to $kind --hz 1000000000 "$trace" -o "levels.$kind" 2>err
    done
    # Each event after a gap must find no counter with a value that is older than the gap.
    jq -s -c '[.[] | select(.type == "loss" or .type == "counter" and .counter != "load")] |
        reduce .[] as $row ({known: {}, due: {}, kept: 0, ended: 0};
        if $row.type == "loss" then .due += .known | .known = {}
        else "\($row.counter) \($row.object)" as $key |
            if $row.value == null then .ended += 1 else .kept += (if .due[$key] then 1 else 0 end) |
                .known[$key] = true end | del(.due[$key]) end) |
        [.kept, .ended > 1]' levels.jsonl >got
    is "$name: no level is kept through a gap" "$(cat got)" '[0,true]'
    jq -r 'select(.type == "counter" and .counter != "load") |
        "\(.counter) \(.object_name) \(.at) \(.value)"' levels.jsonl | sort >levels
    is "$name: levels in chrome" "$(jq -r '.traceEvents[] | select(.ph == "C" and
        .name != "load") | "\(.name) \(.id) \(.ts * 1000 | round) " +
        "\(.args.value | if . == -1 then null else . end)"' levels.chrome | sort | md5sum)" \
        "$(md5sum <levels)"
    is "$name: levels in sqlite" "$(sqlite3 -nullvalue null -separator ' ' levels.sqlite "SELECT
        counter, coalesce((SELECT name FROM object WHERE address = counter.object),
        printf('0x%08x', object)), ticks, value FROM counter WHERE counter <> 'load'" | sort |
        md5sum)" \
        "$(md5sum <levels)"
    is "$name: levels that vcd ends" "$(awk '$1 == "$scope" {is_counter = $3 == "counters"}
        is_counter && $5 !~ /^load/ {ours[$4]} /^bx/ && $2 in ours && (known[$2]) {n++}
        /^b/ {known[$2] = $1 != "bx"} END {print n + 0}' levels.vcd)" \
        "$(grep -c null levels)"
}

compare_csv demo "$demo"
compare_csv filtered "$demo" --class SVC --thread 'w*'
compare_jsonl demo "$demo"
compare_schedule demo "$demo"
compare_vcd demo "$demo"
compare_vcd_states demo "$demo"
gunzip -c "$(dirname "$demo")/log-version-1/threadx-append.log.gz" >append.log
compare_vcd_states losses append.log
compare_loads demo "$demo"
compare_loads losses append.log
compare_levels losses append.log
# 8 entries are overwritten, so that they are damaged.
cp "$demo" damaged.trx
head -c 256 /dev/zero | dd of=damaged.trx bs=1 conv=notrunc 2>err \
    seek="$(($(od -An -tu4 -j24 -N4 "$demo") - $(od -An -tu4 -j8 -N4 "$demo") + 400 * 32))"
compare_levels damage damaged.trx

# Names that VCD cannot tell apart, and objects of one name.
LC_ALL=C sed 's/worker A/net:rx\x00\x00/; s/worker B/net rx\x00\x00/; s/control\x00/net_rx\x00\x00/
    s/sensor\x00/bus\x00\x00\x00\x00/; s/filter\x00/bus\x00\x00\x00\x00/' "$demo" >names.trx
for kind in vcd chrome; do
    "$ringside" export -q --to $kind names.trx -o "names.$kind" 2>err
done
is "names: vcd" "$(awk '$1 == "$scope" {scope = $3} $1 == "$var" {print scope, $5}' names.vcd |
    sort | uniq -d)" ""
is "names: vcd has as many tracks" "$(grep -c '^\$var' names.vcd)" \
    "$("$ringside" export -q --to vcd "$demo" -o - | grep -c '^\$var')"
is "names: vcd's values are names of tracks" "$(awk '$1 == "$scope" {scope = $3}
    $1 == "$var" && scope == "threads" {names[$5] = 1} $1 == "$var" && $5 == "core_0" {core = $4}
    /^s/ && $2 == core && !(substr($1, 2) in names) {print substr($1, 2)}' names.vcd | sort -u)" \
    "$("$ringside" export -q --to vcd "$demo" -o - | awk '$1 == "$scope" {scope = $3}
    $1 == "$var" && scope == "threads" {names[$5] = 1} $1 == "$var" && $5 == "core_0" {core = $4}
    /^s/ && $2 == core && !(substr($1, 2) in names) {print substr($1, 2)}' | sort -u)"
counter_ids() { jq -r '.traceEvents[] | select(.ph == "C") | .name + .id' "$1" | sort -u | wc -l; }
"$ringside" export -q --to chrome "$demo" -o demo.chrome
is "names: chrome's ids" "$(counter_ids names.chrome)" "$(counter_ids demo.chrome)"

# What is lost or damaged is in each format, and in the reports.
"$ringside" report --json -q damaged.trx >report.json 2>err
is "damage: report" "$(jq -c 'select(.context == "recorder") | [.event, .fields.entries]' \
    report.json)" '["RINGSIDE_BROKEN",8]'
before=$(jq -s 'map(.event == "RINGSIDE_BROKEN") | index(true)' report.json)
is "damage: between its neighbors" "$(jq -s -c --argjson at "$before" \
    '[.[$at - 1].ticks == .[$at].ticks, .[$at + 1].flags]' report.json)" '[true,["gap"]]'
for filter in --event=TX_TRACE_MUTEX_GET --event=RINGSIDE_BROKEN --class=SVC --object=bus; do
    is "damage: $filter" "$("$ringside" report --json -q "$filter" damaged.trx |
        grep -c '"RINGSIDE_BROKEN"')" 1
done
is "damage: filtered out" "$("$ringside" report --json -q --event=RINGSIDE_LOST damaged.trx |
    grep -c '"RINGSIDE_BROKEN"')" 0
is "damage: timeline" "$("$ringside" timeline --json -q damaged.trx | jq -s '.[0].lost != []')" true
see_losses() { # NAME TRACE CSV JSONL CHROME SQLITE
    local name=$1 trace=$2 kind
    for kind in csv jsonl chrome sqlite; do
        rm -f "seen.$kind"
        "$ringside" export -q --to $kind "$trace" -o "seen.$kind" 2>err
    done
    is "$name: csv" "$(read_csv seen.csv | jq -r '.[] | select(.context == "recorder") |
        "\(.ticks) \(.text)"')" "$3"
    is "$name: jsonl" "$(jq -r 'select(.type == "loss") | "\(.ticks) \(.text)"' seen.jsonl)" "$4"
    is "$name: chrome" "$(jq -r '.traceEvents[] | select(.s == "g").args.text' seen.chrome)" "$5"
    is "$name: sqlite" "$(sqlite3 seen.sqlite 'SELECT ticks, text FROM loss WHERE is_loss')" "$6"
}
text='entries damaged reason=invalid entries=8 bytes=256'
at=$(jq -s --argjson at "$before" '.[$at].ticks' report.json)
see_losses damage damaged.trx "$at $text" "$at $text" "$text" "$at|$text"
text='events lost reason=unknown lost_at_least=2 lost_exact=yes'
see_losses "an unknown time" "$here/../data/hooks.bin" " $text" '' "$text" "|$text"
is "an unknown time: csv has no number of it" "$(read_csv seen.csv |
    jq -c '.[0] | [.seq, .ticks, .seconds, .raw_stamp]')" '["","","",""]'
is "an unknown time: jsonl" "$(jq 'select(.type == "trace").events_lost' seen.jsonl)" 2
gunzip -c "$here/../data/log-version-1/posix-until-full.log.gz" >full.log
see_losses "a full log" full.log '0 recording started
75344 log full' '75344 log full' 'recording started
log full' '75344|log full'
for name in demo_threadx demo_filex demo_netx_udp a35smp_spin; do
    trace=$data/threadx/$name.trx
    [ -e "$trace" ] || { echo "skip $name: no such trace"; continue; }
    compare_csv "$name" "$trace"
    compare_jsonl "$name" "$trace"
    compare_schedule "$name" "$trace"
    compare_vcd "$name" "$trace"
done

# A load is that of the time from its window's begin, so it is within the trace.
is "the load begins and ends with the trace" "$(jq -s -c 'map(select(.type == "counter" and
    .counter == "load") | .at) | [min, max < 8490846]' demo.jsonl)" '[0,true]'

# The schedule of a time is that of all cores, up to its ends.
smp=$data/threadx/a35smp_spin.trx
if [ -e "$smp" ]; then
    "$ringside" schedule --json --from 100000000 --to 200000000 "$smp" >schedule.json 2>err
    "$ringside" export --to jsonl --from 100000000 --to 200000000 "$smp" -o part.jsonl 2>err
    is "a range: slices" \
        "$(jq -c 'select(.type == "slice") | [.core, .from, .to]' part.jsonl | sort | md5sum)" \
        "$(jq -c 'select(.type == "interval") | [.core, .from, .to]' schedule.json | sort | md5sum)"
    is "a range: events" "$(grep -c '"type":"event"' part.jsonl)" \
        "$("$ringside" report --json --from 100000000 --to 200000000 "$smp" 2>err | wc -l)"
fi

# ---- names of events ----

# Names of user events that the firmware has, a file of the user has, and templates for hook words.
zcat "$(dirname "$demo")/rkh/firmware.elf.gz" >rkh.elf
zcat "$(dirname "$demo")/rkh/stream.bin.gz" >rkh.bin
printf 'Start\n4097,pump on,AB,0,0,0,0,0,0,int,x,y,z\nEnd\n' >user.trxc
printf '101 1.0 L=APPL "take lock" $D1%%X4\n' >own.fmt
names_of() { # NAME ID OPTION-AND-INPUT...
    local name=$1 id=$2
    shift 2
    for kind in jsonl chrome sqlite csv perfetto; do
        rm -f "names.$kind"
        "$ringside" export -q --to $kind "$@" -o "names.$kind" 2>err
    done
    is "$name: jsonl" "$(jq -r "select(.type == \"event\" and .id == $id) | .name" names.jsonl |
        sort -u)" "$name"
    is "$name: sqlite" \
        "$(sqlite3 names.sqlite "SELECT DISTINCT name FROM event WHERE id = $id")" "$name"
    is "$name: chrome" "$(jq -r '.traceEvents[] | select(.ph == "i") | .name' names.chrome |
        grep -cFx "$name")" "$(sqlite3 names.sqlite "SELECT count(*) FROM event WHERE id = $id")"
    is "$name: csv" "$(sqlite3 :memory: '.import --csv names.csv e' \
        "SELECT DISTINCT event FROM e WHERE id = $id")" "$name"
    is "$name: perfetto" "$(protoc -I "$(dirname "$demo")/export" --decode perfetto.protos.Trace \
        perfetto.proto <names.perfetto | grep -cF "name: \"$name\"")" 1
}
names_of USR_SAMPLE 192 --elf rkh.elf rkh.bin
names_of "pump on" 4097 --user-events user.trxc "$demo"
names_of "take lock" 4112 --templates own.fmt "$(dirname "$demo")/hooks.bin"
is "the text is that of the template" \
    "$(sqlite3 names.sqlite 'SELECT text FROM event WHERE id = 4112 LIMIT 1')" "take lock 20004638"

# ---- hostile names ----

# The demo with a name that is a formula, closes a script, and has a quote and invalid UTF-8.
LC_ALL=C sed 's/supervisor/="<\/s>;\xff,\n/' "$demo" >hostile.trx
if cmp -s "$demo" hostile.trx; then
    fail "hostile names" "the demo has no thread supervisor"
fi
run export hostile.trx -o hostile.csv
check "hostile names: csv" '0 3'
is "hostile names: csv has all lines" "$(read_csv hostile.csv | jq length)" \
    "$(read_csv demo.csv | jq length)"
is "hostile names: no cell is a formula" \
    "$(read_csv hostile.csv | jq -r '.[].thread_name' | grep -c '^=')" 0
for kind in jsonl chrome vcd; do
    run export --to $kind hostile.trx -o "hostile.$kind"
    check "hostile names: $kind" '0 3'
done
is "hostile names: jsonl" "$(jq -c . hostile.jsonl | wc -l)" "$(wc -l <demo.jsonl)"
is "hostile names: chrome" "$(jq '.traceEvents | length' hostile.chrome)" \
    "$(jq '.traceEvents | length' demo.json)"
vcd2fst hostile.vcd hostile.fst >/dev/null 2>&1
is "hostile names: vcd" "$(fst2vcd hostile.fst | grep -c '^s')" \
    "$(fst2vcd demo.fst | grep -c '^s')"
# Losses of which only the number is known.
for format in jsonl chrome; do
    run export --to $format "$(dirname "$demo")/hooks.bin" -o -
    check "$format: the number of lost events" 3 out '"events_lost":2'
done
finish
