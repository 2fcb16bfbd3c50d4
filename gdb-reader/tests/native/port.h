// SPDX-License-Identifier: MIT
// gdb-reader tests: the port of the POSIX trace recorder for a host program with one thread. The
// ring is in the program's own memory, as on a board.
#ifndef NATIVE_PORT_H
#define NATIVE_PORT_H

#include <stdint.h>

extern uint32_t clock_of_test;
#define RINGSIDE_TRACE_CLOCK()  clock_of_test
#define RINGSIDE_TRACE_CLOCK_HZ 1000
#define RINGSIDE_TRACE_THREAD() 0x7000

#include "ports/firmware.h"

#define RINGSIDE_PORT_CALLER(address) ((uintptr_t)(address)-1)

typedef unsigned ringside_port_state;

static inline ringside_port_state ringside_port_enter(struct ringside_memory *m)
{
    (void)m;
    return 0;
}

static inline void ringside_port_leave(struct ringside_memory *m, ringside_port_state state)
{
    (void)m;
    (void)state;
}

static inline void ringside_port_barrier(void)
{
    __asm__ volatile("" : : : "memory");
}

static inline void ringside_port_fence(void)
{
    __sync_synchronize();
}

#endif
