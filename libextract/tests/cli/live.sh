#!/bin/bash
# SPDX-License-Identifier: MIT
# live.sh: tests the program `ringside` on live targets: QEMU's GDB server, gdbserver, and OpenOCD's
# Tcl port with a probe that serves a memory image. Compares its output with dumps that GDB makes.
# Prints "ok NAME" or "not ok NAME: why" for each test. Exit status 1 if any failed. Reads BUILD.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
build=${BUILD:-build}
probe=$build/ringside-probe
[ -x "$probe" ] || probe=build/ringside-probe
elf=build/firmware/demo-cortex-m3.elf
sock=$work/gdb.sock
limit=60
pids=()

clean_up() {
    local pid
    for pid in "${pids[@]}"; do
        kill -CONT "$pid" 2>/dev/null
        kill "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

# same NAME FILE FILE: checks that two files are equal.
same() {
    if [ -s "$2" ] && cmp -s "$2" "$3"; then ok "$1"; else fail "$1" "the files differ"; fi
}

# ---- Usage ----
run info --openocd 6666 x.trx
check "a live target and an input" 1 err 'a live target cannot be combined with an input'
run info --openocd 6666 --remote 1234
check "two live targets" 1 err 'use one of them'
run info --remote 1234 --target x
check "a target's name without OpenOCD" 1 err 'only OpenOCD'
run info --timeout 1 x.trx
check "a time-out without a live target" 1 err 'for live targets'
for seconds in 0 x '' 1.5.2 -1 1e3 4000; do
    run info --remote 1234 --timeout "$seconds"
    check "time-out \"$seconds\"" 1 err 'use seconds'
done
run info --remote a:b:c
check "no place" 1 err 'a:b:c: not the address of a server; use PORT'
run info --remote "$work/nobody" --elf "$elf"
check "nobody listens" 2 err 'nobody: No such file'
run info --openocd "$work/nobody"
check "no OpenOCD" 2 err 'check that OpenOCD is running'

# ---- QEMU's GDB server ----
[ -f "$elf" ] || { fail "firmware" "$elf is not there: make firmware"; exit 1; }
qemu-system-arm -M mps2-an385 -display none -serial null -monitor none -kernel "$elf" \
    -chardev socket,id=gdb,path="$sock",server=on,wait=off -gdb chardev:gdb \
    >"$work/qemu.log" 2>&1 </dev/null &
qemu=$!
pids+=("$qemu")
wait_until test -S "$sock" || fail "QEMU" "$(head -n 1 "$work/qemu.log")"

traces() {
    run info --remote "$sock" --elf "$elf"
    [ $status = 0 ] && grep -q '^wrapped: yes' "$work/out"
}
wait_until traces
check "info of a running target" 0 out '^format: threadx' err 'the target was halted for [0-9.]* ms'
ln -s "$sock" "$work/"$'gdb\xe2\x80\xae'
run info --remote "$work/"$'gdb\xe2\x80\xae' --elf "$elf"
check "a server's name is escaped" 0 err 'gdb\\xe2\\x80\\xae: the target was halted for [0-9.]* ms'
run report --remote "$sock" --elf "$elf" --quiet --timeout 20
check "report, quietly" 0 out 'thread suspend' no-err .
run last 3 --remote "$sock" --elf "$elf" --cost
check "last takes its number alone" 0 out 'SEQ' err 'read [0-9]* times'

run filter --remote "$sock" --elf "$elf"
check "filter" 0 out .
timeout "$limit" "$ringside" filter --remote "$sock" --elf "$elf" >/dev/full 2>"$work/err" \
    </dev/null
status=$?
check "filter, and no room for what it prints" 2 err '^ringside: standard output: No space left'

# With `disconnect`, GDB leaves the target halted, so that every reader reads the same bytes.
gdb-multiarch -nx -batch -ex "target remote $sock" \
    -ex stepi -ex "dump binary memory $work/ram.bin 0x20000000 0x20010000" -ex disconnect "$elf" \
    >"$work/gdb.log" 2>&1 </dev/null
[ "$(stat -c %s "$work/ram.bin" 2>/dev/null)" = 65536 ] ||
    fail "GDB's dump" "$(tail -n 1 "$work/gdb.log")"
run save "$work/ram.bin@0x20000000" --elf "$elf" -o "$work/dump.trx"
run snapshot --remote "$sock" --elf "$elf" -o "$work/remote.trx"
check "snapshot of a halted target" 0
same "snapshot = GDB's dump" "$work/dump.trx" "$work/remote.trx"

# A target that was halted before stays halted, whatever reads it, until its debugger lets it run.
moves() {
    run save --remote "$sock" --elf "$elf" -o "$work/earlier.trx"
    sleep 0.1
    run save --remote "$sock" --elf "$elf" -o "$work/later.trx"
    ! cmp -s "$work/earlier.trx" "$work/later.trx"
}
run info --remote "$sock" --elf "$elf"
check "info of a halted target" 0 no-err 'the target was halted for'
if moves; then fail "the target stays halted" "it runs"; else ok "the target stays halted"; fi
run info --openocd "$sock" --timeout 1
check "a silent GDB server is no OpenOCD" 2 err "no answer within 1 s.*OpenOCD's tcl_port"
# A core of it, whose stack pointer is that of a device: nothing is read there.
gdb-multiarch -nx -batch -ex "target remote $sock" \
    -ex 'set $sp = 0x40004400' -ex disconnect "$elf" >"$work/gdb.log" 2>&1 </dev/null
run core --remote "$sock" --elf "$elf" -o "$work/wild.core"
check "core with a wrong stack pointer" 0
readelf -lW "$work/wild.core" | grep -E '^ *LOAD' >"$work/out"
if grep -q ' 0x2000' "$work/out" && ! grep -q ' 0x4000' "$work/out"; then
    ok "no device is read"
else
    fail "no device is read" "$(head -n 5 "$work/out")"
fi
gdb-multiarch -nx -batch -ex "target remote $sock" -ex 'monitor system_reset' -ex detach "$elf" \
    >"$work/gdb.log" 2>&1 </dev/null
if wait_until moves; then ok "GDB's detach lets it run"; else fail "GDB's detach" "it stands"; fi

# A server that does not answer: the first signal ends the program, and the target continues.
kill -STOP "$qemu"
"$ringside" info --remote "$sock" --elf "$elf" --timeout 600 >"$work/out" 2>"$work/err" &
client=$!
sleep 0.5
kill -TERM "$client"
wait "$client"
status=$?
kill -CONT "$qemu"
check "a signal ends the wait" 143
if wait_until moves; then ok "and the target runs"; else fail "and the target runs" "it stands"; fi
# From 8.1 on, QEMU answers nothing to what is no packet; before, it reports its halt.
run info --openocd "$sock" --timeout 1
check "a GDB server is no OpenOCD" 2 \
    err "as OpenOCD's Tcl port does\|no answer within 1 s.*OpenOCD's tcl_port"
if wait_until moves; then ok "nor is it left halted"; else fail "nor is it left halted" "it is"; fi
kill -STOP "$qemu"
run info --remote "$sock" --elf "$elf" --timeout 0.3
kill -CONT "$qemu"
check "a time-out" 2 err 'no answer within 0.3 s'
kill "$qemu"

# ---- gdbserver: a process of this host, without a ring ----
if command -v gdbserver >/dev/null; then
    sleep 1000 &
    process=$!
    pids+=("$process")
    for ((try = 0; try < 10; try++)); do
        port=$((20000 + RANDOM % 20000))
        gdbserver --attach "127.0.0.1:$port" "$process" >"$work/server.log" 2>&1 </dev/null &
        server=$!
        wait_until grep -sqE 'Listening|rror|Can.t|xiting' "$work/server.log"
        grep -q Listening "$work/server.log" && break
        wait "$server"
    done
    pids+=("$server")
    run info --remote "127.0.0.1:$port" --ring 0x10
    check "gdbserver: an address without memory" 2 err 'no access at 0x10: the server answers E'
    runs() { [ "$(cut -d' ' -f3 "/proc/$process/stat")" = S ]; }
    if wait_until runs; then ok "gdbserver: the process runs on"; else
        fail "gdbserver: the process runs on" "it is stopped"
    fi
fi

# ---- OpenOCD, with a probe that serves the image ----
if ! command -v openocd >/dev/null || [ ! -x "$probe" ]; then
    echo "skip OpenOCD: openocd or $probe is not there"
    finish
fi
"$probe" --socket "$work/probe.sock" --with-parent "$work/ram.bin@0x20000000" \
    >"$work/probe.log" 2>&1 </dev/null &
pids+=("$!")
wait_until test -S "$work/probe.sock" || fail "the probe" "$(head -n 1 "$work/probe.log")"
# OpenOCD 0.12 does not accept a UNIX socket as its Tcl port, and ends if the port is in use.
for ((try = 0; try < 10; try++)); do
    port=$((20000 + RANDOM % 20000))
    openocd -c "tcl_port $port; gdb_port disabled; telnet_port disabled" \
        -c "set PROBE_SOCKET $work/probe.sock" -f qemu-tests/probe/probe.cfg \
        -c "chip.mem configure -gdb-port $((port + 1))" -c init \
        >"$work/openocd.log" 2>&1 </dev/null &
    openocd=$!
    wait_until grep -sqE "port $port for tcl|couldn't bind|rror" "$work/openocd.log"
    grep -q "port $port for tcl" "$work/openocd.log" && break
    kill "$openocd" 2>/dev/null
    wait "$openocd" 2>/dev/null
done
pids+=("$openocd")

run save --openocd "$port" --elf "$elf" -o "$work/openocd.trx"
check "save through OpenOCD" 0 no-err 'stood'
same "OpenOCD's bytes = GDB's dump" "$work/dump.trx" "$work/openocd.trx"
run info --openocd "localhost:$port" --target chip.mem --elf "$elf" --cost
check "a target by its name" 0 out '^format: threadx' err "localhost:$port: read [0-9]* times"
run info --openocd "$port" --target other --elf "$elf"
check "a target that is not there" 2 err 'no target "other"; use one of its targets: chip.mem'
run info --openocd "$port" --target '[shutdown]' --elf "$elf"
check "a name that is a script" 1 err 'not the name of a target'
run info --openocd "$port" --ring 0x30000000
check "an address without memory" 2 err 'no access at 0x30000000: OpenOCD says'
# Its GDB port answers zeros for memory that it cannot read.
run save --remote "localhost:$((port + 1))" --elf "$elf" -o "$work/openocd.trx"
check "save through OpenOCD's GDB port" 0
same "its bytes = GDB's dump" "$work/dump.trx" "$work/openocd.trx"
run info --remote "localhost:$((port + 1))" --ring 0x30000000
check "zeros of OpenOCD for an address without memory" 2 \
    err 'no access at 0x30000000: OpenOCD answers zeros, and says "read_memory: failed'
run info --openocd "$port" --elf "$elf"
check "OpenOCD is still well" 0
kill "$openocd"
wait "$openocd" 2>/dev/null
run info --openocd "$port" --elf "$elf"
check "OpenOCD has gone" 2 err "localhost:$port: .*check that OpenOCD is running"

finish
