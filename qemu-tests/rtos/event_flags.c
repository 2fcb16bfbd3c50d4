// SPDX-License-Identifier: MIT
// qemu-tests/rtos: groups of 32 event flags. In: flags that are set. Out: threads whose wish, any
// or all of some flags, is fulfilled; they may take the flags away.
#include "kernel.h"

static bool satisfied(ULONG current, ULONG wanted, UINT option)
{
    ULONG got = current & wanted;
    return option & BOUT_AND ? got == wanted : got != 0;
}

static ULONG kept(ULONG current, ULONG wanted, UINT option)
{
    return option & BOUT_OR_CLEAR ? current & ~wanted : current;
}

enum bout_status bout_event_flags_create(TX_EVENT_FLAGS_GROUP *group, char *name)
{
    *group = (TX_EVENT_FLAGS_GROUP){.tx_event_flags_group_id = BOUT_EVENT_FLAGS_ID,
                                    .tx_event_flags_group_name = name};
    ULONG lock = bout_lock();
    bout_created_add(BOUT_EVENT_FLAGS_GROUPS, &group->tx_event_flags_group_created);
    BOUT_TRACE_EVENT_FLAGS_CREATE(group);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_event_flags_delete(TX_EVENT_FLAGS_GROUP *group)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_EVENT_FLAGS_DELETE(group);
    bout_created_remove(&group->tx_event_flags_group_created);
    group->tx_event_flags_group_id = 0;
    bout_wake_all(&group->tx_event_flags_group_waiters, BOUT_DELETED);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_event_flags_get(TX_EVENT_FLAGS_GROUP *group, ULONG wanted,
                                      enum bout_flags_option option, ULONG *actual, ULONG wait)
{
    ULONG lock = bout_lock();
    ULONG current = group->tx_event_flags_group_current;
    BOUT_TRACE_EVENT_FLAGS_GET(group, wanted, option);
    if (satisfied(current, wanted, option)) {
        *actual = current;
        group->tx_event_flags_group_current = kept(current, wanted, option);
        return bout_leave(lock, BOUT_SUCCESS);
    }
    TX_THREAD *self = _tx_thread_current_ptr;
    if (bout_system_state == 0) {
        self->tx_thread_suspend_info = wanted;
        self->tx_thread_suspend_option = option;
        self->tx_thread_additional_suspend_info = actual;
    }
    return bout_wait(group, &group->tx_event_flags_group_waiters, BOUT_WAITS_EVENT_FLAGS,
                     BOUT_NO_EVENTS, wait, lock);
}

// Every waiter is offered the flags that were set; what they take away goes when all were asked.
static void offer(TX_EVENT_FLAGS_GROUP *group)
{
    ULONG current = group->tx_event_flags_group_current, left = current;
    ULONG waiting = group->tx_event_flags_group_waiters.count;
    TX_THREAD *thread = group->tx_event_flags_group_waiters.first;
    for (; waiting != 0; waiting--) {
        TX_THREAD *next = thread->tx_thread_suspended_next;
        ULONG wanted = thread->tx_thread_suspend_info;
        if (satisfied(current, wanted, thread->tx_thread_suspend_option)) {
            *(ULONG *)thread->tx_thread_additional_suspend_info = current;
            left = kept(left, wanted, thread->tx_thread_suspend_option);
            bout_wake(thread, BOUT_SUCCESS);
        }
        thread = next;
    }
    group->tx_event_flags_group_current = left;
}

enum bout_status bout_event_flags_set(TX_EVENT_FLAGS_GROUP *group, ULONG flags,
                                      enum bout_flags_option option)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_EVENT_FLAGS_SET(group, flags, option);
    if (option & BOUT_AND)
        group->tx_event_flags_group_current &= flags;
    else
        group->tx_event_flags_group_current |= flags;
    offer(group);
    return bout_leave(lock, BOUT_SUCCESS);
}
