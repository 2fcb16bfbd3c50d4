// SPDX-License-Identifier: MIT
// cli/top: a snapshot as lines of text: facts on the recording, the threads, the most frequent
// events, and the newest events. On a screen, each part gets a share of the rows.
#include "cli/top/top.h"
#include "report/kv_writer.h"
#include "report/text_table.h"
#include <stdlib.h>
#include <string.h>

enum {
    NAME_COLUMNS = 24, // for the name of a thread on a screen
    BAR_COLUMNS = 10,
    BATCH_ROWS = 10, // for event types, and for events, in batch mode
    NO_LIMIT = 1 << 30
};

// The line of a thread.
struct row {
    const struct extract_thread_stats *thread;
    const struct top_last_event *last;
    uint64_t sort_key; // larger keys come first
};

static unsigned count_lines(const struct extract_text *text)
{
    unsigned lines = 0;

    for (size_t i = 0; i < text->used; i++)
        lines += text->data[i] == '\n';
    return lines;
}

// Writes a number of thousandths with one decimal; without one from 1000 on.
static void put_thousandths(struct extract_text *text, uint64_t value)
{
    extract_text_dec(text, value / 1000);
    if (value < 1000 * 1000)
        extract_text_printf(text, ".%u", (unsigned)(value / 100 % 10));
}

static void put_share(struct extract_text *text, uint64_t part, uint64_t whole)
{
    if (whole)
        put_thousandths(text, (uint64_t)((unsigned __int128)part * 100000 / whole));
    else
        extract_text_putc(text, '-');
}

// Writes the rate of `count` events of the window: their share of the rate of all events.
static void put_rate(struct extract_text *text, const struct top_snapshot *snapshot, uint64_t count)
{
    const struct top_number *rate = &snapshot->facts.events_per_1000_s;
    uint64_t all = snapshot->stats->events;

    if (rate->is_known && all)
        put_thousandths(text, (uint64_t)((unsigned __int128)rate->value * count / all));
    else
        extract_text_putc(text, '-');
}

static void put_target(struct extract_text *text, const struct top_snapshot *snapshot,
                       const struct top_view *view)
{
    const struct top_facts *facts = &snapshot->facts;

    extract_text_puts(text, view->report.color ? "\x1b[1m" : "");
    extract_text_escaped(text, facts->target);
    extract_text_printf(text, ": %s, %s",
                        snapshot->trace ? extract_trace_info(snapshot->trace)->format : "-",
                        facts->state);
    if (facts->counts.resets)
        extract_text_printf(text, ", %llu reset%s", (unsigned long long)facts->counts.resets,
                            facts->counts.resets == 1 ? "" : "s");
    if (facts->quiet_ns.is_known && facts->quiet_ns.value > 2 * EXTRACT_SECOND)
        extract_text_printf(text, ", nothing new for %llu s",
                            (unsigned long long)(facts->quiet_ns.value / EXTRACT_SECOND));
    extract_text_puts(text, view->is_paused ? "  [paused]" : "");
    extract_text_puts(text, view->report.color ? "\x1b[0m\n" : "\n");
}

static void put_rates(struct extract_text *text, const struct top_facts *facts)
{
    extract_text_puts(text, "events/s: ");
    if (facts->events_per_1000_s.is_known)
        put_thousandths(text, facts->events_per_1000_s.value);
    else
        extract_text_putc(text, '-');
    extract_text_printf(text, "  lost: %s%llu", facts->counts.gaps_not_exact ? "at least " : "",
                        (unsigned long long)facts->counts.lost);
    if (facts->fill.is_known)
        extract_text_printf(text, "  fill: %llu of %u%s", (unsigned long long)facts->fill.value,
                            facts->ring_entries, facts->in_bytes ? " bytes" : "");
    if (facts->link_bytes_per_second.is_known)
        extract_text_printf(text, "  link: %llu bytes/s",
                            (unsigned long long)facts->link_bytes_per_second.value);
    if (facts->poll_period_ns.is_known) {
        extract_text_puts(text, "  poll: ");
        put_thousandths(text, facts->poll_period_ns.value / 1000);
        extract_text_puts(text, " ms");
    }
    if (facts->halted_thousandths.is_known) {
        extract_text_puts(text, "  halted: ");
        put_thousandths(text, facts->halted_thousandths.value * 100);
        extract_text_puts(text, " %");
    }
    extract_text_putc(text, '\n');
}

static void put_load(struct extract_text *text, const struct top_snapshot *snapshot, uint64_t hz)
{
    const struct extract_stats *stats = snapshot->stats;
    uint64_t idle = stats->idle_ticks + stats->unknown_ticks, span = 0;
    uint64_t others = idle + stats->interrupt_ticks + stats->init_ticks;
    struct kv_writer facts = {.text = text, .is_json = false, .is_first = true};

    for (size_t i = 0; i < stats->core_count; i++)
        span += stats->cores[i].span_ticks;
    if (stats->has_loads) {
        extract_text_puts(text, "load: threads ");
        put_share(text, span - others, span);
        extract_text_puts(text, " %, interrupts ");
        put_share(text, stats->interrupt_ticks, span);
        extract_text_puts(text, " %, idle ");
        put_share(text, stats->idle_ticks, span);
        extract_text_puts(text, " %");
    } else {
        extract_text_puts(text, "The events of this trace do not show who ran.");
    }
    extract_text_printf(text, "  window: %llu events, %llu ticks",
                        (unsigned long long)stats->events, (unsigned long long)stats->span_ticks);
    kv_put_seconds(&facts, span, hz);
    if (extract_trace_info(snapshot->trace)->clock.counts_events)
        extract_text_puts(text, "  (the clock counts events)");
    extract_text_putc(text, '\n');
}

static uint16_t current_priority(const struct extract_thread_stats *thread)
{
    return thread->last_priority != EXTRACT_NO_PRIORITY ? thread->last_priority
                                                        : thread->thread->priority;
}

static uint64_t sort_key(const struct extract_thread_stats *thread, enum top_column column)
{
    uint64_t stack_used = thread->stack_size - thread->stack_free;

    switch (column) {
    case TOP_PRIORITY:
        return EXTRACT_NO_PRIORITY - (uint64_t)current_priority(thread);
    case TOP_LOAD:
        return thread->ticks;
    case TOP_EVENTS:
        return thread->events;
    case TOP_STACK: // the fullest stack first
        return thread->stack_known && thread->stack_size
                   ? 1 + (uint64_t)((unsigned __int128)stack_used * UINT32_MAX / thread->stack_size)
                   : 0;
    default:
        return 0;
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->sort_key != y->sort_key)
        return x->sort_key < y->sort_key ? 1 : -1;
    return strcmp(x->thread->thread->shown, y->thread->thread->shown);
}

// Returns the threads that exist or were active, sorted by a column; NULL if memory is short.
static struct row *sort_threads(const struct top_snapshot *snapshot, enum top_column column,
                                size_t *count)
{
    const struct extract_stats *stats = snapshot->stats;
    const struct extract_object *first;
    struct row *rows = calloc(stats->thread_count + 1, sizeof *rows);

    extract_trace_objects(snapshot->trace, &first);
    *count = 0;
    for (size_t i = 0; rows && i < stats->thread_count; i++) {
        const struct extract_thread_stats *thread = &stats->threads[i];
        if (thread->thread->in_use || thread->events || thread->ticks)
            rows[(*count)++] = (struct row){thread, &snapshot->last_events[thread->thread - first],
                                            sort_key(thread, column)};
    }
    if (rows)
        qsort(rows, *count, sizeof *rows, compare_rows);
    return rows;
}

static void put_optional_cell(struct text_table *table, bool is_known, uint64_t value)
{
    if (is_known)
        extract_text_dec(&table->cells, value);
    else
        extract_text_putc(&table->cells, '-');
    text_table_end_cell(table);
}

static void put_type_cell(struct text_table *table, const struct extract_event_type *type,
                          uint32_t id, const struct extract_object *named)
{
    if (type)
        extract_text_escaped(&table->cells, type->name);
    if (named)
        extract_text_printf(&table->cells, " %s", named->shown);
    else if (type && type->range)
        text_put_type_number(&table->cells, type, id);
    text_table_end_cell(table);
}

// Returns the object that gives a user event its name; NULL: none.
static const struct extract_object *name_of_event(const struct top_snapshot *snapshot, uint32_t id)
{
    const struct extract_stats *stats = snapshot->stats;
    for (size_t i = 0; i < stats->service_count; i++)
        if (stats->services[i].id == id)
            return stats->services[i].named;
    return NULL;
}

static void put_bar_cell(struct text_table *table, uint64_t part, uint64_t whole)
{
    uint64_t marks =
        whole ? (uint64_t)(((unsigned __int128)part * BAR_COLUMNS + whole / 2) / whole) : 0;

    extract_text_pad(&table->cells, '|', marks < BAR_COLUMNS ? (size_t)marks : BAR_COLUMNS);
    text_table_end_cell(table);
}

static void put_row(struct text_table *table, const struct top_snapshot *snapshot,
                    const struct row *row, bool is_screen)
{
    const struct extract_thread_stats *thread = row->thread;
    uint16_t priority = current_priority(thread);
    uint64_t span = snapshot->stats->has_loads ? snapshot->stats->span_ticks : 0; // 0: no loads

    top_truncate(&table->cells, thread->thread->shown, is_screen ? NAME_COLUMNS : NO_LIMIT);
    text_table_end_cell(table);
    put_optional_cell(table, priority != EXTRACT_NO_PRIORITY, priority);
    put_share(&table->cells, thread->ticks, span);
    text_table_end_cell(table);
    put_bar_cell(table, thread->ticks, span);
    put_rate(&table->cells, snapshot, thread->events);
    text_table_end_cell(table);
    put_optional_cell(table, thread->stack_size != 0, thread->stack_size);
    put_optional_cell(table, thread->stack_known, thread->stack_free);
    put_type_cell(table, row->last->type, row->last->id, name_of_event(snapshot, row->last->id));
}

// Writes the heading of a column, in brackets if the threads are sorted by it. Blanks make it as
// wide as its numbers can become, so that columns do not move.
static void put_heading(struct text_table *table, const char *name, enum top_column column,
                        enum top_column sort, size_t width)
{
    bool is_sorted = column == sort;
    size_t used = strlen(name) + 2 * is_sorted;

    if (column != TOP_NAME)
        extract_text_pad(&table->cells, ' ', width > used ? width - used : 0);
    extract_text_printf(&table->cells, is_sorted ? "[%s]" : "%s", name);
    if (column == TOP_NAME)
        extract_text_pad(&table->cells, ' ', width > used ? width - used : 0);
    text_table_end_cell(table);
}

static void put_headings(struct text_table *table, enum top_column sort)
{
    static const struct {
        const char *name;
        size_t width;
    } columns[TOP_COLUMNS] = {[TOP_NAME] = {"thread", 16},
                              [TOP_PRIORITY] = {"prio", 6},
                              [TOP_LOAD] = {"load %", 8},
                              [TOP_EVENTS] = {"events/s", 10},
                              [TOP_STACK] = {"min free", 10}};

    for (enum top_column c = TOP_NAME; c < TOP_COLUMNS; c++) {
        put_heading(table, columns[c].name, c, sort, columns[c].width);
        if (c == TOP_LOAD)
            text_table_put_string(table, "          ");
        if (c == TOP_EVENTS)
            text_table_put_string(table, "stack size");
    }
    text_table_put_string(table, "last event");
}

static void put_threads(struct extract_text *text, const struct top_snapshot *snapshot,
                        const struct top_view *view, size_t max_rows, bool is_screen)
{
    struct text_table table;
    size_t count;
    struct row *rows = sort_threads(snapshot, view->sort, &count);

    if (!rows) {
        text->code = EXTRACT_NOMEM;
        return;
    }
    size_t shown = count <= max_rows ? count : max_rows - 1;
    text_table_open(&table, 8, 0x76); // numbers are aligned to the right
    put_headings(&table, view->sort);
    for (size_t i = 0; i < shown; i++)
        put_row(&table, snapshot, &rows[i], is_screen);
    text_table_print(&table, text, &view->report);
    if (shown < count)
        extract_text_printf(text, "(%zu more threads)\n", count - shown);
    free(rows);
}

static void put_types(struct extract_text *text, const struct top_snapshot *snapshot,
                      const struct top_view *view, const struct extract_stats *stats,
                      size_t max_rows)
{
    struct text_table table;

    text_table_open(&table, 4, 3);
    text_table_put_string(&table, "  events/s");
    text_table_put_string(&table, "   percent");
    text_table_put_string(&table, "class");
    text_table_put_string(&table, "event");
    for (size_t i = 0; i < stats->service_count && i < max_rows; i++) {
        const struct extract_service_stats *service = &stats->services[i];
        put_rate(&table.cells, snapshot, service->count);
        text_table_end_cell(&table);
        put_share(&table.cells, service->count, snapshot->stats->events);
        text_table_end_cell(&table);
        text_table_put_string(&table, extract_class_name(service->type->class_));
        put_type_cell(&table, service->type, service->id, service->named);
    }
    text_table_print(&table, text, &view->report);
}

static void put_fault(struct extract_text *text, const struct extract_error *error)
{
    char line[sizeof error->what + sizeof error->why + sizeof error->hint + 8];

    extract_text_puts(text, extract_error_format(error, line, sizeof line));
    extract_text_putc(text, '\n');
}

// Writes the most frequent types and the newest of the events that match the filter. If `rows` is
// 0, there is no screen.
static void put_filtered(struct extract_text *text, const struct top_snapshot *snapshot,
                         const struct top_view *view, unsigned rows)
{
    struct extract_stats *stats;
    struct extract_error error;
    enum extract_code code =
        top_snapshot_stats(snapshot, view->filter_line, view->report.hz, &stats, &error);

    if (code)
        put_fault(text, &error);
    if (!stats)
        return;
    put_types(text, snapshot, view, stats, rows ? rows / 8 : BATCH_ROWS);
    extract_text_putc(text, '\n');
    extract_stats_free(stats);
    unsigned used = count_lines(text) + !view->report.no_header;
    if (!rows || used < rows)
        top_snapshot_events(snapshot, view->filter_line, rows ? rows - used : BATCH_ROWS,
                            &view->report, text, &error);
}

static void put_help(struct extract_text *text)
{
    extract_text_puts(text, "\n"
                            "  q           quit\n"
                            "  s, <, >     sort the threads by another column\n"
                            "  p, blank    pause the screen; recording continues\n"
                            "  r           clear the window and start again\n"
                            "  f           filter the events: event=queue* thread=worker\n"
                            "              names: event thread object class from to last\n"
                            "              Enter applies the line, Esc cancels, ^U clears it\n"
                            "  ?           this text\n"
                            "\n"
                            "The window holds the newest entries: those of the last 10 seconds,\n"
                            "at most 65536, and none from before a loss or a reset. Loads are\n"
                            "shares of its time; filters do not change them.\n");
}

// Writes the last line of a screen.
static void put_footer(struct extract_text *text, const struct top_view *view)
{
    if (view->is_editing) {
        extract_text_puts(text, "filter: ");
        extract_text_escaped(text, view->edited_line);
        extract_text_puts(text, "_");
    } else if (view->message[0]) {
        extract_text_escaped(text, view->message);
    } else {
        extract_text_puts(text, "q quit  s sort  p pause  r reset  f filter  ? help");
        extract_text_puts(text, view->filter_line[0] ? "   filter: " : "");
        extract_text_escaped(text, view->filter_line);
    }
}

// Cuts or fills the drawing so that it has exactly `rows` lines.
static void fit_rows(struct extract_text *text, unsigned rows)
{
    unsigned lines = 0;

    for (size_t i = 0; i < text->used; i++)
        if (text->data[i] == '\n' && ++lines == rows)
            text->used = i + 1;
    if (lines < rows)
        extract_text_pad(text, '\n', rows - lines);
}

static void put_body(struct extract_text *text, const struct top_snapshot *snapshot,
                     const struct top_view *view, unsigned rows)
{
    put_target(text, snapshot, view);
    put_rates(text, &snapshot->facts);
    if (snapshot->fault.code)
        put_fault(text, &snapshot->fault);
    if (!snapshot->trace)
        return;
    put_load(text, snapshot, view->report.hz);
    extract_text_putc(text, '\n');
    put_threads(text, snapshot, view, rows ? rows / 4 + 1 : NO_LIMIT, rows != 0);
    extract_text_putc(text, '\n');
    put_filtered(text, snapshot, view, rows);
}

void top_draw(struct extract_text *text, const struct top_snapshot *snapshot,
              const struct top_view *view, struct top_size size)
{
    unsigned rows = size.rows > 1 ? size.rows - 1 : 0;

    if (view->shows_help)
        put_help(text);
    else
        put_body(text, snapshot, view, rows);
    if (!size.rows)
        return;
    fit_rows(text, rows);
    put_footer(text, view);
}
