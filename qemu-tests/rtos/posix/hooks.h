// SPDX-License-Identifier: MIT
// qemu-tests/rtos/posix: the kernel's hooks (bout_trace.h) as events of POSIX trace, by the macros
// that come with the recorder. In: the services' arguments. Out: events; and, for tests, how many
// there were of each kind, counted beside the recorder.
#ifndef BOUT_POSIX_HOOKS_H
#define BOUT_POSIX_HOOKS_H

#include "../../../libextract/target/ringside_rtos_hooks.h"

enum bout_posix_kind {
    BOUT_POSIX_THREAD_CREATE,
    BOUT_POSIX_SWITCH,
    BOUT_POSIX_ISR_ENTER,
    BOUT_POSIX_ISR_EXIT,
    BOUT_POSIX_QUEUE_SEND,
    BOUT_POSIX_QUEUE_RECEIVE,
    BOUT_POSIX_QUEUE_BLOCK,
    BOUT_POSIX_SEMAPHORE_PUT,
    BOUT_POSIX_SEMAPHORE_GET,
    BOUT_POSIX_SEMAPHORE_BLOCK,
    BOUT_POSIX_KINDS
};
extern volatile uint32_t bout_posix_counts[BOUT_POSIX_KINDS];

// The number of the interrupt that is served, for cores that do not provide it; 0: none.
extern volatile ULONG bout_posix_interrupt;
// Called in every interrupt, at its beginning, with interrupts locked; NULL: nothing is.
extern void (*volatile bout_posix_interrupted)(void);

// Makes the block and registers the types. Counts begin at 0.
void bout_posix_open(void);

#define BOUT_POSIX(kind, ...)                                                                      \
    do {                                                                                           \
        bout_posix_counts[BOUT_POSIX_##kind]++;                                                    \
        RINGSIDE_RTOS_##kind(__VA_ARGS__);                                                         \
    } while (0)
#define BOUT_POSIX_IF(condition, ...)                                                              \
    do {                                                                                           \
        if (condition)                                                                             \
            BOUT_POSIX(__VA_ARGS__);                                                               \
    } while (0)
#define BOUT_POSIX_EITHER(condition, done, count, blocked, object)                                 \
    do {                                                                                           \
        BOUT_POSIX_IF(condition, done, object, count);                                             \
        BOUT_POSIX_IF(!(condition), blocked, object, _tx_thread_current_ptr);                      \
    } while (0)

typedef const TX_THREAD *bout_trace_mark; // the thread that becomes ready, or stops
#define BOUT_TRACE_NO_MARK NULL

#define BOUT_TRACE_THREAD_CREATE(thread)                                                           \
    BOUT_POSIX(THREAD_CREATE, thread, (thread)->tx_thread_priority)
#define BOUT_TRACE_THREAD_RESUMED(mark, next)                                                      \
    BOUT_POSIX_IF((next) != _tx_thread_current_ptr, SWITCH, _tx_thread_current_ptr, next)
#define BOUT_TRACE_THREAD_SUSPEND(thread, state) (thread)
#define BOUT_TRACE_THREAD_SUSPENDED(mark, next)  BOUT_POSIX(SWITCH, mark, next)
#define BOUT_TRACE_QUEUE_SEND(queue, source, wait)                                                 \
    BOUT_POSIX_EITHER((queue)->tx_queue_enqueued < (queue)->tx_queue_capacity, QUEUE_SEND,         \
                      (queue)->tx_queue_enqueued + 1, QUEUE_BLOCK, queue)
#define BOUT_TRACE_QUEUE_RECEIVE(queue, target, wait)                                              \
    BOUT_POSIX_EITHER((queue)->tx_queue_enqueued > 0, QUEUE_RECEIVE,                               \
                      (queue)->tx_queue_enqueued - 1, QUEUE_BLOCK, queue)
#define BOUT_TRACE_SEMAPHORE_GET(semaphore, wait)                                                  \
    BOUT_POSIX_EITHER((semaphore)->tx_semaphore_count > 0, SEMAPHORE_GET,                          \
                      (semaphore)->tx_semaphore_count - 1, SEMAPHORE_BLOCK, semaphore)
#define BOUT_TRACE_SEMAPHORE_PUT(semaphore)                                                        \
    BOUT_POSIX(SEMAPHORE_PUT, semaphore, (semaphore)->tx_semaphore_count + 1)

#define BOUT_TRACE_ISR_ENTER(id)                                                                   \
    do {                                                                                           \
        bout_posix_interrupt = (id);                                                               \
        BOUT_POSIX(ISR_ENTER, id);                                                                 \
        if (bout_posix_interrupted)                                                                \
            bout_posix_interrupted();                                                              \
    } while (0)
#define BOUT_TRACE_ISR_EXIT(id)                                                                    \
    do {                                                                                           \
        BOUT_POSIX(ISR_EXIT, id);                                                                  \
        bout_posix_interrupt = 0;                                                                  \
    } while (0)

#endif
