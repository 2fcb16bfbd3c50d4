// SPDX-License-Identifier: MIT
// report: events as JSON lines (RFC 8259; one object a line). In: events. Out: one object each.
#include "events/room.h"
#include "report/room.h"

enum { NUMBERS_ROOM = 7 * PEN_NUMBER + 160, FLAGS_ROOM = 64 };

void json_context(struct report *report, const struct extract_event *event)
{
    struct extract_text *out = &report->scratch;
    const struct extract_object *thread =
        extract_trace_thread_at(report->naming.trace, event->thread, event->seq);
    bool in_thread = event->context == EXTRACT_THREAD;
    const char *name = in_thread && thread ? naming_of(thread) : NULL;

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
    const char *name = naming_find(&report->naming, kind, value);
    if (name)
        extract_text_json(&report->scratch, name);
}

static void put_numbers(struct report *report, const struct extract_event *event)
{
    struct pen *pen = &report->pen;
    PEN_LITERAL(pen, "{\"seq\":");
    pen_dec(pen, event->seq);
    PEN_LITERAL(pen, ",\"ticks\":");
    bool is_untimed = event->flags & EXTRACT_FLAG_UNTIMED;
    if (is_untimed)
        PEN_LITERAL(pen, "null");
    else
        pen_dec(pen, event->ticks);
    if (report->options.hz)
        PEN_LITERAL(pen, ",\"seconds\":");
    if (report->options.hz && is_untimed)
        PEN_LITERAL(pen, "null");
    else if (report->options.hz)
        pen_seconds(pen, event->ticks, report->options.hz);
    PEN_LITERAL(pen, ",\"raw_stamp\":");
    pen_dec(pen, event->raw_stamp);
    PEN_LITERAL(pen, ",\"core\":");
    pen_dec(pen, event->core);
}

static void put_priority(struct pen *pen, bool known, uint16_t value)
{
    if (known)
        pen_dec(pen, value);
    else
        PEN_LITERAL(pen, "null");
}

static bool put_piece(struct pen *pen, const char *bytes, uint32_t length)
{
    if (!pen_need(pen, length + 1 + PEN_BLOCK + PEN_NUMBER))
        return false;
    pen_piece(pen, bytes, length);
    return true;
}

static bool put_context(struct report *report, const struct extract_event *event)
{
    const struct memo_piece *piece = report_context(report, event);
    return piece && put_piece(&report->pen, piece->bytes, piece->length);
}

// `"label":`, behind a comma when it is not the first; room for a number is left.
static bool put_label(struct pen *pen, const struct part *label, bool *first)
{
    if (!pen_need(pen, 1))
        return false;
    if (!*first)
        pen_char(pen, ',');
    *first = false;
    return put_piece(pen, label->bytes, label->length);
}

// The i-th field as a number, or null where an event is of no pool.
static void put_field(struct pen *pen, const struct extract_event *event, unsigned i)
{
    bool has_kind = i < event->type->fields;
    if (has_kind && event->type->field[i].kind == EXTRACT_KIND_POOL &&
        event->field[i] == EXTRACT_NO_POOL)
        PEN_LITERAL(pen, "null");
    else
        pen_dec(pen, event->field[i]);
}

static bool put_fields(struct report *report, const struct plan *plan,
                       const struct extract_event *event)
{
    bool first = true;
    unsigned count = report_fields(event);
    for (unsigned i = 0; i < count; i++) {
        if (!plan->label[i].length) // it has no meaning for this type
            continue;
        if (!put_label(&report->pen, &plan->label[i], &first))
            return false;
        put_field(&report->pen, event, i);
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
        if (!may_have_name(kind) || (kind == EXTRACT_KIND_WAIT && !naming_wait(event->field[i])))
            continue; // numbers of ticks would fill the memo
        const struct memo_piece *name = report_value(report, kind, event->field[i]);
        if (!name)
            return false;
        if (name->length && (!put_label(&report->pen, &plan->label[i], &first) ||
                             !put_piece(&report->pen, name->bytes, name->length)))
            return false;
    }
    return true;
}

// The payload as hexadecimal digits, in the order of its bytes.
static bool put_data(struct pen *pen, const struct extract_event *event)
{
    static const char digits[] = "0123456789abcdef";
    if (!pen_need(pen, 2 * (size_t)event->data_bytes + 128))
        return false;
    PEN_LITERAL(pen, "\"data\":\"");
    for (uint32_t i = 0; i < event->data_bytes; i++) {
        pen_char(pen, digits[event->data[i] >> 4]);
        pen_char(pen, digits[event->data[i] & 15]);
    }
    PEN_LITERAL(pen, "\",");
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
    const char *name = naming_find(&report->naming, item->kind, item->value);
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
    const char *name = naming_find(&report->naming, EXTRACT_KIND_USER_EVENT, number);
    extract_text_printf(out, "],\"user_event\":{\"number\":%u,\"name\":", (unsigned)number);
    if (name)
        extract_text_json(out, name);
    else
        extract_text_puts(out, "null");
    extract_text_puts(out, "},");
    if (out->code || report->naming.raw.code || !pen_need(&report->pen, out->used + 16)) {
        report->pen.text->code = EXTRACT_NOMEM;
        return false;
    }
    PEN_LITERAL(&report->pen, "\"items\":[");
    pen_copy(&report->pen, out->data, out->used);
    return true;
}

// The event that this one speaks of.
static bool put_inner(struct report *report, const struct extract_event *event)
{
    struct pen *pen = &report->pen;
    struct extract_event inner;
    if (!extract_trace_inner(report->naming.trace, event, &inner))
        return true;
    if (!pen_need(pen, 64))
        return false;
    PEN_LITERAL(pen, "\"expected\":{");
    if (!put_data(pen, &inner) || !put_items(report, &inner))
        return false;
    const struct plan *plan = report_plan(report, &inner);
    if (!plan || !put_piece(pen, plan->head.bytes + 1, plan->head.length - 1) || // without a comma
        !put_fields(report, plan, &inner) || !pen_need(pen, PEN_NUMBER))
        return false;
    PEN_LITERAL(pen, "},\"names\":{");
    if (!put_names(report, plan, &inner) || !pen_need(pen, PEN_NUMBER))
        return false;
    PEN_LITERAL(pen, "}},");
    return true;
}

static void put_known(struct pen *pen, uint64_t number, bool is_known)
{
    if (is_known)
        pen_dec(pen, number);
    else
        PEN_LITERAL(pen, "null");
}

// What is known of a loss, under the names that `info --json` has for all losses together.
static bool put_loss(struct pen *pen, const struct extract_event *event)
{
    bool is_exact = event->field[EXTRACT_LOST_EXACT];
    bool is_known = is_exact || event->fields > EXTRACT_LOST_AT_MOST;
    unsigned most = is_exact ? EXTRACT_LOST_AT_LEAST : EXTRACT_LOST_AT_MOST;
    unsigned low = is_exact ? EXTRACT_LOST_AT_LEAST : EXTRACT_LOST_LOW;
    unsigned high = is_exact ? EXTRACT_LOST_AT_LEAST : EXTRACT_LOST_HIGH;
    if (event->id != EXTRACT_ID_LOST)
        return true;
    if (!pen_need(pen, 4 * PEN_NUMBER + 128))
        return false;
    PEN_LITERAL(pen, "\"lost_at_least\":");
    pen_dec(pen, event->field[EXTRACT_LOST_AT_LEAST]);
    PEN_LITERAL(pen, ",\"lost_at_most\":");
    put_known(pen, event->field[most], is_known);
    PEN_LITERAL(pen, ",\"lost_exact\":");
    if (is_exact)
        PEN_LITERAL(pen, "true");
    else
        PEN_LITERAL(pen, "false");
    PEN_LITERAL(pen, ",\"lost_low\":");
    put_known(pen, event->field[low], is_known);
    PEN_LITERAL(pen, ",\"lost_high\":");
    put_known(pen, event->field[high], is_known);
    pen_char(pen, ',');
    return true;
}

static bool put_rest(struct report *report, const struct extract_event *event)
{
    struct pen *pen = &report->pen;
    if (!pen_need(pen, EXTRACT_FIELDS_MAX * PEN_NUMBER + 128))
        return false;
    PEN_LITERAL(pen, "},\"info\":[");
    for (unsigned i = 0; i < event->fields; i++) {
        if (i)
            pen_char(pen, ',');
        put_field(pen, event, i);
    }
    PEN_LITERAL(pen, "],");
    if ((event->data && !put_data(pen, event)) || !put_items(report, event) ||
        !put_inner(report, event) || !put_loss(pen, event) || !pen_need(pen, FLAGS_ROOM))
        return false;
    PEN_LITERAL(pen, "\"flags\":[");
    char *start = pen->at;
    if (event->flags & EXTRACT_FLAG_PROVISIONAL)
        PEN_LITERAL(pen, "\"provisional\",");
    if (event->flags & EXTRACT_FLAG_GAP)
        PEN_LITERAL(pen, "\"gap\",");
    if (event->flags & EXTRACT_FLAG_BACKWARDS)
        PEN_LITERAL(pen, "\"backwards\",");
    pen->at -= pen->at != start; // the last comma
    PEN_LITERAL(pen, "]}\n");
    return true;
}

bool json_event(struct report *report, const struct extract_event *event)
{
    struct pen *pen = &report->pen;

    if (!pen_need(pen, NUMBERS_ROOM))
        return false;
    put_numbers(report, event);
    if (!put_context(report, event) || !pen_need(pen, NUMBERS_ROOM))
        return false;
    PEN_LITERAL(pen, ",\"priority\":");
    put_priority(pen, report_has_priority(event), event->priority);
    PEN_LITERAL(pen, ",\"threshold\":");
    put_priority(pen, report_has_threshold(event), event->threshold);
    const struct plan *plan = report_plan(report, event);
    if (!plan || !put_piece(pen, plan->head.bytes, plan->head.length) ||
        !put_fields(report, plan, event) || !pen_need(pen, PEN_NUMBER))
        return false;
    PEN_LITERAL(pen, "},\"names\":{");
    return put_names(report, plan, event) && put_rest(report, event);
}
