// SPDX-License-Identifier: MIT
// qemu-tests/rtos: who runs next. In: threads that become ready or stop being so. Out:
// _tx_thread_execute_ptr, and the switch itself through the port.
//
// The most urgent ready thread runs. A thread whose preemption threshold is more urgent than its
// priority keeps the processor against those in between, also after it was preempted: such threads
// form a stack (held), whose top has the most urgent threshold.
#include "kernel.h"

TX_THREAD *volatile _tx_thread_current_ptr;
TX_THREAD *volatile _tx_thread_execute_ptr;
volatile ULONG bout_system_state = BOUT_INITIALIZING;

static TX_THREAD *ready[BOUT_PRIORITIES];
static uint32_t ready_mask;
static TX_THREAD *held;
static void *idle_stack_ptr;

static UINT most_urgent(uint32_t mask)
{
    UINT bit = 0;
    for (UINT half = 16; half != 0; half /= 2) {
        if ((mask & ((1UL << half) - 1)) == 0) {
            mask >>= half;
            bit += half;
        }
    }
    return bit;
}

static void ready_append(TX_THREAD *thread)
{
    UINT priority = thread->tx_thread_priority;
    TX_THREAD *first = ready[priority];
    if (first == NULL) {
        thread->tx_thread_ready_next = thread->tx_thread_ready_previous = thread;
        ready[priority] = thread;
        ready_mask |= (uint32_t)1 << priority;
        return;
    }
    thread->tx_thread_ready_next = first;
    thread->tx_thread_ready_previous = first->tx_thread_ready_previous;
    first->tx_thread_ready_previous->tx_thread_ready_next = thread;
    first->tx_thread_ready_previous = thread;
}

static void ready_remove(TX_THREAD *thread)
{
    UINT priority = thread->tx_thread_priority;
    if (thread->tx_thread_ready_next == thread) {
        ready[priority] = NULL;
        ready_mask &= ~((uint32_t)1 << priority);
        return;
    }
    thread->tx_thread_ready_next->tx_thread_ready_previous = thread->tx_thread_ready_previous;
    thread->tx_thread_ready_previous->tx_thread_ready_next = thread->tx_thread_ready_next;
    if (ready[priority] == thread)
        ready[priority] = thread->tx_thread_ready_next;
}

void bout_release_threshold(TX_THREAD *thread)
{
    TX_THREAD **place = &held;
    while (*place != NULL && *place != thread)
        place = &(*place)->tx_thread_held_next;
    if (*place != NULL)
        *place = thread->tx_thread_held_next;
}

static void choose(void)
{
    TX_THREAD *best = ready_mask ? ready[most_urgent(ready_mask)] : NULL;
    if (held != NULL && held->tx_thread_preempt_threshold <= best->tx_thread_priority) {
        best = held;
    } else if (best != NULL && best->tx_thread_preempt_threshold < best->tx_thread_priority) {
        best->tx_thread_held_next = held;
        held = best;
    }
    _tx_thread_execute_ptr = best;
}

void bout_ready(TX_THREAD *thread)
{
    bout_trace_mark mark = BOUT_TRACE_THREAD_RESUME(thread, thread->tx_thread_state);
    thread->tx_thread_state = BOUT_READY;
    ready_append(thread);
    choose();
    BOUT_TRACE_THREAD_RESUMED(mark, _tx_thread_execute_ptr);
    (void)mark;
}

void bout_suspend(TX_THREAD *thread, enum bout_thread_state state)
{
    bout_trace_mark mark = BOUT_TRACE_THREAD_SUSPEND(thread, state);
    thread->tx_thread_state = state;
    thread->tx_thread_time_slice = thread->tx_thread_new_time_slice;
    ready_remove(thread);
    bout_release_threshold(thread);
    choose();
    BOUT_TRACE_THREAD_SUSPENDED(mark, _tx_thread_execute_ptr);
    (void)mark;
}

void bout_rotate(UINT priority)
{
    if (ready[priority] != NULL)
        ready[priority] = ready[priority]->tx_thread_ready_next;
    choose();
}

void bout_reprioritize(TX_THREAD *thread, UINT priority, UINT threshold)
{
    bool is_ready = thread->tx_thread_state == BOUT_READY;
    bout_release_threshold(thread);
    if (is_ready)
        ready_remove(thread);
    thread->tx_thread_priority = priority;
    thread->tx_thread_preempt_threshold = threshold < priority ? threshold : priority;
    if (is_ready)
        ready_append(thread);
    // A thread that runs goes before its new equals, and keeps its threshold.
    if (is_ready && thread == _tx_thread_current_ptr)
        ready[priority] = thread;
    choose();
}

void bout_time_slice(void)
{
    TX_THREAD *thread = _tx_thread_current_ptr;
    if (thread == NULL || thread != _tx_thread_execute_ptr || thread->tx_thread_time_slice == 0)
        return;
    if (--thread->tx_thread_time_slice != 0)
        return;
    thread->tx_thread_time_slice = thread->tx_thread_new_time_slice;
    // A preemption threshold keeps equals out too.
    if (thread->tx_thread_ready_next == thread ||
        thread->tx_thread_preempt_threshold < thread->tx_thread_priority)
        return;
    bout_rotate(thread->tx_thread_priority);
    BOUT_TRACE_TIME_SLICE(_tx_thread_execute_ptr);
}

void bout_unlock(ULONG lock)
{
    if (bout_switch_is_due())
        bout_port_switch();
    bout_port_unlock(lock);
}

void *bout_switch(void *stack_ptr)
{
    TX_THREAD *old = _tx_thread_current_ptr, *new = _tx_thread_execute_ptr;
    if (old != NULL)
        old->tx_thread_stack_ptr = stack_ptr;
    else
        idle_stack_ptr = stack_ptr;
    BOUT_TRACE_SWITCH(old, new);
    _tx_thread_current_ptr = new;
    if (new == NULL)
        return idle_stack_ptr;
    new->tx_thread_run_count++;
    return new->tx_thread_stack_ptr;
}

void bout_start(void (*define)(void))
{
    (void)bout_lock();
    for (UINT kind = 0; kind < BOUT_KINDS; kind++)
        bout_created[kind].next = bout_created[kind].previous = &bout_created[kind];
    bout_port_init();
    bout_timer_start_thread();
    define();
    bout_system_state = 0;
    // From here on the context of main() is the idle context.
    bout_unlock(bout_port_posture_open());
    for (;;)
        bout_port_idle();
}

void bout_isr_enter(ULONG id)
{
    ULONG lock = bout_port_lock();
    bout_system_state++;
    BOUT_TRACE_ISR_ENTER(id);
    bout_port_unlock(lock);
}

void bout_isr_exit(ULONG id)
{
    ULONG lock = bout_port_lock();
    BOUT_TRACE_ISR_EXIT(id);
    bout_system_state--;
    if (bout_switch_is_due())
        bout_port_switch_after_interrupt();
    bout_port_unlock(lock);
}

ULONG bout_interrupt_control(ULONG posture)
{
    ULONG before = bout_port_lock();
    BOUT_TRACE_INTERRUPT_CONTROL(posture);
    bout_port_unlock(posture);
    return before;
}
