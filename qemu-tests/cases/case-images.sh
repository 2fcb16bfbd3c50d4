#!/bin/bash
# SPDX-License-Identifier: MIT
# Each image that records: before its ring wraps, at the wrap callback, and long after. At each
# moment the reports are equal from every source, and what `info` reports is what the firmware's own
# counters and pointers state.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
images=${IMAGES:-demo storm small filtered}
ports=${PORTS:-cortex-m3 rv64 coldfire}

# What the firmware itself knows, printed by GDB through DWARF, as shell assignments.
oracle() { # NAME
    into_file "$work/$1.oracle" \
        'printf "entries=%d\n", (int)(_tx_trace_buffer_end_ptr - _tx_trace_buffer_start_ptr)' \
        'printf "wraps=%u\n", (unsigned)bout_trace_wraps' \
        'printf "inserted=%u\n", (unsigned)bout_trace_inserted' \
        'printf "mask=%u\n", (unsigned)_tx_trace_header_ptr->tx_trace_header_timer_valid_mask'
}

session() { # ELF: three moments
    connect "$elf"
    echo 'break _tx_trace_event_insert_impl'
    echo 'ignore $bpnum 25'
    echo 'continue'
    oracle before
    look before "$1"
    echo 'delete'
    echo 'tbreak ringside_wrap_marker'
    echo 'continue'
    oracle wrap
    look wrap "$1"
    echo 'delete'
    run_for 1.5 # every ring wraps once more
    oracle after
    look after "$1"
}

# info against the firmware's own words. The insert may be under way: one entry of difference.
agrees_with_firmware() { # NAME ELF
    local entries=0 wraps=0 inserted=0 mask=0
    # shellcheck source=/dev/null
    . "$work/$1.oracle" || return 1
    tell "$work/info.json" info --json --elf "$2" "$work/$1.trx" || return 1
    jq -e --argjson entries "$entries" --argjson wraps "$wraps" --argjson inserted "$inserted" \
        --argjson mask "$mask" '
        def fail(t): t | halt_error(1);
        (if $inserted < $entries then $inserted else $entries end) as $written
        | (.entries_valid + .entries_damaged - $written) as $off
        | if $entries < 10 or $inserted < 10 then fail("the firmware recorded nothing")
          elif .entries_total != $entries then fail("\(.entries_total) entries, not \($entries)")
          elif .timer_mask != $mask then fail("mask \(.timer_mask), not \($mask)")
          elif .wrapped != ($wraps > 0) then fail("wrapped \(.wrapped) after \($wraps) wraps")
          elif $off > 1 or $off < -1 then
              fail("\(.entries_valid) valid, \(.entries_damaged) damaged of \($written) written")
          else true end' "$work/info.json" >/dev/null
}

for port in $ports; do
    for image in $images; do
        elf=$firmware/$image-$port.elf
        [ -f "$elf" ] || { not_ok "$image $port" "$elf was not built"; continue; }
        boot "$elf" >"$work/boot.log" || {
            not_ok "$image $port" "$(cat "$work/boot.log")"
            continue
        }
        session "$elf" >"$work/session.gdb"
        check "$image $port: GDB session" gdb_run 240 "$elf" "$work/session.gdb"
        stop_qemu
        for moment in before wrap after; do
            four_ways "$image $port $moment" "$moment" "$elf"
            check "$image $port $moment: agrees with the firmware" \
                agrees_with_firmware "$moment" "$elf"
        done
        rm -f "$work"/before.* "$work"/wrap.* "$work"/after.*
    done
done
exit $((failed > 0))
