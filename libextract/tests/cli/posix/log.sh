#!/bin/bash
# SPDX-License-Identifier: MIT
# log.sh: checks that logs which the functions of <trace.h> write are trace logs of Ringside, with
# each policy. The commands read them with the names of events. The events contain their own
# numbers. Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads
# BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"
cd "$work" || exit 1

# FILE EVENTS STREAM_POLICY LOG_POLICY: records this number of events "tick". Flushes the stream
# after each hundred events. A stream with the policy loop is flushed after each thousand events,
# which is more than it holds.
cat >logging.c <<'C'
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <trace.h>
int main(int count, char **words)
{
    trace_attr_t attr;
    trace_event_id_t tick;
    trace_id_t stream;
    if (count != 5)
        return 2;
    int file = open(words[1], O_RDWR | O_CREAT, 0600), policy = atoi(words[3]), error = 0;
    uint32_t step = policy == POSIX_TRACE_LOOP ? 1000 : 100;
    posix_trace_attr_init(&attr);
    posix_trace_attr_setname(&attr, "log test");
    posix_trace_attr_setstreamsize(&attr, 20000);
    posix_trace_attr_setlogsize(&attr, 50000);
    posix_trace_attr_setstreamfullpolicy(&attr, policy);
    posix_trace_attr_setlogfullpolicy(&attr, atoi(words[4]));
    if (posix_trace_create_withlog(0, &attr, file, &stream) ||
        posix_trace_eventid_open("tick", &tick) || posix_trace_start(stream))
        return 1;
    for (uint32_t i = 0; i < (uint32_t)atol(words[2]) && !error; i++) {
        posix_trace_event(tick, &i, sizeof i);
        error = i % step == step - 1 ? posix_trace_flush(stream) : 0;
    }
    return error ? error : posix_trace_shutdown(stream);
}
C
compile logging.c
[ "$status" = 0 ] || finish

ticks() { # NAME N
    local seen
    seen=$(grep -c ' tick at=' out)
    if [ "$seen" = "$2" ]; then ok "$1"; else fail "$1" "$seen instead of $2"; fi
}

run_program ./logging all.log 500 2 4 # until full, append
check "a log is written" 0 no-err .
run info all.log
check "info" 0 out '^format: posix$' out '^events lost: 0$' out '^losses: none$' \
    out '^damaged: 0$' out '^closed: yes$' out '^policy: append$' out '^recordings: 1$' no-err .
run report all.log
check "report: names and data" 0 out '^ *0  002 .*trace start' out ' tick at=.* data=00 00 00 00$' \
    out ' tick at=.* data=F3 01 00 00$' out ' flush start$' out 'trace stop' no-err .
run report --event tick all.log
check "report: by name" 0 no-out 'trace st'
ticks "all are there" 500
run status all.log
check "status" 0 out '^stream status: suspended$' out '^log full status: not_full$'
run stats all.log
check "stats" 0 out '^ *500 .*APPL .*user event tick$'
run stats --json all.log
check "stats as JSON" 0 out '"name":"tick","class":"APPL","count":500'
run info all.log
check "the stream's name" 0 out '^stream name: log test$' out '^stream policy: until_full$'

# A log that is saved as a stream gives the same report with the same names, except for the markers
# of the log.
saved() { # NAME LOG STATUS [CHECK...]
    local name=$1 log=$2 want=$3
    shift 3
    "$ringside" report "$log" 2>/dev/null | grep -v ' recorder ' | sed 's/  \[gap\]$//' >expected
    run save "$log" -o saved.ptr
    check "save: $name" "$want" "$@"
    run report saved.ptr
    if cmp -s expected out; then ok "save: $name, the same report"; else
        fail "save: $name, the same report" "$(diff expected out | head -n 3)"
    fi
}
saved "a log" all.log 0 no-err .
run info saved.ptr
check "info of what was saved" 0 out '^format: posix$' out '^stream name: log test$' \
    out '^entries damaged: 0$' out '^events lost: 0$' out '^streams: 1$' out '^state: suspended, '

run report --elf logging --event tick all.log
check "names of functions" 0 out ' tick at=main+0x' no-out 'at=0x'
run_program ./logging all.log 200 2 4
check "it is continued" 0 no-err .
run info all.log
check "info of both" 0 out '^recordings: 2$' out '^damaged: 0$' out '^closed: yes$'
run report --event tick all.log
ticks "both are there" 700
run save all.log -o saved.ptr
check "save of both" 0 no-err .
run report --event tick saved.ptr
ticks "both are saved" 700

run_program ./logging loop.log 20000 2 1 # until full, loop
check "a log that wraps" 0 no-err .
run report loop.log
check "the newest, with names" 0 out ' tick at=.* data=1F 4E 00 00$' no-out 'data=00 00 00 00$'
run info loop.log
check "info of the newest" 0 out '^wrapped: yes$' out '^damaged: 0$' out '^policy: loop$'
saved "the newest" loop.log 0 no-err .

run_program ./logging full.log 5000 2 2 # until full, until full
check "a log that is full" 0 no-err .
run report full.log
check "it ends with a stop" 3 out ' tick at=.* data=00 00 00 00$' out 'trace stop (full)' \
    out 'log full'
run status full.log
check "status of a full log" "0 3" out '^log full status: full$' out '^log overrun status: overrun$'
run info full.log
check "info of a full log: what did not go in is lost" 3 out '^events lost: unknown' \
    out '^events lost at least: [0-9]' no-out '^losses: none$' err 'the log had no space'
# Its writer was killed when it had written that the log is full.
head -c $(($(stat -c %s full.log) - 160 - 232)) full.log >killed.log
run status killed.log
check "status of a full log that was not closed" "0 3" out '^log overrun status: overrun$' \
    out '^log full status: full$'

run_program ./logging lost.log 5000 1 4 # loop, append
check "a stream that loops" 0 no-err .
run report lost.log
check "what was lost is told of" 3 out ' overflow' out ' resume' err 'were lost in'
lost=$("$ringside" info lost.log 2>/dev/null | grep '^events lost: ')
saved "a log with losses" lost.log 3 err "the [1-9][0-9]* loss markers"
run info saved.ptr
check "save: what was lost" 3 out "^$lost\$" out '^state: suspended, not_full, overrun$'

# The log is truncated, as by a kill. The complete part is saved.
head -c $(($(stat -c %s all.log) / 2 + 100)) all.log >cut.log
saved "a log that is cut" cut.log "0 3"
run info cut.log
check "a log that is cut has the name" "0 3" out '^stream name: log test$' out '^cut: yes$'

# A log is being written until the stream is shut down.
cat >writing.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <trace.h>
int main(int count, char **words)
{
    trace_id_t stream;
    int file = count == 2 ? open(words[1], O_RDWR | O_CREAT, 0600) : -1;
    if (posix_trace_create_withlog(0, NULL, file, &stream))
        return 1;
    puts("ready");
    fflush(stdout);
    getchar();
    return posix_trace_shutdown(stream);
}
C
compile writing.c
start_program writing ./writing open.log
await_output writing '^ready$'
check "a log that is written to" 0
run info open.log
check "info: it is being written" '0 3' out '^writing: yes$' out '^cut: no$'
end_program writing
run info open.log
check "info: it is not" 0 out '^writing: no$' out '^closed: yes$'
finish
