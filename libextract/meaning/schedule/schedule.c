// SPDX-License-Identifier: MIT
// schedule: derives the schedule of a trace. This file walks over the events, and finds out what
// had each core between two of them; schedule_threads.c, mutexes.c and lock_owners.c derive the
// rest.
//
// Between an event e and the next event f of the same core:
//
//   1. If interrupts were entered and f is an interrupt's, the innermost interrupt had the core.
//   2. Otherwise, whoever had the core at f had it from e on: events between which another thread
//      gets the core are recorded, and e is the last one.
//   3. If f does not show who had the core, the thread that e names as next had it.
//
//         e                             f
//     ----+-----------------------------+----
//         | has the core: the owner at f |
//
// So an interval is known when its second event comes, and the walk is one event behind on each
// core. A change of owners that e neither names nor can cause is marked as unsure.
//
// The owner at an event is its thread; in an interrupt, the interrupted thread, if the format
// records it. A gap makes everything unknown until the next evidence.
#include "events/event_filter.h"
#include "schedule/schedule_room.h"
#include <stdlib.h>
#include <string.h>

// ---- words ----

const char *extract_runner_name(enum extract_runner runner)
{
    static const char *const names[] = {"unknown", "thread", "isr", "idle", "init"};

    return (unsigned)runner < sizeof names / sizeof *names ? names[runner] : names[0];
}

const char *extract_thread_state_name(enum extract_thread_state state)
{
    static const char *const names[] = {"unknown",  "running",   "ready",     "blocked",
                                        "sleeping", "suspended", "completed", "terminated"};

    return (unsigned)state < sizeof names / sizeof *names ? names[state] : names[0];
}

const char *extract_wake_reason_name(enum extract_wake_reason reason)
{
    static const char *const names[] = {"unknown", "service", "sleep ended", "timeout",
                                        "timer tick"};

    return (unsigned)reason < sizeof names / sizeof *names ? names[reason] : names[0];
}

// ---- intervals ----

static void send_interval(const struct schedule *schedule, struct extract_interval interval)
{
    if (!schedule->sink->interval)
        return;
    if (schedule->holes)
        holes_before_interval(schedule, &interval);
    if (schedule_clip(schedule, &interval.from, &interval.to))
        schedule->sink->interval(schedule->sink->context, &interval);
}

static void flush_interval(const struct schedule *schedule, struct core *core)
{
    if (core->held.from < core->held.to)
        send_interval(schedule, core->held);
    core->held = (struct extract_interval){.from = 0};
}

// Adds an interval, and joins it with an equal one before it.
static void add_interval(const struct schedule *schedule, struct core *core,
                         const struct extract_interval *interval)
{
    struct extract_interval *held = &core->held;

    if (interval->from >= interval->to || !schedule->sink->interval)
        return;
    if (held->from < held->to && held->to == interval->from && held->runner == interval->runner &&
        held->thread == interval->thread && held->isr == interval->isr &&
        held->isr_known == interval->isr_known && held->lock == interval->lock &&
        held->is_unsure == interval->is_unsure) {
        held->to = interval->to;
        return;
    }
    flush_interval(schedule, core);
    *held = *interval;
}

// Reports what had a core after its last event: core->step.interval.
void schedule_add_step(const struct schedule *schedule, struct core *core)
{
    struct extract_interval *interval = &core->step.interval;

    if (schedule->is_past && interval->to > schedule->to) // the range ends within it
        interval->to = interval->from > schedule->to ? interval->from : schedule->to;
    if (schedule->lacks_switches && interval->runner) // any thread may have run in between
        interval->is_unsure = true;
    if (schedule->observer->step)
        schedule->observer->step(schedule->observer->context, &core->step);
    add_interval(schedule, core, &core->step.interval);
}

void schedule_choose_board(struct schedule *schedule, size_t index)
{
    schedule->board = &schedule->boards[index];
    schedule->has_silent_switches =
        !schedule->has_switches && schedule->board->end - schedule->board->first > 1;
}

static bool is_same_holder(struct holder a, struct holder b)
{
    return a.runner == b.runner && a.thread == b.thread;
}

static bool is_thread_or_idle(struct holder owner)
{
    return owner.runner == EXTRACT_RUNNER_THREAD || owner.runner == EXTRACT_RUNNER_IDLE;
}

static struct holder thread_or_idle(uint64_t thread)
{
    return (struct holder){thread ? EXTRACT_RUNNER_THREAD : EXTRACT_RUNNER_IDLE, thread};
}

// Returns a thread as the owner of a core: the kernel's own idle thread is idle.
static struct holder thread_or_idle_thread(struct schedule *schedule, uint64_t address)
{
    const struct thread *thread =
        schedule->kernel->idle_threads ? schedule_thread(schedule, address) : NULL;

    return thread_or_idle(thread && thread->is_idle ? 0 : address);
}

// Returns who has the core at an event, interrupts aside; UNKNOWN if the event does not show it.
static struct holder owner_at(struct schedule *schedule, const struct extract_event *event,
                              const struct extract_role_fields *role)
{
    if (role->role == EXTRACT_ROLE_SWITCH && role->thread)
        return thread_or_idle_thread(schedule, extract_role_field(event, role->thread));
    if (schedule->lacks_context && event->context != EXTRACT_INIT)
        return event->thread ? thread_or_idle_thread(schedule, event->thread)
                             : (struct holder){EXTRACT_RUNNER_UNKNOWN, 0};
    if (event->context == EXTRACT_THREAD)
        return thread_or_idle_thread(schedule, event->thread);
    if (event->context == EXTRACT_INIT)
        return (struct holder){EXTRACT_RUNNER_INIT, 0};
    if (event->context == EXTRACT_ISR && schedule->word_is_interrupted)
        return thread_or_idle(event->thread);
    return (struct holder){EXTRACT_RUNNER_UNKNOWN, 0};
}

// Reports that another thread, or idle, gets a core.
static void report_switch(struct schedule *schedule, const struct core *core, uint8_t number,
                          struct holder owner)
{
    if (schedule->observer->switched)
        schedule->observer->switched(schedule->observer->context,
                                     choices_kind(schedule, core, owner), number,
                                     core->owner.thread, core->step.standing);
}

// Gives the core to a new owner, and takes it from the old one.
void schedule_change_owner(struct schedule *schedule, struct core *core, struct holder owner,
                           uint64_t at, uint8_t number)
{
    bool is_switch = is_thread_or_idle(core->owner) && is_thread_or_idle(owner) &&
                     !is_same_holder(core->owner, owner);

    if (is_switch)
        report_switch(schedule, core, number, owner);
    if (core->owner.runner == EXTRACT_RUNNER_THREAD && !is_same_holder(core->owner, owner))
        thread_lose_core(schedule, core->owner.thread, at, number);
    if (core->named && owner.thread != core->named)
        thread_lose_core(schedule, core->named, at, number);
    core->named = 0;
    if (is_switch) {
        core->way = EXTRACT_SWITCH_PREEMPTED;
        core->states_way = false;
    }
    // A thread that has ended has its core for a while, to release what it owned.
    bool is_ending = is_same_holder(core->owner, owner) && thread_has_ended(schedule, owner.thread);
    if (owner.runner == EXTRACT_RUNNER_THREAD && !is_ending)
        thread_run(schedule, owner.thread, at, number,
                   core->has_last && !schedule->lacks_waits && !schedule->has_steps);
    choices_set_owner(schedule, core, owner);
}

// Returns whether an event is one more of the thread that had its core before, and nothing changed.
static bool is_still_running(const struct schedule *schedule, const struct core *core,
                             uint8_t number, const struct thread *caller)
{
    return caller && core->inside == NOT_INSIDE && core->owner.runner == EXTRACT_RUNNER_THREAD &&
           caller->now.thread == core->owner.thread && schedule->board->moves == core->moves &&
           caller->now.state == EXTRACT_STATE_RUNNING && caller->now.core == number;
}

// Marks what a thread does since a change of owners as unsure until the event that shows the
// change: when it happened is not known.
static void doubt_change(struct schedule *schedule, struct holder holder,
                         const struct extract_interval *interval)
{
    struct thread *thread =
        holder.runner == EXTRACT_RUNNER_THREAD ? schedule_thread(schedule, holder.thread) : NULL;

    bool has_changed = thread && thread->now.from == interval->from &&
                       (thread->now.state == EXTRACT_STATE_RUNNING ||
                        thread->now.state == EXTRACT_STATE_READY); // others are from an event
    if (!has_changed || interval->from == interval->to)
        return;
    struct extract_state state = thread->now;
    bool is_ready_unsure = thread->is_ready_unsure, is_stop_unsure = thread->is_stop_unsure;
    thread->now.is_unsure = true;
    thread_set(schedule, thread, interval->to, &state, NULL);
    thread->is_ready_unsure = is_ready_unsure;
    thread->is_stop_unsure = is_stop_unsure;
}

// If a part began inside an interrupt, adds the time of that interrupt, whose number is not known.
// Between an exit and the entry of another interrupt, an outer one may have continued, unless the
// thread changed meanwhile. Returns false if a thread had the core.
static bool add_inside(struct schedule *schedule, struct core *core,
                       const struct extract_event *event, const struct extract_role_fields *role)
{
    struct extract_interval *interval = &core->step.interval;

    if (core->inside == NOT_INSIDE)
        return false;
    struct holder owner = owner_at(schedule, event, role);
    bool is_switched = core->inside == MAYBE_INSIDE && owner.runner && core->owner.runner &&
                       !is_same_holder(owner, core->owner);
    if (event->context != EXTRACT_ISR || is_switched) {
        core->inside = NOT_INSIDE;
        return false;
    }
    bool is_unknown = core->inside == MAYBE_INSIDE && role->role == EXTRACT_ROLE_ISR_ENTER;
    if (!is_unknown) {
        core->inside = INSIDE;
        interval->runner = EXTRACT_RUNNER_ISR;
        interval->thread = core->owner.thread;
        interval->lock = core->spins_on[nesting_slot(core)];
    }
    schedule_add_step(schedule, core);
    return true;
}

// Adds what had the core from its last event to `event` (NULL: to the end, which is then its last
// event).
static void close_interval(struct schedule *schedule, struct core *core, uint8_t number,
                           const struct extract_event *event,
                           const struct extract_role_fields *role)
{
    uint64_t from = core->last_ticks, to = event ? event->ticks : from;
    struct extract_interval *interval = &core->step.interval;

    *interval = (struct extract_interval){.from = from, .to = to, .core = number};
    to = interval->to = to < from ? from : to; // cores may store their events a little out of order
    if (event && !core->depth && add_inside(schedule, core, event, role))
        return;
    if (core->depth && event && event->context == EXTRACT_ISR) {
        interval->runner = EXTRACT_RUNNER_ISR;
        interval->thread = core->owner.thread;
        interval->isr_known = core->depth <= MAX_NESTING && core->isr_known[core->depth - 1];
        interval->isr = interval->isr_known ? core->isr[core->depth - 1] : 0;
        interval->lock = core->spins_on[nesting_slot(core)];
        schedule_add_step(schedule, core);
        return;
    }
    struct holder owner = event ? owner_at(schedule, event, role) : core->next;
    if (schedule->has_silent_switches && owner.runner &&
        cores_close_interval(schedule, core, number, event, owner))
        return;
    bool is_shown = event && owner.runner;
    if (!owner.runner)
        owner = core->next.runner ? core->next : core->owner;
    bool changes = !is_same_holder(owner, core->owner) && core->owner.runner;
    interval->is_unsure = is_shown && changes && !is_same_holder(owner, core->next) &&
                          (!core->may_switch || core->last_in_isr);
    // A step whose begin is not an event began at some time since the last event.
    if (schedule->has_steps && is_shown && !is_same_holder(owner, core->owner) &&
        !is_same_holder(owner, core->next))
        interval->is_unsure = true;
    // An interrupt between a thread's suspension and the switch still names that thread; so does
    // any event, if switches are events.
    bool shows_run = event && event->context == EXTRACT_THREAD &&
                     (!schedule->has_switches || schedule->has_steps);
    struct holder before = core->owner;
    if (!event || shows_run || changes || !schedule_waits(schedule, owner))
        schedule_change_owner(schedule, core, owner, interval->from, number);
    if (interval->is_unsure) {
        doubt_change(schedule, before, interval);
        doubt_change(schedule, owner, interval);
    }
    interval->runner = owner.runner;
    interval->thread = owner.thread;
    cores_add_step(schedule, core, number);
}

// Adds what had the core from its last event to one more event of the thread that has it.
static void continue_interval(struct schedule *schedule, struct core *core,
                              const struct extract_event *event)
{
    uint64_t from = core->last_ticks;

    core->step.interval = (struct extract_interval){.from = from,
                                                    .to = event->ticks < from ? from : event->ticks,
                                                    .thread = event->thread,
                                                    .runner = EXTRACT_RUNNER_THREAD,
                                                    .core = event->core};
    cores_add_step(schedule, core, event->core);
}

// ---- events ----

// Notes an entry to, or an exit from, an interrupt. Any event of a thread ends all interrupts,
// since exits may not be recorded.
static void count_nesting(struct core *core, const struct extract_event *event,
                          const struct extract_role_fields *role, bool may_have_missed)
{
    if (event->context != EXTRACT_ISR) {
        core->depth = 0;
        if (core->service[0].role || !core->service[0].is_known)
            core->service[0] = (struct service){.is_known = true};
        core->spins_on[0] = 0;
    } else if (role->role == EXTRACT_ROLE_ISR_ENTER) {
        if (core->depth < MAX_NESTING) {
            core->isr[core->depth] = extract_role_field(event, role->number);
            core->isr_known[core->depth] = role->number != 0;
        }
        core->depth++;
        if (core->depth <= MAX_NESTING)
            core->service[core->depth] = (struct service){.is_known = true};
        core->spins_on[nesting_slot(core)] = 0;
    } else if (role->role == EXTRACT_ROLE_ISR_EXIT && core->depth) {
        core->depth--;
    } else if (role->role == EXTRACT_ROLE_ISR_EXIT && core->inside) {
        core->inside = may_have_missed ? MAYBE_INSIDE : NOT_INSIDE;
    } else if (role->role == EXTRACT_ROLE_ISR_RETURN) {
        core->depth = 0;
    }
}

// Returns the thread that an event names as the next one of its core.
static struct holder next_of(struct schedule *schedule, const struct extract_event *event,
                             const struct extract_role_fields *role)
{
    static const struct holder none = {EXTRACT_RUNNER_UNKNOWN, 0};
    uint64_t next = extract_role_field(event, role->next);

    if (!role->next ||
        (role->state && extract_role_field(event, role->state) == EXTRACT_WAIT_PRIORITY))
        return none;
    switch (role->role) {
    case EXTRACT_ROLE_SWITCH:
        return thread_or_idle_thread(schedule, next);
    case EXTRACT_ROLE_STEP_BEGIN:
        return next ? thread_or_idle(next) : none;
    case EXTRACT_ROLE_SUSPEND: // nobody is next: the core is idle
        return thread_or_idle(next);
    case EXTRACT_ROLE_RESUME:
        return next && schedule->resume_names_next ? thread_or_idle(next) : none;
    case EXTRACT_ROLE_TIME_SLICE: // it names the next thread of the first core
        return next && event->core == schedule->board->first ? thread_or_idle(next) : none;
    default:
        return next ? thread_or_idle(next) : none;
    }
}

// Returns where the newest service of an event's context is kept; NULL: nowhere.
static struct service *service_of(struct schedule *schedule, struct core *core,
                                  const struct extract_event *event, struct thread *caller)
{
    if (event->context == EXTRACT_ISR)
        return &core->service[nesting_slot(core)];
    struct thread *thread = caller ? caller : schedule_thread(schedule, event->thread);
    return thread ? &thread->service : NULL;
}

// Returns how a thread that is ready loses the core to one that is as urgent. At a tick, the kernel
// ends its time slice; otherwise, it has yielded. Kernels do not report each yield. Without any
// tick in the trace, the reason is unknown. A tick that left the core to the thread, while the
// other one was ready, shows a kernel without time slices: what happens at its ticks is unknown.
static enum extract_switch_kind way_to_equal(struct schedule *schedule, const struct core *core,
                                             const struct extract_event *event,
                                             const struct thread *left, const struct thread *next)
{
    enum {
        LATE_SHARE = 4
    }; // a switch is not at the tick if it comes after this part of the period
    const bool has_period = core->tick_count > 1;
    const uint64_t period = has_period ? core->tick_at - core->tick_before_at : 0;
    const bool is_late = has_period && event->ticks - core->tick_end > period / LATE_SHARE;
    const uint64_t unused = is_late ? core->tick_at : core->tick_before_at;

    if (!core->tick_count)
        return EXTRACT_SWITCH_UNKNOWN;
    if (!core->ticks)
        return EXTRACT_SWITCH_YIELDED;
    if (has_period && next->now.state == EXTRACT_STATE_READY && next->now.from < unused &&
        left->now.from < unused)
        schedule->board->has_no_slices = true;
    return is_late                          ? EXTRACT_SWITCH_YIELDED
           : schedule->board->has_no_slices ? EXTRACT_SWITCH_UNKNOWN
                                            : EXTRACT_SWITCH_TIME_SLICED;
}

// Notes the ticks of the kernel's timer. What a tick makes ready follows it.
static void note_tick(struct core *core, const struct extract_event *event,
                      const struct extract_role_fields *role)
{
    if (role->role == EXTRACT_ROLE_TICK) {
        core->tick_before_at = core->tick_at;
        core->tick_at = event->ticks;
        core->tick_count += core->tick_count < 2;
        core->ticks = true;
    } else if (role->role == EXTRACT_ROLE_SWITCH ||
               (event->context == EXTRACT_THREAD && role->role != EXTRACT_ROLE_RESUME)) {
        core->ticks = false;
    }
    core->tick_end = event->ticks;
}

// Notes how a thread loses the core to another one, if no event before showed that it waits or
// yields. A thread that waits for something that no event shows loses the core to a less
// urgent one, or to none.
static void derive_way(struct schedule *schedule, struct core *core,
                       const struct extract_event *event, const struct extract_role_fields *role)
{
    const struct extract_trace *trace = schedule->trace;
    uint64_t next_address = extract_role_field(event, role->next);
    bool is_left =
        core->owner.runner == EXTRACT_RUNNER_THREAD && core->owner.thread != next_address;
    bool has_left = is_left && schedule_thread(schedule, core->owner.thread); // or it is new
    const struct thread *next = schedule_thread(schedule, next_address);
    struct thread *left = has_left ? schedule_thread(schedule, core->owner.thread) : NULL;

    if (left && left->response_may_end)
        thread_end_response(schedule, left, event);
    if (!left || core->way != EXTRACT_SWITCH_PREEMPTED || schedule->lacks_waits ||
        left->now.state > EXTRACT_STATE_READY)
        return;
    bool is_idle = next && next->is_idle; // it may be as urgent as other threads
    bool is_known =
        next && next->priority != EXTRACT_NO_PRIORITY && left->priority != EXTRACT_NO_PRIORITY;
    unsigned urgency = is_known ? extract_trace_urgency(trace, next->priority) : 0;
    unsigned before = is_known ? extract_trace_urgency(trace, left->priority) : 0;
    if (!next_address || (trace->priority_order && urgency > before)) {
        core->way = EXTRACT_SWITCH_GAVE_UP;
        thread_end_response(schedule, left, event);
    } else if (is_known && trace->priority_order && urgency == before && !is_idle) {
        core->way = way_to_equal(schedule, core, event, left, next);
    } else if ((is_idle && !is_known) || (trace->priority_order && urgency == before)) {
        core->way = EXTRACT_SWITCH_UNKNOWN;
    }
    core->states_way = core->way != EXTRACT_SWITCH_PREEMPTED;
}

// Notes how the thread of a core would lose it after an event.
static void note_way(struct schedule *schedule, struct core *core,
                     const struct extract_event *event, const struct extract_role_fields *role)
{
    core->states_way = role->role == EXTRACT_ROLE_SWITCH && role->ready;
    if (core->states_way)
        core->way = extract_role_field(event, role->ready) ? EXTRACT_SWITCH_PREEMPTED
                                                           : EXTRACT_SWITCH_GAVE_UP;
    if (role->role == EXTRACT_ROLE_SWITCH && !role->ready)
        derive_way(schedule, core, event, role);
    note_tick(core, event, role);
    if (role->role == EXTRACT_ROLE_SWITCH)
        return;
    choices_add_event(schedule, core, event, role);
}

// Fills in what an event does not state of the thread or interrupt in which it was recorded, from
// the events before it. If the thread is not known, the event has none. Only threads make system
// calls.
static void add_context(const struct core *core, const struct extract_role_fields *role,
                        struct extract_event *event)
{
    const struct holder *owner = core->next.runner ? &core->next : &core->owner;
    bool is_call =
        role->role == EXTRACT_ROLE_SYSCALL_ENTER || role->role == EXTRACT_ROLE_SYSCALL_EXIT;

    if (event->context == EXTRACT_THREAD && !is_call &&
        (core->depth || role->role == EXTRACT_ROLE_ISR_ENTER))
        event->context = EXTRACT_ISR;
    if (!event->thread || core->is_idle || role->role == EXTRACT_ROLE_SWITCH ||
        role->role == EXTRACT_ROLE_STEP_BEGIN)
        event->thread = owner->thread;
}

// Notes a switch. In an interrupt, the thread gets the core behind the interrupt, but no event
// after the interrupt names it.
static void note_switch(struct schedule *schedule, struct core *core,
                        const struct extract_event *event, const struct extract_role_fields *role)
{
    if (role->role != EXTRACT_ROLE_SWITCH)
        return;
    core->is_idle = role->next && !extract_role_field(event, role->next);
    if (core->depth && role->next)
        schedule_change_owner(schedule, core, core->next, event->ticks, event->core);
}

// Begins with the first event of a core.
static void begin_core(struct schedule *schedule, struct core *core,
                       const struct extract_event *event, const struct extract_role_fields *role)
{
    bool is_entry = role->role == EXTRACT_ROLE_ISR_ENTER;

    if (schedule->has_silent_switches)
        cores_begin(schedule, event->ticks);
    if (event->context == EXTRACT_ISR && schedule->trace->has_isr_entries)
        core->inside = !is_entry ? INSIDE : schedule->may_have_missed ? MAYBE_INSIDE : NOT_INSIDE;
    schedule_change_owner(schedule, core, owner_at(schedule, event, role), event->ticks,
                          event->core);
    choices_begin(schedule, core, event);
}

// Keeps a service as the newest one of its context.
static void note_service(struct schedule *schedule, struct core *core,
                         const struct extract_event *event, const struct extract_role_fields *role,
                         struct thread *caller)
{
    struct service *kept = service_of(schedule, core, event, caller);

    if (!kept)
        return;
    kept->of_stream = NULL;
    if (role->ends == EXTRACT_WAIT_NOTIFICATION && kept->role &&
        kept->role->ends == EXTRACT_WAIT_STREAM) {
        kept->of_stream = kept->type;
        kept->stream = service_object(kept);
        kept->stream_seq = kept->seq;
    }
    kept->role = role;
    kept->type = event->type;
    kept->seq = event->seq;
    kept->is_known = true;
    kept->is_spent = kept->may_be_spent = false;
    memcpy(kept->field, event->field, sizeof kept->field);
}

// Notes a call that may begin a wait of a thread.
static void note_call(struct thread *thread, const struct extract_event *event,
                      const struct extract_role_fields *role)
{
    thread->call = (enum extract_wait)role->begins;
    thread->call_object = extract_role_field(event, role->object);
    thread->call_timeout = extract_role_field(event, role->timeout);
    thread->call_flags = extract_role_field(event, role->flags);
    thread->call_wants_one = role->all_flags && !(extract_role_field(event, role->all_flags) & 2);
    thread->call_is_send = role->is_send;
    thread->call_has_timeout = role->timeout != 0;
    thread->call_holder = extract_role_field(event, role->owner);
}

// Processes what an event says about threads. Most events are mere calls.
static void add_to_threads(struct schedule *schedule, struct core *core,
                           const struct extract_event *event,
                           const struct extract_role_fields *role, struct thread *caller)
{
    bool is_suspend = role->role == EXTRACT_ROLE_SUSPEND;
    bool is_wait = (is_suspend || role->role == EXTRACT_ROLE_LOCK_WAIT) && role->thread;
    bool is_resume = role->role == EXTRACT_ROLE_RESUME;

    if (caller && caller->released && !is_resume &&
        !(is_suspend && extract_role_field(event, role->state) == EXTRACT_WAIT_PRIORITY))
        mutexes_hand_over(schedule, caller, 0, event->ticks);
    struct thread *waiter = caller && role->begins && is_wait
                                ? schedule_thread(schedule, extract_role_field(event, role->thread))
                                : caller;
    // FreeRTOS's stream buffers wait for notifications: the wait is recorded twice.
    bool waits_for_stream =
        waiter && waiter->now.state == EXTRACT_STATE_BLOCKED && waiter->wait == EXTRACT_WAIT_STREAM;
    if (waits_for_stream && is_wait && role->begins == EXTRACT_WAIT_NOTIFICATION) {
        thread_end_response(schedule, waiter, event);
        return;
    }
    if (waits_for_stream && !is_wait && extract_role_is_service(role) &&
        core->owner.thread == event->thread)
        threads_take_back_wait(schedule, waiter, event->core); // it has been notified before
    if (waiter && role->begins)
        note_call(waiter, event, role);
    if (role->role == EXTRACT_ROLE_NONE || role->role == EXTRACT_ROLE_CALL)
        return;
    struct service none, *service = is_resume ? service_of(schedule, core, event, caller) : NULL;
    if (!service) {
        none.role = NULL;
        none.of_stream = NULL;
        none.is_known = none.is_spent = none.may_be_spent = false;
    }
    threads_add_role(schedule, event, role, service ? service : &none);
}

// Notes whether a thread may have ended before the trace, or the part after a gap, began. The
// kernel then releases its mutexes while it still has the core.
static void note_life(const struct schedule *schedule, struct thread *thread,
                      const struct extract_role_fields *role)
{
    bool is_release = role->role == EXTRACT_ROLE_MUTEX_PUT && !role->frees;
    bool is_running = thread->now.state == EXTRACT_STATE_RUNNING;

    if (!thread->has_events && is_release && schedule->may_have_missed && !thread->wake) {
        thread->may_have_ended = true;
        thread->now.is_unsure |= is_running;
    } else if (thread->may_have_ended && !is_release && role->role != EXTRACT_ROLE_RESUME) {
        thread->may_have_ended = false;
        thread->now.is_unsure &= !is_running || schedule->lacks_switches;
    }
    thread->has_events = true;
}

static void add_event(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role, uint8_t standing)
{
    struct core *core = &schedule->cores[event->core];
    struct thread *caller =
        event->context == EXTRACT_THREAD ? schedule_thread(schedule, event->thread) : NULL;
    unsigned depth = core->depth;

    if (caller && event->priority != EXTRACT_NO_PRIORITY) {
        caller->priority = event->priority;
        caller->has_new_priority = false;
    }
    if (core->has_last && is_still_running(schedule, core, event->core, caller))
        continue_interval(schedule, core, event);
    else if (core->has_last)
        close_interval(schedule, core, event->core, event, role);
    else
        begin_core(schedule, core, event, role);
    if (caller && (!caller->has_events || caller->may_have_ended))
        note_life(schedule, caller, role);
    count_nesting(core, event, role, schedule->may_have_missed);
    if (core->lock_holds)
        schedule_locks_end_interrupts(schedule, event, role, depth);
    add_to_threads(schedule, core, event, role, caller);
    if (extract_role_is_service(role))
        note_service(schedule, core, event, role, caller);
    core->next = next_of(schedule, event, role);
    if (role->role == EXTRACT_ROLE_STEP_END) // nothing shows what the core does then
        schedule_change_owner(schedule, core, (struct holder){EXTRACT_RUNNER_UNKNOWN, 0},
                              event->ticks, event->core);
    core->may_switch = role->may_switch;
    core->last_in_isr = event->context == EXTRACT_ISR && !core->depth &&
                        role->role != EXTRACT_ROLE_ISR_EXIT &&
                        role->role != EXTRACT_ROLE_ISR_RETURN;
    if (!core->has_last || event->ticks > core->last_ticks) // times may go back a little
        core->last_ticks = event->ticks;
    core->has_last = true;
    core->has_other = false;
    core->moves = schedule->board->moves;
    core->wakes = schedule->wakes;
    note_way(schedule, core, event, role);
    core->step.role = role;
    core->step.seq = event->seq;
    core->step.thread = event->thread;
    core->step.next = extract_role_field(event, role->next);
    core->step.context = event->context;
    core->step.standing = standing;
    note_switch(schedule, core, event, role);
    if (schedule->has_silent_switches)
        cores_note_next(schedule, core, event, role);
}

// Completes everything up to the newest event, and forgets what was known.
static void end_part(struct schedule *schedule)
{
    for (unsigned i = 0; i < schedule->core_count; i++) {
        struct core *core = &schedule->cores[i];
        schedule_choose_board(schedule, schedule->board_of[i]);
        if (core->has_last)
            close_interval(schedule, core, (uint8_t)i, NULL, NULL);
        flush_interval(schedule, core);
    }
    threads_end(schedule, schedule->highest);
}

// Adds the time of a gap, in which nothing is known, to each core that was seen before it.
static void start_after_gap(struct schedule *schedule, uint64_t at)
{
    for (unsigned i = 0; i < schedule->core_count; i++) {
        struct core *core = &schedule->cores[i];
        if (core->has_last)
            send_interval(schedule, (struct extract_interval){
                                        .from = core->last_ticks, .to = at, .core = (uint8_t)i});
        *core = (struct core){.has_last = false};
    }
    for (size_t i = 0; i < schedule->board_count; i++)
        schedule->boards[i].has_start = false;
}

// Begins a part of the trace in which nothing is missing.
static void start_part(struct schedule *schedule, uint64_t at)
{
    if (!schedule->has_start) {
        holes_start_part(schedule, at);
        start_after_gap(schedule, at);
    }
    schedule->has_start = true;
    struct board *board = schedule->board;
    if (!board->has_start)
        board->start = at;
    if (!board->has_begin)
        board->begin = at;
    board->has_start = board->has_begin = true;
}

static void add_gap(struct schedule *schedule, const struct extract_event *marker)
{
    if (!schedule->has_start)
        return;
    if (schedule->has_roles)
        end_part(schedule);
    holes_end_part(schedule);
    schedule->has_start = false;
    schedule->may_have_missed = true;
    if (schedule->observer->gap)
        schedule->observer->gap(schedule->observer->context, marker);
}

static bool add_events(void *context, const struct extract_event *events, const uint8_t *standing,
                       size_t count)
{
    struct schedule *schedule = context;
    const struct schedule_observer *observer = schedule->observer;
    const struct extract_ring *ring = &schedule->trace->snapshot->ring;
    const struct extract_role_fields *roles = schedule->kernel ? schedule->kernel->roles : NULL;
    uint32_t role_count = roles ? *schedule->kernel->role_count : 0;

    for (size_t i = 0; i < count && !schedule->failed; i++) {
        const struct extract_event *event = &events[i];
        struct extract_event scratch;
        if (extract_event_is_mark(event)) {
            if (extract_event_is_break(event))
                add_gap(schedule, event);
            if (observer->marker)
                observer->marker(observer->context, event, standing[i]);
            continue;
        }
        if (event->flags & EXTRACT_FLAG_GAP && schedule->has_roles)
            add_gap(schedule, event);
        bool is_outside = standing[i] == EXTRACT_OUTSIDE;
        const struct extract_role_fields *role =
            event->id < role_count ? &roles[event->id] : extract_ring_role(ring, &event, &scratch);
        if (schedule->lacks_context)
            add_context(&schedule->cores[event->core], role, &scratch);
        schedule->is_past = is_outside && schedule->has_range && !schedule->has_times;
        if (!is_outside && !schedule->has_range) {
            schedule->from = event->ticks;
            schedule->has_range = true;
        }
        if (schedule->board_count > 1)
            schedule_choose_board(schedule, schedule->board_of[event->core]);
        start_part(schedule, event->ticks);
        if (schedule->is_past)
            schedule->to = event->ticks < schedule->end ? event->ticks : schedule->end;
        else if (event->ticks > schedule->highest)
            schedule->highest = event->ticks;
        if (schedule->has_silent_switches)
            cores_note_event(schedule, event, role);
        if (schedule->has_roles)
            add_event(schedule, event, role, standing[i]);
        if (observer->event)
            observer->event(observer->context, event, role, standing[i]);
        if (observer->entry)
            observer->entry(observer->context, &events[i], standing[i]);
        if (schedule->is_past)
            return false;
    }
    return !schedule->failed;
}

// ---- start ----

// Times between which the schedule is sent, whether events lie there or not.
struct time_range {
    uint64_t from, to;
};

// Finds out which fields can be relied on. A kernel that stores a threshold in thread words is new
// enough to fill in the next thread of a resumption; and it stores the interrupted thread, as a
// kernel does in which any interrupt has one.
static void study_words(struct schedule *schedule)
{
    struct extract_event events[64];
    struct extract_reader reader;
    size_t count;

    extract_reader_init(&reader, schedule->trace);
    while (!schedule->resume_names_next &&
           (count = extract_reader_next(&reader, events, sizeof events / sizeof *events)))
        for (size_t i = 0; i < count; i++) {
            if (events[i].context == EXTRACT_THREAD && events[i].threshold != EXTRACT_NO_PRIORITY)
                schedule->resume_names_next = schedule->word_is_interrupted = true;
            if (events[i].context == EXTRACT_ISR && events[i].thread)
                schedule->word_is_interrupted = true;
        }
}

// Passes all events to add_events: those of a view with their standings, or all of the trace.
static void walk_trace(struct schedule *schedule, const struct extract_view *view)
{
    static const uint8_t standing[64] = {[0 ... 63] = EXTRACT_LET_THROUGH};
    struct extract_event events[sizeof standing];
    struct extract_reader reader;
    size_t count;

    if (view) {
        extract_view_run(view, &(struct extract_sink){.context = schedule, .all = add_events});
        return;
    }
    extract_reader_init(&reader, schedule->trace);
    while ((count = extract_reader_next(&reader, events, sizeof standing)) &&
           add_events(schedule, events, standing, count))
        continue;
}

enum extract_code schedule_check(const struct extract_trace *trace, struct extract_error *error)
{
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    const struct extract_scheduler *kernel = ring->format->kernel;

    if (extract_trace_info(trace)->hides_cores)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, extract_ring_format(ring),
                                 "record what one core does",
                                 "switches do not follow each other: the events are likely to be "
                                 "of several cores, which they do not name");
    if (!extract_trace_shows_schedule(trace))
        return extract_error_set(error, EXTRACT_UNSUPPORTED, extract_ring_format(ring),
                                 kernel && kernel->way_out && !ring->hook_roles
                                     ? kernel->way_out
                                     : "record the events of the scheduler; see ringside-why(1)",
                                 "no event of this trace shows a schedule");
    return EXTRACT_OK;
}

// Returns whether suspensions and resumptions of threads were left out. A kernel of which all
// events are built in may leave out those of its scheduler.
static bool lacks_moves(const struct extract_trace *trace)
{
    return trace->snapshot->ring.format->kernel->roles && trace->needs_moves && !trace->has_moves;
}

bool schedule_shows_waits(const struct extract_trace *trace)
{
    const struct extract_ring *ring = &trace->snapshot->ring;

    return extract_trace_shows_schedule(trace) && !lacks_moves(trace) &&
           !(ring->format->kernel->lacks_waits && ring->format->kernel->lacks_waits(ring));
}

// Finds the boards. Returns false if memory is short.
static bool find_boards(struct schedule *schedule)
{
    uint64_t starts = schedule->trace->board_starts | 1;

    schedule->boards = calloc(schedule->core_count, sizeof *schedule->boards);
    if (!schedule->boards)
        return false;
    for (unsigned i = 0; i < schedule->core_count; i++) {
        if (i < 64 && starts >> i & 1)
            schedule->boards[schedule->board_count++].first = i;
        schedule->boards[schedule->board_count - 1].end = i + 1;
        schedule->board_of[i] = (uint8_t)(schedule->board_count - 1);
    }
    schedule_choose_board(schedule, 0);
    return true;
}

// Walks over the events of a view, or of the trace if `range` is given, which then limits what is
// sent.
static enum extract_code walk(const struct extract_view *view, const struct time_range *range,
                              const struct extract_trace *trace,
                              const struct extract_schedule_sink *sink,
                              const struct schedule_observer *observer, struct extract_error *error)
{
    static const struct extract_schedule_sink no_sink = {.context = NULL};
    static const struct schedule_observer no_observer = {.context = NULL};
    struct schedule schedule = {.trace = trace,
                                .sink = sink ? sink : &no_sink,
                                .observer = observer ? observer : &no_observer,
                                .from = range ? range->from : UINT64_MAX,
                                .to = range ? range->to : UINT64_MAX,
                                .has_range = range != NULL,
                                .has_times = range != NULL};

    schedule.end = schedule.observer->shows_next ? UINT64_MAX : filter_end(view);

    schedule.kernel = extract_trace_snapshot(trace)->ring.format->kernel;
    schedule.has_roles = extract_trace_shows_schedule(trace);
    schedule.may_have_missed = trace->snapshots || trace->is_part ||
                               extract_trace_info(trace)->wrapped || trace->snapshot->wrapped;
    schedule.has_switches = schedule.has_roles && schedule.kernel->translate;
    schedule.lacks_context = schedule.has_roles && schedule.kernel->lacks_context &&
                             schedule.kernel->lacks_context(&trace->snapshot->ring);
    schedule.lacks_waits = !schedule_shows_waits(trace);
    schedule.lacks_moves = schedule.has_roles && lacks_moves(trace);
    // A filter that left out the calls to sleep left out all calls about threads.
    schedule.lacks_thread_calls =
        schedule.has_roles && schedule.kernel->roles && trace->has_silent_sleeps;
    schedule.lacks_switches = schedule.lacks_moves || schedule.lacks_thread_calls;
    schedule.has_steps = schedule.has_roles && schedule.kernel->has_steps;
    schedule.core_count = extract_trace_info(trace)->cores ? extract_trace_info(trace)->cores : 1;
    schedule.cores = calloc(MAX_CORES, sizeof *schedule.cores);
    if (schedule.cores && holes_open(&schedule) && find_boards(&schedule) &&
        extract_map_init(&schedule.thread_map, 64) && extract_map_init(&schedule.mutex_map, 16) &&
        extract_map_init(&schedule.lock_map, 16)) {
        if (schedule.has_roles && schedule.kernel->roles)
            study_words(&schedule);
        walk_trace(&schedule, range && !schedule.observer->has_standings ? NULL : view);
        schedule.is_over = true;
        if (schedule.has_start && schedule.has_roles)
            end_part(&schedule);
        holes_end(&schedule);
    } else {
        schedule.failed = true;
    }
    schedule.failed |= !holes_free(&schedule);
    free(schedule.cores);
    free(schedule.boards);
    threads_free(&schedule);
    free(schedule.threads);
    free(schedule.mutexes);
    free(schedule.locks);
    extract_map_free(&schedule.thread_map);
    extract_map_free(&schedule.mutex_map);
    extract_map_free(&schedule.lock_map);
    return schedule.failed
               ? extract_error_set(error, EXTRACT_NOMEM, "schedule", NULL, "out of memory")
               : EXTRACT_OK;
}

enum extract_code schedule_walk(const struct extract_view *view, const struct extract_trace *trace,
                                const struct extract_schedule_sink *sink,
                                const struct schedule_observer *observer,
                                struct extract_error *error)
{
    return walk(view, NULL, trace, sink, observer, error);
}

// Sets *range to the times of a view. Returns false if the view chooses events otherwise, or all.
static bool find_range(const struct extract_view *view, struct time_range *range)
{
    bool has_from = view && view->checks & 1u << EXTRACT_FILTER_FROM;
    bool has_to = view && view->checks & 1u << EXTRACT_FILTER_TO;

    if ((!has_from && !has_to) || view->checks & 1u << EXTRACT_FILTER_LAST)
        return false;
    *range = (struct time_range){.from = has_from ? view->from : 0,
                                 .to = has_to ? view->to : UINT64_MAX};
    return true;
}

enum extract_code schedule_walk_times(const struct extract_view *view,
                                      const struct extract_trace *trace,
                                      const struct extract_schedule_sink *sink,
                                      const struct schedule_observer *observer,
                                      struct extract_error *error)
{
    struct time_range range;
    bool has_range = find_range(view, &range);
    enum extract_code code = schedule_check(trace, error);

    return code ? code : walk(view, has_range ? &range : NULL, trace, sink, observer, error);
}

enum extract_code extract_schedule_run(const struct extract_view *view,
                                       const struct extract_trace *trace,
                                       const struct extract_schedule_sink *sink,
                                       struct extract_error *error)
{
    return schedule_walk_times(view, trace, sink, NULL, error);
}
