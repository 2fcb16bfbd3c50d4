// SPDX-License-Identifier: MIT
// qemu-tests/rtos/hook: the kernel's hooks (bout_trace.h) as hook words. In: the services'
// arguments. Out: calls of the recorder; and, for tests, how many there were of each kind, counted
// beside the recorder.
#ifndef BOUT_HOOK_HOOKS_H
#define BOUT_HOOK_HOOKS_H

#include "hook.h"

// Hook words of the kernel. A service's has its number in the lower half.
enum {
    HOOK_INTERRUPT = 0x10000000,        // D1 id of the interrupt
    HOOK_SERVICE = 0x10100000,          // D1 object, D2, D3 arguments; see enum hook_service
    HOOK_INTERRUPT_RETURN = 0x10300000, // D1 id of the interrupt
    HOOK_DISPATCH = 0x10600000,         // D1 next thread or 0, D2 thread that stops, D3 its state
    HOOK_READY = 0x11F00000             // D1 thread, D2 state it was in, D3 next thread
};

enum hook_service {
    HOOK_THREAD_CREATE = 1,
    HOOK_THREAD_SLEEP,
    HOOK_THREAD_RELINQUISH,
    HOOK_QUEUE_CREATE,
    HOOK_QUEUE_SEND,
    HOOK_QUEUE_RECEIVE,
    HOOK_SEMAPHORE_CREATE,
    HOOK_SEMAPHORE_GET,
    HOOK_SEMAPHORE_PUT,
    HOOK_MUTEX_GET,
    HOOK_MUTEX_PUT,
    HOOK_EVENT_FLAGS_GET,
    HOOK_EVENT_FLAGS_SET,
    HOOK_SERVICES
};

struct hook_counts {
    uint32_t interrupts, returns, dispatches, readied;
    uint32_t services[HOOK_SERVICES];
};
extern volatile struct hook_counts bout_hooks_counts;

// What a hook that is completed later keeps.
typedef struct {
    const TX_THREAD *thread;
    ULONG state;
} bout_trace_mark;
#define BOUT_TRACE_NO_MARK ((bout_trace_mark){NULL, 0})

#define HOOK_COUNTED(count, ...)                                                                   \
    do {                                                                                           \
        bout_hooks_counts.count++;                                                                 \
        __VA_ARGS__;                                                                               \
    } while (0)
#define HOOK_SERVICE_EVENT(number, object, d2, d3)                                                 \
    HOOK_COUNTED(services[number], TRCHKL3T(HOOK_SERVICE | (uint32_t)(number), (ULONG)(object),    \
                                            (ULONG)(d2), (ULONG)(d3)))

#define BOUT_TRACE_ISR_ENTER(id) HOOK_COUNTED(interrupts, TRCHKL1T(HOOK_INTERRUPT, id))
#define BOUT_TRACE_ISR_EXIT(id)  HOOK_COUNTED(returns, TRCHKL1T(HOOK_INTERRUPT_RETURN, id))

#define BOUT_TRACE_THREAD_RESUME(thread, state) ((bout_trace_mark){thread, state})
#define BOUT_TRACE_THREAD_RESUMED(mark, next)                                                      \
    HOOK_COUNTED(readied, TRCHKL3T(HOOK_READY, (ULONG)(mark).thread, (mark).state, (ULONG)(next)))
#define BOUT_TRACE_THREAD_SUSPEND(thread, state) ((bout_trace_mark){thread, state})
#define BOUT_TRACE_THREAD_SUSPENDED(mark, next)                                                    \
    HOOK_COUNTED(dispatches,                                                                       \
                 TRCHKL3T(HOOK_DISPATCH, (ULONG)(next), (ULONG)(mark).thread, (mark).state))
#define BOUT_TRACE_THREAD_RELINQUISH(thread) ((bout_trace_mark){thread, BOUT_READY})
#define BOUT_TRACE_THREAD_RELINQUISHED(mark, next)                                                 \
    HOOK_SERVICE_EVENT(HOOK_THREAD_RELINQUISH, (mark).thread, next, 0)

#define BOUT_TRACE_THREAD_CREATE(thread)                                                           \
    HOOK_SERVICE_EVENT(HOOK_THREAD_CREATE, thread, (thread)->tx_thread_priority,                   \
                       (thread)->tx_thread_stack_size)
#define BOUT_TRACE_THREAD_SLEEP(thread, ticks)                                                     \
    HOOK_SERVICE_EVENT(HOOK_THREAD_SLEEP, thread, ticks, 0)

#define BOUT_TRACE_QUEUE_CREATE(queue)                                                             \
    HOOK_SERVICE_EVENT(HOOK_QUEUE_CREATE, queue, (queue)->tx_queue_message_size,                   \
                       (queue)->tx_queue_capacity)
#define BOUT_TRACE_QUEUE_SEND(queue, source, wait)                                                 \
    HOOK_SERVICE_EVENT(HOOK_QUEUE_SEND, queue, *(const ULONG *)(source), wait)
#define BOUT_TRACE_QUEUE_RECEIVE(queue, target, wait)                                              \
    HOOK_SERVICE_EVENT(HOOK_QUEUE_RECEIVE, queue, (queue)->tx_queue_enqueued, wait)

#define BOUT_TRACE_SEMAPHORE_CREATE(semaphore)                                                     \
    HOOK_SERVICE_EVENT(HOOK_SEMAPHORE_CREATE, semaphore, (semaphore)->tx_semaphore_count, 0)
#define BOUT_TRACE_SEMAPHORE_GET(semaphore, wait)                                                  \
    HOOK_SERVICE_EVENT(HOOK_SEMAPHORE_GET, semaphore, (semaphore)->tx_semaphore_count, wait)
#define BOUT_TRACE_SEMAPHORE_PUT(semaphore)                                                        \
    HOOK_SERVICE_EVENT(HOOK_SEMAPHORE_PUT, semaphore, (semaphore)->tx_semaphore_count, 0)

#define BOUT_TRACE_MUTEX_GET(mutex, wait)                                                          \
    HOOK_SERVICE_EVENT(HOOK_MUTEX_GET, mutex, (mutex)->tx_mutex_owner, wait)
#define BOUT_TRACE_MUTEX_PUT(mutex)                                                                \
    HOOK_SERVICE_EVENT(HOOK_MUTEX_PUT, mutex, (mutex)->tx_mutex_owner, 0)

#define BOUT_TRACE_EVENT_FLAGS_GET(group, wanted, option)                                          \
    HOOK_SERVICE_EVENT(HOOK_EVENT_FLAGS_GET, group, wanted, option)
#define BOUT_TRACE_EVENT_FLAGS_SET(group, flags, option)                                           \
    HOOK_SERVICE_EVENT(HOOK_EVENT_FLAGS_SET, group, flags, option)

#endif
