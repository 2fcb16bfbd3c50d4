// SPDX-License-Identifier: MIT
// report/columns: the width that each column needs.
//
// Columns are aligned, so their widths must be known before the first line is printed. This file
// reads the first MAX_MEASURED events of a view and takes the widest value of each column. If the
// view has more events, it also takes what the trace knows about all of them: its time span, its
// number of entries, and the names of all threads.
#include "report/columns/columns.h"
#include "events/events_room.h"

enum { MAX_MEASURED = 65536 }; // events

struct measurement {
    struct entry_builder *builder;
    const struct extract_columns *columns;
    struct layout_needs *needs;
    uint32_t events_left;             // events that are still to be measured
    bool has_previous;                // the next three lines describe the previous event
    uint64_t thread, registry, ticks; // of the previous event
    uint8_t context;
};

static void widen(unsigned *width, unsigned columns)
{
    *width = *width < columns ? columns : *width;
}

static void measure_time(struct measurement *m, uint64_t ticks)
{
    struct layout_needs *needs = m->needs;
    uint64_t previous = m->has_previous ? m->ticks : ticks;
    uint64_t delta = ticks < previous ? previous - ticks : ticks - previous;

    needs->ticks = ticks > needs->ticks ? ticks : needs->ticks;
    needs->delta = delta > needs->delta ? delta : needs->delta;
    m->ticks = ticks;
}

// Measures the name of the thread. Most events come from the thread of the previous event, whose
// name was measured already.
static void measure_thread(struct measurement *m, const struct extract_event *event)
{
    uint64_t registry = extract_trace_naming(m->builder->trace, event->seq);
    bool is_same = m->has_previous && event->thread == m->thread && event->context == m->context &&
                   registry == m->registry;

    if (!is_same)
        widen(&m->needs->exec, entry_builder_context_name(m->builder, event).columns);
    m->thread = event->thread;
    m->registry = registry;
    m->context = event->context;
}

static void measure_priority(struct measurement *m, const struct extract_event *event)
{
    unsigned columns = report_has_priority(event) ? text_writer_digits(event->priority) : 1;

    if (report_has_threshold(event) && event->threshold != event->priority)
        columns += 1 + text_writer_digits(event->threshold);
    widen(&m->needs->prio, columns);
}

static bool measure_events(void *context, const struct extract_event *events, size_t count)
{
    struct measurement *m = context;

    for (size_t i = 0; i < count; i++) {
        measure_time(m, events[i].ticks);
        if (m->columns->exec)
            measure_thread(m, &events[i]);
        if (m->columns->prio)
            measure_priority(m, &events[i]);
        m->has_previous = true;
    }
    widen(&m->needs->seq, text_writer_digits(events[count - 1].seq));
    m->events_left -= count < m->events_left ? (uint32_t)count : m->events_left;
    return m->events_left && !m->builder->failed;
}

// Widens the columns to what any event of the trace can need.
static void allow_for_all_events(struct layout_needs *needs, const struct extract_trace *trace)
{
    const struct extract_info *info = extract_trace_info(trace);
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);

    needs->ticks = needs->ticks > info->span_ticks ? needs->ticks : info->span_ticks;
    widen(&needs->seq, text_writer_digits(info->entries_total));
    for (size_t i = 0; i < count; i++)
        if (extract_object_is_thread(&objects[i]))
            widen(&needs->exec, objects[i].shown_columns);
}

void layout_find_needs(struct layout_needs *needs, const struct extract_columns *columns,
                       const struct extract_view *view, struct entry_builder *builder)
{
    const struct extract_info *info = extract_trace_info(builder->trace);
    unsigned bytes = info->word_bytes;
    struct measurement m = {
        .builder = builder, .columns = columns, .needs = needs, .events_left = MAX_MEASURED};
    struct extract_sink sink = {.events = measure_events, .context = &m};

    *needs = (struct layout_needs){.pid = columns->compat ? bytes * 5 / 2 : 2 + 2 * bytes};
    needs->tid = needs->pid;
    needs->has_cores = info->cores > 1;
    extract_view_run(view, &sink);
    if (!m.events_left)
        allow_for_all_events(needs, builder->trace);
}
