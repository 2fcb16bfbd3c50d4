#!/bin/bash
# SPDX-License-Identifier: MIT
# programs.sh: compiles the example programs of POSIX trace (docs/examples/posix) as a user does,
# and checks their output. They use streams of their own and of other processes, logs that another
# program reads, and the memory of a board. Prints "ok NAME" or "not ok NAME: why" for each test.
# Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=compile.sh
. "$(dirname "$0")/compile.sh"
examples=$tree/docs/examples/posix

compile "$examples"/*/*.c
cd "$work" || exit 1

# Checks that the last output is equal to standard input, except the set of the filter and flushes
# of a log.
prints() { # NAME
    check "$1: it runs" 0
    if diff <(sed 's/^\(posix_trace_start:\) [0-9A-F ]*/\1 …/; /^posix_trace_flush/d' out) - \
        >difference; then
        ok "$1"
    else
        fail "$1" "$(sed -n 2p difference)"
        sed 's/^/# /' difference
    fi
}

# ---- P1 ----
# A record without data has 2 words, 2 addresses of 8 bytes, a process id, 2 words of time, and 1
# word.
run_program ./p1_attributes
check "p1: attributes" 0 out '^version: ringside ' out '^name: ""$' \
    out "^created: .*$(date +%Y)" out '^clock resolution: [1-9][0-9]* ns$' \
    out '^stream policy: POSIX_TRACE_LOOP$' out '^log policy: POSIX_TRACE_LOOP$' \
    out '^max data size: [1-9][0-9]*$' no-err .
size() { sed -n "s/^$1: //p" out; }
[ $((40 + $(size 'max data size'))) = "$(size 'user event size')" ] &&
    [ $(($(size 'stream size') / $(size 'user event size'))) = \
        "$(size 'user events of that size')" ] &&
    [ "$(size 'system event size')" = $((40 + 2 * 36)) ]
status=$?
check "p1: sizes" 0
sed -i 's/:.*//' out
prints "p1: the order of the attributes" <<'END'
version
name
created
clock resolution
stream policy
log policy
max data size
user event size
user events of that size
system event size
stream size
END

# ---- P2, P4, P5: a log that one program writes, of what a second one does, and a third reads ----
start_program application ./p4_application
await_output application '^process'
start_program control ./p2_control "${pids[application]}" log
await_output control '^tracing'
check "p2: traces" 0
send_line application one
await_output application '^done'
check "p4: passes its trace points" 0
end_program control
check "p2: ends" 0 no-err .
run_program ./p5_analyzer log
prints "p5: names" <<'END'
posix_trace_start
my_first_event
my_second_event
posix_trace_stop
END
run report --no-header -O timestamp=3,exec=off,seq=off log
sed -i 's/ at=.*//; s/^ *//; /^F1\|^00[78]/d' out # marks, flushes
prints "ringside reads that log, too" <<'END'
002           trace start
021   my_first_event
022   my_second_event
003           trace stop
END
send_line application 'not traced'
await_output application '^done' 2
check "p4: goes on without a controller" 0

# ---- P3, P4, P6 ----
start_program choice ./p3_control "${pids[application]}" chosen
await_output choice '^tracing'
send_line application 'as said'
await_output application '^done' 3
send_line choice
await_output choice '^suspended'
send_line application 'nothing'
await_output application '^done' 4
send_line choice
await_output choice '^tracing$' 2
send_line application 'more than the 16 bytes that there is room for'
await_output application '^done' 5
send_line choice
await_output choice '^tracing the other'
send_line application 'only the first'
await_output application '^done' 6
end_program choice
check "p3: ends" 0 out '^stream "chosen" is over$' no-err .
end_program application
check "p4: ends" 0 no-err .
run_program ./p6_analyzer chosen
check "p6: what the stream was" 0 out '^bytes of data: 16 at most$' \
    out '^made by: ringside' out '^type: posix_trace_unnamed_userevent$' \
    out '^type: my_first_event$' out '^type: my_second_event$' no-out 'events were lost' no-err .
sed -i '/^type\|^made\|^bytes/d' out
# The second of the filter's 9 words has the types 32 to 63. my_first_event is 33 at first, and 34
# later.
none=$(printf '00 %.0s' {1..28})
prints "p6: names and data" <<END
posix_trace_start: …
my_second_event: 61 73 20 73 61 69 64
posix_trace_stop: 00 00 00 00
posix_trace_start: …
my_second_event: 6D 6F 72 65 20 74 68 61 6E 20 74 68 65 20 31 36 (cut)
posix_trace_filter: 00 00 00 00 02 00 00 00 ${none}00 00 00 00 04 00 00 00 ${none% }
my_first_event
posix_trace_stop: 00 00 00 00
END

# ---- P7 to P11 ----
run_program ./p7_attributes mine
prints "p7: attributes" <<'END'
name: my_trace
stream policy: loop
log size: 100000
END
run_program ./p8_filter
prints "p8: filter" <<'END'
my_first_event is left out
posix_trace_start: …
my_third_event
posix_trace_stop: 00 00 00 00
END
run_program ./p9_status
sed -i '/^made/d' out
prints "p9: status" <<'END'
asked once:
bytes of data: 32 at most
events were lost
asked again:
bytes of data: 32 at most
END
run_program ./p10_types
prints "p10: types" <<'END'
type: posix_trace_error
type: posix_trace_start
type: posix_trace_stop
type: posix_trace_overflow
type: posix_trace_resume
type: posix_trace_filter
type: posix_trace_flush_start
type: posix_trace_flush_stop
type: posix_trace_unnamed_userevent
type: my_first_event
type: my_second_event
END
run_program ./p11_threads
prints "p11: a switch a thread" <<'END'
my 1, of the thread that is switched on
my 2, of the thread that is switched on
END

# ---- Offline, online, a child ----
run_program ./offline squares
prints "offline analysis" <<'END'
1 * 1 = 1
2 * 2 = 4
3 * 3 = 9
4 * 4 = 16
1 * 1 = 1
2 * 2 = 4
3 * 3 = 9
4 * 4 = 16
4 events, and 4 after a rewind
END

start_program application2 ./p4_application
await_output application2 '^process'
start_program online ./online "${pids[application2]}"
await_output online '^posix_trace_start'
send_line application2 ab
await_output online '^my_second_event: 61 62$'
check "online analysis: events are there while the program runs" 0 out '^my_first_event$' \
    no-out posix_trace_stop
run record --pid "${pids[application2]}" --for 0.5 -o recorded
check "online analysis: ringside records beside it" 0
end_program online
prints "online analysis" <<'END'
posix_trace_start: …
my_first_event
my_second_event: 61 62
posix_trace_stop: 00 00 00 00
END
run_program ./p5_analyzer recorded
prints "p5: what ringside has recorded" <<'END'
posix_trace_start
my_first_event
my_second_event
END
end_program application2
check "online analysis: the program goes on without its controller" 0

printf 'x\n\n' | timeout "$limit" ./parent ./p4_application >out 2>err
status=$?
sed -i '/^process\|^done/d' out
prints "a child from its first instruction on" <<'END'
posix_trace_start: …
my_first_event
my_second_event: 78
my_first_event
my_second_event
posix_trace_stop: 00 00 00 00
END

run_program ./family
prints "a child of a traced process" <<'END'
POSIX_TRACE_INHERITED:
the parent forks
the child is born
the parent has waited
POSIX_TRACE_CLOSE_FOR_CHILD:
the parent forks
the parent has waited
END

# ---- A board's memory ----
for file in firmware.elf ram.bin; do
    gunzip -c "$tree/libextract/tests/data/posix/$file.gz" >$file
done
run_program ./dump firmware.elf ram.bin 0x20000000
check "a dump: what the stream was" 0 out '^bytes of events: 32656 at most$' \
    out '^bytes of data: 64 at most$' no-out 'events were lost' no-err .
# The firmware wrote 20 messages, each with its number.
for ((i = 1; i <= 20; i++)); do
    printf 'message:%s\n' "$(printf 'sample %d done' "$i" | od -An -v -tx1 -w64 | tr a-f A-F)"
done >messages
grep '^message' out | diff messages - >difference
status=$?
check "a dump: the data that the firmware wrote" 0
run_program ./dump firmware.elf firmware.elf 0x20000000
check "a dump: of something else" 1 err '^POSIX trace recorder: .*;' no-out .
run_program ./dump firmware.elf missing 0x20000000
check "a dump: no such file" 1 err '^missing: ' no-out .
finish
