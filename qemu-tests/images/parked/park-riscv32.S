// SPDX-License-Identifier: MIT
// qemu-tests/images: contexts of ThreadX on RV32 without floating point, from the lowest address
// up.
//   called:      0, s11 to s0, ra, mstatus, one word of alignment
//   interrupted: 1, s11 to s0, t6 to t3, t2 to t0, a7 to a0, ra, one word, pc, mstatus
    .section .first, "ax"
    .globl _start
_start:
    la sp, main_stack_end
    li ra, 0
    call image_main
1:  j 1b

    .text
    .globl run, park_called, park_interrupted
run:
    addi sp, sp, -64
    sw ra, 0(sp)
    sw s0, 4(sp)
    sw s1, 8(sp)
    sw s2, 12(sp)
    sw s3, 16(sp)
    sw s4, 20(sp)
    sw s5, 24(sp)
    sw s6, 28(sp)
    sw s7, 32(sp)
    sw s8, 36(sp)
    sw s9, 40(sp)
    sw s10, 44(sp)
    sw s11, 48(sp)
    la t0, main_sp
    sw sp, 0(t0)
    mv sp, a0
    li ra, 0
    jr a1

    .macro save_callee
    sw s11, 4(sp)
    sw s10, 8(sp)
    sw s9, 12(sp)
    sw s8, 16(sp)
    sw s7, 20(sp)
    sw s6, 24(sp)
    sw s5, 28(sp)
    sw s4, 32(sp)
    sw s3, 36(sp)
    sw s2, 40(sp)
    sw s1, 44(sp)
    sw s0, 48(sp)
    .endm

park_called:
    addi sp, sp, -64
    sw zero, 0(sp)
    save_callee
    sw ra, 52(sp)
    csrr t0, mstatus
    sw t0, 56(sp)
    j park

park_interrupted:
    addi sp, sp, -128
    sw t0, 76(sp)
    li t0, 1
    sw t0, 0(sp)
    save_callee
    sw t6, 52(sp)
    sw t5, 56(sp)
    sw t4, 60(sp)
    sw t3, 64(sp)
    sw t2, 68(sp)
    sw t1, 72(sp)
    sw a7, 80(sp)
    sw a6, 84(sp)
    sw a5, 88(sp)
    sw a4, 92(sp)
    sw a3, 96(sp)
    sw a2, 100(sp)
    sw a1, 104(sp)
    sw a0, 108(sp)
    sw ra, 112(sp)
    sw ra, 120(sp)
    csrr t0, mstatus
    sw t0, 124(sp)

park:
    sw sp, 0(a0)
    la t0, main_sp
    lw sp, 0(t0)
    lw ra, 0(sp)
    lw s0, 4(sp)
    lw s1, 8(sp)
    lw s2, 12(sp)
    lw s3, 16(sp)
    lw s4, 20(sp)
    lw s5, 24(sp)
    lw s6, 28(sp)
    lw s7, 32(sp)
    lw s8, 36(sp)
    lw s9, 40(sp)
    lw s10, 44(sp)
    lw s11, 48(sp)
    addi sp, sp, 64
    ret

    .bss
    .balign 16
main_sp:
    .skip 16
    .skip 2048
main_stack_end:
