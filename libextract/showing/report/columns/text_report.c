// SPDX-License-Identifier: MIT
// report/columns: prints the events of a view as lines of text, in the layout of trcrpt or of
// Ringside itself.
//
//   SEQ  ID   THREAD  ELAPSED_TICKS  DELTA_TICKS  APPL    SYSCALL KERNEL  INTERRUPT
//     7  045  comms         7910804            0          byte release pool=packets …
//   └────────────── prefix: cells.h ───────────┘└─ indent ─┘└─ text: template or entry_builder.c
//
// The widths of the columns are found before the first line is printed, so the view is read twice.
// A report that continues over the parts of a growing stream cannot do that: it has fixed widths.
//
// Writing a line is the hot path. A local copy of the writer keeps the output position in
// registers; it is synchronized with report->writer only where another function needs it.
#include "report/columns/cells.h"
#include "events/events_room.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    PREFIX_CAPACITY = 2048, // bytes, more than all columns before the text together
    FLAGS_CAPACITY = 160,   // bytes
    MAX_PADDED_CELL = 128,  // bytes of a name that is copied without checks
    MAX_ADDRESS_CELL = 512, // bytes of an address, with what it is in
    // Fixed widths and limits of a report in parts:
    SEQ_WIDTH = 7,
    EXEC_WIDTH = 16,
    MAX_SECONDS = 99999,  // largest elapsed time for which the column is wide enough
    MAX_DELTA_SECONDS = 9 // largest time between two events, likewise
};

struct text_report {
    struct text_writer writer;
    struct layout layout;
    const struct extract_report_options *options;
    struct extract_report_outcome *outcome;
    struct entry_builder *builder;
    struct extract_formatter *formatter;
    const struct extract_trace *trace;
    struct extract_text scratch; // a cell that is being made
    uint64_t last_ticks;         // time of the previous event
    bool is_first;               // no event was printed yet
    const char *file;            // last part of the source's path; NULL: none
    uint64_t pid, tid;           // of the event that is being printed
    const char *svc;             // likewise
    unsigned page_lines;         // lines on this page so far
    bool page_has_event;
    struct extract_event previous; // for the search for duplicates, with a copy of its payload
    struct extract_text payload;   // since the reader may reuse the event's memory
    struct extract_text joined;    // text of an event that contains another event
};

// Ends the report because memory is short.
static bool fail(struct text_report *report)
{
    report->writer.text->code = EXTRACT_NOMEM;
    return false;
}

// ---- the prefix: the columns before the text ----

// Writes the name of a thread that does not fit. An address, also that of an interrupted thread, is
// whole; another name ends in a mark, but for trcrpt's columns.
static void put_long_exec(const struct text_report *report, struct text_writer *writer)
{
    const struct entry_builder_text name = report->builder->context_name;
    const char *slash = strrchr(name.bytes, '/');
    const char *tail = slash ? slash + 1 : name.bytes;
    unsigned width = report->layout.exec;
    bool is_address = strncmp(tail, "0x", 2) == 0 && name.length <= MAX_ADDRESS_CELL;

    if (name.columns > width && is_address) {
        text_writer_copy(writer, name.bytes, name.length);
    } else if (name.columns <= width || report->layout.columns.compat) {
        cell_text(writer, name.bytes, name.length, name.columns, width);
    } else {
        cell_text(writer, name.bytes, name.length, name.columns, width - 1);
        TEXT_WRITER_LITERAL(writer, "…");
    }
}

// Writes the name of the thread.
static inline void put_exec(const struct text_report *report, struct text_writer *writer)
{
    const struct entry_builder_text name = report->builder->context_name;
    unsigned width = report->layout.exec;

    if (name.columns > width || name.length > MAX_PADDED_CELL) {
        put_long_exec(report, writer);
        return;
    }
    text_writer_piece(writer, name.bytes, name.length);
    text_writer_pad(writer, width - name.columns);
}

// Writes a string that is not padded or escaped yet.
static bool put_string(struct text_report *report, struct text_writer *writer, const char *string,
                       unsigned width)
{
    struct extract_text *cell = &report->scratch;

    cell->used = 0;
    extract_text_escaped(cell, string ? string : "");
    extract_text_putc(cell, 0);
    if (cell->code)
        return fail(report);
    cell_text(writer, cell->data, cell->used - 1, (unsigned)extract_text_columns(cell->data),
              width);
    return true;
}

// Writes the time since the previous event, which is negative if the clock went back.
static inline void put_delta(const struct text_report *report, struct text_writer *writer,
                             uint64_t ticks)
{
    const struct layout *layout = &report->layout;
    uint64_t previous = report->is_first ? ticks : report->last_ticks;
    bool is_negative = ticks < previous;
    uint64_t step = is_negative ? previous - ticks : ticks - previous;

    if (!layout->hz) {
        unsigned digits = text_writer_digits(step), used = digits + is_negative;
        text_writer_pad(writer, layout->delta > used ? layout->delta - used : 0);
        if (is_negative)
            text_writer_char(writer, '-');
        text_writer_fixed(writer, step, digits);
        return;
    }
    struct text_writer_seconds time = text_writer_split(step, layout->hz);
    if (layout->columns.times == EXTRACT_TIMES_FULL)
        writer->at = cell_decimals(writer->at, is_negative, cell_units(time, 1000),
                                   time.nano % 1000000, 6, layout->delta);
    else
        writer->at = cell_decimals(writer->at, is_negative, cell_units(time, 1000000),
                                   time.nano % 1000, 3, layout->delta);
}

// Writes the columns that few reports have.
static bool put_rare_columns(struct text_report *report, struct text_writer *writer,
                             const struct extract_event *event)
{
    const struct layout *layout = &report->layout;

    if (layout->filename) {
        if (!put_string(report, writer, report->file, layout->filename))
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
        if (!put_string(report, writer, report->svc, layout->svc))
            return false;
        cell_gap(layout, writer);
    }
    return true;
}

static inline void put_id(const struct text_report *report, struct text_writer *writer,
                          const struct extract_event *event)
{
    unsigned used = entry_builder_put_id(report->builder, event, writer->at);

    writer->at += used;
    text_writer_pad(writer, used < report->layout.id ? report->layout.id - used : 0);
}

// Writes all columns before the text. `writer` is the caller's copy of report->writer.
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
    if (layout->has_rare_columns) {
        report->writer.at = writer->at;
        if (!put_rare_columns(report, &report->writer, event))
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

// ---- lines ----

static void put_flags(struct text_writer *writer, bool color, uint8_t flags)
{
    TEXT_WRITER_LITERAL(writer, " ");
    if (color)
        TEXT_WRITER_LITERAL(writer, "\x1b[31m");
    if (flags & EXTRACT_FLAG_PROVISIONAL)
        TEXT_WRITER_LITERAL(writer, " [provisional]");
    if (flags & EXTRACT_FLAG_GAP)
        TEXT_WRITER_LITERAL(writer, " [gap]");
    if (flags & EXTRACT_FLAG_BACKWARDS)
        TEXT_WRITER_LITERAL(writer, " [backwards]");
    if (color)
        TEXT_WRITER_LITERAL(writer, "\x1b[0m");
}

static void put_headings(struct text_report *report)
{
    text_writer_close(&report->writer);
    report->page_lines =
        layout_put_headings(&report->layout, report->options->color, report->writer.text);
    report->page_has_event = false;
    text_writer_open(&report->writer, report->writer.text);
}

// Starts a new page if the next event does not fit on this one. Each page has at least one event,
// however many lines that needs.
static void fit_on_page(struct text_report *report, const struct extract_outcome *formatted)
{
    unsigned lines = 1u + report->layout.columns.two_lines;

    for (const char *at = formatted->text, *end = at + formatted->length;
         at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    if (report->page_has_event && report->page_lines + lines > report->layout.columns.page_lines &&
        text_writer_need(&report->writer, 1)) {
        text_writer_char(&report->writer, '\n');
        put_headings(report);
    }
    report->page_lines += lines;
    report->page_has_event = true;
}

// Writes the blanks before the text, or a new line if the layout has two lines. If the text is
// empty or on the next line, removes the blanks at the end of the prefix.
static inline void put_indent(const struct layout *layout, struct text_writer *writer,
                              const char *start, enum extract_class class_, bool is_empty)
{
    if (!is_empty && !layout->columns.two_lines) {
        text_writer_pad(writer, layout->indent + LAYOUT_CLASS_STEP * (unsigned)class_);
        return;
    }
    while (writer->at > start && writer->at[-1] == ' ')
        writer->at--;
    if (is_empty)
        return;
    text_writer_char(writer, '\n');
    text_writer_pad(writer, layout_text_offset(layout, class_));
}

static bool put_line(struct text_report *report, const struct extract_event *event,
                     enum extract_class class_, const struct extract_outcome *formatted)
{
    const struct layout *layout = &report->layout;

    if (!text_writer_need(&report->writer, PREFIX_CAPACITY + formatted->length + FLAGS_CAPACITY))
        return false;
    struct text_writer writer = report->writer;
    const char *start = writer.at;
    if (!put_prefix(report, &writer, event))
        return false;
    put_indent(layout, &writer, start, class_, !formatted->length);
    text_writer_copy(&writer, formatted->text, formatted->length);
    uint8_t flags = event->flags & (uint8_t)~EXTRACT_FLAG_UNTIMED;
    if (flags && !layout->columns.compat)
        put_flags(&writer, report->options->color, flags);
    text_writer_char(&writer, '\n');
    report->writer.at = writer.at;
    return true;
}

// ---- events ----

static void format_event(struct text_report *report, const struct extract_event *event,
                         unsigned offset, const struct extract_entry *entry,
                         const struct extract_template *chosen, struct extract_outcome *formatted)
{
    if (chosen || !entry_builder_describe(report->builder, event, formatted))
        extract_formatter_run(report->formatter, chosen, entry, offset, true, formatted);
}

// Appends the text of the event that another event contains, such as the one that a test expects.
static void append_inner(struct text_report *report, const struct extract_event *inner,
                         unsigned offset, struct extract_outcome *formatted)
{
    const struct extract_template *chosen;
    struct extract_text *joined = &report->joined;
    struct extract_outcome inner_text;

    joined->used = 0;
    extract_text_put(joined, formatted->text, formatted->length);
    const struct extract_entry *entry = entry_builder_build(report->builder, inner, &chosen);
    format_event(report, inner, offset, entry, chosen, &inner_text);
    extract_text_put(joined, inner_text.text, inner_text.length);
    report->builder->failed |= joined->code != EXTRACT_OK;
    formatted->text = joined->data;
    formatted->length = joined->used;
}

// Counts a template that failed, and keeps the first failure.
static void note_fault(struct text_report *report, const struct extract_event *event,
                       const char *fault)
{
    struct extract_report_outcome *outcome = report->outcome;

    if (outcome->faults++)
        return;
    snprintf(outcome->fault, sizeof outcome->fault, "%s", fault ? fault : "");
    outcome->fault_seq = event->seq;
    entry_builder_put_id(report->builder, event, outcome->fault_hook);
}

// Prints one event. Returns false if the report ends here: a template stopped it, or it failed.
static bool put_event(struct text_report *report, const struct extract_event *event)
{
    const struct layout *layout = &report->layout;
    const struct extract_template *chosen;
    struct extract_outcome formatted;
    struct extract_event inner;

    const struct extract_entry *entry = entry_builder_build(report->builder, event, &chosen);
    enum extract_class class_ = chosen ? chosen->level : event->type->class_;
    unsigned offset = layout_text_offset(layout, class_);
    report->pid = entry->pid;
    report->tid = entry->tid;
    report->svc = entry->svc;
    format_event(report, event, offset, entry, chosen, &formatted);
    if (extract_trace_inner(report->trace, event, &inner)) {
        append_inner(report, &inner, offset, &formatted);
        entry_builder_build(report->builder, event, &chosen); // the prefix needs it again
    }
    if (formatted.ending == EXTRACT_ENDS_FAULT)
        note_fault(report, event, formatted.fault);
    if (formatted.ending == EXTRACT_ENDS_SKIP) {
        report->outcome->skipped++;
        return true;
    }
    if (layout->columns.page_lines && !report->options->no_header)
        fit_on_page(report, &formatted);
    if (report->builder->failed)
        return fail(report);
    if (!put_line(report, event, class_, &formatted))
        return false;
    report->is_first = false;
    report->last_ticks = event->ticks;
    report->outcome->shown++;
    report->outcome->stopped = formatted.ending == EXTRACT_ENDS_STOP;
    return !report->outcome->stopped;
}

static bool has_same_words(const struct extract_event *one, const struct extract_event *other)
{
    return one->type == other->type && one->id == other->id && one->raw_stamp == other->raw_stamp &&
           one->ticks == other->ticks && one->thread == other->thread &&
           one->priority_word == other->priority_word && one->core == other->core &&
           one->context == other->context && one->fields == other->fields &&
           memcmp(one->field, other->field, one->fields * sizeof *one->field) == 0;
}

// Returns whether an event repeats the previous one, and remembers it for the next call.
static bool is_duplicate(struct text_report *report, const struct extract_event *event)
{
    struct extract_text *payload = &report->payload;
    bool is_same = has_same_words(&report->previous, event) && !extract_event_is_mark(event) &&
                   payload->used == event->data_bytes &&
                   (!payload->used || memcmp(payload->data, event->data, payload->used) == 0);

    report->previous = *event;
    payload->used = 0;
    extract_text_put(payload, (const char *)event->data, event->data_bytes);
    return is_same;
}

static bool put_events(void *context, const struct extract_event *events, size_t count)
{
    struct text_report *report = context;
    const struct extract_report_options *options = report->options;
    bool must_merge = !report->layout.columns.duplicates;

    for (size_t i = 0; i < count; i++) {
        if (must_merge && is_duplicate(report, &events[i]))
            report->outcome->merged++;
        else if (report->payload.code)
            return fail(report);
        else if (!put_event(report, &events[i]))
            return false;
        if (options->may_continue &&
            !options->may_continue(options->context)) // after each: templates may be slow
            return false;
    }
    return true;
}

// ---- the report ----

// Sets the layout of a report in parts, whose widths must suit events that are not known yet. If
// the clock rate has changed, the headings are printed again.
static void set_fixed_widths(struct text_report *report, struct extract_report_part *part)
{
    uint64_t hz = report->options->hz;
    const struct extract_info *info = extract_trace_info(report->trace);
    unsigned address_width = 2 + 2 * info->word_bytes;
    struct extract_columns columns = report->layout.columns;
    struct layout_needs needs = {.seq = SEQ_WIDTH,
                                 .exec = EXEC_WIDTH,
                                 .pid = address_width,
                                 .tid = address_width,
                                 .has_cores = info->cores > 1,
                                 .ticks = hz * MAX_SECONDS,
                                 .delta = hz * MAX_DELTA_SECONDS};

    layout_open(&report->layout, &columns, hz, &needs);
    if (part->hz != hz)
        part->heads = false;
    part->hz = hz;
    report->is_first = !part->events;
    report->last_ticks = part->last_ticks;
}

static void print_view(struct text_report *report, const struct extract_view *view)
{
    struct extract_sink sink = {.events = put_events, .context = report};
    struct extract_report_part *part = report->options->part;

    if (part) {
        set_fixed_widths(report, part);
    } else {
        const struct extract_columns columns = report->layout.columns;
        struct layout_needs needs;
        layout_find_needs(&needs, &columns, view, report->builder);
        layout_open(&report->layout, &columns, report->options->hz, &needs);
        report->is_first = true;
    }
    bool has_headings = !report->options->no_header && !(part && part->heads);
    if (report->writer.text->code)
        return;
    if (has_headings && report->layout.columns.compat)
        layout_put_preamble(&report->layout, report->trace, report->writer.text);
    text_writer_open(&report->writer, report->writer.text);
    if (has_headings)
        put_headings(report);
    extract_view_run(view, &sink);
    text_writer_close(&report->writer);
    if (part) {
        part->heads = true;
        part->events = !report->is_first;
        part->last_ticks = report->last_ticks;
    }
}

static enum extract_code print_with_templates(struct extract_text *text,
                                              const struct extract_view *view,
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
    report->trace = trace;
    if (options->columns)
        report->layout.columns = *options->columns;
    else
        extract_columns_init(&report->layout.columns, false);
    const char *path = report->layout.columns.source;
    const char *slash = path ? strrchr(path, '/') : NULL;
    report->file = slash ? slash + 1 : path;
    extract_text_init(&report->scratch, NULL, NULL);
    extract_text_init(&report->joined, NULL, NULL);
    extract_text_init(&report->payload, NULL, NULL);

    if (entry_builder_open(&report->builder, trace, templates, NULL) ||
        extract_formatter_open(&report->formatter, templates, &report->builder->host, NULL))
        text->code = EXTRACT_NOMEM;
    else if (report->layout.columns.histogram)
        columns_histogram(text, view, trace, options, report->builder, outcome);
    else
        print_view(report, view);

    extract_formatter_close(report->formatter);
    entry_builder_close(report->builder);
    extract_text_free(&report->scratch);
    extract_text_free(&report->joined);
    extract_text_free(&report->payload);
    free(report);
    return text->code;
}

enum extract_code columns_events(struct extract_text *text, const struct extract_view *view,
                                 const struct extract_trace *trace,
                                 const struct extract_report_options *options,
                                 struct extract_report_outcome *outcome)
{
    struct extract_templates *builtin = NULL;
    enum extract_code code = EXTRACT_OK;

    if (!options->templates) {
        code = extract_templates_open(&builtin, 0, NULL);
        if (!code)
            code = extract_templates_add_builtin(builtin, extract_trace_info(trace)->format, NULL);
        if (!code)
            code = extract_templates_link(builtin, NULL);
    }
    if (code)
        text->code = code;
    else
        print_with_templates(text, view, trace, options, builtin ? builtin : options->templates,
                             outcome);
    extract_templates_close(builtin);
    return text->code;
}
