// SPDX-License-Identifier: MIT
// qemu-tests/rtos: time. In: the port's tick interrupt. Out: time slices, time-outs of waiting
// threads and application timers; the latter two are served by the System Timer Thread.
//
// Timers are in a wheel of lists, as in ThreadX, with the same names: each tick looks at the next
// list. A timer of more ticks than there are lists stays in its list with what is left.
#include "kernel.h"

#define TIMER_STACK_BYTES (256 * sizeof(ULONG))

volatile ULONG _tx_timer_system_clock;

TX_THREAD bout_timer_thread;
static _Alignas(8) UCHAR system_timer_stack[TIMER_STACK_BYTES];
enum { TIMER_LISTS = 32 };
TX_TIMER_INTERNAL *_tx_timer_list[TIMER_LISTS];
TX_TIMER_INTERNAL **_tx_timer_list_start, **_tx_timer_list_end, **_tx_timer_current_ptr;
static bool has_expired; // timers of the current list, which the thread has not served yet

static void advance_wheel(void)
{
    if (++_tx_timer_current_ptr == _tx_timer_list_end)
        _tx_timer_current_ptr = _tx_timer_list_start;
}

void bout_timer_run(TX_TIMER_INTERNAL *timer, ULONG ticks)
{
    ULONG distance = ticks == 0 ? 0 : ticks > TIMER_LISTS ? TIMER_LISTS - 1 : ticks - 1;
    TX_TIMER_INTERNAL **list = _tx_timer_current_ptr + distance, *first;

    if (list >= _tx_timer_list_end)
        list -= TIMER_LISTS;
    timer->tx_timer_internal_remaining_ticks = ticks;
    timer->tx_timer_internal_list_head = list;
    if (*list == NULL) {
        timer->tx_timer_internal_active_next = timer->tx_timer_internal_active_previous = timer;
        *list = timer;
        return;
    }
    first = *list;
    timer->tx_timer_internal_active_next = first;
    timer->tx_timer_internal_active_previous = first->tx_timer_internal_active_previous;
    first->tx_timer_internal_active_previous->tx_timer_internal_active_next = timer;
    first->tx_timer_internal_active_previous = timer;
}

void bout_timer_stop(TX_TIMER_INTERNAL *timer)
{
    TX_TIMER_INTERNAL **list = timer->tx_timer_internal_list_head;
    TX_TIMER_INTERNAL *next = timer->tx_timer_internal_active_next;

    if (list == NULL)
        return;
    timer->tx_timer_internal_list_head = NULL;
    next->tx_timer_internal_active_previous = timer->tx_timer_internal_active_previous;
    timer->tx_timer_internal_active_previous->tx_timer_internal_active_next = next;
    if (*list == timer) {
        *list = next == timer ? NULL : next;
        next->tx_timer_internal_list_head = next == timer ? NULL : list;
    }
}

void bout_tick(void)
{
    ULONG lock = bout_lock();
    _tx_timer_system_clock++;
    bout_time_slice();
    if (*_tx_timer_current_ptr == NULL) {
        advance_wheel();
    } else {
        has_expired = true;
        if (bout_timer_thread.tx_thread_state == BOUT_SUSPENDED)
            bout_ready(&bout_timer_thread);
    }
    bout_unlock(lock);
}

// Serves the timers of the current list. Functions of the application may stop those that follow.
static void serve_list(void)
{
    TX_TIMER_INTERNAL *expired = *_tx_timer_current_ptr, *timer;

    *_tx_timer_current_ptr = NULL;
    if (expired != NULL)
        expired->tx_timer_internal_list_head = &expired;
    advance_wheel();
    has_expired = false;
    while ((timer = expired) != NULL) {
        ULONG ticks = timer->tx_timer_internal_remaining_ticks;
        bout_timer_stop(timer);
        if (ticks > TIMER_LISTS)
            bout_timer_run(timer, ticks - TIMER_LISTS);
        else
            timer->tx_timer_internal_timeout_function(timer->tx_timer_internal_timeout_param);
    }
}

static void system_timer_entry(ULONG unused)
{
    (void)unused;
    for (;;) {
        ULONG lock = bout_lock();
        if (has_expired)
            serve_list();
        else
            bout_suspend(&bout_timer_thread, BOUT_SUSPENDED);
        bout_unlock(lock);
    }
}

void bout_timer_start_thread(void)
{
    _tx_timer_list_start = _tx_timer_current_ptr = _tx_timer_list;
    _tx_timer_list_end = _tx_timer_list + TIMER_LISTS;
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
    ULONG period = timer->tx_timer_internal.tx_timer_internal_re_initialize_ticks;
    if (period != 0)
        bout_timer_run(&timer->tx_timer_internal, period);
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
                        .tx_timer_internal = {.tx_timer_internal_re_initialize_ticks = period,
                                              .tx_timer_internal_timeout_function = timer_expired,
                                              .tx_timer_internal_timeout_param = timer},
                        .tx_timer_first = first,
                        .tx_timer_function = function,
                        .tx_timer_argument = argument};
    ULONG lock = bout_lock();
    bout_created_add(BOUT_TIMERS, &timer->tx_timer_created);
    BOUT_TRACE_TIMER_CREATE(timer, start);
    if (start)
        bout_timer_run(&timer->tx_timer_internal, first);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_timer_delete(TX_TIMER *timer)
{
    ULONG lock = bout_lock();
    bout_timer_stop(&timer->tx_timer_internal);
    BOUT_TRACE_TIMER_DELETE(timer);
    bout_created_remove(&timer->tx_timer_created);
    timer->tx_timer_id = 0;
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_timer_activate(TX_TIMER *timer)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_TIMER_ACTIVATE(timer);
    bout_timer_stop(&timer->tx_timer_internal);
    bout_timer_run(&timer->tx_timer_internal, timer->tx_timer_first);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_timer_deactivate(TX_TIMER *timer)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_TIMER_DEACTIVATE(timer);
    bout_timer_stop(&timer->tx_timer_internal);
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
