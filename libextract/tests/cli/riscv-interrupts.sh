#!/bin/bash
# SPDX-License-Identifier: MIT
# riscv-interrupts.sh: tests what `ringside crash` says of a trap in an interrupt of ThreadX on
# RISC-V: the port has saved its registers on the stack of the system, and a thread has the core.
# The truth is the stack that is written here.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../assembly.sh
. "$(dirname "$0")/../assembly.sh"
cd "$work" || exit 1

{
    function_macros
    cat <<'S'
    .macro enter
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    sd ra, 8(sp)
    .cfi_offset ra, -8
    .endm
    .text
    .globl trap_entry, after_handler
    .type trap_entry, @function
trap_entry:
    call trap_handler
after_handler:
    j .
    .size trap_entry, . - trap_entry
    function trap_handler
    .globl in_handler
in_handler:
    j .
    finish trap_handler
    function service
    enter
    jalr a5
    .globl after_call
after_call:
    j .
    finish service
    function dispatch
    enter
    call service
    .globl after_service
after_service:
    j .
    finish dispatch
    function shell
    enter
    jalr a5
    .globl after_entry
after_entry:
    j .
    finish shell
    function entry
    enter
    j .
    finish entry
S
} >program.S
{
    threadx_blocks
    cat <<'C'
extern char after_call, after_service, after_entry, after_handler;
/* The stack of a thread that has called its entry function: zeros below, as in new memory. */
struct {
    unsigned long free[100], pad, lr, end[2];
} stack = {{0}, 0, (unsigned long)&after_entry, {0}};
/* Of the system: the frame of the trap (32 words), service, dispatch. */
struct {
    unsigned long free[20], handler[2], frame[32], pad, service_ra, more, dispatch_ra, end[4];
} system = {{0}, {0}, {[22] = 0 /* a5 */, [28] = (unsigned long)&after_call, [30] = 0}, 0,
    (unsigned long)&after_service, 0, (unsigned long)&after_handler, {0}};
TX_THREAD culprit = CULPRIT(stack.free, stack);
unsigned long _tx_thread_system_state = 2;
C
} >blocks.c
riscv64-unknown-elf-gcc -march=rv64imac -mabi=lp64 -mcmodel=medany -g -ffreestanding -nostdlib \
    -static -Wl,--no-relax -Wl,-Ttext=0x80000000 -Wl,-Tdata=0x80010000 -Wl,-e,trap_entry \
    -o program.elf program.S blocks.c 2>err || { echo "not ok builds: $(head -n 3 err)"; exit 1; }
riscv64-unknown-elf-objcopy -O binary -j .data -j .sdata program.elf ram.bin
tools=riscv64-unknown-elf-
from=$(LC_ALL=C readelf -SW program.elf | awk '$2 == ".data" {print "0x" $4}
    $3 == ".data" {print "0x" $5}')
printf '%s\n' "pc $(at in_handler)" "ra $(at after_handler)" "sp $(($(at system) + 160))" 's0 0' \
    'mcause 1' 'mepc 0' 'mtval 0' 'mstatus 0x1880' >registers.txt
run crash -q --json --elf program.elf --registers registers.txt "ram.bin@$from"
if jq -e '.cause.kind == "memory fault" and .context == "interrupt, then trap" and
    .place.function == "service" and .place.certainty == "certain" and
    [.frames[].function] == ["service", "dispatch", "trap_entry"] and
    .thread.name == "culprit" and (.findings | any(.kind == "bad call")) and
    (.findings | any(.kind == "other program") | not)' out >json 2>&1; then
    ok "a call through NULL in an interrupt"
else
    fail "a call through NULL in an interrupt" "$(jq -c '[.cause.kind, .context, .place, .thread,
        [.frames[].function], [.findings[].text]]' out)$(head -n 3 err)"
fi
# Without what shows where the call was, nothing is made up from the stack of the thread.
sed -i "s/^ra .*/ra 0/; s/^sp .*/sp $(($(at system) + 8))/" registers.txt
run crash -q --json --elf program.elf --registers registers.txt "ram.bin@$from"
if jq -e '.cause.kind == "memory fault" and .place.function == null and
    (.findings | any(.kind == "other program") | not)' out >json 2>&1; then
    ok "... and without its frame"
else
    fail "... and without its frame" "$(jq -c '[.cause.kind, .place, [.findings[].text]]' out)"
fi
finish
