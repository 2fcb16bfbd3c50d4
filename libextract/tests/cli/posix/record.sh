#!/bin/bash
# SPDX-License-Identifier: MIT
# record.sh: records a traced program on this host while it runs. Checks that recorded and lost
# events add up to the program's own count. The events contain their own numbers. Prints "ok NAME"
# or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"
cd "$work" || exit 1

# For each input line "N", the program records N events "tick" with increasing numbers. For "name",
# it registers a type and records an event of that type. For "clear", it clears the stream. It
# prints "done" after each line.
cat >traced.c <<'C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
int main(int count, char **words)
{
    trace_attr_t attr;
    trace_event_id_t tick, late;
    trace_id_t stream;
    uint32_t number = 0;
    char line[64];
    posix_trace_attr_init(&attr);
    posix_trace_attr_setstreamsize(&attr, count > 1 ? (size_t)atol(words[1]) : 65536);
    if (posix_trace_create(0, &attr, &stream) || posix_trace_eventid_open("tick", &tick) ||
        posix_trace_start(stream))
        return 1;
    puts("ready");
    while (fflush(stdout), fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "name", 4) && !posix_trace_eventid_open("late \033[31m", &late))
            posix_trace_event(late, NULL, 0);
        else if (!strncmp(line, "clear", 5))
            posix_trace_clear(stream);
        for (long n = atol(line); n > 0; n--, number++)
            posix_trace_event(tick, &number, sizeof number);
        puts("done");
    }
    return posix_trace_shutdown(stream);
}
C
compile traced.c
[ "$status" = 0 ] || finish

said=0
start() { # [BYTES]
    start_program traced ./traced "$@"
    said=0
    await_output traced '^ready$'
}
ask() { # WORD
    send_line traced "$1"
    said=$((said + 1))
    await_output traced '^done$' "$said"
}
# Records in the background until `rest` is called, and waits until the log exists. (The recorder
# must not have the program's input open, because that input would then not end.)
record() { # LOG OPTION...
    local log=$1 fd=${inputs[traced]} i
    shift
    "$ringside" record --json --quiet --pid "${pids[traced]}" -o "$log" "$@" \
        >record.out 2>record.err {fd}>&- &
    recorder=$!
    for ((i = 0; i < 300; i++)); do
        [ -s "$log" ] && break
        sleep 0.1
    done
}
rest() {
    kill -INT "$recorder"
    wait "$recorder"
    status=$?
    cp record.out out && cp record.err err
}
# Prints the number of a member of the JSON in a file.
member() { grep -o "\"$2\":[0-9]*" "$1" | head -n 1 | tr -dc 0-9; }
# Checks that the numbers of the ticks in a report rise by one, except after a loss. Prints how many
# there are.
numbers() { # FILE
    awk '/lost|trace restarted/ { gap = 1 }
        / tick at=/ {
            n = substr($0, index($0, "data=") + 5)
            split(n, b, " ")
            v = 0
            for (i = 4; i > 0; i--)
                v = v * 256 + index("0123456789ABCDEF", substr(b[i], 1, 1)) * 16 - 16 + \
                    index("0123456789ABCDEF", substr(b[i], 2, 1)) - 1
            if (count && v != last + 1 && !(gap && v > last)) bad++
            last = v; gap = 0; count++
        }
        END { print count + 0, bad + 0 }' "$1"
}

# ---- Nothing is lost ----
start
ask 10
run last 1 --pid "${pids[traced]}"
check "where it was called" 0 out ' tick at=main+0x[0-9a-f]*\( (.*traced.c:[0-9]*)\)\? data=09'
record whole.log
for i in 1 2 3; do ask 200; done
ask name
ask 5
rest
check "a recording" 0 out '"lost":0'
run info whole.log
check "what is in it" 0 out '^format: posix$' out '^entries damaged: 0$' out '^events lost: 0$'
run report whole.log
check "a name that came later" 0 out ' late ' no-out $'\033' out ' tick at='
read -r ticks bad < <(numbers out)
status=$((ticks == 615 && bad == 0 ? 0 : 1))
check "each event once" 0
run last 2 whole.log
check "the newest" 0 out ' tick at=.* data=66 02 00 00'
run stats whole.log
check "figures" 0 out '^events: 617$'
run status whole.log
check "status" 0 out '^flush error: 0$' out '^log full status: not_full$'
end_program traced

# ---- The writer is faster than the recorder ----
start 4096
record lapped.log --every 500
for i in 1 2 3 4; do ask 5000; done
rest
check "a recording with losses" 3
recorded=$(member out entries) lost=$(member out lost)
status=$((recorded + lost == 20001 ? 0 : 1)) # and the start
check "produced is recorded and lost ($recorded and $lost)" 0
run report lapped.log
read -r ticks bad < <(numbers out)
status=$((ticks + 1 >= recorded && bad == 0 ? 0 : 1))
check "in order, none invented" 0
run info lapped.log
check "the losses are told" 3 out "^events lost: .*$lost"

# ---- The target restarts ----
rm -f reset.log
record reset.log
ask 10
kill -STOP "$recorder"
ask 100
ask clear
ask 10
kill -CONT "$recorder"
rest
check "a stream that is cleared meanwhile" 3
status=0
cp record.out out
check "with events that nobody has read" 0 out '"resets":1,' out '"lost":null,"lost_at_least":0,'
run report reset.log
check "is marked" 3 out 'trace restarted' out ' tick at='
run info reset.log
check "and the number of the lost is not known" 3 out '^events lost: unknown' out '^gaps: 1$'

# ---- A log that `flush` writes ----
rm -f flushed.log
send_line traced clear
said=$((said + 1))
await_output traced '^done$' "$said"
ask 10
run flush flushed.log --pid "${pids[traced]}"
check "the first flush" 0 out '^flush: 10 events added$'
run flush flushed.log --pid "${pids[traced]}"
check "nothing is new" 0 out '^flush: 0 events added$'
ask 5
ask name
run flush flushed.log --json --pid "${pids[traced]}"
check "what is new" 0 out '^{"added":6,"lost":0,"lost_at_least":0,"lost_exact":true,"gaps":0,'
run report flushed.log
check "with its name" 0 out ' late '
read -r ticks bad < <(numbers out)
status=$((ticks == 15 && bad == 0 ? 0 : 1))
check "each once" 0
run status flushed.log
check "its status" 0 out '^flush error: 0$' out '^log overrun status: no_overrun$'
ask 2000
run flush flushed.log --pid "${pids[traced]}"
check "the writer was faster" 3 out '^flush: [0-9]* events added, [0-9]* lost$'
read -r added lost < <(tr -c '0-9\n' ' ' <out)
status=$((added + lost == 2000 ? 0 : 1))
check "all that it made is added or lost ($added and $lost)" 0
run report flushed.log
check "which is told" 3 out 'events lost reason=lapped'
read -r ticks bad < <(numbers out)
status=$((bad == 0 ? 0 : 1))
check "and nothing is there twice" 0
ask clear
ask 3
run flush flushed.log --pid "${pids[traced]}"
check "a stream that began again" 3 out '^flush: 3 events added, at least 0 lost$'
run info flushed.log
check "with an unknown number of events" 3 out '^events lost: unknown'
run report flushed.log
check "it is marked" '0 3' out 'reset'
ask clear
rm -f empty.log
record empty.log --policy append
rest
ask 2000
run flush empty.log --pid "${pids[traced]}"
check "a log without events" 3 out '^flush: [0-9]* events added, [0-9]* lost$'
read -r added lost < <(tr -c '0-9\n' ' ' <out)
status=$((added + lost == 2000 ? 0 : 1))
check "is continued by what is added and lost ($added and $lost)" 0
run flush lapped.log --pid "${pids[traced]}"
check "a log that wraps" 2 err 'lapped.log: '
echo rubbish >rubbish.log
run flush rubbish.log --pid "${pids[traced]}"
check "no log" 2 err 'rubbish.log: '
run flush flushed.log
check "no target" 1 err 'flush: no target is given; use LOG, and --pid PID'
run flush --pid "${pids[traced]}"
check "no name" 1 err 'flush: no log is given'
end_program traced

# ---- A position-independent program has names in its logs, also after it has ended ----
"${compiler[@]}" -fPIE -pie traced.c -o traced "$library" -ldw -lelf -lm
start
record moved.log --every 60000
ask 300
run flush moved-too.log --pid "${pids[traced]}"
end_program traced
rest
check "a program that has ended: nothing is lost" 0 out '"lost":0' out '"lost_exact":true'
for log in moved.log moved-too.log; do
    run report --elf traced --event tick "$log"
    check "names in $log" 0 out ' tick at=main+0x[0-9a-f]*' no-out 'at=0x'
    read -r ticks bad < <(numbers out)
    status=$((ticks == 300 && bad == 0 ? 0 : 1))
    check "all events are in $log" 0
    run report --event tick "$log"
    check "no names without the program ($log)" 0 out ' tick at=0x' no-out 'at=main'
done

run record --pid "${pids[traced]}" -o none.log
check "no such process" 2 err 'no such process'
[ ! -e none.log ]
status=$?
check "leaves no log" 0

# ---- The end of a program ends the commands that wait for it ----
# ended NAME: checks that the process that was started last ends by itself, within 20 s.
has_ended() { ! kill -0 "$follower" 2>/dev/null; }
ended() {
    wait_until has_ended || kill "$follower"
    wait "$follower"
    status=$?
    cp record.out out && cp record.err err
}
for way in exit kill; do
    start
    rm -f "ended-$way.log"
    record "ended-$way.log" --every 20
    follower=$recorder
    ask 100
    if [ $way = kill ]; then
        kill -KILL "${pids[traced]}"
    fi
    end_program traced 2>/dev/null
    ended
    rm -f "/dev/shm/ringside-posix.${pids[traced]}" # of a program that was killed
    check "a recording ends with its program ($way)" 0 out '"reason":"ended"' out '"lost":0' \
        out '"lost_exact":true'
    run report "ended-$way.log"
    # A program that exits suspends its stream first, which a poll may see.
    if [ $way = exit ]; then
        sed -i 's/the trace is off/the traced process has ended/' out
    fi
    check "the log says so ($way)" 0 out 'the traced process has ended'
    read -r ticks bad < <(numbers out)
    status=$((ticks == 100 && bad == 0 ? 0 : 1))
    check "and has all of it ($way)" 0
    run info "ended-$way.log"
    check "it is closed ($way)" 0 out '^closed: yes$'
done
start
"$ringside" top --batch --json --delay 0.1 --pid "${pids[traced]}" >record.out 2>record.err \
    {inputs[traced]}>&- &
follower=$!
ask 20
sleep 0.3
end_program traced
ended
check "top ends with its program" 0 out '"state":"running"' out '"state":"ended"'
start
"$ringside" periodic --every 50 --json --pid "${pids[traced]}" copies >record.out 2>record.err \
    {inputs[traced]}>&- &
follower=$!
ask 20
sleep 0.3
end_program traced
ended
check "periodic snapshots end with their program" 0 out '"reason":"ended"'

# ---- A program without a stream ----
cat >silent.c <<'C'
#include <stdio.h>
#include <trace.h>
int main(void)
{
    trace_event_id_t tick;
    if (posix_trace_eventid_open("tick", &tick))
        return 1;
    posix_trace_event(tick, NULL, 0);
    puts("ready");
    fflush(stdout);
    return getchar() != EOF;
}
C
compile silent.c
start_program silent ./silent
await_output silent '^ready$'
pid=${pids[silent]}
for how in record flush; do
    arguments=(-o silent.log)
    [ $how = record ] || arguments=(silent.log)
    run $how --pid "$pid" "${arguments[@]}"
    check "$how of a program without a stream" 2 \
        err "^ringside: process $pid: has no trace stream; create one with posix_trace_create"
    [ ! -e silent.log ]
    status=$?
    check "$how leaves no log" 0
done
end_program silent
start
run record --stream 3 --pid "${pids[traced]}" -o silent.log
check "record of a stream that nobody has created" 2 \
    err "^ringside: process ${pids[traced]}: has no trace stream 3; create one"
[ ! -e silent.log ]
status=$?
check "leaves no log either" 0
end_program traced
finish
