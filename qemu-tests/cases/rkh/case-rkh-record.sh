#!/bin/bash
# SPDX-License-Identifier: MIT
# Recording, snapshots and filters of an RKH ring in QEMU, through the stock OpenOCD: by the program
# and by OpenOCD's own Tcl. The storm image's events carry their numbers twice (images/rkh): what a
# log holds is judged by them.
# shellcheck source=../openocd.sh
. "$(dirname "$0")/../openocd.sh"

elf=$firmware/rkhstorm-cortex-m3.elf
# User events alone do not tell the settings.
firm=(--elf "$elf" --rkh chk=1,nseq=1,ts=4,ptr=4,sig=1)
live() { "$ringside" "$1" --openocd "$tcl_port" --target chip.mem "${firm[@]}" "${@:2}"; }
symbol() { arm-none-eabi-nm "${2-$elf}" | awk -v n="$1" '$3 == n {print "0x" $1}'; }
peek() { echo $(($(ask peek "$(printf '0x%x' $(($1)))"))); }
produced() {
    local i sum=0
    for i in 0 4 8; do
        sum=$((sum + $(peek "$(symbol storm_produced) + $i")))
    done
    echo $sum
}
pause() { ask poke "$(symbol storm_pause)" "$1" >/dev/null; }
is_up() { [ "$(produced)" -gt 20 ]; }

board() {
    local device=0x40001008 # clocks between two interrupts
    serve --qemu "qemu-system-arm -M mps2-an385 -display none -serial null -monitor none \
        -kernel $elf" || return 1
    wait_for 10 is_up || return 1
    ask poke $device $((25000000 / 5 - 1)) >/dev/null
    pause 4000000
    "$ringside" openocd-config --elf "$elf" >"$work/ring.cfg" || return 1
    start_openocd -s openocd-tcl -c 'poll_period 10' -f "$work/ring.cfg"
}

# numbers LOG: "SOURCE NUMBER" of each proof; fails for one that does not prove itself.
numbers() {
    "$ringside" report --json "${firm[@]}" "$1" 2>/dev/null |
        jq -r 'select(.id >= 192 and .id < 195) | "\(.id) \(.data)"' | awk '
        function byte(text, at) {
            text = substr(text, 2 * at + 1, 2)
            return 16 * index(digits, substr(text, 1, 1)) + index(digits, substr(text, 2)) - 17
        }
        BEGIN { digits = "0123456789abcdef" }
        {
            number = 0
            for (i = 3; i >= 0; i--) {
                number = 256 * number + byte($2, 1 + i)
                bad += byte($2, 1 + i) + byte($2, 6 + i) != 255
            }
            for (i = 0; i < number % 20; i++)
                bad += byte($2, 12 + i) != (number + i) % 256
            print $1, number
        }
        END { exit bad > 0 }'
}
# What numbers are missing in each source, between its first and its last.
missing() {
    awk '$1 in last { if ($2 <= last[$1]) bad++; sum += $2 - last[$1] - 1 }
        { last[$1] = $2 } END { print sum + 0; exit bad > 0 }'
}
facts() { "$ringside" info --json "${firm[@]}" "$1" >"$work/facts" 2>"$work/err"; }
fact() { jq -e "$1" "$work/facts" >/dev/null || { cat "$work/facts"; return 1; }; }

# whole LOG: nothing is lost, torn or invented.
whole() {
    numbers "$1" >"$work/numbers" || { echo "a proof is wrong"; return 1; }
    [ "$(missing <"$work/numbers")" = 0 ] || { echo "numbers are missing"; return 1; }
    [ "$(wc -l <"$work/numbers")" -gt 100 ] || { echo "hardly anything came"; return 1; }
    facts "$1"
    fact '.entries_damaged == 0 and .events_lost == 0'
}
# balanced LOG: what is missing is what is said to be lost, modulo 256, or it is said that nobody
# knows how much that is.
balanced() {
    local gap lost
    numbers "$1" >"$work/numbers" || { echo "a proof is wrong"; return 1; }
    gap=$(missing <"$work/numbers") || { echo "twice, or back"; return 1; }
    facts "$1"
    fact '.entries_damaged == 0' || return 1
    lost=$(jq '.events_lost // -1' "$work/facts")
    echo "missing $gap, lost $lost"
    [ "$lost" = -1 ] || [ $(((gap - lost) % 256)) = 0 ]
}

check "starts" board
record() { # NAME SECONDS
    live record -o "$work/$1.log" --for "$2" >"$work/out" 2>"$work/err" || [ $? = 3 ] ||
        { cat "$work/err"; return 1; }
}
slow_recording() { record slow 3 && whole "$work/slow.log"; }
check "ringside record: nothing lost, torn or invented" slow_recording

verbs() {
    local verb
    for verb in info objects "last 5" stats; do
        # shellcheck disable=SC2086
        "$ringside" $verb "${firm[@]}" "$work/slow.log" >"$work/out" 2>"$work/err" ||
            { echo "$verb"; cat "$work/err"; return 1; }
        [ -s "$work/out" ] || [ "$verb" = objects ] || { echo "$verb is empty"; return 1; }
    done
    "$ringside" save "${firm[@]}" "$work/slow.log" -o "$work/slow.rkh" 2>"$work/err" &&
        "$ringside" report --json --format rkh "${firm[@]}" "$work/slow.rkh" |
        jq -c '[.id, .data]' >"$work/one" &&
        "$ringside" report --json "${firm[@]}" "$work/slow.log" | jq -c '[.id, .data]' |
        grep -v '^\[42949' >"$work/two" && cmp "$work/one" "$work/two"
}
check "every verb reads the log; a stream saved from it has its events" verbs

fast_recording() {
    # Slow at both ends: each source is seen in front of the losses and behind them.
    (sleep 2; pause 60000; sleep 2; pause 4000000) &
    record fast 8 && balanced "$work/fast.log"
}
check "too fast: what is missing is said to be lost" fast_recording

tcl_recording() {
    pause 4000000
    sleep 0.2
    tcl "ringside record start $work/tcl.log" >/dev/null
    sleep 3
    tcl ringside record stop | grep -v ' 0 entries' || { tail -n 5 "$work/openocd.log"; return 1; }
    whole "$work/tcl.log"
}
check "OpenOCD's Tcl: nothing lost, torn or invented" tcl_recording
tcl_fast() {
    pause 0
    tcl "ringside record start $work/tclfast.log" >/dev/null
    sleep 2
    tcl ringside record stop >/dev/null
    pause 4294967295
    balanced "$work/tclfast.log"
}
check "OpenOCD's Tcl, too fast: a loss is said" tcl_fast

snapshots() {
    tcl ringside filter off all | grep -x 'groups: none' || return 1
    sleep 0.3
    tcl "ringside snapshot $work/one.rkr" | grep '2048 bytes of a ring' || return 1
    live save -o "$work/two.rkr" \
        2>"$work/err" || { cat "$work/err"; return 1; }
    cmp "$work/one.rkr" "$work/two.rkr" || return 1
    numbers "$work/one.rkr" >"$work/numbers" && [ "$(wc -l <"$work/numbers")" -gt 20 ]
}
check "a snapshot: the same bytes from OpenOCD's Tcl and from ringside save" snapshots

filter() {
    live filter "$@" 2>"$work/err"
}
filters() {
    filter | grep -x 'groups: none' || { cat "$work/err"; return 1; }
    filter on event=USER1 | grep -x 'events: only USER1' || { cat "$work/err"; return 1; }
    tcl ringside filter | grep -x 'groups: only USR' || return 1
    [ "$(tcl ringside filter)" = "$(filter)" ] || { filter; tcl ringside filter; return 1; }
    tcl ringside filter on all | grep -x 'events: all' || return 1
    filter | head -n 1 | grep -x 'groups: all' || return 1
    filter on event=NO_SUCH && return 1
    grep 'know nothing of that name' "$work/err"
}
check "filters: shown and changed by both, before and after" filters
filtered() {
    pause 400000
    filter off event=USER0 >/dev/null && record only 2 || return 1
    numbers "$work/only.log" >"$work/numbers" || return 1
    ! tail -n 50 "$work/numbers" | grep -q '^192 ' && grep -q '^193 ' "$work/numbers"
}
check "the target emits what its filters let through" filtered

in_gdb() {
    local elf=$firmware/rkh-cortex-m3.elf
    start='' boot "$elf" || return 1
    {
        connect "$elf"
        printf '%s\n' 'ringside filter off event=SMA_*' 'ringside filter off group=USR' \
            "output/x (unsigned char)*(char *)$(symbol trcgfilter "$elf")"
    } >"$work/gdb.gdb"
    gdb_run 30 "$elf" "$work/gdb.gdb" || { cat "$work/gdb.log"; return 1; }
    stop_qemu
    grep -c 'events: all but SMA_ACT SMA_TERM SMA_GET' "$work/gdb.log" | grep -x 3 &&
        grep -x 'groups: all but USR' "$work/gdb.log" && tail -n 1 "$work/gdb.log" | grep 0xbf ||
        { cat "$work/gdb.log"; return 1; }
}
check "GDB: filters are shown and changed" in_gdb
exit $((failed > 0))
