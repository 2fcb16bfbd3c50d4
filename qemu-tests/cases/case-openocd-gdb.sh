#!/bin/bash
# SPDX-License-Identifier: MIT
# GDB and openocd-tcl/ringside.tcl at the same time, in one stock OpenOCD with a cortex_m target,
# over the probe and QEMU: neither disturbs the other, and GDB reads a target that it did not halt.
# What is shown is checked by the numbers that the events carry (images/proof.h).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

gdb_pid=
stop_gdb() {
    [ -n "$gdb_pid" ] || return 0
    kill -KILL "$gdb_pid" 2>/dev/null
    wait "$gdb_job" 2>/dev/null
    gdb_pid=
}
trap 'stop_gdb; finish' EXIT

# The storm, so slow that its ring of 462 slots lasts for many seconds, and with user events only:
# then whatever is missing from a report or a recording was lost by the reader.
slow() {
    ask poke "$(symbol _tx_trace_event_enable_bits)" 0x80000000 >/dev/null
    ask poke "$(symbol storm_pause)" 6000000 >/dev/null
    ask poke 0x40001008 $((25000000 / 10)) >/dev/null # the reload value of the device's timer
}
# Two targets with the same ring: the core, which is the current one, and its memory port.
both() { # [OPENOCD ARGUMENT...]
    stop_gdb
    openocd_before=(-c 'set CORTEX_M 1')
    gdb_target=chip.cpu
    openocd_behind=("$@")
    board storm 'targets chip.cpu; poll on' || return 1
    tcl "ringside init -target chip.mem \
        $(sed -n 's/.*init \(-threadx.*\) \\/\1/p' "$work/ring.cfg")" >/dev/null
    slow
}
produced() { echo $(($(ask peek "$(symbol bout_trace_inserted)"))); }
runs() {
    local before
    before=$(produced)
    wait_for 5 went_on "$before"
}
went_on() { [ "$(produced)" -gt "$1" ]; }
state_is() { [ "$(tcl chip.cpu curstate)" = "$1" ]; }

# A GDB that stays; its commands, after the attach, come from standard input.
gdb_begin() {
    rm -f "$work/gdb.pid" "$work/gdb.log"
    {
        printf '%s\n' "shell echo \$PPID >$work/gdb.pid" \
            "target extended-remote localhost:$gdb_port"
        cat
    } >"$work/session.gdb"
    gdb_run 240 "$elf" "$work/session.gdb" &
    gdb_job=$!
    wait_for 10 test -s "$work/gdb.pid" || return 1
    gdb_pid=$(cat "$work/gdb.pid")
}
gdb_said() { # PATTERN
    grep -Eq -- "$1" "$work/gdb.log" && return 0
    echo "GDB did not say: $1"
    tail -n 5 "$work/gdb.log"
    return 1
}
gdb_ends() {
    wait "$gdb_job"
    gdb_pid=
}
# GDB's user presses ^C.
interrupt() { kill -INT "$gdb_pid"; }

# What is shown as good proves itself: no event is torn, none is missing without a word. Where the
# core stood, the oldest entry of a full ring is "provisional": the writer may have begun on it.
proves() { # FILE...
    local file number=0
    for file; do
        number=$((number + 1))
        tell "$work/told" report --json --elf "$elf" "$file" || return 1
        jq -r --argjson file $number 'select(.id >= 4096 and
                (.seq > 0 or (.flags | index("provisional") | not)))
            | [$file, .id, .context, .thread // 0,
            (if .flags | index("gap") then 1 else 0 end)] + .info[0:4] | @tsv' "$work/told"
    done | build/proofcheck
}

# ---- Snapshots while GDB is in `continue` ----
snapshots() { find "$work/many" -name 'snapshot-*.trx' | wc -l; }
more_snapshots() { [ "$(snapshots)" -ge $(($1 + 4)) ]; }
continued() {
    both || return 1
    gdb_begin <<'END' || return 1
printf "halted at %#x\n", $pc
continue
printf "stopped at %#x\n", $pc
printf "registers %d\n", $sp > 0x20000000
monitor resume
detach
END
    wait_for 10 gdb_said '^halted at 0x' && wait_for 10 state_is running || return 1
    says 'every 100 ms' ringside periodic start 100 "$work/many" || return 1
    wait_for 30 more_snapshots 2 && runs || return 1
    gdb_said '^stopped|SIG' >/dev/null && { echo "GDB has stopped"; return 1; }
    interrupt
    wait_for 10 gdb_said '^registers 1$' || return 1
    # With the core halted and without GDB, they come as well.
    wait_for 30 more_snapshots "$(snapshots)" || return 1
    gdb_ends
    gdb_said '^stopped at 0x' && gdb_said 'SIGINT' && runs &&
        says ' 0 failed' ringside periodic stop
}
check "GDB in continue: snapshots keep coming, GDB is undisturbed" continued
continued_proofs() {
    local files
    mapfile -t files < <(find "$work/many" -name 'snapshot-*.trx' | sort)
    [ ${#files[@]} -ge 8 ] && proves "${files[@]}"
}
check "GDB in continue: every snapshot proves itself" continued_proofs

# ---- Recording while GDB halts and continues ----
recorded() {
    local i
    both || return 1
    gdb_begin <<'END' || return 1
set $i = 0
while $i < 4
  continue
  set $i = $i + 1
  printf "stop %d\n", $i
end
stepi
stepi
printf "stepped\n"
monitor resume
detach
END
    wait_for 10 state_is running || return 1
    says '^recording target chip.cpu' ringside record -target chip.cpu start "$work/halts.log" \
        -every 20 || return 1
    for i in 1 2 3 4; do
        wait_for 10 state_is running && runs || return 1
        sleep 0.3
        interrupt
        wait_for 10 gdb_said "^stop $i" || return 1
    done
    gdb_ends
    gdb_said '^stepped' && runs || return 1
    sleep 0.5
    tcl ringside filter set none >/dev/null
    tcl ringside record stop
    marks "$work/halts.log" START FILTER STOP && log_is "$work/halts.log" \
        '.log.closed and .events_lost == 0' && adds_up "$work/halts.log" "$(produced)"
}
check "GDB halts and continues: nothing is lost, nothing twice" recorded

# ---- The debugger resets the target during a recording ----
# The firmware starts again at its full speed, which no link follows: what is lost then is named,
# modulo the ring. It is slowed down at once.
resets() {
    local before
    both || return 1
    tcl ringside record start "$work/resets.log" -every 20 >/dev/null
    wait_for 10 status_says 'fill at most' && runs || return 1
    before=$(produced)
    tcl reset run >/dev/null
    wait_for 10 status_says ' 1 reset.*fill at most' || return 1
    slow
    runs && [ "$(produced)" != "$before" ] || return 1
    sleep 0.5
    tcl reset halt >/dev/null
    state_is halted || return 1
    sleep 0.3
    status_says ' 1 reset' || return 1
    tcl resume >/dev/null
    wait_for 10 status_says ' 2 resets.*fill at most' || return 1
    slow
    runs && sleep 0.5
    tcl ringside filter set none >/dev/null
    tcl ringside record stop
    marks "$work/resets.log" START RESET RESET FILTER STOP || return 1
    log_is "$work/resets.log" '.log.closed and .log.resets == 2 and .log.blocks_missing == 0' &&
        numbers_go_on "$work/resets.log" || return 1
    # Estimates may be wrong where the rate of events jumps (see case-openocd-tcl.sh).
    adds_up "$work/resets.log" "$(produced)" >"$work/verdict" ||
        grep ' proofs, 0 bad; ' "$work/verdict" || { cat "$work/verdict"; return 1; }
}
numbers_go_on() { # LOG
    tell "$work/told" report --json "$1" || return 1
    jq -n -e '[inputs | select(.event | startswith("RINGSIDE_") | not) | .seq] as $seq
        | ($seq | length) > 462 and $seq == [range($seq[0]; $seq[0] + ($seq | length))]' \
        "$work/told" >/dev/null && return 0
    echo "the numbers of the events have gaps"
    return 1
}
check "reset run and reset halt: marks in the recording, which continues" resets

# ---- GDB reads a target that it did not halt ----
# The events of `ringside dump` as lines for proofcheck.
lines_of() { # REPORT NUMBER
    local line words="info1=(0x[0-9A-Fa-f]+) +info2=(0x[0-9A-Fa-f]+) +info3=(0x[0-9A-Fa-f]+) \
+info4=(0x[0-9A-Fa-f]+)" name thread gap
    while read -r line; do
        [[ $line =~ user\ event\ (409[6-8]) ]] || continue
        name=${BASH_REMATCH[1]}
        case $name in
        4096) thread=$(symbol storm_a_thread) ;;
        4097) thread=$(symbol storm_b_thread) ;;
        *) thread=0 ;;
        esac
        [[ $line = *' gap'* || $line = *'[gap'* ]] && gap=1 || gap=0
        [[ $line =~ $words ]] || { echo "no words in: $line"; continue; }
        echo "$2 $name $([ "$name" = 4098 ] && echo isr || echo thread) $((thread)) $gap" \
            $((BASH_REMATCH[1])) $((BASH_REMATCH[2])) $((BASH_REMATCH[3])) $((BASH_REMATCH[4]))
    done <"$1"
}
attached() {
    local i before
    both -c 'chip.cpu configure -event gdb-attach { }' && runs || return 1
    ask poke "$(symbol storm_pause)" "$1" >/dev/null
    before=$(produced)
    {
        for i in 1 2 3; do
            echo "printf \"produced %d\\n\", bout_trace_inserted"
            into_file "$work/run.$i.report" 'ringside dump'
            echo "ringside save $work/run.$i.trx"
        done
        echo 'printf "the last\n"'
        echo detach
    } >"$work/commands"
    gdb_begin <"$work/commands" || return 1
    gdb_ends
    gdb_said '^the last' || return 1
    [ "$(grep '^produced' "$work/gdb.log" | sort -u | wc -l)" = 3 ] || gdb_said 'three numbers' ||
        return 1
    state_is running && [ "$(produced)" -gt "$before" ] && runs
}
check "attached without a halt: the target runs on, before and after the detach" \
    attached 6000000
attached_proofs() {
    local i
    for i in 1 2 3; do
        grep -q 'overwritten while read' "$work/run.$i.report" ||
            { echo "nothing was marked: $(tail -n 1 "$work/run.$i.report")"; return 1; }
        [ "$(grep -c 'user event' "$work/run.$i.report")" -gt 200 ] ||
            { echo "$(grep -c 'user event' "$work/run.$i.report") events only"; return 1; }
        lines_of "$work/run.$i.report" $i
    done >"$work/lines" || { tail -n 1 "$work/lines"; return 1; }
    build/proofcheck <"$work/lines"
}
check "attached without a halt: no torn entry in ringside dump" attached_proofs
check "attached without a halt: no torn entry in ringside save" proves "$work"/run.[123].trx

# A writer that laps the reader while it is read leaves nothing that can be shown for good.
lapped_proofs() {
    local i
    for i in 1 2 3; do
        grep -q 'overwritten while read' "$work/run.$i.report" ||
            { echo "nothing was marked: $(tail -n 1 "$work/run.$i.report")"; return 1; }
        lines_of "$work/run.$i.report" $i
    done >"$work/lines" || { tail -n 1 "$work/lines"; return 1; }
    [ ! -s "$work/lines" ] || build/proofcheck <"$work/lines"
}
check "attached without a halt: a writer that laps the reader" attached 20000
check "attached without a halt: nothing of it is shown torn" lapped_proofs

# ---- The same ring, through two targets ----
two_targets() {
    both || return 1
    says 'target:   chip.cpu, running' ringside info &&
        says 'target:   chip.mem, running' ringside info -target chip.mem &&
        says 'target "chip.dap" has no ring; use -target with one of: chip.cpu chip.mem' \
            ringside snapshot -target chip.dap "$work/no.trx" &&
        says 'unknown target "chip.gpu"; use one of: chip.mem chip.cpu' \
            ringside init -target chip.gpu -header 4 || return 1
    says '^recording target chip.mem' ringside record -target chip.mem start "$work/mem.log" \
        -every 20 &&
        says "mem.log: being written by process $openocd_pid" \
            ringside record -target chip.cpu start "$work/mem.log" &&
        says '^recording target chip.cpu' ringside record start "$work/cpu.log" -every 30 ||
        return 1
    says '462 slots' ringside snapshot -target chip.cpu "$work/cpu.trx" &&
        says '462 slots' ringside snapshot -target chip.mem "$work/mem.trx" || return 1
    runs && sleep 1
    tcl ringside filter set none >/dev/null
    tcl ringside record -target chip.mem stop
    tcl ringside record -target chip.cpu stop
    [ ! -e "$work/no.trx" ] && proves "$work/cpu.trx" "$work/mem.trx" || return 1
    for log in mem cpu; do
        log_is "$work/$log.log" '.log.closed and .events_lost == 0' &&
            adds_up "$work/$log.log" "$(produced)" || return 1
    done
}
check "two targets: recorded and copied at the same time" two_targets
exit $((failed > 0))
