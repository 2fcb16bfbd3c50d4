// SPDX-License-Identifier: MIT
// target: what the ports of bare cores have in common: one object, one process, no lock.
//
// A firmware sets what it knows better in a header of its own that defines these macros and then
// includes its core's port; it names that header as RINGSIDE_TRACE_PORT.
#ifndef RINGSIDE_PORT_FIRMWARE_H
#define RINGSIDE_PORT_FIRMWARE_H

#include "../ringside_trace.h"
#include <stdbool.h>

#ifndef RINGSIDE_TRACE_CLOCK_HZ
#define RINGSIDE_TRACE_CLOCK_HZ 0 // of RINGSIDE_TRACE_CLOCK(); 0: not known
#endif
#ifndef RINGSIDE_TRACE_CLOCK_BITS
#define RINGSIDE_TRACE_CLOCK_BITS 32 // that count, 16 to 32
#endif
#ifndef RINGSIDE_TRACE_THREAD
#define RINGSIDE_TRACE_THREAD() 0 // the running thread: its control block's address, as a rule
#endif
#ifndef RINGSIDE_TRACE_INTERRUPT
#define RINGSIDE_TRACE_INTERRUPT() 0 // the number of the exception that is served; 0: none
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
#define RINGSIDE_TRACE_CORE 0 // the number of the core; each has memory of its own
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

// Nobody leaves a trace point but by its end.
#define ringside_port_note(stream, number, what) ((void)(number))
#define ringside_port_turn(stream, state)        ((void)(stream))

// Nobody is kept from the critical section.
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
