// SPDX-License-Identifier: MIT
// qemu-tests/rtos/freertos: the kernel's hooks (bout_trace.h) as calls of FreeRTOS's trace macros.
#ifndef BOUT_FREERTOS_HOOKS_H
#define BOUT_FREERTOS_HOOKS_H

#include "freertos/freertos.h"

typedef const TX_THREAD *bout_trace_mark; // the thread that becomes ready, or stops
#define BOUT_TRACE_NO_MARK NULL

#define BOUT_FREERTOS_MAY_WAIT(wait) ((wait) && !bout_system_state)

#define BOUT_TRACE_THREAD_CREATE(thread)        freertos_create_task(thread)
#define BOUT_TRACE_THREAD_RESUME(thread, state) (thread)
#define BOUT_TRACE_THREAD_RESUMED(mark, next)   freertos_ready(mark)
// The services that wait say for what.
#define BOUT_TRACE_THREAD_SUSPEND(thread, state) ((state) <= BOUT_SUSPENDED ? (thread) : NULL)
#define BOUT_TRACE_THREAD_SUSPENDED(mark, next)  ((mark) ? freertos_suspend(mark) : (void)0)
#define BOUT_TRACE_THREAD_SLEEP(thread, ticks)   freertos_sleep(ticks)
#define BOUT_TRACE_SWITCH(left, entered)         freertos_switch(entered)
#define BOUT_TRACE_WAITED(is_success)            freertos_waited(is_success)
#define BOUT_TRACE_QUEUE_CREATE(queue)                                                             \
    freertos_create_queue(queue, (queue)->tx_queue_name, queueQUEUE_TYPE_BASE,                     \
                          (queue)->tx_queue_capacity)
#define BOUT_TRACE_QUEUE_SEND(queue, source, wait) freertos_send(queue, (queue)->tx_queue_enqueued)
#define BOUT_TRACE_QUEUE_RECEIVE(queue, target, wait)                                              \
    freertos_receive(queue, (queue)->tx_queue_enqueued, BOUT_FREERTOS_MAY_WAIT(wait))
#define BOUT_TRACE_SEMAPHORE_CREATE(semaphore)                                                     \
    freertos_create_counting(semaphore, (semaphore)->tx_semaphore_name, 100,                       \
                             (semaphore)->tx_semaphore_count)
#define BOUT_TRACE_SEMAPHORE_PUT(semaphore)                                                        \
    freertos_send(semaphore, (semaphore)->tx_semaphore_count)
#define BOUT_TRACE_SEMAPHORE_GET(semaphore, wait)                                                  \
    freertos_receive(semaphore, (semaphore)->tx_semaphore_count, BOUT_FREERTOS_MAY_WAIT(wait))
#define BOUT_TRACE_MUTEX_CREATE(mutex)                                                             \
    freertos_create_queue(mutex, (mutex)->tx_mutex_name, queueQUEUE_TYPE_MUTEX, 1)
#define BOUT_TRACE_MUTEX_GET(mutex, wait) freertos_take(mutex, BOUT_FREERTOS_MAY_WAIT(wait))
#define BOUT_TRACE_MUTEX_PUT(mutex)       freertos_give(mutex)

#define BOUT_TRACE_ISR_ENTER(id) freertos_isr_enter(id)
#define BOUT_TRACE_ISR_EXIT(id)  ((void)(id), freertos_isr_exit())

#endif
