#!/bin/bash
# SPDX-License-Identifier: MIT
# Recording the storm image while it runs, through the stock OpenOCD and the probe, from a trickle
# to far beyond the link. Each user event carries its number in the stream (images/proof.h): nothing
# may be recorded twice, torn or invented, what is missing must be reported, and what the firmware
# counted must be what was recorded and reported lost. The board must not have stood for a moment.
# SOAK=1: a minute at each rate instead of seconds.
#
# The board is one of 3.9 million instructions a second whose clock counts them (-icount), as on
# hardware: else QEMU's clock goes on while the host gives the guest no time, and no estimate from
# stamps can be right. Without it, and with a probe between whose beats the guest moves, only what
# does not depend on time is asked.
# shellcheck source=openocd.sh
. "$(dirname "$0")/openocd.sh"

elf=$firmware/storm-cortex-m3.elf
seconds=${SOAK:+60}
seconds=${seconds:-4}
clock_hz=25000000
timer=0x40000004 # counts down with every clock
device_reload=0x40001008 # clocks between two interrupts of the device
user_events=0x80000000 # the class of the proofs

symbol() { address_of "$elf" "$1"; }
board_word() { ask peek "$(symbol "$1")"; }
filter() { ask poke "$(symbol _tx_trace_event_enable_bits)" "$1" >/dev/null; }

start_board() { # [QEMU OPTION...]
    serve --qemu "qemu-system-arm -M mps2-an385 -display none -serial null -monitor none \
        -kernel $elf $*"
    wait_for 10 board_is_up || return 1
    filter 0
    start_openocd
}
board_is_up() { [ "$(board_word bout_trace_inserted)" != 0x00000000 ]; }

now_ns() { date +%s%N; }
# What the board's clock and the host's say: HOST-BEFORE BOARD HOST-AFTER
clocks() {
    local before board
    before=$(now_ns)
    board=$(ask peek $timer)
    echo "$before $((board)) $(now_ns)"
}
# The board's clock went on for as long as the host's: no halt. What lies between the two readings
# is known from both sides.
never_stood() { # BEFORE0 BOARD0 AFTER0 BEFORE1 BOARD1 AFTER1
    awk -v hz=$clock_hz 'BEGIN {
        board = ARGV[2] - ARGV[5]; if (board < 0) board += 4294967296
        board /= hz; least = (ARGV[4] - ARGV[3]) / 1e9; most = (ARGV[6] - ARGV[1]) / 1e9
        while (board + 4294967296 / hz < most + 0.05) board += 4294967296 / hz
        printf "the board ran for %.3f s of %.3f to %.3f s\n", board, least, most
        exit !(board >= least - 0.05 && board <= most + 0.05) }' "$@"
}

recorder_runs() {
    [ -s "$work/$1.log" ] && kill -0 "$recorder" 2>/dev/null
}

# record_storm NAME HZ PAUSE CLASSES [OPTION...]: a recording from silence to silence, of so many
# interrupts a second, threads that pause so long, and these classes of events.
record_storm() {
    local name=$1 hz=$2 pause=$3 classes=$4 status
    shift 4
    ask poke $device_reload $((clock_hz / hz - 1)) >/dev/null
    ask poke "$(symbol storm_pause)" "$pause" >/dev/null
    "$ringside" record --openocd "$tcl_port" --target chip.mem --elf "$elf" -o "$work/$name.log" \
        "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    recorder=$!
    wait_for 20 recorder_runs "$name" || { cat "$work/$name.err"; return 1; }
    sleep 0.5
    before=($(clocks))
    filter "$classes"
    sleep "$seconds"
    filter 0
    sleep 1
    after=($(clocks))
    kill -INT "$recorder"
    wait "$recorder"
    status=$?
    whole_or_named $status || { cat "$work/$name.err"; return 1; }
    board_word bout_trace_inserted >"$work/$name.total"
}

# The report as recordcheck's lines, with the firmware's own count at the end.
lines_of() { # NAME
    tell "$work/$1.events" report --json --elf "$elf" "$work/$1.log" || return 1
    jq -r 'if .event == "RINGSIDE_LOST" then
            "L \(.fields.lost) \(.fields.modulo // 0) \(if .fields.known == 0 then "unknown"
                elif .fields.estimate == 1 then "modulo" else "exact" end)"
        elif .event == "RINGSIDE_RESET" then "R"
        elif .event | startswith("RINGSIDE_") then empty
        else "E \(.id) \(.context) \(.thread // 0) " + (.info[:4] | map(tostring) | join(" "))
        end' "$work/$1.events"
    echo "T $(($(cat "$work/$1.total")))"
}
# Estimates of losses are judged all together.
adds_up() { # NAME
    lines_of "$1" >"$work/$1.lines" || return 1
    build/recordcheck modulo <"$work/$1.lines" | tee "$work/$1.verdict"
    [ "${PIPESTATUS[0]}" -eq 0 ]
}
estimates_are_right() { # NAME...
    local name
    for name; do
        echo R
        cat "$work/$name.lines"
    done | build/recordcheck | tee "$work/all.verdict"
    [ "${PIPESTATUS[1]}" -eq 0 ]
}
tell_verdict() { echo "# $1: $(tail -n 1 "$work/$1.verdict")"; }
has_loss() { grep -q '^L' "$work/$1.lines"; }
has_no_loss() { ! has_loss "$1"; }
balance="recorded + lost = produced, nothing torn, twice or invented"

check "record: the board and OpenOCD start" start_board -icount shift=8,align=on
while read -r name hz pause classes; do
    check "record $name: runs" record_storm "$name" "$hz" "$pause" "$classes"
    check "record $name: the board never stood" never_stood "${before[@]}" "${after[@]}"
    check "record $name: $balance" adds_up "$name"
    tell_verdict "$name"
done <<END
idle 5 4294967295 $user_events
slow 50 4294967295 $user_events
medium 400 4294967295 $user_events
brisk 400 4294967295 0xffffffff
fast 400 3000 0xffffffff
faster 400 600 0xffffffff
storm 400 0 0xffffffff
END
check "record: of the laps' estimates 95 in 100 are right" \
    estimates_are_right idle slow medium brisk fast faster storm
tell_verdict all
check "record idle: nothing is lost" has_no_loss idle
check "record storm: it was beyond the link" has_loss storm

check "record: a board without a brake" start_board
check "record flood: runs" record_storm flood 400 0 0xffffffff
check "record flood: $balance" adds_up flood
check "record flood: it was beyond the link" has_loss flood
tell_verdict flood
check "record: the guest moves between two beats of the probe" ask tear run 5 300
check "record torn: runs" record_storm torn 400 2000 0xffffffff
check "record torn: $balance" adds_up torn
tell_verdict torn
exit $((failed > 0))
