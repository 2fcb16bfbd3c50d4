// SPDX-License-Identifier: MIT
// schedule: what every thread does. Events of the scheduler come in; states of threads and wake-ups
// go out.
//
//                  suspend                        delete
//   UNKNOWN ---> BLOCKED, SLEEPING, SUSPENDED, ... -----> (gone)
//      |            |                    ^
//      |            | resume             | suspend
//      |            v    gets the core   |
//      +--------> READY ------------> RUNNING
//                   ^                    |
//                   +--------------------+
//                     loses the core
//
// A thread's first event proves what it did since the start, because nothing was recorded of it
// before: a first resumption proves that it waited, a first run that it was ready.
#include "base/grow.h"
#include "events/event_filter.h"
#include "schedule/schedule_room.h"
#include <string.h>

static const struct extract_state ready = {.state = EXTRACT_STATE_READY};
static const struct extract_state unsure = {.state = EXTRACT_STATE_READY, .is_unsure = true};
static const struct extract_state suspended = {.state = EXTRACT_STATE_SUSPENDED};
static const struct extract_state completed = {.state = EXTRACT_STATE_COMPLETED};
static const struct extract_state terminated = {.state = EXTRACT_STATE_TERMINATED};
static const struct extract_state unknown = {.state = EXTRACT_STATE_UNKNOWN};

static const char *wait_name(enum extract_wait wait)
{
    static const char *const names[] = {[EXTRACT_WAIT_SLEEP] = "sleep",
                                        [EXTRACT_WAIT_QUEUE] = "queue",
                                        [EXTRACT_WAIT_SEMAPHORE] = "semaphore",
                                        [EXTRACT_WAIT_FLAGS] = "event flags",
                                        [EXTRACT_WAIT_BLOCK_POOL] = "block pool",
                                        [EXTRACT_WAIT_BYTE_POOL] = "byte pool",
                                        [EXTRACT_WAIT_IO] = "I/O driver",
                                        [EXTRACT_WAIT_FILE] = "file",
                                        [EXTRACT_WAIT_TCP_IP] = "TCP/IP",
                                        [EXTRACT_WAIT_MUTEX] = "mutex",
                                        [EXTRACT_WAIT_NOTIFICATION] = "notification",
                                        [EXTRACT_WAIT_STREAM] = "stream buffer",
                                        [EXTRACT_WAIT_LOCK] = "lock"};
    const char *name = (unsigned)wait < sizeof names / sizeof *names ? names[wait] : NULL;

    return name ? name : "unknown";
}

// Returns the state of a thread that stops in a wait.
static struct extract_state waiting_state(enum extract_wait wait, uint64_t object)
{
    switch (wait) {
    case EXTRACT_WAIT_COMPLETED:
        return (struct extract_state){.state = EXTRACT_STATE_COMPLETED};
    case EXTRACT_WAIT_TERMINATED:
        return (struct extract_state){.state = EXTRACT_STATE_TERMINATED};
    case EXTRACT_WAIT_SUSPENDED:
        return (struct extract_state){.state = EXTRACT_STATE_SUSPENDED};
    case EXTRACT_WAIT_SLEEP:
        return (struct extract_state){.state = EXTRACT_STATE_SLEEPING};
    default:
        return (struct extract_state){
            .state = EXTRACT_STATE_BLOCKED, .wait = wait_name(wait), .object = object};
    }
}

static struct thread *remember_thread(struct schedule *schedule, uint64_t address, uint32_t index)
{
    struct recent_thread *recent = &schedule->recent[recent_slot(address)];

    *recent = (struct recent_thread){address, schedule->threads[index - 1]};
    return recent->thread;
}

// Returns the name that the kernel has given to a thread. In a merged log, names have a prefix that
// ends in a slash.
static const char *name_of_kernel(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

// Returns whether a thread is one of the kernel's own that run while a core has nothing to do.
static bool is_idle_thread(const struct schedule *schedule, uint64_t address)
{
    const char *pattern = schedule->kernel->idle_threads;
    const struct extract_object *thread =
        pattern ? extract_trace_thread_at(schedule->trace, address, UINT64_MAX) : NULL;

    return thread && thread->name && filter_matches(pattern, name_of_kernel(thread->name), 0);
}

// Returns the priority of a thread before its first event in this part of the trace.
static uint16_t first_priority(const struct schedule *schedule, uint64_t address)
{
    const struct extract_object *thread =
        extract_trace_thread_at(schedule->trace, address, UINT64_MAX);

    return thread && (thread->keeps_priority || !schedule->may_have_missed) ? thread->priority
                                                                            : EXTRACT_NO_PRIORITY;
}

struct thread *schedule_find_thread(struct schedule *schedule, uint64_t address)
{
    uint32_t *index = address ? extract_map_at(&schedule->thread_map, address) : NULL;

    if (index && *index)
        return remember_thread(schedule, address, *index);
    struct thread **grown = index ? extract_grow(schedule->threads, &schedule->thread_capacity,
                                                 schedule->thread_count, sizeof *grown)
                                  : NULL;
    schedule->threads = grown ? grown : schedule->threads;
    struct thread *thread = grown ? malloc(sizeof *thread) : NULL;
    if (!thread) {
        schedule->failed |= address != 0;
        return NULL;
    }
    grown[schedule->thread_count++] = thread;
    *thread = (struct thread){.board = (uint8_t)(schedule->board - schedule->boards),
                              .now = {.from = schedule->board->start, .thread = address},
                              .is_idle = is_idle_thread(schedule, address),
                              .priority = first_priority(schedule, address)};
    *index = (uint32_t)schedule->thread_count;
    return remember_thread(schedule, address, *index);
}

static void send_state(const struct schedule *schedule, const struct extract_state *state)
{
    if (!schedule->sink->state)
        return;
    if (schedule->holes)
        holes_before_state(schedule, state);
    if (state->from >= schedule->from && state->to <= schedule->to) {
        schedule->sink->state(schedule->sink->context, state);
        return;
    }
    struct extract_state part = *state;
    if (schedule_clip(schedule, &part.from, &part.to))
        schedule->sink->state(schedule->sink->context, &part);
}

static bool is_same_state(const struct extract_state *a, const struct extract_state *b)
{
    return a->state == b->state && a->object == b->object && a->wait == b->wait &&
           a->core == b->core && a->is_unsure == b->is_unsure &&
           a->timeout_known == b->timeout_known && a->timeout == b->timeout;
}

// Completes the present state. States without a duration vanish, and equal neighbors are joined.
static void complete_state(const struct schedule *schedule, struct thread *thread, uint64_t at)
{
    struct extract_state *held = &thread->held, *now = &thread->now;

    if (now->from >= at)
        return;
    bool has_held = held->from < held->to;
    if (has_held && held->to == now->from && is_same_state(held, now)) {
        held->to = at;
        return;
    }
    if (has_held)
        send_state(schedule, held);
    *held = *now;
    held->to = at;
}

void thread_set(struct schedule *schedule, struct thread *thread, uint64_t at,
                const struct extract_state *state, const struct extract_state *before)
{
    uint64_t address = thread->now.thread, from = thread->now.from;

    at = at < from ? from : at;
    if (schedule->lacks_moves) { // nothing shows how long a thread waits
        before = NULL;
        state = state->state == EXTRACT_STATE_RUNNING ? state : &unknown;
    }
    if (thread->now.state == EXTRACT_STATE_UNKNOWN && before) {
        thread->now = *before;
        thread->now.is_unsure |= schedule->lacks_thread_calls;
        thread->now.from = from;
        thread->now.thread = address;
    }
    complete_state(schedule, thread, at);
    thread->is_gone = false; // also if its creation was not recorded
    thread->is_ready_unsure = thread->is_stop_unsure = false;
    thread->now = *state;
    thread->now.from = at;
    thread->now.thread = address;
    thread->now.is_unsure |=
        (schedule->lacks_moves && state->state == EXTRACT_STATE_RUNNING) ||
        (schedule->lacks_thread_calls && state->state != EXTRACT_STATE_UNKNOWN);
}

// Ends a wait of a thread that can run, of which nothing was recorded when it could run again. If
// it waits for a lock, it is ready since the lock was last released: it waits until it can have the
// lock. Otherwise, how long it has waited is not known.
static void end_wait(struct schedule *schedule, struct thread *thread)
{
    uint64_t at;

    if (thread->now.state == EXTRACT_STATE_BLOCKED && thread->wait == EXTRACT_WAIT_LOCK &&
        schedule_lock_freed(schedule, thread->now.object, thread->now.from, &at))
        thread_set(schedule, thread, at, &ready, NULL);
    if (thread->now.state > EXTRACT_STATE_READY)
        thread->now =
            (struct extract_state){.from = thread->now.from, .thread = thread->now.thread};
}

void thread_run(struct schedule *schedule, uint64_t address, uint64_t at, uint8_t core,
                bool was_ready)
{
    struct extract_state running = {.state = EXTRACT_STATE_RUNNING, .core = core};
    struct thread *thread = schedule_thread(schedule, address);

    if (!thread || (thread->now.state == EXTRACT_STATE_RUNNING && thread->now.core == core))
        return;
    if (thread->spins_on) {
        running.object = thread->spins_on;
        running.wait = wait_name(EXTRACT_WAIT_LOCK);
    }
    if (thread->is_stop_unsure) // it was not suspended
        thread->now.state = EXTRACT_STATE_READY;
    // What lets a thread run that waits was not recorded.
    bool has_waited = thread->has_waited || thread->now.state > EXTRACT_STATE_READY;
    end_wait(schedule, thread);
    was_ready &= !has_waited;
    if (schedule->has_silent_switches)
        cores_doubt_thread(schedule, thread);
    // On several cores, it may also have run before, on a core that recorded nothing of it.
    thread_set(schedule, thread, at, &running,
               !was_ready                      ? NULL
               : schedule->has_silent_switches ? &unsure
                                               : &ready);
    thread->is_placed |= thread->now.from == thread->woken_at;
    if (thread->has_response && !thread->response.has_ran) {
        thread->response.ran_at = thread->now.from;
        thread->response.has_ran = true;
    }
}

void thread_lose_core(struct schedule *schedule, uint64_t address, uint64_t at, uint8_t number)
{
    const struct core *core = &schedule->cores[number];
    struct thread *thread = schedule_thread(schedule, address);

    if (!thread)
        return;
    bool is_ready = core->states_way && (core->way == EXTRACT_SWITCH_PREEMPTED ||
                                         core->way == EXTRACT_SWITCH_TIME_SLICED);
    if (is_ready && thread->now.state > EXTRACT_STATE_READY) {
        end_wait(schedule, thread);
        thread_set(schedule, thread, at, &ready, NULL);
    }
    if (thread->now.state != EXTRACT_STATE_RUNNING || thread->now.core != number)
        return;
    // A yield that no event states is only the likely way.
    bool is_unknown_way = core->states_way && (core->way == EXTRACT_SWITCH_UNKNOWN ||
                                               core->way == EXTRACT_SWITCH_YIELDED);
    bool is_unsure = is_unknown_way ||
                     (schedule->has_silent_switches && cores_is_next(schedule, address, number));
    thread->has_waited = core->states_way && core->way == EXTRACT_SWITCH_GAVE_UP;
    bool may_wait = thread->may_have_ended ? true
                    : core->states_way     ? !is_ready && !is_unknown_way
                                           : schedule->lacks_waits;
    thread_set(schedule, thread, at, may_wait ? &unknown : is_unsure ? &unsure : &ready, NULL);
}

// ---- responses ----

// Returns whether a wait is one for a resource, which belongs to a response.
static bool is_for_resource(enum extract_wait wait)
{
    return wait == EXTRACT_WAIT_MUTEX || wait == EXTRACT_WAIT_LOCK ||
           wait == EXTRACT_WAIT_BLOCK_POOL || wait == EXTRACT_WAIT_BYTE_POOL;
}

static void note_end(struct extract_response *response, const struct extract_event *event)
{
    response->to = event->ticks;
    response->to_seq = event->seq;
}

void thread_begin_response(const struct schedule *schedule, struct thread *thread,
                           const struct extract_event *event)
{
    if (thread->response_may_end)
        thread_end_response(schedule, thread, event);
    thread->has_response = true;
    thread->response = (struct extract_response){
        .from = event->ticks, .thread = thread->now.thread, .from_seq = event->seq};
}

void thread_end_response(const struct schedule *schedule, struct thread *thread,
                         const struct extract_event *event)
{
    struct extract_response *response = &thread->response;

    if (!thread->has_response)
        return;
    if (!thread->response_may_end)
        note_end(response, event);
    thread->has_response = thread->response_may_end = false;
    response->follows_unknown = thread->left_out_response;
    thread->left_out_response = response->to < response->from; // time stepped back
    if (thread->left_out_response)
        return;
    response->has_ran &= response->from <= response->ran_at && response->ran_at <= response->to;
    if (schedule->sink->response && response->from >= schedule->from &&
        response->to <= schedule->to)
        schedule->sink->response(schedule->sink->context, response);
}

// ---- waking ----

// Returns whether a thread waits for a service whose events have no roles: those of FileX and NetX.
static bool is_without_roles(enum extract_wait wait)
{
    return wait >= EXTRACT_WAIT_IO && wait <= EXTRACT_WAIT_TCP_IP;
}

// Returns the thread that a service names; 0: none.
static uint64_t thread_of(const struct service *service)
{
    return service->role ? service_field(service, service->role->thread) : 0;
}

// Returns the event flags that a service sets; 0: none.
static uint64_t flags_of(const struct service *service)
{
    return service->role ? service_field(service, service->role->flags) : 0;
}

// Returns whether a service shows that nobody waits for it: it states how many do, or a queue has
// messages, for which nobody waits then.
static bool wakes_nobody(const struct service *service)
{
    const struct extract_role_fields *role = service->role;
    bool has_messages = role->queued && role->is_send && service_field(service, role->queued) != 0;

    return has_messages || (role->waiting && !service_field(service, role->waiting));
}

// Returns whether a service ends the wait of a thread. Of waits without roles, the newest service
// of the context that ends it is taken.
static bool is_cause(const struct service *service, const struct thread *thread,
                     enum extract_wait wait)
{
    if (!service->role || service->is_spent || wakes_nobody(service))
        return false;
    if (service->role->role == EXTRACT_ROLE_ABORT)
        return thread_of(service) == thread->now.thread;
    if (is_without_roles(wait))
        return true;
    bool notifies_stream =
        wait == EXTRACT_WAIT_STREAM && service->role->ends == EXTRACT_WAIT_NOTIFICATION;
    if (notifies_stream && service->of_stream && thread->now.object)
        return service->stream == thread->now.object;
    if (service->role->ends != wait && !notifies_stream)
        return false;
    if (thread_of(service))
        return thread_of(service) == thread->now.thread;
    if (thread->call == wait && flags_of(service) && !(flags_of(service) & thread->call_flags))
        return false;
    if (thread->call == wait && service->role->begins == wait &&
        service->role->is_send == thread->call_is_send)
        return false; // a message to a full queue ends no wait to send another one
    return notifies_stream || !thread->now.object || service_object(service) == thread->now.object;
}

static bool is_timer_thread(const struct schedule *schedule, uint64_t address, uint64_t seq)
{
    const struct extract_object *thread =
        schedule->kernel->timer_thread ? extract_trace_thread_at(schedule->trace, address, seq)
                                       : NULL;

    return thread && thread->name &&
           strcmp(name_of_kernel(thread->name), schedule->kernel->timer_thread) == 0;
}

// Returns the object whose service ended a wait; 0: not known, or there is none.
static uint64_t object_of_wait(const struct service *service, const struct thread *thread)
{
    bool is_abort = service->role->role == EXTRACT_ROLE_ABORT;

    return thread->now.object || is_abort ? thread->now.object : service_object(service);
}

// Returns whether a service gives a thread all that it waits for. Event flags that are set may be
// others than it wants, or not all of them.
static bool wants_no_more(const struct service *service, const struct thread *thread,
                          enum extract_wait wait)
{
    bool is_known = thread->call == wait;

    return !flags_of(service) ||
           (is_known && (thread->call_wants_one || !(thread->call_flags & ~flags_of(service))));
}

// Returns why a wait ends. If the trace begins in the middle of a service, the reason is not known.
// The timer thread ends waits, and calls services for timers. If it is known neither what the
// thread waited for nor that anybody waited for the service, either may be the reason. If somebody
// did, the service is the likely one.
static enum extract_wake_reason find_reason(const struct schedule *schedule,
                                            const struct extract_event *event,
                                            const struct thread *thread, enum extract_wait wait,
                                            const struct service *service, bool *is_likely)
{
    bool by_timer = (event->context == EXTRACT_THREAD &&
                     is_timer_thread(schedule, event->thread, event->seq)) ||
                    (service->role && service->role->role == EXTRACT_ROLE_TICK);
    if (is_cause(service, thread, wait)) {
        bool is_ambiguous = by_timer && !thread->now.object && !service->role->waiting;
        if (service->may_be_spent || is_ambiguous)
            return EXTRACT_WAKE_UNKNOWN;
        *is_likely = by_timer && !wants_no_more(service, thread, wait);
        return EXTRACT_WAKE_SERVICE;
    }
    if (wait == EXTRACT_WAIT_SLEEP)
        return by_timer || service->is_known ? EXTRACT_WAKE_SLEPT : EXTRACT_WAKE_UNKNOWN;
    if (by_timer)
        return service->is_known ? EXTRACT_WAKE_TIMEOUT : EXTRACT_WAKE_UNKNOWN;
    return is_timer_thread(schedule, thread->now.thread, event->seq) ? EXTRACT_WAKE_TICK
                                                                     : EXTRACT_WAKE_UNKNOWN;
}

// Sends a wake-up whose reason is known.
static void send_wake(const struct schedule *schedule, const struct extract_event *event,
                      const struct thread *thread, const struct service *service,
                      struct extract_wake wake)
{
    wake.at = event->ticks;
    wake.seq = event->seq;
    wake.thread = thread->now.thread;
    wake.by = event->thread;
    wake.core = event->core;
    wake.in_isr = event->context == EXTRACT_ISR;
    wake.is_suspended = thread->is_stopped;
    if (wake.reason == EXTRACT_WAKE_SERVICE) {
        wake.cause = service->seq;
        wake.service = service->type;
        wake.object = object_of_wait(service, thread);
        wake.is_aborted = service->role->role == EXTRACT_ROLE_ABORT;
        if (thread->wait == EXTRACT_WAIT_STREAM && service->of_stream) {
            wake.cause = service->stream_seq;
            wake.service = service->of_stream;
            wake.object = service->stream;
        }
    }
    const struct core *core = &schedule->cores[event->core];
    if (wake.in_isr && core->depth && core->depth <= MAX_NESTING) {
        wake.isr = core->isr[core->depth - 1];
        wake.isr_known = core->isr_known[core->depth - 1];
    }
    if (wake.in_isr && !schedule->word_is_interrupted)
        wake.by = 0;
    if (schedule->sink->wake && wake.at >= schedule->from && wake.at <= schedule->to)
        schedule->sink->wake(schedule->sink->context, &wake);
}

static void add_resume(struct schedule *schedule, const struct extract_event *event,
                       const struct extract_role_fields *role, struct service *service)
{
    uint64_t address = extract_role_field(event, role->thread);
    struct thread *thread = schedule_thread(schedule, address);
    enum extract_wait wait = role->state ? (enum extract_wait)extract_role_field(event, role->state)
                             : thread    ? thread->wait
                                         : EXTRACT_WAIT_NONE;

    if (!thread || wait == EXTRACT_WAIT_PRIORITY || (role->state && wait == EXTRACT_WAIT_NONE))
        return;
    bool is_aborted =
        service->role && service->role->role == EXTRACT_ROLE_ABORT && thread_of(service) == address;
    if (is_aborted && wait == EXTRACT_WAIT_SUSPENDED && thread->aborted > EXTRACT_WAIT_SUSPENDED)
        wait = thread->aborted;
    if (thread->is_ready_unsure && wait == EXTRACT_WAIT_SUSPENDED)
        thread->now.state = EXTRACT_STATE_SUSPENDED;
    // A thread is also resumed while it is still being suspended: then it has not waited.
    if (thread->now.state == EXTRACT_STATE_RUNNING || thread->now.state == EXTRACT_STATE_READY) {
        struct thread *owner =
            event->context == EXTRACT_THREAD ? schedule_thread(schedule, event->thread) : NULL;
        if (owner && wait == EXTRACT_WAIT_MUTEX && thread->call == wait &&
            thread->call_object == owner->released)
            mutexes_hand_over(schedule, owner, address, event->ticks);
        return;
    }
    struct extract_wake wake = {.reason = EXTRACT_WAKE_UNKNOWN};
    if (wait)
        wake.reason = find_reason(schedule, event, thread, wait, service, &wake.is_likely);
    bool caused = wake.reason == EXTRACT_WAKE_SERVICE;
    struct extract_state before = waiting_state(wait, caused ? object_of_wait(service, thread) : 0);
    if (caused && thread->now.state == EXTRACT_STATE_BLOCKED && !thread->now.object)
        thread->now.object = before.object; // its own call came before the trace
    before.is_unsure = wake.is_likely;
    bool may_be_stopped = schedule->may_have_missed && wait != EXTRACT_WAIT_SUSPENDED &&
                          thread->now.state == EXTRACT_STATE_UNKNOWN;
    bool may_be_stopping = thread->now.state == EXTRACT_STATE_UNKNOWN && cores_may_run(schedule);
    wake.is_unsure = (may_be_stopped && !thread->is_stopped) || schedule->lacks_thread_calls;
    if (!may_be_stopping)
        send_wake(schedule, event, thread, service, wake);
    if (!thread->is_placed)
        thread->unplaced_wake = thread->wake;
    thread->is_placed = false;
    thread->wake = ++schedule->wakes;
    thread->woken_at = event->ticks;
    service->is_spent |= caused && service->role->wakes_one;
    service->may_be_spent |=
        !caused && wait && is_cause(service, thread, wait) && service->role->wakes_one;
    // On several cores, parts of this time may be sent before it is known.
    bool is_unsure = may_be_stopping || (may_be_stopped && schedule->has_silent_switches);
    thread_set(schedule, thread, event->ticks,
               thread->is_stopped ? &suspended
               : is_unsure        ? &unsure
                                  : &ready,
               wait && !may_be_stopping ? &before : NULL);
    thread->is_ready_unsure = may_be_stopped && !thread->is_stopped;
    thread->is_stop_unsure = thread->is_stopped;
    if (wait == EXTRACT_WAIT_MUTEX)
        thread->mutex_since = event->ticks;
    if (thread->is_stopped)
        thread_end_response(schedule, thread, event);
    else if (!is_for_resource(wait))
        thread_begin_response(schedule, thread, event);
    thread->is_stopped = false;
    thread->service.is_known = true;
    // A mutex that was just released goes to the first thread that waited for it.
    struct thread *caller =
        event->context == EXTRACT_THREAD ? schedule_thread(schedule, event->thread) : NULL;
    if (caller && caller->released && wait == EXTRACT_WAIT_MUTEX &&
        (before.object == caller->released || caused))
        mutexes_hand_over(schedule, caller, address, event->ticks);
}

// ---- stopping ----

void threads_take_back_wait(struct schedule *schedule, struct thread *thread, uint8_t core)
{
    const struct extract_state running = {.state = EXTRACT_STATE_RUNNING, .core = core};

    thread->response_may_end = false;
    thread_set(schedule, thread, thread->now.from, &running, NULL);
}

// Notes that a thread is moved to another priority. If no call before stated it, a mutex raises or
// restores the priority, or the call was left out.
static void note_move(struct thread *thread)
{
    if (!thread->has_new_priority)
        thread->priority = EXTRACT_NO_PRIORITY;
    thread->has_new_priority = false;
}

static void add_suspend(struct schedule *schedule, const struct extract_event *event,
                        const struct extract_role_fields *role)
{
    enum extract_wait wait =
        (enum extract_wait)(role->state ? extract_role_field(event, role->state) : role->begins);
    uint64_t address = role->thread ? extract_role_field(event, role->thread) : event->thread;
    struct thread *thread = schedule_thread(schedule, address);

    if (thread && wait == EXTRACT_WAIT_PRIORITY)
        note_move(thread);
    if (!thread || wait == EXTRACT_WAIT_PRIORITY)
        return;
    // That a thread waits is recorded once more than what it waits for.
    if (thread->now.state == EXTRACT_STATE_BLOCKED && thread->wait == EXTRACT_WAIT_LOCK &&
        wait == EXTRACT_WAIT_SUSPENDED)
        return;
    thread->wait = wait;
    bool has_call = thread->call == wait;
    uint64_t object = has_call                 ? thread->call_object
                      : is_without_roles(wait) ? service_object(&thread->service)
                                               : 0;
    struct extract_state state = waiting_state(wait, object);
    if (has_call && wait == EXTRACT_WAIT_MUTEX)
        state.holder = thread->call_holder;
    else if (has_call && wait == EXTRACT_WAIT_LOCK)
        schedule_lock_note_holder(schedule, object, &state);
    if (has_call && thread->call_has_timeout) {
        state.timeout = thread->call_timeout;
        state.timeout_known = true;
    }
    if (wait == EXTRACT_WAIT_STREAM && thread->has_response) { // if it is not notified already
        note_end(&thread->response, event);
        thread->response_may_end = true;
    } else if (!is_for_resource(wait)) {
        thread_end_response(schedule, thread, event);
    }
    // No service goes on after its thread has suspended itself for good. So a service that the
    // timer thread called at one tick is not the reason for what the timer thread does at the next
    // one.
    if (wait <= EXTRACT_WAIT_SUSPENDED && event->context == EXTRACT_THREAD &&
        event->thread == thread->now.thread)
        thread->service.role = NULL;
    thread->service.is_known = true;
    if (schedule->has_silent_switches && thread->now.thread != event->thread)
        cores_doubt_thread(schedule, thread);
    // On one core, a thread that another one suspends did not run before.
    thread_set(schedule, thread, event->ticks, &state,
               schedule->board->end - schedule->board->first == 1 ? &ready : NULL);
}

// Notes that a thread is to be suspended. One that waits goes on waiting, and is suspended when its
// wait ends.
static void add_stop(struct schedule *schedule, const struct extract_event *event,
                     const struct extract_role_fields *role)
{
    enum extract_wait wait = (enum extract_wait)extract_role_field(event, role->state);
    struct thread *thread = schedule_thread(schedule, extract_role_field(event, role->thread));

    if (!thread || wait <= EXTRACT_WAIT_SUSPENDED)
        return;
    struct extract_state waits = waiting_state(wait, 0);
    if (thread->now.state == EXTRACT_STATE_UNKNOWN)
        thread_set(schedule, thread, thread->now.from, &waits, NULL);
    thread->is_stopped = true;
}

// Notes which wait of a thread is ended. The resumption that follows may not state it any more.
static void add_abort(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role)
{
    struct thread *thread = schedule_thread(schedule, extract_role_field(event, role->thread));

    if (thread && role->state)
        thread->aborted = (enum extract_wait)extract_role_field(event, role->state);
}

// Notes that a thread ends. It has the core until another one gets it.
static void complete_thread(struct schedule *schedule, struct thread *thread,
                            const struct extract_event *event)
{
    thread_end_response(schedule, thread, event);
    thread->wait = EXTRACT_WAIT_COMPLETED;
    thread_set(schedule, thread, event->ticks, &completed, NULL);
}

static void delete_thread(struct schedule *schedule, struct thread *thread,
                          const struct extract_event *event)
{
    if (thread->now.state == EXTRACT_STATE_RUNNING) { // by itself
        complete_thread(schedule, thread, event);
        return;
    }
    thread_end_response(schedule, thread, event);
    complete_state(schedule, thread, event->ticks);
    thread->now = (struct extract_state){.from = thread->now.from > event->ticks ? thread->now.from
                                                                                 : event->ticks,
                                         .thread = thread->now.thread};
    thread->is_gone = true;
}

static void add_end(struct schedule *schedule, const struct extract_event *event,
                    const struct extract_role_fields *role)
{
    struct thread *thread = schedule_thread(schedule, extract_role_field(event, role->thread));

    if (!thread)
        return;
    // What it was told before does not hold for its next life.
    thread->is_stopped = false;
    thread->call = EXTRACT_WAIT_NONE;
    switch (role->role) {
    case EXTRACT_ROLE_TERMINATE: // one that runs or is ready is suspended afterwards
        if (thread->now.state <= EXTRACT_STATE_READY)
            break;
        thread_end_response(schedule, thread, event);
        thread_set(schedule, thread, event->ticks, &terminated, NULL);
        break;
    case EXTRACT_ROLE_CREATE: // it did not exist before
        if (thread->now.state == EXTRACT_STATE_UNKNOWN || thread->is_gone)
            thread->now.from = event->ticks;
        thread->is_gone = thread->has_response = thread->response_may_end = false;
        thread->wait = EXTRACT_WAIT_SUSPENDED;
        thread_set(schedule, thread, event->ticks, &suspended, NULL);
        break;
    case EXTRACT_ROLE_RESET:
        thread_set(schedule, thread, event->ticks, &suspended, NULL);
        break;
    default:
        delete_thread(schedule, thread, event);
        break;
    }
}

static void add_exit(struct schedule *schedule, const struct extract_event *event,
                     const struct extract_role_fields *role)
{
    bool is_own = !role->thread && event->context == EXTRACT_THREAD;
    uint64_t address = is_own ? event->thread : extract_role_field(event, role->thread);
    struct thread *thread = schedule_thread(schedule, address);

    if (thread)
        complete_thread(schedule, thread, event);
}

// ---- events ----

static void note_priority(struct schedule *schedule, const struct extract_event *event,
                          const struct extract_role_fields *role)
{
    struct thread *thread = schedule_thread(schedule, extract_role_field(event, role->thread));

    if (!thread)
        return;
    extract_role_set_priority(schedule->trace, event, role, &thread->priority,
                              &thread->is_inherited);
    thread->has_new_priority = true;
}

void threads_add_role(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role, struct service *service)
{
    if (role->priority)
        note_priority(schedule, event, role);
    switch (role->role) {
    case EXTRACT_ROLE_RESUME:
        add_resume(schedule, event, role, service);
        break;
    case EXTRACT_ROLE_SUSPEND:
        add_suspend(schedule, event, role);
        if (role->owner)
            mutexes_add_wait(schedule, event, role);
        break;
    case EXTRACT_ROLE_LOCK_WAIT:
        schedule_locks_add_event(schedule, event, role);
        if (role->thread || event->context == EXTRACT_THREAD) // an interrupt does not wait
            add_suspend(schedule, event, role);
        break;
    case EXTRACT_ROLE_LOCK_GET:
    case EXTRACT_ROLE_LOCK_MISS:
    case EXTRACT_ROLE_LOCK_BUSY:
    case EXTRACT_ROLE_LOCK_RELEASE:
        schedule_locks_add_event(schedule, event, role);
        break;
    case EXTRACT_ROLE_MUTEX_GET:
    case EXTRACT_ROLE_MUTEX_PUT:
        mutexes_add_call(schedule, event, role);
        break;
    case EXTRACT_ROLE_MUTEX_CREATE:
    case EXTRACT_ROLE_MUTEX_DELETE:
        mutexes_add_life(schedule, event, role);
        break;
    case EXTRACT_ROLE_STOP:
        add_stop(schedule, event, role);
        break;
    case EXTRACT_ROLE_ABORT:
        add_abort(schedule, event, role);
        break;
    case EXTRACT_ROLE_CONTINUE: {
        struct thread *thread = schedule_thread(schedule, extract_role_field(event, role->thread));
        if (thread)
            thread->is_stopped = false;
        break;
    }
    case EXTRACT_ROLE_CREATE:
    case EXTRACT_ROLE_RESET:
    case EXTRACT_ROLE_DELETE:
    case EXTRACT_ROLE_TERMINATE:
        add_end(schedule, event, role);
        break;
    case EXTRACT_ROLE_EXIT:
        add_exit(schedule, event, role);
        break;
    case EXTRACT_ROLE_POST:
    case EXTRACT_ROLE_STEP_BEGIN:
    case EXTRACT_ROLE_STEP_END:
        steps_add_event(schedule, event, role);
        break;
    default:
        break;
    }
}

void threads_free(struct schedule *schedule)
{
    for (size_t i = 0; i < schedule->thread_count; i++)
        free(schedule->threads[i]);
    schedule->thread_count = 0;
}

void threads_end(struct schedule *schedule, uint64_t at)
{
    mutexes_end(schedule, at);
    schedule_locks_end(schedule, at);
    for (size_t i = 0; i < schedule->thread_count; i++) {
        struct thread *thread = schedule->threads[i];
        if (thread->is_idle)
            continue;
        schedule_choose_board(schedule, thread->board);
        if (!thread->is_gone && schedule->has_silent_switches)
            cores_doubt_thread(schedule, thread);
        if (thread->is_ready_unsure)
            thread->now.state = EXTRACT_STATE_UNKNOWN;
        if (!thread->is_gone)
            complete_state(schedule, thread, at);
        if (thread->held.from < thread->held.to)
            send_state(schedule, &thread->held);
    }
    threads_free(schedule);
    extract_map_free(&schedule->thread_map);
    schedule->failed |= !extract_map_init(&schedule->thread_map, 64);
    memset(schedule->recent, 0, sizeof schedule->recent);
}
