#!/bin/bash
# SPDX-License-Identifier: MIT
# diff.sh: tests `ringside diff` with traces of a simulated system (data/diff: in new.trx, comms
# holds the mutex bus for 200 us instead of 70 us), and with schedules whose figures `stats` and
# `why` also print. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any
# failed. Reads BUILD and RINGSIDE_DATA.
# shellcheck disable=SC2016 # awk expands $13
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
tests=$(realpath "$(dirname "$0")/../data")
base=$tests/diff/base.trx
new=$tests/diff/new.trx
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")/schedule
cd "$work" || exit 1

# ---- a mutex that is held for longer ----

run diff --hz 1000000 "$base" "$new"
check "the change ranks first" 0 \
    out '^   1 .* likely .* comms runs .* us while it holds mutex bus, instead of .* us' \
    out '^in A: comms ' out '^in B: comms '
run diff --hz 1000000 "$new" "$base"
check "the other way round" 0 out '^   1 *-.* comms runs .* while it holds mutex bus' \
    out 'no response is likely to have got worse'
run diff --json --hz 1000000 "$base" "$new"
check "JSON" 0
is "kind" "$(jq -r '.changes[0] | .kind, .of, .thread, .object, .certainty' out | xargs)" \
    "cost hold comms bus likely"
# The means of the simulator are 70 and 200 us; a mean of 35 or more varies by a few us.
first='.changes[0]'
is "value in A" "$(jq "$first | .a > 60e-6 and .a < 80e-6" out)" true
is "value in B" "$(jq "$first | .b > 180e-6 and .b < 220e-6" out)" true
is "contributed time" "$(jq "$first | (.b - .a) * .rate - .time | fabs < 1e-7" out)" true
is "ranks" "$(jq '.changes | [.[].rank] == [range(1; length + 1)]' out)" true
run diff "$base" "$new"
check "without a clock rate" 0 out '^A: [0-9]* ticks, 700 events$' \
    out 'holds mutex bus, instead of [0-9.]* ticks; [0-9.]* per million ticks'

# The figures of both sides are those of the other commands.
run diff --json "$base" "$new"
cp out diff.json
for side in a b; do
    file=$base
    [ $side = a ] || file=$new
    "$ringside" stats --json "$file" >stats.json
    "$ringside" why --json --worst 1000 "$(jq -r .worse.thread diff.json)" "$file" >why.json
    is "threads of $side" \
        "$(jq -c "[.threads[] | [.name, .$side.response.p99, .$side.latency.max]]" diff.json)" \
        "$(jq -c '[.threads[] | [.name, .response.p99, .latency.max]]' stats.json)"
    is "responses of $side" "$(jq -s "any(.[1:][]; . == (\$d[0].worse.$side))" \
        --slurpfile d diff.json <(echo null) why.json)" true
done

# ---- no change ----

run diff "$base" "$base"
check "the same trace" 0 out '^no change is certain or likely$' no-out 'rank' \
    out 'no response is likely to have got worse'
is "no difference" "$("$ringside" diff --json "$base" "$base" | jq '.changes | length')" 0

# ---- a short trace ----

# The demo's supervisor and logger, for example, have no response in the first half of the demo, but
# two and three in all of it.
head -c 4000 "$tests/demo.trx" >short.trx
run diff --json short.trx "$tests/demo.trx"
check "the begin of a trace and all of it" 3 err 'entries could not be read'
is "some activities are in B only" \
    "$(jq '[.changes[] | select(.kind == "rate" and .a == 0)] | length > 2' out)" true
is "what would be expected less than once in A" "$(jq -c '.a.span as $span |
    [.changes[] | select(.a == 0 and .b * $span < 1) | .certainty] | unique' out)" '["unknown"]'

# ---- other systems ----

if [ -d "$data" ]; then
    run diff "$data/sim02.trx" "$data/sim05.trx"
    check "another system" 0 out 'locker 5 responds [0-9.]* per million ticks in B, and not in A' \
        out 'gets mutex mtx 1 .* in B, and not in A (follows)' \
        out 'priority of locker 4 is 11 instead of 8' out 'waiter 0 responds .* in A, and not in B'
    run diff "$base" "$data/demo_netx_udp.json"
    check "no trace" 2 err 'demo_netx_udp.json'
else
    echo "skip another system: no schedules with a known truth"
fi

# ---- clocks that stand still, or are fast ----

# Prints a dump of ThreadX after awk has changed the bytes of each timestamp, $13 to $16, in octal.
with_stamps() { # FILE AWK
    local entries=$(($(od -An -tu4 -j 24 -N 4 "$1") - $(od -An -tu4 -j 8 -N 4 "$1")))
    head -c "$entries" "$1"
    printf '%b' "$(tail -c +$((entries + 1)) "$1" | od -An -v -w32 -to1 |
        awk "{ $2; for (i = 1; i <= NF; i++) printf \"\\\\0%s\", \$i }")"
}

# Without a span of time, nothing has a rate.
with_stamps "$base" '$13 = $14 = $15 = $16 = "000"' >still.trx
for pair in "still.trx $base" "$base still.trx" "still.trx still.trx"; do
    read -r a b <<<"$pair"
    still=A
    [ "$a" = still.trx ] || still=B
    run diff "$a" "$b"
    check "${pair//$base/base}" 2 err "trace $still: all of its events have the same time"
done
# Between two events are about 127 * 2^24 ticks.
with_stamps "$base" '$16 = sprintf("%03o", NR * 127 % 256)' >fast.trx
run diff --json fast.trx "$base"
is "a long span is exact" "$(jq .a.span out)" \
    "$("$ringside" stats --json fast.trx | jq .span_ticks)"
run why comms fast.trx
check "columns of long times" 0 out '^ *+[0-9]* ticks [0-9]\{10,\} ticks ' no-out 'ticks[0-9]' \
    out '^ *sum [0-9]\{10,\} ticks '

# ---- errors ----

run diff "$base"
check "one input" 1 err 'it compares two inputs; use ringside diff A B'
run diff "$base" "$new" "$base"
check "three inputs" 1 err 'it compares two inputs'
run diff "$base" missing.trx
check "a missing file" 2 err 'missing.trx'
run diff - -
check "standard input twice" 1 err 'standard input can be read only once'
run diff --remote :1 "$base" "$new"
check "a live target" 1 err 'files, not live targets'
run diff "$tests/hooks.bin@0x1000" "$tests/hooks.bin@0x1000"
check "a trace without a schedule" 2 err 'no event of this trace shows a schedule'
timeout 20 "$ringside" diff --hz 1000000 "$base" - <"$new" >out 2>err
is "B from standard input" "$(grep -c 'holds mutex bus' out)" 1
"$ringside" diff "$base" "$new" >/dev/full 2>err
is "a full disk" "$?" 2

finish
