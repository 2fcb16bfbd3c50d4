// SPDX-License-Identifier: MIT
// target: FreeRTOS's trace macros as events of ringside_rtos_hooks.h, for FreeRTOS 10 and 11 on one
// core.
//
// To use it:
//   1. Include it at the end of FreeRTOSConfig.h.
//   2. Compile ringside_trace.c. The header that RINGSIDE_TRACE_PORT names has, before it includes
//      the core's port:
//          #include "ringside_freertos_thread.h"
//   3. At the start of main(), call
//          ringside_trace_init();
//          ringside_rtos_hooks_open();
//          ringside_trace_start(POSIX_TRACE_LOOP);
//
// Tasks have the names in their control blocks, if the firmware has DWARF. Other objects have the
// names of FreeRTOS's queue registry, or those of the variables that contain them.
//
// Source: FreeRTOS's documentation, "Trace Hook Macros".
#ifndef RINGSIDE_FREERTOS_H
#define RINGSIDE_FREERTOS_H
#ifndef __ASSEMBLER__ // some ports include FreeRTOSConfig.h in assembler files

#define RINGSIDE_RTOS_HIGH_FIRST 1
#include "ringside_freertos_thread.h"
#include "ringside_rtos_hooks.h"

#if defined configNUMBER_OF_CORES && configNUMBER_OF_CORES > 1
#error "ringside_freertos.h is for FreeRTOS on one core"
#endif
#ifndef RINGSIDE_FREERTOS_TICKS
#define RINGSIDE_FREERTOS_TICKS 1 // record each tick: it shows which waits ended by their time
#endif

// Each file that includes this header offers the variables; the linker keeps one of each.
__attribute__((weak)) struct ringside_rtos_events ringside_rtos_events;
__attribute__((weak)) void *volatile ringside_freertos_thread;

// FreeRTOS reports a task that gets the core even if it had it before.
static inline void ringside_freertos_enter(void *task)
{
    void *left = ringside_freertos_thread;

    if (left == task)
        return;
    if (left)
        RINGSIDE_RTOS_SWITCH(left, task);
    else
        RINGSIDE_RTOS_START(task);
    ringside_freertos_thread = task;
}

// clang-format off

// ---- tasks ----

#define traceTASK_SWITCHED_IN() ringside_freertos_enter((void *)pxCurrentTCB)
#define traceTASK_CREATE(task)                                                                     \
    do {                                                                                           \
        RINGSIDE_RTOS_THREAD_CREATE(task, (task)->uxPriority);                                     \
        RINGSIDE_RTOS_OBJECT_NAME(task, (task)->pcTaskName);                                       \
    } while (0)
#define traceTASK_DELETE(task)                       RINGSIDE_RTOS_THREAD_DELETE(task)
#define traceTASK_PRIORITY_SET(task, priority)       RINGSIDE_RTOS_THREAD_PRIORITY(task, priority)
#define traceTASK_PRIORITY_INHERIT(task, priority)   RINGSIDE_RTOS_PRIORITY_INHERIT(task, priority)
#define traceTASK_PRIORITY_DISINHERIT(task, priority)                                              \
    RINGSIDE_RTOS_PRIORITY_DISINHERIT(task, priority)
#define traceMOVED_TASK_TO_READY_STATE(task)         RINGSIDE_RTOS_THREAD_READY(task)
#define traceTASK_DELAY()                            RINGSIDE_RTOS_THREAD_SLEEP(pxCurrentTCB, 0)
#define traceTASK_DELAY_UNTIL(wake)                                                                \
    RINGSIDE_RTOS_THREAD_SLEEP(pxCurrentTCB, (TickType_t)((wake) - xTickCount))
#define traceTASK_SUSPEND(task)                      RINGSIDE_RTOS_THREAD_SUSPEND(task)
#define traceTASK_RESUME(task)                       RINGSIDE_RTOS_THREAD_RESUME(task)
#define traceTASK_RESUME_FROM_ISR(task)              RINGSIDE_RTOS_THREAD_RESUME(task)

// Notifications. FreeRTOS 10.4 and newer pass the number of the notification.
#define traceTASK_NOTIFY(...)                        RINGSIDE_RTOS_NOTIFY(0)
#define traceTASK_NOTIFY_FROM_ISR(...)               RINGSIDE_RTOS_NOTIFY(0)
#define traceTASK_NOTIFY_GIVE_FROM_ISR(...)          RINGSIDE_RTOS_NOTIFY(0)
#define traceTASK_NOTIFY_TAKE_BLOCK(...)             RINGSIDE_RTOS_NOTIFY_BLOCK(pxCurrentTCB)
#define traceTASK_NOTIFY_WAIT_BLOCK(...)             RINGSIDE_RTOS_NOTIFY_BLOCK(pxCurrentTCB)
#define traceTASK_NOTIFY_TAKE(...)                   RINGSIDE_RTOS_NOTIFY_GET(pxCurrentTCB)
#define traceTASK_NOTIFY_WAIT(...)                   RINGSIDE_RTOS_NOTIFY_GET(pxCurrentTCB)

// ---- interrupts and the tick ----

#define traceISR_ENTER()                             RINGSIDE_RTOS_ISR_ENTER(0)
#define traceISR_EXIT()                              RINGSIDE_RTOS_ISR_EXIT(0)
#define traceISR_EXIT_TO_SCHEDULER()                 RINGSIDE_RTOS_ISR_EXIT(0)
#if RINGSIDE_FREERTOS_TICKS
#define traceTASK_INCREMENT_TICK(count)              RINGSIDE_RTOS_TICK(count)
#endif
#define traceLOW_POWER_IDLE_BEGIN()                  RINGSIDE_RTOS_IDLE_ENTER()
#define traceLOW_POWER_IDLE_END()                    RINGSIDE_RTOS_IDLE_EXIT()

// ---- queues, semaphores and mutexes, which are all queues ----

// A mutex has no storage, a semaphore has messages without bytes.
#if defined configUSE_TRACE_FACILITY && configUSE_TRACE_FACILITY == 1
#define RINGSIDE_FREERTOS_IS_MUTEX(q)     ((q)->ucQueueType == 1 || (q)->ucQueueType == 4)
#define RINGSIDE_FREERTOS_IS_SEMAPHORE(q) ((q)->ucQueueType == 2 || (q)->ucQueueType == 3)
#else
#define RINGSIDE_FREERTOS_IS_MUTEX(q)     ((q)->pcHead == NULL)
#define RINGSIDE_FREERTOS_IS_SEMAPHORE(q) ((q)->uxItemSize == 0)
#endif
#define RINGSIDE_FREERTOS_BY_TYPE(q, of_mutex, of_semaphore, of_queue)                             \
    do {                                                                                           \
        if (RINGSIDE_FREERTOS_IS_MUTEX(q))                                                         \
            of_mutex;                                                                              \
        else if (RINGSIDE_FREERTOS_IS_SEMAPHORE(q))                                                \
            of_semaphore;                                                                          \
        else                                                                                       \
            of_queue;                                                                              \
    } while (0)

#define traceQUEUE_CREATE(q)                                                                       \
    RINGSIDE_FREERTOS_BY_TYPE(q, RINGSIDE_RTOS_MUTEX_CREATE(q),                                    \
                              RINGSIDE_RTOS_SEMAPHORE_CREATE(q, (q)->uxMessagesWaiting),           \
                              RINGSIDE_RTOS_QUEUE_CREATE(q, (q)->uxLength))
#define traceQUEUE_DELETE(q)                                                                       \
    RINGSIDE_FREERTOS_BY_TYPE(q, RINGSIDE_RTOS_MUTEX_DELETE(q), RINGSIDE_RTOS_SEMAPHORE_DELETE(q), \
                              RINGSIDE_RTOS_QUEUE_DELETE(q))
#define traceQUEUE_REGISTRY_ADD(q, name)             RINGSIDE_RTOS_OBJECT_NAME(q, name)
// FreeRTOS calls these before it changes the count, and before it changes a mutex's holder.
#define traceQUEUE_SEND(q)                                                                         \
    RINGSIDE_FREERTOS_BY_TYPE(                                                                     \
        q, RINGSIDE_RTOS_MUTEX_PUT(q, (q)->u.xSemaphore.xMutexHolder),                             \
        RINGSIDE_RTOS_SEMAPHORE_PUT(q, (q)->uxMessagesWaiting + 1),                                \
        RINGSIDE_RTOS_QUEUE_SEND(q, (q)->uxMessagesWaiting + 1))
#define traceQUEUE_RECEIVE(q)                                                                      \
    RINGSIDE_FREERTOS_BY_TYPE(q, RINGSIDE_RTOS_MUTEX_GET(q, ringside_freertos_thread),             \
                              RINGSIDE_RTOS_SEMAPHORE_GET(q, (q)->uxMessagesWaiting - 1),          \
                              RINGSIDE_RTOS_QUEUE_RECEIVE(q, (q)->uxMessagesWaiting - 1))
#define traceQUEUE_SEND_FAILED(q)                    RINGSIDE_RTOS_QUEUE_SEND_FAILED(q)
#define traceQUEUE_RECEIVE_FAILED(q)                                                               \
    RINGSIDE_FREERTOS_BY_TYPE(q, RINGSIDE_RTOS_MUTEX_GET_FAILED(q),                                \
                              RINGSIDE_RTOS_SEMAPHORE_GET_FAILED(q),                               \
                              RINGSIDE_RTOS_QUEUE_RECEIVE_FAILED(q))
#define traceQUEUE_SEND_FROM_ISR(q)                  traceQUEUE_SEND(q)
#define traceQUEUE_RECEIVE_FROM_ISR(q)               traceQUEUE_RECEIVE(q)
#define traceQUEUE_SEND_FROM_ISR_FAILED(q)           traceQUEUE_SEND_FAILED(q)
#define traceQUEUE_RECEIVE_FROM_ISR_FAILED(q)        traceQUEUE_RECEIVE_FAILED(q)
#define traceBLOCKING_ON_QUEUE_SEND(q)                                                             \
    RINGSIDE_RTOS_QUEUE_BLOCK(q, ringside_freertos_thread, 1)
#define traceBLOCKING_ON_QUEUE_PEEK(q)                                                             \
    RINGSIDE_RTOS_QUEUE_BLOCK(q, ringside_freertos_thread, 0)
#define traceBLOCKING_ON_QUEUE_RECEIVE(q)                                                          \
    RINGSIDE_FREERTOS_BY_TYPE(                                                                     \
        q,                                                                                         \
        RINGSIDE_RTOS_MUTEX_BLOCK(q, ringside_freertos_thread, (q)->u.xSemaphore.xMutexHolder),    \
        RINGSIDE_RTOS_SEMAPHORE_BLOCK(q, ringside_freertos_thread),                                \
        RINGSIDE_RTOS_QUEUE_BLOCK(q, ringside_freertos_thread, 0))

// ---- event groups ----

#define traceEVENT_GROUP_CREATE(group)               RINGSIDE_RTOS_FLAGS_CREATE(group)
#define traceEVENT_GROUP_DELETE(group)               RINGSIDE_RTOS_FLAGS_DELETE(group)
#define traceEVENT_GROUP_SET_BITS(group, bits)       RINGSIDE_RTOS_FLAGS_SET(group, bits)
#define traceEVENT_GROUP_CLEAR_BITS(group, bits)     RINGSIDE_RTOS_FLAGS_CLEAR(group, bits)
#define traceEVENT_GROUP_WAIT_BITS_BLOCK(group, bits)                                              \
    RINGSIDE_RTOS_FLAGS_BLOCK(group, ringside_freertos_thread, bits)
#define traceEVENT_GROUP_SYNC_BLOCK(group, set, bits)                                              \
    RINGSIDE_RTOS_FLAGS_BLOCK(group, ringside_freertos_thread, bits)

// ---- stream and message buffers ----

// They wait for a notification, which is recorded, too. Tools take the two as one wait.

#define traceSTREAM_BUFFER_CREATE(stream, ...)       RINGSIDE_RTOS_STREAM_CREATE(stream)
#define traceSTREAM_BUFFER_DELETE(stream)            RINGSIDE_RTOS_STREAM_DELETE(stream)
#define traceSTREAM_BUFFER_SEND(stream, bytes)       RINGSIDE_RTOS_STREAM_SEND(stream, bytes)
#define traceSTREAM_BUFFER_SEND_FROM_ISR(stream, bytes)                                            \
    RINGSIDE_RTOS_STREAM_SEND(stream, bytes)
#define traceBLOCKING_ON_STREAM_BUFFER_SEND(stream)                                                \
    RINGSIDE_RTOS_STREAM_BLOCK(stream, ringside_freertos_thread, 1)
#define traceBLOCKING_ON_STREAM_BUFFER_RECEIVE(stream)                                             \
    RINGSIDE_RTOS_STREAM_BLOCK(stream, ringside_freertos_thread, 0)
#define traceSTREAM_BUFFER_RECEIVE(stream, bytes)    RINGSIDE_RTOS_STREAM_RECEIVE(stream, bytes)
#define traceSTREAM_BUFFER_RECEIVE_FROM_ISR(stream, bytes)                                         \
    RINGSIDE_RTOS_STREAM_RECEIVE(stream, bytes)

// ---- software timers and the heap ----

#define traceTIMER_CREATE(timer)                     RINGSIDE_RTOS_TIMER_CREATE(timer)
#define traceTIMER_EXPIRED(timer)                    RINGSIDE_RTOS_TIMER_EXPIRE(timer)
#define traceMALLOC(address, bytes)                  RINGSIDE_RTOS_MEMORY_ALLOCATE(address, bytes)
#define traceFREE(address, bytes)                    RINGSIDE_RTOS_MEMORY_FREE(address, bytes)

// clang-format on

#endif
#endif
