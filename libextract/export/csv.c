// SPDX-License-Identifier: MIT
// export: comma-separated values (RFC 4180), one line per event or marker.
//
// A cell that a spreadsheet would take for a formula begins with an apostrophe.
#include "export/exporter.h"

enum { NUMBERS = 5 * TEXT_WRITER_NUMBER };

struct csv {
    struct text_writer writer;
};

// Writes a text as a cell in quotes.
static void put_cell(struct text_writer *writer, const char *bytes, size_t length)
{
    if (!text_writer_need(writer, 2 * length + 3))
        return;
    text_writer_char(writer, '"');
    char first = length ? bytes[0] : 0;
    if (first == '=' || first == '+' || first == '-' || first == '@')
        text_writer_char(writer, '\'');
    bool is_plain = !memchr(bytes, '"', length) && !memchr(bytes, '\n', length);
    if (is_plain)
        text_writer_copy(writer, bytes, length);
    for (size_t i = 0; !is_plain && i < length; i++) {
        if (bytes[i] == '"')
            text_writer_char(writer, '"');
        text_writer_char(writer, bytes[i] == '\n' ? ' ' : bytes[i]);
    }
    text_writer_char(writer, '"');
}

static void begin(struct export_run *run)
{
    struct csv *csv = run->state;

    extract_text_puts(run->text,
                      "seq,ticks,seconds,raw_stamp,core,context,thread,thread_name,priority,class,"
                      "id,event,text,info1,info2,info3,info4,info5,info6,info7,info8\r\n");
    text_writer_open(&csv->writer, run->text);
}

static void put_time(struct export_run *run, struct text_writer *writer,
                     const struct extract_event *event)
{
    bool is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED);

    text_writer_dec(writer, event->seq);
    text_writer_char(writer, ',');
    if (is_timed)
        text_writer_dec(writer, event->ticks);
    text_writer_char(writer, ',');
    if (is_timed && run->hz)
        text_writer_seconds(writer, event->ticks, run->hz);
    text_writer_char(writer, ',');
    text_writer_dec(writer, event->raw_stamp);
    text_writer_char(writer, ',');
    text_writer_dec(writer, event->core);
    text_writer_char(writer, ',');
}

static void put_context(struct export_run *run, struct text_writer *writer,
                        const struct extract_event *event)
{
    const char *context = extract_context_name((enum extract_context)event->context);

    text_writer_copy(writer, context, strlen(context));
    text_writer_char(writer, ',');
    if (event->context == EXTRACT_THREAD)
        text_writer_hex(writer, event->thread);
    text_writer_char(writer, ',');
    struct entry_builder_text name = export_context_name(run, event);
    put_cell(writer, name.bytes, name.length);
    if (!text_writer_need(writer, NUMBERS))
        return;
    text_writer_char(writer, ',');
    if (report_has_priority(event))
        text_writer_dec(writer, event->priority);
    text_writer_char(writer, ',');
}

static void put_line(struct export_run *run, const struct extract_event *event)
{
    struct text_writer *writer = &((struct csv *)run->state)->writer;
    const char *class_ = extract_class_name(event->type->class_);
    size_t length;

    if (!text_writer_need(writer, NUMBERS + 64))
        return;
    put_time(run, writer, event);
    put_context(run, writer, event);
    if (!text_writer_need(writer, NUMBERS))
        return;
    text_writer_copy(writer, class_, strlen(class_));
    text_writer_char(writer, ',');
    text_writer_dec(writer, event->id);
    text_writer_char(writer, ',');
    const char *name = export_event_name(run, event);
    put_cell(writer, name, strlen(name));
    const char *text = export_event_text(run, event, &length);
    if (!text_writer_need(writer, 1))
        return;
    text_writer_char(writer, ',');
    put_cell(writer, text, length);
    if (!text_writer_need(writer, EXTRACT_FIELDS_MAX * TEXT_WRITER_NUMBER + 4))
        return;
    for (unsigned i = 0; i < EXTRACT_FIELDS_MAX; i++) {
        text_writer_char(writer, ',');
        if (i < event->fields && report_field_is_number(event, i))
            text_writer_dec(writer, event->field[i]);
    }
    TEXT_WRITER_LITERAL(writer, "\r\n");
}

static void put_event(struct export_run *run, const struct extract_event *event)
{
    put_line(run, event);
}

static void end(struct export_run *run)
{
    text_writer_close(&((struct csv *)run->state)->writer);
}

const struct exporter export_csv = {
    .kind = {"csv", ".csv", "a line per event, for spreadsheets", EXTRACT_EXPORT_STREAM},
    .state_bytes = sizeof(struct csv),
    .begin = begin,
    .event = put_event,
    .loss = put_line,
    .end = end,
};
