// SPDX-License-Identifier: MIT
// schedule: what had a core, if there are several. What one core records may give another core a
// thread, and that core records nothing of it. So between two events e and f of a core, with events
// of other cores in between, the core may have changed its thread at any of them:
//
//     core 0     e                                               f
//            ----+---------+----------------------------+--------+----
//     core 1               first                        last
//            the owner at e |  unsure: one of the two    | the owner at f
//
// Three cases are certain. The owner is the same at e and f, and nothing happened to it. No other
// core recorded an event. The core was idle, and another core made its next thread ready: then that
// thread got the core at once.
//
// A thread is ready or running in the meantime, and its state is unsure.
//
// A thread has one core at a time. One that has recorded an event on a core keeps it until that
// core gets another thread, or until it records an event on another core; what had its core from
// then on is not known.
#include "schedule/schedule_room.h"

// Returns whether a thread has a core since the core's last event.
static bool has_thread(const struct core *core, uint64_t thread)
{
    return core->has_last && core->kept && core->kept == thread;
}

void cores_note_event(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role)
{
    bool is_scheduler =
        role->role == EXTRACT_ROLE_SUSPEND || (role->role == EXTRACT_ROLE_RESUME && role->state);
    bool is_priority = is_scheduler && role->state &&
                       extract_role_field(event, role->state) == EXTRACT_WAIT_PRIORITY;
    bool is_other = role->role == EXTRACT_ROLE_SUSPEND && role->thread &&
                    (event->context != EXTRACT_THREAD ||
                     extract_role_field(event, role->thread) != event->thread);

    schedule->board->moves += is_priority || is_other;
    schedule->board->before_at = schedule->board->newest_at;
    schedule->board->newest_at = event->ticks;
    for (unsigned i = schedule->board->first; i < schedule->board->end; i++) {
        struct core *core = &schedule->cores[i];
        if (i == event->core)
            continue;
        if (!core->is_taken && event->context == EXTRACT_THREAD &&
            has_thread(core, event->thread)) {
            core->is_taken = true;
            core->taken_at = event->ticks;
        }
        if (core->has_other)
            continue;
        core->has_other = true;
        core->other_at = event->ticks;
    }
}

// Returns the time from which on a core may have another owner than its last event shows.
static uint64_t doubt_from(const struct core *core)
{
    if (!core->has_last)
        return 0;
    return core->may_switch ? core->last_ticks : core->has_other ? core->other_at : UINT64_MAX;
}

// Marks a thread that is ready as unsure, as far as a core may have run it.
static void doubt_ready(struct schedule *schedule, struct thread *thread)
{
    struct extract_state unsure = thread->now;
    uint64_t from = UINT64_MAX;

    for (unsigned i = schedule->board->first; i < schedule->board->end; i++)
        if (doubt_from(&schedule->cores[i]) < from)
            from = doubt_from(&schedule->cores[i]);
    unsure.is_unsure = true;
    if (from != UINT64_MAX)
        thread_set(schedule, thread, from, &unsure, NULL);
}

void cores_doubt_thread(struct schedule *schedule, struct thread *thread)
{
    if (thread->now.state == EXTRACT_STATE_READY) {
        doubt_ready(schedule, thread);
    } else if (thread->now.state == EXTRACT_STATE_RUNNING) {
        struct extract_state unsure = thread->now;
        uint64_t from = doubt_from(&schedule->cores[thread->now.core]);
        unsure.is_unsure = true;
        if (from != UINT64_MAX)
            thread_set(schedule, thread, from, &unsure, NULL);
    }
}

static struct thread *thread_of(struct schedule *schedule, struct holder holder)
{
    return holder.runner == EXTRACT_RUNNER_THREAD ? schedule_thread(schedule, holder.thread) : NULL;
}

static bool is_same(struct holder a, struct holder b)
{
    return a.runner == b.runner && a.thread == b.thread;
}

bool cores_is_next(const struct schedule *schedule, uint64_t thread, uint8_t except)
{
    for (unsigned i = schedule->board->first; i < schedule->board->end; i++)
        if (i != except && schedule->cores[i].next.runner == EXTRACT_RUNNER_THREAD &&
            schedule->cores[i].next.thread == thread)
            return true;
    return false;
}

// Returns the time from which on a thread may have a core at `to`, other than since the core's last
// event.
static uint64_t free_from(const struct schedule *schedule, const struct thread *thread,
                          uint8_t number, uint64_t to)
{
    uint64_t from = thread->core_until && thread->core != number ? thread->core_until : 0;

    for (unsigned i = schedule->board->first; i < schedule->board->end; i++) {
        const struct core *core = &schedule->cores[i];
        if (i == number || !has_thread(core, thread->now.thread))
            continue;
        if (!core->is_taken || core->taken_at >= to)
            return to;
        from = core->taken_at > from ? core->taken_at : from;
    }
    return from;
}

// Notes that a thread had a core until `until`.
static void note_core(struct thread *thread, uint8_t number, uint64_t until)
{
    if (until < thread->core_until)
        return;
    thread->core_until = until;
    thread->core = number;
}

// Adds the part from `from` to `to` of what had a core. Without `is_known`, what had it is unknown.
static void send_part(struct schedule *schedule, struct core *core,
                      const struct extract_interval *whole, uint64_t from, uint64_t to,
                      bool is_known)
{
    struct extract_interval *interval = &core->step.interval;

    if (from >= to)
        return;
    *interval = *whole;
    interval->from = from;
    interval->to = to;
    if (!is_known) {
        interval->runner = EXTRACT_RUNNER_UNKNOWN;
        interval->thread = 0;
        interval->is_unsure = false;
    }
    schedule_add_step(schedule, core);
}

void cores_add_step(struct schedule *schedule, struct core *core, uint8_t number)
{
    const struct extract_interval whole = core->step.interval;
    bool may_overlap = schedule->has_silent_switches && whole.from < whole.to &&
                       schedule->board->end - schedule->board->first > 1 &&
                       whole.runner == EXTRACT_RUNNER_THREAD;
    struct thread *thread = may_overlap ? schedule_thread(schedule, whole.thread) : NULL;

    if (!thread) {
        schedule_add_step(schedule, core);
        return;
    }
    // The thread has the core until `first`, and again from `last` on.
    bool had_it = has_thread(core, whole.thread);
    uint64_t first = !had_it ? whole.from : core->is_taken ? core->taken_at : whole.to;
    uint64_t last =
        had_it && !core->is_taken ? whole.to : free_from(schedule, thread, number, whole.to);
    first = first < whole.from ? whole.from : first > whole.to ? whole.to : first;
    last = last < first ? first : last > whole.to ? whole.to : last;
    send_part(schedule, core, &whole, whole.from, first, true);
    send_part(schedule, core, &whole, first, last, false);
    send_part(schedule, core, &whole, last, whole.to, true);
    uint64_t until = last < whole.to ? whole.to : first;
    if (until > whole.from)
        note_core(thread, number, until);
}

// Adds a part of the time between two events of a core.
static void add_part(struct schedule *schedule, struct core *core, uint8_t number,
                     struct holder holder, uint64_t from, uint64_t to, bool is_unsure)
{
    struct extract_interval *interval = &core->step.interval;

    if (from >= to)
        return;
    interval->from = from;
    interval->to = to;
    interval->runner = holder.runner;
    interval->thread = holder.thread;
    interval->is_unsure = is_unsure;
    cores_add_step(schedule, core, number);
}

// Takes the core from a thread that had it until `first`, and that may have had it until `last`.
static void lose_core(struct schedule *schedule, struct thread *thread, uint8_t number,
                      uint64_t first, uint64_t last)
{
    struct extract_state ready = {.state = EXTRACT_STATE_READY, .is_unsure = true};

    if (!thread || thread->now.state != EXTRACT_STATE_RUNNING || thread->now.core != number)
        return;
    thread_set(schedule, thread, first, &ready, NULL);
    ready.is_unsure = cores_is_next(schedule, thread->now.thread, number);
    thread_set(schedule, thread, last, &ready, NULL);
}

// Marks that a thread that has the core before and after may not have had it in between.
static void doubt_running(struct schedule *schedule, struct thread *thread, uint8_t number,
                          uint64_t first, uint64_t last)
{
    struct extract_state running = {.state = EXTRACT_STATE_RUNNING, .core = number};

    if (!thread || thread->now.state != EXTRACT_STATE_RUNNING || thread->now.core != number ||
        first >= last)
        return;
    running.is_unsure = true;
    thread_set(schedule, thread, first, &running, NULL);
    running.is_unsure = false;
    thread_set(schedule, thread, last, &running, NULL);
}

// Returns whether a core other than `except` may have a thread that is ready: one of which nothing
// is known yet; one that was idle at its last event, if the thread became ready since then; or, if
// another thread became ready after it, one that may have changed threads after its last event.
static bool may_be_elsewhere(const struct schedule *schedule, const struct thread *thread,
                             unsigned except)
{
    for (unsigned i = schedule->board->first; i < schedule->board->end; i++) {
        const struct core *core = &schedule->cores[i];
        enum extract_runner runner = core->next.runner ? core->next.runner : core->owner.runner;
        bool was_idle = core->has_last && runner == EXTRACT_RUNNER_IDLE;
        bool is_new = thread->woken_at >= core->last_ticks;
        bool is_displaced = core->may_switch && thread->wake != schedule->wakes;
        if (i != except && (!core->has_last || (was_idle && is_new) || is_displaced))
            return true;
    }
    return false;
}

// Notes which thread has a core after an event.
static void note_kept(struct core *core)
{
    const struct holder *holder = core->next.runner ? &core->next : &core->owner;
    bool is_elsewhere = core->next.runner && core->is_next_busy;

    core->kept = holder->runner == EXTRACT_RUNNER_THREAD && !is_elsewhere ? holder->thread : 0;
    core->is_taken = false;
}

// Notes which thread an event names as next.
static void note_next(struct schedule *schedule, struct core *core,
                      const struct extract_event *event, const struct extract_role_fields *role)
{
    const struct thread *next = thread_of(schedule, core->next);
    uint8_t number = event->core;

    core->has_stopped = role->role == EXTRACT_ROLE_SUSPEND && role->thread &&
                        extract_role_field(event, role->thread) == event->thread;
    if (!next && event->context == EXTRACT_ISR) // the thread still gets the core after it
        return;
    core->is_next_busy = next && (next->now.state == EXTRACT_STATE_RUNNING
                                      ? next->now.core != number
                                      : next->now.state <= EXTRACT_STATE_READY &&
                                            may_be_elsewhere(schedule, next, number));
    if (next && !core->is_next_busy && next->now.state <= EXTRACT_STATE_READY &&
        core->has_stopped) {
        thread_run(schedule, core->next.thread, event->ticks, number, false);
        core->named = core->next.thread;
    }
}

void cores_note_next(struct schedule *schedule, struct core *core,
                     const struct extract_event *event, const struct extract_role_fields *role)
{
    note_next(schedule, core, event, role);
    note_kept(core);
    if (event->context == EXTRACT_THREAD && event->thread)
        note_core(schedule_thread(schedule, event->thread), event->core, event->ticks);
}

static bool is_of_other_board(const struct schedule *schedule, const struct thread *thread)
{
    return &schedule->boards[thread->board] != schedule->board;
}

// Marks threads that are ready as unsure until `last`, since the core may have run them as well:
// those that became ready since its last event, or all.
static void doubt_others(struct schedule *schedule, uint64_t from, uint64_t last, bool with_old)
{
    for (size_t i = 0; i < schedule->thread_count; i++) {
        struct thread *thread = schedule->threads[i];
        struct extract_state ready = thread->now;
        bool is_new = ready.from >= from;
        if (is_of_other_board(schedule, thread))
            continue;
        if (ready.state != EXTRACT_STATE_READY || ready.is_unsure || !(is_new || with_old) ||
            ready.from >= last)
            continue;
        doubt_ready(schedule, thread);
        thread_set(schedule, thread, last, &ready, NULL);
    }
}

// Returns whether each thread that became ready since the last event of a core, other than `next`,
// got a core at once; `with_old`: and no other thread is ready that the core may have run since.
static bool are_others_placed(const struct schedule *schedule, const struct core *core,
                              const struct thread *next, bool with_old)
{
    for (size_t i = 0; i < schedule->thread_count; i++) {
        const struct thread *thread = schedule->threads[i];
        bool was_placed = thread == next || thread->is_placed;
        if (is_of_other_board(schedule, thread))
            continue;
        if (with_old && thread != next && thread->now.state == EXTRACT_STATE_READY)
            return false;
        if (thread->unplaced_wake > core->wakes || (!was_placed && thread->wake > core->wakes))
            return false;
    }
    return true;
}

bool cores_may_run(const struct schedule *schedule)
{
    if (!schedule->may_have_missed || !schedule->has_silent_switches)
        return false;
    for (unsigned i = schedule->board->first; i < schedule->board->end; i++)
        if (!schedule->cores[i].has_last)
            return true;
    return false;
}

void cores_begin(struct schedule *schedule, uint64_t at)
{
    doubt_others(schedule, schedule->board->start, at, true);
}

bool cores_close_interval(struct schedule *schedule, struct core *core, uint8_t number,
                          const struct extract_event *event, struct holder owner)
{
    uint64_t from = core->last_ticks, to = core->step.interval.to;
    struct holder before = core->next.runner ? core->next : core->owner;
    bool is_alone = !schedule->has_silent_switches || !core->has_other;

    if (is_alone || !event || before.runner == EXTRACT_RUNNER_INIT || !before.runner ||
        owner.runner == EXTRACT_RUNNER_INIT)
        return false;
    thread_of(schedule, before); // adding a thread may move the others
    struct thread *next = thread_of(schedule, owner), *last_thread = thread_of(schedule, before);
    if (next && next->now.state > EXTRACT_STATE_READY && event->context == EXTRACT_ISR)
        return false; // it has not lost the core yet
    bool is_moved = schedule->board->moves != core->moves;
    bool is_changed = last_thread && last_thread->now.from > from;
    // The next thread gets the core at once if the one before stopped. Otherwise, preemption may be
    // disabled. And the next thread may not have lost another core yet.
    bool is_late = core->is_next_busy || (!core->has_stopped && !is_same(before, core->owner));
    if (is_same(before, owner) && !is_moved && !is_changed && !is_late)
        return false;

    bool is_sure = !is_late && (!core->may_switch || core->has_stopped);
    uint64_t first = core->other_at, last = schedule->board->before_at;
    uint64_t ready = next && next->now.state == EXTRACT_STATE_READY ? next->woken_at : 0;
    first = first < from ? from : first > to ? to : first;
    last = last < first ? first : last > to ? to : last;
    if (before.runner == EXTRACT_RUNNER_IDLE && next && next->now.state == EXTRACT_STATE_READY &&
        ready <= to && !is_moved && are_others_placed(schedule, core, next, !is_sure)) {
        if (ready > from)
            first = last = ready;
        else if (!core->next.runner && !core->is_next_busy && next->now.from <= from)
            first = last = from;
    }
    uint64_t middle = ready > first && ready < last ? ready : first;
    add_part(schedule, core, number, before, from, first, !is_sure);
    add_part(schedule, core, number, before, first, middle, true);
    add_part(schedule, core, number, owner, middle, last, true);
    if (!is_same(before, owner))
        lose_core(schedule, thread_of(schedule, before), number, is_sure ? first : from, last);
    if (!is_same(core->owner, owner))
        lose_core(schedule, thread_of(schedule, core->owner), number, from, last);
    if (core->named && owner.thread != core->named)
        lose_core(schedule, schedule_thread(schedule, core->named), number, from, last);
    doubt_others(schedule, from, last, !is_sure || is_moved);
    doubt_running(schedule, next, number, is_sure ? first : from, last);
    schedule_change_owner(schedule, core, owner, last, number);
    add_part(schedule, core, number, owner, last, to, false);
    return true;
}
