// SPDX-License-Identifier: MIT
// report/rkh: the statistics of an RKH stream as tables, one for each kind of object. A table
// without rows is left out.
#include "report/rkh/rkh_report.h"

struct table_description {
    const char *const *headings;
    unsigned columns, right_aligned;
    size_t rows;
    // Writes the i-th row. Returns false if it wrote none.
    bool (*put_row)(struct rkh_report *report, struct text_table *table, size_t i);
};

static void put_name(struct rkh_report *report, struct text_table *table, enum extract_kind kind,
                     uint64_t value)
{
    value_names_put(&report->names, kind, value, &table->cells);
    text_table_end_cell(table);
}

// Writes the name of an object, or "-" for none.
static void put_object_name(struct rkh_report *report, struct text_table *table, uint64_t address)
{
    if (address)
        put_name(report, table, EXTRACT_KIND_OBJECT, address);
    else
        text_table_put_string(table, "-");
}

static void put_numbers(struct text_table *table, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_table_put_number(table, values[i]);
}

// Writes mean, percentiles and maximum of times; before them the minimum if `with_min`.
static void put_latency(struct text_table *table, const struct rkh_spread *spread, bool with_min)
{
    bool is_known = spread->count != 0;

    if (with_min)
        text_table_put_optional(table, is_known, spread->min);
    if (is_known)
        rkh_put_mean(&table->cells, spread);
    else
        extract_text_putc(&table->cells, '-');
    text_table_end_cell(table);
    for (unsigned i = 0; i < 3; i++)
        text_table_put_optional(table, is_known, spread->percentile[i]);
    text_table_put_optional(table, is_known, spread->max);
}

// Writes a list of numbers, one cell each.
#define NUMBERS(table, ...)                                                                        \
    put_numbers(table, (const uint64_t[]){__VA_ARGS__},                                            \
                sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

static bool put_object(struct rkh_report *report, struct text_table *table, size_t i)
{
    const struct rkh_object *object = rkh_table_row(&report->analysis->objects, i);

    report->names.seq = object->seq;
    put_object_name(report, table, object->address);
    text_table_put_optional(table, object->queue_size != 0, object->queue_size);
    text_table_put_optional(table, object->queued.is_known, object->queued.high);
    text_table_put_optional(table, object->low.is_known, object->low.low);
    NUMBERS(table, object->fifo, object->lifo, object->gets, object->uncertain, object->recalled);
    return true;
}

static bool put_machine(struct rkh_report *report, struct text_table *table, size_t i)
{
    const struct rkh_object *object = rkh_table_row(&report->analysis->objects, i);

    report->names.seq = object->seq;
    put_object_name(report, table, object->address);
    NUMBERS(table, object->processed, object->state_changes, object->not_found,
            object->guards_false, object->conditions_not_found, object->errors);
    return true;
}

static bool put_signal(struct rkh_report *report, struct text_table *table, size_t i)
{
    const struct rkh_signal *signal = rkh_table_row(&report->analysis->signals, i);

    report->names.seq = signal->seq;
    if (!signal->posts && !signal->gets)
        return false;
    put_object_name(report, table, signal->object);
    put_name(report, table, EXTRACT_KIND_SIGNAL, signal->signal);
    NUMBERS(table, signal->posts, signal->gets, signal->uncertain);
    put_latency(table, &signal->latency, true);
    return true;
}

static bool put_state(struct rkh_report *report, struct text_table *table, size_t i)
{
    const struct rkh_state *state = rkh_table_row(&report->analysis->states, i);
    const struct rkh_object *object =
        rkh_table_row(&report->analysis->objects, state->object_index);
    bool is_timed = rkh_object_is_timed(report->analysis, object);

    report->names.seq = state->seq;
    put_object_name(report, table, state->object);
    put_object_name(report, table, state->state);
    text_table_put_number(table, state->entries);
    text_table_put_optional(table, is_timed, state->ticks);
    if (is_timed)
        text_put_percent(&table->cells, state->ticks, rkh_object_span(report->analysis, object));
    else
        extract_text_putc(&table->cells, '-');
    text_table_end_cell(table);
    return true;
}

static bool put_queue(struct rkh_report *report, struct text_table *table, size_t i)
{
    const struct rkh_queue *queue = rkh_table_row(&report->analysis->queues, i);

    report->names.seq = queue->seq;
    put_object_name(report, table, queue->address);
    put_object_name(report, table, queue->object);
    text_table_put_optional(table, queue->size != 0, queue->size);
    text_table_put_optional(table, queue->queued.is_known, queue->queued.high);
    text_table_put_optional(table, queue->low.is_known, queue->low.low);
    NUMBERS(table, queue->fifo, queue->lifo, queue->gets, queue->deferred, queue->full,
            queue->empty);
    return true;
}

static bool put_pool(struct rkh_report *report, struct text_table *table, size_t i)
{
    const struct rkh_pool *pool = rkh_table_row(&report->analysis->pools, i);

    report->names.seq = pool->seq;
    put_object_name(report, table, pool->address);
    text_table_put_optional(table, pool->blocks != 0, pool->blocks);
    text_table_put_optional(table, pool->block_size != 0, pool->block_size);
    text_table_put_optional(table, pool->free.is_known, pool->free.low);
    text_table_put_optional(table, pool->low.is_known, pool->low.low);
    NUMBERS(table, pool->gets, pool->refused, pool->uncertain, pool->puts, pool->exhausted);
    return true;
}

static bool put_event_pool(struct rkh_report *report, struct text_table *table, size_t i)
{
    const struct rkh_event_pool *pool = rkh_table_row(&report->analysis->event_pools, i);

    report->names.seq = pool->seq;
    put_name(report, table, EXTRACT_KIND_POOL, pool->index);
    text_table_put_optional(table, pool->blocks != 0, pool->blocks);
    text_table_put_optional(table, pool->event_size != 0, pool->event_size);
    text_table_put_optional(table, pool->used.is_known, pool->used.high);
    text_table_put_optional(table, pool->low.is_known, pool->low.low);
    NUMBERS(table, pool->allocations, pool->collections, pool->dropped, pool->exhausted);
    return true;
}

static bool put_timer(struct rkh_report *report, struct text_table *table, size_t i)
{
    const struct rkh_timer *timer = rkh_table_row(&report->analysis->timers, i);

    report->names.seq = timer->seq;
    put_object_name(report, table, timer->address);
    put_object_name(report, table, timer->object);
    if (timer->signal_known)
        put_name(report, table, EXTRACT_KIND_SIGNAL, timer->signal);
    else
        text_table_put_string(table, "-");
    NUMBERS(table, timer->starts, timer->stops, timer->timeouts);
    put_latency(table, &timer->latency, false);
    return true;
}

static bool put_assertion(struct rkh_report *report, struct text_table *table, size_t i)
{
    const struct rkh_assertion *assertion = &report->analysis->assertions[i];

    text_table_put_string(table, rkh_module(report->analysis, i));
    NUMBERS(table, assertion->line, assertion->seq, assertion->ticks);
    return true;
}

static void put_table(struct rkh_report *report, const struct table_description *description)
{
    struct text_table table;
    size_t rows = 0;

    text_table_open(&table, description->columns, description->right_aligned);
    text_table_put_headings(&table, description->headings);
    for (size_t i = 0; i < description->rows && !table.cells.code; i++)
        rows += description->put_row(report, &table, i);
    if (!rows && !table.cells.code) {
        extract_text_free(&table.cells);
        return;
    }
    extract_text_putc(report->text, '\n');
    text_table_print(&table, report->text, report->options);
}

// Describes a table of which the columns in the bit mask `left` are aligned to the left.
#define TABLE(names, left, count, put)                                                             \
    {                                                                                              \
        names, sizeof names / sizeof(char *), ~(left), count, put                                  \
    }

void rkh_put_text_tables(struct rkh_report *report)
{
    static const char *const objects[] = {"active object", "queue",     "most",
                                          "low water",     "posts",     "first",
                                          "gets",          "uncertain", "recalled"};
    static const char *const machines[] = {"active object", "processed",    "changes", "no trigger",
                                           "guard false",   "no condition", "errors"};
    static const char *const signals[] = {"active object", "signal", "posts", "gets",
                                          "uncertain",     "min",    "mean",  "50 %",
                                          "90 %",          "99 %",   "max"};
    static const char *const states[] = {"active object", "state", "entries", "ticks", "percent"};
    static const char *const queues[] = {"queue",     "active object", "size",  "most",
                                         "low water", "put",           "first", "got",
                                         "deferred",  "full",          "empty"};
    static const char *const pools[] = {"pool", "blocks",  "block size", "least free", "low water",
                                        "got",  "refused", "uncertain",  "put",        "exhausted"};
    static const char *const event_pools[] = {"event pool", "blocks",    "event size",
                                              "most used",  "low water", "allocations",
                                              "freed",      "dropped",   "exhausted"};
    static const char *const timers[] = {"timer", "active object", "signal", "starts",
                                         "stops", "timeouts",      "mean",   "50 %",
                                         "90 %",  "99 %",          "max"};
    static const char *const assertions[] = {"assertion in", "line", "seq", "ticks"};
    const struct rkh_analysis *analysis = report->analysis;
    const struct table_description tables[] = {
        TABLE(objects, 1u, analysis->objects.count, put_object),
        TABLE(machines, 1u, analysis->objects.count, put_machine),
        TABLE(signals, 3u, analysis->signals.count, put_signal),
        TABLE(states, 3u, analysis->states.count, put_state),
        TABLE(queues, 3u, analysis->queues.count, put_queue),
        TABLE(pools, 1u, analysis->pools.count, put_pool),
        TABLE(event_pools, 1u, analysis->event_pools.count, put_event_pool),
        TABLE(timers, 7u, analysis->timers.count, put_timer),
        TABLE(assertions, 1u, analysis->assertion_count, put_assertion),
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        put_table(report, &tables[i]);
}
