#!/bin/bash
# SPDX-License-Identifier: MIT
# export-sqlite.sh: reads exported databases with sqlite3, and compares them with the reports of
# the same traces; runs the queries of docs/sql.md. Prints "ok NAME" or "not ok NAME: why" for each
# test. Exit status 1 if any failed. Reads BUILD and RINGSIDE_DATA.
set -u
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${RINGSIDE_DATA:-../shared/data}")
demo=$here/../data/demo.trx
cd "$work" || exit 1

run export --to sqlite "$demo" -o -
check "standard output" 1 err 'use -o FILE'
run export "$demo" -o missing/out.sqlite
check "a directory that does not exist" 2 err 'missing'

query() { sqlite3 -json trace.sqlite "$1" 2>&1; }
# same NAME SQL FILTER FILE FILTER: rows of the database and objects of a report.
same() {
    is "$1" "$(query "$2" | jq -c "$3" | sort | md5sum)" "$(jq -c "$5" "$4" | sort | md5sum)"
}
# Addresses above 2^63 are negative in SQLite.
signed='def signed: if . != null and . >= 9223372036854775808 then . - 18446744073709551616
    else . end;'

compare() { # NAME TRACE [OPTION...]
    local name=$1 trace=$2
    shift 2
    run export "$@" "$trace" -o trace.sqlite
    check "$name: export" '0 3'
    is "$name: integrity" "$(sqlite3 trace.sqlite 'PRAGMA integrity_check' 2>&1)" ok
    "$ringside" report --json "$@" "$trace" >report.json 2>err
    same "$name: events" 'SELECT seq, ticks, core, context, id FROM event' \
        '.[] | [.seq, .ticks, .core, .context, .id]' report.json \
        'select(.context != "recorder") | [.seq, .ticks, .core, .context, .id]'
    is "$name: fields" "$(query 'SELECT seq, label, value, name FROM field ORDER BY seq, number' |
        jq -c -s '[add // [] | .[] | [.seq, .label, .name]] | sort' | md5sum)" \
        "$(jq -c -s '[.[] | select(.context != "recorder") | . as $e | .fields | keys[] |
            [$e.seq, ., $e.names[.]]] | sort' report.json | md5sum)"
    is "$name: markers" \
        "$(sqlite3 trace.sqlite 'SELECT count(*) FROM loss WHERE seq IS NOT NULL')" \
        "$(jq -c 'select(.context == "recorder")' report.json | grep -c .)"
    "$ringside" schedule --json "$@" "$trace" >schedule.json 2>err || return
    same "$name: slices" 'SELECT core, start_ticks, end_ticks, kind, isr, certainty FROM slice' \
        '.[] | [.core, .start_ticks, .end_ticks, .kind, .isr, .certainty == "likely"]' \
        schedule.json \
        'select(.type == "interval") | [.core, .from, .to, .kind, .isr, .unsure]'
    same "$name: states" 'SELECT * FROM state' \
        '.[] | [.thread, .start_ticks, .end_ticks, .state, .wait, .object, .timeout, .core]' \
        schedule.json "$signed"' select(.type == "state") | [(.thread | signed), .from, .to, .state,
            .service, (.object | signed), .timeout, .core]'
    same "$name: wake-ups" 'SELECT * FROM wake' \
        '.[] | [.seq, .ticks, .thread, .reason, .cause, .by, .object, .in_isr == 1, .reached]' \
        schedule.json "$signed"' select(.type == "wake") | [.event, .at, (.thread | signed),
            .reason, .cause, (.by | signed), (.object | signed), .isr, .reached]'
    same "$name: owners" 'SELECT * FROM owner' \
        '.[] | [.mutex, .start_ticks, .end_ticks, .thread]' schedule.json \
        "$signed"' select(.type == "owner") | [(.mutex | signed), .from, .to, (.thread | signed)]'
    "$ringside" stats --json "$@" "$trace" >stats.json 2>err
    is "$name: the time of each thread" "$(query "SELECT thread, sum(ticks) AS t FROM core_load
        WHERE kind = 'thread' AND ticks > 0 GROUP BY thread ORDER BY thread" |
        jq -c '.[] | [.thread, .t]')" \
        "$(jq -c '.threads | map(select(.ticks > 0)) | group_by(.name) | .[] |
            [.[0].name, (map(.ticks) | add)]' stats.json)"
    same_figures "$name: the latency of each thread" latency latency ticks
    same_figures "$name: the response of each thread" response \
        'response JOIN thread ON address = thread' 'end_ticks - start_ticks' thread.name
}
# same_figures NAME MEMBER TABLE TICKS [THREAD]: of the rows for each thread, and in stats.json.
same_figures() {
    is "$1" "$(query "SELECT ${5:-thread} AS t, count(*) AS n, min($4) AS a, max($4) AS b,
        sum($4) AS c FROM $3 GROUP BY 1" | jq -c '.[] | [.t, .n, .a, .b, .c]' | sort)" \
        "$(jq -c --arg m "$2" '.threads | map(select(.[$m].count > 0)) | group_by(.name) | .[] |
            [.[0].name] + (map(.[$m]) | [(map(.count) | add), (map(.min) | min),
            (map(.max) | max), (map(.sum) | add)])' stats.json | sort)"
}

compare demo "$demo"
is "demo: no rate, no seconds" "$(sqlite3 trace.sqlite 'SELECT count(ns) FROM event')" 0
run export --hz 1000000 "$demo" -o trace.sqlite
is "demo: nanoseconds" "$(sqlite3 trace.sqlite 'SELECT count(*) FROM event
    WHERE ns <> 1000 * ticks')" 0
compare filtered "$demo" --class SVC --thread 'w*'
gunzip -c "$here/../data/rkh/stream.bin.gz" >stream.bin
compare rkh stream.bin
compare hook "$here/../data/hooks.bin"
# Two hook words, 1 and 2^60 ticks after 0, of a clock with 1 Hz: 2^60 s are too many nanoseconds.
words() { # NUMBER...: 32 bits each, lowest byte first
    local w
    for w in "$@"; do
        printf '%b' "$(printf '\\x%02x' $((w & 255)) $((w >> 8 & 255)) \
            $((w >> 16 & 255)) $((w >> 24)))"
    done
}
{
    printf HOOK
    words 1 64 64 1 1 64 48 0 3 0 0 4 1 0 0
    words 0x140010 0x12390000 0 0 0x140010 0x12390000 1 0 0x140010 0x12390000 0 0x10000000 0 0 0 0
} >slow.bin
run export slow.bin -o slow.sqlite
is "a time that is too long for nanoseconds" \
    "$(sqlite3 slow.sqlite 'SELECT ticks, ns FROM event' | xargs)" \
    "0|0 1|1000000000 1152921504606846976|"
# A lock without a name is called by its address.
printf '101 lock-get lock=D1 thread=D1\n' >locks.roles
run export --roles locks.roles "$here/../data/hooks.bin" -o locks.sqlite
is "a lock without a name" \
    "$(sqlite3 locks.sqlite 'SELECT mutex FROM held ORDER BY start_ticks LIMIT 1')" 0x20004638
for log in threadx-append rkh posix-append hook; do
    gunzip -c "$here/../data/log-version-1/$log.log.gz" >$log.log
    compare $log.log $log.log
done
for name in threadx/{demo_threadx,demo_filex,demo_netx_udp,a35smp_spin} schedule/sim{02,10}; do
    trace=$data/$name.trx
    [ -e "$trace" ] || { echo "skip $name: no such trace"; continue; }
    compare "${name#*/}" "$trace"
done

# ---- the queries of docs/sql.md ----

"$ringside" export "$demo" -o demo.sqlite
# Each query is in a block of its own, and its answer in the next one.
awk '/^```sql/ {n++; mode = "query"; next}
    /^```/ {mode = mode == "query" ? "between" : mode == "between" ? "answer" : ""
        if (mode == "answer") printf "" >("answer" n)
        next}
    mode == "query" || mode == "answer" {print >(mode n)}' "$here/../../../docs/sql.md"
n=0
for answer in answer*; do
    n=$((n + 1))
    sqlite3 demo.sqlite <"query${answer#answer}" >got 2>&1
    is "docs/sql.md: query ${answer#answer}" "$(cat got)" "$(cat "$answer")"
done
is "docs/sql.md: there are queries" "$((n >= 10))" 1

# ---- hostile names ----

LC_ALL=C sed 's/supervisor/="<\/s>;\xff,\n/' "$demo" >hostile.trx
run export hostile.trx -o trace.sqlite
check "hostile names: export" '0 3'
is "hostile names: integrity" "$(sqlite3 trace.sqlite 'PRAGMA integrity_check' 2>&1)" ok
is "hostile names: UTF-8" "$(sqlite3 trace.sqlite 'SELECT name FROM object' | iconv -f utf-8 -t \
    utf-8 2>&1 | grep -c .)" "$(sqlite3 demo.sqlite 'SELECT name FROM object' | grep -c .)"
finish
