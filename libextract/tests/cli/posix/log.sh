#!/bin/bash
# SPDX-License-Identifier: MIT
# log.sh: logs that the functions of <trace.h> write are logs of Ringside's, under each policy: its
# commands read them, with the names of events. The events number themselves.
# Prints "ok NAME" or "not ok NAME: why"; exit status 1 when any failed. Takes BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"
cd "$work" || exit 1

# FILE EVENTS STREAM_POLICY LOG_POLICY: so many events "tick", a flush behind each hundred (of a
# stream that loops, behind each thousand, which is more than it holds).
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

runs ./logging all.log 500 2 4 # until full, append
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
run save all.log -o all.ptr
check "save of a log" 2 err 'or the log, instead'

runs ./logging all.log 200 2 4
check "it is continued" 0 no-err .
run info all.log
check "info of both" 0 out '^recordings: 2$' out '^damaged: 0$' out '^closed: yes$'
run report --event tick all.log
ticks "both are there" 700

runs ./logging loop.log 20000 2 1 # until full, loop
check "a log that goes round" 0 no-err .
run report loop.log
check "the newest, with names" 0 out ' tick at=.* data=1F 4E 00 00$' no-out 'data=00 00 00 00$'
run info loop.log
check "info of the newest" 0 out '^wrapped: yes$' out '^damaged: 0$' out '^policy: loop$'

runs ./logging full.log 5000 2 2 # until full, until full
check "a log that is full" 0 no-err .
run report full.log
check "it ends with a stop" 0 out ' tick at=.* data=00 00 00 00$' out 'trace stop (full)' \
    out 'log full'
run status full.log
check "status of a full log" 0 out '^log full status: full$'

runs ./logging lost.log 5000 1 4 # loop, append
check "a stream that loops" 0 no-err .
run report lost.log
check "what was lost is told of" 3 out ' overflow' out ' resume' err 'were lost in'
finish
