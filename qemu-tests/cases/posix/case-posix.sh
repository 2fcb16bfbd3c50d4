#!/bin/bash
# SPDX-License-Identifier: MIT
# POSIX trace on all ports, in QEMU, under GDB: what a trace point costs; the work of a product, and
# its stream started, filtered, stopped and cleared from outside; every state that a stream can be
# in.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
ports=${PORTS:-cortex-m3 rv64 coldfire}
memory_names='semaphore|queue|mutex' # fields of objects

# ---- the cost ----

# As QEMU counts instructions: the same in every run.
cost_session() { # ELF
    connect "$1"
    printf '%s\n' 'tbreak ringside_wrap_marker' continue
    into_file "$work/cost.says" 'print posix_cost'
}
costs() { # NAME LIMIT
    local tenths
    tenths=$(sed -n "s/.*[{ ]$1 = \([0-9]*\).*/\1/p" "$work/cost.says")
    [ -n "$tenths" ] || { cat "$work/gdb.log"; return 1; }
    echo "$((tenths / 10)).$((tenths % 10)) instructions" | tee "$work/cost.$1"
    [ "$tenths" -gt 0 ] && [ "$tenths" -le $(($2 * 10)) ]
}
cost() {
    local elf=$firmware/posixcost-cortex-m3.elf kind limit
    check "posix cost: boots" boot "$elf" 'mps2-an385 -icount shift=0'
    cost_session "$elf" >"$work/session.gdb"
    check "posix cost: GDB session" gdb_run 60 "$elf" "$work/session.gdb"
    stop_qemu
    while read -r kind limit; do
        check "posix cost: $kind: at most $limit instructions" costs "$kind" "$limit"
        echo "# posix cost: $kind: $(cat "$work/cost.$kind")"
    done <<END
inactive 6
filtered 60
none 120
eight 120
eight_overwriting 120
END
}

# ---- the product ----

app_words=(sample=posix_made.samples measured=posix_made.measured message=posix_made.messages
    logged=posix_made.logged long=posix_made.cut)
kernel_words=()
for kind in thread_create switch isr_enter isr_exit queue_send queue_receive queue_block \
    semaphore_put semaphore_get semaphore_block mutex_get mutex_put mutex_block thread_ready \
    thread_sleep thread_suspend; do
    kernel_words+=("rtos_$kind=posix_kernel[BOUT_POSIX_${kind^^}]")
done
beats() { # COUNT: so many times the heart beats.
    local i
    for ((i = 0; i < $1; i++)); do
        printf '%s\n' 'tbreak bout_thread_sleep' continue
    done
}
product_session() { # ELF
    connect "$1"
    printf '%s\n' 'tbreak ringside_wrap_marker' continue
    copy product "${app_words[@]}" "${kernel_words[@]}" done=posix_done
    look product "$1"
    into_file "$work/last" 'ringside last 5'
    into_file "$work/status.ended" 'ringside status'
    beats 2
    echo 'ringside start'
    beats 4
    into_file "$work/status.started" 'ringside status'
    echo 'ringside filter add beat'
    beats 3
    into_file "$work/filter" 'ringside filter show'
    echo 'ringside filter sub beat'
    beats 3
    echo 'ringside stop'
    beats 2
    into_file "$work/status.stopped" 'ringside status'
    copy asked
    look asked "$1"
    echo 'ringside clear'
    beats 2
    copy cleared
    look cleared "$1"
}
# Events of each type, as the firmware has counted them; the start and the stop beside.
types_agree() {
    local name value have sum=2
    tell "$work/events" report --json --elf "$1" "$work/product.trx" || return 1
    jq -r '.names.event // .event' "$work/events" >"$work/names"
    while IFS== read -r name value; do
        [ "$name" != done ] || continue
        have=$(grep -cx "$name" "$work/names")
        [ "$have" -eq "$value" ] || { echo "$name: $have are shown, $value counted"; return 1; }
        sum=$((sum + value))
    done <"$work/product.says"
    [ "$(wc -l <"$work/names")" -eq $sum ] || { echo "not $sum in all"; return 1; }
}
# What the sensor measured, the messages' texts, what was cut, who called from where.
data_agree() { # ELF
    jq -e -s '
        def bytes: explode | map(if . >= 97 then . - 87 else . - 48 end) as $d
            | [range(0; $d | length; 2) | $d[.] * 16 + $d[. + 1]];
        def named($name): map(select(.names.event == $name));
        (named("message") | [.[].data | bytes | implode]
            == [range(1; 21) | "sample \(.) done"])
        and (named("measured") | [.[].data | bytes | add] ==
            [range(1; 21) | . + (. * . + 7 | . % 256 + (. / 256 | floor))])
        and (named("logged") | all((.data // "") == "" and .fields.truncated == 0))
        and (named("long") | length == 1 and (.[0] | .fields.truncated == 1
            and (.data | bytes) == [range(64)]))
        and (named("sample") | all(.context == "isr" and .fields.interrupt > 0
            and (.names.address | startswith("board_device_interrupt+"))))
        and (named("measured") | all(.context == "thread"
            and (.names.address | startswith("sensor_entry+"))))' "$work/events" >/dev/null &&
        return 0
    echo "not so"
    head -n 3 "$work/events"
    return 1
}
status_is() { # NAME LINE...
    local line
    for line in "${@:2}"; do
        grep -qx "stream $line" "$work/status.$1" || { cat "$work/status.$1"; return 1; }
    done
}
# Behind the product's own stop: started, heart beats, filtered, not filtered, stopped.
was_asked() { # ELF
    tell "$work/events" report --json --elf "$1" "$work/asked.trx" || return 1
    jq -r 'if .names.event == "beat" then "B" elif .id < 9 then .id else empty end' \
        "$work/events" | tr '\n' ' ' | tee "$work/order"
    grep -Eqx '2 3 2 (B ){2,}6 6 (B )+3 ' "$work/order" || return 1
    jq -e -s '[.[] | select(.id == 6) | .data] as [$one, $two]
        | ($one | length) == 64 and $one[0:32] == "0" * 32
        and $two[0:32] == $one[32:] and $two[32:] == $one[0:32] and $one != $two' \
        "$work/events" >/dev/null
}
filter_shows() { grep -qx 'not recorded: beat' "$work/filter" || { cat "$work/filter"; false; }; }
is_empty() { # ELF
    info_says "$1" '.entries_valid == 0 and .events_lost == 0
        and .state == ["suspended", "not_full", "no_overrun"]' "$work/cleared.trx"
}
ways() { # TITLE NAME ELF
    local images
    mapfile -t images < <(images_of "$2")
    check "$1: RAM image: the records that lie there" same_as_checker "$3" "$2" "${images[@]}"
    check "$1: saved file: the same records" same_as_checker "$3" "$2" "$work/$2.trx"
    makes_cores "$3" &&
        check "$1: core: the same records" same_as_checker "$3" "$2" "$work/$2.core"
    [ "$2" = cleared ] && return
    four_ways "$1" "$2" "$3"
}
product() { # PORT
    local title="posix $1" elf=$firmware/posix-$1.elf
    check "$title: boots" boot "$elf"
    product_session "$elf" >"$work/session.gdb"
    check "$title: GDB session" gdb_run 90 "$elf" "$work/session.gdb"
    stop_qemu
    check "$title: has come to its end" test "$(firmware_said product done)" = 1
    ways "$title" product "$elf"
    check "$title: as many of each type as the firmware counted" types_agree "$elf"
    check "$title: data, contexts and places" data_agree "$elf"
    check "$title: the last five" test "$(grep -cE '^ *[0-9]+  [0-9A-F]{3} ' "$work/last")" -eq 5
    check "$title: status: ended" status_is ended 'status: suspended' 'overrun status: no_overrun'
    check "$title: status: started" status_is started 'status: running'
    check "$title: status: stopped" status_is stopped 'status: suspended'
    check "$title: a filter is shown" filter_shows
    check "$title: start, filters and stop are in the stream" was_asked "$elf"
    ways "$title, asked" asked "$elf"
    check "$title: cleared" is_empty "$elf"
    ways "$title, cleared" cleared "$elf"
}

# ---- the states ----

state_words=(number=posix_state.number made=posix_state.made bound=posix_state.bound
    running=posix_state.running full=posix_state.full recorded=posix_state.recorded
    refused=posix_state.refused read=posix_state.read generation=posix_state.generation
    binding=posix_state.binding second=posix_state.second finished=posix_state.finished)
open_state=22 # before it a record is met while it is open
states_session() { # ELF COUNT
    local i
    connect "$1"
    for ((i = 1; i <= $2; i++)); do
        if [ $i -eq $open_state ]; then
            printf '%s\n' 'tbreak store_last_word' continue
            copy state-open
        fi
        printf '%s\n' 'tbreak ringside_wrap_marker' continue
        copy "state-$i" "${state_words[@]}"
    done
}
not_made() { # ELF NAME
    "$ringside" info --elf "$1" "$(ring_of "$1" "$2")" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q 'ringside_posix' "$work/err" && return 0
    cat "$work/out" "$work/err"
    return 1
}
state_is_right() { # ELF NAME
    local made=0 bound=0 running=0 full=0 recorded=0 refused=0 read=0 generation=0 binding=0
    local second=0 lost
    # shellcheck source=/dev/null
    . "$work/$2.says" || return 1
    [ "$made" = 1 ] || { not_made "$1" "$2"; return; }
    same_as_checker "$1" "$2" "$(ring_of "$1" "$2")" || return 1
    lost=$(($(checked overwritten) + refused))
    [ "$(checked generation) $(checked binding) $(checked state)" = \
        "$generation $binding $((bound + 2 * running + 4 * full))" ] &&
        [ "$(checked recorded) $(checked refused)" = "$recorded $refused" ] &&
        { [ "$read" = 1 ] || [ "$(checked kept)" -eq $((recorded - lost + refused)) ]; } ||
        { cat "$work/$2.says"; tail -n 1 "$work/checked"; return 1; }
    info_says "$1" ".format == \"posix\" and .entries_valid == $(checked kept)
        and .entries_damaged == 0 and .events_lost == $lost
        and (.state[0] == \"running\") == ($running == 1)
        and ($full == 0 or .state[1] == \"full\")
        and (.state[2] == \"overrun\") == ($lost > 0)" "$(ring_of "$1" "$2")" || return 1
    [ "$second" = 0 ] || second_is_right "$@"
}
second_is_right() { # ELF NAME
    stream=1 same_as_checker "$1" "$2" "$(ring_of "$1" "$2")" &&
        [ "$(checked kept)" = 2 ] && grep -q ' 1 000102030405060708090a0b0c0d0e0f$' "$work/own"
}
# Passed over, and named.
open_is_named() { # ELF
    local ring
    ring=$(ring_of "$1" state-open)
    same_as_checker "$1" state-open "$ring" || return 1
    [ "$(checked open)" = 1 ] && grep -q '1 entry' "$work/err" &&
        info_says "$1" '.entries_damaged == 1' "$ring"
}
states() { # PORT COUNT
    local title="posixstates $1" elf=$firmware/posixstates-$1.elf i
    check "$title: boots" boot "$elf"
    states_session "$elf" "$2" >"$work/session.gdb"
    check "$title: GDB session" gdb_run 60 "$elf" "$work/session.gdb"
    stop_qemu
    check "$title: $2 states" grep -qx 'finished=1' "$work/state-$2.says"
    for ((i = 1; i <= $2; i++)); do
        check "$title: state $i" state_is_right "$elf" "state-$i"
    done
    check "$title: a record that is open" open_is_named "$elf"
}

[[ " $ports " != *" cortex-m3 "* ]] || cost
for port in $ports; do
    product "$port"
    states "$port" 23
    rm -f "$work"/*.ring "$work"/*.says "$work"/product.* "$work"/asked.* "$work"/cleared.*
done
exit $((failed > 0))
