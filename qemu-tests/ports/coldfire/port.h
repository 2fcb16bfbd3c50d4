// SPDX-License-Identifier: MIT
// qemu-tests/ports/coldfire: the kernel's view of a ColdFire V2 core. In: masks of interrupts,
// wishes to switch. Out: the interrupt level in SR, and TRAP #0 (ColdFire Family Programmer's
// Reference Manual, 1.5.1, 11.1).
#ifndef BOUT_PORT_H
#define BOUT_PORT_H

#include "bout.h"

#define SR_OPEN   0x2000UL
#define SR_LOCKED 0x2700UL

static inline ULONG bout_port_lock(void)
{
    USHORT posture;
    __asm__ volatile("move.w %%sr,%0\n\tmove.w #0x2700,%%sr" : "=d"(posture)::"memory", "cc");
    return posture & SR_LOCKED;
}

static inline void bout_port_unlock(ULONG posture)
{
    __asm__ volatile("move.w %0,%%sr" ::"d"((USHORT)(posture | SR_OPEN)) : "memory", "cc");
}

static inline ULONG bout_port_posture_open(void)
{
    return SR_OPEN;
}

// An exception is taken whether interrupts are locked or not; its return restores their state.
static inline void bout_port_switch(void)
{
    __asm__ volatile("trap #0" ::: "memory");
}

// The interrupt entries switch on their way out (startup.S).
static inline void bout_port_switch_after_interrupt(void)
{
}

static inline ULONG bout_port_interrupt_number(void)
{
    return 0;
}

static inline void bout_port_idle(void)
{
    __asm__ volatile("stop #0x2000" ::: "cc");
}

void bout_port_init(void);
void *bout_port_stack_build(void *stack, ULONG size);
ULONG bout_port_stamp(void); // an up counter of 1.3 MHz
#define BOUT_PORT_STAMP_HZ           (83333333UL >> 6)
#define BOUT_PORT_STAMP_300KHZ_SHIFT 2

#endif
