#!/bin/bash
# SPDX-License-Identifier: MIT
# Recording, snapshots and filters of an RKH ring in QEMU, through the stock OpenOCD: by the program
# and by OpenOCD's own Tcl. The storm image's events carry their numbers twice (images/rkh): what a
# log holds is checked by them.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
elf=$firmware/rkhstorm-cortex-m3.elf

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

# recorded LOG: it has many, and is balanced. That all of them come through is a question of time,
# which a busy host does not leave to who reads.
recorded() {
    balanced "$1" || return 1
    [ "$(wc -l <"$work/numbers")" -gt 50 ] || { echo "hardly anything came"; return 1; }
}

check "starts" board
record() { # NAME SECONDS
    live record -o "$work/$1.log" --for "$2" >"$work/out" 2>"$work/err" || [ $? = 3 ] ||
        { cat "$work/err"; return 1; }
}
slow_recording() { record slow 2 && recorded "$work/slow.log"; }
check "ringside record: nothing torn or invented, and lost only what is reported" slow_recording

verbs() {
    local verb file
    for verb in info objects "last 5" stats; do
        # shellcheck disable=SC2086
        "$ringside" $verb "${firm[@]}" "$work/slow.log" >"$work/out" 2>"$work/err"
        whole_or_named $? || { echo "$verb"; cat "$work/err"; return 1; }
        [ -s "$work/out" ] || [ "$verb" = objects ] || { echo "$verb is empty"; return 1; }
    done
    "$ringside" save "${firm[@]}" "$work/slow.log" -o "$work/slow.rkh" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
    for file in "$work/slow.rkh" "$work/slow.log"; do
        tell "$file.json" report --json --format rkh "${firm[@]}" "$file" || return 1
        jq -c 'select(.event | startswith("RINGSIDE_") | not) | [.id, .data]' "$file.json" \
            >"$file.events"
    done
    cmp "$work/slow.rkh.events" "$work/slow.log.events"
}
check "every command reads the log; a stream saved from it has its events" verbs

fast_recording() {
    # Slow at both ends: each source is seen before the losses and after them, also on a busy host.
    (sleep 3; pause 60000; sleep 1.5; pause 4000000) &
    record fast 9 && balanced "$work/fast.log"
}
check "too fast: what is missing is reported lost" fast_recording

tcl_recording() {
    pause 4000000
    sleep 0.2
    tcl "ringside record start $work/tcl.log" >/dev/null
    sleep 2
    tcl ringside record stop | grep -v ' 0 entries' || { tail -n 5 "$work/openocd.log"; return 1; }
    recorded "$work/tcl.log"
}
check "OpenOCD's Tcl: nothing torn or invented, and lost only what is reported" tcl_recording
tcl_fast() {
    # Slow at both ends, as before.
    pause 4000000
    sleep 1
    tcl "ringside record start $work/tclfast.log" >/dev/null
    sleep 2
    pause 0
    sleep 2
    pause 4000000
    sleep 2
    tcl ringside record stop >/dev/null
    pause 4294967295
    balanced "$work/tclfast.log" &&
        "$ringside" report --json "${firm[@]}" "$work/tclfast.log" 2>/dev/null |
        # On a busy host, the recorder may not have seen a source before the loss: no modulo then.
        jq -e -s '[.[] | select(.event == "RINGSIDE_LOST")] | any(.lost_exact == false) and
            all(.fields.modulo == null or .fields.modulo == 256)' >/dev/null ||
        { cat "$work/facts"; return 1; }
}
check "OpenOCD's Tcl, too fast: a loss is reported" tcl_fast

# Each file is read as the ring's records that prove themselves, and they follow each other.
are_rings() { # DIRECTORY COUNT
    local file count=0
    for file in "$1"/snapshot-0*.rkr; do
        numbers "$file" >"$work/numbers" || { echo "$file: a proof is wrong"; return 1; }
        [ "$(missing <"$work/numbers")" = 0 ] || { echo "$file: numbers are missing"; return 1; }
        [ "$(wc -l <"$work/numbers")" -gt 10 ] || { echo "$file: hardly anything"; return 1; }
        count=$((count + 1))
    done
    [ "$count" -ge "$2" ] || { ls "$1"; return 1; }
}
tcl_periodic() {
    pause 4000000
    mkdir "$work/tclmany"
    echo mine >"$work/tclmany/snapshot-000001.txt"
    tcl "ringside periodic start 50 $work/tclmany -keep 4" | grep 'from number 2 on' || return 1
    echo mine >"$work/tclmany/snapshot-000020.txt" # another writer's
    wait_for 120 status_says '([3-9][0-9]|[1-9][0-9]{2,}) taken, 0 failed' || return 1
    tcl ringside periodic stop | grep ' 0 failed' || return 1
    [ -e "$work/tclmany/snapshot-000001.txt" ] && [ ! -e "$work/tclmany/snapshot-000020.rkr" ] &&
        [ ! -e "$work/tclmany/snapshot-000002.rkr" ] &&
        are_rings "$work/tclmany" 4
}
check "OpenOCD's Tcl, periodic: what the files hold proves itself" tcl_periodic
periodic() {
    live periodic --every 50 --count 6 --keep 4 "$work/many" 2>"$work/err" ||
        [ $? = 3 ] || { cat "$work/err"; return 1; }
    [ ! -e "$work/many/snapshot-000002.rkr" ] && are_rings "$work/many" 4
}
check "ringside periodic: the same" periodic

snapshots() {
    tcl ringside filter off all | grep -x 'groups: none' || return 1
    sleep 0.3
    tcl "ringside snapshot $work/one.rkr" | grep '2048 bytes of a ring' || return 1
    live save -o "$work/two.rkr" 2>"$work/err"
    whole_or_named $? || { cat "$work/err"; return 1; }
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
    grep 'no such name in the target' "$work/err"
}
check "filters: shown and changed by both, before and after" filters
filtered() {
    pause 400000
    filter off event=USER0 >/dev/null && record only 2 || return 1
    numbers "$work/only.log" >"$work/numbers" || return 1
    ! tail -n 50 "$work/numbers" | grep -q '^192 ' && grep -q '^193 ' "$work/numbers"
}
check "the target emits what its filters let through" filtered

# A log holds numbers and addresses: a report gives them the names of its ELF, whoever wrote it.
names() {
    local elf=$firmware/rkh-cortex-m3.elf log
    stop_openocd
    serve --qemu "qemu-system-arm -M mps2-an385 -display none -serial null -monitor none \
        -kernel $elf" || return 1
    "$ringside" openocd-config --elf "$elf" >"$work/ring.cfg" &&
        start_openocd -s openocd-tcl -c 'poll_period 10' -f "$work/ring.cfg" || return 1
    wait_for 20 rests "$elf" || return 1
    tcl "ringside record start $work/t.log" >/dev/null
    wait_for 20 status_says '[1-9][0-9]* entries' && tcl ringside record stop >/dev/null
    "$ringside" record --openocd "$tcl_port" --target chip.mem --elf "$elf" -o "$work/c.log" \
        --for 1 --quiet 2>"$work/err" || [ $? = 3 ] || { cat "$work/err"; return 1; }
    for log in t c; do
        "$ringside" report --no-header --elf "$elf" "$work/$log.log" 2>/dev/null |
            grep -v ' recorder ' >"$work/$log.text"
    done
    grep -q 'event get ao=filter' "$work/t.text" && cmp "$work/t.text" "$work/c.text"
}
# The image has come to its end: its ring is as it was a while ago.
rests() { # ELF
    "$ringside" save --openocd "$tcl_port" --target chip.mem --elf "$1" -o "$work/now.rkr"
    sleep 0.3
    "$ringside" save --openocd "$tcl_port" --target chip.mem --elf "$1" -o "$work/later.rkr"
    [ -s "$work/now.rkr" ] && cmp "$work/now.rkr" "$work/later.rkr"
}
check "names of the ELF in reports of both recorders' logs" names

# Proofs as "SOURCE NUMBER", and losses as "L NUMBER" (- where it is not known) between them.
flow() { # LOG
    "$ringside" report --json "${firm[@]}" "$1" 2>/dev/null | jq -r '
        def byte($at): .data[2 * $at:2 * $at + 2] | ascii_downcase | explode |
            map(if . < 58 then . - 48 else . - 87 end) | .[0] * 16 + .[1];
        if .event == "RINGSIDE_LOST" then "L \(if .fields.modulo then .lost_at_least else "-" end)"
        elif .id >= 192 and .id < 195 then
            "\(.id) \(byte(1) + 256 * (byte(2) + 256 * (byte(3) + 256 * byte(4))))"
        else empty end'
}
# From the first stretch without a loss in which each source is seen to the last such: what is
# missing of the sources' numbers is what is reported lost, modulo 256.
weighed() {
    awk '
        function close_stretch(    i) {
            if (192 in low && 193 in low && 194 in low) {
                for (i = 192; i < 195; i++) {
                    if (!begun)
                        start[i] = low[i] - done[i]
                    span[i] = high[i] + 1 - start[i]
                    have[i] = done[i] + count[i]
                }
                if (begun)
                    said += pending
                vague += begun && unknown
                stretches += begun
                begun = 1
                pending = unknown = 0
            }
            for (i = 192; i < 195; i++) {
                done[i] = begun ? done[i] + count[i] : 0
                count[i] = 0
            }
            delete low
            delete high
        }
        $1 == "L" { close_stretch(); pending += $2; unknown += $2 == "-"; next }
        { if (!($1 in low)) low[$1] = $2; high[$1] = $2; count[$1]++ }
        END {
            close_stretch()
            for (i = 192; i < 195; i++)
                gap += span[i] - have[i]
            print "missing " gap ", said " said " in " stretches " stretches, " vague " unknown"
            exit !begun || (!vague && (gap - said) % 256 != 0)
        }'
}
# Of a big-endian board, through QEMU's own server, which halts it for each poll.
remote() { # IMAGE SETTINGS
    local elf=$firmware/$1.elf firm=(--elf "$firmware/$1.elf" --rkh "$2") source last made
    start='' boot "$elf" || return 1
    {
        connect "$elf"
        echo 'set var storm_pause = 20000'
    } >"$work/gdb.gdb"
    gdb_run 240 "$elf" "$work/gdb.gdb"
    "$ringside" record --remote "$socket" "${firm[@]}" -o "$work/$1.log" --every 10 --for 3 \
        --quiet 2>"$work/err" || [ $? = 3 ] || { cat "$work/err"; return 1; }
    {
        connect "$elf"
        echo 'printf "made %u %u %u\n", storm_produced[0], storm_produced[1], storm_produced[2]'
    } >"$work/gdb.gdb"
    gdb_run 240 "$elf" "$work/gdb.gdb"
    stop_qemu
    numbers "$work/$1.log" >"$work/numbers" || { echo "a proof is wrong"; return 1; }
    [ "$(wc -l <"$work/numbers")" -gt 100 ] || { echo "hardly anything came"; return 1; }
    read -r -a made < <(sed -n 's/^made //p' "$work/gdb.log") || { cat "$work/gdb.log"; return 1; }
    for source in 0 1 2; do
        last=$(awk -v id=$((192 + source)) '$1 == id {n = $2} END {print n + 0}' "$work/numbers")
        [ "$last" -lt "${made[source]}" ] || { echo "$last of ${made[*]}"; return 1; }
    done
    facts "$work/$1.log"
    fact '.entries_damaged == 0 and .byte_order == "big"' && flow "$work/$1.log" | weighed
}
check "big-endian, halted for each poll: recorded + lost = made" \
    remote rkhstorm-coldfire chk=1,nseq=1,ts=4,ptr=4,sig=1
check "the same with sizes of 16 bits and no checksum" \
    remote rkhstorm16-coldfire chk=0,nseq=1,ts=2,ptr=2,sig=2

in_gdb() {
    local elf=$firmware/rkh-cortex-m3.elf
    boot "$elf" || return 1
    {
        connect "$elf"
        # Until then the image changes filters, too.
        printf '%s\n' 'tbreak ringside_wrap_marker' continue
        printf '%s\n' 'ringside filter off event=SMA_*' 'ringside filter off group=USR' \
            "output/x (unsigned char)*(char *)$(symbol trcgfilter "$elf")"
    } >"$work/gdb.gdb"
    gdb_run 240 "$elf" "$work/gdb.gdb" || { cat "$work/gdb.log"; return 1; }
    stop_qemu
    grep -c 'events: all but SMA_ACT SMA_TERM SMA_GET' "$work/gdb.log" | grep -x 3 &&
        grep -x 'groups: all but USR' "$work/gdb.log" && tail -n 1 "$work/gdb.log" | grep 0xbf ||
        { cat "$work/gdb.log"; return 1; }
}
check "GDB: filters are shown and changed" in_gdb
exit $((failed > 0))
