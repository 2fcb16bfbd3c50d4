#!/bin/bash
# SPDX-License-Identifier: MIT
# arm-stacks.sh: tests what `ringside crash` says of a fault of an Arm core of A-profile whose
# debugger shows the registers of one mode only, as QEMU does: sp and lr of the thread are found on
# its stack, by the calls of the program. The control blocks are those of ThreadX, as far as they
# are read. The truth is the stack that is written here.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=../assembly.sh
. "$(dirname "$0")/../assembly.sh"
cd "$work" || exit 1

# `entry` calls `middle`, which calls a pointer (r2), `leaf`, and `push`, which saves lr. `service`
# is called by the handler of interrupts.
{
    arm_program
    cat <<'S'
    function entry
    push {r4, r5, r6, lr}
    save 16
    bl middle
    .globl after_middle
after_middle:
    pop {r4, r5, r6, pc}
    finish entry
    function middle
    push {r4, lr}
    save 8
    blx r2
after_pointer:
    bl leaf
    bl pushes
    .globl after_pushes
after_pushes:
    pop {r4, pc}
    finish middle
    function leaf
    sub sp, sp, 8
    .cfi_def_cfa_offset 8
    .globl in_leaf
in_leaf:
    str r0, [r1]
    add sp, sp, 8
    bx lr
    finish leaf
    function pushes
    push {r4, lr}
    save 8
    .globl in_pushes
in_pushes:
    str r0, [r1]
    pop {r4, pc}
    finish pushes
    function service
    push {r4, lr}
    save 8
    blx r2
    pop {r4, pc}
    finish service
    function dispatch
    push {r4, lr}
    save 8
    bl service
    .globl after_service
after_service:
    bl leaf
    pop {r4, pc}
    finish dispatch
    .globl irq_handler
    .type irq_handler, %function
irq_handler:
    bl dispatch
    .globl after_dispatch
after_dispatch:
    b .
    .size irq_handler, . - irq_handler
S
} >program.S
{
    threadx_blocks
    cat <<'C'
extern char after_entry, after_middle, after_pushes, _tx_thread_schedule, after_service,
    after_dispatch;
#define EMPTY 0xEFEFEFEF
/* From the top: shell, entry, middle; `deep`: pushes, too. r4 of each is a number. */
struct {
    unsigned free[20];
    unsigned pushes_r4;
    void *pushes_lr;
    unsigned middle_r4;
    void *middle_lr;
    unsigned entry_r4, entry_r5, entry_r6;
    void *entry_lr;
    unsigned shell_r4;
    void *shell_lr;
    unsigned top[2];
} stack = {{[0 ... 19] = EMPTY}, EMPTY, (void *)EMPTY, 4, &after_middle, 5, 6, 7, &after_entry,
    8, &_tx_thread_schedule, {0, EMPTY}};
/* Of interrupts: dispatch and service. */
struct {
    unsigned free[20];
    unsigned service_r4;
    void *service_lr;
    unsigned dispatch_r4;
    void *dispatch_lr;
    unsigned top[4];
} irq_stack = {{0}, 4, &after_service, 5, &after_dispatch, {0}};
unsigned abort_stack[8];
TX_THREAD culprit = CULPRIT(stack.free, stack);
unsigned _tx_thread_system_state;
C
} >blocks.c
arm_build
poke() { # SYMBOL OFFSET VALUE: changes a word of a copy
    local i
    for ((i = 0; i < 4; i++)); do
        printf "\\$(printf '%03o' $(($3 >> 8 * i & 255)))"
    done | dd of=now.bin bs=1 seek=$(($(at "$1") + $2 - 0x20000)) conv=notrunc status=none
}
# page PC LR: the page of a core at the start of the handler at PC.
page() {
    arm_page "$1" "$2" 'r0 16' 'r1 0xcccc' 'r2 0' 'r3 3' 'r4 4' 'ifar 0'
}
fault='.cause.kind == "memory fault" and .cause.certainty == "likely" and .thread.name == "culprit"'

cp ram.bin now.bin
page prefetch 0x4
page_says 'a call through NULL' "$fault and .context == \"prefetch abort\" and
    .place.function == \"middle\" and .place.certainty == \"likely\" and
    $(frames middle entry shell) and (.findings | any(.kind == \"stack pointer\"))"
page data "$(($(at in_leaf) + 8))"
page_says 'a function that has not saved lr' "$fault and .place.function == \"leaf\" and
    $(frames leaf middle entry shell)"
poke stack 80 4
poke stack 84 "$(at after_pushes)"
page data "$(($(at in_pushes) + 8))"
page_says 'a function that has saved lr' "$fault and .place.function == \"pushes\" and
    $(frames pushes middle entry shell)"
# Without the return address of `middle`, nothing shows who called the address.
poke stack 92 0
page prefetch 0x4
page_says 'a damaged stack: what is missing is named' "$fault and .place.function == null and
    (.findings | any(.kind == \"unknown caller\" and (.text | test(\"lr_svc or lr_usr\"))))"
page data "$(($(at in_pushes) + 8))"
page_says '... and the place of an access is known' "$fault and .place.function == \"pushes\" and
    (.findings | any(.kind == \"stack pointer\") | not)"
# A copy of the chain does not lead to the end of the stack.
cp ram.bin now.bin
from=$(($(at stack) - 0x20000 + 88))
for i in 0 1 2 3 4 5 6 7; do
    poke stack $((4 * i + 8)) "$(od -An -tu4 -j $((from + 4 * i)) -N4 ram.bin | tr -d ' ')"
done
page prefetch 0x4
page_says 'another frame, which leads to no end' "$fault and $(frames middle entry shell)"

# In an interrupt, which the kernel counts. The handler is of assembly language without rules for
# its frame: there, the chain ends.
cp ram.bin now.bin
poke _tx_thread_system_state 0 1
page data "$(($(at in_leaf) + 8))"
page_says 'a function that the one that the handler calls has called' '.place.function == "leaf" and
    .context == "interrupt, then data abort" and
    [.frames[].function][:3] == ["leaf", "dispatch", "irq_handler"]'
page prefetch 0x4
page_says 'a call through NULL in an interrupt' '.cause.kind == "memory fault" and
    .context == "interrupt, then prefetch abort" and .place.function == "service" and
    [.frames[].function][:3] == ["service", "dispatch", "irq_handler"]'
finish
