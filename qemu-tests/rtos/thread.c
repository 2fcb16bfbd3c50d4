// SPDX-License-Identifier: MIT
// qemu-tests/rtos: the life of threads. In: calls of the application. Out: threads in the list of
// all threads, and in the scheduler's while they are ready.
#include "kernel.h"

#define STACK_FILL 0xEF // untouched stack can be told from used one

TX_THREAD *_tx_thread_created_ptr;
ULONG _tx_thread_created_count;

static void created_append(TX_THREAD *thread)
{
    TX_THREAD *first = _tx_thread_created_ptr;
    if (_tx_thread_created_count++ == 0) {
        thread->tx_thread_created_next = thread->tx_thread_created_previous = thread;
        _tx_thread_created_ptr = thread;
        return;
    }
    thread->tx_thread_created_next = first;
    thread->tx_thread_created_previous = first->tx_thread_created_previous;
    first->tx_thread_created_previous->tx_thread_created_next = thread;
    first->tx_thread_created_previous = thread;
}

static void created_remove(TX_THREAD *thread)
{
    TX_THREAD *next = thread->tx_thread_created_next;
    next->tx_thread_created_previous = thread->tx_thread_created_previous;
    thread->tx_thread_created_previous->tx_thread_created_next = next;
    if (--_tx_thread_created_count == 0)
        _tx_thread_created_ptr = NULL;
    else if (_tx_thread_created_ptr == thread)
        _tx_thread_created_ptr = next;
}

void bout_thread_shell(void)
{
    TX_THREAD *self = _tx_thread_current_ptr;
    self->tx_thread_entry(self->tx_thread_entry_parameter);
    ULONG lock = bout_lock();
    bout_mutex_release_all(self);
    bout_suspend(self, BOUT_COMPLETED);
    // This function does not return: a completed thread is never ready again.
    bout_unlock(lock);
    for (;;)
        bout_port_idle();
}

static void thread_initialize(TX_THREAD *thread, const struct bout_thread_options *options)
{
    memset(thread, 0, sizeof *thread);
    thread->tx_thread_name = options->name;
    thread->tx_thread_entry = options->entry;
    thread->tx_thread_entry_parameter = options->parameter;
    thread->tx_thread_stack_start = options->stack;
    thread->tx_thread_stack_size = options->stack_size;
    thread->tx_thread_stack_end = (UCHAR *)options->stack + options->stack_size - 1;
    thread->tx_thread_priority = thread->tx_thread_user_priority = options->priority;
    thread->tx_thread_preempt_threshold = options->preempt_threshold;
    thread->tx_thread_user_preempt_threshold = options->preempt_threshold;
    thread->tx_thread_time_slice = thread->tx_thread_new_time_slice = options->time_slice;
    thread->tx_thread_timer.tx_timer_internal_timeout_function = bout_thread_timed_out;
    thread->tx_thread_timer.tx_timer_internal_timeout_param = thread;
    thread->tx_thread_state = BOUT_SUSPENDED;
    thread->tx_thread_id = BOUT_THREAD_ID;
    memset(options->stack, STACK_FILL, options->stack_size);
    thread->tx_thread_stack_ptr = bout_port_stack_build(options->stack, options->stack_size);
}

enum bout_status bout_thread_create(TX_THREAD *thread, const struct bout_thread_options *options)
{
    if (options->priority >= BOUT_PRIORITIES || options->preempt_threshold > options->priority)
        return BOUT_SIZE_ERROR;
    thread_initialize(thread, options);
    ULONG lock = bout_lock();
    created_append(thread);
    BOUT_TRACE_THREAD_CREATE(thread);
    if (!options->suspended)
        bout_ready(thread);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_thread_delete(TX_THREAD *thread)
{
    ULONG lock = bout_lock();
    if (thread->tx_thread_state != BOUT_COMPLETED && thread->tx_thread_state != BOUT_TERMINATED)
        return bout_leave(lock, BOUT_CALLER_ERROR);
    BOUT_TRACE_THREAD_DELETE(thread);
    created_remove(thread);
    thread->tx_thread_id = 0;
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_thread_terminate(TX_THREAD *thread)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_THREAD_TERMINATE(thread);
    bout_abandon_wait(thread);
    bout_mutex_release_all(thread);
    if (thread->tx_thread_state == BOUT_READY)
        bout_suspend(thread, BOUT_TERMINATED);
    thread->tx_thread_state = BOUT_TERMINATED;
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_thread_suspend(TX_THREAD *thread)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_THREAD_SUSPEND_API(thread);
    if (thread->tx_thread_state != BOUT_READY)
        return bout_leave(lock, BOUT_CALLER_ERROR);
    bout_suspend(thread, BOUT_SUSPENDED);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_thread_resume(TX_THREAD *thread)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_THREAD_RESUME_API(thread);
    if (thread->tx_thread_state != BOUT_SUSPENDED)
        return bout_leave(lock, BOUT_CALLER_ERROR);
    bout_ready(thread);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_thread_sleep(ULONG ticks)
{
    ULONG lock = bout_lock();
    TX_THREAD *self = _tx_thread_current_ptr;
    if (bout_system_state != 0)
        return bout_leave(lock, BOUT_CALLER_ERROR);
    BOUT_TRACE_THREAD_SLEEP(self, ticks);
    if (ticks == 0)
        return bout_leave(lock, BOUT_SUCCESS);
    bout_timer_run(&self->tx_thread_timer, ticks);
    bout_suspend(self, BOUT_SLEEPING);
    bout_unlock(lock);
    return self->tx_thread_suspend_status;
}

void bout_thread_relinquish(void)
{
    ULONG lock = bout_lock();
    TX_THREAD *self = _tx_thread_current_ptr;
    bout_trace_mark mark = BOUT_TRACE_THREAD_RELINQUISH(self);
    bout_release_threshold(self);
    bout_rotate(self->tx_thread_priority);
    BOUT_TRACE_THREAD_RELINQUISHED(mark, _tx_thread_execute_ptr);
    (void)mark;
    bout_unlock(lock);
}

enum bout_status bout_thread_priority_change(TX_THREAD *thread, UINT priority)
{
    if (priority >= BOUT_PRIORITIES)
        return BOUT_SIZE_ERROR;
    ULONG lock = bout_lock();
    BOUT_TRACE_THREAD_PRIORITY_CHANGE(thread, priority);
    thread->tx_thread_user_priority = thread->tx_thread_user_preempt_threshold = priority;
    bout_reprioritize(thread, priority, priority);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_thread_preemption_change(TX_THREAD *thread, UINT threshold)
{
    if (threshold > thread->tx_thread_user_priority)
        return BOUT_SIZE_ERROR;
    ULONG lock = bout_lock();
    BOUT_TRACE_THREAD_PREEMPTION_CHANGE(thread, threshold);
    thread->tx_thread_user_preempt_threshold = threshold;
    bout_reprioritize(thread, thread->tx_thread_priority, threshold);
    return bout_leave(lock, BOUT_SUCCESS);
}

TX_THREAD *bout_thread_identify(void)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_THREAD_IDENTIFY();
    bout_unlock(lock);
    return _tx_thread_current_ptr;
}
