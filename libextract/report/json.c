// SPDX-License-Identifier: MIT
// report: events as JSON lines (RFC 8259; one object a line). In: events. Out: one object each.
#include "events/internal.h"
#include "report/internal.h"

enum { NUMBERS_ROOM = 7 * PEN_NUMBER + 160, FLAGS_ROOM = 64 };

void json_context(struct report *report, const struct extract_event *event)
{
    struct extract_text *out = &report->scratch;
    const struct extract_object *thread =
        extract_trace_thread_at(report->naming.trace, event->thread, event->seq);
    bool in_thread = event->context == EXTRACT_THREAD;
    const char *name = in_thread && thread ? value_names_of(thread) : NULL;

    extract_text_puts(out, ",\"context\":\"");
    extract_text_puts(out, extract_context_name((enum extract_context)event->context));
    extract_text_puts(out, "\",\"thread\":");
    if (in_thread)
        extract_text_dec(out, event->thread);
    else
        extract_text_puts(out, "null");
    extract_text_puts(out, ",\"thread_name\":");
    if (name)
        extract_text_json(out, name);
    else
        extract_text_puts(out, "null");
    if (event->context != EXTRACT_ISR)
        return;
    extract_text_puts(out, ",\"interrupted\":");
    if (event->thread)
        extract_text_dec(out, event->thread);
    else
        extract_text_puts(out, "null");
}

void json_head(struct extract_text *out, const struct extract_event *event)
{
    extract_text_printf(out, ",\"id\":%u,\"event\":", event->id);
    extract_text_json(out, event->type->symbol);
    extract_text_printf(out, ",\"class\":\"%s\",\"fields\":{",
                        extract_class_name(event->type->class_));
}

void json_label(struct extract_text *out, const char *label)
{
    extract_text_json(out, label);
    extract_text_putc(out, ':');
}

// Nothing for a value without a name: its number is there already.
void json_value(struct report *report, enum extract_kind kind, uint64_t value)
{
    const char *name = value_names_find(&report->naming, kind, value);
    if (name)
        extract_text_json(&report->scratch, name);
}

static void put_numbers(struct report *report, const struct extract_event *event)
{
    struct text_writer *writer = &report->writer;
    PEN_LITERAL(writer, "{\"seq\":");
    text_writer_dec(writer, event->seq);
    PEN_LITERAL(writer, ",\"ticks\":");
    bool is_untimed = event->flags & EXTRACT_FLAG_UNTIMED;
    if (is_untimed)
        PEN_LITERAL(writer, "null");
    else
        text_writer_dec(writer, event->ticks);
    if (report->options.hz)
        PEN_LITERAL(writer, ",\"seconds\":");
    if (report->options.hz && is_untimed)
        PEN_LITERAL(writer, "null");
    else if (report->options.hz)
        text_writer_seconds(writer, event->ticks, report->options.hz);
    PEN_LITERAL(writer, ",\"raw_stamp\":");
    text_writer_dec(writer, event->raw_stamp);
    PEN_LITERAL(writer, ",\"core\":");
    text_writer_dec(writer, event->core);
}

static void put_priority(struct text_writer *writer, bool known, uint16_t value)
{
    if (known)
        text_writer_dec(writer, value);
    else
        PEN_LITERAL(writer, "null");
}

static bool put_piece(struct text_writer *writer, const char *bytes, uint32_t length)
{
    if (!text_writer_need(writer, length + 1 + PEN_BLOCK + PEN_NUMBER))
        return false;
    text_writer_piece(writer, bytes, length);
    return true;
}

static bool put_context(struct report *report, const struct extract_event *event)
{
    const struct text_cache_piece *piece = report_context(report, event);
    return piece && put_piece(&report->writer, piece->bytes, piece->length);
}

// `"label":`, behind a comma when it is not the first; room for a number is left.
static bool put_label(struct text_writer *writer, const struct part *label, bool *first)
{
    if (!text_writer_need(writer, 1))
        return false;
    if (!*first)
        text_writer_char(writer, ',');
    *first = false;
    return put_piece(writer, label->bytes, label->length);
}

// The i-th field as a number, or null where an event is of no pool.
static void put_field(struct text_writer *writer, const struct extract_event *event, unsigned i)
{
    bool has_kind = i < event->type->fields;
    if (has_kind && event->type->field[i].kind == EXTRACT_KIND_POOL &&
        event->field[i] == EXTRACT_NO_POOL)
        PEN_LITERAL(writer, "null");
    else
        text_writer_dec(writer, event->field[i]);
}

static bool put_fields(struct report *report, const struct plan *plan,
                       const struct extract_event *event)
{
    bool first = true;
    unsigned count = report_fields(event);
    for (unsigned i = 0; i < count; i++) {
        if (!plan->label[i].length) // it has no meaning for this type
            continue;
        if (!put_label(&report->writer, &plan->label[i], &first))
            return false;
        put_field(&report->writer, event, i);
    }
    return true;
}

static bool may_have_name(enum extract_kind kind)
{
    return kind == EXTRACT_KIND_OBJECT || kind == EXTRACT_KIND_CODE ||
           kind == EXTRACT_KIND_STRING || kind == EXTRACT_KIND_WAIT || kind == EXTRACT_KIND_BOOL ||
           kind >= EXTRACT_KIND_THREAD_STATE;
}

static bool put_names(struct report *report, const struct plan *plan,
                      const struct extract_event *event)
{
    bool first = true;
    unsigned count = report_fields(event);
    for (unsigned i = 0; i < count; i++) {
        enum extract_kind kind = event->type->field[i].kind;
        if (!may_have_name(kind) ||
            (kind == EXTRACT_KIND_WAIT && !value_names_wait(event->field[i])))
            continue; // numbers of ticks would fill the memo
        const struct text_cache_piece *name = report_value(report, kind, event->field[i]);
        if (!name)
            return false;
        if (name->length && (!put_label(&report->writer, &plan->label[i], &first) ||
                             !put_piece(&report->writer, name->bytes, name->length)))
            return false;
    }
    return true;
}

// The payload as hexadecimal digits, in the order of its bytes.
static bool put_data(struct text_writer *writer, const struct extract_event *event)
{
    static const char digits[] = "0123456789abcdef";
    if (!text_writer_need(writer, 2 * (size_t)event->data_bytes + 128))
        return false;
    PEN_LITERAL(writer, "\"data\":\"");
    for (uint32_t i = 0; i < event->data_bytes; i++) {
        text_writer_char(writer, digits[event->data[i] >> 4]);
        text_writer_char(writer, digits[event->data[i] & 15]);
    }
    PEN_LITERAL(writer, "\",");
    return true;
}

// ---- items ----

static void put_text_item(struct report *report, const struct extract_item *item)
{
    struct extract_text *raw = &report->naming.raw;
    raw->used = 0;
    extract_text_put(raw, (const char *)item->bytes, item->length);
    extract_text_putc(raw, 0);
    if (!raw->code)
        extract_text_json(&report->scratch, raw->data);
}

static void put_bytes_item(struct report *report, const struct extract_item *item)
{
    extract_text_putc(&report->scratch, '"');
    for (uint32_t i = 0; i < item->length; i++)
        extract_text_printf(&report->scratch, "%02x", item->bytes[i]);
    extract_text_putc(&report->scratch, '"');
}

static void put_number_item(struct report *report, const struct extract_item *item)
{
    const char *name = value_names_find(&report->naming, item->kind, item->value);
    extract_text_puts(&report->scratch, item->negative ? "-" : "");
    extract_text_dec(&report->scratch, item->value);
    if (name) {
        extract_text_puts(&report->scratch, ",\"name\":");
        extract_text_json(&report->scratch, name);
    }
}

// Items are written to the scratch text.
static void put_item(void *context, const struct extract_item *item)
{
    struct report *report = context;
    struct extract_text *out = &report->scratch;
    extract_text_printf(out, "%s{\"format\":\"%s\",\"value\":", out->used ? "," : "", item->format);
    if (item->kind != EXTRACT_KIND_NONE)
        put_number_item(report, item);
    else if (item->text)
        put_text_item(report, item);
    else
        put_bytes_item(report, item);
    extract_text_putc(out, '}');
}

// What a user event is called, and its items.
static bool put_items(struct report *report, const struct extract_event *event)
{
    const struct extract_format *format = report->naming.ring->format;
    struct extract_text *out = &report->scratch;
    uint32_t number;
    if (extract_event_is_mark(event) || !format->telling ||
        !format->telling->items(event, NULL, NULL, &number))
        return true;
    out->used = 0;
    format->telling->items(event, put_item, report, &number);
    const char *name = value_names_find(&report->naming, EXTRACT_KIND_USER_EVENT, number);
    extract_text_printf(out, "],\"user_event\":{\"number\":%u,\"name\":", (unsigned)number);
    if (name)
        extract_text_json(out, name);
    else
        extract_text_puts(out, "null");
    extract_text_puts(out, "},");
    if (out->code || report->naming.raw.code ||
        !text_writer_need(&report->writer, out->used + 16)) {
        report->writer.text->code = EXTRACT_NOMEM;
        return false;
    }
    PEN_LITERAL(&report->writer, "\"items\":[");
    text_writer_copy(&report->writer, out->data, out->used);
    return true;
}

// The event that this one speaks of.
static bool put_inner(struct report *report, const struct extract_event *event)
{
    struct text_writer *writer = &report->writer;
    struct extract_event inner;
    if (!extract_trace_inner(report->naming.trace, event, &inner))
        return true;
    if (!text_writer_need(writer, 64))
        return false;
    PEN_LITERAL(writer, "\"expected\":{");
    if (!put_data(writer, &inner) || !put_items(report, &inner))
        return false;
    const struct plan *plan = report_plan(report, &inner);
    if (!plan ||
        !put_piece(writer, plan->head.bytes + 1, plan->head.length - 1) || // without a comma
        !put_fields(report, plan, &inner) || !text_writer_need(writer, PEN_NUMBER))
        return false;
    PEN_LITERAL(writer, "},\"names\":{");
    if (!put_names(report, plan, &inner) || !text_writer_need(writer, PEN_NUMBER))
        return false;
    PEN_LITERAL(writer, "}},");
    return true;
}

static void put_known(struct text_writer *writer, uint64_t number, bool is_known)
{
    if (is_known)
        text_writer_dec(writer, number);
    else
        PEN_LITERAL(writer, "null");
}

// What is known of a loss, under the names that `info --json` has for all losses together.
static bool put_loss(struct text_writer *writer, const struct extract_event *event)
{
    bool is_exact = event->field[EXTRACT_LOST_EXACT];
    bool is_known = is_exact || event->fields > EXTRACT_LOST_AT_MOST;
    unsigned most = is_exact ? EXTRACT_LOST_AT_LEAST : EXTRACT_LOST_AT_MOST;
    unsigned low = is_exact ? EXTRACT_LOST_AT_LEAST : EXTRACT_LOST_LOW;
    unsigned high = is_exact ? EXTRACT_LOST_AT_LEAST : EXTRACT_LOST_HIGH;
    if (event->id != EXTRACT_ID_LOST)
        return true;
    if (!text_writer_need(writer, 4 * PEN_NUMBER + 128))
        return false;
    PEN_LITERAL(writer, "\"lost_at_least\":");
    text_writer_dec(writer, event->field[EXTRACT_LOST_AT_LEAST]);
    PEN_LITERAL(writer, ",\"lost_at_most\":");
    put_known(writer, event->field[most], is_known);
    PEN_LITERAL(writer, ",\"lost_exact\":");
    if (is_exact)
        PEN_LITERAL(writer, "true");
    else
        PEN_LITERAL(writer, "false");
    PEN_LITERAL(writer, ",\"lost_low\":");
    put_known(writer, event->field[low], is_known);
    PEN_LITERAL(writer, ",\"lost_high\":");
    put_known(writer, event->field[high], is_known);
    text_writer_char(writer, ',');
    return true;
}

static bool put_rest(struct report *report, const struct extract_event *event)
{
    struct text_writer *writer = &report->writer;
    if (!text_writer_need(writer, EXTRACT_FIELDS_MAX * PEN_NUMBER + 128))
        return false;
    PEN_LITERAL(writer, "},\"info\":[");
    for (unsigned i = 0; i < event->fields; i++) {
        if (i)
            text_writer_char(writer, ',');
        put_field(writer, event, i);
    }
    PEN_LITERAL(writer, "],");
    if ((event->data && !put_data(writer, event)) || !put_items(report, event) ||
        !put_inner(report, event) || !put_loss(writer, event) ||
        !text_writer_need(writer, FLAGS_ROOM))
        return false;
    PEN_LITERAL(writer, "\"flags\":[");
    char *start = writer->at;
    if (event->flags & EXTRACT_FLAG_PROVISIONAL)
        PEN_LITERAL(writer, "\"provisional\",");
    if (event->flags & EXTRACT_FLAG_GAP)
        PEN_LITERAL(writer, "\"gap\",");
    if (event->flags & EXTRACT_FLAG_BACKWARDS)
        PEN_LITERAL(writer, "\"backwards\",");
    writer->at -= writer->at != start; // the last comma
    PEN_LITERAL(writer, "]}\n");
    return true;
}

bool json_event(struct report *report, const struct extract_event *event)
{
    struct text_writer *writer = &report->writer;

    if (!text_writer_need(writer, NUMBERS_ROOM))
        return false;
    put_numbers(report, event);
    if (!put_context(report, event) || !text_writer_need(writer, NUMBERS_ROOM))
        return false;
    PEN_LITERAL(writer, ",\"priority\":");
    put_priority(writer, report_has_priority(event), event->priority);
    PEN_LITERAL(writer, ",\"threshold\":");
    put_priority(writer, report_has_threshold(event), event->threshold);
    const struct plan *plan = report_plan(report, event);
    if (!plan || !put_piece(writer, plan->head.bytes, plan->head.length) ||
        !put_fields(report, plan, event) || !text_writer_need(writer, PEN_NUMBER))
        return false;
    PEN_LITERAL(writer, "},\"names\":{");
    return put_names(report, plan, event) && put_rest(report, event);
}
