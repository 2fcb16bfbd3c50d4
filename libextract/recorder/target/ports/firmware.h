// SPDX-License-Identifier: MIT
// target: the part that all ports to bare cores share. There is one object in RAM, one process, and
// no lock: the critical section of the core's port is enough.
//
// A firmware that knows better than the defaults below writes a header of its own. That header
// defines some of these macros and then includes the core's port, and the firmware names it as
// RINGSIDE_TRACE_PORT:
//
//   #define RINGSIDE_TRACE_CLOCK_HZ 64000000
//   #define RINGSIDE_TRACE_THREAD() current_thread
//   #include "ports/cortex_m.h"
//
// What a core's port must define for ringside_trace.c:
//   ringside_port_state    what ringside_port_leave() needs to restore
//   ringside_port_enter()  enters the critical section, which may be inside of another one
//   ringside_port_leave()  leaves it
//   ringside_port_barrier()  orders stores before it with stores after it
//   ringside_port_fence()    orders stores before it with loads after it, too
//   RINGSIDE_PORT_CALLER(address)  an address inside the call that returns to `address`
#ifndef RINGSIDE_PORT_FIRMWARE_H
#define RINGSIDE_PORT_FIRMWARE_H

#include "../ringside_trace.h"
#include <stdbool.h>

#ifndef RINGSIDE_TRACE_CLOCK_HZ
#define RINGSIDE_TRACE_CLOCK_HZ 0 // ticks of RINGSIDE_TRACE_CLOCK() per second; 0 if not known
#endif
#ifndef RINGSIDE_TRACE_CLOCK_BITS
#define RINGSIDE_TRACE_CLOCK_BITS 32 // bits of the clock that count, 16 to 32
#endif
#ifndef RINGSIDE_TRACE_THREAD
#define RINGSIDE_TRACE_THREAD() 0 // the running thread, usually its control block's address
#endif
#ifndef RINGSIDE_TRACE_INTERRUPT
#define RINGSIDE_TRACE_INTERRUPT() 0 // number of the exception that is served, 0 if none is
#endif
#ifndef RINGSIDE_TRACE_ENAMETOOLONG
#if __STDC_HOSTED__
#include <errno.h>
#define RINGSIDE_TRACE_ENAMETOOLONG ENAMETOOLONG
#else
#define RINGSIDE_TRACE_ENAMETOOLONG 36 // freestanding: without <errno.h>
#endif
#endif
#ifndef RINGSIDE_TRACE_CORE
#define RINGSIDE_TRACE_CORE 0 // number of the core; each core has an object of its own
#endif

// Facts on bare cores: the object is a global variable, timestamps have one word, records hold no
// process id, and every stream records the events of the whole firmware.
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

// Returns the context of an event: the thread or, with the bit "interrupt" set in the record's
// first word, the number of the exception.
static inline uintptr_t ringside_port_thread(uint32_t *flags)
{
    uint32_t interrupt = (uint32_t)(RINGSIDE_TRACE_INTERRUPT());
    if (__builtin_expect(!interrupt, 1))
        return (uintptr_t)(RINGSIDE_TRACE_THREAD());
    *flags |= UINT32_C(1) << 29;
    return interrupt;
}

// The hooks below do nothing on a bare core. Linux needs them. A trace point always runs to its
// end, so that nothing has to be noted for whoever would complete it.
#define ringside_port_note(stream, number, what) ((void)(number))
#define ringside_port_turn(stream, state)        ((void)(stream))

// The critical section can always be entered, so that no event is missed.
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
