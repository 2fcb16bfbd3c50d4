// SPDX-License-Identifier: MIT
// report: the events of a view. In: a view, twice: once to measure the columns, once to print.
// Out: lines of text or of JSON.
#include "report/room.h"
#include <stdlib.h>

enum { SECONDS_TAIL = 10 }; // ".123456789"

static void *failed(struct report *report)
{
    report->pen.text->code = EXTRACT_NOMEM;
    return NULL;
}

// Keeps what stands in the scratch text.
static const struct memo_piece *keep_scratch(struct report *report, uint64_t key, uint32_t tag)
{
    struct extract_text *out = &report->scratch;
    extract_text_putc(out, 0);
    if (out->code || report->naming.raw.code)
        return failed(report);
    const struct memo_piece *piece = memo_keep(&report->memo, key, tag, out->data, out->used - 1,
                                               extract_text_columns(out->data));
    return piece ? piece : failed(report);
}

const struct memo_piece *report_make_context(struct report *report,
                                             const struct extract_event *event, uint64_t key)
{
    report->scratch.used = 0;
    report->form->context(report, event);
    return keep_scratch(report, key, MEMO_CONTEXT + event->context);
}

const struct memo_piece *report_make_value(struct report *report, enum extract_kind kind,
                                           uint64_t value)
{
    report->scratch.used = 0;
    report->form->value(report, kind, value);
    return keep_scratch(report, value, MEMO_VALUE + (uint32_t)kind);
}

// The parts' bytes lie in the scratch text, one NUL-ended behind the other, until all are there.
static void close_part(struct extract_text *out, size_t start, struct part *part)
{
    part->length = (uint32_t)(out->used - start);
    extract_text_putc(out, 0);
    part->columns = out->code ? 0 : (uint32_t)extract_text_columns(out->data + start);
}

static void make_parts(struct report *report, const struct extract_event *event, struct plan *plan)
{
    struct extract_text *out = &report->scratch;
    out->used = 0;
    report->form->head(out, event);
    close_part(out, 0, &plan->head);
    for (unsigned i = 0; i < event->type->fields; i++) {
        size_t start = out->used;
        if (event->type->field[i].kind != EXTRACT_KIND_NONE)
            report->form->label(out, event->type->field[i].label);
        close_part(out, start, &plan->label[i]);
    }
    extract_text_put(out, pen_blank, PEN_BLOCK);
}

const struct plan *report_make_plan(struct report *report, const struct extract_event *event)
{
    struct plan *plan = report_plan_place(report, event->id);
    const struct extract_text *out = &report->scratch;

    plan->type = NULL;
    make_parts(report, event, plan);
    char *bytes = out->code ? NULL : realloc(plan->bytes, out->used);
    if (!bytes)
        return failed(report);
    memcpy(bytes, out->data, out->used);
    plan->bytes = bytes;
    plan->head.bytes = bytes;
    bytes += plan->head.length + 1;
    for (unsigned i = 0; i < event->type->fields; i++) {
        plan->label[i].bytes = bytes;
        bytes += plan->label[i].length + 1;
    }
    plan->type = event->type;
    plan->id = event->id;
    return plan;
}

static void widen(unsigned *width, unsigned columns)
{
    *width = *width < columns ? columns : *width;
}

static unsigned time_columns(const struct report *report, uint64_t ticks)
{
    uint64_t hz = report->options.hz;
    return hz ? pen_digits(ticks / hz) + SECONDS_TAIL : pen_digits(ticks);
}

static unsigned priority_columns(const struct extract_event *event)
{
    unsigned columns = report_has_priority(event) ? pen_digits(event->priority) : 1;
    if (report_has_threshold(event) && event->threshold != event->priority)
        columns += 1 + pen_digits(event->threshold);
    return columns;
}

// What is larger than everything before it asks for a division; little else does.
struct survey {
    struct report *report;
    uint64_t most_ticks, most_delta;
};

// Events behind another registry may call the same addresses by other names.
static void enter_event(struct report *report, const struct extract_event *event)
{
    uint64_t registry = extract_trace_registry(report->naming.trace, event->seq);
    if (registry != report->registry)
        memo_clear(&report->memo);
    report->registry = registry;
    report->naming.seq = event->seq;
}

static bool survey_events(void *context, const struct extract_event *events, size_t count)
{
    struct survey *survey = context;
    struct report *report = survey->report;
    struct widths *w = &report->widths;

    for (size_t i = 0; i < count; i++) {
        const struct extract_event *event = &events[i];
        uint64_t last = report->first ? event->ticks : report->last_ticks;
        uint64_t delta = event->ticks < last ? last - event->ticks : event->ticks - last;
        survey->most_ticks = event->ticks > survey->most_ticks ? event->ticks : survey->most_ticks;
        survey->most_delta = delta > survey->most_delta ? delta : survey->most_delta;
        report->last_ticks = event->ticks;
        report->first = false;
        enter_event(report, event);
        const struct memo_piece *piece = report_context(report, event);
        const struct plan *plan = piece ? report_plan(report, event) : NULL;
        if (!plan)
            return false;
        widen(&w->context, piece->columns);
        widen(&w->type, plan->head.columns);
        widen(&w->priority, priority_columns(event));
        w->cores |= event->core != 0;
    }
    widen(&w->seq, pen_digits(events[count - 1].seq));
    return true;
}

// Column widths for the events of the view; at least those of the heads.
static void survey_view(struct report *report, const struct extract_view *view)
{
    struct survey survey = {report, 0, 0};
    struct extract_sink sink = {.events = survey_events, .context = &survey};
    struct widths *w = &report->widths;

    *w = (struct widths){.seq = 3, .time = 5, .delta = 5, .context = 7, .priority = 4, .type = 12};
    if (report->options.hz)
        w->time = 7;
    extract_view_run(view, &sink);
    widen(&w->time, time_columns(report, survey.most_ticks));
    widen(&w->delta, 1 + time_columns(report, survey.most_delta));
    report->first = true;
}

static bool print_events(void *context, const struct extract_event *events, size_t count)
{
    struct report *report = context;
    bool (*put)(struct report *, const struct extract_event *) = report->form->event;
    for (size_t i = 0; i < count; i++, report->shown++) {
        enter_event(report, &events[i]);
        if (!put(report, &events[i]))
            return false;
    }
    return true;
}

static void free_report(struct report *report)
{
    for (size_t i = 0; i < PLAN_PLACES; i++)
        free(report->plans[i].bytes);
    memo_clear(&report->memo);
    naming_free(&report->naming);
    extract_text_free(&report->scratch);
    free(report);
}

enum extract_code extract_report_events(struct extract_text *text, const struct extract_view *view,
                                        const struct extract_trace *trace,
                                        const struct extract_report_options *options,
                                        uint64_t *shown)
{
    struct report *report = calloc(1, sizeof *report);
    struct extract_sink sink = {.events = print_events, .context = report};

    if (shown)
        *shown = 0;
    if (!report)
        return text->code = EXTRACT_NOMEM;
    report->options = *options;
    report->form = options->json ? &report_json : &report_lines;
    report->first = true;
    naming_init(&report->naming, trace);
    extract_text_init(&report->scratch, NULL, NULL);
    pen_open(&report->pen, text);
    if (!options->json)
        survey_view(report, view);
    if (!options->json && !options->no_header)
        lines_head(report);
    if (!text->code)
        extract_view_run(view, &sink);
    pen_close(&report->pen);
    if (shown)
        *shown = report->shown;
    free_report(report);
    return text->code;
}
