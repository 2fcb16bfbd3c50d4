// SPDX-License-Identifier: MIT
// analysis: who runs next. In: events in order. Out: the context that follows each of them.
#include "analysis/scheduler.h"

static struct extract_who thread_or_idle(uint64_t thread)
{
    struct extract_who who = {thread ? EXTRACT_RUNS_THREAD : EXTRACT_RUNS_IDLE, thread};
    return who;
}

static uint64_t named_next(const struct extract_role_fields *role,
                           const struct extract_event *event)
{
    return role->next >= 0 ? event->field[role->next] : 0;
}

static struct extract_who after_thread(const struct extract_role_fields *role,
                                       const struct extract_event *event)
{
    uint64_t next = named_next(role, event);
    if (role->role == EXTRACT_ROLE_SUSPEND)
        return thread_or_idle(next);
    return thread_or_idle(next ? next : event->thread);
}

// The outermost interrupt ends (or was never seen to begin).
static struct extract_who after_isr(struct extract_scheduler *scheduler,
                                    const struct extract_event *event,
                                    const struct extract_event *behind)
{
    uint64_t next = scheduler->pending ? scheduler->pending : event->thread;
    struct extract_who idle = {EXTRACT_RUNS_IDLE, 0};
    scheduler->pending = 0;
    if (next)
        return thread_or_idle(next);
    if (behind && behind->context == EXTRACT_THREAD)
        return thread_or_idle(behind->thread);
    return scheduler->has_last ? scheduler->last : idle;
}

static struct extract_who in_isr(struct extract_scheduler *scheduler,
                                 const struct extract_role_fields *role,
                                 const struct extract_event *event,
                                 const struct extract_event *behind)
{
    struct extract_who isr = {EXTRACT_RUNS_ISR, 0};
    uint64_t next = named_next(role, event);
    if (next)
        scheduler->pending = next;
    if (role->role == EXTRACT_ROLE_ISR_ENTER)
        scheduler->depth++;
    else if (role->role == EXTRACT_ROLE_ISR_EXIT && scheduler->depth)
        scheduler->depth--;
    return scheduler->depth ? isr : after_isr(scheduler, event, behind);
}

struct extract_who extract_scheduler_step(struct extract_scheduler *scheduler,
                                          const struct extract_role_fields *role,
                                          const struct extract_event *event,
                                          const struct extract_event *behind)
{
    struct extract_who who = {EXTRACT_RUNS_INIT, 0};
    if (event->context == EXTRACT_ISR) {
        who = in_isr(scheduler, role, event, behind);
    } else {
        scheduler->depth = 0; // an exit that was not recorded
        scheduler->pending = 0;
        if (event->context == EXTRACT_THREAD)
            who = after_thread(role, event);
        else if (behind && behind->context == EXTRACT_THREAD)
            who = thread_or_idle(behind->thread);
    }
    if (who.what != EXTRACT_RUNS_ISR) {
        scheduler->last = who;
        scheduler->has_last = true;
    }
    return who;
}
