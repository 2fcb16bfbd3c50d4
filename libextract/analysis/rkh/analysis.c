// SPDX-License-Identifier: MIT
// analysis/rkh: the walk over a trace. In: a view. Out: struct rkh_analysis.
//
// Every event is followed, since what came before says what an event of the view means. Those of
// the view are counted; times are those of its whole stretch.
#include "analysis/rkh/analysis.h"
#include <stdlib.h>

struct rkh_sorted {
    size_t of, at;
};

bool rkh_field(const struct extract_event *event, const char *label, uint64_t *value)
{
    for (unsigned i = 0; i < event->fields && i < event->type->fields; i++)
        if (event->type->field[i].label && !strcmp(event->type->field[i].label, label)) {
            *value = event->field[i];
            return true;
        }
    return false;
}

struct rkh_object *rkh_object_at(struct rkh_analysis *study, uint64_t address)
{
    struct rkh_object *object =
        rkh_table_at(&study->objects, rkh_analysis_key(study, address), NULL);
    study->failed |= !object;
    if (!object)
        return NULL;
    object->address = address;
    object->layout = study->now.layout;
    rkh_states_catch_up(study, object);
    object->seq = study->now.seq;
    return object;
}

static void add_assertion(struct rkh_analysis *study, const struct extract_event *event)
{
    struct rkh_args args;
    struct rkh_item module, line;
    if (!rkh_args_of(&args, event) || !rkh_args_next(&args, &module) ||
        !rkh_args_next(&args, &line))
        return;
    struct rkh_assertion *rows = extract_grow(study->assertions, &study->assertion_room,
                                              study->assertion_count, sizeof *rows);
    if (!rows) {
        study->failed = true;
        return;
    }
    study->assertions = rows;
    study->assertions[study->assertion_count++] =
        (struct rkh_assertion){event->seq, event->ticks, line.value, study->modules.used};
    extract_text_put(&study->modules, (const char *)module.bytes, module.length);
    extract_text_putc(&study->modules, 0);
}

static void take_error(struct rkh_analysis *study, const struct extract_event *event)
{
    uint64_t address, signal;
    struct rkh_object *object;
    if (!study->now.counts || !rkh_field(event, "ao", &address) ||
        !(object = rkh_object_at(study, address)))
        return;
    object->processed += event->id == RKH_SM_EVT_PROC;
    object->not_found += event->id == RKH_SM_EVT_NFOUND;
    object->guards_false += event->id == RKH_SM_GRD_FALSE;
    object->conditions_not_found += event->id == RKH_SM_CND_NFOUND;
    object->errors += event->id >= RKH_SM_UNKN_STATE && event->id <= RKH_SM_EX_TSEG;
    if (event->id == RKH_SM_EVT_NFOUND && rkh_field(event, "sig", &signal)) {
        struct rkh_signal *row = rkh_signal_at(study, object, signal);
        if (row)
            row->not_found++;
    }
}

// What is known of the target's objects does not hold beyond a gap, and less beyond a new start.
static void take_break(struct rkh_analysis *study, bool restarted)
{
    study->flowing = false;
    study->broken = true;
    study->fired.timer = 0;
    rkh_states_break(study, restarted);
}

static void take_framework(struct rkh_analysis *study, const struct extract_event *event)
{
    if (event->id == RKH_FWK_TCFG) {
        study->restarts += study->now.counts && study->events > 1;
        take_break(study, true);
    } else if (event->id == RKH_FWK_ASSERT && study->now.counts) {
        add_assertion(study, event);
    } else if (event->id == RKH_FWK_SYNC_EVT) {
        study->synchronous += study->now.counts;
    } else {
        rkh_stores_take(study, event);
    }
}

static void take_event(struct rkh_analysis *study, const struct extract_event *event)
{
    struct rkh_moment *now = &study->now;
    if (event->flags & EXTRACT_FLAG_GAP && !study->broken) {
        study->losses += now->counts;
        take_break(study, false);
    }
    if (study->broken && study->break_count)
        study->breaks[study->break_count - 1].resumed = event->ticks;
    study->broken = study->lacking = false;
    now->seq = event->seq;
    now->layout = (uint64_t)(rkh_layout_at(study->ring, event) - study->ring->rkh.layout);
    now->has_stamps = study->timed && rkh_layout_at(study->ring, event)->value[EXTRACT_RKH_TS];
    study->untimed |= now->in_stretch && !now->has_stamps;
    if (study->flowing && event->ticks > now->ticks) {
        now->span += event->ticks - now->ticks;
        study->spans[now->layout] += event->ticks - now->ticks;
    }
    now->ticks = event->ticks;
    study->events += now->counts;
    if (now->in_stretch && !study->stretch_events++)
        study->first = event->ticks;
    if (event->id >= RKH_SM_EVT_PROC && event->id <= RKH_SM_EX_TSEG)
        take_error(study, event);
    else if (event->id >= RKH_SM_INIT && event->id <= RKH_SM_DCH)
        rkh_states_take(study, event);
    else if (event->id < RKH_SMA_ACT)
        rkh_stores_take(study, event);
    else if (event->id >= RKH_FWK_EPREG && event->id < RKH_USER)
        take_framework(study, event);
    rkh_messages_take(study, event);
    study->flowing = study->now.in_stretch;
}

static void take_mark(struct rkh_analysis *study, const struct extract_event *mark)
{
    bool loss = study->now.counts && extract_id_is_loss(mark->id) && !study->lacking;
    if (!rkh_posts_may_be_missing(mark))
        return;
    study->losses += loss;
    study->lacking |= loss;
    take_break(study, mark->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET);
    rkh_messages_take(study, mark);
}

static bool take_events(void *context, const struct extract_event *events, const uint8_t *standing,
                        size_t count)
{
    struct rkh_analysis *study = context;
    for (size_t i = 0; i < count && !study->failed; i++) {
        study->now.counts = standing[i] == EXTRACT_LET_THROUGH;
        study->now.in_stretch = standing[i] != EXTRACT_OUTSIDE;
        if (extract_event_is_mark(&events[i]))
            take_mark(study, &events[i]);
        else
            take_event(study, &events[i]);
    }
    return !study->failed;
}

static int by_object(const void *a, const void *b)
{
    const struct rkh_sorted *x = a, *y = b;
    if (x->of != y->of)
        return x->of < y->of ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

// Puts rows, each of which begins with the index of its object, in the order of objects.
static bool sort_rows(char *rows, size_t row_bytes, size_t count)
{
    struct rkh_sorted *order = malloc((count + 1) * sizeof *order);
    char *copy = malloc(count * row_bytes + 1);
    for (size_t i = 0; order && copy && i < count; i++) {
        order[i].at = i;
        memcpy(&order[i].of, rows + i * row_bytes, sizeof order[i].of);
    }
    if (order && copy && count) {
        qsort(order, count, sizeof *order, by_object);
        memcpy(copy, rows, count * row_bytes);
        for (size_t i = 0; i < count; i++)
            memcpy(rows + i * row_bytes, copy + order[i].at * row_bytes, row_bytes);
    }
    bool done = order && copy;
    free(order);
    free(copy);
    return done;
}

// Leaves the turns of the stretch, in front of them the state that an object is in when it begins.
static void keep_turns(struct rkh_analysis *study)
{
    size_t kept = 0;
    for (size_t i = 0; i < study->turn_count; i++) {
        struct rkh_turn turn = study->turns[i];
        const struct rkh_turn *next = &study->turns[i + 1];
        bool last = i + 1 == study->turn_count || next->of != turn.of;
        bool holds = study->stretch_events && turn.known && turn.ticks <= study->first &&
                     (last || next->ticks > study->first);
        if (turn.in_stretch || holds)
            study->turns[kept++] = turn;
    }
    study->turn_count = kept;
}

static bool finish(struct rkh_analysis *study)
{
    rkh_states_end(study);
    rkh_messages_end(study);
    if (study->failed || study->modules.code ||
        !sort_rows(study->signals.rows, study->signals.row_bytes, study->signals.count) ||
        !sort_rows(study->states.rows, study->states.row_bytes, study->states.count) ||
        !sort_rows((char *)study->turns, sizeof *study->turns, study->turn_count))
        return false;
    keep_turns(study);
    return true;
}

static bool prepare(struct rkh_analysis *study)
{
    extract_text_init(&study->modules, NULL, NULL);
    bool fits = rkh_table_init(&study->objects, sizeof(struct rkh_object));
    fits &= rkh_table_init(&study->signals, sizeof(struct rkh_signal));
    fits &= rkh_table_init(&study->states, sizeof(struct rkh_state));
    fits &= rkh_table_init(&study->queues, sizeof(struct rkh_queue));
    fits &= rkh_table_init(&study->pools, sizeof(struct rkh_pool));
    fits &= rkh_table_init(&study->event_pools, sizeof(struct rkh_event_pool));
    fits &= rkh_table_init(&study->timers, sizeof(struct rkh_timer));
    return rkh_post_queues_init(&study->model) && fits;
}

// What the runs of the stream have: some may have stamps, and others not.
static void read_layouts(struct rkh_analysis *study, const struct extract_trace *trace)
{
    uint64_t hz = 0;
    study->ring = &extract_trace_snapshot(trace)->ring;
    for (unsigned i = 0; i < study->ring->rkh.layouts; i++) {
        const struct extract_rkh_layout *layout = &study->ring->rkh.layout[i];
        study->senders |= layout->value[EXTRACT_RKH_SNDR];
        if (!layout->value[EXTRACT_RKH_TS])
            continue;
        study->mixed |= study->timed && rkh_layout_hz(layout) != hz;
        study->timed = true;
        hz = rkh_layout_hz(layout);
    }
    study->timed &= extract_trace_info(trace)->clock.direction != EXTRACT_CLOCK_NONE;
}

enum extract_code rkh_analysis_new(struct rkh_analysis **study, const struct extract_view *view,
                                   const struct extract_trace *trace, struct extract_error *error)
{
    struct rkh_analysis *s = *study = calloc(1, sizeof *s);
    if (s && prepare(s)) {
        struct extract_sink sink = {.all = take_events, .context = s};
        read_layouts(s, trace);
        extract_view_run(view, &sink);
        if (finish(s))
            return EXTRACT_OK;
    }
    rkh_analysis_free(s);
    *study = NULL;
    return extract_error_set(error, EXTRACT_NOMEM, "statistics", NULL, "out of memory");
}

void rkh_analysis_free(struct rkh_analysis *study)
{
    if (!study)
        return;
    struct rkh_table *tables[] = {&study->objects, &study->signals, &study->states,
                                  &study->queues,  &study->pools,   &study->event_pools,
                                  &study->timers};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        rkh_table_free(tables[i]);
    rkh_post_queues_free(&study->model);
    extract_text_free(&study->modules);
    free(study->turns);
    free(study->breaks);
    free(study->assertions);
    free(study->latencies.samples);
    free(study->timeouts.samples);
    free(study);
}
