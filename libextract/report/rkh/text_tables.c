// SPDX-License-Identifier: MIT
// report/rkh: the tables of the figures. In: struct rkh_analysis. Out: columns of text.
#include "report/rkh/rkh_report.h"

// A table of a report; it is left out when it has no row.
struct report_table {
    const char *const *heads;
    unsigned columns, right;
    size_t rows;
    bool (*row)(struct rkh_figures *figures, struct text_table *table, size_t i);
};

static void name_cell(struct rkh_figures *figures, struct text_table *table, enum extract_kind kind,
                      uint64_t value)
{
    value_names_put(&figures->naming, kind, value, &table->cells);
    text_table_close_cell(table);
}

static void object_cell(struct rkh_figures *figures, struct text_table *table, uint64_t address)
{
    if (address)
        name_cell(figures, table, EXTRACT_KIND_OBJECT, address);
    else
        text_table_cell(table, "-");
}

static void known_cell(struct text_table *table, bool known, uint64_t value)
{
    if (known)
        text_table_number(table, value);
    else
        text_table_cell(table, "-");
}

static void number_cells(struct text_table *table, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_table_number(table, values[i]);
}

static void spread_cells(struct text_table *table, const struct rkh_spread *spread, bool min)
{
    bool known = spread->count != 0;
    if (min)
        known_cell(table, known, spread->min);
    if (known)
        rkh_put_mean(&table->cells, spread);
    else
        extract_text_putc(&table->cells, '-');
    text_table_close_cell(table);
    for (unsigned i = 0; i < 3; i++)
        known_cell(table, known, spread->percentile[i]);
    known_cell(table, known, spread->max);
}

#define NUMBERS(table, ...)                                                                        \
    number_cells(table, (const uint64_t[]){__VA_ARGS__},                                           \
                 sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

static bool put_object(struct rkh_figures *figures, struct text_table *table, size_t i)
{
    const struct rkh_object *o = rkh_table_row(&figures->study->objects, i);
    figures->naming.seq = o->seq;
    object_cell(figures, table, o->address);
    known_cell(table, o->queue_size != 0, o->queue_size);
    known_cell(table, o->queued.known, o->queued.high);
    known_cell(table, o->low.known, o->low.low);
    NUMBERS(table, o->fifo, o->lifo, o->gets, o->uncertain, o->recalled);
    return true;
}

static bool put_machine(struct rkh_figures *figures, struct text_table *table, size_t i)
{
    const struct rkh_object *o = rkh_table_row(&figures->study->objects, i);
    figures->naming.seq = o->seq;
    object_cell(figures, table, o->address);
    NUMBERS(table, o->processed, o->state_changes, o->not_found, o->guards_false,
            o->conditions_not_found, o->errors);
    return true;
}

static bool put_signal(struct rkh_figures *figures, struct text_table *table, size_t i)
{
    const struct rkh_signal *s = rkh_table_row(&figures->study->signals, i);
    figures->naming.seq = s->seq;
    if (!s->posts && !s->gets)
        return false;
    object_cell(figures, table, s->object);
    name_cell(figures, table, EXTRACT_KIND_SIGNAL, s->signal);
    NUMBERS(table, s->posts, s->gets, s->uncertain);
    spread_cells(table, &s->latency, true);
    return true;
}

static bool put_state(struct rkh_figures *figures, struct text_table *table, size_t i)
{
    const struct rkh_state *s = rkh_table_row(&figures->study->states, i);
    const struct rkh_object *object = rkh_table_row(&figures->study->objects, s->of);
    bool is_timed = rkh_object_is_timed(figures->study, object);
    figures->naming.seq = s->seq;
    object_cell(figures, table, s->object);
    object_cell(figures, table, s->state);
    text_table_number(table, s->entries);
    known_cell(table, is_timed, s->ticks);
    if (is_timed)
        text_table_put_percent(&table->cells, s->ticks, rkh_object_span(figures->study, object));
    else
        extract_text_putc(&table->cells, '-');
    text_table_close_cell(table);
    return true;
}

static bool put_queue(struct rkh_figures *figures, struct text_table *table, size_t i)
{
    const struct rkh_queue *q = rkh_table_row(&figures->study->queues, i);
    figures->naming.seq = q->seq;
    object_cell(figures, table, q->address);
    object_cell(figures, table, q->object);
    known_cell(table, q->size != 0, q->size);
    known_cell(table, q->queued.known, q->queued.high);
    known_cell(table, q->low.known, q->low.low);
    NUMBERS(table, q->fifo, q->lifo, q->gets, q->deferred, q->full, q->empty);
    return true;
}

static bool put_pool(struct rkh_figures *figures, struct text_table *table, size_t i)
{
    const struct rkh_pool *p = rkh_table_row(&figures->study->pools, i);
    figures->naming.seq = p->seq;
    object_cell(figures, table, p->address);
    known_cell(table, p->blocks != 0, p->blocks);
    known_cell(table, p->block_size != 0, p->block_size);
    known_cell(table, p->free.known, p->free.low);
    known_cell(table, p->low.known, p->low.low);
    NUMBERS(table, p->gets, p->puts, p->exhausted);
    return true;
}

static bool put_event_pool(struct rkh_figures *figures, struct text_table *table, size_t i)
{
    const struct rkh_event_pool *p = rkh_table_row(&figures->study->event_pools, i);
    figures->naming.seq = p->seq;
    name_cell(figures, table, EXTRACT_KIND_POOL, p->index);
    known_cell(table, p->blocks != 0, p->blocks);
    known_cell(table, p->event_size != 0, p->event_size);
    known_cell(table, p->used.known, p->used.high);
    known_cell(table, p->low.known, p->low.low);
    NUMBERS(table, p->allocations, p->collections, p->dropped, p->exhausted);
    return true;
}

static bool put_timer(struct rkh_figures *figures, struct text_table *table, size_t i)
{
    const struct rkh_timer *t = rkh_table_row(&figures->study->timers, i);
    figures->naming.seq = t->seq;
    object_cell(figures, table, t->address);
    object_cell(figures, table, t->object);
    if (t->signal_known)
        name_cell(figures, table, EXTRACT_KIND_SIGNAL, t->signal);
    else
        text_table_cell(table, "-");
    NUMBERS(table, t->starts, t->stops, t->timeouts);
    spread_cells(table, &t->latency, false);
    return true;
}

static bool put_assertion(struct rkh_figures *figures, struct text_table *table, size_t i)
{
    const struct rkh_assertion *a = &figures->study->assertions[i];
    text_table_cell(table, rkh_module(figures->study, i));
    NUMBERS(table, a->line, a->seq, a->ticks);
    return true;
}

static void put_table(struct rkh_figures *figures, const struct report_table *described)
{
    struct text_table table;
    size_t shown = 0;
    text_table_open(&table, described->columns, described->right);
    for (unsigned i = 0; i < described->columns; i++)
        text_table_cell(&table, described->heads[i]);
    for (size_t i = 0; i < described->rows && !table.cells.code; i++)
        shown += described->row(figures, &table, i);
    if (!shown && !table.cells.code) {
        extract_text_free(&table.cells);
        return;
    }
    extract_text_putc(figures->text, '\n');
    text_table_print(&table, figures->text, figures->options);
}

#define TABLE(names, left, count, put)                                                             \
    {                                                                                              \
        names, sizeof names / sizeof(char *), ~(left), count, put                                  \
    }

void rkh_put_text_tables(struct rkh_figures *figures)
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
    static const char *const pools[] = {"pool",      "blocks", "block size", "least free",
                                        "low water", "got",    "put",        "exhausted"};
    static const char *const event_pools[] = {"event pool", "blocks",    "event size",
                                              "most used",  "low water", "allocations",
                                              "freed",      "dropped",   "exhausted"};
    static const char *const timers[] = {"timer", "active object", "signal", "starts",
                                         "stops", "timeouts",      "mean",   "50 %",
                                         "90 %",  "99 %",          "max"};
    static const char *const assertions[] = {"assertion in", "line", "seq", "ticks"};
    const struct rkh_analysis *s = figures->study;
    const struct report_table tables[] = {
        TABLE(objects, 1u, s->objects.count, put_object),
        TABLE(machines, 1u, s->objects.count, put_machine),
        TABLE(signals, 3u, s->signals.count, put_signal),
        TABLE(states, 3u, s->states.count, put_state),
        TABLE(queues, 3u, s->queues.count, put_queue),
        TABLE(pools, 1u, s->pools.count, put_pool),
        TABLE(event_pools, 1u, s->event_pools.count, put_event_pool),
        TABLE(timers, 7u, s->timers.count, put_timer),
        TABLE(assertions, 1u, s->assertion_count, put_assertion),
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        put_table(figures, &tables[i]);
}
