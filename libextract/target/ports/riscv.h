// SPDX-License-Identifier: MIT
// target: port to RISC-V in machine mode, 32 and 64 bits. The critical section clears mstatus.MIE.
// The clock is mcycle, unless the firmware defines RINGSIDE_TRACE_CLOCK (for example as mtime).
// Nothing in the core shows whether a trap is being served; firmware that knows defines
// RINGSIDE_TRACE_INTERRUPT.
//
// Source: The RISC-V Instruction Set Manual, volume II (20211203), 3.1.6 mstatus, 3.1.10 mcycle.
#ifndef RINGSIDE_PORT_RISCV_H
#define RINGSIDE_PORT_RISCV_H

#include <stdint.h>

#ifndef RINGSIDE_TRACE_CLOCK
#define RINGSIDE_TRACE_CLOCK() ringside_port_mcycle()
#endif

static inline uint32_t ringside_port_mcycle(void)
{
    uintptr_t cycles;
    __asm__ volatile("csrr %0, mcycle" : "=r"(cycles));
    return (uint32_t)cycles;
}

#include "firmware.h"

// An address inside of the call: 2 bytes before its return address.
#define RINGSIDE_PORT_CALLER(address) ((uintptr_t)(address)-2)

typedef uintptr_t ringside_port_state;

static inline ringside_port_state ringside_port_enter(struct ringside_memory *m)
{
    ringside_port_state state;
    (void)m;
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(state) : : "memory");
    return state;
}

static inline void ringside_port_leave(struct ringside_memory *m, ringside_port_state state)
{
    (void)m;
    __asm__ volatile("csrs mstatus, %0" : : "r"(state & 8) : "memory");
}

static inline void ringside_port_barrier(void)
{
    __asm__ volatile("fence w, w" : : : "memory");
}

static inline void ringside_port_fence(void)
{
    __asm__ volatile("fence rw, rw" : : : "memory");
}

#endif
