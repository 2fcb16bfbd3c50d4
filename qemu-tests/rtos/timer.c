// SPDX-License-Identifier: MIT
// qemu-tests/rtos: time. In: the port's tick interrupt. Out: time slices, time-outs of waiting
// threads and application timers; the latter two are served by the System Timer Thread.
#include "kernel.h"

#define TIMER_STACK_BYTES (256 * sizeof(ULONG))

volatile ULONG _tx_timer_system_clock;

TX_THREAD bout_timer_thread;
static _Alignas(8) UCHAR system_timer_stack[TIMER_STACK_BYTES];
static struct bout_timeout *soonest; // the list is sorted by due time, and not circular

// Ticks from now, of which there are always less than half of the clock's range.
static ULONG remaining(const struct bout_timeout *timeout)
{
    return timeout->due - _tx_timer_system_clock;
}

static bool is_due(const struct bout_timeout *timeout)
{
    return remaining(timeout) == 0 || remaining(timeout) > (ULONG)-1 / 2;
}

void bout_timeout_start(struct bout_timeout *timeout, ULONG ticks)
{
    struct bout_timeout *before = NULL, *after = soonest;
    timeout->due = _tx_timer_system_clock + ticks;
    while (after != NULL && (is_due(after) || remaining(after) <= ticks)) {
        before = after;
        after = after->next;
    }
    timeout->previous = before;
    timeout->next = after;
    if (after != NULL)
        after->previous = timeout;
    if (before != NULL)
        before->next = timeout;
    else
        soonest = timeout;
    timeout->active = true;
}

void bout_timeout_stop(struct bout_timeout *timeout)
{
    if (!timeout->active)
        return;
    timeout->active = false;
    if (timeout->next != NULL)
        timeout->next->previous = timeout->previous;
    if (timeout->previous != NULL)
        timeout->previous->next = timeout->next;
    else
        soonest = timeout->next;
}

void bout_tick(void)
{
    ULONG lock = bout_lock();
    _tx_timer_system_clock++;
    bout_time_slice();
    if (soonest != NULL && is_due(soonest) && bout_timer_thread.tx_thread_state == BOUT_SUSPENDED)
        bout_ready(&bout_timer_thread);
    bout_unlock(lock);
}

static void system_timer_entry(ULONG unused)
{
    (void)unused;
    for (;;) {
        ULONG lock = bout_lock();
        struct bout_timeout *timeout = soonest;
        if (timeout != NULL && is_due(timeout)) {
            bout_timeout_stop(timeout);
            timeout->expire(timeout->owner);
        } else {
            bout_suspend(&bout_timer_thread, BOUT_SUSPENDED);
        }
        bout_unlock(lock);
    }
}

void bout_timer_start_thread(void)
{
    bout_thread_create(&bout_timer_thread, &(struct bout_thread_options){
                                               .name = "System Timer Thread",
                                               .entry = system_timer_entry,
                                               .stack = system_timer_stack,
                                               .stack_size = sizeof system_timer_stack,
                                               .suspended = true,
                                           });
}

static void timer_expired(void *owner)
{
    TX_TIMER *timer = owner;
    if (timer->tx_timer_period != 0)
        bout_timeout_start(&timer->tx_timer_timeout, timer->tx_timer_period);
    // The function is the application's: interrupts are open while it runs.
    bout_port_unlock(bout_port_posture_open());
    timer->tx_timer_function(timer->tx_timer_argument);
    (void)bout_port_lock();
}

enum bout_status bout_timer_create(TX_TIMER *timer, char *name, void (*function)(ULONG),
                                   ULONG argument, ULONG first, ULONG period, bool start)
{
    *timer = (TX_TIMER){.tx_timer_id = BOUT_TIMER_ID,
                        .tx_timer_name = name,
                        .tx_timer_timeout = {.expire = timer_expired, .owner = timer},
                        .tx_timer_first = first,
                        .tx_timer_period = period,
                        .tx_timer_function = function,
                        .tx_timer_argument = argument};
    ULONG lock = bout_lock();
    bout_created_add(BOUT_TIMERS, &timer->tx_timer_created);
    BOUT_TRACE_TIMER_CREATE(timer, start);
    if (start)
        bout_timeout_start(&timer->tx_timer_timeout, first);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_timer_delete(TX_TIMER *timer)
{
    ULONG lock = bout_lock();
    bout_timeout_stop(&timer->tx_timer_timeout);
    BOUT_TRACE_TIMER_DELETE(timer);
    bout_created_remove(&timer->tx_timer_created);
    timer->tx_timer_id = 0;
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_timer_activate(TX_TIMER *timer)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_TIMER_ACTIVATE(timer);
    bout_timeout_stop(&timer->tx_timer_timeout);
    bout_timeout_start(&timer->tx_timer_timeout, timer->tx_timer_first);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_timer_deactivate(TX_TIMER *timer)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_TIMER_DEACTIVATE(timer);
    bout_timeout_stop(&timer->tx_timer_timeout);
    return bout_leave(lock, BOUT_SUCCESS);
}

ULONG bout_time_get(void)
{
    ULONG lock = bout_lock();
    ULONG now = _tx_timer_system_clock;
    BOUT_TRACE_TIME_GET(now);
    bout_unlock(lock);
    return now;
}
