// SPDX-License-Identifier: MIT
// target: what the ports of cores without an operating system have in common. They have one
// recorder object, no processes, and no lock: the critical section masks interrupts, so it can
// always be entered, and nothing can die inside of it. That is why most functions of a port are
// empty here.
//
// Firmware that knows better defines these macros in a header of its own, which then includes its
// core's port, and names that header as RINGSIDE_TRACE_PORT. A port defines:
//
//     ringside_port_enter, _leave   the critical section; they nest
//     ringside_port_barrier         stores before it are visible before stores after it
//     ringside_port_fence           loads and stores before it are done before those after it
//     RINGSIDE_TRACE_CLOCK()        the time; it never stops while the trace runs
//     RINGSIDE_PORT_CALLER          an address inside of the call, from its return address
#ifndef RINGSIDE_PORT_FIRMWARE_H
#define RINGSIDE_PORT_FIRMWARE_H

#include "../ringside_trace.h"
#include <stdbool.h>

#ifndef RINGSIDE_TRACE_CLOCK_HZ
#define RINGSIDE_TRACE_CLOCK_HZ 0 // ticks per second of RINGSIDE_TRACE_CLOCK(); 0: not known
#endif
#ifndef RINGSIDE_TRACE_CLOCK_BITS
#define RINGSIDE_TRACE_CLOCK_BITS 32 // significant bits of the clock, 16 to 32
#endif
#ifndef RINGSIDE_TRACE_THREAD
#define RINGSIDE_TRACE_THREAD() 0 // the running thread, usually the address of its control block
#endif
#ifndef RINGSIDE_TRACE_INTERRUPT
#define RINGSIDE_TRACE_INTERRUPT() 0 // the number of the active exception; 0: none
#endif
#ifndef RINGSIDE_TRACE_ENAMETOOLONG
#if __STDC_HOSTED__
#include <errno.h>
#define RINGSIDE_TRACE_ENAMETOOLONG ENAMETOOLONG
#else
#define RINGSIDE_TRACE_ENAMETOOLONG 36 // there is no <errno.h>
#endif
#endif
#ifndef RINGSIDE_TRACE_CORE
#define RINGSIDE_TRACE_CORE 0 // the number of the core; each has its own recorder memory
#endif

#define RINGSIDE_PORT_OBJECT
#define RINGSIDE_PORT_STAMP_BITS RINGSIDE_TRACE_CLOCK_BITS
#define RINGSIDE_PORT_PROCESS    0
#define RINGSIDE_PORT_LAYOUT     0
#define RINGSIDE_PORT_STREAMS(m) UINT32_MAX

struct ringside_memory;

static inline void ringside_port_stamp(uint32_t *stamp)
{
    *stamp = (uint32_t)(RINGSIDE_TRACE_CLOCK());
}

static inline uintptr_t ringside_port_thread(uint32_t *flags)
{
    uint32_t interrupt = (uint32_t)(RINGSIDE_TRACE_INTERRUPT());
    if (__builtin_expect(!interrupt, 1))
        return (uintptr_t)(RINGSIDE_TRACE_THREAD());
    *flags |= UINT32_C(1) << 29;
    return interrupt;
}

// A trace point always runs to its end, so nothing has to be noted for a recovery.
#define ringside_port_note(stream, number, what) ((void)(number))
#define ringside_port_turn(stream, state)        ((void)(stream))

// The critical section can always be entered, so no event is missed.
#define ringside_port_entered(state)                ((void)(state), true)
#define ringside_port_miss(memory, stream)          ((void)(memory), (void)(stream))
#define ringside_port_missed(stream)                false
#define ringside_port_take_missed(m, number, stamp) ((void)(stamp), UINT32_C(0))
#define ringside_port_counted_missed(m, number)     ((void)0)

static inline void ringside_port_lap(struct ringside_memory *m, unsigned stream)
{
    (void)m, (void)stream;
}

static inline void ringside_port_stuck(struct ringside_memory *m, unsigned stream)
{
    (void)m, (void)stream;
}

#endif
