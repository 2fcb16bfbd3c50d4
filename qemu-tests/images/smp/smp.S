/* SPDX-License-Identifier: MIT
 * qemu-tests/images/smp: the start of both harts, and the switch of threads. In: a reset. Out:
 * smp_hart0 and smp_hart1 on stacks of their own. */

#define FRAME_BYTES 128

.macro for_each_register instruction
    \instruction s11, 1*8(sp)
    \instruction s10, 2*8(sp)
    \instruction s9, 3*8(sp)
    \instruction s8, 4*8(sp)
    \instruction s7, 5*8(sp)
    \instruction s6, 6*8(sp)
    \instruction s5, 7*8(sp)
    \instruction s4, 8*8(sp)
    \instruction s3, 9*8(sp)
    \instruction s2, 10*8(sp)
    \instruction s1, 11*8(sp)
    \instruction s0, 12*8(sp)
    \instruction ra, 13*8(sp)
.endm

    .section .text.start, "ax"
    .globl _start
_start:
    csrw mie, zero
    la t0, smp_trap
    csrw mtvec, t0
    csrr t0, mhartid
    bnez t0, other
    la sp, link_main_stack_end
    la t0, link_bss_start
    la t1, link_bss_end
1:  bgeu t0, t1, 2f
    sd zero, (t0)
    addi t0, t0, 8
    j 1b
2:  call smp_hart0
other:
    la sp, link_idle_stack_end
    call smp_hart1

    .text
    .globl smp_trap
    .balign 4
smp_trap:
    j smp_trap

    .globl smp_switch
smp_switch:
    addi sp, sp, -FRAME_BYTES
    sd zero, (sp)
    for_each_register sd
    csrr t0, mstatus
    sd t0, 14*8(sp)
    sd sp, (a0)
    ld sp, (a1)
    for_each_register ld
    addi sp, sp, FRAME_BYTES
    ret

/* Begins a thread at the address in s0. It has no caller. */
    .globl smp_begin
smp_begin:
    li ra, 0
    jr s0
