#!/bin/bash
# SPDX-License-Identifier: MIT
# ringside-probe between the stock OpenOCD and a guest in QEMU. What is read is compared with what
# QEMU reports over a second monitor, and with the symbols and the vectors of the ELF file.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

parts=$PWD/qemu-tests/cases/probe
elf=$PWD/$firmware/storm-cortex-m3.elf
rv64=$PWD/$firmware/storm-rv64.elf
# The probe has no part in the monitor at $work/qmp.
quiet="-display none -serial null -monitor none -qmp unix:$work/qmp,server=on,wait=off"
arm_qemu="qemu-system-arm -M mps2-an385 $quiet -kernel $elf"
riscv_qemu="qemu-system-riscv64 -M virt -bios none $quiet -kernel $rv64"
serve_arm() { serve --qemu "$arm_qemu"; }

function_at() { printf '0x%08x' $(($(address_of "$1" "$2") & ~1)); } # bit 0 marks Thumb code
insert=$(function_at "$elf" _tx_trace_event_insert_impl)
riscv_insert=$(function_at "$rv64" _tx_trace_event_insert_impl)
# The image begins with the vector table: stack, reset, NMI, hard fault.
read -r stack reset _ hard_fault < <(od -An -v -tx4 -N 16 \
    -j $(($(LC_ALL=C readelf -lW "$elf" | awk '$1 == "LOAD" {print $2; exit}'))) "$elf")
reset=$(printf '0x%08x' $((0x$reset & ~1)))

counter_at=$(address_of "$elf" storm_produced)
check "Cortex-M: starts" serve_arm
[ $failed -eq 0 ] || exit 1
session "Cortex-M, memory" <<'END'
is "runs" 1 [runs]
set first [counter]
dump_image /dev/null 0x20000000 65536
is "64 KiB are read while it runs" "1 1" [expr {[counter] > $first}] [runs]
write_memory 0x20300000 32 {0x11223344 2}
write_memory 0x20300001 8 {0xaa}
write_memory 0x20300006 16 {0xbbcc}
is "writes of all widths" {0x1122aa44 0xbbcc0002} [words 0x20300000 2]
is "the processor's identification" 0x410fc231 [words 0xe000ed00 1]
is "its debug components" 1 [regexp {MEM-AP BASE 0xe00ff003} [chip.dap info]]
is "still runs" 1 [runs]

ask stop
is "stop: does not run" 0 [runs]
is_as_in_qemu "stop: 64 KiB" 0x20000000 65536
write_memory 0x20300000 32 {0x55667788}
is "stop: a word is written" 0x55667788 [words 0x20300000 1]
is_as_in_qemu "stop: its bytes" 0x20300000 4
qmp {"execute": "cont"}
is "moves when QEMU continues it" 1 [moves]

# QEMU has a stand-in for a device at the second address.
foreach {address fails} {0x30000000 1 0x20800000 1 0xfffffffc 1 0x20000000 0} {
    is "a read of $address" $fails [catch {words $address 1}]
}
is "a write of what is not mapped" failed [try {write_memory 0x30000000 32 1}]

# The guest runs only for four milliseconds after every 64 beats: two reads of a word agree within
# 64 beats, and the guest moves between them (not always: the host may give it no time).
ask tear run 64 4000
is "tear: does not run" 0 [runs]
set moved 0
set before [counter]
for {set i 0} {$i < 256} {incr i} {
    set now [counter]
    incr moved [expr {$now != $before}]
    set before $now
}
is "tear: moves between beats" 1 [expr {$moved >= 2 && $moved <= 4}]
ask tear off
is "tear off: runs" 1 [runs]

set before [counter]
ask stop
ask reset
is "reset while it is stopped: does not run" 0 [runs]
ask cont
after 20
is "reset: counts from 0 again" "1 1" [expr {[counter] < $before}] [runs]
END

# GDB on OpenOCD's standard input and output, so that no port is taken.
debugged_by_gdb() { # ELF RESET-PC INSERT [OPENOCD-COMMAND]
    local said name=${1##*/}
    timeout -k 5 240 gdb-multiarch -nx -q -batch -ex 'set confirm off' -ex 'set remotetimeout 20' \
        -ex "target extended-remote | openocd -c 'set PROBE_SOCKET $work/probe; set CORTEX_M 1' \
            -f $config -c 'gdb_port pipe; telnet_port disabled; tcl_port disabled' \
            -c 'log_output $work/openocd.log; ${4-}'" \
        -x "$parts/debugged.gdb" "$1" >"$work/gdb.log" 2>&1 </dev/null
    for said in "reset at $2" "first at $3" "next at $3" 'moved 1' '#0 .*storm_entry' 'stack 1'; do
        check "GDB, $name: $said" grep "^$said" "$work/gdb.log"
    done
}

CORTEX_M=1
session "Cortex-M" <<END
source $parts/debugged.tcl
debugged $reset $insert 0x20300000 r0 41 r1 1 5 {0x3001 0x3101 0xbf00 0x4408 0xe7fe}
END
session "Cortex-M, exceptions" <<END
targets chip.cpu
foreach i {1 2 3} {
    reset halt
    is "reset halt \$i: stack and link register" {0x$stack 0xffffffff} [at sp] [at lr]
    resume
}
halt
cortex_m vector_catch hard_err
write_memory 0x20300000 16 {0xdeff 0xe7fe}
reg pc 0x20300000
resume
wait_halt 5000
is "vector catch" "3 [expr {0x$hard_fault & ~1}]" [expr {[value xPSR] & 0x1ff}] [value pc]
END
session "Cortex-M, halted before" <<'END'
source openocd-tcl/ringside.tcl
is "before the first poll" 1 [_ringside_is_halted chip.cpu]
END
check "Cortex-M, never halted: starts" serve_arm
session "Cortex-M, never halted" <<END
targets chip.cpu
cortex_m vector_catch hard_err
is "runs" {1 running} [runs] [state]
write_memory $insert 16 {0xdeff}
wait_halt 5000
is "vector catch" {3 0} [expr {[value xPSR] & 0x1ff}] [runs]
END
debugged_by_gdb "$elf" "$reset" "$insert" 'chip.mem configure -gdb-port disabled'

# A QEMU that runs already keeps running when the probe ends.
stop_probe
$arm_qemu -qtest-log /dev/null -qtest "unix:$work/qtest,server=on,wait=off" \
    -qmp "unix:$work/qmp2,server=on,wait=off" -gdb "unix:$work/gdb,server=on,wait=off" \
    >"$work/qemu.log" 2>&1 </dev/null &
qemu_pid=$!
check "joined: QEMU starts" wait_for 5 test -S "$work/gdb"
check "joined: starts" serve --qtest "$work/qtest" --qmp "$work/qmp2" --gdbstub "$work/gdb"
session "joined" <<<'targets chip.cpu; halt; is "halt" 0 [runs]; resume; is "resume" 1 [runs]'
stop_probe
check "joined: QEMU survives the probe" kill -0 "$qemu_pid"
stop_qemu

# Whatever way the probe ends, QEMU ends with it; and the probe ends with QEMU.
has_ended() { ! grep -q '^State:.*[SRD] ' "/proc/$1/status"; }
for signal in TERM KILL; do
    check "SIG$signal to the probe: starts" serve_arm
    guest=$(pgrep -P "$probe_pid")
    { kill -$signal "$probe_pid"; wait "$probe_pid"; } 2>/dev/null
    check "SIG$signal to the probe: QEMU ends" wait_for 5 has_ended "${guest:?}"
done
check "SIGKILL to QEMU: starts" serve_arm
kill -KILL "$(pgrep -P "$probe_pid")"
wait "$probe_pid"
check "SIGKILL to QEMU: exit status 2" [ $? -eq 2 ]
check "SIGKILL to QEMU: the message" grep QEMU "$work/probe.log"
check "SIGKILL to QEMU: no socket is left" [ ! -e "$work/probe" ]

# Another processor has no registers of a Cortex-M; its RAM lies above 2 GiB.
counter_at=0x0200bff8 # mtime
check "other processor: starts" serve --qemu "$riscv_qemu"
CORTEX_M=0 session "other processor" <<'END'
is "runs" 1 [moves]
is "its RAM" 1 [expr {[words 0x80000000 1] != 0}]
is "no debug registers" failed [try {words 0xe000edf0 1}]
END

check "RISC-V: another guest is refused" \
    refused 'no RISC-V' --socket "$work/other" --tap riscv --qemu "$arm_qemu"
config=$PWD/qemu-tests/probe/riscv.cfg
check "RISC-V: starts" serve --tap riscv --qemu "$riscv_qemu"
session "RISC-V" <<END
source $parts/debugged.tcl
debugged 0x00001000 $riscv_insert 0x80700000 a0 0x1122334455667787 a1 2 1 \
    {0x0505 0x0589 0x0001 0x952e 0xa001}
END
check "RISC-V: 64 bits" grep 'XLEN=64' "$work/openocd.log"

session "RISC-V, memory" <<'END'
write_memory 0x80700000 64 {0x1122334455667788 0x99}
write_memory 0x80700001 8 {0xaa 0xbb}
write_memory 0x80700006 16 {0xcc}
foreach {name expected command} {
    "not mapped"          failed                  {words 0x18000000 2}
    "after it"            {0xcc3344 0x99}         {words 0x80700004 2}
    "above 4 GiB"         failed                  {words 0x400000000 2}
    "after that"          {0x55bbaa88 0xcc3344}   {words 0x80700000 2}
    "write, not mapped"   failed                  {write_memory 0x18000000 32 1}
    "64 bits"             {0xcc334455bbaa88 0x99} {read_memory 0x80700000 64 2}
    "8 bits"              {0x88 0xaa 0xbb}        {read_memory 0x80700000 8 3}
    "a fault is set"      {}                      {ask fault 0x80700008 1}
    "a block with it"     failed                  {words 0x80700000 4}
    "no fault is set"     {}                      {ask fault clear}
    "runs"                {1 running}             {list [runs] [state]}
    "a busy debug module" {}                      {ask wait 7}
    "busy: 64 bits"       {0xcc334455bbaa88 0x99} {read_memory 0x80700000 64 2}
    "busy: halt"          {}                      {halt}
    "busy: a register"    1                       {expr {[value sp] > 0x80000000}}
    "busy: resume"        {}                      {resume}
    "busy: moves"         1                       {moves}
    "no longer busy"      {}                      {ask wait 0}
    "it was busy"         1                       {regexp {waits=[1-9]} [ask counters]}
} {
    is $name $expected [try $command]
}
is_as_in_qemu "4 KiB while it runs" 0x80000000 4096
END

session "RISC-V, registers" <"$parts/riscv-registers.tcl"

# Whatever is requested, the probe and QEMU live, and OpenOCD finds the hart as before.
session "RISC-V, requests at random" <<'END'
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
check "RISC-V: the probe survives" alive
session "RISC-V, after them" <<<'reset halt; is "reset halt" {0x00001000 0} [at pc] [runs]'
debugged_by_gdb "$rv64" 0x00001000 "$riscv_insert"
exit $((failed > 0))
