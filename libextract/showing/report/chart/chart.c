// SPDX-License-Identifier: MIT
// report/chart: the model of a message sequence chart: its lifelines, its ring of rows, its columns
// and its labels. extract_report_chart lets a collector fill it, and draws it.
#include "report/chart/chart.h"
#include "events/events_room.h"
#include "report/text_table.h"
#include <inttypes.h>
#include <stdlib.h>

// ---- lifelines ----

// Returns the object that a lifeline stands for; NULL: none is known.
static const struct extract_object *find_object(const struct chart *chart, enum chart_space space,
                                                uint64_t key, uint64_t seq)
{
    const struct extract_trace *trace = chart->names.trace;

    return space == CHART_THREAD   ? extract_trace_thread_at(trace, key, seq)
           : space == CHART_OBJECT ? extract_trace_object_at(trace, key, seq)
                                   : NULL;
}

// Returns whether another object has taken the address of a lifeline: one with another name.
static bool is_replaced(const struct chart_lifeline *lifeline, const struct extract_object *object)
{
    return lifeline->object && object && object != lifeline->object &&
           strcmp(object->shown, lifeline->object->shown) != 0;
}

uint32_t chart_lifeline(struct chart *chart, enum chart_space space, uint64_t key, uint64_t seq)
{
    uint32_t *place = extract_map_at(&chart->places[space], key);
    const struct extract_object *object =
        seq == UINT64_MAX ? NULL : find_object(chart, space, key, seq);

    if (place && *place && !is_replaced(&chart->lifelines[*place - 1], object)) {
        if (!chart->lifelines[*place - 1].object)
            chart->lifelines[*place - 1].object = object;
        return *place - 1;
    }
    struct chart_lifeline *lifelines =
        place ? extract_grow(chart->lifelines, &chart->lifeline_capacity, chart->lifeline_count,
                             sizeof *lifelines)
              : NULL;
    if (!lifelines || chart->lifeline_count == CHART_NOBODY) {
        chart->has_failed = true;
        return CHART_NOBODY;
    }
    chart->lifelines = lifelines;
    lifelines[chart->lifeline_count++] =
        (struct chart_lifeline){.space = space, .key = key, .seq = seq, .object = object};
    *place = (uint32_t)chart->lifeline_count;
    return *place - 1;
}

// ---- rows ----

static uint64_t push_row(struct chart *chart, const struct chart_row *row)
{
    uint64_t number = chart->left_out + chart->count;

    chart->rows[number % CHART_MAX_ROWS] = *row;
    if (chart->count < CHART_MAX_ROWS)
        chart->count++;
    else
        chart->left_out++;
    return number;
}

// Adds rows for what happened since the last row: a loss, or a restart of the target.
static void add_gap(struct chart *chart, const struct chart_row *next)
{
    struct chart_gap *gap = &chart->gap;
    struct chart_row row = {.kind = CHART_LOSS,
                            .is_timed = next->is_timed,
                            .is_modulo = gap->is_modulo,
                            .type = next->type,
                            .ticks = next->ticks,
                            .seq = next->seq,
                            .value = gap->lost,
                            .waited = -1};

    if (gap->has_gap && chart->count)
        push_row(chart, &row);
    row.kind = CHART_BAND;
    row.type = NULL;
    if (gap->has_restart && chart->count)
        push_row(chart, &row);
    *gap = (struct chart_gap){.has_gap = false};
}

uint64_t chart_add_row(struct chart *chart, const struct chart_row *row)
{
    add_gap(chart, row);
    return push_row(chart, row);
}

struct chart_row *chart_row_at(struct chart *chart, uint64_t number)
{
    bool exists = number >= chart->left_out && number - chart->left_out < chart->count;

    return exists ? &chart->rows[number % CHART_MAX_ROWS] : NULL;
}

// Puts the ring of rows in order, so that the oldest row is the first. Returns false if memory is
// short.
static bool sort_rows(struct chart *chart)
{
    struct chart_row *rows = malloc((chart->count + 1) * sizeof *rows);

    if (!rows)
        return false;
    for (size_t i = 0; i < chart->count; i++)
        rows[i] = chart->rows[(chart->left_out + i) % CHART_MAX_ROWS];
    free(chart->rows);
    chart->rows = rows;
    return true;
}

// ---- columns ----

// Adds the column of a lifeline, or raises the role of the one that is there. Returns false if
// memory is short.
static bool add_column(struct chart *chart, uint32_t number, enum chart_role role, size_t row)
{
    struct chart_lifeline *lifeline = &chart->lifelines[number];

    if (lifeline->column) {
        struct chart_column *column = &chart->columns[lifeline->column - 1];
        column->role = role > column->role ? role : column->role;
        return true;
    }
    struct chart_column *columns =
        extract_grow(chart->columns, &chart->column_capacity, chart->column_count, sizeof *columns);
    if (!columns)
        return false;
    chart->columns = columns;
    const struct extract_object *object = lifeline->object;
    if (chart->is_rkh)
        object = find_object(chart, lifeline->space, lifeline->key, chart->rows[row].seq);
    columns[chart->column_count] = (struct chart_column){
        .lifeline = number,
        .role = role,
        .urgency = extract_trace_urgency(
            chart->names.trace,
            object && lifeline->space != CHART_INTERRUPT ? object->priority : EXTRACT_NO_PRIORITY),
        .first_row = row,
        .order = chart->column_count};
    lifeline->column = ++chart->column_count;
    return true;
}

// Returns the role of a lifeline in a row. An object of RKH receives what is posted to it; the
// receiver of a synchronous call need not be an object.
static enum chart_role role_of(const struct chart *chart, const struct chart_row *row,
                               uint32_t lifeline)
{
    bool is_receiver = lifeline == row->to && row->kind != CHART_SYNCHRONOUS;

    switch (chart->lifelines[lifeline].space) {
    case CHART_ENVIRONMENT:
    case CHART_UNKNOWN:
        return CHART_IS_ENVIRONMENT;
    case CHART_TIMERS:
        return CHART_IS_TIMERS;
    case CHART_INIT:
    case CHART_INTERRUPT:
        return CHART_IS_INTERRUPT;
    case CHART_THREAD:
        return CHART_IS_OBJECT;
    default:
        return !chart->is_rkh ? CHART_IS_STORE : is_receiver ? CHART_IS_OBJECT : CHART_IS_ACTOR;
    }
}

static int compare_columns(const void *a, const void *b)
{
    const struct chart_column *x = a, *y = b;

    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    if (x->urgency != y->urgency)
        return x->urgency < y->urgency ? -1 : 1;
    if (x->first_row != y->first_row)
        return x->first_row < y->first_row ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

// Writes the name of a lifeline.
static void put_name(struct chart *chart, const struct chart_lifeline *lifeline,
                     struct extract_text *texts)
{
    switch (lifeline->space) {
    case CHART_ENVIRONMENT:
        extract_text_puts(texts, "environment");
        break;
    case CHART_TIMERS:
        extract_text_puts(texts, "timers");
        break;
    case CHART_UNKNOWN:
        extract_text_puts(texts, "unknown");
        break;
    case CHART_INIT:
        extract_text_puts(texts, "init");
        break;
    case CHART_INTERRUPT:
        extract_text_puts(texts, "interrupt");
        if (lifeline->key != CHART_NO_NUMBER)
            extract_text_printf(texts, " %" PRIu64, lifeline->key);
        break;
    default:
        if (lifeline->space == CHART_THREAD && lifeline->object) {
            extract_text_puts(texts, lifeline->object->shown);
            break;
        }
        chart->names.seq = lifeline->seq;
        value_names_put(&chart->names, EXTRACT_KIND_OBJECT, lifeline->key, texts);
    }
}

// Finds the columns of all rows, and sorts them: the environment, the timers and the interrupts
// first, then actors, then active objects or threads by priority, and the objects in which messages
// lie. Returns false if memory is short.
static bool find_columns(struct chart *chart)
{
    for (size_t i = 0; i < chart->count; i++) {
        const struct chart_row *row = &chart->rows[i];
        if (row->kind < CHART_ASSERTION &&
            (!add_column(chart, row->from, role_of(chart, row, row->from), i) ||
             !add_column(chart, row->to, role_of(chart, row, row->to), i)))
            return false;
    }
    if (chart->column_count)
        qsort(chart->columns, chart->column_count, sizeof *chart->columns, compare_columns);
    for (size_t i = 0; i < chart->column_count; i++) {
        struct chart_lifeline *lifeline = &chart->lifelines[chart->columns[i].lifeline];
        chart->columns[i].name = chart->texts.used;
        put_name(chart, lifeline, &chart->texts);
        extract_text_putc(&chart->texts, 0);
        lifeline->column = i + 1;
    }
    return !chart->texts.code;
}

// ---- labels ----

static void put_loss(const struct chart *chart, const struct chart_row *row,
                     struct extract_text *text)
{
    const char *what = chart->is_rkh ? "frame" : "event";

    if (row->value)
        extract_text_printf(text, "%s%" PRIu64 " %s%s lost%s", row->is_at_least ? "at least " : "",
                            row->value, what, row->value == 1 ? "" : "s",
                            row->is_modulo ? " (modulo 256)" : "");
    else
        extract_text_printf(text, "%ss missing or damaged", what);
}

// Writes what a call does, and its object.
static void put_call(struct chart *chart, const struct chart_row *row, struct extract_text *text)
{
    bool is_named = row->kind != CHART_WAIT && row->kind != CHART_EXPIRED;

    if (is_named)
        extract_text_escaped(text, row->type->name);
    else
        extract_text_puts(text, row->kind == CHART_WAIT ? "waits" : "timeout");
    if (is_named && row->type->range && row->id)
        text_put_type_number(text, row->type, row->id);
    if (row->value) {
        extract_text_puts(text, ": ");
        value_names_put(&chart->names, EXTRACT_KIND_OBJECT, row->value, text);
    }
    extract_text_puts(text, row->kind == CHART_FAILED ? " fails"
                            : row->is_likely          ? " (likely)"
                                                      : "");
}

void chart_put_label(struct chart *chart, const struct chart_row *row, struct extract_text *text)
{
    struct value_names *names = &chart->names;

    names->seq = row->seq;
    switch (row->kind) {
    case CHART_SYNCHRONOUS:
        value_names_put(names, EXTRACT_KIND_CODE, row->value, text);
        break;
    case CHART_STATE:
        value_names_put(names, EXTRACT_KIND_OBJECT, row->value, text);
        break;
    case CHART_PUT:
    case CHART_TAKE:
    case CHART_WAKE:
    case CHART_EXPIRED:
    case CHART_RECEIVED:
    case CHART_WAIT:
    case CHART_FAILED:
        put_call(chart, row, text);
        break;
    case CHART_ASSERTION:
        extract_text_puts(text, "assertion failed: ");
        extract_text_escaped(text, chart->texts.data + row->text);
        extract_text_printf(text, ".c, line %" PRIu64, row->value);
        break;
    case CHART_LOSS:
        put_loss(chart, row, text);
        break;
    case CHART_BAND:
        extract_text_puts(text, row->type ? row->type->name : "the target was restarted");
        if (row->type && row->value) {
            extract_text_puts(text, ": ");
            value_names_put(names, EXTRACT_KIND_OBJECT, row->value, text);
        }
        break;
    case CHART_NOTE:
        extract_text_puts(text, row->type->name);
        extract_text_puts(text, row->signal_known ? " " : "");
        // fall through
    default:
        if (row->signal_known)
            value_names_put(names, EXTRACT_KIND_SIGNAL, row->value, text);
    }
}

void chart_put_origin(struct chart *chart, const struct chart_row *row, struct extract_text *text)
{
    if (!row->sender_known)
        return;
    extract_text_puts(text, ", from ");
    put_name(chart, &chart->lifelines[row->sender], text);
    if (row->is_timed && row->waited >= 0) {
        extract_text_puts(text, ", +");
        chart_put_time(chart, (uint64_t)row->waited, text);
    }
}

void chart_put_time(const struct chart *chart, uint64_t ticks, struct extract_text *text)
{
    int decimals = chart->hz <= 1000 ? 3 : chart->hz <= 1000000 ? 6 : 9;
    uint32_t unit_ns = decimals == 3 ? 1000000 : decimals == 6 ? 1000 : 1;

    if (!chart->hz) {
        extract_text_dec(text, ticks);
        return;
    }
    struct text_writer_seconds seconds = text_writer_split(ticks, chart->hz);
    extract_text_printf(text, "%" PRIu64 ".%0*" PRIu32, seconds.whole, decimals,
                        seconds.nano / unit_ns);
}

// ---- the report ----

static enum extract_code fail_for_memory(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, "chart", NULL, "out of memory");
}

static enum extract_code make_chart(struct chart *chart, const struct extract_view *view,
                                    struct extract_error *error)
{
    bool is_rkh = strcmp(extract_trace_info(chart->names.trace)->format, "rkh") == 0;
    enum extract_code code = EXTRACT_OK;

    chart->rows = malloc(CHART_MAX_ROWS * sizeof *chart->rows);
    chart->has_failed = !chart->rows;
    for (unsigned i = 0; i < CHART_SPACES; i++)
        chart->has_failed |= !extract_map_init(&chart->places[i], 0);
    if (!chart->has_failed && is_rkh)
        chart->has_failed |= !rkh_chart_collect(chart, view);
    else if (!chart->has_failed)
        code = schedule_chart_collect(chart, view, error);
    if (code)
        return code;
    if (chart->has_failed || chart->texts.code || !sort_rows(chart) || !find_columns(chart))
        return fail_for_memory(error);
    return EXTRACT_OK;
}

static void free_chart(struct chart *chart)
{
    value_names_free(&chart->names);
    extract_text_free(&chart->texts);
    for (unsigned i = 0; i < CHART_SPACES; i++)
        extract_map_free(&chart->places[i]);
    free(chart->rows);
    free(chart->lifelines);
    free(chart->columns);
}

enum extract_code extract_report_chart(struct extract_text *text, const struct extract_view *view,
                                       const struct extract_trace *trace, bool signalling,
                                       const struct extract_report_options *options,
                                       struct extract_report_outcome *outcome,
                                       struct extract_error *error)
{
    struct chart chart = {.hz = options->hz};

    value_names_init(&chart.names, trace);
    extract_text_init(&chart.texts, NULL, NULL);
    enum extract_code code = make_chart(&chart, view, error);
    if (!code && signalling)
        chart_put_signalling(&chart, text);
    else if (!code)
        chart_put_svg(&chart, text);
    if (outcome)
        outcome->undrawn = chart.left_out;
    free_chart(&chart);
    if (code)
        return code;
    if (text->code == EXTRACT_NOMEM)
        return fail_for_memory(error);
    return text->code
               ? extract_error_set(error, text->code, "chart", NULL, "output could not be written")
               : EXTRACT_OK;
}
