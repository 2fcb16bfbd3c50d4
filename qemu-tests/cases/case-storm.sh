#!/bin/bash
# SPDX-License-Identifier: MIT
# The storm images write events as fast as they can, and each user event proves itself
# (images/proof.h). The target is halted at random moments, and stepped instruction by instruction
# through inserts. At no halt may a torn entry be shown as a good one, an event be missing without
# a word, or a slot of the ring be unaccounted for.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# Random halts until COUNT are there. ^C can meet a GDB that is not waiting for the target and then
# ends the script; so several sessions are allowed to bring the halts together.
random_halts() { # ELF COUNT
    local session i
    for session in 1 2 3 4 5 6; do
        {
            connect "$elf"
            for ((i = 0; i < $2; i++)); do
                run_for "0.0$((RANDOM % 50 + 25))"
                echo "ringside save $work/random.$session.$i.trx"
            done
        } >"$work/session.gdb"
        gdb_run $((30 + $2 / 2)) "$1" "$work/session.gdb"
        [ "$(files random | wc -l)" -ge "$2" ] && return 0
    done
    echo "only $(files random | wc -l) of $2 halts"
    return 1
}

# From the start of inserts, after the ring has wrapped, one instruction at a time.
steps() { # ELF PASSES STEPS
    cat >"$work/session.gdb" <<END
target remote $socket
tbreak ringside_wrap_marker
continue
break _tx_trace_event_insert_impl
set \$pass = 0
while \$pass < $2
  set \$step = 0
  ignore 2 (11 * \$pass + 3)
  continue
  while \$step < $3
    eval "ringside save $work/step.%d.%d.trx", \$pass, \$step
    stepi
    set \$step = \$step + 1
  end
  set \$pass = \$pass + 1
end
END
    gdb_run 400 "$1" "$work/session.gdb"
    [ "$(files step | wc -l)" -eq $(($2 * $3)) ] && return 0
    echo "only $(files step | wc -l) of $(($2 * $3)) steps"
    return 1
}

files() { find "$work" -name "$1.*.trx" | sort -V; }

# Decodes all dumps of one kind: KIND.events and KIND.info, a JSON object a line, with the dump's
# number in "file".
decode() { # ELF KIND
    local file number=0
    : >"$work/$2.events"
    : >"$work/$2.info"
    while read -r file; do
        number=$((number + 1))
        tell "$work/told" report --json --elf "$1" "$file" || return 1
        sed "s/^{/{\"file\":$number,/" "$work/told" >>"$work/$2.events"
        tell "$work/told" info --json --elf "$1" "$file" || return 1
        sed "s/^{/{\"file\":$number,/" "$work/told" >>"$work/$2.info"
    done < <(files "$2")
    [ -s "$work/$2.events" ]
}

# Lines of: file id context thread gap info1 info2 info3 info4, of the events that prove themselves
# and that are shown as good. The oldest entry of a full ring is "provisional": its words may be a
# mix, if the next insert has just begun to overwrite it, and nothing in it could tell.
proofs() { # KIND
    jq -r 'select(.id >= 4096 and (.seq > 0 or (.flags | index("provisional") | not)))
        | [.file, .id, .context, .thread // 0, (if .flags | index("gap") then 1 else 0 end)]
        + .info[0:4] | @tsv' "$work/$1.events" | build/proofcheck
}

all_accounted() { # KIND
    jq -n -e --slurpfile info "$work/$1.info" '
        (reduce inputs as $e ({}; .["\($e.file)"] += 1)) as $shown
        | [$info[] | select(.entries_valid != $shown["\(.file)"]
            or .entries_valid + .entries_damaged != .entries_total or (.wrapped | not))]
        | if length == 0 then true else
            "\(length) dumps do not add up: \(.[0])" | halt_error(1) end' \
        "$work/$1.events" >/dev/null
}

# Inside of an insert there is a half-written entry: stepping must have met, and named, some.
torn_were_met() {
    jq -s -e '[.[] | select(.entries_damaged > 0)] | length > 0' "$work/step.info" >/dev/null &&
        return 0
    echo "no step of an insert had a half-written entry"
    return 1
}

# 100 random halts on one port, and 20 on each of the others: a state that the writer is in for a
# twentieth of the time is met with 99 % (1 - 0.95^100). Shorter ones are left to the 240 steps.
for port in ${PORTS:-cortex-m3 rv64 coldfire}; do
    elf=$firmware/storm-$port.elf
    [ "$port" = cortex-m3 ] && halts=${HALTS:-100} || halts=${HALTS:-20}
    check "storm $port: boots" boot "$elf"
    [ -n "$qemu_pid" ] || continue
    check "storm $port: single steps" steps "$elf" 3 80
    check "storm $port: $halts random halts" random_halts "$elf" "$halts"
    stop_qemu
    for kind in step random; do
        check "storm $port: $kind: decodes" decode "$elf" $kind
        check "storm $port: $kind: no torn entry is shown as good" proofs $kind
        check "storm $port: $kind: every slot is accounted for" all_accounted $kind
    done
    check "storm $port: half-written entries were met and named" torn_were_met
    rm -f "$work"/*.trx
done
exit $((failed > 0))
