// SPDX-License-Identifier: MIT
// target: the recorder's port to RISC-V in machine mode, 32 and 64 bits.
//
// Critical section: mstatus.MIE. Leaving sets it again only if it was set before, so that sections
// nest.
// Clock: mcycle, or what the firmware defines as RINGSIDE_TRACE_CLOCK (mtime, for example).
// Interrupts: no register tells whether a trap is being served. A firmware that knows defines
// RINGSIDE_TRACE_INTERRUPT.
// Order of stores: the memory model is weak, so that both barriers are FENCE instructions.
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

// An address inside the calling instruction: 2 bytes before the return address, since a compressed
// call has 2 bytes.
#define RINGSIDE_PORT_CALLER(address) ((uintptr_t)(address)-2)

// What ringside_port_leave() restores: mstatus; only its bit MIE is used.
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

// Orders the stores before it with the stores after it.
static inline void ringside_port_barrier(void)
{
    __asm__ volatile("fence w, w" : : : "memory");
}

// Orders all accesses before it with all accesses after it. Needed where requests are read again.
static inline void ringside_port_fence(void)
{
    __asm__ volatile("fence rw, rw" : : : "memory");
}

#endif
