#!/bin/bash
# SPDX-License-Identifier: MIT
# span.sh: compares the spans of `ringside stats --span` with those that jq pairs from the events,
# on the bundled demo, TraceX's samples and an RKH stream. Checks that `ringside why --span`
# explains the longest of them by parts that add up, that `ringside assert` knows them, and that a
# program's POSIX trace has spans, too. Prints "ok NAME" or "not ok NAME: why" for each test. Exit
# status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
# shellcheck disable=SC2016 # jq expands its variables
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=posix/compile.sh
. "$(dirname "$0")/posix/compile.sh"
own=$(realpath "$(dirname "$0")/../data")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")/threadx
demo=$own/demo.trx
cd "$work" || exit 1

# Pairs the events of all.json: begins and ends are jq conditions, and the key is a jq expression.
# An end takes the newest open begin of its key. Prints one object with the figures, and `list`, the
# spans in the order of their ends.
pair() { # BEGIN END KEY
    jq -cs "
        reduce .[] as \$e ({open: {}, list: [], without_begin: 0};
            (\$e | $3 | tostring) as \$key
            | if \$e | $2 then
                if .open[\$key] | length > 0 then
                    .list += [{from: .open[\$key][-1].ticks, to: \$e.ticks,
                               from_event: .open[\$key][-1].seq, to_event: \$e.seq}]
                    | .open[\$key] |= .[:-1]
                else .without_begin += 1 end
              else . end
            | if \$e | $1 then .open[\$key] += [\$e] else . end)
        | (.list | map(.to - .from) | sort) as \$times | (\$times | length) as \$n
        | {count: \$n, min: \$times[0], median: \$times[((\$n + 1) / 2 | floor) - 1],
           p99: \$times[\$n - (\$n / 100 | floor) - 1], max: \$times[-1], sum: (\$times | add),
           open: ([.open[] | length] | add // 0), without_begin: .without_begin, list: .list}" \
        all.json
}

use() { # NAME TRACE [OPTION...]
    name=$1 trace=$2
    options=("${@:3}")
    "$ringside" report --json "${options[@]}" "$trace" >all.json 2>/dev/null
    is "$name: it has events" "$([ -s all.json ] && echo yes)" yes
}

# Compares the spans of a definition with those of jq. They must occur.
span() { # DEFINITION BEGIN END KEY
    pair "${@:2}" >true.json
    run stats --json "${options[@]}" --span "x: $1" "$trace"
    is "$name: $1" "$(jq -c '.spans[0] | {count, min, median, p99, max, sum, open, without_begin}' \
        out)" "$(jq -c 'del(.list)' true.json)"
    is "$name: $1: there are some" "$(jq '.count > 1' true.json)" true
}

# Checks that the longest spans of true.json are explained by segments without gaps.
explained() { # DEFINITION [THREAD]
    run why --json "${options[@]}" --span "x: $1" --worst 3 "${@:2}" "$trace"
    is "$name: $1 ${2:-}: the longest are explained" "$(jq -sc 'map(.to - .from)' out)" \
        "$(jq -c '.list | map(.to - .from | select(. > 0)) | sort | reverse | .[:3]' true.json)"
    is "$name: $1 ${2:-}: they are spans" "$(jq -s --slurpfile true true.json 'all(.[]; . as $chain
        | .span == "x" and any($true[0].list[];
            . == ($chain | {from, to, from_event, to_event})))' out)" true
    is "$name: $1 ${2:-}: the parts add up" "$(jq -s 'all(.[];
        .segments[0].from == .from and .segments[-1].to == .to
        and ([.segments[] | .to - .from] | add) == .to - .from
        and ([.segments[:-1][].to] == [.segments[1:][].from]))' out)" true
}

# ---- traces of kernels ----

use demo "$demo"
span '4097 .. 4098 by info1' '.id == 4097' '.id == 4098' '.info[0]'
explained '4097 .. 4098 by info1'
explained '4097 .. 4098 by info1' comms
span 'mutex_get && info1 != 0 .. "mutex put" by thread' '.id == 52' '.id == 57' '.thread'
explained 'mutex_get && info1 != 0 .. "mutex put" by thread'
# Threads that had one address in turn have different names.
span 'thread_suspend .. thread_resume by fields.thread' '.id == 2' '.id == 1' '.names.thread'
explained 'thread_suspend .. thread_resume by fields.thread'
span 'isr_enter .. context == "isr" && event == "isr exit"' '.id == 3' '.id == 4' 0
if [ -d "$data" ]; then
    use demo_netx_udp "$data/demo_netx_udp.trx"
    span 'thread_suspend && new_state != 14 .. thread_resume && prev_state != 14 by info1' \
        '.id == 2 and .info[1] != 14' '.id == 1 and .info[1] != 14' '.info[0]'
else
    echo "skip demo_netx_udp: no samples of TraceX"
fi
gunzip -c "$own/rkh/stream.bin.gz" >rkh.bin
use rkh rkh.bin --format rkh
span 'timer start .. timer stop by tmr' '.id == 129' '.id == 130' '.fields.tmr'
use hooks "$own/hooks.bin" --format hook
span '0x1000 .. 0x1030 by D1' '.id == 4096' '.id == 4144' '.fields.D1'

# ---- text and errors ----

run stats --hz 1000000 --span 'a: 4097 .. 4098 by info1' --span 'mine: 4097 .. 4098' "$demo"
check "a table of two spans" 0 out '^span .*median .*shape .*no begin$' out '^a  *2 ' \
    out '^mine  *5 ' out '^mine: 5 of 5 are likely, not certain' no-out '^a: '
run why --span '4097 .. 4098: x' "$demo"
check "a definition without a name" 1 err '".." is missing'
run why --span 'x: 4097 .. 4098' --span 'y: 4097 .. 4098' "$demo"
check "two definitions" 1 err 'use one --span'
run why --span 'x: 4097 .. 4098' --from 0 "$demo"
check "a span and a time" 1 err 'several times are chosen'
run why --span 'x: 4097 .. 4098' nobody "$demo"
check "an unknown thread" 1 err 'no thread has this name'
run why --span 'x: 4098 .. 4099 by info1' "$demo"
check "no span" 1 err 'no span that took any time'
run why --span 'x: isr_enter .. isr_exit' "$demo"
check "a span of interrupts" 1 err 'name the thread to be explained'
run why --span 'x: isr_enter .. isr_exit' comms "$demo"
check "a span of interrupts, and a thread" 0 out '^x: comms  '
run why --span 'x: 4097 .. 4098'
check "no input" 1 err 'no input is given'
run report --span 'x: 4097 .. 4098' "$demo"
check "a command without spans" 1 err '\-\-span'

# ---- assertions ----

use demo "$demo"
pair '.id == 4097' '.id == 4098' '.info[0]' >true.json
request='request: 4097 .. 4098 by info1'
max=$(jq .max true.json) median=$(jq .median true.json)
run assert --hz 1000000 --span "$request" "span(request).max == ${max}us" \
    "span(request).median == $median && span(request).count == $(jq .count true.json)" \
    "span(request).open == $(jq .open true.json)" 'span(request).without_end == 0' \
    "span(request).without_begin == $(jq .without_begin true.json)" \
    "span(request).mean <= span(request).max" "$demo"
check "figures of a span" 0 out '^1\.\.6$' no-out '^not ok'
run assert --span "$request" "span(request).max < $max" "$demo"
check "a span that took too long" 4 out "^  # span(request).max = $max\$"
cat >limits.txt <<END
# limits
span $request
	span  also: 4097 .. 4098
span(request).max <= $max
END
run assert limits.txt 'span(also).count == 5' "$demo"
check "a file that defines spans" 0 out '^1\.\.2$' out '^  # span(also).count = 5 (likely)$'
run assert 'span(request).max < 5' "$demo"
check "a span that is not defined" 1 err 'no span has this name; define it with --span'
run assert --span "$request" 'span(request).p98 < 5' "$demo"
check "a figure that spans do not have" 1 err '"p98" is not a figure'
lost=$(realpath -m "${RINGSIDE_DATA:-../shared/data}/threadx/bursts/demolim.log")
if [ -e "$lost" ]; then
    run assert -q --span 'x: mutex_get .. mutex_put by thread' 'span(x).max < 1' \
        'span(x).max > 0' 'span(x).p99 > 0' 'span(x).min > 1000000000' "$lost"
    check "what a missing event can change is unknown" 4 out '^not ok 1 - [^(]*([^(]*$' \
        out '^ok 2' out '^not ok 3 .* (unknown: ' out '^not ok 4 - [^(]*([^(]*$'
else
    echo "skip missing events: no recorded traces"
fi

# ---- a program on Linux ----

cat >requests.c <<'C'
#include <fcntl.h>
#include <sys/stat.h>
#include <trace.h>
int main(void)
{
    trace_attr_t attributes;
    trace_id_t stream;
    trace_event_id_t begin, end;
    int file = open("requests.log", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || posix_trace_attr_init(&attributes) ||
        posix_trace_create_withlog(0, &attributes, file, &stream) ||
        posix_trace_eventid_open("req_begin", &begin) ||
        posix_trace_eventid_open("req_end", &end) || posix_trace_start(stream))
        return 1;
    for (int i = 0; i < 20; i += 2) { /* the first one of each pair ends last */
        int next = i + 1;
        posix_trace_event(begin, &i, sizeof i);
        posix_trace_event(begin, &next, sizeof next);
        posix_trace_event(end, &next, sizeof next);
        posix_trace_event(end, &i, sizeof i);
    }
    posix_trace_event(end, &file, sizeof file);
    return posix_trace_shutdown(stream) != 0;
}
C
compile requests.c
./requests
status=$?
check "a program is traced" 0
use posix requests.log
span 'req_begin .. req_end by data' '.names.event == "req_begin"' '.names.event == "req_end"' .data
span 'req_begin .. req_end by thread' '.names.event == "req_begin"' '.names.event == "req_end"' \
    .thread
run stats --span 'request: req_begin .. req_end by data' requests.log
check "posix: a table" 0 out '^request  *20 .* 0  *0  *1$' out 'do not show who ran'
run assert --span 'request: req_begin .. req_end by data' 'span(request).count == 20' requests.log
check "posix: an assertion" 0 out '^ok 1'
run why --span 'request: req_begin .. req_end by data' requests.log
check "posix: there is no schedule to explain it" 2 err 'no event of this trace shows a schedule'
finish
