#!/bin/bash
# SPDX-License-Identifier: MIT
# A dump of each machine in GDB: `ringside serve` and `ringside core` show every thread, with its
# stack. The oracle is GDB on the live target: the thread that it shows there, and the functions
# that the image's threads wait in. The image crash-cortex-m3 then dies, and GDB shows where.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
ports=${PORTS:-cortex-m3 cortex-m4f rv64 coldfire}

samples() { # ELF
    local from to
    connect "$1"
    run_for 1.3
    into_file "$work/live.bt" 'bt'
    save_registers
    ram_of "$1" | while read -r from to; do
        printf 'dump binary memory %s %s %s\n' "$work/now.ram-$from" "$from" "$to"
    done
    into_file "$work/done" 'echo done\n'
}
# gdb SCRIPT-COMMAND...: output in $work/out.
gdb() {
    timeout -k 5 240 gdb-multiarch -nx -q -batch -ex 'set pagination off' "$@" \
        >"$work/out" 2>&1 </dev/null
}
# Paths may contain blanks, and GDB starts the program through a shell.
server() {
    printf 'target remote | "%s" serve -q ' "$ringside"
    printf '"%s" ' "$@"
}
dump() { printf '%s\n' --elf "$elf" --registers "$work/registers.txt" "${images[@]}"; }
frames() { sed -n '/^#/s/^\(#[0-9]*\) *\(0x[0-9a-f]* in \)\?\([^ ]*\).*/\1 \3/p' "$1"; }
# QEMU's server does not have psp: beyond an exception, GDB on the live target shows wrong callers.
innermost() { frames "$1" | sed '/<signal/q'; }
# One line per thread, sorted: a core begins with the thread that ran. What an exception has
# interrupted is another thread in a core. A thread that was just stopping has no registers, and is
# not in a core.
stacks() {
    frames "$1" | awk '/^#0 / || after {printf "%s", sep; sep = "\n"}
        {printf "%s ", $2; after = $2 ~ /<signal/}' | sed '/^<unavailable> *$/d' | sort
}
# Number of threads, and of those whose stacks end in the shell of threads, or that were just
# stopping: at most one.
backtraces() { # FILE
    sed -n '/^Thread /,$p' "$1" | awk '/^Thread /{n++} / in bout_thread_shell /{ok++}
        /^#0 *<unavailable>/{stops = 1} END {print n + 0, ok + stops}'
}

serves() {
    local n ok
    gdb -ex "$(server "${input[@]}")" -ex 'info threads' -ex bt -ex 'thread apply all bt' "$elf" ||
        return 1
    sed -n '/^Thread /q; p' "$work/out" >"$work/first"
    # What an exception has interrupted on ColdFire is another thread, as in a core.
    ! grep -q '^Thread .* "exception"' "$work/out" ||
        sed -n '/^Thread .* "exception"/,/^$/p' "$work/out" >"$work/first"
    diff <(innermost "$work/live.bt") <(innermost "$work/first") || return 1
    read -r n ok < <(backtraces "$work/out")
    # The idle core has none.
    [ "$n" -ge 11 ] && [ "$ok" -ge $((n - 1)) ] || { echo "$ok of $n"; cat "$work/out"; return 1; }
    # It may run or be ready at that moment.
    grep -q '"control" (.*, priority 4)' "$work/out" && grep -q ' control_entry ' "$work/out" ||
        { cat "$work/out"; return 1; }
}
writes() {
    gdb -ex "$(server "${input[@]}")" -ex 'set var bout_created[0].next = 0' "$elf"
    grep -q 'Cannot access memory' "$work/out" || { cat "$work/out"; return 1; }
    # shellcheck disable=SC2016
    gdb -ex "$(server "${input[@]}")" -ex 'set var $sp = 0' "$elf"
    grep -q 'can be read only' "$work/out" || { cat "$work/out"; return 1; }
}
listens() {
    local port i pid
    "$ringside" serve --listen=127.0.0.1:0 "${input[@]}" 2>"$work/err" &
    pid=$!
    for ((i = 0; i < 100; i++)); do
        port=$(sed -n 's/.*target remote 127.0.0.1:\([0-9]*\).*/\1/p' "$work/err")
        [ -n "$port" ] && break
        sleep 0.05
    done
    for i in 1 2; do # one client after the other
        gdb -ex "target remote 127.0.0.1:$port" -ex 'info threads' -ex detach "$elf"
        grep -q '"control"' "$work/out" || { cat "$work/out"; kill "$pid"; return 1; }
    done
    kill "$pid"
    wait "$pid"
}
cores() {
    local osabi=() n
    rm -f "$work"/core "$work"/core.gdb
    "$ringside" core -q "${input[@]}" -o "$work/core" || return 1
    [ "$port" = coldfire ] && osabi=(-iex 'set osabi GNU/Linux')
    gdb -ex "$(server "${input[@]}")" -ex 'thread apply all -ascending bt' "$elf" || return 1
    sed -n '/^Thread /,$p' "$work/out" >"$work/served"
    gdb "${osabi[@]}" -x "$work/core.gdb" -ex 'info threads' -ex 'thread apply all -ascending bt' \
        "$elf" "$work/core" || return 1
    sed -n '/^Thread /,$p' "$work/out" >"$work/threads"
    diff <(stacks "$work/served") <(stacks "$work/threads") || return 1
    n=$(grep -c ' in bout_thread_shell ' "$work/threads")
    [ "$n" -ge 11 ] && grep -q 'LWP [0-9]* "control"' "$work/out" || { cat "$work/out"; return 1; }
    # Nothing is replaced.
    "$ringside" core "${input[@]}" -o "$work/core" 2>"$work/err"
    [ $? = 2 ] && grep -q "$work/core" "$work/err"
}
# The functions of the thread that died, from its own source.
names_culprit() {
    gdb -ex "$(server "${input[@]}")" -ex 'info threads' -ex bt "$elf" || return 1
    grep -q '^\* .*"brake control" (running' "$work/out" &&
        grep -q 'brake_controller_update (.*crash.c:27' "$work/out" &&
        grep -q ' in brake_entry ' "$work/out" || { cat "$work/out"; return 1; }
    rm -f "$work"/core "$work"/core.gdb
    "$ringside" core -q "${input[@]}" -o "$work/core" || return 1
    gdb -ex bt "$elf" "$work/core" || return 1
    grep -q '^#0 .*brake_controller_update (.*crash.c:27' "$work/out" &&
        grep -q '^#1 .*brake_entry' "$work/out" || { cat "$work/out"; return 1; }
}
refuses() {
    "$ringside" serve --listen=127.0.0.1:0 "${images[@]}" 2>"$work/err"
    [ $? = 1 ] && grep -q 'use --elf' "$work/err" || { cat "$work/err"; return 1; }
    "$ringside" serve -q --listen=127.0.0.1:99999 "${input[@]}" 2>"$work/err"
    [ $? = 1 ] && grep -q 'not an address' "$work/err" || { cat "$work/err"; return 1; }
    echo 'hello, world' >"$work/bad.txt"
    "$ringside" core -q --elf "$elf" --registers "$work/bad.txt" "${images[@]}" -o "$work/none" \
        2>"$work/err"
    [ $? = 2 ] && grep -q 'no register of the program' "$work/err" ||
        { cat "$work/err"; return 1; }
    [ ! -e "$work/none" ] && [ ! -e "$work/none.gdb" ]
}

for port in $ports crash; do
    elf=$firmware/demo-$port.elf
    [ "$port" = crash ] && elf=$firmware/crash-cortex-m3.elf
    rm -f "$work"/now.ram-* "$work/done"
    check "$port: boots" boot "$elf"
    samples "$elf" >"$work/session.gdb"
    check "$port: a session in GDB" interrupted_run "$elf" "$work/done"
    add_trap_registers
    mapfile -t images < <(images_of now)
    mapfile -t input < <(dump)
    if [ "$port" = crash ]; then
        check "$port: thread, function and line of the fault" names_culprit
        continue
    fi
    check "$port: a dump in GDB, with all threads" serves
    check "$port: nothing is written" writes
    check "$port: clients of a TCP port" listens
    check "$port: a core with all threads" cores
done
check "what cannot be served is refused with a way out" refuses
exit $((failed > 0))
