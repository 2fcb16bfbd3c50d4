#!/bin/bash
# SPDX-License-Identifier: MIT
# probelib.sh: what the cases with OpenOCD share. In: what the probe serves, Tcl. Out: what OpenOCD
# said. It brings lib.sh with it, and everything that is started ends with the script.
# shellcheck shell=bash
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

probe=$PWD/$BUILD/ringside-probe
config=$PWD/qemu-tests/probe/probe.cfg
probe_pid=

stop_probe() {
    [ -n "$probe_pid" ] || return 0
    kill "$probe_pid" 2>/dev/null
    wait "$probe_pid" 2>/dev/null
    probe_pid=
}
trap 'stop_probe; finish' EXIT

# Starts the probe with these arguments, and waits for its socket.
serve() {
    local i
    stop_probe
    "$probe" --socket "$work/probe" --control "$work/control" "$@" >"$work/probe.log" 2>&1 \
        </dev/null &
    probe_pid=$!
    for ((i = 0; i < 200; i++)); do
        alive 2>/dev/null && return 0
        kill -0 "$probe_pid" 2>/dev/null || break
        sleep 0.05
    done
    echo "the probe did not start: $(head -n 3 "$work/probe.log")"
    return 1
}
ask() { "$probe" --ask "$work/control" "$@"; }
alive() { kill -0 "$probe_pid" && ask status >/dev/null; }

# Runs Tcl from standard input in OpenOCD, behind init; what it says with `say` is in $work/said.
# CORTEX_M=1 adds the target chip.cpu.
openocd_run() { # [OPTION...]
    {
        echo "set said [open {$work/said} w]"
        echo 'proc say {args} { puts $::said [join $args]; flush $::said }'
        echo "proc ask {args} { exec {$probe} --ask {$work/control} {*}\$args }"
        echo 'init; poll off; probe_memaccess'
        cat
        echo 'close $said; shutdown'
    } >"$work/session.tcl"
    rm -f "$work/said"
    timeout -k 5 120 openocd -c "set PROBE_SOCKET {$work/probe}; set CORTEX_M ${CORTEX_M:-0}" \
        -f "$config" -c 'telnet_port disabled; tcl_port disabled; gdb_port disabled' "$@" \
        -f "$work/session.tcl" >"$work/openocd.log" 2>&1 </dev/null && return 0
    grep -m 3 -i 'error' "$work/openocd.log"
    return 1
}

# said LINE...: exactly this was said.
said() {
    printf '%s\n' "$@" | cmp -s - "$work/said" && return 0
    echo "it said: $(head -n 8 "$work/said" | tr '\n' '|')"
    return 1
}

