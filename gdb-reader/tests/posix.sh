#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb-reader tests: POSIX trace: events, status, and requests to the recorder. GDB writes the words
# of a request, and the firmware carries it out when it continues.
#
# Truth: the firmware's own counters.
# shellcheck source=../../libextract/tests/lib.sh
. "$(dirname "$0")/../../libextract/tests/lib.sh"
use_gdb
target=$here/../../libextract/recorder/target
posix=$work/posix.elf
arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -O1 -g -ffreestanding -nostdlib -Wl,--build-id=none \
    -I"$target" -DRINGSIDE_TRACE_USER_EVENTS=32 -DRINGSIDE_TRACE_CLOCK_HZ=1000 \
    -DRINGSIDE_TRACE_PORT='"ports/cortex_m.h"' \
    -D'RINGSIDE_TRACE_CLOCK()=clock_of_test' -include "$here/posix.h" -T "$here/firmware.ld" \
    "$here/posix.c" "$here/vectors.c" "$target/ringside_trace.c" -o "$posix" -lgcc

# on_board COMMAND...: runs GDB commands on a fresh board that is halted after its first round.
on_board() {
    boot board qemu-system-arm -M mps2-an385 -kernel "$posix"
    session "$posix" "target remote $work/board.sock" 'break checkpoint' continue 'echo <<<\n' "$@"
    kill -9 "$board" 2>/dev/null || true
}
stream='ringside_posix.streams[0]'

test_events() {
    on_board 'ringside report' "p $stream.recorded" 'ringside info'
    has '^ *0  002 .* trace start at='
    has '^ *1  021 .* door at=(work|main).* data=01 02 03$'
    has '^ *2  021 .* door at=(work|main)[^=]*$'
    has '^ *3  022 .* window at=(work|main).* data=01$'
    has '^\$1 = 4$'
    has '^entries valid: 4$'
    has '^events lost: 0$'
}

# Filters with names of the same kind select the events of each name.
test_two_names() {
    on_board 'ringside report --event door --event window'
    has ' door at='
    has ' window at='
    lacks ' trace start at='
}

test_status() {
    on_board 'ringside status'
    has '^stream status: running$'
    has '^stream full status: not_full$'
    has '^stream overrun status: no_overrun$'
    session "$posix" 'ringside status'
    has '^stream status: unknown \(GDB has no board, process or core\)$'
}

# While the board is halted, the request is not carried out. One round later, it is.
test_stop() {
    on_board 'ringside stop' "p $stream.state" continue "p $stream.state" 'ringside status' \
        'ringside last 1' "p $stream.recorded" continue "p $stream.recorded"
    has '^stop: requested; done when the target passes its next trace point$'
    has '^\$1 = 3$'
    has '^\$2 = 1$'
    has '^stream status: suspended$'
    has ' trace stop at='
    has '^\$3 = 5$'
    has '^\$4 = 5$'
}

test_start() {
    on_board 'ringside stop' continue 'ringside start' continue "p $stream.state" 'ringside last 3'
    has '^start: requested'
    has '^\$1 = 3$'
    has ' window at='
}

test_clear() {
    on_board 'ringside clear' continue "p $stream.recorded" 'ringside report'
    has '^\$1 = 3$'
    lacks 'trace start'
    has ' window at='
}

test_filter() {
    on_board 'ringside filter show' 'ringside filter set door' continue "p $stream.filter" \
        'ringside last 2' 'ringside filter add window' 'ringside filter sub door' continue \
        "p $stream.filter" 'ringside filter show'
    has '^not recorded: nothing$'
    has '^before: not recorded: nothing$'
    has '^after: not recorded: door$'
    has '^\$1 = \{0, 2\}$'
    has ' trace filter at='
    has '^after: not recorded: door window$'
    has '^before: not recorded: door window$'
    has '^\$2 = \{0, 4\}$'
    has '^not recorded: window$'
}

test_words() {
    on_board 'ringside filter set nothing_of_that_name'
    has 'no event type has that name'
    on_board 'ringside filter set'
    has 'not a change of the filter'
    on_board 'ringside start now'
    has 'takes no arguments'
}

test_stream() {
    on_board 'ringside set stream 0' 'ringside info' 'ringside set' 'ringside set stream 40' \
        'ringside info' 'ringside set stream none' 'ringside set'
    has '^stream: 0$'
    has '^set stream 0$'
    has 'stream 40: the traced process has streams 0 to'
}

test_flush() {
    rm -f "$work/flushed.log"
    on_board "ringside flush $work/flushed.log" "p $stream.recorded" \
        "ringside flush $work/flushed.log" continue "ringside flush $work/flushed.log" \
        "p $stream.recorded" 'ringside flush'
    has '^flush: 4 events added$'
    has '^\$1 = 4$'
    has '^flush: 0 events added$'
    has '^flush: 3 events added$'
    has '^\$2 = 7$'
    has 'flush: pass one log'
    "$BUILD/ringside" report "$work/flushed.log" >"$out"
    has ' trace start at='
    test "$(grep -c ' door at=' "$out")" = 4
}

# Two event types and the stream have names in memory that must not reach a terminal. The words are
# ESC [23mG LF ESC ]0; and 9B 2J [exit] \ $x } and ESC ]0t } BEL LF.
hostile=("set {unsigned[3]}&ringside_posix.names[1] = {0x33325b1b, 0x1b0a476d, 0x003b305d}"
    "set {unsigned[4]}&ringside_posix.names[2] = {0x5b4a329b, 0x74697865, 0x78245c5d, 0x0000007d}"
    "set {unsigned[3]}&$stream.name = {0x74305d1b, 0x000a077d, 0}")
test_hostile_names() {
    rm -f "$work/hostile.log"
    on_board "${hostile[@]}" 'ringside report' 'ringside info' 'ringside objects' 'ringside stats' \
        'ringside status' 'ringside last 2' 'ringside filter add *G*' 'ringside filter show' \
        "ringside flush $work/hostile.log" $'ringside filter add \e[1m*nobody*'
    has ' \\x1b\[23mG\\x0a\\x1b\]0; at='
    has ' \\x9b2J\[exit\]\\+\$x} at='
    has '^stream name: \\x1b\]0t}\\x07\\x0a$'
    has '^after: not recorded: \\x1b\[23mG\\x0a\\x1b\]0;$'
    has '^flush: 4 events added$'
    has 'no event type has that name'
    sed -n '/^<<<$/,$p' "$out" | LC_ALL=C tr -d ' -~\n\t' >"$work/others"
    test ! -s "$work/others"
    "$BUILD/ringside" report "$work/hostile.log" >"$out" 2>&1
    "$BUILD/ringside" info "$work/hostile.log" >>"$out" 2>&1
    "$BUILD/ringside" status "$work/hostile.log" >>"$out" 2>&1
    has ' \\x1b\[23mG\\x0a\\x1b\]0; at='
    test -z "$(LC_ALL=C tr -d ' -~\n\t' <"$out")"
}

run_tests
