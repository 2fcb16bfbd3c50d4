#!/bin/bash
# SPDX-License-Identifier: MIT
# Recording the storm image while it runs, through the stock OpenOCD and the probe, from a trickle
# to far beyond the link. Each user event carries its number in the stream (images/proof.h): nothing
# may be recorded twice, torn or invented, what is missing must be reported, and what the firmware
# counted must be what was recorded and reported lost. The board must never have been halted.
# SOAK=1: a minute at each rate instead of seconds. The rates that go beyond the link take four: by
# then they have left the 20 gaps from which on recordcheck judges the likely intervals. No other
# assertion depends on the number of events: two seconds hold hundreds.
#
# The board is one of 3.9 million instructions a second whose clock counts them (-icount), as on
# hardware: else QEMU's clock continues while the host gives the guest no time, and no estimate from
# stamps can be right. Without it, and with a probe between whose beats the guest moves, only what
# does not depend on time is checked.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
elf=$firmware/storm-cortex-m3.elf

seconds=${SOAK:+60}
seconds=${seconds:-2}
timer=0x40000004 # counts down with every clock

now_ns() { date +%s%N; }
# What the board's clock and the host's say: HOST-BEFORE BOARD HOST-AFTER
clocks() {
    local before board
    before=$(now_ns)
    board=$(ask peek $timer)
    echo "$before $((board)) $(now_ns)"
}
# The board's clock ran for as long as the host's: no halt. What lies between the two readings
# is known from both sides.
never_halted() { # BEFORE0 BOARD0 AFTER0 BEFORE1 BOARD1 AFTER1
    awk -v hz=$clock_hz 'BEGIN {
        board = ARGV[2] - ARGV[5]; if (board < 0) board += 4294967296
        board /= hz; least = (ARGV[4] - ARGV[3]) / 1e9; most = (ARGV[6] - ARGV[1]) / 1e9
        while (board + 4294967296 / hz < most + 0.15) board += 4294967296 / hz
        printf "the board ran for %.3f s of %.3f to %.3f s\n", board, least, most
        exit !(board >= least - 0.15 && board <= most + 0.15) }' "$@"
}

# record_storm NAME HZ PAUSE CLASSES [SECONDS]: a recording from silence to silence. The recorder
# reads what is left when it ends; the pause lets the last interrupt return.
record_storm() {
    load "$2" "$3"
    start_recorder "$1" || return 1
    # Three words each.
    # shellcheck disable=SC2207
    before=($(clocks))
    filter "$4"
    sleep "${5:-$seconds}"
    # After a flood, the newest entry may be the only one that is recorded. It must be one that
    # proves itself.
    filter $user_events
    sleep 0.2
    filter 0
    sleep 0.3
    # shellcheck disable=SC2207
    after=($(clocks))
    stop_recorder "$1"
}

intervals_hold() { # NAME...
    local name
    for name; do
        echo R
        cat "$work/$name.lines"
    done | build/recordcheck | tee "$work/all.verdict"
    [ "${PIPESTATUS[1]}" -eq 0 ]
}
has_loss() { grep -q '^L' "$work/$1.lines"; }
has_no_loss() { ! has_loss "$1"; }

check "record: the board and OpenOCD start" start_board -icount shift=8,align=on
while read -r name hz pause classes lasts; do
    [ -z "${SOAK:-}" ] || lasts=60
    check "record $name: runs" record_storm "$name" "$hz" "$pause" "$classes" "$lasts"
    check "record $name: the board was never halted" never_halted "${before[@]}" "${after[@]}"
    check "record $name: $balance" balances "$name"
    tell_verdict "$name"
done <<END
idle 5 $rest $user_events 2
slow 50 $rest $user_events 2
medium 400 $rest $user_events 2
brisk 400 4294967295 0xffffffff 4
fast 400 3000 0xffffffff 4
faster 400 600 0xffffffff 4
storm 400 0 0xffffffff 4
END
check "record: of the intervals of all gaps, four of five hold at least" \
    intervals_hold idle slow medium brisk fast faster storm
tell_verdict all
check "record idle: nothing is lost" has_no_loss idle
check "record storm: it was beyond the link" has_loss storm

# A link of BYTES a second and MICROSECONDS a read, at 85 % of what its bytes can carry.
link_bound() { echo $(($1 / 32)); }
set_link() {
    ask limit "$1" >/dev/null
    ask latency "$2" >/dev/null
}
# Reads the whole ring again and again; how many of the events it got, in percent.
naive_share() {
    local end=$(($(now_ns) + seconds * 1000000000)) first last
    : >"$work/naive"
    filter $user_events
    first=$(($(board_word bout_trace_inserted)))
    while [ "$(now_ns)" -lt $end ]; do
        "$ringside" report --json -q --openocd "$tcl_port" --target "$target" --elf "$elf" |
            jq -r 'select(.id >= 4096) | .info[1]' >>"$work/naive"
    done
    filter 0
    last=$(($(board_word bout_trace_inserted)))
    sort -un "$work/naive" | awk -v first=$first -v last=$last '
        $1 >= first && $1 < last {n++} END {printf "%d", 100 * n / (last - first)}'
}
while read -r bytes latency; do
    name=link$bytes
    hz=$(($(link_bound "$bytes") * 85 / 100))
    set_link "$bytes" "$latency"
    check "record $name: runs" record_storm $name $hz $rest $user_events
    check "record $name: $balance" balances $name
    # How much of its time the machine leaves to the probe is not certain; in virtual time this
    # is a unit test (test_record).
    [ -z "${SOAK:-}" ] ||
        check "record $name: at 85 % of the bound nothing is lost" has_no_loss $name
    tell_verdict $name
    echo "# $bytes bytes/s, $latency us a read, $hz events/s (85 % of the bound):" \
        "reading the whole ring brought $(naive_share) % of them"
done <<END
10000 1000
20000 140
END

# The link is kept slow: on a busy machine, the guest may get too little time to outrun a fast one.
check "record: a board without a brake" start_board
set_link 20000 140
check "record flood: runs" record_storm flood 400 0 0xffffffff
check "record flood: the board was never halted" never_halted "${before[@]}" "${after[@]}"
check "record flood: $balance" balances flood
check "record flood: it was beyond the link" has_loss flood
tell_verdict flood
set_link 0 0
check "record: the guest moves between two beats of the probe" ask tear run 5 300
check "record torn: runs" record_storm torn 400 2000 0xffffffff
check "record torn: $balance" balances torn
tell_verdict torn

# The demo's supervisor deletes the thread job and creates another one at its address, again and
# again, each time with another one of three names. Each job says which one it is (product.c). In
# the middle, the filter begins to leave out creations. The first job may have no name in turn.
record_lives() {
    stop_openocd
    elf=$firmware/demo-cortex-m3.elf
    start_board -icount shift=8,align=on || return 1
    board_set product_jobs_differ 1
    filter $((user_events | 0x180)) # with the services of threads and semaphores
    start_recorder lives || return 1
    sleep 2.5
    filter $user_events
    sleep 2
    stop_recorder lives && tell "$work/lives" report --json "$work/lives.log"
}
# Prints the number of the job, its name in the report, and the key of its thread.
jobs_of() {
    jq -r 'select(.id == 4100) | "\(.info[0])\t\(.thread_name)\t\(.thread)"' "$work/lives"
}
# A name is right, or it is unknown (the address, with or without a number) or likely ("~").
names_are_right() {
    jobs_of | awk -F'\t' 'BEGIN {split("red green blue", of, " ")}
        {jobs++; right = "job " of[$1 % 3 + 1]}
        $2 != right && $2 !~ /^(job|null|0x.*|job_thread.*|.*~.*)$/ {print; wrong++}
        END {print jobs + 0 " jobs"; exit wrong || jobs < 6}'
}
# While creations are recorded, each job is a thread of its own.
lives_are_apart() {
    local after
    after=$(jq -r 'select(.event == "TX_TRACE_THREAD_CREATE").seq' "$work/lives" | tail -n 1)
    jq -r --argjson after "${after:-0}" 'select(.id == 4100 and .seq <= $after).thread' \
        "$work/lives" >"$work/keys"
    echo "$(wc -l <"$work/keys") jobs, $(sort -u "$work/keys" | wc -l) threads"
    [ "$(wc -l <"$work/keys")" -ge 3 ] && [ -z "$(sort "$work/keys" | uniq -d)" ]
}
check "record lives: runs" record_lives
check "record lives: no name of a deleted thread is another one's" names_are_right
check "record lives: threads that had one address in turn are apart" lives_are_apart

# Rings of other kinds: words of 8 bytes, and big-endian ones, and through a debug module of RISC-V;
# by the program and by OpenOCD.
other_board() { # IMAGE [big]
    elf=$firmware/storm-$1.elf
    big_endian=${2-}
    openocd_behind=(${big_endian:+-c "chip.mem configure -endian big"})
    "$ringside" openocd-config --elf "$elf" >"$work/ring.cfg" || return 1
    ringside_tcl=(-s openocd-tcl -c 'poll_period 10' -f "$work/ring.cfg")
    start_board -icount shift=10,align=on
    board_set storm_pause 2000
}
bout() {
    filter $user_events
    sleep "$seconds"
    filter 0
    sleep 0.3
}
other_record() {
    start_recorder "$1" || return 1
    bout
    stop_recorder "$1"
}
other_tcl() {
    says 'recording target' ringside record start "$work/$1.log" || return 1
    bout
    tcl ringside record stop >/dev/null
    board_word bout_trace_inserted >"$work/$1.total"
}
other_snapshot() {
    says '[1-9][0-9]* slots' ringside snapshot "$work/$1.trx" &&
        tell "$work/$1.events" report --json --elf "$elf" "$work/$1.trx" &&
        [ "$(grep -c . "$work/$1.events")" -gt 100 ]
}
through_riscv() {
    config=$PWD/qemu-tests/probe/riscv.cfg
    target=chip.cpu
    tap=(--tap riscv)
}
while read -r name image order; do
    case $image in
    rv64) machine="riscv64 -M virt -bios none" ;;
    coldfire) machine="m68k -M mcf5208evb" ;;
    esac
    [ "$name" != riscv ] || through_riscv
    check "record $name: the board and OpenOCD start" other_board "$image" "$order"
    for by in record tcl; do
        check "record $name: runs, by $by" other_$by "$name-$by"
        check "record $name, by $by: $balance" balances "$name-$by"
        tell_verdict "$name-$by"
    done
    check "record $name: a snapshot of it" other_snapshot "$name"
done <<END
rv64 rv64
coldfire coldfire big
riscv rv64
END
exit $((failed > 0))
