// SPDX-License-Identifier: MIT
// qemu-tests/rtos: lists. In: threads that have to wait for an object, objects that come and go.
// Out: the waiters of each object in the order of their arrival, and the list of all objects.
#include "kernel.h"

struct bout_link bout_created[BOUT_KINDS];

void bout_created_add(enum bout_kind kind, struct bout_link *link)
{
    struct bout_link *head = &bout_created[kind];
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

void bout_created_remove(struct bout_link *link)
{
    link->next->previous = link->previous;
    link->previous->next = link->next;
}

static void waiters_append(struct bout_waiters *waiters, TX_THREAD *thread)
{
    TX_THREAD *first = waiters->first;
    thread->tx_thread_suspended_in = waiters;
    waiters->count++;
    if (first == NULL) {
        thread->tx_thread_suspended_next = thread->tx_thread_suspended_previous = thread;
        waiters->first = thread;
        return;
    }
    thread->tx_thread_suspended_next = first;
    thread->tx_thread_suspended_previous = first->tx_thread_suspended_previous;
    first->tx_thread_suspended_previous->tx_thread_suspended_next = thread;
    first->tx_thread_suspended_previous = thread;
}

static void waiters_remove(TX_THREAD *thread)
{
    struct bout_waiters *waiters = thread->tx_thread_suspended_in;
    TX_THREAD *next = thread->tx_thread_suspended_next;
    next->tx_thread_suspended_previous = thread->tx_thread_suspended_previous;
    thread->tx_thread_suspended_previous->tx_thread_suspended_next = next;
    if (waiters->first == thread)
        waiters->first = next == thread ? NULL : next;
    waiters->count--;
    thread->tx_thread_suspended_in = NULL;
}

enum bout_status bout_wait(void *object, struct bout_waiters *waiters, enum bout_thread_state state,
                           enum bout_status failure, ULONG wait, ULONG lock)
{
    TX_THREAD *self = _tx_thread_current_ptr;
    // Interrupt handlers and the initialization have no context that could wait.
    if (wait == BOUT_NO_WAIT || bout_system_state != 0)
        return bout_leave(lock, failure);
    self->tx_thread_suspend_status = failure;
    self->tx_thread_suspend_control_block = object;
    waiters_append(waiters, self);
    // ThreadX notes this, too, when it starts no timer.
    self->tx_thread_timer.tx_timer_internal_remaining_ticks = wait;
    if (wait != BOUT_WAIT_FOREVER)
        bout_timer_run(&self->tx_thread_timer, wait);
    bout_suspend(self, state);
    // Others run in here, until one of them, or the time-out, makes this thread ready.
    bout_unlock(lock);
    BOUT_TRACE_WAITED(self->tx_thread_suspend_status == BOUT_SUCCESS);
    return self->tx_thread_suspend_status;
}

void bout_abandon_wait(TX_THREAD *thread)
{
    bout_timer_stop(&thread->tx_thread_timer);
    if (thread->tx_thread_suspended_in != NULL)
        waiters_remove(thread);
}

void bout_wake(TX_THREAD *thread, enum bout_status status)
{
    bout_abandon_wait(thread);
    thread->tx_thread_suspend_status = status;
    bout_ready(thread);
}

void bout_wake_all(struct bout_waiters *waiters, enum bout_status status)
{
    while (waiters->first != NULL)
        bout_wake(waiters->first, status);
}

void bout_thread_timed_out(void *thread)
{
    TX_THREAD *self = thread;
    enum bout_status status =
        self->tx_thread_state == BOUT_SLEEPING ? BOUT_SUCCESS : self->tx_thread_suspend_status;
    bout_wake(self, status);
}
