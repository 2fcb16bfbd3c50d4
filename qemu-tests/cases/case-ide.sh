#!/bin/bash
# SPDX-License-Identifier: MIT
# `ringside serve --remote` below a development environment, which controls GDB by GDB/MI: what such
# programs do from connecting to disconnecting, with resets at a breakpoint, while another thread is
# selected, and from elsewhere while the target runs. On one core, on two, and with OpenOCD.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# ---- GDB/MI ----

mi_pid=
mi_number=0
stop_mi() {
    [ -n "$mi_pid" ] || return 0
    kill "$mi_pid" 2>/dev/null
    wait "$mi_pid" 2>/dev/null
    exec 7>&- 8<&-
    mi_pid=
}
trap 'stop_mi; finish' EXIT

# Starts GDB with the program $elf.
start_mi() {
    stop_mi
    rm -f "$work/mi.in" "$work/mi.out"
    mkfifo "$work/mi.in" "$work/mi.out"
    gdb-multiarch -nx -q --interpreter=mi3 "$elf" <"$work/mi.in" >"$work/mi.out" 2>&1 &
    mi_pid=$!
    exec 7>"$work/mi.in" 8<"$work/mi.out"
    : >"$work/mi.log"
}
# mi_until PATTERN [SECONDS]: reads GDB's lines until one matches, which becomes $line. All are in
# $work/mi.log.
mi_until() {
    local wait=${2:-60} end
    end=$((SECONDS + wait))
    while [ $SECONDS -lt $end ] && IFS= read -r -t "$wait" line <&8; do
        printf '%s\n' "$line" >>"$work/mi.log"
        [[ $line =~ $1 ]] && return 0
    done
    echo "GDB does not print $1"
    tail -n 30 "$work/mi.log"
    return 1
}
# mi COMMAND: its result is $line. Fails if it has no result.
mi() {
    mi_number=$((mi_number + 1))
    printf '>> %s\n' "$1" >>"$work/mi.log"
    printf '%d%s\n' $mi_number "$1" >&7 2>/dev/null
    mi_until "^$mi_number\\^"
}
# Fails also if the command does.
mi_done() {
    mi "$1" || return 1
    [[ $line =~ ^[0-9]+\^(done|running|connected|exit) ]] && return 0
    echo "$1: $line"
    tail -n 30 "$work/mi.log"
    return 1
}
console() { mi_done "-interpreter-exec console \"$1\""; }
mi_stopped() { mi_until '^\*stopped'; }
run_to_stop() { mi_done "${1:--exec-continue}" && mi_stopped; }


# Reads the threads into $work/threads: "ID NAME" for each, and "current ID". The current one is
# there, and GDB shows a frame of each.
mi_threads() {
    mi_done -thread-info || return 1
    sed 's/{id="/\n&/g; s/current-thread-id/\n&/' <<<"$line" |
        sed -n 's/^{id="\([0-9]*\)".*name="\([^"]*\)",frame={level="0".*/\1 \2/p
            s/^current-thread-id="\([0-9]*\)".*/current \1/p' >"$work/threads"
    grep -q "^$(current_thread) " "$work/threads" && return 0
    echo "no current thread: $line"
    return 1
}
current_thread() { sed -n 's/^current //p' "$work/threads"; }
thread_of() { sed -n "s/^\([0-9]*\) $1\$/\1/p" "$work/threads" | head -n 1; }
is_current() { # NAME
    [ "$(thread_of "$1")" = "$(current_thread)" ] && return 0
    echo "\"$1\" is not the current thread"
    cat "$work/threads"
    return 1
}
have_threads() { # NAME...
    local name
    for name in "$@"; do
        [ -n "$(thread_of "$name")" ] || { echo "no $name"; cat "$work/threads"; return 1; }
    done
}
have_no_thread() { [ -z "$(thread_of "$1")" ] || { echo "$1 is there"; return 1; }; }

# What GDB connects to: the server $place through the proxy.
through() {
    printf -- '-target-select extended-remote | \\"%s\\" serve --elf \\"%s\\" --remote \\"%s\\"' \
        "$ringside" "$elf" "$place" | sed 's/\\"/"/g'
}
# Boots $elf with a monitor at $work/monitor.in, and connects GDB.
begin() {
    rm -f "$work"/monitor.*
    mkfifo "$work/monitor.in" "$work/monitor.out"
    boot "$elf" "$(board_of "$elf") -chardev pipe,id=people,path=$work/monitor -mon people" ||
        return 1
    exec 6<>"$work/monitor.in" 5<>"$work/monitor.out"
    place=$socket
    start_mi
    mi_done '-gdb-set mi-async on' && mi_done "$(through)"
}
# What QEMU's monitor answers.
ask_qemu() { # COMMAND
    local answer
    printf '%s\n' "$1" >&6
    while IFS= read -r -t 5 -u 5 answer && [[ $answer != *"VM status"* ]]; do :; done
    printf '%s\n' "$answer"
}

# ---- what environments do ----

# Connect, reset, load, run to a place, look at each thread, step, pause, restart, disconnect,
# connect again, detach, and attach again.
session() {
    local id
    begin && console 'monitor system_reset' && mi_done -target-download &&
        console 'monitor system_reset' && mi_threads && is_current core &&
        mi_done '-break-insert -t -h bout_start' && run_to_stop && mi_threads &&
        is_current core && mi_done '-break-insert -h bout_mutex_get' && run_to_stop &&
        mi_threads && have_threads supervisor control sensor logger && have_no_thread core ||
        return 1
    while read -r id _; do
        [ "$id" = current ] || { mi_done "-stack-list-frames --thread $id" &&
            mi_done "-stack-list-variables --thread $id --frame 0 --simple-values" &&
            mi_done "-data-list-register-values --thread $id --frame 0 x 0 1 2"; } || return 1
    done <"$work/threads"
    id=$(current_thread)
    run_to_stop -exec-next && mi_threads && [ "$(current_thread)" = "$id" ] &&
        run_to_stop -exec-step-instruction && run_to_stop -exec-finish && run_to_stop &&
        mi_done '-break-delete' && mi_done -exec-continue && sleep 0.3 &&
        mi_done '-exec-interrupt --all' && mi_stopped && mi_threads && have_threads control &&
        console 'monitor system_reset' && mi_threads &&
        mi_done '-break-insert -h bout_queue_send' && run_to_stop && mi_threads &&
        have_threads supervisor control && mi_done -target-disconnect && mi_done "$(through)" &&
        mi_threads && have_threads supervisor control && mi_done -target-detach &&
        has "$(ask_qemu 'info status')" 'VM status: running' && mi_done '-target-attach 1' &&
        mi_threads && have_threads supervisor control && mi_done -target-detach &&
        has "$(ask_qemu 'info status')" 'VM status: running' && no_failure
}
no_failure() {
    ! grep -q 'internal-error\|has terminated\|Invalid hex\|Remote failure' "$work/mi.log" ||
        { grep -m 3 'internal-error\|has terminated\|Invalid\|failure' "$work/mi.log"; return 1; }
}

# A step of the selected thread. GDB refuses it if the registers are unknown, as those of a thread
# whose hart has not come to it yet.
step() { # COMMAND
    mi "$1" || return 1
    [[ $line =~ 'PC not available' ]] && return 0
    [[ $line =~ ^[0-9]+\^running ]] && mi_stopped && return 0
    echo "$1: $line"
    return 1
}
# A reset while a thread is selected: the one at the breakpoint, or another. GDB continues with it,
# whether it reads the threads in between or not.
resets() { # BREAKPOINT NAME...
    local name id after breakpoint=$1
    shift
    begin && mi_done "-break-insert -h $breakpoint" && run_to_stop || return 1
    for name in "$@"; do
        for after in mi_threads 'step -exec-step-instruction' 'step -exec-next' ''; do
            for ((id = 0; id < 20; id++)); do
                run_to_stop && mi_threads || return 1
                [ -z "$(thread_of "$name")" ] || break
            done
            have_threads "$name" && mi_done "-thread-select $(thread_of "$name")" &&
                console 'monitor system_reset' && { [ -z "$after" ] || $after; } &&
                { [ "$after" != mi_threads ] || have_no_thread "$name"; } &&
                run_to_stop && mi_threads && have_threads "$@" || return 1
        done
    done
    mi_done -target-detach && has "$(ask_qemu 'info status')" 'VM status: running' && no_failure
}

# A reset from elsewhere while GDB waits for the target; GDB refuses to send one of its own.
resets_while_running() { # NAME...
    begin && mi_done -exec-continue && sleep 0.3 &&
        mi '-interpreter-exec console "monitor system_reset"' &&
        has "$line" 'Cannot execute this command while the target is running' &&
        has "$(ask_qemu $'system_reset\ninfo status')" 'VM status: running' && sleep 0.3 &&
        mi_done -exec-interrupt && mi_stopped && mi_threads && have_threads "$@" &&
        mi_done -target-detach && has "$(ask_qemu 'info status')" 'VM status: running' &&
        no_failure
}

# ^C ends steps that would not end for long: QEMU makes them without interrupts, so that the idle
# loop continues. Most of these ^C come between two steps. One that comes when GDB has read that a
# step has ended is not sent; of twelve, these are few.
ends_steps() {
    local i lost=0
    begin && mi_done '-break-insert -t -h bout_port_idle' && run_to_stop || return 1
    for i in {1..12}; do
        console 'step 1000000 &' && sleep 0.1 && mi_done -exec-interrupt || return 1
        until mi_until '^\*stopped' 3 >/dev/null; do
            lost=$((lost + 1))
            echo "$lost ^C had no effect"
            mi_done -exec-interrupt || return 1
            [ $lost -le 2 ] || return 1
        done
        has "$line" 'signal-name="SIGINT"' || return 1
    done
    mi_threads && run_to_stop -exec-step-instruction && has "$line" 'end-stepping-range' &&
        mi_done -target-detach
}

# OpenOCD: `reset halt` of GDB, and of its own port while GDB waits for the target.
openocd_resets() {
    openocd_before=(-c 'set CORTEX_M 1')
    gdb_target=chip.cpu
    board demo 'targets chip.cpu; poll on' || return 1
    place=localhost:$gdb_port
    start_mi
    mi_done '-gdb-set mi-async on' && mi_done "$(through)" &&
        mi_done '-break-insert -h bout_mutex_get' && run_to_stop && run_to_stop && mi_threads &&
        mi_done "-thread-select $(thread_of control)" && console 'monitor reset halt' &&
        mi_threads && have_no_thread control && run_to_stop -exec-step-instruction &&
        run_to_stop && mi_threads && have_threads supervisor control &&
        mi_done -break-delete && mi_done -exec-continue && sleep 0.3 &&
        tcl 'reset halt' >/dev/null && mi_stopped && mi_threads && is_current core &&
        have_no_thread control && mi_done '-break-insert -h bout_queue_send' && run_to_stop &&
        mi_threads && have_threads supervisor control && mi_done -target-detach && no_failure
}

for elf in "$firmware/demo-cortex-m3.elf" "$firmware/demo-rv64.elf"; do
    name=$(basename "$elf" .elf)
    check "$name: a session of a development environment" session
    check "$name: a reset while any thread is selected" resets bout_mutex_get supervisor logger
    check "$name: a reset while the target runs" resets_while_running supervisor logger
done
elf=$firmware/smp-rv64.elf
check "two cores: a reset while any thread is selected" resets third_work waiter left right third
check "two cores: a reset while another core is at the breakpoint" resets right_work left right
check "two cores: a reset while the target runs" resets_while_running waiter left right third
elf=$firmware/demo-cortex-m3.elf
check "^C between two steps ends them" ends_steps
stop_qemu
check "OpenOCD: resets by GDB and from elsewhere" openocd_resets
exit $((failed > 0))
