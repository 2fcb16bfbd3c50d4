// SPDX-License-Identifier: MIT
// qemu-tests/images: contexts on AArch64, from the lowest address up.
//   ThreadX without floating point:
//     called:      DAIF, 0, x27 x28, x25 x26 ... x19 x20, x29 x30
//     interrupted: SPSR, ELR, x28 x29, x26 x27 ... x0 x1, x29 x30
//   FreeRTOS (FREERTOS): a flag, the depth of critical sections, q30 q31 ... q0 q1 if the flag is 1
//     as in that of park_called, ELR, SPSR, x30, 0, x28 x29 ... x0 x1
    .section .first, "ax"
    .globl _start
_start:
    ldr x0, =main_stack_end
    mov sp, x0
    mov x29, xzr
    mov x30, xzr
    bl image_main
1:  b 1b

    .text
    .globl run, park_called, park_interrupted
run:
    stp x29, x30, [sp, -96]!
    stp x19, x20, [sp, 16]
    stp x21, x22, [sp, 32]
    stp x23, x24, [sp, 48]
    stp x25, x26, [sp, 64]
    stp x27, x28, [sp, 80]
    ldr x2, =main_sp
    mov x3, sp
    str x3, [x2]
    mov sp, x0
    mov x29, xzr
    mov x30, xzr
    br x1

    .macro save_to_27 // x0 to x27
    stp x0, x1, [sp, -16]!
    stp x2, x3, [sp, -16]!
    stp x4, x5, [sp, -16]!
    stp x6, x7, [sp, -16]!
    stp x8, x9, [sp, -16]!
    stp x10, x11, [sp, -16]!
    stp x12, x13, [sp, -16]!
    stp x14, x15, [sp, -16]!
    stp x16, x17, [sp, -16]!
    stp x18, x19, [sp, -16]!
    stp x20, x21, [sp, -16]!
    stp x22, x23, [sp, -16]!
    stp x24, x25, [sp, -16]!
    stp x26, x27, [sp, -16]!
    .endm

#ifdef FREERTOS
    .macro save_task
    save_to_27
    stp x28, x29, [sp, -16]!
    stp x30, xzr, [sp, -16]!
    mov x1, 4 // EL1, on the stack pointer of EL0
    stp x30, x1, [sp, -16]!
    .endm

park_called:
    save_task
    sub sp, sp, 512
    mov x1, 1
    stp x1, xzr, [sp, -16]!
    b park

park_interrupted:
    save_task
    stp xzr, xzr, [sp, -16]!
#else
park_called:
    stp x29, x30, [sp, -16]!
    stp x19, x20, [sp, -16]!
    stp x21, x22, [sp, -16]!
    stp x23, x24, [sp, -16]!
    stp x25, x26, [sp, -16]!
    stp x27, x28, [sp, -16]!
    mrs x1, daif
    stp x1, xzr, [sp, -16]!
    b park

park_interrupted:
    stp x29, x30, [sp, -16]!
    save_to_27
    stp x28, x29, [sp, -16]!
    mov x1, 5 // EL1, on its own stack pointer
    stp x1, x30, [sp, -16]!
#endif

park:
    mov x2, sp
    str x2, [x0]
    ldr x2, =main_sp
    ldr x3, [x2]
    mov sp, x3
    ldp x19, x20, [sp, 16]
    ldp x21, x22, [sp, 32]
    ldp x23, x24, [sp, 48]
    ldp x25, x26, [sp, 64]
    ldp x27, x28, [sp, 80]
    ldp x29, x30, [sp], 96
    ret

    .bss
    .balign 16
main_sp:
    .skip 16
    .globl main_stack, main_stack_end
main_stack:
    .skip 4096
main_stack_end:
