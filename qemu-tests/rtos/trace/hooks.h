// SPDX-License-Identifier: MIT
// qemu-tests/rtos/trace: the kernel's hooks (bout_trace.h) as events of the ThreadX layout. In: the
// services' arguments. Out: calls of the recorder, with the information fields in the order that
// the ThreadX event catalogue gives them.
#ifndef BOUT_TRACE_THREADX_HOOKS_H
#define BOUT_TRACE_THREADX_HOOKS_H

#include "trace.h"

// An entry that is completed later. Its timestamp distinguishes it from a newer entry in the same
// slot.
typedef struct {
    volatile TX_TRACE_BUFFER_ENTRY *entry;
    ULONG time_stamp;
} bout_trace_mark;

#define BOUT_SP ((ULONG)__builtin_frame_address(0))

static inline void bout_trace_event(ULONG class, ULONG id, ULONG info1, ULONG info2, ULONG info3,
                                    ULONG info4)
{
    if (_tx_trace_buffer_current_ptr != NULL && (_tx_trace_event_enable_bits & class))
        _tx_trace_event_insert_impl(id, info1, info2, info3, info4);
}

// A class that is filtered out leaves the slot as it is, and the mark points at it all the same:
// so does ThreadX, and readers have to live with the word that is then written to an old entry.
static inline bout_trace_mark bout_trace_marked_event(ULONG class, ULONG id, ULONG info1,
                                                      ULONG info2, ULONG info3, ULONG info4)
{
    bout_trace_mark mark = {.entry = _tx_trace_buffer_current_ptr};
    bout_trace_event(class, id, info1, info2, info3, info4);
    if (mark.entry != NULL)
        mark.time_stamp = mark.entry->tx_trace_buffer_entry_time_stamp;
    return mark;
}

static inline bool bout_trace_mark_holds(bout_trace_mark mark)
{
    return mark.entry != NULL && mark.entry->tx_trace_buffer_entry_time_stamp == mark.time_stamp;
}

static inline void bout_trace_patch_2(bout_trace_mark mark, const void *value)
{
    if (bout_trace_mark_holds(mark))
        mark.entry->tx_trace_buffer_entry_information_field_2 = (ULONG)value;
}

static inline void bout_trace_patch_4(bout_trace_mark mark, const void *value)
{
    if (bout_trace_mark_holds(mark))
        mark.entry->tx_trace_buffer_entry_information_field_4 = (ULONG)value;
}

#define BOUT_EVENT(class, id, i1, i2, i3, i4)                                                      \
    bout_trace_event(TX_TRACE_##class, TX_TRACE_##id, (ULONG)(i1), (ULONG)(i2), (ULONG)(i3),       \
                     (ULONG)(i4))
#define BOUT_MARKED_EVENT(class, id, i1, i2, i3, i4)                                               \
    bout_trace_marked_event(TX_TRACE_##class, TX_TRACE_##id, (ULONG)(i1), (ULONG)(i2),             \
                            (ULONG)(i3), (ULONG)(i4))

#define BOUT_TRACE_THREAD_RESUME(thread, state)                                                    \
    BOUT_MARKED_EVENT(INTERNAL_EVENTS, THREAD_RESUME, thread, state, BOUT_SP, 0)
#define BOUT_TRACE_THREAD_RESUMED(mark, next) bout_trace_patch_4(mark, next)
#define BOUT_TRACE_THREAD_SUSPEND(thread, state)                                                   \
    BOUT_MARKED_EVENT(INTERNAL_EVENTS, THREAD_SUSPEND, thread, state, BOUT_SP, 0)
#define BOUT_TRACE_THREAD_SUSPENDED(mark, next) bout_trace_patch_4(mark, next)
#define BOUT_TRACE_THREAD_RELINQUISH(thread)                                                       \
    BOUT_MARKED_EVENT(THREAD_EVENTS, THREAD_RELINQUISH, BOUT_SP, 0, 0, 0)
#define BOUT_TRACE_THREAD_RELINQUISHED(mark, next) bout_trace_patch_2(mark, next)
#define BOUT_TRACE_TIME_SLICE(next)                                                                \
    BOUT_EVENT(INTERNAL_EVENTS, TIME_SLICE, next, bout_trace_system_state(), 0, BOUT_SP)
#define BOUT_TRACE_ISR_ENTER(id)                                                                   \
    BOUT_EVENT(INTERNAL_EVENTS, ISR_ENTER, BOUT_SP, id, bout_trace_system_state(), 0)
#define BOUT_TRACE_ISR_EXIT(id)                                                                    \
    BOUT_EVENT(INTERNAL_EVENTS, ISR_EXIT, BOUT_SP, id, bout_trace_system_state(), 0)
#define BOUT_TRACE_INTERRUPT_CONTROL(posture)                                                      \
    BOUT_EVENT(INTERRUPT_CONTROL_EVENT, INTERRUPT_CONTROL, posture, BOUT_SP, 0, 0)

#define BOUT_TRACE_THREAD_CREATE(thread)                                                           \
    do {                                                                                           \
        bout_trace_register_thread(thread);                                                        \
        BOUT_EVENT(THREAD_EVENTS, THREAD_CREATE, thread, (thread)->tx_thread_priority,             \
                   (thread)->tx_thread_stack_ptr, (thread)->tx_thread_stack_size);                 \
    } while (0)
#define BOUT_TRACE_THREAD_DELETE(thread)                                                           \
    do {                                                                                           \
        BOUT_EVENT(THREAD_EVENTS, THREAD_DELETE, thread, BOUT_SP, 0, 0);                           \
        bout_trace_unregister(thread);                                                             \
    } while (0)
#define BOUT_THREAD_EVENT(id, thread)                                                              \
    BOUT_EVENT(THREAD_EVENTS, id, thread, (thread)->tx_thread_state, BOUT_SP, 0)
#define BOUT_TRACE_THREAD_TERMINATE(thread)   BOUT_THREAD_EVENT(THREAD_TERMINATE, thread)
#define BOUT_TRACE_THREAD_SUSPEND_API(thread) BOUT_THREAD_EVENT(THREAD_SUSPEND_API, thread)
#define BOUT_TRACE_THREAD_RESUME_API(thread)  BOUT_THREAD_EVENT(THREAD_RESUME_API, thread)
#define BOUT_TRACE_THREAD_SLEEP(thread, ticks)                                                     \
    BOUT_EVENT(THREAD_EVENTS, THREAD_SLEEP, ticks, (thread)->tx_thread_state, BOUT_SP, 0)
#define BOUT_TRACE_THREAD_PRIORITY_CHANGE(thread, priority)                                        \
    BOUT_EVENT(THREAD_EVENTS, THREAD_PRIORITY_CHANGE, thread, priority,                            \
               (thread)->tx_thread_priority, (thread)->tx_thread_state)
#define BOUT_TRACE_THREAD_PREEMPTION_CHANGE(thread, threshold)                                     \
    BOUT_EVENT(THREAD_EVENTS, THREAD_PREEMPTION_CHANGE, thread, threshold,                         \
               (thread)->tx_thread_preempt_threshold, (thread)->tx_thread_state)
#define BOUT_TRACE_THREAD_IDENTIFY() BOUT_EVENT(THREAD_EVENTS, THREAD_IDENTIFY, 0, 0, 0, 0)

// An object's creation: registered first, so that the event's pointer has a name.
#define BOUT_CREATED(class, kind, object, name, param_1, param_2, i2, i3, i4)                      \
    do {                                                                                           \
        bout_trace_register(TX_TRACE_OBJECT_TYPE_##kind, object, name, (ULONG)(param_1),           \
                            (ULONG)(param_2));                                                     \
        BOUT_EVENT(class, kind##_CREATE, object, i2, i3, i4);                                      \
    } while (0)
#define BOUT_DELETED_OBJECT(class, id, object)                                                     \
    do {                                                                                           \
        BOUT_EVENT(class, id, object, BOUT_SP, 0, 0);                                              \
        bout_trace_unregister(object);                                                             \
    } while (0)

#define BOUT_TRACE_QUEUE_CREATE(queue)                                                             \
    BOUT_CREATED(QUEUE_EVENTS, QUEUE, queue, (queue)->tx_queue_name,                               \
                 (queue)->tx_queue_capacity *(queue)->tx_queue_message_size * sizeof(ULONG),       \
                 (queue)->tx_queue_message_size, (queue)->tx_queue_message_size,                   \
                 (queue)->tx_queue_start,                                                          \
                 (queue)->tx_queue_capacity * (queue)->tx_queue_message_size * sizeof(ULONG))
#define BOUT_TRACE_QUEUE_DELETE(queue) BOUT_DELETED_OBJECT(QUEUE_EVENTS, QUEUE_DELETE, queue)
#define BOUT_TRACE_QUEUE_SEND(queue, source, wait)                                                 \
    BOUT_EVENT(QUEUE_EVENTS, QUEUE_SEND, queue, source, wait, (queue)->tx_queue_enqueued)
#define BOUT_TRACE_QUEUE_RECEIVE(queue, target, wait)                                              \
    BOUT_EVENT(QUEUE_EVENTS, QUEUE_RECEIVE, queue, target, wait, (queue)->tx_queue_enqueued)

#define BOUT_TRACE_SEMAPHORE_CREATE(semaphore)                                                     \
    BOUT_CREATED(SEMAPHORE_EVENTS, SEMAPHORE, semaphore, (semaphore)->tx_semaphore_name,           \
                 (semaphore)->tx_semaphore_count, 0, (semaphore)->tx_semaphore_count, BOUT_SP, 0)
#define BOUT_TRACE_SEMAPHORE_DELETE(semaphore)                                                     \
    BOUT_DELETED_OBJECT(SEMAPHORE_EVENTS, SEMAPHORE_DELETE, semaphore)
#define BOUT_TRACE_SEMAPHORE_GET(semaphore, wait)                                                  \
    BOUT_EVENT(SEMAPHORE_EVENTS, SEMAPHORE_GET, semaphore, wait, (semaphore)->tx_semaphore_count,  \
               BOUT_SP)
#define BOUT_TRACE_SEMAPHORE_PUT(semaphore)                                                        \
    BOUT_EVENT(SEMAPHORE_EVENTS, SEMAPHORE_PUT, semaphore, (semaphore)->tx_semaphore_count,        \
               (semaphore)->tx_semaphore_waiters.count, BOUT_SP)

#define BOUT_TRACE_MUTEX_CREATE(mutex)                                                             \
    BOUT_CREATED(MUTEX_EVENTS, MUTEX, mutex, (mutex)->tx_mutex_name, (mutex)->tx_mutex_inherit, 0, \
                 (mutex)->tx_mutex_inherit, BOUT_SP, 0)
#define BOUT_TRACE_MUTEX_DELETE(mutex) BOUT_DELETED_OBJECT(MUTEX_EVENTS, MUTEX_DELETE, mutex)
#define BOUT_TRACE_MUTEX_GET(mutex, wait)                                                          \
    BOUT_EVENT(MUTEX_EVENTS, MUTEX_GET, mutex, wait, (mutex)->tx_mutex_owner,                      \
               (mutex)->tx_mutex_ownership_count)
#define BOUT_TRACE_MUTEX_PUT(mutex)                                                                \
    BOUT_EVENT(MUTEX_EVENTS, MUTEX_PUT, mutex, (mutex)->tx_mutex_owner,                            \
               (mutex)->tx_mutex_ownership_count, BOUT_SP)

#define BOUT_TRACE_EVENT_FLAGS_CREATE(group)                                                       \
    BOUT_CREATED(EVENT_FLAGS_EVENTS, EVENT_FLAGS, group, (group)->tx_event_flags_group_name, 0, 0, \
                 BOUT_SP, 0, 0)
#define BOUT_TRACE_EVENT_FLAGS_DELETE(group)                                                       \
    BOUT_DELETED_OBJECT(EVENT_FLAGS_EVENTS, EVENT_FLAGS_DELETE, group)
#define BOUT_TRACE_EVENT_FLAGS_GET(group, wanted, option)                                          \
    BOUT_EVENT(EVENT_FLAGS_EVENTS, EVENT_FLAGS_GET, group, wanted,                                 \
               (group)->tx_event_flags_group_current, option)
#define BOUT_TRACE_EVENT_FLAGS_SET(group, flags, option)                                           \
    BOUT_EVENT(EVENT_FLAGS_EVENTS, EVENT_FLAGS_SET, group, flags, option,                          \
               (group)->tx_event_flags_group_waiters.count)

#define BOUT_TRACE_BLOCK_POOL_CREATE(pool)                                                         \
    BOUT_CREATED(BLOCK_POOL_EVENTS, BLOCK_POOL, pool, (pool)->tx_block_pool_name,                  \
                 (pool)->tx_block_pool_size, (pool)->tx_block_pool_block_size,                     \
                 (pool)->tx_block_pool_start, (pool)->tx_block_pool_total,                         \
                 (pool)->tx_block_pool_block_size)
#define BOUT_TRACE_BLOCK_POOL_DELETE(pool)                                                         \
    BOUT_DELETED_OBJECT(BLOCK_POOL_EVENTS, BLOCK_POOL_DELETE, pool)
#define BOUT_TRACE_BLOCK_ALLOCATE(pool, wait)                                                      \
    BOUT_MARKED_EVENT(BLOCK_POOL_EVENTS, BLOCK_ALLOCATE, pool, 0, wait,                            \
                      (pool)->tx_block_pool_available)
#define BOUT_TRACE_BLOCK_ALLOCATED(mark, block) bout_trace_patch_2(mark, block)
#define BOUT_TRACE_BLOCK_RELEASE(pool, block)                                                      \
    BOUT_EVENT(BLOCK_POOL_EVENTS, BLOCK_RELEASE, pool, block, (pool)->tx_block_pool_waiters.count, \
               BOUT_SP)

#define BOUT_TRACE_BYTE_POOL_CREATE(pool)                                                          \
    BOUT_CREATED(BYTE_POOL_EVENTS, BYTE_POOL, pool, (pool)->tx_byte_pool_name,                     \
                 (pool)->tx_byte_pool_size, 0, (pool)->tx_byte_pool_start,                         \
                 (pool)->tx_byte_pool_size, BOUT_SP)
#define BOUT_TRACE_BYTE_POOL_DELETE(pool)                                                          \
    BOUT_DELETED_OBJECT(BYTE_POOL_EVENTS, BYTE_POOL_DELETE, pool)
#define BOUT_TRACE_BYTE_ALLOCATE(pool, bytes, wait)                                                \
    BOUT_MARKED_EVENT(BYTE_POOL_EVENTS, BYTE_ALLOCATE, pool, 0, bytes, wait)
#define BOUT_TRACE_BYTE_ALLOCATED(mark, memory) bout_trace_patch_2(mark, memory)
#define BOUT_TRACE_BYTE_RELEASE(pool, memory)                                                      \
    BOUT_EVENT(BYTE_POOL_EVENTS, BYTE_RELEASE, pool, memory, (pool)->tx_byte_pool_waiters.count,   \
               (pool)->tx_byte_pool_available)

#define BOUT_TRACE_TIMER_CREATE(timer, start)                                                      \
    BOUT_CREATED(TIMER_EVENTS, TIMER, timer, (timer)->tx_timer_name, (timer)->tx_timer_first,      \
                 (timer)->tx_timer_internal.tx_timer_internal_re_initialize_ticks,                 \
                 (timer)->tx_timer_first,                                                          \
                 (timer)->tx_timer_internal.tx_timer_internal_re_initialize_ticks, start)
#define BOUT_TRACE_TIMER_DELETE(timer)   BOUT_DELETED_OBJECT(TIMER_EVENTS, TIMER_DELETE, timer)
#define BOUT_TRACE_TIMER_ACTIVATE(timer) BOUT_EVENT(TIMER_EVENTS, TIMER_ACTIVATE, timer, 0, 0, 0)
#define BOUT_TRACE_TIMER_DEACTIVATE(timer)                                                         \
    BOUT_EVENT(TIMER_EVENTS, TIMER_DEACTIVATE, timer, BOUT_SP, 0, 0)
#define BOUT_TRACE_TIME_GET(now) BOUT_EVENT(TIME_EVENTS, TIME_GET, now, BOUT_SP, 0, 0)

#endif
