// SPDX-License-Identifier: MIT
// target: the POSIX trace recorder for firmware. Trace points record events into streams in memory
// (docs/formats/posix-ring.md), which a debugger finds by the symbol ringside_posix. Programs on
// Linux use the same interface, and link with libextract.
//
// The recorder is freestanding C11: it needs no C library and allocates nothing. Add
// ringside_trace.c to the firmware, and name the port, which provides critical section, clock and
// thread, with -DRINGSIDE_TRACE_PORT='"ports/cortex_m.h"'.
//
// Source: IEEE Std 1003.1-2008, 2.11 and posix_trace_event, posix_trace_eventid_open.
#ifndef RINGSIDE_TRACE_H
#define RINGSIDE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// ---- settings of the firmware ----
#ifndef RINGSIDE_TRACE_STREAMS
#define RINGSIDE_TRACE_STREAMS 1 // number of streams, 1 to 32
#endif
#ifndef RINGSIDE_TRACE_WORDS
#define RINGSIDE_TRACE_WORDS 1024 // words of each stream's ring, a power of two from 64 to 2^24
#endif
#ifndef RINGSIDE_TRACE_MAX_DATA
#define RINGSIDE_TRACE_MAX_DATA 64 // bytes of data in a record at most; a controller may set less
#endif
#ifndef RINGSIDE_TRACE_USER_EVENTS
#define RINGSIDE_TRACE_USER_EVENTS 32 // user event types, the unnamed one included: 1 to 256
#endif
#ifndef RINGSIDE_TRACE_NAME_BYTES
#define RINGSIDE_TRACE_NAME_BYTES 32 // bytes of a name with its zero, a multiple of 4, at least 32
#endif

typedef uint32_t trace_event_id_t;

#define POSIX_TRACE_ERROR              ((trace_event_id_t)1)
#define POSIX_TRACE_START              ((trace_event_id_t)2)
#define POSIX_TRACE_STOP               ((trace_event_id_t)3)
#define POSIX_TRACE_OVERFLOW           ((trace_event_id_t)4)
#define POSIX_TRACE_RESUME             ((trace_event_id_t)5)
#define POSIX_TRACE_FILTER             ((trace_event_id_t)6)
#define POSIX_TRACE_FLUSH_START        ((trace_event_id_t)7)
#define POSIX_TRACE_FLUSH_STOP         ((trace_event_id_t)8)
#define POSIX_TRACE_UNNAMED_USEREVENT  ((trace_event_id_t)32)
#define POSIX_TRACE_UNNAMED_USER_EVENT POSIX_TRACE_UNNAMED_USEREVENT

#define POSIX_TRACE_LOOP       1
#define POSIX_TRACE_UNTIL_FULL 2
#define POSIX_TRACE_FLUSH      3

struct ringside_memory;

// Registers an event type by its name, which is copied, and stores its id in *event. The same name
// always has the same id. If the table is full, the id is POSIX_TRACE_UNNAMED_USEREVENT. Returns 0,
// or ENAMETOOLONG. Not for interrupt handlers.
int posix_trace_eventid_open(const char *name, trace_event_id_t *event);

// Records an event with `bytes` bytes of data in every running stream that does not filter it. May
// be called by threads, interrupt handlers (nested ones, too) and signal handlers.
void(posix_trace_event)(trace_event_id_t event, const void *data, size_t bytes);

// ---- extensions of the standard ----

// Initializes the recorder, with all streams unbound. Call it once, before any other function.
// Trace points do nothing before that.
void ringside_trace_init(void);

// Binds stream 0 with `policy` (POSIX_TRACE_LOOP or POSIX_TRACE_UNTIL_FULL) and starts it, without
// a controller; and stops it.
void ringside_trace_start(int policy);
void ringside_trace_stop(void);

// Carries out a controller's requests. Trace points do that too; a system that passes none for a
// long time should call this in its idle loop.
void ringside_trace_poll(void);

// In firmware, a trace point tests one word inline: without a running stream, it costs no call.
#if !defined(__linux__) || !__STDC_HOSTED__
#define _POSIX_TRACE_INHERIT (-1) // there is no fork
extern struct ringside_memory ringside_posix;
#define ringside_trace_active() (*(const volatile uint32_t *)((const char *)&ringside_posix + 20))
static inline void ringside_trace_no_event(trace_event_id_t event, const void *data, size_t bytes)
{
    (void)event, (void)data, (void)bytes;
}
#define posix_trace_event(...)                                                                     \
    (ringside_trace_active() ? (posix_trace_event)(__VA_ARGS__)                                    \
                             : ringside_trace_no_event(__VA_ARGS__))
#endif

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
