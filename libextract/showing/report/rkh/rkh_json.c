// SPDX-License-Identifier: MIT
// report/rkh: the statistics of an RKH stream as one JSON object (RFC 8259).
//
// Signals, states and the timeline are sorted by object. So one pass over the objects prints all of
// them, each list up to the first row of another object.
#include "report/rkh/rkh_report.h"

// Starts a list of objects as the value of a key.
static void open_list(struct rkh_report *report, struct kv_writer *outer, const char *key)
{
    kv_put_key(outer, key);
    extract_text_putc(report->text, '[');
}

// Starts the next object of a list.
static struct kv_writer open_item(struct rkh_report *report, bool is_first)
{
    extract_text_puts(report->text, is_first ? "" : ",");
    return kv_open_object(report->text);
}

static void close_list(struct rkh_report *report)
{
    extract_text_putc(report->text, ']');
}

// Writes the name of a value, or null.
static void put_name(struct rkh_report *report, struct kv_writer *kv, const char *key,
                     enum extract_kind kind, uint64_t value)
{
    const char *name = value_names_find(&report->names, kind, value);

    if (report->names.found.code)
        report->text->code = report->names.found.code;
    else if (name)
        kv_put_string(kv, key, name);
    else
        kv_put_unknown(kv, key);
}

// Writes the active object that something belongs to; null if there is none.
static void put_owner(struct rkh_report *report, struct kv_writer *kv, uint64_t address)
{
    kv_put_optional(kv, "ao", address != 0, address);
    put_name(report, kv, "ao name", EXTRACT_KIND_OBJECT, address);
}

// Writes a distribution of times, or null if no time is known.
static void put_latency(struct kv_writer *kv, const struct rkh_spread *spread)
{
    static const char *const keys[] = {"p50", "p90", "p99"};

    if (!spread->count) {
        kv_put_unknown(kv, "latency");
        return;
    }
    kv_put_key(kv, "latency");
    struct kv_writer object = kv_open_object(kv->text);
    kv_put_number(&object, "count", spread->count);
    kv_put_number(&object, "min", spread->min);
    kv_put_key(&object, "mean");
    rkh_put_mean(object.text, spread);
    kv_put_number(&object, "max", spread->max);
    for (unsigned i = 0; i < 3; i++)
        kv_put_number(&object, keys[i], spread->percentile[i]);
    kv_close_object(&object);
}

// ---- active objects ----

// Rows of the three lists that were printed so far.
struct progress {
    size_t signals, states, timeline;
};

static void put_signals(struct rkh_report *report, struct kv_writer *outer, size_t object_index,
                        size_t *next)
{
    const struct rkh_table *table = &report->analysis->signals;
    const size_t first = *next;

    open_list(report, outer, "signals");
    for (; *next < table->count; ++*next) {
        const struct rkh_signal *signal = rkh_table_row(table, *next);
        if (signal->object_index != object_index)
            break;
        struct kv_writer kv = open_item(report, *next == first);
        report->names.seq = signal->seq;
        kv_put_number(&kv, "signal", signal->signal);
        put_name(report, &kv, "name", EXTRACT_KIND_SIGNAL, signal->signal);
        kv_put_number(&kv, "posts", signal->posts);
        kv_put_number(&kv, "gets", signal->gets);
        kv_put_number(&kv, "uncertain", signal->uncertain);
        kv_put_number(&kv, "recalled", signal->recalled);
        kv_put_number(&kv, "no trigger", signal->not_found);
        put_latency(&kv, &signal->latency);
        kv_close_object(&kv);
    }
    close_list(report);
}

static void put_states(struct rkh_report *report, struct kv_writer *outer, size_t object_index,
                       size_t *next)
{
    const struct rkh_table *table = &report->analysis->states;
    const struct rkh_object *object = rkh_table_row(&report->analysis->objects, object_index);
    uint64_t span = rkh_object_span(report->analysis, object);
    bool is_timed = rkh_object_is_timed(report->analysis, object);
    const size_t first = *next;

    open_list(report, outer, "states");
    for (; *next < table->count; ++*next) {
        const struct rkh_state *state = rkh_table_row(table, *next);
        if (state->object_index != object_index)
            break;
        struct kv_writer kv = open_item(report, *next == first);
        report->names.seq = state->seq;
        kv_put_number(&kv, "state", state->state);
        put_name(report, &kv, "name", EXTRACT_KIND_OBJECT, state->state);
        kv_put_number(&kv, "entries", state->entries);
        kv_put_optional(&kv, "ticks", is_timed, state->ticks);
        if (is_timed) {
            kv_put_key(&kv, "percent");
            text_put_percent(kv.text, state->ticks, span);
        } else {
            kv_put_unknown(&kv, "percent");
        }
        kv_close_object(&kv);
    }
    close_list(report);
}

static void put_timeline(struct rkh_report *report, struct kv_writer *outer, size_t object_index,
                         size_t *next)
{
    const struct rkh_analysis *analysis = report->analysis;
    const struct rkh_object *object = rkh_table_row(&analysis->objects, object_index);
    const size_t first = *next;

    report->names.seq = object->seq;
    open_list(report, outer, "timeline");
    for (; *next < analysis->timeline_count; ++*next) {
        const struct rkh_timeline_entry *entry = &analysis->timeline[*next];
        if (entry->object_index != object_index)
            break;
        struct kv_writer kv = open_item(report, *next == first);
        kv_put_number(&kv, "ticks", entry->ticks);
        kv_put_optional(&kv, "state", entry->is_known, entry->state);
        put_name(report, &kv, "name", EXTRACT_KIND_OBJECT, entry->state);
        kv_close_object(&kv);
    }
    close_list(report);
}

static void put_object(struct rkh_report *report, struct kv_writer *kv, const struct rkh_object *o)
{
    uint64_t span = rkh_object_span(report->analysis, o);

    report->names.seq = o->seq;
    kv_put_number(kv, "address", o->address);
    put_name(report, kv, "name", EXTRACT_KIND_OBJECT, o->address);
    kv_put_optional(kv, "queue size", o->queue_size != 0, o->queue_size);
    kv_put_optional(kv, "most queued", o->queued.is_known, o->queued.high);
    kv_put_optional(kv, "low water", o->low.is_known, o->low.low);
    kv_put_number(kv, "posts", o->fifo + o->lifo);
    kv_put_number(kv, "posts first", o->lifo);
    kv_put_number(kv, "gets", o->gets);
    kv_put_number(kv, "uncertain", o->uncertain);
    kv_put_number(kv, "recalled", o->recalled);
    kv_put_number(kv, "processed", o->processed);
    kv_put_number(kv, "state changes", o->state_changes);
    kv_put_number(kv, "no trigger", o->not_found);
    kv_put_number(kv, "guards false", o->guards_false);
    kv_put_number(kv, "no condition", o->conditions_not_found);
    kv_put_number(kv, "errors", o->errors);
    kv_put_optional(kv, "state unknown ticks", rkh_object_is_timed(report->analysis, o),
                    span - o->state_ticks);
}

static void put_objects(struct rkh_report *report, struct kv_writer *outer)
{
    const struct rkh_table *table = &report->analysis->objects;
    struct progress printed = {0, 0, 0};

    open_list(report, outer, "active objects");
    for (size_t i = 0; i < table->count && !report->text->code; i++) {
        struct kv_writer kv = open_item(report, i == 0);
        put_object(report, &kv, rkh_table_row(table, i));
        put_signals(report, &kv, i, &printed.signals);
        put_states(report, &kv, i, &printed.states);
        put_timeline(report, &kv, i, &printed.timeline);
        kv_close_object(&kv);
    }
    close_list(report);
}

// ---- queues, pools, timers, assertions ----

static void put_queues(struct rkh_report *report, struct kv_writer *outer)
{
    const struct rkh_table *table = &report->analysis->queues;

    open_list(report, outer, "queues");
    for (size_t i = 0; i < table->count && !report->text->code; i++) {
        const struct rkh_queue *queue = rkh_table_row(table, i);
        report->names.seq = queue->seq;
        struct kv_writer kv = open_item(report, i == 0);
        kv_put_number(&kv, "address", queue->address);
        put_name(report, &kv, "name", EXTRACT_KIND_OBJECT, queue->address);
        put_owner(report, &kv, queue->object);
        kv_put_optional(&kv, "size", queue->size != 0, queue->size);
        kv_put_optional(&kv, "most queued", queue->queued.is_known, queue->queued.high);
        kv_put_optional(&kv, "low water", queue->low.is_known, queue->low.low);
        kv_put_number(&kv, "put", queue->fifo + queue->lifo);
        kv_put_number(&kv, "put first", queue->lifo);
        kv_put_number(&kv, "got", queue->gets);
        kv_put_number(&kv, "deferred", queue->deferred);
        kv_put_number(&kv, "full", queue->full);
        kv_put_number(&kv, "empty", queue->empty);
        kv_close_object(&kv);
    }
    close_list(report);
}

static void put_pools(struct rkh_report *report, struct kv_writer *outer)
{
    const struct rkh_table *table = &report->analysis->pools;

    open_list(report, outer, "pools");
    for (size_t i = 0; i < table->count && !report->text->code; i++) {
        const struct rkh_pool *pool = rkh_table_row(table, i);
        report->names.seq = pool->seq;
        struct kv_writer kv = open_item(report, i == 0);
        kv_put_number(&kv, "address", pool->address);
        put_name(report, &kv, "name", EXTRACT_KIND_OBJECT, pool->address);
        kv_put_optional(&kv, "blocks", pool->blocks != 0, pool->blocks);
        kv_put_optional(&kv, "block size", pool->block_size != 0, pool->block_size);
        kv_put_optional(&kv, "least free", pool->free.is_known, pool->free.low);
        kv_put_optional(&kv, "low water", pool->low.is_known, pool->low.low);
        kv_put_number(&kv, "got", pool->gets);
        kv_put_number(&kv, "refused", pool->refused);
        kv_put_number(&kv, "uncertain", pool->uncertain);
        kv_put_number(&kv, "put", pool->puts);
        kv_put_number(&kv, "exhausted", pool->exhausted);
        kv_close_object(&kv);
    }
    close_list(report);
}

static void put_event_pools(struct rkh_report *report, struct kv_writer *outer)
{
    const struct rkh_table *table = &report->analysis->event_pools;

    open_list(report, outer, "event pools");
    for (size_t i = 0; i < table->count && !report->text->code; i++) {
        const struct rkh_event_pool *pool = rkh_table_row(table, i);
        report->names.seq = pool->seq;
        struct kv_writer kv = open_item(report, i == 0);
        kv_put_number(&kv, "number", pool->index);
        put_name(report, &kv, "name", EXTRACT_KIND_POOL, pool->index);
        kv_put_optional(&kv, "blocks", pool->blocks != 0, pool->blocks);
        kv_put_optional(&kv, "event size", pool->event_size != 0, pool->event_size);
        kv_put_optional(&kv, "most used", pool->used.is_known, pool->used.high);
        kv_put_optional(&kv, "low water", pool->low.is_known, pool->low.low);
        kv_put_number(&kv, "allocations", pool->allocations);
        kv_put_number(&kv, "freed", pool->collections);
        kv_put_number(&kv, "references dropped", pool->dropped);
        kv_put_number(&kv, "exhausted", pool->exhausted);
        kv_close_object(&kv);
    }
    close_list(report);
}

static void put_timers(struct rkh_report *report, struct kv_writer *outer)
{
    const struct rkh_table *table = &report->analysis->timers;

    open_list(report, outer, "timers");
    for (size_t i = 0; i < table->count && !report->text->code; i++) {
        const struct rkh_timer *timer = rkh_table_row(table, i);
        report->names.seq = timer->seq;
        struct kv_writer kv = open_item(report, i == 0);
        kv_put_number(&kv, "address", timer->address);
        put_name(report, &kv, "name", EXTRACT_KIND_OBJECT, timer->address);
        put_owner(report, &kv, timer->object);
        kv_put_optional(&kv, "signal", timer->signal_known, timer->signal);
        if (timer->signal_known)
            put_name(report, &kv, "signal name", EXTRACT_KIND_SIGNAL, timer->signal);
        else
            kv_put_unknown(&kv, "signal name");
        kv_put_number(&kv, "starts", timer->starts);
        kv_put_number(&kv, "stops", timer->stops);
        kv_put_number(&kv, "timeouts", timer->timeouts);
        put_latency(&kv, &timer->latency);
        kv_close_object(&kv);
    }
    close_list(report);
}

static void put_assertions(struct rkh_report *report, struct kv_writer *outer)
{
    const struct rkh_analysis *analysis = report->analysis;

    open_list(report, outer, "assertions");
    for (size_t i = 0; i < analysis->assertion_count && !report->text->code; i++) {
        struct kv_writer kv = open_item(report, i == 0);
        kv_put_string(&kv, "module", rkh_module(analysis, i));
        kv_put_number(&kv, "line", analysis->assertions[i].line);
        kv_put_number(&kv, "seq", analysis->assertions[i].seq);
        kv_put_number(&kv, "ticks", analysis->assertions[i].ticks);
        kv_close_object(&kv);
    }
    close_list(report);
}

void rkh_put_json(struct rkh_report *report)
{
    const struct rkh_analysis *analysis = report->analysis;
    struct kv_writer kv;

    kv_open(&kv, report->text, true);
    kv_put_number(&kv, "events", analysis->events);
    kv_put_number(&kv, "span ticks", analysis->now.span);
    kv_put_bool(&kv, "timed", analysis->has_times);
    kv_put_bool(&kv, "untimed runs", analysis->has_times && analysis->has_untimed_runs);
    kv_put_bool(&kv, "mixed rates", analysis->has_mixed_rates);
    kv_put_bool(&kv, "clock stands still", report->stats->clock_is_still);
    kv_put_number(&kv, "losses", analysis->losses);
    kv_put_number(&kv, "restarts", analysis->restarts);
    kv_put_number(&kv, "posts", analysis->posts);
    kv_put_number(&kv, "gets", analysis->gets);
    kv_put_number(&kv, "uncertain gets", analysis->uncertain);
    kv_put_number(&kv, "state changes", analysis->state_changes);
    kv_put_number(&kv, "synchronous events", analysis->synchronous);
    put_objects(report, &kv);
    put_queues(report, &kv);
    put_pools(report, &kv);
    put_event_pools(report, &kv);
    put_timers(report, &kv);
    put_assertions(report, &kv);
    stats_put_services_json(&kv, report->stats->services, report->stats->service_count);
    if (report->stats->has_loads) {
        kv_put_number(&kv, "unknown ticks", report->stats->unknown_ticks);
        stats_put_threads_json(&kv, report->stats);
        stats_put_schedule_json(&kv, report->stats);
    }
    if (report->options->spans)
        stats_put_spans_json(&kv, report->stats, report->options->spans);
    kv_close(&kv);
}
