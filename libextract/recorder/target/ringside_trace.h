// SPDX-License-Identifier: MIT
// target: the POSIX trace recorder that is compiled into firmware, or into a program on Linux.
//
// Trace points in the program call posix_trace_event, which writes records to streams: rings in RAM
// that docs/formats/posix-ring.md specifies. In firmware, a debugger finds them by the symbol
// ringside_posix, and reads them while the target runs, is halted or has crashed.
//
// To use it in firmware:
//   1. Compile ringside_trace.c with the rest. It is freestanding C11: it needs no libc and
//      allocates nothing.
//   2. Name the port of the core with -DRINGSIDE_TRACE_PORT='"ports/cortex_m.h"'. A port defines
//      how to enter the critical section, read the clock and find the running thread.
//      ports/firmware.h lists what firmware can add.
//   3. Call ringside_trace_init() once, before the first trace point that is to count.
//   4. Call ringside_trace_start(), or let `ringside start` do it from the debugger's side.
//
// A trace point costs one load and a branch while no stream records. While one does, interrupts are
// locked out for a time that does not depend on the data. A trace point never waits for space: an
// event that does not fit is counted as refused.
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

// ---- sizes that firmware may set ----
// All of ringside_trace.c's users must agree on them: set them on the compiler's command line.
#ifndef RINGSIDE_TRACE_STREAMS
#define RINGSIDE_TRACE_STREAMS 1 // streams that can record at the same time: 1 to 32
#endif
#ifndef RINGSIDE_TRACE_WORDS
#define RINGSIDE_TRACE_WORDS 1024 // words of each stream's ring: a power of two, 64 to 2^24
#endif
#ifndef RINGSIDE_TRACE_MAX_DATA
#define RINGSIDE_TRACE_MAX_DATA                                                                    \
    64 // maximum bytes of data in a record, unless a controller requests fewer
#endif
#ifndef RINGSIDE_TRACE_USER_EVENTS
#define RINGSIDE_TRACE_USER_EVENTS 96 // user event types, with the unnamed one: 1 to 256
#endif
#ifndef RINGSIDE_TRACE_NAME_BYTES
#define RINGSIDE_TRACE_NAME_BYTES 32 // bytes of a name with its zero: a multiple of 4, from 32
#endif

typedef uint32_t trace_event_id_t;

// Event types of the system. Types 4, 5, 7 and 8 are never in a ring; readers make them.
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

// What happens to an event for which there is no space. LOOP overwrites the oldest record.
// UNTIL_FULL stops the stream until everything was read. FLUSH stops it likewise; a controller on
// Linux writes it to a log.
#define POSIX_TRACE_LOOP       1
#define POSIX_TRACE_UNTIL_FULL 2
#define POSIX_TRACE_FLUSH      3

struct ringside_memory;

// Registers an event type by its name and stores its id in *event. The same name always gives the
// same id, and a name of the standard's ("posix_trace_start" …) gives the standard's. If the table
// is full, the id is POSIX_TRACE_UNNAMED_USEREVENT. Returns 0, or ENAMETOOLONG for a name of
// RINGSIDE_TRACE_NAME_BYTES bytes or more. Must not be called from interrupt handlers.
int posix_trace_eventid_open(const char *name, trace_event_id_t *event);

// Records an event with `bytes` bytes of data in every running stream whose filter lets it through.
// Data beyond the stream's maximum are truncated, and the record is marked. The data are copied
// before it returns. May be called from threads, interrupt handlers (also nested ones) and signal
// handlers.
void posix_trace_event(trace_event_id_t event, const void *data, size_t bytes);

// ---- beyond the standard ----

// Makes the blocks, with all streams unbound. Call it once, before the other functions; until then,
// trace points do nothing.
void ringside_trace_init(void);

// Binds stream 0 to a policy (POSIX_TRACE_LOOP …) and starts it, without a controller.
void ringside_trace_start(int policy);
// Stops stream 0, which keeps its records.
void ringside_trace_stop(void);

// Carries out the requests of a controller. Every trace point does so, too. A system that may pass
// no trace point for a long time calls this function where it idles.
void ringside_trace_poll(void);

// In firmware, a compiler that optimizes expands a trace point where it is: it tests one word
// before it calls a function, `active`, at offset 20 of the process block
// (docs/formats/posix-ring.md). The place of an expanded trace point is that of its call: clang
// gives it no other, and GCC marks posix_trace_event artificial.
#if !defined(__linux__) || !__STDC_HOSTED__
#define _POSIX_TRACE_INHERIT (-1) // firmware has no fork()
extern struct ringside_memory ringside_posix;
void posix_trace_record_event(trace_event_id_t event, const void *data, size_t bytes);
#if defined(__OPTIMIZE__) && !defined(RINGSIDE_TRACE_FUNCTION)
#ifdef __clang__
#define RINGSIDE_TRACE_INLINE __attribute__((gnu_inline, always_inline, nodebug))
#else
#define RINGSIDE_TRACE_INLINE __attribute__((gnu_inline, always_inline, artificial))
#endif
extern __inline RINGSIDE_TRACE_INLINE void posix_trace_event(trace_event_id_t event,
                                                             const void *data, size_t bytes)
{
    if (*(const volatile uint32_t *)((const char *)&ringside_posix + 20))
        posix_trace_record_event(event, data, bytes);
}
#endif
#endif

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
