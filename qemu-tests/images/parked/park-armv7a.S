// SPDX-License-Identifier: MIT
// qemu-tests/images: contexts of FreeRTOS on Arm's A-profile, from the lowest address up: with an
// FPU (WITH_FLAG) a flag, then fpscr and d31 to d0 if it is 1 as in that of park_called; the depth
// of critical sections, r0 to r12, lr, pc, status.
// Each mode has a stack of its own. The handler of an exception stays where it begins.
    .syntax unified
    .arm
    .macro start_mode mode, number
    cps \mode
    ldr sp, =mode_stacks + \number * 64
    ldr lr, =0xF0000 + \mode
    .endm
#include "run-arm.S"
    .section .first, "ax"
    .globl _start
_start:
    ldr r0, =vectors
    mcr p15, 0, r0, c12, c0, 0 // VBAR
    start_mode 0x11, 1 // FIQ, which has r8 to r12, too
    ldr r8, =0xF1008
    ldr r12, =0xF1012
    start_mode 0x12, 2 // IRQ
    start_mode 0x13, 3 // supervisor
    start_mode 0x17, 4 // abort
    start_mode 0x1B, 5 // undefined
    cps 0x1F
    ldr sp, =main_stack_end
    mov r11, 0
    bl image_main
1:  b 1b

    .balign 32
vectors:
    b _start
    .irp name, Undefined, SVC, PrefetchAbort, DataAbort, Unused, IRQ, FIQ
    b \name\()_Handler
    .endr
    .irp name, Undefined, SVC, PrefetchAbort, DataAbort, Unused, IRQ, FIQ
    .type \name\()_Handler, %function
\name\()_Handler:
    b \name\()_Handler
    .size \name\()_Handler, . - \name\()_Handler
    .endr

    .text
    .globl run, park_called, park_interrupted
run:
    begin_run

    .macro save_task
    sub sp, 8
    str lr, [sp]
    mrs r1, cpsr
    str r1, [sp, 4]
    push {r0-r12, lr}
    mov r1, 0
    push {r1}
    .endm

park_called:
    save_task
#ifdef WITH_FLAG
    sub sp, 260
    mov r1, 1
    push {r1}
#endif
    b park

park_interrupted:
    save_task
#ifdef WITH_FLAG
    push {r1}
#endif

park:
    end_run

    .bss
#ifdef WITH_FLAG
    .globl ulPortTaskHasFPUContext
ulPortTaskHasFPUContext:
    .skip 4
#endif
    .balign 16
mode_stacks:
    .skip 5 * 64
    define_main_stack
