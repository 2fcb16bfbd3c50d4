// SPDX-License-Identifier: MIT
// report/rkh: the tables of the figures. In: struct rkh_study. Out: columns of text.
#include "report/rkh/rkh_report.h"

// A table of a report; it is left out when it has no row.
struct table {
    const char *const *heads;
    unsigned columns, right;
    size_t rows;
    bool (*row)(struct rkh_figures *figures, struct sheet *sheet, size_t i);
};

static void name_cell(struct rkh_figures *figures, struct sheet *sheet, enum extract_kind kind,
                      uint64_t value)
{
    naming_put(&figures->naming, kind, value, &sheet->cells);
    sheet_close_cell(sheet);
}

static void object_cell(struct rkh_figures *figures, struct sheet *sheet, uint64_t address)
{
    if (address)
        name_cell(figures, sheet, EXTRACT_KIND_OBJECT, address);
    else
        sheet_cell(sheet, "-");
}

static void known_cell(struct sheet *sheet, bool known, uint64_t value)
{
    if (known)
        sheet_number(sheet, value);
    else
        sheet_cell(sheet, "-");
}

static void number_cells(struct sheet *sheet, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sheet_number(sheet, values[i]);
}

static void spread_cells(struct sheet *sheet, const struct rkh_spread *spread, bool min)
{
    bool known = spread->count != 0;
    if (min)
        known_cell(sheet, known, spread->min);
    if (known)
        rkh_put_mean(&sheet->cells, spread);
    else
        extract_text_putc(&sheet->cells, '-');
    sheet_close_cell(sheet);
    for (unsigned i = 0; i < 3; i++)
        known_cell(sheet, known, spread->percentile[i]);
    known_cell(sheet, known, spread->max);
}

#define NUMBERS(sheet, ...)                                                                        \
    number_cells(sheet, (const uint64_t[]){__VA_ARGS__},                                           \
                 sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

static bool put_object(struct rkh_figures *figures, struct sheet *sheet, size_t i)
{
    const struct rkh_object *o = rkh_table_row(&figures->study->objects, i);
    figures->naming.seq = o->seq;
    object_cell(figures, sheet, o->address);
    known_cell(sheet, o->queue_size != 0, o->queue_size);
    known_cell(sheet, o->queued.known, o->queued.high);
    known_cell(sheet, o->low.known, o->low.low);
    NUMBERS(sheet, o->fifo, o->lifo, o->gets, o->uncertain, o->recalled);
    return true;
}

static bool put_machine(struct rkh_figures *figures, struct sheet *sheet, size_t i)
{
    const struct rkh_object *o = rkh_table_row(&figures->study->objects, i);
    figures->naming.seq = o->seq;
    object_cell(figures, sheet, o->address);
    NUMBERS(sheet, o->processed, o->state_changes, o->not_found, o->guards_false,
            o->conditions_not_found, o->errors);
    return true;
}

static bool put_signal(struct rkh_figures *figures, struct sheet *sheet, size_t i)
{
    const struct rkh_signal *s = rkh_table_row(&figures->study->signals, i);
    figures->naming.seq = s->seq;
    if (!s->posts && !s->gets)
        return false;
    object_cell(figures, sheet, s->object);
    name_cell(figures, sheet, EXTRACT_KIND_SIGNAL, s->signal);
    NUMBERS(sheet, s->posts, s->gets, s->uncertain);
    spread_cells(sheet, &s->latency, true);
    return true;
}

static bool put_state(struct rkh_figures *figures, struct sheet *sheet, size_t i)
{
    const struct rkh_state *s = rkh_table_row(&figures->study->states, i);
    const struct rkh_object *object = rkh_table_row(&figures->study->objects, s->of);
    bool is_timed = rkh_object_is_timed(figures->study, object);
    figures->naming.seq = s->seq;
    object_cell(figures, sheet, s->object);
    object_cell(figures, sheet, s->state);
    sheet_number(sheet, s->entries);
    known_cell(sheet, is_timed, s->ticks);
    if (is_timed)
        sheet_put_percent(&sheet->cells, s->ticks, rkh_object_span(figures->study, object));
    else
        extract_text_putc(&sheet->cells, '-');
    sheet_close_cell(sheet);
    return true;
}

static bool put_queue(struct rkh_figures *figures, struct sheet *sheet, size_t i)
{
    const struct rkh_queue *q = rkh_table_row(&figures->study->queues, i);
    figures->naming.seq = q->seq;
    object_cell(figures, sheet, q->address);
    object_cell(figures, sheet, q->object);
    known_cell(sheet, q->size != 0, q->size);
    known_cell(sheet, q->queued.known, q->queued.high);
    known_cell(sheet, q->low.known, q->low.low);
    NUMBERS(sheet, q->fifo, q->lifo, q->gets, q->deferred, q->full, q->empty);
    return true;
}

static bool put_pool(struct rkh_figures *figures, struct sheet *sheet, size_t i)
{
    const struct rkh_pool *p = rkh_table_row(&figures->study->pools, i);
    figures->naming.seq = p->seq;
    object_cell(figures, sheet, p->address);
    known_cell(sheet, p->blocks != 0, p->blocks);
    known_cell(sheet, p->block_size != 0, p->block_size);
    known_cell(sheet, p->free.known, p->free.low);
    known_cell(sheet, p->low.known, p->low.low);
    NUMBERS(sheet, p->gets, p->puts, p->exhausted);
    return true;
}

static bool put_event_pool(struct rkh_figures *figures, struct sheet *sheet, size_t i)
{
    const struct rkh_event_pool *p = rkh_table_row(&figures->study->event_pools, i);
    figures->naming.seq = p->seq;
    name_cell(figures, sheet, EXTRACT_KIND_POOL, p->index);
    known_cell(sheet, p->blocks != 0, p->blocks);
    known_cell(sheet, p->event_size != 0, p->event_size);
    known_cell(sheet, p->used.known, p->used.high);
    known_cell(sheet, p->low.known, p->low.low);
    NUMBERS(sheet, p->allocations, p->collections, p->dropped, p->exhausted);
    return true;
}

static bool put_timer(struct rkh_figures *figures, struct sheet *sheet, size_t i)
{
    const struct rkh_timer *t = rkh_table_row(&figures->study->timers, i);
    figures->naming.seq = t->seq;
    object_cell(figures, sheet, t->address);
    object_cell(figures, sheet, t->object);
    if (t->signal_known)
        name_cell(figures, sheet, EXTRACT_KIND_SIGNAL, t->signal);
    else
        sheet_cell(sheet, "-");
    NUMBERS(sheet, t->starts, t->stops, t->timeouts);
    spread_cells(sheet, &t->latency, false);
    return true;
}

static bool put_assertion(struct rkh_figures *figures, struct sheet *sheet, size_t i)
{
    const struct rkh_assertion *a = &figures->study->assertions[i];
    sheet_cell(sheet, rkh_module(figures->study, i));
    NUMBERS(sheet, a->line, a->seq, a->ticks);
    return true;
}

static void put_table(struct rkh_figures *figures, const struct table *table)
{
    struct sheet sheet;
    size_t shown = 0;
    sheet_open(&sheet, table->columns, table->right);
    for (unsigned i = 0; i < table->columns; i++)
        sheet_cell(&sheet, table->heads[i]);
    for (size_t i = 0; i < table->rows && !sheet.cells.code; i++)
        shown += table->row(figures, &sheet, i);
    if (!shown && !sheet.cells.code) {
        extract_text_free(&sheet.cells);
        return;
    }
    extract_text_putc(figures->text, '\n');
    sheet_print(&sheet, figures->text, figures->options);
}

#define TABLE(names, left, count, put)                                                             \
    {                                                                                              \
        names, sizeof names / sizeof(char *), ~(left), count, put                                  \
    }

void rkh_put_sheets(struct rkh_figures *figures)
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
    const struct rkh_study *s = figures->study;
    const struct table tables[] = {
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
