#!/bin/bash
# SPDX-License-Identifier: MIT
# export-ctf.sh: reads CTF exports with babeltrace2 and the analysis tools of LTTng, and compares
# what they see with the reports. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status
# 1 if any failed. Reads BUILD and RINGSIDE_DATA.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
demo=$here/../data/demo.trx
cd "$work" || exit 1
command -v babeltrace2 >/dev/null || fail "tools" "babeltrace2 is not installed"
for log in "$here"/../data/log-version-1/*.log.gz; do
    gunzip -c "$log" >"$(basename "$log" .gz)"
done
gunzip -c "$here/../data/rkh/stream.bin.gz" >stream.bin

# Runs jq with the functions of export-ctf.jq.
ctf_jq() { # FILTER [OPTION...]
    local filter=$1
    shift
    jq -L "$here" "$@" "include \"export-ctf\"; $filter"
}

# ---- arguments ----

run export --to ctf "$demo" -o -
check "standard output" 1 err 'use -o DIRECTORY'
mkdir full && touch full/file
run export --to ctf "$demo" -o full
check "a directory that is not empty" 2 err 'use a new name'
is "a directory that is not empty is kept" "$(ls full)" file
run export --to ctf-lttng "$here/../data/freertos/ram.bin.gz" -o none
is "a failed export leaves nothing" "$(ls -d none* 2>/dev/null)" ''
run export --to ctf "$demo" -o trace/
check "a name that ends with a slash" 0
is "a new directory" "$(ls trace)" 'core0
metadata'

# ---- what Trace Compass refuses ----

# babeltrace2 accepts more than the CTF 1.8 reader of Trace Compass does, which reads numbers of 63
# bits and does not read on after a packet without events (version of 2026). Prints each fault: in
# the metadata, and in the packets of a stream, whose headers have 76 bytes.
compass() { # TRACE
    local stream at size begin end content packet seq discarded last sum
    grep -oE '[0-9]{19,}' "$1/metadata" | while read -r number; do
        [ "${#number}" = 19 ] && [[ ! $number > 9223372036854775807 ]] || echo "metadata: $number"
    done
    for stream in "$1"/*; do
        [ "${stream##*/}" != metadata ] || continue
        at=0 last='' sum=0 size=$(stat -c %s "$stream")
        while [ $at -lt "$size" ]; do
            read -r begin end content packet seq discarded < <(od -An -v -tu8 -w48 \
                -j$((at + 24)) -N48 "$stream")
            [ $((content / 8)) -gt 76 ] || echo "$stream: packet $seq is empty"
            [ "$packet" = "$content" ] || echo "$stream: packet $seq has $packet bits"
            [ "$begin" -le "$end" ] && [ "$begin" = "${last:-$begin}" ] ||
                echo "$stream: packet $seq from $begin to $end"
            [ "$discarded" -ge $sum ] || echo "$stream: packet $seq: $discarded discarded"
            last=$end sum=$discarded at=$((at + packet / 8))
        done
    done
}

# ---- ctf ----

# jq 1.6 rounds each number, and jq 1.7 those with which it computes: so the hexadecimal numbers
# that do not fit into 53 bits are decimal before jq sees them.
exact() { perl -pe 's/= 0x([0-9A-F]{14,})\b/"= " . hex($1)/ge'; }

# babeltrace2 gives the number, order, stamps and fields of the report.
compare_events() { # NAME TRACE [OPTION...]
    local name=$1 trace=$2
    shift 2
    rm -rf trace
    run export --to ctf "$@" "$trace" -o trace
    check "$name: ctf" '0 3'
    is "$name: Trace Compass reads it" "$(compass trace)" ''
    babeltrace2 --clock-cycles --no-delta trace 2>warnings | grep -v ' ringside_lost: ' |
        exact | ctf_jq event -Rc >got
    "$ringside" report --json -q "$@" "$trace" 2>/dev/null | timed | ctf_jq expected -c >report
    is "$name: as many events" "$(wc -l <got)" "$(wc -l <report)"
    is "$name: the events of the report" \
        "$(ctf_jq 'compare($g; $e)' -nr --slurpfile g got --slurpfile e report)" same
    is "$name: in order" "$(ctf_jq in_order -s <got)" true
}

# discarded NAME AT_LEAST: the warnings of babeltrace2 add up to a number.
discarded() {
    is "$1: discarded events" "$(awk '/Tracer discarded/ {for (i = 1; i < NF; i++)
        if ($i == "discarded") sum += $(i + 1)} END {print sum + 0}' warnings)" "$2"
}

compare_events threadx "$demo"
discarded threadx 0
compare_events filtered "$demo" --class SVC --thread 'w*'
compare_events range "$demo" --from 1000000 --to 2000000
compare_events hook "$here/../data/hooks.bin"
discarded "hook: losses at an unknown time" 2
compare_events rkh stream.bin
for name in hook posix-append posix-board posix-loop posix-until-full rkh threadx-append \
    threadx-loop threadx-openocd; do
    compare_events "$name.log" $name.log
    # Each loss has at least one event. A log that was full has lost an unknown number.
    discarded "$name.log" "$(jq -s 'map(if .event == "RINGSIDE_LOST" then
        [.fields.lost_at_least, 1] | max elif .event == "RINGSIDE_FULL" then 1 else 0 end) |
        add' report)"
    is "$name.log: numbers of losses" "$(babeltrace2 trace 2>/dev/null |
        sed -n 's/.* ringside_lost: .*at_least = \([0-9]*\).*/\1/p' |
        awk '{n += $1} END {print n + 0}')" \
        "$(jq -s 'map(if .event == "RINGSIDE_LOST" then .fields.lost_at_least
            elif .event == "RINGSIDE_FULL" then 1 else 0 end) | add' report)"
done
is "a marker is an event" "$(jq -s 'map(select(.event == "RINGSIDE_LOST")) | length' got)" 1
for name in demo_threadx demo_filex demo_netx_udp a35smp_spin; do
    trace=$data/threadx/$name.trx
    [ -e "$trace" ] || { echo "skip $name: no such trace"; continue; }
    compare_events $name "$trace"
    [ $name != a35smp_spin ] || is "a stream per core" "$(ls trace | tr '\n' ' ')" \
        'core0 core1 core2 core3 metadata '
done

# Seconds come from the clock's rate. 85 ticks of 1 MHz are 85 us.
run export --to ctf --hz 1000000 "$demo" -o hz
is "the clock's rate" "$(babeltrace2 hz | sed -n '3s/ .*//p')" '[00:00:00.000085000]'
run export --to ctf --hz 1 threadx-append.log -o ages
check "five years" '0 3'
is "five years: the last event" \
    "$(babeltrace2 --clock-seconds ages 2>/dev/null | sed -n '$s/\..*//p')" \
    "[$("$ringside" report --json -q --hz 1 threadx-append.log 2>/dev/null | tail -n 1 |
        jq .ticks)"
is "the text of a user event" "$(babeltrace2 hz | grep -m 1 USER_EVENT | grep -c 'text = "[^"]')" 1

# An entry that holds no valid event is missing between its neighbors.
head -c 4000 "$demo" >damaged.trx && head -c 32 /dev/zero | tr '\0' '\377' >>damaged.trx
tail -c +4033 "$demo" >>damaged.trx
compare_events damaged damaged.trx
is "damaged: discarded events" "$(grep -c \
    'discarded 1 event between \[00:00:00.002991145\] and \[00:00:00.002991266\]' warnings)" 1
run export --to ctf-lttng damaged.trx -o damaged
is "damaged: lttng" "$(babeltrace2 damaged 2>&1 | grep -c \
    'discarded 1 event between \[00:00:00.002991145\] and \[00:00:00.002991266\]')" 1

# ---- hostile names ----

# A name with a quote, a backslash, a newline, invalid UTF-8 and what ends a block of metadata; and
# one that a zero ends.
LC_ALL=C sed 's/supervisor/"\\\n\xff};\/*{ /; s/telemetry/tel\x00metry/' "$demo" >hostile.trx
for kind in ctf ctf-lttng; do
    run export --to $kind hostile.trx -o hostile-$kind
    check "hostile names: $kind" 0
done
babeltrace2 hostile-ctf 2>warnings >lines
is "hostile names: all events" "$(wc -l <lines)" 462
is "hostile names: as reports print it" \
    "$(grep -cF 'thread_name = "\"\\\\x0a\\xff};/*{ " }, {' lines)" 35
is "hostile names: a zero ends it" "$(grep -c 'thread_name = "tel" }' lines)" \
    "$(babeltrace2 hz | grep -c 'thread_name = "telemetry" }')"
is "hostile names: lttng" "$(babeltrace2 hostile-ctf-lttng |
    grep -cF 'next_comm = "\"\\\\x0a\\xff};/*{", next_tid')" 2
cat >hostile.trxc <<'EOF'
Start
0x1000,a"b\c};,,1,2,3,4,5,6,id,id,id name,{ "\;
End
EOF
run export --to ctf --user-events hostile.trxc "$demo" -o hostile-types
check "hostile types" 0
is "hostile types: names and labels" "$(babeltrace2 hostile-types | grep -cF 'a"b\c};: {' &&
    babeltrace2 hostile-types | grep -F 'seq = 39,' | sed 's/.*}, //')" '6
{ id = 0x2D, id_2 = 0x3C8, id_name = 0x34, _____ = 0x0 }'
(ulimit -f 16 && "$ringside" export --to ctf "$demo" -o large 2>errors)
is "a failed write" "$(sed 's/;.*//' errors) $(ls -d large* 2>/dev/null)" \
    'ringside: large: File too large '

# ---- ctf-lttng ----

# LTTng's analysis tools. Debian 13 does not have them.
has_tools=yes
for tool in lttng-cputop-mi lttng-schedlog-mi; do
    command -v $tool >/dev/null || has_tools=''
done
if [ -z "$has_tools" ] && apt-cache show python3-lttnganalyses >/dev/null 2>&1; then
    fail "tools" "LTTng's analysis tools are not installed"
elif [ -z "$has_tools" ]; then
    echo "skip LTTng's analysis tools: this system has no package of them"
fi
by_tools() { [ -z "$has_tools" ] || "$@"; } # COMMAND...: if they are there

# The figures of LTTng's tools, in ticks, since an unknown rate is shown as 1 GHz.
analyze() { # TRACE [OPTION...]
    rm -rf trace
    run export --to ctf-lttng "$@" -o trace
    is "$(basename "$1"): Trace Compass reads it" "$(compass trace/kernel)" ''
    {
        by_tools lttng-irqstats-mi trace >irqstats
        by_tools lttng-schedlog-mi trace >schedlog
        by_tools lttng-schedtop-mi trace --limit 1 >schedtop
        by_tools lttng-schedstats-mi trace >schedstats
        by_tools lttng-cputop-mi trace --limit 1000 >cputop
    } 2>analysis
    "$ringside" stats --json -q "$@" >stats 2>/dev/null
    "$ringside" schedule --json -q "$@" >schedule 2>/dev/null
}

# As in Linux, the time of a thread includes that of the interrupts that interrupted it. What the
# schedule does not cover is unknown.
compare_loads() { # NAME
    is "$1: loads of threads" "$(jq -c '.results[0]["time-range"].end.value as $span |
        [.results[] | select(.class == "per-process").data[] | select(.[0].tid < 1000000 and
        .[0].tid > 0) | [.[0].name, (.[3].value * $span | round)]] | sort' cputop)" \
        "$(jq -nc --slurpfile stats stats --slurpfile parts schedule '
        ($parts | map(select(.kind == "isr" and .thread))) as $isrs | [$stats[0].threads[] |
        .address as $a | [.name[0:15], .ticks + ([$isrs[] | select(.thread == $a) | .to - .from] |
        add // 0)] | select(.[1] > 0)] | sort')"
    is "$1: unknown time" "$(jq -c '.results[0]["time-range"].end.value as $span |
        [.results[] | select(.class == "per-process").data[] | select(.[0].name |
        startswith("unknown/")) | .[3].value * $span | round] | add // 0' cputop)" \
        "$(jq --slurpfile cputop cputop '$cputop[0].results[0]["time-range"].end.value as $span |
        [.cores[] | $span - .span_ticks + .unknown_ticks] | add' stats)"
    is "$1: loads of cores" "$(jq -c '.results[0]["time-range"].end.value as $span |
        [.results[] | select(.class == "per-cpu").data[] | [.[0].id,
        $span - (.[1].value * $span | round)]] | sort' cputop)" \
        "$(jq -nc --slurpfile stats stats --slurpfile parts schedule '
        ($parts | map(select(.kind == "isr" and .thread == null))) as $isrs |
        [$stats[0].cores[] | .core as $c | [$c, .idle_ticks + ([$isrs[] | select(.core == $c) |
        .to - .from] | add // 0)]] | sort')"
}

# An interrupt that continues after another one is counted again.
compare_interrupts() { # NAME
    is "$1: interrupts" "$(jq -c '[.results[].data[] | [.[0].nr, (.[1].value * .[3].value |
        round)]] | sort' irqstats)" \
        "$(jq -c '[.interrupt_list[] | [.number, .ticks]] | sort' stats)"
}

compare_counts() { # NAME
    is "$1: number of interrupts" "$(jq '[.results[].data[][1].value] | add' irqstats)" \
        "$(jq '.interrupts + .nested_interrupts' stats)"
    is "$1: longest interrupt" "$(jq '[.results[].data[][4].value] | max' irqstats)" \
        "$(jq '[.interrupt_list[].duration.max] | max' stats)"
}

# The latencies of a thread are those of its responses, but for the threads that are named: they
# also wait for mutexes, or their last response does not end in the trace.
compare_latencies() { # NAME THREADS
    is "$1: latencies" "$(jq -nc --argjson less "$2" --slurpfile stats stats \
        --slurpfile log schedstats '[$log[0].results[] | select(.class == "per_tid_stats").data[] |
        {(.[0].name): [.[1].value, .[2].value, .[4].value, (.[1].value * .[3].value | round)]}] |
        add as $seen | [$stats[0].threads[] | select(.latency.count > 0 or $seen[.name[0:15]]) |
        .name[0:15] as $name | select([.latency | .count, .min, .max, .sum] != $seen[$name]) |
        $name] | sort | if . == ($less | sort) then "same" else . end')" '"same"'
}

# Each wake-up is followed by the first time at which the thread then runs. Of several wake-ups
# before that, the first one counts. A thread that is suspended is not woken.
compare_wakes() { # NAME
    is "$1: wake-ups" "$(jq -c '[.results[].data[] | [.[0].value, .[1].value]] | sort' schedlog)" \
        "$(jq -sc 'map(select(.type == "state" and .state == "running")) as $runs |
        [.[] | select(.type == "wake" and .reached != "suspended") | . as $w |
        ([$runs[] | select(.thread == $w.thread and .from >= $w.at).from] | min) as $at |
        select($at) | [.at, $at, .thread]] |
        group_by(.[1:]) | map(min[:2]) | sort' schedule)"
}

analyze "$demo"
by_tools compare_loads cortex-m3
by_tools compare_interrupts cortex-m3
by_tools compare_counts cortex-m3
by_tools compare_latencies cortex-m3 '["comms", "control", "worker A"]'
by_tools compare_wakes cortex-m3
by_tools is "cortex-m3: worst latency" "$(jq '.results[].data[0][2].value' schedtop)" \
    "$(jq '[.threads[].latency.max // 0] | max' stats)"
trace=$data/threadx/a35smp_spin.trx
if [ -e "$trace" ]; then
    analyze "$trace"
    by_tools compare_loads smp
    by_tools compare_interrupts smp
    by_tools compare_counts smp
    by_tools compare_latencies smp '["spin A", "spin B"]'
else
    echo "skip smp: no such trace"
fi

# What is not known is neither idle nor a thread's.
analyze threadx-append.log
by_tools compare_loads lossy
by_tools compare_interrupts lossy
babeltrace2 trace 2>warnings >/dev/null
discarded "lossy: lttng" 334
is "lossy: lttng: a loss is an event" "$(babeltrace2 trace 2>/dev/null |
    sed -n 's/.*ringside_lost: .*at_least = \([0-9]*\).*/\1/p' |
    awk '{sum += $1} END {print sum}')" 333 # one loss has an unknown number, at least 0
run export --to ctf-lttng "$here/../data/trcfmt-cases.tsv" -o none
check "a file that is not a trace" '1 2'
run export --to ctf-lttng posix-loop.log -o none
check "a trace without a schedule" 2 err 'no event of this trace shows a schedule'
finish
