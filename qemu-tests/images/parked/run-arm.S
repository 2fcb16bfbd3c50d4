// SPDX-License-Identifier: MIT
// qemu-tests/images: what park-arm.S and park-armv7a.S share; they include it.

// run() of parked.c, and its end after a context was saved: `park` ends with it.
    .macro begin_run
    push {r4-r11, lr}
    ldr r2, =main_sp
    str sp, [r2]
    mov sp, r0
    mov lr, 0
    bx r1
    .endm

    .macro end_run
    str sp, [r0]
    ldr r2, =main_sp
    ldr sp, [r2]
    pop {r4-r11, pc}
    .endm

// The stack of image_main(). A stack that ends before it is next to it.
    .macro define_main_stack
    .globl main_stack, main_stack_end
main_stack:
    .skip 2048
main_stack_end:
main_sp:
    .skip 16
    .endm
