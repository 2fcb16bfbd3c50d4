// SPDX-License-Identifier: MIT
// report/rkh: collects the message sequence chart of an RKH trace.
//
// All events are followed, since only all together show which post a get belongs to, which state
// an object is in, and which object runs. Those that the view lets through become rows.
#include "events/events_room.h"
#include "report/chart/chart.h"
#include "report/rkh/rkh_report.h"
#include <stdlib.h>

struct collector {
    struct chart *chart;
    struct rkh_post_queues queues;
    struct extract_map states; // active objects to indices of `state` + 1
    uint64_t *state;           // the state of each active object
    size_t state_count, state_capacity;
    uint64_t running; // active object that processes an event; 0: unknown
    bool failed;      // out of memory
};

// ---- rows ----

static uint32_t environment(const struct collector *c)
{
    return chart_lifeline(c->chart, CHART_ENVIRONMENT, 0, UINT64_MAX);
}

// Returns the lifeline of an object; that of the environment if the address is 0.
static uint32_t lifeline_of(const struct collector *c, uint64_t address)
{
    return address ? chart_lifeline(c->chart, CHART_OBJECT, address, UINT64_MAX) : environment(c);
}

// Returns a row for an event, from a lifeline to the same lifeline.
static struct chart_row make_row(const struct collector *c, const struct extract_event *event,
                                 enum chart_kind kind, uint32_t lifeline)
{
    const struct extract_ring *ring = c->chart->names.ring;
    bool is_timed = extract_event_is_mark(event)
                        ? c->chart->is_timed
                        : rkh_layout_at(ring, event)->value[EXTRACT_RKH_TS] != 0;

    return (struct chart_row){.kind = kind,
                              .is_timed = is_timed,
                              .type = event->type,
                              .ticks = event->ticks,
                              .seq = event->seq,
                              .from = lifeline,
                              .to = lifeline,
                              .waited = -1};
}

// Adds the row of an event that may name a signal.
static void add_signal_row(struct collector *c, const struct extract_event *event,
                           struct chart_row row)
{
    row.signal_known = rkh_get_field(event, "sig", &row.value);
    chart_add_row(c->chart, &row);
}

// ---- states ----

// Sets the state of an active object. Returns whether it is another one than before; false, too, if
// memory is short.
static bool set_state(struct collector *c, uint64_t object, uint64_t state)
{
    uint32_t *index = extract_map_at(&c->states, object);

    if (index && *index) {
        bool is_change = c->state[*index - 1] != state;
        c->state[*index - 1] = state;
        return is_change;
    }
    uint64_t *states =
        index ? extract_grow(c->state, &c->state_capacity, c->state_count, sizeof *states) : NULL;
    if (!states) {
        c->failed = true;
        return false;
    }
    c->state = states;
    c->state[c->state_count++] = state;
    *index = (uint32_t)c->state_count;
    return true;
}

static void add_state(struct collector *c, const struct extract_event *event, bool is_shown)
{
    uint64_t object, state;

    if (!rkh_get_field(event, "ao", &object) || !rkh_get_field(event, "nxtst", &state))
        return;
    struct chart_row row = make_row(c, event, CHART_STATE, lifeline_of(c, object));
    row.value = state;
    if (set_state(c, object, state) && is_shown)
        chart_add_row(c->chart, &row);
}

// ---- messages ----

// Sets the sender of a row; the environment if the event names none.
static void set_sender(const struct collector *c, struct chart_row *row,
                       const struct extract_event *event)
{
    uint64_t sender = 0;

    rkh_get_field(event, "sender", &sender);
    row->from = lifeline_of(c, sender);
}

static void add_post(struct collector *c, const struct extract_event *event, bool is_shown)
{
    enum chart_kind kind = event->id == RKH_SMA_FIFO ? CHART_POST : CHART_POST_FIRST;
    uint64_t object;

    if (!rkh_get_field(event, "ao", &object))
        return;
    struct chart_row row = make_row(c, event, kind, lifeline_of(c, object));
    set_sender(c, &row, event);
    if (is_shown)
        add_signal_row(c, event, row);
}

static void add_get(struct collector *c, const struct extract_event *event,
                    const struct rkh_post_match *match, bool is_shown)
{
    uint64_t object;

    if (!rkh_get_field(event, "ao", &object))
        return;
    struct chart_row row = make_row(c, event, CHART_GET, lifeline_of(c, object));
    if (match->post && match->is_sure && event->ticks >= match->post->ticks)
        row.waited = (int64_t)(event->ticks - match->post->ticks);
    c->running = object;
    if (is_shown)
        add_signal_row(c, event, row);
}

static void add_processed(struct collector *c, const struct extract_event *event, bool is_shown)
{
    uint64_t object;

    if (!rkh_get_field(event, "ao", &object))
        return;
    struct chart_row row = make_row(c, event, CHART_DONE, lifeline_of(c, object));
    if (c->running == object)
        c->running = 0;
    if (is_shown)
        chart_add_row(c->chart, &row);
}

// Adds a synchronous call. If the target does not record senders and receivers, the receiver is the
// active object that runs.
static void add_synchronous(struct collector *c, const struct extract_event *event)
{
    uint64_t receiver = c->running;

    rkh_get_field(event, "receiver", &receiver);
    struct chart_row row = make_row(c, event, CHART_SYNCHRONOUS, lifeline_of(c, receiver));
    set_sender(c, &row, event);
    rkh_get_field(event, "fun", &row.value);
    chart_add_row(c->chart, &row);
}

static void add_timeout(struct collector *c, const struct extract_event *event)
{
    uint64_t object;

    if (!rkh_get_field(event, "ao", &object))
        return;
    struct chart_row row = make_row(c, event, CHART_TIMEOUT, lifeline_of(c, object));
    row.from = chart_lifeline(c->chart, CHART_TIMERS, 0, UINT64_MAX);
    add_signal_row(c, event, row);
}

// ---- notes ----

// Adds a note to the column of one active object. A deferred event does not name it: then it is the
// active object that runs.
static void add_note(struct collector *c, const struct extract_event *event)
{
    uint64_t object = c->running;

    rkh_get_field(event, "ao", &object);
    add_signal_row(c, event, make_row(c, event, CHART_NOTE, lifeline_of(c, object)));
}

static void add_assertion(struct collector *c, const struct extract_event *event)
{
    struct extract_text *texts = &c->chart->texts;
    struct chart_row row = make_row(c, event, CHART_ASSERTION, environment(c));
    struct rkh_args args;
    struct rkh_item module, line;

    if (!rkh_args_of(&args, event) || !rkh_args_next(&args, &module) ||
        !rkh_args_next(&args, &line))
        return;
    row.value = line.value;
    row.text = texts->used;
    extract_text_put(texts, (const char *)module.bytes, module.length);
    extract_text_putc(texts, 0);
    chart_add_row(c->chart, &row);
}

static void add_full_queue(struct collector *c, const struct extract_event *event)
{
    struct chart_row row = make_row(c, event, CHART_BAND, environment(c));

    rkh_get_field(event, "q", &row.value);
    chart_add_row(c->chart, &row);
}

// ---- events ----

// Adds the row of an event that matters only if it is shown.
static void add_shown_event(struct collector *c, const struct extract_event *event)
{
    switch (event->id) {
    case RKH_TMR_TOUT:
        add_timeout(c, event);
        break;
    case RKH_FWK_SYNC_EVT:
        add_synchronous(c, event);
        break;
    case RKH_FWK_ASSERT:
        add_assertion(c, event);
        break;
    case RKH_QUE_FULL:
        add_full_queue(c, event);
        break;
    case RKH_SMA_ACT:
    case RKH_SMA_TERM:
    case RKH_SMA_DEFER:
    case RKH_SMA_RCALL:
    case RKH_SM_EVT_NFOUND:
    case RKH_SM_GRD_FALSE:
    case RKH_SM_CND_NFOUND:
    case RKH_SM_UNKN_STATE:
    case RKH_SM_EX_HLEVEL:
    case RKH_SM_EX_TSEG:
        add_note(c, event);
        break;
    default:
        break;
    }
}

static void add_event(struct collector *c, const struct extract_event *event, bool is_shown)
{
    struct chart_gap *gap = &c->chart->gap;
    bool has_gap = event->flags & EXTRACT_FLAG_GAP || extract_event_is_break(event);
    struct rkh_post_match match;

    c->failed |= !rkh_post_queues_add_event(&c->queues, event, &match);
    gap->has_gap |= has_gap;
    if (has_gap)
        c->running = 0;
    if (event->id == EXTRACT_ID_LOST) {
        gap->lost += event->field[EXTRACT_LOST_AT_LEAST];
        gap->is_modulo |= event->field[EXTRACT_LOST_REASON] == EXTRACT_LOSS_NUMBERS;
    }
    gap->has_restart |= match.is_start;
    if (event->id == RKH_SMA_GET)
        add_get(c, event, &match, is_shown);
    else if (event->id == RKH_SMA_FIFO || event->id == RKH_SMA_LIFO)
        add_post(c, event, is_shown);
    else if (event->id == RKH_SM_STATE)
        add_state(c, event, is_shown);
    else if (event->id == RKH_SM_EVT_PROC)
        add_processed(c, event, is_shown);
    else if (is_shown)
        add_shown_event(c, event);
}

static bool add_events(void *context, const struct extract_event *events, const uint8_t *standing,
                       size_t count)
{
    struct collector *c = context;

    for (size_t i = 0; i < count && !c->failed; i++)
        add_event(c, &events[i], standing[i] == EXTRACT_LET_THROUGH);
    return !c->failed;
}

bool rkh_chart_collect(struct chart *chart, const struct extract_view *view)
{
    struct collector c = {.chart = chart};
    struct extract_sink sink = {.all = add_events, .context = &c};
    const struct extract_rkh *rkh = &extract_trace_snapshot(chart->names.trace)->ring.rkh;

    chart->is_rkh = true;
    for (unsigned i = 0; i < rkh->layouts; i++)
        chart->is_timed |= rkh->layout[i].value[EXTRACT_RKH_TS] != 0;
    bool is_done = rkh_post_queues_init(&c.queues);
    is_done = extract_map_init(&c.states, 0) && is_done;
    if (is_done)
        extract_view_run(view, &sink);
    rkh_post_queues_free(&c.queues);
    extract_map_free(&c.states);
    free(c.state);
    return is_done && !c.failed;
}
