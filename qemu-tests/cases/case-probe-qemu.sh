#!/bin/bash
# SPDX-License-Identifier: MIT
# ringside-probe between the stock OpenOCD and a guest in QEMU. What is read is compared with what
# QEMU says over a second monitor, and with the symbols of the ELF file.
# shellcheck source=probelib.sh
. "$(dirname "$0")/probelib.sh"

elf=$PWD/$firmware/storm-cortex-m3.elf
rv64=$PWD/$firmware/storm-rv64.elf
quiet='-display none -serial null -monitor none'

symbol() { arm-none-eabi-nm "$elf" | awk -v name="$1" '$3 == name {print "0x" $1}'; }
produced=$(symbol storm_produced)
insert=$(symbol _tx_trace_event_insert_impl)
vector=$(symbol Reset_Handler)
stack=$(od -An -tx4 -j $(($(LC_ALL=C readelf -lW "$elf" | awk '$1 == "LOAD" {print $2; exit}'))) \
    -N 4 "$elf" | tr -d ' ')

serve_board() {
    serve "$@" --qemu "qemu-system-arm -M mps2-an385 $quiet -kernel $elf \
        -qmp unix:$work/qmp,server=on,wait=off"
}

# Tcl that talks to QEMU's second monitor, which the probe has no part in: `qmp JSON` returns the
# answer, past events.
qmp_tcl='
proc qmp {command} {
    if {![info exists ::qmp_socket]} {
        set ::qmp_socket [socket unix $::qmp_path]
        $::qmp_socket buffering none
        gets $::qmp_socket
        qmp {{"execute": "qmp_capabilities"}}
    }
    puts $::qmp_socket $command
    while {[gets $::qmp_socket line] >= 0} {
        if {![string match {*"event"*} $line]} { return $line }
    }
    error "QEMU is gone"
}
proc runs {} { string match {*"running": true*} [qmp {{"execute": "query-status"}}] }
proc pmemsave {address length file} {
    qmp "{\"execute\": \"pmemsave\", \"arguments\":
        {\"val\": [expr $address], \"size\": $length, \"filename\": \"$file\"}}"
}'
openocd_board() {
    local tcl
    tcl=$(cat)
    openocd_run <<<"set qmp_path {$work/qmp}; $qmp_tcl; $tcl"
}

# The guest is read and written while it runs, and does not stop for it.
running() {
    openocd_board <<END || return 1
say [runs]
set first [chip.mem read_memory $produced 32 1]
dump_image {$work/64k} 0x20000000 65536
set next [chip.mem read_memory $produced 32 1]
say [expr {\$next - \$first > 0}] [runs]
chip.mem write_memory 0x20300000 32 {0x11223344 2}
chip.mem write_memory 0x20300001 8 {0xaa}
chip.mem write_memory 0x20300006 16 {0xbbcc}
say [chip.mem read_memory 0x20300000 32 2]
say [chip.mem read_memory 0xe000ed00 32 1]
say [runs] [regexp {MEM-AP BASE 0xe00ff003} [chip.dap info]]
END
    said 1 '1 1' '0x1122aa44 0xbbcc0002' 0x410fc231 '1 1'
}

stopped() {
    openocd_board <<END || return 1
ask stop
say [runs]
dump_image {$work/ours} 0x20000000 65536
pmemsave 0x20000000 65536 $work/theirs
chip.mem write_memory 0x20300000 32 {0x55667788}
say [chip.mem read_memory 0x20300000 32 1]
pmemsave 0x20300000 4 $work/written
qmp {{"execute": "cont"}}
after 200
set first [chip.mem read_memory $produced 32 1]
after 200
say [expr {[chip.mem read_memory $produced 32 1] != \$first}]
END
    said 0 0x55667788 1 && cmp "$work/ours" "$work/theirs" &&
        cmp "$work/written" <(printf '\210\167\146\125')
}

# Unmapped addresses, and those that QEMU only has a stand-in for.
unmapped() {
    openocd_board <<'END' || return 1
foreach a {0x30000000 0x20800000 0xfffffffc 0x20000000} {
    say [catch {chip.mem read_memory $a 32 1}]
}
say [catch {chip.mem write_memory 0x30000000 32 1}]
END
    said 1 1 1 0 1
}

# The guest stands but for four milliseconds after every 64 beats: two reads of a word agree within
# a run of 64 beats, and the guest moves between them (not always: the host may give it no time).
guest_tear() {
    openocd_board <<END || return 1
ask tear run 64 4000
say [runs]
set same 0
set moved 0
set before [chip.mem read_memory $produced 32 1]
for {set i 0} {\$i < 256} {incr i} {
    set now [chip.mem read_memory $produced 32 1]
    if {\$now == \$before} { incr same } else { incr moved }
    set before \$now
}
say [expr {\$same + \$moved}] [expr {\$moved >= 2 && \$moved <= 4}]
ask tear off
say [runs]
END
    said 0 '256 1' 1
}

# Another processor, without Cortex-M registers; its RAM lies above 2 GiB.
other_processor() {
    serve --qemu "qemu-system-riscv64 -M virt -bios none $quiet -kernel $rv64" || return 1
    openocd_run <<'END' || return 1
set first [chip.mem read_memory 0x0200bff8 32 1]
say [expr {[chip.mem read_memory 0x0200bff8 32 1] != $first}]
say [expr {[chip.mem read_memory 0x80000000 32 1] != 0}]
say [catch {chip.mem read_memory 0xe000edf0 32 1}]
END
    said 1 1 1
}

# A QEMU that runs already, and keeps running when the probe goes.
joined() {
    local pid i
    # shellcheck disable=SC2086
    qemu-system-arm -M mps2-an385 $quiet -kernel "$elf" -qtest-log /dev/null \
        -qtest "unix:$work/qtest,server=on,wait=off" -qmp "unix:$work/qmp2,server=on,wait=off" \
        -qmp "unix:$work/qmp,server=on,wait=off" -gdb "unix:$work/gdb,server=on,wait=off" \
        >"$work/qemu.log" 2>&1 </dev/null &
    qemu_pid=$!
    for ((i = 0; i < 100; i++)); do
        [ -S "$work/gdb" ] && break
        sleep 0.05
    done
    serve --qtest "$work/qtest" --qmp "$work/qmp2" --gdbstub "$work/gdb" || return 1
    CORTEX_M=1 openocd_board <<'END' || return 1
targets chip.cpu
halt
say [runs]
resume
say [runs]
END
    said 0 1 || return 1
    pid=$probe_pid
    stop_probe
    kill -0 "$pid" 2>/dev/null && { echo "the probe lives on"; return 1; }
    kill -0 "$qemu_pid" || { echo "QEMU has ended too"; return 1; }
    stop_qemu
}

# A register as a number.
debug_tcl='
targets chip.cpu
proc value {name} { regexp {: (0x[0-9a-f]+)} [reg $name] all v; expr {$v + 0} }
proc at {name} { format 0x%08x [value $name] }
proc moves {} {
    set first [chip.mem read_memory $::produced 32 1]
    after 100
    expr {[chip.mem read_memory $::produced 32 1] != $first}
}'
openocd_cpu() {
    local tcl
    tcl=$(cat)
    CORTEX_M=1 openocd_board <<<"set produced $produced; $debug_tcl; $tcl"
}

halts() {
    openocd_cpu <<END || return 1
say [moves]
halt
say [runs] [moves]
dump_image {$work/ours} 0x20000000 65536
pmemsave 0x20000000 65536 $work/theirs
resume
say [runs] [moves]
END
    said 1 '0 0' '1 1' && cmp "$work/ours" "$work/theirs"
}

# Five nops and a jump to itself in RAM, run step by step, with registers set by the debugger.
steps() {
    openocd_cpu <<'END' || return 1
halt
chip.mem write_memory 0x20300000 16 {0x3001 0x3101 0xbf00 0x4408 0xe7fe}
reg r0 41
reg r1 1
reg pc 0x20300000
step
say [at pc] [at r0] [at r1]
step
step
say [at pc] [at r0] [at r1]
step
say [at pc] [at r0] [at r1]
step
step
say [at pc] [value r0]
END
    said '0x20300002 0x0000002a 0x00000001' '0x20300006 0x0000002a 0x00000002' \
        '0x20300008 0x0000002c 0x00000002' '0x20300008 44'
}

breakpoints() {
    openocd_cpu <<END || return 1
reset halt
bp $insert 2 hw
foreach i {1 2 3} {
    resume
    wait_halt 5000
    say [at pc]
}
say [expr {[regexp -all {0x} [bp]] > 0}]
rbp all
resume
say [moves]
END
    local pc
    pc=$(printf '0x%08x' "$insert")
    said "$pc" "$pc" "$pc" 1 1
}

# In front of the first instruction: nothing is written yet, and the stack is as the vector says.
reset_halt() {
    openocd_cpu <<END || return 1
foreach i {1 2 3} {
    reset halt
    say [at pc] [at sp] [at lr] [runs]
    resume
    after 50
}
reset run
after 300
say [runs] [moves]
chip.cpu arp_poll
chip.cpu arp_poll
say [chip.cpu curstate]
END
    local line
    line="$(printf '0x%08x' "$vector") 0x$stack 0xffffffff 0"
    said "$line" "$line" "$line" '1 1' running
}

# A guest that is reset starts again: its counter is smaller.
control_reset() {
    openocd_board <<END || return 1
after 500
set before [chip.mem read_memory $produced 32 1]
ask stop
ask reset
say [runs]
ask cont
after 20
say [expr {[chip.mem read_memory $produced 32 1] < \$before}] [runs]
END
    said 0 '1 1'
}

# The jump to a fault's handler is caught.
vector_catch() {
    openocd_cpu <<'END' || return 1
halt
cortex_m vector_catch hard_err
chip.mem write_memory 0x20300000 16 {0xdeff 0xe7fe}
reg pc 0x20300000
resume
wait_halt 5000
say [expr {[value xPSR] & 0x1ff}]
say [at pc]
END
    local handler
    handler=$(arm-none-eabi-objdump -s --start-address=12 --stop-address=16 "$elf" |
        awk '$1 == "000c" || $1 == "0000000c" || $1 == "c" {print $2}')
    handler=$(printf '0x%08x' $((0x${handler:6:2}${handler:4:2}${handler:2:2}${handler:0:2} & ~1)))
    said 3 "$handler"
}

# A processor that was never halted is caught, too, when it meets an undefined instruction.
vector_catch_running() {
    serve_board || return 1
    openocd_cpu <<END || return 1
say [runs]
cortex_m vector_catch hard_err
say [runs] [chip.cpu curstate]
chip.mem write_memory $insert 16 {0xdeff}
wait_halt 5000
say [expr {[value xPSR] & 0x1ff}] [runs]
END
    said 1 '1 running' '3 0'
}

# GDB on OpenOCD's standard input and output, so that no port is taken.
gdb_session() {
    cat >"$work/gdb.cfg" <<END
set PROBE_SOCKET {$work/probe}
set CORTEX_M 1
source {$config}
gdb_port pipe
log_output {$work/openocd.log}
telnet_port disabled
tcl_port disabled
chip.mem configure -gdb-port disabled
END
    cat >"$work/session.gdb" <<END
set confirm off
set remotetimeout 20
target extended-remote | openocd -f $work/gdb.cfg
monitor reset halt
maintenance flush register-cache
printf "reset at 0x%08x\n", \$pc
hbreak _tx_trace_event_insert_impl
continue
printf "first at 0x%08x\n", \$pc
continue
printf "next at 0x%08x\n", \$pc
stepi
printf "moved %d\n", \$pc != (int)&_tx_trace_event_insert_impl
delete
tbreak storm_entry
monitor reset halt
maintenance flush register-cache
continue
bt 1
print (int)\$sp > 0x20000000
END
    timeout -k 5 90 gdb-multiarch -nx -q -batch -x "$work/session.gdb" "$elf" >"$work/gdb.log" \
        2>&1 </dev/null
    local line
    for line in "reset at $(printf '0x%08x' "$vector")" "first at $(printf '0x%08x' "$insert")" \
        "next at $(printf '0x%08x' "$insert")" 'moved 1' '#0 .*storm_entry' '\$1 = 1'; do
        grep -q "^$line" "$work/gdb.log" && continue
        echo "GDB did not say: $line"
        tail -n 8 "$work/gdb.log"
        return 1
    done
}

# Whatever way the probe ends, QEMU ends with it; and the probe ends with QEMU.
end_together() {
    local guest i
    for signal in TERM KILL; do
        serve_board || return 1
        guest=$(pgrep -P "$probe_pid") || return 1
        kill -$signal "$probe_pid"
        wait "$probe_pid" 2>/dev/null
        probe_pid=
        for ((i = 0; i < 100; i++)); do
            grep -q '^State:.*[SRD] ' "/proc/$guest/status" 2>/dev/null || break
            sleep 0.05
        done
        [ $i -lt 100 ] || { echo "QEMU outlives a probe that got SIG$signal"; return 1; }
    done
    serve_board || return 1
    kill -KILL "$(pgrep -P "$probe_pid")"
    wait "$probe_pid"
    [ $? -eq 2 ] && grep -q 'QEMU' "$work/probe.log" && [ ! -e "$work/probe" ] || return 1
    probe_pid=
}

check "QEMU: starts" serve_board
if [ -n "$probe_pid" ]; then
    check "QEMU: memory while the guest runs" running
    check "QEMU: memory while the guest stands" stopped
    check "QEMU: unmapped addresses fail" unmapped
    check "QEMU: the guest moves between beats" guest_tear
    check "QEMU: reset, stop and cont" control_reset
    check "Cortex-M: halt and resume" halts
    check "Cortex-M: single steps and registers" steps
    check "Cortex-M: hardware breakpoints" breakpoints
    check "Cortex-M: reset halt at the vector, reset run" reset_halt
    check "Cortex-M: vector catch" vector_catch
    check "Cortex-M: vector catch while it runs" vector_catch_running
    check "GDB: attach, hbreak, continue" gdb_session
    check "QEMU: another processor" other_processor
    check "QEMU: one that runs already" joined
    check "QEMU and the probe end together" end_together
fi
exit $((failed > 0))
