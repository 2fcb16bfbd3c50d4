// SPDX-License-Identifier: MIT
// qemu-tests/images: contexts on Arm's M-profile, from the lowest address up.
//   ThreadX on Armv8-M (THREADX): EXC_RETURN, r4 to r11, r0 to r3, r12, lr, pc, xpsr. That of
//     park_called returns to the process stack of the secure side, that of park_interrupted to the
//     one of the other side.
//   FreeRTOS on Armv8-M (WITH_LIMIT): the address of a secure context, if there is a secure side
//     (WITH_SECURE); the limit of the stack, EXC_RETURN, r4 to r11; s16 to s31, as in that of
//     park_called; r0 to r3, r12, lr, pc, xpsr; s0 to s15, fpscr and a word, as in the same. s0 to
//     s31 hold 1 to 32, fpscr 17.
//   FreeRTOS on others: r4 to r11; EXC_RETURN, on cores with an FPU (WITH_RETURN); r0 to r3, r12,
//     lr, pc, xpsr. In that of park_interrupted, the stack was not aligned to 8 bytes, and the
//     frame has a word more.
    .syntax unified
    .thumb
#include "run-arm.S"
// Pushes the numbers from `first` down to `last`.
    .macro push_down first, last
    mov r3, \first
1:  push {r3}
    sub r3, 1
    cmp r3, \last
    bge 1b
    .endm

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
    begin_run

    .thumb_func
park_called:
#ifdef WITH_LIMIT
    mvn r2, 0x53 // 0xffffffac
    push_down 18, 1
#else
    mvn r2, 2 // 0xfffffffd
#endif
    mov r1, 0x01000000
    b park

    .thumb_func
park_interrupted:
    mov r1, 0x01000000
#if defined THREADX || defined WITH_LIMIT
    mvn r2, 0x43 // 0xffffffbc
#else
    mvn r2, 2
    orr r1, 0x200
    sub sp, 4
#endif

park:
    sub sp, 32
    stm sp, {r0-r3}
    str r12, [sp, 16]
    str lr, [sp, 20]
    str lr, [sp, 24]
    str r1, [sp, 28]
#ifdef WITH_RETURN
    push {r2}
#endif
#ifdef WITH_LIMIT
    tst r2, 0x10
    bne 2f
    push_down 32, 17
2:
#endif
    push {r4-r11}
#if defined THREADX || defined WITH_LIMIT
    push {r2}
#endif
#ifdef WITH_LIMIT
    ldr r1, [r0, LIMIT_AT]
    push {r1}
#endif
#ifdef WITH_SECURE
    mov r1, 0
    push {r1}
#endif
    end_run

    .bss
    .balign 16
    define_main_stack
