#!/bin/bash
# SPDX-License-Identifier: MIT
# ringside-probe between the stock OpenOCD and a guest in QEMU. What is read is compared with what
# QEMU says over a second monitor, and with the symbols of the ELF file.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

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

# The same behind a debug module of RISC-V, and OpenOCD's target for it.
riscv_insert=$(riscv64-unknown-elf-nm "$rv64" |
    awk '$3 == "_tx_trace_event_insert_impl" {print "0x" $1}')
serve_riscv() {
    serve --tap riscv --qemu "qemu-system-riscv64 -M virt -bios none $quiet -kernel $rv64 \
        -qmp unix:$work/qmp,server=on,wait=off"
}
openocd_riscv() {
    local tcl
    tcl=$(cat)
    config=$PWD/qemu-tests/probe/riscv.cfg openocd_board <<<"
proc mtime {} { chip.cpu read_memory 0x0200bff8 64 1 }
proc moves {} { set first [mtime]; expr {[mtime] > \$first} }
proc at {name} { regexp {: (0x[0-9a-f]+)} [reg \$name] all v; return \$v }
$tcl"
}

# OpenOCD halts the hart to examine it, and lets it run on.
riscv_examined() {
    openocd_riscv <<'END' || return 1
say [runs] [chip.cpu curstate] [moves]
halt
say [runs] [moves] [at misa] [at mhartid]
resume
say [runs] [moves]
END
    said '1 running 1' '0 0 0x80000000001411ad 0x0000000000000000' '1 1' &&
        grep -q 'XLEN=64' "$work/openocd.log"
}

# Memory while the hart runs, in accesses of all sizes. What is not mapped, or lies above 4 GiB, is
# an error, and the next access is as ever.
riscv_memory() {
    openocd_riscv <<END || return 1
chip.cpu write_memory 0x80700000 64 {0x1122334455667788 0x99}
chip.cpu write_memory 0x80700001 8 {0xaa 0xbb}
chip.cpu write_memory 0x80700006 16 {0xcc}
foreach a {0x18000000 0x80700004 0x400000000 0x80700000} {
    say [catch {chip.cpu read_memory \$a 32 2} got] [expr {[llength \$got] == 2 ? \$got : "-"}]
}
say [catch {chip.cpu write_memory 0x18000000 32 1}]
say [chip.cpu read_memory 0x80700000 64 2]
say [chip.cpu read_memory 0x80700000 8 3]
ask fault 0x80700008 1
say [catch {chip.cpu read_memory 0x80700000 32 4}]
ask fault clear
dump_image {$work/ours} 0x80000000 4096
pmemsave 0x80000000 4096 $work/theirs
say [runs] [chip.cpu curstate]
END
    said '1 -' '0 0xcc3344 0x99' '1 -' '0 0x55bbaa88 0xcc3344' 1 '0xcc334455bbaa88 0x99' \
        '0x88 0xaa 0xbb' 1 '1 running' && cmp "$work/ours" "$work/theirs"
}

# A busy debug module: what it did not take is asked for again.
riscv_busy() {
    openocd_riscv <<'END' || return 1
ask wait 7
say [chip.cpu read_memory 0x80700000 64 2]
halt
say [expr {[at sp] > 0x80000000}]
resume
say [moves]
ask wait 0
say [regexp {waits=[1-9]} [ask counters]]
END
    said '0xcc334455bbaa88 0x99' 1 1 1
}

# Two additions, a nop, an addition and a jump to itself, run step by step, with registers set.
riscv_steps() {
    openocd_riscv <<'END' || return 1
halt
chip.cpu write_memory 0x80700000 16 {0x0505 0x0589 0x0001 0x952e 0xa001}
reg a0 0x1122334455667787
reg a1 1
reg pc 0x80700000
reg mscratch 0x123456789a
step
say [at pc] [at a0]
step
step
step
step
say [at pc] [at a0] [at a1] [at mscratch]
say [expr {[catch {reg dscratch0}] != 0}]
END
    said '0x0000000080700002 0x1122334455667788' \
        '0x0000000080700008 0x112233445566778b 0x0000000000000003 0x000000123456789a' 1
}

# Reset in front of the first instruction, in the machine's ROM; breakpoints; a reset that runs.
riscv_reset() {
    openocd_riscv <<END || return 1
reset halt
say [at pc] [runs]
bp $riscv_insert 2 hw
foreach i {1 2} {
    resume
    wait_halt 5000
    say [at pc] [runs]
}
rbp all
reset run
chip.cpu arp_poll
say [chip.cpu curstate] [runs] [moves]
END
    said '0x0000000000001000 0' "$riscv_insert 0" "$riscv_insert 0" 'running 1 1'
}

# What OpenOCD's target does not come by: errors of system bus access (a size that there is not, an
# address that is no multiple, one that is not mapped), which last until they are cleared; commands
# to a hart that runs, and of a kind that there is not; a debug module that is not active.
riscv_registers() {
    openocd_riscv <<'END' || return 1
proc error_of {control address} {
    riscv dmi_write 0x38 [expr {$control | 1 << 20}]
    riscv dmi_write 0x3a [expr {$address >> 32}]
    riscv dmi_write 0x39 [expr {$address & 0xffffffff}]
    set first [expr {[riscv dmi_read 0x38] >> 12 & 7}]
    riscv dmi_write 0x39 0x80000000
    set kept [expr {[riscv dmi_read 0x38] >> 12 & 7}]
    riscv dmi_write 0x38 0x7000
    return "$first$kept[expr {[riscv dmi_read 0x38] >> 12 & 7}]"
}
say [error_of 0x80000 0x80000000] [error_of 0x60000 0x80000004] [error_of 0 0x18000000] \
    [error_of 0 0x100000000] [error_of 0x60000 0x80000008]
proc command_error {command} {
    riscv dmi_write 0x17 $command
    set error [expr {[riscv dmi_read 0x16] >> 8 & 7}]
    riscv dmi_write 0x16 0x700
    return $error
}
say [command_error 0x321008] [command_error 0x2000000]
halt
say [command_error 0x321008] [command_error 0x421008] [command_error 0x3207b2] \
    [command_error 0x32ffff]
resume
riscv dmi_write 0x04 5
riscv dmi_write 0x10 0
say [expr {[riscv dmi_read 0x04] | [riscv dmi_read 0x11] | [riscv dmi_read 0x7f]}]
END
    said '440 330 220 220 000' '4 2' '0 2 3 3' 0
}

# Whatever is asked for, the probe and QEMU live, and OpenOCD finds the hart as ever.
riscv_hostile() {
    openocd_riscv <<'END' || return 1
expr {srand(1)}
proc any {count} { expr {int(rand() * $count)} }
proc request {operation data reg} {
    irscan chip.cpu 0x11
    drscan chip.cpu 2 $operation 32 $data 7 $reg
}
request 2 1 0x10
for {set i 0} {$i < 1500} {incr i} {
    request 2 [expr {0x320000 | [any 2] << 16 | [any 0x1080]}] 0x17
    request 2 [expr {1 | [any 4] << 30 | [any 16] & 14}] 0x10
    request [any 4] [any 0xffffffff] [any 128]
    irscan chip.cpu [any 32]
    drscan chip.cpu [expr {1 + [any 32]}] [any 2]
}
END
    alive && openocd_riscv <<'END' || return 1
reset halt
say [at pc] [runs]
END
    said '0x0000000000001000 0'
}

# --tap riscv is for a guest that is one.
riscv_refused() {
    serve --tap riscv --qemu "qemu-system-arm -M mps2-an385 $quiet -kernel $elf" && return 1
    grep -q 'no RISC-V' "$work/probe.log" && ! "$probe" --socket "$work/p" --tap mips --qemu true &&
        ! "$probe" --socket "$work/p" --tap riscv "$rv64@0"
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
# (OpenOCD lets interrupts have 500 ms before a step, and makes none when a slow host needs longer.)
steps() {
    openocd_cpu <<'END' || return 1
proc onward {} {
    for {set from [at pc]; set i 0} {$i < 5 && [at pc] eq $from} {incr i} { step }
}
halt
chip.mem write_memory 0x20300000 16 {0x3001 0x3101 0xbf00 0x4408 0xe7fe}
reg r0 41
reg r1 1
reg pc 0x20300000
onward
say [at pc] [at r0] [at r1]
onward
onward
say [at pc] [at r0] [at r1]
onward
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
gdb_session() { # ELF CONFIGURATION RESET-ADDRESS INSERT-ADDRESS [TCL]
    cat >"$work/gdb.cfg" <<END
set PROBE_SOCKET {$work/probe}
set CORTEX_M 1
source {$2}
gdb_port pipe
log_output {$work/openocd.log}
telnet_port disabled
tcl_port disabled
${5-}
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
printf "moved %d\n", \$pc != (long)&_tx_trace_event_insert_impl
delete
tbreak storm_entry
monitor reset halt
maintenance flush register-cache
continue
bt 1
print (long)\$sp > 0x20000000
END
    timeout -k 5 90 gdb-multiarch -nx -q -batch -x "$work/session.gdb" "$1" >"$work/gdb.log" \
        2>&1 </dev/null
    local line
    for line in "reset at $(printf '0x%08x' "$3")" "first at $(printf '0x%08x' "$4")" \
        "next at $(printf '0x%08x' "$4")" 'moved 1' '#0 .*storm_entry' '\$1 = 1'; do
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
    check "GDB: attach, hbreak, continue" gdb_session "$elf" "$config" "$vector" "$insert" \
        'chip.mem configure -gdb-port disabled'
    check "QEMU: another processor" other_processor
    check "RISC-V: starts" serve_riscv
    check "RISC-V: examined, halts, resumes" riscv_examined
    check "RISC-V: memory while the hart runs" riscv_memory
    check "RISC-V: a debug module that is busy" riscv_busy
    check "RISC-V: single steps and registers" riscv_steps
    check "RISC-V: reset and hardware breakpoints" riscv_reset
    check "RISC-V: registers of the debug module" riscv_registers
    check "RISC-V: requests at random" riscv_hostile
    check "RISC-V: GDB attaches, hbreak, continue" gdb_session "$rv64" \
        "$PWD/qemu-tests/probe/riscv.cfg" 0x1000 "$riscv_insert"
    check "RISC-V: other guests are refused" riscv_refused
    check "QEMU: one that runs already" joined
    check "QEMU and the probe end together" end_together
fi
exit $((failed > 0))
