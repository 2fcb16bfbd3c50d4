// SPDX-License-Identifier: MIT
// report: events as lines of text. In: events. Out: one line each, in columns.
#include "report/room.h"

enum { NUMBERS_ROOM = 4 * (PEN_NUMBER + 48), FLAG_ROOM = 160 };

static void make_context(struct report *report, const struct extract_event *event)
{
    struct extract_text *out = &report->scratch;
    const struct extract_object *thread =
        extract_trace_thread_at(report->naming.trace, event->thread, event->seq);
    switch (event->context) {
    case EXTRACT_ISR:
        extract_text_puts(out, thread ? "interrupt/" : "interrupt");
        break;
    case EXTRACT_INIT:
        extract_text_puts(out, "initialization");
        return;
    case EXTRACT_RECORDER:
        extract_text_puts(out, "recorder");
        return;
    default:
        if (!thread)
            extract_text_hex(out, event->thread, 8);
    }
    if (thread)
        extract_text_puts(out, thread->shown);
}

static void make_head(struct extract_text *out, const struct extract_event *event)
{
    extract_text_printf(out, "%-5s  ", extract_class_name(event->type->class_));
    extract_text_escaped(out, event->type->name);
    if (event->type->range)
        extract_text_printf(out, " %u", event->id);
}

static void make_label(struct extract_text *out, const char *label)
{
    extract_text_puts(out, "  ");
    size_t start = out->used;
    extract_text_escaped(out, label);
    for (size_t i = start; i < out->used; i++)
        if (out->data[i] == ' ')
            out->data[i] = '_';
    extract_text_putc(out, '=');
}

static void make_value(struct report *report, enum extract_kind kind, uint64_t value)
{
    naming_put(&report->naming, kind, value, &report->scratch);
}

static void head_right(struct extract_text *out, const char *name, unsigned width)
{
    extract_text_pad(out, ' ', width - strlen(name));
    extract_text_puts(out, name);
    extract_text_puts(out, "  ");
}

static void head_left(struct extract_text *out, const char *name, unsigned width)
{
    extract_text_puts(out, name);
    extract_text_pad(out, ' ', width - strlen(name) + 2);
}

void lines_head(struct report *report)
{
    const struct widths *w = &report->widths;
    struct extract_text *out = report->pen.text;
    bool color = report->options.color;

    pen_close(&report->pen);
    extract_text_puts(out, color ? "\x1b[1m" : "");
    head_right(out, "seq", w->seq);
    head_right(out, report->options.hz ? "seconds" : "ticks", w->time);
    head_right(out, "delta", w->delta);
    if (w->cores)
        head_right(out, "core", 4);
    head_left(out, "context", w->context);
    head_left(out, "prio", w->priority);
    extract_text_puts(out, "class  ");
    head_left(out, "event", w->type - 7);
    extract_text_puts(out, "fields");
    extract_text_puts(out, color ? "\x1b[0m\n" : "\n");
    pen_open(&report->pen, out);
}

static void put_time(struct report *report, uint64_t ticks)
{
    struct pen *pen = &report->pen;
    unsigned width = report->widths.time;
    if (!report->options.hz) {
        pen_dec_right(pen, ticks, width);
        return;
    }
    struct pen_seconds s = pen_split(ticks, report->options.hz);
    pen_dec_right(pen, s.whole, width > 10 ? width - 10 : 0);
    pen_char(pen, '.');
    pen_fixed(pen, s.nano, 9);
}

static void put_delta(struct report *report, uint64_t ticks)
{
    struct pen *pen = &report->pen;
    uint64_t hz = report->options.hz;
    bool back = !report->first && ticks < report->last_ticks;
    uint64_t step = back ? report->last_ticks - ticks : ticks - report->last_ticks;
    struct pen_seconds s = {step, 0};

    if (report->first)
        s.whole = 0;
    else if (hz)
        s = pen_split(step, hz);
    unsigned used = pen_digits(s.whole) + (hz ? 11 : 1);
    if (report->widths.delta > used)
        pen_pad(pen, report->widths.delta - used);
    pen_char(pen, back ? '-' : '+');
    pen_dec(pen, s.whole);
    if (hz) {
        pen_char(pen, '.');
        pen_fixed(pen, s.nano, 9);
    }
    report->first = false;
    report->last_ticks = ticks;
}

static bool put_numbers(struct report *report, const struct extract_event *event)
{
    struct pen *pen = &report->pen;
    if (!pen_need(pen, NUMBERS_ROOM))
        return false;
    pen_dec_right(pen, event->seq, report->widths.seq);
    PEN_LITERAL(pen, "  ");
    put_time(report, event->ticks);
    PEN_LITERAL(pen, "  ");
    put_delta(report, event->ticks);
    PEN_LITERAL(pen, "  ");
    if (report->widths.cores) {
        pen_dec_right(pen, event->core, 4);
        PEN_LITERAL(pen, "  ");
    }
    return true;
}

// A piece, and blanks up to `width` columns.
static inline bool put_column(struct report *report, const char *bytes, uint32_t length,
                              uint32_t columns, unsigned width)
{
    struct pen *pen = &report->pen;
    if (!pen_need(pen, length + width + 2 * PEN_BLOCK))
        return false;
    pen_piece(pen, bytes, length);
    if (width > columns)
        pen_pad(pen, width - columns);
    return true;
}

static bool put_context(struct report *report, const struct extract_event *event)
{
    const struct memo_piece *piece = report_context(report, event);
    return piece &&
           put_column(report, piece->bytes, piece->length, piece->columns, report->widths.context);
}

static bool put_priority(struct report *report, const struct extract_event *event)
{
    struct pen *pen = &report->pen;
    if (!pen_need(pen, 3 * PEN_NUMBER))
        return false;
    PEN_LITERAL(pen, "  ");
    char *start = pen->at;
    if (report_has_priority(event))
        pen_dec(pen, event->priority);
    else
        pen_char(pen, '-');
    if (report_has_threshold(event) && event->threshold != event->priority) {
        pen_char(pen, '/');
        pen_dec(pen, event->threshold);
    }
    unsigned used = (unsigned)(pen->at - start);
    pen_pad(pen, 2 + (report->widths.priority > used ? report->widths.priority - used : 0));
    return true;
}

// A value that asks for a name: the names that come up again and again are in the memo.
static bool put_named(struct report *report, enum extract_kind kind, uint64_t value)
{
    const struct memo_piece *piece = report_value(report, kind, value);
    return piece && put_column(report, piece->bytes, piece->length, 0, 0);
}

static inline bool put_value(struct report *report, enum extract_kind kind, uint64_t value)
{
    struct pen *pen = &report->pen;
    const char *word = NULL;
    switch (kind) {
    case EXTRACT_KIND_WAIT: // its numbers would fill the memo
        word = naming_wait(value);
        __attribute__((fallthrough));
    case EXTRACT_KIND_DEC:
    case EXTRACT_KIND_TICKS:
        if (word)
            pen_copy(pen, word, strlen(word));
        else
            pen_dec(pen, value);
        return true;
    case EXTRACT_KIND_HEX:
    case EXTRACT_KIND_STACK:
    case EXTRACT_KIND_DATA:
        pen_hex(pen, value);
        return true;
    default:
        return put_named(report, kind, value);
    }
}

static bool put_fields(struct report *report, const struct plan *plan,
                       const struct extract_event *event)
{
    struct pen *pen = &report->pen;
    unsigned count = report_fields(event);
    for (unsigned i = 0; i < count; i++) {
        const struct part *label = &plan->label[i];
        if (!label->length) // it has no meaning for this type
            continue;
        if (!pen_need(pen, label->length + PEN_BLOCK + PEN_NUMBER))
            return false;
        pen_piece(pen, label->bytes, label->length);
        if (!put_value(report, event->type->field[i].kind, event->field[i]))
            return false;
    }
    return true;
}

static bool put_flags(struct report *report, const struct extract_event *event)
{
    struct pen *pen = &report->pen;
    if (!pen_need(pen, FLAG_ROOM))
        return false;
    PEN_LITERAL(pen, " ");
    if (report->options.color)
        PEN_LITERAL(pen, "\x1b[31m");
    if (event->flags & EXTRACT_FLAG_PROVISIONAL)
        PEN_LITERAL(pen, " [provisional]");
    if (event->flags & EXTRACT_FLAG_GAP)
        PEN_LITERAL(pen, " [gap]");
    if (event->flags & EXTRACT_FLAG_BACKWARDS)
        PEN_LITERAL(pen, " [backwards]");
    if (report->options.color)
        PEN_LITERAL(pen, "\x1b[0m");
    return true;
}

static bool put_event(struct report *report, const struct extract_event *event)
{
    bool bare = !event->flags && !report_fields(event); // a line does not end in blanks

    if (!put_numbers(report, event) || !put_context(report, event) || !put_priority(report, event))
        return false;
    const struct plan *plan = report_plan(report, event);
    if (!plan || !put_column(report, plan->head.bytes, plan->head.length, plan->head.columns,
                             bare ? 0 : report->widths.type))
        return false;
    if (!put_fields(report, plan, event) || (event->flags && !put_flags(report, event)) ||
        !pen_need(&report->pen, 1))
        return false;
    pen_char(&report->pen, '\n');
    return true;
}

const struct report_form report_lines = {make_context, make_head, make_label, make_value,
                                         put_event};
