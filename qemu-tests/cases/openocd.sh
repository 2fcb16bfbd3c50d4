# SPDX-License-Identifier: MIT
# openocd.sh: a stock OpenOCD that stays, over the probe, for cases. It brings probelib.sh with it.
# Everything that is started ends with the script.
# shellcheck shell=bash
# shellcheck source=probelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/probelib.sh"

openocd_pid=
tcl_port=
gdb_port=
openocd_before=() # arguments in front of the configuration file
openocd_behind=() # and behind it, in front of init
gdb_target=       # the target that GDB can attach to, at $gdb_port

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

# Starts OpenOCD at $tcl_port and waits until it answers, or is gone.
launch_openocd() { # [OPENOCD ARGUMENT...]
    openocd -c "set PROBE_SOCKET $work/probe" "${openocd_before[@]}" \
        -f "$config" "${openocd_behind[@]}" -c "gdb_port disabled; telnet_port disabled" \
        ${gdb_target:+-c "$gdb_target configure -gdb-port $gdb_port"} \
        -c "tcl_port $tcl_port" -c 'init; poll off; probe_memaccess' "$@" \
        >"$work/openocd.log" 2>&1 </dev/null &
    openocd_pid=$!
    wait_for 10 openocd_answers_or_is_gone
    openocd_answers
}
# Any port that nobody listens on may be taken by somebody else before OpenOCD has it: then OpenOCD
# ends, and others are tried.
start_openocd() { # [OPENOCD ARGUMENT...]
    local tries
    stop_openocd
    for tries in 1 2 3 4 5 6 7 8; do
        tcl_port=$((RANDOM % 20000 + 20000))
        gdb_port=$((tcl_port + 1))
        launch_openocd "$@" && return 0
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

has() { # TEXT PATTERN
    grep -Eq -- "$2" <<<"$1" && return 0
    echo "\"$2\" is not in: $1"
    return 1
}
# says PATTERN WORD...: the command's answer.
says() {
    local pattern=$1
    shift
    has "$(tcl "$@")" "$pattern"
}
status_says() { says "$1" ringside status; }

# A recording's report as lines for recordcheck (see there); TOTAL is what the target has counted.
record_lines() { # LOG [TOTAL]
    tell "$work/events" report --json "$1" || return 1
    jq -r 'if .event == "RINGSIDE_LOST" then
            "L \(.lost_at_least) \(if .lost_exact then 0 else .fields.modulo // 1 end) \(
                .lost_low // "-") \(.lost_high // "-")"
        elif .event == "RINGSIDE_RESET" or .event == "RINGSIDE_CLOCK" then "R"
        elif .event | startswith("RINGSIDE_") then empty
        else "E \(.id) \(.context) \(.thread // 0) \(.info[0:4] | map(tostring) | join(" "))"
        end' "$work/events"
    [ -z "${2-}" ] || echo "T $(($2))"
}
adds_up() { # LOG [TOTAL]
    record_lines "$@" >"$work/lines" && build/recordcheck <"$work/lines"
}
marks() { # LOG MARK...: these, in this order, and no others
    local log=$1 found
    shift
    found=$("$ringside" report --json "$log" 2>/dev/null | jq -r .event |
        sed -n 's/^RINGSIDE_//p' | grep -v LOST | tr '\n' ' ')
    [ "$found" = "$* " ] && return 0
    echo "the marks are $found"
    return 1
}
log_is() { # LOG JQ-CONDITION
    "$ringside" info --json "$1" 2>/dev/null >"$work/info.json"
    [ -s "$work/info.json" ] && jq -e "$2" "$work/info.json" >/dev/null && return 0
    echo "$2 does not hold: $(head -c 600 "$work/info.json")"
    return 1
}

# board IMAGE [OPENOCD SCRIPT]: boots it, and gives OpenOCD what openocd-config says.
board() {
    elf=$firmware/$1-cortex-m3.elf
    stop_openocd
    serve --qemu "qemu-system-arm -M mps2-an385 -display none -serial null -monitor none \
        -kernel $elf" || return 1
    "$ringside" openocd-config --elf "$elf" >"$work/ring.cfg" || return 1
    start_openocd -s openocd-tcl -c 'poll_period 10' -f "$work/ring.cfg" ${2:+-c "$2"}
}
symbol() { address_of "$elf" "$1"; }
