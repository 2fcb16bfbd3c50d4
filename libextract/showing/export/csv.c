// SPDX-License-Identifier: MIT
// export: comma-separated values (RFC 4180), one line per event or marker.
//
// A cell that a spreadsheet would take for a formula begins with an apostrophe.
#include "events/events_room.h"
#include "export/exporter.h"

enum { NUMBERS = 6 * TEXT_WRITER_NUMBER + 32 }; // of a line before the name of what executed

struct csv {
    struct text_writer writer;
};

// Writes a text of which a spreadsheet or CSV must not see all characters. Returns its end.
static char *put_guarded(char *to, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"')
            *to++ = '"';
        *to++ = bytes[i] == '\n' ? ' ' : bytes[i];
    }
    return to;
}

// Writes a text as a cell in quotes. Needs 2 * length + 3.
static inline void put_cell(struct text_writer *writer, const char *bytes, size_t length)
{
    char first = length ? bytes[0] : 0;

    text_writer_char(writer, '"');
    if (first == '=' || first == '+' || first == '-' || first == '@')
        text_writer_char(writer, '\'');
    if (!memchr(bytes, '"', length) && !memchr(bytes, '\n', length))
        text_writer_copy(writer, bytes, length);
    else
        writer->at = put_guarded(writer->at, bytes, length);
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

// The functions below write with a copy of the writer, which the compiler keeps in registers.

// Writes the numbers of an event. `is_recorded`: it has a number and a timestamp in the trace.
static void put_start(struct export_run *run, struct text_writer *to,
                      const struct extract_event *event, bool is_recorded)
{
    const char *context = extract_context_name((enum extract_context)event->context);
    bool is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED);
    struct text_writer writer = *to;

    if (is_recorded)
        text_writer_dec(&writer, event->seq);
    text_writer_char(&writer, ',');
    if (is_timed)
        text_writer_dec(&writer, event->ticks);
    text_writer_char(&writer, ',');
    if (is_timed && run->hz)
        text_writer_seconds(&writer, event->ticks, run->hz);
    text_writer_char(&writer, ',');
    if (is_recorded)
        text_writer_dec(&writer, event->raw_stamp);
    text_writer_char(&writer, ',');
    text_writer_dec(&writer, event->core);
    text_writer_char(&writer, ',');
    text_writer_copy(&writer, context, strlen(context));
    text_writer_char(&writer, ',');
    if (event->context == EXTRACT_THREAD)
        text_writer_hex(&writer, event->thread);
    text_writer_char(&writer, ',');
    to->at = writer.at;
}

// Writes the name of what executed and the event's type.
static void put_names(struct export_run *run, struct text_writer *to,
                      const struct extract_event *event)
{
    struct entry_builder_text context = export_context_name(run, event);
    const char *name = export_event_name(run, event);
    const char *class_ = extract_class_name(event->type->class_);
    size_t length = strlen(name), class_length = strlen(class_);

    if (!text_writer_need(to, 2 * (context.length + length) + class_length + NUMBERS))
        return;
    struct text_writer writer = *to;
    put_cell(&writer, context.bytes, context.length);
    text_writer_char(&writer, ',');
    if (report_has_priority(event))
        text_writer_dec(&writer, event->priority);
    text_writer_char(&writer, ',');
    text_writer_copy(&writer, class_, class_length);
    text_writer_char(&writer, ',');
    text_writer_dec(&writer, event->id);
    text_writer_char(&writer, ',');
    put_cell(&writer, name, length);
    text_writer_char(&writer, ',');
    to->at = writer.at;
}

// Writes the text of an event and its fields.
static void put_rest(struct export_run *run, struct text_writer *to,
                     const struct extract_event *event)
{
    size_t length;
    const char *text = export_event_text(run, event, &length);

    if (!text_writer_need(to, 2 * length + 3 + EXTRACT_FIELDS_MAX * TEXT_WRITER_NUMBER + 4))
        return;
    struct text_writer writer = *to;
    put_cell(&writer, text, length);
    for (unsigned i = 0; i < EXTRACT_FIELDS_MAX; i++) {
        text_writer_char(&writer, ',');
        if (i < event->fields && report_field_is_number(event, i))
            text_writer_dec(&writer, extract_event_stored(run->trace, event, i));
    }
    TEXT_WRITER_LITERAL(&writer, "\r\n");
    to->at = writer.at;
}

static inline void put_line_of(struct export_run *run, const struct extract_event *event,
                               bool is_recorded)
{
    struct text_writer *writer = &((struct csv *)run->state)->writer;

    if (!text_writer_need(writer, NUMBERS))
        return;
    put_start(run, writer, event, is_recorded);
    put_names(run, writer, event);
    put_rest(run, writer, event);
}

static void put_line(struct export_run *run, const struct extract_event *event)
{
    put_line_of(run, event, true);
}

// The first line is of what was lost at an unknown time.
static void begin_lines(struct export_run *run)
{
    struct extract_event marker;

    begin(run);
    if (export_mark_lost_sometime(run, &marker))
        put_line_of(run, &marker, false);
}

static void end(struct export_run *run)
{
    text_writer_close(&((struct csv *)run->state)->writer);
}

const struct exporter export_csv = {
    .kind = {"csv", ".csv", "a line per event, for spreadsheets", EXTRACT_EXPORT_STREAM},
    .state_bytes = sizeof(struct csv),
    .begin = begin_lines,
    .event = put_line,
    .loss = put_line,
    .end = end,
};
