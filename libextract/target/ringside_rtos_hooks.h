// SPDX-License-Identifier: MIT
// target: trace hooks for a kernel, as macros over the recorder.
//
// A kernel without a trace of its own calls these macros where it switches threads, serves
// interrupts and changes its objects. Each records a POSIX trace event whose name begins with rtos_
// and whose data are one or two 32-bit words.
//
// To instrument a kernel:
//   1. Define one `struct ringside_rtos_events ringside_rtos_events` in one source file.
//   2. Call ringside_rtos_hooks_open() after ringside_trace_init(). Until then, the events have the
//      id 0 and are not recorded.
//   3. Call the macros RINGSIDE_RTOS_… where the kernel does what their names say.
//
// Threads and objects are identified by the addresses of their control blocks, 64-bit addresses by
// their lower halves.
#ifndef RINGSIDE_RTOS_HOOKS_H
#define RINGSIDE_RTOS_HOOKS_H

#include "ringside_trace.h"

// The events: member of the struct, name in the trace, words of data.
#define RINGSIDE_RTOS_EVENTS(EVENT)                                                                \
    EVENT(thread_create, "rtos_thread_create")     /* thread, priority */                          \
    EVENT(thread_delete, "rtos_thread_delete")     /* thread */                                    \
    EVENT(switch_to, "rtos_switch")                /* thread left, thread entered */               \
    EVENT(isr_enter, "rtos_isr_enter")             /* exception */                                 \
    EVENT(isr_exit, "rtos_isr_exit")               /* exception */                                 \
    EVENT(queue_send, "rtos_queue_send")           /* queue, messages in it afterwards */          \
    EVENT(queue_receive, "rtos_queue_receive")     /* queue, messages in it afterwards */          \
    EVENT(queue_block, "rtos_queue_block")         /* queue, thread that waits */                  \
    EVENT(semaphore_put, "rtos_semaphore_put")     /* semaphore, count afterwards */               \
    EVENT(semaphore_get, "rtos_semaphore_get")     /* semaphore, count afterwards */               \
    EVENT(semaphore_block, "rtos_semaphore_block") /* semaphore, thread that waits */

#define RINGSIDE_RTOS_MEMBER(key, name) trace_event_id_t key;
// The ids of the events, as posix_trace_eventid_open gave them.
struct ringside_rtos_events {
    RINGSIDE_RTOS_EVENTS(RINGSIDE_RTOS_MEMBER)
};
#undef RINGSIDE_RTOS_MEMBER

extern struct ringside_rtos_events ringside_rtos_events;

// Registers the names. If the table of names is full, an event is recorded as the unnamed event.
static inline void ringside_rtos_hooks_open(void)
{
#define RINGSIDE_RTOS_OPEN(key, name)                                                              \
    (void)posix_trace_eventid_open(name, &ringside_rtos_events.key);
    RINGSIDE_RTOS_EVENTS(RINGSIDE_RTOS_OPEN)
#undef RINGSIDE_RTOS_OPEN
}

// Records one event with the given words. An object's address or a small number becomes a word.
#define RINGSIDE_RTOS_TRACE(key, ...)                                                              \
    do {                                                                                           \
        const uint32_t ringside_words[] = {__VA_ARGS__};                                           \
        posix_trace_event(ringside_rtos_events.key, ringside_words, sizeof ringside_words);        \
    } while (0)
#define RINGSIDE_RTOS_WORD(value) ((uint32_t)(uintptr_t)(value))

#define RINGSIDE_RTOS_THREAD_CREATE(thread, priority)                                              \
    RINGSIDE_RTOS_TRACE(thread_create, RINGSIDE_RTOS_WORD(thread), RINGSIDE_RTOS_WORD(priority))
#define RINGSIDE_RTOS_THREAD_DELETE(thread)                                                        \
    RINGSIDE_RTOS_TRACE(thread_delete, RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_SWITCH(from, to)                                                             \
    RINGSIDE_RTOS_TRACE(switch_to, RINGSIDE_RTOS_WORD(from), RINGSIDE_RTOS_WORD(to))
#define RINGSIDE_RTOS_ISR_ENTER(exception)                                                         \
    RINGSIDE_RTOS_TRACE(isr_enter, RINGSIDE_RTOS_WORD(exception))
#define RINGSIDE_RTOS_ISR_EXIT(exception)                                                          \
    RINGSIDE_RTOS_TRACE(isr_exit, RINGSIDE_RTOS_WORD(exception))
#define RINGSIDE_RTOS_QUEUE_SEND(queue, messages)                                                  \
    RINGSIDE_RTOS_TRACE(queue_send, RINGSIDE_RTOS_WORD(queue), RINGSIDE_RTOS_WORD(messages))
#define RINGSIDE_RTOS_QUEUE_RECEIVE(queue, messages)                                               \
    RINGSIDE_RTOS_TRACE(queue_receive, RINGSIDE_RTOS_WORD(queue), RINGSIDE_RTOS_WORD(messages))
#define RINGSIDE_RTOS_QUEUE_BLOCK(queue, thread)                                                   \
    RINGSIDE_RTOS_TRACE(queue_block, RINGSIDE_RTOS_WORD(queue), RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_SEMAPHORE_PUT(semaphore, count)                                              \
    RINGSIDE_RTOS_TRACE(semaphore_put, RINGSIDE_RTOS_WORD(semaphore), RINGSIDE_RTOS_WORD(count))
#define RINGSIDE_RTOS_SEMAPHORE_GET(semaphore, count)                                              \
    RINGSIDE_RTOS_TRACE(semaphore_get, RINGSIDE_RTOS_WORD(semaphore), RINGSIDE_RTOS_WORD(count))
#define RINGSIDE_RTOS_SEMAPHORE_BLOCK(semaphore, thread)                                           \
    RINGSIDE_RTOS_TRACE(semaphore_block, RINGSIDE_RTOS_WORD(semaphore), RINGSIDE_RTOS_WORD(thread))

#endif
