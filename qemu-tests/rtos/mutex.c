// SPDX-License-Identifier: MIT
// qemu-tests/rtos: mutexes. In: threads that want to be alone. Out: one owner at a time, which may
// own it several times over, and which inherits the priority of its most urgent waiter where that
// was asked for. Inheritance goes one step far: an owner that waits itself passes nothing on.
#include "kernel.h"

static TX_THREAD *most_urgent_waiter(const TX_MUTEX *mutex)
{
    TX_THREAD *first = mutex->tx_mutex_waiters.first, *best = first;
    if (first == NULL || !mutex->tx_mutex_inherit)
        return first;
    for (TX_THREAD *thread = first->tx_thread_suspended_next; thread != first;
         thread = thread->tx_thread_suspended_next) {
        if (thread->tx_thread_priority < best->tx_thread_priority)
            best = thread;
    }
    return best;
}

// The owner's priority as it follows from what it was created with and who waits for it.
static void adjust_owner(TX_THREAD *owner)
{
    UINT priority = owner->tx_thread_user_priority;
    UINT threshold = owner->tx_thread_user_preempt_threshold;
    for (TX_MUTEX *mutex = owner->tx_thread_owned_mutexes; mutex != NULL;
         mutex = mutex->tx_mutex_owned_next) {
        TX_THREAD *waiter = mutex->tx_mutex_inherit ? most_urgent_waiter(mutex) : NULL;
        if (waiter != NULL && waiter->tx_thread_priority < priority)
            priority = waiter->tx_thread_priority;
    }
    if (priority != owner->tx_thread_priority)
        bout_reprioritize(owner, priority, threshold);
}

static void give_to(TX_MUTEX *mutex, TX_THREAD *thread)
{
    mutex->tx_mutex_owner = thread;
    mutex->tx_mutex_ownership_count = 1;
    mutex->tx_mutex_owned_next = thread->tx_thread_owned_mutexes;
    thread->tx_thread_owned_mutexes = mutex;
}

static void take_back(TX_MUTEX *mutex)
{
    TX_MUTEX **place = &mutex->tx_mutex_owner->tx_thread_owned_mutexes;
    while (*place != mutex)
        place = &(*place)->tx_mutex_owned_next;
    *place = mutex->tx_mutex_owned_next;
    mutex->tx_mutex_owner = NULL;
    mutex->tx_mutex_ownership_count = 0;
}

static void release(TX_MUTEX *mutex)
{
    TX_THREAD *old = mutex->tx_mutex_owner, *next = most_urgent_waiter(mutex);
    take_back(mutex);
    if (next != NULL) {
        give_to(mutex, next);
        bout_wake(next, BOUT_SUCCESS);
        BOUT_TRACE_MUTEX_GIVEN(mutex, next);
        adjust_owner(next);
    }
    adjust_owner(old);
}

enum bout_status bout_mutex_create(TX_MUTEX *mutex, char *name, bool inherit)
{
    *mutex = (TX_MUTEX){
        .tx_mutex_id = BOUT_MUTEX_ID, .tx_mutex_name = name, .tx_mutex_inherit = inherit};
    ULONG lock = bout_lock();
    bout_created_add(BOUT_MUTEXES, &mutex->tx_mutex_created);
    BOUT_TRACE_MUTEX_CREATE(mutex);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_mutex_delete(TX_MUTEX *mutex)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_MUTEX_DELETE(mutex);
    bout_created_remove(&mutex->tx_mutex_created);
    mutex->tx_mutex_id = 0;
    bout_wake_all(&mutex->tx_mutex_waiters, BOUT_DELETED);
    if (mutex->tx_mutex_owner != NULL)
        release(mutex);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_mutex_get(TX_MUTEX *mutex, ULONG wait)
{
    ULONG lock = bout_lock();
    TX_THREAD *self = _tx_thread_current_ptr, *owner = mutex->tx_mutex_owner;
    // An owner is a thread: during initialization there is no owner.
    if (bout_system_state != 0)
        return bout_leave(lock, BOUT_CALLER_ERROR);
    BOUT_TRACE_MUTEX_GET(mutex, wait);
    if (owner == NULL) {
        give_to(mutex, self);
        return bout_leave(lock, BOUT_SUCCESS);
    }
    if (owner == self) {
        mutex->tx_mutex_ownership_count++;
        return bout_leave(lock, BOUT_SUCCESS);
    }
    if (mutex->tx_mutex_inherit && wait != BOUT_NO_WAIT &&
        self->tx_thread_priority < owner->tx_thread_priority)
        bout_reprioritize(owner, self->tx_thread_priority, owner->tx_thread_preempt_threshold);
    return bout_wait(mutex, &mutex->tx_mutex_waiters, BOUT_WAITS_MUTEX, BOUT_NOT_AVAILABLE, wait,
                     lock);
}

enum bout_status bout_mutex_put(TX_MUTEX *mutex)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_MUTEX_PUT(mutex);
    if (bout_system_state != 0 || mutex->tx_mutex_owner != _tx_thread_current_ptr)
        return bout_leave(lock, BOUT_NOT_OWNED);
    if (--mutex->tx_mutex_ownership_count == 0)
        release(mutex);
    return bout_leave(lock, BOUT_SUCCESS);
}

void bout_mutex_release_all(TX_THREAD *thread)
{
    while (thread->tx_thread_owned_mutexes != NULL)
        release(thread->tx_thread_owned_mutexes);
}
