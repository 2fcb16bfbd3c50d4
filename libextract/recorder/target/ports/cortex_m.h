// SPDX-License-Identifier: MIT
// target: the recorder's port to Cortex-M, from M0 on.
//
// Critical section: PRIMASK. If the firmware defines RINGSIDE_TRACE_BASEPRI, the section raises
// BASEPRI to that value instead, and interrupts of a higher priority must not call a trace point.
// Both nest: leaving restores what entering has found.
// Clock: the DWT's cycle counter, which the firmware must switch on. A core without one, as the M0,
// must define RINGSIDE_TRACE_CLOCK.
// Interrupts: IPSR holds the number of the exception that is served, 0 in threads.
// Order of stores: M0 and M3 keep it, so that a barrier need only hold the compiler back. Later
// cores have write buffers that may reorder, so that a barrier is a DMB.
//
// Source: ARM DDI 0403 (ARMv7-M), B1.4.2 IPSR, B1.4.3 PRIMASK and BASEPRI, C1.8.8 DWT_CYCCNT.
#ifndef RINGSIDE_PORT_CORTEX_M_H
#define RINGSIDE_PORT_CORTEX_M_H

#include <stdint.h>

#ifndef RINGSIDE_TRACE_CLOCK
#define RINGSIDE_TRACE_CLOCK() (*(volatile uint32_t *)0xE0001004)
#endif
#ifndef RINGSIDE_TRACE_INTERRUPT
#define RINGSIDE_TRACE_INTERRUPT() ringside_port_ipsr()
#endif

static inline uint32_t ringside_port_ipsr(void)
{
    uint32_t number;
    __asm__ volatile("mrs %0, ipsr" : "=r"(number));
    return number;
}

#include "firmware.h"

// An address inside the calling instruction: 2 bytes before the return address, whose bit 0 is set
// (Thumb). A return address alone may belong to the next line, or to the next function.
#define RINGSIDE_PORT_CALLER(address) ((uintptr_t)(address)-3)

// What ringside_port_leave() restores: PRIMASK or BASEPRI.
typedef uint32_t ringside_port_state;

static inline ringside_port_state ringside_port_enter(struct ringside_memory *m)
{
    ringside_port_state state;
    (void)m;
#ifdef RINGSIDE_TRACE_BASEPRI
    __asm__ volatile("mrs %0, basepri\n\tmsr basepri_max, %1\n\tisb"
                     : "=&r"(state)
                     : "r"(RINGSIDE_TRACE_BASEPRI)
                     : "memory");
#else
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(state) : : "memory");
#endif
    return state;
}

static inline void ringside_port_leave(struct ringside_memory *m, ringside_port_state state)
{
    (void)m;
#ifdef RINGSIDE_TRACE_BASEPRI
    __asm__ volatile("msr basepri, %0" : : "r"(state) : "memory");
#else
    __asm__ volatile("msr primask, %0" : : "r"(state) : "memory");
#endif
}

// Orders stores before it with loads after it. Needed where requests are read again.
static inline void ringside_port_fence(void)
{
    __asm__ volatile("dmb" : : : "memory");
}

// Orders the stores before it with the stores after it.
static inline void ringside_port_barrier(void)
{
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_7M__)
    __asm__ volatile("" : : : "memory");
#else
    ringside_port_fence();
#endif
}

#endif
