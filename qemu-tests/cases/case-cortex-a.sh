#!/bin/bash
# SPDX-License-Identifier: MIT
# A Cortex-A of QEMU and the stock OpenOCD: what its target cortex_a does through ringside-probe,
# and the directory that `ringside crash` of OpenOCD writes when the program dies. The truth is in
# images/parked: deaths.c dies as the variable `death` demands, and park-armv7a.S gives each mode
# its registers.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

elf=$PWD/$firmware/deaths-armv7a.elf
armv7a="qemu-system-arm -M virt -cpu cortex-a15 -nic none -display none -serial null -monitor none \
    -qmp unix:$work/qmp,server=on,wait=off"
symbol() { address_of "$elf" "$1"; }
stack_of() { printf '0x%08x' $(($(symbol mode_stacks) + 64 * $1)); }

# ---- the target ----

counter_at=$(symbol turns)
CORTEX_A=1
check "Cortex-A: starts" serve --qemu "$armv7a -kernel $elf"
[ $failed -eq 0 ] || exit 1
session "Cortex-A" <<END
set stacks {fiq $(stack_of 1) irq $(stack_of 2) svc $(stack_of 3) abt $(stack_of 4)
    und $(stack_of 5)}
set work_at $(symbol work)
set svc_at $(symbol SVC_Handler)
source $PWD/qemu-tests/cases/probe/cortexa.tcl
END
check "Cortex-A: an unknown instruction, and only that, is reported" diff - "$work/probe.log" \
    <<<'ringside-probe: instruction 0xeeff0fff: is not known in Debug state'

# Whatever is requested, the probe and QEMU live, and OpenOCD finds the core as before.
session "Cortex-A, requests at random" <<'END'
expr {srand(1)}
proc any {count} { expr {int(rand() * $count)} }
proc request {offset value} {
    chip.dap apreg 1 0x04 [expr {0x80001000 + $offset}]
    chip.dap apreg 1 0x0c $value
}
for {set i 0} {$i < 300} {incr i} {
    request 0x90 [expr {[any 2] * 3 + 4}]
    request 0x88 [expr {[any 4] << 20 | 0x6000}]
    request 0x80 [any 0x7fffffff]
    request 0x84 [lindex {0xee100e15 0xee000e15 0xecb05e01 0xe12ff000 0xe1a0f000 0xe14f0000
        0xee110f10 0xec510b10 0xe4d01001 0xe12fff10} [any 10]]
    request [expr {4 * [any 1024]}] [any 0x7fffffff]
    chip.dap apreg 1 0x04 [expr {0x80001000 + 4 * [any 1024]}]
    chip.dap apreg 1 0x0c
}
# The core halts; no flag of an error is set, and both directions of the channel are empty.
foreach {offset value} {0x90 5 0x88 0x6000 0x84 0xee100e15} { request $offset $value }
chip.dap apreg 1 0x04 0x8000108c
chip.dap apreg 1 0x0c
END
check "Cortex-A: the probe survives" alive
session "Cortex-A, after them" <<<'targets chip.cpu; halt; reset run; sleep 200; halt
    is "halts" {0 31} [runs] [expr {[value cpsr] & 31}]'

# ---- crashes ----

# OpenOCD with the probe before the image, and what openocd-config prints.
launch() {
    stop_openocd
    serve --qemu "$armv7a -kernel $elf" || return 1
    openocd_before=(-c 'set CORTEX_A 1')
    "$ringside" openocd-config --elf "$elf" |
        sed 's/^ringside init/& -target chip.cpu/' >"$work/ring.cfg"
    start_openocd -s openocd-tcl -f "$work/ring.cfg" -c 'targets chip.cpu'
}
# dies DEATH CONDITION: the directory is the only input of the page.
dies() {
    launch || return 1
    ask poke "$(symbol death)" "$1" >/dev/null && sleep 0.3 || return 1
    tcl halt >/dev/null
    rm -rf "$work/crash"
    says '1 image of RAM$' ringside crash "$work/crash" || return 1
    "$ringside" crash -q --json --elf "$elf" "$work/crash" >"$work/crash.json"
    jq -e "$2" "$work/crash.json" >/dev/null && return 0
    echo "not so: $2"
    jq -c '.cause, .place, .thread, .context, [.frames[].function]' "$work/crash.json"
    return 1
}
line_of() { grep -n -m 1 -F "$1" qemu-tests/images/parked/deaths.c | cut -d: -f1; }
# The page's condition for a cause, its place, and the functions of the stack.
page() { # KIND TEXT CONTEXT LINE FUNCTION...
    printf '.cause.kind == "%s" and .cause.certainty == "certain" and ' "$1"
    printf '(.cause.text | test("%s")) and .context == "%s" and ' "$2" "$3"
    printf '.place.line == %s and .place.function == "%s" and ' "$(line_of "$4")" "$5"
    printf '[.frames[].function] == ["%s", "work", "idle", "image_main", "_start"] and ' "$5"
    printf '.thread.name == "IDLE" and (.threads | length) == 3'
}
# Registers by names and values, as the directory has them.
has_registers() { # NAME=VALUE...
    local pair
    for pair in "$@"; do
        grep -qx "${pair%=*} ${pair#*=}" "$work/crash/registers.txt" ||
            { echo "$pair: $(grep "^${pair%=*} " "$work/crash/registers.txt")"; return 1; }
    done
}
has_banks() {
    local mode
    has_registers r8_fiq=0x000f1008 r12_fiq=0x000f1012 lr_fiq=0x000f0011 lr_irq=0x000f0012 \
        lr_svc=0x000f0013 sp_fiq="$(stack_of 1)" sp_irq="$(stack_of 2)" sp_svc="$(stack_of 3)" \
        sp_abt="$(stack_of 4)" sp_und="$(stack_of 5)" || return 1
    # Status words: the modes are abort and System.
    for mode in "cpsr 0x[0-9a-f]*d7" "spsr_abt 0x[0-9a-f]*df"; do
        grep -qx "$mode" "$work/crash/registers.txt" || { echo "$mode"; return 1; }
    done
}
gdb() {
    timeout -k 5 120 gdb-multiarch -nx -q -batch -ex 'set pagination off' "$@" \
        >"$work/out" 2>&1 </dev/null
}
# In GDB, the exception has the core, and the thread is where it was.
in_gdb() { # FUNCTION GDB-ARGUMENT...
    local function=$1 frames
    shift
    gdb "$@" -ex 'info threads' -ex 'echo frames\n' -ex 'thread 2' -ex bt "$elf"
    frames=$(sed '1,/^frames$/d' "$work/out" |
        sed -n '/^\[/d; s/^#[1-9][0-9]* *0x[0-9a-f]* in \([^ ]*\) .*/\1/p' | xargs)
    grep -q "^\* 1 .*[A-Za-z]*_Handler ()" "$work/out" &&
        grep -q "^  2 .*\"IDLE\".* $function (" "$work/out" &&
        [ "$frames" = "work idle image_main _start" ] || { cat "$work/out"; return 1; }
}
served() {
    in_gdb "$1" -ex "target remote | \"$ringside\" serve -q --elf \"$elf\" \"$work/crash\"" &&
        grep -q '"IDLE" (running, interrupted, priority 0)' "$work/out" &&
        grep -q '"valve" (blocked on queue "pressure", priority 5)' "$work/out" ||
        { cat "$work/out"; return 1; }
}
cored() {
    rm -f "$work"/core*
    "$ringside" core -q --elf "$elf" "$work/crash" -o "$work/core" || return 1
    in_gdb "$1" -ex 'set osabi GNU/Linux' -ex "file $elf" -ex "core-file $work/core" \
        -x "$work/core.gdb" || return 1
    "$ringside" crash -q --json --elf "$elf" "$work/core" >"$work/again.json"
    diff <(jq -S . "$work/crash.json") <(jq -S . "$work/again.json")
}

# The same page from the live target.
live() {
    "$ringside" crash -q --json --elf "$elf" --openocd "$tcl_port" --target chip.cpu \
        >"$work/live.json" 2>"$work/err"
    diff <(jq -S . "$work/crash.json") <(jq -S . "$work/live.json")
}

# ... and from a core of it, which has the registers of banks that the page needs.
live_core() {
    rm -f "$work"/live.core*
    "$ringside" core -q --elf "$elf" --openocd "$tcl_port" --target chip.cpu -o "$work/live.core" &&
        "$ringside" crash -q --json --elf "$elf" "$work/live.core" >"$work/live.json" 2>"$work/err"
    diff <(jq -S . "$work/crash.json") <(jq -S . "$work/live.json")
}
# ... and from QEMU, which shows other registers than OpenOCD.
qemu_core() {
    start='' boot "$elf" 'virt -cpu cortex-a15 -nic none' || return 1
    gdb -ex "target remote $socket" -ex "set var death = $1" -ex "break $2" -ex continue \
        -ex disconnect "$elf"
    rm -f "$work"/live.core*
    "$ringside" crash -q --json --elf "$elf" --remote "$socket" >"$work/live.json" 2>"$work/err" &&
        "$ringside" core -q --elf "$elf" --remote "$socket" -o "$work/live.core" || return 1
    jq -e '.cause.kind == "bus fault" and (.cause.text | test("0x00000808")) and
        .thread.name == "IDLE"' "$work/live.json" >/dev/null ||
        { jq -c . "$work/live.json"; return 1; }
    "$ringside" crash -q --json --elf "$elf" "$work/live.core" >"$work/again.json" 2>"$work/err"
    diff <(jq -S . "$work/live.json") <(jq -S . "$work/again.json")
}

check "a bad pointer: the page of the directory" dies 1 "$(page "bus fault" \
    'written: .*0xcccccccc .DFSR 0x00000808' 'data abort' '*at = 1;' store_sample)"
check "... registers of all banks" has_banks
check "... and of the fault" has_registers dfsr=0x00000808 dfar=0xcccccccc ifsr=0x00000000 \
    ifar=0x00000000 vbar=0x"$(printf '%08x' "$(symbol vectors)")"
check "... and the same page from the live target" live
check "... and from a core of the live target" live_core
check "... its thread in GDB" served store_sample
check "... and in a core" cored store_sample
check "a call through a wrong pointer: the page of the directory" dies 2 "$(page "bus fault" \
    'fetched: .*0xdead0000 .IFSR 0x00000008' 'prefetch abort' 'handler();' call_handler) and
    (.findings | any(.kind == \"bad call\"))"
check "... registers of the fault" has_registers ifsr=0x00000008 ifar=0xdead0000 dfsr=0x00000000
check "an illegal instruction in Thumb code: the page of the directory" dies 3 \
    "$(page "illegal instruction" undefined 'undefined instruction' 'udf 0' execute_garbage)"
check "... its thread in GDB" served execute_garbage
check "... and in a core" cored execute_garbage

# A breakpoint in the handler: the directory is written once, however often the core halts there.
by_itself() {
    launch || return 1
    says 'dumps to ' ringside autocrash on "$work/crashes" || return 1
    tcl "poll on; halt; bp $(symbol DataAbort_Handler) 4 hw; mww $(symbol death) 1; resume" \
        >/dev/null
    wait_for 30 test -e "$work/crashes/crash-0001/manifest.txt" ||
        { tail -n 5 "$work/openocd.log"; return 1; }
    grep -q '^reason: halted in a fault handler, pc' "$work/crashes/crash-0001/manifest.txt" &&
        grep -qx 'dfar 0xcccccccc' "$work/crashes/crash-0001/registers.txt" || return 1
    tcl step >/dev/null
    sleep 0.3
    [ ! -e "$work/crashes/crash-0002" ]
}
check "a crash is dumped by itself" by_itself
says_no_ring() {
    says 'has named no ring, only RAM; use ringside crash' ringside snapshot "$work/none.trx" &&
        says 'has named no ring, only RAM' ringside info
}
check "firmware without a trace has no ring" says_no_ring
stop_openocd
check "a bad pointer in QEMU: the same page from a core" qemu_core 1 DataAbort_Handler
exit $((failed > 0))
