// SPDX-License-Identifier: MIT
// target: port to Cortex-M, from M0 on. The critical section sets PRIMASK, or BASEPRI if the
// firmware defines RINGSIDE_TRACE_BASEPRI; interrupts above that priority must then pass no trace
// point. The clock is the DWT's cycle counter, which the firmware must enable. An M0 has none:
// there, the firmware defines RINGSIDE_TRACE_CLOCK.
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

// Returns an address inside of the call: 2 bytes before its return address, whose bit 0 is set
// (Thumb).
#define RINGSIDE_PORT_CALLER(address) ((uintptr_t)(address)-3)

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

static inline void ringside_port_fence(void)
{
    __asm__ volatile("dmb" : : : "memory");
}

// An M0 or M3 keeps the order of its stores. Later cores have write buffers that may reorder them.
static inline void ringside_port_barrier(void)
{
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_7M__)
    __asm__ volatile("" : : : "memory");
#else
    ringside_port_fence();
#endif
}

#endif
