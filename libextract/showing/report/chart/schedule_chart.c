// SPDX-License-Identifier: MIT
// report/chart: collects the message sequence chart of a trace that shows a schedule: who put what
// into which queue, semaphore or group of event flags, who took it out, and who woke whom.
//
//     queue send                      sender ──► queue        PUT: the message lies in the queue
//     queue send, resumption          sender ══► receiver     WAKE: the receiver waited for it
//     queue receive, of a message     queue ──► receiver      TAKE
//     queue receive, suspension       receiver ○              WAIT
//
// The result of a call is not in its event, and follows from the events after it. So a call becomes
// a row at once, and the row is changed when more is known. What the trace does not prove is not
// drawn: whoever takes a message is paired with its sender only if chart_messages.c knows the
// order.
//
// All events are followed, whether the view lets them through or not. Calls that it lets through
// become rows. An arrow to a thread that was woken is also drawn if the event of its resumption
// passes, or would pass if it were one of that thread.
#include "analysis/failed.h"
#include "base/grow.h"
#include "events/event_filter.h"
#include "events/events_room.h"
#include "report/chart/chart.h"
#include "report/chart/chart_messages.h"
#include "schedule/walk.h"
#include <stdlib.h>

enum { MAX_NESTING = 16, MAX_CORES = 256 };

// A call of a service.
struct call {
    uint64_t seq, ticks, object;
    const struct extract_event_type *type;
    const struct extract_role_fields *role;
    uint64_t row; // number of its row, if has_row
    uint32_t id;  // of its event
    uint8_t standing;
    bool is_known;
    bool has_row;
    bool has_message; // it has put a message into a queue
};

// A thread, or the interrupts of a core at one depth of nesting.
struct actor {
    struct call service; // the newest one
    struct call begin;   // the newest one that may begin a wait
    uint64_t wait_object;
    bool is_asleep;
    bool is_served; // it was woken by a put to `served`, from which it takes later
    uint64_t served;
};

// The interrupts of a core.
struct nesting {
    unsigned depth;
    uint64_t number[MAX_NESTING]; // CHART_NO_NUMBER: not known
};

struct collector {
    struct chart *chart;
    const struct extract_view *view;
    const struct extract_trace *trace;
    struct failed_calls failed_calls;
    struct messages messages;
    struct extract_map threads, interrupts; // to indices of `actors` + 1
    struct actor *actors;
    size_t actor_count, actor_capacity;
    struct nesting *cores;    // MAX_CORES
    struct extract_wake wake; // that the present event shows, if has_wake
    bool has_wake;
    bool has_gap;        // entries before the present event are missing, and no marker says so
    size_t waker;        // actor in which it was recorded
    uint32_t waker_line; // its lifeline
    bool waker_is_init;  // it is start-up code
    bool failed;         // out of memory
};

// ---- actors ----

// Returns the index of an actor, which is added if needed; SIZE_MAX if memory is short.
static size_t find_actor(struct collector *c, struct extract_map *map, uint64_t key)
{
    uint32_t *index = extract_map_at(map, key);

    if (index && *index)
        return *index - 1;
    struct actor *actors =
        index ? extract_grow(c->actors, &c->actor_capacity, c->actor_count, sizeof *actors) : NULL;
    if (!actors) {
        c->failed = true;
        return SIZE_MAX;
    }
    c->actors = actors;
    actors[c->actor_count++] = (struct actor){.is_asleep = false};
    *index = (uint32_t)c->actor_count;
    return *index - 1;
}

// Returns the actor in which an event was recorded.
static size_t actor_of(struct collector *c, const struct extract_event *event)
{
    const unsigned init = MAX_NESTING + 1;
    unsigned depth = c->cores[event->core].depth;

    if (event->context == EXTRACT_THREAD)
        return find_actor(c, &c->threads, event->thread);
    depth = event->context == EXTRACT_INIT ? init : depth < MAX_NESTING ? depth : MAX_NESTING;
    return find_actor(c, &c->interrupts, (uint64_t)event->core << 8 | depth);
}

// Notes the begin of an interrupt, and that a thread's event ends all of them.
static void begin_interrupt(struct collector *c, const struct extract_event *event,
                            const struct extract_role_fields *role)
{
    struct nesting *core = &c->cores[event->core];

    if (event->context != EXTRACT_ISR) {
        core->depth = 0;
    } else if (role->role == EXTRACT_ROLE_ISR_ENTER) {
        if (core->depth < MAX_NESTING)
            core->number[core->depth] =
                role->number ? extract_role_field(event, role->number) : CHART_NO_NUMBER;
        core->depth++;
    }
}

static void end_interrupt(struct collector *c, const struct extract_event *event,
                          const struct extract_role_fields *role)
{
    struct nesting *core = &c->cores[event->core];

    if (role->role == EXTRACT_ROLE_ISR_EXIT && core->depth)
        core->depth--;
    else if (role->role == EXTRACT_ROLE_ISR_RETURN)
        core->depth = 0;
}

// ---- lifelines and rows ----

static uint32_t thread_line(struct collector *c, uint64_t address, uint64_t seq)
{
    return address ? chart_lifeline(c->chart, CHART_THREAD, address, seq)
                   : chart_lifeline(c->chart, CHART_UNKNOWN, 0, seq);
}

// Returns the lifeline of what recorded an event.
static uint32_t context_line(struct collector *c, const struct extract_event *event)
{
    const struct nesting *core = &c->cores[event->core];
    bool is_known = core->depth && core->depth <= MAX_NESTING;

    if (event->context == EXTRACT_ISR)
        return chart_lifeline(c->chart, CHART_INTERRUPT,
                              is_known ? core->number[core->depth - 1] : CHART_NO_NUMBER,
                              event->seq);
    if (event->context == EXTRACT_INIT)
        return chart_lifeline(c->chart, CHART_INIT, 0, event->seq);
    return thread_line(c, event->thread, event->seq);
}

static uint32_t object_line(struct collector *c, uint64_t address, uint64_t seq)
{
    return chart_lifeline(c->chart, CHART_OBJECT, address, seq);
}

static struct chart_row make_row(const struct extract_event *event, enum chart_kind kind,
                                 uint32_t from, uint32_t to)
{
    return (struct chart_row){.kind = kind,
                              .is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED),
                              .type = event->type,
                              .id = event->id,
                              .ticks = event->ticks,
                              .seq = event->seq,
                              .from = from,
                              .to = to,
                              .waited = -1};
}

static void add_row(struct collector *c, const struct chart_row *row)
{
    if (!c->chart->has_failed)
        chart_add_row(c->chart, row);
}

// Adds the row of a call, if the view lets it through.
static void add_call_row(struct collector *c, struct call *call, const struct chart_row *row)
{
    if (call->standing != EXTRACT_LET_THROUGH || c->chart->has_failed)
        return;
    call->row = chart_add_row(c->chart, row);
    call->has_row = true;
}

// Returns the row of a call if it has this kind, and NULL otherwise.
static struct chart_row *row_of(struct collector *c, const struct call *call, enum chart_kind kind)
{
    struct chart_row *row = call->has_row ? chart_row_at(c->chart, call->row) : NULL;

    return row && row->kind == kind ? row : NULL;
}

// ---- calls ----

// Returns whether a call transfers messages of a queue or bytes of a stream.
static bool is_transfer(const struct extract_role_fields *role)
{
    return role->begins == role->ends &&
           (role->ends == EXTRACT_WAIT_QUEUE || role->ends == EXTRACT_WAIT_STREAM);
}

// Returns whether a call puts something into an object.
static bool is_put(const struct extract_role_fields *role)
{
    bool is_send = is_transfer(role) && role->is_send;
    bool is_semaphore = role->ends == EXTRACT_WAIT_SEMAPHORE && role->wakes_one && !role->begins;

    return role->object && (is_send || is_semaphore ||
                            (role->ends == EXTRACT_WAIT_FLAGS && role->flags && !role->begins));
}

// Returns whether a call to get something has got it at once.
static bool has_taken(const struct extract_event *event, const struct extract_role_fields *role)
{
    uint64_t wanted = extract_role_field(event, role->flags);
    uint64_t found = wanted & extract_role_field(event, role->current);

    if (!role->object)
        return false;
    if (is_transfer(role) && !role->is_send)
        return !role->queued || extract_role_field(event, role->queued);
    if (role->begins == EXTRACT_WAIT_SEMAPHORE && role->instances)
        return extract_role_field(event, role->instances);
    if (role->begins == EXTRACT_WAIT_FLAGS && role->current)
        return extract_role_field(event, role->all_flags) & 2 ? found == wanted : found != 0;
    return role->takes != EXTRACT_WAIT_NONE;
}

// Returns whether a call to put something fails at once, since it may not wait.
static bool fails_at_once(const struct collector *c, const struct extract_event *event,
                          const struct extract_role_fields *role)
{
    bool may_wait = !role->timeout || extract_role_field(event, role->timeout);

    if (role->limit)
        return extract_role_field(event, role->current) >= extract_role_field(event, role->limit);
    return !may_wait && extract_map_get(&c->failed_calls.seqs, event->seq) == CALL_FAILED;
}

// Returns whether the trace does not prove that there was room for a message.
static bool may_lack_room(const struct collector *c, const struct extract_event *event,
                          const struct extract_role_fields *role, uint64_t object)
{
    return role->queued && role->timeout && !extract_role_field(event, role->timeout) &&
           extract_role_field(event, role->queued) &&
           !failed_calls_room(c->trace, event->seq, object);
}

// Changes the row of a put of which only now is known whether it has succeeded.
static void settle_put(struct collector *c)
{
    struct message_proof proof = c->messages.proof;
    struct chart_row *row = proof.exists ? chart_row_at(c->chart, proof.row) : NULL;

    c->messages.proof.exists = false;
    if (!row || row->kind != CHART_PUT)
        return;
    row->is_likely = false;
    if (proof.has_succeeded)
        return;
    row->kind = CHART_FAILED;
    row->to = row->from;
}

static void add_put(struct collector *c, const struct extract_event *event, struct call *call)
{
    const struct extract_role_fields *role = call->role;
    uint32_t line = context_line(c, event);
    bool fails = fails_at_once(c, event, role);

    if (role->clears && extract_role_field(event, role->clears) & 2)
        return;
    struct chart_row row = make_row(event, fails ? CHART_FAILED : CHART_PUT, line,
                                    fails ? line : object_line(c, call->object, event->seq));
    row.value = call->object;
    row.is_likely = !fails && may_lack_room(c, event, role, call->object);
    add_call_row(c, call, &row);
    if (fails || !role->queued)
        return;
    messages_put(&c->messages,
                 &(struct message_put){.object = call->object,
                                       .queued = extract_role_field(event, role->queued),
                                       .message = {event->ticks, line},
                                       .has_count = true,
                                       .is_front = role->is_front,
                                       .keeps_order = role->keeps_order,
                                       .is_likely = row.is_likely,
                                       .row = call->has_row ? call->row : UINT64_MAX});
    settle_put(c);
    call->has_message = true;
}

static void add_take(struct collector *c, const struct extract_event *event, struct actor *actor,
                     struct call *call)
{
    const struct extract_role_fields *role = call->role;
    uint32_t line = context_line(c, event);
    bool is_served = actor->is_served && actor->served == call->object;
    struct chart_message message;
    struct chart_row row =
        make_row(event, is_served ? CHART_RECEIVED : CHART_TAKE,
                 is_served ? line : object_line(c, call->object, event->seq), line);

    row.value = call->object;
    if (role->queued && messages_take(&c->messages, call->object,
                                      extract_role_field(event, role->queued), &message)) {
        row.sender_known = true;
        row.sender = message.sender;
        if (event->ticks >= message.ticks)
            row.waited = (int64_t)(event->ticks - message.ticks);
    }
    settle_put(c);
    actor->is_served &= !is_served;
    add_call_row(c, call, &row);
}

static void add_call(struct collector *c, const struct extract_event *event,
                     const struct extract_role_fields *role, uint8_t standing)
{
    size_t i = actor_of(c, event);
    struct call call = {.seq = event->seq,
                        .ticks = event->ticks,
                        .object = extract_role_field(event, role->object),
                        .type = event->type,
                        .role = role,
                        .id = event->id,
                        .standing = standing,
                        .is_known = true};

    if (i == SIZE_MAX)
        return;
    if (is_put(role))
        add_put(c, event, &call);
    else if (has_taken(event, role))
        add_take(c, event, &c->actors[i], &call);
    else if (role->object && role->ends == EXTRACT_WAIT_QUEUE && !role->begins)
        messages_forget(&c->messages, call.object); // it is flushed or deleted
    c->actors[i].service = call;
    if (role->begins)
        c->actors[i].begin = call;
}

// ---- waits ----

// Returns whether a wait is for an object, rather than for a time or for another thread's call.
static bool is_for_object(enum extract_wait wait)
{
    return wait > EXTRACT_WAIT_SLEEP && wait != EXTRACT_WAIT_PRIORITY;
}

// Returns the call that a thread's suspension belongs to; NULL: it is not known.
static struct call *call_of_wait(struct actor *actor, const struct extract_role_fields *role,
                                 enum extract_wait wait)
{
    bool is_own = role->object != 0; // the event names the object itself

    return !is_own && actor->begin.is_known && actor->begin.role->begins == wait ? &actor->begin
                                                                                 : NULL;
}

static void add_wait(struct collector *c, const struct extract_event *event,
                     const struct extract_role_fields *role, uint8_t standing)
{
    uint64_t address = role->thread ? extract_role_field(event, role->thread) : event->thread;
    enum extract_wait wait =
        (enum extract_wait)(role->state ? extract_role_field(event, role->state) : role->begins);
    bool is_thread = role->thread || event->context == EXTRACT_THREAD;
    size_t i = is_thread && address ? find_actor(c, &c->threads, address) : SIZE_MAX;

    if (i == SIZE_MAX)
        return;
    struct actor *actor = &c->actors[i];
    struct call *call = call_of_wait(actor, role, wait);
    actor->is_asleep = wait == EXTRACT_WAIT_SLEEP;
    if (!is_for_object(wait))
        return;
    actor->wait_object = call ? call->object : extract_role_field(event, role->object);
    actor->is_served = false;
    if (call && call->has_message)
        messages_take_back(&c->messages, call->object, call->role->is_front);
    uint32_t line = thread_line(c, address, event->seq);
    struct chart_row row = make_row(event, CHART_WAIT, line, line);
    row.value = actor->wait_object;
    row.type = call ? call->type : event->type;
    struct chart_row *put = call ? row_of(c, call, CHART_PUT) : NULL;
    bool is_shown = standing == EXTRACT_LET_THROUGH ||
                    (call && call->standing == EXTRACT_LET_THROUGH && standing != EXTRACT_OUTSIDE);
    if (put) {
        put->kind = CHART_WAIT;
        put->to = put->from;
        put->is_likely = false;
    } else if (is_shown) {
        add_row(c, &row);
    }
    if (call)
        call->has_message = false;
}

// ---- wake-ups ----

// Returns whether the view lets the resumption of a thread through, as an event of what recorded it
// or of the thread.
static bool is_resumption_shown(const struct collector *c, const struct extract_event *event,
                                uint8_t standing)
{
    struct extract_event copy = *event;

    if (standing == EXTRACT_LET_THROUGH || standing == EXTRACT_OUTSIDE || !c->view)
        return standing == EXTRACT_LET_THROUGH;
    copy.thread = c->wake.thread;
    copy.context = EXTRACT_THREAD;
    return filter_passes(c->view, &copy);
}

// Notes where the message of a call lies that has woken a thread.
static void hand_over(struct collector *c, struct call *call, struct actor *woken)
{
    if (!is_put(call->role))
        return;
    if (call->role->hands_over && call->has_message)
        messages_take_back(&c->messages, call->object, call->role->is_front);
    call->has_message = false;
    woken->is_served = !call->role->hands_over;
    woken->served = call->object;
}

// A call has taken a message out of a full queue, and has woken a thread that waited to send one.
// The kernel puts that message into the queue. If it is to be the first one, it goes to the caller
// instead, and the queue keeps what it has.
static void end_blocked_send(struct collector *c, const struct extract_event *event,
                             struct call *take, const struct call *send, bool is_shown)
{
    uint32_t line = thread_line(c, c->wake.thread, event->seq);

    if (send->role->is_front) {
        struct chart_row *row = row_of(c, take, CHART_TAKE);
        messages_forget(&c->messages, take->object);
        if (row) {
            row->from = line;
            row->sender_known = false;
            row->waited = -1;
        }
        return;
    }
    messages_put(&c->messages, &(struct message_put){.object = take->object,
                                                     .message = {event->ticks, line},
                                                     .keeps_order = send->role->keeps_order});
    struct chart_row row =
        make_row(event, CHART_PUT, line, object_line(c, take->object, event->seq));
    row.type = send->type;
    row.id = send->id;
    row.value = take->object;
    if (is_shown || send->standing == EXTRACT_LET_THROUGH)
        add_row(c, &row);
}

static void add_service_wake(struct collector *c, const struct extract_event *event,
                             struct actor *woken, bool is_shown)
{
    const struct extract_wake *wake = &c->wake;
    struct call *service = &c->actors[c->waker].service;
    struct call *call = service->is_known && service->seq == wake->cause ? service : NULL;
    struct chart_row *put = call ? row_of(c, call, CHART_PUT) : NULL;
    uint32_t line = thread_line(c, wake->thread, event->seq);
    struct chart_row row = make_row(event, CHART_WAKE, c->waker_line, line);

    row.type = wake->service;
    row.id = call ? call->id : 0;
    row.value = wake->object != wake->thread ? wake->object : 0;
    row.is_likely = wake->is_likely;
    if (put) {
        put->kind = CHART_WAKE;
        put->to = line;
        put->is_likely = wake->is_likely;
    } else if (is_shown || (call && call->standing == EXTRACT_LET_THROUGH)) {
        add_row(c, &row);
    }
    if (!call)
        return;
    const struct call *begin = &woken->begin;
    bool is_blocked_send = is_transfer(call->role) && !call->role->is_send && begin->is_known &&
                           begin->role->is_send && begin->role->hands_over &&
                           begin->object == call->object && woken->wait_object == call->object;
    if (is_blocked_send)
        end_blocked_send(c, event, call, begin, is_shown);
    else if (!wake->is_aborted)
        hand_over(c, call, woken);
}

// Draws the wake-up that an event shows.
static void add_wake(struct collector *c, const struct extract_event *event, uint8_t standing)
{
    const struct extract_wake *wake = &c->wake;
    size_t i = find_actor(c, &c->threads, wake->thread);

    if (i == SIZE_MAX || c->waker == SIZE_MAX)
        return;
    struct actor *woken = &c->actors[i];
    bool is_shown = is_resumption_shown(c, event, standing);
    bool has_waker = wake->in_isr || wake->by || c->waker_is_init;
    uint32_t line = thread_line(c, wake->thread, event->seq);
    struct chart_row row = make_row(event, CHART_WAKE, c->waker_line, line);
    if (wake->reason == EXTRACT_WAKE_SERVICE) {
        add_service_wake(c, event, woken, is_shown);
    } else if (wake->reason == EXTRACT_WAKE_TIMEOUT && is_shown) {
        row.kind = CHART_EXPIRED;
        row.value = woken->wait_object;
        add_row(c, &row);
    } else if (wake->reason == EXTRACT_WAKE_UNKNOWN && is_shown && has_waker && !woken->is_asleep) {
        add_row(c, &row);
    }
    woken->wait_object = 0;
    woken->is_asleep = false;
}

// ---- losses ----

static void add_band(struct collector *c, const struct extract_event *marker, enum chart_kind kind)
{
    struct chart_row row = make_row(marker, kind, 0, 0);

    row.type = NULL;
    add_row(c, &row);
}

// Adds a loss of `count` events (0: not known). Losses without a row between them share one.
static void add_loss(struct collector *c, const struct extract_event *marker, uint64_t count,
                     bool is_at_least)
{
    struct chart *chart = c->chart;
    uint64_t last = chart->left_out + chart->count - 1;
    struct chart_row *row = chart->count ? chart_row_at(chart, last) : NULL;

    if (chart->has_failed)
        return;
    if (!row || row->kind != CHART_LOSS) {
        add_band(c, marker, CHART_LOSS);
        row = chart_row_at(chart, chart->left_out + chart->count - 1);
    } else {
        row->is_at_least |= !row->value != !count;
    }
    row->value += count;
    row->is_at_least |= is_at_least;
}

// ---- the walk ----

static void on_wake(void *context, const struct extract_wake *wake)
{
    struct collector *c = context;

    c->wake = *wake;
    c->has_wake = true;
}

static void on_event(void *context, const struct extract_event *event,
                     const struct extract_role_fields *role, uint8_t standing)
{
    struct collector *c = context;

    if (c->failed)
        return;
    if (c->has_gap && standing != EXTRACT_OUTSIDE)
        add_loss(c, event, 0, false);
    c->has_gap = false;
    begin_interrupt(c, event, role);
    if (c->has_wake) {
        c->waker = actor_of(c, event);
        c->waker_line = context_line(c, event);
        c->waker_is_init = event->context == EXTRACT_INIT;
        if (role->role == EXTRACT_ROLE_RESUME && role->state &&
            extract_role_field(event, role->state) == EXTRACT_WAIT_SLEEP) {
            size_t i = find_actor(c, &c->threads, c->wake.thread);
            if (i != SIZE_MAX)
                c->actors[i].is_asleep = true;
        }
    }
    if (extract_role_is_service(role))
        add_call(c, event, role, standing);
    if (role->role == EXTRACT_ROLE_SUSPEND || role->role == EXTRACT_ROLE_LOCK_WAIT)
        add_wait(c, event, role, standing);
    end_interrupt(c, event, role);
}

static void on_entry(void *context, const struct extract_event *event, uint8_t standing)
{
    struct collector *c = context;

    if (!c->failed && c->has_wake && c->wake.seq == event->seq)
        add_wake(c, event, standing);
    c->has_wake = false;
}

static void on_gap(void *context, const struct extract_event *marker)
{
    struct collector *c = context;

    for (size_t i = 0; i < c->actor_count; i++)
        c->actors[i] = (struct actor){.is_asleep = false};
    for (unsigned i = 0; i < MAX_CORES; i++)
        c->cores[i].depth = 0;
    messages_forget_all(&c->messages);
    c->has_wake = false;
    c->has_gap = !extract_event_is_mark(marker);
}

static void on_marker(void *context, const struct extract_event *marker, uint8_t standing)
{
    struct collector *c = context;
    bool is_lost = marker->id == EXTRACT_ID_LOST;

    if (standing == EXTRACT_OUTSIDE)
        return;
    if (extract_id_is_loss(marker->id))
        add_loss(c, marker, is_lost ? marker->field[EXTRACT_LOST_AT_LEAST] : 0,
                 is_lost && !marker->field[EXTRACT_LOST_EXACT]);
    else if (marker->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET)
        add_band(c, marker, CHART_BAND);
}

enum extract_code schedule_chart_collect(struct chart *chart, const struct extract_view *view,
                                         struct extract_error *error)
{
    struct collector c = {.chart = chart, .view = view, .trace = chart->names.trace};
    const struct extract_schedule_sink sink = {.context = &c, .wake = on_wake};
    const struct schedule_observer observer = {.shows_next = true,

                                               .context = &c,
                                               .event = on_event,
                                               .entry = on_entry,
                                               .gap = on_gap,
                                               .marker = on_marker};
    enum extract_code code = schedule_check(c.trace, error);

    chart->is_timed = true;
    if (code)
        return code;
    c.cores = calloc(MAX_CORES, sizeof *c.cores);
    c.failed = !c.cores || !messages_init(&c.messages) || !extract_map_init(&c.threads, 16) ||
               !extract_map_init(&c.interrupts, 16);
    if (!c.failed)
        code = failed_calls_find(&c.failed_calls, c.trace, error);
    if (!c.failed && !code)
        code = schedule_walk(view, c.trace, &sink, &observer, error);
    chart->has_failed |= c.failed || c.messages.has_failed;
    failed_calls_free(&c.failed_calls);
    messages_free(&c.messages);
    extract_map_free(&c.threads);
    extract_map_free(&c.interrupts);
    free(c.actors);
    free(c.cores);
    return code;
}
