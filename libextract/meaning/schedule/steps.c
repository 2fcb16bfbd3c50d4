// SPDX-License-Identifier: MIT
// schedule: active objects. Messages that are posted to them, and the begins and ends of the steps
// in which they process them, come in; states and wake-ups go out.
//
//                post                  begins a step
//    BLOCKED ------------> READY ----------------------> RUNNING
//       ^                    ^                              |
//       |                    | messages wait                | ends a step
//       +--------------------+------------------------------+
//         no message waits
//
// Events state how many messages wait. Where that contradicts what was derived, a message was
// posted without an event: then what was derived is unknown. Until the end of its first step,
// nothing is known of an active object.
#include "schedule/schedule_room.h"

// Forgets what an active object has done since its present state began.
static void forget(struct thread *thread)
{
    thread->now = (struct extract_state){.from = thread->now.from, .thread = thread->now.thread};
    thread->has_response = false;
}

static void send_wake(const struct schedule *schedule, const struct thread *thread,
                      const struct extract_event *event, const struct extract_role_fields *role)
{
    const struct extract_wake wake = {.at = event->ticks,
                                      .seq = event->seq,
                                      .cause = event->seq,
                                      .thread = thread->now.thread,
                                      .by = extract_role_field(event, role->sender),
                                      .service = event->type,
                                      .reason = EXTRACT_WAKE_SERVICE,
                                      .core = event->core};

    if (schedule->sink->wake && wake.at >= schedule->from && wake.at <= schedule->to)
        schedule->sink->wake(schedule->sink->context, &wake);
}

static void add_post(struct schedule *schedule, struct thread *thread,
                     const struct extract_event *event, const struct extract_role_fields *role)
{
    static const struct extract_state ready = {.state = EXTRACT_STATE_READY};
    uint64_t pending = extract_role_field(event, role->pending);
    bool waited = thread->is_between_steps && thread->now.state != EXTRACT_STATE_READY;

    thread->pending = pending;
    if (!waited)
        return;
    if (pending != 1) // it got another message before
        forget(thread);
    thread_set(schedule, thread, event->ticks, &ready, NULL);
    if (pending != 1)
        return;
    send_wake(schedule, thread, event, role);
    thread_begin_response(schedule, thread, event);
}

static void begin_step(struct thread *thread, const struct extract_event *event,
                       const struct extract_role_fields *role)
{
    if (thread->is_in_step) // the end of the step before was not recorded
        forget(thread);
    thread->is_in_step = true;
    thread->is_between_steps = false;
    thread->pending = extract_role_field(event, role->pending);
}

static void end_step(struct schedule *schedule, struct thread *thread,
                     const struct extract_event *event)
{
    static const struct extract_state unknown = {.state = EXTRACT_STATE_UNKNOWN};
    static const struct extract_state ready = {.state = EXTRACT_STATE_READY};
    static const struct extract_state blocked = {.state = EXTRACT_STATE_BLOCKED, .wait = "queue"};
    bool is_known = thread->is_in_step;

    if (is_known && !thread->pending)
        thread_end_response(schedule, thread, event);
    else if (!is_known)
        thread->has_response = false;
    thread_set(schedule, thread, event->ticks,
               !is_known         ? &unknown
               : thread->pending ? &ready
                                 : &blocked,
               NULL);
    thread->is_in_step = false;
    thread->is_between_steps = true;
}

void steps_add_event(struct schedule *schedule, const struct extract_event *event,
                     const struct extract_role_fields *role)
{
    bool begins = role->role == EXTRACT_ROLE_STEP_BEGIN;
    struct thread *thread =
        schedule_thread(schedule, extract_role_field(event, begins ? role->next : role->thread));

    if (!thread)
        return;
    if (begins)
        begin_step(thread, event, role);
    else if (role->role == EXTRACT_ROLE_POST)
        add_post(schedule, thread, event, role);
    else
        end_step(schedule, thread, event);
}
