// SPDX-License-Identifier: MIT
// qemu-tests/ports/cortex-m3: the kernel's view of an Armv7-M processor. In: masks of interrupts,
// wishes to switch. Out: PRIMASK and PendSV (Armv7-M Architecture Reference Manual, B1.5, B3.2.4).
#ifndef BOUT_PORT_H
#define BOUT_PORT_H

#include "bout.h"

static inline ULONG bout_port_lock(void)
{
    ULONG posture;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(posture)::"memory");
    return posture;
}

// The barrier makes a pending switch happen here and not a few instructions on.
static inline void bout_port_unlock(ULONG posture)
{
    __asm__ volatile("msr primask, %0\n\tisb" ::"r"(posture) : "memory");
}

static inline ULONG bout_port_posture_open(void)
{
    return 0;
}

// PendSV has the lowest priority: it runs when interrupts are open and no handler is under way.
static inline void bout_port_switch(void)
{
    *(volatile uint32_t *)0xE000ED04UL = 1UL << 28; // ICSR.PENDSVSET
    __asm__ volatile("dsb" ::: "memory");
}

static inline void bout_port_switch_after_interrupt(void)
{
    bout_port_switch();
}

// IPSR: 0 outside of handlers.
static inline ULONG bout_port_interrupt_number(void)
{
    ULONG number;
    __asm__ volatile("mrs %0, ipsr" : "=r"(number));
    return number;
}

static inline void bout_port_idle(void)
{
    __asm__ volatile("wfi");
}

void bout_port_init(void);
void *bout_port_stack_build(void *stack, ULONG size);
ULONG bout_port_stamp(void); // an up counter of 25 MHz
#define BOUT_PORT_STAMP_HZ           25000000UL
#define BOUT_PORT_STAMP_300KHZ_SHIFT 6

#endif
