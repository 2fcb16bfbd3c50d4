#!/bin/bash
# SPDX-License-Identifier: MIT
# recordlib.sh: what the cases that record the storm image share: the board behind probe and
# OpenOCD, its load, the program `ringside record`, and the balance of what it brought. It brings
# openocd.sh with it.
# shellcheck shell=bash
# shellcheck source=openocd.sh
. "$(dirname "$0")/openocd.sh"

elf=$firmware/storm-cortex-m3.elf
clock_hz=25000000
device_reload=0x40001008 # clocks between two interrupts of the device
user_events=0x80000000 # the class of the proofs

big_endian= # not empty: the board's words are
# A word between the board and the probe, which has the byte of the lowest address lowest.
lanes() {
    [ -n "$big_endian" ] || { echo "$(($1))"; return; }
    echo $((($1 & 255) << 24 | ($1 >> 8 & 255) << 16 | ($1 >> 16 & 255) << 8 | $1 >> 24 & 255))
}
board_word() { lanes "$(ask peek "$(symbol "$1")")"; }
board_set() { ask poke "$(symbol "$1")" "$(lanes "$2")" >/dev/null; }
filter() { board_set _tx_trace_event_enable_bits "$1"; }

machine="arm -M mps2-an385"
target=chip.mem # which the ring is read through
tap=()          # words for the probe: what OpenOCD finds

start_board() { # [QEMU OPTION...]
    serve "${tap[@]}" \
        --qemu "qemu-system-$machine -display none -serial null -monitor none -kernel $elf $*"
    wait_for 10 board_is_up || return 1
    filter 0
    start_openocd "${ringside_tcl[@]}"
}
ringside_tcl=() # what brings the commands into OpenOCD
board_is_up() { [ "$(board_word bout_trace_inserted)" != 0 ]; }

recorder_runs() {
    [ -s "$work/$1.log" ] && kill -0 "$recorder" 2>/dev/null
}

# start_recorder NAME [OPTION...]: of the board's ring, through OpenOCD, to $work/NAME.log.
start_recorder() {
    local name=$1
    shift
    "$ringside" record --openocd "$tcl_port" --target "$target" --elf "$elf" \
        -o "$work/$name.log" "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    recorder=$!
    wait_for 20 recorder_runs "$name" && sleep 0.5 && return 0
    cat "$work/$name.err"
    return 1
}
# Ends it as Ctrl-C does, and takes down what the firmware has counted by then.
stop_recorder() { # NAME
    local status
    kill -INT "$recorder"
    wait "$recorder"
    status=$?
    board_word bout_trace_inserted >"$work/$1.total"
    whole_or_named $status && return 0
    cat "$work/$1.err"
    return 1
}

# load HZ PAUSE: so many interrupts a second, threads that pause so long.
load() {
    ask poke $device_reload $((clock_hz / $1 - 1)) >/dev/null
    board_set storm_pause "$2"
}
rest=4294967295 # a pause in which threads do nothing

# What was recorded against what the firmware has counted. The likely intervals are judged by the
# caller, all together.
balances() { # NAME [TOTAL]
    record_lines "$work/$1.log" "${2-$(cat "$work/$1.total")}" >"$work/$1.lines" || return 1
    build/recordcheck certain <"$work/$1.lines" | tee "$work/$1.verdict"
    [ "${PIPESTATUS[0]}" -eq 0 ]
}
tell_verdict() { echo "# $1: $(tail -n 1 "$work/$1.verdict")"; }
balance="recorded + lost = produced, nothing torn, twice or invented"
