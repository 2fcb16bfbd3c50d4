#!/bin/bash
# SPDX-License-Identifier: MIT
# `ringside record` in GDB on boards that write as fast as they can: through stops that are a few
# events apart and stops that are rings apart. The events prove themselves (images/): nothing is
# torn or comes twice, and what was recorded and what was reported lost are all that the firmware
# has counted.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

session() { # IMAGE COMMAND...
    local image=$1
    elf=$firmware/$1-cortex-m3.elf
    shift
    rm -f "$work/$image".*
    boot "$elf" || return 1
    {
        connect "$elf"
        [ "$image" != rkhstorm ] || echo "ringside set rkh $rkh_settings"
        printf '%s\n' "$@" 'echo script ended\n'
    } >"$work/session.gdb"
    gdb_run 120 "$elf" "$work/session.gdb"
    stop_qemu
    grep -q '^script ended' "$work/gdb.log"
}
# record IMAGE COMMAND...: boots it and runs a session that records into $work/IMAGE.log. ^C can
# meet a GDB that is not waiting for the target, and then ends the script: so there are several
# tries.
record() {
    local image=$1
    session "$@" || session "$@" || session "$@"
    grep -q '^record: [1-9].* 0 resets' "$work/gdb.log" && [ -s "$work/$image.says" ] &&
        grep -q '^record: .* events* lost$' "$work/gdb.log" && return 0
    tail -n 8 "$work/gdb.log"
    return 1
}
# A recording through halts as ^C makes them, with the threads at rest and not, until END silences
# all; COUNT is what the firmware has counted, of which the ring has lost some by the beginning.
# That is where a thread gives way, so that no event is on its way.
record_halts() { # IMAGE END COUNT
    local image=$1 storm='set var storm_pause = 0' rest='set var storm_pause = 400000' stop
    local words=() after
    for stop in "$storm" "$rest" "$storm" "$storm" "$rest" "$rest" "$storm" "$2"; do
        words+=("$stop" "$(run_for 0.2)")
    done
    mapfile -t after < <(into_file "$work/$image.says" "printf \"%u\\n\", $3 - \$before")
    record "$image" 'tbreak storm_entry' continue "$storm" "$(run_for 0.2)" \
        'tbreak bout_thread_relinquish' continue \
        "ringside record $work/$image.log" "set \$before = $3 - \$ringside_events" "${words[@]}" \
        'ringside record' "${after[@]}" 'ringside record off'
}

# Breakpoints at the start of an insert, and after each turn of the ring: both have a page of code
# of their own.
threadx() {
    local words=() stop after
    for stop in 3 wrap 40 1 wrap wrap 200 7 wrap 90; do
        if [ $stop = wrap ]; then
            words+=('tbreak ringside_wrap_marker' 'ignore $bpnum 2' continue)
        else
            words+=('tbreak _tx_trace_event_insert_impl' "ignore \$bpnum $stop" continue)
        fi
    done
    mapfile -t after < <(into_file "$work/storm.says" 'printf "%u\n", bout_trace_inserted')
    record storm 'tbreak _tx_trace_event_insert_impl' 'ignore $bpnum 5' continue \
        "ringside record $work/storm.log" "${words[@]}" 'ringside record' "${after[@]}" \
        'ringside record off' || return 1
    record_lines "$work/storm.log" "$(cat "$work/storm.says")" >"$work/lines" || return 1
    build/recordcheck certain <"$work/lines" >"$work/verdict" && return 0
    cat "$work/verdict"
    return 1
}
posix() {
    local stream='ringside_posix.streams[0]'
    record_halts posixstorm 'set var storm_most = 0' "($stream.recorded + $stream.refused)" &&
        proven "$work/posixstorm.log" || return 1
    # The stream counts an event before its record is complete. If the last stop comes between the
    # two, the log does not have it.
    local open
    open=$(($(cat "$work/posixstorm.says") - $(proven_count events) - $(proven_count lost)))
    [ "$open" -ge 0 ] && [ "$open" -le 1 ] && [ "$(proven_count proofs)" -gt 0 ] && return 0
    cat "$work/proven" "$work/posixstorm.says"
    return 1
}
hook() {
    local block='((unsigned *)&ringside_hooks)'
    record_halts hookstorm "set var $block[4] = 0" "$block[9]" || return 1
    "$ringside" info --json "$work/hookstorm.log" >"$work/facts" 2>/dev/null
    "$ringside" save "$work/hookstorm.log" -o "$work/hookstorm.ring" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    build/hookcheck gaps "$work/hookstorm.ring" >"$work/own" || { tail -n 1 "$work/own"; return 1; }
    jq -e --argjson own "$(wc -l <"$work/own")" --argjson made "$(cat "$work/hookstorm.says")" '
        .entries_damaged == 0 and .entries_valid == $own and
        .entries_valid + ([.losses[].lost_at_least] | add) == $made' "$work/facts" >/dev/null &&
        return 0
    cat "$work/hookstorm.says" "$work/facts"
    return 1
}
# Its frames have numbers of 8 bits: of a loss, that much is known. The ring begins with the rest of
# a frame, which GDB has counted when the recording began.
rkh() {
    local made='(storm_produced[0] + storm_produced[1] + storm_produced[2])' shown lost
    record_halts rkhstorm 'set var storm_pause = 0xffffffff' "$made" &&
        numbers "$work/rkhstorm.log" >"$work/numbers" &&
        missing <"$work/numbers" >"$work/gap" || return 1
    facts "$work/rkhstorm.log"
    fact '.entries_damaged == 0' || return 1
    shown=$(wc -l <"$work/numbers")
    lost=$(jq .events_lost_at_least "$work/facts")
    made=$(cat "$work/rkhstorm.says")
    [ $(((shown + 1 + lost - made) % 256)) -eq 0 ] && [ "$shown" -gt 100 ] && return 0
    echo "shown $shown, lost $lost, made $made"
    return 1
}

check "ThreadX: recorded + lost = produced, nothing torn, twice or invented" threadx
check "POSIX trace: the same" posix
check "hook words: the same" hook
check "RKH: nothing torn or twice; recorded + lost = produced, modulo 256" rkh
exit $((failed > 0))
