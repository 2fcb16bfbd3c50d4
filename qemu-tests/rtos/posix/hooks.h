// SPDX-License-Identifier: MIT
// qemu-tests/rtos/posix: the kernel's hooks (bout_trace.h) as events of POSIX trace, by the macros
// that come with the recorder. In: the services' arguments. Out: events; and, for tests, how many
// there were of each kind, counted beside the recorder.
#ifndef BOUT_POSIX_HOOKS_H
#define BOUT_POSIX_HOOKS_H

#include "../../../libextract/recorder/target/ringside_rtos_hooks.h"

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
    BOUT_POSIX_QUEUE_SEND_FAILED,
    BOUT_POSIX_QUEUE_RECEIVE_FAILED,
    BOUT_POSIX_SEMAPHORE_GET_FAILED,
    BOUT_POSIX_MUTEX_GET,
    BOUT_POSIX_MUTEX_PUT,
    BOUT_POSIX_MUTEX_BLOCK,
    BOUT_POSIX_MUTEX_GET_FAILED,
    BOUT_POSIX_THREAD_READY,
    BOUT_POSIX_THREAD_SLEEP,
    BOUT_POSIX_THREAD_SUSPEND,
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
// One of three events: the call succeeds, or waits, or fails since it may not wait. In an interrupt
// it may not.
#define BOUT_POSIX_MAY_WAIT(wait) ((wait) && !bout_system_state)

typedef const TX_THREAD *bout_trace_mark; // the thread that becomes ready, or stops
#define BOUT_TRACE_NO_MARK NULL

#define BOUT_TRACE_THREAD_CREATE(thread)                                                           \
    BOUT_POSIX(THREAD_CREATE, thread, (thread)->tx_thread_priority)
#define BOUT_TRACE_THREAD_RESUME(thread, state) (thread)
#define BOUT_TRACE_THREAD_RESUMED(mark, next)   BOUT_POSIX(THREAD_READY, mark)
// The services that wait say for what.
#define BOUT_TRACE_THREAD_SUSPEND(thread, state) ((state) <= BOUT_SUSPENDED ? (thread) : NULL)
#define BOUT_TRACE_THREAD_SUSPENDED(mark, next)  BOUT_POSIX_IF(mark, THREAD_SUSPEND, mark)
#define BOUT_TRACE_THREAD_SLEEP(thread, ticks)   BOUT_POSIX(THREAD_SLEEP, thread, ticks)
#define BOUT_TRACE_SWITCH(left, entered)         BOUT_POSIX(SWITCH, left, entered)
#define BOUT_TRACE_QUEUE_SEND(queue, source, wait)                                                 \
    do {                                                                                           \
        if ((queue)->tx_queue_enqueued < (queue)->tx_queue_capacity)                               \
            BOUT_POSIX(QUEUE_SEND, queue, (queue)->tx_queue_enqueued + 1);                         \
        else if (BOUT_POSIX_MAY_WAIT(wait))                                                        \
            BOUT_POSIX(QUEUE_BLOCK, queue, _tx_thread_current_ptr, 1);                             \
        else                                                                                       \
            BOUT_POSIX(QUEUE_SEND_FAILED, queue);                                                  \
    } while (0)
#define BOUT_TRACE_QUEUE_RECEIVE(queue, target, wait)                                              \
    do {                                                                                           \
        if ((queue)->tx_queue_enqueued > 0)                                                        \
            BOUT_POSIX(QUEUE_RECEIVE, queue, (queue)->tx_queue_enqueued - 1);                      \
        else if (BOUT_POSIX_MAY_WAIT(wait))                                                        \
            BOUT_POSIX(QUEUE_BLOCK, queue, _tx_thread_current_ptr, 0);                             \
        else                                                                                       \
            BOUT_POSIX(QUEUE_RECEIVE_FAILED, queue);                                               \
    } while (0)
#define BOUT_TRACE_SEMAPHORE_GET(semaphore, wait)                                                  \
    do {                                                                                           \
        if ((semaphore)->tx_semaphore_count > 0)                                                   \
            BOUT_POSIX(SEMAPHORE_GET, semaphore, (semaphore)->tx_semaphore_count - 1);             \
        else if (BOUT_POSIX_MAY_WAIT(wait))                                                        \
            BOUT_POSIX(SEMAPHORE_BLOCK, semaphore, _tx_thread_current_ptr);                        \
        else                                                                                       \
            BOUT_POSIX(SEMAPHORE_GET_FAILED, semaphore);                                           \
    } while (0)
#define BOUT_TRACE_SEMAPHORE_PUT(semaphore)                                                        \
    BOUT_POSIX(SEMAPHORE_PUT, semaphore, (semaphore)->tx_semaphore_count + 1)

// The outermost calls. A mutex that is put goes to the first thread that waits for it.
#define BOUT_TRACE_MUTEX_GET(mutex, wait)                                                          \
    do {                                                                                           \
        if (!(mutex)->tx_mutex_owner)                                                              \
            BOUT_POSIX(MUTEX_GET, mutex, _tx_thread_current_ptr);                                  \
        else if ((mutex)->tx_mutex_owner == _tx_thread_current_ptr)                                \
            break;                                                                                 \
        else if (BOUT_POSIX_MAY_WAIT(wait))                                                        \
            BOUT_POSIX(MUTEX_BLOCK, mutex, _tx_thread_current_ptr, (mutex)->tx_mutex_owner);       \
        else                                                                                       \
            BOUT_POSIX(MUTEX_GET_FAILED, mutex);                                                   \
    } while (0)
#define BOUT_TRACE_MUTEX_PUT(mutex)                                                                \
    BOUT_POSIX_IF((mutex)->tx_mutex_ownership_count == 1, MUTEX_PUT, mutex, (mutex)->tx_mutex_owner)
#define BOUT_TRACE_MUTEX_GIVEN(mutex, thread) BOUT_POSIX(MUTEX_GET, mutex, thread)

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
