// SPDX-License-Identifier: MIT
// analysis: follows what a core executes. Counts nested interrupts, so that only the exit of the
// outermost one returns to a thread.
#include "analysis/scheduler.h"

static struct extract_execution thread_or_idle(uint64_t thread)
{
    return (struct extract_execution){thread ? EXTRACT_RUNS_THREAD : EXTRACT_RUNS_IDLE, thread};
}

// Returns what runs after an event of a thread. A thread continues unless it suspends itself or the
// event names another.
static struct extract_execution after_thread_event(const struct extract_role_fields *role,
                                                   const struct extract_event *event, uint64_t next)
{
    bool continues = !next && role->role != EXTRACT_ROLE_SUSPEND;

    return thread_or_idle(continues ? event->thread : next);
}

// Returns what runs after the outermost interrupt has ended, or after an event of an interrupt
// whose entry was not recorded.
static struct extract_execution after_interrupt(struct extract_scheduler *scheduler,
                                                const struct extract_event *event,
                                                const struct extract_event *next_event)
{
    uint64_t next = scheduler->pending ? scheduler->pending : event->thread;

    scheduler->pending = 0;
    if (next)
        return thread_or_idle(next);
    if (next_event && next_event->context == EXTRACT_THREAD)
        return thread_or_idle(next_event->thread);
    return scheduler->has_last ? scheduler->last : thread_or_idle(0);
}

static struct extract_execution after_interrupt_event(struct extract_scheduler *scheduler,
                                                      const struct extract_role_fields *role,
                                                      const struct extract_event *event,
                                                      uint64_t next,
                                                      const struct extract_event *next_event)
{
    if (next)
        scheduler->pending = next;
    if (role->role == EXTRACT_ROLE_ISR_ENTER)
        scheduler->depth++;
    else if (role->role == EXTRACT_ROLE_ISR_EXIT && scheduler->depth)
        scheduler->depth--;
    return scheduler->depth ? (struct extract_execution){EXTRACT_RUNS_ISR, 0}
                            : after_interrupt(scheduler, event, next_event);
}

struct extract_execution extract_scheduler_add_event(struct extract_scheduler *scheduler,
                                                     const struct extract_role_fields *role,
                                                     const struct extract_event *event,
                                                     const struct extract_event *next_event)
{
    struct extract_execution now = {EXTRACT_RUNS_INIT, 0};
    uint64_t next = extract_role_field(event, role->next); // thread named by the event

    if (event->context == EXTRACT_ISR) {
        now = after_interrupt_event(scheduler, role, event, next, next_event);
    } else {
        scheduler->depth = 0; // the exits of interrupts that are open were not recorded
        scheduler->pending = 0;
        if (event->context == EXTRACT_THREAD)
            now = after_thread_event(role, event, next);
        else if (next_event && next_event->context == EXTRACT_THREAD)
            now = thread_or_idle(next_event->thread);
    }
    if (now.kind != EXTRACT_RUNS_ISR) {
        scheduler->last = now;
        scheduler->has_last = true;
    }
    return now;
}
