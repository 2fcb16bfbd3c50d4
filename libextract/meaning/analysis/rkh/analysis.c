// SPDX-License-Identifier: MIT
// analysis/rkh: the walk over a trace, which computes the statistics of an RKH stream.
//
// Every event is followed, whether the view lets it through or not. A gap, a restart or a marker
// that may stand for missing events is a break: what was known before it no longer holds.
#include "analysis/rkh/analysis.h"
#include "events/event_filter.h"
#include <stdlib.h>

bool rkh_get_field(const struct extract_event *event, const char *label, uint64_t *value)
{
    for (unsigned i = 0; i < event->fields && i < event->type->fields; i++) {
        const char *own_label = event->type->field[i].label;
        if (own_label && strcmp(own_label, label) == 0) {
            *value = event->field[i];
            return true;
        }
    }
    return false;
}

struct rkh_object *rkh_object_at(struct rkh_analysis *analysis, uint64_t address)
{
    struct rkh_object *object =
        rkh_table_find_or_add(&analysis->objects, rkh_analysis_key(analysis, address));

    analysis->failed |= !object;
    if (!object)
        return NULL;
    object->address = address;
    object->layout = analysis->now.layout;
    rkh_states_catch_up(analysis, object);
    object->seq = analysis->now.seq;
    return object;
}

// Adds a failed assertion: the module and line of the source.
static void add_assertion(struct rkh_analysis *analysis, const struct extract_event *event)
{
    struct rkh_args args;
    struct rkh_item module, line;

    if (!rkh_args_of(&args, event) || !rkh_args_next(&args, &module) ||
        !rkh_args_next(&args, &line))
        return;
    struct rkh_assertion *rows = extract_grow(analysis->assertions, &analysis->assertion_capacity,
                                              analysis->assertion_count, sizeof *rows);
    if (!rows) {
        analysis->failed = true;
        return;
    }
    analysis->assertions = rows;
    analysis->assertions[analysis->assertion_count++] =
        (struct rkh_assertion){event->seq, event->ticks, line.value, analysis->modules.used};
    extract_text_put(&analysis->modules, (const char *)module.bytes, module.length);
    extract_text_putc(&analysis->modules, 0);
}

// Counts what a state machine did with an event: processed it, found no transition for it, or ran
// into an error.
static void add_outcome(struct rkh_analysis *analysis, const struct extract_event *event)
{
    uint64_t address, signal;

    if (!analysis->now.is_counted || !rkh_get_field(event, "ao", &address))
        return;
    struct rkh_object *object = rkh_object_at(analysis, address);
    if (!object)
        return;
    object->processed += event->id == RKH_SM_EVT_PROC && !object->is_starting;
    object->not_found += event->id == RKH_SM_EVT_NFOUND;
    object->guards_false += event->id == RKH_SM_GRD_FALSE;
    object->conditions_not_found += event->id == RKH_SM_CND_NFOUND;
    object->errors += event->id >= RKH_SM_UNKN_STATE && event->id <= RKH_SM_EX_TSEG;
    if (event->id == RKH_SM_EVT_NFOUND && rkh_get_field(event, "sig", &signal)) {
        struct rkh_signal *row = rkh_signal_at(analysis, object, signal);
        if (row)
            row->not_found++;
    }
}

// Notes which active objects run their initial transition.
static void note_start(struct rkh_analysis *analysis, const struct extract_event *event)
{
    bool is_init = event->id == RKH_SM_INIT;
    uint64_t address;

    if (!is_init && event->id != RKH_SM_DCH && event->id != RKH_SMA_GET &&
        event->id != RKH_SM_EVT_PROC)
        return;
    struct rkh_object *object =
        rkh_get_field(event, "ao", &address) ? rkh_object_at(analysis, address) : NULL;
    if (object)
        object->is_starting = is_init;
}

// Forgets what was known about the target's objects before a gap or restart.
static void add_break(struct rkh_analysis *analysis, bool restarted)
{
    analysis->time_continues = false;
    analysis->is_after_break = true;
    analysis->timeout.timer = 0;
    rkh_states_add_break(analysis, restarted);
    rkh_storage_add_break(analysis);
}

static void add_framework_event(struct rkh_analysis *analysis, const struct extract_event *event,
                                bool is_start)
{
    bool is_counted = analysis->now.is_counted;

    if (is_start) {
        analysis->restarts += is_counted && analysis->events > 1;
        add_break(analysis, true);
    } else if (event->id == RKH_FWK_ASSERT && is_counted) {
        add_assertion(analysis, event);
    } else if (event->id == RKH_FWK_SYNC_EVT) {
        analysis->synchronous += is_counted;
    } else {
        rkh_storage_add_event(analysis, event);
    }
}

// Moves the walk to an event: its time, run and layout. Time since the previous event counts if
// that is in the view's range and nothing is missing in between; it ends with the range.
static void move_to_event(struct rkh_analysis *analysis, const struct extract_event *event)
{
    const struct extract_rkh_layout *layout = rkh_layout_at(analysis->ring, event);
    struct rkh_moment *now = &analysis->now;
    uint64_t ticks = event->ticks < analysis->end ? event->ticks : analysis->end;

    if (event->flags & EXTRACT_FLAG_GAP && !analysis->is_after_break) {
        analysis->losses += now->is_counted;
        add_break(analysis, false);
    }
    if (analysis->is_after_break && analysis->break_count)
        analysis->breaks[analysis->break_count - 1].resumed_at = event->ticks;
    analysis->is_after_break = analysis->is_loss_counted = false;
    now->seq = event->seq;
    now->layout = (uint64_t)(layout - analysis->ring->rkh.layout);
    now->has_stamps = analysis->has_times && layout->value[EXTRACT_RKH_TS];
    analysis->has_untimed_runs |= now->is_in_range && !now->has_stamps;
    if (analysis->time_continues && ticks > now->ticks) {
        now->span += ticks - now->ticks;
        analysis->spans[now->layout] += ticks - now->ticks;
    }
    now->ticks = ticks;
    analysis->events += now->is_counted;
    if (now->is_in_range && !analysis->range_events++)
        analysis->first_ticks = event->ticks;
}

static void add_event(struct rkh_analysis *analysis, const struct extract_event *event)
{
    bool is_start = rkh_starts_add(&analysis->starts, event);

    move_to_event(analysis, event);
    if (event->id >= RKH_SM_EVT_PROC && event->id <= RKH_SM_EX_TSEG)
        add_outcome(analysis, event);
    else if (event->id >= RKH_SM_INIT && event->id <= RKH_SM_DCH)
        rkh_states_add_event(analysis, event);
    else if (event->id < RKH_SMA_ACT)
        rkh_storage_add_event(analysis, event);
    else if (event->id >= RKH_FWK_EPREG && event->id < RKH_USER)
        add_framework_event(analysis, event, is_start);
    note_start(analysis, event);
    rkh_messages_add_event(analysis, event);
    analysis->time_continues = analysis->now.is_in_range;
}

// Handles a marker. Several markers in a row, one for each reason, are one loss.
static void add_marker(struct rkh_analysis *analysis, const struct extract_event *marker)
{
    bool is_loss =
        analysis->now.is_counted && extract_id_is_loss(marker->id) && !analysis->is_loss_counted;

    if (!rkh_posts_may_be_missing(marker))
        return;
    analysis->losses += is_loss;
    analysis->is_loss_counted |= is_loss;
    add_break(analysis, marker->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET);
    rkh_messages_add_event(analysis, marker);
}

static bool add_events(void *context, const struct extract_event *events, const uint8_t *standing,
                       size_t count)
{
    struct rkh_analysis *analysis = context;

    for (size_t i = 0; i < count && !analysis->failed; i++) {
        analysis->now.is_counted = standing[i] == EXTRACT_LET_THROUGH;
        analysis->now.is_in_range = standing[i] != EXTRACT_OUTSIDE;
        if (extract_event_is_mark(&events[i]))
            add_marker(analysis, &events[i]);
        else
            add_event(analysis, &events[i]);
    }
    return !analysis->failed;
}

// ---- the end of the walk ----

// Where a row is, and the object it belongs to.
struct row_order {
    size_t object_index, row;
};

static int compare_order(const void *a, const void *b)
{
    const struct row_order *x = a, *y = b;

    if (x->object_index != y->object_index)
        return x->object_index < y->object_index ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

// Sorts rows by object. Rows of one object keep their order, which qsort alone does not guarantee.
// Each row must start with the index of its object. Returns false if memory is short.
static bool sort_rows(void *rows, size_t row_bytes, size_t count)
{
    struct row_order *order = malloc((count + 1) * sizeof *order);
    char *copy = malloc(count * row_bytes + 1);
    bool is_allocated = order && copy;

    if (is_allocated && count) {
        memcpy(copy, rows, count * row_bytes);
        for (size_t i = 0; i < count; i++) {
            order[i].row = i;
            memcpy(&order[i].object_index, copy + i * row_bytes, sizeof order[i].object_index);
        }
        qsort(order, count, sizeof *order, compare_order);
        for (size_t i = 0; i < count; i++)
            memcpy((char *)rows + i * row_bytes, copy + order[i].row * row_bytes, row_bytes);
    }
    free(order);
    free(copy);
    return is_allocated;
}

// Removes from the timeline what is outside the view's range, except the state that each object is
// in when the range begins.
static void trim_timeline(struct rkh_analysis *analysis)
{
    size_t kept = 0;

    for (size_t i = 0; i < analysis->timeline_count; i++) {
        const struct rkh_timeline_entry entry = analysis->timeline[i];
        const struct rkh_timeline_entry *next = &analysis->timeline[i + 1];
        bool is_last =
            i + 1 == analysis->timeline_count || next->object_index != entry.object_index;
        bool is_initial = analysis->range_events && entry.is_known &&
                          entry.ticks <= analysis->first_ticks &&
                          (is_last || next->ticks > analysis->first_ticks);
        if (entry.is_in_range || is_initial)
            analysis->timeline[kept++] = entry;
    }
    analysis->timeline_count = kept;
}

static bool finish_analysis(struct rkh_analysis *analysis)
{
    struct rkh_table *signals = &analysis->signals, *states = &analysis->states;

    rkh_states_end(analysis);
    rkh_messages_end(analysis);
    if (analysis->failed || analysis->modules.code ||
        !sort_rows(signals->rows, signals->row_bytes, signals->count) ||
        !sort_rows(states->rows, states->row_bytes, states->count) ||
        !sort_rows(analysis->timeline, sizeof *analysis->timeline, analysis->timeline_count))
        return false;
    trim_timeline(analysis);
    return true;
}

// ---- opening and closing ----

static bool init_tables(struct rkh_analysis *analysis)
{
    extract_text_init(&analysis->modules, NULL, NULL);
    bool is_allocated = rkh_table_init(&analysis->objects, sizeof(struct rkh_object));
    is_allocated &= rkh_table_init(&analysis->signals, sizeof(struct rkh_signal));
    is_allocated &= rkh_table_init(&analysis->states, sizeof(struct rkh_state));
    is_allocated &= rkh_table_init(&analysis->queues, sizeof(struct rkh_queue));
    is_allocated &= rkh_table_init(&analysis->pools, sizeof(struct rkh_pool));
    is_allocated &= rkh_table_init(&analysis->event_pools, sizeof(struct rkh_event_pool));
    is_allocated &= rkh_table_init(&analysis->timers, sizeof(struct rkh_timer));
    is_allocated &= rkh_post_queues_init(&analysis->post_queues);
    return is_allocated;
}

// Reads from the layouts of all runs which of them have timestamps and senders.
static void read_layouts(struct rkh_analysis *analysis, const struct extract_trace *trace)
{
    uint64_t hz = 0;

    analysis->ring = &extract_trace_snapshot(trace)->ring;
    for (unsigned i = 0; i < analysis->ring->rkh.layouts; i++) {
        const struct extract_rkh_layout *layout = &analysis->ring->rkh.layout[i];
        analysis->names_senders |= layout->value[EXTRACT_RKH_SNDR];
        if (!layout->value[EXTRACT_RKH_TS])
            continue;
        analysis->has_mixed_rates |= analysis->has_times && rkh_layout_hz(layout) != hz;
        analysis->has_times = true;
        hz = rkh_layout_hz(layout);
    }
    analysis->has_times &= extract_trace_info(trace)->clock.direction != EXTRACT_CLOCK_NONE;
}

enum extract_code rkh_analysis_new(struct rkh_analysis **opened, const struct extract_view *view,
                                   const struct extract_trace *trace, struct extract_error *error)
{
    struct rkh_analysis *analysis = calloc(1, sizeof *analysis);

    *opened = analysis;
    if (analysis && init_tables(analysis)) {
        struct extract_sink sink = {.all = add_events, .context = analysis};
        analysis->end = filter_end(view);
        read_layouts(analysis, trace);
        extract_view_run(view, &sink);
        if (finish_analysis(analysis))
            return EXTRACT_OK;
    }
    rkh_analysis_free(analysis);
    *opened = NULL;
    return extract_error_set(error, EXTRACT_NOMEM, "statistics", NULL, "out of memory");
}

void rkh_analysis_free(struct rkh_analysis *analysis)
{
    if (!analysis)
        return;
    struct rkh_table *tables[] = {&analysis->objects, &analysis->signals, &analysis->states,
                                  &analysis->queues,  &analysis->pools,   &analysis->event_pools,
                                  &analysis->timers};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        rkh_table_free(tables[i]);
    rkh_post_queues_free(&analysis->post_queues);
    extract_text_free(&analysis->modules);
    free(analysis->timeline);
    free(analysis->breaks);
    free(analysis->assertions);
    free(analysis->latencies.samples);
    free(analysis->timeouts.samples);
    free(analysis);
}
