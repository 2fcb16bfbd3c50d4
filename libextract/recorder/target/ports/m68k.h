// SPDX-License-Identifier: MIT
// target: the recorder's port to the 68000 family and ColdFire in supervisor mode.
//
// Critical section: interrupt level 7 in SR. Level 7 interrupts are not masked by it and must not
// call a trace point. Leaving restores SR as it was, so that sections nest.
// Clock: the firmware provides ringside_trace_clock(), or defines RINGSIDE_TRACE_CLOCK.
// Interrupts: a firmware that knows which exception is served defines RINGSIDE_TRACE_INTERRUPT. The
// level in SR does not tell: a thread may have raised it for a critical section of its own.
// Order of stores: the cores keep it, so that both barriers need only hold the compiler back.
//
// Source: M68000 Family Programmer's Reference Manual (1992), 1.3.2 SR, MOVE from and to SR.
#ifndef RINGSIDE_PORT_M68K_H
#define RINGSIDE_PORT_M68K_H

#include <stdint.h>

#ifndef RINGSIDE_TRACE_CLOCK
#define RINGSIDE_TRACE_CLOCK() ringside_trace_clock()
uint32_t ringside_trace_clock(void);
#endif

#include "firmware.h"

// An address inside the calling instruction: 2 bytes before the return address.
#define RINGSIDE_PORT_CALLER(address) ((uintptr_t)(address)-2)

// What ringside_port_leave() restores: SR.
typedef uint32_t ringside_port_state;

// ColdFire has no OR to SR, but all cores have these moves.
static inline ringside_port_state ringside_port_enter(struct ringside_memory *m)
{
    uint32_t state = 0, masked;
    (void)m;
    __asm__ volatile("move.w %%sr, %0\n\tmove.l %0, %1\n\tor.l #0x700, %1\n\tmove.w %1, %%sr"
                     : "+d"(state), "=&d"(masked)
                     :
                     : "memory", "cc");
    return state;
}

static inline void ringside_port_leave(struct ringside_memory *m, ringside_port_state state)
{
    (void)m;
    __asm__ volatile("move.w %0, %%sr" : : "d"(state) : "memory", "cc");
}

// Orders the stores before it with the stores after it.
static inline void ringside_port_barrier(void)
{
    __asm__ volatile("" : : : "memory");
}

// Orders stores before it with loads after it.
static inline void ringside_port_fence(void)
{
    ringside_port_barrier();
}

#endif
