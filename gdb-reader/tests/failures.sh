#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb-reader tests: every target read and every allocation fails in turn, in a stand-in for GDB.
# shellcheck source=../../libextract/tests/lib.sh
. "$(dirname "$0")/../../libextract/tests/lib.sh"
use_gdb

# The reader can run with sanitizers only here: GDB 13 does not start under AddressSanitizer.
flags=(-std=gnu11 -O1 -g -rdynamic)
[ -z "$preload" ] || flags+=("-fsanitize=address,undefined")
cc "${flags[@]}" "$here/host.c" -o "$work/host" -ldl -lpthread
boot board
printf '%s\n' "target remote $work/board.sock" 'tbreak checkpoint' continue \
    "dump binary memory $work/ram 0x20000000 &_end_of_ram" >"$work/commands"
timeout -k 5 60 gdb-multiarch -nx -q -batch -x "$work/commands" "$elf" >"$out" 2>&1 </dev/null

host() { # MODE COMMAND [ARGUMENT...]
    timeout -k 5 100 "$work/host" "$BUILD/ringside-reader.so" "$elf" "$work/ram" 0x20000000 "$@" \
        >"$out" 2>&1 || {
        echo "$*: $(tail -n 1 "$out")"
        return 1
    }
}

printf '1000 1.0 L=APPL "number" $D1%%D4\n' >"$work/own.fmt"

test_stand_in_works() {
    host run dump
    [ "$(grep -c info1= "$out")" -eq 40 ]
    host run last x
    has '^set \$ringside_error = ".*not a number'
    has '^set \$_ringside_failed = 1$'
}

# An error names an option as it was typed, or as `ringside set` calls it.
test_options_in_errors() {
    host run dump --thread nosuch
    has '^set \$ringside_error = "--thread: \\042nosuch\\042: no such name'
    host run last 5 --event 9999
    has '^set \$ringside_error = "--event: \\0429999\\042: no such event in this trace'
    host run dump --from 99999999999
    has '^set \$ringside_error = "--from: \\04299999999999\\042: after the last event of'
    host run last 5 --thread alpha --where 'info1 == 1' --where 'info1 == 2'
    has '^set \$ringside_error = "--where: .*: no event of this trace fits'
    host run last x
    has '^set \$ringside_error = "last: \\042x\\042: not a number'
    host run set from now
    has '^set \$ringside_error = "from: \\042now\\042: not a time'
}

test_reads() {
    for command in info 'dump --thread alpha' stats diff; do
        # shellcheck disable=SC2086
        host reads $command
        has '^[1-9][0-9]* failures$'
    done
    host reads save "$work/ring.trx"
    has '^[1-9][0-9]* failures$'
}

# When the reader is unloaded, it ends a running recording properly.
test_recording_ends() {
    rm -f "$work/left.log"
    host run record "$work/left.log"
    has 'record: 40 events in '
    [ ! -e "$work/left.log.lock" ]
    [ "$("$BUILD/ringside" report "$work/left.log" | grep -c info1=)" -eq 40 ]
    host run record "$work/none.log" --size 1
    [ ! -e "$work/none.log" ]
    host reads record
    has '^[0-9]* failures$'
}

test_reads_that_throw() {
    host throws dump
    has '^[1-9][0-9]* failures$'
    host throws diff
    has '^[1-9][0-9]* failures$'
}

test_allocations() {
    [ -z "$preload" ] || return 0
    for command in info objects 'dump --event 4096' 'dump -O hist,pid' stats diff 'set elf x' \
        "set templates $work/own.fmt" 'set dialect octal-flags' 'set columns exec=off' status \
        help; do
        # shellcheck disable=SC2086
        host allocations $command
        has '^[1-9][0-9]* failures$'
    done
}

run_tests
