/* SPDX-License-Identifier: MIT
 * qemu-tests/ports/rv64: from reset to image_main, and the trap entry. In: a reset, a trap. Out:
 * initialized memory; the hart with the registers of whoever bout_port_trap chose.
 * Follows the RISC-V Unprivileged ISA, ABI register names, and Privileged Architecture 1.12. */

/* A context: mepc, mstatus, then x1 and x3 to x31. port.c builds the first one of a thread. */
#define CONTEXT_BYTES 256

.macro for_each_register instruction
    \instruction x1, 2*8(sp)
    \instruction x3, 3*8(sp)
    \instruction x4, 4*8(sp)
    \instruction x5, 5*8(sp)
    \instruction x6, 6*8(sp)
    \instruction x7, 7*8(sp)
    \instruction x8, 8*8(sp)
    \instruction x9, 9*8(sp)
    \instruction x10, 10*8(sp)
    \instruction x11, 11*8(sp)
    \instruction x12, 12*8(sp)
    \instruction x13, 13*8(sp)
    \instruction x14, 14*8(sp)
    \instruction x15, 15*8(sp)
    \instruction x16, 16*8(sp)
    \instruction x17, 17*8(sp)
    \instruction x18, 18*8(sp)
    \instruction x19, 19*8(sp)
    \instruction x20, 20*8(sp)
    \instruction x21, 21*8(sp)
    \instruction x22, 22*8(sp)
    \instruction x23, 23*8(sp)
    \instruction x24, 24*8(sp)
    \instruction x25, 25*8(sp)
    \instruction x26, 26*8(sp)
    \instruction x27, 27*8(sp)
    \instruction x28, 28*8(sp)
    \instruction x29, 29*8(sp)
    \instruction x30, 30*8(sp)
    \instruction x31, 31*8(sp)
.endm

    .section .text.start, "ax"
    .globl _start
_start:
    csrw mie, zero
    csrr t0, mhartid
    bnez t0, park
    la sp, link_idle_stack_end
    la t0, trap_entry
    csrw mtvec, t0
    la t0, link_bss_start
    la t1, link_bss_end
1:  bgeu t0, t1, 2f
    sd zero, (t0)
    addi t0, t0, 8
    j 1b
2:  call image_main
park:
    wfi
    j park

    .text
    .globl trap_entry
    .balign 4
trap_entry:
    addi sp, sp, -CONTEXT_BYTES
    for_each_register sd
    csrr t0, mepc
    csrr t1, mstatus
    sd t0, 0(sp)
    sd t1, 8(sp)
    mv a0, sp
    csrr a1, mcause
    la sp, link_main_stack_end
    call bout_port_trap
    mv sp, a0
    ld t0, 0(sp)
    ld t1, 8(sp)
    csrw mepc, t0
    csrw mstatus, t1
    for_each_register ld
    addi sp, sp, CONTEXT_BYTES
    mret
