# SPDX-License-Identifier: MIT
# openocd.sh: a stock OpenOCD that stays, over the probe, for cases. It brings probelib.sh with it.
# Everything that is started ends with the script.
# shellcheck shell=bash
# shellcheck source=probelib.sh
. "$(dirname "$0")/probelib.sh"

openocd_pid=
tcl_port=
openocd_before=() # arguments in front of the configuration file

stop_openocd() {
    [ -n "$openocd_pid" ] || return 0
    kill "$openocd_pid" 2>/dev/null
    wait "$openocd_pid" 2>/dev/null
    openocd_pid=
}
trap 'stop_openocd; stop_probe; finish' EXIT

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    local tries=$(($1 * 20))
    shift
    while ! "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { echo "waited in vain for: $*"; return 1; }
        sleep 0.05
    done
}

# Any port that nobody listens on may be taken by somebody else before OpenOCD has it: then another.
start_openocd() { # [OPENOCD ARGUMENT...]
    local tries
    stop_openocd
    for tries in 1 2 3 4 5 6 7 8; do
        tcl_port=$((RANDOM % 20000 + 20000))
        openocd -c "set PROBE_SOCKET $work/probe" "${openocd_before[@]}" \
            -f "$config" -c "gdb_port disabled; telnet_port disabled" \
            -c "tcl_port $tcl_port" -c 'init; poll off; probe_memaccess' "$@" \
            >"$work/openocd.log" 2>&1 </dev/null &
        openocd_pid=$!
        wait_for 10 openocd_answers_or_is_gone
        openocd_answers && return 0
        stop_openocd
    done
    cat "$work/openocd.log"
    return 1
}
openocd_answers() { [ "$(tcl expr 6 \* 7)" = 42 ]; }
openocd_answers_or_is_gone() { openocd_answers || ! kill -0 "$openocd_pid" 2>/dev/null; }

# tcl WORD...: a command in OpenOCD, through its Tcl port; prints the result.
tcl() {
    local answer
    {
        exec 9<>"/dev/tcp/127.0.0.1/$tcl_port" || return 1
    } 2>/dev/null
    printf '%s\032' "$*" >&9
    IFS= read -r -d $'\032' -t 60 answer <&9
    exec 9>&-
    printf '%s\n' "$answer"
}

# The address of a symbol.
address_of() { # ELF NAME
    LC_ALL=C readelf -sW "$1" | awk -v name="$2" '$8 == name {print "0x" $2; exit}'
}
