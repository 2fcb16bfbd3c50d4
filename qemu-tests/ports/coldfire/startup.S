/* SPDX-License-Identifier: MIT
 * qemu-tests/ports/coldfire: vectors, from reset to image_main, and the exception entries. In: a
 * reset, an interrupt, TRAP #0. Out: initialized memory; the core with the registers of whoever
 * bout_port_leave chose. Follows the ColdFire Family Programmer's Reference Manual, chapter 11. */

/* Registers below the 8-byte exception frame; port.c builds the first context of a thread. */
#define CONTEXT_BYTES 60

/* Interrupts are locked inside of handlers: they do not nest here. */
.macro exception_entry name, handler
\name:
    move.w #0x2700,%sr
    lea -CONTEXT_BYTES(%sp),%sp
    movem.l %d0-%d7/%a0-%a6,(%sp)
    move.l %sp,%d2
    lea link_main_stack_end,%sp
    jsr \handler
    move.l %d2,-(%sp)
    jsr bout_port_leave
    move.l %d0,%sp
    movem.l (%sp),%d0-%d7/%a0-%a6
    lea CONTEXT_BYTES(%sp),%sp
    rte
.endm

    .section .vectors, "a"
vectors:
    .long link_main_stack_end
    .long _start
    .rept 32 - 2
    .long unexpected_entry
    .endr
    .long switch_entry /* TRAP #0 */
    .rept 64 + 4 - 33
    .long unexpected_entry
    .endr
    .long tick_entry   /* interrupt source 4: PIT0 */
    .long device_entry /* interrupt source 5: PIT1 */
    .rept 256 - 70
    .long unexpected_entry
    .endr

    .section .text.start, "ax"
    .globl _start
_start:
    move.w #0x2700,%sr
    lea link_idle_stack_end,%sp
    lea vectors,%a0
    movec %a0,%vbr
    lea link_bss_start,%a0
    lea link_bss_end,%a1
1:  cmp.l %a1,%a0
    jcc 2f
    clr.l (%a0)+
    jra 1b
2:  jsr image_main

/* Stops with the frame of the exception on the stack: interrupts would put theirs below it. */
unexpected_entry:
    move.w #0x2700,%sr
    jra unexpected_entry

    .text
    exception_entry switch_entry, bout_port_nothing
    exception_entry tick_entry, bout_port_tick_interrupt
    exception_entry device_entry, bout_port_device_interrupt
