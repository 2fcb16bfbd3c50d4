// SPDX-License-Identifier: MIT
// qemu-tests/images: contexts of ThreadX on a Cortex-M33, from the lowest address up: EXC_RETURN,
// r4 to r11, r0 to r3, r12, lr, pc, xpsr. That of park_called returns to the process stack of the
// secure side, that of park_interrupted to the one of the other side.
    .syntax unified
    .thumb
    .section .first, "ax"
    .word main_stack_end
    .word _start + 1
    .globl _start
    .thumb_func
_start:
    bl image_main
1:  b 1b

    .text
    .globl run, park_called, park_interrupted
    .thumb_func
run:
    push {r4-r11, lr}
    ldr r2, =main_sp
    str sp, [r2]
    mov sp, r0
    mov lr, 0
    bx r1

    .thumb_func
park_called:
    mvn r1, 2 // 0xfffffffd
    b park

    .thumb_func
park_interrupted:
    mvn r1, 0x43 // 0xffffffbc

park:
    sub sp, 32
    stm sp, {r0-r3}
    str r12, [sp, 16]
    str lr, [sp, 20]
    str lr, [sp, 24]
    mov r3, 0x01000000
    str r3, [sp, 28]
    push {r4-r11}
    push {r1}
    str sp, [r0]
    ldr r2, =main_sp
    ldr sp, [r2]
    pop {r4-r11, pc}

    .bss
    .balign 16
main_sp:
    .skip 16
    .skip 2048
main_stack_end:
