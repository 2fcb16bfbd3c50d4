#!/bin/bash
# SPDX-License-Identifier: MIT
# riscv-interrupts.sh: tests what `ringside crash` says of a trap in an interrupt of ThreadX on
# RISC-V: the port has saved its registers on the stack of the system, and a thread has the core.
# The truth is the stack that is written here.
. "$(dirname "$0")/../lib.sh"
cd "$work" || exit 1

cat >program.S <<'S'
    .macro function name
    .balign 4
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    .endm
    .macro finish name
    .cfi_endproc
    .size \name, . - \name
    .endm
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
cat >blocks.c <<'C'
typedef struct TX_THREAD_STRUCT {
    unsigned long tx_thread_id, tx_thread_run_count;
    void *tx_thread_stack_ptr, *tx_thread_stack_start, *tx_thread_stack_end;
    unsigned long tx_thread_stack_size, tx_thread_time_slice, tx_thread_new_time_slice;
    struct TX_THREAD_STRUCT *tx_thread_ready_next, *tx_thread_ready_previous;
    const char *tx_thread_name;
    unsigned tx_thread_priority, tx_thread_state;
    struct TX_THREAD_STRUCT *tx_thread_created_next, *tx_thread_created_previous;
    void (*tx_thread_entry)(void);
} TX_THREAD;
extern void entry(void);
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
TX_THREAD culprit = {0x54485244, 3, stack.free, &stack, (char *)(&stack + 1) - 1, sizeof stack, 0,
    0, &culprit, &culprit, "culprit", 9, 0, &culprit, &culprit, entry};
TX_THREAD *_tx_thread_created_ptr = &culprit, *_tx_thread_current_ptr = &culprit,
    *_tx_thread_execute_ptr = &culprit;
unsigned long _tx_thread_created_count = 1, _tx_thread_system_state = 2;
C
riscv64-unknown-elf-gcc -march=rv64imac -mabi=lp64 -mcmodel=medany -g -ffreestanding -nostdlib \
    -static -Wl,--no-relax -Wl,-Ttext=0x80000000 -Wl,-Tdata=0x80010000 -Wl,-e,trap_entry \
    -o program.elf program.S blocks.c 2>err || { echo "not ok builds: $(head -n 3 err)"; exit 1; }
riscv64-unknown-elf-objcopy -O binary -j .data -j .sdata program.elf ram.bin
at() { # SYMBOL
    printf '0x%x' "0x$(riscv64-unknown-elf-nm program.elf | awk -v n="$1" '$3 == n {print $1}')"
}
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
