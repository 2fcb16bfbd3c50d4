// SPDX-License-Identifier: MIT
// report/rkh: the message sequence chart. In: a view of an RKH trace. Out: rows, of what was sent
// and what changed, and columns, of who took part; then one of the forms of a chart.
#include "report/rkh/chart.h"
#include <inttypes.h>
#include <stdlib.h>

// A chart that is being collected.
struct collector {
    struct chart *chart;
    struct rkh_post_queues model;
    struct extract_map states; // what an active object is in, as an index of `state` + 1
    uint64_t *state;
    size_t state_count, state_room;
    uint64_t running;    // the active object that processes an event; 0: none is known to
    size_t next;         // place of the next row
    uint64_t lost;       // frames, in front of the next row
    bool gap, restarted; // frames are missing, the target began again, in front of the next row
    bool modulo;         // `lost` is one modulo 256
    bool failed;         // out of memory
};

static void add_row(struct collector *c, const struct chart_row *row)
{
    struct chart *chart = c->chart;
    chart->rows[c->next] = *row;
    c->next = (c->next + 1) % CHART_ROWS;
    if (chart->count < CHART_ROWS)
        chart->count++;
    else
        chart->left_out++;
}

static struct chart_row row_of(const struct collector *c, const struct extract_event *event,
                               enum chart_kind kind, uint64_t to)
{
    const struct extract_ring *ring = c->chart->names.ring;
    bool is_timed = extract_event_is_mark(event)
                        ? c->chart->timed
                        : rkh_layout_at(ring, event)->value[EXTRACT_RKH_TS] != 0;
    return (struct chart_row){.kind = kind,
                              .timed = is_timed,
                              .type = event->type,
                              .ticks = event->ticks,
                              .seq = event->seq,
                              .from = to,
                              .to = to,
                              .waited = -1};
}

// What lies between the row in front and the one that comes, by the filter or not.
static void add_gap(struct collector *c, const struct extract_event *event)
{
    struct chart_row row = row_of(c, event, CHART_LOSS, CHART_ENVIRONMENT);
    row.value = c->lost;
    row.modulo = c->modulo;
    if (c->gap && c->chart->count)
        add_row(c, &row);
    row.kind = CHART_BAND;
    row.type = NULL;
    if (c->restarted && c->chart->count)
        add_row(c, &row);
    c->gap = c->restarted = c->modulo = false;
    c->lost = 0;
}

static void add(struct collector *c, const struct extract_event *event, struct chart_row row)
{
    row.signal_known = rkh_get_field(event, "sig", &row.value);
    add_gap(c, event);
    add_row(c, &row);
}

// ---- the states that hold ----

// Whether a state is another one than before; false too when memory is short.
static bool changes_state(struct collector *c, uint64_t object, uint64_t state)
{
    uint32_t *place = extract_map_at(&c->states, object);
    if (place && *place) {
        bool changes = c->state[*place - 1] != state;
        c->state[*place - 1] = state;
        return changes;
    }
    uint64_t *states =
        place ? extract_grow(c->state, &c->state_room, c->state_count, sizeof *states) : NULL;
    if (!states) {
        c->failed = true;
        return false;
    }
    c->state = states;
    c->state[c->state_count++] = state;
    *place = (uint32_t)c->state_count;
    return true;
}

static void take_state(struct collector *c, const struct extract_event *event, bool shown)
{
    uint64_t object, state;
    if (!rkh_get_field(event, "ao", &object) || !rkh_get_field(event, "nxtst", &state))
        return;
    struct chart_row row = row_of(c, event, CHART_STATE, object);
    row.value = state;
    if (changes_state(c, object, state) && shown) {
        add_gap(c, event);
        add_row(c, &row);
    }
}

// ---- events to rows ----

static void take_message(struct collector *c, const struct extract_event *event,
                         const struct rkh_post_match *match, bool shown)
{
    uint64_t object;
    if (!rkh_get_field(event, "ao", &object))
        return;
    bool get = event->id == RKH_SMA_GET;
    struct chart_row row = row_of(c, event,
                                  get                         ? CHART_GET
                                  : event->id == RKH_SMA_FIFO ? CHART_POST
                                                              : CHART_POST_FIRST,
                                  object);
    if (!get && (!rkh_get_field(event, "sender", &row.from) || !row.from))
        row.from = CHART_ENVIRONMENT;
    if (get && match->post && match->is_sure && event->ticks >= match->post->ticks)
        row.waited = (int64_t)(event->ticks - match->post->ticks);
    if (get)
        c->running = object;
    if (shown)
        add(c, event, row);
}

static void take_synchronous(struct collector *c, const struct extract_event *event)
{
    uint64_t receiver = c->running;
    rkh_get_field(event, "receiver", &receiver);
    struct chart_row row =
        row_of(c, event, CHART_SYNCHRONOUS, receiver ? receiver : CHART_ENVIRONMENT);
    if (!rkh_get_field(event, "sender", &row.from) || !row.from)
        row.from = CHART_ENVIRONMENT;
    rkh_get_field(event, "fun", &row.value);
    add_gap(c, event);
    add_row(c, &row);
}

static void take_assertion(struct collector *c, const struct extract_event *event)
{
    struct extract_text *texts = &c->chart->texts;
    struct rkh_args args;
    struct rkh_item module, line;
    struct chart_row row = row_of(c, event, CHART_ASSERTION, CHART_ENVIRONMENT);
    if (!rkh_args_of(&args, event) || !rkh_args_next(&args, &module) ||
        !rkh_args_next(&args, &line))
        return;
    row.value = line.value;
    row.text = texts->used;
    extract_text_put(texts, (const char *)module.bytes, module.length);
    extract_text_putc(texts, 0);
    add_gap(c, event);
    add_row(c, &row);
}

// What is said at the line of one active object: of a deferred event, the one that runs.
static void take_note(struct collector *c, const struct extract_event *event)
{
    uint64_t object = c->running;
    rkh_get_field(event, "ao", &object);
    add(c, event, row_of(c, event, CHART_NOTE, object ? object : CHART_ENVIRONMENT));
}

static void take_timeout(struct collector *c, const struct extract_event *event)
{
    uint64_t object;
    if (!rkh_get_field(event, "ao", &object))
        return;
    struct chart_row row = row_of(c, event, CHART_TIMEOUT, object);
    row.from = CHART_TIMERS;
    add(c, event, row);
}

static void take_band(struct collector *c, const struct extract_event *event)
{
    struct chart_row row = row_of(c, event, CHART_BAND, CHART_ENVIRONMENT);
    rkh_get_field(event, "q", &row.value);
    add_gap(c, event);
    add_row(c, &row);
}

static void take_processed(struct collector *c, const struct extract_event *event, bool shown)
{
    uint64_t object;
    if (!rkh_get_field(event, "ao", &object))
        return;
    struct chart_row row = row_of(c, event, CHART_DONE, object);
    if (c->running == object)
        c->running = 0;
    if (shown) {
        add_gap(c, event);
        add_row(c, &row);
    }
}

static void take_shown(struct collector *c, const struct extract_event *event)
{
    switch (event->id) {
    case RKH_TMR_TOUT:
        take_timeout(c, event);
        break;
    case RKH_FWK_SYNC_EVT:
        take_synchronous(c, event);
        break;
    case RKH_FWK_ASSERT:
        take_assertion(c, event);
        break;
    case RKH_QUE_FULL:
        take_band(c, event);
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
        take_note(c, event);
        break;
    default:
        break;
    }
}

static void take_event(struct collector *c, const struct extract_event *event, bool shown)
{
    struct rkh_post_match match;
    bool gap = event->flags & EXTRACT_FLAG_GAP || extract_event_is_break(event);
    c->failed |= !rkh_post_queues_add_event(&c->model, event, &match);
    c->gap |= gap;
    if (gap)
        c->running = 0;
    if (event->id == EXTRACT_ID_LOST) {
        c->lost += event->field[1];
        c->modulo |= event->field[0] == EXTRACT_LOSS_NUMBERS;
    }
    if (event->id == RKH_FWK_TCFG)
        c->restarted = true;
    if (event->id >= RKH_SMA_GET && event->id <= RKH_SMA_LIFO)
        take_message(c, event, &match, shown);
    else if (event->id == RKH_SM_STATE)
        take_state(c, event, shown);
    else if (event->id == RKH_SM_EVT_PROC)
        take_processed(c, event, shown);
    else if (shown)
        take_shown(c, event);
}

static bool take_events(void *context, const struct extract_event *events, const uint8_t *standing,
                        size_t count)
{
    struct collector *c = context;
    for (size_t i = 0; i < count && !c->failed; i++)
        take_event(c, &events[i], standing[i] == EXTRACT_LET_THROUGH);
    return !c->failed;
}

// ---- columns ----

static bool add_column(struct chart *chart, uint64_t address, enum chart_role role, size_t row)
{
    uint32_t *place = extract_map_at(&chart->by_address, address);
    if (!place)
        return false;
    if (*place) {
        struct chart_column *column = &chart->columns[*place - 1];
        column->role = role > column->role ? role : column->role;
        return true;
    }
    struct chart_column *columns =
        extract_grow(chart->columns, &chart->column_room, chart->column_count, sizeof *columns);
    if (!columns)
        return false;
    chart->columns = columns;
    const struct extract_object *object =
        extract_trace_object_at(chart->names.trace, address, chart->rows[row].seq);
    chart->columns[chart->column_count++] = (struct chart_column){
        address, role, object ? object->priority : EXTRACT_NO_PRIORITY, row, 0};
    *place = (uint32_t)chart->column_count;
    return true;
}

static enum chart_role role_of(uint64_t address, bool receives)
{
    if (address == CHART_ENVIRONMENT)
        return CHART_IS_ENVIRONMENT;
    if (address == CHART_TIMERS)
        return CHART_IS_TIMERS;
    return receives ? CHART_IS_OBJECT : CHART_IS_ACTOR;
}

static int by_role(const void *a, const void *b)
{
    const struct chart_column *x = a, *y = b;
    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
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

// Who took part in the rows: first what is around the system, then active objects by priority.
static bool find_columns(struct chart *chart)
{
    for (size_t i = 0; i < chart->count; i++) {
        const struct chart_row *row = &chart->rows[i];
        bool call = row->kind == CHART_SYNCHRONOUS;
        if (row->kind < CHART_ASSERTION &&
            (!add_column(chart, row->from, role_of(row->from, row->from == row->to && !call), i) ||
             !add_column(chart, row->to, role_of(row->to, !call), i)))
            return false;
    }
    if (chart->column_count)
        qsort(chart->columns, chart->column_count, sizeof *chart->columns, by_role);
    for (size_t i = 0; i < chart->column_count; i++) {
        name_column(chart, &chart->columns[i]);
        *extract_map_at(&chart->by_address, chart->columns[i].address) = (uint32_t)i + 1;
    }
    return !chart->texts.code;
}

// ---- what both forms say ----

static void put_signal(struct chart *chart, const struct chart_row *row, struct extract_text *text)
{
    if (row->signal_known)
        value_names_put(&chart->names, EXTRACT_KIND_SIGNAL, row->value, text);
}

static void put_loss(const struct chart_row *row, struct extract_text *text)
{
    if (row->value)
        extract_text_printf(text, "%" PRIu64 " frame%s lost%s", row->value,
                            row->value == 1 ? "" : "s", row->modulo ? " (modulo 256)" : "");
    else
        extract_text_puts(text, "frames missing or damaged");
}

static void put_band(struct chart *chart, const struct chart_row *row, struct extract_text *text)
{
    extract_text_puts(text, row->type ? row->type->name : "the target was restarted");
    if (row->type && row->value) {
        extract_text_puts(text, ": ");
        value_names_put(&chart->names, EXTRACT_KIND_OBJECT, row->value, text);
    }
}

void chart_put_label(struct chart *chart, const struct chart_row *row, struct extract_text *text)
{
    chart->names.seq = row->seq;
    switch (row->kind) {
    case CHART_SYNCHRONOUS:
        value_names_put(&chart->names, EXTRACT_KIND_CODE, row->value, text);
        break;
    case CHART_STATE:
        value_names_put(&chart->names, EXTRACT_KIND_OBJECT, row->value, text);
        break;
    case CHART_NOTE:
        extract_text_puts(text, row->type->name);
        extract_text_puts(text, row->signal_known ? " " : "");
        put_signal(chart, row, text);
        break;
    case CHART_ASSERTION:
        extract_text_puts(text, "assertion failed: ");
        extract_text_escaped(text, chart->texts.data + row->text);
        extract_text_printf(text, ".c, line %" PRIu64, row->value);
        break;
    case CHART_LOSS:
        put_loss(row, text);
        break;
    case CHART_BAND:
        put_band(chart, row, text);
        break;
    default:
        put_signal(chart, row, text);
    }
}

// As many decimals as the clock has.
void chart_put_time(const struct chart *chart, uint64_t ticks, struct extract_text *text)
{
    if (!chart->hz) {
        extract_text_dec(text, ticks);
        return;
    }
    struct text_writer_seconds s = text_writer_split(ticks, chart->hz);
    int decimals = chart->hz <= 1000 ? 3 : chart->hz <= 1000000 ? 6 : 9;
    uint32_t unit = decimals == 3 ? 1000000 : decimals == 6 ? 1000 : 1;
    extract_text_printf(text, "%" PRIu64 ".%0*" PRIu32, s.whole, decimals, s.nano / unit);
}

// ---- the whole ----

// Rows that went round begin behind the newest.
static bool unroll(struct chart *chart, size_t oldest)
{
    struct chart_row *rows = malloc((chart->count + 1) * sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < chart->count; i++)
        rows[i] = chart->rows[(oldest + i) % CHART_ROWS];
    free(chart->rows);
    chart->rows = rows;
    return true;
}

static bool collect(struct chart *chart, const struct extract_view *view)
{
    struct collector c = {.chart = chart};
    struct extract_sink sink = {.all = take_events, .context = &c};
    chart->rows = malloc(CHART_ROWS * sizeof *chart->rows);
    bool fits = rkh_post_queues_init(&c.model);
    fits = extract_map_init(&c.states, 0) && fits && chart->rows;
    if (fits)
        extract_view_run(view, &sink);
    fits = fits && !c.failed && unroll(chart, chart->left_out ? c.next : 0);
    rkh_post_queues_free(&c.model);
    extract_map_free(&c.states);
    free(c.state);
    return fits && !chart->texts.code;
}

static enum extract_code chart_make(struct chart *chart, const struct extract_view *view,
                                    const struct extract_trace *trace, uint64_t hz)
{
    const struct extract_rkh *rkh = &extract_trace_snapshot(trace)->ring.rkh;
    *chart = (struct chart){.hz = hz};
    for (unsigned i = 0; i < rkh->layouts; i++)
        chart->timed |= rkh->layout[i].value[EXTRACT_RKH_TS] != 0;
    value_names_init(&chart->names, trace);
    extract_text_init(&chart->texts, NULL, NULL);
    bool fits = extract_map_init(&chart->by_address, 0) && collect(chart, view);
    return fits && find_columns(chart) ? EXTRACT_OK : EXTRACT_NOMEM;
}

static void chart_free(struct chart *chart)
{
    value_names_free(&chart->names);
    extract_text_free(&chart->texts);
    extract_map_free(&chart->by_address);
    free(chart->rows);
    free(chart->columns);
}

enum extract_code extract_report_chart(struct extract_text *text, const struct extract_view *view,
                                       const struct extract_trace *trace, bool signalling,
                                       const struct extract_report_options *options,
                                       struct extract_report_outcome *outcome,
                                       struct extract_error *error)
{
    const char *format = extract_trace_info(trace)->format;
    struct chart chart;
    if (strcmp(format, "rkh"))
        return extract_error_set(error, EXTRACT_USAGE, "chart",
                                 "stats and report read every format",
                                 "it is for RKH, the trace is one of format %s", format);
    if (chart_make(&chart, view, trace, options->hz))
        text->code = EXTRACT_NOMEM;
    else if (signalling)
        chart_put_signalling(&chart, text);
    else
        chart_put_svg(&chart, text);
    if (outcome)
        outcome->undrawn = chart.left_out;
    chart_free(&chart);
    return text->code ? extract_error_set(error, text->code, "chart", NULL,
                                          text->code == EXTRACT_NOMEM ? "out of memory"
                                                                      : "it could not be written")
                      : EXTRACT_OK;
}
