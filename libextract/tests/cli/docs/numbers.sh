#!/bin/bash
# SPDX-License-Identifier: MIT
# numbers.sh: checks that a measured number which several pages state is the same in all of them.
# Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../../lib.sh
. "$(dirname "$0")/../../lib.sh"
docs=$(realpath "$(dirname "$0")/../../../../docs")

# Prints how long a SCHED_FIFO thread waited at a trace point in the worst case.
worst() { # PAGE
    tr '\n' ' ' <"$docs/$1" | grep -oE 'SCHED_FIFO thread waited [0-9]+ to [0-9]+ ms' |
        grep -oE '[0-9]+ to [0-9]+ ms'
}
is "the worst case of a trace point (docs/posix.md)" "$(worst posix.md)" "1 to 144 ms"
is "the worst case of a trace point (posix_trace_event(3))" \
    "$(worst man/posix/posix_trace_event.3.scd)" "$(worst posix.md)"
finish
