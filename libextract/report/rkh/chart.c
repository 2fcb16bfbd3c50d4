// SPDX-License-Identifier: MIT
// report/rkh: collects the message sequence chart of an RKH trace.
//
// All events are followed, since only all together show which post a get belongs to, which state
// an object is in, and which object runs. Those that the view lets through become rows. Rows are
// kept in a ring, so that a long trace leaves the newest. Columns are the objects in these rows.
#include "report/rkh/chart.h"
#include "events/internal.h"
#include <inttypes.h>
#include <stdlib.h>

struct collector {
    struct chart *chart;
    struct rkh_post_queues queues;
    struct extract_map states; // active objects to indices of `state` + 1
    uint64_t *state;           // the state of each active object
    size_t state_count, state_capacity;
    uint64_t running; // active object that processes an event; 0: unknown
    size_t next_row;  // where the next row goes in the ring of rows
    // What happened between the last row and the next:
    bool has_gap, has_restart;
    uint64_t lost;  // frames
    bool is_modulo; // `lost` is known modulo 256
    bool failed;    // out of memory
};

// ---- rows ----

// Adds a row to the ring of rows.
static void add_row(struct collector *c, const struct chart_row *row)
{
    struct chart *chart = c->chart;

    chart->rows[c->next_row] = *row;
    c->next_row = (c->next_row + 1) % CHART_MAX_ROWS;
    if (chart->count < CHART_MAX_ROWS)
        chart->count++;
    else
        chart->left_out++;
}

// Returns a row for an event, from a column to the same column.
static struct chart_row make_row(const struct collector *c, const struct extract_event *event,
                                 enum chart_kind kind, uint64_t column)
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
                              .from = column,
                              .to = column,
                              .waited = -1};
}

// Adds rows for what happened since the last row: a loss, or a restart of the target.
static void add_gap(struct collector *c, const struct extract_event *event)
{
    struct chart_row row = make_row(c, event, CHART_LOSS, CHART_ENVIRONMENT);

    row.value = c->lost;
    row.is_modulo = c->is_modulo;
    if (c->has_gap && c->chart->count)
        add_row(c, &row);
    row.kind = CHART_BAND;
    row.type = NULL;
    if (c->has_restart && c->chart->count)
        add_row(c, &row);
    c->has_gap = c->has_restart = c->is_modulo = false;
    c->lost = 0;
}

// Adds the row of an event, after rows for losses and restarts before it.
static void add_event_row(struct collector *c, const struct extract_event *event,
                          const struct chart_row *row)
{
    add_gap(c, event);
    add_row(c, row);
}

// Adds the row of an event that may name a signal.
static void add_signal_row(struct collector *c, const struct extract_event *event,
                           struct chart_row row)
{
    row.signal_known = rkh_get_field(event, "sig", &row.value);
    add_event_row(c, event, &row);
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
    struct chart_row row = make_row(c, event, CHART_STATE, object);
    row.value = state;
    if (set_state(c, object, state) && is_shown)
        add_event_row(c, event, &row);
}

// ---- messages ----

// Sets the sender of a row; the environment if the event names none.
static void set_sender(struct chart_row *row, const struct extract_event *event)
{
    if (!rkh_get_field(event, "sender", &row->from) || !row->from)
        row->from = CHART_ENVIRONMENT;
}

static void add_post(struct collector *c, const struct extract_event *event, bool is_shown)
{
    enum chart_kind kind = event->id == RKH_SMA_FIFO ? CHART_POST : CHART_POST_FIRST;
    uint64_t object;

    if (!rkh_get_field(event, "ao", &object))
        return;
    struct chart_row row = make_row(c, event, kind, object);
    set_sender(&row, event);
    if (is_shown)
        add_signal_row(c, event, row);
}

static void add_get(struct collector *c, const struct extract_event *event,
                    const struct rkh_post_match *match, bool is_shown)
{
    uint64_t object;

    if (!rkh_get_field(event, "ao", &object))
        return;
    struct chart_row row = make_row(c, event, CHART_GET, object);
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
    struct chart_row row = make_row(c, event, CHART_DONE, object);
    if (c->running == object)
        c->running = 0;
    if (is_shown)
        add_event_row(c, event, &row);
}

// Adds a synchronous call. If the target does not record senders and receivers, the receiver is the
// active object that runs.
static void add_synchronous(struct collector *c, const struct extract_event *event)
{
    uint64_t receiver = c->running;

    rkh_get_field(event, "receiver", &receiver);
    struct chart_row row =
        make_row(c, event, CHART_SYNCHRONOUS, receiver ? receiver : CHART_ENVIRONMENT);
    set_sender(&row, event);
    rkh_get_field(event, "fun", &row.value);
    add_event_row(c, event, &row);
}

static void add_timeout(struct collector *c, const struct extract_event *event)
{
    uint64_t object;

    if (!rkh_get_field(event, "ao", &object))
        return;
    struct chart_row row = make_row(c, event, CHART_TIMEOUT, object);
    row.from = CHART_TIMERS;
    add_signal_row(c, event, row);
}

// ---- notes ----

// Adds a note to the column of one active object. A deferred event does not name it: then it is the
// active object that runs.
static void add_note(struct collector *c, const struct extract_event *event)
{
    uint64_t object = c->running;

    rkh_get_field(event, "ao", &object);
    add_signal_row(c, event, make_row(c, event, CHART_NOTE, object ? object : CHART_ENVIRONMENT));
}

static void add_assertion(struct collector *c, const struct extract_event *event)
{
    struct extract_text *texts = &c->chart->texts;
    struct chart_row row = make_row(c, event, CHART_ASSERTION, CHART_ENVIRONMENT);
    struct rkh_args args;
    struct rkh_item module, line;

    if (!rkh_args_of(&args, event) || !rkh_args_next(&args, &module) ||
        !rkh_args_next(&args, &line))
        return;
    row.value = line.value;
    row.text = texts->used;
    extract_text_put(texts, (const char *)module.bytes, module.length);
    extract_text_putc(texts, 0);
    add_event_row(c, event, &row);
}

static void add_full_queue(struct collector *c, const struct extract_event *event)
{
    struct chart_row row = make_row(c, event, CHART_BAND, CHART_ENVIRONMENT);

    rkh_get_field(event, "q", &row.value);
    add_event_row(c, event, &row);
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
    bool has_gap = event->flags & EXTRACT_FLAG_GAP || extract_event_is_break(event);
    struct rkh_post_match match;

    c->failed |= !rkh_post_queues_add_event(&c->queues, event, &match);
    c->has_gap |= has_gap;
    if (has_gap)
        c->running = 0;
    if (event->id == EXTRACT_ID_LOST) {
        c->lost += event->field[EXTRACT_LOST_AT_LEAST];
        c->is_modulo |= event->field[EXTRACT_LOST_REASON] == EXTRACT_LOSS_NUMBERS;
    }
    c->has_restart |= match.is_start;
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

// Puts the ring of rows in order, so that the oldest row is the first.
static bool sort_rows(struct chart *chart, size_t oldest)
{
    struct chart_row *rows = malloc((chart->count + 1) * sizeof *rows);

    if (!rows)
        return false;
    for (size_t i = 0; i < chart->count; i++)
        rows[i] = chart->rows[(oldest + i) % CHART_MAX_ROWS];
    free(chart->rows);
    chart->rows = rows;
    return true;
}

// Collects the rows of a chart. Returns false if memory is short.
static bool collect_rows(struct chart *chart, const struct extract_view *view)
{
    struct collector c = {.chart = chart};
    struct extract_sink sink = {.all = add_events, .context = &c};

    chart->rows = malloc(CHART_MAX_ROWS * sizeof *chart->rows);
    bool is_done = rkh_post_queues_init(&c.queues);
    is_done = extract_map_init(&c.states, 0) && is_done && chart->rows;
    if (is_done)
        extract_view_run(view, &sink);
    is_done = is_done && !c.failed && sort_rows(chart, chart->left_out ? c.next_row : 0);
    rkh_post_queues_free(&c.queues);
    extract_map_free(&c.states);
    free(c.state);
    return is_done && !chart->texts.code;
}

// ---- columns ----

// Adds a column, or raises the role of the one that is there. Returns false if memory is short.
static bool add_column(struct chart *chart, uint64_t address, enum chart_role role, size_t row)
{
    uint32_t *index = extract_map_at(&chart->by_address, address);

    if (!index)
        return false;
    if (*index) {
        struct chart_column *column = &chart->columns[*index - 1];
        column->role = role > column->role ? role : column->role;
        return true;
    }
    struct chart_column *columns =
        extract_grow(chart->columns, &chart->column_capacity, chart->column_count, sizeof *columns);
    if (!columns)
        return false;
    chart->columns = columns;
    const struct extract_object *object =
        extract_trace_object_at(chart->names.trace, address, chart->rows[row].seq);
    chart->columns[chart->column_count++] = (struct chart_column){
        address, role, object ? object->priority : EXTRACT_NO_PRIORITY, row, 0};
    *index = (uint32_t)chart->column_count;
    return true;
}

static enum chart_role role_of(uint64_t address, bool is_receiver)
{
    if (address == CHART_ENVIRONMENT)
        return CHART_IS_ENVIRONMENT;
    if (address == CHART_TIMERS)
        return CHART_IS_TIMERS;
    return is_receiver ? CHART_IS_OBJECT : CHART_IS_ACTOR;
}

static int compare_columns(const void *a, const void *b)
{
    const struct chart_column *x = a, *y = b;

    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return (x->first_row > y->first_row) - (x->first_row < y->first_row);
}

static void name_column(struct chart *chart, struct chart_column *column)
{
    struct extract_text *texts = &chart->texts;

    column->name = texts->used;
    if (column->address == CHART_ENVIRONMENT)
        extract_text_puts(texts, "environment");
    else if (column->address == CHART_TIMERS)
        extract_text_puts(texts, "timers");
    else
        value_names_put(&chart->names, EXTRACT_KIND_OBJECT, column->address, texts);
    extract_text_putc(texts, 0);
}

// Finds the columns of all rows, and sorts them: the environment and the timers first, then actors,
// then active objects by priority. An object receives what is posted to it; the receiver of a
// synchronous call need not be an object. Returns false if memory is short.
static bool find_columns(struct chart *chart)
{
    for (size_t i = 0; i < chart->count; i++) {
        const struct chart_row *row = &chart->rows[i];
        bool is_call = row->kind == CHART_SYNCHRONOUS;
        if (row->kind < CHART_ASSERTION &&
            (!add_column(chart, row->from, role_of(row->from, row->from == row->to && !is_call),
                         i) ||
             !add_column(chart, row->to, role_of(row->to, !is_call), i)))
            return false;
    }
    if (chart->column_count)
        qsort(chart->columns, chart->column_count, sizeof *chart->columns, compare_columns);
    for (size_t i = 0; i < chart->column_count; i++) {
        name_column(chart, &chart->columns[i]);
        *extract_map_at(&chart->by_address, chart->columns[i].address) = (uint32_t)i + 1;
    }
    return !chart->texts.code;
}

// ---- labels ----

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
    case CHART_ASSERTION:
        extract_text_puts(text, "assertion failed: ");
        extract_text_escaped(text, chart->texts.data + row->text);
        extract_text_printf(text, ".c, line %" PRIu64, row->value);
        break;
    case CHART_LOSS:
        if (row->value)
            extract_text_printf(text, "%" PRIu64 " frame%s lost%s", row->value,
                                row->value == 1 ? "" : "s", row->is_modulo ? " (modulo 256)" : "");
        else
            extract_text_puts(text, "frames missing or damaged");
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

static bool make_chart(struct chart *chart, const struct extract_view *view,
                       const struct extract_trace *trace, uint64_t hz)
{
    const struct extract_rkh *rkh = &extract_trace_snapshot(trace)->ring.rkh;

    *chart = (struct chart){.hz = hz};
    for (unsigned i = 0; i < rkh->layouts; i++)
        chart->is_timed |= rkh->layout[i].value[EXTRACT_RKH_TS] != 0;
    value_names_init(&chart->names, trace);
    extract_text_init(&chart->texts, NULL, NULL);
    return extract_map_init(&chart->by_address, 0) && collect_rows(chart, view) &&
           find_columns(chart);
}

enum extract_code extract_report_chart(struct extract_text *text, const struct extract_view *view,
                                       const struct extract_trace *trace, bool signalling,
                                       const struct extract_report_options *options,
                                       struct extract_report_outcome *outcome,
                                       struct extract_error *error)
{
    const char *format = extract_trace_info(trace)->format;
    struct chart chart;

    if (strcmp(format, "rkh") != 0)
        return extract_error_set(error, EXTRACT_USAGE, "chart",
                                 "use stats or report, which read every format",
                                 "only RKH traces have charts, not traces of format %s", format);
    if (!make_chart(&chart, view, trace, options->hz))
        text->code = EXTRACT_NOMEM;
    else if (signalling)
        chart_put_signalling(&chart, text);
    else
        chart_put_svg(&chart, text);
    if (outcome)
        outcome->undrawn = chart.left_out;

    value_names_free(&chart.names);
    extract_text_free(&chart.texts);
    extract_map_free(&chart.by_address);
    free(chart.rows);
    free(chart.columns);
    if (!text->code)
        return EXTRACT_OK;
    return extract_error_set(error, text->code, "chart", NULL,
                             text->code == EXTRACT_NOMEM ? "out of memory"
                                                         : "output could not be written");
}
