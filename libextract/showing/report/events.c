// SPDX-License-Identifier: MIT
// report: the events of a view. Prints them as JSON (RFC 8259), one object per line, or passes the
// view to the text reports: columns, or the lines of Trazer.
//
// Formatting is the hot path of every JSON report, so repeated text is made only once:
//
//   {"seq":7,"ticks":90,…,"context":"thread","thread_name":"comms",…,"event":"…","fields":{…
//    └─ numbers: written ─┘└─ context: from the text cache ────────┘└─ from the plan of its type
//
// A plan holds what all events of one type share: their name and the labels of their fields. The
// text cache holds contexts and the names of values. When the object registry changes within a log,
// the same address may name another object, so the cache is cleared.
#include "events/event_filter.h"
#include "report/columns/columns.h"
#include "report/open_interrupts.h"
#include "report/rkh/trazer.h"
#include "formats/format.h"
#include <stdlib.h>

enum {
    NUMBERS_CAPACITY =
        7 * TEXT_WRITER_NUMBER + 160, // bytes for the numbers of an event, with their keys
    FLAGS_CAPACITY = 64,
    PLAN_BITS = 9,
    PLAN_SLOTS = 1 << PLAN_BITS,
    TIME_CHECKS = 1 << EXTRACT_FILTER_FROM | 1 << EXTRACT_FILTER_TO
};

// A part of a plan. Its bytes are padded for text_writer_piece.
struct part {
    const char *bytes;
    uint32_t length;
};

struct plan {
    const struct extract_event_type *type; // NULL: the slot is free
    uint32_t id;
    struct part head;                      // `,"id":…` to `"fields":{`
    struct part label[EXTRACT_FIELDS_MAX]; // `"label":`; empty if the field has no meaning
    char *bytes;                           // of all parts; owned
};

struct json_report {
    struct text_writer writer;
    struct open_interrupts *interrupts; // NULL: the format does not number interrupts
    struct value_names names;
    struct extract_report_options options;
    struct extract_text scratch; // text that is being made for the cache, a plan or items
    uint64_t printed;            // number of events
    struct plan plans[PLAN_SLOTS];
    struct text_cache cache;
    uint64_t registry; // registry that the cache was filled from
};

// ---- interrupts ----

// Writes the number of the interrupt in which an event occurred, if an entry has shown it.
static void put_interrupt(struct json_report *report, const struct extract_event *event)
{
    uint64_t number;

    if (!report->interrupts || !open_interrupts_find(report->interrupts, event->core, &number))
        return;
    TEXT_WRITER_LITERAL(&report->writer, ",\"isr\":");
    text_writer_dec(&report->writer, number);
}

// ---- contexts and names, from the cache ----

static const struct text_cache_entry *cache_scratch(struct json_report *report, uint64_t key,
                                                    uint32_t tag)
{
    struct extract_text *out = &report->scratch;
    const struct text_cache_entry *cached = NULL;

    extract_text_putc(out, 0);
    if (!out->code && !report->names.found.code)
        cached = text_cache_add(&report->cache, key, tag, out->data, out->used - 1,
                                extract_text_columns(out->data));
    if (!cached)
        report->writer.text->code = EXTRACT_NOMEM;
    return cached;
}

static const struct text_cache_entry *make_context(struct json_report *report,
                                                   const struct extract_event *event, uint64_t key)
{
    struct extract_text *out = &report->scratch;
    const struct extract_object *thread =
        extract_trace_thread_at(report->names.trace, event->thread, event->seq);
    bool is_thread = event->context == EXTRACT_THREAD;
    const char *name = is_thread && thread ? value_name_of_object(thread) : NULL;

    out->used = 0;
    extract_text_puts(out, ",\"context\":\"");
    extract_text_puts(out, extract_context_name((enum extract_context)event->context));
    extract_text_puts(out, "\",\"thread\":");
    if (is_thread)
        extract_text_dec(out, event->thread);
    else
        extract_text_puts(out, "null");
    extract_text_puts(out, ",\"thread_name\":");
    if (name)
        extract_text_json(out, name);
    else
        extract_text_puts(out, "null");
    if (event->context == EXTRACT_ISR) {
        extract_text_puts(out, ",\"interrupted\":");
        if (event->thread)
            extract_text_dec(out, event->thread);
        else
            extract_text_puts(out, "null");
    }
    return cache_scratch(report, key, TEXT_CACHE_CONTEXT + event->context);
}

static inline const struct text_cache_entry *context_text(struct json_report *report,
                                                          const struct extract_event *event)
{
    uint64_t key = event->context == EXTRACT_INIT ? 0 : event->thread;
    const struct text_cache_entry *cached =
        text_cache_find(&report->cache, key, TEXT_CACHE_CONTEXT + event->context);

    return cached ? cached : make_context(report, event, key);
}

// Makes the JSON string of a value's name. It is empty for a value without a name, whose number is
// in the event already.
static const struct text_cache_entry *make_name(struct json_report *report, enum extract_kind kind,
                                                uint64_t value)
{
    const char *name = value_names_find(&report->names, kind, value);

    report->scratch.used = 0;
    if (name)
        extract_text_json(&report->scratch, name);
    return cache_scratch(report, value, TEXT_CACHE_VALUE + (uint32_t)kind);
}

static inline const struct text_cache_entry *name_text(struct json_report *report,
                                                       enum extract_kind kind, uint64_t value)
{
    const struct text_cache_entry *cached =
        text_cache_find(&report->cache, value, TEXT_CACHE_VALUE + (uint32_t)kind);

    return cached ? cached : make_name(report, kind, value);
}

// ---- plans ----

static inline struct plan *plan_slot(struct json_report *report, uint32_t id)
{
    return &report->plans[id * UINT32_C(0x9E3779B1) >> (32 - PLAN_BITS)];
}

// Ends a part that was written to the scratch text from `start` on.
static void end_part(struct extract_text *out, size_t start, struct part *part)
{
    part->length = (uint32_t)(out->used - start);
    extract_text_putc(out, 0);
}

// Makes the plan of an event's type, in place of the one that has its slot. All parts are written
// to the scratch text first, one after another, since only then their place in memory is known.
static const struct plan *make_plan(struct json_report *report, const struct extract_event *event)
{
    struct plan *plan = plan_slot(report, event->id);
    struct extract_text *out = &report->scratch;
    const struct extract_event_type *type = event->type;

    plan->type = NULL;
    out->used = 0;
    extract_text_printf(out, ",\"id\":%u,\"event\":", event->id);
    extract_text_json(out, type->symbol);
    extract_text_printf(out, ",\"class\":\"%s\",\"fields\":{", extract_class_name(type->class_));
    end_part(out, 0, &plan->head);
    for (unsigned i = 0; i < type->fields; i++) {
        size_t start = out->used;
        if (type->field[i].kind != EXTRACT_KIND_NONE) {
            extract_text_json(out, type->field[i].label);
            extract_text_putc(out, ':');
        }
        end_part(out, start, &plan->label[i]);
    }
    extract_text_put(out, text_writer_blank, TEXT_WRITER_BLOCK);

    char *bytes = out->code ? NULL : realloc(plan->bytes, out->used);
    if (!bytes) {
        report->writer.text->code = EXTRACT_NOMEM;
        return NULL;
    }
    memcpy(bytes, out->data, out->used);
    plan->bytes = bytes;
    plan->head.bytes = bytes;
    bytes += plan->head.length + 1;
    for (unsigned i = 0; i < type->fields; i++) {
        plan->label[i].bytes = bytes;
        bytes += plan->label[i].length + 1;
    }
    plan->type = type;
    plan->id = event->id;
    return plan;
}

static inline const struct plan *find_plan(struct json_report *report,
                                           const struct extract_event *event)
{
    const struct plan *plan = plan_slot(report, event->id);

    return plan->type == event->type && plan->id == event->id ? plan : make_plan(report, event);
}

// ---- the members of an event ----

// Writes "null" for a number that is not known.
static void put_optional(struct text_writer *writer, uint64_t number, bool is_known)
{
    if (is_known)
        text_writer_dec(writer, number);
    else
        TEXT_WRITER_LITERAL(writer, "null");
}

static void put_numbers(struct json_report *report, const struct extract_event *event)
{
    struct text_writer *writer = &report->writer;
    bool is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED);

    TEXT_WRITER_LITERAL(writer, "{\"seq\":");
    text_writer_dec(writer, event->seq);
    TEXT_WRITER_LITERAL(writer, ",\"ticks\":");
    put_optional(writer, event->ticks, is_timed);
    if (report->options.hz)
        TEXT_WRITER_LITERAL(writer, ",\"seconds\":");
    if (report->options.hz && !is_timed)
        TEXT_WRITER_LITERAL(writer, "null");
    else if (report->options.hz)
        text_writer_seconds(writer, event->ticks, report->options.hz);
    TEXT_WRITER_LITERAL(writer, ",\"raw_stamp\":");
    text_writer_dec(writer, event->raw_stamp);
    TEXT_WRITER_LITERAL(writer, ",\"core\":");
    text_writer_dec(writer, event->core);
}

// Writes padded text, and reserves space for a number after it.
static bool put_padded(struct text_writer *writer, const char *bytes, uint32_t length)
{
    if (!text_writer_need(writer, length + 1 + TEXT_WRITER_BLOCK + TEXT_WRITER_NUMBER))
        return false;
    text_writer_piece(writer, bytes, length);
    return true;
}

// Writes `"label":`, after a comma unless it is the first, and reserves space for a number.
static bool put_label(struct text_writer *writer, const struct part *label, bool *is_first)
{
    if (!text_writer_need(writer, 1))
        return false;
    if (!*is_first)
        text_writer_char(writer, ',');
    *is_first = false;
    return put_padded(writer, label->bytes, label->length);
}

// Writes a field as a number, or null if the number means nothing.
static void put_field(struct json_report *report, const struct extract_event *event, unsigned i)
{
    put_optional(&report->writer, extract_event_stored(report->names.trace, event, i),
                 report_field_is_number(event, i));
}

static bool put_fields(struct json_report *report, const struct plan *plan,
                       const struct extract_event *event)
{
    bool is_first = true;
    unsigned count = report_fields(event);

    for (unsigned i = 0; i < count; i++) {
        if (!plan->label[i].length)
            continue;
        if (!put_label(&report->writer, &plan->label[i], &is_first))
            return false;
        put_field(report, event, i);
    }
    return true;
}

static bool may_have_name(enum extract_kind kind)
{
    return kind == EXTRACT_KIND_OBJECT || kind == EXTRACT_KIND_CODE ||
           kind == EXTRACT_KIND_STRING || kind == EXTRACT_KIND_WAIT || kind == EXTRACT_KIND_BOOL ||
           kind >= EXTRACT_KIND_THREAD_STATE;
}

// Writes the names of the fields that have one. Timeouts in ticks are skipped before the cache is
// searched: each has another value, so they would fill it.
static bool put_names(struct json_report *report, const struct plan *plan,
                      const struct extract_event *event)
{
    bool is_first = true;
    unsigned count = report_fields(event);

    for (unsigned i = 0; i < count; i++) {
        enum extract_kind kind = event->type->field[i].kind;
        if (!may_have_name(kind) ||
            (kind == EXTRACT_KIND_WAIT && !value_name_of_wait(event->field[i])))
            continue;
        const struct text_cache_entry *name = name_text(report, kind, event->field[i]);
        if (!name)
            return false;
        if (name->length && (!put_label(&report->writer, &plan->label[i], &is_first) ||
                             !put_padded(&report->writer, name->bytes, name->length)))
            return false;
    }
    return true;
}

// Writes the payload as hexadecimal digits, in the order of its bytes.
static bool put_data(struct text_writer *writer, const struct extract_event *event)
{
    static const char digits[] = "0123456789abcdef";

    if (!text_writer_need(writer, 2 * (size_t)event->data_bytes + 128))
        return false;
    TEXT_WRITER_LITERAL(writer, "\"data\":\"");
    for (uint32_t i = 0; i < event->data_bytes; i++) {
        text_writer_char(writer, digits[event->data[i] >> 4]);
        text_writer_char(writer, digits[event->data[i] & 15]);
    }
    TEXT_WRITER_LITERAL(writer, "\",");
    return true;
}

// ---- the items of a user event ----

// Writes one item to the scratch text: a number with its name, a string, or bytes.
static void put_item(void *context, const struct extract_item *item)
{
    struct json_report *report = context;
    struct extract_text *out = &report->scratch;

    extract_text_printf(out, "%s{\"format\":\"%s\",\"value\":", out->used ? "," : "", item->format);
    if (item->kind != EXTRACT_KIND_NONE) {
        const char *name = value_names_find(&report->names, item->kind, item->value);
        extract_text_puts(out, item->negative ? "-" : "");
        extract_text_dec(out, item->value);
        if (name) {
            extract_text_puts(out, ",\"name\":");
            extract_text_json(out, name);
        }
    } else if (item->text) {
        struct extract_text *string = &report->names.found;
        string->used = 0;
        extract_text_put(string, (const char *)item->bytes, item->length);
        extract_text_putc(string, 0);
        if (!string->code)
            extract_text_json(out, string->data);
    } else {
        extract_text_putc(out, '"');
        for (uint32_t i = 0; i < item->length; i++)
            extract_text_printf(out, "%02x", item->bytes[i]);
        extract_text_putc(out, '"');
    }
    extract_text_putc(out, '}');
}

// Writes the items of a user event, with its number and name. Writes nothing for other events.
static bool put_items(struct json_report *report, const struct extract_event *event)
{
    const struct extract_format *format = report->names.ring->format;
    struct extract_text *out = &report->scratch;
    uint32_t number;

    if (extract_event_is_mark(event) || !format->describing ||
        !format->describing->items(event, NULL, NULL, &number))
        return true;
    out->used = 0;
    format->describing->items(event, put_item, report, &number);
    const char *name = value_names_find(&report->names, EXTRACT_KIND_USER_EVENT, number);
    extract_text_printf(out, "],\"user_event\":{\"number\":%u,\"name\":", (unsigned)number);
    if (name)
        extract_text_json(out, name);
    else
        extract_text_puts(out, "null");
    extract_text_puts(out, "},");
    if (out->code || report->names.found.code ||
        !text_writer_need(&report->writer, out->used + 16)) {
        report->writer.text->code = EXTRACT_NOMEM;
        return false;
    }
    TEXT_WRITER_LITERAL(&report->writer, "\"items\":[");
    text_writer_copy(&report->writer, out->data, out->used);
    return true;
}

// ---- the rest of an event ----

// Writes the event that a test event expects (RKH), as a member of the event itself. The head of
// its plan begins with a comma, which is skipped.
static bool put_expected(struct json_report *report, const struct extract_event *event)
{
    struct text_writer *writer = &report->writer;
    struct extract_event expected;

    if (!extract_trace_inner(report->names.trace, event, &expected))
        return true;
    if (!text_writer_need(writer, 64))
        return false;
    TEXT_WRITER_LITERAL(writer, "\"expected\":{");
    if (!put_data(writer, &expected) || !put_items(report, &expected))
        return false;
    const struct plan *plan = find_plan(report, &expected);
    if (!plan || !put_padded(writer, plan->head.bytes + 1, plan->head.length - 1) ||
        !put_fields(report, plan, &expected) || !text_writer_need(writer, TEXT_WRITER_NUMBER))
        return false;
    TEXT_WRITER_LITERAL(writer, "},\"names\":{");
    if (!put_names(report, plan, &expected) || !text_writer_need(writer, TEXT_WRITER_NUMBER))
        return false;
    TEXT_WRITER_LITERAL(writer, "}},");
    return true;
}

// Writes what is known about a loss, with the keys that `info --json` uses for all losses together.
static bool put_loss(struct text_writer *writer, const struct extract_event *event)
{
    bool is_exact = event->field[EXTRACT_LOST_EXACT];
    bool is_known = is_exact || event->fields > EXTRACT_LOST_AT_MOST;
    unsigned at_most = is_exact ? EXTRACT_LOST_AT_LEAST : EXTRACT_LOST_AT_MOST;
    unsigned low = is_exact ? EXTRACT_LOST_AT_LEAST : EXTRACT_LOST_LOW;
    unsigned high = is_exact ? EXTRACT_LOST_AT_LEAST : EXTRACT_LOST_HIGH;

    if (event->id != EXTRACT_ID_LOST)
        return true;
    if (!text_writer_need(writer, 4 * TEXT_WRITER_NUMBER + 128))
        return false;
    TEXT_WRITER_LITERAL(writer, "\"lost_at_least\":");
    text_writer_dec(writer, event->field[EXTRACT_LOST_AT_LEAST]);
    TEXT_WRITER_LITERAL(writer, ",\"lost_at_most\":");
    put_optional(writer, event->field[at_most], is_known);
    TEXT_WRITER_LITERAL(writer, ",\"lost_exact\":");
    if (is_exact)
        TEXT_WRITER_LITERAL(writer, "true");
    else
        TEXT_WRITER_LITERAL(writer, "false");
    TEXT_WRITER_LITERAL(writer, ",\"lost_low\":");
    put_optional(writer, event->field[low], is_known);
    TEXT_WRITER_LITERAL(writer, ",\"lost_high\":");
    put_optional(writer, event->field[high], is_known);
    text_writer_char(writer, ',');
    return true;
}

// Writes the flags and ends the line.
static void put_flags(struct text_writer *writer, const struct extract_event *event)
{
    TEXT_WRITER_LITERAL(writer, "\"flags\":[");
    char *start = writer->at;
    if (event->flags & EXTRACT_FLAG_PROVISIONAL)
        TEXT_WRITER_LITERAL(writer, "\"provisional\",");
    if (event->flags & EXTRACT_FLAG_GAP)
        TEXT_WRITER_LITERAL(writer, "\"gap\",");
    if (event->flags & EXTRACT_FLAG_BACKWARDS)
        TEXT_WRITER_LITERAL(writer, "\"backwards\",");
    writer->at -= writer->at != start; // the last comma
    TEXT_WRITER_LITERAL(writer, "]}\n");
}

// Writes one event as a line. Returns false if the text has failed, with the error in its code.
static bool put_event(struct json_report *report, const struct extract_event *event)
{
    struct text_writer *writer = &report->writer;

    if (!text_writer_need(writer, NUMBERS_CAPACITY))
        return false;
    put_numbers(report, event);
    const struct text_cache_entry *context = context_text(report, event);
    if (!context || !put_padded(writer, context->bytes, context->length) ||
        !text_writer_need(writer, NUMBERS_CAPACITY))
        return false;
    TEXT_WRITER_LITERAL(writer, ",\"priority\":");
    put_optional(writer, event->priority, report_has_priority(event));
    TEXT_WRITER_LITERAL(writer, ",\"threshold\":");
    put_optional(writer, event->threshold, report_has_threshold(event));
    put_interrupt(report, event);

    const struct plan *plan = find_plan(report, event);
    if (!plan || !put_padded(writer, plan->head.bytes, plan->head.length) ||
        !put_fields(report, plan, event) || !text_writer_need(writer, TEXT_WRITER_NUMBER))
        return false;
    TEXT_WRITER_LITERAL(writer, "},\"names\":{");
    if (!put_names(report, plan, event) ||
        !text_writer_need(writer, EXTRACT_FIELDS_MAX * TEXT_WRITER_NUMBER + 128))
        return false;
    TEXT_WRITER_LITERAL(writer, "},\"info\":[");
    for (unsigned i = 0; i < event->fields; i++) {
        if (i)
            text_writer_char(writer, ',');
        put_field(report, event, i);
    }
    TEXT_WRITER_LITERAL(writer, "],");
    if ((event->data && !put_data(writer, event)) || !put_items(report, event) ||
        !put_expected(report, event) || !put_loss(writer, event) ||
        !text_writer_need(writer, FLAGS_CAPACITY))
        return false;
    put_flags(writer, event);
    return true;
}

// ---- the report ----

static bool print_event(struct json_report *report, const struct extract_event *event)
{
    uint64_t registry = extract_trace_naming(report->names.trace, event->seq);

    if (registry != report->registry)
        text_cache_clear(&report->cache);
    report->registry = registry;
    report->names.seq = event->seq;
    report->printed++;
    return put_event(report, event);
}

static bool may_continue(const struct json_report *report)
{
    return !report->options.may_continue || report->options.may_continue(report->options.context);
}

static bool put_events(void *context, const struct extract_event *events, size_t count)
{
    struct json_report *report = context;

    for (size_t i = 0; i < count; i++) {
        if (report->interrupts)
            open_interrupts_enter(report->interrupts, &events[i]);
        if (!print_event(report, &events[i]))
            return false;
        if (report->interrupts)
            open_interrupts_exit(report->interrupts, &events[i]);
    }
    return may_continue(report);
}

// Prints the events that the view lets through. All events show which interrupt each one is in.
static bool put_of_all(void *context, const struct extract_event *events, const uint8_t *standing,
                       size_t count)
{
    struct json_report *report = context;

    for (size_t i = 0; i < count; i++) {
        open_interrupts_enter(report->interrupts, &events[i]);
        if (standing[i] == EXTRACT_LET_THROUGH && !print_event(report, &events[i]))
            return false;
        open_interrupts_exit(report->interrupts, &events[i]);
    }
    return may_continue(report);
}

static enum extract_code print_json(struct extract_text *text, const struct extract_view *view,
                                    const struct extract_trace *trace,
                                    const struct extract_report_options *options,
                                    struct extract_report_outcome *outcome)
{
    struct json_report *report = calloc(1, sizeof *report);
    struct extract_sink sink = {.events = put_events, .context = report};
    bool has_roles = extract_trace_shows_schedule(trace);

    if (report && has_roles)
        report->interrupts = open_interrupts_new(trace);
    if (!report || (has_roles && !report->interrupts)) {
        free(report);
        return text->code = EXTRACT_NOMEM;
    }
    // Conditions on the time alone leave out no event in between. Then a long log need not be read
    // from its start.
    if (has_roles && (!view->checks || view->checks & ~(unsigned)TIME_CHECKS))
        sink.all = put_of_all;
    report->options = *options;
    value_names_init(&report->names, trace);
    extract_text_init(&report->scratch, NULL, NULL);
    text_writer_open(&report->writer, text);
    extract_view_run(view, &sink);
    text_writer_close(&report->writer);
    outcome->shown = report->printed;
    free(report->interrupts);

    for (size_t i = 0; i < PLAN_SLOTS; i++)
        free(report->plans[i].bytes);
    text_cache_clear(&report->cache);
    value_names_free(&report->names);
    extract_text_free(&report->scratch);
    free(report);
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
