// SPDX-License-Identifier: MIT
// report/columns: the events of a view as trcrpt prints them. In: a view, whose first events are
// looked at for the widths of columns before all are printed; templates. Out: lines of text.
#include "report/columns/cells.h"
#include "events/internal.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    PREFIX_ROOM = 2048, // more than all columns in front of the text together
    FLAG_ROOM = 160,
    MAX_CELL = 128, // bytes of a cell that has room
    // Of a report of a stream that goes on:
    SEQ_WIDTH = 7,
    EXEC_WIDTH = 16,
    MAX_SECONDS = 99999, // that columns have room for
    MAX_DELTA = 9        // seconds between two events, likewise
};

// A report under way.
struct text_report {
    struct text_writer writer;
    struct layout layout;
    const struct extract_report_options *options;
    struct extract_report_outcome *outcome;
    struct entry_builder *builder;
    struct extract_formatter *formatter;
    const struct extract_trace *trace;
    struct extract_text scratch; // for a cell that is being made
    uint64_t last_ticks;
    const char *file;  // the last part of the source's path; NULL: none
    uint64_t pid, tid; // of the event under way
    const char *svc;
    bool first;
    unsigned lines; // of this page
    bool begun;     // an event stands on it
    struct extract_event previous;
    struct extract_text joined;  // of an event that speaks of another one
    struct extract_text payload; // its data, which a reader's next step may take away
};

static bool fail(struct text_report *report)
{
    report->writer.text->code = EXTRACT_NOMEM;
    return false;
}

// ---- the columns in front of the text ----

static inline void put_exec(const struct text_report *report, struct text_writer *writer)
{
    const struct entry_builder_text who = report->builder->who;
    unsigned width = report->layout.exec;
    if (who.columns > width || who.length > MAX_CELL) {
        cell_text(writer, who.bytes, who.length, who.columns, width);
        return;
    }
    text_writer_piece(writer, who.bytes, who.length);
    text_writer_pad(writer, width - who.columns);
}

static bool put_word(struct text_report *report, struct text_writer *writer, const char *word,
                     unsigned width)
{
    struct extract_text *cell = &report->scratch;
    cell->used = 0;
    extract_text_escaped(cell, word ? word : "");
    extract_text_putc(cell, 0);
    if (cell->code)
        return fail(report);
    cell_text(writer, cell->data, cell->used - 1, (unsigned)extract_text_columns(cell->data),
              width);
    return true;
}

static inline void put_delta(const struct text_report *report, struct text_writer *writer,
                             uint64_t ticks)
{
    const struct layout *layout = &report->layout;
    uint64_t last = report->first ? ticks : report->last_ticks;
    bool back = ticks < last;
    uint64_t step = back ? last - ticks : ticks - last;
    if (!layout->hz) {
        unsigned digits = text_writer_digits(step), used = digits + back;
        text_writer_pad(writer, layout->delta > used ? layout->delta - used : 0);
        if (back)
            text_writer_char(writer, '-');
        text_writer_fixed(writer, step, digits);
        return;
    }
    struct text_writer_seconds time = text_writer_split(step, layout->hz);
    if (layout->columns.times == EXTRACT_TIMES_FULL)
        writer->at = cell_decimals(writer->at, back, cell_units(time, 1000), time.nano % 1000000, 6,
                                   layout->delta);
    else
        writer->at = cell_decimals(writer->at, back, cell_units(time, 1000000), time.nano % 1000, 3,
                                   layout->delta);
}

// Columns that few reports have.
static bool put_rare(struct text_report *report, struct text_writer *writer,
                     const struct extract_event *event)
{
    const struct layout *layout = &report->layout;
    if (layout->filename) {
        if (!put_word(report, writer, report->file, layout->filename))
            return false;
        cell_gap(layout, writer);
    }
    if (layout->cpu) {
        text_writer_dec_right(writer, event->core, layout->cpu);
        cell_gap(layout, writer);
    }
    if (layout->pid) {
        cell_number(layout, writer, report->pid, layout->pid);
        cell_gap(layout, writer);
    }
    if (layout->tid) {
        cell_number(layout, writer, report->tid, layout->tid);
        cell_gap(layout, writer);
    }
    if (layout->prio) {
        cell_priority(writer, event, layout->prio);
        cell_gap(layout, writer);
    }
    if (layout->interrupt) {
        text_writer_char(writer, event->context == EXTRACT_ISR ? '1' : ' ');
        cell_gap(layout, writer);
    }
    if (layout->svc) {
        if (!put_word(report, writer, report->svc, layout->svc))
            return false;
        cell_gap(layout, writer);
    }
    return true;
}

static inline void put_id(const struct text_report *report, struct text_writer *writer,
                          const struct extract_event *event)
{
    unsigned used = entry_builder_id(report->builder, event, writer->at);
    writer->at += used;
    text_writer_pad(writer, used < report->layout.id ? report->layout.id - used : 0);
}

// The pen is the paper's own, held in registers meanwhile.
static inline bool put_prefix(struct text_report *report, struct text_writer *writer,
                              const struct extract_event *event)
{
    const struct layout *layout = &report->layout;
    if (layout->seq) {
        text_writer_dec_right(writer, event->seq, layout->seq);
        cell_gap(layout, writer);
    }
    if (layout->id) {
        put_id(report, writer, event);
        cell_gap(layout, writer);
    }
    if (layout->exec) {
        put_exec(report, writer);
        cell_gap(layout, writer);
    }
    if (layout->rare) {
        report->writer.at = writer->at;
        if (!put_rare(report, &report->writer, event))
            return false;
        writer->at = report->writer.at;
    }
    bool is_untimed = event->flags & EXTRACT_FLAG_UNTIMED;
    if (layout->elapsed) {
        if (is_untimed)
            cell_unknown(writer, layout->elapsed);
        else
            cell_elapsed(layout, writer, event->ticks);
        cell_gap(layout, writer);
    }
    if (layout->delta) {
        if (is_untimed)
            cell_unknown(writer, layout->delta);
        else
            put_delta(report, writer, event->ticks);
        cell_gap(layout, writer);
    }
    return true;
}

// ---- events ----

static void put_flags(struct text_writer *writer, bool color, uint8_t flags)
{
    PEN_LITERAL(writer, " ");
    if (color)
        PEN_LITERAL(writer, "\x1b[31m");
    if (flags & EXTRACT_FLAG_PROVISIONAL)
        PEN_LITERAL(writer, " [provisional]");
    if (flags & EXTRACT_FLAG_GAP)
        PEN_LITERAL(writer, " [gap]");
    if (flags & EXTRACT_FLAG_BACKWARDS)
        PEN_LITERAL(writer, " [backwards]");
    if (color)
        PEN_LITERAL(writer, "\x1b[0m");
}

static void put_heads(struct text_report *report)
{
    text_writer_close(&report->writer);
    report->lines = layout_heads(&report->layout, report->options->color, report->writer.text);
    report->begun = false;
    text_writer_open(&report->writer, report->writer.text);
}

// A page ends in front of an event that has no room on it, but not before it has one.
static void turn_page(struct text_report *report, const struct extract_outcome *said)
{
    unsigned lines = 1u + report->layout.columns.two_lines;
    for (const char *at = said->text, *end = at + said->length;
         at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    if (report->begun && report->lines + lines > report->layout.columns.page_lines &&
        text_writer_need(&report->writer, 1)) {
        text_writer_char(&report->writer, '\n');
        put_heads(report);
    }
    report->lines += lines;
    report->begun = true;
}

// The blanks in front of the text, which stands on a line of its own in some layouts.
static inline void put_indent(const struct layout *layout, struct text_writer *writer,
                              const char *start, enum extract_class level, bool empty)
{
    if (!empty && !layout->columns.two_lines) {
        text_writer_pad(writer, layout->indent + LAYOUT_LEVEL * (unsigned)level);
        return;
    }
    while (writer->at > start && writer->at[-1] == ' ') // no line ends in blanks
        writer->at--;
    if (empty)
        return;
    text_writer_char(writer, '\n');
    text_writer_pad(writer, layout_level(layout, level));
}

static bool put_line(struct text_report *report, const struct extract_event *event,
                     enum extract_class level, const struct extract_outcome *said)
{
    const struct layout *layout = &report->layout;

    if (!text_writer_need(&report->writer, PREFIX_ROOM + said->length + FLAG_ROOM))
        return false;
    struct text_writer writer = report->writer;
    const char *start = writer.at;
    if (!put_prefix(report, &writer, event))
        return false;
    put_indent(layout, &writer, start, level, !said->length);
    text_writer_copy(&writer, said->text, said->length);
    uint8_t flags = event->flags & (uint8_t)~EXTRACT_FLAG_UNTIMED;
    if (flags && !layout->columns.compat)
        put_flags(&writer, report->options->color, flags);
    text_writer_char(&writer, '\n');
    report->writer.at = writer.at;
    return true;
}

static void note_fault(struct text_report *report, const struct extract_event *event,
                       const char *fault)
{
    struct extract_report_outcome *outcome = report->outcome;
    if (outcome->faults++)
        return;
    snprintf(outcome->fault, sizeof outcome->fault, "%s", fault ? fault : "");
    outcome->fault_seq = event->seq;
    entry_builder_id(report->builder, event, outcome->fault_hook);
}

static void say(struct text_report *report, const struct extract_event *event, unsigned level,
                const struct extract_entry *entry, const struct extract_template *chosen,
                struct extract_outcome *said)
{
    if (chosen || !entry_builder_describe(report->builder, event, said))
        extract_formatter_run(report->formatter, chosen, entry, level, true, said);
}

// Behind the text of an event stands that of the one that it speaks of.
static void say_inner(struct text_report *report, const struct extract_event *inner, unsigned level,
                      struct extract_outcome *said)
{
    const struct extract_template *chosen;
    struct extract_text *joined = &report->joined;
    struct extract_outcome more;
    joined->used = 0;
    extract_text_put(joined, said->text, said->length);
    const struct extract_entry *entry = entry_builder_take(report->builder, inner, &chosen);
    say(report, inner, level, entry, chosen, &more);
    extract_text_put(joined, more.text, more.length);
    report->builder->failed |= joined->code != EXTRACT_OK;
    said->text = joined->data;
    said->length = joined->used;
}

// False: the report ends here.
static bool put_event(struct text_report *report, const struct extract_event *event)
{
    const struct layout *layout = &report->layout;
    const struct extract_template *chosen;
    struct extract_outcome said;
    struct extract_event inner;

    const struct extract_entry *entry = entry_builder_take(report->builder, event, &chosen);
    enum extract_class level = chosen ? chosen->level : event->type->class_;
    report->pid = entry->pid;
    report->tid = entry->tid;
    report->svc = entry->svc;
    say(report, event, layout_level(layout, level), entry, chosen, &said);
    if (extract_trace_inner(report->trace, event, &inner)) {
        say_inner(report, &inner, layout_level(layout, level), &said);
        entry_builder_take(report->builder, event, &chosen);
    }
    if (said.ending == EXTRACT_ENDS_FAULT)
        note_fault(report, event, said.fault);
    if (said.ending == EXTRACT_ENDS_SKIP) {
        report->outcome->skipped++;
        return true;
    }
    if (layout->columns.page_lines && !report->options->no_header)
        turn_page(report, &said);
    if (report->builder->failed)
        return fail(report);
    if (!put_line(report, event, level, &said))
        return false;
    report->first = false;
    report->last_ticks = event->ticks;
    report->outcome->shown++;
    report->outcome->stopped = said.ending == EXTRACT_ENDS_STOP;
    return !report->outcome->stopped;
}

static bool same_words(const struct extract_event *one, const struct extract_event *other)
{
    return one->type == other->type && one->id == other->id && one->raw_stamp == other->raw_stamp &&
           one->ticks == other->ticks && one->thread == other->thread &&
           one->priority_word == other->priority_word && one->core == other->core &&
           one->context == other->context && one->fields == other->fields &&
           memcmp(one->field, other->field, one->fields * sizeof *one->field) == 0;
}

// Whether an event says what the one in front of it said.
static bool repeats(struct text_report *report, const struct extract_event *event)
{
    struct extract_text *payload = &report->payload;
    bool same = same_words(&report->previous, event) && !extract_event_is_mark(event) &&
                payload->used == event->data_bytes &&
                (!payload->used || memcmp(payload->data, event->data, payload->used) == 0);
    report->previous = *event;
    payload->used = 0;
    extract_text_put(payload, (const char *)event->data, event->data_bytes);
    return same;
}

static bool print_events(void *context, const struct extract_event *events, size_t count)
{
    struct text_report *report = context;
    const struct extract_report_options *options = report->options;
    bool merge = !report->layout.columns.duplicates;

    for (size_t i = 0; i < count; i++) {
        if (merge && repeats(report, &events[i]))
            report->outcome->merged++;
        else if (report->payload.code)
            return fail(report);
        else if (!put_event(report, &events[i]))
            return false;
        if (options->go_on && !options->go_on(options->context)) // a template may take its time
            return false;
    }
    return true;
}

// What is still to come is not known: room for what is usual.
static void fix_widths(struct text_report *report, struct extract_report_part *part)
{
    uint64_t hz = report->options->hz;
    const struct extract_info *info = extract_trace_info(report->trace);
    unsigned address = 2 + 2 * info->word_bytes;
    struct extract_columns columns = report->layout.columns;
    struct layout_needs needs = {.seq = SEQ_WIDTH,
                                 .exec = EXEC_WIDTH,
                                 .pid = address,
                                 .tid = address,
                                 .cores = info->cores > 1,
                                 .ticks = hz * MAX_SECONDS,
                                 .delta = hz * MAX_DELTA};
    layout_open(&report->layout, &columns, hz, &needs);
    if (part->hz != hz)
        part->heads = false;
    part->hz = hz;
    report->first = !part->events;
    report->last_ticks = part->last_ticks;
}

static void survey_view(struct text_report *report, const struct extract_view *view)
{
    const struct extract_columns columns = report->layout.columns;
    struct layout_needs needs;
    layout_find_widths(&needs, &columns, view, report->builder);
    layout_open(&report->layout, &columns, report->options->hz, &needs);
    report->first = true;
}

static void print_view(struct text_report *report, const struct extract_view *view)
{
    struct extract_sink sink = {.events = print_events, .context = report};
    struct extract_report_part *part = report->options->part;
    bool heads = !report->options->no_header;

    if (part)
        fix_widths(report, part);
    else
        survey_view(report, view);
    heads &= !part || !part->heads;
    if (report->writer.text->code)
        return;
    if (heads && report->layout.columns.compat)
        layout_heading(&report->layout, report->trace, report->writer.text);
    text_writer_open(&report->writer, report->writer.text);
    if (heads)
        put_heads(report);
    extract_view_run(view, &sink);
    text_writer_close(&report->writer);
    if (part) {
        part->heads = true;
        part->events = !report->first;
        part->last_ticks = report->last_ticks;
    }
}

static const char *file_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static enum extract_code open_formatter(struct text_report *report,
                                        const struct extract_templates *templates,
                                        struct extract_error *error)
{
    enum extract_code code = entry_builder_open(&report->builder, report->trace, templates, error);
    return code ? code
                : extract_formatter_open(&report->formatter, templates, &report->builder->host,
                                         error);
}

static void close_text_report(struct text_report *report)
{
    extract_formatter_close(report->formatter);
    entry_builder_close(report->builder);
    extract_text_free(&report->scratch);
    extract_text_free(&report->joined);
    extract_text_free(&report->payload);
    free(report);
}

static enum extract_code print_with(struct extract_text *text, const struct extract_view *view,
                                    const struct extract_trace *trace,
                                    const struct extract_report_options *options,
                                    const struct extract_templates *templates,
                                    struct extract_report_outcome *outcome)
{
    struct text_report *report = calloc(1, sizeof *report);
    if (!report)
        return text->code = EXTRACT_NOMEM;
    report->options = options;
    report->outcome = outcome;
    report->writer.text = text;
    if (options->columns)
        report->layout.columns = *options->columns;
    else
        extract_columns_init(&report->layout.columns, false);
    report->trace = trace;
    report->file = file_of(report->layout.columns.source);
    extract_text_init(&report->scratch, NULL, NULL);
    extract_text_init(&report->joined, NULL, NULL);
    extract_text_init(&report->payload, NULL, NULL);
    if (open_formatter(report, templates, NULL))
        text->code = EXTRACT_NOMEM;
    else if (report->layout.columns.histogram)
        columns_histogram(text, view, trace, options, report->builder, outcome);
    else
        print_view(report, view);
    close_text_report(report);
    return text->code;
}

enum extract_code columns_events(struct extract_text *text, const struct extract_view *view,
                                 const struct extract_trace *trace,
                                 const struct extract_report_options *options,
                                 struct extract_report_outcome *outcome)
{
    struct extract_templates *shipped = NULL;
    enum extract_code code = EXTRACT_OK;
    if (!options->templates) {
        code = extract_templates_open(&shipped, 0, NULL);
        if (!code)
            code = extract_templates_add_builtin(shipped, extract_trace_info(trace)->format, NULL);
        if (!code)
            code = extract_templates_link(shipped, NULL);
    }
    if (code)
        text->code = code;
    else
        print_with(text, view, trace, options, shipped ? shipped : options->templates, outcome);
    extract_templates_close(shipped);
    return text->code;
}
