// SPDX-License-Identifier: MIT
// report: the events of a view. In: a view. Out: lines of JSON; text is made in columns.
#include "report/columns/columns.h"
#include "report/rkh/trazer.h"
#include <stdlib.h>

static void *failed(struct report *report)
{
    report->writer.text->code = EXTRACT_NOMEM;
    return NULL;
}

// Keeps what stands in the scratch text.
static const struct text_cache_piece *keep_scratch(struct report *report, uint64_t key,
                                                   uint32_t tag)
{
    struct extract_text *out = &report->scratch;
    extract_text_putc(out, 0);
    if (out->code || report->naming.raw.code)
        return failed(report);
    const struct text_cache_piece *piece = text_cache_keep(
        &report->memo, key, tag, out->data, out->used - 1, extract_text_columns(out->data));
    return piece ? piece : failed(report);
}

const struct text_cache_piece *report_make_context(struct report *report,
                                                   const struct extract_event *event, uint64_t key)
{
    report->scratch.used = 0;
    json_context(report, event);
    return keep_scratch(report, key, MEMO_CONTEXT + event->context);
}

const struct text_cache_piece *report_make_value(struct report *report, enum extract_kind kind,
                                                 uint64_t value)
{
    report->scratch.used = 0;
    json_value(report, kind, value);
    return keep_scratch(report, value, MEMO_VALUE + (uint32_t)kind);
}

// The parts' bytes lie in the scratch text, one NUL-ended behind the other, until all are there.
static void close_part(struct extract_text *out, size_t start, struct part *part)
{
    part->length = (uint32_t)(out->used - start);
    extract_text_putc(out, 0);
}

static void make_parts(struct report *report, const struct extract_event *event, struct plan *plan)
{
    struct extract_text *out = &report->scratch;
    out->used = 0;
    json_head(out, event);
    close_part(out, 0, &plan->head);
    for (unsigned i = 0; i < event->type->fields; i++) {
        size_t start = out->used;
        if (event->type->field[i].kind != EXTRACT_KIND_NONE)
            json_label(out, event->type->field[i].label);
        close_part(out, start, &plan->label[i]);
    }
    extract_text_put(out, text_writer_blank, PEN_BLOCK);
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

// Events behind another registry may call the same addresses by other names.
static void enter_event(struct report *report, const struct extract_event *event)
{
    uint64_t registry = extract_trace_registry(report->naming.trace, event->seq);
    if (registry != report->registry)
        text_cache_clear(&report->memo);
    report->registry = registry;
    report->naming.seq = event->seq;
}

static bool print_events(void *context, const struct extract_event *events, size_t count)
{
    struct report *report = context;
    for (size_t i = 0; i < count; i++, report->shown++) {
        enter_event(report, &events[i]);
        if (!json_event(report, &events[i]))
            return false;
    }
    return !report->options.go_on || report->options.go_on(report->options.context);
}

static void free_report(struct report *report)
{
    for (size_t i = 0; i < PLAN_PLACES; i++)
        free(report->plans[i].bytes);
    text_cache_clear(&report->memo);
    value_names_free(&report->naming);
    extract_text_free(&report->scratch);
    free(report);
}

static enum extract_code print_json(struct extract_text *text, const struct extract_view *view,
                                    const struct extract_trace *trace,
                                    const struct extract_report_options *options,
                                    struct extract_report_outcome *outcome)
{
    struct report *report = calloc(1, sizeof *report);
    struct extract_sink sink = {.events = print_events, .context = report};

    if (!report)
        return text->code = EXTRACT_NOMEM;
    report->options = *options;
    value_names_init(&report->naming, trace);
    extract_text_init(&report->scratch, NULL, NULL);
    text_writer_open(&report->writer, text);
    extract_view_run(view, &sink);
    text_writer_close(&report->writer);
    outcome->shown = report->shown;
    free_report(report);
    return text->code;
}

enum extract_code extract_report_events(struct extract_text *text, const struct extract_view *view,
                                        const struct extract_trace *trace,
                                        const struct extract_report_options *options,
                                        struct extract_report_outcome *outcome)
{
    struct extract_report_outcome unread;
    if (!outcome)
        outcome = &unread;
    *outcome = (struct extract_report_outcome){0};
    if (options->json)
        return print_json(text, view, trace, options, outcome);
    if (options->columns && options->columns->trazer)
        return trazer_report(text, view, trace, options, outcome);
    return columns_events(text, view, trace, options, outcome);
}
