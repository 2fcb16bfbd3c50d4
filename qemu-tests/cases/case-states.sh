#!/bin/bash
# SPDX-License-Identifier: MIT
# Rings in odd states: never enabled, disabled, after a crash, in recycled memory full of decoys,
# with a registry that is too small, and with a class of events filtered out.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# Lets an image run, stops it, and gives GDB the commands.
visit() { # IMAGE SECONDS COMMAND...
    image=$1
    elf=$firmware/$1-cortex-m3.elf
    boot "$elf" || return 1
    {
        connect "$elf"
        run_for "$2"
        printf '%s\n' "${@:3}"
    } >"$work/session.gdb"
    gdb_run 240 "$elf" "$work/session.gdb"
    local status=$?
    stop_qemu
    return $status
}
dump_ram() {
    local from to
    ram_of "$firmware/$1-cortex-m3.elf" | while read -r from to; do
        echo "dump binary memory $work/$1.ram-$from $from $to"
    done
}
look_at() { # IMAGE SECONDS COMMAND...
    local commands
    mapfile -t commands < <(look "$1" "$firmware/$1-cortex-m3.elf")
    visit "$@" "${commands[@]}" && return 0
    tail -n 5 "$work/gdb.log"
    return 1
}

says() { # FILE PATTERN
    grep -q -- "$2" "$1" || { echo "no \"$2\" in:"; head -n 20 "$1"; return 1; }
}
facts_are() { # JQ-CONDITION INPUT...
    local condition=$1
    shift
    tell "$work/info.json" info --json --elf "$elf" "$@" || return 1
    jq -e "$condition" "$work/info.json" >/dev/null && return 0
    echo "not so: $condition"
    cat "$work/info.json"
    return 1
}
info_is() { # JQ-CONDITION, of the image that was visited last
    facts_are "$1" "$work/$image.trx"
}
doubted() { # ELF INPUT
    "$ringside" report --elf "$@" >"$work/doubted" 2>&1
    [ $? -eq 3 ] && says "$work/doubted" 'the ELF file does not fit this trace'
}
memory_is() { # JQ-CONDITION, of the same image's RAM
    local parts
    mapfile -t parts < <(images_of "$image")
    facts_are "$1" "${parts[@]}"
}
events_are() { # JQ-CONDITION over the list of all events
    tell "$work/events.json" report --json --elf "$elf" "$work/$image.trx" || return 1
    jq -s -e "$1" "$work/events.json" >/dev/null || { echo "not so: $1"; return 1; }
}

never_stops_script() {
    visit never 1 "$(dump_ram never)" 'ringside info' 'echo BEHIND\n' &&
        { echo "GDB succeeded"; return 1; }
    ! grep -q BEHIND "$work/gdb.log" || { echo "the GDB script went on"; return 1; }
    says "$work/gdb.log" 'never enabled'
}
never_in_image() {
    local images status
    mapfile -t images < <(images_of never)
    "$ringside" info --elf "$elf" "${images[@]}" >"$work/out" 2>"$work/err"
    status=$?
    [ "$status" -eq 2 ] || { echo "exit status $status"; return 1; }
    [ ! -s "$work/out" ] && says "$work/err" '^ringside: .*never enabled'
}

# The ring that a scan without symbols finds is the one that the firmware points to, and the
# memory does hold decoys (words that look like the header's id).
recycled_scan() {
    local ram base decoys
    ram=$(images_of recycled | tail -n 1)
    base=$((16#$(sed -n 's/^base=//p' "$work/recycled.base")))
    decoys=$(LC_ALL=C grep -oaF BTXT "${ram%@*}" | wc -l)
    [ "$decoys" -ge 11 ] || { echo "only $decoys header ids in memory"; return 1; }
    tell "$work/scan" scan "$ram" || return 1
    [ "$(grep -o '^0x[0-9a-f]*' "$work/scan" | xargs printf '%d\n')" = "$base" ] && return 0
    echo "the ring lies at $(printf 0x%x "$base"); the scan reports:"
    cat "$work/scan"
    return 1
}

check "never: GDB reports it and stops the script" never_stops_script
check "never: the command line reports it" never_in_image

check "disabled: GDB session" look_at disabled 3
four_ways disabled disabled "$elf"
check "disabled: recording is suspended" says "$work/disabled.info" suspended

check "crash: GDB session" look_at crash 4 'info symbol $pc' 'ringside last 5'
check "crash: stopped in the fault handler" says "$work/gdb.log" '^HardFault_Handler'
four_ways crash crash "$elf"

check "recycled: GDB session" look_at recycled 3 "$(into_file "$work/recycled.base" \
    'printf "base=%x\n", _tx_trace_header_ptr->tx_trace_header_trace_base_address')"
four_ways recycled recycled "$elf"
check "recycled: a scan finds the ring among decoys" recycled_scan

check "small: GDB session" look_at small 3
check "small: a 16-bit down counter" info_is '.timer_mask == 65535 and .time_direction == "down"'
check "small: the registry is full" memory_is '.objects == 8 and .registry_slots == 8'
check "small: the saved file names the threads that it had no space for" info_is '.objects > 8'
check "small: another firmware's ELF is doubted by the width of its names" \
    doubted "$firmware/demo-cortex-m3.elf" "$work/small.trx"
check "small: ticks never run backwards" events_are \
    '[range(1; length) as $i | .[$i].ticks >= .[$i - 1].ticks] | all'
check "small: threads without an entry have the name of their symbol" events_are \
    '[.[] | select(.context == "thread") | .thread_name] | unique | length > 8'

check "filtered: GDB session" look_at filtered 3
check "filtered: no event without a thread, none of the filtered class" events_are \
    'length > 10 and all(.[]; .context != "thread" or .thread > 0)
     and all(.[]; .event != "TX_TRACE_THREAD_RESUME" and .event != "TX_TRACE_THREAD_SUSPEND")'
exit $((failed > 0))
