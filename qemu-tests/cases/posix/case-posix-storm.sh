#!/bin/bash
# SPDX-License-Identifier: MIT
# Storms of events on all ports: threads and nested interrupts record as fast as they can, events
# that prove themselves, in a ring that wraps all the time. The target is halted at random, and
# stepped through events; then the sources fall silent, and everything that they produced was
# recorded or refused, and what was recorded is there or was overwritten. At last a target that runs
# is read, which is not halted. The copies are judged by posixcheck too.
# HALTS=N: so many random halts a port.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
ports=${PORTS:-cortex-m3 rv64 coldfire}

counts=(recorded=ringside_posix.streams[0].recorded refused=ringside_posix.streams[0].refused
    'sources=posix_produced[0] + posix_produced[1] + posix_produced[2] + posix_produced[3]'
    'device=posix_produced[2]' 'interrupts=posix_produced[3]'
    'kernel=bout_posix_counts[0] + bout_posix_counts[1] + bout_posix_counts[2]
        + bout_posix_counts[3] + bout_posix_counts[4] + bout_posix_counts[5]
        + bout_posix_counts[6] + bout_posix_counts[7] + bout_posix_counts[8]
        + bout_posix_counts[9] + bout_posix_counts[10] + bout_posix_counts[11]
        + bout_posix_counts[12] + bout_posix_counts[13] + bout_posix_counts[14]
        + bout_posix_counts[15] + bout_posix_counts[16] + bout_posix_counts[17]
        + bout_posix_counts[18] + bout_posix_counts[19]')
counts[5]=$(tr -s '\n ' ' ' <<<"${counts[5]}")

# Copies from an event on, every few instructions.
steps() { # PASS COUNT
    printf '%s\n' 'set $step = 0' "while \$step < $2" \
        "eval \"dump binary value $work/step.$1.%d.ring ringside_posix\", \$step" \
        'stepi 11' 'set $step = $step + 1' end
}
# A breakpoint that is passed often would leave the threads no time between interrupts.
stop_at() { printf '%s\n' "tbreak $1" continue; }
# Stepped when the ring is new, where its positions begin at 0 again, and when it is long full; then
# halted at random, and silenced.
storm_session() { # ELF HALTS STEPS
    local i pass=0 place
    connect "$1"
    for place in storm_entry storm_wraps board_device_interrupt; do
        stop_at $place
        stop_at posix_trace_event
        steps $((++pass)) "$3"
        [ $place = storm_entry ] || run_for 0.3
    done
    for ((i = 0; i < $2; i++)); do
        run_for "0.$((RANDOM % 200 + 150))"
        copy "random.$i" "${counts[@]}"
    done
    echo 'set var storm_most = 0'
    stop_at storm_is_silent
    copy silent.0 "${counts[@]}"
}
all_the_same() { # ELF KIND
    local file name seen=0 adrift
    : >"$work/$2.seen"
    while read -r file; do
        name=$(basename "$file" .ring)
        same_as_checker "$1" "$name" "$(ring_of "$1" "$name")" || { echo "in $name"; return 1; }
        # One of them may be on its way: taken out or put in, and not counted yet.
        adrift=$(($(checked recorded) - $(checked overwritten) - $(checked kept) - $(checked open)))
        [ $adrift -eq 0 ] || [ $adrift -eq 1 ] ||
            { echo "in $name: $adrift records are missing"; return 1; }
        tail -n 1 "$work/checked" >>"$work/$2.seen"
        seen=$((seen + 1))
    done < <(copies "$2")
    [ "$seen" -gt 0 ]
}
# Events that were produced, and what became of them: so many of the contexts may be on their way.
balance() { # NAME MOST
    local off
    off=$(($(firmware_said "$1" recorded) + $(firmware_said "$1" refused) - 1
        - $(firmware_said "$1" sources) - $(firmware_said "$1" kernel)))
    [ ${off#-} -le "$2" ] && return 0
    echo "$1: recorded or refused - produced: $off"
    cat "$work/$1.says"
    return 1
}
all_balance() { # COUNT
    local i
    for ((i = 0; i < $1; i++)); do
        balance "random.$i" 4 || return 1
    done
}
# The writer was met within events, and at different places of a wrapping ring.
variety() {
    sort "$work/step.seen" | uniq -c
    [ "$(grep -vc ' open=0 ' "$work/step.seen")" -ge 5 ] &&
        [ "$(sed 's/.* recorded=\([0-9]*\).*/\1/' "$work/step.seen" | sort -u | wc -l)" -ge 4 ] &&
        grep -qv ' overwritten=0 ' "$work/step.seen" && grep -qv ' proofs=0$' "$work/random.seen"
}
interrupts_came() {
    [ "$(firmware_said silent.0 device)" -gt 20 ] &&
        [ "$(firmware_said silent.0 interrupts)" -gt 20 ]
}
storm() { # PORT HALTS STEPS
    local title="posixstorm $1" elf=$firmware/posixstorm-$1.elf
    check "$title: boots" boot "$elf"
    storm_session "$elf" "$2" "$3" >"$work/session.gdb"
    check "$title: GDB session" gdb_run 120 "$elf" "$work/session.gdb"
    stop_qemu
    check "$title: stepped through events" have_all step $((3 * $3))
    check "$title: $2 random halts" have_all random "$2"
    check "$title: steps: the whole records and no others" all_the_same "$elf" step
    check "$title: halts: the whole records and no others" all_the_same "$elf" random
    check "$title: halts: produced = recorded + refused" all_balance "$2"
    check "$title: silent: the whole records and no others" all_the_same "$elf" silent
    check "$title: silent: produced = recorded + refused, to the last event" balance silent.0 0
    check "$title: open records were met" variety
    check "$title: interrupts recorded, too" interrupts_came
}

# ---- the storm, not halted ----

device_reload=0x40001008 # clocks between two interrupts of the device
start_storm() {
    serve --qemu "qemu-system-arm -M mps2-an385 -display none -serial null -monitor none \
        -kernel $elf" && wait_for 10 storm_goes_on && start_openocd
}
storm_goes_on() { [ "$(($(ask peek "$(symbol posix_produced)")))" -gt 1000 ]; }
slow_down() {
    ask poke "$(symbol storm_pause)" 3000000 && ask poke $device_reload 5000000
}
# The stream as OpenOCD reads it from a target that runs: what the writer has overtaken is left out.
live_copy() { # NAME
    "$ringside" save --openocd "$tcl_port" --target chip.mem --elf "$elf" -o "$work/$1.ptr" \
        2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    # Within one copy only events that were refused are missing.
    tell "$work/info.json" info --json --elf "$elf" "$work/$1.ptr" || return 1
    more_lost=$(jq .refused "$work/info.json")
    proven "$work/$1.ptr"
}
# Until enough was seen, which on a busy host takes many copies: the writer overtakes most of each.
live_copies() { # PROOFS COPIES
    local i sum=0
    for ((i = 1; i <= $2; i++)); do
        live_copy "live.$i" || { echo "in copy $i"; return 1; }
        sum=$((sum + $(proven_count proofs)))
        [ "$1" -eq 0 ] || [ $sum -lt "$1" ] || return 0
    done
    [ $sum -ge "$1" ] && return 0
    echo "$sum events in $2 copies"
    return 1
}
live() {
    local title="posixstorm live"
    elf=$firmware/posixstorm-cortex-m3.elf
    check "$title: OpenOCD over the probe" start_storm
    check "$title: at full speed: whole records only" live_copies 0 4
    slow_down >/dev/null
    check "$title: slowly: whole records only, and some" live_copies 30 100
    stop_openocd
    stop_probe
}

for port in $ports; do
    storm "$port" "${HALTS:-10}" 40
    rm -f "$work"/*.ring "$work"/*.says
done
[[ " $ports " != *" cortex-m3 "* ]] || live
exit $((failed > 0))
