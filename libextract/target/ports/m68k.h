// SPDX-License-Identifier: MIT
// target: port to the 68000 family and ColdFire in supervisor mode. The critical section raises the
// interrupt level in SR. The firmware provides the clock, and defines RINGSIDE_TRACE_INTERRUPT: the
// level alone does not show an active exception, since a thread may have raised it.
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

// Returns an address inside of the call: 2 bytes before its return address.
#define RINGSIDE_PORT_CALLER(address) ((uintptr_t)(address)-2)

typedef uint32_t ringside_port_state;

// ColdFire cannot OR to SR; all cores have these moves.
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

// The cores keep the order of their stores.
static inline void ringside_port_barrier(void)
{
    __asm__ volatile("" : : : "memory");
}

static inline void ringside_port_fence(void)
{
    ringside_port_barrier();
}

#endif
