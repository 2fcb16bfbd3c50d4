#!/bin/bash
# SPDX-License-Identifier: MIT
# Recording a ring of hook words in QEMU: through the stock OpenOCD while the storm continues, and
# through QEMU's GDB server, which halts it, on a big-endian board. What the log holds is read by
# hookcheck, which knows the layout only, and weighed against what the firmware has counted. The
# ring's own flag, which a test clears and sets, says when there is something to count.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

elf=$firmware/hookstorm-cortex-m3.elf
device_reload=0x40001008 # clocks between two interrupts of the device
word() { # OFFSET: of the control block
    echo $(($(ask peek "$(printf '0x%x' $(($(address_of "$elf" ringside_hooks) + $1)))")))
}
records() { word 36; }
traces() { # 1 or 0
    ask poke "$(printf '0x%x' $(($(address_of "$elf" ringside_hooks) + 16)))" "$1" >/dev/null
}
storm_goes_on() { [ "$(records)" -gt 1000 ]; }
pace() { # PAUSE CLOCKS
    ask poke "$(address_of "$elf" storm_pause)" "$1" >/dev/null
    ask poke $device_reload "$2" >/dev/null
}
board() {
    serve --qemu "qemu-system-arm -M mps2-an385 -display none -serial null -monitor none \
        -kernel $elf" && wait_for 10 storm_goes_on && start_openocd
}
live() { "$ringside" "$1" --openocd "$tcl_port" --target chip.mem --elf "$elf" "${@:2}"; }

log_has() { # NAME: the log is there, and what the ring held is in it
    "$ringside" report --json "$work/$1.log" 2>/dev/null | grep -q '"event":"HOOK"'
}
has_mark() { # NAME MARK
    "$ringside" report --json "$work/$1.log" 2>/dev/null | grep -q "\"RINGSIDE_$2\""
}
# record NAME SECONDS: from a ring that rests to a ring that rests. What was written in between
# goes to $work/NAME.count, with what the ring held before.
record() {
    local before held
    traces 0
    before=$(records)
    live info --json >"$work/info.json" 2>"$work/err"
    held=$(jq .entries_valid "$work/info.json") || { cat "$work/err"; return 1; }
    # Not through a function: the signal is for the program itself.
    "$ringside" record --openocd "$tcl_port" --target chip.mem --elf "$elf" -o "$work/$1.log" \
        --quiet >"$work/out" 2>"$work/err" </dev/null &
    local pid=$!
    wait_for 30 log_has "$1" || { cat "$work/err"; return 1; }
    traces 1
    sleep "$2"
    traces 0
    wait_for 60 has_mark "$1" ENABLED || return 1
    wait_for 60 is_off "$1" || return 1
    kill -INT "$pid"
    wait "$pid" || [ $? = 3 ] || { cat "$work/err"; return 1; }
    echo $((held + $(records) - before)) >"$work/$1.count"
}
# Of its states, the last is off.
is_off() {
    "$ringside" report --json "$work/$1.log" 2>/dev/null | grep -o 'RINGSIDE_[A-Z]*' |
        grep -E 'ENABLED|DISABLED' | tail -n 1 | grep -qx RINGSIDE_DISABLED
}
facts() { # LOG
    "$ringside" info --json "$1" >"$work/facts" 2>"$work/err"
    jq -e '.format == "hook" and .entries_damaged == 0' "$work/facts" >/dev/null ||
        { cat "$work/facts" "$work/err"; return 1; }
}
# proofs NAME [gaps]: the log's records, as a ring, are whole, in order, and as many as are shown.
# Numbers continue while the ring rests, too.
proofs() {
    "$ringside" save "$work/$1.log" -o "$work/$1.ring" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    # shellcheck disable=SC2086
    build/hookcheck ${2-} "$work/$1.ring" >"$work/own" || { tail -n 1 "$work/own"; return 1; }
    [ "$(jq .entries_valid "$work/facts")" = "$(wc -l <"$work/own")" ] ||
        { echo "$(wc -l <"$work/own") records in the ring"; cat "$work/facts"; return 1; }
    [ "$(wc -l <"$work/own")" -gt 100 ] || { echo "hardly anything came"; return 1; }
}
# recorded + lost = what the firmware has written.
adds_up() { # NAME
    jq -e "(.entries_valid + ([.losses[].lost_at_least] | add // 0)) == $(cat "$work/$1.count")" \
        "$work/facts" >/dev/null && return 0
    echo "not $(cat "$work/$1.count"): $(cat "$work/facts")"
    return 1
}

check "starts" board
slow() {
    pace 4000000 25000000
    record slow 3 && facts "$work/slow.log" && proofs slow gaps || return 1
    jq -e .events_lost_exact "$work/facts" >/dev/null || { cat "$work/facts"; return 1; }
    adds_up slow
}
check "slow: nothing torn or invented; produced = recorded + lost, exactly" slow
fast() {
    pace 0 50000
    record fast 4 && facts "$work/fast.log" && proofs fast gaps || return 1
    jq -e '.gaps > 0' "$work/facts" >/dev/null ||
        { cat "$work/facts"; return 1; }
    adds_up fast
}
check "too fast: nothing torn or invented; produced = recorded + lost" fast
verbs() {
    local verb
    for verb in info "last 5" report stats; do
        # shellcheck disable=SC2086
        "$ringside" $verb --elf "$elf" "$work/fast.log" >"$work/out" 2>"$work/err"
        whole_or_named $? && [ -s "$work/out" ] || { echo "$verb"; cat "$work/err"; return 1; }
    done
}
check "every command reads the log" verbs
periodic() {
    pace 4000000 25000000
    traces 1
    live periodic --every 50 --count 5 --keep 4 "$work/many" >"$work/out" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    [ "$(cd "$work/many" && echo ./*)" = "$(printf './snapshot-00000%d.hook ' 2 3 4 5 |
        sed 's/ $//')" ] || { ls "$work/many"; return 1; }
    local file
    for file in "$work"/many/*; do
        build/hookcheck gaps "$file" >"$work/own" || { tail -n 1 "$work/own"; return 1; }
    done
}
check "ringside periodic: numbered copies that hold whole records" periodic
stop_openocd
stop_probe

big_endian() {
    local elf=$firmware/hookstorm-coldfire.elf
    start='' boot "$elf" || return 1
    sleep 1
    "$ringside" record --remote "$socket" --elf "$elf" -o "$work/big.log" --every 20 --for 4 \
        --quiet >"$work/out" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    facts "$work/big.log" || return 1
    jq -e '.byte_order == "big"' "$work/facts" >/dev/null || { cat "$work/facts"; return 1; }
    proofs big gaps
}
check "big-endian, halted for each poll: nothing torn or invented" big_endian
stop_qemu
exit $((failed > 0))
