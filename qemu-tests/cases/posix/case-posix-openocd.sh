#!/bin/bash
# SPDX-License-Identifier: MIT
# POSIX trace recorded by OpenOCD's own Tcl while the target runs: what its log holds is whole and
# in order (the storm's events carry their numbers, images/posix/shared.h), and with what it says is
# lost, all that the firmware counted. And a log that is flushed to through OpenOCD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

live() { "$ringside" "$1" --openocd "$tcl_port" --target chip.mem --elf "$elf" "${@:2}"; }
peek() { echo $(($(ask peek "$(printf '0x%x' $(($1)))"))); }
stream_at() { echo $(($(symbol ringside_posix) + $(peek "$(symbol ringside_posix) + 32"))); }
# As a controller names its stream: word 32 of the block.
call_it_tank() { ask poke $(($(stream_at) + 128)) 0x6b6e6174 >/dev/null; }
pause() { ask poke "$(symbol storm_pause)" "$1" >/dev/null; }
storm_goes_on() { [ "$(peek "$(symbol posix_produced)")" -gt 20 ]; }
start_storm() {
    board posixstorm && wait_for 10 storm_goes_on || return 1
    ask poke 0x40001008 $((25000000 / 5 - 1)) >/dev/null # clocks between two interrupts
    pause 4000000
    call_it_tank
}
asked() { # VERB...
    live "$@" >"$work/out" 2>"$work/err" && return 0
    cat "$work/out" "$work/err"
    return 1
}
# What the stream has recorded or refused since it was cleared: words 14 and 16 of its block.
counted() {
    local at
    at=$(stream_at)
    total=$(($(peek "$at + 56") + $(peek "$at + 64")))
}
balances() { # LOG
    counted
    proven "$1" || return 1
    cat "$work/proven"
    "$ringside" info --json "$1" >"$work/info" 2>"$work/err"
    [ $(($(proven_count events) + $(proven_count lost))) -eq "$total" ] &&
        [ "$(proven_count proofs)" -gt 0 ] && jq -e .events_lost_exact "$work/info" && return 0
    echo "the firmware counted $total"
    return 1
}

# record NAME SECONDS: from nothing to nothing, as case-posix-record.sh has it.
record() {
    asked stop && asked clear || return 1
    tcl "ringside record start $work/$1.log" >"$work/$1.out"
    sleep 0.5
    asked start && sleep "$2" && asked stop || return 1
    pause 4000000
    sleep 1
    tcl ringside record stop >>"$work/$1.out"
    grep -q ' lost' "$work/$1.out" && return 0
    cat "$work/$1.out"
    return 1
}
slow() { record slow 3 && balances "$work/slow.log"; }
fast() {
    (sleep 1; pause 100) &
    record fast 3 && balances "$work/fast.log" && [ "$(proven_count lost)" -gt 0 ]
}
named() {
    "$ringside" report --elf "$elf" "$work/slow.log" 2>"$work/err" | grep -q 'storm_' &&
        "$ringside" status "$work/slow.log" | grep -qx 'flush error: 0' &&
        "$ringside" info "$work/slow.log" | grep -qx 'stream name: tank'
}
cleared() {
    asked clear && asked start || return 1
    tcl "ringside record start $work/cleared.log" >"$work/cleared.out"
    sleep 2
    asked clear || return 1
    sleep 2
    tcl ringside record stop >>"$work/cleared.out"
    "$ringside" info "$work/cleared.log" >"$work/info" 2>"$work/err"
    grep -qx 'resets: 1' "$work/info" && no_more_than_lost "$work/cleared.log" 3 && return 0
    cat "$work/cleared.out" "$work/info"
    return 1
}
flush() {
    live flush "$work/flushed.log" >>"$work/flushes" 2>>"$work/err"
    whole_or_named $?
}
# Nothing is torn, nothing comes twice.
flushes() {
    local i
    asked stop && asked clear && asked start || return 1
    for i in 1 2 3 4 5; do
        flush || { cat "$work/err"; return 1; }
        sleep 0.2
    done
    asked stop && flush || { cat "$work/err"; return 1; }
    no_more_than_lost "$work/flushed.log" && return 0
    cat "$work/flushes"
    return 1
}

# until_full VERB...: an UNTIL_FULL stream that the storm has filled is suspended, and stays so when
# VERB clears it (word 9 of its block: 1 bound, 2 running); then it starts when it is told to.
state() { peek "$(stream_at) + 36"; }
state_is() { [ "$(state)" -eq "$1" ]; }
bind_until_full() {
    local at
    at=$(stream_at)
    poke "$at + 96" 0 2 # released, to be bound again with the policy "until full"
    poke "$at + 92" $(($(peek "$at + 92") + 1))
    poke "$(symbol ringside_posix) + 20" 0xffffffff
    wait_for 10 state_is 0 && tcl ringside start >"$work/out" && wait_for 10 state_is 5
}
until_full() { # VERB...
    pause 100
    bind_until_full || { cat "$work/out"; state; return 1; }
    "$@" >"$work/out" 2>&1
    wait_for 10 state_is 1 || { cat "$work/out"; state; return 1; }
    sleep 0.3
    state_is 1 && live status | grep -qx 'stream full status: not_full' &&
        tcl ringside start >"$work/out" && wait_for 10 state_is 5 && return 0
    cat "$work/out"
    state
    return 1
}

# Names in the target's memory that no terminal should see: of two event types, and of the stream.
poke() { # ADDRESS WORD...
    local at=$(($1)) word
    for word in "${@:2}"; do
        ask poke "$(printf '0x%x' $at)" "$word" >/dev/null
        at=$((at + 4))
    done
}
clean() { # WORD...
    tcl "$*" >"$work/out"
    LC_ALL=C grep -qa '[^ -~]' "$work/out" || return 0
    echo "$*: $(LC_ALL=C grep -am 1 '[^ -~]' "$work/out" | cat -v)"
    return 1
}
hostile() {
    local base names verb
    base=$(($(symbol ringside_posix)))
    names=$((base + $(peek "$base + 36")))
    poke "$names + 32" 0x33325b1b 0x1b0a476d 0x003b305d              # ESC [23mG LF ESC ]0;
    poke "$names + 64" 0x5b4a329b 0x74697865 0x78245c5d 0x0000007d   # CSI 2J[exit]\$x}
    poke "$base + $(peek "$base + 32") + 128" 0x74305d1b 0x000a077d 0 # ESC ]0t} BEL LF
    for verb in info status 'filter show' "snapshot $work/hostile.ptr" \
        "record start $work/hostile.log" 'record stop'; do
        clean "ringside $verb" || return 1
    done
    clean ringside filter add '*' || return 1
    grep -qF '?[23mG??]0;' "$work/out" || { cat "$work/out"; return 1; }
}

check "posix openocd: starts" start_storm
check "posix openocd: slowly: recorded + lost = produced" slow
check "posix openocd: names and status of its log" named
check "posix openocd: fast: recorded + lost = produced" fast
check "posix openocd: cleared meanwhile" cleared
check "posix openocd: a log that is flushed to" flushes
check "posix openocd: ringside clear keeps a stream suspended that ran full" until_full live clear
check "posix openocd: so does OpenOCD's own" until_full tcl ringside clear
check "posix openocd: names that no terminal should see" hostile
stop_openocd
stop_probe
exit $((failed > 0))
