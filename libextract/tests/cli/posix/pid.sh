#!/bin/bash
# SPDX-License-Identifier: MIT
# pid.sh: tests `--pid` with a traced program on this host: reads its streams, and sends requests,
# which the program carries out. The events contain their own numbers. Prints "ok NAME" or "not ok
# NAME: why" for each test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"

# The program records two events for each line that it reads: "tick" with a number, then "tock".
cat >"$work/traced.c" <<'C'
#include <stdio.h>
#include <trace.h>
int main(void)
{
    trace_event_id_t tick, tock;
    trace_id_t stream;
    if (posix_trace_create(0, NULL, &stream) || posix_trace_eventid_open("tick", &tick) ||
        posix_trace_eventid_open("tock", &tock))
        return 1;
    puts("ready");
    for (unsigned char number = 1; fflush(stdout), getchar() != EOF; number++) {
        posix_trace_event(tick, &number, 1);
        posix_trace_event(tock, NULL, 0);
        printf("%u\n", (unsigned)number);
    }
    return posix_trace_shutdown(stream);
}
C
compile "$work/traced.c"
coproc traced { exec "$work/traced"; }
pid=$traced_PID
read -r -t "$limit" said <&"${traced[0]}"
[ "$said" = ready ] || { echo "not ok the traced program starts"; exit 1; }

rounds() { # N
    local i
    for ((i = 0; i < $1; i++)); do
        echo >&"${traced[1]}"
        read -r -t "$limit" said <&"${traced[0]}" || exit 1
    done
}

run status --pid "$pid"
check "a stream that was made" 0 out '^stream status: suspended$'
rounds 1 # nobody records it
run start --pid "$pid"
check "start" 0 out '^start: done$'
run status --json --pid "$pid"
check "it runs" 0 out '^{"stream_status":"running","stream_full_status":"not_full","stream_ov'
rounds 3
run report --pid "$pid"
check "what it records" 0 out '^ *0  002 .*trace start' out ' tick at=.* data=02$' \
    out ' tick at=.* data=04$' no-out 'data=01$' no-out 'data=05'
run filter set tock --pid "$pid"
check "a filter" 0 out '^before: not recorded: nothing$' out '^after: not recorded: tock$' \
    out '^filter: done$'
rounds 1
run last 1 --pid "$pid"
check "what is in the filter is not recorded" 0 out ' tick at=.* data=05$'
run filter sub tock --pid "$pid"
check "without it" 0 out '^after: not recorded: nothing$' out '^filter: done$'
rounds 1
run last 1 --pid "$pid"
check "it is recorded again" 0 out ' tock at='
run stop --pid "$pid"
check "stop" 0 out '^stop: done$'
rounds 1
run last 1 --pid "$pid"
check "nothing behind it" 0 out 'trace stop at='
run save --pid "$pid" -o "$work/live.ptr"
check "saving" 0
run report "$work/live.ptr"
check "the file" 0 out ' tick at=.* data=06$' out 'trace filter at=.* old_new='
run filter --pid "$pid"
check "a filter without a word is shown" 0 out '^not recorded: nothing$'
run filter on all --pid "$pid"
check "a word of RKH" 1 err 'on: not a change of the filter; use show, or set, add or sub'
run filter add --pid "$pid"
check "a change without names" 1 err 'add: not a change of the filter'
run filter add $'no\033[31m' --pid "$pid"
check "no such name, which is escaped" 1 err 'no.x1b.31m: no event type has that name'
run top --json --count 1 --delay 0.2 --pid "$pid"
check "top" 0 out '"newest":\[.*"name":"tock"\|"event":"tock"'
run clear --pid "$pid"
check "clear" 0 out '^clear: done$'
run info --pid "$pid"
check "it is empty" 0 out '^entries valid: 0$' out '^found by: address$' \
    out "^traced process: $pid\$" out '^stream policy: loop$' out '^objects: 3$'
run filter set tock --json --pid "$pid"
check "a filter in JSON" 0 out \
    '^{"verb":"filter","before":"not recorded: nothing","after":"not recorded: tock","done":true}$'
run filter show --json --pid "$pid"
check "a filter that is shown in JSON" 0 out '^{"verb":"filter","filter":"not recorded: tock"}$'
run filter --json --pid "$pid"
check "also without a word" 0 out '^{"verb":"filter","filter":"not recorded: tock"}$'
run clear --json --pid "$pid"
check "clear in JSON" 0 out '^{"verb":"clear","done":true}$'
run report --stream 1 --pid "$pid"
check "a stream that nobody has bound" 0 no-out tick
run start --stream 1 --pid "$pid"
check "nor can be started" 2 err 'stream is not bound, so it records nothing; create one'
run status --stream 99 --pid "$pid"
check "a stream that is not there" 1 err 'stream 99: the traced process has streams 0 to '
for number in 4294967295 -1 x; do
    run status --stream "$number" --pid "$pid"
    check "stream \"$number\"" 1 err '--stream: .* is not allowed'
done
for number in 0 -1 x 99999999999999999999; do
    run status --pid "$number"
    check "process \"$number\"" 1 err '--pid: .* is not allowed; use the number of a process'
done
for number in 999999999 $((pid + 4294967296)); do
    run top --batch --count 1 --pid "$number"
    check "process $number is not there" 2 err "^ringside: process $number: no such process; check"
done
run top --batch --count 1 --pid $$
check "a process that is not traced" 2 \
    err "^ringside: process $$: has no trace stream; create a stream for it with posix_trace_create"
exec {traced[1]}>&-
wait "$pid"
status=$?
check "the program ends" 0
run status --pid "$pid"
check "its process is gone" 2 err "process $pid: no such process"
finish
