#!/bin/bash
# SPDX-License-Identifier: MIT
# What goes wrong while `ringside record` follows a board through OpenOCD: memory that faults, a
# probe that keeps saying WAIT, OpenOCD killed and started again, the probe killed, the target
# reset. The recording continues where it can, the log is whole and reports what is missing.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
elf=$firmware/storm-cortex-m3.elf

pause=0.7 # of each trouble, seconds

# A busy machine may let the recorder wait: trouble begins when it has read what came for a while.
has_recorded() { # NAME
    local entries
    entries=$("$ringside" report -q --json "$work/$1.log" | jq -c 'select(.id >= 4096)' | wc -l)
    [ "$entries" -ge 100 ]
}
start_trickle() { # NAME
    filter 0
    load 200 $rest
    start_recorder "$1" && filter $user_events && wait_for 20 has_recorded "$1"
}
# trouble NAME COMMAND...: a recording at a steady trickle, with trouble in its middle.
trouble() {
    local name=$1
    shift
    start_trickle "$name" && "$@" || return 1
    sleep $pause
    filter 0
    sleep 1
    stop_recorder "$name"
}
has_mark() { # NAME MARK
    local found
    found=$("$ringside" report -q --json --event 'RINGSIDE_*' "$work/$1.log" | jq -r .event)
    grep -qxE "RINGSIDE_($2)" <<<"$found" && return 0
    echo "there is no RINGSIDE_$2 in: $found"
    return 1
}
ends_whole() { # NAME: closed in order, nothing damaged
    "$ringside" info --json -q "$work/$1.log" >"$work/info.json"
    jq -e '.log | .closed and .damaged == 0 and .blocks_missing == 0 and (.cut | not)' \
        "$work/info.json" >/dev/null && return 0
    jq -c .log "$work/info.json"
    return 1
}

ring_faults() {
    local start
    start=$(board_word _tx_trace_buffer_start_ptr)
    ask fault "$start" 0x2000 >/dev/null
    sleep $pause
    ask fault clear >/dev/null
}
pointer_faults() {
    ask fault "$(symbol _tx_trace_buffer_current_ptr)" 4 >/dev/null
    sleep $pause
    ask fault clear >/dev/null
}
wait_storm() {
    ask wait 3 >/dev/null
    sleep $pause
    ask wait 0 >/dev/null
}
openocd_dies() {
    kill -9 "$openocd_pid"
    wait "$openocd_pid" 2>/dev/null
    sleep $pause
    wait_for 10 launch_openocd
}
# Start-up code gives all words their first values: then the board runs again.
has_restarted() { [ "$(board_word storm_pause)" != $rest ] && board_is_up; }
target_resets() {
    ask reset >/dev/null && wait_for 20 has_restarted && sleep 0.3 && filter $user_events
}

check "faults: the board and OpenOCD start" start_board -icount shift=8,align=on
for what in ring_faults pointer_faults wait_storm openocd_dies; do
    check "faults: recording with $what" trouble $what $what
    check "faults: $what: $balance" balances $what
    check "faults: $what: the log is whole" ends_whole $what
    [ -s "$work/$what.verdict" ] && tell_verdict $what
done
check "faults: an unreadable pointer is marked" has_mark pointer_faults GONE
check "faults: and that it can be read again" has_mark pointer_faults BACK
check "faults: the loss of OpenOCD is marked" has_mark openocd_dies GONE
check "faults: and its return" has_mark openocd_dies BACK

check "faults: recording with a reset" trouble reset target_resets
check "faults: reset: $balance" balances reset
# A ring that was filled again before the next poll proves no reset, but its clock went back.
check "faults: reset: it is marked" has_mark reset 'RESET|CLOCK'
check "faults: reset: the log is whole" ends_whole reset

# The board goes with its probe: what was recorded until then is there.
probe_dies() {
    start_trickle unplugged || return 1
    kill -9 "$probe_pid"
    wait "$probe_pid" 2>/dev/null
    probe_pid=
    sleep 1
    kill -INT "$recorder"
    wait "$recorder"
    whole_or_named $? || { cat "$work/unplugged.err"; return 1; }
    balances unplugged ''
}
check "faults: the probe dies, the log stays" probe_dies
check "faults: unplugged: that it is gone is marked" has_mark unplugged GONE
check "faults: unplugged: the log is whole" ends_whole unplugged
exit $((failed > 0))
