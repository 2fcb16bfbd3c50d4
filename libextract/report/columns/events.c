// SPDX-License-Identifier: MIT
// report/columns: the events of a view as trcrpt prints them. In: a view, whose first events are
// looked at for the widths of columns before all are printed; templates. Out: lines of text.
#include "report/columns/cells.h"
#include "events/room.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    PREFIX_ROOM = 2048, // more than all columns in front of the text together
    FLAG_ROOM = 160,
    CELL_MOST = 128, // bytes of a cell that has room
    // Of a report of a stream that goes on:
    SEQ_WIDTH = 7,
    EXEC_WIDTH = 16,
    SECONDS_MOST = 99999, // that columns have room for
    DELTA_MOST = 9        // seconds between two events, likewise
};

// A report under way.
struct paper {
    struct pen pen;
    struct layout layout;
    const struct extract_report_options *options;
    struct extract_report_outcome *outcome;
    struct adaptor *adaptor;
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

static bool fail(struct paper *paper)
{
    paper->pen.text->code = EXTRACT_NOMEM;
    return false;
}

// ---- the columns in front of the text ----

static inline void put_exec(const struct paper *paper, struct pen *pen)
{
    const struct adaptor_text who = paper->adaptor->who;
    unsigned width = paper->layout.exec;
    if (who.columns > width || who.length > CELL_MOST) {
        cell_text(pen, who.bytes, who.length, who.columns, width);
        return;
    }
    pen_piece(pen, who.bytes, who.length);
    pen_pad(pen, width - who.columns);
}

static bool put_word(struct paper *paper, struct pen *pen, const char *word, unsigned width)
{
    struct extract_text *cell = &paper->scratch;
    cell->used = 0;
    extract_text_escaped(cell, word ? word : "");
    extract_text_putc(cell, 0);
    if (cell->code)
        return fail(paper);
    cell_text(pen, cell->data, cell->used - 1, (unsigned)extract_text_columns(cell->data), width);
    return true;
}

static inline void put_delta(const struct paper *paper, struct pen *pen, uint64_t ticks)
{
    const struct layout *layout = &paper->layout;
    uint64_t last = paper->first ? ticks : paper->last_ticks;
    bool back = ticks < last;
    uint64_t step = back ? last - ticks : ticks - last;
    if (!layout->hz) {
        unsigned digits = pen_digits(step), used = digits + back;
        pen_pad(pen, layout->delta > used ? layout->delta - used : 0);
        if (back)
            pen_char(pen, '-');
        pen_fixed(pen, step, digits);
        return;
    }
    struct pen_seconds time = pen_split(step, layout->hz);
    if (layout->columns.times == EXTRACT_TIMES_FULL)
        pen->at = cell_decimals(pen->at, back, cell_units(time, 1000), time.nano % 1000000, 6,
                                layout->delta);
    else
        pen->at = cell_decimals(pen->at, back, cell_units(time, 1000000), time.nano % 1000, 3,
                                layout->delta);
}

// Columns that few reports have.
static bool put_rare(struct paper *paper, struct pen *pen, const struct extract_event *event)
{
    const struct layout *layout = &paper->layout;
    if (layout->filename) {
        if (!put_word(paper, pen, paper->file, layout->filename))
            return false;
        cell_gap(layout, pen);
    }
    if (layout->cpu) {
        pen_dec_right(pen, event->core, layout->cpu);
        cell_gap(layout, pen);
    }
    if (layout->pid) {
        cell_number(layout, pen, paper->pid, layout->pid);
        cell_gap(layout, pen);
    }
    if (layout->tid) {
        cell_number(layout, pen, paper->tid, layout->tid);
        cell_gap(layout, pen);
    }
    if (layout->prio) {
        cell_priority(pen, event, layout->prio);
        cell_gap(layout, pen);
    }
    if (layout->interrupt) {
        pen_char(pen, event->context == EXTRACT_ISR ? '1' : ' ');
        cell_gap(layout, pen);
    }
    if (layout->svc) {
        if (!put_word(paper, pen, paper->svc, layout->svc))
            return false;
        cell_gap(layout, pen);
    }
    return true;
}

static inline void put_id(const struct paper *paper, struct pen *pen,
                          const struct extract_event *event)
{
    unsigned used = adaptor_id(paper->adaptor, event, pen->at);
    pen->at += used;
    pen_pad(pen, used < paper->layout.id ? paper->layout.id - used : 0);
}

// The pen is the paper's own, held in registers meanwhile.
static inline bool put_prefix(struct paper *paper, struct pen *pen,
                              const struct extract_event *event)
{
    const struct layout *layout = &paper->layout;
    if (layout->seq) {
        pen_dec_right(pen, event->seq, layout->seq);
        cell_gap(layout, pen);
    }
    if (layout->id) {
        put_id(paper, pen, event);
        cell_gap(layout, pen);
    }
    if (layout->exec) {
        put_exec(paper, pen);
        cell_gap(layout, pen);
    }
    if (layout->rare) {
        paper->pen.at = pen->at;
        if (!put_rare(paper, &paper->pen, event))
            return false;
        pen->at = paper->pen.at;
    }
    bool is_untimed = event->flags & EXTRACT_FLAG_UNTIMED;
    if (layout->elapsed) {
        if (is_untimed)
            cell_unknown(pen, layout->elapsed);
        else
            cell_elapsed(layout, pen, event->ticks);
        cell_gap(layout, pen);
    }
    if (layout->delta) {
        if (is_untimed)
            cell_unknown(pen, layout->delta);
        else
            put_delta(paper, pen, event->ticks);
        cell_gap(layout, pen);
    }
    return true;
}

// ---- events ----

static void put_flags(struct pen *pen, bool color, uint8_t flags)
{
    PEN_LITERAL(pen, " ");
    if (color)
        PEN_LITERAL(pen, "\x1b[31m");
    if (flags & EXTRACT_FLAG_PROVISIONAL)
        PEN_LITERAL(pen, " [provisional]");
    if (flags & EXTRACT_FLAG_GAP)
        PEN_LITERAL(pen, " [gap]");
    if (flags & EXTRACT_FLAG_BACKWARDS)
        PEN_LITERAL(pen, " [backwards]");
    if (color)
        PEN_LITERAL(pen, "\x1b[0m");
}

static void put_heads(struct paper *paper)
{
    pen_close(&paper->pen);
    paper->lines = layout_heads(&paper->layout, paper->options->color, paper->pen.text);
    paper->begun = false;
    pen_open(&paper->pen, paper->pen.text);
}

// A page ends in front of an event that has no room on it, but not before it has one.
static void turn_page(struct paper *paper, const struct extract_outcome *said)
{
    unsigned lines = 1u + paper->layout.columns.two_lines;
    for (const char *at = said->text, *end = at + said->length;
         at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    if (paper->begun && paper->lines + lines > paper->layout.columns.page_lines &&
        pen_need(&paper->pen, 1)) {
        pen_char(&paper->pen, '\n');
        put_heads(paper);
    }
    paper->lines += lines;
    paper->begun = true;
}

// The blanks in front of the text, which stands on a line of its own in some layouts.
static inline void put_indent(const struct layout *layout, struct pen *pen, const char *start,
                              enum extract_class level, bool empty)
{
    if (!empty && !layout->columns.two_lines) {
        pen_pad(pen, layout->indent + LAYOUT_LEVEL * (unsigned)level);
        return;
    }
    while (pen->at > start && pen->at[-1] == ' ') // no line ends in blanks
        pen->at--;
    if (empty)
        return;
    pen_char(pen, '\n');
    pen_pad(pen, layout_level(layout, level));
}

static bool put_line(struct paper *paper, const struct extract_event *event,
                     enum extract_class level, const struct extract_outcome *said)
{
    const struct layout *layout = &paper->layout;

    if (!pen_need(&paper->pen, PREFIX_ROOM + said->length + FLAG_ROOM))
        return false;
    struct pen pen = paper->pen;
    const char *start = pen.at;
    if (!put_prefix(paper, &pen, event))
        return false;
    put_indent(layout, &pen, start, level, !said->length);
    pen_copy(&pen, said->text, said->length);
    uint8_t flags = event->flags & (uint8_t)~EXTRACT_FLAG_UNTIMED;
    if (flags && !layout->columns.compat)
        put_flags(&pen, paper->options->color, flags);
    pen_char(&pen, '\n');
    paper->pen.at = pen.at;
    return true;
}

static void note_fault(struct paper *paper, const struct extract_event *event, const char *fault)
{
    struct extract_report_outcome *outcome = paper->outcome;
    if (outcome->faults++)
        return;
    snprintf(outcome->fault, sizeof outcome->fault, "%s", fault ? fault : "");
    outcome->fault_seq = event->seq;
    adaptor_id(paper->adaptor, event, outcome->fault_hook);
}

static void say(struct paper *paper, const struct extract_event *event, unsigned level,
                const struct extract_entry *entry, const struct extract_template *chosen,
                struct extract_outcome *said)
{
    if (chosen || !adaptor_describe(paper->adaptor, event, said))
        extract_formatter_run(paper->formatter, chosen, entry, level, true, said);
}

// Behind the text of an event stands that of the one that it speaks of.
static void say_inner(struct paper *paper, const struct extract_event *inner, unsigned level,
                      struct extract_outcome *said)
{
    const struct extract_template *chosen;
    struct extract_text *joined = &paper->joined;
    struct extract_outcome more;
    joined->used = 0;
    extract_text_put(joined, said->text, said->length);
    const struct extract_entry *entry = adaptor_take(paper->adaptor, inner, &chosen);
    say(paper, inner, level, entry, chosen, &more);
    extract_text_put(joined, more.text, more.length);
    paper->adaptor->failed |= joined->code != EXTRACT_OK;
    said->text = joined->data;
    said->length = joined->used;
}

// False: the report ends here.
static bool put_event(struct paper *paper, const struct extract_event *event)
{
    const struct layout *layout = &paper->layout;
    const struct extract_template *chosen;
    struct extract_outcome said;
    struct extract_event inner;

    const struct extract_entry *entry = adaptor_take(paper->adaptor, event, &chosen);
    enum extract_class level = chosen ? chosen->level : event->type->class_;
    paper->pid = entry->pid;
    paper->tid = entry->tid;
    paper->svc = entry->svc;
    say(paper, event, layout_level(layout, level), entry, chosen, &said);
    if (extract_trace_inner(paper->trace, event, &inner)) {
        say_inner(paper, &inner, layout_level(layout, level), &said);
        adaptor_take(paper->adaptor, event, &chosen);
    }
    if (said.ending == EXTRACT_ENDS_FAULT)
        note_fault(paper, event, said.fault);
    if (said.ending == EXTRACT_ENDS_SKIP) {
        paper->outcome->skipped++;
        return true;
    }
    if (layout->columns.page_lines && !paper->options->no_header)
        turn_page(paper, &said);
    if (paper->adaptor->failed)
        return fail(paper);
    if (!put_line(paper, event, level, &said))
        return false;
    paper->first = false;
    paper->last_ticks = event->ticks;
    paper->outcome->shown++;
    paper->outcome->stopped = said.ending == EXTRACT_ENDS_STOP;
    return !paper->outcome->stopped;
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
static bool repeats(struct paper *paper, const struct extract_event *event)
{
    struct extract_text *payload = &paper->payload;
    bool same = same_words(&paper->previous, event) && !extract_event_is_mark(event) &&
                payload->used == event->data_bytes &&
                (!payload->used || memcmp(payload->data, event->data, payload->used) == 0);
    paper->previous = *event;
    payload->used = 0;
    extract_text_put(payload, (const char *)event->data, event->data_bytes);
    return same;
}

static bool print_events(void *context, const struct extract_event *events, size_t count)
{
    struct paper *paper = context;
    const struct extract_report_options *options = paper->options;
    bool merge = !paper->layout.columns.duplicates;

    for (size_t i = 0; i < count; i++) {
        if (merge && repeats(paper, &events[i]))
            paper->outcome->merged++;
        else if (paper->payload.code)
            return fail(paper);
        else if (!put_event(paper, &events[i]))
            return false;
        if (options->go_on && !options->go_on(options->context)) // a template may take its time
            return false;
    }
    return true;
}

// What is still to come is not known: room for what is usual.
static void fix_widths(struct paper *paper, struct extract_report_part *part)
{
    uint64_t hz = paper->options->hz;
    const struct extract_info *info = extract_trace_info(paper->trace);
    unsigned address = 2 + 2 * info->word_bytes;
    struct extract_columns columns = paper->layout.columns;
    struct layout_needs needs = {.seq = SEQ_WIDTH,
                                 .exec = EXEC_WIDTH,
                                 .pid = address,
                                 .tid = address,
                                 .cores = info->cores > 1,
                                 .ticks = hz * SECONDS_MOST,
                                 .delta = hz * DELTA_MOST};
    layout_open(&paper->layout, &columns, hz, &needs);
    if (part->hz != hz)
        part->heads = false;
    part->hz = hz;
    paper->first = !part->events;
    paper->last_ticks = part->last_ticks;
}

static void survey_view(struct paper *paper, const struct extract_view *view)
{
    const struct extract_columns columns = paper->layout.columns;
    struct layout_needs needs;
    layout_survey(&needs, &columns, view, paper->adaptor);
    layout_open(&paper->layout, &columns, paper->options->hz, &needs);
    paper->first = true;
}

static void print_view(struct paper *paper, const struct extract_view *view)
{
    struct extract_sink sink = {.events = print_events, .context = paper};
    struct extract_report_part *part = paper->options->part;
    bool heads = !paper->options->no_header;

    if (part)
        fix_widths(paper, part);
    else
        survey_view(paper, view);
    heads &= !part || !part->heads;
    if (paper->pen.text->code)
        return;
    if (heads && paper->layout.columns.compat)
        layout_heading(&paper->layout, paper->trace, paper->pen.text);
    pen_open(&paper->pen, paper->pen.text);
    if (heads)
        put_heads(paper);
    extract_view_run(view, &sink);
    pen_close(&paper->pen);
    if (part) {
        part->heads = true;
        part->events = !paper->first;
        part->last_ticks = paper->last_ticks;
    }
}

static const char *file_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static enum extract_code open_formatter(struct paper *paper,
                                        const struct extract_templates *templates,
                                        struct extract_error *error)
{
    enum extract_code code = adaptor_open(&paper->adaptor, paper->trace, templates, error);
    return code
               ? code
               : extract_formatter_open(&paper->formatter, templates, &paper->adaptor->host, error);
}

static void close_paper(struct paper *paper)
{
    extract_formatter_close(paper->formatter);
    adaptor_close(paper->adaptor);
    extract_text_free(&paper->scratch);
    extract_text_free(&paper->joined);
    extract_text_free(&paper->payload);
    free(paper);
}

static enum extract_code print_with(struct extract_text *text, const struct extract_view *view,
                                    const struct extract_trace *trace,
                                    const struct extract_report_options *options,
                                    const struct extract_templates *templates,
                                    struct extract_report_outcome *outcome)
{
    struct paper *paper = calloc(1, sizeof *paper);
    if (!paper)
        return text->code = EXTRACT_NOMEM;
    paper->options = options;
    paper->outcome = outcome;
    paper->pen.text = text;
    if (options->columns)
        paper->layout.columns = *options->columns;
    else
        extract_columns_init(&paper->layout.columns, false);
    paper->trace = trace;
    paper->file = file_of(paper->layout.columns.source);
    extract_text_init(&paper->scratch, NULL, NULL);
    extract_text_init(&paper->joined, NULL, NULL);
    extract_text_init(&paper->payload, NULL, NULL);
    if (open_formatter(paper, templates, NULL))
        text->code = EXTRACT_NOMEM;
    else if (paper->layout.columns.histogram)
        columns_histogram(text, view, trace, options, paper->adaptor, outcome);
    else
        print_view(paper, view);
    close_paper(paper);
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
            code = extract_templates_add_shipped(shipped, extract_trace_info(trace)->format, NULL);
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
