#!/bin/bash
# SPDX-License-Identifier: MIT
# `ringside serve --remote` between GDB and a live target: the same session with and without it has
# the same places, and with it all threads. The servers are QEMU's on three machines, and the real
# OpenOCD over the probe.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
ports=${PORTS:-cortex-m3 rv64 coldfire}

# What both sessions do: breakpoints, stepping, a watchpoint, registers, memory, a download. The
# image is at its reset, so that both see the same.
cat >"$work/body" <<'G'
break filter_entry
continue
bt
stepi
stepi
next
break bout_queue_send
continue
bt
next
finish
delete
tbreak bout_queue_send
continue
watch sample_queue.tx_queue_enqueued
continue
p sample_queue.tx_queue_enqueued
delete
x/4i $pc
load
G
# places FILE: the functions and lines that GDB shows, without threads. How full the queue is
# depends on the load of this host, whose time is that of the board.
places() {
    sed -e 's/^Thread [0-9]* "[^"]*" hit //; s/^Thread [0-9.]* hit //' \
        -e '/^\[/d; /^ *$/d; /^Remote communication error/d; /received signal/d' \
        -e 's/^\(Old value\|New value\|\$[0-9]*\) = [0-9]*$/\1/' \
        -e '/Transfer rate\|^Loading\|^Start address/d' "$1"
}
session() { # FILE TARGET [COMMAND...]
    timeout -k 5 300 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -ex 'set breakpoint auto-hw on' -ex "$2" -x "$work/body" "${@:3}" -ex kill "$elf" \
        >"$1" 2>&1 </dev/null
}
proxy() { # PLACE
    printf 'target remote | "%s" serve --elf "%s" --remote "%s"' "$ringside" "$elf" "$1"
}
same_session() {
    start=-S boot "$elf" || return 1
    session "$work/direct" "target remote $socket"
    start=-S boot "$elf" || return 1
    session "$work/through" "$(proxy "$socket")"
    grep -q 'bout_queue_send (' "$work/direct" && grep -q 'Hardware watchpoint' "$work/direct" ||
        { tail -n 5 "$work/direct"; return 1; }
    diff <(places "$work/direct") <(places "$work/through")
}
# Threads by name, the stack of each, a step of one that waits, and ^C.
threads() {
    local n ok
    boot "$elf" || return 1
    connect "$elf" | sed '$d' >"$work/body"
    {
        proxy "$socket" && echo
        run_for 0.5
        echo 'info threads'
        echo 'thread apply all -q bt'
        echo 'tbreak bout_mutex_get'
        echo 'continue'
        echo 'thread name'
        echo 'thread find supervisor'
        echo 'thread 3'
        echo 'stepi'
        echo 'info threads'
        run_for 0.2
        echo 'ringside threads'
        echo 'detach'
    } >>"$work/body"
    timeout -k 5 300 gdb-multiarch -nx -q -batch -ex 'set pagination off' -x "$script" \
        -x "$work/body" "$elf" >"$work/out" 2>&1 </dev/null
    # It may run or be ready at that moment.
    grep -q '"control" (.*, priority 4)' "$work/out" ||
        { cat "$work/out"; return 1; }
    n=$(grep -c ' bout_thread_shell ' "$work/out")
    [ "$n" -ge 10 ] || { echo "$n stacks"; cat "$work/out"; return 1; }
    # The thread that was stepped has the core now.
    sed -n '/^\[Switching to thread 3/,$p' "$work/out" | grep -q '^\* 3 .*(running' ||
        { cat "$work/out"; return 1; }
    # The reader works inside of the session.
    sed -n '/^thread  *state/,$p' "$work/out" | grep -q '"control"' ||
        { cat "$work/out"; return 1; }
}
# After a load, the threads are those of the program before: none are shown until it runs, and the
# core keeps the id of the thread that stopped. The program runs from RAM, so that it starts again
# without a reset.
loaded() {
    boot "$elf" || return 1
    {
        proxy "$socket" && echo
        run_for 0.3
        printf '%s\n' 'echo before\n' 'info threads' 'load' 'echo loaded\n' 'info threads' \
            'tbreak bout_queue_send' 'continue' 'echo runs\n' 'info threads' 'detach'
    } >"$work/body"
    timeout -k 5 300 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -x "$work/body" "$elf" >"$work/out" 2>&1 </dev/null
    sed -n '/^before/,/^loaded/p' "$work/out" | grep -q '"control" (' &&
        ! sed -n '/^loaded/,/^runs/p' "$work/out" | grep -q '"control" (' &&
        sed -n '/^loaded/,/^runs/p' "$work/out" | grep -q '^\* [0-9].*"core" (on the core)' &&
        sed -n '/^runs/,$p' "$work/out" | grep -q '"control" (' || { cat "$work/out"; return 1; }
}
# A reset while a thread is at a breakpoint, of which GDB is not told: it goes on with this thread.
# With `info threads` in between, and with a thread selected that waits. What GDB lets run alone is
# all that may stop, or GDB ends with an internal error. An earlier session without the proxy leaves
# QEMU with numbers of processes.
restarts() {
    boot "$elf" || return 1
    {
        printf '%s\n' "target extended-remote $socket" 'detach'
        proxy "$socket" && echo
        printf '%s\n' 'break bout_queue_send' 'continue' 'monitor system_reset' 'continue' \
            'monitor system_reset' 'info threads' 'stepi' 'stepi' 'continue' 'thread 16' 'stepi' \
            'set scheduler-locking on' 'continue' 'thread 15' 'stepi' 'thread 16' 'continue' \
            'set scheduler-locking off' 'continue' 'bt 1' 'echo ends\n' 'detach'
    } >"$work/body"
    timeout -k 5 300 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -x "$work/body" "$elf" >"$work/out" 2>&1 </dev/null
    [ "$(grep -c 'hit Breakpoint 1, bout_queue_send (' "$work/out")" -ge 6 ] &&
        sed -n '/^ends/,$p' "$work/out" | grep -q '^\[Inferior 1 .* detached\]' &&
        ! grep -q "internal-error\|Can't detach\|Invalid hex" "$work/out" ||
        { cat "$work/out"; return 1; }
}
# A target that was reset before GDB connects: RAM is of the run before, as on hardware. QEMU loads
# the RISC-V image into RAM again, so that its RAM is put back; with that, it cannot start.
at_reset() {
    local from to
    boot "$elf" || return 1
    {
        connect "$elf"
        run_for 0.5
        ram_of "$elf" >"$work/spans"
        while read -r from to; do
            echo "dump binary memory $work/old-$from $from $to"
        done <"$work/spans"
        echo 'monitor system_reset'
        while read -r from to; do
            echo "restore $work/old-$from binary $from"
        done <"$work/spans"
        printf '%s\n' 'disconnect' \
            "shell '$ringside' threads --elf '$elf' --remote '$socket' >'$work/threads' 2>&1"
        proxy "$socket" && echo
        printf '%s\n' 'info threads' 'stepi 12' 'info threads' 'echo runs\n'
        [ "$port" = rv64 ] ||
            printf '%s\n' 'hbreak bout_queue_send' 'continue' 'info threads' 'delete' \
                'hbreak bout_port_idle' 'continue' 'info threads'
        echo 'kill'
    } >"$work/body"
    timeout -k 5 60 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -x "$work/body" "$elf" >"$work/out" 2>&1 </dev/null
    [ "$(grep -c '^\* 1 .*"core" (on the core)' "$work/out")" = 2 ] &&
        ! sed '/^runs/,$d' "$work/out" | grep -q 'priority' &&
        { [ "$port" = rv64 ] ||
            [ "$(sed -n '/^runs/,$p' "$work/out" | grep -c '"control" (')" = 2 ]; } &&
        grep -q 'threads of the run before' "$work/threads" &&
        ! grep -q 'control' "$work/threads" || { cat "$work/threads" "$work/out"; return 1; }
}
# The dump and the live target have the same stacks.
same_as_dump() {
    local from to images=()
    boot "$elf" || return 1
    rm -f "$work"/now.ram-*
    {
        connect "$elf"
        run_for 0.6
        # Not within an interrupt: for that, GDB needs psp, which QEMU 7.2 does not show.
        printf '%s\n' 'tbreak bout_mutex_get' 'continue'
        into_file "$work/registers.txt" 'info registers'
        ram_of "$elf" | while read -r from to; do
            printf 'dump binary memory %s %s %s\n' "$work/now.ram-$from" "$from" "$to"
        done
        echo 'disconnect'
        proxy "$socket" && echo
        into_file "$work/live" 'thread apply all -ascending -q bt'
    } >"$work/session.gdb"
    timeout -k 5 300 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -x "$work/session.gdb" "$elf" >"$work/gdb.log" 2>&1 </dev/null
    mapfile -t images < <(images_of now)
    {
        printf 'target remote | "%s" serve -q --elf "%s" --registers "%s"' "$ringside" "$elf" \
            "$work/registers.txt"
        printf ' "%s"' "${images[@]}"
        echo
        into_file "$work/dead" 'thread apply all -ascending -q bt'
    } >"$work/session.gdb"
    timeout -k 5 300 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -x "$work/session.gdb" "$elf" >"$work/gdb.log" 2>&1 </dev/null
    [ "$(grep -c '^#0' "$work/live")" -ge 11 ] || { cat "$work/gdb.log" "$work/live"; return 1; }
    cmp "$work/live" "$work/dead" || diff "$work/live" "$work/dead"
}
# A thread on each of two cores (images/smp): breakpoints, steps and registers are those of the core
# whose thread GDB has selected. Thread 6 of GDB is "left", which waits while "third" runs.
several_cores() {
    local elf=$firmware/smp-rv64.elf right third left
    start=-S boot "$elf" || return 1
    {
        proxy "$socket" && echo
        printf '%s\n' 'hbreak right_work' 'continue' 'info threads' \
            'set $at = $pc' 'stepi' 'printf "stepped %d\n", $pc > $at && $pc < $at + 8' 'delete' \
            'hbreak third_work' 'continue' 'set $at = $pc' 'stepi' \
            'printf "stepped %d\n", $pc > $at && $pc < $at + 8' 'delete' 'set $t5 = 0x616' \
            'thread apply all -q p/x $t5' 'thread apply all -q bt 3' 'thread 6' 'stepi' \
            'bt 2' 'info threads' 'detach'
    } >"$work/session.gdb"
    timeout -k 5 120 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -x "$work/session.gdb" "$elf" >"$work/out" 2>&1 </dev/null
    right=$(grep -c '"right" hit Breakpoint 1, right_work ()' "$work/out")
    third=$(grep -c '"third" hit Breakpoint 2, third_work ()' "$work/out")
    left=$(sed -n '/^\[Switching to thread 6/,$p' "$work/out" |
        grep -c '^#1 .* left_entry ()\|^\* 6 .*"left" (running')
    [ "$right$third$left" = 112 ] && [ "$(grep -c '^stepped 1$' "$work/out")" = 2 ] &&
        grep -q '"waiter" (blocked on semaphore "never", priority 3)' "$work/out" &&
        grep -q '^#1 .* wait_for (' "$work/out" && grep -q '^#[01] .* right_entry ()' "$work/out" &&
        [ "$(grep '^\$' "$work/out" | cut -d' ' -f3 | sort | xargs)" = \
            '0x0 0x616 <unavailable> <unavailable>' ] || { cat "$work/out"; return 1; }
}
# A thread that an interrupt has interrupted: where the server shows psp, its stack is below that of
# the handler. Where it does not, its frame is found, and is likely.
interrupted() {
    local i elf=$firmware/demo-cortex-m3.elf
    boot "$elf" || return 1
    {
        proxy "$socket" && echo
        printf '%s\n' 'hbreak SysTick_Handler' 'ignore 1 50'
        for ((i = 0; i < 30; i++)); do
            printf '%s\n' 'continue' 'info threads' 'bt 8'
        done
        echo 'detach'
    } >"$work/session.gdb"
    timeout -k 5 300 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -x "$work/session.gdb" "$elf" >"$work/out" 2>&1 </dev/null
    if shows_psp "$elf"; then
        sed -n '/^#1  <signal handler called>/,/^Thread\|^\[/p' "$work/out" |
            grep -q ' bout_thread_shell ' && ! grep -q 'registers likely' "$work/out"
    else
        grep -q 'running, interrupted, registers likely, .* [a-z_]* (' "$work/out"
    fi || { tail -n 40 "$work/out"; return 1; }
}
openocd_threads() {
    : >"$work/out"
    openocd_before=(-c 'set CORTEX_M 1')
    gdb_target=chip.cpu
    board demo 'targets chip.cpu; poll on' || return 1
    {
        proxy "localhost:$gdb_port" && echo
        printf '%s\n' 'info threads' 'thread apply all -q bt' 'hbreak bout_mutex_get' 'continue' \
            'bt 1' 'stepi' 'delete' 'detach'
    } >"$work/body"
    timeout -k 5 300 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -x "$work/body" "$elf" >"$work/out" 2>&1 </dev/null
    grep -q '"control" (' "$work/out" && grep -q '^#0  bout_mutex_get ' "$work/out" &&
        [ "$(grep -c ' bout_thread_shell ' "$work/out")" -ge 10 ] || { cat "$work/out"; return 1; }
}
# Attached at reset, after a run: RAM has its threads, and only the core is shown until the program
# has started again.
openocd_at_reset() {
    tcl 'resume; sleep 300; reset halt' >/dev/null
    "$ringside" threads --elf "$elf" --openocd "$tcl_port" --target chip.cpu >"$work/out" 2>&1
    grep -q 'at its start: RAM still holds the threads of the run before' "$work/out" &&
        ! grep -q '"control"' "$work/out" && says '^halted' chip.cpu curstate ||
        { cat "$work/out"; return 1; }
    {
        proxy "localhost:$gdb_port" && echo
        printf '%s\n' 'info threads' 'stepi 4' 'info threads' 'echo runs\n' \
            'hbreak bout_mutex_get' 'continue' 'info threads' 'detach'
    } >"$work/body"
    timeout -k 5 300 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -x "$work/body" "$elf" >"$work/out" 2>&1 </dev/null
    [ "$(sed '/^runs$/,$d' "$work/out" | grep -c '^\* 1 .*"core" (on the core)')" = 2 ] &&
        ! sed '/^runs$/,$d' "$work/out" | grep -q '"control"' &&
        sed '1,/^runs$/d' "$work/out" | grep -q '"control" (' || { cat "$work/out"; return 1; }
}
# GDB's `run` and `kill` in a session with `extended-remote`: the session goes on.
openocd_runs_again() {
    printf '%s\n' "target extended-remote | '$ringside' serve --elf '$elf' \
            --remote localhost:$gdb_port" 'hbreak bout_mutex_get' 'run' 'info threads' 'kill' \
        'echo killed\n' 'info threads' 'run' 'bt 1' 'detach' >"$work/session.gdb"
    timeout -k 5 300 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' \
        -x "$work/session.gdb" "$elf" >"$work/out" 2>&1 </dev/null
    sed '/^killed$/,$d' "$work/out" | grep -q '"control" (' &&
        sed '1,/^killed$/d' "$work/out" | grep -q '^No threads' &&
        sed '1,/^No threads/d' "$work/out" | grep -q '^#0  bout_mutex_get ' &&
        grep -q 'detached' "$work/out" || { cat "$work/out"; return 1; }
}
# OpenOCD's own threads: they are not looked for as long as GDB comes through the proxy. Once a GDB
# of its own has made OpenOCD find them, the reason and the way out are given.
openocd_own_threads() {
    local session
    tcl 'chip.cpu configure -rtos auto' >/dev/null
    for session in "$(proxy "localhost:$gdb_port")" "target remote localhost:$gdb_port" \
        "$(proxy "localhost:$gdb_port")"; do
        printf '%s\n' "$session" 'info threads' 'detach' >"$work/body"
        timeout -k 5 120 gdb-multiarch -nx -q -batch -ex 'set confirm off' -x "$work/body" "$elf" \
            2>&1 </dev/null
    done >"$work/out"
    grep -q '"control" (' "$work/out" && grep -q '(Name: ' "$work/out" &&
        grep -q "shows the threads of an RTOS, and not its cores; use '-rtos none'" "$work/out" ||
        { cat "$work/out"; return 1; }
}
# A client of --listen, and the ends of a session while the target runs. The thresholds are for a
# host that is busy: what has no end lasts until `timeout` ends it, after a minute.
within() { # SECONDS COMMAND...: waits until it succeeds
    local end=$((SECONDS + $1 + 1))
    until "${@:2}"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}
has_ended() { ! kill -0 "$1" 2>/dev/null; }
detaches() { # PATH
    gdb-multiarch -nx -q -batch -ex "target remote $1" -ex detach "$elf" 2>&1 </dev/null |
        grep -q detached
}
listens() {
    local server=$work/serve.sock serve first ended status=0
    boot "$elf" || return 1
    for ended in client server signal; do
        "$ringside" serve --elf "$elf" --remote "$socket" --listen="unix:$server" \
            2>"$work/err" &
        serve=$!
        while kill -0 $serve && [ ! -S "$server" ]; do sleep 0.05; done
        : >"$work/out"
        { # so that the shell does not print that it was killed
            timeout -k 5 60 gdb-multiarch -nx -q -batch -ex "target remote $server" \
                -ex 'info threads' -ex 'echo continues\n' -ex 'continue' "$elf" \
                >"$work/out" 2>&1 </dev/null
            :
        } 2>/dev/null &
        first=$!
        within 20 grep -q '^continues' "$work/out"
        sleep 3 # the target runs, also on a host that is busy
        case $ended in
        client) # until then, another one is refused
            timeout -k 5 60 gdb-multiarch -nx -q -batch -ex "target remote $server" "$elf" \
                >"$work/second" 2>&1 </dev/null
            grep -q 'in use by process [0-9]*: end that session first' "$work/second" ||
                { echo 'no refusal of a second client'; status=1; }
            kill -KILL "$(pgrep -P "$(pgrep -P $first)")"
            within 20 detaches "$server" || { echo 'no end of the client'; status=1; }
            ;;
        server)
            stop_qemu
            within 20 grep -q 'closed the connection' "$work/err" ||
                { echo 'no end of the server'; cat "$work/err"; status=1; }
            boot "$elf"
            ;;
        esac
        kill -TERM $serve
        within 20 has_ended $serve || { echo 'no end by a signal'; status=1; kill -KILL $serve; }
        wait $first $serve 2>/dev/null
        [ ! -e "$server" ] || { echo 'the socket is left'; status=1; }
    done
    [ $status = 0 ] || { cat "$work/out" "$work/second" "$work/err"; return 1; }
}
refuses() {
    "$ringside" serve --elf "$elf" --remote "$work/nowhere.sock" </dev/null 2>"$work/err"
    [ $? = 2 ] && grep -q 'GDB server listens there' "$work/err" || { cat "$work/err"; return 1; }
    "$ringside" serve --remote 1 </dev/null 2>"$work/err"
    [ $? = 1 ] && grep -q 'use --elf' "$work/err" || { cat "$work/err"; return 1; }
    "$ringside" serve --elf "$elf" --remote 1 "$elf" </dev/null 2>"$work/err"
    [ $? = 1 ] && grep -q 'cannot be combined' "$work/err"
}

cp "$work/body" "$work/body.session"
for port in $ports; do
    elf=$firmware/demo-$port.elf
    cp "$work/body.session" "$work/body"
    check "$port: a session has the same places with it and without it" same_session
    check "$port: all threads of a live target" threads
    check "$port: the same stacks as from a dump" same_as_dump
    [ "$port" = rv64 ] && check "$port: no threads after a load" loaded
    # QEMU's ColdFire board does not start again.
    [ "$port" = coldfire ] || check "$port: GDB goes on after a reset at a breakpoint" restarts
    [ "$port" = coldfire ] || check "$port: no threads of the run before a reset" at_reset
done
elf=$firmware/demo-cortex-m3.elf
check "cortex-m3: clients of a socket, and their ends while the target runs" listens
check "cortex-m3: threads that an interrupt has interrupted" interrupted
check "rv64: threads of two cores" several_cores
check "what cannot be served is refused with a way out" refuses
stop_qemu
check "OpenOCD: all threads, a breakpoint and a step" openocd_threads
check "OpenOCD: no threads of the run before a reset" openocd_at_reset
check "OpenOCD: run and kill" openocd_runs_again
check "OpenOCD: its own threads" openocd_own_threads
exit $((failed > 0))
