#!/bin/bash
# SPDX-License-Identifier: MIT
# chart.sh: compares `ringside chart` and `ringside stats` on an RKH stream with the output of
# Trazer for the same stream: its rt, nseq, nelem and nmin. Charts of other traces: chart-calls.sh.
# Prints "ok NAME", "skip NAME: why" or "not ok NAME: why" for each test. Exit status 1 if any
# failed. Reads BUILD and RINGSIDE_DATA.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
data=${RINGSIDE_DATA:-../shared/data}/rkh

# same NAME: checks that the files "mine" and "theirs" are equal and not empty.
same() {
    if [ -s "$work/theirs" ] && cmp -s "$work/mine" "$work/theirs"; then
        ok "$1"
    else
        fail "$1" "$(diff "$work/mine" "$work/theirs" | sed -n 1,3p | tr '\n' ' ')"
    fi
}

# ---- what needs no stream ----

"$ringside" chart libextract/tests/data/demo.trx >"$work/out" 2>"$work/err" </dev/null
is "no output: status" $? 1

if [ ! -e "$data/cm3_all_on.bin" ]; then
    echo "skip figures of an RKH stream: $data is not there"
    finish
fi
stream=$data/cm3_all_on.bin
oracle=$data/cm3_all_on.trazer.txt

# ---- the figures ----

"$ringside" stats --json "$stream" >"$work/stats" 2>"$work/err" </dev/null
is "stats: status" $? 0

# Prints "AO SIGNAL GETS MIN MEDIAN MAX SUM" for each signal, from the lines of Trazer, sorted by
# rt.
LC_ALL=C grep '| SMA | GET ' "$oracle" |
    sed 's/.*ao=\([^,]*\), sig=\([^,]*\),.* rt=\([0-9]*\),.*/\1 \2 \3/' |
    LC_ALL=C sort -k1,1 -k2,2 -k3,3n |
    awk 'function out() {
            if (n) print key, n, rt[1], rt[int((n + 1) / 2)], rt[n], sum
            n = sum = 0
        }
        $1 " " $2 != key { out(); key = $1 " " $2 }
        { rt[++n] = $3; sum += $3 }
        END { out() }' >"$work/theirs"
jq -r '.active_objects[] | .name as $ao | .signals[] | select(.gets > 0) | .latency as $l |
    [$ao, .name, .gets, $l.min, $l.p50, $l.max, ($l.mean * $l.count | round)] |
    map(tostring) | join(" ")' "$work/stats" | LC_ALL=C sort -k1,1 -k2,2 >"$work/mine"
# Means have three decimals, so sums may differ by a thousandth per event.
paste -d ' ' "$work/mine" "$work/theirs" |
    awk '$7 - $14 <= 1 && $14 - $7 <= 1 { $7 = $14 } { print $1, $2, $3, $4, $5, $6, $7 }' \
        >"$work/close" && mv "$work/close" "$work/mine"
same "latencies are the rt of Trazer"

# The number of the last post, the longest queue and the lowest mark of each active object.
awk '/\| SMA \| (FIFO|LIFO|GET) / {
        n = split($0, words, /[ ,]+/)
        for (i = 1; i <= n; i++) { split(words[i], pair, "="); v[pair[1]] = pair[2] }
        if (v["nseq"] > posts[v["ao"]]) posts[v["ao"]] = v["nseq"]
        if (v["nelem"] + 0 > most[v["ao"]] + 0) most[v["ao"]] = v["nelem"]
        if (!(v["ao"] in low) || v["nmin"] < low[v["ao"]]) low[v["ao"]] = v["nmin"]
    }
    END { for (ao in posts) print ao, posts[ao], most[ao], low[ao] }' "$oracle" |
    sort >"$work/theirs"
jq -r '.active_objects[] | "\(.name) \(.posts) \(.most_queued) \(.low_water)"' "$work/stats" |
    sort >"$work/mine"
same "posts, lengths and low-water marks are those of Trazer"

# Times between the STATE lines of each active object, up to the last line.
awk -F '[|]' '{ stamp = $1 + 0 }
    /\| SM  \| STATE / {
        split($0, half, "ao="); split(half[2], parts, ", nxtst=")
        if (parts[1] in at) total[parts[1] " " state[parts[1]]] += stamp - at[parts[1]]
        at[parts[1]] = stamp; state[parts[1]] = parts[2]
    }
    /^ *[0-9]+\| \[/ { last = stamp }
    END {
        for (ao in at) total[ao " " state[ao]] += last - at[ao]
        for (k in total) print k, total[k]
    }' "$oracle" | sort >"$work/theirs"
jq -r '.active_objects[] | .name as $ao | .states[] | "\($ao) \(.name) \(.ticks)"' "$work/stats" |
    sort >"$work/mine"
same "the time in each state"

is "the parts add up to the whole" \
    "$(jq -c '[.span_ticks as $s | .active_objects[] |
        ([.states[].ticks] | add) + .state_unknown_ticks == $s] | all' "$work/stats")" true
is "events by their kinds add up" "$(jq '[.services[].count] | add' "$work/stats")" 5370
count() { grep -c "$1" "$oracle"; }
is "timeouts" "$(jq '[.timers[].timeouts] | add' "$work/stats")" "$(count '| TOUT ')"
is "starts of timers" "$(jq '[.timers[].starts] | add' "$work/stats")" "$(count '| TIM | START ')"
is "stops of timers" "$(jq '[.timers[].stops] | add' "$work/stats")" "$(count '| TIM | STOP ')"
is "allocations" "$(jq '[.event_pools[].allocations] | add' "$work/stats")" "$(count '| AE ')"
is "collections" "$(jq '[.event_pools[].freed] | add' "$work/stats")" "$(count '| GCR ')"
is "deferred" "$(jq '[.queues[].deferred] | add' "$work/stats")" "$(count '| DEFER ')"
is "recalled" "$(jq '[.active_objects[].recalled] | add' "$work/stats")" "$(count '| RCALL ')"
is "without a trigger" "$(jq '[.active_objects[].no_trigger] | add' "$work/stats")" \
    "$(count '| EVT_NFOUND ')"
is "assertions" "$(jq -c '.assertions | map([.module, .line])' "$work/stats")" '[["mybsp",80]]'

# A part of the stream: exactly its events are counted, but the state from before the part is known.
"$ringside" stats --json --from 10s --to 20s "$stream" >"$work/part" 2>"$work/err" </dev/null
is "a part has its gets" "$(jq .gets "$work/part")" \
    "$("$ringside" report --json --from 10s --to 20s "$stream" | grep -c RKH_TE_SMA_GET)"
is "a part knows the posts before it" "$(jq .uncertain_gets "$work/part")" 0

# The state of the server at the start of the part comes before the states that it enters.
jq -c '.active_objects[0].timeline | map([.ticks, .name]) |
    (map(select(.[0] <= 10000)) | last), map(select(.[0] > 10000 and .[0] <= 20000))[]' \
    "$work/stats" >"$work/theirs"
jq -c '.active_objects[0].timeline[] | [.ticks, .name]' "$work/part" >"$work/mine"
same "a part knows the state that it begins with"

# A filter selects the events that are counted. Times and shares are computed from all events.
times='[.span_ticks, (.active_objects | map([.name, .state_unknown_ticks, .timeline,
    (.states | map([.name, .ticks, .percent]))]))]'
for filter in '--thread server' '--event RKH_TE_SMA_GET' '--class KERN'; do
    # shellcheck disable=SC2086
    "$ringside" stats --json $filter "$stream" >"$work/part" 2>"$work/err" </dev/null
    is "times under $filter" "$(jq -c "$times" "$work/part")" "$(jq -c "$times" "$work/stats")"
    is "counts under $filter" "$(jq ".events > 0 and .events < 5370" "$work/part")" true
done
"$ringside" stats --event RKH_TE_SMA_GET "$stream" >"$work/part" 2>"$work/err" </dev/null
is "times under a filter, as text" "$(sed -n '/^active object .*percent/,/^$/p; /timeline,/,/^$/p' \
    "$work/part" | sed 's/  */ /g' | cut -d ' ' -f 1,2,4- | cksum)" \
    "$("$ringside" stats "$stream" 2>"$work/err" | sed -n '/^active object .*percent/,/^$/p
        /timeline,/,/^$/p' | sed 's/  */ /g' | cut -d ' ' -f 1,2,4- | cksum)"

# ---- the chart ----

"$ringside" chart "$stream" -o "$work/all.signalling" 2>"$work/err" </dev/null
is "chart: status" $? 0
# Prints the sender, receiver and signal of every post, in order.
sed -n 's/.*| SMA | [FL]IFO  *: ao=\([^,]*\), sig=\([^,]*\), snr=\([^,]*\),.*/\3->\1: \2/p' \
    "$oracle" >"$work/theirs"
grep -- '->.*;' "$work/all.signalling" | grep -vE '^([a-z0-9_]+)->\1: (server|client)_' |
    sed 's/;.*//; s/ (first)$//' >"$work/mine"
same "an arrow for every post"
is "an arrow for every state" "$(grep -cE '^([a-z0-9]+)->\1: (server|client)_' \
    "$work/all.signalling")" "$(jq '[.active_objects[].state_changes] | add' "$work/stats")"

"$ringside" chart --last 60 "$stream" -o "$work/last.svg" 2>"$work/err" </dev/null
is "svg: status" $? 0
"$ringside" chart --last 60 "$stream" -o - >"$work/out" 2>"$work/err" </dev/null
is "svg on standard output" "$(cmp "$work/last.svg" "$work/out" 2>&1)" ""
is "svg ends with the assertion" "$(grep -c 'assertion failed: mybsp.c, line 80' "$work/out")" 1
is "what lies before the part is not in it" "$(grep -c 'was restarted' "$work/out")" 0
if command -v xmllint >/dev/null; then
    "$ringside" chart "$stream" -o "$work/all.svg" 2>"$work/err" </dev/null
    is "svg is well-formed" "$(xmllint --noout "$work/all.svg" "$work/last.svg" 2>&1)" ""
else
    echo "skip svg is well-formed: there is no xmllint"
fi

# The chart shows missing frames, and the status changes.
"$ringside" chart "$data/x86_overrun_noseq.bin" -o "$work/torn.svg" 2>"$work/err" </dev/null
is "damage: status" $? 3
if [ "$(grep -c '>frames missing or damaged<' "$work/torn.svg")" -gt 50 ]; then
    ok "damage is in the chart"
else
    fail "damage is in the chart" "too few bands"
fi

finish
