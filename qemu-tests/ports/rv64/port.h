// SPDX-License-Identifier: MIT
// qemu-tests/ports/rv64: the kernel's view of a RISC-V hart in machine mode. In: masks of
// interrupts, wishes to switch. Out: mstatus.MIE and environment calls (RISC-V Privileged
// Architecture 1.12, 3.1.6, 3.3.1).
#ifndef BOUT_PORT_H
#define BOUT_PORT_H

#include "bout.h"

#define MSTATUS_MIE 8UL

static inline ULONG bout_port_lock(void)
{
    ULONG status;
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(status)::"memory");
    return status & MSTATUS_MIE;
}

static inline void bout_port_unlock(ULONG posture)
{
    __asm__ volatile("csrci mstatus, 8\n\tcsrs mstatus, %0" ::"r"(posture & MSTATUS_MIE)
                     : "memory");
}

static inline ULONG bout_port_posture_open(void)
{
    return MSTATUS_MIE;
}

// An exception is taken whether interrupts are locked or not; its return restores their state.
static inline void bout_port_switch(void)
{
    __asm__ volatile("ecall" ::: "memory");
}

// The trap handler switches on its way out (port.c).
static inline void bout_port_switch_after_interrupt(void)
{
}

static inline ULONG bout_port_interrupt_number(void)
{
    return 0;
}

static inline void bout_port_idle(void)
{
    __asm__ volatile("wfi");
}

void bout_port_init(void);
void *bout_port_stack_build(void *stack, ULONG size);
ULONG bout_port_stamp(void); // mtime: an up counter of 10 MHz
#define BOUT_PORT_STAMP_HZ           10000000UL
#define BOUT_PORT_STAMP_300KHZ_SHIFT 5

#endif
