#!/bin/bash
# SPDX-License-Identifier: MIT
# Rings of hook words on all ports: the work of a product, every state that a ring can be in, and
# storms of records that prove themselves, halted at random, stepped through, and read while they go
# on.
# The copies are read by hookcheck too, which knows the layout only (docs/formats/hook.md) and
# nothing of Ringside: both see the same records, and as many as the firmware has counted.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
ports=${PORTS:-cortex-m3 rv64 coldfire}
templates=$PWD/qemu-tests/images/hooks/hooks.fmt

object=ringside_hooks

# In hookcheck's form, after the number of the copy where that is given.
as_lines() {
    jq -r '[.file // empty, .id, .context, .thread // .interrupted // "-", .raw_stamp,
        ([.fields[] | tostring] | join(",") | if . == "" then "-" else . end),
        .data // "-"] | join(" ")'
}
# What hookcheck and the report see in a copy, to $work/own and $work/events.
read_both_ways() { # ELF NAME INPUT...
    local elf=$1 name=$2
    shift 2
    build/hookcheck "$work/$name.ring" >"$work/own" || { tail -n 1 "$work/own"; return 1; }
    "$ringside" report --json --elf "$elf" "$@" >"$work/events" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
}
# $work/events show the records of $work/own. The STAMP is that field of a line.
events_are_own() { # STAMP
    # A record without a stamp has that of a neighbor.
    as_lines <"$work/events" | awk -v at="$1" 'NR == FNR {stamp[FNR] = $at; next}
        stamp[FNR] == "-" {$at = "-"} {print}' "$work/own" - >"$work/shown"
    cmp -s "$work/own" "$work/shown" && return 0
    echo "$(wc -l <"$work/shown") records are shown, hookcheck has $(wc -l <"$work/own")"
    diff "$work/own" "$work/shown" | head -n 8
    return 1
}
# The report shows the records that hookcheck sees, which prove themselves, and info counts them.
same_as_checker() { # ELF NAME INPUT...
    read_both_ways "$@" && events_are_own 4
}
# What was written and is not shown was lost; what is shown was written.
adds_up() { # ELF NAME INPUT...
    local written=x lost=x running=x overrun=x kept
    # shellcheck source=/dev/null
    . "$work/$2.says" || return 1
    kept=$(build/hookcheck "$work/$2.ring" | wc -l)
    info_says "$1" ".format == \"hook\" and .entries_valid == $kept and .entries_damaged == 0
        and .events_lost == $written + $lost - $kept
        and (.state[0] == \"running\") == ($running == 1)
        and (.state[2] == \"overrun\") == ($overrun == 1 or $lost > 0)" "${@:3}"
}

# ---- the product ----

product_words=(written=ringside_hooks.records lost=hooks_made.lost running=0 overrun=0
    i0100=hooks_made.samples i0110=hooks_made.measured i0120=hooks_made.messages
    i0130=hooks_made.logged i1000=hooks_final.interrupts i1030=hooks_final.returns
    i1060=hooks_final.dispatches i11f0=hooks_final.readied)
service_words=('queue_send=hooks_final.services[HOOK_QUEUE_SEND]'
    'queue_receive=hooks_final.services[HOOK_QUEUE_RECEIVE]'
    'semaphore_get=hooks_final.services[HOOK_SEMAPHORE_GET]'
    'semaphore_put=hooks_final.services[HOOK_SEMAPHORE_PUT]')
product_session() { # ELF
    connect "$1"
    printf '%s\n' 'watch hooks_done' continue
    copy product "${product_words[@]}" "${service_words[@]}" forms=hooks_made.forms \
        ended=hooks_done
    look product "$1"
    echo "ringside set templates $templates"
    into_file "$work/told.report" 'ringside dump'
}
has_ended() {
    grep -qx 'ended=1' "$work/product.says" && return 0
    echo "it did not end"
    tail -n 5 "$work/gdb.log"
    return 1
}
# Records of each hook id, as the firmware has counted them.
ids_agree() {
    local word value have
    while IFS== read -r word value; do
        case $word in
        i*) have=$(awk -v id="$((16#${word#i}))" '$1 == id' "$work/own" | wc -l) ;;
        forms) have=$(awk -v from="$((16#0140))" -v to="$((16#0160))" '$1 >= from && $1 <= to' \
            "$work/own" | wc -l) ;;
        *) continue ;;
        esac
        [ "$have" -eq "$value" ] || { echo "$word: $have in the ring, $value counted"; return 1; }
    done <"$work/product.says"
}
# Services and messages by their names, in the words of templates.
templates_agree() {
    local word name value have
    while IFS== read -r word value; do
        name=${word//_/ }
        have=$(grep -c "$name" "$work/told.report")
        [[ " ${service_words[*]} " != *" $word="* ]] || [ "$have" -eq "$value" ] ||
            { echo "\"$name\" $have times, $value counted"; return 1; }
    done <"$work/product.says"
    have=$(grep -cE 'message +sample [0-9]+ done' "$work/told.report")
    [ "$have" -eq 20 ] || { echo "$have messages"; head -n 5 "$work/told.report"; return 1; }
}
product() { # PORT
    local title="hooks $1" elf=$firmware/hooks-$1.elf images ring
    check "$title: boots" boot "$elf"
    product_session "$elf" >"$work/session.gdb"
    check "$title: GDB session" gdb_run 240 "$elf" "$work/session.gdb"
    stop_qemu
    check "$title: has come to its end" has_ended
    mapfile -t images < <(images_of product)
    ring=$(ring_of "$elf" product)
    check "$title: RAM image: the records that lie there" \
        same_as_checker "$elf" product "${images[@]}"
    check "$title: as many of each as the firmware counted" ids_agree
    check "$title: saved file: the same records" same_as_checker "$elf" product "$work/product.trx"
    makes_cores "$elf" &&
        check "$title: core: the same records" same_as_checker "$elf" product "$work/product.core"
    check "$title: saved file = GDB" same_as_gdb product "$elf" "$work/product.trx"
    check "$title: RAM image = GDB" same_as_gdb product "$elf" "${images[@]}"
    check "$title: info adds up" adds_up "$elf" product "$ring"
    check "$title: shown by templates, in GDB" templates_agree
    check "$title: shown by templates: RAM image = GDB" \
        same_as_gdb told "$elf" -t "$templates" "$ring"
}

# ---- the states ----

state_words=(number=hooks_state.number written=hooks_state.written lost=hooks_state.lost
    running=hooks_state.running overrun=hooks_state.overrun next=hooks_state.next
    finished=hooks_state.finished)
states_session() { # ELF COUNT
    local i
    connect "$1"
    echo 'break ringside_wrap_marker'
    for ((i = 1; i <= $2; i++)); do
        echo continue
        copy "state-$i" "${state_words[@]}"
    done
}
# The records of the last source go on to the one that the firmware has written last.
goes_on_to() { # NUMBER
    awk -v id="$((16#0d10))" -v last="$(($1 - 1))" '
        $1 == id {split($5, word, ","); if (n++ && word[1] != before + 1) exit 1; before = word[1]}
        END {exit n && before != last}' "$work/own" && return 0
    echo "the records do not go on to number $(($1 - 1))"
    return 1
}
state_is_right() { # ELF NAME
    local ring next=0
    ring=$(ring_of "$1" "$2")
    same_as_checker "$1" "$2" "$ring" && adds_up "$1" "$2" "$ring" || return 1
    # shellcheck source=/dev/null
    . "$work/$2.says"
    goes_on_to "$next"
}
states() { # PORT COUNT
    local title="hookstates $1" elf=$firmware/hookstates-$1.elf i
    check "$title: boots" boot "$elf"
    states_session "$elf" "$2" >"$work/session.gdb"
    check "$title: GDB session" gdb_run 240 "$elf" "$work/session.gdb"
    stop_qemu
    check "$title: $2 states" grep -qx 'finished=1' "$work/state-$2.says"
    for ((i = 1; i <= $2; i++)); do
        check "$title: state $i" state_is_right "$elf" "state-$i"
    done
}

# ---- the storm ----

# 12 random halts on each port: a state that the writer is in for a tenth of the time is met with
# 97 % (1 - 0.9^36). Shorter ones are left to the 180 steps.

# Copies from one record on, every few instructions.
steps() { # PASS COUNT
    printf '%s\n' 'set $step = 0' "while \$step < $2" \
        "eval \"dump binary value $work/step.$1.%d.ring ringside_hooks\", \$step" \
        'stepi 11' 'set $step = $step + 1' end
}
# Stepped when the ring is new, where its positions begin at 0 again, and when it is long full.
storm_session() { # ELF HALTS STEPS
    local i
    connect "$1"
    printf '%s\n' 'tbreak hook_ring_write' 'ignore $bpnum 20' continue
    steps 1 "$3"
    printf '%s\n' 'tbreak hook_ring_write if ringside_hooks.head > 0xffffff80' continue
    steps 2 "$3"
    run_for 0.3
    printf '%s\n' 'tbreak hook_ring_write' continue
    steps 3 "$3"
    for ((i = 0; i < $2; i++)); do
        run_for "0.0$((RANDOM % 50 + 25))"
        echo "dump binary value $work/random.$i.ring ringside_hooks"
    done
}
# The same of all copies of a kind, which one jq turns into lines: its start takes longer than all
# else that a copy needs.
all_the_same() { # ELF KIND
    local file name number=0
    : >"$work/all.own"
    : >"$work/all.events"
    while read -r file; do
        name=$(basename "$file" .ring)
        read_both_ways "$1" "$name" "$(ring_of "$1" "$name")" || { echo "in $name"; return 1; }
        number=$((number + 1))
        sed "s/^/$number /" "$work/own" >>"$work/all.own"
        sed "s/^{/{\"file\":$number,/" "$work/events" >>"$work/all.events"
    done < <(copies "$2")
    mv "$work/all.own" "$work/own"
    mv "$work/all.events" "$work/events"
    [ "$number" -gt 0 ] && events_are_own 5
}
# The recorder's own count: no record came within another one.
nothing_lost() {
    copies random | while read -r file; do od -A n -j 40 -N 4 -t u1 "$file"; done |
        grep -v '^ *0 *0 *0 *0$' && return 1
    return 0
}
# How many places of the writer were met.
variety() {
    copies step | while read -r file; do od -A n -j 28 -N 8 -t x4 "$file"; done | sort -u | wc -l
}
storm() { # PORT HALTS STEPS
    local title="hookstorm $1" elf=$firmware/hookstorm-$1.elf
    check "$title: boots" boot "$elf"
    storm_session "$elf" "$2" "$3" >"$work/session.gdb"
    check "$title: GDB session" interrupted_run "$elf" "$work/random.$(($2 - 1)).ring"
    stop_qemu
    check "$title: stepped through records" have_all step $((3 * $3))
    check "$title: $2 random halts" have_all random "$2"
    check "$title: steps: the whole records and no others" all_the_same "$elf" step
    check "$title: halts: the whole records and no others" all_the_same "$elf" random
    check "$title: halts: nothing was lost but by overwriting" nothing_lost
    check "$title: head and tail were met between the steps" test "$(variety)" -ge 6
}

# ---- the storm, not halted ----

device_reload=0x40001008 # clocks between two interrupts of the device
start_live() { # ELF
    serve --qemu "qemu-system-arm -M mps2-an385 -display none -serial null -monitor none \
        -kernel $1" && wait_for 10 storm_goes_on "$1" && start_openocd
}
storm_goes_on() { [ "$(($(ask peek "$(address_of "$1" storm_produced)")))" -gt 1000 ]; }
slow_down() { # ELF
    ask poke "$(address_of "$1" storm_pause)" 3000000 && ask poke $device_reload 25000000
}
# The ring as OpenOCD reads it, from a target that runs: what the writer has overtaken is left out.
live_copy() { # ELF NAME
    "$ringside" save --openocd "$tcl_port" --target chip.mem --elf "$1" -o "$work/$2.ring" \
        2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    same_as_checker "$1" "$2" "$work/$2.ring" || return 1
    cat "$work/own" >>"$work/live"
}
live() {
    local title="hookstorm live" elf=$firmware/hookstorm-cortex-m3.elf i
    check "$title: OpenOCD over the probe" start_live "$elf"
    for ((i = 1; i <= 8; i++)); do
        [ $i -ne 5 ] || slow_down "$elf" >/dev/null
        check "$title: copy $i: whole records only" live_copy "$elf" "live.$i"
    done
    stop_openocd
    stop_probe
    check "$title: there were some" test "$(wc -l <"$work/live")" -gt 200
}

for port in $ports; do
    product "$port"
    [ "$port" = rv64 ] && count=22 || count=21
    states "$port" "$count"
    storm "$port" "${HALTS:-12}" 60
    rm -f "$work"/*.ring "$work"/*.says "$work"/product.*
done
[[ " $ports " != *" cortex-m3 "* ]] || live
exit $((failed > 0))
